"""Tags in columns give what drafts of the same documents give, and take little memory."""

import tracemalloc
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io import assembling
from beyondchance.io.formats import conll
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from generate import conll_sized, write_conll


def same(one, two):
    orders = [np.lexsort((c.span_start, c.span_annotator, c.span_text)) for c in (one, two)]
    for name in vars(one):
        values = [getattr(corpus, name) for corpus in (one, two)]
        if name.startswith("span_") and name not in {"span_id", "span_fields", "span_motif"}:
            values = [value[order] for value, order in zip(values, orders, strict=True)]
        np.testing.assert_equal(*values, err_msg=name)


def read(*texts, by_drafts=False, **options):
    reading = Reading(ReadOptions(**options))
    uploads = [
        Upload(f"{i}.x", str(i), [Source(f"{i}.x", member=text.encode())])
        for i, text in enumerate(texts)
    ]
    content = conll.read(uploads, reading)
    if by_drafts:
        content = chain.from_iterable(texts.drafts() for texts in content)
    corpus = assembling.assembled(content, reading, unit="sentence", positions="tokens")
    return replace(corpus, skipped=dict(reading.skipped), options=reading.signed)


def noting(taken, name, function):
    def noted(*given, **options):
        taken.append(name == "_by_columns")
        return function(*given, **options)

    return noted


@pytest.fixture
def by_columns(monkeypatch):
    """Whether each corpus was built of columns."""
    taken = []
    for name in ("_by_columns", "_by_drafts"):
        monkeypatch.setattr(assembling, name, noting(taken, name, getattr(assembling, name)))
    return taken


def test_files_of_an_annotator_are_one_after_the_other(tmp_path, by_columns):
    for annotator in "ab":
        (tmp_path / annotator).mkdir()
        for document, text in (("x", "Ada B-PER\nleft O\n"), ("y", "# k = v\nRome I-LOC\n")):
            (tmp_path / annotator / f"{document}.conll").write_text(text)
    corpus = bc.read(tmp_path / "a", tmp_path / "b")
    assert by_columns.pop()
    assert corpus.documents == ("x", "y")
    assert corpus.texts == ("Ada left", "Rome")
    assert corpus.spans("x", "b") == [(0, 1, "PER")]
    assert corpus.spans("y", "a") == [(0, 1, "LOC")]


@each("sentences_per_document", [None, 1, 7])
@each("options", [{}, {"unit": "document"}])
def test_a_whole_corpus(tmp_path, by_columns, sentences_per_document, options):
    paths = [tmp_path / "gold.conll", tmp_path / "system.conll"]
    for path, tags in zip(paths, conll_sized(60), strict=True):
        write_conll(path, tags, sentences_per_document)
    texts = [path.read_text() for path in paths]
    corpus = read(*texts, **options)
    assert by_columns.pop()
    same(corpus, read(*texts, by_drafts=True, **options))
    if not options:
        assert len(corpus.documents) == {None: 60, 1: 60, 7: 9}[sentences_per_document]


PLAIN = "Anna B-PER\nleft O\n\nRome B-LOC\n"


@each(
    "text",
    [
        PLAIN,
        PLAIN.replace(" ", "\t"),
        "\n" + PLAIN,
        "-DOCSTART- O\n\n" + PLAIN,
        "-DOCSTART- -X- O O\n" + PLAIN + "-DOCSTART-\n\n-DOCSTART-\n" + PLAIN,
        PLAIN + "# newdoc id = b c\n" + PLAIN + "# newdoc\n" + PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN + "\n\n" + PLAIN.rstrip("\n") + "\n\n\n",
        PLAIN + "-DOCSTART-",
        "\ufeff" + PLAIN,
        PLAIN.replace(" ", " N V "),
        PLAIN.replace(" ", "\t").replace("Anna", "Anna Lund\u3000Ås"),
        "1 Anna B-PER\n2 left O\n\n1 Rome B-LOC\n",
        "# a comment\n" + PLAIN,
        "# newdoc id = a\n# genre = news\n" + PLAIN + "# newdoc\n" + PLAIN,
        "-DOCSTART-x O\n" + PLAIN,
        "token tag\n" + PLAIN,
        "token,tag\nAnna,B-PER\n",
        PLAIN.replace("\n", "\r\n"),
        PLAIN + " \n\t\n" + PLAIN,
        PLAIN.replace("left", "le\u00a0ft"),
        PLAIN.replace(" ", "\t").replace("left", "left "),
        "a\tB-X\nb  O\n",
        "Anna I-PER\n",
        "Anna B\n",
    ],
)
def test_columns_are_taken(by_columns, text):
    corpus = read(text, text)
    assert by_columns.pop()
    same(corpus, read(text, text, by_drafts=True))


