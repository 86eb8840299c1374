"""A corpus written, and read again."""

import json
import os
import tempfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import cassis
import numpy as np
import pytest
from bioc import biocjson, biocxml
from hypothesis import assume, given, strategies as st

import beyondchance as bc
from beyondchance.annotations.corpus import Input
from beyondchance.cli.main import main
from beyondchance.io import writing
from beyondchance.io.assembling import assembled
from beyondchance.io.drafts import Draft, DraftSpan, draft_of_words
from beyondchance.io.offsets import tokenized
from beyondchance.io.options import Reading
from beyondchance.io.writing import write
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_tells, refused

IN_ONE_FILE = {"label-studio": "x.json", "prodigy": "x.jsonl"}
IN_FOLDERS = {
    "brat": "x/", "doccano": "x/", "prodigy": "x/", "webanno-tsv": "x/", "uima": "x/", "bioc": "x/"
}  # fmt: skip
PLACES = [
    *IN_ONE_FILE.items(),
    *IN_FOLDERS.items(),
    ("uima", "x.json/"),
    ("bioc", "x.json/"),
]
"""Formats that have texts, and how they are written if there are several annotators."""
TABLES = ("spans.csv", "spans.tsv", "spans.jsonl", "spans.parquet", "spans.txt")


def content(corpus, *, unit="sentence"):
    """Who marked what in which document, and its fields; offsets in texts or documents."""
    found = {}
    lengths = corpus.text_length.tolist()
    for number, document in enumerate(corpus.documents):
        members = np.flatnonzero(corpus.text_document == number).tolist()
        begins = dict(
            zip(members, np.cumsum([0, *(lengths[t] for t in members[:-1])]).tolist(), strict=True)
        )
        who = {name: [] for name in corpus.annotators_of(document)}
        for index in range(len(corpus.span_start)):
            text = int(corpus.span_text[index])
            if text in begins:
                start, end, label = corpus.span(index)
                place = (text - members[0], start, end)
                if unit == "document":
                    place = (start + begins[text], end + begins[text])
                who[corpus.annotators[int(corpus.span_annotator[index])]].append((*place, label))
        fields = {name: values[number] for name, values in corpus.fields.items() if values[number]}
        sizes = [lengths[t] for t in members]
        found[document] = (
            sum(sizes) if unit == "document" else [size for size in sizes if size],
            {name: sorted(spans) for name, spans in who.items()},
            fields,
        )
    return found


def without_fields(found):
    return {document: parts[:2] for document, parts in found.items()}


def built(*drafts, unit="document", positions="characters", **options):
    return assembled(drafts, Reading(ReadOptions(**options)), unit=unit, positions=positions)


def marked(document, annotator, text, *spans, **fields):
    places = [DraftSpan(text.index(w), text.index(w) + len(w), label) for w, label in spans]
    return Draft(
        where="here", document=document, annotator=annotator, text=text, spans=places, fields=fields
    )


def tagged(document, annotator, words, *spans, sentences=None, **fields):
    return draft_of_words(
        words,
        spans,
        where="here",
        document=document,
        annotator=annotator,
        sentences=sentences,
        fields=fields,
    )


SMALL = built(
    marked("a", "anna", "Mia 😀 met Bo Li.", ("Mia", "PER"), ("Bo Li", "PER"), batch="1"),
    marked("a", "ben", "Mia 😀 met Bo Li.", ("Bo", "PER"), batch="1"),
    marked("b/c", "anna", 'It\nrained, "hard".', batch="2"),
    marked("d.e", "ben", "Oslo\t; Rome", ("Oslo", "LOC"), batch=""),
)
WORDS = built(
    tagged("a", "anna", ["Mia", "met", "Bo"], (0, 1, "PER"), sentences=[(0, 2), (2, 3)], batch="1"),
    tagged("a", "ben", ["Mia", "met", "Bo"], (2, 3, "PER"), sentences=[(0, 2), (2, 3)], batch="1"),
    tagged("b", "anna", ["It", "rained"], sentences=[(0, 2)]),
    tagged("b", "ben", ["It", "rained"], (0, 2, "LOC"), sentences=[(0, 2)]),
    unit="sentence",
    positions="tokens",
)
EXAMPLE = files("beyondchance").joinpath("resources", "example.conll")


# --- Corpora of any kind ------------------------------------------------------

NAMES = st.text("abcXYZ09-_.é😀", min_size=1, max_size=5).filter(lambda name: name[0] != ".")
LABELS = st.sampled_from(["PER", "LOC", "B-x", "O", "é😀"])
WORD = st.text("abOBI#-,;'\"😀é.", min_size=1, max_size=4)
FIELDS = st.sampled_from(["", "1", "x y", "a,b;c", "é😀", '"q"', "1.50"])


@st.composite
def spans_of(draw, n_words, *, may_overlap):
    """Spans of words; without overlap they are drawn from left to right."""
    found, end = set(), 0
    for _ in range(draw(st.integers(0, 3))):
        low = 0 if may_overlap else end
        if low >= n_words:
            break
        start = draw(st.integers(low, n_words - 1))
        end = draw(st.integers(start + 1, n_words))
        found.add((start, end, draw(LABELS)))
    return sorted(found)


@st.composite
def corpora(draw, *, positions, unit="sentence", may_overlap=False, words=WORD, complete=False):
    """Any corpus of words, in which some annotators may have left out documents."""
    drafts = []
    annotators = draw(st.lists(NAMES.map(lambda n: f"p{n}"), min_size=1, max_size=3, unique=True))
    for document in draw(st.lists(NAMES, min_size=1, max_size=3, unique_by=str.casefold)):
        sentences = draw(st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=3))
        # A file in which every line looks like a comment cannot be told from comments.
        sentences[-1][-1] = sentences[-1][-1].lstrip("#") or "a"
        who = annotators
        if not complete:
            who = draw(st.lists(st.sampled_from(annotators), min_size=1, unique=True))
        field = draw(FIELDS)
        ends = np.cumsum([len(sentence) for sentence in sentences]).tolist()
        begins = [0, *ends[:-1]]
        for annotator in who:
            spans = [
                (begin + start, begin + end, label)
                for begin, sentence in zip(begins, sentences, strict=True)
                for start, end, label in draw(spans_of(len(sentence), may_overlap=may_overlap))
            ]
            flat = [word for sentence in sentences for word in sentence]
            divided = list(zip(begins, ends, strict=True))
            drafts.append(tagged(document, annotator, flat, *spans, sentences=divided, batch=field))
    return built(*drafts, unit=unit, positions=positions)


