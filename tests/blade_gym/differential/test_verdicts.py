"""Tricky answers per verifier, with the verdicts that the published checker and the reference server gave.

Each line of a `.jsonl` file here is one case: `name`, `server` (a folder of `resources_servers`), `config` (what the case
adds to the server's own config), `row`, `answer` (the last message; `output` holds whole items instead), and rewards:
`published` (the checker that the benchmark's authors ship), `reference` (NeMo Gym's server), both null where there is none,
and `ours` (null: no verdict). Where `ours` differs from either, `why` says that it is intended and for what reason.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from blade_gym.answers import message
from blade_gym.environment import Environment, NoVerdict
from blade_gym.loading import load_file

HERE = Path(__file__).parent
SERVERS = HERE.parents[2] / "resources_servers"
LOOP = asyncio.new_event_loop()
"""One for all cases: a worker process ends with the thread that started it, and a loop's threads end with the loop."""
CASES = [
    pytest.param(json.loads(line), id=f"{path.stem}-{json.loads(line)['name']}")
    for path in sorted(HERE.glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


@cache
def environment(server: str, extra: str) -> Environment:
    """The environment that the server's own files make."""
    [config] = yaml.safe_load((SERVERS / server / "configs" / f"{server}.yaml").read_text())[server][
        "resources_servers"
    ].values()
    module = load_file(SERVERS / server / "app.py")
    made: Environment = module.environment({**config, **json.loads(extra)})
    return made


def reward(case: dict[str, Any]) -> float | None:
    """Our verdict; None where there is none."""
    output = case["output"] if "output" in case else [message(case["answer"])]
    session = environment(case["server"], json.dumps(case.get("config", {}))).open(case["row"])
    try:
        return LOOP.run_until_complete(session.verify({"output": output})).reward
    except NoVerdict:
        return None


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_is_the_published_one(case: dict[str, Any]) -> None:
    ours = reward(case)
    assert ours == pytest.approx(case["ours"]) if ours is not None else case["ours"] is None
    others = [case[name] for name in ("published", "reference") if case[name] is not None]
    assert case.get("why") or all(other == pytest.approx(case["ours"]) for other in others)
