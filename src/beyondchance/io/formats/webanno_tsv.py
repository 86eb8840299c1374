"""WebAnno TSV 3.x: a line for each token, a column for each feature of each layer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.layers import Annotation, Layer, Layered, layer_drafts
from beyondchance.io.offsets import Interval, length_of, places
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import quoting
from beyondchance.messages import Quote, Text, Use
from beyondchance.tallies import Tally, left_out, no_spans

_BEGIN = "#FORMAT=WebAnno TSV 3"
_HEAD = re.compile(rf"{_BEGIN}(\.[0-3])?[ \t]*")
_TOKEN_LINE = re.compile(r"\d{1,9}-\d{1,9}((?:\.\d{1,9})*)", re.ASCII)
_OFFSETS = re.compile(r"(\d{1,10})-(\d{1,10})", re.ASCII)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BAR = re.compile(r"(?:[^\\|]++|\\.)+", re.DOTALL)
_NUMBERED = re.compile(r"((?:[^\\\[]++|\\.)*)\[(\d{1,9})\]", re.DOTALL | re.ASCII)
_IGNORED = {"CH": no_spans("chain links"), "RL": no_spans("relations"), "SP": no_spans("slots")}
CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b", "v": "\v"}

MOST_GAP = 2**20
"""Characters that may be missing between two sentences; more are an error."""


def is_tsv(source: Source) -> bool:
    """Whether a file begins as WebAnno TSV 3.x does."""
    try:
        return source.head_text.startswith(_BEGIN)
    except FormatError:
        return False


is_format = by_files(any, is_tsv)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, or a folder with a file for each document."""
    documents = [
        parsed(source, upload.document_of(source), upload.annotator, reading)
        for source in upload.sources_of(is_tsv, reading)
    ]
    if not documents:
        found = f"no file begins with '{_BEGIN}'"
        raise FormatError(found, where=upload.name, expected="at least one")
    yield from layer_drafts(documents, reading, name=upload.name, name_as_label=True)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of one layer: where they begin, and the features that they hold.

    Attributes
    ----------
    kind : {"SP", "CH", "RL"}
        Spans, chains, relations.
    layer : str
    first, count : int
    features : mapping of str to int
        Features with plain values, and their columns.
    """

    kind: str
    layer: str
    first: int
    count: int
    features: Mapping[str, int]


@dataclass(slots=True)
class _Sentence:
    """A sentence as it is being read."""

    line: int
    lines: list[str]
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def parsed(
    source: Source, document: str, annotator: str, reading: Reading, *, is_gold: bool = False
) -> Layered:
    """Read one file.

    Parameters
    ----------
    source : Source
    document, annotator : str
    reading : Reading
        What is ignored is counted there.
    is_gold : bool
    """
    lines = source.lines()
    if not lines or not _HEAD.fullmatch(lines[0]):
        raise FormatError(
            *("found ", Quote(lines[0]) if lines else "an empty file"),
            where=f"{source.name}:1",
            expected=f"'{_BEGIN}.0' to 3.3",
            remedy="export the document again as WebAnno TSV 3.3",
        )
    columns, sentences = _cut(lines, source.name)
    unit = reading.options["offsets"] or "utf16"
    text = _Text(unit)
    marks = _Found(columns)
    for sentence in sentences:
        if not sentence.rows:
            reading.skipped[left_out("sentences without tokens")] += 1
            continue
        rows = [_row(fields, line, columns, source.name) for line, fields in sentence.rows]
        text.add(sentence, rows)
        for row in rows:
            marks.add(row)
    if not text.tokens:
        raise FormatError("no tokens", where=source.name, expected="at least one sentence")
    # Links, relations and slots are no spans.
    reading.skipped.update(marks.ignored)
    draft = Draft(
        where=source.name,
        document=document,
        annotator=annotator,
        text=text.text(),
        spans=(),
        tokens=text.tokens,
        sentences=text.sentences,
        is_gold=is_gold,
        offsets=unit,
    )
    layers = marks.layers()
    return Layered(draft=draft, layers=layers, candidates=tuple(layers), known=frozenset(layers))


def unescaped(text: str) -> str:
    r"""Undo the format's escapes: control characters by letter, everything else as it is.

    Examples
    --------
    >>> unescaped(r"a\_b\|c\tq")
    'a_b|c\tq'
    """
    return _ESCAPE.sub(lambda match: CONTROLS.get(match[1], match[1]), text)


def _cut(lines: list[str], name: str) -> tuple[list[_Columns], list[_Sentence]]:
    """Cut a file into its header and its sentences."""
    columns: dict[tuple[str, str], _Columns] = {}
    sentences: list[_Sentence] = []
    first = 3
    before = ""
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("#T_"):
            where = f"{name}:{number}"
            declared = _declared(line, first, where)
            if columns.setdefault((declared.kind, declared.layer), declared) is not declared:
                found = quoting("layer {} was declared before", declared.layer)
                raise FormatError(*found, where=where, expected="it once")
            first += declared.count
        elif line.startswith("#Text="):
            text = unescaped(line[6:])
            if before.startswith("#Text="):
                # A sentence with line breaks may be spread over several lines.
                sentences[-1].lines.append(text)
            else:
                sentences.append(_Sentence(number, [text]))
        elif line and not line.startswith("#"):
            if not sentences:
                raise FormatError(
                    "found a token before any sentence",
                    where=f"{name}:{number}",
                    expected="a line '#Text=' first",
                )
            sentences[-1].rows.append((number, line.split("\t")))
        before = line
    return list(columns.values()), sentences


def _declared(line: str, first: int, where: str) -> _Columns:
    """Read the declaration of a layer, whose columns are the next ones."""
    kind, equals, rest = line[3:].partition("=")
    layer, *names = rest.rstrip().split("|")
    if kind not in {"SP", "CH", "RL"} or not equals or not layer:
        raise FormatError(
            *("found ", Quote(line)),
            where=where,
            expected="'#T_SP=', '#T_CH=' or '#T_RL=' with a layer and its features",
        )
    features = {}
    slot = False
    for index, name in enumerate(names):
        # A slot takes two columns: the role, and the type of what fills it.
        if not slot and not name.startswith("ROLE_") and name:
            features[name] = first + index
        slot = name.startswith("ROLE_")
    return _Columns(kind, layer, first, max(len(names), 1), features)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a token or of a part of one."""

    where: str
    line: int
    is_part: bool
    start: int
    end: int
    form: str
    cells: list[str]


