"""The report of `consensus`: how the members voted, and what there is to decide."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

import numpy as np

from beyondchance.adjudication.consensus import Consensus
from beyondchance.adjudication.votes import ENTITIES
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import Blocks, Report, Table, counted, in_list, report_on
from beyondchance.reporting.breakdown import NAMED, SCORE, SCORE_COLUMNS, Row
from beyondchance.reporting.columns import (
    COUNT,
    FIGURE,
    SHARE,
    TAIL,
    TEXT,
    TEXTS,
    UNSIGNED,
    YES_OR_NO,
    Column,
    Data,
    Group,
    alike,
    attributes,
    command,
    for_people,
    kind,
    many,
    maybe,
    named,
    one_of,
    ready,
    rows_from,
    table_of,
)
from beyondchance.reporting.commands.places import PLACE, places_table, rows_of
from beyondchance.results.agreement import Agreement

_WHAT = {
    "entities": "Spans are matched to entities; votes decide whether there is one (more than half "
    "found it; half is a tie), then its label, then its edges.",
    "best": "It is the annotation with the highest observed agreement with all of them together.",
    "majority": "It has the spans that more than half of them marked.",
    "union": "It has the spans that any of them marked.",
}
_OWN = ("measure", "method", "members", "weights", "n_unscored", "bounds")
_WHY_NOT = (
    "Not scored against the consensus: {} with fewer than three annotators. The consensus of two "
    "is what both have and, for the rest, the word of one of them, so that each would be compared "
    "with their own work."
)


_SPAN = Group(
    "",
    [
        TEXT("document"),
        *alike(COUNT, "text", "start", "end"),
        TEXT("label"),
        Column("words", maybe(TEXT)),
        COUNT("votes", "how many found the entity; with other methods, as alike"),
        COUNT("alike", "how many marked exactly this span"),
        COUNT("n_annotators", "how many annotated the document"),
        SHARE("support", "mean share of them who marked its positions with its label"),
        YES_OR_NO("is_tie", "whether votes on entities do not decide about it"),
    ],
)
CONSENSUS = command(
    "consensus",
    *UNSIGNED,
    Column("measure", one_of("token", "exact", None), "what was voted on, if not entities"),
    Column("method", one_of(*_WHAT)),
    TEXTS("members", "who voted"),
    Column(
        "weights",
        named(kind(type="number", exclusiveMinimum=0)),
        "how much votes count, where it is not 1",
    ),
    COUNT("n_unscored", "documents with fewer than three members, which are not scored"),
    Column(
        "agreement",
        maybe(SCORE),
        "of all members with the consensus, without ties; null where no document is scored",
    ),
    Column("annotators", named(SCORE), "of each of them"),
    Column(
        "bounds",
        named(many(FIGURE, minItems=2, maxItems=2)),
        "corrected, if all ties are decided against and for a member; of all by the name of the "
        "consensus",
    ),
    Column("spans", ready(many(_SPAN))),
    COUNT("n_ties", "entities that votes do not decide"),
    Column(
        "ties", ready(many(PLACE)), "places with such entities, those first that are worth most"
    ),
    *TAIL,
)


def report_of_consensus(found: Consensus, *, top: int = 20) -> Report:
    """Build the report of a consensus; outputs show parts of it."""
    result, ties, noun = found.agreement, found.ties, found.corpus.extent.noun

    def blocks() -> Blocks:
        spans = counted(len(found.span), "span")
        weights = [f"{name} {value:g}" for name, value in found.weights.items()]
        others = ", 1 otherwise" if len(weights) < len(found.members) else ""
        yield (
            f"The consensus of {in_list(found.members)} has {spans} in "
            f"{counted(len(found.documents), noun)}. {_WHAT[found.method]}"
            + (f" Weights: {', '.join(weights)}{others}." if weights else "")
        )
        yield votes_table(found)
        if result is not None:
            title = f"annotators against the {found.name}"
            yield gold_table(result, found.name, title, found.bounds)
        if found.n_unscored:
            yield _WHY_NOT.format(counted(found.n_unscored, noun))
        if not len(ties):
            yield "No ties: votes decide about every entity."
            return
        yield _tie_sentence(found, len(ties))
        yield places_table(ties, top)

    return report_on(
        found.corpus,
        found.corpus,
        group=CONSENSUS,
        signature=None if result is None else str(result.settings),
        make_blocks=blocks,
        make_data=lambda: {
            **attributes(found, *_OWN),
            "agreement": result and result.score,
            "annotators": {} if result is None else result.against(found.name),
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
    """Return a table of how many spans of the consensus have how many votes."""
    pairs, counts = np.unique(np.stack([found.n_members, found.votes]), axis=1, return_counts=True)
    rows = sorted(zip(*pairs.tolist(), counts.tolist(), strict=True), reverse=True)
    what = "found the entity" if found.method == ENTITIES else "marked exactly this span"
    legend = f"(annotators who {what}, of those who annotated the {found.corpus.extent.noun})"
    return table_of(rows, _VOTES, "votes", legend)


_VOTES = (
    for_people("found by", lambda row: f"{row[1]} of {row[0]}"),
    for_people("spans", itemgetter(2)),
)


def gold_table(
    result: Agreement,
    gold: str,
    title: str,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Table:
    """Return the agreement of each annotator with a gold standard, with bounds for ties."""
    rows = [
        Row(measure="", score=score, name=name, of_field=name)
        for name, score in result.against(gold).items()
    ]
    rows.append(Row(measure="", score=result.score, name="all", of_field=gold))
    columns, remark = [NAMED, *SCORE_COLUMNS], ""
    if bounds:
        columns.append(for_people("ties against", lambda row: bounds[row.of_field][0]))
        columns.append(for_people("ties for", lambda row: bounds[row.of_field][1]))
        remark = _BOUNDS
    by = sentences.by_measure(result.settings.measure, result.settings.positions)
    return table_of(rows, columns, f"{title}, by {by}", remark, name="annotator")


_BOUNDS = "(without ties; ties against, for: corrected if all are decided so for the annotator)"


def spans_of(found: Consensus) -> list[Data]:
    """Return a row for each span of the consensus."""
    corpus = found.corpus
    text, label, start, end = found.chosen
    return rows_from(
        document=[corpus.documents[i] for i in corpus.text_document[text].tolist()],
        text=corpus.number_in_document(text).tolist(),
        start=start.tolist(),
        end=end.tolist(),
        label=[corpus.labels[i] for i in label.tolist()],
        words=corpus.words(text, start, end),
        votes=found.votes.tolist(),
        alike=found.alike.tolist(),
        n_annotators=found.n_members.tolist(),
        support=found.support.tolist(),
        is_tie=found.is_tie.tolist(),
    )
