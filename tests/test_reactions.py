"""How scores react to mistakes: what docs/background/reactions.md says of them."""

import numpy as np
import pytest

import beyondchance as bc
import reactions
from drawings import elements, texts
from reactions import KINDS, MAGNITUDES, NAMES, picture, reference, scores, simulated

BLIND_TO_SPLITS = ("token", "kappa", "mu-alpha", "ac1")


@pytest.mark.slow
def test_splits_that_are_not_noticed():
    corpus = reference(1)
    assert set(scores(bc.shuffled(corpus, "misses", 0)).values()) == {1}
    found = scores(bc.shuffled(corpus, "split", 1))
    assert list(found) == list(NAMES)
    for name, value in found.items():
        assert (value == pytest.approx(1)) == (name in BLIND_TO_SPLITS), name


def test_the_reference_is_what_the_page_says():
    corpora = [reference(seed) for seed in range(3)]
    lengths = np.concatenate([one.span_end - one.span_start for one in corpora])
    assert set(lengths.tolist()) == {2, 3, 4, 5}
    tokens = sum(int(one.text_length.sum()) for one in corpora)
    assert abs(lengths.sum() / tokens - 0.25) < 0.02
    assert all(len(one.text_length) == 200 for one in corpora)


def test_every_score_has_a_curve_for_each_kind():
    curves = {
        (kind, name): np.linspace(1, -0.3, len(MAGNITUDES)) for kind in KINDS for name in NAMES
    }
    chart = picture(curves)
    assert len(elements(chart, "polyline")) == len(KINDS) * len(NAMES) == 40
    assert {*KINDS, *NAMES.values()} <= set(texts(chart))
    assert texts(chart).count("-0.30") == 40


@pytest.mark.long
def test_the_table_is_what_the_command_writes():
    curves, error = simulated(10)
    head, _, lines = (reactions.FOLDER / "reactions.md").read_text("utf-8").split("\n", 2)
    assert "benchmarks/reactions.py 10" in head
    assert lines == "\n".join(reactions.page(curves, error, 10))
    svg = (reactions.FOLDER / "reactions.svg").read_text("utf-8")
    assert svg == picture(curves)._repr_svg_()
