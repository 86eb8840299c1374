"""WebAnno TSV 3.x: a line for each token, a column for each feature of each layer.

Also here: how one of several layers, and one of its features, is chosen; `uima` does
it in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, DraftSpan, Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.sources import Source

NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
INTERNAL = frozenset(
    {
        "Token", "Sentence", "Paragraph", "Heading", "Div", "Document", "DocumentMetaData",
        "DocumentAnnotation", "POS", "Lemma", "Stem", "MorphologicalFeatures", "SurfaceForm",
        "Dependency", "Constituent", "CoreferenceLink", "CoreferenceChain", "TagsetDescription",
        "TagDescription", "LayerDefinition", "FeatureDefinition", "CASMetadata",
    }
)  # fmt: skip
"""Short names of types that a pipeline makes, and that nobody is asked to agree on."""

_HEAD = re.compile(r"#FORMAT=WebAnno TSV 3(\.[0-3])?[ \t]*")
_TOKEN_LINE = re.compile(r"(\d{1,9})-(\d{1,9})((?:\.\d{1,9})*)", re.ASCII)
_OFFSETS = re.compile(r"(\d{1,10})-(\d{1,10})", re.ASCII)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BAR = re.compile(r"(?:[^\\|]|\\.)+", re.DOTALL)
_NUMBERED = re.compile(r"((?:[^\\\[]|\\.)*)\[(\d{1,9})\]", re.DOTALL | re.ASCII)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b", "v": "\v"}

MOST_GAP = 2**20
"""Characters that may be missing between two sentences before we call it an error."""


# --- Layers and features ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation of some layer: its offsets, and its features that have a value."""

    start: int
    end: int
    values: dict[str, str]
    where: str


@dataclass(frozen=True, slots=True)
class Layer:
    """The annotations of a layer.

    Attributes
    ----------
    features : tuple of str
        Those that hold strings, and so may be labels.
    others : tuple of str
        Further features that can be asked for.
    annotations : list of Annotation
    """

    features: tuple[str, ...]
    others: tuple[str, ...] = ()
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layered:
    """A document by one annotator with all its layers, before one is chosen.

    Attributes
    ----------
    where, document, annotator, text, tokens, sentences, is_gold
        As in `Draft`; offsets count UTF-16 units.
    layers : mapping of str to Layer
        By full name.
    candidates : tuple of str
        The layers that can be meant if nobody says which.
    known : frozenset of str
        Layers that the file knows, whether or not anything was annotated there.
    knows_all : bool
        Whether a layer that it does not know does not exist.
    offsets : str
        What the offsets count.
    """

    where: str
    document: str
    annotator: str
    text: str
    layers: Mapping[str, Layer]
    candidates: tuple[str, ...]
    known: frozenset[str]
    knows_all: bool = False
    tokens: list[Interval] | None = None
    sentences: list[Interval] | None = None
    is_gold: bool = False
    offsets: str = "utf16"


def short_name(layer: str) -> str:
    """The last part of a layer's name.

    Examples
    --------
    >>> short_name("webanno.custom.Emotion")
    'Emotion'
    """
    return layer.rpartition(".")[2]


def layer_drafts(
    documents: Sequence[Layered], reading: Reading, *, name: str, name_as_label: bool
) -> Iterator[Draft]:
    """Drafts of one layer and one feature of all documents of an upload.

    Parameters
    ----------
    documents : sequence of Layered
    reading : Reading
    name : str
        The upload, for messages.
    name_as_label : bool
        Whether a layer in which no annotation has a value is labelled by its own name.
    """
    layer = _layer(documents, reading, name)
    feature = None if layer is None else _feature(documents, layer, reading, name)
    if layer is not None and feature is not None and name_as_label:
        found = list(_annotations(documents, layer))
        if found and not any(item.values.get(feature) for item in found):
            feature = None
    if layer is not None:
        _sign({"layer": layer} | ({"feature": feature} if feature else {}), reading, name)
        what = f"feature {feature}" if feature else f"labelled {short_name(layer)}"
        reading.notes.append(f"{name}: layer {layer}, {what}")
    for document in documents:
        yield Draft(
            where=document.where,
            document=document.document,
            annotator=document.annotator,
            text=document.text,
            spans=list(_spans(document, layer, feature, reading)),
            tokens=document.tokens,
            sentences=document.sentences,
            offsets=document.offsets,
            is_gold=document.is_gold,
        )


