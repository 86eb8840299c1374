"""UIMA CAS: XMI with its type system, CAS JSON, or an INCEpTION project export.

dkpro-cassis reads the files and knows which type is a kind of which. Offsets are taken
from the files themselves, for the library converts those that it can and leaves the
others as they are.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from beyondchance.errors import BeyondChanceError, FormatError
from beyondchance.io.archives import members
from beyondchance.io.drafts import Draft, Interval
from beyondchance.io.formats.webanno_tsv import (
    INTERNAL,
    NAMED_ENTITY,
    Annotation,
    Layer,
    Layered,
    is_tsv,
    layer_drafts,
    parsed,
    short_name,
)
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload, required
from beyondchance.io.sources import Source, is_zip, safe_xml

# What may stand before the root of an XML file; possessive, so that no file is slow.
_PROLOG = r"(?>\s+|<\?[^>]*>|<!--.*?-->|<![^>]*>|\]>)*+<([\w.-]+:)?"
_XMI = re.compile(_PROLOG + r"XMI\s", re.DOTALL)
_TYPES = re.compile(_PROLOG + r"typeSystemDescription[\s>]", re.DOTALL)
_PROJECT = re.compile(r"(?:.*/)?(annotation|curation)(_ser)?/([^/]+)/([^/]+)")
_PROJECT_JSON = re.compile(r"(?:.*/)?exportedproject[^/]*\.json")
_TYPE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_FEATURE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_JAVA = b"\xac\xed"
_XMI_ID = "{http://www.omg.org/XMI}id"
_ANNOTATION = "uima.tcas.Annotation"
_READABLE = ("xmi", "json", "tsv", "zip")
_FINISHED = frozenset({"FINISHED", "ANNOTATION_FINISHED"})
_EXPORT = "export it from INCEpTION as UIMA CAS JSON or UIMA CAS XMI"


# --- Telling files apart ------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Whether a file, or one of the files of a folder, is a CAS or an archive of such."""
    if upload.data is not None:
        return False
    try:
        return any(_is_cas(source) for source in upload.sources)
    except FormatError:
        return False


def _is_cas(source: Source) -> bool:
    kind = _kind(source)
    return kind in {"xmi", "json"} or (kind == "zip" and _holds_cas(source))


def _kind(source: Source) -> str | None:
    """What a file is by its content."""
    if is_zip(source):
        return "zip"
    if source.head.startswith(_JAVA):
        return "ser"
    head = source.head_text or source.head.decode("latin-1")
    if _XMI.match(head[:8192]) and "http://www.omg.org/XMI" in head:
        return "xmi"
    if _TYPES.match(head[:8192]):
        return "types"
    if head.lstrip().startswith("{") and ('"%TYPES"' in head or '"%FEATURE_STRUCTURES"' in head):
        return "json"
    return "tsv" if is_tsv(source) else None


