"""A golden report audited where it stands: against the runs of its package, as validation does."""

from __future__ import annotations

from pathlib import Path

from blade.claims.values import Audit
from blade.package.checks_metrics import said_model
from blade.package.data import Data
from blade.package.documents import read_text
from blade.package.golden_audit import audited
from blade.package.layout import find_package

FOLDER = "golden_reports"


def audit_in_place(report: Path) -> Audit | None:
    """The claims of a golden report against its package's rollouts; None when it is none, or there are no rollouts."""
    if report.parent.name != FOLDER:
        return None
    package = find_package(report.parent.parent)
    golden = next((one for one in package.goldens if one.report.name == report.name), None)
    if golden is None or not package.rollouts:
        return None
    data = Data(package)
    run = None if golden.comparison else data.subject(golden, said_model(golden.metrics))
    return audited(report.name, read_text(report), data, run)
