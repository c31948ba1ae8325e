"""Names drawn at random: only what a format defines keeps its name, and nothing that a row says is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.simulate.generate import Made, Wanted, generate
from proof.simulate.names import FIXED, Drawn, names_of

WORLDS = ("single", "tools", "code", "terminal")
DOCUMENTED = {
    *("id", "question", "expected_answer", "extracted_answer", "expected_actions", "reward_info", "model_patch"),
    *("test_results", "checks", "grader_log", "failure_mode", "task_id", "instance_id", "FAIL_TO_PASS"),
}


def made(world: str, seed: int, names: str) -> Made:
    (one,) = generate(Wanted(world=world, tasks=24, seed=seed, names="random" if names == "random" else "documented"))
    return one


def rows(one: Made) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for name, data in one.files.items()
        if "materialized" not in name and "failures" not in name
        for line in data.splitlines()
    ]


def leaves(value: Any) -> list[str]:
    """Every value in a row, whatever it is called and however deep it stands."""
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [json.dumps(value, ensure_ascii=False)]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("seed", [1, 2, 5])
def test_no_name_of_a_known_verifier_is_left(world: str, seed: int) -> None:
    for row in rows(made(world, seed, "random")):
        stays = {name for name in row if name in FIXED or name.startswith("_ng_")}
        assert {"reward", "response", "responses_create_params", "_ng_task_index", "_ng_rollout_index"} <= stays
        assert not DOCUMENTED & row.keys()


@pytest.mark.parametrize("world", ["single", "tools", "code"])
@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_nothing_is_lost_under_other_names(world: str, seed: int) -> None:
    for plain, renamed in zip(rows(made(world, seed, "documented")), rows(made(world, seed, "random")), strict=True):
        assert renamed["response"] == plain["response"]
        assert renamed["reward"] == plain["reward"]
        assert set(leaves(plain)) - set(leaves(renamed)) == set()


def test_runs_of_a_benchmark_share_their_names_and_seeds_do_not() -> None:
    names = [
        {name for line in data.splitlines() for name in json.loads(line)}
        for seed in (1, 2)
        for file, data in made("terminal", seed, "random").files.items()
        if file.endswith("_rollouts.jsonl")
    ]
    assert names[0] == names[1]
    assert len(names[0] & names[2]) < len(names[0]) / 2


def test_order_depth_and_spelling_vary_with_the_seed() -> None:
    drawn = [names_of("random", "code", seed) for seed in range(40)]
    assert {len(one.account) for one in drawn if isinstance(one, Drawn)} == {0, 1, 2}
    assert {len(one.key) for one in drawn if isinstance(one, Drawn)} == {0, 1}
    words = [one.word("expected_answer") for one in drawn if isinstance(one, Drawn)]
    assert len(set(words)) > 15
    first, second = (list(row) for row in rows(made("single", 1, "random"))[:2])
    assert first != second


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=150))
def test_no_two_fields_share_a_word(seed: int, fields: list[str]) -> None:
    names = Drawn("single", seed, ())
    words = [names.word(name) for name in fields]
    assert len(set(words)) == len(words)
    assert not set(words) & set(FIXED)
    assert [names.word(name) for name in fields] == words


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6))
def test_a_path_leads_to_what_it_named(seed: int) -> None:
    names = Drawn("code", seed, ("stop_reason",))
    key = {"instance_id": "a-1", "problem_statement": "Mend it."}
    account = {"stop_reason": "max_turns", "test_results": [{"name": "t", "status": "failed", "message": "boom"}]}
    row = names.row({"reward": 0.0}, key, account, "m/a-1#0")
    for path, wanted in (
        *(("problem_statement", "Mend it."), ("stop_reason", "max_turns"), ("test_results.0.message", "boom")),
        ("reward", 0.0),
    ):
        found: Any = row
        for name in names.path(path, key).split("."):
            found = found[int(name)] if isinstance(found, list) else found[name]
        assert found == wanted
