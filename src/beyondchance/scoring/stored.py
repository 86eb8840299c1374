"""What was counted, as a file: versioned, checked, and nothing in it is ever run.

A line says what the file is and in which version, the next one is the SHA-256 of the rest: a zip
archive of arrays (``npz``), one of them JSON that says what they are.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from beyondchance.annotations.corpus import Corpus, Input
from beyondchance.errors import DataError, FormatError
from beyondchance.io.copies import Copies
from beyondchance.io.options import Whole
from beyondchance.io.reading import Naming
from beyondchance.io.saving import save_file
from beyondchance.io.scanning import Seen
from beyondchance.io.sources import COUNTS, Source, too_large
from beyondchance.io.values import reason
from beyondchance.messages import Note, Quote, Use
from beyondchance.results.counts import Added, Counts
from beyondchance.results.score import Score
from beyondchance.results.units import Units
from beyondchance.scoring.answers import Answer, Question, Scored
from beyondchance.scoring.marks import Placed
from beyondchance.settings import Settings
from beyondchance.tallies import Fate, Tally

_MAGIC = COUNTS + b"3\n"
_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Added, Answer, Copies, Corpus, Counts, Input, Naming, Note, Placed, Question, Quote),
        *(Score, Scored, Seen, Units, Use, Whole),
    )
}
"""What can be in a file, besides plain values and arrays."""

_Value = TypeVar("_Value")


def save_stored(path: str | PathLike[str], value: Any, sources: Collection[str] = ()) -> None:
    """Write a value to a file, completely or not at all, and to none of the sources."""
    save_file(path, packed(value), sources)


def packed(value: Any) -> bytes:
    """Make the content of a file of a value."""
    arrays: dict[str, Any] = {}
    text = json.dumps(_plain(value, arrays), ensure_ascii=False).encode("utf-8", "surrogatepass")
    buffer = io.BytesIO()
    arrays["json"] = np.frombuffer(text, dtype=np.uint8)
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    return _MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def stored(path: str | PathLike[str], kind: type[_Value]) -> _Value:
    """Read a file back.

    Raises
    ------
    FormatError
        If it is not whole, of another version, or something else.
    """
    source = Source(str(path), path=Path(path))
    data, begin = source.data, len(_MAGIC) + 65
    refused = partial(FormatError, where=source.name, remedy="count again")
    if not data.startswith(_MAGIC):
        raise refused("saved counts of another version")
    content = data[begin:]
    if hashlib.sha256(content).hexdigest().encode() != data[len(_MAGIC) : begin - 1]:
        raise refused("the file is damaged or not whole")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            size = sum(entry.file_size for entry in arrays.zip.infolist())
            if size > source.most:
                said = f"unpacks to {size:,} bytes"
                raise too_large(source.name, said, most=source.most, size=size)  # noqa: TRY301
            text = arrays["json"].tobytes().decode("utf-8", "surrogatepass")
            value = _value(json.loads(text), arrays, {**_KINDS, kind.__name__: kind})
    except FormatError:
        raise
    except Exception as error:
        raise refused("saved counts cannot be read", *reason(error)) from None
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
