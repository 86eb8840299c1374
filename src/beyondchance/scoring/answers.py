"""What is asked of a corpus, and the answer; answers of parts of a corpus add.

A question is a command with its options. The answer holds counts, how they were made, what was
left out and what there is to say, in numbers; results and sentences are made of it once all
parts are together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from operator import add
from typing import Any
from zlib import crc32

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus, only
from beyondchance.annotations.pairs import SharedDocuments, shared_documents
from beyondchance.core.models import AUTO
from beyondchance.core.ragged import distinct
from beyondchance.errors import (
    DataError,
    NothingSharedError,
    OptionError,
    OverlapError,
)
from beyondchance.messages import Note, Piece, Quote, Text, Use, pieces, quotes
from beyondchance.numbers import Extent, in_digits
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.printed import Named
from beyondchance.results.ranking import Ranking
from beyondchance.results.score import UNMARKED
from beyondchance.results.units import MOST_DOCUMENTS
from beyondchance.scoring.corpus_wide import BY_FUGACITIES, check_corpus_wide
from beyondchance.scoring.counting import counted, supported
from beyondchance.scoring.marks import (
    Marked,
    Placed,
    check_closed,
    check_fit,
    marked,
    nothing_shared,
    placed_of,
)
from beyondchance.scoring.options import Scoring, scoring_of
from beyondchance.scoring.shapes import check_informed
from beyondchance.settings import Settings, added_settings
from beyondchance.tallies import Fate, Tally, left_out, mended, not_annotated
from beyondchance.types import Floats
from beyondchance.values import internal

_MANY = 0.1
"""The share of texts without freedom from which on they are mentioned."""
_OF_ALL = ("model", "scope", "average", "chance", "support")
"""Options of all measures."""
_MOST_ROWS = 2**20
"""Rows of counts that are kept as they are; more are added up."""


@internal
class Question:
    """What is asked of a corpus.

    Attributes
    ----------
    command : {"agreement", "rank", "difficulty"}
    gold : str, optional
        The gold standard that was asked for.
    scoring : mapping of str to object
        Options of scoring, as they were given.
    """

    command: str
    gold: str | None = None
    scoring: Mapping[str, Any] = field(default_factory=dict)

    def resolved(self) -> Scoring:
        """Check the options of scoring and put together what they stand for."""
        is_agreement = self.command == "agreement"
        return scoring_of(
            self.scoring,
            is_team=is_agreement and self.gold is None,
            is_informed=is_agreement or self.command == "rank",
        )


def settings_of(corpus: Corpus, **signed: Any) -> Settings:
    """Build settings: how a corpus was read, and what else a signature says about a result."""
    if signed.get("chance") == "weights" and corpus.token_weight is not None:
        signed["chance"] = f"weights-{crc32(corpus.token_weight.tobytes()):08x}"
    return Settings(unit=corpus.unit, positions=corpus.positions, **{**signed, **corpus.options})


def by_measures(question: Question) -> list[Question]:
    """Return the question, and the same by the two measures that are best known."""
    asked = question.scoring
    # One model for all of them; the parameters of a measure are for that one only.
    common = {name: asked[name] for name in _OF_ALL if name in asked}
    others = [name for name in ("token", "exact") if name != asked.get("measure", "token")]
    return [question, *(replace(question, scoring={**common, "measure": n}) for n in others)]


@internal
class Scored:
    """What one comparison gives: counts, and how they came about.

    Attributes
    ----------
    counts : Counts
    settings : Settings
    skipped : mapping of str to int
        What was left out, and how often.
    notes : tuple of Note
        What there is to know, whatever the numbers are.
    """

    counts: Counts
    settings: Settings
    skipped: Mapping[str, int]
    notes: tuple[Note, ...] = ()


@internal
class Answer:
    """The answer to a question, for a corpus or a part of one.

    Attributes
    ----------
    question : Question
    scored : mapping of str to Scored
        By system for a ranking; otherwise one, without a name.
    placed : Placed
        How spans lie.
    skipped : mapping of str to int
        Of a ranking, what was left out of it.
    extent : tuple of (int, int)
        Documents that were compared with anyone, and their texts.
    notes : tuple of Note
        On what was read, where no corpus keeps them.
    sources : frozenset of str
        Paths and SHA-256 of what was read.
    """

    question: Question
    scored: Mapping[str, Scored]
    placed: Placed
    skipped: Mapping[str, int] = field(default_factory=dict)
    extent: tuple[int, int] = (0, 0)
    notes: tuple[Note, ...] = ()
    sources: frozenset[str] = frozenset()

    @property
    def only(self) -> Scored:
        """Return the one comparison, or the first one of a ranking."""
        return next(iter(self.scored.values()))


# --- Answers --------------------------------------------------------------------------


def answer(corpus: Corpus, question: Question, *, is_part: bool = False) -> Answer:
    """Answer a question about a corpus.

    Parameters
    ----------
    corpus : Corpus
    question : Question
    is_part : bool
        Whether other documents follow, so that these need not have two annotators who are
        compared.
    """
    if is_part and (corpus.unit == CORPUS or "chance" in question.resolved().options):
        by_all = Use("unit", CORPUS) if corpus.unit == CORPUS else Use("chance", "shapes")
        raise OptionError(
            "chance depends on all documents with ",
            by_all,
            expected="another choice, where documents are counted in parts",
            remedy="read all documents at once",
        )
    return _ANSWERS[question.command](corpus, question, is_part)


def _agreement(given: Corpus, question: Question, is_part: bool) -> Answer:
    gold = question.gold
    corpus = without_gold(given) if gold is None else given.with_gold(gold)
    signed = {} if given.gold is None else {"gold": given.gold}
    if gold is not None:
        signed = {"gold": gold, "pairs": "gold"}
    found, placed = _scored(corpus, question, signed=signed, is_part=is_part)
    first = signed.get("gold", "")
    if first in found.counts.annotators:
        # As side a, so that precision and recall are what they are called.
        others = (name for name in found.counts.annotators if name != first)
        found = replace(found, counts=found.counts.ordered((first, *others)))
    return Answer(question, {"": found}, placed, sources=corpus.sources)


def _difficulty(given: Corpus, question: Question, is_part: bool) -> Answer:
    known = given.gold if question.gold is None else question.gold
    signed = {} if known is None else {"gold": known}
    corpus = given
    if known is not None:
        corpus = only(given, [known])
    found, placed = _scored(corpus, question, signed=signed, with_self=True, is_part=is_part)
    return Answer(question, {"": found}, placed, sources=corpus.sources)


def _rank(corpus: Corpus, question: Question, is_part: bool) -> Answer:
    known = corpus.gold if question.gold is None else question.gold
    if known is None:
        raise OptionError(
            "no gold standard is known",
            remedy=(
                *("name one of the annotators with ", Use("gold", placeholder="NAME"), ": "),
                *quotes(corpus.annotators),
            ),
        )
    names = [name for name in corpus.annotators if name != known]
    if not names:
        raise NothingSharedError(
            "only one annotator found: ",
            Quote(known),
            expected="at least one system besides the gold standard",
        )
    systems = {}
    for name in names:
        pair = only(corpus, [known, name])
        found, _ = _scored(pair, question, signed={"gold": known}, is_part=is_part)
        systems[name] = replace(found, counts=found.counts.ordered((known, name)))
    skipped, extent = _not_ranked(corpus, known, systems)
    placed = placed_of(marked(corpus, question.resolved().scope))
    return Answer(question, systems, placed, skipped, extent, sources=corpus.sources)


_ANSWERS = {"agreement": _agreement, "difficulty": _difficulty, "rank": _rank}


def without_gold(corpus: Corpus) -> Corpus:
    """Leave out the gold standard, which is not compared as an annotator.

    Where there is one other annotator only, the two are compared.
    """
    others = [name for name in corpus.annotators if name != corpus.gold]
    if corpus.gold is None or len(others) < 2:
        return corpus
    return only(corpus, others)


def _not_ranked(
    corpus: Corpus, gold: str, systems: Mapping[str, Scored]
) -> tuple[dict[str, int], tuple[int, int]]:
    """Count what was left out on reading, has no partner to compare with, or has no spans.

    And how many documents were compared, with how many texts.
    """
    by_gold = corpus.annotation_annotator == corpus.annotators.index(gold)
    with_gold, with_systems = (
        set(corpus.annotation_document[rows].tolist()) for rows in (by_gold, ~by_gold)
    )
    compared = with_gold & with_systems
    marked = {
        counts.documents[number]
        for counts in (system.counts for system in systems.values())
        for number in distinct(counts.document)[0].tolist()
    }
    found = {
        left_out("{documents} of the gold standard only", ""): len(with_gold - with_systems),
        left_out("{documents} without the gold standard", ""): len(with_systems - with_gold),
        UNMARKED: len(compared) - len(marked),
    }
    n_texts = int(np.count_nonzero(np.isin(corpus.text_document, list(compared))))
    return _with_tallies(corpus, found), (len(compared), n_texts)


def _with_tallies(corpus: Corpus, found: Mapping[Tally, int]) -> dict[str, int]:
    """Return what was left out on reading and elsewhere, without zeros."""
    return {**corpus.skipped, **{what: number for what, number in found.items() if number}}


def _scored(
    corpus: Corpus,
    question: Question,
    *,
    signed: Mapping[str, str],
    with_self: bool = False,
    is_part: bool = False,
) -> tuple[Scored, Placed]:
    """Count a corpus, and find out how its spans lie.

    Parameters
    ----------
    corpus : Corpus
    question : Question
    signed : mapping of str to str
        What the signature says about the pairs compared.
    with_self : bool
        Whether each annotator is also paired with itself.
    is_part : bool
        Whether there may be nothing to compare.
    """
    scoring = question.resolved()
    if with_self:  # what is not in the text says nothing about it
        corpus = replace(corpus, missing_text=corpus.missing_text[:0])
    gold = corpus.annotators.index(signed["gold"]) if "pairs" in signed else None
    teams = np.bincount(corpus.annotation_document, minlength=len(corpus.documents))
    fewest = scoring.options.get("support")
    shared = shared_documents(corpus, gold=gold, with_self=with_self, support=fewest)
    compared = shared.compared
    if not is_part and not np.count_nonzero(compared):
        if not len(corpus.documents):
            raise NothingSharedError("the corpus has no documents", expected="at least one")
        known = signed.get("gold")
        raise nothing_shared(corpus, *_two(known if known in corpus.annotators else None, fewest))
    weight = 1 / (teams[compared] - 1) if "average" in scoring.options else None
    spans, counts, notes = _counts(shared, scoring, weight)
    is_estimated = counts.error is not None and bool(counts.error.any())
    settings = settings_of(corpus, **scoring.signature(is_estimated=is_estimated), **signed)
    if corpus.elsewhere is not None and not with_self:
        if is_part:
            raise DataError(
                "quotes without offsets, whose words occur more than once",
                expected="offsets, where documents are counted in parts",
                remedy="read all documents at once",
            )
        notes += _quote_notes(shared, scoring, weight)
    skipped = _skipped(corpus, teams[~compared].tolist(), counts, spans.n_merged, fewest)
    return Scored(counts, settings, skipped, notes), placed_of(spans)


def _counts(
    shared: SharedDocuments, scoring: Scoring, weight: Floats | None
) -> tuple[Marked, Counts, tuple[Note, ...]]:
    """Check how spans lie and count them; documents may have weights."""
    spans = marked(shared.corpus, scoring.scope)
    check_closed(spans, scoring)
    check_fit(spans, scoring.model)
    if shared.corpus.unit == CORPUS:
        check_corpus_wide(spans, scoring)
    if "support" in scoring.options:
        return spans, supported(spans, shared, scoring), ()
    if scoring.is_informed:
        check_informed(spans, scoring.options["chance"])
    counts, notes = counted(spans, shared, scoring)
    return spans, counts if weight is None else counts.weighted(weight), notes


def _quote_notes(
    shared: SharedDocuments, scoring: Scoring, weight: Floats | None
) -> tuple[Note, ...]:
    """Say how much depends on where quotes without offsets are."""
    corpus = shared.corpus
    assert corpus.elsewhere is not None  # noqa: S101 - asked before
    is_free = np.any(corpus.elsewhere[0] != corpus.elsewhere[1], axis=0)
    is_free &= shared.compared[corpus.text_document[corpus.span_text]]
    number = int(np.count_nonzero(is_free))
    if not number:
        return ()
    said = f"{number:,} quote{'s' * (number > 1)} may be at other occurrences of the same words"
    scores = []
    try:
        for end in ("first", "last"):
            moved = corpus.with_quotes_at(end)
            score = _counts(replace(shared, corpus=moved), scoring, weight)[1].score()
            scores.append((score.corrected, score.observed))
    except OverlapError:
        return (Note(f"{said}; there, spans would overlap, which the model does not allow"),)
    is_known = np.isfinite([corrected for corrected, _ in scores]).all()
    name = "corrected" if is_known else "observed"
    first, last = (in_digits(score[not is_known], 3) for score in scores)
    return (Note(f"{said}: {name} agreement is {first} with the first ones, {last} with the last"),)


def _skipped(
    corpus: Corpus, others: Sequence[int], counts: Counts, n_merged: int, fewest: int | None
) -> dict[str, int]:
    """Count what was left out; `others` are the team sizes of documents not compared."""
    n_alone, n_empty = others.count(1), others.count(0)
    why = f"with fewer than {fewest} annotators" if fewest else "without the gold standard"
    found = {
        left_out("{documents} with one annotator only", ""): n_alone,
        not_annotated("{documents} without an annotator", ""): n_empty,
        left_out(f"{{documents}} {why}", ""): len(others) - n_alone - n_empty,
        # With unit corpus, random spans may be there.
        UNMARKED: 0 if counts.is_corpus_wide else len(counts.documents) - counts.n_marked_documents,
        mended("spans that differ from another in their label alone"): n_merged,
    }
    return _with_tallies(corpus, found)


def _two(gold: str | None, fewest: int | None = None) -> list[Piece]:
    """Name the two annotators, or more, that no document has."""
    if gold is not None:
        return [Quote(gold), " and another annotator"]
    return ["two annotators" if fewest is None else f"{fewest} annotators"]


# --- Adding ---------------------------------------------------------------------------


def added_answers(parts: Sequence[Answer]) -> Answer:
    """Add the answers for parts of the documents, in their order."""
    first = parts[0]
    names = dict.fromkeys(name for part in parts for name in part.scored)
    n_documents, n_texts = map(sum, zip(*(part.extent for part in parts), strict=True))
    return replace(
        first,
        scored={
            name: _added([part.scored[name] for part in parts if name in part.scored])
            for name in names
        },
        placed=reduce(add, (part.placed for part in parts)),
        skipped=added_counters(part.skipped for part in parts),
        extent=(n_documents, n_texts),
    )


def _added(parts: Sequence[Scored]) -> Scored:
    return Scored(
        added_counts([part.counts for part in parts]),
        added_settings([part.settings for part in parts]),
        added_counters(part.skipped for part in parts),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def added_counts(parts: Sequence[Counts]) -> Counts:
    """Join counts: all rows as they are if they are few, else their sums by unit.

    Which of the two depends on all of them together, and not on the parts.
    """
    n_documents, n_rows = sum(part.n_compared for part in parts), sum(map(len, parts))
    are_few = n_documents <= MOST_DOCUMENTS and n_rows <= _MOST_ROWS
    if not (are_few and all(part.is_by_document for part in parts)):
        return Counts.joined(part.by_unit() for part in parts)
    if len(parts) == 1:
        return parts[0]
    common = set.intersection(*(set(part.fields) for part in parts))
    return Counts.joined(
        replace(part, fields={n: v for n, v in part.fields.items() if n in common})
        for part in parts
    )


def added_counters(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add counters of parts.

    What was not read, such as a column, is the same in every part, and counts once.
    """
    found: Counter[str] = Counter()
    for part in parts:
        for what, number in part.items():
            is_once = isinstance(what, Tally) and what.fate is Fate.NOT_READ
            found[what] = max(found[what], number) if is_once else found[what] + number
    return dict(found)


