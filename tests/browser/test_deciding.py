"""A whole adjudication in a browser: decided, interrupted, saved, loaded and written."""

import csv
import json
import random
import re
import shlex
from dataclasses import replace

import pytest
from playwright.sync_api import expect

import beyondchance as bc
from beyondchance.adjudication.decisions import decisions_in
from beyondchance.cli.main import main
from beyondchance.page.documents import document_view
from browser.view_page import page_of
from deciding import file_of, marks
from refusals import assert_tells, refused

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# Select letters of the text, as a mouse does.
SELECT = """(letters) => {
    const walker = document.createTreeWalker(
        document.querySelector(".reader-text"), NodeFilter.SHOW_TEXT);
    let node = null;
    while ((node = walker.nextNode()) && !node.data.includes(letters));
    const range = document.createRange();
    range.setStart(node, node.data.indexOf(letters));
    range.setEnd(node, node.data.indexOf(letters) + letters.length);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    node.parentElement.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
}"""
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def places(corpus):
    """The places where annotators differ, as (document, text, start, end)."""
    return all_places(corpus, ["label", "boundary", "both", "missing"])


def all_places(corpus, kinds=None):
    """Places of some kinds, with what each annotator has there."""
    found = bc.disagreements(corpus).places.only(kinds=kinds)
    columns = (
        [corpus.documents[i] for i in corpus.text_document[found.text].tolist()],
        corpus.number_in_document(found.text).tolist(),
        found.start.tolist(),
        found.end.tolist(),
    )
    return {row: found.versions(number) for number, row in enumerate(zip(*columns, strict=True))}


# Who decides was asked, and places come by document, unless a test is about that.
ASKED = """() => {
    localStorage.setItem("beyondchance name", "");
    localStorage.setItem("beyondchance order", "document");
}"""


def saved(page, act=None):
    """The file of decisions that the page saves."""
    with page.expect_download() as download:
        if act is None:
            page.get_by_role("button", name="Save decisions").click()
        else:
            act()
    assert re.fullmatch(r"decisions(-\w+)+\.json", download.value.suggested_filename)
    return json.loads(download.value.path().read_text("utf-8"))


def count(page):
    """How many places are decided, and how many there are."""
    number, most = page.locator(".decide-head progress").evaluate("(e) => [e.value, e.max]")
    assert_tells(page.text_content(".decide-count"), f"{int(number)} … {int(most)}")
    return number, most


def said(page):
    """What the page tells of what was done last."""
    return page.text_content(".decide-said")


def press(page, keys):
    """Press keys, separated by spaces."""
    for key in keys.split():
        page.keyboard.press(key)


def show_all(page):
    """Show decided places too, and leave the field."""
    page.get_by_label("Show").select_option("all")
    page.locator("h1").click()


def name_oneself(page, name):
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Your name").blur()
    page.locator("h1").click()


def load(page, path, button="Load"):
    """Load a file, and return what the page tells of it."""
    page.locator(".decide-said").evaluate("(e) => e.replaceChildren()")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button, exact=True).click()
    chooser.value.set_files(path)
    page.locator(".decide-said:not(:empty)").wait_for()
    return said(page)


def key_of(decision):
    return tuple(decision[name] for name in ("document", "text", "start", "end"))


def spans_of(decision):
    return sorted(map(tuple, decision["spans"]))


def spans_within(corpus, key):
    """The spans of the consensus within a place."""
    document, text, start, end = key
    first = corpus.text_document.tolist().index(corpus.documents.index(document))
    who = corpus.annotators.index("consensus")
    return sorted(
        tuple(corpus.span(i))
        for i in range(len(corpus.span_text))
        if corpus.span_text[i] == first + text
        and corpus.span_annotator[i] == who
        and start <= corpus.span_start[i] < corpus.span_end[i] <= end
    )


@pytest.fixture
def begin(open_page):
    """Open a page and begin to decide: ``begin(file)``, or ``begin(corpus)`` for a small one."""

    def begin(what, **options):
        if isinstance(what, bc.Corpus):
            what = page_of(bc.disagreements(what))
        page = open_page(what, **options)
        page.evaluate(ASKED)
        page.reload()
        page.keyboard.press("d")
        return page

    return begin


@pytest.fixture(scope="session")
def example_view(tmp_path_factory):
    """The documents of the example, as a file."""
    path = tmp_path_factory.mktemp("example-view") / "view.html"
    path.write_text(page_of(bc.disagreements(bc.example())), "utf-8")
    return path


def neighbours():
    """Two places next to each other, and a span that both have.

    x  PP..QQ..RR.
    y  .P..Q...RR.
    """
    spans = {
        "x": [[(0, 2, "P"), (4, 6, "Q"), (8, 10, "R")]],
        "y": [[(1, 2, "P"), (4, 5, "Q"), (8, 10, "R")]],
    }
    words = ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj", "kk"]
    return bc.Corpus.from_spans(spans, tokens=[words])


