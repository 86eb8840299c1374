"""What there is to say, in parts; sentences are the last step.

Notes and errors hold pieces: plain words, quotes of the user's data, and options with
their values. They are put into a sentence once, in the words of the place where it is
read: an option is ``match='text'`` in Python and ``--match text`` on the command line, and
quotes are left out where no annotated text may be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

_LONGEST_QUOTE = 80
_END_OF_QUOTE = 30
"""Characters kept of the end of a long quote: of paths, the end says most."""
HIDDEN = "…"
"""What stands in the place of a quote that may not be shown."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A value from the user's data, as Python would write it, cut short in the middle.

    Attributes
    ----------
    value : object
    is_given : bool
        Whether the user typed it, as the value of an option: then it is never hidden.

    Examples
    --------
    >>> print(Quote("B-PER"), Quote(None))
    'B-PER' None
    """

    value: object
    is_given: bool = field(default=False, repr=False)

    def __str__(self) -> str:
        try:
            text = repr(self.value)
        except ValueError:  # more digits than Python writes out
            text = "a number of thousands of digits"
        if len(text) <= _LONGEST_QUOTE:
            return text
        return f"{text[: _LONGEST_QUOTE - _END_OF_QUOTE - 3]}...{text[-_END_OF_QUOTE:]}"


@dataclass(frozen=True, slots=True)
class Use:
    """An option with a value, for a sentence that tells which one to use; or its name only.

    Attributes
    ----------
    option : str
        By its name in Python.
    value : object, optional
        The value to give it.
    placeholder : str
        What stands for a value that only the user knows, such as ``NAME``.
    flag : str
        The name on the command line, where it is another one.
    is_name : bool
        Whether the sentence is about the option rather than its value.
    is_quote : bool
        Whether the value is made of the user's data.

    Examples
    --------
    >>> print(Use("match", "text"), Use("gold", placeholder="NAME"), Use("format"))
    match='text' gold=NAME format=
    >>> print(Use("grid", is_name=True), on_command_line(Use("grid", is_name=True)))
    grid --grid
    """

    option: str
    value: object = None
    placeholder: str = ""
    flag: str = ""
    is_name: bool = False
    is_quote: bool = False

    def __str__(self) -> str:
        return in_python(self)


Piece = str | Quote | Use
Text = Piece | tuple[Piece, ...]
"""A sentence, or a part of one, that has not been put into words yet."""


def in_python(use: Use) -> str:
    """Write an option as in Python."""
    if use.is_name:
        return use.option
    return f"{use.option}={use.placeholder if use.value is None else repr(use.value)}"


def on_command_line(use: Use) -> str:
    """Write an option as on the command line.

    Examples
    --------
    >>> on_command_line(Use("label_names", "O,B-X")), on_command_line(Use("predictions", True))
    ('--label-names O,B-X', '--predictions')
    """
    flag = f"--{(use.flag or use.option).replace('_', '-')}"
    value = use.placeholder if use.value is None or use.value is True else str(use.value)
    if "*" in value or (" " in value and not use.placeholder):  # not to be split or matched
        value = f"'{value}'"
    # What follows --strict alone is a file.
    return f"{flag}{'=' if use.option == 'strict' and value else ' '}{value}".rstrip()


class Voice(NamedTuple):
    """How sentences are put into words, by who reads them.

    Attributes
    ----------
    option : function of a Use
    has_quotes : bool
        Whether the user's data may be quoted.
    """

    option: Callable[[Use], str]
    has_quotes: bool = True

    def without_quotes(self) -> Voice:
        """Return the same voice for places where no annotated text may be shown."""
        return self._replace(has_quotes=False)


PYTHON = Voice(in_python)
COMMAND_LINE = Voice(on_command_line)


def pieces(text: Text) -> tuple[Piece, ...]:
    """Return the parts of a text; none of an empty one."""
    return text if isinstance(text, tuple) else (text,) if text else ()


def spoken(text: Text, voice: Voice = PYTHON) -> str:
    """Put a text into words.

    Examples
    --------
    >>> text = ("tag ", Quote("X"), " is unknown; ", Use("repair", "discard"), " leaves it out")
    >>> print(spoken(text))
    tag 'X' is unknown; repair='discard' leaves it out
    >>> print(spoken(text, COMMAND_LINE.without_quotes()))
    tag … is unknown; --repair discard leaves it out
    """
    said = "".join(_word(piece, voice) for piece in pieces(text))
    # What libraries say of a file, and what arrays look like, may have several lines.
    return " ".join(map(str.strip, said.splitlines())).strip() if "\n" in said else said


def _word(piece: Piece, voice: Voice) -> str:
    piece = piece if voice.has_quotes else hidden(piece)
    return voice.option(piece) if isinstance(piece, Use) else str(piece)


def hidden(piece: Piece) -> Piece:
    """Hide what a piece quotes of the user's data."""
    return piece if isinstance(piece, Quote) and piece.is_given else unquoted(piece)


