"""A whole adjudication in a browser: decided, interrupted, saved, loaded and written."""

import json
import re
from dataclasses import replace

import pytest

import beyondchance as bc
from beyondchance.adjudication.decisions import decisions_in
from beyondchance.page.documents import document_view
from deciding import file_of

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def html():
    """The report on the example."""
    return bc.report(bc.example(), resamples=99).html


def places(corpus):
    """The places where annotators differ, as (document, text, start, end)."""
    found = bc.disagreements(corpus).places
    found = found.only(kinds=["label", "boundary", "both", "missing"])
    columns = (
        [corpus.documents[i] for i in corpus.text_document[found.text].tolist()],
        corpus.number_in_document(found.text).tolist(),
        found.start.tolist(),
        found.end.tolist(),
    )
    return {row: found.versions(number) for number, row in enumerate(zip(*columns, strict=True))}


def saved(page, act=None):
    """The file of decisions that the page saves."""
    with page.expect_download() as download:
        if act is None:
            page.get_by_role("button", name="Save decisions").click()
        else:
            act()
    assert download.value.suggested_filename == "decisions.json"
    return json.loads(download.value.path().read_text("utf-8"))


def count(page):
    """How many places are decided, and how many there are."""
    found = re.match(r"([\d,]+) of ([\d,]+) places decided", page.text_content(".decide-count"))
    return tuple(int(number.replace(",", "")) for number in found.groups())


def load(page, path, button="Load"):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button, exact=True).click()
    chooser.value.set_files(path)


def key_of(decision):
    return tuple(decision[name] for name in ("document", "text", "start", "end"))


def spans_of(decision):
    return sorted(map(tuple, decision["spans"]))


