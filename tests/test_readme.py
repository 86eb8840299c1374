"""What the README shows is what the commands print."""

import re
import shlex
from pathlib import Path

from beyondchance.cli.main import main

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_commands_print_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (shown,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for command, *lines in (part.split("\n") for part in shown.split("$ ")[1:]):
        words = [
            found
            for word in shlex.split(command)[1:]
            for found in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
        ]
        assert main(words) == 0
        said = capsys.readouterr().out
        for piece in "\n".join(lines).split("…\n"):
            assert piece in said


def test_commands_can_be_pasted():
    # A shell that is typed into need not know comments.
    blocks = re.findall(r"```\n(.*?)```", README.replace("```console\n", "```\n"), re.DOTALL)
    typed = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert "make demo" in typed
    assert not [line for line in typed if " # " in line]
