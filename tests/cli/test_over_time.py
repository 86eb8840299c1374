"""diagnose --by and report --by: agreement over time in every output, and what is refused."""

import json

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.cli.running import USAGE
from beyondchance.diagnosis.periods import Change
from beyondchance.reporting.commands.diagnose import change_sentence
from refusals import assert_tells

ROUNDS = tuple(f"rounds/{name}.conll" for name in ("ada", "ben", "cleo"))
HOSTILE = "</script><b>\u202e"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of two annotators over four weeks, who agree less in the last two."""
    monkeypatch.chdir(tmp_path)

    def write(names=("ada", "ben"), name="work.csv"):
        rows = ["document,annotator,start,end,label,length,date,batch"]
        for i in range(40):
            day = f"2024-02-{1 + 7 * (i // 10):02}"
            for who, start in zip(
                names, (0, 2 * (i % 20 == 0 or (i >= 20 and i % 4 > 0))), strict=True
            ):
                rows.append(f"d{i},{who},{start},{start + 1},P,4,{day},{HOSTILE}")
        (tmp_path / name).write_text("\n".join(rows), "utf-8")
        return name

    return write


def out(capsys, *words):
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_json_has_what_python_has(printed, worked_example):
    found = printed("diagnose", *ROUNDS, "--by", "round").data["periods"]
    corpus = bc.read(*(worked_example / path for path in ROUNDS))
    expected = bc.diagnose(corpus, by="round").periods
    assert found["periods"] == ["1", "2"] == list(expected.periods)
    for key in ("corrected", "n_documents"):
        rows = zip(expected.annotators, getattr(expected, key).tolist(), strict=True)
        assert found[key] == dict(rows)
    assert (found["field"], found["n_undated"]) == ("round", 0)
    assert found["n_tested"] == expected.n_tested


def test_nothing_of_it_unless_asked(printed):
    assert "periods" not in printed("diagnose", *ROUNDS).data


def test_the_weeks_of_a_table(table, capsys):
    text = out(capsys, "diagnose", table(), "--by", "week")
    assert_tells(text, "by week … 2024-W05 … 2024-W06 … 2024-W07 … 2024-W08")
    assert_tells(text, "ada or ben agrees less … since 2024-W07 … of two it is not … changed")
    found = json.loads(out(capsys, "diagnose", "work.csv", "--by", "week", "--output", "json"))
    (change,) = found["periods"]["changes"]
    assert (change["who"], change["since"]) == ("ada or ben", "2024-W07")
    assert (change["others_before"], change["others_after"]) == (None, None)
    gold = out(capsys, "diagnose", "work.csv", "--by", "week", "--gold", "ada")
    assert_tells(gold, "ben agrees less with ada since 2024-W07")


def test_months(table, capsys):
    assert_tells(out(capsys, "diagnose", table(), "--by", "month"), "by month … 2024-02 … 40")


def test_what_a_change_is_in_words():
    values = {"since": "2024-W07", "p_adjusted": 0.0004, "before": 0.81, "after": 0.52}
    assert change_sentence(Change(who="ben", others_before=0.8, others_after=0.79, **values)) == (
        "ben agrees less with the others since 2024-W07 (.810 → .520, the others .800 → .790; "
        "p = 0.0004)."
    )
    better = Change(**{**values, "who": "ben", "after": 0.9})
    assert_tells(change_sentence(better, "gold"), "ben agrees more with gold since … .810 → .900")


def test_lists_of_rows_have_no_place_for_it(table, capsys):
    assert main(["diagnose", table(), "--by", "week", "--output", "csv"]) == USAGE
    assert_tells(capsys.readouterr().err, "--by … csv")


@pytest.mark.parametrize("command", ["diagnose", "report"])
def test_bad_fields_are_refused_in_one_sentence(command, table, capsys):
    assert main([command, table(), "--by", "round"]) != 0
    (line,) = capsys.readouterr().err.strip().splitlines()[-1:]
    assert_tells(line, "'round' … 'date' … column")


@pytest.mark.parametrize("command", ["diagnose", "report"])
def test_no_dates_are_answered_with_where_they_come_from(command, worked_example, capsys):
    assert main([command, *(str(worked_example / path) for path in ROUNDS), "--by", "week"]) != 0
    *_, line = capsys.readouterr().err.strip().splitlines()
    assert_tells(line, "date … Label Studio, Prodigy, INCEpTION … 'date'")


def test_files_read_in_parts_are_refused(table, capsys):
    assert main(["report", table(), "--by", "week", "--unit", "corpus", "-o", "-"]) != 0
    assert_tells(capsys.readouterr().err, "--by week")


def test_hostile_values_stay_text(table, capsys):
    page = out(capsys, "report", table(), "--by", "batch", "-o", "-", "-q")
    assert HOSTILE not in page
    assert "</script><b>" not in page
