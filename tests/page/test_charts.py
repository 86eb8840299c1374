"""What charts show: numbers that they were given, and in words what they leave out."""

import re
import sys
from math import inf, isclose, nan
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import isotonic_regression

import beyondchance as bc
from beyondchance.errors import MissingLibraryError
from beyondchance.page.charts import colours
from beyondchance.page.charts.annotators import habits_chart, kinds_chart, pairs_chart
from beyondchance.page.charts.colours import contrast
from beyondchance.page.charts.scores import (
    coefficients_chart,
    labels_chart,
    spread,
    systems_chart,
)
from beyondchance.page.charts.shared import shown_name, shown_names
from beyondchance.page.charts.texts import (
    difficulty_chart,
    documents_chart,
    placement_chart,
    places_chart,
)
from beyondchance.page.figures import unchecked
from refusals import assert_tells, refused

STYLE = Path(colours.__file__).parents[1] / "charts.css"
DARK = "#14171c"


@pytest.fixture(scope="module", autouse=True)
def _unchecked():
    """Specifications are checked in test_figures, and take most of the time."""
    with unchecked():
        yield


def tables(part):
    """The data of a chart, each table once."""
    found = [part["data"]["values"]] if "data" in part else []
    for layer in part.get("layer", []):
        found += [table for table in tables(layer) if table not in found]
    return found


def rows(chart, *keys):
    """Every row of a chart's data that has all of the keys."""
    return [
        row
        for table in tables(chart.to_dict(validate=False))
        for row in table
        if set(keys) <= set(row)
    ]


def words(chart):
    """Title and subtitle on one line."""
    title = chart.to_dict(validate=False)["title"]
    return " ".join([*title["text"], *title.get("subtitle", [])])


def row(name, observed, chance, corrected, n_spans=0, **more):
    """What charts need of a row of a report."""
    score = SimpleNamespace(observed=observed, chance=chance, corrected=corrected, n_spans=n_spans)
    return SimpleNamespace(shown=name, score=score, **more)


def label(name, observed=0.9, chance=0.2, corrected=0.875, *, low=nan, high=nan, **more):
    interval = SimpleNamespace(low=low, high=high)
    return row(name, observed, chance, corrected, intervals={"corrected": interval}, **more)


def system(name, observed, corrected, before, after):
    return row(name, observed, nan, corrected, rank_observed=before, rank_corrected=after)


def document(number, observed=0.75, chance=0.25, corrected=0.5, **more):
    return row(f"d{number}", observed, chance, corrected, **{"difficulty": 0.75, **more})


LINKS = {f"d{number}": f"#document-{number}" for number in range(500)}


class TestLabels:
    def test_three_marks_for_each_label_in_the_order_given(self):
        chart = labels_chart([label("B", 0.5, 0.25, 1 / 3), label("A", 1.0, 0.5, 1.0)])
        assert [(row["name"], row["what"], row["value"]) for row in rows(chart, "what")] == [
            ("B", "observed", 0.5),
            ("B", "chance", 0.25),
            ("B", "corrected", 1 / 3),
            ("A", "observed", 1.0),
            ("A", "chance", 0.5),
            ("A", "corrected", 1.0),
        ]
        assert_tells(chart.description, "highest for A (1.000) … lowest for B (0.333)")

    def test_the_line_joins_observed_and_corrected(self):
        assert rows(labels_chart([label("A", 0.5, 0.25, 1 / 3)]), "from") == [
            {"name": "A", "from": 0.5, "to": 1 / 3}
        ]

    def test_an_interval_is_a_second_line(self):
        chart = labels_chart([label("A", 0.5, 0.25, 1 / 3, low=0.1, high=0.6)])
        assert {"name": "A", "from": 0.1, "to": 0.6} in rows(chart, "from")
        assert "Thin line: interval" in words(chart)

    def test_undefined_values_are_left_out_and_counted(self):
        chart = labels_chart([label("A", 1.0, 1.0, nan), label("B", nan, nan, nan)])
        assert [row["value"] for row in rows(chart, "what")] == [1.0, 1.0]
        assert_tells(words(chart), "4 values are undefined")
        assert chart.description == "Corrected agreement is undefined for every label."

    def test_of_many_labels_the_most_frequent_are_drawn_in_the_order_given(self):
        many = [label(f"L{number}", n_spans=number % 100) for number in range(200)]
        chart = labels_chart(many)
        drawn = [row["name"] for row in rows(chart, "what")[::3]]
        assert drawn == [f"L{number}" for number in range(200) if number % 100 >= 80]
        assert_tells(words(chart), "40 … 200 … most frequent")

    def test_the_axis_goes_from_0_to_1_and_lower_only_for_negative_values(self):
        cases = [(0.5, (0, 1)), (-0.01, (-0.2, 1)), (-0.2, (-0.2, 1)), (-3.1, (-3.2, 1))]
        for value, domain in cases:
            layers = labels_chart([label("A", corrected=value)]).to_dict(validate=False)["layer"]
            drawn = {tuple(layer["encoding"]["x"]["scale"]["domain"]) for layer in layers}
            assert drawn == {domain}, value


