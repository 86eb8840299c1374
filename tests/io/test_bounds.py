"""The work of reading follows the size of what is read: twice the input is twice the work.

Work is counted as calls of functions, which are the same on every machine; also as time, in the
longest tests, where what was slow happened within one call.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import thread_time
from typing import Any

import pytest

import beyondchance as bc
from beyondchance.io import columns, drafts
from beyondchance.io.formats import quotes
from each import each
from refusals import refused
from slowness import n_calls

pytestmark = pytest.mark.usefixtures("by_characters")

MOST = 2.5
"""How much more work twice the input may be."""


def seconds(call: Callable[[], object]) -> float:
    """The least time of several, without that of Python to look for what is no longer needed."""
    times = []
    for _ in range(3):
        gc.collect()
        gc.disable()
        begin = thread_time()
        call()
        times.append(thread_time() - begin)
        gc.enable()
    return min(times)


def read(folder: Path, files: dict[str, str], **options: Any) -> Callable[[], bc.Corpus]:
    """A function that reads files: the only one, or the folder."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    given = folder / next(iter(files)) if len(files) == 1 else folder
    return lambda: bc.read(given, **options)


def lines(rows: Any) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def assert_linear(
    tmp_path: Path, files: Callable[[int], dict[str, str]], n: int, **options: Any
) -> None:
    """Check that twice the input is at most so many times the calls."""
    first, last = (read(tmp_path / str(k), files(k), **options) for k in (n, 2 * n))
    first()  # what is imported or remembered once
    assert n_calls(last) < MOST * n_calls(first)


def assert_linear_in_time(
    tmp_path: Path, files: Callable[[int], dict[str, str]], n: int, **options: Any
) -> None:
    """Check that four times the input takes at most so many times as long."""
    first, last = (read(tmp_path / str(k), files(k), **options) for k in (n, 4 * n))
    first()
    assert seconds(last) < MOST**2 * seconds(first)


LONG = "\N{GRINNING FACE} " + "Ada ran. "
"""The beginning of a text whose offsets depend on what they count."""


# --- Layers, columns, sets ----------------------------------------------------


def layers_of_webanno(n: int) -> dict[str, str]:
    head = "".join(f"#T_SP=webanno.custom.L{i}|value\n" for i in range(n))
    row = "1-1\t0-3\tAda\t" + "_\t" * (n - 1) + "PER\t\n"
    return {"a.tsv": f"#FORMAT=WebAnno TSV 3.3\n{head}\n\n#Text=Ada\n{row}"}


def columns_of_conllu(n: int) -> dict[str, str]:
    names = " ".join(f"X:C{i}" for i in range(n))
    row = "1\tAda" + "\t_" * n + "\tNER=B-PER\n\n"
    return {"a.conllup": f"# global.columns = ID FORM {names} MISC\n{row}"}


def brackets_of_conllu(n: int) -> dict[str, str]:
    """All are open at once, and the first one opened is the first to be closed."""
    opening, closing = ("".join(f"({i}" for i in range(n)), "".join(f"{i})" for i in range(n)))
    rows = [
        f"{number}\tAda\tAda\tX\t_\t_\t0\tdep\t_\tEntity={value}\n"
        for number, value in enumerate((opening, closing), start=1)
    ]
    return {"a.conllu": "".join(rows) + "\n"}


def sets_of_gate(n: int) -> dict[str, str]:
    mark = '<Annotation Id="1" Type="X" StartNode="0" EndNode="3"/>'
    sets = "".join(f'<AnnotationSet Name="p{i}">{mark}</AnnotationSet>' for i in range(n))
    nodes = '<Node id="0"/>Ada<Node id="3"/>'
    text = f"<TextWithNodes>{nodes}</TextWithNodes>"
    return {"a.xml": f'<GateDocument version="3">{text}{sets}</GateDocument>'}


def codes_of_project(depth: int) -> dict[str, str]:
    codes = '<Code guid="c" name="x" isCodable="true">' * depth + "</Code>" * depth
    book = f"<CodeBook><Codes>{codes}</Codes></CodeBook>"
    return {"a.qde": f'<Project xmlns="urn:QDA-XML:project:1.0" name="p">{book}</Project>'}


def test_nested_codes_are_bounded(tmp_path):
    with refused(bc.FormatError, "a.qde: … nested … 100"):
        read(tmp_path / "a", codes_of_project(101), format="refi-qda")()
    with refused(bc.FormatError, "a.qde: … coded"):
        read(tmp_path / "b", codes_of_project(100), format="refi-qda")()


# --- Many annotators of one long text -----------------------------------------


def sets_of_bdocjs(n: int) -> dict[str, str]:
    mark = {"type": "X", "start": 3, "end": 6, "id": 0, "features": {}}
    sets = {f"p{i}": {"annotations": [mark]} for i in range(n)}
    content = {"annotation_sets": sets, "text": LONG + "x" * 20 * n, "offset_type": "j"}
    return {"a.bdocjs": json.dumps(content)}


