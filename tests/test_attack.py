"""A short part of the standing attack, the same on every run; and that the attack sees."""

import os
import time
import warnings
from itertools import islice
from pathlib import Path

import pytest

import attack
import beyondchance as bc
from attack import DATA, FILES, TARGETS, attacked, beyond_bounds, warm_up
from beyondchance.io import reading
from mutation import LONG

N_MUTANTS = 48
"""Of each target."""


def numbers_of(target):
    """The numbers of the first mutants of a target."""
    return islice(range(TARGETS.index(target), 10**9, len(TARGETS)), N_MUTANTS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of libraries, of files that are broken
        yield tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_mutants(folder, target):
    outcomes = {number: attacked(number, 0, folder, 1) for number in numbers_of(target)}
    wrong = [f"mutant {number}: {text}" for number, o in outcomes.items() for text in o.wrong]
    assert not wrong, "\n".join(wrong)
    assert not list(folder.iterdir())
    # Else nothing would be tried but how files are recognised.
    recognised = [outcome for outcome in outcomes.values() if "recognised" in outcome.stages]
    assert len(recognised) > N_MUTANTS / 3
    assert any("read" in outcome.stages for outcome in outcomes.values())


def test_every_target_is_read_as_it_is(folder):
    warm_up(folder)
    assert not list(folder.iterdir())


def test_every_format_is_attacked():
    assert {name.partition("_")[0] for name in FILES} >= {
        name.partition("-")[0] for name in reading.FORMATS
    }
    assert DATA


def test_a_number_makes_the_same_mutant(folder, monkeypatch):
    kept = []
    monkeypatch.setattr(attack, "_read", lambda *args: kept.append(args[1]))
    for seed in (1, 1, 2):
        attacked(5, seed, folder)
    assert kept[0] == kept[1] != kept[2]


# --- What the attack sees -----------------------------------------------------


def found(folder, target="records"):
    return [text for number in numbers_of(target) for text in attacked(number, 0, folder).wrong]


def test_an_error_that_is_not_ours(folder, monkeypatch):
    def broken(*_args, **_options):
        raise KeyError("odd")

    monkeypatch.setattr(bc, "read", broken)
    assert "KeyError: 'odd'" in found(folder)[0]


def test_an_error_that_says_nothing(folder, monkeypatch):
    def silent(*_args, **_options):
        raise bc.DataError(" ")

    monkeypatch.setattr(bc, "read", silent)
    assert "an error of no or of several lines" in found(folder)[0]


def test_text_on_a_stream(folder, monkeypatch):
    def shows(_words):
        print(Path("ada.jsonl").read_text("utf-8") if Path("ada.jsonl").exists() else LONG)
        return 0

    monkeypatch.setattr(attack, "run_command", shows)
    assert any("showed text" in text for text in found(folder))


def test_a_command_that_ends_with_a_defect(folder, monkeypatch):
    monkeypatch.setattr(attack, "run_command", lambda _: print("a defect of it") or 1)
    assert any("a defect of it" in text for text in found(folder))


def test_roads_that_differ(folder, monkeypatch):
    monkeypatch.setattr(attack, "_everything", id)
    assert any("two corpora" in text for text in found(folder, "conll"))


def test_a_score_that_is_none(folder, monkeypatch):
    real = bc.agreement

    def high(*args, **options):
        result = real(*args, **options)
        monkeypatch.setattr(type(result.score), "observed", 2.0)
        return result

    monkeypatch.setattr(bc, "agreement", high)
    assert any("observed is 2.0" in text for text in found(folder))


def test_time_and_memory():
    outcome = attack.Outcome("records", kilobytes=1, seconds=2, megabytes=60)
    assert not list(beyond_bounds(outcome))
    assert len(list(beyond_bounds(attack.Outcome("records", 1, 4, 70)))) == 2


def test_all_cores():
    tallies, wrong = attack.attack_by_all_cores(seed=0, seconds=2, workers=2)
    assert not wrong
    assert sum(tally.mutants for tally in tallies.values()) > 2
    assert "all" in attack.shown(tallies)


def test_a_process_that_hangs_or_dies(monkeypatch, capsys):
    # Workers are processes of their own: what they are told to run is all that can be changed.
    monkeypatch.setattr(attack, "attack", _stuck)
    monkeypatch.setattr(attack, "PATIENCE", 0.5)
    _, wrong = attack.attack_by_all_cores(seed=0, seconds=2, workers=2)
    assert {how for _, _, how in wrong} == {"hangs", "died"}
    assert "hangs" in capsys.readouterr().err


def _stuck(_seed, numbers, _seconds, progress, _found):
    progress.value = numbers[0]
    time.sleep(0.2)
    if numbers[0] == 0:
        time.sleep(600)
    if numbers[0] == 1:
        os._exit(1)
    progress.value = attack._DONE
