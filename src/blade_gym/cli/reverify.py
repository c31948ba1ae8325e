"""`gym eval reverify`: new rewards on stored rollouts, without a model."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from blade.model.errors import RequestError
from blade.report.numbers import plural
from blade.report.text import printable
from blade_gym.cli.commands import closed_connections_raise
from blade_gym.cli.options import (
    Append,
    BenchmarkName,
    Config,
    EnvironmentName,
    ForceVerdict,
    Inputs,
    JudgedAtOnce,
    JudgeFailedOnly,
    JudgeModel,
    JudgeUrl,
    Model,
    ModelKey,
    ModelType,
    ModelUrl,
    NoMetrics,
    OverwriteOutput,
    ResourcesServer,
    ResumeOutput,
    ReverifiedOutput,
    RolloutLimit,
    SearchDir,
    StoredRollouts,
    StoredRowAgent,
    UnsafeSandbox,
    Words,
    selectors,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from blade_gym.config.servers import Instance
    from blade_gym.environment import Environment
    from blade_gym.run.artifacts import Artifacts
    from blade_gym.run.reverify import AgentChoice, Judges, ReverifyCounts

UNSAFE = "unsafe_"
MOST_TOLD = 6


def reverify(
    words: Words = None,
    rollouts: StoredRollouts = None,
    inputs: Inputs = None,
    output: ReverifiedOutput = None,
    benchmark: BenchmarkName = None,
    resources_server: ResourcesServer = None,
    model_type: ModelType = None,
    model: Model = None,
    model_url: ModelUrl = None,
    model_api_key: ModelKey = None,
    limit: RolloutLimit = None,
    concurrency: JudgedAtOnce = 8,
    resume: ResumeOutput = False,
    overwrite: OverwriteOutput = False,
    config: Config = None,
    environment: EnvironmentName = None,
    search_dir: SearchDir = None,
    agent: StoredRowAgent = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
    judge_failed_only: JudgeFailedOnly = False,
    append: Append = False,
    force: ForceVerdict = False,
    disable_aggregation: NoMetrics = False,
    unsafe_sandbox: UnsafeSandbox = False,
) -> None:
    """Judge stored rollouts again, in this process and without a model; calls are carried out again where needed.

    The config comes from the manifest beside the rollouts, unless one is named. Rows without an agent belong to the
    config's only one; rows without a task index are numbered in their order. The output keeps the order. A verifier that
    asks a judge needs a config and a model for the judge alone: --judge-model and --judge-url, or --model-type.

    Example: gym eval reverify --rollouts results/r.jsonl
    """
    from blade_gym.cli.composed import judge_overrides, model_overrides
    from blade_gym.run.artifacts import Artifacts
    from blade_gym.run.reverify import ReverifyRequest, judges_of
    from blade_gym.run.reverify import reverify as judge

    if not rollouts:
        raise RequestError("--rollouts is missing", hint="--rollouts results/r.jsonl")
    if append and not judge_failed_only:
        raise RequestError("--append needs --judge-failed-only", hint="else every rollout would be there twice")
    source = Artifacts(Path(rollouts).expanduser())
    wanted = selectors(benchmark, environment, resources_server, model_type)
    models = [*model_overrides(model_type, model, model_url, model_api_key), *judge_overrides(judge_model, judge_url)]
    if not source.rollouts.is_file():
        raise RequestError(f"no such file: {source.rollouts}", hint="check the path")
    parts, roots, with_models = _parts(
        source.manifest, wanted, config, search_dir, (models, list(words or ())), judge_model
    )
    chosen = _chosen(source.rollouts, source.failures, _agents(parts, agent), judge_failed_only, limit)
    rows = [row for _, row in chosen.values()]
    made = judges_of(parts, roots, sorted({row["agent_ref"]["name"] for row in rows}), with_models=with_models)
    target = _target(source.rollouts, output, append=append, unsafe=_refused(made.environments, force=force))
    new = Artifacts(target)
    plan = Path(inputs) if inputs else source.inputs
    asked = ReverifyRequest(
        judges=made,
        inputs=_inputs(plan, source.failures if judge_failed_only else source.rollouts, given=inputs is not None),
        rows=rows,
        places={key: place for key, (place, _) in chosen.items()},
        output=target,
        concurrency=concurrency,
        keep_failures=not append,
    )
    asked.refuse_foreign()
    _room(new, overwrite=overwrite, resume=resume or append)
    _recorded(source, new, made, plan)
    with closed_connections_raise():
        again = judge(asked)
    _print_counts(again, target, kept=not append)
    if not disable_aggregation:
        from blade_gym.cli.run import aggregated

        aggregated(target)
    if again.failed:
        raise typer.Exit(1)


def _agents(parts: Sequence[Instance], chosen: str | None) -> AgentChoice:
    from blade_gym.config.servers import AGENTS
    from blade_gym.run.reverify import AgentChoice

    known = [one.name for one in parts if one.group == AGENTS]
    if chosen is not None and chosen not in known:
        raise RequestError(f"no agent is called {chosen}", hint=f"the config has: {', '.join(sorted(known)) or 'none'}")
    return AgentChoice(known=known, chosen=chosen)


def _chosen(
    rollouts: Path, failures: Path, agents: AgentChoice, failed_only: bool, limit: int | None
) -> dict[tuple[int, int], tuple[str, dict[str, Any]]]:
    """The rows to judge by key, each with its place, in the order of their file; raises where there is none."""
    from blade_gym.run.resume import key_of
    from blade_gym.run.reverify import stored

    done = {key_of(row) for _, row in stored(rollouts, agents)} if failed_only else set()
    found: dict[tuple[int, int], tuple[str, dict[str, Any]]] = {}
    for place, row in stored(failures if failed_only else rollouts, agents, number=not failed_only):
        if not failed_only or (row.get("_ng_failure_class") == "judge_failed" and key_of(row) not in done):
            found[key_of(row)] = place, row
    if not found:
        what = "failure of a judge with a response" if failed_only else "rollout with a response"
        raise RequestError(f"no {what} to judge again", hint="rows need response.output")
    return dict(islice(found.items(), limit))


def _inputs(plan: Path, rollouts: Path, *, given: bool) -> dict[tuple[int, int], dict[str, Any]]:
    """The rows of the data set by rollout, for rollouts that bring their own key: a number by order matches nothing.

    Raises where a file was named and no row of it belongs to a rollout.
    """
    from blade_gym.run.resume import key_of, rows_of

    planned = {key_of(row): row for row in rows_of(plan)}
    found = {key: planned[key] for key in map(key_of, rows_of(rollouts)) if key in planned} if planned else {}
    if given and not found:
        raise RequestError(
            f"no row of {plan} belongs to a rollout of {rollouts}",
            hint="rows are matched by _ng_task_index and _ng_rollout_index, which both files need",
        )
    return found


def _parts(
    manifest: Path,
    wanted: dict[str, str | None],
    config: Sequence[str] | None,
    search_dir: Sequence[str] | None,
    words: tuple[list[str], list[str]],
    judge: str | None,
) -> tuple[Sequence[Instance], Sequence[Path], bool]:
    """The servers of the config that is named, else of the run's own; where files are looked for; whether models are made.

    `words` are those of the models, and the user's.
    """
    if any(wanted.values()) or config:
        from blade_gym.cli.composed import asked_judge, composed
        from blade_gym.cli.env import NO_MODEL

        typed = wanted["model_type"] is not None
        named = wanted if typed else {**wanted, "model_type": "scripted_model"}
        resolved = composed(named, config, search_dir, [*([] if typed else NO_MODEL), *words[0], *words[1]])
        asked_judge(resolved, judge)
        return resolved.instances, resolved.roots, typed or judge is not None
    from blade_gym.config.roots import search_roots
    from blade_gym.run.reverify import from_manifest

    if judge is not None:
        raise RequestError("--judge-model needs a config", hint="--benchmark or --resources-server names it")
    return from_manifest(manifest, words[1]), search_roots(search_dir or ()), False


def _refused(made: Mapping[str, Environment], *, force: bool) -> bool:
    """Whether an environment cannot judge stored responses; raises unless that is wanted all the same."""
    from blade_gym.environment import STATELESS, reverify_mode

    cannot = sorted(name for name, environment in made.items() if reverify_mode(environment) != STATELESS)
    if cannot and not force:
        raise RequestError(
            f"the environment of {', '.join(cannot)} cannot judge stored responses",
            hint="--force does it all the same, and names the output unsafe_",
        )
    return bool(cannot)


def _target(rollouts: Path, output: str | None, *, append: bool, unsafe: bool) -> Path:
    if append:
        return rollouts
    target = Path(output).expanduser() if output else rollouts.with_name(f"{rollouts.stem}_reverified.jsonl")
    if target.resolve() == rollouts.resolve():
        raise RequestError("--output is the rollouts file itself", hint="give another name")
    return target.with_name(UNSAFE + target.name) if unsafe else target


def _room(target: Artifacts, *, overwrite: bool, resume: bool) -> None:
    if not target.rollouts.exists() or resume:
        return
    if not overwrite:
        raise RequestError(
            f"{target.rollouts} is there already", hint="--overwrite replaces it, --resume goes on with it"
        )
    target.clear()


def _recorded(source: Artifacts, target: Artifacts, judges: Judges, inputs: Path) -> None:
    """The new rollouts have inputs and a manifest of their own, which says what judges them now.

    Raises where the output holds verdicts of another verifier: a file has one.
    """
    from blade_gym.run.artifacts import write_document, write_whole
    from blade_gym.run.manifest import other_verdicts, read_manifest

    known = read_manifest(source.manifest)
    new = judges.recorded(known) if known else None
    before = read_manifest(target.manifest)
    changed = other_verdicts(before, new) if before and new else []
    if changed:
        raise RequestError(
            f"{target.rollouts} was judged otherwise: {'; '.join(changed[:MOST_TOLD])}",
            hint="judge all of them again to another --output, without --resume and --judge-failed-only",
        )
    if source.rollouts == target.rollouts:
        return
    if inputs.is_file():
        write_whole(target.inputs, inputs.read_bytes())
    if new:
        write_document(target.manifest, {**new, "reverified_from": source.rollouts.name})


def _print_counts(again: ReverifyCounts, target: Path, *, kept: bool) -> None:
    first = f", {again.first} had none before" if again.first else ""
    before = f"; {again.kept} were done before" if again.kept else ""
    print(
        f"{plural(again.judged, 'rollout')} re-judged: {plural(again.up, 'reward')} went up, {again.down} went down{first}{before}"
    )
    if again.failed:
        where = "they are among the failures" if kept else "they stay among the failures, and no row is added"
        sentence = f"{again.failed} got no verdict; {where}; the last: {again.last_error}"
        print(printable(sentence), file=sys.stderr)
    print(printable(f"Rollouts: {target}"))
