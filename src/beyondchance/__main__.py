"""``python -m beyondchance``: the command line."""

import sys

from beyondchance.cli import main

if __name__ == "__main__":
    sys.exit(main())
