"""A program passes its tests, in a child process with limits of time and memory, a folder of its own and no network.

`blade.gym.sandbox` says what the child gives up. What is left open: a program that looks for it can find its tests in the
memory of the process that runs them.

Row
    One of: `unit_tests` (also inside `verifier_metadata`), `{inputs, outputs}` of a program that reads and prints, with
    `fn_name` of a function whose arguments are given, one a line, as JSON; `test` with `entry_point`, a function
    `check(candidate)`, where `prompt` holds what the program begins with, and `test_list` more tests; `test_list` alone, statements that
    must not raise.
    `canonical_solution`: a program that passes.

Config
    `timeout`: seconds of one test, default 5. `total_timeout`: of all, default 30. `memory_mb`: default 1024.

Fields
    `extracted_model_code`, `test_results` (name, passed, message), `tests_passed`, `tests_total`, `failure_reason`.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import subprocess
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blade.gym.answers import LONGEST_SHOWN, fenced
from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.sandbox import process as children
from blade.gym.single_turn import Config

EACH = 5.0
TOTAL = 30.0
MEGABYTES = 1024
START = 30.0
"""Seconds that the child may take to come up; a machine under load needs them."""
LONGEST_CODE = 200_000
LARGEST_REPLY = 4 << 20
CHILD = "blade.gym.sandbox.run_tests"

Tests = list[dict[str, Any]]


def gold(row: Row) -> str | None:
    """The row's own solution in a fence, where it has one."""
    solution = row.get("canonical_solution")
    if not isinstance(solution, str):
        return None
    whole = f"{row.get('prompt', '')}{solution}" if "entry_point" in row else solution
    return f"```python\n{whole}\n```"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when every test passes, else 0."""
    code = extract(text)
    tests = read_tests(row)
    if not tests:
        raise NoVerdict("the row holds no tests", failure_class="skipped", terminal=True)
    refused = _unusable(code)
    results = _failed_all(tests, refused) if refused else run(_complete(row, code or ""), tests, config)
    passed = sum(one["passed"] for one in results)
    fields = {
        "extracted_model_code": code[: LONGEST_SHOWN * 10] if code else None,
        "test_results": results,
        "tests_passed": passed,
        "tests_total": len(results),
        "failure_reason": refused or _reason(results),
    }
    return Verdict(reward=float(passed == len(results)), fields=fields)


def extract(text: str) -> str | None:
    """The last fenced block of Python; without a fence, the message where it reads as a program."""
    inside = fenced(text, "python", "py", "python3")
    if inside is None and "def " in text[:LONGEST_CODE]:
        inside = text
    return textwrap.dedent(inside).strip("\n") or None if inside is not None else None


def _unusable(code: str | None) -> str | None:
    if code is None:
        return "no program was found in the last message"
    return "the program is too long" if len(code) > LONGEST_CODE else None


def _complete(row: Row, code: str) -> str:
    """A program that leaves out what the prompt begins with is put behind it."""
    entry, prompt = row.get("entry_point"), row.get("prompt")
    if not entry or not isinstance(prompt, str):
        return code
    if f"def {entry}" in code:
        head = prompt[: prompt.find(f"def {entry}")] if f"def {entry}" in prompt else ""
        return f"{head}\n{code}"
    return prompt + textwrap.indent(code, "    ")


def read_tests(row: Row) -> Tests:
    """The tests of a row, each with its name."""
    inside = row.get("verifier_metadata")
    listed = row.get("unit_tests") or (inside.get("unit_tests") if isinstance(inside, Mapping) else None)
    listed = json.loads(listed) if isinstance(listed, str) else listed
    if isinstance(listed, Mapping):
        return [_input_test(number, listed, pair) for number, pair in enumerate(_pairs(listed), 1)]
    found = []
    if isinstance(row.get("test"), str) and row.get("entry_point"):
        code = f"{row['test']}\n\ncheck({row['entry_point']})"
        found.append({"name": f"check({row['entry_point']})", "kind": "asserts", "code": code})
    more = row.get("test_list")
    more = more if isinstance(more, list) else []
    return found + [{"name": str(code)[:200], "kind": "asserts", "code": str(code)} for code in more]


def _pairs(listed: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    return iter(list(zip(listed.get("inputs") or [], listed.get("outputs") or [], strict=False)))


def _input_test(number: int, listed: Mapping[str, Any], pair: tuple[Any, Any]) -> dict[str, Any]:
    name = f"test {number}"
    function = listed.get("fn_name")
    if not function:
        return {"name": name, "kind": "prints", "input": pair[0], "output": pair[1]}
    given = [json.loads(line) for line in pair[0].splitlines() if line.strip()] if isinstance(pair[0], str) else pair[0]
    wanted = json.loads(pair[1]) if isinstance(pair[1], str) else pair[1]
    return {"name": name, "kind": "returns", "function": function, "input": given, "output": wanted}


def run(code: str, tests: Tests, config: Config) -> list[dict[str, Any]]:
    """Each test's name, whether it passed, and what went wrong."""
    total = float(config.get("total_timeout", TOTAL))
    token = secrets.token_hex(16)
    job = {
        "code": code,
        "tests": tests,
        "token": token,
        "seconds": total,
        "each": float(config.get("timeout", EACH)),
        "megabytes": int(config.get("memory_mb", MEGABYTES)),
    }
    with tempfile.TemporaryDirectory(prefix="blade-", ignore_cleanup_errors=True) as folder:
        try:
            with children.started(CHILD, Path(folder)) as process:
                said = _said(process, json.dumps(job).encode(), total)
        except OSError as problem:
            raise NoVerdict(f"the tests could not be started: {problem}", failure_class="transient") from problem
    return _results(tests, said, token)


def _said(process: subprocess.Popen[bytes], job: bytes, seconds: float) -> bytes:
    """What the child answered, up to a limit, in its time from when it was ready."""
    assert process.stdin is not None
    assert process.stdout is not None
    deadline = time.monotonic() + START
    try:
        process.stdin.write(job)
        process.stdin.close()
    except BrokenPipeError:
        return b""
    source, said = process.stdout.fileno(), b""
    while len(said) < LARGEST_REPLY:
        if not select.select([source], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        more = os.read(source, 1 << 16)
        if not more:
            break
        deadline = deadline if said else time.monotonic() + seconds
        said += more
    return said


def _results(tests: Tests, said: bytes, token: str) -> list[dict[str, Any]]:
    found: dict[int, str | None] = {}
    for line in said.decode(errors="replace").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == token and rest.startswith("["):
            place, message = json.loads(rest)
            found.setdefault(place, message)
    never = "the program ended the process, or took too much time or memory"
    return [
        {"name": test["name"], "passed": found.get(place, never) is None, "message": found.get(place, never) or ""}
        for place, test in enumerate(tests)
    ]


def _failed_all(tests: Tests, reason: str) -> list[dict[str, Any]]:
    return [{"name": test["name"], "passed": False, "message": reason} for test in tests]


def _reason(results: list[dict[str, Any]]) -> str | None:
    return next((str(one["message"]) for one in results if not one["passed"]), None)
