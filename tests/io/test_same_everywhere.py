"""The same annotations in many formats give the same counts, to the last bit."""

import re
from dataclasses import replace
from functools import cache
from itertools import cycle

import pytest

import beyondchance as bc
from beyondchance.io import registry
from beyondchance.io.offsets import tokenized
from beyondchance.io.writing import WRITTEN, write
from each import each
from every_format import EXAMPLES, FORMATS, WITH_ALL_DOCUMENTS, Annotations
from refusals import refused

# Words are tokens by the rule too, and stand one space apart: columns and texts say the same.
TEXTS = {
    "1": "Mia 😀 Lund met Bo Li in Oslo , said Bo .",
    "2": "The fair of Rome opened 🎉 🎉 when Ada Berg came home to Rome",
    "3": "Nothing to see here today",
    "4": "Only Anna read 😀 about Oslo",
}
DOCUMENTS = {name: text.split() for name, text in TEXTS.items()}
SPANS = {
    ("1", "anna"): [(0, 3, "PER"), (4, 6, "PER"), (7, 8, "LOC")],
    ("1", "ben"): [(2, 3, "PER"), (4, 6, "PER"), (7, 8, "LOC"), (10, 11, "PER")],
    ("2", "anna"): [(0, 4, "EVENT"), (8, 10, "PER"), (13, 14, "LOC")],
    ("2", "ben"): [(1, 2, "EVENT"), (3, 4, "LOC"), (8, 9, "PER"), (13, 14, "LOC")],
    ("3", "anna"): [(3, 5, "EVENT")],
    ("3", "ben"): [],
    ("4", "anna"): [(1, 2, "PER"), (5, 6, "LOC")],
}
ANNOTATORS = ("anna", "ben")
POSITIONS = ("characters", "tokens")
ELSEWHERE = {
    "rttm": "has no texts, and is covered in its own tests",
    "toxic-spans": "has one label, and is covered in its own tests",
}
"""Formats without examples, and why."""
DATA = Annotations({name: [text] for name, text in TEXTS.items()}, SPANS)


def offsets(document, annotator):
    return [span[:3] for span in DATA.marked(document, annotator)]


def given(name, folder):
    """The files of an example, and what they are read with."""
    example = EXAMPLES[name](DATA)
    files = example.files
    options = {k: str(folder / v) if v in files else v for k, v in example.options.items()}
    return example.saved(folder), options


# --- What they give -----------------------------------------------------------


@cache
def reference(positions):
    """The annotations without any file."""
    is_words = positions == "tokens"
    spans = {
        annotator: [
            None
            if (document, annotator) not in SPANS
            else SPANS[document, annotator]
            if is_words
            else offsets(document, annotator)
            for document in DOCUMENTS
        ]
        for annotator in ANNOTATORS
    }
    lengths = [len(DOCUMENTS[d]) if is_words else len(TEXTS[d]) for d in DOCUMENTS]
    return bc.Corpus.from_spans(
        spans, lengths=lengths, documents=list(DOCUMENTS), positions=positions
    )


@cache
def counted(positions, measure):
    return bc.agreement(reference(positions), measure=measure).counts


def assert_same(corpus, wanted):
    """Compare corpora, without any tolerance."""
    assert corpus.annotators == wanted.annotators
    assert corpus.documents == wanted.documents
    assert corpus.labels == wanted.labels
    assert (corpus.unit, corpus.positions) == (wanted.unit, wanted.positions)
    for document in wanted.documents:
        assert corpus.annotators_of(document) == wanted.annotators_of(document)
        for annotator in wanted.annotators_of(document):
            assert corpus.spans(document, annotator) == wanted.spans(document, annotator)


def assert_same_counts(corpus, positions, measure):
    """Compare a corpus with the reference, and everything that is counted in both."""
    assert_same(corpus, reference(positions))
    found, known = bc.agreement(corpus, measure=measure).counts, counted(positions, measure)
    assert found.expected.tobytes() == known.expected.tobytes()
    assert found.matched.tobytes() == known.matched.tobytes()
    assert found.to_dict() == known.to_dict()
    assert found.score() == known.score()
    assert found.by_label() == known.by_label()
    assert found.by_document() == known.by_document()
    assert found.by_pair() == known.by_pair()


def test_every_format_has_examples():
    """A new format fails until `every_format` builds its files."""
    assert set(FORMATS) == set(registry.FORMATS) - set(ELSEWHERE)
    assert set(ELSEWHERE) < set(registry.FORMATS)
    assert all(FORMATS.values())


def test_tokens_are_those_of_the_rule():
    for document in DOCUMENTS:
        assert tokenized(TEXTS[document]) == DATA.places(document)


@each("positions", POSITIONS)
def test_the_reference_says_something(positions):
    result = bc.agreement(reference(positions), measure="token")
    assert 0 < result.chance < result.observed < 1
    assert set(result.by_label) == {"EVENT", "LOC", "PER"}
    assert set(result.by_document) == {"1", "2", "3"}


IDS = {
    "brat": ("T1", "T2", "T3"),
    "uima_json": ("2", "3", "4"),
    **dict.fromkeys(["bioc_json", "bioc_lines", "bioc_xml"], ("0", "1", "2")),
    **dict.fromkeys(["medtator", "medtator_n2c2"], ("P0", "P1", "L2")),
    "knowtator_2": ("1-0", "1-1", "1-2"),
    "knowtator": ("m0", "m1", "m2"),
    "label_studio": ("r0", "r1", "r2"),
}
"""What the first annotator's spans of the first document are called in the files."""


