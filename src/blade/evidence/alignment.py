"""A rollout as the actions it took, in a form in which two rollouts can be laid side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct

from blade.evidence.actions import EMPTY, Made, Pairing, carried_out, changes, pair, parsed
from blade.evidence.differences import differences
from blade.evidence.quotes import best_sentence, weight
from blade.model.expected import Due
from blade.model.finding import Difference
from blade.model.rollout import Outcome, Rollout, Step
from blade.model.tools import changes_state

NEAR = 6
"""Steps before an act in which its reason is looked for."""


class AlignedTrajectory(Struct, frozen=True, kw_only=True, dict=True):
    """One rollout that was read again."""

    rollout: Rollout
    set_aside: frozenset[tuple[str, str, str]] = frozenset()
    """Differences that the verifier does not mind."""

    @property
    def repeat(self) -> int:
        return self.rollout.key.repeat

    @property
    def place(self) -> str:
        return str(self.rollout.key)

    @property
    def passed(self) -> bool:
        return self.rollout.outcome is Outcome.PASSED

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return self.rollout.steps or ()

    @cached_property
    def due(self) -> Due:
        return self.rollout.due

    @cached_property
    def row(self) -> dict[str, object]:
        return self.rollout.row

    @cached_property
    def differs(self) -> tuple[Difference, ...]:
        found = differences(self.rollout)
        return tuple(one for one in found if (one.kind, one.name, one.detail) not in self.set_aside)

    @cached_property
    def calls(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind == "call" and step.party == "agent")

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The calls in canonical form: equal when tool and arguments are."""
        return tuple(canonical(step) for step in self.calls)

    @cached_property
    def made(self) -> list[Made]:
        """The calls that were carried out."""
        return carried_out(self.steps)

    @cached_property
    def changes(self) -> tuple[str, ...]:
        """In the same form, the calls that were carried out and change something."""
        return tuple(canonical(made.step) for made in changes(self.made))

    @cached_property
    def pairing(self) -> Pairing:
        """Changes that were due against those made; where the key has look-ups only, these against all calls."""
        due = list(self.due.calls or ())
        wanted = [call for call in due if changes_state(call.tool)]
        return pair(wanted, changes(self.made)) if wanted else pair(due, self.made)

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools called, each once, in order of first use."""
        return tuple(dict.fromkeys(step.tool or "" for step in self.calls))

    @cached_property
    def given(self) -> tuple[tuple[str, str], ...]:
        """Tool and argument, for every argument of a tool that a call gives a value."""
        pairs = ((s.tool or "", n) for s in self.calls for n, v in parsed(s.arguments).items() if v not in EMPTY)
        return tuple(dict.fromkeys(pairs))

    def result_of(self, call: Step) -> Step | None:
        results = [step for step in self.steps if step.kind == "result" and step.answers == call.index]
        return next(
            (step for step in results if step.call_id == call.call_id), results[0] if len(results) == 1 else None
        )

    def call_at(self, index: int | None, tool: str) -> Step | None:
        """The call of a tool at a step; a message may make several."""
        here = [step for step in self.calls if step.index == index]
        return next((step for step in here if step.tool == tool), here[0] if here else None)

    def message_after(self, index: int) -> Step | None:
        """The first message of the agent after a step; the last one of all when there is none."""
        spoken = [step for step in self.steps if step.party == "agent" and step.kind == "message" and step.text.strip()]
        return next((step for step in spoken if step.index > index), spoken[-1] if spoken else None)

    def last_thought(self) -> Step | None:
        """What the agent thought last."""
        thought = (step for step in reversed(self.steps) if step.kind == "reasoning" and step.text.strip())
        return next(thought, None)

    def most_about(self, words: Sequence[str], after: int) -> Step | None:
        """The message of the agent, after a step, that speaks most of `words`; the first where none does."""
        spoken = [s for s in self.steps if s.party == "agent" and s.kind == "message" and s.text.strip()]
        later = [step for step in spoken if step.index > after] or spoken[-1:]
        return max(later, key=lambda step: (weight(step.text, words), -step.index), default=None)

    def said_before(self, index: int, words: Sequence[str] = ()) -> Step | None:
        """What the agent said or thought before a step: of the nearest, what gives a reason, else the last."""
        spoken = [
            step
            for step in self.steps
            if index - NEAR <= step.index < index
            and step.party == "agent"
            and step.kind in ("message", "reasoning")
            and step.text.strip()
        ]
        return max(spoken, key=lambda step: (best_sentence(step.text, words), step.index), default=None)


def canonical(step: Step) -> str:
    """Tool and arguments with sorted keys and single spaces, so that spelling of JSON does not matter."""
    return f"{step.tool}({_spelled(step.arguments)})"


@lru_cache(maxsize=4096)
def _spelled(arguments: str | None) -> str:
    """The repeats of a task call much the same."""
    return json.dumps(_plain(parsed(arguments)), sort_keys=True, ensure_ascii=False)


def _plain(value: object) -> object:
    """The same value with whole numbers written alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def shared_start(one: Sequence[str], other: Sequence[str]) -> int:
    """How many actions two walks have in common before they part."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
