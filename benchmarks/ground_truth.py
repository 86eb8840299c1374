"""Which measures recover agreement that is known: by simulation.

    python benchmarks/ground_truth.py [CORPORA]

Two annotators know each span with probability q and guess otherwise, so that they agree by
knowledge on a share q² of the spans. Corpora are made up, 30 of each kind unless told otherwise,
of different densities, lengths of spans and lengths of texts, and every measure and coefficient
is computed on all of them. Writes the tables docs/_static/ground-truth-*.md and the picture
docs/_static/ground-truth.svg, which docs/background/ground_truth.md shows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

import beyondchance as bc
from beyondchance.types import Floats
from calibration import say, table
from generate import knowing_annotators

FOLDER = Path(__file__).parent.parent / "docs" / "_static"
N_SPANS = 300
"""True spans of a corpus, on average."""

MEASURES = ("token", "exact", "boundary", "dice", "iou")
COEFFICIENTS = (
    *("alpha", "mu-alpha", "bar-u-alpha", "gamma"),
    *("kappa", "shuffled-f1", "pi", "fleiss", "nominal-alpha", "s", "ac1"),
)
"""All that are defined for one label, but corrected-f1, which is the measure token."""
SCORES_SHOWN = (*MEASURES, "F1 token", "F1 exact")
COEFFICIENTS_SHOWN = ("alpha", "mu-alpha", "gamma", "kappa", "s", "ac1")
"""Of those that are always nearly equal, one."""
SHOWN = (*SCORES_SHOWN, *COEFFICIENTS_SHOWN)

KNOWLEDGE = (0.0, 0.7, 0.9)
DENSITIES = (0.02, 0.1, 0.3, 0.6)
LENGTHS = {"1": (1,), "1 to 5": (1, 2, 3, 4, 5), "8 to 12": (8, 9, 10, 11, 12)}
TOKENS = {"sentences": (10, 20), "documents": (200, 200)}
SENTENCES = 13
"""Sentences of a document, where both are looked at."""

SUMMARY = """\
*Values* are the lowest and the highest mean of {corpora} corpora among the 24 kinds of corpora;
*bias* is the mean over all kinds less the truth; *spread* the standard deviation between corpora
of one kind (root mean square over the kinds). The means have a standard error of about
{error:.3f}."""

RANGES = """\
The lowest and the highest mean of {corpora} corpora, where the truth is .49."""

CASES = """\
Means of {corpora} corpora, with the standard deviation between them in brackets. The truth is
{truth:.2f}."""

LUCK = """\
What the correction assumes and what happened, where the truth is .49 (standard error about .01).
*Chance* is the agreement of random annotators, *luck* the share that two annotators who know 70 %
of the spans also agree on, of all that they do not agree on by knowledge. If luck is less than
chance the corrected score is too low, if it is more, too high."""

KEPT = """\
Guesses that have the length of the span that is not known: means of {corpora} corpora. The truth is
.49."""

UNITS = """\
Means of {corpora} corpora of documents of 13 sentences; spans of 1 to 5 tokens, none across the
end of a sentence. *One-sided* is the share of sentences in which only one of the two annotators
marked something."""


@dataclass(frozen=True)
class Kind:
    """A kind of corpus: its texts, the lengths of its spans, and the share of tokens in spans."""

    texts: str
    lengths: str
    density: float

    def corpus(self, knowledge: float, seed: int, *, keep_lengths: bool = False) -> bc.Corpus:
        """A corpus of this kind."""
        tokens, lengths = TOKENS[self.texts], LENGTHS[self.lengths]
        spans_per_text = self.density * np.mean(tokens) / np.mean(lengths)
        return knowing_annotators(
            round(N_SPANS / spans_per_text),
            knowledge=knowledge,
            density=self.density,
            lengths=lengths,
            tokens=tokens,
            keep_lengths=keep_lengths,
            seed=seed,
        )

    @property
    def cells(self) -> tuple[str, str]:
        """The kind in a table."""
        return f"{self.texts}, {self.lengths}", f"{self.density:.2f}"

    @property
    def has_longer_spans(self) -> bool:
        """Whether spans may be longer than a token."""
        return max(LENGTHS[self.lengths]) > 1


KIND = ("texts, lengths of spans", "density")
KINDS = tuple(Kind(*parts) for parts in product(TOKENS, LENGTHS, DENSITIES))
Results = Mapping[float, Mapping[Kind, Mapping[str, Floats]]]
"""By knowledge, kind of corpus and name of the score: its values in all corpora."""


def scores(corpus: bc.Corpus) -> dict[str, float]:
    """Every measure, corrected and not, and every coefficient."""
    results = {measure: bc.agreement(corpus, measure=measure) for measure in MEASURES}
    others = bc.coefficients(corpus, which=COEFFICIENTS, scored=results, seed=1).values
    return {
        **{measure: result.corrected for measure, result in results.items()},
        **{f"F1 {measure}": result.observed for measure, result in results.items()},
        **{name: other.value for name, other in others.items()},
    }


def repeated(corpora: Iterable[bc.Corpus]) -> dict[str, Floats]:
    """The scores of several corpora, by name."""
    rows = [scores(corpus) for corpus in corpora]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def simulated(corpora: int) -> Results:
    """Every kind of corpus, with annotators of every knowledge."""
    results = {}
    for q in KNOWLEDGE:
        results[q] = {
            kind: repeated(kind.corpus(q, 1000 * number + seed) for seed in range(corpora))
            for number, kind in enumerate(KINDS)
        }
        say(f"annotators who know {q}")
    return results


def title(name: str) -> str:
    """The name of a score in a table."""
    if name in MEASURES:
        return f"corrected `{name}`"
    return name.replace("F1 ", "F1 of `") + "`" if name.startswith("F1 ") else f"`{name}`"


def rounded(value: float, form: str = ".2f") -> str:
    """Two decimals, and no sign for what is rounded to nothing."""
    text = f"{value:{form}}"
    return text.lstrip("+-") if float(text) == 0 else text


def summary(results: Results, corpora: int) -> list[str]:
    """Bias and spread of every score, over all kinds of corpora."""
    rows = []
    for name in next(iter(results[0.0].values())):
        cells = [title(name)]
        for q, kinds in results.items():
            means = np.array([values[name].mean() for values in kinds.values()])
            cells.append(f"{rounded(means.min())} to {rounded(means.max())}")
            if q > 0:
                variances = [values[name].var(ddof=1) for values in kinds.values()]
                cells.append(rounded(means.mean() - q**2, "+.2f"))
                cells.append(f"{np.mean(variances) ** 0.5:.3f}")
        rows.append(cells)
    headings = ["score"]
    for q in results:
        headings += [f"values, truth {q**2:.2f}", *(["bias", "spread"] if q > 0 else [])]
    errors = [values["token"].std(ddof=1) for values in results[0.7].values()]
    text = SUMMARY.format(corpora=corpora, error=np.mean(errors) / corpora**0.5)
    return [text, "", *table(headings, rows)]


SETS: dict[str, Callable[[Kind], bool]] = {
    "spans of 1 token": lambda kind: not kind.has_longer_spans,
    "longer spans": lambda kind: kind.has_longer_spans,
    "longer spans, sentences": lambda kind: kind.has_longer_spans and kind.texts == "sentences",
    "longer spans, documents": lambda kind: kind.has_longer_spans and kind.texts == "documents",
    "documents, at most 10 % covered": lambda kind: (
        kind.texts == "documents" and kind.density <= 0.1
    ),
}


def ranges(results: Results, corpora: int) -> list[str]:
    """Between which values scores of the same agreement lie, in corpora of several kinds."""
    kinds = results[0.7]
    rows = []
    for name in next(iter(kinds.values())):
        cells = [title(name)]
        for is_meant in SETS.values():
            means = [values[name].mean() for kind, values in kinds.items() if is_meant(kind)]
            cells.append(f"{min(means):.2f} to {max(means):.2f}")
        rows.append(cells)
    return [RANGES.format(corpora=corpora), "", *table(["score", *SETS], rows)]


def cases(results: Results, corpora: int, q: float) -> list[str]:
    """The scores of each kind of corpus."""
    lines = [CASES.format(corpora=corpora, truth=q**2), ""]
    for names in (SCORES_SHOWN, COEFFICIENTS_SHOWN):
        rows = []
        for kind, values in results[q].items():
            cells = [
                f"{values[name].mean():.2f} ({values[name].std(ddof=1):.2f})" for name in names
            ]
            rows.append([*kind.cells, *cells])
        lines += table([*KIND, *names], rows)
    return lines


def luck(results: Results, q: float = 0.7) -> list[str]:
    """Agreement by chance and by luck: of random annotators, and of those who know something."""
    rows = []
    for kind, values in results[q].items():
        cells = list(kind.cells)
        for measure in ("token", "exact"):
            observed, corrected = values[f"F1 {measure}"], values[measure]
            chance = (observed - corrected) / (1 - corrected)
            by_luck = (observed.mean() - q**2) / (1 - q**2)
            cells += [rounded(value) for value in (chance.mean(), by_luck, corrected.mean())]
        rows.append(cells)
    headings = list(KIND)
    for measure in ("token", "exact"):
        headings += [f"{measure}: chance", "luck", "score"]
    return [LUCK, "", *table(headings, rows)]


def kept(corpora: int, q: float = 0.7) -> list[str]:
    """Annotators who know how long the spans are that they do not know."""
    rows = []
    for number, kind in enumerate(KINDS):
        if not kind.has_longer_spans or kind.density < 0.1:
            continue
        values = [
            [bc.agreement(corpus, measure=measure).corrected for measure in MEASURES]
            for corpus in (
                kind.corpus(q, 1000 * number + seed, keep_lengths=True) for seed in range(corpora)
            )
        ]
        cells = [f"{mean:.2f}" for mean in np.mean(values, axis=0)]
        rows.append([*kind.cells, *cells])
    say("lengths kept")
    return [KEPT.format(corpora=corpora), "", *table([*KIND, *MEASURES], rows)]


def units(corpora: int) -> list[str]:
    """The same documents in one piece or by sentence, and guesses in one sentence or anywhere."""
    shown = ("token", "exact", "boundary", "gamma", "kappa")
    rows = []
    for q, density, guess_within in product((0.0, 0.7), (0.1, 0.3), ("sentence", "document")):
        for unit in ("sentence", "document"):
            made = [
                knowing_annotators(
                    round(N_SPANS / (density * 15 * SENTENCES / 3)),
                    knowledge=q,
                    density=density,
                    lengths=LENGTHS["1 to 5"],
                    sentences=SENTENCES,
                    guess_within=guess_within,
                    unit=unit,
                    seed=seed,
                )
                for seed in range(corpora)
            ]
            if unit == "sentence":
                one_sided = np.mean([share_one_sided(corpus) for corpus in made])
            values = repeated(made)
            rows.append(
                [
                    f"{q**2:.2f}, {density:.2f}",
                    guess_within,
                    unit,
                    *(rounded(values[name].mean()) for name in shown),
                    f"{100 * one_sided:.0f} %",
                ]
            )
        say(f"units {q} {density} {guess_within}")
    headings = ["truth, density", "guesses land in", "unit", *shown, "one-sided"]
    return [UNITS.format(corpora=corpora), "", *table(headings, rows)]


def share_one_sided(corpus: bc.Corpus) -> float:
    """The share of texts in which one of two annotators marked something."""
    is_marked = np.zeros((len(corpus.text_length), 2), dtype=bool)
    is_marked[corpus.span_text, corpus.span_annotator] = True
    return float((is_marked.sum(axis=1) == 1).mean())


INK, FAINT, ONE, OTHER = "#333", "#ddd", "#0072b2", "#d55e00"


def picture(results: Results, q: float = 0.7) -> str:
    """Every kind of corpus as a mark in the row of a score, and the truth as a line."""
    left, width, top, step = 150, 460, 66, 26
    right, bottom = left + width + 30, top + step * len(SHOWN)
    box = f'viewBox="0 0 {right} {bottom + 24}" font-family="sans-serif" font-size="13"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} fill="{INK}">',
        f"<title>Scores of annotators whose true agreement is {q**2:.2f}</title>",
        f'<rect width="{right}" height="{bottom + 24}" fill="#fff"/>',
    ]
    legend = [
        ("sentences, spans of 1 token", "sentences", False, left, 14),
        ("sentences, longer spans", "sentences", True, left, 34),
        ("documents, spans of 1 token", "documents", False, left + 230, 14),
        ("documents, longer spans", "documents", True, left + 230, 34),
    ]
    for text, texts, is_longer, x, y in legend:
        parts.append(_mark(texts, x, y, is_longer=is_longer))
        parts.append(f'<text x="{x + 12}" y="{y + 4}">{text}</text>')
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x = left + width * tick
        parts.append(f'<path d="M{x:.1f},{top - 14}V{bottom - 8}" stroke="{FAINT}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 12}" text-anchor="middle">{tick:g}</text>')
    truth = left + width * q**2
    parts.append(f'<path d="M{truth:.1f},{top - 14}V{bottom - 8}" stroke="{INK}"/>')
    for row, name in enumerate(SHOWN):
        y = top + step * row
        text = f"corrected {name}" if name in MEASURES else name
        parts.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{text}</text>')
        for kind, values in results[q].items():
            x = left + width * float(values[name].mean())
            # Sentences a little above the line, documents below, so that marks hide less.
            shift = -5 if kind.texts == "sentences" else 5
            parts.append(_mark(kind.texts, x, y + shift, is_longer=kind.has_longer_spans))
    return "\n".join([*parts, "</svg>\n"])


def _mark(texts: str, x: float, y: float, *, is_longer: bool) -> str:
    """A disc for sentences, a diamond for documents; hollow for spans of one token."""
    colour = ONE if texts == "sentences" else OTHER
    paint = f'fill="{colour if is_longer else "#fff"}" stroke="{colour}" stroke-width="1.5"'
    if texts == "sentences":
        return f'<circle cx="{x:.1f}" cy="{y}" r="4" {paint}/>'
    return f'<path d="M{x:.1f},{y - 5}l5,5l-5,5l-5,-5z" {paint}/>'


def main() -> None:
    """Simulate, and write the tables and the picture."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    results = simulated(corpora)
    tables = {
        "summary": summary(results, corpora),
        "ranges": ranges(results, corpora),
        "cases-7": cases(results, corpora, 0.7),
        "cases-9": cases(results, corpora, 0.9),
        "luck": luck(results),
        "kept": kept(corpora),
        "units": units(corpora),
    }
    head = f"<!-- Written by python benchmarks/ground_truth.py {corpora} -->"
    for name, lines in tables.items():
        (FOLDER / f"ground-truth-{name}.md").write_text("\n".join([head, "", *lines]), "utf-8")
    (FOLDER / "ground-truth.svg").write_text(picture(results), "utf-8")


if __name__ == "__main__":
    main()
