"""The action and the hook: their files as they are, run as GitHub and pre-commit run them."""

import json
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
from refusals import assert_tells

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
GATE = next(step for step in STEPS if step.get("id") == "gate")
PAGE = (ROOT / "docs" / "howto" / "gate.md").read_text("utf-8")
WORKFLOWS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="needs bash")


TEAM = "example/ada.conll\nexample/ben.conll\nexample/cleo.conll\n"
# Loading the package twice takes most of the time of a run. Where the script is what is tested,
# this stands for it: it keeps the words that it was called with, fails as told, and has a result.
STUB = """#!/bin/sh
case "$1" in -I) exec {python} "$@" ;; esac
for word in "$@"; do printf '%s\\0' "$word" >>"$WORDS"; done
printf '\\0' >>"$WORDS"
echo "said by the command" >&2
[ "$CODE" = 1 ] && exit 1
while [ "$1" != --save ]; do shift; done
cat "$RESULT" >"$2"
exit "$CODE"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def example(folder):
    """The example's files in that folder."""
    assert main(["demo", "--quiet", "--files", "example"]) == 0
    return folder


class Run:
    """What a run of the gate left behind."""

    def __init__(self, folder, programs, more, **inputs):
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
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "RUNNER_TEMP": str(folder),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_OUTPUT": str(output),
                **{name: filled(text, values) for name, text in GATE["env"].items()},
                **more,
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
    """The gate as it is."""
    return lambda **inputs: Run(tmp_path / "runner", Path(sys.executable).parent, {}, **inputs)


