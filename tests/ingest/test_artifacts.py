"""Which files the user's words stand for."""

import json
from pathlib import Path

import pytest

from blade.ingest.artifacts import find
from blade.ingest.formats import formats
from blade.model.errors import ArtifactError, BladeError, RequestError
from builders import Row, load, load_rows, outcomes, reasons, rollout, task, write_bytes, write_jsonl

FAILED = [rollout("b", repeat=0) | {"_ng_failure_class": "timeout"}]


def names(*inputs: Path | str) -> list[str]:
    return [bundle.path.name for bundle in find([str(text) for text in inputs]).bundles]


def sidecars(folder: Path) -> None:
    write_jsonl(folder / "run_failures.jsonl", FAILED)
    write_jsonl(folder / "run_materialized_inputs.jsonl", [{"_ng_task_index": 0, "responses_create_params": {}}])
    write_jsonl(folder / "run_reward_profiling.jsonl", [{"_ng_task_index": 0, "mean/reward": 0.0}])
    (folder / "run_aggregate_metrics.json").write_text(json.dumps([{"agent_metrics": {"mean/reward": 0.5}}]))
    (folder / "run_agent_metrics.json").write_text("[]")
    (folder / "config.yaml").write_text("policy_model_name: m\n")
    (folder / "manifest.json").write_text("{}")


def test_sidecars_are_found_by_stem(tmp_path: Path) -> None:
    sidecars(tmp_path)
    path = write_jsonl(tmp_path / "run.jsonl", [rollout("a", index=0)])
    (bundle,) = find([str(path)]).bundles
    roles = ["agent-metrics", "aggregate", "config", "failures", "inputs", "manifest", "profile"]
    assert sorted(bundle.sidecars) == roles
    write_jsonl(tmp_path / "running.jsonl", [rollout("a")])
    (other,) = find([str(tmp_path / "running.jsonl")]).bundles
    assert sorted(other.sidecars) == ["config", "manifest"]


