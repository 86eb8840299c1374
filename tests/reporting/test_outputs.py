"""The five outputs: what they escape, how they round, and that two ways to text agree."""

import csv
import io
import json
from dataclasses import replace
from itertools import product
from math import nan

import pytest
from hypothesis import given, strategies as st
from rich import box
from rich.console import Console
from rich.table import Table as Grid

from beyondchance import OptionError, agreement, example
from beyondchance.messages import COMMAND_LINE, Note, Quote, Use
from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import Prose, Report, Table, cell_text
from beyondchance.reporting.commands.agree import agree_report
from beyondchance.reporting.escaping import visible
from beyondchance.reporting.outputs import text
from beyondchance.reporting.rendering import OUTPUTS, rendered
from refusals import refused

HOSTILE = "a|b_c$d&e#f%g{h}~i^j\\k<l>[m](n)`o`*p*\x1b[31m\nq\u202er"


def report_of(*blocks, data=None, rows=()):
    return Report(
        command="agree",
        make_blocks=lambda: blocks,
        make_data=lambda: data or {},
        make_rows=lambda: rows,
    )


class TestOnDemand:
    """Only what an output shows is made."""

    def test_nothing_else_is_made(self):
        def refuse():
            raise AssertionError

        made = dict.fromkeys(("text", "markdown", "latex"), "make_blocks")
        made |= {"json": "make_data", "csv": "make_rows", "jsonl": "make_rows"}
        for output, maker in made.items():
            makers = dict.fromkeys(("make_blocks", "make_data", "make_rows"), refuse)
            makers[maker] = dict if maker == "make_data" else tuple
            assert isinstance(rendered(Report(command="agree", **makers), output), str), output

    def test_agree_makes_no_tables_for_json(self, monkeypatch):
        def refuse(*_, **__):
            raise AssertionError

        corpus = example()
        results = {measure: agreement(corpus, measure=measure) for measure in ("token", "exact")}
        report = agree_report(results, corpus)
        monkeypatch.setattr("beyondchance.reporting.breakdown.table_of", refuse)
        assert json.loads(rendered(report, "json"))["corrected"] == results["token"].corrected
        assert rendered(report, "csv").startswith("level,name,measure,")
        with pytest.raises(AssertionError):
            rendered(report, "text")


class TestVoices:
    """Options are spelled as the reader spells them, and data is quoted only if it may be."""

    TEXT = ("label ", Quote("X"), ": use ", Use("interval_method", "expanded"))

    def test_sentences(self):
        report = report_of(Prose(self.TEXT))
        for output in ("text", "markdown", "latex"):
            assert "label 'X'" in rendered(report, output), output
            found = rendered(report, output, voice=COMMAND_LINE.without_quotes())
            assert "label …: use --interval-method expanded" in found, output

    def test_notes_in_json(self):
        report = Report(command="agree", corpus=example(), notes=(Note(self.TEXT, where="a.csv"),))
        (note,) = json.loads(rendered(report, "json", voice=COMMAND_LINE))["notes"]
        assert note == "a.csv: label 'X': use interval_method='expanded'"
        hidden = rendered(report, "json", voice=COMMAND_LINE.without_quotes())
        assert json.loads(hidden)["notes"] == ["a.csv: label …: use interval_method='expanded'"]


def test_unknown_output():
    with refused(OptionError, "output 'pdf' … text, json"):
        rendered(report_of(), "pdf")


