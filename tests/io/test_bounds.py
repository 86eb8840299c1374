"""The work of reading follows the size of what is read: twice the input is twice the work.

Work is counted as calls of functions, which are the same on every machine, or as time where what
was slow happened within one call.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io import quoted

MOST = 2.5
"""How much more work twice the input may be."""


def n_calls(call: Callable[[], object]) -> int:
    """How many functions are called, those written in C too."""
    n = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal n
        n += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return n


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
    tmp_path: Path,
    files: Callable[[int], dict[str, str]],
    n: int,
    *,
    work: Callable[[Callable[[], object]], float] = n_calls,
    **options: Any,
) -> None:
    # Calls are counted exactly; of times, noise is less of four times the input.
    doublings = 1 if work is n_calls else 2
    first, last = (read(tmp_path / str(k), files(k), **options) for k in (n, 2**doublings * n))
    first()  # what is imported or remembered once
    assert work(last) < MOST**doublings * work(first)


LONG = "\N{GRINNING FACE} " + "Ada ran. "
"""The beginning of a text whose offsets depend on what they count."""


# --- Layers, columns, sets ----------------------------------------------------


def layers_of_webanno(n: int) -> dict[str, str]:
    head = "".join(f"#T_SP=webanno.custom.L{i}|value\n" for i in range(n))
    row = "1-1\t0-3\tAda\t" + "_\t" * (n - 1) + "PER\t\n"
    return {"a.tsv": f"#FORMAT=WebAnno TSV 3.3\n{head}\n\n#Text=Ada\n{row}"}


def test_layers_of_webanno_tsv(tmp_path):
    assert_linear(tmp_path, layers_of_webanno, 1000, format="webanno-tsv", layer="L1")


def columns_of_conllu(n: int) -> dict[str, str]:
    names = " ".join(f"X:C{i}" for i in range(n))
    row = "1\tAda" + "\t_" * n + "\tNER=B-PER\n\n"
    return {"a.conllup": f"# global.columns = ID FORM {names} MISC\n{row}"}


def test_columns_of_conllu_plus(tmp_path):
    assert_linear(tmp_path, columns_of_conllu, 5000, work=seconds, format="conllu")


def brackets_of_conllu(n: int) -> dict[str, str]:
    """All are open at once, and the first one opened is the first to be closed."""
    opening, closing = ("".join(f"({i}" for i in range(n)), "".join(f"{i})" for i in range(n)))
    rows = [
        f"{number}\tAda\tAda\tX\t_\t_\t0\tdep\t_\tEntity={value}\n"
        for number, value in enumerate((opening, closing), start=1)
    ]
    return {"a.conllu": "".join(rows) + "\n"}


def test_brackets_of_conllu(tmp_path):
    assert_linear(tmp_path, brackets_of_conllu, 3000, work=seconds, format="conllu")


def sets_of_gate(n: int) -> dict[str, str]:
    mark = '<Annotation Id="1" Type="X" StartNode="0" EndNode="3"/>'
    sets = "".join(f'<AnnotationSet Name="p{i}">{mark}</AnnotationSet>' for i in range(n))
    nodes = '<Node id="0"/>Ada<Node id="3"/>'
    text = f"<TextWithNodes>{nodes}</TextWithNodes>"
    return {"a.xml": f'<GateDocument version="3">{text}{sets}</GateDocument>'}


def test_annotation_sets_of_gate(tmp_path):
    assert_linear(tmp_path, sets_of_gate, 2000, work=seconds, format="gate")


def codes_of_project(depth: int) -> dict[str, str]:
    codes = '<Code guid="c" name="x" isCodable="true">' * depth + "</Code>" * depth
    book = f"<CodeBook><Codes>{codes}</Codes></CodeBook>"
    return {"a.qde": f'<Project xmlns="urn:QDA-XML:project:1.0" name="p">{book}</Project>'}


def test_nested_codes_are_bounded(tmp_path):
    with pytest.raises(bc.FormatError) as caught:
        read(tmp_path / "a", codes_of_project(101), format="refi-qda")()
    found = "codes are nested more than 100 deep; expected fewer levels"
    assert str(caught.value) == f"{tmp_path / 'a' / 'a.qde'}: {found}"
    with pytest.raises(bc.FormatError, match="no text is coded"):
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


@pytest.mark.parametrize(
    ("files", "n", "work", "name"),
    [
        (sets_of_bdocjs, 150, n_calls, "gate"),
        (annotators_of_wmt, 150, n_calls, "esa"),
        (annotators_of_records, 500, seconds, "records"),
    ],
)
def test_a_text_is_looked_through_once(tmp_path, files, n, work, name):
    assert_linear(tmp_path, files, n, work=work, format=name)


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


def test_a_text_of_web_annotations_is_looked_through_once(tmp_path):
    assert_linear(tmp_path, web_annotations, 150, format="web-annotation")


def test_long_spans_are_not_copied(tmp_path):
    def files(n: int) -> dict[str, str]:
        spans = [{"start": 0, "end": 400 * n - i, "label": "X"} for i in range(n)]
        return {"a.jsonl": lines([{"id": "d", "text": "x" * 400 * n, "spans": spans}])}

    assert_linear(tmp_path, files, 2000, work=seconds, format="records")


# --- Many files ---------------------------------------------------------------


def test_a_file_for_each_of_many_annotators(tmp_path):
    paths = []
    for i in range(400):
        paths.append(tmp_path / f"p{i}.conll")
        paths[-1].write_text("Ada\tB-PER\n")
    bc.read(paths[0])
    few, many = (n_calls(lambda n=n: bc.read(*paths[:n])) for n in (200, 400))
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


@pytest.mark.parametrize("kind", ["table", "table with texts", "records"])
def test_everybody_on_everything_is_bounded(tmp_path, kind):
    rows = own_record(400) if kind == "records" else own_document(400)
    if kind == "table with texts":
        rows = own_document(400, text="Ada ran")
    options = {"length": 9} if kind == "table" else {}
    path = tmp_path / "a.jsonl"
    path.write_text(lines(rows))
    with pytest.raises(bc.FormatError) as caught:
        bc.read(path, format=kind.split()[0], **options)
    assert str(caught.value) == (
        f"{path}: 400 documents and 400 annotators; expected fewer: pass empty='missing' if not "
        "every annotator annotated every document"
    )
    corpus = bc.read(path, format=kind.split()[0], empty="missing", **options)
    assert len(corpus.annotation_document) == 400
    path.write_text(lines(rows[:200]))
    corpus = bc.read(path, format=kind.split()[0], **options)
    assert len(corpus.annotation_document) == 200 * 200


def knowtator(document: str, annotator: str) -> str:
    return (
        f'<annotations textSource="{document}.txt"><annotation><mention id="m"/>'
        f'<annotator id="a">{annotator}</annotator><span start="0" end="3"/></annotation>'
        '<classMention id="m"><mentionClass id="X">X</mentionClass></classMention></annotations>'
    )


def test_everybody_on_every_file_is_bounded(tmp_path):
    for name in ("corpus", "saved"):
        (tmp_path / name).mkdir()
    for i in range(400):
        (tmp_path / "corpus" / f"d{i}.txt").write_text("Ada ran")
        (tmp_path / "saved" / f"d{i}.txt.knowtator.xml").write_text(knowtator(f"d{i}", f"p{i}"))
    with pytest.raises(bc.FormatError, match=": 400 documents and 400 annotators; expected fewer"):
        bc.read(tmp_path, format="knowtator", folder="documents")


# --- Fields -------------------------------------------------------------------


@pytest.mark.parametrize("text", [{}, {"text": "Ada ran"}])
def test_rows_with_fields_of_their_own_are_bounded(tmp_path, text):
    rows = [{**row, f"c{i}": "v"} for i, row in enumerate(own_document(1500, **text))]
    rows = [{**row, "annotator": "p"} for row in rows]
    path = tmp_path / "a.jsonl"
    path.write_text(lines(rows))
    options = {} if text else {"length": 9}
    with pytest.raises(bc.FormatError) as caught:
        bc.read(path, format="table", **options)
    n_fields = 1505 + len(text)
    assert str(caught.value) == (
        f"{path}: {n_fields:,} fields in 1,500 documents or rows, most without a value; "
        "expected fewer: leave out fields that few of them have"
    )
    path.write_text(lines(rows[:500]))
    assert len(bc.read(path, format="table", **options).fields) == 500


def test_records_with_fields_of_their_own_are_bounded(tmp_path):
    answers = {"spans": [{"value": [{"label": "X", "start": 0, "end": 3}], "user_id": "p"}]}
    records = [
        {"id": str(i), "fields": {"text": "Ada"}, "metadata": {f"c{i}": "v"}, "responses": answers}
        for i in range(1500)
    ]
    files = {"a.json": json.dumps(records)}
    with pytest.raises(bc.FormatError, match="1,500 fields in 1,500 documents or rows, most"):
        read(tmp_path / "a", files, format="argilla")()


# --- Quotes -------------------------------------------------------------------


def quote_shapes() -> dict[str, Callable[[int], tuple[str, list[str]]]]:
    """Texts and quotes that could be looked for at every place of the text."""
    return {
        "missing": lambda n: ("Ada ran it. " * n, [f"z{i} not" for i in range(n)]),
        "frequent first word": lambda n: ("the " * n, [f"the w{i}" for i in range(n)]),
        "punctuation first": lambda n: ("Ada ran. " * n, [f". z{i}" for i in range(n)]),
        "folded": lambda n: (
            "é " + " ".join(f"Word{i} ran" for i in range(2 * n)),
            [f"word{i}  Ran" for i in range(n)],
        ),
        "parts of words": lambda n: (
            " ".join(f"Word{i}ran" for i in range(2 * n)),
            [f"Word{i}r" for i in range(n)],
        ),
    }


@pytest.mark.parametrize("shape", quote_shapes())
def test_many_quotes_in_a_long_text(shape):
    text, quotes = quote_shapes()[shape](1500)
    index = quoted._Index(text)
    for words in quotes:
        index.found(words, lambda _start, _end: True)
    # The last search before the text is sorted may be of a word that is everywhere.
    most = quoted._MOST_SEARCHES + 2 + quoted._CHARACTERS_PER_WORD
    assert index.n_compared <= most * len(text)


@given(st.text("ab é\u4e00", max_size=40), st.lists(st.text("ab é\u4e00", max_size=4), max_size=8))
def test_a_sorted_text_has_the_same_places(text, quotes):
    mentions = [quoted.Mention(words, "X") for words in quotes]
    quoted._searched.cache_clear()
    found = quoted.placed(text, mentions)
    quoted._searched.cache_clear()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(quoted, "_MOST_SEARCHES", -1)
        assert quoted.placed(text, mentions) == found
    quoted._searched.cache_clear()


def test_places_of_frequent_quotes_are_bounded(tmp_path):
    entities = [{"text": "Ada", "label": "X"}]
    rows = [{"id": 1, "annotator": "p0", "text": "Ada ran. " * 20_000, "entities": entities}]
    rows += [{"id": 1, "annotator": f"p{i}", "entities": entities} for i in range(1, 60)]
    with pytest.raises(bc.DataError) as caught:
        read(tmp_path / "a", {"a.jsonl": lines(rows)}, format="quotes")()
    assert str(caught.value) == (
        "51 quotes that may be at 1,020,000 places; expected fewer places: quote more of the "
        "text, so that it occurs less often"
    )


# --- Deep nesting -------------------------------------------------------------

DEEP = 50_000


@pytest.mark.parametrize("name", ["records", "label-studio", "table", "gate", "bioc", None])
def test_deep_json_is_refused(tmp_path, name):
    content = f'{{"id": 1, "text": "Ada", "x": {"[" * DEEP}{"]" * DEEP}}}'
    with pytest.raises(bc.FormatError, match="JSON nested too deeply"):
        read(tmp_path / "a", {"a.json": content}, format=name)()


def test_deep_xml_is_read(tmp_path):
    inside = '<ENAMEX TYPE="P">' * DEEP + "Ada" + "</ENAMEX>" * DEEP
    files = {"a.xml": f"<DOC><TEXT>{inside}</TEXT></DOC>"}
    corpus = read(tmp_path / "a", files, format="tei")()
    assert corpus.spans(corpus.documents[0], "a") == [(0, 3, "P")]
