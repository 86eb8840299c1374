"""What numbers say, in sentences that do not judge them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from math import inf, isnan
from typing import TYPE_CHECKING

import numpy as np

from beyondchance.diagnosis.loss import LOST
from beyondchance.messages import (
    PYTHON,
    Note,
    Piece,
    Quote,
    Text,
    Use,
    Voice,
    pieces,
    spoken,
)
from beyondchance.numbers import Extent, in_digits, p_is
from beyondchance.reporting.blocks import counted, in_list
from beyondchance.reporting.columns import interval_heading
from beyondchance.results.counts import Counts
from beyondchance.results.score import Score
from beyondchance.scoring.options import words_of
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.inference.compare import Comparison
    from beyondchance.inference.null import NullDistribution
    from beyondchance.inference.standings import Standings
    from beyondchance.results.intervals import ConfidenceInterval

LITTLE = 0.005
"""Where correction moves a score by less, it is said to change little."""
SMALL = 0.05
"""Chance agreement below this is negligible, where correction changes no second digit."""
MUCH = 0.05
"""Where it moves a score by this or more, that is said too."""
HEAVY = 0.1
"""The share of all pairs from which on a document is named."""
_MOST_REASONS = 6
"""Reasons for missing intervals that have a sentence each."""
_MOST_LABELS = 6
"""Labels of one annotator alone that are named."""
_OTHERS = ("other reasons",)

PARTS = {
    "finding": "finding spans",
    "labelling": "labels at places both found",
    "supported": "supported by at least",
}
"""The parts of an agreement, by what each counts."""
SKILL = (
    "By shapes: chance agreement of random annotators who see the shapes of words (capitals, "
    "digits, punctuation) and prefer those that the same annotator marked elsewhere. What is left "
    "above it is skill."
)
"""What chance by shapes is."""
REPORT = "Report corrected with observed (F1), the measure and the signature."
ENOUGH = "Whether this agreement is enough depends on the task (docs/howto/reading.md)."
DIFFICULTY = "how hard it is to agree by chance"
"""What difficulty is, wherever the word stands."""
_METHODS = {"bca": "BCa", "percentile": "percentiles"}


# --- What was compared --------------------------------------------------------


def compared(who: str, extent: Extent, n_spans: int, positions: str = "") -> str:
    """Say who was compared on what and, if `positions` are given, where random spans are placed."""
    placed = f"; unit {extent.unit}, positions {positions}" if positions else ""
    return f"{who}: {texts_of(extent)}, {counted(n_spans, 'span')}{placed}."


def texts_of(extent: Extent, within: str = "in") -> str:
    """Say how many sentences, documents or other texts there are.

    Examples
    --------
    >>> texts_of(Extent(12, 46, "sentence")), texts_of(Extent(46, 46, "sentence"))
    ('46 sentences in 12 documents', '46 sentences')
    >>> texts_of(Extent(12, 46, "corpus"), "of")
    '46 texts of 12 documents'
    """
    documents = counted(extent.n_documents, extent.noun)
    if extent.n_texts == extent.n_documents:
        return documents
    noun = "sentence" if extent.unit == "sentence" else "text"
    return f"{counted(extent.n_texts, noun)} {within} {documents}"


def by_measure(measure: str, positions: str) -> str:
    """Name a measure for titles: token counts whatever positions there are.

    Examples
    --------
    >>> by_measure("token", "tokens"), by_measure("token", "characters")
    ('token', 'characters')
    >>> by_measure("exact", "characters")
    'exact'
    """
    return positions if measure == "token" and positions != "tokens" else measure


def explained_measure(measure: str, positions: str) -> str:
    """Name a measure, with what it counts.

    >>> explained_measure("token", "tokens"), explained_measure("token", "characters")
    ('token (tokens that both marked)', 'characters that both marked')
    """
    counts = words_of(measure)[0].format(positions=positions)
    if by_measure(measure, positions) != measure:
        return counts
    return f"{measure} ({counts})" if counts else measure


# --- Scores -------------------------------------------------------------------


def headline(whose: str, scores: Sequence[tuple[str, Score]]) -> str:
    """Say how far agreement is on the way from chance to full agreement, by each measure.

    Parameters
    ----------
    whose : str
        The agreement, as the subject of the sentence.
    scores : sequence of (str, Score)
        By what the scores are by, for people.

    Examples
    --------
    >>> token = Score(matched=3, expected=1, size_a=4, size_b=4)
    >>> exact = Score(matched=2, expected=1, size_a=4, size_b=4)
    >>> print(headline("Agreement of ada and ben", [("token", token), ("exact", exact)]))
    Agreement of ada and ben is 67 % of the way from chance to full agreement by token and 33 % \
