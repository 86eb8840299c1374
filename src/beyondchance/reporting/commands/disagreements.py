"""The report of `disagreements`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from beyondchance.messages import Use
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import CUT, Block, Cell, Prose, Report, Table, cut, in_list
from beyondchance.reporting.commands.places import blocks_of, rows_of
from beyondchance.reporting.contexts import in_text
from beyondchance.scoring.disagreements import KINDS, Disagreements
from beyondchance.scoring.places import Places
from beyondchance.tallies import left_out

NO_SPAN = "no span"
"""The heading of what the other annotator did not mark."""
_MATRIX = 10
"""Labels for which a table of all by all can still be read."""


def kind_names(found: Disagreements) -> dict[str, str]:
    """The kinds in words: against a gold standard something is missed or extra, else it is not.

    Examples
    --------
    >>> from beyondchance import Corpus, disagreements
    >>> corpus = Corpus.from_tags({"ada": [["B-P", "O"]], "ben": [["O", "O"]]})
    >>> kind_names(disagreements(corpus))["missed"]
    'only ada'
    >>> kind_names(disagreements(corpus.with_gold("ada")))["missed"]
    'missed'
    """
    names = {kind: kind for kind in KINDS}
    if is_against_gold(found):
        return names
    first, second = found.pairs[0] if len(found.pairs) == 1 else ("first", "second")
    return {**names, "missed": f"only {first}", "extra": f"only {second}"}


def is_against_gold(found: Disagreements) -> bool:
    """Whether all annotators are compared with a gold standard, which then comes first."""
    return all(first == found.corpus.gold for first, _ in found.pairs)


def disagreements_report(
    found: Disagreements,
    listed: Disagreements,
    *,
    places: Places | None = None,
    top: int = 20,
    is_narrow: bool = False,
) -> Report:
    """The report of `disagreements`, of which an output shows a part.

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
    shown = listed[:top] if top else listed

    def blocks() -> list[Block]:
        annotators = {name for pair in found.pairs for name in pair}
        who = in_list([name for name in corpus.annotators if name in annotators])
        extent = corpus.select(documents=found.documents).extent
        compared = Prose(sentences.compared(who, extent, found.n_spans, corpus.positions))
        if places is not None:
            return [compared, *blocks_of(found.places, places, top=top)]
        return [
            compared,
            _pairs_table(by_pair, names, _remark(found), top),
            *([_labels_table(labels, found, top)] if labels else []),
            _list_table(shown, len(listed), is_narrow=is_narrow)
            if len(listed)
            else Prose("Nothing to list."),
        ]

    def data() -> dict[str, Any]:
        return {
            "n_documents": len(found.documents),
            "n_spans": found.n_spans,
            "kinds": found.by_kind(),
            "pairs": [{"a": a, "b": b, "kinds": counts} for (a, b), counts in by_pair.items()],
            "labels": [{"a": a, "b": b, "count": count} for (a, b), count in labels.items()],
            "disagreements": listed.to_rows(),
            **({} if places is None else {"places": rows_of(places)}),
        }

    notes = [*corpus.notes]
    if corpus.gold is not None and not any(corpus.gold in pair for pair in found.pairs):
        remedy = (Use("annotators", placeholder="NAME"), " compares an annotator with it")
        notes.append(sentences.gold_left_out(corpus.gold, remedy))
    is_cut = len(shown) < len(listed) or 0 < top < len(by_pair)
    if places is not None:
        is_cut = 0 < top < len(places)
    return Report(
        command="disagreements",
        corpus=corpus,
        signature=found.signature,
        noun=corpus.extent.noun,
        skipped={what: number for what, number in skipped.items() if number},
        notes=(*notes, *([CUT] if is_cut else [])),
        make_blocks=blocks,
        make_data=data,
        make_rows=listed.to_rows if places is None else partial(rows_of, places),
    )


def report_of_disagreements(found: Disagreements) -> Report:
    """The report of disagreements, of which those are listed that differ."""
    differing = found.only(kinds=[kind for kind in KINDS if kind != "agree"])
    return disagreements_report(found, differing, is_narrow=True)


def _remark(found: Disagreements) -> str:
    """What the kinds mean of which one side has no span; nothing where their names say it."""
    if is_against_gold(found):
        return "(missed: marked by the gold standard only; extra: by the other only)"
    if len(found.pairs) == 1:
        return ""
    return "(first and second: of the two annotators of a pair)"


