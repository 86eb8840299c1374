"""A corpus to files: tables, columns of tags, brat's folders and spaCy's DocBin.

Everything is composed before anything is written, and put into place in one step: a
write that fails leaves nothing behind.
"""

from __future__ import annotations

import io
import json
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option
from beyondchance.errors import DataError, OptionError, OverlapError
from beyondchance.io.columns import NAMES
from beyondchance.io.drafts import Interval, tokenized
from beyondchance.io.registry import required
from beyondchance.io.saving import is_folder, save_file, save_folder
from beyondchance.types import Ints

WRITTEN = ("table", "conll", "brat", "spacy")
"""Formats that can be written."""

Annotations = dict[tuple[int, int], list[int]]
Columns = dict[str, list[Any]]

# What a reader of columns takes for something else than an annotator or a field.
_OTHER_COLUMNS = frozenset(
    ("token", "tokens", "word", "words", "form", "lemma", "id", "pos", "upos", "xpos", "pos_tags",
     "chunk", "chunks", "chunk_tags", "sentence", "sentence_id", "sent", "sent_id", "document",
     "document_id", "doc", "doc_id")
)  # fmt: skip
_OTHER_KEYS = frozenset(
    ("columns", "newdoc", "newdoc id", "sent_id", "text", "newpar", "newpar id", "text_en")
)
_BREAK = re.compile(r"[\t\r\n]")
_LINE_BREAK = re.compile(r"[^\S\r\n]*(?:\r\n|\r|\n)\s*")


