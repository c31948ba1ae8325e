"""Rollouts are read again from where they stand."""

from pathlib import Path

import pytest

from blade.ingest.reread import reread
from blade.model.errors import ArtifactError, RequestError
from builders import call, kept_places, load, load_rows, rollout, said, write_jsonl


def test_rollouts_come_in_the_order_asked_for(tmp_path: Path) -> None:
    run = load_rows(
        tmp_path, *(rollout(name, output=f"I am {name}", expected_answer=name, error="x\ny") for name in "abc")
    )
    read = reread(run, [("c", 0), ("a", 0), ("c", 0)])
    assert [str(one.key) for one in read] == ["c#0", "a#0", "c#0"]
    assert [[step.text for step in one.steps or ()] for one in read] == [["I am c"], ["I am a"], ["I am c"]]
    first = read[0]
    assert (first.expected, first.error, first.reward, first.outcome) == ("c", "x\ny", 0.0, "failed")
    assert (first.row["task_id"], first.source.line, first.key.run) == ("c", 3, run.name)


def test_rollouts_of_several_files_come_at_once(tmp_path: Path) -> None:
    for name in "ab":
        write_jsonl(
            tmp_path / f"r{name}.jsonl.gz", [rollout(f"{name}{n}", agent="x", output=f"{name}{n}") for n in range(3)]
        )
    write_jsonl(tmp_path / "ra_failures.jsonl", [rollout("a9", agent="x", output="late") | {"_ng_failure_class": "t"}])
    (run,) = load(tmp_path)
    texts = [(one.steps or (None,))[0] for one in reread(run, kept_places(run))]
    assert [step.text if step else None for step in texts] == ["a0", "a1", "a2", "late", "b0", "b1", "b2"]


def test_features_are_those_of_the_scan(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a", output=[call("f"), said("x")], stop_reason="length"))
    (read,) = reread(run, [("a", 0)])
    assert read.features is not None
    assert (read.features.calls, read.features.orphan_calls, read.features.stop) == (1, 1, "length")
    assert [step.tool for step in read.calls] == ["f"]


def test_no_trajectory_gives_no_steps(tmp_path: Path) -> None:
    run = load_rows(tmp_path, {"task_id": "a", "reward": 1})
    (read,) = reread(run, [("a", 0)])
    assert (read.steps, read.features, read.calls) == (None, None, ())


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("task-1"), rollout("task-2"), expect_repeats=2)
    with pytest.raises(RequestError, match="no task 'ask'") as caught:
        reread(run, [("ask", 0)])
    assert caught.value.hint == "tasks are called task-1, task-2"
    with pytest.raises(RequestError, match="no repeat 7") as caught:
        reread(run, [("task-1", 7)])
    assert caught.value.hint == "it has 0, 1"
    with pytest.raises(RequestError, match="task-1#1 is missing") as caught:
        reread(run, [("task-1", 1)])
    assert caught.value.hint


def test_a_file_that_has_changed_is_said(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a"), rollout("b"))
    path = tmp_path / "run.jsonl"
    for text in ("", "{}\n" * 200, path.read_text().replace("task_id", "task_idx")):
        path.write_text(text)
        with pytest.raises(ArtifactError, match="has changed since it was read") as caught:
            reread(run, [("b", 0)])
        assert caught.value.hint
    path.unlink()
    with pytest.raises(ArtifactError, match="no longer where it was"):
        reread(run, [("b", 0)])
