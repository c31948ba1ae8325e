"""Faults that exclude each other, as criteria: the one behind the fault that was found is not met, those before it are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def checks(criteria: Mapping[str, str], found: str | None) -> list[dict[str, Any]]:
    """By fault, in order, the criterion that it breaks; those after the fault that was found were not looked at."""
    made = []
    for fault, criterion in criteria.items():
        made.append({"name": criterion, "passed": fault != found})
        if fault == found:
            break
    return made
