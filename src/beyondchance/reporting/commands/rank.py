"""The report of `rank`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isnan
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import (
    SCORES,
    Block,
    Cell,
    Prose,
    Report,
    Table,
    counted,
    flat_score,
    in_list,
    inputs,
    score_cells,
    with_reasons,
)
from beyondchance.reporting.intervals import (
    Scores,
    cautions,
    cell_of,
    explained,
    flat_intervals,
    interval_heading,
    json_ends,
    json_intervals,
    json_uncertainty,
    with_intervals,
)
from beyondchance.results.ranking import Ranking

if TYPE_CHECKING:
    from beyondchance.inference.compare import Comparison
    from beyondchance.inference.standings import Standings
    from beyondchance.results.intervals import ConfidenceInterval


_MOST_SENTENCES = 6
"""Changes of rank that have a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sureness:
    """How sure a ranking is.

    Attributes
    ----------
    standings : Standings
        Which systems can be told apart.
    labels : mapping of system to mapping of label to intervals
        Of those systems whose labels were drawn again too.
    """

    standings: Standings
    labels: Mapping[str, Mapping[str, Scores]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """The ranking by some of the texts."""

    name: str
    condition: str
    n_texts: int
    ranking: Ranking
    sureness: Sureness | None = None


def rank_report(
    rankings: Mapping[str, Ranking],
    corpus: Corpus,
    *,
    subsets: Sequence[Subset] = (),
    sureness: Mapping[str, Sureness] | None = None,
    digits: int = 4,
) -> Report:
    """What `rank` has to say.

    Parameters
    ----------
    rankings : mapping of measure to Ranking
        The first is the one that is broken down.
    corpus : Corpus
        What was compared.
    subsets : sequence of Subset
        Rankings by the first measure on parts of the texts.
    sureness : mapping of measure to Sureness, optional
        For every one of the `rankings`.
    digits : int
        For numbers within sentences.
    """
    measure, ranking = next(iter(rankings.items()))
    sure = sureness or {}
    standings = sure[measure].standings if sure else None
    settings = ranking.settings if standings is None else standings.settings
    names = list(ranking.systems)
    documents = {name for system in ranking.systems.values() for name in system.counts.documents}
    who = f"{in_list(names)} against the gold standard {ranking.gold}"
    n_spans = sum(_spans_of(ranking).values())
    notes = (
        *corpus.notes,
        *words.lonely_labels(corpus, corpus.annotators),
        *_unequal(ranking),
        *_cautions(standings),
    )
    blocks: list[Block] = [Prose(words.compared(corpus, who, documents, n_spans))]
    for name, item in rankings.items():
        blocks.append(ranking_table(item, f"by {name}: {words.MATCHES.get(name, name)}"))
        blocks += [sure_table(item, sure[name].standings)] if name in sure else []
    blocks.append(Prose(rank_changes(ranking, measure)))
    if standings is not None:
        blocks += [differences_table(standings, measure)] if len(standings.order) > 1 else []
        blocks += [Prose(text) for text in told_apart(standings, measure, digits)]
    if subsets:
        neither = words.n_texts(corpus, documents) - sum(subset.n_texts for subset in subsets)
        blocks.append(
            Prose(
                f"By difficulty, of the token measure; {counted(neither, 'text')} in which the "
                "gold standard marks nothing in neither subset."
            )
        )
    for subset in subsets:
        title = f"{subset.name}: {counted(subset.n_texts, 'text')} of {subset.condition}"
        blocks.append(ranking_table(subset.ranking, title))
        if subset.sureness is not None:
            blocks.append(sure_table(subset.ranking, subset.sureness.standings))
    skipped = {**corpus.skipped, **_left_out(ranking, corpus, documents)}
    blocks += [Prose(text) for text in (words.skipped(skipped.items()),) if text]
    blocks.append(Prose(str(settings), quiet=True))
    data: dict[str, Any] = {
        "signature": str(settings),
        "inputs": inputs(corpus),
        "gold": ranking.gold,
        "systems": _systems(ranking, sure.get(measure)),
        "measures": {name: _systems(item, sure.get(name)) for name, item in rankings.items()},
        **_comparisons(standings),
    }
    if subsets:
        data["subsets"] = [
            {
                "name": subset.name,
                "condition": subset.condition,
                "n_texts": subset.n_texts,
                "systems": _systems(subset.ranking, subset.sureness),
            }
            for subset in subsets
        ]
    rows = [
        row for name, item in rankings.items() for row in _rows(item, sure.get(name), name, "all")
    ]
    for subset in subsets:
        rows += _rows(subset.ranking, subset.sureness, measure, subset.name)
    return Report(
        command="rank",
        blocks=tuple(blocks),
        data={**data, "skipped": skipped, "notes": list(notes)},
        rows=rows,
        notes=notes,
    )


def _spans_of(ranking: Ranking) -> dict[str, int]:
    """Spans of everybody, the gold standard once."""
    spans = {name: system.by_annotator[name].n_spans for name, system in ranking.systems.items()}
    gold = max(system.by_annotator[ranking.gold].n_spans for system in ranking.systems.values())
    return {**spans, ranking.gold: gold}


def _left_out(ranking: Ranking, corpus: Corpus, documents: set[str]) -> dict[str, int]:
    """Documents that could not be compared, and those in which nobody marked anything."""
    gold = corpus.annotation_annotator == corpus.annotators.index(ranking.gold)
    by_gold = {corpus.documents[i] for i in corpus.annotation_document[gold].tolist()}
    by_systems = {corpus.documents[i] for i in corpus.annotation_document[~gold].tolist()}
    marked = {
        system.counts.documents[number]
        for system in ranking.systems.values()
        for number in set(system.counts.document.tolist())
    }
    found = {
        "documents of the gold standard only": len(by_gold - by_systems),
        "documents without the gold standard": len(by_systems - by_gold),
        "documents in which nobody marked anything": len(documents - marked),
    }
    return {what: number for what, number in found.items() if number}


def _unequal(ranking: Ranking) -> list[str]:
    """Warn where systems were not scored on the same documents."""
    sizes = {name: len(system.counts.documents) for name, system in ranking.systems.items()}
    most = max(sizes.values())
    fewer = [f"{name} ({size:,})" for name, size in sizes.items() if size < most]
    if not fewer:
        return []
    found = f"not all systems have all {most:,} documents: {in_list(fewer)}"
    return [f"{found}; ranks compare different documents"]


def by_rank(ranking: Ranking) -> list[str]:
    """Names by corrected score, the highest first; undefined ones last."""
    ranks = ranking.ranks("corrected")
    return sorted(ranking.systems, key=lambda name: (ranks[name] is None, ranks[name] or 0))


def ranking_table(ranking: Ranking, title: str) -> Table:
    """The systems with both ranks, by corrected score."""
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    names = by_rank(ranking)
    rows = [
        (
            name,
            *score_cells(ranking.systems[name].score),
            before[name],
            after[name],
            _change(before[name], after[name]),
        )
        for name in names
    ]
    table = Table(("system", *SCORES, "rank", "corrected rank", "change"), rows, title)
    return with_reasons(table, [ranking.systems[name].score for name in names])


def sure_table(ranking: Ranking, standings: Standings) -> Table:
    """Intervals, and whether systems can be told from the best and from the next."""
    letters = _letters(standings)
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            ranking.systems[name].corrected,
            standings.p_best(name),
            standings.p_next(name),
            letters[name],
        )
        for name in standings.order
    ]
    table = Table(("system", "corrected", "p, best", "p, next", "group"), rows)
    found = [standings.intervals[name] for name in standings.order]
    return with_intervals(table, found, standings.settings)


