// The document view: draws the documents of <script id="documents"> into <section id="reader">.
//
// Everything that comes from the data reaches the page by textContent only. Offsets count
// Unicode code points or tokens, never UTF-16 units.
const source = document.getElementById("documents");
const reader = document.getElementById("reader");
const data = JSON.parse(source.textContent);
const { kinds, kindNames, annotators, labels, pairs } = data;
const AGREE = kinds.indexOf("agree");
const SYMBOLS = {
  agree: "✓", label: "≠", boundary: "↔", both: "≠↔", missed: "−", extra: "+", some: "≈",
};
// What a span is in a pair: among equals, nothing is missed and nothing extra.
const STATES = data.isAgainstGold ? {} : { missed: "alone", extra: "alone" };
const stateOf = (kind) => STATES[kind] || kind;
const NOTHING = "nothing";
const NOUN = data.noun[0].toUpperCase() + data.noun.slice(1); // what documents are called
const PAGE = 200; // sentences that are listed at a time
const CHUNK = 250; // words that are laid out together
const AT_ONCE = 2000; // words and marks that are drawn before the page answers again
const LAID_OUT = 2000; // such stretches that the page has at a time
const LISTED = 500; // pairs of labels
const GUTTER_NAME = 14; // characters of a name next to its lane
const GOLD = data.isAgainstGold ? pairs[0][0] : -1; // who has the first lane
const DECIDED = annotators.length; // who has the last lane, of what was decided
// Spans of three people or more are coloured by how many marked them alike.
const IS_TEAM = !data.isAgainstGold && pairs.length > 1;
const MOST_STEPS = 6; // of such colours in the legend

// ---- Small helpers ---------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const name = (text) => make("bdi", {}, text);
const copied = (node) => (typeof node === "string" ? node : node.cloneNode(true));

const number = (value) => value.toLocaleString("en");

const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

// All at once may be more than a call takes.
function fill(element, children) {
  const all = document.createDocumentFragment();
  for (const child of children) all.append(child);
  element.replaceChildren(all);
}

// ---- What the page was given -----------------------------------------------------------

const documents = data.documents.map(decoded);
const byNumber = new Map(documents.map((item) => [item.number, item]));

function decoded([documentNumber, id, present, texts, columns, rowColumns, sizes]) {
  const [counts, annotator, label, start, length] = columns;
  const text = counts.flatMap((n, i) => Array(n).fill(i));
  const spans = start.map((from, i) => ({
    text: text[i],
    annotator: annotator[i],
    label: label[i],
    start: from,
    end: from + length[i],
  }));
  sizes.reduce((next, size, place) => {
    for (const span of spans.slice(next, next + size)) span.place = place;
    return next + size;
  }, 0);
  const [pair, kind, a, b] = rowColumns;
  const rows = pair.map((p, i) => rowOf(p, kind[i], spans[a[i]] || null, spans[b[i]] || null));
  return { number: documentNumber, id, present: new Set(present), texts, spans, rows, sizes };
}

function rowOf(pair, kind, a, b) {
  return { pair, kind, a, b, spans: [a, b].filter(Boolean) };
}

const keyOf = (span) => `${span.text} ${span.start} ${span.end} ${span.label}`;

// How many marked each span alike.
function votesOf(item) {
  const who = new Map(item.spans.map((span) => [keyOf(span), new Set()]));
  for (const span of item.spans) who.get(keyOf(span)).add(span.annotator);
  return (span) => who.get(keyOf(span)).size;
}

const isCompared = (item, p) => pairs[p].every((who) => item.present.has(who));

// Agreements are not among the rows that were sent: whatever of a pair is in no row agrees.
function everyRow(item) {
  if (item.everyRow) return item.everyRow;
  const found = [...item.rows];
  const differing = pairs.map(() => new Set());
  for (const row of item.rows) differing[row.pair].add(row.a).add(row.b);
  pairs.forEach(([a, b], p) => {
    if (!isCompared(item, p)) return;
    const partners = new Map();
    const rest = item.spans.filter((span) => !differing[p].has(span));
    for (const span of rest) {
      if (span.annotator !== b) continue;
      if (!partners.has(keyOf(span))) partners.set(keyOf(span), []);
      partners.get(keyOf(span)).push(span);
    }
    for (const span of rest) {
      if (span.annotator !== a) continue;
      found.push(rowOf(p, AGREE, span, partners.get(keyOf(span)).shift()));
    }
  });
  const place = ({ spans, pair }) =>
    [spans[0].text, Math.min(...spans.map((span) => span.start)), pair];
  const places = new Map(found.map((row) => [row, place(row)]));
  found.sort((x, y) => {
    const [one, two] = [places.get(x), places.get(y)];
    return one[0] - two[0] || one[1] - two[1] || one[2] - two[2];
  });
  item.everyRow = found;
  return found;
}

// ---- What is wanted --------------------------------------------------------------------

// who: "" | "pair-3" | "annotator-1"; kind: "" (all that differ) | "all" | a kind;
// label: "" | a number; cell: null | [label of a, label of b], -1 for nothing.
const wanted = { who: "", kind: "", label: "", cell: null, id: "" };
let matches = []; // documents with the rows that are wanted
// Where the reader is: at one of the matches, and at a stop in it, which is a row or, while
// deciding, a place. Only `go` changes this, and all that shows it is drawn from it.
let current;
let stop = null;
// How a reader goes through a document; deciding has another way.
const reading = {
  noun: "case",
  stops: (match) => match.rows,
  first: () => null, // where a document is opened
  isWanted: () => true,
  stopOf: (span) => current.rows.find((row) => row.spans.includes(span)),
  words(row) {
    const { item, rows } = current;
    return [`Case ${number(rows.indexOf(row) + 1)} of ${number(rows.length)}. `,
      ...inWords(item, row)];
  },
};
let mode = reading;

