"""CoNLL-U: entities in MISC, as tags and in brackets."""

import contextlib

import conllu as library
import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import conllu
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.messages import spoken
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_notes, assert_tells, refused


def row(number, form, misc="_"):
    return f"{number}\t{form}\t_\tNOUN\t_\t_\t0\tdep\t_\t{misc}\n"


def sentence(*words, comments=""):
    """Lines of words given as ``form`` or ``form MISC``."""
    rows = [row(i, *word.split(" ")) for i, word in enumerate(words, start=1)]
    return comments + "".join(rows) + "\n"


TAGS = (
    sentence(
        "Mia NER=B-PER|SpaceAfter=No",
        "Lund NER=I-PER",
        "sings NER=O",
        comments="# newdoc id = one\n# sent_id = s1\n",
    )
    + sentence("Oslo NER=B-LOC", "waits")
    + sentence("Nobody", comments="# newdoc id = two\n")
)


@pytest.fixture
def read(tmp_path):
    def reader(content, name="anna.conllu", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return bc.read(path, format="conllu", **options)

    return reader


def test_tags_documents_and_sentences(read):
    corpus = read(TAGS)
    assert corpus.documents == ("one", "two")
    assert corpus.annotators == ("anna",)
    assert corpus.text_length.tolist() == [3, 2, 1]
    assert corpus.texts == ("Mia Lund sings", "Oslo waits", "Nobody")
    assert corpus.span_text.tolist() == [0, 1]
    # Each counted in its sentence.
    assert corpus.spans("one", "anna") == [(0, 2, "PER"), (0, 1, "LOC")]
    assert corpus.spans("two", "anna") == []
    assert (corpus.unit, corpus.positions) == ("sentence", "tokens")
    assert corpus.skipped == {}
    assert_notes(corpus.notes, "NER … MISC", "IOB2")
    assert corpus.options["scheme"] == "IOB2"


def test_the_library_agrees(read):
    ours = read(TAGS)
    words = [[token["form"] for token in tokens] for tokens in library.parse(TAGS)]
    assert list(ours.texts) == [" ".join(forms) for forms in words]


forms = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=3)
miscs = st.lists(
    st.sampled_from(["_", "NER=B-X", "NER=I-X", "NER=_", "NER", "SpaceAfter=No", "a=", "é=ü"]),
    min_size=1,
    max_size=3,
).map("|".join)


@pytest.mark.slow
@given(st.lists(st.tuples(forms, miscs, st.sampled_from(["", "", "-", "."])), min_size=1))
def test_the_library_parses_the_same(words):
    """Words, what MISC says of them, and which rows are no words."""
    rows = []
    for number, (form, misc, other) in enumerate(words):
        if other:
            name = f"{number + 1}-{number + 2}" if other == "-" else f"{number}.1"
            rows.append(row(name, form, misc))
        rows.append(row(number + 1, form, misc))
    content = "# sent_id = s\n" + "".join(rows) + "\n"
    (theirs,) = library.parse(content)
    (ours,) = conllu._parsed(Source("x", member=content.encode()))
    assert ours.name == theirs.metadata["sent_id"]
    for is_word, found in ((True, ours.words), (False, ours.others)):
        wanted = [token for token in theirs if isinstance(token["id"], int) == is_word]
        assert [word.form for word in found] == [token["form"] for token in wanted]
        for word, token in zip(found, wanted, strict=True):
            misc = token["misc"] or {}
            assert word.misc == {key: value or "" for key, value in misc.items()}


def test_by_document(read):
    corpus = read(TAGS, unit="document")
    assert corpus.text_length.tolist() == [5, 1]
    assert corpus.spans("one", "anna") == [(0, 2, "PER"), (3, 4, "LOC")]


def test_without_newdoc_each_sentence_is_a_document(read):
    content = sentence("Oslo ner=B-LOC", comments="# sent_id = s1\n") + sentence("x", "y")
    corpus = read(content)
    assert corpus.documents == ("s1", "2")
    assert corpus.spans("s1", "anna") == [(0, 1, "LOC")]


def test_newdoc_without_a_name_and_in_a_block_of_its_own(read):
    content = "# newdoc\n\n" + sentence("x NE=B-X") + sentence("y", comments="# newdoc\n")
    assert read(content).documents == ("document 1", "document 2")


def test_multiword_tokens_and_empty_nodes_are_no_positions(read):
    content = (
        "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\tNER=B-LOC\n"
        + row(1, "zu")
        + row(2, "dem", "NER=B-LOC")
        + "2.1\tleer\t_\t_\t_\t_\t_\t_\t_\tNER=O\n"
        + row(3, "Markt", "NER=I-LOC")
    )
    corpus = read(content)
    assert corpus.text_length.tolist() == [3]
    assert corpus.spans("1", "anna") == [(1, 3, "LOC")]
    assert corpus.skipped == {"tags of multiword tokens and empty nodes ignored": 1}