class TestPairs:
    def test_each_pair_once_below_the_diagonal(self):
        pairs = {("a", "b"): 0.5, ("c", "a"): -0.25, ("b", "c"): 0.75}
        cells = rows(pairs_chart(["a", "b", "c"], pairs), "row")
        assert {(cell["row"], cell["column"]): cell["value"] for cell in cells} == {
            ("b", "a"): 0.5,
            ("c", "a"): -0.25,
            ("c", "b"): 0.75,
        }
        assert [cell["shown"] for cell in cells] == ["0.50", "-0.25", "0.75"]

    def test_numbers_are_legible_in_their_cells(self):
        names = [f"n{number}" for number in range(30)]
        pairs = [(a, b) for place, b in enumerate(names) for a in names[:place]]
        values = np.linspace(-0.5, 1, len(pairs)).tolist()
        cells = rows(pairs_chart(names, dict(zip(pairs, values, strict=True))), "row")
        assert [cell["value"] for cell in cells] == values
        assert min(contrast(cell["fill"], cell["ink"]) for cell in cells) >= 4.5

    def test_little_is_dark_and_much_is_bright(self):
        pairs = {("a", "b"): 0.0, ("a", "c"): 1.0}
        cells = rows(pairs_chart(["a", "b", "c"], pairs), "row")
        assert [cell["fill"] for cell in cells] == ["#440154", "#fde725"]

    def test_undefined_and_absent_pairs_are_counted(self):
        chart = pairs_chart(["a", "b", "c"], {("a", "b"): nan, ("a", "c"): 1.0})
        assert len(rows(chart, "row")) == 1
        assert_tells(words(chart), "2 pairs are undefined")

    def test_at_most_thirty_annotators(self):
        names = [f"n{number}" for number in range(31)]
        chart = pairs_chart(names, {(names[0], name): 0.5 for name in names[1:]})
        assert len(rows(chart, "row")) == 29
        assert_tells(words(chart), "30 … 31 … first")


class TestHabits:
    def test_ratios(self):
        chart = habits_chart({"a": 2.0, "b": 0.4})
        assert [(row["name"], row["ratio"]) for row in rows(chart, "ratio")] == [
            ("a", 2.0),
            ("b", 0.4),
        ]
        assert {row["shown"] for row in rows(chart, "shown")} == {"2.00", "0.40"}

    def test_the_scale_is_as_wide_below_1_as_above(self):
        [domain] = {
            tuple(layer["encoding"]["x"]["scale"]["domain"])
            for layer in habits_chart({"a": 0.1}).to_dict(validate=False)["layer"]
            if "scale" in layer["encoding"].get("x", {})
        }
        assert isclose(domain[0] * domain[1], 1)
        assert domain[0] < 0.1

    def test_nothing_marked_and_undefined_are_told(self):
        chart = habits_chart({"a": 1.0, "b": 0.0, "c": nan, "d": inf})
        assert {row["name"] for row in rows(chart, "name")} == {"a"}
        assert_tells(words(chart), "Marked nothing … : b.")
        assert_tells(words(chart), "2 annotators are undefined")


