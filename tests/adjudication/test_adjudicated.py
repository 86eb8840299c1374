"""Gold standards from decisions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.adjudication.comparison import compared_decisions
from deciding import decided_for, file_of, marks

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
    def test_without_decisions_it_is_what_the_votes_give(
        self, corpus: bc.Corpus, rest: str
    ) -> None:
        gold = bc.adjudicated(corpus, file_of(corpus, []), rest=rest)
        method = "best" if rest == "consensus" else "majority"
        voted = bc.consensus(corpus, method=method).corpus
        assert marks(gold, "gold") == marks(voted, "consensus")
        assert gold.n_decided == 0
        assert gold.gold == "gold"
        assert gold.annotators == (*corpus.annotators, "gold")

    @given(corpora(), st.data())
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
    def test_two_who_agree_are_one(self, corpus: bc.Corpus) -> None:
        mia, tom = (file_of(corpus, decided_for(corpus, "ada", by)) for by in ("mia", "tom"))
        one, both = bc.adjudicated(corpus, mia), bc.adjudicated(corpus, [mia, tom])
        assert marks(one, "gold") == marks(both, "gold")
        assert all(decision.by == "mia, tom" for decision in both.decisions)

    @given(corpora())
    def test_people_are_compared_as_annotators_are(self, corpus: bc.Corpus) -> None:
        """Who decides for ada everywhere, and who for ben, agree as ada and ben do."""
        files = [
            file_of(corpus, decided_for(corpus, who, by))
            for who, by in (("ada", "mia"), ("ben", "tom"))
        ]
        found = compared_decisions(corpus, files)
        pair = bc.agreement(corpus.select(annotators=["ada", "ben"]))
        if files[0]["decisions"]:
            assert found.names == ("mia", "tom")
        assert found.agreement.score.to_dict() == pair.score.to_dict()
        ((n, same),) = found.places.values()
        assert n == len(files[0]["decisions"])
        assert n - same == len(found.differing)


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
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"document": "1"}, "decisions, decision 1: no document '1' is there"),
            ({"document": None}, "no document None is there"),
            ({"text": 1}, "document '0' has no text 1; expected one of 1, from 0 on"),
            ({"text": "0"}, "has no text, start or end; expected whole numbers"),
            ({"end": 8}, "the stretch [0, 8) does not lie in the text; expected 7 positions"),
            ({"start": 3}, "the stretch [3, 3) does not lie in the text"),
            ({"words": "other"}, "the text is another one there: 'old Ada Berg'; expected 'other'"),
            ({"spans": None}, "has no list of spans"),
            ({"spans": [[1, 3]]}, "has the span [1, 3]; expected start, end and label"),
            ({"spans": [["1", 3, "P"]]}, "expected start, end and label"),
            ({"spans": [[1, 4, "P"]]}, "expected a label, and a place within [0, 3)"),
            ({"spans": [[1, 3, " "]]}, "expected a label, and a place within [0, 3)"),
            ({"choice": "coin"}, "has the choice 'coin'; expected one of version, consensus"),
            ({"by": 3}, "has names or a note that are no text"),
            ({"of": "ada"}, "has names or a note that are no text"),
            ({"words": ["x"]}, "has words that are no text"),
            ({"spans": [[1, 3, "a\nb"]]}, "expected a label, and a place within [0, 3)"),
            ({"spans": [[1, 3, " P"]]}, "expected a label, and a place within [0, 3)"),
            ({"extra": 1}, "is no decision; expected an object with some of by, choice"),
        ],
    )
    def test_decisions(self, change: dict[str, Any], message: str) -> None:
        corpus = TestExamples().corpus()
        with pytest.raises(bc.DataError) as error:
            bc.adjudicated(corpus, file_of(corpus, [GOOD | change]))
        assert message in str(error.value)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "decisions.json: holds no JSON (it breaks off or is wrong in line 1)"),
            ("[1]", "decisions.json: holds no decisions; expected the file that the page"),
            (
                '{"beyondchance": "decisions", "format": 9}',
                "decisions of format 9; expected format 1",
            ),
            (b"\xff\xfe{", "decisions.json: cannot be read (not utf-8)"),
            ("[" * 100_000, "holds no JSON"),
        ],
    )
    def test_files(self, tmp_path: Any, content: str | bytes, message: str) -> None:
        path = tmp_path / "decisions.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(bc.FormatError) as error:
            bc.adjudicated(TestExamples().corpus(), path)
        assert message in str(error.value)

    def test_no_file(self, tmp_path: Any) -> None:
        with pytest.raises(bc.FormatError, match=r"nowhere.json: cannot be read \(no such file"):
            bc.adjudicated(TestExamples().corpus(), tmp_path / "nowhere.json")
        with pytest.raises(bc.OptionError, match="decisions is 3; expected a file"):
            bc.adjudicated(TestExamples().corpus(), 3)

    def test_other_units(self) -> None:
        corpus = TestExamples().corpus()
        with pytest.raises(bc.MismatchError, match="decisions by unit 'sentence', and annotations"):
            bc.adjudicated(corpus, file_of(corpus, []) | {"unit": "sentence"})
        with pytest.raises(bc.MismatchError, match="pass positions='characters'"):
            bc.adjudicated(corpus, file_of(corpus, []) | {"positions": "characters"})

    def test_places_that_nobody_decided(self) -> None:
        corpus = TestExamples().corpus()
        with pytest.raises(bc.DataError) as error:
            bc.adjudicated(corpus, file_of(corpus, [GOOD]), rest="refuse")
        assert "1 of 2 places are not decided, the first at [5, 7)" in str(error.value)

    def test_places_that_are_decided_in_part_are_not_decided(self) -> None:
        corpus = bc.Corpus.from_spans({"a": [[(0, 10, "P")]], "b": [[(0, 9, "P")]]}, lengths=[12])
        part = {"document": "0", "text": 0, "start": 9, "end": 10, "spans": []}
        with pytest.raises(bc.DataError, match="1 of 1 places are not decided"):
            bc.adjudicated(corpus, file_of(corpus, [part]), rest="refuse")
        assert bc.adjudicated(corpus, file_of(corpus, [part])).n_decided == 0

    def test_a_decision_that_cuts_what_all_have_is_noted(self) -> None:
        spans = [(0, 4, "P"), (6, 8, "Q")]
        corpus = bc.Corpus.from_spans({"a": [spans], "b": [spans[:1]]}, lengths=[12])
        part = {"document": "0", "text": 0, "start": 3, "end": 8, "spans": [[5, 7, "Q"]]}
        gold = bc.adjudicated(corpus, file_of(corpus, [part]))
        assert marks(gold, "gold") == {"0": [(5, 7, "Q")]}
        assert "1 span that all annotators have is not in the gold" in str(gold.notes[-1])

    def test_many_decisions_of_one_text_take_no_longer_than_they_are_many(self) -> None:
        n = 20_000
        spans = [(3 * i, 3 * i + 1, "P") for i in range(n)]
        corpus = bc.Corpus.from_spans({"a": [spans], "b": [[]]}, lengths=[3 * n])
        made = decided_for(corpus, "b")
        files = [file_of(corpus, made), file_of(corpus, made)]
        assert bc.adjudicated(corpus, files, rest="refuse").n_decided == n
        ((both, same),) = compared_decisions(corpus, files).places.values()
        assert both == same == n

    def test_people_are_named_without_their_addresses(self) -> None:
        corpus = TestExamples().corpus()
        gold = bc.adjudicated(corpus, file_of(corpus, [GOOD | {"by": "mia@example.org"}]))
        assert gold.decisions[0].by == "mia"

    def test_places_that_are_decided_differently(self) -> None:
        corpus = TestExamples().corpus()
        one, other = (GOOD | {"by": "mia"}, GOOD | {"by": "tom", "spans": []})
        with pytest.raises(bc.DataError) as error:
            bc.adjudicated(corpus, [file_of(corpus, [one]), file_of(corpus, [other])])
        assert "1 place is decided differently, the first by 'mia' and 'tom'" in str(error.value)
        with pytest.raises(bc.OptionError, match="one file of decisions; expected two"):
            compared_decisions(corpus, [file_of(corpus, [one])])

    def test_names_and_options(self) -> None:
        corpus = TestExamples().corpus()
        with pytest.raises(bc.DataError, match="has an annotator 'ben' already"):
            bc.adjudicated(corpus, file_of(corpus, []), name="ben")
        with pytest.raises(bc.OptionError, match="unknown rest 'union'"):
            bc.adjudicated(corpus, file_of(corpus, []), rest="union")
        with pytest.raises(bc.DataError, match="got a list; expected a Corpus"):
            bc.adjudicated([], file_of(corpus, []))  # type: ignore[arg-type]
