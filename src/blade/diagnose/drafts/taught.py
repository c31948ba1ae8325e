"""Findings of a package's own labels: what the team says is wrong, and what it would do about it."""

from __future__ import annotations

import polars as pl

from blade.core.diagnosis import Lookout
from blade.core.finding import Evidence
from blade.diagnose.context import Context, Draft, Said
from blade.diagnose.groups import Group, Place, spread
from blade.metrics.counts import fired
from blade.teach import Fix, Taught

MOST_PLACES = 2


def by_label(label: Taught, seen: Lookout, context: Context) -> tuple[Group, Draft]:
    """The failures in which a label holds; `label` has a fix, and `seen` says how it goes with failing."""
    fix = label.fix or Fix(kind="prompt", action=label.message)
    rows = context.run.rollouts.select("task_id", "repeat", "outcome", "fired").filter(fired([label.name]))
    failing, passing = _places(rows, "failed"), _places(rows, "passed")
    group = Group(
        family="label",
        name=label.name,
        detail="",
        failing=failing,
        passing=passing,
        alone=failing if label.direct else (),
    )
    return group, Draft(
        title=label.message.rstrip("."),
        what=f"{spread(failing)} that fail, and {len(passing)} that pass{'' if len(passing) != 1 else 'es'}, "
        f"carry the package's label `{label.name}`.",
        fix=fix.action,
        brief=fix.action,
        kind=fix.kind,
        where=tuple(_shown(one) for one in seen.evidence[:MOST_PLACES]),
        grade=seen.grade,
    )


def _places(rows: pl.DataFrame, outcome: str) -> tuple[Place, ...]:
    return tuple(rows.filter(pl.col("outcome") == outcome).select("task_id", "repeat").iter_rows())


def _shown(one: Evidence) -> Said:
    where = f"{one.key}:{one.step}" if one.step is not None else f"{one.key}, {one.field}"
    return f'{where}: "{one.quote}".', (one,)
