"""Rollouts that a report points at: whether they exist, how they ended, and whether words stand in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from blade.claims.names import Names
from blade.model.errors import BladeError
from blade.model.rollout import Rollout

_TRAJECTORY = ("response", "output", "messages", "trajectory", "traj", "steps")
"""Fields of a row that hold the steps, which are looked in one by one."""

Key = tuple[str, str, int]
"""Run, task and repeat."""


@dataclass(frozen=True)
class Rollouts:
    """Looks rollouts up, and reads those that are asked for once."""

    names: Names
    _read: dict[Key, Rollout | None] = field(default_factory=dict)
    _texts: dict[Key, dict[int | None, str]] = field(default_factory=dict)

    @cached_property
    def outcomes(self) -> dict[Key, str]:
        """How each rollout ended."""
        return {
            (name, task, repeat): outcome
            for name, one in self.names.runs.items()
            for task, repeat, outcome in one.run.rollouts.select("task_id", "repeat", "outcome").iter_rows()
        }

    def repeats(self, run: str, task_id: str) -> list[Key]:
        """The rollouts of a task, in order."""
        return sorted(key for key in self._by_task.get((run, task_id), ()))

    @cached_property
    def _by_task(self) -> dict[tuple[str, str], list[Key]]:
        found: dict[tuple[str, str], list[Key]] = {}
        for key in self.outcomes:
            found.setdefault(key[:2], []).append(key)
        return found

    def rollout(self, key: Key) -> Rollout | None:
        """The rollout with its steps; None when its artifact is out of reach."""
        if key not in self._read:
            run, task, repeat = key
            try:
                self._read[key] = self.names.runs[run].run.reread([(task, repeat)])[0]
            except (BladeError, OSError, IndexError):
                self._read[key] = None
        return self._read[key]

    def steps(self, key: Key) -> frozenset[int] | None:
        """The steps that a rollout has; None when it cannot be read or has no trajectory."""
        rollout = self.rollout(key)
        steps = rollout.steps if rollout is not None else None
        return frozenset(step.index for step in steps) if steps is not None else None

    def holds(self, key: Key, words: str) -> tuple[int | None, ...] | None:
        """The steps in which words stand, None for the row itself; empty where in none; None when it cannot be read."""
        if self.rollout(key) is None:
            return None
        parts = pieces(words)
        if not parts:
            return None
        return tuple(step for step, text in self._text(key).items() if _in_order(parts, text))

    def _text(self, key: Key) -> dict[int | None, str]:
        if key not in self._texts:
            rollout = self._read[key]
            assert rollout is not None
            self._texts[key] = dict(_texts(rollout))
        return self._texts[key]


def _texts(rollout: Rollout) -> Iterator[tuple[int | None, str]]:
    for step in rollout.steps or ():
        yield (
            step.index,
            flat(" \n ".join(filter(None, (step.text, step.tool, step.arguments, _decoded(step.arguments))))),
        )
    beside = {name: value for name, value in rollout.row.items() if not rollout.steps or name not in _TRAJECTORY}
    around = [*(step.text for step in rollout.prompt), *_strings(beside), rollout.answer or "", rollout.expected or ""]
    yield None, flat(" \n ".join([*around, json.dumps(beside, ensure_ascii=False, default=str)]))


def _decoded(arguments: str | None) -> str:
    """The values of arguments as they read without JSON's own marks."""
    try:
        return " \n ".join(_strings(json.loads(arguments or "null")))
    except ValueError:
        return ""


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []


def flat(text: str) -> str:
    """Words in one line, with plain quotation marks; case is kept."""
    for fancy, simple in (
        ("\u2019", "'"),
        ("\u2018", "'"),
        ("\u201c", '"'),
        ("\u201d", '"'),
        ("\u2026", "..."),
        ("`", ""),
    ):
        text = text.replace(fancy, simple)
    return " ".join(text.split())


def pieces(words: str) -> list[str]:
    """A quotation cut at its dots; what is left must stand in order."""
    cut = flat(words).replace("[...]", "...").split("...")
    return [part.strip() for part in cut if len(part.strip()) > 1]


def _in_order(parts: list[str], text: str) -> bool:
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            found = text.find(part.rstrip(".,;:!?"), at)
        if found < 0:
            return False
        at = found + 1
    return True
