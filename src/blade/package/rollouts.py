"""The rollouts of a package, read and analyzed once for all checks, and what their rows hold."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

import polars as pl
from msgspec import Struct, structs
from msgspec.structs import replace

from blade.analysis import analyze, load
from blade.custom_rules import RuleBook
from blade.custom_rules.read_rule_book import rule_book_at
from blade.ingest.load import told_apart
from blade.model.analysis import Analysis, RunAnalysis
from blade.model.errors import BladeError
from blade.model.options import Options
from blade.model.run import Run
from blade.package.layout import GoldenFiles, Package, shown

_NAME_PARTS = re.compile(r"[a-z]+|\d+")
_TAIL = re.compile(r"[-_.]?rollouts?$", re.IGNORECASE)
TASK_ID_NAMES = ("task_id", "instance_id", "problem_id", "question_id", "sample_id", "uuid", "id", "task_name")
_VERIFIER = re.compile(
    r"verif|verdict|judg|reward_|_reward|scor|correct|pass|fail|test|check|eval|result|status|match|error|feedback|grad"
    r"|rubric|accura|extract|predict|parse|exit|std(?:err|out)|terminat|truncat|resolved|detail|info$|^hit$|^f1$|^wer"
    r"|rouge|bleu|meteor|num_",
    re.IGNORECASE,
)
_NOT_OF_THE_VERIFIER = ("key", "expected", "index", "repeat", "id", "seconds", "cost", "trajectory", "prompt", "reward")
_OF_THE_TASK = ("key", "expected", "script", "slice candidate")


class RolloutFile(Struct, frozen=True, kw_only=True):
    """A file of rollouts: the names of its runs, or why it could not be read."""

    path: Path
    shown: str
    runs: tuple[str, ...] = ()
    refused: str = ""


class PackageRollouts:
    """The rollouts of a package under several sets of rules; each part is made when first asked for."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.rule_book: RuleBook | None = None
        """The custom rules of the package, where its blade.yaml can be read."""
        self.rule_book_fault = ""
        """Why blade.yaml cannot be read."""
        if package.rule_book is not None:
            try:
                self.rule_book = rule_book_at(package.rule_book, shown(package.rule_book, package.folder))
            except BladeError as error:
                self.rule_book_fault = f"{error.message} ({error.hint})"
        # The package's threshold, ids, slices and tools, without its labels and stages.
        unlabelled = structs.replace(self.rule_book, labels=(), funnel=()) if self.rule_book is not None else None
        self._plain = Options(find_rule_book=False, rule_book=unlabelled)

    @cached_property
    def _loaded(self) -> tuple[tuple[RolloutFile, ...], tuple[Run, ...]]:
        files, runs = _load(self.package, self._plain)
        # What BLADE finds by itself is not the package's doing, and a report on it does not name the package.
        return files, tuple(replace(run, rule_book_name=None) for run in runs)

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
        return analyze(self.runs, self._plain) if self.runs else Analysis(runs=())

    @cached_property
    def with_rule_book(self) -> Analysis:
        """All runs under the package's whole rule book: its custom labels and funnel stages beside BLADE's own rules."""
        if self.rule_book is None or not self.runs:
            return self.analysis
        options = Options(find_rule_book=False, rule_book=self.rule_book)
        return analyze(_load(self.package, options)[1], options)

    def file_of(self, run: str) -> RolloutFile | None:
        """The file that holds a run."""
        return next((file for file in self.files if run in file.runs), None)

    def runs_of(self, file: RolloutFile) -> list[Run]:
        """The runs that a file holds."""
        return [run for run in self.runs if run.name in file.runs]

    def analyzed(self, run: str) -> RunAnalysis:
        """A run with everything that was made of it."""
        return next(one for one in self.analysis.runs if one.run.name == run)

    def subject(self, golden: GoldenFiles, stated_model: str = "") -> str | None:
        """The run that a golden report is about: by name, by model, by file, or by the model that its sidecar states."""
        only = self.runs[0].name if len(self.runs) == 1 else None
        return self.named(golden.model) or self.named(stated_model) or only

    def named(self, wanted: str) -> str | None:
        """The run that goes by a name; None when none does, or several do."""
        wanted = _plain_name(wanted)
        if not wanted:
            return None
        files = [file for run in self.runs if (file := self.file_of(run.name)) is not None]
        stems = [_TAIL.sub("", file.path.name.split(".jsonl")[0]) for file in files]
        # The surest names first; of those that only begin alike, the only one.
        for called in (stems, [run.name for run in self.runs], [run.model or "" for run in self.runs]):
            names: dict[str, list[str]] = {}
            for name, run in zip(called, self.runs, strict=True):
                names.setdefault(_plain_name(name), []).append(run.name)
            near = [
                runs
                for name, runs in names.items()
                if name and len(runs) == 1 and (name.startswith(wanted + "-") or wanted.startswith(name + "-"))
            ]
            for runs in (names.get(wanted, []), near[0] if len(near) == 1 else []):
                if len(runs) == 1:
                    return runs[0]
        return None


def _plain_name(name: str) -> str:
    return "-".join(_NAME_PARTS.findall(name.lower()))


