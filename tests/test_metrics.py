"""The metrics of seqeval, to the last digit, and their twins beyond chance."""

import random
import subprocess
import sys
import warnings
from itertools import cycle, islice, product

import numpy as np
import pytest
import seqeval.metrics
import seqeval.metrics.v1
import seqeval.scheme
from seqeval.metrics import sequence_labeling
from sklearn.exceptions import UndefinedMetricWarning

import beyondchance as bc
from beyondchance import metrics
from refusals import refused

PREFIXES = {
    "IOB1": "IB",
    "IOE1": "IE",
    "IOB2": "IB",
    "IOE2": "IE",
    "IOBES": "IBES",
    "BILOU": "BILU",
}
TYPES = [["A"], ["A", "B"], ["PER", "LOC", "a-b", "-x-"], ["", "A"], ["_", "A"]]
AVERAGES = (None, "micro", "macro", "weighted")
SCORES = ("f1_score", "precision_score", "recall_score")

#            0        1        2    3        4        5    6
TRUE = [["B-PER", "I-PER", "O", "B-LOC", "B-LOC", "O", "O"], ["B-ORG", "O"]]
FOUND = [["B-PER", "I-PER", "O", "B-LOC", "I-LOC", "O", "O"], ["O", "B-PER"]]


def random_case(rng, letters, *, is_odd=False):
    """Tags of both sides, of which the predicted ones are sometimes like the true ones."""
    types, suffix = rng.choice(TYPES), rng.random() < 0.3

    def tag():
        if rng.random() < 0.4:
            return "O"
        letter, name = rng.choice(letters), rng.choice(types)
        dash = rng.choice(["-", "-", "-", "", "--"]) if is_odd else "-" * bool(name)
        return f"{name}{dash}{letter}" if suffix else f"{letter}{dash}{name}"

    true = [[tag() for _ in range(rng.choice([0, 1, 3, 6, 10]))] for _ in range(rng.randint(1, 4))]
    kept = rng.choice([0, 0.7, 0.95])
    return true, [[old if rng.random() < kept else tag() for old in text] for text in true], suffix


def outcome(function, *data, **options):
    """What a function returns or raises, and what it warns of."""
    is_ours = function.__module__.startswith("beyondchance")
    errors = (bc.BeyondChanceError,) if is_ours else (ValueError, KeyError)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*data, **options)
        except errors:
            return "error", set()
    # A tag that looks like none is told once, not every time.
    told = {(str(w.message), w.category) for w in caught}
    if isinstance(result, tuple):
        return [bits(part) for part in result], told
    return (bits(result) if not isinstance(result, str | dict | list) else repr(result)), told


def bits(value):
    array = np.asarray(value, dtype=np.float64)
    return array.shape, array.tobytes()


@pytest.mark.parametrize(
    "number",
    [
        4,
        pytest.param(25, marks=pytest.mark.slow),
        pytest.param(400, marks=pytest.mark.long),
    ],
)
def test_numbers_are_those_of_seqeval_to_the_last_bit(number):
    for scheme, mode in product(PREFIXES, ("default", "strict")):
        assert_as_seqeval(scheme, mode, number)


def assert_as_seqeval(scheme, mode, number):
    """Random tags, by one average and one rule of division after the other."""
    rng = random.Random(f"{scheme} {mode} {number}")  # noqa: S311 - the same on every run
    theirs = getattr(seqeval.scheme, scheme)
    choices = cycle(product(AVERAGES, ("warn", 0, 1)))
    for case in range(number):
        is_odd = case % 5 == 0
        letters = PREFIXES[scheme] + (rng.choice(["X", "M", "UL", ".", "O"]) if is_odd else "")
        *data, suffix = random_case(rng, letters, is_odd=is_odd)
        about = (scheme, mode, *data)
        for average, zero_division in islice(choices, 3):
            options = {"average": average, "zero_division": zero_division, "suffix": suffix}
            options["beta"] = rng.choice([1, 2, 0.5, np.inf])
            if mode == "strict":
                function = seqeval.metrics.v1.precision_recall_fscore_support
                expected = outcome(function, *data, scheme=theirs, **options)
                options["scheme"] = scheme
            else:
                function = sequence_labeling.precision_recall_fscore_support
                expected = outcome(function, *data, **options)
            found = outcome(metrics.precision_recall_fscore_support, *data, **options)
            assert found == expected, (about, options)
            del options["beta"]
            name, options["mode"] = rng.choice(SCORES), mode
            options["scheme"] = theirs
            expected = outcome(getattr(seqeval.metrics, name), *data, **options)
            assert outcome(getattr(metrics, name), *data, **options) == expected, (about, options)
        options = {"output_dict": case % 2 == 1, "mode": mode, "suffix": suffix}
        options |= {"digits": rng.randint(0, 17), "zero_division": rng.choice(["warn", 0, 1])}
        options["scheme"] = rng.choice([None, theirs])
        expected = outcome(seqeval.metrics.classification_report, *data, **options)
        found = outcome(metrics.classification_report, *data, **options)
        assert found == expected, (about, options)
        expected = outcome(sequence_labeling.get_entities, data[0], suffix)
        assert outcome(metrics.get_entities, data[0], suffix) == expected, about
        pairs = metrics.performance_measure(*data)
        assert pairs == seqeval.metrics.performance_measure(*data), about
        if any(data[0]):
            accuracy = metrics.accuracy_score(*data)
            assert accuracy == seqeval.metrics.accuracy_score(*data), about


