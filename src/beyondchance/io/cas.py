"""UIMA CAS files: XMI with its type system, and CAS JSON.

dkpro-cassis reads the files and knows which type is a kind of which. Offsets are taken
from the files themselves, because the library converts only those that lie in the text and
leaves the others as they are.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from beyondchance.errors import BeyondChanceError, FormatError
from beyondchance.io.cas_checks import check_json_types, check_names, json_offsets
from beyondchance.io.drafts import Draft
from beyondchance.io.formats.webanno_tsv import is_tsv, parsed
from beyondchance.io.layers import (
    INTERNAL,
    NAMED_ENTITY,
    Annotation,
    Layer,
    Layered,
    as_label,
    out_of_order,
    short_name,
)
from beyondchance.io.markup import outermost, without_prefix
from beyondchance.io.offsets import Interval, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import required
from beyondchance.io.sources import Source, is_zip, members, safe_xml
from beyondchance.io.values import quoting, reason
from beyondchance.messages import Quote, Use, quotes
from beyondchance.tallies import no_spans, not_read

EXPORT = "export it from INCEpTION as UIMA CAS JSON or UIMA CAS XMI"
"""How to get a file that can be read."""

_JAVA = b"\xac\xed"
_XMI_ID = "{http://www.omg.org/XMI}id"
_ANNOTATION = "uima.tcas.Annotation"
_LINKS = {"relation": no_spans("relations"), "chain": no_spans("chain links")}


# --- Files --------------------------------------------------------------------


def kind_of_file(source: Source) -> str | None:
    """What a file is by its content."""
    if is_zip(source):
        return "zip"
    if source.head.startswith(_JAVA):
        return "ser"
    head = source.head_text or source.head.decode("latin-1")
    root = without_prefix(outermost(head))
    if root == "XMI" and "http://www.omg.org/XMI" in head:
        return "xmi"
    if root == "typeSystemDescription":
        return "types"
    if head.lstrip().startswith("{") and ('"%TYPES"' in head or '"%FEATURE_STRUCTURES"' in head):
        return "json"
    return "tsv" if is_tsv(source) else None


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a folder or archive, its path in there, and what it is by its content."""

    path: str
    source: Source
    kind: str | None


def entry_of(source: Source, *, root: str) -> Entry:
    """A file below `root`, or the file itself."""
    path, root = (name.replace("\\", "/") for name in (source.full_name, root))
    inside = path.removeprefix(root).lstrip("/") or PurePosixPath(path).name
    return Entry(inside, source, kind_of_file(source))


def unpacked(archive: Source) -> list[Entry]:
    """The files of an archive."""
    return [entry_of(member, root=archive.full_name) for member in members(archive)]


