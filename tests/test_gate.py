"""The action and the hook: their files as they are, run as GitHub and pre-commit run them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from beyondchance.cli.main import cli, main

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
GATE = next(step for step in STEPS if step.get("id") == "gate")
PAGE = (ROOT / "docs" / "gate.md").read_text("utf-8")
WORKFLOWS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="needs bash")


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch):
    """The example's files in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--quiet", "--files", "example"]) == 0


class Run:
    """What a run of the gate left behind."""

    def __init__(self, folder, **inputs):
        folder.mkdir(exist_ok=True)
        summary, output = folder / "summary.md", folder / "output"
        values = {name: item.get("default", "") for name, item in ACTION["inputs"].items()}
        values |= {name.replace("_", "-"): value for name, value in inputs.items()}
        self.done = subprocess.run(
            # As GitHub runs steps whose shell is bash.
            [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", GATE["run"]],
            env={
                **os.environ,
                # The Python of these tests is the one that GitHub sets up.
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "RUNNER_TEMP": str(folder),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_OUTPUT": str(output),
                **{name: filled(text, values) for name, text in GATE["env"].items()},
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.code = self.done.returncode
        self.errors = self.done.stderr
        self.summary = summary.read_text("utf-8") if summary.exists() else ""
        lines = output.read_text("utf-8").splitlines() if output.exists() else []
        self.outputs = dict(line.split("=", 1) for line in lines)


def filled(text, values):
    """An expression with the value of the input that it names."""
    found = re.fullmatch(r"\$\{\{ inputs\.([-\w]+) \}\}", text)
    return values[found[1]]


@pytest.fixture
def gate(tmp_path):
    return lambda **inputs: Run(tmp_path / "runner", **inputs)


TEAM = "example/ada.conll\nexample/ben.conll\nexample/cleo.conll\n"


class TestRun:
    def test_passing(self, gate):
        run = gate(files=TEAM, fail_under="0.7")
        assert run.code == 0, run.errors
        assert run.summary.startswith("### beyondchance agree: passed\n\nada, ben and cleo: 46 ")
        assert "| token | 0.7877 | 0.2468 | 0.7181 |" in run.summary
        assert "read as conll" in run.summary
        assert round(float(run.outputs["corrected"]), 4) == 0.7181
        assert round(float(run.outputs["observed"]), 4) == 0.7877
        assert round(float(run.outputs["chance"]), 4) == 0.2468
        assert Path(run.outputs["json"]).read_text("utf-8").startswith('{\n  "format": 1')

    def test_failing(self, gate):
        run = gate(files=TEAM, fail_under="0.8")
        assert run.code == 3
        assert "the corrected score is 0.7181, below 0.8" in run.errors
        assert run.summary.startswith("### beyondchance agree: failed, below 0.8\n")
        assert "| token | 0.7877 | 0.2468 | 0.7181 |" in run.summary
        assert "the corrected score is 0.7181, below 0.8" in run.summary
        assert round(float(run.outputs["corrected"]), 4) == 0.7181

    def test_bad_data(self, gate, tmp_path):
        (tmp_path / "x.conll").write_text("Anna X-Y-Z\n")
        run = gate(files="example/ada.conll\nx.conll", options="--strict")
        assert run.code == 1
        assert "x.conll" in run.errors
        assert run.summary.startswith("### beyondchance agree: no result (exit code 1)\n")
        assert "x.conll" in run.summary
        assert run.outputs == {}

    def test_wrong_usage(self, gate):
        run = gate(files=TEAM, options="--mesure token")
        assert run.code == 2
        assert "no such option" in run.summary

    def test_an_undefined_score_fails(self, gate, tmp_path):
        for name in ("a", "b"):
            (tmp_path / f"{name}.conll").write_text("Anna O\n")
        run = gate(files="a.conll\nb.conll", fail_under="0")
        assert run.code == 3
        assert run.outputs["corrected"] == ""
        assert run.outputs["json"]

    def test_systems(self, gate):
        run = gate(files=TEAM, command="rank", fail_under="0.71")
        assert run.code == 3
        assert "the corrected score of ben is 0.7028, below 0.71" in run.errors
        assert round(float(run.outputs["corrected"]), 4) == 0.7132
        assert "against the gold standard ada" in run.summary

    def test_a_gold_standard(self, gate):
        run = gate(files="example/*.conll", command="rank", gold="cleo")
        assert run.code == 0, run.errors
        assert "ada and ben against the gold standard cleo" in run.summary

    @pytest.mark.parametrize("command", ["convert", "agree; touch made", "--help", ""])
    def test_another_command(self, gate, command, tmp_path):
        run = gate(files=TEAM, command=command)
        assert run.code == 2
        assert "expected agree or rank" in run.errors
        assert not (tmp_path / "made").exists()


class TestInputs:
    def test_names_with_spaces_and_patterns(self, gate, tmp_path):
        (tmp_path / "a b").mkdir()
        for name in ("ada", "ben"):
            Path(f"example/{name}.conll").rename(f"a b/{name} 1.conll")
        for files in ("a b/ada 1.conll\n  a b/ben 1.conll  \n\n", "a b/*.conll", "**/* 1.conll"):
            run = gate(files=files)
            assert run.code == 0, run.errors
            assert "ada 1 and ben 1: 46 sentences" in run.summary

    def test_a_file_whose_name_looks_like_a_pattern(self, gate):
        Path("example/ada.conll").rename("example/[a].conll")
        run = gate(files="example/[[]a].conll\nexample/ben.conll")
        assert run.code == 0, run.errors
        run = gate(files="example/[a].conll\nexample/ben.conll")
        assert run.code == 0, run.errors

    def test_names_and_files(self, gate):
        run = gate(files="anna=example/ada.conll\nben=example/ben.conll")
        assert "anna and ben: 46 sentences" in run.summary

    def test_a_file_whose_name_looks_like_an_option(self, gate):
        Path("example/ada.conll").rename("--strict")
        run = gate(files="--strict\nexample/ben.conll")
        assert run.code == 0, run.errors

    def test_nothing_that_matches(self, gate):
        run = gate(files="annotations/*.conll")
        assert run.code == 1
        assert "annotations/*.conll" in run.summary

    def test_quotes_in_options(self, gate):
        run = gate(files=TEAM, options="--rename-label 'PERSON=A B' --measure exact")
        assert run.code == 0, run.errors
        assert "| A B |" in run.summary
        run = gate(files=TEAM, options="--labels 'PERSON")
        assert run.code == 1
        assert "the input options cannot be read: No closing quotation" in run.errors

    @pytest.mark.parametrize("options", ["--output csv", "--save x.txt", "--quiet"])
    def test_the_output_stays_that_of_the_action(self, gate, options):
        run = gate(files=TEAM, options=options)
        assert run.code == 0, run.errors
        assert run.outputs["corrected"].startswith("0.718")
        assert "| token | 0.7877 | 0.2468 | 0.7181 |" in run.summary
        assert not Path("x.txt").exists()

    @pytest.mark.parametrize("name", ["files", "gold", "fail_under", "options"])
    @pytest.mark.parametrize(
        "text", ["$(touch made)", "`touch made`", '"; touch made; "', "; made"]
    )
    def test_nothing_in_an_input_is_run(self, gate, name, text, tmp_path):
        gate(**{"files": TEAM, name: text})
        assert not (tmp_path / "made").exists()

    def test_no_module_of_the_folder_is_imported(self, gate, tmp_path):
        for name in ("glob", "shlex", "json", "click", "beyondchance"):
            (tmp_path / f"{name}.py").write_text("raise SystemExit(7)\n")
        assert gate(files=TEAM).code == 0


class TestAction:
    def test_scripts_hold_no_expressions(self):
        for step in STEPS:
            assert "${{" not in step.get("run", "")

    def test_every_input_is_passed_on_and_every_output_comes_from_a_step(self):
        passed = {text for step in STEPS for text in step.get("env", {}).values()}
        assert passed == {
            *(f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]),
            "${{ github.action_path }}",
        }
        for name, item in ACTION["outputs"].items():
            assert item["value"] == f"${{{{ steps.gate.outputs.{name} }}}}"

    def test_every_script_says_its_shell(self):
        # GitHub refuses a composite action otherwise.
        assert all(step["shell"] == "bash" for step in STEPS if "run" in step)

    @pytest.mark.parametrize(
        ("extras", "asked"), [("", "{root}"), ("spacy,parquet", "{root}[spacy,parquet]")]
    )
    def test_what_is_installed(self, extras, asked, tmp_path):
        step = next(step for step in STEPS if step.get("name") == "Install beyondchance")
        pip = tmp_path / "bin" / "python"
        pip.parent.mkdir()
        pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        pip.chmod(0o755)
        path = f"{pip.parent}{os.pathsep}{os.environ['PATH']}"
        given = {"PATH": path, "ACTION_PATH": "/with a blank", "EXTRAS": extras}
        done = subprocess.run(
            [BASH, "-eo", "pipefail", "-c", step["run"]],
            env=given, capture_output=True, text=True, check=True,
        )  # fmt: skip
        expected = ["-P", "-m", "pip", "install", "--quiet", asked.format(root="/with a blank")]
        assert done.stdout.splitlines() == expected


class TestHook:
    def test_it_is_a_command(self):
        (hook,) = HOOKS
        program, command, *rest = shlex.split(hook["entry"])
        assert (program, rest) == ("beyondchance", [])
        assert cli.get_command(None, command) is not None
        assert hook["language"] == "python"
        assert hook["pass_filenames"]
        assert hook["require_serial"]

    def test_which_files_it_takes(self):
        (hook,) = HOOKS
        taken = ["a.conll", "x/b.iob", "x/b.iob2", "c.bio"]
        assert all(re.search(hook["files"], name) for name in taken)
        assert not any(re.search(hook["files"], name) for name in ["README.md", "conll", "a.py"])

    @pytest.mark.parametrize(("bar", "code"), [("0.7", 0), ("0.8", 3)])
    def test_it_fails_below_the_bar(self, bar, code):
        # As pre-commit calls it: the entry, its args, and the files.
        _, *words = shlex.split(HOOKS[0]["entry"])
        files = sorted(map(str, Path().glob("example/*.conll")))
        assert main([*words, "--fail-under", bar, *files]) == code


class TestDocumentation:
    def test_workflows_give_inputs_that_there_are(self):
        used = [
            step
            for page in WORKFLOWS
            for job in (page.get("jobs") or {}).values()
            for step in job["steps"]
            if "beyondchance@" in step.get("uses", "")
        ]
        assert used
        for step in used:
            assert set(step["with"]) <= set(ACTION["inputs"])
            assert "files" in step["with"]

    def test_hooks_that_there_are(self):
        used = [
            hook["id"]
            for page in WORKFLOWS
            for repo in page.get("repos", ())
            for hook in repo["hooks"]
        ]
        assert used
        assert set(used) == {hook["id"] for hook in HOOKS}

    def test_every_input_and_output_is_explained(self):
        for name in (*ACTION["inputs"], *ACTION["outputs"]):
            assert f"`{name}`" in PAGE
