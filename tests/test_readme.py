"""What the README shows is what BLADE writes, and its commands run in a fresh clone as printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.cli.main import command_line

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLONED = ("benchmarks", "examples", "resources_servers", "responses_api_agents", "responses_api_models")


def typed(page: str) -> list[list[str]]:
    """The commands of ours in each block of a page that has some; a line that goes on is one with the next."""
    blocks = re.findall(r"^```\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    lines = [block.replace("\\\n", " ").splitlines() for block in blocks]
    return [ours for block in lines if (ours := [line for line in block if re.match(r"(blade|gym) ", line)])]


ON_EXAMPLES, ON_A_NEW_RUN = typed(README)
PYTHON = re.findall(r"^```python\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds as far as these commands can tell: no results and no data that was prepared."""
    folder = tmp_path_factory.mktemp("clone")
    for name in CLONED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*_benchmark.jsonl"))
    return folder


def run(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The commands in one shell that stops at the first failure, with the tools of this environment on the path."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    return subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_the_excerpts_are_of_real_reports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    runs = [f"examples/smollm2/two_term_sums/{name}.jsonl.gz" for name in ("short", "long")]
    for number, words in enumerate((["analyze", runs[0]], ["compare", *runs])):
        assert CliRunner().invoke(command_line(), [*words, "-o", str(tmp_path / str(number))]).exit_code == 0
    written = " ".join(" ".join((tmp_path / name / "report.md").read_text("utf-8").split()) for name in "01")
    quoted = [line.removeprefix("> ").lstrip("# ") for line in README.splitlines() if line.startswith("> ")]
    assert len(quoted) >= 10
    assert [line for line in quoted if line not in written] == []


def test_the_commands_on_the_examples_run_as_printed(clone: Path) -> None:
    assert len(ON_EXAMPLES) >= 10
    done = run("\n".join(ON_EXAMPLES), clone)
    assert done.returncode == 0, done.stderr
    assert (clone / "out/report.html").is_file()


def test_the_python_example_runs_as_printed(clone: Path) -> None:
    (program,) = PYTHON
    done = subprocess.run([sys.executable, "-c", program], cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "sparrow-8b" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quickstart", "guide"])
def test_the_commands_of_the_first_pages_run_as_printed(clone: Path, name: str) -> None:
    blocks = typed((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    commands = [line for block in blocks for line in block if not line.startswith("gym eval run")]
    assert len(commands) >= 8
    done = run("\n".join(commands), clone)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_commands_that_make_a_run_run_as_printed(clone: Path) -> None:
    for needed in ("xllamacpp", "reasoning_gym"):
        pytest.importorskip(needed)
    done = run("\n".join(ON_A_NEW_RUN), clone)
    assert done.returncode == 0, done.stderr
    assert (clone / "results/sums_reward_profiling.jsonl").is_file()
