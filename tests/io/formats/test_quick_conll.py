"""The quick road for plain CoNLL files gives what the slow one gives."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io import reading as io
from beyondchance.io.formats.quick_conll import quick_corpus
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from generate import conll_sized, write_conll


def same(one, two):
    orders = [np.lexsort((c.span_start, c.span_annotator, c.span_text)) for c in (one, two)]
    for name in vars(one):
        values = [getattr(corpus, name) for corpus in (one, two)]
        if name.startswith("span_"):
            values = [value[order] for value, order in zip(values, orders, strict=True)]
        np.testing.assert_equal(*values, err_msg=name)


def quick(*texts, **options):
    uploads = [
        Upload(f"{i}.x", str(i), [Source(f"{i}.x", member=text.encode())])
        for i, text in enumerate(texts)
    ]
    return quick_corpus(uploads, Reading(ReadOptions(**options)))


def test_a_whole_corpus(tmp_path, monkeypatch):
    paths = [tmp_path / "gold.conll", tmp_path / "system.conll"]
    for path, tags in zip(paths, conll_sized(300), strict=True):
        write_conll(path, tags)
    fast = bc.read(*paths)
    monkeypatch.setattr(io, "quick_corpus", lambda *_: None)
    same(fast, bc.read(*paths))


PLAIN = "Anna B-PER\nleft O\n\nRome B-LOC\n"


def test_it_is_taken():
    assert quick(PLAIN, PLAIN) is not None
    assert quick(PLAIN.replace(" ", "\t")) is not None


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n" + PLAIN,
        PLAIN + "# O\n",
        "-DOCSTART- O\n\n" + PLAIN,
        "token tag\n" + PLAIN,
        PLAIN + "one\n",
        PLAIN + "one two O\n",
        PLAIN.replace("\n", "\r\n"),
        PLAIN + " \n",
        "\n" + PLAIN,
        PLAIN.replace("left", "le\u00a0ft"),
        PLAIN.replace("left", "\u3000left").replace(" ", "\t"),
        "one\ntwo\n",
        "",
        "Anna I-PER\n",
        "Anna B-PER\nleft I-LOC\n",
        "Anna B\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_slow_road(text):
    assert quick(text) is None


def test_words_that_differ_are_left_to_the_slow_road():
    assert quick(PLAIN, PLAIN.replace("Rome", "Bonn")) is None
    assert quick(PLAIN, PLAIN.replace("\n\n", "\n")) is None


@pytest.mark.parametrize("options", [{"unit": "document"}, {"tag_column": "2"}, {"match": "text"}])
def test_so_are_options(options):
    assert quick(PLAIN, **options) is None


rows = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
        st.sampled_from([" ", "\t", "  "]),
        st.sampled_from(["O", "B-X", "I-X", "B-Y", "S-X", "E-X", "B", "x"]),
        st.sampled_from(["\n", "\n\n", "\r\n", " \n"]),
    ),
    max_size=8,
)


@given(rows, st.sampled_from(["none", "conlleval", "discard"]))
def test_wherever_it_is_taken_the_slow_road_agrees(lines, repair):
    text = "".join("".join(row) for row in lines)
    fast = quick(text, repair=repair)
    if fast is None:
        return
    reading = Reading(ReadOptions(repair=repair))
    upload = Upload("0.x", "0", [Source("0.x", member=text.encode())])
    drafts = io.FORMATS["conll"].drafts(upload, reading)
    slow = io.assembled(drafts, reading, unit="sentence", positions="tokens")
    assert fast.documents == slow.documents
    assert fast.texts == slow.texts
    assert fast.token_start.tolist() == slow.token_start.tolist()
    for document in fast.documents:
        assert fast.spans(document, "0") == slow.spans(document, "0")
    assert fast.skipped == dict(reading.skipped)
    assert fast.options["scheme"] == reading.signed["scheme"]


@pytest.mark.parametrize("slow", [False, True])
def test_other_columns_of_tags_are_pointed_out(tmp_path, monkeypatch, slow):
    if slow:
        monkeypatch.setattr(io, "quick_corpus", lambda *_: None)
    path = tmp_path / "anna.conll"
    path.write_text("Anna N B-PER B-PER\nleft V O B-X\n")
    assert bc.read(path).notes[1] == (
        f"{path}: read from the last column; column 3 holds tags too (tag_column='3,4' reads each "
        "as an annotator)"
    )
