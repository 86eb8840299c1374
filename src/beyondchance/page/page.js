// Tables that sort and save, charts that save, texts that are copied. The page reads well without.
const collator = new Intl.Collator("en", { numeric: true });

// Every file that leaves the page passes here. It is downloaded; decisions are sent to the address
// that the page has for them, if any, whose answer is a sentence to show.
async function save(name, text, type) {
  const address = document.documentElement.dataset.saveTo;
  if (address && type === "application/json") {
    try {
      const headers = { "Content-Type": "application/json" };
      const body = JSON.stringify({ name, type, text });
      const { message } = await (await fetch(address, { method: "POST", headers, body })).json();
      if (typeof message === "string") return message;
    } catch {
      // No answer, or one that is not JSON.
    }
    return `${name} was not saved: the program that this page came from does not answer.`;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  return "";
}

function csv(rows, end) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map(quoted).join(",") + end).join("");
}
window.beyondchance = { save, csv };

function button(text, label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

// Buttons next to a title, and the place for what they say.
function saveBar(figure, buttons) {
  const bar = document.createElement("span");
  bar.className = "save";
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  bar.append(status, ...buttons);
  figure.querySelector("figcaption, .tools").append(bar);
  return status;
}

// Save a file, and show the answer next to its button.
const saving = (event, ...file) => {
  const status = event.target.closest(".save").querySelector("[role=status]");
  save(...file).then((answer) => { status.textContent = answer; });
};

// --- Links ---

// In a notebook the page has no address of its own, and "#" would lead to the notebook.
if (location.protocol === "about:") {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const place = link?.getAttribute("href");
    if (!place || !place.startsWith("#")) return;
    event.preventDefault();
    location.hash = place;
  });
}

// --- What is folded ---

function reveal() {
  let part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const target = part;
  for (; part; part = part.parentElement) {
    if (part.tagName === "DETAILS" && !part.open) part.open = true;
  }
  target?.closest("details")?.scrollIntoView();
}

addEventListener("hashchange", reveal);
if (location.hash) reveal();

// What is printed is read: all but texts that are there to be copied.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open], #paper)")];
  for (const part of unfolded) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of unfolded) part.open = false;
});

// --- Tables ---

const full = (cell) => cell.dataset.value ?? harmless(cell.textContent);

// A spreadsheet would run texts that begin like this; numbers have a value.
const harmless = (text) => (/^[=+\-@\t\r]./s.test(text) ? `'${text}` : text);

function sort(table, column, ascending) {
  const body = table.tBodies[0];
  const keyOf = ({ dataset, textContent }) =>
    "value" in dataset ? Number.parseFloat(dataset.value) : textContent;
  const rows = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
  // What is undefined stays at the end, whichever way.
  const isNothing = (key) => key === "" || Number.isNaN(key);
  const compared = (a, b) => (typeof a === "number" ? a - b : collator.compare(a, b));
  rows.sort(([one], [other]) => {
    if (isNothing(one) || isNothing(other)) return isNothing(one) - isNothing(other);
    return ascending ? compared(one, other) : compared(other, one);
  });
  body.append(...rows.map(([, row]) => row));
  for (const heading of table.tHead.rows[0].cells) heading.removeAttribute("aria-sort");
  table.tHead.rows[0].cells[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
}

for (const table of document.querySelectorAll("table[data-name]")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const text = heading.textContent;
    heading.textContent = "";
    heading.append(
      button(text, null, () => {
        const isText = heading.classList.contains("left");
        const before = heading.getAttribute("aria-sort");
        sort(table, column, before ? before === "descending" : isText);
      }),
    );
  });
  const name = table.dataset.name;
  const saved = (event) => {
    const rows = [...table.rows].map((row) => [...row.cells].map(full));
    saving(event, `${name}.csv`, csv(rows, "\r\n"), "text/csv");
  };
  saveBar(table.closest("figure"), [button("CSV", `Save the table ${name} as CSV`, saved)]);
}

// --- Charts ---

const SVG = "http://www.w3.org/2000/svg";
const set = (element, values) => {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  return element;
};

// Charts are laid out before anyone knows the reader's font: where a text is wider than its
// room, the chart becomes larger.
function fit(svg) {
  const drawn = svg.getBBox();
  if (!drawn.width) return; // folded
  svg.dataset.box ??= svg.getAttribute("viewBox");
  const [x, y, width, height] = svg.dataset.box.split(" ").map(Number);
  const [left, top] = [Math.min(x, Math.floor(drawn.x)), Math.min(y, Math.floor(drawn.y))];
  const right = Math.max(x + width, Math.ceil(drawn.x + drawn.width));
  const bottom = Math.max(y + height, Math.ceil(drawn.y + drawn.height));
  svg.setAttribute("viewBox", [left, top, right - left, bottom - top].join(" "));
  svg.style.setProperty("--width", `${right - left}px`);
  const box = svg.parentElement;
  // What scrolls must be reached by keys too.
  if (box.scrollWidth > box.clientWidth) set(box, { tabindex: 0, role: "region", "aria-label": svg.querySelector("title").textContent });
  else ["tabindex", "role", "aria-label"].forEach((name) => box.removeAttribute(name));
}