def write(
    corpus: Corpus,
    path: str | PathLike[str],
    *,
    format: str,  # noqa: A002
    spans_key: str | None = None,
) -> None:
    r"""Write a corpus in another format.

    Documents that nobody annotated, and annotators who annotated nothing, are left out.

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
            annotator. Every file has all documents, in order, for DocBin does not name
            them; those not annotated have no entities set. White space between tokens
            becomes one space; fields are not written.
    spans_key : str, optional
        For spaCy, the span group to write instead of entities; its spans may overlap.

    Raises
    ------
    DataError
        For something that the format cannot say; nothing is written then.
    FormatError
        For a place that cannot be written to.
    OptionError
        For an unknown format, or an option that does not apply to it.

    Examples
    --------
    >>> import tempfile
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
        raise OptionError(
            f"spans_key is {spans_key!r}; expected a name, and only for the format spacy"
        )
    if not isinstance(path, str | PathLike):
        raise OptionError(f"path is {path!r}; expected a file or folder")
    annotations = _annotations(corpus)
    if not annotations:
        raise DataError("nobody annotated anything; expected an annotated document to write")
    if format == "table":
        save_file(path, _table(corpus, annotations, Path(path).suffix.lower()))
    elif format == "brat":
        save_folder(path, _brat(corpus, annotations))
    elif is_folder(path):
        save_folder(path, _by_annotator(corpus, annotations, format, spans_key))
    elif format == "conll":
        save_file(path, _columns_of_everybody(corpus, annotations))
    else:
        save_file(path, _docbin_of_one(corpus, annotations, spans_key, path))


def _annotations(corpus: Corpus) -> Annotations:
    """Spans of each (document, annotator) that there is, by text, start and end."""
    found: Annotations = {
        pair: []
        for pair in zip(
            corpus.annotation_document.tolist(), corpus.annotation_annotator.tolist(), strict=True
        )
    }
    order = np.lexsort((corpus.span_label, corpus.span_end, corpus.span_start, corpus.span_text))
    documents = corpus.text_document[corpus.span_text[order]]
    annotators = corpus.span_annotator[order]
    for document, annotator, span in zip(
        documents.tolist(), annotators.tolist(), order.tolist(), strict=True
    ):
        found[document, annotator].append(span)
    return found


def _begins(corpus: Corpus, sizes: Ints, gap: int = 0) -> Ints:
    """Where each text begins in its document if the texts follow one another."""
    begins = np.cumsum(sizes + gap) - sizes - gap
    first = np.searchsorted(corpus.text_document, corpus.text_document)
    return np.asarray(begins - begins[first], dtype=np.int64)


def _joined(corpus: Corpus, texts: Sequence[str]) -> list[str]:
    """The text of each document."""
    parts: list[list[str]] = [[] for _ in corpus.documents]
    for document, text in zip(corpus.text_document.tolist(), texts, strict=True):
        parts[document].append(text)
    return ["\n".join(part) for part in parts]


def _tokens(corpus: Corpus, texts: Sequence[str]) -> list[list[Interval]]:
    """The characters of each token of each text; by rule where positions are characters."""
    if corpus.positions == "characters":
        return [tokenized(text) for text in texts]
    if corpus.token_start is None or corpus.token_end is None:
        raise DataError(
            "the corpus does not know its tokens, only how many there are; read it from a format "
            "that has them, or write a table"
        )
    pairs = list(zip(corpus.token_start.tolist(), corpus.token_end.tolist(), strict=True))
    ends = np.cumsum(corpus.text_length).tolist()
    return [
        pairs[end - length : end]
        for end, length in zip(ends, corpus.text_length.tolist(), strict=True)
    ]


def _known_texts(corpus: Corpus, name: str) -> tuple[str, ...]:
    """The texts, refused if they are not known or positions are not in them."""
    if corpus.positions == "frames":
        raise DataError(f"{name} needs tokens or characters, but positions are frames of time")
    if corpus.texts is None:
        raise DataError(
            f"{name} needs the texts, which this corpus does not know; read it from a format that "
            "has them, or write a table"
        )
    return corpus.texts


def _check_overlap(corpus: Corpus, spans: Sequence[int], remedy: str) -> None:
    """Refuse spans of one annotator that share a position; they are sorted."""
    last = -1
    for span in spans:
        if (
            last >= 0
            and corpus.span_text[last] == corpus.span_text[span]
            and corpus.span_start[span] < corpus.span_end[last]
        ):
            other = corpus.span(last)
            raise OverlapError(
                f"{corpus.describe_span(span)} overlaps [{other.start}, {other.end}) "
                f"{other.label!r} of the same annotator; {remedy}"
            )
        last = span


def _encoded(text: str, name: str) -> bytes:
    """UTF-8, refused where no reader would take it."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"{name} holds half of a character ({text[error.start]!r}), which UTF-8 cannot say; "
            "correct the text"
        ) from None
    if b"\0" in data:
        raise DataError(f"{name} holds a NUL character, which text cannot say; correct the text")
    return data


# --- Tables -------------------------------------------------------------------


def _table(corpus: Corpus, annotations: Annotations, kind: str) -> bytes:
    """One row for each span, and for each annotation without any."""
    for name in corpus.fields:
        ours = next((ours for ours, others in NAMES.items() if name.lower() in others), None)
        if ours is not None:
            raise DataError(f"field {name!r} would be read as the column {ours!r}; rename it")
    columns = _columns(corpus, annotations)
    if kind == ".parquet":
        return _parquet(columns)
    if kind == ".jsonl":
        rows = (dict(zip(columns, row, strict=True)) for row in _rows(columns))
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        return _encoded("".join(f"{line}\n" for line in lines), "the table")
    odd = next((name for name in corpus.fields if re.search(r'[,;"\t\r\n]', name)), None)
    if odd is not None:
        raise DataError(f"field {odd!r} has a separator in its name; rename it, or write .jsonl")
    delimiter = "\t" if kind == ".tsv" else ","
    special = re.compile(rf'[{delimiter}"\r\n]')

    def cell(value: object) -> str:
        text = "" if value is None else str(value)
        return '"{}"'.format(text.replace('"', '""')) if special.search(text) else text

    lines = (delimiter.join(map(cell, row)) for row in (tuple(columns), *_rows(columns)))
    return _encoded("".join(f"{line}\n" for line in lines), "the table")


def _rows(columns: Columns) -> Iterator[tuple[Any, ...]]:
    return zip(*columns.values(), strict=True)


