"""Run folders in the shapes that harnesses leave, made by hand: a few trials each, in the harness's own words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:9c7ead1c\nsize 546023\n"
WIDTH = 80


def write(path: Path, value: object) -> Path:
    """A text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=4), encoding="utf-8")
    return path


def wrapped(lines: Sequence[str], width: int = WIDTH) -> str:
    """As a terminal of that width shows them: long lines go on in the next, and spaces at the end of a line are lost."""
    cut = [line[at : at + width].rstrip(" ") for line in lines for at in range(0, max(1, len(line)), width)]
    return "\n".join(cut) + "\n\n\n"


def claude_events(command: str, output: str, last: str) -> list[str]:
    """A session in Claude Code's stream: one call, its result, a last message and the closing event."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}
    done = {"tool_use_id": "toolu_1", "type": "tool_result", "content": output, "is_error": False}
    events = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "small-model"},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "I will look."}]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [done]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": last}]}},
        {"type": "result", "subtype": "success", "is_error": False, "num_turns": 3, "session_id": "s"},
    ]
    return [json.dumps(event, separators=(",", ":")) for event in events]


def terminal_bench(folder: Path, verdicts: Mapping[str, Sequence[bool | None]]) -> Path:
    """A run of Terminal-Bench: the verdicts of each task's attempts."""
    results = []
    for task, attempts in verdicts.items():
        for place, resolved in enumerate(attempts, start=1):
            trial = f"{task}.{place}-of-{len(attempts)}.2031-04-05__10-11-12"
            result = {
                "id": f"{task}-{place}",
                "trial_name": trial,
                "task_id": task,
                "instruction": f"Make {task} work.",
                "is_resolved": resolved,
                "failure_mode": "unset" if resolved is not None else "test_timeout",
                "parser_results": {"test_a": "passed", "test_b": "passed" if resolved else "failed"},
                "total_input_tokens": 0,
                "total_output_tokens": 0,
                "trial_started_at": "2031-04-05T10:11:12+00:00",
                "trial_ended_at": "2031-04-05T10:21:12+00:00",
            }
            results.append(result)
            at = folder / task / trial
            write(at / "results.json", result)
            write(at / "commands.txt", "['ls', 'Enter']\n")
            events = claude_events("ls /app", "one two   " * 30, f"{task} works now.")
            write(at / "panes" / "post-agent.txt", wrapped(events))
            write(at / "panes" / "post-test.txt", f"1 failed, 1 passed: {task}\n")
            write(at / "sessions" / "agent.log", POINTER)
    resolved_ids = [one["task_id"] for one in results if one["is_resolved"]]
    accuracy = len(resolved_ids) / len(results)
    summary = {"id": "x", "results": results, "n_resolved": len(resolved_ids), "accuracy": accuracy}
    write(folder / "results.json", summary)
    attempts_ = max(map(len, verdicts.values()))
    metadata = {
        "run_id": "r",
        "agent_name": "some-agent",
        "model_name": "lab/small-model",
        "n_attempts": attempts_,
        "task_ids": list(verdicts),
        "accuracy": accuracy,
    }
    write(folder / "run_metadata.json", metadata)
    return folder


def harbor_trial(folder: Path, task: str, reward: float | None, *, agent: str = "some-agent", error: str = "") -> Path:
    """A trial of Harbor with a trajectory in which one turn makes two calls."""
    at = folder / f"{task}__x1Y2z3"
    config = {"task": {"path": task}, "trial_name": at.name, "agent": {"name": agent, "model_name": "small-model"}}
    write(at / "config.json", config)
    result = {
        "id": at.name,
        "task_name": task,
        "trial_name": at.name,
        "config": config,
        "agent_info": {"name": agent, "version": "1", "model_info": None},
        "agent_result": {"n_input_tokens": 100, "n_output_tokens": 10, "cost_usd": None},
        "verifier_result": {"rewards": {"reward": reward}} if reward is not None else None,
        "exception_info": {"exception_type": error, "exception_message": "after 900 s"} if error else None,
        "started_at": "2031-04-05T10:00:00Z",
        "finished_at": "2031-04-05T10:01:30Z",
    }
    write(at / "result.json", result)
    write(at / "agent" / "trajectory.json", atif(task))
    if reward is not None:
        write(at / "verifier" / "reward.txt", f"{reward:g}\n")
    write(at / "verifier" / "test-stdout.txt", "\x1b[31m1 failed\x1b[0m\n")
    if error:
        write(at / "exception.txt", f"Traceback (most recent call last):\n{error}: after 900 s\n")
    return at


