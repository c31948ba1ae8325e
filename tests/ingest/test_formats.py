"""Inspect logs, samples and trials of other harnesses, compressed files, plain rows."""

import json
import random
import zipfile
from pathlib import Path

import pytest

import blade
from blade.attribution.failure_table import partition
from blade.ingest.reread import reread
from blade.model.errors import BladeError
from blade.model.run import Run
from blade.stats.rollout_index import index_rollouts
from builders import Row, kept_places, load, outcomes, places, reasons, rollout, sample, task, write_eval, write_jsonl

SPEC = {
    "task": "arithmetic",
    "model": "org/model",
    "dataset": {"sample_ids": ["a", "b"]},
    "config": {"epochs": 2, "limit": None, "message_limit": 30},
    "model_generate_config": {"temperature": 0.5, "stop_seqs": ["x"]},
}
HEADER = {
    "status": "success",
    "eval": SPEC,
    "results": {"total_samples": 4, "scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.75}}}]},
}


def samples() -> list[Row]:
    choice = {"choices": [{"stop_reason": "stop"}]}
    return [
        sample("a", output=choice, metadata={"level": 1}, target="4", total_time=2.5),
        sample("a", epoch=2, value="I", limit={"type": "token"}, output=choice),
        sample("b", value=0.5, model_usage={"m": {"input_tokens": 10, "output_tokens": 5}, "n": {"input_tokens": 1}}),
        sample("b", epoch=2, scores=None, error={"message": "Timeout: slow", "traceback": "..."}),
    ]


def as_json(path: Path) -> Path:
    path.write_text(json.dumps(HEADER | {"samples": samples()}, indent=1))
    return path


def as_eval(path: Path) -> Path:
    return write_eval(path, HEADER, samples())


def the_run(path: Path) -> Run:
    (run,) = load(path)
    return run


@pytest.mark.parametrize("path", ["log.eval", "log.json"])
def test_an_inspect_log_is_a_run(tmp_path: Path, path: str) -> None:
    run = the_run((as_eval if path.endswith(".eval") else as_json)(tmp_path / path))
    assert (run.benchmark, run.model, run.name, run.expected_from) == (
        "arithmetic",
        "org/model",
        "org-model",
        "inspect",
    )
    assert places(run, "outcome", "reward", "stop", "error_class") == [
        ("a", 0, "passed", 1.0, "stop", None),
        ("a", 1, "failed", 0.0, "token", None),
        ("b", 0, "failed", 0.5, None, None),
        ("b", 1, "errored", None, None, "Timeout: slow"),
    ]
    assert run.settings == {"temperature": "0.5", "epochs": "2", "message_limit": "30"}
    assert [(stated.name, stated.value) for stated in run.stated] == [("accuracy", 0.75)]
    assert run.rollouts.row(2, named=True)["input_tokens"] == 11
    assert (task(run, "a")["expected"], run.rollouts["seconds"][0]) == ("4", 2.5)
    rollouts = reread(run, kept_places(run))
    assert [[step.text for step in one.steps or ()] for one in rollouts] == [["Answer."]] * 4


def test_both_forms_of_a_log_say_the_same(tmp_path: Path) -> None:
    one, other = the_run(as_eval(tmp_path / "log.eval")), the_run(as_json(tmp_path / "log.json"))
    differing = ["artifact", "member", "length", "run"]
    assert one.rollouts.drop(differing).equals(other.rollouts.drop(differing))
    assert one.tasks.drop("run").equals(other.tasks.drop("run"))


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("C", "passed"),
        ("I", "failed"),
        ("P", "failed"),
        ("N", "failed"),
        (1, "passed"),
        (True, "passed"),
        ("yes", "passed"),
        ("False", "failed"),
        ("huh", "unscored"),
        ({"a": 1}, "passed"),
        ({"style": 0, "accuracy": 1}, "passed"),
        ({"a": 1, "b": 1}, "unscored"),
        ([1, 1], "unscored"),
    ],
)
def test_inspect_scores_are_rewards(tmp_path: Path, value: object, outcome: str) -> None:
    assert outcomes(
        the_run(write_eval(tmp_path / "log.eval", {"eval": {"task": "t"}}, [sample("a", value=value)]))
    ) == [outcome]