class TestSystems:
    def test_both_scores_of_each_system(self):
        chart = systems_chart([system("x", 0.75, 0.5, 1, 1), system("y", 0.5, 0.25, 2, 2)])
        ends = {(row["number"], row["side"]): row["value"] for row in rows(chart, "description")}
        assert ends == {(0, 0): 0.75, (0, 1): 0.5, (1, 0): 0.5, (1, 1): 0.25}
        assert [row["shown"] for row in rows(chart, "place")] == [
            "1. x\u20020.750",
            "2. y\u20020.500",
            "0.500\u20021. x",
            "0.250\u20022. y",
        ]

    def test_a_changed_rank_is_told_by_width_weight_and_an_arrow(self):
        chart = systems_chart(
            [
                system("x", 0.8, 0.5, 1, 2),
                system("y", 0.7, 0.6, 2, 1),
                system("z", 0.1, 0.1, 3, 3),
            ]
        )
        assert {row["shown"] for row in rows(chart, "place") if row["side"] == 1} == {
            "0.600\u20021. y ▲1",
            "0.500\u20022. x ▼1",
            "0.100\u20023. z",
        }
        lines = [
            layer["mark"]
            for layer in chart.to_dict(validate=False)["layer"]
            if layer["mark"]["type"] == "line"
        ]
        assert [(mark["strokeWidth"], "strokeDash" in mark) for mark in lines] == [
            (1.5, True),
            (2.5, False),
        ]
        assert_tells(chart.description, "2 of 3 ranks")

    def test_names_do_not_overlap(self):
        many = [system(f"s{n}", 0.5 + n / 1e4, 0.4, 20 - n, 1) for n in range(20)]
        chart = systems_chart(many).to_dict(validate=False)
        [height] = {layer["height"] for layer in chart["layer"] if "height" in layer} or {
            chart["height"]
        }
        [(low, high)] = {
            tuple(layer["encoding"]["y"]["scale"]["domain"]) for layer in chart["layer"]
        }
        for side in (0.0, 1.0):
            found = {
                row["number"]: row["place"]
                for values in tables(chart)
                for row in values
                if row.get("side") == side and "place" in row
            }
            pixels = np.sort([(place - low) / (high - low) * height for place in found.values()])
            assert len(pixels) == 20
            assert np.diff(pixels).min() > 15
            assert pixels[0] >= 0
            assert pixels[-1] <= height

    def test_systems_without_a_score_or_rank(self):
        chart = systems_chart([system("x", 0.5, nan, 1, None), system("y", 0.5, 0.4, 1, 1)])
        assert {row["number"] for row in rows(chart, "number")} == {0}
        assert_tells(words(chart), "1 score is undefined")

    def test_the_first_forty(self):
        many = [system(f"s{n}", 0.5, n / 100, 50 - n, 50 - n) for n in range(50)]
        assert_tells(words(systems_chart(many)), "40 … 50 … first")


class TestSpread:
    @given(st.lists(st.floats(-10, 10), min_size=1, max_size=12), st.floats(0.01, 3))
    def test_nearest_places_with_a_gap(self, targets, gap):
        places = spread(targets, gap=gap)
        order = np.argsort(targets, kind="stable")
        ranked = np.asarray(places)[order]
        assert np.all(np.diff(ranked) >= gap - 1e-9)
        shifts = gap * np.arange(len(targets))
        oracle = isotonic_regression(np.asarray(targets)[order] - shifts).x + shifts
        assert np.allclose(ranked, oracle, rtol=0, atol=1e-9)

    def test_places_that_are_apart_stay(self):
        assert spread([3.0, 1.0, 2.0], gap=1) == [3.0, 1.0, 2.0]