def _row(fields: list[str], line: int, columns: Sequence[_Columns], name: str) -> _Row:
    where = f"{name}:{line}"
    wanted = 3 + sum(item.count for item in columns)
    # Every line ends with a tab.
    if len(fields) == wanted + 1 and not fields[-1]:
        fields = fields[:-1]
    if len(fields) != wanted:
        declared = f"{wanted}, as the header declares"
        raise FormatError(f"found {len(fields)} columns", where=where, expected=declared)
    number = _TOKEN_LINE.fullmatch(fields[0])
    offsets = _OFFSETS.fullmatch(fields[1])
    if number is None or offsets is None:
        raise FormatError(
            *("found ", Quote(fields[0]), " and ", Quote(fields[1])),
            where=where,
            expected="the number of a token, such as 1-2, and its offsets, such as 4-9",
        )
    start, end = int(offsets[1]), int(offsets[2])
    if start > end:
        problem = f"offsets {start}-{end}"
        raise FormatError(problem, where=where, expected="the start before the end")
    return _Row(where, line, bool(number[1]), start, end, unescaped(fields[2]), fields)


class _Text:
    """The text of a document, put together sentence by sentence."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.tokens: list[Interval] = []
        self.sentences: list[Interval] = []
        self._pieces: list[str] = []
        self._length = 0

    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, sentence: _Sentence, rows: Sequence[_Row]) -> None:
        """Put a sentence where the offsets of its tokens say."""
        first, text = rows[0], "\n".join(sentence.lines)
        lead = text.find(first.form)
        if lead < 0:
            raise FormatError(
                *("token ", Quote(first.form), " is not in the text of its sentence"),
                where=first.where,
                expected=f"the words of the text at line {sentence.line}",
            )
        begin = first.start - length_of(text[:lead], self.unit)
        gap = begin - self._length
        if gap < 0 or gap > MOST_GAP:
            raise FormatError(
                f"the sentence begins at {begin}, but the text before it ends at {self._length}",
                where=first.where,
                remedy=self._advice(),
            )
        # What stood between sentences is not in the file; only how much.
        self._pieces += ["\n" * min(gap, 1) + " " * (gap - 1), text]
        self._length = begin + length_of(text, self.unit)
        self.sentences.append((begin, self._length))
        self._check(text, rows, begin)

    def _check(self, text: str, rows: Sequence[_Row], begin: int) -> None:
        """Check that tokens are words of the sentence, one after the other."""
        place = places(text, self.unit)
        for row in rows:
            start, end = place.get(row.start - begin, -1), place.get(row.end - begin, -1)
            words = text[start:end] if 0 <= start <= end else None
            if words is None or not _same(words, row.form):
                outside = ("does not lie in its sentence",)
                shows = outside if words is None else ("covers ", Quote(words))
                raise FormatError(
                    *(f"[{row.start}, {row.end}) ", *shows, ", but the token is ", Quote(row.form)),
                    where=row.where,
                    remedy=self._advice(),
                )
            if row.is_part:
                continue
            if self.tokens and row.start < self.tokens[-1][1]:
                raise FormatError(
                    *("token ", Quote(row.form), f" begins at {row.start}, but the one before "),
                    f"ends at {self.tokens[-1][1]}",
                    where=row.where,
                    expected="tokens in order",
                )
            if row.start < row.end:
                self.tokens.append((row.start, row.end))

    def _advice(self) -> Text:
        if max(self.text(), default="") < "\U00010000":
            return "check that offsets and text belong together"
        other = "utf16" if self.unit == "codepoints" else "codepoints"
        return ("if offsets count the other unit, pass ", Use("offsets", other))


def _same(found: str, form: str) -> bool:
    """Equal but for the kind of white space."""
    return found == form or (len(found) == len(form) and found.split() == form.split())


_Key = tuple[int, int]
"""What identifies an annotation in its layer: 0 and its number, or its line and place."""


class _Found:
    """The annotations of a document, put together line by line."""

    def __init__(self, columns: Sequence[_Columns]) -> None:
        self._columns = columns
        # Annotations by layer and key, with the last token of each.
        self._found: dict[tuple[str, _Key], tuple[Annotation, int]] = {}
        self._links: set[tuple[str, str, str]] = set()
        self._token = -1

    @property
    def ignored(self) -> list[Tally]:
        """What each link, relation and slot is called where it is counted."""
        return [_IGNORED[kind] for kind, _, _ in self._links]

    def layers(self) -> dict[str, Layer]:
        """The layers of spans with their annotations."""
        layers = {
            one.layer: Layer(tuple(one.features)) for one in self._columns if one.kind == "SP"
        }
        for (layer, _), (annotation, _) in self._found.items():
            layers[layer].annotations.append(annotation)
        return layers

    def add(self, row: _Row) -> None:
        """Add what a line says."""
        self._token += not row.is_part
        for columns in self._columns:
            if columns.kind == "SP":
                self._add_spans(row, columns)
                self._add_slots(row, columns)
            else:
                self._add_links(row, columns)

    def _add_links(self, row: _Row, columns: _Columns) -> None:
        for item in _items(row.cells[columns.first]):
            # A link of a chain is repeated for each of its tokens, a relation is not.
            _, arrow, target = item.partition("->")
            place = f"->{target}" if arrow and columns.kind == "CH" else f"{row.line}:{item}"
            self._links.add((columns.kind, columns.layer, place))

    def _add_slots(self, row: _Row, columns: _Columns) -> None:
        plain = set(columns.features.values())
        slots = [i for i in range(columns.first, columns.first + columns.count) if i not in plain]
        for index in slots[::2] if len(slots) > 1 else []:
            for item in _items(row.cells[index]):
                if not item.startswith("*"):
                    number = _NUMBERED.fullmatch(item)
                    place = f"[{number[2]}]" if number else f"{row.line}:{item}"
                    self._links.add(("SP", columns.layer, place))

    def _add_spans(self, row: _Row, columns: _Columns) -> None:
        """Add the annotations of one layer: each is in all columns of the layer."""
        new: dict[_Key, dict[str, str]] = {}
        for feature, index in (columns.features or {"": columns.first}).items():
            for place, item in enumerate(_items(row.cells[index])):
                numbered = _NUMBERED.fullmatch(item)
                key = (0, int(numbered[2])) if numbered else (row.line, place)
                value = numbered[1] if numbered else item
                values = new.setdefault(key, {})
                if value != "*" and feature:
                    values[feature] = unescaped(value)
        for key, values in new.items():
            self._add_span(row, columns.layer, key, values)

    def _add_span(self, row: _Row, layer: str, key: _Key, values: dict[str, str]) -> None:
        """Begin an annotation, or go on with one that has the same number."""
        before, token = self._found.get((layer, key), (None, -1))
        if before is None:
            mark = Annotation(row.start, row.end, values, row.where)
            self._found[layer, key] = mark, self._token
            return
        if before.values != values:
            raise FormatError(
                *(f"annotation [{key[1]}] of layer ", Quote(layer), " has other values than at "),
                before.where,
                where=row.where,
                expected="the same in all its lines",
            )
        if self._token - token > 1:
            found = (f"annotation [{key[1]}] of layer ", Quote(layer), " goes on after a gap")
            raise FormatError(*found, where=row.where, expected="neighbouring tokens")
        start, end = min(before.start, row.start), max(before.end, row.end)
        self._found[layer, key] = replace(before, start=start, end=end), self._token


def _items(cell: str) -> list[str]:
    """The stacked values of a cell; none if it is ``_``."""
    return [] if cell in {"_", ""} else _BAR.findall(cell)
