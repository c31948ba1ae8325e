"""A small benchmark in a folder: sums, with a tool that adds, and a verifier that wants the number."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from gym_endpoint import KEY

ROOT = Path(__file__).parents[1]

APP = """
from __future__ import annotations

import json

from blade_gym.environment import NoVerdict, ToolError, Verdict

TOOL = {
    "type": "function",
    "name": "add",
    "description": "Add two numbers",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
}


class Session:
    def __init__(self, row):
        self.row, self.calls = row, 0

    async def call(self, tool, arguments):
        self.calls += 1
        if tool != "add":
            raise ToolError(f"no tool {tool}")
        try:
            return json.dumps({"sum": arguments["a"] + arguments["b"]})
        except (KeyError, TypeError) as error:
            raise ToolError(f"bad arguments: {error}") from None

    async def verify(self, response):
        texts = [part["text"] for item in response["output"] if item.get("type") == "message"
                 for part in item["content"] if part["type"] == "output_text"]
        if self.row.get("judge") == "broken":
            raise NoVerdict("the judge did not answer")
        if self.row.get("judge") == "bug":
            raise ZeroDivisionError("a bug of the environment")
        said = texts[-1].strip() if texts else ""
        reward = float(said == str(self.row["expected_answer"]))
        return Verdict(reward=reward, fields={"extracted_answer": said, "expected_answer": str(self.row["expected_answer"]),
                                              "calls_made": self.calls})


class Sums:
    def __init__(self, config):
        self.tools = [TOOL] if config.get("with_tools", True) else []

    def open(self, row):
        return Session(row)

    def gold(self, row):
        part = {"type": "output_text", "text": str(row["expected_answer"]), "annotations": []}
        return [{"type": "message", "role": "assistant", "content": [part]}]


def environment(config):
    return Sums(config)
"""

CONFIG = """
sums:
  resources_servers:
    sums: {entrypoint: app.py, domain: math, description: Sums, verifier: exact_match}
sums_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: sums}
      model_server: {type: responses_api_models, name: policy_model}
      max_steps: 4
      datasets:
        - {name: example, type: example, jsonl_fpath: resources_servers/sums/data/example.jsonl, num_repeats: 2}
"""


def task(number: int, **more: Any) -> dict[str, Any]:
    """What is `number` plus `number`?"""
    asked = f"What is {number} + {number}?"
    return {
        "responses_create_params": {"input": [{"role": "user", "content": asked}]},
        "expected_answer": str(2 * number),
        "task_id": f"sum-{number}",
        **more,
    }


def lab(folder: Path, tasks: int = 6, rows: list[dict[str, Any]] | None = None) -> Path:
    """The folder with the benchmark in it, to be given as --search-dir."""
    home = folder / "resources_servers" / "sums"
    (home / "configs").mkdir(parents=True)
    (home / "data").mkdir()
    (home / "app.py").write_text(APP)
    (home / "configs" / "sums.yaml").write_text(CONFIG)
    write(home / "data" / "example.jsonl", rows if rows is not None else [task(n) for n in range(tasks)])
    return folder


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def command(*words: str | Path) -> list[str]:
    """`gym` with these words, as a process of its own."""
    return [sys.executable, "-c", "from blade_gym.cli import main; main()", *map(str, words)]


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), **more}


def gym(*words: str | Path, cwd: Path, timeout: float = 120, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `gym` to its end."""
    return subprocess.run(
        command(*words), capture_output=True, text=True, check=False, cwd=cwd, timeout=timeout, env=environ(**more)
    )


def here(*words: str | Path) -> tuple[int, str, str]:
    """Run `gym` in this process: exit code, stdout, stderr; a refusal is code 2 with its two lines."""
    from typer.testing import CliRunner

    from blade.model.errors import BladeError
    from blade_gym.cli import app

    done = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(done.exception, BladeError):
        return 2, done.stdout, f"error: {done.exception.message}\nhint: {done.exception.hint}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def endpoint_words(folder: Path, url: str, key: str) -> list[str]:
    """Options that run the sums of a folder against an endpoint."""
    model = ["--model-type", "openai_model", "-m", "adder-1", "--model-url", url, "--model-api-key", key]
    fast = "policy_model.responses_api_models.openai_model"
    quick = [f"++{fast}.retry_seconds=0.01", f"++{fast}.max_tries=3", f"++{fast}.timeout_seconds=1.0"]
    return ["--resources-server", "sums", "--search-dir", str(folder), *model, *quick]


def keys(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return sorted((row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows)


def same(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in order, without what an attempt adds and the clock says: equal for equal runs."""
    other = ("_ng_attempt_index", "seconds")
    plain = [{name: value for name, value in row.items() if name not in other} for row in rows]
    return sorted(json.dumps(row, sort_keys=True) for row in plain)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def started(folder: Path, url: str, port: int, low: int, *more: str) -> Iterator[subprocess.Popen[str]]:
    words = [*endpoint_words(folder, url, KEY), *more]
    ports = [f"++port_range_low={low}", f"++port_range_high={low + 50}"]
    process = subprocess.Popen(
        command("env", "start", *words, "--head-port", str(port), *ports),
        cwd=folder,
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            try:
                httpx.get(f"http://127.0.0.1:{port}/health", timeout=1, trust_env=False)
                break
            except httpx.HTTPError:
                time.sleep(0.05)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)
