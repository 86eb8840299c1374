"""Compare two test suites by the seeded mutants of the source that each of them kills.

    python benchmarks/mutants.py reach CHECKOUT --out reach.json [--source src] [--pytest "-m …"]
    python benchmarks/mutants.py run CHECKOUT --reach reach.json --out killed.json [--only FILE]
    python benchmarks/mutants.py differ ONE.json OTHER.json

A mutant is one change inside one function: another operator or comparison, another constant, a
statement left out. The sample is drawn by a seed, stratified by package, from `src` of SOURCE,
which replaces that of CHECKOUT: two suites are compared on the same source. `reach` runs the tests
once and notes which of them execute the statement of each mutant, in processes that tests start
as well; `run` then runs, for each mutant, only those tests, the cheapest first, up to the first
failure. `differ` lists the mutants that only the second suite lets live.

Everything runs in copies of the checkout, under the interpreter that runs this script.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from queue import Empty, Queue

SEED = 30
LEAST, MOST = 12, 60
"""Mutants of a package, which otherwise follow the square root of its possible ones."""
SECONDS = 240
"""Tests of a mutant are stopped after so long, or after four times what they took before."""
SAMPLE = 330
FILES, FEW_SECONDS, MOST_SECONDS = 4, 10, 60
"""Files of tests, and CPU seconds of their tests, that are tried on a mutant at first; and seconds
of all others."""

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip
REMOVED = (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break)
SEEN = """
import os as _os
now = set()
def seen(number):
    if number not in now:
        now.add(number)
        test = _os.environ.get("PYTEST_CURRENT_TEST")
        if test:
            with open(_os.environ["MUTANTS_SEEN"] + str(_os.getpid()), "a") as file:
                file.write(f"{number}\\t{test.rpartition(' (')[0]}\\n")
"""
PLUGIN = """
import json, os, time
import pytest

def spent():
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    import sys
    if "mutants_seen" in sys.modules:
        sys.modules["mutants_seen"].now.clear()
    before = spent()
    yield
    with open(os.environ["MUTANTS_SEEN"] + f"time{os.getpid()}", "a") as file:
        file.write(json.dumps([item.nodeid, spent() - before]) + "\\n")
"""


@dataclass(frozen=True)
class Mutant:
    """A change of one node of a module: the number of the node in a walk, and what changes."""

    path: str
    line: int
    kind: str
    node: int
    statement: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}"


# --- What can be changed ------------------------------------------------------


def mutants_of(path: Path, source: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module, all of them inside functions."""
    tree = ast.parse(path.read_text("utf-8"))
    numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}
    name = str(path.relative_to(source))

    def visited(statements: list[ast.stmt], is_inside: bool) -> Iterator[Mutant]:
        for statement in statements:
            if isinstance(statement, ast.FunctionDef):
                yield from visited(statement.body, True)
                continue
            if isinstance(statement, ast.ClassDef):
                yield from visited(statement.body, False)
                continue
            is_words = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if is_inside and not is_words:
                at = numbers[id(statement)]
                if isinstance(statement, REMOVED) or is_guard(statement):
                    yield Mutant(name, statement.lineno, "removed", at, at)
                for node in expressions(statement):
                    for kind in changes(node):
                        yield Mutant(name, node.lineno, kind, numbers[id(node)], at)
            for inner in inner_statements(statement):
                yield from visited(inner, is_inside)

    yield from visited(tree.body, False)


def is_guard(statement: ast.stmt) -> bool:
    """Return whether a statement is an `if` without an `else`."""
    return isinstance(statement, ast.If) and not statement.orelse


def inner_statements(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of statements inside a statement."""
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(statement, field, None)
        if inner:
            yield inner
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement itself, not of statements inside it."""
    waiting = [
        child
        for field, value in ast.iter_fields(statement)
        if field not in {"annotation", "body", "orelse", "finalbody", "handlers", "cases"}
        for child in (value if isinstance(value, list) else [value])
        if isinstance(child, ast.AST)
    ]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr):
            yield node
        if not isinstance(node, ast.JoinedStr):
            waiting += ast.iter_child_nodes(node)


def changes(node: ast.expr) -> Iterator[str]:
    """Yield the kinds of change that a node admits."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        yield "comparison"
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield "operator"
    if isinstance(node, ast.BoolOp):
        yield "and-or"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield "constant"


def changed(source: str, mutant: Mutant) -> tuple[str, str]:
    """Return the module with one mutant, and the statement before and after."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    statement, node = nodes[mutant.statement], nodes[mutant.node]
    before = ast.unparse(statement).splitlines()[0]
    if mutant.kind == "removed":
        replace_statement(tree, statement, [ast.Pass()])
        return ast.unparse(tree), f"{before}  ->  removed"
    expression = ast.unparse(node)
    if mutant.kind == "comparison":
        node.ops[0] = COMPARED[type(node.ops[0])]()
    elif mutant.kind == "operator":
        node.op = COMPUTED[type(node.op)]()
    elif mutant.kind == "and-or":
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif mutant.kind == "not":
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), copy.copy(node.operand))
    elif mutant.kind == "constant":
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    after = ast.unparse(node)
    return ast.unparse(tree), f"{before}  [{expression}  ->  {after}]"


