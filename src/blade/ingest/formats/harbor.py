"""Harbor: folders of trials, and results of trials as rows: the task by its name, the reward of the verifier, the exception."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.ingest import cells
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.folder_files import FolderListing, json_object, listing, read_json
from blade.ingest.folder_formats import FIRST_CHILDREN, TrialRow, children, records_of
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.ingest.mapping import reward_of
from blade.ingest.terminal import plain_text
from blade.ingest.times import seconds_between
from blade.ingest.trajectories.atif import is_trajectory, items_of, prompt_of
from blade.ingest.trajectories.claude_code import read_session

_NAMES = ("trial_name", "task_name", "agent_info")
_TRIAL = "id"
"""Names the trial and not the task, so it is left out."""
_PARTS_OF_A_TRIAL = ("agent", "verifier", "trial.log", "config.json", "exception.txt")
_HERE = "."


def owns(here: FolderListing) -> bool:
    """A folder whose folders are trials, or a trial itself."""
    return _is_trial(here) or any(map(_is_trial, children(here, FIRST_CHILDREN)))


def _is_trial(here: FolderListing) -> bool:
    """The result of a trial beside another of its parts, or the settings of one that left no result."""
    parts = sum(name in here.files or name in here.folders for name in _PARTS_OF_A_TRIAL)
    if "result.json" in here.files and parts:
        return _says_trial(here.path / "result.json")
    return parts > 1 and "config.json" in here.files and _says_trial(here.path / "config.json")


def _says_trial(path: Path) -> bool:
    value, reason = read_json(path, path.parent)
    # A result that is torn is one of a trial all the same: what stands beside it says so.
    return bool(reason) or "trial_name" in json_object(value)


class Job:
    """A folder of trials."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def members(self) -> list[str]:
        here = listing(self.path)
        return [_HERE] if _is_trial(here) else [trial.path.name for trial in children(here) if _is_trial(trial)]

    def row(self, member: str) -> TrialRow:
        """The result of the trial with its trajectory, and with what the verifier and the harness wrote."""
        folder, row = self.path / member, TrialRow(root=self.path)
        result, config = row.json(folder / "result.json"), row.json(folder / "config.json")
        row.values |= json_object(result) or _from_config(json_object(config), folder)
        _read_agent(folder / "agent", row)
        _read_verifier(folder / "verifier", row)
        for name in ("exception.txt", "trial.log"):
            row.values[name.replace(".", "_")] = plain_text(row.text(folder / name)) or None
        return row


