"""``python -m beyondchance``: the agreement of the example corpus."""

from beyondchance.demo import show

if __name__ == "__main__":
    print(show())
