"""An agent that a login or a CAPTCHA keeps out is not told how to hand in its answer."""

from pathlib import Path

import pytest

import blade
from blade.model.diagnosis import Diagnosis, Support
from builders import Row, rollout, write_jsonl

CLOSINGS = (
    "I was unable to finish: the site shows a CAPTCHA on every page.",
    "I could not open the report, since the archive requires a login.",
    "Access was denied by the site's bot protection, so I cannot answer.",
)


def looked_up(n: int, says: str, *, passed: bool = False) -> Row:
    return rollout(
        f"t{n}",
        passed=passed,
        output=says,
        expected_answer=f"item {n}",
        extracted_answer=f"item {n}" if passed else None,
    )


def diagnosis(folder: Path, *rows: Row) -> Diagnosis:
    found = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert found is not None
    return found


def test_what_kept_the_agent_out_is_the_finding(tmp_path: Path) -> None:
    passing = [looked_up(n, f"It is item {n}.", passed=True) for n in range(3)]
    found = diagnosis(tmp_path, *passing, *(looked_up(n + 3, says) for n, says in enumerate(CLOSINGS)))
    (one,) = found.findings
    assert (one.title, one.rollouts, one.kind) == ("A login, a CAPTCHA or a block keeps the agent out", 3, "harness")
    assert (one.support, CLOSINGS[0] in one.against) == (Support.CONSISTENT, True)


@pytest.mark.parametrize(
    "rows",
    [
        [looked_up(0, CLOSINGS[0])],
        [looked_up(n, f"I added a CAPTCHA to form {n}, as asked.") for n in range(3)],
        [looked_up(0, CLOSINGS[0], passed=True), *(looked_up(n, CLOSINGS[1]) for n in range(1, 4))],
    ],
    ids=["one rollout", "its task is a CAPTCHA", "a pass says so too"],
)
def test_other_closings_are_not(tmp_path: Path, rows: list[Row]) -> None:
    found = diagnosis(tmp_path, *rows, looked_up(9, "It is item 9.", passed=True))
    assert all(not one.id.startswith("shut-out") for one in found.findings)
