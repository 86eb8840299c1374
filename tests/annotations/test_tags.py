"""Tag sequences: every scheme, every repair, every way to be wrong."""

import numpy as np

from beyondchance import Corpus, DataError, OptionError, TagError
from each import each
from refusals import refused


def spans(tags, **options):
    corpus = Corpus.from_tags({"a": [tags.split()]}, **options)
    return [tuple(span) for span in corpus.spans("0", "a")]


# The same three spans, [0, 2) X, [2, 3) X, [4, 7) Y, in every scheme that can tell them apart.
#                       0   1   2   3 4   5   6
SAME = [(0, 2, "X"), (2, 3, "X"), (4, 7, "Y")]


@each(
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
    assert spans(tags, scheme=scheme, repair="none") == spans(tags, scheme=scheme) == SAME


def test_io_joins_what_it_cannot_tell_apart():
    assert spans("I-X I-X I-X O I-Y I-X", scheme="IO") == [(0, 3, "X"), (4, 5, "Y"), (5, 6, "X")]


class TestLabelsWithoutPrefix:
    def test_are_read_as_io(self):
        found = spans("PER PER O person-actor O", scheme="IO")
        assert found == [(0, 2, "PER"), (3, 4, "person-actor")]

    @each("tags", ["PER O", "LOC O", "O work-of-art"])
    def test_are_refused_otherwise(self, tags):
        tag = next(tag for tag in tags.split() if tag != "O")
        with refused(TagError, f"{tag!r} … prefix … 'IO'", use="scheme"):
            spans(tags)

    @each("tag", ["I-PER", "B-PER", "o", "_", "0", "B", "b-PER", "B_PER", "b'PER'"])
    def test_but_nothing_else_is_a_label(self, tag):
        with refused(TagError, "scheme IO … I-LABEL"):
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
    # scheme, tags, the position named and what is next to it, repaired by conlleval, by discard
    ("IOB2", "O I-X I-X", (1, "after 'O'"), [(1, 3, "X")], []),
    ("IOB2", "I-X", (0, "start of the text"), [(0, 1, "X")], []),
    ("IOB2", "B-X I-Y", (1, ""), [(0, 1, "X"), (1, 2, "Y")], [(0, 1, "X")]),
    ("IOB1", "O B-X I-X", (1, ""), [(1, 3, "X")], []),
    ("IOB1", "I-Y B-X", (1, ""), [(0, 1, "Y"), (1, 2, "X")], [(0, 1, "Y")]),
    ("BIOES", "B-X O", (0, "before 'O'"), [(0, 1, "X")], []),
    ("BIOES", "B-X I-X", (1, "end of the text"), [(0, 2, "X")], []),
    ("BIOES", "O E-X S-Y", (1, ""), [(1, 2, "X"), (2, 3, "Y")], [(2, 3, "Y")]),
    ("BILOU", "I-X L-X", (0, ""), [(0, 2, "X")], []),
    ("BMES", "S-X M-X E-X", (1, ""), [(0, 1, "X"), (1, 3, "X")], [(0, 1, "X")]),
]


@each(("scheme", "tags", "place", "conlleval", "discard"), BROKEN)
def test_broken_sequences(scheme, tags, place, conlleval, discard):
    position, beside = place
    tag, where = tags.split()[position], f"document '0', annotator 'a', position {position}"
    with refused(TagError, f"{where}: … '{tag}' … {beside} … scheme {scheme}"):
        spans(tags, scheme=scheme, repair="none")
    assert spans(tags, scheme=scheme) == conlleval
    assert spans(tags, scheme=scheme, repair="discard") == discard


def test_repairs_are_counted_and_signed():
    corpus = Corpus.from_tags({"a": [["O", "I-X"], ["I-Y"]], "b": [["B-X", "O"], ["O"]]})
    assert corpus.skipped == {"tags repaired by conlleval": 2}
    assert corpus.options == {"scheme": "IOB2", "repair": "conlleval"}


@each("tag", ["X-PER", "b-PER", "B-", "-PER", "", "Z-PER", "o", 3, None, True])
def test_unknown_tags(tag):
    with refused(TagError, "document '1', annotator 'a', position 2: … tag"):
        Corpus.from_tags({"a": [["O"], ["O", "O", tag]]})


def test_unhashable_tag():
    with refused(TagError, "strings"):
        Corpus.from_tags({"a": [[["B-X"]]]})


def test_arrays_of_tags():
    corpus = Corpus.from_tags({"a": [np.array(["B-X", "I-X"])]})
    assert corpus.spans("0", "a") == [(0, 2, "X")]


def test_unknown_options_name_the_valid_ones():
    with refused(OptionError, "scheme … 'IOC' … IOB2 … IOB1 … IO,"):
        Corpus.from_tags({"a": [["O"]]}, scheme="IOC")
    with refused(OptionError, "repair … 'fix' … conlleval … discard"):
        Corpus.from_tags({"a": [["O"]]}, repair="fix")


@each(
    ("alias", "scheme"), [("BIO", "IOB2"), ("IOB", "IOB1"), ("IOBES", "BIOES"), ("BIOLU", "BILOU")]
)
def test_schemes_have_other_names(alias, scheme):
    assert Corpus.from_tags({"a": [["O"]]}, scheme=alias).options == {"scheme": scheme}


@each(
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
    with refused(TagError, "'I-X' … start … before 'O'"):
        Corpus.from_tags(tags, repair="none")


def test_bytes_written_as_text_are_no_labels():
    with refused(TagError, "B-b'PER' … bytes"):
        spans("O B-b'PER'")
    with refused(DataError, "label … b'PER' … bytes"):
        Corpus.from_spans({"a": [[(0, 1, "b'PER'")]]}, lengths=[3])


def test_annotators_of_several_schemes_are_decoded_each_by_its_own():
    tags = {"a": [["S-X", "O"]], "b": [["I-X", "B-X"]], "c": [["O", "U-X"]]}
    corpus = Corpus.from_tags(tags)
    assert corpus.options["scheme"] == "BILOU+BIOES+IOB1"
    assert [len(corpus.spans("0", name)) for name in "abc"] == [1, 2, 1]


def test_tags_that_adjoin_in_two_texts_begin_spans():
    # Both B adjoin a tag of the same label, but one of another text.
    corpus = Corpus.from_tags({"a": [["I-X"], ["B-X", "I-X"]]})
    assert corpus.options["scheme"] == "IOB2"
