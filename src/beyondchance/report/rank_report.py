"""The report of `rank`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beyondchance.report import words
from beyondchance.report.blocks import (
    SCORES,
    Block,
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
from beyondchance.results import Ranking
from beyondchance.spans import Corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """The ranking by some of the texts."""

    name: str
    condition: str
    n_texts: int
    ranking: Ranking


def rank_report(
    rankings: Mapping[str, Ranking], corpus: Corpus, *, subsets: Sequence[Subset] = ()
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
    """
    measure, ranking = next(iter(rankings.items()))
    names = list(ranking.systems)
    documents = {name for system in ranking.systems.values() for name in system.counts.documents}
    who = f"{in_list(names)} against the gold standard {ranking.gold}"
    n_spans = sum(_spans_of(ranking).values())
    notes = (
        *corpus.notes,
        *words.lonely_labels(corpus, corpus.annotators),
        *_unequal(ranking),
    )
    blocks: list[Block] = [Prose(words.compared(corpus, who, documents, n_spans))]
    for name, item in rankings.items():
        blocks.append(_table(item, f"by {name}: {words.MATCHES.get(name, name)}"))
    blocks.append(Prose(_changes(ranking, measure)))
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
        blocks.append(_table(subset.ranking, title))
    skipped = {**corpus.skipped, **_left_out(ranking, corpus, documents)}
    blocks += [Prose(text) for text in (words.skipped(skipped.items()),) if text]
    blocks.append(Prose(str(ranking.settings), quiet=True))
    data: dict[str, Any] = {
        "signature": str(ranking.settings),
        "inputs": inputs(corpus),
        "gold": ranking.gold,
        "systems": _systems(ranking),
        "measures": {name: _systems(item) for name, item in rankings.items()},
    }
    if subsets:
        data["subsets"] = [
            {
                "name": subset.name,
                "condition": subset.condition,
                "n_texts": subset.n_texts,
                "systems": _systems(subset.ranking),
            }
            for subset in subsets
        ]
    rows = [row for name, item in rankings.items() for row in _rows(item, name, "all")]
    rows += [row for subset in subsets for row in _rows(subset.ranking, measure, subset.name)]
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


def _order(ranking: Ranking) -> list[str]:
    """Names by corrected score, the highest first; undefined ones last."""
    ranks = ranking.ranks("corrected")
    return sorted(ranking.systems, key=lambda name: (ranks[name] is None, ranks[name] or 0))


def _table(ranking: Ranking, title: str) -> Table:
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    names = _order(ranking)
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


def _change(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return ""
    if before == after:
        return "="
    return f"▲ {before - after}" if after < before else f"▼ {after - before}"


def _changes(ranking: Ranking, measure: str) -> str:
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    moved = [
        name for name in _order(ranking) if _change(before[name], after[name]) not in {"", "="}
    ]
    if not moved:
        return f"By {measure}, taking chance out changes no rank."
    return f"By {measure}, taking chance out changes the rank of {in_list(moved)}."


def _systems(ranking: Ranking) -> list[dict[str, Any]]:
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    return [
        {
            "name": name,
            "rank_observed": before[name],
            "rank_corrected": after[name],
            **ranking.systems[name].score.to_dict(),
            "labels": {
                label: score.to_dict() for label, score in ranking.systems[name].by_label.items()
            },
        }
        for name in _order(ranking)
    ]


def _rows(ranking: Ranking, measure: str, subset: str) -> list[dict[str, Any]]:
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
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
        }
        for name in _order(ranking)
    ]
