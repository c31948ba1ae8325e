"""One cause a task: each step by hand, through the public door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.analysis import analyze, load
from blade.ingest.labels import label_of, labels_for, read_labels, write_label
from blade.model.diagnosis import Label, TaskCause
from blade.model.errors import ArtifactError
from blade.model.finding import Cause
from blade.model.options import Options
from builders import Row, call, response, result, rollout, said, write_jsonl


def causes(folder: Path, rows: list[Row]) -> dict[str, TaskCause]:
    path = write_jsonl(folder / "rollouts.jsonl", rows)
    found = blade.analyze(path).runs[0].diagnosis
    assert found is not None
    return dict(found.causes)


def answered(task: str, repeat: int, answer: str | None, key: str = "42", **more: Any) -> Row:
    """A rollout that answers in words; it passes when the answer is the key."""
    said = f"I worked it out: the answer is {answer}."
    passed = answer == key
    return rollout(
        task, repeat=repeat, passed=passed, output=said, expected_answer=key, extracted_answer=answer, **more
    )


def test_rollouts_that_errored_are_the_machinery(tmp_path: Path) -> None:
    broken = [rollout("t", repeat=n, output=[], error="sandbox died") | {"reward": None} for n in range(2)]
    found = causes(tmp_path, [*broken, answered("t", 2, "7"), answered("u", 0, "42")])
    assert list(found) == ["t"]
    assert (found["t"].cause, found["t"].confidence) == (Cause.INFRA, "likely")
    assert found["t"].because == "2 environment failed, 1 wrong answer"
    assert found["t"].decided_by == "rule:environment-failed"


def test_an_equal_answer_that_was_rejected_is_the_tasks_fault(tmp_path: Path) -> None:
    rows = [answered("t", n, "42") | {"reward": 0.0} for n in range(2)]
    found = causes(tmp_path, rows)["t"]
    assert (found.cause, found.confidence, found.decided_by) == (Cause.TASK, "likely", "rule:correct-but-rejected")
    assert found.because == "2 correct answer rejected"


def test_what_is_nobodys_has_no_cause(tmp_path: Path) -> None:
    def session(task: str, last: str, **more: Any) -> Row:
        steps = [call("bash", '{"cmd": "make"}'), result("built"), said(last)]
        return rollout(task, repeat=0, prompt="Make it run.", output=steps, **more)

    rows = [session(f"t{n}", "", tests={"runs": False, "builds": False}) for n in range(4)]
    rows += [session(f"u{n}", "It runs.", passed=True, tests={"runs": True, "builds": True}) for n in range(6)]
    found = causes(tmp_path, rows)["t0"]
    assert (found.cause, found.because) == (None, "1 session ended on an empty reply")


def test_a_limit_is_behavior(tmp_path: Path) -> None:
    cut = response("I was just about to", status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    rows = [answered("t", n, None) | {"response": cut} for n in range(2)] + [answered("t", 2, "7")]
    found = causes(tmp_path, rows)["t"]
    assert (found.cause, found.confidence) == (Cause.BEHAVIOR, "proven")
    assert found.because == "2 cut off by the token limit, 1 wrong answer"


def test_never_passing_with_different_answers_is_knowledge(tmp_path: Path) -> None:
    rows = [answered("t", n, str(n)) for n in range(3)] + [answered("u", n, "9") for n in range(2)]
    found = causes(tmp_path, rows)
    assert (found["t"].cause, found["t"].confidence) == (Cause.KNOWLEDGE, "likely")
    assert found["t"].because == "wrong in 3 different ways; 3 wrong answer"
    # One wrong answer every time shows no lack of knowledge: all repeats may misread the task alike.
    assert (found["u"].cause, found["u"].confidence) == (None, None)


@pytest.mark.parametrize(("values", "cause"), [((3, 3, 3), None), ((3, 3, 4), Cause.KNOWLEDGE)])
def test_outputs_that_fail_with_one_value_are_wrong_in_one_way(
    tmp_path: Path, values: tuple[int, ...], cause: Cause | None
) -> None:
    def graded(value: int) -> list[Row]:
        words = f"AssertionError: assert {value} == 14"
        return [{"name": "test_a", "passed": False, "message": words}, {"name": "test_b", "passed": True}]

    rows = [
        rollout(
            "t", repeat=n, output="Done.", model_patch=f"diff --git a/f{n} b/f{n}\n+{n}\n", test_results=graded(value)
        )
        for n, value in enumerate(values)
    ]
    others = [rollout(f"p{n}", passed=True, test_results=[{"name": "test_b", "passed": True}]) for n in range(3)]
    assert causes(tmp_path, [*rows, *others])["t"].cause == cause


def test_a_habit_and_a_slip_tie_as_a_slip(tmp_path: Path) -> None:
    due = [{"name": "set_date", "kwargs": {"order_id": "HG123456", "date": "2026-05-01"}}]

    def done(*calls: dict[str, str]) -> Row:
        items = []
        for n, arguments in enumerate(calls):
            call = {"type": "function_call", "name": "set_date", "call_id": f"c{n}", "arguments": json.dumps(arguments)}
            items += [call, {"type": "function_call_output", "call_id": f"c{n}", "output": "{}"}]
        return response("Done.") | {"output": [*items, *response("Done.")["output"]]}

    right, wrong = ({"order_id": "HG123456", "date": f"2026-05-0{day}"} for day in (1, 2))
    other = {"order_id": "HG654321", "date": "2026-05-01"}
    wished = "Order HG123456, to 2026-05-01."
    ways = [(right,), (right, other), (wrong,)]
    rows = [
        rollout("t", repeat=n, passed=not n, prompt=wished, expected_actions=due, response=done(*calls))
        for n, calls in enumerate(ways)
    ]
    found = causes(tmp_path, rows)["t"]
    assert found.cause is Cause.UNRELIABLE
    assert found.because.startswith("passes 1 of 3; ")


def test_what_another_run_passes_is_knowledge(tmp_path: Path) -> None:
    mine = [answered(f"t{n}", 0, "7", prompt=f"question {n}", model="a") for n in range(3)]
    other = [answered(f"t{n}", 0, "42", prompt=f"question {n}", model="b") for n in range(3)]
    paths = [write_jsonl(tmp_path / f"{name}.jsonl", rows) for name, rows in (("a", mine), ("b", other))]
    analysis = blade.analyze(*paths)
    found = next(one for one in analysis.runs if one.run.name == "a").diagnosis
    assert found is not None
    assert {(cause.cause, cause.confidence) for cause in found.causes.values()} == {(Cause.KNOWLEDGE, "likely")}


def test_sometimes_passing_is_unreliable(tmp_path: Path) -> None:
    found = causes(tmp_path, [answered("t", 0, "42"), answered("t", 1, "7")])["t"]
    assert (found.cause, found.confidence) == (Cause.UNRELIABLE, "likely")
    assert found.because == "passes 1 of 2; 1 wrong answer"


def test_what_nothing_settles_is_null_with_the_reason(tmp_path: Path) -> None:
    found = causes(tmp_path, [rollout("t", repeat=0, output="something"), rollout("u", repeat=0, passed=True)])["t"]
    assert (found.cause, found.confidence) == (None, None)
    assert found.because == "nothing in these files decides it"
    bare = causes(tmp_path, [{"task_id": "t", "reward": 0.0}, {"task_id": "u", "reward": 1.0}])["t"]
    assert bare.because == "nothing in these files decides it"


def test_a_task_without_rows_is_the_harnesss(tmp_path: Path) -> None:
    inputs = [{"_ng_task_index": n, "_ng_rollout_index": 0, "expected_answer": "1"} for n in range(2)]
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", inputs)
    path = write_jsonl(tmp_path / "run.jsonl", [rollout(index=0, repeat=0, passed=True, expected_answer="1")])
    found = blade.analyze(path).runs[0].diagnosis
    assert found is not None
    assert [(cause.cause, cause.because) for cause in found.causes.values()] == [
        (Cause.INFRA, "1 rollout missing from the files")
    ]


def test_a_person_overrules_the_rules_and_is_scored_against_them(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [answered("t", 0, "42"), answered("t", 1, "7"), answered("u", 0, "3")])
    run = blade.load_run(path)
    labels = tmp_path / "labels.jsonl"
    write_label(labels, label_of(run, "t", Cause.DATA, "first thought"))
    assert write_label(labels, label_of(run, "t", Cause.TASK, "the key is wrong")) == 1
    one = analyze([run], Options(labels=read_labels(labels))).runs[0]
    assert one.diagnosis is not None
    cause = one.diagnosis.causes["t"]
    assert (cause.cause, cause.because, cause.decided_by) == (Cause.TASK, "the key is wrong", "person")
    assert cause.rules_said is Cause.UNRELIABLE
    assert one.diagnosis.causes["u"].decided_by != "person"
    score = one.metrics.scores[-1]
    assert (score.name, score.n_tasks, score.value) == ("suspects_excluded", 1, 0.0)


def test_labels_are_carried_to_other_runs_by_what_the_task_is(tmp_path: Path) -> None:
    first = load([str(write_jsonl(tmp_path / "a.jsonl", [answered("t", 0, "7", question="how many?")]))], Options())[0]
    rows = [answered("t", 0, "7", question="how many?"), answered("u", 0, "7", question="how few?")]
    second = load([str(write_jsonl(tmp_path / "b.jsonl", rows))], Options())[0]
    label = label_of(first, "t", Cause.TASK, "")
    assert list(labels_for(second, [label])) == ["t"]
    other = Label(task_id="t", cause=Cause.TASK, key_fp=1)
    assert labels_for(second, [other]) == {}


@pytest.mark.parametrize("line", ["[]", '{"task_id": "t"}', '{"task_id": "t", "cause": "magic"}', "no json"])
def test_a_bad_label_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"task_id": "a", "cause": "task"}) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"labels\.jsonl:2 is no label"):
        read_labels(path)


def test_suspects_are_left_out_on_request(tmp_path: Path) -> None:
    rows = [answered("t", n, "42") | {"reward": 0.0} for n in range(2)] + [answered("u", n, "42") for n in range(2)]
    runs = load([str(write_jsonl(tmp_path / "run.jsonl", rows))], Options())
    one = analyze(runs, Options(exclude=("suspect",))).runs[0]
    assert one.run.excluded == ("suspect (2 rollouts)",)
    assert one.metrics.measures["pass_at_1"].value == 1.0


def test_what_a_rule_over_runs_names_is_left_out_by_its_code(tmp_path: Path) -> None:
    rows = [answered("t", n, "42") | {"reward": 0.0} for n in range(2)] + [answered("u", n, "42") for n in range(2)]
    runs = load([str(write_jsonl(tmp_path / "run.jsonl", rows))], Options())
    assert analyze(runs, Options(exclude=("code:TSK003",))).runs[0].run.excluded == ("code:TSK003 (2 rollouts)",)