class TestKeyboard:
    def test_a_whole_adjudication(self, begin):
        """Every place of the example: versions, consensus, nothing, an edit; then a reload."""
        corpus = bc.example()
        corpus = corpus.select(documents=corpus.documents[::2])
        known = places(corpus)
        page = begin(corpus)
        assert count(page) == (0, len(known))
        keys = ["1", "Enter", "0", "2"]
        for number in range(len(known) // 2):
            page.keyboard.press(keys[number % 4])
            if page.locator(".decide-versions p").count():  # a tie, which Enter leaves undecided
                page.keyboard.press("1")
        half = count(page)[0]
        assert half >= len(known) // 2 - 3  # some places have no second version
        page.reload()
        assert count(page) == (half, len(known))
        told = ""
        for number in range(int(half), len(known)):
            told = said(page)
            page.keyboard.press("1" if page.locator(".decide-versions p").count() else "Enter")
            assert count(page)[0] == number + 1
        assert said(page) not in ("", told)  # that every place is decided
        page.keyboard.press("u")
        assert count(page) == (len(known) - 1, len(known))
        press(page, "j e s")
        assert count(page) == (len(known), len(known))
        for _ in range(40):  # to the button, by keys alone
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "Save decisions":
                break
        content = saved(page, lambda: page.keyboard.press("Enter"))
        assert {key_of(decision) for decision in content["decisions"]} == set(known)
        consensus = bc.consensus(corpus).corpus
        for decision in content["decisions"]:
            key, spans = key_of(decision), spans_of(decision)
            versions = {tuple(map(tuple, v)) for v in known[key].values() if v is not None}
            assert decision["choice"] in {"version", "consensus", "nothing", "edited"}
            if decision["choice"] == "version":
                assert tuple(spans) in versions
                for name in decision["of"]:
                    assert tuple(map(tuple, known[key][name])) == tuple(spans)
            elif decision["choice"] == "nothing":
                assert spans == []
            else:
                assert spans == spans_within(consensus, key)
        gold = bc.adjudicated(corpus, content, rest="refuse")
        assert gold.n_decided == gold.n_places == len(known)

    def test_enter_does_not_decide_a_tie(self, begin):
        """Three labels of one place; at the other, two of three agree."""
        spans = {
            "x": [[(0, 2, "A"), (4, 6, "A")]],
            "y": [[(0, 2, "B"), (4, 6, "A")]],
            "z": [[(0, 2, "C")]],
        }
        page = begin(bc.Corpus.from_spans(spans, tokens=[list("abcdefgh")]))
        page.keyboard.press("Enter")
        assert count(page) == (0, 2)
        assert_tells(said(page), "tie")
        assert page.locator(".decide-versions kbd", has_text="Enter").count() == 0
        press(page, "j Enter")
        assert count(page) == (1, 2)
        assert saved(page)["decisions"][0]["spans"] == [[4, 6, "A"]]

    def test_a_note_and_a_name(self, begin, example_view, tmp_path):
        """Both are saved, are read by Python, and come back into a fresh page."""
        note = "as in the guideline, 1 e d u"
        page = begin(example_view)
        page.keyboard.press("1")
        name_oneself(page, "mia")  # also of what was decided before
        show_all(page)
        press(page, "1 k m")
        page.keyboard.type(note)
        page.keyboard.press("Tab")
        content = saved(page)
        assert sorted(decision["note"] for decision in content["decisions"]) == ["", note]
        assert [decision.by for decision in decisions_in(content, bc.example())] == ["mia"] * 2
        page.reload()
        assert page.get_by_label("Your name").input_value() == "mia"
        path = tmp_path / "decisions.json"
        path.write_text(json.dumps(content), "utf-8")
        fresh = begin(example_view)
        assert count(fresh)[0] == 0
        assert_tells(load(fresh, path), "2")
        assert count(fresh)[0] == 2
        assert saved(fresh)["decisions"] == content["decisions"]

    def test_other_edges_and_another_label(self, begin, example_view):
        page = begin(example_view)
        page.keyboard.press("e")
        words = page.locator(".decide-words")
        pressed = words.locator("[aria-pressed=true]")
        assert pressed.text_content() == "The"
        press(page, "ArrowRight Shift+ArrowRight")
        assert pressed.all_text_contents() == ["retired", "teacher"]
        page.locator("#decide-label").select_option(label="EVENT")
        page.locator(".decide-words [tabindex='0']").focus()
        page.keyboard.press("a")
        assert page.locator(".decide-chips li").count() == 1
        page.keyboard.press("s")
        (decision,) = saved(page)["decisions"]
        assert decision["spans"] == [[1, 3, "EVENT"]]
        assert (decision["choice"], decision["words"]) == (
            "edited",
            "The retired teacher Marta Lindqvist",
        )
        # It is shown when one comes back, and can be undone.
        show_all(page)
        page.keyboard.press("k")
        assert "EVENT “retired teacher”" in page.text_content(".decide-versions")
        page.keyboard.press("u")
        assert count(page)[0] == 0

    def test_edges_beyond_a_place_take_in_what_they_reach(self, begin):
        spans = {"a": [[(0, 2, "P"), (4, 6, "P")]], "b": [[(1, 2, "P"), (4, 5, "P")]]}
        tokens = [["one", "two", "three", "four", "five", "six", "seven"]]
        corpus = bc.Corpus.from_spans(spans, tokens=tokens)
        page = begin(corpus)
        press(page, "e Shift+ArrowRight Shift+ArrowRight Shift+ArrowRight Shift+ArrowRight a s")
        (decision,) = saved(page)["decisions"]
        assert (decision["start"], decision["end"], decision["spans"]) == (0, 6, [[0, 5, "P"]])
        assert count(page) == (2, 2)
        gold = bc.adjudicated(corpus, saved(page), rest="refuse")
        assert [tuple(span) for span in gold.spans("0", "gold")] == [(0, 5, "P")]

    def test_what_an_edit_reaches_keeps_its_spans_and_decisions(self, begin):
        corpus = neighbours()
        page = begin(corpus)
        press(page, "1 1")
        show_all(page)
        press(page, "k e")
        for _ in range(2):  # aa bb cc, next to the second place
            page.keyboard.press("Shift+ArrowRight")
        press(page, "a s")
        first, second = saved(page)["decisions"]
        assert (first["start"], first["end"], first["spans"]) == (0, 3, [[0, 3, "P"]])
        assert second["spans"] == [[4, 6, "Q"]]
        press(page, "k k e")
        for _ in range(8):  # to the span that both have
            page.keyboard.press("Shift+ArrowRight")
        press(page, "a s")
        (decision,) = saved(page)["decisions"]
        assert (decision["start"], decision["end"]) == (0, 10)
        assert decision["spans"] == [[0, 9, "P"]]
        gold = bc.adjudicated(corpus, saved(page), rest="refuse")
        assert [tuple(x) for x in gold.spans("0", "gold")] == [(0, 9, "P")]
        assert gold.notes == ()

    def test_a_neighbour_that_is_not_overlapped_stays(self, begin):
        spans = {"x": [[(0, 3, "P"), (5, 9, "Q")]], "y": [[(0, 2, "P"), (7, 9, "Q")]]}
        page = begin(bc.Corpus.from_spans(spans, tokens=[list("abcdefghij")]))
        press(page, "j 2")  # y's: from 7 on
        show_all(page)
        press(page, "k k e")
        for _ in range(5):
            page.keyboard.press("Shift+ArrowRight")
        press(page, "a s")
        assert_tells(said(page), "1 … stay")
        (decision,) = saved(page)["decisions"]
        assert decision["spans"] == [[0, 6, "P"], [7, 9, "Q"]]

    def test_keys_wait_while_something_is_edited(self, begin):
        page = begin(neighbours())
        page.keyboard.press("e")
        for key in "jk1d":
            page.locator(".decide-said").evaluate("(e) => e.replaceChildren()")
            page.keyboard.press(key)
            assert said(page)  # why nothing happens
        assert page.locator(".decide-edit").is_visible()
        assert count(page)[0] == 0

    def test_a_label_that_only_the_file_has_stays(self, begin, tmp_path):
        corpus = neighbours()
        page = begin(corpus)
        made = {"document": "0", "text": 0, "start": 0, "end": 2, "spans": [[0, 2, "NEW"]]}
        path = tmp_path / "file.json"
        path.write_text(json.dumps(file_of(corpus, [made])), "utf-8")
        load(page, path)
        show_all(page)
        press(page, "k e s")
        assert saved(page)["decisions"][0]["spans"] == [[0, 2, "NEW"]]
        press(page, "u u u")  # the edit, then all that was loaded at once
        assert saved(page)["decisions"] == []

    def test_spans_are_nested_where_annotators_do(self, begin):
        spans = {"x": [[(0, 4, "P"), (1, 2, "Q")]], "y": [[(0, 4, "P")]]}
        page = begin(bc.Corpus.from_spans(spans, tokens=[list("abcdef")]))
        page.keyboard.press("2")
        show_all(page)
        press(page, "k e ArrowRight")
        page.locator("#decide-label").select_option(label="Q")
        page.locator(".decide-words [tabindex='0']").focus()
        press(page, "a s")
        assert saved(page)["decisions"][0]["spans"] == [[0, 4, "P"], [1, 2, "Q"]]

    def test_versions_that_most_have_come_first(self, begin):
        spans = {"a": [[(0, 3, "P")]], "b": [[(0, 2, "P")]], "c": [[(0, 2, "P")]]}
        page = begin(bc.Corpus.from_spans(spans, tokens=[list("abcdef")]))
        page.keyboard.press("1")
        assert saved(page)["decisions"][0]["spans"] == [[0, 2, "P"]]

    def test_undo_and_back_go_to_what_was_decided(self, begin):
        page = begin(neighbours())
        page.keyboard.press("1")
        assert "Q" in page.text_content(".decide-versions")
        page.keyboard.press("k")
        assert "P “aa bb”" in page.text_content(".decide-versions")
        press(page, "j u")
        assert "P “aa bb”" in page.text_content(".decide-versions")

    def test_filters_choose_the_places(self, begin, example_view):
        page = begin(example_view)
        page.get_by_label("Label", exact=True).first.select_option(label="EVENT")
        page.locator("h1").click()
        seen = set()
        for _ in range(5):
            page.keyboard.press("j")
            seen.add(page.text_content(".decide-versions"))
        assert all("EVENT" in text for text in seen)
        assert len(seen) > 1


class TestTouch:
    def test_a_whole_adjudication(self, open_page):
        corpus = bc.example()
        corpus = corpus.select(documents=corpus.documents[:4])
        known = places(corpus)
        page = open_page(page_of(bc.disagreements(corpus)), **PHONE)
        page.evaluate(ASKED)
        page.reload()
        page.locator(".decide-toggle").tap()
        assert count(page) == (0, len(known))
        for number in range(len(known)):
            assert count(page)[0] == number
            if number == len(known) // 2:
                page.reload()
                assert count(page)[0] == number
            buttons = page.locator(".decide-versions button")
            buttons.nth(number % buttons.count()).tap()
        page.get_by_role("button", name="undo").tap()
        page.get_by_role("button", name="place \u203a").tap()
        page.get_by_role("button", name="e edit").tap()
        page.locator(".decide-words button[data-cell]").first.tap()
        page.locator(".decide-words button[data-cell]").nth(1).tap()
        page.get_by_role("button", name="Mark these words").tap()
        page.get_by_role("button", name="s Save").tap()
        assert count(page) == (len(known), len(known))
        page.get_by_text("Note, name and files").tap()
        content = saved(page, lambda: page.get_by_role("button", name="Save decisions").tap())
        gold = bc.adjudicated(corpus, content, rest="refuse")
        assert gold.n_decided == len(known)

    @pytest.mark.usefixtures("fonts")
    def test_buttons_are_large_enough(self, open_page, example_report):
        page = open_page(example_report, **PHONE)
        page.locator(".decide-toggle").tap()
        for edit in (False, True):
            if edit:
                page.get_by_role("button", name="e edit").tap()
            boxes = page.evaluate("""() => [...document.querySelectorAll(".decide button")]
                .filter((e) => e.offsetParent && !e.closest(".decide-chips"))
                .map((e) => e.getBoundingClientRect().height)""")
            assert len(boxes) > 5
            assert min(boxes) >= 40
            assert page.evaluate(FITS)


class TestMouse:
    def test_words_that_nobody_marked(self, open_page, example_view):
        """A stretch of plain text, from the middle of one word to that of another."""
        page = open_page(example_view)
        page.evaluate(ASKED)
        page.reload()
        page.locator(".decide-toggle").click()
        page.evaluate(SELECT, "nday")
        pressed = page.locator(".decide-words [aria-pressed=true]")
        assert pressed.all_text_contents() == ["Monday"]
        page.locator("#decide-label").select_option(label="EVENT")
        page.get_by_role("button", name="Mark these words").click()
        page.get_by_role("button", name="s Save").click()
        content = saved(page)
        (decision,) = content["decisions"]
        assert (decision["words"], decision["spans"]) == ("Monday", [[12, 13, "EVENT"]])
        gold = bc.adjudicated(bc.example(), content)
        assert (12, 13, "EVENT") in [tuple(span) for span in gold.spans("issue-01", "gold")]


class TestKept:
    def key(self, corpus, **options):
        found = bc.disagreements(corpus)
        return json.loads(document_view(found, **options).payload)["decide"]["digest"]

    def test_decisions_belong_to_texts_whoever_annotated_them(self):
        corpus = bc.example()
        assert self.key(corpus) == self.key(corpus, top=3)
        assert self.key(corpus) == self.key(corpus.select(annotators=["ada", "ben"]))
        others = replace(corpus, texts=tuple(text.upper() for text in corpus.texts))
        assert self.key(corpus) != self.key(others)

    def test_two_tabs_see_what_the_other_decides(self, begin, example_view):
        page = begin(example_view)
        other = page.context.new_page()
        other.goto(page.url.partition("#")[0])
        other.keyboard.press("d")
        page.keyboard.press("1")
        expect(other.locator(".decide-head progress")).to_have_js_property("value", 1)
        press(other, "j 1")
        expect(page.locator(".decide-head progress")).to_have_js_property("value", 2)
        assert count(page) == count(other)

    def test_undoing_keeps_what_another_tab_decided(self, begin):
        """Two places of the same text, each decided in a tab of its own."""
        page = begin(neighbours())
        other = page.context.new_page()
        other.goto(page.url)
        other.keyboard.press("d")
        page.keyboard.press("1")
        expect(other.locator(".decide-head progress")).to_have_js_property("value", 1)
        press(other, "j 1")
        expect(page.locator(".decide-head progress")).to_have_js_property("value", 2)
        page.keyboard.press("u")
        assert stored(page) == {("0", 0, 4, 6): [(4, 6, "Q")]}

    def test_a_page_with_decisions_opens_at_its_top(self, begin, example_report):
        page = begin(example_report)
        page.keyboard.press("1")
        page.goto(page.url.partition("#")[0])
        page.reload()
        assert count(page)[0] == 1
        assert page.evaluate("scrollY") == 0
        Watch(page, bc.example()).assert_decides()


# What is lit and whether it is in sight; what the header and the panel show.
SHOWN = """() => {
    const marks = [...document.querySelectorAll(".reader-mark.is-lit")];
    const isSeen = (mark) => {
        const { left, top, width, height } = mark.getBoundingClientRect();
        return mark.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    };
    return {
        document: document.querySelector(".reader-main h3").textContent,
        lit: marks.map(({ span }) => [span.text, span.start, span.end]),
        isSeen: marks.some(isSeen),
        now: document.querySelector(".reader-now").textContent,
        versions: [...document.querySelectorAll(".decide-versions button")].map((button) => {
            const who = button.querySelector("small").textContent;
            return [button.lastChild.textContent.slice(0, -who.length || undefined), who];
        }),
    };
}"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def stored(page):
    """What the browser keeps: the spans of each place that is decided."""
    kept = page.evaluate("""() => Object.entries(localStorage)
        .filter(([key]) => key.startsWith("beyondchance decisions"))
        .map(([, text]) => JSON.parse(text))""")
    return {key_of(made): spans_of(made) for file in kept for made in file["decisions"]}


class Watch:
    """What a page with the places of a corpus shows, and what its keys decide."""

    def __init__(self, page, corpus, known=None):
        self.page = page
        self.corpus = corpus
        self.known = known or places(corpus)

    def people(self, key):
        """Who has which version of a place, in words, and the words of the place."""
        first = self.corpus.text_document.tolist().index(self.corpus.documents.index(key[0]))
        words = self.corpus.texts[first + key[1]].split(" ")
        people = {"nothing": []}
        for who, spans in self.known[key].items():
            told = [f"{label} “{' '.join(words[start:end])}”" for start, end, label in spans]
            people.setdefault("; ".join(told) or "nothing", []).append(who)
        return people, " ".join(words[key[2] : key[3]])

    def place(self):
        """The place that is lit, which header and panel show too, and whether it is in view."""
        self.page.evaluate(DRAWN)  # links are followed, and texts drawn, a little later
        shown = self.page.evaluate(SHOWN)
        assert shown["lit"]
        text, start, _ = shown["lit"][0]
        own = [key for key in self.known if key[:2] == (shown["document"], text)]
        key = next(key for key in own if key[2] <= start < key[3])
        assert {text for text, _, _ in shown["lit"]} == {key[1]}
        assert all(key[2] <= start < end <= key[3] for _, start, end in shown["lit"])
        people, words = self.people(key)
        listed = {text: who.removesuffix(" · consensus") for text, who in shown["versions"]}
        told = {text: who for text, who in listed.items() if who != "the consensus"}
        assert told == {text: ", ".join(who) for text, who in people.items()}
        assert_tells(shown["now"], words)
        return key, shown["isSeen"]

    def assert_decides(self, key=None):
        """Press 1: it decides the place that is lit, in view, in the header and in the panel.

        With a key it is the place of this key, in view at once. Otherwise a place may be out of
        view; it is shown first, and nothing is decided. What was decided is undone.
        """
        before = stored(self.page)
        here, is_seen = self.place()
        assert key in (None, here)
        assert is_seen or key is None
        if not is_seen:
            self.page.keyboard.press("1")
            assert stored(self.page) == before
            assert self.place() == (here, True)
        self.page.keyboard.press("1")
        after = stored(self.page)
        assert after == before | {here: after[here]}
        assert after[here] in [sorted(map(tuple, spans)) for spans in self.known[here].values()]
        self.page.keyboard.press("u")
        assert stored(self.page) == before
        assert self.place() == (here, True)
        return here

    def assert_goes(self, act, key=None):
        """An act leads from another place to one, or to the one of this key, and into view."""
        before, _ = self.place()
        act()
        here, is_seen = self.place()
        assert is_seen
        assert here != before
        return self.assert_decides(key)

    def leave_field(self):
        self.page.evaluate("document.activeElement.blur()")


class TestOnePlace:
    """Whatever leads to a place, header, highlight, panel and keys are about this one."""

    @pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
    def test_an_example_leads_to_the_place_that_is_decided(self, begin, example_report, options):
        corpus = bc.example()
        patterns = bc.diagnose(corpus).patterns[:5]
        case = [case for pattern in patterns for case in pattern.examples][-1]
        page = begin(example_report, **options)
        watch = Watch(page, corpus)
        link = page.locator(".findings a").last
        place = watch.assert_goes(link.click)
        span = case.own or case.theirs
        assert place[:2] == (case.document, case.text)
        assert place[2] <= span.start < span.end <= place[3]
        # The same link, from elsewhere in the document.
        watch.assert_goes(lambda: page.keyboard.press("k"))
        watch.assert_goes(link.click, place)

    def test_steps_lists_and_addresses(self, begin, example_report):
        corpus = bc.example()
        numbers = document_view(bc.disagreements(corpus)).numbers
        page = begin(example_report)
        watch = Watch(page, corpus)
        watch.assert_decides()

        def first(document):
            return next(key for key in watch.known if key[0] == document)

        for key in "jnkp":
            watch.assert_goes(lambda key=key: page.keyboard.press(key))
        for key in ("ArrowRight", "]", "ArrowLeft", "["):
            place = watch.assert_goes(lambda key=key: page.keyboard.press(key))
            assert place == first(place[0])
        for name in ("place \u203a", "\u2039 place", "document \u203a", "\u2039 document"):
            watch.assert_goes(page.get_by_role("button", name=name, exact=True).click)
        listed = page.locator(".reader-body .reader-list").get_by_role("button", name="issue-09")
        watch.assert_goes(listed.click, first("issue-09"))
        listed = page.locator("table[data-name=documents] a", has_text="issue-03")
        watch.assert_goes(listed.click, first("issue-03"))
        watch.assert_goes(page.locator("#figure-documents a").last.click)
        last = [key for key in watch.known if key[0] == "issue-06"][-1]
        ways = {"issue-04": first("issue-04"), "issue-06": last}
        for name, place in ways.items():
            at = "" if name == "issue-04" else f"-{place[1]}-{place[2]}-1"
            address = f"#document-{numbers[name]}{at}"
            watch.assert_goes(lambda to=address: page.evaluate(f"location.hash = '{to}'"), place)
        marks = page.locator(".reader-mark:not(.is-all, .is-lit)[aria-label]")
        place = watch.assert_goes(marks.first.click)
        page.locator(".reader-mark.is-all[aria-label]").first.click()
        assert_tells(said(page), "agree")
        assert watch.assert_decides() == place

    def test_reloads_and_other_tabs(self, begin, example_report):
        page = begin(example_report)
        watch = Watch(page, bc.example())
        press(page, "] j j 1")  # now it is not the first place that is undecided
        place, _ = watch.place()
        page.reload()
        assert watch.assert_decides() == place
        other = page.context.new_page()
        other.goto(page.url)
        assert Watch(other, watch.corpus, watch.known).place() == (place, True)
        press(other, "j 1")
        expect(page.locator(".decide-head progress")).to_have_js_property("value", 2)
        assert watch.assert_decides(place) == place
        page.keyboard.press("d")  # reading, from where one decided, and back
        assert page.locator(".is-lit").count()
        page.keyboard.press("d")
        assert watch.assert_decides(place) == place
        page.keyboard.press("d")
        page.locator(".findings a").last.click()
        page.evaluate(DRAWN)
        read = page.locator(".reader-cell.is-lit .reader-word").all_text_contents()
        page.keyboard.press("d")
        document, _, start, end = watch.assert_decides()
        assert document != place[0]
        assert len(read) == end - start

    def test_filters_and_what_they_leave_out(self, begin, example_report):
        page = begin(example_report)
        watch = Watch(page, bc.example())
        for act in (
            lambda: page.locator("#reader-who").select_option(label="ada and ben"),
            lambda: page.keyboard.press("j"),
            lambda: page.locator("#reader-label").select_option(label="EVENT"),
            lambda: page.keyboard.press("j"),
            lambda: page.locator("#reader-id").fill("issue-1"),
            lambda: page.locator("#reader-kind").select_option("boundary"),
            page.get_by_role("button", name="Clear filters").click,
            page.locator("[data-cell='0,-1']").click,
        ):
            act()
            watch.leave_field()
            watch.assert_decides()
        place, _ = watch.place()
        page.keyboard.press("1")
        other = page.locator(".reader-body .reader-list bdi").last.text_content()
        page.locator("#reader-id").fill(other)
        watch.leave_field()
        assert watch.place()[0][0] == other != place[0]
        page.keyboard.press("u")
        assert stored(page) == {}
        assert watch.assert_decides(place) == place
        page.locator("#reader-id").fill(other)
        watch.leave_field()
        watch.assert_goes(page.locator(".findings a").last.click)
        assert page.locator("#reader-id").input_value() == ""

    def test_files_and_words_that_are_selected(self, begin, example_view, tmp_path):
        page = begin(example_view)
        watch = Watch(page, bc.example())
        place = watch.assert_goes(lambda: page.keyboard.press("j"))
        path = tmp_path / "decisions.json"
        made = {"document": "issue-11", "text": 0, "start": 0, "end": 1, "spans": []}
        path.write_text(json.dumps(file_of(watch.corpus, [made])), "utf-8")
        for button in ("Load", "Compare with"):
            load(page, path, button)
            assert watch.assert_decides() == place
        press(page, "u")  # what was loaded
        assert stored(page) == {}
        page.evaluate(SELECT, "nday")
        assert page.locator(".is-lit").count() == 0
        assert_tells(page.text_content(".reader-now"), "Monday")
        page.keyboard.press("Escape")
        assert watch.assert_decides(place) == place
        page.evaluate(SELECT, "nday")
        page.locator(".reader-body .reader-list").get_by_role("button", name="issue-09").click()
        assert not page.locator(".decide-edit").is_visible()
        assert said(page)  # that the edit was not saved
        watch.assert_decides()

    def test_a_place_out_of_view_is_shown_before_it_is_decided(self, begin, example_report):
        page = begin(example_report)
        watch = Watch(page, bc.example())
        page.keyboard.press("j")
        place, _ = watch.place()
        for key in ("1", "0", "Enter", "e"):
            page.evaluate("scrollTo(0, 0)")
            assert watch.place() == (place, False)
            page.keyboard.press(key)
            assert stored(page) == {}
            assert watch.place() == (place, True)
        # A window in which there is no room for it.
        page.set_viewport_size({"width": 800, "height": 120})
        page.keyboard.press("1")
        assert stored(page).keys() == {place}

    def test_where_there_is_nothing_to_decide(self, begin):
        """Of three documents, annotators agree in the second."""
        spans = {
            "x": [[(0, 2, "P")], [(0, 1, "P")], [(3, 5, "P")]],
            "y": [[(0, 1, "P")], [(0, 1, "P")], [(3, 4, "P")]],
        }
        tokens = [list("abcdefgh")] * 3
        corpus = bc.Corpus.from_spans(spans, tokens=tokens, documents=["one", "two", "three"])
        page = begin(corpus)
        watch = Watch(page, corpus)

        def assert_nothing():
            assert page.locator(".is-lit, .decide-versions button").count() == 0
            assert_tells(page.inner_text(".decide-versions"), "no place")
            press(page, "1 0 Enter e m u")
            watch.leave_field()
            assert stored(page) == {}

        page.locator(".reader-body .reader-list").get_by_role("button", name="two").click()
        assert_nothing()
        page.keyboard.press("k")
        assert watch.place()[0][0] != "two"
        page.locator("#reader-id").fill("nowhere")
        watch.leave_field()
        assert_nothing()
        page.locator("#reader-id").fill("three")
        watch.leave_field()
        assert watch.assert_decides() == ("three", 0, 3, 5)


HEAD = '{"beyondchance": "decisions", "format": 1, "positions": "tokens", "unit": '
# Files that are no decisions about the example, and what the page tells of them.
REFUSED = (
    ("{", "JSON"),
    ("[]", "format 1"),
    ('{"beyondchance": "decisions", "format": 2}', "format 1"),
    (f'{HEAD}"document", "decisions": []}}', "document … sentence … tokens"),
    (f'{HEAD}"sentence", "decisions": [{{"document": 1}}]}}', "no decision"),
)
# Changes to a decision that make it none, or one about another text.
ODD = (
    ({"spans": [None]}, "no decision"),
    ({"spans": [{}]}, "no decision"),
    ({"spans": [[0, 1, ""]]}, "no decision"),
    ({"choice": "coin"}, "no decision"),
    ({"words": ["x"]}, "no decision"),
    ({"end": 0}, "no decision"),
    ({"text": 99, "words": "x"}, "another text of issue-01"),
    ({"end": 999}, "another text of issue-01"),
    ({"words": "<img src=x onerror=hack()>"}, "another text of issue-01"),
)


class TestOrder:
    def test_places_come_by_worth_or_by_document(self, open_page, example_view):
        """What the page says each is worth falls, and is what Python says of the same place."""
        corpus = bc.example()
        found = bc.disagreements(corpus).places
        known = dict(zip(all_places(corpus), found.worth.tolist(), strict=True))
        differing = {key: known[key] for key in places(corpus)}
        page = open_page(example_view)
        page.keyboard.press("d")
        watch = Watch(page, corpus)
        shown = []
        for number in range(len(differing)):
            key, is_seen = watch.place()
            told = page.text_content(".reader-now")
            assert_tells(
                told, f"Place {number + 1} of {len(differing)}, worth … of corrected agreement"
            )
            assert float(re.search("worth (.*?) ", told)[1]) == pytest.approx(
                known[key], abs=5.1e-5
            )
            assert is_seen
            shown.append(key)
            page.keyboard.press("j")
        assert sorted(shown) == sorted(differing)
        worths = [round(differing[key], 6) for key in shown]
        assert worths == sorted(worths, reverse=True)
        assert watch.place()[0] == shown[0]  # after the last come those that were passed by
        page.keyboard.press("j")
        page.keyboard.press("k")
        assert watch.place()[0] == shown[0]
        page.get_by_label("by", exact=True).select_option("document")
        page.locator("h1").click()
        assert watch.place()[0] == shown[0]
        listed = [*differing]  # in the order of the corpus
        page.keyboard.press("j")
        after = listed[listed.index(shown[0]) + 1]
        assert watch.place()[0] == after
        assert "worth" not in page.text_content(".reader-now")
        page.reload()
        page.keyboard.press("d")
        assert page.get_by_label("by", exact=True).input_value() == "document"

    def test_filters_and_decisions_leave_places_out(self, open_page, example_view):
        page = open_page(example_view)
        page.evaluate(ASKED.replace('"document"', '"worth"'))
        page.reload()
        page.get_by_label("Label", exact=True).first.select_option(label="EVENT")
        page.locator("h1").click()
        page.keyboard.press("d")
        n = int(re.search(r"of (\d+), worth", page.text_content(".reader-now"))[1])
        seen = []
        for _ in range(n):
            seen.append(page.text_content(".reader-now"))
            assert "EVENT" in page.text_content(".decide-versions")
            page.keyboard.press("1")
        assert len(set(seen)) == n < len(places(bc.example()))
        assert_tells(said(page), "no more places")

    def test_without_worth_by_document_only(self, begin):
        """Chance of the whole corpus is not divided among texts, so that no place has a worth."""
        page = begin(replace(neighbours(), unit="corpus"))
        page.evaluate("localStorage.clear()")
        press(page, "d d")
        assert page.get_by_label("by", exact=True).count() == 0
        assert_tells(page.text_content(".reader-now"), "Place 1 of 2: ")


class TestName:
    def test_it_is_asked_for_once_before_the_first_decision(self, open_page):
        corpus = neighbours()
        page = open_page(page_of(bc.disagreements(corpus)))
        press(page, "d 1")
        assert count(page)[0] == 0
        assert_tells(said(page), "name … Enter")
        page.keyboard.type("Mia 1/2: Åse..\\")
        page.keyboard.press("Enter")
        assert count(page)[0] == 1  # the decision that was waiting
        page.keyboard.press("1")
        assert count(page)[0] == 2
        with page.expect_download() as download:
            page.get_by_role("button", name="Save decisions").click()
        assert download.value.suggested_filename == "decisions-Mia-1-2-Åse-Documents.json"
        content = json.loads(download.value.path().read_text("utf-8"))
        assert {made["by"] for made in content["decisions"]} == {"Mia 1/2: Åse..\\"}
        page.reload()
        show_all(page)
        press(page, "k 2")
        assert stored(page)["0", 0, 0, 2] in ([(1, 2, "P")], [(0, 2, "P")])
        assert "name" not in said(page)

    def test_nobody_needs_one(self, open_page):
        page = open_page(page_of(bc.disagreements(neighbours())), **PHONE)
        page.locator(".decide-toggle").tap()
        page.locator(".decide-versions button").first.tap()
        assert page.evaluate("document.activeElement.id") == "decide-by"
        page.keyboard.press("Enter")
        assert count(page)[0] == 1
        assert not page.locator("#decide-by").is_visible()  # folded again, as it was
        page.reload()
        page.locator(".decide-versions button").first.tap()
        assert count(page)[0] == 2

    def test_a_decision_does_not_wait_for_another_place(self, open_page):
        page = open_page(page_of(bc.disagreements(neighbours())))
        press(page, "d 1")
        page.get_by_role("button", name="place \u203a").click()
        page.get_by_label("Your name").fill("mia")
        page.get_by_label("Your name").press("Enter")
        assert count(page)[0] == 0


class TestTies:
    def test_two_against_two(self, begin):
        """Of the second place three of four have the same version."""
        spans = {
            "a": [[(0, 3, "P"), (4, 6, "P")]],
            "b": [[(0, 3, "P"), (4, 6, "P")]],
            "c": [[(1, 3, "P"), (4, 6, "P")]],
            "d": [[(1, 3, "P"), (4, 5, "P")]],
        }
        page = begin(bc.Corpus.from_spans(spans, tokens=[list("abcdefgh")]))
        versions = page.locator(".decide-versions")
        assert_tells(versions.text_content(), "tie, 2 against 2")
        assert "consensus" not in versions.text_content()
        assert versions.locator("[aria-pressed=true], kbd:text('Enter')").count() == 0
        page.keyboard.press("j")
        assert_tells(versions.text_content(), "consensus")
        assert "tie" not in versions.text_content()

    def test_one_of_two_against_nothing(self, begin):
        page = begin(bc.Corpus.from_spans({"a": [[(0, 2, "P")]], "b": [[]]}, lengths=[5]))
        assert_tells(page.text_content(".decide-versions"), "tie, 1 against 1")


# The spans in the lane of gold, and the words above them.
GOLD = """() => {
    const spans = new Map();
    for (const mark of document.querySelectorAll(".reader-text .reader-mark.gold")) {
        const word = mark.parentElement.querySelector(".reader-word").textContent;
        spans.set(mark.span, [...(spans.get(mark.span) || []), word]);
    }
    return [...spans].map(([span, words]) => [span.start, span.end, words.join(" ")]);
}"""


class TestGoldLane:
    def test_it_grows(self, begin):
        page = begin(neighbours())
        names = page.locator(".reader-names bdi")
        expect(names).to_have_text(["x", "y", "gold"])
        assert page.evaluate(GOLD) == []
        press(page, "1 2")
        assert page.evaluate(GOLD) == [[0, 2, "aa bb"], [4, 5, "ee"]]
        marks = page.locator(".reader-text .gold[aria-label]")
        assert_tells(marks.first.get_attribute("aria-label"), "gold: P, decided")
        tops = page.eval_on_selector_all(
            ".reader-text .reader-mark",
            "all => all.map((e) => [e.classList.contains('gold'), e.getBoundingClientRect().top])",
        )
        assert max(top for is_gold, top in tops if not is_gold) < min(t for is_, t in tops if is_)
        page.keyboard.press("u")
        assert page.evaluate(GOLD) == [[0, 2, "aa bb"]]
        marks.first.click()
        assert_tells(page.text_content(".reader-now"), "aa bb")
        page.keyboard.press("0")
        assert page.evaluate(GOLD) == []
        page.keyboard.press("d")
        expect(names).to_have_text(["x", "y"])

    def test_words_that_nobody_marked(self, begin):
        """Between two spans, and in the middle of a word of another text."""
        texts = ["alpha beta gamma delta", "one two\nthree four five"]
        spans = {"x": [[(0, 5, "P")], [(0, 3, "P")]], "y": [[(0, 10, "P")], [(0, 3, "P")]]}
        corpus = bc.Corpus.from_spans(spans, texts=texts, documents=["d", "d"], unit="sentence")
        page = begin(corpus)
        read = page.locator(".reader-text").evaluate("(e) => e.textContent.length")
        page.evaluate(SELECT, "delta")
        press(page, "a s")
        assert page.evaluate(GOLD) == [[17, 22, "delta"]]
        page.evaluate(SELECT, "four")
        press(page, "a s")
        assert page.evaluate(GOLD) == [[17, 22, "delta"], [14, 18, "four"]]
        press(page, "u u")
        assert page.evaluate(GOLD) == []
        assert page.locator(".reader-text").evaluate("(e) => e.textContent.length") == read

    def test_what_is_loaded_and_what_another_tab_decides(self, begin, tmp_path):
        page = begin(neighbours())
        other = page.context.new_page()
        other.goto(page.url)
        other.keyboard.press("d")
        press(other, "j 1")
        expect(page.locator(".reader-text .gold")).to_have_count(2)
        path = tmp_path / "file.json"
        made = {"document": "0", "text": 0, "start": 0, "end": 2, "spans": [[0, 1, "NEW"]]}
        path.write_text(json.dumps(file_of(neighbours(), [made])), "utf-8")
        load(page, path)
        assert page.evaluate(GOLD) == [[0, 1, "aa"], [4, 6, "ee ff"]]

    def test_a_long_text_is_drawn_anew_where_it_changes(self, begin):
        n = 3000
        ends = {"x": 2, "y": 1}
        spans = {who: [[(i, i + e, "P") for i in range(0, n, 10)]] for who, e in ends.items()}
        corpus = bc.Corpus.from_spans(spans, tokens=[[f"w{i}" for i in range(n)]])
        page = begin(corpus)
        page.evaluate("document.querySelectorAll('.reader-chunk')[3].dataset.seen = 'yes'")
        press(page, "1 1")
        assert page.evaluate(GOLD) == [[0, 2, "w0 w1"], [10, 12, "w10 w11"]]
        before = page.evaluate("[...document.querySelectorAll('.reader-chunk')].length")
        assert page.locator("[data-seen]").count() == 1
        assert before == n / 250


def gold_of(page):
    """The table of the gold standard that the page saves, and what it tells of it."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save gold as CSV").click()
    page.locator(".decide-said:not(:empty)").wait_for()
    return download.value, said(page)