by exact.
    """
    way, said = " of the way from chance to full agreement", []
    for by, score in scores:
        if isnan(score.corrected):
            reached = "undefined"
        elif score.corrected < 0:
            reached = "below chance"
        elif score.corrected == 1:
            reached = "complete"
        else:
            reached, way = f"{in_percent(score.corrected)}{way}", ""
        said.append(f"{reached} by {by}")
    return f"{whose} is {in_list(said)}."


def largest_loss(loss: Mapping[str, float], by: str) -> str:
    """Name the cause by which most is lost of the way to full agreement; nothing if none is.

    Parameters
    ----------
    loss : mapping of str to float
        Shares of the way, by cause; together all that is missing.
    by : str
        What the score is by, for people.

    Examples
    --------
    >>> largest_loss({"more overall": 0.21, "more in some texts": 0.07}, "token")
    'Of the missing 28 % by token, the largest part (21 of 28) is lost because one marks more \
overall.'
    """
    cause, share = max(loss.items(), key=lambda item: item[1], default=("", 0.0))
    if not share > 0:
        return ""
    missing = sum(loss.values())
    points = f" ({100 * share:.0f} of {100 * missing:.0f})" if share >= 0.01 else ""
    return (
        f"Of the missing {in_percent(missing)} by {by}, the largest part{points} is lost because "
        f"{LOST[cause]}."
    )


def meaning(score: Score, by: str, digits: int = 4) -> str:
    """Say how large chance agreement is by a measure, and what correction changes.

    Examples
    --------
    >>> print(meaning(Score(matched=3, expected=1, size_a=4, size_b=4), "token", 2))
    Chance agreement by token is 0.25. Correction matters here: it lowers the score by 0.08. \
