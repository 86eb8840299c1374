"""The page, without a browser: its numbers, its parts, and what it leaves out."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from string import ascii_letters

import numpy as np
import pytest

from beyondchance import (
    Corpus,
    FormatError,
    OptionError,
    agreement,
    compare_systems,
    example,
    rank,
    report,
)
from beyondchance.reporting.citations import bibtex
from beyondchance.reporting.methods import methods_of_agreement, methods_of_ranking

pytestmark = pytest.mark.slow

FEW = {"resamples": 99}


class Numbers(HTMLParser):
    """The values of all cells, by table, row and column."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.ids, self.table = {}, [], None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "table" and "data-name" in found:
            self.table = self.tables.setdefault(found["data-name"], [])
        elif tag == "tr" and self.table is not None:
            self.table.append([])
        elif tag in {"td", "th"} and self.table:
            self.table[-1].append(found.get("data-value"))


def embedded(page, name):
    found = re.search(
        rf'<script type="application/json" id="{name}">(.*?)</script>', page.html, re.DOTALL
    )
    return json.loads(found[1])


@pytest.fixture(scope="module")
def team():
    return report(agreement(example()), example(), **FEW)


@pytest.fixture(scope="module")
def drawn():
    """A team whose intervals are from resamples, of too few documents."""
    return report(agreement(example()), example(), method="bca", **FEW)


@pytest.fixture(scope="module")
def systems():
    corpus = example().with_gold("ada")
    return report(rank(corpus), corpus, **FEW)


def test_the_numbers_of_a_team(team):
    result = agreement(example())
    intervals = result.intervals(seed=0, **FEW)
    tables = Numbers(team.html).tables
    (_, *labels) = tables["labels"]
    for row, (label, score) in zip(labels, result.by_label.items(), strict=True):
        interval = intervals.by_label[label]["corrected"]
        assert row[1:] == [
            repr(score.corrected),
            f"{interval.low!r} to {interval.high!r}",
            str(score.n_spans),
            repr(score.observed),
            repr(score.chance),
        ]
    assert [row[1] for row in tables["pairs"][1:]] == [
        repr(score.corrected) for score in result.by_pair.values()
    ]
    assert f'data-value="{result.corrected!r}">0.718<' in team.html
    found = embedded(team, "result")
    assert found["corrected"] == result.corrected
    assert found["intervals"]["chance"] == [
        intervals.overall["chance"].low,
        intervals.overall["chance"].high,
    ]


def test_the_numbers_of_systems(systems):
    corpus = example().with_gold("ada")
    ranking = rank(corpus)
    standings = compare_systems(ranking, seed=0, **FEW)
    rows = Numbers(systems.html).tables["systems-token"][1:]
    assert [row[1] for row in rows] == [
        repr(ranking.systems[name].corrected) for name in standings.order
    ]
    best = standings.order[0]
    low = standings.intervals[best]["corrected"].low
    assert f'data-low="{low!r}"' in systems.html
    found = embedded(systems, "result")["systems"]
    assert {item["name"]: item["corrected"] for item in found} == {
        name: system.corrected for name, system in ranking.systems.items()
    }
    assert "agrees best with ada" in systems.html


@pytest.mark.parametrize("which", ["team", "systems"])
def test_every_id_is_there_once(which, request):
    page = request.getfixturevalue(which)
    ids = Numbers(page.html).ids
    assert sorted(ids) == sorted(set(ids))
    links = set(re.findall(r'href="#([^"]*)"', page.html))
    opened = {link for link in links if link.startswith("document-")}
    assert opened
    assert links - opened <= set(ids)


def test_nothing_comes_from_elsewhere(team):
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', team.html)
    assert "@import" not in team.html
    assert "url(" not in re.sub(r"url\(#", "", team.html)


def test_the_same_bytes(team):
    assert report(agreement(example()), example(), **FEW).html == team.html


