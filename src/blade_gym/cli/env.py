"""`gym env`: a config as it comes out, what is wrong in it, its servers, and its verifiers on their gold answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import typer

from blade.model.errors import RequestError
from blade.report.text import printable
from blade_gym.cli.commands import OptionsOnce, closed_connections_raise
from blade_gym.cli.commands import group as command_group
from blade_gym.cli.composed import judge_overrides, model_overrides
from blade_gym.cli.options import (
    BenchmarkName,
    Config,
    EnvironmentName,
    HeadPort,
    Json,
    JudgeModel,
    JudgeUrl,
    Model,
    ModelKey,
    ModelType,
    ModelUrl,
    ResourcesServer,
    RowLimit,
    SearchDir,
    UnsafeSandbox,
    Words,
    selectors,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from blade_gym.config.load import Resolved
    from blade_gym.config.problem import ConfigProblem
    from blade_gym.run.golden import GoldResult

group = command_group("Environments: their configs and their servers.")
NO_MODEL = ["++policy_model.responses_api_models.scripted_model.policy=none"]
"""A model that is never asked, for configs that leave the choice open."""


@group.command(cls=OptionsOnce)
def resolve(
    words: Words = None,
    benchmark: BenchmarkName = None,
    resources_server: ResourcesServer = None,
    model_type: ModelType = None,
    model: Model = None,
    model_url: ModelUrl = None,
    model_api_key: ModelKey = None,
    config: Config = None,
    environment: EnvironmentName = None,
    search_dir: SearchDir = None,
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
    benchmark: BenchmarkName = None,
    resources_server: ResourcesServer = None,
    model_type: ModelType = None,
    model: Model = None,
    model_url: ModelUrl = None,
    model_api_key: ModelKey = None,
    config: Config = None,
    environment: EnvironmentName = None,
    search_dir: SearchDir = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
) -> None:
    """Name every problem of a config at once, with its file and line. Nothing is written.

    Exit code 0 when there is none, 1 when there is one.

    Example: gym env validate --resources-server workplace_assistant --model-type openai_model
    """
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
    from blade_gym.config.load import examine
    from blade_gym.config.roots import search_roots, selected

    roots = search_roots(search_dir or ())
    found, problems = examine([*(config or ()), *selected(wanted, roots)], words, roots)
    if not found.sources and not problems:
        raise RequestError(
            "no config is named", hint="--benchmark, --resources-server, --model-type or --config names one"
        )
    return found, problems


def _end(found: Resolved, problems: Iterable[ConfigProblem]) -> None:
    """Say on stderr what is worth a word; exit with 1 where something is wrong."""

    for notice in found.notices:
        print(printable(f"note: {notice}"), file=sys.stderr)
    listed = list(problems)
    for problem in listed:
        print(printable(f"problem: {problem.text}" + (f" ({problem.hint})" if problem.hint else "")), file=sys.stderr)
    if listed:
        raise typer.Exit(1)


@group.command(cls=OptionsOnce)
def start(
    words: Words = None,
    benchmark: BenchmarkName = None,
    resources_server: ResourcesServer = None,
    model_type: ModelType = None,
    model: Model = None,
    model_url: ModelUrl = None,
    model_api_key: ModelKey = None,
    head_port: HeadPort = None,
    config: Config = None,
    environment: EnvironmentName = None,
    search_dir: SearchDir = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
    unsafe_sandbox: UnsafeSandbox = False,
) -> None:
    """Start the resources, agent and model servers of a config on loopback, until Ctrl-C.

    The head at 127.0.0.1:11000 names them; each answers /health and /openapi.json.

    Example: gym env start --resources-server workplace_assistant --model-type openai_model
    """
    from blade_gym.cli.composed import asked_judge, composed, judge_overrides, model_overrides
    from blade_gym.config.settings import refuse_unserved
    from blade_gym.profile.aggregate import metrics_of
    from blade_gym.serve.start import start as serve

    wanted = selectors(benchmark, environment, resources_server, model_type)
    head = [f"++head_server.port={head_port}"] if head_port is not None else []
    models = [*model_overrides(model_type, model, model_url, model_api_key), *judge_overrides(judge_model, judge_url)]
    given = [*models, *head, *(words or ())]
    resolved = composed(wanted, config, search_dir, given)
    refuse_unserved(resolved.config)
    asked_judge(resolved, judge_model)
    with closed_connections_raise():
        serve(resolved, _started, metrics_of)
    print("stopped", file=sys.stderr)


def _started(servers: Sequence[Mapping[str, Any]], head: str) -> None:
    for one in servers:
        print(f"{one['url']}  {one['process_name']} ({one['server_type']})")
    print(f"{head}  head")
    agent = next((one["process_name"] for one in servers if one["server_type"] == "responses_api_agents"), None)
    if agent:
        port = head.rpartition(":")[2]
        where = "" if port == "11000" else f" --head-port {port}"
        print(f"next: gym eval run --no-serve{where} --agent {agent} --input FILE --output results/rollouts.jsonl")
    print("Ctrl-C stops them.", flush=True)


@group.command(cls=OptionsOnce)
def status(as_json: Json = False, head_port: HeadPort = None) -> None:
    """Which servers run, and whether each answers. Exit code 1 when one does not, 2 when no head answers.

    Example: gym env status --json
    """
    from blade_gym.serve.head import ask_head, healthy, instance_of, place

    host, port = place({"head_server": {"port": head_port}})
    running = ask_head(host, port)
    listed = healthy(running.servers)
    if as_json:
        print(json.dumps(listed))
    else:
        for one in listed:
            named = f"{instance_of(one)} ({one.get('server_type')})"
            print(printable(f"{one['status']:8} {one.get('url')}  {named}"))
    if any(one["status"] != "ok" for one in listed):
        raise typer.Exit(1)


@group.command("test", cls=OptionsOnce)
def prove(
    words: Words = None,
    benchmark: BenchmarkName = None,
    resources_server: ResourcesServer = None,
    limit: RowLimit = None,
    config: Config = None,
    environment: EnvironmentName = None,
    search_dir: SearchDir = None,
    unsafe_sandbox: UnsafeSandbox = False,
) -> None:
    """Test verifiers without a model: the gold answer of every row must get the full reward.

    All resources servers where none is named; those that need a judge are skipped. Exit code 1 when one fails or
    nothing was tested, 2 when nothing can be tested on this machine.

    Example: gym env test --resources-server workplace_assistant
    """
    from blade_gym.cli.composed import composed
    from blade_gym.config.roots import names, search_roots
    from blade_gym.run.golden import golden

    wanted = {"benchmark": benchmark, "environment": environment, "resources_server": resources_server}
    sets = [wanted]
    if not any(wanted.values()) and not config:
        sets = [{"resources_server": name} for name in names("resources_server", search_roots(search_dir or ()))]
    results = []
    for one in sets:
        judge = _own_judge(one, config, search_dir)
        resolved = composed(
            {**one, "model_type": "scripted_model"}, config, search_dir, [*NO_MODEL, *judge, *(words or ())]
        )
        for proven in golden(resolved, limit):
            results.append(proven)
            print(printable(proven.line))
    _refuse_untested(results)
    if not all(one.holds for one in results):
        raise typer.Exit(1)


def _own_judge(
    wanted: Mapping[str, str | None], config: Sequence[str] | None, search_dir: Sequence[str] | None
) -> list[str]:
    """Words that give a judge to a config that leaves it to others to define one: no judge is asked here."""
    from blade_gym.config.load import outline
    from blade_gym.config.roots import search_roots, selected

    roots = search_roots(search_dir or ())
    found, _ = outline([*(config or ()), *selected(wanted, roots)], roots)
    return ["++judge_server=policy_model"] if "judge_server" in found.config else []


def _refuse_untested(results: Sequence[GoldResult]) -> None:
    """Raise where nothing was tested, with the reason; servers that need a judge are no reason."""
    open_ones = [one for one in results if not one.needs_judge]
    if any(one.rows or one.wrong for one in results) or (results and not open_ones):
        return
    unready = next((one.unready for one in open_ones if one.unready), None)
    if unready is not None:
        raise unready
    why = next((one.skipped for one in open_ones if one.skipped), "no row has a gold answer")
    print(printable(f"nothing was tested: {why}"), file=sys.stderr)
    raise typer.Exit(1)
