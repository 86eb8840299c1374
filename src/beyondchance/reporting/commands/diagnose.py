"""The report of `diagnose`: patterns of disagreement in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from math import isnan
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from beyondchance.diagnosis.deviations import KINDS
from beyondchance.diagnosis.diagnosis import (
    DIVIDES,
    PATTERN_KINDS,
    TAKES_IN,
    Diagnosis,
    Example,
    Merge,
    Pattern,
)
from beyondchance.diagnosis.loss import LABEL, LOST
from beyondchance.diagnosis.periods import Change, Periods
from beyondchance.numbers import in_digits, p_is
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import (
    Amount,
    Blocks,
    Report,
    Table,
    counted,
    cut,
    in_list,
    in_one,
    report_on,
)
from beyondchance.reporting.breakdown import ENDS
from beyondchance.reporting.columns import (
    COUNT,
    FIGURE,
    FILES,
    JSON,
    NUMBER,
    SHARE,
    TAIL,
    TEXT,
    TEXTS,
    YES_OR_NO,
    Column,
    Data,
    Group,
    Kind,
    alike,
    attributes,
    cell_of,
    command,
    flat_rows,
    for_people,
    interval_heading,
    kind,
    many,
    maybe,
    named,
    one_of,
    table_of,
)
from beyondchance.reporting.commands.places import NOTHING, cut_at_brackets

if TYPE_CHECKING:
    from beyondchance.results.intervals import ConfidenceInterval

LABELS_LOST = (
    f"'{LOST[LABEL]}' compares amounts of labels, wherever they are in the text; "
    f"'{sentences.PARTS['labelling']}' compares labels at the same place"
)
"""What two similar results count."""
_NOUGHT = re.compile(r"(?<!\d)0\.")
_UNQUOTED = ("punctuation", "white space")
"""Details that are no words."""
_MOST_COLUMNS = 8
"""Annotators of whom a table of periods has room."""
_UNCHANGED = (
    "Nobody is shown to have changed.",
    "Changes are not tested: documents are too few, values too many or without an order.",
)
_SHOWN_PATTERNS = 5
"""Patterns that are shown with examples."""
_DIGITS = 3


# --- Patterns in words ----------------------------------------------------------------


def pattern_sentence(pattern: Pattern) -> str:
    """Say a pattern in one plain sentence, with its numbers."""
    times = counted(pattern.count, "disagreement")
    return f"{what(pattern)}: {times}, {change(pattern.before, pattern.after)}"


def what(pattern: Pattern) -> str:
    """Say what annotators do otherwise; of several, how often each does."""
    words = _Words(pattern)
    apart = f" (other than {words.quoted})" if pattern.about.about == "other words" else ""
    return _SENTENCES[pattern.kind](words) + apart


def _n_others(pattern: Pattern) -> int:
    """Return how many others each annotator of a pattern has."""
    return len(pattern.times) + len(pattern.others) - 1


class _Words:
    """The words of a pattern that its sentence is made of."""

    def __init__(self, pattern: Pattern) -> None:
        first, *rest = sorted(pattern.times.items(), key=itemgetter(1), reverse=True)
        rates = [f"{first[0]} ({counted(first[1], 'time')})", *(f"{x} ({n:,})" for x, n in rest)]
        self.who, self.marks, self.does = in_list(rates, 2), "mark", "do"
        if not rest:
            self.who, self.marks, self.does = first[0], "marks", "does"
        self.kind, (self.about, self.name) = pattern.kind, pattern.about
        self.others, self.others_own, self.mark, self.do = "others", "the others'", "mark", "do"
        if _n_others(pattern) == 1:
            self.others = pattern.others[0] if pattern.others else "the other"
            self.others_own, self.mark, self.do = f"{self.others}'s", "marks", "does"
        # Of four or more, a few may do the same.
        self.most = "most others" if _n_others(pattern) > 2 else self.others
        self.is_any = not pattern.is_labelled
        self.label = "something" if self.is_any else pattern.label
        noun = "span" if self.is_any else pattern.label
        self.owner = f"{self.who}'s {noun}" if len(pattern.times) == 1 else f"{noun} of {self.who}"
        self.as_label = "" if self.is_any else f" as {pattern.label}"
        self.is_same = self.is_any or self.name == self.label

    @property
    def quoted(self) -> str:
        """Words in quotes; punctuation is called so."""
        names = self.name.split(" or ")
        return " or ".join(name if name in _UNQUOTED else f"'{name}'" for name in names)


def _edge(at: str) -> Callable[[_Words], str]:
    """Return the sentence about an edge, or about what is taken in or left out there."""

    def said(x: _Words) -> str:
        if x.about not in {"word", *_UNQUOTED}:
            return f"{x.owner} {x.kind} than {x.others_own}"
        thing = f"'{x.name}'" if x.name else x.about
        return f"{x.owner} {at.format(thing)}"

    return said


_SENTENCES: Mapping[str, Callable[[_Words], str]] = {
    TAKES_IN: lambda x: (
        f"{x.owner} is one span where {x.others} {x.mark} several"
        if x.is_same
        else f"{x.owner} covers what {x.others} {x.mark} as {x.name}"
    ),
    DIVIDES: lambda x: (
        f"{x.owner} is several spans where {x.others} {x.mark} one"
        if x.is_same
        else f"{x.who} {x.marks} as {x.name} a part of what {x.others} {x.mark} as {x.label}"
    ),
    KINDS[0]: _edge("takes in {} at its start"),
    KINDS[1]: _edge("leaves out {} at its start"),
    KINDS[2]: _edge("leaves out {} at its end"),
    KINDS[3]: _edge("takes in {} at its end"),
    KINDS[4]: lambda x: (
        f"{x.who} {x.marks} '{x.name}'{x.as_label}, {x.most} {x.do} not"
        if x.about == "text"
        else f"{x.who} {x.marks} {x.label} where {x.most} {x.mark} nothing"
    ),
    KINDS[5]: lambda x: (
        f"{x.who} {x.does} not mark '{x.name}', which {x.others} {x.mark}{x.as_label}"
        if x.about == "text"
        else f"{x.who} {x.marks} nothing where {x.others} {x.mark} {x.label}"
    ),
    KINDS[6]: lambda x: f"{x.who} {x.marks} as {x.label} what {x.others} {x.mark} as {x.name}",
}
"""What is said of each kind of pattern."""


def pattern_advice(pattern: Pattern) -> str:
    """Say whether it is a habit, or the guideline is unclear."""
    return _verdict(pattern)[1]


def _verdict(pattern: Pattern) -> tuple[str, str]:
    """Say whose habit it is: in a word or two, and with its numbers."""
    p, times = p_is(pattern.p), _rates(pattern)
    if pattern.is_open:
        return "too few to tell", "too few to tell whether it is a habit"
    if pattern.is_error:
        word, kind = ("yes", "regular") if pattern.is_habit else ("both ways", "not regular")
        return word, f"{kind}: the other way {counted(pattern.other_way, 'time')} ({p})"
    if not pattern.is_habit:
        smallest = "smallest " if len(pattern.times) > 1 else ""
        return "several", f"unclear in the guideline, or overlooked: {times} ({smallest}{p})"
    if _n_others(pattern) == 1:
        # Of two, it is not known who is right.
        return "one of two", f"one-sided: {times} ({p}); either may be right"
    return pattern.who, f"a habit: {times} ({p})"


def _rates(pattern: Pattern) -> str:
    """Say how often each annotator does it."""
    first, *rest = pattern.times.items()
    own = [f"{first[0]} {counted(first[1], 'time')}", *(f"{name} {n:,}" for name, n in rest)]
    others = [f"the others {_rate(pattern.others_each)} each"]
    if len(pattern.others) < 2:
        others = [f"{name} {pattern.other_way:,}" for name in pattern.others]
    return ", ".join([in_list(own), *others])


def _rate(times: float) -> str:
    """Say how often an annotator does something, on average."""
    return "<0.1" if 0 < times < 0.05 else f"{times:,.1f}".removesuffix(".0")


def change(before: float, after: float, digits: int = _DIGITS) -> str:
    """Write two scores as ``.716 → .754``."""
    return f"{short(before, digits)} → {short(after, digits)}"


def short(value: float, digits: int = _DIGITS) -> str:
    """Write a score without the nought before its point."""
    return _NOUGHT.sub(".", in_digits(value, digits), count=1)


def shown_example(example: Example) -> str:
    """Show an example in its text, or by its offsets where the text is not known."""
    return "".join(_at_brackets(example))


def highlighted(example: Example) -> list[tuple[str, str]]:
    """Return an example in pieces, each with whose marks it has.

    These are ``own``, of the annotator who differs, ``theirs``, ``own theirs``, or nothing.
    """
    before, *parts = _at_brackets(example)
    pieces, whose = [(before, "")], {"own": False, "theirs": False}
    for bracket, text in zip(parts[::2], parts[1::2], strict=True):
        whose["own" if bracket in "[]" else "theirs"] = bracket in "[{"
        pieces.append((text, " ".join(name for name, is_open in whose.items() if is_open)))
    return [piece for piece in pieces if piece[0]]


def _at_brackets(example: Example) -> list[str]:
    """Return the words of an example, with the brackets between them."""
    if example.content is not None:
        sides = (example.own_characters, example.their_characters)
        a, b = ((-1, -1) if side is None else side for side in sides)
        return cut_at_brackets(example.content, a, b)
    own, theirs = (
        NOTHING if span is None else f"{span[0]}-{span[1]} {span[2]}"
        for span in (example.own, example.theirs)
    )
    return ["", "[", own, "]", " ", "{", theirs, "}", ""]


# --- The report -----------------------------------------------------------------------


_LOST = Group(
    "loss",
    [
        for_people("cause", lambda row: LOST[row["cause"]]),
        Column("share", heading="lost"),
        for_people("of all", lambda row: row["of_all"]),
        ENDS("interval", cell=lambda row: cell_of(row["interval"])),
    ],
)
_LOSS = named(_LOST)
_SHORT_OF = (
    "by cause (one of two annotators marks …), what is short of full agreement; the shares add up "
    "to 1 - corrected"
)
_SPAN = kind(
    type=["array", "null"],
    prefixItems=[{"type": "integer"}, {"type": "integer"}, {"type": "string"}],
    items=False,
    description="start, end and label; null for nothing",
)
_EXAMPLE = Group(
    "",
    [
        TEXT("document"),
        COUNT("text", "the number of the text in its document"),
        TEXT("who"),
        _SPAN("own"),
        _SPAN("others", value=attrgetter("theirs")),
        Column(
            "in_text",
            maybe(TEXT),
            "null where texts are not known",
            lambda example: str(example) if example.content is not None else None,
        ),
    ],
)
_ONCE = kind(type="integer", minimum=1)
_PART = Group("", [TEXT("who"), TEXT("deviation"), _ONCE("count")])
_PATTERN = Group(
    "pattern",
    [
        TEXT("sentence"),
        TEXT(
            "who",
            "the annotator who differs from the others, or several, joined by ' or '",
        ),
        TEXT("label"),
        Column("kind", one_of(*PATTERN_KINDS)),
        TEXT("detail", "a label, a word or a text; empty where there is nothing to say"),
        _ONCE("count"),
        _ONCE(
            "n_places",
            "in how many places: a span that covers two of another label is one of them",
        ),
        COUNT(
            "other_way",
            "how often all others together did the same, in the same documents",
        ),
        Column(
            "others_each",
            kind(type="number", minimum=0),
            "how often each of the others did the same, on average",
        ),
        Column("before"),
        FIGURE("after", "the corrected score without these disagreements"),
        Column("gain"),
        FIGURE(
            "together",
            "the corrected score without these and all patterns before; null for late ones",
        ),
        SHARE(
            "p",
            "by exchanging the names of annotators within documents; of several annotators, the "
            "smallest",
        ),
        SHARE("p_adjusted", value=attrgetter("adjusted")),
        YES_OR_NO("habit", value=attrgetter("is_habit")),
        TEXT("advice"),
        Column("times", named(_ONCE), "count, by annotator", outputs=JSON),
        Column("p_values", named(NUMBER), "p, by annotator", outputs=JSON),
        TEXTS("others", outputs=JSON),
        Column(
            "about",
            one_of("", "label", "overlap", *_UNQUOTED, "word", "text", "other words"),
            value=attrgetter("about.about"),
            outputs=JSON,
        ),
        Column(
            "parts",
            many(_PART),
            value=lambda pattern: [
                {"who": who, "deviation": deviation, "count": count}
                for (who, deviation), count in pattern.parts.items()
            ],
            outputs=JSON,
        ),
        Column("examples", many(_EXAMPLE, maxItems=3), outputs=JSON),
    ],
)
_MERGE = Group(
    "",
    [
        Column("labels", many(TEXT, minItems=2, maxItems=2)),
        *alike(FIGURE, "before", "after", "gain"),
    ],
)
_PAIR = Group("", [*alike(TEXT, "a", "b"), _LOSS("loss")])
_CHANGE = Group(
    "",
    [
        *alike(TEXT, "who", "since"),
        *alike(FIGURE, "before", "after", "others_before", "others_after"),
        SHARE("p_adjusted"),
    ],
)


def _by_annotator(key: str, each: Kind) -> Column:
    """Declare a list of what each annotator has in each period."""
    return Column(
        key,
        named(many(each)),
        "by annotator, in the order of periods",
        lambda found: dict(zip(found.annotators, getattr(found, key).tolist(), strict=True)),
    )


_PERIODS = Group(
    "",
    [
        TEXT("field"),
        TEXTS("periods"),
        _by_annotator("corrected", FIGURE),
        _by_annotator("n_documents", COUNT),
        Column("changes", many(_CHANGE), "the most certain first"),
        COUNT("n_tested", "annotators with enough documents for a test"),
        COUNT("n_undated", "annotations without a period"),
    ],
    "agreement over time",
)
DIAGNOSE = command(
    "diagnose",
    *FILES,
    Column("corrected"),
    _LOSS("loss", _SHORT_OF),
    NUMBER("confidence"),
    Column("labels", named(_LOSS)),
    Column("pairs", many(_PAIR)),
    Column("patterns", many(_PATTERN), "the most costly first"),
    Column("merges", many(_MERGE), "two labels as one, by what that would bring"),
    _PERIODS("periods", is_optional=True),
    *TAIL,
)


def diagnose_report(
    found: Diagnosis, *, top: int = 10, digits: int = 4, confidence: float = 0.95
) -> Report:
    """Build the report of `diagnose`; outputs show parts of it.

    Parameters
    ----------
    found : Diagnosis
    top : int
        Rows of long tables for people; 0 shows all.
    digits : int
        For numbers within sentences.
    confidence : float
        Of the intervals of causes.
    """
    corpus, result = found.corpus, found.agreement
    patterns = found.patterns
    settings = found.settings.replaced(confidence=confidence, interval_method="expanded")

    def blocks() -> Blocks:
        annotators = {name for pair in result.by_pair for name in pair}
        who = in_list([name for name in corpus.annotators if name in annotators])
        yield sentences.compared(who, result.extent, result.n_spans, corpus.positions)
        yield _headline(found, digits)
        if isnan(found.corrected):
            return
        if found.periods:
            yield periods_table(found.periods, found.gold, top, digits)
        if found.loss:
            yield loss_table(found, confidence)
        if not patterns:
            yield "There is nothing to fix."
            return
        yield patterns_table(patterns, top, digits=digits)
        yield examples_table(found, top)
        if len(corpus.labels) > 1:
            yield kinds_table(found, top)
            if found.loss:
                yield loss_by_label_table(found, top)
        if found.merges:
            yield merges_table(found, top, digits)

    def data() -> Data:
        whole, labels, pairs = (
            found.loss_intervals(by, confidence=confidence) for by in ("all", "label", "pair")
        )
        return {
            **attributes(found, "corrected", "patterns", "merges", "periods"),
            "loss": _shares(found.loss, whole[""]),
            "confidence": confidence,
            "labels": {
                label: _shares(loss, labels[label]) for label, loss in found.loss_by_label.items()
            },
            "pairs": [
                {"a": a, "b": b, "loss": _shares(loss, pairs[a, b])}
                for (a, b), loss in found.loss_by_pair.items()
            ],
        }

    return report_on(
        result,
        corpus,
        *found.notes,
        group=DIAGNOSE,
        signature=str(settings if found.loss else found.settings),
        make_blocks=blocks,
        make_data=data,
        make_rows=lambda: flat_rows(patterns, _PATTERN.columns),
    )


def _headline(found: Diagnosis, digits: int) -> str:
    """Say the score, what is short of full agreement, and the first pattern."""
    corrected = found.corrected
    if isnan(corrected):
        return sentences.undefined(found.agreement.score)
    score = in_digits(corrected, digits)
    if corrected == 1:
        return f"Corrected agreement is {score}: full agreement."
    missing = in_digits(1 - corrected, digits)
    first = "".join(f" To fix first: {what(pattern)}." for pattern in found.patterns[:1])
    return f"Corrected agreement is {score}, {missing} short of full agreement.{first}"


def loss_table(found: Diagnosis, confidence: float) -> Table:
    """Return a table of the causes of the loss."""
    rows = _shares(found.loss, found.loss_intervals(confidence=confidence)[""])
    remarks = []
    if any(row["interval"].caution for row in rows.values()):
        remarks.append("* few documents differ: the interval is approximate.")
    if found.loss.get(LABEL):
        remarks.append(f"({LABELS_LOST})")
    heading = interval_heading(found.settings.replaced(confidence=confidence))
    title, remark = "where the loss comes from", in_one(*remarks)
    return table_of(rows.values(), _LOST.columns, title, remark, interval=heading)


def patterns_table(patterns: Sequence[Pattern], top: int, *, digits: int = _DIGITS) -> Table:
    """Return a table of patterns, the most costly first; last those too few to tell."""
    first, numbers = patterns[0], count(1)
    others, do = "others each", "each of the others does the same, on average"
    if _n_others(first) == 1:
        others, do = "other way", "the other does the same"
    whose, theirs, end = (
        "habit of",
        "the others have it",
        ". A pattern says who differs, not who is wrong.",
    )
    if first.is_error:
        whose, theirs, end = "regular", "the gold standard has it, of the system", ""
    columns = (
        for_people("", lambda _: next(numbers)),
        for_people("pattern", what),
        for_people("times", lambda x: _times(x.count, len(x.times))),
        for_people(others, lambda x: _times(x.others_each) if x.others else None),
        _corrected(digits),
        for_people("so far", lambda x: None if isnan(x.together) else short(x.together, digits)),
        for_people(whose, lambda x: _verdict(x)[0]),
    )
    legend = (
        f"({others}: how often {do}; corrected: as it is → as {theirs}; so far: without these and "
        f"all above{end})"
    )
    return table_of(patterns, columns, "what to fix first", legend, top=top)


def _corrected(digits: int) -> Column:
    """Declare what the corrected score is, and would be."""
    return for_people("corrected", lambda x: Amount(x.after, change(x.before, x.after, digits)))


def _times(count: float, n: int = 1) -> Amount:
    """Say how often annotators do something; of several, how often each does on average."""
    return Amount(count, f"{_rate(count / n)} each" if n > 1 else _rate(count))


def examples_table(found: Diagnosis, top: int) -> Table:
    """Return a table of examples of the first patterns, at most `top` if that is enough."""
    patterns = cut(found.patterns[:_SHOWN_PATTERNS], top)[0]
    most = max(top // len(patterns), 1) if top else None
    rows = [
        (number, example)
        for number, pattern in enumerate(patterns, start=1)
        for example in pattern.examples[:most]
    ]
    signs = []
    if any(example.own for _, example in rows):
        signs.append("[ ] marked by the one who differs")
    if any(example.theirs for _, example in rows):
        signs.append(f"{{ }} marked by {'others' if found.gold is None else found.gold}")
    columns = (
        for_people("", itemgetter(0)),
        for_people(found.corpus.extent.noun, lambda row: row[1].document),
        for_people("in the text", lambda row: str(row[1])),
    )
    return table_of(rows, columns, "examples of the first patterns", f"({', '.join(signs)})")


def kinds_table(found: Diagnosis, top: int) -> Table:
    """Return a table of disagreements by label and kind, the label that loses most first."""
    cells = found.by_label_and_kind
    used = [kind for kind in _KINDS if any(kind in kinds for kinds in cells.values())]
    none = dict.fromkeys(used, 0)
    rows = [{"label": label, **none, **cells.get(label, {})} for label in labels_by_loss(found)]
    legend = "; ".join(f"{_KINDS[kind][0]}: {_KINDS[kind][1]}" for kind in used if _KINDS[kind][1])
    columns = [Column(kind, heading=_KINDS[kind][0]) for kind in used]
    title = "disagreements by label and kind, the label that loses most first"
    legend = f"({legend})" if legend else ""
    return table_of(rows, [Column("label"), *columns], title, legend, top=top)


_KINDS: Mapping[str, tuple[str, str]] = dict(
    zip(
        PATTERN_KINDS,
        (
            ("takes in", "one span where others have several"),
            ("divides", "several spans where others have one"),
            *zip(("earlier", "later", "shorter", "longer"), KINDS[:4], strict=True),
            ("alone", "marked by one only"),
            ("missed", ""),
            ("other label", "at the same place"),
        ),
        strict=True,
    )
)
"""Kinds of patterns in a word or two, and what some of them mean."""


def labels_by_loss(found: Diagnosis) -> list[str]:
    """Sort labels by what they lose, the worst first."""
    by_label = found.agreement.by_label

    def order(label: str) -> tuple[float, str]:
        score = by_label[label]
        return score.matched - (score.size_a + score.size_b) / 2, label

    return sorted(by_label, key=order)


def loss_by_label_table(found: Diagnosis, top: int) -> Table:
    """Return a table of what each label loses, by cause."""
    scores = found.agreement.by_label
    rows = [
        {"label": label, "corrected": scores[label].corrected, **found.loss_by_label[label]}
        for label in labels_by_loss(found)
    ]
    columns = [
        Column(name, heading=name.removeprefix("more ").removesuffix(" in the text"))
        for name in ("label", "corrected", *found.loss)
    ]
    return table_of(rows, columns, "what each label loses, by cause", top=top)


def merges_table(found: Diagnosis, top: int, digits: int = _DIGITS) -> Table:
    """Return a table of what it would bring to take two labels as one."""
    columns = (
        for_people("labels", lambda x: " and ".join(x.labels)),
        _corrected(digits),
        for_people("gain", _gain),
    )
    return table_of(found.merges, columns, "two labels as one", top=top)


def periods_table(found: Periods, gold: str | None, top: int, digits: int = _DIGITS) -> Table:
    """Return a table of the agreement of annotators in each period, and who changed."""
    changed = {x.who for x in found.changes}

    def cell(i: int, row: int) -> Amount | None:
        value, n = found.corrected[i, row].item(), found.n_documents[i, row]
        return None if isnan(value) else Amount(value, f"{short(value, digits)} ({n:,})")

    # Who changed comes first, where there are too many for a table.
    listed = sorted(enumerate(found.annotators), key=lambda one: one[1] not in changed)
    shown, remark = cut(listed, _MOST_COLUMNS)
    columns = [for_people(name, partial(cell, i)) for i, name in sorted(shown)]
    columns.insert(0, for_people(found.field, lambda row: found.periods[row]))
    told = [change_sentence(x, gold) for x in found.changes] or [_UNCHANGED[not found.n_tested]]
    if found.n_undated:
        told.append(f"{counted(found.n_undated, 'annotation')} without a {found.field} left out.")
    told += [remark and f"{remark[:-1]} annotators.", "(in brackets: documents)"]
    title = f"corrected agreement with {gold or 'others'}, by {found.field}"
    return table_of(range(len(found.periods)), columns, title, in_one(*told), top=top)


def change_sentence(found: Change, gold: str | None = None) -> str:
    """Say who changed and since when, and how the others did."""
    more, end = "more" if found.after > found.before else "less", "."
    whom, what = gold or "the others", change(found.before, found.after)
    if not isnan(found.others_before):
        what += f", the others {change(found.others_before, found.others_after)}"
    elif gold is None:
        whom, end = "the other", "; of two it is not known who changed."
    return (
        f"{found.who} agrees {more} with {whom} since {found.since} "
        f"({what}; {p_is(found.p_adjusted)}){end}"
    )


def _gain(merge: Merge) -> Amount:
    sign = "+" if merge.gain >= 0 else "-"
    return Amount(merge.gain, f"{sign}{short(abs(merge.gain), 4)}")


def _shares(
    loss: Mapping[str, float], intervals: Mapping[str, ConfidenceInterval]
) -> dict[str, Data]:
    """Return the loss by cause, with its share of all that is lost."""
    lost = sum(loss.values())
    return {
        cause: {
            "cause": cause,
            "share": share,
            "of_all": Amount(share / lost, f"{100 * share / lost:.0f} %") if lost else None,
            "interval": intervals[cause],
        }
        for cause, share in loss.items()
    }