def again(corpus, name, **options):
    """Write a corpus and read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(corpus, path, format="table")
        return bc.read(path, format="table", **options)


@pytest.mark.usefixtures("by_characters")
@examples(60)
@given(st.data(), st.sampled_from(TABLES), st.sampled_from(["tokens", "characters"]))
def test_any_table(data, name, positions):
    unit = data.draw(st.sampled_from(["sentence", "document"]))
    corpus = data.draw(corpora(positions=positions, unit=unit, may_overlap=True))
    result = again(corpus, name, positions=None)
    assert content(result) == content(corpus)
    assert (result.unit, result.positions) == (unit, positions)
    if positions == "characters":
        assert sorted(result.texts) == sorted(corpus.texts)


@examples(60)
@given(corpora(positions="tokens", complete=True))
def test_any_file_of_columns(corpus):
    assume(len(corpus.annotators) > 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "all.conll")
        write(corpus, path, format="conll")
        result = bc.read(path, format="conll", scheme="IOB2")
    assert content(result) == content(corpus)
    assert result.annotators == corpus.annotators
    assert result.documents == corpus.documents
    assert result.texts == corpus.texts


@examples(60)
@given(corpora(positions="tokens"))
def test_any_folder_of_columns(corpus):
    with tempfile.TemporaryDirectory() as folder:
        write(corpus, folder, format="conll")
        result = bc.read(*sorted(Path(folder).iterdir()), format="conll", scheme="IOB2")
    assert content(result) == content(corpus)


@pytest.mark.usefixtures("by_characters")
@examples(60)
@given(corpora(positions="characters", unit="document", may_overlap=True))
def test_any_brat_folder(corpus):
    with tempfile.TemporaryDirectory() as folder:
        write(corpus, f"{folder}/out", format="brat")
        result = bc.read(f"{folder}/out", format="brat")
    assert without_fields(content(result)) == without_fields(content(corpus))
    assert dict(zip(result.documents, result.texts, strict=True)) == dict(
        zip(corpus.documents, corpus.texts, strict=True)
    )


def written(corpus, form, name, **options):
    """Write a corpus with texts, and read it: file by file from a folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/{name}"
        write(corpus, path, format=form)
        made = sorted(Path(path).iterdir()) if name.endswith("/") else [path]
        # Equal texts of one annotator are not those of several.
        return bc.read(*made, format=form, folder="documents", **options)


def texts_of(corpus):
    """The texts of each document."""
    found = {}
    for document, text in zip(corpus.text_document.tolist(), corpus.texts, strict=True):
        found.setdefault(corpus.documents[document], []).append(text)
    return found


KEEPS_FIELDS = {"label-studio", "doccano", "prodigy"}


def assert_written(corpus, result, form):
    """Documents, texts, annotators, spans and fields are the same, in whatever order."""
    found, wanted = content(result), content(corpus)
    if form not in KEEPS_FIELDS:
        found, wanted = without_fields(found), without_fields(wanted)
    assert found == wanted
    assert texts_of(result) == texts_of(corpus)
    assert set(result.annotators) == set(corpus.annotators)


ODD = "aé😀 \t\n\r\\\\\"'<&>[]|_*;-{}#."
CONTROLS = "\x0b\x1f\x7f\x85\u2028"


@st.composite
def odd_texts(draw, alphabet):
    """Corpora of texts of odd characters, with spans anywhere in them."""
    drafts = []
    for document in draw(st.lists(NAMES, min_size=1, max_size=2, unique_by=str.casefold)):
        text = f"{draw(st.text(alphabet, max_size=12))}a{draw(st.text(alphabet, max_size=4))}"
        for annotator in draw(st.lists(st.sampled_from(["p", "q r"]), min_size=1, unique=True)):
            places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
            drafts.append(
                Draft(
                    where="here",
                    document=document,
                    annotator=annotator,
                    text=text,
                    spans=[
                        DraftSpan(*place, draw(st.sampled_from(["PER", "a b", "*", "_", "x[1]|y"])))
                        for place in draw(st.lists(places, max_size=4))
                    ],
                )
            )
    return built(*drafts, zero_length="skip")


@pytest.mark.parametrize(("form", "name"), PLACES)
@examples(40)
@given(st.data())
def test_any_characters(form, name, data):
    is_xml = form in {"uima", "bioc"} and "json" not in name
    corpus = data.draw(odd_texts(ODD if is_xml else ODD + CONTROLS))
    if form == "bioc" and data.draw(st.booleans()):
        corpus = replace(corpus, origin={"infon": "type"})
    if form == "brat":
        corpus = corpus.rename_labels({x: "AB" for x in corpus.labels if " " in x})
    assert_written(
        corpus, written(corpus, form, name, unit="document", positions="characters"), form
    )


@pytest.mark.slow
@pytest.mark.parametrize(("form", "name"), PLACES)
@examples(40)
@given(corpora(positions="characters", unit="document", may_overlap=True))
def test_any_annotators(form, name, corpus):
    assert_written(
        corpus, written(corpus, form, name, unit="document", positions="characters"), form
    )


@pytest.mark.parametrize("form", ["prodigy", "webanno-tsv", "uima"])
@examples(40)
@given(corpora(positions="tokens", unit="document", may_overlap=True))
def test_any_tokens(form, corpus):
    result = written(corpus, form, "x/", unit="document", positions="tokens")
    assert_written(corpus, result, form)
    assert result.options["tokens"] == "file"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "positions"), [("webanno-tsv", "tokens"), ("uima", "tokens"), ("bioc", "characters")]
)
@examples(40)
@given(st.data())
def test_any_sentences(form, positions, data):
    corpus = data.draw(corpora(positions=positions, unit="sentence", may_overlap=True))
    result = written(corpus, form, "x/", unit="sentence", positions=positions)
    assert_written(corpus, result, form)


KINDS_OF_IDS = {"brat": "T{}", "label-studio": "r-{}", "doccano": "{}", "uima": "{}", "bioc": "a{}"}


def ids_in(corpus):
    """The id of each span that has one."""
    place = zip(corpus.span_text.tolist(), corpus.span_annotator.tolist(), strict=True)
    return {
        (corpus.documents[corpus.text_document[text]], corpus.annotators[who], *corpus.span(i)): own
        for i, ((text, who), own) in enumerate(zip(place, corpus.span_id or (), strict=False))
        if own
    }


@pytest.mark.slow
@pytest.mark.parametrize(("form", "name"), [x for x in PLACES if x[0] in KINDS_OF_IDS])
@examples(40)
@given(st.data())
def test_any_ids(form, name, data):
    corpus = data.draw(corpora(positions="characters", unit="document", may_overlap=True))
    n_spans = len(corpus.span_start)
    numbers = data.draw(st.permutations(range(1, n_spans + 9)))
    are_there = data.draw(st.lists(st.booleans(), min_size=n_spans, max_size=n_spans))
    pairs = zip(numbers, are_there, strict=False)
    ids = tuple(KINDS_OF_IDS[form].format(n) if is_there else "" for n, is_there in pairs)
    origin = {"labels_key": "entities"} if form == "doccano" else {}
    corpus = replace(corpus, span_id=ids if any(ids) else None, origin=origin)
    result = written(corpus, form, name, unit="document", positions="characters")
    assert_written(corpus, result, form)
    assert ids_in(corpus).items() <= ids_in(result).items()
    if any(ids):
        assert all(result.span_id)


