"""What `score` and `calibrate` share: the audit of a text where the rollouts are known, and a folder for each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blade.claims.values import Audit


def auditor(runs: Sequence[str], report: Path) -> Callable[[str], Audit | None]:
    """A function that audits a text against the runs; without runs it gives nothing."""
    if not runs:
        return lambda _: None
    from blade.claims.audit import audit as audit_claims
    from blade.model.options import Options

    def audit(text: str) -> Audit:
        return audit_claims(report.name, text, runs, Options(), str(report.parent))

    return audit


def stamped(folder: str) -> Path:
    """A folder that is named after the time in UTC and is not there yet."""
    from datetime import UTC, datetime

    plain = Path(folder) / datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    place, number = plain, 1
    while place.exists():
        number += 1
        place = plain.with_name(f"{plain.name}-{number}")
    return place
