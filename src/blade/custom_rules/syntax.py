"""The parts of a rule as values, and what can be known of a rule without a rollout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

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


class Constant(msgspec.Struct, frozen=True):
    """A text, a number, a duration in seconds, true, false, or a list of them."""

    value: object


class FieldPath(msgspec.Struct, frozen=True):
    """A field of the rollout, of the step in brackets, or of a step that has a name."""

    root: str
    """`row`, a field of rollout or step, or a name that a pattern gave."""
    parts: tuple[str, ...] = ()
    named: bool = False
    """Whether `root` is a name that a pattern gave."""


class Sum(msgspec.Struct, frozen=True):
    """One value plus or minus another; the difference of two times is in seconds."""

    left: Value
    sign: Literal["+", "-"]
    right: Value


class StepCount(msgspec.Struct, frozen=True):
    """How many steps fit a pattern."""

    pattern: StepPattern


class ValueLength(msgspec.Struct, frozen=True):
    """How long a text or a list is."""

    of: Value


Value = Constant | FieldPath | Sum | StepCount | ValueLength


class Compare(msgspec.Struct, frozen=True):
    """Two values compared; false where one of them is not there."""

    left: Value
    operator: str
    right: Value


class Exists(msgspec.Struct, frozen=True):
    """A value is there and is not null."""

    value: Value


class Holds(msgspec.Struct, frozen=True):
    """A value is there, and is neither false, zero nor empty."""

    value: Value


class StepPattern(msgspec.Struct, frozen=True):
    """A step of some kind, of some tools, for which a rule holds; may be given a name."""

    kind: str
    tools: tuple[str, ...] = ()
    name: str | None = None
    where: Rule | None = None


class StepSequence(msgspec.Struct, frozen=True):
    """Steps that fit patterns, each after the one before; `place` ties the first to the step in brackets."""

    patterns: tuple[StepPattern, ...]
    place: Literal["anywhere", "earlier", "later"] = "anywhere"


class Not(msgspec.Struct, frozen=True):
    """The rule does not hold."""

    rule: Rule


class AllRules(msgspec.Struct, frozen=True):
    """Every rule holds."""

    rules: tuple[Rule, ...]


class AnyRule(msgspec.Struct, frozen=True):
    """At least one of the rules holds."""

    rules: tuple[Rule, ...]


Rule = Compare | Exists | Holds | StepSequence | Not | AllRules | AnyRule


def parts_of(node: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """The node and everything in it."""
    yield node
    for value in msgspec.structs.astuple(node):
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, msgspec.Struct):
                yield from parts_of(part)


def needs_steps(rule: Rule) -> bool:
    """Whether a rule asks about the trajectory; it cannot look where none is recorded."""
    return any(
        isinstance(part, StepPattern)
        or (isinstance(part, FieldPath) and not part.named and part.root in _OF_TRAJECTORY)
        for part in parts_of(rule)
    )


def reads(rule: Rule, name: str) -> bool:
    """Whether a rule names a field of the rollout."""
    return any(isinstance(part, FieldPath) and not part.named and part.root == name for part in parts_of(rule))


def tools_named(rule: Rule) -> tuple[str, ...]:
    """The tools that a rule names, with their `*`, in the order of the rule."""
    return tuple(dict.fromkeys(tool for part in parts_of(rule) if isinstance(part, StepPattern) for tool in part.tools))


def fields_named(rule: Rule) -> tuple[str, ...]:
    """The top-level fields of the row that a rule names, in the order of the rule."""
    return tuple(
        dict.fromkeys(
            part.parts[0]
            for part in parts_of(rule)
            if isinstance(part, FieldPath) and part.root == "row" and not part.named and part.parts
        )
    )
