"""The report as people meet it: opened in a browser, read, sorted, stepped through, saved."""

import csv
import io
import json
import re
from base64 import b64encode
from collections import Counter
from itertools import chain, cycle
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

import report_corpora
from beyondchance import Corpus, diagnose, disagreements, example, rank, read, report
from beyondchance.cli.main import main
from beyondchance.page.svg import drawn
from beyondchance.reporting.escaping import in_latex
from beyondchance.scoring.api import agreement
from refusals import assert_tells

KINDS = ("pair", "team", "systems")
# Layout is looked at in all reports in the widest fonts, and once more, briefly, in others.
LAID_OUT = {"DejaVu": KINDS, "Liberation": ("systems",)}
SCORES = ("observed", "chance", "corrected")
PHONE = {"width": 390, "height": 844}

pytestmark = pytest.mark.slow


@pytest.fixture
def command_json(capsys):
    """What a command prints as JSON, read."""

    def command_json(*args):
        capsys.readouterr()
        assert main([*args, "--quiet", "--output", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    return command_json


def table(page, name):
    """The rows of a table as they stand: for each its name, and its cells by heading."""
    rows = page.eval_on_selector(
        f"table[data-name='{name}']",
        """table => {
          const headings = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
          return [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell, i) =>
            [headings[i], {text: cell.textContent, value: cell.dataset.value}]));
        }""",
    )
    return {row[0][1]["text"]: dict(row[1:]) for row in rows}


def close_to(text, value):
    """Whether a number is printed as it is, in three digits."""
    return abs(float(text.rstrip("*")) - value) <= 0.0005 + 1e-12


def assert_scores(cells, score):
    """A row has the three numbers, in all digits and printed."""
    for name in SCORES:
        if score[name] is None:
            assert cells[name]["value"] == ""
        else:
            assert float(cells[name]["value"]) == score[name]
            assert close_to(cells[name]["text"], score[name])


def assert_interval(cell, interval):
    """A row has an interval, in all digits and printed."""
    assert list(map(float, cell["value"].split(" to "))) == interval
    assert all(map(close_to, cell["text"].split(" to "), interval))


# --- Numbers ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pair", "team"])
def test_numbers_are_those_of_agree(kind, made, open_page, command_json):
    made = made(kind)
    page = open_page(made.path)
    wanted = command_json("agree", *made.args, "--by", "document", "--top", "0")
    documents = wanted.pop("documents")
    for name in ("finding", "labelling", "supported", "otherwise"):
        wanted.pop(name, None)  # which the page does not show
    for score in wanted["macro"].values():
        score.pop("intervals")
    assert json.loads(page.text_content("#result")) == wanted
    assert page.text_content("#signature") == wanted["signature"]
    assert_three_numbers(page, wanted)
    overall = table(page, "agreement")
    # Positions that are characters are called so.
    token = "characters" if "positions:characters" in wanted["signature"] else "token"
    shown = {name: token if name == "token" else name for name in wanted["measures"]}
    assert_scores(overall[shown[wanted["signature"].split("measure:")[1].split("|")[0]]], wanted)
    for name, score in wanted["measures"].items():
        assert_scores(overall[shown[name]], score)
    labels = table(page, "labels")
    assert labels.keys() == wanted["labels"].keys()
    for name, score in wanted["labels"].items():
        assert_scores(labels[name], score)
        assert_interval(labels[name]["95 %"], score["intervals"]["corrected"])
        assert labels[name]["spans"]["value"] == str(score["n_spans"])
    pairs = {f"{score['a']} and {score['b']}": score for score in wanted["pairs"]}
    if kind == "team":
        shown = table(page, "pairs")
        assert shown.keys() == pairs.keys()
        assert len(shown) == 15
        for name, score in pairs.items():
            assert_scores(shown[name], score)
    annotators = table(page, "annotators")
    assert annotators.keys() == wanted["annotators"].keys()
    for name, score in wanted["annotators"].items():
        assert_scores(annotators[name], score)
        assert annotators[name]["spans"]["value"] == str(score["spans"])
    shown = table(page, "documents")
    assert shown.keys() == {name for name, score in documents.items() if score["n_spans"]}
    for name, cells in shown.items():
        assert_scores(cells, documents[name])


def test_numbers_are_those_of_rank(made, open_page, command_json):
    made = made("systems")
    page = open_page(made.path)
    # Against a gold standard there is nothing to decide.
    page.keyboard.press("d")
    assert page.locator(".decide, .decide-toggle").count() == 0
    wanted = command_json("rank", *made.args)
    for system in (*wanted["systems"], *chain(*wanted["measures"].values())):
        for score in (*system["labels"].values(), *system["macro"].values()):
            score.pop("intervals", None)  # which the page does not show
    assert json.loads(page.text_content("#result")) == wanted
    best = min(wanted["systems"], key=lambda system: system["rank_corrected"])
    assert_three_numbers(page, best)
    assert_tells(page.text_content(".answer"), f"gold … {best['name']}")
    systems, sure = table(page, "systems-token"), table(page, "sureness-token")
    assert systems.keys() == sure.keys() == set(report_corpora.SYSTEMS)
    by_label = table(page, "labels-by-system")
    for system in wanted["systems"]:
        cells = systems[system["name"]]
        assert_scores({**cells, "observed": cells["F1"]}, system)
        for rate in ("precision", "recall"):
            assert float(cells[rate]["value"]) == system[rate]["observed"]
        assert cells["rank"]["value"] == str(system["rank_corrected"])
        assert_interval(sure[system["name"]]["corrected, 95 %"], system["intervals"]["corrected"])
        for label, score in system["labels"].items():
            assert float(by_label[label][system["name"]]["value"]) == score["corrected"]


def assert_three_numbers(page, score):
    """What stands first: three numbers with their intervals."""
    for name in SCORES:
        assert float(page.get_attribute(f"#{name} .number", "data-value")) == score[name]
        assert close_to(page.text_content(f"#{name} .number"), score[name])
        interval = page.locator(f"#{name} .interval")
        ends = [float(interval.get_attribute(f"data-{end}")) for end in ("low", "high")]
        assert ends == score["intervals"][name]
        assert all(map(close_to, interval.text_content().split(": ")[1].split(" to "), ends))


PRESSED = """n => Array.from({length: n}, () => {
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}));
  return ['.reader-main h3', '.reader-now'].map((e) => document.querySelector(e).textContent);
})"""


@pytest.mark.parametrize("kind", KINDS)
def test_disagreements_are_all_there(kind, made, open_page):
    made = made(kind)
    page = open_page(made.path)
    rows = disagreements_of(made)
    shown = table(page, "documents")
    places = places_of(made)
    assert places.keys() <= shown.keys()
    for name, cells in shown.items():
        assert cells["places"]["value"] == str(places[name])
    step = page.locator(".next [data-step=decide], .next [data-step=check]")
    assert step.get_attribute("data-number") == str(sum(places.values()))
    assert_tells(step.text_content(), f"{sum(places.values())} places")
    assert_tells(page.text_content(".reader-count"), f"{sum(places.values())} places")
    listed = page.eval_on_selector_all(
        ".reader-body .reader-list button",
        "all => all.map((e) => [e.children[0].textContent, e.children[1].title])",
    )
    numbers = page.locator(".reader-body .reader-list small").all_text_contents()
    assert numbers == [str(places[name]) for name, _ in listed]
    # Of two people, with the kinds of pairs.
    is_pair = len({(row["a"], row["b"]) for row in rows}) == 1
    kinds = Counter((row["document"], in_words(row, made)) for row in rows if is_pair)
    found = Counter()
    for name, text in listed:
        told, _, of_kinds = text.partition(": ")
        assert told == f"{places[name]} place{'s' * (places[name] != 1)}"
        found.update({(name, kind): int(n) for n, kind in re.findall(r"(\d+) ([^,]+)", of_kinds)})
    assert found == kinds
    # The most contested ones first.
    sums = [places[name] for name, _ in listed]
    assert sums == sorted(sums, reverse=True)
    # Each by the keyboard.
    said = page.evaluate(PRESSED, len(rows) + 1)
    assert said[-1] == said[-2]  # there is nowhere to go
    assert len(set(map(tuple, said))) == len(rows)
    found = Counter()
    for document, text in said[:-1]:
        number, total, what = re.match(r"\D*(\d+)\D+(\d+)\. ([^:]+): ", text).groups()
        assert int(number) <= int(total)
        found[document, what] += 1
    assert found == Counter((row["document"], in_words(row, made)) for row in rows)
    # By real keys: back, where it is in view, in focus and told.
    for key, place in (("p", -3), ("k", -4), ("j", -3), ("n", -2)):
        page.keyboard.press(key)
        assert [opened(page), page.text_content(".reader-now")] == said[place]
        expect(page.locator(".reader-mark.is-lit:focus")).to_be_in_viewport()


def in_words(row, made):
    """The kind of a row on the page: among equals nothing is missed and nothing extra."""
    if "--gold" in made.args or row["kind"] not in {"missed", "extra"}:
        return row["kind"]
    first, second = row["a"], row["b"]
    return f"only {first if row['kind'] == 'missed' else second}"


def disagreements_of(made):
    """What the library says of the same files."""
    rows = found_in(made).to_rows()
    return [row for row in rows if row["kind"] != "agree"]


def places_of(made):
    """How many places of each document annotators differ in, as the library says."""
    found = found_in(made).places
    kinds, documents = found.kinds, found.corpus.text_document[found.text].tolist()
    pairs = zip(documents, found.kind.tolist(), strict=True)
    return Counter(found.corpus.documents[d] for d, kind in pairs if kinds[kind] != "agree")


def found_in(made):
    corpus = read(*(arg for arg in made.args if arg.endswith(("conll", "jsonl"))))
    pairs = None
    if "--gold" in made.args:
        pairs = [("gold", name) for name in corpus.annotators if name != "gold"]
    return disagreements(corpus, pairs=pairs)


FOLDED = "main details:not([open], .reader *) > summary"


def unfold(page):
    """Open everything that is folded."""
    while page.locator(FOLDED).count():
        page.locator(FOLDED).evaluate_all("all => all.forEach((e) => e.click())")


# --- Tables -------------------------------------------------------------------


def test_tables_sort(made, open_page):
    page = open_page(made("team").path)
    heading = page.locator("table[data-name=documents] thead th", has_text="corrected")

    def values(column):
        return [cells[column]["value"] for cells in table(page, "documents").values()]

    without = list(map(float, values("without")))
    assert without == sorted(without, reverse=True)
    before = set(table(page, "documents"))
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    found = [float(value) for value in values("corrected") if value]
    assert found == sorted(found, reverse=True)
    assert found != sorted(found)
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    found = [float(value) for value in values("corrected") if value]
    assert found == sorted(found)
    page.get_by_role("button", name="document", exact=True).click()
    assert page.locator("table[data-name=documents] [aria-sort]").count() == 1
    names = list(table(page, "documents"))
    assert names == sorted(before, key=lambda name: int(name.removeprefix("d")))


def test_what_is_undefined_sorts_last(open_page):
    tags = [["B-X", "O"], ["O", "B-X"], ["B-X"], ["B-X", "O", "O"]]
    others = [["B-X", "O"], ["B-X", "O"], ["B-X"], ["O", "B-X", "I-X"]]
    corpus = Corpus.from_tags({"a": tags, "b": others}, documents=list("wxyz"))
    page = open_page(report(agreement(corpus), corpus, resamples=99).html)
    heading = page.locator("table[data-name=documents] thead th", has_text="corrected")
    for _ in range(2):
        heading.get_by_role("button").click()
        assert list(table(page, "documents"))[-1] == "y"
    assert table(page, "documents")["y"]["corrected"]["value"] == ""


# --- Documents ----------------------------------------------------------------


def opened(page):
    """The document that is shown."""
    return page.text_content(".reader-main h3")


def expect_opened(page, name):
    """Wait until a document is shown: links open them when the address has changed."""
    expect(page.locator(".reader-main h3")).to_have_text(name)


def test_documents_open_from_everywhere(made, open_page):
    made = made("team")
    page = open_page(made.path)
    first = opened(page)
    links = page.eval_on_selector_all(
        "table[data-name=documents] tbody a", "all => all.map((a) => [a.textContent, a.hash])"
    )
    (name, place), (other, elsewhere) = links[3], links[-1]
    page.locator("table[data-name=documents] a", has_text=re.compile(f"^{name}$")).click()
    expect_opened(page, name)
    expect(page.locator(".reader-main h3")).to_be_focused()
    expect(page.locator(".reader-main h3")).to_be_in_viewport(ratio=1)
    # A point of the chart, by mouse and by keyboard.
    points = page.locator("#figure-documents a")
    places = points.evaluate_all("all => all.map((a) => a.href.baseVal)")
    assert sorted(places) == sorted(place for _, place in links)
    points.nth(places.index(elsewhere)).click()
    expect_opened(page, other)
    points.nth(places.index(place)).focus()
    page.keyboard.press("Enter")
    expect_opened(page, name)
    # The address.
    page = open_page(made.path, over=page, at=elsewhere)
    expect_opened(page, other)
    page = open_page(made.path, over=page, at="#document-999")
    assert page.text_content(".reader-now")  # that there is no such document
    assert opened(page) == first


# --- Looks --------------------------------------------------------------------

# Text in the charts of pairs and of kinds stands on colours, which are the same in the dark.
CONTRAST = """() => {
  const luminance = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const paper = luminance(numbers(getComputedStyle(document.body).backgroundColor));
  const ratio = (colour) => {
    const ink = luminance(numbers(colour));
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  };
  return {
    paper,
    body: ratio(getComputedStyle(document.body).color),
    quiet: Math.min(...[...document.querySelectorAll('.quiet, .remark, figcaption')]
      .map((e) => ratio(getComputedStyle(e).color))),
    charts: [...document.querySelectorAll('figure.chart svg text')]
      .filter((e) => !e.closest('#figure-pairs, #figure-kinds'))
      .filter((e) => e.textContent.trim() && getComputedStyle(e).fill !== 'none')
      .map((e) => [ratio(getComputedStyle(e).fill), e.textContent])
      .sort((a, b) => a[0] - b[0])[0],
  };
}"""


# Every theme at every width. What is not a matter of colours is the same in both themes.
COLOURS = ["color-contrast"]
SEEN = {
    "pair": (("light", 1280, []), ("dark", 1280, COLOURS)),
    "team": (("light", 390, COLOURS),),
    "systems": (("dark", 390, []),),
}


@pytest.mark.parametrize("kind", KINDS)
def test_light_and_dark(kind, made, open_page, axe_findings):
    page = open_page(made(kind).path)
    if kind != "team":  # whose tables are those of the pair, but longer
        unfold(page)
    for scheme, width, rules in SEEN[kind]:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 844})
        assert axe_findings(page, rules=rules) == [], (scheme, width)
        found = page.evaluate(CONTRAST)
        assert found["paper"] < 0.02 if scheme == "dark" else found["paper"] > 0.9
        assert found["body"] >= 7
        assert found["quiet"] >= 4.5
        ratio, text = found["charts"]
        assert ratio >= 4.5, f"{text} in a chart has a contrast of {ratio:.2f}"


STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (e) => {
    for (let box = e.parentElement; box; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (box !== document.body && box !== document.documentElement
        && ['auto', 'scroll', 'hidden', 'clip'].includes(style.overflowX)) return true;
    }
    return false;
  };
  return [...document.querySelectorAll('body *')]
    .filter((e) => { const box = e.getBoundingClientRect();
      return box.width && (box.right > width + 0.5 || box.left < -0.5); })
    .filter((e) => e.checkVisibility() && !e.closest('svg *') && !e.matches('.skip'))
    .filter((e) => !scrolls(e))
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 60)}`);
}"""


def test_a_phone(made, open_page, fonts):
    page = None
    for kind in (*LAID_OUT[fonts], *(["harmful"] if fonts == "DejaVu" else [])):
        options = {"viewport": PHONE, "is_mobile": True, "has_touch": True, "over": page}
        page = open_page(made(kind).path, **options)
        for folds in (True, False):
            if not folds:
                unfold(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], kind
            assert page.evaluate(STICKING_OUT) == [], kind
        # What a finger has to hit has some height.
        for selector in (".reader-steps button", ".reader-filters select", ".reader-list button"):
            assert page.locator(selector).first.bounding_box()["height"] >= 24
        assert_names_stay(page)


def assert_names_stay(page):
    """The first column of tables that scroll stays, covers what is behind it, and leaves room."""
    boxes = page.evaluate("""() => [...document.querySelectorAll(".scroll")]
      .filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => {
        const cells = [...box.querySelectorAll("tr > :first-child")].slice(0, 3);
        const places = () => cells.map((e) => e.getBoundingClientRect().x);
        const before = places();
        box.scrollLeft = 80;
        return { before, after: places(), width: cells[1].getBoundingClientRect().width,
          colour: getComputedStyle(cells[1]).backgroundColor };
      })""")
    assert len(boxes) >= 2
    for box in boxes:
        assert box["after"] == box["before"]
        assert re.fullmatch(r"rgb\(.*\)", box["colour"])
        assert box["width"] <= PHONE["width"] / 2


# Texts of charts that stick out of the drawing, or lie on one another.
MISPLACED = """(where) => [...document.querySelectorAll(where)].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const scale = frame.width / svg.viewBox.baseVal.width;
  const texts = [...svg.querySelectorAll('text')].filter((e) => e.textContent.trim()).map((e) => ({
    text: e.lastChild.textContent,
    box: e.getBoundingClientRect(), isTurned: e.getCTM().b !== 0,
  }));
  const out = texts.filter(({box}) => box.left < frame.left - 0.5 || box.right > frame.right + 0.5
    || box.top < frame.top - 0.5 || box.bottom > frame.bottom + 0.5).map((e) => `out: ${e.text}`);
  const straight = texts.filter((e) => !e.isTurned);
  const over = straight.flatMap((one, i) => straight.slice(i + 1).filter((other) =>
    Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left) > scale
    && Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top) > 4 * scale
  ).map((other) => `over: ${one.text} | ${other.text}`));
  return texts.length ? [...out, ...over] : ['no text'];
})"""
CUT = """all => all.filter((svg) => { const box = svg.parentElement;
  return box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1; })
  .map((svg) => svg.closest('figure').dataset.name)"""


def test_texts_of_charts_fit(made, open_page, fonts):
    page = None
    for kind in LAID_OUT[fonts]:
        page = open_page(made(kind).path, over=page)
        unfold(page)
        assert page.locator("figure.chart svg").count() >= 6
        assert page.evaluate(MISPLACED, "figure.chart svg") == [], kind
        # Nor is anything cut by what is around it.
        assert page.eval_on_selector_all("figure.chart svg", CUT) == [], kind


@pytest.mark.usefixtures("fonts")
def test_texts_of_figures_in_files_fit(files_of_figures, open_page):
    page = open_page(
        "<!doctype html><meta charset=utf-8><title>figures</title>"
        + "".join(f"<div>{svg}</div>" for svg in files_of_figures.values())
    )
    assert page.locator("svg").count() == len(files_of_figures) >= 8
    assert page.evaluate(MISPLACED, "svg") == []


LONG = ("annotator_0000017_round-2_final", "Dr. Maximiliana von Hohenlohe-Langenburg", "WWWWWWWWWW")


LONG_LABEL = "a label with a name of some length"


@pytest.fixture(scope="module")
def long_names():
    """Reports on annotators who have long names, by command."""
    corpus = example().rename_annotators(dict(zip(example().annotators, LONG, strict=True)))
    corpus = corpus.rename_labels({"PERSON": LONG_LABEL})
    results = {"agree": agreement(corpus), "rank": rank(corpus, gold=LONG[0])}
    return {name: report(result, corpus, resamples=99) for name, result in results.items()}


@pytest.fixture(scope="module")
def files_of_figures(long_names):
    """Every chart of these reports as a file."""
    charts = {**long_names["agree"].charts, **long_names["rank"].charts}
    return {name: drawn(chart, ".svg").decode() for name, chart in charts.items()}


@pytest.mark.parametrize("command", ["agree", "rank"])
@pytest.mark.usefixtures("fonts")
def test_long_names_fit(command, long_names, open_page):
    page = open_page(long_names[command].html, viewport={"width": 1280, "height": 844})
    unfold(page)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        # Charts are fitted when they unfold, and again when the window has another size.
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        page.evaluate("new Promise(requestAnimationFrame)")
        assert page.evaluate(MISPLACED, "figure.chart svg") == [], width
        right = page.evaluate("document.querySelector('main').getBoundingClientRect().right")
        assert right <= width
        # Nothing outside of the document view is wider than the window.
        assert [text for text in page.evaluate(STICKING_OUT) if "reader" not in text] == []


def test_long_names_are_cut_and_shown_in_full_under_the_pointer(long_names, open_page):
    page = open_page(long_names["agree"].html)
    assert_tells(page.text_content("h1"), " … ".join(LONG))
    for place in ("h1", "table[data-name=annotators] tbody", "#fix"):
        name = page.locator(f"{place} .name").first
        assert name.get_attribute("title") == name.text_content() in LONG
        assert name.evaluate("(e) => e.scrollWidth > e.clientWidth")
    assert table(page, "annotators").keys() == set(LONG)
    shown = page.eval_on_selector_all(
        "#figure-habits text > title", "all => all.map((e) => e.textContent)"
    )
    assert shown == list(LONG[:2])


# Places that are not wholly within the window.
UNSEEN = """(places) => places.filter((place) => {
  const found = [...document.querySelectorAll(place)].map((e) => e.getBoundingClientRect());
  return !found.length || found.some((box) => !box.width || box.top < 0 || box.left < 0
    || box.bottom > innerHeight || box.right > innerWidth);
})"""


def test_the_first_screen(made, open_page, fonts):
    names = ("#corrected", "#other", "#observed", "#chance")
    first = ["h1", *(f"{name} {of}" for name in names for of in (".number", ".interval"))]
    first += [".answer", ".next li", ".next li:nth-child(3)"]
    page = None
    for kind in LAID_OUT[fonts]:
        page = open_page(made(kind).path, over=page, viewport=PHONE)
        assert page.evaluate(UNSEEN, first) == [], kind
        page.set_viewport_size({"width": 1280, "height": 900})
        rows = "#table-systems-token tbody tr"
        last = rows if kind == "systems" else ".findings > li:first-child"
        assert page.evaluate(UNSEEN, [*first, last]) == [], kind
        # Both measures in the first sentence.
        assert " by exact" in page.text_content(".answer").partition(". ")[0]
        sizes = page.evaluate(
            """(names) => names.map((name) => parseFloat(
              getComputedStyle(document.querySelector(`#${name} .number`)).fontSize))""",
            SCORES,
        )
        assert sizes[2] > 3 * max(sizes[:2])
        texts = "all => Math.max(...all.map((e) => parseFloat(getComputedStyle(e).fontSize)))"
        assert page.eval_on_selector_all("main *", texts) == sizes[2]
        if kind == "systems":
            assert page.locator(rows).count() == len(report_corpora.SYSTEMS)
            weights = page.locator(rows).evaluate_all(
                "all => all.map((e) => getComputedStyle(e.cells[2]).fontWeight)"
            )
            assert weights[0] == "600"
            assert set(weights[1:]) == {"400"}