def test_the_key_can_be_chosen(read):
    content = sentence("Oslo NER=O|Gold=B-LOC", "x Gold=_")
    assert read(content).spans("1", "anna") == []
    assert read(content, feature="Gold").spans("1", "anna") == [(0, 1, "LOC")]
    assert read(content, feature="Gold").options["feature"] == "Gold"


def test_brackets_of_one_name(read):
    """The last one opened is the first to be closed, and named if nothing closes it."""
    words = ["a Entity=(X(Y", "b Entity=(X", "c Entity=X)", "d Entity=Y)X)"]
    spans = read(sentence(*words)).spans("1", "anna")
    assert spans == [(0, 4, "X"), (0, 4, "Y"), (1, 3, "X")]
    with refused(bc.FormatError, ":2: … '(X' … 'X' … nothing"):
        read(sentence("a Entity=(X(Y", "b Entity=(X", "c Entity=Y)"))


def test_brackets_nest_and_cross(read):
    content = sentence(
        "the Entity=(ORG",
        "Oslo Entity=(LOC)",
        "Opera Entity=(X",
        "House Entity=ORG)",
        "a Entity=X)(Y",
        "b Entity=(Y",
        "c Entity=Y)Y)",
    )
    assert sorted(read(content).spans("1", "anna")) == [
        (0, 4, "ORG"),
        (1, 2, "LOC"),
        (2, 5, "X"),
        (4, 7, "Y"),
        (5, 7, "Y"),
    ]


def test_brackets_with_named_parts(read):
    content = sentence(
        "the Entity=(e1-person-1",
        "king Entity=(e2-place-1)",
        "x Entity=e1)",
        comments="# global.Entity = eid-etype-head\n",
    )
    assert read(content).spans("1", "anna") == [(0, 3, "person"), (1, 2, "place")]


def test_entities_of_empty_nodes_in_brackets(read):
    content = row(1, "x", "Entity=(A)") + "1.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=(B)\n"
    corpus = read(content)
    assert corpus.spans("1", "anna") == [(0, 1, "A")]
    assert corpus.skipped == {"entities of multiword tokens and empty nodes ignored": 1}
    with refused(bc.FormatError, "anna.conllu:2: … '(B' … begins"):
        read(content.replace("(B)", "(B"))


def test_conllu_plus(read):
    content = "# global.columns = ID FORM MISC\n1\tOslo\tNER=B-LOC\n2\tx\t_\n"
    assert read(content).spans("1", "anna") == [(0, 1, "LOC")]


def test_forms_with_spaces_and_emoji_bom_and_crlf(read):
    content = "\ufeff" + (row(1, "New  York", "NER=B-LOC") + row(2, "😀", "NER=B-X")).replace(
        "\n", "\r\n"
    )
    corpus = read(content)
    assert corpus.texts == ("New York 😀",)
    assert corpus.spans("1", "anna") == [(0, 1, "LOC"), (1, 2, "X")]
    assert read(content, positions="characters").spans("1", "anna") == [(0, 8, "LOC"), (9, 10, "X")]


def test_folders(tmp_path):
    for annotator, tag in (("anna", "B-LOC"), ("ben", "B-ORG")):
        folder = tmp_path / annotator
        folder.mkdir()
        for name in ("one", "two"):
            (folder / f"{name}.conllu").write_text(sentence(f"Oslo NER={tag}"))
        (folder / "README").write_text("Read me.\n")
    corpus = bc.read(tmp_path / "anna", tmp_path / "ben", format="conllu")
    assert corpus.documents == ("one/1", "two/1")
    assert corpus.spans("two/1", "ben") == [(0, 1, "ORG")]
    assert corpus.skipped == {"files of other formats ignored": 2}


def test_repairs(read):
    content = sentence("x NER=I-PER", "y NER=I-PER")
    with refused(bc.TagError, "anna.conllu:1: … tag 'I-PER' … start"):
        read(content, scheme="IOB2", repair="none")
    corpus = read(content, scheme="IOB2")
    assert corpus.spans("1", "anna") == [(0, 2, "PER")]
    assert corpus.skipped == {"tags repaired by conlleval": 1}