@pytest.mark.parametrize("name", WITH_ALL_DOCUMENTS)
def test_same_counts(tmp_path, name):
    """With the name of the format and without it, by tokens and by characters."""
    paths, options = given(name, tmp_path)
    form = WITH_ALL_DOCUMENTS[name]
    corpus = bc.read(*paths, format=form, unit="document", positions="tokens", **options)
    assert_same_counts(corpus, "tokens", "exact")
    corpus = bc.read(*paths, unit="document", positions="characters", **options)
    assert {file.format for file in corpus.inputs} == {form}
    assert_same_counts(corpus, "characters", "token")
    if name in IDS:
        assert corpus.span_id[:3] == IDS[name]
        assert len(corpus.span_id) == len(corpus.span_start)
    else:
        assert corpus.span_id is None


IN_ONE = {
    "table": "out.csv", "brat": "out", "label-studio": "out.json", "prodigy": "out.jsonl"
}  # fmt: skip
"""What is read as a whole; others are read annotator by annotator."""


TURNS = list(zip(WITH_ALL_DOCUMENTS, cycle(WRITTEN), cycle(POSITIONS[::-1]), strict=False))


@pytest.mark.parametrize(
    ("name", "written", "again"),
    [
        *TURNS[: len(WRITTEN)],
        *(pytest.param(*turn, marks=pytest.mark.slow) for turn in TURNS[len(WRITTEN) :]),
    ],
)
def test_same_counts_once_converted(tmp_path, name, written, again):
    """Anything converts to anything that is written: each format once, and writers in turn."""
    paths, options = given(name, tmp_path)
    positions = "tokens" if written in {"conll", "spacy"} else "characters"
    corpus = bc.read(*paths, unit="document", positions=positions, **options)
    name = IN_ONE.get(written, "out/")
    write(corpus, f"{tmp_path}/{name}", format=written)
    made = [tmp_path / name] if written in IN_ONE else sorted((tmp_path / "out").iterdir())
    result = bc.read(*made, format=written, unit="document", positions=again)
    assert_same(result, reference(again))


@each(("name", "other"), [("conll", "webanno_tsv"), ("conll_plain", "conllu")])
def test_same_counts_where_each_annotator_has_another_format(tmp_path, name, other):
    ours, theirs = given(name, tmp_path / "a")[0], given(other, tmp_path / "b")[0]
    corpus = bc.read(ours[0], theirs[1], unit="document")
    assert {file.format for file in corpus.inputs} == {"conll", WITH_ALL_DOCUMENTS[other]}
    assert_same_counts(corpus, "tokens", "exact")
    assert bc.read(ours[0], theirs[1]).unit == "sentence"


FLAT = ("label_studio_min", "label_studio_csv", "label_studio_tsv")
"""Exports that do not say what their controls are called."""
SAME = {
    name: form for name, form in WITH_ALL_DOCUMENTS.items() if form in WRITTEN and name not in FLAT
}


FIRST = {form: name for name, form in reversed(SAME.items())}
"""The first variant of each format."""


@pytest.mark.parametrize(
    "name",
    [
        name if name in FIRST.values() else pytest.param(name, marks=pytest.mark.slow)
        for name in SAME
    ],
)
def test_back_into_the_same_format(tmp_path, name):
    """What was read is written again, without a word about the format."""
    paths, options = given(name, tmp_path / "in")
    corpus = bc.read(*paths, **options)
    (tmp_path / "made").mkdir()
    own = IN_ONE.get(SAME[name], "out")
    is_folder = SAME[name] not in IN_ONE or SAME[name] == "brat"
    write(corpus, f"{tmp_path}/made/{own}{'/' if is_folder else ''}")
    target = tmp_path / "made" / own
    made = sorted(target.iterdir()) if is_folder else [target]
    again = bc.read(*made, unit=corpus.unit, positions=corpus.positions)
    assert {file.format for file in again.inputs} == {SAME[name]}
    assert_same(again, corpus)
    assert again.origin == corpus.origin
    if corpus.span_id is not None:
        assert again.span_id == corpus.span_id


XML = {
    name: form
    for form, variants in FORMATS.items()
    for name in (one.__name__ for one in variants)
    if any(content.lstrip().startswith(b"<") for content in EXAMPLES[name](DATA).files.values())
}


def with_declaration(content, declaration):
    """The same file with a declaration before its first element, if it is XML."""
    if not content.lstrip().startswith(b"<"):
        return content
    head, end, rest = re.sub(rb"<!DOCTYPE[^>]*>", b"", content).partition(b"?>")
    return head + end + declaration + rest if end else declaration + content


@each("name", XML)
def test_a_document_type_changes_nothing(tmp_path, name):
    example = EXAMPLES[name](DATA)
    corpora = []
    for folder, declaration in (("plain", b""), ("declared", b"<!DOCTYPE x SYSTEM 'x.dtd'>")):
        files = {key: with_declaration(data, declaration) for key, data in example.files.items()}
        paths = replace(example, files=files).saved(tmp_path / folder)
        corpora.append(bc.read(*paths, **example.options))
    assert corpora[0].inputs[0].format == corpora[1].inputs[0].format == XML[name]
    assert_same(corpora[1], corpora[0])


@each("name", XML)
def test_entities_are_refused(tmp_path, name):
    example = EXAMPLES[name](DATA)
    declaration = b"<!DOCTYPE x [<!ENTITY y 'z'>]>"
    files = {key: with_declaration(data, declaration) for key, data in example.files.items()}
    paths = replace(example, files=files).saved(tmp_path)
    with refused(bc.FormatError, "<!ENTITY"):
        bc.read(*paths, format=XML[name], **example.options)
