"""The tool loop over a model and a session that are written down here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from blade_gym.agents.simple_agent import RolloutLimits, run
from blade_gym.environment import NoVerdict, ToolError, Verdict
from blade_gym.models.model import ModelError
from blade_gym.models.reply import call_item, message_item, response_object

TOOL = {"type": "function", "name": "look", "parameters": {"type": "object"}}
Turn = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


class Script:
    """A model that says one turn after another."""

    name = "script"

    def __init__(self, *turns: list[dict[str, Any]] | ModelError, stop: str | None = None) -> None:
        self.turns, self.stop = list(turns), stop
        self.asked: list[Mapping[str, Any]] = []
        self.seeds: list[int | None] = []

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        self.asked.append(params)
        self.seeds.append(seed)
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if isinstance(turn, ModelError):
            raise turn
        usage = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
        return response_object(id="r", model="script", output=turn, params=params, stop=self.stop, usage=usage)

    async def close(self) -> None:
        return


class Room:
    """An environment that remembers what was called in each session."""

    def __init__(self, *, tools: bool = True, verdict: Exception | None = None, slow: float = 0) -> None:
        self.tools = [TOOL] if tools else []
        self.verdict, self.slow = verdict, slow
        self.sessions: list[list[tuple[str, Mapping[str, Any]]]] = []

    def open(self, row: Mapping[str, Any]) -> Room.Session:
        self.sessions.append([])
        return Room.Session(self, self.sessions[-1])

    def gold(self, row: Mapping[str, Any]) -> None:
        return None

    class Session:
        def __init__(self, room: Room, calls: list[tuple[str, Mapping[str, Any]]]) -> None:
            self.room, self.calls = room, calls

        async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
            self.calls.append((tool, arguments))
            await asyncio.sleep(self.room.slow)
            if tool != "look":
                raise ToolError(f"there is no {tool}")
            return json.dumps({"saw": arguments})

        async def verify(self, response: Mapping[str, Any]) -> Verdict:
            if self.room.verdict:
                raise self.room.verdict
            return Verdict(reward=1.0, fields={"seen": len(self.calls)})


def roll(model: Script, room: Room | None = None, steps: int | None = 5, **more: Any) -> dict[str, Any]:
    params = {"input": "What is there?", "user": None, **more}
    row = {"responses_create_params": params, "task_id": "t", "secret_key": "of the row"}
    limits = RolloutLimits(max_steps=steps, seconds=2.0)
    return asyncio.run(run(row, model=model, environment=room or Room(), limits=limits))


def said(text: str) -> list[dict[str, Any]]:
    return [message_item(text, "m")]


def look(arguments: str = "{}", name: str = "look", call: str = "c") -> dict[str, Any]:
    return call_item(name, arguments, call)


def outputs(row: dict[str, Any]) -> list[str]:
    return [item["output"] for item in row["response"]["output"] if item["type"] == "function_call_output"]


def test_a_message_without_calls_ends_the_rollout() -> None:
    model = Script(said("a door"))
    row = roll(model)
    assert (row["reward"], row["seen"], row["task_id"]) == (1.0, 0, "t")
    assert "secret_key" not in row
    assert row["responses_create_params"] == {"input": "What is there?", "tools": [TOOL]}
    assert len(model.asked) == 1


def test_calls_are_answered_in_order_and_go_back_to_the_model() -> None:
    model = Script([look('{"at": 1}', call="a"), look('{"at": 2}', call="b")], said("two things"))
    row = roll(model)
    assert [item["type"] for item in row["response"]["output"]] == [
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "message",
    ]
    assert outputs(row) == ['{"saw": {"at": 1}}', '{"saw": {"at": 2}}']
    assert row["response"]["usage"]["total_tokens"] == 12
    assert model.asked[1]["input"][0] == {"role": "user", "content": "What is there?"}
    assert len(model.asked[1]["input"]) == 5
    assert "stop_reason" not in row


def test_bad_arguments_and_refusals_are_words_for_the_model() -> None:
    room = Room()
    row = roll(Script([look("{not json"), look("[1]"), look(name="fly")], said("sorry")), room)
    first, second, third = outputs(row)
    assert json.loads(first)["error"].startswith("Invalid tool call arguments: ")
    assert json.loads(second)["error"].startswith("Invalid tool call arguments: ")
    assert third == "there is no fly"
    assert room.sessions == [[("fly", {})]]
    assert row["reward"] == 1.0


def test_steps_have_a_limit_and_the_last_calls_are_carried_out() -> None:
    model, room = Script([look()]), Room()
    row = roll(model, room, steps=3)
    assert (len(model.asked), len(room.sessions[0]), row["stop_reason"], row["reward"]) == (3, 3, "max_steps", 1.0)


def test_a_cut_answer_ends_the_rollout_with_its_calls_undone() -> None:
    room = Room()
    row = roll(Script([look()], stop="max_output_tokens"), room)
    assert room.sessions == [[]]
    assert row["response"]["incomplete_details"] == {"reason": "max_output_tokens"}


def test_calls_of_tools_that_a_task_only_describes_are_the_answer() -> None:
    model = Script([look()])
    row = roll(model, Room(tools=False), tools=[TOOL])
    assert [item["type"] for item in row["response"]["output"]] == ["function_call"]
    assert len(model.asked) == 1


def test_the_seed_of_the_row_reaches_the_model() -> None:
    model = Script(said("x"))
    roll(model, metadata={"extra_body": '{"seed": 4}'})
    assert model.seeds == [4]


@pytest.mark.parametrize(
    ("error", "terminal"),
    [
        (ModelError("a", failure_class="transient"), False),
        (ModelError("a", failure_class="refused_request", again=False), True),
        (ModelError("a", failure_class="not_authorized", again=False), False),
    ],
)
def test_a_model_that_fails_gives_no_reward_and_keeps_what_was_done(error: ModelError, terminal: bool) -> None:
    row = roll(Script([look()], error))
    assert (row["reward"], row["_ng_failure_class"], row["error"]) == (None, error.failure_class, "a")
    assert row["_ng_failure_terminal"] is terminal
    assert len(row["response"]["output"]) == 2


def test_a_judge_that_fails_gives_no_verdict() -> None:
    row = roll(Script(said("x")), Room(verdict=NoVerdict("timed out")))
    assert (row["reward"], row["_ng_failure_class"], row["_ng_failure_judge_error"]) == (
        None,
        "judge_failed",
        "timed out",
    )
    assert row["response"]["output"][0]["content"][0]["text"] == "x"


def test_a_bug_of_the_environment_stays_in_its_rollout() -> None:
    row = roll(Script(said("x")), Room(verdict=KeyError("oops")))
    assert (row["_ng_failure_class"], row["error"]) == ("environment_error", "KeyError: 'oops'")


def test_a_rollout_that_takes_too_long_is_ended() -> None:
    row = roll(Script([look()]), Room(slow=5))
    assert (row["_ng_failure_class"], row["_ng_failure_terminal"], row["reward"]) == ("timeout_exceeded", True, None)
