"""Options that several `gym` commands share: where configs are looked for, and which are meant."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

SearchDir = Annotated[
    list[str] | None,
    typer.Option("--search-dir", metavar="DIR", help="Look here first; may be given more than once."),
]
Json = Annotated[bool, typer.Option("--json", help="One line of JSON.")]
Config = Annotated[
    list[str] | None, typer.Option("--config", metavar="FILE", help="A config; may be given more than once.")
]
BenchmarkName = Annotated[
    str | None, typer.Option("--benchmark", metavar="NAME", help="A benchmark of `gym list benchmarks`.")
]
EnvironmentName = Annotated[
    str | None, typer.Option("--environment", metavar="NAME", help="An environment of `gym list environments`.")
]
ResourcesServer = Annotated[
    str | None, typer.Option("--resources-server", metavar="NAME", help="One of `gym list resources-servers`.")
]
ModelType = Annotated[str | None, typer.Option("--model-type", metavar="NAME", help="One of `gym list models`.")]
Model = Annotated[str | None, typer.Option("-m", "--model", metavar="NAME", help="The model's name at its server.")]
ModelUrl = Annotated[str | None, typer.Option("--model-url", metavar="URL", help="The base URL of the model's server.")]
ModelKey = Annotated[str | None, typer.Option("--model-api-key", metavar="KEY", help="The key; never written down.")]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", metavar="NAME", help="Another model for verifiers that ask a judge.")
]
JudgeUrl = Annotated[
    str | None, typer.Option("--judge-url", metavar="URL", help="The judge's server (default: the model's).")
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
    typer.Option(
        "--unsafe-sandbox",
        callback=_allow_unsafe,
        help="Run programs that models wrote also where this machine has no sandbox for them.",
    ),
]
Words = Annotated[
    list[str] | None, typer.Argument(metavar="[+KEY=VALUE]...", help="Any value of the config, as NeMo Gym takes it.")
]


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
