"""Expect errors, notes and sentences by what they tell, not by their words.

What is told is written as ``"a.csv:3: … 'X' … offsets='utf16'"``: what stands between the signs
``…`` must be there, one after the other; anything else may be said in any words. A number stands
by itself: 5 is not told by 15. A first part that ends with a colon is the place, or a part of
it. The words of the most important messages are kept in ``cli/test_messages.py``.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from beyondchance import BeyondChanceError
from beyondchance.messages import Note, Use, spoken


@contextmanager
def refused(kind: type[Exception], told: str = "", use: str = "") -> Iterator[pytest.ExceptionInfo]:
    """Expect an error of a kind that tells something.

    Parameters
    ----------
    kind
        The class of the error, exactly.
    told
        What the error tells, such as ``"a.csv:3: … 2 … 7"``.
    use
        Options that the error tells to use, by their names in Python, separated by spaces.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert type(error) is kind, f"{type(error).__name__}: {error}"
    assert_tells(error, told)
    if use:
        assert isinstance(error, BeyondChanceError)
        missing = set(use.split()) - {p.option for p in error.text if isinstance(p, Use)}
        assert not missing, f"{missing} are not among the options of: {error}"


def assert_tells(said: object, told: str) -> None:
    """Check that an error, a note or a sentence tells all parts, in this order."""
    parts = list(filter(None, map(str.strip, told.split("…"))))
    sentence = str(said)
    end = 0
    for part in parts:
        found = re.compile(_pattern(part)).search(sentence, end)
        assert found, f"{part!r} is not told by: {sentence}"
        end = found.end()
    if isinstance(said, BeyondChanceError | Note) and parts and parts[0].endswith(":"):
        place = ", ".join(filter(None, (spoken(said.where), getattr(said, "who", ""))))
        found = re.search(_pattern(parts[0]), f"{place}:")
        assert found, f"{parts[0]!r} is not the place of: {sentence}"


def assert_notes(notes: Iterable[object], *told: str) -> None:
    """Check that there are so many notes, and what each of them tells."""
    said = list(notes)
    assert len(said) == len(told), list(map(str, said))
    for note, expected in zip(said, told, strict=True):
        assert_tells(note, expected)


def _pattern(part: str) -> str:
    """Return a pattern of a part: numbers at its ends stand by themselves."""
    before = r"(?<![\w.])" if re.match(r"-?\d", part) else ""
    after = r"(?!\w|\.\d)" if part[-1:].isdigit() else ""
    return f"{before}{re.escape(part)}{after}"
