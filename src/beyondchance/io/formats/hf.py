"""Tokens and tags as Hugging Face has them: data sets, and files of the hub.

Files are JSON, JSON lines or Parquet. In memory, anything that yields dictionaries will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from beyondchance.checks import is_whole
from beyondchance.errors import FormatError, OptionError
from beyondchance.io.drafts import Draft, Tags, draft_of_sentences
from beyondchance.io.json_rows import head_row, rows_of
from beyondchance.io.label_names import label_names_of
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import (
    list_columns,
    opened_parquet,
    parquet_rows,
    schema_of,
    stored_features,
    transposed,
)
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.shapes import Item, Row, asked_for
from beyondchance.io.sources import Source, is_parquet, parsed_json_at
from beyondchance.io.tagged import IGNORED, chosen_columns, either, layers_of
from beyondchance.io.values import refusal, refused
from beyondchance.messages import Quote, Text, Use, quotes
from beyondchance.tallies import left_out, not_annotated

_TOKEN_KEYS = ("tokens", "words")
_TAG_KEYS = ("ner_tags", "tags", "labels", "ner")
_BATCH = 1024


class _Rows(NamedTuple):
    """The rows of a file, of a data set or of one of its splits.

    Attributes
    ----------
    where : str
        For messages about the columns.
    columns : dict
        The columns, and whether each holds lists.
    names : dict
        What the numbers of a column stand for, where the data say so.
    of : function of the columns that are needed
        The rows.
    split : str
        The name of the split, if it is one of several.
    n_before : int
        Rows of the file before these, where it is read in parts.
    """

    where: str
    columns: dict[str, bool]
    of: Callable[[list[str]], Iterator[Row]]
    names: Mapping[str, list[str]] = {}
    split: str = ""
    n_before: int = 0


def is_format(upload: Upload) -> bool:
    """Return whether there are tokens and tags, in a data set or in the first row of a file."""
    data = upload.data
    if data is not None:
        if _is_data_set(data) or _is_splits(data):
            return True
        # Nothing else is looked into: what a generator yields cannot be put back.
        return isinstance(data, list | tuple) and bool(data) and _is_row(data[0])
    if upload.is_folder:
        return False
    source = upload.sources[0]
    if is_parquet(source):
        return _is_tagged_parquet(source)
    return _is_row(head_row(source, _TOKEN_KEYS))


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file or data set; each example is a document of one sentence."""
    given_names = label_names_of(reading.options["label_names"])
    others = None if given_names else reading.beside.get("names")
    for rows in _parts(upload):
        if not rows.columns:
            continue  # no row at all
        token_key, groups = _chosen(rows, upload.name, reading)
        named = {
            key: _names(rows.names.get(key) or others, given_names, f"{rows.where}: {key}")
            for key in chain.from_iterable(groups)
        }
        needed = [token_key, *named, *(["id"] if "id" in rows.columns else [])]
        for number, row in enumerate(rows.of(needed), start=1):
            words = _words(row, token_key)
            reading.skipped[left_out("examples without tokens")] += not words
            for keys in groups:
                annotator = upload.annotator if len(groups) == 1 else "+".join(keys)
                reading.ordered[annotator] = number
                if words and any(row.item.get(key) is None for key in keys):
                    reading.skipped[not_annotated("examples")] += 1
                    continue
                for key in keys if words else ():
                    tags = _tags(row, key, named[key])
                    if len(words) != len(tags):
                        raise refusal(
                            row.where,
                            f"has {len(words)} under {{}} and {len(tags)} under {{}}",
                            *(token_key, key),
                            expected="as many of each",
                        )
                    own = row.item.get("id")
                    if (
                        own is not None
                        and not is_whole(own)
                        and (not isinstance(own, str) or not own)
                    ):
                        raise refused(own, "'id'", row.where, "a string or a number")
                    name = f"{rows.n_before + number}" if own is None else f"{own}"
                    yield draft_of_sentences(
                        [words],
                        [()],
                        where=row.where,
                        document=f"{rows.split}/{name}" if rows.split else name,
                        annotator=annotator,
                        fields={"split": rows.split} if rows.split else {},
                        order=number - 1 if own is None and not rows.split else None,
                        tagged=Tags(tags, upload.name, layer=key if len(keys) > 1 else ""),
                    )