def unquoted(piece: Piece) -> Piece:
    """Hide what a piece quotes, even what the user typed."""
    if isinstance(piece, Use):
        return replace(piece, value=HIDDEN) if piece.is_quote else piece
    return HIDDEN if isinstance(piece, Quote) else piece


def quotes(values: Iterable[object], *, most: int = 10, none: str = "none") -> tuple[Piece, ...]:
    """List values with commas; no more than `most` of them.

    Examples
    --------
    >>> spoken(quotes(["ada", "ben"])), spoken(quotes([])), spoken(quotes("abcd", most=2))
    ("'ada', 'ben'", 'none', "'a', 'b', ...")
    """
    listed = list(values)
    found: list[Piece] = [piece for value in listed[:most] for piece in (", ", Quote(value))]
    return (*found[1:], *([", ..."] if len(listed) > most else [])) or (none,)


def renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces names in a text, the longest first.

    Its time does not follow the number of names, only that of their different lengths.

    Examples
    --------
    >>> renaming({"ada": "a", "ada/x": "b"})("ada/x.csv of ada")
    'b.csv of a'
    """
    by_length: dict[int, set[str]] = {}
    for name in filter(None, names):
        by_length.setdefault(len(name), set()).add(name)
    lengths = sorted(by_length.items(), reverse=True)

    def with_new_names(text: str) -> str:
        for length, known in lengths:
            stretches = (text[i : i + length] for i in range(len(text) - length + 1))
            for old in known.intersection(stretches):
                text = text.replace(old, names[old])
        return text

    return with_new_names


def renamed(note: Note, names: Mapping[str, str], in_file: Callable[[str], str] = str) -> Note:
    """Rename the annotators of a note, and its files by a function of their names.

    Examples
    --------
    >>> note = Note(("is ", Quote("ada")), "ada.csv:3", "ada")
    >>> print(renamed(note, {"ada": "a"}, renaming({"ada": "x"})))
    x.csv:3, a: is 'a'
    """
    text = tuple(
        replace(piece, value=names[piece.value])
        if isinstance(piece, Quote) and isinstance(piece.value, str) and piece.value in names
        else piece
        for piece in pieces(note.text)
    )
    return replace(note, text=text, where=in_file(note.where), who=names.get(note.who, note.who))


def given(option: str, value: object) -> tuple[Piece, ...]:
    """Begin a sentence about the value of an option.

    Examples
    --------
    >>> spoken(given("theta", 2)), spoken(given("theta", 2), COMMAND_LINE.without_quotes())
    ('theta is 2', '--theta is 2')
    """
    return Use(option, is_name=True), " is ", Quote(value, is_given=True)


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know besides a result.

    Attributes
    ----------
    text : Text
        What is to be known.
    where : str
        The file that it is about, if any.
    who : str
        The annotator that it is about, if any.
    is_caution : bool
        Whether it warns of relying on a number.
    is_hint : bool
        Whether it tells of a mistake in the data, and so is said first.

    Examples
    --------
    >>> print(Note(("read as ", "conll"), where="anna.conll"))
    anna.conll: read as conll
    >>> print(Note("tags read as IOB2", where="team.conll", who="ada"))
    team.conll, ada: tags read as IOB2
    """

    text: Text
    where: str = ""
    who: str = ""
    is_caution: bool = False
    is_hint: bool = False

    def spoken(self, voice: Voice = PYTHON) -> str:
        """Return the note as a sentence."""
        about = ", ".join(filter(None, (self.where, self.who)))
        return f"{about}: {spoken(self.text, voice)}" if about else spoken(self.text, voice)

    def __str__(self) -> str:
        return self.spoken()