function isPairWanted(p) {
  if (!wanted.who) return true;
  const [what, which] = wanted.who.split("-");
  return what === "pair" ? p === Number(which) : pairs[p].includes(Number(which));
}

const nameOf = (who) => (who === DECIDED ? "gold" : annotators[who]);

const labelOf = (span) => (span ? span.label : -1);

function wantedRows(item) {
  const isPair = pairs.map((_, p) => isPairWanted(p));
  const rows = wanted.kind === "all" || wanted.kind === "agree" ? everyRow(item) : item.rows;
  const kind = kinds.indexOf(wanted.kind);
  const label = wanted.label === "" ? null : Number(wanted.label);
  return rows.filter((row) => {
    const [a, b] = [labelOf(row.a), labelOf(row.b)];
    return isPair[row.pair]
      && (kind < 0 || row.kind === kind)
      && (label === null || a === label || b === label)
      && (!wanted.cell || (a === wanted.cell[0] && b === wanted.cell[1]));
  });
}

const isFiltered = () => wanted.who || wanted.kind || wanted.label !== "" || wanted.cell;

function findMatches() {
  const id = wanted.id.trim().toLocaleLowerCase();
  matches = documents
    .filter((item) => !id || item.id.toLocaleLowerCase().includes(id))
    .map((item) => ({ item, rows: wantedRows(item) }))
    // The places of what is wanted, however many pairs differ there.
    .map((match) => ({ ...match, n: new Set(match.rows.map((row) => row.spans[0].place)).size }))
    .filter((match) => match.rows.length || !isFiltered());
}

// ---- Sentences -------------------------------------------------------------------------

// What a span covers, or null where there is no text.
function wordsOf(item, { text, start, end }) {
  const content = item.texts[text];
  if (typeof content === "number") return null;
  if (Array.isArray(content)) return content.slice(2 * start + 1, 2 * end).join("");
  if (data.positions === "tokens") return content.split(" ").slice(start, end).join(" ");
  return codePoints(item, text).slice(start, end).join("");
}

function surface(item, span) {
  const shown = Array.from((wordsOf(item, span) || "").trim().replace(/\s+/g, " "));
  const half = data.surface / 2;
  if (shown.length <= data.surface) return shown.join("");
  return `${shown.slice(0, half).join("")}…${shown.slice(-half).join("")}`;
}

function codePoints(item, text) {
  item.points = item.points || new Map();
  if (!item.points.has(text)) item.points.set(text, Array.from(item.texts[text]));
  return item.points.get(text);
}

function where(item, span) {
  const several = item.texts.length > 1 ? `${data.unit} ${span.text}, ` : "";
  return `${several}${data.positions} ${span.start} to ${span.end}`;
}

// A row in words, as nodes: names are isolated from the direction of the sentence.
function inWords(item, row) {
  const [a, b] = pairs[row.pair];
  const values = { a: [name(annotators[a])], b: [name(annotators[b])] };
  for (const side of ["a", "b"]) {
    const span = row[side];
    if (!span) continue;
    const covered = surface(item, span);
    values[`label_${side}`] = [name(labels[span.label])];
    values[`surface_${side}`] = covered ? [" “", name(covered), "”"] : [];
    values[`where_${side}`] = [where(item, span)];
  }
  return data.phrases[kinds[row.kind]]
    .split(/\{(\w+)\}/)
    // A name can be there twice, and a node cannot.
    .flatMap((part, i) => (i % 2 ? values[part].map(copied) : [part]));
}

// How much there is in a document; of two people also of which kinds.
function inWhole({ n, rows }) {
  if (pairs.length > 1 || !n) return counted(n, "place");
  const told = kinds.map((kind, i) => [rows.filter((row) => row.kind === i).length, kind])
    .flatMap(([m, kind]) => (m ? [`${number(m)} ${kindNames[kind]}`] : []));
  return `${counted(n, "place")}: ${told.join(", ")}`;
}

// ---- The parts of the page -------------------------------------------------------------

const parts = {
  who: make("select", { onchange: change("who") }),
  kind: make("select", { onchange: change("kind") }),
  label: make("select", { onchange: change("label") }),
  id: make("input", { type: "search", oninput: change("id") }),
  clear: make("button", { type: "button", onclick: clear }, "Clear filters"),
  keys: make("input", { type: "checkbox", checked: true }),
  count: make("p", { class: "reader-count", role: "status" }),
  list: make("ol", { class: "reader-list", "aria-label": "Documents" }),
  title: make("h3", { tabindex: "-1" }),
  now: make("p", { class: "reader-now", "aria-live": "polite", tabindex: "0" }),
  about: make("p", {}),
  text: make("div", { class: "reader-text" }),
  legend: make("ul", {
    class: "reader-legend", tabindex: "0", "aria-label": "What the marks mean",
  }),
  cases: make("section", { class: "reader-cases", "aria-label": "Cases in this document" }),
  table: make("ol", { class: "reader-list reader-table", "aria-label": "Labels by labels" }),
  whose: make("p", { class: "reader-note" }),
  article: make("article", { class: "reader-document reader-main" }),
  bar: make("div", { class: "reader-bar" }),
  buttons: {},
};

function change(field) {
  return (event) => {
    wanted[field] = event.target.value;
    if (field !== "id") wanted.cell = null;
    refresh();
  };
}

function clear() {
  Object.assign(wanted, { who: "", kind: "", label: "", cell: null, id: "" });
  refresh();
}

