"""Corpora to measure on: made up, seeded, of the sizes that people have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from beyondchance import Corpus

Tags = list[list[str]]
LABELS = ("LOC", "MISC", "ORG", "PER")


def conll_sized(n_sentences: int = 3453, noise: float = 0.08, seed: int = 1) -> tuple[Tags, Tags]:
    """Gold tags and noisy predictions, about as large as the CoNLL-2003 test set.

    Sentences of 1 to 50 tokens, 13 on average; about 5,600 entities of 1 to 5 tokens
    with four labels. Of a hundred entities about eight are missed, lengthened by a
    token, given another label or cut to their first token.
    """
    rng = np.random.default_rng(seed)
    gold, predicted = [], []
    for n in np.clip(rng.gamma(1.6, 8.8, n_sentences), 1, 50).astype(int).tolist():
        spans = _spans(n, rng)
        gold.append(_tags(n, spans))
        predicted.append(_tags(n, [s for span in spans for s in _noisy(span, n, noise, rng)]))
    return gold, predicted


def population(
    n_documents: int,
    *,
    noise: tuple[float, ...] = (0.08,),
    sentences: int | Sequence[int] = 1,
    spread: float = 0.0,
    seed: int = 1,
) -> Corpus:
    """A gold standard and systems that depart from it, each at random.

    Parameters
    ----------
    noise : tuple of float
        For each system, how many of a hundred spans it gets wrong, divided by 100.
    sentences : int or sequence of int
        Sentences in each document, if not the same in all.
    spread : float
        How much harder or easier than others documents are: the coefficient of variation of
        the noise from document to document, the same for all systems.
    """
    tags = systems(n_documents, noise=noise, sentences=sentences, spread=spread, seed=seed)
    each = np.broadcast_to(sentences, n_documents)
    documents = [f"d{number}" for number in range(n_documents) for _ in range(each[number])]
    return Corpus.from_tags(tags, documents=documents).with_gold("gold")


def systems(
    n_documents: int,
    *,
    noise: tuple[float, ...],
    sentences: int | Sequence[int] = 1,
    spread: float = 0.0,
    seed: int = 1,
) -> dict[str, Tags]:
    """The tags of a population, by name."""
    rng = np.random.default_rng(seed)
    names = [f"system {number}" for number in range(1, len(noise) + 1)]
    tags: dict[str, Tags] = {name: [] for name in ("gold", *names)}
    for n_sentences in np.broadcast_to(sentences, n_documents):
        harder = rng.gamma(1 / spread**2, spread**2) if spread else 1.0
        for n in np.clip(rng.gamma(1.6, 8.8, n_sentences), 1, 50).astype(int).tolist():
            spans = _spans(n, rng)
            tags["gold"].append(_tags(n, spans))
            for name, share in zip(names, noise, strict=True):
                found = [s for span in spans for s in _noisy(span, n, share * harder, rng)]
                tags[name].append(_tags(n, found))
    return tags


def _spans(n: int, rng: np.random.Generator) -> list[tuple[int, int, str]]:
    """Entities of 1 to 5 tokens with four labels, about one in eight tokens."""
    spans: list[tuple[int, int, str]] = []
    place = int(rng.geometric(0.143)) - 1
    while place < n:
        length = min(1 + int(rng.choice(5, p=[0.63, 0.28, 0.06, 0.02, 0.01])), n - place)
        spans.append((place, place + length, LABELS[int(rng.integers(4))]))
        place += length + int(rng.geometric(0.143))
    return spans


def _noisy(
    span: tuple[int, int, str], n: int, noise: float, rng: np.random.Generator
) -> list[tuple[int, int, str]]:
    start, end, label = span
    if rng.random() >= noise:
        return [span]
    match int(rng.integers(4)):
        case 0:
            return []
        case 1:
            return [(start, min(end + 1, n), label)]
        case 2:
            other = [name for name in LABELS if name != label]
            return [(start, end, other[int(rng.integers(3))])]
        case _:
            return [(start, start + 1, label)]


def _tags(n: int, spans: list[tuple[int, int, str]]) -> list[str]:
    tags = ["O"] * n
    for start, end, label in spans:
        if tags[start] == "O":
            tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    # A longer span may have run into the next one: what is left of that begins anew.
    for place, tag in enumerate(tags):
        before = tags[place - 1] if place else "O"
        if tag.startswith("I-") and before[2:] != tag[2:]:
            tags[place] = f"B-{tag[2:]}"
    return tags


def write_conll(path: Path, tags: Tags, sentences_per_document: int | None = None) -> None:
    """Write tags with made-up tokens, a blank line after each sentence.

    With a number of sentences per document, a line ``-DOCSTART-`` begins each document.
    """
    sentences = []
    for number, sentence in enumerate(tags):
        is_first = sentences_per_document and number % sentences_per_document == 0
        rows = [f"w{place} {tag}\n" for place, tag in enumerate(sentence)]
        sentences.append("".join(["-DOCSTART- O\n\n" if is_first else "", *rows]))
    path.write_text("\n".join(sentences), encoding="utf-8")


def write_table(path: Path, n_spans: int, seed: int = 1) -> None:
    """Write a table of spans: three annotators, a hundred spans to a document."""
    rng = np.random.default_rng(seed)
    starts = np.arange(n_spans) % 100 * 50 + rng.integers(0, 20, n_spans)
    ends = starts + rng.integers(1, 30, n_spans)
    rows = (
        f"doc{i // 100},{'abc'[i % 3]},{start},{end},{LABELS[i % 4]},6000\n"
        for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
    )
    with path.open("w", encoding="utf-8") as file:
        file.write("document,annotator,start,end,label,length\n")
        file.writelines(rows)


def team(n_documents: int, n_annotators: int, per_document: int, seed: int = 1) -> Corpus:
    """A corpus in which every document has some of the annotators, drawn at random.

    Documents of 10 to 60 tokens, with up to three spans of 1 to 4 tokens and two labels by
    each annotator.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(10, 60, n_documents)
    teams = np.argsort(rng.random((n_documents, n_annotators)), axis=1)[:, :per_document]
    document, slot = np.divmod(np.arange(n_documents * per_document), per_document)
    worker = teams[document, slot]
    # A third of the text for each of the three spans that somebody may mark.
    span = np.flatnonzero(rng.random(3 * len(worker)) < 0.6)
    row, third = np.divmod(span, 3)
    text = document[row]
    start = third * (lengths[text] // 3) + rng.integers(0, 2, len(span))
    end = np.minimum(start + rng.integers(1, 5, len(span)), (third + 1) * (lengths[text] // 3))
    names = [f"w{i:04}" for i in range(n_annotators)]
    return Corpus.from_columns(
        text=text,
        annotator=[names[i] for i in worker[row].tolist()],
        start=start,
        end=end,
        label=[LABELS[i] for i in rng.integers(0, 2, len(span)).tolist()],
        lengths=lengths,
        annotated=[
            (str(d), names[i]) for d, i in zip(document.tolist(), worker.tolist(), strict=True)
        ],
        annotators=names,
    )
