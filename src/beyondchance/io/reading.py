"""Read files and data of any format into a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus, Input
from beyondchance.annotations.names import plain
from beyondchance.checks import checked_gold, repeated
from beyondchance.errors import (
    BeyondChanceError,
    DataError,
    FormatError,
    MismatchError,
    OptionError,
)
from beyondchance.io.assembling import assembled
from beyondchance.io.columns import collected, names_of, rows_of_frame
from beyondchance.io.copies import USE, Copies, copies_in
from beyondchance.io.formats.tags import are_lists_of_tags, is_nothing
from beyondchance.io.hints import hints
from beyondchance.io.naming import (
    hide_addresses,
    short_paths,
    with_new_names,
    with_short_names,
    with_short_paths,
)
from beyondchance.io.options import Reading, Whole
from beyondchance.io.recognition import unrecognised
from beyondchance.io.registry import (
    EITHER,
    FORMATS,
    KINDS,
    SPANS,
    TAGS,
    Format,
    Upload,
    Work,
    format_named,
    recognised,
)
from beyondchance.io.sources import (
    Source,
    cause,
    hidden_below,
    is_pipe,
    limited,
    matching,
    opened,
    read_stream,
)
from beyondchance.io.unfolding import unfolded
from beyondchance.io.values import refusal
from beyondchance.io.workbooks import is_workbook, sheet_of
from beyondchance.messages import Note, Piece, Quote, Text, Use, given, hidden, quotes
from beyondchance.options import (
    ReadOptions,
    checked_options,
    declared,
    documented,
    refused_kinds,
    refuses_all,
)
from beyondchance.tallies import not_read

__all__ = ["FORMATS", "read"]

_Known = tuple[Corpus, dict[str, str]]
"""A corpus, and its annotators by their former names."""


@documented(ReadOptions)
def read(
    *paths: Any,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    **options: Unpack[ReadOptions],
) -> Corpus:
    """Read annotations from files and folders in any format.

    Parameters
    ----------
    *paths : str, path or binary file
        One file that holds all annotators, or one file or folder for each annotator, who
        is then named after it. For ``format="hf"``, the data sets themselves.
    format : str, optional
        One of the names in `FORMATS`; detected from the content by default.
    {options}

    Returns
    -------
    Corpus
        Its `notes` say what was found out, its `skipped` what was left out.

    Raises
    ------
    FormatError
        For a file that is not what its format says, with its name and line.
    OptionError
        For an unknown option or value.

    Examples
    --------
    The file that ships with the package holds three annotators, one in each column.

    >>> from importlib.resources import files
    >>> corpus = read(files("beyondchance") / "resources" / "example.conll")
    >>> corpus.annotators, corpus.unit, corpus.positions
    (('ada', 'ben', 'cleo'), 'sentence', 'tokens')
    """
    return read_by_names(list(paths), format, options)[0]


@dataclass(frozen=True)
class Naming:
    """How annotators and files are to be named.

    Attributes
    ----------
    renamed : mapping of str to str
        New names of annotators.
    hides_files : bool
        Whether files are shown by numbers, because they may be named after annotators.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    hides_files: bool = False


class Selection(NamedTuple):
    """What is kept of a corpus, or of every part of one.

    Attributes
    ----------
    labels, excluded, annotators : tuple of str, optional
        Only these labels, all but these, and only these annotators.
    rename_label : mapping of str to str
    duplicates : {"skip", "error"}
        What becomes of spans that become equal.
    """

    labels: Sequence[str] | None = None
    excluded: Sequence[str] | None = None
    annotators: Sequence[str] | None = None
    rename_label: Mapping[str, str] = {}
    duplicates: str = "skip"

    def check(self, labels: Iterable[str]) -> None:
        """Refuse labels that were asked for and are not among all labels."""
        has = set(labels)
        renamed = {self.rename_label.get(label, label) for label in has}
        asked = {*(self.labels or ()), *(self.excluded or ())}
        for missing, known in ((self.rename_label.keys() - has, has), (asked - renamed, renamed)):
            for name in sorted(missing)[:1]:
                remedy = ("the corpus has: ", *quotes(sorted(known)))
                raise DataError("unknown label ", Quote(name, is_given=True), remedy=remedy)

    def of_labels(self, corpus: Corpus) -> Corpus:
        """Rename and choose labels, of which others may have those that this one lacks."""
        if self.rename_label:
            own = {old: new for old, new in self.rename_label.items() if old in corpus.labels}
            corpus = corpus.rename_labels(own, duplicates=self.duplicates)
            signed = tuple(f"{old}={new}" for old, new in sorted(self.rename_label.items()))
            corpus = replace(corpus, options={**corpus.options, "rename_label": signed})
        excluded, wanted = self.excluded or (), self.labels
        if wanted is None and self.excluded is None:
            return corpus
        labels = corpus.labels if wanted is None else [x for x in corpus.labels if x in wanted]
        return corpus.select(labels=[label for label in labels if label not in excluded])

    def of_annotators(self, corpus: Corpus, known: Mapping[str, str]) -> Corpus:
        """Choose annotators, who may be given by former names, and the gold standard."""
        if self.annotators is None:
            return corpus
        asked = [x if x in corpus.annotators else known.get(x, x) for x in self.annotators]
        names = [*asked, *([corpus.gold] if corpus.gold else [])]
        return corpus.select(annotators=list(dict.fromkeys(names)))


