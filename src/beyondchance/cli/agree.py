"""``beyondchance agree``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from beyondchance.annotations.corpus import UNITS, Corpus
from beyondchance.cli import options as flags
from beyondchance.cli.loading import load, noted, streams, unquoted
from beyondchance.cli.main import BELOW
from beyondchance.cli.running import Command, emit, form_of, tell, working
from beyondchance.cli.scanning import answers, scan_of
from beyondchance.core.measures import MEASURES
from beyondchance.diagnosis.loss import loss_of
from beyondchance.errors import BeyondChanceError, DataError, OverlapError
from beyondchance.io.naming import sendable
from beyondchance.io.reading import Named
from beyondchance.messages import Note, Quote
from beyondchance.numbers import in_digits
from beyondchance.reporting.commands.agree import Variant, agree_report, shown_levels
from beyondchance.results.agreement import Agreement
from beyondchance.results.averages import AVERAGES
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.labelling import Labelling
from beyondchance.results.score import Score
from beyondchance.scoring.answers import Question, agreement_from, by_measures, without_gold
from beyondchance.scoring.api import agreement, difficulty
from beyondchance.scoring.labelling import SPLIT_MEASURES, labelling
from beyondchance.scoring.options import SCOPES, scoring_of

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.inference.trend import Trend
    from beyondchance.other_coefficients.coefficients import Coefficients
    from beyondchance.results.intervals import ConfidenceInterval, Intervals


@click.command("agree", cls=Command)
@flags.annotated_files
@flags.scoring
@flags.AVERAGE
@flags.uncertainty
@flags.OVER
@flags.counting
@flags.in_uncertainty(
    "--null",
    is_flag=True,
    is_everyday=True,
    help="The distribution of agreement by chance, and the p-value of the observed score.",
)
@flags.in_output(
    "--by",
    multiple=True,
    metavar="document|FIELD",
    is_everyday=True,
    help="Break down by document, or by a field such as a round.",
    more="Fields are those of the documents; can be repeated.",
)
@flags.in_output(
    "--order",
    type=flags.NAMES,
    metavar="VALUE,...",
    help="The values of the field of --by from the first to the last, to test for a trend over it; "
    "numbers, dates such as 2024-05-31, and names that differ in a whole number need none.",
)
@flags.in_scoring(
    "--coefficients",
    type=flags.NAMES,
    help="Other coefficients besides ours: 'all', or names such as alpha,gamma,kappa.",
)
@flags.GAMMA
@flags.in_output(
    "--sensitivity", is_flag=True, help="The score under every measure, unit and scope."
)
@flags.TOP
@flags.FAIL_UNDER
@flags.METHODS
@flags.output
def command(files: tuple[str, ...], **options: Any) -> int:
    """How much annotators agree beyond chance.

    FILE is one export that holds all annotators, or one file or folder for each annotator; - is
    standard input. A gold standard is compared with one annotator; if there are several, it is
    left out (see 'beyondchance rank').

    \b
    beyondchance agree anna.conll ben.conll
    beyondchance agree export.json --by document --output json
    beyondchance agree spans.csv --labels PER,ORG --fail-under 0.7
    beyondchance agree export.json --confidence 0.95 --null
    """
    flags.check_intervals_wanted(options)
    flags.check_gamma_wanted(options)
    if options["order"] and len(_fields(options["by"])) != 1:
        raise click.UsageError("--order is for one field of the documents; pass --by FIELD once")
    given = streams(files)
    scan = scan_of(given, options)
    with working("reading and scoring", quiet=options["quiet"]) as say:
        if scan is None:
            corpus = load(given, options)
            results = dict(agreement(corpus, **flags.scoring_options(options)).measures)
            split, why_whole = split_of(corpus, options)
        else:
            corpus, found = answers(scan, questions("agreement", options), options, say)
            results = {item.question.scoring["measure"]: agreement_from(item) for item in found}
            split, why_whole = None, [NOT_SPLIT] * (options["measure"] in SPLIT_MEASURES)
        measure, result = next(iter(results.items()))
        variants, notes = _variants(given, corpus, options) if options["sensitivity"] else ([], [])
        trends, untold = _trends(result, options)
        told = (*result.notes, *notes, *why_whole, *untold)
        if scan is not None:
            # A corpus without documents has notes that a report does not look for.
            results[measure] = replace(result, notes=(*corpus.notes, *told))
        asks_documents = scan is None and "document" in options["by"]
        report = agree_report(
            results,
            noted(corpus, told),
            by=tuple(dict.fromkeys(options["by"])),
            difficulty=_difficulty(corpus, options) if asks_documents else None,
            variants=variants,
            others=_coefficients(corpus, options, result.settings.model, say)
            if options["coefficients"]
            else None,
            intervals=flags.if_intervals(options, partial(_intervals, results, options, say)),
            null=_null(corpus, options) if options["null"] else None,
            split=split,
            part_intervals=flags.if_intervals(options, partial(_part_intervals, result, split)),
            trends=trends,
            loss=loss_of(result, corpus, scoring_of(flags.scoring_options(options)))
            if scan is None and options["average"] == "micro"
            else {},
            top=options["top"],
            digits=options["digits"],
        )
    emit(report, **options)
    return exit_code({"the corrected score": result.score}, options)


NOT_SPLIT = Note(
    "agreement is not split into finding and labelling, whose chance depends on all documents at "
    "once"
)


def questions(command: str, options: Mapping[str, Any]) -> list[Question]:
    """A question by the measure asked for, then by the two that are best known."""
    asked = {n: value for n, value in flags.scoring_options(options).items() if value is not None}
    return by_measures(Question(command, None, asked))


def split_of(corpus: Corpus, options: Mapping[str, Any]) -> tuple[Labelling | None, list[Note]]:
    """Finding and labelling, or a note where spans of different labels do not fit the model.

    Neither where labels do not count or are all the same, nor for other measures or averages.
    """
    is_labelled = SCOPES[options["scope"]].labelled and len(corpus.labels) > 1
    is_weighted = options.get("average", "micro") != "micro"
    if not is_labelled or is_weighted or options["measure"] not in SPLIT_MEASURES:
        return None, []
    given = flags.scoring_options(options)
    given.pop("scope")
    try:
        return labelling(corpus, **given), []
    except OverlapError as error:
        note = Note(("no split into finding and labelling: ", *error.text))
        return None, [unquoted(note) if options["no_text"] else note]


def _part_intervals(
    result: Agreement, split: Labelling | None, **resampling: Any
) -> dict[str, Mapping[str, ConfidenceInterval]]:
    """Intervals of both parts and both means, which are over documents only."""
    parts = {} if split is None else {"finding": split.finding, "labelling": split.labelling}
    found = {name: part.intervals(levels=(), **resampling).overall for name, part in parts.items()}
    if resampling["over"] == "documents":
        found |= {by: result.macro(by).intervals(**resampling).overall for by in AVERAGES}
    return found


def exit_code(scores: dict[str, Score], options: dict[str, Any]) -> int:
    """3 if one of the scores is below the bar, or undefined."""
    bar = options["fail_under"]
    code = 0
    for name, score in scores.items():
        if bar is not None and not score.corrected >= bar:
            shown = in_digits(score.corrected, options["digits"])
            finding = f"undefined: {score.reason}" if score.reason else f"{shown}, below {bar}"
            tell(f"{name} is {finding}")
            code = BELOW
    return code


def _difficulty(corpus: Corpus, options: dict[str, Any]) -> Difficulty:
    """The difficulty of the annotators that are compared."""
    shared = replace(without_gold(corpus), gold=None)
    return difficulty(shared, **flags.scoring_options({**options, "average": "micro"}))


def _intervals(
    results: Mapping[str, Agreement],
    options: Mapping[str, Any],
    say: Callable[[str], None],
    **resampling: Any,
) -> dict[str, Intervals]:
    """Intervals of what is shown: by the first measure at every level, by the others overall."""
    (measure, first), *others = results.items()
    is_for_people = (options["output"] or form_of(options["save"])) not in {"json", "csv"}
    shown = shown_levels(first, options["top"] if is_for_people else 0)
    say(f"intervals of {len(shown['pair']):,} pairs and {len(shown['annotator']):,} annotators")
    own = first.intervals(levels=shown, by=_fields(options["by"]), **resampling)
    return {
        measure: own,
        **{name: result.intervals(levels=(), **resampling) for name, result in others},
    }


def _trends(result: Agreement, options: Mapping[str, Any]) -> tuple[list[Trend], list[Note]]:
    """Whether agreement changes over the fields that have an order, and why that is unknown."""
    fields = _fields(options["by"])
    found: list[Trend] = []
    notes: list[Note] = []
    if not fields:
        return found, notes
    from beyondchance.inference.trend import in_order, trend  # noqa: PLC0415 - only for those who ask

    order = options["order"]
    for name in fields:
        if order or in_order(tuple(result.by_field(name))):
            try:
                found.append(trend(result, name, order=order))
            except DataError as error:
                note = Note(("no trend over ", Quote(name), ": ", *error.text))
                notes.append(unquoted(note) if options["no_text"] else note)
    return found, notes


def _fields(by: Sequence[str]) -> list[str]:
    """The fields of documents to break down by."""
    return [name for name in dict.fromkeys(by) if name != "document"]


def _null(corpus: Corpus, options: dict[str, Any]) -> NullDistribution:
    from beyondchance.inference.null import null_distribution  # noqa: PLC0415 - only for those who ask

    resampling = flags.picked(flags.resampling_options(options), ("resamples", "seed"))
    return null_distribution(corpus, **{**flags.picked(options, flags.SCORING), **resampling})


def _coefficients(
    corpus: Corpus, options: dict[str, Any], model: str, say: Callable[[str], None]
) -> Coefficients:
    """Other coefficients; gamma shows its progress."""
    from beyondchance.other_coefficients.coefficients import coefficients  # noqa: PLC0415 - rarely wanted

    names = options["coefficients"]
    return coefficients(
        corpus,
        which="all" if names == ("all",) else names,
        model=model,
        gamma=flags.gamma_parameters(options),
        seed=options["seed"],
        progress=lambda done, total: say(f"gamma, {done:,} of {total:,} samples"),
    )


def _variants(
    given: list[Any], corpus: Corpus, options: dict[str, Any]
) -> tuple[list[Variant], list[Note]]:
    """The score under every measure, unit and scope, and why there is none by some unit.

    The files are read again where the unit differs.
    """
    variants: list[Variant] = []
    notes: list[Note] = []

    refused: set[tuple[str, str]] = set()
    files = (item.item if isinstance(item, Named) else item for item in given)
    paths = [file for file in files if isinstance(file, str)]

    def missing(error: BeyondChanceError, unit: str, *by: str) -> None:
        # Once for each unit, though it is so by several measures.
        if (unit, str(error)) not in refused:
            refused.add((unit, str(error)))
            note = Note((f"no score by {', '.join((unit, *by))}: ", *error.text))
            note = sendable(note, paths)
            notes.append(unquoted(note) if options["no_text"] else note)

    for unit in UNITS:
        try:
            read_by = corpus if unit == corpus.unit else load(given, options, unit=unit)
        except BeyondChanceError as error:
            missing(error, unit)
            continue
        for scope, measure in product(SCOPES, MEASURES):
            try:
                common = flags.picked(options, ("model", "average"))
                result = agreement(read_by, measure=measure, scope=scope, **common)
            except BeyondChanceError as error:
                missing(error, unit, measure, scope)
                continue
            variants.append(Variant(measure=measure, unit=unit, scope=scope, score=result.score))
    return variants, notes
