"""The schema of JSON, made from the declarations of all commands."""

from __future__ import annotations

from importlib import import_module

from beyondchance.reporting.columns import Data, Group

COMMANDS = (
    "agree.AGREE rank.RANK difficulty.DIFFICULTY plan.PLAN disagreements.DISAGREEMENTS "
    "diagnose.DIAGNOSE consensus.CONSENSUS adjudicate.ADJUDICATE adjudicate.COMPARED place.PLACE "
    "reproduce.REPRODUCE formats.FORMATS replace.REPLACE careless.CARELESS replace.PLAN_REPLACEMENT"
)
"""Where each command declares its JSON."""


def schema() -> Data:
    """Build the schema of what every command writes, and of files of decisions."""
    defs: Data = {}
    results = [_group(path).schema(defs) for path in COMMANDS.split()]
    _group("adjudicate.DECISIONS_FILE").schema(defs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Results of beyondchance",
        "description": "What every command writes with --output json.",
        "oneOf": results,
        "$defs": dict(sorted(defs.items())),
    }


def _group(path: str) -> Group:
    module, name = path.split(".")
    found: Group = getattr(import_module(f"beyondchance.reporting.commands.{module}"), name)
    return found