def class_names(upload: Upload, reading: Reading) -> list[str] | None:
    """Return what the numbers of tags stand for, if the schema of the data says so."""
    if _is_data_set(upload.data) or _is_splits(upload.data):
        for rows in _parts(upload):
            _, groups = _chosen(rows, upload.name, reading)
            return rows.names.get(groups[0][0])
    return None


# --- Values -------------------------------------------------------------------


def _row(row: Any, where: str) -> Row:
    if not isinstance(row, Mapping):
        found = f"a {type(row).__name__}"
        raise refusal(where, found, expected="a dictionary with tokens and ner_tags")
    return Row(where, row)


def _listed(row: Row, key: str) -> list[Any]:
    """Return a list from a list, a tuple or an array."""
    value = _plain(row.item.get(key))
    if not isinstance(value, list):
        raise refused(value, key, row.where, "a list")
    return value


def _plain(value: Any) -> Any:
    """Return a tuple or an array as a list; other values as they are."""
    if isinstance(value, tuple):
        return list(value)
    return value.tolist() if getattr(value, "ndim", 0) == 1 and hasattr(value, "tolist") else value


def _words(row: Row, key: str) -> list[str]:
    words = _listed(row, key)
    for place, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise _odd(word, "the word", row, place, "a string")
    return words


def _tags(row: Row, key: str, names: Mapping[int, str | None]) -> list[Any]:
    """Return the tags as strings, None where a position is not scored."""
    values = _listed(row, key)
    for place, value in enumerate(values):
        if isinstance(value, str) or (is_whole(value) and int(value) in names):
            continue
        if not is_whole(value):
            raise _odd(value, "the tag", row, place, "a string or a number")
        known = [name for name in names.values() if name is not None]
        expected: Text = "strings such as 'B-PER', or names for the numbers"
        remedy = ("pass ", Use("label_names", "O,B-PER,I-PER"), ", in the order of the numbers")
        if known:
            expected = (f"one of the numbers of {len(known)} names, ", *quotes(known, most=50))
        raise _odd(value, "the tag", row, place, expected, remedy=() if known else remedy)
    return [value if isinstance(value, str) else names[int(value)] for value in values]


def _odd(
    value: object, what: str, row: Row, place: int, expected: Text, *, remedy: Text = ()
) -> FormatError:
    """Build the refusal of a word or a tag."""
    if isinstance(value, bytes):
        remedy = "save the column as text, not as bytes"
    return refused(value, what, f"{row.where}, token {place}", expected, remedy)


# --- Columns ------------------------------------------------------------------


def _chosen(rows: _Rows, file: str, reading: Reading) -> tuple[str, list[list[str]]]:
    """Return the column of tokens and those of tags of each annotator, as asked or by names."""
    chosen: list[list[list[str]]] = []
    candidates = [key for key in _TOKEN_KEYS if key in rows.columns][:1]
    usual = {
        "token": (_TOKEN_KEYS, candidates),
        "tag": (_TAG_KEYS, _tag_candidates(rows.columns)),
    }
    asked = chosen_columns(reading)
    for kind, (known, found_keys) in usual.items():
        groups = [found_keys]
        if kind in asked:
            groups = [
                [asked_for("columns", x, rows.columns, rows.where, "columns") for x in layers]
                for layers in (layers_of(x, rows.columns) for x in dict.fromkeys(asked[kind]))
            ]
        elif len(found_keys) != 1:
            found = ("has the columns ", *quotes(rows.columns))
            remedy: Text = ("or pass ", Use("columns", placeholder=f"{kind}=NAME"))
            expected = f"one of {', '.join(known)}"
            if found_keys:
                found, expected = (
                    ("may have tags under ", *quotes(found_keys)),
                    "one column of tags",
                )
                one = Use("columns", f"tag={found_keys[0]}")
                remedy = ("choose one with ", one, "; ", *either(found_keys))
            raise FormatError(*found, where=rows.where, expected=expected, remedy=remedy)
        chosen.append(groups)
    ((token_key,),), tag_keys = chosen
    read_keys = {token_key, *chain.from_iterable(tag_keys), "id"}
    if others := [key for key in rows.columns if key not in read_keys]:
        reading.note("columns not read: ", *quotes(others), where=file)
    return token_key, tag_keys


