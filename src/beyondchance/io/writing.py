"""A corpus to files: in the format that it was read from, or in another.

Everything is composed before anything is written, and put into place in one step: a
write that fails leaves nothing behind.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from pathlib import PurePath

from beyondchance.annotations.corpus import Corpus, check_in_one_piece
from beyondchance.checks import checked_option
from beyondchance.errors import DataError, OptionError
from beyondchance.io.saving import is_folder, save_file, save_folder
from beyondchance.io.writers.shared import Annotations, Export, Files, annotations_of
from beyondchance.messages import Quote, Use

WRITTEN = (
    "table", "conll", "brat", "spacy", "label-studio", "doccano", "prodigy", "webanno-tsv", "uima",
    "bioc",
)  # fmt: skip
"""Formats that can be written, each by its module of `beyondchance.io.writers`."""
WITH_NOTES = ("label-studio", "doccano", "prodigy")
"""Those that have a place for a note about a document."""
_ENDINGS = {
    ".csv": ("table",),
    ".tsv": ("table", "webanno-tsv"),
    ".jsonl": ("table", "doccano", "prodigy"),
    ".parquet": ("table",),
    ".conll": ("conll",),
    ".spacy": ("spacy",),
    ".json": ("label-studio", "uima", "bioc"),
    ".xmi": ("uima",),
    ".xml": ("bioc",),
}
"""The formats of files by how their names end; the first, unless a corpus comes from another."""


def format_of(corpus: Corpus) -> str | None:
    """Return the format that a corpus was read from, if it can be written.

    None if it was read from files of several formats, or was not read.

    Examples
    --------
    >>> from importlib.resources import files
    >>> from beyondchance import read
    >>> format_of(read(files("beyondchance") / "resources" / "example.conll"))
    'conll'
    >>> format_of(Corpus.from_tags({"anna": [["O"]]})) is None
    True
    """
    found = {source.format for source in corpus.inputs}
    return found.pop() if len(found) == 1 and found <= set(WRITTEN) else None


def target_of(corpus: Corpus, path: str | PathLike[str]) -> str | None:
    """Choose the format to write at a place: by its ending, and by where the corpus comes from.

    Examples
    --------
    >>> corpus = Corpus.from_tags({"anna": [["O"]]})
    >>> target_of(corpus, "spans.csv"), target_of(corpus, "tasks.json"), target_of(corpus, "out/")
    ('table', 'label-studio', None)
    """
    own, ending = format_of(corpus), PurePath(path).suffix.lower()
    if ending in _ENDINGS:
        return own if own in _ENDINGS[ending] else _ENDINGS[ending][0]
    return own if not ending or is_folder(path) else None


def write(
    corpus: Corpus,
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    spans_key: str | None = None,
    as_predictions: bool = False,
    notes: Mapping[str, str] | None = None,
) -> None:
    r"""Write a corpus in the format that it was read from, or in another.

    Documents without an annotator, and annotators who annotated nothing, are left out. What the
    source calls things (ids of spans, layers, keys) stays as it was where the format has a place
    for it.

    Parameters
    ----------
    corpus : Corpus
    path : str or path
        A file that is made or replaced, or a folder, new or empty. A path is a folder if
        it ends with ``/`` or exists as one; brat always writes a folder.
    format : str, optional
        By default the one that the ending of the path stands for; of several, and in a folder, the
        one that the corpus was read from.

        ``table``
            One row for each span: CSV, or what the name ends with of ``.tsv``,
            ``.jsonl`` and ``.parquet``. An annotator who found nothing in a document has
            a row without span. A table has no sentences: the unit becomes the document,
            offsets count from its beginning, and its length is that of its texts
            together. Where positions are characters and no document is empty there is
            the text in the first row of each document instead of the length; texts of
            one document are then joined by a line break.
        ``conll``
            Tokens with one column of IOB2 tags for each annotator; in a folder, one
            file for each annotator with the documents that the annotator annotated. A
            reader names the only annotator of a file after the file.
        ``brat``
            A folder for each annotator; texts of one document are joined by a line
            break. Fields are not written: brat has no place for them.
        ``spacy``
            One file for each annotator in a folder, or one file if there is only one
            annotator. Every file has all documents, in order, because DocBin does not
            name them; those not annotated have no entities set. White space between tokens
            becomes one space; fields are not written.
        ``label-studio``
            One file of tasks. Label Studio knows annotators by numbers and e-mail addresses of
            its users; an annotation of anyone else is of whoever imports it. That of a gold
            standard is marked as ground truth.
        ``doccano``
            JSONL: one file for each annotator in a folder, or one file if there is only one.
        ``prodigy``
            JSONL: one file with a task for each document and annotator, or one file for each
            annotator in a folder.
        ``webanno-tsv``
            A folder for each annotator, with a file for each document; or one file if there is
            only one document of one annotator.
        ``uima``
            The same as XMI, with a type system in each folder; as CAS JSON if the path ends
            with ``.json`` or ``.json/``, or if that was read.
        ``bioc``
            One file, or one file for each annotator in a folder: JSON if the path ends with
            ``.json`` or ``.json/``, XML otherwise.
    spans_key : str, optional
        For spaCy, the span group to write instead of entities; its spans may overlap.
    as_predictions : bool
        For Label Studio, whether annotations become predictions, each of a model that is called
        as the annotator is, to start from when texts are annotated again.
    notes : mapping of str to str, optional
        For Label Studio, doccano and Prodigy, a note for each of some documents, by name.

    Raises
    ------
    DataError
        For something that the format cannot represent; nothing is written then.
    FormatError
        For a place that cannot be written to.
    OptionError
        For an unknown format, an option that does not apply to it, or a file that the corpus was
        read from.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> corpus = Corpus.from_spans({"anna": [[(0, 2, "PER")], []]}, lengths=[5, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(corpus, f"{folder}/spans.csv", format="table")
    ...     print(Path(folder, "spans.csv").read_text())
    document,annotator,start,end,label,length,offsets_in
    0,anna,0,2,PER,5,tokens
    1,anna,,,,7,tokens
    """
    if not isinstance(path, str | PathLike):
        raise OptionError("path is ", Quote(path), expected="a file or folder")
    target = (
        target_of(corpus, path) if format is None else checked_option("format", format, WRITTEN)
    )
    if target is None:
        remedy = ("pass ", Use("format", placeholder="NAME"), f" with one of: {', '.join(WRITTEN)}")
        unsaid = "its name does not say which format to write, nor does where the corpus comes from"
        raise OptionError(unsaid, where=os.fspath(path), remedy=remedy)
    if spans_key is not None and (target != "spacy" or not isinstance(spans_key, str)):
        found = ("spans_key is ", Quote(spans_key))
        raise OptionError(*found, expected="a name, and only for the format spacy")
    if as_predictions and target != "label-studio":
        raise OptionError(f"{target} has no predictions", expected="the format label-studio")
    check_in_one_piece(corpus)
    annotations = annotations_of(corpus)
    if not annotations:
        raise DataError("no document was annotated", expected="an annotated document to write")
    _check_notes(notes or {}, corpus, annotations, target)
    writer = import_module(f"beyondchance.io.writers.{target.replace('-', '_')}")
    export = Export(
        corpus=corpus,
        annotations=annotations,
        path=os.fspath(path),
        name=target,
        spans_key=spans_key,
        as_predictions=as_predictions,
        notes=notes or {},
    )
    files: Files = writer.composed(export)
    if isinstance(files, bytes):
        save_file(path, files, corpus.sources)
    else:
        save_folder(path, files)


def _check_notes(
    notes: Mapping[str, str], corpus: Corpus, annotations: Annotations, target: str
) -> None:
    """Refuse notes that would not be written."""
    if notes and target not in WITH_NOTES:
        expected = f"one of: {', '.join(WITH_NOTES)}"
        raise OptionError(f"{target} has no place for notes on documents", expected=expected)
    known = {corpus.documents[document] for document, _ in annotations}
    lost = next((name for name in notes if name not in known), None)
    if lost is not None:
        found = ("there is a note on document ", Quote(lost), ", which is not written")
        raise DataError(*found, expected="notes on annotated documents of the corpus")
    odd = next((note for note in notes.values() if not isinstance(note, str)), None)
    if odd is not None:
        raise DataError("a note is ", Quote(odd), expected="a string")
