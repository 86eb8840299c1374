"""The document view of the HTML report: texts, who marked what, and where they differ.

Python chooses the documents and writes them as JSON; `documents.js` draws the one that is
being read, and `documents.css` its look.

The JSON has the names once, and for each document only numbers that refer to them. Rows in
which two annotators agree are not written: a span of a pair that is in no other row agrees.
Texts are cut into tokens here, so that JavaScript, which counts UTF-16 units, never needs to
find a token by its offset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from beyondchance.adjudication.consensus import consensus
from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_whole
from beyondchance.core.ragged import bounds, starts
from beyondchance.errors import OptionError
from beyondchance.reporting.blocks import counted
from beyondchance.reporting.commands.disagreements import is_against_gold, kind_names
from beyondchance.scoring.disagreements import KINDS, Disagreements
from beyondchance.types import Bools, Ints

_PHRASES = {
    "agree": "agree: {a} and {b} marked {label_a}{surface_a} ({where_a})",
    "label": "label: {a} marked{surface_a} ({where_a}) as {label_a}, {b} as {label_b}",
    "boundary": (
        "boundary: {a} marked {label_a}{surface_a} ({where_a}), {b} marked it"
        "{surface_b} ({where_b})"
    ),
    "both": (
        "both: {a} marked {label_a}{surface_a} ({where_a}), {b} marked {label_b}"
        "{surface_b} ({where_b})"
    ),
    "missed": "{missed}: {b} has no span where {a} marked {label_a}{surface_a} ({where_a})",
    "extra": "{extra}: {b} marked {label_b}{surface_b} ({where_b}), where {a} has no span",
}
"""Each kind of row in words, for the page with JavaScript and without."""
_AGAINST_GOLD = {"missed": "missed", "extra": "extra"}
_AMONG_EQUALS = {"missed": "only {a}", "extra": "only {b}"}
"""What a span without a partner is, against a gold standard and among equals."""
_AGREE = KINDS.index("agree")
_WITH_JAVASCRIPT = (
    "To see what each annotator marked in them, to filter and to go from one disagreement to the "
    "next, open this page with JavaScript."
)
_STATIC_DOCUMENTS, _STATIC_ROWS, _STATIC_CHARACTERS = 3, 100, 5_000
"""How much of the documents is on the page for browsers without JavaScript."""
_SURFACE = 60
"""Characters of a span that are quoted in a sentence."""
HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters, which no file can hold."""
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""What could end a script element or a line of script, or cannot be written as UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """What the page needs in order to show documents.

    Attributes
    ----------
    payload : str
        JSON for ``<script type="application/json" id="documents">``, safe inside HTML.
    static : str
        HTML of the first few documents, for browsers without JavaScript; it goes into
        ``<section id="reader">``, where `documents.js` takes it out again.
    numbers : mapping of str to int
        For each document that can be opened its number in links, ``#document-<number>``.
    sentence : str
        What is shown, such as "the 1,000 most contested of 3,450 documents".
    is_decided : bool
        Whether there is something to decide: annotators differ, and none is a gold standard.
    """

    payload: str
    static: str
    numbers: Mapping[str, int]
    sentence: str
    is_decided: bool


def document_view(
    found: Disagreements,
    *,
    texts: bool = True,
    top: int = 1000,
    most_characters: int = 1_000_000,
) -> DocumentView:
    """Documents for people to read, those with most disagreements first.

    Parameters
    ----------
    found : Disagreements
        All rows of those who were compared, as `disagreements` returns them.
    texts : bool
        Whether the page has the texts; without them it has offsets and labels only.
    top : int
        How many documents the page has at most.
    most_characters : int
        How many characters their texts have at most, all together. The first document is
        always there.

    Raises
    ------
    OptionError
        When `top` is not positive, or when rows were taken out of `found`.

    Examples
    --------
    >>> from beyondchance import disagreements, example
    >>> view = document_view(disagreements(example()), top=2)
    >>> view.sentence
    'the 2 most contested of 12 documents'
    >>> [document[:2] for document in json.loads(view.payload)["documents"]]
    [[0, 'issue-01'], [5, 'issue-06']]
    """
    checked_whole("top", top, least=1)
    corpus = found.corpus
    known = _known_texts(corpus) if texts else None
    place = {name: i for i, name in enumerate(corpus.documents)}
    total = len(found.documents)
    ranked = np.array([place[name] for name in [*contested(found)][:top]], dtype=np.int64)
    chosen = _within(ranked, corpus, known, most_characters)
    documents = _documents(found, chosen, known)
    sentence = _sentence(len(chosen), total, corpus.extent.noun, cut=len(chosen) < len(ranked))
    deciding = None if is_against_gold(found) else _deciding(found, chosen)
    names = {
        "positions": corpus.positions,
        "unit": _unit(corpus),
        "annotators": corpus.annotators,
        "labels": corpus.labels,
        "pairs": _pairs(found).tolist(),
        "kinds": KINDS,
        "kindNames": kind_names(found),
        "isAgainstGold": is_against_gold(found),
        "phrases": _phrases(found),
        "surface": _SURFACE,
        "sentence": sentence,
        "decide": deciding,
        "documents": documents,
    }
    return DocumentView(
        payload=safe_json(json.dumps(names, ensure_ascii=False, separators=(",", ":"))),
        static=_static(found, chosen, known, sentence),
        numbers={corpus.documents[i]: i for i in chosen.tolist()},
        sentence=sentence,
        is_decided=deciding is not None,
    )


