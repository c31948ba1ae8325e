"""Tests that have a meaning only in the program's own process, recognized from their code before they run."""

from __future__ import annotations

import ast
import builtins

_COUPLED = frozenset(
    [
        "redirect_stdout",
        "redirect_stderr",
        "patch",
        "seed",
        "globals",
        "locals",
        "vars",
        "eval",
        "exec",
        "issubclass",
        "signature",
    ]
)
"""Functions that act on the process they run in, or ask for more of an object than data."""


_STRUCTURAL = frozenset(
    ["Callable", "Collection", "Container", "Generator", "Hashable", "Iterable", "Iterator", "Reversible", "Sized"]
)
"""Classes that an object belongs to by its methods, of which a stand-in has all."""


def needs_one_process(tree: ast.Module, own: set[str]) -> str | None:
    """What the tests do that has a meaning only in the program's own process; None if nothing."""
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    own |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        for alias in getattr(node, "names", ())
        if isinstance(alias, ast.alias)
    }
    own |= set(vars(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncWith | ast.AsyncFor):
            return "are asynchronous"
        if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            return f"use {node.attr}"
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in ("stdin", "stdout"):
            return f"replace {node.attr}"
        if isinstance(node, ast.Compare) and _by_identity(node):
            return "compare objects by identity"
        if isinstance(node, ast.ClassDef) and any(
            isinstance(base, ast.Name) and base.id not in own for base in node.bases
        ):
            return "inherit from a class of the program's"
        if isinstance(node, ast.Call) and (why := _coupled_call(node, own)) is not None:
            return why
    return None


def _by_identity(node: ast.Compare) -> bool:
    """`x is y`, but not `x is None`."""
    constant = any(isinstance(side, ast.Constant) for side in (node.left, *node.comparators))
    return not constant and any(isinstance(how, ast.Is | ast.IsNot) for how in node.ops)


def _coupled_call(node: ast.Call, own: set[str]) -> str | None:
    function = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if function in _COUPLED:
        return f"call {function}"
    if function == "type" and len(node.args) == 1:
        return "ask for the type of an object"
    kinds = [inner.id for inner in ast.walk(node.args[1]) if isinstance(inner, ast.Name)] if len(node.args) > 1 else []
    if function == "isinstance" and any(kind not in own or kind in _STRUCTURAL for kind in kinds):
        return "ask for the class of an object"
    if function == "hasattr" and any(
        isinstance(name, ast.Constant) and str(name.value).startswith("__") for name in node.args
    ):
        return "ask for methods of an object"
    return None
