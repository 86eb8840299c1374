"""The page: one file with styles, scripts, charts, tables and texts inside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from math import isnan
from typing import Any

from beyondchance.messages import PYTHON, Note, Use, Voice, spoken
from beyondchance.numbers import in_digits
from beyondchance.page.documents import HALF, document_view, safe_json
from beyondchance.page.figures import inline_svg, library, unchecked, warm_up
from beyondchance.page.gather import Overview
from beyondchance.page.sections import (
    Bar,
    Chart,
    Findings,
    Folded,
    NamedTable,
    Notes,
    Part,
    Texts,
    paper_section,
    sections,
)
from beyondchance.reporting import blocks, sentences
from beyondchance.reporting.breakdown import Row, interval_heading, json_intervals
from beyondchance.reporting.commands import agree, rank
from beyondchance.reporting.methods import methods_of_agreement, methods_of_ranking
from beyondchance.reporting.outputs import json as json_output
from beyondchance.reporting.paragraphs import Paragraph
from beyondchance.results.intervals import ConfidenceInterval
from beyondchance.version import __version__

_STYLES = ("page.css", "charts.css", "documents.css")
_SCRIPTS = ("page.js", "documents.js")
_WHAT = {
    "observed": "agreement as it was found",
    "chance": "what random annotators with spans of the same lengths would reach",
    "corrected": "0 is chance agreement, 1 is full agreement",
}


def in_words(use: Use) -> str:
    """An option for readers of a page, who have no command at hand.

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
    jinja2 = library("jinja2", "a page")
    safe = jinja2.utils.markupsafe.Markup
    view = None
    if found.disagreements is not None:
        most = top or len(found.disagreements.documents)
        view = document_view(found.disagreements, texts=texts, top=most)
    with unchecked():
        made = sections(found, view, digits=digits)
    report = _report(found, digits)
    made.append(paper_section(report, digits=digits))
    voice, words = (PAGE, PYTHON) if texts else (PAGE.without_quotes(), PYTHON.without_quotes())
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
        facts=[_shown(part, digits, safe, voice) for part in _facts(found, report.notes, voice)],
        signature=report.signature,
        sections=[
            {
                "name": section.name,
                "title": section.title,
                "parts": [_shown(part, digits, safe, voice) for part in section.parts],
            }
            for section in made
        ],
        result=safe(safe_json(json_output.rendered(report, words))),
        documents=safe(view.payload) if view is not None else None,
    )
    parts = [part for section in made for part in section.parts]
    charts = {part.name: part.drawn for part in parts if isinstance(part, Chart)}
    # Half of a surrogate pair, from a file's name or by mistake, cannot be written.
    return HALF.sub("\ufffd", html), charts


def prepare() -> None:
    """Load what a page needs, and refuse at once, not after all the work, where it is missing.

    Raises
    ------
    MissingLibraryError
    """
    library("jinja2", "a page")
    warm_up()


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


# --- What stands first --------------------------------------------------------


def _report(found: Overview, digits: int) -> blocks.Report:
    """The result for JSON, as the commands give it, and for a paper."""
    if found.rankings or found.breakdown is None:
        # Labels of systems have no intervals here: they would take longer than all the rest.
        sureness = {
            name: rank.Sureness(standings=standings) for name, standings in found.standings.items()
        }
        made = rank.rank_report(found.rankings, found.corpus, sureness=sureness, digits=digits)
    else:
        result, breakdown = next(iter(found.results.values())), found.breakdown
        made = blocks.Report(
            command="agree",
            corpus=found.corpus,
            signature=str(found.settings),
            notes=tuple(agree.agree_notes(found.corpus, result, breakdown)),
            skipped=dict(result.skipped),
            make_data=lambda: agree.agree_data(breakdown),
            make_paper=lambda: agree.agree_paper(result, breakdown, found.corpus),
            make_methods=lambda: _methods(found, digits),
        )
    if found.corpus is not None:
        return made
    best = _best(found)
    return replace(
        made,
        command="report",
        notes=(),
        skipped=None,
        make_data=lambda: {**best.score.to_dict(), **json_intervals(best.intervals)},
        make_methods=lambda: _methods(found, digits),
    )


def _methods(found: Overview, digits: int) -> Paragraph:
    """What a paper says about how it was computed."""
    if found.rankings:
        name, ranking = next(iter(found.rankings.items()))
        return methods_of_ranking(
            ranking, found.standings[name], corpus=found.corpus, digits=digits
        )
    name, result = next(iter(found.results.items()))
    return methods_of_agreement(result, found.intervals[name], corpus=found.corpus, digits=digits)


def _best(found: Overview) -> Row:
    """The score that stands first, with its intervals: of all annotators, or the best system."""
    if found.rankings or found.breakdown is None:
        return next(iter(found.systems.values()))[0]
    return found.breakdown.rows[0]


def _who(found: Overview) -> str:
    """Those who were compared; with a gold standard, all but it."""
    if found.rankings:
        return blocks.in_list([row.shown for row in next(iter(found.systems.values()))])
    annotators = next(iter(found.results.values())).counts.annotators
    return blocks.in_list([name for name in annotators if name != found.gold])


