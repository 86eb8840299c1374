"""Every option, declared once: its type, default, help, and whether it is signed.

The public functions take these as keyword arguments (PEP 692), the command line makes its
flags from them, `Settings` its signature, and the documentation its lists. To add an
option, add a line here and use it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from inspect import Parameter, Signature, signature
from operator import or_
from os import PathLike
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.checks import Within, checked_number, checked_option, nearest
from beyondchance.errors import OptionError
from beyondchance.messages import Quote, Text, Use, given
from beyondchance.types import Generator, Ints
from beyondchance.values import internal

FEWEST_RESAMPLES, MOST_RESAMPLES = 99, 10**7

CHOICES: dict[str, Mapping[str, str]] = {}
"""Values of options that registries know, each with what it means, entered by these."""


class Mended(NamedTuple):
    """Something that is mended by default.

    Attributes
    ----------
    what : str
        What is mended, and how.
    signed : str
        What the signature has where it was mended.
    is_in_all : bool
        Whether strict reading refuses it, also if it is not named.
    """

    what: str
    signed: str
    is_in_all: bool = True


MENDED: Mapping[str, Mended] = {
    "mismatch": Mended(
        "texts or tokens that differ between annotators in spelling or white space, aligned",
        "align",
    ),
    "marks": Mended("lines that begin documents in some files only, taken for all", "shared"),
    "duplicates": Mended("spans that one annotator marked twice, taken once", "skip"),
    "stored_words": Mended(
        "words stored next to a span that are not those of the text, ignored", "ignore"
    ),
    "inexact_quotes": Mended(
        "quotes that are not in the text as they stand in the file, not as often, or not at their "
        "position, found or left out",
        "mend",
    ),
    "answers": Mended(
        "answers of language models with text around JSON, broken JSON or none", "mend"
    ),
    "cut_tokens": Mended(
        "spans that cut a token, widened to it (refused only by name)", "widen", is_in_all=False
    ),
    "discontinuous": Mended(
        "spans of several fragments (refused only by name)", "keep", is_in_all=False
    ),
}
"""What is mended unless ``strict`` refuses it, by its name there."""


def refused_kinds(strict: object) -> frozenset[str]:
    """Return the names in `MENDED` of what ``strict`` refuses.

    Examples
    --------
    >>> sorted(refused_kinds("marks, stored-words")), refused_kinds(False)
    (['marks', 'stored_words'], frozenset())
    >>> sorted(refused_kinds(True) - refused_kinds("-marks,-mismatch"))
    ['marks', 'mismatch']
    """
    all_kinds = {name for name, item in MENDED.items() if item.is_in_all}
    found = all_kinds if refuses_all(strict) else set()
    for name in _names(strict):
        kind = name.removeprefix("-").replace("-", "_")
        if kind != "all":
            checked_option("strict", kind, MENDED)
            (found.discard if name.startswith("-") else found.add)(kind)
    return frozenset(found)


def refuses_all(strict: object) -> bool:
    """Return whether ``strict`` refuses everything, except what it names after a minus."""
    return any(name == "all" or name.startswith("-") for name in _names(strict))


def _names(strict: object) -> list[str]:
    if isinstance(strict, bool | np.bool_):
        return ["all"] if strict else []
    names = strict.split(",") if isinstance(strict, str) else strict
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        return [name.strip() for name in names]
    raise OptionError(*given("strict", strict), expected="True, False or names")


FORMER: dict[str, Text] = {
    "keep_parts": "leave it out: an interrupted run starts anew, and takes seconds for a million "
    "documents; shares of larger files are counted with part and save_counts",
    "sensitivity": ("pass ", Use("measure"), ", ", Use("unit"), " and ", Use("scope"), " in turn"),
    "spans_key": ("pass ", Use("layer", placeholder="NAME")),
    "align": (Use("strict", "cut_tokens"), " refuses spans that cut a token"),
    **{
        name: (Use("strict", name), " refuses what is mended by default")
        for name, item in MENDED.items()
        if item.is_in_all and name != "answers"
    },
    "ends": ("pass ", Use("offsets", "inclusive"), " or 'exclusive'"),
    "tag_column": ("pass ", Use("columns", "tag=4"), ", by number or by name"),
    "token_column": ("pass ", Use("columns", "token=1"), ", by number or by name"),
    "tokeniser": ("pass ", Use("positions", "whitespace"), " or 'tokens'"),
    "whitespace": "leave it out: white space at the edges of spans is never part of them",
}
"""Options of earlier versions, each with what to do instead."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