@each(
    ("texts", "options"),
    [
        ((PLAIN, PLAIN.replace("Rome", "rome")), {}),
        (("# newdoc id = a\n" + PLAIN + "# newdoc id = a\n\n" + PLAIN,), {}),
        ((f"# newdoc id = a\n{PLAIN}", f"# newdoc id = b\n{PLAIN}"), {}),
        ((PLAIN, PLAIN), {"match": "text"}),
    ],
)
def test_what_has_to_be_matched_or_aligned_becomes_drafts(by_columns, texts, options):
    corpus = read(*texts, **options)
    assert not by_columns.pop()
    same(corpus, read(*texts, by_drafts=True, **options))


def test_words_are_the_same_whatever_divides_them():
    tabs = PLAIN.replace(" ", "\t")
    same(read(PLAIN, tabs), read(tabs, PLAIN))
    assert read("New York\tB-LOC\nis\tO\n").texts == ("New York is",)


def test_labels_without_spans_are_none(by_columns):
    text = "Ada S-PER\nleft O\n\nRome B-LOC\n"
    corpus = read(text, repair="discard")
    assert by_columns.pop()
    assert corpus.labels == ("PER",)


def test_characters_as_positions(by_columns):
    corpus = read(PLAIN, positions="characters")
    assert not by_columns.pop()
    assert corpus.spans("2", "0") == [(0, 4, "LOC")]


@st.composite
def files(draw):
    """Mostly plain files: rows of one separator, and now and then something else."""
    separator = draw(st.sampled_from([" ", "\t"]))
    phrases = ["New York", "a\u00a0b"] if separator == "\t" else []
    words = st.sampled_from(["Anna", "é", "-", "a#b", "x-DOCSTART", *phrases]) | st.text(
        st.characters(codec="utf-8", exclude_categories=["Z", "C"], exclude_characters="#"),
        min_size=1,
        max_size=3,
    )
    tags = st.sampled_from(["O", "B-X", "B-X", "I-X", "B-Y"])
    rows = st.builds("{}{}{}\n".format, words, st.just(separator), tags)
    marks = [
        "\n",
        "\n\n",
        "-DOCSTART- O\n\n",
        "-DOCSTART-\tO\n",
        "# newdoc id = {}\n",
        "# newdoc\n",
    ]
    odd = [
        "#x O\n",
        "-DOCSTART-x O\n",
        "x-DOCSTART- O\n",
        " \n",
        "\r\n",
        "# x = y\n",
        "a  O\n",
        "a\u00a0b B\n",
        "x\tS-X O\n",
        " E-X\n",
        "x\n",
    ]
    lines = [draw(st.sampled_from(["", "-DOCSTART- O\n\n"])), f"Mia{separator}B-X\n"]
    for kind in draw(st.lists(st.integers(0, 99), max_size=9)):
        if kind < 75:
            lines.append(draw(rows))
        else:
            lines.append(draw(st.sampled_from(marks if kind < 97 else odd)).format(len(lines)))
    return "".join(lines)


@given(files(), st.sampled_from(["conlleval", "discard"]), st.sampled_from([1, 9, 2**20]))
def test_blocks_and_drafts_make_no_difference(text, repair, block):
    def attempted(**how):
        try:
            return read(text, repair=repair, **how)
        except bc.BeyondChanceError as error:
            return error

    whole = attempted()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll, "_BLOCK", block)
        other = attempted(by_drafts=True)
    if isinstance(whole, bc.Corpus):
        same(whole, other)
    else:
        assert str(whole) == str(other)


def test_other_columns_of_tags_are_pointed_out(tmp_path):
    path = tmp_path / "anna.conll"
    path.write_text("Anna N B-NP B-PER\nleft V O B-X\n")
    assert str(bc.read(path).notes[1]) == (
        "anna.conll: read from the last column of tags; column 3 holds tags too (columns='tag=3,4' "
        "reads each as an annotator, columns='tag=3+4' as layers of one)"
    )


@pytest.mark.slow
def test_memory_is_a_few_times_that_of_the_file():
    # With a string for each cell it would be thirty times.
    text = "".join(f"w{number % 1000} O\n" for number in range(400_000)) + PLAIN
    tracemalloc.start()
    try:
        read(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 14 * len(text)
