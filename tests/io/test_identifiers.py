"""Document ids that differ only in how a number is written."""

from __future__ import annotations

from beyondchance.io.identifiers import plain_ids
from each import each


@each(
    ("names", "changed"),
    [
        ([], {}),
        (["1", "2"], {}),
        (["1.0", "2.0"], {}),
        (["1", "1.0", "1.00"], {"1.0": "1", "1.00": "1"}),
        (["10", "10.0", "1.0"], {"10.0": "10"}),
        (["01", "01.0", "1.0"], {"01.0": "01"}),
        (["1", "1.5", "1.", ".0", "1.0 ", "1.0.0", "-1.0", "-1", "1e0"], {}),
        (["\u0661", "\u0661.0"], {}),  # other digits than 0 to 9 are letters here
    ],
)
def test_a_number_with_a_point_becomes_the_whole_number_if_that_exists(names, changed):
    assert plain_ids(names) == changed


def test_ids_of_one_annotator_are_never_merged():
    assert plain_ids(["1", "1.0", "2", "2.0"], distinct=[["1", "1.0"], ["2"], ["2.0"]]) == {}
    assert plain_ids(["1", "1.0", "1.00"], distinct=[["1"], ["1.0", "1.00"]]) == {}


def test_ids_of_different_annotators_are_merged():
    assert plain_ids(["1", "1.0"], distinct=[["1"], ["1.0"]]) == {"1.0": "1"}