def read_by_names(
    items: Sequence[Any],
    format: str | None,  # noqa: A002 - what it is called everywhere
    options: Mapping[str, Any],
    naming: Naming | None = None,
    beside: Mapping[str, Any] | None = None,
    *,
    is_first_gold: bool = False,
) -> _Known:
    """Read, rename annotators, then choose the gold standard, by its old or its new name.

    Parameters
    ----------
    items : sequence of paths, streams, data or Named
    format : str, optional
    options : mapping
        Of `ReadOptions`.
    naming : Naming, optional
    beside : mapping, optional
        What belongs to data that have no place for it: texts, tokens, lengths.
    is_first_gold : bool
        Whether the others are compared with the first, though nobody calls it a gold standard:
        it then says what is scored.

    Returns
    -------
    corpus : Corpus
    known : dict
        The annotators by their former names: e-mail addresses, and names that were changed.
    """
    naming = naming or Naming(hides_files=bool(options.get("anonymous")))
    kept = {name: plain(value, name) for name, value in (beside or {}).items()}
    call = partial(_read, format=format, beside=kept, naming=naming, is_first_gold=is_first_gold)
    try:
        with limited(options.get("max_size")) as seen:
            corpus, known = _by_names(items, options, naming, call)
        sources = corpus.sources.union(seen, (item.sha256 for item in corpus.inputs))
        corpus = replace(corpus, sources=sources) if sources else corpus
        return (corpus.anonymous() if options.get("anonymous") else corpus), known
    except BeyondChanceError as error:
        hide_addresses(error)
        if options.get("anonymous"):
            error.rewrite(hidden)
        raise
    except OSError as error:
        where = "" if naming.hides_files else str(error.filename or "")
        raise FormatError(f"cannot be read ({cause(error)})", where=where) from None
    except MemoryError:
        problem, mend = "there is not enough memory to read this", "read fewer or smaller files"
        raise FormatError(problem, remedy=mend) from None


def _by_names(
    items: Sequence[Any], options: Mapping[str, Any], naming: Naming, call: Callable[..., _Known]
) -> _Known:
    if not items:
        raise OptionError("nothing to read", expected="at least one file or folder")
    listed = [
        Named(item.name, _kept(item.item, number, ("annotator ", Quote(item.name))))
        if isinstance(item, Named)
        else _kept(item, number)
        for number, item in enumerate(chain.from_iterable(map(matching, items)), start=1)
    ]
    if options.get("documents") is not None:
        table = collected(options["documents"])
        # A table of documents, or the names of documents, as a list.
        table = table if names_of(table) is not None else plain(table, "documents")
        options = {**options, "documents": table}
    gold = options.get("gold")
    is_file = isinstance(gold, Named | PathLike | Assumed)
    if not is_file:
        checked_gold(gold)
    listed, found, call = _each_annotator(listed, options, call, naming)
    if is_file:
        return with_new_names(*_read_with_gold(gold, listed, options, call), naming.renamed)
    corpus, known = with_new_names(*(found or call(listed, options)), naming.renamed)
    if gold is None:
        return corpus, known
    if gold in corpus.annotators:
        return corpus.with_gold(str(gold)), known
    if gold in known:
        return corpus.with_gold(known[gold]), known
    # What could be either is an annotator, if there is one of that name.
    file = named_file(gold)
    if file is None or not exists(_item(file)):
        return corpus.with_gold(str(gold)), known
    return with_new_names(*_read_with_gold(file, listed, options, call), naming.renamed)


