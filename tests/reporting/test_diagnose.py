"""What the report of a diagnosis shows: as much as is asked for, explained where it is shown."""

import re

from beyondchance import Corpus, diagnose, example, labelling
from beyondchance.reporting.blocks import Prose, Table
from beyondchance.reporting.commands.diagnose import diagnose_report, highlighted
from refusals import assert_tells

CAUSES = ("more overall", "more in some texts", "more of some labels", "elsewhere in the text")


def tables(found, **options):
    """The tables by the first words of their titles."""
    blocks = diagnose_report(found, **options).blocks()
    return {" ".join(b.title.split()[:2]): b for b in blocks if isinstance(b, Table)}


def test_examples_are_of_the_patterns_that_are_shown():
    found = diagnose(example())
    for top in (1, 3, 7, 10, 20, 0):
        shown = tables(found, top=top)
        patterns, examples = shown["what to"].rows, shown["examples of"].rows
        assert len(patterns) == (min(top, len(found.patterns)) or len(found.patterns))
        numbers = [row[0] for row in patterns[:5]]
        assert sorted({row[0] for row in examples}) == numbers, top
        assert not top or len(examples) <= top
    assert len(tables(found, top=3)["examples of"].rows) == 3
    assert len(tables(found, top=0)["examples of"].rows) > 10


def test_each_side_is_highlighted_where_it_marked():
    for found in (diagnose(example()), diagnose(example(), gold="ada")):
        for case in (case for pattern in found.patterns for case in pattern.examples):
            pieces = highlighted(case)
            shown = "".join(text for text, _ in pieces)
            assert shown.strip("…") in f"{case.content}"
            for side, place in (("own", case.own_characters), ("theirs", case.their_characters)):
                lit = "".join(text for text, whose in pieces if side in whose.split())
                assert lit == (case.content[slice(*place)] if place else "")


def test_without_texts_offsets_are_highlighted():
    marked = {"ada": [[(0, 2, "P")]] * 6, "ben": [[]] * 6}
    (pattern,) = diagnose(Corpus.from_spans(marked, lengths=[9] * 6)).patterns
    assert highlighted(pattern.examples[0]) == [
        ("0-2 P", "own"),
        (" ", ""),
        ("nothing", "theirs"),
    ]


def test_legends_explain_what_is_shown():
    article = {"ada": [[(0, 2, "P")]] * 6, "ben": [[(1, 2, "P")]] * 6, "cleo": [[(1, 2, "Q")]] * 6}
    divided = {"ada": [[(0, 4, "P")]] * 6, "ben": [[(0, 2, "P"), (2, 4, "Q")]] * 6}
    for sides in (article, divided):
        found = diagnose(Corpus.from_spans(sides, lengths=[9] * 6))
        table = tables(found)["disagreements by"]
        explained = re.findall(r"(?:^\(|; )([a-z ]+):", table.remark)
        assert explained
        assert set(explained) <= set(table.headings), explained
    missed = {"ada": [[(0, 2, "P")]] * 6, "ben": [[(0, 2, "P")]] * 6, "cleo": [[]] * 6}
    remark = tables(diagnose(Corpus.from_spans(missed, lengths=[9] * 6)))["examples of"].remark
    assert "{ }" in remark
    assert "[ ]" not in remark


def test_causes_have_one_name_everywhere():
    found = diagnose(example())
    shown = tables(found)
    for row, cause in zip(shown["where the"].rows, CAUSES, strict=True):
        assert row[0].startswith(f"one marks {cause}")
    short = shown["what each"].headings[2:]
    assert all(name in cause for name, cause in zip(short, CAUSES, strict=True))
    assert tuple(found.to_dict()["loss"]) == CAUSES


def test_exchanged_labels_do_not_contradict_labelling():
    # Both find a place and label it alike; elsewhere each marks something else.
    sides = {
        "ada": [[(0, 2, "P"), (4, 6, "P")], [(0, 2, "Q")]] * 4,
        "ben": [[(0, 2, "P"), (8, 10, "Q")], [(0, 2, "Q")]] * 4,
    }
    corpus = Corpus.from_spans(sides, lengths=[12] * 8)
    found = diagnose(corpus)
    assert found.loss["more of some labels"] > 0
    assert labelling(corpus).labelling.corrected == 1
    remark = tables(found)["where the"].remark
    assert_tells(remark, "labels within a text … amounts … labels at places both found … same")
    same = {"ada": sides["ada"], "ben": [[(0, 2, "P")], [(0, 2, "Q")]] * 4}
    for other, options in ((corpus, {"scope": "unlabelled"}), (same, {})):
        given = other if other is corpus else Corpus.from_spans(other, lengths=[12] * 8)
        assert "labels" not in tables(diagnose(given, **options))["where the"].remark


def test_times_are_of_one_person():
    # Ben overlooks the first place, ada the second now and then, cleo and dora nothing.
    both, first, second = [(0, 1, "P"), (4, 5, "P")], [(0, 1, "P")], [(4, 5, "P")]
    sides = {
        "ada": [first] * 3 + [both] * 9,
        "ben": [second] * 12,
        "cleo": [both] * 12,
        "dora": [both] * 12,
    }
    found = diagnose(Corpus.from_spans(sides, lengths=[9] * 12))
    table = tables(found)["what to"]
    column = table.headings.index("others each")
    habit = table.rows[0]
    assert (habit[column - 1].text, habit[column].text, habit[-1]) == ("12", "1", "ben")
    sides["ben"] = [both] * 3 + [second] * 3 + [both] * 6
    sides["cleo"] = [both] * 6 + [second] * 3 + [both] * 3
    shared = tables(diagnose(Corpus.from_spans(sides, lengths=[9] * 12)))["what to"].rows[0]
    assert (shared[column - 1].text, shared[column].text, shared[-1]) == ("3 each", "0", "several")


def test_the_first_sentence_names_the_first_pattern():
    found = diagnose(example())
    said = [block.text for block in diagnose_report(found).blocks() if isinstance(block, Prose)]
    assert_tells(said[1], f"0.7181 … 0.2819 … {found.patterns[0].sentence.partition(':')[0]}")
