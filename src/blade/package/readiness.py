"""The checklist before a benchmark is called BLADE-ready; each item points at its checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blade.model.check import Check

ITEMS = (
    ("D1 skill has overview, schema, taxonomy, workflow, and report template", ("D1.",)),
    ("D2 rollouts include at least two scored, comparable runs", ("D2.",)),
    (
        "D3 golden reports cite task-level evidence, not only aggregate tables",
        ("D3.report", "D3.sections", "D3.evidence", "D3.audit", "D3.subject", "D3.open"),
    ),
    ("Metrics sidecars parse and match the report", ("D3.metrics",)),
    ("Anchor facts exist for each golden report and are concrete", ("D3.facts",)),
    ("Shallow baselines exist for calibration", ("D3.shallow",)),
    (
        (
            "Sanitization removes private source, endpoints, credentials, user names, unreleased benchmark names, and raw"
            " data that is not cleared for sharing"
        ),
        ("S.",),
    ),
)
"""Each item, and how the codes of its checks begin."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of the checklist."""

    text: str
    done: bool
    held: int
    of: int
    open: tuple[str, ...]
    """Codes of the checks that do not hold, each once."""


def readiness(checks: Sequence[Check]) -> tuple[Item, ...]:
    """The checklist; an item that nothing could be checked for is not done."""
    return tuple(_item(text, [one for one in checks if one.code.startswith(codes)]) for text, codes in ITEMS)


def _item(text: str, mine: Sequence[Check]) -> Item:
    decided = [check for check in mine if check.passed is not None]
    held = sum(check.passed is True for check in decided)
    return Item(
        text=text,
        done=bool(decided) and held == len(decided),
        held=held,
        of=len(decided),
        open=tuple(dict.fromkeys(check.code for check in decided if not check.passed)),
    )