@pytest.mark.slow
@examples(40)
@given(st.data(), st.sampled_from([None, "sc"]))
def test_any_docbin(data, key):
    corpus = data.draw(corpora(positions="tokens", unit="document", may_overlap=key is not None))
    with tempfile.TemporaryDirectory() as folder:
        write(corpus, folder, format="spacy", spans_key=key)
        paths = sorted(Path(folder).iterdir())
        result = bc.read(*paths, format="spacy", layer=key)
    wanted = without_fields(content(corpus))
    numbers = {str(n): name for n, name in enumerate(corpus.documents, start=1)}
    found = without_fields(content(result))
    assert {numbers[number]: value for number, value in found.items()} == wanted


# --- One of each --------------------------------------------------------------


@pytest.mark.usefixtures("by_characters")
def test_a_table_line_by_line(tmp_path):
    write(SMALL, tmp_path / "x.csv", format="table")
    assert (tmp_path / "x.csv").read_text("utf-8") == (
        "document,annotator,start,end,label,text,offsets_in,batch\n"
        "a,anna,0,3,PER,Mia 😀 met Bo Li.,characters,1\n"
        "a,anna,10,15,PER,,characters,1\n"
        "a,ben,10,12,PER,,characters,1\n"
        'b/c,anna,,,,"It\nrained, ""hard"".",characters,2\n'
        "d.e,ben,0,4,LOC,Oslo\t; Rome,characters,\n"
    )
    write(SMALL, tmp_path / "x.jsonl", format="table")
    lines = (tmp_path / "x.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[3]) == {
        "document": "b/c",
        "annotator": "anna",
        "start": None,
        "end": None,
        "label": None,
        "text": 'It\nrained, "hard".',
        "offsets_in": "characters",
        "batch": "2",
    }


@each("name", TABLES)
def test_small_table(name):
    assert content(again(SMALL, name)) == content(SMALL)


@each("name", TABLES)
def test_missing_is_not_empty_even_if_nobody_found_nothing(name):
    corpus = bc.Corpus.from_spans(
        {"anna": [[(0, 1, "X")], [(1, 2, "X")]], "ben": [[(0, 2, "X")], None]}, lengths=[3, 3]
    )
    result = again(corpus, name, positions="tokens")
    assert content(result) == content(corpus)
    assert result.annotators_of("1") == ("anna",)


@pytest.mark.usefixtures("by_characters")
def test_texts_of_one_document_in_a_table(tmp_path):
    sentences = built(
        replace(marked("a", "anna", "Mia ran. Bo", ("Mia", "PER"), ("Bo", "PER")),
                sentences=[(0, 8), (9, 11)]),
        unit="sentence",
    )  # fmt: skip
    write(sentences, tmp_path / "x.csv", format="table")
    result = bc.read(tmp_path / "x.csv", format="table")
    assert result.texts == ("Mia ran.", "Bo")
    assert result.text_length.tolist() == [8, 2]
    result = bc.read(tmp_path / "x.csv", format="table", unit="document")
    assert result.texts == ("Mia ran.\nBo",)
    assert result.spans("a", "anna") == [(0, 3, "PER"), (9, 11, "PER")]
    write(replace(sentences, texts=None), tmp_path / "y.csv", format="table")
    result = bc.read(tmp_path / "y.csv", format="table")
    assert result.text_length.tolist() == [8, 2]
    result = bc.read(tmp_path / "y.csv", format="table", unit="document")
    assert result.text_length.tolist() == [10]
    assert result.spans("a", "anna") == [(0, 3, "PER"), (8, 10, "PER")]


def test_a_table_with_an_empty_text(tmp_path):
    corpus = built(marked("a", "anna", "Mia", ("Mia", "PER")), marked("b", "anna", ""))
    write(corpus, tmp_path / "x.csv", format="table")
    result = bc.read(tmp_path / "x.csv", format="table")
    assert result.texts is None
    assert content(result) == content(corpus)


def test_columns_line_by_line(tmp_path):
    write(WORDS, tmp_path / "x.conll", format="conll")
    assert (tmp_path / "x.conll").read_text("utf-8") == (
        "# columns = token anna ben\n"
        "# newdoc id = a\n"
        "# batch = 1\n"
        "Mia\tB-PER\tO\n"
        "met\tO\tO\n"
        "\n"
        "Bo\tO\tB-PER\n"
        "\n"
        "# newdoc id = b\n"
        "# batch = \n"
        "It\tO\tB-LOC\n"
        "rained\tO\tI-LOC\n"
        "\n"
    )


def test_only_the_documents_of_each_annotator(tmp_path):
    corpus = built(
        tagged("a", "anna lee", ["Mia"], (0, 1, "PER")),
        tagged("b", "pos", ["Bo"]),
        positions="tokens",
    )
    write(corpus, f"{tmp_path}/out/", format="conll")
    assert (tmp_path / "out/anna lee.conll").read_text() == (
        "# columns = token tag\n# newdoc id = a\nMia\tB-PER\n\n"
    )
    result = bc.read(*sorted((tmp_path / "out").iterdir()), format="conll")
    assert content(result) == content(corpus)


@pytest.mark.slow
def test_the_example(tmp_path):
    example = bc.example()
    write(example, tmp_path / "x.csv", format="table")
    result = bc.read(tmp_path / "x.csv", format="table", positions="tokens")
    assert content(result, unit="document") == content(example, unit="document")
    known = bc.read(EXAMPLE, format="conll")
    assert content(known) == content(example)
    write(known, tmp_path / "x.conll", format="conll")
    assert content(bc.read(tmp_path / "x.conll", format="conll")) == content(example)
    write(known, tmp_path / "brat", format="brat")
    result = bc.read(tmp_path / "brat", format="brat", positions="tokens")
    assert {name: len(result.spans(name, "ada")) for name in result.documents} == {
        name: len(example.spans(name, "ada")) for name in example.documents
    }
    write(known, f"{tmp_path}/spacy/", format="spacy")
    result = bc.read(*sorted((tmp_path / "spacy").iterdir()), format="spacy", unit="sentence")
    assert list(without_fields(content(result)).values()) == list(
        without_fields(content(example)).values()
    )