def test_compressed_rollouts_have_plain_and_compressed_sidecars(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run_failures.jsonl.zst", FAILED)
    write_jsonl(tmp_path / "run.jsonl.gz", [rollout("a", repeat=0)])
    (run,) = load(tmp_path / "run.jsonl.gz")
    assert outcomes(run) == ["failed", "errored"]


@pytest.mark.parametrize("pattern", ["*", "*.jsonl", "**/*", "run*"])
def test_a_glob_may_swallow_sidecars(tmp_path: Path, pattern: str) -> None:
    sidecars(tmp_path)
    write_jsonl(tmp_path / "run.jsonl", [rollout("a", index=0, repeat=0)])
    found = find([str(tmp_path / pattern)])
    assert [bundle.path.name for bundle in found.bundles] == ["run.jsonl"]
    assert found.problems == ()


def test_a_sidecar_alone_is_refused_with_its_role(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run_failures.jsonl", FAILED)
    with pytest.raises(ArtifactError, match="failures sidecar of a run whose rollouts are not beside it") as caught:
        find([str(path)])
    assert caught.value.hint


@pytest.mark.parametrize(
    ("sidecar", "role"), [("r_materialized_inputs.jsonl", "inputs"), ("r_failures.jsonl", "failures")]
)
def test_a_sidecar_given_for_its_rollouts_names_them(tmp_path: Path, sidecar: str, role: str) -> None:
    write_jsonl(tmp_path / sidecar, [rollout("t")])
    main = write_jsonl(tmp_path / "r.jsonl", [rollout("t")])
    with pytest.raises(ArtifactError, match=f"{sidecar} is the {role} sidecar of a run") as raised:
        find([str(tmp_path / sidecar)])
    assert f"its rollouts are in {main}" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("name", "indent", "rows", "command"),
    [
        ("a.json", None, [1, 2], "jq -c '.[]' a.json > a_lines.jsonl"),
        ("a.jsonl", 2, [[]], "jq -c '.[]' a.jsonl > a_lines.jsonl"),
        ("a.jsonl", 2, {"reward": 1}, "jq -c . a.jsonl > a_lines.jsonl"),
    ],
)
def test_one_value_over_a_whole_file_is_refused_with_the_way_to_lines(
    tmp_path: Path, name: str, indent: int | None, rows: object, command: str
) -> None:
    (tmp_path / name).write_text(json.dumps(rows, indent=indent))
    with pytest.raises(ArtifactError, match="one object a line is expected") as raised:
        find([str(tmp_path / name)])
    assert command in str(raised.value)


def test_a_folder_is_searched_in_order_of_path_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.jsonl", ".hidden/x.jsonl", ".x.jsonl", "notes.txt"):
        write_jsonl(tmp_path / name, [rollout("a")])
    assert names(tmp_path) == ["z.jsonl", "b.jsonl"]


def test_data_that_a_runner_collated_is_not_looked_at(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [rollout("a", passed=True)])
    (tmp_path / "r" / "preprocessed_datasets").mkdir(parents=True)
    (tmp_path / "r" / "preprocessed_datasets" / "benchmark_metrics.json").write_text('{"rows": 1}')
    found = find([str(tmp_path)])
    assert ([one.path.name for one in found.bundles], found.problems) == (["r.jsonl"], ())


def test_counted_sidecars_of_no_rollouts_are_not_passed_over_in_silence(tmp_path: Path) -> None:
    sidecars(tmp_path)
    for n in range(2):
        write_jsonl(tmp_path / f"run_shard{n}.jsonl", [rollout(f"t{n}")])
    problems = find([str(tmp_path)]).problems
    assert [problem.source.artifact.rpartition("/")[2] for problem in problems] == [
        "run_failures.jsonl",
        "run_materialized_inputs.jsonl",
    ]
    assert "whose rollouts are not beside it" in problems[0].reason


def test_a_file_named_twice_is_one_file(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [rollout("a")])
    assert names(path, tmp_path, tmp_path / "." / "run.jsonl", str(tmp_path / "*.jsonl")) == ["run.jsonl"]


def test_a_file_of_inputs_in_the_folder_tells_about_the_tasks(tmp_path: Path) -> None:
    dataset: list[Row] = [
        {"responses_create_params": {"input": text}, "expected_answer": text.upper(), "level": "x"} for text in "abc"
    ]
    write_jsonl(tmp_path / "inputs.jsonl", dataset)
    write_jsonl(tmp_path / "run.jsonl", [rollout(prompt="a"), rollout(prompt="b"), rollout(prompt="a", passed=True)])
    (run,) = load(tmp_path)
    assert sorted(run.tasks["expected"]) == ["A", "B"]
    assert set(run.tasks["id_kind"]) == {"key+prompt"}
    assert run.rollouts.height == 3


def test_a_file_of_inputs_alone_is_refused(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "inputs.jsonl", [{"responses_create_params": {"input": "a"}, "question": "a"}])
    for text in (path, tmp_path):
        with pytest.raises(BladeError) as caught:
            find([str(text)])
        assert caught.value.hint


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the file is empty"),
        (b"\n\n  \n", "the file is empty"),
        (b"<PLACEHOLDER ROW>\n" * 5, "no line that is a JSON object"),
        (bytes(range(256)) * 40, "no line that is a JSON object"),
        (b"1\n2\n[3]\n", "no line that is a JSON object"),
    ],
)
def test_a_file_without_rows_is_refused_with_the_reason(tmp_path: Path, data: bytes, why: str) -> None:
    path = write_bytes(tmp_path / "run.jsonl", data)
    with pytest.raises(ArtifactError, match=why) as caught:
        find([str(path)])
    assert caught.value.hint


