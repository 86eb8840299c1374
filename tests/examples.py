"""How many examples a law is tried on: a number for make slow, part of which other runs take."""

from hypothesis import settings

FEWEST = 3


def examples(number: int) -> settings:
    """Return settings with a number of examples, scaled by the profile of the run."""
    full = settings.get_profile("full").max_examples
    return settings(max_examples=max(FEWEST, round(number * settings.default.max_examples / full)))
