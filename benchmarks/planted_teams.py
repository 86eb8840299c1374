"""Whether the page names who drifted and who merges labels, and nobody else: by simulation.

    python benchmarks/planted_teams.py [TEAMS]

Each of 100 teams, unless told otherwise, has five people who annotate the same 60 documents in four
weeks. All of them overlook spans, misplace edges, confuse labels and mark too much, some teams
more than others. Three of the five, at random, also do something that is planted:

- one drifts from the second or third week on: more every week, spans are overlooked, or made
  longer by two tokens;
- one marks at random in the last week: as many spans, of the same lengths and labels, anywhere;
- one marks all of one label as another, from the first day on.

Each team becomes an export of Label Studio, is read, and `report` computes what its page shows.
It is counted how often the changes over time name who drifts, a habit names the label of who
merges, stretches to look at hold the random week (half or more of their documents are of it), and
anybody else is named: by a change, by a habit, or as careless. The same of 100 honest teams.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import beyondchance as bc
from beyondchance.page.gather import overview

PEOPLE, WEEKS, DOCUMENTS = 5, 4, 60
NAMES = ("ada", "ben", "cleo", "dan", "eve")
LABELS = ("PERSON", "PLACE", "EVENT", "DATE")
MONDAY = date(2024, 2, 5)
WORD = "word"
SLOT = 6
"""Tokens in which a document has one span at most, so that spans never meet."""
OVERLOOKS, LENGTHENS = (0.3, 0.5, 0.7), (0.4, 0.7, 0.9)
"""The share of spans that a drift concerns, week by week."""
HABITS, FIRST = 3, 5
"""The habits of a person, and the patterns of all, that a page shows first."""

Spans = dict[int, tuple[int, int, str]]
"""Start, end and label by slot."""


class Plan(NamedTuple):
    """Who does what, and since which week."""

    drifts: str = ""
    since: int = WEEKS
    kind: str = ""
    is_random: str = ""
    merges: str = ""
    labels: tuple[str, str] = ("", "")


def planted(rng: np.random.Generator) -> Plan:
    """Draw who does what."""
    drifts, is_random, merges, *_ = rng.permutation(NAMES).tolist()
    labels = tuple(rng.choice(LABELS, 2, replace=False).tolist())
    kind = str(rng.choice(["overlooks", "lengthens"]))
    return Plan(drifts, int(rng.integers(1, 3)), kind, is_random, merges, labels)


def export_of(plan: Plan, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Make an export of Label Studio."""
    noise = dict(zip(("miss", "edge", "label", "extra"), rng.uniform(0.03, 0.12, 4), strict=True))
    tasks = []
    for number in range(DOCUMENTS):
        week, day = divmod(number * 5 * WEEKS // DOCUMENTS, 5)
        made = MONDAY + timedelta(weeks=week, days=day)
        n_slots = int(rng.integers(12, 20))
        text = " ".join([WORD] * (n_slots * SLOT))
        truth = {i: _span(i, rng) for i in np.flatnonzero(rng.random(n_slots) < 0.5).tolist()}
        work = {name: _noisy(truth, n_slots, noise, rng) for name in NAMES}
        if week >= plan.since:
            _drift(work[plan.drifts], plan.kind, week - plan.since, rng)
        if plan.is_random and week == WEEKS - 1:
            work[plan.is_random] = _anywhere(work[plan.is_random], n_slots, rng)
        if plan.merges:
            own, (old, new) = work[plan.merges], plan.labels
            work[plan.merges] = {i: (*s[:2], new if s[2] == old else s[2]) for i, s in own.items()}
        annotations = [
            {
                "completed_by": {"email": name},
                "created_at": f"{made}T12:00:00Z",
                "result": [_result(*span) for span in spans.values()],
            }
            for name, spans in work.items()
        ]
        tasks.append({"id": number + 1, "data": {"text": text}, "annotations": annotations})
    return tasks


def _span(slot: int, rng: np.random.Generator) -> tuple[int, int, str]:
    start = slot * SLOT + int(rng.integers(1, 2))
    return start, start + int(rng.integers(1, 4)), str(rng.choice(LABELS))


def _noisy(truth: Spans, n_slots: int, noise: dict[str, float], rng: np.random.Generator) -> Spans:
    """Annotate a document as people do."""
    found = {}
    for slot in range(n_slots):
        if slot not in truth:
            if rng.random() < noise["extra"]:
                found[slot] = _span(slot, rng)
        elif rng.random() >= noise["miss"]:
            start, end, label = truth[slot]
            if rng.random() < noise["edge"]:
                start, end = (start - 1, end) if rng.random() < 0.5 else (start, end + 1)
            if rng.random() < noise["label"]:
                label = str(rng.choice(LABELS))
            found[slot] = start, end, label
    return found


def _drift(spans: Spans, kind: str, weeks: int, rng: np.random.Generator) -> None:
    shares = OVERLOOKS if kind == "overlooks" else LENGTHENS
    for slot, (start, end, label) in list(spans.items()):
        if rng.random() < shares[weeks]:
            if kind == "overlooks":
                del spans[slot]
            else:
                spans[slot] = start, min(end + 2, (slot + 1) * SLOT), label


def _anywhere(spans: Spans, n_slots: int, rng: np.random.Generator) -> Spans:
    slots = rng.choice(n_slots, len(spans), replace=False).tolist()
    moved = {}
    for slot, (start, end, label) in zip(slots, spans.values(), strict=True):
        first = slot * SLOT + int(rng.integers(0, SLOT - (end - start) + 1))
        moved[slot] = first, first + end - start, label
    return moved


def _result(start: int, end: int, label: str) -> dict[str, Any]:
    step = len(WORD) + 1
    value = {"start": start * step, "end": end * step - 1, "labels": [label]}
    return {"type": "labels", "from_name": "label", "to_name": "text", "value": value}


def seen_in(plan: Plan, rng: np.random.Generator, folder: Path) -> set[str]:
    """Make a team, and say what the data of its page name."""
    path = folder / "export.json"
    path.write_text(json.dumps(export_of(plan, rng)))
    corpus = bc.read(path)
    diagnosis = overview(bc.agreement(corpus), corpus, others=(), by="week").diagnosis
    if diagnosis is None or diagnosis.periods is None:
        raise SystemExit("the page has no data over time")
    work = bc.careless_work(corpus)
    changes = {one.who: one.since for one in diagnosis.periods.changes}
    habits = [pattern for pattern in diagnosis.patterns if pattern.is_habit]
    found = set()
    if plan.drifts in changes:
        found |= {"drift", f"drift, {plan.kind}"}
        weeks = diagnosis.periods.periods.index(changes[plan.drifts]) - plan.since
        found.add(f"drift since {weeks:+d} weeks")
    own = [pattern for pattern in habits if pattern.who == plan.merges]
    if any(
        (pattern.kind, pattern.label, pattern.detail) == ("other label", *plan.labels[::-1])
        for pattern in own[:HABITS]
    ):
        found.add("merge")
    last = set(corpus.documents[-DOCUMENTS // WEEKS :])
    listed = [stretch for stretch in work.stretches if stretch.annotator == plan.is_random]
    if any(2 * len(last.intersection(x.documents)) >= len(x.documents) for x in listed):
        found.add("random week")
    guilty = {plan.drifts, plan.is_random, plan.merges}
    by_change, by_habit = set(changes) - guilty, {x.who for x in habits} - guilty
    named = {
        "change": by_change,
        "habit": by_habit,
        "one of the first patterns": {x.who for x in diagnosis.patterns[:FIRST] if x.is_habit}
        - guilty,
        "careless": set(work.below) - guilty,
        "change, habit or careless": by_change | by_habit | set(work.below) - guilty,
    }
    found |= {f"innocent named by {how}" for how, who in named.items() if who}
    if {stretch.annotator for stretch in work.stretches} - guilty:
        found.add("innocent with documents to look at")
    return found


def main(n_teams: int = 100) -> None:
    """Print how many teams of each sort show what."""
    with TemporaryDirectory() as folder:
        for number, sort in enumerate(("planted", "honest")):
            counts: Counter[str] = Counter()
            drifts: Counter[str] = Counter()
            for team in range(n_teams):
                rng = np.random.default_rng([number, team])
                plan = planted(rng) if sort == "planted" else Plan()
                drifts[plan.kind] += 1
                counts.update(seen_in(plan, rng, Path(folder)))
            print(f"{n_teams} {sort} teams {dict(drifts) if number == 0 else ''}")
            for what, times in sorted(counts.items()):
                print(f"  {what}: {times}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