class TestHostileNames:
    REPORT = report_of(
        Prose(HOSTILE), Prose(HOSTILE, quiet=True),
        Table(("name", HOSTILE), [(HOSTILE, 1)], HOSTILE, HOSTILE),
    )  # fmt: skip

    def test_nothing_moves_the_cursor(self):
        for output, width in product(("text", "markdown", "latex"), (None, 60)):
            found = rendered(self.REPORT, output, width=width)
            assert not any(character in found for character in "\x1b\u202e\r\x07"), (output, width)

    def test_markdown_stays_one_table(self):
        table = rendered(report_of(Table(("name", "n"), [(HOSTILE, 1)])), "markdown")
        assert len(table.strip().splitlines()) == 3
        assert r"a\|b\_c\$d" in table

    def test_latex_is_escaped(self):
        table = rendered(report_of(Table(("name",), [(HOSTILE,)])), "latex")
        assert r"a\textbar{}b\_c\$d\&e\#f\%g\{h\}\textasciitilde{}i" in table
        assert r"\textasciicircum{}j\textbackslash{}k\textless{}l\textgreater{}{[}m{]}" in table

    def test_a_row_is_no_option_of_the_row_before(self):
        # A double backslash takes a star and a length in brackets.
        for name in ("[3cm]", "*"):
            rows = rendered(report_of(Table(("name",), [("x",), (name,)])), "latex").splitlines()
            assert rows[rows.index(r"x \\") + 1].startswith("{"), name

    def test_sentences_in_latex_are_comments(self):
        lines = rendered(report_of(Prose("one\ntwo"), Prose(HOSTILE)), "latex").splitlines()
        assert all(line.startswith("%") for line in lines if line)

    def test_markup_of_rich_is_text(self):
        assert "[red]x[/red]" in rendered(report_of(Prose("[red]x[/red]")), "text", width=40)

    def test_csv_holds_no_formulas(self):
        for start in "=+-@\t\r":
            evil = f"{start}HYPERLINK(A1)"
            rows = [{"name": evil, evil: -0.5, "n": -3, "note": f"a{evil}", "change": "="}]
            text = rendered(report_of(rows=rows), "csv")
            headings, cells = csv.reader(io.StringIO(text))
            for cell in (headings[1], cells[0]):
                assert cell.lstrip("'")[0] not in "=+-@\t\r" or cell == f"'{evil}"
            if start in "=+-@":
                assert cells[0] == headings[1] == f"'{evil}"
            assert cells[1:3] == ["-0.5", "-3"]
            assert cells[3][0] == "a"
            assert cells[4] == "="

    def test_json_stays_as_it_is(self):
        found = json.loads(rendered(report_of(data={"name": "=1+1"}), "json"))
        assert found["name"] == "=1+1"

    def test_csv_without_rows_has_a_heading(self):
        report = replace(report_of(), signature="beyondchance|measure:token")
        assert rendered(report, "csv") == "signature\n"

    def test_csv_is_quoted(self):
        text = rendered(report_of(rows=[{"name": 'a,"b"\nc', "n": 0.5}, {"n": nan}]), "csv")
        assert list(csv.reader(io.StringIO(text))) == [["name", "n"], ['a,"b"\nc', "0.5"], ["", ""]]

    def test_json_has_null_for_undefined_and_plain_integers(self):
        data = json.loads(
            rendered(report_of(data={"x": nan, "y": [2.0, 0.1], "é": {"z": 1}}), "json")
        )
        assert (data["x"], data["y"], data["é"]) == (None, [2, 0.1], {"z": 1})
        assert (data["format"], data["command"]) == (2, "agree")


def drawn_by_rich(blocks, digits, width):
    """The lines of tables and sentences as Rich draws them."""
    text = io.StringIO()
    console = Console(file=text, width=width, highlight=False, markup=False, emoji=False)
    for number, block in enumerate(blocks):
        if number:
            console.print()
        if isinstance(block, Prose):
            console.print(block.text)
            continue
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for heading, is_left in zip(block.headings, block.left, strict=True):
            grid.add_column(heading, justify="left" if is_left else "right")
        for row in block.rows:
            grid.add_row(*(visible(cell_text(cell, digits)) for cell in row))
        console.print(block.title)
        console.print(grid)
    return [line.rstrip() for line in text.getvalue().splitlines()]


