"""Whether `careless_work` names innocent annotators, and finds those who are random: by simulation.

    python benchmarks/careless.py [--runs N] [--names] [DESIGN ...]

Teams and crowds annotate documents whose true spans are known; some of them do something else than
annotate (see ROLES). Every corpus goes through `beyondchance.careless_work` as it is. The table is
Markdown, and has the number of runs of each row. DESIGN is the beginning of a design's name; all
unless told otherwise. With --names, stretches are left out, which take most of the time.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time

import numpy as np

import beyondchance as bc
from beyondchance.core.draws import disjoint_starts
from beyondchance.inference.careless import CarelessWork, _Table
from beyondchance.types import Ints
from calibration import say

SLOT, SLOTS = 7, 12
"""Tokens of a slot, which has one span at most, and slots of a document."""
LABELS = ("LOC", "PER")
ERRORS = 0.2
"""How often a careful annotator overlooks a span; half as often an edge is moved or a span made up,
and a quarter as often a label is wrong. Pairs agree by about .6."""
ROLES = {
    "random": "spans in random places",
    "late": "random in the last quarter of the documents",
    "half": "random in every other document, by lot: agrees exactly half as much",
    "neighbour": "marks the word after the span",
    "more": "marks also something in every slot without a true span",
    "fewer": "marks one span of five",
    "nothing": "marks nothing",
}


@dataclass(frozen=True)
class Design:
    """Who annotates what.

    Attributes
    ----------
    name : str
    documents, people : int
    seen : int
        Annotators of each document; 0 for all.
    roles : mapping of int to str
        What some annotators do instead; the others are careful.
    deviation : float
        Of the logarithm of the number of slots of a document.
    errors : float
    """

    name: str
    documents: int
    people: int
    seen: int = 0
    roles: Mapping[int, str] = field(default_factory=dict)
    deviation: float = 0.0
    errors: float = ERRORS


def crowd(name: str, documents: int, role: str = "", share: float = 0.0, **more: float) -> Design:
    """A crowd of which each member annotates twenty documents on average, three each."""
    people = documents * 3 // 20
    roles = dict.fromkeys(range(round(share * people)), role)
    return Design(f"crowd of {documents}, {name}", documents, people, 3, roles, **more)


def designs() -> list[Design]:
    """All designs."""
    found = []
    for people in (3, 5):
        for documents in (20, 60):
            team = (documents, people)
            name = f"team of {people}, {documents} documents"
            found += [
                Design(f"{name}, honest", *team),
                Design(f"{name}, honest, unlike sizes", *team, deviation=1.0),
                Design(f"{name}, honest, agree by .9", *team, errors=0.04),
                Design(f"{name}, honest, agree by .3", *team, errors=0.45),
                Design(f"{name}, all random", *team, roles=dict.fromkeys(range(people), "random")),
                *(Design(f"{name}, one {role}", *team, roles={0: role}) for role in ROLES),
                Design(
                    f"{name}, one random, unlike sizes", *team, roles={0: "random"}, deviation=1.0
                ),
            ]
    found.append(Design("team of 3, 10 documents, one random", 10, 3, roles={0: "random"}))
    found.append(Design("team of 5, 10 documents, honest", 10, 5))
    found.append(Design("team of 5, 10 documents, one random", 10, 5, roles={0: "random"}))
    found += [
        Design(f"two only, 60 documents, {name}", 60, 2, roles=roles)
        for name, roles in (("honest", {}), ("one random", {0: "random"}))
    ]
    for documents in (60, 200, 600):
        found += [
            crowd("honest", documents),
            crowd("honest, unlike sizes", documents, deviation=1.0),
            crowd("all random", documents, "random", 1.0),
            crowd("a fifth random", documents, "random", 0.2),
            crowd("a fifth neighbour", documents, "neighbour", 0.2),
            crowd("a fifth more", documents, "more", 0.2),
            crowd("a fifth half", documents, "half", 0.2),
            crowd("a fifth late", documents, "late", 0.2),
        ]
    return found


def simulated(design: Design, rng: np.random.Generator) -> bc.Corpus:
    """One corpus; documents differ in how many errors all make (gamma, variation .5)."""
    sizes = np.rint(np.exp(rng.normal(np.log(SLOTS), design.deviation, design.documents)))
    slots = np.clip(sizes, 3, 30 * SLOTS).astype(np.int64)
    document, person = annotations(design, rng)
    hard = rng.gamma(4, 0.25, design.documents)
    # The truth: two slots of five have a span of one to three tokens.
    first = np.cumsum(slots) - slots
    n_slots = int(slots.sum())
    is_true = rng.random(n_slots) < 0.4
    start, length = rng.integers(1, 4, n_slots), rng.integers(1, 4, n_slots)
    label = rng.integers(0, len(LABELS), n_slots)
    # What each annotator makes of each slot.
    owner = np.repeat(np.arange(len(document)), slots[document])
    place = np.arange(len(owner)) - np.repeat(
        np.cumsum(slots[document]) - slots[document], slots[document]
    )
    slot = first[document[owner]] + place
    rate = design.errors * hard[document[owner]]
    missed, moved, added, confused = rng.random((4, len(slot))) < rate * np.array(
        [[1.0], [0.5], [0.25], [0.25]]
    )
    role = np.array([design.roles.get(i, "") for i in range(design.people)])[person[owner]]
    added |= (role == "more") & ~is_true[slot]
    missed |= (role == "fewer") & (rng.random(len(slot)) < 0.8)
    is_there = np.where(is_true[slot], ~missed, added) & (role != "nothing")
    # A span that is made up is somewhere in its slot, each annotator's in another place.
    own = ~is_true[slot]
    begin = np.where(own, rng.integers(1, 4, len(slot)), start[slot])
    size = np.where(own, rng.integers(1, 4, len(slot)), length[slot])
    size = np.maximum(size + moved * rng.choice([-1, 1], len(slot)), 1)
    kind = np.where(own, rng.integers(0, len(LABELS), len(slot)), label[slot])
    kind = (kind + confused) % len(LABELS)
    is_beside = role == "neighbour"
    begin, size = np.where(is_beside, begin + size, begin), np.where(is_beside, 1, size)
    keep = np.flatnonzero(is_there)
    columns = np.stack([document[owner], person[owner], SLOT * place + begin, size, kind])[:, keep]
    at = owner[keep]
    for i in random_work(design, person, rng).tolist():
        rows = slice(*np.searchsorted(at, [i, i + 1]).tolist())
        n = int(SLOT * slots[document[i]])
        columns[2, rows] = disjoint_starts(n, columns[3, rows], 1, rng)[0]
        columns[4, rows] = rng.permutation(columns[4, rows])
    text, who, start, length, kind = columns
    return bc.Corpus(
        documents=tuple(f"{i:04}" for i in range(design.documents)),
        text_document=np.arange(design.documents),
        text_length=SLOT * slots,
        annotators=tuple(f"{i:03}" for i in range(design.people)),
        labels=LABELS,
        annotation_document=document,
        annotation_annotator=person,
        span_text=text,
        span_annotator=who,
        span_start=start,
        span_end=start + length,
        span_label=kind,
    )


def annotations(design: Design, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The document and the annotator of each annotation; some do more than others."""
    seen = design.seen or design.people
    busy = rng.normal(0, 0.5, design.people) + rng.gumbel(size=(design.documents, design.people))
    who = np.sort(np.argsort(-busy, axis=1)[:, :seen], axis=1)
    return np.repeat(np.arange(design.documents), seen), who.reshape(-1)


