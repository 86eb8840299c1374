"""Options that several commands share, by the words of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf
from typing import Any, TypeVar

import click

import beyondchance.scoring.options  # noqa: F401 - enters CHOICES
from beyondchance.cli.running import Option, is_given
from beyondchance.core.measures import MEASURES
from beyondchance.io.registry import FORMATS
from beyondchance.options import (
    BLIND,
    CHOICES,
    CountingOptions,
    Declared,
    ReadOptions,
    ResamplingOptions,
    ScoringOptions,
    declared,
    known_value,
)
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

Result = TypeVar("Result")


class Choice(click.Choice[str]):
    """A choice that knows other names, and suggests the nearest one."""

    def __init__(self, choices: Iterable[str], aliases: Mapping[str, str] | None = None) -> None:
        super().__init__(list(choices))
        self.aliases = aliases or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The choice that is meant."""
        return super().convert(known_value(value, self.choices, self.aliases), param, ctx)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Name the choices, and the one that was probably meant."""
        from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

        names = [str(name) for name in self.choices]
        near = get_close_matches(str(value), names, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return f"'{value}' is not one of {', '.join(names)}{hint}"


class Parsed(click.ParamType):  # type: ignore[type-arg] # generic since click 8.4
    """A value that a function parses from a word, and what is wrong where it cannot."""

    def __init__(self, name: str, parse: Callable[[str], Any], wrong: str) -> None:
        self.name = name
        self.parse = parse
        self.wrong = wrong

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a word; return any other value as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError:
            self.fail(f"'{value}' {self.wrong}", param, ctx)


def _checked(value: Result, is_right: object) -> Result:
    if not is_right:
        raise ValueError
    return value


def _names(word: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in word.split(","))
    return _checked(names, all(names))


def _renaming(word: str) -> tuple[str, str]:
    old, _, new = word.partition("=")
    return _checked((old, new), old and new)


def _parameters(word: str) -> dict[str, float]:
    pairs = [part.partition("=") for part in word.split(",")]
    return {name.strip(): float(number) for name, _, number in pairs}


def _share_or_none(word: str) -> float | None:
    return None if word == "none" else _checked(float(word), 0 <= float(word) <= 1)


def _bar(word: str) -> float:
    return _checked(float(word), float(word) <= 1)


NAMES = Parsed("NAME,...", _names, "has an empty name; expected names separated by commas")
LENGTHS = Parsed(
    "N,...",
    lambda word: tuple(int(part) for part in word.split(",")),
    "is not a list of lengths; expected lengths such as 1,5,10",
)
_RENAMING = Parsed("OLD=NEW", _renaming, "is not a renaming; expected OLD=NEW")
PARAMETERS = Parsed(
    "NAME=NUMBER,...", _parameters, "is not NAME=NUMBER, several separated by commas"
)
WEIGHTS = Parsed(
    "NAME=NUMBER,...|agreement",
    lambda word: word if word == "agreement" else _parameters(word),
    "is neither agreement nor NAME=NUMBER, several separated by commas",
)
_SHARE_OR_NONE = Parsed("SHARE", _share_or_none, "is not a number from 0 to 1, or none")
_BAR = Parsed("SCORE", _bar, "is not a score; expected a number up to 1, such as 0.7")


def option(*names: str, group: str, **settings: Any) -> Decorator:
    """An option in a group of the help page, which shows its default if it has one."""
    show = settings.pop("shown", None) or bool(settings.get("default"))
    return click.option(*names, cls=Option, group=group, show_default=show, **settings)


in_annotations = partial(option, group="Annotations")
in_reading = partial(option, group="Reading")
in_scoring = partial(option, group="Scoring")
in_uncertainty = partial(option, group="Uncertainty")
in_output = partial(option, group="Output")


def flag(item: Declared, *, group: str, **settings: Any) -> Decorator:
    """Make a flag from the declaration of an option of the library.

    Parameters
    ----------
    item : Declared
    group : str
        On the help page.
    **settings
        In place of what the declaration says.
    """
    declaration = item.option
    choices = CHOICES.get(item.name, item.choices)
    # Without a value, what mends depends on --strict; the help shows what it is without that.
    settings.setdefault("default", None if declaration.refuses else declaration.default)
    if declaration.refuses:
        settings["shown"] = declaration.default
    if item.kind is bool:
        settings["is_flag"] = True
    else:
        settings["type"] = Choice(choices, declaration.aliases) if choices else _type(item)
        settings["metavar"] = (
            None if choices else declaration.metavar or ("N" if item.kind is int else "NAME")
        )
    said = {name: getattr(declaration, name) for name in ("help", "more", "is_everyday")}
    flag_name = f"--{item.signed_name.replace('_', '-')}"
    return option(flag_name, group=group, **{**said, **settings})


def _type(item: Declared) -> Any:
    within = item.option.within
    if within is None:
        return item.kind
    limits: Any = click.IntRange if item.kind is int else click.FloatRange
    return limits(
        within.low,
        None if within.high == inf else within.high,
        min_open=within.is_low_open,
        max_open=within.is_high_open,
    )


READING = {name: item for name, item in declared(ReadOptions).items() if item.option.in_commands}
"""The options that are passed on to `read`."""
SCORING = declared(ScoringOptions)
RESAMPLING = declared(ResamplingOptions)
COUNTING = declared(CountingOptions)


def picked(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Some of the options, those that the command has."""
    return {name: options[name] for name in names if name in options}


