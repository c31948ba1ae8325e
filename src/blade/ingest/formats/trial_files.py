"""Folders of nobody's harness: a JSON file a rollout, or a folder a rollout with a verdict among its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from blade.ingest import fields
from blade.ingest.decode import encode
from blade.ingest.folder_files import YAML_ENDINGS, FolderListing, json_object, listing, read_json, read_text
from blade.ingest.folder_formats import FIRST_CHILDREN, TrialRow, folder_format
from blade.ingest.foreign_rows import (
    as_rollout,
    has_output,
    is_word_of_verdict,
    named_attempt,
    talk_field,
    verdict_field,
)
from blade.ingest.formats import FileHead, RunFacts, formats
from blade.ingest.formats.json_documents import records_in
from blade.ingest.mapping import guesses, reward_of
from blade.ingest.terminal import plain_text

_FEWEST = 2
"""Trials that make a folder a run: one alone may be anything."""
_LOOKED_AT = 8
"""Trials that are opened to tell what a folder is."""
_TEXTS = (".txt", ".log", ".md", ".out", ".err", ".diff", ".patch", ".html", ".xml")
_RECORDS = (".json", *YAML_ENDINGS)
_LINES = tuple(
    f"{ending}{packed}"
    for ending in (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".eval", ".arrow")
    for packed in ("", ".gz", ".zst")
)
_STEPS = (".jsonl", ".ndjson")
"""Lines that may be the steps of one rollout."""
_SHARED = 0.5
"""Of the trials, the share that must have a file for it to be a part of every trial."""
_HEAD = 1 << 16
_SPOKEN = frozenset(
    path for name in ("prompt", "trajectory", "expected", "answer") for path in fields.BY_NAME[name].paths
)


def owns(here: FolderListing) -> bool:
    """A folder of trials, in files or in folders, none of which is a run by itself."""
    if any(name.endswith(_LINES) for name in here.files) or "rollouts.parquet" in here.files:
        return False
    return bool(_members(here))


def _members(here: FolderListing) -> list[str]:
    """The trials of a folder, as paths below it; none where it is no folder of trials."""
    return _files_of_tasks(here) or _folders(here) or _files(here)


def _files_of_tasks(here: FolderListing) -> list[str]:
    """Files of attempts, such as `attempt-1.json`, in a folder for each task."""
    tasks = [listing(here.path / name, here.path) for name in here.folders]
    named = [
        [name for name in task.files if name.endswith(_RECORDS) and _counts(_without_ending(name))] for task in tasks
    ]
    if len(named) < _FEWEST or not all(named) or not all(map(_files, tasks[:_FEWEST])):
        return []
    return [f"{task.path.name}/{name}" for task, names in zip(tasks, named, strict=True) for name in names]


def _counts(name: str) -> bool:
    return named_attempt(f"x.{name}") is not None


def _files(here: FolderListing) -> list[str]:
    """JSON files that are alike, each a record and none a list of judged records."""
    names = [name for name in here.files if name.endswith(".json")]
    names = names or [name for name in here.files if name.endswith(YAML_ENDINGS)]
    if len(names) < _FEWEST:
        return []
    values = [_record(here.path / name, here.path) for name in names[:_LOOKED_AT]]
    kept = [value for value in values if value is not None]
    if 2 * len(kept) <= len(values) or len(kept) < _FEWEST or not _alike(kept):
        return []
    if not (verdict_field(kept) is not None or any(map(has_output, kept))):
        return []
    usual = _usual(kept)
    # A summary beside the trials has other fields.
    return [name for name in names if _is_trial(here.path / name, here.path, usual)]


def _record(path: Path, root: Path) -> dict[str, Any] | None:
    """A document that is one record and no file of a known harness; None for any other."""
    piece = read_text(path, root, _HEAD)
    head = FileHead(path=path, start=(piece.text or "").encode(), rows=())
    others = (one for one in formats() if one.name not in ("json", "trial-files"))
    if any(one.recognizes(head) for one in others):
        return None
    value, _ = read_json(path, root)
    if not isinstance(value, dict):
        return None
    inside = records_in(value)
    return (
        None
        if inside is not None and inside.path and verdict_field([value]) is None and not has_output(value)
        else value
    )


def _usual(rows: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    counts = Counter(name for row in rows for name in row)
    return frozenset(name for name, count in counts.items() if 2 * count > len(rows))


def _alike(rows: Sequence[Mapping[str, Any]]) -> bool:
    usual = _usual(rows)
    return bool(usual) and sum(2 * len(usual & row.keys()) >= len(usual) for row in rows) > len(rows) / 2


def _is_trial(path: Path, root: Path, usual: frozenset[str]) -> bool:
    """A file that is torn is one of a trial all the same, like those beside it."""
    value, reason = read_json(path, root)
    return bool(reason) or 2 * len(usual & json_object(value).keys()) >= len(usual)


def _folders(here: FolderListing) -> list[str]:
    """Folders with the same files, of which one is a verdict; or folders of tasks that hold such folders as attempts."""
    trials = [listing(here.path / name, here.path) for name in here.folders]
    if _are_trials(trials[:FIRST_CHILDREN]):
        return [trial.path.name for trial in trials]
    attempts = [[listing(task.path / name, here.path) for name in task.folders] for task in trials]
    below = [attempt for of_task in attempts for attempt in of_task]
    if not below or not all(_is_attempt(attempt.path.name, len(attempts)) for attempt in below):
        return []
    return [f"{one.path.parent.name}/{one.path.name}" for one in below] if _are_trials(below[:FIRST_CHILDREN]) else []


def _is_attempt(name: str, tasks: int) -> bool:
    """`trial-2`, or a number that is smaller than there are tasks: as many attempts as tasks may be models."""
    return _counts(name) or (name.isdecimal() and int(name) < tasks)


def _are_trials(folders: Sequence[FolderListing]) -> bool:
    if len(folders) < _FEWEST:
        return False
    counts = Counter(name for folder in folders for name in folder.files)
    shared = [name for name, count in counts.items() if count > _SHARED * len(folders)]
    lines = [name for name in shared if name.endswith(_LINES)]
    if not shared or any(not name.endswith(_STEPS) for name in lines):
        return False
    runs = [one.owns for one in formats() if one.owns is not None and one.name != "trial-files"]
    if any(owns_it(folder) for owns_it in runs for folder in folders[:3]):
        return False
    read = [_values(folder, TrialRow(root=folder.path.parent)) for folder in folders[:_LOOKED_AT]]
    judge = _judge(
        [
            {name: value for name, value in row.items() if not {f"{name}{ending}" for ending in _STEPS} & {*lines}}
            for row in read
        ]
    )
    return judge is not None and (not lines or _are_single(read, judge, lines))


def _are_single(rows: Sequence[Mapping[str, Any]], judge: str, lines: Sequence[str]) -> bool:
    """Whether the lines of each folder are steps of one rollout: none names a task, and the verdict beside them is no mean."""
    steps = [one for row in rows for name in lines for one in row.get(name.rpartition(".")[0]) or ()]
    verdicts = {reward_of(value) for row in rows if not isinstance(value := row.get(judge), dict | list)}
    named = any(name in one for one in steps for name in (*fields.ID_NAMES, *fields.BY_NAME["index"].paths))
    return verdicts <= {0.0, 1.0, None} and verdicts != {None} and bool(steps) and not named


def _values(folder: FolderListing, row: TrialRow) -> dict[str, Any]:
    """What the files of a trial hold, by their names; the fields of the only JSON object, or of the one that is judged, as they are."""
    found: dict[str, Any] = {}
    objects: dict[str, dict[str, Any]] = {}
    for name in folder.files:
        stem = name.rpartition(".")[0]
        if name.endswith(_RECORDS):
            value = row.json(folder.path / name)
            if isinstance(value, dict):
                objects[stem] = value
            elif value is not None:
                found[stem] = value
        elif name.endswith(_STEPS):
            found[stem] = _objects_of(row.text(folder.path / name)) or None
        elif name.endswith(_TEXTS):
            # `agent.log` is no agent's name; a text called like what was asked or answered is just that.
            known = stem if stem in _SPOKEN and not name.endswith((".log", ".err")) else name.replace(".", "_")
            found[known] = plain_text(row.text(folder.path / name)).strip() or None
    judged = [stem for stem, value in objects.items() if verdict_field([value]) is not None]
    opened = judged[0] if len(judged) == 1 else next(iter(objects)) if len(objects) == 1 else None
    for stem, value in objects.items():
        found |= value if stem == opened else {stem: value}
    return {name: value for name, value in found.items() if value is not None}


def _objects_of(text: str) -> list[dict[str, Any]]:
    """The objects of lines; a line that holds none is left out."""
    found = []
    for line in text.splitlines():
        with suppress(msgspec.DecodeError):
            found.append(json_object(msgspec.json.decode(line)))
    return [one for one in found if one]


def _judge(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The field that judges most trials: of a document as elsewhere, else the one file that says no more than a verdict."""
    judge = verdict_field(rows)
    if judge is not None:
        return judge
    words = Counter(name for row in rows for name, value in row.items() if is_word_of_verdict(str(value)))
    told = [name for name, count in words.items() if count > _SHARED * len(rows)]
    return told[0] if len(told) == 1 else None


