"""`gym list ...` and `gym search`: what there is to run."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.model.errors import RequestError
from blade_gym.cli.commands import ListingGroup, OptionsOnce, group
from blade_gym.cli.options import Domain, EntryKind, EntryName, Json, SearchDir

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from blade_gym.catalog.entry import Benchmark, Component

listing = group("What there is to run: benchmarks, environments, agents, models, skills.", ListingGroup)


@listing.command(cls=OptionsOnce)
def benchmarks(name: EntryName = None, as_json: Json = False, search_dir: SearchDir = None) -> None:
    """Benchmarks, with their category, domain, repeats, agent and verifier.

    Example: gym list benchmarks aime24
    """
    from blade_gym.catalog import benchmarks as catalog
    from blade_gym.catalog.text import inspected
    from blade_gym.config.roots import search_roots

    roots = search_roots(search_dir or ())
    if name is None:
        found = catalog.benchmarks(roots)
        _warn(found.problems)
        _show_benchmarks(found.entries, as_json)
        return
    entry = catalog.benchmark(name, roots)
    _print([json.dumps(_benchmark_json(entry), ensure_ascii=False)] if as_json else inspected(entry))


@listing.command(cls=OptionsOnce)
def environments(
    name: EntryName = None,
    as_json: Json = False,
    search_dir: SearchDir = None,
    domain: Domain = None,
    kind: EntryKind = None,
) -> None:
    """Environments, and the benchmarks on top of them.

    Example: gym list environments --domain coding
    """
    wanted = {key: value for key, value in (("domain", domain), ("kind", kind)) if value}
    _components("environments", name, as_json, search_dir, wanted)


@listing.command(cls=OptionsOnce)
def agents(name: EntryName = None, as_json: Json = False, search_dir: SearchDir = None) -> None:
    """Agents: the harnesses between a model and an environment."""
    _components("agents", name, as_json, search_dir)


@listing.command(cls=OptionsOnce)
def models(name: EntryName = None, as_json: Json = False, search_dir: SearchDir = None) -> None:
    """Kinds of models, as `--model-type` takes them."""
    _components("models", name, as_json, search_dir)


@listing.command("resources-servers", cls=OptionsOnce)
def resources_servers(name: EntryName = None, as_json: Json = False, search_dir: SearchDir = None) -> None:
    """Resources servers: tools, state and the verifier of an environment."""
    _components("resources-servers", name, as_json, search_dir)


@listing.command(cls=OptionsOnce)
def skills(name: EntryName = None, as_json: Json = False, search_dir: SearchDir = None) -> None:
    """Skills that an agent can be given."""
    _components("skills", name, as_json, search_dir)


def search(
    words: Annotated[
        list[str], typer.Argument(metavar="[TYPE] QUERY", help="What to look for; TYPE is benchmarks unless said.")
    ],
    as_json: Json = False,
    search_dir: SearchDir = None,
) -> None:
    """Benchmarks that a query means, the best first; typos are forgiven.

    TYPE is benchmarks, environments, agents, models, resources-servers or skills.

    Example: gym search math
    """
    from blade_gym.catalog import benchmarks as catalog
    from blade_gym.catalog.components import KINDS
    from blade_gym.catalog.search import search as find
    from blade_gym.config.roots import search_roots

    typed = len(words) > 1 and words[0] in ("benchmarks", *KINDS)
    kind, query = (words[0], " ".join(words[1:])) if typed else ("benchmarks", " ".join(words))
    if not query.strip():
        raise RequestError("there is nothing to look for", hint=f"`gym list {kind}` shows all of them")
    roots = search_roots(search_dir or ())
    if kind == "benchmarks":
        all_of_them = catalog.benchmarks(roots)
        _warn(all_of_them.problems)
        _show_benchmarks(find(query, all_of_them.entries), as_json, query)
    else:
        listed = KINDS[kind](roots)
        _warn(listed.problems)
        _show_components(find(query, listed.entries), kind, as_json, query)


def _components(
    kind: str, name: str | None, as_json: bool, search_dir: list[str] | None, wanted: dict[str, str] | None = None
) -> None:
    from blade_gym.catalog.components import KINDS, named
    from blade_gym.catalog.text import component_inspected
    from blade_gym.config.roots import search_roots

    found = KINDS[kind](search_roots(search_dir or ()))
    if name is None:
        _warn(found.problems)
        kept = [
            one for one in found.entries if all(one.more.get(key) == value for key, value in (wanted or {}).items())
        ]
        _show_components(kept, kind, as_json)
        return
    entry = named(name, found, kind)
    row = {**entry.row, "config": str(entry.path)}
    _print([json.dumps(row, ensure_ascii=False)] if as_json else component_inspected(entry))


def _benchmark_json(entry: Benchmark) -> dict[str, Any]:
    import msgspec

    from blade_gym.catalog.text import usage

    details = {
        "config": str(entry.config),
        "dataset": entry.dataset,
        "prepare_script": entry.prepare_script,
        "prompt_config": entry.prompt_config,
        "data": str(entry.data),
        "prepared": entry.data.is_file(),
    }
    return {
        **entry.row,
        "details": details,
        "reported": msgspec.to_builtins(entry.reported),
        "usage_example": usage(entry),
    }


def _show_benchmarks(entries: Sequence[Benchmark], as_json: bool, query: str = "") -> None:
    from blade_gym.catalog.text import benchmark_lines

    if as_json:
        _print([json.dumps([entry.row for entry in entries], ensure_ascii=False)])
    else:
        _print(benchmark_lines(entries, _width(), ranked=bool(query)) if entries else [_nothing("benchmarks", query)])


def _show_components(entries: Sequence[Component], kind: str, as_json: bool, query: str = "") -> None:
    from blade_gym.catalog.text import component_lines

    if as_json:
        _print([json.dumps([entry.row for entry in entries], ensure_ascii=False)])
    else:
        _print(component_lines(entries, kind, _width()) if entries else [_nothing(kind, query)])


def _nothing(kind: str, query: str) -> str:
    what = kind.replace("-", " ")
    return f"No {what} match {query!r}." if query else f"No {what} found."


def _width() -> int:
    return shutil.get_terminal_size((120, 24)).columns


def _warn(lines: Iterable[str]) -> None:
    from blade.report.text import printable

    for line in lines:
        print(f"not listed: {printable(line)}", file=sys.stderr)


def _print(lines: Iterable[str]) -> None:
    from blade.report.text import printable

    for line in lines:
        print(printable(line))
