"""The page, without a browser: its numbers, its parts, and what it leaves out."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import cycle
from string import ascii_letters

import numpy as np
import pytest

from beyondchance import (
    Corpus,
    CustomMeasure,
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
from refusals import assert_tells, refused

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
def systems():
    corpus = example().with_gold("ada")
    return report(rank(corpus), corpus, **FEW)


@pytest.fixture(scope="module")
def drawn():
    """A team by another measure; intervals are from resamples, of too few documents."""
    return report(agreement(example(), measure="exact"), example(), method="bca", **FEW)


@pytest.fixture(scope="module")
def bare():
    """Without a corpus: of a team, and of systems."""
    return report(agreement(example()), **FEW), report(rank(example(), gold="ada"), **FEW)


@pytest.fixture(scope="module")
def chosen():
    """A page with options."""
    return report(
        agreement(example(), measure="dice"),
        example(),
        title="Round <2>",
        date="2024-05-06",
        top=2,
        digits=np.int64(2),
        confidence=np.float32(0.75),
        coefficients=[],
        **FEW,
    )


def test_the_numbers_of_a_team(team):
    result = agreement(example())
    intervals = result.intervals(seed=0, **FEW)
    tables = Numbers(team.html).tables
    (_, *labels) = tables["labels"]
    by_score = sorted(result.by_label.items(), key=lambda item: item[1].corrected)
    for row, (label, score) in zip(labels, by_score, strict=True):
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
    assert "The highest agreement with ada is" in systems.html


def test_every_id_is_there_once(team, systems):
    for page in (team, systems):
        ids = Numbers(page.html).ids
        assert sorted(ids) == sorted(set(ids))
        links = set(re.findall(r'href="#([^"]*)"', page.html))
        opened = {link for link in links if link.startswith("document-")}
        assert opened
        # A script answers to this one.
        assert links - opened - {"decide"} <= set(ids)


def test_every_page_names_the_limitations(team, systems, bare):
    for page in (team, systems, *bare):
        assert "Limitations in the documentation" in page.html


def test_nothing_comes_from_elsewhere(team):
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', team.html)
    assert "@import" not in team.html
    assert "url(" not in re.sub(r"url\(#", "", team.html)


def test_the_same_bytes(team):
    assert report(agreement(example()), example(), **FEW).html == team.html


def test_options(chosen):
    assert "<title>Round &lt;2&gt;</title>" in chosen.html
    assert '<p class="quiet">2024-05-06</p>' in chosen.html
    assert "75 %: " in chosen.html
    # Only what is shown is linked.
    assert len(set(re.findall(r'href="(#document-\d+)"', chosen.html))) == 2
    assert 'id="coefficients"' not in chosen.html


def test_without_a_corpus(bare):
    team, systems = bare
    ids = Numbers(team.html).ids
    assert "labels" in ids
    assert "reader" not in ids
    assert 'href="#document-' not in team.html
    assert 'id="systems"' in systems.html
    assert "Without the corpus" in systems.html


def test_without_texts():
    corpus = example().select(documents=["issue-01", "issue-02"])
    letters = str.maketrans(dict.fromkeys(ascii_letters, "ж"))
    corpus = replace(corpus, texts=tuple(text.translate(letters) for text in corpus.texts))
    options = {"coefficients": ["kappa"], **FEW}
    page = report(agreement(corpus), corpus, **options)
    assert "жжж" in page.html
    assert 'id="coefficients"' in page.html
    assert ">gamma<" not in page.html
    assert "ж" not in report(agreement(corpus), corpus, show_texts=False, **options).html


def test_all_coefficients():
    spans = {"a": [[(0, 2, "P")], [(1, 2, "P")]], "b": [[(0, 2, "P")], [(0, 2, "P")]]}
    corpus = Corpus.from_spans(spans, lengths=[5, 6])
    page = report(agreement(corpus), corpus, coefficients="all", gamma={"samples": 30}, **FEW)
    assert ">gamma<" in page.html


class TestUndefined:
    def test_sections_without_anything_in_them_are_left_out(self):
        corpus = Corpus.from_tags({"ada": [["O", "O"]], "ben": [["O", "O"]]})
        html = report(agreement(corpus), corpus).html
        assert "Nothing was marked." in html
        ids = re.findall(r'<section id="([^"]+)"', html)
        assert ids == ["people", "reader", "details"]

    def test_nothing_marked(self):
        corpus = Corpus.from_spans({"a": [[]], "b": [[]]}, lengths=[5])
        page = report(agreement(corpus), corpus, **FEW)
        assert "undefined: nothing" in page.html
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
        assert "undefined: chance agreement is 1" in page.html


class TestForAPaper:
    @staticmethod
    def texts(page):
        found = re.findall(r'<pre id="copy-([\w-]+)">(.*?)</pre>', page.html, re.DOTALL)
        return {name: unescape(text) for name, text in found}

    def test_agreement(self, team, bare):
        results = [*agreement(example()).measures.values()]
        # Without the annotations, there is nothing to score by other measures.
        for page, found in ((team, results), (bare[0], results[:1])):
            texts = self.texts(page)
            intervals = [result.intervals(seed=0, **FEW) for result in found]
            paragraph = methods_of_agreement(*found, intervals=intervals, digits=3)
            assert texts["methods"] == str(paragraph)
            assert texts["methods-latex"] == paragraph.written("latex")
            assert texts["table-latex"].count(r"\begin{table*}") == 1
            assert texts["bibtex"] == bibtex()

    def test_ranking(self, systems, bare):
        for page, corpus, n in ((systems, example().with_gold("ada"), 2), (bare[1], example(), 1)):
            rankings = [*rank(corpus, gold="ada").measures.values()][:n]
            standings = [compare_systems(ranking, seed=0, **FEW) for ranking in rankings]
            texts = self.texts(page)
            paragraph = methods_of_ranking(*rankings, standings=standings, digits=3)
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
    with refused(FormatError, "a.html: … folder"):
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
        token, exact = (
            f"{100 * agreement(corpus, gold='ada', measure=name).corrected:.0f} %"
            for name in ("token", "exact")
        )
        reach = f"{token} of the way from chance to full agreement by token and {exact} by exact."
        answer = TestAnswer.answer(page)
        assert_tells(answer, f"Agreement of ben and cleo with ada is {reach}")
        assert "Annotators, each against the gold standard" in page.html
        assert "pairs" not in Numbers(page.html).tables

    def test_the_gold_standard_has_no_habits(self, systems):
        rows = Numbers(systems.html).tables["annotators"][1:]
        together = agreement(example(), gold="ada")
        by_system = [together.by_annotator[name] for name in ("ben", "cleo")]
        assert [row[4] for row in rows] == [
            repr(score.size_a / score.size_b - 1) for score in by_system
        ]

    def test_habits_are_of_positions(self, team, drawn, chosen):
        by_token = agreement(example()).by_annotator.values()
        for page in (team, drawn, chosen):
            assert [row[4] for row in Numbers(page.html).tables["annotators"][1:]] == [
                repr(score.size_a / score.size_b - 1) for score in by_token
            ]

    def test_texts_that_were_not_compared_have_no_difficulty_here(self):
        one, two = [(0, 1, "P")], [(1, 2, "P")]
        spans = {"a": [one, two, one], "b": [one, None, None]}
        corpus = Corpus.from_spans(spans, lengths=[4, 4, 4])
        page = report(agreement(corpus), corpus, **FEW)
        assert "Of 1 document in which something was marked" in page.html

    def test_stars_are_explained(self, systems, drawn):
        assert re.search(r"to [\d.]+\*<", drawn.html)
        assert "* the least certain of these: its width" in drawn.html
        # By default too, of a label that very few documents have.
        assert "* its width" in systems.html


def test_wrong_numbers():
    result = agreement(example())
    for value, name in zip((-1, "x", 2.5, None, True), cycle(("top", "digits")), strict=False):
        with refused(OptionError, f"{name} is {value!r} … whole number"):
            report(result, example(), **{name: value})


class TestWords:
    """The page is for readers who have no command at hand."""

    def test_no_options(self, team, systems, drawn):
        for page in (team, systems, drawn):
            shown = re.sub(r"<(script|style).*?</\1>", "", page.html, flags=re.DOTALL)
            assert not re.findall(r"(?<!-)--[a-z]", re.sub(r"<[^>]*>", " ", shown))
            assert ("the method 'expanded'" in unescape(shown)) == (page is drawn)

    def test_notes(self):
        tags = {"a": [["B-P", "B-X"]] * 3, "b": [["B-P", "O"]] * 3, "c": [["B-P", "O"]] * 3}
        corpus = Corpus.from_tags(tags)
        shown = unescape(report(agreement(corpus), corpus, **FEW).html)
        assert_tells(shown, "one annotator alone uses … 'X' by 'a' … the option rename label")
        shown = report(agreement(corpus), corpus, show_texts=False, **FEW).html
        assert "nothing can match them: … by …; " in shown


class TestAnswer:
    """One sentence that says what the numbers mean."""

    TAGS = ([["B-P", "O", "O"], ["O", "B-P", "O"]] * 4, [["O", "B-P", "O"], ["B-P", "O", "O"]] * 4)

    @staticmethod
    def answer(page):
        said = unescape(re.search(r'<p class="answer">(.*?)</p>', page.html)[1])
        return said.replace("\u00a0%", " %")  # which stay on one line

    ADVICE = "Across corpora, compare by exact or boundary, not by token."

    def test_some(self, team):
        told = "72 % of the way … by token and 53 % by exact."
        assert_tells(self.answer(team), f"ada, ben and cleo … {told}")
        assert_tells(unescape(team.html), "by token … (21 of 28) … one marks more overall")
        first_screen = unescape(team.html.partition("</header>")[0])
        report = "Report corrected with observed (F1) … depends on the task (docs/howto/reading.md)"
        told = f"corrected for chance, by token … 0.070 … {report} … {self.ADVICE}"
        assert_tells(first_screen, told)
        assert "contain the observed" not in team.html
        assert "model &#39;auto&#39;" not in team.html

    def test_all_and_nothing(self):
        for other, said in enumerate(("complete", "below chance")):
            corpus = Corpus.from_tags({"a": self.TAGS[0], "b": self.TAGS[other]})
            page = report(agreement(corpus), corpus, coefficients=[], **FEW)
            told = f"a and b is {said} by token and {said} by exact."
            assert_tells(self.answer(page), told)
            assert "missing" not in self.answer(page)

    def test_many_are_counted(self):
        corpus = Corpus.from_tags(dict.fromkeys("abcd", self.TAGS[0]))
        page = report(agreement(corpus), corpus, **FEW)
        assert_tells(self.answer(page), "Agreement of 4 annotators is complete")
        assert "<title>Agreement of 4 annotators</title>" in page.html
        assert '<p class="quiet">a, b, c and d · 8 sentences · 32 spans</p>' in page.html

    def test_systems(self, systems):
        answer = self.answer(systems)
        told = "highest … with ada … 71 % … by token for cleo and 56 % by exact for cleo"
        assert_tells(answer, f"{told} … cleo is not significantly ahead of ben")
        assert self.ADVICE in unescape(systems.html)
        one = example().select(annotators=["ada", "ben"])
        answer = self.answer(report(rank(one, gold="ada"), one, **FEW))
        assert_tells(answer, "ben with ada … 70 % of the way … by token and 40 % by exact.")
        assert "highest" not in answer

    def test_on_which_documents_a_system_is_ahead(self):
        right, wrong = [["B-P", "O", "O"], ["O", "B-P", "O"]] * 6, [["O", "O", "B-P"]] * 10
        corpus = Corpus.from_tags({"gold": right, "a": right, "b": [*wrong, None, None]})
        answer = self.answer(report(rank(corpus, gold="gold"), corpus, **FEW))
        assert_tells(
            answer, "gold is complete by token for a … a is significantly ahead … on the 10"
        )

    def test_systems_worse_than_chance(self):
        corpus = Corpus.from_tags({"gold": self.TAGS[0], "b": self.TAGS[1], "c": self.TAGS[1]})
        page = report(rank(corpus, gold="gold"), corpus, **FEW)
        assert_tells(
            self.answer(page),
            "with gold is below chance by token for b and below chance by exact",
        )


class TestModels:
    def test_a_model_that_may_replace_people_has_a_section(self, team):
        page = report(example(), resamples=99, replace="cleo", keep=0.8, blind="no")
        assert "May cleo replace" in page.html
        for told in ("too few documents to rely on", "keep 80 % of the people", "blind: no"):
            assert told in page.html
        assert "(on average)" in page.html
        assert "fewer than three people" in page.html
        assert "May cleo" not in team.html

    def test_the_rest_of_the_page_is_about_people(self):
        corpus = example()
        marked = {
            name: [corpus.spans(x, name) for x in corpus.documents] for name in corpus.annotators
        }
        whole = Corpus.from_spans({**marked, "gpt": [[]] * 12}, lengths=[40] * 12)
        people = whole.select(annotators=corpus.annotators)
        page = report(whole, replace="gpt", **FEW)
        alone = report(people, **FEW)
        for part in ("header", "title"):
            found = re.search(rf"<{part}.*?</{part}>", page.html, re.DOTALL)[0]
            assert found in alone.html
            assert "gpt" not in found
        for name in ("fix", "labels", "people", "by-document", "reader", "methods", "paper"):
            shown = re.search(rf'id="{name}".*?</(section|details)>', page.html, re.DOTALL)[0]
            assert "gpt" not in shown, name
        assert "gpt" in re.search('id="replace".*?</section>', page.html, re.DOTALL)[0]
        assert embedded(page, "result") == embedded(alone, "result")
        tables, expected = Numbers(page.html).tables, Numbers(alone.html).tables
        assert {name: tables[name] for name in expected} == expected

    def test_a_measure_of_ones_own_is_not_asked_again(self):
        def same(start_a, length_a, start_b, length_b):
            return 1.0 * ((start_a == start_b) & (length_a == length_b))

        own = CustomMeasure(name="own", phi=same, size=lambda length: length * 0 + 1.0)
        result = agreement(example(), measure=own)
        with refused(OptionError, "replace … measure"):
            report(result, example(), replace="cleo", **FEW)

    def test_several_models_addresses_and_confidence(self):
        corpus = example()
        marked = {
            f"{name}@example.org": [corpus.spans(x, name) for x in corpus.documents]
            for name in corpus.annotators
        }
        marked["gpt@example.org"] = marked["ben@example.org"]
        whole = Corpus.from_spans(marked, lengths=[40] * 12)
        models = ["gpt@example.org", "cleo@example.org"]
        page = report(whole, resamples=99, replace=models, margin=None, confidence=0.9)
        assert re.search("May (gpt and cleo|cleo and gpt) replace", page.html)
        assert "example.org" not in page.html
        assert "tests at 10 %" in page.html

    def test_systems_replace_nobody(self):
        with refused(OptionError, "replace … annotators"):
            report(example().with_gold("ada"), replace="cleo", resamples=99)
