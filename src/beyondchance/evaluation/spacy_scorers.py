"""Scorers of spaCy, for the components ``ner`` and ``spancat``.

They are registered by entry points, so that a config file can name them::

    [components.ner.scorer]
    @scorers = "beyondchance.ner_scorer.v1"

    [training.score_weights]
    ents_corrected = 1.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isnan
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.evaluation.rates import SIDES
from beyondchance.installing import required
from beyondchance.results.score import Score
from beyondchance.scoring.api import agreement

Scorer = Callable[..., dict[str, Any]]
Marks = list[tuple[int, int, str]]
_PURPOSE = "scoring a pipeline of spaCy"


def ner_scorer() -> Scorer:
    """Return the scorer ``beyondchance.ner_scorer.v1``.

    Returns
    -------
    function
        Of examples. It returns what spaCy's own scorer does, ``ents_p``, ``ents_r``, ``ents_f``
        and ``ents_per_type``, to which ``chance`` and ``corrected`` are added; and of all entities
        ``ents_chance``, the F of random entities, ``ents_corrected``, the F beyond it,
        and ``ents_token_f``, ``ents_token_chance`` and ``ents_token_corrected``, the same of
        tokens in entities. These are 0 where they are undefined: after a None, spaCy ignores the
        weight of a score for the rest of a run.
    """
    return _scored_entities


def spancat_scorer() -> Scorer:
    """Return the scorer ``beyondchance.spancat_scorer.v1``.

    Returns
    -------
    function
        Of examples, and of the ``spans_key`` that the component passes. For the key ``sc`` it
        returns what spaCy's own scorer does, ``spans_sc_p`` and so on, and the same scores as
        those of `ner_scorer`, ``spans_sc_chance`` and so on.
    """
    return _scored_spans


def _scored_entities(examples: Iterable[Any], **options: Any) -> dict[str, Any]:
    library = required("spacy.scorer", extra="spacy", purpose=_PURPOSE)
    listed = list(examples)
    scores: dict[str, Any] = library.get_ner_prf(listed, **options)
    return _with_chance(scores, "ents", _entities(listed))


def _scored_spans(examples: Iterable[Any], **options: Any) -> dict[str, Any]:
    library = required("spacy.pipeline.spancat", extra="spacy", purpose=_PURPOSE)
    listed, key = list(examples), options["spans_key"]
    scores: dict[str, Any] = library.spancat_score(listed, **options)
    return _with_chance(scores, options.get("attr", f"spans_{key}"), _spans(listed, key))


def _with_chance(
    scores: dict[str, Any], name: str, marks: Iterable[tuple[int, Marks, Marks]]
) -> dict[str, Any]:
    """Add what is beyond chance to the scores of spaCy."""
    by_label: Mapping[str, Score] = {}
    overall = token = Score()
    listed = list(marks)
    if listed:
        lengths, *sides = map(list, zip(*listed, strict=True))
        corpus = Corpus.from_spans(dict(zip(SIDES, sides, strict=True)), lengths=lengths)
        exact = agreement(corpus, measure="exact")
        overall, by_label, token = exact.score, exact.by_label, agreement(corpus).score
    added: dict[str, Any] = {f"{name}_{key}": value for key, value in _beyond(overall).items()}
    added[f"{name}_token_f"] = _or_zero(token.observed)
    added |= {f"{name}_token_{key}": value for key, value in _beyond(token).items()}
    types = scores.get(f"{name}_per_type")
    if types is not None:
        added[f"{name}_per_type"] = {
            label: {**values, **_beyond(by_label.get(label, Score()))}
            for label, values in types.items()
        }
    return {**scores, **added}


def _beyond(score: Score) -> dict[str, float]:
    """Return chance and what is beyond it; 0 where undefined."""
    return {"chance": _or_zero(score.chance), "corrected": _or_zero(score.corrected)}


def _or_zero(value: float) -> float:
    return 0.0 if isnan(value) else value


# --- What is marked in examples -----------------------------------------------


def _entities(examples: Iterable[Any]) -> Iterator[tuple[int, Marks, Marks]]:
    """Yield the entities of both sides, on the tokens of the reference that are annotated.

    As in spaCy, a predicted entity is left out where it covers a token that is not annotated, or
    none at all.
    """
    for example in examples:
        reference = example.reference
        if not reference.has_annotation("ENT_IOB"):
            continue
        is_known = np.array([token.ent_iob != 0 for token in reference], dtype=bool)
        place = np.concatenate([[0], np.cumsum(is_known)]).tolist()
        true = [(place[e.start], place[e.end], e.label_) for e in reference.ents]
        predicted = []
        aligned = example.alignment.x2y
        for entity in example.predicted.ents:
            tokens = aligned[entity.start : entity.end]
            if not len(tokens):
                continue
            start, end = int(tokens[0]), int(tokens[-1]) + 1
            if is_known[start:end].all():
                predicted.append((place[start], place[end], entity.label_))
        yield place[-1], true, predicted


def _spans(examples: Iterable[Any], key: str) -> Iterator[tuple[int, Marks, Marks]]:
    """Yield the spans of a group of both sides, on the tokens of the reference."""
    for example in examples:
        reference, predicted = example.reference, example.predicted
        if key not in reference.spans:
            continue
        found = predicted.spans.get(key, [])
        aligned = example.get_aligned_spans_x2y(found, allow_overlap=True)
        yield (
            len(reference),
            [(span.start, span.end, span.label_) for span in reference.spans[key]],
            [(span.start, span.end, span.label_) for span in aligned],
        )
