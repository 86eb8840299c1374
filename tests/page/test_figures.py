"""Charts drawn: safe, small, the same every time, and readable without seeing them."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from inspect import getsource
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest

from beyondchance.errors import OptionError
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
from beyondchance.page.svg import drawn
from drawings import parsed, tag, texts
from refusals import refused

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
    """Every chart."""
    return all_charts(["ada", "ben", "cleo", "dora"])


def inline(name):
    """A chart as it stands in a page."""
    return charts()[name].inline()


def in_file(name):
    """A chart as it is saved."""
    return drawn(charts()[name], ".svg").decode()


class TestInline:
    def test_what_comes_first_is_a_title_and_a_description(self):
        for name in charts():
            svg = parsed(inline(name))
            assert (tag(svg[0]), svg[0].get("id")) == ("title", f"{name}-title"), name
            assert (tag(svg[1]), svg[1].get("id")) == ("desc", f"{name}-description"), name
            assert svg.get("aria-labelledby") == f"{name}-title", name
            assert svg[1].text == charts()[name].description, name

    def test_its_title_is_written_by_the_page_and_in_a_file_by_the_chart(self):
        for name in charts():
            chart = charts()[name]
            assert chart.title == parsed(inline(name))[0].text, name
            for words in (chart.title, *chart.notes):
                assert words in " ".join(texts(in_file(name))), name
                assert words not in " ".join(texts(inline(name))), name

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
        allowed = r"none|#[0-9a-f]{6}"
        for name in charts():
            found = set(re.findall(r'(?:fill|stroke)="([^"]*)"', inline(name)))
            assert all(re.fullmatch(allowed, colour) for colour in found), name


class TestRoomForLetters:
    """Texts are laid out for letters that are wider than those of Arial."""

    def test_letters_have_the_size_that_was_asked_for(self):
        for name in charts():
            for svg in (inline(name), in_file(name)):
                sizes = set(re.findall(r'font-size="([^"]*)"', svg))
                assert sizes <= {"9px", "11px", "12px", "14px"}, name

    def test_names_stand_further_from_the_edge(self):
        chart = labels_chart([row("a name of average length")])
        svg = parsed(chart.inline())
        width = float(svg.get("viewBox").split()[2])
        # In Arial of 12 pixels the name takes 131, in DejaVu Sans 152.
        assert width - 300 > 1.2 * 131


class TestLongNames:
    def test_the_pointer_shows_them_in_full(self):
        names = ["Dr. Maximiliana von Hohenlohe", "annotator_0000017_round-2", "ada"]
        chart = kinds_chart({(names[0], names[1]): {"agree": 2}, (names[0], "ada"): {"agree": 1}})
        svg = parsed(chart.inline())
        told = [
            element.findtext("{*}title")
            for element in svg.iter()
            if tag(element) == "text" and "…" in "".join(element.itertext())
        ]
        assert told == [f"{names[0]} and {names[1]}", f"{names[0]} and ada"]

    def test_each_its_own_where_two_begin_alike(self):
        names = ["annotator_0000017_round-2_a", "annotator_0000017_round-2_b"]
        svg = parsed(labels_chart([row(name) for name in names]).inline())
        shown = [
            (element[-1].tail, element[0].text)
            for element in svg.iter()
            if tag(element) == "text" and len(element)
        ]
        cut = "annotator_0000017_round…"
        assert shown == [(cut, names[0]), (f"{cut} (2)", names[1])]


class TestIds:
    def test_ids_of_all_charts_differ(self):
        ids = re.findall(r' id="([^"]*)"', "".join(map(inline, charts())))
        assert len(set(ids)) == len(ids) == 2 * len(charts())


class TestLinks:
    def test_each_point_is_a_link_with_a_name(self):
        svg = parsed(inline("documents"))
        links = [element for element in svg.iter() if tag(element) == "a"]
        assert [link.get("href") for link in links] == [f"#document-{n}" for n in (1, 2, 3, 4)]
        assert links[1].get("aria-label") == ("ben: observed 0.500, chance 0.250, corrected 0.333")
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
def written():
    """Every chart with hostile names, by its name and whether it is a file."""
    words = {"title": "</title><script>", "description": '"><b>'}
    made = {name: replace(chart, **words) for name, chart in all_charts(HOSTILE).items()}
    files = {(name, True): drawn(chart, ".svg").decode() for name, chart in made.items()}
    return files | {(name, False): chart.inline() for name, chart in made.items()}


class TestHostileNames:
    def test_names_are_text_and_nothing_else(self, written):
        known = {"svg", "title", "desc", "g", "a", "path", "line", "polyline", "text", "rect"}
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
            shown = " ".join(texts(written[name, False]))
            for part in ("a.b[0]", "שלום", "__proto__", "(empty)", "null", "xxxxxxxxxxxxx…"):
                assert part in shown, name


def two_charts():
    """Two charts, drawn; self-contained, to be run elsewhere too."""
    from beyondchance.page.charts.scores import labels_chart  # noqa: PLC0415
    from beyondchance.page.charts.texts import documents_chart  # noqa: PLC0415
    from beyondchance.reporting.breakdown import Row  # noqa: PLC0415
    from beyondchance.results.score import Score  # noqa: PLC0415

    def row(name, matched, expected, difficulty=0.5):
        score = Score(matched=matched, expected=expected, size_a=10, size_b=10)
        return Row(measure="token", name=name, score=score, difficulty=difficulty)

    rows = [row(name, 9, 2) for name in "abc"]
    points = [row(str(n), 2 * n, n, n / 8) for n in range(5)]
    links = {str(n): f"#document-{n}" for n in range(5)}
    return labels_chart(rows).inline(), documents_chart(points, links).inline()


@pytest.mark.slow
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
        for ending in (".svg", ".SVG"):
            assert drawn(charts()["labels"], ending).startswith(b"<svg"), ending
        for ending in (".gif", ".pdf", ""):
            with refused(OptionError, f"'{ending}' … .svg … rsvg-convert"):
                drawn(charts()["labels"], ending)

    def test_an_svg_file_is_white_has_a_size_and_no_links(self):
        svg = parsed(in_file("documents"))
        box = svg.get("viewBox").split()
        assert box[2:] == [svg.get("width"), svg.get("height")]
        paper = svg[2][0]
        assert (tag(paper), paper.get("fill")) == ("rect", "#ffffff")
        assert [paper.get(side) for side in ("x", "y", "width", "height")] == box
        assert not [element for element in svg.iter() if tag(element) == "a"]
        points = [element for element in svg.iter() if element.get("fill-opacity") == "0.7"]
        assert len(points) == 4

    def test_a_notebook_shows_it(self):
        assert charts()["labels"]._repr_svg_() == in_file("labels")


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
    assert len(documents_chart(points, links).inline()) < 150_000
    labels = [row(f"{n}", chance=n / 300, corrected=0.5) for n in range(200)]
    assert len(labels_chart(labels).inline()) < 60_000
    curves = [(f"{n}", np.arange(5000) * n % 10 / 10) for n in range(6)]
    assert len(placement_chart(curves).inline()) < 60_000
