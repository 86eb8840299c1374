// The page of the app: files to the server, what it found to the page. All that comes from files is
// set as text.
const id = (name) => document.getElementById(name);
const wait = (time) => new Promise((done) => { setTimeout(done, time); });
let before = null; // what had the focus when work began
let stopped = false; // whether files that are on their way are given up

function make(tag, attributes, ...content) {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...content);
  return made;
}

// Ask the server; what it refuses is an error with its sentence.
async function ask(address, method = "GET", body = null) {
  let answer;
  try {
    answer = await fetch(address, { method, body });
  } catch {
    throw new Error("The app does not answer: it may have ended. Start it again.");
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(found.message || "The app does not know this page: open its address again.");
  return found;
}

function problem(text) {
  id("problem").textContent = text || "";
  id("wrong").hidden = !text;
  id("bar").hidden = !text;
}

function doing(text, share) {
  id("doing").hidden = !text;
  id("bar").hidden = !text && id("wrong").hidden;
  id("doing").firstChild.textContent = text || "";
  const bar = id("doing").querySelector("progress");
  if (share === undefined) bar.removeAttribute("value");
  else bar.value = share;
  if (text && !before) before = document.activeElement;
  for (const part of document.querySelectorAll("button, input, select")) part.disabled = Boolean(text) && part.id !== "stop";
  if (text) return;
  if (before && document.activeElement === document.body) before.focus();
  before = null;
}

// ---- What is shown ---------------------------------------------------------------------

const many = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

function show(state) {
  id("given").hidden = !state.files;
  id("given").firstChild.textContent = `${state.names.join(", ")}: ${many(state.files, "file")}`;
  if (state.error) problem(state.error);
  id(state.people.length ? "notes" : "wrong").append(id("ways"));
  id("ways").hidden = !state.ways.length;
  id("ways").replaceChildren(id("ways").firstChild, ...state.ways.map(({ text, on }, way) => make("button", {
    type: "button", ariaPressed: String(on), onclick: () => work({ do: "read", way }, "people"),
  }, on ? `✓ ${text}` : text)));
  id("people").hidden = !state.people.length;
  people(state);
  id("people").querySelector(".notes").replaceChildren(...state.notes.map((text) => make("li", {}, text)));
  id("made").hidden = !state.report;
  id("decide").hidden = id("how").hidden = id("gold").hidden = !state.decides;
  id("decided").textContent = state.decided;
  id("saved").hidden = !state.saved;
}

// Each person has a row, which is made once: what is typed into it stays.
let shown = "";
function people({ people: listed, gold, formats, format }) {
  if (shown === JSON.stringify([listed, gold])) return;
  shown = JSON.stringify([listed, gold]);
  id("names").replaceChildren(...listed.map(([name, documents, spans], i) => make("li", {},
    make("input", { type: "text", value: name, maxLength: 200, ariaLabel: `Name of ${name}`, dir: "auto" }),
    make("span", { className: "quiet" }, `${many(documents, "document")}, ${many(spans, "span")}`),
    make("label", {}, make("input", { type: "radio", name: "gold", value: i, checked: name === gold, ariaLabel: `${name} is the gold standard` }), " gold standard"))));
  if (!gold) id("no-gold").checked = true;
  id("to").replaceChildren(...formats.map((name) => make("option", { selected: name === format }, name)));
}

// ---- Work ------------------------------------------------------------------------------

// Show what the server does until it is done; then lead to what there is now.
async function follow(next) {
  let state = await ask("state");
  while (state.busy) {
    const [text, seconds] = state.doing || ["starting", 0];
    doing(`${text[0].toUpperCase()}${text.slice(1)} … ${Math.floor(seconds)} s`);
    await wait(seconds < 3 ? 150 : 700);
    state = await ask("state");
  }
  doing();
  show(state);
  if (next && !state.error && !id(next).hidden) id(`title-${next}`).focus();
  return state;
}

const attempt = (act) => async (...given) => {
  try {
    return await act(...given);
  } catch (error) {
    stopped = true;
    doing();
    await ask("state").then(show, () => {});
    problem(error.message);
    return null;
  }
};

const work = attempt(async (asked, next) => {
  problem();
  await ask("work", "POST", JSON.stringify(asked));
  return follow(next);
});

// ---- Files -----------------------------------------------------------------------------

const give = attempt(async (files) => {
  const known = files.filter(([name]) => !name.split("/").some((part) => part.startsWith(".")));
  if (!known.length) throw new Error("There is no file to read in that.");
  const bytes = known.reduce((sum, [, file]) => sum + file.size, 0);
  await ask("room", "POST", JSON.stringify({ files: known.length, bytes })); // refused before all is sent
  problem();
  stopped = false;
  const left = [...known];
  const send = async () => {
    while (left.length && !stopped) {
      const [name, file] = left.shift();
      const number = known.length - left.length;
      doing(`Taking files … ${number} of ${known.length}`, number / known.length);
      await ask(`files/${encodeURIComponent(name)}`, "PUT", file);
    }
  };
  await Promise.all(Array.from({ length: 6 }, send)); // browsers send so many at a time
  if (stopped) return follow();
  return work({ do: "read" }, "people");
});

// All files of what was dropped; a folder gives a hundred of its entries at a time.
async function within(entry, path = "") {
  const name = path + entry.name;
  if (entry.isFile) return [[name, await new Promise((done, fail) => { entry.file(done, fail); })]];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const part = await new Promise((done, fail) => { reader.readEntries(done, fail); });
    if (!part.length) return found;
    for (const inner of part) found.push(...await within(inner, `${name}/`));
  }
}

const dropped = attempt(async (entries) => give((await Promise.all(entries.map((entry) => within(entry)))).flat()));

for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    id("drop").classList.toggle("over", kind === "dragover");
    if (kind !== "drop" || id("pick").disabled) return;
    dropped([...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean));
  });
}
for (const [button, input] of [["pick", "chosen"], ["pick-folder", "chosen-folder"]]) {
  id(button).addEventListener("click", () => id(input).click());
  id(input).addEventListener("change", async ({ target }) => {
    const files = [...target.files].map((file) => [file.webkitRelativePath || file.name, file]);
    await give(files);
    target.value = "";
  });
}

// ---- Buttons ---------------------------------------------------------------------------

id("make").addEventListener("click", () => {
  const rows = [...id("names").querySelectorAll("[type=text]")];
  const gold = document.querySelector("[name=gold]:checked").value;
  work({ do: "report", names: rows.map((row) => row.value), gold: gold === "" ? null : Number(gold) }, "made");
});
id("write").addEventListener("click", async () => {
  const asked = { do: "gold", to: id("to").value, rest: id("rest").value };
  const state = await work({ ...asked, ties: asked.rest === "consensus" && id("ties").value ? id("ties").value : null });
  if (state && state.written) make("a", { href: "gold", download: state.written }).click();
});
id("rest").addEventListener("change", () => { id("ties").closest("label").hidden = id("rest").value !== "consensus"; });
id("stop").addEventListener("click", attempt(() => {
  stopped = true;
  return ask("stop", "POST");
}));
id("anew").addEventListener("click", attempt(async () => {
  if (!id("saved").hidden && !confirm("Decisions that were saved are forgotten too. Start anew?")) return;
  problem();
  await ask("anew", "POST");
  await follow();
  id("pick").focus();
}));
// Decisions may have been saved in the tab of the report.
addEventListener("focus", () => { if (id("doing").hidden) attempt(follow)(); });
attempt(follow)();
