"""Recording rollouts answer again: the same prompt gets the same steps, one at a time, through a live tool loop."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from blade.ingest.jsonl import Torn, records
from blade.model.errors import RequestError
from blade_gym.models.model import ModelError
from blade_gym.models.reply import response_object

Item = Mapping[str, Any]
_FROM_OUTSIDE = ("function_call_output", "computer_call_output", "local_shell_call_output", "custom_tool_call_output")


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One rollout as recorded: the turns of the model, without what tools and users said between them."""

    repeat: int
    model: str | None
    turns: tuple[tuple[Item, ...], ...]
    usage: Mapping[str, Any] | None
    stop: str | None


class ReplayModel:
    """Answers from rollouts files. A prompt that nobody recorded is an error of its own class, never an answer."""

    def __init__(self, paths: Sequence[Path], *, name: str = "replay") -> None:
        self._by_prompt: dict[str, list[Recording]] = {}
        for path in paths:
            for prompt, recording in _rollouts(path):
                self._by_prompt.setdefault(prompt, []).append(recording)
        for recordings in self._by_prompt.values():
            recordings.sort(key=lambda recording: recording.repeat)
        models = {one.model for recordings in self._by_prompt.values() for one in recordings if one.model}
        self._name = models.pop() if len(models) == 1 else name

    @property
    def name(self) -> str:
        """The recorded model, where the rollouts name one."""
        return self._name

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The next recorded turn of the rollout that the seed names; raises ModelError where there is none."""
        asked = _items(params.get("input"))
        start = _first_turn(asked)
        recordings = self._by_prompt.get(fingerprint(asked[:start]))
        if not recordings:
            raise ModelError("no recorded rollout has this prompt", failure_class="not_recorded", again=False)
        recording = recordings[(seed or 0) % len(recordings)]
        turn = len(_turns(asked[start:]))
        if turn >= len(recording.turns):
            raise ModelError("the recorded rollout ends before this", failure_class="not_recorded", again=False)
        last = turn == len(recording.turns) - 1
        return response_object(
            id=f"resp_replay_{fingerprint(asked)[:12]}",
            model=recording.model or self._name,
            output=recording.turns[turn],
            stop=recording.stop if last else None,
            usage=recording.usage if last else None,
            params=params,
        )

    async def close(self) -> None:
        """Nothing is held."""


def fingerprint(items: Sequence[Item]) -> str:
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


def _turns(output: Sequence[Item]) -> tuple[tuple[Item, ...], ...]:
    return tuple(tuple(items) for of_model, items in groupby(output, key=_is_model) if of_model)


def _rollouts(path: Path) -> Iterator[tuple[str, Recording]]:
    try:
        lines = [record.data for record in records(path)]
    except OSError as error:
        raise RequestError(f"cannot read the rollouts to replay: {path}: {error.strerror or error}") from None
    except Torn as torn:
        raise RequestError(f"cannot read the rollouts to replay: {path}: {torn}") from None
    for line in lines:
        try:
            row = json.loads(line)
            prompt, response = row["responses_create_params"]["input"], row["response"]
            output = [_named(item, n) for n, item in enumerate(response["output"])]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        stop = (response.get("incomplete_details") or {}).get("reason")
        repeat = row.get("_ng_rollout_index")
        yield (
            fingerprint(_items(prompt)),
            Recording(
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
