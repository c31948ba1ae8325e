"""What is installed holds the catalog, and nothing that a prepare script made."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from gym_shelf import ROOT

MADE = "benchmarks/aime24/data/made_by_a_test.jsonl"


def test_the_wheel_holds_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(ROOT)
    made = ROOT / MADE
    made.parent.mkdir(exist_ok=True)
    made.write_text("{}\n")
    try:
        names = zipfile.ZipFile(tmp_path / build.build_wheel(str(tmp_path))).namelist()
    finally:
        made.unlink()
        with suppress(OSError):
            made.parent.rmdir()
    assets = "blade_gym/assets"
    assert "blade_gym/run/prepare.py" in names
    for group in ("benchmarks", "resources_servers", "responses_api_models", "responses_api_agents"):
        there = {path.relative_to(ROOT).as_posix() for path in (ROOT / group).rglob("*.yaml")}
        assert {f"{assets}/{name}" for name in there} <= set(names)
    assert f"{assets}/benchmarks/aime24/prepare.py" in names
    for group in ("benchmarks", "resources_servers"):
        there = {path.relative_to(ROOT).as_posix() for path in (ROOT / group).rglob("*.py")}
        assert {f"{assets}/{name}" for name in there} <= set(names)
    assert [name for name in names if name.startswith(f"{assets}/benchmarks/") and "/data/" in name] == []


def test_an_editable_install_can_be_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(ROOT)
    assert zipfile.ZipFile(tmp_path / build.build_editable(str(tmp_path))).namelist()
