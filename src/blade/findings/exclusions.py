"""What a user leaves out of a run: machinery, suspects, tasks, rollouts, or what a rule names.

Most users leave nothing out: the rules and what diagnoses are imported where a wish asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
from msgspec.structs import replace

from blade.model.diagnosis import Diagnosis
from blade.model.errors import RequestError
from blade.model.finding import Cause
from blade.model.run import Run
from blade.stats.counts import fired

if TYPE_CHECKING:
    from blade.attribution.runs_together import DraftAttributions
    from blade.custom_rules import CustomLabel


def check_exclusions(runs: Sequence[Run], wishes: Sequence[str], labels: Sequence[str]) -> None:
    """A task, a rollout or a rule that does not exist is a slip of the pen, not a wish."""
    for wish in wishes:
        kind, _, value = wish.partition(":")
        if kind == "code" and value not in (codes := [*_known_codes(), *labels]):
            raise RequestError(f"no rule has the code {value!r}", hint="known: " + ", ".join(codes))
        if kind in ("task", "rollout") and not any(run.rollouts.select(_matches(wish).any()).item() for run in runs):
            raise RequestError(f"no run has {kind} {value!r}", hint="write task:ID or rollout:ID#REPEAT")


def _known_codes() -> list[str]:
    from blade.rules.catalog import all_rules

    return [rule.code for rule in all_rules()]


def excluded(
    run: Run, wishes: Sequence[str], labels: Sequence[CustomLabel], draft: DraftAttributions | None = None
) -> Run:
    """The run without what the user leaves out; expected rollouts that go are no longer expected."""
    rows, said = run.rollouts, []
    if "infra" in wishes:
        rows = rows.with_columns(infra=draft.attributions.table["infra"] if draft is not None else pl.lit(value=False))
    for wish in wishes:
        before = rows.height
        rows = rows.filter(
            ~(_matches(wish) if (tasks := _doubted(run, wish, labels)) is None else pl.col("task_id").is_in(tasks))
        )
        said.append(f"{wish} ({before - rows.height} rollouts)")
    if not said:
        return run
    kept = run.tasks.filter(pl.col("task_id").is_in(rows["task_id"].unique().implode()))
    return replace(run, rollouts=rows.select(run.rollouts.columns), tasks=kept, excluded=(*run.excluded, *said))


def _doubted(run: Run, wish: str, labels: Sequence[CustomLabel]) -> list[str] | None:
    """The tasks that a wish leaves out by a diagnosis: suspects, or those that a rule over runs names; None for others."""
    from blade.findings.diagnose import diagnose
    from blade.rules.catalog import run_rules

    if wish == "suspect":
        return suspects_of(diagnose(run, custom=labels))
    code = wish.removeprefix("code:")
    if not any(rule.code == code for rule in run_rules()):
        return None
    found = diagnose(run)
    return [task for doubt in (*found.doubts, *found.across) if doubt.code == code for task in doubt.tasks]


def _matches(wish: str) -> pl.Expr:
    kind, _, value = wish.partition(":")
    if wish == "infra":
        return pl.col("infra")
    if kind == "task" and value:
        return pl.col("task_id") == value
    if kind == "rollout" and "#" in value:
        task, _, repeat = value.rpartition("#")
        return (pl.col("task_id") == task) & (pl.col("repeat").cast(pl.String) == repeat)
    if kind == "code" and value:
        return fired([value])
    raise RequestError(f"cannot leave out {wish!r}", hint="use infra, suspect, task:ID, rollout:ID#REPEAT or code:CODE")


def suspects_of(found: Diagnosis) -> list[str]:
    """Tasks whose failures are put down to the benchmark itself."""
    return [task for task, cause in found.causes.items() if cause.cause in (Cause.TASK, Cause.DATA)]
