"""`gym eval run` against a real server on loopback: nothing lost, nothing doubled, classes right, keys nowhere."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gym_endpoint import BODIES, KEY, Endpoint, serving
from gym_lab import APP, command, endpoint_words, environ, gym, here, keys, lab, read, same, task, write

FAULTS = {1: "500", 2: "429", 3: "malformed", 4: "drop", 5: "truncated", 6: "slow", 7: "no choices"}


def first_try(number: int, tried: int) -> str | None:
    """Each prompt fails when it is asked for the first time."""
    return FAULTS.get(number) if tried == 1 else None


def run(folder: Path, endpoint: Endpoint, *words: str | Path, out: str = "r") -> tuple[int, str, str]:
    output = folder / "results" / f"{out}.jsonl"
    return here("eval", "run", *endpoint_words(folder, endpoint.url, KEY), "--output", output, *words)


def results(folder: Path, out: str = "r") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    home = folder / "results"
    return read(home / f"{out}.jsonl"), read(home / f"{out}_failures.jsonl")


def test_errors_delays_and_broken_connections_lose_and_double_nothing(tmp_path: Path) -> None:
    lab(tmp_path, tasks=8)
    with serving(Endpoint(fault=first_try)) as endpoint:
        code, out, err = run(tmp_path, endpoint, "--split", "example")
    rows, failures = results(tmp_path)
    assert code == 0, err
    assert keys(rows) == [(task, repeat) for task in range(8) for repeat in range(2)]
    assert failures == []
    assert {row["reward"] for row in rows} == {1.0}
    assert "mean reward 1.000" in err
    assert "Key metrics for sums_simple_agent" in out
    assert "next: blade analyze" in out


def test_what_never_answers_is_a_failure_of_its_class_and_no_reward(tmp_path: Path) -> None:
    rows = [task(0), task(1), task(2), task(3, judge="broken"), task(4, judge="bug"), task(5), task(6)]
    always = {1: "500", 2: "400", 5: "slow", 6: "malformed"}
    lab(tmp_path, rows=rows)
    with serving(Endpoint(fault=lambda number, tried: always.get(number))) as endpoint:
        code, _, err = run(tmp_path, endpoint, "--split", "example", "--num-repeats", "1")
    done, failures = results(tmp_path)
    assert code == 1
    assert keys(done) == [(0, 0)]
    found = {row["_ng_task_index"]: row for row in failures}
    assert {index: row["_ng_failure_class"] for index, row in found.items()} == {
        1: "transient",
        2: "refused_request",
        3: "judge_failed",
        4: "environment_error",
        5: "model_timeout",
        6: "bad_response",
    }
    assert {row["reward"] for row in failures} == {None}
    assert [index for index, row in found.items() if row["_ng_failure_terminal"]] == [2]
    assert found[3]["response"]["output"][0]["content"][0]["text"] == "6"
    assert found[3]["_ng_failure_judge_error"] == "the judge did not answer"
    assert endpoint.asked["What is 1 + 1?"] == 3, "tries have a limit"
    assert endpoint.asked["What is 2 + 2?"] == 1, "what is refused is not asked again"
    assert "1 rollout failed: judge_failed" in err


@pytest.mark.parametrize("routes", [("responses", "chat"), ("chat",)])
def test_a_malformed_reply_never_becomes_a_reward(tmp_path: Path, routes: tuple[str, ...]) -> None:
    faults = sorted(BODIES)
    lab(tmp_path, tasks=len(faults))
    with serving(Endpoint(routes=routes, fault=lambda number, tried: faults[number])) as endpoint:
        code, _, err = run(tmp_path, endpoint, "--split", "example", "--num-repeats", "1")
        rows, failures = results(tmp_path)
        assert (code, rows, keys(failures)) == (1, [], [(n, 0) for n in range(len(faults))]), err
        assert {row["_ng_failure_class"] for row in failures} == {"bad_response", "transient"}
        endpoint.fault = lambda number, tried: None
        code, _, err = run(tmp_path, endpoint, "--split", "example", "--num-repeats", "1", "--resume")
    rows, _ = results(tmp_path)
    assert code == 0, err
    assert (keys(rows), {row["reward"] for row in rows}) == ([(n, 0) for n in range(len(faults))], {1.0})


def test_tools_are_called_over_both_dialects(tmp_path: Path) -> None:
    lab(tmp_path, tasks=2)
    for name, routes in (("a", ("responses", "chat")), ("b", ("chat",))):
        with serving(Endpoint(routes=routes, use_tool=True)) as endpoint:
            assert run(tmp_path, endpoint, "--split", "example", "--num-repeats", "1", out=name)[0] == 0
        rows, _ = results(tmp_path, name)
        kinds = [item["type"] for item in rows[0]["response"]["output"]]
        assert kinds == ["function_call", "function_call_output", "message"]
        assert rows[0]["response"]["usage"]["total_tokens"] == 24
        assert (rows[0]["calls_made"], rows[0]["reward"]) == (1, 1.0)
        assert rows[0]["responses_create_params"]["tools"][0]["name"] == "add"


def test_concurrency_is_bounded(tmp_path: Path) -> None:
    lab(tmp_path, tasks=9)
    with serving(Endpoint(delay=0.05)) as endpoint:
        assert run(tmp_path, endpoint, "--split", "example", "--concurrency", "3")[0] == 0
    assert endpoint.most_at_once == 3


def test_limit_counts_tasks_and_repeats_come_from_the_config(tmp_path: Path) -> None:
    lab(tmp_path, tasks=6)
    with serving(Endpoint()) as endpoint:
        run(tmp_path, endpoint, "--split", "example", "--limit", "3", out="a")
        run(tmp_path, endpoint, "--split", "example", "--limit", "3", "--num-repeats", "1", out="b")
    assert keys(results(tmp_path, "a")[0]) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert keys(results(tmp_path, "b")[0]) == [(0, 0), (1, 0), (2, 0)]


def test_the_key_is_written_nowhere(tmp_path: Path) -> None:
    lab(tmp_path, tasks=2)
    with serving(Endpoint(fault=lambda number, tried: "echo" if number == 1 else None)) as endpoint:
        words = ["eval", "run", *endpoint_words(tmp_path, endpoint.url, KEY), "--split", "example"]
        done = gym(*words, "--output", "results/r.jsonl", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert KEY not in done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["resources_servers", "results"]
    assert "what is ****?" in (tmp_path / "results" / "r_failures.jsonl").read_text()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) >= 8
    assert [path.name for path in written if KEY.encode() in path.read_bytes()] == []


def test_a_refused_key_ends_the_run_early_and_says_so(tmp_path: Path) -> None:
    lab(tmp_path, tasks=60)
    with serving(Endpoint()) as endpoint:
        words = endpoint_words(tmp_path, endpoint.url, "wrong-key")
        code, _, err = here("eval", "run", *words, "--split", "example", "--output", tmp_path / "r.jsonl")
        assert code == 2
        assert "all failed with not_authorized" in err
        failed = read(tmp_path / "r_failures.jsonl")
        assert 20 <= len(failed) < 120
        assert not any(row["_ng_failure_terminal"] for row in failed)
        words = endpoint_words(tmp_path, endpoint.url, KEY)
        code, _, err = here("eval", "run", *words, "--split", "example", "--output", tmp_path / "r.jsonl", "--resume")
    assert code == 0, err
    assert len(read(tmp_path / "r.jsonl")) == 120


def test_an_endpoint_that_is_down_ends_the_run_and_uses_up_no_attempt(tmp_path: Path) -> None:
    lab(tmp_path, tasks=60)
    with serving(Endpoint()) as endpoint:
        words = (tmp_path, endpoint, "--split", "example", "--num-repeats", "1")
        for _ in range(4):
            gone = Endpoint(url="http://127.0.0.1:9/v1")
            code, _, err = run(tmp_path, gone, *words[2:], "--resume")
            assert (code, "rollouts in a row all failed with unreachable" in err) == (2, True), err
        failed = results(tmp_path)[1]
        assert {row["_ng_failure_class"] for row in failed} == {"unreachable"}
        assert max(Counter(keys(failed)).values()) > 3, "the same rollouts were tried in every run"
        code, _, err = run(*words, "--resume")
        assert code == 0, err
    assert len(results(tmp_path)[0]) == 60


def test_a_server_that_dies_on_the_way_ends_the_run_too(tmp_path: Path) -> None:
    lab(tmp_path, tasks=60)
    endpoint = Endpoint()
    endpoint.fault = lambda number, tried: "401" if len(endpoint.bodies) > 10 else None
    with serving(endpoint):
        code, _, err = run(tmp_path, endpoint, "--split", "example", "--num-repeats", "1", "--concurrency", "4")
    assert (code, "in a row all failed with not_authorized" in err) == (2, True), err
    assert 0 < len(results(tmp_path)[0]) <= 10
    assert len(results(tmp_path)[1]) < 30


def test_each_class_of_failure_has_its_own_last_error_and_the_next_commands_work(tmp_path: Path) -> None:
    lab(tmp_path, tasks=4)
    faults = {1: "400", 2: "500", 3: "malformed"}
    with serving(Endpoint(fault=lambda number, tried: faults.get(number))) as endpoint:
        code, out, err = run(tmp_path, endpoint, "--split", "example")
        assert code == 1
        assert "2 rollouts failed: refused_request; the last error: HTTP 400: context too long" in err
        assert "2 rollouts failed: transient; the last error: HTTP 500: out of luck" in err
        assert "2 rollouts failed: bad_response; the last error: the reply is not JSON" in err
        assert "6 rollouts without a reward; the same command with --resume tries 4 of them again" in err
        (profile,) = [line for line in out.splitlines() if line.startswith("next: gym eval profile")]
        assert here(*profile.removeprefix("next: gym ").split())[0] == 0
        endpoint.fault = lambda number, tried: "400"
        code, out, err = run(tmp_path, endpoint, "--split", "example", out="none")
        assert (code, "next:" in out) == (1, False)
        assert "8 rollouts without a reward; the same command with --resume would try none of them again" in err
        endpoint.fault = lambda number, tried: None
        code, out, err = run(tmp_path, endpoint, "--split", "example", out="all")
        assert (code, "--allow-partial" in out, "next: gym eval profile" in out) == (0, False, True)


def test_a_bad_line_in_the_middle_is_named_and_what_stood_there_runs_again(tmp_path: Path) -> None:
    lab(tmp_path, tasks=4)
    with serving(Endpoint()) as endpoint:
        assert run(tmp_path, endpoint, "--split", "example")[0] == 0
        path = tmp_path / "results" / "r.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:2], b'{"half": \n', *lines[3:]]))
        code, _, err = run(tmp_path, endpoint, "--split", "example", "--resume")
        assert code == 0, err
        assert "r.jsonl: line 3: not a row; left as it is, and what stood there runs again" in err
        kept = path.read_bytes().splitlines(keepends=True)
        assert (kept[2], len(kept)) == (b'{"half": \n', 9)
        inputs = tmp_path / "results" / "r_materialized_inputs.jsonl"
        inputs.write_bytes(inputs.read_bytes() + b"[]\n")
        code, _, err = run(tmp_path, endpoint, "--split", "example", "--resume")
        assert (code, "r_materialized_inputs.jsonl:9: not a row" in err) == (2, True)


def test_resume_retries_by_class_and_stops_at_the_limit(tmp_path: Path) -> None:
    lab(tmp_path, tasks=4)
    broken = {1: "500", 2: "400"}
    endpoint = Endpoint(fault=lambda number, tried: broken.get(number))
    with serving(endpoint):
        words = ("--split", "example", "--num-repeats", "1")
        assert run(tmp_path, endpoint, *words)[0] == 1
        for attempts in (2, 3):
            assert run(tmp_path, endpoint, *words, "--resume")[0] == 1
            assert Counter(keys(results(tmp_path)[1])) == {(1, 0): attempts, (2, 0): 1}
        _, _, err = run(tmp_path, endpoint, *words, "--resume")
        assert "attempts used up; NEMO_GYM_MAX_ROLLOUT_ATTEMPTS is" in err
        assert "terminal" in err
        assert Counter(keys(results(tmp_path)[1])) == {(1, 0): 3, (2, 0): 1}
        assert [row.get("_ng_attempt_index") for row in results(tmp_path)[1]] == [None, None, 1, 2]
    assert keys(results(tmp_path)[0]) == [(0, 0), (3, 0)]


def test_a_mended_endpoint_fills_the_gap_with_the_attempt_on_the_row(tmp_path: Path) -> None:
    lab(tmp_path, tasks=3)
    endpoint = Endpoint(fault=lambda number, tried: "500" if number == 1 and tried <= 3 else None)
    with serving(endpoint):
        words = ("--split", "example", "--num-repeats", "1")
        assert run(tmp_path, endpoint, *words)[0] == 1
        assert run(tmp_path, endpoint, *words, "--resume")[0] == 0
    rows, failures = results(tmp_path)
    assert [row.get("_ng_attempt_index") for row in sorted(rows, key=lambda row: row["_ng_task_index"])] == [
        None,
        1,
        None,
    ]
    assert len(failures) == 1


def test_resume_refuses_another_config_and_names_what_differs(tmp_path: Path) -> None:
    lab(tmp_path, tasks=3)
    with serving(Endpoint()) as endpoint:
        words = ("--split", "example", "--temperature", "0.2")
        assert run(tmp_path, endpoint, *words)[0] == 0
        before = (tmp_path / "results" / "r.jsonl").read_bytes()
        code, _, err = run(tmp_path, endpoint, "--split", "example", "--temperature", "0.9", "--resume")
        assert code == 2
        assert "sampling.temperature: 0.2 -> 0.9" in err
        code, _, err = run(tmp_path, endpoint, *words, "--num-repeats", "5", "--resume")
        assert "num_repeats: 2 -> 5" in err
        example = tmp_path / "resources_servers" / "sums" / "data" / "example.jsonl"
        write(example, [task(n) for n in range(4)])
        code, _, err = run(tmp_path, endpoint, *words, "--resume")
        assert "dataset.0.sha256" in err
        write(example, [task(n) for n in range(3)])
        assert run(tmp_path, endpoint, *words, "--resume", "--concurrency", "2")[0] == 0, "speed is no difference"
    assert (tmp_path / "results" / "r.jsonl").read_bytes() == before


def test_resume_refuses_another_verifier_and_names_its_file(tmp_path: Path) -> None:
    lab(tmp_path, tasks=3)
    home = tmp_path / "resources_servers" / "sums"
    (home / "rubric.txt").write_text("exact")
    with serving(Endpoint(fault=lambda number, tried: "500" if number == 1 else None)) as endpoint:
        words = ("--split", "example", "--num-repeats", "1")
        assert run(tmp_path, endpoint, *words)[0] == 1
        manifest = json.loads((tmp_path / "results" / "r_manifest.json").read_text())
        files = manifest["verifier_code"]["files"]
        assert "blade_gym/environment.py" in files
        assert not [name for name in files if "/data/" in name or "/configs/" in name]
        for name, text in (("app.py", APP.replace("said == str(", "said != str(")), ("rubric.txt", "loose")):
            before = (home / name).read_text()
            (home / name).write_text(text)
            code, _, err = run(tmp_path, endpoint, *words, "--resume")
            assert (code, f"verifier_code.files.resources_servers/sums/{name}" in err) == (2, True), err
            (home / name).write_text(before)
        endpoint.fault = lambda number, tried: None
        assert run(tmp_path, endpoint, *words, "--resume")[0] == 0


def test_a_new_run_replaces_failures_too_and_an_unfinished_one_is_not_lost_by_mistake(tmp_path: Path) -> None:
    lab(tmp_path, tasks=3)
    endpoint = Endpoint(fault=lambda number, tried: "500" if number == 1 else None)
    with serving(endpoint):
        assert run(tmp_path, endpoint, "--split", "example")[0] == 1
        endpoint.fault = lambda number, tried: None
        code, _, err = run(tmp_path, endpoint, "--split", "example")
        assert code == 0
        assert "is replaced" in err
        assert len(results(tmp_path)[0]) == 6
        assert results(tmp_path)[1] == []
        manifest = tmp_path / "results" / "r_manifest.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "ended_at": None}))
        code, _, err = run(tmp_path, endpoint, "--split", "example")
        assert code == 2
        assert "did not end" in err
        assert len(results(tmp_path)[0]) == 6
        assert run(tmp_path, endpoint, "--split", "example", "--overwrite")[0] == 0
        assert run(tmp_path, endpoint, "--split", "example", "--overwrite", "--resume")[0] == 2


def test_a_finished_run_is_replaced_by_the_same_command_and_by_no_other(tmp_path: Path) -> None:
    lab(tmp_path, tasks=2)
    with serving(Endpoint()) as endpoint, serving(Endpoint()) as elsewhere:
        assert run(tmp_path, endpoint, "--split", "example")[0] == 0
        before = (tmp_path / "results" / "r.jsonl").read_bytes()
        cases = ((endpoint, ("--temperature", "0.9"), "sampling.temperature"), (elsewhere, (), "the model's address"))
        for other, words, why in cases:
            code, _, err = run(tmp_path, other, "--split", "example", *words)
            assert (code, "a finished run of other settings" in err, why in err) == (2, True, True)
            assert (tmp_path / "results" / "r.jsonl").read_bytes() == before
        code, _, err = run(tmp_path, endpoint, "--split", "example")
        assert (code, "is replaced" in err) == (0, True)
        assert run(tmp_path, endpoint, "--split", "example", "--temperature", "0.9", "--overwrite")[0] == 0
    assert {row["responses_create_params"]["temperature"] for row in results(tmp_path)[0]} == {0.9}


def test_rows_of_an_unknown_run_are_never_thrown_away_by_mistake(tmp_path: Path) -> None:
    lab(tmp_path, tasks=1)
    rows = write(tmp_path / "results" / "r.jsonl", [{"precious": True}])
    with serving(Endpoint()) as endpoint:
        for words in ((), ("--resume",)):
            code, _, err = run(tmp_path, endpoint, "--split", "example", *words)
            assert (code, "--overwrite" in err) == (2, True)
            assert read(rows) == [{"precious": True}]
        assert run(tmp_path, endpoint, "--split", "example", "--overwrite")[0] == 0
    assert keys(read(rows)) == [(0, 0), (0, 1)]


def test_a_full_disk_leaves_whole_rows(tmp_path: Path) -> None:
    program = """
