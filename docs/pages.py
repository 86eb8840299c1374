"""Pages of the documentation that are made by running the package.

``python docs/pages.py`` writes them anew; a test checks that they are what they should be.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import tempfile
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

Installing the package brings the command `beyondchance`. Every example below was run on the files
that `beyondchance demo --files example` writes.

Results go to standard output; notes, progress and errors to standard error. `-` reads standard
input. `--output` gives text, JSON, CSV, Markdown or LaTeX (with booktabs); `--save FILE` writes a
file, whole or not at all, in the form that its name ends with; disagreements come as lines of JSON
as well. On a terminal tables are fitted to its width and coloured, unless `NO_COLOR` is set.

| exit code | |
|---|---|
| 0 | done |
| 1 | the annotations cannot be used, and standard error says why |
| 2 | the command was not called as it should be |
| 3 | a corrected score is below `--fail-under`, or undefined |
| 130 | interrupted; nothing half-written is left |
| 129, 143 | ended by a signal (SIGHUP, SIGTERM); nothing half-written is left |

`--help` shows what most people need, on one screen; `--help-all` shows every option. How files are
read is the same for all commands that read some: see [reading options](#reading-options).

`beyondchance --completion bash` (or zsh, fish) prints a script that completes commands and options:
`eval "$(beyondchance --completion bash)"`.
"""

EXAMPLES = {
    "agree": [
        "beyondchance agree example/ada.conll example/ben.conll",
        "beyondchance agree example/*.conll --by document --by season --top 3 --sensitivity",
        "beyondchance agree example/*.conll --quiet --coefficients alpha,mu-alpha,kappa,s",
        "beyondchance agree example/*.conll --labels PERSON --output latex",
        "beyondchance agree example/*.conll --fail-under 0.8 --quiet --output csv",
        "beyondchance agree example/*.conll --confidence 0.95 --null",
    ],
    "disagreements": [
        "beyondchance disagreements example/ada.conll example/cleo.conll --top 8",
        "beyondchance disagreements example/*.conll --top 3",
        "beyondchance disagreements example/*.conll --quiet --kind label --by pair --output jsonl",
    ],
    "diagnose": [
        "beyondchance diagnose example/*.conll --top 6",
        "beyondchance diagnose example/ada.conll example/ben.conll --gold ada --quiet --output csv",
    ],
    "rank": [
        "beyondchance rank example/*.conll --split-by-difficulty 0.7",
        "beyondchance rank example/*.conll --measure exact --confidence 0.95",
    ],
    "difficulty": ["beyondchance difficulty example/*.conll --top 5 --confidence 0.95"],
    "consensus": ["beyondchance consensus example/*.conll --top 3"],
    "adjudicate": [
        "beyondchance adjudicate example/*.conll --decisions mia.json --ties keep --save x.conll",
        (
            "beyondchance adjudicate example/*.conll --decisions mia.json --decisions tom.json "
            "--compare"
        ),
    ],
    "report": ["beyondchance report example/*.conll -o report.html"],
    "replace": ["beyondchance replace example/*.conll --model cleo --blind yes"],
    "careless": ["beyondchance careless example/*.conll"],
    "plan": [
        "beyondchance plan example/*.conll --half-width 0.03",
        "beyondchance plan example/*.conll --replace cleo --margin 0.03",
    ],
    "place": ["beyondchance place --length 20 --spans 1,3,6"],
    "reproduce": ["beyondchance reproduce"],
    "formats": ["beyondchance formats"],
    "convert": ["beyondchance convert example/ada.conll --labels EVENT --to table"],
    "demo": ["beyondchance demo --output markdown"],
}

READING = """\
## Reading options

How files are read, by every command that reads some (see [formats](formats.md)). Each format takes
the options that concern it, and refuses others.
"""

CLOSING = """\
## JSON

`--output json` is a contract: `"format": 2` is its version, and only additions happen without
another. Every score has `observed`, `chance` and `corrected` (null where undefined, with a
`reason`) and the `counts` that they are computed from; with `--confidence` also `intervals`, except
for single documents and `--sensitivity`. The schema ships with the package, as
`beyondchance/resources/schema.json`:

```{literalinclude} ../../src/beyondchance/resources/schema.json
:language: json
```
"""

