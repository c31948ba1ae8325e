"""Whether the agent's program was installed, started, reached its model and ended by itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from attempts import attempt, call, ran, said, seen
from blade.ingest.fields import using_roles
from blade.model.roles import FieldRole, Roles

NODE = """node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: spawn ps ENOENT
    at ChildProcess._handle.onexit (node:internal/child_process:285:19)

Node.js v20.19.4
root@box:/app#
"""
PYTHON = """Traceback (most recent call last):
  File "/usr/lib/agent/main.py", line 12, in <module>
    loop()
  File "/usr/lib/agent/main.py", line 9, in loop
    raise ValueError("no content")
ValueError: no content
$
"""


@pytest.mark.parametrize(
    ("terminal", "words"),
    [
        (NODE, "Error: spawn ps ENOENT"),
        (PYTHON, "ValueError: no content"),
        ("panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\nuser@box:~$ ", "panic:"),
        ("thread 'main' panicked at src/main.rs:4:5\n$ ", "thread 'main' panicked"),
        ("./agent.sh: line 3:   41 Segmentation fault      (core dumped) agent\nroot@box:/# ", "Segmentation fault"),
    ],
)
def test_a_program_that_dies_in_the_middle_of_a_call(terminal: str, words: str) -> None:
    rollout = attempt(*ran("ls", "a.txt"), call("KillShell", '{"id": "7"}', "c2"), terminal=terminal)
    assert seen(rollout)["agent:crashed"] == ["KillShell"]
    assert words in terminal


@pytest.mark.parametrize(
    "rollout",
    [
        attempt(*ran("python x.py", PYTHON), said("It raises."), terminal=PYTHON),
        attempt(call("bash", "{}"), terminal=PYTHON, session={"ended": True}),
        attempt(call("bash", "{}"), terminal="all is well\nroot@box:/# "),
        attempt(call("bash", "{}"), terminal="Traceback (most recent call last):\nTimeoutError: agent timed out\n$ "),
        attempt(*ran("ls", NODE)),
    ],
    ids=["a message follows", "the session ended", "no trace", "a limit of time", "the trace is a result"],
)
def test_what_is_no_crash(rollout: object) -> None:
    assert "agent:crashed" not in seen(rollout)  # type: ignore[arg-type]


def test_a_command_that_the_shell_does_not_find() -> None:
    terminal = "npm error code ENOSPC\nbash: agent: command not found\nroot@box:/app# agent -p 'do it'\nbash: agent: command not found\nroot@box:/app# "
    found = seen(attempt(terminal=terminal, trajectory=False))
    assert found["agent:no-start"] == ["agent"]
    assert "agent:install-failed" in found
    assert "agent:no-output" not in found


def test_a_task_may_print_that_a_command_is_not_found() -> None:
    terminal = "sh: 1: foo: not found\nthe agent began to work\nand went on\n"
    assert "agent:no-start" not in seen(attempt(terminal=terminal, trajectory=False))
    assert "agent:no-start" not in seen(
        attempt(*ran("foo", "sh: 1: foo: not found"), said("So be it."), terminal=terminal)
    )


def test_no_output() -> None:
    assert seen(attempt()) == {"agent:no-output": [""]}
    assert seen(attempt(trajectory=False)) == {"agent:no-output": ["no trajectory"]}
    assert seen(attempt(passed=True)) == {"agent:no-output": [""]}
    assert "agent:no-output" not in seen(attempt(said("42")))


@pytest.mark.parametrize(
    "words",
    [
        "API Error: Connection error.",
        "Error code: 429 - {'error': {'message': 'slow down'}}",
        "openai.RateLimitError: too many requests",
        "503 Service Unavailable error",
    ],
)
def test_an_error_in_place_of_an_answer(words: str) -> None:
    assert seen(attempt(said(words)))["agent:api-error"] == [words]
    assert seen(attempt(said(words), passed=True))["hollow:no-model-call"] == [words]


def test_an_answer_about_errors_is_an_answer() -> None:
    found = seen(attempt(said("The API error was in parse(): I fixed it and the tests pass.")))
    assert "agent:api-error" not in found
    worked = (*ran("ls", "x"), said("API Error: Connection error."))
    assert "hollow:no-model-call" not in seen(attempt(*worked, passed=True))
    never = attempt(*worked, passed=True, session={"duration_api_ms": 0, "ended": True})
    assert "hollow:no-model-call" in seen(never)


@pytest.mark.parametrize(
    "status", ["agent_timeout", "AgentTimeoutError", "TIME_LIMIT", "wall-clock exceeded", "timed out"]
)
def test_a_status_that_names_a_limit_of_time(status: str) -> None:
    found = seen(attempt(said("still at it"), status=status))
    assert found["agent:cut-by-time"] == [status]
    assert found["status"] == [status]


@pytest.mark.parametrize(
    "status",
    ["test_timeout", "VerifierTimeoutError", "completed", "unset", "max_turns", "EnvironmentStartTimeoutError"],
)
def test_a_status_that_does_not(status: str) -> None:
    found = seen(attempt(said("done"), status=status))
    assert "agent:cut-by-time" not in found
    assert found["status"] == [status]


@pytest.mark.parametrize(
    ("status", "limit"),
    [("max_turns", "steps"), ("step limit reached", "steps"), ("max_output_tokens", "tokens"), ("oom_killed", None)],
)
def test_a_status_that_names_another_limit(status: str, limit: str | None) -> None:
    found = [kind for kind in seen(attempt(said("still at it"), status=status)) if kind.startswith("agent:cut-by-")]
    assert found == ([f"agent:cut-by-{limit}"] if limit else [])


def test_an_agent_whose_program_is_not_there() -> None:
    terminal = "bash: line 1: /usr/local/bin/agent-cli: No such file or directory\n"
    assert seen(attempt(terminal=terminal, trajectory=False))["agent:no-start"] == ["/usr/local/bin/agent-cli"]
    other = "ls: cannot access '/usr/local/agent': No such file or directory\n"
    assert "agent:no-start" not in seen(attempt(terminal=other, trajectory=False))


def test_passes_have_their_status() -> None:
    assert seen(attempt(said("done"), status="unset", passed=True))["status"] == ["unset"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("litellm.RateLimitError: too many requests on this key", "agent:api-error"),
        ("gave up after 5 tries: 503 Service Unavailable", "agent:api-error"),
        ("httpx.ReadTimeout", "agent:api-error"),
        ("BadRequestError: your prompt is too long for this model", "agent:context-full"),
    ],
)
def test_what_a_harness_records_beside_a_silent_agent(words: str, kind: str) -> None:
    assert kind in seen(attempt(trajectory=False, note=words))
    recorded = msgspec.structs.replace(attempt(error=words), error=words)
    assert kind in seen(recorded)
    assert "agent:api-error" not in seen(attempt(said("It is 7."), note=words))


@pytest.mark.parametrize("words", ["judge: RateLimitError", "test_rate_limit failed", "wrong number of calls"])
def test_what_is_no_error_of_the_model(words: str) -> None:
    assert "agent:api-error" not in seen(attempt(trajectory=False, note=words))


def test_an_install_that_its_harness_reports_as_failed() -> None:
    terminal = "SetupError: Command failed (exit 1): curl -s https://get.it | sh && pkg install agent\n"
    assert "agent:install-failed" in seen(attempt(terminal=terminal, trajectory=False))


def test_an_environment_that_was_lost_is_recorded_in_the_words_of_the_last_results() -> None:
    words = "the execution environment was shut down by the host"
    dead = (*ran("ls src", words, "a"), *ran("pwd", words, "b"), said("I stop."))
    assert seen(attempt(*dead, notes={"trouble": {"why": words}}))["environment:lost"] == [words]
    assert "environment:lost" not in seen(attempt(*dead))
    same = (*ran("make", words, "a"), *ran("make", words, "b"), said("I stop."))
    assert "environment:lost" not in seen(attempt(*same, trouble=words))
    went_on = (*dead[:4], *ran("ls", "a.txt", "c"), said("Done."))
    assert "environment:lost" not in seen(attempt(*went_on, trouble=words))


def test_what_a_builder_reports_stands_anywhere_in_the_row() -> None:
    words = 'E: Failed to fetch http://deb.test/tmux.deb\nERROR: service "client" failed to build'
    assert "environment:failed" in seen(attempt(run={"part": {"trouble": words}}))
    assert "environment:failed" not in seen(attempt(said("Done."), run={"part": {"trouble": words}}))


@pytest.mark.parametrize(
    ("took", "ended", "cut"),
    [(901.2, False, True), (901.2, True, False), (890.0, False, False), (960.0, False, False)],
)
def test_an_agent_that_runs_as_long_as_the_row_allows(took: float, ended: bool, cut: bool) -> None:
    last = (said("Done."),) if ended else ()
    found = seen(attempt(*ran("make world", "ok" if ended else None), *last, took=took, task={"limit": 900, "n": 897}))
    told = ["task.limit is 900, and the agent ran for 901 s"]
    assert found.get("agent:at-time-limit") == (told if cut else None)


@pytest.mark.parametrize(("name", "limits"), [("spent", False), ("max_agent_seconds", True)])
def test_a_round_amount_that_was_measured_is_no_limit(name: str, limits: bool) -> None:
    amounts: dict[str, Any] = {name: 900, "count": 890}
    row = attempt(*ran("make world", None), took=901.2, **amounts)
    assert "agent:at-time-limit" in seen(row), "nothing tells that it was measured"
    with using_roles(Roles(fields=(FieldRole(path=name, role="duration", why="an amount"),))):
        assert ("agent:at-time-limit" in seen(row)) is limits