def _columns(corpus: Corpus, annotations: Annotations) -> Columns:
    """The columns of a table; None where a row has no value."""
    rows = [
        (document, annotator, span)
        for (document, annotator), spans in _with_blanks(annotations).items()
        for span in spans
    ]
    spans = [span for _, _, span in rows]
    texts = corpus.texts if corpus.positions == "characters" else None
    joined = [] if texts is None else _joined(corpus, texts)
    has_text = bool(joined) and all(joined)
    begins = _begins(corpus, corpus.text_length, gap=int(has_text))[corpus.span_text]
    starts, ends = (begins + corpus.span_start).tolist(), (begins + corpus.span_end).tolist()
    labels = [corpus.labels[label] for label in corpus.span_label.tolist()]
    columns: Columns = {
        "document": [corpus.documents[document] for document, _, _ in rows],
        "annotator": [corpus.annotators[annotator] for _, annotator, _ in rows],
    }
    for name, values in (("start", starts), ("end", ends), ("label", labels)):
        columns[name] = [None if span < 0 else values[span] for span in spans]
    if has_text:
        # Once is enough for a reader, and a long text in every row is too much for a file.
        first = {document: row for row, (document, _, _) in reversed(list(enumerate(rows)))}
        columns["text"] = [
            joined[document] if first[document] == row else None
            for row, (document, _, _) in enumerate(rows)
        ]
    else:
        lengths = np.zeros(len(corpus.documents), dtype=np.int64)
        np.add.at(lengths, corpus.text_document, corpus.text_length)
        columns["length"] = [int(lengths[document]) for document, _, _ in rows]
    for name, of_documents in corpus.fields.items():
        columns[name] = [of_documents[document] for document, _, _ in rows]
    return columns


def _with_blanks(annotations: Annotations) -> Annotations:
    """Put -1, a row without span, where an annotator found nothing."""
    found = {pair: spans or [-1] for pair, spans in annotations.items()}
    documents, annotators = (len(set(part)) for part in zip(*annotations, strict=True))
    if all(annotations.values()) and len(annotations) < documents * annotators:
        # Without such a row, everybody would be taken to have annotated everything.
        pair = next(iter(found))
        found[pair] = [-1, *found[pair]]
    return found


def _parquet(columns: Columns) -> bytes:
    arrow = required("pyarrow", extra="parquet", purpose="writing Parquet")
    parquet = required("pyarrow.parquet", extra="parquet", purpose="writing Parquet")
    numbers = ("start", "end", "length")
    sink = io.BytesIO()
    try:
        table = arrow.table(
            {
                name: arrow.array(values, arrow.int64() if name in numbers else arrow.string())
                for name, values in columns.items()
            }
        )
        parquet.write_table(table, sink)
    except Exception as error:
        raise DataError(f"the table cannot be written as Parquet ({error})") from None
    return sink.getvalue()


# --- Columns of tags ----------------------------------------------------------


def _columns_of_everybody(corpus: Corpus, annotations: Annotations) -> bytes:
    """One file with a column for each annotator; all must have annotated everything."""
    for document, name in enumerate(corpus.documents):
        for annotator, person in enumerate(corpus.annotators):
            if (document, annotator) not in annotations:
                raise DataError(
                    f"document {name!r} was not annotated by {person!r}, which one file of columns "
                    "cannot say; give a folder, a path that ends with '/', for a file each"
                )
    for person in corpus.annotators:
        if len(person.split()) > 1 or person.lower() in _OTHER_COLUMNS:
            raise DataError(
                f"annotator {person!r} cannot be the name of a column; rename the annotator, or "
                "give a folder, a path that ends with '/', for a file each"
            )
    people = range(len(corpus.annotators))
    return _conll(corpus, annotations, people, names=corpus.annotators)


