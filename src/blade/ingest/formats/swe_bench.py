"""Evaluations of SWE-bench: a folder an instance with the report, the patch and the test's output; predictions beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.ingest import cells
from blade.ingest.decode import Unusable, decode_any, decode_whole
from blade.ingest.folder_files import FolderListing, json_object, read_json, walk
from blade.ingest.folder_formats import FIRST_CHILDREN, TrialRow, children, folder_format
from blade.ingest.formats import FileHead, RunFacts
from blade.ingest.jsonl import Torn, records
from blade.ingest.terminal import plain_text
from blade.ingest.trajectories.items import message
from blade.ingest.trajectories.swe_agents import read_patch_run

_OF_AN_INSTANCE = ("report.json", "test_output.txt", "patch.diff", "run_instance.log", "eval.sh")
_FEWEST = 2
"""Files of an evaluation that a folder must hold to be an instance: one of these names alone may be anything."""
_LOGS = ("logs", "run_evaluation")
_TRAJECTORIES = (".traj.json", ".traj")
_ID_NAMES = ("instance_id", "instanceId", "instance")
_PATCHES = ("model_patch", "modelPatch", "patch")
_MODELS = ("model_name_or_path", "model", "model_name")
_LISTS = ("resolved_ids", "unresolved_ids", "error_ids", "empty_patch_ids", "submitted_ids", "completed_ids")


def owns(here: FolderListing) -> bool:
    """A folder whose folders are instances, that leads to one by the names of the evaluation's logs, or with trajectories."""
    below = list(children(here, FIRST_CHILDREN))
    if any(map(_is_instance, below)) or any(
        name.endswith(_TRAJECTORIES) for one in (here, *below) for name in one.files
    ):
        return True
    return any((here.path / logs).is_dir() for logs in (Path(*_LOGS), Path(_LOGS[1]))) or here.path.name == _LOGS[1]


def recognizes(head: FileHead) -> bool:
    """Rows of OpenHands, which has its own way to keep what an agent did on an instance."""
    return any(
        {"instance_id", "history"} <= row.keys() and ("test_result" in row or "git_patch" in row) for row in head.rows
    )


def _is_instance(here: FolderListing) -> bool:
    return sum(name in here.files for name in _OF_AN_INSTANCE) >= _FEWEST