def differences_table(standings: Standings, measure: str) -> Table:
    """How far each system is ahead of the next."""
    rows: list[tuple[Cell, ...]] = [
        (one, other, item.difference, cell_of(item.interval))
        for (one, other), item in _neighbours(standings)
    ]
    headings = ("system", "next", "difference", interval_heading(standings.settings))
    return Table(headings, rows, f"by {measure}, corrected: how far ahead of the next")


def _neighbours(standings: Standings) -> list[tuple[tuple[str, str], Comparison]]:
    """Each system but the last with the next one below."""
    return [(names, standings.pairs[names]) for names in pairwise(standings.order)]


def _letters(standings: Standings) -> dict[str, str]:
    """A letter for each group of systems that cannot be told apart."""
    letters = {
        group: ascii_lowercase[number] if number < 26 else f" {number + 1}"
        for number, group in enumerate(standings.groups)
    }
    return {
        name: "".join(letter for group, letter in letters.items() if name in group)
        for name in standings.order
    }


def _cautions(standings: Standings | None) -> list[str]:
    """What to know of the intervals that are shown, by the one that is known the least."""
    if standings is None:
        return []
    found = [standings.intervals[name]["corrected"] for name in standings.order]
    found += [item.interval for _, item in _neighbours(standings)]
    weakest = min(found, key=lambda item: item.effective if item.caution else inf)
    return cautions([weakest])


