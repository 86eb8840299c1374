"""What every command does around its work: errors, progress, printing."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from beyondchance.cli.main import DATA, USAGE
from beyondchance.errors import BeyondChanceError, OptionError
from beyondchance.io.saving import save_file
from beyondchance.messages import COMMAND_LINE, Note, Text, Voice, spoken
from beyondchance.reporting.blocks import CUT, Report
from beyondchance.reporting.rendering import OUTPUTS, rendered
from beyondchance.reporting.sentences import condensed
from beyondchance.reporting.visible import visible

_PATIENCE = 1.0
"""Seconds after which a terminal shows what is being waited for."""


class Refused(click.ClickException):
    """Annotations that the library refused, in the words of the command line."""

    exit_code = DATA


class Misused(click.ClickException):
    """An option that the library refused, in the words of the command line."""

    exit_code = USAGE


class Option(click.Option):
    """An option that belongs to a group of the help page."""

    def __init__(self, *args: Any, group: str = "Options", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.group = group


class Command(click.Command):
    """A command whose options are listed by groups, and whose errors are sentences."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, each group below its heading."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx)
            if record is not None and not isinstance(item, click.Argument):
                groups.setdefault(getattr(item, "group", "Output"), []).append(record)
        # How files are read concerns few users, and takes most of the page.
        groups |= {"Reading": groups.pop("Reading")} if "Reading" in groups else {}
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Run, and turn what the library refuses into one sentence."""
        _check_not_an_input(ctx.params)
        try:
            return super().invoke(ctx)
        except BeyondChanceError as error:
            kind = Misused if isinstance(error, OptionError) else Refused
            raise kind(visible(error.spoken(voice()))) from None


def _check_not_an_input(params: Mapping[str, Any]) -> None:
    """Refuse to write a result over what it is computed from."""
    save, files = params.get("save"), params.get("files")
    if not isinstance(save, str) or not isinstance(files, tuple):
        return
    from beyondchance.io.reading import Named, named_file  # noqa: PLC0415 - slow to load

    gold = params.get("gold")
    for text in (*files, *([gold] if gold else [])):
        file = named_file(text)
        try:
            is_same = Path(file.item if isinstance(file, Named) else file).samefile(save)
        except (OSError, ValueError, TypeError):  # one of them is not there, or no name
            continue
        if is_same and Path(save).is_file():
            what = "the place of --save" if params.get("pseudonyms") else save
            raise click.UsageError(f"{what} is one of the files to read; save under another name")


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; it may have been closed."""
    return stream is not None and stream.isatty()


def voice() -> Voice:
    """The words of the command that runs: under ``--no-text`` it quotes nothing."""
    hides_text = click.get_current_context().params.get("no_text")
    return COMMAND_LINE.without_quotes() if hides_text else COMMAND_LINE


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what takes long, once it does; the function adds details."""
    lock = threading.Lock()
    started: list[Any] = []
    said = [what]

    def say(more: str) -> None:
        said[0] = f"{what}: {more}"
        if started:
            started[0].update(said[0])

    if quiet or not is_terminal(sys.stderr):
        yield say
        return

    def start() -> None:
        from rich.console import Console  # noqa: PLC0415 - only for those who wait

        with lock:
            if started:
                return
            status = Console(stderr=True).status(said[0])
            started.append(status)
            status.start()

    timer = threading.Timer(_PATIENCE, start)
    timer.daemon = True
    timer.start()
    try:
        yield say
    finally:
        timer.cancel()
        with lock:
            if started:
                started[0].stop()
            started.append(None)


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
            save_file(save, words().encode())
    if not quiet:
        tell_notes(report.notes)
    if save is None:
        if report.notes and not quiet and is_terminal(sys.stderr):
            click.echo(err=True)  # the result follows on the same screen
        if sys.stdout is not None:
            click.echo(text, nl=False, color=True)
    elif not quiet:
        tell(f"wrote {save}")


def tell(text: Text) -> None:
    """Print something next to the result, on standard error."""
    if sys.stderr is not None:
        click.echo(visible(spoken(text, voice())), err=True)


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
