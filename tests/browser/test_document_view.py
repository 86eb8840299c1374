"""The document view in a browser: what is read, filtered and stepped through."""

import json
import re
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from beyondchance import Corpus, disagreements, example
from beyondchance.page.documents import contested, document_view
from browser.view_page import page_of
from refusals import assert_tells

SCRIPT = "</script><script>window.hacked=1</script>"
NEXT = "case \u203a"
IMAGE = '"><img src=x onerror=window.hacked=1>'

pytestmark = pytest.mark.slow

# The text as it is read, without what is drawn below it.
READ = """() => [...document.querySelectorAll(".reader-chunk")].map((chunk) => {
    const copy = chunk.cloneNode(true);
    copy.querySelectorAll(".reader-mark, .reader-names, .reader-place").forEach((e) => e.remove());
    return copy.textContent.replace(/[\\u200e\\u200f]/g, "").replace(/\\s+/g, " ").trim();
}).join(" ")"""
# Every span that is drawn: annotator and label as they are said, and the words above its parts.
DRAWN = """() => {
    const spans = new Map();
    for (const mark of document.querySelectorAll(".reader-text .reader-mark")) {
        if (!spans.has(mark.span)) spans.set(mark.span, { said: mark.ariaLabel, words: [] });
        spans.get(mark.span).words.push(mark.parentElement.querySelector(".reader-word").textContent);
    }
    return [...spans.entries()].map(([span, { said, words }]) =>
        [span.text, span.start, span.end, said, words]);
}"""


def eventually(check):
    """Try a check until it holds: what is drawn may take some frames."""
    end = time.monotonic() + 10
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > end:
                raise


def in_characters(spans, text, **options):
    """A document of one text, with spans that count characters."""
    corpus = Corpus.from_spans(spans, lengths=[len(text)], positions="characters", **options)
    return disagreements(replace(corpus, texts=(text,)))


def said(page):
    return page.locator(".reader-now").text_content()


def step(page):
    """The number of the case that is shown, how many there are, and what is said of it."""
    number, total, sentence = re.match(r"\D*(\d+)\D+(\d+)\. (.*)", said(page)).groups()
    return int(number), int(total), sentence


def count(page):
    """How many places and documents the page says there are."""
    found = re.match(r"([\d,]+) .* in ([\d,]+) document", page.text_content(".reader-count"))
    return tuple(int(number.replace(",", "")) for number in found.groups())


def choose(page, name, text):
    page.get_by_label(name, exact=True).select_option(label=text)


def in_words(row):
    """A disagreement of a document of one sentence in words, without where its spans are."""
    a, b, kind = row["a"], row["b"], row["kind"]
    one, other = (f"{row[f'label_{x}']} “{row[f'surface_{x}']}”" for x in "ab")
    return {
        "label": f"label: {a} marked “{row['surface_a']}” as {row['label_a']}, {b} as "
        f"{row['label_b']}",
        "boundary": f"boundary: {a} marked {one}, {b} marked it “{row['surface_b']}”",
        "both": f"both: {a} marked {one}, {b} marked {other}",
        "missed": f"only {a}: {b} has no span where {a} marked {one}",
        "extra": f"only {b}: {b} marked {other}, where {a} has no span",
    }[kind]


def sentences(found, document):
    """The disagreements of a document in words."""
    rows = found.only(kinds=["label", "boundary", "both", "missed", "extra"]).to_rows()
    return [in_words(row) for row in rows if row["document"] == document]


@pytest.fixture(scope="session")
def example_view(tmp_path_factory):
    """The documents of the example, as a file."""
    path = tmp_path_factory.mktemp("example-view") / "view.html"
    path.write_text(page_of(disagreements(example())), "utf-8")
    return path