class TestText:
    TABLE = Table(
        ("name", "share", "n", "change"), [("ada", 0.5, 1200, "▲ 2"), ("b", nan, 3, "=")], "title"
    )

    def test_columns_of_numbers_stand_right(self):
        assert rendered(report_of(self.TABLE), "text", digits=2).splitlines() == [
            "title",
            "name   share       n   change",
            "─────────────────────────────",
            "ada     0.50   1,200      ▲ 2",
            "b          -       3        =",
        ]  # fmt: skip

    def test_colours_only_where_wanted(self):
        plain = rendered(report_of(self.TABLE), "text", width=80)
        assert "\x1b" not in plain
        coloured = rendered(report_of(self.TABLE), "text", width=80, colour=True)
        assert "\x1b[32m   ▲ 2\x1b[0m" in coloured

    @given(
        st.lists(
            st.tuples(st.text("abc XYZé漢", max_size=12).map(str.strip), st.floats(-2, 2)),
            min_size=1, max_size=5,
        ),
        st.lists(st.text("abcde ", max_size=60), max_size=3),
    )  # fmt: skip
    def test_without_a_terminal_the_text_is_as_rich_would_draw_it(self, rows, sentences):
        blocks = [
            Table(("name", "value"), rows, "a title"),
            *map(Prose, filter(str.strip, sentences)),
        ]
        found = rendered(report_of(*blocks), "text")
        assert found.splitlines() == drawn_by_rich(blocks, 4, 100)

    def test_nothing_is_cut_off_where_it_does_not_fit(self):
        table = Table(("name", "one", "two", "three"), [("ada", 0.1, 0.2, 0.3)])
        narrow = rendered(report_of(table), "text", width=20, digits=8)
        assert all(part in narrow for part in ("ada", "0.10000000", "0.20000000", "0.30000000"))

    def test_sentences_are_folded_between_words_only(self):
        long = "x" * 30
        lines = rendered(report_of(Prose(f"a well-known {long} b")), "text", width=12)
        assert lines.splitlines() == ["a well-known", long, "b"]
        assert rendered(report_of(Prose("a well-known")), "text", width=9) == "a\nwell-known\n"

    def test_long_names_are_folded_and_numbers_are_not(self):
        name = "x" * 90
        lines = rendered(report_of(Table(("name", "value"), [(name, 0.25)])), "text", width=40)
        assert max(map(len, lines.splitlines())) <= 40
        assert lines.count("x") == 90
        assert "0.2500" in lines

    def test_wide_characters_are_folded_by_the_columns_that_they_take(self):
        name = "注釈" * 30
        shown = text.rendered([Table(("name", "value"), [(name, 0.25)])], digits=4, width=40)
        assert shown.count("注") == 30
        assert max(len(line) + sum(c in name for c in line) for line in shown.splitlines()) == 40


class TestRounding:
    @given(st.floats(-5, 5), st.integers(1, 8))
    def test_only_0_and_1_are_shown_as_such(self, value, digits):
        text = in_digits(value, digits)
        number = float(text.lstrip("<>"))
        if text[0] in "<>":
            assert (value > number) if text[0] == ">" else (value < number)
        else:
            assert abs(number - value) <= 0.5 * 10**-digits + 1e-12
            assert number not in {0, 1, -1} or value == number

    def test_examples(self):
        assert in_digits(0.99996) == ">0.9999"
        assert in_digits(1.00001) == ">1.0000"
        assert in_digits(-1.00001) == "<-1.0000"
        assert in_digits(-0.99999) == "<-0.9999"


@given(st.text())
def test_visible_text_is_one_line(text):
    assert len(visible(text).splitlines()) <= 1
    assert "\x1b" not in visible(text)


def test_nothing_is_coloured_outside_of_terminals():
    for output in OUTPUTS:
        assert "\x1b" not in rendered(report_of(TestText.TABLE, rows=[{"a": 1}]), output), output
