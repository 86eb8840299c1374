"""Prodigy: answers, sessions, tokens, and what is refused."""

import json

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import prodigy
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from mutation import places, replaced
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Ada met Bo in Oslo."
TOKENS = [
    {"text": TEXT[start:end], "start": start, "end": end, "id": number, "ws": True}
    for number, (start, end) in enumerate([(0, 3), (4, 7), (8, 10), (11, 13), (14, 18), (18, 19)])
]


def mark(start, end, label, **more):
    return {"start": start, "end": end, "label": label} | more


ADA = mark(0, 3, "PER", token_start=0, token_end=0)
BO = mark(8, 10, "PER", text="Bo")
OSLO = mark(14, 18, "LOC")


def task(*spans, by=None, number=11, **more):
    found = {"text": TEXT, "_input_hash": number, "_task_hash": 5, "spans": list(spans)}
    return found | {"_session_id": by, "_view_id": "ner_manual", "answer": "accept"} | more


def lines(*tasks, **options):
    return "".join(json.dumps(item, **options) + "\n" for item in tasks).encode()


@pytest.fixture
def read(tmp_path):
    def reader(*tasks, **options):
        path = tmp_path / "news.jsonl"
        path.write_bytes(tasks[0] if isinstance(tasks[0], bytes) else lines(*tasks))
        return bc.read(path, format="prodigy", **options)

    return reader


@pytest.fixture
def refuses(read):
    def refuser(*tasks, message, error=bc.FormatError, **options):
        with refused(error, message):
            read(*tasks, **options)

    return refuser


def upload_of(content, data=None):
    return Upload("news.jsonl", "news", [Source("news.jsonl", member=content)], data=data)


class TestRead:
    def test_sessions_meet_by_input(self, read):
        corpus = read(
            task(ADA, OSLO, by="news-ada"),
            task(by="news-ada", number=-12, text="Nothing here"),
            task(ADA, BO, by="news-bo"),
        )
        assert corpus.documents == ("11", "-12")
        assert corpus.annotators == ("news-ada", "news-bo")
        assert corpus.spans("11", "news-ada") == [(0, 3, "PER"), (14, 18, "LOC")]
        assert corpus.spans("11", "news-bo") == [(0, 3, "PER"), (8, 10, "PER")]
        assert corpus.annotators_of("-12") == ("news-ada",)
        assert corpus.spans("-12", "news-ada") == []
        assert (corpus.unit, corpus.positions) == ("document", "characters")
        assert corpus.texts == (TEXT, "Nothing here")
        assert (corpus.skipped, corpus.notes, corpus.gold) == ({}, (), None)

    def test_who(self, read):
        assert read(task(by="s", _annotator_id="ada")).annotators == ("ada",)
        assert read(task(by="s", _annotator_id=None)).annotators == ("s",)
        assert read(task(by="s", _annotator_id="")).annotators == ("s",)
        assert read(task(by=3)).annotators == ("3",)
        assert read(task()).annotators == ("news",)

    def test_one_file_each(self, tmp_path):
        for name, spans in (("ada", [ADA]), ("bo", [BO])):
            (tmp_path / f"{name}.jsonl").write_bytes(lines(task(*spans)))
        corpus = bc.read(tmp_path / "ada.jsonl", tmp_path / "bo.jsonl", format="prodigy")
        assert corpus.annotators == ("ada", "bo")
        assert corpus.annotators_of("11") == ("ada", "bo")

    def test_a_folder(self, tmp_path):
        folder = tmp_path / "ada"
        folder.mkdir()
        (folder / "one.jsonl").write_bytes(lines({"text": TEXT, "spans": [ADA]}))
        (folder / "two.jsonl").write_bytes(lines({"text": "Other", "spans": []}))
        corpus = bc.read(folder, format="prodigy")
        assert corpus.documents == ("one:1", "two:1")
        assert corpus.annotators == ("ada",)

    def test_rejected_and_ignored_are_not_annotated(self, read):
        corpus = read(
            task(ADA, by="ada"),
            task(ADA, by="bo", answer="reject"),
            task(by="cy", answer="ignore"),
            task(by="ada", number=12, answer="reject"),
        )
        assert corpus.documents == ("11",)
        assert corpus.annotators == ("ada",)
        assert corpus.skipped == {"rejected tasks left out": 2, "ignored tasks left out": 1}

    def test_a_missing_answer_is_accepted(self, read):
        bare = {"text": TEXT, "spans": [ADA]}
        assert read(bare).spans("1", "news") == [(0, 3, "PER")]

    def test_missing_spans_are_none(self, read):
        bare = {"text": TEXT, "tokens": TOKENS, "answer": "accept"}
        assert read(bare).spans("1", "news") == []
        assert read(bare | {"spans": None}).spans("1", "news") == []

    def test_without_hashes_annotators_meet_by_text(self, read):
        corpus = read(
            {"text": "Other", "_session_id": "ada"},
            {"text": TEXT, "_session_id": "ada", "spans": [ADA]},
            {"text": TEXT, "_session_id": "bo", "spans": [BO]},
        )
        assert corpus.documents == ("1", "2")
        assert corpus.annotators_of("2") == ("ada", "bo")

    def test_spans_with_answers_of_their_own(self, read):
        corpus = read(
            task(ADA | {"answer": "accept"}, BO | {"answer": "reject"}, OSLO | {"answer": "ignore"})
        )
        assert corpus.spans("11", "news") == [(0, 3, "PER")]
        assert corpus.skipped == {"rejected spans left out": 1, "ignored spans left out": 1}
        (note,) = map(str, corpus.notes)
        assert_tells(note, "news.jsonl: … 1 … accepted")

    def test_relations_and_categories_are_counted(self, read):
        corpus = read(task(ADA, relations=[{"head": 0, "child": 2}], accept=["good"]))
        assert corpus.skipped == {"relations ignored": 1, "categories of whole texts ignored": 1}

    def test_blank_lines_crlf_and_byte_order_mark(self, read):
        content = b"\xef\xbb\xbf" + lines(task(ADA, by="ada"), task(BO, by="bo"))
        corpus = read(content.replace(b"\n", b"\r\n\r\n"))
        assert corpus.annotators == ("ada", "bo")

    def test_utf16_file(self, read):
        content = lines(task(ADA, by="Zoë"), ensure_ascii=False).decode().encode("utf-16")
        assert read(content).annotators == ("Zoë",)


