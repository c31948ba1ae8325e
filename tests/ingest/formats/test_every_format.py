"""What holds for every format: nothing of it is lost in silence, a broken file is named, and what lies beside it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.ingest.formats import formats
from blade.ingest.roles.check import checked_reading
from blade.model.errors import BladeError
from blade.model.run import Run
from builders import sample, write_eval, write_jsonl
from ingest.formats import run_folders as make
from ingest.formats.test_foreign_files import events, trace

VERDICTS = {"a": 1, "b": 0, "c": 1, "d": 0}


def _samples(folder: Path) -> Path:
    folder.mkdir(parents=True)
    log = {"eval": {"model": "m", "task": "sums", "dataset": {"samples": 4}, "config": {}}, "status": "success"}
    return write_eval(folder / "log.eval", log, [sample(task, value=one) for task, one in VERDICTS.items()])


def _lm_eval(folder: Path) -> Path:
    rows = [
        {
            "doc_id": place,
            "doc": {"question": f"What is {task}?"},
            "target": "4",
            "arguments": {"gen_args_0": {"arg_0": f"Q: {task}", "arg_1": {"until": []}}},
            "resps": [[f"So {one}."]],
            "filtered_resps": [str(one)],
            "filter": "none",
            "metrics": ["exact_match"],
            "exact_match": float(one),
        }
        for place, (task, one) in enumerate(VERDICTS.items())
    ]
    return write_jsonl(folder / "samples_sums_2026-01-02T03-04-05.jsonl", rows)


def _traces(folder: Path) -> Path:
    spans = [trace(f"t{task}", task, float(one)) for task, one in VERDICTS.items()]
    return make.write(folder / "traces.json", {"resourceSpans": [{"scopeSpans": [{"spans": one}]} for one in spans]})


def _helm(folder: Path) -> Path:
    states = [
        {
            "instance": {"id": task, "input": {"text": f"What is {task}?"}, "references": []},
            "request": {"prompt": f"Q: {task}"},
            "result": {"success": True, "completions": [{"text": f"It is {one}."}]},
            "train_trial_index": 0,
        }
        for task, one in VERDICTS.items()
    ]
    make.write(folder / "scenario_state.json", {"adapter_spec": {"model": "m"}, "request_states": states})
    make.write(folder / "run_spec.json", {"name": "sums:model=m", "adapter_spec": {"model": "m"}})
    stats = [
        {"instance_id": task, "train_trial_index": 0, "stats": [{"name": {"name": "exact_match"}, "mean": float(one)}]}
        for task, one in VERDICTS.items()
    ]
    return make.write(folder / "per_instance_stats.json", stats)


def _junit(folder: Path) -> Path:
    cases = (
        f'<testcase name="{task}" time="1.5">' + ("" if one else '<failure message="no">E  1 != 2</failure>')
        for task, one in VERDICTS.items()
    )
    text = "</testcase>".join(cases)
    return make.write(folder / "junit.xml", f'<testsuite name="sums" tests="4">{text}</testcase></testsuite>')


def _reply(task: str) -> dict[str, Any]:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"It is {task}."}]}
    return {"output": [said], "model": "m"}


def _gym(folder: Path, **more: Any) -> Path:
    rows = [
        {
            "_ng_task_index": place,
            "_ng_rollout_index": 0,
            "task_id": task,
            "reward": float(one),
            "responses_create_params": {"input": f"What is {task}?"},
            "response": _reply(task) | more,
        }
        for place, (task, one) in enumerate(VERDICTS.items())
    ]
    return write_jsonl(folder / "rollouts.jsonl", rows)


def _graded(folder: Path) -> Path:
    metrics = {"env_id": "shop", "group_id": "1", "metrics": {"db_hash": 1.0, "partial": 0.5}}
    return _gym(folder, **metrics)


def _table(folder: Path) -> Path:
    rows = "".join(f"{task},{one},said {task}\n" for task, one in VERDICTS.items())
    return make.write(folder / "scores.csv", f"task_id,score,answer\n{rows}")


def _attempts(folder: Path) -> Path:
    tasks = ("a", "b", "c")
    rows = [
        {"task_id": task, "tries": [{"wrote": f"w{task}{k}", "hit": "yes" if (n + k) % 2 else "no"} for k in range(2)]}
        for n, task in enumerate(tasks)
    ]
    return write_jsonl(folder / "tries.jsonl", rows)


def _trials(folder: Path) -> Path:
    for task, one in VERDICTS.items():
        talk = [{"role": "user", "content": f"What is {task}?"}, {"role": "assistant", "content": f"It is {one}."}]
        last = make.write(folder / f"{task}.json", {"success": bool(one), "messages": talk, "model": "m"})
    return last


def _terminal_bench(folder: Path) -> Path:
    make.terminal_bench(folder, {task: [bool(one)] for task, one in VERDICTS.items()})
    return next(folder.glob("a/*/results.json"))


def _harbor(folder: Path) -> Path:
    for task, one in VERDICTS.items():
        make.harbor_trial(folder, task, float(one))
    return next(folder.glob("a__*/result.json"))


def _swe_bench(folder: Path) -> Path:
    make.swe_bench(folder, {task: bool(one) for task, one in VERDICTS.items()})
    return next(folder.glob("**/a/report.json"))


MAKERS: Mapping[str, Callable[[Path], Path]] = {
    "attempts": _attempts,
    "gym": _gym,
    "harbor": _harbor,
    "helm": _helm,
    "inspect": _samples,
    "json": lambda folder: make.write(
        folder / "out.json", {"all": [{"task_id": t, "passed": bool(one), "said": t} for t, one in VERDICTS.items()]}
    ),
    "junit": _junit,
    "lm-eval": _lm_eval,
    "openai-evals": lambda folder: make.write(folder / "log.jsonl", events(*map(bool, VERDICTS.values()))),
    "otlp": _traces,
    "plain": lambda folder: write_jsonl(
        folder / "r.jsonl", [{"task_id": task, "score": one, "output": f"is {task}"} for task, one in VERDICTS.items()]
    ),
    "swe-bench": _swe_bench,
    "table": _table,
    "tau2": lambda folder: make.tau2(folder / "results.json", {task: [float(one)] for task, one in VERDICTS.items()}),
    "terminal-bench": _terminal_bench,
    "trial-files": _trials,
    "verdict": lambda folder: write_jsonl(
        folder / "r.jsonl",
        [{"task_id": task, "is_correct": bool(one), "completion": f"is {task}"} for task, one in VERDICTS.items()],
    ),
    "verifiers": _graded,
}
"""For each format how a run of it is written; the file is one that can be broken."""


def outcomes(run: Run) -> dict[str, str]:
    rows = run.rollouts.select("task_id", "repeat", "outcome").iter_rows()
    return {f"{task}#{repeat}": outcome for task, repeat, outcome in rows}


def loaded(path: Path) -> tuple[Run | None, str]:
    """The run with its problems, or none with the refusal."""
    try:
        run = blade.load_run(path)
    except BladeError as refused:
        return None, refused.message
    return run, "\n".join(f"{one.source}: {one.reason}" for one in run.problems)


def test_every_format_is_among_them() -> None:
    assert set(MAKERS) == {one.name for one in formats()}


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_recognized_and_gives_its_verdicts(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path / "run")
    run = blade.load_run(tmp_path / "run")
    assert {one.format for one in run.artifacts if one.role == "rollouts"} == {name}
    passed = [outcome == "passed" for outcome in outcomes(run).values()]
    assert passed == ([False, True, True, False, False, True] if name == "attempts" else [True, False, True, False])
    assert not run.problems or name == "terminal-bench"


CANNOT_TELL = ("table",)
"""A text table that ends within a cell is a table all the same."""


@pytest.mark.parametrize("cut", ["torn", "empty"])
@pytest.mark.parametrize("name", MAKERS)
def test_a_broken_file_is_named_and_the_rest_stays_as_it_is(tmp_path: Path, name: str, cut: str) -> None:
    path = MAKERS[name](tmp_path / "run")
    whole = outcomes(blade.load_run(tmp_path / "run"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10] if cut == "torn" else b"")
    run, said = loaded(tmp_path / "run")
    assert path.name in said or path.parent.name in said or name in CANNOT_TELL
    judged = {ref: one for ref, one in whole.items() if one in ("passed", "failed")}
    after = outcomes(run) if run is not None else {}
    assert not [
        ref for ref, one in after.items() if ref in judged and one in ("passed", "failed") and one != judged[ref]
    ]


@pytest.mark.parametrize("name", MAKERS)
def test_foreign_files_beside_it_change_nothing(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path / "run")
    before = outcomes(blade.load_run(tmp_path / "run"))
    make.write(tmp_path / "run" / "README.md", "# notes\n")
    make.write(tmp_path / "run" / "plot.png", "no picture")
    make.write(tmp_path / "run" / "notes" / "todo.txt", "look at b")
    make.write(tmp_path / "run" / "notes" / "settings.yaml", "temperature: 0\n")
    (tmp_path / "run" / "empty").mkdir()
    assert outcomes(blade.load_run(tmp_path / "run")) == before


@pytest.mark.parametrize("name", [name for name in MAKERS if not {"json", "trial-files", "junit"} & {name}])
def test_a_folder_may_hold_a_run_of_another_format_too(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path / "run" / "one")
    before = outcomes(blade.load_run(tmp_path / "run"))
    write_jsonl(tmp_path / "run" / "two" / "r.jsonl", [{"task_id": "z", "score": 1, "model": "other"}])
    runs = blade.analyze(tmp_path / "run").runs
    assert sorted((outcomes(one.run) for one in runs), key=len) == [{"z#0": "passed"}, before]


@pytest.mark.parametrize("name", MAKERS)
def test_its_rows_alone_give_the_same_tables(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path / "run")
    run = blade.load_run(tmp_path / "run")
    rows = [run[task, repeat].row for task, repeat in run.rollouts.select("task_id", "repeat").iter_rows()]
    plain = blade.load_run(write_jsonl(tmp_path / "plain.jsonl", rows))
    columns = ("task_id", "repeat", "outcome", "reward", "steps", "calls", "answer", "seconds", "checks_asked")
    assert plain.rollouts.select(columns).rows() == run.rollouts.select(columns).rows()
    checks = ("task_id", "repeat", "name", "passed")
    assert plain.checks.select(checks).rows() == run.checks.select(checks).rows()


LOST: Mapping[str, frozenset[str]] = {
    # The verdict, the task, the model and the cost, which are read under the names that rows have.
    "attempts": frozenset(("hit",)),
    "helm": frozenset(("metrics.exact_match",)),
    "json": frozenset(("passed",)),
    "lm-eval": frozenset(("doc.question",)),
    "swe-bench": frozenset(("model_name_or_path", "resolved")),
    "tau2": frozenset(("agent_cost", "reward_info.reward", "reward_info.db_check.db_match")),
    "trial-files": frozenset(("success",)),
    # The first message, which is the input.
    "inspect": frozenset(("messages[].content", "messages[].role")),
    # What names the machinery or one of its groups, and settings.
    "harbor": frozenset(("agent_info.version", "config.agent.name", "config.task.path", "config.trial_name", "id")),
    "terminal-bench": frozenset(
        ("evidence_not_here[]", "is_resolved", *map("session.{}".format, ("ended", "is_error", "model", "num_turns")))
    ),
    "verifiers": frozenset(("response.env_id", "response.group_id")),
}
"""By format the paths that change nothing in the tables when they change alone. Kinds of items are fixed words."""
OF_FILES: Mapping[str, frozenset[str]] = {
    # The result of a trial holds its configuration and the name and version of its agent too.
    "harbor": frozenset(
        (
            *(f"config.json: {name}" for name in ("agent.model_name", "agent.name", "task.path", "trial_name")),
            *(f"trajectory.json: agent.{name}" for name in ("model_name", "name", "version")),
            *(
                f"trajectory.json: {name}"
                for name in ("schema_version", "session_id", "steps[].source", "steps[].step_id")
            ),
        )
    ),
    "terminal-bench": frozenset(("results.json: id",)),
}
"""The same of the files that rows are put together from."""


@pytest.mark.parametrize("name", MAKERS)
def test_what_it_says_reaches_the_tables(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path / "run")
    reading = checked_reading(blade.load_run(tmp_path / "run"))
    assert reading.kept >= 2 * reading.rows
    lost = {one.path for one in reading.lost if not one.path.endswith(".type")}
    assert lost == LOST.get(name, frozenset()) | OF_FILES.get(name, frozenset())
    assert {one.how for one in reading.lost} <= {"dropped"}


def test_the_check_notices_what_a_format_leaves_out(tmp_path: Path) -> None:
    rows = [{"task_id": f"t{n}", "score": n % 2, "output": "x", "deep": {"unknown": [f"u{n}"]}} for n in range(6)]
    reading = checked_reading(blade.load_run(write_jsonl(tmp_path / "r.jsonl", rows)))
    assert [(one.path, one.how) for one in reading.lost] == [("deep.unknown[]", "dropped")]
