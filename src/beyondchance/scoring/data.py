"""What the functions that score are given: a corpus, or whatever one can be made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_gold
from beyondchance.options import ScoringOptions, declared


def corpus_of(
    data: Any,
    other: Any = None,
    options: Mapping[str, Any] | None = None,
    *,
    is_first_gold: bool = False,
) -> Corpus:
    """A corpus as it is, and the corpus of anything else (see `beyondchance.corpus`)."""
    if isinstance(data, Corpus) and other is None and not options:
        return data
    if isinstance(data, Corpus) and options and options.get("gold") is not None:
        checked_gold(options["gold"])
        others = {name: value for name, value in options.items() if name != "gold"}
        return corpus_of(data, other, others).with_gold(str(options["gold"]))
    from beyondchance.io.door import corpus_from  # noqa: PLC0415 - most calls have a corpus

    return corpus_from(data, other, options or {}, is_first_gold=is_first_gold)


def scored_data(
    data: Any, other: Any, options: Mapping[str, Any], *, is_first_gold: bool = False
) -> tuple[Corpus, str | None, dict[str, Any]]:
    """The corpus, the gold standard that is asked for, and the options of scoring.

    The options may be those of scoring and those by which a corpus is made. Where there is no
    other gold standard, `is_first_gold` makes the first of two say what is scored.
    """
    known = declared(ScoringOptions)
    scoring = {name: value for name, value in options.items() if name in known}
    reading = {name: value for name, value in options.items() if name not in known}
    gold = reading.pop("gold", None)
    checked_gold(gold)
    if isinstance(data, Corpus):
        corpus = corpus_of(data, other, reading)
        return corpus, None if gold is None else corpus.with_gold(str(gold)).gold, scoring
    if gold is not None:
        reading["gold"] = gold
    is_first_gold &= other is not None
    corpus = corpus_of(data, other, reading, is_first_gold=is_first_gold)
    return corpus, None if gold is None else corpus.gold, scoring