class TestText:
    def test_words_and_spans_of_tokens(self, open_page, example_view):
        found = disagreements(example())
        page = open_page(example_view)
        corpus = found.corpus
        number = json.loads(document_view(found).payload)["documents"][0][0]
        own = np.flatnonzero(corpus.text_document == number).tolist()
        assert page.evaluate(READ) == " ".join(corpus.texts[i] for i in own)
        drawn = page.evaluate(DRAWN)
        assert len(drawn) == sum(int(text) in own for text in corpus.span_text)
        for text, start, end, name, words in drawn:
            assert words == corpus.texts[own[text]].split(" ")[start:end]
            who, label = re.match(r"(\w+): (\w+), ", name).groups()
            assert (start, end, label) in [
                tuple(corpus.span(i))
                for i in np.flatnonzero(corpus.span_text == own[text]).tolist()
                if corpus.annotators[corpus.span_annotator[i]] == who
            ]

    def test_offsets_count_characters_not_utf16_units(self, open_page):
        #        0123456789
        text = "😀😀 a🎈b Ω\n\nend é"
        found = in_characters(
            {"ada": [[(1, 2, "E"), (4, 5, "X"), (3, 8, "W")]], "ben": [[(0, 2, "E"), (3, 6, "X")]]},
            text,
        )
        page = open_page(page_of(found))
        assert page.evaluate(READ) == " ".join(text.split())
        drawn = {(start, end): "".join(words) for _, start, end, _, words in page.evaluate(DRAWN)}
        assert drawn == {
            (0, 2): "😀😀",
            (1, 2): "😀",
            (3, 6): "a🎈b",
            (3, 8): "a🎈bΩ",
            (4, 5): "🎈",
        }
        assert page.locator(".reader-cases").text_content().count("“🎈”") == 1

    def test_a_blank_that_only_one_of_two_marked_is_seen(self, open_page):
        found = in_characters({"ada": [[(0, 3, "P")]], "ben": [[(0, 4, "P")]]}, "Ada met")
        page = open_page(page_of(found))
        drawn = {tuple(row[:3]): row[4] for row in page.evaluate(DRAWN)}
        assert drawn == {(0, 0, 3): ["Ada"], (0, 0, 4): ["Ada", "␣"]}

    def test_a_ruler_where_there_is_no_text(self, open_page):
        found = disagreements(example())
        page = open_page(page_of(found, texts=False))
        assert re.fullmatch(r"[\d\u2013 ]+", page.evaluate(READ))
        # Of 14 tokens ada and cleo marked 0-5 and 6-11, ben 3-5 and 8-11.
        words = page.locator(".reader-chunk").first.locator(".reader-word").all_text_contents()
        shown = [word.replace("\u2013", "-") for word in words]
        assert shown == ["0-3", "3-5", "5", "6-8", "8-11", "11-14"]
        page.keyboard.press("j")
        assert_tells(said(page), "PERSON … sentence … tokens … 0 … 5")

    @pytest.mark.usefixtures("fonts")
    def test_names_stand_beside_their_lanes_and_marks_apart(self, open_page):
        """Two annotators who nest spans, in a text of several lines."""
        text = " ".join(["the old mayor of Osterby spoke"] * 12)
        spans = [
            s for i in range(0, len(text), 31) for s in ((i, i + 24, "P"), (i + 17, i + 24, "L"))
        ]
        page = open_page(page_of(in_characters({"ada": [spans], "ben": [spans[::2]]}, text)))
        eventually(lambda: self.assert_beside(page))
        page.set_viewport_size({"width": 390, "height": 800})
        eventually(lambda: self.assert_beside(page))

    def assert_beside(self, page):
        rows = page.evaluate("""() => {
            const box = (e) => {
                const { top, left, right } = e.getBoundingClientRect();
                return [top, left, right];
            };
            const names = [...document.querySelectorAll(".reader-names bdi")].map(
                (e) => [e.textContent, ...box(e)]);
            const marks = [...document.querySelectorAll(".reader-text .reader-mark")].map(
                (e) => [["ada", "ben"][e.span.annotator], e.span.label, ...box(e)]);
            return { names, marks };
        }""")
        tops = {"ada": [], "ben": []}
        for name, top, *_ in rows["names"]:
            tops[name].append(top)
        assert len(tops["ada"]) == len(tops["ben"]) > 1
        for name, label, top, left, _ in rows["marks"]:
            # Outer spans lie in the first lane, inner ones of ada below, each 20 pixels high.
            lane = 20 if name == "ada" and label == 0 else 0
            assert any(abs(top - lane - beside) < 5 for beside in tops[name])
            assert all(left >= right for _, _, _, right in rows["names"])
        by_place = sorted((round(top), left, right) for *_, top, left, right in rows["marks"])
        for one, two in pairwise(by_place):
            # A part may reach over the blank to the next part of the same span.
            assert one[0] != two[0] or one[2] <= two[1] + 2

    @pytest.mark.usefixtures("fonts")
    def test_no_word_makes_room_for_a_label(self, open_page):
        """Labels that are longer than their spans, which begin and end within words."""
        text = "A ranger met Bo Li at 10:40 in a park near Oslo"
        long = "a label that is much longer than its span"
        spans = {
            "ada": [[(2, 7, long), (13, 15, long), (22, 27, "T"), (43, 47, long)]],
            "ben": [[(2, 8, long), (13, 18, long), (22, 24, long), (44, 46, "L")]],
        }
        page = open_page(page_of(in_characters(spans, text)))
        title = page.locator(".reader-text .reader-mark").first.get_attribute("title")
        assert_tells(title, f"ben … {long} … boundary")
        eventually(lambda: self.assert_tight(page))
        page.set_viewport_size({"width": 390, "height": 800})
        eventually(lambda: self.assert_tight(page))

    def assert_tight(self, page):
        cells = page.evaluate("""() => [...document.querySelectorAll(".reader-cell")].map((e) => {
            const word = e.querySelector(".reader-word");
            const range = document.createRange();
            range.selectNodeContents(word);
            return [e.getBoundingClientRect().width, range.getBoundingClientRect().width];
        })""")
        assert len(cells) > 6
        assert all(cell <= word + 1 for cell, word in cells)
        labels = page.evaluate("""() => [...document.querySelectorAll(".reader-label")].map((e) => {
            const marks = [...document.querySelectorAll(".reader-mark")]
                .filter((mark) => mark.span === e.parentElement.span)
                .map((mark) => mark.getBoundingClientRect().right);
            return [e.getBoundingClientRect().right, Math.max(...marks)];
        })""")
        assert len(labels) > 6
        assert all(label <= mark + 1 for label, mark in labels)

    def test_a_gold_standard_has_the_first_lane(self, open_page):
        corpus = example().with_gold("cleo")
        found = disagreements(corpus, pairs=[("cleo", "ada"), ("cleo", "ben")])
        page = open_page(page_of(found))
        names = page.locator(".reader-names bdi").all_text_contents()
        assert names[:3] == ["cleo", "ada", "ben"]

    @pytest.mark.usefixtures("fonts")
    def test_the_list_of_documents_stays_in_view(self, open_page, example_view):
        """As long as there is text beside it; it leaves with the end of the text, below which
        stands the table of labels.
        """
        page = open_page(example_view, viewport={"width": 1280, "height": 500})
        scrolled = """([part, block]) => {
            document.querySelector(part).scrollIntoView({ block });
            const boxes = [".reader-list", ".reader-body"].map(
                (e) => document.querySelector(e).getBoundingClientRect());
            return boxes.map(({ top, bottom }) => [top, bottom]);
        }"""
        for block in ("center", "end"):
            (top, bottom), body = page.evaluate(scrolled, [".reader-body", block])
            assert body[0] < 0
            assert body[1] >= 500
            assert top == 8
            assert bottom < 500
        (top, bottom), body = page.evaluate(scrolled, [".reader-table", "end"])
        assert body[1] < 500
        assert top == 8 or bottom == body[1]

    @pytest.mark.usefixtures("fonts")
    def test_the_legend_is_one_line(self, open_page, example_view):
        page = open_page(example_view)
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 700})
            tops = page.eval_on_selector_all(
                ".reader-legend li", "all => all.map((e) => e.getBoundingClientRect().top)"
            )
            assert len(tops) == 4  # what they tell, and how many of three
            assert len(set(tops)) == 1
            assert page.locator(".reader-legend").bounding_box()["height"] < 32

    def test_140_000_sentences_in_one_document(self, open_page):
        """The page has some thousands at a time, and goes to any of them."""
        n = 140_000
        starts = np.arange(0, n, 500)
        corpus = Corpus.from_columns(
            text=np.concatenate([starts, starts]),
            annotator=["ada"] * len(starts) + ["ben"] * len(starts),
            start=np.zeros(2 * len(starts), dtype=int),
            end=np.r_[np.ones(len(starts), dtype=int), np.full(len(starts), 2)],
            label=["P"] * (2 * len(starts)),
            lengths=np.full(n, 3),
            documents=["novel"] * n,
        )
        page = open_page(page_of(disagreements(corpus)))
        assert page.locator("article h3").text_content() == "novel"
        assert page.locator(".reader-chunk").count() <= 2000
        page.keyboard.press("k")  # from the end
        # By keys: text that comes into view gets its height, which moves the list below it.
        page.locator(".reader-cases button", has_text="later ones").press("Enter")
        page.locator(".reader-cases li button").last.press("Enter")
        assert "sentence 139500" in said(page)
        lit = page.locator(".reader-mark.is-lit").first
        assert lit.is_visible()
        page.get_by_role("button", name="earlier text").click()
        assert page.locator(".reader-chunk").count() == 2000
        assert lit.count() == 0
        page.get_by_role("button", name="later text").click()
        assert lit.count() == 1  # it is still the current one

    def test_a_long_document_is_there_to_its_end(self, open_page):
        words = [f"w{i}" for i in range(18_000)]
        text = " ".join(words)
        spans = [
            (text.index(f" w{i} ") + 1, text.index(f" w{i} ") + 3, "P")
            for i in range(10, 18_000, 500)
        ]
        found = in_characters({"ada": [spans], "ben": [[]]}, text)
        page = open_page(page_of(found))
        page.keyboard.press("j")
        page.keyboard.press("k")
        # By keys: text that comes into view gets its height, which moves the list below it.
        page.locator(".reader-cases button").last.press("Enter")
        assert step(page)[:2] == (36, 36)
        assert page.evaluate("document.activeElement.parentElement.textContent").startswith("w1")
        page.wait_for_function(
            "document.querySelector('.reader-text').textContent.includes('w17999')"
        )
        assert page.evaluate(READ) == text

    def test_right_to_left(self, open_page):
        text = "שלום New York עולם"
        found = in_characters(
            {"ada": [[(0, 4, "A"), (5, 13, "B")]], "ben": [[(14, 18, "A")]]}, text
        )
        page = open_page(page_of(found))
        assert page.evaluate(READ) == text
        places = page.evaluate("""() => Object.fromEntries(
            [...document.querySelectorAll(".reader-cell")].map((e) => [
                e.querySelector(".reader-word").textContent, e.getBoundingClientRect().left]))""")
        assert sorted(places, key=places.get) == ["עולם", "New", "York", "שלום"]