Report corrected with observed (F1), the measure and the signature. Whether this agreement is \
enough depends on the task (docs/howto/reading.md).
    """
    if score.reason is not None:
        return undefined(score)
    chance = f"Chance agreement by {by} is {in_digits(score.chance, digits)}"
    if score.error:
        error = in_digits(score.chance_error, digits)
        chance += f", estimated from random arrangements with a standard error of {error}"
    if score.corrected < 0:
        chance += f", more than the {in_digits(score.observed, digits)} observed"
    enough = "" if score.observed == 1 else f" {ENOUGH}"
    return f"{chance}. {effect(score, digits)}{enough}"


def across_corpora(positions: str) -> str:
    """Say by which measures to compare with other corpora."""
    token = by_measure("token", positions)
    return f"Across corpora, compare by exact or boundary, not by {token}."


def undefined(score: Score) -> str:
    """Say why there is no corrected score."""
    return f"The corrected score is undefined: {score.reason}."


def effect(score: Score, digits: int = 4) -> str:
    """Say whether correction matters, why if it does not, and which score to report.

    Correction lowers a score by chance / (1 - chance) * (1 - observed), which is little if either
    is. The number of chance agreement is said next to this sentence.

    Examples
    --------
    >>> effect(Score(matched=3, expected=1, size_a=4, size_b=4), 2)
    'Correction matters here: it lowers the score by 0.08. Report corrected with observed (F1), \
the measure and the signature.'
    >>> effect(Score(matched=60.4, expected=1, size_a=100, size_b=100), 4)
    'Chance is negligible here: corrected and observed are the same to two digits. Either may be \
reported, with its name.'
    >>> effect(Score(matched=4, expected=1, size_a=4, size_b=4))
    'Correction changes nothing here, because agreement is complete.'
    """
    change = score.observed - score.corrected
    if score.observed == 1:
        return "Correction changes nothing here, because agreement is complete."
    if score.chance < SMALL and f"{score.observed:.2f}" == f"{score.corrected:.2f}":
        return (
            "Chance is negligible here: corrected and observed are the same to two digits. Either "
            "may be reported, with its name."
        )
    if change >= LITTLE:
        matters = "matters" if change >= MUCH else "matters somewhat"
    else:
        matters = "changes little"
    lowers = f"it lowers the score by {in_digits(change, digits)}"
    return f"Correction {matters} here: {lowers}. {REPORT}"


def in_percent(share: float) -> str:
    """Write a share in whole percents that are 0 or 100 only if it is.

    >>> in_percent(0.667), in_percent(0.999), in_percent(0.001)
    ('67 %', 'more than 99 %', 'less than 1 %')
    """
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def random_agreement(null: NullDistribution, digits: int) -> str:
    """Compare the observed agreement with that of random annotations."""
    if null.reason is not None:
        return f"Random annotations have no agreement here: {null.reason}."
    low, high = (in_digits(null.quantiles[share], digits) for share in (0.025, 0.975))
    mean_is = "exact" if null.settings.samples is None else "estimated"
    p_value = p_is(null.p_value, digits, is_floor=null.p_is_floor)
    error = f" (± {in_digits(null.p_error, digits)} from sampling)"
    if null.p_is_floor:
        p_value += f" (the smallest that {len(null.samples):,} random annotations can show)"
        error = ""
    return (
        f"Of {len(null.samples):,} random annotations with spans of the same lengths, 95 % agree "
        f"between {low} and {high} (mean {in_digits(null.mean, digits)} {mean_is}, standard "
        f"deviation {in_digits(null.sd, digits)} {null.sd_is}). {p_value} for agreement of "
        f"{in_digits(null.observed, digits)} or more under the chance model{error}. A small p "
        "means that the agreement is more than chance, not that it is high."
    )


# --- Intervals ----------------------------------------------------------------


def explained(
    first: ConfidenceInterval, shown: Sequence[tuple[str, ConfidenceInterval]], settings: Settings
) -> Text:
    """Say how intervals were made, what the star means, and why some are missing.

    Parameters
    ----------
    first : ConfidenceInterval
        One of them, which knows what was drawn.
    shown : sequence of (name, ConfidenceInterval)
        All that are shown.
    settings : Settings
    """
    return joined(
        [how_made(first, settings), star(interval for _, interval in shown), *missing(shown)]
    )


def joined(texts: Iterable[Text]) -> tuple[Piece, ...]:
    """Join sentences by blanks, without empty ones."""
    return tuple(piece for text in texts if text for piece in (" ", *pieces(text)))[1:]


def units_of(interval: ConfidenceInterval) -> str:
    """Count what an interval is over: ``12 documents and 3 annotators``."""
    return " and ".join(counted_units(size, kind) for kind, size in interval.units)


def counted_units(size: int, kind: str) -> str:
    """Write a number of units: ``12 documents``, ``4,096 groups of documents``."""
    return counted(size, kind.removesuffix("s"))


def percent(settings: Settings) -> str:
    """Write the confidence of intervals, as papers do: ``95%``."""
    return interval_heading(settings).replace(" ", "")


def method_of(first: ConfidenceInterval, settings: Settings) -> str:
    """Name the method of intervals, with what was drawn."""
    units = units_of(first)
    if method := _METHODS.get(settings.interval_method or ""):
        return f"{method}, {settings.resamples:,} resamples of {units}, seed {settings.seed}"
    return f"expanded (Student's t, jackknife of {units})"


def how_made(first: ConfidenceInterval, settings: Settings) -> str:
    """Say how intervals were made."""
    text = f"Intervals: {interval_heading(settings)}, {method_of(first, settings)}."
    if first.reason is not None:
        return text
    if settings.groups:
        text += " Groups are made by a hash of names, because there are many of them."
    if first.units[0][0].endswith("sentences"):
        text += (
            " Which sentences belong to one document is not known, so each sentence counts by "
            "itself: if they come from a few articles, the intervals are too narrow."
        )
    return text


def star(intervals: Iterable[ConfidenceInterval]) -> Text:
    """Explain the star next to some of these intervals; nothing if none has one."""
    starred = [interval for interval in intervals if interval.caution]
    if not starred:
        return ""
    weakest = min(starred, key=lambda interval: interval.effective)
    which = "" if len(starred) == 1 else "the least certain of these: "
    return f"* {which}", *pieces(weakest.caution_text), "."


def missing(shown: Sequence[tuple[str, ConfidenceInterval]]) -> list[Text]:
    """Say why some intervals are missing; names with the same reason together."""
    names_by_reason: dict[Text, list[str]] = {}
    for name, interval in shown:
        if interval.reason is not None:
            why = pieces(interval.why)
            is_new = why not in names_by_reason and len(names_by_reason) >= _MOST_REASONS
            names_by_reason.setdefault(_OTHERS if is_new else why, []).append(name)
    return [
        (f"No interval for {in_list(names)}: ", *pieces(why), ".")
        for why, names in names_by_reason.items()
    ]


def cautions(intervals: Iterable[ConfidenceInterval]) -> list[Note]:
    """Return notes on intervals that are to be taken with caution, each once."""
    texts: list[Text] = [
        ("the interval: ", *pieces(item.caution_text)) for item in intervals if item.caution
    ]
    return [Note(text, is_caution=True) for text in dict.fromkeys(texts)]


# --- Systems ------------------------------------------------------------------


def neighbours(standings: Standings) -> list[tuple[tuple[str, str], Comparison]]:
    """Pair each system but the last with the next one below."""
    return [(names, standings.pairs[names]) for names in pairwise(standings.order)]


def shown_of(standings: Standings) -> list[tuple[str, ConfidenceInterval]]:
    """Return the intervals of systems, and of the differences between neighbours."""
    return [
        *((name, standings.intervals[name]["corrected"]) for name in standings.order),
        *(
            (f"the difference between {one} and {other}", item.interval)
            for (one, other), item in neighbours(standings)
        ),
    ]


def weakest_caution(standings: Standings) -> list[Note]:
    """Return a note on the interval of systems whose width is known least."""
    intervals = [interval for _, interval in shown_of(standings)]
    return cautions([min(intervals, key=lambda item: item.effective if item.caution else inf)])


def tested_on(standings: Standings) -> str:
    """Name what systems were tested on: ``the 12 documents that all have``."""
    kind, _ = standings.intervals[standings.order[0]]["corrected"].units[0]
    return f"the {counted_units(standings.n_documents, kind)} that all have"


def how_tested(standings: Standings) -> str:
    """Say how the test of systems draws."""
    shared, n = tested_on(standings), f"{standings.settings.resamples:,}"
    if standings.test == "bootstrap":
        return f"{n} resamples of {shared}"
    ways = "all ways" if standings.enumerated else f"{n} random ways"
    return f"exchanging two of them within {shared}, in {ways}"


def verdict(standings: Standings, measure: str, digits: int) -> list[str]:
    """Say which systems and which changes of rank are significant, and how that was tested."""
    if len(standings.order) == 1:
        return []
    settings, shared = standings.settings, tested_on(standings)
    tested = f"Tested by {how_tested(standings)}"
    if any(standings.adjusted[pair] > 1 - settings.confidence for pair in standings.floored):
        tested += ", too few to show every difference"
    if len(standings.pairs) > 1:
        tested += (
            f"; p-values are adjusted by Holm's method for all {len(standings.pairs):,} pairs, "
            "intervals are not adjusted"
        )
    return [
        f"By {by_measure(measure, settings.positions)}, {_differing(standings)}. {tested}.",
        *(
            f"On {shared}, {other} is ahead of {one}: the ranking compares each on all that it has "
            "and is less reliable than the test."
            for (one, other), _ in neighbours(standings)
            if (one, other) in standings.reversed_pairs
        ),
        *_overtakings(standings, digits),
    ]


def _differing(standings: Standings) -> str:
    """Say which systems differ significantly."""
    if all(isnan(p) for p in standings.adjusted.values()):
        return "nothing could be tested"
    alone = [group[0] for group in standings.groups if len(group) == 1]
    together = [group for group in standings.groups if len(group) > 1]
    if not together:
        return "all differ significantly"
    texts = [f"{in_list(group)} do not differ significantly" for group in together]
    if alone:
        differ = "differs" if len(alone) == 1 else "differ"
        texts.append(f"{in_list(alone)} {differ} significantly from all others")
    return "; ".join(texts)


def _overtakings(standings: Standings, digits: int) -> list[str]:
    """Say which changes of rank are significant, and which are not."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for (one, other), is_significant in standings.overtakings.items():
        # Where the other system is ahead in the test, that is said already.
        if (one, other) not in standings.reversed_pairs:
            is_floor = (one, other) in standings.floored
            p = p_is(standings.adjusted[one, other], digits, is_floor=is_floor)
            found[is_significant].append(f"{one} overtakes {other} ({p})")
    return [
        f"Corrected for chance, {'; '.join(changes)}: {'' if is_so else 'not '}significant."
        for is_so, changes in found.items()
        if changes
    ]


