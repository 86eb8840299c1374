"""Options that several commands share, by the words of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan, nan
from typing import Any

import click

from beyondchance.cli.running import Option
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import MODELS
from beyondchance.io.registry import FORMATS
from beyondchance.options import ReadOptions, declared
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS
from beyondchance.scoring.options import SCOPES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

READING = tuple(name for name, item in declared(ReadOptions).items() if item.option.in_commands)
"""The options that are passed on to `read`."""


class Choice(click.Choice[str]):
    """A choice that suggests the nearest one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Name the choices, and the one that was probably meant."""
        from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

        names = [str(name) for name in self.choices]
        near = get_close_matches(str(value), names, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return f"'{value}' is not one of {', '.join(names)}{hint}"


class Names(click.ParamType[Any]):
    """Names separated by commas."""

    name = "NAME,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Split, and refuse empty names."""
        if not isinstance(value, str):
            return tuple(value)
        names = tuple(name.strip() for name in value.split(","))
        if not all(names):
            self.fail(
                f"'{value}' has an empty name; expected names separated by commas", param, ctx
            )
        return names


class Renaming(click.ParamType[Any]):
    """``OLD=NEW``."""

    name = "OLD=NEW"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Split at the first equals sign."""
        if not isinstance(value, str):
            return tuple(value)
        old, sign, new = value.partition("=")
        if not (old and sign and new):
            self.fail(f"'{value}' is not a renaming; expected OLD=NEW", param, ctx)
        return old, new


class Parameters(click.ParamType[Any]):
    """``NAME=NUMBER,...``."""

    name = "NAME=NUMBER,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        """Numbers by name."""
        if not isinstance(value, str):
            return dict(value)
        pairs = [part.partition("=") for part in value.split(",")]
        try:
            return {name.strip(): float(number) for name, _, number in pairs}
        except ValueError:
            self.fail(f"'{value}' is not NAME=NUMBER, several separated by commas", param, ctx)


class Lengths(click.ParamType[Any]):
    """Lengths separated by commas."""

    name = "N,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Whole numbers."""
        if not isinstance(value, str):
            return tuple(value)
        try:
            return tuple(int(part) for part in value.split(","))
        except ValueError:
            self.fail(f"'{value}' is not a list of lengths; expected such as 1,5,10", param, ctx)


def option(*names: str, group: str, **settings: Any) -> Decorator:
    """An option in a group of the help page."""
    return click.option(*names, cls=Option, group=group, **settings)


SCORING = ("measure", "model", "scope", "theta", "samples", "seed")
OUTPUT = ("output", "save", "digits", "quiet")


