"""Mistakes that are read without complaint: a sentence about each, before all other notes."""

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.messages import COMMAND_LINE
from each import each
from refusals import assert_notes, assert_tells, refused


def told(corpus):
    return [note for note in corpus.notes if note.is_hint]


def corpus_of(**labels):
    """Annotators who mark the first word of each sentence with a label of their own."""
    size = max(map(len, labels.values()))
    tags = {
        who: [[f"B-{own[i]}" if i < len(own) else "O", "O"] for i in range(size)]
        for who, own in labels.items()
    }
    return bc.corpus(tags)


@each(
    ("ada", "ben", "pair"),
    [
        (["PER", "LOC"], ["PERSON", "LOC"], "'PER/PERSON'"),
        (["Insult"], ["Insu"], "'Insu/Insult'"),
        (["Insult"], ["Insullt"], "'Insullt/Insult'"),
        (["Insult"], ["Imsult"], "'Imsult/Insult'"),
        (["Threat"], ["threat"], "'Threat/threat'"),
        # Case is never meant, whoever uses it.
        (["LOC", "Loc"], ["LOC", "Loc"], "'LOC/Loc'"),
    ],
)
def test_labels_that_are_alike(ada, ben, pair):
    assert_notes(told(corpus_of(ada=ada, ben=ben)), f"one label … {pair}")


@each(
    ("ada", "ben"),
    [
        (["LOC"], ["ORG"]),
        (["B"], ["C"]),
        (["Date"], ["Rate"]),
        (["PE"], ["PER"]),
        # Both are used by somebody.
        (["LOC", "LOCderiv"], ["LOC"]),
        (["Insult", "Insulted"], ["Insult", "Insulted"]),
        # A part of another, and numbers.
        (["loc"], ["loc-city"]),
        (["rs"], ["rs[work]"]),
        (["level1"], ["level2"]),
        (["GO:0005"], ["GO:0006"]),
        (["C_DISEASE"], ["D_DISEASES"]),
    ],
)
def test_other_labels_are_not_alike(ada, ben):
    assert told(corpus_of(ada=ada, ben=ben)) == []


def test_one_annotator_and_many_labels():
    assert told(corpus_of(ada=["PER", "PERSON"])) == []
    many = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}name" for i in range(60)]
    assert told(corpus_of(ada=many[:30], ben=many[30:])) == []


def test_words_that_are_read_as_tags(tmp_path):
    words = [f"{chr(97 + i)}word" for i in range(24)]
    path = tmp_path / "a.conll"
    path.write_text("\n".join(f"{word} O" for word in words))
    corpus = bc.read(path, columns="token=1,tag=1", scheme="IO")
    assert_notes(told(corpus), "24 labels … tokens … words … tags")
    few = [["B-X", "B-Y", "B-Z"]]
    assert told(bc.corpus(few, few)) == []


@each("repair", ["conlleval", "discard"])
def test_a_scheme_that_needs_many_repairs(repair):
    good = ["B-X", "I-X", "O"] * 20
    assert told(bc.corpus([good], [good], repair=repair)) == []
    # 3 of 77 tags are less than a twentieth; 4 of 76 are more.
    for n, wanted in ((3, []), (4, ["4 of … break … scheme"])):
        bad = ["O", "I-X", "O"] * n + ["B-X", "I-X", "O"] * (20 - n)
        corpus = bc.corpus([good], [bad], repair=repair)
        assert corpus.skipped == {f"tags repaired by {repair}": n}
        assert_notes(told(corpus), *wanted)


def test_hints_of_files_come_first_in_both_voices(tmp_path, capsys):
    for name, tag in (("ada", "I-PER"), ("ben", "B-PERSON")):
        (tmp_path / f"{name}.conll").write_text(f"Ada {tag}\nsat O\nand B-X\nran I-Y\n")
    paths = [str(tmp_path / f"{name}.conll") for name in ("ada", "ben")]
    corpus = bc.read(*paths)
    assert [note.is_hint for note in corpus.notes[:3]] == [True, True, False]
    assert_tells(corpus.notes[0], "PER/PERSON")
    assert corpus.notes[1].spoken(COMMAND_LINE).endswith("--scheme")
    assert "PER" not in corpus.notes[0].spoken(COMMAND_LINE.without_quotes())
    assert main(["agree", *paths]) == 0
    shown = capsys.readouterr().err.splitlines()
    assert "PER/PERSON" in shown[0]
    assert "--scheme" in shown[1]
    assert "read as conll" in shown[2]


def test_a_start_behind_its_end(tmp_path):
    table = tmp_path / "spans.csv"
    table.write_text("document,annotator,start,end,label,length\n1,a,7,3,X,10\n1,b,7,3,X,10\n")
    with refused(bc.SpanError, "spans.csv:2: … [7, 3) 'X' … start … end … swapped"):
        bc.read(table)
    with refused(bc.SpanError, "[7, 3) 'X' … swapped"):
        bc.corpus([[(7, 3, "X")]], [[(3, 7, "X")]], texts=["Ada sat in Oslo."])


@pytest.mark.usefixtures("by_characters")
def test_refused_things_are_counted(tmp_path):
    text = "Ada and Bo Lund, Cy and Di Holt, Em."
    for name in ("ada", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_text(text)
        marks = ["T1\tPER 0 3;11 15\tAda Lund", "T2\tPER 17 19;27 31\tCy Holt", "T3\tPER 33 35\tEm"]
        (tmp_path / name / "1.ann").write_text("\n".join(marks) + "\n")
    paths = [tmp_path / "ada", tmp_path / "ben"]
    with refused(
        bc.SpanError,
        "1.ann:1: … 2 … fragments … first of 4 … discontinuous='join'",
        use="discontinuous",
    ) as caught:
        bc.read(*paths, strict="discontinuous")
    assert "--discontinuous join" in caught.value.spoken(COMMAND_LINE)
    corpus = bc.read(*paths, discontinuous="join")
    assert corpus.spans("1", "ada") == [(0, 15, "PER"), (17, 31, "PER"), (33, 35, "PER")]
    assert corpus.skipped == {"discontinuous spans joined": 4}


def test_labels_without_prefixes_are_asked_about_once(tmp_path):
    for name in ("ada", "ben"):
        (tmp_path / f"{name}.conll").write_text("Ada PER\nLund PER\nin O\nOslo LOC\n")
    paths = [tmp_path / "ada.conll", tmp_path / "ben.conll"]
    with refused(
        bc.TagError, "ada.conll:1: … 'PER' … prefix … scheme='IO'", use="scheme"
    ) as caught:
        bc.read(*paths)
    said = caught.value.spoken(COMMAND_LINE)
    assert said.count("--scheme IO") == 1
    assert "ben" not in said
    corpus = bc.read(*paths, scheme="IO")
    assert corpus.spans("1", "ben") == [(0, 2, "PER"), (3, 4, "LOC")]
    tags = [["PER", "PER", "O", "LOC"]]
    with refused(bc.TagError, "'PER' … prefix … scheme='IO'"):
        bc.corpus(tags, tags)
    assert bc.corpus(tags, tags, scheme="IO").span_end.tolist() == [2, 4, 2, 4]
    rows = [{"tokens": ["a", "b", "c", "d"], "ner_tags": tags[0]}]
    with refused(bc.TagError, "'PER' … prefix … scheme='IO'"):
        bc.read(rows)
    assert bc.read(rows, scheme="IO").span_end.tolist() == [2, 4]
