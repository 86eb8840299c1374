"""The corpus: three ways in, and everything that is refused at the border."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from beyondchance import (
    Corpus,
    DataError,
    MismatchError,
    OptionError,
    OverlapError,
    Span,
    SpanError,
    TagError,
    agreement,
    read,
)
from beyondchance.annotations.joining import with_whole_documents
from each import each
from refusals import refused


def one_text(*spans, length=10, **options):
    return Corpus.from_spans({"anna": [list(spans)], "ben": [[]]}, lengths=[length], **options)


class TestThreeWaysIn:
    def test_give_the_same_spans(self):
        # anna  PP.L.   ben  P..L.
        from_tags = Corpus.from_tags(
            {"anna": [["B-P", "I-P", "O", "B-L", "O"]], "ben": [["B-P", "O", "O", "B-L", "O"]]}
        )
        from_spans = Corpus.from_spans(
            {"anna": [[(0, 2, "P"), (3, 4, "L")]], "ben": [[(3, 4, "L"), (0, 1, "P")]]},
            lengths=[5],
        )
        from_columns = Corpus.from_columns(
            text=[0, 0, 0, 0],
            annotator=["ben", "anna", "ben", "anna"],
            start=[0, 0, 3, 3],
            end=[1, 2, 4, 4],
            label=["P", "P", "L", "L"],
            lengths=[5],
        )
        for corpus in (from_tags, from_spans, from_columns):
            assert corpus.labels == ("L", "P")
            assert corpus.spans("0", "anna") == [Span(0, 2, "P"), Span(3, 4, "L")]
            assert corpus.spans("0", "ben") == [Span(0, 1, "P"), Span(3, 4, "L")]

    def test_columns_may_be_arrays_and_whole_floats(self):
        corpus = Corpus.from_columns(
            text=np.array([0]),
            annotator=["anna"],
            start=np.array([1.0]),
            end=np.array([2], dtype=np.uint8),
            label=["P"],
            lengths=np.array([4], dtype=np.int32),
        )
        assert corpus.spans("0", "anna") == [(1, 2, "P")]

    def test_no_spans_at_all(self):
        corpus = Corpus.from_columns(
            text=[], annotator=[], start=[], end=[], label=[], lengths=[4], annotators=["a", "b"]
        )
        assert corpus.annotators_of("0") == ("a", "b")


class TestWhoAnnotatedWhat:
    def test_empty_is_not_missing(self):
        corpus = Corpus.from_tags({"anna": [["O"], ["O"]], "ben": [["O"], None]})
        assert corpus.annotators_of("0") == ("anna", "ben")
        assert corpus.annotators_of("1") == ("anna",)
        assert corpus.spans("0", "ben") == []
        with refused(DataError, "'1' … 'ben' … 'anna'"):
            corpus.spans("1", "ben")

    def test_part_of_a_document_is_refused(self):
        with refused(DataError, "document 'd' … 'ben' … part"):
            Corpus.from_tags({"anna": [["O"], ["O"]], "ben": [["O"], None]}, documents=["d", "d"])

    def test_span_by_an_annotator_who_did_not_annotate(self):
        with refused(DataError, "document 'x' … annotator 'ben' … [0, 1) 'P' … annotated"):
            Corpus.from_columns(
                text=[0],
                annotator=["ben"],
                start=[0],
                end=[1],
                label=["P"],
                lengths=[3],
                documents=["x"],
                annotated=[("x", "anna")],
                annotators=["anna", "ben"],
            )

    def test_unknown_names_in_annotated(self):
        for pair, named in ((("y", "anna"), "document 'y'"), (("x", "zoe"), "annotator 'zoe'")):
            with refused(DataError, f"'annotated' … {named}"):
                Corpus.from_columns(
                    text=[],
                    annotator=[],
                    start=[],
                    end=[],
                    label=[],
                    lengths=[3],
                    documents=["x"],
                    annotated=[pair],
                    annotators=["anna"],
                )


# Two equal spans are one only if they are by one annotator, in one text and of one label.
TWICE = {
    "anna": [[(2, 4, "P"), (0, 2, "P"), (2, 4, "P"), (2, 4, "Q"), (2, 4, "P")], [(2, 4, "P")]],
    "ben": [[(2, 4, "P")], [(2, 4, "P"), (2, 4, "P")]],
}


class TestDuplicates:
    def test_the_first_of_equal_spans_is_kept_and_the_others_are_counted(self):
        corpus = Corpus.from_spans(TWICE, lengths=[5, 5], duplicates="skip")
        assert corpus.spans("0", "anna") == [(0, 2, "P"), (2, 4, "P"), (2, 4, "Q")]
        assert corpus.spans("1", "anna") == corpus.spans("1", "ben") == [(2, 4, "P")]
        assert corpus.spans("0", "ben") == [(2, 4, "P")]
        assert corpus.skipped == {"spans marked twice, second left out": 3}
        assert corpus.options == {"duplicates": "skip"}

    def test_the_choice_is_signed_and_counted_as_read_does(self, tmp_path):
        rows = [
            f"{text},{name},{start},{end},{label},5"
            for name, texts in TWICE.items()
            for text, spans in enumerate(texts)
            for start, end, label in spans
        ]
        header = "document,annotator,start,end,label,length"
        (tmp_path / "x.csv").write_text("\n".join([header, *rows]))
        written = read(tmp_path / "x.csv", positions="tokens")
        made = Corpus.from_spans(TWICE, lengths=[5, 5], duplicates="skip")
        assert made.skipped == written.skipped
        assert made.options == written.options
        one, other = (agreement(corpus) for corpus in (written, made))
        assert one.score == other.score
        assert str(one.settings) == str(other.settings)
        assert "|duplicates:skip|" in str(other.settings)

    def test_if_asked_for_they_stay_and_are_refused_when_scored(self):
        corpus = Corpus.from_spans(TWICE, lengths=[5, 5], duplicates="error")
        assert len(corpus.span_start) == 9
        assert (corpus.options, corpus.skipped) == ({}, {})
        with refused(OverlapError, "[2, 4) 'P' … twice"):
            agreement(corpus)

    def test_without_any_nothing_is_counted(self):
        corpus = Corpus.from_spans({"a": [[(0, 1, "P")]]}, lengths=[2], duplicates="skip")
        assert corpus.skipped == {}
        assert Corpus.from_spans({"a": [[]]}, lengths=[2], duplicates="skip").skipped == {}

    @each("value", ["keep", None, True])
    def test_other_values(self, value):
        with refused(OptionError, f"duplicates … {value!r} … skip … error"):
            Corpus.from_spans({"a": [[]]}, lengths=[2], duplicates=value)


class TestBadSpans:
    @each(
        ("span", "told"),
        [
            ((3, 3, "P"), "empty"),
            ((4, 3, "P"), "ends before"),
            ((-1, 3, "P"), "starts before"),
            ((8, 11, "P"), "ends past … 10 tokens"),
        ],
    )
    def test_offsets(self, span, told):
        with refused(
            SpanError, f"document '0', annotator 'anna' … [{span[0]}, {span[1]}) 'P' … {told}"
        ):
            one_text((0, 1, "P"), span)

    @each("value", [1.5, float("nan"), float("inf"), "1", None, True, 2**70, -(2**70)])
    def test_not_whole_numbers(self, value):
        with refused(SpanError, f"document '0', annotator 'anna', span 1: … {value!r}"):
            one_text((0, 1, "P"), (value, 9, "P"))
        with refused(SpanError, f"column 'start', row 1: … {value!r}"):
            Corpus.from_columns(
                text=[0, 0],
                annotator=["a", "a"],
                start=[0, value],
                end=[1, 9],
                label=["P", "P"],
                lengths=[10],
            )

    @each("span", [(0, 1), (0, 1, "P", 2), "abc"])
    def test_not_triples(self, span):
        with refused(SpanError, f"document '0', annotator 'anna', span 0: … {span!r}"):
            one_text(span)

    @each("label", ["", None, 3])
    def test_label_is_not_a_name(self, label):
        with refused(DataError, f"label … {label!r}"):
            one_text((0, 1, label))

    def test_text_out_of_range(self):
        with refused(SpanError, "span 0 … 5 … 0 to 0"):
            Corpus.from_columns(
                text=[5], annotator=["a"], start=[0], end=[1], label=["P"], lengths=[3]
            )

    def test_sentence_of_a_document_is_named(self):
        with refused(SpanError, "document 'd', text 1, annotator 'a'"):
            Corpus.from_columns(
                text=[1],
                annotator=["a"],
                start=[0],
                end=[9],
                label=["P"],
                lengths=[3, 3],
                documents=["d", "d"],
            )

    def test_several_dimensions(self):
        with refused(SpanError, "column 'start', row 0: … [0]"):
            Corpus.from_columns(
                text=[0], annotator=["a"], start=[[0]], end=[1], label=["P"], lengths=[3]
            )


class TestMismatches:
    def test_tags_of_different_length_name_the_document(self):
        with refused(MismatchError, "document 'two': … 'anna' has 2 … 'ben' has 3"):
            Corpus.from_tags(
                {"anna": [["O"], ["O", "O"]], "ben": [["O"], ["O", "O", "O"]]},
                documents=["one", "two"],
            )

    def test_different_numbers_of_texts(self):
        with refused(MismatchError, "'anna' has 1 … 'ben' has 2"):
            Corpus.from_tags({"anna": [["O"]], "ben": [["O"], ["O"]]})

    def test_lengths_and_documents_must_fit(self):
        with refused(MismatchError, "2 lengths … 1 text"):
            Corpus.from_spans({"anna": [[]]}, lengths=[3, 4])
        with refused(MismatchError, "2 documents … 1 text"):
            Corpus.from_tags({"anna": [["O"]]}, documents=["x", "y"])
        with refused(DataError, "'round' … 2 values … 1 document"):
            Corpus.from_tags({"anna": [["O"]]}, fields={"round": ["1", "2"]})

    def test_columns_of_different_length(self):
        with refused(DataError, "length"):
            Corpus.from_columns(
                text=[0], annotator=["a"], start=[0, 1], end=[1], label=["P"], lengths=[3]
            )

    def test_scattered_document(self):
        with refused(DataError, "text 2: … document 'x'"):
            Corpus.from_tags({"a": [["O"], ["O"], ["O"]]}, documents=["x", "y", "x"])

    @each("texts", [["O"], [3], "O"])
    def test_not_lists_of_tag_lists(self, texts):
        with pytest.raises(DataError, match="annotator 'a'.*expected"):
            Corpus.from_tags({"a": texts})

    def test_names(self):
        with refused(DataError, "no annotators"):
            Corpus.from_tags({})
        with refused(DataError, "annotator ''"):
            Corpus.from_tags({"": [["O"]]})
        with refused(DataError, "annotator 'a' … twice"):
            Corpus.from_columns(
                text=[],
                annotator=[],
                start=[],
                end=[],
                label=[],
                lengths=[1],
                annotators=["a", "a"],
            )
        with refused(DataError, "'zoe' … 'a'"):
            Corpus.from_columns(
                text=[0],
                annotator=["zoe"],
                start=[0],
                end=[1],
                label=["P"],
                lengths=[1],
                annotators=["a"],
            )

    def test_negative_length(self):
        with refused(DataError, "text 0 … -1"):
            Corpus.from_spans({"a": [[]]}, lengths=[-1])

    def test_unknown_unit_and_positions(self):
        with refused(OptionError, "unit … 'page' … sentence … document"):
            one_text(unit="page")
        with refused(OptionError, "positions … 'bytes' … tokens"):
            one_text(positions="bytes")


class TestWrongTypes:
    """Every argument of the wrong kind gets a sentence of ours."""

    WRONG = (None, 3, "ab", 1.5)

    @each("value", [None, 3, "ab", [["O"]], {"a"}])
    def test_not_a_mapping(self, value):
        for build in (Corpus.from_tags, lambda v: Corpus.from_spans(v, lengths=[1])):
            with refused(DataError, "mapping"):
                build(value)

    @each("value", WRONG)
    def test_texts_and_tags(self, value):
        with pytest.raises(DataError, match="annotator 'a'"):
            Corpus.from_tags({"a": value})
        if value is not None:
            with refused(DataError, f"{value!r} … tags"):
                Corpus.from_tags({"a": [value]})

    def test_forgotten_level_of_texts(self):
        with refused(SpanError, "document '0', annotator 'a', span 0: … 0"):
            Corpus.from_spans({"a": [(0, 1, "P")]}, lengths=[3])

    @each("value", [3, "abc", {"start": 0, "end": 1, "label": "P"}, None])
    def test_spans(self, value):
        with refused(SpanError, "document '0', annotator 'anna', span 0:"):
            one_text(value)

    @each("value", WRONG)
    @each("name", ["lengths", "documents", "fields"])
    def test_of_from_spans(self, name, value):
        options = {"lengths": [1], name: value}
        if value is None and name != "lengths":
            corpus = Corpus.from_spans({"a": [[]]}, **options)
            assert corpus.documents == ("0",)
            assert corpus.fields == {}
            return
        with pytest.raises(DataError, match=name):
            Corpus.from_spans({"a": [[]]}, **options)

    ONE_SPAN = {  # noqa: RUF012
        "text": [0], "annotator": ["a"], "start": [0], "end": [1], "label": ["P"], "lengths": [3],
    }  # fmt: skip

    @each("value", WRONG)
    @each("name", ["text", "annotator", "start", "end", "label", "lengths"])
    def test_of_from_columns(self, name, value):
        with pytest.raises(DataError, match=name):
            Corpus.from_columns(**{**self.ONE_SPAN, name: value})

    @each(
        ("name", "value", "told"),
        [
            ("annotated", 3, "'annotated' … 3 … pairs"),
            ("annotated", "ab", "'annotated' … 'a' … pairs"),
            ("annotated", {"a"}, "'annotated' … 'a' … pairs"),
            ("annotated", (x for x in ()), "annotator 'a' … [0, 1) 'P' … 'annotated'"),
            ("annotators", 3, "annotators … 3 … names"),
            ("annotators", "ab", "annotators … 'ab' … names"),
            ("annotators", (x for x in ()), "annotator 'a' … none"),
        ],
    )
    def test_who_annotated(self, name, value, told):
        with refused(DataError, told):
            Corpus.from_columns(**self.ONE_SPAN, **{name: value})

    @each(("name", "value"), [("annotated", None), ("annotators", None), ("annotators", {"a"})])
    def test_who_annotated_may_be_left_out(self, name, value):
        corpus = Corpus.from_columns(**self.ONE_SPAN, **{name: value})
        assert corpus.annotators == corpus.annotators_of("0") == ("a",)
        assert corpus.spans("0", "a") == [Span(0, 1, "P")]

    @each("annotated", [3, ["xy"], [("x",)], [("x", 3)], [3]])
    def test_annotated(self, annotated):
        with refused(DataError, "'annotated' … pairs"):
            Corpus.from_columns(
                text=[], annotator=[], start=[], end=[], label=[], lengths=[3], documents=["x"],
                annotators=["a"], annotated=annotated,
            )  # fmt: skip

    @each("value", [3, [3, "x"], [["ada"]]])
    def test_select(self, value):
        with pytest.raises(DataError, match="annotator"):
            one_text().select(annotators=value)

    def test_white_space_in_names(self):
        with refused(DataError, "label 'P '"):
            one_text((0, 1, "P "))
        with refused(TagError, "'B-P\\n' … IOB2"):
            Corpus.from_tags({"a": [["B-P\n"]]})

    def test_lengths_beyond_all_measure(self):
        with refused(DataError, f"{2**40} … 2,147,483,647"):
            Corpus.from_spans({"a": [[]]}, lengths=[2**40])


class TestSelect:
    corpus = Corpus.from_spans(
        {
            "anna": [[(0, 1, "P")], [(1, 2, "L")], [(0, 3, "P")]],
            "ben": [[(0, 2, "P")], None, [(0, 3, "L")]],
        },
        lengths=[3, 3, 3],
        documents=["x", "y", "z"],
        fields={"round": ["1", "1", "2"]},
    )

    def test_documents(self):
        part = self.corpus.select(documents=["z", "y"])
        assert part.documents == ("y", "z")
        assert part.fields == {"round": ("1", "2")}
        assert part.annotators_of("y") == ("anna",)
        assert part.spans("z", "ben") == [(0, 3, "L")]

    def test_labels_and_annotators(self):
        part = self.corpus.select(labels=["L"], annotators=["anna"])
        assert part.labels == ("L",)
        assert part.spans("x", "anna") == []
        assert part.spans("y", "anna") == [(1, 2, "L")]
        assert part.options == {"labels": ("L",), "annotators": ("anna",)}

    @each("kind", ["document", "label", "annotator"])
    def test_unknown(self, kind):
        known = {"document": "x", "label": "P", "annotator": "anna"}[kind]
        with refused(DataError, f"{kind} … 'nobody' … '{known}'"):
            self.corpus.select(**{f"{kind}s": ["nobody"]})


def test_unknown_document():
    with refused(DataError, "document 'q' … 1"):
        one_text().spans("q", "anna")


def test_survives_pickling():
    corpus = one_text((0, 2, "P"))
    assert pickle.loads(pickle.dumps(corpus)).spans("0", "anna") == [(0, 2, "P")]  # noqa: S301


TAGS = {"a": [["B-X", "O"], ["O", "B-Y"]], "b": [["O", "O"], ["O", "B-Y"]]}
SPANS = {"a": [[(0, 2, "X")], [(1, 3, "Y")]], "b": [[], [(1, 3, "Y")]]}


class TestListsAreMadeOnce:
    """Whatever can be gone through once only is still all there."""

    def test_iterators_within_lists(self):
        given = {"a": SPANS["a"], "b": [iter(spans) for spans in SPANS["b"]]}
        corpus = Corpus.from_spans(given, texts=["Ada", "Bo!"])
        assert corpus.spans("1", "b") == [(1, 3, "Y")]
        tags = Corpus.from_tags({name: map(iter, texts) for name, texts in TAGS.items()})
        assert tags.spans("1", "b") == [(1, 2, "Y")]

    def test_iterators_next_to_them(self):
        corpus = Corpus.from_spans(SPANS, lengths=iter([3, 4]), documents=iter("xy"))
        assert (corpus.text_length.tolist(), corpus.documents) == ([3, 4], ("x", "y"))
        assert Corpus.from_spans(SPANS, texts=(t for t in ("Ada", "Bo!"))).texts == ("Ada", "Bo!")
        tokens = (iter(words) for words in (["Ada", "sat"], ["in", "Oslo"]))
        assert Corpus.from_tags(TAGS, tokens=tokens).texts == ("Ada sat", "in Oslo")

    @each("given", [{"B-X"}, [{"B-X"}], [frozenset({(0, 1, "X")})]])
    def test_sets_have_no_order(self, given):
        for build in (Corpus.from_tags, partial(Corpus.from_spans, lengths=[3])):
            with refused(DataError, "annotator 'a': … set … list"):
                build({"a": given})


class TestUnit:
    """A document that is one text is one text."""

    def test_tags(self):
        whole = Corpus.from_tags(
            TAGS, documents=["d", "d"], unit="document", tokens=[["A", "b"]] * 2
        )
        joined = {name: [[*texts[0], *texts[1]]] for name, texts in TAGS.items()}
        assert whole.text_length.tolist() == [4]
        assert whole.texts == ("A b A b",)
        assert whole.token_start.tolist() == [0, 2, 4, 6]
        assert agreement(whole).chance == agreement(Corpus.from_tags(joined)).chance
        assert whole.spans("d", "a") == [(0, 1, "X"), (3, 4, "Y")]

    def test_spans(self):
        texts = ["Ada", "Bo!"]
        whole = Corpus.from_spans(SPANS, texts=texts, documents=["d", "d"], unit="document")
        assert (whole.texts, whole.text_length.tolist()) == (("Ada Bo!",), [7])
        assert whole.spans("d", "a") == [(0, 2, "X"), (5, 7, "Y")]
        counted = Corpus.from_spans(SPANS, lengths=[3, 3], documents=["d", "d"], unit="document")
        assert counted.text_length.tolist() == [6]

    def test_texts_of_one_document_are_sentences_unless_it_is_said_otherwise(self):
        for documents, unit in ((["d", "d"], "sentence"), (["d", "e"], "document")):
            corpus = Corpus.from_spans(SPANS, lengths=[3, 3], documents=documents)
            assert (corpus.unit, corpus.text_length.tolist()) == (unit, [3, 3])


class TestWhatOffsetsCount:
    def test_characters_next_to_texts(self):
        with refused(OptionError, "positions … 'tokens' … characters … tokens="):
            Corpus.from_spans(SPANS, texts=["Ada", "Bo!"], positions="tokens")

    def test_tokens_next_to_tokens(self):
        with refused(OptionError, "positions … 'characters' … count tokens"):
            Corpus.from_spans(SPANS, tokens=[["a"] * 3] * 2, positions="characters")


class TestIds:
    """What the source calls spans, and how it calls what it holds, stay with the corpus."""

    CORPUS = replace(
        Corpus.from_spans(
            {"anna": [[(0, 1, "PER"), (2, 3, "LOC")], [(1, 2, "PER")]], "ben": [[(0, 1, "X")], []]},
            lengths=[4, 4],
            documents=["a", "b"],
        ),
        span_id=("T1", "", "T7", "x"),
        origin={"layer": "Name"},
    )

    def test_of_a_selection(self):
        assert self.CORPUS.select(annotators=["anna"]).span_id == ("T1", "", "T7")
        assert self.CORPUS.select(documents=["b"]).span_id == ("T7",)
        assert self.CORPUS.select(labels=["PER"]).origin == {"layer": "Name"}

    def test_none_if_no_span_has_one(self):
        assert self.CORPUS.select(labels=["LOC"]).span_id is None
        assert self.CORPUS.select(documents=["b"], annotators=["ben"]).span_id is None
        assert replace(self.CORPUS, span_id=None).select(documents=["a"]).span_id is None

    def test_the_first_of_equal_spans_keeps_its_own(self):
        corpus = Corpus.from_spans(
            {"anna": [[(0, 1, "PER"), (0, 1, "PERSON"), (2, 3, "PER")]]}, lengths=[4]
        )
        corpus = replace(corpus, span_id=("T1", "T2", "T3"))
        assert corpus.rename_labels({"PERSON": "PER"}).span_id == ("T1", "T3")

    def test_of_annotators_with_other_names(self):
        named = self.CORPUS.rename_annotators({"anna": "ada"}).with_gold("ben")
        assert (named.span_id, named.origin) == (self.CORPUS.span_id, self.CORPUS.origin)

    def test_of_sentences_that_become_one_text(self):
        spans = {"anna": [[(0, 1, "X")], [(1, 2, "X")]]}
        corpus = Corpus.from_spans(spans, lengths=[2, 2], documents=["a", "a"])
        whole = with_whole_documents(replace(corpus, span_id=("1", "2")))
        assert (whole.span_id, whole.span_start.tolist()) == (("1", "2"), [0, 3])

    def test_joined_is_answered_with_what_to_use(self):
        with pytest.raises(AttributeError, match="joined.*read"):
            Corpus.joined([self.CORPUS])

    def test_are_not_signed(self):
        without = replace(self.CORPUS, span_id=None, origin={})
        assert agreement(self.CORPUS).settings == agreement(without).settings
