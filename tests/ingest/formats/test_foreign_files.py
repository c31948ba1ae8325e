"""Single files that other tools leave: tables of scores, event logs of OpenAI evals, traces in OTLP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import blade
from blade.model.run import Run

SCORES = [("q-007", 0, 1.0), ("q-007", 1, 0.0), ("q-012", 0, 0.0), ("q-012", 1, 0.0)]


def outcomes(run: Run) -> dict[str, str]:
    rows = run.rollouts.select("task_id", "repeat", "outcome").iter_rows()
    return {f"{task}#{repeat}": outcome for task, repeat, outcome in rows}


def frame() -> pl.DataFrame:
    return pl.DataFrame(SCORES, schema=["task_id", "repeat", "score"], orient="row")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow"])
def test_a_table_of_scores_is_a_run(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scores.{ending}"
    if ending in ("csv", "tsv"):
        frame().write_csv(path, separator="," if ending == "csv" else "\t")
    elif ending == "parquet":
        frame().write_parquet(path)
    else:
        frame().write_ipc(path)
    run = blade.load_run(path)
    assert outcomes(run) == {"q-007#0": "passed", "q-007#1": "failed", "q-012#0": "failed", "q-012#1": "failed"}
    assert run["q-007", 0].row["score"] == 1


def test_cells_of_a_text_table_keep_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text('task_id,passed,answer,tags\n007,true,"say ""no""","[1, 2]"\n008,False,,\n', "utf-8")
    run = blade.load_run(path)
    assert outcomes(run) == {"007#0": "passed", "008#0": "failed"}
    assert run["007", 0].row["answer"] == 'say "no"'
    assert run["007", 0].row["tags"] == [1, 2]


def test_a_broken_table_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    frame().write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(blade.BladeError):
        blade.load_run(path)


def test_a_table_without_a_score_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("task_id,input,output\na,1,2\n", "utf-8")
    with pytest.raises(blade.BladeError, match=r"none of its columns is a reward.*task_id, input, output"):
        blade.load_run(path)


def events(*verdicts: bool) -> str:
    lines: list[dict[str, Any]] = [{"spec": {"completion_fns": ["small-model"], "base_eval": "capitals"}}]
    for place, correct in enumerate(verdicts):
        sample = {"run_id": "r", "sample_id": f"capitals.{place}", "created_at": "now"}
        prompt = [{"role": "user", "content": "Capital of X?"}]
        lines.append(
            {**sample, "event_id": 2 * place, "type": "sampling", "data": {"prompt": prompt, "sampled": ["Y"]}}
        )
        data = {"correct": correct, "expected": "Z", "picked": "Y"}
        lines.append({**sample, "event_id": 2 * place + 1, "type": "match", "data": data})
    lines.append({"final_report": {"accuracy": sum(verdicts) / len(verdicts)}})
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_events_of_openai_evals_are_rollouts_by_sample(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(events(True, False, True), "utf-8")
    run = blade.load_run(path)
    assert outcomes(run) == {"capitals.0#0": "passed", "capitals.1#0": "failed", "capitals.2#0": "passed"}
    assert (run.model, run.benchmark) == ("small-model", "capitals")
    assert [step.text for step in run["capitals.1", 0].steps or ()] == ["Y"]


def test_a_torn_event_costs_its_sample_only_what_it_said(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(events(True, False)[:-60], "utf-8")
    assert list(outcomes(blade.load_run(path))) == ["capitals.0#0", "capitals.1#0"]


def attribute(key: str, value: object) -> dict[str, Any]:
    kind = "stringValue" if isinstance(value, str) else "doubleValue" if isinstance(value, float) else "intValue"
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def span(trace: str, name: str, start: int, parent: str = "", **more: Any) -> dict[str, Any]:
    attributes = [attribute(key.replace("__", "."), value) for key, value in more.pop("attributes", {}).items()]
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 5_000_000_000)}
    return {
        "traceId": trace,
        "spanId": f"{trace}-{start}",
        "parentSpanId": parent,
        "name": name,
        **times,
        "attributes": attributes,
        **more,
    }


