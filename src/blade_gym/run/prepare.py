"""Making the data of a benchmark: reproducible, checked by its checksum, and not made again without need.

A prepare script is a file with `def prepare(**prepare_script_args) -> Path`. One that takes `output` is told where to
write; one that takes `seed` can be given one. Beside the rows stands a record of what made them.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade import files
from blade.model.errors import BladeError, RequestError
from blade_gym import hub
from blade_gym.config.dataset import Dataset
from blade_gym.config.load import Resolved
from blade_gym.config.roots import find, place
from blade_gym.loading import error_line, import_file, where_raised

RECORD = ".prepared.json"
ARGUMENTS = "prepare_script_args"
SOURCE = "source"
"""The argument that names a local copy of what would be downloaded: where rows come from, not which rows."""


class PrepareJob(msgspec.Struct, frozen=True, kw_only=True):
    """A data set and what makes it."""

    dataset: Dataset
    script: Path
    target: Path
    arguments: Mapping[str, Any]
    asked: Mapping[str, Any]
    """Those of them that the command names: they win over the config's."""

    @property
    def record(self) -> Path:
        """What made the rows, beside them."""
        return self.target.with_name(self.target.stem + RECORD)


class PreparedRows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that are there."""

    name: str
    path: Path
    rows: int
    sha256: str
    cached: bool
    """Whether they were there before."""


def ensure(resolved: Resolved, dataset: Dataset, notify: Callable[[str], None] | None = None) -> Path:
    """The rows of a data set, made where they are missing or were made otherwise; rows of unknown make are taken as given.

    Rows that were asked for otherwise than the config has them (another seed) are taken until somebody asks again.
    Raises for rows that were changed since they were made, which nobody may want to lose.
    """
    path = place(dataset.jsonl_fpath, resolved.roots, beside=dataset.prepare_script)
    if not dataset.prepare_script or (path.is_file() and not path.with_name(path.stem + RECORD).is_file()):
        return path
    (job,) = plan(resolved, [dataset])
    kept = _as_asked_before(job)
    if notify and kept.asked != job.asked:
        notify(f"{path} was prepared with {_listed(kept.asked)}; gym eval prepare makes it as the config says")
    return prepare([kept], notify=notify)[0].path


def plan(resolved: Resolved, datasets: Iterable[Dataset], *, seed: int | None = None) -> list[PrepareJob]:
    """What is to be run; raises one error for everything that cannot be, before anything is.

    Arguments are the data set's own, then `prepare_script_args` at the top of the config, then the seed.
    """
    jobs, wrong = [], []
    given = resolved.config.get(ARGUMENTS)
    extra = given if isinstance(given, Mapping) else {}
    for dataset in datasets:
        asked = {**extra, **({} if seed is None else {"seed": seed})}
        arguments = {**dataset.prepare_script_args, **asked}
        script = find(dataset.prepare_script or "", resolved.roots) if dataset.prepare_script else None
        fault = _fault(dataset, script, arguments)
        if script is None or fault:
            wrong.append(f"{dataset.name}: {fault}")
            continue
        target = place(dataset.jsonl_fpath, resolved.roots, beside=dataset.prepare_script)
        jobs.append(
            PrepareJob(dataset=dataset, script=script, target=target, arguments=arguments, asked=_chosen(asked))
        )
    if wrong:
        raise RequestError("; ".join(wrong), hint="nothing was prepared")
    return jobs


def prepare(
    jobs: Sequence[PrepareJob], *, force: bool = False, notify: Callable[[str], None] | None = None
) -> list[PreparedRows]:
    """Run what is not there yet, in order; `notify` hears of each before it runs. Raises for a script that fails.

    Rows that were changed since they were made are kept, by an error, unless `force`.
    """
    done = []
    for job in jobs:
        record = {} if force else _record(job)
        _unchanged(job, record)
        found = _there(job, record)
        if found is None:
            sourced = _with_source(job, record)
            if notify:
                notify(_making(sourced))
            found = _made(sourced)
        done.append(found)
    return done


def _making(job: PrepareJob) -> str:
    why = "is made again: making" if job.target.is_file() else "not found; preparing"
    copy = f" from {job.arguments[SOURCE]}" if job.arguments.get(SOURCE) else ""
    return f"{job.target} {why} {job.dataset.name} with {job.script}{copy}"


def _record(job: PrepareJob) -> dict[str, Any]:
    """What stands beside the rows on how they were made; empty where that cannot be told."""
    try:
        value = json.loads(job.record.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _unchanged(job: PrepareJob, record: Mapping[str, Any]) -> None:
    """Raise for rows that are not what the script wrote."""
    if job.target.is_file() and isinstance(record.get("sha256"), str) and record["sha256"] != files.sha256(job.target):
        raise RequestError(
            f"{job.target} was changed since it was made",
            hint=f"remove {job.record.name} beside it to use it as it is; gym eval prepare --force makes it again",
        )


def _as_asked_before(job: PrepareJob) -> PrepareJob:
    """The job as it was asked for when the rows were made, where nobody asks for anything now."""
    before = _record(job).get("asked")
    if job.asked or not isinstance(before, dict):
        return job
    return msgspec.structs.replace(job, arguments={**job.arguments, **before}, asked=before)


def _listed(asked: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(asked.items()))


def _chosen(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that decide the rows, as JSON gives them back."""
    chosen = {name: value for name, value in arguments.items() if name != SOURCE}
    found: dict[str, Any] = json.loads(json.dumps(chosen, sort_keys=True, default=str))
    return found


