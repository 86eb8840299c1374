"""Names from the data, made safe to show on one line."""

from __future__ import annotations

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
