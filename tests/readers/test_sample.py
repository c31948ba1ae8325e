"""What `blade sample` draws, and what shares of a sample are worth."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blade
from blade.readers.sample import OTHERS, allocated, pooled
from blade.stats.agreement import agreement_rate, kappa
from blade.stats.intervals import ReadStratum, stratified_share
from builders import Row, rollout, write_jsonl
from commands import command


def many(folder: Path, tasks: int = 20) -> Path:
    rows: list[Row] = []
    for number in range(tasks):
        task = f"t{number:02}"
        rows += [
            rollout(task, repeat=0, output="5", pred="5", expected_answer="4"),
            rollout(task, repeat=1, output="So 4.", pred=None, expected_answer="4"),
            rollout(task, repeat=2, output="4", pred="4", expected_answer="4", passed=True),
        ]
    return write_jsonl(folder / "run.jsonl", rows)


def drawn(run: Path, *words: object) -> list[Row]:
    found = json.loads(command("sample", run, "--json", *words).out)
    assert isinstance(found, list)
    return found


def test_the_same_seed_draws_the_same_and_more_holds_less(tmp_path: Path) -> None:
    run = many(tmp_path)
    first = drawn(run, "--n", 16)
    assert first == drawn(run, "--n", 16)
    assert len(first) == 16
    places = {(row["task_id"], row["repeat"]) for row in first}
    assert places <= {(row["task_id"], row["repeat"]) for row in drawn(run, "--n", 40)}
    assert places != {(row["task_id"], row["repeat"]) for row in drawn(run, "--n", 16, "--seed", 1)}
    assert len(drawn(run, "--n", 1000)) == 60


def test_passes_are_among_them_and_are_counted(tmp_path: Path) -> None:
    run = many(tmp_path)
    assert sum(row["outcome"] == "passed" for row in drawn(run, "--n", 16)) == 4
    told = command("sample", run, "--n", 16).out
    assert "16 of 60 rollouts, 4 passes among them, seed 0" in told
    assert "blade show" in told
    assert {row["outcome"] for row in drawn(run, "--n", 16, "--unattributed")} <= {"failed"}


def test_what_it_prints_can_be_run(tmp_path: Path) -> None:
    program, *words = shlex.split(drawn(many(tmp_path), "--n", 2)[0]["command"])
    assert program == "blade"
    assert command(*words).code == 0


def test_rows_to_fill_in_are_no_rollouts(tmp_path: Path) -> None:
    run = many(tmp_path / "runs")
    command("analyze", run, "-o", tmp_path / "out")
    for folder in (tmp_path / "runs", tmp_path / "out"):
        assert command("sample", folder, "--n", 8, "-o", folder / "notes.jsonl").code == 0
        found = blade.load_run(folder)
        assert (found.rollouts.height, found.problem_count) == (60, 0)
    refused = command("analyze", tmp_path / "out" / "notes.jsonl")
    assert refused.code == 2
    assert "what readers say of rollouts" in refused.error


def test_strata_may_be_crossed(tmp_path: Path) -> None:
    run = many(tmp_path, tasks=3)
    rows = drawn(run, "--n", 9, "--stratify", "mode,task")
    assert {row["sample"]["size"] for row in rows} == {1}
    refused = command("sample", run, "--stratify", "weather")
    assert refused.code == 2
    assert "mode, task, party" in refused.error


def test_a_sample_that_is_filled_in_estimates_the_rest(tmp_path: Path) -> None:
    run, notes = many(tmp_path), tmp_path / "notes.jsonl"
    command("sample", run, "--n", 20, "-o", notes)
    rows = [json.loads(line) for line in notes.read_text("utf-8").splitlines()]
    for place, row in enumerate(rows[:-1]):
        passed = row["outcome"] == "passed"
        row.update({"mode": "none"} if passed else {"mode": "refused" if place % 2 else "stand-in", "note": "seen"})
    write_jsonl(notes, rows)
    done = command("attribute", run, "--file", notes, "--as", "ann")
    assert done.out.startswith("19 stored, 1 without a mode left alone")
    readers = blade.analyze(run).runs[0].readers
    assert readers is not None
    assert readers.sample is not None
    sample = readers.sample
    assert (sample.failures_in_all, sample.passes_in_all) == (40, 20)
    assert sample.failures + sample.passes == 19
    shares = [one for one in sample.shares if one.kind == "mode"]
    assert {one.name for one in shares} == {"refused", "stand-in"}
    assert sum(one.share.value or 0 for one in shares) == pytest.approx(1)
    for one in shares:
        assert one.share.interval is not None
        assert one.share.interval.low < (one.share.value or 0) < one.share.interval.high
    (sound,) = [one for one in sample.shares if one.kind == "passes"]
    assert (sound.name, sound.share.value) == ("sound", 1.0)
    assert sound.share.interval is not None
    assert sound.share.interval.low < 1
    failed = next(row for row in rows if row["outcome"] == "failed")
    again = f"{failed['task_id']}#{failed['repeat']}"
    command("attribute", run, again, "--mode", "handed-back", "--note", "on second thought", "--as", "bo")
    second = blade.analyze(run).runs[0].readers
    assert second is not None
    assert second.sample is not None
    assert "handed-back" in {one.name for one in second.sample.shares}, "the last word counts for what was drawn"
    page = blade.analyze(run).save(tmp_path / "out") / "report.md"
    assert "Estimated from a random sample: 14 of 40 failures and 5 of 20 passes were read" in page.read_text("utf-8")


def test_what_nobody_drew_estimates_nothing(tmp_path: Path) -> None:
    run = many(tmp_path)
    command("attribute", run, "t00#0", "--mode", "refused", "--note", "seen", "--as", "ann")
    readers = blade.analyze(run).runs[0].readers
    assert readers is not None
    assert readers.sample is None


sizes = st.dictionaries(st.tuples(st.booleans(), st.text("abc", max_size=2)), st.integers(1, 30), min_size=1)


@given(sizes=sizes, n=st.integers(1, 80))
def test_all_that_is_asked_for_is_drawn_and_no_stratum_left_out(sizes: dict[tuple[bool, str], int], n: int) -> None:
    counts = allocated(sizes, n)
    assert sum(counts.values()) == min(n, sum(sizes.values()))
    assert all(0 <= counts[stratum] <= size for stratum, size in sizes.items())
    for passes in (True, False):
        mine = {stratum: count for stratum, count in counts.items() if stratum[0] == passes}
        assert sum(mine.values()) < len(mine) or all(mine.values())


@given(sizes=sizes, n=st.integers(1, 80))
def test_every_stratum_that_is_drawn_by_gives_a_rollout(sizes: dict[tuple[bool, str], int], n: int) -> None:
    rows = {stratum: [(0, "t", one, "") for one in range(size)] for stratum, size in sizes.items()}
    found = {stratum: len(mine) for stratum, mine in pooled(rows, n).items()}
    counts = allocated(found, n)
    assert sum(found.values()) == sum(sizes.values())
    for passes in (True, False):
        mine = [count for stratum, count in counts.items() if stratum[0] == passes]
        assert all(mine) or not any(mine)


def test_what_was_written_into_a_sample_is_not_overwritten(tmp_path: Path) -> None:
    run, notes = many(tmp_path), tmp_path / "notes.jsonl"
    assert {row["sample"]["stratum"] for row in drawn(run, "--n", 4, "--stratify", "task")} == {OTHERS}
    for _ in range(2):
        assert command("sample", run, "--n", 4, "-o", notes).code == 0
    rows = [json.loads(line) for line in notes.read_text("utf-8").splitlines()]
    write_jsonl(notes, [rows[0] | {"mode": "refused"}, *rows[1:]])
    for held in (notes, run):
        before = held.read_bytes()
        refused = command("sample", run, "--n", 4, "-o", held)
        assert (refused.code, held.read_bytes()) == (2, before)
        assert "to fill in" in refused.error


strata = st.lists(
    st.integers(1, 30).flatmap(
        lambda read: st.builds(ReadStratum, size=st.integers(read, 200), read=st.just(read), hits=st.integers(0, read))
    ),
    min_size=1,
    max_size=6,
)


@given(strata=strata)
def test_limits_hold_the_share_and_never_contradict_what_was_read(strata: list[ReadStratum]) -> None:
    share, interval = stratified_share(strata)
    total, hits = sum(one.size for one in strata), sum(one.hits for one in strata)
    if interval is None:
        assert all(one.read == one.size for one in strata)
        assert share == pytest.approx(hits / total)
        return
    assert interval.low - 1e-12 <= share <= interval.high + 1e-12
    assert hits / total - 1e-12 <= interval.low
    assert interval.high <= 1 - (sum(one.read for one in strata) - hits) / total + 1e-12


@pytest.mark.parametrize(
    ("sizes", "rates", "read"),
    [
        ((120, 60, 20), (0.1, 0.5, 0.9), (18, 9, 3)),
        ((300,), (0.05,), (40,)),
        ((200, 10, 10), (0.3, 0.5, 0.5), (16, 1, 1)),
    ],
)
def test_limits_hold_the_truth_as_often_as_they_say(
    sizes: tuple[int, ...], rates: tuple[float, ...], read: tuple[int, ...]
) -> None:
    random = np.random.default_rng(0)
    populations = [np.arange(size) < round(size * rate) for size, rate in zip(sizes, rates, strict=True)]
    truth = sum(int(one.sum()) for one in populations) / sum(sizes)
    held = 0
    for _ in range(400):
        found = [
            ReadStratum(len(one), n, int(random.choice(one, n, replace=False).sum()))
            for one, n in zip(populations, read, strict=True)
        ]
        _, interval = stratified_share(found)
        assert interval is not None
        held += interval.low <= truth <= interval.high
    assert held / 400 >= 0.92


def pairs(table: list[list[int]]) -> list[tuple[str, str]]:
    return [(str(i), str(j)) for i, row in enumerate(table) for j, times in enumerate(row) for _ in range(times)]


def test_kappa_is_the_published_one() -> None:
    """Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, table 18.1: 0.68 with standard error 0.087."""
    found = kappa(pairs([[75, 1, 4], [5, 4, 1], [0, 0, 10]]))
    assert found.value == pytest.approx(0.676, abs=5e-4)
    assert found.interval is not None
    assert (found.interval.high - found.interval.low) / 2 / 1.96 == pytest.approx(0.087, abs=1e-3)


def test_kappa_by_hand() -> None:
    found = kappa(pairs([[20, 5], [10, 15]]))
    assert found.value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert kappa(pairs([[9, 0], [0, 0]])).reason == "both used one category throughout"
    assert kappa([("a", "a")]).value is None
    perfect = kappa(pairs([[9, 0], [0, 9]]))
    assert (perfect.value, perfect.interval) == (1.0, None)


labels = st.sampled_from("abc")


@settings(max_examples=50)
@given(ratings=st.lists(st.tuples(labels, labels), min_size=2, max_size=40))
def test_kappa_is_no_more_than_agreement(ratings: list[tuple[str, str]]) -> None:
    found, agreed = kappa(ratings), agreement_rate(ratings, [str(place) for place in range(len(ratings))])
    swapped = kappa([(two, one) for one, two in ratings])
    assert (found.value is None) == (swapped.value is None)
    if found.value is not None:
        assert found.value == pytest.approx(swapped.value)
        assert found.value <= (agreed.value or 0) + 1e-9


def test_a_note_without_a_mode_is_not_left_alone(tmp_path: Path) -> None:
    run, notes = many(tmp_path), tmp_path / "notes.jsonl"
    command("sample", run, "--n", 4, "-o", notes)
    rows = [json.loads(line) for line in notes.read_text("utf-8").splitlines()]
    write_jsonl(notes, [rows[0] | {"note": "it forgets what was asked"}, *rows[1:]])
    done = command("attribute", run, "--file", notes, "--as", "ann")
    assert (done.code, "notes.jsonl:1" in done.error) == (1, True)
    write_jsonl(notes, [rows[0] | {"mode": "lost", "note": "it forgets what was asked"}, *rows[1:]])
    named = command(
        "attribute", run, "--file", notes, "--as", "ann", "--define", "lost", "It forgets.", "--party", "agent"
    )
    assert named.out.startswith("1 stored, 1 defined, 3 without a mode left alone")
    assert command("attribute", run, "--file", notes, "--as", "ann", "--note", "for all").code == 2
