"""Files to a corpus, whatever wrote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus, Input
from beyondchance.checks import checked_option
from beyondchance.errors import DataError, FormatError, MismatchError, OptionError
from beyondchance.io.assembling import assembled
from beyondchance.io.drafts import Draft
from beyondchance.io.options import Reading
from beyondchance.io.registry import FORMATS, Format, Upload
from beyondchance.io.sources import Source, is_zip, opened
from beyondchance.messages import Quote, Use, quotes
from beyondchance.options import ReadOptions, declared, documented

__all__ = ["FORMATS", "read"]


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
    # Texts are what they are by default, and spans may be placed in any of them.
    is_corpus_wide = options.get("unit") == CORPUS
    reading = Reading({**options, "unit": None} if is_corpus_wide else options)
    if not paths:
        raise OptionError("nothing to read", expected="at least one file or folder")
    gold = reading.options["gold"]
    gold_file = _gold_file(gold)
    if gold_file is not None and gold_file not in map(_resolved, paths):
        paths = (*paths, gold)
    uploads = _uploads(paths)
    formats = [_format_of(upload, format, reading) for upload in uploads]
    _check_options(formats, reading)
    corpus = _corpus_of(uploads, formats, reading)
    _check_numbers(reading)
    if gold_file is not None:
        upload = next(upload for upload in uploads if _resolved(upload.name) == gold_file)
        corpus = corpus.with_gold(_only_annotator(upload, corpus, reading))
    elif gold is not None:
        corpus = corpus.with_gold(str(gold))
    known, changed = declared(ReadOptions), reading.changed()
    signed = {name: value for name, value in changed.items() if known[name].option.is_signed}
    return replace(
        corpus,
        unit=CORPUS if is_corpus_wide else corpus.unit,
        options={**corpus.options, **signed, **reading.signed},
        skipped={**corpus.skipped, **reading.skipped},
        notes=(*corpus.notes, *reading.notes),
        inputs=tuple(
            Input(name=source.name, sha256=source.sha256, format=item.name)
            for upload, item in zip(uploads, formats, strict=True)
            for source in upload.sources
        ),
    )


def _resolved(path: Any) -> Path | None:
    return Path(path).resolve() if isinstance(path, str | PathLike) else None


def _gold_file(gold: Any) -> Path | None:
    """The file or folder that was given as gold standard, if it is one and not a name."""
    path = _resolved(gold)
    return path if path is not None and (not isinstance(gold, str) or path.exists()) else None


def _only_annotator(upload: Upload, corpus: Corpus, reading: Reading) -> str:
    """The annotator of the gold standard's file: named after it, or by the file itself."""
    if upload.annotator in corpus.annotators:
        return upload.annotator
    names = list(reading.people.get(upload.name, ()))
    if len(names) != 1:
        raise DataError(
            *(f"holds {len(names)} annotators (", *quotes(names), ")"),
            where=upload.name,
            expected="one, the gold standard",
            remedy=("name it with ", Use("gold", placeholder="NAME")),
        )
    return names[0]


def _corpus_of(uploads: list[Upload], formats: list[Format], reading: Reading) -> Corpus:
    """Read every upload in its format, and put them together."""
    main = formats[0]
    odd = next((item for item in formats if _defaults(item) != _defaults(main)), None)
    if odd is not None and not (reading.options["unit"] and reading.options["positions"]):
        unit, positions = Use("unit", placeholder="UNIT"), Use("positions", placeholder="POSITIONS")
        raise OptionError(
            f"{main.name} and {odd.name} differ in what they are scored on "
            f"({' by '.join(_defaults(main))} and {' by '.join(_defaults(odd))})",
            remedy=("pass ", unit, " and ", positions),
        )
    if all(item == main for item in formats):
        content = main.reader().read(uploads, reading)
    else:
        content = _mixed(uploads, formats, replace(reading, is_mixed=True))
    if isinstance(content, Corpus):
        return content
    return assembled(content, reading, unit=main.unit, positions=main.positions)


