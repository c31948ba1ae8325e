"""The parts of a rule as values, and what can be known of a rule without a rollout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

KINDS = {"call": "call", "result": "result", "message": "message", "thought": "reasoning", "step": None}
"""What a pattern may ask for, and the kind of step that it means; None: any."""
OF_STEP = ("index", "party", "tool", "text", "args", "json", "returned", "failed", "changes")
OF_ROLLOUT = (
    "outcome",
    "reward",
    "stop",
    "error",
    "answer",
    "expected",
    "tokens",
    "seconds",
    "steps",
    "calls",
    "tool_errors",
    "task",
    "repeat",
    "row",
)
_OF_TRAJECTORY = ("steps", "calls", "tool_errors")


@dataclass(frozen=True)
class Constant:
    """A text, a number, a duration in seconds, true, false, or a list of them."""

    value: object


@dataclass(frozen=True)
class Path:
    """A field of the rollout, of the step in brackets, or of a step that has a name."""

    root: str
    """`row`, a field of rollout or step, or a name that a pattern gave."""
    parts: tuple[str, ...] = ()
    named: bool = False
    """Whether `root` is a name that a pattern gave."""


@dataclass(frozen=True)
class Sum:
    """One value plus or minus another; the difference of two times is in seconds."""

    left: Value
    sign: Literal["+", "-"]
    right: Value


@dataclass(frozen=True)
class Count:
    """How many steps fit a pattern."""

    pattern: Pattern


@dataclass(frozen=True)
class Length:
    """How long a text or a list is."""

    of: Value


Value = Constant | Path | Sum | Count | Length


@dataclass(frozen=True)
class Compare:
    """Two values compared; false where one of them is not there."""

    left: Value
    operator: str
    right: Value


@dataclass(frozen=True)
class Exists:
    """A value is there and is not null."""

    value: Value


@dataclass(frozen=True)
class Holds:
    """A value is there, and is neither false, zero nor empty."""

    value: Value


@dataclass(frozen=True)
class Pattern:
    """A step of some kind, of some tools, for which a rule holds; may be given a name."""

    kind: str
    tools: tuple[str, ...] = ()
    name: str | None = None
    where: Rule | None = None


@dataclass(frozen=True)
class Steps:
    """Steps that fit patterns, each after the one before; `place` ties the first to the step in brackets."""

    patterns: tuple[Pattern, ...]
    place: Literal["anywhere", "earlier", "later"] = "anywhere"


@dataclass(frozen=True)
class Not:
    """The rule does not hold."""

    rule: Rule


@dataclass(frozen=True)
class AllOf:
    """Every rule holds."""

    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one of the rules holds."""

    rules: tuple[Rule, ...]


Rule = Compare | Exists | Holds | Steps | Not | AllOf | AnyOf


def parts_of(node: object) -> Iterator[object]:
    """The node and everything in it."""
    yield node
    for field in fields(node):  # type: ignore[arg-type]
        value = getattr(node, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if hasattr(part, "__dataclass_fields__"):
                yield from parts_of(part)


def needs_steps(rule: Rule) -> bool:
    """Whether a rule asks about the trajectory; it cannot look where none is recorded."""
    return any(
        isinstance(part, Pattern) or (isinstance(part, Path) and not part.named and part.root in _OF_TRAJECTORY)
        for part in parts_of(rule)
    )


def reads(rule: Rule, name: str) -> bool:
    """Whether a rule names a field of the rollout."""
    return any(isinstance(part, Path) and not part.named and part.root == name for part in parts_of(rule))


def tools_named(rule: Rule) -> tuple[str, ...]:
    """The tools that a rule names, with their `*`, in the order of the rule."""
    return tuple(dict.fromkeys(tool for part in parts_of(rule) if isinstance(part, Pattern) for tool in part.tools))


def fields_named(rule: Rule) -> tuple[str, ...]:
    """The top-level fields of the row that a rule names, in the order of the rule."""
    return tuple(
        dict.fromkeys(
            part.parts[0]
            for part in parts_of(rule)
            if isinstance(part, Path) and part.root == "row" and not part.named and part.parts
        )
    )
