"""One rollout while it is being made: what was said and done, what the verifier wrote, and what was planted where."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

Row = dict[str, Any]
Item = dict[str, Any]
Kept = Literal["rollouts", "failures", "nowhere"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One problem of a world; what every row of it holds."""

    index: int
    task_id: str
    prompt: str

    @property
    def fields(self) -> Row:
        """Fields of the key, the same in each repeat."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A quote that was planted, and where it stands: a step of the trajectory, or a field of the row."""

    step: int | None
    field: str
    quote: str


@dataclass(kw_only=True)
class Draft:
    """What becomes a row."""

    items: list[Item]
    reward: float | None
    fields: Row = field(default_factory=dict)
    """What the verifier and the harness wrote beside the reward."""
    response: Row = field(default_factory=dict)
    opening: list[Item] | None = None
    """The prompt of this rollout, where it is not that of its task."""
    instead: Row = field(default_factory=dict)
    """Fields of the key that this row holds in place of its task's."""
    marks: list[Mark] = field(default_factory=list)
    kept: Kept = "rollouts"
    """The file that the row goes to."""
    mode: str | None = None
    """What goes wrong where no mechanism says more; None for a pass."""
    modes_too: tuple[str, ...] = ()
    """Modes that an expert could name as well, where no mechanism says more."""

    def mark(self, quote: str, where: str = "text") -> None:
        """Note the first step that holds a quote, or the field of the row that does; ValueError where nothing does."""
        if where != "text":
            self.marks.append(Mark(step=None, field=where, quote=quote))
            return
        step = next((i for i, item in enumerate(self.items) if quote in words_of(item)), None)
        if step is None:
            raise ValueError(f"nothing holds {quote!r}")
        self.marks.append(Mark(step=step, field=where, quote=quote))


def words_of(item: Item) -> str:
    """The text of an item, whatever its kind."""
    content: Any = next((item[name] for name in ("content", "output", "arguments", "summary") if name in item), "")
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)


def said(text: str) -> Item:
    """A message of the agent."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [part]}


def user(text: str) -> Item:
    """A message of the simulated user."""
    return {"type": "message", "role": "user", "content": text}


def thought(text: str) -> Item:
    """What the agent thought."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def called(rng: Random, tool: str, arguments: object, output: object) -> list[Item]:
    """A call with its result; arguments and output are written as JSON unless they are text already."""
    call_id = f"call_{rng.getrandbits(64):016x}"
    return [
        {"type": "function_call", "name": tool, "arguments": as_text(arguments), "call_id": call_id},
        {"type": "function_call_output", "call_id": call_id, "output": as_text(output)},
    ]


def as_text(value: object) -> str:
    """JSON, unless it is text already."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