# --- One CAS ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is needed of a type.

    Attributes
    ----------
    lineage : tuple of str
        Itself and what it is a kind of, up to the annotation.
    role : {"span", "internal", "token", "sentence", "relation", "chain"}
    """

    lineage: tuple[str, ...]
    role: str


class Loader:
    """Reads CAS files, and remembers type systems that it has read."""

    def __init__(self, entries: Sequence[Entry], reading: Reading) -> None:
        self.entries = entries
        self.reading = reading
        self._cassis = required("cassis", extra="uima", purpose="reading UIMA CAS files")
        self._etree = required("lxml.etree", extra="uima", purpose="reading UIMA CAS files")
        self._systems: dict[str, Any] = {}

    def loaded(
        self, entry: Entry, document: str, annotator: str, *, is_gold: bool = False
    ) -> Layered:
        """Read one document by one annotator; it is named by its title by default."""
        entries = self.entries
        if entry.kind == "zip":
            inside = unpacked(entry.source)
            found = [item for item in inside if item.kind in {"xmi", "json", "tsv"}]
            if len(found) != 1:
                raise FormatError(
                    f"holds {len(found)} annotation files",
                    where=entry.source.name,
                    expected="one, with its type system if it is XMI",
                )
            entry, entries = found[0], inside
        source = entry.source
        self.reading.calls("cas", entry.kind or "")
        if entry.kind == "tsv":
            return parsed(source, document, annotator, self.reading, is_gold=is_gold)
        if entry.kind == "json":
            cas, offsets = self._from_json(source)
        else:
            cas, offsets = self._from_xmi(entry, entries)
        result = self._layered(cas, offsets, source, document)
        return replace(result, draft=replace(result.draft, annotator=annotator, is_gold=is_gold))

    # JSON

    def _from_json(self, source: Source) -> tuple[Any, dict[int, Interval]]:
        data = source.json()
        check_json_types(data, source.name)
        offsets = dict(json_offsets(data, source.name))
        with _library(source, "CAS JSON"):
            return self._cassis.load_cas_from_json(source.text), offsets

    # XMI

    def _from_xmi(self, entry: Entry, entries: Sequence[Entry]) -> tuple[Any, dict[int, Interval]]:
        """Read XMI with the first type system near it that has all its types."""
        source = entry.source
        offsets = dict(self._xmi_offsets(source))
        systems = _near(entry, entries)
        if not systems:
            raise FormatError(
                "XMI without its type system",
                where=source.name,
                remedy="put TypeSystem.xml, which is exported with it, next to it, or export UIMA "
                "CAS JSON, which needs none",
            )
        missing: Exception | None = None
        for system in systems:
            types = self._system(system)
            try:
                with _library(source, "XMI", self._cassis.typesystem.TypeNotFoundError):
                    cas = self._cassis.load_cas_from_xmi(io.BytesIO(source.data), typesystem=types)
            except self._cassis.typesystem.TypeNotFoundError as error:
                missing = missing or error
            else:
                return cas, offsets
        raise FormatError(
            *("its types are not all in ", ", ".join(system.name for system in systems)),
            *reason(missing),
            where=source.name,
            remedy="use the type system that was exported with it",
        )

    def _xmi_offsets(self, source: Source) -> Iterator[tuple[int, Interval]]:
        """Offsets by id as they stand in the file."""
        for element in self._elements(source):
            begin, end = element.get("begin"), element.get("end")
            number = element.get(_XMI_ID)
            if begin is None and end is None:
                continue
            try:
                yield int(number), (int(begin), int(end))
            except (TypeError, ValueError):
                raise FormatError(
                    *("annotation ", Quote(number), " has offsets ", *quotes([begin, end])),
                    where=f"{source.name}:{element.sourceline}",
                    expected="whole numbers",
                ) from None

    def _elements(self, source: Source) -> Iterator[Any]:
        data = safe_xml(source)
        try:
            for _, element in self._etree.iterparse(
                io.BytesIO(data), events=("end",), resolve_entities=False, no_network=True
            ):
                yield element
        except MemoryError:
            raise
        except Exception as error:
            raise FormatError(
                *("not well-formed XML", *reason(error)),
                where=f"{source.name}:{getattr(error, 'lineno', None) or 1}",
            ) from None

    def _system(self, source: Source) -> Any:
        if source.sha256 not in self._systems:
            for element in self._elements(source):
                if element.tag.rpartition("}")[2] == "typeDescription":
                    types, features = (
                        [item.text for item in element.iterfind(path)]
                        for path in ("{*}name", "{*}features/{*}featureDescription/{*}name")
                    )
                    check_names(types, features, source.name)
            with _library(source, "a type system"):
                self._systems[source.sha256] = self._cassis.load_typesystem(io.BytesIO(source.data))
        return self._systems[source.sha256]

    # Layers

    def _layered(
        self, cas: Any, offsets: Mapping[int, Interval], source: Source, document: str
    ) -> Layered:
        """Sort the annotations of a CAS into layers."""
        skipped, options = self.reading.skipped, self.reading.options
        with _library(source, "a CAS"):
            view = _view_with_text(cas, source, self.reading)
            marks = sorted(
                view.select(_ANNOTATION), key=lambda fs: (fs.begin or 0, fs.end or 0, fs.xmiID)
            )
            kinds = {fs.type.name: _kind_of(fs.type) for fs in marks}
            known = {t.name for t in cas.typesystem.get_type(_ANNOTATION).descendants}
            layers = {
                name: Layer(*_features(cas.typesystem.get_type(name), cas.typesystem))
                for kind in kinds.values()
                for name in kind.lineage
            }
            wanted = {"token": options["positions"] == "tokens"}
            wanted["sentence"] = options["unit"] == "sentence"
            parts: dict[str, list[Interval]] = {role: [] for role in wanted if wanted[role]}
            title = ""
            for fs in marks:
                kind = kinds[fs.type.name]
                place = _place(fs, offsets, source)
                if kind.role in parts:
                    parts[kind.role].append(place)
                elif kind.role in _LINKS:
                    skipped[_LINKS[kind.role]] += 1
                if short_name(fs.type.name) == "DocumentMetaData":
                    named = getattr(fs, "documentTitle", None)
                    title = title or (named if isinstance(named, str) else "")
                values = _values(fs, layers[fs.type.name], source)
                mark = Annotation(*place, values, _where(fs, source), str(fs.xmiID))
                for name in kind.lineage:
                    layers[name].annotations.append(mark)
            text = view.sofa_string
        length = length_of(text, options["offsets"] or "utf16")
        ordered = {role: _stretches(role, found, length, source) for role, found in parts.items()}
        draft = Draft(
            where=source.name,
            document=document or title,
            annotator="",
            text=text,
            spans=(),
            tokens=ordered.get("token"),
            sentences=ordered.get("sentence"),
            offsets="utf16",
        )
        return Layered(
            draft=draft,
            layers=layers,
            candidates=_candidates(kinds.values()),
            known=frozenset(name for name in known if name[:5] != "uima." or name in layers),
            knows_all=True,
        )


@contextmanager
def _library(source: Source, what: str, *passed: type[Exception]) -> Iterator[None]:
    """Turn whatever the library stumbles over into an error of ours."""
    try:
        with warnings.catch_warnings():
            # It warns of offsets that it does not convert; they are checked later.
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        if isinstance(error, (BeyondChanceError, MemoryError, *passed)):
            raise
        found = (f"not readable as {what}", *reason(error))
        raise FormatError(*found, where=source.name, remedy=EXPORT) from None


def _where(fs: Any, source: Source) -> str:
    return f"{source.name}: annotation {fs.xmiID}"


def _near(entry: Entry, entries: Sequence[Entry]) -> list[Source]:
    """Type systems for an XMI file: from its folder first, then from anywhere given."""
    found = [item for item in entries if item.kind == "types"]
    path = entry.source.path
    if path is not None and not found:
        for name in sorted(path.parent.glob("*.xml")):
            if "typesystem" in name.name.lower() and name.is_file() and not name.is_symlink():
                beside = Source(str(name), path=name)
                if entry.source.given:
                    beside = beside.hidden(f"{entry.source.name}, type system")
                if kind_of_file(beside) == "types":
                    found.append(Entry(name.name, beside, "types"))
    own = PurePosixPath(entry.path)

    def distance(item: Entry) -> tuple[bool, bool, bool, str]:
        path = PurePosixPath(item.path)
        is_usual, is_alike = path.name.lower() == "typesystem.xml", path.name.startswith(own.stem)
        return path.parent != own.parent, not is_usual, not is_alike, item.path

    return [item.source for item in sorted(found, key=distance)]


def _view_with_text(cas: Any, source: Source, reading: Reading) -> Any:
    """The view that holds the text: the initial one, or the only one that has any."""
    names = [sofa.sofaID for sofa in cas.sofas if isinstance(sofa.sofaString, str)]
    if "_InitialView" in names:
        if len(names) > 1 and reading.options["strict"]:
            others = [name for name in names if name != "_InitialView"]
            raise FormatError(
                *("has views besides '_InitialView': ", *quotes(others)),
                where=source.name,
                expected="one view",
                remedy=(
                    *("remove the others, or read it without ", Use("strict", is_name=True)),
                    ", which ignores them",
                ),
            )
        if len(names) > 1:
            reading.skipped[not_read("other views of documents")] += len(names) - 1
        names = ["_InitialView"]
    if len(names) != 1:
        found = ("views with a text: ", *quotes(names))
        raise FormatError(*found, where=source.name, expected="one, or one called _InitialView")
    return cas.get_view(names[0])


def _place(fs: Any, offsets: Mapping[int, Interval], source: Source) -> Interval:
    """The offsets of an annotation as they stand in the file."""
    if fs.xmiID not in offsets:
        found = quoting("a {} without begin and end", short_name(fs.type.name))
        raise FormatError(*found, where=_where(fs, source), expected="both")
    return offsets[fs.xmiID]


def _kind_of(type_: Any) -> _Kind:
    lineage = [type_.name]
    current = type_.supertype
    while current is not None and not current.name.startswith("uima."):
        lineage.append(current.name)
        current = current.supertype
    return _Kind(tuple(lineage), _role(type_, lineage))


def _role(type_: Any, lineage: Sequence[str]) -> str:
    names = {short_name(name) for name in lineage}
    features = {feature.name: feature.rangeType.name for feature in type_.all_features}
    if "Token" in names or "Sentence" in names:
        return "token" if "Token" in names else "sentence"
    if {"Governor", "Dependent"} <= set(features):
        return "relation"
    if features.get("next") in lineage:
        return "chain"
    return "internal" if names & INTERNAL else "span"


def _features(type_: Any, typesystem: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features that hold strings, and those that hold other single values."""
    features, others = [], []
    for feature in type_.all_features:
        # The name as files have it; the library renames two of them.
        name = {"self_": "self", "type_": "type"}.get(feature.name, feature.name)
        if name in {"sofa", "begin", "end"}:
            continue
        if typesystem.is_instance_of(feature.rangeType, "uima.cas.String"):
            features.append(name)
        elif typesystem.is_primitive(feature.rangeType):
            others.append(name)
    return tuple(features), tuple(others)


