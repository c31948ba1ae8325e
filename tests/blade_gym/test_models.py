"""Models without an endpoint: recordings, policies, the embedded weights."""

from __future__ import annotations

import asyncio
import gzip
import sys
from pathlib import Path
from typing import Any

import pytest

from blade.model.errors import RequestError
from blade_gym.config.servers import Instance
from blade_gym.models.local_model import LocalModel
from blade_gym.models.make import make_model
from blade_gym.models.model import ModelError
from blade_gym.models.replay import ReplayModel
from blade_gym.models.scripted import scripted
from gym_lab import write
from gym_shelf import ROOT

PROMPT = [{"role": "user", "content": "What is there?"}]


def recorded(repeat: int, *output: dict[str, Any], stop: str | None = None) -> dict[str, Any]:
    response = {
        "model": "m-1",
        "output": list(output),
        "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        "incomplete_details": {"reason": stop} if stop else None,
    }
    return {
        "_ng_rollout_index": repeat,
        "responses_create_params": {"input": PROMPT},
        "response": response,
        "reward": 0,
    }


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **more}


def call(name: str, call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "name": name, "arguments": "{}", "call_id": call_id}


def back(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "recorded"}


def ask(model: ReplayModel, *more: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    return asyncio.run(model.respond({"input": [*PROMPT, *more]}, seed=seed))


def test_a_recorded_tool_loop_is_told_step_by_step(tmp_path: Path) -> None:
    rows = [
        recorded(1, said("nothing", id="m1"), stop="max_output_tokens"),
        recorded(
            0,
            said("Let me look.", id="m0"),
            call("look", "c1"),
            back("c1"),
            call("look", "c2"),
            back("c2"),
            said("a door"),
        ),
    ]
    model = ReplayModel([write(tmp_path / "r.jsonl", rows)])
    assert model.name == "m-1"
    first = ask(model)
    assert [item["type"] for item in first["output"]] == ["message", "function_call"]
    assert first["usage"] is None
    live = {"type": "function_call_output", "call_id": "c1", "output": "live"}
    second = ask(model, *first["output"], live)
    assert [item["call_id"] for item in second["output"]] == ["c2"]
    third = ask(model, *first["output"], live, *second["output"], back("c2"))
    assert third["output"][0]["content"][0]["text"] == "a door"
    assert third["usage"]["total_tokens"] == 3
    with pytest.raises(ModelError, match="ends before this"):
        ask(
            model,
            *first["output"],
            live,
            *second["output"],
            back("c2"),
            *third["output"],
            {"role": "user", "content": "?"},
        )
    other = ask(model, seed=1)
    assert other["incomplete_details"] == {"reason": "max_output_tokens"}
    assert ask(model, seed=3) == other


def test_a_prompt_that_nobody_recorded_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"broken\n[1]\n{"response": null}\n')
    with pytest.raises(ModelError) as failed:
        ask(ReplayModel([path]))
    assert (failed.value.failure_class, failed.value.again) == ("not_recorded", False)
    with pytest.raises(RequestError, match="cannot read the rollouts to replay"):
        ReplayModel([tmp_path / "none.jsonl"])


def test_compressed_recordings_answer_too(tmp_path: Path) -> None:
    plain = write(tmp_path / "r.jsonl", [recorded(0, said("yes", id="m0"))])
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert ask(ReplayModel([packed])) == ask(ReplayModel([plain]))
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(RequestError, match="cannot read the rollouts to replay"):
        ReplayModel([packed])


def test_policies_are_named_and_an_unknown_one_is_refused_with_the_names() -> None:
    assert (
        scripted({"policy": "good"}, [ROOT]).name
        == scripted({"policy": "scripted/good"}, [ROOT]).name
        == "scripted/good"
    )
    with pytest.raises(RequestError) as refused:
        scripted({"policy": "evil"}, [ROOT])
    assert "never_resolves_names" in refused.value.hint


def test_a_type_of_model_that_is_none_is_refused() -> None:
    with pytest.raises(RequestError, match="no model type"):
        make_model(Instance(name="policy_model", group="responses_api_models", type="x", config={}), [])
    with pytest.raises(RequestError, match="no address"):
        make_model(Instance(name="policy_model", group="responses_api_models", type="vllm_model", config={}), [])


def test_without_the_engine_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(RequestError) as refused:
        LocalModel()
    assert "blade-bench[local]" in refused.value.hint


@pytest.mark.slow
def test_the_embedded_model_answers_and_repeats_itself_for_a_seed(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xllamacpp")

    async def both() -> list[dict[str, Any]]:
        model = LocalModel()
        params = {"input": "Name a color.", "instructions": "Answer in one word.", "max_output_tokens": 8}
        try:
            return [await model.respond(params, seed=seed) for seed in (1, 1)]
        finally:
            await model.close()

    first, second = asyncio.run(both())
    texts = [one["output"][0]["content"][0]["text"] for one in (first, second)]
    assert texts[0]
    assert texts[0] == texts[1]
    assert first["model"] == "smollm2-135m-instruct"
    assert 0 < first["usage"]["output_tokens"] <= 8
    assert capfd.readouterr().err == ""
