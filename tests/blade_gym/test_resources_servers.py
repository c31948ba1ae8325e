"""Every resources server proves its verifier on its own rows, without a model, and ends on whatever a model may write."""

from __future__ import annotations

import json
import time

import pytest

import gym_servers
from blade_gym.answers import message
from blade_gym.environment import NoVerdict
from blade_gym.sandbox.worker import OutOfBounds

JUDGED = ("equivalence_llm_judge", "simpleqa", "xstest")
"""Servers whose every answer a judge decides: test_prompted_judges.py tries all of this with one."""
UNJUDGED = tuple(name for name in gym_servers.NAMES if name not in JUDGED)
NOTHING_IS_RIGHT = {("function_calling", "function_calling-4")}
"""Rows whose key wants no call: silence passes."""
HOSTILE = {
    "empty": "",
    "ten megabytes": "a" * 10_000_000,
    "ten megabytes of lines": "answer:\n" * 1_250_000,
    "white space": "The answer is" + " \n" * 100_000,
    "deep JSON": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 50_000,
    "open fences": "```python\n" * 20_000,
    "open boxes": "\\boxed{" * 20_000,
    "open tags": "<answer>" * 20_000,
    "not Unicode": "\udcff\x00 \\boxed{\udcff}",
    "right to left": "\u202e\u0661\u0662" * 1_000,
    "digits": "9" * 200_000,
    "stars": "*" * 200_000,
    "quotes": "\"'" * 100_000,
}


def test_there_is_a_server_for_each_verifier() -> None:
    assert set(gym_servers.NAMES) >= {
        "arc_agi",
        "asr",
        "code_gen",
        "equivalence_llm_judge",
        "exact_match",
        "function_calling",
        "ifbench",
        "instruction_following",
        "json_schema",
        "math_with_judge",
        "mcqa",
        "model_judge",
        "reasoning_gym",
        "safety_refusal",
        "simpleqa",
        "spider2_lite",
        "structured_outputs",
        "text_to_sql_rows",
        "translation",
        "wmt_translation",
        "workplace_assistant",
        "xlam_fc",
        "xstest",
    }


@pytest.mark.parametrize("name", UNJUDGED)
def test_gold_passes_and_silence_does_not(name: str) -> None:
    env, rows = gym_servers.environment(name), gym_servers.rows(name)
    assert len(rows) >= 5
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        gold = env.gold(row)
        assert gold is not None
        right = gym_servers.verdict(env, row, gold)
        assert right.reward == 1.0, row["id"]
        assert right.fields.get("failure_reason") is None
        json.dumps(right.fields)
        nothing_due = (name, row["id"]) in NOTHING_IS_RIGHT or row.get("ground_truth") == []
        silent = gym_servers.verdict(env, row, [])
        # Some scorers of puzzles give a hundredth to whatever is said.
        assert silent.reward == pytest.approx(float(nothing_due), abs=0.02), row["id"]
        assert nothing_due or silent.fields["failure_reason"]


@pytest.mark.parametrize("name", [name for name in UNJUDGED if name not in ("model_judge", "safety_refusal")])
def test_the_gold_of_another_row_fails(name: str) -> None:
    env, rows = gym_servers.environment(name), gym_servers.rows(name)[:5]
    for row, other in zip(rows, rows[1:] + rows[:1], strict=True):
        gold = env.gold(other)
        assert gold is not None
        assert gym_servers.verdict(env, row, gold).reward < 1.0, (row["id"], other["id"])


@pytest.mark.slow
@pytest.mark.parametrize("name", UNJUDGED)
def test_hostile_texts_end_and_fail_with_a_reason(name: str) -> None:
    env, row = gym_servers.environment(name), gym_servers.rows(name)[0]
    for what, text in HOSTILE.items():
        begun = time.monotonic()
        try:
            found = gym_servers.verdict_on_text(env, row, text)
        except OutOfBounds:
            pass  # a library that takes too long over a text says nothing about it
        except NoVerdict:
            # One has no judge here; the other's normalizer fails at a number of 200,000 digits.
            assert (name, what) == ("asr", "digits") or name == "model_judge", what
        else:
            encoded = json.dumps(found.fields)
            assert len(encoded) < 100_000, (name, what)
            assert found.reward < 1.0 or name == "safety_refusal", (name, what)
            told = found.fields["failure_reason"] or found.fields.get("follow_instruction_list")
            assert told or found.reward == 1.0, (name, what)
        assert time.monotonic() - begun < 60, (name, what)


@pytest.mark.parametrize("name", UNJUDGED)
def test_odd_outputs_end(name: str) -> None:
    env, row = gym_servers.environment(name), gym_servers.rows(name)[0]
    odd: list[dict[str, object]] = [
        {"type": "function_call", "name": None, "arguments": None, "call_id": None},
        {"type": "function_call", "name": "x", "arguments": "{", "call_id": "1"},
        {"type": "message", "role": "assistant", "content": None},
        {"type": "message", "role": "assistant", "content": [None, {"type": "refusal", "refusal": None}]},
        {"type": "reasoning", "summary": []},
        {},
    ]
    found = gym_servers.verdict(env, row, odd)
    assert found.reward == 0.0
    assert gym_servers.verdict(env, row, [message("")]).reward == 0.0
