"""WebAnno TSV 3.3: a line for each token, for a document of one annotator."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from beyondchance.io.formats.webanno_tsv import CONTROLS, unescaped
from beyondchance.io.offsets import Interval, offsets_at, tokenized
from beyondchance.io.writers.shared import Documents, Export, Files, encoded
from beyondchance.messages import Use, pieces

_LETTERS = {character: letter for letter, character in CONTROLS.items()}
_IN_TEXT = re.compile(r"[\\\t\n\r\f\x08\v]")
_IN_VALUE = re.compile(r"[\\\t\n\r\f\x08\v\[\]|_;*]|->")

Parts = dict[Interval, list[int]]
"""The spans on a token, or on parts of it, by its place and theirs."""


def composed(export: Export) -> Files:
    """Write a file for each document in the folder of each annotator, or the only one."""
    documents = export.documents()
    layer, feature = export.layer_and_feature()

    def content(document: int, annotator: int) -> bytes:
        text, spans = documents.texts[document], export.annotations[document, annotator]
        sentences = _sentences(export, documents, document)
        parts = _parts(export, documents, spans, list(chain.from_iterable(sentences)))
        values = _values(documents.labels if feature else None, spans, parts)
        lines = ["#FORMAT=WebAnno TSV 3.3", f"#T_SP={layer}|{feature}", ""]
        rest = iter(parts)
        for number, stretch in enumerate(documents.sentences[document], start=1):
            sentence = text[slice(*stretch)].split("\n")
            lines += ["", *(f"#Text={_escaped(line, _IN_TEXT)}" for line in sentence)]
            for word in range(1, len(sentences[number - 1]) + 1):
                lines += _lines(f"{number}-{word}", next(rest), text, values)
        return encoded("".join(f"{line}\n" for line in lines), *export.named(document))

    return export.for_each_document("tsv", content, what="a file of this kind")


def _sentences(export: Export, documents: Documents, document: int) -> list[list[Interval]]:
    """Return the tokens of each sentence, by rule where the corpus has none."""
    text = documents.texts[document]
    stretches = documents.sentences[document]
    sentences = [
        [(begin + start, begin + end) for start, end in tokenized(text[begin:stop])]
        for begin, stop in stretches
    ]
    if documents.tokens is not None:
        sentences = documents.tokens[document]
    for (begin, stop), tokens in zip(stretches, sentences, strict=True):
        problem = ""
        if not tokens:
            problem = " has a text without a token"
        # A reader finds the place of a sentence by that of its first token in it.
        elif begin + text[begin:stop].find(text[slice(*tokens[0])]) != tokens[0][0]:
            problem = " has its first token in other words before it"
        if problem:
            remedy = "leave it out, or write another format"
            raise export.unfit(*export.named(document), problem, remedy=remedy)
    return sentences


def _parts(
    export: Export, documents: Documents, spans: Sequence[int], tokens: Sequence[Interval]
) -> list[Parts]:
    """Return the spans on each token; those that cut it are on a part of it."""
    starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
    parts: list[Parts] = [{token: []} for token in tokens]
    for index in spans:
        start, end = documents.places[index]
        low, high = bisect_right(ends, start), bisect_left(starts, end)
        if low >= high or start < starts[low] or end > ends[high - 1]:
            raise export.unfit(
                *pieces(export.corpus.describe_span(index)),
                " begins or ends between tokens",
                remedy=("read the corpus with ", Use("positions", "tokens")),
            )
        for token in range(low, high):
            place = max(start, starts[token]), min(end, ends[token])
            parts[token].setdefault(place, []).append(index)
    return parts


def _values(
    labels: Sequence[str] | None, spans: Sequence[int], parts: Sequence[Parts]
) -> dict[int, str]:
    """Return the label of each span, with a number if it has several lines or shares one."""
    lines = list(chain.from_iterable(own.values() for own in parts))
    n_lines = Counter(chain.from_iterable(lines))
    several = {index for line in lines for index in line if len(line) > 1 or n_lines[index] > 1}
    numbers = {index: i for i, index in enumerate(filter(several.__contains__, spans), start=1)}
    return {
        index: ("*" if labels is None else _escaped(labels[index], _IN_VALUE))
        + (f"[{numbers[index]}]" if index in numbers else "")
        for index in spans
    }


def _lines(name: str, parts: Parts, text: str, values: dict[int, str]) -> Iterator[str]:
    """Return the line of a token, and one for each part of it that was marked."""
    offset = offsets_at(text)
    token, *others = parts
    for number, (start, end) in enumerate([token, *sorted(others)]):
        form = text[start:end]
        # Words are written as they are; a reader undoes what looks like an escape.
        if _IN_TEXT.search(form) and (unescaped(form) != form or not form.isprintable()):
            form = _escaped(form, _IN_TEXT)
        cell = "|".join(values[index] for index in parts[start, end]) or "_"
        part = f".{number}" if number else ""
        yield f"{name}{part}\t{offset[start]}-{offset[end]}\t{form}\t{cell}\t"


def _escaped(text: str, special: re.Pattern[str]) -> str:
    """Escape a text for the format: control characters by letter, others as they are."""
    return special.sub(lambda match: f"\\{_LETTERS.get(match[0], match[0])}", text)