def _conll(
    corpus: Corpus, annotations: Annotations, annotators: Sequence[int], *, names: Sequence[str]
) -> bytes:
    """The documents that these annotators have annotated, with a column for each."""
    if corpus.positions != "tokens":
        raise DataError(
            f"conll needs tokens, but positions are {corpus.positions}; read the corpus with "
            "positions='tokens'"
        )
    texts = _known_texts(corpus, "conll")
    tokens = _tokens(corpus, texts)
    tags = {a: _tags(corpus, annotations, a) for a in annotators}
    lines = [f"# columns = {' '.join(['token', *names])}"]
    begins = (np.cumsum(corpus.text_length) - corpus.text_length).tolist()
    for document, name in enumerate(corpus.documents):
        if (document, annotators[0]) not in annotations:
            continue
        lines += _head(corpus, document)
        members = range(*np.searchsorted(corpus.text_document, [document, document + 1]).tolist())
        if not any(tokens[text] for text in members):
            raise DataError(f"document {name!r} has no token, which conll cannot say; leave it out")
        for text in members:
            for place, (start, end) in enumerate(tokens[text], start=begins[text]):
                word = _word(texts[text][start:end], corpus, text)
                lines.append("\t".join([word, *(tags[a][place] for a in annotators)]))
            if tokens[text]:
                lines.append("")
    if all(line.startswith("#") for line in lines if line):
        raise DataError(
            "every token begins with '#', so that conll would take all lines for comments; write "
            "a table"
        )
    return _encoded("".join(f"{line}\n" for line in lines), "the corpus")


def _tags(corpus: Corpus, annotations: Annotations, annotator: int) -> list[str]:
    """The IOB2 tags of one annotator, all texts end to end."""
    for label in corpus.labels:
        if _BREAK.search(label):
            raise DataError(
                f"label {label!r} holds a tab or a line break, which conll cannot say; rename it"
            )
    tags = ["O"] * int(corpus.text_length.sum())
    begins = np.cumsum(corpus.text_length) - corpus.text_length
    for (_, who), spans in annotations.items():
        if who != annotator:
            continue
        _check_overlap(corpus, spans, "tags cannot say that: write a table or brat")
        for index in spans:
            span = corpus.span(index)
            first = int(begins[corpus.span_text[index]])
            tags[first + span.start] = f"B-{span.label}"
            inside = range(first + span.start + 1, first + span.end)
            tags[inside.start : inside.stop] = [f"I-{span.label}"] * len(inside)
    return tags


def _head(corpus: Corpus, document: int) -> list[str]:
    """The comments about a document: its name and its fields."""
    name = corpus.documents[document]
    if _BREAK.search(name):
        raise DataError(
            f"document {name!r} holds a tab or a line break, which conll cannot say; rename it"
        )
    lines = [f"# newdoc id = {name}"]
    for key, values in corpus.fields.items():
        value = values[document]
        if key in _OTHER_KEYS or "=" in key or _BREAK.search(key + value) or value.strip() != value:
            raise DataError(
                f"document {name!r}: the field {key!r} with the value {value!r} cannot be written "
                "as a comment '# key = value'; rename it or leave it out"
            )
        lines.append(f"# {key} = {value}")
    return lines


def _word(word: str, corpus: Corpus, text: int) -> str:
    """A token, refused where a reader would take its line for something else."""
    if word.strip() != word or not word or _BREAK.search(word) or word == "-DOCSTART-":
        raise DataError(
            f"{corpus.describe_text(text)}: the token {word!r} cannot be written in a column; "
            "correct it, or write a table"
        )
    return word


# --- brat ---------------------------------------------------------------------