def _title(found: Overview) -> str:
    if found.gold is None:
        return f"Agreement of {_who(found)}"
    return f"{_who(found)} against {found.gold}"


def _answer(found: Overview, digits: int) -> str:
    """The result in a sentence or two."""
    best = _best(found)
    if best.score.reason is not None:
        return sentences.meaning(best.score)
    observed, chance, corrected = (in_digits(getattr(best.score, name), digits) for name in _WHAT)
    if found.rankings:
        superlative = "best " if len(next(iter(found.systems.values()))) > 1 else ""
        finding = f"{best.shown} agrees {superlative}with {found.gold}"
    else:
        finding = f"{_who(found)} agree{'' if found.gold is None else f' with {found.gold}'}"
    interval = best.intervals["corrected"]
    beside = sentences.beside_interval(best.score, interval, found.settings, digits)
    answer = (
        f"{finding}: {observed} observed, {chance} expected by chance, {corrected} corrected for "
        f"chance. {sentences.effect(best.score, digits)} {beside}"
    )
    return answer.rstrip()


def _numbers(found: Overview, digits: int) -> Iterator[dict[str, Any]]:
    """The three numbers that stand first."""
    best = _best(found)
    for name, what in _WHAT.items():
        value, interval = getattr(best.score, name), best.intervals[name]
        low, high = (in_digits(end, digits) for end in (interval.low, interval.high))
        star = "*" if interval.caution else ""
        heading = interval_heading(found.settings)
        shown = "" if interval.reason else f"{heading}: {low} to {high}{star}"
        yield {
            "name": name,
            "value": value,
            "text": in_digits(value, digits),
            "interval": shown,
            "low": interval.low,
            "high": interval.high,
            "reason": f"no interval: {interval.reason}" if interval.reason else "",
            "what": what,
        }


def _facts(found: Overview, notes: Sequence[Note], voice: Voice) -> Iterator[Part]:
    """What was compared, how, what was left out, and what else to know."""
    if found.corpus is None:
        yield blocks.Prose(
            "Without the corpus: no diagnosis, texts, disagreements, difficulty or other "
            "coefficients."
        )
        return
    if found.rankings or found.breakdown is None:
        measure, ranking = next(iter(found.rankings.items()))
        yield blocks.Prose(rank.compared(ranking, found.corpus))
        shown = sentences.shown_of(found.standings[measure])
        skipped = dict(ranking.skipped)
    else:
        result = next(iter(found.results.values()))
        who = blocks.in_list(result.counts.annotators)
        extent = sentences.extent_of(result.counts, found.corpus)
        yield blocks.Prose(sentences.compared(found.corpus, who, extent, result.n_spans))
        yield NamedTable("agreement", agree.overall_table(found.breakdown))
        shown = agree.shown_intervals(found.breakdown)
        skipped = dict(result.skipped)
    yield blocks.Prose(
        sentences.joined(
            (
                sentences.how_made(shown[0][1], found.settings),
                sentences.star(_starred(found, shown), found.settings),
                *sentences.missing(shown),
            )
        )
    )
    yield from map(blocks.Prose, blocks.skipped_sentences(skipped))
    # What to think of the intervals is said above.
    others = sentences.condensed((note for note in notes if not note.is_caution), voice)
    if others:
        yield Notes(others)


def _starred(
    found: Overview, shown: Sequence[tuple[str, ConfidenceInterval]]
) -> Iterator[ConfidenceInterval]:
    """The intervals on the page, which may have a star."""
    yield from (interval for _, interval in shown)
    yield from _best(found).intervals.values()
    for row in found.breakdown.of("label") if found.breakdown is not None else ():
        yield from row.intervals.values()


# --- Values for the template --------------------------------------------------


def _shown(part: Part, digits: int, safe: Any, voice: Voice) -> dict[str, Any]:
    """A part as plain values."""
    match part:
        case blocks.Prose(text, quiet):
            return {"kind": "prose", "text": spoken(text, voice), "quiet": quiet}
        case Notes() | Folded() | Bar() | Findings():
            return {"kind": type(part).__name__.lower(), **part._asdict()}
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
                    {"text": heading, "is_left": left[column] or not column}
                    for column, heading in enumerate(table.headings)
                ],
                "rows": [
                    [
                        {
                            "text": blocks.cell_text(cell, digits),
                            "value": _full(cell),
                            "href": links[number] if links and not column else None,
                            "is_name": not column,
                            "is_left": left[column],
                        }
                        for column, cell in enumerate(row)
                    ]
                    for number, row in enumerate(table.rows)
                ],
            }


def _full(cell: blocks.Cell) -> str | None:
    """All digits of a number, for sorting and saving."""
    if isinstance(cell, blocks.Range):
        return "" if isnan(cell.low) else f"{cell.low!r} to {cell.high!r}"
    if isinstance(cell, blocks.Amount | blocks.Below):
        return repr(cell.value)
    if isinstance(cell, float):
        return "" if isnan(cell) else repr(cell)
    return str(cell) if isinstance(cell, int) else None
