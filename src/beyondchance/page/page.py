"""The page: one file with styles, scripts, charts, tables and texts inside."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from math import isnan
from typing import Any, NamedTuple

from beyondchance.errors import MissingLibraryError
from beyondchance.numbers import in_digits
from beyondchance.page.documents import document_view, safe_json
from beyondchance.page.figures import inline_svg, unchecked, warm_up
from beyondchance.page.gather import Overview
from beyondchance.page.sections import (
    Chart,
    NamedTable,
    Notes,
    Part,
    Section,
    Texts,
    known,
    sections,
)
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import (
    Amount,
    Cell,
    Prose,
    Range,
    Report,
    cell_text,
    in_list,
    score_cells,
)
from beyondchance.reporting.commands.agree import agree_report, overall_table
from beyondchance.reporting.commands.rank import Sureness, by_rank, rank_report
from beyondchance.reporting.intervals import CAUTION, Scores, interval_heading, json_intervals
from beyondchance.reporting.outputs import json as json_output
from beyondchance.results.score import Score
from beyondchance.settings import Settings
from beyondchance.version import __version__

_HALF = re.compile("[\ud800-\udfff]")
_STYLES = ("page.css", "charts.css", "documents.css")
_SCRIPTS = ("page.js", "documents.js")
_WHAT = {
    "observed": "agreement as it was found",
    "chance": "what random annotators with spans of the same lengths would reach",
    "corrected": "0 is luck, 1 is full agreement",
}


def written(
    found: Overview,
    *,
    title: str | None = None,
    texts: bool = True,
    top: int = 1000,
    digits: int = 3,
    date: str | None = None,
) -> tuple[str, dict[str, Any]]:
    """The page, and the charts in it by name.

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
    jinja2 = _jinja2()
    safe = jinja2.utils.markupsafe.Markup
    view = None
    if found.found is not None:
        view = document_view(found.found, texts=texts, top=top or len(found.found.documents))
    with unchecked():
        made = sections(found, view, digits=digits)
    report = _report(found, digits)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    scripts = [_file(name) for name in _SCRIPTS]
    html = environment.from_string(_file("page.html")).render(
        title=title or _title(found),
        date=date,
        version=__version__,
        style=safe("\n".join(_file(name) for name in _STYLES)),
        scripts=[safe(script) for script in scripts],
        script_hashes=" ".join(f"'sha256-{_hash(script)}'" for script in scripts),
        answer=_answer(found, digits),
        numbers=list(_numbers(found, digits)),
        facts=[_shown(part, digits, safe) for part in _facts(found, report)],
        signature=report.data["signature"],
        sections=[
            {
                "name": section.name,
                "title": section.title,
                "parts": [_shown(part, digits, safe) for part in section.parts],
            }
            for section in made
        ],
        result=safe(safe_json(json_output.rendered(report, digits=digits))),
        documents=safe(view.payload) if view is not None else None,
    )
    # Half of a surrogate pair, from a file's name or by mistake, cannot be written.
    return _HALF.sub("\ufffd", html), dict(_charts(made))


def prepare() -> None:
    """Load what a page needs, and refuse at once, not after all the work, where it is missing.

    Raises
    ------
    MissingLibraryError
    """
    _jinja2()
    warm_up()


def _jinja2() -> Any:
    try:
        import jinja2  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingLibraryError(
            f"a page needs the library {error.name}; install it with: "
            "pip install 'beyondchance[report]'"
        ) from None
    return jinja2


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


def _charts(made: Sequence[Section]) -> Iterator[tuple[str, Any]]:
    for section in made:
        for part in section.parts:
            if isinstance(part, Chart):
                yield part.name, part.drawn


# --- What stands first --------------------------------------------------------


def _report(found: Overview, digits: int) -> Report:
    """The same result as the command line gives it."""
    if found.corpus is None:
        score, intervals = _best(found)
        standings = next(iter(found.standings.values()), None)
        settings = (
            standings.settings if standings else next(iter(found.intervals.values())).settings
        )
        data = {"signature": str(settings), **score.to_dict(), **json_intervals(intervals)}
        return Report(command="report", blocks=(), data=data)
    if not found.rankings:
        return agree_report(
            found.results, found.corpus, intervals=found.intervals, top=0, digits=digits
        )
    # Labels of systems have no intervals here: they would take longer than all the rest.
    sureness = {
        name: Sureness(standings=standings, labels={})
        for name, standings in found.standings.items()
    }
    return rank_report(found.rankings, found.corpus, sureness=sureness, digits=digits)


def _signed(found: Overview) -> Settings:
    """How everything was computed, intervals included."""
    if found.standings:
        return next(iter(found.standings.values())).settings
    return next(iter(found.intervals.values())).settings


def _best(found: Overview) -> tuple[Score, Scores]:
    """The score that stands first, with its intervals: of everybody, or of the best system."""
    if not found.rankings:
        measure, result = next(iter(found.results.items()))
        return result.score, found.intervals[measure].overall
    measure, ranking = next(iter(found.rankings.items()))
    name = by_rank(ranking)[0]
    return ranking.systems[name].score, found.standings[measure].intervals[name]


