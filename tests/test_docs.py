"""The pages of the documentation: their links, their formulas and their words."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/[!_]*/*.md")])
FENCE = re.compile(r"^ *(`{3,}).*?^ *\1`*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(rf"{FENCE.pattern}|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$]+?)\$", re.DOTALL)


@cache
def prose(page):
    """A page without its code."""
    return CODE.sub("", page.read_text("utf-8"))


@cache
def anchors(page):
    """The names of a page's headings, as GitHub and MyST make them, and of what it includes."""
    text = page.read_text("utf-8")
    included = [page.parent / name for name in re.findall(r"\{include\} (\S+)", text)]
    text = "\n".join([FENCE.sub("", text), *(path.read_text("utf-8") for path in included)])
    titles = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    named = re.findall(r"^\((.+)\)=$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain} | {*named}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in LINK.findall(prose(page)):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not re.match(r"\w+:", link):
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_formulas_are_read_in_one_way(page):
    # TeX takes one digit after ^, _ and \frac, what writes MathML a whole number; and it puts an
    # index below an accent that is not closed by {}.
    ambiguous = re.compile(
        r"[\^_]\s*\d\d|frac\s*[^\s{]|binom\s*[^\s{]|\\(bar|hat|tilde) ?(\w|\\\w+|\{\w+\})_"
    )
    formulas = ["".join(found) for found in FORMULA.findall(prose(page))]
    assert [formula for formula in formulas if ambiguous.search(formula)] == []


@pytest.mark.slow
def test_stored_output_belongs_to_its_code():
    from notebooks import code_cells, notebooks, read  # noqa: PLC0415 - loads for a second

    for path in notebooks().values():
        text = path.read_text("utf-8")
        assert any(cell.outputs for cell in code_cells(read(text)))
        with pytest.raises(ValueError, match=r"is stale: run python docs/notebooks\.py"):
            read(text.replace("```{code-cell}\n", "```{code-cell}\n# changed\n", 1))


@pytest.mark.long
def test_notebooks_show_what_they_show():
    from notebooks import OUTPUT, notebooks, run  # noqa: PLC0415 - as above

    for name, path in notebooks().items():
        stored = json.loads((OUTPUT / f"{name}.json").read_text("utf-8"))
        assert run(path) == stored, f"run python docs/notebooks.py {name}"
