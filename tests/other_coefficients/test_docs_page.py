"""The page on coefficients: its tables and claims are what is computed."""

from pathlib import Path

import pytest

from annotated_texts import SIMULATIONS, corpus_of_two
from beyondchance import agreement, coefficients
from beyondchance.other_coefficients.coefficients import CATALOGUE

PAGE = (Path(__file__).parents[2] / "docs" / "background" / "coefficients.md").read_text("utf-8")
CASES = ("1A", "1B", "2B", "3A", "4-1", "4-2")
GAMMAS = {"gamma", "gamma-cat", "gamma-k"}


def table(beginning):
    """The rows of the first table whose header begins like this, as lists of cells."""
    lines = PAGE.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(beginning))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def names(cell):
    """The coefficients, or what else is named, of a row."""
    return [name.strip("`") for name in cell.split(", ")]


@pytest.fixture(scope="module")
def values():
    return {case: coefficients(corpus_of_two(*SIMULATIONS[case])).values for case in CASES}


def test_the_catalogue_is_what_the_page_says():
    rows = table("| name |")
    parts = {name: row[1] for row in rows for name in names(row[0])}
    assert parts == {name: found.parts for name, found in CATALOGUE.items()}
    assert all(all(row) and len(row) == 5 for row in rows)


def test_cases_that_share_a_column_are_the_same():
    assert SIMULATIONS["1A"] == SIMULATIONS["2A"]
    assert SIMULATIONS["2B"] == SIMULATIONS["3B"]


def test_the_simulations_are_what_the_page_says(values):
    rows = {name: cells for first, *cells in table("| | 1A, 2A |") for name in names(first)}
    results = [agreement(corpus_of_two(*SIMULATIONS[case])) for case in CASES]
    assert rows.pop("observed F1") == [_digits(result.observed) for result in results]
    assert rows.pop("chance F1") == [_digits(result.chance) for result in results]
    # Sampled: within the precision stated, and the rounding to two digits.
    for shown, case in zip(rows.pop("gamma"), CASES, strict=True):
        low, high = values[case]["gamma"].interval
        assert low - 0.01 <= float(shown) <= high + 0.01
    undefined = {name for name in CATALOGUE if all(values[case][name].reason for case in CASES)}
    assert set(rows) == set(CATALOGUE) - undefined - {"gamma"}
    assert undefined == {"cu-alpha", "ku-alpha", "gamma-cat", "gamma-k"}
    for name, shown in rows.items():
        assert shown == [_digits(values[case][name].value) for case in CASES], name


def _digits(value):
    return f"{value:.4f}".removeprefix("0")


def test_what_the_page_says_about_the_simulations(values):
    def change(name, first, second):
        return values[second][name].value - values[first][name].value

    defined = [name for name in CATALOGUE if values["1A"][name].reason is None]
    assert all(change(name, "1A", "1B") > 0 for name in defined)

    tokens = ["kappa", "shuffled-f1", "pi", "fleiss", "nominal-alpha", "s", "ac1"]
    assert change("corrected-f1", "1A", "2B") < 0
    assert all(change(name, "1A", "2B") == pytest.approx(0, abs=1e-12) for name in tokens)
    assert all(change(name, "1A", "2B") > 0 for name in ("alpha", "mu-alpha", "gamma"))

    assert all(change(name, "3A", "2B") < 0 for name in set(defined) - {"gamma"})
    assert abs(change("gamma", "3A", "2B")) < 0.02

    assert change("corrected-f1", "4-1", "4-2") < 0
    assert change("gamma", "4-1", "4-2") < -0.5
    assert change("alpha", "4-1", "4-2") > 0.5


def test_s_and_ac1_do_not_look_at_what_was_marked():
    # 3 of 1,000 tokens differ; ten are marked, or five hundred.
    for marked in (10, 500):
        found = coefficients(
            corpus_of_two(1000, [(0, marked)], [(0, marked - 3)]), which=["s", "ac1"]
        )
        for one in found.values.values():
            assert one.value > 0.99
