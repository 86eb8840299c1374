"""``beyondchance rank``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli.agree import exit_code
from beyondchance.cli.loading import load, streams
from beyondchance.cli.options import (
    FAIL_UNDER,
    OUTPUT,
    annotated_files,
    check_intervals_wanted,
    interval_options,
    option,
    output,
    picked,
    scoring,
    scoring_options,
    uncertainty,
)
from beyondchance.cli.running import Command, emit, working
from beyondchance.reporting.commands.rank import Subset, Sureness, rank_report
from beyondchance.results.ranking import Ranking
from beyondchance.scoring.api import difficulty, rank
from beyondchance.types import Bools


@click.command("rank", cls=Command)
@annotated_files
@scoring
@uncertainty
@option(
    "--split-by-difficulty",
    group="Output",
    type=click.FloatRange(0, 1),
    metavar="D",
    help="Rank in two subsets as well: texts of at least this difficulty, and below it. The "
    "paper takes 0.825.",
)
@FAIL_UNDER
@output
def command(files: tuple[str, ...], **options: Any) -> int:
    """Systems against a gold standard, ranked before and after correction.

    The first FILE is the gold standard and every other a system, unless --gold says who it
    is; then all are systems, or one FILE holds everybody.

    \b
    beyondchance rank gold.conll a.conll b.conll
    beyondchance rank shared-task.tsv --gold gold --split-by-difficulty 0.825
    beyondchance rank gold.conll a.conll b.conll --confidence 0.95
    """
    check_intervals_wanted(options)
    given = streams(files)
    if options["gold"] is None and len(given) > 1:
        if not isinstance(given[0], str):
            raise click.UsageError("standard input cannot be the gold standard; give it a file")
        given, options["gold"] = given[1:], Path(given[0])
    with working("reading and ranking", quiet=options["quiet"]):
        corpus = load(given, options)
        chosen = options["measure"]
        first = rank(corpus, **scoring_options(options))
        score = partial(rank, corpus, model=first.settings.model, scope=options["scope"])
        others = [name for name in ("token", "exact") if name != chosen]
        rankings = {chosen: first, **{name: score(measure=name) for name in others}}
        corpus = replace(corpus, notes=(*corpus.notes, *first.notes))
        report = rank_report(
            rankings,
            corpus,
            subsets=_subsets(rankings[chosen], corpus, options),
            sureness={name: _sureness(item, options) for name, item in rankings.items()}
            if options["confidence"] is not None
            else None,
            digits=options["digits"],
        )
    emit(report, **picked(options, OUTPUT))
    scores = {
        f"the corrected score of {name}": system.score
        for name, system in rankings[chosen].systems.items()
    }
    return exit_code(scores, options)


def _sureness(ranking: Ranking, options: dict[str, Any]) -> Sureness:
    """Which systems can be told apart, and the intervals of everything."""
    from beyondchance.inference.standings import compare_systems  # noqa: PLC0415 - for those who ask

    chosen = interval_options(options)
    return Sureness(
        standings=compare_systems(ranking, **chosen),
        labels={
            name: system.intervals(levels=["label"], **chosen).by_label
            for name, system in ranking.systems.items()
        },
    )


def _subsets(ranking: Ranking, corpus: Corpus, options: dict[str, Any]) -> list[Subset]:
    """The paper's two subsets; texts without gold spans are in neither."""
    bar = options["split_by_difficulty"]
    if bar is None:
        return []
    # The paper's difficulty is that of the token measure, whatever systems are ranked by.
    chosen = {"model": ranking.settings.model, "scope": options["scope"]}
    by_text = difficulty(corpus, gold=ranking.gold, **chosen).by_text

    def subset(name: str, condition: str, texts: Bools) -> Subset:
        among = ranking.among(texts)
        return Subset(
            name=name,
            condition=condition,
            n_texts=int(np.count_nonzero(texts)),
            ranking=among,
            sureness=_sureness(among, options) if options["confidence"] is not None else None,
        )

    with np.errstate(invalid="ignore"):
        return [
            subset("difficult", f"difficulty at least {bar}", by_text >= bar),
            subset("easy", f"difficulty below {bar}", by_text < bar),
        ]
