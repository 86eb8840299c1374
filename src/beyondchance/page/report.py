"""A result as a page that people read."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from beyondchance.checks import checked_list, checked_option, checked_whole
from beyondchance.errors import FormatError, OptionError
from beyondchance.io.naming import short_names
from beyondchance.io.saving import check_inputs, save_file
from beyondchance.messages import Use
from beyondchance.options import CorpusOptions, ResamplingOptions, declared, documented
from beyondchance.page.gather import MAIN, WITHOUT_GAMMA, overview
from beyondchance.page.page import templates, written
from beyondchance.page.sending import for_sending
from beyondchance.page.svg import ENDING, Chart, drawn
from beyondchance.results.agreement import Agreement
from beyondchance.results.ranking import Ranking
from beyondchance.scoring.api import agreement, rank
from beyondchance.scoring.data import corpus_of


@dataclass(frozen=True, slots=True)
class Page:
    """One file that holds everything: numbers, charts, tables and texts.

    In a notebook it shows itself.

    Attributes
    ----------
    html : str
    charts : mapping of str to Chart
        In a notebook, each shows itself.
    sources : frozenset of str
        Paths and SHA-256 of the files that were read for it, which it does not replace.
    """

    html: str = field(repr=False)
    charts: Mapping[str, Chart] = field(repr=False)
    sources: frozenset[str] = field(default=frozenset(), repr=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        save_file(path, self.html.encode(), self.sources)

    def save_figures(
        self, folder: str | PathLike[str], endings: Collection[str] = (ENDING,)
    ) -> list[Path]:
        """Write every chart for a paper, as SVG; return the files."""
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise FormatError(f"cannot be made a folder ({why})", where=str(place)) from None
        files = {
            place / f"{name}{ending}": drawn(chart, ending)
            for name, chart in self.charts.items()
            for ending in endings
        }
        for act in (check_inputs, save_file):
            for path, data in files.items():
                act(path, data, self.sources)
        return list(files)

    def _repr_html_(self) -> str:
        """Return the page for a notebook, in a sandbox."""
        return (
            '<iframe title="beyondchance" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:40rem;border:0" srcdoc="{escape(self.html)}"></iframe>'
        )


def saving_to(page: Page, address: str, what_next: str = "") -> Page:
    """Let a page send decisions to an address of the server that it comes from.

    They are a POST of JSON with name, type and text of the file; the page shows the message of the
    answer, which is JSON too. Tables and charts are downloaded as before. Where the page says what
    to do with a file, it says `what_next`.
    """
    given = f'data-save-to="{escape(address)}" data-next="{escape(what_next)}"'
    html = page.html.replace("<html ", f"<html {given} ", 1)
    policy = "default-src 'none'; "
    return dataclasses.replace(page, html=html.replace(policy, f"{policy}connect-src 'self'; ", 1))


class _Options(ResamplingOptions, CorpusOptions, total=False):
    """How intervals are computed, and how annotations become a corpus."""


@documented(ResamplingOptions)
def report(
    result: Any,
    corpus: Any = None,
    *others: Any,
    title: str | None = None,
    show_texts: bool = True,
    top: int = 1000,
    digits: int = 3,
    date: str | None = None,
    coefficients: str | Collection[str] = WITHOUT_GAMMA,
    gamma: Mapping[str, Any] | None = None,
    replace: str | Sequence[str] = (),
    keep: float | None = 0.9,
    margin: float | None = 0.05,
    blind: str = "unknown",
    chance: str = "uniform",
    by: str | None = None,
    **options: Unpack[_Options],
) -> Page:
    """Write a page that a team can open, send and archive.

    Parameters
    ----------
    result : Agreement, Ranking, or annotations
        What to show; of annotations (a Corpus, or whatever one can be made of, see `corpus`),
        their agreement, or their ranking where they have a gold standard.
    corpus : Corpus, or whatever a corpus can be made of, optional
        What it was computed from; without it there are no texts, no disagreements, no
        difficulty and no other coefficients. Of annotations, a second annotator's.
    *others : optional
        The annotations of further annotators.
    title : str, optional
        The heading; by default who was compared.
    show_texts : bool
        Whether the page holds the texts; without them, offsets and labels only.
    top : int
        Documents to show in full, the most contested ones; 0 for all.
    digits : int
        Digits after the point.
    date : str, optional
        Printed below the heading. Without it the same result gives the same bytes.
    coefficients : "all" or collection of str
        Other coefficients to show too; gamma only if it is named, because of its cost.
    gamma : mapping, optional
        The parameters of gamma.
    replace : str or sequence of str, optional
        Annotators who are models: whether they may replace the others (see `replacement`). The
        rest of the page is about the others only.
    keep, margin, blind : optional
        What such a model has to show (see `replacement`).
    chance : {"uniform", "shapes"}
        With ``shapes``, a ranking also has skill and the ranks by it (see `rank`).
    by : str, optional
        Agreement of each annotator over time: "week", "month" or a field (see `diagnose`).
    {options}
    {others} : optional
        How annotations become a corpus (see `corpus`).

    Returns
    -------
    Page

    Examples
    --------
    >>> from beyondchance import agreement, example
    >>> page = report(agreement(example()), example(), resamples=99)
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """
    checked_whole("top", top)
    checked_whole("digits", digits, most=15)
    templates()  # refused at once where it is missing, not after all the work
    known = declared(ResamplingOptions)
    resampling: Any = {name: value for name, value in options.items() if name in known}
    reading = {name: value for name, value in options.items() if name not in known}
    if not isinstance(result, Agreement | Ranking):
        given = () if corpus is None else (corpus, *others)
        corpus = corpus_of(result, given, reading)
        result = agreement(corpus) if corpus.gold is None else rank(corpus)
    elif reading.get("anonymous"):
        problem = Use("anonymous", is_name=True), " is for annotations, and this is a result"
        remedy = "pass corpus.anonymous() to what makes the result, and here"
        raise OptionError(*problem, remedy=remedy)
    elif corpus is not None:
        corpus = corpus_of(corpus, others, reading)
    elif reading:
        name = Use(next(iter(reading)), is_name=True)
        raise OptionError(name, " needs annotations", expected="a corpus next to the result")
    models = checked_list("replace", replace)
    if models and (corpus is None or isinstance(result, Ranking) or result.settings.custom):
        raise OptionError(
            Use("replace", is_name=True),
            " needs annotators who are compared with each other by a measure of this package",
            expected="annotations, not counts, and no gold standard that all are compared with",
        )
    models = [*map(short_names(() if corpus is None else corpus.annotators).get, models, models)]
    result, corpus = for_sending(result, corpus)
    informed: dict[str, Ranking] = {}
    if checked_option("chance", chance, ("uniform", "shapes")) == "shapes":
        if corpus is None or not isinstance(result, Ranking):
            problem = Use("chance", chance), " is for rankings of annotations on this page"
            raise OptionError(*problem, expected="a gold standard, and no counts")
        asked = {"gold": result.gold, "scope": result.settings.scope, "chance": chance}
        names = dict.fromkeys([str(result.settings.measure), *MAIN])
        informed = {name: rank(corpus, **{**asked, "measure": name}) for name in names}
    if corpus is not None and not show_texts:
        # Words of patterns would be words of texts.
        corpus = dataclasses.replace(corpus, texts=None, token_start=None, token_end=None)
    found = overview(
        result,
        corpus,
        others=coefficients,
        gamma=gamma,
        models=models,
        asked={"keep": keep, "margin": margin, "blind": blind},
        informed=informed,
        by=by,
        **resampling,
    )
    if by is not None and found.diagnosis is None:
        raise OptionError(
            Use("by", by), " needs annotations by document, not counts or unit corpus"
        )
    html, charts = written(found, title=title, texts=show_texts, top=top, digits=digits, date=date)
    return Page(html, charts, result.sources.union(() if corpus is None else corpus.sources))
