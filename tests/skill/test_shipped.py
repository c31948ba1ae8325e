"""The skill comes with the wheel, also with one made from the source archive; its script says how to get BLADE."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ".codex/skills/nemo-gym-blade-analysis/scripts/blade_toolkit.py"


def build(kind: str, source: Path, out: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=240)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel made from the source archive, laid out as an installer lays it out."""
    work = tmp_path_factory.mktemp("wheel")
    with tarfile.open(build("sdist", ROOT, work / "sdist")) as archive:
        archive.extractall(work / "source", filter="data")
    (source,) = (work / "source").iterdir()
    with zipfile.ZipFile(build("wheel", source, work / "wheel")) as archive:
        archive.extractall(work / "site")
    return work / "site"


def run(*words: str, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=240
    )


def test_an_installed_blade_has_the_skills(installed: Path, tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(installed)}
    done = run("-c", "from blade.cli.main import main; main()", "skill", "install", env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    name = SCRIPT.removeprefix(".codex/")
    assert (tmp_path / ".claude" / name).read_bytes() == (ROOT / SCRIPT).read_bytes()
    shown = run(
        "-c", "from blade.cli.main import main; main()", "skill", "show", "reward-profiling", env=env, cwd=tmp_path
    )
    assert shown.stdout == (ROOT / "skills/reward-profiling/SKILL.md").read_text("utf-8")


def test_the_script_runs_where_blade_is_installed(installed: Path, tmp_path: Path) -> None:
    done = run(str(ROOT / SCRIPT), "--help", env=os.environ | {"PYTHONPATH": str(installed)}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "blade_toolkit.py" in done.stdout


def test_without_blade_the_script_says_in_one_line_how_to_get_it(tmp_path: Path) -> None:
    done = run("-I", "-S", str(ROOT / SCRIPT), "validate", env=dict(os.environ), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: BLADE is not installed")
    assert "make setup" in line