def _values(fs: Any, layer: Layer, source: Source) -> dict[str, str]:
    """The features of an annotation that have a value, as strings."""
    values = {}
    for name in (*layer.features, *layer.others):
        value = getattr(fs, {"self": "self_", "type": "type_"}.get(name, name))
        if value is None:
            continue
        if name in layer.features and not isinstance(value, str):
            found = ("feature ", Quote(name), f" is {type(value).__name__}")
            raise FormatError(*found, where=_where(fs, source), expected="a text")
        values[name] = as_label(value)
    return values


def _candidates(kinds: Iterable[_Kind]) -> tuple[str, ...]:
    """Types of spans that people made, without those that are kinds of another of them."""
    spans = [kind for kind in kinds if kind.role == "span"]
    named = {kind.lineage[0] for kind in spans} | {
        NAMED_ENTITY for kind in spans if NAMED_ENTITY in kind.lineage
    }
    covered = {kind.lineage[0] for kind in spans if named & set(kind.lineage[1:])}
    return tuple(sorted(named - covered))


def _stretches(
    what: str, places: Iterable[Interval], length: int, source: Source
) -> list[Interval] | None:
    """Tokens or sentences in order; None if the file has none."""
    ordered = sorted({place for place in places if place[0] != place[1]})
    odd = out_of_order(ordered, length)
    if odd is not None:
        found = f"{what} [{odd[0]}, {odd[1]}) overlaps another or does not lie in the text"
        raise FormatError(found, where=source.name, expected=f"{what}s one after the other")
    return ordered or None
