"""Commands that a reader of an answer may run next, with places of that answer in them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blade.model.rollout import Outcome

if TYPE_CHECKING:
    import polars as pl

    from blade.model.analysis import Analysis, RunAnalysis
    from blade.model.run import Run


def pointers(analysis: Analysis, given: Sequence[str]) -> dict[str, str]:
    """What gives the rest of an analysis, by what it gives; each can be pasted as it is, but for OUT and the query."""
    every = shlex.join(given)
    one, place = _worth_reading(analysis)
    way = _way(one.run, [each.run for each in analysis.runs], given)
    path, choice = (shlex.quote(way[0]), way[1]) if way else ("RUN", "")
    return {
        "everything": f"blade analyze {every} --json --full",
        "report": f"blade analyze {every} -o OUT",
        "one task": f"blade explain {path} {shlex.quote(place.rpartition('#')[0])}{choice}",
        "one rollout": f"blade show {path} {shlex.quote(place)}{choice}",
        "any question": f'blade sql {every} "SELECT ..."',
    }


def _worth_reading(analysis: Analysis) -> tuple[RunAnalysis, str]:
    """The first run with a finding, and the place that it rests on; else any rollout."""
    for one in analysis.runs:
        for finding in one.diagnosis.findings if one.diagnosis else ():
            if finding.evidence and finding.evidence[0].step is not None:
                return one, f"{finding.evidence[0].key}:{finding.evidence[0].step}"
            return one, finding.locations[0]
    one = analysis.runs[0]
    return one, _first_place(_not_passed(one.run)) or _first_place(one.run.rollouts) or "TASK#REPEAT"


def _not_passed(run: Run) -> pl.DataFrame:
    """The rollouts that have a row and did not pass, which are asked for without making a result of every task."""
    rows = run.rollouts.select("task_id", "repeat", "outcome")
    return rows.filter(~rows["outcome"].is_in([str(Outcome.PASSED), str(Outcome.MISSING)]))


def _first_place(rollouts: pl.DataFrame) -> str | None:
    first = rollouts.select("task_id", "repeat").head(1).rows()
    return f"{first[0][0]}#{first[0][1]}" if first else None


def next_command(analysis: Analysis, more: Mapping[str, str]) -> str:
    """What to run first: the task to explain, or, where nothing failed, a rollout to read."""
    failed = any(_not_passed(one.run).height for one in analysis.runs)
    return more["one task" if failed else "one rollout"]


def _way(run: Run, runs: Sequence[Run], given: Sequence[str]) -> tuple[str, str] | None:
    """The word that leads to a run, with the choice among several that it holds; None where that is not known."""
    words = [word for word in given if len(given) == 1 or _holds(word, run)]
    if not words:
        return None
    several = sum(len(given) == 1 or _holds(words[0], other) for other in runs) > 1
    return words[0], f" --run {shlex.quote(run.name)}" if several else ""


def _holds(word: str, run: Run) -> bool:
    name, _, path = word.rpartition("=")
    folder = Path(path)
    if name == run.name or (folder / run.name / "rollouts.parquet").is_file():
        return True
    there = folder.resolve()
    return any(there in (Path(root), *Path(root).parents) for root in run.roots.values())