class TrialFiles:
    """A run of such trials."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names = _names(path, path.stat().st_mtime_ns)
        sample = [self.read(name, TrialRow(root=path)) for name in self.names[:_LOOKED_AT]]
        self.judge, self.talk = _judge(sample), talk_field(sample)

    def members(self) -> list[str]:
        return list(self.names)

    def read(self, member: str, row: TrialRow) -> dict[str, Any]:
        """The fields of a trial as its files have them."""
        if member.endswith(_RECORDS):
            return json_object(row.json(self.path / member))
        return _values(listing(self.path / member, self.path), row)

    def row(self, member: str) -> TrialRow:
        """What the trial's files hold; the task is known by an id of its own, else by the name of the file or folder."""
        row = TrialRow(root=self.path)
        values = self.read(member, row)
        if not values:
            return row
        row.values |= as_rollout(values, self.judge, self.talk)
        task, _, attempt = _without_ending(member).partition("/")
        counted = named_attempt(f"{task}.{attempt}") if attempt and not attempt.isdecimal() else named_attempt(task)
        if not any(given in values for given in fields.ID_NAMES):
            row.values["task_id"] = task if attempt or counted is None else counted[0]
        if counted is not None or attempt.isdecimal():
            row.values.setdefault("repeat", counted[1] if counted is not None else int(attempt))
        return row


def _without_ending(member: str) -> str:
    ending = next((one for one in _RECORDS if member.endswith(one)), "")
    return member.removesuffix(ending)


@lru_cache(maxsize=4)
def _names(path: Path, changed: int) -> tuple[str, ...]:
    """The trials of a folder, kept while nothing comes to it or goes: several processes ask for them, each more than once."""
    return tuple(_members(listing(path)))


def refusal(path: Path) -> str:
    """Trials without anything that judges them need a word of the user."""
    run = TrialFiles(path)
    if run.judge is not None:
        return ""
    rows = [run.read(name, TrialRow(root=path)) for name in run.names[:_LOOKED_AT]]
    raw = [{name: msgspec.Raw(encode(value)) for name, value in row.items()} for row in rows]
    return f"its {len(run.names):,} files have no reward or score; {guesses(raw)}"


def facts(path: Path) -> RunFacts:
    """What was taken as the verdict."""
    run = TrialFiles(path)
    said = f"the reward is read from `{run.judge}`" if run.judge not in (None, "reward", "score") else ""
    return RunFacts(note=said)


FORMAT = replace(
    folder_format(name="trial-files", order=96, owns=owns, run_folder=TrialFiles, facts=facts),
    refusal=refusal,
    yields=True,
)
