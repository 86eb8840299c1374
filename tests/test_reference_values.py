"""The reference values: the page shows the table, and the table is that of the declared corpora."""

import math

import pytest

from beyondchance.settings import Settings
from reference_values import (
    CORPORA,
    FIELDS,
    OUTPUT,
    TABLES,
    citation,
    joined,
    pages,
    read_rows,
    runs,
    tagged,
)

ROWS = read_rows()


def test_the_page_shows_the_table():
    page = (OUTPUT.with_suffix(".md")).read_text("utf-8")
    for name, text in pages(list(ROWS.values())).items():
        path = TABLES / f"reference-values-{name}.md"
        assert path.read_text("utf-8") == text
        assert f"_static/{path.name}" in page


def test_the_table_is_that_of_the_declared_corpora():
    assert list(ROWS) == [source.name for source in CORPORA]
    for source in CORPORA:
        row = ROWS[source.name]
        assert list(row) == FIELDS
        declared = (
            "repository",
            "commit",
            "files",
            "language",
            "task",
            "annotators",
            "licence",
            "read_as",
        )
        assert [row[name] for name in declared] == [getattr(source, name) for name in declared]
        assert len(source.commit) == 40


@pytest.mark.parametrize("name", ROWS)
def test_each_row_is_possible(name):
    row = ROWS[name]
    settings = Settings.parse(row["signature"])
    assert str(settings) == row["signature"]
    assert f"unit:{row['unit']}" in row["signature"]
    assert int(row["raters"]) >= 2 <= int(row["documents"])
    for score in ("token", "exact"):
        assert float(row[score]) <= float(row[f"{score}_observed"]) <= 1
    for score in ("skill", "skill_exact", "kappa", "alpha", "nominal_alpha", "gamma"):
        # What is missing has a reason.
        assert (
            math.isfinite(float(row[score]))
            if row[score]
            else score.split("_")[0] in row["missing"]
        )
    assert row["signature"] in citation(row)


def test_there_are_enough_of_each_kind():
    rows = ROWS.values()
    assert len({row["repository"] for row in rows}) >= 14
    assert sum(int(row["raters"]) >= 3 for row in rows) >= 5
    assert len({row["language"] for row in rows}) >= 4


def test_spans_of_tags_and_marks():
    assert tagged(["B-X", "I-X", "B-X", "O", "S-Y", "B-Y", "E-Y"]) == [
        (0, 2, "X"),
        (2, 3, "X"),
        (4, 5, "Y"),
        (5, 7, "Y"),
    ]
    assert runs([0, 1, 1, 0, 1], "X") == [(1, 3, "X"), (4, 5, "X")]


def test_spans_of_one_label_that_overlap_or_cut_one_word_are_joined():
    text = "one twofold thing"
    assert joined(text, [(0, 3, "X"), (4, 7, "X"), (7, 11, "X"), (5, 6, "Y")]) == [
        (0, 3, "X"),
        (4, 11, "X"),
        (5, 6, "Y"),
    ]
    assert joined(tuple(text.split()), [(0, 2, "X"), (1, 3, "X")]) == [(0, 3, "X")]
    # Spans that touch between words stay.
    assert len(joined(text, [(0, 4, "X"), (4, 11, "X")])) == 2