const option = (value, text) => make("option", { value }, text);

function build() {
  parts.bar.append(stepButtons(), parts.now);
  parts.article.append(
    parts.bar,
    parts.title,
    parts.about,
    parts.legend,
    parts.text,
    parts.cases,
  );
  parts.filters = filters();
  parts.help = help();
  reader.append(make("div", { class: "reader" },
    parts.filters,
    parts.help,
    parts.count,
    make("div", { class: "reader-body" }, parts.list, parts.article),
    make("div", { class: "reader-table-box" },
      make("h3", {}, "Labels by labels"), parts.whose, parts.table)));
  parts.text.addEventListener("click", clickedMark);
  parts.table.addEventListener("click", clickedCell);
  document.addEventListener("keydown", pressed);
  window.addEventListener("hashchange", openHash);
  window.addEventListener("beforeprint", drawEverything);
  new ResizeObserver(() => visible.forEach(drawNames)).observe(parts.text);
}

function filters() {
  const isInPair = (who) => pairs.some((pair) => pair.includes(who));
  parts.who.append(
    option("", "all annotators"),
    make("optgroup", { label: "one annotator" }, ...annotators.flatMap((text, who) =>
      isInPair(who) ? [option(`annotator-${who}`, text)] : [])),
    make("optgroup", { label: "a pair" }, ...pairs.map(([a, b], p) =>
      option(`pair-${p}`, `${annotators[a]} and ${annotators[b]}`))),
  );
  const ofKind = (kind) => option(kind, `${SYMBOLS[kind]} ${kindNames[kind]}`);
  parts.kind.append(
    option("", "all disagreements"),
    ...kinds.filter((_, i) => i !== AGREE).map(ofKind),
    ofKind("agree"),
    option("all", "agreements, too"),
  );
  parts.label.append(option("", "every label"), ...labels.map((text, i) => option(i, text)));
  const labelled = (text, field) => {
    parts[field].id = `reader-${field}`;
    return make("div", {}, make("label", { for: `reader-${field}` }, text), parts[field]);
  };
  return make("div", { class: "reader-filters" },
    ...(pairs.length > 1 ? [labelled("Annotators", "who")] : []),
    labelled("Kind", "kind"),
    labelled("Label", "label"),
    labelled(`${NOUN} name`, "id"),
    parts.clear);
}

function help() {
  const keys = "j| or |n| next case, |k| or |p| previous; |→| or |]| next document, |←| or |[| previous.";
  return make("p", { class: "reader-help" }, make("label", {}, parts.keys, " keys: "),
    ...keys.split("|").map((text, i) => (i % 2 ? text : make("kbd", {}, text))));
}

function stepButtons() {
  const button = (field, text, act) => {
    parts.buttons[field] = make("button", { type: "button", onclick: act }, text);
    return parts.buttons[field];
  };
  return make("div", { class: "reader-steps" },
    make("span", {},
      button("previousDocument", `‹ ${data.noun}`, () => moveDocument(-1)),
      button("nextDocument", `${data.noun} ›`, () => moveDocument(1))),
    make("span", {},
      button("previous", "‹ case", () => move(-1)),
      button("next", "case ›", () => move(1))));
}

// What the marks of a document mean.
function drawLegend({ present }) {
  const marked = (look, text) => {
    const element = make("span", {}, look.symbol);
    dress(element, look);
    element.classList.add("is-start", "is-end");
    return make("li", {}, element, text);
  };
  const all = present.size;
  const steps = Array.from({ length: all }, (_, i) => i + 1)
    .filter((n) => all <= MOST_STEPS || [1, Math.ceil(all / 2), all].includes(n));
  const several = pairs.length > 1 ? ["some"] : [];
  fill(parts.legend, IS_TEAM
    ? [make("li", {}, "marked alike by"),
      ...steps.map((n) => marked(byVotes(n, all), n === all ? "all" : ""))]
    : [...kinds, ...several].map((kind) => marked(
      { kind, symbol: SYMBOLS[kind] }, kindNames[kind] || "several")));
}

// ---- Filters, list and table -----------------------------------------------------------

// Apply the filters: what is counted, listed and in the table; then the document.
function refresh(keep = current && current.item) {
  for (const field of ["who", "kind", "label", "id"]) {
    if (parts[field].value !== String(wanted[field])) parts[field].value = wanted[field];
  }
  findMatches();
  const n = matches.reduce((sum, match) => sum + match.n, 0);
  const which = wanted.kind === "all" || wanted.kind === "agree" ? "" : " where annotators differ";
  const cell = wanted.cell
    ? [" where the first marked ", ...labelWords(wanted.cell[0]), " and the second ",
      ...labelWords(wanted.cell[1])]
    : [];
  parts.count.replaceChildren(
    `${counted(n, "place")}${which}`, ...cell, ` in ${counted(matches.filter((match) => match.n).length, data.noun)}; the page has `,
    `${data.sentence}.`);
  parts.clear.disabled = !isFiltered() && !wanted.id;
  listDocuments();
  drawTable();
  const match = matches.find((one) => one.item === keep) || matches[0] || null;
  go(match, match && mode.stops(match).find((one) => one === stop), false);
}

const labelWords = (label) => (label < 0 ? [NOTHING] : [name(labels[label])]);

function listDocuments() {
  fill(parts.list, matches.map((match) => {
    match.button = make("button", { type: "button", onclick: () => go(match) },
      make("bdi", { title: match.item.id }, match.item.id),
      make("small", { title: inWhole(match) }, number(match.n)));
    return make("li", {}, match.button);
  }));
}