class TestDocuments:
    def test_each_point_has_its_numbers_and_leads_to_its_document(self):
        chart = documents_chart([document(3, 0.5, 0.25, corrected=1 / 3, difficulty=0.8)], LINKS)
        [point] = rows(chart, "href")
        assert point == {
            "chance": 0.25,
            "observed": 0.5,
            "difficulty": 0.8,
            "href": "#document-3",
            "description": "d3: observed 0.500, chance 0.250, corrected 0.333, difficulty 0.800",
        }

    @pytest.mark.slow
    def test_many_are_counted_and_the_most_contested_are_points(self):
        rng = np.random.default_rng(5)
        points = [
            document(number, *rng.random(2).tolist(), contested=number % 97)
            for number in range(1, 402)
        ]
        points.sort(key=lambda point: -point.contested)
        chart = documents_chart(points, LINKS)
        assert sum(cell["count"] for cell in rows(chart, "count")) == 401
        for cell in rows(chart, "count"):
            inside = [
                point
                for point in points
                if cell["chance"] <= point.score.chance < cell["right"]
                and cell["observed"] <= point.score.observed < cell["top"]
            ]
            assert len(inside) == cell["count"]
        drawn = [int(row["href"].removeprefix("#document-")) for row in rows(chart, "href")]
        assert drawn == sorted(range(1, 402), key=lambda number: (-(number % 97), number))[:50]
        assert_tells(words(chart), "401 … cells")

    def test_three_hundred_are_points_each(self):
        chart = documents_chart([document(number) for number in range(300)], LINKS)
        assert len(rows(chart, "href")) == 300
        assert not rows(chart, "count")

    def test_documents_at_the_edges_are_counted(self):
        points = [document(number, 1.0, 1.0) for number in range(200)]
        points += [document(number, 0.0, 0.0) for number in range(200)]
        assert [cell["count"] for cell in rows(documents_chart(points, LINKS), "count")] == [
            200,
            200,
        ]

    def test_undefined_documents_are_counted_and_unknown_difficulty_is_told(self):
        chart = documents_chart([document(1, nan), document(2, difficulty=nan), document(3)], LINKS)
        assert [row["href"] for row in rows(chart, "href")] == ["#document-2", "#document-3"]
        assert "difficulty undefined" in rows(chart, "href")[0]["description"]
        assert_tells(words(chart), "1 document is undefined")


class TestDifficulty:
    def test_every_value_is_in_one_bar_and_the_split_is_difficult(self):
        chart = difficulty_chart([0.0, 0.8249, 0.825, 0.83, 1.0, nan])
        assert [(row["low"], row["high"], row["count"]) for row in rows(chart, "low")] == [
            (0.0, 0.025, 1),
            (0.8, 0.825, 1),
            (0.825, 0.85, 2),
            (0.975, 1.0, 1),
        ]
        assert [row["shown"] for row in rows(chart, "shown")] == ["2 easier", "3 difficult"]
        assert_tells(words(chart), "1 text is undefined")
        assert_tells(words(chart), "0.825 … paper")

    def test_ticks_are_whole_numbers(self):
        cases = [(1, {"values": [0, 1]}), (3, {"values": [0, 1, 2, 3]}), (7, {"tickCount": 6})]
        for n, axis in cases:
            bars = difficulty_chart([0.5] * n).to_dict(validate=False)["layer"][0]
            assert bars["encoding"]["y"]["axis"] == {"format": ",d", **axis}, n

    def test_another_split_is_not_the_papers(self):
        chart = difficulty_chart([0.4, 0.6], split=0.5)
        assert {row["split"] for row in rows(chart, "split")} == {0.5}
        assert_tells(words(chart), "split at 0.5.")

    def test_every_edge_opens_a_bar(self):
        chart = difficulty_chart([number / 40 for number in range(41)])
        assert [row["count"] for row in rows(chart, "low")] == [1] * 39 + [2]


