"""Text made safe: to show on one line, and as LaTeX and Markdown, where nothing has a meaning."""

from __future__ import annotations

import re
import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control and format characters, lone surrogates, separators of lines."""


def visible(text: str) -> str:
    r"""Escape characters that would move the cursor, colour or reorder a line.

    Examples
    --------
    >>> visible("ada"), visible("\x1b[31mred"), visible("two\nlines")
    ('ada', '\\x1b[31mred', 'two\\nlines')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in _HIDDEN and character != "\u200d"
        else character
        for character in text
    )


_LATEX = {
    **{character: rf"\{character}" for character in "{}$&#%_"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the beginning of a row it would be taken for an option of the row before
    "]": "{]}",
    "*": "{*}",  # the same
    '"': r"\textquotedbl{}",
    "▲": r"$\uparrow$",
    "▼": r"$\downarrow$",
    "−": "$-$",  # noqa: RUF001 - a minus, which is no hyphen
    "≤": r"$\leq$",
}
_IN_LATEX = re.compile("|".join(map(re.escape, _LATEX)))
_IN_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def in_latex(text: str) -> str:
    r"""Escape a text for LaTeX, on one line.

    Examples
    --------
    >>> print(in_latex("95 % of {a_b}"))
    95 \% of \{a\_b\}
    """
    return _IN_LATEX.sub(lambda found: _LATEX[found[0]], visible(text))


def in_markdown(text: str) -> str:
    r"""Escape a text for Markdown, on one line.

    Examples
    --------
    >>> print(in_markdown("a_b and *c*"))
    a\_b and \*c\*
    """
    return _IN_MARKDOWN.sub(r"\\\1", visible(text))
