"""What must work with NumPy and nothing else. Needs no test library."""

import doctest
import importlib
import pkgutil
import sys

import beyondchance
from beyondchance import Corpus, agreement, coefficients

# ObsF1, ChanceF1 and CorrF1 of the paper's table 3, case A.
SPANS = {
    "a": [[(3, 5, "X"), (8, 11, "X"), (14, 18, "X")]],
    "b": [[(2, 5, "X"), (8, 12, "X"), (14, 19, "X")]],
}
PRINTED = (0.8571, 0.5335, 0.6938)
OTHER_LIBRARIES = (
    # The command line has libraries of its own, which are ordinary dependencies.
    "beyondchance.__main__",
    "beyondchance.cli",
    "beyondchance.reporting.outputs.text",
    # These need an extra.
    "beyondchance.app.server",
    "beyondchance.other_coefficients.alignment",
    "beyondchance.other_coefficients.gamma",
    "beyondchance.page.report",
)


def main() -> None:
    """Run the examples in all docstrings and one published table."""
    attempted = 0
    for module in pkgutil.walk_packages(beyondchance.__path__, "beyondchance."):
        if module.name.startswith(OTHER_LIBRARIES):
            continue
        result = doctest.testmod(
            importlib.import_module(module.name), optionflags=doctest.NORMALIZE_WHITESPACE
        )
        if result.failed:
            sys.exit(f"{module.name}: {result.failed} examples failed")
        attempted += result.attempted
    if attempted < 40:
        sys.exit(f"only {attempted} examples were found")
    result = agreement(Corpus.from_spans(SPANS, lengths=[20]))
    found = tuple(round(x, 4) for x in (result.observed, result.chance, result.corrected))
    if found != PRINTED:
        sys.exit(f"table 3, case A: found {found}, the paper prints {PRINTED}")
    other = coefficients(Corpus.from_spans(SPANS, lengths=[20])).values
    if round(other["alpha"].value, 4) != 0.8602:
        sys.exit(f"table 3, case A: alpha is {other['alpha'].value}, the paper prints .8602")
    # The environment has no pip, as those that uv makes.
    if 'pip install "scipy>=' not in (other["gamma"].reason or ""):
        sys.exit(f"gamma without scipy does not say what to install: {other['gamma'].reason}")
    installed = {
        name.partition(".")[0]
        for name, module in sys.modules.items()
        if "site-packages" in (getattr(module, "__file__", None) or "")
    }
    foreign = installed - {"beyondchance", "numpy"}
    if not installed or foreign:
        sys.exit(f"imported besides NumPy: {', '.join(sorted(foreign))}")


if __name__ == "__main__":
    main()
