"""The commands of the public tutorial, read out of its text and run as printed, `uv run` included."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from docs.walk import Done, lay_out, walk

ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"
TUTORIAL = next(iter(sorted(SEEDS.glob("001*"))), None) if SEEDS.is_dir() else None
OVERVIEW = next(iter(sorted(SEEDS.glob("000*"))), None) if SEEDS.is_dir() else None
FAILURES = (
    "D1 skill missing",
    "At least two scored rollout files",
    "task id field present",
    "missing metrics sidecar",
    "missing anchor facts",
)

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(TUTORIAL is None, reason="needs the tutorial, ../shared/seeds/001*"),
]


def printed(path: Path | None) -> list[str]:
    """Blocks of commands as the page prints them: `$` begins a line that is typed, `>` one that goes on."""
    assert path is not None
    blocks: list[list[str]] = [[]]
    for line in path.read_text("utf-8").splitlines():
        if line[:1] in {"$", ">"}:
            blocks[-1].append(line[1:])
        elif blocks[-1]:
            blocks.append([])
    return ["\n".join(block) + "\n" for block in blocks if block]


def results(folder: Path) -> None:
    """Two runs where the tutorial has them; sidecars stand beside them, as a run leaves them."""
    (folder / "results").mkdir()
    for name, model in (("a", "sparrow-8b"), ("b", "heron-70b")):
        for path in (ROOT / "examples/desk_assistant").glob(f"{model}_rollouts*"):
            ending = path.name.removeprefix(f"{model}_rollouts")
            shutil.copyfile(path, folder / "results" / f"evalplus_model_{name}_rollouts{ending}")


def author(folder: Path) -> None:
    """What a person writes between the commands: skill, clearance, notes, golden report."""
    for name, place in (
        ("SKILL.md", "skill"),
        ("blade.yaml", "skill"),
        ("CLEARANCE.md", "rollouts"),
        ("RUN_NOTES.md", "rollouts"),
        ("model_a_golden_report.md", "golden_reports"),
    ):
        text = (ROOT / "docs/tutorial" / name).read_text("utf-8")
        (folder / "author" / place).mkdir(parents=True, exist_ok=True)
        (folder / "author" / place / name).write_text(text.replace("my_desk", "evalplus"), "utf-8")


WRITE = 'cp -r author/. "${benchmark_dir}/"\n'
KEEP = """for model in model_a model_b; do
  for part in _materialized_inputs.jsonl _aggregate_metrics.json _failures.jsonl; do
    cp "results/evalplus_${model}_rollouts${part}" "${benchmark_dir}/rollouts/${model}_rollouts${part}"
  done
done
"""
MEND = """sed -i 's/0.42/0.58/; s/"pass_at_k": 0.58/"pass_at_k": 0.783/; s/164/24/; s/656/96/' \
  "${benchmark_dir}/golden_reports/model_a_golden_report_metrics.json"
python -c '
import json, sys
path = sys.argv[1]
facts = json.load(open(path, encoding="utf-8"))
for fact in facts["anchor_facts"]:
    fact["status"] = "reviewed"
json.dump(facts, open(path, "w", encoding="utf-8"))
' "${benchmark_dir}/golden_reports/model_a_anchor_facts.json"
"""


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Done]]:
    """Every block in order, the author at work in between, and validation once more after the mending."""
    folder = tmp_path_factory.mktemp("clone")
    lay_out(folder)
    results(folder)
    author(folder)
    blocks = printed(TUTORIAL)
    names = ("create", "rollouts", "report", "sidecar", "facts", "shallow", "validate", "calibrate")
    assert len(blocks) == len(names)
    page = dict(zip(names, blocks, strict=True))
    order = [
        page["create"],
        page["validate"].replace("${tool}", ".codex/skills/nemo-gym-blade-analysis/scripts/blade_toolkit.py"),
        page["rollouts"],
        WRITE + KEEP,
        *(page[name] for name in ("report", "sidecar", "facts", "shallow", "validate")),
        MEND,
        page["validate"],
        page["calibrate"],
    ]
    told = ("create", "empty", "rollouts", "write", "report", "sidecar", "facts", "shallow", "validate")
    done = walk(order, folder)
    return folder, dict(zip((*told, "mend", "validated", "calibrate"), done, strict=True))


@pytest.mark.slow
def test_every_command_does_what_the_page_says(walked: tuple[Path, dict[str, Done]]) -> None:
    folder, done = walked
    failing = {"empty", "validate"}
    assert {name: each.code for name, each in done.items() if each.code} == dict.fromkeys(sorted(failing), 1), done
    reports = folder / "benchmarks/evalplus/golden_reports"
    assert (reports / "model_a_shallow.md").stat().st_size > 0
    assert len(json.loads((reports / "model_a_anchor_facts.json").read_text("utf-8"))["anchor_facts"]) >= 8


@pytest.mark.slow
def test_a_sidecar_with_the_numbers_of_the_page_is_refused(walked: tuple[Path, dict[str, Done]]) -> None:
    failed = [line for line in walked[1]["validate"].output.splitlines() if line.startswith("[FAIL]")]
    assert any("sidecar matches the rollouts" in line and "0.42" in line for line in failed), failed
    assert any("reviewed" in line for line in failed), failed


@pytest.mark.slow
def test_validation_counts_its_checks_and_names_the_failures_of_the_page(walked: tuple[Path, dict[str, Done]]) -> None:
    empty = walked[1]["empty"].output
    assert "[FAIL] D1 skill missing" in empty
    assert "[FAIL] At least two scored rollout files" in empty
    last = walked[1]["validated"].output.splitlines()[-1]
    held, of = last.removeprefix("Summary: ").removesuffix(" checks passed").split("/")
    assert held == of
    assert TUTORIAL is not None
    assert all(name in TUTORIAL.read_text("utf-8") for name in FAILURES)


@pytest.mark.slow
def test_the_command_of_the_overview_works(walked: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    lay_out(tmp_path)
    shutil.copytree(walked[0] / "benchmarks", tmp_path / "benchmarks")
    (command,) = printed(OVERVIEW)
    (done,) = walk([command.replace("<benchmark_name>", "evalplus")], tmp_path)
    assert done.code == 0, done.output


def test_our_tutorial_has_every_command_of_the_page() -> None:
    def words(text: str) -> list[str]:
        return text.replace("\\\n", " ").split()

    ours = words((ROOT / "docs/tutorial.md").read_text("utf-8"))
    for block in printed(TUTORIAL):
        if "<<'JSON'" in block:
            continue
        wanted = words(block.replace("evalplus", "my_desk"))
        assert any(ours[start : start + len(wanted)] == wanted for start in range(len(ours))), block