def _deciding(found: Disagreements, chosen: Ints) -> dict[str, Any]:
    """What the page needs to decide: the consensus of those compared, where not all have it.

    Columns of its spans are text, label, start and length, for each document; of ties, which it
    does not decide, text, start and length. The digest is that of all documents and their texts,
    by any annotators and however many are on the page.
    """
    corpus = found.corpus
    compared = {name for pair in found.pairs for name in pair}
    if len(compared) < len(corpus.annotators):
        corpus = corpus.select(annotators=[x for x in corpus.annotators if x in compared])
    result = consensus(replace(corpus, gold=None), name=_FRESH)
    whole = result.corpus
    span = result.span[result.alike < result.n_members]
    tied = result.entities.is_tie
    place = np.full(len(corpus.documents), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))

    def listed(text: Ints, *columns: Ints) -> list[list[list[int]]]:
        rows, cuts = _by_document(place[whole.text_document[text]], len(chosen))
        ordered = [column[rows] for column in (whole.number_in_document(text), *columns)]
        return [[x[low:high].tolist() for x in ordered] for low, high in pairwise(cuts.tolist())]

    start, end = whole.span_start[span], whole.span_end[span]
    text, _, low, high = (column[tied] for column in result.entities.spans)
    digest = sha256()
    known = corpus.texts or tuple(map(str, corpus.text_length.tolist()))
    for name in (corpus.unit, corpus.positions, *corpus.documents, *known):
        digest.update(f"{name}\0".encode(errors="backslashreplace"))
    return {
        "unit": corpus.unit,
        "digest": digest.hexdigest()[:16],
        "consensus": listed(whole.span_text[span], whole.span_label[span], start, end - start),
        "ties": listed(text, low, high - low),
    }


_FRESH = "\0consensus"
"""A name that no annotator has."""


def _phrases(found: Disagreements) -> dict[str, str]:
    """Each kind of row in words that fit who is compared."""
    alone = _AGAINST_GOLD if is_against_gold(found) else _AMONG_EQUALS
    return {
        kind: phrase.replace(f"{{{kind}}}", alone.get(kind, ""))
        for kind, phrase in _PHRASES.items()
    }


def _sentence(shown: int, total: int, noun: str, *, cut: bool) -> str:
    if shown == total:
        return f"all {counted(total, noun)}" if total > 1 else f"the one {noun}"
    limit = " (as many as the page has room for)" if cut else ""
    contested = "most contested" if shown == 1 else f"{shown:,} most contested"
    return f"the {contested} of {total:,} {noun}s{limit}"


def contested(found: Disagreements) -> dict[str, int]:
    """How many rows of each document are no agreement, over all pairs; the most first.

    Examples
    --------
    >>> from beyondchance import disagreements, example
    >>> list(contested(disagreements(example())).items())[:2]
    [('issue-01', 16), ('issue-06', 12)]
    """
    corpus = found.corpus
    differ = found.text[found.kind != _AGREE]
    count = np.bincount(corpus.text_document[differ], minlength=len(corpus.documents))
    compared = set(found.documents)
    order = np.argsort(-count, kind="stable").tolist()
    return {corpus.documents[i]: int(count[i]) for i in order if corpus.documents[i] in compared}