def _from_config(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What the settings of a trial say of it that ended without a result."""
    task, agent = json_object(config.get("task")), json_object(config.get("agent"))
    name = task.get("name") or str(task.get("path") or folder.name.rpartition("__")[0]).rpartition("/")[2]
    return {
        "trial_name": config.get("trial_name") or folder.name,
        "task_name": name,
        "config": dict(config),
        "agent_info": {"name": agent.get("name"), "model_info": {"name": agent.get("model_name")}},
    }


def _read_agent(folder: Path, row: TrialRow) -> None:
    """The trajectory; where there is none, the agent's own log, as steps where its format is known."""
    trajectory = json_object(row.json(folder / "trajectory.json"))
    if is_trajectory(trajectory):
        items = items_of(trajectory, lambda name: json_object(row.json(folder / Path(name).name)))
        row.values["response"] = {"output": items}
        row.values["responses_create_params"] = {"input": prompt_of(trajectory)}
        return
    logs = [row.text(folder / name) for name in listing(folder).files if name.endswith((".txt", ".log", ".jsonl"))]
    sessions = [session for text in logs if (session := read_session(text)) is not None]
    if not sessions:
        row.values["agent_log"] = plain_text("\n".join(logs)) or None
        return
    session = max(sessions, key=lambda one: len(one.items))
    row.values["response"] = {"output": list(session.items)}
    row.values["session"] = dict(session.about)
    row.values["transcript_is_cut"] = session.is_cut or None
    row.values["agent_log"] = session.other_text or None


def _read_verifier(folder: Path, row: TrialRow) -> None:
    """The reward, the results of tests and what the tests printed."""
    result = json_object(row.values.get("verifier_result"))
    text = row.text(folder / "reward.txt").strip()
    written = reward_of(text)
    rewards = json_object(row.json(folder / "reward.json")) or ({"reward": written} if written is not None else {})
    told, wrote = _reward(json_object(result.get("rewards"))), _reward(rewards)
    if told is not None and wrote is not None and cells.number(told) != cells.number(wrote):
        row.problems.append(f"result.json says reward {told}, the verifier wrote {wrote}")
    if not json_object(result.get("rewards")) and rewards:
        if "verifier_result" in row.values:
            # The harness gave no reward, whatever its verifier had written by then.
            row.problems.append(f"the verifier wrote the reward {text or rewards}, and result.json has none")
        else:
            row.values["verifier_result"] = {"rewards": rewards}
    row.values["ctrf"] = json_object(row.json(folder / "ctrf.json")) or None
    for name in ("test-stdout.txt", "test-stderr.txt"):
        row.values[name.rpartition(".")[0].replace("-", "_")] = plain_text(row.text(folder / name)) or None


def recognizes(head: FileHead) -> bool:
    """Some row has the fields that only Harbor writes."""
    return any(all(name in row for name in _NAMES) for row in head.rows)


def as_row(trial: Row) -> Row:
    """The trial under the names that rows have; what else it holds stays as it is."""
    value = {name: decode_any(raw) for name, raw in trial.items()}
    agent, spent = json_object(value.get("agent_info")), json_object(value.get("agent_result"))
    usage = {"input_tokens": spent.get("n_input_tokens"), "output_tokens": spent.get("n_output_tokens")}
    asked = json_object(json_object(value.get("config")).get("agent"))
    row: dict[str, Any] = {
        "task_id": value.get("task_name"),
        "agent_name": agent.get("name"),
        "model": json_object(agent.get("model_info")).get("name") or asked.get("model_name"),
        "reward": _reward(json_object(json_object(value.get("verifier_result")).get("rewards"))),
        "error": json_object(value.get("exception_info")).get("exception_type"),
        "usage": usage if any(usage.values()) else None,
        "cost": spent.get("cost_usd"),
        "seconds": seconds_between(value.get("started_at"), value.get("finished_at")),
    }
    kept = {name: raw for name, raw in trial.items() if name not in (_TRIAL, "task_id")}
    return {
        **kept,
        **{name: msgspec.Raw(encode(item)) for name, item in row.items() if item is not None or name == "reward"},
    }


def _reward(rewards: dict[str, Any]) -> Any:
    """The reward, or the one number that the verifier left under a name of its own."""
    return rewards.get("reward", next(iter(rewards.values())) if len(rewards) == 1 else None)


def facts(path: Path) -> RunFacts:
    """What the job's own files say of the run; a file of rows says nothing beside them."""
    result = json_object(read_json(path / "result.json", path)[0]) if path.is_dir() else {}
    stats = json_object(result.get("stats"))
    total, errors = cells.integer(result.get("n_total_trials")), cells.integer(stats.get("n_errors"))
    note = f"the job's result.json says {total} trials, {errors} with errors" if total and errors else ""
    return RunFacts(source="result.json" if result else "", note=note, recorded=_mean(stats))


def _mean(stats: Mapping[str, Any]) -> dict[str, float]:
    """The job's mean reward, where it ran one agent and model on one data set: each such triple has its own."""
    evals = list(map(json_object, json_object(stats.get("evals")).values()))
    metrics = evals[0].get("metrics") if len(evals) == 1 else None
    means = [cells.number(json_object(one).get("mean")) for one in metrics] if isinstance(metrics, list) else []
    return {"mean/reward": means[0]} if len(means) == 1 and means[0] is not None else {}


FORMAT = Format(
    name="harbor",
    order=40,
    recognizes=recognizes,
    as_row=as_row,
    facts=facts,
    owns=owns,
    members=lambda path: Job(path).members(),
    member_records=records_of(Job),
)