def _holds_cas(source: Source) -> bool:
    """Whether an archive is a project export or holds a CAS, by the heads of its files."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if any(_PROJECT_JSON.fullmatch(entry.filename) for entry in entries):
                return True
            for entry in entries:
                with archive.open(entry) as file:
                    head = Source(entry.filename, member=file.read(65536))
                if not is_zip(head) and _is_cas(head):
                    return True
    except Exception:
        return False
    return False


# --- Uploads ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file of a folder or archive, and its path in there."""

    path: str
    source: Source
    kind: str | None

    @property
    def folder(self) -> str:
        return str(PurePosixPath(self.path).parent)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, a folder with a file for each document, or a project export."""
    entries = _entries(upload)
    loader = _Loader(reading)
    if any(_PROJECT_JSON.fullmatch(e.path) or _PROJECT.fullmatch(e.path) for e in entries):
        documents = _project(upload, entries, loader)
    else:
        documents = _documents(upload, entries, loader)
    yield from layer_drafts(documents, reading, name=upload.name, name_as_label=False)


def _entries(upload: Upload) -> list[_Entry]:
    """The files that were given, those of an archive if it is one."""
    if upload.is_folder:
        root = upload.name.replace("\\", "/")
        return [
            _Entry(s.name.replace("\\", "/").removeprefix(root).lstrip("/"), s, _kind(s))
            for s in upload.sources
        ]
    source = upload.sources[0]
    if is_zip(source):
        return _unpacked(source)
    return [_Entry(PurePosixPath(source.name.replace("\\", "/")).name, source, _kind(source))]


def _unpacked(archive: Source) -> list[_Entry]:
    try:
        found = members(archive)
    except BeyondChanceError:
        raise
    except Exception as error:
        raise FormatError(f"{archive.name}: not a readable zip archive ({error})") from None
    return [_Entry(s.name.removeprefix(f"{archive.name}/"), s, _kind(s)) for s in found]


def _documents(upload: Upload, entries: Sequence[_Entry], loader: _Loader) -> list[Layered]:
    """Files of one annotator, a document each."""
    is_single = not upload.is_folder and not is_zip(upload.sources[0])
    found: list[Layered] = []
    names: list[str] = []
    for entry in entries:
        if entry.kind not in {"xmi", "json", "zip"}:
            if entry.kind != "types" and not is_single:
                loader.reading.skipped["files of another format ignored"] += 1
            continue
        found.append(loader.loaded(entry, entries, document="", annotator=upload.annotator))
        names.append(str(PurePosixPath(entry.path).with_suffix("")))
    if not found:
        raise FormatError(_nothing(upload, entries))
    # Titles name documents, unless they are missing or all the same.
    titles = [document.document for document in found]
    if len(set(titles)) < len(titles) or not all(titles):
        titles = ["1"] if len(found) == 1 and not upload.is_folder else names
    return [
        replace(document, document=title) for document, title in zip(found, titles, strict=True)
    ]


def _nothing(upload: Upload, entries: Sequence[_Entry]) -> str:
    """Say what was found instead of annotations."""
    if not any(entry.source.head for entry in entries):
        return f"{upload.name}: is empty; expected XMI or CAS JSON"
    if entries[0].kind == "types" and len(entries) == 1:
        return f"{upload.name}: is a type system; expected the XMI file that belongs to it"
    if any(entry.kind == "ser" for entry in entries):
        return f"{upload.name}: holds Java objects, which are not read; {_EXPORT}"
    return f"{upload.name}: neither XMI nor CAS JSON nor a project export; {_EXPORT}"


# --- INCEpTION projects -------------------------------------------------------


def _project(upload: Upload, entries: Sequence[_Entry], loader: _Loader) -> list[Layered]:
    """The finished work of all users, and of the curator as gold."""
    skipped = loader.reading.skipped
    states, curated = _states(entries)
    found = []
    unread: Counter[str] = Counter()
    is_readable = False
    for entry in entries:
        match = _PROJECT.fullmatch(entry.path)
        if match is None:
            continue
        folder, serialised, document, file = match.groups()
        user = PurePosixPath(file).stem
        is_gold = folder == "curation" or user == "CURATION_USER"
        if serialised or entry.kind == "ser":
            skipped["Java-serialised files ignored"] += 1
            unread[".ser"] += not is_gold
        elif user == "INITIAL_CAS":
            skipped["initial documents of nobody ignored"] += 1
        elif entry.kind not in _READABLE:
            skipped["files of another format ignored"] += 1
            unread[PurePosixPath(file).suffix or file] += not is_gold
        else:
            is_readable |= not is_gold
            if _is_finished(document, user, is_gold, states, curated):
                found.append(
                    loader.loaded(
                        entry,
                        entries,
                        document=document,
                        annotator="gold" if is_gold else user,
                        is_gold=is_gold,
                    )
                )
            else:
                skipped["unfinished annotations left out"] += 1
    if not is_readable:
        kinds = ", ".join(sorted(kind for kind, number in unread.items() if number)) or "no files"
        raise FormatError(
            f"{upload.name}: the project holds the annotators' work only as {kinds}, which cannot "
            f"be read; {_EXPORT}"
        )
    if not found:
        listed = ", ".join(f"{n} {state}" for state, n in sorted(Counter(states.values()).items()))
        raise FormatError(
            f"{upload.name}: nobody finished a document ({listed}); mark documents as finished in "
            "INCEpTION and export again"
        )
    return found


def _is_finished(
    document: str,
    user: str,
    is_gold: bool,
    states: Mapping[tuple[str, str], str],
    curated: Mapping[str, str],
) -> bool:
    """Whether work counts as annotated; all does if the project knows no states."""
    if is_gold:
        return curated.get(document) != "CURATION_IN_PROGRESS"
    return not states or states.get((document, user)) in _FINISHED


def _states(entries: Sequence[_Entry]) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """The state of each document for each user, and that of each document itself."""
    states: dict[tuple[str, str], str] = {}
    curated: dict[str, str] = {}
    for entry in entries:
        if not _PROJECT_JSON.fullmatch(entry.path):
            continue
        project = entry.source.json()
        if not isinstance(project, dict):
            raise FormatError(
                f"{entry.source.name}: found {type(project).__name__}; expected a JSON object"
            )
        for item in _records(project, "annotation_documents", entry):
            states[item["name"], item["user"]] = item["state"]
        for item in _records(project, "source_documents", entry):
            curated[item["name"]] = item["state"]
    return states, curated


def _records(project: dict[str, Any], key: str, entry: _Entry) -> Iterator[dict[str, str]]:
    records = project.get(key) or []
    wanted = ("name", "user", "state") if key == "annotation_documents" else ("name", "state")
    where = f"{entry.source.name}: {key}"
    if not isinstance(records, list):
        raise FormatError(f"{where} is {type(records).__name__}; expected a list")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict) or not all(
            isinstance(record.get(name), str) for name in wanted
        ):
            raise FormatError(
                f"{where}, number {number}: expected an object with the texts {', '.join(wanted)}"
            )
        yield record


# --- One CAS ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """What there is to know of a type.

    Attributes
    ----------
    lineage : tuple of str
        Itself and what it is a kind of, up to the annotation.
    role : {"span", "internal", "token", "sentence", "relation", "chain"}
    features, others : tuple of str
        Those that hold strings, and those that hold other single values.
    """

    lineage: tuple[str, ...]
    role: str
    features: tuple[str, ...]
    others: tuple[str, ...]


class _Loader:
    """Reads CAS files, and remembers type systems that it has read."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._cassis = required("cassis", extra="uima", purpose="reading UIMA CAS files")
        self._etree = required("lxml.etree", extra="uima", purpose="reading UIMA CAS files")
        self._systems: dict[str, Any] = {}

    def loaded(
        self,
        entry: _Entry,
        entries: Sequence[_Entry],
        *,
        document: str,
        annotator: str,
        is_gold: bool = False,
    ) -> Layered:
        """Read one document by one annotator; it is named by its title by default."""
        if entry.kind == "zip":
            inside = _unpacked(entry.source)
            found = [item for item in inside if item.kind in {"xmi", "json", "tsv"}]
            if len(found) != 1:
                raise FormatError(
                    f"{entry.source.name}: holds {len(found)} annotation files; expected one, with "
                    "its type system if it is XMI"
                )
            entry, entries = found[0], inside
        source = entry.source
        if entry.kind == "tsv":
            return parsed(source, document, annotator, self.reading, is_gold=is_gold)
        if entry.kind == "json":
            cas, offsets = self._from_json(source)
        else:
            cas, offsets = self._from_xmi(entry, entries)
        result = self._layered(cas, offsets, source)
        return replace(
            result, document=document or result.document, annotator=annotator, is_gold=is_gold
        )

    # JSON

    def _from_json(self, source: Source) -> tuple[Any, dict[int, Interval]]:
        data = source.json()
        _check_json_types(data, source.name)
        offsets = dict(_json_offsets(data, source.name))
        with _library(source, "CAS JSON"):
            return self._cassis.load_cas_from_json(source.text), offsets

    # XMI

    def _from_xmi(
        self, entry: _Entry, entries: Sequence[_Entry]
    ) -> tuple[Any, dict[int, Interval]]:
        """Read XMI with the first type system near it that has all its types."""
        source = entry.source
        offsets = dict(self._xmi_offsets(source))
        systems = _near(entry, entries)
        if not systems:
            raise FormatError(
                f"{source.name}: XMI without its type system; put TypeSystem.xml, which is "
                "exported with it, beside it, or export UIMA CAS JSON, which needs none"
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
            f"{source.name}: its types are not all in {', '.join(s.name for s in systems)} "
            f"({_short(missing)}); use the type system that was exported with it"
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
                    f"{source.name}:{element.sourceline}: annotation with id {number!r} has "
                    f"offsets {begin!r} and {end!r}; expected whole numbers"
                ) from None

    def _elements(self, source: Source) -> Iterator[Any]:
        data = safe_xml(source)
        try:
            for _, element in self._etree.iterparse(
                io.BytesIO(data), events=("end",), resolve_entities=False, no_network=True
            ):
                yield element
        except Exception as error:
            line = getattr(error, "lineno", None) or 1
            raise FormatError(
                f"{source.name}:{line}: not well-formed XML ({_short(error)})"
            ) from None

    def _system(self, source: Source) -> Any:
        if source.sha256 not in self._systems:
            for element in self._elements(source):
                if element.tag.rpartition("}")[2] == "typeDescription":
                    _check_names(
                        [item.text for item in element.iterfind("{*}name")],
                        [
                            item.text
                            for item in element.iterfind(
                                "{*}features/{*}featureDescription/{*}name"
                            )
                        ],
                        source.name,
                    )
            with _library(source, "a type system"):
                self._systems[source.sha256] = self._cassis.load_typesystem(io.BytesIO(source.data))
        return self._systems[source.sha256]

    # Layers

    def _layered(self, cas: Any, offsets: Mapping[int, Interval], source: Source) -> Layered:
        """Sort the annotations of a CAS into layers."""
        with _library(source, "a CAS"):
            view = _view_with_text(cas, source)
            marks = sorted(
                view.select(_ANNOTATION), key=lambda fs: (fs.begin or 0, fs.end or 0, fs.xmiID)
            )
            kinds = {fs.type.name: _kind_of(fs.type, cas.typesystem) for fs in marks}
            known = {t.name for t in cas.typesystem.get_type(_ANNOTATION).descendants}
            layers = {
                name: Layer(*_features(cas.typesystem.get_type(name), cas.typesystem))
                for kind in kinds.values()
                for name in kind.lineage
            }
            special: dict[str, list[Interval]] = {"token": [], "sentence": []}
            title = ""
            for fs in marks:
                kind = kinds[fs.type.name]
                place = _place(fs, offsets, source)
                if kind.role in special:
                    special[kind.role].append(place)
                if short_name(fs.type.name) == "DocumentMetaData":
                    title = title or _text(getattr(fs, "documentTitle", None))
                mark = Annotation(*place, _values(fs, kind, source), _where(fs, source))
                for name in kind.lineage:
                    layers[name].annotations.append(mark)
            text = view.sofa_string
        self._count_links(marks, kinds)
        options = self.reading.options
        return Layered(
            where=source.name,
            document=title,
            annotator="",
            text=text,
            layers=layers,
            candidates=_candidates(kinds.values()),
            known=frozenset(name for name in known if name[:5] != "uima." or name in layers),
            knows_all=True,
            tokens=_stretches("token", special, text, self.reading, source)
            if options["positions"] == "tokens"
            else None,
            sentences=_stretches("sentence", special, text, self.reading, source)
            if options["unit"] == "sentence"
            else None,
        )

    def _count_links(self, marks: Sequence[Any], kinds: Mapping[str, _Kind]) -> None:
        names = {"relation": "relations ignored", "chain": "chain links ignored"}
        for fs in marks:
            role = kinds[fs.type.name].role
            if role in names:
                self.reading.skipped[names[role]] += 1


