"""Files to a corpus, whatever wrote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from beyondchance.annotations.corpus import Corpus, Input
from beyondchance.checks import checked_option
from beyondchance.errors import DataError, FormatError, MismatchError, OptionError
from beyondchance.io.drafts import assembled
from beyondchance.io.formats.quick_conll import quick_corpus
from beyondchance.io.options import Reading
from beyondchance.io.registry import FORMATS, Format, Upload
from beyondchance.io.sources import Source, is_zip, opened
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
        One file that holds everybody, or one file or folder for each annotator, who is
        then named after it. For ``format="hf"``, the data sets themselves.
    format : str, optional
        One of the names in `FORMATS`; told from the content by default.
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
    reading = Reading(options)
    if not paths:
        raise OptionError("nothing to read; expected at least one file or folder")
    gold = reading.options["gold"]
    gold_file = _gold_file(gold)
    if gold_file is not None and gold_file not in map(_resolved, paths):
        paths = (*paths, gold)
    uploads = _uploads(paths)
    chosen = [_format_of(upload, format, reading) for upload in uploads]
    _check_options(chosen, reading)
    corpus = _corpus_of(uploads, chosen, reading)
    _check_numbers(reading)
    if gold_file is not None:
        upload = next(upload for upload in uploads if _resolved(upload.name) == gold_file)
        corpus = corpus.with_gold(_only_annotator(upload, corpus, format, options))
    elif gold is not None:
        corpus = corpus.with_gold(str(gold))
    given: dict[str, Any] = {**reading.options}
    known = declared(ReadOptions)
    signed = {name: given[name] for name in reading.changed() if known[name].option.is_signed}
    return replace(
        corpus,
        options={**corpus.options, **signed, **reading.signed},
        skipped={**corpus.skipped, **reading.skipped},
        notes=(*corpus.notes, *reading.notes),
        inputs=tuple(
            Input(name=source.name, sha256=source.sha256, format=item.name)
            for upload, item in zip(uploads, chosen, strict=True)
            for source in upload.sources
        ),
    )


def _resolved(path: Any) -> Path | None:
    return Path(path).resolve() if isinstance(path, str | PathLike) else None


def _gold_file(gold: Any) -> Path | None:
    """The file or folder that was given as gold standard, if it is one and not a name."""
    path = _resolved(gold)
    return path if path is not None and (not isinstance(gold, str) or path.exists()) else None


def _only_annotator(
    upload: Upload, corpus: Corpus, format_name: str | None, options: Mapping[str, Any]
) -> str:
    """Who made the file of the gold standard: named after it, or by the file itself."""
    if upload.annotator in corpus.annotators:
        return upload.annotator
    others = {name: value for name, value in options.items() if name != "gold"}
    names = read(upload.name, format=format_name, **others).annotators
    if len(names) != 1:
        raise DataError(
            f"{upload.name}: holds {len(names)} annotators ({', '.join(names[:10])}); expected "
            "one, the gold standard: say who it is with gold=NAME"
        )
    return names[0]


def _corpus_of(uploads: list[Upload], chosen: list[Format], reading: Reading) -> Corpus:
    """Read every upload in its format, and put them together."""
    main = chosen[0]
    odd = next((item for item in chosen if _defaults(item) != _defaults(main)), None)
    if odd is not None and not (reading.options["unit"] and reading.options["positions"]):
        raise OptionError(
            f"{main.name} and {odd.name} differ in what they are scored on "
            f"({' by '.join(_defaults(main))} and {' by '.join(_defaults(odd))}); say unit and "
            "positions"
        )
    whole = [item for item in chosen if hasattr(item.module(), "corpus")]
    if whole and any(item != main for item in chosen):
        raise OptionError(
            f"{whole[0].name} cannot be read together with other formats; convert one to the other"
        )
    if whole:
        corpus: Corpus = main.module().corpus(uploads, reading)
        return corpus
    quick = quick_corpus(uploads, reading) if {item.name for item in chosen} == {"conll"} else None
    if quick is not None:
        return quick
    drafts = chain.from_iterable(
        item.drafts(upload, reading) for upload, item in zip(uploads, chosen, strict=True)
    )
    return assembled(drafts, reading, unit=main.unit, positions=main.positions)


def _check_numbers(reading: Reading) -> None:
    """Refuse files that only numbers match, if they have not equally many texts."""
    (first, n), *others = [*reading.numbered.items()] or [("", 0)]
    for name, other in others:
        if other != n:
            raise MismatchError(
                f"{first!r} has {n} sentences, {name!r} has {other}; expected equally many, for "
                "only their numbers match them: mark documents with '# newdoc id = NAME' where "
                "somebody did not annotate all"
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
            continue
        if not isinstance(path, str | PathLike):
            uploads.append(
                Upload(
                    f"data {number}",
                    f"annotator {number}",
                    [Source(f"data {number}", member=b"")],
                    data=path,
                )
            )
            continue
        found = opened(Path(path))
        if isinstance(found, Source):
            uploads.append(Upload(str(path), found.stem, [found]))
        else:
            uploads.append(Upload(str(path), Path(path).resolve().name, found, is_folder=True))
    paths_given = [Path(upload.name).resolve() for upload in uploads if upload.data is None]
    if len(set(paths_given)) < len(paths_given):
        again = next(path for path in paths_given if paths_given.count(path) > 1)
        raise OptionError(f"{again.name} was given twice; expected different files")
    # Files of one name in different folders are told apart by the folders.
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
        raise OptionError(f"{name}: a stream of text; expected one of bytes, opened with 'rb'")
    return content


def _format_of(upload: Upload, name: str | None, reading: Reading) -> Format:
    """The format asked for, or the one that the content looks like."""
    if name is not None:
        return FORMATS[checked_option("format", name, FORMATS)]
    for item in FORMATS.values():
        if item.detects(upload):
            reading.notes.append(f"{upload.name}: read as {item.name}")
            return item
    source = upload.sources[0]
    if not source.head:
        raise FormatError(f"{upload.name}: is empty; expected annotations")
    if is_zip(source):
        raise FormatError(
            f"{upload.name}: a zip archive of no known kind; expected an export of doccano or "
            "INCEpTION (save a spreadsheet as CSV)"
        )
    if not source.head_text:
        source.text  # noqa: B018 - says why it is no text, if it is none
    raise FormatError(
        f"{upload.name}: not recognised as any of {', '.join(FORMATS)}; say which with format="
    )


def _check_options(chosen: list[Format], reading: Reading) -> None:
    """Refuse an option that none of the formats takes: it would do nothing."""
    taken = frozenset().union(*(item.options for item in chosen))
    for name in reading.changed():
        if name not in taken:
            formats = ", ".join(dict.fromkeys(item.name for item in chosen))
            raise OptionError(
                f"option {name!r} does not apply to {formats}; it takes: {', '.join(sorted(taken))}"
            )
