"""``python -m beyondchance``: the command line."""

from beyondchance.cli.main import run

if __name__ == "__main__":
    run()