class TestKeyboard:
    def test_a_whole_adjudication(self, open_page, html):
        """Every place of the example: versions, consensus, nothing, an edit; then a reload."""
        corpus = bc.example()
        known = places(corpus)
        page = open_page(html, accept_downloads=True)
        page.keyboard.press("d")
        assert count(page) == (0, len(known))
        keys = ["1", "Enter", "0", "2"]
        for number in range(len(known) // 2):
            page.keyboard.press(keys[number % 4])
        half = count(page)[0]
        assert half >= len(known) // 2 - 3  # some places have no second version
        page.reload()
        assert count(page) == (half, len(known))
        while count(page)[0] < len(known):
            before = count(page)[0]
            page.keyboard.press("Enter")
            assert count(page)[0] == before + 1
        assert "Every place on this page is decided" in page.text_content(".decide-said")
        page.keyboard.press("u")
        assert count(page) == (len(known) - 1, len(known))
        page.keyboard.press("j")
        page.keyboard.press("e")
        page.keyboard.press("s")
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
                here = np_spans(consensus, key)
                assert spans == here
        gold = bc.adjudicated(corpus, content, rest="refuse")
        assert gold.n_decided == gold.n_places == len(known)

    def test_loaded_into_a_fresh_page(self, open_page, html, tmp_path):
        page = open_page(html, accept_downloads=True)
        page.keyboard.press("d")
        for key in "1122":
            page.keyboard.press(key)
        content = saved(page)
        path = tmp_path / "decisions.json"
        path.write_text(json.dumps(content), "utf-8")
        fresh = open_page(html, accept_downloads=True)
        fresh.keyboard.press("d")
        assert count(fresh)[0] == 0
        load(fresh, path)
        fresh.locator(".decide-said:not(:empty)").wait_for()
        assert "Loaded" in fresh.text_content(".decide-said")
        assert count(fresh)[0] == len(content["decisions"])
        assert saved(fresh)["decisions"] == content["decisions"]

    def test_a_note_and_a_name(self, open_page, html):
        page = open_page(html, accept_downloads=True)
        page.keyboard.press("d")
        page.get_by_label("Your name").fill("mia")
        page.get_by_label("Your name").blur()
        page.locator("h1").click()
        page.get_by_label("Show").select_option("all")
        page.locator("h1").click()
        page.keyboard.press("1")
        page.keyboard.press("k")
        page.keyboard.press("m")
        page.keyboard.type("as in the guideline, 1 e d u")
        page.keyboard.press("Tab")
        (decision,) = saved(page)["decisions"]
        assert decision["note"] == "as in the guideline, 1 e d u"
        assert decision["by"] == "mia"
        page.reload()
        assert page.get_by_label("Your name").input_value() == "mia"

    def test_other_edges_and_another_label(self, open_page, html):
        page = open_page(html, accept_downloads=True)
        page.keyboard.press("d")
        page.keyboard.press("e")
        words = page.locator(".decide-words")
        pressed = words.locator("[aria-pressed=true]")
        assert pressed.text_content() == "The"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
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
        page.get_by_label("Show").select_option("all")
        page.locator("h1").click()
        page.keyboard.press("k")
        assert "Edited: EVENT “retired teacher”" in page.text_content(".decide-versions")
        page.keyboard.press("u")
        assert count(page)[0] == 0

    def test_edges_beyond_a_place_take_in_what_they_reach(self, open_page):
        spans = {"a": [[(0, 2, "P"), (4, 6, "P")]], "b": [[(1, 2, "P"), (4, 5, "P")]]}
        tokens = [["one", "two", "three", "four", "five", "six", "seven"]]
        corpus = bc.Corpus.from_spans(spans, tokens=tokens)
        page = open_page(bc.report(corpus, resamples=99).html, accept_downloads=True)
        page.keyboard.press("d")
        page.keyboard.press("e")
        for _ in range(4):
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("a")
        page.keyboard.press("s")
        (decision,) = saved(page)["decisions"]
        assert (decision["start"], decision["end"], decision["spans"]) == (0, 6, [[0, 5, "P"]])
        assert count(page) == (2, 2)
        gold = bc.adjudicated(corpus, saved(page), rest="refuse")
        assert [tuple(span) for span in gold.spans("0", "gold")] == [(0, 5, "P")]

    def corpus(self):
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

    def opened(self, open_page, corpus, **options):
        page = open_page(bc.report(corpus, resamples=99).html, accept_downloads=True, **options)
        page.keyboard.press("d")
        return page

    def test_what_an_edit_reaches_keeps_its_spans_and_decisions(self, open_page):
        corpus = self.corpus()
        page = self.opened(open_page, corpus)
        page.keyboard.press("1")
        page.keyboard.press("1")
        page.get_by_label("Show").select_option("all")
        page.locator("h1").click()
        page.keyboard.press("k")
        page.keyboard.press("e")
        for _ in range(2):  # aa bb cc, next to the second place
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("a")
        page.keyboard.press("s")
        first, second = saved(page)["decisions"]
        assert (first["start"], first["end"], first["spans"]) == (0, 3, [[0, 3, "P"]])
        assert second["spans"] == [[4, 6, "Q"]]
        page.keyboard.press("k")
        page.keyboard.press("k")
        page.keyboard.press("e")
        for _ in range(8):  # to the span that both have
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("a")
        page.keyboard.press("s")
        (decision,) = saved(page)["decisions"]
        assert (decision["start"], decision["end"]) == (0, 10)
        assert decision["spans"] == [[0, 9, "P"]]
        gold = bc.adjudicated(corpus, saved(page), rest="refuse")
        assert [tuple(x) for x in gold.spans("0", "gold")] == [(0, 9, "P")]
        assert gold.notes == ()

    def test_a_neighbour_that_is_not_overlapped_stays(self, open_page):
        spans = {"x": [[(0, 3, "P"), (5, 9, "Q")]], "y": [[(0, 2, "P"), (7, 9, "Q")]]}
        corpus = bc.Corpus.from_spans(spans, tokens=[list("abcdefghij")])
        page = self.opened(open_page, corpus)
        page.keyboard.press("j")
        page.keyboard.press("2")  # y's: from 7 on
        page.get_by_label("Show").select_option("all")
        page.locator("h1").click()
        page.keyboard.press("k")
        page.keyboard.press("k")
        page.keyboard.press("e")
        for _ in range(5):
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("a")
        page.keyboard.press("s")
        assert "takes in what it reaches: 1 span there stay" in page.text_content(".decide-said")
        (decision,) = saved(page)["decisions"]
        assert decision["spans"] == [[0, 6, "P"], [7, 9, "Q"]]

    def test_keys_wait_while_something_is_edited(self, open_page):
        page = self.opened(open_page, self.corpus())
        page.keyboard.press("e")
        for key in "jk1d":
            page.keyboard.press(key)
        assert "Save what you edit, or cancel it, first." in page.text_content(".decide-said")
        assert page.locator(".decide-edit").is_visible()
        assert count(page)[0] == 0

    def test_a_label_that_only_the_file_has_stays(self, open_page, tmp_path):
        corpus = self.corpus()
        page = self.opened(open_page, corpus)
        made = {"document": "0", "text": 0, "start": 0, "end": 2, "spans": [[0, 2, "NEW"]]}
        path = tmp_path / "file.json"
        path.write_text(json.dumps(file_of(corpus, [made])), "utf-8")
        load(page, path)
        page.locator(".decide-said:not(:empty)").wait_for()
        page.get_by_label("Show").select_option("all")
        page.locator("h1").click()
        page.keyboard.press("k")
        page.keyboard.press("e")
        page.keyboard.press("s")
        assert saved(page)["decisions"][0]["spans"] == [[0, 2, "NEW"]]
        for _ in range(3):  # the edit, then all that was loaded at once
            page.keyboard.press("u")
        assert saved(page)["decisions"] == []

    def test_spans_are_nested_where_annotators_do(self, open_page):
        spans = {"x": [[(0, 4, "P"), (1, 2, "Q")]], "y": [[(0, 4, "P")]]}
        corpus = bc.Corpus.from_spans(spans, tokens=[list("abcdef")])
        page = self.opened(open_page, corpus)
        page.keyboard.press("2")
        page.get_by_label("Show").select_option("all")
        page.locator("h1").click()
        page.keyboard.press("k")
        page.keyboard.press("e")
        page.keyboard.press("ArrowRight")
        page.locator("#decide-label").select_option(label="Q")
        page.locator(".decide-words [tabindex='0']").focus()
        page.keyboard.press("a")
        page.keyboard.press("s")
        assert saved(page)["decisions"][0]["spans"] == [[0, 4, "P"], [1, 2, "Q"]]

    def test_versions_that_most_have_come_first(self, open_page):
        spans = {"a": [[(0, 3, "P")]], "b": [[(0, 2, "P")]], "c": [[(0, 2, "P")]]}
        page = self.opened(open_page, bc.Corpus.from_spans(spans, tokens=[list("abcdef")]))
        page.keyboard.press("1")
        assert saved(page)["decisions"][0]["spans"] == [[0, 2, "P"]]

    def test_undo_and_back_go_to_what_was_decided(self, open_page):
        page = self.opened(open_page, self.corpus())
        page.keyboard.press("1")
        assert "Q" in page.text_content(".decide-versions")
        page.keyboard.press("k")
        assert "P “aa bb”" in page.text_content(".decide-versions")
        page.keyboard.press("j")
        page.keyboard.press("u")
        assert "P “aa bb”" in page.text_content(".decide-versions")

    def test_a_name_is_given_to_what_was_decided_before(self, open_page):
        page = self.opened(open_page, self.corpus())
        page.keyboard.press("1")
        page.get_by_label("Your name").fill("mia")
        page.get_by_label("Your name").blur()
        assert saved(page)["decisions"][0]["by"] == "mia"

    def test_filters_choose_the_places(self, open_page, html):
        page = open_page(html)
        page.keyboard.press("d")
        page.get_by_label("Label", exact=True).first.select_option(label="EVENT")
        page.locator("h1").click()
        seen = set()
        for _ in range(5):
            page.keyboard.press("j")
            seen.add(page.text_content(".decide-versions"))
        assert all("EVENT" in text for text in seen)
        assert len(seen) > 1


def np_spans(corpus, key):
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


class TestTouch:
    def test_a_whole_adjudication(self, open_page, html):
        corpus = bc.example()
        known = places(corpus)
        page = open_page(html, accept_downloads=True, **PHONE)
        page.locator(".decide-toggle").tap()
        assert count(page) == (0, len(known))
        number = 0
        while count(page)[0] < len(known):
            buttons = page.locator(".decide-versions button")
            buttons.nth(number % buttons.count()).tap()
            number += 1
            if number == len(known) // 2:
                page.reload()
                assert count(page)[0] == number
        page.get_by_role("button", name="undo").tap()
        page.get_by_role("button", name="place \u203a").tap()
        page.get_by_role("button", name="e edit").tap()
        page.locator(".decide-words button[data-cell]").first.tap()
        page.locator(".decide-words button[data-cell]").nth(1).tap()
        page.get_by_role("button", name="Mark these words").tap()
        page.get_by_role("button", name="s Save").tap()
        assert count(page) == (len(known), len(known))
        page.get_by_text("Note, name and files").tap()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save decisions").tap()
        content = json.loads(download.value.path().read_text("utf-8"))
        gold = bc.adjudicated(corpus, content, rest="refuse")
        assert gold.n_decided == len(known)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def test_buttons_are_large_enough(self, open_page, html):
        page = open_page(html, **PHONE)
        page.locator(".decide-toggle").tap()
        boxes = page.evaluate("""() => [...document.querySelectorAll(".decide button")]
            .filter((e) => e.offsetParent).map((e) => e.getBoundingClientRect().height)""")
        assert boxes
        assert min(boxes) >= 40


class TestMouse:
    def test_words_that_nobody_marked(self, open_page, html):
        """A stretch of plain text, from the middle of one word to that of another."""
        page = open_page(html, accept_downloads=True)
        page.locator(".decide-toggle").click()
        page.evaluate("""() => {
            const chunk = document.querySelector(".reader-chunk");
            const walker = document.createTreeWalker(chunk, NodeFilter.SHOW_TEXT);
            let node = null;
            while ((node = walker.nextNode()) && !node.data.includes("on Monday"));
            const range = document.createRange();
            range.setStart(node, node.data.indexOf("on Monday") + 5);
            range.setEnd(node, node.data.indexOf("on Monday") + 9);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
            chunk.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
        }""")
        pressed = page.locator(".decide-words [aria-pressed=true]")
        assert pressed.all_text_contents() == ["Monday"]
        page.locator("#decide-label").select_option(label="EVENT")
        page.get_by_role("button", name="Mark these words").click()
        page.get_by_role("button", name="s Save").click()
        (decision,) = saved(page)["decisions"]
        assert (decision["words"], decision["spans"]) == ("Monday", [[12, 13, "EVENT"]])
        gold = bc.adjudicated(bc.example(), saved(page))
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

    def test_two_tabs_see_what_the_other_decides(self, open_page, html):
        page = open_page(html, accept_downloads=True)
        page.keyboard.press("d")
        other = page.context.new_page()
        other.goto(page.url.partition("#")[0])
        other.keyboard.press("d")
        page.keyboard.press("1")
        other.wait_for_timeout(200)
        assert count(other)[0] == 1
        other.keyboard.press("j")
        other.keyboard.press("1")
        page.wait_for_timeout(200)
        assert count(page)[0] == 2

    def test_a_page_with_decisions_opens_at_its_top(self, open_page, html):
        page = open_page(html)
        page.keyboard.press("d")
        page.keyboard.press("1")
        page.goto(page.url.partition("#")[0])
        page.reload()
        assert count(page)[0] == 1
        assert page.evaluate("scrollY") == 0


class TestFiles:
    def decided(self, open_page, html, keys, name):
        page = open_page(html, accept_downloads=True)
        page.keyboard.press("d")
        page.get_by_label("Your name").fill(name)
        page.get_by_label("Your name").blur()
        page.locator("h1").click()
        for key in keys:
            page.keyboard.press(key)
        return page, saved(page)

    def test_two_people_are_compared(self, open_page, html, tmp_path):
        _, first = self.decided(open_page, html, ["1", "1", "1", "0"], "mia")
        path = tmp_path / "mia.json"
        path.write_text(json.dumps(first), "utf-8")
        page, second = self.decided(open_page, html, ["1", "0", "1"], "tom")
        load(page, path, "Compare with")
        page.locator(".decide-said:not(:empty)").wait_for()
        said = page.text_content(".decide-said")
        assert said.startswith(
            "You and mia both decided 3 places: 2 the same (67 %), 1 differently"
        )
        page.get_by_label("Show").select_option("differ")
        page.locator("h1").click()
        page.keyboard.press("k")
        page.keyboard.press("k")
        assert "mia: PERSON" in page.text_content(
            ".decide-versions"
        ) or "mia: " in page.text_content(".decide-versions")
        with pytest.raises(
            bc.DataError, match="1 place is decided differently, the first by 'mia'"
        ):
            bc.adjudicated(bc.example(), [first, second])

    @pytest.mark.parametrize(
        "change",
        [
            {"spans": [None]},
            {"spans": [{}]},
            {"spans": [[0, 1, ""]]},
            {"choice": "coin"},
            {"words": ["x"]},
            {"end": 0},
            {"text": 99, "words": "x"},
            {"end": 999},
        ],
    )
    def test_odd_decisions_are_refused(self, open_page, html, tmp_path, change):
        page = open_page(html)
        page.keyboard.press("d")
        good = {"document": "issue-01", "text": 0, "start": 0, "end": 1, "spans": []}
        path = tmp_path / "file.json"
        path.write_text(json.dumps(file_of(bc.example(), [good | change])), "utf-8")
        load(page, path)
        page.locator(".decide-said:not(:empty)").wait_for()
        assert re.search("no decision|another text", page.text_content(".decide-said"))
        assert count(page)[0] == 0

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "it is not JSON"),
            ("[]", "holds no decisions of format 1"),
            ('{"beyondchance": "decisions", "format": 2}', "holds no decisions of format 1"),
            (
                (
                    '{"beyondchance": "decisions", "format": 1, "unit": "document", '
                    '"positions": "tokens", "decisions": []}'
                ),
                "by document and tokens, the page is by sentence and tokens",
            ),
            (
                (
                    '{"beyondchance": "decisions", "format": 1, "unit": "sentence", '
                    '"positions": "tokens", "decisions": [{"document": 1}]}'
                ),
                "something that is no decision",
            ),
            (
                (
                    '{"beyondchance": "decisions", "format": 1, "unit": "sentence", '
                    '"positions": "tokens", "decisions": [{"document": "issue-01", "text": 0, '
                    '"start": 0, "end": 1, "spans": [], "words": "<img src=x onerror=hack()>"}]}'
                ),
                "about another text of issue-01",
            ),
        ],
    )
    def test_other_files_are_refused(self, open_page, html, tmp_path, content, message):
        page = open_page(html)
        page.keyboard.press("d")
        path = tmp_path / "file.json"
        path.write_text(content, "utf-8")
        load(page, path)
        page.locator(".decide-said:not(:empty)").wait_for()
        assert message in page.text_content(".decide-said")
        assert count(page)[0] == 0

    def test_decisions_about_other_documents_stay_in_the_file(self, open_page, tmp_path):
        corpus = bc.example()
        page = open_page(bc.report(corpus, resamples=99, top=2).html, accept_downloads=True)
        page.keyboard.press("d")
        shown = count(page)[1]
        assert shown < len(places(corpus))
        decision = {"document": "issue-05", "text": 0, "start": 0, "end": 1, "spans": []}
        content = {
            "beyondchance": "decisions", "format": 1, "unit": "sentence", "positions": "tokens",
            "decisions": [decision],
        }  # fmt: skip
        path = tmp_path / "file.json"
        path.write_text(json.dumps(content), "utf-8")
        load(page, path)
        page.locator(".decide-said:not(:empty)").wait_for()
        assert "1 decision about documents that are not on this page stay" in page.text_content(
            ".decide-said"
        )
        page.locator("h1").click()
        page.keyboard.press("1")
        assert len(saved(page)["decisions"]) == 2

    def test_what_the_page_saves_is_read(self, open_page, html):
        _, content = self.decided(open_page, html, ["1", "0"], "mia")
        first, second = decisions_in(content, bc.example())
        assert first.by == second.by == "mia"


