"""The Python API: public names, short texts, the same results as the commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import blade
from builders import rollout, write_jsonl


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    before = [rollout(task, reward=float(task == "a"), index=n) for n, task in enumerate("abc")]
    after = [rollout(task, reward=1.0, index=n) for n, task in enumerate("abc")]
    return write_jsonl(tmp_path / "before" / "run.jsonl", before), write_jsonl(tmp_path / "after" / "run.jsonl", after)


def test_public_names_are_there_and_hide_no_module() -> None:
    for name in blade.__all__:
        assert getattr(blade, name) is not None
    package = Path(blade.__file__).parent
    modules = {path.stem for path in package.iterdir() if path.suffix in ("", ".py")}
    assert modules.isdisjoint(blade.__all__)


def test_functions_work_twice_and_after_any_import(runs: tuple[Path, Path]) -> None:
    program = """
import sys
import blade, blade.comparison, blade.benchmark_health, blade.claims, blade.analysis, blade.report, blade.rules
first, again = blade.compare(*sys.argv[1:]), blade.compare(*sys.argv[1:])
assert first.delta == again.delta
import blade.comparison.compare, blade.benchmark_health.health, blade.claims.audit
assert blade.compare(*sys.argv[1:]).delta == first.delta
print(blade.health(*sys.argv[1:]) is not None, blade.analyze(sys.argv[1]).tasks[0].task_id)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, runs)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True a\n"


def test_texts_are_short(runs: tuple[Path, Path]) -> None:
    run, after = map(blade.load_run, runs)
    assert repr(run) == "Run('before', 3 tasks, 3 rollouts)"
    assert repr(blade.analyze(run)) == "Analysis('before': 0.333, 3 tasks, 3 rollouts)"
    assert repr(blade.compare(run, after)) == "Comparison('before' -> 'after': inconclusive, +66.7 points)"
    assert repr(blade.health(run, after)).startswith("Health('before': 0 of 3 tasks suspect)")
    assert repr(blade.try_rule(run, "reward < 1")) == "RuleTrial('before', 'reward < 1': fired in 2 of 3 rollouts)"
    assert repr(blade.explain(run, "b")[0]).startswith("DeepDive('b', 1 repeats: ")


def test_texts_of_real_runs_are_short(tmp_path: Path) -> None:
    desk = Path(__file__).parents[1] / "examples" / "desk_assistant"
    analysis = blade.analyze(*sorted(desk.glob("*_rollouts.jsonl")))
    report = analysis.save(tmp_path) / "report.md"
    runs = [one.run for one in analysis.runs]
    task = analysis.tasks[0].task_id
    values = [*runs, analysis, *analysis.runs, blade.audit(report, *runs), blade.explain(runs[0], task)[0]]
    assert all(20 < len(repr(value)) < 400 for value in values)
    assert "<h1>" in analysis._repr_html_()
    assert repr(blade.audit(report, *runs)).endswith("0 false, 0 not checkable)")


def test_save_writes_what_the_command_writes(runs: tuple[Path, Path], tmp_path: Path) -> None:
    folder = blade.analyze(runs[0]).save(tmp_path / "out")
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", "analyze", str(runs[0]), "-o"]
    done = subprocess.run([*command, str(tmp_path / "too")], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert "report.md" in names
    assert "before/metrics.json" in names
    for name in names:
        if not name.endswith(".parquet"):  # they name the artifacts relative to their folder
            assert (folder / name).read_bytes() == (tmp_path / "too" / name).read_bytes(), name


def test_a_rollout_is_shown_by_its_location(runs: tuple[Path, Path]) -> None:
    assert "a#0" in blade.show(runs[0], "a#0")
    with pytest.raises(blade.BladeError):
        blade.show(runs[0], "nowhere")


def test_results_do_not_depend_on_the_current_folder(tmp_path: Path) -> None:
    desk = Path(__file__).parents[1] / "examples" / "desk_assistant" / "sparrow-8b_rollouts.jsonl"
    folder = blade.analyze(desk).save(tmp_path / "api")
    program = "import sys, blade; blade.analyze(sys.argv[1]).save(sys.argv[2])"
    for place, arguments in (
        (tmp_path, [program, str(desk), str(tmp_path / "elsewhere")]),
        (desk.parent, ["from blade.cli.main import main; main()", "analyze", desk.name, "-o", str(tmp_path / "cli")]),
    ):
        done = subprocess.run(
            [sys.executable, "-c", *arguments], cwd=place, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
    for name in ("report.md", f"{blade.load_run(desk).name}/metrics.json"):
        texts = {(tmp_path / out / name).read_text("utf-8") for out in ("api", "elsewhere", "cli")}
        assert len(texts) == 1, name
    assert folder == tmp_path / "api"
