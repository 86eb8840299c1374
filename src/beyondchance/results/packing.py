"""Counts as bytes, which files and engines can carry: versioned, checked, and never run.

A line says what the bytes are and in which version, the next one is the SHA-256 of the rest: a zip
archive of arrays (``npz``), one of them JSON that says what they are.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from beyondchance.errors import DataError, FormatError
from beyondchance.installing import required
from beyondchance.results.counts import Added, Counts
from beyondchance.results.score import Score
from beyondchance.results.units import Units
from beyondchance.settings import Settings
from beyondchance.tallies import Fate, Tally

MAGIC = b"beyondchance counts 3\n"
_KINDS = (Added, Counts, Score, Units)
_COLUMN = "counts"

_Value = TypeVar("_Value")


def table_of(counts: Counts) -> Any:
    """Make a table of Arrow with one row that holds counts by unit."""
    arrow = required("pyarrow", extra="parquet", purpose="a table of Arrow")
    return arrow.table({_COLUMN: arrow.array([packed(counts.by_unit())], arrow.binary())})


def counts_in(table: Any) -> list[Counts]:
    """Read the counts in the rows of a table.

    Raises
    ------
    DataError
        If the table is none that `table_of` makes, or of another version.
    """
    try:
        return [unpacked(bytes(cell.as_py()), Counts) for cell in table.column(_COLUMN)]
    except Exception as error:
        raise DataError(
            f"no table of counts ({type(error).__name__}: {error})",
            expected="what Counts.to_arrow of this version makes",
        ) from None


def packed(value: Any) -> bytes:
    """Make bytes of a value."""
    arrays: dict[str, Any] = {}
    text = json.dumps(_plain(value, arrays), ensure_ascii=False).encode("utf-8", "surrogatepass")
    buffer = io.BytesIO()
    arrays["json"] = np.frombuffer(text, dtype=np.uint8)
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    return MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unpacked(
    data: bytes,
    kind: type[_Value],
    kinds: Iterable[type] = (),
    check_size: Callable[[int], object] | None = None,
) -> _Value:
    """Make a value of its bytes.

    Parameters
    ----------
    data : bytes
    kind : type
        What is expected.
    kinds : iterable of type
        What else may be in it, besides plain values, arrays and counts.
    check_size : function, optional
        Is given the bytes that it unpacks to before it is unpacked.

    Raises
    ------
    FormatError
        If it is not whole, of another version, or something else.
    """
    refused = partial(FormatError, remedy="count again")
    begin = len(MAGIC) + 65
    if not data.startswith(MAGIC):
        raise refused("saved counts of another version")
    content = data[begin:]
    if hashlib.sha256(content).hexdigest().encode() != data[len(MAGIC) : begin - 1]:
        raise refused("saved counts are damaged or not whole")
    known = {item.__name__: item for item in (kind, *_KINDS, *kinds)}
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            if check_size is not None:
                check_size(sum(entry.file_size for entry in arrays.zip.infolist()))
            text = arrays["json"].tobytes().decode("utf-8", "surrogatepass")
            value = _value(json.loads(text), arrays, known)
    except FormatError:
        raise
    except Exception as error:
        raise refused(f"saved counts cannot be read ({type(error).__name__})") from None
    if not isinstance(value, kind):
        raise refused("saved counts of another kind")
    return value


def _plain(value: Any, arrays: dict[str, Any]) -> Any:  # noqa: PLR0911 - one for each kind
    """Make JSON of a value, and put its arrays aside."""
    if isinstance(value, Tally):
        return {"tally": [str(value), value.fate.name, value.noun]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, Settings):
        return {"settings": str(value)}
    if isinstance(value, tuple | list):
        return [_plain(item, arrays) for item in value]
    if isinstance(value, Mapping):
        pairs = [[_plain(key, arrays), _plain(item, arrays)] for key, item in value.items()]
        return {"mapping": pairs}
    if is_dataclass(value):
        # Where files lie is nobody else's business.
        names = (item.name for item in fields(value) if item.name != "sources")
        parts = {name: _plain(getattr(value, name), arrays) for name in names}
        return {"kind": type(value).__name__, "parts": parts}
    raise DataError(
        f"a {type(value).__name__} cannot be saved",
        expected="names, numbers and measures of this package",
    )


def _value(plain: Any, arrays: Any, kinds: Mapping[str, type]) -> Any:  # noqa: PLR0911
    """Make a value of what `_plain` gave; lists become tuples."""
    if isinstance(plain, list):
        return tuple(_value(item, arrays, kinds) for item in plain)
    if not isinstance(plain, dict):
        return plain
    if "array" in plain:
        return arrays[plain["array"]]
    if "tally" in plain:
        text, fate, noun = plain["tally"]
        return Tally(text, Fate[fate], noun)
    if "settings" in plain:
        return Settings.parse(plain["settings"])
    if "mapping" in plain:
        pairs = plain["mapping"]
        return {_value(key, arrays, kinds): _value(item, arrays, kinds) for key, item in pairs}
    parts = {name: _value(item, arrays, kinds) for name, item in plain["parts"].items()}
    return kinds[plain["kind"]](**parts)
