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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np

from beyondchance.adjudication.consensus import FRESH, consensus
from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import begins_apart, bounds
from beyondchance.diagnosis.diagnosis import Example
from beyondchance.reporting.blocks import counted
from beyondchance.reporting.commands.disagreements import is_against_gold, kind_names
from beyondchance.results.adding import numbered
from beyondchance.scoring.disagreements import KINDS, Disagreements
from beyondchance.scoring.places import places_of
from beyondchance.types import Ints

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
"""Each kind of row in words."""
_AGAINST_GOLD = {"missed": "missed", "extra": "extra"}
_AMONG_EQUALS = {"missed": "only {a}", "extra": "only {b}"}
"""What a span without a partner is, against a gold standard and among equals."""
_AGREE = KINDS.index("agree")
_MOST_RANKED = 2**20
"""Spans times annotators for which places are ordered by what they are worth."""
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
    numbers : mapping of str to int
        For each document that can be opened its number in links, ``#document-<number>``.
    sentence : str
        What is shown, such as "the 1,000 most contested of 3,450 documents".
    is_decided : bool
        Whether there is something to decide: annotators differ, and none is a gold standard.
    n_places : int
        Places where annotators differ, in all documents and not only in those that are shown.
    """

    payload: str
    numbers: Mapping[str, int]
    sentence: str
    is_decided: bool
    n_places: int


def document_view(
    found: Disagreements,
    *,
    texts: bool = True,
    top: int = 1000,
    most_characters: int = 1_000_000,
) -> DocumentView:
    """Prepare documents for people to read, those with most disagreements first.

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

    Examples
    --------
    >>> from beyondchance import disagreements, example
    >>> view = document_view(disagreements(example()), top=2)
    >>> view.sentence
    'the 2 most contested of 12 documents'
    >>> [document[:2] for document in json.loads(view.payload)["documents"]]
    [[0, 'issue-01'], [5, 'issue-06']]
    """
    corpus = found.corpus
    known = corpus.texts if texts and corpus.knows_characters else None
    place = numbered(corpus.documents)
    total = len(found.documents)
    ranked = np.array([place[name] for name in [*contested(found)][:top]], dtype=np.int64)
    chosen = _within(ranked, corpus, known, most_characters)
    sentence = _sentence(len(chosen), total, corpus.extent.noun, cut=len(chosen) < len(ranked))
    deciding = None if is_against_gold(found) else _deciding(found, chosen, known)
    names = {
        "positions": corpus.positions,
        "unit": _unit(corpus),
        "noun": corpus.extent.noun,
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
        "documents": [*_documents(found, chosen, known)],
    }
    return DocumentView(
        payload=safe_json(json.dumps(names, ensure_ascii=False, separators=(",", ":"))),
        numbers={corpus.documents[i]: i for i in chosen.tolist()},
        sentence=sentence,
        is_decided=deciding is not None,
        n_places=sum(places_by_document(found).values()),
    )


def place_of(example: Example, links: Mapping[str, str], annotators: Sequence[str]) -> str | None:
    """Return the address of an example; nothing where its document is not on the page."""
    link = links.get(example.document)
    start = min(span.start for span in (example.own, example.theirs) if span is not None)
    who = annotators.index(example.who) if example.who in annotators else 0
    return link and f"{link}-{example.text}-{start}-{who}"


def places_by_document(found: Disagreements) -> dict[str, int]:
    """Count the places of each document where annotators differ.

    These are the places with a row that is no agreement.

    >>> from beyondchance import disagreements, example
    >>> found = disagreements(example())
    >>> sum(places_by_document(found).values()) == len(found.places) - found.places.by_kind()[
    ...     "agree"
    ... ]
    True
    """
    corpus = found.corpus
    shift = corpus.text_begin[corpus.span_text]
    start, end = shift + corpus.span_start, shift + corpus.span_end
    order = np.argsort(start, kind="stable")
    place = np.empty_like(order)
    place[order] = np.cumsum(begins_apart(start[order], end[order]))
    spans = np.maximum(found.span_a, found.span_b)[found.kind != _AGREE]
    _, once = np.unique(place[spans], return_index=True)
    document = corpus.text_document[corpus.span_text[spans[once]]]
    count = np.bincount(document, minlength=len(corpus.documents)).tolist()
    return {name: count[i] for i, name in enumerate(corpus.documents)}


def _deciding(found: Disagreements, chosen: Ints, known: tuple[str, ...] | None) -> dict[str, Any]:
    """Return what deciding needs: the consensus, where annotators differ, its ties, and worth.

    Columns of its spans are text, label, start and length, for each document; of ties, which it
    does not decide, text, start and length; and what each place is worth, in millionths. The digest
    is that of all documents and their texts, by any annotators and however many are on the page.
    """
    corpus = replace(found.corpus, gold=None)
    result = consensus(corpus, name=FRESH)
    whole = result.corpus
    span = result.span[result.alike < result.n_members]
    tied = result.entities.is_tie
    place = _places(chosen, corpus)

    def listed(text: Ints, *columns: Ints) -> list[list[list[int]]]:
        number = whole.number_in_document(text)
        return _split(place[whole.text_document[text]], len(chosen), number, *columns)

    start, end = whole.span_start[span], whole.span_end[span]
    text, _, low, high = (column[tied] for column in result.entities.spans)
    worth = None
    if len(corpus.span_text) * len(corpus.annotators) < _MOST_RANKED:
        places = places_of(corpus, corpus.annotators, None)
        if not np.isnan(places.worth).any():
            gain = np.rint(places.worth * 1e6).astype(np.int64)
            split = _split(place[corpus.text_document[places.text]], len(chosen), gain)
            worth = [own for [own] in split]
    is_by_rule = corpus.options.get("tokens") == "rule"
    digest = sha256()
    texts = corpus.texts or tuple(map(str, corpus.text_length.tolist()))
    for name in (corpus.unit, corpus.positions, *corpus.documents, *texts):
        digest.update(f"{name}\0".encode(errors="backslashreplace"))
    return {
        "unit": corpus.unit,
        "digest": digest.hexdigest()[:16],
        "consensus": listed(whole.span_text[span], whole.span_label[span], start, end - start),
        "ties": listed(text, low, high - low),
        "worth": worth,
        # What a table of the gold standard needs: whether it has the texts, as tables that are
        # written have, and how many documents are missing here.
        "inText": known is not None
        and (is_by_rule or corpus.positions == "characters")
        and all(known),
        "absent": len(result.documents) - len(chosen),
    }


def _phrases(found: Disagreements) -> dict[str, str]:
    """Return each kind of row in words, which differ with and without a gold standard."""
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
    """Count the places where annotators differ, by document; the most contested first.

    Examples
    --------
    >>> from beyondchance import disagreements, example
    >>> list(contested(disagreements(example())).items())[:2]
    [('issue-01', 7), ('issue-06', 6)]
    """
    places = places_by_document(found)
    return {name: places[name] for name in sorted(found.documents, key=lambda x: -places[x])}


def _within(
    documents: Ints, corpus: Corpus, texts: tuple[str, ...] | None, most_characters: int
) -> Ints:
    """Return the first documents whose texts have at most so many characters together."""
    if texts is None:
        return documents
    characters = np.bincount(corpus.text_document, [*map(len, texts)], len(corpus.documents))
    so_far = np.cumsum(characters[documents])
    return documents[: max(1, int(np.searchsorted(so_far, most_characters, side="right")))]


def _pairs(found: Disagreements) -> Ints:
    """Return the numbers of the annotators of each pair, shape (pairs, 2)."""
    number = numbered(found.corpus.annotators)
    return np.array([(number[a], number[b]) for a, b in found.pairs], dtype=np.int64)


def _documents(
    found: Disagreements, chosen: Ints, texts: tuple[str, ...] | None
) -> Iterator[list[Any]]:
    """Yield of each document its number, name, annotators, texts, spans, rows and places.

    Columns of spans are annotator, label, start and length, after the number of spans that
    each text has. Columns of rows are pair, kind and the two spans, by their place in the
    columns of spans. Of places, where spans overlap, there is the number of their spans.
    """
    corpus = found.corpus
    pairs = _pairs(found)
    # The place of each document on the page; -1 for those that are not on it. Whatever has no
    # place is dropped first, so that the rest costs what the page shows and not the corpus.
    place = _places(chosen, corpus)
    document = place[corpus.text_document]
    spans = np.flatnonzero(document[corpus.span_text] >= 0)
    text, start, end = (x[spans] for x in (corpus.span_text, corpus.span_start, corpus.span_end))
    # In reading order; of spans that start together the longer one comes first.
    order = np.lexsort((corpus.span_label[spans], corpus.span_annotator[spans], -end, start, text))
    spans, text, start, end = (x[order] for x in (spans, text, start, end))
    shift = corpus.text_begin[text]
    opens = np.flatnonzero(begins_apart(shift + start, shift + end))
    # Spans in rows are numbered as in the columns of spans; the last number is for -1.
    within = np.full(len(corpus.span_text) + 1, -1, dtype=np.int64)
    within[spans] = _ranks(document[text])
    rows = np.flatnonzero(found.kind != _AGREE)
    n, n_texts = len(chosen), len(corpus.text_length)
    split = zip(
        chosen.tolist(),
        _split(place[corpus.annotation_document], n, corpus.annotation_annotator),
        _split(document, n, np.arange(n_texts), np.bincount(text, minlength=n_texts)),
        _split(
            document[text],
            n,
            corpus.span_annotator[spans],
            corpus.span_label[spans],
            start,
            end - start,
        ),
        _split(
            document[found.text[rows]],
            n,
            _pair_numbers(pairs, found.a[rows], found.b[rows]),
            found.kind[rows],
            within[found.span_a[rows]],
            within[found.span_b[rows]],
        ),
        _split(document[text[opens]], n, np.diff(opens, append=len(spans))),
        strict=True,
    )
    written = _written_texts(corpus, texts)
    for number, [annotators], [own, counts], columns, listed, [sizes] in split:
        name, shown = corpus.documents[number], [written(text) for text in own]
        yield [number, name, annotators, shown, [counts, *columns], listed, sizes]


def _places(chosen: Ints, corpus: Corpus) -> Ints:
    """Return the place of each document among some, -1 for others."""
    place = np.full(len(corpus.documents), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    return place


def _ranks(place: Ints) -> Ints:
    """Return for each entry how many entries before it have the same place.

    >>> _ranks(np.array([1, 0, 1, 1, 0]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(place, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(place)) - np.searchsorted(place[order], place[order])
    return ranks


def _split(place: Ints, n: int, *columns: Ints) -> list[list[list[int]]]:
    """Return the columns of each of n places; entries without a place, -1, are left out.

    >>> _split(np.array([1, -1, 0, 1]), 2, np.array([5, 6, 7, 8]))
    [[[7]], [[5, 8]]]
    """
    entries = np.flatnonzero(place >= 0)
    entries = entries[np.argsort(place[entries], kind="stable")]
    cuts = bounds(place[entries], n).tolist()
    chosen = [column[entries] for column in columns]
    return [[column[low:high].tolist() for column in chosen] for low, high in pairwise(cuts)]


def _pair_numbers(pairs: Ints, a: Ints, b: Ints) -> Ints:
    """Return the number of the pair of each two annotators a and b.

    >>> _pair_numbers(np.array([[0, 2], [0, 1]]), np.array([0, 0]), np.array([1, 2]))
    array([1, 0])
    """
    # A pair as one number, to be found by bisection: a matrix of annotators would grow with
    # their square, and most of a crowd never meet.
    n = int(pairs.max(initial=0)) + 1
    codes = pairs @ (n, 1)
    order = np.argsort(codes)
    return order[np.searchsorted(codes, a * n + b, sorter=order)]


def _written_texts(
    corpus: Corpus, texts: tuple[str, ...] | None
) -> Callable[[int], str | list[str] | int]:
    """Return a function that gives a text by its number: as tokens, as it is, or its length."""
    token_start, token_end = corpus.token_start, corpus.token_end
    if texts is None:
        return lambda text: int(corpus.text_length[text])
    if corpus.positions == "characters" or token_start is None or token_end is None:
        return texts.__getitem__

    def tokens(text: int) -> str | list[str]:
        first = corpus.text_begin[text]
        within = slice(first, first + corpus.text_length[text])
        return _written_tokens(
            texts[text], token_start[within].tolist(), token_end[within].tolist()
        )

    return tokens


def _written_tokens(text: str, starts: Sequence[int], ends: Sequence[int]) -> str | list[str]:
    """Join tokens with single blanks, or else list gap, token, gap, ..., gap.

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
    r"""Escape JSON for a script element, whatever is in it, and for UTF-8.

    >>> print(safe_json('"</script> & \ud800"'))
    "\u003c/script\u003e \u0026 \ud800"
    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _unit(corpus: Corpus) -> str:
    return "sentence" if corpus.unit == "sentence" else "text"
