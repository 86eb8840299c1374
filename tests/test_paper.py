"""The paper's tables: recomputed, and every difference explained."""

from dataclasses import replace

from beyondchance import paper
from beyondchance.cli.main import main
from beyondchance.paper import CASES, COLUMNS, DEVIATIONS, reproduce
from refusals import assert_tells


def test_every_cell_is_as_printed_or_explained():
    for item in reproduce():
        assert not item.unexplained
        assert tuple(item.ours) == COLUMNS
        for column, value in item.ours.items():
            printed = item.case.printed[column]
            assert (f"{value:.4f}" == f"{printed:.4f}") != (column in item.notes)


def test_every_deviation_is_one():
    # A deviation that explains nothing would hide a fault one day.
    explained = {
        (item.case.table, item.case.case, column) for item in reproduce() for column in item.notes
    }
    assert explained == {(item.table, item.case, item.column) for item in DEVIATIONS}


def test_deviations_name_cells_that_there_are():
    cases = {(case.table, case.case): case for case in CASES}
    for item in DEVIATIONS:
        printed = cases[item.table, item.case].printed[item.column]
        assert f"{printed:.4f}".lstrip("0") == item.printed


def test_columns_of_every_case():
    assert all(tuple(case.printed) == COLUMNS for case in CASES)
    assert len({(case.table, case.case) for case in CASES}) == len(CASES) == 8


def test_a_cell_that_nothing_explains_fails(monkeypatch, capsys):
    wrong = replace(CASES[0], printed={**CASES[0].printed, "CorrF1": 0.7})
    monkeypatch.setattr(paper, "CASES", (wrong, *CASES[1:]))
    assert main(["reproduce", "--quiet"]) == 1
    out = capsys.readouterr().out
    assert_tells(out, "differs … 4 by a known … 1 unexplained")


def test_a_deviation_that_was_forgotten_fails(monkeypatch):
    monkeypatch.setattr(paper, "DEVIATIONS", ())
    assert main(["reproduce", "--quiet", "--output", "json"]) == 1
