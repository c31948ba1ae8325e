"""Writes run folders of many small files to measure with: `python perf/folders.py FOLDER [--trials 2000] [--shapes harbor]`.

Three shapes:

- terminal-bench: a folder a task, in it one a trial, with its result, captures of the terminal, and logs: 6 files a trial
- harbor: a folder a trial, with its result, settings, trajectory, and what the verifier left: 6 files a trial
- files: a file of four rollouts for each task, all in one folder

The same number of trials gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pieces import WORDS, log_line, plain, sentence

ATTEMPTS = 5
STARTED = "2026-03-02T10-00-00"


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def log(rng: random.Random, lines: int) -> str:
    return "\n".join(log_line(rng, number) for number in range(lines)) + "\n"


def tests(rng: random.Random, task: int, *, passed: bool) -> dict[str, bool]:
    """The verdicts of a task's tests: all hold, or the last does not."""
    names = [f"test_{WORDS[(task + place * 7) % len(WORDS)]}_{place}" for place in range(2 + task % 4)]
    return {name: passed or place + 1 < len(names) for place, name in enumerate(names)}


def talk(rng: random.Random) -> list[dict[str, Any]]:
    """Events of Claude Code, one a line of its log."""
    events: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "model": "example-32b", "tools": ["Bash"]}]
    for number in range(3):
        call = {
            "type": "tool_use",
            "id": f"call_{number}",
            "name": "Bash",
            "input": {"command": f"make {rng.choice(WORDS)}"},
        }
        spoken = {"type": "text", "text": sentence(rng).replace("~R~", "0")}
        events.append({"type": "assistant", "message": {"role": "assistant", "content": [spoken, call]}})
        output = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": log(rng, 8)}
        events.append({"type": "user", "message": {"role": "user", "content": [output]}})
    events.append({"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "num_turns": 4})
    return events


def terminal_bench(folder: Path, trials: int) -> None:
    rng = random.Random(f"terminal-bench/{trials}")
    results = []
    for number in range(trials):
        task, attempt = divmod(number, ATTEMPTS)
        name, passed = f"build-{WORDS[task % len(WORDS)]}-{task}", rng.random() < 0.5
        trial = f"{name}.{attempt + 1}-of-{ATTEMPTS}.{STARTED}"
        verdicts = tests(rng, task, passed=passed)
        result = {
            "id": f"{number:08x}",
            "trial_name": trial,
            "task_id": name,
            "instruction": plain(random.Random(task), 300),
            "is_resolved": passed,
            "failure_mode": "unset",
            "parser_results": {test: "passed" if held else "failed" for test, held in verdicts.items()},
            "total_input_tokens": 0,
            "total_output_tokens": 0,
        }
        results.append(result)
        printed = log(rng, 10).replace("~R~", "0")
        write_files(
            folder / name / trial,
            {
                "results.json": json.dumps(result, indent=4),
                "commands.txt": "clear\nsource /installed-agent/setup-env.sh\n",
                "sessions/agent.log": "".join(json.dumps(event) + "\n" for event in talk(rng)),
                "sessions/tests.log": printed,
                "panes/post-agent.txt": printed,
                "panes/post-test.txt": printed,
            },
        )
    resolved = sum(result["is_resolved"] for result in results)
    summary = {
        "results": results,
        "n_resolved": resolved,
        "n_unresolved": trials - resolved,
        "accuracy": resolved / trials,
    }
    about = {"run_id": STARTED, "agent_name": "claude-code", "model_name": "example-32b", "n_attempts": ATTEMPTS}
    about |= {"task_ids": sorted({result["task_id"] for result in results})}
    write_files(folder, {"results.json": json.dumps(summary), "run_metadata.json": json.dumps(about)})


def harbor(folder: Path, trials: int) -> None:
    rng = random.Random(f"harbor/{trials}")
    for number in range(trials):
        task, attempt = divmod(number, ATTEMPTS)
        name, passed = f"build-{WORDS[task % len(WORDS)]}-{task}", rng.random() < 0.5
        trial = f"{name}__{number:07x}"
        config = {
            "trial_name": trial,
            "task": {"path": name},
            "agent": {"name": "claude-code", "model_name": "example-32b"},
        }
        result = {
            "id": f"{number:08x}",
            "task_name": name,
            "trial_name": trial,
            "config": config,
            "agent_info": {"name": "claude-code", "version": "2.1", "model_info": None},
            "agent_result": {"n_input_tokens": 9000 + attempt, "n_output_tokens": 800},
            "verifier_result": {"rewards": {"reward": float(passed)}},
            "exception_info": None,
            "started_at": "2026-03-02T10:00:00Z",
            "finished_at": "2026-03-02T10:05:00Z",
        }
        verdicts = [
            {"name": f"test_outputs.py::{test}", "status": "passed" if held else "failed", "duration": 0.1}
            for test, held in tests(rng, task, passed=passed).items()
        ]
        ctrf = {"results": {"tool": {"name": "pytest"}, "summary": {"tests": len(verdicts)}, "tests": verdicts}}
        write_files(
            folder / trial,
            {
                "result.json": json.dumps(result, indent=4),
                "config.json": json.dumps(config, indent=4),
                "agent/trajectory.json": json.dumps(trajectory(rng, task), indent=2),
                "verifier/reward.txt": f"{int(passed)}\n",
                "verifier/ctrf.json": json.dumps(ctrf, indent=2),
                "verifier/test-stdout.txt": log(rng, 10).replace("~R~", "0"),
            },
        )


def trajectory(rng: random.Random, task: int) -> dict[str, Any]:
    """A trajectory as Harbor's agents write it: the prompt, then steps with a call and its result each."""
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": plain(random.Random(task), 300)}]
    for number in range(3):
        call = {
            "tool_call_id": f"call_{number}",
            "function_name": "Bash",
            "arguments": {"command": f"make {rng.choice(WORDS)}"},
        }
        observed = {"results": [{"source_call_id": f"call_{number}", "content": log(rng, 8)}]}
        steps.append(
            {
                "step_id": number + 2,
                "source": "agent",
                "message": sentence(rng).replace("~R~", "0"),
                "tool_calls": [call],
                "observation": observed,
            }
        )
    agent = {"name": "claude-code", "version": "2.1", "model_name": "example-32b"}
    return {"schema_version": "ATIF-v1.4", "session_id": f"{task:08x}", "agent": agent, "steps": steps}


def files(folder: Path, trials: int) -> None:
    """One file a task; `trials` is the number of files."""
    rng = random.Random(f"files/{trials}")
    for task in range(trials):
        rows = [
            {
                "task_id": f"task-{task}",
                "repeat": repeat,
                "model": "example-32b",
                "prompt": plain(random.Random(task), 100),
                "output": plain(rng, 200),
                "reward": float(rng.random() < 0.5),
            }
            for repeat in range(4)
        ]
        write_files(folder, {f"part-{task:05d}.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})


SHAPES: dict[str, Callable[[Path, int], None]] = {"terminal-bench": terminal_bench, "harbor": harbor, "files": files}


def write(folder: Path, shape: str, trials: int) -> int:
    """Writes a folder of the shape; returns the number of its files."""
    folder.mkdir(parents=True)
    SHAPES[shape](folder, trials)
    return sum(path.is_file() for path in folder.rglob("*"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write run folders of many small files to measure with.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=2000, help="trials of a run, or files of the shape `files`")
    parser.add_argument("--shapes", nargs="+", choices=tuple(SHAPES), default=list(SHAPES))
    options = parser.parse_args()
    for shape in options.shapes:
        start = time.perf_counter()
        path = options.folder / f"{shape}-{options.trials}"
        count = write(path, shape, options.trials)
        print(f"{path}: {count} files, {time.perf_counter() - start:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
