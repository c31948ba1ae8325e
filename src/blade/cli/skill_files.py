"""The agent skills that come with BLADE, and how their files get into a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from blade.files import replacing
from blade.model.errors import ArtifactError, RequestError

MAIN = "nemo-gym-blade-analysis"
TARGETS: Mapping[str, str] = {"agents": ".agents/skills", "claude": ".claude/skills", "codex": ".codex/skills"}
"""Where the agents that follow the Agent Skills format look for skills, below the root of a project."""

_TEXT = "SKILL.md"
_SHIPPED = Path(__file__).parents[1] / "skill_files"
_CHECKOUT = Path(__file__).parents[3]
_LEFT_OUT = ("__pycache__",)


class AgentSkill(Struct, frozen=True, kw_only=True):
    """A folder with a SKILL.md; its files are named relative to it, in order."""

    name: str
    folder: Path
    files: tuple[str, ...]

    def text(self, file: str = _TEXT) -> str:
        """The text of one of its files."""
        return (self.folder / file).read_text(encoding="utf-8")


class FileState(StrEnum):
    """What stands where a file of a skill is to go."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"


class PlacedFile(Struct, frozen=True, kw_only=True):
    """A file of a skill, where it goes, and what stood there."""

    source: Path
    path: Path
    state: FileState


def skills() -> tuple[AgentSkill, ...]:
    """Every skill that comes with BLADE, the analysis skill first; ArtifactError when their files are not there."""
    folders = _SHIPPED.glob("*") if _SHIPPED.is_dir() else _in_checkout()
    found = [_skill(folder) for folder in folders if (folder / _TEXT).is_file()]
    if not found:
        raise ArtifactError("the files of the skills are not installed", hint="install BLADE again, or use a clone")
    return tuple(sorted(found, key=lambda one: (one.name != MAIN, one.name)))


def skill(name: str = MAIN) -> AgentSkill:
    """The skill of that name; RequestError names those that there are."""
    known = skills()
    for one in known:
        if one.name == name:
            return one
    raise RequestError(f"no skill is called {name!r}", hint="skills: " + ", ".join(one.name for one in known))


def page(name: str | None) -> str:
    """The text of a skill, or of a reference of any skill, by its name with or without folder and suffix."""
    if name is None:
        return skill().text()
    wanted = name.removeprefix("references/").removesuffix(".md")
    for one, file in _pages():
        if wanted in (one.name if file == _TEXT else "", Path(file).stem if file != _TEXT else ""):
            return one.text(file)
    raise RequestError(f"no skill or reference is called {name!r}", hint="there are: " + ", ".join(page_names()))


def page_names() -> list[str]:
    """What `page` can be asked for."""
    return [one.name if file == _TEXT else Path(file).stem for one, file in _pages()]


def plan(one: AgentSkill, into: Path, targets: Sequence[str]) -> list[PlacedFile]:
    """Where each file goes in a project, and what stands there now; nothing is written."""
    if not into.is_dir():
        raise RequestError(f"no folder {into}", hint="--into takes the root of a project")
    return [
        _placed(one.folder / file, into / TARGETS[target] / one.name / file) for target in targets for file in one.files
    ]


def put(files: Sequence[PlacedFile]) -> None:
    """Write what is new or changed; each file takes its place whole."""
    for one in files:
        if one.state is not FileState.SAME:
            _write(one)


def _in_checkout() -> Iterator[Path]:
    yield from (_CHECKOUT / TARGETS["agents"]).glob("*")
    yield from (_CHECKOUT / "skills").glob("*")


def _skill(folder: Path) -> AgentSkill:
    paths = (path for path in folder.rglob("*") if path.is_file() and not set(_LEFT_OUT) & set(path.parts))
    return AgentSkill(
        name=folder.name, folder=folder, files=tuple(sorted(p.relative_to(folder).as_posix() for p in paths))
    )


def _pages() -> Iterator[tuple[AgentSkill, str]]:
    for one in skills():
        yield from ((one, file) for file in one.files if file.endswith(".md"))


def _placed(source: Path, path: Path) -> PlacedFile:
    if not path.exists():
        return PlacedFile(source=source, path=path, state=FileState.NEW)
    same = path.is_file() and path.read_bytes() == source.read_bytes()
    return PlacedFile(source=source, path=path, state=FileState.SAME if same else FileState.CHANGED)


def _write(one: PlacedFile) -> None:
    with replacing(one.path) as file:
        file.write(one.source.read_bytes())