def picked(options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Some of the options."""
    return {name: options[name] for name in names}


def scoring_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """How to score; a seed is for the measure that samples, or else for resamples only."""
    chosen = picked(options, SCORING)
    return chosen if options["measure"] == "iou" else {**chosen, "seed": None}


def together(options: Sequence[Decorator]) -> Decorator:
    """Several options as one decorator, in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _reading_option(name: str) -> Decorator:
    flag = f"--{name.replace('_', '-')}"
    item = declared(ReadOptions)[name]
    default = item.option.default
    shown = f"  [default: {default}]" if isinstance(default, str) else ""
    text = f"{item.option.help}{shown}"
    if name == "predictions":
        return option(flag, group="Reading", is_flag=True, default=None, help=text)
    kind: Any = Choice(item.choices) if item.choices else item.kind
    metavar = None if item.choices else item.option.metavar or "NAME"
    return option(flag, group="Reading", type=kind, metavar=metavar, default=None, help=text)


FILES = click.argument("files", nargs=-1, metavar="FILE...", type=click.Path(readable=False))
FORMAT = option(
    "--format",
    group="Reading",
    type=Choice([name for name in FORMATS if name != "hf"]),
    metavar="NAME",
    help="The format of the files, one of those that 'beyondchance formats' lists; told from "
    "their content by default.",
)

annotated_files = together(
    [
        FILES,
        option(
            "--gold",
            group="Annotations",
            metavar="NAME|FILE",
            help="The gold standard: one of the annotators, or a file of its own.",
        ),
        option("--annotators", group="Annotations", type=Names(), help="Only these."),
        option("--labels", group="Annotations", type=Names(), help="Only these, after renaming."),
        option("--exclude-labels", group="Annotations", type=Names(), help="All labels but these."),
        option(
            "--rename-label",
            group="Annotations",
            type=Renaming(),
            multiple=True,
            help="Another name for a label; can be repeated.",
        ),
        FORMAT,
        *(_reading_option(name) for name in READING),
        option(
            "--no-text",
            group="Annotations",
            is_flag=True,
            help="Show no annotated text anywhere, error messages included.",
        ),
    ]
)
"""What annotations are read, and how."""

scoring = together(
    [
        option(
            "--measure",
            group="Scoring",
            type=Choice(list(MEASURES)),
            default="token",
            show_default=True,
            help="What counts as match: shared positions, equal spans, equal starts and ends, "
            "overlap as a share of both lengths, or spans of enough overlap.",
        ),
        option(
            "--model",
            group="Scoring",
            type=Choice(("auto", *MODELS)),
            default="auto",
            show_default=True,
            help="How random spans may lie to one another; auto takes the strictest that fits.",
        ),
        option(
            "--scope",
            group="Scoring",
            type=Choice(list(SCOPES)),
            default="label",
            show_default=True,
            help="Whether labels are placed one by one, together, or not looked at.",
        ),
        option(
            "--theta",
            group="Scoring",
            type=click.FloatRange(0, 1, max_open=True),
            metavar="SHARE",
            help="For iou: the share that spans must have in common to match.  [default: 0.5]",
        ),
        option(
            "--samples",
            group="Scoring",
            type=click.IntRange(1),
            metavar="N",
            help="For iou, where it is sampled: random arrangements of each text.",
        ),
        option(
            "--seed",
            group="Scoring",
            type=click.IntRange(0),
            metavar="N",
            help="For what is sampled: where the random numbers begin, to get the same again.",
        ),
    ]
)
"""How annotations are scored."""


def _form(forms: Iterable[str]) -> Decorator:
    return option(
        "--output",
        group="Output",
        type=Choice(list(forms)),
        help="The form of the result; by default what --save ends with, or text.",
    )


_PRINTING = (
    option(
        "--save",
        group="Output",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="Write the result to a file instead; all of it or nothing.",
    ),
    option(
        "--digits",
        group="Output",
        type=click.IntRange(1, 15),
        metavar="N",
        default=4,
        help="Digits after the point, for people; JSON and CSV have them all.  [default: 4]",
    ),
    option("--quiet", "-q", group="Output", is_flag=True, help="No notes and no progress."),
)
output = together([_form(OUTPUTS), *_PRINTING])
"""How a result is printed."""
list_output = together([_form(LIST_OUTPUTS), *_PRINTING])
"""The same for a result that is a list."""

RESAMPLES = option(
    "--resamples",
    group="Uncertainty",
    type=click.IntRange(99, 10**7),
    metavar="N",
    default=9999,
    show_default=True,
    help="How often to draw again.",
)
OVER = option(
    "--over",
    group="Uncertainty",
    type=Choice(["documents", "annotators", "both"]),
    default="documents",
    show_default=True,
    help="What to draw: other documents, other annotators, or both.",
)
uncertainty = together(
    [
        option(
            "--confidence",
            group="Uncertainty",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            metavar="C",
            help="Give intervals that hold the score with this confidence, such as 0.95.",
        ),
        option(
            "--interval-method",
            group="Uncertainty",
            type=Choice(["bca", "percentile", "expanded"]),
            default="bca",
            show_default=True,
            help="How intervals are made from resamples; expanded allows for few documents.",
        ),
        RESAMPLES,
    ]
)
"""How sure a score is."""


def seed(options: Mapping[str, Any]) -> int:
    """Where the random numbers of resamples begin: at 0, if nobody says otherwise."""
    return options["seed"] or 0


def check_intervals_wanted(options: Mapping[str, Any]) -> None:
    """Refuse options of intervals where none were asked for, rather than ignore them."""
    ctx = click.get_current_context()
    for name in ("interval_method", "over"):
        given = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and options["confidence"] is None:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} is for intervals; say --confidence 0.95 as well")


def interval_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the library wants to know for intervals."""
    return {
        "confidence": options["confidence"],
        "method": options["interval_method"],
        "resamples": options["resamples"],
        "rng": seed(options),
    }


GAMMA = option(
    "--gamma",
    group="Scoring",
    type=Parameters(),
    help="Parameters of gamma: alpha, beta, delta, precision, confidence, samples.",
)


def gamma_parameters(options: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of gamma, whole numbers where they count something."""
    given = options["gamma"] or {}
    return {
        name: int(value) if name == "samples" and value.is_integer() else value
        for name, value in given.items()
    }


TOP = option(
    "--top",
    group="Output",
    type=click.IntRange(0),
    metavar="N",
    default=20,
    help="Rows of long tables for people; 0 shows all, as JSON and CSV do.  [default: 20]",
)


class Bar(click.ParamType[Any]):
    """A score that others are held against."""

    name = "SCORE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """A number."""
        try:
            number = float(value)
        except ValueError:
            number = nan
        if isnan(number):
            self.fail(f"'{value}' is not a score; expected a number such as 0.7", param, ctx)
        return number


FAIL_UNDER = option(
    "--fail-under",
    group="Output",
    type=Bar(),
    metavar="SCORE",
    help="Exit with 3 if a corrected score is below this, or undefined.",
)
