"""A program passes its tests. It runs in a sandbox, gets inputs and gives data; every comparison is made outside.

`docs/verifiers.md` says what the sandbox holds back. A test that runs out of processor time fails, whatever else the
machine does; where the machine was too busy to tell, there is no verdict.

Row
    One of: `unit_tests` (also inside `verifier_metadata`), `{inputs, outputs}` of a program that reads and prints, with
    `fn_name` of a function whose arguments are given, one a line, as JSON; `test` with `entry_point`, a function
    `check(candidate)`, where `prompt` holds what the program begins with, and `test_list` more tests; `test_list` alone,
    statements that must not raise. `canonical_solution`: a program that passes.

Config
    `unit_test_timeout_secs` (or `timeout`): seconds of processor time for one test, default 10. `memory_mb`: default 2048.

Fields
    `extracted_model_code`, `test_results` (name, passed, message), `tests_passed`, `tests_total`, `failure_reason`.
"""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from blade.gym.answers import LONGEST_SHOWN, fenced
from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.sandbox import walls
from blade.gym.sandbox.programs import Limits, run_tests
from blade.gym.single_turn import Config

SECONDS = 10.0
MEGABYTES = 2048
LONGEST_CODE = 200_000

Tests = list[dict[str, Any]]


def ready() -> None:
    """Raise RequestError where programs cannot be run here."""
    walls.for_programs()


def gold(row: Row) -> str | None:
    """The row's own solution in a fence, where it has one."""
    solution = row.get("canonical_solution")
    if not isinstance(solution, str):
        return None
    whole = f"{row.get('prompt', '')}{solution}" if "entry_point" in row else solution
    return f"```python\n{whole}\n```"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when every test passes, else 0."""
    tests = read_tests(row)
    if not tests:
        raise NoVerdict("the row holds no tests", failure_class="skipped", terminal=True)
    code = extract(text) if _listed(row) is None else last_block(text)
    refused = _unusable(code)
    if refused:
        results = [{"name": test["name"], "passed": False, "message": refused} for test in tests]
    else:
        seconds = float(config.get("unit_test_timeout_secs") or config.get("timeout") or SECONDS)
        limits = Limits(seconds=seconds, megabytes=int(config.get("memory_mb", MEGABYTES)))
        results = run_tests(_complete(row, code or ""), tests, limits)
    passed = sum(result["passed"] for result in results)
    fields = {
        "extracted_model_code": code[: LONGEST_SHOWN * 10] if code else None,
        "test_results": results,
        "tests_passed": passed,
        "tests_total": len(results),
        "failure_reason": next((result["message"] for result in results if not result["passed"]), None),
    }
    return Verdict(reward=float(passed == len(results)), fields=fields)


def last_block(text: str) -> str | None:
    """What stands between the last two lines with a fence, as LiveCodeBench takes it; None without two such lines."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if "```" in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) or None if len(fences) > 1 else None


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
        return f"{_head(row)}\n{code}"
    return prompt + textwrap.indent(code, "    ")


def _head(row: Row) -> str:
    """What the prompt defines before the function that is asked for."""
    prompt, entry = str(row.get("prompt") or ""), f"def {row.get('entry_point')}"
    return prompt[: prompt.find(entry)] if entry in prompt else ""


def _listed(row: Row) -> Mapping[str, Any] | None:
    """Inputs and outputs, where the row has them."""
    inside = row.get("verifier_metadata")
    listed = row.get("unit_tests") or (inside.get("unit_tests") if isinstance(inside, Mapping) else None)
    listed = json.loads(listed) if isinstance(listed, str) else listed
    return listed if isinstance(listed, Mapping) else None


def read_tests(row: Row) -> Tests:
    """The tests of a row, each with its name."""
    listed = _listed(row)
    if listed is not None:
        pairs = zip(listed.get("inputs") or [], listed.get("outputs") or [], strict=False)
        return [_input_test(f"test {number}", listed.get("fn_name"), *pair) for number, pair in enumerate(pairs, 1)]
    found: Tests = []
    common = {"kind": "asserts", "setup": _head(row), "names": _asked_names(row)}
    if isinstance(row.get("test"), str) and row.get("entry_point"):
        code = f"{row['test']}\n\ncheck({row['entry_point']})"
        found.append({**common, "name": f"check({row['entry_point']})", "code": code})
    more: Sequence[Any] = row["test_list"] if isinstance(row.get("test_list"), list) else ()
    return found + [{**common, "name": str(code)[:200], "code": str(code)} for code in more]


def _asked_names(row: Row) -> list[str]:
    """The functions that the task asks for: tests mean the program's, also where Python has one of that name."""
    entry = [str(row["entry_point"])] if row.get("entry_point") else []
    try:
        tree = ast.parse(str(row.get("canonical_solution") or "")) if not entry else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return entry
    return entry + [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def _input_test(name: str, function: str | None, given: Any, wanted: Any) -> dict[str, Any]:
    if not function:
        return {"name": name, "kind": "prints", "input": given, "output": wanted}
    arguments = [json.loads(line) for line in given.split("\n") if line.strip()] if isinstance(given, str) else given
    result = json.loads(wanted) if isinstance(wanted, str) else wanted
    return {"name": name, "kind": "returns", "function": function, "input": arguments, "output": result}