def _read_with_gold(
    gold: Any, items: list[Any], options: Mapping[str, Any], call: Callable[..., _Known]
) -> _Known:
    """Read the files and that of the gold standard, which may be one of them."""
    is_assumed = isinstance(gold, Assumed)
    gold = gold.item if isinstance(gold, Assumed) else gold
    path = Path(_item(gold))
    resolved = path.resolve()
    others = [item for item in items if _resolved(item) != resolved]
    is_given = len(others) < len(items)
    if not is_given:
        items = [gold, *items] if is_assumed else [*items, gold]
    elif isinstance(gold, Named):
        items = [gold if _resolved(item) == resolved else item for item in items]
    return call(items, options, gold_file=path, is_assumed=is_assumed)


@dataclass(frozen=True)
class Named:
    """Something to read, and the name of its annotator."""

    name: str
    item: Any


@dataclass(frozen=True)
class Assumed:
    """A file, perhaps Named, that is the gold standard unless the files have one themselves."""

    item: Any


def _kept(item: Any, number: int, who: Text = "") -> Any:
    """Make an item readable several times: read streams, and turn what is like a list into one."""
    if is_pipe(item):
        with Path(item).open("rb") as pipe:
            return Source(str(item), member=read_stream(pipe, str(item)))
    if hasattr(item, "read"):
        name = str(getattr(item, "name", f"stream {number}"))
        return Source(name, member=read_stream(item, name))
    if not isinstance(item, list | tuple):
        item = collected(item)
        rows = rows_of_frame(item)
        if rows is not None:
            return plain(rows)
        if isinstance(item, Mapping) or names_of(item) is not None:
            return item
    # What is within lists of tags is asked of each distinct tag, when they are read.
    return plain(item, who or f"data {number}", depth=1 if are_lists_of_tags(item) else 3)


def named_file(text: str) -> Any:
    """Return a file, with its annotator's name if given as NAME=FILE; None if it is neither."""
    name, equals, path = str(text).partition("=")
    if not equals or exists(text):
        return text
    return Named(name, path) if name and path and name == name.strip() else None


def _item(given: Any) -> Any:
    """Return what was given, without the name that it may have."""
    return given.item if isinstance(given, Named) else given


def _resolved(item: Any) -> Path | None:
    path = _item(item)
    return Path(path).resolve() if path and isinstance(path, str | PathLike) else None


def exists(path: Any) -> bool:
    """Return whether there is a file or folder."""
    try:
        return isinstance(path, str | PathLike) and Path(path).exists()
    except (OSError, ValueError):  # a name that is too long, or no name at all
        return False


def _each_annotator(
    items: list[Any], options: Mapping[str, Any], call: Callable[..., _Known], naming: Naming
) -> tuple[list[Any], _Known | None, Callable[..., _Known]]:
    """List what is to be read, with the files of a single folder apart if each is an annotator's.

    Return also the corpus, if it had to be read to find out, and the function that reads the list.
    """
    folders = [Path(path) if _is_folder(path) else None for path in map(_item, items)]
    if not any(folders):
        return items, None, call
    how = checked_options(ReadOptions, options)["folder"]
    uploads_of(items, naming)  # refuses what cannot be read in them
    if how == "annotators":
        pairs = [
            _parts(path) if path else ([item], 0) for item, path in zip(items, folders, strict=True)
        ]
        listed = list(chain.from_iterable(parts for parts, _ in pairs))
        return listed, None, partial(call, n_ignored=sum(number for _, number in pairs))
    # Strict reading reads documents, but asks where annotators would be detected.
    is_asked = how == "documents" and options.get("folder") is not None
    if len(items) != 1 or folders[0] is None or is_asked:
        return items, None, call
    return _one_folder(items, folders[0], options, call, naming, asks=how == "documents")