def _who(found: Overview) -> str:
    """Those who were compared; beside a gold standard, all but it."""
    if found.rankings:
        return in_list(by_rank(next(iter(found.rankings.values()))))
    annotators = next(iter(found.results.values())).counts.annotators
    return in_list([name for name in annotators if name != found.gold])


def _title(found: Overview) -> str:
    if found.gold is None:
        return f"Agreement of {_who(found)}"
    return f"{_who(found)} against {found.gold}"


def _answer(found: Overview, digits: int) -> str:
    """The result in a sentence or two."""
    score, _ = _best(found)
    if score.reason is not None:
        return f"The corrected score is undefined: {score.reason}."
    observed, chance, corrected = (in_digits(value, digits) for value in score_cells(score))
    who, gold = _who(found), "" if found.gold is None else f" with {found.gold}"
    if found.rankings:
        best, *others = by_rank(next(iter(found.rankings.values())))
        agree = f"{best} agrees {'best ' if others else ''}{gold.strip()}"
    else:
        agree = f"{who} agree{gold}"
    return (
        f"{agree}: {observed} observed, {chance} by luck alone, {corrected} with luck taken out. "
        f"{words.effect(score, digits)}"
    )


class _Number(NamedTuple):
    """One of the three numbers that stand first."""

    name: str
    value: float
    text: str
    interval: str
    low: float
    high: float
    reason: str
    what: str


def _numbers(found: Overview, digits: int) -> Iterator[_Number]:
    score, intervals = _best(found)
    settings = _signed(found)
    for name, what in _WHAT.items():
        value, interval = getattr(score, name), intervals[name]
        low, high = (in_digits(end, digits) for end in (interval.low, interval.high))
        star = "*" if interval.caution else ""
        shown = "" if interval.reason else f"{interval_heading(settings)}: {low} to {high}{star}"
        yield _Number(
            name=name,
            value=value,
            text=in_digits(value, digits),
            interval=shown,
            low=interval.low,
            high=interval.high,
            reason=f"no interval: {interval.reason}" if interval.reason else "",
            what=what,
        )


def _facts(found: Overview, report: Report) -> Iterator[Part]:
    """What was compared, how, what was left out, and what else to know."""
    if found.corpus is None:
        yield Prose(
            "Without the corpus: no texts, disagreements, difficulty or other coefficients."
        )
        return
    # The sentences of the command line, without its tables: those have sections of their own.
    first, *rest = [block for block in report.blocks if isinstance(block, Prose)]
    yield first
    if not found.rankings:
        yield NamedTable("agreement", overall_table(found.results, known(found)))
    wanted = ("Intervals: ", "Left out or changed: ")
    said = [block for block in rest if block.text.startswith(wanted)]
    yield from said
    if _has_stars(found) and not any("*" in block.text for block in said):
        yield Prose("* few documents tell how wide it is: probably too narrow.")
    # The sentence on intervals has said what to think of them.
    notes = [note for note in report.notes if not note.startswith(CAUTION)]
    if notes:
        yield Notes(words.condensed(notes))


def _has_stars(found: Overview) -> bool:
    """Whether an interval on the page asks for caution."""
    _, best = _best(found)
    shown = [
        best,
        *(scores for item in found.intervals.values() for scores in item.by_label.values()),
    ]
    return any(interval.caution for scores in shown for interval in scores.values())


# --- Values for the template --------------------------------------------------


class _Cell(NamedTuple):
    """A cell of a table; `value` has all digits, for sorting and saving."""

    text: str
    value: str | None
    href: str | None
    is_name: bool
    is_left: bool


def _shown(part: Part, digits: int, safe: Any) -> dict[str, Any]:
    """A part as plain values."""
    match part:
        case Prose(text, quiet):
            return {"kind": "prose", "text": text, "quiet": quiet}
        case Notes(texts):
            return {"kind": "list", "texts": texts}
        case Chart(name, drawn):
            return {"kind": "chart", "name": name, "svg": safe(inline_svg(drawn, name=name))}
        case Texts(view):
            return {"kind": "documents", "static": safe(view.static)}
        case NamedTable(name, table, links):
            left = [table.is_left(column) for column in range(len(table.headings))]
            return {
                "kind": "table",
                "name": name,
                "title": table.title,
                "remark": table.remark,
                "headings": [
                    {"text": heading, "is_left": is_left or not column}
                    for column, (heading, is_left) in enumerate(
                        zip(table.headings, left, strict=True)
                    )
                ],
                "rows": [
                    [
                        _Cell(
                            text=cell_text(cell, digits),
                            value=_full(cell),
                            href=links[number] if links and not column else None,
                            is_name=not column,
                            is_left=left[column],
                        )
                        for column, cell in enumerate(row)
                    ]
                    for number, row in enumerate(table.rows)
                ],
            }


def _full(cell: Cell) -> str | None:
    """All digits of a number."""
    if isinstance(cell, Range):
        return "" if isnan(cell.low) else f"{cell.low!r} to {cell.high!r}"
    if isinstance(cell, Amount):
        return repr(cell.value)
    if isinstance(cell, float):
        return "" if isnan(cell) else repr(cell)
    return str(cell) if isinstance(cell, int) else None
