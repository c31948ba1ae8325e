from pathlib import Path

import pytest

from blade.model.errors import ArtifactError
from blade.package.layout import find_package


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def test_every_part_is_found_by_its_name(tmp_path: Path) -> None:
    reports = "golden_reports/"
    _touch(
        tmp_path,
        "skill/SKILL.md",
        "skill/blade.yaml",
        "rollouts/a.jsonl",
        "rollouts/a_materialized_inputs.jsonl",
        "rollouts/b.jsonl.gz",
        reports + "a_golden_report.md",
        reports + "a_golden_report_metrics.json",
        reports + "a_anchor_facts.json",
        reports + "a_shallow.md",
        reports + "notes.md",
    )
    package = find_package(tmp_path)
    assert [path.name for path in package.rollouts] == ["a.jsonl", "b.jsonl.gz"]
    assert package.skill == tmp_path / "skill/SKILL.md"
    (golden,) = package.goldens
    assert (golden.model, golden.comparison) == ("a", False)
    assert golden.metrics is not None
    assert golden.facts is not None
    assert golden.shallow is not None


def test_other_spellings_and_a_skill_in_the_folder_itself(tmp_path: Path) -> None:
    reports = "golden_reports/"
    _touch(
        tmp_path,
        "SKILL.md",
        "data/x_rollouts.jsonl",
        "data/train.jsonl",
        reports + "my-model-golden-report.md",
        reports + "my-model-golden-report.metrics.json",
        reports + "my_model_anchor_facts.json",
        reports + "a_vs_b_golden_report.md",
    )
    package = find_package(tmp_path)
    assert [path.name for path in package.rollouts] == ["x_rollouts.jsonl"]
    versus, model = package.goldens
    assert versus.comparison
    assert model.model == "my-model"
    assert model.metrics is not None
    assert model.facts is not None
    assert model.shallow is None


def test_an_empty_folder_is_an_empty_package_and_none_is_an_error(tmp_path: Path) -> None:
    package = find_package(tmp_path)
    assert (package.skill, package.rollouts, package.goldens) == (None, (), ())
    with pytest.raises(ArtifactError, match="no folder"):
        find_package(tmp_path / "absent")