def with_origin(found: Answer, corpus: Corpus) -> Answer:
    """Return the answer with the notes and the sources of the corpus that was read."""
    return replace(found, notes=corpus.notes, sources=corpus.sources)


def answer_from(
    data: Any, others: Sequence[Any], options: Mapping[str, Any], command: str
) -> Answer | None:
    """Make an answer of tables of counts, which are added; None for any other data.

    For a ranking they may be a mapping of systems to such tables.
    """
    given = data if command == "rank" and isinstance(data, Mapping) else {None: data}
    tables = {n: [x, *others] if isinstance(x, Counts) else x for n, x in given.items()}
    if not all(
        isinstance(parts, list | tuple) and parts and isinstance(parts[0], Counts)
        for parts in tables.values()
    ):
        return None
    if any(value is not None for value in options.values()):
        raise OptionError("counts were made with their own options", expected="no others")
    found = [_scored_counts(Counts.joined(parts), command) for parts in tables.values()]
    scored = {
        name or (item.counts.annotators[-1] if command == "rank" else ""): item
        for name, item in zip(tables, found, strict=True)
    }
    settings = found[0].settings
    extent = max((item.counts.n_compared, item.counts.n_compared_texts) for item in found)
    question = Question(command, settings.gold)
    return Answer(question, scored, Placed(""), extent=extent)


