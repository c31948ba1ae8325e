"""Roles of fields against a table made by hand, where real runs are at hand: what is right of what is said, and of what there is."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from blade.ingest.artifacts import find
from blade.ingest.roles.learn import learn_roles
from blade.ingest.roles.sample import sample_rows

DATA = Path(os.environ.get("BLADE_REAL_RUNS", "real-runs"))
"""A folder of real runs; none is part of the repository."""

TRUTH: dict[str, dict[str, str]] = {
    "terminal_bench/*": {
        "parser_results": "checks",
        "failure_mode": "status",
        "is_resolved": "score-part",
        "test_log": "grader-log",
        "agent_log": "agent-log",
        "trial_started_at": "time",
        "trial_ended_at": "time",
        "agent_started_at": "time",
        "agent_ended_at": "time",
        "test_started_at": "time",
        "test_ended_at": "time",
        "task_id": "task",
        "reward": "reward",
    },
    "harbor": {
        "ctrf.results.tests": "checks",
        "agent_execution.started_at": "time",
        "agent_execution.finished_at": "time",
        "verifier.started_at": "time",
        "verifier.finished_at": "time",
        "seconds": "duration",
        "test_stdout": "grader-log",
        "exception_txt": "agent-log",
        "task_id": "task",
        "reward": "reward",
        "error": "error",
    },
    "swebench": {
        "tests_status.FAIL_TO_PASS": "checks",
        "tests_status.PASS_TO_PASS": "checks",
        "model_patch": "produced",
        "test_output": "grader-log",
        "run_log": "grader-log",
        "timestamp": "time",
        "resolved": "score-part",
        "task_id": "task",
        "reward": "reward",
    },
    "tau2/*.jsonl": {
        "task.evaluation_criteria.actions": "expected-actions",
        "expected_actions": "expected-actions",
        "termination_reason": "status",
        "duration": "duration",
        "agent_cost": "cost",
        "task_id": "task",
        "reward": "reward",
    },
    "tau_bench/*.jsonl": {
        "expected_actions": "expected-actions",
        "reward_info.info.outputs": "checks",
        "reward_info.info.r_actions": "score-part",
        "user_instruction": "script",
        "expected_outputs": "statements",
        "task_id": "task",
        "reward": "reward",
    },
    "bigbench_mistake/*.jsonl": {
        "expected_answer": "expected",
        "extracted_answer": "produced",
        "task_id": "task",
        "reward": "reward",
    },
    "gym_examples/finance_agent_v2/example_rollouts.jsonl": {
        "rubric_judgements": "checks",
        "expected_answer": "expected",
    },
    "gym_examples/bigcodebench/example_rollouts.jsonl": {
        "details": "checks",
        "status": "status",
        "extracted_model_code": "produced",
    },
    "gym_examples/code_gen/example_rollouts.jsonl": {"result": "checks", "extracted_model_code": "produced"},
    "gym_examples/mcqa/example_rollouts.jsonl": {"expected_answer": "expected", "extracted_answer": "produced"},
    "gym_examples/circle_count/example_rollouts.jsonl": {"expected_count": "expected", "predicted_count": "produced"},
    "gym_examples/instruction_following/example_rollouts.jsonl": {"follow_instruction_list": "checks"},
    "gym_examples/cvdp/example_rollouts.jsonl": {"container_stderr": "grader-log", "execution_time": "duration"},
    "gym_examples/evalplus/example_rollouts.jsonl": {
        "metadata.base_details": "checks",
        "metadata.plus_details": "checks",
    },
    "gym_examples/simpleqa/example_rollouts.jsonl": {
        "expected_answer": "expected",
        "extracted_answer": "produced",
        "verdict": "status",
    },
    "gym_examples/text_to_sql/example_rollouts.jsonl": {
        "extracted_sql": "produced",
        "sql": "expected",
        "failure_reason": "status",
    },
}
"""By runs: fields and their role, by reading the rows. Fields that are not listed are not counted."""
LEAST = 0.9


@pytest.mark.skipif(not DATA.is_dir(), reason="no real runs here")
def test_roles_of_real_runs_are_right() -> None:
    right, said, wanted = Counter[str](), Counter[str](), Counter[str]()
    wrong = []
    for pattern, truth in TRUTH.items():
        for path in sorted(DATA.glob(pattern)):
            bundle = find([str(path)]).bundles[0]
            found = {field.path: field.role for field in learn_roles(sample_rows(bundle.path, bundle.format)).fields}
            for name, role in truth.items():
                wanted[role] += 1
                given = found.get(name)
                if given is not None:
                    said[given] += 1
                    right[role] += given == role
                if given != role:
                    wrong.append((path.name, name, role, given))
    print(
        {role: (f"{right[role]}/{said[role]} said", f"{right[role]}/{wanted[role]} there") for role in sorted(wanted)}
    )
    assert sum(right.values()) >= LEAST * sum(wanted.values()), wrong
    assert sum(right.values()) >= LEAST * sum(said.values()), wrong
