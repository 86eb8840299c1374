"""One seed gives the same digits in whatever order documents and annotators are read."""

from itertools import product

import numpy as np
import pytest

from beyondchance import Corpus, agreement, difficulty, rank
from beyondchance.inference.compare import compare
from beyondchance.inference.null import null_distribution
from beyondchance.inference.plan import plan
from beyondchance.inference.standings import compare_systems

DOCUMENTS = ("x", "aa", "zebra", "q", "10", "9", "m", "bb", "cc", "p", "k", "long name", "l", "o")
PEOPLE = ("zoe", "ada", "mia", "ben")
DRAWN = {"method": "bca", "resamples": 99, "seed": 1, "confidence": 0.9}


def corpus(*, is_turned, people=PEOPLE, first=0):
    """Random tags; documents and annotators in one order or in the other."""
    rng = np.random.default_rng(3)
    tags = {}
    for name in DOCUMENTS:
        n = int(rng.integers(4, 30))
        for who in PEOPLE:
            tags[name, who] = rng.choice(["O", "O", "B-P", "B-Q", "I-P"], n).tolist()
    names = DOCUMENTS[first:]
    if is_turned:
        names, people = names[::-1], people[::-1]
    return Corpus.from_tags(
        {who: [tags[name, who] for name in names] for who in people},
        documents=names,
        fields={"round": [str(len(name) % 2) for name in names]},
    )


def both_orders(function, first=0):
    return [function(corpus(is_turned=is_turned, first=first)) for is_turned in (False, True)]


def test_intervals():
    ways = list(product(["bca", "percentile", "expanded"], ["documents", "annotators", "both"]))

    def ends(data):
        result = agreement(data)
        found = [result.interval(**{**DRAWN, "method": way}, over=over) for way, over in ways]
        return [(interval.low, interval.high, interval.effective) for interval in found]

    for way, one, other in zip(ways, *both_orders(ends), strict=True):
        assert one == other, way
        assert one[0] < one[1], way


def test_intervals_of_every_level():
    def ends(data):
        found = agreement(data).intervals(by=["round"], **DRAWN)
        levels = (found.by_label, found.by_annotator, found.without, found.by_field["round"])
        return [{name: tuple(item["corrected"]) for name, item in each.items()} for each in levels]

    one, other = both_orders(ends)
    assert one == other
    assert len(one[3]) == 2


@pytest.mark.parametrize("by", ["label", "document"])
def test_intervals_of_means(by):
    one, other = both_orders(lambda data: tuple(agreement(data).macro(by).interval(**DRAWN)))
    assert one == other


def test_the_means_of_documents_are_left_out_by_their_own_reasons():
    counts = [agreement(corpus(is_turned=turned)).macro("document").left_out for turned in (0, 1)]
    assert counts[0] == counts[1]


def test_intervals_of_difficulty():
    one, other = both_orders(lambda data: tuple(difficulty(data).interval(**DRAWN)))
    assert one == other


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_systems(test):
    def compared(data):
        found = compare_systems(rank(data, gold="mia"), test=test, **DRAWN)
        pairs = {
            name: (item.p_value, tuple(item.interval), item.difference)
            for name, item in found.pairs.items()
        }
        return pairs, {name: tuple(item["corrected"]) for name, item in found.intervals.items()}

    one, other = both_orders(compared)
    assert one == other


@pytest.mark.parametrize("paired", [True, False])
def test_two_results(paired):
    def compared(is_turned):
        results = [
            agreement(corpus(is_turned=is_turned, people=people, first=first))
            for people, first in ((("zoe", "ada"), 0), (("mia", "ben"), 2))
        ]
        found = compare(*results, paired=paired, **DRAWN)
        return found.p_value, tuple(found.interval), found.difference

    assert compared(False) == compared(True)


@pytest.mark.parametrize("measure", ["token", "dice", "iou"])
def test_random_annotations(measure):
    def drawn(data):
        found = null_distribution(data, measure=measure, resamples=99, seed=1)
        documents = {name: (item.sd, item.p_value) for name, item in found.by_document.items()}
        return found.samples.tolist(), found.sd, found.p_value, documents

    one, other = both_orders(drawn, first=9)
    assert one == other


def test_plans():
    one, other = both_orders(lambda data: plan(agreement(data), 0.05).spread)
    assert one == other
