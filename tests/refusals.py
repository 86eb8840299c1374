"""Expect errors by what they tell, not by their words.

A refusal tells where, what was found, what was expected and how to repair it. Tests name the kind
of error, the place, the values that a reader needs, and the options that mend it; sentences may
change. The words of the most important messages are kept in ``cli/test_messages.py``.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from beyondchance import BeyondChanceError
from beyondchance.messages import Piece, Use, spoken


@contextmanager
def refused(
    kind: type[Exception], *values: object, where: str | None = None, use: str = ""
) -> Iterator[pytest.ExceptionInfo]:
    """Expect an error of a kind that names values, a place, and options.

    Parameters
    ----------
    kind
        The class of the error, exactly.
    *values
        What the sentence must hold: words, or numbers that stand by themselves.
    where
        What the place must hold, such as ``"a.csv:3"``.
    use
        Options that the error tells to use, by their names in Python, separated by spaces.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert type(error) is kind, f"{type(error).__name__}: {error}"
    assert_tells(str(error), *values)
    if where is not None:
        assert isinstance(error, BeyondChanceError)
        assert where in spoken(error.where), f"{where!r} is not where it is: {error}"
    if use:
        assert isinstance(error, BeyondChanceError)
        missing = set(use.split()) - options_of(error.text)
        assert not missing, f"{missing} are not among the options of: {error}"


def assert_tells(sentence: str, *values: object) -> None:
    """Check that a sentence holds each value: words, or numbers that stand by themselves."""
    for value in values:
        found = (
            value in sentence
            if isinstance(value, str)
            else re.search(rf"(?<![\w.]){re.escape(str(value))}(?!\w|\.\d)", sentence)
        )
        assert found, f"{value!r} is not told by: {sentence}"


def options_of(text: tuple[Piece, ...]) -> set[str]:
    """Return the names of the options that a text mentions."""
    return {piece.option for piece in text if isinstance(piece, Use)}
