"""The page: one file with styles, scripts, charts, tables and texts inside."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.resources import files
from math import isnan
from typing import Any

from beyondchance.installing import required
from beyondchance.messages import PYTHON, Note, Use, Voice, spoken
from beyondchance.page.actions import actions
from beyondchance.page.documents import HALF, document_view, safe_json
from beyondchance.page.gather import Overview
from beyondchance.page.sections import (
    Folded,
    NamedTable,
    Notes,
    Part,
    Section,
    Signature,
    paper_section,
    sections,
)
from beyondchance.page.svg import Chart
from beyondchance.reporting import blocks, sentences
from beyondchance.reporting.blocks import counted
from beyondchance.reporting.breakdown import SCORE, Row
from beyondchance.reporting.citations import LIMITS
from beyondchance.reporting.columns import interval_heading
from beyondchance.reporting.commands import agree, rank
from beyondchance.reporting.outputs import json as json_output
from beyondchance.results.agreement import Agreement
from beyondchance.results.intervals import ConfidenceInterval
from beyondchance.results.ranking import Ranking
from beyondchance.scoring.options import words_of
from beyondchance.version import __version__

_STYLES = ("page.css", "charts.css", "documents.css")
_SCRIPTS = ("page.js", "documents.js", "decide.js")
"""For every page, for documents, and for deciding; each needs those before it."""
_COMMENT = re.compile(r"^\s*/\*.*?\*/$", re.DOTALL | re.MULTILINE)
MOST_NAMES = 3
"""Annotators that are named in the heading; more are counted."""
LONG_NAME = 24
"""Characters; longer names are cut where they are shown, and whole under the pointer."""


def in_words(use: Use) -> str:
    """Name an option for readers of a page, who have no command at hand.

    Examples
    --------
    >>> in_words(Use("method", "expanded")), in_words(Use("rename_label"))
    ("the method 'expanded'", 'the option rename label')
    """
    name = use.option.replace("_", " ")
    return f"the option {name}" if use.value is None else f"the {name} {use.value!r}"


PAGE = Voice(in_words)


def written(
    found: Overview,
    *,
    title: str | None = None,
    texts: bool = True,
    top: int = 1000,
    digits: int = 3,
    date: str | None = None,
) -> tuple[str, dict[str, Chart]]:
    """Write the page; return it and its charts by name.

    Parameters
    ----------
    found : Overview
    title : str, optional
        The heading; by default who was compared.
    texts : bool
        Whether the page holds the texts.
    top : int
        Documents to show in full, the most contested ones; 0 for all.
    digits : int
        Digits after the point.
    date : str, optional
        Printed below the heading.
    """
    jinja2 = templates()
    safe = jinja2.utils.markupsafe.Markup
    view = None
    if found.disagreements is not None:
        most = top or len(found.disagreements.documents)
        view = document_view(found.disagreements, texts=texts, top=most)
    made = sections(found, view, digits=digits)
    report = _report(found, digits)
    voice, words = (PAGE, PYTHON) if texts else (PAGE.without_quotes(), PYTHON.without_quotes())
    details = [
        _computed(found, report.signature or ""),
        *_to_know(found, report.notes, voice),
        *(section for section in made if section.is_detail),
        paper_section(report, digits=digits),
    ]
    made = [section for section in made if not section.is_detail]
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FunctionLoader(_file),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "full": _full,
        "in_digits": partial(blocks.cell_text, digits=digits),
        "kind": lambda part: type(part).__name__,
        "laid_out": _laid_out,
        "named": _naming(_names(found), safe),
        "spoken": partial(spoken, voice=voice),
        "track": _track_of,
    }
    is_decided = view is not None and view.is_decided
    steps = actions(found, is_decided=is_decided)
    n_scripts = 1 + (view is not None) + is_decided
    scripts = [compact(_file(name)) for name in _SCRIPTS[:n_scripts]]
    html = environment.from_string(_file("page.html")).render(
        title=title or _title(found),
        date=date,
        version=__version__,
        style=safe(compact("\n".join(_file(name) for name in _STYLES))),
        scripts=[safe(script) for script in scripts],
        script_hashes=" ".join(f"'sha256-{_hash(script)}'" for script in scripts),
        about=_about(found),
        answer=_answer(found).replace(" %", "\u00a0%"),
        meaning=_meaning(found, digits),
        numbers=list(_numbers(found)),
        actions=steps,
        is_agreed=is_decided and not steps and found.result.n_spans > 0,
        interval_heading=interval_heading(found.settings),
        has_notes=any(section.name == "notes" for section in details),
        sections=made,
        details=details,
        result=safe(safe_json(json_output.rendered(report, words))),
        documents=safe(view.payload) if view is not None else None,
    )
    parts = [part for section in (*made, *details) for part in section.parts]
    parts += [part for folded in parts if isinstance(folded, Folded) for part in folded.parts]
    charts = {part.name: part for part in parts if isinstance(part, Chart)}
    # Half of a surrogate pair, from a file's name or by mistake, cannot be written.
    return HALF.sub("\ufffd", html), charts


def templates() -> Any:
    """Import the library that writes the page.

    Raises
    ------
    MissingLibraryError
        If it is not installed.
    """
    return required("jinja2", extra="report", purpose="a page")


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def compact(code: str) -> str:
    r"""Strip indentation and comments on lines of their own from a script or style.

    No string goes on over several lines in our scripts.

    >>> compact("f();\n  // why\n  g();\n"), compact("/* a\n b */\n  p { margin: 0 }\n")
    ('f();\ng();\n', 'p { margin: 0 }\n')
    """
    lines = (line.strip() for line in _COMMENT.sub("", code).splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def _hash(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


# --- What stands first --------------------------------------------------------


def _report(found: Overview, digits: int) -> blocks.Report:
    """Return the report of the command, for JSON and for a paper."""
    if found.rankings:
        # Labels of systems have no intervals here: they would take longer than all the rest.
        sureness = {
            name: rank.Sureness(standings=standings) for name, standings in found.standings.items()
        }
        made = rank.rank_report(found.rankings, found.corpus, sureness=sureness, digits=digits)
    else:
        made = agree.agree_report(
            found.results, found.corpus, intervals=found.intervals, top=0, digits=digits
        )
    if found.corpus is not None:
        return made
    best = _best(found)
    return replace(
        made,
        command="report",
        notes=(),
        skipped=None,
        group=None,
        make_data=lambda: SCORE.make(best),
    )


def _best(found: Overview) -> Row:
    """Return the score of all annotators, or of the best system, with its intervals."""
    if found.rankings:
        return found.leaderboard[0]
    return found.breakdown.rows[0]


def _compared(found: Overview) -> list[str]:
    """Return the annotators who were compared, without the gold standard."""
    if found.rankings:
        return [row.shown for row in found.leaderboard]
    return [name for name in found.result.counts.annotators if name != found.gold]


def _names(found: Overview) -> set[str]:
    """Return all names of annotators and systems on the page."""
    people = () if found.corpus is None else found.corpus.annotators
    models = () if found.replacement is None else found.replacement.models
    return {*_compared(found), found.gold or "", *people, *models}


def _who(found: Overview) -> str:
    """Name the annotators who were compared, or count them if they are many."""
    names = _compared(found)
    if len(names) <= MOST_NAMES:
        return blocks.in_list(names)
    return counted(len(names), "annotator")


def _title(found: Overview) -> str:
    if found.gold is None:
        return f"Agreement of {_who(found)}"
    return f"{_who(found)} against {found.gold}"


def _about(found: Overview) -> str:
    """Say in one line who was compared on what."""
    if found.rankings:
        ranking = next(iter(found.rankings.values()))
        extent, n_spans = ranking.extent, rank.n_spans_of(ranking)
    else:
        extent, n_spans = found.result.extent, found.result.n_spans
    parts = [sentences.texts_of(extent), counted(n_spans, "span")]
    names = _compared(found)
    if not found.rankings and len(names) > MOST_NAMES:
        parts.insert(0, blocks.in_list(names))
    return " · ".join(parts)


def _answer(found: Overview) -> str:
    """Say how high agreement is, and which system is ahead; or that nothing was marked."""
    if not _best(found).score.n_spans:
        return "Nothing was marked."
    if found.rankings:
        said = rank.verdict(str(found.gold), found.systems, sentences.by_measure), _ahead(found)
        return " ".join(filter(None, said))
    return agree.verdict(found.breakdown, [_who(found)], {}, sentences.by_measure)


def _meaning(found: Overview, digits: int) -> str:
    """Say what to know before using the scores."""
    if found.rankings:
        return f"{sentences.REPORT} {sentences.across_corpora(found.settings.positions)}"
    return agree.meaning(found.breakdown, digits)


def _ahead(found: Overview) -> str:
    """Say whether the best system is significantly ahead; nothing if it was not tested."""
    best, (measure, standings) = _best(found).shown, next(iter(found.standings.items()))
    neighbours = sentences.neighbours(standings)
    if not neighbours or isnan(standings.adjusted[neighbours[0][0]]):
        return ""
    groups = [group for group in standings.groups if best in group]
    alike = {name for group in groups for name in group if name != best}
    tested = f"on {sentences.tested_on(standings)}"
    by = f"By {sentences.by_measure(measure, found.settings.positions)}, {best} is"
    if not alike:
        return f"{by} significantly ahead of all others {tested}."
    ties = blocks.in_list([name for name in standings.order if name in alike], MOST_NAMES)
    return f"{by} not significantly ahead of {ties} {tested}."


def _numbers(found: Overview) -> Iterator[dict[str, Any]]:
    """Yield the numbers at the top of the page, the corrected one first."""
    best, positions = _best(found), found.settings.positions

    def number(row: Row, name: str, key: str, title: str, what: str) -> dict[str, Any]:
        value, interval = getattr(row.score, key), row.intervals[key]
        track = _track(value, interval.low, interval.high) if name == "corrected" else None
        return {
            "name": name,
            "title": title,
            "value": value,
            "interval": interval,
            "what": what,
            "track": track,
        }

    by, what = _measured(best, positions)
    n, first = len(_compared(found)), "Agreement"
    if found.rankings:
        first = f"{best.shown}{f', best of {n}' if n > 1 else ''}:"
    elif n > 2:
        what = f"{what}, pair by pair"
    title, what = (
        f"{first} corrected for chance, by {by}",
        f"{what}; 0 is chance, 1 is full agreement",
    )
    yield number(best, "corrected", "corrected", title, what)
    yield number(best, "observed", "observed", f"Observed, by {by}", "agreement as it was found")
    yield number(best, "chance", "chance", f"Chance, by {by}", "random spans of the same lengths")
    for row in _by_others(found, best):
        by, what = _measured(row, positions)
        yield number(row, "other", "corrected", f"Corrected, by {by}", what)


def _measured(row: Row, positions: str) -> tuple[str, str]:
    """Return what a score is by, and what that counts."""
    counts = words_of(row.measure)[0].format(positions=positions)
    return sentences.by_measure(row.measure, positions), counts or "a measure of its own"


def _by_others(found: Overview, best: Row) -> list[Row]:
    """Return the same score by the next measure, if there is one."""
    rows = found.breakdown.of("all")
    if found.rankings:
        rows = [row for each in found.systems.values() for row in each if row.name == best.name]
    return [row for row in rows if row.measure != best.measure][:1]


def _track(value: float, low: float, high: float) -> dict[str, str] | None:
    """Return the places of a score and its interval from 0 to 1, in percent; nothing if outside."""
    if isnan(value) or not 0 <= value <= 1:
        return None
    if isnan(low):
        low = high = value
    low, high = (100 * min(max(end, 0.0), 1.0) for end in (low, high))
    return {"at": f"{100 * value:.1f}", "low": f"{low:.1f}", "width": f"{high - low:.1f}"}


# --- Details ------------------------------------------------------------------


def _computed(found: Overview, signature: str) -> Section:
    """Say what was compared and how, with the signature."""
    parts: list[Part] = []
    if found.corpus is None:
        parts.append(
            blocks.Prose(
                "Without the corpus: no diagnosis, texts, disagreements, difficulty or other "
                "coefficients."
            )
        )
    elif found.rankings:
        ranking = next(iter(found.rankings.values()))
        parts.append(blocks.Prose(rank.compared(ranking, ranking.settings.positions)))
    else:
        result = found.result
        who = blocks.in_list(result.counts.annotators)
        positions = result.settings.positions
        text = sentences.compared(who, result.extent, result.n_spans, positions)
        parts += [blocks.Prose(text), NamedTable("agreement", agree.overall_table(found.breakdown))]
    shown = _shown_intervals(found)
    parts += [blocks.Prose(sentences.how_made(shown[0][1], found.settings))] if shown else []
    parts.append(Signature(signature))
    parts.append(blocks.Prose(LIMITS))
    return Section("methods", "How it was computed", parts, is_detail=True)


def _to_know(found: Overview, notes: Sequence[Note], voice: Voice) -> Iterator[Section]:
    """Say what was left out or mended, and what else to know."""
    if found.corpus is None:
        return
    shown = _shown_intervals(found)
    said = (sentences.star(_starred(found, shown)), *sentences.missing(shown))
    parts: list[Part] = [blocks.Prose(text) for text in said if text]
    results: list[Ranking | Agreement] = [*found.rankings.values(), *found.results.values()]
    skipped = blocks.skipped_sentences(results[0].skipped, results[0].extent.noun)
    parts += map(blocks.Prose, skipped)
    # What to think of the intervals is said above.
    others = sentences.condensed((note for note in notes if not note.is_caution), voice)
    if others:
        parts.append(Notes(others))
    if parts:
        yield Section("notes", "Notes and cautions", parts, is_detail=True)


def _shown_intervals(found: Overview) -> Sequence[tuple[str, ConfidenceInterval]]:
    """Return the intervals that tables show, by name."""
    if found.rankings:
        return sentences.shown_of(next(iter(found.standings.values())))
    return agree.shown_intervals(found.breakdown)


def _starred(
    found: Overview, shown: Sequence[tuple[str, ConfidenceInterval]]
) -> Iterator[ConfidenceInterval]:
    """Yield the intervals on the page, which may have a star."""
    yield from (interval for _, interval in shown)
    yield from _best(found).intervals.values()
    for row in found.breakdown.of("label"):
        yield from row.intervals.values()


# --- Values for the template --------------------------------------------------


def _naming(names: Iterable[str], safe: Any) -> Callable[[str], Any]:
    """Return a function that writes text as HTML, where long names are cut except for the pointer.

    The whole name stays in the text, for those who search, copy or listen.
    """
    long = sorted((name for name in names if len(name) > LONG_NAME), key=len, reverse=True)
    if not long:
        return safe.escape  # type: ignore[no-any-return]
    cut = safe('<bdi class="name" title="{0}">{0}</bdi>')

    def named(text: str) -> Any:
        made = safe()
        # The first name in the text; of several there, the longest.
        while found := [name for name in long if name in text]:
            name = min(found, key=text.find)
            before, _, text = text.partition(name)
            made += safe.escape(before) + cut.format(name)
        return made + safe.escape(text)

    return named


def _laid_out(table: blocks.Table) -> dict[str, Any]:
    """Put corrected scores, and their intervals, right after the names of a table.

    Returns its headings and rows in this order, which columns are words, and whether it has
    corrected scores.
    """
    headings = list(table.headings)
    order = list(range(len(headings)))
    lead = headings.index("corrected") if "corrected" in headings else 0
    is_led = bool(lead) and all(isinstance(row[lead], float) for row in table.rows)
    if is_led:
        has_ranges = any(
            isinstance(cell, blocks.Range)
            for row in table.rows
            for cell in row[lead + 1 : lead + 2]
        )
        first = [0, lead, *([lead + 1] if has_ranges else [])]
        order = [*first, *(column for column in order if column not in first)]
    return {
        "headings": [headings[column] for column in order],
        "rows": [[row[column] for column in order] for row in table.rows],
        "left": [table.left[column] for column in order],
        "is_led": is_led,
    }


def _track_of(row: Sequence[Any]) -> dict[str, str] | None:
    """Return where the corrected score of a row is, if the next cell is its interval."""
    _, score, interval, *_ = row
    return (
        _track(score, interval.low, interval.high) if isinstance(interval, blocks.Range) else None
    )


def _full(cell: blocks.Cell) -> str | None:
    """Return all digits of a number, for sorting and saving."""
    if isinstance(cell, blocks.Range):
        return "" if isnan(cell.low) else f"{cell.low!r} to {cell.high!r}"
    if isinstance(cell, blocks.Amount | blocks.Below):
        return repr(cell.value)
    if isinstance(cell, float):
        return "" if isnan(cell) else repr(cell)
    return str(cell) if isinstance(cell, int) else None
