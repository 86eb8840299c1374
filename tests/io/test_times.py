"""The grid, and that nothing but our own errors comes out of the formats with times."""

import contextlib
import tempfile
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.annotations.corpus import MOST_POSITIONS
from beyondchance.io.options import Reading
from beyondchance.io.times import Interval, Recording, corpus_of
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import refused


def recording(*intervals, annotator="anna", duration="1", **others):
    return Recording(
        where=f"{annotator}.x",
        document="d",
        annotator=annotator,
        duration=Fraction(duration),
        intervals=[Interval(Fraction(a), Fraction(b), label) for a, b, label in intervals],
        **others,
    )


def on_grid(*recordings, grid="100ms", **options):
    reading = Reading(ReadOptions(grid=grid, **options))
    return corpus_of(recordings, reading), reading


def spans(*intervals, **options):
    corpus, _ = on_grid(recording(*intervals), **options)
    return [tuple(span) for span in corpus.spans("d", "anna")]


# --- Frames -------------------------------------------------------------------


def test_ends_are_rounded_to_the_grid():
    # 0   .1   .2   .3   .4   .5
    # |----|----|----|----|----|
    #   [------a----)[--b---)
    assert spans(("0.04", "0.26", "a"), ("0.26", "0.44", "b")) == [(0, 3, "a"), (3, 4, "b")]


def test_half_a_frame_goes_up_everywhere():
    # Rounding half to even would give [0, 2) and [2, 2).
    assert spans(("0.05", "0.15", "a"), ("0.15", "0.25", "b")) == [(1, 2, "a"), (2, 3, "b")]


def test_thirds_are_exact():
    # 0.1 + 0.2 is not 0.3 in binary.
    start = Fraction("0.1") + Fraction("0.2")
    corpus, _ = on_grid(recording((start, "0.9", "a"), ("0", "0.3", "b")), grid="300ms")
    assert [tuple(s) for s in corpus.spans("d", "anna")] == [(0, 1, "b"), (1, 3, "a")]


@each(("duration", "n_frames"), [("1", 10), ("0.99", 10), ("1.0001", 11), ("0.01", 1)])
def test_a_recording_is_covered_by_its_frames(duration, n_frames):
    corpus, _ = on_grid(recording(duration=duration))
    assert corpus.text_length.tolist() == [n_frames]
    assert (corpus.unit, corpus.positions) == ("document", "frames")
    assert corpus.annotators_of("d") == ("anna",)


@each(
    ("grid", "spelled"),
    [
        ("10ms", "10ms"),
        ("0.01s", "10ms"),
        ("0.01 s", "10ms"),
        ("1s", "1000ms"),
        ("2.50ms", "2.5ms"),
    ],
)
def test_one_length_has_one_spelling_in_the_signature(grid, spelled):
    _, reading = on_grid(recording(), grid=grid)
    assert reading.signed == {"grid": spelled}


def test_a_short_interval_gets_one_frame():
    corpus, reading = on_grid(recording(("0.31", "0.33", "a"), ("0.98", "1", "b")))
    assert [tuple(s) for s in corpus.spans("d", "anna")] == [(3, 4, "a"), (9, 10, "b")]
    assert reading.skipped == {"intervals lengthened to one frame": 2}


def test_neighbours_make_room_for_a_short_interval():
    corpus, reading = on_grid(
        recording(("0", "0.3", "a"), ("0.3", "0.34", "b"), ("0.34", "0.6", "c"))
    )
    assert [tuple(s) for s in corpus.spans("d", "anna")] == [
        (0, 3, "a"),
        (3, 4, "b"),
        (4, 6, "c"),
    ]
    assert reading.skipped == {
        "intervals lengthened to one frame": 1,
        "intervals cut or moved to make room for a lengthened one": 1,
    }


def test_room_is_made_before_the_end_too():
    corpus, reading = on_grid(recording(("0", "0.98", "a"), ("0.98", "1", "b"), ("1", "1", "c")))
    assert corpus.spans("d", "anna") == [(0, 8, "a"), (8, 9, "b"), (9, 10, "c")]
    assert reading.skipped == {
        "intervals lengthened to one frame": 2,
        "intervals cut or moved to make room for a lengthened one": 1,
    }


def test_more_intervals_than_frames():
    message = "anna.x: … [0, 0.2) … 'a' … intervals"
    with refused(bc.SpanError, message):
        on_grid(recording(("0", "0.2", "a"), ("0.2", "0.4", "b")), grid="1s")


def test_what_overlaps_in_time_may_overlap_on_the_grid():
    assert spans(("0", "0.5", "a"), ("0.3", "0.8", "b")) == [(0, 5, "a"), (3, 8, "b")]


