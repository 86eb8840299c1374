"""``beyondchance rank``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.cli import options as flags
from beyondchance.cli.loading import noted, path_of
from beyondchance.cli.running import emit
from beyondchance.cli.scanning import scored
from beyondchance.errors import OptionError
from beyondchance.io.reading import Assumed
from beyondchance.messages import Use
from beyondchance.reporting.commands.rank import Subset, Sureness, rank_report
from beyondchance.results.averages import AVERAGES
from beyondchance.results.ranking import Ranking
from beyondchance.scoring.api import difficulty, rank


@flags.command("rank", doing="reading and ranking")
@flags.annotated_files
@flags.scoring
@flags.CHANCE
@flags.uncertainty
@flags.counting
@flags.in_uncertainty(
    "--against",
    metavar="NAME",
    needs=flags.INTERVALS,
    help="A system whose p-values against the others are adjusted for these tests only.",
)
@flags.in_output(
    "--by",
    type=flags.Choice(["label"]),
    help="Break each system down by label, with support, as a classification report does.",
)
@flags.in_output(
    "--split-by-difficulty",
    type=click.FloatRange(0, 1),
    metavar="D",
    is_everyday=True,
    help="Also rank in two subsets, by how hard it is to agree by chance.",
    more="Texts of at least this difficulty, 1 minus the chance agreement of the gold standard "
    "with itself, and the other ones. The paper takes 0.825.",
)
@flags.FAIL_UNDER
@flags.METHODS
@flags.output
def command(**options: Any) -> Any:
    """Systems against a gold standard, ranked before and after correction.

    The first FILE is the gold standard and every other a system, unless --gold names the gold
    standard, or the files have one of their own, such as the gold column of conlleval; then all are
    systems, or one FILE holds all of them.

    \b
    beyondchance rank gold.conll a.conll b.conll --by label
    beyondchance rank shared-task.tsv --gold gold --split-by-difficulty 0.825
    beyondchance rank gold.conll a.conll b.conll --confidence 0.95
    beyondchance rank gold.conll a.conll b.conll --chance shapes
    """
    gold, *systems = options["files"] or [None]
    if options["gold"] is None and systems:
        if not isinstance(path_of(gold), str):
            raise click.UsageError("standard input cannot be the gold standard; give it a file")
        options |= {"files": systems, "gold": Assumed(gold)}
    corpus, rankings = scored("rank", options)
    first = next(iter(rankings.values()))
    scores = {f"the corrected score of {name}": x.score for name, x in first.systems.items()}

    def all_sureness(**resampling: Any) -> dict[str, Sureness]:
        against = options["against"]
        return {name: _sureness(item, against, **resampling) for name, item in rankings.items()}

    informed, skill = {}, None
    if options["chance"] == "shapes":
        asked = {**flags.scoring_options(options), "gold": first.gold, "chance": "shapes"}
        informed = {name: rank(corpus, **{**asked, "measure": name}) for name in rankings}
        of_first = partial(_sureness, informed[options["measure"]], options["against"])
        skill = flags.if_intervals(options, of_first)
    report = rank_report(
        rankings,
        noted(corpus, first.notes),
        informed=informed,
        skill=None if skill is None else skill.standings,
        by_label=options["by"] == "label",
        subsets=_subsets(first, corpus, options),
        sureness=flags.if_intervals(options, all_sureness),
        digits=options["digits"],
    )
    return partial(emit, report, scores)


def _sureness(ranking: Ranking, against: str | None, **resampling: Any) -> Sureness:
    """Compare systems, and compute intervals of systems, labels and means."""
    from beyondchance.inference.standings import compare_systems  # noqa: PLC0415 - for those who ask

    return Sureness(
        standings=compare_systems(ranking, against=against, **resampling),
        labels={
            name: system.intervals(levels=["label"], **resampling).by_label
            for name, system in ranking.systems.items()
        },
        means={
            name: {by: system.macro(by).intervals(**resampling).overall for by in AVERAGES}
            for name, system in ranking.systems.items()
        },
    )


def _subsets(ranking: Ranking, corpus: Corpus, options: dict[str, Any]) -> list[Subset]:
    """Rank in the paper's two subsets; texts without gold spans are in neither."""
    bar = options["split_by_difficulty"]
    if bar is None:
        return []
    if corpus.unit == CORPUS:
        raise OptionError(
            "the difficulty of a text is not known with ",
            Use("unit", CORPUS),
            expected="another unit, to split by difficulty",
        )
    # The paper's difficulty is that of the token measure, whatever systems are ranked by.
    by_text = difficulty(
        corpus, gold=ranking.gold, model=ranking.settings.model, scope=options["scope"]
    ).by_text

    with np.errstate(invalid="ignore"):
        parts = {
            ("difficult", f"difficulty at least {bar}"): by_text >= bar,
            ("easy", f"difficulty below {bar}"): by_text < bar,
        }
    found = []
    for (name, condition), texts in parts.items():
        among = ranking.among(texts)
        sureness = flags.if_intervals(options, partial(_sureness, among, options["against"]))
        found.append(
            Subset(
                name=name,
                condition=condition,
                n_texts=int(np.count_nonzero(texts)),
                ranking=among,
                sureness=sureness,
            )
        )
    return found