// Pairs of labels, the most frequent first.
function drawTable() {
  const counts = new Map();
  for (const row of matches.flatMap((match) => match.rows)) {
    const key = `${labelOf(row.a)},${labelOf(row.b)}`;
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const cells = [...counts].sort(([, n], [, m]) => m - n);
  fill(parts.table, cells.slice(0, LISTED).map(([key, n]) => {
    const [a, b] = key.split(",").map((label) => labelWords(Number(label)));
    return make("li", {}, make("button", { type: "button", "data-cell": key },
      make("span", {}, ...a, " – ", ...b), make("small", {}, number(n))));
  }));
  const isOne = pairs.length === 1 || wanted.who.startsWith("pair-");
  const [first, second] = isOne
    ? pairs[Number(wanted.who.split("-")[1] || 0)].map((who) => name(annotators[who]))
    : ["the first of each pair", "the second"];
  parts.whose.replaceChildren("By ", first, " – by ", second, ": cases, which a line opens.",
    cells.length > LISTED ? ` The first ${LISTED} of ${number(cells.length)}.` : "");
}

function clickedCell(event) {
  const button = event.target.closest("[data-cell]");
  if (!button) return;
  wanted.cell = button.dataset.cell.split(",").map(Number);
  refresh(null);
  go(current, mode.first(current) || mode.stops(current)[0]);
}

// ---- The document ----------------------------------------------------------------------

let chunks = []; // stretches of text that are laid out together
let drawing = 0; // the document that is being drawn, to stop drawing another one
const visible = new Set(); // chunks on the screen
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const chunk = chunks[Number(entry.target.dataset.chunk)];
    if (!chunk || chunk.element !== entry.target) continue;
    if (entry.isIntersecting) {
      visible.add(chunk);
      drawNames(chunk);
    } else visible.delete(chunk);
  }
}, { rootMargin: "200px" });

// Go to a stop, or to where a document is opened; filters lead there without moving the page.
function go(match, next = match && mode.first(match), brings = true) {
  if (match !== current) show(match);
  stop = next;
  draw();
  if (!brings || !match) return;
  remember();
  if (stop) {
    bring();
    return;
  }
  parts.article.scrollIntoView({ block: "start" });
  parts.title.focus({ preventScroll: true });
}

// Draw what tells where the reader is.
function draw() {
  for (const old of parts.cases.querySelectorAll("[aria-current]")) {
    old.removeAttribute("aria-current");
  }
  const at = current ? current.rows.indexOf(stop) : -1;
  if (at >= 0) {
    listCases(at);
    const button = current.items[at % PAGE];
    button.setAttribute("aria-current", "true");
    scrollWithin(button, parts.cases.querySelector("ol"));
  }
  parts.now.replaceChildren(...(stop ? mode.words(stop) : []));
  for (const old of parts.text.querySelectorAll(".is-lit, .is-decided")) {
    old.classList.remove("is-lit", "is-decided");
  }
  chunks.filter((chunk) => chunk.drawn).forEach(paint);
  updateButtons();
  if (mode.draw) mode.draw();
}

// Light the spans of the stop, and underline what is decided.
function paint(chunk) {
  for (const [span, marks] of chunk.parts) {
    const classes = [
      ...(stop && stop.spans.includes(span) ? ["is-lit"] : []),
      ...(mode.isDecided && mode.isDecided(span) ? ["is-decided"] : []),
    ];
    for (const mark of marks) {
      mark.classList.add(...classes);
      mark.parentElement.classList.add(...classes);
    }
  }
}

// Bring the stop into view: between the bar above the text and the panel below it.
function bring() {
  const span = stop.spans.find((one) => current.chunkOf.has(one));
  if (!span) return;
  const chunk = current.chunkOf.get(span);
  if (!isLaidOut(chunk)) layOut(chunk.at);
  drawChunk(chunk);
  const [target] = chunk.parts.get(span);
  target.focus({ preventScroll: true });
  const below = parts.panel ? parts.panel.offsetHeight : 0;
  target.style.scrollMargin = `${parts.bar.offsetHeight}px 0 ${below}px`;
  target.scrollIntoView({ block: "center", inline: "nearest" });
}

function remember() {
  const [span] = stop ? stop.spans : [];
  const place = span ? [span.text, span.start, ...(pairs[stop.pair] || [])] : [];
  try {
    history.replaceState(null, "", `#${["document", current.item.number, ...place].join("-")}`);
  } catch {
    // A page inside a page may not have an address of its own.
  }
}

function show(match) {
  if (current && current.button) current.button.removeAttribute("aria-current");
  current = match;
  listed = -1;
  if (mode.opened) mode.opened();
  if (!match) {
    drawing += 1;
    watcher.disconnect();
    visible.clear();
    chunks = [];
    parts.title.replaceChildren(`No ${data.noun} fits these filters`);
    for (const part of [parts.about, parts.text, parts.cases]) part.replaceChildren();
    parts.article.removeAttribute("id");
    return;
  }
  const { item } = match;
  match.button.setAttribute("aria-current", "true");
  scrollWithin(match.button, parts.list);
  parts.article.id = `document-${item.number}`;
  parts.title.replaceChildren(name(item.id));
  parts.about.replaceChildren(
    `${NOUN} ${number(matches.indexOf(match) + 1)} of ${number(matches.length)}`,
    ` · ${inWhole(match)}`,
    item.texts.every((text) => typeof text === "number")
      ? ` · numbers are ${data.positions}, since the page has no texts` : "");
  drawText(match);
  listCases(0);
}