def _load(package: Package, options: Options) -> tuple[tuple[RolloutFile, ...], tuple[Run, ...]]:
    """Each file by itself, so that files which share nothing are not taken for shards of one run."""
    counts: list[tuple[Path, int, str]] = []
    runs: list[Run] = []
    for path in package.rollouts:
        try:
            loaded = load([str(path)], options)
        except BladeError as error:
            counts.append((path, 0, error.message))
            continue
        counts.append((path, len(loaded), ""))
        runs += loaded
    named = told_apart(runs)
    files, start = [], 0
    for path, count, refused in counts:
        names = tuple(run.name for run in named[start : start + count])
        files.append(RolloutFile(path=path, shown=shown(path, package.folder), runs=names, refused=refused))
        start += count
    return tuple(files), named


class FieldCoverage(Struct, frozen=True, kw_only=True):
    """In how many rows something stands, and under which fields."""

    rows: int
    of: int
    fields: tuple[str, ...] = ()

    @property
    def everywhere(self) -> bool:
        return self.rows == self.of > 0

    def __str__(self) -> str:
        fields = f" ({', '.join(self.fields[:4])})" if self.fields else ""
        return f"{self.rows:,} of {self.of:,} rows{fields}"


class RowCoverage(Struct, frozen=True, kw_only=True):
    """What the rows of a run have."""

    task_id: FieldCoverage
    repeat: FieldCoverage
    repeats: bool
    """Some task has several rows."""
    reward: FieldCoverage
    output: FieldCoverage
    verifier: FieldCoverage
    metadata: FieldCoverage


def row_coverage(run: Run) -> RowCoverage:
    """The counts of a run, over the rows that could be read."""
    # Rollouts that a sidecar of failures gave are no rows of the file.
    files = [artifact.path for artifact in run.artifacts if artifact.role == "rollouts"]
    rows = run.rollouts.filter(pl.col("artifact").is_in(files))
    read = rows.height
    total = max((field.rows for field in run.schema), default=read)
    wrote = (
        (pl.col("steps").fill_null(0) > 0) | pl.col("answer").is_not_null() | (pl.col("agent_chars").fill_null(0) > 0)
    )
    verifier = _commonest(run, read, verifier_fields(run))
    judged = run.checks.select("task_id", "repeat").unique().height if run.checks.height else 0
    of_the_task = tuple(
        field.path
        for field in run.schema
        if _is_taken_as(field.taken_as, *_OF_THE_TASK) or (not field.taken_as and not _VERIFIER.search(field.path))
    )
    return RowCoverage(
        task_id=_named(run, total, ("id", "index"), TASK_ID_NAMES),
        repeat=_named(run, total, ("repeat",), ("rollout_id",)),
        repeats=bool(read) and rows["task_id"].n_unique() < total,
        reward=FieldCoverage(rows=rows["reward"].count(), of=read, fields=_fields_taken_as(run, "reward")),
        output=FieldCoverage(rows=rows.filter(wrote).height, of=read, fields=_fields_taken_as(run, "trajectory")),
        verifier=verifier if verifier.rows >= judged else FieldCoverage(rows=judged, of=read, fields=("tests",)),
        metadata=_commonest(run, read, of_the_task),
    )


def verifier_fields(run: Run) -> tuple[str, ...]:
    """Fields of the rows that the verifier is taken to have written, in order of name."""
    return tuple(
        field.path
        for field in run.schema
        if _VERIFIER.search(field.path) and not _is_taken_as(field.taken_as, *_NOT_OF_THE_VERIFIER)
    )


def _fields_taken_as(run: Run, role: str) -> tuple[str, ...]:
    """Fields of the rows that were read as something, by how often they stand."""
    fields = [field for field in run.schema if _is_taken_as(field.taken_as, role)]
    return tuple(field.path for field in sorted(fields, key=lambda field: (-field.seen, field.path)))


def _is_taken_as(taken: str, *roles: str) -> bool:
    return any(part == role or part.endswith(f" as {role}") for part in re.split(r"[,;] ", taken) for role in roles)


def _named(run: Run, total: int, roles: tuple[str, ...], names: tuple[str, ...]) -> FieldCoverage:
    """Rows with a top-level field of those roles or names; a nested one counts where tasks are known by it."""
    seen = {field.path: field.seen for field in run.schema}
    by_role = [field.path for field in run.schema if set(roles) & set(field.taken_as.split(", "))]
    fields = [name for name in (*by_role, *names) if name in seen]
    best = max((seen[name] for name in fields), default=0)
    if not best and "id" in roles and (run.tasks["id_kind"] == "id").any():
        return FieldCoverage(rows=total, of=total, fields=("responses_create_params.metadata",))
    return FieldCoverage(rows=min(best, total), of=total, fields=tuple(dict.fromkeys(fields)))


def _commonest(run: Run, total: int, fields: tuple[str, ...]) -> FieldCoverage:
    """Rows with the commonest of some fields."""
    seen = {field.path: field.seen for field in run.schema}
    ordered = tuple(sorted(fields, key=lambda name: (-seen[name], name)))
    return FieldCoverage(rows=min(max((seen[name] for name in ordered), default=0), total), of=total, fields=ordered)
