r"""A paragraph for a paper, in parts, and how it is written as text, Markdown and LaTeX.

Words, citations, formulas and a signature are kept apart until the form is known: a citation
is ``(Li et al., 2024)`` where there is no bibliography and ``\citep{...}`` in LaTeX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, NamedTuple

from beyondchance.checks import checked_option
from beyondchance.reporting.citations import IN_WORDS, LIMITS
from beyondchance.reporting.escaping import in_latex, in_markdown, visible


class Citation(NamedTuple):
    """A work, by the key of its BibTeX entry."""

    key: str


class Formula(NamedTuple):
    """A formula as text, and between the dollars of LaTeX."""

    text: str
    latex: str


class Code(NamedTuple):
    """Letters that count, such as a signature."""

    text: str


Piece = str | Citation | Formula | Code
Sentence = tuple[Piece, ...]


def _cited(piece: Citation) -> str:
    return f"({IN_WORDS[piece.key]})"


def _code_in_markdown(piece: Code) -> str:
    """Write code between more backquotes than there are in it."""
    text, fence = visible(piece.text), "`"
    while fence in text:
        fence += "`"
    return f"{fence}{text}{fence}" if fence == "`" else f"{fence} {text} {fence}"


FORMS: Mapping[str, Mapping[type, Callable[[Any], str]]] = {
    "text": {
        str: visible,
        Citation: _cited,
        Formula: lambda piece: piece.text,
        Code: lambda piece: f'"{visible(piece.text)}"',
    },
    "markdown": {
        str: in_markdown,
        Citation: _cited,
        Formula: lambda piece: piece.text,
        Code: _code_in_markdown,
    },
    "latex": {
        str: in_latex,
        Citation: lambda piece: rf"\citep{{{piece.key}}}",
        Formula: lambda piece: f"${piece.latex}$",
        # A signature is longer than a line, and has no spaces.
        Code: lambda piece: rf"\texttt{{{in_latex(piece.text)}}}".replace(
            r"\textbar{}", r"\textbar{}\allowbreak{}"
        ),
    },
}
"""How each kind of piece is written, by the names of outputs."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    r"""Sentences for a paper, which are text once it is known where they go.

    Examples
    --------
    >>> paragraph = Paragraph((("A claim ", Citation("li-etal-2024-estimating"), "."),))
    >>> print(paragraph, paragraph.written("latex"))
    A claim (Li et al., 2024). A claim \citep{li-etal-2024-estimating}.
    """

    sentences: tuple[Sentence, ...] = ()

    @classmethod
    def of(cls, template: str, **values: str | Piece | Sentence) -> Paragraph:
        """Fill a template that has a line for each sentence; empty ones are left out."""
        sentences: list[Sentence] = []
        for line in template.splitlines():
            found: list[Piece] = []
            for words, name, _, _ in Formatter().parse(line):
                value = values[name] if name else ()
                # Not isinstance: a citation is a named tuple, and a single piece.
                found += [words, *(value if type(value) is tuple else [value])]
            sentences.append(tuple(filter(None, found)))
        return cls(tuple(filter(None, sentences)))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the works that it cites, each once."""
        pieces = (piece for sentence in self.sentences for piece in sentence)
        return tuple(dict.fromkeys(piece.key for piece in pieces if isinstance(piece, Citation)))

    def written(self, form: str = "text") -> str:
        """Write the paragraph as ``text``, ``markdown`` or ``latex``.

        Markdown and LaTeX have a line for each sentence.
        """
        write = FORMS[checked_option("form", form, FORMS)]
        written = ("".join(write[type(x)](x) for x in found) for found in self.sentences)
        return (" " if form == "text" else "\n").join(written)

    def with_keys(self, form: str = "text") -> str:
        """Return the paragraph, the keys of what it cites and where limits are described."""
        cite, margin, needs = "beyondchance --cite", "", ""
        if form == "markdown":
            cite = f"`{cite}`"
        if form == "latex":
            margin, needs = "% ", r"; \citep needs \usepackage{natbib}"
        keys = f"{margin}BibTeX keys: {', '.join(self.keys)} ({cite} prints the entries){needs}"
        return f"{self.written(form)}\n\n{keys}\n{margin}{LIMITS}\n"

    def __str__(self) -> str:
        return self.written()