// Who is shown: all annotators in a pair that is wanted and compared in this document.
function lanesOf(item) {
  const found = new Set();
  pairs.forEach((pair, p) => {
    if (isPairWanted(p) && isCompared(item, p)) pair.forEach((who) => found.add(who));
  });
  const order = annotators.map((_, i) => i).filter((i) => found.has(i));
  return order.sort((one, other) => (other === GOLD) - (one === GOLD));
}

// What each span is to those it is compared with: how many, how many agree, and what else.
function statesOf(item) {
  const compared = annotators.map(() => 0);
  pairs.forEach((pair, p) => {
    if (isPairWanted(p) && isCompared(item, p)) pair.forEach((who) => { compared[who] += 1; });
  });
  const votes = votesOf(item);
  const states = new Map(item.spans.map((span) => {
    const all = compared[span.annotator];
    return [span, { all, agree: all, kinds: new Set(), votes: votes(span), present: item.present.size }];
  }));
  for (const row of item.rows) {
    if (!isPairWanted(row.pair)) continue;
    for (const span of [row.a, row.b]) {
      if (!span) continue;
      const state = states.get(span);
      state.agree -= 1;
      state.kinds.add(row.kind);
    }
  }
  return states;
}

// Spans of one annotator that overlap lie in lanes below one another, the outer first.
function sublanes(spans) {
  const ends = new Map();
  const found = new Map();
  for (const span of spans) {
    if (!ends.has(span.annotator)) ends.set(span.annotator, []);
    const own = ends.get(span.annotator);
    let lane = own.findIndex((end) => end <= span.start);
    if (lane < 0) lane = own.length;
    own[lane] = span.end;
    found.set(span, lane);
  }
  return found;
}

// The columns of a text: {start, end, word, gap, kind}, where a gap is the white space behind.
function cellsOf(item, text, spans) {
  const content = item.texts[text];
  if (typeof content === "number") return rulerCells(content, spans);
  if (Array.isArray(content)) {
    const cells = [];
    for (let i = 1; i < content.length; i += 2) {
      const place = (i - 1) / 2;
      cells.push({ start: place, end: place + 1, word: content[i], gap: content[i + 1] });
    }
    return cells;
  }
  if (data.positions === "tokens") {
    return content.split(" ").map((word, i) => ({ start: i, end: i + 1, word, gap: " " }));
  }
  return characterCells(codePoints(item, text), spans);
}

function rulerCells(length, spans) {
  const cuts = new Set([0, length]);
  for (const span of spans) cuts.add(span.start).add(span.end);
  const places = [...cuts].sort((x, y) => x - y);
  return places.slice(0, -1).map((start, i) => {
    const end = places[i + 1];
    const word = end - start > 1 ? `${start}–${end}` : `${start}`;
    return { start, end, word, gap: "", ruler: true };
  });
}

const BY_ITSELF = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

// Words, cut where a span begins or ends. White space is a column of its own where a span
// begins or ends with it, which is a difference that would not be seen otherwise.
function characterCells(points, spans) {
  const [starts, ends] = [new Set(), new Set()];
  for (const span of spans) {
    starts.add(span.start);
    ends.add(span.end);
  }
  const isBlank = (i) => /\s/u.test(points[i]);
  const cells = [];
  let start = 0;
  while (start < points.length) {
    let end = start + 1;
    const blank = isBlank(start);
    const alone = BY_ITSELF.test(points[start]);
    while (end < points.length && !alone && isBlank(end) === blank && !starts.has(end)
      && !ends.has(end) && !BY_ITSELF.test(points[end])) end += 1;
    const word = points.slice(start, end).join("");
    const before = cells[cells.length - 1];
    if (blank && before && !before.gap && !starts.has(start) && !ends.has(end)) before.gap = word;
    else cells.push({ start, end, word, gap: "", blank });
    start = end;
  }
  return cells;
}

// What is drawn of each text: the spans of those who are shown, and while deciding the gold.
function spansByText(item, lanes) {
  const byText = item.texts.map(() => []);
  for (const span of [...item.spans, ...(mode.gold ? mode.gold(item) : [])]) {
    if (lanes.includes(span.annotator)) byText[span.text].push(span);
  }
  return byText;
}

function drawText(match) {
  const { item } = match;
  const lanes = [...lanesOf(item), ...(mode.gold ? [DECIDED] : [])];
  const states = statesOf(item);
  chunks = [];
  match.chunkOf = new Map();
  spansByText(item, lanes).forEach((spans, text) => {
    const cells = cellsOf(item, text, spans);
    const lane = sublanes(spans);
    let first = 0;
    const cut = (end) => {
      const own = cells.slice(first, end);
      const chunk = { item, text, lanes, states, isFirst: !first, at: chunks.length };
      chunks.push(placed(chunk, own, spans, lane));
      first = end;
    };
    cells.forEach((cell, i) => {
      const n = i + 1 - first;
      if (n >= CHUNK || cell.gap.includes("\n")) cut(i + 1);
    });
    if (first < cells.length || !cells.length) cut(cells.length);
  });
  for (const chunk of chunks) {
    for (const span of chunk.marks.flat()) {
      if (!match.chunkOf.has(span)) match.chunkOf.set(span, chunk);
    }
  }
  drawLegend(item);
  const longest = Math.min(GUTTER_NAME, Math.max(...lanes.map((i) => nameOf(i).length), 3));
  parts.text.style.setProperty("--gutter", `min(${longest * 0.45 + 1.2}rem, 22vw)`);
  layOut(0);
}

