"""A set of skills: named by frontmatter, told apart by its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from blade.model.errors import RequestError
from blade_gym.catalog.skills import skill_set
from gym_shelf import write

ONE = "---\nname: one\ndescription: First\nmetadata:\n  version: 2\n---\n# One\n"


def test_a_set_has_a_hash_over_sorted_paths_and_bytes(tmp_path: Path) -> None:
    write(tmp_path, {"s/one/SKILL.md": ONE, "s/one/more/notes.txt": "x"})
    found = skill_set(tmp_path / "s")
    whole = b"one/SKILL.md\0" + ONE.encode() + b"\0" + b"one/more/notes.txt\0x\0"
    assert found.reference == {
        "path": str(tmp_path / "s"),
        "hash": hashlib.sha256(whole).hexdigest()[:12],
        "skills": [{"name": "one", "description": "First", "version": "2"}],
    }


def test_the_hash_changes_with_a_name_and_with_an_addition(tmp_path: Path) -> None:
    write(tmp_path, {"s/one/SKILL.md": ONE})
    hashes = [skill_set(tmp_path / "s").hash]
    write(tmp_path, {"s/one/extra.txt": ""})
    hashes.append(skill_set(tmp_path / "s").hash)
    (tmp_path / "s/one/extra.txt").rename(tmp_path / "s/one/other.txt")
    hashes.append(skill_set(tmp_path / "s").hash)
    assert len(set(hashes)) == 3
    assert {len(one) for one in hashes} == {12}


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    write(tmp_path, {"s/one/SKILL.md": "\ufeff" + ONE.replace("\n", "\r\n")})
    assert skill_set(tmp_path / "s").skills[0].name == "one"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "does not exist"),
        ({"s": "a file"}, "is a file"),
        ({"s/notes.txt": "x"}, "holds no skill"),
        ({"s/one/notes.txt": "x"}, "has no SKILL.md"),
        ({"s/one/SKILL.md": "# One"}, "no frontmatter"),
        ({"s/one/SKILL.md": ""}, "no frontmatter"),
        ({"s/one/SKILL.md": "---\nname: one\n"}, "not a YAML mapping"),
        ({"s/one/SKILL.md": "---\nname: [one\n---\n"}, "cannot be read"),
        ({"s/one/SKILL.md": "---\n- a\n---\n"}, "not a YAML mapping"),
        ({"s/one/SKILL.md": "---\ndescription: d\n---\n"}, "has no name"),
        ({"s/one/SKILL.md": "---\nname: ' '\n---\n"}, "has no name"),
    ],
)
def test_what_is_no_set_of_skills_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    write(tmp_path, files)
    with pytest.raises(RequestError) as caught:
        skill_set(tmp_path / "s")
    assert message in caught.value.message