def told_apart(standings: Standings, measure: str, digits: int) -> list[str]:
    """Which systems can be told apart, which changes of rank can, and how that was tested."""
    settings = standings.settings
    corrected = [(name, standings.intervals[name]["corrected"]) for name in standings.order]
    first = corrected[0][1]
    ahead = [
        (f"the difference of {one} and {other}", item.interval)
        for (one, other), item in _neighbours(standings)
    ]
    texts = [explained(first, [*corrected, *ahead], settings)]
    if len(standings.order) == 1:
        return texts
    unit = first.over
    ways = "all ways" if standings.enumerated else f"{settings.resamples:,} random ways"
    held = counted(standings.n_documents, unit.removesuffix("s"))
    tested = f"Tested by exchanging two systems within the {held} that all have, in {ways}"
    if len(standings.pairs) > 1:
        tested += (
            f"; p-values are Holm's, for all {len(standings.pairs):,} pairs together, intervals "
            "are of one pair each"
        )
    texts.append(f"By {measure}, {_verdict(standings)}. {tested}.")
    texts += [
        f"On the {held} that all have, {other} is ahead of {one}: the ranking takes other "
        "documents for each system, and says less than the test."
        for (one, other), _ in _neighbours(standings)
        if (one, other) in standings.reversed_pairs
    ]
    return texts + _overtakings(standings, digits)


def _verdict(standings: Standings) -> str:
    """Which systems can be told apart."""
    if all(isnan(p) for p in standings.adjusted.values()):
        return "nothing could be tested"
    alone = [group[0] for group in standings.groups if len(group) == 1]
    together = [group for group in standings.groups if len(group) > 1]
    said = [f"{in_list(group)} cannot be told apart" for group in together]
    said += [f"{in_list(alone)} can be told apart from all others"] if alone and together else []
    return "; ".join(said or ["all systems can be told apart"])


def _overtakings(standings: Standings, digits: int) -> list[str]:
    """What to think of changes of rank; many of them together."""
    # Where the test speaks for the other system, that is said already.
    reversed_pairs = standings.reversed_pairs
    changes = {
        pair: significant
        for pair, significant in standings.overtakings.items()
        if pair not in reversed_pairs
    }
    if len(changes) > _MOST_SENTENCES:
        ways = {
            True: "can be told apart",
            False: "cannot be told apart: these changes are not significant",
        }
        told = {
            way: [f"{a} overtakes {b}" for (a, b), found in changes.items() if found is way]
            for way in ways
        }
        return [
            f"When chance is taken out, {'; '.join(said)}. They {ways[way]}."
            for way, said in told.items()
            if said
        ]
    texts = []
    for (one, other), significant in changes.items():
        p = in_digits(standings.adjusted[one, other], digits)
        verdict = (
            f"and the two can be told apart, p = {p}"
            if significant
            else f"but the two cannot be told apart, p = {p}: the change is not significant"
        )
        texts.append(f"{one} overtakes {other} when chance is taken out, {verdict}.")
    return texts