def _one_folder(
    items: list[Any],
    folder: Path,
    options: Mapping[str, Any],
    call: Callable[..., _Known],
    naming: Naming,
    *,
    asks: bool,
) -> tuple[list[Any], _Known, Callable[..., _Known]]:
    """Read a folder, whose files are annotators if most of their texts are the same."""
    parts, n_ignored = _parts(folder)
    found: _Known | None = None
    problem = BeyondChanceError()
    apart = cache(partial(_apart, parts, options, partial(call, n_ignored=n_ignored)))
    # Files that say who annotated them are read as a folder first, others one by one.
    is_plain = all(options.get(name) is None for name in _DECIDING)
    are_anonymous = is_plain and len(parts) > 1 and _is_anonymous(parts[0], options, call)
    if are_anonymous and (own := apart()[0]) is not None:
        # A later file may say who annotated it.
        are_anonymous = set(own[0].annotators) <= {Source(str(part)).stem for part in parts}
    share = apart()[1] if are_anonymous else 0.0
    if share < _MOST_SHARED:
        try:
            found = call(items, options)
        except BeyondChanceError as error:
            problem = error
        is_team = found is not None and len(found[0].annotators) > 1
        share = 0.0 if len(parts) < 2 or is_team else apart()[1]
    path = str(folder)
    where = "folder 1" if naming.hides_files else path
    shown = where if naming.hides_files else short_paths([path]).get(path, path)
    if share < _MOST_SHARED:
        if found is None:
            without_gold = partial(call, options={**options, "gold": None})
            _refuse_damaged(parts, items[0], naming, without_gold)
            raise problem
        if share:
            what = f"its {len(parts)} files or folders, some with the same texts, are read as "
            use = (Use("folder", "annotators"), " reads each as one annotator)")
            found = _noted(found, Note((f"{what}documents of one annotator (", *use), where=shown))
        return items, found, call
    same = f"its {len(parts)} files or folders have the same texts"
    if asks:
        by_annotator, by_document = Use("folder", "annotators"), Use("folder", "documents")
        problem = DataError(
            same,
            where=where,
            expected="to know what they are",
            remedy=(by_annotator, " reads each as one annotator, ", by_document, " as a document"),
        )
        call(parts, options, asked=(by_annotator, problem))
    note = Note(f"{same}; each is read as one annotator", where=shown)

    def detected(*given: Any, **more: Any) -> _Known:
        return _noted(call(*given, n_ignored=n_ignored, **more), note, folder="annotators")

    # What was read apart mended nothing, and is the corpus unless other options were given.
    known = apart()[0]
    if known is None or not is_plain:
        return parts, detected(parts, options), detected
    return parts, _noted(known, note, folder="annotators"), detected


def _refuse_damaged(
    parts: list[Path], folder: Any, naming: Naming, call: Callable[..., _Known]
) -> None:
    """Refuse the file that is damaged among those of a format that has no folders."""
    if len({part.suffix for part in parts}) == 1 and all(part.is_file() for part in parts):
        one, whole = (recognised(uploads_of([item], naming)[0]) for item in (parts[0], folder))
        for part in parts if one is not whole else ():
            call([part])


def _noted(known: _Known, note: Note, **signed: Any) -> _Known:
    """Add a note to a corpus, and sign what it is about."""
    corpus, names = known
    options, notes = {**corpus.options, **signed}, (note, *corpus.notes)
    return replace(corpus, notes=notes, options=options), names


def _is_anonymous(part: Path, options: Mapping[str, Any], call: Callable[..., _Known]) -> bool:
    """Return whether a file of a folder has one annotator, and does not say who it is."""
    if not part.is_file():
        return False
    folder = Upload(str(part.parent), "?", [Source(str(part), path=part)], is_folder=True)
    try:
        return call([folder], options)[0].annotators == ("?",)
    except BeyondChanceError:
        return False


def _apart(
    parts: list[Any], options: Mapping[str, Any], call: Callable[..., _Known]
) -> tuple[_Known | None, float]:
    """Read each file of a folder as an annotator; return the share of documents several have."""
    strict = options.get("strict") or False
    named = set() if refuses_all(strict) else refused_kinds(strict)
    # Files of different texts are no work of several annotators on one.
    apart = {"gold": None, "strict": sorted({*named, "mismatch"}), "repeated": "error"}
    try:
        known = call(parts, {**options, **apart})
    except BeyondChanceError:
        return None, 0.0
    corpus = known[0]
    teams = np.bincount(corpus.annotation_document, minlength=len(corpus.documents))
    # Without texts there is no telling; with them, some may not have annotated everything.
    return known, 0.0 if corpus.texts is None else float(np.mean(teams > 1))


