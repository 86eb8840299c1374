"""What was counted, saved and added; and runs that were interrupted."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance.errors import BeyondChanceError, FormatError
from beyondchance.io import saving, scanning
from beyondchance.results import counts as tables, packing, units
from beyondchance.scoring import answers
from large_tables import difficulty_digits, digits, parquet, ranking_digits, spans_table
from refusals import refused


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Let few rows make many parts."""
    monkeypatch.setattr(scanning, "ROWS_AT_A_TIME", 9)
    monkeypatch.setattr(scanning, "ROWS_OF_PIECE", 20)


@pytest.fixture(params=[8, 4096])
def most_documents(request, monkeypatch):
    """Both few documents, whose rows are kept, and many."""
    for module in (tables, units, answers):
        monkeypatch.setattr(module, "MOST_DOCUMENTS", request.param)
    monkeypatch.setattr(tables, "FEWEST_GROUPS", min(256, request.param // 4))


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
    """A table of five parts."""
    return parquet(tmp_path / "a.parquet", spans_table(3, 24, has_gaps=True), 4)


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """What was saved of a small table."""
    folder = tmp_path_factory.mktemp("counts")
    path = parquet(folder / "a.parquet", spans_table(3, 4, has_gaps=True), 7)
    bc.agreement(bc.scan(path), save_counts=folder / "x.counts")
    return (folder / "x.counts").read_bytes()


@pytest.fixture
def saved(tmp_path, counts):
    target = tmp_path / "x.counts"
    target.write_bytes(counts)
    return target


@pytest.mark.slow
@pytest.mark.usefixtures("most_documents")
def test_saved_counts_give_the_same(tmp_path):
    path = parquet(tmp_path / "a.parquet", spans_table(3, 11, has_gaps=True), 4)
    scan, target = bc.scan(path), tmp_path / "x.counts"
    whole = brief(bc.agreement(scan, save_counts=target))
    assert brief(bc.agreement(bc.scan(target))) == whole
    ranked = ranking_digits(bc.rank(scan, gold="ada", save_counts=target))
    assert ranking_digits(bc.rank(bc.scan(target), gold="ada")) == ranked
    hard = difficulty_digits(bc.difficulty(scan, save_counts=target))
    assert difficulty_digits(bc.difficulty(bc.scan(target))) == hard


@pytest.mark.slow
@pytest.mark.usefixtures("most_documents")
def test_saved_shares_add_in_any_order(tmp_path, path):
    whole = without_names(brief(bc.agreement(bc.scan(path))))
    targets = [tmp_path / f"{i}.counts" for i in range(1, 4)]
    for i, target in enumerate(targets, start=1):
        bc.agreement(bc.scan(path), part=f"{i}/3", save_counts=target)
    for order in list(permutations(targets))[::2]:
        found = without_names(brief(bc.agreement(bc.scan(*order))))
        for name in whole:
            # Which of two annotators is the first one is known of pairs, not of sums over them.
            if name not in {"contested", "genre", "expanded by_field"}:
                assert found[name] == whole[name], name


@pytest.mark.slow
def test_saved_counts_of_files_whose_documents_lie_between_each_other(tmp_path):
    rows = spans_table(4, 14, has_gaps=True)
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


def test_documents_in_two_files_are_refused(tmp_path, saved):
    other = tmp_path / "y.counts"
    other.write_bytes(saved.read_bytes())
    said = refusal(lambda: bc.agreement(bc.scan(saved, other)))
    assert "several" in said


def test_other_questions_are_refused_with_what_is_there(saved, tmp_path):
    with refused(bc.OptionError, "exact … agreement by token"):
        bc.agreement(bc.scan(saved), measure="exact")
    with refused(bc.OptionError, "rank … agreement by token"):
        bc.rank(bc.scan(saved), gold="ada")
    with refused(bc.OptionError, "agreement by token"):
        bc.agreement(bc.scan(saved), scope="unlabelled")
    path = parquet(tmp_path / "b.parquet", spans_table(3, 2))
    with refused(bc.OptionError, "saved counts … annotations"):
        bc.agreement(bc.scan(saved, path))


def test_damaged_files(saved):
    data = saved.read_bytes()
    middle = len(data) // 2
    damaged = {
        "cut": data[:-20],
        "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "of another version": data.replace(b"counts 3\n", b"counts 2\n", 1),
        "nothing but the beginning": data[:22],
        "of something else": packing.packed({"a": 1}),
    }
    for what, content in damaged.items():
        assert content != data, what
        saved.write_bytes(content)
        with refused(FormatError, "x.counts: … count again"):
            bc.agreement(bc.scan(saved))


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    path = parquet(tmp_path / "a.parquet", spans_table(3, 2))
    target = tmp_path / "x.counts"

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(saving.os, "replace", full)
    said = refusal(lambda: bc.agreement(bc.scan(path), save_counts=target))
    assert "no space" in said
    assert not target.exists()


# --- Interrupted runs -----------------------------------------------------------------


@pytest.mark.slow
def test_a_part_that_cannot_be_read_is_named(tmp_path, path):
    rows = spans_table(3, 24, has_gaps=True)
    bad = next(i for i in range(40, len(rows)) if rows[i]["start"] is not None)
    rows[bad] = {**rows[bad], "end": 999}
    parquet(Path(path), rows, 4)
    target = tmp_path / "x.counts"
    assert len(scanning.pieces_of(bc.scan(path))) > 2
    with refused(bc.SpanError, f":{bad + 1}: … 999"):
        bc.agreement(bc.scan(path), save_counts=target)
    assert not target.exists()
