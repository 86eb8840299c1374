"""Whatever people have, as a corpus: the one door for files and for data in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from string import ascii_lowercase
from typing import Any, Unpack, get_type_hints

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import repeated
from beyondchance.errors import DataError, OptionError
from beyondchance.io.formats.tags import are_lists_of_tags, is_tag
from beyondchance.io.label_names import label_names_of
from beyondchance.io.reading import Named, exists, read_by_names
from beyondchance.io.span_objects import is_span
from beyondchance.messages import Quote, Use
from beyondchance.options import CorpusOptions, ReadOptions, checked_options, documented

_BESIDE = ("texts", "tokens", "lengths")
_COLUMNS = frozenset({"start", "end", "label"})
_WORDS = frozenset({"tokens", "words", "tokenized_text"})


@documented(ReadOptions)
def corpus(data: Any, *others: Any, **options: Unpack[CorpusOptions]) -> Corpus:
    """Make a corpus of whatever holds annotations: files, lists, data frames, data sets.

    Every function that scores takes what this function takes.

    Parameters
    ----------
    data : object
        The annotations of all annotators, or of the first. What it is shows in its structure:

        - a path or binary file, or a list of paths (see `read`);
        - lists of tags, one for each text: strings, or whole numbers with `names`;
        - lists of spans, one for each text: dictionaries with ``start``, ``end`` and ``label``
          (or ``entity_group``, ``entity``, ``type``), tuples, or spaCy ``Span``;
        - records, ``{"text": ..., "entities": [...]}`` or ``{"tokens": ..., "ner_tags": [...]}``;
        - spaCy ``Doc`` objects, a ``Dataset`` or ``DatasetDict`` of Hugging Face;
        - a data frame with one row for each span (document, annotator, start, end, label);
        - ``{"name": any of these, ...}`` for annotators with names;
        - lists of tags or of spans by document, ``{"document": [...], ...}``, for each annotator.
    *others : object, optional
        The annotations of further annotators, where `data` are those of one.
    names : list of str, optional
        What the numbers of tags stand for, in their order, where the data do not say; -100 is not
        scored.
    texts : list of str, optional
        The text of each list of spans, whose offsets then count characters.
    tokens : list of lists of str, optional
        The tokens of each list of tags or spans, whose offsets then count tokens.
    lengths : list of int, optional
        Positions of each list of spans, where there are neither texts nor tokens.
    format : str, optional
        The format of files; detected by default.
    {options}

    Returns
    -------
    Corpus

    Examples
    --------
    >>> corpus([["B-PER", "O"]], [["B-PER", "O"]]).annotators
    ('a', 'b')
    >>> spans = [[{"start": 0, "end": 3, "label": "PER"}]]
    >>> corpus({"ada": spans, "ben": [[]]}, texts=["Ada wrote."]).spans("0", "ada")
    [Span(start=0, end=1, label='PER')]
    """
    return corpus_from(data, others, options)


def corpus_from(
    data: Any, others: Sequence[Any], options: Mapping[str, Any], *, is_first_gold: bool = False
) -> Corpus:
    """Build the corpus for `corpus`; the first may say what is scored, as a gold standard does."""
    given = dict(options)
    if data is None:
        raise DataError(
            "got None", expected="annotations: files, lists, a data set or a data frame"
        )
    if isinstance(data, Corpus):
        if not others and given.keys() == {"anonymous"}:
            return data.anonymous() if given["anonymous"] else data
        if others or given:
            name = next(iter(given), None)
            if name is not None and name not in get_type_hints(CorpusOptions):
                checked_options(ReadOptions, {name: None})  # says which ones there are
            raise OptionError(
                "a second annotation" if name is None else Use(name, is_name=True),
                " does not go with a Corpus",
                remedy="a Corpus holds all annotators, as they were read",
            )
        return data
    names = given.pop("names", None)
    if names is not None:
        if given.get("label_names") is not None:
            found = ("got ", Use("names", is_name=True), " and ", Use("label_names", is_name=True))
            raise OptionError(*found, expected="one of them")
        given["label_names"] = label_names_of(names, option="names")
    beside = {key: given.pop(key) for key in _BESIDE if key in given}
    form = given.pop("format", None)
    items = _items(data, others)
    _order_documents(items, given, beside)
    return read_by_names(items, form, given, None, beside, is_first_gold=is_first_gold)[0]


def _items(data: Any, others: Sequence[Any]) -> list[Any]:
    """List what is to be read, with the names of annotators where they are known."""
    if not others and isinstance(data, list | tuple) and any(map(_is_work, data)):
        data, *others = data
    if others:
        given = (data, *others)
        if any(map(_is_by_name, given)) and not all(map(_is_by_document, given)):
            expected = "all annotators in one mapping, or annotations without names"
            raise DataError("got a mapping and a second annotation", expected=expected)
        names = [*ascii_lowercase, *map(str, range(len(given)))]
        data = dict(zip(names, given, strict=False))
    elif not _is_by_name(data):
        are_files = isinstance(data, list | tuple) and data and all(map(_is_file, data))
        return list(data) if are_files and not _is_tags(data) else [data]
    twice = repeated(map(str, data))
    if twice:
        found = ("two annotators are called ", Quote(twice[0]))
        raise DataError(*found, expected="distinct names")
    for name, item in data.items():
        if item is None:
            raise DataError("annotator ", Quote(name), " is None", expected="annotations")
    return [
        item if others and _is_file(item) else Named(str(name), item) for name, item in data.items()
    ]


def _order_documents(items: list[Any], given: dict[str, Any], beside: dict[str, Any]) -> None:
    """Make lists of what annotators, and whatever is given next to it, have by document."""
    if not items or not all(isinstance(x, Named) and _is_by_document(x.item) for x in items):
        return
    names = list(dict.fromkeys(name for x in items for name in x.item))
    given.setdefault("documents", names)
    items[:] = [Named(x.name, [x.item.get(name) for name in names]) for x in items]
    for key, value in beside.items():
        if isinstance(value, Mapping):
            beside[key] = [value.get(name) for name in names]


def _is_by_document(data: Any) -> bool:
    """Return whether data map documents to their tags or spans."""
    is_named = isinstance(data, Mapping) and _is_by_name(data)
    return is_named and bool(data) and all(map(_is_text, data.values()))


def _is_work(data: Any) -> bool:
    """Return whether data are lists of tags or spans, one for each text."""
    is_list = isinstance(data, list | tuple) and not any(map(is_span, data))
    return any(x is not None and _is_text(x) for x in data) if is_list else _is_by_document(data)


def _is_text(data: Any) -> bool:
    """Return whether data are the tags or spans of one text, or None."""
    is_list = isinstance(data, list | tuple) and not is_span(data)
    is_text = is_list and (are_lists_of_tags([data]) or all(map(is_span, data)))
    return data is None or is_text


def _is_by_name(data: Any) -> bool:
    """Return whether data map annotators, rather than columns, splits or the keys of a record."""
    if not isinstance(data, Mapping) or hasattr(data, "column_names"):
        return False
    is_record = isinstance(data.get("text"), str) or _WORDS & data.keys()
    return not data.keys() >= _COLUMNS and not is_record


def _is_file(item: Any) -> bool:
    return isinstance(item, str | PathLike) or hasattr(item, "read")


def _is_tags(data: Sequence[Any]) -> bool:
    """Return whether words are the tags of one text: all look like tags, and none is a path."""
    return all(map(is_tag, data)) and not any(map(exists, data))
