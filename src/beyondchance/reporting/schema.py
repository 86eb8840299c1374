"""The schema of JSON, made from the declarations of all commands."""

from __future__ import annotations

from beyondchance.reporting.columns import Data
from beyondchance.reporting.commands import (
    adjudicate,
    agree,
    careless,
    consensus,
    diagnose,
    difficulty,
    disagreements,
    formats,
    place,
    plan,
    rank,
    replace,
    reproduce,
)

COMMANDS = (
    agree.AGREE,
    rank.RANK,
    difficulty.DIFFICULTY,
    plan.PLAN,
    disagreements.DISAGREEMENTS,
    diagnose.DIAGNOSE,
    consensus.CONSENSUS,
    adjudicate.ADJUDICATE,
    adjudicate.COMPARED,
    place.PLACE,
    reproduce.REPRODUCE,
    formats.FORMATS,
    replace.REPLACE,
    careless.CARELESS,
    replace.PLAN_REPLACEMENT,
)


def schema() -> Data:
    """Build the schema of what every command writes, and of files of decisions."""
    defs: Data = {}
    results = [group.schema(defs) for group in COMMANDS]
    adjudicate.DECISIONS_FILE.schema(defs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Results of beyondchance",
        "description": "What every command writes with --output json.",
        "oneOf": results,
        "$defs": dict(sorted(defs.items())),
    }