def scoring_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """How to score; a seed is for measures that sample, otherwise for resamples only."""
    is_sampled = "seed" in MEASURES[options["measure"]].parameters
    return {**picked(options, SCORING), **({} if is_sampled else {"seed": None})}


def resampling_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """How to resample, by those of the options that the command has; the seed is 0 by default."""
    given = {name: item.signed_name for name, item in RESAMPLING.items()}
    known = {name: options[flag] for name, flag in given.items() if flag in options}
    return {**known, "seed": options["seed"] or 0}


def if_intervals(options: Mapping[str, Any], made: Callable[..., Result]) -> Result | None:
    """Intervals, or what else is made from resamples, where ``--confidence`` asks for it."""
    return made(**resampling_options(options)) if options["confidence"] is not None else None


def together(options: Iterable[Decorator]) -> Decorator:
    """Several options as one decorator, in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed([*options]):
            function = option(function)
        return function

    return decorate


FORMAT = in_reading(
    "--format",
    type=Choice(FORMATS),
    metavar="NAME",
    is_everyday=True,
    help="The format of the files, if it is not detected.",
    more="One of those that 'beyondchance formats' lists; detected from their content by default.",
)

annotated_files = together(
    [
        click.argument("files", nargs=-1, metavar="FILE...", type=click.Path(readable=False)),
        in_annotations(
            "--gold",
            metavar="NAME|FILE|NAME=FILE",
            is_everyday=True,
            help=declared(ReadOptions)["gold"].option.help,
        ),
        in_annotations(
            "--annotators",
            type=NAMES,
            is_everyday=True,
            help="Only these annotators, after renaming.",
        ),
        in_annotations(
            "--rename-annotator",
            type=_RENAMING,
            multiple=True,
            help="A new name for an annotator; can be repeated. Two annotators can get one name if "
            "they have no document in common. --gold and --annotators take old and new names.",
        ),
        in_annotations(
            "--pseudonyms",
            is_flag=True,
            help="Call annotators 'annotator 1', 'annotator 2', ... everywhere, a gold standard "
            "'gold', and files 'file 1', 'file 2', ... Names of documents, fields and labels and "
            "texts stay, and may hold names.",
        ),
        in_annotations(
            "--labels", type=NAMES, is_everyday=True, help="Only these labels, after renaming."
        ),
        in_annotations("--exclude-labels", type=NAMES, help="All labels but these."),
        in_annotations(
            "--rename-label",
            type=_RENAMING,
            multiple=True,
            help="A new name for a label; can be repeated.",
        ),
        FORMAT,
        *(flag(item, group="Reading") for item in READING.values()),
        in_annotations(
            "--no-text",
            is_flag=True,
            is_everyday=True,
            help="Show no annotated text.",
            more="Results leave it out, and messages quote nothing from the files.",
        ),
    ]
)
"""Which annotations are read, and how."""
counting = together(
    [
        *(flag(item, group="Large files") for item in COUNTING.values()),
        option(
            "--dask",
            group="Large files",
            metavar="ADDRESS",
            help="Count on a cluster of Dask, such as tcp://127.0.0.1:8786.",
        ),
    ]
)
"""How files are counted that are read in parts."""
AVERAGE = flag(SCORING["average"], group="Scoring")
scoring = together(
    [flag(item, group="Scoring") for name, item in SCORING.items() if name != "average"]
)
"""How annotations are scored."""
CONFIDENCE, METHOD, RESAMPLES, OVER = (
    flag(RESAMPLING[name], group="Uncertainty")
    for name in ("confidence", "method", "resamples", "over")
)
uncertainty = together(
    [
        flag(
            RESAMPLING["confidence"],
            group="Uncertainty",
            more="Intervals are computed only if it is given.",
            default=None,
        ),
        METHOD,
        RESAMPLES,
    ]
)
"""How uncertain a score is."""


def check_intervals_wanted(options: Mapping[str, Any]) -> None:
    """Refuse options of intervals where none were asked for, rather than ignore them."""
    ctx = click.get_current_context()
    for name in ("interval_method", "over", "against"):
        if is_given(ctx, name) and options["confidence"] is None:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} is for intervals; pass --confidence 0.95 as well")


def _form(forms: Iterable[str]) -> Decorator:
    return in_output(
        "--output",
        type=Choice(list(forms)),
        is_everyday=True,
        help="The form of the result.",
        more="By default what --save ends with, or text.",
    )


def digits(default: int, more: str = "") -> Decorator:
    """How many digits tables and text have."""
    return in_output(
        "--digits",
        type=click.IntRange(1, 15),
        metavar="N",
        default=default,
        help=f"Digits after the point{more}.",
    )


def top(default: int, text: str) -> Decorator:
    """How many of many things are shown."""
    return in_output("--top", type=click.IntRange(0), metavar="N", default=default, help=text)


QUIET = in_output("--quiet", "-q", is_flag=True, is_everyday=True, help="No notes and no progress.")
TOP = top(20, "Rows of long tables in text; 0 shows all, as JSON and CSV do.")
METHODS = in_output(
    "--methods",
    is_flag=True,
    is_flat=False,
    help="Print, instead of the tables, a paragraph for a paper that says how the result was "
    "computed, with all numbers; JSON has both.",
)
_SAVE = in_output(
    "--save",
    type=click.Path(dir_okay=False),
    is_everyday=True,
    help="Write the result to a file instead.",
    more="It is written completely or not at all, in the form that its name ends with.",
)


def printed(forms: Iterable[str], *more: Decorator) -> Decorator:
    """How a result is printed, in one of some forms."""
    precise = digits(4, " in tables and text; JSON and CSV have all digits")
    return together([_form(forms), *more, precise, QUIET])


output = printed(OUTPUTS, _SAVE)
"""How a result is printed or saved."""
list_output = printed(LIST_OUTPUTS, _SAVE)
"""The same of a result that is a list."""

MODEL = in_annotations(
    "--model",
    "models",
    type=NAMES,
    required=True,
    is_everyday=True,
    help="The model among the annotators; several are compared with each other.",
)
HUMANS = in_annotations(
    "--humans", type=NAMES, is_everyday=True, help="The people; by default all others."
)
_REPLACING: Mapping[str, Decorator] = {
    "keep": in_uncertainty(
        "--keep",
        type=_SHARE_OR_NONE,
        default=0.9,
        is_everyday=True,
        help="Share of people's agreement to keep, or none.",
    ),
    "margin": in_uncertainty(
        "--margin",
        type=_SHARE_OR_NONE,
        default=0.05,
        is_everyday=True,
        help="How far below it a model may be, or none.",
    ),
    "blind": in_annotations(
        "--blind",
        type=Choice(BLIND),
        default="unknown",
        is_everyday=True,
        help="Whether people did not see the model's work.",
    ),
}
replacing = together(list(_REPLACING.values()))
"""What a model has to show that is to replace people."""
planned = together([_REPLACING["keep"], _REPLACING["margin"]])
"""The same before there is anything to show."""


def replacing_options(options: Mapping[str, Any], *, is_asked: bool = True) -> dict[str, Any]:
    """Return what a model has to show; refuse it where no model is named."""
    ctx = click.get_current_context()
    known = [name for name in _REPLACING if name in options]
    for name in known:
        if is_given(ctx, name) and not is_asked:
            raise click.UsageError(f"--{name} is for --replace; name a model")
    return picked(options, known)


GAMMA = in_scoring(
    "--gamma",
    type=PARAMETERS,
    help="Parameters of gamma: alpha, beta, delta, precision, confidence, samples.",
)


def check_gamma_wanted(options: Mapping[str, Any]) -> None:
    """Refuse parameters of gamma where it was not asked for, rather than ignore them."""
    if options["gamma"] and not {"all", "gamma"} & set(options["coefficients"] or ()):
        found = "--gamma is for the coefficient gamma"
        raise click.UsageError(f"{found}; pass --coefficients gamma as well")


def gamma_parameters(options: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of gamma, whole numbers where they count something."""
    given = options["gamma"] or {}
    return {
        name: int(value) if name == "samples" and value.is_integer() else value
        for name, value in given.items()
    }


FAIL_UNDER = in_output(
    "--fail-under",
    type=_BAR,
    is_everyday=True,
    help="Exit with 3 if a corrected score is below this, or undefined.",
)
