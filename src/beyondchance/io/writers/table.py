"""Tables: one row for each span, as CSV, TSV, JSON Lines or Parquet."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from beyondchance.errors import DataError
from beyondchance.io.columns import NAMES, NUMBERS, our_name
from beyondchance.io.registry import required
from beyondchance.io.values import quoting, reason
from beyondchance.io.writers.shared import (
    Annotations,
    Export,
    Files,
    begins_of,
    encoded,
    joined_texts,
    json_lines,
)
from beyondchance.messages import Quote

Columns = dict[str, list[Any]]

_SEPARATOR = re.compile(r'[,;"\t\r\n]')
_SPECIAL = {",": re.compile(r'[,"\r\n]'), "\t": re.compile(r'[\t"\r\n]')}
"""What is quoted in a cell, by what divides the cells."""


def composed(export: Export) -> Files:
    """Write one row for each span, and for each annotation without any."""
    corpus, kind = export.corpus, export.ending
    for name in corpus.fields:
        if our_name(name) in NAMES:
            found = ("field ", Quote(name), f" would be read as the column {our_name(name)!r}")
            raise DataError(*found, remedy="rename it")
    columns = _columns(export)
    if kind == "parquet":
        return _parquet(columns)
    rows = zip(*columns.values(), strict=True)
    if kind == "jsonl":
        objects = (dict(zip(columns, row, strict=True)) for row in rows)
        return encoded(json_lines(objects), "the table")
    odd = next((name for name in corpus.fields if _SEPARATOR.search(name)), None)
    if odd is not None:
        problem = quoting("field {} has a separator in its name", odd)
        raise DataError(*problem, remedy="rename it, or write .jsonl")
    delimiter = "\t" if kind == "tsv" else ","
    special = _SPECIAL[delimiter]

    def cell(value: object) -> str:
        text = "" if value is None else str(value)
        return '"{}"'.format(text.replace('"', '""')) if special.search(text) else text

    lines = (delimiter.join(map(cell, row)) for row in (tuple(columns), *rows))
    return encoded("".join(f"{line}\n" for line in lines), "the table")


def _columns(export: Export) -> Columns:
    """Return the columns of a table; None where a row has no value."""
    corpus, found = export.corpus, _with_blanks(export.annotations)
    rows = [(*pair, span) for pair, spans in found.items() for span in spans]
    documents, annotators, spans = (list(column) for column in zip(*rows, strict=True))
    # Tokens by rule are those of the text; others are written as what offsets count.
    by_rule = corpus.options.get("tokens") == "rule"
    texts = corpus.texts if by_rule or corpus.positions == "characters" else None
    joined = [] if texts is None else joined_texts(corpus, texts)
    has_text = bool(joined) and all(joined)
    size, start, end = corpus.text_length, corpus.span_start, corpus.span_end
    if has_text:
        size = np.array([len(text) for text in texts or ()])
        start, end = corpus.characters(corpus.span_text, start, end)
    begins = begins_of(corpus, size, gap=int(has_text))[corpus.span_text]
    columns: Columns = {
        "document": [corpus.documents[document] for document in documents],
        "annotator": [corpus.annotators[annotator] for annotator in annotators],
    }
    for name, values in (
        ("start", (begins + start).tolist()),
        ("end", (begins + end).tolist()),
        ("label", [corpus.labels[label] for label in corpus.span_label.tolist()]),
    ):
        known = [*values, None]
        columns[name] = [known[span] for span in spans]
    if has_text:
        # Once is enough for a reader, and a long text in every row is too much for a file.
        unwritten = dict(enumerate(joined))
        columns["text"] = [unwritten.pop(document, None) for document in documents]
    else:
        lengths = np.bincount(corpus.text_document, corpus.text_length, len(corpus.documents))
        columns["length"] = lengths.astype(np.int64)[documents].tolist()
    if export.has_sentences:
        sizes: dict[int, str] = {}
        for document, own in zip(corpus.text_document.tolist(), size.tolist(), strict=True):
            sizes[document] = f"{sizes[document]} {own}" if document in sizes else str(own)
        columns["sentence_lengths"] = [sizes.pop(document, None) for document in documents]
    # By default, a table with texts is scored by tokens.
    if corpus.positions != ("tokens" if has_text else "characters"):
        columns["offsets_in"] = [corpus.positions] * len(documents)
    for name, of_documents in corpus.fields.items():
        columns[name] = [of_documents[document] for document in documents]
    return columns


def _with_blanks(annotations: Annotations) -> Annotations:
    """Put -1, a row without span, where an annotator found nothing."""
    found = {pair: spans or [-1] for pair, spans in annotations.items()}
    documents, annotators = (len(set(part)) for part in zip(*annotations, strict=True))
    if all(annotations.values()) and len(annotations) < documents * annotators:
        # Without such a row, all annotators would be taken to have annotated everything.
        pair = next(iter(found))
        found[pair] = [-1, *found[pair]]
    return found


def _parquet(columns: Columns) -> bytes:
    arrow = required("pyarrow", extra="parquet", purpose="writing Parquet")
    parquet = required("pyarrow.parquet", extra="parquet", purpose="writing Parquet")
    sink = io.BytesIO()
    try:
        kinds = {name: arrow.int64() if name in NUMBERS else arrow.string() for name in columns}
        parquet.write_table(arrow.table(columns, schema=arrow.schema(kinds)), sink)
    except Exception as error:
        raise DataError("the table cannot be written as Parquet", *reason(error)) from None
    return sink.getvalue()