def _scored_counts(counts: Counts, command: str) -> Scored:
    """Check what was counted; a gold standard that is ranked against comes first."""
    settings = Settings() if counts.settings is None else counts.settings
    if counts.pairs.size and counts.is_with_self != (command == "difficulty"):
        made_for = "difficulty" if counts.is_with_self else "agreement"
        raise OptionError(f"counts were made for {made_for}", expected=Use("command", command))
    if command == "rank":
        names = [name for name in counts.annotators if name != settings.gold]
        if len(names) != 1 or len(counts.annotators) != 2:
            raise OptionError(
                *("counts of ", *quotes(counts.annotators)),
                expected="a gold standard and one system",
                remedy="pass a mapping of systems to their counts",
            )
        counts = counts.ordered((str(settings.gold), *names))
        settings = settings.replaced(pairs=None)
    return Scored(counts, settings, {})


# --- Results --------------------------------------------------------------------------


def agreement_from(found: Answer) -> Agreement:
    """Make the agreement of an answer."""
    return Agreement(*_parts(found), found.sources)


def difficulty_from(found: Answer) -> Difficulty:
    """Make the difficulty of an answer."""
    return Difficulty(*_parts(found))


def _parts(found: Answer) -> tuple[Counts, Settings, Mapping[str, int], tuple[Note, ...]]:
    """Return the counts, settings, what was left out and notes of an answer."""
    only = _checked(found).only
    notes = *_placement_notes(found), *only.notes, *_freedom_notes(found, only.counts)
    return only.counts, only.settings, only.skipped, notes


