"""Results that are equal compare equal; errors show their sentence."""

import pytest

import beyondchance as bc
from refusals import assert_tells, refused


@pytest.mark.parametrize(
    "made",
    [
        lambda: bc.agreement(bc.example()),
        lambda: bc.rank(bc.example(), gold="ada"),
        lambda: bc.difficulty(bc.example()),
        lambda: bc.agreement(bc.example()).macro("label"),
        lambda: bc.agreement(bc.example()).intervals(),
        lambda: bc.coefficients(bc.example(), which="kappa"),
        lambda: bc.null_distribution(bc.example(), resamples=99, seed=1),
    ],
)
def test_equal_results_are_equal(made):
    one, other = made(), made()
    assert one == other


def test_equal_results_are_one_in_a_set():
    assert len({bc.agreement(bc.example()), bc.agreement(bc.example())}) == 1


def test_others_are_not():
    result = bc.agreement(bc.example())
    assert result != bc.agreement(bc.example(), measure="exact")
    assert result != bc.agreement(bc.example(), average="annotation")
    assert result != result.score
    assert result != "result"


def test_an_error_shows_its_sentence():
    with pytest.raises(bc.BeyondChanceError) as caught:
        bc.read("there is none.conll")
    assert str(caught.value) in repr(caught.value)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("krippendorff", "alpha"), ("cohen", "kappa"), ("alpha_u", "mu-alpha"), ("kapa", "kappa")],
)
def test_coefficients_by_what_people_call_them(asked, meant):
    with refused(bc.OptionError, f"'{asked}' … did you mean … {meant}") as caught:
        bc.coefficients(bc.example(), which=asked)
    assert_tells(caught.value, meant)
