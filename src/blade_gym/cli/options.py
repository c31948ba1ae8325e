"""Arguments and options of the `gym` commands, each defined once; those that few people need are under "Advanced"."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from blade.cli.help import ADVANCED


def _advanced(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=ADVANCED, **settings)


# Which config

Words = Annotated[
    list[str] | None, typer.Argument(metavar="[+KEY=VALUE]...", help="Any value of the config, as NeMo Gym takes it.")
]
BenchmarkName = Annotated[
    str | None, typer.Option("--benchmark", metavar="NAME", help="A benchmark of `gym list benchmarks`.")
]
BenchmarkNames = Annotated[
    list[str] | None,
    typer.Option(
        "--benchmark", metavar="NAME", help="A benchmark of `gym list benchmarks`; may be given more than once."
    ),
]
ResourcesServer = Annotated[
    str | None, typer.Option("--resources-server", metavar="NAME", help="One of `gym list resources-servers`.")
]
EnvironmentName = Annotated[
    str | None, _advanced("--environment", metavar="NAME", help="An environment of `gym list environments`.")
]
Config = Annotated[
    list[str] | None, _advanced("--config", metavar="FILE", help="A config; may be given more than once.")
]
UnusedConfig = Annotated[
    list[str] | None, _advanced("--config", metavar="FILE", help="Taken and not needed: no server is asked.")
]
SearchDir = Annotated[
    list[str] | None,
    _advanced("--search-dir", metavar="DIR", help="Look here first; may be given more than once."),
]

# Which model, and which judge

ModelType = Annotated[str | None, typer.Option("--model-type", metavar="NAME", help="One of `gym list models`.")]
Model = Annotated[str | None, typer.Option("-m", "--model", metavar="NAME", help="The model's name at its server.")]
ModelUrl = Annotated[str | None, typer.Option("--model-url", metavar="URL", help="The base URL of the model's server.")]
ModelKey = Annotated[str | None, typer.Option("--model-api-key", metavar="KEY", help="The key; never written down.")]
JudgeModel = Annotated[
    str | None, _advanced("--judge-model", metavar="NAME", help="Another model for verifiers that ask a judge.")
]
JudgeUrl = Annotated[
    str | None, _advanced("--judge-url", metavar="URL", help="The judge's server (default: the model's).")
]
Temperature = Annotated[float | None, typer.Option("--temperature", metavar="X", help="Sampling temperature.")]
MaxOutputTokens = Annotated[int | None, typer.Option("--max-output-tokens", metavar="N", help="Tokens of an answer.")]
TopP = Annotated[float | None, _advanced("--top-p", metavar="X", help="Nucleus sampling.")]

# Which rows, and where they go

Input = Annotated[str | None, typer.Option("-i", "--input", metavar="FILE", help="Rows to run, a JSON object a line.")]
Output = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Rollouts; other files are named after it.")
]
ReverifiedOutput = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Default: STEM_reverified.jsonl.")
]
MergedOutput = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="The merged rollouts; metrics are named after it.")
]
InputGlob = Annotated[
    str | None,
    typer.Option("-i", "--input-glob", metavar="GLOB", help="Shards: patterns, with commas between them."),
]
Rollouts = Annotated[str | None, typer.Option("--rollouts", metavar="FILE", help="Rollouts: .jsonl, .gz or .zst.")]
StoredRollouts = Annotated[str | None, typer.Option("--rollouts", metavar="FILE", help="Stored rollouts.")]
Inputs = Annotated[
    str | None, typer.Option("--inputs", metavar="FILE", help="Materialized inputs (default: beside the rollouts).")
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split", metavar="NAME", help="train, validation, benchmark or example (benchmark with --benchmark)."
    ),
]
TaskLimit = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="The first N tasks, with all their repeats.")
]
RolloutLimit = Annotated[int | None, typer.Option("--limit", metavar="N", help="The first N rollouts.")]
RowLimit = Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many rows a data set.")]
NumRepeats = Annotated[
    str | None,
    typer.Option("--num-repeats", metavar="N|{AGENT: N}", help="Rollouts of each task (default: the config's)."),
]
RowAgent = Annotated[str | None, _advanced("-a", "--agent", metavar="NAME", help="For rows that name no agent.")]
StoredRowAgent = Annotated[
    str | None,
    _advanced(
        "-a", "--agent", metavar="NAME", help="For rows without an agent, or with one that the config does not have."
    ),
]
PromptConfig = Annotated[
    str | None,
    _advanced("--prompt-config", metavar="FILE", help="YAML with user and system texts and {field} places."),
]
ShardOf = Annotated[str | None, _advanced("--shard", metavar="I/N", help="The I-th of N parts of the tasks, from 1.")]
SkillsDir = Annotated[
    str | None, _advanced("--skills", metavar="DIR", help="Skills for the agent; also +skills.path=DIR.")
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="For scripts that draw: another seed than the config's.")
]

# How it runs

Resume = Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run, and retry what failed.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Start anew over a run that did not end, or of other settings.")
]
ResumeOutput = Annotated[bool, typer.Option("--resume", help="Go on with an output that is there.")]
OverwriteOutput = Annotated[bool, typer.Option("--overwrite", help="Replace an output that is there.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", metavar="N", help="Rollouts at once (32; 4 for local_model).")
]
JudgedAtOnce = Annotated[int, typer.Option("--concurrency", metavar="N", help="Rollouts at once.")]
ForceData = Annotated[bool, typer.Option("--force", help="Make the data again, also where it is there.")]
ForceVerdict = Annotated[
    bool, _advanced("--force", help="Also where the environment says no; the output is named unsafe_.")
]
JudgeFailedOnly = Annotated[bool, _advanced("--judge-failed-only", help="Only failures whose judge gave no verdict.")]
Append = Annotated[bool, _advanced("--append", help="With --judge-failed-only: add them to the rollouts themselves.")]
NoServe = Annotated[bool, _advanced("--no-serve", help="Use the servers of `gym env start`.")]
HeadPort = Annotated[int | None, typer.Option("--head-port", metavar="N", help="Where the head listens (11000).")]
RunningHeadPort = Annotated[
    int | None, _advanced("--head-port", metavar="N", help="With --no-serve: the head's port (11000).")
]
NoMetrics = Annotated[bool, _advanced("--disable-aggregation", help="Write no metrics, as for shards.")]
AllowPartial = Annotated[bool, typer.Option("--allow-partial", help="Profile what is there when rollouts are missing.")]
Merge = Annotated[bool, typer.Option("--merge/--no-merge", help="Write the merged rollouts, or metrics only.")]
PassThreshold = Annotated[
    float, _advanced("--pass-threshold", metavar="X", help="The reward that counts as a pass, for the blade/ keys.")
]
Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="[+KEY=VALUE]...", help="The same options as NeMo Gym's overrides.")
]


def _allow_unsafe(given: bool) -> bool:
    if given:
        from blade_gym.sandbox import walls

        walls.allow_unsafe()
        if walls.available() == walls.NONE:
            print(f"warning: programs that a model wrote run without a sandbox: {walls.OPEN_WITHOUT}", file=sys.stderr)
    return given


UnsafeSandbox = Annotated[
    bool,
    _advanced(
        "--unsafe-sandbox",
        callback=_allow_unsafe,
        help="Run programs that models wrote also where this machine has no sandbox for them.",
    ),
]

# What is shown

Json = Annotated[bool, typer.Option("--json", help="One line of JSON.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="List every line that could not be used.")]
EntryName = Annotated[str | None, typer.Argument(help="Show everything about this one.")]
Domain = Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this domain.")]
EntryKind = Annotated[str | None, typer.Option(metavar="environment|benchmark", help="Only those of this kind.")]


def selectors(
    benchmark: str | None, environment: str | None, resources_server: str | None, model_type: str | None
) -> dict[str, str | None]:
    """The options that name configs, by what they name."""
    return {
        "benchmark": benchmark,
        "environment": environment,
        "resources_server": resources_server,
        "model_type": model_type,
    }
