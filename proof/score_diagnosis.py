"""Behind `make proof`: simulated runs go through the door that users take, and are scored."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from blade import analysis as pipeline
from blade.benchmark_health.health import health_of_analyzed
from blade.comparison.compare import compare_analyzed
from blade.comparison.values import Comparison
from blade.model.analysis import Analysis
from blade.model.diagnosis import Diagnosis, RuleStatistics
from blade.model.options import Options
from blade.model.run import Run
from blade.rules.catalog import all_rules
from blade.stats.headroom import headroom
from blade.stats.rollout_index import index_rollouts
from blade.write import write
from proof.simulate.agreement import DOUBTED, Said, Table, agreement
from proof.simulate.calibration import Calibration, Estimate, SupportedSymptoms, calibrated
from proof.simulate.effects import SYMPTOMS, Effect, symptoms_run
from proof.simulate.generate import Made, Wanted, generate
from proof.simulate.leaderboard import leaderboard
from proof.simulate.pairs import Pair, compared, pairs
from proof.simulate.ranking import Ranking, ranking
from proof.simulate.score import Proof, score, together
from proof.simulate.text import RuleName

ATTRIBUTIONS = "attributions.parquet"
PAIRS = 2
"""Of each kind, for each world and seed."""


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Put files in a folder, which is made where it is not there; each is whole or not there at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        part = folder / f".{name}.part"
        part.write_bytes(data)
        part.replace(folder / name)


def analyzed(folder: Path) -> Analysis:
    """The analysis of a folder, as `blade analyze` makes it."""
    options = Options(workers=1)
    return pipeline.analyze(pipeline.load([str(folder)], options), options)


def scored(made: Made, folder: Path) -> Proof:
    """What the analysis of a world that was written to a folder gets right, and how it ranks its broken tasks."""
    found = analyzed(folder)
    with tempfile.TemporaryDirectory(prefix="blade-") as out:
        write(found, Path(out))
        said = {
            one.run.name: attributions(one.run, Path(out) / one.run.name / ATTRIBUTIONS, one.diagnosis)
            for one in found.runs
        }
    return replace(
        score(made.truth, found),
        agreement=agreement(made.truth, said),
        ranking=_ranked(made, found),
    )


def _ranked(made: Made, found: Analysis) -> Ranking:
    """How health ranks the tasks, by the ids that the first run gave them."""
    run = found.runs[0].run
    ids = dict(run.tasks.select("index", "task_id").iter_rows())
    tasks = made.truth.runs[run.name].tasks
    truth = {ids.get(one.index, task): one for task, one in tasks.items()}
    return ranking(truth, health_of_analyzed(found.runs).tasks)


def boards(wanted: Wanted) -> Proof:
    """How health ranks broken tasks where five models of unequal strength did them."""
    return together(_board(made) for made in leaderboard(wanted))


def _board(made: Made) -> Proof:
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        write_files(made.files, Path(folder))
        return Proof(boards=_ranked(made, analyzed(Path(folder))))


def comparisons(wanted: Wanted, of_each: int) -> Proof:
    """What comparing says of pairs of runs in which nothing changed, and of as many in which one thing did."""
    return Proof(compared=compared((pair, _comparison(pair)) for pair in pairs(wanted, of_each)))


def _comparison(pair: Pair) -> Comparison:
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        runs = []
        for name, made in (("baseline", pair.baseline), ("candidate", pair.candidate)):
            write_files(made.files, Path(folder) / name)
            runs.append(analyzed(Path(folder) / name).runs[0])
        return compare_analyzed(runs[0], runs[1])


def attributions(run: Run, path: Path, diagnosis: Diagnosis | None = None) -> Table | None:
    """The table of attributions that was written for a run, by index of the task and repeat; None where there is none."""
    if not path.is_file():
        return None
    index = dict(run.tasks.select("task_id", "index").iter_rows())
    doubted = {one.location for one in diagnosis.passes_to_doubt} if diagnosis is not None else set()
    rows = pl.read_parquet(path).iter_rows(named=True)
    return {
        (index.get(row["task_id"], -1), row["repeat"]): _said(row, f"{row['task_id']}#{row['repeat']}" in doubted)
        for row in rows
    }


def _said(row: Mapping[str, Any], doubted: bool) -> Said:
    """A row of the table; that a pass is to be doubted stands in a list beside it."""
    return Said(
        mode=row["mode"],
        party=row["party"],
        confidence=row["confidence"],
        also=(*(row.get("also") or ()), *((DOUBTED,) if doubted else ())),
        valid=row.get("valid"),
    )


def prove(seeds: Iterable[int], wanted: Wanted) -> Proof:
    """Every wanted world, once for each seed; files are made in a temporary folder and removed."""
    return together(_proved(replace(wanted, seed=seed)) for seed in seeds)


def _proved(wanted: Wanted) -> Proof:
    proofs = []
    for made in generate(wanted):
        with tempfile.TemporaryDirectory(prefix="blade-") as folder:
            write_files(made.files, Path(folder) / made.world)
            proofs.append(scored(made, Path(folder) / made.world))
    return together(proofs)


def calibrate(seeds: Iterable[int]) -> Calibration:
    """Grades and headroom of symptoms without an effect, and of one with a known effect, for each seed."""
    costly = tuple(SYMPTOMS)
    without = [_graded(symptoms_run(seed, None)) for seed in seeds]
    with_one = [_graded(symptoms_run(seed, costly[seed % len(costly)])) for seed in seeds]
    return calibrated(without, with_one)


def _graded(effect: Effect) -> SupportedSymptoms:
    """Each symptom of a run with its grade and its headroom beside the true gain, and the grades of habits."""
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        write_files(effect.made.files, Path(folder))
        (one,) = analyzed(Path(folder)).runs
    if one.diagnosis is None:
        raise ValueError("a run without a diagnosis cannot be graded")
    symptoms = (_estimate(one.run, rule, effect) for rule in one.diagnosis.rule_statistics if rule.code in effect.gains)
    habits = tuple(habit.support for habit in one.diagnosis.habits if habit.p_value is not None)
    return SupportedSymptoms(symptoms=tuple(symptoms), habits=habits)


def _estimate(run: Run, rule: RuleStatistics, effect: Effect) -> Estimate:
    rollouts = index_rollouts(run)
    fired = rollouts.fired.get(rule.code, rollouts.those())
    return Estimate(
        code=rule.code,
        support=rule.support,
        tested=rule.p_value is not None,
        gain=effect.gains[rule.code],
        headroom=headroom(rollouts, fired, rollouts.those()),
    )


def rule_names() -> dict[str, RuleName]:
    """Every rule by code, as a reader of a proof is told of it."""
    return {
        one.code: RuleName(name=one.name, status=one.status, scope="task" if one.scope == "run" else one.scope)
        for one in all_rules()
    }