_DECIDING = ("gold", "strict", "repeated")
"""Options of which files are read apart with other values."""
_MOST_SHARED = 0.75
"""The share of documents that must have several annotators, so that files are annotators'."""


def _is_folder(path: Any) -> bool:
    return exists(path) and Path(path).is_dir()


def _parts(folder: Path) -> tuple[list[Any], int]:
    """List what lies in a folder, each one annotator's work, and count the files that are not."""
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    folders = [entry for entry in entries if entry.is_dir()]
    files = [entry for entry in entries if entry.is_file()]
    if len(folders) > 1:
        return folders, len(files)
    parts = [entry for entry in files if not is_about(entry)] or files
    return parts, len(files) - len(parts)


def _read(
    items: Sequence[Any],
    options: Mapping[str, Any],
    *,
    format: str | None,  # noqa: A002 - what it is called everywhere
    beside: Mapping[str, Any],
    naming: Naming,
    gold_file: Path | None = None,
    is_first_gold: bool = False,
    is_assumed: bool = False,
    n_ignored: int = 0,
    asked: tuple[Use, BeyondChanceError] | None = None,
) -> _Known:
    # Texts are what they are by default, and spans may be placed in any of them.
    is_corpus_wide = options.get("unit") == CORPUS
    wanted = {**options, "unit": None} if is_corpus_wide else options
    uploads = uploads_of(items, naming)
    if any(is_workbook(source) for upload in uploads for source in upload.sources):
        read_sheet = partial(sheet_of, sheet=options.get("layer"))
        uploads = [replace(own, sources=[*map(read_sheet, own.sources)]) for own in uploads]
        wanted = {**wanted, "layer": None}
    gold = None
    if gold_file is not None:
        resolved = gold_file.resolve()
        gold = next(upload for upload in uploads if _resolved(upload.path) == resolved)
    named = str(options.get("gold") or "")
    if is_first_gold and gold is None and not named:
        gold_upload = uploads[0].name
    else:
        gold_upload = "" if gold is None else gold.name
    former = {new: old for old, new in naming.renamed.items()}
    reference = gold.annotator if gold is not None else former.get(named, named)
    reading = Reading(
        cast("ReadOptions", wanted),
        reference=reference,
        gold_upload=gold_upload,
        beside=beside,
        asked_format=format or "",
        hides_files=naming.hides_files,
    )
    if asked is not None:
        reading.keep(*asked)
    n_ignored += sum(upload.n_ignored for upload in uploads)
    if n_ignored:
        reading.skipped[not_read("files of other formats")] += n_ignored
    uploads = [part for upload in uploads for part in unfolded(upload, format, reading)]
    formats = formats_of(uploads, format, reading)
    _check_options(formats, reading)
    _check_beside(formats, beside)
    corpus = _corpus_of(uploads, formats, reading)
    _check_numbers(reading)
    copies = copies_in(corpus, uploads, formats, reading)
    if copies is not None and (problem := copies.problem(uploads[0].name)) is not None:
        reading.keep(USE, problem)
    reading.check()
    if gold is not None:
        corpus = _with_gold(corpus, gold, reading, is_assumed=is_assumed)
    if is_corpus_wide:
        corpus = replace(corpus, unit=CORPUS)
    corpus, known = _finished(corpus, uploads, formats, reading, naming)
    found = [Note(text, is_hint=True) for text in hints(corpus)]
    return (replace(corpus, notes=(*found, *corpus.notes)) if found else corpus), known


def _finished(
    corpus: Corpus,
    uploads: list[Upload],
    formats: list[Format],
    reading: Reading,
    naming: Naming,
) -> _Known:
    """Add what was found out while reading to the corpus, and shorten its names."""
    known, changed = declared(ReadOptions), reading.changed()
    signed = {
        name: value
        for name, value in changed.items()
        # What mends is signed where it mended something.
        if known[name].option.is_signed and value != known[name].option.refuses
    }
    signed |= reading.signed
    origin = {what: name for what, name in reading.origin.items() if name}
    inputs = dict.fromkeys(
        Input(name=source.name, sha256=source.sha256, format=item.name)
        for upload, item in zip(uploads, formats, strict=True)
        for source in upload.sources
        if upload.data is None
    )
    if signed or reading.skipped or reading.notes or origin or inputs:
        corpus = replace(
            corpus,
            options={**corpus.options, **signed},
            skipped=dict(chain(corpus.skipped.items(), (+reading.skipped).items())),
            notes=(*corpus.notes, *reading.notes.values()),
            origin=origin,
            inputs=tuple(inputs),
        )
    corpus = _without_names_of_files(corpus, uploads, naming)
    return with_short_names(corpus, is_noted=not naming.hides_files)


