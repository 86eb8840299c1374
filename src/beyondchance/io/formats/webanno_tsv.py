"""WebAnno TSV 3.x: a line for each token, a column for each feature of each layer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from beyondchance.io.conventions import BELONG_TOGETHER
from beyondchance.io.drafts import Draft
from beyondchance.io.layers import Annotation, Layer, Layered, layer_drafts
from beyondchance.io.offsets import Interval, length_of, words_at
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import refusal
from beyondchance.messages import Text, Use
from beyondchance.tallies import left_out, no_spans

_BEGIN = "#FORMAT=WebAnno TSV 3"
_HEAD = re.compile(rf"{_BEGIN}(\.[0-3])?[ \t]*")
_TOKEN_LINE = re.compile(r"\d{1,9}-\d{1,9}((?:\.\d{1,9})*)", re.ASCII)
_OFFSETS = re.compile(r"(\d{1,10})-(\d{1,10})", re.ASCII)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BAR = re.compile(r"(?:[^\\|]++|\\.)+", re.DOTALL)
_NUMBERED = re.compile(r"((?:[^\\\[]++|\\.)*)\[(\d{1,9})\]", re.DOTALL | re.ASCII)
_IGNORED = {"CH": "chain links", "RL": "relations", "SP": "slots"}
_TEXT = "#Text="
CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b", "v": "\v"}

MOST_GAP = 2**20
"""Characters that may be missing between two sentences; more are an error."""


def is_tsv(source: Source) -> bool:
    """Return whether a file begins as WebAnno TSV 3.x does."""
    return source.head_text.startswith(_BEGIN)


is_format = by_files(any, is_tsv)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, or a folder with a file for each document."""
    documents = [
        parsed(source, upload.document_of(source), upload.annotator, reading)
        for source in upload.sources_of(is_tsv, reading)
    ]
    if not documents:
        raise refusal(upload.name, f"no file begins with '{_BEGIN}'", expected="at least one")
    yield from layer_drafts(documents, reading, name=upload.name, name_as_label=True)


class _Columns(NamedTuple):
    """The columns of one layer.

    Attributes
    ----------
    kind : {"SP", "CH", "RL"}
        Spans, chains, relations.
    layer : str
    features : mapping of str to int
        Features with plain values, and their columns; of a layer without any, its own column.
    links : sequence of int
        Columns with links to other annotations.
    end : int
        The column after the last one.
    """

    kind: str
    layer: str
    features: Mapping[str, int]
    links: Sequence[int]
    end: int


class _Row(NamedTuple):
    """A line of a token or of a part of one."""

    where: str
    line: int
    is_part: bool
    start: int
    end: int
    form: str
    cells: list[str]


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
    where, lines = source.name, source.lines() or [""]
    if not _HEAD.fullmatch(lines[0]):
        raise refusal(
            f"{where}:1",
            "found {}",
            lines[0] or ("an empty line",),
            expected=f"'{_BEGIN}.0' to 3.3",
            remedy="export the document again as WebAnno TSV 3.3",
        )
    columns, sentences = _cut(lines, where)
    found = _Document(reading.options["offsets"] or "utf16")
    for number, text, rows in sentences:
        if rows:
            found.add("\n".join(text), number, rows, columns)
        else:
            reading.skipped[left_out("sentences without tokens")] += 1
    if not found.tokens:
        raise refusal(where, "no tokens", expected="at least one sentence")
    # Links, relations and slots are no spans.
    reading.skipped.update(no_spans(_IGNORED[kind]) for kind, *_ in found.links)
    draft = Draft(
        where=where,
        document=document,
        annotator=annotator,
        text="".join(found.text),
        spans=(),
        tokens=found.tokens,
        sentences=found.sentences,
        is_gold=is_gold,
        offsets=found.unit,
    )
    layers = {
        one.layer: Layer(tuple(filter(None, one.features)), (), [])
        for one in columns
        if one.kind == "SP"
    }
    for (layer, _), (mark, _) in found.marks.items():
        layers[layer].annotations.append(mark)
    return Layered(draft=draft, layers=layers, candidates=tuple(layers), known=frozenset(layers))