@each(
    ("content", "message"),
    [
        ("", ": … sentence"),
        ("# only\n", ": … sentence"),
        ("1\tx\tNER=O\n", ":1: … 3 … columns … 10"),
        (row(1, "x") + row(2, ""), ":2: … column … '_'"),
        (
            row("a", "x", "NER=O"),
            ":1: … word 'a' … 1 … 1 … 2 … 1.1",
        ),
        (
            row(1, "x", "NER=O") + row(1, "y"),
            ":2: word '1' … word … 1 … 2",
        ),
        (row("1-2", "x", "NER=O"), ":1: … without"),
        (
            sentence("x SpaceAfter=No"),
            ": … MISC … 'SpaceAfter' … feature=KEY",
        ),
        (
            sentence("x Entity=(A", "y Entity=B-A"),
            ":2: … 'B-A' … brackets",
        ),
        (
            sentence("x Entity=(A"),
            ":1: … '(A' … 'A' … nothing … 'A'",
        ),
        (
            sentence("x Entity=A)"),
            ":1: … 'A)' … 'A' … open … 'A'",
        ),
        (
            sentence("x Entity=(e1-person-1)"),
            ":1: … '(e1-person-1)' … several … '# global.Entity = eid-etype-head'",
        ),
        (
            sentence("x Entity=(e1)", comments="# global.Entity = eid-etype\n"),
            ":2: … '(e1)' … etype … '# global.Entity' … 'eid' … 'etype'",
        ),
        (
            sentence("x Entity=(e1)", comments="# global.Entity = eid-head\n"),
            ":2: … '(e1)' … etype … '# global.Entity' … 'eid' … 'head'",
        ),
        (
            sentence("x Entity=(A[1/2])"),
            ":1: … '(A[1/2])' … fragment",
        ),
        (
            "# global.columns = ID FORM\n1\tx\n",
            ":2: … columns … 'ID' … 'FORM'",
        ),
        (b"1\t\xff", ":1: … byte … 0xff … UTF-8 … UTF-8"),
        (
            b"1\tx\0",
            ":1: … NUL … character … UTF-16",
        ),
        (TAGS.replace("= two", "= one"), ""),
        (
            sentence("x NER=O", comments="# newdoc id = a\n")
            + sentence("y", comments="# newdoc id = b\n")
            + sentence("z", comments="# newdoc id = a\n"),
            ":8: … document … 'a'",
        ),
    ],
)
def test_malformed(read, content, message):
    if not message:  # a document that goes on is no error
        assert read(content).documents == ("one",)
        return
    with refused(bc.FormatError, f"/anna.conllu{message}"):
        read(content)


def upload(content):
    return Upload("x", "x", [Source("x", member=content)])


def test_detection():
    assert conllu.is_format(upload(TAGS.encode()))
    assert conllu.is_format(upload(b"# global.columns = ID FORM MISC\n1\tOslo\tNER=B-LOC\n"))
    for other in (
        b"",
        b"Oslo B-LOC\nx O\n",
        b"0\tx" + b"\tO" * 8 + b"\n",
        b'{"text": "x"}\n',
        b"<GateDocument/>",
        b"document,annotator,start,end,label\n",
        b"\x78\x9c\0\xff",
    ):
        assert not conllu.is_format(upload(other))
    assert not conllu.is_format(Upload("x", "x", [], data=[]))


BRACKETS = sentence(
    "the Entity=(e1-person-1",
    "king Entity=(e2-place-1)",
    "x Entity=e1)",
    comments="# global.Entity = eid-etype-head\n# newdoc id = a\n",
)


