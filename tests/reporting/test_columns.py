"""A column is declared once and appears in every output, and in the schema."""

import json
from importlib.resources import files
from math import nan

import jsonschema
import pytest

import beyondchance as bc
from beyondchance.reporting.columns import (
    COUNT,
    CSV,
    FIGURE,
    JSON,
    TEXT,
    Column,
    Group,
    data_of,
    flat_of,
    many,
    maybe,
    named,
    schema_of,
    table_of,
)
from beyondchance.reporting.commands import rank
from beyondchance.reporting.rendering import rendered
from beyondchance.reporting.results import report_of
from beyondchance.reporting.schema import schema

SHIPPED = json.loads((files("beyondchance") / "resources" / "schema.json").read_text("utf-8"))
TOY = Column("letters", COUNT, "letters of the name", lambda row: 1000 + len(row.shown))


@pytest.fixture
def with_toy(monkeypatch):
    """A ranking with one more column: what one line in its declaration would do."""
    columns = rank.SYSTEM.columns
    place = columns.index(rank.RANKS[-1]) + 1
    monkeypatch.setattr(rank, "RANKS", (*rank.RANKS, TOY))
    columns.insert(place, TOY)
    yield
    columns.remove(TOY)


@pytest.mark.usefixtures("with_toy")
def test_a_column_added_to_rank_is_in_every_output():
    report = report_of(bc.rank(bc.example(), gold="ada"))
    shown = {form: rendered(report, form) for form in ("text", "markdown", "latex", "html")}
    for form, text in shown.items():
        assert "letters" in text, form
        # ben and cleo.
        assert {"1,003", "1,004"} <= {*text.replace("{,}", ",").replace("$", " ").split()} or (
            form == "html" and ">1,003<" in text
        ), form
    data = json.loads(rendered(report, "json"))
    assert {row["name"]: row["letters"] for row in data["systems"]} == {"ben": 1003, "cleo": 1004}
    head, *rows = rendered(report, "csv").splitlines()
    place = head.split(",").index("letters")
    assert {row.split(",")[place] for row in rows} == {"1003", "1004"}
    assert {row["letters"] for row in report.rows} == {1003, 1004}
    made = schema()["$defs"]["system"]
    assert made["properties"]["letters"] == {
        "type": "integer",
        "minimum": 0,
        "description": "letters of the name",
    }
    assert "letters" in made["required"]


def test_the_schema_that_ships_is_made_from_the_columns():
    assert schema() == SHIPPED, "run python docs/pages.py"


ROW = {"name": "ada", "score": nan, "reason": None, "sizes": {"a": 1, "b": 2}, "parts": [{"n": 3}]}
COLUMNS = [
    Column("name", TEXT, heading="who"),
    Column("score", FIGURE, interval=lambda _: (0.25, 0.5)),
    Column("reason", TEXT, is_optional=True),
    Column("sizes", Group("", [Column("a", COUNT), Column("b", COUNT)]), outputs=JSON | CSV),
    Column("parts", many(Group("part", [Column("n", COUNT)])), outputs=JSON),
]


def test_outputs_of_a_row():
    assert data_of(ROW, COLUMNS) == {key: value for key, value in ROW.items() if key != "reason"}
    assert flat_of(ROW, COLUMNS) == {"name": "ada", "score": ROW["score"], "a": 1, "b": 2}
    settings = bc.agreement(bc.example()).settings.replaced(confidence=0.95)
    table = table_of([ROW], COLUMNS, settings=settings, score="corrected")
    assert table.headings == ["who", "corrected", "95 %"]
    assert table.rows[0][0] == "ada"
    assert table.rows[0][2][:2] == (0.25, 0.5)
    assert table_of([ROW], COLUMNS).headings == ["who", "score"]


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({}, True),
        ({"reason": "why"}, True),
        ({"score": 0.5}, True),
        ({"score": "high"}, False),
        ({"name": None}, False),
        ({"sizes": {"a": -1, "b": 2}}, False),
        ({"sizes": {"a": 1}}, False),
        ({"parts": [{"n": 3, "m": 4}]}, False),
        ({"other": 1}, False),
    ],
)
def test_the_schema_of_a_row(change, is_valid):
    defs = {}
    made = schema_of(Group("row", COLUMNS), defs)
    assert set(defs) == {"part"}
    plain = {**data_of(ROW, COLUMNS), "score": None, **change}
    valid = jsonschema.Draft202012Validator({**made, "$defs": defs})
    assert valid.is_valid(plain) == is_valid


def test_kinds_that_may_be_null():
    part = Group("part", [Column("n", COUNT)])
    assert maybe(named(part)).make(None) is None
    assert maybe(named(part)).make({"a": {"n": 1}}) == {"a": {"n": 1}}
    assert maybe(part).schema({}) == {"anyOf": [{"$ref": "#/$defs/part"}, {"type": "null"}]}
    assert maybe(TEXT).schema({}) == {"type": ["string", "null"]}