def _brat(corpus: Corpus, annotations: Annotations) -> dict[str, bytes]:
    """A text and its annotations for each document in the folder of each annotator."""
    texts = _known_texts(corpus, "brat")
    tokens = _tokens(corpus, texts) if corpus.positions == "tokens" else None
    begins = _begins(corpus, np.array([len(text) for text in texts], dtype=np.int64), gap=1)
    joined = _joined(corpus, texts)
    contents = {}
    for document in dict.fromkeys(document for document, _ in annotations):
        name = f"document {corpus.documents[document]!r}"
        data = _encoded(joined[document], name)
        # A reader takes the first mark for the encoding's, and the second for the text's.
        contents[document] = b"\xef\xbb\xbf" + data if data[:3] == b"\xef\xbb\xbf" else data
    for label in corpus.labels:
        if re.search(r"\s", label):
            raise DataError(f"label {label!r} holds white space, which brat cannot say; rename it")
    files = {}
    for (document, annotator), spans in annotations.items():
        lines = []
        for number, index in enumerate(spans, start=1):
            text = int(corpus.span_text[index])
            span = corpus.span(index)
            start, end = span.start, span.end
            if tokens is not None:
                start, end = tokens[text][start][0], tokens[text][end - 1][1]
            first = int(begins[text])
            place, words = _fragments(joined[document], first + start, first + end)
            lines.append(f"T{number}\t{span.label} {place}\t{words}\n")
        folder = _file_name("annotator", corpus.annotators[annotator], "")
        stem = f"{folder}/{_file_name('document', corpus.documents[document], '/')}"
        files[f"{stem}.txt"] = contents[document]
        files[f"{stem}.ann"] = _encoded("".join(lines), f"document {corpus.documents[document]!r}")
    return files


def _fragments(text: str, start: int, end: int) -> tuple[str, str]:
    """Offsets and words of a span, cut at line breaks, as brat does it."""
    edges = [start]
    for match in _LINE_BREAK.finditer(text, start, end):
        edges += match.span()
    edges.append(end)
    parts = list(zip(edges[::2], edges[1::2], strict=True))
    if any(first == last for first, last in parts):  # a line break at an edge is part of the span
        return f"{start} {end}", re.sub(r"[\r\n]", " ", text[start:end])
    place = ";".join(f"{first} {last}" for first, last in parts)
    return place, " ".join(text[first:last] for first, last in parts)


def _file_name(kind: str, name: str, separators: str) -> str:
    """A name, refused if no file can have it or if it would lie somewhere else."""
    parts = name.split("/") if separators else [name]
    is_safe = (
        all(part and not part.startswith(".") and part == part.strip() for part in parts)
        and str(PurePosixPath(name)) == name
        and not re.search(r"[\\\x00-\x1f\x7f\ud800-\udfff]", name)
        and not PureWindowsPath(name).drive
        and ("/" not in name or bool(separators))
    )
    if not is_safe:
        raise DataError(f"{kind} {name!r} cannot be the name of a file; rename it")
    return name


# --- spaCy --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    """The tokens of a document as spaCy wants them."""

    words: list[str]
    spaces: list[bool]
    sentence_starts: list[bool]


@dataclass(frozen=True, slots=True)
class _Tokenized:
    """All documents in tokens, and where spans lie in them."""

    documents: list[_Words]
    starts: Ints
    ends: Ints


def _docbin_of_one(
    corpus: Corpus, annotations: Annotations, spans_key: str | None, path: str | PathLike[str]
) -> bytes:
    people = sorted({annotator for _, annotator in annotations})
    if len(people) > 1:
        names = ", ".join(corpus.annotators[a] for a in people)
        raise DataError(
            f"{os.fspath(path)}: one DocBin holds one annotator, but there are {len(people)} "
            f"({names}); give a folder, a path that ends with '/', for a file each"
        )
    return _docbin(corpus, annotations, _tokenized(corpus), people[0], spans_key)


def _by_annotator(
    corpus: Corpus, annotations: Annotations, name: str, spans_key: str | None
) -> dict[str, bytes]:
    """A file for each annotator who annotated something."""
    people = sorted({annotator for _, annotator in annotations})
    stems = [_file_name("annotator", corpus.annotators[a], "") for a in people]
    if name == "conll":
        # The file says who it is, so that any name will do.
        contents = [_conll(corpus, annotations, [a], names=["tag"]) for a in people]
    else:
        found = _tokenized(corpus)
        contents = [_docbin(corpus, annotations, found, a, spans_key) for a in people]
    return {f"{stem}.{name}": data for stem, data in zip(stems, contents, strict=True)}


