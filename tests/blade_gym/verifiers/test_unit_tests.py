"""Programs meet their tests: which program is found, how it is run, and what is said of each test."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from blade_gym.answers import message
from blade_gym.environment import NoVerdict
from blade_gym.verifiers import unit_tests as verifier

ADDS = {"unit_tests": {"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10\n"]}}
LIMITS = {"timeout": 1}


def _fenced(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\n"


def _messages(code: str, row: dict[str, Any] | None = None) -> list[str]:
    found = verifier.verify(row or ADDS, _fenced(code), LIMITS)
    return [one["message"] for one in found.fields["test_results"]]


def test_each_test_has_a_verdict() -> None:
    right = verifier.verify(ADDS, _fenced("a, b = map(int, input().split())\nprint(a + b)"), {})
    assert (right.reward, right.fields["tests_passed"], right.fields["tests_total"]) == (1.0, 2, 2)
    half = verifier.verify(ADDS, _fenced("print(3)"), {})
    assert (half.reward, half.fields["tests_passed"]) == (0.0, 1)
    assert half.fields["failure_reason"] == "wrong output: expected '10\\n', got '3\\n'"
    assert half.fields["extracted_model_code"] == "print(3)"


def test_functions_asserts_and_checks_are_tests_too() -> None:
    called = {"verifier_metadata": {"unit_tests": {"fn_name": "f", "inputs": ["[1, 2]\n3"], "outputs": ["[1, 2, 3]"]}}}
    assert verifier.verify(called, _fenced("def f(a, b):\n    return a + [b]"), {}).reward == 1.0
    method = _fenced("class Solution:\n    def f(self, a, b):\n        return a + [b]")
    assert verifier.verify(called, method, {}).reward == 1.0
    assert _messages("def g():\n    return 1", called) == ["there is no function f"]
    listed = {"test_list": ["assert f(1) == 1", "assert f(2) == 3"]}
    assert _messages("def f(x):\n    return x", listed)[1] == "AssertionError at `assert f(2) == 3`"
    checked = {
        "prompt": "import math\n\ndef f(x):\n",
        "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(4) == 2\n",
        "canonical_solution": "    return math.isqrt(x)\n",
    }
    assert verifier.verify(checked, str(verifier.gold(checked)), {}).reward == 1.0
    assert verifier.verify(checked, _fenced("return math.isqrt(x)"), {}).reward == 1.0
    assert verifier.verify(checked, _fenced("def f(x):\n    return math.isqrt(x)"), {}).reward == 1.0
    assert _messages("def f(x):\n    return x", checked) == ["AssertionError at `assert candidate(4) == 2`"]


def test_a_message_without_a_program_fails() -> None:
    found = verifier.verify(ADDS, "I would add them.", {})
    assert found.fields["failure_reason"] == "no program was found in the last message"
    assert verifier.verify(ADDS, _fenced("x = (" * 1000), LIMITS).reward == 0.0


def test_the_first_failure_has_a_code_of_the_contest_judge() -> None:
    codes = {
        "print(sum(map(int, input().split())))": [True, True],
        "print(3)": [True, -2],
        "x = input()\nwhile True:\n    pass": [-3],
        "raise ValueError": [-4],
    }
    for code, result in codes.items():
        assert verifier.verify(ADDS, _fenced(code), LIMITS).fields["result"] == result, code
    called = {"unit_tests": {"fn_name": "f", "inputs": ["1"], "outputs": ["2"]}}
    assert verifier.verify(called, _fenced("def f(x):\n    return x"), LIMITS).fields["result"] == [-2]


def test_tests_that_are_not_json_give_no_verdict() -> None:
    row = {"unit_tests": {"fn_name": "f", "inputs": ["one"], "outputs": ["2"]}}
    with pytest.raises(NoVerdict, match="not JSON"):
        verifier.verify(row, _fenced("def f(x):\n    return x"), {})


def test_tags_of_reasoning_cost_the_reward() -> None:
    session = verifier.environment({"reasoning_format_penalty": -0.25}).open(ADDS)
    answer = _fenced("print(sum(map(int, input().split())))")
    for text, reward, rate in ((answer, 1.0, 0.0), (f"<think>hm</think>{answer}", -0.25, 1.0), ("</think>", 0.0, 0.0)):
        found = asyncio.run(session.verify({"output": [message(text)]}))
        assert (found.reward, found.fields["reasoning_format_violation_rate"]) == (reward, rate)
        assert (found.fields["failure_reason"] is None) == (reward == 1.0)