def ranking_from(found: Answer) -> Ranking:
    """Make the ranking of an answer."""
    gold = _checked(found).only.settings.gold
    assert gold is not None  # noqa: S101 - a ranking has one
    systems = {
        name: Agreement(item.counts, item.settings, item.skipped, item.notes, found.sources)
        for name, item in found.scored.items()
    }
    notes = _placement_notes(found)
    if any(BY_FUGACITIES in item.notes for item in found.scored.values()):
        notes += (BY_FUGACITIES,)
    # Of the system that has most texts without freedom.
    worst = max(systems, key=lambda name: systems[name].counts.texts_without_freedom()[0])
    who = "of ", Quote(worst), " against ", Quote(gold), ", "
    notes += _freedom_notes(found, systems[worst].counts, who=who)
    # Chance may have been estimated for some systems only.
    last = next(reversed(systems.values())).settings
    signed = next((s.settings for s in systems.values() if s.settings.samples), last)
    extent = Extent(*found.extent, signed.unit)
    return Ranking(gold, Named(systems), signed, notes, found.skipped, found.sources, extent=extent)


def _checked(found: Answer) -> Answer:
    """Refuse an answer of parts none of which has two annotators who are compared."""
    is_ranking, gold = found.question.command == "rank", found.only.settings.gold
    none = [name for name, item in found.scored.items() if not item.counts.n_compared]
    if len(none) == len(found.scored):
        who = _two(gold if is_ranking else found.question.gold, found.only.settings.support)
    elif none:
        who = [Quote(gold), " and ", Quote(none[0])]
    else:
        return found
    raise NothingSharedError("no document was annotated by ", *who, expected="documents in common")


