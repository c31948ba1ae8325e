"""Servers on loopback as strangers meet them: agents told apart, ports, foreign requests, limits, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from blade_gym.config.load import resolve
from blade_gym.config.roots import search_roots, selected
from blade_gym.serve import resources
from blade_gym.serve.fleet import load_environment
from gym_endpoint import KEY, Endpoint, listening, serving
from gym_lab import command, endpoint_words, environ, free_port, gym, here, lab, read, started, task, write

SECOND_AGENT = """
bare_sums:
  resources_servers:
    sums: {entrypoint: app.py, domain: math, description: Sums, verifier: exact_match, with_tools: false}
bare_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: bare_sums}
      model_server: {type: responses_api_models, name: policy_model}
"""
NAMES = ["sums", "sums_simple_agent", "bare_sums", "bare_agent", "policy_model"]
LOW = 12000 + os.getpid() % 7000


def two_agents(folder: Path) -> Path:
    """The lab with a second agent of the same type, in an environment without tools."""
    config = lab(folder, tasks=2) / "resources_servers" / "sums" / "configs" / "sums.yaml"
    config.write_text(config.read_text() + SECOND_AGENT)
    return folder


def ask(port: int, path: str) -> Any:
    return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=5, trust_env=False).json()


def urls(port: int) -> dict[str, str]:
    return {one["process_name"]: one["url"] for one in ask(port, "/server_instances")}


def for_agent(name: str) -> dict[str, Any]:
    return {"agent_ref": {"type": "responses_api_agents", "name": name}}


def test_two_agents_of_one_type_are_told_apart(tmp_path: Path) -> None:
    two_agents(tmp_path)
    rows = [task(1, **for_agent("bare_agent")), task(2, **for_agent("sums_simple_agent")), task(3)]
    data, port = write(tmp_path / "d.jsonl", rows), free_port()
    strange = write(tmp_path / "s.jsonl", [task(1), task(2, **for_agent("simple_agent"))])
    with serving(Endpoint(use_tool=True)) as endpoint, started(tmp_path, endpoint.url, port, LOW):
        words = ("eval", "run", "--no-serve", "--head-port", str(port), "-o")
        code, _, err = here(*words, tmp_path / "r.jsonl", "--input", data, "--agent", "bare_agent")
        assert code == 0, err
        asked = len(endpoint.bodies)
        for given in (("--input", strange, "--agent", "bare_agent"), ("--input", data, "--agent", "simple_agent")):
            code, _, err = here(*words, tmp_path / "x.jsonl", *given)
            assert code == 2
            assert "simple_agent" in err
        code, _, err = here(*words, tmp_path / "x.jsonl", "--input", strange, "--agent", "bare_agent")
        assert f"{strange} has line 2 for simple_agent" in err
        assert "there are: bare_agent, sums_simple_agent" in err
        wrong = httpx.post(f"{urls(port)['bare_agent']}/run", json=rows[1], timeout=5, trust_env=False)
        assert (wrong.status_code, len(endpoint.bodies)) == (422, asked)
        assert wrong.text == (
            "the row task_id='sum-2' is for the agent 'sums_simple_agent' (its agent_ref), and this is bare_agent"
        )
        served = ("eval", "run", *endpoint_words(tmp_path, endpoint.url, KEY))
        code, _, err = here(*served, "--input", strange, "--agent", "bare_agent", "-o", tmp_path / "y.jsonl")
        assert (code, f"{strange} has line 2 for simple_agent" in err) == (2, True)
    found = {
        row["task_id"]: (row["agent_ref"]["name"], row["calls_made"], row["reward"])
        for row in read(tmp_path / "r.jsonl")
    }
    assert found == {
        "sum-1": ("bare_agent", 0, 0.0),
        "sum-2": ("sums_simple_agent", 1, 1.0),
        "sum-3": ("bare_agent", 0, 0.0),
    }
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.parametrize("agent", ["bare_agent", 7, ["bare_agent"]])
def test_an_agent_ref_that_is_no_reference_is_refused(tmp_path: Path, agent: Any) -> None:
    two_agents(tmp_path)
    data = write(tmp_path / "d.jsonl", [task(1, agent_ref=agent)])
    words = ("eval", "run", *endpoint_words(tmp_path, "http://127.0.0.1:9/v1", KEY))
    code, _, err = here(*words, "--input", data, "--agent", "bare_agent", "-o", tmp_path / "r.jsonl")
    assert (code, f"{data}:1: agent_ref is an object" in err) == (2, True)


def foreign_head(port: int, keys: tuple[str, ...]) -> Starlette:
    """A head as NeMo Gym has it, over the servers of ours: `name` is the type, and what names the instance is in `keys`."""
    listed = [
        {
            **dict.fromkeys(("config_path", "process_name", "dir_path", "status", "uptime_seconds")),
            **dict.fromkeys(keys, one["process_name"]),
            **{
                key: one[key]
                for key in ("server_type", "name", "host", "port", "url", "entrypoint", "pid", "start_time")
            },
        }
        for one in ask(port, "/server_instances")
    ]
    text = ask(port, "/global_config_dict_yaml")

    async def instances(request: Any) -> JSONResponse:
        return JSONResponse(listed)

    async def config(request: Any) -> JSONResponse:
        return JSONResponse(text)

    return Starlette(routes=[Route("/server_instances", instances), Route("/global_config_dict_yaml", config)])


@pytest.mark.parametrize("key", ["process_name", "config_path"])
def test_heads_have_one_form_here_and_in_nemo_gym(tmp_path: Path, key: str) -> None:
    two_agents(tmp_path)
    data, port = write(tmp_path / "d.jsonl", [task(1, **for_agent("bare_agent"))]), free_port()
    with serving(Endpoint()) as endpoint, started(tmp_path, endpoint.url, port, LOW) as process:
        listed = ask(port, "/server_instances")
        assert [one["process_name"] for one in listed] == [one["config_path"] for one in listed] == NAMES
        assert {(one["server_type"], one["name"]) for one in listed} == {
            ("resources_servers", "sums"),
            ("responses_api_agents", "simple_agent"),
            ("responses_api_models", "openai_model"),
        }
        assert {one["pid"] for one in listed} == {process.pid}
        config = yaml.safe_load(ask(port, "/global_config_dict_yaml"))
        for one in listed:
            block = config[one["process_name"]][one["server_type"]][one["name"]]
            assert one["url"] == f"http://{block['host']}:{block['port']}"
        with listening(foreign_head(port, (key,))) as other:
            words = ("--no-serve", "--head-port", str(other), "--input", data, "-o", tmp_path / "r.jsonl")
            code, _, err = here("eval", "run", *words)
            assert code == 0, err
            code, out, err = here("env", "status", "--head-port", str(other))
            assert (code, "bare_agent (responses_api_agents)" in out) == (0, True)
    (row,) = read(tmp_path / "r.jsonl")
    assert (row["agent_ref"]["name"], row["reward"]) == ("bare_agent", 1.0)


@pytest.mark.slow
def test_a_second_start_takes_free_ports_and_taken_ones_are_named(tmp_path: Path) -> None:
    lab(tmp_path)
    first, second, url = free_port(), free_port(), "http://127.0.0.1:9/v1"
    with started(tmp_path, url, first, LOW) as process, started(tmp_path, url, second, LOW):
        ours, others = urls(first), urls(second)
        assert len({*ours.values(), *others.values()}) == 6
        for port in (first, second):
            code, out, _ = here("env", "status", "--head-port", str(port))
            assert (code, out.count("ok ")) == (0, 3)
        taken = ours["sums"].rpartition(":")[2]
        words = ("env", "start", *endpoint_words(tmp_path, url, KEY))
        given = f"++sums.resources_servers.sums.port={taken}"
        third = gym(*words, "--head-port", str(free_port()), given, cwd=tmp_path)
        who = f"is taken by process {process.pid} ("
        assert (third.returncode, third.stdout) == (2, "")
        assert f"port {taken} of 127.0.0.1 (sums.resources_servers.sums.port) {who}" in third.stderr
        assert "hint: set sums.resources_servers.sums.port to another port" in third.stderr
        assert "--head-port" not in third.stderr
        fourth = gym(*words, "--head-port", str(first), given, cwd=tmp_path)
        assert f"port {first} of 127.0.0.1 (head_server.port) {who}" in fourth.stderr
        assert "a head server of sums, sums_simple_agent, policy_model" in fourth.stderr
        assert f"port {taken} of" in fourth.stderr, "all are named at once"
        narrow = (f"++port_range_low={taken}", f"++port_range_high={taken}")
        fifth = gym(*words, "--head-port", str(free_port()), *narrow, cwd=tmp_path)
        assert (fifth.returncode, "no port is free for sums" in fifth.stderr) == (2, True)
        for done in (third, fourth, fifth):
            assert "Traceback" not in done.stderr
            assert len(done.stderr.strip().splitlines()) == 2


ROW = task(2)
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("path", ["/run", "/v1/responses", "/nowhere"])
def test_foreign_requests_reach_nothing(tmp_path: Path, path: str) -> None:
    lab(tmp_path)
    port = free_port()
    with serving(Endpoint()) as endpoint, started(tmp_path, endpoint.url, port, LOW, "+max_request_mb=0.01"):
        url = urls(port)["policy_model" if path == "/v1/responses" else "sums_simple_agent"]
        own = url.removeprefix("http://")
        with httpx.Client(timeout=5, trust_env=False, base_url=url) as client:

            def status(body: Any = None, **headers: str) -> int:
                content = json.dumps(ROW).encode() if body is None else body
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                return client.post(path, content=content, headers={**JSON, **named}).status_code

            rebound = ["evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example", ""]
            assert [status(host=name) for name in rebound] == [421] * len(rebound)
            foreign = ["http://evil.example", "null", f"http://127.0.0.1:{port}", f"https://{own}", "http://localhost"]
            assert [status(origin=name) for name in foreign] == [403] * len(foreign)
            kinds = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
            assert [status(content_type=kind) for kind in kinds] == [415] * len(kinds)
            assert status(Content_Type="text/plain") == 415, "two of them"
            assert client.get("/health", headers={"Host": "evil.example"}).status_code == 421
            assert client.options(path, headers={"Origin": "http://evil.example"}).status_code == 403
            huge = json.dumps({**ROW, "more": "x" * 20_000}).encode()
            large = client.post(path, content=huge, headers=JSON)
            assert large.status_code == 413
            assert large.text.startswith("the request is larger than 0.01 MB: max_request_mb")
            if path != "/nowhere":
                assert status(iter([huge[:9000], huge[9000:]])) == 413, "in chunks, without a length"
            assert endpoint.bodies == []
            known = 404 if path == "/nowhere" else 200
            body = json.dumps(ROW["responses_create_params"] if path == "/v1/responses" else ROW).encode()
            assert [status(body, host=name) for name in ("localhost", "LOCALHOST:1", "[::1]:1", own)] == [known] * 4
            assert status(body, origin=f"http://{own}") == known
            assert status(body, content_type="application/json; charset=utf-8") == known


@pytest.mark.parametrize("limit", ["0", "-1", "many", "true"])
def test_a_limit_that_is_none_is_refused(tmp_path: Path, limit: str) -> None:
    lab(tmp_path)
    words = endpoint_words(tmp_path, "http://127.0.0.1:9/v1", KEY)
    code, _, err = here("env", "start", *words, f"+max_request_mb={limit}")
    assert (code, "max_request_mb is a number above 0" in err) == (2, True)


def test_a_row_above_the_limit_is_a_failure_with_the_reason(tmp_path: Path) -> None:
    lab(tmp_path)
    data, port = write(tmp_path / "d.jsonl", [task(1, more="x" * 20_000), task(2)]), free_port()
    with serving(Endpoint()) as endpoint, started(tmp_path, endpoint.url, port, LOW, "+max_request_mb=0.01"):
        words = ("--no-serve", "--head-port", str(port), "--input", data, "-o", tmp_path / "r.jsonl")
        assert here("eval", "run", *words)[0] == 1
    (row,), (failure,) = read(tmp_path / "r.jsonl"), read(tmp_path / "r_failures.jsonl")
    assert (row["task_id"], row["reward"]) == ("sum-2", 1.0)
    assert (failure["reward"], failure["_ng_failure_class"]) == (None, "remote_agent_error")
    assert "HTTP 413 from the agent: the request is larger than 0.01 MB" in failure["error"]


@pytest.mark.parametrize("limit", ["MOST_SESSIONS", "MOST_BYTES"])
def test_a_session_that_was_ended_gives_no_reward(tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, limit, 2 if limit == "MOST_SESSIONS" else 2 * len(json.dumps(task(1))) + 20)
    roots = search_roots([lab(tmp_path)])
    resolved = resolve(
        selected({"resources_server": "sums"}, roots),
        ["++policy_model.responses_api_models.scripted_model.entrypoint=x"],
        roots,
    )
    sums = resolved.instance("sums")
    assert sums is not None
    app = resources.resources_app("sums", load_environment(sums, roots))

    async def talk() -> list[tuple[int, str]]:
        transport = httpx.ASGITransport(app=app)
        said = []
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:

            async def post(path: str, body: Any, session: str = "") -> httpx.Response:
                client.cookies.clear()
                return await client.post(path, json=body, headers={"x-session-id": session} if session else {})

            names = [(await post("/seed_session", task(n))).json()["session_id"] for n in (1, 2, 3)]
            answer = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "2"}]}]}
            for name in names:
                reply = await post("/add", {"a": 1, "b": 1}, name)
                said.append((reply.status_code, reply.cookies.get("session_id") or ""))
            for name in (names[0], "made up"):
                reply = await post("/verify", {**task(1), "response": answer}, name)
                said.append((reply.status_code, reply.text[:10]))
        return [(status, text if text not in names else str(names.index(text))) for status, text in said]

    assert asyncio.run(talk()) == [(410, ""), (200, "1"), (200, "2"), (410, "no session"), (410, "no session")]


def descendants(pid: int) -> set[int]:
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, new = set[int](), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


@contextmanager
def verifying(folder: Path, program: str, path: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """`gym env start` for code_gen, while it verifies a program."""
    port = free_port()
    model = ("--model-type", "openai_model", "-m", "m", "--model-url", "http://127.0.0.1:9/v1", "--model-api-key", "k")
    words = ("env", "start", "--resources-server", "code_gen", *model, "--head-port", str(port), *more)
    ports = (f"++port_range_low={LOW}", f"++port_range_high={LOW + 50}")
    process = subprocess.Popen(
        command(*words, *ports),
        cwd=folder,
        env=environ(PATH=path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    text = f"```python\n{program}\n```"
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    tests = {"inputs": ["1\n"], "outputs": ["1\n"]}
    body = {"responses_create_params": {"input": "x"}, "unit_tests": tests, "response": {"output": [message]}}

    def post(url: str) -> None:
        try:
            httpx.post(f"{url}/verify", json=body, timeout=60, trust_env=False)
        except httpx.HTTPError:
            return

    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "Ctrl-C stops them.\n")
        url = next(line.split()[0] for line in lines if "(resources_servers)" in line)
        threading.Thread(target=post, args=(url,), daemon=True).start()
        deadline = time.monotonic() + 30
        while len(descendants(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)  # the program itself is started by what is there now
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


ENDLESS = "import time\nwhile True:\n    sum(range(10000))\n    time.sleep(0.001)"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("programs", [("bwrap",), ("unshare",), ()])
def test_children_end_when_the_parent_is_killed(tmp_path: Path, programs: tuple[str, ...]) -> None:
    for name in programs:
        if not (Path("/usr/bin") / name).exists():
            pytest.skip(f"{name} is not installed")
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    unsafe = () if programs else ("--unsafe-sandbox",)
    with verifying(tmp_path, ENDLESS, str(tmp_path), *unsafe) as process:
        children = descendants(process.pid)
        assert len(children) >= 2
        process.kill()
        process.wait(10)
        deadline = time.monotonic() + 10
        while (left := {pid for pid in children if running(pid)}) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert left == set()


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_an_interrupt_waits_for_no_program(tmp_path: Path) -> None:
    with verifying(tmp_path, ENDLESS, os.environ["PATH"]) as process:
        children = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, "Traceback" in err, err.splitlines()[-1]) == (0, False, "stopped")
    assert [pid for pid in children if running(pid)] == []


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_prints_no_trace_and_requests_under_way_hear_of_it(tmp_path: Path, which: signal.Signals) -> None:
    lab(tmp_path)
    port = free_port()
    slow = "++policy_model.responses_api_models.openai_model.timeout_seconds=60"
    with serving(Endpoint(delay=30)) as endpoint, started(tmp_path, endpoint.url, port, LOW, slow) as process:
        heard: list[httpx.Response] = []
        url = urls(port)["sums_simple_agent"]
        client = threading.Thread(
            target=lambda: heard.append(httpx.post(f"{url}/run", json=ROW, timeout=30, trust_env=False))
        )
        client.start()
        while not endpoint.bodies:
            time.sleep(0.02)
        process.send_signal(which)
        _, err = process.communicate(timeout=20)
        client.join(20)
    assert (process.returncode, "Traceback" in err, err.splitlines()[-1]) == (0, False, "stopped")
    assert [(reply.status_code, reply.text) for reply in heard] == [(503, "the server stops")]