def trace(name: str, task: str, score: float) -> list[dict[str, Any]]:
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Cancel it."}]}])
    answered = json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "k1", "name": "cancel", "arguments": {"id": 1}}]}]
    )
    evaluation = {"name": "gen_ai.evaluation.result", "attributes": [attribute("gen_ai.evaluation.score.value", score)]}
    return [
        span(
            name,
            "invoke_agent",
            1,
            attributes={"task_id": task, "gen_ai.operation.name": "invoke_agent"},
            events=[evaluation],
        ),
        span(
            name,
            "chat",
            2,
            parent="p",
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "small-model",
                "gen_ai.input.messages": asked,
                "gen_ai.output.messages": answered,
                "gen_ai.usage.input_tokens": 12,
                "gen_ai.usage.output_tokens": 3,
            },
        ),
        span(
            name,
            "execute_tool cancel",
            3,
            parent="p",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "cancel",
                "gen_ai.tool.call.id": "k1",
                "gen_ai.tool.call.result": "cancelled",
            },
        ),
    ]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_trace_is_a_rollout(tmp_path: Path, ending: str) -> None:
    documents = [
        {"resourceSpans": [{"scopeSpans": [{"spans": trace(*one)}]}]} for one in (("t1", "a", 1.0), ("t2", "b", 0.0))
    ]
    path = tmp_path / f"traces.{ending}"
    if ending == "json":
        whole = {"resourceSpans": [one["resourceSpans"][0] for one in documents]}
        path.write_text(json.dumps(whole), "utf-8")
    else:
        path.write_text("".join(json.dumps(one) + "\n" for one in documents), "utf-8")
    run = blade.load_run(path)
    assert outcomes(run) == {"a#0": "passed", "b#0": "failed"}
    assert run.model == "small-model"
    steps = [(step.kind, step.tool, step.text or step.arguments) for step in run["a", 0].steps or ()]
    assert steps == [("call", "cancel", '{"id":1}'), ("result", "cancel", "cancelled")]


def test_a_table_may_separate_its_cells_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("task_id;score;note\na;1,0;x, y\nb;0,5;z\n", "utf-8")
    run = blade.load_run(path)
    assert run.rollouts["reward"].to_list() == [1.0, 0.5]
    assert run["a", 0].row["note"] == "x, y"


def test_a_table_with_columns_of_its_own_is_read_by_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "eval.csv"
    path.write_text("Question ID,Run #,Correct?\nQ1,1,Yes\nQ1,2,No\nQ2,1,No\nQ2,2,No\n", "utf-8")
    assert outcomes(blade.load_run(path)) == {"Q1#1": "passed", "Q1#2": "failed", "Q2#1": "failed", "Q2#2": "failed"}


def test_a_column_may_be_an_attempt_or_a_model_but_no_criterion(tmp_path: Path) -> None:
    def table(name: str, *columns: str) -> Path:
        rows = (f"q{n},geo," + ",".join(str(int(n % (k + 2) == 0)) for k in range(len(columns))) for n in range(6))
        (tmp_path / name).write_text("\n".join(("problem,kind," + ",".join(columns), *rows)))
        return tmp_path / name

    tries = blade.load_run(table("tries.csv", "run1", "run2"))
    assert (tries.tasks.height, tries.rollouts.height) == (6, 12)
    assert tries["q2", 2].row["reward"] == 0.0
    models = blade.analyze(table("models.csv", "orca-7b", "lynx-70b", "wren-mini"))
    assert [(one.run.model, one.run.rollouts.height) for one in models.runs] == [
        ("lynx-70b", 6),
        ("orca-7b", 6),
        ("wren-mini", 6),
    ]
    for criteria in (("tone", "safety"), ("rule_1", "rule_2")):
        with pytest.raises(blade.BladeError, match="--map task=problem"):
            blade.load_run(table("criteria.csv", *criteria))


@pytest.mark.parametrize(
    ("name", "advice"), [("r.db", "export its table"), ("r.tar.gz", "unpack it"), ("r.pkl", "JSON")]
)
def test_files_that_are_not_read_say_what_to_do_with_them(tmp_path: Path, name: str, advice: str) -> None:
    (tmp_path / name).write_bytes(b"SQLite format 3\x00")
    with pytest.raises(blade.BladeError) as refused:
        blade.load_run(tmp_path)
    assert name in refused.value.message
    assert refused.value.hint is not None
    assert advice in refused.value.hint
    with pytest.raises(blade.BladeError, match=advice if name != "r.tar.gz" else "gz|unpack"):
        blade.load_run(tmp_path / name)