def _placement_notes(found: Answer) -> tuple[Note, ...]:
    """Return the notes on how spans were placed, where the model was chosen from them."""
    is_chosen = found.question.scoring.get("model", AUTO.name) == AUTO.name
    return (*found.notes, *found.placed.notes) if is_chosen else found.notes


def _freedom_notes(found: Answer, counts: Counts, *, who: Text = ()) -> tuple[Note, ...]:
    """Return a note where chance has no freedom in many texts."""
    n_fixed, n_texts = counts.texts_without_freedom()
    is_of_pairs = not counts.is_corpus_wide and found.only.settings.support is None
    if n_fixed < _MANY * n_texts or not n_fixed or not is_of_pairs:
        return ()
    by_sentence = found.only.settings.unit == "sentence"
    texts = "sentences" if by_sentence else "texts"
    larger = [Use("unit", "document")] if by_sentence else []
    # Spans that overlap are not placed in any text of a corpus.
    overlap = found.placed.nested or found.placed.crossing
    larger += [] if overlap else [Use("unit", CORPUS)]
    advice: tuple[Piece, ...] = ()
    if larger:
        one, *others = larger
        units = one, *(piece for other in others for piece in (" or ", other))
        advice = f"; if it should count which {texts} have a span, use ", *units
    why = (
        f"in {n_fixed:,} of {n_texts:,} {texts} every random placement scores the same, so nothing "
        "can be corrected there: they have one position, or only one of two annotators used a "
        "label, or one marked everything"
    )
    return (Note((*pieces(who), why, *advice)),)


def check_picklable(question: Question) -> None:
    """Refuse a measure of one's own that other processes cannot get."""
    from pickle import PicklingError, dumps  # noqa: PLC0415 - for other processes only

    try:
        dumps(question)
    except (PicklingError, AttributeError, TypeError):
        raise DataError(
            "a custom measure cannot be sent to another process",
            expected="functions that are defined in a module, and not lambdas",
            remedy=("use ", Use("workers", 1)),
        ) from None