@examples(300)
@given(
    ends=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=12),
    duration=st.integers(500, 600),
    grid=st.sampled_from([1, 7, 10, 33]),
)
def test_what_does_not_overlap_in_time_does_not_overlap_on_the_grid(ends, duration, grid):
    times = sorted({(Fraction(min(e), 1000), Fraction(max(e), 1000)) for e in ends})
    given = recording(
        *[(a, b, f"{i:02}") for i, (a, b) in enumerate(times)], duration=Fraction(duration, 1000)
    )
    corpus, reading = on_grid(given, grid=f"{grid}ms")
    frames = {span.label: span for span in corpus.spans("d", "anna")}
    for (i, one), (j, other) in permutations(enumerate(times), 2):
        if one[1] <= other[0] and (one != other):
            assert frames[f"{i:02}"].end <= frames[f"{j:02}"].start
    if not reading.skipped:
        rounded = [tuple(int(t * 1000 / grid + Fraction(1, 2)) for t in one) for one in times]
        assert [frames[f"{i:02}"][:2] for i in range(len(times))] == rounded


# --- Recordings and annotators ------------------------------------------------


def test_durations_may_differ_by_less_than_a_frame():
    corpus, _ = on_grid(recording(), recording(annotator="ben", duration="1.09"))
    assert corpus.text_length.tolist() == [11]


def test_other_durations_are_an_error():
    with refused(bc.MismatchError, "ben.x: … 'd' … 0 … 1.1 … 0 … 1 … anna"):
        on_grid(recording(), recording(annotator="ben", duration="1.1"))


def test_a_duration_that_is_only_a_least_one_grows():
    corpus, _ = on_grid(
        recording(("0", "1", "a"), is_least=True),
        recording(("0", "2", "a"), annotator="ben", duration="2", is_least=True),
    )
    assert corpus.text_length.tolist() == [20]


def test_recordings_that_begin_later_are_counted_from_there():
    corpus, _ = on_grid(recording(("5.2", "5.4", "a"), begin=Fraction(5)))
    assert corpus.spans("d", "anna") == [(2, 4, "a")]
    assert corpus.text_length.tolist() == [10]


def test_the_same_recording_twice():
    with refused(bc.FormatError, "anna.x: … 'd' … annotated … 'anna'"):
        on_grid(recording(), recording(), strict=True)


def test_the_last_of_them_if_asked_for():
    first, second = recording(("0.2", "0.4", "a")), recording(("0.5", "0.6", "b"))
    corpus, reading = on_grid(first, second, repeated="last")
    assert [span.label for span in corpus.spans("d", "anna")] == ["b"]
    assert reading.skipped == {"annotations replaced by a later one": 1}


def test_duplicates():
    twice = recording(("0", "0.5", "a"), ("0.01", "0.51", "a"), ("0", "0.5", "b"))
    with refused(
        bc.SpanError, "anna.x: … [0.01, 0.51) … 'a' … another … 'anna' … strict='-duplicates'"
    ):
        on_grid(twice, strict=True)
    corpus, reading = on_grid(twice)
    assert sorted(corpus.spans("d", "anna")) == [(0, 5, "a"), (0, 5, "b")]
    assert reading.skipped == {"spans marked twice, second left out": 1}


def test_recordings_matched_by_order():
    other = Recording(where="b", document="e", annotator="ben", duration=Fraction(1), intervals=[])
    corpus, _ = on_grid(recording(), other, match="order")
    assert corpus.documents == ("d",)
    assert corpus.annotators_of("d") == ("anna", "ben")


# --- What is refused ----------------------------------------------------------


@each(
    ("grid", "message"),
    [
        (
            None,
            "positions … grid='10ms'",
        ),
        *[
            (
                grid,
                f"grid … {grid!r} … '10ms'",
            )
            for grid in ("10", "ms", "0ms", "-1s", "1h", "1e3s", "", 10)
        ],
    ],
)
def test_no_grid(grid, message):
    with refused(bc.OptionError, message):
        on_grid(recording(), grid=grid)


@each(
    ("given", "message"),
    [
        (
            recording(("0.5", "0.4", "a")),
            "anna.x: … [0.5, 0.4) … 'a' … starts",
        ),
        (
            recording(("0.5", "1.2", "a")),
            "anna.x: … [0.5, 1.2) … 'a' … lie … 0 … 1",
        ),
        (
            recording(("-0.5", "0.2", "a")),
            "anna.x: … -0.5 … 0.2 … 'a' … lie … 0 … 1",
        ),
        (
            recording(duration="0"),
            "anna.x: … 'd' … 0 frames",
        ),
        (
            recording(duration="1e12"),
            "anna.x: … 'd' … 10,000,000,000,000 … frames … 2,147,483,647",
        ),
    ],
)
def test_intervals_without_a_place(given, message):
    with refused(bc.FormatError, message):
        on_grid(given)


def test_a_recording_has_as_many_frames_as_a_text_has_positions():
    corpus, _ = on_grid(recording(duration=MOST_POSITIONS), grid="1s")
    assert corpus.text_length.tolist() == [MOST_POSITIONS]
    message = "anna.x: … 'd' … 2,147,483,648 … frames … 2,147,483,647"
    with refused(bc.FormatError, message):
        on_grid(recording(duration=MOST_POSITIONS + 1), grid="1s")


