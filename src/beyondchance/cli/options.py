"""Options that several commands share, by the words of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf
from operator import itemgetter
from typing import Any, TypeVar

import click

import beyondchance.scoring.options  # noqa: F401 - enters CHOICES
from beyondchance.checks import nearest
from beyondchance.cli.running import Command, Option, flag_of
from beyondchance.core.measures import MEASURES
from beyondchance.io.registry import FORMATS, plugins
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
    """A choice that knows other names, and suggests the nearest one.

    `more` returns further choices; it is called for a value that is none of the others.
    """

    def __init__(
        self,
        choices: Iterable[str],
        aliases: Mapping[str, str] | None = None,
        more: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        super().__init__(list(choices))
        self.aliases = aliases or {}
        self.more = more

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the choice that is meant."""
        if value not in self.choices:
            self.choices = tuple(dict.fromkeys((*self.choices, *self.more())))
        return super().convert(known_value(value, self.choices, self.aliases), param, ctx)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Name the choices, and the one that was probably meant."""
        known = ", ".join(self.choices)
        return f"'{value}' is not one of {known}; {nearest(value, self.choices)}".rstrip("; ")


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


def _names(word: str) -> tuple[str, ...]:
    return tuple(_filled(name.strip()) for name in word.split(","))


def _filled(name: str) -> str:
    if not name:
        raise ValueError
    return name


def _renaming(word: str) -> tuple[str, str]:
    old, _, new = word.partition("=")
    return _filled(old), _filled(new)


def _parameters(word: str) -> dict[str, float]:
    pairs = [part.partition("=") for part in word.split(",")]
    return {name.strip(): float(number) for name, _, number in pairs}


def _gamma(word: str) -> dict[str, float]:
    found = _parameters(word)
    samples = found.get("samples", 0.5)
    return found | ({"samples": int(samples)} if samples.is_integer() else {})


def _up_to_1(word: str, low: float = -inf) -> float:
    number = float(word)
    if not low <= number <= 1:
        raise ValueError
    return number


NAMES = Parsed("NAME,...", _names, "has an empty name; expected names separated by commas")
LENGTHS = Parsed(
    "N,...",
    lambda word: tuple(map(int, word.split(","))),
    "is not a list of lengths; expected lengths such as 1,5,10",
)
_RENAMING = Parsed("OLD=NEW", _renaming, "is not a renaming; expected OLD=NEW")
_GAMMA = Parsed("NAME=NUMBER,...", _gamma, "is not NAME=NUMBER, several separated by commas")
WEIGHTS = Parsed(
    "NAME=NUMBER,...|agreement",
    lambda word: word if word == "agreement" else _parameters(word),
    "is neither agreement nor NAME=NUMBER, several separated by commas",
)
_SHARE_OR_NONE = Parsed(
    "SHARE",
    lambda word: None if word == "none" else _up_to_1(word, 0),
    "is not a number from 0 to 1, or none",
)
_BAR = Parsed("SCORE", _up_to_1, "is not a score; expected a number up to 1, such as 0.7")
BETWEEN = click.FloatRange(0, 1, min_open=True, max_open=True)
"""A number between 0 and 1, neither included."""


command = partial(click.command, cls=Command)


def option(*names: str, group: str, **settings: Any) -> Decorator:
    """Make an option in a group of the help page, which shows its default if it has one."""
    settings.setdefault("show_default", bool(settings.get("default")))
    return click.option(*names, cls=Option, group=group, **settings)


in_annotations = partial(option, group="Annotations")
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
    said = {name: getattr(declaration, name) for name in ("help", "is_everyday", "default")}
    said["more"] = item.more
    if declaration.refuses:
        # Without a value, what mends depends on --strict; the help shows what it is without that.
        said |= {"default": None, "show_default": declaration.default}
    choices = CHOICES.get(item.name, item.choices)
    if item.name == "strict":
        said |= {"type": Parsed("NAMES", str, ""), "metavar": declaration.metavar}
    elif item.kind is bool:
        said["is_flag"] = True
    elif choices and not declaration.is_list:
        said["type"] = Choice(choices, declaration.aliases)
    else:
        said["type"] = _type(item)
        said["metavar"] = (
            declaration.metavar or "|".join(choices) or ("N" if item.kind is int else "NAME")
        )
    return option(flag_of(item.signed_name), group=group, **{**said, **settings})


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
_SCORING = declared(ScoringOptions)
SCORING = {name: item for name, item in _SCORING.items() if item.option.in_commands}
RESAMPLING = declared(ResamplingOptions)
COUNTING = declared(CountingOptions)


def picked(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return some of the options, those that the command has."""
    return {name: options[name] for name in names if name in options}


