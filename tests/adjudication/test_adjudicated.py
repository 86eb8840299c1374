"""Gold standards from decisions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.adjudication.adjudicated import compared_decisions
from deciding import decided_for, file_of, marks
from examples import examples
from refusals import assert_tells, refused

SPAN = st.tuples(st.integers(0, 7), st.integers(1, 4), st.sampled_from("PL")).map(
    lambda s: (s[0], s[0] + s[1], s[2])
)


@st.composite
def corpora(draw: Any) -> bc.Corpus:
    """Teams of two to four, with spans that may overlap; some documents have two texts."""
    names = ["ada", "ben", "cleo", "dan"][: draw(st.integers(2, 4))]
    documents = [
        f"d{i}" for i in range(draw(st.integers(1, 3))) for _ in range(draw(st.integers(1, 2)))
    ]
    spans = {
        name: [list(set(draw(st.lists(SPAN, max_size=4)))) for _ in documents] for name in names
    }
    return bc.Corpus.from_spans(spans, lengths=[11] * len(documents), documents=documents)


class TestLaws:
    @given(corpora(), st.sampled_from(["consensus", "majority"]))
    @examples(60)
    def test_without_decisions_it_is_what_the_votes_give(
        self, corpus: bc.Corpus, rest: str
    ) -> None:
        gold = bc.adjudicated(corpus, file_of(corpus, []), rest=rest)
        method = "entities" if rest == "consensus" else "majority"
        voted = bc.consensus(corpus, method=method).corpus
        assert marks(gold, "gold") == marks(voted, "consensus")
        assert gold.n_decided == 0
        assert gold.gold == "gold"
        assert gold.annotators == (*corpus.annotators, "gold")

    @given(corpora(), st.data())
    @examples(60)
    def test_whoever_is_right_everywhere_is_the_gold_standard(
        self, corpus: bc.Corpus, data: st.DataObject
    ) -> None:
        who = data.draw(st.sampled_from(corpus.annotators))
        made = decided_for(corpus, who)
        gold = bc.adjudicated(corpus, file_of(corpus, made), rest="refuse")
        assert marks(gold, "gold") == marks(corpus, who)
        assert gold.n_decided == gold.n_places == len(made)
        for name in corpus.annotators:
            assert marks(gold, name) == marks(corpus, name)

    @given(corpora(), st.data())
    @examples(60)
    def test_a_decision_changes_nothing_elsewhere(
        self, corpus: bc.Corpus, data: st.DataObject
    ) -> None:
        made = decided_for(corpus, "ada")
        if not made:
            return
        one = data.draw(st.sampled_from(made))
        gold = bc.adjudicated(corpus, file_of(corpus, [one]))
        before = bc.consensus(corpus).corpus
        index = corpus.documents.index(one["document"])
        text = corpus.text_document.tolist().index(index) + one["text"]

        def outside(found: bc.Corpus, name: str) -> list[tuple[int, int, int, str]]:
            who = found.annotators.index(name)
            return sorted(
                (int(found.span_text[i]), *found.span(i))
                for i in range(len(found.span_text))
                if found.span_annotator[i] == who
                and not (
                    found.span_text[i] == text
                    and found.span_start[i] < one["end"]
                    and one["start"] < found.span_end[i]
                )
            )

        assert outside(gold, "gold") == outside(before, "consensus")
        assert gold.n_decided == 1

    @given(corpora())
    @examples(60)
    def test_two_who_agree_are_one(self, corpus: bc.Corpus) -> None:
        mia, tom = (file_of(corpus, decided_for(corpus, "ada", by)) for by in ("mia", "tom"))
        one, both = bc.adjudicated(corpus, mia), bc.adjudicated(corpus, [mia, tom])
        assert marks(one, "gold") == marks(both, "gold")
        assert all(decision.by == "mia, tom" for decision in both.decisions)

    @given(corpora())
    @examples(60)
    def test_people_are_compared_as_annotators_are(self, corpus: bc.Corpus) -> None:
        """Who decides for ada everywhere, and who for ben, agree as ada and ben do there."""
        files = [
            file_of(corpus, decided_for(corpus, who, by))
            for who, by in (("ada", "mia"), ("ben", "tom"))
        ]
        found = compared_decisions(corpus, files)
        (pair,) = found.pairs.values()
        assert pair.n_places == len(files[0]["decisions"])
        assert pair.n_places - pair.n_same == len(found.differing)
        if not files[0]["decisions"]:
            assert pair.agreement is None
            return
        assert found.names == ("mia", "tom")
        texts = {(x["document"], x["text"]): [] for x in files[0]["decisions"]}
        spans: dict[str, list[Any]] = {"mia": [], "tom": []}
        for name, file in zip(spans, files, strict=True):
            for key in texts:
                own = [x for x in file["decisions"] if (x["document"], x["text"]) == key]
                spans[name].append([tuple(span) for x in own for span in x["spans"]])
        names = [document for document, _ in texts]
        expected = bc.Corpus.from_spans(spans, lengths=[11] * len(names), documents=names)
        assert pair.agreement is not None
        score = bc.agreement(expected).score
        for name in ("observed", "chance", "corrected"):
            assert getattr(pair.agreement.score, name) == pytest.approx(
                getattr(score, name), nan_ok=True
            )

    def test_only_what_both_decided_is_scored(self) -> None:
        """Both decided 20 places, 12 of them the same; 800 that neither decided do not count."""
        n = 820
        spans = [(3 * i, 3 * i + 1, "P") for i in range(n)]
        corpus = bc.Corpus.from_spans({"a": [spans], "b": [[]]}, lengths=[3 * n])
        mia, tom = decided_for(corpus, "a")[:20], decided_for(corpus, "a")[:30]
        for decision in tom[:8]:
            decision["spans"] = [[decision["start"], decision["end"], "L"]]
        files = [file_of(corpus, mia), file_of(corpus, tom)]
        (pair,) = compared_decisions(corpus, files).pairs.values()
        assert (pair.n_places, pair.n_same) == (20, 12)
        assert pair.agreement is not None
        assert pair.agreement.observed == pytest.approx(12 / 20)


class TestExamples:
    def corpus(self) -> bc.Corpus:
        """Anna's name is longer, and only Ben marked the place.

        anna  PPP....
        ben   .PP..LL
        """
        spans = {"anna": [[(0, 3, "P")]], "ben": [[(1, 3, "P"), (5, 7, "L")]]}
        tokens = [["old", "Ada", "Berg", "went", "to", "New", "York"]]
        return bc.Corpus.from_spans(spans, tokens=tokens)

    def test_a_label_that_nobody_used(self) -> None:
        corpus = self.corpus()
        decision = {"document": "0", "text": 0, "start": 5, "end": 7, "spans": [[5, 7, "CITY"]]}
        gold = bc.adjudicated(corpus, file_of(corpus, [decision]))
        assert gold.labels == ("CITY", "L", "P")
        assert marks(gold, "gold") == {"0": [(0, 3, "P"), (5, 7, "CITY")]}
        assert marks(gold, "ben") == {"0": [(1, 3, "P"), (5, 7, "L")]}

    def test_where_nobody_marked_anything(self) -> None:
        corpus = self.corpus()
        decision = {"document": "0", "text": 0, "start": 3, "end": 4, "spans": [[3, 4, "X"]]}
        gold = bc.adjudicated(corpus, file_of(corpus, [decision]))
        assert (3, 4, "X") in marks(gold, "gold")["0"]
        assert (gold.n_places, gold.n_decided) == (2, 0)

    def test_a_file(self, tmp_path: Any) -> None:
        corpus = self.corpus()
        path = tmp_path / "decisions.json"
        path.write_text(json.dumps(file_of(corpus, decided_for(corpus, "ben"))), "utf-8")
        gold = bc.adjudicated(corpus, path)
        assert marks(gold, "gold") == marks(corpus, "ben")
        assert marks(bc.adjudicated(corpus, [str(path)], name="best"), "best") == marks(
            corpus, "ben"
        )

    def test_ids_of_spans_are_taken_over(self) -> None:
        corpus = replace(self.corpus(), span_id=("a1", "b1", "b2"))
        gold = bc.adjudicated(corpus, file_of(corpus, decided_for(corpus, "ben")))
        assert gold.span_id == ("a1", "b1", "b2", "b1", "b2")

    def test_a_gold_standard_that_is_there_has_no_say(self) -> None:
        corpus = self.corpus().with_gold("ben")
        gold = bc.adjudicated(corpus, file_of(corpus, []))
        assert marks(gold, "gold") == marks(corpus, "anna")


GOOD: dict[str, Any] = {"document": "0", "text": 0, "start": 0, "end": 3, "spans": [[1, 3, "P"]]}


class TestRefused:
    def test_decisions(self) -> None:
        corpus = TestExamples().corpus()
        of_other_texts: list[tuple[dict[str, Any], tuple[object, ...]]] = [
            ({"document": "1"}, "no document '1'"),
            ({"text": 1}, "document '0' … no text 1 … 0"),
            ({"end": 8}, "[0, 8) … 7"),
            ({"start": 3}, "[3, 3) … 7"),
            ({"words": "other"}, "'old Ada Berg' … 'other'"),
        ]
        malformed: list[tuple[dict[str, Any], tuple[object, ...]]] = [
            ({"document": None}, "'document' is null … string"),
            ({"text": "0"}, "'text' is '0' … whole number"),
            ({"spans": None}, "'spans' is null … list"),
            ({"spans": [[1, 3]]}, "[1, 3] … start, end and label"),
            ({"spans": [["1", 3, "P"]]}, "['1', 3, 'P'] … start, end and label"),
            ({"spans": [[1, 4, "P"]]}, "[1, 4, 'P'] … [0, 3)"),
            ({"spans": [[1, 3, " "]]}, "[1, 3, ' '] … label … [0, 3)"),
            ({"spans": [[1, 3, "a\nb"]]}, "label … [0, 3)"),
            ({"spans": [[1, 3, " P"]]}, "label … [0, 3)"),
            ({"choice": "coin"}, "'choice' is 'coin' … version … consensus"),
            ({"by": 3}, "'by' is 3 … string"),
            ({"of": "ada"}, "'of' is 'ada' … list"),
            ({"of": [3]}, "'of' is 3 … name"),
            ({"words": ["x"]}, "'words' is a list … string"),
            ({"extra": 1}, "no decision … by, choice"),
        ]
        for kind, cases in ((bc.MismatchError, of_other_texts), (bc.FormatError, malformed)):
            for change, told in cases:
                with refused(kind, f"decision 1: … {told}"):
                    bc.adjudicated(corpus, file_of(corpus, [GOOD | change]))

    def test_decisions_that_contradict_each_other(self) -> None:
        corpus = TestExamples().corpus()
        for change in ({"spans": []}, {"start": 2, "end": 4, "spans": [], "words": None}):
            content = file_of(corpus, [GOOD, GOOD | change])
            with refused(bc.DataError, "1 place … differently"):
                bc.adjudicated(corpus, content)
            with refused(bc.DataError, "1 place … differently"):
                compared_decisions(corpus, [content, file_of(corpus, [GOOD])])

    def test_files(self, tmp_path: Any) -> None:
        unnamed = file_of(TestExamples().corpus(), [])
        del unnamed["decisions"]
        cases: list[tuple[bytes, tuple[object, ...]]] = [
            (b"{", "decisions.json:1: … JSON"),
            (b'{"a": 1, "a": 2}', "decisions.json:1: … 'a' … twice"),
            (b"[1]", "decisions.json: … no decisions"),
            (b'{"beyondchance": "decisions", "format": 9}', "decisions.json: … 9 … 1"),
            (json.dumps(unnamed).encode(), "decisions.json: … 'decisions' is null … list"),
            (b"\xff{", "decisions.json:1: … UTF-8"),
            (b"[" * 100_000, "decisions.json:1: … JSON"),
        ]
        path = tmp_path / "decisions.json"
        for content, told in cases:
            path.write_bytes(content)
            with refused(bc.FormatError, told):
                bc.adjudicated(TestExamples().corpus(), path)

    def test_no_file(self, tmp_path: Any) -> None:
        with refused(bc.FormatError, "nowhere.json: … no such file"):
            bc.adjudicated(TestExamples().corpus(), tmp_path / "nowhere.json")
        with refused(bc.OptionError, "decisions … 3"):
            bc.adjudicated(TestExamples().corpus(), 3)

    def test_other_units(self) -> None:
        corpus = TestExamples().corpus()
        with refused(bc.MismatchError, "unit 'sentence' … document"):
            bc.adjudicated(corpus, file_of(corpus, []) | {"unit": "sentence"})
        with refused(bc.MismatchError, "characters", use="positions"):
            bc.adjudicated(corpus, file_of(corpus, []) | {"positions": "characters"})

    def test_places_that_nobody_decided(self) -> None:
        corpus = TestExamples().corpus()
        with refused(bc.DataError, "1 … 2 … not decided … [5, 7)"):
            bc.adjudicated(corpus, file_of(corpus, [GOOD]), rest="refuse")

    def test_places_that_are_decided_in_part_are_not_decided(self) -> None:
        corpus = bc.Corpus.from_spans({"a": [[(0, 10, "P")]], "b": [[(0, 9, "P")]]}, lengths=[12])
        part = {"document": "0", "text": 0, "start": 9, "end": 10, "spans": []}
        with refused(bc.DataError, "1 of 1 … not decided"):
            bc.adjudicated(corpus, file_of(corpus, [part]), rest="refuse")
        assert bc.adjudicated(corpus, file_of(corpus, [part])).n_decided == 0

    def test_a_decision_that_cuts_what_all_have_is_noted(self) -> None:
        spans = [(0, 4, "P"), (6, 8, "Q")]
        corpus = bc.Corpus.from_spans({"a": [spans], "b": [spans[:1]]}, lengths=[12])
        part = {"document": "0", "text": 0, "start": 3, "end": 8, "spans": [[5, 7, "Q"]]}
        gold = bc.adjudicated(corpus, file_of(corpus, [part]))
        assert marks(gold, "gold") == {"0": [(5, 7, "Q")]}
        assert_tells(gold.notes[-1], "1 … all annotators … gold")

    @pytest.mark.slow
    def test_many_decisions_of_one_text(self) -> None:
        n = 1_000
        spans = [(3 * i, 3 * i + 1, "P") for i in range(n)]
        corpus = bc.Corpus.from_spans({"a": [spans], "b": [[]]}, lengths=[3 * n])
        made = decided_for(corpus, "b")
        files = [file_of(corpus, made), file_of(corpus, made)]
        assert bc.adjudicated(corpus, files, rest="refuse").n_decided == n
        (pair,) = compared_decisions(corpus, files).pairs.values()
        assert pair.n_places == pair.n_same == n

    def test_people_are_named_without_their_addresses(self) -> None:
        corpus = TestExamples().corpus()
        gold = bc.adjudicated(corpus, file_of(corpus, [GOOD | {"by": "mia@example.org"}]))
        assert gold.decisions[0].by == "mia"

    def test_files_are_told_apart_by_their_numbers(self) -> None:
        corpus = TestExamples().corpus()
        nobody, mia = GOOD | {"by": ""}, GOOD | {"by": "mia"}
        found = compared_decisions(corpus, [file_of(corpus, [x]) for x in (nobody, mia, mia)])
        assert found.names == ("decisions 1", "mia", "mia (3)")

    def test_places_that_are_decided_differently(self) -> None:
        corpus = TestExamples().corpus()
        one, other = (GOOD | {"by": "mia"}, GOOD | {"by": "tom", "spans": []})
        with refused(bc.DataError, "1 … differently … 'mia' and 'tom'"):
            bc.adjudicated(corpus, [file_of(corpus, [one]), file_of(corpus, [other])])
        with refused(bc.OptionError, "one file … two"):
            compared_decisions(corpus, [file_of(corpus, [one])])

    def test_names_and_options(self) -> None:
        corpus = TestExamples().corpus()
        with refused(bc.DataError, "'ben' … already"):
            bc.adjudicated(corpus, file_of(corpus, []), name="ben")
        with refused(bc.OptionError, "rest 'union' … refuse"):
            bc.adjudicated(corpus, file_of(corpus, []), rest="union")
        with refused(bc.DataError, "list … Corpus"):
            bc.adjudicated([], file_of(corpus, []))  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["choice", "by", "note", "unit", "format", "beyondchance"])
def test_decisions_in_memory_hold_what_json_does(key: str) -> None:
    corpus = bc.Corpus.from_spans({"ada": [[(0, 2, "P")]], "ben": [[]]}, lengths=[5])
    made = {"document": "0", "text": 0, "start": 0, "end": 2, "spans": [], "choice": "nothing"}
    content = file_of(corpus, [made])
    whose = made if key in {"choice", "by", "note"} else content
    whose[key] = pd.NA
    with refused(bc.FormatError, "decisions: … JSON"):
        bc.adjudicated(corpus, content)
    whose[key] = whose
    with refused(bc.FormatError, "decisions: … JSON"):
        bc.adjudicated(corpus, content)