def test_brat_files(tmp_path):
    write(SMALL, tmp_path / "out", format="brat")
    found = {
        str(path.relative_to(tmp_path / "out")): path.read_bytes().decode()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    assert found == {
        "anna/a.ann": "T1\tPER 0 3\tMia\nT2\tPER 10 15\tBo Li\n",
        "anna/a.txt": "Mia 😀 met Bo Li.",
        "anna/b/c.ann": "",
        "anna/b/c.txt": 'It\nrained, "hard".',
        "ben/a.ann": "T1\tPER 10 12\tBo\n",
        "ben/a.txt": "Mia 😀 met Bo Li.",
        "ben/d.e.ann": "T1\tLOC 0 4\tOslo\n",
        "ben/d.e.txt": "Oslo\t; Rome",
    }


@pytest.mark.usefixtures("by_characters")
@each("end", ["\n", "\r\n", " \n\n  ", "\r"])
def test_brat_spans_over_lines(tmp_path, end):
    corpus = built(marked("a", "anna", f"On Long{end}Island", (f"Long{end}Island", "LOC")))
    write(corpus, tmp_path / "out", format="brat")
    first = 7 + len(end)
    assert (tmp_path / "out/anna/a.ann").read_bytes().decode() == (
        f"T1\tLOC 3 7;{first} {first + 6}\tLong Island\n"
    )
    assert content(bc.read(tmp_path / "out", format="brat")) == content(corpus)


def with_edges(text, span):
    """Build a corpus of a span with white space at its edges, which no file gives."""
    given = {"documents": ["a"], "texts": [text], "positions": "characters"}
    return bc.Corpus.from_spans({"anna": [[span]]}, **given)


@pytest.mark.usefixtures("by_characters")
def test_brat_spans_with_line_breaks_at_their_edges(tmp_path):
    corpus = with_edges("On\nLong ", (2, 8, "LOC"))
    write(corpus, tmp_path / "out", format="brat")
    assert (tmp_path / "out/anna/a.ann").read_text() == "T1\tLOC 2 8\t Long \n"
    result = bc.read(tmp_path / "out", format="brat")
    assert result.spans("a", "anna") == [(3, 7, "LOC")]


@pytest.mark.usefixtures("by_characters")
def test_brat_keeps_a_mark_at_the_beginning_of_a_text(tmp_path):
    corpus = built(marked("a", "anna", "\ufeffMia met Mia", ("Mia", "PER")))
    write(corpus, tmp_path / "out", format="brat")
    result = bc.read(tmp_path / "out", format="brat")
    assert result.texts == corpus.texts
    assert content(result) == content(corpus)


def test_brat_from_tokens(tmp_path):
    write(WORDS, tmp_path / "out", format="brat")
    assert (tmp_path / "out/anna/a.txt").read_text() == "Mia met\nBo"
    assert (tmp_path / "out/ben/a.ann").read_text() == "T1\tPER 8 10\tBo\n"


def test_docbin_from_characters(tmp_path):
    one = SMALL.select(annotators=["ben"])
    write(one, tmp_path / "ben.spacy", format="spacy")
    result = bc.read(tmp_path / "ben.spacy", format="spacy")
    assert result.documents == ("1", "3")
    assert result.texts == ("Mia 😀 met Bo Li.", "Oslo ; Rome")
    assert result.spans("1", "ben") == [(3, 4, "PER")]
    assert result.skipped == {"documents not annotated": 1}


@pytest.mark.slow
def test_docbin_keeps_sentences(tmp_path):
    write(WORDS, tmp_path, format="spacy")
    result = bc.read(tmp_path / "anna.spacy", tmp_path / "ben.spacy", unit="sentence")
    assert result.texts == WORDS.texts
    assert result.spans("1", "ben") == [(0, 1, "PER")]


def test_tokens_by_rule_are_those_of_the_reader():
    assert tokenized("It's") == [(0, 2), (2, 3), (3, 4)]


# --- Tools that others use ----------------------------------------------------

NESTED = built(
    Draft(
        where="here",
        document="7",
        annotator="1",
        text="Mia 😀 Lund ran",
        spans=[
            DraftSpan(0, 10, "PER", id="xY"),
            DraftSpan(0, 3, "NAME", id="b"),
            DraftSpan(6, 10, "NAME"),
            DraftSpan(0, 10, "ORG", id="xY"),
        ],
        fields={"round": "2"},
    ),
    Draft(where="here", document="7", annotator="gold", text="Mia 😀 Lund ran", spans=[]),
    Draft(where="here", document="d", annotator="a@b.org", text="No", spans=[]),
)


@pytest.mark.usefixtures("by_characters")
def test_tasks_of_label_studio(tmp_path):
    """The shape that Label Studio imports."""
    write(NESTED.with_gold("gold"), tmp_path / "x.json", notes={"d": "Look"})
    regions = [
        {
            "id": name,
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": end, "text": words, "labels": labels},
        }
        for name, start, end, words, labels in (
            ("b", 0, 3, "Mia", ["NAME"]),
            ("xY", 0, 10, "Mia 😀 Lund", ["ORG", "PER"]),
            ("span-1", 6, 10, "Lund", ["NAME"]),
        )
    ]
    assert json.loads((tmp_path / "x.json").read_text("utf-8")) == [
        {
            "id": 7,
            "data": {"text": "Mia 😀 Lund ran"},
            "meta": {"round": "2"},
            "annotations": [
                {"completed_by": 1, "ground_truth": False, "result": regions},
                {"annotator": "gold", "ground_truth": True, "result": []},
            ],
            "predictions": [],
        },
        {
            "data": {"text": "No", "document_name": "d", "note": "Look"},
            "annotations": [
                {"completed_by": {"email": "a@b.org"}, "ground_truth": False, "result": []}
            ],
            "predictions": [],
        },
    ]
    result = bc.read(tmp_path / "x.json")
    noted = {**NESTED.fields, "note": ("", "Look")}
    wanted = replace(NESTED, fields=noted).rename_annotators({"a@b.org": "a"})
    assert content(result) == content(wanted)
    assert ids_in(NESTED).items() <= ids_in(result).items()
    starred = bc.read(tmp_path / "x.json", gold="starred")
    assert starred.gold == "starred"


def test_names_of_label_studio_stay(tmp_path):
    names = {"from_name": "ner", "to_name": "body", "text_key": "content"}
    write(replace(NESTED, origin=names), tmp_path / "x.json", notes={"7": "Look"})
    task = json.loads((tmp_path / "x.json").read_text("utf-8"))[0]
    # Fields of such tasks are from their data.
    assert task["data"] == {"content": "Mia 😀 Lund ran", "round": "2", "note": "Look"}
    region = task["annotations"][0]["result"][0]
    assert (region["from_name"], region["to_name"]) == ("ner", "body")
    result = bc.read(tmp_path / "x.json")
    assert result.origin == names
    assert result.fields == {"round": ("2", ""), "note": ("Look", "")}


@pytest.mark.usefixtures("by_characters")
def test_predictions(tmp_path):
    write(SMALL, tmp_path / "x.json", as_predictions=True)
    task = json.loads((tmp_path / "x.json").read_text("utf-8"))[1]
    assert (task["annotations"], task["predictions"]) == (
        [],
        [{"model_version": "anna", "result": []}],
    )
    assert content(bc.read(tmp_path / "x.json", predictions=True)) == content(SMALL)


@pytest.mark.usefixtures("by_characters")
def test_rows_of_doccano(tmp_path):
    """The shape that doccano imports; offsets count UTF-16 units."""
    one = NESTED.select(documents=["7"], annotators=["1"])
    write(one, tmp_path / "x.jsonl", format="doccano", notes={"7": "Look"})
    (row,) = map(json.loads, (tmp_path / "x.jsonl").read_text("utf-8").splitlines())
    assert row == {
        "id": 7,
        "text": "Mia 😀 Lund ran",
        "label": [[0, 3, "NAME"], [0, 11, "ORG"], [0, 11, "PER"], [7, 11, "NAME"]],
        "meta": {"round": "2", "note": "Look"},
        "Comments": [],
    }
    numbered = replace(one, span_id=("3", "", "5", "x"), origin={"labels_key": "entities"})
    write(numbered, tmp_path / "y.jsonl", format="doccano")
    (row,) = map(json.loads, (tmp_path / "y.jsonl").read_text("utf-8").splitlines())
    assert row["entities"][:2] == [
        {"id": 1, "start_offset": 0, "end_offset": 3, "label": "NAME"},
        {"id": 2, "start_offset": 0, "end_offset": 11, "label": "ORG"},
    ]
    assert [entity["id"] for entity in row["entities"]] == [1, 2, 3, 5]
    assert content(bc.read(tmp_path / "y.jsonl")) == {
        name: (size, {"y": who["1"]}, fields) for name, (size, who, fields) in content(one).items()
    }


@pytest.mark.usefixtures("by_characters")
def test_tasks_of_prodigy(tmp_path):
    corpus = replace(WORDS.select(documents=["a"]), origin={})
    write(corpus, tmp_path / "x.jsonl", format="prodigy", notes={"a": "Look"})
    tasks = [*map(json.loads, (tmp_path / "x.jsonl").read_text("utf-8").splitlines())]
    assert tasks[1] == {
        "text": "Mia met\nBo",
        "meta": {"batch": "1", "note": "Look"},
        "_document": "a",
        "sentence_offsets": [[0, 7], [8, 10]],
        "tokens": [
            {"text": "Mia", "start": 0, "end": 3, "id": 0, "ws": True},
            {"text": "met", "start": 4, "end": 7, "id": 1, "ws": True},
            {"text": "Bo", "start": 8, "end": 10, "id": 2, "ws": False},
        ],
        "_session_id": "ben",
        "_annotator_id": "ben",
        "spans": [{"start": 8, "end": 10, "label": "PER", "token_start": 2, "token_end": 2}],
        "answer": "accept",
    }


def test_hashes_of_prodigy_are_kept_and_never_made(tmp_path):
    corpus = built(marked("-12", "p", "Mia"), marked("x", "p", "Mia"))
    write(replace(corpus, origin={"document_key": "_input_hash"}), tmp_path / "x.jsonl",
          format="prodigy")  # fmt: skip
    tasks = [*map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())]
    assert [task["_input_hash"] for task in tasks] == [-12, "x"]
    write(corpus, tmp_path / "y.jsonl", format="prodigy")
    assert "_hash" not in (tmp_path / "y.jsonl").read_text()


