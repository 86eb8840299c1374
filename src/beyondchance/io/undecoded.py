"""Tags to spans, where it takes all annotators: what is scored, and by which scheme.

A position with the tag -100 is not scored, and left out for all annotators before tags are decoded:
what a system predicts there would otherwise begin or end spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress

import numpy as np

from beyondchance.annotations.tags import scheme_with_ends
from beyondchance.errors import MismatchError
from beyondchance.io.drafts import Draft, DraftSpan, draft_of_words
from beyondchance.io.options import Reading
from beyondchance.io.tagged import decoded, detected_scheme, marks_of
from beyondchance.io.values import quoting
from beyondchance.messages import Quote, Text, pieces
from beyondchance.tallies import left_out

IGNORED = -100
"""The number of a position that is not scored, as in the Trainer of transformers."""
WHAT_IS_IGNORED = left_out(f"positions with the tag {IGNORED}")


def ignored(masks: Mapping[str, Sequence[bool]], reading: Reading, where: Text) -> list[bool]:
    """Which positions of a text are not scored, given those of each annotator.

    They are those of the gold standard, because a system does not say what it is scored on;
    between equals, those of any annotator.

    Raises
    ------
    MismatchError
        If annotators have different numbers of tags, or a system leaves out what is scored.
    """
    if len({len(mask) for mask in masks.values()}) > 1:
        sizes = " and ".join(str(len(mask)) for mask in masks.values())
        problem = f"annotators have {sizes} tags, some of them {IGNORED}"
        raise MismatchError(problem, where=where, expected="equally many")
    gold = next((name for name in masks if reading.is_reference(name)), None)
    if gold is None:
        return list(map(any, zip(*masks.values(), strict=True)))
    for name, mask in masks.items():
        pairs = enumerate(zip(mask, masks[gold], strict=True))
        place = next((i for i, (own, decides) in pairs if own and not decides), None)
        if place is not None:
            raise MismatchError(
                *(Quote(name), f" has {IGNORED} at position {place}, which ", Quote(gold)),
                " scores",
                where=where,
                expected="a tag, because the gold standard says what is scored",
            )
    return list(masks[gold])


def with_spans(drafts: list[Draft], reading: Reading) -> list[Draft]:
    """Decode the tags of drafts that have them still; others stay as they are."""
    if all(draft.tagged is None for draft in drafts):
        return drafts
    drafts = _scored(drafts, reading)
    waiting: dict[tuple[str, str], list[Draft]] = {}
    for draft in drafts:
        if draft.tagged is not None:
            waiting.setdefault((draft.tagged.file, draft.annotator), []).append(draft)
    groups = {key: [_tags(draft) for draft in own] for key, own in waiting.items()}
    schemes = _schemes(list(groups.values()))
    found: dict[int, Draft] = {}
    for ((file, annotator), own), scheme in zip(waiting.items(), schemes, strict=True):
        texts = groups[file, annotator]
        spans = decoded(
            [tag for tags in texts for tag in tags],
            np.array(list(map(len, texts)), dtype=np.int64),
            reading,
            file=file,
            annotator=annotator,
            where=partial(_where, own),
            detected=scheme,
        )
        for draft, marks in zip(own, marks_of(spans, len(own)), strict=True):
            places = draft.tokens or ()
            marked = [DraftSpan(places[s][0], places[e - 1][1], label) for s, e, label in marks]
            found[id(draft)] = replace(draft, spans=marked, tagged=None)
    return [found.get(id(draft), draft) for draft in drafts]


def _schemes(annotators: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """Detect the scheme of each annotator's tags.

    Those without marks of ends have one scheme together: where one writes ``B-`` at the beginning
    of spans, an ``I-`` of another that begins a span breaks the scheme.

    Examples
    --------
    >>> _schemes([[["I-X", "O"]]]), _schemes([[["I-X", "O"]], [["B-X", "O"]]])
    (['IO'], ['IOB2', 'IOB2'])
    >>> _schemes([[["I-X", "B-X"]], [["S-X", "O"]]])
    ['IOB1', 'BIOES']
    """
    found = [
        scheme_with_ends({tag[:1] for tag in set(chain.from_iterable(texts))})
        for texts in annotators
    ]
    others = (texts for texts, own in zip(annotators, found, strict=True) if own is None)
    shared = detected_scheme(chain.from_iterable(others))
    return [own or shared for own in found]


def _tags(draft: Draft) -> list[str]:
    return [] if draft.tagged is None else [tag for tag in draft.tagged.tags if tag is not None]


def _where(drafts: list[Draft], text: int, place: int) -> Text:
    draft = drafts[text]
    number = place
    kind = "token"
    if draft.tagged is not None:
        kind = draft.tagged.kind
        number = [i for i, tag in enumerate(draft.tagged.tags) if tag is not None][place]
    return (*pieces(draft.where), f", {kind} {number}")


def _scored(drafts: list[Draft], reading: Reading) -> list[Draft]:
    """Leave out the positions that are not scored, of all annotators of a document."""
    groups: dict[str, list[Draft]] = {}
    for draft in drafts:
        groups.setdefault(draft.document, []).append(draft)
    cut: dict[int, Draft | None] = {}
    for group in groups.values():
        if not any(None in draft.tagged.tags for draft in group if draft.tagged is not None):
            continue
        other = next((draft for draft in group if draft.tagged is None), None)
        if other is not None:
            raise MismatchError(
                *quoting("document {} has positions that are not scored", other.document),
                f" ({IGNORED}), but not all annotators have tags",
                where=other.where,
                expected="tags, so that these positions can be left out",
            )
        masks = {
            draft.annotator: [tag is None for tag in draft.tagged.tags]
            for draft in group
            if draft.tagged is not None
        }
        mask = ignored(masks, reading, group[0].where)
        reading.skipped[WHAT_IS_IGNORED] += sum(mask)
        if all(mask):
            reading.skipped[left_out("examples without tokens")] += 1
        for draft in group:
            cut[id(draft)] = None if all(mask) else _without(draft, mask)
    found = (cut.get(id(draft), draft) for draft in drafts)
    return [draft for draft in found if draft is not None]


def _without(draft: Draft, mask: Sequence[bool]) -> Draft:
    """A draft of one sentence without some of its tokens."""
    if draft.tagged is None or draft.tokens is None:
        return draft
    keep = [not is_ignored for is_ignored in mask]
    words = [draft.text[start:end] for start, end in compress(draft.tokens, keep)]
    made = draft_of_words(words, (), where="", document="", annotator="")
    # Positions that only the gold standard leaves out have a tag, which goes with them.
    tags = [
        None if is_ignored else tag for tag, is_ignored in zip(draft.tagged.tags, mask, strict=True)
    ]
    return replace(
        draft,
        text=made.text,
        tokens=made.tokens,
        sentences=None if draft.sentences is None else [(0, len(made.text))],
        tagged=replace(draft.tagged, tags=tags),
    )
