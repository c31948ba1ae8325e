"""A judge grades a short factual answer as correct (A), incorrect (B) or not attempted (C), as SimpleQA Verified does.

The grade is the letter that the judge's reply begins with, else its last line, else the first of A, B, C in it. A reply
without one gives no verdict, where NeMo Gym's `simpleqa` takes it for C.

Row
    `question`, `expected_answer`.

Config
    `judge_model`. `judge_prompt_template_fpath`: a text file with `{question}`, `{expected_answer}`, `{generation}`.
    `judge_responses_create_params`: what else goes with the judge's request.

Fields
    `extracted_answer`, `expected_answer`, `verdict` (`correct`, `incorrect`, `not_attempted`), `judge_output`, `is_correct`,
    `is_incorrect`, `is_not_attempted` (0 or 1), `failure_reason`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from blade_gym.answers import last_message, message, shown
from blade_gym.environment import Environment, Row, Verdict
from blade_gym.single_turn import Config, SingleTurn
from blade_gym.verifier_kit.judge import LONGEST_ANSWER, judge_prompt, judge_reply, no_verdict

GRADES = {"A": "correct", "B": "incorrect", "C": "not_attempted"}
_WORDS = {"CORRECT": "A", "INCORRECT": "B", "NOT ATTEMPTED": "C"}
_ALONE = re.compile(r"([ABC])(?:\W+(?:CORRECT|INCORRECT|NOT[_ ]ATTEMPTED))?|(CORRECT|INCORRECT|NOT[_ ]ATTEMPTED)")
_AROUND = " \t*_`\"'().:[]"
_NAMED = re.compile(r"\b(?i:grade)(?:\s+is)?\s*[:=]?\s*[*_`\"'(\[]*([ABC])(?=[*_`\"')\].,;:]|\s*$)", re.MULTILINE)
PLACES = ("question", "expected_answer", "generation")


def environment(config: Config) -> Environment:
    """An environment that asks the config's judge; raises RequestError where its prompt cannot be read."""
    prompt = judge_prompt(config, PLACES)

    async def judge(row: Row, output: Sequence[Row]) -> Verdict:
        answer = last_message(output).strip()
        if not answer:
            return _verdict(row, answer, said=None, verdict="not_attempted")
        places = (str(row.get("question") or ""), str(row["expected_answer"]), answer[:LONGEST_ANSWER])
        said = await judge_reply(config, prompt.format(**dict(zip(PLACES, places, strict=True))))
        return _verdict(row, answer, said=said, verdict=GRADES[grade(said)])

    return SingleTurn(judge=judge, golden=lambda row: (message(str(row["expected_answer"])),))


def grade(said: str) -> str:
    """A, B or C where the first or last line is that letter or its word alone, or else where one follows "grade".

    Raises NoVerdict for any other reply: a letter inside a sentence is no grade.
    """
    lines = [_ALONE.fullmatch(line.strip(_AROUND)) for line in said.strip().splitlines()]
    alone = {match[1] or _WORDS[match[2].replace("_", " ")] for match in (*lines[:1], *lines[-1:]) if match}
    found = alone or set(_NAMED.findall(said))
    if len(found) != 1:
        raise no_verdict(said)
    return str(found.pop())


def _verdict(row: Row, answer: str, *, said: str | None, verdict: str) -> Verdict:
    reason = None if verdict == "correct" else f"the answer is {verdict.replace('_', ' ')}"
    fields = {
        "extracted_answer": shown(answer) or None,
        "expected_answer": str(row["expected_answer"]),
        "verdict": verdict,
        "judge_output": shown(said),
        **{f"is_{name}": float(name == verdict) for name in GRADES.values()},
        "failure_reason": reason if answer else "the message is empty",
    }
    return Verdict(reward=float(verdict == "correct"), fields=fields)