class TestStepping:
    def test_every_disagreement_in_order_as_python_has_it(self, open_page, example_view):
        found = disagreements(example())
        first, second = (sentences(found, name) for name in [*contested(found)][:2])
        page = open_page(example_view)

        def assert_says(number, told):
            *step_of, sentence = step(page)
            assert step_of == [number, len(told)]
            sentence = re.sub(r" \((sentence \d+, )?tokens \d+ to \d+\)", "", sentence)
            assert sentence == told[number - 1]

        for i in range(len(first)):
            page.keyboard.press("jn"[i % 2])
            assert_says(i + 1, first)
        page.keyboard.press("j")  # on to the next document
        assert_says(1, second)
        page.keyboard.press("k")
        assert_says(len(first), first)
        page.keyboard.press("p")
        assert_says(len(first) - 1, first)

    def test_a_long_span_is_quoted_without_its_middle(self, open_page):
        text = "a" * 50 + "b" * 50
        page = open_page(page_of(in_characters({"ada": [[(0, 100, "P")]], "ben": [[]]}, text)))
        page.keyboard.press("j")
        assert f"“{'a' * 30}…{'b' * 30}” (characters 0 to 100)" in said(page)

    @pytest.mark.usefixtures("fonts")
    def test_the_current_one_is_focused_outlined_and_seen(self, open_page, example_view):
        page = open_page(example_view, viewport={"width": 390, "height": 600})
        for _ in range(10):
            page.keyboard.press("j")
        lit = page.evaluate("""() => {
            const { top, bottom } = document.activeElement.getBoundingClientRect();
            return [document.activeElement.className, top, bottom,
                getComputedStyle(document.activeElement).borderBottomStyle];
        }""")
        assert "is-lit" in lit[0]
        assert 0 < lit[1] < lit[2] < 600
        assert lit[3] != "none"
        assert page.locator(".reader-cases [aria-current]").text_content() in said(page)
        assert page.locator(".reader-now").get_attribute("aria-live") == "polite"

    def test_documents_by_keys_and_buttons(self, open_page, example_view):
        found = disagreements(example())
        names = [d[1] for d in json.loads(document_view(found).payload)["documents"]]
        page = open_page(example_view)
        title = page.locator("article h3")
        for key, place in (("ArrowRight", 1), ("]", 2), ("[", 1), ("ArrowLeft", 0), ("[", 0)):
            page.keyboard.press(key)
            assert title.text_content() == names[place]
        page.get_by_role("button", name="document \u203a").click()
        assert title.text_content() == names[1]
        page.get_by_role("button", name=NEXT, exact=True).click()
        assert step(page)[0] == 1
        page.get_by_role("button", name=names[5]).click()
        assert title.text_content() == names[5]

    def test_keys_are_left_to_fields_and_can_be_turned_off(self, open_page, example_view):
        page = open_page(example_view)
        page.get_by_label("Document name").focus()
        page.keyboard.type("jn")
        assert said(page) == ""
        page.get_by_label("Document name").fill("")
        page.get_by_label("keys:").uncheck()
        page.locator("h1").click()
        page.keyboard.press("j")
        assert said(page) == ""
        page.get_by_label("keys:").check()
        page.locator("h1").click()
        page.keyboard.press("Control+j")
        assert said(page) == ""
        page.keyboard.press("j")
        assert step(page)[0] == 1

    def test_many_cases_are_listed_page_by_page(self, open_page):
        spans = [(i, i + 1, "P") for i in range(450)]
        found = disagreements(
            Corpus.from_spans({"ada": [spans], "ben": [[]]}, lengths=[450], unit="document")
        )
        page = open_page(page_of(found))
        cases = page.locator(".reader-cases")
        assert cases.locator("li").count() == 200
        cases.get_by_text("later ones").click()
        cases.get_by_text("later ones").click()
        assert_tells(cases.text_content(), "401 … 450")
        assert cases.locator("li").count() == 50
        # By keys: text that is drawn when it comes into sight would move what a mouse clicks.
        cases.locator("li button").last.press("Enter")
        assert step(page)[:2] == (450, 450)
        assert_tells(step(page)[2], "only ada … ben")
        cases.get_by_text("earlier ones").click()
        assert_tells(cases.text_content(), "400 … 450 … 201")
        page.keyboard.press("k")
        assert step(page)[:2] == (449, 450)
        assert cases.locator("[aria-current]").text_content() in said(page)

    def test_a_case_lights_its_words(self, open_page, example_view):
        page = open_page(example_view)
        choose(page, "Kind", "\u2212 only first")
        rows = [row for row in disagreements(example()).to_rows() if row["kind"] == "missed"]
        for row in rows[:5]:
            page.get_by_label("Document name").fill(row["document"])
            page.locator(".reader-cases button", has_text=f"“{row['surface_a']}”").first.click()
            lit = page.locator(".reader-cell.is-lit .reader-word").all_text_contents()
            assert " ".join(lit) == row["surface_a"]

    def test_a_mark_opens_its_case(self, open_page, example_view):
        page = open_page(example_view)
        page.locator(".reader-mark[aria-label^='ben: PLACE']").first.click()
        assert "ben" in said(page)
        assert "PLACE" in said(page)


