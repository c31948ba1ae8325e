"""Environments, agents, models, resources servers and skills, by the folders that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.catalog.benchmarks import benchmarks
from blade_gym.catalog.entry import Component, Listing
from blade_gym.catalog.skills import FILE, skill
from blade_gym.config.load import outline
from blade_gym.config.problem import suggestion
from blade_gym.config.servers import Instance

SKILL_FOLDERS = ("skills", ".claude/skills", ".agents/skills", ".codex/skills")


def environments(roots: Sequence[Path]) -> Listing[Component]:
    """What a model can be put into: environments, resources servers, and the benchmarks on top of them."""
    listed = benchmarks(roots)
    own = _servers(roots, "environments", "*/config.yaml", _environment)
    bare = _servers(roots, "resources_servers", "*/configs/*.yaml", _environment)
    found = {entry.name: entry for entry in (*bare.entries, *own.entries)}
    over = [
        Component(
            kind="environment",
            name=entry.name,
            description=entry.description,
            path=entry.config,
            domain=entry.domain,
            more={"kind": "benchmark", "domain": entry.domain},
        )
        for entry in listed.entries
    ]
    entries = sorted([*found.values(), *over], key=lambda entry: (entry.name, entry.more["kind"]))
    return Listing(entries=entries, problems=(*listed.problems, *own.problems, *bare.problems))


def resources_servers(roots: Sequence[Path]) -> Listing[Component]:
    """Environments' servers: tools, state and the verifier."""
    return _servers(roots, "resources_servers", "*/configs/*.yaml", _resources_server)


def agents(roots: Sequence[Path]) -> Listing[Component]:
    """Harnesses that a resources server can be given to."""
    return _servers(roots, "responses_api_agents", "*/configs/*.yaml", _agent)


def models(roots: Sequence[Path]) -> Listing[Component]:
    """What `--model-type` takes."""
    return _servers(roots, "responses_api_models", "*/configs/*.yaml", _model)


def skills(roots: Sequence[Path]) -> Listing[Component]:
    """Skills that an agent can be given."""
    found: dict[str, Component] = {}
    problems = []
    for path in (
        path for root in roots for folder in SKILL_FOLDERS for path in sorted((root / folder).glob(f"*/{FILE}"))
    ):
        try:
            one = skill(path.parent)
        except RequestError as error:
            problems.append(error.message)
            continue
        if one.name not in found:
            more = {"version": one.version, "path": str(one.path)}
            described = " ".join((one.description or "").split())
            found[one.name] = Component(kind="skill", name=one.name, description=described, path=path, more=more)
    return Listing(entries=[found[name] for name in sorted(found)], problems=problems)


KINDS: Mapping[str, Callable[[Sequence[Path]], Listing[Component]]] = {
    "environments": environments,
    "agents": agents,
    "models": models,
    "resources-servers": resources_servers,
    "skills": skills,
}


def named(name: str, listing: Listing[Component], kind: str) -> Component:
    """The entry of that name; raises with a suggestion."""
    found = next((entry for entry in listing.entries if entry.name == name), None)
    if found is None:
        hint = suggestion(name, [entry.name for entry in listing.entries]) or f"`gym list {kind}` names them"
        raise RequestError(f"nothing of {kind} is called {name}", hint=hint)
    return found


def _servers(
    roots: Sequence[Path],
    folder: str,
    pattern: str,
    make: Callable[[str, Path, Sequence[Instance], list[str]], Component],
) -> Listing[Component]:
    """One entry a folder, from its config of the same name or its first; the first root that has the folder wins."""
    found: dict[str, Component] = {}
    problems: list[str] = []
    for name, paths in _folders(roots, folder, pattern):
        if name in found:
            continue
        path = next((path for path in paths if path.stem == name), paths[0])
        resolved, wrong = outline([str(path)], roots)
        if wrong:
            problems += [problem.text for problem in wrong]
            continue
        variants = [one.stem for one in paths if one != path]
        found[name] = make(name, path, resolved.instances, variants)
    return Listing(entries=[found[name] for name in sorted(found)], problems=problems)


def _folders(roots: Sequence[Path], folder: str, pattern: str) -> Iterator[tuple[str, list[Path]]]:
    for root in roots:
        by_name: dict[str, list[Path]] = {}
        for path in sorted((root / folder).glob(pattern)):
            by_name.setdefault(path.relative_to(root / folder).parts[0], []).append(path)
        yield from by_name.items()


def _config(found: Sequence[Instance], group: str) -> Mapping[str, Any]:
    return next((one.config for one in found if one.group == group), {})


def _environment(name: str, path: Path, found: Sequence[Instance], _: list[str]) -> Component:
    server = _config(found, "resources_servers")
    domain = str(server.get("domain", ""))
    more = {"kind": "environment", "domain": domain}
    described = str(server.get("description", ""))
    return Component(kind="environment", name=name, description=described, path=path, domain=domain, more=more)


def _resources_server(name: str, path: Path, found: Sequence[Instance], _: list[str]) -> Component:
    server = _config(found, "resources_servers")
    domain = str(server.get("domain", ""))
    more = {"domain": domain, "verifier": str(server.get("verifier", ""))}
    described = str(server.get("description", ""))
    return Component(kind="resources-server", name=name, description=described, path=path, domain=domain, more=more)


def _agent(name: str, path: Path, found: Sequence[Instance], variants: list[str]) -> Component:
    agent = _config(found, "responses_api_agents")
    alone = "resources_server" not in agent
    pattern = "B (self-contained)" if alone else "A (composable)"
    more = {"pattern": pattern, "self_contained": alone, "variants": variants}
    return Component(kind="agent", name=name, description=str(agent.get("description", "")), path=path, more=more)


def _model(name: str, path: Path, found: Sequence[Instance], _: list[str]) -> Component:
    config = _config(found, "responses_api_models")
    called = config.get("openai_model") or config.get("model") or ""
    more = {"model": str(called), "model_group": "responses_api_models"}
    return Component(kind="model", name=name, description=str(config.get("description", "")), path=path, more=more)
