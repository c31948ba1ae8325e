"""Passes that may not mean what they seem: no model call, skipped tests, an agent that crashed, tests that were edited, an
answer that the prompt gives away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from msgspec.structs import asdict

from blade.evidence.context import RunContext
from blade.findings.table_quotes import evidence_of
from blade.model.diagnosis import Doubt, DoubtfulPass
from blade.model.finding import Evidence
from blade.model.reading import SOUND, ReaderAttribution
from blade.modes.catalog import by_code

WHY = {
    "hollow:no-model-call": "no model call succeeded in the graded session",
    "agent:no-start": "the agent program did not start",
    "agent:install-failed": "the agent program was not installed",
    "agent:api-error": "the session ends with an error of the model's endpoint",
    "agent:no-output": "the agent produced nothing",
    "skipped-as-passed": "tests that were skipped count as passed",
    "agent:crashed": "the agent program crashed before it was done",
    "edited-grader-tests": "the agent changed the grader's tests",
    "read-grader-tests": "the agent read the grader's tests",
}
"""By kind of sign, the plainest first."""
LEAKED = "DAT004"
MOST = 200


def passes_to_doubt(context: RunContext, doubts: Sequence[Doubt] = ()) -> tuple[DoubtfulPass, ...]:
    """The passes of a run that fail a question which every rollout is asked, in the order of the table.

    With `doubts` of rules over the run also those of tasks whose prompt gives the answer away.
    """
    rows = context.run.rollouts.select("run", "task_id", "repeat", "outcome", "signs")
    wanted = pl.col("signs").list.eval(pl.element().struct.field("kind").is_in(list(WHY))).list.any()
    found = rows.filter((pl.col("outcome") == "passed") & wanted.fill_null(value=False)).head(MOST)
    by_rules = {one.location: one for one in (_doubtful(*cells) for cells in found.drop("outcome").iter_rows())}
    by_rules = {**{one.location: one for one in _leaked(rows, doubts)}, **by_rules}
    return _with_readers(context, rows, by_rules)


def _leaked(rows: pl.DataFrame, doubts: Sequence[Doubt]) -> Iterator[DoubtfulPass]:
    """The passes of tasks whose prompt states the expected answer."""
    leaks = {task: one for one in doubts if one.code == LEAKED for task in one.tasks}
    passed = rows.filter((pl.col("outcome") == "passed") & pl.col("task_id").is_in(list(leaks))).head(MOST)
    for task, repeat in passed.select("task_id", "repeat").iter_rows():
        quoted = next((one for one in leaks[task].evidence if one.key.task_id == task), None)
        yield DoubtfulPass(location=f"{task}#{repeat}", why="the prompt states the expected answer", evidence=quoted)


def _with_readers(
    context: RunContext, rows: pl.DataFrame, by_rules: Mapping[str, DoubtfulPass]
) -> tuple[DoubtfulPass, ...]:
    """With the passes that a reader doubts, and without those in which one found nothing wrong; in the order of the table."""
    found = dict(by_rules)
    for one in context.run.readings.used:
        found.pop(one.location, None)
        if one.mode != SOUND:
            found[one.location] = _doubted(one)
    passes = rows.filter(pl.col("outcome") == "passed").select(pl.format("{}#{}", "task_id", "repeat")).to_series()
    return tuple(found[location] for location in passes.filter(passes.is_in(list(found))).to_list())


def _doubted(one: ReaderAttribution) -> DoubtfulPass:
    declared = by_code().get(one.mode)
    what = one.note or (declared.row if declared else one.definition.rstrip("."))
    quoted = [evidence_of(one.run, one.task_id, one.repeat, asdict(quote)) for quote in one.quotes[:1]]
    return DoubtfulPass(location=one.location, why=f"{one.by} says: {what}", evidence=next(iter(quoted), None))


def _doubtful(run: str, task: str, repeat: int, signs: list[dict[str, object]]) -> DoubtfulPass:
    kinds = list(WHY)
    mine = sorted((one for one in signs if one["kind"] in WHY), key=lambda one: kinds.index(str(one["kind"])))
    first = mine[0]
    evidence: Evidence | None = evidence_of(run, task, repeat, first) if first["quote"] else None
    return DoubtfulPass(location=f"{task}#{repeat}", why=WHY[str(first["kind"])], evidence=evidence)
