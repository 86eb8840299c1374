"""UIMA CAS: a file, a folder or archive of files, or an INCEpTION project export.

A file is XMI with its type system next to it, or CAS JSON. Layers are the types of annotations,
and an annotation of a type is also one of the types that it is a kind of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.formats.webanno_tsv import is_tsv, parsed
from beyondchance.io.layers import (
    INTERNAL,
    NAMED_ENTITY,
    Annotation,
    Layer,
    Layered,
    as_label,
    layer_drafts,
    short_name,
)
from beyondchance.io.markup import (
    local_name,
    number_in,
    number_of,
    outermost,
    without_prefix,
    xml_root,
)
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload, is_unknown
from beyondchance.io.sources import Source, heads_in, is_zip, members, names_in
from beyondchance.io.values import (
    label_of,
    listed,
    mapped,
    object_of,
    quoting,
    refusal,
    shown,
    string_of,
    whole,
)
from beyondchance.messages import Piece, Quote, Use, quotes
from beyondchance.tallies import left_out, no_spans, not_read

_EXPORT = "export it from INCEpTION as UIMA CAS JSON or UIMA CAS XMI"
_PROJECT = re.compile(r"(?:.*/)?(annotation|curation)(_ser)?/([^/]+)/([^/]+)")
_PROJECT_JSON = re.compile(r"(?:.*/)?exportedproject[^/]*\.json")
_OTHERS = {"types": "a type system", "ser": "Java objects, which are not read"}
_READABLE = ("xmi", "json", "tsv", "zip")
_STATES = {
    "annotation_documents": ("name", "user", "state"),
    "source_documents": ("name", "state"),
}
_FINISHED = frozenset({"FINISHED", "ANNOTATION_FINISHED"})
_JAVA = b"\xac\xed"
_XMI_ID = "{http://www.omg.org/XMI}id"
_INITIAL = "_InitialView"
_ANNOTATION = "uima.tcas.Annotation"
_STRING = "uima.cas.String"
_PRIMITIVE = frozenset(
    f"uima.cas.{name}"
    for name in ("Boolean", "Byte", "Short", "Integer", "Long", "Float", "Double")
)
_STRUCTURES = "%FEATURE_STRUCTURES"
_MEMBERS = "%MEMBERS"
_SOFA = "uima.cas.Sofa"
_CHANGED = "lastChangedOnDisk"
"""Milliseconds; -1 if INCEpTION did not save it."""
_PLACED = frozenset({"sofa", "begin", "end"})
_LINKS = {"relation": "relations", "chain": "chain links"}

_Types = dict[str, tuple[str, dict[str, str]]]
"""What each type is a kind of, and the types of its own features."""
_BUILT_IN: _Types = {"uima.tcas.DocumentAnnotation": (_ANNOTATION, {"language": _STRING})}


# --- Files --------------------------------------------------------------------


class _Entry(NamedTuple):
    """A file of a folder or archive, its path in there, and what it is by its content."""

    path: str
    source: Source
    kind: str | None


def _kind_of_file(source: Source) -> str | None:
    """Return what a file is by its content."""
    if is_zip(source):
        return "zip"
    if source.head.startswith(_JAVA):
        return "ser"
    head = source.head_text or source.head.decode("latin-1")
    root = without_prefix(outermost(source))
    if root == "XMI" and "http://www.omg.org/XMI" in head:
        return "xmi"
    if root == "typeSystemDescription":
        return "types"
    if head.lstrip().startswith("{") and ('"%TYPES"' in head or '"%FEATURE_STRUCTURES"' in head):
        return "json"
    return "tsv" if is_tsv(source) else None


def _entries(sources: Iterable[Source], root: str) -> list[_Entry]:
    """Return files below `root`, or the file itself."""
    paths = ((source, source.full_name.replace("\\", "/")) for source in sources)
    root = root.replace("\\", "/")
    return [
        _Entry(
            path.removeprefix(root).lstrip("/") or PurePosixPath(path).name,
            source,
            _kind_of_file(source),
        )
        for source, path in paths
    ]


def _unpacked(archive: Source) -> list[_Entry]:
    return _entries(members(archive), archive.full_name)


def is_format(upload: Upload) -> bool:
    """Return whether a file, or one of the files of a folder, is a CAS or an archive of such."""
    return any(
        _kind_of_file(source) in {"xmi", "json"} or (is_zip(source) and _holds_cas(source))
        for source in upload.sources
    )


def _holds_cas(source: Source) -> bool:
    """Return whether an archive is a project export or holds a CAS, by the heads of its files."""
    names = names_in(source)
    return any(map(_PROJECT_JSON.fullmatch, names)) or any(
        _kind_of_file(head) in {"xmi", "json"} for head in heads_in(source, names)
    )


# --- Uploads ------------------------------------------------------------------


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, a folder with a file for each document, or a project export."""
    first = upload.sources[0]
    is_packed = not upload.is_folder and is_zip(first)
    entries = _unpacked(first) if is_packed else _entries(upload.sources, upload.full_name)
    loader = _Loader(entries, reading, {})
    if any(_PROJECT_JSON.fullmatch(e.path) or _PROJECT.fullmatch(e.path) for e in entries):
        documents = _project(upload, loader)
    else:
        documents = _documents(upload, loader)
    yield from layer_drafts(documents, reading, name=upload.name, name_as_label=False)


