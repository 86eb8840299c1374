"""Charts drawn: safe, small, the same every time, and readable without seeing them."""

import os
import re
import subprocess
import sys
from functools import cache
from inspect import getsource
from math import nan
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import altair as alt
import numpy as np
import pytest

from beyondchance.errors import OptionError
from beyondchance.page.charts import shared
from beyondchance.page.charts.annotators import (
    habits_chart,
    kinds_chart,
    pairs_chart,
)
from beyondchance.page.charts.scores import (
    coefficients_chart,
    labels_chart,
    systems_chart,
)
from beyondchance.page.charts.texts import (
    difficulty_chart,
    documents_chart,
    placement_chart,
)
from beyondchance.page.figures import caption, drawn, figures, inline_svg, unchecked
from refusals import refused

pytestmark = pytest.mark.slow  # the engine that draws takes half a second to begin

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "]]><!-- & &amp; &lt;",
    'x id="clip1" fill="url(#clip1)"',
    "a.b[0]",
    "$x {signal: 1}",
    "datum.name === 'x' || alert(1)",
    "javascript:alert(1)",
    "👩‍👩‍👧‍👦 🇩🇪",
    "שלום עולם",
    "\u202eright to left\u202c",
    "two\nlines\ttab",
    "\x00\x1b[31m\ud800\ufffe\uffff\x85",
    "x" * 10_000,
    "null",
    "__proto__",
    "",
    " ",
)


def row(name, observed=0.9, chance=0.2, corrected=0.875, difficulty=0.75, **more):
    """What charts need of a row of a report."""
    score = SimpleNamespace(observed=observed, chance=chance, corrected=corrected, n_spans=0)
    return SimpleNamespace(shown=name, score=score, difficulty=difficulty, intervals={}, **more)


def all_charts(names):
    """Every chart, with these names."""
    return {
        "labels": labels_chart([row(name) for name in names]),
        "pairs": pairs_chart(names, {(names[0], name): 0.5 for name in names[1:]}),
        "habits": habits_chart(dict.fromkeys(names, 1.5)),
        "systems": systems_chart(
            [
                row(
                    name,
                    observed=1 / place,
                    corrected=0.5 / place,
                    rank_observed=place,
                    rank_corrected=place + place % 2,
                )
                for place, name in enumerate(names, start=1)
            ]
        ),
        "documents": documents_chart(
            [row(name, observed=0.5, chance=0.25, corrected=1 / 3) for name in names],
            {name: f"#document-{number}" for number, name in enumerate(names, start=1)},
        ),
        "difficulty": difficulty_chart([0.5, 0.9]),
        "coefficients": coefficients_chart(
            {name: 0.5 if place % 3 else nan for place, name in enumerate(names, start=1)},
            ours="ours",
        ),
        "placement": placement_chart([(name, np.array([0.5, 1.0])) for name in names]),
        "kinds": kinds_chart({(name, name): {"agree": 2, "missed": 1} for name in names}),
    }


@cache
def charts():
    """Every chart, made once where it is asked for: altair takes its time."""
    with unchecked():
        return all_charts(["ada", "ben", "cleo", "dora"])


def parsed(svg):
    return ET.fromstring(svg)  # noqa: S314 - our own


def tag(element):
    return element.tag.rpartition("}")[2]


def texts(svg):
    """What is written in a chart, and what its marks say."""
    return ["".join(element.itertext()) for element in parsed(svg).iter() if tag(element) == "text"]


@cache
def inline(name):
    """A chart as it stands in a page, drawn once."""
    return inline_svg(charts()[name], name="x")


@cache
def in_file(name):
    """A chart as it is saved."""
    return drawn(charts()[name], ".svg").decode()


class TestInline:
    def test_what_comes_first_is_a_title_and_a_description(self):
        for name in charts():
            svg = parsed(inline(name))
            assert (tag(svg[0]), svg[0].get("id")) == ("title", "x-title"), name
            assert (tag(svg[1]), svg[1].get("id")) == ("desc", "x-description"), name
            assert svg.get("aria-labelledby") == "x-title", name
            assert svg[1].text == charts()[name].description, name

    def test_its_title_is_written_by_the_page_and_in_a_file_by_the_chart(self):
        for name in charts():
            title, notes = caption(charts()[name])
            assert title == parsed(inline(name))[0].text, name
            for words in (title, notes):
                assert words in " ".join(texts(in_file(name))), name
                assert not words or words not in " ".join(texts(inline(name))), name

    def test_it_has_a_ratio_and_no_size(self):
        for name in charts():
            svg = parsed(inline(name))
            _, _, width, height = map(float, svg.get("viewBox").split())
            assert svg.get("width") is None, name
            assert svg.get("height") is None, name
            assert svg.get("style") == f"--width:{width:g}px", name
            assert 100 < width < 600, name
            assert 50 < height < 600, name

    def test_it_has_no_background_and_little_noise(self):
        for name in charts():
            svg = inline(name)
            assert svg.startswith("<svg "), name
            assert not re.search(r'fill="(white|#fff|#ffffff)"', svg.partition("<text")[0]), name
            assert "aria-roledescription" not in svg, name
            places = re.findall(r' (?:transform|d|[xy]2?|viewBox)="([^"]*)"', svg)
            assert not [place for place in places if re.search(r"\d\.\d{3,}|\de", place)], name
            assert len(svg) < 20_000, name

    def test_only_chosen_colours(self):
        allowed = r"none|transparent|#[0-9a-f]{6}|url\(#x-\d+\)|rgb\(.*\)"
        for name in charts():
            found = set(re.findall(r'(?:fill|stroke|stop-color)="([^"]*)"', inline(name)))
            assert all(re.fullmatch(allowed, colour) for colour in found), name

    def test_specifications_are_valid(self):
        for name in charts():
            assert charts()[name].to_dict(validate=True)["description"], name