@pytest.fixture
def called(tmp_path):
    """The gate with a command that only keeps its words: the run, and the words of both calls."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(STUB.format(python=shlex.quote(sys.executable)))
    python.chmod(0o755)
    result = tmp_path / "canned"
    score = {"corrected": None, "observed": 0.75, "chance": 0.5}
    canned = {
        "agree": {"command": "agree", **score},
        "rank": {"command": "rank", "systems": [score, {}]},
    }

    def runner(code=0, **inputs):
        result.write_text(json.dumps(canned.get(inputs.get("command", "agree"))))
        words = tmp_path / "words"
        words.unlink(missing_ok=True)
        more = {"WORDS": str(words), "CODE": str(code), "RESULT": str(result)}
        run = Run(tmp_path / "runner", python.parent, more, **inputs)
        text = words.read_text("utf-8") if words.exists() else ""
        return run, [call.split("\0") for call in text.split("\0\0")[:-1]]

    return runner


def files_of(call):
    """The files that a command was called with."""
    return call[call.index("--") + 1 :]


@pytest.mark.slow
class TestRun:
    """With the command that is installed."""

    def test_failing(self, gate, example):
        for name in ("glob", "shlex", "json", "click", "beyondchance"):
            # No module of the folder is imported.
            (example / f"{name}.py").write_text("raise SystemExit(7)\n")
        Path("example/ben.conll").rename(example / "--strict")
        run = gate(
            files="--strict\nexample/*.conll",
            command="rank",
            gold="ada",
            fail_under="0.71",
            options="--output csv --save x.txt",
        )
        assert run.code == 3, run.errors
        assert run.summary.startswith("### beyondchance rank: failed, below 0.71\n")
        for said in (run.errors, run.summary):
            assert_tells(said, "read as conll … --strict … 0.7028 … 0.71")
        assert "against the gold standard ada" in run.summary
        assert round(float(run.outputs["corrected"]), 4) == 0.7132
        assert round(float(run.outputs["observed"]), 4) == 0.7925
        assert round(float(run.outputs["chance"]), 4) == 0.2763
        assert Path(run.outputs["json"]).read_text("utf-8").startswith('{\n  "format": 2')
        assert not Path("x.txt").exists()


class TestScript:
    """What the script makes of its inputs and of what the command leaves behind."""

    def test_what_the_command_is_called_with(self, called):
        run, calls = called(
            files="a.conll", command="rank", gold="g", fail_under="0.5", options="--measure exact"
        )
        assert run.code == 0, run.errors
        first, second = calls
        shared = ["-P", "-m", "beyondchance", "rank", "--measure", "exact"]
        shared += ["--gold", "g", "--fail-under", "0.5"]
        place = run.outputs["json"]
        assert first == [*shared, "--output", "json", "--save", place, "--", "a.conll"]
        place = f"{Path(place).parent}/result.md"
        asked = ["--output", "markdown", "--quiet", "--save", place]
        assert second == [*shared, *asked, "--", "a.conll"]
        assert (run.outputs["chance"], run.outputs["observed"]) == ("0.5", "0.75")
        assert run.outputs["corrected"] == ""  # it is undefined
        assert run.summary.startswith("### beyondchance rank: passed\n\n{")
        assert run.summary.endswith("\n~~~~text\nsaid by the command\n~~~~\n")
        assert run.errors == "said by the command\n"

    @pytest.mark.parametrize(("code", "title"), [(3, "failed, below the bar"), (1, "no result")])
    def test_failures(self, called, code, title):
        run, calls = called(code=code, files="a.conll")
        assert run.code == code
        assert run.summary.startswith(f"### beyondchance agree: {title}")
        assert "said by the command" in run.summary
        assert len(calls) == (2 if code == 3 else 1)
        assert run.outputs.get("chance") == ("0.5" if code == 3 else None)

    def test_another_command(self, called, tmp_path):
        for command in ("convert", "agree; touch made", "--help", ""):
            run, calls = called(files="a.conll", command=command)
            assert (run.code, calls) == (2, []), command
            assert_tells(run.errors, f"'{command}' … agree … rank")
        assert not (tmp_path / "made").exists()

    def test_names_with_spaces_and_patterns(self, called, tmp_path):
        (tmp_path / "a b").mkdir()
        for name in ("a b/ada 1.conll", "a b/ben 1.conll", "[a].conll", "a.conll", "--strict"):
            (tmp_path / name).touch()
        both = ["a b/ada 1.conll", "a b/ben 1.conll"]
        lines = {
            "a b/ada 1.conll": both[:1],
            "  a b/ben 1.conll  \n": both[1:],
            "a b/*.conll": both,
            "**/* 1.conll": both,
            "[[]a].conll": ["[a].conll"],
            "[a].conll": ["[a].conll"],
            "anna=a.conll": ["anna=a.conll"],
            "--strict": ["--strict"],
            "annotations/*.conll": ["annotations/*.conll"],  # nothing that matches
        }
        expected = [file for files in lines.values() for file in files]
        run, calls = called(files="\n".join([*lines, ""]))
        assert run.code == 0, run.errors
        assert [files_of(call) for call in calls] == [expected] * 2

    def test_quotes_in_options(self, called):
        _, calls = called(files="x", options="--rename-label 'PERSON=A B' --measure exact")
        words = ["--rename-label", "PERSON=A B", "--measure", "exact", "--output"]
        assert calls[0][4:9] == words
        run, calls = called(files="x", options="--labels 'PERSON")
        assert (run.code, calls) == (1, [])
        assert_tells(run.errors, "options … quotation")

    @pytest.mark.parametrize(
        "text", ["$(touch made)", "`touch made`", '"; touch made; "', "; touch made"]
    )
    def test_nothing_in_an_input_is_run(self, called, text, tmp_path):
        run, calls = called(files=text, gold=text, fail_under=text, options=text)
        assert run.code == 0, run.errors
        assert files_of(calls[0]) == [text]
        assert calls[0][calls[0].index("--gold") + 1] == text
        assert not (tmp_path / "made").exists()


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

    def test_what_is_installed(self, tmp_path):
        step = next(step for step in STEPS if step.get("name") == "Install beyondchance")
        pip = tmp_path / "bin" / "python"
        pip.parent.mkdir()
        pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        pip.chmod(0o755)
        path = f"{pip.parent}{os.pathsep}{os.environ['PATH']}"
        for extras, asked in {
            "": "/with a blank",
            "spacy,parquet": "/with a blank[spacy,parquet]",
        }.items():
            given = {"PATH": path, "ACTION_PATH": "/with a blank", "EXTRAS": extras}
            done = subprocess.run(
                [BASH, "-eo", "pipefail", "-c", step["run"]],
                env=given, capture_output=True, text=True, check=True,
            )  # fmt: skip
            assert done.stdout.splitlines() == ["-P", "-m", "pip", "install", "--quiet", asked]


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

    @pytest.mark.usefixtures("example")
    def test_it_fails_below_the_bar(self):
        # As pre-commit calls it: the entry, its args, and the files.
        _, *words = shlex.split(HOOKS[0]["entry"])
        files = sorted(map(str, Path().glob("example/*.conll")))
        for bar, code in (("0.7", 0), ("0.8", 3)):
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