def _documents(upload: Upload, loader: _Loader) -> list[Layered]:
    """Read files of one annotator, a document each."""
    found: list[Layered] = []
    names: list[str] = []
    kinds = {"xmi", "json", "zip"}
    own = {".xmi", *(entry.source.ending for entry in loader.entries if entry.kind in kinds)}
    for entry in loader.entries:
        if entry.kind in kinds:
            found.append(loader.loaded(entry, "", upload.annotator))
            names.append(str(PurePosixPath(entry.path).with_suffix("")))
        elif entry.kind != "types":
            _check_whole(entry, own)
            loader.reading.skipped[not_read("files of other formats")] += 1
    if not found:
        others = {_OTHERS.get(entry.kind or "", "other files") for entry in loader.entries}
        if not any(entry.source.head for entry in loader.entries):
            others = {"an empty file"}
        raise refusal(
            upload.name,
            f"neither XMI nor CAS JSON nor a project export: {', '.join(sorted(others))}",
            expected="annotations",
            remedy=_EXPORT,
        )
    # Titles name documents, unless they are missing or all the same.
    titles = [document.draft.document for document in found]
    if len(set(titles)) < len(titles) or not all(titles):
        titles = ["1"] if len(found) == 1 and not upload.is_folder else names
    return [
        document._replace(draft=replace(document.draft, document=title))
        for document, title in zip(found, titles, strict=True)
    ]


def _check_whole(entry: _Entry, endings: Collection[str]) -> None:
    """Refuse a file that ends as those with annotations do, and holds none."""
    source = entry.source
    if source.ending in endings and is_unknown(source):
        raise refusal(
            source.name,
            ("is not XMI or CAS JSON" if source.head.strip() else "is empty"),
            expected="annotations",
            remedy=_EXPORT,
        )


# --- INCEpTION projects -------------------------------------------------------


