"""`gym env start`, `gym env status` and `gym env test`: servers of a config, and verifiers on their gold answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.report.text import printable
from blade_gym.cli.options import (
    BenchmarkName,
    Config,
    EnvironmentName,
    Json,
    JudgeModel,
    JudgeUrl,
    Model,
    ModelKey,
    ModelType,
    ModelUrl,
    ResourcesServer,
    SearchDir,
    UnsafeSandbox,
    Words,
    selectors,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from blade_gym.run.golden import GoldResult

HeadPort = Annotated[int | None, typer.Option("--head-port", metavar="N", help="Where the head listens (11000).")]


def start(
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
    head_port: HeadPort = None,
    unsafe_sandbox: UnsafeSandbox = False,
) -> None:
    """Start the resources, agent and model servers of a config on loopback, until Ctrl-C.

    The head at 127.0.0.1:11000 names them; each answers /health and /openapi.json.

    Example: gym env start --resources-server workplace_assistant --model-type openai_model
    """
    from blade_gym.cli.composed import asked_judge, composed, judge_overrides, model_overrides
    from blade_gym.config.unserved import refuse_unserved
    from blade_gym.profile.served import metrics_of
    from blade_gym.serve.start import start as serve

    wanted = selectors(benchmark, environment, resources_server, model_type)
    head = [f"++head_server.port={head_port}"] if head_port is not None else []
    models = [*model_overrides(model_type, model, model_url, model_api_key), *judge_overrides(judge_model, judge_url)]
    given = [*models, *head, *(words or ())]
    resolved = composed(wanted, config, search_dir, given)
    refuse_unserved(resolved.config)
    asked_judge(resolved, judge_model)
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


def prove(
    words: Words = None,
    config: Config = None,
    benchmark: BenchmarkName = None,
    environment: EnvironmentName = None,
    resources_server: ResourcesServer = None,
    search_dir: SearchDir = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many rows a data set.")] = None,
    unsafe_sandbox: UnsafeSandbox = False,
) -> None:
    """Test verifiers without a model: the gold answer of every row must get the full reward.

    All resources servers where none is named; those that need a judge are skipped. Exit code 1 when one fails or
    nothing was tested, 2 when nothing can be tested on this machine.

    Example: gym env test --resources-server workplace_assistant
    """
    from blade_gym.cli.composed import composed
    from blade_gym.config.roots import search_roots
    from blade_gym.config.selectors import names
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
    from blade_gym.config.roots import search_roots
    from blade_gym.config.selectors import selected

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


NO_MODEL = ["++policy_model.responses_api_models.scripted_model.policy=none"]