STEPS = {
    "pair": ("pattern", "decide", "documents"),
    "team": ("pattern", "decide", "documents"),
    "systems": ("pattern", "check", "label"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_steps_lead_to_what_they_name_by_keyboard(kind, made, open_page, axe_findings):
    page = open_page(made(kind).path, viewport=PHONE)
    assert axe_findings(page, "#answer") == []
    steps = page.locator(".next li")
    names = steps.evaluate_all("all => all.map((e) => e.dataset.step)")
    assert tuple(names) == STEPS[kind]
    # In reading order they are the first links but for the menu and a star.
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.next') !== null"):
            break
    for number in range(len(names)):
        link = steps.nth(number).locator("a")
        expect(link).to_be_focused()
        page.keyboard.press("Tab")
        target = link.get_attribute("href")
        link.press("Enter")
        if target == "#decide":
            expect(page.locator(".decide")).to_be_visible()
        else:
            expect(page.locator(f"{target} h2").first).to_be_in_viewport()
        steps.nth(number).locator("a").focus()
        page.keyboard.press("Tab")


def test_the_menu_offers_to_decide(made, open_page):
    page = open_page(made("team").path, viewport=PHONE)
    link = page.locator("nav a[href='#decide']")
    assert link.text_content() == page.locator("[data-step=decide] a").text_content()
    expect(link).to_be_in_viewport(ratio=1)
    link.click()
    expect(page.locator(".decide")).to_be_visible()
    # What is decided is counted as the link has it.
    n = page.locator("[data-step=decide]").get_attribute("data-number")
    assert_tells(page.locator(".decide").text_content(), n)
    assert open_page(made("systems").path).locator("nav a[href='#decide']").count() == 0


def test_steps_agree_with_the_data_of_the_page(made, open_page, command_json):
    made = made("team")
    page = open_page(made.path)
    data = json.loads(page.text_content("#result"))
    patterns = command_json("diagnose", *made.args[:-4])["patterns"]

    def scores(name):
        step = page.locator(f"[data-step={name}]")
        return [float(step.get_attribute(f"data-{when}")) for when in ("before", "after")]

    assert scores("pattern") == [data["corrected"], patterns[0]["after"]]
    before, after = scores("documents")
    n = int(page.locator("[data-step=documents]").get_attribute("data-number"))
    shown = table(page, "documents")
    (path,) = (arg for arg in made.args if arg.endswith("jsonl"))
    corpus = read(path)
    left = [name for name in corpus.documents if name not in [*shown][:n]]
    assert before == data["corrected"]
    assert after == pytest.approx(agreement(corpus.select(documents=left)).corrected, abs=1e-12)
    # Labels come worst first, in the table and in the chart.
    rows = [
        (float(cells["corrected"]["value"]), name) for name, cells in table(page, "labels").items()
    ]
    assert [score for score, _ in rows] == sorted(score for score, _ in rows)
    drawn = page.eval_on_selector_all(
        "#figure-labels text[text-anchor=end]", "all => all.map((e) => e.textContent)"
    )
    assert drawn == [name for _, name in rows]


def test_what_is_folded_opens_from_its_address(made, open_page):
    page = None
    for name, kind in zip(("methods", "notes", "difficulty", "paper"), cycle(KINDS)):
        page = open_page(made(kind).path, over=page, at=f"#{name}")
        assert page.locator(f"#{name}").get_attribute("open") is not None
        expect(page.locator(f"#{name} > summary")).to_be_in_viewport(ratio=1)
        assert page.locator("#details > details[open]").count() == 1


def test_printing(made, open_page, fonts):
    kind = LAID_OUT[fonts][-1] if fonts == "Liberation" else "pair"
    page = open_page(made(kind).path, color_scheme="dark")
    printed = page.pdf()
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", printed)) > 1
    page.emulate_media(media="print")
    shown = "all => all.filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80))"
    # What stands in the heading of a table, or is a sentence, is worth its ink.
    controls = "select, input, nav, .save button, .reader-steps button, .reader-table button"
    assert page.eval_on_selector_all(controls, shown) == []
    assert page.locator(".answer").is_visible()
    assert page.locator(".reader-main h3").is_visible()
    assert page.evaluate(CONTRAST)["paper"] == 1
    # Nothing is cut that could be scrolled to on a screen.
    cut = """all => all.filter((e) => e.checkVisibility() && e.scrollHeight > e.clientHeight + 1)
      .map((e) => e.className)"""
    assert page.eval_on_selector_all(".scroll, .reader-cases ol, .reader-now", cut) == []
    # What is folded is printed, but for texts that are there to be copied.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").evaluate_all("all => all.map((e) => e.id)") == [
        "paper"
    ]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#details details[open]").count() == 0


@pytest.mark.parametrize("kind", ["pair", "systems"])
def test_without_javascript(kind, made, open_page):
    made = made(kind)
    page = open_page(made.path, java_script_enabled=False)
    assert page.locator(".answer").is_visible()
    for name in SCORES:
        assert page.locator(f"#{name} .number").is_visible()
    # What is folded opens without a script too.
    assert not page.locator("#signature").is_visible()
    unfold(page)
    assert page.locator("#signature").is_visible()
    heights = page.locator("figure.chart svg").evaluate_all(
        "all => all.map((e) => e.checkVisibility() && e.getBoundingClientRect().height)"
    )
    assert len(heights) >= 6
    assert min(heights) > 30
    assert page.locator("table tbody tr").count() > 10
    assert page.locator("button, select, input").count() == 0
    assert_tells(page.inner_text("#reader noscript"), "JavaScript")


# --- Saving -------------------------------------------------------------------


def saved(page, label):
    """What a button of the page saves: its name and content."""
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_tables_are_saved_with_all_digits(made, open_page):
    page = open_page(made("team").path)
    name, content = saved(page, "Save the table labels as CSV")
    assert name == "labels.csv"
    first, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    shown = table(page, "labels")
    assert first[0] == "label"
    assert [row[0] for row in rows] == list(shown)
    for row in rows:
        cells = shown[row[0]]
        assert dict(zip(first[1:], row[1:], strict=True)) == {
            heading: cell["value"] or cell["text"] for heading, cell in cells.items()
        }
        assert len(row[4]) > 10


def test_tables_are_saved_without_formulas(open_page):
    evil = ["=1+1", "+1", "-1", "@sum"]
    tags = [[f"B-{label}", "O", f"B-{label}"] for label in evil]
    others = [[f"B-{label}", "O", "O"] for label in evil]
    names = {"a": "=cmd()", "b": "@b"}
    corpus = Corpus.from_tags(
        {names["a"]: tags, names["b"]: others}, documents=[f"{text}!" for text in evil]
    )
    page = open_page(report(agreement(corpus), corpus, resamples=99).html)
    for name in ("labels", "documents", "annotators"):
        _, content = saved(page, f"Save the table {name} as CSV")
        _, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
        shown = table(page, name)
        assert {row[0].removeprefix("'") for row in rows} == set(shown)
        for row in rows:
            assert row[0].startswith("'")
            # Numbers stay numbers, also negative ones.
            cells = list(shown[row[0][1:]].values())
            for cell, text in zip(cells, row[1:], strict=True):
                assert text == (cell["text"] if cell["value"] is None else cell["value"])
    signs = {text[0] for row in rows for text in row[1:] if text}
    assert "-" in signs  # the second marks less


PIXELS = """async (content) => {
  const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const {data} = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const colours = new Uint32Array(data.buffer);
  return [colours[0], new Set(colours).size];
}"""


NAMES = "all => all.map((e) => e.dataset.name)"
SVG = "{http://www.w3.org/2000/svg}"


def test_charts_are_saved(made, open_page):
    page = open_page(made("systems").path, color_scheme="dark")
    unfold(page)
    sizes = {}
    for name in page.locator("figure.chart").evaluate_all(NAMES):
        file, content = saved(page, f"Save the chart {name} as SVG")
        assert file == f"{name}.svg"
        root = ET.fromstring(content)  # noqa: S314 - ours
        assert root.tag == f"{SVG}svg"
        assert len(list(root.iter(f"{SVG}line"))) > 1
        sizes[name] = [float(root.attrib[side]) for side in ("width", "height")]
    for name in ("systems", "documents"):
        file, content = saved(page, f"Save the chart {name} as PNG")
        assert file == f"{name}.png"
        assert content.startswith(b"\x89PNG")
        size = [int.from_bytes(content[start : start + 4], "big") for start in (16, 20)]
        assert size == [int(3 * side) for side in sizes[name]]
        first, n_colours = page.evaluate(PIXELS, b64encode(content).decode())
        assert first == 0xFFFFFFFF  # white paper, whatever the page's
        assert n_colours > 10


# --- For a paper --------------------------------------------------------------

COPYABLE = ("methods", "methods-latex", "table-latex", "bibtex")


def opened_box(open_page, path, **options):
    """The page with its box for a paper opened."""
    page = open_page(path, **options)
    assert not page.locator("#copy-methods").is_visible()
    page.locator("#paper summary").click()
    return page


@pytest.mark.parametrize(("kind", "command"), [("pair", "agree"), ("systems", "rank")])
def test_texts_for_a_paper_are_those_of_the_commands(kind, command, made, open_page, capsys):
    made = made(kind)
    page = opened_box(open_page, made.path)
    shown = {name: page.text_content(f"#copy-{name}") for name in COPYABLE}

    def printed(*args):
        capsys.readouterr()
        assert main([*args]) == 0
        return capsys.readouterr().out

    options = (*made.args, "--methods", "--digits", "3", "--quiet", "--output")
    assert printed(command, *options, "text").startswith(f"{shown['methods']}\n\n")
    assert printed(command, *options, "latex").startswith(f"{shown['methods-latex']}\n\n")
    assert printed("--cite") == shown["bibtex"]
    assert r"\begin{tabular}" in shown["table-latex"]
    assert page.text_content("#signature") in shown["table-latex"]
    if kind == "systems":
        rows = [line.split(" & ")[0] for line in shown["table-latex"].splitlines() if " & " in line]
        assert set(rows[1:]) == set(report_corpora.SYSTEMS)


def test_texts_for_a_paper_are_copied(made, open_page):
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    page = opened_box(open_page, made("systems").path, **allowed)
    buttons = page.get_by_role("button", name=re.compile("^Copy: "))
    assert buttons.count() == len(COPYABLE)
    for name, button in zip(COPYABLE, buttons.all(), strict=True):
        figure = page.locator("figure.copyable", has=page.locator(f"#copy-{name}"))
        expect(figure.get_by_role("status")).to_be_empty()
        button.click()
        expect(figure.get_by_role("status")).not_to_be_empty()
        assert page.evaluate("navigator.clipboard.readText()") == page.text_content(f"#copy-{name}")


def test_copying_by_keyboard_and_without_a_clipboard(made, open_page):
    page = open_page(made("pair").path)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    page.locator("#paper summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    status = page.locator("#paper [role=status]").first
    expect(status).to_contain_text("Ctrl+C")
    assert page.evaluate("getSelection().toString()") == page.text_content("#copy-methods")


def test_the_box_for_a_paper_looks_right(made, open_page, axe_findings, fonts):
    (kind, scheme) = {"DejaVu": ("pair", "dark"), "Liberation": ("systems", "light")}[fonts]
    page = opened_box(open_page, made(kind).path, viewport=PHONE, color_scheme=scheme)
    page.get_by_role("button", name=re.compile("^Copy: ")).first.click()
    assert axe_findings(page, "#paper", ["color-contrast"]) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate(STICKING_OUT) == []
    cut = "all => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.id)"
    assert page.eval_on_selector_all(".copyable pre", cut) == []
    heights = page.locator(".copyable button").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect().height)"
    )
    assert len(heights) == len(COPYABLE)
    assert min(heights) >= 24