def _project(upload: Upload, loader: _Loader) -> list[Layered]:
    """Read the finished work of all users, and of the curator as gold."""
    skipped = loader.reading.skipped
    records = _records(loader.entries)
    by_users = [record["state"] for who, record in records.items() if len(who) == 2]
    found = []
    unread: set[str] = set()
    is_readable = False
    for entry in loader.entries:
        match = _PROJECT.fullmatch(entry.path)
        if match is None:
            continue
        folder, serialised, document, file = match.groups()
        user = PurePosixPath(file).stem
        is_gold = folder == "curation" or user == "CURATION_USER"
        if serialised or entry.kind == "ser":
            skipped[not_read("Java-serialised files")] += 1
            unread |= set() if is_gold else {".ser"}
        elif user == "INITIAL_CAS":
            skipped[not_read("initial documents without an annotator")] += 1
        elif entry.kind not in _READABLE:
            _check_whole(entry, {f".{kind}" for kind in _READABLE})
            skipped[not_read("files of other formats")] += 1
            unread |= set() if is_gold else {PurePosixPath(file).suffix or file}
        else:
            is_readable |= not is_gold
            # All work counts as annotated if the project knows no states.
            record = records.get((document, user), {})
            is_finished = not by_users or record.get("state") in _FINISHED
            if is_gold:
                state = records.get((document,), {}).get("state")
                is_finished = state != "CURATION_IN_PROGRESS"
            if is_finished:
                who = "gold" if is_gold else user
                own = loader.loaded(entry, document, who, is_gold=is_gold)
                date = record.get("timestamp") or record.get("updated") or own.draft.date
                found.append(own._replace(draft=replace(own.draft, date=date)))
            else:
                skipped[left_out("unfinished annotations")] += 1
    if not is_readable:
        kinds = ", ".join(sorted(unread)) or "no files"
        raise FormatError(
            f"the project holds the annotators' work only as {kinds}, which cannot be read",
            where=upload.name,
            remedy=_EXPORT,
        )
    if not found:
        raise refusal(
            upload.name,
            "no annotator finished a document ({})",
            ", ".join(f"{n} {state}" for state, n in sorted(Counter(by_users).items())),
            remedy="mark documents as finished in INCEpTION and export again",
        )
    return found


