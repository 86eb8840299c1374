"""``beyondchance agree``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from beyondchance.annotations.building import UNITS
from beyondchance.annotations.corpus import Corpus
from beyondchance.cli.loading import load, streams
from beyondchance.cli.main import BELOW
from beyondchance.cli.options import (
    FAIL_UNDER,
    GAMMA,
    OUTPUT,
    OVER,
    TOP,
    Names,
    annotated_files,
    check_intervals_wanted,
    gamma_parameters,
    interval_options,
    option,
    output,
    picked,
    scoring,
    scoring_options,
    seed,
    uncertainty,
)
from beyondchance.cli.running import Command, emit, tell, working
from beyondchance.core.measures import MEASURES
from beyondchance.errors import BeyondChanceError
from beyondchance.numbers import in_digits
from beyondchance.reporting.commands.agree import Variant, agree_report
from beyondchance.results.agreement import Agreement
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.score import Score
from beyondchance.scoring.api import agreement, difficulty, without_gold
from beyondchance.scoring.options import SCOPES

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.other_coefficients.coefficients import Coefficients
    from beyondchance.results.intervals import Intervals


@click.command("agree", cls=Command)
@annotated_files
@scoring
@uncertainty
@OVER
@option(
    "--null",
    group="Uncertainty",
    is_flag=True,
    help="What random annotations would give: their spread, and the p-value of the observed score.",
)
@option(
    "--by",
    group="Output",
    multiple=True,
    metavar="document|FIELD",
    help="Break down by document, or by a field of the documents such as a round; can be repeated.",
)
@option(
    "--coefficients",
    group="Scoring",
    type=Names(),
    help="Other coefficients beside ours: 'all', or names such as alpha,gamma,kappa.",
)
@GAMMA
@option(
    "--sensitivity",
    group="Output",
    is_flag=True,
    help="The score under every measure, unit and scope.",
)
@TOP
@FAIL_UNDER
@output
def command(files: tuple[str, ...], **options: Any) -> int:
    """How much annotators agree beyond chance.

    FILE is one export that holds everybody, or one file or folder for each annotator; - is
    standard input. A gold standard is compared with one annotator; beside several it is left
    out (see 'beyondchance rank').

    \b
    beyondchance agree anna.conll ben.conll
    beyondchance agree export.json --by document --output json
    beyondchance agree spans.csv --labels PER,ORG --fail-under 0.7
    beyondchance agree export.json --confidence 0.95 --null
    """
    check_intervals_wanted(options)
    given = streams(files)
    with working("reading and scoring", quiet=options["quiet"]) as say:
        corpus = load(given, options)
        results = by_measures(corpus, options)
        result = results[options["measure"]]
        variants, notes = _variants(given, corpus, options) if options["sensitivity"] else ([], [])
        report = agree_report(
            results,
            replace(corpus, notes=(*corpus.notes, *result.notes, *notes)),
            by=tuple(dict.fromkeys(options["by"])),
            difficulty=_difficulty(corpus, options) if "document" in options["by"] else None,
            variants=variants,
            others=_coefficients(corpus, options, result.settings.model, say)
            if options["coefficients"]
            else None,
            intervals=_intervals(results, options) if options["confidence"] is not None else None,
            null=_null(corpus, options) if options["null"] else None,
            top=options["top"],
            digits=options["digits"],
        )
    emit(report, **picked(options, OUTPUT))
    return exit_code({"the corrected score": result.score}, options)


def by_measures(corpus: Corpus, options: dict[str, Any]) -> dict[str, Agreement]:
    """The agreement by the measure asked for, then by the two that everybody knows."""
    chosen = options["measure"]
    result = agreement(corpus, **scoring_options(options))
    # One model for all of them; what belongs to a measure goes with that one only.
    score = partial(agreement, corpus, model=result.settings.model, scope=options["scope"])
    others = [name for name in ("token", "exact") if name != chosen]
    return {chosen: result, **{name: score(measure=name) for name in others}}


def exit_code(scores: dict[str, Score], options: dict[str, Any]) -> int:
    """3 if one of the scores is below the bar, or undefined."""
    bar = options["fail_under"]
    code = 0
    for name, score in scores.items():
        if bar is not None and not score.corrected >= bar:
            shown = in_digits(score.corrected, options["digits"])
            what = f"undefined: {score.reason}" if score.reason else f"{shown}, below {bar}"
            tell(f"{name} is {what}")
            code = BELOW
    return code


def _difficulty(corpus: Corpus, options: dict[str, Any]) -> Difficulty:
    """Of those who are compared."""
    shared = replace(without_gold(corpus), gold=None)
    return difficulty(shared, **scoring_options(options))


def _intervals(results: dict[str, Agreement], options: dict[str, Any]) -> dict[str, Intervals]:
    """Intervals by every measure, from the same documents."""
    fields = [name for name in dict.fromkeys(options["by"]) if name != "document"]
    chosen = {**interval_options(options), "over": options["over"]}
    return {name: result.intervals(by=fields, **chosen) for name, result in results.items()}


def _null(corpus: Corpus, options: dict[str, Any]) -> NullDistribution:
    from beyondchance.inference.null import null_distribution  # noqa: PLC0415 - only for those who ask

    chosen = picked(options, ("measure", "model", "scope", "theta", "samples", "resamples"))
    return null_distribution(corpus, seed=seed(options), **chosen)


def _coefficients(
    corpus: Corpus, options: dict[str, Any], model: str, say: Callable[[str], None]
) -> Coefficients:
    """Other coefficients; gamma says how far it is."""
    from beyondchance.other_coefficients.coefficients import coefficients  # noqa: PLC0415 - rarely wanted

    names = options["coefficients"]
    return coefficients(
        corpus,
        "all" if names == ("all",) else names,
        model=model,
        gamma=gamma_parameters(options),
        seed=options["seed"],
        progress=lambda done, total: say(f"gamma, {done:,} of {total:,} samples"),
    )


def _variants(
    given: list[Any], corpus: Corpus, options: dict[str, Any]
) -> tuple[list[Variant], list[str]]:
    """The score under every measure, unit and scope, and why there is none by some unit.

    The files are read again where the unit differs.
    """
    variants, notes = [], []
    for unit in UNITS:
        try:
            read_by = corpus if unit == corpus.unit else load(given, options, unit=unit)
        except BeyondChanceError as error:
            notes.append(f"no score by {unit}: {error}")
            continue
        for scope in SCOPES:
            for measure in MEASURES:
                chosen = {"measure": measure, "model": options["model"], "scope": scope}
                try:
                    score = agreement(read_by, **chosen).score
                except BeyondChanceError as error:
                    notes.append(f"no score by {unit}, {measure}, {scope}: {error}")
                    continue
                variants.append(Variant(measure=measure, unit=unit, scope=scope, score=score))
    return variants, notes