def annotators_of_wmt(n: int) -> dict[str, str]:
    error = {"start_i": 3, "end_i": 5, "severity": "minor"}
    scores = [{"annotator": f"p{i}", "errors": [error]} for i in range(n)]
    row = {"doc_id": "d", "tgt_text": {"": LONG + "x" * 20 * n}, "scores": {"": scores}}
    return {"a.jsonl": lines([row])}


def annotators_of_records(n: int) -> dict[str, str]:
    spans = [{"start": 2, "end": 5, "label": "X", "annotator": f"p{i}"} for i in range(n)]
    return {"a.jsonl": lines([{"id": "d", "text": LONG + "x" * 200 * n, "spans": spans}])}


def web_annotations(n: int) -> dict[str, str]:
    annotations = [
        {
            "@context": "http://www.w3.org/ns/anno.jsonld",
            "type": "Annotation",
            "creator": f"p{i}",
            "body": [{"type": "TextualBody", "purpose": "tagging", "value": "X"}],
            "target": {
                "source": "d",
                "selector": [
                    {"type": "TextPositionSelector", "start": 3, "end": 6},
                    {"type": "TextQuoteSelector", "exact": "Ada"},
                ],
            },
        }
        for i in range(n)
    ]
    return {"a.json": json.dumps(annotations), "d.txt": LONG + "x" * 50 * n}


def long_spans(n: int) -> dict[str, str]:
    """Spans that must not be copied."""
    spans = [{"start": 0, "end": 400 * n - i, "label": "X"} for i in range(n)]
    return {"a.jsonl": lines([{"id": "d", "text": "x" * 400 * n, "spans": spans}])}


LINEAR = [
    (layers_of_webanno, 50, {"format": "webanno-tsv", "layer": "L1"}),
    (columns_of_conllu, 100, {"format": "conllu"}),
    (brackets_of_conllu, 50, {"format": "conllu"}),
    (sets_of_gate, 50, {"format": "gate"}),
    (sets_of_bdocjs, 30, {"format": "gate"}),
    (annotators_of_wmt, 30, {"format": "esa"}),
    (annotators_of_records, 30, {"format": "records"}),
    (web_annotations, 30, {"format": "web-annotation"}),
    (long_spans, 30, {"format": "records"}),
]


@pytest.mark.parametrize(("files", "n", "options"), LINEAR)
def test_twice_the_input_is_twice_the_work(tmp_path, files, n, options):
    assert_linear(tmp_path, files, n, **options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "n", "options"),
    [
        (columns_of_conllu, 5000, {"format": "conllu"}),
        (brackets_of_conllu, 3000, {"format": "conllu"}),
        (sets_of_gate, 2000, {"format": "gate"}),
        (annotators_of_records, 500, {"format": "records"}),
        (long_spans, 2000, {"format": "records"}),
    ],
)
def test_twice_the_input_takes_twice_the_time(tmp_path, files, n, options):
    assert_linear_in_time(tmp_path, files, n, **options)


# --- Many files ---------------------------------------------------------------


def test_a_file_for_each_of_many_annotators(tmp_path):
    paths = []
    for i in range(40):
        paths.append(tmp_path / f"p{i}.conll")
        paths[-1].write_text("Ada\tB-PER\n")
    bc.read(paths[0])
    few, many = (n_calls(lambda n=n: bc.read(*paths[:n])) for n in (20, 40))
    assert many < MOST * few


# --- Everybody on everything --------------------------------------------------


def own_document(n: int, **text: str) -> list[dict[str, Any]]:
    """Each annotator marked one document, in which nobody else marked anything."""
    return [
        {"document": f"d{i}", "annotator": f"p{i}", "start": 0, "end": 3, "label": "X", **text}
        for i in range(n)
    ]


def own_record(n: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"d{i}",
            "text": "Ada ran",
            "spans": [{"start": 0, "end": 3, "label": "X", "annotator": f"p{i}"}],
        }
        for i in range(n)
    ]


@pytest.fixture
def few(monkeypatch):
    """Let few documents and annotators, rows and fields be many."""
    monkeypatch.setattr(drafts, "MOST_ASSUMED", 100)
    monkeypatch.setattr(columns, "_MOST_GAPS", 1000)


@each("kind", ["table", "table with texts", "records"])
@pytest.mark.usefixtures("few")
def test_everybody_on_everything_is_bounded(tmp_path, kind):
    rows = own_record(60) if kind == "records" else own_document(60)
    if kind == "table with texts":
        rows = own_document(60, text="Ada ran")
    options = {"length": 9} if kind == "table" else {}
    path = tmp_path / "a.jsonl"
    path.write_text(lines(rows))
    with refused(bc.FormatError, "a.jsonl: … 60 documents … 60 annotators", use="empty"):
        bc.read(path, format=kind.split()[0], **options)
    corpus = bc.read(path, format=kind.split()[0], empty="missing", **options)
    assert len(corpus.annotation_document) == 60
    path.write_text(lines(rows[:10]))
    corpus = bc.read(path, format=kind.split()[0], **options)
    assert len(corpus.annotation_document) == 10 * 10