def test_an_example_by_hand():
    # True: PER, LOC, LOC, ORG. Predicted: PER as it is, a LOC too long, PER for ORG elsewhere.
    assert metrics.get_entities(TRUE[0]) == [("PER", 0, 1), ("LOC", 3, 3), ("LOC", 4, 4)]
    assert metrics.precision_score(TRUE, FOUND) == 1 / 3
    assert metrics.recall_score(TRUE, FOUND) == 1 / 4
    assert metrics.f1_score(TRUE, FOUND) == pytest.approx(2 / 7)
    options = {"average": None, "zero_division": 0}
    assert metrics.precision_score(TRUE, FOUND, **options).tolist() == [0, 0, 1 / 2]
    assert metrics.recall_score(TRUE, FOUND, **options).tolist() == [0, 0, 1]
    assert metrics.accuracy_score(TRUE, FOUND) == 6 / 9
    assert metrics.performance_measure(TRUE, FOUND) == {"TP": 3, "FP": 2, "FN": 1, "TN": 3}


def test_both_sides_of_flat_lists():
    assert metrics.accuracy_score(["O", "B-X"], ["O", "O"]) == 0.5
    assert metrics.performance_measure(["B-X"], ["B-X"]) == {"TP": 1, "FP": 0, "FN": 0, "TN": 0}


def test_schemes_have_any_of_their_names():
    by_name, by_class = (
        metrics.f1_score(TRUE, FOUND, mode="strict", scheme=scheme)
        for scheme in ("IOB2", seqeval.scheme.IOB2)
    )
    assert by_name == by_class
    # As in seqeval: strict mode needs a scheme, and a scheme needs strict mode.
    broken = [["B-X", "I-X"]], [["I-X", "I-X"]]
    assert metrics.f1_score(*broken, mode="strict") == 1
    assert metrics.f1_score(*broken, scheme="IOB2") == 1
    assert metrics.f1_score(*broken, mode="strict", scheme="IOB2") == 0


def test_warnings_are_those_of_scikit_learn_and_name_the_caller():
    with pytest.warns(UndefinedMetricWarning, match="F-score") as caught:
        metrics.f1_score([["O"]], [["O"]])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="X") as caught:
        metrics.f1_score([["X", "B-A"]], [["X", "B-A"]])
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.slow
def test_without_scikit_learn_there_is_a_warning_of_that_name():
    code = (
        "import sys, warnings; from beyondchance.metrics import *\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always'); f1_score([['O']], [['O']])\n"
        "assert [w.category for w in caught] == [UndefinedMetricWarning]\n"
        "assert 'sklearn' not in sys.modules and 'seqeval' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_are_documented_with_examples():
    for name in metrics.__all__:
        value = getattr(metrics, name)
        assert value.__doc__
        assert isinstance(value, type) or ">>>" in value.__doc__


# --- Beyond chance ------------------------------------------------------------


def agreement(true, found):
    return bc.agreement(true, found, measure="exact", scheme="IOB2")


def test_twins_are_our_exact_measure():
    expected = agreement(TRUE, FOUND)
    labels = [expected.by_label[label] for label in ("LOC", "ORG", "PER")]
    names = {
        metrics.corrected_f1_score: "corrected",
        metrics.corrected_precision_score: "corrected_precision",
        metrics.corrected_recall_score: "corrected_recall",
    }
    for function, name in names.items():
        assert function(TRUE, FOUND) == getattr(expected.score, name)
        by_label = np.array([getattr(label, name) for label in labels])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(function(TRUE, FOUND, average=None), by_label)
            mean, weighted = (
                function(TRUE, FOUND, average=average) for average in ("macro", "weighted")
            )
        known = ~np.isnan(by_label)
        assert mean == pytest.approx(by_label[known].mean())
        support = np.array([2, 1, 1])
        assert weighted == pytest.approx(np.average(by_label[known], weights=support[known]))


def test_one_twin_by_hand():
    # One token of four on each side, the same: chance is 1/4, and all beyond it was reached.
    # Of another label, one of two is found: F1 is 2/3; chance is (2/4) / (3/2) = 1/3.
    true = [["B-A", "O", "O", "O"], ["B-B", "B-B", "O", "O"]]
    found = [["B-A", "O", "O", "O"], ["B-B", "O", "O", "O"]]
    one, two = metrics.corrected_f1_score(true, found, average=None)
    assert (one, two) == (1.0, pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3)))
    # All: F1 is 2 * 2 / 5, chance (1/4 + 1/2) / (5/2).
    assert metrics.corrected_f1_score(true, found) == pytest.approx((0.8 - 0.3) / 0.7)
    assert metrics.corrected_f1_score(true, found, average="macro") == pytest.approx(0.75)
    weighted = metrics.corrected_f1_score(true, found, average="weighted")
    assert weighted == pytest.approx((1 * 1 + 2 * 0.5) / 3)


