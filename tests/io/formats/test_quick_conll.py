"""The quick reader of plain CoNLL files gives what the general one gives."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import conll, quick_conll
from beyondchance.io.formats.quick_conll import quick_corpus
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
        if name.startswith("span_") and name != "span_id":
            values = [value[order] for value, order in zip(values, orders, strict=True)]
        np.testing.assert_equal(*values, err_msg=name)


def quick(*texts, **options):
    uploads = [
        Upload(f"{i}.x", str(i), [Source(f"{i}.x", member=text.encode())])
        for i, text in enumerate(texts)
    ]
    return quick_corpus(uploads, Reading(ReadOptions(**options)))


def general(text, **options):
    reading = Reading(ReadOptions(**options))
    upload = Upload("0.x", "0", [Source("0.x", member=text.encode())])
    drafts = conll.drafts([upload], reading)
    corpus = assembled(drafts, reading, unit="sentence", positions="tokens")
    return replace(corpus, skipped=dict(reading.skipped), options=reading.signed)


@each("sentences_per_document", [None, 1, 7])
def test_a_whole_corpus(tmp_path, monkeypatch, sentences_per_document):
    paths = [tmp_path / "gold.conll", tmp_path / "system.conll"]
    for path, tags in zip(paths, conll_sized(60), strict=True):
        write_conll(path, tags, sentences_per_document)
    fast = bc.read(*paths)
    monkeypatch.setattr(conll, "quick_corpus", lambda *_: None)
    same(fast, bc.read(*paths))
    assert len(fast.documents) == {None: 60, 1: 60, 7: 9}[sentences_per_document]


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
    ],
)
def test_it_is_taken(text):
    fast = quick(text, text)
    assert fast is not None
    assert fast.documents == general(text).documents


@each(
    "text",
    [
        "# a comment\n" + PLAIN,
        PLAIN + "# O\n",
        "# newdoc id = a\n# genre = news\n" + PLAIN,
        "# newdoc id = a\n" + PLAIN + "# newdoc id = a\n" + PLAIN,
        PLAIN + "# newdoc id = 0\n" + PLAIN,
        " -DOCSTART- O\n" + PLAIN,
        "-DOCSTART-x O\n" + PLAIN,
        "-DOCSTART- x\tO\n" + PLAIN,
        "token tag\n" + PLAIN,
        PLAIN + "one\n",
        PLAIN + "one two O\n",
        PLAIN.replace("\n", "\r\n"),
        PLAIN + " \n",
        PLAIN.replace("left", "le\u00a0ft"),
        PLAIN.replace("left", "\u3000left").replace(" ", "\t"),
        "one\ntwo\n",
        "-DOCSTART- O\n",
        "",
        PLAIN.replace("left", "le\x0bft"),
        PLAIN.replace(" ", "\t").replace("left", "left "),
        PLAIN.replace(" ", "\t").replace("O", ""),
        PLAIN.replace(" ", "\t").replace("left", ""),
        PLAIN + "one\n\ntwo three O\n",
        PLAIN.replace(" ", " N" * 64 + " "),
        "1 B-PER\n2 O\n",
        "Anna I-PER\n",
        "Anna B\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_general_reader(text):
    assert quick(text) is None


def test_words_that_differ_are_left_to_the_general_reader():
    assert quick(PLAIN, PLAIN.replace("Rome", "Bonn")) is None
    assert quick(PLAIN, PLAIN.replace("\n\n", "\n")) is None
    assert quick(PLAIN, PLAIN.replace("\n\n", "\n-DOCSTART- O\n\n"), marks="own") is None
    assert quick(f"# newdoc id = a\n{PLAIN}", f"# newdoc id = b\n{PLAIN}") is None


def test_words_are_the_same_whatever_divides_them():
    tabs = PLAIN.replace(" ", "\t")
    same(quick(PLAIN, tabs), quick(tabs, PLAIN))
    one, two = "New York\tB-LOC\nis\tO\n", "New\tB-LOC\nYork is\tO\n"
    assert quick(one, one).texts == ("New York is",)
    assert quick(one, two) is None


@each("options", [{"unit": "document"}, {"tag_column": "2"}, {"match": "text"}])
def test_so_are_options(options):
    assert quick(PLAIN, **options) is None


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


@given(files(), st.sampled_from(["none", "conlleval", "discard"]), st.sampled_from([1, 9, 2**20]))
def test_wherever_it_is_taken_the_general_reader_agrees(text, repair, at_a_time):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quick_conll, "_AT_A_TIME", at_a_time)
        fast = quick(text, repair=repair)
    if fast is None:
        return
    slow = general(text, repair=repair)
    assert fast.documents == slow.documents
    assert fast.text_document.tolist() == slow.text_document.tolist()
    assert fast.texts == slow.texts
    assert fast.token_start.tolist() == slow.token_start.tolist()
    assert fast.token_end.tolist() == slow.token_end.tolist()
    for document in fast.documents:
        assert fast.spans(document, "0") == slow.spans(document, "0")
    assert fast.skipped == slow.skipped
    assert fast.options == slow.options


@each("slow", [False, True])
def test_other_columns_of_tags_are_pointed_out(tmp_path, monkeypatch, slow):
    if slow:
        monkeypatch.setattr(conll, "quick_corpus", lambda *_: None)
    path = tmp_path / "anna.conll"
    path.write_text("Anna N B-NP B-PER\nleft V O B-X\n")
    assert str(bc.read(path).notes[1]) == (
        "anna.conll: read from the last column; column 3 holds tags too (tag_column='3,4' reads "
        "each as an annotator)"
    )


def test_memory_is_a_few_times_that_of_the_file():
    # With a string for each cell it would be thirty times.
    text = "".join(f"w{number % 1000} O\n" for number in range(100_000)) + PLAIN
    tracemalloc.start()
    try:
        assert quick(text) is not None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 14 * len(text)