@contextmanager
def _library(source: Source, what: str, *passed: type[Exception]) -> Iterator[None]:
    """Turn whatever the library stumbles over into an error of ours."""
    try:
        with warnings.catch_warnings():
            # It warns of offsets that it does not convert; they are checked later.
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        if isinstance(error, (BeyondChanceError, *passed)):
            raise
        raise FormatError(
            f"{source.name}: not readable as {what} ({_short(error)}); {_EXPORT}"
        ) from None


def _short(error: Exception | None) -> str:
    """The first line of a library's message, and the kind of error if that says little."""
    lines = str(error).splitlines() or [""]
    said = lines[0][:200]
    return said if " " in said else f"{type(error).__name__} {said}".rstrip()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _where(fs: Any, source: Source) -> str:
    return f"{source.name}: annotation {fs.xmiID}"


def _near(entry: _Entry, entries: Sequence[_Entry]) -> list[Source]:
    """Type systems for an XMI file: from its folder first, then from anywhere given."""
    found = [item for item in entries if item.kind == "types"]
    path = entry.source.path
    if path is not None and not found:
        for name in sorted(path.parent.glob("*.xml")):
            beside = Source(str(name), path=name)
            is_named = "typesystem" in name.name.lower()
            if is_named and not name.is_symlink() and name.is_file() and _kind(beside) == "types":
                found.append(_Entry(name.name, beside, "types"))
    stem = PurePosixPath(entry.path).stem

    def distance(item: _Entry) -> tuple[bool, bool, bool, str]:
        name = PurePosixPath(item.path).name
        return (
            item.folder != entry.folder,
            name.lower() != "typesystem.xml",
            not name.startswith(stem),
            item.path,
        )

    return [item.source for item in sorted(found, key=distance)]