class TestFilters:
    def test_counts_are_those_of_the_table(self, open_page, example_view):
        found = disagreements(example())
        page = open_page(example_view)
        differ = found.only(kinds=["label", "boundary", "both", "missed", "extra"])

        def expected(rows):
            """Places with one of these rows, which are listed by label."""
            corpus, whole = found.corpus, found.places
            spans = np.maximum(rows.span_a, rows.span_b)
            here = corpus.text_begin[corpus.span_text[spans]] + corpus.span_start[spans]
            begin = corpus.text_begin[whole.text] + whole.start
            n = len(set(np.searchsorted(begin, here, side="right").tolist()))
            listed = page.locator(".reader-body .reader-list small").all_text_contents()
            cells = page.locator("[data-cell] small").all_text_contents()
            assert (sum(map(int, listed)), sum(map(int, cells))) == (n, len(rows))
            return n, len({row["document"] for row in rows.to_rows()})

        assert count(page) == expected(differ)
        choose(page, "Kind", "\u2212 only first")
        assert count(page) == expected(found.only(kinds=["missed"]))
        choose(page, "Label", "PLACE")
        assert count(page) == expected(found.only(kinds=["missed"], labels=["PLACE"]))
        choose(page, "Annotators", "ben and cleo")
        pair = disagreements(found.corpus, pairs=[("ben", "cleo")])
        assert count(page) == expected(pair.only(kinds=["missed"], labels=["PLACE"]))
        choose(page, "Kind", "agreements, too")
        assert count(page) == expected(pair.only(labels=["PLACE"]))
        choose(page, "Label", "every label")
        choose(page, "Annotators", "cleo")
        cleo = disagreements(found.corpus, pairs=[("ada", "cleo"), ("ben", "cleo")])
        assert count(page) == expected(cleo)
        choose(page, "Kind", "✓ agree")
        assert count(page) == expected(cleo.only(kinds=["agree"]))
        page.get_by_role("button", name="Clear filters").click()
        assert count(page) == expected(differ)
        page.get_by_label("Document name").fill("ISSUE-1")
        assert count(page)[1] == 3
        page.get_by_label("Document name").fill("nowhere")
        assert page.locator(".reader-body .reader-list li").count() == 0
        assert page.locator("article h3").text_content() not in found.corpus.documents
        page.keyboard.press("Tab")
        page.keyboard.press("j")  # nothing to go to, and no error

    def test_lanes_follow_who_is_compared(self, open_page):
        """Three agree on P, two on Q, and ben has an R of his own.

        ada   P.Q
        ben   P..R
        cleo  P.Q
        """
        spans = {"ada": [[(0, 1, "P"), (2, 3, "Q")]], "ben": [[(0, 1, "P"), (3, 4, "R")]]}
        found = disagreements(
            Corpus.from_spans(spans | {"cleo": spans["ada"]}, lengths=[4], positions="tokens")
        )
        page = open_page(page_of(found))

        def states():
            return {row[3] for row in page.evaluate(DRAWN)}

        all_three = {f"{who}: P, marked alike by 3 of 3" for who in ("ada", "ben", "cleo")}
        ada, ben = "ada: Q, marked alike by 2 of 3", "ben: R, marked alike by 1 of 3"
        assert states() == {*all_three, ada, ada.replace("ada", "cleo"), ben}
        symbols = page.locator(".reader-text .reader-mark b").all_text_contents()
        assert sorted(symbols) == ["1/3", "2/3", "2/3", "3/3", "3/3", "3/3"]
        # It means the same whoever is shown.
        choose(page, "Annotators", "ada and ben")
        assert states() == {x for x in all_three if "cleo" not in x} | {ada, ben}

    def test_colours_are_one_scale_with_a_legend(self, open_page):
        """One of four, two, three, four: each stronger than the next, and by another line."""
        labels = "PQRS"
        sides = {
            f"a{i}": [[(p, p + 1, label) for p, label in enumerate(labels) if i <= p]]
            for i in range(4)
        }
        page = open_page(page_of(disagreements(Corpus.from_spans(sides, lengths=[5]))))
        told = page.locator(".reader-legend li").all_text_contents()
        assert told == ["marked alike by", "1/4", "2/4", "3/4", "4/4all"]
        colours = [back for _, back in page.evaluate(LEGEND)]
        light = [sum(map(int, colour.split())) for colour in colours]
        assert light == sorted(set(light))
        lines = page.eval_on_selector_all(
            ".reader-legend .reader-mark",
            "all => all.map((e) => getComputedStyle(e).borderBottomStyle)",
        )
        assert lines == ["dotted", "dashed", "dashed", "solid"]
        drawn = page.eval_on_selector_all(
            ".reader-text .reader-mark",
            """all => all.map((e) => [e.querySelector("b").textContent,
                getComputedStyle(e).borderBottomStyle, getComputedStyle(e).backgroundColor])""",
        )
        shown = page.eval_on_selector_all(
            ".reader-legend .reader-mark",
            """all => all.map((e) => [e.textContent, getComputedStyle(e).borderBottomStyle,
                getComputedStyle(e).backgroundColor])""",
        )
        assert sorted(set(map(tuple, drawn))) == sorted(map(tuple, shown))

    def test_of_two_people_and_against_gold_by_kind(self, open_page):
        spans = {"ada": [[(0, 1, "P"), (2, 3, "Q")]], "ben": [[(0, 1, "P")]]}
        corpus = Corpus.from_spans(spans | {"cleo": spans["ada"]}, lengths=[3])
        two = disagreements(corpus.select(annotators=["ada", "ben"]))
        gold = disagreements(corpus.with_gold("cleo"), pairs=[("cleo", "ada"), ("cleo", "ben")])
        page = open_page(page_of(two))
        assert {row[3] for row in page.evaluate(DRAWN)} == {
            "ada: P, agrees",
            "ben: P, agrees",
            "ada: Q, alone",
        }
        page = open_page(page_of(gold))
        assert {row[3] for row in page.evaluate(DRAWN)} == {
            *(f"{who}: P, agrees" for who in ("ada", "ben", "cleo")),
            "ada: Q, agrees",
            "cleo: Q, agrees with 1 of 2, else missed",
        }
        symbols = page.locator(".reader-text .reader-mark b").all_text_contents()
        assert sorted(symbols) == ["\u2212", *4 * "✓"]

    def test_label_table_counts_and_opens_its_cases(self, open_page, example_view):
        found = disagreements(example())
        page = open_page(example_view)
        choose(page, "Kind", "agreements, too")
        labels = [*found.corpus.labels, None]
        cells = page.evaluate("""() => [...document.querySelectorAll("[data-cell]")].map(
            (e) => [...e.dataset.cell.split(",").map(Number), Number(e.lastChild.textContent)])""")
        assert {(labels[a], labels[b]): n for a, b, n in cells} == found.label_table()
        page.locator("[data-cell='0,-1']").click()
        n = found.label_table()[("EVENT", None)]
        assert 0 < count(page)[0] <= n
        assert_tells(said(page), "no span … EVENT")
        assert_tells(page.text_content(".reader-count"), "EVENT … nothing")
        seen = 0
        while page.get_by_role("button", name=NEXT, exact=True).is_enabled():
            page.keyboard.press("j")
            seen += 1
        assert seen == n - 1

    def test_many_labels_are_listed(self, open_page):
        labels = [f"L{i:03}" for i in range(200)]
        sides = {
            "ada": [[(i, i + 1, label) for i, label in enumerate(labels)]],
            "ben": [[(i, i + 1, labels[i // 2]) for i in range(200)]],
        }
        found = disagreements(Corpus.from_spans(sides, lengths=[200]))
        page = open_page(page_of(found))
        assert page.locator(".reader-table li").count() == 199
        page.locator("[data-cell='7,3']").click()
        assert count(page) == (1, 1)
        assert_tells(said(page), "ada … L007 … ben … L003")


class TestLinks:
    def test_an_address_opens_its_document(self, open_page, example_view):
        found = disagreements(example())
        page = open_page(example_view)
        number = document_view(found).numbers["issue-09"]
        page.evaluate(f"location.hash = '#document-{number}'")
        title = page.locator("article h3")
        page.wait_for_function("document.querySelector('article h3').textContent == 'issue-09'")
        choose(page, "Kind", "≠ label")
        shown = title.text_content()
        page.evaluate(f"location.hash = '#document-{number + 1}'")
        page.wait_for_function("document.querySelector('article h3').textContent == 'issue-10'")
        assert shown != "issue-10"  # which the filter had left out: it was cleared
        assert count(page)[1] == 12
        page.reload()
        assert title.text_content() == "issue-10"
        page.keyboard.press("j")
        page.keyboard.press("j")
        before = said(page)
        page.reload()
        assert (title.text_content(), said(page)) == ("issue-10", before)

    def test_a_document_that_is_not_there(self, open_page):
        found = disagreements(example())
        page = open_page(page_of(found, top=2))
        page.evaluate("location.hash = '#document-11'")
        page.wait_for_function("document.querySelector('.reader-now').textContent")
        assert document_view(found, top=2).sentence in said(page)


def hostile():
    text = f"{SCRIPT} 😀 שלום עולם {IMAGE} {'x' * 10_000} end"
    spans = {
        SCRIPT: [[(0, 9, IMAGE), (42, 43, "😀"), (44, 48, "{{7*7}}")]],
        IMAGE: [[(0, 12, SCRIPT), (44, 53, "RTL"), (93, 10_090, "long")]],
    }
    return in_characters(spans, text, documents=["javascript:alert(1)"])


# The colours of each kind of mark.
LEGEND = """() => [...document.querySelectorAll(".reader-legend .reader-mark")].map((e) =>
    [getComputedStyle(e).color, getComputedStyle(e).backgroundColor].map((colour) => {
        const canvas = document.createElement("canvas").getContext("2d");
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data.slice(0, 3).join(" ");
    }))"""


def contrast(*colours):
    """How much lighter one of two colours is, as WCAG defines it."""

    def luminance(colour):
        parts = [int(number) / 255 for number in re.findall(r"\d+", colour)]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted(map(luminance, colours))
    return (lighter + 0.05) / (darker + 0.05)


class TestEverywhere:
    @pytest.mark.usefixtures("fonts")
    def test_hostile_content_is_shown_as_text(self, open_page):
        page = open_page(page_of(hostile()), viewport={"width": 390, "height": 800})
        for _ in range(3):
            page.keyboard.press("j")
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        assert page.locator("article h3").text_content() == "javascript:alert(1)"
        assert page.evaluate(READ).startswith(f"{SCRIPT} 😀 שלום עולם {IMAGE} xxx")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def test_accessible(self, open_page, axe_findings, example_view):
        page = open_page(page_of(hostile()), viewport={"width": 390, "height": 800})
        page.keyboard.press("j")
        assert axe_findings(page) == []
        page = open_page(example_view, color_scheme="dark")
        page.keyboard.press("j")
        assert axe_findings(page, "#reader") == []

    @pytest.mark.usefixtures("fonts")
    def test_long_names_on_a_phone(self, open_page):
        names = [f"somebody-with-a-name-that-is-rather-long-{i}@example.org" for i in range(3)]
        sides = {name: [[(i, i + 2, f"{name}-label")]] for i, name in enumerate(names)}
        corpus = Corpus.from_spans(sides, lengths=[4], documents=[names[0] * 4])
        page = open_page(page_of(disagreements(corpus)), viewport={"width": 390, "height": 800})
        page.keyboard.press("j")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    @pytest.mark.parametrize(("who", "n"), [(("ada", "ben", "cleo"), 3), (("ada", "ben"), 6)])
    def test_dark(self, open_page, who, n):
        page = open_page(page_of(disagreements(example().select(annotators=list(who)))))
        light = page.evaluate(LEGEND)
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(LEGEND)
        assert len(light) == len(dark) == n
        assert all(one != other for one, other in zip(light, dark, strict=True))
        for ink, paper in light + dark:  # axe does not see what lies on marks
            assert contrast(ink, paper) >= 4.5, (ink, paper)
        # Paper is white, whatever the screen is.
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(LEGEND) == light

    def test_printed_without_controls(self, open_page, example_view):
        page = open_page(example_view)
        page.emulate_media(media="print")
        for part in (
            ".reader-filters",
            ".reader-help",
            ".reader-body .reader-list",
            ".reader-steps",
            ".reader-table",
        ):
            assert not page.locator(part).is_visible()
        assert page.locator(".reader-chunk").first.is_visible()
        assert page.locator(".reader-cases li").last.is_visible()
        assert page.pdf().startswith(b"%PDF")