def replace_statement(tree: ast.AST, old: ast.stmt, new: list[ast.stmt]) -> None:
    """Replace a statement of a tree, in place."""
    for parent in ast.walk(tree):
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(one is old for one in value):
                place = next(i for i, one in enumerate(value) if one is old)
                value[place : place + 1] = new
                return


def sampled(source: Path, number: int, seed: int) -> list[Mutant]:
    """Draw mutants, of each package at least a few, otherwise by the root of its size."""
    by_package: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted(source.rglob("*.py")):
        for mutant in mutants_of(path, source):
            by_package[str(Path(mutant.path).parent.parts[1:2])].append(mutant)
    roots = {name: len(mutants) ** 0.5 for name, mutants in by_package.items()}
    share = number / sum(roots.values())
    rng = random.Random(seed)  # noqa: S311
    return [
        mutant
        for name, mutants in sorted(by_package.items())
        for mutant in rng.sample(
            mutants, min(len(mutants), MOST, max(LEAST, round(share * roots[name])))
        )
    ]


# --- Running tests ------------------------------------------------------------


def copied(checkout: Path, source: Path, folder: Path) -> Path:
    """Copy a checkout, with the source that is to be changed."""
    ignored = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__", ".*_cache")
    shutil.copytree(checkout, folder, ignore=ignored)
    if source.resolve() != (checkout / "src").resolve():
        shutil.rmtree(folder / "src")
        shutil.copytree(source, folder / "src", ignore=ignored)
    (folder / "src" / "mutants_seen.py").write_text(SEEN)
    (folder / "src" / "mutants_plugin.py").write_text(PLUGIN)
    return folder


