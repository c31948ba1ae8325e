"""One file that cannot be read stops nothing else, nothing but regular files is opened, and no link leads out."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from blade.ingest.artifacts import files_of, find
from blade.ingest.load import load_found
from blade.ingest.scan import ScanSettings, chunks, gather, scan_chunks, together
from blade.model.errors import ArtifactError
from blade.model.options import Options
from builders import load, outcomes, reasons, rollout, write_jsonl
from ingest.formats.run_folders import terminal_bench


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "runs"
    write_jsonl(path / "good.jsonl", [rollout("a", passed=True, model="m")])
    return path


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere.jsonl")


def make_circle(path: Path) -> None:
    path.symlink_to(path.name)


def make_link_outside(path: Path) -> None:
    path.symlink_to(write_jsonl(path.parents[1] / "secret" / "s.jsonl", [rollout("secret", passed=True)]))


def make_link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket may have no more than a hundred characters
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


ODD = {
    make_pipe: "no regular file",
    make_socket: "no regular file",
    make_link_to_nothing: "link to nothing",
    make_circle: "link",
    make_link_outside: "link to a place outside the folder",
    make_link_to_device: "link to a place outside the folder",
}


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", ["odd.jsonl", "good_materialized_inputs.jsonl", "good_config.yaml"])
def test_a_file_that_is_none_is_a_problem_of_the_folder(folder: Path, make: Any, name: str) -> None:
    make(folder / name)
    (run,) = load(folder)
    assert run.rollouts["task_id"].to_list() == ["a"]
    (found,) = reasons(run)
    assert found.startswith(f"runs/{name}: ")
    assert ODD[make] in found


@pytest.mark.parametrize("make", [make_pipe, make_socket, make_link_to_nothing, make_circle], ids=lambda m: m.__name__)
def test_such_a_file_as_the_run_is_refused_at_once(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "odd.jsonl")
    with pytest.raises(ArtifactError, match=r"odd\.jsonl"):
        load(tmp_path / "odd.jsonl")


def test_a_device_is_refused_at_once() -> None:
    with pytest.raises(ArtifactError, match="no regular file"):
        load("/dev/zero")


def test_a_pipe_beside_a_file_that_is_named_is_a_problem(folder: Path) -> None:
    make_pipe(folder / "good_aggregate_metrics.json")
    (run,) = load(folder / "good.jsonl")
    assert ["no regular file" in one for one in reasons(run)] == [True]


def test_a_folder_in_the_place_of_a_sidecar_is_passed_over(folder: Path) -> None:
    (folder / "good_aggregate_metrics.json").mkdir()
    (run,) = load(folder)
    assert outcomes(run) == ["passed"]


def test_a_file_that_vanishes_after_it_was_found_is_a_problem(folder: Path) -> None:
    gone = write_jsonl(folder / "gone.jsonl", [rollout("b", model="m")])
    found = find([str(folder)])
    gone.unlink()
    (run,) = load_found(found, Options(workers=1), None)
    assert run.rollouts["task_id"].to_list() == ["a"]
    assert [one for one in reasons(run) if "gone.jsonl" in one and "it cannot be read" in one]


def test_a_pipe_in_a_trial_is_a_problem_of_that_trial(tmp_path: Path) -> None:
    run_folder = terminal_bench(tmp_path / "run", {"a": [True], "b": [False]})
    trial = next((run_folder / "a").iterdir())
    (trial / "commands.txt").unlink(missing_ok=True)
    make_pipe(trial / "commands.txt")
    (run,) = load(run_folder)
    assert outcomes(run) == ["passed", "failed"]
    assert any("commands.txt" in one and "no regular file" in one for one in reasons(run))


class Calls:
    """Counts the calls of Python functions."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        self.count += event == "call"


def calls_of(folder: Path, files: int) -> int:
    """Calls that it takes to load a folder of so many files, each of a task of its own with two repeats."""
    for number in range(files):
        rows = [rollout(f"task{number}", repeat=repeat, passed=True, model="m") for repeat in range(2)]
        write_jsonl(folder / f"part{number:04d}.jsonl", rows)
    calls = Calls()
    sys.setprofile(calls)
    try:
        (run,) = load(folder)
    finally:
        sys.setprofile(None)
    assert run.rollouts.height == 2 * files
    return calls.count


def test_work_grows_with_the_number_of_files_and_not_with_its_square(tmp_path: Path) -> None:
    calls_of(tmp_path / "first", 20)  # what is loaded and compiled once
    few, many = calls_of(tmp_path / "few", 50), calls_of(tmp_path / "many", 150)
    assert many < 3 * few


def test_small_files_give_the_same_rows_together_as_alone(tmp_path: Path) -> None:
    for number in range(7):
        checks = {f"test_{number % 3}": True, f"test_{number}": number % 2 == 0}
        write_jsonl(tmp_path / f"r{number}.jsonl", [rollout(f"t{number}", passed=True, tests=checks), {"no": "row"}])
    pieces = chunks(files_of(find([str(tmp_path)])))
    assert len(together(pieces)) == 1
    one = gather(scan_chunks(pieces, ScanSettings()))
    alone = gather([scanned for piece in pieces for scanned in scan_chunks([piece], ScanSettings())])
    names = sorted(one.rows.columns)
    assert names == sorted(alone.rows.columns)
    assert one.rows.select(names).equals(alone.rows.select(names))
    assert (one.problems, one.counts, one.seen) == (alone.problems, alone.counts, alone.seen)
    assert one.check_names.equals(alone.check_names)


def test_checks_are_the_same_whoever_reads_them(tmp_path: Path) -> None:
    for number in range(3):
        checks = {f"test_{name}": name != number for name in ((2, 1, 0) if number else (0, 1, 2))}
        write_jsonl(tmp_path / f"r{number}.jsonl", [rollout(f"t{number}", model="m", tests=checks)] * 200)
    (first,), (second,) = load(tmp_path), list(load_found(find([str(tmp_path)]), Options(workers=2), None))
    assert first.checks.equals(second.checks)
    mine = first.checks.filter(first.checks["task_id"] == "t1").head(3)
    assert mine.select("name", "passed").rows() == [("test_2", True), ("test_1", False), ("test_0", True)]