def _known_texts(corpus: Corpus) -> tuple[str, ...] | None:
    """The texts, where spans can be found in them."""
    if corpus.positions == "frames":
        return None
    if corpus.positions == "tokens" and (corpus.token_start is None or corpus.token_end is None):
        return None
    return corpus.texts


def _within(
    documents: Ints, corpus: Corpus, texts: tuple[str, ...] | None, most_characters: int
) -> Ints:
    """The first of some documents, as many as have no more than so many characters."""
    if texts is None:
        return documents
    characters = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    cuts = bounds(corpus.text_document, len(corpus.documents))
    before = np.concatenate([[0], np.cumsum(characters)])
    so_far = np.cumsum(before[cuts[documents + 1]] - before[cuts[documents]])
    return documents[: max(1, int(np.searchsorted(so_far, most_characters, side="right")))]


def _pairs(found: Disagreements) -> Ints:
    """Who was compared with whom, by their numbers, shape (pairs, 2)."""
    number = {name: i for i, name in enumerate(found.corpus.annotators)}
    return np.array([(number[a], number[b]) for a, b in found.pairs], dtype=np.int64)


def _documents(
    found: Disagreements, chosen: Ints, texts: tuple[str, ...] | None
) -> list[list[Any]]:
    """For each document its number, name, annotators, texts, columns of spans and of rows.

    Columns of spans are annotator, label, start and length, after the number of spans that
    each text has. Columns of rows are pair, kind and the two spans, by their place in the
    columns of spans.
    """
    corpus = found.corpus
    pairs = _pairs(found)
    pair_numbers = _pair_numbers(pairs)
    # The place of each document on the page; -1 for those that are not on it. Whatever has no
    # place is dropped first, so that the rest costs what the page shows and not the corpus.
    place = np.full(len(corpus.documents), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    is_compared = np.zeros(len(corpus.annotators), dtype=bool)
    is_compared[pairs] = True

    annotations, annotation_cuts = _by_document(
        np.where(is_compared[corpus.annotation_annotator], place[corpus.annotation_document], -1),
        len(chosen),
    )
    present = corpus.annotation_annotator[annotations]
    spans, span_cuts, within = _ordered_spans(corpus, place, is_compared, len(chosen))
    row_place = place[corpus.text_document[found.text]]
    _check_rows(
        found[np.flatnonzero(row_place >= 0)],
        pair_numbers,
        present=np.split(present, annotation_cuts[1:-1]),
        owners=np.split(corpus.span_annotator[spans], span_cuts[1:-1]),
    )
    rows, row_cuts = _by_document(np.where(found.kind == _AGREE, -1, row_place), len(chosen))

    text_cuts = bounds(corpus.text_document, len(corpus.documents))
    n_spans = np.bincount(corpus.span_text[spans], minlength=len(corpus.text_length))
    span_columns = (
        corpus.span_annotator[spans],
        corpus.span_label[spans],
        corpus.span_start[spans],
        (corpus.span_end - corpus.span_start)[spans],
    )
    row_columns = (
        pair_numbers(found.a[rows], found.b[rows]),
        found.kind[rows],
        # Spans in rows are numbered as in the columns of spans; -1 takes the last entry, -1.
        within[found.span_a[rows]],
        within[found.span_b[rows]],
    )
    written = _written_texts(corpus, texts)
    documents: list[list[Any]] = []
    for i, number in enumerate(chosen.tolist()):
        annotators = present[annotation_cuts[i] : annotation_cuts[i + 1]].tolist()
        columns = [column[span_cuts[i] : span_cuts[i + 1]].tolist() for column in span_columns]
        listed = [column[row_cuts[i] : row_cuts[i + 1]].tolist() for column in row_columns]
        own = range(text_cuts[number], text_cuts[number + 1])
        counts = n_spans[own.start : own.stop].tolist()
        name = corpus.documents[number]
        texts_here = [written(text) for text in own]
        documents.append([number, name, annotators, texts_here, [counts, *columns], listed])
    return documents


def _by_document(place: Ints, n: int) -> tuple[Ints, Ints]:
    """Entries that have a place among n documents, in its order, and where each place begins.

    >>> _by_document(np.array([1, -1, 0, 1]), 2)
    (array([2, 0, 3]), array([0, 1, 3]))
    """
    entries = np.flatnonzero(place >= 0)
    entries = entries[np.argsort(place[entries], kind="stable")]
    return entries, bounds(place[entries], n)


def _ordered_spans(
    corpus: Corpus, place: Ints, is_compared: Bools, n: int
) -> tuple[Ints, Ints, Ints]:
    """Spans in reading order, where each document begins, and for each span its number there.

    Of spans that start together the longer one comes first. The last number is that of the
    span -1, which is none: -1.
    """
    document = place[corpus.text_document[corpus.span_text]]
    spans, cuts = _by_document(np.where(is_compared[corpus.span_annotator], document, -1), n)
    order = (
        corpus.span_label[spans],
        corpus.span_annotator[spans],
        -corpus.span_end[spans],
        corpus.span_start[spans],
        corpus.span_text[spans],
        document[spans],
    )
    spans = spans[np.lexsort(order)]
    within = np.full(len(corpus.span_text) + 1, -1, dtype=np.int64)
    within[spans] = np.arange(len(spans)) - cuts[document[spans]]
    return spans, cuts, within


def _pair_numbers(pairs: Ints) -> Callable[[Ints, Ints], Ints]:
    """A function of annotators a and b: the number of their pair, -1 where there is none.

    >>> _pair_numbers(np.array([[0, 2], [0, 1]]))(np.array([0, 0, 1]), np.array([1, 2, 2]))
    array([ 1,  0, -1])
    """
    # A pair as one number, to be found by bisection: a matrix of annotators would grow with
    # their square, and most of a crowd never meet.
    n = int(pairs.max(initial=0)) + 1
    codes = pairs @ (n, 1)
    order = np.argsort(codes)
    codes = codes[order]

    def numbers(a: Ints, b: Ints) -> Ints:
        place = np.minimum(np.searchsorted(codes, a * n + b), len(codes) - 1)
        return np.where(codes[place] == a * n + b, order[place], -1)

    return numbers


def _check_rows(
    rows: Disagreements,
    pair_numbers: Callable[[Ints, Ints], Ints],
    *,
    present: Sequence[Ints],
    owners: Sequence[Ints],
) -> None:
    """Refuse rows of which some were taken out: what is not a row would count as agreement.

    Parameters
    ----------
    rows : Disagreements
        Those of the documents on the page.
    pair_numbers : function
        As `_pair_numbers` returns it.
    present, owners : sequences of arrays of int
        For each document the annotators who are compared, and the annotator of each span.
    """
    expected = 0
    for who, owner in zip(present, owners, strict=True):
        order = np.argsort(who)
        n_spans = np.bincount(order[np.searchsorted(who[order], owner)], minlength=len(who))
        # A span is in one row for each pair of its annotator with an annotator who is present.
        # Document by document, because all at once takes documents times pairs.
        is_pair = pair_numbers(*np.meshgrid(who, who, indexing="ij")) >= 0
        expected += int(n_spans @ (is_pair.sum(axis=0) + is_pair.sum(axis=1)))
    in_rows = int(np.count_nonzero(rows.span_a >= 0) + np.count_nonzero(rows.span_b >= 0))
    if in_rows != expected:
        raise OptionError(
            f"the rows have {in_rows} spans of pairs of annotators, and their documents have "
            f"{expected}",
            expected="all rows, as disagreements() returns them",
        )


def _written_texts(
    corpus: Corpus, texts: tuple[str, ...] | None
) -> Callable[[int], str | list[str] | int]:
    """How each text is written: by tokens or as it is, or its length where it is not known."""
    token_start, token_end = corpus.token_start, corpus.token_end
    if texts is None:
        return lambda text: int(corpus.text_length[text])
    if corpus.positions == "characters" or token_start is None or token_end is None:
        return texts.__getitem__
    first = starts(corpus.text_length)

    def tokens(text: int) -> str | list[str]:
        within = slice(first[text], first[text] + corpus.text_length[text])
        return _written_tokens(
            texts[text], token_start[within].tolist(), token_end[within].tolist()
        )

    return tokens


def _written_tokens(text: str, starts: Sequence[int], ends: Sequence[int]) -> str | list[str]:
    """Tokens with single blanks between them, or else a list of gap, token, gap, ..., gap.

    >>> _written_tokens("In London", [0, 3], [2, 9])
    'In London'
    >>> _written_tokens("(London)", [0, 1, 7], [1, 7, 8])
    ['', '(', '', 'London', '', ')', '']
    """
    tokens = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    if text.split(" ") == tokens:
        return text
    gaps = zip([0, *ends], [*starts, len(text)], strict=True)
    pieces = [text[end:start] for end, start in gaps]
    return [*(piece for pair in zip(pieces, tokens, strict=False) for piece in pair), pieces[-1]]


def safe_json(text: str) -> str:
    r"""JSON that can stand in a script element, whatever is in it, and be written as UTF-8.

    >>> print(safe_json('"</script> & \ud800"'))
    "\u003c/script\u003e \u0026 \ud800"
    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _static(
    found: Disagreements, chosen: Ints, texts: tuple[str, ...] | None, sentence: str
) -> str:
    """The first of the chosen documents as headings, paragraphs and lists."""
    first = chosen[:_STATIC_DOCUMENTS].tolist()
    which = "This is" if len(chosen) == 1 else "These are"
    if len(first) < len(chosen):
        which = f"These are the first {len(first)} of"
    parts = [
        '<div class="reader-static">',
        f"<p>{which} {sentence}. {_WITH_JAVASCRIPT}</p>",
        *(_static_document(found, document, texts) for document in first),
        "</div>",
    ]
    return "\n".join(parts)


def _static_document(found: Disagreements, document: int, texts: tuple[str, ...] | None) -> str:
    corpus = found.corpus
    within = corpus.text_document[found.text] == document
    rows = found[np.flatnonzero(within & (found.kind != _AGREE))]
    names, phrases = kind_names(found), _phrases(found)
    counts = ", ".join(f"{n:,} {_escaped(names[kind])}" for kind, n in rows.by_kind().items() if n)
    said = counted(len(rows), "disagreement") + (f": {counts}" if counts else "")
    several = bool(np.count_nonzero(corpus.text_document == document) > 1)
    with_text = texts is not None
    listed = [
        f"<li>{_in_words(row, phrases, corpus, several_texts=several, with_text=with_text)}</li>"
        for row in rows[:_STATIC_ROWS].to_rows()
    ]
    rest = len(rows) - len(listed)
    parts = [
        f'<article class="reader-document" id="document-{document}">',
        f"<h3>{_bdi(corpus.documents[document])}</h3>",
        f"<p>{said}.</p>",
        *(_static_texts(corpus, document, texts) if texts is not None else []),
        *(["<ol>", *listed, "</ol>"] if listed else []),
        *([f"<p>And {rest:,} more, which the page with JavaScript has.</p>"] if rest else []),
        "</article>",
    ]
    return "\n".join(parts)


def _static_texts(corpus: Corpus, document: int, texts: tuple[str, ...]) -> list[str]:
    paragraphs, left = [], _STATIC_CHARACTERS
    for text in np.flatnonzero(corpus.text_document == document).tolist():
        paragraphs.append(f'<p dir="auto">{_escaped(texts[text][:left])}</p>')
        left -= len(texts[text])
        if left < 0:
            return [*paragraphs, "<p>The text goes on; the page with JavaScript has all of it.</p>"]
    return paragraphs


def _in_words(
    row: Mapping[str, Any],
    phrases: Mapping[str, str],
    corpus: Corpus,
    *,
    several_texts: bool,
    with_text: bool,
) -> str:
    """A row as a sentence of HTML, in the words of the `phrases`."""
    values = {side: _bdi(row[side]) for side in "ab"}
    for side in "ab":
        if row[f"label_{side}"] is None:
            continue
        values[f"label_{side}"] = _bdi(row[f"label_{side}"])
        surface = _cut(row[f"surface_{side}"] or "") if with_text else ""
        values[f"surface_{side}"] = f" “{_bdi(surface)}”" if surface else ""
        several = f"{_unit(corpus)} {row['text']}, " if several_texts else ""
        place = f"{corpus.positions} {row[f'start_{side}']} to {row[f'end_{side}']}"
        values[f"where_{side}"] = several + place
    return phrases[row["kind"]].format(**values)


def _unit(corpus: Corpus) -> str:
    return "sentence" if corpus.unit == "sentence" else "text"


def _cut(surface: str) -> str:
    """What a span covers on one line, without its middle where it is long."""
    shown = " ".join(surface.split())
    half = _SURFACE // 2
    return shown if len(shown) <= _SURFACE else f"{shown[:half]}…{shown[-half:]}"


def _bdi(name: str) -> str:
    """Text from the data within a sentence of ours, whatever its direction."""
    return f"<bdi>{_escaped(name)}</bdi>"


def _escaped(text: str) -> str:
    return escape(HALF.sub("\ufffd", text))
