"""Passes of tasks whose prompt states the expected answer are listed among those to doubt."""

from __future__ import annotations

from pathlib import Path

from blade import analysis as pipeline
from blade.model.options import Options
from builders import rollout, write_jsonl

ALONE = Options(workers=1)


def test_a_pass_whose_prompt_gives_the_answer_away_is_doubted(tmp_path: Path) -> None:
    rows = [
        rollout(
            f"t{task}",
            repeat=repeat,
            passed=repeat > 0,
            prompt=f"Find code {task}." + (f" The correct answer is QX-778{task}." if task == 3 else ""),
            expected_answer=f"QX-778{task}",
            extracted_answer=f"QX-778{task}" if repeat else "none found",
        )
        for task in range(6)
        for repeat in range(3)
    ]
    run = pipeline.analyze(pipeline.load([str(write_jsonl(tmp_path / "r.jsonl", rows))], ALONE), ALONE).runs[0]
    assert run.diagnosis is not None
    found = run.diagnosis.passes_to_doubt
    assert [one.location for one in found] == ["t3#1", "t3#2"]
    assert {one.why for one in found} == {"the prompt states the expected answer"}
    assert found[0].evidence is not None
    assert "The correct answer is QX-7783" in found[0].evidence.quote