def _sign(choices: Mapping[str, str], reading: Reading, name: str) -> None:
    """Sign what was chosen; refuse it if it differs from what was read before."""
    for key, value in choices.items():
        before = reading.signed.setdefault(key, value)
        if before != value:
            raise FormatError(
                f"{name}: the {key} to read would be {value!r} here, but is {before!r} in what "
                f"was read before; say which with {key}="
            )


def _annotations(documents: Iterable[Layered], layer: str) -> Iterator[Annotation]:
    for document in documents:
        if layer in document.layers:
            yield from document.layers[layer].annotations


def _layer(documents: Sequence[Layered], reading: Reading, name: str) -> str | None:
    """The full name of the layer to read; None where there is nothing to read."""
    asked = reading.options["layer"]
    if asked is not None:
        return _asked_layer(asked, documents, reading, name)
    names = list(dict.fromkeys(item for document in documents for item in document.candidates))
    if NAMED_ENTITY in names:
        return NAMED_ENTITY
    own = [item for item in names if short_name(item) not in INTERNAL]
    for choice in (names, own):
        if len(choice) == 1:
            return choice[0]
    if not names:
        reading.notes.append(f"{name}: no layer has annotations; read as nothing marked")
        return None
    raise FormatError(
        f"{name}: several layers have annotations: {', '.join(sorted(names))}; say which with "
        "layer="
    )


def _asked_layer(
    asked: str, documents: Sequence[Layered], reading: Reading, name: str
) -> str | None:
    known = sorted(frozenset().union(*(document.known for document in documents)))
    if asked in known:
        return asked
    found = [item for item in known if short_name(item) == asked]
    if len(found) == 1:
        return found[0]
    if found:
        raise FormatError(
            f"{name}: several layers are called {asked!r}: {', '.join(found)}; say the full name"
        )
    # A TSV file names only layers that have annotations; a CAS names all that exist.
    if not any(document.knows_all for document in documents):
        listed = f"found: {', '.join(known)}" if known else "found none"
        reading.notes.append(f"{name}: no layer {asked!r} ({listed}); read as nothing marked")
        return None
    raise FormatError(f"{name}: no layer {asked!r}; expected one of: {', '.join(known)}")


def _feature(documents: Sequence[Layered], layer: str, reading: Reading, name: str) -> str | None:
    """The feature that holds the label; None if the layer has none, or nothing to label."""
    present = [document.layers[layer] for document in documents if layer in document.layers]
    features = list(dict.fromkeys(item for found in present for item in found.features))
    everything = features + [item for found in present for item in found.others]
    asked = reading.options["feature"]
    if asked is not None:
        if present and asked not in everything:
            listed = ", ".join(dict.fromkeys(everything)) or "none"
            raise FormatError(
                f"{name}: layer {layer} has no feature {asked!r}; expected one of: {listed}"
            )
        return asked if present else None
    for choice in ("value", features[0] if len(features) == 1 else "", "identifier"):
        if choice in features:
            return choice
    if not any(item.values.get(key) for item in _annotations(documents, layer) for key in features):
        return None
    raise FormatError(
        f"{name}: layer {layer} has several features: {', '.join(features)}; say which holds the "
        "label with feature="
    )