def test_no_recording():
    with refused(bc.FormatError, "annotated"):
        on_grid()


def test_recordings_have_no_text():
    with refused(bc.OptionError, "recordings"):
        on_grid(recording(), match="text")


# --- Any bytes ----------------------------------------------------------------

EXAMPLES = {
    "textgrid": (
        (
            'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1.5\n<exists>\n2\n'
            '"IntervalTier"\n"anna"\n0\n1.5\n2\n0\n0.7\n"sta""r"\n0.7\n1.5\n""\n'
            '"TextTier"\n"tones"\n0\n1.5\n1\n0.4\n"H"\n'
        ),
        (
            'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0 \nxmax = 1.5 \n'
            "tiers? <exists> \nsize = 1 \nitem []: \n    item [1]:\n"
            '        class = "IntervalTier" \n        name = "anna" \n        xmin = 0 \n'
            "        xmax = 1.5 \n        intervals: size = 2 \n        intervals [1]:\n"
            '            xmin = 0 \n            xmax = 0.7 \n            text = "comet" \n'
            "        intervals [2]:\n            xmin = 0.7 \n            xmax = 1.5 \n"
            '            text = "" \n'
        ),
    ),
    "eaf": (
        (
            '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT AUTHOR="" DATE="" '
            'FORMAT="3.0" VERSION="3.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            'xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">'
            '<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/><TIME_ORDER>'
            '<TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="ts2"/>'
            '<TIME_SLOT TIME_SLOT_ID="ts3" TIME_VALUE="900"/></TIME_ORDER>'
            '<TIER LINGUISTIC_TYPE_REF="t" TIER_ID="anna"><ANNOTATION><ALIGNABLE_ANNOTATION '
            'ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts2"><ANNOTATION_VALUE>star'
            "</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION><ANNOTATION>"
            '<ALIGNABLE_ANNOTATION ANNOTATION_ID="a2" TIME_SLOT_REF1="ts2" TIME_SLOT_REF2="ts3">'
            "<ANNOTATION_VALUE>comet</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>"
            '<TIER LINGUISTIC_TYPE_REF="t" PARENT_REF="anna" TIER_ID="ben"><ANNOTATION>'
            '<REF_ANNOTATION ANNOTATION_ID="a3" ANNOTATION_REF="a1"><ANNOTATION_VALUE/>'
            "</REF_ANNOTATION></ANNOTATION></TIER></ANNOTATION_DOCUMENT>\n"
        ),
    ),
    "rttm": (
        (
            "SPEAKER talk 1 0.00 1.25 <NA> <NA> anna <NA> <NA>\n;; a remark\n"
            "SPKR-INFO talk 1 <NA> <NA> <NA> unknown anna <NA> <NA>\n"
            "SPEAKER talk 1 1.25 0.50 <NA> <NA> ben 0.9 <NA>\n"
        ),
    ),
}
PIECES = [
    *(b"", b"\n", b'"', b"\0", b"\xff", b"-1", b"0", b"1e99", b"9" * 30, b"nan", b"inf", b"<NA>"),
    *(b"<!DOCTYPE x>", b"<", b">", b"</TIER>", b"ts2", b"a1", b"item [", b"intervals [", b"\r"),
    *(b'"IntervalTier"', b"SPEAKER ", b" ", "\N{SNOWMAN}\N{COMET}".encode(), b"\xff\xfe"),
]
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(PIECES) | st.binary(max_size=6)),
    min_size=1,
    max_size=4,
)


def edited(content: bytes, edits) -> bytes:
    for place, cut, piece in edits:
        at = int(place * len(content))
        content = content[:at] + piece + content[at + cut :]
    return content


@each("name", EXAMPLES)
@each("tier", ["annotator", "label", "file"])
def test_the_examples_are_sound(name, tier, tmp_path):
    options = {} if name == "rttm" else {"tier": tier}
    for example in EXAMPLES[name]:
        path = tmp_path / "example"
        path.write_text(example, encoding="utf-8")
        assert len(bc.read(path, format=name, grid="10ms", **options).span_start) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
@examples(150)
@given(data=st.data())
def test_nothing_but_our_own_errors_comes_out(name, data):
    example = data.draw(st.sampled_from(EXAMPLES[name])).encode()
    coded = data.draw(st.sampled_from([example, example.decode().encode("utf-16")]))
    content = data.draw(EDITS.map(lambda edits: edited(coded, edits)) | st.binary(max_size=200))
    tier = data.draw(st.sampled_from(["annotator", "label", "file"]))
    options = {} if name == "rttm" else {"tier": tier}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        with contextlib.suppress(bc.BeyondChanceError):
            bc.read(path, format=name, grid=data.draw(st.sampled_from(["1ms", "1s"])), **options)