// Draw a stretch of text anew whose gold changed.
function renew(id, { text, start, end }) {
  if (!current || current.item.id !== id || !mode.gold) return;
  const { item } = current;
  const own = chunks.filter((chunk) => chunk.text === text && chunk.cells.length);
  const spans = spansByText(item, own[0].lanes)[text];
  const [cells, lane] = [cellsOf(item, text, spans), sublanes(spans)];
  own.forEach((chunk, i) => {
    const from = chunk.cells[0].start;
    const to = own[i + 1] ? own[i + 1].cells[0].start : Infinity;
    if (from >= end || to <= start) return;
    placed(chunk, cells.filter((cell) => cell.start >= from && cell.start < to), spans, lane);
    if (!chunk.drawn || !isLaidOut(chunk)) return;
    const isHere = chunk.element.contains(document.activeElement);
    chunk.drawn = false;
    chunk.element.replaceChildren();
    drawChunk(chunk);
    const marks = isHere && stop && stop.spans.map((span) => chunk.parts.get(span)).find(Boolean);
    if (marks) marks[0].focus({ preventScroll: true });
  });
}

// Put the stretch with this chunk on the page; most documents are one stretch.
function layOut(at) {
  drawing += 1;
  watcher.disconnect();
  visible.clear();
  const first = Math.floor(at / LAID_OUT) * LAID_OUT;
  const last = Math.min(first + LAID_OUT, chunks.length);
  const turn = (to, text) => make("p", { class: "reader-turn" },
    make("button", { type: "button", onclick: () => turnTo(to) }, text));
  const elements = [];
  for (let i = first; i < last; i += 1) {
    const chunk = chunks[i];
    chunk.drawn = false;
    chunk.element = make("div", {
      class: `reader-chunk${chunk.isFirst ? " is-first" : ""}`,
      dir: "auto",
      "data-chunk": i,
    });
    elements.push(chunk.element);
  }
  fill(parts.text, [
    ...(first ? [turn(first - 1, "earlier text")] : []),
    ...elements,
    ...(last < chunks.length ? [turn(last, "later text")] : []),
  ]);
  for (const element of elements) watcher.observe(element);
  drawSome(first, last, drawing);
}

function turnTo(at) {
  layOut(at);
  parts.text.scrollIntoView({ block: "start" });
}

// Give a chunk its cells, which spans each has, and how many lanes each annotator needs.
function placed(chunk, cells, spans, lane) {
  Object.assign(chunk, { cells, lane, marks: cells.map(() => []), heights: new Map() });
  for (const span of cells.length ? spans : []) {
    if (cells[cells.length - 1].end <= span.start || cells[0].start >= span.end) continue;
    const height = Math.max(chunk.heights.get(span.annotator) || 1, lane.get(span) + 1);
    chunk.heights.set(span.annotator, height);
    let i = firstCell(cells, span.start);
    for (; i < cells.length && cells[i].start < span.end; i += 1) chunk.marks[i].push(span);
  }
  return chunk;
}

