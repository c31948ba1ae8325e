"""A rollout that nobody judged is not put down to what was handed in, and the report says who gave no verdict."""

from pathlib import Path
from typing import Any

import pytest

import blade
from blade.model.diagnosis import Diagnosis
from builders import Row, rollout, write_jsonl

ASKED = {"responses_create_params": {"input": "Compare."}}
REPLY = {
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Equal: NO"}]}]
}
THOUGHT = {"output": [{"type": "reasoning", "summary": []}], "incomplete_details": {"reason": "max_output_tokens"}}
CRITERIA = [{"criterion": f"names item {n}", "verdict": "NO", "score": 0.0} for n in range(3)]
NO_JUDGMENT = [{"criterion": f"names item {n}", "verdict": None, "score": None} for n in range(3)]


def judged(n: int, *, passed: bool = False, **said: Any) -> Row:
    return rollout(
        f"t{n}",
        passed=passed,
        prompt=f"Item {n}?",
        output=f"It is {n + 1}.",
        expected_answer=str(n),
        extracted_answer=str(n + 1),
        **said,
    )


def diagnosis(folder: Path, *rows: Row) -> Diagnosis:
    found = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert found is not None
    return found


def modes(found: Diagnosis) -> dict[str, int]:
    return {mode.id: mode.rollouts for mode in found.partition.modes}


@pytest.mark.parametrize(
    ("decided", "no-verdict"),
    [
        (
            {"judge_evaluations": [{**ASKED, "verdict_label": "[[A!=B]]"}]},
            {"judge_evaluations": [{**ASKED, "verdict_label": None}]},
        ),
        ({"judge_evaluation": {**ASKED, "response": REPLY}}, {"judge_evaluation": {**ASKED, "response": None}}),
        (
            {"judge_evaluations": [{**ASKED, "response": REPLY}]},
            {"judge_evaluations": [{**ASKED, "response": THOUGHT}]},
        ),
        ({"judge_response": REPLY}, {"judge_response": THOUGHT}),
        ({"rubric_evaluations": CRITERIA}, {"rubric_evaluations": NO_JUDGMENT, "num_passed": 0, "num_total": 3}),
    ],
    ids=["label", "no reply", "cut off", "the only reply", "rubric"],
)
def test_a_judge_without_a_verdict_is_called_that(tmp_path: Path, decided: Row, undecided: Row) -> None:
    found = diagnosis(
        tmp_path, *(judged(n, **decided) for n in range(6)), *(judged(n, **undecided) for n in range(6, 9))
    )
    assert modes(found)["no-verdict"] == 3
    mine = next(one for one in found.findings if one.id.startswith("no-verdict"))
    assert "3 rollouts in 3 tasks have a judge that came to no verdict" in mine.what
    assert all("t6" not in one.task_ids for one in found.findings if one is not mine)


def test_one_criterion_without_a_verdict_leaves_the_others_standing(tmp_path: Path) -> None:
    rows = [judged(n, rubric_evaluations=[*CRITERIA, *NO_JUDGMENT[:1]]) for n in range(6)]
    assert "no-verdict" not in modes(diagnosis(tmp_path, *rows))


def test_a_harness_that_never_fills_in_the_verdict_says_nothing_by_that(tmp_path: Path) -> None:
    rows = [judged(n, judge_evaluations=[{**ASKED, "verdict_label": None}]) for n in range(6)]
    assert "no-verdict" not in modes(diagnosis(tmp_path, *rows))


def test_a_judge_that_was_cut_off_makes_no_refusal(tmp_path: Path) -> None:
    rows = [judged(n, passed=True, is_refusal=False, judge_incomplete=False) for n in range(4)]
    rows += [judged(n, is_refusal=True, judge_incomplete=n > 5) for n in range(4, 8)]
    found = diagnosis(tmp_path, *rows)
    assert modes(found) == {"refused": 2, "grader-crashed": 2}
    mine = next(one for one in found.findings if one.id.startswith("no-verdict"))
    assert "have the verifier's own word that it failed" in mine.what


def test_a_judge_that_only_gives_a_label_leaves_the_answer_to_be_shown(tmp_path: Path) -> None:
    label = {"output": [{"type": "message", "role": "assistant", "content": [{"text": "[[A!=B]]"}]}]}
    rows = [
        rollout(
            f"t{n}",
            output="So it is.",
            expected_answer=f"x^{n}/{n}",
            extracted_answer=f"y^{n}/3",
            judge_evaluations=[{**ASKED, "response": label}],
        )
        for n in range(3)
    ]
    (one,) = diagnosis(tmp_path, *rows).findings
    assert one.against == "t0#0; it answers `y^0/3`."