def read_part(
    uploads: list[Upload],
    formats: list[Format],
    options: Mapping[str, Any],
    naming: Naming,
    whole: Whole | None,
) -> tuple[Corpus, dict[str, str], Whole, Copies | None]:
    """Read some of the documents of files.

    Parameters
    ----------
    uploads : list of Upload
        The part of every file.
    formats : list of Format
        Of every file.
    options : mapping
        Of `ReadOptions`.
    naming : Naming
    whole : Whole, optional
        What is known of all documents; nothing, if these are the first.

    Returns
    -------
    corpus : Corpus
    known : dict
        The annotators by their former names.
    found : Whole
        What these documents show of all.
    copies : Copies, optional
        Which texts there are, if it is not known whose.
    """
    reading = Reading(cast("ReadOptions", options), hides_files=naming.hides_files, whole=whole)
    _check_options(formats, reading)
    corpus = _corpus_of(uploads, formats, reading)
    _check_numbers(reading)
    reading.check()
    people, copies = corpus.annotators, copies_in(corpus, uploads, formats, reading)
    corpus, known = _finished(corpus, uploads, formats, reading, naming)
    scheme = corpus.options.get("scheme")
    found = Whole(people, any(reading.found_gaps), None if scheme is None else str(scheme))
    corpus, known = with_new_names(corpus, known, naming.renamed)
    return corpus, known, found, copies


def _without_names_of_files(corpus: Corpus, uploads: list[Upload], naming: Naming) -> Corpus:
    """Hide the folders of files; and documents that are called as a file is, if files are."""
    if not naming.hides_files:
        paths = [upload.path for upload in uploads if upload.path]
        return with_short_paths(corpus, paths) if paths else corpus
    names = {upload.annotator: upload.name for upload in uploads if upload.given}
    documents = tuple(names.get(name, name) for name in corpus.documents)
    is_distinct = len(set(documents)) == len(documents)
    return replace(corpus, documents=documents) if is_distinct else corpus


def formats_of(
    uploads: list[Upload],
    format: str | None,  # noqa: A002 - what it is called everywhere
    reading: Reading,
) -> list[Format]:
    """Find the format of each upload.

    Lists of nothing are tags if other data are, or if nothing else was given; else spans.
    """
    asked = format or (None if reading.options["fields"] is None else "records")
    found = [_format_of(upload, asked, reading) for upload in uploads]
    is_beside = any(value is not None for value in reading.beside.values())
    is_tags = TAGS in found or not (is_beside or any(found))
    nothing = TAGS if is_tags else SPANS
    return [nothing if item is None else item for item in found]


def _with_gold(corpus: Corpus, upload: Upload, reading: Reading, *, is_assumed: bool) -> Corpus:
    """Make the annotator of a file the gold standard, unless files have one themselves."""
    names = list(reading.people.get(upload.name, (upload.annotator,)))
    own = corpus.gold
    if own is not None and own not in names:
        by_columns = (Use("columns", "tag=last"), " to read the last column of each file")
        problem = f"{upload.name} is the gold standard, but the other files have one of their own, "
        raise DataError(
            *(problem, Quote(own)),
            expected="one gold standard",
            remedy=(
                f"leave out {upload.name}",
                *((", or pass ", *by_columns) if "layout" in reading.signed else ()),
            ),
        )
    if own is not None and is_assumed:
        return corpus
    if len(names) != 1:
        raise upload.several(names, "one, to be the gold standard")
    # Where a name was given together with the file, it is the annotator's.
    return corpus.with_gold(upload.annotator if upload.is_named else names[0])


