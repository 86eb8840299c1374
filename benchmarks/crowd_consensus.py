"""What a consensus keeps of what a crowd or a team found.

    python benchmarks/crowd_consensus.py FOLDER [FOLDER ...]
    python benchmarks/crowd_consensus.py --team EXPORT

A FOLDER has the articles of CoNLL-2003 that workers of Mechanical Turk annotated (Rodrigues,
Pereira & Ribeiro 2014): ``ground_truth/ARTICLE.txt`` and ``mturk_train_data/WORKER/ARTICLE.txt``,
a word and a tag in each line. The table has the F1 of every method against the gold standard. An
EXPORT is any file of a team that `beyondchance.read` reads: the table has the places that each
method leaves empty. Nothing of it is in this repository.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

import beyondchance as bc
from beyondchance.types import Ints
from calibration import say

LABELS = ("LOC", "MISC", "ORG", "PER")
TAGS = ("O", *(f"{side}-{label}" for label in LABELS for side in "BI"))
STUCK = re.compile(r"(/([BI]-)?(LOC|MISC|ORG|PER))+$")
METHODS: Mapping[str, Mapping[str, Any]] = {
    "`entities`": {},
    '`entities`, `weights="agreement"`': {"weights": "agreement"},
    '`entities`, `ties="drop"`': {"ties": "drop"},
    "`best`, whole spans": {"method": "best", "measure": "exact"},
    "`best`, tokens": {"method": "best", "measure": "token"},
    "`majority` of whole spans": {"method": "majority"},
}
Spans = list[tuple[int, int, str]]


# --- A crowd with a gold standard -----------------------------------------------------


def words_and_tags(path: Path) -> tuple[list[str], list[str]]:
    """Read a file; tags that were saved as words, or as ends of words, are no words."""
    rows = [line.split() for line in path.read_text("utf-8").splitlines() if line.split()]
    kept = [(STUCK.sub("", row[0]), row[-1]) for row in rows if row[0] not in TAGS]
    return [word for word, _ in kept], [tag for _, tag in kept]


def decoded(tags: Iterable[str]) -> Spans:
    """Decode tags as conlleval does: I- after something else begins a span."""
    spans: Spans = []
    before = "O"
    for place, tag in enumerate(tags):
        if tag[0] == "I" and before[2:] == tag[2:]:
            spans[-1] = (spans[-1][0], place + 1, tag[2:])
        elif tag != "O":
            spans.append((place, place + 1, tag[2:]))
        before = tag
    return spans


def aligned(spans: Spans, own: list[str], words: list[str]) -> Spans | None:
    """Move spans to the words of the gold standard, which workers cut; None if texts differ."""
    if "".join(own) != "".join(words):
        return None
    starts = np.cumsum([0, *map(len, words)])
    ends = np.cumsum([0, *map(len, own)])
    first, last = (
        np.searchsorted(starts, [ends[span[side]] for span in spans], how) - less
        for side, how, less in ((0, "right", 1), (1, "left", 0))
    )
    rows = zip(first.tolist(), last.tolist(), (label for *_, label in spans), strict=True)
    return sorted(set(rows))


def crowd(folders: Iterable[Path]) -> bc.Corpus:
    """Build the corpus of all articles that a worker annotated."""
    gold = {path.stem: path for folder in folders for path in folder.glob("ground_truth/*.txt")}
    texts = {name: words_and_tags(path) for name, path in sorted(gold.items())}
    work: dict[str, dict[str, Spans]] = defaultdict(dict)
    n_other = 0
    for name, path in gold.items():
        for file in path.parents[1].glob(f"mturk_train_data/*/{name}.txt"):
            own, tags = words_and_tags(file)
            spans = aligned(decoded(tags), own, texts[name][0])
            n_other += spans is None
            if spans is not None:
                work[file.parent.name][name] = spans
    seen = [name for name in texts if any(name in own for own in work.values())]
    n_annotations = sum(map(len, work.values()))
    say(f"{len(seen)} articles, {len(work)} workers, {n_annotations} annotations")
    say(f"{n_other} annotations of other texts are left out")
    people = {who: [own.get(name) for name in seen] for who, own in sorted(work.items())}
    return bc.Corpus.from_spans(
        {**people, "gold": [decoded(texts[name][1]) for name in seen]},
        tokens=[texts[name][0] for name in seen],
        documents=seen,
    ).with_gold("gold")


def votes(corpus: bc.Corpus) -> tuple[Ints, Ints, Ints]:
    """List the tag of every worker at every token: the token, the worker, and the tag."""
    rows = []
    for document, who in zip(
        corpus.annotation_document.tolist(), corpus.annotation_annotator.tolist(), strict=True
    ):
        if corpus.annotators[who] == corpus.gold:
            continue
        n = int(corpus.text_length[document])
        tags = np.zeros(n, dtype=np.int64)
        for start, end, label in corpus.spans(corpus.documents[document], corpus.annotators[who]):
            tags[start:end] = TAGS.index(f"I-{label}")
            tags[start] = TAGS.index(f"B-{label}")
        rows.append(np.stack([corpus.text_begin[document] + np.arange(n), np.full(n, who), tags]))
    token, worker, tag = np.concatenate(rows, axis=1)
    return token, worker, tag


def likely_tags(token: Ints, worker: Ints, tag: Ints, rounds: int) -> Ints:
    """Choose a tag for each token, with a confusion matrix of each worker (Dawid & Skene 1979).

    After no rounds it is the tag with most votes, of several the first.
    """
    shares = np.zeros((int(token.max()) + 1, len(TAGS)))
    np.add.at(shares, (token, tag), 1)
    for _ in range(rounds):
        shares /= shares.sum(axis=1, keepdims=True)
        seen = np.full((int(worker.max()) + 1, len(TAGS), len(TAGS)), 0.01)
        np.add.at(seen, (worker, tag), shares[token])
        likely = np.log(seen / seen.sum(axis=1, keepdims=True))
        sums = np.tile(np.log(shares.mean(axis=0) + 1e-9), (len(shares), 1))
        np.add.at(sums, token, likely[worker, tag])
        shares = np.exp(sums - sums.max(axis=1, keepdims=True))
    return np.argmax(shares, axis=1)


def f1(found: bc.Corpus, name: str) -> tuple[float, float]:
    """Score an annotator against the gold standard by whole spans and by tokens."""
    pair = found.select(annotators=["gold", name])
    exact, token = (bc.agreement(pair, gold="gold", measure=x).observed for x in ("exact", "token"))
    return exact, token


def crowd_rows(corpus: bc.Corpus) -> Iterator[tuple[str, float, float]]:
    """Score all methods, and the workers."""
    for name, options in METHODS.items():
        yield name, *f1(bc.consensus(corpus, **options).corpus, "consensus")
    rows = votes(corpus)
    gold = [corpus.spans(name, "gold") for name in corpus.documents]
    for name, rounds in (("majority of tags", 0), ("Dawid & Skene", 30)):
        tags = np.split(likely_tags(*rows, rounds), corpus.text_begin[1:])
        spans = [decoded(TAGS[i] for i in own.tolist()) for own in tags]
        pair = bc.Corpus.from_spans({"gold": gold, "found": spans}, lengths=corpus.text_length)
        yield f"{name}, token by token", *f1(pair, "found")
    each = [
        [score.observed for score in result.against("gold").values()]
        for result in (bc.agreement(corpus, gold="gold", measure=x) for x in ("exact", "token"))
    ]
    for name, of in (("mean", mean), ("median", median), ("best", max)):
        yield f"single workers, {name}", of(each[0]), of(each[1])


# --- A team ---------------------------------------------------------------------------


def places(corpus: bc.Corpus) -> Iterator[tuple[tuple[int, int], str, Spans]]:
    """Join spans of one label that overlap: how many marked them, of how many; and where."""
    for document in corpus.documents:
        team = corpus.annotators_of(document)
        rows = [(x.label, x.start, x.end, who) for who in team for x in corpus.spans(document, who)]
        found: list[tuple[str, int, int, set[str]]] = []
        for label, start, end, who in sorted(rows):
            if found and found[-1][0] == label and start < found[-1][2]:
                _, begin, behind, others = found.pop()
                found.append((label, begin, max(behind, end), {*others, who}))
            else:
                found.append((label, start, end, {who}))
        for label, start, end, people in found:
            yield (len(people), len(team)), document, [(start, end, label)]


def in_order(corpus: bc.Corpus, order: Sequence[int]) -> bc.Corpus:
    """Change the order of annotators."""
    number = np.argsort(order)
    who = number[corpus.annotation_annotator]
    rows = np.lexsort((who, corpus.annotation_document))
    return replace(
        corpus,
        annotators=tuple(corpus.annotators[i] for i in order),
        annotation_document=corpus.annotation_document[rows],
        annotation_annotator=who[rows],
        span_annotator=number[corpus.span_annotator],
    )


def chosen(corpus: bc.Corpus, options: Mapping[str, Any]) -> dict[str, set[tuple[Any, ...]]]:
    """Return the spans of a consensus, by document."""
    found = bc.consensus(corpus, **options).corpus
    return {name: {*found.spans(name, "consensus")} for name in found.documents}


def team_rows(corpus: bc.Corpus) -> Iterator[tuple[str, ...]]:
    """Count the places that each method leaves empty, and what the order of annotators changes."""
    every = [x for x in places(corpus) if 2 * x[0][0] > x[0][1]]
    counts = Counter(kind for kind, *_ in every)
    kinds = sorted(counts, reverse=True)
    titles = (f"{counts[n, of]} places that {n} of {of} marked" for n, of in kinds)
    yield "left empty", *titles, "spans changed by the order"
    for name, options in METHODS.items():
        spans = chosen(corpus, options)
        gone = Counter(
            kind
            for kind, document, [(start, end, label)] in every
            if not any(x[0] < end and start < x[1] and x[2] == label for x in spans[document])
        )
        orders = permutations(range(len(corpus.annotators)))
        moved = [chosen(in_order(corpus, order), options) for order in orders]
        most = max(sum(len(spans[x] ^ other[x]) for x in spans) for other in moved)
        yield name, *(str(gone[kind]) for kind in kinds), str(most)


def tie_rows(corpus: bc.Corpus) -> Iterator[tuple[str, ...]]:
    """Count entities, ties and rivals, by how many annotated the document."""
    found = bc.consensus(corpus).entities
    n_here = np.bincount(corpus.annotation_document)[corpus.text_document[found.spans.text]]
    yield "annotators", "entities", "ties", "of these, rivals"
    for n in np.unique(n_here).tolist():
        columns = (found.votes > 0, found.is_tie, found.is_rival)
        yield str(n), *(str(np.count_nonzero(x & (n_here == n))) for x in columns)


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--team", type=Path, metavar="EXPORT")
    given = parser.parse_args()
    if given.folders:
        print("| | exact F1 | token F1 |\n|---|---:|---:|")
        for name, exact, token in crowd_rows(crowd(given.folders)):
            print(f"| {name} | {exact:.3f} | {token:.3f} |", flush=True)
    if given.team:
        corpus = bc.read(given.team)
        for row in chain(team_rows(corpus), tie_rows(corpus)):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
