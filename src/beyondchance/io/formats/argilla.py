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
from beyondchance.io.parquet_rows import schema_of
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.shapes import Item, Row, Shape, all_rows, asked_for, numbered, only
from beyondchance.io.sources import is_parquet
from beyondchance.io.values import identifier, listed, object_of, refusal, refused
from beyondchance.messages import Text, Use, quotes
from beyondchance.tallies import left_out, not_annotated, not_read

_LEFT_OUT = {"discarded": left_out("discarded responses"), "draft": left_out("draft responses")}
_STATUSES = ("submitted", *_LEFT_OUT)
_SUGGESTED = "suggestion"
_FLAT = (".responses", ".suggestion")
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
    found = [_nested(row) for row in all_rows(upload)]
    records = [(row, list(_answers(row.item, row.where))) for row in found]
    everything = [answer for _, answers in records for answer in answers]
    question = _question(everything, upload.name, reading)
    if any(answer.status is None for answer in everything):
        reading.note(
            "does not say which responses are drafts or were discarded, so that all are read",
            where=upload.name,
        )
    for row, answers in records:
        n_others = sum(answer.question != question for answer in answers)
        if n_others:
            reading.skipped[not_read("answers to other questions")] += n_others
        works = [answer for answer in answers if _is_read(answer, question, reading)]
        if not works:
            reading.skipped[not_annotated("records")] += 1
        for answer in works:
            key = _text_key(row)
            if not isinstance(answer.value, list):
                raise refused(answer.value, "the answer", answer.where, "a list of spans")
            item = {**row.item, "text": row.item["fields"][key]}
            own = Row(answer.where, row.name, item)
            fields = {name: x for name, x in _strings(item.get("metadata")).items() if name != key}
            who = answer.annotator or upload.annotator
            for draft in _SHAPE.drafts(own, who, reading, answer.value):
                yield replace(draft, fields=fields, date=answer.date)


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


def _text_key(row: Row) -> str:
    """Return the field that was annotated: the only one with text, or the one named ``text``."""
    names = row.item["fields"]
    if len(names) != 1 and "text" not in names:
        raise refusal(
            row.where,
            "the fields with text are {}",
            quotes(names),
            expected="one of them, or one named 'text'",
            remedy="rename the field that was annotated to 'text'",
        )
    return next(iter(names)) if len(names) == 1 else "text"


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


def _nested(row: Row) -> Row:
    """Return a flattened record as a nested one, with its fields that are text."""
    where, name, item = row
    if isinstance(item.get("fields"), dict):
        return Row(where, name, {**item, "fields": _strings(item["fields"])})
    responses: dict[str, Any] = {}
    suggestions: dict[str, Any] = {}
    for key in item:
        question = key.rpartition(".")[0]
        if key.endswith(_FLAT[0]):
            values = listed(item, key, where)
            parts = {part: listed(item, f"{key}.{part}", where) for part in ("users", "status")}
            for part, own in parts.items():
                if own and len(own) != len(values):
                    raise refusal(
                        where,
                        f"has {len(values)} answers in {{}} and {len(own)} in {part!r}",
                        key,
                        expected="as many of each",
                    )
            responses[question] = [
                {
                    "value": value,
                    "user_id": parts["users"][i] if parts["users"] else None,
                    "status": parts["status"][i] if parts["status"] else None,
                }
                for i, value in enumerate(values)
            ]
        elif key.endswith(_FLAT[1]):
            suggestions[question] = {"value": item[key], "agent": item.get(f"{key}.agent")}
    texts = {key: text for key, text in _strings(item).items() if _is_field(key)}
    answers = {"responses": responses, "suggestions": suggestions}
    return Row(where, name, {**item, "fields": texts, "metadata": texts, **answers})


def _strings(values: Any) -> dict[str, str]:
    items = values.items() if isinstance(values, dict) else ()
    return {key: value for key, value in items if isinstance(value, str)}


def _is_field(key: str) -> bool:
    """Return whether a key of a flattened record is neither about the record nor its answers."""
    more = ("", ".users", ".status", ".score", ".agent")
    return key not in _ABOUT and not key.endswith(tuple(x + y for x in _FLAT for y in more))


def _answers(item: Item, where: Text) -> Iterator[_Answer]:
    """Yield the answers to all questions of a nested record."""
    responses, suggestions = (
        object_of({} if item.get(key) is None else item[key], where, f"{key!r}")
        for key in ("responses", "suggestions")
    )
    for question in responses:
        for at, response in numbered(listed(responses, question, where), where, "response"):
            answer = object_of(response, at)
            status = answer.get("status")
            if status is not None and status not in _STATUSES:
                raise refused(status, "the status", at, f"one of {', '.join(_STATUSES)}")
            who = identifier(answer, "user_id", at)
            date = answer.get("inserted_at") or answer.get("updated_at")
            yield _Answer(at, question, who, answer.get("value"), status, date)
    for question, suggestion in suggestions.items():
        answer = object_of(suggestion, where, _SUGGESTED)
        agent = identifier(answer, "agent", where) or _SUGGESTED
        yield _Answer(where, question, agent, answer.get("value"), _SUGGESTED)
