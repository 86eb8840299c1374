"""``python -m beyondchance``, and the command: the command line, once it is loaded."""

import gc
import os
import signal
from typing import NoReturn

INTERRUPTED = 130
_MADE_AT_A_TIME = 100_000
"""Objects after which garbage is looked for: loading makes nearly as many, of which none is."""


def run() -> NoReturn:
    """Load the command line and run it; who interrupts it meanwhile sees no traceback."""
    gc.set_threshold(_MADE_AT_A_TIME)
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from beyondchance.cli import main  # noqa: PLC0415 - it takes a while

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main.run()


if __name__ == "__main__":
    run()