def _records(entries: Sequence[_Entry]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return what is known of each document for each user, and of each document itself."""
    records = {}
    for _, source, _ in (entry for entry in entries if _PROJECT_JSON.fullmatch(entry.path)):
        project = object_of(source.json(), source.name)
        for key, names in _STATES.items():
            for number, record in enumerate(listed(project, key, source.name), start=1):
                where = f"{source.name}: {key}, number {number}"
                *who, _ = (string_of(object_of(record, where), name, where) for name in names)
                records[tuple(who)] = record
    return records


# --- One CAS ------------------------------------------------------------------


_Structures = dict[int, tuple[str, dict[str, Any]]]
"""The type and the values of each feature structure, by its id."""
_Views = dict[str, list[Any]]
"""The ids of the members of each view, by its name."""


class _Loader(NamedTuple):
    """Reads CAS files, and remembers type systems that it has read."""

    entries: Sequence[_Entry]
    reading: Reading
    systems: dict[str, _Types]

    def loaded(
        self, entry: _Entry, document: str, annotator: str, *, is_gold: bool = False
    ) -> Layered:
        """Read one document by one annotator; it is named by its title by default."""
        entries = self.entries
        if entry.kind == "zip":
            entries = _unpacked(entry.source)
            found = [item for item in entries if item.kind in {"xmi", "json", "tsv"}]
            if len(found) != 1:
                raise refusal(
                    entry.source.name,
                    f"holds {len(found)} annotation files",
                    expected="one, with its type system if it is XMI",
                )
            entry = found[0]
        source, where = entry.source, entry.source.name
        self.reading.calls("cas", entry.kind or "")
        if entry.kind == "tsv":
            return parsed(source, document, annotator, self.reading, is_gold=is_gold)
        types, structures, views = _from_json(source) if entry.kind == "json" else _from_xmi(source)
        text, members = _view_with_text(structures, views, where, self.reading)
        if lost := [x for x in members if type(x) is not int or x not in structures]:
            raise refusal(where, "the view has the member {}", lost[0], expected="its structure")
        if entry.kind == "xmi":
            types = self._fitting(entry, entries, structures)
        saved = (values.get(_CHANGED) for _, values in structures.values())
        draft = Draft(
            where=where,
            document=document,
            annotator=annotator,
            text=text,
            spans=(),
            is_gold=is_gold,
            offsets="utf16",
            date=next((x for x in saved if x not in (None, -1, "-1")), None),
        )
        return _layered(draft, types, {x: structures[x] for x in members}, self.reading)

    def _fitting(self, entry: _Entry, entries: Sequence[_Entry], structures: _Structures) -> _Types:
        """Return the first type system near XMI that has all its types."""
        systems = _near(entry, entries)
        missing: list[str] = []
        for system in systems:
            types = self.systems.get(system.sha256) or _types_of(system)
            self.systems[system.sha256] = types
            kinds = dict.fromkeys(kind for kind, _ in structures.values())
            lacking = [kind for kind in kinds if not _is_known(kind, types)]
            if not lacking:
                return types
            missing = missing or lacking
        found: tuple[Piece, ...] = ("XMI without its type system",)
        if missing:
            names = ", ".join(system.name for system in systems)
            found = quoting("its types are not all in {}, such as {}", (names,), missing[0])
        raise FormatError(
            *found,
            where=entry.source.name,
            remedy="put TypeSystem.xml, which is exported with it, next to it, or export UIMA "
            "CAS JSON, which needs none",
        )


def _chain(name: str, types: _Types) -> list[str]:
    """Return a type and what it is a kind of, as far as that is declared."""
    chain = [name]
    while chain[-1] in types and types[chain[-1]][0] not in chain:
        chain.append(types[chain[-1]][0])
    return chain


def _is_known(name: str, types: _Types) -> bool:
    return _chain(name, types)[-1].startswith("uima.")


def _types_of(source: Source) -> _Types:
    """Return the types of a type system in XML."""
    types = dict(_BUILT_IN)
    root = xml_root(source, program="INCEpTION", name="{*}typeSystemDescription")
    for one in root.iterfind(".//{*}typeDescription"):
        features = one.iterfind("{*}features/{*}featureDescription")
        ranges = {_text(x, "name"): _text(x, "rangeTypeName") for x in features}
        types[_text(one, "name")] = _text(one, "supertypeName"), ranges
    return types


def _text(element: ET.Element, name: str) -> str:
    return (element.findtext(f"{{*}}{name}") or "").strip()


def _from_xmi(source: Source) -> tuple[_Types, _Structures, _Views]:
    """Return the feature structures and the views of XMI, which has its types elsewhere."""
    structures: _Structures = {}
    members: dict[Any, list[Any]] = {}
    for element in xml_root(source, program="INCEpTION", name="{*}XMI"):
        # The namespace of the type a.b.C is http:///a/b.ecore.
        kind = element.tag[9:].replace("/", ".").replace("ecore}", "")
        values: dict[str, Any] = {key: x for key, x in element.attrib.items() if "}" not in key}
        if kind == "uima.cas.View":
            own = values.get("members", "").split()
            members[number_in(values.get("sofa"))] = list(map(number_in, own))
            continue
        values |= {key: number_in(values[key]) for key in ("begin", "end") if key in values}
        number = number_of(element, _XMI_ID, f"{source.name}: {local_name(element.tag)}")
        structures[number] = kind.removeprefix("uima.noNamespace."), values
    sofas = {number: values.get("sofaID", "") for number, (_, values) in structures.items()}
    return {}, structures, {sofas.get(sofa, ""): own for sofa, own in members.items()}


def _from_json(source: Source) -> tuple[_Types, _Structures, _Views]:
    """Return the types, the feature structures and the views of CAS JSON."""
    where = source.name
    data = object_of(source.json(), where)
    types = dict(_BUILT_IN)
    for name, value in mapped(data, "%TYPES", where).items():
        place = (f"{where}: %TYPES, ", Quote(name))
        own = [key for key in object_of(value, place) if not key.startswith("%")]
        ranges = {key: str(mapped(value, key, place).get("%RANGE")) for key in own}
        types[name] = str(value.get("%SUPER_TYPE")), ranges
    found = data.get(_STRUCTURES)
    if isinstance(found, dict):
        found = [{**object_of(x, where), "%ID": number_in(key)} for key, x in found.items()]
    structures: _Structures = {}
    for number, item in enumerate(listed({_STRUCTURES: found}, _STRUCTURES, where), start=1):
        here = f"{where}: {_STRUCTURES}, number {number}"
        kind = label_of(object_of(item, here).get("%TYPE"), here, "%TYPE")
        values = {key.lstrip("@#"): x for key, x in item.items() if not key.startswith("%")}
        structures[whole(item.get("%ID"), "%ID", here)] = kind, values
    views = mapped(data, "%VIEWS", where)
    views = {name: mapped(views, name, where) for name in views}
    members = {x: listed(own, _MEMBERS, where) for x, own in views.items() if _MEMBERS in own}
    return types, structures, members


def _near(entry: _Entry, entries: Sequence[_Entry]) -> list[Source]:
    """Return type systems for XMI: from its folder first, then from anywhere given."""
    found = [(item.path, item.source) for item in entries if item.kind == "types"]
    path, own = entry.source.path, PurePosixPath(entry.path)
    if path is not None and not found:
        for file in path.parent.glob("*.xml"):
            if "typesystem" in file.name.lower() and file.is_file() and not file.is_symlink():
                beside = Source(str(file), path=file)
                if entry.source.given:
                    beside = beside.hidden(f"{entry.source.name}, type system")
                if _kind_of_file(beside) == "types":
                    found.append((str(own.with_name(file.name)), beside))

    def distance(item: tuple[str, Source]) -> tuple[bool, bool, str]:
        place = PurePosixPath(item[0])
        return place.parent != own.parent, place.name.lower() != "typesystem.xml", item[0]

    return [source for _, source in sorted(found, key=distance)]


def _view_with_text(
    structures: _Structures, views: _Views, where: str, reading: Reading
) -> tuple[str, Sequence[Any]]:
    """Return the text and the members of the initial view, or of the only one with a text."""
    sofas = (values for kind, values in structures.values() if kind == _SOFA)
    texts = {str(one.get("sofaID")): one.get("sofaString") for one in sofas}
    texts = {name: text for name, text in texts.items() if isinstance(text, str)}
    if len(texts) != 1 and (_INITIAL not in texts or reading.is_strict):
        raise refusal(
            where,
            "views with a text: {}",
            quotes(texts),
            expected=f"one, or one called {_INITIAL}",
            remedy=(
                "remove the others, or read it without ",
                Use("strict", is_name=True),
                ", which ignores them",
            ),
        )
    reading.skipped[not_read("other views of documents")] += len(texts) - 1
    name = _INITIAL if _INITIAL in texts else next(iter(texts))
    if name not in views and any(kind[:9] != "uima.cas." for kind, _ in structures.values()):
        raise refusal(where, "view {} lists no members", name, remedy=_EXPORT)
    return str(texts[name]), views.get(name, ())


# --- Layers -------------------------------------------------------------------


class _Kind(NamedTuple):
    """What is needed of a type.

    Attributes
    ----------
    lineage : sequence of str
        Itself and what it is a kind of, up to what UIMA itself declares.
    role : {"", "span", "internal", "token", "sentence", "relation", "chain"}
        Empty if it is not a kind of annotation.
    ranges : mapping of str to str
        The types of its features.
    layer : Layer
        Its features that hold strings, and those that hold other single values.
    """

    lineage: Sequence[str]
    role: str
    ranges: Mapping[str, str]
    layer: Layer


def _kind_of(name: str, types: _Types, where: str) -> _Kind:
    chain = _chain(name, types)
    ranges: dict[str, str] = {}
    for one in reversed(chain):
        ranges |= types[one][1] if one in types else {}
    for one in (name, *ranges.values()):
        if not _is_known(one.removesuffix("[]"), types):
            raise refusal(where, "type {} is not declared", one, remedy=_EXPORT)
    lineage = [name, *takewhile(lambda one: not one.startswith("uima."), chain[1:])]
    names = set(map(short_name, lineage))
    role = "internal" if names & INTERNAL else "span"
    if _ANNOTATION not in chain:
        role = ""
    elif "Token" in names or "Sentence" in names:
        role = "token" if "Token" in names else "sentence"
    elif {"Governor", "Dependent"} <= ranges.keys():
        role = "relation"
    elif ranges.get("next") in lineage:
        role = "chain"
    roots = {one: _chain(kind, types) for one, kind in ranges.items() if one not in _PLACED}
    features = tuple(one for one, root in roots.items() if _STRING in root)
    others = tuple(one for one, root in roots.items() if not _PRIMITIVE.isdisjoint(root))
    return _Kind(lineage, role, ranges, Layer(features, others, []))


def _layered(draft: Draft, types: _Types, structures: _Structures, reading: Reading) -> Layered:
    """Sort the annotations of a CAS into layers."""
    where, options = str(draft.where), reading.options
    kinds = {name: _kind_of(name, types, where) for name, _ in structures.values()}
    lineages = [kind.lineage for kind in kinds.values() if kind.role]
    layers = {name: _kind_of(name, types, where).layer for line in lineages for name in line}
    places: dict[str, list[Interval]] = {role: [] for role in ("token", "sentence", *_LINKS)}
    title = draft.document
    marks = [
        (_mark(number, kinds[name], values, where), kinds[name])
        for number, (name, values) in structures.items()
        if kinds[name].role
    ]
    for mark, kind in sorted(marks, key=lambda one: (one[0].start, one[0].end, int(one[0].id))):
        places.setdefault(kind.role, []).append((mark.start, mark.end))
        if short_name(kind.lineage[0]) == "DocumentMetaData":
            title = title or mark.values.get("documentTitle", "")
        for name in kind.lineage:
            layers[name].annotations.append(mark)
    for role, what in _LINKS.items():
        reading.skipped[no_spans(what)] += len(places[role])
    known = {name for name in types if _ANNOTATION in _chain(name, types) and name[:5] != "uima."}
    has_tokens, has_sentences = options["positions"] != "characters", options["unit"] == "sentence"
    return Layered(
        draft=replace(
            draft,
            document=title,
            tokens=_stretches(places["token"]) if has_tokens else None,
            sentences=_stretches(places["sentence"]) if has_sentences else None,
        ),
        layers=layers,
        candidates=_candidates(kinds.values()),
        known=frozenset({*known, *layers}),
        knows_all=True,
    )


def _mark(number: int, kind: _Kind, values: Mapping[str, Any], file: str) -> Annotation:
    """Return an annotation with those of its features that have a value, as strings."""
    where = f"{file}: annotation {number}"
    start, end = ends = values.get("begin"), values.get("end")
    if type(start) is not int or type(end) is not int:
        raise refusal(where, "offsets are {}", quotes(ends), expected="whole numbers")
    if strange := values.keys() - kind.ranges.keys() - _PLACED:
        raise refusal(where, "has the feature {}", min(strange), expected="those of its type")
    features, others = kind.layer.features, kind.layer.others
    given = {name: values[name] for name in (*features, *others) if values.get(name) is not None}
    for name in features:
        if not isinstance(given.get(name, ""), str):
            raise refusal(where, "feature {} is {}", name, (shown(given[name]),), expected="a text")
    return Annotation(start, end, {x: as_label(y) for x, y in given.items()}, where, str(number))


def _stretches(places: Iterable[Interval]) -> list[Interval] | None:
    """Return tokens or sentences in order; None if the file has none."""
    return sorted({place for place in places if place[0] != place[1]}) or None


def _candidates(kinds: Iterable[_Kind]) -> tuple[str, ...]:
    """Return types of spans that people made, without those that are kinds of another of them."""
    spans = [kind for kind in kinds if kind.role == "span"]
    named = {kind.lineage[0] for kind in spans} | {
        NAMED_ENTITY for kind in spans if NAMED_ENTITY in kind.lineage
    }
    covered = {kind.lineage[0] for kind in spans if named & set(kind.lineage[1:])}
    return tuple(sorted(named - covered))
