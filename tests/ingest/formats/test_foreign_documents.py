"""Runs in shapes of nobody's harness: records inside one JSON document, a file a rollout, a folder a rollout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.ingest.foreign_rows import records_of
from blade.model.run import Run
from ingest.formats import run_folders as make


def outcomes(run: Run) -> dict[str, str]:
    rows = run.rollouts.select("task_id", "repeat", "outcome").iter_rows()
    return {f"{task}#{repeat}": outcome for task, repeat, outcome in rows}


ALTERNATING = {"t0#0": "passed", "t1#0": "failed", "t2#0": "passed"}


@pytest.mark.parametrize(
    "document",
    [
        [{"task_id": f"t{n}", "score": 1 - n % 2} for n in range(3)],
        {"meta": {"model": "m"}, "results": {"cases": [{"id": f"t{n}", "success": n % 2 == 0} for n in range(3)]}},
        {f"t{n}": {"passed": n % 2 == 0, "log": "x"} for n in range(3)},
        {"cases": [{"name": f"t{n}", "outcome": ("passed", "failed")[n % 2]} for n in range(3)]},
        {"resolved_ids": ["t0", "t2"], "unresolved_ids": ["t1"], "submitted_ids": ["t0", "t1", "t2"], "total": 3},
        {"columns": ["example_id", "is_correct"], "data": [["t0", True], ["t1", False], ["t2", True]], "nrows": 3},
        {"model": "m", "ids": ["t0", "t1", "t2"], "said": ["yes", "no", "no"], "correct": [True, False, True]},
    ],
)
def test_records_are_found_at_any_depth(tmp_path: Path, document: object) -> None:
    assert outcomes(blade.load_run(make.write(tmp_path / "out.json", document))) == ALTERNATING


def test_trials_inside_tasks_are_repeats(tmp_path: Path) -> None:
    tasks = [{"task": f"t{n}", "pass_rate": 0.5, "trials": [{"score": 1.0}, {"score": 0.0}]} for n in range(2)]
    run = blade.load_run(make.write(tmp_path / "out.json", {"results": tasks}))
    assert outcomes(run) == {"t0#0": "passed", "t0#1": "failed", "t1#0": "passed", "t1#1": "failed"}


def test_checks_inside_a_judged_record_are_no_rollouts(tmp_path: Path) -> None:
    checks = [{"name": "relevancy", "success": True}, {"name": "faithfulness", "success": False}]
    cases = [{"name": f"t{n}", "success": n == 0, "metrics": checks} for n in range(2)]
    run = blade.load_run(make.write(tmp_path / "out.json", {"cases": cases}))
    assert outcomes(run) == {"t0#0": "passed", "t1#0": "failed"}


def test_attempts_under_their_numbers_are_repeats(tmp_path: Path) -> None:
    tasks = {f"t{n}": {"about": "x", "attempts": {"0": {"solved": n == 0}, "1": {"solved": True}}} for n in range(3)}
    run = blade.load_run(make.write(tmp_path / "out.json", {"config": {"model": "m"}, "data": tasks}))
    assert outcomes(run) == {f"t{n}#{k}": "passed" if k or not n else "failed" for n in range(3) for k in range(2)}


def test_tasks_may_stand_under_their_categories(tmp_path: Path) -> None:
    groups = {
        kind: {f"q{n}": {"prompt": f"{kind} {n}", "correct": n == 1} for n in range(4)} for kind in ("law", "math")
    }
    run = blade.load_run(make.write(tmp_path / "out.json", {"model": "m", "results": groups}))
    assert outcomes(run) == {f"{kind}/q{n}#0": "passed" if n == 1 else "failed" for kind in groups for n in range(4)}


def test_tasks_may_stand_under_the_models_that_did_them(tmp_path: Path) -> None:
    models = {name: {f"q{n}": {"correct": n == 1, "reply": "x"} for n in range(4)} for name in ("yak-8b", "gnu-70b")}
    runs = blade.analyze(make.write(tmp_path / "out.json", models)).runs
    assert [(one.run.model, one.run.tasks.height) for one in runs] == [("gnu-70b", 4), ("yak-8b", 4)]


def test_graders_under_their_names_are_no_tasks(tmp_path: Path) -> None:
    cases = {f"t{n}": {"tone": {"passed": n > 1}, "facts": {"passed": n % 2 == 0}} for n in range(5)}
    path = make.write(tmp_path / "out.json", cases)
    with pytest.raises(blade.BladeError, match=r"5 records .*--map task=task_id --map reward=tone.passed"):
        blade.load_run(path)
    verdicts = {
        name: {"passed": case["tone"]["passed"] and case["facts"]["passed"], **case} for name, case in cases.items()
    }
    run = blade.load_run(make.write(tmp_path / "whole.json", verdicts))
    assert outcomes(run) == {f"t{n}#0": "passed" if n in (2, 4) else "failed" for n in range(5)}
    assert run.rollouts.height == 5


def test_files_of_attempts_lie_in_a_folder_for_each_task(tmp_path: Path) -> None:
    for model in ("small", "large"):
        for n in range(3):
            for k in range(2):
                path = tmp_path / "all" / model / f"t{n}" / f"attempt-{k}.json"
                make.write(
                    path, {"verdict": ("pass", "fail")[(n + k) % 2], "messages": [{"role": "user", "content": "Go."}]}
                )
    runs = blade.analyze(tmp_path / "all").runs
    assert [one.run.name for one in runs] == ["large", "small"]
    assert outcomes(runs[1].run) == {f"t{n}#{k}": ("passed", "failed")[(n + k) % 2] for n in range(3) for k in range(2)}


def test_a_case_that_was_left_out_hides_no_verdict(tmp_path: Path) -> None:
    checks = [[{"title": f"line {k}", "state": "ok" if k or n else "broken"} for k in range(2 + n)] for n in range(3)]
    cases = [{"caseName": f"t{n}", "verdict": ("FAIL", "PASS", "SKIP")[n], "assertions": checks[n]} for n in range(3)]
    run = blade.load_run(make.write(tmp_path / "out.json", cases))
    assert outcomes(run) == {"t0#0": "failed", "t1#0": "passed", "t2#0": "unscored"}


def test_what_graders_wrote_is_nobody_s_speech(tmp_path: Path) -> None:
    names = ("Relevancy", "Faithfulness", "Tone")
    cases = [
        {
            "name": f"t{n}",
            "success": n == 0,
            "input": f"question {n}",
            "metrics": [
                {"name": one, "score": 1.0, "success": bool(n) <= i, "reason": f"it is so {n}{i}"}
                for i, one in enumerate(names)
            ],
        }
        for n in range(4)
    ]
    run = blade.load_run(make.write(tmp_path / "out.json", {"cases": cases}))
    assert run.rollouts["steps"].null_count() == 4
    assert run.checks.height == 12


def test_records_without_a_verdict_are_refused_with_the_mapping(tmp_path: Path) -> None:
    rows = [{"case key": f"t{n}", "marks": [{"by": "judge", "value": 1 - n % 2}]} for n in range(3)]
    path = make.write(tmp_path / "out.json", {"all": rows})
    with pytest.raises(blade.BladeError) as refused:
        blade.load_run(path)
    assert "3 records (at all.*) have no reward or score" in refused.value.message
    assert "--map 'task=case key' --map reward=marks.0.value" in refused.value.message
    assert outcomes(blade.load_run(path, field_map={"task": "case key", "reward": "marks.0.value"})) == ALTERNATING


@pytest.mark.parametrize("value", [{"lr": 0.1, "seed": 3}, {"a": {"b": 1}, "c": "d"}, [1, 2], {}, [], "text", None])
def test_what_holds_no_records_is_refused(tmp_path: Path, value: object) -> None:
    path = make.write(tmp_path / "config.json", value)
    with pytest.raises(blade.BladeError):
        blade.load_run(path)


def test_a_torn_document_is_refused(tmp_path: Path) -> None:
    path = make.write(tmp_path / "out.json", [{"task_id": "a", "score": 1}] * 3)
    path.write_text(path.read_text("utf-8")[:-20], "utf-8")
    with pytest.raises(blade.BladeError, match="one JSON array"):
        blade.load_run(path)


def test_a_summary_beside_rollouts_is_no_second_run(tmp_path: Path) -> None:
    make.write(tmp_path / "r.jsonl", '{"task_id": "a", "reward": 1}\n')
    make.write(tmp_path / "summary.json", {"tasks": [{"task_id": "a", "score": 1}]})
    run = blade.load_run(tmp_path)
    assert outcomes(run) == {"a#0": "passed"}
    assert any("may be their summary" in problem.reason for problem in run.problems)


TALK = [
    {"who": "Navigator", "utterance": "Look at the map first."},
    {"who": "Driver", "utterance": "I am driving to the place."},
    {"who": "Navigator", "utterance": "Stop here, please."},
]


def conversation(resolved: bool) -> dict[str, Any]:
    return {"resolved": resolved, "turns": TALK}


def test_a_file_is_a_rollout_and_its_speakers_keep_their_names(tmp_path: Path) -> None:
    for number in range(3):
        make.write(tmp_path / "run" / f"t{number}.json", conversation(number % 2 == 0))
    make.write(tmp_path / "run" / "settings.json", {"temperature": 0})
    run = blade.load_run(tmp_path / "run")
    assert outcomes(run) == ALTERNATING
    steps = run["t0", 0].steps or ()
    assert [(step.party, step.actor, step.text) for step in steps] == [
        ("agent", turn["who"], turn["utterance"]) for turn in TALK
    ]


def test_a_torn_file_among_them_is_listed(tmp_path: Path) -> None:
    for number in range(4):
        make.write(tmp_path / "run" / f"t{number}.json", conversation(True))
    (tmp_path / "run" / "t2.json").write_text('{"resolved": tr', "utf-8")
    run = blade.load_run(tmp_path / "run")
    assert list(outcomes(run)) == ["t0#0", "t1#0", "t3#0"]
    assert any("t2.json" in str(problem.source) for problem in run.problems)


def test_a_folder_a_task_with_its_score_in_a_file(tmp_path: Path) -> None:
    for number in range(3):
        folder = tmp_path / "run" / f"t{number}"
        make.write(folder / "score.txt", f"{1 - number % 2}\n")
        make.write(folder / "agent.log", "\x1b[31mworking\x1b[0m\n")
    run = blade.load_run(tmp_path / "run")
    assert outcomes(run) == ALTERNATING
    assert run["t0", 0].row["agent_log"] == "working"
    assert run.agent is None


def test_folders_of_attempts_are_repeats_and_folders_of_models_are_runs(tmp_path: Path) -> None:
    for task in ("a", "b"):
        for attempt in (0, 1):
            make.write(tmp_path / "run" / task / f"trial_{attempt}" / "result.json", {"score": attempt, "note": "x"})
    assert outcomes(blade.load_run(tmp_path / "run")) == {
        "a#0": "failed",
        "a#1": "passed",
        "b#0": "failed",
        "b#1": "passed",
    }
    for model in ("m1", "m2"):
        for task in ("a", "b"):
            make.write(tmp_path / "models" / model / task / "result.json", {"score": 1, "note": "x"})
    with pytest.raises(blade.BladeError, match="holds 2 runs"):
        blade.load_run(tmp_path / "models")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = make.write(tmp_path / "secret.txt", "hidden words")
    for number in range(3):
        make.write(tmp_path / "run" / f"t{number}" / "score.txt", "1")
    (tmp_path / "run" / "t0" / "notes.txt").symlink_to(secret)
    assert "hidden words" not in str(blade.load_run(tmp_path / "run")["t0", 0].row)


def test_a_document_gives_the_tables_that_its_rows_give(tmp_path: Path) -> None:
    rows = [{"task_id": f"t{n}", "score": n % 2, "output": f"says {n}"} for n in range(4)]
    document = blade.load_run(make.write(tmp_path / "a" / "out.json", rows))
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    plain = blade.load_run(make.write(tmp_path / "b" / "out.jsonl", lines))
    kept = ["task_id", "repeat", "outcome", "reward", "steps", "output_fp"]
    assert document.rollouts.select(kept).equals(plain.rollouts.select(kept))


def test_deeply_nested_values_end_the_search() -> None:
    value: Any = {"score": 1}
    for _ in range(50):
        value = [value]
    assert records_of(value) is None


def test_the_lines_of_a_folder_may_be_the_steps_of_its_trial(tmp_path: Path) -> None:
    for n in range(3):
        said = [{"role": "user", "content": f"Open door {n}."}, {"role": "assistant", "content": "It is open."}]
        make.write(tmp_path / "run" / f"t{n}" / "traj.jsonl", "".join(json.dumps(one) + "\n" for one in said))
        make.write(tmp_path / "run" / f"t{n}" / "result.txt", f"{(n + 1) % 2}.0\n")
    run = blade.load_run(tmp_path / "run")
    assert outcomes(run) == ALTERNATING
    assert [step.text for step in run["t1", 0].steps or ()] == ["It is open."]


def test_folders_of_rollouts_with_their_mean_are_runs(tmp_path: Path) -> None:
    for place in ("a", "b"):
        rows = [{"question": f"What is {n}?", "output": f"{n}", "score": n % 2} for n in range(4)]
        make.write(tmp_path / place / "rows.jsonl", "".join(json.dumps(one) + "\n" for one in rows))
        make.write(tmp_path / place / "result.txt", "0.5\n")
    assert [one.run.rollouts.height for one in blade.analyze(tmp_path).runs] == [4, 4]


def test_what_a_test_should_do_is_no_verdict(tmp_path: Path) -> None:
    specs = [
        {
            "title": f"t{n}",
            "ok": n % 2 == 0,
            "tests": [{"expectedStatus": "passed", "status": ("expected", "unexpected")[n % 2]}],
        }
        for n in range(3)
    ]
    assert outcomes(blade.load_run(make.write(tmp_path / "out.json", {"suites": [{"specs": specs}]}))) == ALTERNATING


def test_a_task_that_only_the_list_of_all_names_has_no_verdict(tmp_path: Path) -> None:
    said = {"passed": ["t0"], "failed": ["t1", "t2"], "all_tests": ["t0", "t1", "t2", "t3"]}
    run = blade.load_run(make.write(tmp_path / "out.json", said))
    assert outcomes(run) == {"t0#0": "passed", "t1#0": "failed", "t2#0": "failed", "t3#0": "unscored"}