@internal
class Option:
    """What there is to know of an option besides its name and type.

    Attributes
    ----------
    help : str
        One short sentence.
    default : object
    more : str
        What else there is to know, for those who ask for all options.
    is_everyday : bool
        Whether most people need it: the help page of a command shows these options, and
        ``--help-all`` the others too.
    is_signed : bool
        Whether it moves a digit, and so belongs to the signature; most do.
    within : Within, optional
        The numbers that it takes.
    flag : str
        Its name on the command line and in the signature, where it is another one.
    metavar : str
        What the help page puts for its value; N for whole numbers, NAME otherwise.
    in_commands : bool
        Whether the command line has it as it is.
    refuses : str
        Of an option that mends: the value by which it refuses instead. Strict reading takes
        it, and the signature has the option where it mended something.
    aliases : mapping of str to str
        Other names of its values.
    is_list : bool
        Whether it takes several of its values, separated by commas.
    """

    help: str
    default: Any = None
    more: str = ""
    is_everyday: bool = False
    is_signed: bool = True
    within: Within | None = None
    flag: str = ""
    metavar: str = ""
    in_commands: bool = True
    refuses: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    is_list: bool = False


def known_value(value: Any, choices: Iterable[str], aliases: Mapping[str, str]) -> Any:
    """Return the value that is meant by an alias or, if all are upper case, in any case.

    Examples
    --------
    >>> known_value("bio", ["IOB1", "IOB2"], {"BIO": "IOB2"}), known_value("x", ["a", "b"], {})
    ('IOB2', 'x')
    """
    if not isinstance(value, str):
        return value
    own = value.upper() if all(map(str.isupper, choices)) else value
    return aliases.get(own, own)


