"""Expect sentences by what they tell, in order: ``"a.csv:3 … 'X' … offsets='utf16'"``.

What stands between the signs ``…`` must be there, one after the other; a sentence may say anything
else, in any words. A number stands by itself: 5 is not told by 15.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

LEFT_OUT = "…"


def assert_says(sentence: str, expected: str) -> None:
    """Check that a sentence holds each part of what is expected, in this order.

    It begins with the first part, unless something is left out before it.
    """
    place = 0
    for number, part in enumerate(map(str.strip, expected.split(LEFT_OUT))):
        before = r"(?<![\w.])" if part[:1].isdigit() else ""
        after = r"(?!\w|\.\d)" if part[-1:].isdigit() else ""
        pattern = re.compile(f"{before}{re.escape(part)}{after}")
        found = pattern.search(sentence, place) if number else pattern.match(sentence)
        assert found, f"{part!r} is not told by: {sentence}"
        place = found.end()


@contextmanager
def refused_with(kind: type[Exception], expected: str) -> Iterator[pytest.ExceptionInfo]:
    """Expect an error of a kind, or of one below it, whose sentence tells something in order."""
    with pytest.raises(kind) as caught:
        yield caught
    assert_says(str(caught.value), expected)


def assert_notes(notes: Iterable[object], *expected: str) -> None:
    """Check that there are so many notes, and what each of them says."""
    said = list(map(str, notes))
    assert len(said) == len(expected), said
    for note, wanted in zip(said, expected, strict=True):
        assert_says(note, wanted)


def says(sentence: object, expected: str) -> bool:
    """Whether a sentence tells what is expected."""
    try:
        assert_says(str(sentence), expected)
    except AssertionError:
        return False
    return True
