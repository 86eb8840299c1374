// Deciding: from place to place, an adjudicator chooses what the gold standard has.
//
// A place are spans of any annotators that overlap, joined. Decisions are kept in the browser's own
// storage for this page, and saved as a file that can be loaded again. Everything that comes from
// data or files reaches the page by textContent only.
const view = window.readerView;
const { csv } = window.beyondchance;
const { data, documents, parts, make, name, number, counted, wordsOf } = view;
const { labels, annotators } = data;
const STORE = `beyondchance decisions ${data.decide.digest}`;
const [NAME, ORDER] = ["beyondchance name", "beyondchance order"]; // kept for all pages
const CONTEXT = 8; // words on either side of what is edited
const MOST_KEYS = 9; // versions that have a key

// ---- Places ----------------------------------------------------------------------------

const keyOf = (spans) =>
  spans.map((s) => `${s.start} ${s.end} ${s.label}`).sort().join(",");

const sorted = (spans) =>
  [...spans].sort((x, y) => x.start - y.start || y.end - x.end || x.label - y.label);

// The consensus of each document by text.
const consensus = new Map(documents.map((item, i) => {
  const [text, label, start, length] = data.decide.consensus[i];
  const byText = new Map();
  start.forEach((from, j) => {
    if (!byText.has(text[j])) byText.set(text[j], []);
    byText.get(text[j]).push({ label: label[j], start: from, end: from + length[j] });
  });
  return [item, byText];
}));

// The stretches of each document that votes do not decide.
const ties = new Map(documents.map((item, i) => {
  const [text, start, length] = data.decide.ties[i];
  return [item, start.map((from, j) => ({ text: text[j], start: from, end: from + length[j] }))];
}));

// The places of a document where annotators differ, in reading order.
const placesOf = (item) => clustersOf(item).filter((place) => place.differs);

// All places, those too where annotators agree.
function clustersOf(item) {
  if (item.places) return item.places;
  item.places = [];
  if (item.present.size < 2) return item.places;
  let next = 0;
  const worth = data.decide.worth ? data.decide.worth[documents.indexOf(item)] : [];
  for (const [i, size] of item.sizes.entries()) {
    const spans = item.spans.slice(next, (next += size));
    const [{ text, start }] = spans;
    const end = Math.max(...spans.map((span) => span.end));
    item.places.push(withVersions(item, { item, text, start, end, spans, worth: worth[i] }));
  }
  return item.places;
}

// What each annotator has there: equal versions once, with all who have it.
function withVersions(item, place) {
  const versions = new Map();
  const nobody = [];
  const bySpan = new Map();
  for (const who of [...item.present].sort((x, y) => x - y)) {
    const spans = sorted(place.spans.filter((span) => span.annotator === who));
    for (const span of spans) {
      const key = keyOf([span]);
      bySpan.set(key, [...(bySpan.get(key) || []), span]);
    }
    if (!spans.length) nobody.push(who);
    else if (versions.has(keyOf(spans))) versions.get(keyOf(spans)).who.push(who);
    else versions.set(keyOf(spans), { who: [who], spans });
  }
  // Those that most have come first.
  place.versions = [...versions.values()].sort((x, y) => y.who.length - x.who.length);
  place.nobody = nobody;
  // How many are for each version, the most first.
  place.votes = [...place.versions.map((version) => version.who.length), nobody.length];
  place.votes.sort((x, y) => y - x);
  place.differs = place.versions.length + (nobody.length ? 1 : 0) > 1;
  // What all have is not sent with the consensus.
  const common = [...bySpan.values()].filter((same) => same.length === item.present.size);
  const here = consensus.get(item).get(place.text) || [];
  const own = here.filter((span) => span.start >= place.start && span.end <= place.end);
  place.consensus = sorted([...own, ...common.map((same) => same[0])]);
  place.isTie = ties.get(item).some((tie) => tie.text === place.text && overlap(tie, place));
  return place;
}

const overlap = (one, other) => one.start < other.end && other.start < one.end;

let found = null;

function everyPlace() {
  found = found || documents.flatMap(placesOf);
  return found;
}

// ---- Decisions -------------------------------------------------------------------------

// By document and text; a decision is as it stands in the file.
const decisions = new Map();
const elsewhere = []; // those about documents that are not on the page
const byId = new Map(documents.map((item) => [item.id, item]));
let by = null; // who decides, once that was asked
let other = null; // what another person decided, in the same way
const undone = []; // what each step decided and replaced, and the place that was shown

const listOf = (item, text, all = decisions) => all.get(`${text} ${item.id}`) || [];

// Decisions of a text do not overlap: the last that begins before a position, by halves.
function lastBefore(list, position) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].start <= position) low = middle + 1;
    else high = middle;
  }
  return list[low - 1];
}

// A place is decided if all of it is.
function decisionAt(place, all = decisions) {
  const found = lastBefore(listOf(place.item, place.text, all), place.start);
  return found && found.end >= place.end ? found : undefined;
}

const every = (all = decisions) => [...all.values()].flat();

// Take decisions in, so that they can be undone together.
function put(made, place = null) {
  const replaced = made.flatMap((x) =>
    listOf({ id: x.document }, x.text).filter((old) => overlap(old, x)));
  undone.push({ made, replaced, place });
  take(made, decisions, elsewhere);
  keep();
  renew(made, replaced);
}

