"""Annotations to write reports of: of a pair, a team, systems, and of people who mean harm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from beyondchance import Corpus
from beyondchance.cli.main import main
from generate import population

TEAM = ("Ada", "Ben", "Cleo", "Dai", "Eve", "Fay")
SYSTEMS = ("crf", "lstm", "bert", "rules", "few shots", "big", "bigger")
# A word for each token: no other part of a page has any of them.
WORDS = (
    *("quagga", "ossifrage", "narwhal", "bandicoot", "pademelon", "jerboa", "wombat", "numbat"),
    *("axolotl", "capybara", "dugong", "fossa", "gharial", "hoatzin", "ibex"),
)

NOTHING = (None, None, None)
"""The span of those who marked none."""

RUN = "window.hacked = 1"
HARM = (
    f"</script><script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload='{RUN}'>",
    f"javascript:{RUN}",
    "{{7*7}} {% raw %} ${7*7} {0} %s",
    "]]>--><!-- &lt;b&gt; &amp; \u2028 \\u003c",
    "👩‍👩‍👧 e\u0301 \U0001f3f3\ufe0f",
    "שלום \u202eעולם",  # noqa: RUF001 - Hebrew
)


def pair(folder: Path) -> list[str]:
    """Two annotators of tokens, from the example that ships with the package."""
    assert main(["demo", "--quiet", "--files", str(folder / "example")]) == 0
    return [str(folder / "example" / name) for name in ("ada.conll", "ben.conll")]


def team(folder: Path) -> list[str]:
    """Six annotators of characters."""
    corpus = population(24, noise=(0.1, 0.2, 0.2, 0.3, 0.4, 0.6), sentences=1, spread=0.5, seed=2)
    corpus = corpus.select(annotators=[name for name in corpus.annotators if name != "gold"])
    return [_saved(folder / "team.jsonl", corpus, TEAM)]


def systems(folder: Path) -> list[str]:
    """Seven systems against a gold standard."""
    noise = (0.05, 0.1, 0.1, 0.2, 0.3, 0.4, 0.7)
    corpus = population(40, noise=noise, spread=0.5, seed=3)
    return [_saved(folder / "systems.jsonl", corpus, ("gold", *SYSTEMS)), "--gold", "gold"]


def harmful(folder: Path) -> list[str]:
    """Names, labels, texts and a file that try to be something else; 200 labels; long ones.

    Two annotators disagree on everything in documents that are named like what they hold.
    """
    long = "x" * 10_000
    texts = [*HARM, f"a {long} b", *(f"word-{n} and word-{n + 1}" for n in range(200))]
    labels = [*HARM, long, *(f"label {n:03}" for n in range(200))]
    names = ("; ".join(HARM[:5]), "; ".join(HARM[5:]))
    rows = []
    for n, (text, label) in enumerate(zip(texts, labels, strict=True)):
        document = text if n < len(HARM) + 1 else f"document {n}"
        for name, end, of in zip(names, (len(text), 1), (label, labels[n - 1]), strict=True):
            rows.append(_row(document, name, (0, end, of), text))
    path = folder / f"{HARM[1].replace('/', '')}.jsonl"
    return [_lines(path, rows), "--title", " ".join(HARM)]


def _saved(path: Path, corpus: Corpus, names: Sequence[str]) -> str:
    """A table with texts of a word for each token; annotators get other names, in order."""
    rows = []
    called = dict(zip(corpus.annotators, names, strict=True))
    for number, (document, n) in enumerate(
        zip(corpus.documents, corpus.text_length.tolist(), strict=True)
    ):
        words = [WORDS[(number + 4 * place) % len(WORDS)] for place in range(n)]
        starts = [0, *accumulate(len(word) + 1 for word in words)]
        for annotator, name in called.items():
            marked = corpus.spans(document, annotator)
            spans = [(starts[start], starts[end] - 1, label) for start, end, label in marked]
            rows += [_row(document, name, span, " ".join(words)) for span in spans or [NOTHING]]
    return _lines(path, rows)


def _row(document: str, annotator: str, span: Sequence[object], text: str) -> dict[str, object]:
    start, end, label = span
    return {
        "document": document,
        "annotator": annotator,
        "text": text,
        "start": start,
        "end": end,
        "label": label,
    }


def _lines(path: Path, rows: Sequence[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)
