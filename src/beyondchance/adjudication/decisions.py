"""What people decided, place by place, as the page saves it.

A decision is about a stretch of a text: within it, the gold standard has the spans that were
decided on, and no others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus, Span
from beyondchance.checks import is_whole
from beyondchance.errors import DataError, FormatError, MismatchError, OptionError
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, Text, Use, given

KIND, FORMAT = "decisions", 1
CHOICES = ("version", "consensus", "nothing", "edited")
"""How somebody decided: for what an annotator has, the consensus, nothing, or something else."""
_KEYS = ("document", "text", "start", "end", "spans", "choice", "of", "by", "note", "words")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody decided about a stretch of a text.

    Attributes
    ----------
    document : str
    text : int
        The number of the text in its document, from 0 on.
    start, end : int
        The stretch, in the positions of the corpus.
    spans : tuple of Span
        What the gold standard has there.
    choice : {"version", "consensus", "nothing", "edited"}
    of : tuple of str
        Whose version it is.
    by : str
        Who decided.
    note : str
    words : str, optional
        What the stretch covers, to know that the text is the same.
    where : Text
        Its place in the file, for messages.
    """

    document: str
    text: int
    start: int
    end: int
    spans: tuple[Span, ...]
    choice: str = "edited"
    of: tuple[str, ...] = ()
    by: str = ""
    note: str = ""
    words: str | None = None
    where: Text = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as in JSON."""
        plain = {name: getattr(self, name) for name in _KEYS}
        return plain | {"spans": [list(span) for span in self.spans], "of": list(self.of)}


def decisions_in(source: Any, corpus: Corpus) -> list[Decision]:
    """The decisions of a file, or of what it holds, checked against the corpus.

    Parameters
    ----------
    source : str, path, or mapping
    corpus : Corpus

    Raises
    ------
    FormatError
        For a file that is none of decisions, or a decision that is none.
    MismatchError
        For decisions about other documents, texts or positions.
    """
    name, content = _loaded(source)
    if not isinstance(content, Mapping) or content.get("beyondchance") != KIND:
        raise FormatError(
            "holds no decisions",
            where=name,
            expected="the file that the page of 'report' saves",
        )
    if content.get("format") != FORMAT:
        found = quoting("decisions of format {}", content.get("format"))
        raise FormatError(*found, where=name, expected=f"format {FORMAT}")
    for option in ("unit", "positions"):
        if content.get(option) != getattr(corpus, option):
            raise MismatchError(
                *(f"decisions by {option} ", Quote(content.get(option)), ", and annotations by "),
                Quote(getattr(corpus, option)),
                where=name,
                remedy=("read the files as for the page: pass ", Use(option, content.get(option))),
            )
    listed = content.get("decisions")
    if not isinstance(listed, list):
        raise FormatError("holds no list of decisions", where=name)
    numbers = {document: number for number, document in enumerate(corpus.documents)}
    return [
        _checked(item, corpus, numbers, (name, f", decision {number}"))
        for number, item in enumerate(listed, start=1)
    ]


def _loaded(source: Any) -> tuple[str, Any]:
    """The name of a file for messages, and what it holds."""
    if isinstance(source, Mapping):
        return "decisions", source
    if not isinstance(source, str | PathLike):
        raise OptionError(*given("decisions", source), expected="a file, or what it holds")
    name = fspath(source)
    try:
        text = Path(source).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise FormatError(f"cannot be read ({why.lower()})", where=Path(name).name) from None
    try:
        return Path(name).name, json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        problem = "holds no JSON" + (f" (it breaks off or is wrong in line {line})" if line else "")
        raise FormatError(problem, where=Path(name).name, expected="decisions") from None


def _checked(
    item: Any, corpus: Corpus, numbers: Mapping[str, int], where: tuple[Piece, ...]
) -> Decision:
    """A decision, refused if it is none or not about this corpus."""
    if not isinstance(item, Mapping) or not item.keys() <= {*_KEYS}:
        expected = f"an object with some of {', '.join(sorted(_KEYS))}"
        raise FormatError("is no decision", where=where, expected=expected)
    number = numbers.get(item["document"]) if isinstance(item.get("document"), str) else None
    if number is None:
        raise MismatchError(
            *("no document ", Quote(item.get("document")), " is there"),
            where=where,
            remedy="decide in a page that was made from these files",
        )
    first, behind = np.searchsorted(corpus.text_document, (number, number + 1)).tolist()
    places: list[Any] = [item.get(key) for key in ("text", "start", "end")]
    if not all(map(is_whole, places)):
        raise FormatError("has no text, start or end", where=where, expected="whole numbers")
    text, start, end = map(int, places)
    if not 0 <= text < behind - first:
        raise MismatchError(
            *("document ", Quote(item["document"]), f" has no text {text}"),
            where=where,
            expected=f"one of {behind - first}, from 0 on",
        )
    length = int(corpus.text_length[first + text])
    if not 0 <= start < end <= length:
        problem = f"the stretch [{start}, {end}) does not lie in the text"
        raise MismatchError(problem, where=where, expected=f"{length} positions at most")
    known = item.get("words")
    if not isinstance(known, str | None):
        raise FormatError("has words that are no text", where=where)
    if known is not None and _words(corpus, first + text, start, end) not in {None, known}:
        raise MismatchError(
            *("the text is another one there: ", Quote(_words(corpus, first + text, start, end))),
            where=where,
            expected=Quote(known),
            remedy="decide in a page that was made from these files",
        )
    names = item.get("of", [])
    plain = {key: item.get(key) or "" for key in ("by", "note")}
    if isinstance(plain["by"], str):
        # People are named without their e-mail addresses, as annotators are.
        plain["by"] = plain["by"].partition("@")[0].strip() or plain["by"]
    if not isinstance(names, list) or not all(
        isinstance(x, str) for x in (*names, *plain.values())
    ):
        raise FormatError("has names or a note that are no text", where=where)
    return Decision(
        document=item["document"],
        text=text,
        start=start,
        end=end,
        spans=_spans(item.get("spans"), start, end, where),
        choice=_choice(item.get("choice", "edited"), where),
        of=tuple(names),
        **plain,
        words=known,
        where=where,
    )


def _words(corpus: Corpus, text: int, start: int, end: int) -> str | None:
    """What a stretch covers; None if that is not known."""
    if not corpus.knows_characters or corpus.texts is None:
        return None
    low, high = corpus.characters(*(np.array(value) for value in (text, start, end)))
    return corpus.texts[text][int(low) : int(high)]


def _choice(value: Any, where: tuple[Piece, ...]) -> str:
    if value not in CHOICES:
        found = ("has the choice ", Quote(value))
        raise FormatError(*found, where=where, expected=f"one of {', '.join(CHOICES)}")
    return str(value)


def _spans(listed: Any, start: int, end: int, where: tuple[Piece, ...]) -> tuple[Span, ...]:
    """The spans of a decision, in reading order."""
    if not isinstance(listed, list):
        raise FormatError("has no list of spans", where=where)
    found = set()
    for item in listed:
        is_span = isinstance(item, Sequence) and len(item) == 3 and not isinstance(item, str)
        if not (is_span and is_whole(item[0]) and is_whole(item[1]) and isinstance(item[2], str)):
            problem = ("has the span ", Quote(item))
            raise FormatError(*problem, where=where, expected="start, end and label")
        label = item[2]
        is_name = label and label == label.strip() and label.isprintable()
        if not start <= item[0] < item[1] <= end or not is_name:
            problem = ("has the span ", Quote(item))
            raise FormatError(
                *problem, where=where, expected=f"a label, and a place within [{start}, {end})"
            )
        found.add(Span(int(item[0]), int(item[1]), item[2]))
    return tuple(sorted(found))


def together(files: Iterable[Sequence[Decision]]) -> list[Decision]:
    """The decisions of several people as one list, in reading order.

    Raises
    ------
    DataError
        Where they decided differently, or overlapping stretches.
    """
    by_text: dict[tuple[str, int], list[Decision]] = {}
    for decision in (decision for listed in files for decision in listed):
        by_text.setdefault((decision.document, decision.text), []).append(decision)
    merged: list[Decision] = []
    n_conflicts, first = 0, None
    for own in by_text.values():
        last: Decision | None = None
        for decision in sorted(own, key=attrgetter("start")):
            # None of those that are merged overlaps another, so the last is the one to look at.
            if last is None or decision.start >= last.end:
                merged.append(decision)
            elif is_same(last, decision):
                merged[-1] = _of_both(last, decision)
            else:
                n_conflicts += 1
                first = first or (last, decision)
                continue
            last = merged[-1]
    if first is not None:
        one, other = first
        who = (Quote(one.by or "the first"), " and ", Quote(other.by or "the second"))
        stretch = f", text {other.text}, [{other.start}, {other.end})"
        places = "1 place is" if n_conflicts == 1 else f"{n_conflicts:,} places are"
        raise DataError(
            f"{places} decided differently, the first by ",
            *who,
            where=("document ", Quote(other.document), stretch),
            expected="one decision for a place",
            remedy="compare the files in the page, and save one that both can stand by",
        )
    return merged


def is_same(one: Decision, other: Decision) -> bool:
    """Whether two people decided the same about the same stretch."""
    return (one.start, one.end, one.spans) == (other.start, other.end, other.spans)


def _of_both(one: Decision, other: Decision) -> Decision:
    names = dict.fromkeys(name for name in (one.by, other.by) if name)
    notes = dict.fromkeys(note for note in (one.note, other.note) if note)
    return replace(one, by=", ".join(names), note="; ".join(notes))