def _pairs_table(
    by_pair: Mapping[tuple[str, str], Mapping[str, int]],
    names: Mapping[str, str],
    remark: str,
    top: int,
) -> Table:
    """Counts by kind, of all pairs together and of each."""

    def differing(counts: Mapping[str, int]) -> int:
        return sum(counts.values()) - counts["agree"]

    pairs = [(" and ".join(pair), counts) for pair, counts in by_pair.items()]
    total = {kind: sum(counts[kind] for _, counts in pairs) for kind in KINDS}
    if 0 < top < len(pairs):
        remark = f"The {top:,} of {len(pairs):,} that differ most. {remark}".rstrip()
        pairs = sorted(pairs, key=lambda item: -differing(item[1]))[:top]
    if len(by_pair) > 1:
        pairs = [("all pairs", total), *pairs]
    rows: list[Sequence[Cell]] = [
        (name, *(counts[kind] for kind in KINDS)) for name, counts in pairs
    ]
    return Table(
        ("pair", *names.values()), rows, "pairs of spans, and spans without a partner", remark
    )


def _labels_table(
    labels: Mapping[tuple[str | None, str | None], int], found: Disagreements, top: int
) -> Table:
    """Labels by labels; where there are too many, the pairs that differ most often."""
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
    different = [(count, a, b) for (a, b), count in labels.items() if a != b]
    different.sort(key=lambda item: -item[0])
    shown, remark = cut(different, top)
    return Table(
        (first, second, "times"),
        [(_name(a), _name(b), count) for count, a, b in shown],
        "labels that differ, the most frequent first",
        remark,
    )


def _name(label: str | None) -> str:
    return NO_SPAN if label is None else label


def _list_table(shown: Disagreements, n_listed: int, *, is_narrow: bool = False) -> Table:
    """One row for each disagreement, in the text where that is known."""
    rows, marked = shown.to_rows(), _in_texts(shown)
    one_pair, against_gold = len(shown.pairs) == 1, is_against_gold(shown)
    several_texts = len(shown.corpus.text_length) > len(shown.corpus.documents)
    first, second = shown.pairs[0] if one_pair else ("first", "second")
    columns: list[tuple[str, Sequence[Cell]]] = [
        (shown.corpus.extent.noun, [row["document"] for row in rows]),
        *([("text", [row["text"] for row in rows])] if several_texts else []),
        *([] if one_pair else [("annotators", [f"{row['a']} and {row['b']}" for row in rows])]),
        ("kind", [_kind(row, against_gold=against_gold, has_labels=is_narrow) for row in rows]),
    ]
    if not (is_narrow and marked):
        columns.append((first, [_span(row, "a") for row in rows]))
        columns.append((second, [_span(row, "b") for row in rows]))
    columns += [("in the text", marked)] if marked else []
    headings = [heading for heading, _ in columns]
    remark = f"{len(rows):,} of {n_listed:,}." if len(rows) < n_listed else ""
    who = shown.pairs[0] if one_pair else ("the first", "the second")
    legend = f"([ ] marked by {who[0]}, {{ }} by {who[1]})" if marked else ""
    remark = " ".join(filter(None, (remark, legend)))
    cells = list(zip(*(column for _, column in columns), strict=True))
    return Table(headings, cells, "one by one, in reading order", remark)


def _kind(row: Mapping[str, Any], *, against_gold: bool, has_labels: bool) -> str:
    """The kind of a disagreement in words; and the label, or both labels."""
    kind: str = row["kind"]
    side = {"missed": "a", "extra": "b"}.get(kind)
    if side is not None and not against_gold:
        kind = f"only {row[side]}"
    if not has_labels:
        return kind
    labels = dict.fromkeys(label for side in "ab" if (label := row[f"label_{side}"]) is not None)
    return f"{kind}: {' / '.join(labels)}"


def _span(row: Mapping[str, Any], side: str) -> str | None:
    start, end, label = (row[f"{name}_{side}"] for name in ("start", "end", "label"))
    return None if label is None else f"{start}-{end} {label}"


def _in_texts(shown: Disagreements) -> list[str]:
    """Each row in its text, with brackets around what was marked; nothing without texts."""
    characters, texts = shown.characters(), shown.corpus.texts
    if characters is None or texts is None:
        return []
    columns = [column.tolist() for column in (shown.text, *characters)]
    return [
        in_text(texts[text], (start_a, end_a), (start_b, end_b))
        for text, start_a, end_a, start_b, end_b in zip(*columns, strict=True)
    ]