def test_a_date_and_a_title():
    page = report(agreement(example()), example(), title="Round <2>", date="2024-05-06", **FEW)
    assert "<title>Round &lt;2&gt;</title>" in page.html
    assert '<p class="quiet">2024-05-06</p>' in page.html


def test_without_a_corpus():
    page = report(agreement(example()), **FEW)
    ids = Numbers(page.html).ids
    assert "labels" in ids
    assert "reader" not in ids
    assert 'href="#document-' not in page.html
    page = report(rank(example(), gold="ada"), **FEW)
    assert 'id="systems"' in page.html
    assert "Without the corpus" in page.html


def test_without_texts():
    corpus = example()
    letters = str.maketrans(dict.fromkeys(ascii_letters, "ж"))
    corpus = replace(corpus, texts=tuple(text.translate(letters) for text in corpus.texts))
    assert "жжж" in report(agreement(corpus), corpus, **FEW).html
    assert "ж" not in report(agreement(corpus), corpus, show_texts=False, **FEW).html


class TestUndefined:
    def test_nothing_marked(self):
        corpus = Corpus.from_spans({"a": [[]], "b": [[]]}, lengths=[5])
        page = report(agreement(corpus), corpus, **FEW)
        assert "The corrected score is undefined: nothing" in page.html
        assert "no interval: " in page.html

    def test_one_document(self):
        spans = {"a": [[(0, 1, "P")]], "b": [[(0, 2, "P")]]}
        corpus = Corpus.from_spans(spans, lengths=[5])
        page = report(agreement(corpus), corpus, **FEW)
        assert "no interval: " in page.html
        assert not re.search(
            r"\bnan\b", re.sub(r"<script.*?</script>", "", page.html, flags=re.DOTALL)
        )

    def test_chance_is_everything(self):
        spans = {"a": [[(0, 2, "P")]], "b": [[(0, 2, "P")]]}
        corpus = Corpus.from_spans(spans, lengths=[2])
        page = report(agreement(corpus), corpus, **FEW)
        assert "The corrected score is undefined: " in page.html


class TestForAPaper:
    @staticmethod
    def texts(page):
        found = re.findall(r'<pre id="copy-([\w-]+)">(.*?)</pre>', page.html, re.DOTALL)
        return {name: unescape(text) for name, text in found}

    @pytest.mark.parametrize("has_corpus", [True, False])
    def test_agreement(self, has_corpus):
        corpus = example() if has_corpus else None
        result = agreement(example())
        intervals = result.intervals(seed=0, **FEW)
        texts = self.texts(report(result, corpus, **FEW))
        paragraph = methods_of_agreement(result, intervals, corpus=corpus, digits=3)
        assert texts["methods"] == str(paragraph)
        assert texts["methods-latex"] == paragraph.written("latex")
        assert texts["table-latex"].count(r"\begin{table*}") == 1
        assert texts["bibtex"] == bibtex()

    @pytest.mark.parametrize("has_corpus", [True, False])
    def test_ranking(self, has_corpus):
        corpus = example() if has_corpus else None
        ranking = rank(example(), gold="ada")
        standings = compare_systems(ranking, seed=0, **FEW)
        texts = self.texts(report(ranking, corpus, **FEW))
        paragraph = methods_of_ranking(ranking, standings, corpus=corpus, digits=3)
        assert texts["methods"] == str(paragraph)
        assert texts["table-latex"].count(r"\begin{table*}") == 1
        assert "$0.792$ & $0.276$ & $0.713$" in texts["table-latex"]


def test_files(team, tmp_path):
    team.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text("utf-8") == team.html
    paths = team.save_figures(tmp_path / "figures", [".svg"])
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == sorted(path.name for path in paths)
    assert {"labels.svg", "pairs.svg", "documents.svg", "kinds.svg"} <= set(names)
    with pytest.raises(FormatError, match="its folder does not exist"):
        team.save(tmp_path / "nowhere" / "a.html")


def test_in_a_notebook(team):
    shown = team._repr_html_()
    assert shown.startswith("<iframe ")
    assert "<script" not in shown
    assert 'sandbox="allow-scripts' in shown