@pytest.mark.slow
@examples(160)
@given(
    st.sampled_from([TAGS.encode(), BRACKETS.encode()]),
    st.lists(
        st.tuples(
            st.integers(0, 300),
            st.integers(0, 3),
            st.binary(max_size=3)
            | st.sampled_from([b"\n", b"\t", b"(", b")", b"=", b"|", b"_", b"#", b"\r"]),
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_nothing_but_our_errors(content, edits, only_random):
    for place, cut, new in edits:
        content = content[:place] + new + content[place + cut :]
    if only_random:
        content = b"".join(new for _, _, new in edits)
    reading = Reading(ReadOptions())
    conllu.is_format(upload(content))
    with contextlib.suppress(bc.BeyondChanceError):
        assembled(
            conllu.read([upload(content)], reading), reading, unit="sentence", positions="tokens"
        )


class TestColumnsOfTheirOwn:
    PLUS = (
        "# global.columns = ID FORM UPOS HEAD DEPREL {}\n1\tAnna\tPROPN\t2\tnsubj\tB-PER\n"
        "2\tmet\tVERB\t0\troot\t{}\n\n"
    )

    @each("name", ["NER", "ner", "MINE:NE", "TAGS"])
    @each("nothing", ["O", "_"])
    def test_tags(self, read, name, nothing):
        corpus = read(self.PLUS.format(name, nothing))
        assert corpus.spans("1", "anna") == [(0, 1, "PER")]
        assert f"entities read from the column {name}" in [spoken(n.text) for n in corpus.notes]

    def test_one_that_is_asked_for(self, read):
        two = self.PLUS.format("GOLD SYSTEM", "O\tO").replace("B-PER", "B-PER\tB-LOC")
        assert read(two, feature="SYSTEM").spans("1", "anna") == [(0, 1, "LOC")]
        with refused(bc.FormatError, "'GOLD' … 'SYSTEM'"):
            read(two)

    def test_no_tags(self, read):
        with refused(bc.FormatError, "NER"):
            read(self.PLUS.format("LEVEL", "x"))


# --- CoNLL-2012 ---------------------------------------------------------------


def row_2012(number, word, entity, *predicates):
    cells = ["x", "0", number, word, "NN", "(NP*", "-", "-", "-", "Ada", entity, *predicates, "(3"]
    return "  ".join(map(str, cells))


def in_2012(*sentences, name="bn/x_01", part="000"):
    """Sentences, of which each is a list of words and what column 11 has."""
    lines = [f"#begin document ({name}); part {part}"]
    for n_predicates, sentence in enumerate(sentences):
        lines += [row_2012(i, *cells, *["*"] * n_predicates) for i, cells in enumerate(sentence)]
        lines.append("")
    return "\n".join([*lines, "#end document\n"])


MALI = [("Mali", "(GPE)"), ("said", "*"), ("Ada", "(PERSON*"), ("Lund", "*)")]
NEWS = [("CNN", "(ORG*"), ("Headline", "(WORK_OF_ART*"), ("News", "*))"), (".", "*")]


def read_2012(tmp_path, text, name="anna.gold_conll", **options):
    (tmp_path / name).write_text(text)
    return bc.read(tmp_path / name, **options)


def test_conll_2012(tmp_path):
    text = in_2012(MALI, NEWS) + in_2012([("Yes", "*")], MALI, part="001")
    corpus = read_2012(tmp_path, text)
    assert corpus.documents == ("bn/x_01", "bn/x_01; part 1")
    assert corpus.text_length.tolist() == [4, 4, 1, 4]
    assert corpus.annotators == ("anna",)
    columns = (corpus.span_text, corpus.span_start, corpus.span_end, corpus.span_label)
    spans = zip(*map(np.ndarray.tolist, columns), strict=True)
    assert sorted((*place, corpus.labels[label]) for *place, label in spans) == [
        (0, 0, 1, "GPE"),
        (0, 2, 4, "PERSON"),
        (1, 0, 3, "ORG"),
        (1, 1, 3, "WORK_OF_ART"),
        (3, 0, 1, "GPE"),
        (3, 2, 4, "PERSON"),
    ]
    assert corpus.skipped == {}


@each("cell", ["(GPE*)", "(GPE)"])
def test_a_single_word_with_a_star_or_without(tmp_path, cell):
    corpus = read_2012(tmp_path, in_2012([("Mali", cell), ("won", "*")]))
    assert corpus.labels == ("GPE",)
    assert corpus.span_end.tolist() == [1]


@each("nothing", ["*", "-", "_"])
def test_columns_without_entities(tmp_path, nothing):
    corpus = read_2012(tmp_path, in_2012([("No", nothing), ("news", nothing)]))
    assert (corpus.text_length.tolist(), len(corpus.span_start)) == ([2], 0)


@each(
    ("text", "message"),
    [
        (in_2012([("Mali", "(GPE*")]), ":2: … '(GPE' … opens … 'GPE' … after"),
        (in_2012([("a", "*"), ("Mali", "*)")]), ":3: … '*)' … closes … not open"),
        (in_2012([*MALI, ("x", "*))")]), ":6: … closes … not open"),
        (in_2012(MALI) + "x 0 0 Ada NN\n", ":8: … 5 columns … column 11"),
        (in_2012(MALI).replace("2  Ada", "2\nx  Ada"), ":4: … 3 columns … column 11"),
        (in_2012([*MALI, ("x", "B-PER")]), ":6: … 'B-PER' … brackets"),
    ],
)
def test_what_is_wrong_in_conll_2012(tmp_path, text, message):
    with pytest.raises(bc.DataError) as caught:
        read_2012(tmp_path, text, format="conllu")
    assert_tells(caught.value, f"anna.gold_conll{message}")


def test_other_columns_below_the_same_line_are_read_as_columns(tmp_path):
    text = "#begin document (x); part 000\nAda B-PER\nsat O\n"
    corpus = read_2012(tmp_path, text)
    assert [item.format for item in corpus.inputs] == ["conll"]
