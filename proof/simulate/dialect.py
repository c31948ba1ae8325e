"""The same rows under other names, as another verifier would write them: a run speaks one dialect, chosen by its seed."""

from __future__ import annotations

from typing import Any

from proof.simulate.draft import Row

OTHER_NAMES = {
    "id": "question_id",
    "question": "problem",
    "expected_answer": "reference_answer",
    "extracted_answer": "predicted_answer",
    "expected_actions": "evaluation_criteria",
    "user_instruction": "user_scenario",
    "instance_id": "problem_id",
    "model_patch": "prediction",
    "test_results": "tests",
}
IN_A_TEST = {"status": "outcome", "message": "reason"}


def spoken(row: Row, seed: int) -> Row:
    """A row as a run of this seed writes it: plain for odd seeds, under other names for even ones."""
    if seed % 2:
        return row
    kept = {name: value for name, value in row.items() if name != "expected_outputs"}
    return {OTHER_NAMES.get(name, name): _value(name, value) for name, value in kept.items()}


def path_of(path: str, seed: int) -> str:
    """Where a run of this seed has what plain rows have at a dotted path."""
    if seed % 2:
        return path
    first, *rest = path.split(".")
    inside = [IN_A_TEST.get(name, name) for name in rest] if first == "test_results" else rest
    return ".".join([OTHER_NAMES.get(first, first), *inside])


def _value(name: str, value: Any) -> Any:
    if name == "expected_actions":
        actions = [{"name": one["name"], "arguments": one["kwargs"]} for one in value]
        return {"actions": actions, "communicate_info": []}
    if name == "user_instruction":
        return {"persona": None, "instructions": value}
    if name == "test_results":
        return [{IN_A_TEST.get(inner, inner): held for inner, held in one.items()} for one in value]
    return value