def test_harm_in_texts_for_a_paper(open_page):
    marks = [[(0, 2, "P")], [(1, 2, "P")]]
    corpus = Corpus.from_spans(
        {"gold": marks, **dict.fromkeys(report_corpora.HARM, marks[::-1])}, lengths=[5, 6]
    )
    page = opened_box(open_page, report(rank(corpus, gold="gold"), corpus, resamples=99).html)
    table = page.text_content("#copy-table-latex")
    for name in report_corpora.HARM:
        assert in_latex(name) in table
    assert "hacked" not in page.text_content("#copy-methods")  # what may be a path is not named
    assert page.evaluate("window.hacked") is None
    assert page.locator("#paper img, #paper svg, #paper script").count() == 0


# --- What people put in -------------------------------------------------------


def test_harm_is_shown_as_text(made, open_page):
    page = open_page(made("harmful").path)
    assert page.text_content("h1") == page.title() == " ".join(report_corpora.HARM)
    documents = table(page, "documents")
    assert table(page, "labels").keys() & set(report_corpora.HARM)  # the table is cut
    options = page.locator("#reader-label option").all_text_contents()
    assert len(options) == 1 + len(report_corpora.HARM) + 1 + 200
    search = page.get_by_label("Document name", exact=True)
    for harm in report_corpora.HARM:
        assert {harm} <= documents.keys() & set(options)
        # The document, its text, and its case in words.
        search.fill(harm)
        assert opened(page) == harm
        words = page.locator(".reader-text .reader-word").all_text_contents()
        assert "".join(words).replace("␣", "") == "".join(harm.split())
        page.locator(".reader-steps button").last.click()
        said = page.text_content(".reader-now")
        assert "both: " in said
        assert said.count(harm) >= 2
    search.fill("")
    assert page.eval_on_selector_all("[href], [src]", ADDRESSES) == ["#"]
    assert page.evaluate("window.hacked") is None


