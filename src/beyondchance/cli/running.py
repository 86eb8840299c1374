"""What every command does around its work: errors, progress, printing."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import click

from beyondchance.cli.main import DATA, USAGE, say
from beyondchance.errors import BeyondChanceError, OptionError
from beyondchance.io.saving import is_same_file, replaces_input, save_file
from beyondchance.messages import COMMAND_LINE, Note, Text, Voice, spoken
from beyondchance.reporting.blocks import CUT, Report
from beyondchance.reporting.rendering import FLAT, OUTPUTS, rendered
from beyondchance.reporting.sentences import condensed
from beyondchance.reporting.visible import visible

_PATIENCE = 1.0
"""Seconds after which a terminal shows what is being waited for."""
_LOG_EVERY = 30.0
"""Seconds after which a log is told, again and again, what is being waited for."""
_ALL = "beyondchance.all_options"
"""Where a context keeps whether the help page shows all options."""
_MANY = 12
"""Options of a command of which ``--help`` shows those for everybody only."""


class Refused(click.ClickException):
    """Annotations that the library refused, in the words of the command line."""

    exit_code = DATA


class Misused(click.ClickException):
    """An option that the library refused, in the words of the command line."""

    exit_code = USAGE


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
    """

    def __init__(
        self,
        *args: Any,
        group: str = "Output",
        more: str = "",
        is_everyday: bool = False,
        is_flat: bool = True,
        **settings: Any,
    ) -> None:
        self.short_help: str = settings.get("help") or ""
        settings["help"] = f"{self.short_help} {more}" if more else self.short_help
        super().__init__(*args, **settings)
        self.group = group
        self.is_everyday = is_everyday
        self.is_flat = is_flat

    def short_record(self, ctx: click.Context) -> tuple[str, str]:
        """The option on the short page: its choices stand behind the help, which is wider."""
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


def _show_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Print the page of all options, and exit."""
    if value and not ctx.resilient_parsing:
        command = ctx.command
        assert isinstance(command, Command)  # noqa: S101 - the option is made by these
        click.echo(command.all_help(ctx))
        ctx.exit()


class Command(click.Command):
    """A command whose options are listed by groups, and whose errors are sentences."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        options = [item for item in self.params if isinstance(item, Option)]
        self.has_short_page = len(options) > _MANY
        if self.has_short_page:
            reading = any(item.group == "Reading" for item in options)
            more = "Show all options" + (", also those of reading files" if reading else "")
            self.params.append(
                Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all,
                    is_everyday=True,
                    help=f"{more}.",
                )
            )

    def all_help(self, ctx: click.Context) -> str:
        """The help page with every option."""
        ctx.meta[_ALL] = True
        return self.get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options: the everyday ones, or all of them, each group below its heading."""
        if self.has_short_page and not ctx.meta.get(_ALL):
            with formatter.section("Options"):
                formatter.write_dl(list(self._everyday(ctx)))
            return
        for group, records in self.groups(ctx).items():
            with formatter.section(group):
                formatter.write_dl(records)

    def _everyday(self, ctx: click.Context) -> Iterator[tuple[str, str]]:
        for item in self.get_params(ctx):
            if isinstance(item, Option):
                if item.is_everyday:
                    yield item.short_record(ctx)
            elif isinstance(item, click.Option) and (record := item.get_help_record(ctx)):
                yield record  # --help

    def groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """All options and their help, by the groups of the page."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx)
            if record is not None and not isinstance(item, click.Argument):
                groups.setdefault(getattr(item, "group", "Output"), []).append(record)
        # How files are read concerns few users, and takes most of the page.
        return groups | ({"Reading": groups.pop("Reading")} if "Reading" in groups else {})

    def invoke(self, ctx: click.Context) -> Any:
        """Run, and turn what the library refuses into one sentence."""
        _check_output(ctx)
        try:
            _check_inputs(ctx.params)
            return super().invoke(ctx)
        except BeyondChanceError as error:
            if isinstance(error, OptionError) and ctx.params.get("pseudonyms"):
                error.where = ()
            kind = Misused if isinstance(error, OptionError) else Refused
            raise kind(visible(error.spoken(voice()))) from None


