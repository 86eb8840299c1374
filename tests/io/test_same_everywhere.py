"""The same annotations in many formats give the same counts, to the last bit."""

import csv
import io
import json
import warnings
import zipfile

import cassis
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

import beyondchance as bc
from beyondchance.io.offsets import tokenized
from beyondchance.io.writing import WRITTEN, write

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


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


def places(document, length=len):
    """Where each token begins and ends, in characters or UTF-16 units."""
    found, end = [], -1
    for word in DOCUMENTS[document]:
        start, end = end + 1, end + 1 + length(word)
        found.append((start, end))
    return found


def offsets(document, annotator, length=len):
    tokens = places(document, length)
    return [(tokens[s][0], tokens[e - 1][1], label) for s, e, label in SPANS[document, annotator]]


def by(annotator):
    return [document for document in DOCUMENTS if (document, annotator) in SPANS]


def saved(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


# --- The annotations in each format -------------------------------------------


def as_conll(folder):
    paths = []
    for annotator in ANNOTATORS:
        rows = []
        for document in by(annotator):
            tags = ["O"] * len(DOCUMENTS[document])
            for start, end, label in SPANS[document, annotator]:
                tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
            rows.append(f"# newdoc id = {document}")
            rows += [f"{w} {t}" for w, t in zip(DOCUMENTS[document], tags, strict=True)]
            rows.append("")
        paths.append(saved(folder / f"{annotator}.conll", "\n".join(rows) + "\n"))
    return paths


def as_table(folder):
    content = io.StringIO()
    writer = csv.writer(content)
    writer.writerow(["document", "annotator", "start", "end", "label", "text"])
    for document, annotator in SPANS:
        for start, end, label in offsets(document, annotator) or [("", "", "")]:
            writer.writerow([document, annotator, start, end, label, TEXTS[document]])
    return [saved(folder / "spans.csv", content.getvalue())]


def as_brat(folder):
    for document, annotator in SPANS:
        text = TEXTS[document]
        found = [
            f"T{n}\t{label} {start} {end}\t{text[start:end]}\n"
            for n, (start, end, label) in enumerate(offsets(document, annotator), start=1)
        ]
        saved(folder / annotator / f"{document}.txt", text)
        saved(folder / annotator / f"{document}.ann", "".join(found))
    return [folder / annotator for annotator in ANNOTATORS]


def as_doccano(folder):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for annotator in ANNOTATORS:
            rows = [
                {
                    "id": int(document),
                    "text": TEXTS[document],
                    "label": [list(span) for span in offsets(document, annotator, utf16)],
                }
                for document in by(annotator)
            ]
            archive.writestr(f"{annotator}.jsonl", lines(rows))
    return [saved(folder / "project.zip", made.getvalue())]


def as_label_studio(folder):
    def result(start, end, label, text):
        value = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
        return {"type": "labels", "from_name": "label", "to_name": "text", "value": value}

    tasks = [
        {
            "id": int(document),
            "data": {"text": TEXTS[document]},
            "annotations": [
                {
                    "id": number,
                    "completed_by": {"username": annotator},
                    "result": [
                        result(*span, TEXTS[document]) for span in offsets(document, annotator)
                    ],
                }
                for number, annotator in enumerate(ANNOTATORS)
                if (document, annotator) in SPANS
            ],
        }
        for document in DOCUMENTS
    ]
    return [saved(folder / "export.json", json.dumps(tasks))]


def as_prodigy(folder):
    rows = [
        {
            "text": TEXTS[document],
            "_input_hash": int(document),
            "_annotator_id": annotator,
            "answer": "accept",
            "spans": [
                {"start": start, "end": end, "label": label}
                for start, end, label in offsets(document, annotator)
            ],
        }
        for document, annotator in SPANS
    ]
    return [saved(folder / "dataset.jsonl", lines(rows))]


def as_spacy(folder):
    vocabulary = spacy.blank("xx").vocab
    paths = []
    for annotator in ANNOTATORS:
        docs = []
        for document, words in DOCUMENTS.items():
            doc = Doc(vocabulary, words=words, spaces=[True] * (len(words) - 1) + [False])
            if (document, annotator) in SPANS:
                doc.ents = [Span(doc, *span) for span in SPANS[document, annotator]]
            docs.append(doc)
        paths.append(saved(folder / f"{annotator}.spacy", DocBin(docs=docs).to_bytes()))
    return paths


ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


def as_uima(folder):
    system = cassis.TypeSystem()
    kind = system.create_type(ENTITY)
    system.create_feature(kind, "value", "uima.cas.String")
    for document, annotator in SPANS:
        made = cassis.Cas(system)
        made.sofa_string = TEXTS[document]
        made.sofa_mime = "text/plain"
        for start, end, label in offsets(document, annotator):
            made.add(kind(begin=start, end=end, value=label))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            saved(folder / annotator / f"{document}.json", made.to_json())
    return [folder / annotator for annotator in ANNOTATORS]


def as_webanno_tsv(folder):
    for (document, annotator), spans in SPANS.items():
        cells = ["_"] * len(DOCUMENTS[document])
        for number, (start, end, label) in enumerate(spans, start=1):
            cells[start:end] = [f"{label}[{number}]"] * (end - start)
        rows = [
            f"1-{n}\t{start}-{end}\t{word}\t{cell}\t"
            for n, (word, (start, end), cell) in enumerate(
                zip(DOCUMENTS[document], places(document, utf16), cells, strict=True), start=1
            )
        ]
        head = ["#FORMAT=WebAnno TSV 3.3", f"#T_SP={ENTITY}|value", "", ""]
        content = "\n".join([*head, f"#Text={TEXTS[document]}", *rows]) + "\n"
        saved(folder / annotator / f"{document}.tsv", content)
    return [folder / annotator for annotator in ANNOTATORS]


def as_gate(folder):
    for document in DOCUMENTS:
        sets = {
            annotator: {
                "name": annotator,
                "next_annid": 99,
                "annotations": [
                    {"id": n, "type": label, "start": start, "end": end, "features": {}}
                    for n, (start, end, label) in enumerate(offsets(document, annotator, utf16))
                ],
            }
            for annotator in ANNOTATORS
            if (document, annotator) in SPANS
        }
        content = {
            "annotation_sets": sets,
            "text": TEXTS[document],
            "features": {},
            "offset_type": "j",
            "name": document,
        }
        saved(folder / f"{document}.bdocjs", json.dumps(content))
    return [folder]


FORMATS = {
    "conll": as_conll,
    "table": as_table,
    "brat": as_brat,
    "doccano": as_doccano,
    "label-studio": as_label_studio,
    "prodigy": as_prodigy,
    "spacy": as_spacy,
    "uima": as_uima,
    "webanno-tsv": as_webanno_tsv,
    "gate": as_gate,
}


# --- What they give -----------------------------------------------------------


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


def assert_same(corpus, wanted):
    """Compare corpora, and everything that is counted in them, without any tolerance."""
    assert corpus.annotators == wanted.annotators
    assert corpus.documents == wanted.documents
    assert corpus.labels == wanted.labels
    assert (corpus.unit, corpus.positions) == (wanted.unit, wanted.positions)
    for document in wanted.documents:
        assert corpus.annotators_of(document) == wanted.annotators_of(document)
        for annotator in wanted.annotators_of(document):
            assert corpus.spans(document, annotator) == wanted.spans(document, annotator)
    for measure in ("token", "exact"):
        found, known = (bc.agreement(c, measure=measure).counts for c in (corpus, wanted))
        assert found.expected.tobytes() == known.expected.tobytes()
        assert found.matched.tobytes() == known.matched.tobytes()
        assert found.to_dict() == known.to_dict()
        assert found.score() == known.score()
        assert found.by_label() == known.by_label()
        assert found.by_document() == known.by_document()
        assert found.by_pair() == known.by_pair()


def test_tokens_are_those_of_the_rule():
    for document in DOCUMENTS:
        assert tokenized(TEXTS[document]) == places(document)


@pytest.mark.parametrize("positions", POSITIONS)
def test_the_reference_says_something(positions):
    result = bc.agreement(reference(positions), measure="token")
    assert 0 < result.chance < result.observed < 1
    assert set(result.by_label) == {"EVENT", "LOC", "PER"}
    assert set(result.by_document) == {"1", "2", "3"}


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("name", FORMATS)
def test_same_counts(tmp_path, name, positions):
    paths = FORMATS[name](tmp_path / "given")
    corpus = bc.read(*paths, format=name, unit="document", positions=positions)
    assert_same(corpus, reference(positions))


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("name", FORMATS)
def test_same_counts_without_being_told_the_format(tmp_path, name, positions):
    paths = FORMATS[name](tmp_path / "given")
    corpus = bc.read(*paths, unit="document", positions=positions)
    assert {given.format for given in corpus.inputs} == {name}
    assert_same(corpus, reference(positions))


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", FORMATS)
def test_same_counts_once_converted(tmp_path, name, written):
    """Anything converts to anything that is written."""
    paths = FORMATS[name](tmp_path / "given")
    positions = "tokens" if written in {"conll", "spacy"} else "characters"
    corpus = bc.read(*paths, format=name, unit="document", positions=positions)
    target = tmp_path / ("out.csv" if written == "table" else "out")
    write(corpus, target if written in {"table", "brat"} else f"{target}/", format=written)
    made = [target] if written in {"table", "brat"} else sorted(target.iterdir())
    for again in POSITIONS:
        result = bc.read(*made, format=written, unit="document", positions=again)
        assert_same(result, reference(again))