def test_lines_of_webanno(tmp_path):
    write(NESTED.select(annotators=["1"]), tmp_path / "x.tsv", format="webanno-tsv")
    assert (tmp_path / "x.tsv").read_text("utf-8") == (
        "#FORMAT=WebAnno TSV 3.3\n"
        "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value\n"
        "\n"
        "\n"
        "#Text=Mia 😀 Lund ran\n"
        "1-1\t0-3\tMia\tNAME[1]|ORG[2]|PER[3]\t\n"
        "1-2\t4-6\t😀\tORG[2]|PER[3]\t\n"
        "1-3\t7-11\tLund\tORG[2]|PER[3]|NAME[4]\t\n"
        "1-4\t12-15\tran\t_\t\n"
    )


def test_parts_of_tokens_and_escapes_of_webanno(tmp_path):
    corpus = texted("Re-\\run\nb|c", ("e-", "A_B"), ("run", "*"), ("b", "b\tc"))
    write(corpus, f"{tmp_path}/x/", format="webanno-tsv")
    assert (tmp_path / "x/anna/a.tsv").read_text("utf-8").split("\n\n\n")[1] == (
        "#Text=Re-\\\\run\n"
        "#Text=b|c\n"
        "1-1\t0-2\tRe\t_\t\n"
        "1-1.1\t1-2\te\tA\\_B[1]\t\n"
        "1-2\t2-3\t-\tA\\_B[1]\t\n"
        "1-3\t3-4\t\\\t_\t\n"
        "1-4\t4-7\trun\t\\*\t\n"
        "1-5\t8-9\tb\tb\\tc\t\n"
        "1-6\t9-10\t|\t_\t\n"
        "1-7\t10-11\tc\t_\t\n"
    )
    assert content(bc.read(tmp_path / "x/anna", positions="characters", unit="document",
                           folder="documents")) == content(corpus)  # fmt: skip


@pytest.mark.slow
@each("form", ["webanno-tsv", "uima"])
@each(
    ("origin", "layer", "feature"),
    [
        ({}, "NamedEntity", "value"),
        ({"layer": "webanno.custom.Name", "feature": "kind"}, "webanno.custom.Name", "kind"),
        ({"layer": "webanno.custom.Name", "feature": "type"}, "webanno.custom.Name", "type"),
        ({"layer": "uima.tcas.Annotation"}, "NamedEntity", "value"),
        ({"layer": "x.Token", "feature": "pos"}, "NamedEntity", "value"),
        ({"layer": "no name", "feature": "pos"}, "NamedEntity", "value"),
        ({"layer": "x.Name", "feature": "begin"}, "NamedEntity", "value"),
    ],
)
def test_layers(tmp_path, form, origin, layer, feature):
    write(replace(SMALL, origin=origin), f"{tmp_path}/x/", format=form)
    result = bc.read(tmp_path / "x/anna", tmp_path / "x/ben", folder="documents")
    assert result.origin["layer"].endswith(layer)
    assert result.origin["feature"] == feature


@each("form", ["webanno-tsv", "uima"])
def test_layer_that_is_the_label(tmp_path, form):
    corpus = replace(texted("Mia ran", ("Mia", "Name")), origin={"layer": "custom.Name"})
    for folder, labelled, feature in (
        ("x", corpus, {}),
        ("y", corpus.rename_labels({"Name": "PER"}), {"feature": "value"}),
    ):
        write(labelled, f"{tmp_path}/{folder}/", format=form)
        result = bc.read(tmp_path / folder / "anna", folder="documents", unit="document")
        origin = {name: value for name, value in result.origin.items() if name != "cas"}
        assert (result.labels, origin) == (labelled.labels, {"layer": "custom.Name", **feature})