class TestCoefficients:
    def test_values_and_what_is_ours(self):
        chart = coefficients_chart({"ours": 0.7, "kappa": -0.1, "gamma": nan}, ours="ours")
        found = {(row["name"], row["value"], row["is_ours"]) for row in rows(chart, "value")}
        assert found == {("ours", 0.7, True), ("kappa", -0.1, False)}
        assert_tells(words(chart), "Undefined … gamma")


class TestPlacement:
    def test_positions_count_from_1(self):
        values = bc.coverage(5, [2])
        chart = placement_chart([("t", values)])
        assert [(row["position"], row["probability"]) for row in rows(chart, "position")] == list(
            enumerate(values.tolist(), start=1)
        )

    def test_long_texts_are_thinned_and_it_is_told(self):
        chart = placement_chart([("t", np.arange(5000) / 5000)])
        drawn = rows(chart, "position")
        assert len(drawn) == 600
        assert all(row["probability"] == (row["position"] - 1) / 5000 for row in drawn)
        assert (drawn[0]["position"], drawn[-1]["position"]) == (1, 5000)
        assert_tells(words(chart), "600")

    def test_six_lines_that_differ_by_colour_and_dash(self):
        curves = [(f"t{number}", np.array([0.5, 0.5])) for number in range(7)]
        encoding = placement_chart(curves).to_dict(validate=False)["encoding"]
        for channel in ("color", "strokeDash"):
            assert len({str(value) for value in encoding[channel]["scale"]["range"]}) == 6
        assert_tells(words(placement_chart(curves)), "6 … 7")


class TestKinds:
    def test_kinds_in_other_words(self):
        long = "a" * 40
        names = {"missed": f"only {long}", "extra": f"only {long}b"}
        chart = kinds_chart({("a", "b"): {"missed": 3, "extra": 1}}, names)
        first, second = (part["kind"] for part in rows(chart, "kind"))
        assert first.startswith("only aaa")
        assert first != second  # each has its own colour
        assert f"the most frequent difference is {first} (3)" in chart.description

    def test_parts_join_and_fill_the_bar(self):
        counts = {"extra": 1, "agree": 2, "label": 1}
        parts = rows(kinds_chart({("a", "b"): counts}), "kind")
        assert [(part["kind"], part["count"], part["from"], part["to"]) for part in parts] == [
            ("agree", 2, 0.0, 0.5),
            ("label", 1, 0.5, 0.75),
            ("extra", 1, 0.75, 1.0),
        ]
        assert [part["shown"] for part in parts] == ["agree 2", "label 1", "extra 1"]

    def test_text_only_where_it_fits(self):
        counts = {"agree": 1000, "label": 40, "both": 1}
        parts = rows(kinds_chart({("a", "b"): counts}), "kind")
        assert [part["shown"] for part in parts] == ["agree 1,000", "", ""]
        assert parts[1]["description"] == "a and b: label 40 of 1,041"

    def test_kinds_that_are_none_are_an_error(self):
        with pytest.raises(ValueError, match="unknown"):
            kinds_chart({("a", "b"): {"unknown": 1}})

    def test_names_that_look_the_same_have_bars_of_their_own(self):
        long = {("x" * 20, "y" * size): {"agree": 1} for size in (20, 30)}
        assert len({part["name"] for part in rows(kinds_chart(long), "kind")}) == 2

    def test_names_from_right_to_left(self):
        [part] = rows(kinds_chart({("\u05d0", "b"): {"agree": 1}}), "kind")
        assert part["name"] == "\u2068\u05d0\u2069 and b"

    def test_pairs_without_spans_are_counted(self):
        rows_ = {("a", "b"): {}, ("a", "c"): {"agree": 1}}
        assert_tells(words(kinds_chart(rows_)), "1 pair without")


