"""What can go wrong, each with a name of its own.

An error holds its parts: where, what was found, what was expected and how to repair it.
The sentence is made when it is read.
"""

from __future__ import annotations

from collections.abc import Callable

from beyondchance.messages import PYTHON, Piece, Text, Voice, pieces, spoken
from beyondchance.version import __version__


class BeyondChanceError(Exception):
    """Base of every error that this package raises on purpose.

    Parameters
    ----------
    *found : str, Quote or Use
        What was found, in pieces that make a sentence.
    where : Text
        The file and line, or the document and annotator.
    expected : Text
        What should have been there.
    remedy : Text
        How to repair it.

    Examples
    --------
    >>> from beyondchance.messages import COMMAND_LINE, Quote, Use
    >>> error = DataError(
    ...     "span ",
    ...     Quote("x"),
    ...     " is empty",
    ...     where="a.csv:3",
    ...     expected="at least one character",
    ...     remedy=(Use("zero_length", "skip"), " leaves such spans out"),
    ... )
    >>> print(error)
    a.csv:3: span 'x' is empty; expected at least one character: zero_length='skip' leaves \
such spans out
    >>> print(error.spoken(COMMAND_LINE.without_quotes()))
    a.csv:3: span … is empty; expected at least one character: --zero-length skip leaves \
such spans out
    """

    def __init__(
        self, *found: Piece, where: Text = (), expected: Text = (), remedy: Text = ()
    ) -> None:
        super().__init__(*found)
        self.where = pieces(where)
        self.expected = pieces(expected)
        self.remedy = pieces(remedy)

    @property
    def found(self) -> tuple[Piece, ...]:
        """What was found, in pieces."""
        return self.args

    @property
    def told(self) -> tuple[Piece, ...]:
        """Where and what was found, in pieces."""
        return (*self.where, ": ", *self.found) if self.where else self.found

    @property
    def text(self) -> tuple[Piece, ...]:
        """The whole sentence, in pieces."""
        expected = ("; expected ", *self.expected) if self.expected else ()
        remedy = (": " if self.expected else "; ", *self.remedy) if self.remedy else ()
        return (*self.told, *expected, *remedy)

    def rewrite(self, change: Callable[[Piece], Piece]) -> None:
        """Change every piece of the error."""
        for part in ("args", "where", "expected", "remedy"):
            setattr(self, part, tuple(map(change, getattr(self, part))))

    def spoken(self, voice: Voice = PYTHON) -> str:
        """Return the error as one sentence."""
        return spoken(self.text, voice)

    def __str__(self) -> str:
        return self.spoken()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.spoken()!r})"


class DataError(BeyondChanceError, ValueError):
    """The annotations cannot be used as they are."""


class SpanError(DataError):
    """A span is empty, reversed, negative, past the end or not a pair of integers."""


class OverlapError(DataError):
    """Two spans overlap where the chance model does not allow it."""


class TagError(DataError):
    """A tag is unknown, or a sequence of tags breaks the rules of its scheme."""


class ListsError(DataError, TypeError):
    """Tags are not a list of lists."""


class MismatchError(DataError):
    """Two annotators do not have the same texts."""


class NothingSharedError(DataError):
    """No document was annotated by two annotators."""


class LengthsError(DataError):
    """Lengths of spans do not fit the text, or are not positive integers."""


class FormatError(DataError):
    """A file is not what its format says."""


class MissingLibraryError(BeyondChanceError, ImportError):
    """A file needs a library that is not installed."""


class UnknownNameError(BeyondChanceError, KeyError):
    """A result has nothing of that name."""


class OptionError(BeyondChanceError, ValueError):
    """An option has a value that it does not take."""


def lacks_memory(error: Exception) -> bool:
    """Return whether an error says that memory is missing, be it for a part of a library."""
    is_unloaded = isinstance(error, ImportError) and "failed to map segment" in str(error)
    return isinstance(error, MemoryError) or is_unloaded


def defect(error: Exception) -> str:
    """Describe a defect by its place, without the error's message, which may quote a text."""
    import traceback  # noqa: PLC0415 - for defects only
    from pathlib import Path  # noqa: PLC0415 - for defects only

    *_, place = traceback.extract_tb(error.__traceback__)
    where = f"{Path(place.filename).name}:{place.lineno}"
    return (
        f"a defect of beyondchance {__version__} ({type(error).__name__} at {where}); please "
        "report it with the command and, if it may be shared, the file"
    )