def _check_inputs(params: Mapping[str, Any]) -> None:
    """Refuse to write over a file that is to be read, before anything is computed."""
    places = [params[name] for name in ("save", "save_counts") if params.get(name)]
    files = params.get("files")
    given = _inputs(files) if places and isinstance(files, tuple) else ()
    for path, place in product(given, places):
        if is_same_file(path, place):
            raise replaces_input(place)


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether an option was given, and is not its default."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _check_output(ctx: click.Context) -> None:
    """Refuse what the output cannot show rather than ignore it, before all the work."""
    saved = None if "with_annotators" in ctx.params else ctx.params.get("save")
    form = ctx.params.get("output") or form_of(saved)
    for item in ctx.command.params if form in FLAT else ():
        if isinstance(item, Option) and not item.is_flat and is_given(ctx, str(item.name)):
            found = f"{item.opts[0]} cannot be shown in a list of rows ({form})"
            raise click.UsageError(f"{found}; choose another --output")


def _inputs(given: Iterable[str]) -> Iterator[Path]:
    """The files that are read, and those in the folders that are."""
    from beyondchance.io.reading import Named, named_file  # noqa: PLC0415 - slow to load

    for text in given:
        file = named_file(text)
        if file is not None:
            path = Path(file.item if isinstance(file, Named) else file)
            yield path
            yield from (Path(folder, name) for folder, _, names in os.walk(path) for name in names)


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; it may have been closed."""
    return stream is not None and stream.isatty()


def voice() -> Voice:
    """The words of the command that runs: under ``--no-text`` it quotes nothing."""
    hides_text = click.get_current_context().params.get("no_text")
    return COMMAND_LINE.without_quotes() if hides_text else COMMAND_LINE


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show what takes long: on a terminal once it does, elsewhere in a line now and then.

    The function adds details.
    """
    lock = threading.Lock()
    done = threading.Event()
    started: list[Any] = []
    said = [what]

    def add(more: str) -> None:
        said[0] = f"{what}: {more}"
        if started:
            started[0].update(said[0])

    def start() -> None:
        if done.wait(_PATIENCE):
            return
        from rich.console import Console  # noqa: PLC0415 - only for those who wait

        with lock:
            if not done.is_set():
                started.append(Console(stderr=True).status(said[0]))
                started[0].start()

    def log() -> None:
        while not done.wait(_LOG_EVERY):
            say(f"still {said[0]}")

    if not quiet:
        show = start if is_terminal(sys.stderr) else log
        threading.Thread(target=show, daemon=True).start()
    try:
        yield add
    finally:
        done.set()
        with lock:
            if started:
                started[0].stop()


def emit(
    report: Report,
    *,
    output: str | None,
    save: str | None,
    digits: int,
    quiet: bool,
    methods: bool = False,
    forms: Mapping[str, str] = OUTPUTS,
    **_: Any,
) -> None:
    """Print a report, or save it; notes go to standard error. Other options do not matter."""
    form = output or form_of(save, forms)
    write: Callable[..., str] = rendered
    if methods:
        from beyondchance.reporting.methods import rendered_methods  # noqa: PLC0415 - rarely wanted

        write = rendered_methods
        report = replace(report, notes=tuple(note for note in report.notes if note != CUT))
    with working("printing", quiet=quiet):
        words = partial(write, report, form, digits=digits, voice=voice())
        if save is None:
            text = words(width=_width(), colour=_is_coloured())
        else:
            # As on standard output: half of a character is written as in Python and in JSON.
            sources = () if report.corpus is None else report.corpus.sources
            save_file(save, words().encode(errors="backslashreplace"), sources)
    if not quiet:
        tell_notes(report.notes)
    if save is None:
        if report.notes and not quiet and is_terminal(sys.stderr):
            say("")  # the result follows on the same screen
        click.echo(text, nl=False, color=True)
    elif not quiet:
        tell(f"wrote {save}")


def tell(text: Text) -> None:
    """Print something next to the result, on standard error."""
    say(visible(spoken(text, voice())))


def tell_notes(notes: Iterable[Note]) -> None:
    """Print notes, each once."""
    for note in condensed(notes, voice()):
        tell(note)


def form_of(save: str | None, forms: Mapping[str, str] = OUTPUTS) -> str:
    """The output that the name of a file asks for, or text."""
    ending = Path(save).suffix.lower() if save else ""
    return next((name for name, known in forms.items() if known == ending), "text")


def _width() -> int | None:
    """Columns to fill; as many as there are contents where the output is no terminal."""
    if is_terminal(sys.stdout) or "COLUMNS" in os.environ:
        from shutil import get_terminal_size  # noqa: PLC0415 - slow to load, for terminals only

        return max(get_terminal_size().columns, 40)
    return None


def _is_coloured() -> bool:
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return is_terminal(sys.stdout) and not is_plain