const renew = (...changed) => changed.flat().forEach((x) => view.renew(x.document, x));

function undo() {
  const last = undone.pop();
  if (!last) {
    say("Nothing to undo.");
    return;
  }
  for (const { document: id, text, ...x } of last.made) {
    decisions.set(`${text} ${id}`, listOf({ id }, text).filter((old) => !overlap(old, x)));
  }
  take(last.replaced, decisions, elsewhere);
  keep();
  renew(last.made, last.replaced);
  if (last.place) goTo(last.place);
  else view.draw();
  say("Undone.");
}

// A decision about a place. Where its spans reach into a neighbour, the neighbour is part of it:
// what it has stays, but for what overlaps.
function decide(about, spans, choice, of = []) {
  const { item, text } = about;
  const near = [...clustersOf(item).filter((x) => x.text === text), ...listOf(item, text)];
  const stretch = {
    start: Math.min(about.start, ...spans.map((x) => x.start)),
    end: Math.max(about.end, ...spans.map((x) => x.end)),
  };
  for (let grows = true; grows;) {
    const met = near.filter((x) => overlap(x, stretch));
    const start = Math.min(stretch.start, ...met.map((x) => x.start));
    const end = Math.max(stretch.end, ...met.map((x) => x.end));
    grows = start < stretch.start || end > stretch.end;
    Object.assign(stretch, { start, end });
  }
  const stay = goldWithin(item, text, stretch).filter((span) =>
    !overlap(span, about) && !spans.some((own) => overlap(own, span)));
  const before = decisionAt(about);
  put([{
    document: item.id,
    text,
    ...stretch,
    spans: sorted([...spans, ...stay]).map((span) => [span.start, span.end, labels[span.label]]),
    choice,
    of: of.map((who) => annotators[who]),
    by: by || "",
    note: before ? before.note : "",
    words: wordsOf(item, { text, ...stretch }),
  }], about);
  if (stretch.start < about.start || stretch.end > about.end) {
    say(`The decision takes in what it reaches: ${counted(stay.length, "span")} there stay.`);
  }
}

// What the gold standard has in a text so far: what was decided, and the consensus elsewhere.
function goldOfText(item, text) {
  const rest = clustersOf(item).filter((x) => x.text === text).flatMap((x) => x.consensus);
  return sorted([
    ...listOf(item, text).flatMap(spansOf),
    ...rest.filter((span) => !isTouched(item, { ...span, text })),
  ]);
}

const goldWithin = (item, text, stretch) =>
  goldOfText(item, text).filter((span) => overlap(span, stretch));

// Whether a part of a span or stretch is decided.
function isTouched(item, { text, start, end }) {
  const last = lastBefore(listOf(item, text), end - 1);
  return Boolean(last && last.end > start);
}

// A label that is only in a file is one more that can be chosen.
function labelNumber(label) {
  if (!labels.includes(label)) labels.push(label);
  return labels.indexOf(label);
}

const spansOf = (decision) =>
  decision.spans.map(([start, end, label]) => ({ start, end, label: labelNumber(label) }));

// ---- Kept, saved and loaded ------------------------------------------------------------

function file() {
  return {
    beyondchance: "decisions", format: 1, unit: data.decide.unit, positions: data.positions,
    decisions: [...every(), ...elsewhere],
  };
}