def run_pytest(
    work: Path, *arguments: str, seconds: float | None = None
) -> subprocess.CompletedProcess[str] | None:
    """Run pytest in a copy of the checkout; None if it takes too long."""
    environment = {
        **os.environ, "PYTHONPATH": str(work / "src"), "OPENBLAS_NUM_THREADS": "1",
        "MUTANTS_SEEN": f"{work}/.seen-", "CI": "true",
    }  # fmt: skip
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    with subprocess.Popen(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return None
    return subprocess.CompletedProcess(command, process.returncode, said)


def reach(options: argparse.Namespace) -> None:
    """Run all tests once on source that notes which mutants' statements are executed."""
    mutants = sampled(options.source, SAMPLE, SEED)
    with tempfile.TemporaryDirectory() as folder:
        work = copied(options.checkout, options.source, Path(folder) / "checkout")
        by_path: dict[str, list[int]] = defaultdict(list)
        for number, mutant in enumerate(mutants):
            by_path[mutant.path].append(number)
        for name, numbers in by_path.items():
            path = work / "src" / name
            tree = ast.parse(path.read_text("utf-8"))
            nodes = list(ast.walk(tree))
            for number in numbers:
                statement = nodes[mutants[number].statement]
                noting = ast.parse(f"__import__('mutants_seen').seen({number})").body
                replace_statement(tree, statement, [*noting, statement])
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
        done = run_pytest(work, "-n", "2", "-p", "mutants_plugin", *shlex.split(options.pytest))
        print("\n".join(done.stdout.splitlines()[-12:]))
        seen: dict[int, set[str]] = defaultdict(set)
        times: dict[str, float] = {}
        for path in work.glob(".seen-*"):
            for line in path.read_text("utf-8").splitlines():
                if "-time" in path.name:
                    test, spent = json.loads(line)
                    times[test] = spent
                else:
                    number, _, test = line.partition("\t")
                    seen[int(number)].add(test)
        failed = {
            line.split(" ", 1)[1].split(" - ")[0]
            for line in done.stdout.splitlines()
            if line.startswith(("FAILED ", "ERROR "))
        }
    found = [
        {**asdict(mutant), "tests": sorted((seen[number] & set(times)) - failed)}
        for number, mutant in enumerate(mutants)
    ]
    options.out.write_text(json.dumps({"mutants": found, "times": times}), "utf-8")
    print(f"{len(mutants)} mutants, {sum(not one['tests'] for one in found)} reached by no test")


def run(options: argparse.Namespace) -> None:
    """Run the tests that reach each mutant, up to the first failure."""
    known = json.loads(options.reach.read_text("utf-8"))
    times = known["times"]
    waiting: Queue[dict] = Queue()
    wanted = set(json.loads(options.only.read_text("utf-8"))) if options.only else None
    for one in known["mutants"]:
        mutant = Mutant(**{key: one[key] for key in Mutant.__dataclass_fields__})
        if wanted is None or f"{mutant} {mutant.node}" in wanted:
            waiting.put({"mutant": mutant, "tests": sorted(one["tests"], key=times.__getitem__)})
    total, results = waiting.qsize(), []

    def work_off(folder: Path) -> None:
        work = copied(options.checkout, options.source, folder)
        while True:
            try:
                given = waiting.get_nowait()
            except Empty:
                return
            mutant, tests = given["mutant"], given["tests"]
            path = work / "src" / mutant.path
            original = path.read_text("utf-8")
            code, said = changed(original, mutant)
            started = time.monotonic()
            killer = None if not tests else judged(work, path, code, tests, times)
            path.write_text(original, "utf-8")
            row = {
                "mutant": f"{mutant} {mutant.node}", "change": said, "tests": len(tests),
                "killed_by": killer, "seconds": round(time.monotonic() - started, 1),
            }  # fmt: skip
            results.append(row)
            print(f"{len(results)}/{total} {mutant} {killer or 'LIVES'}", flush=True)
            options.out.write_text(json.dumps(results, indent=1), "utf-8")

    with tempfile.TemporaryDirectory() as folder:
        threads = [
            threading.Thread(target=work_off, args=(Path(folder) / str(i),)) for i in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    killed = sum(row["killed_by"] is not None for row in results)
    print(f"{killed} of {total} killed")


def judged(
    work: Path, path: Path, code: str, tests: list[str], times: dict[str, float]
) -> str | None:
    """Return what killed a mutant, or None."""
    path.write_text(code, "utf-8")
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    nearest = near(str(path.relative_to(work / "src" / "beyondchance")), tests, times)
    others = [test for test in tests if test not in set(nearest)]
    for chosen in (nearest, affordable(others, times, MOST_SECONDS)):
        if not chosen:
            continue
        arguments = work / ".tests"
        arguments.write_text("\n".join(chosen), "utf-8")
        done = run_pytest(
            work, "-x", "--no-header", "--tb=no", f"@{arguments}",
            seconds=max(SECONDS, 4 * sum(times[test] for test in chosen)),
        )  # fmt: skip
        if done is None:
            return "took too long"
        if done.returncode:
            lines = [one for one in done.stdout.splitlines() if one.startswith(("FAILED", "ERROR"))]
            return lines[0] if lines else "\n".join(done.stdout.splitlines()[-3:])
    return None


def near(module: str, tests: list[str], times: dict[str, float]) -> list[str]:
    """Choose some tests that are likely to kill a mutant, of few files: collecting takes time."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_file[test.partition("::")[0]].append(test)
    stem, package = Path(module).stem.strip("_"), Path(module).parts[0]

    def distance(name: str) -> tuple[bool, bool, float]:
        return stem not in name, f"tests/{package}/" not in name, -len(by_file[name])

    chosen: list[str] = []
    for name in sorted(by_file, key=distance)[:FILES]:
        chosen += by_file[name]
    return affordable(chosen, times, FEW_SECONDS)


def affordable(tests: list[str], times: dict[str, float], seconds: float) -> list[str]:
    """Choose the cheapest tests that take so many seconds of CPU time together."""
    ordered = sorted(tests, key=times.__getitem__)
    spent = accumulate(times[test] for test in ordered)
    return [test for test, so_far in zip(ordered, spent, strict=True) if so_far <= seconds]


def differ(options: argparse.Namespace) -> None:
    """List the mutants that the first suite kills and the second lets live."""
    one, other = (
        {row["mutant"]: row for row in json.loads(path.read_text("utf-8"))}
        for path in (options.one, options.other)
    )
    for name, row in other.items():
        if row["killed_by"] is None and name in one and one[name]["killed_by"] is not None:
            print(f"{name}\n    {row['change']}\n    {one[name]['killed_by']}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, function in (("reach", reach), ("run", run)):
        command = commands.add_parser(name)
        command.set_defaults(run=function)
        command.add_argument("checkout", type=Path)
        command.add_argument("--source", type=Path)
        command.add_argument("--out", type=Path, required=True)
    command.add_argument("--reach", type=Path, required=True)
    command.add_argument("--only", type=Path, help="a JSON list of mutants")
    commands.choices["reach"].add_argument("--pytest", default="", help="options of pytest")
    command = commands.add_parser("differ")
    command.set_defaults(run=differ)
    command.add_argument("one", type=Path)
    command.add_argument("other", type=Path)
    options = parser.parse_args()
    if getattr(options, "checkout", None) and options.source is None:
        options.source = options.checkout / "src"
    options.run(options)


if __name__ == "__main__":
    main()