class TestTrueSentences:
    """What the page says of who was compared with whom, and of how much."""

    def test_all_against_one(self):
        corpus = example()
        page = report(agreement(corpus, gold="ada"), corpus, **FEW)
        assert "<title>ben and cleo against ada</title>" in page.html
        percent = round(100 * agreement(corpus, gold="ada").corrected)
        reach = f"ben and cleo reach {percent} % of the agreement with ada possible beyond chance"
        assert f'<p class="answer">{reach}; ' in page.html
        assert "Annotators, each against the gold standard" in page.html
        assert "pairs" not in Numbers(page.html).tables

    def test_the_gold_standard_has_no_habits(self, systems):
        rows = Numbers(systems.html).tables["annotators"][1:]
        together = agreement(example(), gold="ada")
        by_system = [together.by_annotator[name] for name in ("ben", "cleo")]
        assert [row[4] for row in rows] == [
            repr(score.size_a / score.size_b - 1) for score in by_system
        ]

    @pytest.mark.parametrize("measure", ["token", "exact", "dice"])
    def test_habits_are_of_positions(self, measure):
        corpus = example()
        page = report(agreement(corpus, measure=measure), corpus, **FEW)
        by_token = agreement(corpus).by_annotator
        assert [row[4] for row in Numbers(page.html).tables["annotators"][1:]] == [
            repr(score.size_a / score.size_b - 1) for score in by_token.values()
        ]

    def test_only_what_is_shown_is_linked(self):
        page = report(agreement(example()), example(), top=2, **FEW)
        assert len(set(re.findall(r'href="(#document-\d+)"', page.html))) == 2

    def test_texts_that_were_not_compared_have_no_difficulty_here(self):
        one, two = [(0, 1, "P")], [(1, 2, "P")]
        spans = {"a": [one, two, one], "b": [one, None, None]}
        corpus = Corpus.from_spans(spans, lengths=[4, 4, 4])
        page = report(agreement(corpus), corpus, **FEW)
        assert "Of 1 document in which something was marked, 0 have" in page.html

    def test_stars_are_explained(self, systems, drawn):
        assert re.search(r"to [\d.]+\*<", drawn.html)
        assert "* fewer than 30 effective documents" in drawn.html
        # By default too, of a label that very few documents have.
        assert "* fewer than 5 effective documents" in systems.html


@pytest.mark.parametrize("name", ["top", "digits"])
@pytest.mark.parametrize("value", [-1, "x", 2.5, None, True])
def test_wrong_numbers(name, value):
    message = f"{name} is {value!r}; expected a whole number from 0 on"
    with pytest.raises(OptionError, match=re.escape(message)):
        report(agreement(example()), example(), **{name: value})


def test_numbers_of_numpy():
    page = report(
        agreement(example()), example(), digits=np.int64(2), confidence=np.float32(0.75), **FEW
    )
    assert "75 %: " in page.html


class TestWords:
    """The page is for readers who have no command at hand."""

    @pytest.mark.parametrize("which", ["team", "systems", "drawn"])
    def test_no_options(self, which, request):
        page = request.getfixturevalue(which)
        shown = re.sub(r"<(script|style).*?</\1>", "", page.html, flags=re.DOTALL)
        assert not re.findall(r"(?<!-)--[a-z]", re.sub(r"<[^>]*>", " ", shown))
        assert ("the method 'expanded' allows for it" in unescape(shown)) == (which == "drawn")

    def test_notes(self):
        tags = {"a": [["B-P", "B-X"]] * 3, "b": [["B-P", "O"]] * 3, "c": [["B-P", "O"]] * 3}
        corpus = Corpus.from_tags(tags)
        shown = unescape(report(agreement(corpus), corpus, **FEW).html)
        assert "label 'X' is used by 'a' only" in shown
        assert "the option rename label merges it" in shown
        shown = report(agreement(corpus), corpus, show_texts=False, **FEW).html
        assert "label … is used by … only" in shown


