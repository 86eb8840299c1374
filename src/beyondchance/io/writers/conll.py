"""Columns of tokens and IOB2 tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError
from beyondchance.io.formats.conll import DOCUMENT_LINE, RESERVED_COLUMNS, RESERVED_KEYS
from beyondchance.io.values import quoting
from beyondchance.io.writers.shared import FOLDER, Export, Files, encoded, tokens_of
from beyondchance.messages import Quote, Use

_BREAK = re.compile(r"[\t\r\n]")


def composed(export: Export) -> Files:
    """Return a file with a column for each annotator, or a file for each in a folder."""
    corpus = export.corpus
    # The name of a file is that of its annotator, so that any name of the column will do.
    names = ["tag"] if export.is_folder else corpus.annotators
    if not export.is_folder:
        pairs = product(range(len(corpus.documents)), range(len(names)))
        export.check_complete(pairs, "columns")
        for person in names:
            if _BREAK.search(person) or person.lower() in RESERVED_COLUMNS:
                raise DataError(
                    *quoting("annotator {} cannot be the name of a column", person),
                    remedy=f"rename the annotator, or {FOLDER}",
                )
    return export.for_each_or_all("conll", partial(_conll, export, names))


def _conll(export: Export, names: Sequence[str], annotators: Sequence[int]) -> bytes:
    """Return the documents that these annotators have annotated, with a column for each."""
    corpus = export.corpus
    if corpus.positions != "tokens":
        raise DataError(
            f"positions are {corpus.positions}",
            expected="tokens for conll",
            remedy=("read the corpus with ", Use("positions", "tokens")),
        )
    texts = export.texts()
    tokens = tokens_of(corpus, texts)
    tags = {a: _tags(export, a) for a in annotators}
    # Tabs, where a name has spaces in it.
    separator = "\t" if any(len(name.split()) > 1 for name in names) else " "
    lines = [f"# columns = {separator.join(['token', *names])}"]
    for document in range(len(corpus.documents)):
        if (document, annotators[0]) not in export.annotations:
            continue
        lines += _head(export, document)
        members = range(*np.searchsorted(corpus.text_document, [document, document + 1]).tolist())
        if not any(tokens[text] for text in members):
            found = (*export.named(document), " has no token")
            raise export.unfit(*found, remedy="leave it out")
        for text in members:
            for place, (start, end) in enumerate(tokens[text], start=int(corpus.text_begin[text])):
                word = _word(texts[text][start:end], corpus, text)
                lines.append("\t".join([word, *(tags[a][place] for a in annotators)]))
            if tokens[text]:
                lines.append("")
    if all(line.startswith("#") for line in lines if line):
        raise DataError(
            "every token begins with '#', so that conll would take all lines for comments",
            remedy="write a table",
        )
    return encoded("".join(f"{line}\n" for line in lines), "the corpus")


def _tags(export: Export, annotator: int) -> list[str]:
    """Return the IOB2 tags of one annotator, all texts end to end."""
    corpus = export.corpus
    for label in corpus.labels:
        _check_line(export, "label", label)
    tags = ["O"] * int(corpus.text_length.sum())
    for spans in (spans for (_, who), spans in export.annotations.items() if who == annotator):
        export.check_overlap(spans, "tags cannot represent that: write a table or brat")
        for index in spans:
            span = corpus.span(index)
            begin = int(corpus.text_begin[corpus.span_text[index]])
            inside = [f"I-{span.label}"] * (span.end - span.start - 1)
            tags[begin + span.start : begin + span.end] = [f"B-{span.label}", *inside]
    return tags


def _check_line(export: Export, kind: str, name: str) -> None:
    """Refuse a name that does not fit into a cell of a line."""
    if _BREAK.search(name):
        found = (f"{kind} ", Quote(name), " holds a tab or a line break")
        raise export.unfit(*found, remedy="rename it")


def _head(export: Export, document: int) -> list[str]:
    """Return the comments about a document: its name and its fields."""
    name = export.corpus.documents[document]
    _check_line(export, "document", name)
    lines = [f"# newdoc id = {name}"]
    for key, values in export.corpus.fields.items():
        value = values[document]
        is_plain = not _BREAK.search(key + value) and value.strip() == value
        if key in RESERVED_KEYS or "=" in key or not is_plain:
            raise DataError(
                *("the field ", Quote(key), " with the value ", Quote(value)),
                " cannot be written as a comment '# key = value'",
                where=export.named(document),
                remedy="rename it or leave it out",
            )
        lines.append(f"# {key} = {value}")
    return lines


def _word(word: str, corpus: Corpus, text: int) -> str:
    """Return a token, refused where a reader would take its line for something else."""
    if word.strip() != word or not word or _BREAK.search(word) or word == DOCUMENT_LINE:
        raise DataError(
            *("the token ", Quote(word), " cannot be written in a column"),
            where=corpus.describe_text(text),
            remedy="correct it, or write a table",
        )
    return word