def _corpus_of(uploads: list[Upload], formats: list[Format], reading: Reading) -> Corpus:
    """Read every upload in its format, and put them together."""
    # Lists of spans and quotes are scored on what the others are.
    others = [item for item in formats if item.offsets != "none" and item is not SPANS] or formats
    main = others[0]
    odd = next((item for item in others if _defaults(item) != _defaults(main)), None)
    if odd is not None and not (reading.options["unit"] and reading.options["positions"]):
        unit, positions = Use("unit", placeholder="UNIT"), Use("positions", placeholder="POSITIONS")
        raise OptionError(
            f"{main.name} and {odd.name} differ in what they are scored on "
            f"({' by '.join(_defaults(main))} and {' by '.join(_defaults(odd))})",
            remedy=("pass ", unit, " and ", positions),
        )
    for upload, item in zip(uploads, formats, strict=True):
        if item.name == "hf" and len(uploads) > 1:  # its names are those of others' numbers
            reader: Any = item.reader()
            names = reading.beside.get("names") or reader.class_names(upload, reading)
            reading = replace(reading, beside={**reading.beside, "names": names})
    if all(item is main for item in formats):
        content = main.reader().read(uploads, reading)
    else:
        is_lists = all(item.name in KINDS for item in formats)
        mixed = replace(reading, is_mixed=True, first_number=0 if is_lists else 1)
        content = _mixed(uploads, formats, mixed)
    if isinstance(content, Corpus):
        return content
    return assembled(content, reading, unit=main.unit, positions=main.positions)


def _mixed(uploads: list[Upload], formats: list[Format], reading: Reading) -> Iterable[Work]:
    """Read uploads of several formats."""
    alone = next((item for item in formats if item.is_alone), None)
    if alone is not None:
        found = f"{alone.name} cannot be read together with other formats"
        raise OptionError(found, remedy="convert one to the other")
    contents = [
        item.reader().read([upload], reading) for upload, item in zip(uploads, formats, strict=True)
    ]
    return chain.from_iterable(content for content in contents if not isinstance(content, Corpus))


def _check_numbers(reading: Reading) -> None:
    """Refuse files that only numbers match, if they differ in how many texts they have."""
    first, n = next(iter(reading.numbered.items()), ("", 0))
    for name, other in reading.numbered.items():
        if other != n:
            raise refusal(
                "",
                f"{{}} has {n} sentences, {{}} has {other}",
                *(first, name),
                expected="equally many, because only their numbers match them",
                remedy="mark documents with '# newdoc id = NAME' where an annotator left some out",
                kind=MismatchError,
            )


def _defaults(item: Format) -> tuple[str, str]:
    return item.positions, "document" if item.unit == EITHER else item.unit


def uploads_of(items: Iterable[Any], naming: Naming) -> list[Upload]:
    """Open what was given, and name the annotators after it."""
    opening = _hidden_upload if naming.hides_files else _upload
    uploads = [opening(item, number) for number, item in enumerate(items, start=1)]
    paths = [path for upload in uploads if (path := _resolved(upload.path)) is not None]
    for again in repeated(paths):
        shown = "a file" if naming.hides_files else again.name
        raise OptionError(f"{shown} was given twice", expected="different files")
    twice = repeated(upload.annotator for upload in uploads)
    if not twice:
        return uploads
    for name in repeated(upload.annotator for upload in uploads if upload.is_named):
        remedy = "put the files of one annotator into a folder"
        raise OptionError("two files are named ", Quote(name), expected="one", remedy=remedy)
    # Annotators of files with the same name are distinguished by the folders of the files.
    return [
        replace(upload, annotator=f"{Path(upload.path).resolve().parent.name}/{upload.annotator}")
        if upload.annotator in twice and upload.path and not upload.is_named
        else upload
        for upload in uploads
    ]


def _hidden_upload(item: Any, number: int) -> Upload:
    """Open a file or folder that is shown by its number, whatever becomes of it."""
    try:
        upload = _upload(item, number)
    except FormatError as error:
        error.where = (f"file {number}",)
        raise
    if upload.is_folder:
        name = f"folder {number}"
        sources = hidden_below(name, upload.sources)
    else:
        sources = [source.hidden(f"file {number}") for source in upload.sources]
        name = sources[0].name
    return replace(upload, name=name, sources=sources, given=upload.name)


def _upload(item: Any, number: int) -> Upload:
    """Open what was given; by default the annotator is named after it."""
    if isinstance(item, Upload):
        return item
    if isinstance(item, Named):
        return replace(_upload(item.item, number), annotator=item.name, is_named=True)
    if isinstance(item, Source):
        return Upload(item.name, item.stem, [item])
    if isinstance(item, str) and not item:
        raise OptionError("a path is empty", expected="that of a file or folder")
    if not isinstance(item, str | PathLike):
        data = f"data {number}"
        return Upload(data, f"annotator {number}", [Source(data, member=b"")], data=item)
    source, path = opened(item), str(item)
    if isinstance(source, Source):
        return Upload(path, source.stem, [source], path=path)
    files = [file for file in source if not is_about(file.posix_path)] or source
    folder = Upload(path, Path(item).resolve().name, files, is_folder=True, path=path)
    return replace(folder, n_ignored=len(source) - len(files))