class TestRoomForLetters:
    """Texts are laid out for letters that are wider than those of Arial."""

    def test_letters_have_the_size_that_was_asked_for(self):
        for name in charts():
            for svg in (inline(name), in_file(name)):
                sizes = set(re.findall(r'font-size="([^"]*)"', svg))
                assert sizes <= {"9px", "11px", "12px", "14px"}, name

    def test_names_stand_further_from_the_edge(self):
        chart = labels_chart([row("a name of average length")])
        svg = parsed(inline_svg(chart, name="x"))
        width = float(svg.get("viewBox").split()[2])
        # In Arial of 12 pixels the name takes 131, in DejaVu Sans 152.
        assert width - shared.WIDTH > 1.2 * 131


class TestLongNames:
    def test_the_pointer_shows_them_in_full(self):
        names = ["Dr. Maximiliana von Hohenlohe", "annotator_0000017_round-2", "ada"]
        chart = kinds_chart({(names[0], names[1]): {"agree": 2}, (names[0], "ada"): {"agree": 1}})
        svg = parsed(inline_svg(chart, name="x", names=names))
        told = [
            element.findtext("{*}title")
            for element in svg.iter()
            if tag(element) == "text" and "…" in "".join(element.itertext())
        ]
        assert told == [f"{names[0]} and {names[1]}", names[0]]

    def test_not_where_two_begin_alike(self):
        names = ["annotator_0000017_round-2", "annotator_0000018_round-2"]
        chart = labels_chart([row(name) for name in ("annotator_0000019_round-2",)])
        svg = inline_svg(chart, name="x", names=names)
        assert "annotator_0000017" not in svg


class TestIds:
    def test_ids_of_two_charts_differ_and_references_are_kept(self):
        both = inline_svg(charts()["documents"], name="one") + inline("documents")
        ids = re.findall(r' id="([^"]*)"', both)
        assert len(set(ids)) == len(ids)
        assert set(re.findall(r"url\(#([^)]*)\)", both)) <= set(ids)
        assert "url(#one-1)" in both

    def test_what_was_drawn_before_does_not_matter(self):
        inline_svg(charts()["placement"], name="y")
        assert inline_svg(charts()["documents"], name="x") == inline("documents")
        assert drawn(charts()["documents"], ".svg").decode() == in_file("documents")

    def test_nor_does_a_theme_for_other_charts(self):
        with alt.theme.enable("dark"):
            assert inline_svg(charts()["labels"], name="x") == inline("labels")


class TestLinks:
    def test_each_point_is_a_link_with_a_name(self):
        svg = parsed(inline("documents"))
        links = [element for element in svg.iter() if tag(element) == "a"]
        assert [link.get("href") for link in links] == [f"#document-{n}" for n in (1, 2, 3, 4)]
        assert links[1].get("aria-label") == (
            "ben: observed 0.500, chance 0.250, corrected 0.333, difficulty 0.750"
        )
        assert links[1].find(".//{*}title").text == links[1].get("aria-label")

    def test_links_are_in_a_group_and_all_else_is_hidden(self):
        svg = parsed(inline("documents"))
        assert svg.get("role") == "group"
        shown = []

        def walk(element):
            if element.get("aria-hidden") == "true":
                assert not any(tag(inner) == "a" for inner in element.iter())
                return
            shown.append(tag(element))
            if tag(element) != "a":
                for inner in element:
                    walk(inner)

        walk(svg)
        assert set(shown) == {"svg", "title", "desc", "g", "a"}
        assert shown.count("a") == 4

    def test_a_chart_without_links_is_one_image(self):
        assert parsed(inline("labels")).get("role") == "img"

    def test_marks_say_what_they_are(self):
        svg = parsed(inline("labels"))
        told = [element.text for element in svg.iter() if tag(element) == "title"][1:]
        assert told[:3] == ["ada: observed 0.900", "ada: chance 0.200", "ada: corrected 0.875"]
        assert len(told) == 12


@pytest.fixture(scope="module")
def hostile():
    with unchecked():
        return all_charts(HOSTILE)


@pytest.fixture(scope="module")
def written(hostile):
    options = {"title": "</title><script>", "description": '"><b>'}
    return {name: inline_svg(chart, name="x", **options) for name, chart in hostile.items()}