PAPER = """\
# For your paper

<!-- Made by docs/pages.py from the real output. -->

What a paper needs besides the number: a paragraph that says how it was computed, a table, and what
to cite.

## The methods paragraph

`--methods` makes `agree`, `rank` and `difficulty` print, instead of their tables, a paragraph with
all numbers filled in:

```console
$ {agree}
```

{agree_output}

It is made from the result and its settings: the measure, the chance model, the scope and the unit
that were used, whether chance is exact or estimated, and intervals and tests only if they were
computed. Shorten it as you like, but keep the signature, which says the same in one line.
Annotators are counted, not named; the best and the worst system are named.

With `--output latex`, works are cited by `\\citep`, and special characters are escaped:

```console
$ {rank}
```

```latex
{rank_output}
```

`--output markdown` is for Markdown, and `--output json` has the text as `methods`, next to the
result.

## The table

`--output latex` prints the main table for the package booktabs, then those that options ask for,
such as `--by label`:

```console
$ {table}
```

```latex
{table_output}
```

## What to cite

`beyondchance --cite` prints the BibTeX entries of the keys that the paragraph uses:

```bibtex
{cite_output}
```

## From the report

[The report](report.md) ends with a box that holds all of this, each text with a button that copies
it.
"""


def paper_page() -> str:
    """What a paper can take over, from the real output."""
    agree = "beyondchance agree example/ada.conll example/ben.conll --confidence 0.95 --methods"
    rank = "beyondchance rank example/*.conll --confidence 0.95 --methods --output latex"
    table = "beyondchance rank example/*.conll --digits 2 --output latex"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        ran("beyondchance demo --quiet --files example")
        quoted = ran(f"{agree} --quiet --output markdown").splitlines()
        return PAPER.format(
            agree=agree,
            agree_output="\n".join(f"> {line}".rstrip() for line in quoted),
            rank=rank,
            rank_output=ran(f"{rank} --quiet").rstrip(),
            table=table,
            table_output=ran(f"{table} --quiet").rstrip(),
            cite_output=ran("beyondchance --cite").rstrip(),
        )


PLACES = {
    ("issue-01", 0): (
        0,
        5,
        "The retired teacher Marta Lindqvist",
        [[3, 5, "PERSON"]],
        [[0, 5, "PERSON"]],
    ),
    ("issue-01", 2): (7, 12, "the flood of last spring", [[7, 9, "EVENT"]], [[7, 9, "EVENT"]]),
    ("issue-03", 0): (7, 11, "the old customs house", [[9, 11, "PLACE"]], [[7, 11, "PLACE"]]),
}
"""Places of the example, and what two people decide there."""


def write_decisions(by: str, which: int) -> None:
    """Write what somebody decided about the example, as the page saves it."""
    decisions = [
        {
            "document": document,
            "text": text,
            "start": start,
            "end": end,
            "spans": decided[which],
            "choice": "version",
            "of": [],
            "by": by,
            "note": "names only" if by == "mia" and start == 0 else "",
            "words": words,
        }
        for (document, text), (start, end, words, *decided) in PLACES.items()
    ]
    head = {"beyondchance": "decisions", "format": 1, "unit": "sentence", "positions": "tokens"}
    content = json.dumps({**head, "decisions": decisions})
    Path(f"{by}.json").write_text(content, "utf-8")


def cli_page() -> str:
    """Every command: its help, and what it prints."""
    parts = [INTRODUCTION]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        ran("beyondchance demo --quiet --files example")
        write_decisions("mia", 0)
        write_decisions("tom", 1)
        parts.append(f"```text\n{ran('beyondchance --help', help_page=True)}```\n")
        for command in COMMANDS:
            parts.append(f"## {command}\n")
            parts.append(f"```text\n{ran(f'beyondchance {command} --help', help_page=True)}```\n")
            parts += all_options(command)
            parts += [
                f"```console\n$ {example}\n{ran(example)}```\n" for example in EXAMPLES[command]
            ]
    parts += [READING, listed({"Reading": groups_of("agree")["Reading"]})]
    return "\n".join([*parts, CLOSING])


def all_options(command: str) -> list[str]:
    """What ``--help-all`` shows of a command, but how files are read, which is said once."""
    groups = groups_of(command)
    if not any(name == "--help-all" for group in groups.values() for name, _ in group):
        return []
    groups.pop("Reading", None)
    return [f"All options of `{command}` but those of reading:\n", listed(groups)]


def groups_of(command: str) -> dict[str, list[tuple[str, str]]]:
    """All options of a command and their help, by groups."""
    found = cli.get_command(click.Context(cli), command)
    assert isinstance(found, Command)  # noqa: S101 - they all are
    return found.groups(click.Context(found))


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