@pytest.mark.parametrize(("names", "there"), [("all", True), (["kappa"], False), ([], False)])
def test_coefficients_by_name(names, there):
    page = report(agreement(example()), example(), coefficients=names, gamma={"samples": 30}, **FEW)
    assert (">gamma<" in page.html) == there
    assert ('id="coefficients"' in page.html) == bool(names)


class TestAnswer:
    """One sentence that says what the numbers mean."""

    TAGS = ([["B-P", "O", "O"], ["O", "B-P", "O"]] * 4, [["O", "B-P", "O"], ["B-P", "O", "O"]] * 4)

    @staticmethod
    def answer(page):
        return unescape(re.search(r'<p class="answer">(.*?)</p>', page.html)[1])

    def test_some(self, team):
        assert self.answer(team) == (
            "ada, ben and cleo reach 72 % of the agreement possible beyond chance; correction "
            "matters here: it lowers the score by 0.070."
        )

    @pytest.mark.parametrize(("other", "said"), [(0, "completely"), (1, "less than by chance")])
    def test_all_and_nothing(self, other, said):
        corpus = Corpus.from_tags({"a": self.TAGS[0], "b": self.TAGS[other]})
        assert self.answer(report(agreement(corpus), corpus, **FEW)) == f"a and b agree {said}."

    def test_many_are_counted(self):
        corpus = Corpus.from_tags(dict.fromkeys("abcd", self.TAGS[0]))
        page = report(agreement(corpus), corpus, **FEW)
        assert self.answer(page) == "The 4 annotators agree completely."
        assert "<title>Agreement of 4 annotators</title>" in page.html
        assert '<p class="quiet">a, b, c and d · 8 sentences · 32 spans</p>' in page.html

    def test_systems(self, systems):
        assert self.answer(systems) == (
            "cleo agrees best with ada: it reaches 71 % of what is possible beyond chance, but it "
            "is not significantly ahead of ben."
        )
        one = example().select(annotators=["ada", "ben"])
        assert self.answer(report(rank(one, gold="ada"), one, **FEW)) == (
            "ben agrees with ada: it reaches 70 % of what is possible beyond chance."
        )

    def test_systems_worse_than_chance(self):
        corpus = Corpus.from_tags({"gold": self.TAGS[0], "b": self.TAGS[1], "c": self.TAGS[1]})
        page = report(rank(corpus, gold="gold"), corpus, **FEW)
        assert self.answer(page) == "b agrees best with gold, but less than by chance."


class TestModels:
    def test_a_model_that_may_replace_people_has_a_section(self):
        page = report(example(), resamples=99, replace="cleo", margin=0.05)
        assert "May cleo replace a person?" in page.html
        assert "cleo is shown to be less than 0.05 worse than ada" in page.html
        assert "It is not shown to be less than 0.05 worse than ben" in page.html
        assert "On average cleo differs from the people by" in page.html
        assert "with fewer than three people" in page.html
        assert "May cleo" not in report(example(), resamples=99).html

    def test_several_models_and_addresses(self):
        corpus = example()
        marked = {
            f"{name}@example.org": [corpus.spans(x, name) for x in corpus.documents]
            for name in corpus.annotators
        }
        marked["gpt@example.org"] = marked["ben@example.org"]
        whole = Corpus.from_spans(marked, lengths=[40] * 12)
        page = report(whole, resamples=99, replace=["gpt@example.org", "cleo@example.org"])
        assert "May gpt and cleo replace a person?" in page.html or (
            "May cleo and gpt replace a person?" in page.html
        )
        assert "example.org" not in page.html

    def test_confidence_is_that_of_the_page(self):
        page = report(example(), resamples=99, replace="cleo", margin=0.05, confidence=0.9)
        assert "one-sided tests at 10 %" in page.html

    def test_systems_replace_nobody(self):
        with pytest.raises(OptionError, match="replace needs annotators who are compared"):
            report(example().with_gold("ada"), replace="cleo", resamples=99)
