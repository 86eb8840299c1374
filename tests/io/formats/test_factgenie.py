"""factgenie: annotations, outputs, how they meet, and what is refused."""

import json

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import factgenie
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from mutation import places, replaced
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Oslo will be sunny."
NAME = "weather/test/0/gpt-4"


def key(setup="gpt-4", number=0):
    return {"dataset": "weather", "split": "test", "example_idx": number, "setup_id": setup}


def span(start, words, kind=0, **more):
    return {"type": kind, "text": words, "start": start, "id": "x1"} | more


def line(*spans, by=1, setup="gpt-4", **more):
    return key(setup) | {"annotations": list(spans), "annotator_group": by} | more


def output(text=TEXT, setup="gpt-4", **more):
    return key(setup) | {"output": text} | more


OUTPUTS = (output(),)


def lines(*values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


@pytest.fixture
def read(tmp_path):
    def reader(*annotations, outputs=OUTPUTS, **options):
        paths = [tmp_path / "annotations.jsonl"]
        paths[0].write_bytes(lines(*annotations))
        if outputs:
            paths.append(tmp_path / "outputs.jsonl")
            paths[1].write_bytes(lines(*outputs))
        return bc.read(*paths, format="factgenie", **options)

    return reader


@pytest.fixture
def refuses(read):
    def refuser(*annotations, message, error=bc.FormatError, **options):
        with refused(error, message):
            read(*annotations, **options)

    return refuser


def upload_of(content, data=None):
    return Upload("a.jsonl", "a", [Source("a.jsonl", member=content)], data=data)


class TestRead:
    def test_keys_of_earlier_versions(self, read):
        former = {"dataset": "weather", "split": "test", "table_idx": 0}
        marks = {"annotations": [span(0, "Oslo")], "annotator_id": "p1"}
        for system in ({"setup": {"id": "gpt-4"}}, {"model": "gpt-4", "setup": "direct"}):
            corpus = read(former | system | marks)
            assert corpus.spans(NAME, "p1") == [(0, 4, "0")]
            assert factgenie.is_format(upload_of(lines(former | system | marks)))

    def test_texts_come_from_the_outputs(self, read):
        corpus = read(line(span(0, "Oslo"), span(13, "sunny", 2)), line(by=2))
        assert corpus.documents == (NAME,)
        assert corpus.annotators == ("1", "2")
        assert corpus.spans(NAME, "1") == [(0, 4, "0"), (13, 18, "2")]
        assert corpus.spans(NAME, "2") == []
        assert corpus.texts == (TEXT,)
        expected = {"dataset": ("weather",), "split": ("test",), "system": ("gpt-4",)}
        assert corpus.fields == expected
        assert corpus.skipped == {}
        (note,) = map(str, corpus.notes)
        assert_tells(note, "configuration … campaign")

    def test_from_a_folder_or_by_the_option(self, tmp_path):
        folder = tmp_path / "campaign"
        folder.mkdir()
        (folder / "annotations.jsonl").write_bytes(lines(line(span(0, "Oslo"))))
        (folder / "outputs.jsonl").write_bytes(lines(output()))
        (folder / "config.yaml").write_text("a: 1\n")
        whole = bc.read(folder)
        assert [item.format for item in whole.inputs] == ["factgenie"] * 3
        assert whole.skipped == {"files of other formats ignored": 1}
        for texts in (folder, folder / "outputs.jsonl"):
            corpus = bc.read(folder / "annotations.jsonl", documents=str(texts))
            assert corpus.spans(NAME, "1") == whole.spans(NAME, "1") == [(0, 4, "0")]

    def test_or_from_the_line_itself(self, read):
        assert read(line(span(0, "Oslo"), output=TEXT), outputs=()).texts == (TEXT,)

    def test_names_may_differ_in_punctuation(self, read):
        found = (line(span(0, "Oslo"), setup="gpt_4"), line(setup="gpt_4", by=2))
        corpus = read(*found, outputs=(output(setup="gpt.4"), output("Other", setup="gpt.3")))
        assert corpus.documents == ("weather/test/0/gpt.4",)
        expected = {"texts matched although their names are spelled differently": 1}
        assert corpus.skipped == expected

    def test_strict_reading_asks_for_one_spelling(self, refuses):
        refuses(
            line(setup="gpt_4"),
            strict=True,
            message=(
                "annotations.jsonl:1: … 'weather/test/0/gpt_4' … "
                "'weather/test/0/gpt-4' … spelling … match='id'"
            ),
        )

    def test_who(self, read):
        assert read(line(by=None)).annotators == ("annotations",)
        assert read(line(annotator_id="ada")).annotators == ("ada",)
        assert read(line(by=None, metadata={"annotator_id": "ada"})).annotators == ("ada",)

    def test_types_may_be_names(self, read):
        corpus = read(line(span(0, "Oslo", "Wrong")))
        assert (corpus.labels, corpus.notes) == (("Wrong",), ())

    def test_spans_without_a_place_are_counted(self, read):
        corpus = read(line(span(None, "Rome"), span(0, "Oslo")))
        assert corpus.skipped == {"spans without a place left out": 1}

    def test_emoji(self, read):
        outputs = (output("😀 Oslo"),)
        assert read(line(span(2, "Oslo")), outputs=outputs).spans(NAME, "1") == [(2, 6, "0")]
        corpus = read(line(span(0, "😀 Oslo")), outputs=outputs, offsets="utf16")
        assert corpus.spans(NAME, "1") == [(0, 6, "0")]


@each(
    ("found", "message"),
    [
        (3, "3 … object"),
        (line(dataset=None), "'dataset' … null"),
        (line(by=[]), "'annotator_group' … list"),
        (line(annotations=3), "'annotations' … 3 … list"),
        (line(3), "span #1 … 3 … object"),
        (line(span("0", "Oslo")), "span #1: … 'start' … '0' … number"),
        (line(span(0, None)), "span #1: … 'text' … null"),
        (line(span(0, "Oslo", None)), "span #1: … 'type' … null"),
        (
            line(setup="other"),
            "'weather/test/0/other' … among … documents=FILE",
        ),
        (
            line(setup="gpt_4"),
            "'weather/test/0/gpt-4' … 'weather/test/0/gpt_4' … output … 'weather/test/0/gpt-4'",
        ),
    ],
)
def test_refused(refuses, found, message):
    refuses(line(by=9), found, message=f"annotations.jsonl:2: … {message}")


def test_refused_outputs(refuses):
    refuses(
        line(),
        outputs=(output(), output("Other")),
        message=f"outputs.jsonl:2: … {NAME!r} … another",
    )
    refuses(
        line(),
        outputs=(output(), output(None)),
        message="outputs.jsonl:2: … 'output' … null",
    )
    refuses(
        line(setup="gpt4"),
        outputs=(output(setup="gpt-4"), output("Other", setup="gpt.4")),
        message="annotations.jsonl:1: … 'weather/test/0/gpt4' … among … documents=FILE",
    )


def test_refused_spans(refuses):
    refuses(
        line(span(0, "Rome")),
        message="annotations.jsonl:1: span #1: … [0, 4) … '0' … covers … 'Oslo' … 'Rome'",
        error=bc.SpanError,
    )


class TestDetection:
    @each(
        "content",
        [
            lines(line()),
            lines(output()),
            b"\xef\xbb\xbf" + lines(line(span(0, "Oslo"))),
            lines(key() | {"annotations": [span(0, "Oslo" * 30_000)]}),
        ],
    )
    def test_told(self, content):
        assert factgenie.is_format(upload_of(content))

    @each(
        "content",
        [
            b"",
            b"\x89PNG\0\0",
            b"{" * 100_000,
            b"[1]\n",
            b"Ada\tB-PER\nmet\tO\n",
            lines({"id": 1, "text": "Ada", "label": [[0, 3, "PER"]]}),
            lines(key()),
        ],
    )
    def test_not_told(self, content):
        assert not factgenie.is_format(upload_of(content))


# --- Whatever comes -----------------------------------------------------------

VALID = [line(span(0, "Oslo")), line(span(13, "sunny", "Wrong"), by=2, output=TEXT)]
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "Oslo", "gpt.4", "\ud800", "😀"])
    | st.lists(st.integers(), max_size=2)
)


def only_our_errors(content):
    uploads = [upload_of(content), upload_of(lines(output()))]
    factgenie.is_format(uploads[0])
    reading = Reading(ReadOptions())
    try:
        drafts = factgenie.read(uploads, reading)
        assembled(drafts, reading, unit="document", positions="characters")
    except bc.BeyondChanceError as error:
        assert str(error)  # noqa: PT017 - the message is what is checked


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_replaced_values(data):
    content = VALID
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(content) if p]))
        content = replaced(content, path, data.draw(VALUES))
    only_our_errors("".join(json.dumps(value) + "\n" for value in content).encode())


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_bytes(data):
    content = bytearray(lines(*VALID))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    only_our_errors(bytes(content))


@examples(150)
@given(content=st.binary())
def test_anything(content):
    only_our_errors(content)