def _tag_candidates(columns: Mapping[str, bool]) -> list[str]:
    """Return the columns that may hold tags: those of usual names, or else of similar ones."""
    usual = [key for key in _TAG_KEYS if key in columns]
    # A list of numbers or names, not one for the whole text.
    listed = [key for key in usual if columns[key]]
    similar = [
        key
        for key, is_listed in columns.items()
        if is_listed and (key.startswith("tags_") or key.endswith("_tags"))
    ]
    return listed or similar or usual


# --- Names of numbers ---------------------------------------------------------


def _names(
    own: Sequence[str] | None, given_names: Mapping[int, str] | None, where: str
) -> dict[int, str | None]:
    """Return what each number stands for: as the data say, or else as asked for."""
    names: Mapping[int, str] = given_names or {}
    if own is not None:
        known = dict(enumerate(own))
        other = next((n for n in known if names.get(n, known[n]) != known[n]), None)
        if other is not None:
            raise OptionError(
                *(f"number {other} is ", Quote(known[other]), " in the data, and "),
                *(Quote(names[other], is_given=True), " by the names that are given"),
                where=where,
                expected="one name",
                remedy="leave these out, or remove the names from the data",
            )
        names = known
    return {IGNORED: None, **names}


def _class_names(features: Any) -> dict[str, list[str]]:
    """Return the names of classes in the features of a data set, as objects or as their JSON."""
    names = {}
    for key, kind in features.items() if isinstance(features, Mapping) else ():
        inner = _part(kind, "feature")
        found = _part(kind if inner is None else inner, "names")
        if isinstance(found, list | tuple) and all(isinstance(name, str) for name in found):
            names[str(key)] = list(found)
    return names


def _part(kind: Any, name: str) -> Any:
    """Return a part of a feature; old versions write a list of one feature for a list of it."""
    if isinstance(kind, list) and len(kind) == 1:
        return kind[0] if name == "feature" else None
    return kind.get(name) if isinstance(kind, Mapping) else getattr(kind, name, None)


# --- Rows ---------------------------------------------------------------------


def _parts(upload: Upload) -> Iterator[_Rows]:
    """Yield the rows of an upload: of a file, of a data set, or of each of its splits."""
    data, name = upload.data, upload.name
    if data is None:
        source = upload.sources[0]
        yield _parquet_rows(source) if is_parquet(source) else _json_rows(source)
    elif _is_splits(data):
        for split, part in data.items():
            yield _data_set_rows(part, f"{name}: {split}")._replace(split=str(split))
    elif isinstance(data, Mapping):
        expected, remedy = "one data set", "choose a split"
        found = "a mapping with the keys {}"
        raise refusal(name, found, quotes(data), expected=expected, remedy=remedy)
    else:
        yield _data_set_rows(data, name)


def _places(rows: Any, name: str) -> Iterator[Row]:
    for number, row in enumerate(rows, start=1):
        yield _row(row, f"{name}: example {number}")


def _any_rows(rows: Iterator[Row]) -> _Rows:
    """Return rows whose columns are known from the first of them."""
    first = next(rows, None)
    if first is None:
        return _Rows("", {}, lambda _: iter(()))
    return _Rows(str(first.where), _columns(first.item), lambda _: chain([first], rows))


