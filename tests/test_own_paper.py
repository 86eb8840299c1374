"""The numbers of the paper on the package, and that its text asks for no others."""

import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "paper"


@pytest.mark.slow
def test_every_number_is_there():
    spec = importlib.util.spec_from_file_location("own_paper", FOLDER / "paper.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found = script.numbers()
    assert found["example"]["token"] == {"observed": ".79", "chance": ".25", "corrected": ".72"}
    assert [case["corrected"] for case in found["cases"][:2]] == ["0.69", "0.78"]
    assert {row[0] for row in found["corpora"]} == script.TASKS
    text = (FOLDER / "paper.typ").read_text("utf-8")
    assert set(re.findall(r"found\.(\w+)", text)) <= found.keys()
    tables = {"ranges": "ranges", "known": "known", "reactions": "reactions", "crowd": "crowd"}
    for name, key in tables.items():
        for asked in re.findall(rf'#{name}\.at\("((?:[^"\\]|\\.)*)"\)', text):
            assert asked.replace('\\"', '"') in found[key]


def test_every_work_that_is_cited_is_listed():
    text = (FOLDER / "paper.typ").read_text("utf-8")
    cited = set(re.findall(r"@([a-z]+-\d{4}|seqeval)", text)) | set(
        re.findall(r"#cite\(<([\w-]+)>", text)
    )
    listed = set(re.findall(r"@\w+\{([\w-]+),", (FOLDER / "references.bib").read_text("utf-8")))
    assert cited - {"li-etal-2024-estimating"} == listed