@each("ending", ["json", "xmi"])
def test_cas_as_its_library_reads_it(tmp_path, ending):
    write(NESTED.select(annotators=["1"]), f"{tmp_path}/x.{ending}/", format="uima")
    path = tmp_path / f"x.{ending}" / "1" / f"7.{ending}"
    if ending == "json":
        cas = cassis.load_cas_from_json(path.read_text("utf-8"))
        assert '"end" : 11' in path.read_text("utf-8").replace('"end":', '"end" :')
    else:
        types = cassis.load_typesystem(path.with_name("TypeSystem.xml"))
        cas = cassis.load_cas_from_xmi(path, typesystem=types)
        assert 'end="11"' in path.read_text("utf-8")
    assert [(mark.get_covered_text(), mark.value) for mark in cas.select("NamedEntity")] == [
        ("Mia", "NAME"),
        ("Mia 😀 Lund", "ORG"),
        ("Mia 😀 Lund", "PER"),
        ("Lund", "NAME"),
    ]
    assert cas.select("DocumentMetaData")[0].documentTitle == "7"


def test_cas_of_one_document(tmp_path):
    one = NESTED.select(annotators=["1"])
    write(one, tmp_path / "x.json", format="uima")
    assert bc.read(tmp_path / "x.json").documents == ("7",)


@each("ending", ["json", "xml"])
def test_bioc_as_its_library_reads_it(tmp_path, ending):
    corpus = NESTED.select(documents=["7"], annotators=["1"])
    write(corpus, tmp_path / f"x.{ending}", format="bioc")
    library = biocjson if ending == "json" else biocxml
    with (tmp_path / f"x.{ending}").open(encoding="utf-8") as file:
        (document,) = library.load(file).documents
    (passage,) = document.passages
    assert (document.id, passage.offset, passage.text) == ("7", 0, "Mia 😀 Lund ran")
    assert [
        (mark.id, mark.text, mark.infons, mark.total_span.offset, mark.total_span.length)
        for mark in passage.annotations
    ] == [
        ("b", "Mia", {"type": "NAME", "annotator": "1"}, 0, 3),
        ("1", "Mia 😀 Lund", {"type": "ORG", "annotator": "1"}, 0, 10),
        ("2", "Mia 😀 Lund", {"type": "PER", "annotator": "1"}, 0, 10),
        ("3", "Lund", {"type": "NAME", "annotator": "1"}, 6, 4),
    ]


@pytest.mark.usefixtures("by_characters")
@each("name", ["x.json", "x.xml"])
def test_passages_of_bioc(tmp_path, name):
    spans = [DraftSpan(0, 3, "X"), DraftSpan(4, 9, "X"), DraftSpan(8, 13, "Y")]
    draft = Draft(where="here", document="a", annotator="x", text="One\nTwo 😀\nThree", spans=spans)
    corpus = replace(built(draft), origin={"infon": "type"})
    write(corpus, tmp_path / name, format="bioc")
    library = biocjson if name.endswith("json") else biocxml
    with (tmp_path / name).open(encoding="utf-8") as file:
        (document,) = library.load(file).documents
    assert [
        (passage.offset, passage.text, [mark.text for mark in passage.annotations])
        for passage in document.passages
    ] == [(0, "One", ["One"]), (4, "Two 😀", ["Two 😀", "😀\nThr"]), (10, "Three", [])]
    assert_written(corpus, bc.read(tmp_path / name), "bioc")


@pytest.mark.usefixtures("by_characters")
def test_several_annotators_in_one_file_of_bioc(tmp_path):
    corpus = built(
        marked("a", "p", "Mia ran", ("Mia", "X")),
        marked("a", "q", "Mia ran", ("ran", "Y")),
        marked("b", "p", "No"),
        marked("b", "q", "No"),
    )
    write(replace(corpus, origin={"infon": "kind"}), tmp_path / "x.xml")
    assert '<infon key="kind">X</infon>' in (tmp_path / "x.xml").read_text()
    result = bc.read(tmp_path / "x.xml", feature="kind")
    assert content(result) == content(corpus)


def test_brat_keeps_its_ids(tmp_path):
    corpus = texted("a b c d", *(pair for pair in zip("abcd", "ABCD", strict=True)))
    write(replace(corpus, span_id=("T9", "", "x", "T1")), tmp_path / "x", format="brat")
    lines = (tmp_path / "x/anna/a.ann").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["T9", "T2", "T3", "T1"]


# --- Which format -------------------------------------------------------------


def of(*formats):
    """A corpus that was read from files of some formats."""
    inputs = [Input(name=f"{i}", sha256="", format=form) for i, form in enumerate(formats)]
    return replace(SMALL, inputs=tuple(inputs))


def test_the_format_of_a_corpus():
    assert writing.format_of(of("brat", "brat")) == "brat"
    assert writing.format_of(of("gate")) is None
    assert writing.format_of(of("brat", "doccano")) is None
    assert writing.format_of(SMALL) is None


@each(
    ("formats", "path", "target"),
    [
        ([], "x.csv", "table"),
        ([], "x.JSON", "label-studio"),
        ([], "x.xmi/", "uima"),
        ([], "x/", None),
        ([], "x", None),
        (["brat"], "x.csv", "table"),
        (["brat"], "x/", "brat"),
        (["brat"], "x", "brat"),
        (["brat"], "x.v2/", "brat"),
        (["brat"], "x.odd", None),
        (["doccano"], "x.jsonl", "doccano"),
        (["prodigy"], "x.jsonl", "prodigy"),
        (["label-studio"], "x.jsonl", "table"),
        (["uima"], "x.json", "uima"),
        (["bioc"], "x.json", "bioc"),
        (["webanno-tsv"], "x.tsv", "webanno-tsv"),
        (["table"], "x.tsv", "table"),
        (["gate"], "x/", None),
    ],
)
def test_the_format_of_a_path(formats, path, target):
    assert writing.target_of(of(*formats), path) == target


def test_no_format_at_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = "x: … write … format=NAME"
    with refused(bc.OptionError, message):
        write(SMALL, "x")


