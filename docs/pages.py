"""Pages of the documentation that are made by running the package.

``python docs/pages.py`` writes them anew; a test checks that they are what they should be.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import tempfile
from collections import Counter
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import click
from deviations import deviations_page

from beyondchance import agreement, example, report
from beyondchance.cli.main import COMMANDS, cli, main
from beyondchance.cli.running import Command
from beyondchance.reporting.schema import schema

HERE = Path(__file__).parent
ROOM = 120
"""Columns that a line of the schema takes, if it can be divided."""

INTRODUCTION = """\
# The command line

<!-- Made by docs/pages.py from the real help and the real output. -->

Installing the package brings the command `beyondchance`. Below, every command has the options that
only it has; [shared options](#shared-options) are explained once, at the end. In a terminal,
`--help` shows what most people need, and `--help-all` everything. The
[tutorials](../start.md#where-next) show what most commands print.

Results go to standard output; notes, progress and errors to standard error. `-` reads standard
input. Tables are fitted to the terminal and coloured, unless `NO_COLOR` is set.

| exit code | |
|---|---|
| 0 | done |
| 1 | the annotations cannot be used, and standard error says why |
| 2 | the command was not called as it should be |
| 3 | a corrected score is below `--fail-under`, or undefined |
| 130 | interrupted; nothing half-written is left |
| 129, 143 | ended by a signal (SIGHUP, SIGTERM); nothing half-written is left |

`eval "$(beyondchance --completion bash)"` (or zsh, fish) completes commands and options.
"""

EXAMPLES = {
    "plan": ["beyondchance plan example/*.conll --quiet --half-width 0.03"],
}
"""What is shown of some commands that no tutorial shows."""

SHARED = """\
## Shared options

Each [format](formats.md) takes the options of reading that concern it, and refuses others.
"""

CLOSING = """\
## JSON

`--output json` is a contract: `"format": 2` is its version, and only additions happen without
another. Every score has `observed`, `chance` and `corrected` (null where undefined, with a
`reason`) and the `counts` that they are computed from; with `--confidence` also `intervals`, except
for single documents. The schema ({download}`download
<../../src/beyondchance/resources/schema.json>`) ships as `beyondchance/resources/schema.json`.
"""

PAPER = """\
# For your paper

<!-- Made by docs/pages.py from the real output. -->

What a paper needs besides the number: a paragraph that says how it was computed, a table, and what
to cite. A [tutorial](../tutorials/table.nb.md) makes all three and puts them into a document.

## The methods paragraph

`--methods` makes `agree`, `rank` and `difficulty` print, instead of their tables, a paragraph with
all numbers filled in:

```console
$ {agree}
```

{agree_output}

It is made from the result and its settings: intervals and tests are in it only if they were
computed. Shorten it as you like, but keep the signature, which says the same in one line.
Annotators are counted, not named; the best and the worst system are named.

With `--output latex`, works are cited by `\\citep`, and special characters are escaped;
`--output markdown` is for Markdown, and `--output json` has the text as `methods`, next to the
result.

## The table

`--output latex` prints the main table for the package booktabs, then those that options ask for,
such as `--by label`.

## What to cite

`beyondchance --cite` prints the BibTeX entries of the keys that the paragraph uses:

```bibtex
{cite_output}
```

[The report](report.md) ends with a box that holds all of this, each text with a button that copies
it.
"""


def paper_page() -> str:
    """What a paper can take over, from the real output."""
    agree = "beyondchance agree example/ada.conll example/ben.conll --confidence 0.95 --methods"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        ran("beyondchance demo --quiet --files example")
        quoted = ran(f"{agree} --quiet --output markdown").splitlines()
        return PAPER.format(
            agree=agree,
            agree_output="\n".join(f"> {line}".rstrip() for line in quoted),
            cite_output=ran("beyondchance --cite").rstrip(),
        )


def cli_page() -> str:
    """Every command: what it is for, the options that only it has, and what it prints."""
    parts = [INTRODUCTION]
    shared = shared_options()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        ran("beyondchance demo --quiet --files example")
        parts.append(f"```text\n{ran('beyondchance --help', help_page=True)}```\n")
        for command in COMMANDS:
            parts += [f"## {command}\n", *options_of(command, shared)]
            parts += [
                f"```console\n$ {example}\n{ran(example)}```\n"
                for example in EXAMPLES.get(command, [])
            ]
    parts.append(SHARED)
    for group, records in shared.items():
        parts += [f"### {group}\n", listed({group: records})]
    return "\n".join([*parts, CLOSING])


def shared_options() -> dict[str, list[tuple[str, str]]]:
    """All options that several commands explain in the same words, by groups."""
    groups = [groups_of(command) for command in COMMANDS]
    every = Counter(record for one in groups for records in one.values() for record in records)
    ordered = dict.fromkeys((name, item) for one in groups for name in one for item in one[name])
    return {
        group: [item for name, item in ordered if name == group and every[item] > 1]
        for group in dict.fromkeys(name for name, item in ordered if every[item] > 1)
    }


def options_of(command: str, shared: dict[str, list[tuple[str, str]]]) -> list[str]:
    """How a command is called, its own options, and the names of those that it shares."""
    found = cli.get_command(click.Context(cli), command)
    context = click.Context(found, info_name=f"beyondchance {command}", max_content_width=94)
    formatter = context.make_formatter()
    formatter.width = 94
    found.format_usage(context, formatter)
    found.format_help_text(context, formatter)
    groups = groups_of(command)
    own = {
        group: [record for record in records if record not in shared.get(group, [])]
        for group, records in groups.items()
    }
    for group, records in own.items():
        if records:
            with formatter.section(group):
                formatter.write_dl(records)
    told = []
    for group, records in groups.items():
        known = {flag(name) for name, _ in records}
        names = [flag(name) for name, text in records if (name, text) not in own[group]]
        missing = [flag(name) for name, _ in shared.get(group, []) if flag(name) not in known]
        if len(names) > len(missing):
            rest = f" except {listed_names(missing)}" * bool(missing)
            told.append(f"all of [{group.lower()}](#{group.lower().replace(' ', '-')}){rest}")
        elif names:
            told.append(listed_names(names))
    return [
        f"```text\n{formatter.getvalue().strip()}\n```\n",
        f"Shared options: {'; '.join(told)}.\n",
    ]


def flag(name: str) -> str:
    """Return the option of an entry of a help page."""
    return name.split(maxsplit=1)[0].strip(",")


def listed_names(names: list[str]) -> str:
    """Return names of options, each once."""
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def groups_of(command: str) -> dict[str, list[tuple[str, str]]]:
    """All options of a command and their help, by groups."""
    found = cli.get_command(click.Context(cli), command)
    assert isinstance(found, Command)  # noqa: S101 - they all are
    return found.groups(click.Context(found, **cli.context_settings))


def listed(groups: dict[str, list[tuple[str, str]]]) -> str:
    """Groups of options as a help page shows them."""
    formatter = click.HelpFormatter(width=94)
    for group, records in groups.items():
        with formatter.section(group):
            formatter.write_dl(records)
    return f"```text\n{formatter.getvalue().strip()}\n```\n"


def ran(line: str, *, help_page: bool = False) -> str:
    """What a command prints, standard error first, as if on a file."""
    words = [
        word
        for pattern in shlex.split(line)[1:]
        for word in (sorted(map(str, Path().glob(pattern))) if "*" in pattern else [pattern])
    ]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.StringIO()
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if help_page:
        environment["COLUMNS"] = "96"
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main(words)
    if code not in {0, 3}:
        raise RuntimeError(f"{line}: exit code {code}: {err.getvalue()}")
    return err.getvalue() + out.buffer.getvalue().decode()


def example_report() -> str:
    """The report on the example that ships with the package."""
    corpus = example()
    return report(agreement(corpus), corpus, title="A town's newspaper, three annotators").html


def schema_file() -> str:
    """The schema of JSON that ships with the package, from the columns of all commands."""
    return f"{compact(schema())}\n"


def compact(value: object, indent: int = 0, key: str = "") -> str:
    """JSON in which whatever fits on a line is on one."""
    before, text = " " * indent + key, json.dumps(value, ensure_ascii=False)
    if len(before + text) < ROOM or not isinstance(value, dict | list):
        return before + text
    begin, end = "{}" if isinstance(value, dict) else "[]"
    items = (
        [(f"{json.dumps(name)}: ", item) for name, item in value.items()]
        if isinstance(value, dict)
        else [("", item) for item in value]
    )
    lines = ",\n".join(compact(item, indent + 1, name) for name, item in items)
    return f"{before}{begin}\n{lines}\n{' ' * indent}{end}"


PAGES = {
    "reference/cli.md": cli_page,
    "howto/paper.md": paper_page,
    "background/deviations.md": deviations_page,
    "_static/example-report.html": example_report,
    "../src/beyondchance/resources/schema.json": schema_file,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
