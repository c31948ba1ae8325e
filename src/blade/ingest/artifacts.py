"""Which files are one run: paths, folders and globs to rollouts with the sidecars that stand beside them."""

from __future__ import annotations

import codecs
import glob
import io
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import count, islice, repeat
from pathlib import Path
from typing import NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from blade.files import ATTRIBUTIONS_FILE, READERS_FIELDS, finish
from blade.ingest.decode import BAD_VALUE, Row, Unusable, decode_any, decode_row
from blade.ingest.fields import is_rollout
from blade.ingest.folder_files import TO_NOTHING, YAML_ENDINGS, FolderListing, is_inside, listing, read_json
from blade.ingest.formats import FileHead, Format, format_named, formats
from blade.ingest.jsonl import NOT_REGULAR, Record, Torn, first_bytes, records
from blade.ingest.mapping import guesses, with_map
from blade.model.errors import ArtifactError, RequestError
from blade.model.field_map import FieldMap
from blade.model.limits import DEFAULT_LIMITS, ReadLimits, read_limits, using_limits
from blade.model.rollout import Problem, RowSource

SUFFIXES = (
    ("_materialized_inputs", "inputs"),
    ("_failures", "failures"),
    ("_aggregate_metrics", "aggregate"),
    ("_reward_profiling", "profile"),
    ("_agent_metrics", "agent-metrics"),
    ("_manifest", "manifest"),
)
"""A file's name without its ending, and what it is when it ends so."""

