"""The rollouts of a package, read and analyzed once for all checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from msgspec import structs

from blade.analysis import analyze, load
from blade.custom_rules import RuleBook
from blade.custom_rules.read_rule_book import read_book
from blade.ingest.load import told_apart
from blade.model.analysis import Analysis, RunAnalysis
from blade.model.errors import BladeError
from blade.model.options import Options
from blade.model.run import Run
from blade.package.documents import shown
from blade.package.layout import Golden, Package

_PARTS = re.compile(r"[a-z]+|\d+")
_TAIL = re.compile(r"[-_.]?rollouts?$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class RolloutFile:
    """A file of rollouts: the names of its runs, or why it could not be read."""

    path: Path
    shown: str
    runs: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Data:
    """What the rollouts of a package say; each part is made when first asked for."""

    package: Package

    @cached_property
    def _book(self) -> tuple[RuleBook | None, str]:
        if self.package.book is None:
            return None, ""
        try:
            return read_book(self.package.book, shown(self.package.book, self.package.folder)), ""
        except BladeError as error:
            return None, f"{error.message} ({error.hint})"

    @property
    def book(self) -> RuleBook | None:
        """What the package teaches, where its blade.yaml can be read."""
        return self._book[0]

    @property
    def book_fault(self) -> str:
        """Why blade.yaml cannot be read."""
        return self._book[1]

    @cached_property
    def _loaded(self) -> tuple[tuple[RolloutFile, ...], tuple[Run, ...]]:
        files, runs = _load(self.package, Options(find_rule_book=False, rule_book=self._unlabelled))
        # What BLADE finds by itself is not the package's doing, and a report on it does not name the package.
        return files, tuple(replace(run, rule_book_name=None) for run in runs)

    @property
    def _unlabelled(self) -> RuleBook | None:
        """The package's threshold, ids, slices and tools, without its labels and stages."""
        return structs.replace(self.book, labels=(), funnel=()) if self.book is not None else None

    @property
    def files(self) -> tuple[RolloutFile, ...]:
        """Every file of rollouts, in order of name."""
        return self._loaded[0]

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run, file by file, under names that differ."""
        return self._loaded[1]

    @cached_property
    def analysis(self) -> Analysis:
        """All runs under BLADE's own rules, with the threshold and the ids that the package gives."""
        return (
            analyze(self.runs, Options(find_rule_book=False, rule_book=self._unlabelled))
            if self.runs
            else Analysis(runs=())
        )

    @cached_property
    def with_rule_book(self) -> Analysis:
        """All runs under the labels and stages of the package too."""
        if self.book is None or not self.runs:
            return self.analysis
        options = Options(find_rule_book=False, rule_book=self.book)
        return analyze(_load(self.package, options)[1], options)

    def file_of(self, run: str) -> RolloutFile | None:
        """The file that holds a run."""
        return next((file for file in self.files if run in file.runs), None)

    def subject(self, golden: Golden, said: str = "") -> str | None:
        """The name of the run that a golden report is about: by name, by model, by file, or by what its sidecar says."""
        only = self.runs[0].name if len(self.runs) == 1 else None
        return self.named(golden.model) or self.named(said) or only

    def named(self, wanted: str) -> str | None:
        """The run that goes by a name; None when none does, or several do."""
        found = (_best(_flat(wanted), names) for names in self._names())
        return next((run for run in found if run is not None), None)

    def _names(self) -> Iterator[dict[str, list[str]]]:
        """What runs go by, the surest names first: each to the runs that have it."""
        files = {run.name: file for file in self.files for run in self.runs if run.name in file.runs}
        stems = [_file_stem(files[run.name].path) for run in self.runs]
        for called in (stems, [run.name for run in self.runs], [run.model or "" for run in self.runs]):
            names: dict[str, list[str]] = {}
            for name, run in zip(called, self.runs, strict=True):
                names.setdefault(_flat(name), []).append(run.name)
            yield names

    def analyzed(self, run: str) -> RunAnalysis:
        """A run with everything that was made of it."""
        return next(one for one in self.analysis.runs if one.run.name == run)


def _load(package: Package, options: Options) -> tuple[tuple[RolloutFile, ...], tuple[Run, ...]]:
    """Each file by itself, so that files which share nothing are not taken for shards of one run."""
    files: list[tuple[Path, int, str]] = []
    runs: list[Run] = []
    for path in package.rollouts:
        try:
            found = load([str(path)], options)
        except BladeError as error:
            files.append((path, 0, error.message))
            continue
        files.append((path, len(found), ""))
        runs += found
    named = told_apart(runs)
    made, start = [], 0
    for path, count, refused in files:
        mine = tuple(run.name for run in named[start : start + count])
        made.append(RolloutFile(path=path, shown=shown(path, package.folder), runs=mine, refused=refused))
        start += count
    return tuple(made), named


def _file_stem(path: Path) -> str:
    return _TAIL.sub("", path.name.split(".jsonl")[0])


def _flat(name: str) -> str:
    return "-".join(_PARTS.findall(name.lower()))


def _best(wanted: str, names: dict[str, list[str]]) -> str | None:
    """The one run of that name, or of the one name that begins with it or that it begins with."""
    if not wanted:
        return None
    exact = names.get(wanted, [])
    if len(exact) == 1:
        return exact[0]
    near = [
        runs[0]
        for name, runs in names.items()
        if name and len(runs) == 1 and (name.startswith(wanted + "-") or wanted.startswith(name + "-"))
    ]
    return near[0] if len(near) == 1 else None
