"""Commands and their options: help pages, errors, progress and printing."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beyondchance.cli.main import BELOW, DATA, NEXT, USAGE, printing, say
from beyondchance.errors import BeyondChanceError, OptionError
from beyondchance.io.saving import save_file
from beyondchance.messages import COMMAND_LINE, Note, Text, Voice, spoken, unquoted
from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.escaping import visible
from beyondchance.reporting.rendering import CUT, FLAT, LIST_OUTPUTS, rendered
from beyondchance.reporting.sentences import condensed

if TYPE_CHECKING:
    from beyondchance.results.score import Score

_CLEAR = "\r\x1b[K"
"""Empties the line of a terminal."""
_PATIENCE = 1.0
"""Seconds after which a terminal shows what a command is doing."""
_REFRESH = 0.1
"""Seconds between details on a terminal."""
_LOG_EVERY = 30.0
"""Seconds between the lines of a log that say what a command is doing."""
_ALL = "beyondchance.all_options"
"""Where a context keeps whether the help page shows all options."""
_FEW_FILES = 6
"""Files up to which the next command is shown with them."""
_MANY = 12
"""Options above which ``--help`` shows everyday ones only."""


class Option(click.Option):
    """An option that belongs to a group of the help page.

    Parameters
    ----------
    group : str
    more : str
        What else there is to know, which only the page of all options says.
    is_everyday : bool
        Whether most people need it, so that ``--help`` shows it.
    is_flat : bool
        Whether a flat table shows what it asks for: if not, such outputs refuse it.
    needs : tuple of (function, str)
        Whether the values of other options make use of it, and how it is refused if not.
    """

    def __init__(
        self,
        *args: Any,
        group: str = "Output",
        more: str = "",
        is_everyday: bool = False,
        is_flat: bool = True,
        needs: tuple[Callable[[Mapping[str, Any]], Any], str] = (bool, ""),
        **settings: Any,
    ) -> None:
        self.short_help: str = settings["help"]
        settings["help"] = f"{self.short_help} {more}".strip()
        super().__init__(*args, **settings)
        self.group = group
        self.is_everyday = is_everyday
        self.is_flat = is_flat
        self.needs = needs

    def short_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return the entry of the short page, with choices behind the help, which is wider."""
        names, text = ", ".join(sorted(self.opts, key=len)), self.short_help
        extra = self.get_help_extra(ctx)
        notes = [f"default: {extra['default']}"] if "default" in extra else []
        if isinstance(self.type, click.Choice):
            names += f" {self.metavar or 'NAME'}"
            notes = [] if self.metavar else ["|".join(map(str, self.type.choices)), *notes]
        elif not self.is_flag:
            names += f" {self.make_metavar(ctx)}"
        notes += ["required"] if self.required else []
        return names, f"{text} [{'; '.join(notes)}]" if notes else text

    def check(self, params: Mapping[str, Any]) -> None:
        """Refuse the option, if it was given, where it would be ignored."""
        is_of_use, why = self.needs
        form = output_form()
        if form in FLAT and not self.is_flat:
            refuse(
                [self.name], f"cannot be shown in a list of rows ({form}); choose another --output"
            )
        if not is_of_use(params):
            refuse([self.name], why)


