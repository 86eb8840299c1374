"""Tag sequences: every scheme, every repair, every way to be wrong."""

import numpy as np
import pytest

from beyondchance import Corpus, DataError, OptionError, TagError


def spans(tags, **options):
    corpus = Corpus.from_tags({"a": [tags.split()]}, **options)
    return [tuple(span) for span in corpus.spans("0", "a")]


# The same three spans, [0, 2) X, [2, 3) X, [4, 7) Y, in every scheme that can tell them apart.
#                       0   1   2   3 4   5   6
SAME = [(0, 2, "X"), (2, 3, "X"), (4, 7, "Y")]


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("IOB2", "B-X I-X B-X O B-Y I-Y I-Y"),
        ("IOB1", "I-X I-X B-X O I-Y I-Y I-Y"),
        ("BIOES", "B-X E-X S-X O B-Y I-Y E-Y"),
        ("BILOU", "B-X L-X U-X O B-Y I-Y L-Y"),
        ("BMES", "B-X E-X S-X O B-Y M-Y E-Y"),
    ],
)
def test_schemes(scheme, tags):
    assert spans(tags, scheme=scheme) == SAME


def test_io_joins_what_it_cannot_tell_apart():
    assert spans("I-X I-X I-X O I-Y I-X", scheme="IO") == [(0, 3, "X"), (4, 5, "Y"), (5, 6, "X")]


class TestLabelsWithoutPrefix:
    def test_are_read_as_io(self):
        found = spans("PER PER O person-actor O", scheme="IO")
        assert found == [(0, 2, "PER"), (3, 4, "person-actor")]

    @pytest.mark.parametrize("tags", ["PER O", "LOC O", "O work-of-art"])
    def test_are_refused_otherwise(self, tags):
        tag = next(tag for tag in tags.split() if tag != "O")
        with pytest.raises(TagError) as caught:
            spans(tags)
        assert str(caught.value).endswith(
            f"tag {tag!r} has no prefix such as B- or I-; expected one: scheme='IO' reads labels "
            "without prefixes"
        )

    @pytest.mark.parametrize(
        "tag", ["I-PER", "B-PER", "o", "_", "0", "B", "b-PER", "B_PER", "b'PER'"]
    )
    def test_but_nothing_else_is_a_label(self, tag):
        with pytest.raises(TagError, match="is not in scheme IO; expected one of O, I-LABEL"):
            spans(f"PER O {tag}", scheme="IO")


def test_labels_may_contain_dashes_and_bare_prefixes_have_none():
    assert spans("B-per-son I-per-son") == [(0, 2, "per-son")]
    assert spans("B I O B") == [(0, 2, "_"), (3, 4, "_")]


def test_texts_do_not_run_into_one_another():
    corpus = Corpus.from_tags({"a": [["O", "B-X"], [], ["B-X", "I-X"], ["B-X"]]})
    assert corpus.spans("0", "a") == [(1, 2, "X")]
    assert corpus.spans("1", "a") == []
    assert corpus.spans("2", "a") == [(0, 2, "X")]
    assert corpus.spans("3", "a") == [(0, 1, "X")]


BROKEN = [
    # scheme, tags, the place named, repaired by conlleval, by discard
    ("IOB2", "O I-X I-X", "position 1: tag 'I-X' after 'O'", [(1, 3, "X")], []),
    ("IOB2", "I-X", "position 0: tag 'I-X' after the start of the text", [(0, 1, "X")], []),
    ("IOB2", "B-X I-Y", "position 1", [(0, 1, "X"), (1, 2, "Y")], [(0, 1, "X")]),
    ("IOB1", "O B-X I-X", "position 1", [(1, 3, "X")], []),
    ("IOB1", "I-Y B-X", "position 1", [(0, 1, "Y"), (1, 2, "X")], [(0, 1, "Y")]),
    ("BIOES", "B-X O", "position 0: tag 'B-X'.*before 'O'", [(0, 1, "X")], []),
    ("BIOES", "B-X I-X", "position 1.*before the end of the text", [(0, 2, "X")], []),
    ("BIOES", "O E-X S-Y", "position 1", [(1, 2, "X"), (2, 3, "Y")], [(2, 3, "Y")]),
    ("BILOU", "I-X L-X", "position 0", [(0, 2, "X")], []),
    ("BMES", "S-X M-X E-X", "position 1", [(0, 1, "X"), (1, 3, "X")], [(0, 1, "X")]),
]


