"""What numbers say, in sentences that do not judge them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import isnan

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import counted, in_list
from beyondchance.results.score import Score

LITTLE = 0.005
"""Where correction moves a score by less, it is said to change little."""
MUCH = 0.05
"""Where it moves a score by this or more, that is said too."""

MATCHES = {
    "token": "positions that both marked",
    "exact": "equal spans, the F1 of seqeval",
    "boundary": "starts and ends that both set",
    "dice": "overlap of spans, as a share of their lengths",
    "iou": "spans that overlap enough",
}


def compared(corpus: Corpus, who: str, documents: Collection[str], n_spans: int) -> str:
    """The first line: who was compared on what documents, and where random spans fall."""
    n = n_texts(corpus, documents)
    where = counted(len(documents), "document")
    if corpus.unit == "sentence" and n != len(documents):
        where = f"{counted(n, 'sentence')} in {where}"
    elif corpus.unit == "sentence":
        where = counted(n, "sentence")
    return (
        f"{who}: {where}, {counted(n_spans, 'span')}; unit {corpus.unit}, positions "
        f"{corpus.positions}."
    )


def n_texts(corpus: Corpus, documents: Collection[str]) -> int:
    """How many texts some of the documents have."""
    chosen = set(documents)
    is_chosen = np.fromiter((name in chosen for name in corpus.documents), dtype=bool)
    return int(np.count_nonzero(is_chosen[corpus.text_document]))


def meaning(score: Score, who: str, digits: int = 4) -> str:
    """One sentence on what observed, chance and corrected say together.

    Examples
    --------
    >>> print(meaning(Score(matched=3, expected=1, size_a=4, size_b=4), "ada and ben", 2))
    Luck alone would give 0.25; of the way from there to full agreement, ada and ben cover 67 %.
    """
    if score.reason is not None:
        return f"The corrected score is undefined: {score.reason}."
    chance = in_digits(score.chance, digits)
    if score.corrected < 0:
        return (
            f"Luck alone would give {chance}, more than the {in_digits(score.observed, digits)} "
            f"observed: {who} agree less than random annotators would."
        )
    if score.corrected == 1:
        return f"Luck alone would give {chance}; {who} agree on everything."
    return (
        f"Luck alone would give {chance}; of the way from there to full agreement, {who} cover "
        f"{_percent(score.corrected)}."
    )


def effect(score: Score, digits: int = 4) -> str:
    """One sentence on how much the correction changes here.

    Examples
    --------
    >>> effect(Score(matched=3, expected=1, size_a=4, size_b=4), 2)
    'Correction matters here: it lowers the score by 0.08.'
    >>> effect(Score(matched=99, expected=1, size_a=100, size_b=100), 4)
    'Correction changes little here: it lowers the score by 0.0001.'
    """
    if isnan(score.corrected):
        return ""
    change = score.observed - score.corrected
    shown = in_digits(change, digits)
    if change < LITTLE:
        return f"Correction changes little here: it lowers the score by {shown}."
    return f"Correction {'matters here: it ' if change >= MUCH else ''}lowers the score by {shown}."


def _percent(share: float) -> str:
    """A share as whole percents that are 0 or 100 only if it is.

    >>> _percent(0.667), _percent(0.999), _percent(0.001)
    ('67 %', 'more than 99 %', 'less than 1 %')
    """
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{share:.0%}".replace("%", " %")


def skipped(counts: Iterable[tuple[str, int]]) -> str:
    """What was left out or changed, and how often."""
    parts = [f"{number:,} {what}" for what, number in counts if number]
    return f"Left out or changed: {'; '.join(parts)}." if parts else ""


def lonely_labels(corpus: Corpus, annotators: Iterable[str]) -> list[str]:
    """A note for each label that one annotator uses and nobody else does."""
    chosen = [corpus.annotators.index(name) for name in annotators]
    used = np.zeros((len(corpus.labels), len(corpus.annotators)), dtype=bool)
    used[corpus.span_label, corpus.span_annotator] = True
    lonely: dict[str, str] = {}
    for label, row in zip(corpus.labels, used[:, chosen], strict=True):
        if len(chosen) > 1 and np.count_nonzero(row) == 1:
            name = corpus.annotators[chosen[int(np.argmax(row))]]
            lonely[label] = name
    if len(lonely) > 5:
        found = f"{len(lonely)} labels are used by one annotator only: {in_list(list(lonely))}"
        return [f"{found}; nothing can match them"]
    return [
        f"label {label!r} is used by {name} only, so nothing can match it; rename_label= makes it "
        "one with a label of the others, exclude_labels= leaves it out"
        for label, name in lonely.items()
    ]


def condensed(notes: Iterable[str]) -> list[str]:
    """Notes on files, with what is said of several files or annotators said once.

    Examples
    --------
    >>> condensed(["a.conll: read as conll", "b.conll: read as conll", "label 'X' is lonely"])
    ['a.conll and b.conll: read as conll', "label 'X' is lonely"]
    >>> tags = ["a.conll: tags of ada read as IOB2", "a.conll: tags of ben read as IOB2"]
    >>> condensed(tags), condensed(tags[:1])
    (['a.conll: tags of ada and ben read as IOB2'], ['a.conll: tags read as IOB2'])
    """
    said: dict[str, dict[str, list[str]]] = {}
    for note in notes:
        file, colon, rest = note.partition(": ")
        subject, verb, scheme = rest.partition(" read as ")
        if not colon:
            file, rest = "", note
        about = said.setdefault(file, {})
        if verb and subject.startswith("tags of "):
            about.setdefault(f" read as {scheme}", []).append(subject.removeprefix("tags of "))
        else:
            about.setdefault(rest, [])
    texts: dict[str, list[str]] = {}
    for file, about in said.items():
        if not file:
            continue
        parts = [
            f"tags{f' of {in_list(who)}' if len(who) > 1 else ''}{what}" if who else what
            for what, who in about.items()
        ]
        texts.setdefault("; ".join(parts), []).append(file)
    return [f"{in_list(files)}: {text}" for text, files in texts.items()] + list(said.get("", {}))
