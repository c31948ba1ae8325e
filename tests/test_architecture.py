"""The shape of the source: names are unique, chains of imports are short, and the analysis stands alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"
LONGEST_CHAIN = 14
"""Modules from the first import to the last: a reader who follows them all must not get lost."""


@cache
def sources() -> dict[str, ast.Module]:
    """Every module of both packages, by its dotted name."""
    paths = sorted(path for package in ("blade", "blade_gym") for path in (SRC / package).rglob("*.py"))
    return {_dotted(path): ast.parse(path.read_text("utf-8")) for path in paths}


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")


@cache
def imported_by(name: str) -> tuple[str, ...]:
    """The modules of ours that a module imports when it is loaded itself."""
    return tuple(sorted({module for module in _imports(sources()[name].body) if module != name}))


def _imports(body: list[ast.stmt]) -> Iterator[str]:
    known = sources()
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names if alias.name in known)
        elif isinstance(statement, ast.ImportFrom) and statement.module is not None:
            for alias in statement.names:
                inside = f"{statement.module}.{alias.name}"
                yield from (module for module in (inside if inside in known else statement.module,) if module in known)
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" not in ast.unparse(statement.test):
            yield from _imports([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            yield from _imports(statement.body)


@cache
def chain(name: str) -> tuple[str, ...]:
    """The longest chain of imports that starts at a module; a cycle would never end, and Python would say so."""
    return (name, *max((chain(module) for module in imported_by(name)), key=len, default=()))


def test_no_two_public_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_no_chain_of_imports_is_long() -> None:
    longest = max(map(chain, sources()), key=len)
    assert len(longest) <= LONGEST_CHAIN, " -> ".join(longest)


def test_no_module_only_passes_names_on() -> None:
    """A module whose body is imports and nothing else is an alias; packages with a docstring alone are fine."""
    aliases = [
        name
        for name, tree in sources().items()
        if tree.body
        and any(isinstance(one, ast.ImportFrom) and one.module != "__future__" for one in tree.body)
        and all(isinstance(one, ast.Import | ast.ImportFrom | ast.Expr) for one in tree.body)
    ]
    assert aliases == []


def test_the_analysis_imports_nothing_of_the_benchmark_layer() -> None:
    for name, tree in sources().items():
        if name.split(".")[0] == "blade":
            nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]
            assert not [node for node in nodes if "blade_gym" in ast.unparse(node)], name
