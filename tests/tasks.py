"""Tasks for the workers of the app, which import them by name."""

import time


def fails(tell, how):
    """Fail, by a defect or for lack of memory."""
    tell("failing")
    if how == "defect":
        raise KeyError("a secret of the text")
    raise MemoryError


def sleeps(tell, *_):
    """Take longer than anybody waits."""
    tell("sleeping")
    time.sleep(600)
