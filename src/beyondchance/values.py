"""Values that nobody outside the package makes: dataclasses that load quickly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform, overload

_Class = TypeVar("_Class", bound=type)


@overload
def internal(cls: _Class, /) -> _Class: ...
@overload
def internal(*, kw_only: bool) -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def internal(
    cls: _Class | None = None, /, *, kw_only: bool = False
) -> _Class | Callable[[_Class], _Class]:
    """Make a dataclass that is equal to itself only, and that type checkers keep from changing.

    To refuse changes at run time and to compare by value takes four times as long to load.

    Examples
    --------
    >>> @internal
    ... class Stretch:
    ...     start: int
    ...     end: int = 0
    >>> Stretch(2).end
    0
    """
    make: Callable[[Any], Any] = dataclass(eq=False, repr=False, kw_only=kw_only)
    return make if cls is None else make(cls)
