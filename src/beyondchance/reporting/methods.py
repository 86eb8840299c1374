"""The methods paragraph of a paper, from a result and its settings: a template for each command.

It says what was compared and how, with all numbers, and claims nothing that was not computed.
Annotators are counted, not named; names of systems that are e-mail addresses or paths are left
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from math import isnan
from typing import TYPE_CHECKING, Any

from beyondchance.checks import checked_option
from beyondchance.messages import pieces
from beyondchance.numbers import in_digits, p_is
from beyondchance.reporting.blocks import Report, counted, in_list
from beyondchance.reporting.citations import PAPER, SOFTWARE
from beyondchance.reporting.paragraphs import FORMS, Citation, Code, Formula, Paragraph, Sentence
from beyondchance.reporting.rendering import rendered
from beyondchance.reporting.sentences import (
    by_measure,
    counted_units,
    how_tested,
    percent,
    texts_of,
    units_of,
)
from beyondchance.results.resampling import SCORES
from beyondchance.results.score import NO_FREEDOM, Score
from beyondchance.scoring.corpus_wide import BY_FUGACITIES
from beyondchance.scoring.options import CROSSING, INSIDE, SCOPES, model_named, words_of
from beyondchance.tallies import DOCUMENTS, Fate, by_fate

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.inference.standings import Standings
    from beyondchance.results.agreement import Agreement
    from beyondchance.results.counts import Counts
    from beyondchance.results.difficulty import Difficulty
    from beyondchance.results.intervals import ConfidenceInterval, Intervals
    from beyondchance.results.ranking import Ranking
    from beyondchance.settings import Settings

_SCORING = """; spans are sequences of {positions}.
Agreement is the F1 score{matches}; counts are added over {added}.
Chance agreement, {chance}.
"""
_END = """
{intervals}
{tests}
{prepared}
All values were computed with beyondchance {version} {software}; their signature is {signature}."""
_CORRECTED = f"{_SCORING}Corrected agreement, {{correction}}, is {{values}}.{_END}"
_AMONG = (
    "Agreement was computed {who}, who marked {spans} in the {texts} that {shared}" + _CORRECTED
)
_AGAINST_GOLD = f"A gold standard of {{spans}} in {{texts}} was compared with {{who}}{_CORRECTED}"
_DIFFICULTY = (
    f"Difficulty was computed for {{who}} {{spans}} in {{texts}}{_SCORING}"
    f"Difficulty, which is 1 minus chance agreement, is {{values}}.{_END}"
)
_CHANCE = (
    "{computed}, is the F1 score expected of {random} with the same number and lengths of spans "
    "{where} {paper}: {rules}, and {probable}"
)
_EQUALLY = "all such arrangements are equally probable"
_BY_SHAPES = (
    "the probability of an arrangement is proportional to the product of the odds, counted in "
    "other documents of the same annotator, that words of the shapes that it covers (punctuation, "
    "digits, upper case, capitalised at the start of the text or elsewhere, lower case) lie in "
    "spans of the label"
)
_PROBABLE = {
    "None": _EQUALLY,
    "shapes": _BY_SHAPES,
    "weights": "the probability of an arrangement is proportional to the product of the weights of "
    "the tokens that it covers",
}
_PERMUTED = (
    "computed exactly, is the one expected if the labels of each annotator are permuted over all "
    "places that both annotators of a pair marked"
)
_CORRECTION = Formula(
    "(observed − chance) / (1 − chance)",  # noqa: RUF001 - minus signs
    r"(\mathit{observed} - \mathit{chance}) / (1 - \mathit{chance})",
)
_SET = "annotation set"
"""What is compared with a gold standard: the work of a person or of a system."""
_POSITIONS = {"tokens": "token", "characters": "character", "frames": "time frame"}
_TOKENISED = {
    "file": ", as tokenised in the data",
    "words": ", which are words and single other characters",
    "whitespace": ", which are separated by white space",
}
_INTERVALS = {
    "expanded": "Student's t distribution on the scale of log odds, with a jackknife standard "
    "error over {units} and Satterthwaite's degrees of freedom",
    "bca": "the bias-corrected and accelerated (BCa) bootstrap, with {drawn}",
    "percentile": "percentiles of the bootstrap, with {drawn}",
}
_REPAIRED = {"conlleval": "repaired as conlleval does", "discard": "discarded"}
_NEVER_COUNTED = (Fate.KEPT, Fate.NOT_ANNOTATED, Fate.UNMARKED, Fate.NO_SPAN, Fate.NOT_READ)


def methods_of_agreement(
    *results: Agreement,
    intervals: Sequence[Intervals] = (),
    null: NullDistribution | None = None,
    settings: Settings | None = None,
    digits: int = 3,
) -> Paragraph:
    """Write how an agreement was computed, with its numbers.

    Parameters
    ----------
    *results : Agreement
        By one measure or several.
    intervals : sequence of Intervals
        Of these results.
    null : NullDistribution, optional
        Of the first result.
    settings : Settings, optional
        Whose signature is given, where more was computed than the result and its intervals.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> from beyondchance import agreement, example
    >>> paragraph = methods_of_agreement(agreement(example()), digits=2)
    >>> str(paragraph).partition(";")[0]
    'Agreement was computed among 3 annotators (3 pairs), who marked 214 spans with 3 labels \
in the 46 sentences of 12 documents that at least two of them annotated'
    >>> paragraph.keys
    ('li-etal-2024-estimating', 'beyondchance')
    """
    counts, gold = results[0].counts, results[0].settings.gold
    # An annotator who shares no document with another was not compared.
    n, n_pairs = len({*counts.pairs.ravel().tolist()}), counts.pairs.shape[1]
    template, who, shared = (
        _AMONG,
        f"among {n} annotators ({n_pairs:,} pairs)",
        "at least two of them",
    )
    if n == 2:
        who, shared = "between 2 annotators", "both"
    if gold in counts.annotators:
        template, who, gold = _AGAINST_GOLD, counted(n - 1, "annotator"), None
    return _paragraph(
        template,
        results,
        counts,
        settings or (intervals or results)[0].settings,
        scores=[{"": item.score} for item in results],
        ends=[{"": item.overall["corrected"]} for item in intervals],
        digits=digits,
        who=who,
        shared=f"{shared} annotated{'; a gold standard was not compared' if gold else ''}",
        tests=_random(null, digits),
    )


def methods_of_ranking(
    *rankings: Ranking, standings: Sequence[Standings] = (), digits: int = 3
) -> Paragraph:
    """Write how systems were ranked, with its numbers.

    Parameters
    ----------
    *rankings : Ranking
        By one measure or several.
    standings : sequence of Standings
        Of these rankings.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> from beyondchance import example, rank
    >>> str(methods_of_ranking(rank(example(), gold="ada"))).partition(";")[0]
    'A gold standard of 76 spans with 3 labels in 46 sentences of 12 documents was compared with \
2 annotation sets'
    """
    systems, n_documents = [*rankings[0].systems.values()], rankings[0].extent.n_documents
    n_fewer = sum(item.counts.n_compared < n_documents for item in systems)
    fewer = f" ({n_fewer:,} of them with fewer documents)" if n_fewer else ""
    return _paragraph(
        _AGAINST_GOLD,
        rankings,
        max((item.counts for item in systems), key=lambda counts: counts.n_compared),
        (standings or rankings)[0].settings,
        scores=[{name: x.score for name, x in item.systems.items()} for item in rankings],
        ends=[{name: x["corrected"] for name, x in item.intervals.items()} for item in standings],
        digits=digits,
        who=f"{counted(len(systems), _SET)}{fewer}",
        tests=_tests(standings[0], digits) if standings else (),
    )


def methods_of_difficulty(
    result: Difficulty, intervals: Intervals | None = None, *, digits: int = 3
) -> Paragraph:
    """Write how a difficulty was computed, with its numbers.

    Parameters
    ----------
    result : Difficulty
    intervals : Intervals, optional
        Of the result.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> from beyondchance import difficulty, example
    >>> str(methods_of_difficulty(difficulty(example(), gold="ada"))).partition(";")[0]
    'Difficulty was computed for a gold standard of 76 spans with 3 labels in 46 sentences \
of 12 documents'
    """
    who = f"{counted(len(result.counts.annotators), 'annotator')}, who marked"
    random = "random annotators, over all ordered pairs, each with itself included,"
    if result.settings.gold:
        who, random = "a gold standard of", "two random annotators"
    interval = None if intervals is None else intervals.overall["difficulty"]
    error = f"standard error {in_digits(result.error, digits)}" if result.error else ""
    return _paragraph(
        _DIFFICULTY,
        [result],
        result.counts,
        (intervals or result).settings,
        ends=[{"": interval}] if interval else [],
        digits=digits,
        who=who,
        random=random,
        values=_shown(result.overall, "nothing was marked", [error], interval, digits),
    )


def rendered_methods(report: Report, output: str, *, digits: int = 3, **given: Any) -> str:
    """Render the methods paragraph of a report; JSON has it next to the result.

    Parameters
    ----------
    report : Report
        Of a command that has such a paragraph.
    output : {"text", "markdown", "latex", "json"}
    digits : int
        Digits after the point.
    **given
        Passed on to `rendered`, for JSON.

    Raises
    ------
    OptionError
        For an output without room for sentences.
    """
    name = checked_option("output", output, (*FORMS, "json"))
    paragraph = report.make_methods(digits)
    if name != "json":
        return paragraph.with_keys(name)
    both = replace(report, make_data=lambda: {**report.make_data(), "methods": str(paragraph)})
    return rendered(both, name, **given)


def _paragraph(
    template: str,
    results: Sequence[Agreement | Ranking | Difficulty],
    counts: Counts,
    signed: Settings,
    *,
    scores: Sequence[Mapping[str, Score]] = (),
    ends: Sequence[Mapping[str, ConfidenceInterval]],
    digits: int,
    **said: str | Sentence,
) -> Paragraph:
    """Fill a template with what all results have.

    Parameters
    ----------
    template : str
    results : sequence of Agreement, Ranking or Difficulty
        By each measure.
    counts : Counts
        Of the first, or of the system that has most documents.
    signed : Settings
        Whose signature is given.
    scores, ends : sequences of mappings
        The scores and their intervals by each measure, by the names of systems.
    digits : int
    **said
        What else there is in the template.
    """
    first, measures = results[0], [item.settings for item in results]
    own, model = measures[0], model_named(measures[0].model)
    computed = "computed exactly"
    if own.samples:
        drawn = f"{own.samples:,} random arrangements of each {own.unit}{_seed(own)}"
        computed = f"estimated from {drawn} where no formula gives it"
    elif BY_FUGACITIES in first.notes:
        computed = (
            "computed by an approximation with fugacities (with a relative error of about 1 "
            "divided by the number of spans, or less)"
        )
    noted = {piece for note in first.notes for piece in pieces(note.text)}
    rules = model.definition
    if own.model == "auto":
        rules = tuple(compress(rules, (True, INSIDE in noted, CROSSING in noted)))
    if not model.is_independent and own.scope in SCOPES:
        rules = (SCOPES[own.scope].placed, *rules)
    is_corpus = own.unit == "corpus"
    each = zip(measures, scores, ends or [{}] * len(scores), strict=False)
    known = {
        "spans": _spans(counts, own),
        "texts": texts_of(first.extent, "of"),
        "positions": _positions(own),
        "matches": _matches(measures),
        "added": _added(own, counts),
        "computed": computed,
        "random": "random annotators",
        "where": "anywhere in the texts that are compared" if is_corpus else f"in each {own.unit}",
        "paper": Citation(PAPER),
        "rules": ", ".join(rules),
        "probable": _PROBABLE[str(own.chance).partition("-")[0]],
        "correction": _CORRECTION,
        "values": "; ".join(_values(*given, digits) for given in each),
        "intervals": _intervals([end for found in ends for end in found.values()], signed),
        "tests": "",
        "prepared": _prepared(first.skipped, first.extent.noun, own),
        "version": signed.version,
        "software": Citation(SOFTWARE),
        "signature": Code(str(_without_addresses(signed))),
    }
    said_chance = _PERMUTED if own.scope == "found" else _CHANCE
    return Paragraph.of(template.replace("{chance}", said_chance), **known | said)


# --- What was compared, and how -----------------------------------------------


def _spans(counts: Counts, settings: Settings) -> str:
    """Say how many spans with how many labels were marked, by the gold standard if there is one."""
    gold = settings.gold
    marked = {label: score.n_spans for label, score in counts.by_label().items()}
    if gold in counts.annotators:
        marked = counts.spans_by_label(gold)
    spans = counted(sum(marked.values()), "span")
    if settings.scope == "unlabelled":
        return spans
    return f"{spans} with {counted(sum(map(bool, marked.values())), 'label')}"


def _positions(settings: Settings) -> str:
    """Say what spans are made of, and which labels were kept."""
    how = _TOKENISED.get(settings.tokens, "") if settings.positions == "tokens" else ""
    if settings.positions == "frames" and settings.grid:
        how = f" of {settings.grid}"
    kept = f"; only the labels {in_list(settings.labels)} counted" if settings.labels else ""
    return f"{_POSITIONS[settings.positions]}s{how}{kept}"


def _matches(measures: Sequence[Settings]) -> str:
    """Define a match by each of the measures."""
    scope, defined = measures[0].scope, {}
    for item in measures:
        known = {**item.to_dict(), "position": _POSITIONS[item.positions]}
        defined[_by(item)] = words_of(item.measure)[1].format(**known)
    if scope == "found":
        what, places = measures[0].field, in_list([*defined.values()])
        return f" of {what or 'labels'}, where a match is the same {what or 'label'} at {places}"
    labels = "labels are ignored" if scope == "unlabelled" else "labels must be equal"
    said = in_list([f"{definition} ({name})" for name, definition in defined.items()], word="or")
    return f", where a match is {said}; {labels}"


def _added(settings: Settings, counts: Counts) -> str:
    """Say what counts are added over, and how they are weighted."""
    over = ["texts" if settings.unit == "corpus" else f"{settings.unit}s"]
    over += ["labels"] if settings.scope in {"label", "joint"} else []
    one, other = counts.pairs
    # In tables of difficulty, pairs are part of what chance is.
    if len(one) > 1 and not (one == other).any():
        over.append("annotators" if settings.pairs == "gold" else "pairs of annotators")
    average = "micro average"
    if settings.average == "annotation":
        average = "each pair of a document with v annotators weighted by 1/(v - 1)"
    return f"{in_list(over)} before the division ({average})"


def _by(settings: Settings) -> str:
    return by_measure(settings.custom or settings.measure, settings.positions)


# --- Numbers ------------------------------------------------------------------


def _values(
    settings: Settings,
    scores: Mapping[str, Score],
    ends: Mapping[str, ConfidenceInterval],
    digits: int,
) -> str:
    """Write the lowest and the highest of the scores by a measure, or a single one."""
    order = [name for name, score in scores.items() if not isnan(score.corrected)] or [*scores]
    order.sort(key=lambda name: scores[name].corrected)
    values = []
    for name in dict.fromkeys((order[0], order[-1])):
        score = scores[name]
        parts = ["" if {*name} & {*"@/\\"} or not name.isprintable() else name]
        if not isnan(score.observed):
            parts += [f"{key} {_number(getattr(score, key), digits)}" for key in SCORES[:2]]
        if score.error:
            parts[-1] += f" with standard error {_number(score.chance_error, digits)}"
        why = (
            "every random placement scores the same" if score.reason == NO_FREEDOM else score.reason
        )
        values.append(_shown(score.corrected, why, parts, ends.get(name), digits))
    n_undefined = len(scores) - len(order)
    undefined = f" (undefined for {counted(n_undefined, _SET)})" if n_undefined else ""
    return f"{' to '.join(values)} by {_by(settings)}{undefined}"


def _shown(
    value: float,
    why: str | None,
    parts: Sequence[str],
    interval: ConfidenceInterval | None,
    digits: int,
) -> str:
    """Write a number, or why it is undefined, with parts and its interval, if there are any."""
    shown = f"undefined, because {why}" if isnan(value) else _number(value, digits)
    if interval is not None and interval.reason is None:
        low, high = (_number(end, digits) for end in interval)
        parts = [*parts, f"confidence interval from {low} to {high}"]
    said = "; ".join(filter(None, parts))
    return f"{shown} ({said})" if said else shown


def _number(value: float, digits: int) -> str:
    return in_digits(value, digits).replace("-", "−")  # noqa: RUF001 - a minus


# --- Intervals and tests ------------------------------------------------------


def _intervals(found: Sequence[ConfidenceInterval], settings: Settings) -> str:
    """Say how intervals were made, and what to know of them."""
    if not found:
        return ""
    made = [interval for interval in found if interval.reason is None]
    if not made:
        return f"No {percent(settings)} confidence interval could be computed."
    units = units_of(made[0])
    if any(interval.units != made[0].units for interval in made):
        units = f"the {made[0].over} of each {_SET}"
    elif made[0].over == "sentences":
        units += " (each taken as a document)"
    drawn = _drawn(settings, f"resamples of {units}")
    how = _INTERVALS[settings.interval_method].format(units=units, drawn=drawn)
    missing = f"; {len(found) - len(made):,} could not be computed" if found != made else ""
    cautious = [interval for interval in made if interval.caution]
    caution = ""
    if cautious:
        weakest = min(cautious, key=lambda interval: interval.effective)
        known = counted_units(round(weakest.effective), weakest.over)
        caution = f"; the width of some is known only about as well as from {known}"
    return f"Confidence intervals of {percent(settings)} come from {how}{missing}{caution}."


def _random(null: NullDistribution | None, digits: int) -> Sentence:
    """Write the test against chance."""
    if null is None or null.reason is not None:
        return ()
    return (
        "Under the chance model, agreement at least as high as observed has ",
        _p(null.p_value, digits),
        f", from {_drawn(null.settings, 'random annotations')}.",
    )


def _tests(standings: Standings, digits: int) -> Sentence:
    """Say how systems were compared with each other, and how many differ."""
    settings, n_pairs = standings.settings, len(standings.pairs)
    if not n_pairs:
        return ()
    head = (
        f"The {_SET}s were compared in {standings.score} agreement by {_by(settings)}, by a paired "
        f"{standings.test} test, {how_tested(standings)}{_seed(settings)}"
    )
    p_values = [p for p in standings.adjusted.values() if not isnan(p)]
    n_apart = sum(p <= 1 - settings.confidence for p in p_values)
    level = f"significantly at the level of {1 - settings.confidence:.10g}"
    if n_pairs == len(p_values) == 1:
        differ = "differ" if n_apart else "do not differ"
        return (f"{head}; they {differ} {level} (", _p(p_values[0], digits), ").")
    adjusted = f"adjusted by Holm's method for {counted(len(p_values), 'pair')}"
    return (f"{head}; with p-values {adjusted}, {n_apart:,} of {n_pairs:,} differ {level}.",)


def _p(value: float, digits: int) -> Formula:
    shown = p_is(value, digits)
    return Formula(shown, shown)


def _drawn(settings: Settings, what: str) -> str:
    """Say how many of something were drawn, with the random seed."""
    return f"{settings.resamples or 0:,} {what}{_seed(settings)}"


def _seed(settings: Settings) -> str:
    return "" if settings.seed is None else f" (seed {settings.seed})"


# --- The rest -----------------------------------------------------------------


def _prepared(skipped: Mapping[str, int], noun: str, settings: Settings) -> str:
    """Say what was changed or left out; not what never counted; documents by their noun."""
    by = f"repaired by {settings.repair}"
    parts = [
        f"{what.replace(DOCUMENTS, f'{noun}s').replace(by, _REPAIRED.get(settings.repair, by))} "
        f"({n:,})"
        for fate, found in by_fate(skipped).items()
        if fate not in _NEVER_COUNTED
        for what, n in found.items()
    ]
    return f"On reading, these were changed or left out: {'; '.join(parts)}." if parts else ""


def _without_addresses(settings: Settings) -> Settings:
    """Return the settings without the e-mail addresses of people, as with pseudonyms."""
    gold, annotators = settings.gold, settings.annotators
    if gold is not None and "@" in gold:
        gold = "gold"
    if annotators is not None:
        annotators = tuple(
            f"annotator {i}" if "@" in name else name for i, name in enumerate(annotators, start=1)
        )
    return settings.replaced(gold=gold, annotators=annotators)
