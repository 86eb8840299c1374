"""A short part of the standing attack, the same on every run; and that the attack sees."""

import os
import time
import warnings
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace

import pytest

import attack
import beyondchance as bc
from attack import DATA, FILES, TARGETS, attacked, beyond_bounds, warm_up
from beyondchance.io import reading
from beyondchance.io.saving import save_file
from beyondchance.results.packing import packed
from mutation import LONG

N_MUTANTS = 48
"""Of each target."""
N_FEW = 5


def numbers_of(target, most=N_MUTANTS):
    """The numbers of the first mutants of a target."""
    return islice(range(TARGETS.index(target), 10**9, len(TARGETS)), most)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of libraries, of files that are broken
        yield tmp_path


@pytest.mark.slow
def test_a_few_mutants(folder):
    numbers = [number for target in TARGETS for number in numbers_of(target, N_FEW)]
    outcomes = {number: attacked(number, 0, folder, N_FEW) for number in numbers}
    wrong = [f"mutant {number}: {text}" for number, o in outcomes.items() for text in o.wrong]
    assert not wrong, "\n".join(wrong)
    assert not list(folder.iterdir())
    stages = Counter(stage for outcome in outcomes.values() for stage in outcome.stages)
    assert stages["recognised"] > len(outcomes) / 3
    assert stages["read"] > len(outcomes) / 10
    assert stages["shown"] == len(FILES)
    # A mutant may lack the files that are given.
    assert len(FILES) - 3 < stages["placed"] <= len(FILES)
    assert stages["in parts"] > 10
    assert stages["one damaged"] > len(FILES) / 2 < stages["unnamed"]


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_mutants(folder, target):
    outcomes = {number: attacked(number, 0, folder, 1) for number in numbers_of(target)}
    wrong = [f"mutant {number}: {text}" for number, o in outcomes.items() for text in o.wrong]
    assert not wrong, "\n".join(wrong)
    assert not list(folder.iterdir())
    # Else nothing would be tried but how files are recognised. The few mutants are of a format of
    # which 45 % are recognised too, in thousands.
    recognised = [outcome for outcome in outcomes.values() if "recognised" in outcome.stages]
    assert len(recognised) > N_MUTANTS / 4
    assert any("read" in outcome.stages for outcome in outcomes.values())


@pytest.mark.slow
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
    """What is wrong, as far as it is asked for: some of it shows in few mutants."""
    numbers = numbers_of(target, 10 * N_MUTANTS)
    return (text for number in numbers for text in attacked(number, 0, folder).wrong)


def test_an_error_that_is_not_ours(folder, monkeypatch):
    def broken(*_args, **_options):
        raise KeyError("odd")

    monkeypatch.setattr(bc, "read", broken)
    assert "KeyError: 'odd'" in next(found(folder))


def test_an_error_that_says_nothing(folder, monkeypatch):
    def silent(*_args, **_options):
        raise bc.DataError(" ")

    monkeypatch.setattr(bc, "read", silent)
    assert "an error of no or of several lines" in next(found(folder))


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


@pytest.mark.slow
def test_parts_that_differ_from_the_whole(folder, monkeypatch):
    monkeypatch.setattr(attack, "_digits", id)
    assert any("in parts" in text for text in found(folder, "table_csv"))


def test_a_name_in_what_is_saved(folder, monkeypatch):
    def saves(words):
        if "--pseudonyms" in words:
            save_file("saved.counts", packed({"annotators": ("Wexada", "Wexben")}))
        return 0

    monkeypatch.setattr(attack, "run_command", saves)
    assert any("a name is in saved.counts" in text for text in found(folder))


@pytest.mark.slow
def test_a_damaged_file_that_is_left_out(folder, monkeypatch):
    monkeypatch.setattr(bc, "read", lambda *_, **__: bc.example())
    monkeypatch.setattr(attack, "_digits", id)
    assert any("the score is another one" in text for text in found(folder))


@pytest.mark.slow
def test_a_damaged_file_that_is_not_named(folder, monkeypatch):
    real = bc.read

    def unnamed(*given, **options):
        try:
            return real(*given, **options)
        except bc.BeyondChanceError:
            raise bc.DataError("a file is damaged") from None

    monkeypatch.setattr(bc, "read", unnamed)
    assert any("and not named" in text for text in found(folder))


def test_an_input_that_is_replaced(folder, monkeypatch):
    monkeypatch.setattr(attack, "run_command", lambda _: Path("ada.jsonl").write_text("new") and 0)
    assert any("changed ada.jsonl" in text for text in found(folder))


def test_output_that_is_lost(folder, monkeypatch):
    monkeypatch.setattr(attack, "run_command", lambda _: 0)
    # Few mutants of one target have their output lost.
    texts = chain.from_iterable(
        found(folder, target) for target in ("records", "quotes", "prodigy")
    )
    assert any("its output is lost" in text for text in texts)


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


def test_a_worker_that_hangs_or_dies_is_told_once(monkeypatch):
    process = SimpleNamespace(is_alive=lambda: True)
    progress = SimpleNamespace(value=attack._STARTING)
    worker = attack._Worker(process, progress, 3)
    assert worker.stopped() == ""
    progress.value = 3
    assert worker.stopped() == ""
    monkeypatch.setattr(attack, "PATIENCE", -1)
    assert [worker.stopped(), worker.stopped()] == ["hangs", ""]
    dead = SimpleNamespace(is_alive=lambda: False)
    worker = attack._Worker(dead, progress, 3)
    assert [worker.stopped(), worker.stopped()] == ["died", ""]
    progress.value = attack._DONE
    assert attack._Worker(dead, progress, 3).stopped() == ""


def test_what_was_tried_is_shown():
    tally = attack.Tally()
    tally.add(attack.Outcome("records", 1, 2, 3, {"recognised", "read"}))
    tally.add(attack.Outcome("records", 1, 1, 9, {"recognised"}))
    row, total = attack.shown({"records": tally}).splitlines()[1:]
    for line, name in ((row, "records"), (total, "all")):
        assert line.split() == [
            *(name, "2", "100.0%", "50.0%", *["0.0%"] * (1 + len(attack.STAGES))),
            *("1500.0", "2.00", "9"),
        ]


@pytest.mark.long
def test_all_cores():
    tallies, wrong = attack.attack_by_all_cores(seed=0, seconds=2, workers=2)
    assert not wrong
    assert sum(tally.mutants for tally in tallies.values()) > 2
    assert "all" in attack.shown(tallies)


@pytest.mark.long
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
