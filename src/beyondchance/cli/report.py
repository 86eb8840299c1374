"""``beyondchance report``."""

from __future__ import annotations

from datetime import date
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.loading import noted, shown
from beyondchance.cli.running import tell, tell_notes
from beyondchance.cli.scanning import scored
from beyondchance.io.saving import check_place
from beyondchance.page.gather import WITHOUT_GAMMA
from beyondchance.page.report import report

_NAME = "report{}.html"


def _is_free(name: str) -> bool:
    return not Path(name).exists()


@flags.command("report", doing="reading, scoring and drawing")
@flags.annotated_files
@flags.scoring
@flags.informed()
@flags.CONFIDENCE
@flags.METHOD
@flags.RESAMPLES
@flags.counting
@flags.coefficients("By default all but gamma, which is slow.")
@flags.in_annotations(
    "--replace",
    type=flags.NAMES,
    default=(),
    is_everyday=True,
    help="Models: may they replace people?",
)
@flags.replacing
@flags.in_output(
    "-o",
    "--save",
    is_everyday=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The page; by default report.html, or the next free name; - prints it.",
)
@flags.in_output(
    "--figures",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    is_everyday=True,
    help="Also write every chart for a paper, as SVG.",
)
@flags.in_output("--title", metavar="TEXT", is_everyday=True, help="The heading of the page.")
@flags.in_output("--dated", is_flag=True, help="Print today's date below the heading.")
@flags.BY
@flags.top(1000, "Documents to show in full, those with most disagreements; 0 for all.")
@flags.digits(3)
@flags.QUIET
def command(**options: Any) -> Any:
    """A page for a browser: the result, its charts, and every disagreement.

    The page is one file and needs no network. With --gold, systems are ranked against the gold
    standard; without it, annotators are compared with each other. --no-text leaves out all
    texts.

    \b
    beyondchance report anna.conll ben.conll
    beyondchance report export.json -o report.html --no-text
    beyondchance report a.conll b.conll --gold gold.conll -o report.html
    beyondchance report export.json --replace gpt --blind yes -o report.html
    """
    place = options["save"] or next(filter(_is_free, map(_NAME.format, chain([""], count(-2, -1)))))
    is_printed = place == "-"
    if not is_printed:
        check_place(place)
    command = "agreement" if options["gold"] is None else "rank"
    corpus, results = scored(command, options, only=True)
    (result,) = results.values()
    page = report(
        result,
        noted(corpus, result.notes) if corpus.documents else None,
        title=options["title"],
        show_texts=not options["no_text"],
        date=date.today().isoformat() if options["dated"] else None,
        coefficients=options["coefficients"] or WITHOUT_GAMMA,
        replace=shown(options["replace"]),
        **flags.picked(
            options, ("top", "digits", "gamma", "keep", "margin", "blind", "chance", "by")
        ),
        **flags.resampling_options(options),
    )
    figures = options["figures"]
    if figures is not None:
        page.save_figures(figures)
    if not is_printed:
        page.save(place)
    tell_notes((*corpus.notes, *result.notes))
    for written in (place, figures):
        if written not in {"-", None}:
            tell(f"wrote {written}")
    return partial(click.echo, page.html, nl=False) if is_printed else None
