"""A judge compares an answer with the expected one by a prompt of the benchmark, and closes with one of two labels.

The label that comes first in the judge's reply counts. A reply without either gives no verdict, where NeMo Gym's
`equivalence_llm_judge` gives 0; an empty answer is wrong without asking. What that server can do besides (patterns that cut
the question or the answer, a second pass with both swapped) is refused, not passed over.

Row
    `expected_answer`. The question is the last message of the user in `responses_create_params.input`.

Config
    `judge_model`. `judge_prompt_template_fpath`: a text file with `{question}`, `{expected_answer}`, `{generated_answer}`.
    `judge_equal_label`, `judge_not_equal_label`: default `[[A=B]]`, `[[A!=B]]`. `judge_system_message`: default none.
    `judge_responses_create_params`: what else goes with the judge's request. `use_per_record_regex: false`: patterns of rows
    are passed over.

Fields
    `extracted_answer`, `expected_answer`, `judge_output`, `verdict` (the label), `failure_reason`.
"""

from __future__ import annotations

from collections.abc import Sequence

from blade.model.errors import RequestError
from blade_gym.answers import last_message, message, shown
from blade_gym.environment import Environment, NoVerdict, Row, Verdict
from blade_gym.single_turn import Config, SingleTurn
from blade_gym.verifier_kit.judge import LONGEST_ANSWER, judge_prompt, judge_reply, last_question, no_verdict

PLACES = ("question", "expected_answer", "generated_answer")
UNMET = ("question_extract_regex", "response_extract_regex", "check_twice_swap", "check_full_generation_on_fail")


def environment(config: Config) -> Environment:
    """An environment that asks the config's judge; raises RequestError where its settings cannot be met."""
    prompt = judge_prompt(config, PLACES)
    unmet = [name for name in UNMET if config.get(name)]
    if unmet:
        raise RequestError(f"this judge does not know {', '.join(unmet)}", hint="leave them out, or set them to null")

    async def judge(row: Row, output: Sequence[Row]) -> Verdict:
        if (row.get("template_metadata") or {}).get("output_regex") and config.get("use_per_record_regex") is not False:
            raise NoVerdict("the row brings a pattern for its answer", failure_class="skipped", terminal=True)
        answer = last_message(output).strip()
        if not answer:
            return _verdict(row, answer, said=None, label=None, reason="the message is empty")
        places = (last_question(row), str(row["expected_answer"]), answer[:LONGEST_ANSWER])
        said = await judge_reply(config, prompt.format(**dict(zip(PLACES, places, strict=True))))
        equal, other = labels(config)
        label = first_label(said, equal, other)
        return _verdict(
            row, answer, said=said, label=label, reason=None if label == equal else "the judge says not equal"
        )

    return SingleTurn(judge=judge, golden=lambda row: (message(str(row["expected_answer"])),))


def labels(config: Config) -> tuple[str, str]:
    """What the judge writes for equal, and for not equal."""
    return str(config.get("judge_equal_label") or "[[A=B]]"), str(config.get("judge_not_equal_label") or "[[A!=B]]")


def first_label(said: str, *known: str) -> str:
    """The label that stands first; raises NoVerdict where none does."""
    found = [(said.find(label), label) for label in known if label in said]
    if not found:
        raise no_verdict(said)
    return min(found)[1]


def _verdict(row: Row, answer: str, *, said: str | None, label: str | None, reason: str | None) -> Verdict:
    fields = {
        "extracted_answer": shown(answer) or None,
        "expected_answer": str(row["expected_answer"]),
        "judge_output": shown(said),
        "verdict": label,
        "failure_reason": reason,
    }
    return Verdict(reward=float(reason is None), fields=fields)