class Command(click.Command):
    """A command whose options are listed by groups, and whose errors are sentences.

    Its function returns a report to print, or a function to call when the work is done.

    Parameters
    ----------
    doing : str
        What is shown while it works.
    """

    def __init__(self, *args: Any, doing: str = "working", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.doing = doing
        self.options = [item for item in self.params if isinstance(item, Option)]
        self.has_short_page = len(self.options) > _MANY
        if self.has_short_page:
            reading = any(item.group == "Reading" for item in self.options)
            more = "Show all options" + (", also those of reading files" if reading else "")
            show_all = Option(
                ["--help-all"],
                is_flag=True,
                is_everyday=True,
                help=f"{more}.",
                **printing(self._all_help),
            )
            self.params.append(show_all)
            self.options.append(show_all)

    def _all_help(self, ctx: click.Context, _: bool) -> str:
        ctx.meta[_ALL] = True
        return self.get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options: the everyday ones, or all of them, each group below its heading."""
        groups = self.groups(ctx)
        if self.has_short_page and not ctx.meta.get(_ALL):
            everyday = [item.short_record(ctx) for item in self.options if item.is_everyday]
            groups = {"Options": [*everyday, groups["Output"][-1]]}
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)

    def groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return all options and their help, by the groups of the page; ``--help`` is the last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx)
            if record is not None and isinstance(item, click.Option):
                groups.setdefault(getattr(item, "group", "Output"), []).append(record)
        # How files are read concerns few users, and takes most of the page.
        return groups | ({"Reading": groups.pop("Reading")} if "Reading" in groups else {})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of a call, in which ``--strict`` alone takes no value from the next."""
        end = args.index("--") if "--" in args else len(args)
        words = ["--strict=all" if word == "--strict" else word for word in args[:end]]
        return super().parse_args(ctx, [*words, *args[end:]])

    def invoke(self, ctx: click.Context) -> Any:
        """Run, and turn what the library refuses into one sentence."""
        if ctx.params.get("anonymous"):
            ctx.params |= {"pseudonyms": True, "no_text": True}
        for item in self.options:
            item.check(ctx.params)
        given = [str(file) for file in ctx.params.get("files", ())]
        told = [*given, *_ways_of_reading(self, ctx)]
        try:
            if "files" in ctx.params:
                from beyondchance.cli.loading import opened  # noqa: PLC0415 - slow to load

                ctx.params["files"] = opened(ctx.params)
            with working(self.doing, quiet=ctx.params["quiet"]) as ctx.obj:
                result = super().invoke(ctx)
            if isinstance(result, Report):
                result = partial(emit, result)
            code = result() if result else None
        except BeyondChanceError as error:
            is_usage = isinstance(error, OptionError)
            if is_usage and ctx.params.get("pseudonyms"):
                error.where = ()
            if ctx.params.get("anonymous"):
                error.rewrite(unquoted)
            refusal = click.ClickException(visible(error.spoken(voice())))
            refusal.exit_code = USAGE if is_usage else DATA  # type: ignore[misc]
            raise refusal from None
        if not code and is_terminal(sys.stderr) and self.name in NEXT:
            from shlex import join  # noqa: PLC0415 - for terminals only

            is_short = len(given) <= _FEW_FILES and not ctx.params.get("pseudonyms")
            files = join(told) if is_short else "FILE..."
            tell(f"Next: {NEXT[self.name].format(files=files)}.")
        return code


def _ways_of_reading(command: click.Command, ctx: click.Context) -> Iterator[str]:
    """Yield the options of a call without which other commands read its files otherwise."""
    from beyondchance.cli.options import READING  # noqa: PLC0415 - imports this module

    for item in command.params:
        value = ctx.params.get(item.name or "")
        has_name = item.name in READING or item.name == "gold"
        if has_name and is_given(str(item.name)) and isinstance(value, str | int | float):
            yield item.opts[-1] if value is True else f"{item.opts[-1]}={value}"


def is_given(name: str) -> bool:
    """Return whether an option was given on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def refuse(names: Iterable[Any], why: str) -> None:
    """Refuse those of some options that were given, rather than ignore them."""
    flags = {item.name: item.opts[-1] for item in click.get_current_context().command.params}
    for name in names:
        if is_given(name):
            raise click.UsageError(f"{flags[name]} {why}")


def flag_of(name: str) -> str:
    """Return how an option is written on the command line."""
    return f"--{name.replace('_', '-')}"


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal; it may have been closed."""
    return stream is not None and stream.isatty()


def voice() -> Voice:
    """Return how the command that runs puts sentences: under ``--no-text`` without quotes."""
    hides_text = click.get_current_context().params.get("no_text")
    return COMMAND_LINE.without_quotes() if hides_text else COMMAND_LINE


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show what takes long: on a terminal once it does, elsewhere in a line now and then.

    The function adds details.
    """
    done = threading.Event()
    said = [what]

    def add(more: str) -> None:
        said[0] = f"{what}: {more}"

    def show() -> None:
        if done.wait(_PATIENCE):
            return
        while not done.wait(_REFRESH):
            line = visible(said[0])[: _columns() - 1]
            click.echo(f"{_CLEAR}{line}", nl=False, err=True)
        click.echo(_CLEAR, nl=False, err=True)

    def log() -> None:
        while not done.wait(_LOG_EVERY):
            say(f"still {said[0]}")

    if quiet:
        yield add
        return
    shown = threading.Thread(target=show if is_terminal(sys.stderr) else log, daemon=True)
    shown.start()
    try:
        yield add
    finally:
        done.set()
        shown.join()


def progress(text: str) -> None:
    """Add a detail to what is shown while a command works."""
    click.get_current_context().obj(text)


def emit(report: Report, scores: Mapping[str, Score] | None = None) -> int:
    """Print a report or save it, with its notes on standard error, and return the exit code.

    It is 3 if one of the scores, by what they are called, is below ``--fail-under`` or undefined.
    """
    params = click.get_current_context().params
    save, digits = params.get("save"), params["digits"]
    write: Callable[..., str] = rendered
    form = output_form()
    if params.get("methods"):
        from beyondchance.reporting.methods import rendered_methods  # noqa: PLC0415 - rarely wanted

        write = rendered_methods
    with working("printing", quiet=params["quiet"]):
        words = partial(write, report, form, digits=digits, voice=voice())
        if save is None:
            text = words(width=_width(), colour=_is_coloured())
        else:
            # As on standard output: half of a character is written as in Python and in JSON.
            sources = () if report.corpus is None else report.corpus.sources
            save_file(save, words().encode(errors="backslashreplace"), sources)
    is_cut = write is rendered and form not in {"json", *FLAT} and report.is_cut
    notes = (*report.notes, CUT) if is_cut else report.notes
    tell_notes(notes)
    if save is not None:
        tell(f"wrote {save}")
    else:
        if notes and is_terminal(sys.stderr):
            tell("")  # the result follows on the same screen
        click.echo(text, nl=False, color=True)
    code, bar = 0, params.get("fail_under")
    for name, score in (scores or {}).items():
        if bar is not None and not score.corrected >= bar:
            shown = f"{in_digits(score.corrected, digits)}, below {bar}"
            finding = f"undefined: {score.reason}" if score.reason else shown
            tell(f"{name} is {finding}", always=True)
            code = BELOW
    return code


def tell(text: Text, *, always: bool = False) -> None:
    """Print something next to the result, on standard error; with ``--quiet`` only if `always`."""
    if always or not click.get_current_context().params["quiet"]:
        say(visible(spoken(text, voice())))


def tell_notes(notes: Iterable[Note]) -> None:
    """Print notes, each once."""
    for note in condensed(notes, voice()):
        tell(note)


def output_form() -> str:
    """Return the output that is asked for, by its name or by what ``--save`` ends with."""
    ctx = click.get_current_context()
    ending = Path(ctx.params.get("save") or "").suffix.lower()
    forms = next((item.type for item in ctx.command.params if item.name == "output"), None)
    known = forms.choices if isinstance(forms, click.Choice) else ()
    by_ending = (name for name in known if LIST_OUTPUTS[name] == ending)
    return ctx.params.get("output") or next(by_ending, "text")


def _width() -> int | None:
    """Return how many columns to fill; None where the output is no terminal."""
    if is_terminal(sys.stdout) or "COLUMNS" in os.environ:
        return max(_columns(), 40)
    return None


def _columns() -> int:
    """Return the width of the terminal."""
    from shutil import get_terminal_size  # noqa: PLC0415 - slow to load, for terminals only

    return get_terminal_size().columns


def _is_coloured() -> bool:
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return is_terminal(sys.stdout) and not is_plain
