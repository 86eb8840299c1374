"""Files of decisions as the page saves them, made from what an annotator has."""

from __future__ import annotations

from typing import Any

import beyondchance as bc
from beyondchance.scoring.places import places_of

DIFFERING = ("label", "boundary", "both", "missing")


def file_of(corpus: bc.Corpus, decisions: list[dict[str, Any]]) -> dict[str, Any]:
    """A file of decisions about a corpus."""
    return {
        "beyondchance": "decisions",
        "format": 1,
        "unit": corpus.unit,
        "positions": corpus.positions,
        "decisions": decisions,
    }


def decided_for(corpus: bc.Corpus, who: str, by: str = "mia") -> list[dict[str, Any]]:
    """A decision for somebody's version at every place where annotators differ."""
    members = [name for name in corpus.annotators if name != corpus.gold]
    found = places_of(corpus, members, None).only(kinds=DIFFERING)
    made = []
    for place, text in enumerate(found.text.tolist()):
        spans = found.versions(place)[who]
        if spans is None:
            continue
        made.append(
            {
                "document": corpus.documents[corpus.text_document[text]],
                "text": int(corpus.number_in_document(found.text[place : place + 1])[0]),
                "start": int(found.start[place]),
                "end": int(found.end[place]),
                "spans": [list(span) for span in spans],
                "choice": "version" if spans else "nothing",
                "of": [who],
                "by": by,
                "note": "",
                "words": None,
            }
        )
    return made


def marks(corpus: bc.Corpus, who: str) -> dict[str, list[tuple[int, int, str]]]:
    """What somebody marked, by document."""
    return {
        document: sorted(tuple(span) for span in corpus.spans(document, who))
        for document in corpus.documents
        if who in corpus.annotators_of(document)
    }