def _columns(row: Item) -> dict[str, bool]:
    """Return the keys of a row, and whether each has a list."""
    return {str(key): isinstance(_plain(value), list | None) for key, value in row.items()}


def _json_rows(source: Source) -> _Rows:
    found = _any_rows(_row(row, where) for where, _, row in rows_of(source))
    return found._replace(names=_viewer_names(source), n_before=source.texts_before)


def _viewer_names(source: Source) -> dict[str, list[str]]:
    """Return the names of classes in an answer of the viewer, which has few rows."""
    head = source.head_text.lstrip()
    if not head.startswith("{") or '"features"' not in head or '"row_idx"' not in head:
        return {}
    content, _ = parsed_json_at(source.text, source.text.index("{"), source.name)
    features = content.get("features")
    if not isinstance(features, list) or not all(isinstance(item, dict) for item in features):
        return {}
    return _class_names({str(item.get("name")): item.get("type") for item in features})


def _is_data_set(data: Any) -> bool:
    """Return whether an object is a data set of the library, without importing it."""
    return hasattr(data, "features") and hasattr(data, "__iter__")


def _is_splits(data: Any) -> bool:
    """Return whether an object is a DatasetDict.

    A plain dictionary is none: its keys may be annotators.
    """
    is_own_kind = isinstance(data, Mapping) and type(data) is not dict
    return is_own_kind and bool(data) and all(map(_is_data_set, data.values()))


def _data_set_rows(data: Any, name: str) -> _Rows:
    features = data.features if _is_data_set(data) else None
    if not isinstance(features, Mapping):  # not known of what is streamed
        if not hasattr(data, "__iter__"):
            raise refusal(
                name, f"a {type(data).__name__}", expected="a data set or a list of dictionaries"
            )
        return _any_rows(_places(data, name))
    # A single value has a type of data, and nothing inside.
    columns = {
        str(key): hasattr(kind, "feature") or not hasattr(kind, "dtype")
        for key, kind in features.items()
    }
    names = _class_names(features)
    return _Rows(name, columns, lambda keys: _places(_in_batches(data, keys), name), names)


def _in_batches(data: Any, keys: list[str]) -> Iterator[Any]:
    """Yield the rows of a data set with the columns that are needed: others may be images."""
    if not hasattr(data, "select_columns"):
        yield from data
        return
    for batch in data.select_columns(keys).with_format(None).iter(batch_size=_BATCH):
        yield from transposed(batch)


def _parquet_rows(source: Source) -> _Rows:
    schema = opened_parquet(source).schema_arrow

    def of(keys: list[str]) -> Iterator[Row]:
        return (Row(where, row) for where, _, row in parquet_rows(source, keys))

    names = _class_names(stored_features(schema, source.name))
    return _Rows(source.name, list_columns(schema), of, names)


# --- Detection ----------------------------------------------------------------


def _is_row(row: Any) -> bool:
    """Return whether a row has words, and tags for them."""
    if not isinstance(row, Mapping):
        return False
    words = next((_plain(row[key]) for key in _TOKEN_KEYS if key in row), None)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return False
    candidates = [_plain(row[key]) for key in _tag_candidates(_columns(row))]
    return any(_are_tags(values, words) for values in candidates)


def _are_tags(values: Any, words: list[str]) -> bool:
    if values is None:
        return True
    is_tagged = isinstance(values, list) and len(values) <= len(words)
    return is_tagged and all(isinstance(value, str) or is_whole(value) for value in values)


def _is_tagged_parquet(source: Source) -> bool:
    schema = schema_of(source)
    columns = {} if schema is None else list_columns(schema)
    has_tokens = any(columns.get(key) for key in _TOKEN_KEYS)
    return has_tokens and any(columns[key] for key in _tag_candidates(columns))
