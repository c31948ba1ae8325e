"""Run folders of Terminal-Bench: a folder a task, in it one a trial, with results, captures of the terminal and logs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.ingest import cells
from blade.ingest.folder_files import FolderListing, json_object, listing, read_json
from blade.ingest.folder_formats import FIRST_CHILDREN, TrialRow, children, folder_format
from blade.ingest.formats import RunFacts
from blade.ingest.terminal import plain_text
from blade.ingest.trajectories.asciinema import read_recording
from blade.ingest.trajectories.claude_code import AgentSession, read_session
from blade.ingest.trajectories.items import message

_OF_A_RUN = ("run_metadata.json", "tb.lock")
_OF_A_TRIAL = ("panes", "sessions", "commands.txt")
_ATTEMPT = re.compile(r"\.(\d+)-of-(\d+)(?:\.|$)")
_TEST_LOG = "tests.log"
_TEST_CAST = "tests.cast"
_LARGEST_RECORDING = 32 << 20
"""Bytes of a recording: it keeps every frame of every spinner, and has many more than the text that it shows."""
_SETTINGS = (
    *("n_concurrent_trials", "n_attempts", "global_timeout_multiplier"),
    *("global_agent_timeout_sec", "global_test_timeout_sec"),
)


def owns(here: FolderListing) -> bool:
    """A folder with the files of a run and their summary, or with trials two levels below."""
    if "results.json" in here.files and any(name in here.files for name in _OF_A_RUN):
        return True
    return any(_trials_of(task) for task in children(here, FIRST_CHILDREN))


def _trials_of(task: FolderListing) -> list[str]:
    """The trials of a task: folders with what only this harness leaves, and a result or a name that counts attempts."""
    return [
        inside.path.name
        for inside in children(task)
        if any(map(inside.has, _OF_A_TRIAL)) and (inside.has("results.json") or _ATTEMPT.search(inside.path.name))
    ]


class TerminalBenchRun:
    """A run folder: its own files are read once, those of a trial when its row is made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.summary = json_object(read_json(path / "results.json", path)[0])
        listed = self.summary.get("results")
        self.results = [json_object(result) for result in listed] if isinstance(listed, list) else []
        self.by_trial = {str(result["trial_name"]): result for result in self.results if result.get("trial_name")}
        self.about = _about(path)

    def members(self) -> list[str]:
        """`task/trial` of every trial in the folder, then the names of those that only the summary knows."""
        here = [f"{task.path.name}/{trial}" for task in children(listing(self.path)) for trial in _trials_of(task)]
        names = {member.partition("/")[2] for member in here}
        return [*here, *(name for name in self.by_trial if name not in names)]

    def row(self, member: str) -> TrialRow:
        """The trial's own result, else the one in the summary, with what its captures and logs hold."""
        task, _, trial = member.rpartition("/")
        row = TrialRow(root=self.path)
        result = self._result(self.path / member if task else None, self.by_trial.get(trial, {}), row)
        resolved = result.get("is_resolved")
        row.values |= {name: value for name, value in result.items() if name not in ("id", "instruction")} | {
            "task_id": result.get("task_id") or task,
            "repeat": int(found[1]) - 1 if (found := _ATTEMPT.search(trial)) else None,
            "reward": float(resolved) if isinstance(resolved, bool) else None,
            "agent_name": self.about.get("agent_name"),
            "model": self.about.get("model_name"),
        }
        if result.get("instruction"):
            row.values["responses_create_params"] = {"input": [message("user", str(result["instruction"]))]}
        session = _read_trial(self.path / member, row) if task else None
        row.values["usage"] = _usage(result, session)
        return row

    def _result(self, folder: Path | None, listed: Mapping[str, Any], row: TrialRow) -> Mapping[str, Any]:
        if folder is None:
            return listed
        own = json_object(row.json(folder / "results.json"))
        if own and listed and own.get("is_resolved") != listed.get("is_resolved"):
            both = f"{own.get('is_resolved')}, that of the run {listed.get('is_resolved')}"
            row.problems.append(f"results.json of the trial says is_resolved {both}")
        return own or listed