ADDRESSES = """all => [...new Set(
  all.map((e) => String(e.getAttribute('href') ?? e.getAttribute('src')).slice(0, 1)))]"""


def test_harm_is_saved_as_text(made, open_page):
    page = open_page(made("harmful").path)
    unfold(page)
    _, content = saved(page, "Save the table documents as CSV")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))
    assert [row[0] for row in rows[1:]] == list(table(page, "documents"))
    assert set(report_corpora.HARM) <= {row[0] for row in rows}
    for name in page.locator("figure.chart").evaluate_all(NAMES):
        _, content = saved(page, f"Save the chart {name} as SVG")
        tags = {item.tag for item in ET.fromstring(content).iter()}  # noqa: S314 - ours
        allowed = "svg g path line polyline rect text a title desc"
        assert {tag.removeprefix(SVG) for tag in tags} <= set(allowed.split())
    assert page.evaluate("window.hacked") is None


def test_harm_without_javascript(made, open_page):
    page = open_page(made("harmful").path, java_script_enabled=False)
    assert page.locator("h1").text_content() == " ".join(report_corpora.HARM)
    assert page.locator("img, iframe, object, embed, form").count() == 0
    assert page.locator("script").count() == 2 + 3  # data, and what the page runs


# --- Where pages are shown ----------------------------------------------------