const drawings = [...document.querySelectorAll("figure.chart svg")];
const fitAll = () => drawings.forEach(fit);
fitAll();
document.fonts.ready.then(fitAll);
addEventListener("resize", fitAll);
document.addEventListener("toggle", fitAll, true);

// A chart as a file: on white, with its title, in the font that it was measured in.
function standalone(svg) {
  fit(svg);
  const { x, y, width, height } = svg.viewBox.baseVal;
  const copy = svg.cloneNode(true);
  copy.removeAttribute("style");
  copy.removeAttribute("data-box");
  const font = getComputedStyle(svg).getPropertyValue("--font").trim();
  for (const part of copy.querySelectorAll("[font-family]")) part.setAttribute("font-family", font);
  const title = set(document.createElementNS(SVG, "text"), {
    x, y: y - 10, "font-family": font, "font-size": "14px", "font-weight": "bold", fill: "#1b1f24",
  });
  title.textContent = svg.querySelector("title").textContent;
  svg.append(title);
  const wide = Math.ceil(Math.max(width, title.getBBox().width));
  title.remove();
  const box = { x: x - 5, y: y - 30, width: wide + 10, height: height + 35 };
  set(copy, { xmlns: SVG, viewBox: Object.values(box).join(" "), width: box.width, height: box.height });
  const paper = set(document.createElementNS(SVG, "rect"), { ...box, fill: "#ffffff" });
  const first = [...copy.children].find((child) => !["title", "desc"].includes(child.tagName));
  copy.insertBefore(paper, first ?? null);
  copy.append(title);
  return { text: new XMLSerializer().serializeToString(copy), ...box };
}

function savePng(name, svg) {
  const scale = 3;
  const image = new Image();
  const { text, width, height } = standalone(svg);
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    canvas.width = scale * width;
    canvas.height = scale * height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => save(`${name}.png`, blob, "image/png"), "image/png");
  });
  image.src = url;
}

for (const figure of document.querySelectorAll("figure.chart")) {
  const svg = figure.querySelector("svg");
  const name = figure.dataset.name;
  const drawing = (event) => saving(event, `${name}.svg`, standalone(svg).text, "image/svg+xml");
  saveBar(figure, [
    button("SVG", `Save the chart ${name} as SVG`, drawing),
    button("PNG", `Save the chart ${name} as PNG`, () => savePng(name, svg)),
  ]);
}

// --- Texts for a paper ---

async function isCopied(block) {
  try {
    await navigator.clipboard.writeText(block.textContent);
    return true;
  } catch {
    // As in a notebook, which does not lend its clipboard: the reader can copy what is selected.
    getSelection().selectAllChildren(block);
    return false;
  }
}

for (const figure of document.querySelectorAll("figure.copyable")) {
  const title = figure.querySelector("figcaption .title").textContent;
  const copy = async () => {
    status.textContent = "";
    const done = await isCopied(figure.querySelector("pre"));
    status.textContent = done ? "Copied" : "Selected: copy it with Ctrl+C or ⌘C";
  };
  const status = saveBar(figure, [button("Copy", `Copy: ${title}`, copy)]);
}

// --- Cards of people, each to be printed or saved by itself ---

// A page of its own, with nothing of anyone else: styles, the card, and no link into this page.
function asPage(card) {
  const page = document.implementation.createHTMLDocument(card.dataset.name);
  page.documentElement.lang = "en";
  const [charset, policy, viewport] = [...document.querySelectorAll("meta")].map((x) => page.importNode(x));
  policy.content = "default-src 'none'; style-src 'unsafe-inline'";
  page.head.prepend(charset, policy, viewport);
  page.head.append(page.importNode(document.querySelector("style"), true));
  const copy = page.importNode(card, true);
  copy.classList.add("alone");
  copy.querySelector(".tools").remove();
  for (const link of copy.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  page.body.append(page.createElement("main"));
  page.body.firstChild.append(copy);
  return `<!DOCTYPE html>\n${page.documentElement.outerHTML}`;
}

for (const card of document.querySelectorAll(".person")) {
  const name = card.dataset.name;
  const file = `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60)}.html`;
  const print = () => {
    card.classList.add("alone");
    window.print();
  };
  addEventListener("afterprint", () => card.classList.remove("alone"));
  saveBar(card, [
    button("Save", `Save the card of ${name}`, (event) => saving(event, file, asPage(card), "text/html")),
    button("Print", `Print the card of ${name}`, print),
  ]);
}