def _read_trial(folder: Path, row: TrialRow) -> AgentSession | None:
    """What the agent did, from its log or else from the terminal; both stay logs where nobody knows their format."""
    names = listing(folder / "sessions").files
    logs = [name for name in names if name.endswith(".log")]
    tests = row.text(folder / "sessions" / _TEST_LOG) if _TEST_LOG in logs else ""
    if not tests.strip() and _TEST_CAST in names:
        tests = "\n".join(_recordings(folder, [_TEST_CAST], row))
    row.values["test_log"] = plain_text(tests or row.text(folder / "panes" / "post-test.txt")) or None
    row.values["commands"] = row.text(folder / "commands.txt") or None
    texts = [row.text(folder / "sessions" / name) for name in logs if name != _TEST_LOG]
    if not any(text.strip() for text in texts):
        texts = _recordings(folder, [name for name in names if name.endswith(".cast") and name != _TEST_CAST], row)
    texts = [text for text in (*texts, row.text(folder / "panes" / "post-agent.txt")) if text.strip()]
    sessions = [session for text in texts if (session := read_session(text)) is not None]
    if not sessions:
        row.values["agent_log"] = plain_text("\n".join(texts)) or None
        return None
    # A capture holds the last screens of the session that a log has whole.
    session = max(sessions, key=lambda one: (not one.is_cut, len(one.items)))
    row.values["response"] = {"output": list(session.items)}
    row.values["session"] = dict(session.about)
    row.values["transcript_is_cut"] = session.is_cut or None
    row.values["agent_log"] = session.other_text or None
    return session


def _recordings(folder: Path, names: Sequence[str], row: TrialRow) -> list[str]:
    """What was on the screen in recordings; one whose start is cut is listed, since what is absent may have happened."""
    texts = []
    for name in names:
        raw = row.text(folder / "sessions" / name, _LARGEST_RECORDING)
        recording = read_recording(raw) if raw.strip() else None
        if recording is None and raw.strip():
            row.lacks(folder / "sessions" / name, "it is no recording that can be read")
        elif recording is not None:
            texts.append(recording.text)
            if recording.is_cut:
                row.lacks(folder / "sessions" / name, "its start is cut off")
    return texts


def _usage(result: Mapping[str, Any], session: AgentSession | None) -> dict[str, Any] | None:
    """Tokens as the harness counts them; where it counted none, as the agent does."""
    counted = {"input_tokens": result.get("total_input_tokens"), "output_tokens": result.get("total_output_tokens")}
    if any(counted.values()):
        return counted
    stated = json_object(session.about.get("usage")) if session is not None else {}
    return {name: stated[name] for name in counted if cells.count(stated.get(name))} or None


def _about(path: Path) -> dict[str, Any]:
    """What the metadata and the lock file say of the run; the metadata are believed first."""
    metadata, lock = (
        json_object(read_json(path / "run_metadata.json", path)[0]),
        json_object(read_json(path / "tb.lock", path)[0]),
    )
    agent = json_object(lock.get("agent"))
    named = {"agent_name": agent.get("name"), "model_name": agent.get("model_name")}
    return json_object(lock.get("run_config")) | named | {k: v for k, v in metadata.items() if v is not None}


def facts(path: Path) -> RunFacts:
    """What the run's own files say: agent, model, limits, the tasks that it should have, its own score."""
    run = TerminalBenchRun(path)
    tasks, attempts = run.about.get("task_ids"), cells.integer(run.about.get("n_attempts")) or 1
    accuracy = cells.number(run.summary.get("accuracy"))
    return RunFacts(
        benchmark=cells.text(run.about.get("dataset_name")) or "terminal-bench",
        model=cells.text(run.about.get("model_name")),
        agent=cells.text(run.about.get("agent_name")),
        settings={name: f"{value:g}" for name in _SETTINGS if (value := cells.number(run.about.get(name))) is not None},
        expected={str(task): attempts for task in tasks} if isinstance(tasks, list) and tasks else None,
        source="run_metadata.json",
        recorded={"accuracy": accuracy} if accuracy is not None else {},
        note="; ".join(_disagreements(run)),
    )


def _disagreements(run: TerminalBenchRun) -> list[str]:
    """Where the run's own files contradict each other, with both figures."""
    notes = []
    one, other = cells.number(run.about.get("accuracy")), cells.number(run.summary.get("accuracy"))
    if one is not None and other is not None and one != other:
        notes.append(f"run_metadata.json says accuracy {one:g}, results.json {other:g}")
    stated = cells.integer(run.summary.get("n_resolved"))
    counted = sum(result.get("is_resolved") is True for result in run.results)
    if stated is not None and run.results and stated != counted:
        notes.append(f"results.json says n_resolved {stated}, and {counted} of its results are resolved")
    return notes


FORMAT = folder_format(name="terminal-bench", order=20, owns=owns, run_folder=TerminalBenchRun, facts=facts)