// The first cell that ends behind a position, by halves.
function firstCell(cells, position) {
  let [low, high] = [0, cells.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cells[middle].end > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

function drawSome(from, last, which) {
  if (which !== drawing) return;
  let drawn = 0;
  let i = from;
  while (i < last && drawn < AT_ONCE) {
    drawChunk(chunks[i]);
    drawn += chunks[i].marks.reduce((sum, spans) => sum + spans.length, chunks[i].cells.length);
    i += 1;
  }
  if (i < last) setTimeout(drawSome, 0, i, last, which);
}

function drawEverything() {
  const shown = chunks.filter((chunk) => isLaidOut(chunk));
  shown.forEach(drawChunk);
  shown.forEach(fitLabels);
}

const isLaidOut = (chunk) => Boolean(chunk.element && chunk.element.isConnected);

function drawChunk(chunk) {
  if (chunk.drawn) return;
  chunk.drawn = true;
  chunk.first = new Map(); // the lane at which each annotator's lanes begin
  let lanes = 0;
  if (chunk.heights.size) {
    for (const who of chunk.lanes) {
      chunk.first.set(who, lanes);
      lanes += chunk.heights.get(who) || 1;
    }
  }
  chunk.n = lanes;
  chunk.element.style.setProperty("--lanes", lanes);
  if (chunk.item.texts.length > 1 && chunk.isFirst && lanes) {
    const title = `${data.unit} ${chunk.text}`;
    chunk.element.append(make("span", { class: "reader-place", dir: "ltr", title }, chunk.text));
  }
  chunk.names = make("div", { class: "reader-names", dir: "ltr", "aria-hidden": "true" });
  chunk.element.append(chunk.names);
  chunk.parts = new Map(); // the elements of each span
  chunk.columns = []; // the words that an annotator marked
  const words = chunk.cells.map((cell) => cell.word).join(" ");
  const mixed = RIGHT_TO_LEFT.test(words);
  if (mixed) chunk.element.dir = direction(words);
  let plain = ""; // words that no annotator marked are text like any other
  let first = 0; // the first cell of these, and what stands before it
  let before = 0;
  const append = (text, until) => {
    const node = document.createTextNode(text);
    node.stretch = { chunk, first, until, before };
    chunk.element.append(node);
  };
  chunk.cells.forEach((cell, i) => {
    if (!chunk.marks[i].length && !cell.ruler) {
      plain += cell.word + cell.gap;
      return;
    }
    const column = drawCell(chunk, cell, chunk.marks[i]);
    const way = mixed ? direction(cell.word) : "";
    if (way) column.dir = way;
    // A column is neutral among letters: a mark on either side gives it their direction.
    const mark = { ltr: "\u200e", rtl: "\u200f", "": "" }[way];
    append(plain + mark, i);
    column.stretch = { chunk, first: i, until: i + 1, before: 0 };
    chunk.element.append(column);
    plain = mark + cell.gap;
    first = i + 1;
    before = plain.length;
    if (chunk.marks[i].length) chunk.columns.push(column);
  });
  append(plain, chunk.cells.length);
  paint(chunk);
  if (visible.has(chunk)) drawNames(chunk);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

// The direction of the first letter; "" where there is none.
function direction(text) {
  const letter = /\p{L}/u.exec(text);
  if (!letter) return "";
  return RIGHT_TO_LEFT.test(letter[0]) ? "rtl" : "ltr";
}

function drawCell(chunk, cell, spans) {
  const classes = ["reader-cell"];
  if (spans.length) classes.push("is-marked");
  if (cell.gap) classes.push("has-gap");
  if (cell.blank) classes.push("is-blank");
  if (cell.ruler) classes.push("is-ruler");
  const word = cell.blank ? cell.word.replace(/\n/g, "⏎").replace(/\s/gu, "␣") : cell.word;
  const element = make("span", { class: classes.join(" ") },
    make("span", { class: "reader-word" }, word || "\u00a0"));
  if (cell.ruler) {
    element.style.minWidth = `${2 + Math.min(8, Math.log2(cell.end - cell.start + 1))}rem`;
  }
  for (const span of spans) element.append(drawMark(chunk, cell, span));
  return element;
}

// How a span is drawn: of three people or more by how many marked it alike; else as the one kind
// in which it differs, or as "some" where there are several.
function looks(state, span) {
  if (span.annotator === DECIDED) return { kind: "gold", symbol: "★", said: "decided" };
  if (IS_TEAM) return byVotes(state.votes, state.present);
  if (state.agree === state.all) return { kind: "agree", symbol: SYMBOLS.agree, said: "agrees" };
  const found = [...state.kinds].sort().map((kind) => kinds[kind]);
  const kind = found.length === 1 ? found[0] : "some";
  if (state.all === 1) return { kind, symbol: SYMBOLS[kind], said: stateOf(kind) };
  return {
    kind,
    symbol: SYMBOLS[kind],
    said: `agrees with ${state.agree} of ${state.all}, else ${[...new Set(found.map(stateOf))].join(", ")}`,
  };
}

function byVotes(n, all) {
  const kind = `votes ${n === all ? "is-all" : n === 1 ? "is-one" : ""}`;
  const share = all > 1 ? (n - 1) / (all - 1) : 1;
  return { kind, share, symbol: `${n}/${all}`, said: `marked alike by ${n} of ${all}` };
}

function dress(element, { kind, share }) {
  element.className = `reader-mark ${kind}`;
  if (share !== undefined) element.style.setProperty("--share", share);
}

function drawMark(chunk, cell, span) {
  const look = looks(chunk.states.get(span), span);
  const isStart = span.start >= cell.start;
  const isEnd = span.end <= cell.end;
  const element = make("span");
  dress(element, look);
  element.classList.toggle("is-start", isStart);
  element.classList.toggle("is-end", isEnd);
  element.style.gridRow = chunk.first.get(span.annotator) + chunk.lane.get(span) + 2;
  const words = `${nameOf(span.annotator)}: ${labels[span.label]}, ${look.said}`;
  element.title = words;
  if (!chunk.parts.has(span)) chunk.parts.set(span, []);
  const marks = chunk.parts.get(span);
  if (isStart) {
    marks.label = make("span", { class: "reader-label" },
      make("b", {}, look.symbol), name(labels[span.label]));
    element.append(marks.label);
    element.setAttribute("role", "img");
    element.setAttribute("tabindex", "-1");
    element.setAttribute("aria-label", words);
  }
  marks.push(element);
  element.span = span;
  return element;
}

// Labels have the room that their spans have: on the line that has most of a span, and without
// the symbol, or the end of the label, where there is none for it. No word is moved for them.
function fitLabels(chunk) {
  const own = [...chunk.parts.values()].filter((marks) => marks.label);
  for (const { label } of own) {
    label.style.maxWidth = "none";
    label.classList.remove("is-tight");
  }
  // All are measured before any is changed.
  const fits = own.map((marks) => {
    const lines = new Map();
    for (const mark of marks) {
      const { top, width } = mark.getBoundingClientRect();
      if (!lines.has(top)) lines.set(top, { mark, room: 0 });
      lines.get(top).room += width;
    }
    const widest = [...lines.values()].reduce((x, y) => (y.room > x.room ? y : x));
    return [marks.label, widest, marks.label.scrollWidth];
  });
  for (const [label, { mark, room }, whole] of fits) {
    if (label.parentElement !== mark) mark.append(label);
    label.style.maxWidth = `${Math.max(room - 8, 0)}px`;
    label.classList.toggle("is-tight", whole + 8 > room);
  }
}

// Names of annotators next to their lanes, on every line into which the text was broken.
function drawNames(chunk) {
  if (!chunk.drawn || !chunk.n) return;
  const lane = parseFloat(getComputedStyle(document.documentElement).fontSize) * 1.25;
  fitLabels(chunk);
  let last = -Infinity;
  const tops = [];
  for (const column of chunk.columns) {
    const top = column.offsetTop + column.offsetHeight - chunk.n * lane;
    if (top > last + lane) {
      tops.push(top);
      last = top;
    }
  }
  const names = tops.flatMap((top) => chunk.lanes.map((who) => {
    const element = make("bdi", { title: nameOf(who) }, nameOf(who));
    element.style.top = `${top + chunk.first.get(who) * lane}px`;
    return element;
  }));
  chunk.names.replaceChildren(...names);
}

// ---- Cases, one by one -----------------------------------------------------------------

let listed = -1; // the page of the list

function listCases(at) {
  const { item, rows } = current;
  const page = Math.floor(Math.max(at, 0) / PAGE);
  if (page === listed) return;
  listed = page;
  const first = page * PAGE;
  const shown = rows.slice(first, first + PAGE);
  const last = first + shown.length;
  const turn = (to, text) =>
    make("button", { type: "button", onclick: () => listCases(to) }, text);
  current.items = shown.map((row) =>
    make("button", { type: "button", onclick: () => go(current, row) }, ...inWords(item, row)));
  const which = [
    `${number(first + 1)} to ${number(last)} of ${number(rows.length)} `,
    ...(page ? [turn(first - PAGE, "earlier ones")] : []),
    ...(last < rows.length ? [turn(last, "later ones")] : []),
  ];
  const list = make("ol", {}, ...current.items.map((button) => make("li", {}, button)));
  parts.cases.replaceChildren(
    make("h4", {}, rows.length ? "One by one" : "Nothing to list"),
    ...(rows.length > PAGE ? [make("p", {}, ...which)] : []),
    ...(rows.length ? [list] : []),
  );
}

function scrollWithin(element, box) {
  const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

// The next or previous stop that is wanted, with its match.
function nearest(by) {
  const ranked = mode.ranked && mode.ranked(by);
  if (ranked) return ranked.find(([, one]) => mode.isWanted(one, by)) || null;
  let at = matches.indexOf(current);
  let stops = mode.stops(current);
  let i = stops.indexOf(stop);
  if (i < 0) {
    // From between two stops, or from the beginning.
    const isBefore = (one) => (one.text - stop.text || one.start - stop.end) < 0;
    i = (stop ? stops.filter(isBefore).length : 0) - (by > 0);
  }
  for (i += by; ; i += by) {
    while (!stops[i]) {
      at += by;
      if (!matches[at]) return null;
      stops = mode.stops(matches[at]);
      i = by > 0 ? 0 : stops.length - 1;
    }
    if (mode.isWanted(stops[i], by)) return [matches[at], stops[i]];
  }
}

function move(by) {
  const found = current && nearest(by);
  if (found) go(...found);
  else if (mode.end) mode.end();
}

function moveDocument(by) {
  const match = matches[matches.indexOf(current) + by];
  if (!match) return;
  go(match);
  if (!stop) parts.now.replaceChildren(`${NOUN} `, name(match.item.id), `: ${inWhole(match)}.`);
}

function updateButtons() {
  const at = matches.indexOf(current);
  const { buttons } = parts;
  const isEnd = (by) => !current || !(mode.end || nearest(by));
  buttons.previousDocument.disabled = !matches[at - 1];
  buttons.nextDocument.disabled = !matches[at + 1];
  buttons.previous.disabled = isEnd(-1);
  buttons.next.disabled = isEnd(1);
}

function clickedMark(event) {
  const mark = event.target.closest(".reader-mark");
  const found = mark && mode.stopOf(mark.span);
  if (found) go(current, found);
}

const KEYS = {
  j: () => move(1),
  n: () => move(1),
  k: () => move(-1),
  p: () => move(-1),
  ArrowRight: () => moveDocument(1),
  "]": () => moveDocument(1),
  ArrowLeft: () => moveDocument(-1),
  "[": () => moveDocument(-1),
};

function pressed(event) {
  if (!parts.keys.checked || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("input, select, textarea, [contenteditable], .scroll")) return;
  const act = (view.keys && view.keys(event)) || KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

// ---- Links from elsewhere on the page --------------------------------------------------

function openHash() {
  if (location.hash === "#decide" && view.decide) view.decide();
  const found = /^#document-(\d+)((?:-\d+)*)$/.exec(location.hash);
  if (!found) return;
  const item = byNumber.get(Number(found[1]));
  if (!item) {
    parts.now.replaceChildren(
      `The ${data.noun} of this link is not on the page, which has ${data.sentence}.`);
    reader.scrollIntoView({ block: "start" });
    return;
  }
  const place = found[2].split("-").slice(1).map(Number);
  reach(item, place.length && ((match) => stopAt(match, ...place)));
}

// The first stop at a place of the document: a text, where a span in it starts, and who differs.
function stopAt(match, text, start, ...who) {
  const here = mode.stops(match).filter(({ spans }) =>
    spans.some((span) => span.text === text && span.start === start));
  const own = here.find(({ pair }) => pair >= 0 && who.every((one) => pairs[pair].includes(one)));
  return own || here[0];
}

// Go to a document and to what is to be found in it; filters that leave it out are cleared.
function reach(item, find) {
  const match = () => matches.find((one) => one.item === item);
  const next = () => (find && match() ? find(match()) : undefined);
  if (!match() || (find && !next())) clear();
  go(match(), next());
}

// Go through documents in another way, from where the reader is.
function use(other, brings) {
  const spans = stop ? stop.spans : [];
  mode = other || reading;
  parts.buttons.previous.textContent = `‹ ${mode.noun}`;
  parts.buttons.next.textContent = `${mode.noun} ›`;
  const isHere = (one) => one.spans.some((span) => spans.includes(span));
  if (current) drawText(current);
  go(current, current && mode.stops(current).find(isHere), brings);
}

// What deciding needs of all this; it sets `keys`, and what it is used with.
const view = {
  data, documents, parts, make, name, number, counted, wordsOf, surface, where, codePoints,
  cellsOf, go, move, reach, use, draw, bring, openHash, renew, DECIDED,
  get matches() { return matches; },
  get current() { return current; },
  get stop() { return stop; },
};
window.readerView = view;

build();
refresh();
openHash();
