"""``python -m beyondchance``: the command line."""

from beyondchance.cli import run

if __name__ == "__main__":
    run()
