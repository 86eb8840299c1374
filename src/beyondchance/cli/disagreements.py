"""``beyondchance disagreements``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count
from operator import itemgetter
from typing import Any

from beyondchance.adjudication.consensus import NAME, consensus
from beyondchance.annotations.corpus import Corpus
from beyondchance.cli import options as flags
from beyondchance.cli.loading import load
from beyondchance.cli.running import tell
from beyondchance.cli.writing import UNSAVED
from beyondchance.errors import DataError
from beyondchance.io.writing import WITH_NOTES, WRITTEN, write
from beyondchance.reporting.blocks import Report, counted
from beyondchance.reporting.commands.disagreements import disagreements_report, is_against_gold
from beyondchance.reporting.commands.places import notes_of
from beyondchance.scoring.disagreements import KINDS, Disagreements, disagreements
from beyondchance.scoring.places import Places

PAIR_KINDS = ("missed", "extra")
"""Kinds of pairs of which one annotator has no span."""
_MISSING = "missing"


def _is_team(found: Disagreements) -> bool:
    """Return whether more than two annotators are compared with one another."""
    return len({name for pair in found.pairs for name in pair}) > 2 and not is_against_gold(found)


@flags.command("disagreements", doing="reading and aligning")
@flags.annotated_files
@flags.in_output(
    "--by",
    type=flags.Choice(("place", "pair")),
    is_everyday=True,
    help="List places, or pairs of spans of two annotators.",
    more="A place are spans of any annotators that overlap, joined: one row, with what each "
    "marked. By default places, and pairs for two annotators or with a gold standard.",
)
@flags.in_output(
    "--kind",
    type=flags.NAMES,
    is_everyday=True,
    help=f"List only these: {', '.join(KINDS)}; of places, missing.",
    more="missed: marked by the first annotator only; extra: by the second only; missing: by some "
    "only, who agree. All but agree by default; counts are of all.",
)
@flags.in_output(
    "--label",
    type=flags.NAMES,
    is_everyday=True,
    help="List only those in which either span has one of these labels.",
    more="Counts are of all.",
)
@flags.in_output(
    "--to",
    type=flags.Choice(WRITTEN),
    metavar="NAME",
    needs=(itemgetter("save"), UNSAVED),
    help="Write the documents with disagreements as tasks in the format of an annotation tool.",
    more="They start from the consensus, and say in a note what annotators marked, where the "
    "format has notes; with Label Studio all versions are predictions.",
)
@flags.TOP
@flags.list_output
def command(**options: Any) -> Report | None:
    """Every disagreement, its kind and its place.

    The spans of two annotators are aligned one to one. Aligned spans agree, or differ in
    their boundaries, in their label or in both; a span without a partner was marked by one of
    them only. Against a gold standard it was missed, or is extra. A gold standard comes first;
    with several annotators it is left out. Of three annotators or more, places are listed: what
    each marked where spans overlap, how many agree, and what settling it is worth.

    \b
    beyondchance disagreements anna.conll ben.conll
    beyondchance disagreements export.json --kind label,both --output csv
    beyondchance disagreements export.json --by place --save decisions.csv
    beyondchance disagreements spans.csv --gold expert --annotators anna
    beyondchance disagreements export.json --to label-studio --save tasks.json
    """
    corpus = load(options)
    found = disagreements(corpus)
    kinds = options["kind"]
    if kinds is None:
        kinds = [kind for kind in KINDS if kind != "agree"]
    asks_places = _is_team(found) or _MISSING in kinds
    by_place = options["by"] == "place" or (options["by"] is None and asks_places)
    places = None
    if by_place or options["to"] is not None:
        known = dict.fromkeys(_MISSING if kind in PAIR_KINDS else kind for kind in kinds)
        places = found.places.only(kinds=list(known)).only(labels=options["label"])
        if options["to"] is not None:
            _write_tasks(corpus, places, options)
            return None
        kinds = [kind for kind in kinds if kind != _MISSING]
    listed = found.only(kinds=kinds).only(labels=options["label"])
    return disagreements_report(found, listed, places=places, top=options["top"])


def _write_tasks(corpus: Corpus, places: Places, options: Mapping[str, Any]) -> None:
    """Write the documents with disagreements, for an annotation tool to decide them in.

    The consensus is what to start from; Label Studio has the versions of all annotators next to it.
    """
    notes = notes_of(places)
    if not notes:
        raise DataError("there is no disagreement to write", expected="at least one")
    whole = consensus(corpus, name=_free_name(corpus.annotators))
    part = whole.corpus.select(documents=list(notes))
    target, place = options["to"], options["save"]
    is_several = target == "label-studio"
    write(
        part if is_several else part.select(annotators=[whole.name]),
        place,
        format=target,
        as_predictions=is_several,
        notes=notes if target in WITH_NOTES else None,
    )
    documents, number = counted(len(notes), "document"), counted(len(places), "disagreement")
    tell(f"wrote {place} as {target}: {documents} with {number}")


def _free_name(annotators: Sequence[str]) -> str:
    """Return a name for the consensus that no annotator has."""
    names = chain([NAME], (f"{NAME} {number}" for number in count(2)))
    return next(name for name in names if name not in annotators)
