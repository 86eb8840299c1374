"""The range of scores of quotes, against every joint placement of random cases."""

from contextlib import suppress

import numpy as np
import pytest

import beyondchance as bc
import placement_oracle as oracle
from beyondchance.errors import BeyondChanceError
from beyondchance.scoring import joint_placements, quote_clusters

MEASURES = ["token", "exact", "boundary", "dice", "iou"]
SCOPES = ["label", "joint", "unlabelled"]
MODELS = ["auto", "auto", "overlapping", "nested", "disjoint"]
LIMITS = {"MOST_PLACED": 5, "MOST_OF_ONE": 5, "MOST_SHAPES": 1, "_MOST_CORPORA": 1}


def cases(number, *, first=0, most=16):
    """Cases by seed that have something to choose, and not too much of it."""
    for seed in range(first, first + 100 * number):
        rng = np.random.default_rng(seed)
        unit = str(rng.choice(["sentence", "document", "corpus"]))
        positions = str(rng.choice(["tokens", "characters"]))
        scoring = {
            "measure": str(rng.choice(MEASURES)),
            "scope": str(rng.choice(SCOPES)),
            "model": str(rng.choice(MODELS)),
        }
        case = oracle.case_of(
            rng,
            n_documents=int(rng.integers(1, 3)),
            with_sentences=unit == "sentence",
            is_true=bool(rng.integers(2)),
        )
        # Not all go together: parts of words across sentences, models and overlap.
        with suppress(BeyondChanceError):
            corpus = case.corpus(positions=positions, unit=unit)
            bc.agreement(corpus, **scoring)
            sides = list(case.sides(corpus, positions=positions))
            if 1 < oracle.n_placements(sides) <= most:
                yield seed, corpus, sides, scoring
                number -= 1
                if not number:
                    return


def check(number, *, first=0):
    """How many ranges were exact. All hold every score, and exact ones are those of all."""
    n_exact = 0
    for seed, corpus, sides, scoring in cases(number, first=first):
        found, problem = oracle.compared(corpus, sides, **scoring)
        assert not problem, (seed, corpus.unit, corpus.positions, scoring, problem)
        n_exact += found.is_exact
    return n_exact


def with_tiny_limits(monkeypatch):
    for name, value in LIMITS.items():
        for module in (quote_clusters, joint_placements):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


@pytest.mark.slow
def test_the_range_is_that_of_every_placement():
    assert check(40) == 40


@pytest.mark.slow
def test_bounds_contain_every_placement(monkeypatch):
    with_tiny_limits(monkeypatch)
    assert 5 < check(30) < 25


@pytest.mark.long
def test_the_range_is_that_of_every_placement_of_many_cases():
    assert check(700, first=10_000) == 700


@pytest.mark.long
def test_bounds_contain_every_placement_of_many_cases(monkeypatch):
    with_tiny_limits(monkeypatch)
    check(300, first=10_000)