def unescaped(text: str) -> str:
    r"""Undo the format's escapes: control characters by letter, everything else as it is.

    Examples
    --------
    >>> unescaped(r"a\_b\|c\tq")
    'a_b|c\tq'
    """
    return _ESCAPE.sub(lambda match: CONTROLS.get(match[1], match[1]), text)


_Sentence = tuple[int, list[str], list[_Row]]
"""The line of a sentence, the lines of its text, and its tokens."""


def _cut(lines: list[str], name: str) -> tuple[list[_Columns], list[_Sentence]]:
    """Cut a file into its header and its sentences."""
    columns: dict[tuple[str, str], _Columns] = {}
    sentences: list[_Sentence] = []
    first = 3
    for number, line in enumerate(lines[1:], start=2):
        where = f"{name}:{number}"
        if line.startswith("#T_"):
            if sentences:
                raise refusal(
                    where, "found {} after a sentence", line, expected="all layers before the first"
                )
            declared = _declared(line, first, where)
            first = declared.end
            if columns.setdefault(declared[:2], declared) is not declared:
                raise refusal(
                    where, "layer {} was declared before", declared.layer, expected="it once"
                )
        elif line.startswith(_TEXT):
            text = unescaped(line.removeprefix(_TEXT))
            if lines[number - 2].startswith(_TEXT):
                # A sentence with line breaks may be spread over several lines.
                sentences[-1][1].append(text)
            else:
                sentences.append((number, [text], []))
        elif line and not line.startswith("#"):
            if not sentences:
                raise refusal(
                    where, "found a token before any sentence", expected=f"a line '{_TEXT}' first"
                )
            sentences[-1][2].append(_row(number, line.split("\t"), first, where))
    return list(columns.values()), sentences


def _declared(line: str, first: int, where: str) -> _Columns:
    """Read the declaration of a layer, whose columns are the next ones."""
    kind, equals, rest = line[3:].partition("=")
    layer, *names = rest.rstrip().split("|")
    if kind not in _IGNORED or not equals or not layer:
        raise refusal(
            where,
            "found {}",
            line,
            expected="'#T_SP=', '#T_CH=' or '#T_RL=' with a layer and its features",
        )
    # A slot takes two columns: the role, and the type of what fills it.
    slots = [first + index for index, name in enumerate(names) if name.startswith("ROLE_")]
    taken = {*slots, *(index + 1 for index in slots)}
    features = {name: i for i, name in enumerate(names, start=first) if name and i not in taken}
    links = slots if kind == "SP" else [first]
    return _Columns(kind, layer, features or {"": first}, links, first + max(len(names), 1))


def _row(line: int, fields: list[str], wanted: int, where: str) -> _Row:
    # Every line ends with a tab.
    if len(fields) == wanted + 1 and not fields[-1]:
        fields = fields[:-1]
    if len(fields) != wanted:
        raise refusal(
            where, f"found {len(fields)} columns", expected=f"{wanted}, as the header declares"
        )
    number, offsets = _TOKEN_LINE.fullmatch(fields[0]), _OFFSETS.fullmatch(fields[1])
    start, end = map(int, offsets.groups() if offsets else (1, 0))
    if number is None or start > end:
        raise refusal(
            where,
            "found {} and {}",
            *fields[:2],
            expected="the number of a token, such as 1-2, and its offsets, such as 4-9",
        )
    return _Row(where, line, bool(number[1]), start, end, unescaped(fields[2]), fields)


_Key = tuple[int, int]
"""What identifies an annotation in its layer: 0 and its number, or its line and place."""


