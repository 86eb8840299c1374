"""What was counted, saved and added; and runs that were interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import permutations
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance.errors import BeyondChanceError
from beyondchance.io import saving, scanning
from beyondchance.results import totals
from beyondchance.scoring import answers, kept_parts, scans, stored
from large_tables import difficulty_digits, digits, parquet, ranking_digits, spans_table


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Let few rows make many parts."""
    monkeypatch.setattr(scanning, "ROWS_AT_A_TIME", 9)
    monkeypatch.setattr(scanning, "ROWS_OF_PART", 20)


@pytest.fixture(params=[8, 4096])
def most_documents(request, monkeypatch):
    """Both few documents, whose rows are kept, and many."""
    for module in (totals, answers):
        monkeypatch.setattr(module, "MOST_DOCUMENTS", request.param)
    monkeypatch.setattr(totals, "FEWEST_GROUPS", min(256, request.param // 4))


def brief(result):
    return digits(result, methods=("expanded",))


def without_names(found):
    """Notes name files, which are others."""
    return {**found, "notes": ()}


def refusal(made):
    with pytest.raises(BeyondChanceError) as caught:
        made()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def path(tmp_path):
    return parquet(tmp_path / "a.parquet", spans_table(3, 80, has_gaps=True), 7)


@pytest.fixture
def saved(tmp_path, path):
    target = tmp_path / "x.counts"
    bc.agreement(bc.scan(path), save_counts=target)
    return target


@pytest.mark.usefixtures("most_documents")
def test_saved_counts_give_the_same(tmp_path, path):
    scan, target = bc.scan(path), tmp_path / "x.counts"
    whole = brief(bc.agreement(scan, save_counts=target))
    assert brief(bc.agreement(bc.scan(target))) == whole
    assert not Path(f"{target}.parts").exists()
    ranked = ranking_digits(bc.rank(scan, gold="ada", save_counts=target))
    assert ranking_digits(bc.rank(bc.scan(target), gold="ada")) == ranked
    hard = difficulty_digits(bc.difficulty(scan, save_counts=target))
    assert difficulty_digits(bc.difficulty(bc.scan(target))) == hard


@pytest.mark.usefixtures("most_documents")
def test_saved_shares_add_in_any_order(tmp_path, path):
    whole = without_names(brief(bc.agreement(bc.scan(path))))
    targets = [tmp_path / f"{i}.counts" for i in range(1, 5)]
    for i, target in enumerate(targets, start=1):
        bc.agreement(bc.scan(path), part=f"{i}/4", save_counts=target)
    for order in list(permutations(targets))[::5]:
        found = without_names(brief(bc.agreement(bc.scan(*order))))
        for name in whole:
            # Which of two annotators is the first one is known of pairs, not of sums over them.
            if name not in {"contested", "genre", "expanded by_field"}:
                assert found[name] == whole[name], name


def test_saved_counts_of_files_whose_documents_lie_between_each_other(tmp_path):
    rows = spans_table(4, 40, has_gaps=True)
    names = list(dict.fromkeys(row["document"] for row in rows))
    halves = [[row for row in rows if names.index(row["document"]) % 2 == i] for i in (0, 1)]
    targets = []
    for i, half in enumerate(halves):
        own = parquet(tmp_path / f"{i}.parquet", half, 7)
        targets.append(tmp_path / f"{i}.counts")
        bc.agreement(bc.scan(own), save_counts=targets[-1])
    both = parquet(tmp_path / "both.parquet", halves[0] + halves[1], 7)
    found = without_names(brief(bc.agreement(bc.scan(*targets))))
    assert found == without_names(brief(bc.agreement(bc.scan(both))))


def test_documents_in_two_files_are_refused(tmp_path, path, saved):
    other = tmp_path / "y.counts"
    bc.agreement(bc.scan(path), save_counts=other)
    said = refusal(lambda: bc.agreement(bc.scan(saved, other)))
    assert "a document is in several of the files" in said


def test_other_questions_are_refused_with_what_is_there(saved, path):
    said = refusal(lambda: bc.agreement(bc.scan(saved), measure="exact"))
    assert "no counts of agreement by exact" in said
    assert "found 'agreement by token'" in said
    assert "no counts of rank" in refusal(lambda: bc.rank(bc.scan(saved), gold="ada"))
    assert "no counts of agreement" in refusal(
        lambda: bc.agreement(bc.scan(saved), scope="unlabelled")
    )
    assert "one or the other" in refusal(lambda: bc.agreement(bc.scan(saved, path)))


@pytest.mark.parametrize("kind", ["cut", "flipped", "version", "foreign", "empty rest"])
def test_damaged_files(saved, kind):
    data = saved.read_bytes()
    if kind == "cut":
        saved.write_bytes(data[:-20])
    elif kind == "flipped":
        middle = len(data) // 2
        saved.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    elif kind == "version":
        saved.write_bytes(data.replace(b"counts 1\n", b"counts 2\n", 1))
    elif kind == "empty rest":
        saved.write_bytes(data[:22])
    else:
        saved.write_bytes(stored.packed({"a": 1}))
    said = refusal(lambda: bc.agreement(bc.scan(saved)))
    assert "x.counts" in said
    assert "count again" in said


def test_a_full_disk_leaves_nothing(tmp_path, path, monkeypatch):
    target = tmp_path / "x.counts"

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(saving.os, "replace", full)
    said = refusal(lambda: bc.agreement(bc.scan(path), save_counts=target))
    assert "no space left on device" in said
    assert not target.exists()


# --- Interrupted runs -----------------------------------------------------------------


@pytest.fixture
def counted_parts(monkeypatch):
    """The numbers of the parts that are counted."""
    numbers, count = [], scans.count
    monkeypatch.setattr(
        scans, "count", lambda job, part: numbers.append(part.number) or count(job, part)
    )
    return numbers


def test_parts_that_were_kept_are_not_counted_again(tmp_path, path, counted_parts):
    whole = brief(bc.agreement(bc.scan(path), keep_parts=tmp_path / "parts"))
    n_parts = len(scanning.parts_of(bc.scan(path)))
    assert set(counted_parts) == set(range(n_parts))
    counted_parts.clear()
    assert brief(bc.agreement(bc.scan(path), keep_parts=tmp_path / "parts")) == whole
    assert counted_parts == []
    damaged = max((tmp_path / "parts").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert brief(bc.agreement(bc.scan(path), keep_parts=tmp_path / "parts")) == whole
    assert len(counted_parts) == 1


@pytest.mark.parametrize("change", ["input", "options", "question", "version"])
def test_other_runs_are_not_mixed(tmp_path, path, counted_parts, monkeypatch, change):
    folder = tmp_path / "parts"
    bc.agreement(bc.scan(path), keep_parts=folder)
    counted_parts.clear()
    options = {}
    scan = bc.scan(path)
    if change == "input":
        parquet(Path(path), spans_table(4, 80, has_gaps=True), 7)
    elif change == "options":
        scan = bc.scan(path, empty="missing")
    elif change == "question":
        options = {"measure": "exact"}
    else:
        monkeypatch.setattr(kept_parts, "__version__", "0.0.0")
    found = brief(bc.agreement(scan, keep_parts=folder, **options))
    assert 0 in counted_parts
    assert found == brief(bc.agreement(scan, **options))


def test_a_part_that_cannot_be_read_is_named_and_others_are_kept(tmp_path, path):
    rows = spans_table(3, 80, has_gaps=True)
    bad = next(i for i in range(100, len(rows)) if rows[i]["start"] is not None)
    rows[bad] = {**rows[bad], "end": 999}
    parquet(Path(path), rows, 7)
    target, n_parts = tmp_path / "x.counts", len(scanning.parts_of(bc.scan(path)))
    said = refusal(lambda: bc.agreement(bc.scan(path), save_counts=target))
    assert f":{bad + 1}: span" in said
    assert f"1 of {n_parts} parts cannot be counted; {n_parts - 1} are kept" in said
    assert not target.exists()
    assert len(list(Path(f"{target}.parts").iterdir())) == n_parts - 1


RUN = """
import os, sys, time
from pathlib import Path
from beyondchance import agreement, scan
from beyondchance.io import scanning
from beyondchance.scoring import scans
scanning.ROWS_OF_PART, scanning.ROWS_AT_A_TIME = 20, 9
count = scans.count
def slowly(job, part):
    if part.number > 3:
        time.sleep(60)
    return count(job, part)
scans.count = slowly
agreement(scan(sys.argv[1]), save_counts=sys.argv[2])
"""


def test_a_run_that_was_killed_goes_on(tmp_path, path, counted_parts):
    target = tmp_path / "x.counts"
    run = subprocess.Popen([sys.executable, "-c", RUN, path, str(target)])
    folder, end = Path(f"{target}.parts"), time.monotonic() + 30
    try:
        while time.monotonic() < end and len(list(folder.glob("*.counts"))) < 3:
            time.sleep(0.05)
    finally:
        run.send_signal(signal.SIGKILL)
        run.communicate()
    kept = {int(file.name[:6]) for file in folder.glob("*.counts")}
    assert {0, 1, 2} <= kept
    found = brief(bc.agreement(bc.scan(path), save_counts=target))
    assert found == brief(bc.agreement(bc.scan(path), executor=map))
    assert counted_parts
    assert target.exists()
    assert not folder.exists()
