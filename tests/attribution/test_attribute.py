"""One attribution a rollout: rows to modes through the public door, and what holds of every table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blade
from blade.attribution.attribute import attributed
from blade.attribution.collect import OtherRun, Tally
from blade.comparison.ledger import classify
from blade.model.attribution import ATTRIBUTIONS, UNATTRIBUTED, Stage
from blade.modes.catalog import by_code
from blade.stats.rollout_index import index_rollouts
from builders import Row, call, response, result, rollout, said, write_jsonl
from one_table import check_findings


def table(folder: Path, *rows: Row) -> pl.DataFrame:
    return attributed(index_rollouts(blade.load_run(write_jsonl(folder / "run.jsonl", rows)))).table


def did(*calls: tuple[str, Row]) -> list[Row]:
    """A trajectory of calls that succeed."""
    items: list[Row] = []
    for place, (tool, arguments) in enumerate(calls):
        items += [call(tool, json.dumps(arguments), f"c{place}"), result("ok", f"c{place}")]
    return [*items, said("done")]


def want(*calls: tuple[str, Row]) -> list[Row]:
    return [{"name": tool, "kwargs": arguments} for tool, arguments in calls]


SET, PAY, LOOK = ("set", {"a": 1, "b": 2}), ("pay", {"n": 1}), ("get_order", {"id": "x"})
OTHER_SET = ("set", {"a": 1, "b": 9})
CLICK = {"name": "click", "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}}
HELD = [{"name": f"held {n}", "passed": True} for n in range(3)]
THOUGHT = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]


def checks(*failing: str) -> list[Row]:
    return [*({"name": name, "passed": False} for name in failing), *HELD]


ROWS: list[tuple[str, Row]] = [
    ("provider-failed", {"error": "APIConnectionError: connection reset by peer"}),
    ("no-verdict", {"reward_info": None}),
    ("no-verdict", {"judge_evaluations": [{"verdict_label": None}]}),
    ("grader-did-not-run", {"verifier_error": "the grader could not be started"}),
    ("grader-crashed", {"verifier_error": "the grader raised an exception and stopped"}),
    ("refused", {"verdict": "not_attempted", "expected_answer": "4"}),
    ("judged-wrong", {"judge_output": "I read it twice and it leaves out the second half of what was asked."}),
    ("memory-limit", {"memory_limit_exceeded": True}),
    ("token-limit", {"stop_reason": "max_output_tokens"}),
    ("step-limit", {"stop_reason": "max_turns"}),
    ("time-limit", {"agent_timed_out": True}),
    ("too-slow", {"test_results": [{"name": "slow", "passed": False, "error": "Time limit exceeded (2 s)"}]}),
    ("no-agent-output", {"response": response("")}),
    ("output-missing", {"response": response(THOUGHT)}),
    ("output-missing", {"pred": None, "expected_answer": "4", "response": response("Well, hm.")}),
    ("wrong-format", {"pred": None, "expected_answer": "4", "response": response("So \\boxed{4}")}),
    ("several-answers", {"pred": "A or B", "expected_answer": "A"}),
    ("action-extra", {"expected_actions": [], "response": response(did(PAY))}),
    ("action-missing", {"expected_actions": want(PAY), "response": response(did(LOOK))}),
    ("no-action", {"expected_actions": want(PAY), "response": response("I will look into it.")}),
    ("wrong-argument", {"expected_actions": want(SET), "response": response(did(OTHER_SET))}),
    ("partial-actions", {"expected_actions": want(SET, PAY), "response": response(did(SET))}),
    ("action-extra", {"expected_actions": want(SET), "response": response(did(SET, PAY))}),
    ("several-action-errors", {"expected_actions": want(SET), "response": response(did(OTHER_SET, PAY))}),
    ("statement-missing", {"expected_actions": [], "expected_outputs": ["327"], "response": response("No.")}),
    ("correct-but-rejected", {"pred": "4", "expected_answer": "4"}),
    ("wrong-answer", {"pred": "5", "expected_answer": "4"}),
    ("wrong-answer", {"pred": "It fell in 1989, they say.", "expected_answer": "1989"}),
    ("all-checks-failed", {"test_results": [False, False]}),
    ("one-check-failed", {"checks": checks("only here")}),
    ("some-checks-failed", {"checks": checks("here", "and here")}),
    (
        "malformed-arguments",
        {"responses_create_params": {"input": "click", "tools": [CLICK]}, "response": response([call("click")])},
    ),
    (UNATTRIBUTED, {}),
]
"""Failed rows with the mode that each has, among others that pass."""
PASSES: list[Row] = [
    rollout(
        f"p{n}",
        passed=True,
        pred="4",
        expected_answer="4",
        reward_info={"total": n},
        judge_evaluations=[{"verdict_label": "A=B"}],
        expected_actions=want(("pay", {"n": n})) if n else [],
        output=did(("pay", {"n": n})) if n else [said("Nothing to do.")],
    )
    for n in range(7)
]


def made(task: str, row: Row, repeat: int | None = None) -> Row:
    """A rollout of the task with these fields; it says something unless they say what."""
    given: dict[str, Any] = {"output": "well"} | row
    return rollout(task, repeat=repeat, **given)


@pytest.mark.parametrize(("mode", "row"), ROWS, ids=[f"{mode}-{n}" for n, (mode, _) in enumerate(ROWS)])
def test_a_row_has_its_mode(tmp_path: Path, mode: str, row: Row) -> None:
    others = [other for other in PASSES if row.get("expected_actions") != [] or other["task_id"] != "p0"]
    found = table(tmp_path, made("t", row), *others)
    mine = found.row(by_predicate=pl.col("task_id") == "t", named=True)
    assert mine["mode"] == mode, (mine["mode"], mine["contrast"])


def some_rows() -> st.SearchStrategy[list[Row]]:
    """Rollouts of a few tasks: passes, failures of every kind, errors, rows without a verdict."""
    broken: list[Row] = [{"reward": None}, {"reward": None, "error": "sandbox died"}, {"reward": 1.0}]
    one = st.one_of(st.sampled_from([row for _, row in ROWS]), st.sampled_from(broken))
    return st.lists(st.tuples(st.integers(0, 3), one), min_size=1, max_size=12).map(
        lambda drawn: [made(f"t{task}", row, n) for n, (task, row) in enumerate(drawn)]
    )


@settings(max_examples=15, deadline=None)
@given(some_rows())
def test_every_table_holds_together(rows: list[Row]) -> None:
    with TemporaryDirectory() as folder:
        path = write_jsonl(Path(folder) / "run.jsonl", [*rows, *PASSES])
        analysis = blade.analyze(path)
        rest = blade.analyze(path, exclude=["infra"])
    one, found = analysis.runs[0], analysis.attributions
    lost = found.filter(pl.col("outcome") != "passed")
    assert found.columns == list(ATTRIBUTIONS)
    assert lost["mode"].null_count() == 0
    assert found.filter(pl.col("outcome") == "passed")["mode"].null_count() == found.height - lost.height
    assert one.diagnosis is not None
    assert sum(mode.rollouts for mode in one.diagnosis.partition.modes) == lost.height
    for row in lost.iter_rows(named=True):
        assert row["confidence"] != "proven" or row["evidence"] or row["contrast"], row
        assert (row["confidence"] is None) == (row["mode"] == UNATTRIBUTED)
        assert row["party"] != "agent" or row["mode"] in by_code()
    _infra_is_one_set(one, found, rest.attributions)
    check_findings(one)


def _infra_is_one_set(one: Any, found: pl.DataFrame, rest: pl.DataFrame) -> None:
    """Scores, funnel, causes and `--exclude infra` agree on which rollouts are infrastructure."""
    infra = found.filter("infra")
    judged = found.filter(pl.col("outcome").is_in(["passed", "failed"]) & ~pl.col("infra")).height
    score = next(score for score in one.metrics.scores if score.name == "infra_excluded")
    assert score.n_rollouts == judged
    assert rest.height == found.height - infra.height
    assert not rest["infra"].any()
    graded = next(stage.rollouts for stage in one.metrics.funnel.stages if stage.name == "graded")
    assert graded <= found.height - infra.height
    _comparison_agrees(one, found)
    for task in infra["task_id"].unique():
        mine = found.filter((pl.col("task_id") == task) & (pl.col("outcome") != "passed"))
        if mine["infra"].all():
            assert one.diagnosis.causes[task].cause in ("infra", "task")


def _comparison_agrees(one: Any, found: pl.DataFrame) -> None:
    """Where a run is compared with itself, both sides put what is infrastructure or has no verdict into one class."""
    pairs = tuple((task, task) for task in dict.fromkeys(found["task_id"]))
    cells = classify((one.run, one.run), pairs, one.metrics.headline, 0.0, (found, found)).table
    broken = found.filter(
        (pl.col("infra") | pl.col("outcome").is_in(["errored", "unscored"])) & (pl.col("outcome") != "missing")
    )
    assert cells.filter(pl.col("class") == 1)["side"].value_counts().sort("side")["count"].to_list() == (
        [broken.height] * 2 if broken.height else []
    )


def test_an_errored_a_missing_and_an_unscored_rollout_each_have_a_mode_and_a_stage(tmp_path: Path) -> None:
    inputs = [{"_ng_task_index": n, "_ng_rollout_index": 0, "expected_answer": "1"} for n in range(4)]
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", inputs)
    rows = [
        rollout(index=0, repeat=0, passed=True, expected_answer="1"),
        rollout(index=1, repeat=0, error="sandbox died", output=[]) | {"reward": None},
        rollout(index=2, repeat=0, output="hm") | {"reward": None},
    ]
    found = table(tmp_path, *rows).sort("mode")
    assert found.select("mode", "stage").rows() == [
        (None, Stage.PASSED),
        ("environment-failed", Stage.NOT_RUN),
        ("missing-row", Stage.NOT_RUN),
        ("no-verdict", Stage.AGENT_FINISHED),
    ]
    assert found["infra"].to_list() == [False, True, True, True]


def test_no_output_is_evidence_only_beside_rollouts_that_have_some(tmp_path: Path) -> None:
    silent = rollout("t", output=[])
    alone = table(tmp_path, silent, rollout("u", passed=True, output="ok"))
    assert alone.row(0, named=True)["mode"] == UNATTRIBUTED
    many = table(tmp_path, silent, *(rollout(f"u{n}", passed=n > 1, output="ok") for n in range(9)))
    mine = many.row(by_predicate=pl.col("task_id") == "t", named=True)
    assert (mine["mode"], mine["confidence"]) == ("no-agent-output", "proven")
    assert mine["contrast"] == "no output here; 9 of 9 other rollouts of this run have some"


def test_the_agent_is_charged_for_sure_only_where_somebody_passes(tmp_path: Path) -> None:
    rows = [rollout("t", repeat=0, pred="5", expected_answer="4"), rollout("u", repeat=0, passed=True, pred="4")]
    run = blade.load_run(write_jsonl(tmp_path / "r.jsonl", rows))
    elsewhere = OtherRun(name="other", passed=frozenset({"t"}), tallies={"t": Tally()})
    for others, sure in (((), "likely"), ((elsewhere,), "proven")):
        found = attributed(index_rollouts(run), others).table.row(by_predicate=pl.col("task_id") == "t", named=True)
        assert (found["mode"], found["confidence"]) == ("wrong-answer", sure)


def test_two_processes_and_hash_seeds_write_the_same_bytes(tmp_path: Path) -> None:
    rows = [made(f"t{n % 5}", row, n) for n, (_, row) in enumerate(ROWS)]
    path = write_jsonl(tmp_path / "run.jsonl", [*rows, *PASSES])
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        program = f"import blade; blade.analyze({str(path)!r}).save({str(out)!r})"
        subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | {"PYTHONHASHSEED": seed})
        written.append([p.read_bytes() for p in sorted(out.rglob("*")) if p.suffix in (".md", ".json", ".jsonl")])
        written[-1] += [next(out.rglob("attributions.parquet")).read_bytes()]
    assert written[0] == written[1]


def test_sql_and_python_give_the_same_table(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [rollout("t", pred="5", expected_answer="4"), *PASSES])
    analysis = blade.analyze(path)
    analysis.save(tmp_path / "out")
    stored = pl.read_parquet(tmp_path / "out" / analysis.runs[0].run.name / "attributions.parquet")
    assert stored.equals(analysis.attributions)


@pytest.mark.parametrize(
    ("words", "sure"), [("Nothing is done yet.", "proven"), ("The booking cannot be undone.", "likely")]
)
def test_an_action_that_is_declined_is_not_proven_to_be_the_agents_fault(tmp_path: Path, words: str, sure: str) -> None:
    due = ("cancel_booking", {"id": "JG7"})
    rows = [rollout("q", repeat=n, passed=True, output=did(due), expected_actions=want(due)) for n in range(3)]
    lost = rollout("q", repeat=3, output=[*did(LOOK), said(words)], expected_actions=want(due))
    mine = table(tmp_path, lost, *rows).filter(pl.col("repeat") == 3)
    assert mine.select("mode", "confidence").rows() == [("action-missing", sure)]
    assert [one["quote"] for one in mine["evidence"][0]] == ([words] if sure == "likely" else [])


def test_a_judge_that_says_why_is_quoted(tmp_path: Path) -> None:
    why = "Query A keeps one row of each category, while the other keeps all rows that tie."
    lost = made("t", {"judge_output": f"I compared both.\n{why}\n\nVerdict: no", "extracted_answer": "SELECT 1"})
    mine = table(tmp_path, lost, *PASSES).filter(pl.col("task_id") == "t")
    assert mine["mode"].to_list() == ["judged-wrong"]
    assert [(one["quote"], one["field"]) for one in mine["evidence"][0]] == [(why, "judge_output")]


def test_keys_that_stand_in_the_inputs_are_compared_as_those_of_the_rows(tmp_path: Path) -> None:
    due = ("cancel_booking", {"id": "JG7FMM"})
    rows = [
        {
            "_ng_task_index": task,
            "_ng_rollout_index": 0,
            "reward": float(task > 0),
            "response": response(did(call_made)),
        }
        for task, call_made in [(0, ("cancel_booking", {"id": "ZZ8XYQ"})), *((n, due) for n in range(1, 6))]
    ]
    inputs = [
        {"_ng_task_index": task, "_ng_rollout_index": 0, "expected_actions": want(due), "responses_create_params": {}}
        for task in range(6)
    ]
    write_jsonl(tmp_path / "run_rollouts_materialized_inputs.jsonl", inputs)
    run = blade.load_run(write_jsonl(tmp_path / "run_rollouts.jsonl", rows))
    mine = attributed(index_rollouts(run)).table.filter(pl.col("task_id") == "0")
    assert mine["mode"].to_list() == ["wrong-object"]
    assert [one["quote"] for one in mine["evidence"][0]] == ['"id": "ZZ8XYQ"']
