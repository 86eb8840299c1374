"""Read records of JSON-like formats by a declaration of where they keep their parts.

A shape names the keys of texts, documents, annotators and spans. Parsing, checks of types and
refusals with their place, what was found and what was expected are the same for all shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from os import PathLike
from typing import Any, NamedTuple

from beyondchance.checks import is_whole
from beyondchance.errors import FormatError, OptionError
from beyondchance.io.columns import named_fields
from beyondchance.io.conventions import BELONG_TOGETHER, check_unit
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import rows_of
from beyondchance.io.offsets import Interval, length_of, words_at
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import parquet_rows
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source, hidden_below, is_parquet, opened
from beyondchance.io.values import (
    identified,
    identifier,
    label_of,
    listed,
    object_of,
    refusal,
    refused,
    string_of,
    value_at,
    whole,
)
from beyondchance.messages import Text, given, pieces, quotes
from beyondchance.tallies import Tally, left_out

Item = Mapping[str, Any]
_UNLABELLED = left_out("spans without a label")


WRITTEN = {"tokens": "token_offsets", "sentences": "sentence_offsets"}
"""Where formats that have no place for tokens and sentences keep them."""
UNPLACED = "tokens and sentences that were written with the spans are not used with other offsets"


class Row(NamedTuple):
    """An object of JSON, such as a record or a span, with its place.

    Attributes
    ----------
    where : Text
        Its place, for messages.
    item : mapping
    name : str
        What names its document if nothing else does.
    """

    where: Text
    item: Any
    name: str = ""

    def at(self, path: str) -> Any:
        """Return what is under a path; None if nothing is."""
        return value_at(self.item, path, self.where)

    def values(self, path: str) -> list[Any]:
        """Return a list, empty where there is none."""
        return listed(self.item, path, self.where)

    def string(self, path: str, expected: Text = "a string") -> str:
        """Return a string, which has to be there."""
        return string_of(self.item, path, self.where, expected)

    def whole(self, path: str) -> int:
        """Return a whole number, which has to be there."""
        return whole(self.at(path), repr(path), self.where)

    def known(self, *paths: str) -> str | None:
        """Return the first name or number under some paths."""
        return identified(self.item, paths, self.where)

    def inner(self, path: str) -> Row:
        """Return an object, which has to be there."""
        return Row(self.where, object_of(self.at(path), self.where, repr(path)))

    def each(self, path: str, kind: str) -> Iterator[Row]:
        """Yield the objects of a list, each with its place."""
        return objects(self.values(path), self.where, kind)

    def refused(self, path: str, expected: Text, remedy: Text = ()) -> FormatError:
        """Return the error for what is under a path."""
        return refused(self.at(path), repr(path), self.where, expected, remedy)


def objects(values: Iterable[Any], where: Text, kind: str) -> Iterator[Row]:
    """Yield the objects of a list, each with its place."""
    for at, value in numbered(values, where, kind):
        yield Row(at, object_of(value, at))


def rows(source: Source, prefix: str = "") -> Iterator[Row]:
    """Yield the records of a file, which is JSON, JSON lines or Parquet."""
    for where, number, item in parquet_rows(source) if is_parquet(source) else rows_of(source):
        yield Row(where, object_of(item, where), f"{prefix}{number}")


def all_rows(upload: Upload) -> Iterator[Row]:
    """Yield the records of all files of an upload, named by their numbers."""
    for source in upload.sources:
        yield from rows(source, upload.prefix_of(source, ":"))


def asked_for(option: str, name: str, known: Collection[str], where: str, what: str) -> str:
    """Return a name that an option asks for, refused unless it is known."""
    if name not in known:
        found = (*given(option, name), f", and the {what} are ", *quotes(known))
        raise OptionError(*found, where=where, expected="one of them")
    return name


def only(names: Collection[str], where: Text, what: str, remedy: Text) -> str | None:
    """Return the only one of some names; None if there is none, refused if there are several."""
    if len(names) > 1:
        raise refusal(
            where, f"several {what}: {{}}", quotes(names), expected="one of them", remedy=remedy
        )
    return next(iter(names), None)


def numbered(values: Iterable[Any], where: Text, kind: str) -> Iterator[tuple[Text, Any]]:
    """Yield the objects of a list, each with its place."""
    for number, value in enumerate(values, start=1):
        place = f": {kind} #{number}"
        at = f"{where}{place}" if isinstance(where, str) else (*pieces(where), place)
        yield at, value


def several(value: Any) -> list[Any]:
    """Return a value as a list, unless it is one that is not empty."""
    return value if isinstance(value, list) and value else [value]


def people_in(item: Any, keys: Iterable[str], where: Text) -> list[str]:
    """Return the annotators of a record or a span, under the first key that has some."""
    for key in keys:
        is_there = key.isdecimal() or isinstance(item, Mapping)
        found = value_at(item, key, where) if key and is_there else None
        if found not in (None, "", []):
            names = (identifier({key: name}, key, where) for name in several(found))
            return list(filter(None, names))
    return []


def given_texts(reading: Reading, looks: Callable[[Source], object]) -> list[Source]:
    """Open what the option ``documents`` names: a file, or those of a folder that look right."""
    path: Any = reading.options["documents"]
    if not isinstance(path, str | PathLike):
        expected = "the path of the texts, a file or a folder"
        raise OptionError(*given("documents", path), expected=expected)
    found = opened(path)
    files = [found] if isinstance(found, Source) else list(filter(looks, found))
    return hidden_below("documents", files) if reading.hides_files else files


def tokens_of(
    row: Row, text: str, reading: Reading, *, checks_words: bool = True
) -> list[Interval]:
    """Return the tokens of a record, refused unless they go from left to right in its text."""
    unit = reading.options["offsets"] or "codepoints"
    words = words_at(text, unit)
    tokens: list[Interval] = [(0, 0)]
    for token in row.each("tokens", "token"):
        start, end = token.whole("start"), token.whole("end")
        covered, stored = words(start, end), token.item.get("text")
        if not covered or start < tokens[-1][1]:
            size = length_of(text, unit)
            expected = f"tokens from left to right within the {size} characters of the text"
            raise refusal(token.where, f"a token is [{start}, {end})", expected=expected)
        if checks_words and isinstance(stored, str) and stored != covered:
            raise refusal(
                token.where,
                "a token covers {}, but the file stores {}",
                *(covered, stored),
                remedy=BELONG_TOGETHER,
            )
        tokens.append((start, end))
    return tokens[1:]


def written_places(item: Item, what: str, reading: Reading) -> list[Interval] | None:
    """Return the tokens or sentences of a record, where `write` put them as pairs of offsets."""
    value = item.get(WRITTEN[what])
    if value and reading.options["offsets"]:
        reading.note(UNPLACED)
        return None
    are_pairs = isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(is_whole, pair)) for pair in value
    )
    return [(start, end) for start, end in value] if value and are_pairs else None


class Shape(NamedTuple):
    """Where the records of a format keep their parts.

    Of several keys, the first that a record has counts. Every key may be a path, as in
    ``char_interval.start_pos``, ``points.0.start`` or ``points.*.start`` (see `value_at`).

    Attributes
    ----------
    records : str
        The key of the list of records, in a file that is one object.
    texts, documents, annotators : tuple of str
        Keys of a record. Without a text, it is in a file that is named as the document is.
    line : str
        The key of the line that is the text, in a file of several.
    tokens : str
        The key of words in the place of a text; offsets then count words. Lists of words in a list
        are sentences.
    spans : str
        The key of the list of spans.
    fields : str
        The key of an object whose strings are fields of the document.
    not_spans : mapping of str to Tally
        Keys of what else records and spans hold, and what it is counted as.
    kind : str
        What messages call a span.
    start, end, label, words, id : str
        Keys of a span, empty where it has no such part. Without an end, a span is as long as its
        words. Several starts, labels or annotators are several spans.
    annotator : tuple of str
        Keys of a span.
    ends : {"inclusive"}, optional
        Whether the end of a span is its last position.
    needs_words : bool
        Whether spans without words are refused.
    has_numbers : bool
        Whether a label may be a number.
    offsets : {"codepoints", "utf16", "bytes"}
        What offsets count.
    units : Text
        What to do where offsets are after characters that some programs count twice; empty if it
        is known what they count.
    unplaced, unannotated, empty : Tally, optional
        What to count as left out: spans without offsets, records whose spans are null, and those
        without spans where the option ``empty`` says that they are not annotated.
    reads : function of a value and its place, optional
        Yields the spans that a value stands for, where they have no keys of their own.
    is_read : function of an object and the reading, optional
        Whether a span is read; it counts those that are not.
    checked : function of an object, its span, the text and the reading, optional
        Checks a span by what else is known of it.
    """

    records: str = ""
    texts: tuple[str, ...] = ("text",)
    documents: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()
    line: str = ""
    tokens: str = ""
    spans: str = "spans"
    fields: str = ""
    not_spans: Mapping[str, Tally] = {}
    kind: str = "span"
    start: str = "start"
    end: str = "end"
    label: str = "label"
    words: str = ""
    annotator: tuple[str, ...] = ()
    id: str = ""
    ends: str | None = None
    needs_words: bool = False
    has_numbers: bool = False
    offsets: str = "codepoints"
    units: Text = ()
    unplaced: Tally | None = None
    unannotated: Tally | None = None
    empty: Tally | None = None
    reads: Callable[[Any, Text], Iterator[DraftSpan]] | None = None
    is_read: Callable[[Row, Reading], bool] | None = None
    checked: Callable[[Row, DraftSpan, str, Reading], DraftSpan] | None = None

    def drafts(
        self, row: Row, annotator: str, reading: Reading, values: list[Any] | None = None
    ) -> Iterator[Draft]:
        """Yield the draft of a record, if it is annotated.

        Parameters
        ----------
        row : Row
        annotator : str
            Who annotated, unless the record says so.
        reading : Reading
        values : list, optional
            The spans, where they are not under their key.
        """
        where, item, name = row
        text = self.text(row)
        if values is None:
            if self.unannotated is not None and row.at(self.spans) is None:
                reading.skipped[self.unannotated] += 1
                return
            values = row.values(self.spans)
        self.count_others(item, reading)
        if not values and self.empty is not None and reading.options["empty"] == "missing":
            reading.skipped[self.empty] += 1
            return
        spans = [
            span
            for at, value in numbered(values, where, self.kind)
            for span in self.marks(value, text, at, reading)
        ]
        if self.units and reading.options["offsets"] is None:
            check_unit(text, spans, where, self.units)
        yield Draft(
            where=where,
            document=row.known(*self.documents) or name,
            annotator=row.known(*self.annotators) or annotator,
            text=text,
            spans=spans,
            offsets=self.offsets,
            fields=named_fields(item.get(self.fields)),
            tokens=written_places(item, "tokens", reading),
            sentences=written_places(item, "sentences", reading),
        )

    def text(self, row: Row) -> str:
        """Return the text of a record."""
        known = (key for key in self.texts if row.at(key) is not None)
        keys = " or ".join(map(repr, self.texts))
        expected = f"the text that was annotated, a string under {keys}"
        return row.string(next(known, self.texts[0]), expected)

    def marks(self, value: Any, text: str, where: Text, reading: Reading) -> Iterator[DraftSpan]:
        """Yield the spans that an object stands for, if it is read: one for each place and label.

        An empty key stands for a part that spans do not have.
        """
        if self.reads is not None:
            yield from self.reads(value, where)
            return
        row = Row(where, value if self.start.isdecimal() else object_of(value, where))
        if self.is_read is not None and not self.is_read(row, reading):
            return
        self.count_others(row.item, reading)
        unit = reading.options["offsets"] or self.offsets
        name = row.at(self.id) if self.id else None
        stem = self.start.partition("*")[0] + "*"
        n_places = len(several(row.at(self.start))) if "*" in self.start else 1
        for number in map(str, range(n_places)):
            # Labels stand for all places, unless they are in the list of these.
            label_key = self.label.replace(stem, stem[:-1] + number)
            keys = (x.replace("*", number) for x in (self.start, self.end, self.words))
            start_key, end_key, words_key = keys
            if (found := row.at(label_key)) == []:
                reading.skipped[_UNLABELLED] += 1
                continue
            labels, words = several(found), None
            for label in labels:
                if not self.has_numbers or not is_whole(label):
                    label_of(label, where, repr(label_key))
            if self.needs_words or (words_key and row.at(words_key) is not None):
                words = row.string(words_key, "the words of the span")
            if (
                self.unplaced
                and row.at(start_key) is None
                and (not end_key or row.at(end_key) is None)
            ):
                reading.skipped[self.unplaced] += 1
                continue
            start = row.whole(start_key)
            end = row.whole(end_key) if end_key else start + length_of(words or "", unit)
            known = str(name) if isinstance(name, str | int) else ""
            for label in labels:
                span = DraftSpan(start, end, str(label), words, where, id=known)
                yield span if self.checked is None else self.checked(row, span, text, reading)

    def fits(self, item: Any) -> bool | None:
        """Return whether a record is of this shape; None if it is, but has no span."""
        with suppress(FormatError):
            value = value_at(item, self.tokens or (*self.texts, *self.documents)[0], "")
            is_text = isinstance(value, list if self.tokens else str)
            if not is_text or not isinstance(several(value or "")[0], str):
                return False
            first = next(iter(listed(item, self.spans, "")), None)
            needed = (self.start, self.end, self.label, self.words, *self.annotator)
            has_all = all(value_at(first, key, "") is not None for key in needed if key)
            return has_all if first is not None else (self.spans.partition(".")[0] in item and None)
        return False

    def count_others(self, item: Item, reading: Reading) -> None:
        """Count what a record or a span holds besides."""
        for key, tally in self.not_spans.items():
            found = value_at(item, key, "") if isinstance(item, dict) else None
            if isinstance(found, list | dict) and found:
                reading.skipped[tally] += len(found)
