"""`gym eval profile` and `gym eval aggregate`: NeMo Gym's statistics over files, without a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from blade.model.errors import RequestError
from blade.report.text import printable
from blade_gym.cli.options import (
    AllowPartial,
    InputGlob,
    Inputs,
    Merge,
    MergedOutput,
    Overrides,
    PassThreshold,
    Rollouts,
    UnusedConfig,
    Verbose,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXAMPLES = {
    "--rollouts": "--rollouts results/r.jsonl",
    "--inputs": "--inputs results/r_materialized_inputs.jsonl; none stand beside the rollouts",
    "--input-glob": "--input-glob 'results/shard*.jsonl'",
    "--output": "--output results/r.jsonl",
}


def profile(
    overrides: Overrides = None,
    inputs: Inputs = None,
    rollouts: Rollouts = None,
    allow_partial: AllowPartial = False,
    verbose: Verbose = False,
    pass_threshold: PassThreshold = 1.0,
) -> None:
    """Rewards per task and agent: mean, max, min, median, std; pass rate, pass@k and variance under blade/ keys.

    Writes STEM_reward_profiling.jsonl and STEM_agent_metrics.json beside the rollouts.

    Example: gym eval profile --inputs results/r_materialized_inputs.jsonl --rollouts results/r.jsonl
    """
    from blade import files
    from blade_gym.profile import overrides as extra
    from blade_gym.profile import text
    from blade_gym.profile.profile import profile as make
    from blade_gym.run.merge import merged_of

    known = ("materialized_inputs_jsonl_fpath", "rollouts_jsonl_fpath", "allow_partial_rollouts")
    given = extra.parse(overrides or (), known)
    path = _file(rollouts or given.get(known[1]), "--rollouts")
    beside = files.sidecar(path, "_materialized_inputs.jsonl")
    plan = _file(inputs or given.get(known[0]) or (str(beside) if beside else None), "--inputs")
    partial = allow_partial or extra.flag(known[2], given.get(known[2], "false"))
    parts = merged_of(path)
    found = make(path, plan, allow_partial=partial, threshold=pass_threshold, absent=parts.due())
    rows, agents = files.beside(path, "_reward_profiling.jsonl"), files.beside(path, "_agent_metrics.json")
    files.write_lines(rows, found.tasks)
    files.write_json(agents, found.agents)
    _say(parts.notices())
    _say(text.problem_lines(found.problems, found.copies, None if verbose else text.MOST_PROBLEMS))
    _print(text.profile_lines(found, rows, agents))


def aggregate(
    overrides: Overrides = None,
    input_glob: InputGlob = None,
    output: MergedOutput = None,
    merge: Merge = True,
    verbose: Verbose = False,
    pass_threshold: PassThreshold = 1.0,
    config: UnusedConfig = None,
) -> None:
    """Merge shards and sum them up by agent: NeMo Gym's statistics and pass@k family, and ours under blade/ keys.

    Writes the merged rollouts and STEM_aggregate_metrics.json; for shards of one `gym eval run`, their inputs, failures
    and manifest too; shards of different runs are refused, and missing ones named and counted. Sidecars that the
    pattern matches are left out.

    Example: gym eval aggregate -i 'results/shard*.jsonl' -o results/rollouts.jsonl
    """
    from blade import files
    from blade_gym.profile import overrides as extra
    from blade_gym.profile import text
    from blade_gym.profile.aggregate import aggregate as make
    from blade_gym.profile.aggregate import find_shards, write_merged
    from blade_gym.run.merge import merge_sidecars, shard_set

    known = ("input_glob", "output_jsonl_fpath", "merge_shards", "config_paths")
    given = extra.parse(overrides or (), known)
    pattern = _needed(input_glob or given.get(known[0]), "--input-glob")
    target = Path(_needed(output or given.get(known[1]), "--output"))
    merging = merge and extra.flag(known[2], given.get(known[2], "true"))
    shards = find_shards(pattern, target)
    _say(f"left out: {path} is {what}" for path, what in shards.left_out)
    _print(text.shard_lines(shards))
    parts = shard_set(shards.files)
    _say(parts.notices())
    found = make(shards.files, threshold=pass_threshold, absent=parts.due())
    _say(text.problem_lines(found.problems, found.copies, None if verbose else text.MOST_PROBLEMS))
    _print([text.loaded_line(found)])
    if merging:
        _print([f"Merging shards into {target}"])
        write_merged(found, target)
        merge_sidecars(parts, target)
    metrics = files.beside(target, "_aggregate_metrics.json")
    files.write_json(metrics, found.agents, indent=2)
    _print(text.aggregate_lines(found, target if merging else None, metrics))


def _needed(given: str | None, option: str) -> str:
    if not given:
        raise RequestError(f"{option} is missing", hint=_EXAMPLES[option])
    return given


def _file(given: str | None, option: str) -> Path:
    path = Path(_needed(given, option)).expanduser()
    if not path.is_file():
        raise RequestError(f"{option}: no such file: {path}", hint="check the path")
    return path


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line), file=sys.stderr)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line))
