"""Skills: folders with a SKILL.md, whose frontmatter names them; a set of them is told apart by its contents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.config import yaml_file

FILE = "SKILL.md"
_FENCE = "---"


class SkillHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What the frontmatter of a SKILL.md says."""

    name: str
    description: str | None
    version: str | None
    path: Path
    """The folder."""


class SkillSet(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of skills; `hash` changes with any name or byte in it."""

    path: str
    hash: str
    skills: tuple[SkillHeader, ...]

    @property
    def reference(self) -> dict[str, Any]:
        """`skills_ref`, as rows carry it."""
        listed = [{"name": one.name, "description": one.description, "version": one.version} for one in self.skills]
        return {"path": self.path, "hash": self.hash, "skills": listed}


def skill_set(path: str | Path) -> SkillSet:
    """The skills of a folder, each of whose folders must be one; raises with what is wrong."""
    folder = Path(path).expanduser()
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise RequestError(f"skills: {folder} {what}", hint="skills.path is a folder of folders, each with a SKILL.md")
    inside = sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
    if not inside:
        raise RequestError(f"skills: {folder} holds no skill", hint="a skill is a folder with a SKILL.md")
    return SkillSet(path=str(path), hash=content_hash(folder), skills=tuple(skill(one) for one in inside))


def skill(folder: Path) -> SkillHeader:
    """The skill in a folder; raises with what is wrong in its SKILL.md."""
    path = folder / FILE
    if not path.is_file():
        raise RequestError(f"skills: {folder} has no {FILE}", hint="a skill is a folder with a SKILL.md")
    front = _frontmatter(path)
    name, described, more = front.get("name"), front.get("description"), front.get("metadata")
    if not isinstance(name, str) or not name.strip():
        raise RequestError(
            f"{path}: the frontmatter has no name", hint="name: and description: stand between two --- lines"
        )
    version = more.get("version") if isinstance(more, Mapping) else None
    return SkillHeader(
        name=name.strip(),
        description=described if isinstance(described, str) else None,
        version=None if version is None else str(version),
        path=folder,
    )


def content_hash(folder: Path) -> str:
    """12 hexadecimal digits over every file's relative path and bytes."""
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _frontmatter(path: Path) -> Mapping[str, Any]:
    hint = "it begins with ---, then YAML, then ---"
    try:
        lines = path.read_text("utf-8-sig").splitlines()
        if not lines or lines[0].strip() != _FENCE:
            raise RequestError(f"{path}: no frontmatter", hint=hint)
        end = next((index for index, line in enumerate(lines[1:], 1) if line.strip() == _FENCE), None)
        front = yaml_file.parse("\n".join(lines[1:end])) if end else None
    except (OSError, UnicodeDecodeError, yaml_file.Unreadable) as error:
        raise RequestError(f"{path}: the frontmatter cannot be read: {error}", hint=hint) from None
    if not isinstance(front, Mapping):
        raise RequestError(f"{path}: the frontmatter is not a YAML mapping", hint=hint)
    return front


class SkillsPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """`ref` is stamped on every row; `text` goes to the agent's instructions."""

    ref: Mapping[str, Any]
    text: str


def read_skills(path: str) -> SkillsPrompt:
    """The skills of a folder; raises with what is wrong in it."""
    found = skill_set(path)
    told = ["You have these skills. Use one where it fits.", *(_text(one) for one in found.skills)]
    return SkillsPrompt(ref=found.reference, text="\n\n".join(told))


def _text(one: SkillHeader) -> str:
    whole = (one.path / FILE).read_text("utf-8-sig").replace("\r\n", "\n")
    _, _, after = whole.partition("---\n")
    _, _, body = after.partition("\n---")
    return f"## Skill: {one.name}\n{one.description or ''}\n\n{body.strip()}"