def _check_names(types: Sequence[object], features: Sequence[object], where: str) -> None:
    """Refuse names that are none: the library builds classes, and so code, from them."""
    for names, pattern, what in ((types, _TYPE_NAME, "type"), (features, _FEATURE_NAME, "feature")):
        for name in names:
            if not isinstance(name, str) or not pattern.fullmatch(name.strip()):
                shown = repr(name)[:60]
                raise FormatError(
                    f"{where}: {shown} is no name of a {what}; expected letters, digits and _"
                )


def _check_json_types(data: object, name: str) -> None:
    """Check the types that CAS JSON declares, before they are built."""
    if not isinstance(data, dict):
        raise FormatError(f"{name}: found {type(data).__name__}; expected a JSON object")
    types = data.get("%TYPES")
    if not isinstance(types, dict):
        raise FormatError(
            f"{name}: %TYPES is {type(types).__name__}; expected the types as an object: export "
            "the CAS with its type system"
        )
    for type_name, declared in types.items():
        if not isinstance(declared, dict):
            raise FormatError(
                f"{name}: %TYPES, {type_name!r}: found {type(declared).__name__}; expected an "
                "object"
            )
        features = [key for key in declared if not key.startswith("%")]
        _check_names([type_name], features, f"{name}: %TYPES")


