"""`config_paths`: a file overrides the files that it includes, and of two siblings the later one wins with all it brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blade_gym.config import yaml_file
from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.roots import GROUPS, find
from blade_gym.config.tree import Tree, merged

KEY = "config_paths"


@dataclass(kw_only=True)
class Chain:
    """Files as they are read: the sources in the order of reading, what is wrong, and what is worth a word."""

    roots: Sequence[Path]
    sources: list[Path] = field(default_factory=list)
    problems: list[ConfigProblem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _open: list[Path] = field(default_factory=list)

    def load(self, names: Sequence[str], *, by: Path | None = None) -> Tree:
        """Everything that these files say together, without their `config_paths`."""
        result: Tree = {}
        for name in names:
            path = find(name, self.roots)
            if path is None:
                self._absent(name, by)
            elif self._first(path.resolve(), by):
                result = merged(result, self._file(path.resolve()))
        return result

    def _file(self, path: Path) -> Tree:
        self.sources.append(path)
        self._open.append(path)
        try:
            own = yaml_file.read(path)
            included = self.load(self._names(own.pop(KEY, None), path), by=path)
            return dict(merged(included, own))
        except yaml_file.Unreadable as error:
            self.problems.append(ConfigProblem(kind="file", message=str(error), file=path, line=error.line))
            return {}
        finally:
            self._open.pop()

    def _first(self, path: Path, by: Path | None) -> bool:
        if path in self._open:
            self.problems.append(self._at(f"{path} includes itself", by))
        elif path in self.sources:
            self.notices.append(f"{path} is named more than once and read once")
        return path not in self.sources

    def _names(self, value: Any, path: Path) -> list[str]:
        names = [value] if isinstance(value, str) else value or []
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
        self.problems.append(self._at("config_paths is a list of file names", path))
        return []

    def _absent(self, name: str, by: Path | None) -> None:
        known = [path.relative_to(root).as_posix() for root in self.roots for path in _configs(root)]
        where = ", ".join(str(root) for root in self.roots)
        hint = suggestion(name, known) or f"looked in {where}; --search-dir names another folder"
        self.problems.append(self._at(f"no such config: {name}", by, hint))

    def _at(self, message: str, by: Path | None, hint: str = "") -> ConfigProblem:
        line = yaml_file.line_of(by, (KEY,))[1] if by else None
        return ConfigProblem(kind="file", message=message, file=by, line=line, hint=hint)


def _configs(root: Path) -> list[Path]:
    return sorted(path for group in GROUPS for path in (root / group).glob("**/*.yaml"))
