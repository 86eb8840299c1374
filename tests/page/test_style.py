"""The look of the page: one scale of type, one of space, one palette; nothing of its own beside."""

import re
from importlib.resources import files

from beyondchance.page.svg import KIND_COLOURS

PAGE = files("beyondchance.page")
SHEETS = {name: PAGE.joinpath(name).read_text("utf-8") for name in ("page.css", "charts.css")}
SHEETS["app.css"] = files("beyondchance.app").joinpath("app.css").read_text("utf-8")


def rules(name):
    """A style sheet without comments and without what is declared once, in its roots."""
    without = re.sub(r"/\*.*?\*/", "", SHEETS[name], flags=re.DOTALL)
    return re.sub(r":root \{.*?\}", "", without, flags=re.DOTALL)


def test_sizes_of_type_are_of_the_scale():
    allowed = r"inherit|var\(--\w+\)(/1\.5 ui-monospace, monospace)?"
    for name in SHEETS:
        sizes = re.findall(r"font(?:-size)?: ([^;]+);", rules(name))
        assert [size for size in sizes if not re.fullmatch(allowed, size)] == [], name


def test_spaces_are_of_the_scale():
    space = re.compile(r"(?<![-\w])(?:margin|padding|gap|column-gap)[-\w]*: ([^;]+);")
    # Lines between two things are in pixels.
    allowed = r"0|auto|-?2px|!important|var\(--s[1-7]\)"
    for name in SHEETS:
        found = space.findall(rules(name))
        values = [value for text in found for value in re.sub(r"calc\(.*\)", "", text).split()]
        assert [value for value in values if not re.fullmatch(allowed, value)] == [], name


def test_colours_are_of_the_palette():
    for name in SHEETS:
        # In charts, colours select what they are drawn with.
        without = re.sub(r'="#[0-9a-f]{6}"', "", rules(name))
        assert re.findall(r":[^;{]*#[0-9a-f]{3,8}|rgba?\(|hsl", without) == [], name


def test_kinds_have_one_colour_in_texts_and_in_charts():
    sheet = PAGE.joinpath("documents.css").read_text("utf-8")
    rule = re.compile(r"\.reader-mark(?:\.|:is\(\.)(\w+)[^{]*\{ --k: (#[0-9a-f]{6}); \}")
    assert dict(rule.findall(sheet)) == KIND_COLOURS


def test_every_variable_is_declared():
    used = set(re.findall(r"var\((--[\w-]+)", "".join(SHEETS.values())))
    declared = set(re.findall(r"(--[\w-]+): ", SHEETS["page.css"]))
    assert used - declared == {"--width"}  # of each chart
