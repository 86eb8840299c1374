"""Answers of language models: every form in which they arrive, and what is wrong."""

import json
import sys

import pytest

import beyondchance as bc
from each import each
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Mira Holt sailed to Lund. Mira won."
EXPECTED = [(0, 9, "PER"), (20, 24, "LOC")]
QUOTES = [{"text": "Mira Holt", "label": "PER"}, {"text": "Lund", "label": "LOC"}]
ANSWER = json.dumps(QUOTES)
FENCED = f"Here are the entities [as asked]:\n\n```json\n{json.dumps(QUOTES, indent=1)}\n```\nDone!"
AROUND = "answers with text around their JSON"
BROKEN = "answers with broken JSON, repaired"


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.jsonl"
    rows = [{"id": name, "text": TEXT, "spans": EXPECTED} for name in ("d1", "d2")]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def openai(name, content):
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": name, "response": response, "error": None}


def responses(name, content):
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "[1]"}]},
        {"type": "message", "content": [{"type": "output_text", "text": content}]},
    ]
    return {"custom_id": name, "response": {"status_code": 200, "body": {"output": items}}}


def anthropic(name, content):
    blocks = [{"type": "thinking", "thinking": "{}"}, {"type": "text", "text": content}]
    message = {"id": "msg_1", "role": "assistant", "model": "m", "content": blocks}
    return {"custom_id": name, "result": {"type": "succeeded", "message": message}}


def tool(name, content):
    block = {"type": "tool_use", "name": "mark", "input": {"entities": json.loads(content)}}
    return {"custom_id": name, "result": {"type": "succeeded", "message": {"content": [block]}}}


def gemini(name, content):
    parts = [{"text": "[2]", "thought": True}, {"text": content}]
    return {"key": name, "response": {"candidates": [{"content": {"parts": parts}}]}}


@each("batch", [openai, responses, anthropic, tool, gemini])
def test_batch_files(batch, gold, tmp_path):
    path = tmp_path / "batch.jsonl"
    path.write_text("\n".join(json.dumps(batch(name, ANSWER)) for name in ("d2", "d1")))
    corpus = bc.read(gold, path)
    assert corpus.annotators == ("gold", "batch")
    for name in ("d1", "d2"):
        assert [tuple(span) for span in corpus.spans(name, "batch")] == EXPECTED
    assert corpus.skipped == {}


def test_requests_that_failed_are_not_annotated(gold, tmp_path):
    rows = [
        openai("d1", FENCED),
        {"custom_id": "d2", "response": None, "error": {"code": "batch_expired"}},
    ]
    other = [
        anthropic("d1", ANSWER),
        {"custom_id": "d2", "result": {"type": "errored", "error": {"message": "{}"}}},
    ]
    for number, listed in enumerate((rows, other)):
        (tmp_path / f"{number}.jsonl").write_text("\n".join(map(json.dumps, listed)))
    corpus = bc.read(gold, tmp_path / "0.jsonl", tmp_path / "1.jsonl")
    assert corpus.annotators_of("d2") == ("gold",)
    assert corpus.skipped == {"records not annotated left out": 2, AROUND: 1}
    assert corpus.options["answers"] == "mend"


@each(
    ("content", "counted"),
    [
        (ANSWER, None),
        (json.dumps({"entities": QUOTES}), None),
        (json.dumps({"result": QUOTES}), None),
        (json.dumps({"PER": ["Mira Holt"], "LOC": ["Lund"]}), None),
        (json.dumps(QUOTES[0])[:-1] + "}, " + json.dumps(QUOTES[1]), AROUND),
        (FENCED, AROUND),
        (f"I looked at {{everything}} [1].\n{ANSWER}\nTell me if [...]", AROUND),
        (f"<think>[{ANSWER[:20]}</think>\n```\n{ANSWER}\n```", AROUND),
        ("\n".join(["The marks:", *map(json.dumps, QUOTES)]), AROUND),
    ],
)
def test_files_named_after_their_documents(content, counted, gold, tmp_path):
    (tmp_path / "model").mkdir()
    for name in ("d1.txt", "d2.json"):
        (tmp_path / "model" / name).write_text(content)
    corpus = bc.read(gold, tmp_path / "model")
    assert corpus.documents == ("d1", "d2")
    assert [tuple(span) for span in corpus.spans("d2", "model")] == EXPECTED
    assert corpus.skipped == ({} if counted is None else {counted: 2})
    assert ("answers" in corpus.options) == (counted is not None)


@each("key", ["output", "response", "entities"])
def test_records_with_the_answer_as_a_string(key, tmp_path):
    path = tmp_path / "model.jsonl"
    path.write_text(json.dumps({"id": "d1", "text": TEXT, key: FENCED, "run": 2}))
    corpus = bc.read(path)
    assert corpus.annotators == ("model/2",)
    assert [tuple(span) for span in corpus.spans("d1", "model/2")] == EXPECTED