def test_the_fields_of_rows_that_are_no_rollouts_are_named(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", [{"prompt": "?", "completion": "!", "grade": 1}])
    with pytest.raises(ArtifactError, match=r"not rollouts; its fields are prompt .*completion .*grade"):
        find([str(path)])


def test_a_refused_file_beside_a_good_one_is_a_problem(tmp_path: Path) -> None:
    write_bytes(tmp_path / "bad.jsonl", b"<PLACEHOLDER ROW>\n")
    run = load_rows(tmp_path, rollout("a"))
    assert run.problems == ()
    (run,) = load(tmp_path)
    assert "/bad.jsonl: it has no line that is a JSON object" in reasons(run)[0]


@pytest.mark.parametrize("text", ["nowhere.jsonl", "nowhere/*.jsonl"])
def test_what_is_not_there_is_said(tmp_path: Path, text: str) -> None:
    with pytest.raises(ArtifactError, match="no such file or folder") as caught:
        find([str(tmp_path / text)])
    assert caught.value.hint


def test_nothing_asked_is_a_request_that_cannot_be_served() -> None:
    with pytest.raises(RequestError, match="no run was given"):
        find([])


def test_an_unknown_format_is_said_with_the_known_ones(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [rollout("a")])
    with pytest.raises(RequestError) as caught:
        find([str(path)], "excel")
    assert caught.value.hint == "known: " + ", ".join(known.name for known in formats())


def test_the_format_can_be_forced(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "rows.json", [rollout("a"), rollout("b")])
    with pytest.raises(ArtifactError, match="no log of a known harness"):
        find([str(path)])
    (run,) = load(path, format="plain")
    assert (run.artifacts[0].format, run.tasks.height) == ("plain", 2)


def test_a_compressed_file_needs_no_ending(tmp_path: Path) -> None:
    packed = write_jsonl(tmp_path / "a.jsonl.gz", [rollout("a"), rollout("b")])
    path = packed.rename(tmp_path / "run.jsonl")
    (run,) = load(path)
    assert run.tasks.height == 2


def test_sidecars_that_cannot_be_read_are_problems(tmp_path: Path) -> None:
    sidecars(tmp_path)
    (tmp_path / "run_aggregate_metrics.json").write_text("{torn")
    (tmp_path / "config.yaml").write_text("a: [b\n")
    (tmp_path / "manifest.json").write_text("[]")
    (tmp_path / "run_reward_profiling.jsonl").write_text("nonsense\n")
    run = load_rows(tmp_path, rollout("a", index=0, repeat=0))
    assert sorted(str(problem.source) for problem in run.problems) == [
        "config.yaml",
        "manifest.json",
        "run_aggregate_metrics.json",
        "run_reward_profiling.jsonl",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '[{"agent_metrics": {"mean/reward": NaN, "x": 1e400, "mean/y": 2}, "group_level_metrics": 5}]',
        '[{"agent_ref": {"name": ["x"]}, "mean/y": 2}]',
        '{"mean/y": 2, "agent_ref": null}',
        '[null, 3, {"mean/y": 2, "huge": ' + "9" * 400 + "}]",
    ],
)
def test_odd_numbers_in_sidecars_are_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "run_aggregate_metrics.json").write_text(text)
    run = load_rows(tmp_path, rollout("a"))
    assert [(stated.name, stated.value) for stated in run.stated] == [("mean/y", 2.0)]


def test_a_config_that_names_itself_is_read_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 {temperature: 0.5}"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    (tmp_path / "config.yaml").write_text("\n".join(lines))
    assert load_rows(tmp_path, rollout("a")).settings["temperature"] == "0.5"


def test_stated_numbers_are_of_the_runs_agent(tmp_path: Path) -> None:
    entries = [
        {"agent_ref": {"name": name}, "agent_metrics": {"mean/reward": value}}
        for name, value in (("x", 0.1), ("y", 0.9))
    ]
    (tmp_path / "run_aggregate_metrics.json").write_text(json.dumps(entries))
    run = load_rows(tmp_path, rollout("a", agent="y"))
    assert [(stated.name, stated.value) for stated in run.stated] == [("mean/reward", 0.9)]


def test_the_group_field_must_exist(tmp_path: Path) -> None:
    rows = [rollout(name, repository=f"r{name in 'ab'}") for name in "abcd"]
    run = load_rows(tmp_path, *rows, group="repository")
    assert [task(run, name)["group"] for name in "abcd"] == ["rTrue", "rTrue", "rFalse", "rFalse"]
    with pytest.raises(RequestError, match="no row has a field 'repo'") as caught:
        load_rows(tmp_path, *rows, group="repo")
    assert "repository" in caught.value.hint