def _tokenized(corpus: Corpus) -> _Tokenized:
    """The tokens of the corpus, or those by rule where positions are characters."""
    texts = _known_texts(corpus, "spacy")
    tokens = _tokens(corpus, texts)
    documents = [_Words([], [], []) for _ in corpus.documents]
    for text, document in enumerate(corpus.text_document.tolist()):
        found = documents[document]
        if found.spaces and tokens[text]:
            found.spaces[-1] = True
        found.words.extend(texts[text][start:end] for start, end in tokens[text])
        following = [start for start, _ in tokens[text][1:]]
        found.spaces.extend(
            end < after for (_, end), after in zip(tokens[text][:-1], following, strict=True)
        )
        found.spaces.extend([False] * bool(tokens[text]))
        found.sentence_starts.extend(place == 0 for place in range(len(tokens[text])))
    begins = _begins(corpus, np.array([len(part) for part in tokens], dtype=np.int64))
    if corpus.positions == "tokens":
        starts, ends = corpus.span_start, corpus.span_end
    else:
        starts, ends = _aligned(corpus, tokens)
    first = begins[corpus.span_text]
    return _Tokenized(documents, first + starts, first + ends)


def _aligned(corpus: Corpus, tokens: Sequence[Sequence[Interval]]) -> tuple[Ints, Ints]:
    """Spans of characters in tokens, refused where they cut one."""
    first = [{start: place for place, (start, _) in enumerate(part)} for part in tokens]
    last = [{end: place for place, (_, end) in enumerate(part, start=1)} for part in tokens]
    places = np.zeros((2, len(corpus.span_start)), dtype=np.int64)
    for index, text in enumerate(corpus.span_text.tolist()):
        span = corpus.span(index)
        if span.start not in first[text] or span.end not in last[text]:
            raise DataError(
                f"{corpus.describe_span(index)} does not begin and end with a token, which spacy "
                "cannot say; read the corpus with positions='tokens', or write a table or brat"
            )
        places[:, index] = first[text][span.start], last[text][span.end]
    return places[0], places[1]


def _docbin(
    corpus: Corpus, annotations: Annotations, found: _Tokenized, annotator: int,
    spans_key: str | None,
) -> bytes:  # fmt: skip
    """All documents, with entities or a span group in those that were annotated."""
    library = required("spacy", extra="spacy", purpose="writing spaCy's DocBin")
    has_sentences = corpus.unit == "sentence" or len(corpus.text_length) > len(corpus.documents)
    attributes = ["ORTH", "ENT_IOB", "ENT_TYPE", *(["SENT_START"] if has_sentences else [])]
    docs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vocabulary = library.blank("xx").vocab
        for document, part in enumerate(found.documents):
            spans = annotations.get((document, annotator))
            if spans is None and spans_key is None and not part.words:
                raise DataError(
                    f"document {corpus.documents[document]!r} has no token and was not annotated "
                    f"by {corpus.annotators[annotator]!r}, which spacy cannot say; leave it out, "
                    "or say spans_key"
                )
            doc = library.tokens.Doc(
                vocabulary,
                words=part.words,
                spaces=part.spaces,
                sent_starts=part.sentence_starts if has_sentences else None,
            )
            if spans is not None:
                _mark(doc, corpus, found, spans, spans_key)
            docs.append(doc)
        return bytes(library.tokens.DocBin(attrs=attributes, docs=docs).to_bytes())


def _mark(
    doc: Any, corpus: Corpus, found: _Tokenized, spans: Sequence[int], spans_key: str | None
) -> None:
    """Set what one annotator marked in a document, be it nothing."""
    marked = [
        type(doc[0:0])(
            doc,
            int(found.starts[index]),
            int(found.ends[index]),
            corpus.labels[int(corpus.span_label[index])],
        )
        for index in spans
    ]
    if spans_key is not None:
        doc.spans[spans_key] = marked
        return
    _check_overlap(corpus, spans, "entities cannot say that: say spans_key for a span group")
    doc.ents = marked
