"""Benchmarks: every YAML file below `benchmarks/` that holds a data set of that type. A broken file costs its own line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.catalog.entry import CATEGORIES, CATEGORY_OF_DOMAIN, Benchmark, Listing, ReportedScore
from blade_gym.config import yaml_file
from blade_gym.config.compose import MISSING, leaves
from blade_gym.config.dataset import Dataset
from blade_gym.config.dataset import problems as dataset_problems
from blade_gym.config.load import Resolved, outline
from blade_gym.config.problem import suggestion
from blade_gym.config.roots import place
from blade_gym.config.servers import Instance

FOLDER = "benchmarks"
PACKAGE = ("skill", "SKILL.md", "golden_reports")


def benchmarks(roots: Sequence[Path]) -> Listing[Benchmark]:
    """All of them by name; of two with one name, the one of the first root."""
    found: dict[str, Benchmark] = {}
    problems: list[str] = []
    for root in roots:
        problems += _without_config(root / FOLDER)
        for path in sorted((root / FOLDER).rglob("*.yaml")):
            name = name_of(path.relative_to(root / FOLDER))
            if name in found or not _candidate(path):
                continue
            try:
                found[name] = _benchmark(name, path, roots)
            except _NotListed as error:
                problems.append(str(error))
    return Listing(entries=tuple(found[name] for name in sorted(found)), problems=tuple(dict.fromkeys(problems)))


def benchmark(name: str, roots: Sequence[Path]) -> Benchmark:
    """The one of that name; raises with a suggestion."""
    known = benchmarks(roots)
    found = next((entry for entry in known.entries if entry.name == name), None)
    if found is not None:
        return found
    files = (f"{FOLDER}/{name}/config.yaml:", f"{FOLDER}/{name}.yaml:")
    why = next((problem for problem in known.problems if any(file in problem for file in files)), None)
    if why is not None:
        raise RequestError(f"{name} could not run: {why}", hint=f"gym env validate --benchmark {name}")
    hint = suggestion(name, [entry.name for entry in known.entries]) or "`gym list benchmarks` names them"
    raise RequestError(f"no benchmark is called {name}", hint=hint)


def name_of(path: Path) -> str:
    """`aime24/config.yaml` is aime24; any other path keeps all of its parts."""
    if len(path.parts) == 2 and path.name == "config.yaml":
        return path.parts[0]
    return path.with_suffix("").as_posix()


class _NotListed(Exception):
    """Why a file that looks like a benchmark is none."""


def _benchmark(name: str, path: Path, roots: Sequence[Path]) -> Benchmark:
    found, problems = outline([str(path)], roots)
    if problems:
        texts = "; ".join(problem.text for problem in problems)
        raise _NotListed(texts if texts.startswith(str(path)) else f"{path}: {texts}")
    sets = [one for one in found.datasets if one.type == "benchmark"]
    if len(sets) != 1:
        raise _NotListed(f"{path}: a benchmark has one data set of type benchmark; this has {len(sets)}")
    wrong = [] if _open(sets[0].fields) else list(dataset_problems(sets[0].fields, ""))
    if wrong:
        raise _NotListed(f"{path}: " + "; ".join(problem.text for problem in wrong))
    return _entry(name, path, found, sets[0])


def _open(entry: Mapping[str, Any]) -> bool:
    """Whether some value is filled in only later."""
    return any(isinstance(value, str) and ("${" in value or value == MISSING) for value in leaves(entry))


def _entry(name: str, path: Path, found: Resolved, rows: Dataset) -> Benchmark:
    agent = found.instance(rows.agent)
    server = found.resources_server(rows.agent)
    own = _Own(rows, agent, found.config, server)
    domain = str(own.first("domain", ""))
    return Benchmark(
        name=name,
        agent_name=rows.agent,
        domain=domain,
        num_repeats=rows.num_repeats,
        description=str(own.own("description") or _readme(path.parent) or own.first("description", "")),
        category=_category(own.own("category"), domain),
        offline=own.own("offline") is True,
        requires=_texts(own.first("requires", [])),
        harness=str(own.own("harness") or (agent.type if agent else "")),
        verifier=str(own.first("verifier", "")),
        config=path,
        dataset=rows.name,
        prepare_script=rows.prepare_script or "",
        prompt_config=rows.prompt_config,
        data=place(rows.jsonl_fpath, found.roots, beside=rows.prepare_script),
        reported=tuple(_reported(own.own("reported"))),
    )


class _Own:
    """A key of ours: in the data set's entry, in its agent's block, at the top of the config; else of its server."""

    def __init__(self, rows: Dataset, agent: Instance | None, top: Mapping[str, Any], server: Instance | None) -> None:
        self._own = (rows.fields, agent.config if agent else {}, top)
        self._server = server.config if server else {}

    def own(self, key: str) -> Any:
        return next((place[key] for place in self._own if place.get(key) is not None), None)

    def first(self, key: str, otherwise: Any) -> Any:
        found = self.own(key)
        return self._server.get(key, otherwise) if found is None else found


def _candidate(path: Path) -> bool:
    """Whether a file holds a mapping with `type: benchmark`, or is meant to; a file that cannot be read may."""
    if path.name == "config.yaml":
        return True
    try:
        text = path.read_text("utf-8-sig")
        return FOLDER[:-1] in text and _holds(yaml_file.parse(text))
    except (yaml_file.Unreadable, OSError, UnicodeDecodeError):
        return True


def _holds(node: Any) -> bool:
    if isinstance(node, Mapping):
        return node.get("type") == "benchmark" or any(_holds(value) for value in node.values())
    return isinstance(node, list) and any(_holds(value) for value in node)


def _without_config(folder: Path) -> Iterator[str]:
    """Folders that hold no config; those of an analysis package are not meant to."""
    for inside in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not inside.is_dir() or inside.name.startswith((".", "_")) or any((inside / one).exists() for one in PACKAGE):
            continue
        if next(inside.rglob("*.yaml"), None) is None:
            yield f"{inside}: no config.yaml"


def _readme(folder: Path) -> str:
    """The first paragraph below the heading of a README.md."""
    try:
        text = (folder / "README.md").read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    prose = next((part for part in paragraphs if part and part[0] not in "#|`<>![-*"), "")
    return " ".join(prose.split())


def _category(given: Any, domain: str) -> str:
    return given if given in CATEGORIES else CATEGORY_OF_DOMAIN.get(domain, CATEGORIES[-1])


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else (str(value),) if value else ()


def _reported(value: Any) -> Iterator[ReportedScore]:
    for one in value if isinstance(value, list) else []:
        if isinstance(one, Mapping) and isinstance(one.get("value"), int | float):
            model, metric, source = (str(one.get(key, "")) for key in ("model", "metric", "source"))
            yield ReportedScore(model=model, metric=metric, value=float(one["value"]), source=source)
