"""Dates and the order of periods: what day a file means, and which value comes first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ].*)?")
_NUMBER = re.compile(r"\d+")
_SECONDS = re.compile(r"\d{9,}")
_EPOCH = date(1970, 1, 1).toordinal()
_MILLISECONDS = 10**11
"""From here on numbers are no seconds."""
PERIODS = ("week", "month")
"""What dates can be grouped by."""


def day_of(value: object) -> int:
    """Return the day of a time in UTC, counted from 1970-01-01; 0 if it is none.

    Parameters
    ----------
    value : object
        A date or time as ISO 8601 writes it, of UTC if it names no zone; or seconds or milliseconds
        since 1970.

    Examples
    --------
    >>> day_of("2024-02-14"), day_of("2024-02-14T23:30:00-05:00"), day_of(1707953400)
    (19767, 19768, 19767)
    >>> day_of("1707953400000"), day_of("soon"), day_of(-1), day_of(None)
    (19767, 0, 0, 0)
    """
    with suppress(ValueError, OverflowError):
        if isinstance(value, str) and not _SECONDS.fullmatch(value):
            found = datetime.fromisoformat(value.strip())
            found = found.astimezone(UTC) if found.tzinfo else found
            return max(found.toordinal() - _EPOCH, 0)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            seconds = float(value) / (1000 if float(value) >= _MILLISECONDS else 1)
            return int(seconds // 86400) if 0 < seconds < _MILLISECONDS else 0
    return 0


def period_of(day: int, by: str) -> str:
    """Return the ISO week or the month of a day; nothing for 0.

    Examples
    --------
    >>> period_of(19767, "week"), period_of(19767, "month"), period_of(0, "week")
    ('2024-W07', '2024-02', '')
    """
    found = date.fromordinal(day + _EPOCH)
    year, week, _ = found.isocalendar()
    return "" if not day else f"{found:%Y-%m}" if by == "month" else f"{year}-W{week:02}"


def in_order(values: Sequence[str]) -> tuple[str, ...] | None:
    """Sort values by the order that they have; None if they have none.

    Numbers, dates such as 2024-05-31, and names that differ in one whole number, such as round 2.
    No value is left out but the empty one.

    Examples
    --------
    >>> in_order(["round 10", "round 9"]), in_order(["spring", "autumn"])
    (('round 9', 'round 10'), None)
    >>> in_order(["2024-05", "2023-11", ""]), in_order(["31.05.2023", "01.06.2023"])
    (('2023-11', '2024-05'), None)
    """
    distinct = [value for value in dict.fromkeys(values) if value]
    keys: list[Any] = []
    if all(map(_PLAIN.fullmatch, distinct)):
        keys = [float(value) for value in distinct]
    elif all(map(_DATE.fullmatch, distinct)):
        keys = list(distinct)
    elif len({_NUMBER.sub("#", value) for value in distinct}) == 1:
        numbers = [_NUMBER.findall(value) for value in distinct]
        keys = [int(found[0]) for found in numbers if len(found) == 1]
    if len(distinct) < 2 or len(set(keys)) < len(distinct):
        return None
    place = dict(zip(distinct, keys, strict=True))
    return tuple(sorted(distinct, key=place.__getitem__))
