"""What charts show: numbers that they were given, and in words what they leave out."""

import re
from math import exp, inf, isclose, log, nan
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import isotonic_regression

import beyondchance as bc
from beyondchance.page import svg
from beyondchance.page.charts import texts as of_texts
from beyondchance.page.charts.annotators import habits_chart, kinds_chart, pairs_chart
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
from beyondchance.page.svg import ticks as round_ticks
from drawings import boxes, elements, lines, marks, scale, texts, ticks, told
from refusals import assert_tells

STYLE = Path(svg.__file__).parent / "charts.css"
DARK = "#14171c"


def words(chart):
    """Title and notes on one line."""
    return " ".join([chart.title, *chart.notes])


def contrast(one, other):
    """How much two colours stand out from one another, from 1 to 21 (WCAG 2)."""
    darker, lighter = sorted((svg.luminance(one), svg.luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


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


def at(chart, side="x"):
    """What marks say and the numbers at which they lie."""
    number = scale(chart, side)
    return [(mark.told, number(getattr(mark, side))) for mark in marks(chart)]


class TestLabels:
    def test_three_marks_for_each_label_in_the_order_given(self):
        chart = labels_chart([label("B", 0.5, 0.25, 1 / 3), label("A", 1.0, 0.5, 1.0)])
        assert at(chart) == [
            ("B: observed 0.500", 0.5),
            ("B: chance 0.250", 0.25),
            ("B: corrected 0.333", 0.3333),
            ("A: observed 1.000", 1.0),
            ("A: chance 0.500", 0.5),
            ("A: corrected 1.000", 1.0),
        ]
        heights = [mark.y for mark in marks(chart)]
        assert heights == [*[heights[0]] * 3, *[heights[3]] * 3]
        assert heights[0] < heights[3]
        assert_tells(chart.description, "highest for A (1.000) … lowest for B (0.333)")

    def test_the_line_joins_observed_and_corrected(self):
        chart = labels_chart([label("A", 0.5, 0.25, 1 / 3)])
        [joined] = [line for line in lines(chart, svg.MUTED) if line[0] not in (0, line[2])]
        number, y = scale(chart, "x"), marks(chart)[0].y
        assert (number(joined[0]), number(joined[2])) == (0.5, 0.3333)
        assert joined[1] == joined[3] == y

    def test_an_interval_is_a_broad_line_behind_the_marks(self):
        chart = labels_chart([label("A", 0.5, 0.25, 1 / 3, low=0.1, high=0.6)])
        [(low, y, high, _)] = lines(chart, svg.CORRECTED)
        assert (scale(chart, "x")(low), scale(chart, "x")(high)) == (0.1, 0.6)
        assert y == marks(chart)[0].y
        assert "Broad line: interval" in words(chart)

    def test_undefined_values_are_left_out_and_counted(self):
        chart = labels_chart([label("A", 1.0, 1.0, nan), label("B", nan, nan, nan)])
        assert [value for _, value in at(chart)] == [1.0, 1.0]
        assert_tells(words(chart), "4 values are undefined")
        assert chart.description == "Corrected agreement is undefined for every label."

    def test_of_many_labels_the_most_frequent_are_drawn_in_the_order_given(self):
        many = [label(f"L{number}", n_spans=number % 100) for number in range(200)]
        chart = labels_chart(many)
        drawn = [mark.told.partition(":")[0] for mark in marks(chart)[::3]]
        assert drawn == [f"L{number}" for number in range(200) if number % 100 >= 80]
        assert_tells(words(chart), "40 … 200 … most frequent")

    def test_the_axis_goes_from_0_to_1_and_lower_only_for_negative_values(self):
        cases = [(0.5, (0, 1)), (-0.01, (-0.2, 1)), (-0.2, (-0.2, 1)), (-3.1, (-3.2, 1))]
        for value, domain in cases:
            chart = labels_chart([label("A", corrected=value)])
            number = scale(chart, "x")
            assert (number(0), number(300)) == pytest.approx(domain, abs=3e-4), value


class TestPairs:
    def test_each_pair_once_below_the_diagonal(self):
        pairs = {("a", "b"): 0.5, ("c", "a"): -0.25, ("b", "c"): 0.75}
        chart = pairs_chart(["a", "b", "c"], pairs)
        assert boxes(chart) == [
            ("a and b: 0.500", 0, 0, 56, 32),
            ("a and c: -0.250", 0, 32, 56, 32),
            ("b and c: 0.750", 56, 32, 56, 32),
        ]
        assert sorted(texts(chart)) == ["-0.25", "0.50", "0.75", "a", "b", "b", "c"]

    def test_numbers_are_legible_in_their_cells(self):
        names = [f"n{number}" for number in range(30)]
        pairs = [(a, b) for place, b in enumerate(names) for a in names[:place]]
        values = np.linspace(-0.5, 1, len(pairs)).tolist()
        chart = pairs_chart(names, dict(zip(pairs, values, strict=True)))
        cells, numbers = elements(chart, "rect"), elements(chart, "text")[: len(pairs)]
        assert len(cells) == len(pairs)
        for cell, number, value in zip(cells, numbers, values, strict=True):
            assert float(number.text.lstrip("<>")) == pytest.approx(value, abs=0.0101)
            assert contrast(cell.get("fill"), number.get("fill")) >= 4.5

    def test_cells_of_many_annotators_are_narrower(self):
        for n, size in ((3, (56, 32)), (11, (30, 30)), (30, (24, 24))):
            names = [f"n{number}" for number in range(n)]
            chart = pairs_chart(names, {(names[0], name): 0.5 for name in names[1:]})
            assert {cell[3:] for cell in boxes(chart)} == {size}, n

    def test_little_is_dark_and_much_is_bright(self):
        pairs = {("a", "b"): 0.0, ("a", "c"): 1.0}
        cells = elements(pairs_chart(["a", "b", "c"], pairs), "rect")
        assert [cell.get("fill") for cell in cells] == ["#440154", "#fde725"]

    def test_undefined_and_absent_pairs_are_counted(self):
        chart = pairs_chart(["a", "b", "c"], {("a", "b"): nan, ("a", "c"): 1.0})
        assert len(boxes(chart)) == 1
        assert_tells(words(chart), "2 pairs are undefined")

    def test_at_most_thirty_annotators(self):
        names = [f"n{number}" for number in range(31)]
        chart = pairs_chart(names, {(names[0], name): 0.5 for name in names[1:]})
        assert len(boxes(chart)) == 29
        assert_tells(words(chart), "30 … 31 … first")


class TestHabits:
    def test_ratios(self):
        chart = habits_chart({"a": 2.0, "b": 0.4})
        places = ticks(chart, "x")
        step = (places[2] - places[1]) / log(2)
        found = [(mark.told, exp((mark.x - places[1]) / step)) for mark in marks(chart)]
        assert found == [("a: 2.00", pytest.approx(2)), ("b: 0.40", pytest.approx(0.4, rel=1e-3))]
        assert {"2.00", "0.40"} <= {*texts(chart)}

    def test_the_scale_is_as_wide_below_1_as_above(self):
        for ratio in (0.1, 1, 3, 300):
            chart = habits_chart({"a": ratio})
            assert isclose(ticks(chart, "x")[1], 150), ratio
            assert 0 < marks(chart)[0].x < 300, ratio

    def test_nothing_marked_and_undefined_are_told(self):
        chart = habits_chart({"a": 1.0, "b": 0.0, "c": nan, "d": inf})
        assert [mark.told for mark in marks(chart)] == ["a: 1.00"]
        assert_tells(words(chart), "Marked nothing … : b.")
        assert_tells(words(chart), "2 annotators are undefined")


class TestSystems:
    def test_both_scores_of_each_system(self):
        chart = systems_chart([system("x", 0.75, 0.5, 1, 1), system("y", 0.5, 0.25, 2, 2)])
        assert [(mark.told, mark.x) for mark in marks(chart)] == [
            ("x: observed 0.750, corrected 0.500", 0),
            ("x: observed 0.750, corrected 0.500", 170),
            ("y: observed 0.500, corrected 0.250", 0),
            ("y: observed 0.500, corrected 0.250", 170),
        ]
        heights = [mark.y for mark in marks(chart)]
        assert heights[1] == heights[2]
        assert isclose(heights[1] - heights[0], heights[3] - heights[2], abs_tol=0.02)
        assert heights[0] < heights[1]
        assert texts(chart)[2:] == [
            "1. x\u20020.750",
            "0.500\u20021. x",
            "2. y\u20020.500",
            "0.250\u20022. y",
        ]
        beside = [float(text.get("x")) for text in elements(chart, "text")[2:]]
        assert beside == [-12, 170 + 12] * 2

    def test_a_changed_rank_is_told_by_width_weight_and_an_arrow(self):
        chart = systems_chart(
            [
                system("x", 0.8, 0.5, 1, 2),
                system("y", 0.7, 0.6, 2, 1),
                system("z", 0.1, 0.1, 3, 3),
            ]
        )
        assert {*texts(chart)} > {
            "0.600\u20021. y ▲1",
            "0.500\u20022. x ▼1",
            "0.100\u20023. z",
        }
        drawn = [line for line in elements(chart, "line") if told(line)]
        assert [
            (told(line)[0], line.get("stroke-width"), "stroke-dasharray" in line.attrib)
            for line in drawn
        ] == [("z", "1.5", True), ("y", "2.5", False), ("x", "2.5", False)]
        bold = [text.text for text in elements(chart, "text") if text.get("font-weight")]
        assert len(bold) == 2 + 4
        assert_tells(chart.description, "2 of 3 ranks")

    def test_names_do_not_overlap(self):
        many = [system(f"s{n}", 0.5 + n / 1e4, 0.4, 20 - n, 1) for n in range(20)]
        chart = systems_chart(many)
        for anchor in ("end", None):
            pixels = np.sort(
                [
                    float(text.get("y"))
                    for text in elements(chart, "text")
                    if text.get("text-anchor") == anchor
                ]
            )
            assert len(pixels) == 20
            assert np.diff(pixels).min() > 15
            assert pixels[0] >= 0
            assert pixels[-1] <= chart.drawing.height

    def test_systems_without_a_score_or_rank(self):
        chart = systems_chart([system("x", 0.5, nan, 1, None), system("y", 0.5, 0.4, 1, 1)])
        assert {mark.told for mark in marks(chart)} == {"y: observed 0.500, corrected 0.400"}
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


def counts(chart):
    """How many documents each cell counts."""
    return [int(says.split()[0]) for says, *_ in boxes(chart) if says]


class TestDocuments:
    def test_each_point_has_its_numbers_and_leads_to_its_document(self):
        chart = documents_chart([document(3, 0.5, 0.25, corrected=1 / 3)], LINKS)
        [link] = elements(chart, "a")
        [point] = marks(chart)
        assert link.get("href") == "#document-3"
        assert (scale(chart, "x")(point.x), scale(chart, "y")(point.y)) == (0.25, 0.5)
        assert point.told == "d3: observed 0.500, chance 0.250, corrected 0.333"

    def test_those_without_a_link_are_points_too(self):
        chart = documents_chart([document(3), document(4)], {"d3": "#document-3"})
        assert len(marks(chart)) == 2
        assert len(elements(chart, "a")) == 1

    @pytest.mark.slow
    def test_many_are_counted_and_the_most_contested_are_points(self):
        rng = np.random.default_rng(5)
        points = [
            document(number, *rng.random(2).tolist(), contested=number % 97)
            for number in range(1, 402)
        ]
        points.sort(key=lambda point: -point.contested)
        chart = documents_chart(points, LINKS)
        assert sum(counts(chart)) == 401
        x, y = scale(chart, "x"), scale(chart, "y")
        for says, left, top, width, height in boxes(chart):
            if not says:
                continue
            inside = [
                point
                for point in points
                if x(left) <= point.score.chance < x(left + width)
                and y(top + height) <= point.score.observed < y(top)
            ]
            assert len(inside) == int(says.split()[0])
        drawn = [int(link.get("href").removeprefix("#document-")) for link in elements(chart, "a")]
        assert drawn == sorted(range(1, 402), key=lambda number: (-(number % 97), number))[:50]
        assert_tells(words(chart), "401 … cells")

    def test_cells_with_more_are_more_opaque(self, monkeypatch):
        monkeypatch.setattr(of_texts, "is_stripe", lambda _: False)
        points = [document(n, 0.9, 0.1) for n in range(300)] + [document(n) for n in range(9)]
        chart = documents_chart([*points, document(9, 0.1, 0.1)], LINKS)
        shown = {
            int(told(cell).split()[0]): float(cell.get("fill-opacity"))
            for cell in elements(chart, "rect")
            if told(cell)
        }
        assert sorted(shown) == [1, 9, 300]
        assert shown[1] == 0.2 < shown[9] < shown[300] == 0.9
        assert {"1", "17", "300"} <= {*texts(chart)}

    def test_three_hundred_are_points_each(self):
        shares = np.linspace(0, 1, 300).tolist()
        chart = documents_chart([document(n, x, x) for n, x in enumerate(shares)], LINKS)
        assert len(elements(chart, "a")) == 300
        assert not counts(chart)

    def test_documents_at_the_edges_are_counted(self, monkeypatch):
        monkeypatch.setattr(of_texts, "is_stripe", lambda _: False)
        points = [document(number, 1.0, 1.0) for number in range(200)]
        points += [document(number, 0.0, 0.0) for number in range(200)]
        assert counts(documents_chart(points, LINKS)) == [200, 200]

    def test_undefined_documents_are_counted(self):
        chart = documents_chart([document(1, nan), document(2), document(3)], LINKS)
        links = [link.get("href") for link in elements(chart, "a")]
        assert links == ["#document-2", "#document-3"]
        assert_tells(words(chart), "1 document is undefined")


class TestStripes:
    """Points that would be a stripe are counted by corrected agreement."""

    WIDE = np.linspace(0, 1, 100)

    def stripe(self, *sides):
        return of_texts.is_stripe(np.stack(sides, axis=1))

    def test_points_all_over_are_no_stripe(self):
        assert not self.stripe(self.WIDE, self.WIDE[::-1])

    def test_one_side_is_narrow(self):
        for sides in ((self.WIDE / 12, self.WIDE), (self.WIDE, 0.9 + self.WIDE / 12)):
            assert self.stripe(*sides)
        assert not self.stripe(self.WIDE / 8, self.WIDE)

    def test_a_few_points_elsewhere_change_nothing(self):
        narrow = np.r_[self.WIDE[:96] / 20, 0.5, 0.6, 0.7, 0.8]
        assert self.stripe(narrow, self.WIDE)

    def test_few_places(self):
        few = np.tile([0.0, 0.5, 1.0], 12)
        assert self.stripe(few, few)
        assert not self.stripe(few[:10], np.linspace(0, 1, 10))

    def test_a_few_documents_are_points(self):
        assert not self.stripe(np.zeros(9), np.zeros(9))
        assert self.stripe(np.zeros(10), np.zeros(10))

    def test_every_score_is_in_one_bar(self):
        scores = [-0.21, 0.0, 0.05, 0.149999, 0.15, 0.5, 0.99, 1.0, 1.0, nan]
        rows = [document(n, corrected=score) for n, score in enumerate([*scores, 0.3, 0.3])]
        chart = documents_chart(rows, LINKS)
        assert counts(chart) == [1, 1, 1, 1, 1, 2, 1, 3]
        assert [says for says, *_ in boxes(chart)][:2] == [
            "1 document from -0.25 to -0.20",
            "1 document from 0.00 to 0.05",
        ]
        x = scale(chart, "x")
        for says, left, _, width, _ in boxes(chart):
            low, high = float(says.split()[3]), float(says.split()[5])
            assert low < x(left) < x(left + width) < high
        assert_tells(words(chart), "half of 11 documents … 0.300 or more … 1 document is undefined")

    def test_all_the_same(self):
        for score in (1.0, 0.0, -1.0):
            chart = documents_chart([document(n, corrected=score) for n in range(10)], LINKS)
            assert counts(chart) == [10], score

    def test_scores_far_below_chance_are_points(self):
        chart = documents_chart([document(n, corrected=-n) for n in range(10)], LINKS)
        assert len(elements(chart, "a")) == 10


class TestDifficulty:
    def test_every_value_is_in_one_bar_and_the_split_is_difficult(self):
        chart = difficulty_chart([0.0, 0.8249, 0.825, 0.83, 1.0, nan])
        assert [says for says, *_ in boxes(chart)] == [
            "1 text from 0.000 to 0.025",
            "1 text from 0.800 to 0.825",
            "2 texts from 0.825 to 0.850",
            "1 text from 0.975 to 1.000",
        ]
        x, y = scale(chart, "x"), scale(chart, "y")
        for says, left, top, width, height in boxes(chart):
            low, high = float(says.split()[3]), float(says.split()[5])
            assert low < x(left) < low + 0.002
            assert high - 0.002 < x(left + width) < high
            assert (y(top), y(top + height)) == (int(says[0]), 0)
        assert {"2 easier", "3 difficult"} <= {*texts(chart)}
        assert_tells(words(chart), "1 text is undefined")
        assert_tells(words(chart), "0.825 … paper")

    def test_ticks_are_whole_numbers(self):
        for n, step in ((1, 1), (3, 1), (6, 1), (7, 2), (100, 20)):
            found = ticks(difficulty_chart([0.5] * n), "y")
            assert [*found] == [*range(0, max(found).__ceil__() + 1, step)], n
            assert n <= max(found) < n + step, n

    def test_the_split_is_the_papers(self):
        chart = difficulty_chart([0.4, 0.6])
        [(x, _, _, _)] = lines(chart, svg.INK)
        assert scale(chart, "x")(x) == 0.825

    def test_every_edge_opens_a_bar(self):
        chart = difficulty_chart([number / 40 for number in range(41)])
        assert counts(chart) == [1] * 39 + [2]


class TestCoefficients:
    def test_values_and_what_is_ours(self):
        chart = coefficients_chart({"ours": 0.7, "kappa": -0.1, "gamma": nan}, ours="ours")
        assert at(chart) == [("ours: 0.700", 0.7), ("kappa: -0.100", -0.1)]
        first, second = marks(chart)
        assert first.look["fill"] == svg.CORRECTED != second.look["fill"]
        bold = [text.text for text in elements(chart, "text") if text.get("font-weight")]
        assert bold == ["0.700"]
        assert_tells(words(chart), "Undefined … gamma")


def corners(chart):
    """The corners of each curve, as its axes have them."""
    x, y = scale(chart, "x"), scale(chart, "y")
    return [
        [(x(float(a)), y(float(b))) for a, b in re.findall("([^ ]+),([^ ]+)", line.get("points"))]
        for line in elements(chart, "polyline")
    ]


class TestPlacement:
    def test_positions_count_from_1(self):
        values = bc.coverage(70, [2, 20])
        [drawn] = corners(placement_chart([("t", values)]))
        assert len(drawn) == 70
        for place, (position, probability) in enumerate(drawn):
            assert position == pytest.approx(place + 1, abs=0.01)
            assert probability == pytest.approx(values[place], abs=1e-4)

    def test_short_texts_have_steps_between_positions(self):
        [drawn] = corners(placement_chart([("t", np.array([0.5, 1.0, 0.25]))]))
        assert drawn == [(1, 0.5), (1.5, 0.5), (1.5, 1), (2.5, 1), (2.5, 0.25), (3, 0.25)]

    def test_long_texts_are_thinned_and_it_is_told(self):
        chart = placement_chart([("t", np.arange(5000) / 5000)])
        [drawn] = corners(chart)
        assert len(drawn) == 600
        for position, probability in drawn:
            assert probability == pytest.approx((position - 1) / 5000, abs=1e-3)
        assert (drawn[0][0], drawn[-1][0]) == pytest.approx(
            (1, 5000), abs=0.2
        )  # pixels are rounded
        assert_tells(words(chart), "600")

    def test_six_lines_that_differ_by_colour_and_dash(self):
        curves = [(f"t{number}", np.array([0.5, 0.5])) for number in range(7)]
        chart = placement_chart(curves)
        for kind in ("polyline", "path"):  # the lines, and what they are
            drawn = elements(chart, kind)
            assert len(drawn) == 6
            for channel in ("stroke", "stroke-dasharray"):
                assert len({line.get(channel) for line in drawn}) == 6
        assert_tells(words(chart), "6 … 7")


def bars(chart):
    """Parts of bars: the pair, what they are, and from where to where they go, in percent."""
    percent = scale(chart, "x")
    return [
        (*says.split(": ", 1), percent(x), percent(x + width))
        for says, x, _, width, _ in boxes(chart)
    ]


class TestKinds:
    def test_kinds_in_other_words(self):
        long = "a" * 40
        names = {"missed": f"only {long}", "extra": f"only {long}b"}
        chart = kinds_chart({("a", "b"): {"missed": 3, "extra": 1}}, names)
        first, second = (
            says.rpartition(" 3 of" if n == 0 else " 1 of")[0]
            for n, (_, says, *_) in enumerate(bars(chart))
        )
        assert first.startswith("only aaa")
        assert first != second  # each has its own colour
        assert f"the most frequent difference is {first} (3)" in chart.description

    def test_parts_join_and_fill_the_bar(self):
        counts = {"extra": 1, "agree": 2, "label": 1}
        chart = kinds_chart({("a", "b"): counts})
        assert bars(chart) == [
            ("a and b", "agree 2 of 4", 0.0, 50),
            ("a and b", "label 1 of 4", 50, 75),
            ("a and b", "extra 1 of 4", 75, 100),
        ]
        assert {"agree 2", "label 1", "extra 1"} <= {*texts(chart)}

    def test_text_only_where_it_fits(self):
        counts = {"agree": 1000, "label": 40, "both": 1}
        chart = kinds_chart({("a", "b"): counts})
        assert [text for text in texts(chart) if re.search(r"\d$", text)] == ["agree 1,000"]
        assert bars(chart)[1][1] == "label 40 of 1,041"

    def test_kinds_that_are_none_are_an_error(self):
        with pytest.raises(ValueError, match="unknown"):
            kinds_chart({("a", "b"): {"unknown": 1}})

    def test_names_that_look_the_same_have_bars_of_their_own(self):
        long = {("x" * 20, "y" * size): {"agree": 1} for size in (20, 30)}
        assert len({name for name, *_ in bars(kinds_chart(long))}) == 2

    def test_names_from_right_to_left(self):
        [(name, *_)] = bars(kinds_chart({("\u05d0", "b"): {"agree": 1}}))
        assert name == "\u2068\u05d0\u2069 and b"

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
        [sentence] = texts(chart)
        assert sentence.startswith("Nothing to draw: "), name
        assert (chart.name, chart.description) == (name, sentence), name


class TestNames:
    def test_long_ones_are_cut(self):
        assert shown_name("x" * 10_000) == "x" * 23 + "…"
        assert len(shown_name("\u202e" * 10_000, length=30)) == 30

    def test_names_from_right_to_left_are_isolated(self):
        assert shown_name("\u05d0\u05d1") == "\u2068\u05d0\u05d1\u2069"

    def test_what_looks_the_same_is_numbered(self):
        assert [*shown_names(["a", "a", "a (2)", ""])] == ["a", "a (2)", "a (2) (2)", "(empty)"]

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
        for colour in (svg.INK, svg.MUTED):
            assert contrast(colour, "#ffffff") >= 4.5, colour
        for colour in (*svg.LINES, *svg.KIND_COLOURS.values()):
            assert contrast(colour, "#ffffff") >= 3, colour

    def test_bars_stay_as_they_are_in_the_dark(self):
        for colour in svg.KIND_COLOURS.values():
            assert f'"{colour}"' not in STYLE.read_text("utf-8")
            assert contrast(colour, DARK) >= 3, colour

    def test_every_other_colour_has_one_for_the_dark(self):
        light, dark = palettes()
        assert dark["--paper"] == DARK
        for colour in (svg.INK, svg.MUTED, *svg.LINES):
            _, _, rest = STYLE.read_text("utf-8").partition(f'[stroke="{colour}"]')
            name = re.match(r" { stroke: var\((--\w+)\); }", rest)[1]
            least = 4.5 if colour in (svg.INK, svg.MUTED) else 3
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
    starts = [np.arange(80) / 80, np.arange(90) / 90]
    chart = places_chart([2, 3], starts)
    for drawn, given_ in zip(corners(chart), starts, strict=True):
        expected = [pytest.approx(pair, abs=0.01) for pair in enumerate(given_.tolist())]
        assert drawn == expected
    assert texts(chart)[-2:] == ["span 1, of length 2", "span 2, of length 3"]


@given(st.floats(1e-6, 1e6), st.integers(2, 12), st.sampled_from([0.0, 1.0]))
def test_ticks_are_round_and_few(high, most, least):
    found = round_ticks(0, high, most=most, least=least)
    first, step, *_, last = [*found, *([*found][-1:] * (4 - len(found)))]
    assert first == 0
    assert step >= least
    assert last >= high * (1 - 1e-6)
    assert 2 <= len(found) <= most + 1
    assert f"{step:e}"[0] in "125"
    for value, text in found.items():
        assert float(text.replace(",", "")) == value


def test_ticks_have_the_digits_of_their_step():
    for shown in (["0.00", "0.01", "0.02"], ["0.0", "0.1", "0.2"], ["0", "1", "2"]):
        assert [*round_ticks(0, float(shown[-1]), most=2).values()] == shown