def _with_source(job: PrepareJob, record: Mapping[str, Any]) -> PrepareJob:
    """The job, with the local copy that the rows were made from before where none is named and it is still there."""
    before = record.get(SOURCE)
    path = before.get("path") if isinstance(before, dict) else None
    if job.arguments.get(SOURCE) is not None or not isinstance(path, str) or not Path(path).exists():
        return job
    return msgspec.structs.replace(job, arguments={**job.arguments, SOURCE: path})


def _fault(dataset: Dataset, script: Path | None, arguments: Mapping[str, Any]) -> str:
    """Why a script cannot be run, told without running any of it; empty where it can."""
    if not dataset.prepare_script:
        return "the data set has no prepare_script"
    if script is None:
        return f"no such prepare_script: {dataset.prepare_script}"
    try:
        tree = ast.parse(script.read_bytes(), str(script))
    except (SyntaxError, ValueError, OSError) as error:
        return f"{script} cannot be read: {error}"
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "prepare"]
    if not functions:
        return f"{script} has no function prepare"
    taken = functions[-1].args
    names = {one.arg for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)}
    unknown = sorted(set(arguments) - names) if taken.kwarg is None else []
    return f"prepare of {script} takes no {', '.join(unknown)}" if unknown else ""


def _there(job: PrepareJob, record: Mapping[str, Any]) -> PreparedRows | None:
    """The rows that the same script made of the same arguments, from any copy unless another one is named."""
    source = _source(job)
    if not job.target.is_file() or record.get("made_by") != _maker(job):
        return None
    if source is not None and record.get(SOURCE) != source:
        return None
    rows, digest = record.get("rows"), record.get("sha256")
    if not isinstance(rows, int) or not isinstance(digest, str):
        return None
    return PreparedRows(name=job.dataset.name, path=job.target, rows=rows, sha256=digest, cached=True)


def _made(job: PrepareJob) -> PreparedRows:
    returned = _run(job)
    if not isinstance(returned, str | Path) or Path(returned).resolve() != job.target.resolve():
        raise RequestError(
            f"{job.script} returned {returned}, and the config's jsonl_fpath is {job.target}",
            hint="prepare returns the path that it wrote, and the config names the same",
        )
    if not job.target.is_file():
        raise RequestError(f"{job.script} wrote no {job.target}", hint="prepare writes the path that it returns")
    rows = len(hub.json_lines(job.target.read_bytes(), job.target))
    if not rows:
        raise RequestError(f"{job.script} wrote no rows to {job.target}", hint="is its source empty?")
    digest = files.sha256(job.target)
    record = {"rows": rows, "sha256": digest, "made_by": _maker(job), "asked": dict(job.asked), SOURCE: _source(job)}
    _keep(job.record, record)
    return PreparedRows(name=job.dataset.name, path=job.target, rows=rows, sha256=digest, cached=False)


def _run(job: PrepareJob) -> Any:
    """What the script's `prepare` returns; whatever a script raises becomes one message with its line."""
    try:
        function = import_file(job.script).prepare
        where = {"output": str(job.target)} if "output" in inspect.signature(function).parameters else {}
        return function(**where, **job.arguments)
    except BladeError:
        raise
    except ImportError as error:
        raise RequestError(
            f"{job.script} needs {error.name or error}", hint='pip install "blade-bench[gym]", or what its README names'
        ) from None
    except Exception as error:  # noqa: BLE001 - a script may raise anything
        given = job.arguments.get(SOURCE)
        # Most often a copy is another file than the one that is meant.
        another = "" if given is None else f". Is {given} the file that the README beside the script names?"
        raise RequestError(
            f"{where_raised(error, job.script)}: {error_line(error)}",
            hint=f"the script failed; its data was not made{another}",
        ) from None


def _maker(job: PrepareJob) -> dict[str, Any]:
    """What decides the rows: script and arguments, as JSON gives them back, and the version of what scripts use."""
    from blade import __version__

    return {"script_sha256": files.sha256(job.script), "arguments": _chosen(job.arguments), "blade": __version__}


def _source(job: PrepareJob) -> dict[str, str | None] | None:
    """The local copy that is named, with a mark of a file; None where none is."""
    given = job.arguments.get(SOURCE)
    if given is None:
        return None
    path = Path(str(given)).expanduser()
    return {"path": str(path.resolve()), "sha256": files.sha256(path) if path.is_file() else None}


def _keep(path: Path, record: Mapping[str, Any]) -> None:
    with files.replacing(path) as file:
        file.write((json.dumps(record, indent=2, sort_keys=True) + "\n").encode())