def _json_offsets(data: dict[str, Any], name: str) -> Iterator[tuple[int, Interval]]:
    """Offsets by id as they stand in the file."""
    for number, item in _json_structures(data.get("%FEATURE_STRUCTURES"), name):
        where = f"{name}: feature structure {number}"
        if not isinstance(item, dict) or not isinstance(item.get("%TYPE"), str):
            raise FormatError(f"{where}: expected an object with %TYPE")
        if "begin" not in item and "end" not in item:
            continue
        begin, end = item.get("begin"), item.get("end")
        if type(begin) is not int or type(end) is not int:
            raise FormatError(f"{where}: offsets {begin!r} and {end!r}; expected whole numbers")
        yield number, (begin, end)


def _json_structures(found: object, name: str) -> Iterator[tuple[int, Any]]:
    """Feature structures by id, whether they are a list or an object."""
    if isinstance(found, dict):
        for key, item in found.items():
            if not re.fullmatch(r"\d{1,18}", key, re.ASCII):
                raise FormatError(
                    f"{name}: %FEATURE_STRUCTURES has the key {key[:60]!r}; expected a number"
                )
            yield int(key), item
    elif isinstance(found, list):
        for place, item in enumerate(found, start=1):
            number = item.get("%ID") if isinstance(item, dict) else None
            if type(number) is not int:
                raise FormatError(
                    f"{name}: %FEATURE_STRUCTURES, number {place}: expected an object with a "
                    "number as %ID"
                )
            yield number, item
    else:
        raise FormatError(
            f"{name}: %FEATURE_STRUCTURES is {type(found).__name__}; expected a list or an object"
        )