def test_a_chart_of_nothing_says_so():
    charts = {
        "labels": labels_chart([]),
        "pairs": pairs_chart(["a"], {}),
        "habits": habits_chart({"a": nan}),
        "systems": systems_chart([system("x", nan, nan, None, None)]),
        "documents": documents_chart([document(1, nan, nan)], LINKS),
        "difficulty": difficulty_chart([nan]),
        "coefficients": coefficients_chart({"gamma": nan}, ours="ours"),
        "placement": placement_chart([]),
        "kinds": kinds_chart({("a", "b"): {}}),
    }
    for name, chart in charts.items():
        [row] = rows(chart, "shown")
        assert row["shown"].startswith("Nothing to draw: "), name
        assert chart.description == row["shown"], name


class TestNames:
    def test_long_ones_are_cut(self):
        assert shown_name("x" * 10_000) == "x" * 23 + "…"
        assert len(shown_name("\u202e" * 10_000, length=30)) == 30

    def test_names_from_right_to_left_are_isolated(self):
        assert shown_name("\u05d0\u05d1") == "\u2068\u05d0\u05d1\u2069"

    def test_what_looks_the_same_is_numbered(self):
        assert shown_names(["a", "a", "a (2)", ""]) == ["a", "a (2)", "a (2) (2)", "(empty)"]

    @given(st.lists(st.text(max_size=40), max_size=8))
    def test_all_differ_and_are_printable(self, names):
        shown = shown_names(names)
        assert len(set(shown)) == len(names)
        assert all(name.strip() for name in shown)


def palettes():
    """The colours of the page by name, on light and on dark paper."""
    style = STYLE.with_name("page.css").read_text("utf-8")
    first, _, second = style.partition("prefers-color-scheme: dark")
    colour = re.compile(r"(--\w+): (#[0-9a-f]{6});")
    return dict(colour.findall(first)), dict(colour.findall(second.partition("\n}")[0]))


class TestColours:
    def test_on_white(self):
        for colour in (colours.INK, colours.MUTED):
            assert contrast(colour, "#ffffff") >= 4.5, colour
        for colour in (*colours.LINES, *colours.KINDS.values()):
            assert contrast(colour, "#ffffff") >= 3, colour

    def test_bars_stay_as_they_are_in_the_dark(self):
        for colour in colours.KINDS.values():
            assert f'"{colour}"' not in STYLE.read_text("utf-8")
            assert contrast(colour, DARK) >= 3, colour

    def test_every_other_colour_has_one_for_the_dark(self):
        light, dark = palettes()
        assert dark["--paper"] == DARK
        for colour in (colours.INK, colours.MUTED, *colours.LINES):
            _, _, rest = STYLE.read_text("utf-8").partition(f'[stroke="{colour}"]')
            name = re.match(r" { stroke: var\((--\w+)\); }", rest)[1]
            least = 4.5 if colour in (colours.INK, colours.MUTED) else 3
            assert light[name] == colour
            assert contrast(dark[name], DARK) >= least, colour

    def test_the_palette_of_the_page(self):
        for palette in palettes():
            for paper in (palette["--paper"], palette["--card"]):
                for text in ("--ink", "--muted", "--accent", "--axis"):
                    assert contrast(palette[text], paper) >= 4.5, (text, paper)
                marks = ("--corrected", "--observed", "--chance", "--third", "--fourth", "--fifth")
                for mark in marks:
                    assert contrast(palette[mark], paper) >= 3, (mark, paper)

    def test_contrast_of_published_examples(self):
        # Greys that WCAG's own documents give as the lightest that pass on white.
        assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
        assert contrast("#949494", "#ffffff") == pytest.approx(3.03, abs=0.005)


def test_places_are_the_starts_that_were_given():
    chart = places_chart([2, 3], [np.array([0.5, 0.5]), np.array([1.0])])
    assert [(row["span"], row["start"], row["probability"]) for row in rows(chart, "span")] == [
        ("1: 2", 0, 0.5),
        ("1: 2", 1, 0.5),
        ("2: 3", 0, 1.0),
    ]


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_a_missing_library_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    name = {"vl_convert": "vl-convert-python"}.get(library, library)
    with refused(MissingLibraryError, f"library {name} … install"):
        labels_chart([label("A")])
