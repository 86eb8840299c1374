"""The report of `disagreements` by place: what each annotator marked, where they differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan
from operator import itemgetter

import numpy as np

from beyondchance.annotations.corpus import Corpus, Span
from beyondchance.reporting.blocks import Blocks, Report, Table, in_list
from beyondchance.reporting.columns import (
    COUNT,
    DATA,
    FIGURE,
    TEXT,
    Column,
    Data,
    Group,
    alike,
    for_people,
    kind,
    maybe,
    one_of,
    rows_from,
    table_of,
)
from beyondchance.scoring.disagreements import Disagreements
from beyondchance.scoring.places import KINDS, Places

NOTHING = "nothing"
"""The version of those who marked nothing."""
_SHORT = 30
"""Characters of a span that are shown among versions."""


def report_of_places(found: Places) -> Report:
    """Build the report of places; those that are the same for all are not listed."""
    differing = found.only(kinds=[kind for kind in KINDS if kind != "agree"])
    return Report(
        corpus=found.corpus,
        make_blocks=lambda: blocks_of(found, differing, top=20),
        make_data=lambda: {"kinds": found.by_kind(), "places": rows_of(differing)},
        make_rows=lambda: rows_of(differing),
    )


_MISSING = "(missing: those who marked something agree, the others marked nothing)"


def blocks_of(found: Places, listed: Places, *, top: int) -> Blocks:
    """Yield a table of places by kind, and one of those that cost most."""
    yield table_of([found.by_kind()], alike(COUNT, *KINDS), "places", _MISSING)
    yield places_table(listed, top) if len(listed) else "Nothing to list."


def by_worth(found: Places) -> list[int]:
    """Return the numbers of places, those that cost most first, then in reading order."""
    worth = np.nan_to_num(found.worth, nan=0.0)
    order: list[int] = np.lexsort((np.arange(len(found)), -worth)).tolist()
    return order


PLACE = Group(
    "spans_at_place",
    [
        TEXT("document"),
        *alike(COUNT, "text", "start", "end", outputs=DATA),
        Column("kind", one_of(*KINDS)),
        *alike(COUNT, "n_annotators", "n_marked", outputs=DATA),
        COUNT(
            "n_agree",
            "how many have the version that most have",
            heading="agree",
            cell=lambda row: f"{row['n_agree']} of {row['n_annotators']}",
        ),
        FIGURE("worth", "what the corrected score would rise by if all had it"),
        Column("in_text", maybe(TEXT), outputs=DATA),
        for_people("in the text", itemgetter("in_text"), is_optional=True),
        for_people("versions", itemgetter("versions")),
        TEXT("decision", "empty, to be filled in", outputs=DATA),
    ],
    others={
        "^by ": kind(
            type=["string", "null"],
            description="what an annotator marked; null for those who did not annotate it",
        )
    },
)


def places_table(found: Places, top: int) -> Table:
    """Return a table of the places that cost most, with what each annotator marked."""
    order = by_worth(found)
    shown = found[np.array(order[:top] if top else order, dtype=np.int64)]
    rows = rows_of(shown)
    for place, row in enumerate(rows):
        row["versions"] = versions_in_words(shown, place)
    legend = "(worth: what corrected agreement would rise by if all had the version of most)"
    title, noun = "one by one, what is worth most first", found.corpus.extent.noun
    n = len(found)
    return table_of(rows, PLACE.columns, title, legend, top=top, n_rows=n, document=noun)


def contexts_of(shown: Places | Disagreements) -> list[str]:
    """Show each row in its text, with brackets around what was marked; none without texts."""
    characters, texts = shown.characters(), shown.corpus.texts
    if characters is None or texts is None:
        return []
    columns = zip(shown.text.tolist(), *(side.tolist() for side in characters), strict=True)
    return [
        in_text(texts[text], (start, end), tuple(other) or (-1, -1))
        for text, start, end, *other in columns
    ]


def _surface(corpus: Corpus, text: int, span: Span) -> str:
    """Return what a span covers, cut if it is long; its offsets where the text is not known."""
    (found,) = corpus.words(*np.array([[text], [span.start], [span.end]]))
    if found is None:
        return f"{span.start}-{span.end}"
    words = " ".join(found.split())
    half = _SHORT // 2
    return words if len(words) <= _SHORT else f"{words[:half]}…{words[-half:]}"


def versions_in_words(shown: Places, place: int) -> str:
    """Say what annotators marked at a place, those who agree together."""
    corpus, text = shown.corpus, int(shown.text[place])
    groups: dict[str, list[str]] = {}
    for name, spans in shown.versions(place).items():
        if spans is not None:
            marked = (f"{span.label} {_surface(corpus, text, span)}" for span in spans)
            groups.setdefault("; ".join(marked) or NOTHING, []).append(name)
    return " | ".join(f"{in_list(names)}: {version}" for version, names in groups.items())


def rows_of(found: Places) -> list[Data]:
    """Return a row for each place, in reading order, with room for a decision."""
    corpus = found.corpus
    rows = rows_from(
        document=[corpus.documents[i] for i in corpus.text_document[found.text].tolist()],
        text=corpus.number_in_document(found.text).tolist(),
        start=found.start.tolist(),
        end=found.end.tolist(),
        kind=[KINDS[i] for i in found.kind.tolist()],
        n_annotators=found.n_annotators.tolist(),
        n_marked=found.n_marked.tolist(),
        n_agree=found.n_agree.tolist(),
        worth=[None if isnan(worth) else worth for worth in found.worth.tolist()],
        in_text=contexts_of(found) or [None] * len(found),
    )
    for place, (row, text) in enumerate(zip(rows, found.text.tolist(), strict=True)):
        for name, spans in found.versions(place).items():
            row[f"by {name}"] = _plain(corpus, text, spans)
        row["decision"] = ""
    return rows


def _plain(corpus: Corpus, text: int, spans: Sequence[Span] | None) -> str | None:
    """Write a version as offsets, labels and words; none for those who did not annotate."""
    if spans is None:
        return None
    shown = []
    for span in spans:
        words = f": {_surface(corpus, text, span)}" if corpus.knows_characters else ""
        shown.append(f"{span.start}-{span.end} {span.label}{words}")
    return "; ".join(shown) or NOTHING


def notes_of(found: Places) -> dict[str, str]:
    """Return what annotators marked at the places of each document."""
    corpus = found.corpus
    contexts = contexts_of(found)
    notes: dict[str, list[str]] = {}
    for place, document in enumerate(corpus.text_document[found.text].tolist()):
        where = f"{contexts[place]} " if contexts else ""
        said = f"{where}({versions_in_words(found, place)})"
        notes.setdefault(corpus.documents[document], []).append(said)
    return {name: "\n".join(said) for name, said in notes.items()}


_BLANKS = re.compile(r"\s+")
_AROUND, _WITHIN = 25, 60
"""Characters shown on either side of spans, and of a stretch within them."""


def in_text(text: str, a: tuple[int, int], b: tuple[int, int]) -> str:
    """Show two spans in their text, with [ ] around one and { } around the other.

    Examples
    --------
    >>> in_text("I met old Anna Berg.", (6, 19), (10, 19))
    'I met [old {Anna Berg}].'
    """
    return "".join(cut_at_brackets(text, a, b))


def cut_at_brackets(text: str, a: tuple[int, int], b: tuple[int, int]) -> list[str]:
    """Cut a text where two spans begin and end; every other part is a bracket.

    A span that starts at -1 is none. Brackets nest wherever they can. White space becomes one
    blank, and what is long is cut.

    Examples
    --------
    >>> cut_at_brackets("I met Anna.", (-1, -1), (6, 10))
    ['I met ', '{', 'Anna', '}', '.']
    """
    # At one place spans close, the one that began last first, before others open, the one
    # that ends last first.
    marks = sorted(
        mark
        for side, ((start, end), opening, closing) in enumerate(((a, "[", "]"), (b, "{", "}")))
        if start >= 0
        for mark in ((start, 1, -end, side, opening), (end, 0, -start, -side, closing))
    )
    places = [place for place, *_ in marks]
    before, after = _blank(text[: places[0]]), _blank(text[places[-1] :])
    parts = [before if len(before) <= _AROUND else _last_words(before)]
    for (place, *_, mark), end in zip(marks, [*places[1:], places[-1]], strict=True):
        within = _blank(text[place:end])
        half = _WITHIN // 2
        parts += [mark, within if len(within) <= _WITHIN else f"{within[:half]}…{within[-half:]}"]
    # Nothing is between the last bracket and what follows.
    return [*parts[:-1], after if len(after) <= _AROUND else _last_words(after[::-1])[::-1]]


def _last_words(text: str) -> str:
    """Return the end of a text, from where a word begins if there is one."""
    end = text[-_AROUND - 1 :]
    blank = end.find(" ", 0, -1)
    return f"…{end[1:] if blank < 0 else end[blank:]}"


def _blank(text: str) -> str:
    return _BLANKS.sub(" ", text)