# --- Notes --------------------------------------------------------------------


def heaviest(counts: Counts, noun: str) -> list[Note]:
    """Note a document that has a large share of all pairs, because many annotated it."""
    if not counts.is_by_document or len(counts.annotators) < 3:
        return []
    pairs = np.unique(np.stack([counts.document, counts.a, counts.b]), axis=1)
    team = np.unique(np.concatenate([pairs[[0, 1]], pairs[[0, 2]]], axis=1), axis=1)
    n_pairs, n_people = np.bincount(pairs[0], minlength=1), np.bincount(team[0], minlength=1)
    most = int(n_pairs.argmax())
    share, usual = (float(x[most] / max(x.sum(), 1)) for x in (n_pairs, n_people))
    if share <= HEAVY or share < 1.5 * usual:
        return []
    said = f" has {share:.0%} of all pairs of annotators, because {n_people[most]:,} annotated it: "
    weighted = Use("average", "annotation"), " lets all annotations weigh the same"
    told = (f"{noun} ", Quote(counts.documents[most]), said, *weighted)
    return [Note(told, is_caution=True)]


def unshared_labels(settings: Settings, *tables: Counts) -> list[Note]:
    """Note labels that only one of the annotators who were compared uses."""
    if settings.scope == "unlabelled":
        return []
    users: dict[str, set[str]] = {label: set() for label in tables[0].labels}
    for counts in tables:
        for name in counts.annotators:
            for label, n_spans in counts.spans_by_label(name).items():
                users[label] |= {name} if n_spans else set()
    unshared = {label: next(iter(names)) for label, names in users.items() if len(names) == 1}
    listed: list[tuple[Piece, ...]] = [
        ("; " if number else "", Quote(label), " by ", Quote(name))
        for number, (label, name) in enumerate(unshared.items())
    ]
    if not listed:
        return []
    more = f" and {len(listed) - _MOST_LABELS:,} more" if len(listed) > _MOST_LABELS else ""
    said = "labels that one annotator alone uses, so that nothing can match them: "
    mending = Use("rename_label"), " merges labels, ", Use("exclude_labels"), " leaves them out"
    return [Note((said, *chain.from_iterable(listed[:_MOST_LABELS]), f"{more}; ", *mending))]


