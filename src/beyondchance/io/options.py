"""What one call of `read` was asked for, and what it found out on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from beyondchance.errors import BeyondChanceError, DataError, FormatError, OptionError
from beyondchance.io.sources import Source, opened
from beyondchance.messages import Note, Piece, Text, Use, given
from beyondchance.options import (
    MENDED,
    ReadOptions,
    checked_options,
    declared,
    refused_kinds,
    refuses_all,
)
from beyondchance.tallies import Tally, mended

EVERYWHERE = frozenset({"gold", "strict", "match", "repeated", "folder", "max_size", "anonymous"})
"""Options that every format takes."""
CHARACTERS = EVERYWHERE | {"unit", "positions", "offsets", "zero_length"}
"""Options that every format with character offsets takes."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What one must know of all documents to read some of them.

    Attributes
    ----------
    annotators : tuple of str
        All of them, in the order in which they first occur.
    has_gaps : bool
        Of a table: whether it has rows without a span, so that only those annotators annotated a
        document who have a row for it.
    scheme : str, optional
        Of tags: their scheme.
    """

    annotators: tuple[str, ...] = ()
    has_gaps: bool = False
    scheme: str | None = None

    def __or__(self, other: Whole) -> Whole:
        """Combine what is known of these documents with what is known of others after them."""
        return Whole(
            tuple(dict.fromkeys((*self.annotators, *other.annotators))),
            self.has_gaps or other.has_gaps,
            self.scheme or other.scheme,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What one call of `read` was asked for, and what it found out on the way.

    Attributes
    ----------
    options : ReadOptions
        All of them, checked.
    refused : frozenset of str
        The names in `MENDED` of what is refused.
    ends : str, optional
        Whether the end of a span is ``inclusive`` or ``exclusive``, where the options say it.
    tokeniser : str
        How texts without tokens are divided into some: ``words`` or ``whitespace``.
    skipped : Counter
        What was ignored, left out or changed, and how often.
    notes : dict
        What was found out, for people, by its sentence.
    signed : dict
        Choices that change results, for the signature.
    schemes : set of str
        The schemes of tags, asked for or detected.
    numbered : dict
        How many texts an annotator has, where only their numbers identify them.
    ordered : dict
        How many texts an annotator has, where nothing but their order may identify them.
    lists : dict
        The same of annotators whose texts have no words either: lists of tags or of spans.
    people : dict
        The annotators in each upload, by its name.
    reference : str
        The gold standard, if it is known before anything is read: its texts and tokens are
        those of all annotators.
    gold_upload : str
        The file of the gold standard, if it is one.
    beside : mapping
        What belongs to data that have no place for it: texts, tokens, lengths.
    problems : dict
        What an option refuses, by the option: the first of its kind.
    n_refused : Counter
        How often each of these options refuses something.
    uses : dict
        The value that mends a problem, of an option that has no value which refuses it.
    asked_format : str
        The format, where it was not detected but asked for.
    is_mixed : bool
        Whether files of several formats are read together, so that drafts are needed.
    first_number : int
        The number in the name of the first text of a list: 0, or 1 next to files and data that
        count from 1.
    hides_files : bool
        Whether files are shown by numbers, because they may be named after annotators.
    given : mapping
        The options that were given, even with their default values.
    whole : Whole, optional
        What is known of all documents, where these are some of them.
    found_gaps : list of bool
        For each table, whether it has rows without a span.
    origin : dict
        How the sources call what a writer of their format must call the same; empty where they
        differ.
    """

    options: ReadOptions
    refused: frozenset[str] = frozenset()
    ends: str | None = None
    tokeniser: str = "words"
    skipped: Counter[Tally] = field(default_factory=Counter)
    notes: dict[str, Note] = field(default_factory=dict)
    signed: dict[str, Any] = field(default_factory=dict)
    schemes: set[str] = field(default_factory=set)
    numbered: dict[str, int] = field(default_factory=dict)
    ordered: dict[str, int] = field(default_factory=dict)
    lists: dict[str, int] = field(default_factory=dict)
    people: dict[str, dict[str, None]] = field(default_factory=dict)
    reference: str = ""
    gold_upload: str = ""
    beside: Mapping[str, Any] = field(default_factory=dict)
    problems: dict[str, BeyondChanceError] = field(default_factory=dict)
    n_refused: Counter[str] = field(default_factory=Counter)
    uses: dict[str, Use] = field(default_factory=dict)
    asked_format: str = ""
    is_mixed: bool = False
    first_number: int = 0
    hides_files: bool = False
    given: Mapping[str, Any] | None = None
    whole: Whole | None = None
    found_gaps: list[bool] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.given is None:
            object.__setattr__(self, "given", dict(self.options))
        options = checked_options(ReadOptions, self.options)
        object.__setattr__(self, "refused", refused_kinds(options["strict"]))
        if options["repeated"] == "annotators":
            options["match"] = "text"
        if options["positions"] == "whitespace":
            options["positions"] = "tokens"
            object.__setattr__(self, "tokeniser", "whitespace")
        asked = list(filter(None, (options["offsets"] or "").split(",")))
        ends = [name for name in asked if name.endswith("clusive")]
        units = [name for name in asked if name not in ends]
        if len(ends) > 1 or len(units) > 1:
            expected = "what offsets count, whether ends are included, or both"
            raise OptionError(*given("offsets", options["offsets"]), expected=expected)
        options["offsets"] = units[0] if units else None
        for name in ends:
            object.__setattr__(self, "ends", name)
            self.signed["ends"] = name
        object.__setattr__(self, "options", options)

    @property
    def is_strict(self) -> bool:
        """Whether everything that is mended by default is refused."""
        return refuses_all(self.options["strict"])

    @property
    def knows_plain_ids(self) -> bool:
        """Whether 1.0 is looked for where there is 1: to read it as that, or to refuse it."""
        match = self.options["match"]
        return match == "id" or (match == "exact" and self.is_strict)

    def changed(self) -> dict[str, Any]:
        """Collect the options that were given another value than their default.

        What strict reading makes of the others is not among them.
        """
        changed: dict[str, Any] = {}
        for name in self.given or ():
            item = declared(ReadOptions)[name]
            value: Any = self.options[name]  # type: ignore[literal-required]
            default = item.default(is_strict=self.is_strict)
            # Data frames are compared value by value, so that `!=` gives no answer for them.
            if default is None:
                is_changed = value is not None
            else:
                is_changed = value not in (default, item.option.default)
            if is_changed:
                changed[name] = value
        return changed

    def refuses(self, option: str) -> bool:
        """Return whether what is mended by default is refused, or what an option could mend."""
        if option in MENDED:
            # Of what has an option too, another value is a choice.
            signed = MENDED[option].signed
            return option in self.refused and self.options.get(option, signed) == signed
        refusing = declared(ReadOptions)[option].option.refuses
        return bool(self.options[option] == refusing)  # type: ignore[literal-required]

    def check_unused(self, *names: str, needs: Text) -> None:
        """Refuse options that are about texts, where there are none; ids can be matched."""
        changed = self.changed()
        unused = [name for name in names if changed.get(name, "exact") != "exact"]
        for name in unused or ["positions"][: self.tokeniser == "whitespace"]:
            raise OptionError(f"option {name!r} needs the texts", expected=needs)

    def mend(
        self, option: str, what: str, refusal: Callable[[], BeyondChanceError], number: int = 1
    ) -> None:
        """Count and sign what an option mends; keep what it refuses, to be said with all else.

        Parameters
        ----------
        option : str
            Its name, or a name in `MENDED`.
        what : str or Tally
            What was mended, for people: a plural; or what else became of it.
        refusal : function
            The error, if the option refuses it.
        number : int
            How often.
        """
        if self.refuses(option):
            self.n_refused[option] += number
            if option not in self.problems:
                self.problems[option] = refusal()
        elif number:
            self.skipped[what if isinstance(what, Tally) else mended(what)] += number
            known = declared(ReadOptions).get(option)
            if known is None:
                self.signed[option] = MENDED[option].signed
            elif known.option.is_signed:
                self.signed[option] = self.options[option]  # type: ignore[literal-required]

    def keep(self, use: Use, problem: BeyondChanceError) -> None:
        """Keep what strict reading refuses and an option decides, to be said with all else."""
        if use.option not in self.problems:
            self.problems[use.option] = problem
            self.uses[use.option] = use

    def check(self) -> None:
        """Refuse everything that options refuse: one problem as it is, several as a list."""
        for option, problem in self.problems.items():
            if (n := self.n_refused[option]) > 1:
                problem.args = (*problem.args, f" (the first of {n:,})")
        if len(self.problems) < 2:
            for problem in self.problems.values():
                raise problem
            return
        found: list[Piece] = [f"{len(self.problems)} problems:"]
        kinds = ",".join(f"-{option}" for option in self.problems if option in MENDED)
        uses: list[Piece] = [" ", Use("strict", kinds)] if kinds else []
        for number, (option, problem) in enumerate(self.problems.items(), start=1):
            found += [f" ({number}) " if number == 1 else f"; ({number}) ", *problem.told]
            if option not in MENDED:
                known = self.uses.get(option)
                uses += [" ", known or Use(option, declared(ReadOptions)[option].mends)]
        raise DataError(*found, remedy=("mend all of them with", *uses))

    def note(self, *text: Piece, where: str = "", who: str = "", is_caution: bool = False) -> None:
        """Keep something that was found out, once."""
        note = Note(text, where=where, who=who, is_caution=is_caution)
        self.notes.setdefault(str(note), note)

    def calls(self, what: str, name: str) -> None:
        """Keep how a source calls something, unless another calls it otherwise."""
        if self.origin.setdefault(what, name) != name:
            self.origin[what] = ""

    def is_reference(self, annotator: str) -> bool:
        """Return whether an annotator, perhaps known by an e-mail address, is the gold standard."""
        if annotator in self.people.get(self.gold_upload, ()):
            return True
        return self.reference in {annotator, annotator.partition("@")[0]}

    def shown(self, source: Source, name: str) -> Source:
        """Return a source under the name by which messages may show it."""
        return source.hidden(name) if self.hides_files else source

    def documents_file(self, expected: str) -> Source:
        """Open the file that the option ``documents`` names, or say what is expected there."""
        path = self.options["documents"]
        try:
            source = opened(path) if isinstance(path, str | PathLike) else None
        except FormatError as error:
            error.where = ("documents",) if self.hides_files else error.where
            raise
        if not isinstance(source, Source):
            raise OptionError(*given("documents", path), expected=expected)
        return self.shown(source, "documents")

    def met(self, upload: str, annotators: Iterable[str]) -> None:
        """Keep which annotators an upload holds."""
        self.people.setdefault(upload, {}).update(dict.fromkeys(annotators))
