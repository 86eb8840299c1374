"""The command line: each command parses, calls the library once and prints.

The only part of the package that prints or exits. A command is loaded when it is called,
so that ``beyondchance --version`` waits for nothing.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from beyondchance.errors import defect, lacks_memory
from beyondchance.reporting.citations import bibtex
from beyondchance.version import __version__

COMMANDS = {
    "agree": "How much annotators agree beyond chance.",
    "rank": "Systems against a gold standard, ranked before and after correction.",
    "difficulty": "How hard it is to agree by chance, by document.",
    "disagreements": "Every disagreement, its kind and its place.",
    "diagnose": "What to fix first, and what agreement would be then.",
    "report": "A page for a browser, with every disagreement in its text, to decide on.",
    "app": "An app for people without a terminal: drop files, decide, download gold.",
    "consensus": "The consensus of a team, and its ties.",
    "adjudicate": "A gold standard from what people decided.",
    "replace": "May a model replace a person, and how much is there to reach?",
    "careless": "Annotators who agree much less than the others, and documents to look at.",
    "plan": "How many documents to annotate, from a pilot.",
    "place": "Where random spans fall in a text.",
    "reproduce": "The paper's tables next to ours.",
    "formats": "What can be read and written.",
    "convert": "Write annotations in another format.",
    "demo": "The agreement of the example that ships with the package.",
}
"""Every command and its help in one line."""

NEXT = {
    "agree": "beyondchance diagnose {files} shows what to fix first",
    "rank": "with --confidence 0.95, the same command tests which systems differ",
    "difficulty": "beyondchance agree {files} --by document shows where people disagree",
    "disagreements": "beyondchance diagnose {files} shows whose habits are behind them",
    "diagnose": "beyondchance report {files} makes a page to talk about it, and to decide in",
    "report": "open the page in a browser; beyondchance adjudicate takes what you decide there",
    "consensus": "beyondchance report {files} makes a page to decide the ties in",
    "adjudicate": "beyondchance rank GOLD {files} compares people with the gold standard",
    "replace": "beyondchance report {files} shows the disagreements in their texts",
    "careless": "beyondchance report {files} shows the documents in question",
    "demo": "beyondchance agree FILE..., then diagnose or report",
}
"""What to do after a command."""

DATA, USAGE, BELOW, INTERRUPTED, CLOSED_PIPE = 1, 2, 3, 130, 141
"""Exit codes."""


class _Group(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"beyondchance.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            if _is_file(args[0]):
                return super().resolve_command(ctx, ["agree", *args])
            from beyondchance.checks import nearest  # noqa: PLC0415 - for mistakes only

            hint = nearest(args[0], COMMANDS).strip() or f"choose from: {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command '{args[0]}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _is_file(word: str) -> bool:
    """Return whether a word is a file, or looks like one: no command has such characters."""
    return not set("./\\:=*?[").isdisjoint(word) or Path(word).exists()


def _completion(_: click.Context, shell: str) -> str:
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - rarely wanted

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - the choices are those that there are
    return kind(cli, {}, "beyondchance", "_BEYONDCHANCE_COMPLETE").source()


def printing(text: Callable[[click.Context, Any], str]) -> dict[str, Any]:
    """Return settings of an option that prints a text made from its value, and exits."""

    def callback(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(text(ctx, value).removesuffix("\n"))
            ctx.exit()

    return {"is_eager": True, "expose_value": False, "callback": callback}


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 bad data, 2 wrong usage, 3 below --fail-under, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    help="Print the version and exit.",
    **printing(lambda *_: f"beyondchance {__version__}"),
)
@click.option(
    "--cite",
    is_flag=True,
    help="Print BibTeX of this package and of the paper, and exit.",
    **printing(lambda *_: bibtex()),
)
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    help="Print the completion script of a shell, and exit.",
    **printing(_completion),
)
def cli() -> None:
    """How much of the agreement between span annotations is beyond chance?

    \b
    beyondchance agree anna.conll ben.conll     two annotators
    beyondchance anna.conll ben.conll           the same
    beyondchance agree export.json              one export that holds all annotators
    beyondchance rank gold.conll a.conll b.conll
    beyondchance demo                           try it on an example
    """


def run() -> NoReturn:
    """Run the command of this process, and end it.

    It ends at once, because taking down the interpreter object by object takes longer than
    scoring a test set. By then, files are closed and temporary files are removed.
    """
    _end_by_signals()
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(code)


class _Closed(io.TextIOBase):
    """Stand for a standard output that is closed: nothing is printed in silence."""

    def write(self, _: str, /) -> int:
        raise OSError("standard output is closed")


class _Ended(BaseException):
    """The process was asked to end: what is half done is removed on the way out."""


def _end_by_signals() -> None:
    """Have signals that end the process leave nothing half-written."""
    import signal  # noqa: PLC0415 - slow to load

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # once is enough
        raise _Ended(128 + number)

    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        # What was started to outlive its terminal ignores that it is gone.
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)


def main(args: list[str] | None = None) -> int:
    """Run a command and return its exit code; never show a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # Names that the terminal cannot show must not make a command fail; and in files and pipes,
        # Windows has a code page that lacks most letters.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                encoding="utf-8" if sys.platform == "win32" and not stream.isatty() else None,
                errors="backslashreplace",
            )
    words = sys.argv[1:] if args is None else args
    if sys.stdout is None:
        sys.stdout = _Closed()
    try:
        code = cli.main(words, prog_name="beyondchance", standalone_mode=False)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except _Ended as ended:
        return int(ended.args[0])
    except (BrokenPipeError, SystemExit):  # click exits by itself only when a pipe is closed
        return _reader_gone()
    except Exception as error:
        message, code = _ending(error, words)
        say(message)
    return int(code or 0)


def _ending(error: Exception, words: list[str]) -> tuple[str, int]:
    """Return the message and the exit code of a command that failed."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message(), USAGE
        case click.UsageError():
            where = " ".join(["beyondchance", *(word for word in words[:1] if word in COMMANDS)])
            return f"{where}: {_usage(error)} (see '{where} --help')", USAGE
        case click.ClickException():
            return f"beyondchance: {error.format_message()}", error.exit_code
        case _ if lacks_memory(error):
            return "beyondchance: not enough memory for these files", DATA
        case OSError():
            cause = (error.strerror or str(error)).lower()
            return f"beyondchance: the result cannot be written ({cause})", DATA
    return f"beyondchance: {defect(error)}", DATA


def _reader_gone() -> int:
    """Print nothing more, not even when Python flushes its streams at exit."""
    with suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    return CLOSED_PIPE


def _usage(error: click.UsageError) -> str:
    """Say what is wrong with the call, on one line and as a part of a sentence."""
    if isinstance(error, click.NoSuchOption):
        near = " or ".join(error.possibilities or ())
        from beyondchance.messages import COMMAND_LINE, spoken  # noqa: PLC0415 - for mistakes only
        from beyondchance.options import FORMER  # noqa: PLC0415 - for mistakes only

        gone = FORMER.get(error.option_name.lstrip("-").replace("-", "_"), "")
        hint = spoken(gone, COMMAND_LINE) or (f"did you mean {near}?" if near else "")
        return f"no such option {error.option_name}" + (f"; {hint}" if hint else "")
    message = " ".join(error.format_message().split()).rstrip(".")
    return message[:1].lower() + message[1:]


def say(message: str) -> None:
    """Print a line on standard error, if it can be written to: the result does not depend on it."""
    if sys.stderr is not None:
        with suppress(OSError):
            click.echo(message, err=True)
