"""The report of `disagreements` by place: what each annotator marked, where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from operator import itemgetter

import numpy as np

from beyondchance.annotations.corpus import Corpus, Span
from beyondchance.reporting.blocks import Block, Cell, Prose, Report, Table, cut, in_list
from beyondchance.reporting.columns import (
    COUNT,
    DATA,
    FIGURE,
    TEXT,
    Column,
    Data,
    Group,
    for_people,
    kind,
    maybe,
    one_of,
    table_of,
)
from beyondchance.reporting.contexts import in_text
from beyondchance.scoring.places import KINDS, Places

NOTHING = "nothing"
"""The version of those who marked nothing."""
_SHORT = 30
"""Characters of a span that are shown among versions."""


def report_of_places(found: Places) -> Report:
    """The report of places, of which those are listed that are not the same for all."""
    differing = found.only(kinds=[kind for kind in KINDS if kind != "agree"])
    return Report(
        command="disagreements",
        corpus=found.corpus,
        make_blocks=lambda: blocks_of(found, differing, top=20),
        make_data=lambda: {"kinds": found.by_kind(), "places": rows_of(differing)},
        make_rows=lambda: rows_of(differing),
    )


def blocks_of(found: Places, listed: Places, *, top: int) -> list[Block]:
    """The tables for people: how many places there are of each kind, and those that cost most."""
    counts: list[Sequence[Cell]] = [tuple(found.by_kind().values())]
    made: list[Block] = [
        Table(
            KINDS,
            counts,
            "places",
            "(missing: those who marked something agree, the others marked nothing)",
        )
    ]
    if not len(listed):
        return [*made, Prose("Nothing to list.")]
    return [*made, places_table(listed, top)]


def by_worth(found: Places) -> list[int]:
    """The numbers of places, those that cost most first, then in reading order."""
    worth = np.nan_to_num(found.worth, nan=0.0)
    order: list[int] = np.lexsort((np.arange(len(found)), -worth)).tolist()
    return order


PLACE = Group(
    "spans_at_place",
    [
        TEXT("document"),
        COUNT("text", outputs=DATA),
        COUNT("start", outputs=DATA),
        COUNT("end", outputs=DATA),
        Column("kind", one_of(*KINDS)),
        COUNT("n_annotators", outputs=DATA),
        COUNT("n_marked", outputs=DATA),
        COUNT(
            "n_agree",
            "how many have the version that most have",
            heading="agree",
            cell=lambda row: f"{row['n_agree']} of {row['n_annotators']}",
        ),
        FIGURE("worth", "what the corrected score would rise by if all had it"),
        Column("in_text", maybe(TEXT), heading="in the text"),
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
    """The places that cost most, with what each annotator marked."""
    order, remark = cut(by_worth(found), top)
    shown = found[np.array(order, dtype=np.int64)]
    rows = rows_of(shown)
    for place, row in enumerate(rows):
        row["versions"] = versions_in_words(shown, place)
    is_known = any(row["in_text"] is not None for row in rows)
    columns = [column for column in PLACE.columns if column.key != "in_text" or is_known]
    legend = "(worth: what corrected agreement would rise by if all had the version of most)"
    return table_of(
        rows,
        columns,
        "one by one, what is worth most first",
        " ".join(filter(None, (remark, legend))),
        document=found.corpus.extent.noun,
    )


def contexts_of(shown: Places) -> list[str]:
    """Each place in its text, in brackets; nothing where texts are not known."""
    characters, texts = shown.characters(), shown.corpus.texts
    if characters is None or texts is None:
        return []
    columns = zip(shown.text.tolist(), *(side.tolist() for side in characters), strict=True)
    return [in_text(texts[text], (start, end), (-1, -1)) for text, start, end in columns]


def _surface(corpus: Corpus, text: int, span: Span) -> str:
    """What a span covers, cut if it is long; its offsets where the text is not known."""
    if not corpus.knows_characters or corpus.texts is None:
        return f"{span.start}-{span.end}"
    start, end = corpus.characters(*(np.array(value) for value in (text, span.start, span.end)))
    words = " ".join(corpus.texts[text][int(start) : int(end)].split())
    half = _SHORT // 2
    return words if len(words) <= _SHORT else f"{words[:half]}…{words[-half:]}"


def versions_in_words(shown: Places, place: int) -> str:
    """What annotators marked at a place, those who agree together."""
    corpus, text = shown.corpus, int(shown.text[place])
    groups: dict[str, list[str]] = {}
    for name, spans in shown.versions(place).items():
        if spans is not None:
            marked = (f"{span.label} {_surface(corpus, text, span)}" for span in spans)
            groups.setdefault("; ".join(marked) or NOTHING, []).append(name)
    return " | ".join(f"{in_list(names)}: {version}" for version, names in groups.items())


def rows_of(found: Places) -> list[Data]:
    """One row for each place, in reading order, with a column to write a decision into."""
    corpus = found.corpus
    contexts: Sequence[str | None] = contexts_of(found) or [None] * len(found)
    columns = zip(
        corpus.text_document[found.text].tolist(),
        corpus.number_in_document(found.text).tolist(),
        found.start.tolist(),
        found.end.tolist(),
        found.kind.tolist(),
        found.n_annotators.tolist(),
        found.n_marked.tolist(),
        found.n_agree.tolist(),
        found.worth.tolist(),
        contexts,
        strict=True,
    )
    rows = []
    for place, (document, text, start, end, sort, n, marked, agreeing, worth, shown) in enumerate(
        columns
    ):
        versions = found.versions(place)
        rows.append(
            {
                "document": corpus.documents[document],
                "text": text,
                "start": start,
                "end": end,
                "kind": KINDS[sort],
                "n_annotators": n,
                "n_marked": marked,
                "n_agree": agreeing,
                "worth": None if isnan(worth) else worth,
                "in_text": shown,
                **{
                    f"by {name}": _plain(corpus, int(found.text[place]), spans)
                    for name, spans in versions.items()
                },
                "decision": "",
            }
        )
    return rows


def _plain(corpus: Corpus, text: int, spans: Sequence[Span] | None) -> str | None:
    """A version as offsets, labels and words; none for those who did not annotate."""
    if spans is None:
        return None
    shown = []
    for span in spans:
        words = f": {_surface(corpus, text, span)}" if corpus.knows_characters else ""
        shown.append(f"{span.start}-{span.end} {span.label}{words}")
    return "; ".join(shown) or NOTHING


def notes_of(found: Places) -> dict[str, str]:
    """For each document with places, what annotators marked there, for those who look next."""
    corpus = found.corpus
    contexts = contexts_of(found)
    notes: dict[str, list[str]] = {}
    for place, document in enumerate(corpus.text_document[found.text].tolist()):
        where = f"{contexts[place]} " if contexts else ""
        said = f"{where}({versions_in_words(found, place)})"
        notes.setdefault(corpus.documents[document], []).append(said)
    return {name: "\n".join(said) for name, said in notes.items()}
