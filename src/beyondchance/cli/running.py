"""What every command does around its work: errors, progress, printing."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from beyondchance.cli.main import DATA, USAGE
from beyondchance.errors import BeyondChanceError, OptionError
from beyondchance.io.saving import save_file
from beyondchance.messages import COMMAND_LINE
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.rendering import OUTPUTS, rendered
from beyondchance.reporting.sentences import condensed
from beyondchance.reporting.visible import visible

_PATIENCE = 1.0
"""Seconds after which somebody who waits is told what for."""


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
        # How files are read concerns few, and takes most of the page.
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
            raise kind(in_cli_words(visible(str(error)), self)) from None


def _check_not_an_input(params: Mapping[str, Any]) -> None:
    """Refuse to write a result over what it is computed from."""
    save, files = params.get("save"), params.get("files")
    if not isinstance(save, str) or not isinstance(files, tuple):
        return
    gold = params.get("gold")
    for file in (*files, *([gold] if gold else [])):
        try:
            is_same = Path(file).samefile(save)
        except (OSError, ValueError):  # one of them is not there
            continue
        if is_same and Path(save).is_file():
            raise click.UsageError(f"{save} is one of the files to read; save under another name")


def is_terminal(stream: Any) -> bool:
    """Whether somebody looks at a stream; it may have been closed."""
    return stream is not None and stream.isatty()


def in_cli_words(message: str, command: click.Command) -> str:
    """Options as they are spelled here: ``--match text`` for ``match='text'``.

    Examples
    --------
    >>> command = click.Command("agree", params=[click.Option(["--spans-key"])])
    >>> in_cli_words("use spans_key='ner', spans_key=NAME or spans_key=", command)
    'use --spans-key ner, --spans-key NAME or --spans-key'
    """
    names = {name for item in command.params for name in (item.name,) if name}
    if not names:
        return message
    pattern = rf"\b({'|'.join(sorted(map(re.escape, names)))})=(?:'([^']*)'|([A-Z]+\b))?"

    def spelled(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')} {found[2] or found[3] or ''}".rstrip()

    return re.sub(pattern, spelled, message)


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Say on a terminal what takes long, once it does; what is given can be made precise."""
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
    forms: Mapping[str, str] = OUTPUTS,
) -> None:
    """Print a report, or save it; what else there is to say goes to standard error."""
    form = output or _form_of(save, forms)
    with working("printing", quiet=quiet):
        if save is None:
            text = rendered(
                report,
                form,
                digits=digits,
                width=_width(),
                colour=_is_coloured(),
                voice=COMMAND_LINE,
            )
        else:
            save_file(save, rendered(report, form, digits=digits, voice=COMMAND_LINE).encode())
    if not quiet:
        for note in condensed(report.notes, COMMAND_LINE):
            tell(note)
    if save is None:
        if report.notes and not quiet and is_terminal(sys.stderr):
            click.echo(err=True)  # the result follows on the same screen
        if sys.stdout is not None:
            click.echo(text, nl=False, color=True)
    elif not quiet:
        tell(f"wrote {save}")


def tell(note: str) -> None:
    """Say something beside the result."""
    ctx = click.get_current_context()
    if sys.stderr is None:
        return
    click.echo(in_cli_words(visible(note), ctx.command), err=True)


def _form_of(save: str | None, forms: Mapping[str, str]) -> str:
    ending = Path(save).suffix.lower() if save else ""
    return next((name for name, known in forms.items() if known == ending), "text")


def _width() -> int | None:
    """Columns to fill; as many as there are contents where the output is no terminal."""
    if is_terminal(sys.stdout) or "COLUMNS" in os.environ:
        from shutil import get_terminal_size  # noqa: PLC0415 - slow to load, for terminals only

        return max(get_terminal_size().columns, 40)
    return None


def _is_coloured() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"
