"""The report of `consensus`: how the members voted, and what there is to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beyondchance.adjudication.consensus import Consensus
from beyondchance.adjudication.decisions import words_of
from beyondchance.adjudication.votes import ENTITIES
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import (
    Block,
    Cell,
    Prose,
    Report,
    Table,
    counted,
    in_list,
    report_of_corpus,
)
from beyondchance.reporting.commands.places import places_table, rows_of
from beyondchance.results.agreement import Agreement

_WHAT = {
    "entities": "Spans are matched to entities; votes decide whether there is one (more than half "
    "found it; half is a tie), then its label, then its edges.",
    "best": "It is the annotation with the highest observed agreement with all of them together.",
    "majority": "It has the spans that more than half of them marked.",
    "union": "It has the spans that any of them marked.",
}
_WHY_NOT = (
    "Not scored against the consensus: {} with fewer than three annotators. The consensus of two "
    "is what both have and, for the rest, the word of one of them, so that each would be compared "
    "with their own work."
)


def report_of_consensus(found: Consensus, *, top: int = 20) -> Report:
    """The report of a consensus, of which an output shows a part."""
    result, ties, noun = found.agreement, found.ties, found.corpus.extent.noun

    def blocks() -> list[Block]:
        spans = counted(len(found.span), "span")
        weights = [f"{name} {value:g}" for name, value in found.weights.items()]
        others = ", 1 otherwise" if len(weights) < len(found.members) else ""
        made: list[Block] = [
            Prose(
                f"The consensus of {in_list(found.members)} has {spans} in "
                f"{counted(len(found.documents), noun)}. {_WHAT[found.method]}"
                + (f" Weights: {', '.join(weights)}{others}." if weights else "")
            ),
            votes_table(found),
        ]
        if result is not None:
            title = f"annotators against the {found.name}"
            made.append(gold_table(result, found.name, title, found.bounds))
        if found.n_unscored:
            made.append(Prose(_WHY_NOT.format(counted(found.n_unscored, noun))))
        if not len(ties):
            return [*made, Prose("No ties: votes decide about every entity.")]
        return [*made, Prose(_tie_sentence(found, len(ties))), places_table(ties, top)]

    return report_of_corpus(
        "consensus",
        found.corpus,
        is_cut=0 < top < len(ties),
        signature=None if result is None else str(result.settings),
        make_blocks=blocks,
        make_data=lambda: {
            "measure": found.measure,
            "method": found.method,
            "members": list(found.members),
            "weights": dict(found.weights),
            "n_unscored": found.n_unscored,
            "agreement": result and result.score.to_dict(),
            "annotators": {} if result is None else against(result, found.name),
            "bounds": {name: list(ends) for name, ends in found.bounds.items()},
            "spans": spans_of(found),
            "n_ties": int(np.count_nonzero(found.entities.is_tie)),
            "ties": rows_of(ties),
        },
        make_rows=lambda: spans_of(found),
    )


def _tie_sentence(found: Consensus, n_places: int) -> str:
    """Say how many entities votes do not decide, and what became of them."""
    entities, places = found.entities, counted(n_places, "place")
    n_ties, n_rivals = (int(np.count_nonzero(x)) for x in (entities.is_tie, entities.is_rival))
    said = f"{counted(n_ties, 'tie')} at {places}"
    if found.method != ENTITIES:
        return f"Votes on entities leave {said} to a person; this method decides all of them."
    gone = f" Left out, because more found an entity that overlaps: {n_rivals:,}."
    return f"{said}: a person has to decide.{gone if n_rivals else ''}"


def votes_table(found: Consensus) -> Table:
    """How many spans of the consensus have how many votes."""
    pairs, counts = np.unique(np.stack([found.n_members, found.votes]), axis=1, return_counts=True)
    columns = zip(*pairs.tolist(), counts.tolist(), strict=True)
    rows: list[tuple[Cell, ...]] = [
        (f"{votes} of {of}", number) for of, votes, number in sorted(columns, reverse=True)
    ]
    what = "found the entity" if found.method == ENTITIES else "marked exactly this span"
    legend = f"(annotators who {what}, of those who annotated the {found.corpus.extent.noun})"
    return Table(("found by", "spans"), rows, "votes", legend)


def against(result: Agreement, gold: str) -> dict[str, Any]:
    """Return the scores of annotators against a gold standard for JSON."""
    return {name: score.to_dict() for name, score in result.against(gold).items()}


def gold_table(
    result: Agreement,
    gold: str,
    title: str,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Table:
    """The agreement of each annotator with a gold standard, with bounds where there are ties."""
    known = bounds or {}
    rows: list[Sequence[Cell]] = [
        ("all" if who == gold else who, x.observed, x.chance, x.corrected, *known.get(who, ()))
        for who, x in {**result.against(gold), gold: result.score}.items()
    ]
    headings = ("annotator", "observed", "chance", "corrected")
    by = sentences.by_measure(result.settings.measure, result.settings.positions)
    if not known:
        return Table(headings, rows, f"{title}, by {by}")
    legend = "(without ties; ties against, for: corrected if all are decided so for the annotator)"
    return Table((*headings, "ties against", "ties for"), rows, f"{title}, by {by}", legend)


def spans_of(found: Consensus) -> list[dict[str, Any]]:
    """One row for each span of the consensus."""
    corpus = found.corpus
    text, label, start, end = found.chosen
    columns = {
        "document": [corpus.documents[i] for i in corpus.text_document[text].tolist()],
        "text": corpus.number_in_document(text).tolist(),
        "start": start.tolist(),
        "end": end.tolist(),
        "label": [corpus.labels[i] for i in label.tolist()],
        "words": words_of(corpus, text, start, end),
        "votes": found.votes.tolist(),
        "alike": found.alike.tolist(),
        "n_annotators": found.n_members.tolist(),
        "support": found.support.tolist(),
        "is_tie": found.is_tie.tolist(),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
