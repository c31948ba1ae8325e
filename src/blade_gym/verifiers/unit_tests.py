"""A program passes its tests. It runs in a sandbox, gets inputs and gives data; every comparison is made outside.

`docs/gym.md` says what the sandbox holds back. A test that runs out of processor time fails, whatever else the
machine does; where the machine was too busy to tell, there is no verdict.

Rows of inputs and outputs are judged as LiveCodeBench does: the program is what stands between the last two fences, it
runs as the body of a function with its imports outside, and output is compared line by line. Every test starts the
program anew. An answer with `<think>` tags gets `reasoning_format_penalty` instead of its reward.

Row
    One of: `unit_tests` inside `verifier_metadata` (or beside it), `{inputs, outputs}` of a program that reads and prints,
    with `fn_name` of a function whose arguments are given, one a line, as JSON; `test` with `entry_point`, a function
    `check(candidate)`, where `prompt` holds what the program begins with, and `test_list` more tests; `test_list` alone,
    statements that must not raise. `canonical_solution`: a program that passes. `verifier_metadata.difficulty`.

Config
    `unit_test_timeout_secs` (or `timeout`): seconds of processor time for one test, default 10. `memory_mb`: default 2048.
    `reasoning_format_penalty`: default 0.

Fields
    `extracted_model_code`, `test_results` (name, passed, message), `tests_passed`, `tests_total`, `result` (of each test up
    to the first that fails: true, -2 wrong, -3 out of time, -4 any other fault), `reasoning_format_violation_rate`, `difficulty`, `failure_reason`.
"""

from __future__ import annotations

import ast
import asyncio
import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from blade_gym.answers import LONGEST_SHOWN, fenced, message, output_text
from blade_gym.environment import Environment, NoVerdict, Row, Verdict
from blade_gym.sandbox import walls
from blade_gym.sandbox.programs import ProgramLimits, run_tests
from blade_gym.sandbox.worker import Worker
from blade_gym.single_turn import Config, SingleTurn

SECONDS = 10.0
MEGABYTES = 2048
LONGEST_CODE = 200_000
_TAGS = ("<think>", "</think>")
_WORKER = Worker(__name__)

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


def environment(config: Config) -> Environment:
    """An environment that runs programs."""

    async def judge(row: Row, output: Sequence[Row]) -> Verdict:
        found = await asyncio.to_thread(verify, row, output_text(output), config)
        return _penalized(found, output, config) if _listed(row) is not None else found

    def golden(row: Row) -> Sequence[Row] | None:
        text = gold(row)
        return None if text is None else (message(text),)

    return SingleTurn(judge=judge, golden=golden, ready=ready)


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when every test passes, else 0."""
    tests = read_tests(row)
    if not tests:
        raise _unusable_row("the row holds no tests")
    code = extract(text) if _listed(row) is None else last_block(text)
    refused = _unusable(code)
    if refused:
        results = [{"name": test["name"], "passed": False, "message": refused} for test in tests]
    else:
        seconds = float(config.get("unit_test_timeout_secs") or config.get("timeout") or SECONDS)
        limits = ProgramLimits(seconds=seconds, megabytes=int(config.get("memory_mb", MEGABYTES)))
        results = run_tests(_runnable(row, code or ""), tests, limits)
    passed = sum(result["passed"] for result in results)
    fields = {
        "extracted_model_code": code[: LONGEST_SHOWN * 10] if code else None,
        "test_results": results,
        "tests_passed": passed,
        "tests_total": len(results),
        "result": None if refused else _codes(results),
        "difficulty": _metadata(row).get("difficulty"),
        "failure_reason": next((result["message"] for result in results if not result["passed"]), None),
    }
    return Verdict(reward=float(passed == len(results)), fields=fields)


def _codes(results: Sequence[Mapping[str, Any]]) -> list[bool | int]:
    """What LiveCodeBench's checker says of each test, up to the first that fails."""
    failed = next((index for index, result in enumerate(results) if not result["passed"]), None)
    if failed is None:
        return [True] * len(results)
    reason = str(results[failed]["message"])
    code = -2 if reason.startswith("wrong ") else -3 if "takes too long" in reason else -4
    return [*([True] * failed), code]


def _penalized(found: Verdict, output: Sequence[Row], config: Config) -> Verdict:
    """The penalty instead of the reward, where a program was found in an answer with tags of reasoning."""
    thought = "".join(_reasoning(output))
    tagged = any(tag in output_text(output) for tag in _TAGS) or any(thought.count(tag) > 1 for tag in _TAGS)
    violated = tagged and found.fields["result"] is not None
    fields = {**found.fields, "reasoning_format_violation_rate": float(violated)}
    if not violated:
        return replace(found, fields=fields)
    fields["failure_reason"] = found.fields["failure_reason"] or "tags of reasoning stand in the answer"
    return Verdict(reward=float(config.get("reasoning_format_penalty") or 0.0), fields=fields)


def _reasoning(output: Sequence[Row]) -> list[str]:
    summaries = [item.get("summary") for item in output if item.get("type") == "reasoning"]
    parts = [part for summary in summaries if isinstance(summary, list) for part in summary]
    return [str(part.get("text") or "") for part in parts if isinstance(part, Mapping)]


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


def _runnable(row: Row, code: str) -> str:
    """What is run: as the body of a function where the row lists inputs, else behind what its prompt begins with."""
    listed = _listed(row)
    if listed is None:
        return _complete(row, code)
    if listed.get("fn_name"):
        return code
    try:
        return str(_WORKER.ask("as_function", code))
    except ValueError:  # it cannot be parsed, and will say so when it is run
        return code


def as_function(code: str) -> str:
    """In the child: the program as LiveCodeBench runs it. What a main guard at its end holds is run; no other guard is."""
    body = ast.parse(code).body
    if body and isinstance(body[-1], ast.If) and ast.unparse(body[-1].test) == "__name__ == '__main__'":
        body = [*body[:-1], *body[-1].body]
    imports = [statement for statement in body if isinstance(statement, ast.Import | ast.ImportFrom)]
    others = [statement for statement in body if statement not in imports]
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.FunctionDef(name="wrapped_function", args=empty, body=others, decorator_list=[], lineno=1)
    made = f"{ast.unparse(imports)}\n{ast.unparse(function)}"  # type: ignore[arg-type]  # it takes lists too
    # The checker takes a program with this name in it for one whose method is called, and then has no function to run.
    lost = "\nraise AttributeError('Solution')" if "class Solution" in made else ""
    return f"__name__ = 'tmp_sol'\n{made}{lost}\nwrapped_function()"


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


def _metadata(row: Row) -> Mapping[str, Any]:
    inside = row.get("verifier_metadata")
    return inside if isinstance(inside, Mapping) else {}


def _listed(row: Row) -> Mapping[str, Any] | None:
    """Inputs and outputs, where the row has them."""
    listed = row.get("unit_tests") or _metadata(row).get("unit_tests")
    listed = json.loads(listed) if isinstance(listed, str) else listed
    return listed if isinstance(listed, Mapping) else None


def _unusable_row(message: str) -> NoVerdict:
    return NoVerdict(message, failure_class="skipped", terminal=True)


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
    try:
        arguments = (
            [json.loads(line) for line in given.split("\n") if line.strip()] if isinstance(given, str) else given
        )
        result = json.loads(wanted) if isinstance(wanted, str) else wanted
    except ValueError as problem:
        raise _unusable_row(f"{name} is not JSON: {problem}") from problem
    return {"name": name, "kind": "returns", "function": function, "input": arguments, "output": result}