def _spans(
    document: Layered, layer: str | None, feature: str | None, reading: Reading
) -> Iterator[DraftSpan]:
    """The spans of one document, and a count of everything that is none."""
    chosen = list(_annotations([document], layer)) if layer is not None else []
    ours = set(map(id, chosen))
    theirs = {
        id(item)
        for name in document.candidates
        if name in document.layers
        for item in document.layers[name].annotations
    }
    if theirs - ours:
        reading.skipped["annotations of other layers ignored"] += len(theirs - ours)
    for item in chosen:
        label = short_name(layer or "") if feature is None else item.values.get(feature)
        if label:
            yield DraftSpan(item.start, item.end, label, where=item.where)
        else:
            reading.skipped["annotations without a label"] += 1


# --- TSV ----------------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Whether a file, or one of the files of a folder, begins as WebAnno TSV 3.x does."""
    return upload.data is None and any(map(is_tsv, upload.sources))


def is_tsv(source: Source) -> bool:
    """Whether a file begins as WebAnno TSV 3.x does."""
    try:
        return source.head_text.startswith("#FORMAT=WebAnno TSV 3")
    except FormatError:
        return False


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, or a folder with a file for each document."""
    documents = []
    for source in upload.sources:
        if upload.is_folder and not is_tsv(source):
            reading.skipped["files of another format ignored"] += 1
            continue
        documents.append(parsed(source, upload.document_of(source), upload.annotator, reading))
    if not documents:
        raise FormatError(
            f"{upload.name}: no file begins with '#FORMAT=WebAnno TSV 3'; expected at least one"
        )
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
    text: str
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
        found = repr(lines[0][:60]) if lines else "an empty file"
        raise FormatError(
            f"{source.name}:1: found {found}; expected '#FORMAT=WebAnno TSV 3.0' to 3.3 "
            "(export again as WebAnno TSV 3.3)"
        )
    columns, sentences = _cut(lines, source.name)
    unit = reading.options["offsets"] or "utf16"
    text = _Text(unit)
    marks = _Found(columns, source.name)
    for sentence in sentences:
        if not sentence.rows:
            reading.skipped["sentences without tokens left out"] += 1
            continue
        rows = [_row(fields, line, columns, source.name) for line, fields in sentence.rows]
        text.add(sentence, rows, source.name)
        for row in rows:
            marks.add(row)
    if not text.tokens:
        raise FormatError(f"{source.name}: holds no tokens; expected at least one sentence")
    for what, number in marks.ignored().items():
        reading.skipped[what] += number
    return Layered(
        where=source.name,
        document=document,
        annotator=annotator,
        text=text.text(),
        layers=marks.layers,
        candidates=tuple(marks.layers),
        known=frozenset(marks.layers),
        tokens=text.tokens,
        sentences=text.sentences,
        is_gold=is_gold,
        offsets=unit,
    )


def unescaped(text: str) -> str:
    r"""Undo the format's escapes: control characters by letter, everything else as it is.

    Examples
    --------
    >>> unescaped(r"a\_b\|c\tq")
    'a_b|c\tq'
    """
    return _ESCAPE.sub(lambda match: _CONTROLS.get(match[1], match[1]), text)


def _cut(lines: list[str], name: str) -> tuple[list[_Columns], list[_Sentence]]:
    """Cut a file into its header and its sentences."""
    columns: list[_Columns] = []
    sentences: list[_Sentence] = []
    before = ""
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("#T_"):
            columns.append(_declared(line, columns, f"{name}:{number}"))
        elif line.startswith("#Text="):
            text = unescaped(line[6:])
            if before.startswith("#Text="):
                # A sentence with line breaks may be spread over several lines.
                sentences[-1].text += "\n" + text
            else:
                sentences.append(_Sentence(number, text))
        elif line and not line.startswith("#"):
            if not sentences:
                raise FormatError(
                    f"{name}:{number}: found a token before any sentence; expected a line "
                    "'#Text=' first"
                )
            sentences[-1].rows.append((number, line.split("\t")))
        before = line
    return columns, sentences


def _declared(line: str, columns: Sequence[_Columns], where: str) -> _Columns:
    """Read the declaration of a layer."""
    kind, equals, rest = line[3:].partition("=")
    layer, *names = rest.rstrip().split("|")
    if kind not in {"SP", "CH", "RL"} or not equals or not layer:
        raise FormatError(
            f"{where}: found {line[:60]!r}; expected '#T_SP=', '#T_CH=' or '#T_RL=' with a layer "
            "and its features"
        )
    if any(item.layer == layer and item.kind == kind for item in columns):
        raise FormatError(f"{where}: layer {layer} was declared before; expected it once")
    first = columns[-1].first + columns[-1].count if columns else 3
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

    line: int
    token: tuple[int, int]
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
        raise FormatError(
            f"{where}: found {len(fields)} columns; expected {wanted}, as the header declares"
        )
    number = _TOKEN_LINE.fullmatch(fields[0])
    offsets = _OFFSETS.fullmatch(fields[1])
    if number is None or offsets is None:
        raise FormatError(
            f"{where}: found {fields[0][:30]!r} and {fields[1][:30]!r}; expected the number of a "
            "token, such as 1-2, and its offsets, such as 4-9"
        )
    start, end = int(offsets[1]), int(offsets[2])
    if start > end:
        raise FormatError(f"{where}: offsets {fields[1]} end before they begin")
    token = (int(number[1]), int(number[2]))
    return _Row(line, token, bool(number[3]), start, end, unescaped(fields[2]), fields)


def _length(text: str, unit: str) -> int:
    """How long a text is in the unit of its offsets."""
    if unit == "codepoints" or text.isascii():
        return len(text)
    return len(text) + sum(character >= "\U00010000" for character in text)


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

    def add(self, sentence: _Sentence, rows: Sequence[_Row], name: str) -> None:
        """Put a sentence where the offsets of its tokens say."""
        first = rows[0]
        lead = sentence.text.find(first.form)
        if lead < 0:
            raise FormatError(
                f"{name}:{first.line}: token {first.form!r} is not in the text of its sentence, "
                f"at line {sentence.line}; expected the words of the text"
            )
        begin = first.start - _length(sentence.text[:lead], self.unit)
        gap = begin - self._length
        if gap < 0 or gap > MOST_GAP:
            raise FormatError(
                f"{name}:{first.line}: the sentence begins at {begin}, but the text before it "
                f"ends at {self._length}{self._advice()}"
            )
        # What stood between sentences is not in the file; only how much.
        self._pieces += ["\n" * min(gap, 1) + " " * (gap - 1), sentence.text]
        self._length = begin + _length(sentence.text, self.unit)
        self.sentences.append((begin, self._length))
        self._check(sentence, rows, begin, name)

    def _check(self, sentence: _Sentence, rows: Sequence[_Row], begin: int, name: str) -> None:
        """Check that tokens are words of the sentence, one after the other."""
        place = _places(sentence.text, self.unit)
        for row in rows:
            start, end = place.get(row.start - begin, -1), place.get(row.end - begin, -1)
            found = sentence.text[start:end] if 0 <= start <= end else None
            if found is None or not _same(found, row.form):
                shows = "does not lie in its sentence" if found is None else f"covers {found!r}"
                raise FormatError(
                    f"{name}:{row.line}: [{row.start}, {row.end}) {shows}, but the token is "
                    f"{row.form!r}{self._advice()}"
                )
            if row.is_part:
                continue
            if self.tokens and row.start < self.tokens[-1][1]:
                raise FormatError(
                    f"{name}:{row.line}: token {row.form!r} begins at {row.start}, but the one "
                    f"before ends at {self.tokens[-1][1]}; expected tokens in order"
                )
            if row.start < row.end:
                self.tokens.append((row.start, row.end))

    def _advice(self) -> str:
        if self.text().isascii() or max(map(ord, self.text())) < 0x10000:
            return "; check that offsets and text belong together"
        other = "utf16" if self.unit == "codepoints" else "codepoints"
        return f"; if offsets count the other unit, say offsets={other!r}"


def _same(found: str, form: str) -> bool:
    """Equal but for the kind of white space."""
    return found == form or (len(found) == len(form) and found.split() == form.split())


def _places(text: str, unit: str) -> dict[int, int]:
    """Where each offset within a sentence is in its text."""
    places = {}
    offset = 0
    for index, character in enumerate(text):
        places[offset] = index
        offset += 2 if unit == "utf16" and character >= "\U00010000" else 1
    places[offset] = len(text)
    return places


class _Found:
    """The annotations of a document, put together line by line."""

    def __init__(self, columns: Sequence[_Columns], name: str) -> None:
        self.layers = {
            item.layer: Layer(tuple(item.features)) for item in columns if item.kind == "SP"
        }
        self._columns = columns
        self._name = name
        self._open: dict[tuple[str, int], tuple[Annotation, int]] = {}
        self._place: dict[tuple[str, int], int] = {}
        self._links: dict[str, set[tuple[str, str]]] = {"CH": set(), "RL": set(), "SP": set()}
        self._token = -1

    def ignored(self) -> dict[str, int]:
        """What is no span, and how many there are."""
        names = {"CH": "chain links ignored", "RL": "relations ignored", "SP": "slots ignored"}
        return {names[kind]: len(found) for kind, found in self._links.items() if found}

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
            self._links[columns.kind].add((columns.layer, place))

    def _add_slots(self, row: _Row, columns: _Columns) -> None:
        plain = set(columns.features.values())
        slots = [i for i in range(columns.first, columns.first + columns.count) if i not in plain]
        for index in slots[::2] if len(slots) > 1 else []:
            for item in _items(row.cells[index]):
                if not item.startswith("*"):
                    number = _NUMBERED.fullmatch(item)
                    place = f"[{number[2]}]" if number else f"{row.line}:{item}"
                    self._links["SP"].add((columns.layer, place))

    def _add_spans(self, row: _Row, columns: _Columns) -> None:
        """Add the annotations of one layer: each is in all columns of the layer."""
        new: dict[int, dict[str, str]] = {}
        for feature, index in (columns.features or {"": columns.first}).items():
            for place, item in enumerate(_items(row.cells[index])):
                numbered = _NUMBERED.fullmatch(item)
                # Numbers are positive; without one, it is the place that tells.
                key = int(numbered[2]) if numbered else -place - 1
                value = numbered[1] if numbered else item
                values = new.setdefault(key, {})
                if value != "*" and feature:
                    values[feature] = unescaped(value)
        for key, values in new.items():
            self._add_span(row, columns.layer, key, values)

    def _add_span(self, row: _Row, layer: str, key: int, values: dict[str, str]) -> None:
        """Begin an annotation, or go on with one that has the same number."""
        where = f"{self._name}:{row.line}"
        annotations = self.layers[layer].annotations
        if key < 0 or (layer, key) not in self._open:
            item = Annotation(row.start, row.end, values, where)
            annotations.append(item)
            if key >= 0:
                self._open[layer, key] = (item, self._token)
                # Numbers are looked up again when the annotation goes on.
                self._place[layer, key] = len(annotations) - 1
            return
        before, token = self._open[layer, key]
        if before.values != values:
            raise FormatError(
                f"{where}: annotation [{key}] of layer {layer} has other values than at "
                f"{before.where}; expected the same in all its lines"
            )
        if self._token - token > 1:
            raise FormatError(
                f"{where}: annotation [{key}] of layer {layer} goes on after a gap; expected "
                "neighbouring tokens"
            )
        longer = Annotation(
            min(before.start, row.start), max(before.end, row.end), values, before.where
        )
        annotations[self._place[layer, key]] = longer
        self._open[layer, key] = (longer, self._token)


def _items(cell: str) -> list[str]:
    """The stacked values of a cell; none if it is ``_``."""
    return [] if cell in {"_", ""} else _BAR.findall(cell)
