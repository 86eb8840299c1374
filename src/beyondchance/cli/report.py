"""``beyondchance report``."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import click

from beyondchance.cli.loading import load, streams
from beyondchance.cli.options import (
    GAMMA,
    Names,
    annotated_files,
    gamma_parameters,
    interval_options,
    option,
    scoring,
    scoring_options,
    uncertainty,
)
from beyondchance.cli.running import Command, tell, working
from beyondchance.io.saving import check_place
from beyondchance.page.gather import WITHOUT_GAMMA
from beyondchance.page.report import report
from beyondchance.reporting.sentences import condensed
from beyondchance.scoring.api import agreement, rank


@click.command("report", cls=Command)
@annotated_files
@scoring
@uncertainty
@option(
    "--coefficients",
    group="Scoring",
    type=Names(),
    help="Other coefficients beside ours: 'all', or names; all but gamma by default, for its cost.",
)
@GAMMA
@option(
    "-o",
    "--save",
    group="Output",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The page, such as report.html; - prints it.",
)
@option(
    "--figures",
    group="Output",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Also write every chart for a paper, as PDF, SVG and PNG.",
)
@option("--title", group="Output", metavar="TEXT", help="The heading of the page.")
@option("--dated", group="Output", is_flag=True, help="Print today's date below the heading.")
@option(
    "--top",
    group="Output",
    type=click.IntRange(0),
    metavar="N",
    default=1000,
    help="Documents to show in full, the most contested ones; 0 for all.  [default: 1000]",
)
@option(
    "--digits",
    group="Output",
    type=click.IntRange(1, 15),
    metavar="N",
    default=3,
    help="Digits after the point.  [default: 3]",
)
@option("--quiet", "-q", group="Output", is_flag=True, help="No notes and no progress.")
def command(files: tuple[str, ...], **options: Any) -> None:
    """A page that people read: the result, its charts, and every disagreement in its text.

    One file that needs no network, with intervals of 95 % unless --confidence says otherwise.
    With --gold, systems are ranked against the gold standard; without it, annotators are
    compared with one another. --no-text leaves every text out.

    \b
    beyondchance report anna.conll ben.conll -o report.html
    beyondchance report export.json -o report.html --no-text
    beyondchance report a.conll b.conll --gold gold.conll -o report.html --figures figures
    """
    is_printed = options["save"] == "-"
    if not is_printed:
        check_place(options["save"])
    options["confidence"] = options["confidence"] or 0.95
    with working("reading, scoring and drawing", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        score = agreement if options["gold"] is None else rank
        result: Any = score(corpus, **scoring_options(options))
        notes = (*corpus.notes, *result.notes)
        page = report(
            result,
            replace(corpus, notes=notes),
            title=options["title"],
            texts=not options["no_text"],
            top=options["top"],
            digits=options["digits"],
            date=date.today().isoformat() if options["dated"] else None,
            coefficients=options["coefficients"] or WITHOUT_GAMMA,
            gamma=gamma_parameters(options),
            **{
                "seed" if name == "rng" else name: value
                for name, value in interval_options(options).items()
            },
        )
        if options["figures"] is not None:
            page.save_figures(options["figures"])
        if not is_printed:
            page.save(options["save"])
    if not options["quiet"]:
        for note in condensed(notes):
            tell(note)
        for what in (options["save"], options["figures"]):
            if what not in {None, "-"}:
                tell(f"wrote {what}")
    if is_printed:
        click.echo(page.html, nl=False)
