"""Endpoints on loopback: both dialects, tools and usage, and every way to fail with its class."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import stamina

from blade.model.errors import RequestError
from blade_gym.models.chat import chat_request, from_chat, messages
from blade_gym.models.model import ModelError
from blade_gym.models.openai_model import OpenAIModel
from blade_gym.models.reply import checked_response, summed
from blade_gym.models.retries import Patience, PatientModel
from gym_endpoint import BODIES, KEY, Endpoint, serving

ASK = {"input": [{"role": "user", "content": "What is 4 + 4?"}], "temperature": 0.5, "max_output_tokens": 9}
TOOL = {"type": "function", "name": "add", "description": "d", "parameters": {"type": "object"}, "strict": True}


def ask(endpoint: Endpoint, params: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    async def once() -> dict[str, Any]:
        model = OpenAIModel(**{"url": endpoint.url, "name": "adder-1", "key": KEY, "seconds": 1.0, **more})
        try:
            return await model.respond(params or ASK, seed=3)
        finally:
            await model.close()

    return asyncio.run(once())


def text(response: dict[str, Any]) -> str:
    return str(response["output"][-1]["content"][0]["text"])


def test_the_responses_api_is_asked_first() -> None:
    with serving(Endpoint()) as endpoint:
        assert text(ask(endpoint)) == "8"
    sent = endpoint.bodies[0]
    assert (sent["model"], sent["seed"], sent["temperature"], sent["max_output_tokens"]) == ("adder-1", 3, 0.5, 9)
    assert len(endpoint.bodies) == 1


def test_chat_is_asked_where_there_is_no_responses_api() -> None:
    with serving(Endpoint(routes=("chat",))) as endpoint:
        response = ask(endpoint)
    assert text(response) == "8"
    assert endpoint.bodies[0]["max_tokens"] == 9
    assert response["usage"]["total_tokens"] == 12


def test_extra_body_goes_beside_the_parameters_and_not_into_metadata() -> None:
    params = {**ASK, "metadata": {"extra_body": '{"seed": 7, "top_k": 2}', "note": "x"}, "user": None}
    with serving(Endpoint()) as endpoint:
        asyncio.run(_respond(endpoint, params))
    sent = endpoint.bodies[0]
    assert (sent["seed"], sent["top_k"], sent["metadata"]) == (7, 2, {"note": "x"})
    assert "user" not in sent


async def _respond(endpoint: Endpoint, params: dict[str, Any]) -> None:
    model = OpenAIModel(url=endpoint.url, name="m", key=KEY)
    await model.respond(params)
    await model.close()


@pytest.mark.parametrize(
    ("fault", "kind", "again"),
    [
        ("500", "transient", True),
        ("429", "rate_limited", True),
        ("400", "refused_request", False),
        ("malformed", "bad_response", True),
        ("no choices", "bad_response", True),
        ("drop", "transient", True),
        ("truncated", "transient", True),
        ("slow", "model_timeout", True),
    ],
)
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_failure_has_its_class(fault: str, kind: str, again: bool, api: str) -> None:
    with serving(Endpoint(fault=lambda number, tried: fault)) as endpoint, pytest.raises(ModelError) as failed:
        ask(endpoint, api=api, seconds=0.4)
    assert (failed.value.failure_class, failed.value.again) == (kind, again)
    assert KEY not in str(failed.value)
    assert failed.value.after == (0.05 if fault == "429" else None)


@pytest.mark.parametrize("fault", sorted(BODIES))
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_reply_that_is_no_answer_is_a_failure_of_the_endpoint(fault: str, api: str) -> None:
    with serving(Endpoint(fault=lambda number, tried: fault)) as endpoint, pytest.raises(ModelError) as failed:
        ask(endpoint, api=api)
    kind = "transient" if fault in ("broken off", "error with 200") else "bad_response"
    assert (failed.value.failure_class, failed.value.again) == (kind, True)


@pytest.mark.parametrize(
    "response",
    [
        {"status": "completed", "output": []},
        {"status": "completed", "output": [{"type": "message", "content": []}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": ""}]}]},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []},
        {"status": "completed", "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}]},
        {"output": [{"type": "function_call", "name": "add", "call_id": "c", "arguments": "{"}]},
    ],
)
def test_an_empty_or_cut_off_response_stays_an_answer(response: dict[str, Any]) -> None:
    assert checked_response(dict(response)) == response


@pytest.mark.parametrize(
    ("choice", "status", "said"),
    [
        ({"message": {"content": ""}, "finish_reason": "stop"}, "completed", ""),
        ({"message": {"content": None}, "finish_reason": "stop"}, "completed", ""),
        ({"message": {"content": "8"}, "finish_reason": None}, "completed", "8"),
        ({"message": {"content": [{"type": "text", "text": "8"}]}}, "completed", "8"),
        ({"message": {"content": None}, "finish_reason": "length"}, "incomplete", ""),
    ],
)
def test_an_empty_or_cut_off_chat_reply_stays_an_answer(choice: dict[str, Any], status: str, said: str) -> None:
    response = from_chat({"choices": [choice], "usage": {"prompt_tokens_details": []}}, {})
    assert (response["status"], text(response)) == (status, said)


@pytest.mark.parametrize(("key", "said"), [(KEY, "what is ****? Ask again."), ("k", "what is ****? Ask again.")])
def test_a_key_that_is_said_back_is_hidden_and_no_letter_of_other_words(key: str, said: str) -> None:
    with (
        serving(Endpoint(key=key, fault=lambda number, tried: "echo")) as endpoint,
        pytest.raises(ModelError) as failed,
    ):
        ask(endpoint, key=key)
    assert str(failed.value) == f"HTTP 400: {said}"


def test_a_wrong_key_is_not_tried_again_and_a_dead_port_is() -> None:
    with serving(Endpoint()) as endpoint, pytest.raises(ModelError) as failed:
        ask(endpoint, key="wrong")
    assert (failed.value.failure_class, failed.value.again) == ("not_authorized", False)
    with pytest.raises(ModelError) as failed:
        ask(endpoint)
    assert (failed.value.failure_class, failed.value.again) == ("unreachable", True)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("localhost:80", "lacks http://"),
        ("127.0.0.1:8000/v1", "lacks http://"),
        ("http://127.0.0.1:99999/v1", "Port out of range"),
        ("http://127.0.0.1:port/v1", "Port could not be cast"),
        ("http://127.0.0.1:0/v1", "has no usable port"),
        ("http:///v1", "has no host"),
        ("ftp://models.example.com/v1", "is not an HTTP URL"),
    ],
)
def test_an_address_that_nothing_answers_at_is_refused(url: str, told: str) -> None:
    with pytest.raises(RequestError) as refused:
        OpenAIModel(url=url, name="m")
    assert told in refused.value.message
    assert "http" in refused.value.hint


class Flaky:
    """Fails as often as it is told to."""

    name = "flaky"

    def __init__(self, failures: list[ModelError]) -> None:
        self.failures, self.asked = failures, 0

    async def respond(self, params: Any, *, seed: int | None = None) -> dict[str, Any]:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return {"output": []}

    async def close(self) -> None:
        return


def waits(failures: list[ModelError], tries: int = 4) -> tuple[Flaky, list[float], ModelError | None]:
    slept: list[float] = []
    model, error = Flaky(failures), None
    patient = PatientModel(model, Patience(tries=tries, first=0.01, most=0.1))
    stamina.instrumentation.set_on_retry_hooks([lambda details: slept.append(details.wait_for)])
    try:
        asyncio.run(patient.respond({"input": "x"}))
    except ModelError as raised:
        error = raised
    finally:
        stamina.instrumentation.set_on_retry_hooks(())
    return model, slept, error


def test_waits_double_with_jitter_that_is_the_same_every_time() -> None:
    again = [ModelError("a"), ModelError("b"), ModelError("c")]
    _, first, error = waits(list(again))
    assert error is None
    assert [0.005 * 2**n <= wait <= 0.01 * 2**n for n, wait in enumerate(first)] == [True] * 3
    assert waits(list(again))[1] == first


def test_a_server_that_names_a_time_is_waited_for_within_bounds() -> None:
    assert waits([ModelError("a", after=0.04)])[1] == [0.04]
    assert waits([ModelError("a", after=4000.0)])[1] == [0.1]


def test_retries_say_nothing_on_their_own(caplog: pytest.LogCaptureFixture) -> None:
    PatientModel(Flaky([]), Patience())
    asyncio.run(PatientModel(Flaky([ModelError("a")]), Patience(first=0.0)).respond({}))
    assert not caplog.records


def test_tries_have_a_limit_and_what_is_refused_is_not_asked_again() -> None:
    model, slept, error = waits([ModelError(str(n)) for n in range(9)], tries=3)
    assert (model.asked, len(slept), str(error)) == (3, 2, "2")
    model, slept, error = waits([ModelError("no", again=False)])
    assert (model.asked, slept, str(error)) == (1, [], "no")


def test_a_whole_conversation_is_carried_over_to_chat() -> None:
    items: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "What is 1 + 1?"}]},
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me add."}]},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1,"b":1}'},
        {"type": "function_call", "call_id": "c2", "name": "add", "arguments": ""},
        {"type": "function_call_output", "call_id": "c1", "output": '{"sum": 2}'},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "bad"}]},
    ]
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1,"b":1}'}},
        {"id": "c2", "type": "function", "function": {"name": "add", "arguments": "{}"}},
    ]
    assert messages(items, "You add.") == [
        {"role": "system", "content": "You add.\n\nBe brief."},
        {"role": "user", "content": "What is 1 + 1?"},
        {"role": "assistant", "content": "Let me add.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": '{"sum": 2}'},
        {"role": "tool", "tool_call_id": "c2", "content": "bad"},
    ]


def test_tools_formats_and_choices_are_carried_over() -> None:
    params = {
        "input": "hi",
        "tools": [TOOL],
        "tool_choice": {"type": "function", "name": "add"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
        "reasoning": {"effort": "low"},
    }
    asked = chat_request(params)
    assert asked["messages"] == [{"role": "user", "content": "hi"}]
    assert asked["tools"] == [{"type": "function", "function": {k: v for k, v in TOOL.items() if k != "type"}}]
    assert asked["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    assert asked["response_format"]["json_schema"] == {"name": "n", "schema": {"type": "object"}}
    assert asked["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    "params",
    [
        {"input": [{"type": "computer_call"}]},
        {"input": "x", "tools": [{"type": "web_search"}]},
        {"input": [{"role": "user", "content": [{"type": "input_file"}]}]},
    ],
)
def test_what_chat_cannot_carry_is_refused_and_not_dropped(params: dict[str, Any]) -> None:
    with pytest.raises(ModelError) as failed:
        chat_request(params)
    assert (failed.value.failure_class, failed.value.again) == ("unsupported_request", False)


def test_a_chat_reply_becomes_a_response() -> None:
    message = {
        "content": "so",
        "reasoning_content": "hm",
        "tool_calls": [{"id": "c", "function": {"name": "add", "arguments": {"a": 1}}}],
    }
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 1}}
    reply = {"id": "x", "choices": [{"message": message, "finish_reason": "length"}], "usage": usage}
    response = from_chat(reply, {"model": "m"})
    assert [item["type"] for item in response["output"]] == ["reasoning", "message", "function_call"]
    assert response["output"][2]["arguments"] == '{"a": 1}'
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["usage"]["total_tokens"] == 7
    assert response["usage"]["output_tokens_details"] == {"reasoning_tokens": 1}


def test_usage_that_nobody_recorded_is_not_zero() -> None:
    assert summed([None, None]) is None
    total = summed([{"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, None])
    assert total is not None
    assert (total["input_tokens"], total["total_tokens"]) == (1, 3)
