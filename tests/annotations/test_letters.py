"""Names as bytes, against a look at each name."""

import numpy as np
from hypothesis import given, strategies as st

from beyondchance.annotations.hashing import _BASE, _mixed, hashed
from beyondchance.annotations.letters import letters_of
from beyondchance.io.columns import _are_bare
from beyondchance.io.identifiers import ways_to_write

TEXT = st.text(st.sampled_from("ab19.0 \n\t\u00a0\u00e9\u0661\U0001f600"), max_size=6)
NAMES = st.lists(TEXT | st.text(max_size=3), max_size=8)


@given(NAMES)
def test_letters_are_those_of_each_name(names):
    """Also of names with new lines in them, and of empty ones."""
    letters = letters_of(names)
    data = letters.data.tobytes()
    cut = [data[i:j] for i, j in zip(letters.begins, letters.ends, strict=True)]
    assert cut == [name.encode("utf-8", "surrogatepass") for name in names]


def plain_hash(name):
    """The definition: a number in base p, byte after byte, whose bits are mixed."""
    value = sum((byte + 1) * _BASE**place for place, byte in enumerate(name.encode()))
    return int(_mixed(np.array([value % 2**64], dtype=np.uint64))[0])


@given(NAMES)
def test_hashes(names):
    """A name has one hash, whatever stands before it."""
    assert hashed(names).tolist() == [plain_hash(name) for name in names]


def test_hashes_of_long_names():
    """Longer than the powers that are kept, and beyond the stretch of the first."""
    names = ["a" * 2**16, "b" * 3 * 2**17, "c", "d" * 10]
    apart = [int(hashed([name])[0]) for name in names]
    assert hashed(names).tolist() == apart
    assert apart[2:] == [plain_hash("c"), plain_hash("d" * 10)]
    assert hashed([]).size == 0


@given(NAMES)
def test_names_without_white_space_around_them(names):
    """What is taken to be bare has nothing to strip."""
    are_visible = all(name and all("!" <= letter <= "~" for letter in name) for name in names)
    assert _are_bare(names) >= are_visible
    if _are_bare(names):
        assert all(name and name == name.strip() for name in names)


@given(NAMES)
def test_whole_numbers(names):
    """As every name tells by itself."""
    is_decimal, _ = ways_to_write(names, letters_of(names))
    assert is_decimal == any(map(str.isdecimal, names))