def test_thoughts_and_several_lists(gold, tmp_path):
    """Of what a model thought nothing is read; that only one of several lists was is told."""
    path, one_by_one = tmp_path / "model.jsonl", (json.dumps([quote]) for quote in QUOTES)
    rows = [
        {"id": "d1", "output": f"<think>{json.dumps(QUOTES * 9)}</think>{ANSWER}"},
        {"id": "d2", "output": " and ".join(one_by_one)},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    corpus = bc.read(gold, path)
    assert [tuple(span) for span in corpus.spans("d1", "model")] == EXPECTED
    assert len(corpus.spans("d2", "model")) == 1
    assert corpus.skipped == {"answers with several lists or objects, the longest read": 1}
    with refused(bc.FormatError, "model.jsonl:", use="strict"):
        bc.read(gold, path, strict="answers")


@each("answer", [json.dumps(ANSWER), QUOTES, {"entities": QUOTES}])
def test_a_string_in_a_string_or_no_string(answer, gold, tmp_path):
    path = tmp_path / "model.jsonl"
    path.write_text(json.dumps({"id": "d1", "response": answer}))
    corpus = bc.read(gold, path)
    assert [tuple(span) for span in corpus.spans("d1", "model")] == EXPECTED
    assert corpus.skipped == {}


@each(
    "content",
    [
        ANSWER.replace('"', "'"),
        ANSWER.replace("}", ",}").replace("]", ",]"),
        f'{ANSWER[:-1]}, {{"text": "Mira", "la',
        f"```json\n{ANSWER.replace('},', '}')}\n```",
        f"Yes: {ANSWER[:-1]}",
    ],
)
def test_broken_json_is_repaired(content, gold, tmp_path):
    pytest.importorskip("json_repair")
    (tmp_path / "model").mkdir()
    for name in ("d1.json", "d2.txt"):
        (tmp_path / "model" / name).write_text(content)
    corpus = bc.read(gold, tmp_path / "model")
    assert [tuple(span) for span in corpus.spans("d2", "model")] == EXPECTED[
        : len(corpus.spans("d2", "model"))
    ]
    assert corpus.skipped == {BROKEN: 2}
    assert corpus.options["answers"] == "mend"
    with refused(bc.FormatError, "d1.json … broken", use="strict"):
        bc.read(gold, tmp_path / "model", strict="answers")


def test_broken_lines_are_repaired_one_by_one(tmp_path):
    pytest.importorskip("json_repair")
    rows = [{"id": name, "text": TEXT, "entities": QUOTES} for name in ("d1", "d2")]
    path = tmp_path / "model.jsonl"
    path.write_text(f"{rows[0]}\n{json.dumps(rows[1])}\n")
    corpus = bc.read(path)
    assert corpus.documents == ("d1", "d2")
    assert len(corpus.span_start) == 4
    assert corpus.skipped == {BROKEN: 1}


def test_broken_json_says_what_to_install(gold, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "json_repair", None)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "d1.json").write_text(str(QUOTES))
    with refused(bc.MissingLibraryError, "json-repair"):
        bc.read(gold, tmp_path / "model")


def test_answers_without_json_are_counted(gold, tmp_path):
    path = tmp_path / "batch.jsonl"
    rows = [openai("d1", ANSWER), openai("d2", "I cannot help with that [sorry].")]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert bc.read(gold, path).skipped == {"answers without JSON left out": 1}
    with refused(bc.FormatError, "batch.jsonl:2 … answers without JSON", use="strict"):
        bc.read(gold, path, strict=True)


@each(
    ("content", "message"),
    [
        ('[{"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "X",}]}]', "a.json:1"),
        ('{"text": "Ada", "label": [[0, 3, "X"],}', "a.json:1"),
        ('{"tokens": 1, "said": "nothing"}', "a.json … 'tokens', 'said'"),
        ("Dear all,\nplease read [this].", "a.json"),
        (json.dumps(QUOTES), "a.json … no text and no id … folder"),
        (json.dumps(openai("d1", '{"error": "no"}')), "a.json … lists by label"),
        (json.dumps(openai("d1", '["Mira"]')), "a.json … quote #1 … 'Mira' … words with a label"),
        (f"[3, {json.dumps(openai('d1', ANSWER))}]", "a.json … item 1 … 3 … an object"),
        (json.dumps(openai("d1", f"{ANSWER[:-1]}, 3]")), "a.json … quote #3 … 3"),
    ],
)
def test_other_files_and_bad_answers(content, message, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(content)
    with refused(bc.FormatError, message):
        bc.read(path)


def test_a_model_may_refuse_in_a_text_file(gold, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "d1.txt").write_text(FENCED)
    (tmp_path / "model" / "d2.txt").write_text(FENCED)
    (tmp_path / "model" / "d3.txt").write_text("I am sorry.")
    assert bc.read(gold, tmp_path / "model").skipped["answers without JSON left out"] == 1
    (tmp_path / "model" / "d3.txt").rename(tmp_path / "model" / "d3.json")
    with refused(bc.FormatError, "d3.json … no JSON"):
        bc.read(gold, tmp_path / "model")