def test_attachments_are_put_back(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "attachment://x1"}]
    one = sample("a", messages=messages, attachments={"x1": "a long answer"})
    run = the_run(write_eval(tmp_path / "log.eval", {"eval": {"task": "t"}}, [one]))
    (read,) = reread(run, [("a", 0)])
    assert [step.text for step in read.steps or ()] == ["a long answer"]


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"eval": None},
        {"eval": []},
        {"eval": {"config": 5, "dataset": [], "model": 7, "model_generate_config": "x"}, "results": 3, "status": 5},
    ],
)
def test_a_header_that_says_odd_things_is_passed_over(tmp_path: Path, header: Row) -> None:
    assert outcomes(the_run(write_eval(tmp_path / "log.eval", header, [sample("a")]))) == ["passed"]


def test_a_log_that_was_cut_short_says_so(tmp_path: Path) -> None:
    run = the_run(write_eval(tmp_path / "log.eval", HEADER | {"status": "started"}, samples()[:1]))
    assert run.artifacts[0].note == "the log's status is 'started'"
    assert outcomes(run) == ["passed", "missing", "missing", "missing"]


def test_a_broken_sample_leaves_the_others(tmp_path: Path) -> None:
    path = as_eval(tmp_path / "log.eval")
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("samples/a_epoch_1.json").header_offset + 60
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(bytes(data))
    run = the_run(path)
    assert run.problem_count == 1
    assert "log.eval:samples/a_epoch_1.json" in reasons(run)[0]
    assert outcomes(run) == ["missing", "failed", "failed", "errored"]


@pytest.mark.parametrize("cut", [5, 30, 200])
def test_a_broken_archive_is_one_clear_error(tmp_path: Path, cut: int) -> None:
    path = as_eval(tmp_path / "log.eval")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(BladeError, match=r"log\.eval") as caught:
        load(path)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    ['{"eval": {"task": "t"}, "samples": [', '{"eval": {"task": "t"}, "samples": null}', '{"eval": {"task": "t"}}'],
)
def test_a_broken_document_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(BladeError) as caught:
        load(path)
    assert caught.value.hint


def test_nan_in_a_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEADER | {"samples": [sample("a", value=float("nan")), sample("b")]}))
    assert outcomes(the_run(path)).count("unscored") == 1