class TestTokens:
    def test_from_the_file(self, read):
        # By rule "Oslo." would be two tokens.
        tokens = [*TOKENS[:4], {"text": "Oslo.", "start": 14, "end": 19, "id": 4}]
        corpus = read(task(ADA, OSLO, tokens=tokens), positions="tokens")
        assert corpus.spans("11", "news") == [(0, 1, "PER"), (4, 5, "LOC")]
        assert corpus.text_length.tolist() == [5]
        assert corpus.options["tokens"] == "file"
        assert corpus.skipped == {"spans widened to whole tokens": 1}

    def test_by_rule(self, read):
        corpus = read(task(ADA, OSLO), positions="tokens")
        assert corpus.spans("11", "news") == [(0, 1, "PER"), (4, 5, "LOC")]
        assert corpus.options["tokens"] == "rule"

    def test_emoji_count_one(self, read):
        tokens = [{"text": "😀", "start": 0, "end": 1}, {"text": "Ada", "start": 2, "end": 5}]
        found = task(mark(2, 5, "PER", text="Ada"), text="😀 Ada", tokens=tokens)
        assert read(found).spans("11", "news") == [(2, 5, "PER")]
        assert read(found, positions="tokens").spans("11", "news") == [(1, 2, "PER")]

    def test_emoji_that_count_two(self, read, refuses):
        tokens = [{"text": "😀", "start": 0, "end": 2}, {"text": "Ada", "start": 3, "end": 6}]
        found = task(mark(3, 6, "PER", text="Ada"), text="😀 Ada", tokens=tokens)
        corpus = read(found, positions="tokens", offsets="utf16")
        assert corpus.spans("11", "news") == [(1, 2, "PER")]
        del found["tokens"]
        refuses(
            found,
            message="news.jsonl:1: … [3, 6) … 'PER' … 5 … characters … UTF-16 … offsets='utf16'",
            error=bc.SpanError,
        )


BEGIN = "news.jsonl:2: … "
OTHER = {"text": "Other", "_input_hash": 1, "spans": []}