def knowtator(document: str, annotator: str) -> str:
    return (
        f'<annotations textSource="{document}.txt"><annotation><mention id="m"/>'
        f'<annotator id="a">{annotator}</annotator><span start="0" end="3"/></annotation>'
        '<classMention id="m"><mentionClass id="X">X</mentionClass></classMention></annotations>'
    )


@pytest.mark.usefixtures("few")
def test_everybody_on_every_file_is_bounded(tmp_path):
    for name in ("corpus", "saved"):
        (tmp_path / name).mkdir()
    for i in range(60):
        (tmp_path / "corpus" / f"d{i}.txt").write_text("Ada ran")
        (tmp_path / "saved" / f"d{i}.txt.knowtator.xml").write_text(knowtator(f"d{i}", f"p{i}"))
    with refused(bc.FormatError, "60 documents … 60 annotators", use="empty"):
        bc.read(tmp_path, format="knowtator", folder="documents")


@each(
    ("n_documents", "n_annotators", "n_given", "is_much"),
    [(1000, 100, 0, False), (1001, 100, 0, True), (1001, 100, 10, False), (1001, 101, 10, True)],
)
def test_how_many_may_have_annotated_everything(n_documents, n_annotators, n_given, is_much):
    expected = (
        refused(bc.FormatError, f"here: … {n_documents:,} … {n_annotators}", use="empty")
        if is_much
        else nullcontext()
    )
    with expected:
        drafts.check_everybody(n_documents, n_annotators, n_given, "here")


# --- Fields -------------------------------------------------------------------


@each("text", [{}, {"text": "Ada ran"}])
@pytest.mark.usefixtures("few")
def test_rows_with_fields_of_their_own_are_bounded(tmp_path, text):
    rows = [{**row, f"c{i}": "v"} for i, row in enumerate(own_document(100, **text))]
    rows = [{**row, "annotator": "p"} for row in rows]
    path = tmp_path / "a.jsonl"
    path.write_text(lines(rows))
    options = {} if text else {"length": 9}
    with refused(bc.FormatError, f"a.jsonl: … {105 + len(text)} fields … 100 documents"):
        bc.read(path, format="table", **options)
    path.write_text(lines(rows[:20]))
    assert len(bc.read(path, format="table", **options).fields) == 20


@pytest.mark.usefixtures("few")
def test_records_with_fields_of_their_own_are_bounded(tmp_path):
    answers = {"spans": [{"value": [{"label": "X", "start": 0, "end": 3}], "user_id": "p"}]}
    records = [
        {"id": str(i), "fields": {"text": "Ada"}, "metadata": {f"c{i}": "v"}, "responses": answers}
        for i in range(100)
    ]
    files = {"a.json": json.dumps(records)}
    with refused(bc.FormatError, "100 fields … 100 documents"):
        read(tmp_path / "a", files, format="argilla")()
    files = {"a.json": json.dumps(records[:20])}
    assert len(read(tmp_path / "b", files, format="argilla")().fields) == 20


# --- Quotes -------------------------------------------------------------------


def test_too_many_quotes_of_a_long_text_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(quotes, "_MOST_SEARCHED", 2_000)
    entities = [{"text": f"Ada{i}", "label": "X"} for i in range(10)]
    row = {"id": 1, "annotator": "ada", "text": "Ada ran. " * 20, "entities": entities}
    assert len(read(tmp_path / "a", {"a.jsonl": lines([row])}, format="quotes")().documents) == 1
    row["text"] *= 2
    with refused(bc.FormatError, "a.jsonl:1: 10 … 360"):
        read(tmp_path / "b", {"a.jsonl": lines([row])}, format="quotes")()


def test_frequent_quotes_take_two_places_each(tmp_path):
    entities = [{"text": "Ada", "label": "X"}]
    rows = [{"id": 1, "annotator": "p0", "text": "Ada ran. " * 200, "entities": entities}]
    rows += [{"id": 1, "annotator": f"p{i}", "entities": entities} for i in range(1, 60)]
    corpus = read(tmp_path / "a", {"a.jsonl": lines(rows)}, format="quotes")()
    assert corpus.elsewhere.shape == (2, 3, 60)


# --- Deep nesting -------------------------------------------------------------

DEEP = 5_000


@each("name", ["records", "label-studio", "table", "gate", "bioc", None])
def test_deep_json_is_refused(tmp_path, name):
    content = f'{{"id": 1, "text": "Ada", "x": {"[" * DEEP}{"]" * DEEP}}}'
    with refused(bc.FormatError, "a.json:1: … JSON … nested"):
        read(tmp_path / "a", {"a.json": content}, format=name)()


def test_deep_xml_is_read(tmp_path):
    deep = DEEP // 2  # more than Python calls within one another, too
    inside = '<ENAMEX TYPE="P">' * deep + "Ada" + "</ENAMEX>" * deep
    files = {"a.xml": f"<DOC><TEXT>{inside}</TEXT></DOC>"}
    corpus = read(tmp_path / "a", files, format="tei")()
    assert corpus.spans(corpus.documents[0], "a") == [(0, 3, "P")]