class TestHostileNames:
    def test_names_are_text_and_nothing_else(self, written):
        known = {"svg", "title", "desc", "g", "a", "path", "line", "text", "rect", "defs"}
        known |= {"tspan", "linearGradient", "stop"}
        for name, svg in written.items():
            root = parsed(svg)
            assert {tag(element) for element in root.iter()} <= known, name
            attributes = {key for element in root.iter() for key in element.attrib}
            assert not [key for key in attributes if key.startswith("on")], name
            links = {element.get("href") for element in root.iter() if "href" in element.attrib}
            assert all(re.fullmatch(r"#document-\d+", link) for link in links), name
            harmful = "[\x00-\x08\u202a-\u202e\ud800-\udfff\ufffe\uffff]"
            assert not re.search(harmful, svg), name
            assert (root[0].text, root[1].text) == ("</title><script>", '"><b>'), name

    def test_names_are_shown_as_they_are(self, written):
        for name in ("labels", "habits", "kinds"):
            shown = " ".join(texts(written[name]))
            for part in ("a.b[0]", "שלום", "__proto__", "(empty)", "null", "xxxxxxxxxxxxx…"):
                assert part in shown, name

    def test_names_are_data_and_never_part_of_the_specification(self, hostile):
        def elsewhere(part, key=""):
            if key in {"data", "domain", "title", "description"}:
                return ""
            if isinstance(part, dict):
                return " ".join(elsewhere(value, inner) for inner, value in part.items())
            if isinstance(part, list):
                return " ".join(elsewhere(value) for value in part)
            return str(part)

        for name, chart in hostile.items():
            found = elsewhere(chart.to_dict(validate=False))
            parts = ("alert", "a.b", "$x", "proto", "xxx", "שלום")
            assert not [part for part in parts if part in found], name

    def test_files_can_be_written(self, hostile):
        for ending in (".png", ".pdf"):
            assert len(drawn(hostile["labels"], ending)) > 1000, ending


def two_charts():
    """Two charts, drawn; self-contained, to be run elsewhere too."""
    from beyondchance.page.charts.scores import labels_chart  # noqa: PLC0415
    from beyondchance.page.charts.texts import documents_chart  # noqa: PLC0415
    from beyondchance.page.figures import inline_svg  # noqa: PLC0415
    from beyondchance.reporting.breakdown import Row  # noqa: PLC0415
    from beyondchance.results.score import Score  # noqa: PLC0415

    def row(name, matched, expected, difficulty=0.5):
        score = Score(matched=matched, expected=expected, size_a=10, size_b=10)
        return Row(measure="token", name=name, score=score, difficulty=difficulty)

    rows = [row(name, 9, 2) for name in "abc"]
    points = [row(str(n), 2 * n, n, n / 8) for n in range(5)]
    links = {str(n): f"#document-{n}" for n in range(5)}
    return inline_svg(labels_chart(rows), name="x"), inline_svg(
        documents_chart(points, links), name="y"
    )


def test_the_same_in_every_process():
    code = f"{getsource(two_charts)}\nprint(ascii(two_charts()))"
    other = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "2"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert other == f"{two_charts()!a}\n"
    assert other.count("</svg>") == 2


class TestFiles:
    def test_endings(self):
        magic = {".svg": b"<svg", ".PNG": b"\x89PNG", ".pdf": b"%PDF"}
        for ending, start in magic.items():
            assert drawn(charts()["labels"], ending).startswith(start), ending
        with refused(OptionError, "'.gif' … .png, .svg, .pdf"):
            drawn(charts()["labels"], ".gif")

    def test_an_svg_file_is_white_has_a_size_and_no_links(self):
        svg = parsed(in_file("documents"))
        assert svg.get("viewBox") == f"0 0 {svg.get('width')} {svg.get('height')}"
        assert (tag(svg[2]), svg[2].get("fill")) == ("rect", "#ffffff")
        assert not [element for element in svg.iter() if tag(element) == "a"]

    def test_the_same_twice(self):
        assert drawn(charts()["documents"], ".png") == drawn(charts()["documents"], ".png")

    def test_all_by_their_paths(self, tmp_path):
        two = {name: charts()[name] for name in ("labels", "pairs")}
        found = figures(two, tmp_path, [".svg", ".png"])
        names = ["labels.svg", "labels.png", "pairs.svg", "pairs.png"]
        assert list(found) == [tmp_path / name for name in names]
        assert found[tmp_path / "pairs.svg"].decode() == in_file("pairs")


def test_no_chart_is_large():
    points = [
        row(
            f"document {number}",
            observed=(number * 7 % 300) / 300,
            chance=number / 300,
            corrected=0.5,
            difficulty=number / 300,
        )
        for number in range(300)
    ]
    links = {f"document {number}": f"#document-{number}" for number in range(300)}
    assert len(inline_svg(documents_chart(points, links), name="documents")) < 150_000
    labels = [row(f"{n}", chance=n / 300, corrected=0.5) for n in range(200)]
    assert len(inline_svg(labels_chart(labels), name="labels")) < 60_000
    curves = [(f"{n}", np.arange(5000) * n % 10 / 10) for n in range(6)]
    assert len(inline_svg(placement_chart(curves), name="placement")) < 60_000