// What the browser keeps; null where there is no storage, as in a frame of a notebook.
function kept(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep() {
  if (kept(STORE, JSON.stringify(file())) === null) {
    say("This browser does not keep decisions: save them as a file before you leave.");
  }
}

// What this browser kept; another tab may have changed it.
function restore() {
  by = kept(NAME) ?? by;
  const text = kept(STORE);
  const found = text && parsed(text);
  if (typeof found === "string") say(found);
  else if (found) {
    decisions.clear();
    elsewhere.length = 0;
    take(found.decisions, decisions, elsewhere);
  }
}

window.addEventListener("storage", (event) => {
  if (event.key !== STORE) return;
  restore();
  if (isOn) view.use(deciding, false);
});

const isWhole = (value) => Number.isInteger(value) && value >= 0;
const isSpan = (x, within) => Array.isArray(x) && x.length === 3 && isWhole(x[0]) && isWhole(x[1])
  && x[0] < x[1] && x[0] >= within.start && x[1] <= within.end
  && typeof x[2] === "string" && x[2] && x[2] === x[2].trim();
const isText = (value) => value == null || typeof value === "string";
const CHOICES = ["version", "consensus", "nothing", "edited"];

const isDecision = (x) => Boolean(x) && typeof x.document === "string" && isWhole(x.text)
  && isWhole(x.start) && isWhole(x.end) && x.start < x.end && Array.isArray(x.spans)
  && x.spans.every((span) => isSpan(span, x)) && [x.by, x.note, x.words].every(isText)
  && (x.choice == null || CHOICES.includes(x.choice));

function lengthOf(item, text) {
  const content = item.texts[text];
  if (typeof content === "number") return content;
  if (Array.isArray(content)) return (content.length - 1) / 2;
  if (data.positions === "tokens") return content.split(" ").length;
  return view.codePoints(item, text).length;
}

// Whether a decision fits its document, if that is on the page.
function fits(x) {
  const item = byId.get(x.document);
  if (!item) return true;
  if (x.text >= item.texts.length || x.end > lengthOf(item, x.text)) return false;
  const here = x.words == null ? null : wordsOf(item, x);
  return here === null || here === x.words;
}

function take(listed, all, rest) {
  for (const decision of listed) {
    const made = { choice: "edited", of: [], by: "", note: "", words: null, ...decision };
    const item = byId.get(made.document);
    const isSame = (old) => old.document === made.document && old.text === made.text;
    if (!item) {
      const others = rest.filter((old) => !(isSame(old) && overlap(old, made)));
      rest.splice(0, rest.length, ...others, made);
      continue;
    }
    const key = `${made.text} ${item.id}`;
    const others = (all.get(key) || []).filter((old) => !overlap(old, made));
    all.set(key, [...others, made].sort((x, y) => x.start - y.start));
  }
}

// A file of decisions that fit this page, or what is wrong with it.
function checked(content) {
  if (!content || content.beyondchance !== "decisions" || content.format !== 1) {
    return "This file holds no decisions of format 1.";
  }
  if (content.unit !== data.decide.unit || content.positions !== data.positions) {
    return `These decisions are by ${content.unit} and ${content.positions}, the page is by `
      + `${data.decide.unit} and ${data.positions}.`;
  }
  if (!Array.isArray(content.decisions) || !content.decisions.every(isDecision)) {
    return "This file holds something that is no decision.";
  }
  const strange = content.decisions.find((x) => !fits(x));
  if (strange) return `These decisions are about another text of ${strange.document}.`;
  const twice = contradiction(content.decisions);
  return twice ? `This file decides words of ${twice.document} twice, and differently: text `
    + `${twice.text}, ${twice.start} to ${twice.end}.` : content;
}

// A decision that overlaps another one, and is not the same.
function contradiction(listed) {
  const keyOfText = (x) => `${x.text} ${x.document}`;
  const ordered = [...listed].sort((x, y) => (keyOfText(x) === keyOfText(y)
    ? x.start - y.start : keyOfText(x) < keyOfText(y) ? -1 : 1));
  const isSame = (x, y) => x.start === y.start && x.end === y.end && asSpans(x) === asSpans(y);
  return ordered.find((x, i) => i && keyOfText(x) === keyOfText(ordered[i - 1])
    && overlap(x, ordered[i - 1]) && !isSame(x, ordered[i - 1]));
}

function parsed(text) {
  try {
    return checked(JSON.parse(text));
  } catch {
    return "This file holds no decisions: it is not JSON.";
  }
}

async function load(chosen, act) {
  if (!chosen) return;
  const content = parsed(await chosen.text());
  if (typeof content === "string") say(content);
  else act(content);
}

function adopt(content) {
  put(content.decisions);
  view.draw();
  const away = elsewhere.length
    ? ` ${counted(elsewhere.length, "decision")} about documents that are not on this page stay `
      + "in the file." : "";
  say(`Loaded ${counted(content.decisions.length, "decision")}.${away}`);
}

function compare(content) {
  other = new Map();
  take(content.decisions, other, []);
  const people = new Set(content.decisions.map((x) => x.by).filter(Boolean));
  other.who = [...people].join(", ") || "the other";
  view.draw();
  say(comparison());
}

const asSpans = (decision) => decision.spans.map((span) => span.join(" ")).sort().join(",");

const differsFromOther = (place) => {
  const [mine, theirs] = [decisionAt(place), decisionAt(place, other)];
  return Boolean(mine && theirs && asSpans(mine) !== asSpans(theirs));
};

// How far two people decided alike: of places both decided.
function comparison() {
  const both = everyPlace().filter((place) => decisionAt(place) && decisionAt(place, other));
  if (!both.length) return `You and ${other.who} decided no place in common.`;
  const same = both.filter((place) => !differsFromOther(place)).length;
  return `You and ${other.who} both decided ${counted(both.length, "place")}: ${number(same)} `
    + `the same (${Math.round((100 * same) / both.length)} %), ${number(both.length - same)} `
    + "differently.";
}

// ---- Files that leave the page ---------------------------------------------------------

const source = document.getElementById("result");
const inputs = ((source && JSON.parse(source.textContent).inputs) || []).map((x) => x.name);

// A file is named after the person and the annotations, in letters, digits, _ and -.
function fileName(what, ending) {
  const corpus = inputs.length === 1 ? inputs[0].replace(/\.[^.]*$/, "") : document.title;
  const parts_ = [what, by || "", corpus].map((text) => Array.from(
    text.replace(/[^\p{L}\p{M}\p{N}_]+/gu, "-").replace(/^-|-$/g, "")).slice(0, 40).join(""));
  return `${parts_.filter(Boolean).join("-")}.${ending}`;
}

async function save(name, text, type, ...done) {
  const answer = await window.beyondchance.save(name, text, type);
  if (answer) say(answer);
  else say(`Saved ${name}: `, ...done);
}

function saveDecisions() {
  const name = fileName("decisions", "json");
  const n = counted(every().length + elsewhere.length, "decision");
  save(name, JSON.stringify(file(), null, 1), "application/json", `${n}. `, ...next(name));
}

// What to do with decisions. A program that shows this page may have another sentence for it, in
// data-next of the element html.
function next(name) {
  const own = document.documentElement.dataset.next;
  if (own !== undefined) return [own];
  const files = inputs.map((text) => (/^[\w.-]+$/.test(text) ? text
    : `'${text.replaceAll("'", "'\\''")}'`)).join(" ");
  const [ending] = /\.(json|jsonl|conll|tsv|xml)$/.exec(inputs[0] || "") || [".csv"];
  return ["Next, in a terminal, with the options of this report: ", make("code", {},
    `beyondchance adjudicate ${files || "FILES"} --decisions ${name} --save gold${ending}`)];
}

// Gold as `beyondchance adjudicate` writes it into a table if it is asked for nothing else.
function saveGold() {
  const spans = documents.flatMap((item) => item.texts.flatMap((_, i) => goldOfText(item, i)));
  const left = everyPlace().filter((x) => !decisionAt(x)).length;
  const tied = documents.flatMap((item) =>
    ties.get(item).filter((x) => !isTouched(item, x))).length;
  const n = counted(spans.length, "span");
  if (data.decide.absent) {
    say(`${counted(data.decide.absent, "annotated document")} are not on this page, so that it `
      + "cannot write the gold standard. Save the decisions. ",
    ...next(fileName("decisions", "json")));
  } else if (10 * tied > spans.length) {
    say(`Too much is open for a gold standard: ${number(tied)} of ${n} would be ties, which votes `
      + "do not decide. Decide more places, or see --ties of adjudicate.");
  } else {
    const open = left ? `; ${number(left)} of ${counted(everyPlace().length, "place")} are not `
      + `decided and have the consensus of the annotators (${counted(tied, "tie")})` : "";
    save(fileName("gold", "csv"), goldTable(), "text/csv", `${n}${open}.`);
  }
}

// A row for each span, and one for each document without any.
function goldTable() {
  const { unit, inText } = data.decide;
  const hasParts = unit === "sentence" || documents.some((item) => item.texts.length > 1);
  const isUsual = data.positions === (inText ? "tokens" : "characters");
  const rows = [["document", "annotator", "start", "end", "label", inText ? "text" : "length",
    ...(hasParts ? ["sentence_lengths"] : []), ...(isUsual ? [] : ["offsets_in"])]];
  for (const item of [...documents].sort((x, y) => x.number - y.number)) {
    const cuts = item.texts.map((_, text) => cutsOf(item, text));
    const sizes = cuts.map((cut) => cut(Infinity));
    let begin = 0;
    const own = sizes.flatMap((size, text) => {
      const shift = begin;
      begin += size + (inText ? 1 : 0); // a line break between texts
      return goldOfText(item, text).map((x) =>
        [shift + cuts[text](x.start, true), shift + cuts[text](x.end), labels[x.label]]);
    });
    const whole = inText ? item.texts.map((content) => [content].flat().join("")).join("\n")
      : sizes.reduce((sum, size) => sum + size, 0);
    (own.length ? own : [["", "", ""]]).forEach((span, i) => rows.push([
      item.id, "gold", ...span, inText && i ? "" : whole,
      ...(hasParts ? [i ? "" : sizes.join(" ")] : []), ...(isUsual ? [] : [data.positions])]));
  }
  return csv(rows, "\n");
}

// Where a position of a text ends, or begins, in what the table counts: characters if it has
// the texts.
function cutsOf(item, text) {
  const content = item.texts[text];
  if (!data.decide.inText || data.positions === "characters") {
    const size = lengthOf(item, text);
    return (position) => Math.min(position, size);
  }
  const pieces = Array.isArray(content) ? content
    : content.split(" ").flatMap((word, i) => [i ? " " : "", word]);
  let size = 0;
  const ends = pieces.map((piece) => { size += Array.from(piece).length; return size; });
  return (position, isStart) =>
    (position === Infinity ? size : ends[2 * position - (isStart ? 0 : 1)]);
}

// ---- What is shown ---------------------------------------------------------------------

let isOn = false;
// What is being edited of the place that is shown: {place, back, spans, from, to, anchor, head,
// label}, where back is the place to show when it is cancelled.
let draft = null;

const isWide = () => window.innerWidth > 700;
const file1 = make("input", { type: "file", accept: ".json,application/json", hidden: true });
const file2 = file1.cloneNode();
const panel = {
  box: make("section", { class: "decide", "aria-label": "Decide", hidden: true }),
  progress: make("progress", { "aria-label": "Decided places" }),
  count: make("span", { class: "decide-count" }),
  said: make("p", { class: "decide-said", role: "status" }),
  versions: make("div", { class: "decide-versions", role: "group", "aria-label": "Versions" }),
  edit: make("div", { class: "decide-edit", hidden: true }),
  note: make("input", { type: "text", id: "decide-note", maxlength: "1000" }),
  by: make("input", { type: "text", id: "decide-by", maxlength: "100", autocomplete: "off" }),
  more: make("details", { open: isWide() }), // where there is room for it
  only: make("select", { id: "decide-only" },
    make("option", { value: "open" }, "undecided"),
    make("option", { value: "all" }, "all places")),
  order: make("select", { id: "decide-order" },
    make("option", { value: "worth" }, "worth"),
    make("option", { value: "document" }, "document")),
};
const toggle = make("button", {
  type: "button", class: "decide-toggle", "aria-pressed": "false", onclick: () => turn(!isOn),
}, "Decide");

const button = (text, key, act, attributes = {}) => make("button",
  { type: "button", onclick: act, ...attributes },
  ...(key ? [make("kbd", {}, key), " "] : []), ...[text].flat());

const field = (text, input) =>
  make("span", { class: "decide-field" }, make("label", { for: input.id }, text), input);

function build() {
  const pick = (input) => () => input.click();
  file1.addEventListener("change", () => read(file1, adopt));
  file2.addEventListener("change", () => read(file2, compare));
  panel.note.addEventListener("change", note);
  panel.by.addEventListener("change", named);
  panel.by.addEventListener("blur", draw);
  panel.by.addEventListener("keydown", (event) => event.key === "Enter" && named());
  panel.order.addEventListener("change", () => {
    kept(ORDER, panel.order.value);
    draw();
  });
  panel.only.addEventListener("change", draw);
  parts.panel = panel.box;
  panel.box.append(
    make("div", { class: "decide-head" },
      panel.progress, panel.count,
      button("undo", "u", undo), button("edit", "e", edit),
      field("Show", panel.only),
      ...(data.decide.worth ? [field("by", panel.order)] : [])),
    panel.said,
    panel.versions,
    panel.edit,
    panel.more);
  panel.more.append(make("summary", {}, "Note, name and files"),
    make("div", { class: "decide-foot" },
      field("Note", panel.note), field("Your name", panel.by),
      button("Save decisions", "", saveDecisions),
      button("Save gold as CSV", "", saveGold),
      button("Load", "", pick(file1)), button("Compare with", "", pick(file2)),
      file1, file2));
  parts.article.append(panel.box);
  const keys = "Deciding: |1| to |9| a version, |Enter| the consensus, |0| nothing, |e| edit, "
    + "|m| note, |u| undo, |d| on or off.";
  parts.help.append(make("span", { class: "decide-keys", hidden: true }, " ",
    ...keys.split("|").map((text, i) => (i % 2 ? make("kbd", {}, text) : text))));
  parts.filters.append(toggle);
  parts.text.addEventListener("mouseup", pickedWords);
  parts.text.addEventListener("touchend", () => setTimeout(pickedWords, 300));
}

// The name is asked for before the first decision, which is made then.
let waiting = null;

function isAsking(act) {
  if (by !== null) return false;
  const place = view.stop;
  waiting = () => view.stop === place && act();
  panel.more.open = true;
  panel.versions.hidden = true; // until it is answered or left: a phone has no room for both
  say("Who decides? Write your name, which the file will have, and press Enter. "
    + "Without a name, press Enter.");
  panel.by.focus();
  return true;
}

function named() {
  by = panel.by.value.trim();
  kept(NAME, by);
  // What was decided before somebody said who it is.
  for (const decision of every()) if (!decision.by) decision.by = by;
  keep();
  const act = waiting;
  waiting = null;
  if (!act) return;
  say();
  panel.by.blur();
  panel.more.open = isWide();
  act();
}

async function read(input, act) {
  await load(input.files[0], act);
  input.value = "";
}

function say(...words) {
  panel.said.replaceChildren(...words);
  if (words.length) panel.box.scrollTop = 0; // where it is read
}

function turn(on, brings = on) {
  isOn = on;
  toggle.setAttribute("aria-pressed", String(on));
  panel.box.hidden = !on;
  parts.article.classList.toggle("is-deciding", on);
  for (const keys of parts.help.querySelectorAll(".decide-keys")) keys.hidden = !on;
  draft = null;
  panel.by.value = by || "";
  panel.order.value = kept(ORDER) === "document" ? "document" : "worth";
  const start = on && !view.stop && (deciding.ranked(1) || []).find(([, x]) => deciding.isWanted(x, 1));
  view.use(on ? deciding : null, brings && !start);
  if (start) view.go(...start, brings);
}

const isByWorth = () => Boolean(data.decide.worth) && panel.order.value === "worth";

// All places that are shown, with their matches, those first that are worth most.
const ranked = () => view.matches.flatMap((match) => shownPlaces(match).map((x) => [match, x]))
  .sort(([, x], [, y]) => y.worth - x.worth);

// The places of the documents that fit the filters, and of which something does.
function shownPlaces(match) {
  if (match.places) return match.places;
  const wanted = new Set(match.rows.flatMap((row) => row.spans));
  match.places = placesOf(match.item).filter((x) => x.spans.some((span) => wanted.has(span)));
  return match.places;
}

// How an adjudicator goes through documents: from place to place.
const deciding = {
  noun: "place",
  stops: shownPlaces,
  // By worth, what comes next; after the last, what was passed by.
  ranked(direction) {
    if (!isByWorth()) return null;
    const all = ranked();
    const at = all.findIndex(([, x]) => x === view.stop);
    if (direction < 0) return all.slice(0, Math.max(at, 0)).reverse();
    const passed = panel.only.value === "all" ? [] : all.slice(0, Math.max(at, 0));
    return [...all.slice(at + 1), ...passed];
  },
  first(match) {
    const here = shownPlaces(match);
    return here.find((x) => !decisionAt(x)) || here[0] || null;
  },
  isWanted(x, direction) {
    if (panel.only.value === "differ") return differsFromOther(x);
    // Back is to any place, also to what was just decided.
    return panel.only.value === "all" || direction < 0 || !decisionAt(x);
  },
  stopOf(span) {
    const found = placesOf(view.current.item)
      .find((x) => x.text === span.text && overlap(x, span));
    if (!found) say("Annotators agree there. Select words to decide otherwise.");
    return found;
  },
  isDecided: (span) => isTouched(view.current.item, span),
  // What was decided for, as spans of a lane of their own.
  gold: (item) => item.texts.flatMap((_, text) => listOf(item, text).flatMap(spansOf)
    .map((span) => ({ ...span, text, annotator: view.DECIDED }))),
  words(place) {
    const here = isByWorth() ? ranked().map(([, x]) => x) : shownPlaces(view.current);
    const at = here.indexOf(place);
    const covered = view.surface(place.item, place);
    const gain = isByWorth() ? `, worth ${(place.worth / 1e6).toFixed(4)} of corrected agreement` : "";
    return [
      at < 0 ? "" : `Place ${number(at + 1)} of ${number(here.length)}${gain}: `,
      ...(covered ? ["“", name(covered), "”"] : [view.where(place.item, place)]),
    ];
  },
  end() {
    const left = everyPlace().filter((x) => !decisionAt(x)).length;
    say(left || panel.only.value !== "open"
      ? `There are no more places this way; ${number(left)} are not decided.`
      : "Every place on this page is decided. Save the decisions.");
  },
  opened: () => say(),
  draw,
};

function goTo(place) {
  const isHidden = (match) =>
    placesOf(place.item).includes(place) && !shownPlaces(match).includes(place);
  view.reach(place.item, (match) => (isHidden(match) ? undefined : place));
}

// Whether the place that is shown is on the screen, and nothing lies on it.
function isSeen() {
  const marks = [...parts.text.querySelectorAll(".reader-mark.is-lit")];
  return !view.stop.spans.length || marks.some((mark) => {
    const { left, top, width, height } = mark.getBoundingClientRect();
    return mark.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
}

// ---- Drawing ---------------------------------------------------------------------------

function spansInWords(item, text, spans) {
  if (!spans.length) return ["nothing"];
  return spans.flatMap((span, i) => {
    const covered = view.surface(item, { ...span, text });
    const place_ = covered ? [" “", name(covered), "”"] : [` ${span.start} to ${span.end}`];
    return [i ? "; " : "", make("b", {}, name(labels[span.label])), ...place_];
  });
}

const people = (who) => who.flatMap((i, j) => [j ? ", " : "", name(annotators[i])]);

function draw() {
  const all = everyPlace();
  const done = all.filter((x) => decisionAt(x)).length;
  panel.progress.max = Math.max(all.length, 1);
  panel.progress.value = done;
  panel.count.replaceChildren(`${number(done)} of ${counted(all.length, "place")} decided`);
  const kinds = [...panel.only.options].map((x) => x.value);
  if (other && !kinds.includes("differ")) {
    panel.only.append(make("option", { value: "differ" }, "decided differently"));
  }
  if (draft && draft.place !== view.stop) {
    draft = null;
    say("What you edited was not saved.");
  }
  panel.edit.hidden = !draft;
  panel.versions.hidden = Boolean(draft);
  const made = view.stop && decisionAt(view.stop);
  panel.note.value = made ? made.note : "";
  panel.note.placeholder = made ? "" : "decide first";
  panel.note.disabled = !made;
  if (draft) drawEdit();
  else if (view.stop) drawVersions(view.stop);
  else panel.versions.replaceChildren(make("p", {}, "There is no place to decide here."));
}

function drawVersions(place) {
  const { item, text } = place;
  const made = decisionAt(place);
  const chosen = made && asSpans(made);
  const inFile = (spans) => spans.map((s) => `${s.start} ${s.end} ${labels[s.label]}`).sort().join(",");
  const best = place.isTie ? null : keyOf(place.consensus);
  let isListed = place.isTie; // whether the consensus is one of the versions, or decides nothing
  const version = (key, spans, who, act) => {
    const isConsensus = keyOf(spans) === best;
    isListed = isListed || isConsensus;
    const keys = [...(key ? [key] : []), ...(isConsensus ? ["Enter"] : [])];
    return make("button", {
      type: "button", onclick: act, "aria-pressed": String(chosen === inFile(spans)),
    },
    make("span", {}, ...keys.map((text_) => make("kbd", {}, text_))),
    make("span", {}, ...spansInWords(item, text, spans),
      make("small", {}, ...who, isConsensus && key ? " · consensus" : "")));
  };
  const rows = place.versions.map((own, i) => version(
    i < MOST_KEYS ? String(i + 1) : "", own.spans, people(own.who), () => chooseVersion(i)));
  rows.push(version("0", [], people(place.nobody), chooseNothing));
  if (!isListed) rows.push(version("", place.consensus, ["the consensus"], chooseConsensus));
  if (place.isTie && !made) rows.unshift(make("p", {}, tieInWords(place)));
  if (made && made.choice === "edited") {
    rows.push(make("p", {}, "Edited: ", ...spansInWords(item, text, spansOf(made))));
  }
  if (other && decisionAt(place, other)) {
    const theirs = spansOf(decisionAt(place, other));
    rows.push(make("p", {}, name(other.who), ": ", ...spansInWords(item, text, theirs)));
  }
  panel.versions.replaceChildren(...rows);
}

function tieInWords({ votes }) {
  const most = votes.filter((n) => n === votes[0]);
  const counts = most.length > 1 ? `A tie, ${most.join(" against ")}` : "A tie";
  return `${counts}: the votes do not decide. Choose a version, nothing, or edit.`;
}

// ---- Choosing --------------------------------------------------------------------------

function choose(spans, choice, of) {
  if (isAsking(() => choose(spans, choice, of))) return;
  decide(view.stop, spans, choice, of);
  view.draw();
  view.move(1);
}

function chooseVersion(i) {
  const version = view.stop && view.stop.versions[i];
  if (version) choose(version.spans, "version", version.who);
}

function chooseConsensus() {
  if (!view.stop) return;
  if (view.stop.isTie) say(tieInWords(view.stop));
  else choose(view.stop.consensus, "consensus");
}

function chooseNothing() {
  if (view.stop) choose([], "nothing", view.stop.nobody);
}

function writeNote() {
  panel.more.open = true;
  panel.note.focus();
}

function note() {
  const place = view.stop;
  const made = place && decisionAt(place);
  if (!made) return;
  put([{ ...made, note: panel.note.value.trim() }], place);
  say("Noted.");
}

// ---- Editing ---------------------------------------------------------------------------

function edit() {
  if (view.stop) begin(view.stop);
}

// What a place has so far, within it.
const goldOf = (about) => goldWithin(about.item, about.text, about)
  .map(({ start, end, label }) => ({ start, end, label }));

// Edit a place; a stretch of it is selected.
function begin(about, stretch = { start: about.start, end: about.start + 1 }) {
  const { item, text } = about;
  const cells = view.cellsOf(item, text, item.spans.filter((span) => span.text === text));
  const index = (position) => cells.findIndex((cell) => cell.end > position);
  const own = about.spans.find((span) => overlap(span, stretch));
  draft = {
    place: about,
    back: view.stop,
    spans: goldOf(about),
    cells,
    anchor: index(stretch.start),
    head: index(stretch.end - 1),
    label: own ? own.label : 0,
    isBegun: false,
    from: Math.max(0, index(about.start) - CONTEXT),
    to: Math.min(cells.length, index(about.end - 1) + 1 + CONTEXT),
  };
  view.go(view.current, about, false);
  panel.edit.querySelector("[aria-pressed=true]").focus();
}

const picked = () => [Math.min(draft.anchor, draft.head), Math.max(draft.anchor, draft.head)];

function drawEdit() {
  const { item, text } = draft.place;
  const [low, high] = picked();
  const word = (cell, i) => {
    const index = draft.from + i;
    const isIn = draft.spans.some((span) => overlap(span, cell));
    return make("button", {
      type: "button",
      class: isIn ? "is-in" : null,
      "aria-pressed": String(index >= low && index <= high),
      tabindex: index === draft.head ? "0" : "-1",
      "data-cell": index,
      onclick: (event) => select(index, event.shiftKey || draft.isBegun),
    }, cell.word || "\u00a0");
  };
  const more = (text_, by_) => button(text_, "", () => {
    draft.from = Math.max(0, draft.from - (by_ < 0 ? CONTEXT : 0));
    draft.to = Math.min(draft.cells.length, draft.to + (by_ > 0 ? CONTEXT : 0));
    draw();
  }, { "aria-label": by_ < 0 ? "Earlier words" : "Later words" });
  const words = make("div", {
    class: "decide-words", role: "group", "aria-label": "Words to select", dir: "auto",
    onkeydown: steer,
  },
  ...(draft.from > 0 ? [more("…", -1)] : []),
  ...draft.cells.slice(draft.from, draft.to).map(word),
  ...(draft.to < draft.cells.length ? [more("…", 1)] : []));
  const label = make("select", { id: "decide-label", onchange: (event) => {
    draft.label = Number(event.target.value);
  } }, ...labels.map((text_, i) => make("option", { value: i }, text_)));
  label.value = String(draft.label);
  const chips = sorted(draft.spans).map((span) => make("li", {},
    ...spansInWords(item, text, [span]),
    button("remove", "", () => {
      draft.spans = draft.spans.filter((x) => x !== span);
      draw();
    }, { "aria-label": `Remove ${labels[span.label]} ${view.surface(item, { ...span, text })}` })));
  panel.edit.replaceChildren(
    words,
    make("div", { class: "decide-row" },
      field("Label", label), button("Mark these words", "a", add), button("Save", "s", finish),
      button("Cancel", "Esc", cancel)),
    make("ul", { class: "decide-chips", "aria-label": "The gold standard here" },
      ...(chips.length ? chips : [make("li", {}, "nothing")])));
}

// A first word begins, another one ends; then a word begins anew.
function select(index, extend) {
  draft.head = index;
  if (!extend) draft.anchor = index;
  draft.isBegun = !extend;
  refocus();
}

function refocus() {
  draw();
  const target = panel.edit.querySelector(`[data-cell="${draft.head}"]`);
  if (target) target.focus();
}

function steer(event) {
  const by_ = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by_) return;
  event.preventDefault();
  event.stopPropagation();
  const to = draft.head + by_;
  if (to < 0 || to >= draft.cells.length) return;
  draft.head = to;
  if (!event.shiftKey) draft.anchor = to;
  draft.from = Math.min(draft.from, to);
  draft.to = Math.max(draft.to, to + 1);
  refocus();
}

// The selected words get the label; what they overlap makes way, unless annotators nest spans.
function add() {
  if (!draft) return;
  const [low, high] = picked();
  const span = {
    start: draft.cells[low].start, end: draft.cells[high].end, label: draft.label,
  };
  const isSame = (x) => x.start === span.start && x.end === span.end;
  const isRival = isNesting(draft.place) ? isSame : (x) => overlap(x, span);
  draft.spans = [...draft.spans.filter((x) => !isRival(x)), span];
  refocus();
}

// Whether an annotator of the text has spans that overlap.
function isNesting({ item, text }) {
  const ends = new Map();
  const own = item.spans.filter((span) => span.text === text);
  return own.sort((x, y) => x.start - y.start).some((span) => {
    const end = ends.get(span.annotator) || 0;
    ends.set(span.annotator, Math.max(end, span.end));
    return span.start < end;
  });
}

function finish() {
  if (!draft) return;
  const { spans } = draft;
  draft = null;
  choose(spans, spans.length ? "edited" : "nothing");
}

function cancel() {
  const { back } = draft;
  draft = null;
  view.go(view.current, back, back && back !== view.stop);
}

// Words that are selected in the text: the place there, or one that nobody marked.
function pickedWords() {
  if (!isOn || !view.current) return;
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  if (!parts.text.contains(range.commonAncestorContainer)) return;
  const from = cellAt(range.startContainer, range.startOffset, false);
  const to = cellAt(range.endContainer, range.endOffset, true);
  if (!from || !to || from.chunk.text !== to.chunk.text) return;
  const { item } = view.current;
  const { text } = from.chunk;
  const stretch = { start: from.cell.start, end: to.cell.end };
  if (stretch.start >= stretch.end) return;
  selection.removeAllRanges();
  // What is there already is part of it: a place, or a decision about words that nobody marked.
  const places = clustersOf(item).filter((x) => x.text === text && overlap(x, stretch));
  const met = [...places, ...listOf(item, text).filter((x) => overlap(x, stretch))];
  const start = Math.min(stretch.start, ...met.map((x) => x.start));
  const end = Math.max(stretch.end, ...met.map((x) => x.end));
  const spans = item.spans.filter((x) => x.text === text && overlap(x, { start, end }));
  const known = places.find((x) => x.start === start && x.end === end);
  begin(known || withVersions(item, { item, text, start, end, spans }), stretch);
}

// The cell of a place in the text on the page.
function cellAt(node, offset, isEnd) {
  let inner = node;
  while (inner && !inner.stretch && inner !== parts.text) inner = inner.parentNode;
  if (!inner || !inner.stretch) return null;
  const { chunk, first, until, before } = inner.stretch;
  if (inner.nodeType !== Node.TEXT_NODE) return { chunk, cell: chunk.cells[first] };
  let left = offset - before;
  for (let i = first; i < until; i += 1) {
    const { word, gap } = chunk.cells[i];
    const size = word.length + gap.length;
    if (isEnd ? left <= size : left < size) return { chunk, cell: chunk.cells[i] };
    left -= size;
  }
  const nearest = chunk.cells[isEnd ? until - 1 : until] || chunk.cells[until - 1];
  return nearest ? { chunk, cell: nearest } : null;
}

// ---- Keys ------------------------------------------------------------------------------

view.keys = (event) => {
  if (event.key === "d" && !draft) return () => turn(!isOn);
  if (!isOn) return null;
  if (draft) {
    const wait = () => say("Save what you edit, or cancel it, first.");
    const isStep = /^([jnkpdeu0-9[\]]|Enter|Arrow(Left|Right))$/.test(event.key);
    return { a: add, s: finish, Escape: cancel }[event.key] || (isStep ? wait : null);
  }
  // On a button, Enter presses it.
  if (event.key === "Enter" && event.target.closest("button, a, summary")) return null;
  const choices = { 0: chooseNothing, Enter: chooseConsensus, e: edit };
  const act = event.key >= "1" && event.key <= "9"
    ? () => chooseVersion(Number(event.key) - 1) : choices[event.key];
  if (!act) return { u: undo, m: writeNote }[event.key] || null;
  if (!view.stop || isSeen()) return act;
  // A place out of view is shown first, unless the window is too small for it.
  view.bring();
  return isSeen() ? () => say("This is the place to decide.") : act;
};

view.decide = () => (isOn ? view.go(view.current, view.stop) : turn(true));
// A click on the same link again changes no address.
document.addEventListener("click", (event) => {
  if (event.target.closest("a")?.hash === "#decide") {
    event.preventDefault();
    view.decide();
  }
});

build();
restore();
if (every().length) turn(true, false);
view.openHash();
