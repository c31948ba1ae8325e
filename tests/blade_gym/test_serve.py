"""Servers: their contracts in this process, and `gym env start` with `--no-serve` in processes of their own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from blade_gym.config.load import resolve
from blade_gym.serve.fleet import Fleet, assemble
from blade_gym.serve.web import application
from gym_endpoint import KEY, Endpoint, serving
from gym_lab import command, endpoint_words, environ, free_port, gym, here, keys, lab, read, same, started, task, write


def fleet(folder: Path, url: str) -> Fleet:
    words = endpoint_words(folder, url, KEY)
    given = [word for word in words if word.startswith("++")]
    named = {"policy_model_name": "adder-1", "policy_base_url": url, "policy_api_key": KEY}
    from blade_gym.config.roots import search_roots, selected

    roots = search_roots([folder])
    paths = selected({"resources_server": "sums", "model_type": "openai_model"}, roots)
    return assemble(resolve(paths, [*given, *(f"++{name}={value}" for name, value in named.items())], roots))


def talk(parts: Fleet, name: str, *requests: tuple[str, str, Any]) -> list[httpx.Response]:
    """Requests to the server of one instance, in one client that keeps cookies."""

    async def all_of_them() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=parts.apps()[name], raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            replies = []
            for method, path, body in requests:
                content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
                replies.append(await client.request(method, path, content=content))
        await parts.close()
        return replies

    return asyncio.run(all_of_them())


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"output": [{"type": "message", "role": "assistant", "content": [part]}]}


def test_a_resources_server_keeps_sessions_apart_and_verifies(tmp_path: Path) -> None:
    parts = fleet(lab(tmp_path), "http://127.0.0.1:9/v1")
    early, seeded, added, refused, right, wrong, health, tools, mode, document = talk(
        parts,
        "sums",
        ("POST", "/add", {"a": 1, "b": 2}),
        ("POST", "/seed_session", task(3)),
        ("POST", "/add", {"a": 1, "b": 2}),
        ("POST", "/add", {"a": "x"}),
        ("POST", "/verify", {**task(3), "response": message("6")}),
        ("POST", "/verify", {**task(3), "response": message("7")}),
        ("GET", "/health", None),
        ("GET", "/tools", None),
        ("GET", "/reverify_mode", None),
        ("GET", "/openapi.json", None),
    )
    assert (early.status_code, "seed_session" in early.text) == (400, True)
    assert len(seeded.json()["session_id"]) == 32
    assert (added.status_code, added.json()) == (200, {"sum": 3})
    assert (refused.status_code, refused.text[:13]) == (400, "bad arguments")
    assert (right.json()["reward"], right.json()["calls_made"], right.json()["task_id"]) == (1.0, 2, "sum-3")
    assert wrong.json()["reward"] == 0.0
    assert health.json()["status"] == "ok"
    assert [tool["name"] for tool in tools.json()] == ["add"]
    assert mode.json() == {"mode": "stateless"}
    paths = document.json()["paths"]
    assert set(paths) >= {"/seed_session", "/verify", "/add", "/health"}
    assert paths["/add"]["post"]["requestBody"]["content"]["application/json"]["schema"]["type"] == "object"


def test_without_a_session_the_calls_of_a_response_are_carried_out_first(tmp_path: Path) -> None:
    parts = fleet(lab(tmp_path), "http://127.0.0.1:9/v1")
    call = {"type": "function_call", "name": "add", "call_id": "c", "arguments": '{"a": 3, "b": 3}'}
    whole = {"output": [call, *message("6")["output"]]}
    bad: list[Any] = [None, {}, {"output": "6"}, {"output": ["6"]}]
    reply, *refused = talk(parts, "sums", *(("POST", "/verify", {**task(3), "response": one}) for one in (whole, *bad)))
    assert (reply.json()["reward"], reply.json()["calls_made"]) == (1.0, 1)
    assert [one.status_code for one in refused] == [422] * len(bad)


def test_a_judge_that_fails_has_no_reward_over_the_wire(tmp_path: Path) -> None:
    parts = fleet(lab(tmp_path), "http://127.0.0.1:9/v1")
    (reply,) = talk(parts, "sums", ("POST", "/verify", {**task(3, judge="broken"), "response": message("6")}))
    assert (reply.json()["reward"], reply.json()["_ng_failure_class"]) == (None, "judge_failed")


@pytest.mark.parametrize("body", [b"{", b"[1]", b'"x"', b"\xff", b'{"responses_create_params": {"input": 3}}'])
def test_bodies_that_cannot_be_used_are_422(tmp_path: Path, body: bytes) -> None:
    parts = fleet(lab(tmp_path), "http://127.0.0.1:9/v1")
    (reply,) = talk(parts, "sums_simple_agent", ("POST", "/run", body))
    assert reply.status_code == 422


def test_a_model_speaks_both_dialects_and_says_how_it_failed(tmp_path: Path) -> None:
    lab(tmp_path)
    broken = {5: "500", 6: "400", 7: "429"}
    with serving(Endpoint(fault=lambda number, tried: broken.get(number))) as endpoint:
        ask = [{"role": "user", "content": "What is 2 + 2?"}]
        plain, chat, models, *bad = talk(
            fleet(tmp_path, endpoint.url),
            "policy_model",
            ("POST", "/v1/responses", {"input": ask, "seed": 1}),
            ("POST", "/v1/chat/completions", {"messages": ask, "max_tokens": 5}),
            ("GET", "/v1/models", None),
            *(("POST", "/v1/responses", {"input": f"What is {n} + {n}?"}) for n in (5, 6, 7)),
        )
    assert plain.json()["output"][0]["content"][0]["text"] == "4"
    required = {"id", "created_at", "model", "object", "output", "parallel_tool_calls", "tool_choice", "tools"}
    assert required <= set(plain.json()), "agents of NeMo Gym take no response without these"
    assert chat.json()["choices"][0]["message"] == {"role": "assistant", "content": "4"}
    assert chat.json()["usage"]["total_tokens"] == 12
    assert models.json()["data"][0]["id"] == "adder-1"
    assert [reply.status_code for reply in bad] == [502, 400, 429]
    assert bad[2].headers["retry-after"] == "0.05"
    assert endpoint.bodies[1]["max_output_tokens"] == 5


def test_an_agent_runs_a_row_and_answers_requests(tmp_path: Path) -> None:
    lab(tmp_path)
    with serving(Endpoint(use_tool=True)) as endpoint:
        row, answer = talk(
            fleet(tmp_path, endpoint.url),
            "sums_simple_agent",
            ("POST", "/run", task(3)),
            ("POST", "/v1/responses", task(4)["responses_create_params"]),
        )
    assert (row.json()["reward"], row.json()["calls_made"]) == (1.0, 1)
    assert answer.json()["output"][-1]["content"][0]["text"] == "8"


def test_an_application_has_health_and_openapi() -> None:
    assert {route.path for route in application("x", ()).routes} == {"/health", "/openapi.json"}  # type: ignore[attr-defined]


def test_servers_of_their_own_give_the_same_rollouts_and_stop_cleanly(tmp_path: Path) -> None:
    lab(tmp_path, tasks=4)
    data = "resources_servers/sums/data/example.jsonl"
    port, low = free_port(), 12000 + os.getpid() % 7000
    with serving(Endpoint(use_tool=True)) as endpoint, started(tmp_path, endpoint.url, port, low) as process:
        head = ("--head-port", str(port))
        code, out, err = here("env", "status", "--json", *head)
        assert code == 0, err
        assert {one["process_name"]: one["status"] for one in json.loads(out)} == {
            "sums": "ok",
            "sums_simple_agent": "ok",
            "policy_model": "ok",
        }
        config = httpx.get(f"http://127.0.0.1:{port}/global_config_dict_yaml", timeout=5, trust_env=False).text
        assert KEY not in config
        assert (
            yaml.safe_load(json.loads(config))["policy_model"]["responses_api_models"]["openai_model"]["openai_api_key"]
            == "****"
        )
        again = gym("env", "start", *endpoint_words(tmp_path, endpoint.url, KEY), *head, cwd=tmp_path)
        assert (again.returncode, "is taken" in again.stderr) == (2, True)
        wanted = ("--agent", "sums_simple_agent", "--input", data, "--num-repeats", "2", "--search-dir", tmp_path)
        code, _, err = here("eval", "run", "--no-serve", *head, *wanted, "-o", tmp_path / "results" / "far.jsonl")
        assert code == 0, err
        lost = ("--agent", "nobody", "--input", data, "--search-dir", tmp_path)
        code, _, err = here("eval", "run", "--no-serve", *head, *lost, "-o", tmp_path / "x.jsonl")
        assert (code, "no server runs for the agent nobody" in err) == (2, True)
        words = [*endpoint_words(tmp_path, endpoint.url, KEY), "--split", "example"]
        assert here("eval", "run", *words, "-o", tmp_path / "results" / "near.jsonl")[0] == 0
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, err.strip()) == (0, "stopped")
        assert "sums_simple_agent (responses_api_agents)" in out
        assert KEY not in out + err
    far, near = read(tmp_path / "results" / "far.jsonl"), read(tmp_path / "results" / "near.jsonl")
    assert same(far) == same(near)
    manifest = json.loads((tmp_path / "results" / "far_manifest.json").read_text())
    assert (manifest["model"]["name"], manifest["model"]["type"], manifest["limits"]["max_steps"]) == (
        "adder-1",
        "openai_model",
        4,
    )
    assert (manifest["benchmark"], manifest["verifier"], manifest["num_repeats"]) == ("sums", "exact_match", 2)
    assert "resources_servers/sums/app.py" in manifest["verifier_code"]["files"]


def test_an_agent_that_dies_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    lab(tmp_path, tasks=30)
    port, low = free_port(), 12000 + os.getpid() % 7000
    with serving(Endpoint(delay=0.1)) as endpoint, started(tmp_path, endpoint.url, port, low) as process:
        words: list[str | Path] = [
            "eval",
            "run",
            "--no-serve",
            "--head-port",
            str(port),
            "--agent",
            "sums_simple_agent",
            "--search-dir",
            tmp_path,
        ]
        wanted = [
            *words,
            "--input",
            "resources_servers/sums/data/example.jsonl",
            "--concurrency",
            "2",
            "-o",
            "results/r.jsonl",
        ]
        client = subprocess.Popen(
            command(*wanted), cwd=tmp_path, env=environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        output = tmp_path / "results" / "r.jsonl"
        deadline = time.monotonic() + 60
        while not (output.exists() and output.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        _, err = client.communicate(timeout=120)
    assert client.returncode == 2, err
    assert "20 rollouts in a row all failed with unreachable: the agent's server" in err
    rows, failures = read(output), read(tmp_path / "results" / "r_failures.jsonl")
    assert rows
    assert len(set(keys(rows + failures))) == len(rows) + len(failures)
    assert {row["_ng_failure_class"] for row in failures} <= {"remote_agent_error", "unreachable"}


def test_without_a_head_the_message_says_how_to_start_one(tmp_path: Path) -> None:
    data = write(tmp_path / "d.jsonl", [task(1)])
    wanted = ("--input", data, "--agent", "a", "-o", tmp_path / "r.jsonl", "--head-port", str(free_port()))
    code, _, err = here("eval", "run", "--no-serve", *wanted)
    assert (code, "gym env start" in err) == (2, True)
    port = str(free_port())
    code, _, err = here("env", "status", "--head-port", port)
    assert (code, "no head server answers" in err, f"--head-port {port}" in err) == (2, True, True)


def test_another_program_at_the_port_of_the_head_is_named() -> None:
    with serving(Endpoint()) as endpoint:
        port = endpoint.url.rpartition(":")[2].partition("/")[0]
        code, _, err = here("env", "status", "--head-port", port)
    assert (code, f"something else answers at http://127.0.0.1:{port}" in err, "--head-port N" in err) == (
        2,
        True,
        True,
    )


def test_servers_that_skip_verification_give_rows_without_a_reward(tmp_path: Path) -> None:
    lab(tmp_path, tasks=2)
    port, low = free_port(), 12000 + os.getpid() % 7000
    wanted = ("--input", "resources_servers/sums/data/example.jsonl", "--search-dir", tmp_path)
    skip = "+skip_verification=true"
    with serving(Endpoint()) as endpoint, started(tmp_path, endpoint.url, port, low, skip):
        code, _, err = here("eval", "run", "--no-serve", "--head-port", str(port), *wanted, "-o", tmp_path / "r.jsonl")
    assert code == 0, err
    assert {(row["reward"], row["verification_skipped"]) for row in read(tmp_path / "r.jsonl")} == {(None, True)}


def test_metrics_are_aggregated_by_servers_that_run(tmp_path: Path) -> None:
    lab(tmp_path, tasks=1)
    port, low = free_port(), 12000 + os.getpid() % 7000
    rewards = [[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]]
    rows = [
        {"_ng_task_index": place, "_ng_rollout_index": repeat, "reward": float(reward), "agent_ref": {"name": name}}
        for place, row in enumerate(rewards)
        for repeat, (reward, name) in enumerate(zip(row, "abab", strict=True))
    ]
    bare = [{"_ng_task_index": 5, "reward": 1.0}, {"_ng_task_index": 5, "reward": 0.0}]
    with started(tmp_path, "http://127.0.0.1:9/v1", port, low), httpx.Client(trust_env=False, timeout=20) as client:
        listed = client.get(f"http://127.0.0.1:{port}/server_instances").json()
        urls = {one["server_type"]: one["url"] for one in listed}

        def ask(group: str, body: Any) -> httpx.Response:
            return client.post(f"{urls[group]}/aggregate_metrics", json=body)

        found = ask("resources_servers", {"verify_responses": rows[::-1]})
        assert ask("responses_api_agents", {"verify_responses": rows}).json() == found.json()
        unnumbered = ask("resources_servers", {"verify_responses": bare}).json()
        empty = ask("resources_servers", {"verify_responses": []})
        wrong = [
            ask("resources_servers", body)
            for body in (
                {},
                {"verify_responses": [3]},
                {"verify_responses": [{"reward": 1.0}]},
                {"verify_responses": rows[:1] * 2},
            )
        ]
        document = client.get(f"{urls['resources_servers']}/openapi.json").json()
    metrics = found.json()
    assert set(metrics) == {"group_level_metrics", "agent_metrics", "key_metrics"}
    # three tasks x 4: 6 of 12; two of three tasks pass at least once in four
    assert metrics["agent_metrics"]["mean/reward"] == 0.5
    assert metrics["agent_metrics"]["pass@1/accuracy"] == 50.0
    assert round(metrics["agent_metrics"]["pass@4/accuracy"], 3) == 66.667
    assert metrics["key_metrics"]["mean/reward"] == 0.5
    assert [row["mean/reward"] for row in metrics["group_level_metrics"]] == [1.0, 0.0, 0.5]
    assert [info["rollout_id"] for info in unnumbered["group_level_metrics"][0]["rollout_infos"]] == ["5:0", "5:1"]
    assert empty.json() == {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}
    assert [reply.status_code for reply in wrong] == [422] * 4
    assert "/aggregate_metrics" in document["paths"]
