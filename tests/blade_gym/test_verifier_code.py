"""What is known of the code that judges, without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade_gym.config.roots import search_roots, shipped
from blade_gym.config.servers import Instance
from blade_gym.serve.verifier_code import Code, code_of, recorded, sha256
from gym_lab import lab


def server(kind: str) -> Instance:
    return Instance(name=kind, group="resources_servers", type=kind, config={})


def own(folder: Path) -> Code:
    return code_of([server("sums")], [folder])


def test_a_verifier_of_ours_is_known_by_its_file_and_the_packages_it_stands_on() -> None:
    pytest.importorskip("math_verify")
    found = code_of([server("math_with_judge")], [shipped()])
    assert "blade_gym/verifiers/math_equivalence.py" in found["files"]
    assert "resources_servers/math_with_judge/app.py" in found["files"]
    assert "blade_gym/verifiers/sql_result.py" not in found["files"]
    assert list(found["packages"]) == ["math-verify"]


def test_modules_that_are_not_installed_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    (tmp_path / "lib" / "checking").mkdir(parents=True)
    (tmp_path / "lib" / "checking" / "__init__.py").write_text("")
    (tmp_path / "lib" / "checking" / "numbers.py").write_text("def equal(a, b): return a == b\n")
    app = tmp_path / "resources_servers" / "sums" / "app.py"
    app.write_text(app.read_text() + "\nfrom checking import numbers\n")
    before = own(tmp_path)
    assert "checking/numbers.py" in before["files"]
    (tmp_path / "lib" / "checking" / "numbers.py").write_text("def equal(a, b): return True\n")
    assert sha256(own(tmp_path)) != sha256(before)


@pytest.mark.parametrize("name", ["data/example.jsonl", "configs/sums.yaml", "README.md", "prepare.py", ".notes"])
def test_what_does_not_judge_is_left_out(tmp_path: Path, name: str) -> None:
    lab(tmp_path)
    before = own(tmp_path)
    with (tmp_path / "resources_servers" / "sums" / name).open("a") as file:
        file.write("\n# more\n")
    assert own(tmp_path) == before


def test_what_makes_tasks_and_plays_them_is_left_out_unless_the_verifier_uses_it_too() -> None:
    found = {name.partition("/")[2] for name in code_of([server("workplace_assistant")], [shipped()])["files"]}
    home = "workplace_assistant"
    assert {f"{home}/app.py", f"{home}/company.py", f"{home}/wording.py", f"{home}/tools/toolbox.py"} <= found
    assert found.isdisjoint({f"{home}/{name}.py" for name in ("prepare", "kinds", "policies", "plans")})


def test_a_file_that_is_no_python_and_a_server_that_is_not_here_are_no_error(tmp_path: Path) -> None:
    lab(tmp_path)
    (tmp_path / "resources_servers" / "sums" / "broken.py").write_bytes(b"def (\xff")
    assert "resources_servers/sums/broken.py" in own(tmp_path)["files"]
    assert recorded(code_of([server("nowhere")], search_roots([tmp_path]))) is None
