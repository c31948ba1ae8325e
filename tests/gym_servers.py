"""Resources servers of the repository, loaded as a runner loads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blade_gym.answers import message
from blade_gym.environment import Environment, Verdict
from blade_gym.loading import load_file

ROOT = Path(__file__).parents[1] / "resources_servers"
LOOP = asyncio.new_event_loop()
"""One for all verdicts: a worker process ends with the thread that started it, and a loop's threads end with the loop."""
NAMES = tuple(sorted(path.parent.name for path in ROOT.glob("*/app.py")))


def environment(name: str, config: Mapping[str, Any] | None = None) -> Environment:
    made: Environment = load_file(ROOT / name / "app.py").environment(config or {})
    return made


def rows(name: str) -> list[dict[str, Any]]:
    lines = (ROOT / name / "data" / "example.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def verdict(env: Environment, row: Mapping[str, Any], output: Sequence[Mapping[str, Any]]) -> Verdict:
    return LOOP.run_until_complete(env.open(row).verify({"output": list(output)}))


def verdict_on_text(env: Environment, row: Mapping[str, Any], text: str) -> Verdict:
    return verdict(env, row, [message(text)])