@each(
    ("second", "message"),
    [
        (3, "3 … object"),
        (
            {"image": "a.png", "answer": "accept"},
            "'text' … null",
        ),
        (
            task(text=["Ada"]),
            "'text' … list",
        ),
        (task(answer="yes"), "'answer' … 'yes' … accept"),
        (task(answer=["accept"]), "'answer' … list"),
        (task(by=True), "'_session_id' … true"),
        (task(_annotator_id={}), "'_annotator_id' … object"),
        (task(number=1.5), "'_input_hash' … 1.5 … number"),
        (task(spans={}), "'spans' … object"),
        (task("Ada"), "span #1 … 'Ada' … object"),
        (
            task(ADA, {"end": 3, "label": "PER"}),
            "span #2: … 'start' … null",
        ),
        (task(mark(0, 3.0, "PER")), "span #1: … 'end' … 3.0 … number"),
        (task({"start": 0, "end": 3}), "span #1: … 'label' … null"),
        (task(mark(0, 3, "")), "span #1: … 'label' … '' … name"),
        (
            task(mark(0, 3, "PER", text=1)),
            "span #1: … 'text' … 1 … words",
        ),
        (
            task(ADA | {"answer": "maybe"}),
            "span #1: … 'answer' … 'maybe' … accept",
        ),
        (task(relations=1), "'relations' … 1 … list"),
        (task(tokens="Ada"), "'tokens' … 'Ada' … list"),
        (task(tokens=["Ada"]), "token #1 … 'Ada' … object"),
        (task(tokens=[{"start": 0}]), "token #1: … 'end' … null"),
        (
            task(tokens=[TOKENS[1], TOKENS[0]]),
            "token #2 … [0, 3) … within … 19",
        ),
        (
            task(tokens=[{"start": 14, "end": 20}]),
            "token #1 … [14, 20) … within … 19",
        ),
        (
            task(tokens=[TOKENS[0] | {"text": "Bob"}]),
            "token #1 … covers … 'Ada' … 'Bob'",
        ),
    ],
)
def test_refused(refuses, second, message):
    refuses(OTHER, second, message=BEGIN + message)


@each(
    ("content", "message"),
    [
        (b"", "document"),
        (lines(task(answer="reject")), "document"),
        (
            lines(task()) + b'{"text": \n',
            "news.jsonl:2: … 10 … Expecting",
        ),
        (b"\n\xff", "news.jsonl:2: … byte … 0xff … UTF-8 … UTF-8"),
        (
            b"{}\n\0",
            "news.jsonl:2: … NUL … character … UTF-16",
        ),
        (
            lines({"text": "a", "label": "GOOD"}, {"text": "b", "label": "BAD"}),
            "news.jsonl: … 2 … categories",
        ),
    ],
)
def test_refused_files(refuses, content, message):
    refuses(content, message=message)


def test_refused_spans(refuses):
    refuses(
        task(mark(0, 3, "PER", text="Bo")),
        message="news.jsonl:1: … [0, 3) … 'PER' … covers … 'Ada' … 'Bo'",
        error=bc.SpanError,
    )


@each("number", [11, None])
def test_several_accepted_tasks_of_one_text(refuses, number):
    yes_or_no = {"by": "ada", "number": number, "_view_id": "ner"}
    refuses(
        task(ADA, **yes_or_no),
        task(BO, **yes_or_no, answer="reject"),
        task(OSLO, **yes_or_no),
        message="news.jsonl:3: … 'ada' … accepted … news.jsonl:1",
    )


def test_it_may_have_been_annotated_twice(read, refuses):
    tasks = [task(ADA, by="ada", _view_id=None), task(OSLO, by="ada", _view_id=None)]
    refuses(
        *tasks,
        message="news.jsonl:2: … 'ada' … accepted … news.jsonl:1 … repeated='last'",
    )
    corpus = read(*tasks, repeated="last")
    assert corpus.spans("11", "ada") == [(14, 18, "LOC")]
    assert corpus.skipped == {"annotations replaced by a later one": 1}
    yes_or_no = [task(ADA, by="ada", _view_id="ner"), task(OSLO, by="ada", _view_id="ner")]
    with refused(bc.FormatError, "exported"):
        read(*yes_or_no, repeated="last")