@pytest.mark.parametrize(("scheme", "tags", "where", "conlleval", "discard"), BROKEN)
def test_broken_sequences(scheme, tags, where, conlleval, discard):
    with pytest.raises(TagError, match=f"document '0', annotator 'a', {where}.*breaks scheme"):
        spans(tags, scheme=scheme, repair="none")
    assert spans(tags, scheme=scheme) == conlleval
    assert spans(tags, scheme=scheme, repair="discard") == discard


def test_repairs_are_counted_and_signed():
    corpus = Corpus.from_tags({"a": [["O", "I-X"], ["I-Y"]], "b": [["B-X", "O"], ["O"]]})
    assert corpus.skipped == {"tags repaired by conlleval": 2}
    assert corpus.options == {"scheme": "IOB2", "repair": "conlleval"}


@pytest.mark.parametrize("tag", ["X-PER", "b-PER", "B-", "-PER", "", "Z-PER", "o", 3, None, True])
def test_unknown_tags(tag):
    with pytest.raises(TagError, match=r"document '1', annotator 'a', position 2: tag .* not in"):
        Corpus.from_tags({"a": [["O"], ["O", "O", tag]]})


def test_unhashable_tag():
    with pytest.raises(TagError, match="expected strings"):
        Corpus.from_tags({"a": [[["B-X"]]]})


def test_arrays_of_tags():
    corpus = Corpus.from_tags({"a": [np.array(["B-X", "I-X"])]})
    assert corpus.spans("0", "a") == [(0, 2, "X")]


def test_unknown_options_name_the_valid_ones():
    with pytest.raises(OptionError, match="unknown scheme 'IOC'; choose one of: IOB2, IOB1, IO,"):
        Corpus.from_tags({"a": [["O"]]}, scheme="IOC")
    with pytest.raises(
        OptionError, match="unknown repair 'fix'; choose one of: conlleval, discard"
    ):
        Corpus.from_tags({"a": [["O"]]}, repair="fix")


@pytest.mark.parametrize(
    ("alias", "scheme"), [("BIO", "IOB2"), ("IOB", "IOB1"), ("IOBES", "BIOES"), ("BIOLU", "BILOU")]
)
def test_schemes_have_other_names(alias, scheme):
    assert Corpus.from_tags({"a": [["O"]]}, scheme=alias).options == {"scheme": scheme}


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [("B-X E-X S-Y", "BIOES"), ("B-X L-X U-Y", "BILOU"), ("B-X M-X E-X", "BMES"), ("I-X", "IO"),
     ("I-X B-X", "IOB1"), ("I-X O B-X", "IOB2"), ("B-X B-X", "IOB2"), ("O", "IOB2")],
)  # fmt: skip
def test_prefixes_tell_the_scheme(tags, scheme):
    assert Corpus.from_tags({"a": [tags.split()]}).options["scheme"] == scheme


def test_annotators_have_one_scheme_together():
    tags = {"a": [["I-X", "O"]], "b": [["O", "B-X"]], "c": [["S-X", "O"]]}
    corpus = Corpus.from_tags(tags)
    assert corpus.options["scheme"] == "BIOES+IOB2"
    assert corpus.skipped == {"tags repaired by conlleval": 1}
    with pytest.raises(TagError, match="tag 'I-X' after the start of the text and before 'O'"):
        Corpus.from_tags(tags, repair="none")


def test_bytes_written_as_text_are_no_labels():
    with pytest.raises(TagError, match=r"""tag "B-b'PER'" has bytes written as text for a label"""):
        spans("O B-b'PER'")
    with pytest.raises(DataError, match=r"""label "b'PER'" is not a name; .* bytes written as"""):
        Corpus.from_spans({"a": [[(0, 1, "b'PER'")]]}, lengths=[3])
