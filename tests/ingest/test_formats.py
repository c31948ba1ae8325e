"""Inspect logs, compressed files, plain rows."""

import json
import random
import zipfile
from pathlib import Path

import pytest

from blade.core.errors import BladeError
from blade.core.run import Run
from blade.ingest.reread import reread
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
        ("huh", "unscored"),
        ({"a": 1}, "unscored"),
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
