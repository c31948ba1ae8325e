"""A folder that is written holds all that is old or all that is new, whenever the writer dies."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from blade.files import finish
from blade.model.errors import BladeError
from blade.write import write_texts

OLD = {"report.md": "old", "report.html": "old page", "metrics.json": "{}"}
NEW = {"report.md": "new", "report.html": "new page", "metrics.json": "[]"}
ENOUGH = 60
"""More steps than a writing has."""

# Before every step that the file system is told of, the writer may die; Python tells of them, so the product has no hook.
WRITER = """
import os, pathlib, signal, sys
from blade.files import replacing_in
place, left = sys.argv[1], [int(sys.argv[2])]
ANYWHERE = ("os.rename", "os.remove", "os.rmdir")
STAGED = ("open", "os.mkdir", "os.chmod", "os.chown", "os.scandir", "shutil.rmtree")
def step(event, args):
    if event in ANYWHERE or (event in STAGED and ".blade-out" in str(args[0])):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(step)
with replacing_in(pathlib.Path(place)) as staging:
    for name, text in zip(sys.argv[3::2], sys.argv[4::2]):
        (staging / name).write_text(text)
"""


def killed(out: Path, step: int) -> bool:
    """Write `NEW` and die before that step; whether it came to that."""
    words = [word for pair in NEW.items() for word in pair]
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(out), str(step), *words], cwd=out.parent, check=False, capture_output=True
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def held(out: Path) -> dict[str, str]:
    """What a person sees in a folder."""
    return {path.name: path.read_text() for path in out.iterdir() if not path.name.startswith(".")}


def kills(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    for step in range(ENOUGH):
        out = tmp_path / f"{step}" / "out"
        write_texts(out, OLD)
        yield out, step
    pytest.fail("a writing has more steps than this test kills")


def test_a_folder_of_ours_is_old_or_new_at_every_moment(tmp_path: Path) -> None:
    seen = set()
    for out, step in kills(tmp_path):
        died = killed(out, step)
        assert held(out) in (OLD, NEW), step
        seen.add(held(out) == NEW)
        write_texts(out, OLD)
        assert held(out) == OLD
        assert list(out.parent.iterdir()) == [out], "nothing is left beside the folder"
        if not died:
            break
    assert step > 5
    assert seen == {False, True}


def test_other_files_stay_and_the_next_command_finishes_what_was_begun(tmp_path: Path) -> None:
    states = []
    for out, step in kills(tmp_path):
        (out / "notes.txt").write_text("mine")
        (out / "run").mkdir()
        (out / "run" / "more.txt").write_text("mine too")
        died = killed(out, step)
        finish(out)
        assert (out / "run" / "more.txt").read_text() == "mine too"
        (out / "run" / "more.txt").unlink()
        (out / "run").rmdir()
        state = held(out)
        assert state.pop("notes.txt") == "mine"
        assert state in (OLD, NEW), step
        states.append(state == NEW)
        assert {path.name for path in out.iterdir()} == {*OLD, "notes.txt"}
        if not died:
            break
    assert states == sorted(states), "what was decided stays decided"
    assert states[0] is False
    assert states[-1] is True
    assert sum(states) > 3


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_texts(out, OLD)
    writer = """
import sys, pathlib
from blade.files import replacing_in
with replacing_in(pathlib.Path(sys.argv[1])) as staging:
    (staging / "report.md").write_text("new")
    print("ready", flush=True)
    sys.stdin.readline()
"""
    command = [sys.executable, "-c", writer, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        finish(out)
        process.communicate("\n")
    assert process.returncode == 0
    assert held(out) == OLD | {"report.md": "new"}


def test_the_folder_keeps_its_mode(tmp_path: Path) -> None:
    write_texts(tmp_path / "out", OLD)
    (tmp_path / "out").chmod(0o750)
    write_texts(tmp_path / "out", NEW)
    assert held(tmp_path / "out") == NEW
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750


def test_a_folder_that_someone_stands_in_stays_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_texts(tmp_path / "out", OLD)
    monkeypatch.chdir(tmp_path / "out")
    write_texts(Path(), NEW)
    assert held(Path()) == NEW
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (lambda out: out.write_text("x"), "it is a file"),
        (lambda out: out.symlink_to("nowhere/at/all"), "a link to nothing"),
        (lambda out: (out / "report.md").mkdir(parents=True), "it is a folder"),
    ],
)
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, prepare: object, says: str) -> None:
    assert callable(prepare)
    prepare(tmp_path / "out")
    with pytest.raises(BladeError, match=says) as caught:
        write_texts(tmp_path / "out", NEW)
    assert caught.value.hint
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(
        ["out", *["report.md"] * (says == "it is a folder")]
    )


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    write_texts(tmp_path / "real", OLD)
    (tmp_path / "out").symlink_to("real")
    write_texts(tmp_path / "out", NEW)
    assert (tmp_path / "out").is_symlink()
    assert held(tmp_path / "real") == NEW


def test_a_full_disk_leaves_the_old_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_texts(out, OLD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        with pytest.raises(BladeError, match="cannot write to"):
            write_texts(out, NEW | {"report.md": "x" * 5_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert held(out) == OLD
    assert sorted(path.name for path in out.iterdir()) == sorted(OLD)