_ABOUT = ("license", "licence", "readme", "copying", "notice", "changelog", "citation")
"""What files are called that describe a folder."""


def is_about(path: PurePath) -> bool:
    """Return whether a file is about the others, by its name."""
    return path.suffix.lower() == ".md" or path.stem.lower().startswith(_ABOUT)


def _format_of(upload: Upload, name: str | None, reading: Reading) -> Format | None:
    """Find the format: the one asked for, or the one that the content looks like.

    None for data that could be of several kinds, such as lists of nothing.
    """
    if upload.data is not None:
        item = _kind_of(upload, name)
    else:
        item = recognised(upload) if name is None else format_named(name)
        if item is None:
            raise unrecognised(upload)
    if item is not None and name is None and item.name not in KINDS:
        reading.note("read as ", item.name, where=upload.name)
    return item


def _kind_of(upload: Upload, name: str | None) -> Format | None:
    """Find the kind of data: as named, else by structure; None for lists of nothing."""
    if name is not None:
        return KINDS[name] if name in KINDS else format_named(name)
    for known in (KINDS, FORMATS):
        for item in known.values():
            if item.detects(upload):
                return item
        if is_nothing(upload.data):
            return None
    remedy = ""
    if _are_scores(upload.data):
        remedy = "of scores for each class, take the best: scores.argmax(axis=-1)"
    raise FormatError(
        f"got {_described(upload.data)}",
        where=("annotator ", Quote(upload.annotator)),
        expected="a path, lists of tags or of spans (start, end, label), records, spaCy Docs, a "
        "data set, or a data frame with a row for each span",
        remedy=remedy,
    )


def _are_scores(data: Any) -> bool:
    """Return whether data are lists, three deep, of numbers with a point."""
    for _ in range(3):
        if not isinstance(data, list | tuple) or not data:
            return False
        data = data[0]
    return isinstance(data, float)


def _described(value: Any, depth: int = 3) -> str:
    """Describe what a value is, and what is in it.

    Examples
    --------
    >>> _described([[("PER", 0, 1)]]), _described(3.0)
    ('a list of a list of (str, int, int)', 'a float')
    """
    kind = type(value).__name__
    if isinstance(value, tuple) and len(value) < 5 and depth < 3:
        return f"({', '.join(type(part).__name__ for part in value)})"
    named = f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
    is_nested = isinstance(value, list | tuple) and value and depth
    return f"{named} of {_described(value[0], depth - 1)}" if is_nested else named


_BESIDE = {"tags": {"tokens"}, "spans": {"texts", "tokens", "lengths"}}
"""What may be given next to data, by their kind."""


def _check_beside(formats: list[Format], beside: Mapping[str, Any]) -> None:
    """Refuse texts, tokens or lengths that nothing would use."""
    for name, value in beside.items():
        if value is None:
            continue
        if not any(name in _BESIDE.get(item.name, ()) for item in formats):
            expected = "tokens with lists of tags; texts, tokens or lengths with lists of spans"
            raise OptionError(*_not_for(formats, Use(name, is_name=True)), expected=expected)
        if not isinstance(value, list | tuple):
            raise OptionError(*given(name, value), expected="a list, with an entry for each text")


def _check_options(formats: list[Format], reading: Reading) -> None:
    """Refuse an option that none of the formats takes: it would do nothing."""
    for name in reading.changed():
        if not any(name in item.options for item in formats):
            taken = frozenset().union(*(item.options for item in formats))
            listed = [x for other in sorted(taken) for x in (", ", Use(other, is_name=True))]
            raise OptionError(
                *_not_for(formats, Use(name, is_name=True)), remedy=("it takes: ", *listed[1:])
            )
    if reading.ends and not any(item.has_ends for item in formats):
        raise OptionError(*_not_for(formats, Use("offsets", reading.ends)))


def _not_for(formats: list[Format], option: Use) -> tuple[Piece, ...]:
    names = ", ".join(dict.fromkeys(item.name for item in formats))
    return option, f" does not apply to {names}"