def test_macro_is_that_of_agreement():
    rng = random.Random(5)  # noqa: S311 - the same on every run
    n_compared = 0
    for _ in range(40):
        true, found, suffix = random_case(rng, "BI")
        tags = {tag for side in (true, found) for text in side for tag in text}
        # Our own reader takes no suffixes, and no dashes at the ends of types.
        if suffix or tags <= {"O"} or any("-x-" in tag for tag in tags):
            continue
        n_compared += 1
        expected = agreement(true, found).macro("label")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mean = metrics.corrected_f1_score(true, found, average="macro")
            report = metrics.classification_report(true, found, output_dict=True, corrected=True)
        assert mean == pytest.approx(expected.corrected, nan_ok=True)
        row = report["macro avg"]
        assert row["corrected"] == pytest.approx(expected.corrected, nan_ok=True)
        assert row["chance"] == pytest.approx(expected.chance, nan_ok=True)
    assert n_compared > 10


def test_the_mean_of_chance_has_the_labels_of_the_mean_beyond_it():
    """A fills its text, so that its chance is 1, and nothing is beyond it; that of B is 1/2."""
    tags = [["B-A"], ["B-B", "O"]]
    report = metrics.classification_report(tags, tags, output_dict=True, corrected=True)
    assert (report["A"]["chance"], report["B"]["chance"]) == (1, 0.5)
    assert np.isnan(report["A"]["corrected"])
    for name in ("macro avg", "weighted avg"):
        assert (report[name]["chance"], report[name]["corrected"]) == (0.5, 1)


def test_undefined_twins():
    everything = [["B-A"], ["B-A"]]
    with pytest.warns(UndefinedMetricWarning, match=r"F-score.*nan") as told:
        assert np.isnan(metrics.corrected_f1_score(everything, everything))
    assert told[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning, match=r"nan in A\b"):
        found = metrics.corrected_f1_score(everything, everything, average=None)
    assert np.isnan(found).tolist() == [True]
    for average in AVERAGES:
        for value in (0, 1):
            options = {"average": average, "zero_division": value}
            assert metrics.corrected_f1_score(everything, everything, **options) == value
    with pytest.warns(UndefinedMetricWarning, match=r"precision.*side b"):
        assert np.isnan(metrics.corrected_precision_score([["B-A", "O"]], [["O", "O"]]))
    with pytest.warns(UndefinedMetricWarning, match=r"recall.*side a"):
        assert np.isnan(metrics.corrected_recall_score([["O", "O"]], [["B-A", "O"]]))


def test_strict_twins_count_strict_entities():
    true, found = [["B-X", "I-X", "O", "O"]], [["I-X", "I-X", "O", "O"]]
    assert metrics.corrected_f1_score(true, found) == 1
    assert metrics.corrected_f1_score(true, found, mode="strict", scheme="IOB2") == 0