def _view_with_text(cas: Any, source: Source) -> Any:
    """The view that holds the text: the initial one, or the only one that has any."""
    names = [sofa.sofaID for sofa in cas.sofas if isinstance(sofa.sofaString, str)]
    if "_InitialView" in names:
        names = ["_InitialView"]
    if len(names) != 1:
        listed = ", ".join(names) or "none"
        raise FormatError(
            f"{source.name}: views with a text: {listed}; expected one, or one called _InitialView"
        )
    return cas.get_view(names[0])


def _place(fs: Any, offsets: Mapping[int, Interval], source: Source) -> Interval:
    """The offsets of an annotation as they stand in the file."""
    if fs.xmiID not in offsets:
        raise FormatError(
            f"{_where(fs, source)} ({short_name(fs.type.name)}) has no begin and end; expected both"
        )
    return offsets[fs.xmiID]


def _kind_of(type_: Any, typesystem: Any) -> _Kind:
    lineage = [type_.name]
    current = type_.supertype
    while current is not None and not current.name.startswith("uima."):
        lineage.append(current.name)
        current = current.supertype
    return _Kind(tuple(lineage), _role(type_, lineage), *_features(type_, typesystem))


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
        if feature.name in {"sofa", "begin", "end"}:
            continue
        if typesystem.is_instance_of(feature.rangeType, "uima.cas.String"):
            features.append(_outer(feature.name))
        elif typesystem.is_primitive(feature.rangeType):
            others.append(_outer(feature.name))
    return tuple(features), tuple(others)


def _outer(feature: str) -> str:
    """The name of a feature as files have it; the library renames two of them."""
    return {"self_": "self", "type_": "type"}.get(feature, feature)


def _inner(feature: str) -> str:
    return {"self": "self_", "type": "type_"}.get(feature, feature)


def _values(fs: Any, kind: _Kind, source: Source) -> dict[str, str]:
    """The features of an annotation that have a value, as strings."""
    values = {}
    for name in (*kind.features, *kind.others):
        value = getattr(fs, _inner(name))
        if value is None:
            continue
        if name in kind.features and not isinstance(value, str):
            raise FormatError(
                f"{_where(fs, source)}: feature {name} is {type(value).__name__}; expected a text"
            )
        values[name] = str(value).lower() if isinstance(value, bool) else str(value)
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
    what: str, found: Mapping[str, list[Interval]], text: str, reading: Reading, source: Source
) -> list[Interval] | None:
    """Tokens or sentences in order; None if the file has none."""
    places = sorted({place for place in found[what] if place[0] != place[1]})
    wide = 0 if reading.options["offsets"] == "codepoints" else sum(c >= "\U00010000" for c in text)
    last = 0
    for start, end in places:
        if not last <= start < end <= len(text) + wide:
            raise FormatError(
                f"{source.name}: {what} [{start}, {end}) overlaps another or does not lie in the "
                f"text; expected {what}s one after the other"
            )
        last = end
    return places or None