FEWEST_TASKS = 3
"""Lines of a file of tasks: fewer are settings."""
SCANNED = ("rollouts", "failures", "inputs", "dataset")
"""Roles whose rows are read by the scan; other sidecars are read whole."""
_COUNTED = ("inputs", "failures")
"""Sidecars whose rows are counted: one that belongs to no rollouts is not passed over in silence."""
COLLATED = "preprocessed_datasets"
"""The folder in which a runner leaves the data that it collated; there are no rollouts in it."""
_SAID = ("mode", "define", "remove")
_ROLLOUT_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".eval", ".json", ".ndjson", ".ndjson.gz", ".ndjson.zst")
_TABLE_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".arrow", ".feather", ".ipc")
_OTHER_ENDINGS = (".xml", ".xml.gz", *YAML_ENDINGS)
"""Files of which few are results: they are looked at where nothing else in a folder is a run."""
_NOT_READ = {
    **dict.fromkeys(
        (".db", ".sqlite", ".sqlite3", ".duckdb", ".xlsx", ".xls", ".ods"), "export its table of results as CSV"
    ),
    **dict.fromkeys((".pkl", ".pickle", ".npz", ".h5", ".hdf5"), "write its records as JSON lines"),
    **dict.fromkeys((".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".7z"), "unpack it and give the folder"),
}
"""Forms of results that are not read, and what to do with a file of that form."""
_MOST_NAMED = 5
_LONGEST_MARK = 100
"""Bytes of a value that may count, name or end an episode."""
_HEAD_BYTES = 1 << 16
_HEAD_ROWS = 50
_HEAD_LINES = 5_000


class Bundle(Struct, frozen=True, kw_only=True):
    """One rollouts file with its sidecars."""

    path: Path
    format: Format
    name: str | None = None
    """The name that the user gave it."""
    sidecars: dict[str, Path] = field(default_factory=dict)
    folder: str = ""


class Found(Struct, frozen=True, kw_only=True):
    """Everything that the user's words stand for."""

    bundles: tuple[Bundle, ...]
    problems: tuple[Problem, ...]
    analyses: tuple[tuple[str | None, Path], ...] = ()
    """Folders of earlier analyses, with the name given to each."""


class Files(Struct, frozen=True, kw_only=True, dict=True):
    """Every file of a scan by number: which bundle it belongs to and what it is."""

    bundles: tuple[Bundle, ...]
    root: str
    paths: tuple[Path, ...]
    roles: tuple[str, ...]
    owners: tuple[int, ...]
    formats: tuple[str, ...]

    def shown(self, path: Path) -> str:
        """The path as people see it: relative to the folder that holds all files."""
        if path not in self._shown:
            self._shown[path] = Path(os.path.relpath(_resolved(path), self.root)).as_posix()
        return self._shown[path]

    @cached_property
    def _shown(self) -> dict[Path, str]:
        """The paths that were asked for: each is asked for several times, and its links take a while to follow."""
        return {}

    @cached_property
    def names(self) -> dict[int, str]:
        """How each file is shown."""
        return {number: self.shown(path) for number, path in enumerate(self.paths)}

    def of(self, bundles: tuple[int, ...]) -> list[int]:
        """Numbers of the files that belong to some bundles."""
        wanted = frozenset(bundles)
        return [number for number, owner in enumerate(self.owners) if owner in wanted]


class _Search(Struct, kw_only=True):
    """What has been come across so far, by resolved path: a file named twice is one file."""

    forced: Format | None
    field_map: FieldMap = ()
    bundles: dict[Path, Bundle] = field(default_factory=dict)
    refused: dict[Path, str] = field(default_factory=dict)
    """Files that hold no rollouts, and why."""
    datasets: list[Path] = field(default_factory=list)
    analyses: list[tuple[str | None, Path]] = field(default_factory=list)
    beside: dict[Path, frozenset[str]] = field(default_factory=dict)

    def names_in(self, folder: Path) -> frozenset[str]:
        """The files of a folder, each folder looked into once; what is named like a sidecar and is none is refused."""
        if folder not in self.beside:
            here = listing(folder)
            self.beside[folder] = frozenset(here.files)
            self.refused |= {here.path / name: why for name, why in here.problems.items() if _is_named_sidecar(name)}
        return self.beside[folder]


def _is_named_sidecar(name: str) -> bool:
    return role_of(Path(name)) != "rollouts" or name == "manifest.json" or name.endswith(YAML_ENDINGS)


def find(
    inputs: Sequence[str],
    format_name: str | None = None,
    field_map: FieldMap = (),
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Found:
    """Bundles in order of path; raises with a hint when an input stands for nothing."""
    search = _Search(forced=format_named(format_name) if format_name else None, field_map=field_map)
    with using_limits(limits):
        for text in inputs:
            name, pattern = _split_name(text)
            for path in _expand(pattern):
                saved = _analysis_folders(path)
                search.analyses += [(name, folder) for folder in saved]
                if not saved:
                    _take(path, name, search)
    ordered = sorted(search.bundles.values(), key=lambda bundle: str(bundle.path))
    problems = _problems(search)
    if not ordered and not search.analyses:
        _nothing(inputs, problems)
    datasets: dict[Path, set[Path]] = {}
    for path in search.datasets:
        datasets.setdefault(path.parent, set()).add(path)
    bundles = tuple(_with_dataset(bundle, datasets.get(bundle.path.parent, set())) for bundle in ordered)
    bundles = tuple(_with_tasks(bundle, search.refused) for bundle in bundles)
    used = {_resolved(bundle.sidecars["dataset"]) for bundle in bundles if "dataset" in bundle.sidecars}
    refused = {_source_of(path) for path in used}
    problems = tuple(problem for problem in problems if problem.source.artifact not in refused)
    return Found(bundles=bundles, problems=problems, analyses=tuple(search.analyses))


def files_of(found: Found) -> Files:
    """The files in the order of the scan."""
    listed = []
    for owner, bundle in enumerate(found.bundles):
        paths = {"rollouts": bundle.path, **bundle.sidecars}
        for role in (role for role in SCANNED if role in paths):
            format_ = bundle.format if role == "rollouts" or bundle.format.splittable else format_named("gym")
            listed.append((paths[role], role, owner, format_.name))
    paths_, roles, owners, formats_ = zip(*listed, strict=True)
    root = os.path.commonpath([str(_resolved(bundle.path).parent) for bundle in found.bundles])
    return Files(bundles=found.bundles, root=root, paths=paths_, roles=roles, owners=owners, formats=formats_)


def _problems(search: _Search) -> tuple[Problem, ...]:
    """Why files were refused; a sidecar that a glob swallowed is no problem."""
    taken = {_resolved(path) for bundle in search.bundles.values() for path in bundle.sidecars.values()}
    refused = sorted((path, why) for path, why in search.refused.items() if path not in taken)
    return tuple(Problem(source=RowSource(artifact=_source_of(path)), reason=why) for path, why in refused)


def _source_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _with_dataset(bundle: Bundle, near: Collection[Path]) -> Bundle:
    """A file of inputs in the same folder tells about the tasks where the run has no inputs of its own."""
    if len(near) != 1 or "inputs" in bundle.sidecars:
        return bundle
    return replace(bundle, sidecars=bundle.sidecars | {"dataset": next(iter(near))})


def _with_tasks(bundle: Bundle, refused: Collection[Path]) -> Bundle:
    """A refused file in the same folder tells about the tasks where its lines and the rollouts name them alike."""
    if bundle.sidecars.keys() & {"inputs", "dataset"} or not bundle.format.splittable or not bundle.path.is_file():
        return bundle
    here = _resolved(bundle.path).parent
    near = [path for path in sorted(refused) if path.parent == here and path.name.endswith(_ROLLOUT_ENDINGS)]
    rows = read_head(bundle.path).rows if near else ()
    telling = [path for path in near if rows and _names_tasks_of(read_head(path).rows, rows)]
    if len(telling) != 1:
        return bundle
    return replace(bundle, sidecars=bundle.sidecars | {"dataset": telling[0]})


def _names_tasks_of(tasks: Sequence[Row], rollouts: Sequence[Row]) -> bool:
    """Whether a field tells the lines of one file apart, and most of the first rollouts of another have one of its values."""
    for name in sorted({*tasks[0]} & {*rollouts[0]}) if tasks else ():
        given = [bytes(row[name]) for row in tasks if name in row]
        asked = [bytes(row[name]) for row in rollouts if name in row]
        apart = len(set(given)) == len(tasks) >= FEWEST_TASKS
        if apart and len(asked) == len(rollouts) and 2 * sum(one in given for one in asked) > len(asked):
            return True
    return False


def _resolved(path: Path) -> Path:
    """Where a path leads to; one that leads in a circle, as far as it can be followed."""
    return Path(os.path.realpath(path))


def _split_name(text: str) -> tuple[str | None, str]:
    name, equals, pattern = text.partition("=")
    if equals and name and "/" not in name and not Path(text).exists():
        return name, pattern
    return None, text


def _expand(pattern: str) -> list[Path]:
    path = Path(pattern).expanduser()
    if path.exists():
        return [path]
    matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
    if not matches:
        hint = (
            "the pattern matches nothing"
            if glob.has_magic(pattern)
            else "check the path; globs such as 'runs/*.jsonl' work too"
        )
        raise ArtifactError(f"no such file or folder: {pattern}", hint=hint)
    return matches


def _analysis_folders(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    for folder in (path, path.parent):
        finish(folder)
    if (path / "rollouts.parquet").is_file():
        return [path]
    home = _resolved(path)
    saved = sorted(
        child.parent for child in path.glob("*/rollouts.parquet") if child.is_file() and is_inside(child, home)
    )
    # A folder that holds rollouts of its own is read anew: what an earlier analysis left in it may be out of date.
    own = (file for file in _files(path) if file.is_dir() or not _are_of_readers(read_head(file).rows))
    return saved if saved and next(own, None) is None else []


def _take(path: Path, name: str | None, search: _Search) -> None:
    if not path.is_dir():
        if not _is_swallowed(path):
            _take_file(path, name, search)
        return
    before = set(search.bundles)
    _take_below(path, name, search)
    if not search.bundles.keys() - before:
        _take_others(path, name, search)
    yielding = [key for key in search.bundles.keys() - before if search.bundles[key].format.yields]
    if len(yielding) < len(search.bundles.keys() - before):
        for key in yielding:
            del search.bundles[key]
            search.refused[key] = "it stands beside rollouts and may be their summary: give the file itself to read it"


def _take_others(path: Path, name: str | None, search: _Search) -> None:
    """Take results in files that mostly hold other things; of the rest nothing is said."""
    for here, owner in _folders(path, search.forced):
        for file in here.files if owner is None else ():
            if file.endswith(_OTHER_ENDINGS) and recognize(read_head(here.path / file)) is not None:
                _take_file(here.path / file, name, search)


def _take_below(path: Path, name: str | None, search: _Search) -> None:
    for here, owner in _folders(path, search.forced):
        for entry, why in here.problems.items():
            search.refused[here.path / entry] = why
        if owner is not None:
            _take_folder(here.path, owner, name, search)
            continue
        for file in _files_in(here):
            if role_of(file) in _COUNTED and not _is_swallowed(file):
                search.refused[_resolved(file)] = _without_rollouts(role_of(file))
            if role_of(file) == "rollouts":
                _take_file(file, name, search)
                rows = read_head(file).rows if _resolved(file) in search.refused else ()
                if _are_of_readers(rows):
                    # They lie beside the rollouts that they are about, and are no problem with them.
                    del search.refused[_resolved(file)]
                elif rows and all("responses_create_params" in row for row in rows):
                    search.datasets.append(file)
                    del search.refused[_resolved(file)]


def _folders(root: Path, forced: Format | None) -> Iterator[tuple[FolderListing, Format | None]]:
    """Every folder from `root` down and the format whose run it is as a whole; what lies below such a run is part of it."""
    owners = [format_ for format_ in ((forced,) if forced else formats()) if format_.owns is not None]
    waiting, seen = [root], {root.resolve()}
    while waiting:
        here = listing(waiting.pop(), root)
        owner = next((format_ for format_ in owners if format_.owns is not None and format_.owns(here)), None)
        yield here, owner
        if owner is None:
            below = [here.path / name for name in reversed(here.folders) if name != COLLATED]
            # A link may lead back up: a folder is entered once.
            fresh = {folder.resolve(): folder for folder in below if folder.resolve() not in seen}
            seen |= fresh.keys()
            waiting += fresh.values()


def _take_folder(path: Path, format_: Format, name: str | None, search: _Search) -> None:
    if all(target != "reward" for target, _ in search.field_map) and (refusal := format_.refusal(path)):
        search.refused[_resolved(path)] = refusal
        return
    search.bundles[_resolved(path)] = Bundle(path=path, format=format_, name=name, folder=_resolved(path).name)


def _files(folder: Path) -> list[Path]:
    """Files below a folder that may hold rollouts; what an earlier analysis wrote is not among them."""
    return [file for here, owner in _folders(folder, None) for file in ([here.path] if owner else _files_in(here))]


def _files_in(here: FolderListing) -> list[Path]:
    if "rollouts.parquet" in here.files:
        return []
    named = (name for name in here.files if name.lower().endswith((*_ROLLOUT_ENDINGS, *_TABLE_ENDINGS)))
    return [here.path / name for name in named if name != ATTRIBUTIONS_FILE]


def _is_swallowed(path: Path) -> bool:
    """A sidecar that a glob swallowed, whose rollouts stand beside it, is not taken as rollouts."""
    return role_of(path) != "rollouts" and any(main.exists() for main in _mains(path))


def _take_file(path: Path, name: str | None, search: _Search) -> None:
    """Take a file as rollouts, or note why not."""
    head = read_head(path, lines=search.forced is not None and search.forced.splittable)
    beside = sidecars(path, search.names_in(path.parent))
    summary = next((said for one in formats() if (said := one.summary(head)) is not None), None)
    if summary is not None and search.forced is None:
        search.refused |= {path.resolve(): summary} if summary else {}
        return
    format_ = search.forced or recognize(head)
    if format_ is None and not head.start and "failures" in beside:
        format_ = format_named("gym")
    why = _why_not(path, head, format_, beside, search.field_map)
    if format_ is None or why:
        search.refused[_resolved(path)] = why or "not a format that is known"
        return
    folder = _resolved(path).parent.name
    search.bundles[_resolved(path)] = Bundle(path=path, format=format_, name=name, sidecars=beside, folder=folder)


def _why_not(
    path: Path, head: FileHead, format_: Format | None, beside: Mapping[str, Path], field_map: FieldMap
) -> str | None:
    role = role_of(path)
    if role != "rollouts":
        return _without_rollouts(role)
    if head.broken:
        return head.broken
    if not head.start.strip():
        # A run in which every rollout broke down leaves an empty file, and its failures beside it.
        return None if "failures" in beside else "the file is empty"
    if format_ is None:
        return _not_lines(path, head)
    if all(target != "reward" for target, _ in field_map) and (refusal := format_.refusal(path)):
        return refusal
    if _are_of_readers(head.rows):
        return "its rows are what readers say of rollouts: `blade attribute RUN --file` takes them"
    if not field_map and (said := _as_steps(head.rows)):
        return said
    mapped = with_map(None, field_map)
    rows = list(map(mapped, head.rows)) if mapped is not None else head.rows
    if format_.splittable and not any(map(is_rollout, rows)) and not _tells_by_content(path, format_, field_map):
        return f"its rows have no reward, score, response, messages or output: not rollouts; {guesses(head.rows)}"
    return None


def _are_of_readers(rows: Sequence[Row]) -> bool:
    """Whether rows are for `blade attribute`, to be filled in or filled in: beside the place only what a reader says."""
    return bool(rows) and all(row.keys() <= READERS_FIELDS and not row.keys().isdisjoint(_SAID) for row in rows)


def _as_steps(rows: Sequence[Row]) -> str:
    """Why rows are no rollouts but the steps of some; empty where they are not."""
    if not rows or not any(bytes(raw) in (b"true", b"false") for raw in rows[0].values()):
        return ""
    from blade.ingest.foreign_rows import steps_of_episodes

    plain = ({name: raw for name, raw in row.items() if len(bytes(raw)) <= _LONGEST_MARK} for row in rows)
    with suppress(*BAD_VALUE):
        found = steps_of_episodes([{name: decode_any(raw) for name, raw in row.items()} for row in plain])
        if found is not None:
            end, episode = found
            return (
                f"its rows look like the steps of an episode each ({end} is true in the last row of every {episode}): write one"
                f" row for each {episode}, as `jq -c 'select(.{end})'` keeps the last; if they are rollouts, say --map task={episode}"
            )
    return ""


def _tells_by_content(path: Path, format_: Format, field_map: FieldMap) -> bool:
    """Whether the values of the rows show a verdict or what an agent did, under names that nobody knows."""
    from blade.ingest.roles.learn import learn_roles
    from blade.ingest.roles.outcome import is_grade
    from blade.ingest.roles.sample import sample_rows

    roles = learn_roles(sample_rows(path, format_, field_map))
    if roles.response:
        return True
    return any(
        field.role in ("reward", "trajectory") and (field.decided_by == "content" or is_grade(field.path))
        for field in roles.fields
    )


def _without_rollouts(role: str) -> str:
    return f"the name says that it is the {role} sidecar of a run whose rollouts are not beside it"


def _not_lines(path: Path, head: FileHead) -> str:
    """Why a file of no known format is none, and how one value over a whole file becomes lines."""
    if path.name.endswith(YAML_ENDINGS):
        return read_json(path, None)[1] or "it is YAML in which no list of records was found"
    start = head.start.removeprefix(codecs.BOM_UTF8).lstrip()
    wanted = f"one object a line is expected, as `jq -c %s {path.name} > {stem_of(path)}_lines.jsonl` writes them"
    if start.startswith(b"["):
        return f"it is one JSON array, and {wanted % repr('.[]')}"
    if start.startswith(b"{"):
        return f"it is one JSON object and no log of a known harness; {wanted % '.'}"
    advice = next((advice for ending, advice in _NOT_READ.items() if path.name.lower().endswith(ending)), None)
    if advice is not None:
        return f"files of this kind are not read: {advice}"
    first = start.split(b"\n", 1)[0].rstrip()[:40].decode("utf-8", "replace")
    kind = "is no log of a known harness" if path.suffix == ".json" else "has no line that is a JSON object"
    return f"it {kind} (it begins {first!r})"


def role_of(path: Path) -> str:
    """What a file is, by its name alone."""
    stem = stem_of(path)
    return next((role for suffix, role in SUFFIXES if stem.endswith(suffix)), "rollouts")


def stem_of(path: Path) -> str:
    """The name without `.jsonl`, `.json`, `.eval` and what compression adds."""
    name = path.name
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    for ending in (".jsonl", ".ndjson", ".json", ".eval"):
        name = name.removesuffix(ending)
    return name


def _mains(path: Path) -> list[Path]:
    stem = stem_of(path)
    suffix = next(suffix for suffix, _ in SUFFIXES if stem.endswith(suffix))
    return [path.with_name(stem.removesuffix(suffix) + ending) for ending in _ROLLOUT_ENDINGS]


def sidecars(path: Path, names: Collection[str] | None = None) -> dict[str, Path]:
    """The sidecars beside a rollouts file, by role; a config of the run counts when its name says so.

    `names` are those of the files in its folder, as far as a caller has them.
    """
    if names is None:
        names = listing(path.parent).files
    stem = stem_of(path)
    found = {}
    for suffix, role in SUFFIXES:
        match = next((name for ending in _ROLLOUT_ENDINGS if (name := stem + suffix + ending) in names), None)
        if match is not None:
            found[role] = path.with_name(match)
    configs = [name + end for name in (stem, f"{stem}_config", "config") for end in YAML_ENDINGS]
    config = next((name for name in configs if name in names), None)
    if config is not None:
        found["config"] = path.with_name(config)
    if "manifest" not in found and "manifest.json" in names:
        found["manifest"] = path.with_name("manifest.json")
    return found


def read_head(path: Path, *, lines: bool = False) -> FileHead:
    """The first bytes of a file and the rows among its first lines; `lines` asks for rows whatever its name says."""
    try:
        start = first_bytes(path, _HEAD_BYTES)
        if path.suffix in (".eval", ".json") and not lines:
            return FileHead(path=path, start=start, rows=())
        rows, why = _first_rows(path, start)
    except OSError as error:
        return FileHead(path=path, start=b"", rows=(), broken=_unreadable(path, error))
    except Torn as torn:
        return FileHead(path=path, start=b"", rows=(), broken=str(torn))
    return FileHead(path=path, start=start, rows=rows, broken=why)


def _unreadable(path: Path, error: OSError) -> str:
    if path.is_symlink() and not path.exists():
        return TO_NOTHING
    advice = "; save what it gives to a file first" if error.strerror == NOT_REGULAR and not path.is_dir() else ""
    return f"{error.strerror or error}{advice}"


def _first_rows(path: Path, start: bytes) -> tuple[tuple[Row, ...], str]:
    """The rows among the first lines, and why there are none where a line is too long."""
    rows: list[Row] = []
    why = ""
    whole = len(start) < min(_HEAD_BYTES, read_limits().line)
    with using_limits(replace(read_limits(), unpacked=read_limits().document)), suppress(Torn):
        # A short file is known already.
        found = map(Record, io.BytesIO(start), count(1), repeat(0)) if whole else records(path)
        for record in islice(found, _HEAD_LINES):
            why = why or record.broken
            with suppress(Unusable):
                rows.append(decode_row(record.data.removeprefix(codecs.BOM_UTF8))[0])
            if len(rows) == _HEAD_ROWS:
                break
    return tuple(rows), why if not rows else ""


def recognize(head: FileHead) -> Format | None:
    """The first format, in their order, that recognizes the file."""
    return next((candidate for candidate in formats() if candidate.recognizes(head)), None)


def _not_read(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Names of files that may hold results in a form that is not read, and what to do with them."""
    for path in paths:
        names = [name for here, _ in _folders(path, None) for name in here.files] if path.is_dir() else []
        for name in names:
            yield from ((name, advice) for ending, advice in _NOT_READ.items() if name.lower().endswith(ending))


def _nothing(inputs: Sequence[str], problems: Sequence[Problem]) -> NoReturn:
    what = ", ".join(inputs)
    if not inputs:
        raise RequestError("no run was given", hint="example: blade analyze results/rollouts.jsonl")
    if problems:
        listed = "; ".join(f"{problem.source}: {problem.reason}" for problem in problems[:5])
        raise ArtifactError(f"no usable rollouts in {what}: {listed}", hint="see docs/formats.md for what is read")
    for path in (path for text in inputs for path in _expand(_split_name(text)[1]) if not path.is_dir()):
        main = next(main for main in _mains(path) if main.exists())  # else it would be among the problems
        raise ArtifactError(
            f"no rollouts in {what}: {path.name} is the {role_of(path)} sidecar of a run",
            hint=f"its rollouts are in {main}: give that file, and what stands beside it is read too",
        )
    others = dict(_not_read(path for text in inputs for path in _expand(_split_name(text)[1])))
    if others:
        held = ", ".join(sorted(others)[:_MOST_NAMED]) + (", ..." if len(others) > _MOST_NAMED else "")
        hint = "; ".join(sorted({*others.values()}))
        raise ArtifactError(f"no rollouts in {what}: files of this kind are not read ({held})", hint=hint)
    raise ArtifactError(
        f"no rollouts in {what}",
        hint="expected rollouts (*.jsonl, plain or compressed), a run folder of a known harness, or a table; see docs/formats.md",
    )