class TestEverywhere:
    def test_a_ranking_has_nothing_to_decide(self, open_page):
        page = open_page(bc.report(bc.example().with_gold("ada"), resamples=99).html)
        assert page.locator(".decide").count() == 0
        page.keyboard.press("d")
        assert page.locator(".decide-toggle").count() == 0

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 390])
    def test_accessible(self, open_page, axe_findings, html, scheme, width):
        page = open_page(html, color_scheme=scheme, viewport={"width": width, "height": 844})
        page.keyboard.press("d")
        page.keyboard.press("1")
        assert axe_findings(page, "#reader") == []
        page.keyboard.press("e")
        assert axe_findings(page, "#reader") == []

    def test_hostile_names_and_texts(self, open_page):
        bad = "</script><script>window.hacked=1</script>"
        image = '"><img src=x onerror=window.hacked=1>'
        text = f"{bad} and {image} end"
        spans = {bad: [[(0, 9, image)]], image: [[(0, 12, bad), (46, 50, "x")]]}
        corpus = bc.Corpus.from_spans(spans, texts=[text], documents=[image])
        page = open_page(bc.report(corpus, resamples=99).html, accept_downloads=True)
        page.keyboard.press("d")
        page.keyboard.press("e")
        page.keyboard.press("a")
        page.keyboard.press("s")
        page.keyboard.press("1")
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        assert bc.adjudicated(corpus, saved(page)).n_decided == 2

    def test_emoji_are_one_position(self, open_page):
        text = "😀😀 a🎈b Ω end"
        spans = {"ada": [[(1, 2, "E"), (3, 6, "X")]], "ben": [[(0, 2, "E"), (4, 5, "X")]]}
        corpus = bc.Corpus.from_spans(spans, texts=[text])
        page = open_page(bc.report(corpus, resamples=99).html, accept_downloads=True)
        page.keyboard.press("d")
        page.keyboard.press("1")
        page.keyboard.press("1")
        content = saved(page)
        assert {decision["words"] for decision in content["decisions"]} == {"😀😀", "a🎈b"}
        bc.adjudicated(corpus, content, rest="refuse")

    def test_without_texts(self, open_page):
        corpus = bc.example()
        page = open_page(
            bc.report(corpus, resamples=99, show_texts=False).html, accept_downloads=True
        )
        page.keyboard.press("d")
        page.keyboard.press("1")
        page.keyboard.press("e")
        page.keyboard.press("a")
        page.keyboard.press("s")
        content = saved(page)
        assert all(decision["words"] is None for decision in content["decisions"])
        assert bc.adjudicated(corpus, content).n_decided == 2
