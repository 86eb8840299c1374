"""The report of `consensus`: how the members voted, and what there is to decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beyondchance.adjudication.consensus import Consensus
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import (
    CUT,
    Block,
    Cell,
    Prose,
    Report,
    Table,
    counted,
    in_list,
)
from beyondchance.reporting.commands.places import places_table, rows_of
from beyondchance.results.agreement import Agreement
from beyondchance.results.score import Score

_WHAT = {
    "best": "the annotation that agrees best with all of them together",
    "majority": "what more than half of them marked",
    "union": "what any of them marked",
}


def report_of_consensus(found: Consensus, *, top: int = 20) -> Report:
    """The report of a consensus, of which an output shows a part."""
    result, corpus = found.agreement, found.corpus
    ties = found.ties

    def blocks() -> list[Block]:
        voted_on = f"{corpus.positions} and labels" if found.measure == "token" else "spans"
        documents = int(np.count_nonzero(corpus.annotation_annotator == len(corpus.annotators) - 1))
        weights = [f"{name} {value:g}" for name, value in found.weights.items()]
        made: list[Block] = [
            Prose(
                f"The consensus of {in_list(found.members)}: {_WHAT[found.method]}, by votes on "
                f"{voted_on}. It has {counted(len(found.span), 'span')} in "
                f"{counted(documents, 'document')}."
                + (f" Weights: {', '.join(weights)}, 1 otherwise." if weights else "")
            ),
            votes_table(found),
            gold_table(result, found.name, f"annotators against the {found.name}"),
        ]
        if not len(ties):
            return [*made, Prose("No ties: at every place one version has most votes.")]
        number = counted(len(ties), "place")
        have = "has" if len(ties) == 1 else "have"
        return [
            *made,
            Prose(f"{number} {have} no version with most votes."),
            places_table(ties, top),
        ]

    return Report(
        command="consensus",
        corpus=corpus,
        signature=str(result.settings),
        notes=(*corpus.notes, *([CUT] if 0 < top < len(ties) else [])),
        skipped=dict(corpus.skipped),
        make_blocks=blocks,
        make_data=lambda: {
            "measure": found.measure,
            "method": found.method,
            "members": list(found.members),
            "weights": dict(found.weights),
            "agreement": result.score.to_dict(),
            "annotators": {name: score.to_dict() for name, score in against(result, found.name)},
            "spans": spans_of(found),
            "ties": rows_of(ties),
        },
        make_rows=lambda: spans_of(found),
    )


def votes_table(found: Consensus) -> Table:
    """How many spans of the consensus have how many votes."""
    pairs, counts = np.unique(np.stack([found.n_members, found.votes]), axis=1, return_counts=True)
    columns = zip(*pairs.tolist(), counts.tolist(), strict=True)
    rows: list[tuple[Cell, ...]] = [
        (f"{votes} of {of}", number) for of, votes, number in sorted(columns, reverse=True)
    ]
    legend = "(annotators who marked exactly this span, of those who annotated the document)"
    return Table(("marked by", "spans"), rows, "votes", legend)


def against(result: Agreement, gold: str) -> list[tuple[str, Score]]:
    """The score of each annotator against a gold standard."""
    return [(b if a == gold else a, score) for (a, b), score in result.by_pair.items()]


def gold_table(result: Agreement, gold: str, title: str) -> Table:
    """The agreement of each annotator with a gold standard."""
    rows: list[Sequence[Cell]] = [
        (name, score.observed, score.chance, score.corrected)
        for name, score in against(result, gold)
    ]
    total = result.score
    rows.append(("all", total.observed, total.chance, total.corrected))
    by = sentences.by_measure(result.settings.measure, result.settings.positions)
    return Table(("annotator", "observed", "chance", "corrected"), rows, f"{title}, by {by}")


def spans_of(found: Consensus) -> list[dict[str, Any]]:
    """One row for each span of the consensus."""
    corpus, span = found.corpus, found.span
    text = corpus.span_text[span]
    words: Sequence[str | None] = [None] * len(span)
    if corpus.knows_characters and corpus.texts is not None:
        low, high = corpus.characters(text, corpus.span_start[span], corpus.span_end[span])
        places = zip(text.tolist(), low.tolist(), high.tolist(), strict=True)
        words = [corpus.texts[i][start:end] for i, start, end in places]
    columns = {
        "document": [corpus.documents[i] for i in corpus.text_document[text].tolist()],
        "text": corpus.number_in_document(text).tolist(),
        "start": corpus.span_start[span].tolist(),
        "end": corpus.span_end[span].tolist(),
        "label": [corpus.labels[i] for i in corpus.span_label[span].tolist()],
        "words": words,
        "votes": found.votes.tolist(),
        "n_annotators": found.n_members.tolist(),
        "support": found.support.tolist(),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
