"""The example that ships with the package."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files

from beyondchance.io import read
from beyondchance.results import Agreement
from beyondchance.scoring import agreement
from beyondchance.spans import Corpus


def example() -> Corpus:
    """The corpus that ships with the package: 46 sentences of a town's newspaper.

    Three annotators with different habits marked persons, places and events.
    `ada` marks long spans ("the retired teacher Marta Lindqvist"), `ben` short
    ones ("Marta Lindqvist"), and `cleo` overlooks some.

    Examples
    --------
    >>> corpus = example()
    >>> corpus.annotators, corpus.labels
    (('ada', 'ben', 'cleo'), ('EVENT', 'PERSON', 'PLACE'))
    """
    packaged = files("beyondchance").joinpath("data", "example.conll")
    with as_file(packaged) as path:
        corpus = read(path, format="conll")
    # Where the package lies says nothing about the example.
    return replace(corpus, inputs=(), notes=())


def show() -> str:
    """What the demonstration prints: the agreement of the example, explained.

    Examples
    --------
    >>> print(show().splitlines()[0])
    3 annotators, 46 sentences in 12 documents, 214 spans; shuffled within sentences of tokens
    """
    corpus = example()
    by_token = agreement(corpus, measure="token")
    by_span = agreement(corpus, measure="exact")
    about = (
        f"{len(corpus.annotators)} annotators, {len(corpus.text_length)} sentences in "
        f"{len(corpus.documents)} documents, {by_token.n_spans} spans; shuffled within "
        f"sentences of {corpus.positions}"
    )
    parts = [
        about,
        f"Tokens that both marked:\n{by_token}",
        f"Spans that both marked alike (the F1 of NER evaluations):\n{by_span}",
        _in_words(by_token),
    ]
    return "\n\n".join(parts)


def _in_words(result: Agreement) -> str:
    """One sentence on what the numbers say."""
    return (
        f"Random annotators who mark as many spans of the same lengths would agree on "
        f"{result.chance:.0%} of the tokens marked;\nof the agreement beyond that, these "
        f"annotators reach {result.corrected:.0%}."
    )
