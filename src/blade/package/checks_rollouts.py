"""D2: are there two scored runs over comparable tasks, with rows that can be analyzed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import polars as pl

from blade.model.check import Check
from blade.model.run import Run
from blade.package.documents import open_check
from blade.package.layout import Package
from blade.package.rollouts import FieldCoverage, PackageRollouts, RolloutFile, row_coverage
from blade.stats.task_matching import same_tasks

FEWEST_RUNS = 2
MOST_LISTED = 3
LONG_OUTPUT = 80
"""Characters that two models do not write alike by chance."""
FEWEST_OUTPUTS, COPIED = 5, 0.9
_FINGERPRINTS = ("key_fp", "prompt_fp", "id_mark")
_TASK_ID_FIX = "preserve `_ng_task_index`, `task_id` or an equivalent field in every row"


def rollout_checks(package: Package, data: PackageRollouts) -> Iterator[Check]:
    """Everything about D2: the runs together, then each file."""
    distinct: list[Run] = []
    for run in data.runs:
        if not any(_is_copy(run, other) for other in distinct):
            distinct.append(run)
    yield _two_scored(data, [run for run in distinct if run.rollouts["reward"].count()])
    if len(data.runs) > 1:
        yield _copies(data, distinct)
    if len(distinct) > 1:
        yield _comparable(distinct)
    for file in data.files:
        yield from _of_file(file, data.runs_of(file))
    yield open_check(package, "rollouts", "D2.open")


def _two_scored(data: PackageRollouts, scored: list[Run]) -> Check:
    lines = []
    for file in data.files:
        runs = data.runs_of(file)
        rollouts = sum(run.rollouts.height for run in runs)
        judged = sum(run.rollouts["outcome"].is_in(["passed", "failed"]).sum() for run in runs)
        counted = "cannot be read" if file.refused else f"{judged:,} of {rollouts:,} rollouts scored"
        lines.append(f"{file.shown} {counted}")
    listed = "; ".join(lines) or "no file in rollouts/ (or data/*rollout*)"
    return Check(
        code="D2.scored",
        passed=len(scored) >= FEWEST_RUNS,
        message="At least two scored rollout files",
        found=f"{len(scored)} different scored {'run' if len(scored) == 1 else 'runs'} in {len(data.files)} files: {listed}",
        fix="copy another model's or agent's run of the same tasks into rollouts/, with its reward or score fields",
    )


def _is_copy(run: Run, other: Run) -> bool:
    """The same rows, or nearly all long outputs the same: whatever the file is called, in whatever order rows stand."""
    first, second = (
        one.rollouts.join(one.tasks.select("task_id", *_FINGERPRINTS), on="task_id", how="left") for one in (run, other)
    )
    # Every rollout by task, repeat, reward and output.
    rows = (*_FINGERPRINTS, "repeat", "reward", "output_fp", "answer_fp")
    if Counter(first.select(rows).iter_rows()) == Counter(second.select(rows).iter_rows()):
        return True
    # The output of each task, where it is so long that two models do not write the same.
    long = (pl.col("agent_chars") >= LONG_OUTPUT) & pl.col("output_fp").is_not_null()
    outputs, others = (
        Counter(frame.filter(long).select(*_FINGERPRINTS, "output_fp").iter_rows()) for frame in (first, second)
    )
    smaller = min(outputs.total(), others.total())
    return smaller >= FEWEST_OUTPUTS and (outputs & others).total() > COPIED * smaller


def _copies(data: PackageRollouts, distinct: list[Run]) -> Check:
    names = {run.name for run in distinct}
    copies = [run for run in data.runs if run.name not in names]
    files = [file.shown for run in copies if (file := data.file_of(run.name)) is not None]
    return Check(
        code="D2.copies",
        passed=not copies,
        message="D2 runs are no copies of each other",
        found=f"{', '.join(files)}: the same outputs as another file" if copies else f"{len(distinct)} differ",
        fix="put the rollouts of another model or agent in place of the copy",
    )


def _comparable(runs: list[Run]) -> Check:
    pairs, alone = [], {run.name for run in runs}
    for first, second in combinations(runs, 2):
        same = same_tasks(first.tasks, second.tasks)
        alone -= {first.name, second.name} if same.comparable else set()
        smaller = min(first.tasks.height, second.tasks.height)
        by = ", ".join(same.joined_by) or "nothing"
        clash = f", {len(same.id_conflict)} ids stand for other tasks" if same.id_conflict else ""
        pairs.append(f"{first.name} and {second.name} share {len(same.pairs)} of {smaller} tasks (by {by}{clash})")
    return Check(
        code="D2.comparable",
        passed=not alone,
        message="D2 comparable task sets",
        found="; ".join(pairs[:MOST_LISTED]),
        fix="run both models on the same tasks, and keep the task ids and prompts in the rows; at least half must match",
    )


def _of_file(file: RolloutFile, runs: list[Run]) -> Iterator[Check]:
    yield _readable(file, runs)
    if not runs:
        none = FieldCoverage(rows=0, of=0)
        yield _has_field(file, "D2.task-id", "task id field present", none, False, _TASK_ID_FIX)
        return
    rows = [row_coverage(run) for run in runs]
    task, repeat = _sum([one.task_id for one in rows]), _sum([one.repeat for one in rows])
    reward, output = _sum([one.reward for one in rows]), _sum([one.output for one in rows])
    verifier, metadata = _sum([one.verifier for one in rows]), _sum([one.metadata for one in rows])
    yield _has_field(file, "D2.task-id", "task id field present", task, task.everywhere, _TASK_ID_FIX)
    if any(one.repeats for one in rows):
        fix = "preserve `_ng_rollout_index` or `rollout_id`: tasks have several rows, and a report must name one"
        yield _has_field(file, "D2.repeat-id", "D2 rollout id field present", repeat, repeat.everywhere, fix)
    fix = "score the run: every judged row needs a number under `reward` or `score`"
    yield _has_field(file, "D2.reward", "D2 reward or score", reward, 2 * reward.rows > reward.of, fix)
    fix = "keep what the model or agent wrote, such as `response.output`, in the rows"
    yield _has_field(file, "D2.output", "D2 model or agent output", output, 2 * output.rows > output.of, fix)
    fix = "keep what the verifier returned (verdict, messages, tests) in the rows: a reward alone does not say why"
    yield _has_field(file, "D2.verifier", "D2 verifier output", verifier, verifier.rows > 0, fix)
    fix = "keep what is known of the tasks (category, difficulty, expected answer) in the rows"
    yield _has_field(file, "D2.metadata", "D2 task metadata", metadata, metadata.rows > 0, fix)


def _sum(parts: list[FieldCoverage]) -> FieldCoverage:
    fields = tuple(dict.fromkeys(field for part in parts for field in part.fields))
    return FieldCoverage(rows=sum(part.rows for part in parts), of=sum(part.of for part in parts), fields=fields)


def _has_field(file: RolloutFile, code: str, message: str, rows: FieldCoverage, passed: bool, fix: str) -> Check:
    return Check(code=code, passed=passed, message=message, found=f"{file.shown}: {rows}", fix=fix)


def _readable(file: RolloutFile, runs: list[Run]) -> Check:
    """Lines that could not be used are listed; half a file of them is no run."""
    bad = sum(run.problem_count for run in runs)
    rows = sum(run.rollouts.height for run in runs)
    problems = [f"{problem.source}: {problem.reason}" for run in runs for problem in run.problems[:MOST_LISTED]]
    listed = f" ({'; '.join(problems[:MOST_LISTED])})" if bad else ""
    return Check(
        code="D2.readable",
        passed=not file.refused and bad <= rows,
        message="D2 rows can be read",
        found=f"{file.shown}: {file.refused or f'{rows:,} rows, {bad:,} unusable or mended lines{listed}'}",
        fix="one JSON object a line, in UTF-8; write the rows again, or leave out what is no rollout",
    )
