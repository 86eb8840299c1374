"""The tutorials: notebooks written as text, whose output is stored in files next to them.

``python docs/notebooks.py [NAME...]`` runs all of them, or some, and stores what they show in
tutorials/output. The documentation shows what is stored, and refuses output whose hash does not
fit the code of any page: then the code was changed and not run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook
from nbclient import NotebookClient

TUTORIALS = Path(__file__).parent / "tutorials"
ENDING = ".nb.md"
OUTPUT = TUTORIALS / "output"
ENVIRONMENT = {
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
}


def read(text: str) -> nbformat.NotebookNode:
    """Read a notebook with its stored output."""
    notebook = read_myst_markdown_notebook(text, add_source_map=True)
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    for path in sorted(OUTPUT.glob("*.json")):
        stored = json.loads(path.read_text("utf-8"))
        if stored["hash"] == digest(notebook, stored["cells"]):
            for cell, shown in zip(code_cells(notebook), stored["cells"], strict=True):
                cell.outputs = [output(**one) for one in shown]
            return notebook
    title = re.search("^# (.*)", text, re.MULTILINE)[1]
    raise ValueError(f"the stored output of {title!r} is stale: run python docs/notebooks.py")


def output(kind: str, lines: list[str]) -> nbformat.NotebookNode:
    """Return the output of a cell as notebooks have it."""
    if kind == "stream":
        return nbformat.v4.new_output("stream", text="\n".join(lines))
    return nbformat.v4.new_output("display_data", data={kind: "\n".join(lines)})


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the cells that hold code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def digest(notebook: nbformat.NotebookNode, shown: list[list[dict]]) -> str:
    """Return the hash of the code of all cells and of what they show."""
    told = [[cell.source for cell in code_cells(notebook)], shown]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def run(path: Path) -> dict:
    """Run a notebook in a folder of its own, and return what is stored of it."""
    notebook = read_myst_markdown_notebook(path.read_text("utf-8"))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    os.environ.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    cells = [shown(cell) for cell in code_cells(notebook)]
    return {"hash": digest(notebook, cells), "cells": cells}


def shown(cell: nbformat.NotebookNode) -> list[dict]:
    """Return what a cell shows: notes and printed lines first, then its value."""
    printed = {"stderr": "", "stdout": ""}
    values = []
    for one in cell.outputs:
        if one.output_type == "stream":
            printed[one.name] += one.text
        else:
            kind = "text/html" if "text/html" in one.data else "text/plain"
            values.append({"kind": kind, "lines": one.data[kind].splitlines()})
    text = "".join(printed.values())
    return [{"kind": "stream", "lines": text.splitlines()}] * bool(text) + values


def notebooks() -> dict[str, Path]:
    """Return the notebooks by name."""
    return {path.name.removesuffix(ENDING): path for path in sorted(TUTORIALS.glob(f"*{ENDING}"))}


if __name__ == "__main__":
    found = notebooks()
    for name in sys.argv[1:] or found:
        text = json.dumps(run(found[name]), indent=1, ensure_ascii=False)
        (OUTPUT / f"{name}.json").write_text(f"{text}\n", "utf-8")
