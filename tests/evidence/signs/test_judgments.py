"""Why a judge rejects a result, in its own words."""

from __future__ import annotations

from pathlib import Path

from blade.evidence.signs.all_signs import signs
from builders import load_rows, rollout


def reasons(folder: Path, *, passed: bool, judged: str) -> list[str]:
    run = load_rows(folder, [rollout("t", passed=passed, output="Two litres.", judge_output=judged)])
    return [sign.quote for sign in signs(run["t", 0]) if sign.kind == "judge:reason"]


def test_the_last_sentence_that_gives_a_reason_is_quoted_whole(tmp_path: Path) -> None:
    judged = (
        "The response names a volume. It earns 0.5 of 1.0 points because it omits the second unit. Verdict: incorrect."
    )
    assert reasons(tmp_path, passed=False, judged=judged) == [
        "It earns 0.5 of 1.0 points because it omits the second unit."
    ]


def test_a_grade_alone_is_no_reason_and_a_pass_needs_none(tmp_path: Path) -> None:
    assert reasons(tmp_path / "grade", passed=False, judged="Verdict: not correct.") == []
    judged = "It is right in all of its parts, although it does not say why."
    assert reasons(tmp_path / "pass", passed=True, judged=judged) == []