ROWS = [rollout(f"t{n % 7}", repeat=n // 7, passed=n % 3 == 0, output=f"answer {n}", model="m") for n in range(35)]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_rows_are_the_same_rows(tmp_path: Path, ending: str) -> None:
    plain = the_run(write_jsonl(tmp_path / "a" / "run.jsonl", ROWS))
    packed = the_run(write_jsonl(tmp_path / "b" / f"run.jsonl{ending}", ROWS))
    assert packed.rollouts.drop("artifact").equals(plain.rollouts.drop("artifact"))
    assert packed.tasks.equals(plain.tasks)
    wanted = kept_places(plain)[::-3]
    said = [[step.text for step in one.steps or ()] for one in reread(packed, wanted)]
    assert said == [[step.text for step in one.steps or ()] for one in reread(plain, wanted)]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_truncated_file_gives_the_rows_before_the_break(tmp_path: Path, ending: str) -> None:
    noise = random.Random(1)
    rows = [rollout(f"t{n}", output=str(noise.getrandbits(4000)), model="m") for n in range(300)]
    path = write_jsonl(tmp_path / f"run.jsonl{ending}", rows)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    run = the_run(path)
    assert 20 < run.rollouts.height < 300
    assert run.problem_count >= 1
    assert "cannot be read further" in reasons(run)[-1]
    assert len(reread(run, kept_places(run))) == run.rollouts.height


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_file_that_is_broken_from_its_start_is_refused(tmp_path: Path, ending: str) -> None:
    path = write_jsonl(tmp_path / f"run.jsonl{ending}", ROWS)
    path.write_bytes(path.read_bytes()[:11])
    with pytest.raises(BladeError, match="cannot be read") as caught:
        load(path)
    assert caught.value.hint


def test_frames_written_one_after_the_other_are_one_file(tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "one.jsonl.zst", ROWS[:10]).read_bytes()
    two = write_jsonl(tmp_path / "two.jsonl.zst", ROWS[10:]).read_bytes()
    path = tmp_path / "both" / "run.jsonl.zst"
    path.parent.mkdir()
    path.write_bytes(one + two)
    assert the_run(path).rollouts.height == 35


def test_plain_rows_need_only_a_score(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "score": 1, "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]}
    ]
    run = the_run(write_jsonl(tmp_path / "run.jsonl", rows))
    assert (run.artifacts[0].format, outcomes(run)) == ("plain", ["passed"])
    (read,) = reread(run, [("a", 0)])
    assert [(step.index, step.text) for step in read.steps or ()] == [(0, "!")]


def test_what_inspect_says_beside_the_verdict(tmp_path: Path) -> None:
    scores = {"match": {"value": "I", "answer": "5"}, "style": {"value": {"brief": "C", "long": 0.3}}}
    silent = sample("b", scores={"match": {"value": "N"}})
    run = blade.load_run(
        write_eval(tmp_path / "log.eval", {"eval": {"task": "t"}}, [sample("a", scores=scores), silent])
    )
    assert run.checks.select("task_id", "name", "passed").rows() == [("a", "match", False), ("a", "style/brief", True)]
    assert partition(index_rollouts(run)).table["mode"].to_list() == ["one-check-failed", "refused"]


def doc(number: int, reader: str, answer: str, score: float, **more: object) -> Row:
    """A sample of the LM Evaluation Harness."""
    return {
        "doc_id": number,
        "doc": {"question": f"Q{number}"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"Q: Q{number}", "arg_1": {"until": []}}},
        "resps": [[f"So {answer}."]],
        "filtered_resps": [answer],
        "filter": reader,
        "metrics": ["exact_match"],
        "exact_match": score,
        **more,
    }


def test_each_filter_of_the_lm_evaluation_harness_is_a_run(tmp_path: Path) -> None:
    rows = [doc(n, reader, a, s) for n, a, s in ((0, "4", 1.0), (1, "5", 0.0)) for reader in ("strict", "loose")]
    rows[3] |= {"filtered_resps": ["[invalid]"]}
    runs = load(write_jsonl(tmp_path / "samples_sums_2026-01-02T03-04-05.jsonl", rows))
    assert [(run.agent, run.benchmark, outcomes(run)) for run in runs] == [
        ("loose", "sums", ["passed", "failed"]),
        ("strict", "sums", ["passed", "failed"]),
    ]
    assert [run.rollouts["answer"].to_list() for run in runs] == [["4", ""], ["4", "5"]]
    (read,) = reread(runs[1], [("1", 0)])
    assert [step.text for step in read.steps or ()] == ["So 5."]
    assert read.expected == "4"


def test_choices_of_the_lm_evaluation_harness_have_no_words(tmp_path: Path) -> None:
    chosen = {"arguments": [["Q", " a"], ["Q", " b"]], "resps": [[[-1.0, False]], [[-2.0, True]]], "filter": "none"}
    rows = [doc(n, "", "", 0.0, **chosen, filtered_resps=[[-1.0, False]], metrics=["acc"], acc=n) for n in range(2)]
    run = the_run(write_jsonl(tmp_path / "samples_arc.jsonl", rows))
    assert (run.benchmark, run.agent, outcomes(run)) == ("arc", None, ["failed", "passed"])
    assert run.rollouts["answer"].to_list() == run.rollouts["steps"].to_list() == [None, None]


def trial(task: str, number: int, **more: object) -> Row:
    """The result of a Harbor trial."""
    return {
        "id": f"trial-{task}-{number}",
        "task_name": task,
        "trial_name": f"{task}__{number}",
        "task_id": {"path": f"tasks/{task}"},
        "agent_info": {"name": "terminus", "model_info": {"name": "m"}},
        "agent_result": {"n_input_tokens": 10, "n_output_tokens": 2, "cost_usd": 0.5},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-01-02T03:00:00Z",
        "finished_at": "2026-01-02T03:00:30Z",
        **more,
    }


def test_trials_of_harbor_are_repeats_of_their_task(tmp_path: Path) -> None:
    broken = {"verifier_result": None, "exception_info": {"exception_type": "AgentTimeoutError"}}
    rows = [trial("a", 0), trial("a", 1, verifier_result={"rewards": {"tests": 0}}), trial("b", 0, **broken)]
    run = the_run(write_jsonl(tmp_path / "results.jsonl", rows))
    assert (run.agent, run.model) == ("terminus", "m")
    assert places(run, "outcome", "error_class", "output_tokens", "cost", "seconds") == [
        ("a", 0, "passed", None, 2, 0.5, 30.0),
        ("a", 1, "failed", None, 2, 0.5, 30.0),
        ("b", 0, "errored", "AgentTimeoutError", 2, 0.5, 30.0),
    ]
    assert reread(run, [("a", 1)])[0].reward == 0.0


@pytest.mark.parametrize(
    ("held", "lost"),
    [
        ({"is_correct": True}, {"is_correct": False}),
        ({"correct": 1}, {"correct": 0}),
        ({"passed": True, "result": "passed"}, {"passed": False}),
        ({"resolved": True}, {"resolved": False}),
        ({"reward_info": {"reward": 1.0}}, {"reward_info": {"reward": 0.0}, "passed": True}),
        ({"verifier_result": {"rewards": {"reward": 1}}}, {"verifier_result": {"rewards": {"reward": 0}}}),
    ],
)
def test_a_verdict_under_another_name_is_the_reward(tmp_path: Path, held: Row, lost: Row) -> None:
    rows = [{"id": "a", "completion": "4", **held}, {"id": "b", "completion": "5", **lost}, {"id": "c", "output": "6"}]
    run = the_run(write_jsonl(tmp_path / "run.jsonl", rows))
    assert (run.artifacts[0].format, outcomes(run)) == ("verdict", ["passed", "failed", "unscored"])
    assert reread(run, [("b", 0)])[0].reward == 0.0


def test_a_verdict_that_cannot_be_read_leaves_the_rollout_unscored(tmp_path: Path) -> None:
    lines = [
        b'{"id": "a", "completion": "4", "passed": true}',
        b'{"id": "b", "completion": "4", "passed": NaN}',
        b'{"id": "c", "completion": "4", "passed": "perhaps"}',
        b'{"id": "d", "completion": "4", "reward_info": {"x": "\xff"}}',
        b'{"id": "e", "question": "?"}',
    ]
    (tmp_path / "run.jsonl").write_bytes(b"\n".join(lines))
    run = the_run(tmp_path / "run.jsonl")
    assert outcomes(run) == ["passed", "unscored", "unscored", "unscored"]
    assert any("not a rollout" in reason for reason in reasons(run))


def test_a_reward_that_is_null_is_not_made_up_from_another_field(tmp_path: Path) -> None:
    row = {"id": "a", "completion": "4", "is_correct": False}
    run = the_run(write_jsonl(tmp_path / "run.jsonl", [row | {"reward": None}, row | {"id": "b", "reward": 1.0}]))
    assert outcomes(run) == ["unscored", "passed"]
    assert (
        the_run(write_jsonl(tmp_path / "next.jsonl", [row, row | {"id": "b", "score": None}])).artifacts[0].format
        == "plain"
    )


def test_the_right_choice_of_a_question_is_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(BladeError, match="not rollouts"):
        load(write_jsonl(tmp_path / "run.jsonl", [{"id": "a", "question": "?", "choices": ["x", "y"], "correct": 1}]))


def test_grades_inside_a_response_of_the_verifiers_library_are_parts_of_the_reward(tmp_path: Path) -> None:
    def graded(**metrics: object) -> Row:
        return {"output": [], "env_id": "shop", "group_id": "1", "metrics": metrics}

    rows = [
        rollout("a", index=0, repeat=0, response=graded(db_hash=0.0, partial=0.4, num_turns=1.0, api_calls=0)),
        rollout("a", index=0, repeat=1, passed=True, response=graded(db_hash=1.0, partial=1.0, score=1.0)),
        rollout("b", index=1, repeat=0, response=None),
        rollout("c", index=2, repeat=0, response=graded(db_hash=0.0)),
    ]
    run = the_run(write_jsonl(tmp_path / "run.jsonl", rows))
    assert run.artifacts[0].format == "verifiers"
    assert run.checks.select("repeat", "name", "passed").rows() == [
        (0, "db_hash", False),
        (0, "partial", False),
        (1, "db_hash", True),
        (1, "partial", True),
    ]
    assert len(reread(run, [("a", 0)])[0].due.checks) == 2


def test_a_chat_completion_in_place_of_a_response(tmp_path: Path) -> None:
    def completion(text: str, end: str) -> Row:
        message = {"role": "assistant", "content": text, "tool_calls": [{"id": "c", "function": {"name": "go"}}]}
        usage = {"prompt_tokens": 5, "completion_tokens": 3}
        return {"model": "m", "choices": [{"finish_reason": end, "message": message}], "usage": usage}

    rows = [{"id": n, "score": 0, "response": completion(f"so {n}", end)} for n, end in enumerate(["stop", "length"])]
    run = the_run(write_jsonl(tmp_path / "run.jsonl", [*rows, {"id": 2, "score": 0, "response": {"choices": [5]}}]))
    assert places(run, "stop", "calls", "output_tokens") == [
        ("0", 0, "stop", 1, 3),
        ("1", 0, "length", 1, 3),
        ("2", 0, None, None, None),
    ]
    assert [step.text or step.tool for step in reread(run, [("1", 0)])[0].steps or ()] == ["so 1", "go"]


def lm_eval_summary(folder: Path, **figures: float) -> Path:
    """The results of a run of the LM Evaluation Harness, with the mean of each filter."""
    results = {"alias": "sums"} | {f"exact_match,{name}": value for name, value in figures.items()}
    path = folder / "results_2026-01-02T03-04-05.json"
    path.write_text(
        json.dumps({"results": {"sums": results}, "configs": {"sums": {}}, "versions": {}, "n-shot": {"sums": 5}})
    )
    return path


def test_the_summary_of_lm_eval_is_compared_with_its_samples(tmp_path: Path) -> None:
    rows = [doc(n, reader, "4", float(n)) for n in range(2) for reader in ("strict", "loose")]
    write_jsonl(tmp_path / "samples_sums_2026-01-02T03-04-05.jsonl", rows)
    lm_eval_summary(tmp_path, strict=0.5, loose=0.75)
    runs = load(tmp_path)
    assert [(run.agent, run.problem_count, run.settings.get("num_fewshot")) for run in runs] == [
        ("loose", 0, "5"),
        ("strict", 0, "5"),
    ]
    compared = [number for run in runs for number in blade.analyze(run).runs[0].recorded]
    assert [(number.recorded, number.recomputed, number.agrees) for number in compared] == [
        (0.75, 0.5, False),
        (0.5, 0.5, True),
    ]


def test_a_summary_without_samples_says_how_to_write_them(tmp_path: Path) -> None:
    with pytest.raises(BladeError, match="--log_samples writes them"):
        load(lm_eval_summary(tmp_path, none=0.5))
