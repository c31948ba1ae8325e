"""`gym env resolve` and `gym env validate`: a config as it comes out, and everything that is wrong in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from blade_gym.cli.composed import judge_overrides, model_overrides
from blade_gym.cli.groups import CommandGroup
from blade_gym.cli.once import OptionsOnce
from blade_gym.cli.options import (
    BenchmarkName,
    Config,
    EnvironmentName,
    JudgeModel,
    JudgeUrl,
    Model,
    ModelKey,
    ModelType,
    ModelUrl,
    ResourcesServer,
    SearchDir,
    Words,
    selectors,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from blade_gym.config.load import Resolved
    from blade_gym.config.problem import ConfigProblem

group = typer.Typer(
    cls=CommandGroup, help="Environments: their configs and their servers.", no_args_is_help=True, rich_markup_mode=None
)


@group.command(cls=OptionsOnce)
def resolve(
    words: Words = None,
    config: Config = None,
    benchmark: BenchmarkName = None,
    environment: EnvironmentName = None,
    resources_server: ResourcesServer = None,
    model_type: ModelType = None,
    search_dir: SearchDir = None,
    model: Model = None,
    model_url: ModelUrl = None,
    model_api_key: ModelKey = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
) -> None:
    """Print the merged config as YAML, with secrets as ****. Nothing is written.

    What is still wrong in it is named after it, and the exit code is then 1.

    Example: gym env resolve --benchmark aime24 --model-type openai_model
    """
    from blade_gym.config.mask import masked
    from blade_gym.config.yaml_file import dump

    wanted = selectors(benchmark, environment, resources_server, model_type)
    models = [*model_overrides(model_type, model, model_url, model_api_key), *judge_overrides(judge_model, judge_url)]
    found, problems = _examined(wanted, config, search_dir, [*models, *(words or ())])
    print(dump(masked(found.config)), end="")
    _end(found, problems)


@group.command(cls=OptionsOnce)
def validate(
    words: Words = None,
    config: Config = None,
    benchmark: BenchmarkName = None,
    environment: EnvironmentName = None,
    resources_server: ResourcesServer = None,
    model_type: ModelType = None,
    search_dir: SearchDir = None,
    model: Model = None,
    model_url: ModelUrl = None,
    model_api_key: ModelKey = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
) -> None:
    """Name every problem of a config at once, with its file and line. Nothing is written.

    Exit code 0 when there is none, 1 when there is one.

    Example: gym env validate --resources-server workplace_assistant --model-type openai_model
    """
    from blade.report.text import printable
    from blade_gym.config.load import absent_files

    wanted = selectors(benchmark, environment, resources_server, model_type)
    models = [*model_overrides(model_type, model, model_url, model_api_key), *judge_overrides(judge_model, judge_url)]
    found, problems = _examined(wanted, config, search_dir, [*models, *(words or ())])
    problems = (*problems, *absent_files(found))
    if not problems:
        names = ", ".join(f"{one.name} ({one.group})" for one in found.instances)
        print(printable(f"valid: {len(found.instances)} servers: {names}"))
    _end(found, problems)


def _examined(
    wanted: dict[str, str | None], config: list[str] | None, search_dir: list[str] | None, words: list[str]
) -> tuple[Resolved, tuple[ConfigProblem, ...]]:
    from blade.model.errors import RequestError
    from blade_gym.config.load import examine
    from blade_gym.config.roots import search_roots
    from blade_gym.config.selectors import selected

    roots = search_roots(search_dir or ())
    found, problems = examine([*(config or ()), *selected(wanted, roots)], words, roots)
    if not found.sources and not problems:
        raise RequestError(
            "no config is named", hint="--benchmark, --resources-server, --model-type or --config names one"
        )
    return found, problems


def _end(found: Resolved, problems: Iterable[ConfigProblem]) -> None:
    """Say on stderr what is worth a word; exit with 1 where something is wrong."""
    from blade.report.text import printable

    for notice in found.notices:
        print(printable(f"note: {notice}"), file=sys.stderr)
    listed = list(problems)
    for problem in listed:
        print(printable(f"problem: {problem.text}" + (f" ({problem.hint})" if problem.hint else "")), file=sys.stderr)
    if listed:
        raise typer.Exit(1)
