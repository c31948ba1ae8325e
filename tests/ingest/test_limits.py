"""Input that is too long or too large becomes a problem with its place, whatever it is packed in."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.jsonl import Torn, neighbors, records
from blade.ingest.reread import reread
from blade.model.errors import ArtifactError, RequestError
from blade.model.limits import ReadLimits, size_of, size_text, using_limits
from builders import kept_places, load, outcomes, places, reasons, rollout, sample, write_bytes, write_eval, write_jsonl
from ingest.formats.run_folders import write

SHORT = ReadLimits(line=500)
GOOD = json.dumps(rollout("good", passed=True)).encode()
LONG = json.dumps(rollout("long", output="x" * 2_000)).encode()


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_a_line_that_is_too_long_is_listed_and_the_others_are_read(tmp_path: Path, ending: str) -> None:
    path = write_bytes(tmp_path / f"run{ending}", b"\n".join((GOOD, LONG, GOOD, LONG)))
    (run,) = load(path, limits=SHORT)
    assert places(run, "line") == [("good", 0, 1), ("good", 1, 3)]
    assert [one.split(" is longer")[0] for one in reasons(run)] == [f"run{ending}:{line}: the line" for line in (2, 4)]
    assert all("500 bytes" in one and "--max-line" in one for one in reasons(run))
    assert [read.key.repeat for read in reread(run, kept_places(run))] == [0, 1]


def test_a_higher_limit_reads_it_and_what_was_read_is_read_again(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "run.jsonl", b"\n".join((GOOD, LONG)))
    (run,) = load(path, limits=ReadLimits(line=10_000))
    assert outcomes(run) == ["passed", "failed"]
    assert not reasons(run)
    with using_limits(SHORT):
        assert len(reread(run, kept_places(run))) == 2


@given(
    sizes=st.lists(st.integers(0, 40), max_size=8),
    ended=st.booleans(),
    cuts=st.sets(st.integers(1, 200)),
    most=st.integers(1, 20),
)
def test_byte_ranges_agree_on_lines_that_are_too_long(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], ended: bool, cuts: set[int], most: int
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "run.jsonl"
    data = b"\n".join(b"x" * size for size in sizes) + b"\n" * ended
    path.write_bytes(data)
    with using_limits(ReadLimits(line=most)):
        whole = [(one.offset, one.data, bool(one.broken)) for one in records(path)]
        edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
        parts = [one for edge in pairwise(edges) for some in neighbors(path, *edge) for one in some]
    assert [(one.offset, one.data, bool(one.broken)) for one in parts] == whole
    lines = data.splitlines(keepends=True)
    assert [broken for _, _, broken in whole] == [len(line.rstrip(b"\n")) > most for line in lines]


@pytest.mark.parametrize("ending", [".jsonl.gz", ".jsonl.zst"])
def test_a_file_that_unpacks_too_far_keeps_the_rows_before(tmp_path: Path, ending: str) -> None:
    path = write_jsonl(tmp_path / f"run{ending}", [rollout(f"t{number}", output="y" * 900) for number in range(9_000)])
    (run,) = load(path, limits=ReadLimits(unpacked=1 << 20))
    (found,) = reasons(run)
    assert 0 < run.rollouts.height < 9_000
    assert f"run{ending}:" in found
    assert "unpacks to more than 1 MB" in found
    assert "--max-unpacked" in found


def test_a_first_line_that_is_too_long_says_why_nothing_is_read(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="the line is longer than 500 bytes"):
        load(write_bytes(tmp_path / "run.jsonl.gz", b"[" * 5_000), limits=SHORT)


def test_a_sample_of_an_archive_that_is_too_long_is_listed(tmp_path: Path) -> None:
    samples = [sample("a"), sample("b", note="z" * 5_000)]
    (run,) = load(write_eval(tmp_path / "log.eval", {"eval": {"task": "t"}}, samples), limits=SHORT)
    (found,) = [one for one in reasons(run) if "--max-line" in one]
    assert "samples/b_epoch_1.json" in found
    assert run.rollouts["task_id"].to_list() == ["a"]


def test_an_archive_is_measured_by_what_it_unpacks_to(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for name in ("a", "b", "c"):
            archive.writestr(f"samples/{name}.json", json.dumps(sample(name, note="z" * 4_000)))
    (run,) = load(path, limits=ReadLimits(unpacked=9_000))
    assert run.rollouts["task_id"].to_list() == ["a", "b"]
    assert any("the archive unpacks to more than 9,000 bytes" in one for one in reasons(run))


def test_a_document_that_is_too_large_is_refused(tmp_path: Path) -> None:
    log = {"eval": {"task": "t"}, "status": "success", "samples": [sample(number) for number in range(20)]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    (run,) = load(tmp_path / "log.json", limits=ReadLimits(line=2_000))
    assert run.rollouts.height == 20
    with pytest.raises(ArtifactError, match="the file is larger than 2,000 bytes"):
        load(tmp_path / "log.json", limits=SHORT)


def test_a_trial_whose_trajectory_is_too_large_keeps_its_verdict(tmp_path: Path) -> None:
    trial = tmp_path / "job" / "a__x1"
    write(
        trial / "result.json",
        {"trial_name": "a__x1", "task_name": "a", "verifier_result": {"rewards": {"reward": 1.0}}},
    )
    write(trial / "agent" / "trajectory.json", {"schema_version": "ATIF-v1.4", "steps": [{"message": "m" * 5_000}]})
    (run,) = load(tmp_path / "job", limits=SHORT)
    assert outcomes(run) == ["passed"]
    assert any("trajectory.json: the file is larger than 2,000 bytes" in one for one in reasons(run))


CHILD = """
import resource, sys
from blade.model.errors import ArtifactError
from blade import analysis
from blade.model.options import Options
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    analysis.load([sys.argv[1]], Options(workers=1))
except ArtifactError as error:
    assert "--max-line" in error.message, error.message
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("ending", [".jsonl.gz", ".jsonl.zst", ".csv.gz"])
def test_a_small_file_never_takes_gigabytes(tmp_path: Path, ending: str) -> None:
    size = 300 << 20
    path = tmp_path / f"run{ending}"
    head, fill = (b"task,reward,x\na,1,", b"x") if ".csv" in ending else (GOOD + b'\n{"reward": 1, "x": "', b"x")
    if ending.endswith(".zst"):
        path.write_bytes(zstandard.compress(head + fill * size))
    else:
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(head)
            for _ in range(size >> 20):
                file.write(fill * (1 << 20))
    assert path.stat().st_size < 2 << 20
    done = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kilobytes = 1 if sys.platform != "darwin" else 1 << 10
    assert int(done.stdout) / kilobytes < (700 << 10), "more than 700 MB"


@pytest.mark.parametrize(
    ("text", "size"), [("500", 500), ("64MB", 64 << 20), ("2 gb", 2 << 30), ("1KiB", 1024), ("3T", 3 << 40)]
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert size_of(text) == size
    assert size_of(size_text(size).replace(",", "").replace(" bytes", "")) == size


@pytest.mark.parametrize("text", ["", "0", "many", "-5", "1.5GB", "5 PB"])
def test_what_names_no_size_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="is no size"):
        size_of(text)


def test_a_table_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "scores.csv.gz", b"task,reward\n" + b"a,1\n" * 2_000)
    with pytest.raises(ArtifactError, match="larger than 2,000 bytes"):
        load(path, limits=SHORT)
    with pytest.raises(Torn), using_limits(ReadLimits(line=1, unpacked=1_000)):
        list(records(path))
