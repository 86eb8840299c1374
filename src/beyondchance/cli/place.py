"""``beyondchance place``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.running import Command, emit, tell, voice, working
from beyondchance.errors import LengthsError
from beyondchance.io.saving import check_place, save_file
from beyondchance.reporting.commands.place import place_report
from beyondchance.scoring.one_text import coverage, start_probabilities


@click.command("place", cls=Command)
@flags.option(
    "--length",
    group="Text and spans",
    type=click.IntRange(1),
    required=True,
    help="Positions of the text.",
)
@flags.option(
    "--spans",
    group="Text and spans",
    type=flags.LENGTHS,
    required=True,
    help="Lengths of the spans.",
)
@flags.option(
    "--model",
    group="Text and spans",
    type=flags.Choice(("disjoint", "overlapping")),
    default="disjoint",
    help="Whether random spans may overlap.",
)
@flags.option(
    "--plot",
    group="Text and spans",
    type=click.Path(dir_okay=False),
    help="Draw the curves into a file that ends with .svg.",
)
@flags.output
def command(
    length: int, spans: tuple[int, ...], model: str, plot: str | None, **options: Any
) -> None:
    """Where random spans fall in a text: the paper's first figure, for any text.

    \b
    beyondchance place --length 100 --spans 1,5,10,15
    """
    try:
        with working("placing", quiet=options["quiet"]):
            starts = start_probabilities(length, list(spans), model=model)
            marked = coverage(length, list(spans), model=model)
    except LengthsError as error:
        raise click.BadParameter(error.spoken(voice()), param_hint="'--spans'") from None
    report = place_report(length, spans, starts, marked, model=model, digits=options["digits"])
    for place in (plot, options["save"]):
        if place is not None:
            check_place(place)
    if plot is not None:
        from beyondchance.page.charts.texts import places_chart  # noqa: PLC0415 - rarely wanted
        from beyondchance.page.svg import drawn  # noqa: PLC0415 - rarely wanted

        save_file(plot, drawn(places_chart(spans, starts), Path(plot).suffix))
        if not options["quiet"]:
            tell(f"wrote {plot}")
    emit(report, **options)
