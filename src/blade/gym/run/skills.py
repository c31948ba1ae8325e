"""Skills as a variable of a run: what a folder of skills holds, its hash, and the words that the agent sees."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blade.core.errors import RequestError
from blade.gym.config import yaml_file

FILE = "SKILL.md"


@dataclass(frozen=True, kw_only=True)
class Skills:
    """`ref` is stamped on every row; `text` goes to the agent's instructions."""

    ref: Mapping[str, Any]
    text: str


def read_skills(given: str) -> Skills:
    """The skills below a folder, each a folder with SKILL.md; raises for what is none."""
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise RequestError(f"skills.path is no folder: {given}", hint="a folder with a folder for each skill")
    homes = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not homes:
        raise RequestError(f"no skills in {given}", hint=f"a folder for each skill, with {FILE} in it")
    told = [_skill(home) for home in homes]
    return Skills(
        ref={"path": given, "hash": content_hash(folder), "skills": [about for about, _ in told]},
        text="\n\n".join(["You have these skills. Use one where it fits.", *(text for _, text in told)]),
    )


def content_hash(folder: Path) -> str:
    """The first 12 hex digits of the hash over sorted files: name, NUL, bytes, NUL."""
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + files[name].read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _skill(home: Path) -> tuple[dict[str, Any], str]:
    path = home / FILE
    if not path.is_file():
        raise RequestError(f"the skill {home} has no {FILE}", hint="every folder below skills.path is a skill")
    text = path.read_text(encoding="utf-8-sig", errors="replace").replace("\r\n", "\n")
    head, body = _split(text, path)
    metadata = head.get("metadata")
    version = metadata.get("version") if isinstance(metadata, Mapping) else None
    about = {"name": str(head["name"]), "description": str(head.get("description") or ""), "version": version}
    return about, f"## Skill: {about['name']}\n{about['description']}\n\n{body.strip()}"


def _split(text: str, path: Path) -> tuple[dict[str, Any], str]:
    parts = text.split("---\n", 2) if text.startswith("---\n") else []
    if len(parts) != 3:
        raise RequestError(f"{path} has no frontmatter", hint="it begins with ---, name: and description:, ---")
    try:
        head = yaml_file.parse(parts[1])
    except yaml_file.Unreadable as error:
        raise RequestError(f"{path}: the frontmatter cannot be read: {error}") from None
    if not isinstance(head, dict) or not head.get("name"):
        raise RequestError(f"{path}: the frontmatter has no name", hint="name: and description: are needed")
    return head, parts[2]
