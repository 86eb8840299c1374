"""``beyondchance app``."""

from __future__ import annotations

import threading
import webbrowser
from functools import partial
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.running import tell
from beyondchance.installing import required


@flags.command("app", doing="starting")
@flags.in_output(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    default=0,
    help="The port of the server; 0 takes one that is free.",
)
@flags.in_output("--no-browser", is_flag=True, help="Open no browser; print the address only.")
@flags.QUIET
def command(port: int, no_browser: bool, **_: Any) -> Any:
    """An app for people without a terminal: drop files, decide, download gold.

    It opens a page of the browser. Files stay on this machine, in a folder that is removed when
    the app ends.

    \b
    beyondchance app
    """
    for library in ("starlette", "uvicorn", "jinja2"):
        required(library, extra="app", purpose="the app")
    from beyondchance.app.server import serve  # noqa: PLC0415 - needs these libraries

    def ready(address: str, once: str) -> None:
        click.echo(address)
        tell("is the app, on this machine only; Ctrl-C ends it and removes its files")
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(once,), daemon=True).start()

    return partial(serve, port, ready)
