"""On public reference runs: every failure has one attribution, few are left open, and machinery is one set everywhere."""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache

import polars as pl
import pytest

import blade
from blade.model.analysis import Analysis, RunAnalysis
from blade.modes.catalog import by_code
from blade.stats.infrastructure import PARTIES
from conformance.facts import DATA, FACTS

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
    ),
]

FOLDERS = ("terminal_bench", "harbor", "swebench", "who_and_when")
SINGLE_ANSWERS = ("bigbench_mistake/multistep_arithmetic.jsonl", "bigbench_mistake/word_sorting.jsonl")
PATHS = sorted({fact.path for fact in FACTS} | set(FOLDERS) | set(SINGLE_ANSWERS))
ACCOUNTS = ("checks", "grader-log", "expected", "expected-actions")
"""Roles of fields from which a reader could tell what went wrong."""
MOST_OPEN = 0.1
FEWEST = 10
"""Failures from which on a share of them is worth a claim."""


@cache
def analysis(path: str) -> Analysis:
    return blade.analyze(DATA / path)


def table_of(one: RunAnalysis) -> pl.DataFrame:
    assert one.attributions is not None
    return one.attributions.table


def failures(path: str) -> list[tuple[str, pl.DataFrame]]:
    """By run, the attributions of what did not pass."""
    return [(one.run.name, table_of(one).filter(pl.col("outcome") != "passed")) for one in analysis(path).runs]


@pytest.mark.parametrize("path", PATHS)
def test_every_failure_has_one_mode_and_what_is_proven_has_evidence(path: str) -> None:
    for name, table in failures(path):
        assert table["mode"].null_count() == 0, name
        assert table.select("task_id", "repeat").is_duplicated().sum() == 0, name
        bare = table.filter(
            (pl.col("confidence") == "proven") & (pl.col("evidence").list.len() == 0) & (pl.col("contrast") == "")
        )
        assert bare.is_empty(), (name, bare.select("task_id", "repeat", "mode").rows())


@pytest.mark.parametrize("path", PATHS)
def test_few_failures_are_left_open_where_the_rows_hold_an_account(path: str) -> None:
    for one in analysis(path).runs:
        told = any(field.role in ACCOUNTS for field in one.run.roles.fields)
        table = table_of(one).filter(pl.col("outcome") != "passed")
        if told and table.height >= FEWEST:
            left = table.filter(pl.col("mode") == "unattributed").height
            assert left <= MOST_OPEN * table.height, f"{one.run.name}: {left} of {table.height}"


@pytest.mark.parametrize("path", PATHS)
def test_no_pass_contradicts_a_proven_defect_of_the_benchmark(path: str) -> None:
    """A test that rejects the prompt's own spelling may have passes with another spelling."""
    passed = {task for one in analysis(path).runs for task, *_ in passes(table_of(one))}
    for name, table in failures(path):
        defects = [code for code, mode in by_code().items() if mode.group == "benchmark"]
        proven = table.filter(pl.col("mode").is_in(defects) & (pl.col("confidence") == "proven"))
        cannot = proven.filter(pl.col("mode") == "test-cannot-pass")
        assert not set(cannot["task_id"]) & passed, name


def passes(table: pl.DataFrame) -> list[tuple[str, int]]:
    return table.filter(pl.col("outcome") == "passed").select("task_id", "repeat").rows()


@pytest.mark.parametrize("path", PATHS)
def test_machinery_is_one_set(path: str) -> None:
    left_out = {one.run.name: one for one in blade.analyze(DATA / path, exclude=["infra"]).runs}
    for one in analysis(path).runs:
        table = table_of(one)
        infra = table.filter("infra")
        assert set(infra["party"]) <= set(PARTIES)
        assert not infra["valid"].any()
        judged = table.filter(pl.col("outcome").is_in(("passed", "failed")) & ~pl.col("infra"))
        scores = {score.name: score for score in one.metrics.scores}
        if scores["infra_excluded"].value is not None:
            assert scores["infra_excluded"].n_rollouts == judged.height
        rest = table_of(left_out[one.run.name]).select("task_id", "repeat")
        gone = table.select("task_id", "repeat").join(rest, on=["task_id", "repeat"], how="anti")
        missing = table.filter(pl.col("outcome") == "missing").select("task_id", "repeat").rows()
        assert {*gone.rows(), *missing} == {*infra.select("task_id", "repeat").rows(), *missing}


@pytest.mark.parametrize("path", PATHS)
def test_training_is_for_graded_rollouts_of_sound_tasks(path: str) -> None:
    for one in analysis(path).runs:
        assert one.diagnosis is not None
        table = table_of(one).filter(pl.col("outcome") != "passed")
        spoiled = set(table.filter(pl.col("mode").is_in(defect_codes()))["task_id"])
        graded = {f"{task}#{repeat}" for task, repeat in table.filter("valid").select("task_id", "repeat").rows()}
        for advice in one.diagnosis.interventions:
            if advice.kind == "training":
                assert not set(advice.task_ids) & spoiled, advice.action
                assert set(advice.locations) <= graded, advice.action


def defect_codes() -> list[str]:
    return [code for code, mode in by_code().items() if mode.group == "benchmark"]


GROUPS = {"machinery": "machinery", "benchmark": "benchmark", "user simulator": "benchmark"}
"""Groups of modes as the labels call them; a limit counts as the agent's, as the labels say."""
CHECKS_FAILED = ("one-check-failed", "some-checks-failed", "all-checks-failed", "regression")


def test_the_hand_made_labels_of_a_terminal_run() -> None:
    """Both runs are loaded, as the reader of the labels had both at hand."""
    with (DATA.parent / "data" / "labels" / "terminal_claude_code_c4.csv").open() as lines:
        labels = {row["task_id"]: row for row in csv.DictReader(lines)}
    (table,) = [
        table for one in analysis("terminal_bench").runs
        if set(labels) <= set((table := table_of(one).filter(pl.col("outcome") != "passed"))["task_id"])
        and table.height == len(labels)
    ]  # fmt: skip
    confusion: Counter[tuple[str, str]] = Counter()
    modes = 0
    for task, mode, party in table.select("task_id", "mode", "party").iter_rows():
        label = labels[task]
        found = by_code().get(mode)
        group = "unknown" if found is None or party == "unknown" else GROUPS.get(found.group, "agent")
        confusion[label["group"], group] += 1
        modes += mode == label["mode_code"] or (label["mode_code"] == "checks-failed" and mode in CHECKS_FAILED)
    agreed = sum(n for (said, found), n in confusion.items() if said == found)
    print(f"group {agreed} of {len(labels)}, mode {modes} of {len(labels)}: {dict(confusion)}")
    assert agreed >= 0.85 * len(labels), confusion
    assert modes >= 0.7 * len(labels)