class Evaluation:
    """All instances below a folder, by run and model, with the summaries, predictions and trajectories beside them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.instances: list[str] = []
        self.trajectories: dict[str, Path] = {}
        self.summaries: list[tuple[str, Mapping[str, Any]]] = []
        self.predictions: dict[str, Mapping[str, Any]] = {}
        self.instance_of: dict[str, str] = {}
        """The instance of each prediction; repeats have names of their own."""
        documents = [path] if path.is_file() else []
        for here in walk(path) if path.is_dir() else ():
            if _is_instance(here):
                self.instances.append(here.path.relative_to(path).as_posix())
            else:
                documents += [here.path / name for name in here.files if name.endswith((".json", ".jsonl"))]
            found = {name: file for name, file in _trajectories(here) if name not in self.trajectories}
            self.trajectories |= found
        self.instances.sort()
        trajectories = set(self.trajectories.values())
        for document in sorted(set(documents) - trajectories):
            self._beside(document)

    def _beside(self, path: Path) -> None:
        """A summary of the run, predictions, or trajectories of many instances in one file."""
        if path.suffix == ".jsonl":
            self._take_predictions(_rows(path))
            return
        value, _ = read_json(path, self.path)
        if isinstance(value, list):
            self._take_predictions(map(json_object, value))
        elif any(isinstance(json_object(value).get(name), list) for name in _LISTS):  # the summary of the run
            self.summaries.append((path.name, json_object(value)))
        else:
            named = [json_object(one) | {"instance_id": name} for name, one in json_object(value).items()]
            self._take_predictions(one for one in named if any(name in one for name in _PATCHES))

    def _take_predictions(self, rows: Iterator[Mapping[str, Any]]) -> None:
        times: Counter[str] = Counter()
        for row in rows:
            name = next((row[name] for name in _ID_NAMES if isinstance(row.get(name), str)), None)
            if name is not None:
                times[name] += 1
                # What one file tells of an instance several times are repeats; several files tell of one of them.
                key = name if times[name] == 1 else f"{name} ({times[name]})"
                self.instance_of[key] = name
                self.predictions[key] = {**self.predictions.get(key, {}), **row}

    def members(self) -> list[str]:
        """The folders of instances, then the instances that only a summary or the predictions know."""
        here = {member.rpartition("/")[2] for member in self.instances}
        listed = [str(one) for _, summary in self.summaries for name in _LISTS for one in _listed(summary, name)]
        known = dict.fromkeys([*listed, *self.predictions, *sorted(self.trajectories)])
        return [*self.instances, *(name for name in known if name not in here)]

    def row(self, member: str) -> TrialRow:
        """The verdict of the report, else that of the summary, with the patch and what the tests printed."""
        name, row = member.rpartition("/")[2], TrialRow(root=self.path)
        predicted = self.predictions.get(name, {})
        folder = self.path / member if member in self.instances else None
        report = _report(folder, name, row) if folder is not None else {}
        model = folder.parent.name.replace("__", "/") if folder is not None and folder.parent != self.path else None
        patch = next((predicted[each] for each in _PATCHES if isinstance(predicted.get(each), str)), None)
        row.values |= {
            k: v for k, v in predicted.items() if k not in (*_ID_NAMES, *_PATCHES, "history", "resolved", "report")
        }
        row.values |= report | {
            "task_id": self.instance_of.get(name, name),
            "reward": self._reward(name, report or _own_report(predicted), row),
            "model": next((predicted[each] for each in _MODELS if predicted.get(each)), model),
            "model_patch": patch,
        }
        if folder is not None:
            _read_instance(folder, row)
        self._add_trajectory(name, predicted, row)
        return row

    def _reward(self, name: str, report: Mapping[str, Any], row: TrialRow) -> float | None:
        stated = self._stated(name)
        own = report.get("resolved")
        if isinstance(own, bool):
            if stated is not None and stated != own:
                row.problems.append(f"report.json says resolved {own}, the summary of the run {stated}")
            return float(own)
        if stated is not None:
            row.problems.append("report.json: there is none, so the verdict is that of the run's summary")
        return float(stated) if stated is not None else None

    def _stated(self, name: str) -> bool | None:
        """What a summary says of an instance; one in error has no verdict."""
        for _, summary in self.summaries:
            if name in _listed(summary, "resolved_ids"):
                return True
            if name in _listed(summary, "unresolved_ids") or name in _listed(summary, "empty_patch_ids"):
                return False
        return None

    def _add_trajectory(self, name: str, predicted: Mapping[str, Any], row: TrialRow) -> None:
        path = self.trajectories.get(name)
        trajectory = json_object(row.json(path) if path is not None else predicted)
        done = read_patch_run(trajectory)
        if done is None:
            return
        row.values["response"] = {"output": done.items}
        row.values["responses_create_params"] = {"input": done.prompt} if done.prompt else None
        told = {"exit_status": done.exit_status, "stop_reason": done.exit_status, "model_calls": done.steps}
        row.values |= told | {"cost": done.cost, "usage": done.usage}
        row.values["model"] = row.values.get("model") or done.model
        row.values["model_patch"] = row.values.get("model_patch") or done.patch
        problem = trajectory.get("problem_statement") or json_object(trajectory.get("instance")).get(
            "problem_statement"
        )
        if isinstance(problem, str) and not done.prompt:
            row.values["responses_create_params"] = {"input": [message("user", problem)]}


def _own_report(predicted: Mapping[str, Any]) -> Mapping[str, Any]:
    """The verdict that is written beside a prediction, as the evaluation of OpenHands does."""
    return json_object(predicted.get("report")) or json_object(json_object(predicted.get("test_result")).get("report"))


def _trajectories(here: FolderListing) -> Iterator[tuple[str, Path]]:
    for name in here.files:
        ending = next((ending for ending in _TRAJECTORIES if name.endswith(ending)), None)
        if ending is not None:
            yield name.removesuffix(ending), here.path / name


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        for record in records(path):
            try:
                row, _ = decode_whole(record.data)
            except Unusable:
                continue
            yield {name: decode_any(raw) for name, raw in row.items()}
    except (Torn, OSError):
        return


def _listed(summary: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = summary.get(name)
    return value if isinstance(value, list) else ()


def _report(folder: Path, name: str, row: TrialRow) -> dict[str, Any]:
    value = row.json(folder / "report.json")
    return json_object(json_object(value).get(name)) or json_object(value)


def _read_instance(folder: Path, row: TrialRow) -> None:
    patch, handed_in = row.text(folder / "patch.diff"), row.values.get("model_patch")
    if patch and isinstance(handed_in, str) and patch.strip() != handed_in.strip():
        row.problems.append("the patch that was evaluated, patch.diff, is not the one of the predictions")
    row.values["model_patch"] = patch or handed_in
    row.values["test_output"] = plain_text(row.text(folder / "test_output.txt")) or None
    row.values["run_log"] = plain_text(row.text(folder / "run_instance.log")) or None


def facts(path: Path) -> RunFacts:
    """The run's own count of resolved instances, of those that were handed in."""
    evaluation = Evaluation(path)
    if len(evaluation.summaries) != 1:
        return RunFacts(benchmark="swe-bench")
    name, summary = evaluation.summaries[0]
    resolved, submitted = (
        cells.integer(summary.get("resolved_instances")),
        cells.integer(summary.get("submitted_instances")),
    )
    recorded = {"resolved": resolved / submitted} if resolved is not None and submitted else {}
    return RunFacts(benchmark="swe-bench", source=name, recorded=recorded)


FORMAT = folder_format(name="swe-bench", order=22, owns=owns, run_folder=Evaluation, facts=facts, recognizes=recognizes)