def scoring_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to score; a seed is for measures that sample, otherwise for resamples only."""
    is_sampled = "seed" in MEASURES[options["measure"]].parameters
    return {**picked(options, SCORING), **({} if is_sampled else {"seed": None})}


def resampling_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to resample, by those options that the command has; the seed is 0 by default."""
    given = {name: item.signed_name for name, item in RESAMPLING.items()}
    known = {name: options[flag] for name, flag in given.items() if flag in options}
    return {**known, "seed": options["seed"] or 0}


def if_intervals(options: Mapping[str, Any], made: Callable[..., Result]) -> Result | None:
    """Make intervals, or what else is made from resamples, where ``--confidence`` asks for it."""
    return made(**resampling_options(options)) if options["confidence"] is not None else None


def together(*options: Decorator) -> Decorator:
    """Join several options into one decorator, in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _by_old_names(
    _: click.Context, param: click.Parameter, renamed: tuple[tuple[str, str], ...]
) -> dict[str, str]:
    found = dict(renamed)
    if len(found) < len(renamed):
        raise click.UsageError(
            f"{param.opts[0]} was given twice for one name; expected one new name"
        )
    return found


annotated_files = together(
    click.argument("files", nargs=-1, metavar="FILE...", type=click.Path(readable=False)),
    in_annotations(
        "--gold",
        type=Parsed("NAME|FILE|NAME=FILE", _filled, "is empty; expected an annotator or a file"),
        is_everyday=True,
        help=declared(ReadOptions)["gold"].option.help,
    ),
    in_annotations(
        "--annotators", type=NAMES, is_everyday=True, help="Only these annotators, after renaming."
    ),
    in_annotations(
        "--rename-annotator",
        type=_RENAMING,
        multiple=True,
        callback=_by_old_names,
        help="A new name for an annotator; can be repeated. Two annotators can get one name if "
        "they have no document in common. --gold and --annotators take old and new names.",
    ),
    in_annotations(
        "--pseudonyms",
        is_flag=True,
        help="Call annotators 'annotator 1', 'annotator 2', ... everywhere (next to a gold "
        "standard, 'gold', 'system 1', ...), and files 'file 1', 'file 2', ... Names of "
        "documents, fields and labels and texts stay, and may hold names.",
    ),
    in_annotations(
        "--labels", type=NAMES, is_everyday=True, help="Only these labels, after renaming."
    ),
    in_annotations(
        "--exclude-labels",
        type=NAMES,
        needs=(
            lambda given: given["labels"] is None,
            "does not go with --labels; expected one of them",
        ),
        help="All labels but these.",
    ),
    in_annotations(
        "--rename-label",
        type=_RENAMING,
        multiple=True,
        callback=_by_old_names,
        help="A new name for a label; can be repeated.",
    ),
    option(
        "--format",
        group="Reading",
        type=Choice(FORMATS, more=plugins),
        metavar="NAME",
        is_everyday=True,
        help="The format of the files, if it is not detected.",
        more="One of those that 'beyondchance formats' lists; detected from their content by "
        "default.",
    ),
    *(flag(item, group="Reading") for item in READING.values()),
    in_annotations(
        "--no-text",
        is_flag=True,
        is_everyday=True,
        help="Show no annotated text.",
        more="Results leave it out, and messages quote nothing from the files.",
    ),
)
"""Which annotations are read, and how."""
counting = together(
    *(flag(item, group="Large files") for item in COUNTING.values()),
    option(
        "--dask",
        group="Large files",
        metavar="ADDRESS",
        help="Count on a cluster of Dask, such as tcp://127.0.0.1:8786.",
    ),
)
"""How files are counted that are read in parts."""
AVERAGE = flag(SCORING["average"], group="Scoring")
informed = partial(
    flag,
    _SCORING["chance"],
    group="Scoring",
    type=Choice(("uniform", "shapes")),
    help="Also compare with random annotators who see the shapes of words (capitals, digits, "
    "punctuation); what is left above them is called skill.",
)
CHANCE = informed(
    needs=(
        lambda given: not given["methods"] or given["chance"] == "uniform",
        "is not described by --methods, which is about uniform chance (in Python it is)",
    ),
)
scoring = together(
    *(flag(item, group="Scoring") for name, item in SCORING.items() if name != "average")
)
"""How annotations are scored."""
INTERVALS = (itemgetter("confidence"), "is for intervals; pass --confidence 0.95 as well")
"""What options of intervals need."""


def resampling(name: str, **settings: Any) -> Decorator:
    """Make a flag for how to resample."""
    return flag(RESAMPLING[name], group="Uncertainty", **settings)


CONFIDENCE, RESAMPLES = resampling("confidence"), resampling("resamples")
METHOD, OVER = resampling("method", needs=INTERVALS), resampling("over", needs=INTERVALS)
uncertainty = together(
    resampling("confidence", more="Intervals are computed only if it is given.", default=None),
    METHOD,
    RESAMPLES,
)
"""How uncertain a score is."""


def digits(default: int, more: str = "") -> Decorator:
    """Make the option for how many digits tables and text have."""
    return in_output(
        "--digits",
        type=click.IntRange(1, 15),
        metavar="N",
        default=default,
        help=f"Digits after the point{more}.",
    )


def top(default: int, text: str) -> Decorator:
    """Make the option for how many of many things are shown."""
    return in_output("--top", type=click.IntRange(0), metavar="N", default=default, help=text)


QUIET = in_output("--quiet", "-q", is_flag=True, is_everyday=True, help="No notes and no progress.")
BY = in_output(
    "--by",
    metavar="week|month|FIELD",
    is_everyday=True,
    is_flat=False,
    help="Agreement over time, and who changed.",
    more="By the date of each annotation, or by a field of the documents.",
)
TOP = top(20, "Rows of long tables in text; 0 shows all, as JSON and CSV do.")


def _as_papers_do(context: click.Context, _: click.Parameter, is_asked: Any) -> Any:
    """Make three digits the default of a paragraph for a paper."""
    if is_asked:
        context.default_map = {**(context.default_map or {}), "digits": 3}
    return is_asked


METHODS = in_output(
    "--methods",
    is_flag=True,
    is_flat=False,
    is_eager=True,
    callback=_as_papers_do,
    help="Print, instead of the tables, a paragraph for a paper that says how the result was "
    "computed, with all numbers, by default of 3 digits; JSON has both.",
)
_SAVE = in_output(
    "--save",
    type=click.Path(dir_okay=False),
    is_everyday=True,
    help="Write the result to a file instead.",
    more="It is written completely or not at all, in the form that its name ends with.",
)


def _printed(forms: Iterable[str], *more: Decorator) -> Decorator:
    form = in_output(
        "--output",
        type=Choice(forms),
        is_everyday=True,
        help="The form of the result.",
        more="By default what --save ends with, or text.",
    )
    return together(
        form, *more, digits(4, " in tables and text; JSON and CSV have all digits"), QUIET
    )


output = _printed(OUTPUTS, _SAVE)
"""How a result is printed or saved."""
list_output = _printed(LIST_OUTPUTS, _SAVE)
"""The same of a result that is a list."""
printed_list = _printed(LIST_OUTPUTS)
"""The same where something else is saved."""

REPLACED = (lambda given: given.get("replace", True), "is for --replace; name a model")
"""What options of replacing people need."""
_in_replacing = partial(in_uncertainty, type=_SHARE_OR_NONE, is_everyday=True, needs=REPLACED)
planned = together(
    _in_replacing("--keep", default=0.9, help="Share of people's agreement to keep, or none."),
    _in_replacing("--margin", default=0.05, help="How far below it a model may be, or none."),
)
"""What a model has to show that is to replace people."""
replacing = together(
    planned,
    in_annotations(
        "--blind",
        type=Choice(BLIND),
        default="unknown",
        is_everyday=True,
        needs=REPLACED,
        help="Whether people did not see the model's work.",
    ),
)
"""The same, and how people annotated."""


def coefficients(more: str = "") -> Decorator:
    """Make the options for other coefficients."""
    return together(
        in_scoring(
            "--coefficients",
            type=NAMES,
            help="Other coefficients besides ours: 'all', or names such as alpha,gamma,kappa.",
            more=more,
        ),
        in_scoring(
            "--gamma",
            type=_GAMMA,
            needs=(
                lambda given: {"all", "gamma"} & {*(given["coefficients"] or ())},
                "is for the coefficient gamma; pass --coefficients gamma as well",
            ),
            help="Parameters of gamma: alpha, beta, delta, precision, confidence, samples.",
        ),
    )


FAIL_UNDER = in_output(
    "--fail-under",
    type=_BAR,
    is_everyday=True,
    help="Exit with 3 if a corrected score is below this, or undefined.",
)