def random_work(design: Design, person: Ints, rng: np.random.Generator) -> Ints:
    """The annotations whose spans are in random places."""
    chosen = []
    for i, role in design.roles.items():
        rows = np.flatnonzero(person == i)
        if role == "random":
            chosen.append(rows)
        elif role == "late":
            chosen.append(rows[len(rows) - len(rows) // 4 :])
        elif role == "half":
            chosen.append(rows[rng.random(len(rows)) < 0.5])
    return np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)


HEADINGS = (
    *("design", "runs", "agreement", "innocent below", "innocent random", "planted below"),
    *("planted random", "another rule", "stretches of innocents", "by luck"),
    *("planted: a stretch", "seconds"),
)


def row(design: Design, runs: int, names: bool) -> list[str]:
    """Simulate one design."""
    planted = {f"{i:03}" for i in design.roles}
    named: list[list[float]] = []
    begin = process_time()
    for run in range(runs):
        rng = np.random.default_rng((len(design.name), design.documents, design.people, run))
        found = bc.careless_work(simulated(design, rng), seed=run)
        named.append(outcome(found, planted))
    values = np.array(named)
    seconds = process_time() - begin
    say(f"{design.name}: {seconds:.0f} s")
    means = [f"{x:.3f}".replace("nan", "") for x in values.mean(axis=0)]
    means[6:] = [""] * 3 if names else means[6:]
    return [design.name, f"{runs:,}", *means, f"{seconds / runs:.2f}"]


def outcome(found: CarelessWork, planted: set[str]) -> list[float]:
    """What came out of one corpus."""
    works = found.by_annotator
    innocent = works.keys() - planted
    listed = [stretch.annotator for stretch in found.stretches]
    nobody = float("nan")

    def share(names: Sequence[str]) -> float:
        return len(planted & {*names}) / len(planted) if planted else nobody

    def any_innocent(names: Sequence[str]) -> float:
        return bool(innocent & {*names}) if innocent else nobody

    scores = [works[name].agreement for name in innocent]
    return [
        float(np.nanmean(scores)) if scores and not np.isnan(scores).all() else nobody,
        any_innocent(found.below),
        any_innocent(found.random),
        share(found.below),
        share(found.random),
        share(found.another_rule),
        sum(name in innocent for name in listed) if innocent else nobody,
        sum(works[name].luck for name in innocent) if innocent else nobody,
        share(listed),
    ]


def main() -> None:
    """Run what is asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--names", action="store_true")
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    given = parser.parse_args()
    if given.names:
        _Table.stretches = lambda *_: []  # type: ignore[method-assign]
    print(f"| {' | '.join(HEADINGS)} |\n|---|{'---:|' * (len(HEADINGS) - 1)}", flush=True)
    for design in designs():
        if not given.designs or design.name.startswith(tuple(given.designs)):
            print(f"| {' | '.join(row(design, given.runs, given.names))} |", flush=True)


if __name__ == "__main__":
    main()
