"""`gym eval run`: rollouts of a benchmark, with everything that stands beside them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from blade.model.errors import RequestError
from blade.report.numbers import plural
from blade.report.text import printable
from blade_gym.cli.commands import closed_connections_raise
from blade_gym.cli.options import (
    BenchmarkName,
    Concurrency,
    Config,
    EnvironmentName,
    Input,
    JudgeModel,
    JudgeUrl,
    MaxOutputTokens,
    Model,
    ModelKey,
    ModelType,
    ModelUrl,
    NoMetrics,
    NoServe,
    NumRepeats,
    Output,
    Overwrite,
    PromptConfig,
    ResourcesServer,
    Resume,
    RowAgent,
    RunningHeadPort,
    SearchDir,
    ShardOf,
    SkillsDir,
    Split,
    TaskLimit,
    Temperature,
    TopP,
    UnsafeSandbox,
    Words,
    selectors,
)

if TYPE_CHECKING:
    from blade_gym.run.job import RunResult
    from blade_gym.run.options import RunOptions
    from blade_gym.run.setup import RunSetup


def run(
    words: Words = None,
    benchmark: BenchmarkName = None,
    resources_server: ResourcesServer = None,
    model_type: ModelType = None,
    model: Model = None,
    model_url: ModelUrl = None,
    model_api_key: ModelKey = None,
    input_file: Input = None,
    output: Output = None,
    split: Split = None,
    limit: TaskLimit = None,
    num_repeats: NumRepeats = None,
    concurrency: Concurrency = None,
    temperature: Temperature = None,
    max_output_tokens: MaxOutputTokens = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    config: Config = None,
    environment: EnvironmentName = None,
    search_dir: SearchDir = None,
    agent: RowAgent = None,
    prompt_config: PromptConfig = None,
    skills: SkillsDir = None,
    top_p: TopP = None,
    shard: ShardOf = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
    no_serve: NoServe = False,
    head_port: RunningHeadPort = None,
    disable_aggregation: NoMetrics = False,
    unsafe_sandbox: UnsafeSandbox = False,
) -> None:
    """Run a benchmark: rollouts, materialized inputs, failures, metrics and a manifest beside --output.

    Data that is missing is prepared. Ctrl-C is safe: --resume goes on. Exit code 1 when a rollout has no reward.

    Example: gym eval run --benchmark gsm8k --model-type local_model --limit 10 --output results/r.jsonl
    """
    wanted = selectors(benchmark, environment, resources_server, model_type)
    flags = {
        "output_jsonl_fpath": output,
        "input_jsonl_fpath": input_file,
        "split": split,
        "agent_name": agent,
        "limit": limit,
        "num_repeats": _repeats(num_repeats),
        "prompt_config": prompt_config,
        "num_samples_in_parallel": concurrency,
        "shard": shard,
        "skills": {"path": skills} if skills else None,
        "resume_from_cache": resume or None,
        "overwrite": overwrite or None,
        "responses_create_params": {"temperature": temperature, "top_p": top_p, "max_output_tokens": max_output_tokens},
    }
    from blade_gym.cli.composed import judge_overrides, model_overrides

    models = [*model_overrides(model_type, model, model_url, model_api_key), *judge_overrides(judge_model, judge_url)]
    given = [*models, *(words or ())]
    if no_serve:
        _refuse_decided(
            {
                **wanted,
                "config": config,
                "model": model,
                "model_url": model_url,
                "judge_model": judge_model,
                "unsafe_sandbox": unsafe_sandbox,
            }
        )
        setup, options = _remote(list(words or ()), flags, search_dir, head_port)
    else:
        setup, options = _serving(wanted, config, search_dir, given, flags, judge_model)
    _run(setup, options, aggregation=not (disable_aggregation or setup.config.get("disable_aggregation") is True))


def _refuse_decided(given: dict[str, Any]) -> None:
    """Raise for what servers that run already have decided."""
    named = [f"--{name.replace('_', '-')}" for name, override_value in given.items() if override_value]
    if named:
        raise RequestError(
            f"with --no-serve the servers that run decide: {', '.join(named)}", hint="give it to `gym env start`"
        )


def _repeats(text: str | None) -> Any:
    if text is None:
        return None
    from blade_gym.config.values import override_value

    return override_value(text)


def _serving(
    wanted: dict[str, str | None],
    config: list[str] | None,
    search_dir: list[str] | None,
    words: list[str],
    flags: dict[str, Any],
    judge: str | None,
) -> tuple[RunSetup, RunOptions]:
    from blade_gym.cli.composed import asked_judge, composed
    from blade_gym.config.settings import refuse_unserved
    from blade_gym.run.options import read_options
    from blade_gym.run.setup import local_setup

    resolved = composed(wanted, config, search_dir, words)
    refuse_unserved(resolved.config)
    asked_judge(resolved, judge)
    options = read_options(resolved.config, flags)
    return local_setup(resolved, options, wanted["benchmark"], _say), options


def _remote(
    words: list[str], flags: dict[str, Any], search_dir: list[str] | None, head_port: int | None
) -> tuple[RunSetup, RunOptions]:
    from blade_gym.config.compose import merged
    from blade_gym.config.problem import refuse
    from blade_gym.config.roots import search_roots
    from blade_gym.config.settings import refuse_unserved, unread
    from blade_gym.config.values import overridden
    from blade_gym.run.options import read_options
    from blade_gym.run.setup import remote_setup
    from blade_gym.serve.head import ask_head, place

    plain = [f"++{word.lstrip('+')}" for word in words]
    own, problems = overridden({}, plain)
    idle, useless = unread(plain, (), own)
    refuse([*problems, *useless])
    for line in idle:
        _say(f"note: {line}")
    refuse_unserved(own)
    if own.get("skip_verification"):
        raise RequestError(
            "servers that run already decide whether they verify", hint="gym env start ... +skip_verification=true"
        )
    options = read_options(own, flags)
    host, port = place(own if head_port is None else merged(own, {"head_server": {"port": head_port}}))
    return remote_setup(ask_head(host, port), options, search_roots(search_dir or ())), options


def _run(setup: RunSetup, options: RunOptions, *, aggregation: bool) -> None:
    from blade_gym.cli.watch import watching
    from blade_gym.run.job import RunListener
    from blade_gym.run.job import run as play

    with closed_connections_raise(), watching() as progress:
        result = play(setup, options, RunListener(notice=_say, progress=progress))
    _say_failures(result)
    if result.stopped is not None:
        _say(
            f"stopped; {result.progress.done} of {result.expected} rollouts are there. Go on with the same command and --resume"
        )
        raise SystemExit(128 + result.stopped)
    if result.progress.hopeless:
        raise RequestError(f"given up: {result.progress.hopeless}", hint="mend that, then go on with --resume")
    if aggregation:
        aggregated(result.files.rollouts)
    _next(result)
    if not result.complete:
        raise typer.Exit(1)


def _say_failures(result: RunResult) -> None:
    for kind, count in sorted(result.progress.failed.items()):
        _say(f"{plural(count, 'rollout')} failed: {kind}; the last error: {result.progress.errors[kind]}")
    for why, count in sorted(result.given_up.items()):
        _say(f"{plural(count, 'rollout')} that failed before: not tried again, {why}")


def aggregated(rollouts: Path) -> None:
    """Write the metrics of a rollouts file and print the key ones."""
    from blade import files
    from blade_gym.profile import text
    from blade_gym.profile.aggregate import aggregate

    if not rollouts.is_file() or not rollouts.stat().st_size:
        _say("no rollout has a reward: no metrics")
        return
    found = aggregate([rollouts])
    metrics = files.beside(rollouts, "_aggregate_metrics.json")
    files.write_json(metrics, found.agents, indent=2)
    for entry in found.agents:
        name = entry["agent_ref"]["name"]
        _print(f"Key metrics for {name}:")
        _print(json.dumps(entry["key_metrics"], indent=4))
        _print(text.agent_line(name, entry["agent_metrics"]))
    _print(f"Aggregate metrics: {metrics}")


def _next(result: RunResult) -> None:
    files, progress = result.files, result.progress
    _print(f"Rollouts: {files.rollouts} ({progress.done} of {result.expected})")
    _print(f"Materialized inputs: {files.inputs}")
    _print(f"Failures: {files.failures} ({progress.failed.total()} in this run)")
    _print(f"Manifest: {files.manifest}")
    if progress.unjudged:
        _print(f"Not judged: {progress.unjudged}; they have no reward")
        _print(_command("gym", "eval", "reverify", "--rollouts", files.rollouts))
    if not result.complete:
        again = progress.again + progress.unsaved
        tries = f"tries {again} of them again" if again else "would try none of them again"
        _say(
            f"{plural(result.expected - progress.done, 'rollout')} without a reward; the same command with --resume {tries}"
        )
    if not progress.done:
        return
    partial = [] if result.complete else ["--allow-partial"]
    report = f"{files.rollouts.with_suffix('')}_report"
    _print(_command("gym", "eval", "profile", "--inputs", files.inputs, "--rollouts", files.rollouts, *partial))
    _print(_command("blade", "analyze", files.rollouts, "-o", report))


def _command(*words: str | Path) -> str:
    """What to run next, ready to paste."""
    return f"next: {shlex.join(map(str, words))}"


def _say(line: str) -> None:
    print(printable(line), file=sys.stderr)


def _print(line: str) -> None:
    print("\n".join(printable(one) for one in line.splitlines()))