def test_a_notebook_shows_it(open_page, long_names):
    page = open_page(
        "<!doctype html><html lang=en><meta charset=utf-8><title>notebook</title>"
        + long_names["agree"]._repr_html_()
    )
    frame = page.frame_locator("iframe")
    assert_tells(frame.locator(".answer").text_content(), " … ".join((*LONG, "72")))
    link = frame.locator("table[data-name=documents] a").nth(2)
    link.click()
    expect_opened(frame, link.text_content())
    frame.locator(".reader-main h3").press("n")
    assert_tells(frame.locator(".reader-now").text_content(), "1")


def test_keys_scroll_a_table_that_has_the_focus(made, open_page):
    page = open_page(made("team").path, viewport={"width": 390, "height": 800})
    before = opened(page)
    box = page.locator("#table-annotators .scroll")
    box.focus()
    page.keyboard.press("ArrowRight")
    expect(box).not_to_have_js_property("scrollLeft", 0)
    assert opened(page) == before


@pytest.mark.usefixtures("fonts")
def test_the_steps_leave_the_navigation_in_sight(made, open_page):
    page = open_page(made("systems").path)
    page.evaluate("document.querySelector('.reader-cases').scrollIntoView({ block: 'end' })")
    places = ("nav", ".reader-bar", ".reader-main")
    nav, bar, main = (page.locator(place).bounding_box() for place in places)
    assert main["y"] < 0  # they have left their place
    assert nav["y"] == 0
    assert nav["height"] <= bar["y"] <= nav["height"] + 8