def gold_left_out(gold: str, remedy: Text) -> Note:
    """Note a gold standard that was not compared."""
    text = ("the gold standard ", Quote(gold), " was not compared as an annotator; ")
    return Note((*text, *pieces(remedy)))


def condensed(notes: Iterable[Note], voice: Voice = PYTHON) -> list[str]:
    """Make sentences of notes, hints first; what several files or annotators share is said once.

    Examples
    --------
    >>> files = [Note("read as conll", where=file) for file in ("a.conll", "b.conll")]
    >>> condensed([*files, Note("no gold standard")])
    ['a.conll and b.conll: read as conll', 'no gold standard']
    >>> tags = [Note("tags read as IOB2", where="a.conll", who=who) for who in ("ada", "ben")]
    >>> condensed([*files[:1], *tags]), condensed(tags[:1])
    (['a.conll: read as conll; tags read as IOB2 (ada and ben)'], ['a.conll: tags read as IOB2'])
    """
    annotators_by_file: dict[str, dict[str, list[str]]] = {}
    hints: dict[str, None] = {}
    for note in notes:
        if note.is_hint:
            hints[note.spoken(voice)] = None
            continue
        texts = annotators_by_file.setdefault(note.where, {})
        texts.setdefault(spoken(note.text, voice), []).extend([note.who] if note.who else [])
    general = annotators_by_file.pop("", {})
    files_by_text: dict[str, list[str]] = {}
    for file, texts in annotators_by_file.items():
        # The file of one annotator need not name that one.
        is_shared = len({name for names in texts.values() for name in names}) > 1
        parts = [
            f"{text} ({in_list(names)})" if names and is_shared else text
            for text, names in texts.items()
        ]
        files_by_text.setdefault("; ".join(parts), []).append(file)
    return [
        *hints,
        *(f"{in_list(files)}: {text}" for text, files in files_by_text.items()),
        *(f"{in_list(names)}: {text}" if names else text for text, names in general.items()),
    ]