def test_conversion_on_the_command_line(tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    write(SMALL, "x.json")
    assert main(["convert", "x.json", "--save", "y.json", "--as-predictions", "--quiet"]) == 0
    assert json.loads(Path("y.json").read_text("utf-8"))[0]["annotations"] == []
    assert main(["convert", "x.json", "--to", "prodigy", "--quiet"]) == 0
    assert capsysbinary.readouterr().out.startswith(b'{"text": "Mia')
    assert main(["convert", "x.json", "--to", "doccano", "--save", "d/", "--quiet"]) == 0
    assert main(["convert", "d/anna.jsonl", "--save", "e.jsonl", "--quiet"]) == 0
    assert Path("e.jsonl").read_bytes() == Path("d/anna.jsonl").read_bytes()


# --- What cannot be written ---------------------------------------------------

OVERLAPPING = built(
    tagged("a", "anna", ["Mia", "Lund"], (0, 2, "PER"), (1, 2, "NAME")), positions="tokens"
)


def named(document="a", annotator="anna", word="Mia", label="PER", **fields):
    return built(tagged(document, annotator, [word], (0, 1, label), **fields), positions="tokens")


def texted(text, *spans):
    return built(marked("a", "anna", text, *spans))


WITHOUT_TEXTS = bc.Corpus.from_tags({"anna": [["B-X", "O"]], "ben": [["O", "O"]]})


REFUSED = [
    (SMALL, "x", "xml", bc.OptionError,
     "unknown … 'xml'"),
    (SMALL, "x.csv", "conll", bc.DataError,
     "document 'b/c' … 'ben' … columns … '/'"),
    (SMALL, "x/", "conll", bc.DataError,
     "characters … positions='tokens'"),
    (WITHOUT_TEXTS, "x.conll", "conll", bc.DataError,
     'texts'),
    (WITHOUT_TEXTS, "x", "brat", bc.DataError,
     ('brat')),
    (WITHOUT_TEXTS, "x/", "spacy", bc.DataError,
     ('spacy')),
    (replace(WORDS, token_start=None), "x", "brat", bc.DataError,
     'many'),
    (replace(WORDS, positions="frames"), "x", "brat", bc.DataError,
     'frames'),
    (OVERLAPPING, "x.conll", "conll", bc.OverlapError,
     "'a' … 'anna' … [1, 2) … 'NAME' … overlaps … [0, 2) … 'PER'"),
    (OVERLAPPING, "x.spacy", "spacy", bc.OverlapError,
     "'a' … 'anna' … [1, 2) … 'NAME' … overlaps … [0, 2) … 'PER' … spans_key=NAME"),
    (WORDS, "x.spacy", "spacy", bc.DataError,
     "x.spacy: … DocBin … 2 … 'anna' … 'ben' … '/'"),
    (texted("Mia's", ("Mi", "PER")), "x.spacy", "spacy", bc.DataError,
     "'a' … 'anna' … [0, 2) … 'PER' … begin … positions='tokens'"),
    (built(tagged("a", "anna", ["Mia"]), tagged("b", "ben", []), positions="tokens"),
     "x/", "spacy", bc.DataError,
     "document 'b' … 'anna' … spacy … spans_key=NAME"),
    (built(tagged("a", "anna", []), positions="tokens"), "x.conll", "conll", bc.DataError,
     "document 'a' … conll"),
    (named(annotator="anna\tlee"), "x.conll", "conll", bc.DataError,
     "'anna\\tlee' … column … '/'"),
    (named(annotator="POS"), "x.conll", "conll", bc.DataError,
     "'POS' … column … '/'"),
    (named(label="A\tB"), "x.conll", "conll", bc.DataError,
     "label 'A\\tB' … break"),
    (named(document="a\nb"), "x.conll", "conll", bc.DataError,
     "document 'a\\nb' … break"),
    (named(text="1"), "x.conll", "conll", bc.DataError,
     "document 'a': … 'text' … '1' … comment … '# key = value'"),
    (named(word="-DOCSTART-"), "x.conll", "conll", bc.DataError,
     "document 'a': … '-DOCSTART-' … column"),
    (named(word="M\tia"), "x.conll", "conll", bc.DataError,
     "document 'a': … 'M\\tia' … column"),
    (named(word="#x"), "x.conll", "conll", bc.DataError,
     "'#' … comments"),
    (named(label="A B"), "x", "brat", bc.DataError,
     "label 'A B' … white"),
    *[(named(document=name), "x", "brat", bc.DataError,
       f'document {name!r} … name')
      for name in ("../a", "a/../../b", "/etc/a", "a//b", "a/", "./a", ".a", "..", "a\\b", "C:a",
                   "a\nb", "a/.b")],
    *[(named(annotator=name), path, form, bc.DataError,
       f'{name!r} … name')
      for name in ("a/b", "..", "../a", ".a")
      for path, form in (("x", "brat"), ("x/", "conll"), ("x/", "spacy"), ("x/", "doccano"),
                         ("x/", "prodigy"), ("x/", "webanno-tsv"), ("x/", "uima"), ("x/", "bioc"))],
    *[(named(document="../a"), "x/", form, bc.DataError,
       "document '../a' … name")
      for form in ("webanno-tsv", "uima")],
    *[(WITHOUT_TEXTS, "x/", form, bc.DataError,
       f'{form} … texts')
      for form in ("label-studio", "doccano", "prodigy", "webanno-tsv", "uima", "bioc")],
    *[(replace(WORDS, positions="frames"), "x/", form, bc.DataError,
       f'frames … {form}')
      for form in ("label-studio", "doccano", "prodigy", "webanno-tsv", "uima", "bioc")],
    *[(texted("a\0b"), path, form, bc.DataError,
       f'{what} … NUL … text')
      for path, form, what in (
          ("x/", "webanno-tsv", "document 'a'"),)],
    *[(replace(texted("ab"), texts=("a\ud800",)), path, form, bc.DataError,
       f"{what} … half … '\\ud800' … UTF-8")
      for path, form, what in (
          ("x.json", "label-studio", "the tasks"), ("x.jsonl", "doccano", "the export"),
          ("x.jsonl", "prodigy", "the tasks"), ("x/", "webanno-tsv", "document 'a'"),
          ("x.json", "bioc", "the collection"))],
    *[(texted("a\x01b"), path, form, bc.DataError,
       f"document 'a': … '\\x01' … XML … {remedy}")
      for path, form, remedy in (
          ("x/", "uima", "write CAS JSON: give a folder that ends with .json/"),
          ("x.xml", "bioc", "write JSON: a name that ends with .json"))],
    (SMALL, "x.json/", "label-studio", bc.FormatError,
     'x.json/: … folder'),
    (replace(SMALL, origin={"text_key": "document_name"}), "x.json", "label-studio", bc.DataError,
     "'a' … 'document_name' … something … 'text'"),
    (WORDS, "x.jsonl", "doccano", bc.DataError,
     "x.jsonl: … doccano … 2 … 'anna' … 'ben' … '/'"),
    (WORDS, "x.tsv", "webanno-tsv", bc.DataError,
     "x.tsv: … kind … 4 … '/'"),
    (WORDS, "x.json", "uima", bc.DataError,
     "x.json: … CAS … 4 … '/'"),
    (texted("ab"), "x.xmi", "uima", bc.DataError,
     "x.xmi: … system … '/' … .json"),
    (SMALL, "x.xml", "bioc", bc.DataError,
     "x.xml: … document 'b/c' … 'ben' … bioc … '/'"),
    (built(marked("a", "p", "Mia", ("Mia", "X")), marked("a", "q", "Mia")), "x.json", "bioc",
     bc.DataError,
     "x.json: … annotators … 'q' … '/'"),
    (texted(""), "x/", "webanno-tsv", bc.DataError,
     "document 'a' … without"),
    (built(replace(marked("a", "anna", "ab b"), tokens=[(3, 4)]), positions="tokens"),
     "x/", "webanno-tsv", bc.DataError,
     "document 'a' … first"),
    (with_edges("Mia ran", (0, 4, "X")),
     "x/", "webanno-tsv", bc.DataError,
     "'a' … 'anna' … [0, 4) … 'X' … between … positions='tokens'"),
    (texted("a\0b"), "x", "brat", bc.DataError,
     "document 'a' … NUL … text"),
    (texted("a\0b"), "x.csv", "table", bc.DataError,
     'table … NUL'),
    (replace(texted("ab"), texts=("a\ud800",)), "x.jsonl", "table", bc.DataError,
     "half … '\\ud800' … UTF-8"),
    (named(Type="1"), "x.csv", "table", bc.DataError,
     "'Type' … read … 'label'"),
    (named(**{"a;b": "1"}), "x.csv", "table", bc.DataError,
     "'a;b' … separator … .jsonl"),
    (SMALL, "x/", "table", bc.FormatError, 'x/: … folder'),
    (SMALL, "no/x.csv", "table", bc.FormatError,
     'no/x.csv: … exist'),
    (SMALL, "no/x", "brat", bc.FormatError, 'no/x: … exist'),
    (bc.Corpus.from_spans({"anna": [None]}, lengths=[3]), "x.csv", "table", bc.DataError,
     'annotated'),
]  # fmt: skip


@each("case", REFUSED)
def test_refused(tmp_path, monkeypatch, case):
    corpus, path, form, kind, message = case
    monkeypatch.chdir(tmp_path)
    with refused(kind, message):
        write(corpus, path, format=form)
    assert list(tmp_path.iterdir()) == []


@each("text", ["a\0b", "a\u2028b\x01"])
@each(("form", "name"), [("label-studio", "x.json"), ("bioc", "x.json/")])
def test_json_has_a_way_to_write_every_character(form, name, text):
    assert written(texted(text), form, name).texts == (text,)


@each(
    ("options", "kind", "message"),
    [
        ({"format": "table", "notes": {"a": "x"}}, bc.OptionError,
         'documents'),
        ({"format": "prodigy", "notes": {"z": "x"}}, bc.DataError,
         "note … 'z'"),
        ({"format": "prodigy", "notes": {"a": 3}}, bc.DataError, 'note … 3'),
        ({"format": "prodigy", "as_predictions": True}, bc.OptionError,
         'predictions'),
    ],
)  # fmt: skip
def test_what_a_format_does_not_have(tmp_path, options, kind, message):
    with refused(kind, message):
        write(SMALL, tmp_path / "x", **options)
    assert list(tmp_path.iterdir()) == []


def test_half_of_a_character_in_parquet(tmp_path):
    broken = replace(texted("ab"), texts=("a\ud800",))
    with refused(bc.DataError, "Parquet"):
        write(broken, tmp_path / "x.parquet", format="table")
    assert list(tmp_path.iterdir()) == []


@each(("form", "key"), [("conll", "sc"), ("spacy", 3)])
def test_span_group_that_does_nothing(tmp_path, form, key):
    message = f"{key!r}"
    with refused(bc.OptionError, message):
        write(WORDS, tmp_path / "x", format=form, spans_key=key)


def test_path_that_is_none():
    with refused(bc.OptionError, "path … 3"):
        write(WORDS, 3, format="table")


def test_overlapping_spans_in_a_group(tmp_path):
    write(OVERLAPPING, tmp_path / "anna.spacy", format="spacy", spans_key="sc")
    result = bc.read(tmp_path / "anna.spacy", layer="sc")
    assert result.spans("1", "anna") == [(0, 2, "PER"), (1, 2, "NAME")]


# --- All or nothing -----------------------------------------------------------


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    write(SMALL, path, format="table")
    assert path.read_text("utf-8").startswith("document,")
    assert list(tmp_path.iterdir()) == [path]


@each(("corpus", "form"), [(SMALL, "brat"), (WORDS, "conll"), (WORDS, "spacy")])
def test_a_folder_must_be_empty(tmp_path, corpus, form):
    (tmp_path / "old").write_text("old")
    message = f"{tmp_path}: … already"
    with refused(bc.FormatError, message):
        write(corpus, tmp_path, format=form)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_an_empty_folder_stays_the_same_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    number = tmp_path.stat().st_ino
    bc.write(bc.example(), "./", format="conll")
    assert tmp_path.stat().st_ino == number
    assert sorted(path.name for path in Path().iterdir()) == [
        "ada.conll",
        "ben.conll",
        "cleo.conll",
    ]
    assert list(tmp_path.parent.glob(f"*{tmp_path.name}?*")) == []


def test_a_file_where_a_folder_should_be(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    message = f"{path}: … already"
    with refused(bc.FormatError, message):
        write(SMALL, path, format="brat")
    assert path.read_text() == "old"


FULL = OSError(28, "No space left on device")


@each(
    ("problem", "form", "name"),
    [
        (FULL, "table", "x.csv"),
        (KeyboardInterrupt(), "table", "x.csv"),
        (KeyboardInterrupt(), "brat", "x"),
        (FULL, "spacy", "y/"),
    ],
)
def test_interrupted(tmp_path, monkeypatch, problem, form, name):
    """Files stay as they were if the disk fills up or somebody loses patience."""
    path = f"{tmp_path}/{name}"
    (tmp_path / "x.csv").write_text("old")

    def fail(*_):
        assert len(list(tmp_path.iterdir())) == 2
        raise problem

    monkeypatch.setattr(Path, "replace", fail)
    kind = bc.FormatError if isinstance(problem, OSError) else KeyboardInterrupt
    with pytest.raises(kind) as caught:
        write(SMALL, path, format=form)
    if kind is bc.FormatError:
        assert_tells(caught.value, f"{path}: … device")
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]
    assert (tmp_path / "x.csv").read_text() == "old"


def test_names_that_the_file_system_takes_for_one(tmp_path):
    files = {"anna.conll": b"1", "x/../anna.conll": b"2"}
    message = f"{tmp_path / 'x'}: … exists"
    with refused(bc.FormatError, message):
        writing.save_folder(tmp_path / "x", files)
    assert list(tmp_path.iterdir()) == []


def test_too_long_a_name(tmp_path):
    with refused(bc.FormatError, "written"):
        write(named(document="a" * 300), tmp_path / "x", format="brat")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="files there have other rights")
def test_rights_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    (tmp_path / "folder").mkdir()
    write(SMALL, tmp_path / "x.csv", format="table")
    write(SMALL, tmp_path / "y", format="brat")
    assert (tmp_path / "x.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "y").stat().st_mode == (tmp_path / "folder").stat().st_mode


@each("names", [("annotator 1", "annotator 2"), ("B", "S 2"), ("a=b", "c d")])
def test_names_with_spaces_in_columns(tmp_path, names):
    corpus = bc.Corpus.from_tags(
        {name: [["B-PER", "O"]] for name in names}, tokens=[["Ada", "left"]], documents=["d"]
    )
    bc.write(corpus, tmp_path / "x.conll", format="conll")
    again = bc.read(tmp_path / "x.conll")
    assert (again.annotators, again.texts) == (names, ("Ada left",))
    assert again.spans("d", names[1]) == [(0, 1, "PER")]
