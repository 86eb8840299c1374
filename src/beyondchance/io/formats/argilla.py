"""Argilla: records with the responses of users to a question about spans.

Records are nested, as ``records.to_json`` writes them, or flattened, as they are on the
Hugging Face hub, where the answers to a question ``q`` are in columns ``q.responses``,
``q.responses.users``, ``q.responses.status`` and ``q.suggestion``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from beyondchance.io.drafts import Draft
from beyondchance.io.json_rows import head_row
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import schema_of, transposed
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.shapes import Row, Shape, all_rows, asked_for, objects, only
from beyondchance.io.sources import is_parquet
from beyondchance.io.values import listed, mapped, object_of, refusal, refused
from beyondchance.messages import Text, Use, quotes
from beyondchance.tallies import left_out, not_annotated, not_read

_LEFT_OUT = {"discarded": left_out("discarded responses"), "draft": left_out("draft responses")}
_STATUSES = ("submitted", *_LEFT_OUT)
_SUGGESTED = "suggestion"
_FLAT = (".responses", ".suggestion")
_PARTS = ("", ".users", ".status", ".score", ".agent")
# Keys of a flattened record that are neither fields nor metadata.
_ABOUT = frozenset({"id", "status", "_server_id", "score"})
_SHAPE = Shape(
    documents=("id", "_server_id"),
    # Spans that are marked in Argilla's pages count UTF-16 units (argilla-io/argilla#5729).
    units=(
        *("pass ", Use("offsets", "utf16"), " for spans marked in Argilla's pages, or "),
        *(Use("offsets", "codepoints"), " for spans sent by its library"),
    ),
)


class _Answer(NamedTuple):
    """What a user or a model answered to one question.

    Attributes
    ----------
    where : Text
    question : str
    annotator : str, optional
    value : object
    status : str, optional
        Where the file has it; of a model, ``suggestion``.
    date : object
        When it was made, or else changed, where the file has it.
    """

    where: Text
    question: str
    annotator: str | None
    value: Any
    status: str | None
    date: object = None


class _Record(NamedTuple):
    """A record: its strings, one of which was annotated, its fields, and all answers."""

    row: Row
    texts: dict[str, str]
    fields: dict[str, str]
    answers: list[_Answer]


def is_format(upload: Upload) -> bool:
    """Return whether the first object is a record."""
    if upload.is_folder:
        return False
    source = upload.sources[0]
    if is_parquet(source):
        schema = schema_of(source)
        return schema is not None and _has_answers(schema.names)
    row = head_row(source, ("fields", "_server_id", "status"))
    if row is None:
        return False
    if isinstance(row.get("fields"), dict):
        return all(isinstance(row.get(key), dict) for key in ("responses", "suggestions"))
    return _has_answers(row)


def _has_answers(keys: Collection[str]) -> bool:
    """Return whether a flattened record has answers to a question."""
    return any(
        f"{key}.users" in keys or f"{key}.agent" in keys for key in keys if key.endswith(_FLAT)
    )


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the answers to the question about spans: users are annotators."""
    records = list(map(_record, all_rows(upload)))
    everything = [answer for record in records for answer in record.answers]
    question = _question(everything, upload.name, reading)
    if any(answer.status is None for answer in everything):
        reading.note(
            "does not say which responses are drafts or were discarded, so that all are read",
            where=upload.name,
        )
    for row, texts, fields, answers in records:
        n_others = sum(answer.question != question for answer in answers)
        reading.skipped[not_read("answers to other questions")] += n_others
        works = [answer for answer in answers if _is_read(answer, question, reading)]
        reading.skipped[not_annotated("records")] += not works
        if works and len(texts) != 1 and "text" not in texts:
            raise refusal(
                row.where,
                "the fields with text are {}",
                quotes(texts),
                expected="one of them, or one named 'text'",
                remedy="rename the field that was annotated to 'text'",
            )
        key = next(iter(texts)) if len(texts) == 1 else "text"
        others = {name: value for name, value in fields.items() if name != key}
        for answer in works:
            if not isinstance(answer.value, list):
                raise refused(answer.value, "the answer", answer.where, "a list of spans")
            own = Row(answer.where, {**row.item, "text": texts[key]}, row.name)
            who = answer.annotator or upload.annotator
            for draft in _SHAPE.drafts(own, who, reading, answer.value):
                yield replace(draft, fields=others, date=answer.date)


