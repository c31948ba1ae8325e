"""Mathematical answers: forms that are equal pass, others fail, and none of them hangs. A judge may overrule math-verify."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from blade_gym.answers import message
from blade_gym.environment import NoVerdict, Verdict
from blade_gym.models.openai_model import OpenAIModel
from blade_gym.sandbox.worker import OutOfBounds
from blade_gym.verifiers import math_equivalence as verifier
from gym_endpoint import KEY, Endpoint, serving


@dataclass
class Judge(Endpoint):
    """Says one thing after the other; an empty one is a server's error."""

    says: list[str] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        said = self.says[len(self.bodies) - 1]
        if not said:
            return JSONResponse({"error": {"message": "out"}}, status_code=400)
        return JSONResponse({"id": "r", "object": "response", "status": "completed", "output": [message(said)]})


@pytest.fixture
def judge() -> Iterator[Judge]:
    with serving(Judge(routes=("responses",))) as endpoint:
        assert isinstance(endpoint, Judge)
        yield endpoint


def verdict(expected: str, text: str, **config: Any) -> Verdict:
    return asyncio.run(verifier.verify({"question": "[q]", "expected_answer": expected}, text, config))


def test_the_answer_is_found_and_compared() -> None:
    right = verdict("\\frac{3}{8}", "So it is $\\boxed{0.375}$.")
    assert (right.reward, right.fields["library_reward"], right.fields["failure_reason"]) == (1.0, 1.0, None)
    assert right.fields["judge_evaluations"] is None
    wrong = verdict("24", "The answer is 25 hours.")
    assert (wrong.reward, wrong.fields["extracted_answer"]) == (0.0, "25")
    assert wrong.fields["failure_reason"] == "the answer is not equivalent to the expected one"
    nothing = verdict("24", "I do not know.")
    assert (nothing.fields["extracted_answer"], nothing.fields["failure_reason"]) == (None, "no answer was found")


@pytest.mark.slow
@pytest.mark.parametrize("bomb", ["9^{9^{9^{9^9}}}", "99999999999!", "\\int_0^{10^9} x^{x^x} dx"])
def test_a_bomb_ends_in_time_without_a_pass_and_the_next_answer_is_judged(bomb: str) -> None:
    begun = time.monotonic()
    with suppress(OutOfBounds):
        assert verdict("7", f"\\boxed{{{bomb}}}", library_verifier_timeout_seconds=2).reward == 0.0
    assert time.monotonic() - begun < 30
    assert verdict("7", "\\boxed{\\sqrt{49}}", library_verifier_timeout_seconds=2).reward == 1.0


def asked(judge: Judge, expected: str, text: str, **config: Any) -> Verdict:
    model = OpenAIModel(url=judge.url, name="judge-1", key=KEY)

    async def run() -> Verdict:
        row = {"question": "[q]", "expected_answer": expected}
        try:
            return await verifier.verify(row, text, {"judge_model": model, **config})
        finally:
            await model.close()

    return asyncio.run(run())


def test_what_the_library_accepts_is_not_shown_to_the_judge(judge: Judge) -> None:
    assert asked(judge, "24", "\\boxed{24}").reward == 1.0
    assert asked(judge, "24", "\\boxed{25}", should_use_judge=False).reward == 0.0
    assert judge.bodies == []


def test_the_judge_has_to_agree_in_both_orders(judge: Judge) -> None:
    judge.says = [
        "My verdict: [[A=B]]",
        "[[A=B]], not [[A!=B]]",
        "equal [[A=B]]",
        "[[A!=B]] and not [[A=B]]",
        "[[A!=B]]",
    ]
    right = asked(judge, "an even number", "It is \\boxed{2k}", judge_responses_create_params={"temperature": 0.5})
    assert (right.reward, right.fields["library_reward"]) == (1.0, 0.0)
    labels = [call["verdict_label"] for call in right.fields["judge_evaluations"]]
    assert labels == ["[[A=B]]", "[[A=B]]"]
    first, second = (body["input"][-1]["content"] for body in judge.bodies)
    assert first.index("an even number") < first.index("2*k")
    assert second.index("2*k") < second.index("an even number")
    assert judge.bodies[0]["temperature"] == 0.5
    assert asked(judge, "an even number", "It is \\boxed{2k}").reward == 0.0
    assert asked(judge, "an even number", "It is \\boxed{2k}").reward == 0.0
    assert len(judge.bodies) == 5


@pytest.mark.parametrize("reply", ["", "They are the same, I think."])
def test_a_judge_without_a_label_gives_no_verdict(judge: Judge, reply: str) -> None:
    judge.says = [reply]
    with pytest.raises(NoVerdict):
        asked(judge, "24", "\\boxed{25}")


def test_a_judge_that_is_asked_for_and_not_there_gives_no_verdict() -> None:
    assert verdict("24", "24", should_use_judge=True).reward == 1.0
    with pytest.raises(NoVerdict, match="no judge"):
        verdict("24", "25", should_use_judge=True)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (" 24\n", True),
        ("We add 3 and 21, so \\boxed{24}.", True),
        ("The final answer is $\\boxed{24}$.", True),
        ("x = 3.5, $\\boxed{-24}$ hours, not 25", True),
        ("The final answer is \\boxed{24}. The answer is 3.5", False),
        ("The final step: \\boxed{24}", False),
        ("\\boxed{24} and \\boxed{25}", False),
        ("\\boxed{24}\\%", False),
        ("\\boxed{024}", False),
        ("The answer is 24.", False),
    ],
)
def test_plain_integers_are_told_at_sight_as_the_library_tells_them(text: str, plain: bool) -> None:
    for expected in ("24", "25", "-24"):
        told = verifier._at_sight(expected, text)
        assert (told is not None) == plain
        assert told is None or told == verifier.compare(expected, text)
