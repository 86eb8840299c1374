"""Metrics for the Trainer of Hugging Face."""

import pickle
import random
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import seqeval.metrics

import beyondchance as bc
from refusals import assert_tells, refused

NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
KEYS = {
    *("precision", "recall", "f1", "accuracy", "chance_f1", "corrected_f1"),
    *("corrected_precision", "corrected_recall", "token_f1", "corrected_token_f1", "repaired"),
}


def random_evaluation(seed):
    """Scores and labels as the Trainer has them, with positions that do not count."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(NAMES), (20, 12))
    labels[:, 0] = -100
    labels[np.arange(12) > rng.integers(1, 12, (20, 1))] = -100
    scores = rng.normal(size=(20, 12, len(NAMES)))
    scores[np.arange(20)[:, None], np.arange(12), np.maximum(labels, 0)] += 1
    return scores, labels


def named(numbers, labels):
    return [
        [NAMES[n] for n, label in zip(*rows, strict=True) if label != -100]
        for rows in zip(numbers, labels, strict=True)
    ]


def test_an_example_by_hand():
    # True: a person of two tokens, and a place; the person is found with one token too few.
    labels = np.array([[-100, 1, 2, 0, 3, -100]])
    predictions = np.array([[4, 1, 0, 0, 3, 4]])
    found = bc.compute_metrics(NAMES, by_label=True)((predictions, labels))
    assert found["precision"] == found["recall"] == found["f1"] == 0.5
    assert found["accuracy"] == 0.75
    # One of four tokens for the place: 1/4. Two lengths of persons never match: 0.
    assert found["chance_f1"] == 0.125
    assert found["corrected_f1"] == pytest.approx((0.5 - 0.125) / (1 - 0.125))
    assert found["token_f1"] == 2 * 2 / (3 + 2)
    assert found["PER_f1"] == found["PER_corrected_f1"] == 0
    assert found["LOC_f1"] == found["LOC_corrected_f1"] == 1
    assert found["LOC_chance_f1"] == 0.25
    assert found["PER_support"] == 1
    assert found["repaired"] == 0


@pytest.mark.parametrize("seed", range(2))
def test_numbers_are_those_of_seqeval_and_of_agreement(seed):
    scores, labels = random_evaluation(seed)
    numbers = scores.argmax(axis=-1)
    found = bc.compute_metrics(NAMES, by_label=True)((scores, labels))
    true, predicted = named(labels, labels), named(numbers, labels)
    assert found["f1"] == seqeval.metrics.f1_score(true, predicted)
    assert found["precision"] == seqeval.metrics.precision_score(true, predicted)
    assert found["recall"] == seqeval.metrics.recall_score(true, predicted)
    assert found["accuracy"] == seqeval.metrics.accuracy_score(true, predicted)
    report = seqeval.metrics.classification_report(true, predicted, output_dict=True)
    assert found["PER_f1"] == report["PER"]["f1-score"]
    exact = bc.agreement(true, predicted, measure="exact")
    token = bc.agreement(true, predicted)
    assert found["chance_f1"] == exact.chance
    assert found["corrected_f1"] == exact.corrected
    assert found["corrected_precision"] == exact.score.corrected_precision
    assert found["corrected_recall"] == exact.score.corrected_recall
    assert found["LOC_corrected_f1"] == exact.by_label["LOC"].corrected
    assert found["token_f1"] == token.observed
    assert found["corrected_token_f1"] == token.corrected
    assert found["repaired"] == exact.skipped["tags repaired by conlleval"]


def test_whatever_the_trainer_passes():
    scores, labels = random_evaluation(1)
    compute = bc.compute_metrics(dict(enumerate(NAMES)))
    expected = compute((scores, labels))
    assert set(expected) == KEYS
    assert {type(value) for value in expected.values()} == {float}
    for given in (
        SimpleNamespace(predictions=scores, label_ids=labels),
        SimpleNamespace(predictions=(scores, "hidden states"), label_ids=labels, inputs=None),
        (scores.argmax(axis=-1), labels),
        [scores.tolist(), labels.tolist()],
        (scores.astype(np.float32), labels.astype(np.int32), "inputs"),
    ):
        assert compute(given) == expected
    assert pickle.loads(pickle.dumps(compute))((scores, labels)) == expected  # noqa: S301


def test_names_in_any_form():
    scores, labels = random_evaluation(2)
    expected = bc.compute_metrics(NAMES)((scores, labels))
    numbers = dict(enumerate(NAMES))
    for names in (
        tuple(NAMES),
        {str(number): name for number, name in numbers.items()},
        {name: number for number, name in numbers.items()},
    ):
        assert bc.compute_metrics(names)((scores, labels)) == expected


def test_undefined_is_zero_and_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute = bc.compute_metrics(NAMES, by_label=True)
        nothing = compute((np.zeros((2, 3), dtype=int), np.zeros((2, 3), dtype=int)))
        ignored = compute((np.zeros((2, 3), dtype=int), np.full((2, 3), -100)))
        missed = compute((np.zeros((1, 3), dtype=int), np.array([[1, 0, 0]])))
    assert {name for name, value in nothing.items() if value} == {"accuracy"}
    assert not any(ignored.values())
    assert {name for name, value in missed.items() if value} == {"accuracy", "PER_support"}
    # The same keys every time, for tables of all evaluations.
    assert nothing.keys() == ignored.keys() == missed.keys()


def test_the_best_model_is_found_after_an_evaluation_without_a_score():
    # As the Trainer keeps the best metric: a nan would never be exceeded.
    labels = np.array([[1, 0, 0, 3]])
    empty = np.zeros((1, 4), dtype=int)
    best = None
    for predictions, gold in ((empty, empty), (empty, labels), (labels, labels)):
        value = bc.compute_metrics(NAMES)((predictions, gold))["corrected_f1"]
        if best is None or value > best:
            best = value
    assert best == 1


def test_other_schemes():
    names = ["O", "B-X", "I-X", "L-X", "U-X"]
    labels = np.array([[4, 4, 0, 1, 3]])
    lenient = bc.compute_metrics(names)((labels, labels))
    strict = bc.compute_metrics(names, mode="strict", scheme="BILOU", by_label=True)
    assert lenient["f1"] == strict((labels, labels))["f1"] == 1
    # As in seqeval, two U that adjoin are one entity by default, so that half of it is none.
    half = np.array([[4, 0, 0, 1, 3]])
    assert bc.compute_metrics(names)((half, labels))["recall"] == 1 / 2
    assert strict((half, labels))["recall"] == 2 / 3
    assert strict((half, labels))["X_support"] == 3
    turned = bc.compute_metrics(["O", "X-B", "X-I"], suffix=True, by_label=True)
    found = turned((np.array([[1, 2]]), np.array([[1, 2]])))
    assert found["f1"] == found["X_f1"] == 1
    broken = np.array([[2, 2, 0]])
    assert bc.compute_metrics(["O", "B-X", "I-X"])((broken, broken))["repaired"] == 2
    assert bc.compute_metrics(["O", "B-X", "I-X"], scheme="IOB1")((broken, broken))["repaired"] == 0


def test_bad_names():
    cases = [
        (None, "None … list"),
        ([], "[] … expected"),
        (3, "3"),
        (["O", ""], "''"),
        ({0: "LABEL_0", 1: "LABEL_1"}, "'LABEL_0', 'LABEL_1' … tags"),
    ]
    for names, told in cases:
        with refused(bc.OptionError, f"label_names … {told}"):
            bc.compute_metrics(names)


def test_bad_data():
    good = np.zeros((2, 3), int)
    cases = [
        (3, "int … predictions … label_ids"),
        ((good,), "tuple … label_ids"),
        ((good, 1), "label_ids … ()"),
        ((np.zeros((2, 3)), good), "predictions … (2, 3) … float64"),
        ((np.zeros((2, 3, 0)), good), "predictions … (2, 3, 0)"),
        ((np.zeros((2, 4), int), good), "predictions … (2, 4) … (2, 3)"),
        (((), good), "predictions … empty tuple"),
        (([[1], [1, 2]], good), "predictions … unevenly"),
        ((np.zeros((0, 3), int), np.zeros((0, 3), int)), "no texts"),
        ((np.full((2, 3), 9), good), "predictions … text 0, position 0 … 9 … label_names"),
        ((good, np.array([[0, 0, 0], [0, 7, 0]])), "label_ids … text 1, position 1 … 7"),
    ]
    for given, told in cases:
        with pytest.raises(bc.DataError) as caught:
            bc.compute_metrics(NAMES)(given)
        assert_tells(caught.value, told)


def test_random_numbers_never_break_it():
    rng = random.Random(1)  # noqa: S311 - the same on every run
    compute = bc.compute_metrics(NAMES, by_label=True)
    for _ in range(20):
        shape = rng.randint(1, 4), rng.randint(0, 6)
        labels = np.array([rng.choice([-100, 0, 1, 2, 3, 4]) for _ in range(shape[0] * shape[1])])
        labels = labels.reshape(shape).astype(np.int64)
        found = compute((np.abs(labels) % 5, labels))
        assert found["accuracy"] in {0, 1}
