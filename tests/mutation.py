"""Change valid input into input that may no longer be valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]


def places(content: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all values in JSON, the whole of it first."""
    yield path
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, inner in items:
            yield from places(inner, (*path, key))


def replaced(content: Any, path: Path, new: Any) -> Any:
    """The same JSON with another value at a path."""
    if not path:
        return new
    copy = dict(content) if isinstance(content, dict) else list(content)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy
