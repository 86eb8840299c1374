"""From a command and its data to a result: validate, count, sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option
from beyondchance.errors import BeyondChanceError
from beyondchance.results.counts import Counts
from beyondchance.scoring.answers import (
    Answer,
    Question,
    agreement_from,
    answer,
    answer_from,
    by_measures,
    difficulty_from,
    ranking_from,
)
from beyondchance.scoring.data import scan_of, scored_data

_RESULTS: Mapping[str, Callable[[Answer], Any]] = {
    "agreement": agreement_from,
    "rank": ranking_from,
    "difficulty": difficulty_from,
}


def asked(command: str, data: Any, others: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return the result of a command for annotations, counts, or files that are read in parts."""
    make = _RESULTS[command]
    found = answer_from(data, others, options, command)
    if found is None and (scanned := scan_of(data, others, options)) is not None:
        found = scanned.answer(command)
    if found is not None:
        return make(found)
    is_ranking = command == "rank"
    corpus, gold, scoring = scored_data(
        data, others, options, is_first_gold=is_ranking, in_one_piece=False
    )
    if is_ranking and gold is None and corpus.gold is None and others:
        gold = corpus.annotators[0]
    question = Question(command, gold, scoring)
    result = make(answer(corpus, question))
    if command == "difficulty":
        return result
    # It knows how to score other measures once it is asked.
    return result.knowing(partial(_by_others, make, corpus, question))


def _by_others(make: Callable[[Answer], Any], corpus: Corpus, question: Question) -> dict[str, Any]:
    """Score the best known measures besides the one asked for; not one that is refused."""
    found = {}
    for other in by_measures(question)[1:]:
        with suppress(BeyondChanceError):
            found[other.scoring["measure"]] = make(answer(corpus, other))
    return found


def counts_of(command: str, data: Any, others: Sequence[Any], options: Mapping[str, Any]) -> Counts:
    """Count what a command asks of some documents."""
    checked_option("command", command, ("agreement", "difficulty"))
    scanned = scan_of(data, others, options)
    if scanned is not None:
        found = scanned.answer(command)
    else:
        given, gold, scoring = scored_data(data, others, options, in_one_piece=False)
        found = answer(given, Question(command, gold, scoring), is_part=True)
    return replace(found.only.counts, settings=found.only.settings)