class _Document:
    """A document, put together sentence by sentence.

    Attributes
    ----------
    unit : str
        What offsets count.
    text : list of str
        In pieces.
    tokens, sentences : list of (start, end)
    marks : dict
        Annotations by layer and key, with the last token of each.
    links : set of (kind, layer, place)
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.text: list[str] = []
        self.tokens: list[Interval] = []
        self.sentences: list[Interval] = []
        self.marks: dict[tuple[str, _Key], tuple[Annotation, int]] = {}
        self.links: set[tuple[str, str, str]] = set()
        self._n_tokens = 0

    def add(self, text: str, line: int, rows: Sequence[_Row], columns: Sequence[_Columns]) -> None:
        """Put a sentence where the offsets of its tokens say."""
        first, before = rows[0], self.sentences[-1][1] if self.sentences else 0
        lead = text.find(first.form)
        if lead < 0:
            raise refusal(
                first.where,
                "token {} is not in the text of its sentence",
                first.form,
                expected=f"the words of the text at line {line}",
            )
        begin = first.start - length_of(text[:lead], self.unit)
        gap = begin - before
        if gap < 0 or gap > MOST_GAP:
            raise refusal(
                first.where,
                f"the sentence begins at {begin}, but the text before it ends at {before}",
                remedy=self._advice(),
            )
        # What stood between sentences is not in the file; only how much.
        self.text += ["\n" * min(gap, 1) + " " * (gap - 1), text]
        self.sentences.append((begin, begin + length_of(text, self.unit)))
        words = words_at(text, self.unit)
        for row in rows:
            self._check(row, words(row.start - begin, row.end - begin))
            if not row.is_part:
                self._n_tokens += 1
                if row.start < row.end:
                    self.tokens.append((row.start, row.end))
            for layer in columns:
                self._link(row, layer)
                if layer.kind == "SP":
                    self._mark(row, layer)

    def _check(self, row: _Row, words: str | None) -> None:
        """Refuse a token that is not one of the words that follow those before."""
        # Equal but for the kind of white space.
        if words is None or (len(words), words.split()) != (len(row.form), row.form.split()):
            raise refusal(
                row.where,
                f"[{row.start}, {row.end}) covers {{}}, but the token is {{}}",
                ("nothing of its sentence",) if words is None else words,
                row.form,
                remedy=self._advice(),
            )
        before = self.tokens[-1][1] if self.tokens else 0
        if row.start < before and not row.is_part:
            raise refusal(
                row.where,
                f"token {{}} begins at {row.start}, but the one before ends at {before}",
                row.form,
                expected="tokens in order",
            )

    def _advice(self) -> Text:
        if max("".join(self.text), default="") < "\U00010000":
            return BELONG_TOGETHER
        other = "utf16" if self.unit == "codepoints" else "codepoints"
        return ("if offsets count the other unit, pass ", Use("offsets", other))

    def _link(self, row: _Row, columns: _Columns) -> None:
        """Add links to other annotations, each once."""
        for item in (item for index in columns.links for item in _items(row.cells[index])):
            # A link of a chain is repeated for each of its tokens, a relation is not.
            _, arrow, target = item.partition("->")
            number = _NUMBERED.fullmatch(item)
            place = f"{row.line}:{item}"
            if columns.kind == "CH" and arrow:
                place = f"->{target}"
            elif columns.kind == "SP" and number:
                place = f"[{number[2]}]"
            if columns.kind != "SP" or not item.startswith("*"):
                self.links.add((columns.kind, columns.layer, place))

    def _mark(self, row: _Row, columns: _Columns) -> None:
        """Add the annotations of one layer: each is in all columns of the layer."""
        new: dict[_Key, dict[str, str]] = {}
        for feature, index in columns.features.items():
            for place, item in enumerate(_items(row.cells[index])):
                numbered = _NUMBERED.fullmatch(item)
                key = (0, int(numbered[2])) if numbered else (row.line, place)
                value = numbered[1] if numbered else item
                values = new.setdefault(key, {})
                if value != "*" and feature:
                    values[feature] = unescaped(value)
        for key, values in new.items():
            # An annotation goes on where its number was before.
            mark = Annotation(row.start, row.end, values, row.where)
            known = (columns.layer, key)
            before, token = self.marks.get(known, (mark, self._n_tokens))
            if before.values != values or self._n_tokens - token > 1:
                is_gap = before.values == values
                problem = "goes on after a gap" if is_gap else "has other values than"
                raise refusal(
                    row.where,
                    f"annotation [{key[1]}] of layer {{}} {problem} at {{}}",
                    columns.layer,
                    (before.where,),
                    expected="the same values, and neighbouring tokens, in all its lines",
                )
            start, end = min(before.start, row.start), max(before.end, row.end)
            self.marks[known] = before._replace(start=start, end=end), self._n_tokens


def _items(cell: str) -> list[str]:
    """Return the stacked values of a cell; none if it is ``_``."""
    return [] if cell in {"_", ""} else _BAR.findall(cell)
