"""Benchmarks that need no network: made again byte for byte, other tasks for another seed, and their own keys pass."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gym_servers
from blade.model.errors import RequestError
from blade_gym.catalog.benchmarks import benchmark, benchmarks
from blade_gym.config.load import outline
from blade_gym.loading import load_file

ROOT = Path(__file__).parents[2]
OFFLINE = [entry.name for entry in benchmarks([ROOT]).entries if entry.offline]
FROM_WHEELS = {"arc_agi", "bfcl", "evalplus", "humaneval"}
GENERATED = [name for name in OFFLINE if name not in FROM_WHEELS]
MOST = 70
"""Rows that are proven here; `gym env test` proves all."""
SILENCE_IS_RIGHT = {"bfcl": 12, "workplace_assistant": 2}
"""Rows whose key wants nothing done."""
SHOTS = [
    "graph_walks",
    "json_records",
    "letter_counting",
    "meeting_times",
    "needle_in_haystack",
    "shop_sql",
    "spelling_backward",
    "syllogisms",
]


def _script(name: str) -> Callable[..., Path]:
    found: Callable[..., Path] = load_file(ROOT / benchmark(name, [ROOT]).prepare_script).prepare
    return found


def _made(name: str, folder: Path, **arguments: Any) -> list[dict[str, Any]]:
    found, _ = outline([str(ROOT / "benchmarks" / name / "config.yaml")], [ROOT])
    own = next(one for one in found.datasets if one.type == "benchmark").prepare_script_args
    path = _script(name)(output=str(folder / "rows.jsonl"), **{**own, **arguments})
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_there_are_fifteen_and_each_says_what_it_shows() -> None:
    assert len(OFFLINE) >= 15
    for name in OFFLINE:
        entry = benchmark(name, [ROOT])
        readme = (ROOT / "benchmarks" / name / "README.md").read_text(encoding="utf-8")
        assert readme.startswith(f"# {name}\n")
        assert f"gym eval prepare --benchmark {name}" in readme
        assert entry.description
        assert entry.verifier
    table = (ROOT / "docs" / "gym.md").read_text(encoding="utf-8")
    assert [name for name in OFFLINE if f"| `{name}` |" not in table] == []


@pytest.mark.parametrize("name", GENERATED)
def test_generated_tasks_are_those_of_the_seed(tmp_path: Path, name: str) -> None:
    if "reasoning_gym" in (ROOT / benchmark(name, [ROOT]).prepare_script).read_text(encoding="utf-8"):
        pytest.importorskip("reasoning_gym")
    rows = _made(name, tmp_path)
    first = (tmp_path / "rows.jsonl").read_bytes()
    assert 40 <= len(rows) <= 70
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({json.dumps(row.get("responses_create_params", row)) for row in rows}) == len(rows)
    _made(name, tmp_path)
    assert (tmp_path / "rows.jsonl").read_bytes() == first
    _made(name, tmp_path, seed=99)
    assert (tmp_path / "rows.jsonl").read_bytes() != first


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in FROM_WHEELS else ()) for name in OFFLINE]
)
def test_gold_answers_pass_and_silence_does_not(tmp_path: Path, name: str) -> None:
    found, _ = outline([str(ROOT / "benchmarks" / name / "config.yaml")], [ROOT])
    server = found.resources_server(benchmark(name, [ROOT]).agent_name)
    assert server is not None
    env = gym_servers.environment(server.type, server.config)
    rows = _made(name, tmp_path)
    silent = 0
    for row in rows[:MOST]:
        gold = env.gold(row)
        assert gold is not None
        assert gym_servers.verdict(env, row, gold).reward == 1.0, row.get("id")
        silent += gym_servers.verdict(env, row, []).reward == 1.0
    assert silent == SILENCE_IS_RIGHT.get(name, 0)


@pytest.mark.parametrize("name", ["cellar_game", "checkable_instructions", "json_records", "shop_sql"])
def test_more_tasks_than_there_are_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(RequestError, match="fewer than 5000 different tasks"):
        _made(name, tmp_path, size=5000)


@pytest.mark.parametrize("name", SHOTS)
def test_worked_examples_are_right_and_are_no_tasks(tmp_path: Path, name: str) -> None:
    assert "shots" in inspect.signature(_script(name)).parameters
    rows, bare = _made(name, tmp_path), _made(name, tmp_path, shots=0)
    questions = {row["responses_create_params"]["input"][-1]["content"] for row in rows}
    shown = rows[0]["responses_create_params"]["input"][:-1]
    assert len(shown) >= 2
    assert [turn["role"] for turn in shown] == ["user", "assistant"] * (len(shown) // 2)
    assert not questions & {turn["content"] for turn in shown}
    assert [row["responses_create_params"]["input"] for row in bare] == [
        row["responses_create_params"]["input"][-1:] for row in rows
    ]


def test_carries_of_a_sum(tmp_path: Path) -> None:
    pytest.importorskip("reasoning_gym")
    for row in _made("two_term_sums", tmp_path):
        first, second = (int(part) for part in row["metadata"]["expression"].split("+"))
        assert int(row["expected_answer"]) == first + second
        # Each carry takes nine off the sum of the digits.
        digits = [sum(map(int, str(number))) for number in (first, second, first + second)]
        assert row["carries"] == (digits[0] + digits[1] - digits[2]) // 9


def test_needles_lie_where_the_row_says(tmp_path: Path) -> None:
    for row in _made("needle_in_haystack", tmp_path):
        text = row["responses_create_params"]["input"][-1]["content"]
        place = text.index(row["expected_answer"]) / text.index("\n\n")
        low, high = {"early": (0.0, 0.45), "middle": (0.25, 0.75), "late": (0.55, 1.0)}[row["place"]]
        assert low <= place <= high
        assert len(set(row["entries"].values())) == 4


def test_queries_give_rows_for_most_questions(tmp_path: Path) -> None:
    import sqlite3

    rows = _made("shop_sql", tmp_path)
    empty = 0
    for row in rows:
        database = sqlite3.connect(":memory:")
        database.executescript(row["sql_context"])
        empty += not database.execute(row["sql"]).fetchall()
        database.close()
    assert empty <= len(rows) // 6
