"""D2: are there two scored runs over comparable tasks, with rows that can be analyzed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import polars as pl

from blade.model.check import Check
from blade.model.run import Run
from blade.package.data import Data, RolloutFile
from blade.package.layout import Package
from blade.package.open_checks import open_check
from blade.package.row_parts import Part, RowParts, row_parts
from blade.stats.task_matching import same_tasks

FEWEST_RUNS = 2
MOST_LISTED = 3
LONG_OUTPUT = 80
"""Characters that two models do not write alike by chance."""
FEWEST_OUTPUTS, COPIED = 5, 0.9
_MARKS = ("key_fp", "prompt_fp", "id_mark")


def rollout_checks(package: Package, data: Data) -> Iterator[Check]:
    """Everything about D2: the runs together, then each file."""
    apart = _apart(list(data.runs))
    yield _two_scored(data, [run for run in apart if run.rollouts["reward"].count()])
    if len(data.runs) > 1:
        yield _copies(data, apart)
    if len(apart) > 1:
        yield _comparable(apart)
    for file in data.files:
        yield from _of_file(file, [run for run in data.runs if run.name in file.runs])
    yield open_check(package, "rollouts", "D2.open")


def _two_scored(data: Data, scored: list[Run]) -> Check:
    listed = "; ".join(_scored_line(file, data) for file in data.files) or "no file in rollouts/ (or data/*rollout*)"
    return Check(
        code="D2.scored",
        passed=len(scored) >= FEWEST_RUNS,
        message="At least two scored rollout files",
        found=f"{len(scored)} different scored {'run' if len(scored) == 1 else 'runs'} in {len(data.files)} files: {listed}",
        fix="copy another model's or agent's run of the same tasks into rollouts/, with its reward or score fields",
    )


def _scored_line(file: RolloutFile, data: Data) -> str:
    if file.refused:
        return f"{file.shown} cannot be read"
    mine = [run for run in data.runs if run.name in file.runs]
    rollouts = sum(run.rollouts.height for run in mine)
    judged = sum(run.rollouts["outcome"].is_in(["passed", "failed"]).sum() for run in mine)
    return f"{file.shown} {judged:,} of {rollouts:,} rollouts scored"


def _apart(runs: list[Run]) -> list[Run]:
    """The runs without copies of earlier ones."""
    kept: list[Run] = []
    for run in runs:
        if not any(_is_copy(run, other) for other in kept):
            kept.append(run)
    return kept


def _is_copy(run: Run, other: Run) -> bool:
    """The same rows, or nearly all long outputs the same: whatever the file is called, in whatever order rows stand."""
    if Counter(_content(run)) == Counter(_content(other)):
        return True
    mine, theirs = Counter(_outputs(run)), Counter(_outputs(other))
    smaller = min(mine.total(), theirs.total())
    return smaller >= FEWEST_OUTPUTS and (mine & theirs).total() > COPIED * smaller


def _content(run: Run) -> list[tuple[object, ...]]:
    """Every rollout by task, repeat, reward and what was put out."""
    return list(_marked(run).select(*_MARKS, "repeat", "reward", "output_fp", "answer_fp").iter_rows())


def _outputs(run: Run) -> list[tuple[object, ...]]:
    """What was put out for each task, where it is so much that two models do not write the same."""
    long = (pl.col("agent_chars") >= LONG_OUTPUT) & pl.col("output_fp").is_not_null()
    return list(_marked(run).filter(long).select(*_MARKS, "output_fp").iter_rows())


def _marked(run: Run) -> pl.DataFrame:
    return run.rollouts.join(run.tasks.select("task_id", *_MARKS), on="task_id", how="left")


def _copies(data: Data, apart: list[Run]) -> Check:
    kept = {run.name for run in apart}
    again = [run for run in data.runs if run.name not in kept]
    files = [file.shown for run in again if (file := data.file_of(run.name)) is not None]
    return Check(
        code="D2.copies",
        passed=not again,
        message="D2 runs are no copies of each other",
        found=f"{', '.join(files)}: the same outputs as another file" if again else f"{len(apart)} differ",
        fix="put the rollouts of another model or agent in place of the copy",
    )


def _comparable(runs: list[Run]) -> Check:
    said, alone = [], {run.name for run in runs}
    for first, second in combinations(runs, 2):
        same = same_tasks(first.tasks, second.tasks)
        alone -= {first.name, second.name} if same.comparable else set()
        smaller = min(first.tasks.height, second.tasks.height)
        by = ", ".join(same.joined_by) or "nothing"
        clash = f", {len(same.id_conflict)} ids stand for other tasks" if same.id_conflict else ""
        said.append(f"{first.name} and {second.name} share {len(same.pairs)} of {smaller} tasks (by {by}{clash})")
    return Check(
        code="D2.comparable",
        passed=not alone,
        message="D2 comparable task sets",
        found="; ".join(said[:MOST_LISTED]),
        fix="run both models on the same tasks, and keep the task ids and prompts in the rows; at least half must match",
    )


def _of_file(file: RolloutFile, runs: list[Run]) -> Iterator[Check]:
    yield _readable(file, runs)
    if not runs:
        yield _part("D2.task-id", "task id field present", file, Part(rows=0, of=0), False, _TASK_ID_FIX)
        return
    parts = [row_parts(run) for run in runs]
    yield from _six(file, parts)


_TASK_ID_FIX = "preserve `_ng_task_index`, `task_id` or an equivalent field in every row"


def _six(file: RolloutFile, parts: list[RowParts]) -> Iterator[Check]:
    task, repeat = _sum([one.task_id for one in parts]), _sum([one.repeat for one in parts])
    reward, output = _sum([one.reward for one in parts]), _sum([one.output for one in parts])
    verifier, metadata = _sum([one.verifier for one in parts]), _sum([one.metadata for one in parts])
    yield _part("D2.task-id", "task id field present", file, task, task.everywhere, _TASK_ID_FIX)
    if any(one.repeats for one in parts):
        fix = "preserve `_ng_rollout_index` or `rollout_id`: tasks have several rows, and a report must name one"
        yield _part("D2.repeat-id", "D2 rollout id field present", file, repeat, repeat.everywhere, fix)
    fix = "score the run: every judged row needs a number under `reward` or `score`"
    yield _part("D2.reward", "D2 reward or score", file, reward, 2 * reward.rows > reward.of, fix)
    fix = "keep what the model or agent wrote, such as `response.output`, in the rows"
    yield _part("D2.output", "D2 model or agent output", file, output, 2 * output.rows > output.of, fix)
    fix = "keep what the verifier returned (verdict, messages, tests) in the rows: a reward alone does not say why"
    yield _part("D2.verifier", "D2 verifier output", file, verifier, verifier.rows > 0, fix)
    fix = "keep what is known of the tasks (category, difficulty, expected answer) in the rows"
    yield _part("D2.metadata", "D2 task metadata", file, metadata, metadata.rows > 0, fix)


def _sum(parts: list[Part]) -> Part:
    fields = tuple(dict.fromkeys(field for part in parts for field in part.fields))
    return Part(rows=sum(part.rows for part in parts), of=sum(part.of for part in parts), fields=fields)


def _part(code: str, message: str, file: RolloutFile, part: Part, passed: bool, fix: str) -> Check:
    return Check(code=code, passed=passed, message=message, found=f"{file.shown}: {part}", fix=fix)


def _readable(file: RolloutFile, runs: list[Run]) -> Check:
    """Lines that could not be used are listed; half a file of them is no run."""
    bad = sum(run.problem_count for run in runs)
    rows = sum(run.rollouts.height for run in runs)
    listed = [f"{problem.source}: {problem.reason}" for run in runs for problem in run.problems[:MOST_LISTED]]
    found = f"{rows:,} rows, {bad:,} unusable or mended lines" + (
        f" ({'; '.join(listed[:MOST_LISTED])})" if bad else ""
    )
    return Check(
        code="D2.readable",
        passed=not file.refused and bad <= rows,
        message="D2 rows can be read",
        found=f"{file.shown}: {file.refused or found}",
        fix="one JSON object a line, in UTF-8; write the rows again, or leave out what is no rollout",
    )
