"""`gym eval prepare`: the data of benchmarks, made once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from blade_gym.cli.options import (
    BenchmarkNames,
    Config,
    ForceData,
    SearchDir,
    Seed,
    UnsafeSandbox,
    Words,
)

if TYPE_CHECKING:
    from pathlib import Path

    from blade_gym.run.prepare import PrepareJob


def prepare(
    words: Words = None,
    benchmark: BenchmarkNames = None,
    seed: Seed = None,
    force: ForceData = False,
    config: Config = None,
    search_dir: SearchDir = None,
    unsafe_sandbox: UnsafeSandbox = False,
) -> None:
    """Make the data of benchmarks, with their prepare scripts. Data that is there and unchanged is not made again.

    Data that was changed by hand is kept: --force makes it again.

    All of them are checked before the first one runs. `+prepare_script_args.NAME=VALUE` gives the scripts an argument:
    `source` names a local copy of what would be downloaded.

    Example: gym eval prepare --benchmark evalplus
    """
    from blade.report.text import printable
    from blade_gym.config.roots import config_path, search_roots
    from blade_gym.run import prepare as making

    roots = search_roots(search_dir or ())
    names = [*(config or ()), *(config_path("benchmark", name, roots) for name in benchmark or ())]
    jobs = [job for name in names for job in _jobs(name, words or [], roots, seed)]

    def notify(line: str) -> None:
        print(printable(line), file=sys.stderr)

    for one in making.prepare(_some(jobs), force=force, notify=notify):
        said = "is there and unchanged" if one.cached else "made"
        print(printable(f"{one.name}: {said}: {one.path} ({one.rows} rows, sha256 {one.sha256})"))


def _some(jobs: list[PrepareJob]) -> list[PrepareJob]:
    from blade.model.errors import RequestError

    if not jobs:
        raise RequestError("no benchmark is named", hint="--benchmark NAME; `gym list benchmarks` names them")
    return jobs


def _jobs(name: str, words: list[str], roots: tuple[Path, ...], seed: int | None) -> list[PrepareJob]:
    """The benchmark data sets of one config. A model need not be chosen, nor its key given."""
    from blade.model.errors import RequestError
    from blade.report.text import printable
    from blade_gym.config.load import examine
    from blade_gym.config.problem import refuse
    from blade_gym.run.prepare import plan

    resolved, problems = examine([name], words, roots)
    refuse([one for one in problems if one.kind not in ("missing", "interpolation", "reference")])
    for notice in resolved.notices:
        print(printable(f"note: {notice}"), file=sys.stderr)
    wanted = [one for one in resolved.datasets if one.type == "benchmark"]
    if not wanted:
        raise RequestError(
            f"{name} has no data set of type benchmark", hint="`gym list benchmarks` names configs that do"
        )
    return plan(resolved, wanted, seed=seed)
