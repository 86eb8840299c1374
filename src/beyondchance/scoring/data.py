"""What the functions that score are given: a corpus, or whatever one can be made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.options import ScoringOptions, declared


def corpus_of(data: Any, other: Any = None, options: Mapping[str, Any] | None = None) -> Corpus:
    """A corpus as it is, and the corpus of anything else (see `beyondchance.corpus`)."""
    if isinstance(data, Corpus) and other is None and not options:
        return data
    from beyondchance.io.door import corpus  # noqa: PLC0415 - most calls have a corpus

    return corpus(data, other, **(options or {}))


def scored_data(
    data: Any, other: Any, options: Mapping[str, Any]
) -> tuple[Corpus, str | None, dict[str, Any]]:
    """The corpus, the gold standard that is asked for, and the options of scoring.

    The options may be those of scoring and those by which a corpus is made.
    """
    known = declared(ScoringOptions)
    scoring = {name: value for name, value in options.items() if name in known}
    reading = {name: value for name, value in options.items() if name not in known}
    gold = reading.pop("gold", None)
    if isinstance(data, Corpus):
        corpus = corpus_of(data, other, reading)
        return corpus, None if gold is None else corpus.with_gold(str(gold)).gold, scoring
    if gold is not None:
        reading["gold"] = gold
    corpus = corpus_of(data, other, reading)
    return corpus, None if gold is None else corpus.gold, scoring