def test_of_several_whole_annotations_of_a_text_the_last_counts(read):
    corpus = read(task(ADA, by="ada"), task(OSLO, by="ada"))
    assert corpus.spans("11", "ada") == [(14, 18, "LOC")]
    assert corpus.skipped == {"annotations replaced by a later one": 1}
    with refused(bc.FormatError, "annotated … 'ada'"):
        read(task(ADA, by="ada"), task(OSLO, by="ada"), strict=True)


class TestDetection:
    @each(
        "content",
        [
            lines(task(ADA)),
            b"\xef\xbb\xbf\r\n" + lines(task(ADA)),
            lines({"text": TEXT, "spans": [ADA], "answer": "reject"}),
            lines({"text": TEXT, "tokens": TOKENS, "answer": "accept"}),
            lines({"text": TEXT, "_input_hash": 3}),
            lines({"_input_hash": 3, "text": TEXT * 5000}),
        ],
    )
    def test_told(self, content):
        assert prodigy.is_format(upload_of(content))

    @each(
        "content",
        [
            b"",
            b"\xff\xfe\x00",
            b"\x89PNG\0\0",
            b"Ada B-PER\nmet O\n",
            b"{",
            b"{" * 100_000,
            b"[1]\n",
            b"document,annotator,start,end,label\n1,ada,0,3,PER\n",
            lines({"id": 1, "text": "Ada", "label": [[0, 3, "PER"]]}),
            lines({"id": 1, "text": "Ada", "entities": [], "relations": []}),
            lines({"document": "1", "annotator": "ada", "start": 0, "end": 3, "label": "PER"}),
            lines({"id": 7, "data": {"text": TEXT}, "annotations": []}),
            lines([{"id": 7, "data": {"text": TEXT}, "annotations": []}]),
            lines({"tokens": ["Ada"], "ner_tags": ["B-PER"]}),
        ],
    )
    def test_not_told(self, content):
        assert not prodigy.is_format(upload_of(content))

    def test_data_in_memory_is_something_else(self):
        assert not prodigy.is_format(upload_of(lines(task(ADA)), data=[]))


# --- Whatever comes -----------------------------------------------------------

VALID = [
    task(ADA, BO | {"answer": "reject"}, by="ada", tokens=TOKENS),
    task(ADA, OSLO, by="bo", tokens=TOKENS, relations=[]),
    task(by="bo", number=None, text="😀 Ada", accept=["x"]),
    task(by="bo", number=12, answer="ignore"),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "Ada", "PER", "accept", "reject", "\ud800", "😀😀"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "start", "end", "label", "spans", "tokens", "answer"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def only_our_errors(content, **options):
    upload = upload_of(content)
    prodigy.is_format(upload)
    for positions in ("characters", "tokens"):
        reading = Reading(ReadOptions(**options))
        try:
            assembled(
                prodigy.read([upload], reading), reading, unit="document", positions=positions
            )
        except bc.BeyondChanceError as error:
            assert str(error)  # noqa: PT017 - the message is what is checked


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_replaced_values(data):
    content = VALID
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(content) if p]))
        content = replaced(content, path, data.draw(JSON))
    only_our_errors(lines(*content), offsets=data.draw(st.sampled_from([None, "utf16"])))


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_bytes(data):
    content = bytearray(lines(*VALID, ensure_ascii=False))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    only_our_errors(bytes(content))


@examples(150)
@given(content=st.binary() | st.lists(JSON, max_size=4).map(lambda items: lines(*items)))
def test_anything(content):
    only_our_errors(content)


def test_how_it_names_things(tmp_path):
    tasks = [
        {"text": "Mia ran", "_document": "a", "spans": [], "answer": "accept", "meta": {"by": "x"}},
        {"text": "Mia ran", "_input_hash": -5, "_document": "b", "spans": [], "answer": "accept"},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps(task)}\n" for task in tasks))
    corpus = bc.read(path, format="prodigy")
    assert (corpus.documents, corpus.origin) == (("a", "-5"), {})
    assert corpus.fields == {"by": ("x", "")}
    path.write_text(json.dumps(tasks[1]))
    assert bc.read(path, format="prodigy").origin == {"document_key": "_input_hash"}