class Declared(NamedTuple):
    """An option with its name, and what its type says.

    Attributes
    ----------
    name : str
    option : Option
    kind : type
        str, int, float or bool.
    choices : tuple of str
        The values that it takes, where they are few; empty otherwise.
    """

    name: str
    option: Option
    kind: type
    choices: tuple[str, ...]

    @property
    def more(self) -> str:
        """What else there is to know; of values that registries know, what each means."""
        meanings = [f"{name}: {meaning}" for name, meaning in CHOICES.get(self.name, {}).items()]
        return f"{'; '.join(meanings)}." if meanings else self.option.more

    @property
    def signed_name(self) -> str:
        """Its name in the signature and on the command line."""
        return self.option.flag or self.name

    @property
    def mends(self) -> str:
        """The value by which an option mends what it can also refuse."""
        default: str = self.option.default
        others = (choice for choice in self.choices if choice != self.option.refuses)
        return next(others) if default == self.option.refuses else default

    def default(self, *, is_strict: bool) -> Any:
        """Return the default; under strict reading the value by which an option refuses."""
        return (is_strict and self.option.refuses) or self.option.default

    def checked(self, value: Any) -> Any:
        """Return the value, refusing one that the option does not take."""
        if value is None and self.option.default is None:
            return value
        if self.option.is_list and isinstance(value, str):
            names = [name.strip() for name in value.split(",")]
            return ",".join(checked_option(self.name, name, self.choices) for name in names)
        if self.choices:
            known = known_value(value, self.choices, self.option.aliases)
            return checked_option(self.name, known, self.choices)
        if self.name == "strict":
            refused_kinds(value)
            return value
        if self.kind is bool and not isinstance(value, bool | np.bool_):
            raise OptionError(*given(self.name, value), expected="True or False")
        if self.option.within is None:
            return value
        return checked_number(self.name, value, self.option.within, kind=self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomMeasure:
    """A measure of your own: any function of two spans, summed over those that intersect.

    Attributes
    ----------
    name : str
        For the signature.
    phi : function
        Of four arrays, the starts and the lengths of spans of one annotator and of spans
        of another, pair by pair: how much each pair matches. It is asked only about pairs
        that share a position, must not depend on which of the two comes first, and is
        never negative.
    size : function
        Of an array of lengths: how much each span counts. Agreement is 2 (sum of phi) /
        (sum of sizes of both), so that identical annotations agree completely if phi of a
        span with itself is its size.

    Examples
    --------
    Any overlap at all is a match.

    >>> touching = CustomMeasure(
    ...     name="touching",
    ...     phi=lambda start_a, length_a, start_b, length_b: np.ones(len(start_a)),
    ...     size=lambda length: np.ones(len(length)),
    ... )
    >>> from beyondchance import agreement
    >>> result = agreement([["B-X", "I-X", "O"]], [["O", "B-X", "O"]], measure=touching)
    >>> result.observed, round(result.chance, 4)
    (1.0, 0.6667)
    """

    name: str
    phi: Callable[[Ints, Ints, Ints, Ints], ArrayLike]
    size: Callable[[Ints], ArrayLike]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise OptionError("a custom measure is named ", Quote(self.name), expected="a string")
        for part in ("phi", "size"):
            value = getattr(self, part)
            if not callable(value):
                found = ("measure ", Quote(self.name), f": {part} is ", Quote(value))
                raise OptionError(*found, expected="a function")


class ScoringOptions(TypedDict, total=False):
    """How annotations are scored."""

    measure: Annotated[
        str | CustomMeasure,
        Option(
            "What counts as match.",
            "token",
            is_everyday=True,
        ),
    ]
    theta: Annotated[
        float | None,
        Option(
            "For iou: matching spans share more than this part of what both cover; 0.5 by default.",
            within=Within(0, 1, is_high_open=True),
            metavar="SHARE",
        ),
    ]
    model: Annotated[
        str,
        Option(
            "How random spans may be placed relative to each other.",
            "auto",
        ),
    ]
    scope: Annotated[
        str,
        Option(
            "Place labels separately, together, or ignore them.",
            "label",
            is_everyday=True,
        ),
    ]
    average: Annotated[
        Literal["micro", "annotation"],
        Option(
            "How pairs of annotators are weighted: all the same, or those of a document with v "
            "annotators by 1 / (v - 1), so that each annotation weighs the same.",
            "micro",
            is_signed=True,
        ),
    ]
    chance: Annotated[
        Literal["uniform", "shapes", "weights"],
        Option(
            "What random annotators know: nothing, the shapes of words (capitals, digits, "
            "punctuation), or the weights of Corpus.with_weights.",
            "uniform",
            is_signed=True,
            in_commands=False,
        ),
    ]
    support: Annotated[
        int | None,
        Option(
            "Instead of pairs, score how much of what is marked at least this many annotators of "
            "the document marked.",
            within=Within(2),
            in_commands=False,
        ),
    ]
    samples: Annotated[
        int | None,
        Option(
            "Random arrangements of each text where chance is estimated; 1,000 by default.",
            within=Within(2),
        ),
    ]
    seed: Annotated[
        int | Generator | None,
        Option("Random seed; the same seed gives the same digits.", within=Within(0)),
    ]


class ResamplingOptions(TypedDict, total=False):
    """How intervals and tests are computed."""

    confidence: Annotated[
        float,
        Option(
            "The confidence of intervals, between 0 and 1.",
            0.95,
            is_everyday=True,
            within=Within(0, 1, is_low_open=True, is_high_open=True),
            metavar="C",
        ),
    ]
    method: Annotated[
        Literal["expanded", "bca", "percentile"],
        Option(
            "How intervals are computed: from the influence of each document, which allows for "
            "few and unlike documents, or from resamples.",
            "expanded",
            flag="interval_method",
        ),
    ]
    resamples: Annotated[
        int,
        Option(
            "Resamples, for tests and for intervals other than expanded ones.",
            9999,
            within=Within(FEWEST_RESAMPLES, MOST_RESAMPLES),
        ),
    ]
    seed: Annotated[
        int | Generator | None,
        Option("Random seed, or a generator.", in_commands=False),
    ]
    over: Annotated[
        Literal["documents", "annotators", "both"],
        Option("What to draw: other documents, other annotators, or both.", "documents"),
    ]


BLIND = ("yes", "no", "unknown")
"""Whether people annotated without seeing what a model had marked."""


class ReadOptions(TypedDict, total=False):
    """How files are read. Every format takes the options that concern it."""

    unit: Annotated[
        Literal["sentence", "document", "corpus"] | None,
        Option(
            "The stretch of text in which random spans are placed.",
            more="corpus places them in any of its texts. By default what the format has.",
            is_everyday=True,
            is_signed=False,
        ),
    ]
    positions: Annotated[
        Literal["tokens", "characters", "whitespace"] | None,
        Option(
            "What spans are made of: tokens, where the file has none words and single other "
            "characters; characters; or tokens that white space separates.",
            is_signed=False,
        ),
    ]
    gold: Annotated[
        str | PathLike[str] | None,
        Option(
            "The gold standard: one of the annotators, or a file.",
            is_signed=False,
            in_commands=False,
        ),
    ]
    scheme: Annotated[
        Literal["IOB2", "IOB1", "IO", "BIOES", "BILOU", "BMES"] | None,
        Option(
            "The scheme of tags; detected by default. Other names are BIO (IOB2), IOB (IOB1), "
            "IOBES (BIOES) and BIOLU (BILOU).",
            is_signed=False,
            aliases={"BIO": "IOB2", "IOB": "IOB1", "IOBES": "BIOES", "BIOLU": "BILOU"},
        ),
    ]
    strict: Annotated[
        bool | str | Sequence[str],
        Option(
            "Refuse what is mended by default.",
            False,
            "Or only some of it, by names separated by commas; all but some, by names after -. "
            + "; ".join(f"{name}: {item.what}" for name, item in MENDED.items())
            + ".",
            is_everyday=True,
            is_signed=False,
            metavar="[=NAMES]",
        ),
    ]
    repair: Annotated[
        Literal["conlleval", "discard", "none"],
        Option("Tag sequences that break their scheme.", "conlleval", refuses="none"),
    ]
    match: Annotated[
        Literal["id", "exact", "text", "order"],
        Option(
            "How documents of different annotators are matched; exact tells 1 from 1.0.",
            "id",
            refuses="exact",
        ),
    ]
    folder: Annotated[
        Literal["detect", "documents", "annotators"],
        Option(
            "Whether the files of a single folder are documents of one annotator, or each the "
            "work of one.",
            "detect",
            refuses="documents",
        ),
    ]
    offsets: Annotated[
        Literal["codepoints", "utf16", "bytes", "inclusive", "exclusive"] | None,
        Option(
            "What offsets count, where the file departs from its format; for records and lists of "
            "spans also whether ends are included, where stored words do not show it. Separate "
            "both by a comma.",
            is_list=True,
        ),
    ]
    anonymous: Annotated[
        bool,
        Option(
            "Show no texts and no names; labels stay.",
            False,
            "Annotators, documents and files are numbered: annotator 1, or system 1 next to a "
            "gold standard, which is gold. Fields of documents are left out, except those that "
            "--by needs, and attributes of spans. SHA-256 sums of files stay.",
            is_everyday=True,
            is_signed=False,
        ),
    ]
    predictions: Annotated[bool, Option("Count predictions of models as annotators.", False)]
    zero_length: Annotated[
        Literal["error", "skip"], Option("Spans without a position.", "error", refuses="error")
    ]
    bad_rows: Annotated[
        Literal["error", "skip"],
        Option(
            "Rows of a table without a label, outside of the text, or of zero length.",
            "error",
            refuses="error",
        ),
    ]
    repeated: Annotated[
        Literal["last", "documents", "annotators", "error"],
        Option(
            "A document that one annotator annotated twice; and texts without names that recur: "
            "documents, or the work of several annotators.",
            "last",
            refuses="error",
        ),
    ]
    discontinuous: Annotated[
        Literal["keep", "split", "join"],
        Option(
            "Spans of several fragments: kept, or each fragment a span, or one from first to last.",
            "keep",
        ),
    ]
    empty: Annotated[
        Literal["annotated", "missing"], Option("What an empty annotation file means.", "annotated")
    ]
    layer: Annotated[
        str | None,
        Option("The annotation type, span group, list of spans or sheet to read."),
    ]
    feature: Annotated[str | None, Option("The feature that holds the label.")]
    grid: Annotated[
        str | None, Option("The length of a position where offsets are times, such as 10ms.")
    ]
    tier: Annotated[
        Literal["annotator", "label", "file"],
        Option(
            "Where offsets are times: tiers are annotators; files are annotators and tiers "
            "labels; or files are annotators and labels what is written in the tiers.",
            "annotator",
        ),
    ]
    length: Annotated[
        int | None,
        Option("Positions of every document, where a table does not say.", within=Within(0)),
    ]
    documents: Annotated[
        Any,  # a path, or a data frame
        Option("A second table with one row for each document.", is_signed=False, metavar="FILE"),
    ]
    label_names: Annotated[
        str | Sequence[str] | Mapping[Any, Any] | PathLike[str] | None,
        Option(
            "The names of numeric tags: in their order, separated by commas, or a JSON file of "
            "names and numbers.",
            is_signed=False,
            metavar="NAMES|FILE",
        ),
    ]
    near_quotes: Annotated[
        float | None,
        Option(
            "For quotes that are not in the text: how similar, from 0 to 1, a stretch of it must "
            "be to be taken instead.",
            within=Within(0, 1, is_low_open=True),
            metavar="SHARE",
        ),
    ]
    missing_quotes: Annotated[
        Literal["count", "skip"],
        Option(
            "Quotes that are not in the text, or not as often: counted as wrong, or left out.",
            default="count",
        ),
    ]
    columns: Annotated[
        str | list[str] | tuple[str, ...] | None,
        Option(
            "The columns of a table without a header, such as document,label,start,end; _ ignores "
            "one. Or those of tokens and of tags, by number from 1 or by name, such as "
            "token=1,tag=4; several of tags are annotators (tag=3,4) or layers of one (tag=3+4).",
            is_signed=False,
            metavar="NAMES",
        ),
    ]
    fields: Annotated[
        str | Mapping[str, str] | None,
        Option(
            "Where JSON records keep their parts: keys and places in lists joined by dots, such as "
            "text=content,spans=annotation,start=points.0.start,end=points.0.end,label=label.",
            more="Others are document, annotator, words, records (where they are a list in an "
            "object) and tokens, which offsets then count; * is every part of a list.",
            is_signed=False,
            metavar="KEYS",
        ),
    ]
    max_size: Annotated[
        str | None,
        Option(
            "The memory that one file may take, such as 4GB; by default 2 GiB, and of a packed "
            "file 200 times its size.",
            is_signed=False,
            metavar="SIZE",
        ),
    ]


class CorpusOptions(ReadOptions, total=False):
    """What a corpus is made with, from files or from data in memory."""

    names: Sequence[str] | None
    texts: Sequence[str] | None
    tokens: Sequence[Sequence[str]] | None
    lengths: Sequence[int] | None
    format: str | None


class CountingOptions(TypedDict, total=False):
    """How files are counted that are read in parts (see `scan`)."""

    workers: Annotated[
        str | int,
        Option(
            "Processes that count parts of the files; auto takes all cores.",
            1,
            is_signed=False,
            metavar="N|auto",
        ),
    ]
    part: Annotated[
        str | None,
        Option(
            "Count one of several shares of the files, such as 3/100, for an array of jobs.",
            is_signed=False,
            metavar="I/N",
        ),
    ]
    save_counts: Annotated[
        str | PathLike[str] | None,
        Option(
            "Save the counts, to print them or add them to others later.",
            is_signed=False,
            metavar="FILE",
        ),
    ]


class ScoredOptions(ScoringOptions, CorpusOptions, CountingOptions, total=False):
    """How annotations become a corpus, and how it is scored."""

    executor: Any
    progress: Callable[[int, int], None] | None


_hints = cache(partial(get_type_hints, include_extras=True))


@cache
def declared(group: type) -> Mapping[str, Declared]:
    """Return the options of a group by name, in the order of declaration.

    Examples
    --------
    >>> declared(ReadOptions)["match"].choices, declared(ReadOptions)["length"].kind
    (('id', 'exact', 'text', 'order'), <class 'int'>)
    """
    return {name: _declared(name, *get_args(hint)) for name, hint in _hints(group).items()}


def _declared(name: str, hint: Any, option: Option) -> Declared:
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    choices = next((get_args(kind) for kind in (hint, *kinds) if get_origin(kind) is Literal), ())
    plain = next((kind for kind in kinds if kind in (str, bool, int, float)), str)
    return Declared(name, option, str if choices else plain, choices)


def checked_options(group: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a group: given ones, checked, and defaults of the others.

    Raises
    ------
    OptionError
        For an unknown option, or a value that an option does not take.

    Examples
    --------
    >>> checked_options(ReadOptions, {"match": "text"})["match"]
    'text'
    """
    known = declared(group)
    check_known(given, group)
    values = dict(_defaults(group, refuses_all(given.get("strict", False))))
    for name, value in given.items():
        # Of what mends, None is the default, which depends on whether reading is strict.
        if value is not None or not known[name].option.refuses:
            values[name] = known[name].checked(value)
    return values


def check_known(given: Iterable[str], group: type) -> None:
    """Refuse an option that a group lacks, with the one that is nearest or where it belongs.

    Raises
    ------
    OptionError
    """
    for name in given:
        if name not in _hints(group):
            names = sorted(_hints(group))
            remedy = f"{nearest(name, names)}choose from: {', '.join(names)}"
            if name in declared(ResamplingOptions):
                remedy = f"pass it to a result: .interval({name}=...)"
            if name in FORMER:
                raise OptionError(Quote(name), " is gone", remedy=FORMER[name])
            raise OptionError("unknown option ", Quote(name), remedy=remedy)


@cache
def _defaults(group: type, is_strict: bool) -> Mapping[str, Any]:
    """Return the defaults of all options of a group, checked."""
    known = declared(group).items()
    return {name: item.checked(item.default(is_strict=is_strict)) for name, item in known}


def documented(*groups: type) -> Callable[[_Function], _Function]:
    """Document options in a docstring: those of groups at ``{options}``, others by name.

    The names of all other options of the function stand where it says ``{others}``.
    """

    def decorate(function: _Function) -> _Function:
        # What editors and help() show in the place of **options.
        found = vars(function)["__signature__"] = _signature(function)
        if text := function.__doc__:
            # As deep as the mark stands: methods are indented more than functions.
            margin = text.partition("{options}")[0].rpartition("\n")[2]
            lines = [line for group in groups for line in _listed(group)]
            text = text.replace("{options}", f"\n{margin}".join(lines))
            others = [
                name
                for name in found.parameters
                if name not in function.__annotations__ and f" {name} :" not in text
            ]
            function.__doc__ = text.replace("{others}", ", ".join(others))
        return function

    return decorate


def _signature(function: Callable[..., Any]) -> Signature:
    """Return the signature of a function with each of its options as a parameter."""
    plain = signature(function)
    named = {name: item for name, item in plain.parameters.items() if item.kind != item.VAR_KEYWORD}
    *_, last = plain.parameters.values()
    group = function.__globals__[str(last.annotation).removeprefix("Unpack[").removesuffix("]")]
    for name, hint in _hints(group).items():
        of_type, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        default = extras[0].default if extras else None
        if name in CHOICES:
            kinds = get_args(of_type) or (of_type,)
            of_type = reduce(or_, (Literal[tuple(CHOICES[name])] if x is str else x for x in kinds))
        if name not in named:
            named[name] = Parameter(
                name, Parameter.KEYWORD_ONLY, default=default, annotation=of_type
            )
    return plain.replace(parameters=list(named.values()))


def _listed(group: type) -> list[str]:
    """List the options of a group as the parameters of a docstring."""
    lines = []
    for name, item in declared(group).items():
        values = ", ".join(map(repr, item.choices))
        kind = f"{{{values}}}" if item.choices else item.kind.__name__
        default = item.option.default
        given = "optional" if default is None else f"default {default!r}"
        lines += [f"{name} : {kind}, {given}", f"    {item.option.help} {item.more}".rstrip()]
    return lines
