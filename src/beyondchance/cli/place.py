"""``beyondchance place``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.running import tell, voice
from beyondchance.errors import LengthsError
from beyondchance.io.saving import check_place, save_file
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.place import place_report
from beyondchance.scoring.one_text import coverage, start_probabilities

_in_text = partial(flags.option, group="Text and spans")


@flags.command("place", doing="placing")
@_in_text(
    "--length",
    type=click.IntRange(1),
    required=True,
    help="Positions of the text.",
)
@_in_text(
    "--spans",
    type=flags.LENGTHS,
    required=True,
    help="Lengths of the spans.",
)
@_in_text(
    "--model",
    type=flags.Choice(("disjoint", "overlapping")),
    default="disjoint",
    help="Whether random spans may overlap.",
)
@_in_text(
    "--plot",
    type=click.Path(dir_okay=False),
    help="Draw the curves into a file that ends with .svg.",
)
@flags.output
def command(
    length: int, spans: tuple[int, ...], model: str, plot: str | None, **options: Any
) -> Report:
    """Where random spans fall in a text: the paper's first figure, for any text.

    \b
    beyondchance place --length 100 --spans 1,5,10,15
    """
    try:
        starts = start_probabilities(length, list(spans), model=model)
        marked = coverage(length, list(spans), model=model)
    except LengthsError as error:
        raise click.BadParameter(error.spoken(voice()), param_hint="'--spans'") from None
    for place in (plot, options["save"]):
        if place is not None:
            check_place(place)
    if plot is not None:
        from beyondchance.page.charts.texts import places_chart  # noqa: PLC0415 - rarely wanted
        from beyondchance.page.svg import drawn  # noqa: PLC0415 - rarely wanted

        save_file(plot, drawn(places_chart(spans, starts), Path(plot).suffix))
        tell(f"wrote {plot}")
    return place_report(length, spans, starts, marked, model=model, digits=options["digits"])
