"""A corpus to files: tables, columns of tags, brat's folders and spaCy's DocBin.

Everything is composed before anything is written, and put into place in one step: a
write that fails leaves nothing behind.
"""

from __future__ import annotations

import os
from importlib import import_module
from os import PathLike

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option
from beyondchance.errors import DataError, OptionError
from beyondchance.io.saving import save_file, save_folder
from beyondchance.io.writers.shared import Files, annotations_of
from beyondchance.messages import Quote

WRITTEN = ("table", "conll", "brat", "spacy")
"""Formats that can be written, each by its module of `beyondchance.io.writers`."""


def write(
    corpus: Corpus,
    path: str | PathLike[str],
    *,
    format: str,  # noqa: A002
    spans_key: str | None = None,
) -> None:
    r"""Write a corpus in another format.

    Documents without an annotator, and annotators who annotated nothing, are left out.

    Parameters
    ----------
    corpus : Corpus
    path : str or path
        A file that is made or replaced, or a folder, new or empty. A path is a folder if
        it ends with ``/`` or exists as one; brat always writes a folder.
    format : {"table", "conll", "brat", "spacy"}
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
    spans_key : str, optional
        For spaCy, the span group to write instead of entities; its spans may overlap.

    Raises
    ------
    DataError
        For something that the format cannot represent; nothing is written then.
    FormatError
        For a place that cannot be written to.
    OptionError
        For an unknown format, or an option that does not apply to it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> corpus = Corpus.from_spans({"anna": [[(0, 2, "PER")], []]}, lengths=[5, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(corpus, f"{folder}/spans.csv", format="table")
    ...     print(Path(folder, "spans.csv").read_text())
    document,annotator,start,end,label,length
    0,anna,0,2,PER,5
    1,anna,,,,7
    """
    checked_option("format", format, WRITTEN)
    if spans_key is not None and (format != "spacy" or not isinstance(spans_key, str)):
        found = ("spans_key is ", Quote(spans_key))
        raise OptionError(*found, expected="a name, and only for the format spacy")
    if not isinstance(path, str | PathLike):
        raise OptionError("path is ", Quote(path), expected="a file or folder")
    annotations = annotations_of(corpus)
    if not annotations:
        raise DataError("no document was annotated", expected="an annotated document to write")
    writer = import_module(f"beyondchance.io.writers.{format}")
    files: Files = writer.composed(corpus, annotations, os.fspath(path), spans_key)
    if isinstance(files, bytes):
        save_file(path, files)
    else:
        save_folder(path, files)