def _is_read(answer: _Answer, question: str, reading: Reading) -> bool:
    """Return whether an answer is the work of an annotator; count it if it is left out."""
    if answer.question != question:
        return False
    tally = _LEFT_OUT.get(answer.status or "")
    if answer.status == _SUGGESTED:
        if answer.value is None:
            return False
        tally = None if reading.options["predictions"] else not_read("suggestions")
    elif answer.value is None:
        tally = tally or left_out("responses without a value")
    if tally is not None:
        reading.skipped[tally] += 1
    return tally is None


def _question(answers: list[_Answer], file: str, reading: Reading) -> str:
    """Return the question about spans, by its answers, or the one that was asked for."""
    names = list(dict.fromkeys(answer.question for answer in answers))
    if reading.options["layer"] is not None:
        return asked_for("layer", reading.options["layer"], names, file, "questions")
    about_spans = dict.fromkeys(answer.question for answer in answers if _has_spans(answer.value))
    # Where nothing was marked at all, an empty list is all there is to go by.
    about_spans = about_spans or dict.fromkeys(
        answer.question for answer in answers if answer.value == []
    )
    remedy = ("choose it with ", Use("layer", next(iter(about_spans), None)))
    question = only(about_spans, file, "questions are about spans", remedy)
    if question is None:
        raise refusal(
            file,
            "no answer has spans; the questions are {}",
            quotes(names),
            expected="a question about spans (SpanQuestion) with responses",
        )
    return question


def _has_spans(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(item, dict) and "start" in item and "end" in item for item in value
    )


# --- Records ------------------------------------------------------------------


def _record(row: Row) -> _Record:
    """Return a record, nested or flattened."""
    where, item = row.where, row.item
    if isinstance(item.get("fields"), dict):
        texts, fields = _strings(item["fields"]), _strings(item.get("metadata"))
        given, suggested = (mapped(item, key, where) for key in ("responses", "suggestions"))
        responses = {question: listed(given, question, where) for question in given}
    else:
        about = tuple(key + more for key in _FLAT for more in _PARTS)
        strings = _strings(item).items()
        texts = {key: x for key, x in strings if key not in _ABOUT and not key.endswith(about)}
        fields = texts
        asked, models = ([key for key in item if key.endswith(end)] for end in _FLAT)
        responses = {key.removesuffix(_FLAT[0]): _joined(row, key) for key in asked}
        suggested = {
            key.removesuffix(_FLAT[1]): {"value": item[key], "agent": item.get(f"{key}.agent")}
            for key in models
        }
    answers = []
    for question, values in responses.items():
        for one in objects(values, where, "response"):
            status, value = one.at("status"), one.item.get("value")
            if status is not None and status not in _STATUSES:
                raise one.refused("status", f"one of {', '.join(_STATUSES)}")
            date = one.item.get("inserted_at") or one.item.get("updated_at")
            known = one.known("user_id")
            answers.append(_Answer(one.where, question, known, value, status, date))
    for question, value in suggested.items():
        model = Row(where, object_of(value, where, _SUGGESTED))
        agent = model.known("agent") or _SUGGESTED
        answers.append(_Answer(where, question, agent, model.item.get("value"), _SUGGESTED))
    return _Record(row, texts, fields, answers)


def _joined(row: Row, key: str) -> list[dict[str, Any]]:
    """Return the responses to a question, whose parts are in columns."""
    columns = {"value": row.values(key)}
    for name, part in (("user_id", "users"), ("status", "status")):
        own = row.values(f"{key}.{part}")
        if own and len(own) != len(columns["value"]):
            found = f"has {len(columns['value'])} answers in {{}} and {len(own)} in {part!r}"
            raise refusal(row.where, found, key, expected="as many of each")
        columns |= {name: own} if own else {}
    return list(transposed(columns))


def _strings(values: Any) -> dict[str, str]:
    items = values.items() if isinstance(values, dict) else ()
    return {key: value for key, value in items if isinstance(value, str)}
