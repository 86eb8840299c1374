// Tables that sort and save, charts that save, texts that are copied. The page reads well without.
(() => {
  "use strict";

  const collator = new Intl.Collator("en", { numeric: true });

  function saved(name, type, content) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function button(text, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }

  function saveBar(figure, buttons) {
    const bar = document.createElement("div");
    bar.className = "save";
    bar.append(...buttons);
    figure.append(bar);
  }

  // --- Links ---

  // In a notebook the page has no address of its own, and "#" would lead to the notebook.
  if (location.protocol === "about:") {
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      const place = link && (link.getAttribute("href") ?? link.getAttribute("xlink:href"));
      if (!place || !place.startsWith("#")) return;
      event.preventDefault();
      location.hash = place;
    });
  }

  // --- Tables ---

  const full = (cell) => cell.dataset.value ?? cell.textContent;

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

  function asCsv(table) {
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = [...table.rows].map((row) => [...row.cells].map((cell) => quoted(full(cell))));
    return rows.map((row) => row.join(",")).join("\r\n") + "\r\n";
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
    const save = () => saved(`${name}.csv`, "text/csv", asCsv(table));
    saveBar(table.closest("figure"), [button("CSV", `Save the table ${name} as CSV`, save)]);
  }

  // --- Charts ---

  function standalone(svg) {
    const copy = svg.cloneNode(true);
    const box = svg.viewBox.baseVal;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", box.width);
    copy.setAttribute("height", box.height);
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ x: box.x, y: box.y, width: box.width, height: box.height, fill: "#ffffff" })) {
      paper.setAttribute(name, value);
    }
    const first = [...copy.children].find((child) => !["title", "desc"].includes(child.tagName));
    copy.insertBefore(paper, first ?? null);
    return new XMLSerializer().serializeToString(copy);
  }

  function savePng(name, svg) {
    const scale = 3;
    const image = new Image();
    const url = URL.createObjectURL(new Blob([standalone(svg)], { type: "image/svg+xml" }));
    image.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      canvas.width = scale * svg.viewBox.baseVal.width;
      canvas.height = scale * svg.viewBox.baseVal.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(url);
      canvas.toBlob((blob) => saved(`${name}.png`, "image/png", blob), "image/png");
    });
    image.src = url;
  }

  for (const figure of document.querySelectorAll("figure.chart")) {
    const svg = figure.querySelector("svg");
    const name = figure.dataset.name;
    saveBar(figure, [
      button("SVG", `Save the chart ${name} as SVG`, () => saved(`${name}.svg`, "image/svg+xml", standalone(svg))),
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
    const title = figure.querySelector("figcaption").textContent;
    const status = document.createElement("span");
    status.setAttribute("role", "status");
    const copy = async () => {
      status.textContent = "";
      const done = await isCopied(figure.querySelector("pre"));
      status.textContent = done ? "Copied" : "Selected: copy it with Ctrl+C or ⌘C";
    };
    saveBar(figure, [button("Copy", `Copy: ${title}`, copy), status]);
    figure.append(figure.querySelector("pre")); // the button is above what may be long
  }
})();
