"""The report of `adjudicate`: who decided what, and how annotators agree with the gold standard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from types import SimpleNamespace
from typing import NamedTuple

from beyondchance.adjudication.adjudicated import AdjudicatedCorpus, Deciders
from beyondchance.adjudication.decisions import CHOICES, Decision
from beyondchance.reporting.blocks import Blocks, Report, Table, counted, in_list, report_on
from beyondchance.reporting.breakdown import SCORE, SCORE_COLUMNS
from beyondchance.reporting.columns import (
    COUNT,
    CSV,
    FILES,
    JSON,
    TAIL,
    TEXT,
    TEXTS,
    UNSIGNED,
    Column,
    Group,
    Kind,
    alike,
    attributes,
    command,
    flat_rows,
    for_people,
    kind,
    many,
    maybe,
    named,
    one_of,
    table_of,
)
from beyondchance.reporting.commands.consensus import gold_table
from beyondchance.results.agreement import Agreement

_NOBODY = "(no name)"
_OWN_VOTES = " Scores are too high there: annotators are compared with their own votes."


_PLACE = (
    TEXT("document"),
    COUNT("text", "the number of the text in its document, from 0 on"),
    *alike(COUNT, "start", "end"),
)
_SPAN = kind(
    type="array",
    prefixItems=[{"type": "integer", "minimum": 0}] * 2 + [{"type": "string"}],
    minItems=3,
    maxItems=3,
    description="start, end and label",
)
DECISION = Group(
    "decision",
    [
        *_PLACE,
        Column(
            "spans",
            many(_SPAN),
            "what the gold standard has in this stretch",
            flat=lambda decision: {"spans": _written(decision)},
        ),
        Column("choice", one_of(*CHOICES), is_optional=True),
        TEXTS(
            "of",
            "whose version it is",
            is_optional=True,
            flat=lambda decision: {"of": ", ".join(decision.of)},
        ),
        TEXT("by", "who decided", is_optional=True),
        TEXT("note", is_optional=True),
        Column("words", maybe(TEXT), "what the stretch covers", is_optional=True, outputs=JSON),
        Column("words", outputs=CSV),
    ],
)
DECISIONS_FILE = Group(
    "decisions_file",
    [
        Column("beyondchance", kind(const="decisions")),
        Column("format", kind(const=1)),
        TEXT("unit"),
        TEXT("positions"),
        Column("decisions", many(DECISION)),
    ],
    "what the page of report saves, and adjudicate reads",
)
_DECISION = Kind(DECISION.schema, Decision.to_dict)
ADJUDICATE = command(
    "adjudicate",
    *FILES,
    Column("rest", one_of("consensus", "majority", "refuse"), "what decides where nobody did"),
    COUNT("n_places", "places where annotators differ"),
    COUNT("n_decided", "how many of them are decided"),
    COUNT("n_ties", "entities outside of these that the votes of annotators do not decide"),
    SCORE("agreement", "of all annotators with the gold standard"),
    Column("annotators", named(SCORE)),
    Column("decisions", many(_DECISION)),
    *TAIL,
)


def adjudicate_report(gold: AdjudicatedCorpus, result: Agreement, *, top: int = 20) -> Report:
    """Build the report of a gold standard that people decided on."""
    name, decisions = str(gold.gold), gold.decisions

    def blocks() -> Blocks:
        is_whole = gold.n_decided == gold.n_places
        yield how_many_decided(gold) + ("" if is_whole else _OWN_VOTES)
        yield _people_table(decisions)
        yield gold_table(result, name, f"annotators against {name}")
        if noted := [decision for decision in decisions if decision.note]:
            yield table_of(noted, _NOTES, "notes", top=top)

    return report_on(
        gold,
        gold,
        group=ADJUDICATE,
        signature=str(result.settings),
        make_blocks=blocks,
        make_data=lambda: {
            **attributes(gold, "rest", "n_places", "n_decided", "n_ties", "decisions"),
            "agreement": result.score,
            "annotators": result.against(name),
        },
        make_rows=lambda: flat_rows(decisions, DECISION.columns),
    )


def how_many_decided(gold: AdjudicatedCorpus) -> str:
    """Say how many places people decided, and what decides the others."""
    left = gold.n_places - gold.n_decided
    rest = f" The {gold.rest} of the annotators decides the other {left:,}." if left else ""
    if left and gold.n_ties and gold.rest == "consensus":
        rest += f" {counted(gold.n_ties, 'tie')} among them: a person has to decide."
    are = "is" if gold.n_decided == 1 else "are"
    differ = counted(gold.n_places, "place")
    return f"{gold.n_decided:,} of {differ} where annotators differ {are} decided.{rest}"


def _people_table(decisions: Sequence[Decision]) -> Table:
    """Show how each person decided."""
    counts: dict[str, Counter[str]] = {}
    for decision in decisions:
        own = counts.setdefault(decision.by or _NOBODY, Counter())
        own.update([decision.choice, "all"])
    rows = [{**dict.fromkeys(CHOICES, 0), **found, "by": who} for who, found in counts.items()]
    return table_of(rows, _PERSON, "decisions")


_PERSON = (
    Column("by", heading="decided by"),
    Column(CHOICES[0], heading="an annotator's"),
    *alike(COUNT, *CHOICES[1:], "all"),
)


def _place(decision: Decision) -> str:
    return decision.words or f"{decision.start}-{decision.end}"


_NOTES = (
    *_PLACE[:1],
    for_people("place", _place),
    *alike(TEXT, "note", "by"),
)


def _written(decision: Decision) -> str:
    """Write the spans of a decision into a cell."""
    return "; ".join(f"{start}-{end} {label}" for start, end, label in decision.spans) or "nothing"


_PAIR = (
    TEXT("a", heading="first"),
    TEXT("b", heading="second"),
    COUNT("n_places", "places that both decided", heading="both decided"),
    COUNT("n_same", heading="the same"),
    for_people("differently", lambda row: row.n_places - row.n_same),
    Column(
        "agreement",
        maybe(SCORE),
        "of what they decided there; null where there is no such place",
        attrgetter("score"),
        outputs=JSON,
    ),
)
COMPARED = command(
    "adjudicate_compared",
    *UNSIGNED,
    Column("pairs", many(Group("", [*_PAIR]))),
    Column("differing", many(Group("", [_DECISION("one"), _DECISION("other")]))),
    *TAIL,
    called="adjudicate",
)


def _version(decision: Decision) -> str:
    return f"{decision.by}: {_written(decision)}" if decision.by else _written(decision)


def _side(side: str) -> list[Column]:
    """Declare what one of two decided."""
    decision = attrgetter(side)
    return [
        Column(f"by_{side}", value=attrgetter(f"{side}.by"), outputs=CSV),
        Column(f"spans_{side}", value=lambda pair: _written(decision(pair)), outputs=CSV),
        for_people(side, lambda pair: _version(decision(pair))),
    ]


_DIFFERING = (
    Column("document", value=attrgetter("one.document")),
    *(
        Column(name, value=attrgetter(f"one.{name}"), outputs=CSV)
        for name in ("text", "start", "end")
    ),
    for_people("place", lambda pair: _place(pair.one)),
    *_side("one"),
    *_side("other"),
)


class _Differing(NamedTuple):
    """Two decisions about one place."""

    one: Decision
    other: Decision


def deciders_report(found: Deciders, *, top: int = 20) -> Report:
    """Build the report of how far people decided alike."""
    differing = [_Differing(*pair) for pair in found.differing]
    pairs = [
        SimpleNamespace(
            a=a, b=b, n_places=x.n_places, n_same=x.n_same, score=x.agreement and x.agreement.score
        )
        for (a, b), x in found.pairs.items()
    ]
    signed = [str(x.agreement.settings) for x in found.pairs.values() if x.agreement]

    def blocks() -> Blocks:
        known = [pair for pair in pairs if pair.score]
        # A reason is named after the first column, which is one of two here.
        scores = [column._replace(why=None) for column in SCORE_COLUMNS]
        yield f"{in_list(found.names)}: what they decided, where both of two did."
        yield table_of(pairs, _PAIR, "places")
        yield table_of(known, (*_PAIR[:2], *scores), "agreement at these places")
        if differing:
            yield table_of(differing, _DIFFERING, "decided differently", top=top)

    return report_on(
        found.corpus,
        found.corpus,
        group=COMPARED,
        signature=signed[0] if signed else None,
        make_blocks=blocks,
        make_data=lambda: {"pairs": pairs, "differing": differing},
        make_rows=lambda: flat_rows(differing, _DIFFERING),
    )
