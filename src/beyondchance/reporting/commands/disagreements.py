"""The report of `disagreements`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter

from beyondchance.messages import Use
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import (
    Blocks,
    Cell,
    Report,
    Table,
    in_list,
    in_one,
    report_on,
)
from beyondchance.reporting.columns import (
    COUNT,
    FILES,
    TAIL,
    TEXT,
    Column,
    Data,
    Group,
    command,
    for_people,
    kind,
    many,
    maybe,
    one_of,
    ready,
    table_of,
)
from beyondchance.reporting.commands.places import PLACE, blocks_of, contexts_of, rows_of
from beyondchance.scoring.disagreements import KINDS, Disagreements
from beyondchance.scoring.places import Places
from beyondchance.tallies import left_out

NO_SPAN = "no span"
"""The heading of what the other annotator did not mark."""
_MATRIX = 10
"""Labels for which a table of all by all can still be read."""


_KINDS = Group(
    "kinds",
    [
        COUNT("agree", "pairs of spans with equal offsets and equal labels"),
        COUNT("label", "pairs with equal offsets and different labels"),
        COUNT("boundary", "overlapping pairs with different offsets and equal labels"),
        COUNT("both", "overlapping pairs with different offsets and different labels"),
        COUNT("missed", "spans of annotator a without a partner"),
        COUNT("extra", "spans of annotator b without a partner"),
    ],
)
_A, _B, _LABEL = TEXT("a"), TEXT("b"), maybe(TEXT)
_OFFSET = maybe(COUNT)
_DISAGREEMENT = Group(
    "disagreement",
    [
        TEXT("document"),
        COUNT("text", "number of the text in its document, from 0 on"),
        Column("kind", one_of(*KINDS)),
        _A,
        _B,
        *(
            column
            for side in "ab"
            for column in (
                _OFFSET(f"start_{side}", "null where there is no span"),
                _OFFSET(f"end_{side}"),
                _LABEL(f"label_{side}"),
                _LABEL(
                    f"surface_{side}",
                    "what was marked; null also where the text is not known or not to be shown",
                ),
            )
        ),
    ],
)
_MET = Group(
    "",
    [
        *(_LABEL(side, "null stands for no span") for side in "ab"),
        Column("count", kind(type="integer", minimum=1)),
    ],
)
DISAGREEMENTS = command(
    "disagreements",
    *FILES,
    COUNT("n_documents"),
    COUNT("n_spans", "spans of all who are compared, each counted once"),
    _KINDS("kinds"),
    Column("pairs", many(Group("", [_A, _B, _KINDS("kinds")]))),
    Column("labels", many(_MET), "how often a label of annotator a met a label of annotator b"),
    Column(
        "disagreements",
        ready(many(_DISAGREEMENT)),
        "those of the kinds and labels asked for, in reading order",
    ),
    Column(
        "places",
        ready(many(PLACE)),
        "the same by place, where places are listed",
        is_optional=True,
    ),
    *TAIL,
)


def kind_names(found: Disagreements) -> dict[str, str]:
    """Return the kinds in words: only against a gold standard is something missed or extra.

    Examples
    --------
    >>> from beyondchance import Corpus, disagreements
    >>> corpus = Corpus.from_tags({"ada": [["B-P", "O"]], "ben": [["O", "O"]]})
    >>> kind_names(disagreements(corpus))["missed"]
    'only ada'
    >>> kind_names(disagreements(corpus.with_gold("ada")))["missed"]
    'missed'
    """
    names = {sort: sort for sort in KINDS}
    if is_against_gold(found):
        return names
    first, second = found.pairs[0] if len(found.pairs) == 1 else ("first", "second")
    return {**names, "missed": f"only {first}", "extra": f"only {second}"}


def is_against_gold(found: Disagreements) -> bool:
    """Return whether all are compared with a gold standard, which then comes first."""
    return all(first == found.corpus.gold for first, _ in found.pairs)


def disagreements_report(
    found: Disagreements,
    listed: Disagreements,
    *,
    places: Places | None = None,
    top: int = 20,
    is_narrow: bool = False,
) -> Report:
    """Build the report of `disagreements`; outputs show parts of it.

    Parameters
    ----------
    found : Disagreements
        What is counted.
    listed : Disagreements
        What is listed, one by one.
    places : Places, optional
        What is listed instead, for people and in CSV.
    top : int
        Rows of long tables for people; 0 shows all.
    is_narrow : bool
        Whether the list has few columns: labels stand next to the kind, and offsets only
        where the texts are not known.
    """
    corpus = found.corpus
    by_pair = found.by_pair()
    labels = found.label_table()
    names = kind_names(found)
    alone = left_out("{documents} that no two of those compared share", "")
    skipped = {**corpus.skipped, alone: len(corpus.documents) - len(found.documents)}

    def blocks() -> Blocks:
        annotators = {name for pair in found.pairs for name in pair}
        who = in_list([name for name in corpus.annotators if name in annotators])
        extent = corpus.select(documents=found.documents).extent
        yield sentences.compared(who, extent, found.n_spans, corpus.positions)
        if places is not None:
            yield from blocks_of(found.places, places, top=top)
            return
        yield _pairs_table(by_pair, names, _remark(found), top)
        if labels:
            yield _labels_table(labels, found, top)
        yield _list_table(listed, top, is_narrow) if len(listed) else "Nothing to list."

    def data() -> Data:
        return {
            "n_documents": len(found.documents),
            "n_spans": found.n_spans,
            "kinds": found.by_kind(),
            "pairs": [{"a": a, "b": b, "kinds": counts} for (a, b), counts in by_pair.items()],
            "labels": [{"a": a, "b": b, "count": count} for (a, b), count in labels.items()],
            "disagreements": listed.to_rows(),
            "places": None if places is None else rows_of(places),
        }

    notes = []
    if corpus.gold is not None and not any(corpus.gold in pair for pair in found.pairs):
        remedy = (Use("annotators", placeholder="NAME"), " compares an annotator with it")
        notes.append(sentences.gold_left_out(corpus.gold, remedy))
    return report_on(
        corpus,
        corpus,
        *notes,
        group=DISAGREEMENTS,
        signature=found.signature,
        skipped={what: number for what, number in skipped.items() if number},
        make_blocks=blocks,
        make_data=data,
        make_rows=listed.to_rows if places is None else partial(rows_of, places),
    )


def report_of_disagreements(found: Disagreements) -> Report:
    """Build the report of disagreements; pairs of spans that agree are not listed."""
    differing = found.only(kinds=[sort for sort in KINDS if sort != "agree"])
    return disagreements_report(found, differing, is_narrow=True)


def _remark(found: Disagreements) -> str:
    """Say what kinds without a span on one side mean; nothing where their names say it."""
    if is_against_gold(found):
        return "(missed: marked by the gold standard only; extra: by the other only)"
    if len(found.pairs) == 1:
        return ""
    return "(first and second: of the two annotators of a pair)"


def _pairs_table(
    by_pair: Mapping[tuple[str, str], Mapping[str, int]],
    names: Data,
    remark: str,
    top: int,
) -> Table:
    """Return a table of counts by kind, of all pairs together and of each."""
    pairs: list[Data] = [{"pair": " and ".join(pair), **counts} for pair, counts in by_pair.items()]
    whole = {"pair": "all pairs", **{x: sum(row[x] for row in pairs) for x in KINDS}}
    is_cut = 0 < top < len(pairs)
    if is_cut:
        remark = in_one(f"The {top:,} of {len(pairs):,} that differ most.", remark)
        pairs.sort(key=lambda row: row["agree"] - sum(row[x] for x in KINDS))
    rows = [whole, *pairs] if len(pairs) > 1 else pairs
    title, columns = "pairs of spans, and spans without a partner", _KINDS.columns
    shown = rows[: top + 1] if is_cut else rows
    return table_of(shown, [Column("pair"), *columns], title, remark, **names)._replace(
        is_cut=is_cut
    )


def _labels_table(
    labels: Mapping[tuple[str | None, str | None], int], found: Disagreements, top: int
) -> Table:
    """Return a table of labels by labels; of too many, those that differ most often."""
    first, second = found.pairs[0] if len(found.pairs) == 1 else ("the first", "the second")
    names = [name for name in found.corpus.labels if any(name in pair for pair in labels)]
    if len(names) <= _MATRIX:
        sides = [*names, None]
        rows: list[Sequence[Cell]] = [
            (_name(a), *(labels.get((a, b), 0) for b in sides)) for a in sides
        ]
        # There is nothing to count where neither marks anything.
        rows[-1] = (*rows[-1][:-1], None)
        title = f"labels: down, those of {first}; across, those of {second}"
        return Table((first, *map(_name, sides)), rows, title)
    columns = (
        for_people(first, lambda row: _name(row[0][0])),
        for_people(second, lambda row: _name(row[0][1])),
        for_people("times", itemgetter(1)),
    )
    different = [item for item in labels.items() if item[0][0] != item[0][1]]
    different.sort(key=lambda item: -item[1])
    return table_of(different, columns, "labels that differ, the most frequent first", top=top)


def _name(label: str | None) -> str:
    return NO_SPAN if label is None else label


def _list_table(listed: Disagreements, top: int, is_narrow: bool) -> Table:
    """Return a table of all disagreements, in the text where that is known."""
    shown = listed[:top] if top else listed
    rows, marked = shown.to_rows(), contexts_of(shown)
    for row, in_the_text in zip(rows, marked, strict=False):
        row["in the text"] = in_the_text
    corpus, one_pair = listed.corpus, len(listed.pairs) == 1
    first, second = listed.pairs[0] if one_pair else ("first", "second")
    words = partial(_kind, against_gold=is_against_gold(listed), has_labels=is_narrow)
    columns = [
        Column("document", heading=corpus.extent.noun),
        *([Column("text")] if len(corpus.text_length) > len(corpus.documents) else []),
        *([] if one_pair else [for_people("annotators", lambda row: f"{row['a']} and {row['b']}")]),
        for_people("kind", words),
    ]
    if not (is_narrow and marked):
        columns.append(for_people(first, lambda row: _span(row, "a")))
        columns.append(for_people(second, lambda row: _span(row, "b")))
    columns += [Column("in the text")] if marked else []
    one, other = listed.pairs[0] if one_pair else ("the first", "the second")
    legend = f"([ ] marked by {one}, {{ }} by {other})" if marked else ""
    title = "one by one, in reading order"
    return table_of(rows, columns, title, legend, top=top, n_rows=len(listed))


def _kind(row: Data, *, against_gold: bool, has_labels: bool) -> str:
    """Return the kind of a disagreement in words, with the label or both labels."""
    sort: str = row["kind"]
    side = {"missed": "a", "extra": "b"}.get(sort)
    if side is not None and not against_gold:
        sort = f"only {row[side]}"
    if not has_labels:
        return sort
    labels = dict.fromkeys(label for side in "ab" if (label := row[f"label_{side}"]) is not None)
    return f"{sort}: {' / '.join(labels)}"


def _span(row: Data, side: str) -> str | None:
    start, end, label = (row[f"{name}_{side}"] for name in ("start", "end", "label"))
    return None if label is None else f"{start}-{end} {label}"
