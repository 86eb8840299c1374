"""Regular expressions: none takes more time than in proportion to the text."""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import beyondchance
from slowness import too_slow

METHODS = ("match", "fullmatch", "search", "sub", "findall", "finditer", "split", "subn")
PACKAGE = Path(beyondchance.__file__).parent
SOURCES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name not in {"__init__.py", "__main__.py"}
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}


def calls(tree: ast.AST) -> list[ast.Attribute]:
    """What is called of the module re."""
    attributes = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        node
        for node in attributes
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "re"
    ]


def patterns_in(value: object) -> Iterator[re.Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from patterns_in(one)
    elif is_dataclass(value):
        for one in fields(value):
            yield from patterns_in(getattr(value, one.name))


def methods_of(name: str, module: str) -> set[str]:
    """How the pattern of a name is used; in any way where that cannot be seen."""
    trees = [TREES[module]] if name.startswith("_") else TREES.values()
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = {
        node.attr
        for node in nodes
        if node.attr in METHODS
        and any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node.value))
    }
    found = used or set(METHODS)
    # All that find each place take as long.
    return {
        method if method in {"match", "fullmatch", "search"} else "finditer" for method in found
    }


def constants(module: str) -> Iterator[tuple[str, list[re.Pattern]]]:
    """The constants of a module that hold patterns."""
    for node in TREES[module].body:
        number = sum(call.attr == "compile" for call in calls(node))
        if number and isinstance(node, ast.Assign):
            parts = [one for target in node.targets for one in ast.walk(target)]
            names = [one.id for one in parts if isinstance(one, ast.Name)]
            values = vars(importlib.import_module(module))
            found = {name: list(patterns_in(values[name])) for name in names}
            assert sum(map(len, found.values())) == number, f"{module}:{node.lineno}"
            yield from found.items()


CASES = [
    pytest.param(pattern, method, id=f"{module.removeprefix('beyondchance.')}.{name}-{method}")
    for module in TREES
    for name, patterns in constants(module)
    for pattern in patterns
    for method in sorted(methods_of(name, module))
]


@pytest.mark.parametrize(("pattern", "method"), CASES)
def test_time_is_in_proportion(pattern, method):
    assert too_slow(pattern, method) is None


@pytest.mark.parametrize("module", TREES)
def test_all_patterns_are_constants(module):
    """Others would not be among the above."""
    tree = TREES[module]
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    assert not any(node.module == "re" for node in imports)
    constant = [call for node in tree.body if isinstance(node, ast.Assign) for call in calls(node)]
    assert set(calls(tree)) == {call for call in constant if call.attr in {"compile", "escape"}}


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"#\s*([^=]+?)\s*=\s*(.*)", "fullmatch"),
        (r"(?:\s+|<!--.*?-->)*<a", "match"),
        (r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?\s*>", "match"),
        (r"<Project\s[^>]*urn:x", "search"),
        (r"(?m)^xmin[ \t]*=[ \t]*(-[\d.]*[1-9]\S*)[ \t]*$", "search"),
        (r"[^\S\r\n]*(?:\r\n|\r|\n)\s*", "finditer"),
        (r"\(([^()]+)\)|\(([^()]+)|([^()]+)\)", "finditer"),
        (r"([^@\s,/]+)@[^@\s,/]+\.[^@\s.,/]+", "search"),
        (r'"[^"\\]*(?:\\.[^"\\]*)*"|\}', "finditer"),
        (r"-?\d+\.\d{3,}(?:e[+-]?\d+)?|-?\d+(?:\.\d+)?e[+-]?\d+", "sub"),
        (r"\s+$", "sub"),
        (r"(\w+\s?)*;", "match"),
        (rb"\s*,\s*\s*;", "search"),
    ],
)
def test_slow_patterns_are_found(pattern, method):
    assert too_slow(re.compile(pattern), method) is not None
