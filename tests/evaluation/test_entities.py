"""Entities of tags, beside a plain reading of each rule."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from beyondchance.annotations.tags import decode_tags
from beyondchance.evaluation.entities import SCHEMES, detected_scheme, entities_of, types_of

ENDS = {"IOB2": "", "IOBES": "ES", "BILOU": "LU"}


def places(found):
    text, start, end = found.places(found.true)
    labels = [found.labels[i] for i in found.true.label]
    return list(zip(text.tolist(), start.tolist(), end.tolist(), labels, strict=True))


def plain_lenient(tags):
    """Entities as the conlleval script reads them, tag by tag."""
    found, start, before = [], None, ("O", None)
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, label = tag.partition("-")
        is_new = prefix in "BS" or before[0] in "OES" or label != before[1]
        if start is not None and (prefix == "O" or is_new):
            found.append((0, start, i, before[1]))
            start = None
        if prefix != "O" and is_new:
            start = i
        before = (prefix, label)
    return found


def plain_strict(tags, scheme):
    """Entities that begin, go on and end as a scheme says: every stretch is tried."""
    begin, inside = "B", "I"
    end, single = ENDS[scheme] or ("I", "B")
    found = []
    for start in range(len(tags)):
        for stop in range(start + 1, len(tags) + 1):
            labels = {tag.partition("-")[2] for tag in tags[start:stop]}
            prefixes = "".join(tag[0] for tag in tags[start:stop])
            middle = len(prefixes) - 2
            wanted = single if middle < 0 else begin + inside * middle + end
            after = tags[stop] if stop < len(tags) else "O"
            # Without a mark of its end, an entity ends where the next tag does not go on with it.
            goes_on = scheme == "IOB2" and after[0] == "I" and after[2:] in labels
            if prefixes == wanted and len(labels) == 1 and not goes_on:
                found.append((0, start, stop, labels.pop()))
    return found


def sequences(prefixes):
    tag = st.sampled_from(["O", *(f"{prefix}-{name}" for prefix in prefixes for name in "xy")])
    return st.lists(tag, max_size=12)


@given(sequences("BIES"))
def test_the_default_mode_is_that_of_conlleval(tags):
    assert places(entities_of([tags], [tags])) == plain_lenient(tags)


@pytest.mark.parametrize("scheme", ENDS)
@given(data=st.data())
def test_strict_entities_have_a_beginning_and_an_end(scheme, data):
    tags = data.draw(sequences(set("BI" + ENDS[scheme])))
    found = entities_of([tags], [tags], mode="strict", scheme=scheme)
    assert places(found) == plain_strict(tags, scheme)


@given(sequences("BI"), sequences("BIES"))
def test_repairs_are_those_of_our_own_reader(two, four):
    for tags, scheme, prefixes in ((two, "IOB2", "BIO"), (four, "BIOES", "BIOES")):
        found = entities_of([tags], [tags])
        own = decode_tags(
            tags, np.array([len(tags)]), scheme=scheme, repair="conlleval", where="{} {}".format
        )
        assert places(found) == [
            (0, int(start), int(end), own.labels[label])
            for start, end, label in zip(own.start, own.end, own.label, strict=True)
        ]
        # Both sides are the same here.
        assert found.n_repaired(prefixes) == 2 * own.n_repaired


def test_texts_do_not_run_into_one_another():
    texts = [["O", "B-x"], [], ["I-x", "I-x"], ["B-x"]]
    assert places(entities_of(texts, texts)) == [(0, 1, 2, "x"), (2, 0, 2, "x"), (3, 0, 1, "x")]
    strict = entities_of(texts, texts, mode="strict", scheme="IOB2")
    assert places(strict) == [(0, 1, 2, "x"), (3, 0, 1, "x")]


def test_suffixes():
    for name, scheme in SCHEMES.items():
        prefixes = scheme.prefixes.replace("O", "")
        tags = ["O", *(f"{prefix}-a-b" for prefix in prefixes), "O"]
        turned = ["O", *(f"a-b-{prefix}" for prefix in prefixes), "O"]
        for mode in ("default", "strict"):
            one = entities_of([tags], [tags], mode=mode, scheme=name)
            two = entities_of([turned], [turned], mode=mode, scheme=name, suffix=True)
            assert places(one) == places(two), (name, mode)


def test_schemes_are_detected_by_their_prefixes():
    assert detected_scheme([["B-x", "O"]]) == "IOB2"
    assert detected_scheme([["I-x", "E-x"]]) == "IOE2"
    assert detected_scheme([["B-x", "E-x", "O", "S-x"]]) == "IOBES"
    assert detected_scheme([["x-U"]], suffix=True) == "BILOU"
    assert types_of(["O", "B-x", "y-z"], is_strict=True, suffix=False) == {"x", "z"}