def _mixed(uploads: list[Upload], formats: list[Format], reading: Reading) -> Iterable[Draft]:
    """Read uploads of several formats to drafts."""
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
    (first, n), *others = [*reading.numbered.items()] or [("", 0)]
    for name, other in others:
        if other != n:
            raise MismatchError(
                *(Quote(first), f" has {n} sentences, ", Quote(name), f" has {other}"),
                expected="equally many, because only their numbers match them",
                remedy="mark documents with '# newdoc id = NAME' where an annotator left some out",
            )


def _defaults(item: Format) -> tuple[str, str]:
    return item.positions, item.unit


def _uploads(paths: Iterable[Any]) -> list[Upload]:
    """Open what was given, and name the annotators after it."""
    uploads = []
    for number, path in enumerate(paths, start=1):
        if hasattr(path, "read"):
            name = str(getattr(path, "name", f"stream {number}"))
            stream = Source(name, member=_content(path, name))
            uploads.append(Upload(name, stream.stem, [stream]))
        elif not isinstance(path, str | PathLike):
            name = f"data {number}"
            empty = Source(name, member=b"")
            uploads.append(Upload(name, f"annotator {number}", [empty], data=path))
        elif isinstance(source := opened(Path(path)), Source):
            uploads.append(Upload(str(path), source.stem, [source]))
        else:
            uploads.append(Upload(str(path), Path(path).resolve().name, source, is_folder=True))
    paths_given = [Path(upload.name).resolve() for upload in uploads if upload.data is None]
    if len(set(paths_given)) < len(paths_given):
        again = next(path for path in paths_given if paths_given.count(path) > 1)
        raise OptionError(f"{again.name} was given twice", expected="different files")
    # Annotators of files with the same name are distinguished by the folders of the files.
    twice = {name for name, n in Counter(upload.annotator for upload in uploads).items() if n > 1}
    return [
        replace(upload, annotator=f"{Path(upload.name).resolve().parent.name}/{upload.annotator}")
        if upload.annotator in twice and upload.data is None
        else upload
        for upload in uploads
    ]


def _content(stream: Any, name: str) -> bytes:
    """What a binary stream still holds."""
    content = stream.read()
    if not isinstance(content, bytes):
        expected = "a stream of bytes, opened with 'rb'"
        raise OptionError("a stream of text", where=name, expected=expected)
    return content


def _format_of(upload: Upload, name: str | None, reading: Reading) -> Format:
    """The format asked for, or the one that the content looks like."""
    if name is not None:
        return FORMATS[checked_option("format", name, FORMATS)]
    for item in FORMATS.values():
        if item.detects(upload):
            reading.note("read as ", item.name, where=upload.name)
            return item
    source = upload.sources[0]
    if not source.head:
        raise FormatError("is empty", where=upload.name, expected="annotations")
    if is_zip(source):
        found, expected = "a zip archive of no known kind", "an export of doccano or INCEpTION"
        remedy = "save a spreadsheet as CSV"
        raise FormatError(found, where=upload.name, expected=expected, remedy=remedy)
    if not source.head_text:
        source.text  # noqa: B018 - raises an error that says why it is not text
    raise FormatError(
        f"not recognised as any of {', '.join(FORMATS)}",
        where=upload.name,
        remedy=("pass ", Use("format", placeholder="NAME")),
    )


def _check_options(formats: list[Format], reading: Reading) -> None:
    """Refuse an option that none of the formats takes: it would do nothing."""
    taken = frozenset().union(*(item.options for item in formats))
    for name in reading.changed():
        if name not in taken:
            names = ", ".join(dict.fromkeys(item.name for item in formats))
            listed = [x for other in sorted(taken) for x in (", ", Use(other, is_name=True))]
            found = (Use(name, is_name=True), f" does not apply to {names}")
            raise OptionError(*found, remedy=("it takes: ", *listed[1:]))
