"""Regular expressions: none takes more time than in proportion to the text."""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path

import pytest

import beyondchance
from each import each
from slowness import Steps, texts_for, too_many_steps, too_slow

METHODS = ("match", "fullmatch", "search", "sub", "findall", "finditer", "split", "subn")
PACKAGE = Path(beyondchance.__file__).parent
_USES = re.compile(r"\bre\b")


@cache
def trees() -> dict[str, ast.Module]:
    """The modules that may use regular expressions."""
    texts = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path.read_text("utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name not in {"__init__.py", "__main__.py"}
    }
    return {name: ast.parse(text) for name, text in texts.items() if _USES.search(text)}


@cache
def calls(tree: ast.AST) -> list[ast.Attribute]:
    """What is called of the module re."""
    attributes = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        node
        for node in attributes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "re"
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
    where = {module} if name.startswith("_") else trees()
    nodes = [
        node for one in where for node in ast.walk(trees()[one]) if isinstance(node, ast.Attribute)
    ]
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
    for node in trees()[module].body:
        number = sum(call.attr == "compile" for call in calls(node))
        if number and isinstance(node, ast.Assign):
            parts = [one for target in node.targets for one in ast.walk(target)]
            names = [one.id for one in parts if isinstance(one, ast.Name)]
            values = vars(importlib.import_module(module))
            found = {name: list(patterns_in(values[name])) for name in names}
            assert sum(map(len, found.values())) == number, f"{module}:{node.lineno}"
            yield from found.items()


def cases() -> Iterator[tuple[str, re.Pattern, str]]:
    """The name of each pattern, the pattern, and how it is used."""
    for module in trees():
        for name, patterns in constants(module):
            for pattern, method in product(patterns, sorted(methods_of(name, module))):
                yield f"{module.removeprefix('beyondchance.')}.{name}", pattern, method


@pytest.mark.slow
def test_steps_are_in_proportion():
    found = {(name, method): too_many_steps(one, method) for name, one, method in cases()}
    assert len(found) > 100
    assert {key: text for key, text in found.items() if text is not None} == {}


@pytest.mark.long
def test_time_is_in_proportion():
    found = {(name, method): too_slow(one, method) for name, one, method in cases()}
    assert {key: text for key, text in found.items() if text is not None} == {}


@pytest.mark.slow
def test_steps_lead_where_python_gets():
    """Else they would be those of another pattern."""
    for name, pattern, _ in cases():
        is_text = isinstance(pattern.pattern, str)
        for method in ("match", "fullmatch"):
            steps = Steps(pattern, method)
            for text in islice(texts_for(pattern), 0, None, 50):
                content = text.times(3)
                if not is_text and not content.isascii():
                    continue
                known = getattr(pattern, method)(content if is_text else content.encode())
                found = steps.end_of(content)
                assert found == (known.end() if known else None), (name, method, content)


@pytest.mark.slow
def test_all_patterns_are_constants():
    """Others would not be among the above."""
    for module, tree in trees().items():
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        assert not any(node.module == "re" for node in imports), module
        assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
        constant = [call for node in assigned for call in calls(node)]
        allowed = {call for call in constant if call.attr in {"compile", "escape"}}
        assert set(calls(tree)) == allowed, module


SLOW = [
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
]


@pytest.mark.slow
@each(("pattern", "method"), SLOW[:2])
def test_some_slow_patterns_are_found_by_steps(pattern, method):
    assert too_many_steps(re.compile(pattern), method) is not None


@pytest.mark.long
@each(("pattern", "method"), SLOW)
def test_slow_patterns_are_found_by_steps(pattern, method):
    assert too_many_steps(re.compile(pattern), method) is not None


@pytest.mark.long
@each(("pattern", "method"), SLOW)
def test_slow_patterns_are_found_by_time(pattern, method):
    assert too_slow(re.compile(pattern), method) is not None