def _comparisons(standings: Standings | None) -> dict[str, Any]:
    """What was tested, for JSON."""
    if standings is None:
        return {}
    first = standings.intervals[standings.order[0]]["corrected"]
    return {
        "uncertainty": json_uncertainty(first, standings.settings),
        "comparisons": [
            {
                "a": one,
                "b": other,
                "difference": item.difference,
                "interval": json_ends(item.interval),
                **_said_of(item.interval),
                "p_value": item.p_value,
                "p_error": item.p_error,
                "p_adjusted": standings.adjusted[one, other],
                "n_documents": item.n_documents[0],
                **({"reason": item.reason} if item.reason is not None else {}),
            }
            for (one, other), item in standings.pairs.items()
        ],
        "groups": [list(group) for group in standings.groups],
        "overtakings": [
            {"system": one, "overtaken": other, "significant": significant}
            for (one, other), significant in standings.overtakings.items()
        ],
    }


def _said_of(interval: ConfidenceInterval) -> dict[str, str]:
    """Why there is no interval, or what to know before relying on it."""
    said = {"interval_reason": interval.reason, "caution": interval.caution}
    return {name: text for name, text in said.items() if text is not None}


def _change(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return ""
    if before == after:
        return "="
    return f"▲ {before - after}" if after < before else f"▼ {after - before}"


def rank_changes(ranking: Ranking, measure: str) -> str:
    """A sentence on whose rank changes."""
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    moved = [
        name for name in by_rank(ranking) if _change(before[name], after[name]) not in {"", "="}
    ]
    if not moved:
        return f"By {measure}, taking chance out changes no rank."
    return f"By {measure}, taking chance out changes the rank of {in_list(moved)}."


def _systems(ranking: Ranking, sureness: Sureness | None) -> list[dict[str, Any]]:
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    standings = sureness.standings if sureness is not None else None
    labels = sureness.labels if sureness is not None else {}
    return [
        {
            "name": name,
            "rank_observed": before[name],
            "rank_corrected": after[name],
            **ranking.systems[name].score.to_dict(),
            **(_sure_of(standings, name) if standings is not None else {}),
            "labels": {
                label: {**score.to_dict(), **json_intervals(labels.get(name, {}).get(label))}
                for label, score in ranking.systems[name].by_label.items()
            },
        }
        for name in by_rank(ranking)
    ]


def _sure_of(standings: Standings, name: str) -> dict[str, Any]:
    return {
        **json_intervals(standings.intervals[name]),
        "p_best": standings.p_best(name),
        "p_next": standings.p_next(name),
        "groups": [number for number, group in enumerate(standings.groups) if name in group],
    }


def _rows(
    ranking: Ranking, sureness: Sureness | None, measure: str, subset: str
) -> list[dict[str, Any]]:
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    standings = sureness.standings if sureness is not None else None
    letters = _letters(standings) if standings is not None else {}
    return [
        {
            "subset": subset,
            "measure": measure,
            "system": name,
            "rank_observed": before[name],
            "rank_corrected": after[name],
            **flat_score(ranking.systems[name].score),
            "precision": ranking.systems[name].score.precision,
            "recall": ranking.systems[name].score.recall,
            **(
                {
                    **flat_intervals(standings.intervals[name]),
                    "p_best": standings.p_best(name),
                    "p_next": standings.p_next(name),
                    "group": letters[name],
                }
                if standings is not None
                else {}
            ),
        }
        for name in by_rank(ranking)
    ]