import resource, sys
from pathlib import Path
from blade.model.errors import RequestError
from blade_gym.run.artifacts import RowFile
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
file = RowFile(Path(sys.argv[1]))
try:
    for number in range(100):
        file.append({"number": number, "text": "x" * 100})
except RequestError as error:
    print(error.message)
"""
    path = tmp_path / "r.jsonl"
    words = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environ(), timeout=60)
    assert "cannot write" in done.stdout
    assert [row["number"] for row in read(path)] == list(range(len(read(path))))
    assert path.read_bytes().endswith(b"\n")


def test_listing_and_help_load_no_server(tmp_path: Path) -> None:
    asked = "from blade_gym.cli import main\nimport sys\nsys.argv = ['gym', {words}]\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
    ending = "print([name for name in ('httpx', 'starlette', 'uvicorn', 'xllamacpp', 'polars') if name in sys.modules])"
    for words in ("'--help'", "'eval', 'run', '--help'", "'list', 'benchmarks', '--json'"):
        program = asked.format(words=words) + ending
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=environ(),
            cwd=tmp_path,
            timeout=60,
        )
        assert done.stdout.splitlines()[-1] == "[]", words


def test_a_cut_at_any_byte_is_mended(tmp_path: Path) -> None:
    lab(tmp_path, tasks=4)
    chance = random.Random(7)
    with serving(Endpoint()) as endpoint:
        assert run(tmp_path, endpoint, "--split", "example")[0] == 0
        path = tmp_path / "results" / "r.jsonl"
        whole = path.read_bytes()
        ends = [n + 1 for n, byte in enumerate(whole) if byte == 10]
        cuts = [0, 1, ends[0] - 1, ends[0], ends[-1] - 1, *(chance.randrange(len(whole)) for _ in range(5))]
        for cut in cuts:
            path.write_bytes(whole[:cut])
            code, _, err = run(tmp_path, endpoint, "--split", "example", "--resume")
            assert code == 0, err
            assert same(read(path)) == same([json.loads(line) for line in whole.splitlines()])
    assert (tmp_path / "results" / "r.jsonl.torn").is_file()


@pytest.mark.slow
def test_kills_at_random_points_lose_and_double_nothing(tmp_path: Path) -> None:
    lab(tmp_path, tasks=12)
    chance = random.Random(11)
    with serving(Endpoint(delay=0.15, fault=first_try)) as endpoint:
        assert run(tmp_path, endpoint, "--split", "example", "--concurrency", "4", out="calm")[0] == 0
        words = [*endpoint_words(tmp_path, endpoint.url, KEY), "--split", "example", "--concurrency", "4"]
        wanted = [*words, "--output", "results/killed.jsonl", "--resume"]
        output = tmp_path / "results" / "killed.jsonl"
        killed = 0
        for _ in range(30):
            process = subprocess.Popen(
                command("eval", "run", *wanted),
                cwd=tmp_path,
                env=environ(),
                stderr=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            before = len(output.read_bytes()) if output.exists() else 0
            deadline, wait = time.monotonic() + 60, chance.uniform(0.0, 0.4)
            while process.poll() is None and time.monotonic() < deadline:
                if output.exists() and len(output.read_bytes()) > before:
                    time.sleep(wait)
                    process.send_signal(signal.SIGKILL)
                    break
                time.sleep(0.005)
            process.communicate(timeout=60)
            killed += process.returncode == -signal.SIGKILL
            if process.returncode == 0:
                break
    assert process.returncode == 0
    assert killed >= 3
    rows, failures = results(tmp_path, "killed")
    assert same(rows) == same(results(tmp_path, "calm")[0])
    assert failures == []
    assert json.loads((tmp_path / "results" / "killed_manifest.json").read_text())["ended_at"] is not None


def test_an_interrupt_leaves_a_run_that_goes_on(tmp_path: Path) -> None:
    lab(tmp_path, tasks=10)
    with serving(Endpoint(delay=0.3)) as endpoint:
        words = [*endpoint_words(tmp_path, endpoint.url, KEY), "--split", "example", "--concurrency", "2"]
        wanted = ["eval", "run", *words, "--output", "results/r.jsonl"]
        process = subprocess.Popen(
            command(*wanted), cwd=tmp_path, env=environ(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        output = tmp_path / "results" / "r.jsonl"
        deadline = time.monotonic() + 60
        while not (output.exists() and output.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "--resume" in err
        assert "Traceback" not in err
        some = len(read(output))
        assert 0 < some < 20
        endpoint.delay = 0.0
        assert run(tmp_path, endpoint, *words[-4:], "--resume")[0] == 0
    assert keys(results(tmp_path)[0]) == [(task, repeat) for task in range(10) for repeat in range(2)]


def test_two_runs_do_not_write_to_one_file(tmp_path: Path) -> None:
    from blade_gym.run.artifacts import RowFile

    lab(tmp_path, tasks=1)
    held = RowFile(tmp_path / "results" / "r.jsonl")
    held.lock()
    with serving(Endpoint()) as endpoint:
        code, _, err = run(tmp_path, endpoint, "--split", "example")
    held.close()
    assert code == 2
    assert "another run writes to" in err


def test_shards_make_the_same_rollouts_as_one_run(tmp_path: Path) -> None:
    lab(tmp_path, tasks=7)
    with serving(Endpoint()) as endpoint:
        assert run(tmp_path, endpoint, "--split", "example", out="whole")[0] == 0
        for number in (1, 2, 3):
            shard = ("--shard", f"{number}/3", "--disable-aggregation")
            assert run(tmp_path, endpoint, "--split", "example", *shard, out=f"shard{number}")[0] == 0
            assert not (tmp_path / "results" / f"shard{number}_aggregate_metrics.json").exists()
        assert run(tmp_path, endpoint, "--split", "example", "--shard", "4/3")[0] == 2
    merged = tmp_path / "results" / "merged.jsonl"
    code, _, err = here("eval", "aggregate", "-i", f"{tmp_path}/results/shard*.jsonl", "-o", merged)
    assert code == 0, err
    assert same(read(merged)) == same(results(tmp_path, "whole")[0])
    inputs = read(tmp_path / "results" / "merged_materialized_inputs.jsonl")
    assert same(inputs) == same(read(tmp_path / "results" / "whole_materialized_inputs.jsonl"))
    manifest = json.loads((tmp_path / "results" / "merged_manifest.json").read_text())
    assert (manifest["shard"], len(manifest["task_ids"])) == (None, 7)


def sharded(folder: Path, endpoint: Endpoint, number: int, of: int, *words: str, out: str) -> None:
    shard = ("--shard", f"{number}/{of}", "--disable-aggregation", *words)
    code, _, err = run(folder, endpoint, "--split", "example", *shard, out=out)
    assert code == 0, err


def test_a_missing_shard_is_named_and_its_tasks_are_expected(tmp_path: Path) -> None:
    import blade

    rows = [task(n) for n in range(10)]
    for n, row in enumerate(rows):
        row["responses_create_params"]["temperature"] = 0.1 * (n % 3)
    lab(tmp_path, rows=rows)
    with serving(Endpoint()) as endpoint:
        for number in (1, 2):
            sharded(tmp_path, endpoint, number, 3, out=f"shard{number}")
    merged = tmp_path / "results" / "merged.jsonl"
    code, out, err = here("eval", "aggregate", "-i", f"{tmp_path}/results/shard*.jsonl", "-o", merged)
    assert code == 0, err
    assert "shard 3/3 is missing: 3 tasks and 6 rollouts are counted as expected" in err
    assert "coverage 0.700 (14 of 20)" in out
    manifest = json.loads((tmp_path / "results" / "merged_manifest.json").read_text())
    assert manifest["missing_shards"] == ["3/3"]
    assert manifest["missing_tasks"] == {"sum-2": 2, "sum-5": 2, "sum-8": 2}
    assert manifest["ended_at"] is None
    found = blade.load_run(str(merged))
    assert Counter(found.rollouts["outcome"].to_list()) == {"passed": 14, "missing": 6}


def test_what_is_missing_of_a_merged_run_is_missing_until_its_shard_comes(tmp_path: Path) -> None:
    results_of = tmp_path / "results"
    lab(tmp_path, tasks=10)
    with serving(Endpoint()) as endpoint:
        for number in (1, 2, 3):
            sharded(tmp_path, endpoint, number, 3, out=f"shard{number}")
    two, again, whole = (results_of / f"{name}.jsonl" for name in ("two", "again", "whole"))
    assert here("eval", "aggregate", "-i", f"{results_of}/shard[12].jsonl", "-o", two)[0] == 0
    for words in (("profile", "--rollouts", two), ("aggregate", "-i", two, "-o", again)):
        code, out, err = here("eval", *words)
        assert (code, "coverage 0.700 (14 of 20)" in out) == (0, True), out
        assert "shard 3/3 is missing: 3 tasks and 6 rollouts are counted as expected" in err
    code, out, err = here("eval", "aggregate", "-i", f"{again},{results_of}/shard3.jsonl", "-o", whole)
    assert (code, "missing" in err, "coverage 1.000 (20 of 20)" in out) == (0, False, True), out + err
    assert "coverage 1.000 (20 of 20)" in here("eval", "profile", "--rollouts", whole)[1]


def test_shards_of_different_runs_are_not_pooled(tmp_path: Path) -> None:
    lab(tmp_path, tasks=6)
    with serving(Endpoint()) as endpoint:
        sharded(tmp_path, endpoint, 1, 2, "--temperature", "0", out="a1")
        sharded(tmp_path, endpoint, 2, 2, "--temperature", "1", out="a2")
        sharded(tmp_path, endpoint, 2, 3, "--temperature", "0", out="b2")
    merged = tmp_path / "results" / "merged.jsonl"
    for pattern, why in (("a*", "sampling.temperature: 0.0 -> 1.0"), ("[ab][12]", "of another run")):
        for more in ((), ("--no-merge",)):
            code, _, err = here("eval", "aggregate", "-i", f"{tmp_path}/results/{pattern}.jsonl", "-o", merged, *more)
            assert (code, why in err) == (2, True), err
    (tmp_path / "results" / "a2.jsonl").unlink()
    code, _, err = here("eval", "aggregate", "-i", f"{tmp_path}/results/[ab]?.jsonl", "-o", merged)
    assert (code, "parts of different cuts" in err) == (2, True), err
    assert not list((tmp_path / "results").glob("merged*"))


def test_a_shard_without_tasks_is_a_part_like_any_other(tmp_path: Path) -> None:
    lab(tmp_path, tasks=2)
    with serving(Endpoint()) as endpoint:
        for number in (1, 2, 3):
            sharded(tmp_path, endpoint, number, 3, out=f"shard{number}")
    merged = tmp_path / "results" / "merged.jsonl"
    code, out, err = here("eval", "aggregate", "-i", f"{tmp_path}/results/shard*.jsonl", "-o", merged)
    assert (code, "coverage 1.000 (4 of 4)" in out) == (0, True), err