def test_a_report_with_chance():
    plain = metrics.classification_report(TRUE, FOUND, zero_division=0)
    assert "chance" not in plain
    report = metrics.classification_report(TRUE, FOUND, zero_division=0, corrected=True, digits=3)
    assert report == (
        "              precision    recall  f1-score    chance corrected   support\n"
        "\n"
        "         LOC      0.000     0.000     0.000     0.000     0.000         2\n"
        "         ORG      0.000     0.000     0.000     0.000     0.000         1\n"
        "         PER      0.500     1.000     0.667     0.111     0.625         1\n"
        "\n"
        "   micro avg      0.333     0.250     0.286     0.048     0.250         4\n"
        "   macro avg      0.167     0.333     0.222     0.037     0.208         4\n"
        "weighted avg      0.125     0.250     0.167     0.028     0.156         4\n"
    )
    values = metrics.classification_report(
        TRUE, FOUND, zero_division=0, corrected=True, output_dict=True
    )
    expected = agreement(TRUE, FOUND)
    assert values["PER"]["corrected"] == expected.by_label["PER"].corrected
    assert values["micro avg"]["chance"] == expected.chance
    without = metrics.classification_report(TRUE, FOUND, zero_division=0, output_dict=True)
    added = {"chance", "corrected"}
    assert without == {
        title: {name: value for name, value in row.items() if name not in added}
        for title, row in values.items()
    }


# --- Bad input ----------------------------------------------------------------


ONE = [["O"]]


def test_bad_input():
    cases = [
        ([()], [()], {}, bc.ListsError, "text 0 … tuple"),
        (np.array([[]]), [[]], {}, bc.ListsError, "ndarray"),
        ([], [], {}, bc.ListsError, "no texts"),
        (None, ONE, {}, bc.ListsError, "NoneType"),
        (["O"], ["O"], {}, bc.ListsError, "text 0 … str"),
        (ONE, [["O"], []], {}, bc.MismatchError, "1 … 2 … texts"),
        ([["O"], ["O"]], [["O"], []], {}, bc.MismatchError, "text 1 … 1 … 0"),
        ([["O", 3]], [["O", "O"]], {}, bc.TagError, "true … text 0 … position 1 … 3"),
        (ONE, [[""]], {}, bc.TagError, "predicted … text 0 … position 0 … ''"),
        (ONE, [[None]], {}, bc.TagError, "None … string"),
        (ONE, [[["O"]]], {}, bc.TagError, "list … unhashable"),
        (ONE, ONE, {"average": "mega"}, bc.OptionError, "average … 'mega' … macro"),
        (ONE, ONE, {"mode": "Strict"}, bc.OptionError, "mode … 'Strict' … strict"),
        (ONE, ONE, {"scheme": "BIO"}, bc.OptionError, "scheme … 'BIO' … IOB2"),
        (ONE, ONE, {"scheme": dict}, bc.OptionError, "scheme … 'dict'"),
        (ONE, ONE, {"zero_division": 2}, bc.OptionError, "zero_division … 2 … 0 … 1"),
        (ONE, ONE, {"zero_division": "0"}, bc.OptionError, "zero_division … '0'"),
        (
            [["S-X"]],
            ONE,
            {"mode": "strict", "scheme": "IOB2"},
            bc.TagError,
            "'S-X' … scheme … {O|I|B}-TYPE",
        ),
    ]
    for true, found, options, error, told in cases:
        for function in (metrics.f1_score, metrics.corrected_recall_score):
            with refused(error, told):
                function(true, found, **options)


def test_more_bad_input():
    with refused(bc.OptionError, "beta … -1 … 0"):
        metrics.precision_recall_fscore_support(ONE, ONE, beta=-1)
    with refused(bc.DataError, "no tags"):
        metrics.accuracy_score([[]], [[]])
    with refused(bc.MismatchError, "2 … 1"):
        metrics.accuracy_score(["O", "O"], ["O"])
    with refused(bc.ListsError, "str … list"):
        metrics.performance_measure("O", "O")
    with refused(bc.DataError, "no entity"):
        metrics.classification_report(ONE, ONE)
    with refused(bc.OptionError, "digits … -1"):
        metrics.classification_report(TRUE, FOUND, digits=-1)
    with refused(bc.OptionError, "scheme … 'B', 'S'"):
        metrics.classification_report([["B-X", "S-X"]], [["O", "O"]], mode="strict")
    with refused(bc.TagError, "list"):
        metrics.classification_report([["B-X", []]], [["O", "O"]], mode="strict")
    # A bare letter that is no prefix has the type of O, so that what it begins is not known.
    with pytest.warns(UserWarning, match="X"), refused(bc.TagError, "next text"):
        metrics.corrected_f1_score([["O"], ["X", "B-A"]], [["O"], ["O", "O"]])
    assert issubclass(bc.ListsError, TypeError)
