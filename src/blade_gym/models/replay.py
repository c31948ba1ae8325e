"""Recorded rollouts answer again: the same prompt gets the same steps, one at a time, through a live tool loop."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.models.model import ModelError
from blade_gym.models.reply import response_object

Item = Mapping[str, Any]
_FROM_OUTSIDE = ("function_call_output", "computer_call_output", "local_shell_call_output", "custom_tool_call_output")


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One rollout as recorded: the turns of the model, without what tools and users said between them."""

    repeat: int
    model: str | None
    turns: tuple[tuple[Item, ...], ...]
    usage: Mapping[str, Any] | None
    stop: str | None


class ReplayModel:
    """Answers from rollouts files. A prompt that nobody recorded is an error of its own class, never an answer."""

    def __init__(self, paths: Sequence[Path], *, name: str = "replay") -> None:
        self._by_prompt: dict[str, list[Recorded]] = {}
        for path in paths:
            for prompt, one in _rollouts(path):
                self._by_prompt.setdefault(prompt, []).append(one)
        for recorded in self._by_prompt.values():
            recorded.sort(key=lambda one: one.repeat)
        models = {one.model for recorded in self._by_prompt.values() for one in recorded if one.model}
        self._name = models.pop() if len(models) == 1 else name

    @property
    def name(self) -> str:
        """The recorded model, where the rollouts name one."""
        return self._name

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The next recorded turn of the rollout that the seed names; raises ModelError where there is none."""
        asked = _items(params.get("input"))
        start = _first_turn(asked)
        recorded = self._by_prompt.get(mark(asked[:start]))
        if not recorded:
            raise ModelError("no recorded rollout has this prompt", failure_class="not_recorded", again=False)
        one = recorded[(seed or 0) % len(recorded)]
        turn = _turns_taken(asked[start:])
        if turn >= len(one.turns):
            raise ModelError("the recorded rollout ends before this", failure_class="not_recorded", again=False)
        last = turn == len(one.turns) - 1
        return response_object(
            id=f"resp_replay_{mark(asked)[:12]}",
            model=one.model or self._name,
            output=one.turns[turn],
            stop=one.stop if last else None,
            usage=one.usage if last else None,
            params=params,
        )

    async def close(self) -> None:
        """Nothing is held."""


def mark(items: Sequence[Item]) -> str:
    """A prompt by its content."""
    return hashlib.sha256(json.dumps(items, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _items(value: object) -> list[Item]:
    """The items of a prompt; a message is one with and without its `type`, which recordings add."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    return [
        {name: part for name, part in item.items() if name != "type"} if item.get("type") == "message" else item
        for item in items
    ]


def _is_model(item: Item) -> bool:
    kind = item.get("type") or "message"
    return kind not in _FROM_OUTSIDE and (kind != "message" or item.get("role") == "assistant")


def _first_turn(asked: Sequence[Item]) -> int:
    """Where the model's own items begin; examples in a prompt have no id, what a model said has one."""
    own = (n for n, item in enumerate(asked) if _is_model(item) and (item.get("id") or item.get("call_id")))
    return next(own, len(asked))


def _turns_taken(said: Sequence[Item]) -> int:
    return len(_turns(said))


def _turns(output: Sequence[Item]) -> tuple[tuple[Item, ...], ...]:
    turns: list[list[Item]] = []
    before = False
    for item in output:
        mine = _is_model(item)
        if mine and not before:
            turns.append([])
        if mine:
            turns[-1].append(item)
        before = mine
    return tuple(tuple(turn) for turn in turns)


def _rollouts(path: Path) -> Iterator[tuple[str, Recorded]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RequestError(f"cannot read the rollouts to replay: {path}: {error.strerror}") from None
    for line in data.splitlines():
        try:
            row = json.loads(line)
            prompt, response = row["responses_create_params"]["input"], row["response"]
            output = [_named(item, n) for n, item in enumerate(response["output"])]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        stop = (response.get("incomplete_details") or {}).get("reason")
        repeat = row.get("_ng_rollout_index")
        yield (
            mark(_items(prompt)),
            Recorded(
                repeat=repeat if isinstance(repeat, int) else 0,
                model=response.get("model"),
                turns=_turns(output),
                usage=response.get("usage"),
                stop=stop,
            ),
        )


def _named(item: dict[str, Any], number: int) -> dict[str, Any]:
    """Every item of the model has an id, so that its turns are known when they come back."""
    return item if not _is_model(item) or item.get("id") or item.get("call_id") else {**item, "id": f"item_{number}"}
