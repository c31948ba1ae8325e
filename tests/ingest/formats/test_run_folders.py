"""Folders of runs as harnesses leave them: their own numbers, their steps, and what happens to broken ones."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import blade
from blade.model.errors import ArtifactError
from blade.model.run import Run
from ingest.formats import run_folders as make


def outcomes(run: Run) -> dict[str, str]:
    rows = run.rollouts.select("task_id", "repeat", "outcome").iter_rows()
    return {f"{task}#{repeat}": outcome for task, repeat, outcome in rows}


def problems(run: Run) -> str:
    return "\n".join(f"{one.source}: {one.reason}" for one in run.problems)


def test_a_terminal_bench_run_has_its_own_number_of_resolved_trials(tmp_path: Path) -> None:
    run = blade.load_run(make.terminal_bench(tmp_path / "run", {"a": [True, False], "b": [None, True]}))
    assert outcomes(run) == {"a#0": "passed", "a#1": "failed", "b#0": "unscored", "b#1": "passed"}
    assert (run.model, run.agent, run.benchmark) == ("lab/small-model", "some-agent", "terminal-bench")


def test_a_session_in_a_terminal_that_wraps_becomes_steps(tmp_path: Path) -> None:
    run = blade.load_run(make.terminal_bench(tmp_path / "run", {"a": [True]}))
    steps = run["a", 0].steps or ()
    assert [(step.party, step.kind, step.tool) for step in steps] == [
        ("agent", "message", None),
        ("agent", "call", "Bash"),
        ("tool", "result", "Bash"),
        ("agent", "message", None),
    ]
    assert steps[2].text == "one two   " * 30
    assert steps[3].text == "a works now."


def test_what_git_lfs_left_out_is_evidence_that_is_not_here(tmp_path: Path) -> None:
    run = blade.load_run(make.terminal_bench(tmp_path / "run", {"a": [True]}))
    assert "agent.log: it is a Git LFS pointer, and its content is not here" in problems(run)


def test_a_summary_that_disagrees_with_a_trial_is_told_with_both_figures(tmp_path: Path) -> None:
    folder = make.terminal_bench(tmp_path / "run", {"a": [True], "b": [False]})
    path = next((folder / "b").glob("*/results.json"))
    path.write_text(path.read_text("utf-8").replace('"is_resolved": false', '"is_resolved": true'), "utf-8")
    run = blade.load_run(folder)
    assert outcomes(run)["b#0"] == "passed"
    assert "says is_resolved True, that of the run False" in problems(run)


def test_a_trial_that_only_the_summary_knows_is_a_rollout(tmp_path: Path) -> None:
    folder = make.terminal_bench(tmp_path / "run", {"a": [True], "b": [False]})
    shutil.rmtree(folder / "b")
    assert outcomes(blade.load_run(folder)) == {"a#0": "passed", "b#0": "failed"}


def test_a_task_that_the_run_should_have_and_has_not_is_missing(tmp_path: Path) -> None:
    folder = make.terminal_bench(tmp_path / "run", {"a": [True], "b": [False]})
    shutil.rmtree(folder / "b")
    summary = json.loads((folder / "results.json").read_text("utf-8"))
    make.write(folder / "results.json", summary | {"results": summary["results"][:1]})
    assert outcomes(blade.load_run(folder)) == {"a#0": "passed", "b#0": "missing"}


def test_a_harbor_job_is_one_run_with_the_rewards_of_its_trials(tmp_path: Path) -> None:
    make.harbor_trial(tmp_path / "job", "a", 1.0)
    make.harbor_trial(tmp_path / "job", "b", 0.0)
    make.harbor_trial(tmp_path / "job", "c", None, error="VerifierTimeoutError")
    run = blade.load_run(tmp_path / "job")
    assert outcomes(run) == {"a#0": "passed", "b#0": "failed", "c#0": "errored"}
    assert run.model == "small-model"
    steps = [(step.kind, step.text or step.arguments, step.answers) for step in run["a", 0].steps or ()]
    assert steps == [
        ("message", "Both.", None),
        ("call", '{"path":"a"}', None),
        ("call", '{"path":"b"}', None),
        ("result", "is a", 1),
        ("result", "is b", 2),
        ("message", "Done.", None),
    ]


def test_what_the_verifier_of_harbor_wrote_counts_where_the_result_is_torn(tmp_path: Path) -> None:
    for task, reward in (("a", 1.0), ("b", 0.0)):
        trial = make.harbor_trial(tmp_path / "job", task, reward)
        (trial / "result.json").write_text('{"task_name": "', "utf-8")
    assert sorted(outcomes(blade.load_run(tmp_path / "job")).values()) == ["failed", "passed"]


def test_rewards_of_harbor_that_disagree_are_told_with_both_figures(tmp_path: Path) -> None:
    trial = make.harbor_trial(tmp_path / "job", "a", 1.0)
    make.write(trial / "verifier" / "reward.txt", "0\n")
    run = blade.load_run(tmp_path / "job")
    assert outcomes(run) == {"a#0": "passed"}
    assert "result.json says reward 1.0, the verifier wrote 0" in problems(run)


def test_a_single_trial_can_be_given(tmp_path: Path) -> None:
    trial = make.harbor_trial(tmp_path / "job", "a", 1.0)
    assert outcomes(blade.load_run(trial)) == {"a#0": "passed"}


def test_two_agents_in_one_job_are_two_runs(tmp_path: Path) -> None:
    make.harbor_trial(tmp_path / "job", "a", 1.0)
    make.harbor_trial(tmp_path / "job", "b", 1.0, agent="another-agent")
    with pytest.raises(blade.BladeError, match="holds 2 runs"):
        blade.load_run(tmp_path / "job")


def test_a_sub_agent_acts_where_it_was_called(tmp_path: Path) -> None:
    trial = make.harbor_trial(tmp_path / "job", "a", 1.0)
    child = make.atif("part") | {"session_id": "child", "agent": {"name": "helper"}}
    trajectory = make.atif("a") | {"schema_version": "ATIF-v1.7", "subagent_trajectories": [child]}
    trajectory["steps"][1]["observation"]["results"][0]["subagent_trajectory_ref"] = [{"session_id": "child"}]
    make.write(trial / "agent" / "trajectory.json", trajectory)
    texts = [step.text for step in blade.load_run(trial)["a", 0].steps or () if step.kind == "message"]
    assert texts == ["Both.", "Make part work.", "Both.", "Done.", "Done."]


def test_a_tool_that_reported_an_error_is_known_by_its_flag(tmp_path: Path) -> None:
    trial = make.harbor_trial(tmp_path / "job", "a", 1.0)
    trajectory = make.atif("a")
    trajectory["steps"][1]["observation"]["results"][1]["is_error"] = True
    trajectory["steps"][1]["extra"] = {"tool_result_is_error": True}
    trajectory["steps"].append(
        {
            "source": "agent",
            "tool_calls": [{"tool_call_id": "c3", "function_name": "read", "arguments": {}}],
            "observation": {"results": [{"source_call_id": "c3", "content": "no"}]},
            "extra": {"tool_result_is_error": True},
        }
    )
    make.write(trial / "agent" / "trajectory.json", trajectory)
    steps = blade.load_run(trial)["a", 0].steps or ()
    assert [step.failed for step in steps if step.kind == "result"] == [False, True, True]


def test_swe_bench_counts_the_instances_that_its_summary_counts(tmp_path: Path) -> None:
    run = blade.load_run(make.swe_bench(tmp_path / "swe", {"x-1": True, "x-2": False, "x-3": True}))
    assert outcomes(run) == {"x-1#0": "passed", "x-2#0": "failed", "x-3#0": "passed"}
    assert run.model == "lab/small-model"


def test_the_patch_of_an_instance_is_the_one_that_was_evaluated(tmp_path: Path) -> None:
    make.swe_bench(tmp_path / "run", {"a": True, "b": False})
    evaluated = next((tmp_path / "run").glob("**/a/patch.diff"))
    evaluated.write_text("diff --git a/other b/other\n", "utf-8")
    run = blade.load_run(tmp_path / "run")
    assert str(run["a", 0].row["model_patch"]).startswith("diff --git a/other")
    assert "is not the one of the predictions" in problems(run)


def test_an_instance_without_a_report_has_the_verdict_of_the_summary(tmp_path: Path) -> None:
    folder = make.swe_bench(tmp_path / "swe", {"x-1": True, "x-2": False})
    next(folder.rglob("x-2/report.json")).unlink()
    run = blade.load_run(folder)
    assert outcomes(run)["x-2#0"] == "failed"
    assert "the verdict is that of the run's summary" in problems(run)


@pytest.mark.parametrize("newer", [False, True])
def test_tau2_results_in_one_document_or_beside_it(tmp_path: Path, newer: bool) -> None:
    path = make.tau2(tmp_path / "sim" / "results.json", {"t1": [1.0, 0.0], "t2": [1.0, 1.0]})
    if newer:
        whole = json.loads(path.read_text("utf-8"))
        for one in whole.pop("simulations"):
            make.write(tmp_path / "sim" / "simulations" / f"{one['id']}.json", one)
        make.write(path, whole)
    run = blade.load_run(path.parent if newer else path)
    assert outcomes(run) == {"t1#0": "passed", "t1#1": "failed", "t2#0": "passed", "t2#1": "passed"}
    result = next(step for step in run["t1", 0].steps or () if step.kind == "result")
    assert (result.tool, result.text) == ("cancel", "done")


def test_a_folder_with_runs_of_several_harnesses_gives_each(tmp_path: Path) -> None:
    make.terminal_bench(tmp_path / "all" / "tb", {"a": [True]})
    make.harbor_trial(tmp_path / "all" / "job", "b", 0.0)
    make.tau2(tmp_path / "all" / "results.json", {"t1": [1.0]})
    analysis = blade.analyze(tmp_path / "all")
    assert len(analysis.runs) == 3


MAKERS: dict[str, Callable[[Path], object]] = {
    "terminal-bench": lambda folder: make.terminal_bench(folder, {"a": [True], "b": [False]}),
    "harbor": lambda folder: [make.harbor_trial(folder, task, 1.0) for task in "ab"],
    "swe-bench": lambda folder: make.swe_bench(folder, {"a": True, "b": False}),
}
VERDICT = {"terminal-bench": "a/*/results.json", "harbor": "a__*/result.json", "swe-bench": "**/a/report.json"}


@pytest.mark.parametrize("harness", MAKERS)
def test_a_torn_file_costs_no_other_trial_anything(tmp_path: Path, harness: str) -> None:
    MAKERS[harness](tmp_path / "run")
    path = next((tmp_path / "run").glob(VERDICT[harness]))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    run = blade.load_run(tmp_path / "run")
    assert {name[0] for name in outcomes(run)} == {"a", "b"}
    assert path.name in problems(run)


@pytest.mark.parametrize("harness", MAKERS)
def test_an_empty_file_costs_no_other_trial_anything(tmp_path: Path, harness: str) -> None:
    MAKERS[harness](tmp_path / "run")
    path = next((tmp_path / "run").glob(VERDICT[harness]))
    path.write_bytes(b"")
    run = blade.load_run(tmp_path / "run")
    assert {name[0] for name in outcomes(run)} == {"a", "b"}
    assert "it is empty" in problems(run)


@pytest.mark.parametrize("harness", MAKERS)
def test_foreign_files_in_a_run_change_nothing(tmp_path: Path, harness: str) -> None:
    MAKERS[harness](tmp_path / "run")
    before = outcomes(blade.load_run(tmp_path / "run"))
    make.write(tmp_path / "run" / "notes" / "readme.md", "# notes\n")
    make.write(tmp_path / "run" / "plot.png", "no picture")
    assert outcomes(blade.load_run(tmp_path / "run")) == before


@pytest.mark.parametrize("harness", MAKERS)
def test_a_folder_and_its_rows_give_the_same_tables(tmp_path: Path, harness: str) -> None:
    """A native folder that is written out as plain rows is read as the same run."""
    MAKERS[harness](tmp_path / "run")
    run = blade.load_run(tmp_path / "run")
    rows = [run[task, repeat].row for task, repeat in run.rollouts.select("task_id", "repeat").iter_rows()]
    path = tmp_path / "plain.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    columns = ("task_id", "outcome", "reward", "steps", "calls", "model")
    assert blade.load_run(path).rollouts.select(columns).equals(run.rollouts.select(columns))


def test_an_empty_folder_is_refused_with_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "run" / "a").mkdir(parents=True)
    with pytest.raises(ArtifactError, match="no rollouts"):
        blade.load_run(tmp_path / "run")


def test_links_out_of_the_folder_and_pipes_are_not_opened(tmp_path: Path) -> None:
    folder = make.terminal_bench(tmp_path / "run", {"a": [True], "b": [False]})
    outside = make.write(tmp_path / "secret" / "results.json", {"is_resolved": True})
    path = next((folder / "b").glob("*/results.json"))
    path.unlink()
    path.symlink_to(outside)
    os.mkfifo(folder / "pipe.jsonl")
    run = blade.load_run(folder)
    assert outcomes(run)["b#0"] == "failed"


def test_a_saved_analysis_of_a_folder_notices_that_it_changed(tmp_path: Path) -> None:
    folder = make.terminal_bench(tmp_path / "run", {"a": [True]})
    blade.analyze(folder).save(tmp_path / "out")
    assert outcomes(blade.load_run(tmp_path / "out")) == {"a#0": "passed"}
    make.write(next((folder / "a").glob("*/panes")) / "post-agent.txt", "gone")
    with pytest.raises(ArtifactError, match="changed"):
        blade.load_run(tmp_path / "out")


def cast(frames: list[str], version: int = 2) -> str:
    """A recording of asciinema of what was printed, in order."""
    if version == 1:
        return json.dumps({"version": 1, "width": 80, "height": 24, "stdout": [[0.1, frame] for frame in frames]})
    events = [json.dumps([0.1 * place, "o", frame]) for place, frame in enumerate(frames)]
    return "\n".join([json.dumps({"version": version, "width": 80, "height": 24}), *events]) + "\n"


def recorded_trial(folder: Path, recording: str) -> Path:
    """A run of one trial of which only a recording is left."""
    make.terminal_bench(folder, {"a": [False]})
    at = next(folder.glob("a/*"))
    shutil.rmtree(at / "panes")
    (at / "sessions" / "agent.log").unlink()
    make.write(at / "sessions" / "agent.cast", recording)
    return folder


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_recording_stands_in_for_a_log(tmp_path: Path, version: int) -> None:
    frames = [f"{event}\r\n" for event in make.claude_events("ls", "one two", "Done.")]
    run = blade.load_run(recorded_trial(tmp_path / "run", cast(frames, version)))
    assert [step.kind for step in run["a", 0].steps or ()] == ["message", "call", "result", "message"]


def test_of_a_progress_bar_the_last_state_is_kept(tmp_path: Path) -> None:
    frames = [
        "start\r\n",
        "\x1b[32m| 10%\x1b[0m",
        "\r/ 60%",
        "\r\x1b[2K100%\r\n",
        "one\r\ntwo\r\n\x1b[2A\x1b[2KONE\r\n",
    ]
    run = blade.load_run(recorded_trial(tmp_path / "run", cast(frames)))
    assert str(run["a", 0].row["agent_log"]).split() == ["start", "100%", "ONE", "two"]


def test_a_recording_whose_start_is_cut_is_listed(tmp_path: Path) -> None:
    torn = cast(["first\r\n", "second\r\n"]).split("\n", 1)[1][9:]
    run = blade.load_run(recorded_trial(tmp_path / "run", torn))
    assert "agent.cast: its start is cut off" in problems(run)
    assert str(run["a", 0].row["agent_log"]).strip() == "second"


SWE_AGENT = {
    "trajectory": [{"action": "ls -F\n", "observation": "a.py\n", "response": "I look", "thought": "I look"}],
    "history": [
        {"role": "system", "content": "You write patches."},
        {"role": "user", "content": "A demonstration.", "is_demo": True},
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "I look"},
    ],
    "info": {"exit_status": "submitted", "submission": "diff a", "model_stats": {"instance_cost": 0.5, "api_calls": 1}},
}
MINI_1 = {
    "messages": [
        {"role": "system", "content": "You write patches."},
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "I look\n```bash\nls -F\n```"},
        {"role": "user", "content": "a.py"},
    ],
    "info": {"exit_status": "Submitted", "submission": "diff a"},
}
MINI_2 = {
    "messages": [
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": "I look",
            "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls -F"}'}}],
            "extra": {"actions": [{"command": "ls -F", "tool_call_id": "c1"}]},
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py", "extra": {"returncode": 0}},
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
    ],
    "info": {"exit_status": "Submitted", "submission": "diff a"},
}


@pytest.mark.parametrize(
    ("name", "trajectory"), [("x-1.traj", SWE_AGENT), ("x-1.traj.json", MINI_1), ("x-1.traj.json", MINI_2)]
)
def test_trajectories_of_patch_agents_alone_are_unscored_rollouts(
    tmp_path: Path, name: str, trajectory: dict[str, object]
) -> None:
    make.write(tmp_path / "run" / "x-1" / name, trajectory)
    run = blade.load_run(tmp_path / "run")
    assert outcomes(run) == {"x-1#0": "unscored"}
    rollout = run["x-1", 0]
    assert [step.text for step in rollout.prompt][-1] == "Fix it."
    assert [step.kind for step in rollout.steps or ()][1:] == ["call", "result"]
    assert [(step.text.strip(), step.answers) for step in (rollout.steps or ())[2:]] == [("a.py", 1)]
    assert rollout.answer == "diff a"


def test_a_trajectory_beside_the_evaluation_belongs_to_its_instance(tmp_path: Path) -> None:
    folder = make.swe_bench(tmp_path / "swe", {"x-1": True})
    make.write(folder / "trajectories" / "x-1" / "x-1.traj", SWE_AGENT)
    run = blade.load_run(folder)
    assert outcomes(run) == {"x-1#0": "passed"}
    assert len(run["x-1", 0].steps or ()) == 3


OLD_EVENTS = [
    {"id": 1, "source": "user", "action": "message", "args": {"content": "Fix it."}},
    {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "I look"}},
    {"id": 3, "source": "agent", "observation": "run", "cause": 2, "content": "a.py", "extras": {}},
]
NEW_EVENTS = [
    {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [{"text": "Fix it."}]}},
    {
        "kind": "ActionEvent",
        "source": "agent",
        "thought": [{"text": "I look"}],
        "action": {"kind": "RunAction", "command": "ls"},
        "tool_name": "run",
        "tool_call_id": "t1",
    },
    {
        "kind": "ObservationEvent",
        "source": "environment",
        "tool_name": "run",
        "tool_call_id": "t1",
        "observation": {"content": [{"text": "a.py"}], "exit_code": 0},
    },
]


def test_rows_of_openhands_with_repeats_and_their_own_report(tmp_path: Path) -> None:
    rows = [
        {"instance_id": f"x-{n // 2}", "history": OLD_EVENTS, "metrics": {"accumulated_cost": 0.1 * n}}
        | {"test_result": {"git_patch": f"diff {n}", "report": {"resolved": n != 1}}}
        for n in range(4)
    ]
    run = blade.load_run(make.write(tmp_path / "output.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert outcomes(run) == {"x-0#0": "passed", "x-0#1": "failed", "x-1#0": "passed", "x-1#1": "passed"}


@pytest.mark.parametrize("history", [OLD_EVENTS, NEW_EVENTS, [OLD_EVENTS[:1], OLD_EVENTS[1:]]])
def test_rows_of_openhands_in_all_their_shapes(tmp_path: Path, history: list[object]) -> None:
    row = {
        "instance_id": "x-1",
        "history": history,
        "test_result": {"git_patch": "diff a"},
        "report": {"resolved": True},
    }
    run = blade.load_run(make.write(tmp_path / "output.jsonl", json.dumps(row) + "\n"))
    assert outcomes(run) == {"x-1#0": "passed"}
    rollout = run["x-1", 0]
    assert [step.text for step in rollout.prompt] == ["Fix it."]
    assert [(step.kind, step.tool, step.answers) for step in rollout.steps or ()] == [
        ("reasoning", None, None),
        ("call", "run", None),
        ("result", "run", 1),
    ]
