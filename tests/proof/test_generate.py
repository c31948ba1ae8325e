"""What the proof makes: the same bytes for the same seed, and a truth that the rows bear out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from blade.model.errors import RequestError
from blade.model.finding import Cause
from blade.rules.catalog import all_rules
from proof.simulate.catalogue import WORLDS, mechanisms
from proof.simulate.draft import words_of
from proof.simulate.generate import Made, Wanted, generate
from proof.simulate.modes import GROUP, unknown_modes
from proof.simulate.names import NAMES, NamesKind

PRINT_DIGEST = """
import hashlib
from proof.simulate.generate import Wanted, generate
digest = hashlib.sha256()
for made in generate(Wanted(tasks=60, seed=7)):
    for name, data in made.files.items():
        digest.update(name.encode() + data)
    digest.update(made.truth.as_json().encode())
print(digest.hexdigest())
"""


@cache
def everything() -> tuple[Made, ...]:
    return generate(Wanted(tasks=100, seed=3))


def rows(made: Made, model: str) -> dict[str, dict[str, Any]]:
    """By place: each row of a run, those of the failures file included."""
    task_of = {one.index: task for task, one in made.truth.runs[model].tasks.items()}
    found = {}
    for name, data in made.files.items():
        if name.startswith(model) and "materialized" not in name:
            for row in map(json.loads, data.splitlines()):
                found[f"{task_of[row['_ng_task_index']]}#{row['_ng_rollout_index']}"] = row
    return found


def at(row: dict[str, Any], path: str) -> str:
    value: Any = row
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def test_the_same_seed_gives_the_same_bytes_in_other_processes() -> None:
    digests = set()
    for hash_seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_another_seed_gives_other_rows() -> None:
    first, second = (generate(Wanted(world="code", tasks=20, seed=seed))[0] for seed in (1, 2))
    assert first.files != second.files


def test_every_mechanism_is_planted_by_its_world() -> None:
    planted = {
        (made.world, task.mechanism)
        for made in everything()
        for run in made.truth.runs.values()
        for task in run.tasks.values()
    }
    assert {(one.world, one.name) for one in mechanisms()} <= planted


def test_every_world_plants_every_cause() -> None:
    for world in WORLDS:
        causes = {one.cause for one in mechanisms() if one.world == world.name}
        assert causes >= {*Cause, None} - {Cause.KNOWLEDGE, Cause.UNRELIABLE}


NOT_PLANTED = {"TSK017", "TSK018", "TSK020", "TSK021"}
"""Rules that need runs of unequal strength, one verifier's message in several runs, or one reward in a whole run; and
that of a key in another unit than its task asks for, which no world has."""


def test_mechanisms_name_rules_that_exist_and_each_rule_is_planted() -> None:
    codes = {rule.code for rule in all_rules()}
    assert {code for one in mechanisms() for code in (*one.must, *one.may)} <= codes
    assert codes - NOT_PLANTED == {code for one in mechanisms() for code in one.must}


def test_each_mechanism_says_what_it_is() -> None:
    for one in mechanisms():
        assert one.what.endswith("."), one.name
        assert one.kind == "fault" or one.cause in (None, Cause.KNOWLEDGE, Cause.UNRELIABLE), one.name


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_what_was_planted_stands_in_the_row(seed: int, names: NamesKind) -> None:
    for made in generate(Wanted(tasks=100, seed=seed, names=names)):
        for model, run in made.truth.runs.items():
            kept = rows(made, model)
            for one in (*run.harmless, *run.faults):
                row = kept[one.place]
                text = words_of(row["response"]["output"][one.step]) if one.step is not None else at(row, one.field)
                assert one.quote in text or json.dumps(one.quote, ensure_ascii=False)[1:-1] in text, one


@pytest.mark.parametrize("repeats", [3, 4, 7])
def test_causes_go_with_the_rewards(repeats: int) -> None:
    for made in generate(Wanted(tasks=100, repeats=repeats, seed=5)):
        for model, run in made.truth.runs.items():
            kept = rows(made, model)
            open_ended = {one.task for one in run.rollouts if not one.settled}
            for task, truth in run.tasks.items():
                rewards = [kept[place]["reward"] for r in range(repeats) if (place := f"{task}#{r}") in kept]
                failing = any(reward != 1.0 for reward in rewards)
                assert failing == (truth.cause is not None or task in open_ended), (task, truth)
                if truth.cause is Cause.UNRELIABLE:
                    assert 1.0 in rewards, task
                if truth.cause is Cause.KNOWLEDGE:
                    assert 1.0 not in rewards, task


@pytest.mark.parametrize("seed", [3, 4])
def test_every_rollout_has_a_truth_that_goes_with_its_reward(seed: int) -> None:
    for made in generate(Wanted(tasks=100, seed=seed)):
        for model, run in made.truth.runs.items():
            kept = rows(made, model)
            assert len(run.rollouts) == 400
            for one in run.rollouts:
                row = kept.get(f"{one.task}#{one.repeat}", {"reward": None})
                passed = row["reward"] == 1.0 and "_ng_failure_class" not in row
                assert (one.mode is None) == passed, one
                assert one.mode is None or GROUP[one.mode] == one.group, one
                assert passed or not one.doubtful, one


def test_mechanisms_name_modes_of_the_catalog() -> None:
    named = [mode for one in mechanisms() for mode in (one.mode, *one.modes_too) if mode is not None]
    assert unknown_modes(named) == []
    assert {GROUP[mode] for mode in named} == {"agent", "benchmark", "machinery", "limit", "unknown"}
    assert all(one.settled == (one.mode != "unattributed") for one in mechanisms())


def test_the_terminal_world_plants_what_such_runs_suffer_from() -> None:
    (made,) = [one for one in everything() if one.world == "terminal"]
    modes = {one.mode for run in made.truth.runs.values() for one in run.rollouts}
    assert modes >= {
        *("agent-not-installed", "agent-crashed", "environment-failed", "grader-did-not-run", "grader-hung"),
        *("grader-crashed", "service-unavailable", "test-cannot-pass", "prompt-test-mismatch", "hidden-requirement"),
        *("correct-but-rejected", "time-limit", "step-limit", "context-overflow", "output-missing", "wrong-format"),
        *("one-check-failed", "regression", "patch-empty", "patch-not-applied", "handed-back", "stand-in", "loop"),
    }


def test_inputs_name_every_rollout_that_was_to_be_made() -> None:
    for made in everything():
        for model in made.truth.runs:
            lines = made.files[f"{model}_rollouts_materialized_inputs.jsonl"].splitlines()
            assert len(lines) == 400


def test_a_clean_world_has_nothing_planted() -> None:
    for made in generate(Wanted(tasks=20, clean=True)):
        for run in made.truth.runs.values():
            assert not run.must
            assert not run.harmless
            assert all(task.mechanism is None and task.clean for task in run.tasks.values())


def test_only_what_is_named_is_planted() -> None:
    (made,) = generate(Wanted(tasks=20, plant=("no-sandbox",)))
    (run,) = made.truth.runs.values()
    assert made.world == "code"
    assert {task.mechanism for task in run.tasks.values()} == {"no-sandbox", None}
    assert set(run.must) == {"INF005"}


@pytest.mark.parametrize("wanted", [Wanted(world="chess"), Wanted(plant=("gremlins",))])
def test_what_does_not_exist_is_refused(wanted: Wanted) -> None:
    with pytest.raises(RequestError):
        generate(wanted)
