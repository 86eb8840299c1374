"""``beyondchance agree``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.dates import in_order
from beyondchance.annotations.joining import in_characters, with_whole_documents
from beyondchance.cli import options as flags
from beyondchance.cli.loading import noted
from beyondchance.cli.running import emit, output_form, progress
from beyondchance.cli.scanning import scored
from beyondchance.diagnosis.loss import loss_of
from beyondchance.errors import BeyondChanceError, DataError
from beyondchance.messages import Note, Piece, Quote, pieces
from beyondchance.reporting.commands.agree import Variant, agree_report, shown_levels
from beyondchance.results.agreement import Agreement
from beyondchance.results.averages import AVERAGES
from beyondchance.scoring.answers import without_gold
from beyondchance.scoring.api import agreement, difficulty
from beyondchance.scoring.labelling import SPLIT_MEASURES, labelling
from beyondchance.scoring.options import SCOPES, scoring_of
from beyondchance.tallies import WIDENED

if TYPE_CHECKING:
    from beyondchance.inference.trend import Trend
    from beyondchance.results.intervals import ConfidenceInterval, Intervals


def _fields(options: Mapping[str, Any]) -> list[str]:
    """Return the fields of documents to break down by."""
    return [name for name in dict.fromkeys(options["by"]) if name != "document"]


@flags.command("agree", doing="reading and scoring")
@flags.annotated_files
@flags.scoring
@flags.CHANCE
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
    needs=(
        lambda given: len(_fields(given)) == 1,
        "is for one field of the documents; pass --by FIELD once",
    ),
    help="The values of the field of --by from the first to the last, to test for a trend over it; "
    "numbers, dates such as 2024-05-31, and names that differ in a whole number need none.",
)
@flags.coefficients()
@flags.TOP
@flags.FAIL_UNDER
@flags.METHODS
@flags.output
def command(**options: Any) -> Any:
    """How much annotators agree beyond chance.

    FILE is one export that holds all annotators, or one file or folder for each annotator; - is
    standard input. A gold standard is compared with one annotator; if there are several, it is
    left out (see 'beyondchance rank'). What others reach: docs/background/reference_values.md.

    \b
    beyondchance agree anna.conll ben.conll
    beyondchance agree export.json --by document --output json
    beyondchance agree spans.csv --labels PER,ORG --fail-under 0.7
    beyondchance agree export.json --confidence 0.95 --null
    """
    corpus, results = scored("agreement", options)
    measure, result = next(iter(results.items()))
    is_whole = bool(corpus.documents)
    told = [*result.notes]
    informed = _informed(corpus, results, options) if options["chance"] == "shapes" else []
    parts = scored_parts(corpus, options, told)
    trends = _trends(result, options, told)
    if not is_whole:
        # A corpus without documents has notes that a report does not look for.
        results[measure] = replace(result, notes=tuple(told))
    more: dict[str, Any] = {}
    if options["null"]:
        from beyondchance.inference.null import null_distribution  # noqa: PLC0415 - only for those who ask

        drawn = flags.picked(flags.resampling_options(options), ("resamples", "seed"))
        asked = {**flags.picked(options, flags.SCORING), **drawn}
        more["null"] = null_distribution(corpus, **asked)
    if options["coefficients"]:
        from beyondchance.other_coefficients.coefficients import coefficients  # noqa: PLC0415 - rarely wanted

        names = options["coefficients"]
        more["others"] = coefficients(
            corpus,
            which="all" if names == ("all",) else names,
            model=result.settings.model,
            gamma=options["gamma"],
            seed=options["seed"],
            progress=lambda done, total: progress(f"gamma, {done:,} of {total:,} samples"),
        )
    if is_whole and "document" in options["by"]:
        # Of the annotators that are compared.
        shared = replace(without_gold(corpus), gold=None)
        asked = flags.scoring_options({**options, "average": "micro"})
        more["difficulty"] = difficulty(shared, **asked)
    if is_whole and options["average"] == "micro":
        more["loss"] = loss_of(result, corpus, scoring_of(flags.scoring_options(options)))
    report = agree_report(
        results,
        noted(corpus, told),
        by=tuple(dict.fromkeys(options["by"])),
        variants=informed,
        intervals=flags.if_intervals(options, partial(_intervals, results, options)),
        part_intervals=flags.if_intervals(options, partial(_part_intervals, result, parts)),
        parts=parts,
        trends=trends,
        otherwise={} if output_form() == "csv" else scored_otherwise(corpus, options),
        top=options["top"],
        digits=options["digits"],
        **more,
    )
    return partial(emit, report, {"the corrected score": result.score})


@contextmanager
def _telling(
    told: list[Note], *what: Piece, kind: type[BeyondChanceError] = DataError
) -> Iterator[None]:
    """Tell why there is no such result, in the place of an error of a kind."""
    try:
        yield
    except kind as error:
        told.append(Note((*what, ": ", *pieces(error.text))))


def scored_parts(
    corpus: Corpus, options: Mapping[str, Any], told: list[Note]
) -> dict[str, Agreement]:
    """Score finding and labelling, and what two or a usual team support; or tell why not.

    Labels are no part where they do not count or are all the same.
    """
    if options["average"] != "micro" or options["measure"] not in SPLIT_MEASURES:
        return {}
    asked, found = flags.scoring_options(options), dict[str, Agreement]()
    if SCOPES[asked.pop("scope", "label")].labelled and len(corpus.labels) > 1:
        with _telling(told, "no split into finding and labelling"):
            if not corpus.documents:
                raise DataError("its chance depends on all documents at once")
            found |= labelling(corpus, **asked).parts
    teams = np.bincount(without_gold(corpus).annotation_document)
    usual = int(np.median(teams)) if len(teams) else 0
    # Options that do not go with it were not passed for it.
    with _telling(told, "no share that several support", kind=BeyondChanceError):
        for fewest in (2, usual) if usual > 2 else ():
            asked = flags.scoring_options(options)
            found[f"supported {fewest}"] = agreement(corpus, support=fewest, **asked)
    return found


def scored_otherwise(corpus: Corpus, options: Mapping[str, Any]) -> dict[str, float]:
    """Score by document instead of sentence, and by characters instead of tokens."""
    variants: dict[str, Callable[[Corpus], Corpus]] = {}
    if corpus.unit == "sentence" and len(corpus.text_length) > len(corpus.documents) > 1:
        variants["document"] = with_whole_documents
    # Spans that cut tokens, motifs, and quotes that are not in their texts are known in tokens.
    is_cut = WIDENED in corpus.skipped or corpus.span_motif is not None
    are_places = not is_cut and not len(corpus.missing_text)
    if corpus.positions == "tokens" and corpus.knows_characters and are_places:
        variants["characters"] = in_characters
    found = {}
    for name, changed in variants.items():
        with suppress(BeyondChanceError):
            score = agreement(changed(corpus), **flags.scoring_options(options)).score
            found[name] = score.corrected
    return found


def _part_intervals(
    result: Agreement, parts: Mapping[str, Agreement], **resampling: Any
) -> dict[str, Mapping[str, ConfidenceInterval]]:
    """Compute intervals of parts; of teams and of both means over documents only."""
    by_documents = resampling["over"] == "documents"
    found = {
        name: part.intervals(levels=(), **resampling).overall
        for name, part in parts.items()
        if by_documents or not part.settings.support
    }
    if by_documents:
        found |= {by: result.macro(by).intervals(**resampling).overall for by in AVERAGES}
    return found


def _intervals(
    results: Mapping[str, Agreement], options: Mapping[str, Any], **resampling: Any
) -> dict[str, Intervals]:
    """Compute intervals of what is shown: by the first measure at every level, else overall."""
    first = next(iter(results.values()))
    is_for_people = output_form() not in {"json", "csv"}
    shown = shown_levels(first, options["top"] if is_for_people else 0)
    progress(
        f"intervals of {len(shown['pair']):,} pairs and {len(shown['annotator']):,} annotators"
    )
    of_first = {"levels": shown, "by": _fields(options)}
    return {
        name: result.intervals(**(of_first if result is first else {"levels": ()}), **resampling)
        for name, result in results.items()
    }


def _trends(result: Agreement, options: Mapping[str, Any], told: list[Note]) -> list[Trend]:
    """Test whether agreement changes over the fields that have an order, or tell why not."""
    found = []
    for name in _fields(options):
        from beyondchance.inference.trend import trend  # noqa: PLC0415 - only for those who ask

        order = options["order"]
        if order or in_order(tuple(result.by_field(name))):
            with _telling(told, "no trend over ", Quote(name)):
                found.append(trend(result, name, order=order))
    return found


def _informed(
    corpus: Corpus, results: Mapping[str, Agreement], options: dict[str, Any]
) -> list[Variant]:
    """Score against chance that sees the shapes of words, by the same measures."""
    asked = {**flags.scoring_options(options), "chance": "shapes"}
    return [
        Variant(
            **{name: getattr(result.settings, name) for name in ("unit", "scope")},
            measure=measure,
            chance_by="shapes",
            score=agreement(corpus, **{**asked, "measure": measure}).score,
        )
        for measure, result in results.items()
    ]
