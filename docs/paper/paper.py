"""The paper on the package: ``python docs/paper/paper.py`` writes docs/_build/paper/paper.pdf.

Every number comes from the package, or from a file that a script of this repository wrote.
"""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path

import beyondchance as bc
from beyondchance.io.reading import FORMATS
from beyondchance.paper import reproduce
from beyondchance.reporting.citations import bibtex

HERE = Path(__file__).parent
DOCS = HERE.parent
OUT = DOCS / "_build" / "paper"
TASKS = {"NEMO", "ACL RD-TEC 2.0", "NorQuAD, validation", "LEOKA, nine teams", "UA-GEC, test"}
TASKS |= {"PICO sentences, experts", "PICO sentences, crowd", "MQM, WMT 2023 zh-en"}
TASKS |= {"Broad Twitter Corpus A", "Toxic spans, all raters", "BarNER, tweets"}
"""Some public corpora, from names to errors of translation."""


def numbers() -> dict[str, object]:
    """Compute or look up every number of the text."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    corpus = bc.example()
    scores = {
        measure: {
            name: f"{getattr(bc.agreement(corpus, measure=measure), name):.2f}".lstrip("0")
            for name in ("observed", "chance", "corrected")
        }
        for measure in ("token", "exact")
    }
    path = Path(bc.__file__).parent / "resources" / "example.conll"
    by_document = bc.agreement(path, unit="document").corrected
    cases = [
        {
            "case": f"{one.case.simulation} {one.case.case.replace('Annotator', 'annotator ')}",
            "observed": f"{one.ours['ObsF1']:.2f}",
            "chance": f"{one.ours['ChanceF1']:.2f}",
            "corrected": f"{one.ours['CorrF1']:.2f}",
            "alpha": f"{one.ours['Alpha']:.2f}",
            "mu": f"{one.ours['muAlpha']:.2f}",
        }
        for one in reproduce()
    ]
    return {
        "version": bc.__version__,
        "authors": [author["name"] for author in project["authors"]],
        "formats": len(FORMATS),
        "example": scores,
        "by_document": f"{by_document:.2f}".lstrip("0"),
        "cases": cases,
        "ranges": table(page_of("_static/ground-truth-summary.md"), "| score"),
        "longer": table(page_of("_static/ground-truth-ranges.md"), "| score"),
        "known": table(page_of("_static/known-agreement.md"), "| score"),
        "corpora": corpora(),
        "crowd": table(page_of("gold.md"), "| | exact F1"),
        "reactions": table(page_of("_static/reactions.md"), "| mistakes"),
    }


def page_of(name: str) -> str:
    """Return the text of a file of the documentation, in whatever folder it is."""
    (path,) = [*DOCS.glob(name), *DOCS.glob(f"*/{name}")]
    return path.read_text("utf-8")


def table(page: str, heading: str) -> dict[str, list[str]]:
    """Return the rows of a table of a page, by what their first cells say."""
    rows = {}
    for line in page.partition(heading)[2].splitlines()[2:]:
        if not line.startswith("|"):
            break
        first, *cells = (cell.strip() for cell in line.strip("| ").split("|"))
        rows[first.replace("`", "")] = cells
    return rows


def corpora() -> list[list[str]]:
    """Return reference values of some public corpora, as the documentation has them."""
    rows = list(csv.DictReader(page_of("reference_values.csv").splitlines()))
    words = ("corpus", "language", "task", "documents", "raters")
    keys = ("token_observed", "token", "exact_observed", "exact", "skill_exact", "kappa", "gamma")
    found = [
        [row[key] for key in words] + [f"{float(row[key]):.2f}" if row[key] else "" for key in keys]
        for row in rows
        if row["corpus"] in TASKS
    ]
    assert len(found) == len(TASKS)  # noqa: S101 - a name has changed
    return found


def main() -> None:
    """Write the numbers, the works and the paper."""
    import typst  # noqa: PLC0415 - not for those who only read the numbers

    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "numbers.json").write_text(json.dumps(numbers(), indent=1), "utf-8")
    works = (HERE / "references.bib").read_text("utf-8")
    (OUT / "references.bib").write_text(f"{works}\n{bibtex()}", "utf-8")
    typst.compile(HERE / "paper.typ", output=OUT / "paper.pdf", root=DOCS)


if __name__ == "__main__":
    main()
