"""The look of the page: one scale of type, one of space, one palette; nothing of its own beside."""

import re
from importlib.resources import files

import pytest

PAGE = files("beyondchance.page")
SHEETS = {name: PAGE.joinpath(name).read_text("utf-8") for name in ("page.css", "charts.css")}


def rules(name):
    """A style sheet without comments and without what is declared once, in its roots."""
    without = re.sub(r"/\*.*?\*/", "", SHEETS[name], flags=re.DOTALL)
    return re.sub(r":root \{.*?\}", "", without, flags=re.DOTALL)


@pytest.mark.parametrize("name", SHEETS)
def test_sizes_of_type_are_of_the_scale(name):
    sizes = re.findall(r"font(?:-size)?: ([^;]+);", rules(name))
    allowed = r"inherit|var\(--\w+\)(/1\.5 ui-monospace, monospace)?"
    assert [size for size in sizes if not re.fullmatch(allowed, size)] == []


@pytest.mark.parametrize("name", SHEETS)
def test_spaces_are_of_the_scale(name):
    found = re.findall(r"(?<![-\w])(?:margin|padding|gap|column-gap)[-\w]*: ([^;]+);", rules(name))
    values = [value for text in found for value in re.sub(r"calc\(.*\)", "", text).split()]
    # Lines between two things are in pixels.
    allowed = r"0|auto|-?2px|!important|var\(--s[1-7]\)"
    assert [value for value in values if not re.fullmatch(allowed, value)] == []


@pytest.mark.parametrize("name", SHEETS)
def test_colours_are_of_the_palette(name):
    # In charts, colours select what they are drawn with.
    without = re.sub(r'="#[0-9a-f]{6}"', "", rules(name))
    assert re.findall(r":[^;{]*#[0-9a-f]{3,8}|rgba?\(|hsl", without) == []


def test_every_variable_is_declared():
    used = set(re.findall(r"var\((--[\w-]+)", "".join(SHEETS.values())))
    declared = set(re.findall(r"(--[\w-]+): ", SHEETS["page.css"]))
    assert used - declared == {"--width"}  # of each chart
