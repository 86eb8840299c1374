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


def mixed(n_texts: int, *, nested: float = 0.0, crossing: float = 0.0, seed: int = 1) -> Corpus:
    """Two annotators of texts of 10 to 40 tokens, some of whose spans overlap.

    Parameters
    ----------
    nested, crossing : float
        The share of annotations in which the first span holds another of its label, or
        crosses one.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(10, 41, n_texts)
    text, annotator, start, end = [], [], [], []
    for number, n in enumerate(lengths.tolist()):
        true = [(s, s + int(rng.integers(2, 5))) for s in range(0, n - 5, 8) if rng.random() < 0.8]
        for name in ("a", "b"):
            spans = [span for span in true if rng.random() < 0.85]
            draw = rng.random()
            if spans and draw < nested + crossing:
                s, e = spans[0]
                spans.append((s, e - 1) if draw < nested else (s + 1, e + 1))
            text += [number] * len(spans)
            annotator += [name] * len(spans)
            start += [s for s, _ in spans]
            end += [e for _, e in spans]
    return Corpus.from_columns(
        text=text,
        annotator=annotator,
        start=start,
        end=end,
        label=[LABELS[s % 2] for s in start],
        lengths=lengths,
        annotators=["a", "b"],
    )


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


def knowing_annotators(
    n_documents: int,
    *,
    knowledge: float,
    density: float,
    lengths: tuple[int, ...],
    tokens: tuple[int, int] = (10, 20),
    sentences: int = 1,
    guess_within: str = "sentence",
    keep_lengths: bool = False,
    unit: str = "sentence",
    n_annotators: int = 2,
    seed: int = 1,
) -> Corpus:
    """Annotators who know each true span with one probability, and guess otherwise.

    True spans are placed at random, none overlapping another or the end of a sentence. For each
    of them an annotator either marks it, with the probability `knowledge`, or guesses: marks a
    span at a random place, without overlapping the annotator's other spans.
    Annotators are independent of each other, so two of them agree by knowledge on a share
    ``knowledge**2`` of the spans.

    Parameters
    ----------
    knowledge : float
        The probability q that an annotator knows a span.
    density : float
        The share of tokens in true spans, on average the same in every sentence.
    lengths : tuple of int
        Lengths of spans, true and guessed, each equally likely.
    tokens : tuple of int
        The least and the largest number of tokens of a sentence, all equally likely.
    sentences : int
        Sentences in each document.
    guess_within : {"sentence", "document"}
        Where a guess lands: in the sentence of the span that is not known, or in any.
    keep_lengths : bool
        Whether a guess has the length of the span that is not known, or a random one.
    unit : {"sentence", "document"}
        What is a text of the corpus.

    Notes
    -----
    All arrangements of the guesses that avoid the known spans and the ends of sentences are
    equally likely, given their lengths: places are drawn until they fit. Lengths that do not
    fit in a hundred draws are drawn again, so guesses in crowded texts are a little shorter.
    Without knowledge, and with guesses within the unit, annotators are those of the model.
    """
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, int, int, int]] = []
    text_lengths: list[int] = []
    all_sizes = rng.integers(*tokens, (n_documents, sentences), endpoint=True)
    for sizes in all_sizes:
        spans = [_true_spans(n, density, lengths, rng) for n in sizes.tolist()]
        firsts = (np.cumsum(sizes) - sizes).tolist()
        sentence_of = np.repeat(np.arange(sentences), sizes)
        # Each stretch of text in which guesses land: its first position, true spans, sentences.
        stretches = [
            (first, true, sentence_of[first : first + n])
            for first, true, n in zip(firsts, spans, sizes.tolist(), strict=True)
        ]
        if guess_within == "document":
            placed = [true + first for first, true, _ in stretches]
            stretches = [(0, np.concatenate(placed), sentence_of)]
        for annotator in range(n_annotators):
            for first, true, sentence in stretches:
                marked = _known_or_guessed(
                    true, sentence, knowledge, None if keep_lengths else lengths, rng
                )
                for start, end in (marked + first).tolist():
                    number = int(sentence_of[start]) if unit == "sentence" else 0
                    origin = firsts[number]
                    text = len(text_lengths) + number
                    rows.append((text, annotator, start - origin, end - origin))
        text_lengths += sizes.tolist() if unit == "sentence" else [int(sizes.sum())]
    n_texts = len(text_lengths) // n_documents
    names = [f"annotator {number}" for number in range(1, n_annotators + 1)]
    text, annotators, starts, ends = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Corpus.from_columns(
        text=text,
        annotator=[names[i] for i in annotators.tolist()],
        start=starts,
        end=ends,
        label=["X"] * len(rows),
        lengths=text_lengths,
        documents=[str(number) for number in range(n_documents) for _ in range(n_texts)],
        annotators=names,
        unit=unit,
    )


def _true_spans(
    n: int, density: float, lengths: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Starts and ends of spans that cover a share of a text, on average exactly."""
    drawn: list[int] = []
    left, room = density * n, n
    while fitting := [length for length in lengths if length <= room]:
        length = fitting[int(rng.integers(len(fitting)))]
        # A span that covers more than is left is drawn as often as makes up for it.
        if rng.random() * length >= left:
            break
        drawn.append(length)
        left, room = left - length, room - length
    if not drawn:
        return np.zeros((0, 2), dtype=np.int64)
    placed = np.array(drawn)
    (starts,) = _arrangements(n, placed, 1, rng)
    return np.stack([starts, starts + placed], axis=1)


def _known_or_guessed(
    true: np.ndarray,
    sentence_of: np.ndarray,
    knowledge: float,
    lengths: tuple[int, ...] | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """What an annotator marks: true spans, and as many guesses as are not known.

    Without `lengths`, a guess has the length of the span that is not known.
    """
    if len(true) == 0:
        return true
    is_known = rng.random(len(true)) < knowledge
    if is_known.all():
        return true
    known, missed = true[is_known], true[~is_known]
    is_free = np.ones(len(sentence_of), dtype=bool)
    for start, end in known.tolist():
        is_free[start:end] = False
    # Guesses are placed in what is left of the text; they must not lie across a gap in it.
    free = np.flatnonzero(is_free)
    ends_here = (np.diff(free) > 1) | (np.diff(sentence_of[free]) > 0)
    stretch = np.concatenate([[0], np.cumsum(ends_here)])
    while True:
        drawn = rng.choice(lengths, len(missed)) if lengths else missed[:, 1] - missed[:, 0]
        if drawn.sum() > len(free):
            continue
        starts = _arrangements(len(free), drawn, 100, rng)
        fit = (stretch[starts] == stretch[starts + drawn - 1]).all(axis=1)
        if fit.any():
            guessed = free[starts[fit.argmax()]]
            return np.concatenate([known, np.stack([guessed, guessed + drawn], axis=1)])


def _arrangements(n: int, lengths: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Starts of disjoint spans, all arrangements equally likely; not by the library's own code."""
    n_items = n - int(lengths.sum()) + len(lengths)
    widths = np.ones(n_items, dtype=np.int64)
    widths[: len(lengths)] = lengths
    order = rng.permuted(np.tile(np.arange(n_items), (size, 1)), axis=1)
    starts = np.empty_like(order)
    np.put_along_axis(starts, order, np.cumsum(widths[order], axis=1) - widths[order], axis=1)
    return starts[:, : len(lengths)]