def atif(task: str) -> dict[str, Any]:
    """A trajectory: a prompt, a turn with two calls and their results, a last message."""
    calls = [
        {"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "a"}},
        {"tool_call_id": "c2", "function_name": "read", "arguments": {"path": "b"}},
    ]
    results = [{"source_call_id": "c1", "content": "is a"}, {"source_call_id": "c2", "content": "is b"}]
    return {
        "schema_version": "ATIF-v1.4",
        "session_id": "s",
        "agent": {"name": "some-agent", "version": "1", "model_name": "small-model"},
        "steps": [
            {"step_id": 1, "source": "user", "message": f"Make {task} work."},
            {
                "step_id": 2,
                "source": "agent",
                "message": "Both.",
                "tool_calls": calls,
                "observation": {"results": results},
            },
            {"step_id": 3, "source": "agent", "message": "Done."},
        ],
    }


def swe_bench(
    folder: Path, resolved: Mapping[str, bool], *, run: str = "run-1", model: str = "lab__small-model"
) -> Path:
    """An evaluation of SWE-bench with its summary and predictions."""
    for name, verdict in resolved.items():
        at = folder / "logs" / "run_evaluation" / run / model / name
        tests = {"FAIL_TO_PASS": {"success": ["t1"] if verdict else [], "failure": [] if verdict else ["t1"]}}
        write(at / "report.json", {name: {"patch_exists": True, "resolved": verdict, "tests_status": tests}})
        write(at / "patch.diff", f"diff --git a/{name} b/{name}\n")
        write(at / "test_output.txt", "1 test\n")
        write(at / "run_instance.log", "INFO - done\n")
    ids = {True: [n for n, v in resolved.items() if v], False: [n for n, v in resolved.items() if not v]}
    summary = {"resolved_ids": ids[True], "unresolved_ids": ids[False], "error_ids": [], "submitted_ids": [*resolved]}
    counts = {"submitted_instances": len(resolved), "resolved_instances": len(ids[True])}
    write(folder / f"{model}.{run}.json", {**summary, **counts})
    patches = {n: f"diff --git a/{n} b/{n}\n" for n in resolved}
    rows = [{"instance_id": n, "model_name_or_path": "lab/small-model", "model_patch": patches[n]} for n in resolved]
    write(folder / "preds.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return folder


def tau2(path: Path, rewards: Mapping[str, Sequence[float]]) -> Path:
    """Results of tau2: tool results carry the id of their call as `id`."""
    tasks = [
        {"id": task, "evaluation_criteria": {"actions": [{"name": "cancel", "arguments": {"id": 1}}]}}
        for task in rewards
    ]
    simulations = [
        {
            "id": f"{task}-{trial}",
            "task_id": task,
            "trial": trial,
            "termination_reason": "user_stop",
            "agent_cost": 0.5,
            "reward_info": {"reward": reward, "db_check": {"db_match": reward == 1.0}},
            "messages": [
                {"role": "user", "content": "Cancel it."},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "k1", "name": "cancel", "arguments": {"id": 1}}],
                },
                {"role": "tool", "id": "k1", "content": "done", "requestor": "assistant", "error": False},
                {"role": "assistant", "content": "It is cancelled."},
            ],
        }
        for task, given in rewards.items()
        for trial, reward in enumerate(given)
    ]
    info = {
        "num_trials": max(map(len, rewards.values())),
        "agent_info": {"implementation": "llm_agent", "llm": "small-model"},
        "user_info": {"implementation": "user_simulator", "llm": "user-model"},
        "environment_info": {"domain_name": "airline", "policy": "Be kind."},
    }
    return write(path, {"timestamp": "now", "info": info, "tasks": tasks, "simulations": simulations})