class TestToFix:
    def test_an_example_opens_its_place(self, open_page, axe_findings, example_report):
        corpus = example()
        page = open_page(example_report)
        links = page.locator(".findings a")
        found = diagnose(corpus).patterns[:5]
        assert links.count() == sum(len(pattern.examples) for pattern in found)
        examples = [example for pattern in found for example in pattern.examples]
        for number in (0, 4, links.count() - 1):
            links.nth(number).click()
            case = examples[number]
            expect(page.locator(".reader article h3")).to_have_text(case.document)
            # The words of the place are lit, and in view.
            lit = page.locator(".reader-text .is-lit .reader-word")
            words = " ".join(lit.all_inner_texts())
            start, end = case.own_characters or case.their_characters
            assert case.content[start:end].split()[0] in words
            assert lit.first.evaluate(
                "(e) => { const b = e.getBoundingClientRect();"
                " return b.top >= 0 && b.bottom <= innerHeight; }"
            )
        assert axe_findings(page, "#fix") == []

    @pytest.mark.usefixtures("fonts")
    def test_it_fits_a_phone(self, open_page, example_report):
        page = open_page(example_report, viewport=PHONE)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
        unfold(page)
        parts = page.locator(".bar > span")
        sizes = [parts.nth(i).bounding_box()["width"] for i in range(parts.count())]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) == 4  # nothing is lost to other places
