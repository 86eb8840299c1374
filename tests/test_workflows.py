"""What runs on GitHub: pinned, on every Python that is promised, and not more than it needs."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
FILES = [ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
TESTS, RELEASE = (
    yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    for name in ("tests", "release")
)


def test_actions_are_pinned_to_one_commit_each():
    lines = [
        line
        for path in FILES
        for line in path.read_text("utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    found = {re.fullmatch(r"[\s-]+uses: (\S+)@([0-9a-f]{40}) # (v[\d.]+)", one) for one in lines}
    assert None not in found
    pins = {one.groups() for one in found}
    assert len(pins) == len({action for action, *_ in pins}) > 5


def test_every_python_that_is_promised_is_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    promised = re.findall(r":: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = TESTS["jobs"]["systems"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert project["requires-python"] == f">={promised[0]}"
    assert len(matrix["system"]) == 3


def test_only_uploads_may_show_who_they_are():
    assert RELEASE["permissions"] == TESTS["permissions"] == {"contents": "read"}
    for name, job in RELEASE["jobs"].items():
        is_upload = any("pypi-publish" in step.get("uses", "") for step in job["steps"])
        assert ("permissions" in job) == is_upload == (job.get("environment") == name)
