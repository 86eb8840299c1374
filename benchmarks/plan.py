"""Whether plans keep what they promise: by simulation.

    python benchmarks/plan.py [CORPORA]

Pilots are drawn from a population of documents, 1,000 unless told otherwise; as many documents as
each plan asks for are drawn, the pilot's included, and it is counted how often the interval is as
narrow as was planned. Writes docs/_static/plan.md.
"""

from __future__ import annotations

import sys

import numpy as np

import beyondchance as bc
from beyondchance.core.resampling import influences, student
from beyondchance.results.intervals import lowest_of
from beyondchance.results.resampling import score_of
from beyondchance.types import Floats
from calibration import TABLES, result_of, say, section, share
from trend import documents

POPULATION = 20_000
AIM = 150
"""Documents of the population that would do if its spread were known."""

SAID = """\
How often the interval of as many documents as a plan asks for is as narrow as was planned, in
percent of {corpora:,} pilots each, and the median of these numbers; {aim} documents would do if the
spread of all were known. Two annotators agree by .5 or .8; documents have a lognormal number of
sentences with a median of five, and the standard deviation of its logarithm is given."""


def population_of(corrected: float, sd: float, rng: np.random.Generator) -> Floats:
    """Documents with a lognormal number of sentences."""
    lengths = np.maximum(np.rint(rng.lognormal(np.log(5), sd, POPULATION)), 1).astype(np.int64)
    return documents(2, corrected, lengths, rng)


def half_width_of(sums: Floats) -> float:
    """Half the width of the interval of a corpus; 0 where there is none."""
    whole = sums.sum(axis=0)
    moves = influences(score_of(whole - sums, "corrected"))
    estimate, lowest = float(score_of(whole, "corrected")), lowest_of(whole, "corrected")
    found = student(estimate, [moves], 0.95, lowest=lowest)
    return 0.0 if found is None else (found[1] - found[0]) / 2


def main() -> None:
    """Simulate all kinds of pilots and write the table."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows = []
    for corrected in (0.5, 0.8):
        for sd in (0.0, 0.6, 1.2):
            rng = np.random.default_rng(1)
            pool = population_of(corrected, sd, rng)
            wanted = half_width_of(pool) * (POPULATION / AIM) ** 0.5
            for size in (8, 15, 30):
                kept, numbers = 0, []
                for _ in range(corpora):
                    pilot = pool[rng.integers(POPULATION, size=size)]
                    plan = bc.plan(result_of(pilot), wanted)
                    if plan.documents is not None and plan.to_annotate is not None:
                        more = pool[rng.integers(POPULATION, size=plan.to_annotate)]
                        kept += half_width_of(np.concatenate([pilot, more])) <= wanted
                        numbers.append(plan.documents)
                cells = [share(kept, len(numbers)), f"{np.median(numbers):,.0f}"]
                rows.append([f"{corrected:.1f}", f"{sd:.1f}", f"{size}", *cells])
                say(f"plan {rows[-1]}")
    said = SAID.format(corpora=corpora, aim=AIM)
    headings = ["agreement", "lengths", "pilot", "kept", "documents"]
    head = f"<!-- Written by python benchmarks/plan.py {corpora} -->"
    lines = [head, "", *section("Whether plans are kept", said, headings, rows)]
    (TABLES / "plan.md").write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
