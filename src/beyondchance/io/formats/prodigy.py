"""Prodigy: the JSONL that ``db-out`` writes, one task a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from beyondchance.io.drafts import Draft
from beyondchance.io.json_rows import first_object
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.shapes import Item, Row, Shape, all_rows, tokens_of
from beyondchance.io.sources import Source
from beyondchance.io.values import refusal
from beyondchance.messages import Text, Use, pieces
from beyondchance.tallies import left_out, no_spans

DOCUMENT = "_document"
"""The key of the name of a document that has no hash yet: Prodigy itself makes hashes."""
_LEFT_OUT = {"reject": "rejected", "ignore": "ignored"}
_ANSWERS = ("accept", *_LEFT_OUT)
_MARKS = frozenset({"_input_hash", "_task_hash", "_session_id", "_annotator_id", "_view_id"})
_MANUAL = frozenset({"ner_manual", "spans_manual", "spans", "blocks", "relations"})
"""Views in which the annotator sees all spans of a text."""
_CATEGORIES = ("label", "options", "accept")


def _looks_right(source: Source) -> bool:
    """Return whether the first line is a task: a text, with marks or an answer of Prodigy."""
    task = first_object(source, ("text",))
    is_answered = task.get("answer") in _ANSWERS and ("spans" in task or "tokens" in task)
    return isinstance(task.get("text"), str) and (bool(_MARKS & task.keys()) or is_answered)


is_format = by_files(all, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read all tasks: a draft for each that was accepted, as others were not annotated."""
    names: dict[str, str] = {}
    accepted: dict[tuple[str, str], tuple[Text, bool | None]] = {}
    counts: Counter[str] = Counter()
    for row in all_rows(upload):
        task, text = row.item, _SHAPE.text(row)
        # Without an input hash, the tasks of a text belong to the line on which it came first.
        is_named = row.known(*_SHAPE.documents) is not None
        name = row.name if is_named else names.setdefault(text, row.name)
        reading.calls("document_key", "_input_hash" if task.get("_input_hash") is not None else "")
        tokens = None if task.get("tokens") is None else tokens_of(row, text, reading)
        counts["spans"] += "spans" in task or tokens is not None
        if not _is_accepted(row, reading, "tasks"):
            continue
        row.values("relations")
        for draft in _SHAPE.drafts(row._replace(name=name), upload.annotator, reading):
            are_answered = any(span.get("answer") for span in task.get("spans") or ())
            _check_whole(draft, task, accepted, reading, are_answered=are_answered)
            counts["categories"] += any(task.get(key) for key in _CATEGORIES)
            counts["binary"] += are_answered
            yield replace(draft, tokens=tokens, date=task.get("_timestamp"))
    _tell(counts, upload, reading)


def _tell(counts: Mapping[str, int], upload: Upload, reading: Reading) -> None:
    """Tell how many tasks are not about spans, or about one at a time."""
    if n_categories := counts["categories"]:
        reading.skipped[no_spans("categories of whole texts")] += n_categories
        if not counts["spans"]:
            raise refusal(
                upload.name,
                f"no task has spans or tokens, but {n_categories} have categories of whole texts",
                expected="tasks about spans",
            )
    if counts["binary"]:
        reading.note(
            f"spans of {counts['binary']} accepted tasks were answered one by one (as in "
            "ner.teach), so that other spans of the text may be missing",
            where=upload.name,
        )


def _is_accepted(row: Row, reading: Reading, kind: str = "spans") -> bool:
    """Return whether the annotator accepted a task or a span; True if the file does not say."""
    answer = "accept" if (given := row.at("answer")) is None else given
    if not isinstance(answer, str) or answer not in _ANSWERS:
        raise row.refused("answer", f"one of: {', '.join(_ANSWERS)}")
    if answer in _LEFT_OUT:
        reading.skipped[left_out(f"{_LEFT_OUT[answer]} {kind}")] += 1
    return answer == "accept"


_SHAPE = Shape(
    documents=("_input_hash", DOCUMENT),
    annotators=("_annotator_id", "_session_id"),
    words="text",
    fields="meta",
    not_spans={"relations": no_spans("relations")},
    is_read=_is_accepted,
)


def _check_whole(
    draft: Draft,
    task: Item,
    accepted: dict[tuple[str, str], tuple[Text, bool | None]],
    reading: Reading,
    *,
    are_answered: bool,
) -> None:
    """Refuse several accepted tasks of one text, unless each is the whole annotation.

    A task shows all spans of a text, or asks whether one is right; some do not tell.
    """
    view, is_whole = task.get("_view_id"), None
    if are_answered:
        is_whole = False
    elif isinstance(view, str):
        is_whole = view in _MANUAL
    elif len(task.get("spans") or ()) > 1 or (reading.given or {}).get("repeated") == "last":
        is_whole = True
    where = draft.where
    own = (draft.document, draft.annotator)
    first, was_whole = accepted.setdefault(own, (where, is_whole))
    if first != where and not (is_whole and was_whole):
        raise refusal(
            where,
            "{} accepted a task with this text before, at {}",
            draft.annotator,
            pieces(first),
            expected="one, because yes-or-no tasks (ner.teach) do not give the full annotation",
            remedy="if the text was annotated twice, keep only the line that was exported last"
            if is_whole is False or was_whole is False
            else ("if each line is a full annotation, pass ", Use("repeated", "last")),
        )
