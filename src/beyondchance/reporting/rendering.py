"""Results to text, JSON, CSV, Markdown, LaTeX and lines of JSON; nothing here computes a score.

A command's result becomes a `Report`: what to tell people (`blocks`), what to hand on as
JSON (`data`) and as one flat table (`rows`). Each output is a function of a `Report`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from beyondchance.checks import checked_option
from beyondchance.messages import PYTHON, Note, Use, Voice, spoken
from beyondchance.reporting.blocks import Block, PaperTable, Prose, Report

OUTPUTS: Mapping[str, str] = {
    "text": ".txt",
    "json": ".json",
    "csv": ".csv",
    "markdown": ".md",
    "latex": ".tex",
}
"""The outputs that there are, and how their files end."""
LIST_OUTPUTS: Mapping[str, str] = {**OUTPUTS, "jsonl": ".jsonl"}
"""Those of a result that is a list: its rows can also be lines of JSON."""
FLAT = ("csv", "jsonl")
"""Those that are one flat table."""
CUT = Note(("long tables are cut; ", Use("top", 0), " shows all of them"))
"""A note for those who look at tables."""


def rendered(
    report: Report,
    output: str,
    *,
    digits: int = 4,
    width: int | None = None,
    colour: bool = False,
    voice: Voice = PYTHON,
    said: Iterable[str] = (),
) -> str:
    """Write a report in one of the outputs.

    Parameters
    ----------
    report : Report
    output : {"text", "json", "csv", "markdown", "latex", "jsonl", "html"}
    digits : int
        Digits after the point, for people; JSON and CSV have them all.
    width : int, optional
        Columns that text fills at most; as wide as it gets by default.
    colour : bool
        Whether text is coloured.
    voice : Voice
        How options are spelled in sentences, and whether data may be quoted.
    said : iterable of str
        Sentences to print with the result, in the outputs for people.
    """
    name = checked_option("output", output, (*LIST_OUTPUTS, "html"))
    write: Callable[..., str]
    write = import_module(f"beyondchance.reporting.outputs.{name}").rendered
    if name in FLAT:
        return write(report)
    if name == "json":
        return write(report, voice)
    blocks = report.for_paper(said) if name == "latex" else report.blocks(said)
    fitted = {"width": width, "colour": colour} if name == "text" else {}
    return write(in_voice(blocks, voice), digits=digits, **fitted)


def in_voice(blocks: Iterable[Block | PaperTable], voice: Voice) -> list[Block | PaperTable]:
    """Put the sentences of blocks into the words of a reader."""
    return [
        Prose(spoken(block.text, voice), block.quiet) if isinstance(block, Prose) else block
        for block in blocks
    ]
