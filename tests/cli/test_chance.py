"""``--chance shapes``: what the shapes of words give away, next to uniform chance."""

import csv
import io
import json
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from refusals import refused

pytestmark = pytest.mark.usefixtures("example")
FILES = [f"example/{name}.conll" for name in ("ada", "ben", "cleo")]


def output(capsys, *arguments):
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def ranking(**options):
    return bc.rank(bc.read(*FILES), gold="ada", **options)


def test_rank_has_both_chances_and_skill(capsys):
    found = json.loads(output(capsys, "rank", *FILES, "--chance", "shapes", "--output", "json"))
    plain, informed = ranking(), ranking(chance="shapes")
    assert found["signature"].count("chance:uniform+shapes-1") == 1
    for system in found["systems"]:
        name = system["name"]
        assert system["chance"] == plain.systems[name].chance
        assert system["corrected"] == plain.systems[name].corrected
        assert system["chance_shapes"] == informed.systems[name].chance
        assert system["skill"] == informed.systems[name].corrected
        assert system["rank_skill"] == informed.ranks("corrected")[name]
    exact = {row["name"]: row for row in found["measures"]["exact"]}
    by_exact = ranking(measure="exact", chance="shapes")
    assert exact["ben"]["skill"] == by_exact.systems["ben"].corrected


def test_without_the_option_nothing_is_said_of_it(capsys):
    for form in ("text", "json", "csv"):
        assert "skill" not in output(capsys, "rank", *FILES, "--output", form)


def test_tables_and_csv(capsys):
    assert "skill" in output(capsys, "rank", *FILES, "--chance", "shapes")
    assert "skill" in output(capsys, "rank", *FILES, "--chance", "shapes", "--output", "latex")
    told = output(capsys, "rank", *FILES, "--chance", "shapes", "--output", "csv")
    rows = list(csv.DictReader(io.StringIO(told)))
    expected = ranking(chance="shapes").systems[rows[0]["system"]]
    assert float(rows[0]["skill"]) == expected.corrected


def test_changes_of_rank_are_tested_with_intervals(capsys, example):
    """Who marks all capitals is ahead by uniform chance, and behind by skill."""
    words = [
        ["Ada", "met", "Bo", "in", "the", "garden"],
        ["The", "tall", "man", "saw", "Cy", "there"],
    ]
    gold = [["B-P", "O", "B-P", "O", "O", "O"], ["B-P", "I-P", "I-P", "O", "B-P", "O"]]
    capitals = [["B-P", "O", "B-P", "O", "O", "O"], ["B-P", "O", "O", "O", "B-P", "O"]]
    nouns = [["O", "O", "B-P", "O", "O", "O"], ["B-P", "I-P", "I-P", "O", "O", "O"]]
    for name, rows in {"gold": gold, "capitals": capitals, "nouns": nouns}.items():
        texts = [
            "".join(f"{word}\t{tag}\n" for word, tag in zip(text, tags, strict=True))
            for text, tags in zip(words * 10, rows * 10, strict=True)
        ]
        (example / f"{name}.conll").write_text("\n".join(texts), encoding="utf-8")
    files = [f"{name}.conll" for name in ("gold", "capitals", "nouns")]
    asked = ("--chance", "shapes", "--repeated", "documents")
    told = output(capsys, "rank", *files, *asked)
    assert "nouns is ahead of capitals," in " ".join(told.split())
    tested = output(capsys, "rank", *files, *asked, "--confidence", "0.95")
    assert "nouns is ahead of capitals (significant, p" in " ".join(tested.split())


def test_agree_adds_a_table(capsys):
    asked = ("agree", *FILES, "--chance", "shapes")
    assert "what the shapes of words give away" in output(capsys, *asked)
    found = json.loads(output(capsys, *asked, "--output", "json"))
    corpus = bc.read(*FILES)
    assert [row["measure"] for row in found["sensitivity"]] == ["token", "exact"]
    for row in found["sensitivity"]:
        assert row["chance_by"] == "shapes"
        expected = bc.agreement(corpus, measure=row["measure"], chance="shapes")
        assert (row["chance"], row["corrected"]) == (expected.chance, expected.corrected)
    assert found["corrected"] == bc.agreement(corpus).corrected


def test_what_is_refused(capsys):
    for command in ("agree", "rank"):
        assert main([command, *FILES, "--chance", "shapes", "--methods"]) == 2
        assert "uniform chance" in capsys.readouterr().err
    assert main(["agree", *FILES, "--chance", "shapes", "--measure", "dice"]) == 2
    assert "token, exact, boundary" in capsys.readouterr().err
    assert main(["rank", *FILES, "--chance", "shapes", "--workers", "2"]) == 2
    assert "all documents at once" in capsys.readouterr().err
    assert main(["rank", *FILES, "--chance", "shapes", "--positions", "characters"]) == 1
    assert "positions are characters" in capsys.readouterr().err


def test_replace_has_the_same_test_by_skill(capsys):
    asked = ("replace", *FILES, "--model", "cleo", "--chance", "shapes")
    found = json.loads(output(capsys, *asked, "--output", "json"))
    by_skill = bc.replacement(bc.read(*FILES), model="cleo", chance="shapes")
    plain = bc.replacement(bc.read(*FILES), model="cleo")
    assert found["signature"].count("chance:uniform+shapes-1") == 1
    assert found["models"][0]["mean"]["human"] == plain.mean.human
    assert found["skill"][0]["human"] == by_skill.mean.human < plain.mean.human
    assert found["skill"][0]["verdict"] == by_skill.verdict
    assert "what the shapes of words give away" in output(capsys, *asked)
    assert "skill" not in output(capsys, *asked[:-2])


def test_a_copy_has_as_much_skill_as_the_person(tmp_path):
    (tmp_path / "copy.conll").write_bytes(Path(FILES[2]).read_bytes())
    corpus = bc.read(*FILES, tmp_path / "copy.conll")
    found = bc.replacement(corpus, model="copy", chance="shapes")
    assert found.by_human["cleo"].difference == 0
    assert found.settings.chance == "shapes-1"


def test_the_page_of_a_ranking_has_skill():
    corpus = bc.read(*FILES).with_gold("ada")
    page = bc.report(corpus, chance="shapes", resamples=99).html
    found = bc.rank(corpus, chance="shapes")
    assert f"{found.systems['ben'].corrected:.3f}" in page
    assert "by skill" in page
    assert "skill" not in bc.report(corpus, resamples=99).html
    with refused(bc.OptionError, "chance … rankings", use="chance"):
        bc.report(bc.example(), chance="shapes")
