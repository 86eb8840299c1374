"""The sentences of a methods paragraph, each from results and settings.

Annotators are counted, not named; names of systems that are e-mail addresses or paths are left
out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import counted, in_list
from beyondchance.reporting.citations import PAPER, SOFTWARE
from beyondchance.reporting.columns import interval_heading
from beyondchance.reporting.commands import rank
from beyondchance.reporting.paragraphs import Citation, Code, Formula, Sentence
from beyondchance.reporting.sentences import counted_units, texts_of, units_of
from beyondchance.results.intervals import FEW, FEW_ANNOTATORS
from beyondchance.results.score import EXCEEDED, NO_FREEDOM, NO_ROOM, NOTHING_MARKED, PART, Score
from beyondchance.scoring.corpus_wide import BY_FUGACITIES
from beyondchance.tallies import DOCUMENTS, Fate, by_fate

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.inference.standings import Standings
    from beyondchance.messages import Note
    from beyondchance.results.agreement import Agreement
    from beyondchance.results.counts import Counts
    from beyondchance.results.difficulty import Difficulty
    from beyondchance.results.intervals import ConfidenceInterval
    from beyondchance.results.ranking import Ranking
    from beyondchance.settings import Settings

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
"""Small numbers as words."""
_CORRECTION = Formula(
    "(observed − chance) / (1 − chance)",  # noqa: RUF001 - minus signs
    r"(\mathit{observed} - \mathit{chance}) / (1 - \mathit{chance})",
)
_WHY_UNDEFINED = {
    NOTHING_MARKED: "nothing was marked",
    NO_ROOM: "chance agreement is 1",
    PART: "chance agreement is known for the whole corpus only",
    EXCEEDED: "the measure counts more than the sizes that it gives to spans",
    NO_FREEDOM: "all random arrangements match as much",
}
"""What a paper says in place of a reason, which may also give advice."""
_SET = "annotation set"
"""What is compared with a gold standard: the work of a person or of a system."""
_POSITIONS = {"tokens": "token", "characters": "character", "frames": "time frame"}
_TEXTS = {"sentence": "sentence", "document": "document", "corpus": "text"}
"""What random spans are placed in, by the unit."""
_TOKENISED = {
    "file": "as tokenised in the data",
    "words": "which are words and single other characters",
    "whitespace": "which are separated by white space",
}
_STUDENT = (
    "Student's t distribution on the scale of log odds, with a jackknife standard error over "
    "{units} and Satterthwaite's degrees of freedom"
)
_BOOTSTRAP = {
    "bca": "the bias-corrected and accelerated (BCa) bootstrap",
    "percentile": "percentiles of the bootstrap",
}


# --- What was compared --------------------------------------------------------


def compared(result: Agreement) -> str:
    """Who was compared, on what."""
    counts, settings, gold = result.counts, result.settings, result.settings.gold
    # An annotator who shares no document with another was not compared.
    n, n_pairs = len({*counts.pairs.ravel().tolist()}), counts.pairs.shape[1]
    texts, spans = texts_of(result.extent, "of"), _spans(result.n_spans, settings, counts)
    if gold in counts.annotators:
        who = "annotator" if n == 2 else "annotators"
        return (
            f"Agreement with a gold standard was computed for {_in_words(n - 1, 'annotator')}; "
            f"together, {who} and gold standard have {spans} in {texts}{_positions(settings)}."
        )
    who = f"among {_in_words(n, 'annotator')} ({counted(n_pairs, 'pair')})"
    shared = "at least two of them annotated"
    if n == 2:
        who, shared = "between two annotators", "both annotated"
    left_out = "; a gold standard was not compared" if gold else ""
    return (
        f"Agreement was computed {who}, who marked {spans} in the {texts} that {shared}{left_out}"
        f"{_positions(settings)}."
    )


def ranked(ranking: Ranking) -> str:
    """Which systems were compared with the gold standard, on what."""
    settings, systems = ranking.settings, list(ranking.systems.values())
    extent, n = ranking.extent, len(systems)
    spans = _spans(rank.n_spans_of(ranking), settings, *(system.counts for system in systems))
    n_fewer = sum(system.counts.n_compared < extent.n_documents for system in systems)
    fewer = f"; {_in_words(n_fewer, _SET)} {_have(n_fewer)} only some of them"
    were, who = ("was", _SET) if n == 1 else ("were", f"{_SET}s")
    return (
        f"{_capital(_in_words(n, _SET))} {were} compared with a gold standard; together, {who} "
        f"and gold standard have {spans} in {texts_of(extent, 'of')}{fewer if n_fewer else ''}"
        f"{_positions(settings)}."
    )


def with_difficulty(result: Difficulty) -> str:
    """Whose spans have a difficulty, and where they are."""
    counts, settings = result.counts, result.settings
    n = len({*counts.pairs.ravel().tolist()})
    who = "a gold standard of" if settings.gold else f"{_in_words(n, 'annotator')}, who marked"
    spans = _spans(counts.score().n_spans, settings, counts)
    texts = texts_of(result.extent, "of")
    return f"Difficulty was computed for {who} {spans} in {texts}{_positions(settings)}."


def _spans(n_spans: int, settings: Settings, *counts: Counts) -> str:
    """How many spans with how many labels, where labels count."""
    if not n_spans:
        return "no spans"
    spans = counted(n_spans, "span")
    if settings.scope == "unlabelled":
        return spans
    labels = {
        label for table in counts for label, score in table.by_label().items() if score.n_spans
    }
    return f"{spans} with {counted(len(labels), 'label')}"


def _positions(settings: Settings) -> str:
    """What spans are made of, to end a sentence with."""
    noun = _POSITIONS[settings.positions]
    how = ""
    if settings.positions == "tokens" and settings.tokens in _TOKENISED:
        how = f", {_TOKENISED[settings.tokens]}"
    if settings.positions == "frames" and settings.grid:
        how = f" of {settings.grid}"
    labels, only = settings.labels or (), ""
    if labels:
        were = "label {} was" if len(labels) == 1 else "labels {} were"
        only = f"; only the {were.format(in_list(labels))} considered"
    return f"{only}; spans are sequences of {noun}s{how}"


# --- How it was scored --------------------------------------------------------


def measure(settings: Settings, counts: Counts) -> str:
    """What matches, and what is added up."""
    position = _POSITIONS[settings.positions]
    is_labelled = settings.scope != "unlabelled"
    equal = "with the same label " if is_labelled else ""
    ends = "start, end and label" if is_labelled else "start and end"
    if settings.scope == "found":
        place = f"{position} that both marked" if settings.measure == "token" else "span of both"
        what = f"labels, where a match is the same label in both annotations at a {place}"
    else:
        what = {
            "token": f"{position}s, where a match is a {position} that is marked {equal}in both "
            "annotations",
            "exact": f"spans, where a match is a span that has the same {ends} in both annotations",
            "boundary": "boundaries of spans, where a match is a start or an end that spans "
            f"{equal}have in both annotations",
            "dice": f"spans, where two spans {equal}match to the degree of the Dice coefficient of "
            f"their {position}s",
            "iou": f"spans, where two spans {equal}match, one to one, if they share more than "
            f"{settings.theta} of the {position}s that they cover together",
            "custom": f"spans by the custom measure '{settings.custom}'",
        }[settings.measure]
    ignored = "" if is_labelled else "; labels are ignored"
    added = f"; counts are added over {in_list(_added(counts, settings))} before the division"
    average = (
        "each pair of a document with v annotators weighted by 1/(v - 1)"
        if settings.average == "annotation"
        else "micro average"
    )
    return f"Agreement is the F1 score of {what}{ignored}{added} ({average})."


def _added(counts: Counts, settings: Settings) -> list[str]:
    """What counts are added over."""
    labels = ["labels"] if settings.scope not in {"unlabelled", "found"} else []
    one, other = counts.pairs
    # In tables of difficulty, pairs are part of what chance is.
    is_team = len(one) > 1 and not (one == other).any()
    pairs = "annotators" if settings.pairs == "gold" else "pairs of annotators"
    return [f"{_TEXTS[settings.unit]}s", *labels, *([pairs] if is_team else [])]


def chance(
    settings: Settings,
    notes: Collection[Note],
    *,
    is_estimated: bool,
    of: str = "random annotators",
    over: str = "",
) -> str | Sentence:
    """What chance is, and how it was computed.

    Parameters
    ----------
    settings : Settings
    notes : collection of Note
        Of the result.
    is_estimated : bool
        Whether it was estimated from random arrangements, at least in some texts.
    of, over : str
        Whose agreement it is, and what it is averaged over.
    """
    if settings.scope == "found":
        return (
            "Chance agreement, computed exactly, is the one expected if the labels of each "
            "annotator are permuted over all places that both annotators of a pair marked."
        )
    unit = settings.unit
    where = "anywhere in the texts that are compared" if unit == "corpus" else f"in each {unit}"
    together = {
        "label": "the spans of each label are placed separately",
        "joint": "the spans of all labels are placed together",
        "unlabelled": "all spans are placed together",
    }[settings.scope]
    inside = "spans inside another stay inside it"
    arranged = {
        "disjoint": f"{together}, and all arrangements without overlap are equally probable",
        "nested": f"{together}, {inside}, all others do not overlap, and all such arrangements are "
        "equally probable",
        "overlapping": "each span is placed independently of the others, with equal probability "
        "wherever it fits",
        "auto": f"{together}, spans that are apart stay apart, {inside}, spans that cross move "
        "together, and all such arrangements are equally probable",
    }["disjoint" if unit == "corpus" else settings.model]
    expected = f"the F1 score expected of {of} with the same number and lengths of spans {where}"
    computed = _computed(settings, notes, is_estimated=is_estimated)
    return (
        f"Chance agreement{computed} is {expected} ",
        Citation(PAPER),
        f"{over}: {arranged}.",
    )


def _computed(settings: Settings, notes: Collection[Note], *, is_estimated: bool) -> str:
    """How chance was computed, between commas."""
    if is_estimated:
        drawn = f"{settings.samples:,} random arrangements of each {_TEXTS[settings.unit]}"
        return f", estimated from {drawn}{_seed(settings)}, where no formula gives it,"
    if BY_FUGACITIES in notes:
        return (
            ", computed by an approximation with fugacities (with a relative error of about 1 "
            "divided by the number of spans, or less),"
        )
    return ", computed exactly,"


# --- Numbers ------------------------------------------------------------------


def values(
    score: Score, interval: ConfidenceInterval | None, settings: Settings, digits: int
) -> Sentence:
    """Observed, chance and corrected agreement."""
    if score.reason == NOTHING_MARKED:
        return (
            "Nothing was marked, so that observed, chance and corrected agreement, ",
            _CORRECTION,
            ", are undefined.",
        )
    observed, chance, corrected = (
        _number(value, digits) for value in (score.observed, score.chance, score.corrected)
    )
    error = f" (standard error {_number(score.chance_error, digits)})" if score.error else ""
    why = _WHY_UNDEFINED.get(score.reason or "")
    both = f"Observed agreement is {observed}, chance agreement is {chance}{error}"
    because = f", because {why}" if why else ""
    return (
        f"{both}, and corrected agreement, ",
        _CORRECTION,
        f", is {corrected}{because}{_ends(interval, settings, digits)}.",
    )


def difficulty(
    result: Difficulty, interval: ConfidenceInterval | None, settings: Settings, digits: int
) -> str:
    """The difficulty."""
    value = "undefined, because nothing was marked"
    if not isnan(result.overall):
        error = f" (standard error {_number(result.error, digits)})" if result.error else ""
        value = f"{_number(result.overall, digits)}{error}{_ends(interval, settings, digits)}"
    return f"Difficulty, which is 1 minus chance agreement, is {value}."


def ranked_values(
    ranking: Ranking,
    intervals: Mapping[str, ConfidenceInterval],
    settings: Settings,
    digits: int,
) -> Sentence:
    """The lowest and the highest score of several systems, or those of a single one."""
    if len(ranking.systems) == 1:
        ((name, system),) = ranking.systems.items()
        return values(system.score, intervals.get(name), settings, digits)
    defined = {n: item.score for n, item in ranking.systems.items() if not isnan(item.corrected)}
    n_undefined = len(ranking.systems) - len(defined)
    head: Sentence = "Corrected agreement with the gold standard, ", _CORRECTION, ", "
    if not defined:
        return (*head, f"is undefined for all {_SET}s.")

    def shown(name: str) -> str:
        score = defined[name]
        parts = [name] if _is_printable(name) else []
        parts.append(f"observed {_number(score.observed, digits)}")
        error = f" with standard error {_number(score.chance_error, digits)}" if score.error else ""
        parts.append(f"chance {_number(score.chance, digits)}{error}")
        interval = intervals.get(name)
        if interval is not None and interval.reason is None:
            parts.append(_level(interval, settings, digits))
        return f"{_number(score.corrected, digits)} ({'; '.join(parts)})"

    order = sorted(defined, key=lambda name: defined[name].corrected)
    low, high = order[0], order[-1]
    scores = f"ranges from {shown(low)} to {shown(high)}"
    if len(order) == 1:
        scores = f"is {shown(low)} for one {_SET}"
    elif _number(defined[low].corrected, digits) == _number(defined[high].corrected, digits):
        observed = _range((score.observed for score in defined.values()), digits)
        chance = _range((score.chance for score in defined.values()), digits)
        who = _in_words(len(order), _SET) if n_undefined else f"all {_SET}s"
        alike = f"for {who} (observed {observed}; chance {chance})"
        scores = f"is {_number(defined[low].corrected, digits)} {alike}"
    undefined = f" and is undefined for {_in_words(n_undefined, _SET)}" if n_undefined else ""
    return (*head, f"{scores}{undefined}; {_changes(ranking)}.")


def _range(numbers: Iterable[float], digits: int) -> str:
    """The lowest and the highest of some numbers, or the one that they all are."""
    ordered = [_number(number, digits) for number in sorted(numbers)]
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


def _changes(ranking: Ranking) -> str:
    """How many ranks change by correction."""
    before, after = ranking.ranks("observed"), ranking.ranks("corrected")
    n = sum(
        None not in (before[name], after[name]) and before[name] != after[name] for name in before
    )
    return f"correction for chance changes {_ranks(n) if n else 'no rank'}"


def _ranks(n: int) -> str:
    return f"the rank of one {_SET}" if n == 1 else f"the ranks of {_in_words(n, _SET)}"


def _ends(interval: ConfidenceInterval | None, settings: Settings, digits: int) -> str:
    """An interval in parentheses; nothing where there is none."""
    if interval is None or interval.reason is not None:
        return ""
    return f" ({_level(interval, settings, digits)})"


def _level(interval: ConfidenceInterval, settings: Settings, digits: int) -> str:
    low, high = _number(interval.low, digits), _number(interval.high, digits)
    return f"{interval_heading(settings)} confidence interval from {low} to {high}"


# --- Intervals and tests ------------------------------------------------------


def one_interval(interval: ConfidenceInterval | None, settings: Settings) -> str:
    """How an interval was made, or that there is none."""
    return "" if interval is None else all_intervals([interval], settings)


def all_intervals(intervals: Sequence[ConfidenceInterval], settings: Settings) -> str:
    """How intervals were made, and what to know of them."""
    if not intervals:
        return ""
    made = [interval for interval in intervals if interval.reason is None]
    level = interval_heading(settings)
    if not made:
        return f"No {level} confidence interval could be computed."
    is_one = len(intervals) == 1
    what = "The confidence interval comes" if is_one else f"Confidence intervals of {level} come"
    units = _units(made)
    how = _STUDENT.format(units=units)
    if settings.interval_method in _BOOTSTRAP:
        drawn = _drawn(settings, f"resamples of {units}")
        how = f"{_BOOTSTRAP[settings.interval_method]}, with {drawn}"
    missing = len(intervals) - len(made)
    none = f"; {_in_words(missing, _SET)} {_have(missing)} none" if missing else ""
    return f"{what} from {how}{none}{_caution(made, is_one=is_one)}."


def _units(intervals: Sequence[ConfidenceInterval]) -> str:
    """What was drawn or left out, and how many of it where it is the same for all."""
    first = intervals[0].units
    if any(interval.units != first for interval in intervals):
        kinds = " and ".join(dict.fromkeys(kind for kind, _ in first))
        return f"the {kinds} of each {_SET}"
    named = units_of(intervals[0])
    return f"{named} (each taken as a document)" if first[0][0] == "sentences" else named


def _caution(intervals: Sequence[ConfidenceInterval], *, is_one: bool) -> str:
    """What a reader should know of intervals that are to be taken with caution."""
    cautious = [interval for interval in intervals if interval.caution]
    if not cautious:
        return ""
    weakest = min(cautious, key=lambda interval: interval.effective)
    is_expanded = weakest.method == "expanded"
    if weakest.has_few_annotators:
        what = "not allow for annotators who are unlike these" if is_expanded else "be too narrow"
        may = ("does " if is_one else "do ") if is_expanded else "may "
        few = f"with fewer than {_in_words(FEW_ANNOTATORS, 'annotator')}"
        return f"; {few}, {'it' if is_one else 'they'} {may}{what}"
    units = counted_units(round(weakest.effective), weakest.over)
    known = "its width is" if is_one else "the width of some is"
    narrow = "" if is_expanded else f"; with fewer than {FEW}, intervals may be too narrow"
    return f"; {known} known only about as well as from {units}{narrow}"


def random(null: NullDistribution | None, digits: int) -> str | Sentence:
    """The test against chance."""
    if null is None or null.reason is not None:
        return ""
    drawn = _drawn(null.settings, "random annotations")
    return (
        "Under the chance model, agreement at least as high as observed has ",
        _p(null.p_value, digits),
        f", from {drawn}.",
    )


def tests(standings: Standings | None, digits: int) -> str | Sentence:
    """How systems were compared with each other, and how many differ."""
    if standings is None or len(standings.order) == 1:
        return ""
    kind, _ = standings.intervals[standings.order[0]]["corrected"].units[0]
    shared = counted_units(standings.n_documents, kind)
    exchanges = f"exchanges of two {_SET}s within {kind}"
    how = f"resamples of {kind}" if standings.test == "bootstrap" else f"random {exchanges}"
    drawn = f"all {exchanges}" if standings.enumerated else _drawn(standings.settings, how)
    n_pairs = len(standings.pairs)
    who, all_have = f"All {n_pairs:,} pairs of {_SET}s were", f"all {_SET}s have"
    if n_pairs == 1:
        who, all_have = f"The two {_SET}s were", "both have"
    head = (
        f"{who} compared in {standings.score} agreement on the {shared} that {all_have}, by a "
        f"paired {standings.test} test with {drawn}"
    )
    p_values = [p for p in standings.adjusted.values() if not isnan(p)]
    n_apart, n_untested = _n_apart(standings), n_pairs - len(p_values)
    level = f"significantly at the level of {1 - standings.settings.confidence:.10g}"
    if not p_values:
        return f"{head}, which gives no p-value."
    if n_pairs == 1:
        differ = "differ" if n_apart else "do not differ"
        return f"{head}; they {differ} {level} (", _p(p_values[0], digits), ")."
    differ = f"{_in_words(n_apart, 'pair')} {'differs' if n_apart == 1 else 'differ'}"
    without = f"; {_in_words(n_untested, 'pair')} {_have(n_untested)} no p-value"
    return (
        f"{head}; p-values are adjusted by Holm's method for {counted(len(p_values), 'pair')}; "
        f"{differ} {level}{without if n_untested else ''}."
    )


def _n_apart(standings: Standings) -> int:
    """Pairs of systems that are in no group together."""
    together = [set(group) for group in standings.groups]
    return sum(not any({*pair} <= group for group in together) for pair in standings.pairs)


def _drawn(settings: Settings, what: str) -> str:
    """How many of something were drawn, and where the random numbers began."""
    return f"{settings.resamples:,} {what}{_seed(settings)}"


def _seed(settings: Settings) -> str:
    return "" if settings.seed is None else f" (seed {settings.seed})"


# --- The rest -----------------------------------------------------------------


_NEVER_COUNTED = (Fate.NOT_ANNOTATED, Fate.UNMARKED, Fate.NO_SPAN, Fate.NOT_READ)


def left_out(skipped: Mapping[str, int], noun: str) -> str:
    """What was changed or left out; not what never counted; documents by their noun."""
    parts = [
        f"{what.replace(DOCUMENTS, f'{noun}s')} ({number:,})"
        for fate, found in by_fate(skipped).items()
        if fate not in _NEVER_COUNTED
        for what, number in found.items()
    ]
    if not parts:
        return ""
    return f"In preparing the data, the following were changed or left out: {'; '.join(parts)}."


def software(settings: Settings) -> Sentence:
    """What computed it, and the signature."""
    return (
        f"All values were computed with beyondchance {settings.version} ",
        Citation(SOFTWARE),
        "; their signature is ",
        Code(str(_without_addresses(settings))),
        ".",
    )


def _without_addresses(settings: Settings) -> Settings:
    """The settings without the e-mail addresses of people, as with pseudonyms."""
    gold, annotators = settings.gold, settings.annotators
    if gold is not None and "@" in gold:
        gold = "gold"
    if annotators is not None:
        annotators = tuple(
            f"annotator {number}" if "@" in name else name
            for number, name in enumerate(annotators, start=1)
        )
    return settings.replaced(gold=gold, annotators=annotators)


def _is_printable(name: str) -> bool:
    """Whether a paper may name a system so: not by an e-mail address or a path."""
    return name.isprintable() and not any(character in name for character in "@/\\")


def _number(value: float, digits: int) -> str:
    """A number within a sentence."""
    if isnan(value):
        return "undefined"
    shown = in_digits(value, digits)
    words = {"<": "less than ", ">": "more than "}.get(shown[0], "")
    return f"{words}{shown[1:] if words else shown}".replace("-", "−")  # noqa: RUF001 - a minus


def _p(value: float, digits: int) -> Formula:
    """A p-value."""
    shown = in_digits(value, digits)
    is_bound = shown[0] in "<>"
    sign, number = (shown[0], shown[1:]) if is_bound else ("=", shown)
    return Formula(f"p {sign} {number}", f"p {sign} {number}")


def _in_words(number: int, noun: str) -> str:
    """A number with its noun, in words if it is small.

    >>> _in_words(1, "system"), _in_words(3, "system"), _in_words(1300, "system")
    ('one system', 'three systems', '1,300 systems')
    """
    if number >= len(_NUMBERS):
        return counted(number, noun)
    return f"{_NUMBERS[number]} {noun}{'' if number == 1 else 's'}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
