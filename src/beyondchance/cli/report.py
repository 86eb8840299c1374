"""``beyondchance report``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli import options as flags
from beyondchance.cli.agree import questions
from beyondchance.cli.loading import load_named, noted, streams
from beyondchance.cli.running import Command, tell, tell_notes, working
from beyondchance.cli.scanning import answers, scan_of
from beyondchance.io.saving import check_place
from beyondchance.page.gather import WITHOUT_GAMMA
from beyondchance.page.report import report
from beyondchance.scoring.answers import agreement_from, ranking_from, with_origin
from beyondchance.scoring.api import agreement, rank


@click.command("report", cls=Command)
@flags.annotated_files
@flags.scoring
@flags.CONFIDENCE
@flags.METHOD
@flags.RESAMPLES
@flags.counting
@flags.in_scoring(
    "--coefficients",
    type=flags.NAMES,
    help="Other coefficients besides ours: 'all', or names; by default all but gamma, which is "
    "slow.",
)
@flags.GAMMA
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
    required=True,
    is_everyday=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The page, such as report.html; - prints it.",
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
@flags.top(1000, "Documents to show in full, those with most disagreements; 0 for all.")
@flags.digits(3)
@flags.QUIET
def command(files: tuple[str, ...], **options: Any) -> None:
    """A page for a browser: the result, its charts, and every disagreement.

    The page is one file and needs no network. With --gold, systems are ranked against the gold
    standard; without it, annotators are compared with each other. --no-text leaves out all
    texts.

    \b
    beyondchance report anna.conll ben.conll -o report.html
    beyondchance report export.json -o report.html --no-text
    beyondchance report a.conll b.conll --gold gold.conll -o report.html
    beyondchance report export.json --replace gpt --blind yes -o report.html
    """
    asked = flags.replacing_options(options, is_asked=bool(options["replace"]))
    flags.check_gamma_wanted(options)
    is_printed = options["save"] == "-"
    if not is_printed:
        check_place(options["save"])
    given = streams(files)
    scan = scan_of(given, options)
    with working("reading, scoring and drawing", quiet=options["quiet"]) as say:
        corpus: Corpus | None = None
        result: Any
        shown: Callable[[str], str] = str
        if scan is None:
            corpus, shown = load_named(given, options)
            score = agreement if options["gold"] is None else rank
            result = score(corpus, **flags.scoring_options(options))
            corpus = noted(corpus, result.notes)
        else:
            command = "agreement" if options["gold"] is None else "rank"
            read, found = answers(scan, questions(command, options)[:1], options, say)
            made = with_origin(found[0], read)
            result = (agreement_from if options["gold"] is None else ranking_from)(made)
        page = report(
            result,
            corpus,
            title=options["title"],
            show_texts=not options["no_text"],
            top=options["top"],
            digits=options["digits"],
            date=date.today().isoformat() if options["dated"] else None,
            coefficients=options["coefficients"] or WITHOUT_GAMMA,
            gamma=flags.gamma_parameters(options),
            replace=[shown(name) for name in options["replace"]],
            **asked,
            **flags.resampling_options(options),
        )
        if options["figures"] is not None:
            page.save_figures(options["figures"])
        if not is_printed:
            page.save(options["save"])
    if not options["quiet"]:
        tell_notes(result.notes if corpus is None else corpus.notes)
        for what in (options["save"], options["figures"]):
            if what not in {None, "-"}:
                tell(f"wrote {what}")
    if is_printed:
        click.echo(page.html, nl=False)
