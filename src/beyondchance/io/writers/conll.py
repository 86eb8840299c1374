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
from beyondchance.io.saving import is_folder
from beyondchance.io.values import quoting
from beyondchance.io.writers.shared import (
    FOLDER,
    Annotations,
    Asked,
    Files,
    check_complete,
    check_overlap,
    encoded,
    for_each_or_all,
    known_texts,
    tokens_of,
)
from beyondchance.messages import Quote, Use

_BREAK = re.compile(r"[\t\r\n]")


def composed(corpus: Corpus, annotations: Annotations, path: str, asked: Asked) -> Files:
    """Return a file with a column for each annotator, or a file for each in a folder."""
    del asked
    # The name of a file is that of its annotator, so that any name of the column will do.
    names = ["tag"] if is_folder(path) else corpus.annotators
    if not is_folder(path):
        pairs = product(range(len(corpus.documents)), range(len(names)))
        check_complete(corpus, annotations, pairs, path, "columns")
        for person in names:
            if _BREAK.search(person) or person.lower() in RESERVED_COLUMNS:
                found = quoting("annotator {} cannot be the name of a column", person)
                raise DataError(*found, remedy=f"rename the annotator, or {FOLDER}")
    content = partial(_conll, corpus, annotations, names)
    return for_each_or_all(corpus, annotations, path, "conll", content)


def _conll(
    corpus: Corpus, annotations: Annotations, names: Sequence[str], annotators: Sequence[int]
) -> bytes:
    """Return the documents that these annotators have annotated, with a column for each."""
    if corpus.positions != "tokens":
        raise DataError(
            f"positions are {corpus.positions}",
            expected="tokens for conll",
            remedy=("read the corpus with ", Use("positions", "tokens")),
        )
    texts = known_texts(corpus, "conll")
    tokens = tokens_of(corpus, texts)
    tags = {a: _tags(corpus, annotations, a) for a in annotators}
    # Tabs, where a name has spaces in it.
    separator = "\t" if any(len(name.split()) > 1 for name in names) else " "
    lines = [f"# columns = {separator.join(['token', *names])}"]
    for document, name in enumerate(corpus.documents):
        if (document, annotators[0]) not in annotations:
            continue
        lines += _head(corpus, document)
        members = range(*np.searchsorted(corpus.text_document, [document, document + 1]).tolist())
        if not any(tokens[text] for text in members):
            problem = quoting("document {} has no token, which conll cannot represent", name)
            raise DataError(*problem, remedy="leave it out")
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


def _tags(corpus: Corpus, annotations: Annotations, annotator: int) -> list[str]:
    """Return the IOB2 tags of one annotator, all texts end to end."""
    for label in corpus.labels:
        _check_line("label", label)
    tags = ["O"] * int(corpus.text_length.sum())
    for spans in (spans for (_, who), spans in annotations.items() if who == annotator):
        check_overlap(corpus, spans, "tags cannot represent that: write a table or brat")
        for index in spans:
            span = corpus.span(index)
            begin = int(corpus.text_begin[corpus.span_text[index]])
            inside = [f"I-{span.label}"] * (span.end - span.start - 1)
            tags[begin + span.start : begin + span.end] = [f"B-{span.label}", *inside]
    return tags


def _check_line(kind: str, name: str) -> None:
    """Refuse a name that does not fit into a cell of a line."""
    if _BREAK.search(name):
        raise DataError(
            *(f"{kind} ", Quote(name)),
            " holds a tab or a line break, which conll cannot represent",
            remedy="rename it",
        )


def _head(corpus: Corpus, document: int) -> list[str]:
    """Return the comments about a document: its name and its fields."""
    name = corpus.documents[document]
    _check_line("document", name)
    lines = [f"# newdoc id = {name}"]
    for key, values in corpus.fields.items():
        value = values[document]
        is_plain = not _BREAK.search(key + value) and value.strip() == value
        if key in RESERVED_KEYS or "=" in key or not is_plain:
            raise DataError(
                *("the field ", Quote(key), " with the value ", Quote(value)),
                " cannot be written as a comment '# key = value'",
                where=("document ", Quote(name)),
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
