"""Run one test on each of many cases: a table of cases is one test, not hundreds."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable], Callable]:
    """Call a test with the values of each case, like ``pytest.mark.parametrize``, in one test.

    What fails names its case. Each case has an empty ``tmp_path`` and a ``monkeypatch`` of its own;
    other fixtures are those of the whole test.
    """
    keys = [names] if isinstance(names, str) else list(names)
    listed = [(case,) if isinstance(names, str) else tuple(case) for case in cases]
    assert listed, "no cases"
    assert all(len(case) == len(keys) for case in listed)

    def decorated(test: Callable) -> Callable:
        signature = inspect.signature(test)

        @wraps(test)
        def run(*args: Any, **fixtures: Any) -> None:
            for number, case in enumerate(listed):
                values = dict(zip(keys, case, strict=True))
                try:
                    _call(test, number, args, fixtures, values)
                except BaseException as error:
                    error.add_note(f"case {number}: {repr(values)[:1000]}")
                    raise

        own = [value for name, value in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=own)
        return run

    return decorated


def _call(test: Callable, number: int, args: tuple, fixtures: dict, values: dict) -> None:
    with pytest.MonkeyPatch.context() as patch:
        given = {**fixtures, **values}
        if "monkeypatch" in fixtures:
            given["monkeypatch"] = patch
        if "tmp_path" in fixtures:
            given["tmp_path"] = fixtures["tmp_path"] / str(number)
            given["tmp_path"].mkdir()
        test(*args, **given)