def assert_same_gold(table, corpus, content):
    """What is read from a table is what Python makes of the decisions."""
    read = bc.read(table)
    gold = bc.adjudicated(corpus, content)
    assert read.annotators == ("gold",)
    assert marks(read, "gold") == marks(gold, "gold")
    assert read.documents == gold.documents
    assert read.positions == gold.positions
    assert read.text_length.tolist() == gold.text_length.tolist()
    return gold


def random_team(seed):
    """Four people of whom some see each document, who nest spans in texts with odd characters."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    words = ["Ada", "met", "😀x", 'say,"so"', "naïve", "=Ω", "the", "end"]
    rows = []
    for document in range(12):
        text = " ".join(draw.choice(words) for _ in range(draw.randint(4, 14)))
        text = text.replace(" the ", "\n the  ")
        starts = [0] + [i + 1 for i, c in enumerate(text) if c.isspace() and text[i + 1] > " "]
        ends = [i for i, c in enumerate(text) if c.isspace() and text[i - 1] > " "] + [len(text)]
        for who in draw.sample(["ada", "ben", "cleo", "=dan"], draw.randint(2, 4)):
            own = {None}
            for _ in range(draw.randint(0, 4)):
                first = draw.randrange(len(starts))
                last = draw.randrange(first, min(first + 3, len(ends)))
                own.add((starts[first], ends[last], draw.choice(["P", 'L,"Q"'])))
            marked = own if own == {None} else own - {None}
            rows += [(f"d{document}", who, *(span or ("", "", "")), text) for span in marked]
    return rows


def as_table(rows, path):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["document", "annotator", "start", "end", "label", "text"])
        writer.writerows(rows)
    return path


class TestGold:
    """The table of the gold standard has what Python makes of the decisions."""

    @pytest.mark.parametrize(
        ("seed", "options"),
        [(1, {}), (2, {"texts": False}), (3, {"positions": "characters"}), (4, {})],
    )
    def test_gold_is_what_was_decided(self, begin, tmp_path, seed, options):
        """Some places by all ways to decide, ties all of them, the rest by consensus."""
        shown = {name: value for name, value in options.items() if name == "texts"}
        reading = {} if shown else options
        path = as_table(random_team(seed), tmp_path / "team.csv")
        corpus = bc.read(path, empty="missing", **reading)
        page = begin(page_of(bc.disagreements(corpus), **shown))
        draw = random.Random(seed)  # noqa: S311
        show_all(page)
        n = len(places(corpus))
        while "no more places" not in said(page):
            is_tie = "A tie" in page.text_content(".decide-versions")
            page.keyboard.press("1" if is_tie else draw.choice(["j", "j", "2", "0", "Enter", "1"]))
        content = saved(page)
        download, told = gold_of(page)
        assert_same_gold(named(download, tmp_path), corpus, content)
        gold = bc.adjudicated(corpus, content)
        left = gold.n_places - gold.n_decided
        assert 0 < left < n
        assert_tells(told, f"{left} of {n} places are not decided … consensus … {gold.n_ties} tie")

    def test_sentences_of_the_example(self, begin, example_view, tmp_path):
        """Of tokens that a file has, with a decision about a part of a place and some words."""
        corpus = bc.example()
        page = begin(example_view)
        made = [
            {"document": "issue-01", "text": 0, "start": 4, "end": 6, "spans": [[4, 6, "NEW"]]},
            {"document": "issue-02", "text": 0, "start": 0, "end": 1, "spans": [[0, 1, "PERSON"]]},
        ]
        path = tmp_path / "decisions.json"
        path.write_text(json.dumps(file_of(corpus, made)), "utf-8")
        load(page, path)
        show_all(page)
        while "no more places" not in said(page):
            page.keyboard.press("1" if "A tie" in page.text_content(".decide-versions") else "j")
        content = saved(page)
        download, told = gold_of(page)
        table = named(download, tmp_path)
        assert table.name == "gold-Documents.csv"
        gold = assert_same_gold(table, corpus, content)
        assert bc.read(table).unit == "sentence"
        assert_tells(told, f"of {gold.n_places} places are not decided … {gold.n_ties} ties")

    def test_what_a_page_cannot_write_truly(self, begin):
        corpus = bc.example()
        page = begin(page_of(bc.disagreements(corpus), top=2))
        page.get_by_role("button", name="Save gold as CSV").click()
        assert_tells(said(page), "10 annotated documents … not on this page … adjudicate")
        # Two people cannot outvote each other: all is tied.
        page = begin(neighbours())
        page.get_by_role("button", name="Save gold as CSV").click()
        assert_tells(said(page), "2 of 3 spans … ties")
        press(page, "1 1")
        assert_tells(gold_of(page)[1], "3 spans.")

    def test_what_to_do_next_is_a_command_that_works(self, open_page, tmp_path, monkeypatch):
        """From files to the report, its decisions, and gold by the command that it names."""
        source = as_table(random_team(5), tmp_path / "my team's.csv")
        monkeypatch.chdir(tmp_path)
        assert main(["report", source.name, "--quiet", "-o", "report.html"]) == 0
        page = open_page(tmp_path / "report.html", at="#decide")
        page.evaluate(ASKED.replace('"document"', '"worth"'))
        page.reload()
        page.keyboard.press("d")
        while "Every place" not in said(page):
            page.keyboard.press("1")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save decisions").click()
        path = named(download.value, tmp_path)
        assert path.name == "decisions-my-team-s.json"
        command = shlex.split(page.text_content(".decide-said code"))
        assert command[:3] == ["beyondchance", "adjudicate", "my team's.csv"]
        assert main([*command[1:], "--quiet"]) == 0
        saved_gold = bc.read(tmp_path / command[-1])
        table = named(gold_of(page)[0], tmp_path)
        assert marks(bc.read(table), "gold") == marks(saved_gold, "gold")
        # A program that shows the page has its own sentence.
        page.evaluate("document.documentElement.dataset.next = 'Press the button Gold.'")
        page.get_by_role("button", name="Save decisions").click()
        expect(page.locator(".decide-said")).to_contain_text("Press the button Gold.")
        assert page.locator(".decide-said code").count() == 0


def named(download, folder):
    """What was downloaded, under the name that the page gives it."""
    path = folder / download.suggested_filename
    download.save_as(path)
    return path


class TestAddress:
    def test_a_link_opens_deciding(self, open_page):
        """On opening the page, and later, however often it is clicked."""
        corpus = neighbours()
        html = page_of(bc.disagreements(corpus)).replace(
            "</h1>", "</h1><a href='#decide'>Decide 2 places</a>", 1
        )
        page = open_page(html, at="#decide")
        box = page.locator(".decide")
        expect(box).to_be_visible()
        assert page.locator(".is-lit").count()
        link = page.get_by_role("link", name="Decide 2 places")
        for _ in range(2):
            page.keyboard.press("d")
            expect(box).to_be_hidden()
            link.click()
            expect(box).to_be_visible()
            assert page.locator(".is-lit").count()
        link.click()  # while it is open
        expect(box).to_be_visible()


class TestFiles:
    def test_two_people_are_compared(self, begin, example_view, tmp_path):
        page = begin(example_view)
        name_oneself(page, "mia")
        press(page, "1 1 1 0")
        first = saved(page)
        path = tmp_path / "mia.json"
        path.write_text(json.dumps(first), "utf-8")
        page = begin(example_view)
        name_oneself(page, "tom")
        press(page, "1 0 1")
        second = saved(page)
        # Three places, of which two are decided in the same way.
        assert_tells(load(page, path, "Compare with"), "mia … 3 … 2 … 67 … 1 differently")
        page.get_by_label("Show").select_option("differ")
        page.locator("h1").click()
        press(page, "k k")
        assert "mia: " in page.text_content(".decide-versions")
        with refused(bc.DataError, "1 … 'mia'"):
            bc.adjudicated(bc.example(), [first, second])

    def test_other_files_are_refused(self, begin, example_view, tmp_path):
        page = begin(example_view)
        path = tmp_path / "file.json"
        good = {"document": "issue-01", "text": 0, "start": 0, "end": 1, "spans": []}
        odd = ((file_of(bc.example(), [good | change]), word) for change, word in ODD)
        for content, told in (*REFUSED, *((json.dumps(each), word) for each, word in odd)):
            path.write_text(content, "utf-8")
            assert_tells(load(page, path), told)
            assert count(page)[0] == 0
        assert page.locator("#reader img").count() == 0
        path.write_text(json.dumps(file_of(bc.example(), [good])), "utf-8")
        load(page, path)
        assert saved(page)["decisions"][0]["document"] == "issue-01"

    def test_decisions_that_contradict_each_other_are_refused(self, begin, example_view, tmp_path):
        page = begin(example_view)
        path = tmp_path / "file.json"
        good = {"document": "issue-01", "text": 0, "start": 0, "end": 3, "spans": []}
        away = good | {"document": "nowhere"}
        for first in (good, away):
            for change in ({"spans": [[0, 1, "PERSON"]]}, {"start": 2, "end": 4}):
                path.write_text(json.dumps(file_of(bc.example(), [first, first | change])), "utf-8")
                for button in ("Load", "Compare with"):
                    told = load(page, path, button)
                    assert_tells(told, f"{first['document']} … twice … differently … text 0")
                assert count(page)[0] == 0
        # The same decision twice is none, nor is one about the words that follow.
        next_one = good | {"start": 3, "end": 4}
        path.write_text(json.dumps(file_of(bc.example(), [good, next_one, good])), "utf-8")
        assert_tells(load(page, path), "Loaded 3")

    def test_decisions_about_other_documents_stay_in_the_file(self, begin, tmp_path):
        corpus = bc.example()
        page = begin(page_of(bc.disagreements(corpus), top=2))
        shown = count(page)[1]
        assert shown < len(places(corpus))
        decision = {"document": "issue-05", "text": 0, "start": 0, "end": 1, "spans": []}
        path = tmp_path / "file.json"
        path.write_text(json.dumps(file_of(corpus, [decision])), "utf-8")
        assert_tells(load(page, path), "1 … not on this page")
        page.locator("h1").click()
        page.keyboard.press("1")
        assert len(saved(page)["decisions"]) == 2


class TestEverywhere:
    @pytest.mark.parametrize("who", [("ada", "ben"), ("ada", "ben", "cleo")])
    def test_it_fits_a_phone(self, begin, who):
        """With the longest messages: who decides, what comes next, what is left open."""
        corpus = bc.example().select(annotators=list(who))
        page = begin(page_of(bc.disagreements(corpus)), **PHONE)
        page.evaluate("localStorage.removeItem('beyondchance name')")
        page.reload()
        page.locator(".decide-toggle").tap()
        page.locator(".decide-versions button").first.tap()
        for button in (None, "Save decisions", "Save gold as CSV"):
            if button:
                page.locator(".decide details").evaluate("(e) => { e.open = true; }")
                page.get_by_role("button", name=button).tap()
                page.locator(".decide-said:not(:empty)").wait_for()
            else:
                field = page.locator("#decide-by")
                assert field.evaluate("(e) => e === document.activeElement")
                expect(field).to_be_in_viewport()
                expect(page.locator(".decide-said")).to_be_in_viewport()
                page.keyboard.type("a-name-that-is-rather-long-and-has-no-blank-in-it-at-all")
                page.keyboard.press("Enter")
            assert page.evaluate(FITS)
        assert page.locator(".decide-said").evaluate(
            "(e) => { const { top } = e.getBoundingClientRect();"
            " return top >= e.closest('.decide').getBoundingClientRect().top; }"
        )

    def test_accessible(self, begin, axe_findings, example_report):
        """Both states, in both themes, at both widths."""
        page = begin(example_report)
        page.evaluate("localStorage.removeItem('beyondchance name')")
        page.reload()
        press(page, "d 1")
        assert axe_findings(page, ".decide") == []  # which asks for a name
        press(page, "Enter")
        saved(page)
        page.locator(".decide-said code").wait_for()
        assert page.locator(".reader-text .gold").count()
        assert axe_findings(page, "#reader") == []
        page.emulate_media(color_scheme="dark")
        assert axe_findings(page, ".decide", ["color-contrast"]) == []
        page.locator("h1").click()
        page.keyboard.press("e")
        assert axe_findings(page, "#reader", ["color-contrast"]) == []
        page.set_viewport_size(PHONE["viewport"])
        assert axe_findings(page, ".decide") == []
        page.emulate_media(color_scheme="light")
        assert axe_findings(page, ".decide", ["color-contrast"]) == []

    def test_hostile_names_and_texts(self, begin, tmp_path):
        bad = "</script><script>window.hacked=1</script>"
        image = '"><img src=x onerror=window.hacked=1>'
        text = f"{bad} and {image} end"
        spans = {bad: [[(0, 9, image)]], image: [[(0, 12, bad), (46, 50, "x")]]}
        corpus = bc.Corpus.from_spans(spans, texts=[text], documents=[image])
        page = begin(corpus)
        page.evaluate("document.title = '../../' + String.fromCharCode(0x202e, 0) + 'x.exe'")
        name_oneself(page, image)
        press(page, "e a s 1")
        content = saved(page)
        table, _ = gold_of(page)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        # Neither a folder nor a mark of direction is in the name of a file.
        assert table.suggested_filename == "gold-img-src-x-onerror-window-hacked-1-x-exe.csv"
        gold = bc.adjudicated(corpus, content)
        assert gold.n_decided == 2
        read = bc.read(named(table, tmp_path))
        assert marks(read, "gold") == marks(gold, "gold") != {}
        assert read.documents == (image,)

    def test_emoji_are_one_position(self, begin):
        text = "😀😀 a🎈b Ω end"
        spans = {"ada": [[(1, 2, "E"), (3, 6, "X")]], "ben": [[(0, 2, "E"), (4, 5, "X")]]}
        corpus = bc.Corpus.from_spans(spans, texts=[text])
        page = begin(corpus)
        press(page, "1 1")
        content = saved(page)
        assert {decision["words"] for decision in content["decisions"]} == {"😀😀", "a🎈b"}
        bc.adjudicated(corpus, content, rest="refuse")

    def test_without_texts(self, begin):
        corpus = bc.example()
        page = begin(page_of(bc.disagreements(corpus), texts=False))
        press(page, "1 e a s")
        content = saved(page)
        assert all(decision["words"] is None for decision in content["decisions"])
        assert bc.adjudicated(corpus, content).n_decided == 2
