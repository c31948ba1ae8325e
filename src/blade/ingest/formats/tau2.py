"""Results of tau2-bench: one document with tasks and simulations, or a folder with a document a simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blade.ingest import cells
from blade.ingest.folder_files import FolderListing, json_object, listing, read_json
from blade.ingest.folder_formats import TrialRow, folder_format
from blade.ingest.formats import FileHead, RunFacts
from blade.ingest.trajectories.items import Item, call, message, result, text_of

_FOLDER = "simulations"
_RESULTS = "results.json"
_USER = "user"
_SETTINGS = ("num_trials", "max_steps", "max_errors", "seed")


def recognizes(head: FileHead) -> bool:
    """A document that lists simulations and says of what tasks."""
    text = head.start.lstrip()
    return text.startswith(b"{") and b'"simulations"' in text and b'"tasks"' in text and not head.rows


def owns(here: FolderListing) -> bool:
    """A folder with the results of a run and its simulations beside them."""
    return (
        _RESULTS in here.files
        and _FOLDER in here.folders
        and any(name.endswith(".json") for name in listing(here.path / _FOLDER, here.path).files)
    )


class Simulations:
    """A run: its tasks and settings, and the simulations in the document or beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        value, self.reason = read_json(path / _RESULTS, path) if path.is_dir() else read_json(path, None)
        self.broken = {path.name: self.reason} if self.reason else {}
        self.document = json_object(value)
        self.info = json_object(self.document.get("info"))
        tasks = self.document.get("tasks")
        self.tasks = {str(task.get("id")): task for task in map(json_object, tasks if isinstance(tasks, list) else [])}

    def members(self) -> list[str]:
        if self.path.is_dir():
            names = listing(self.path / _FOLDER, self.path).files
            return [f"{_FOLDER}/{name}" for name in names if name.endswith(".json")]
        return [f"{_FOLDER}[{place}]" for place in range(len(self._listed()))]

    def _listed(self) -> list[Any]:
        listed = self.document.get(_FOLDER)
        return listed if isinstance(listed, list) else []

    def row(self, member: str) -> TrialRow:
        """The simulation under the names that rows have, with its task and the models of both sides."""
        row = TrialRow(root=self.path)
        simulation = self._simulation(member, row)
        task = json_object(self.tasks.get(str(simulation.get("task_id"))) or simulation.get("task"))
        agent, user = json_object(self.info.get("agent_info")), json_object(self.info.get("user_info"))
        environment = json_object(self.info.get("environment_info"))
        if not simulation:
            return row
        kept = {name: value for name, value in simulation.items() if name not in ("id", "messages", "trial")}
        row.values |= kept | {
            "task_id": str(simulation.get("task_id")),
            "repeat": cells.integer(simulation.get("trial")),
            "reward": cells.number(json_object(simulation.get("reward_info")).get("reward")),
            "agent_name": agent.get("implementation"),
            "model": agent.get("llm"),
            "user_model": user.get("llm"),
            "domain": environment.get("domain_name"),
            "task": task or None,
            "expected_actions": json_object(task.get("evaluation_criteria")).get("actions"),
            "cost": simulation.get("agent_cost"),
            "response": {"output": list(_items(simulation.get("messages")))},
            "usage": _usage(simulation.get("messages")),
        }
        if isinstance(environment.get("policy"), str):
            row.values["responses_create_params"] = {"input": [message("system", environment["policy"])]}
        return row

    def _simulation(self, member: str, row: TrialRow) -> Mapping[str, Any]:
        if not self.path.is_dir():
            return json_object(self._listed()[int(member.partition("[")[2].rstrip("]"))])
        return json_object(row.json(self.path / member))


def _items(messages: object) -> Iterator[Item]:
    """The talk; who asked for a call is kept, since the simulated user has tools of its own in some domains."""
    for one in map(json_object, messages if isinstance(messages, list) else []):
        if isinstance(one.get("tool_messages"), list):
            yield from _items(one["tool_messages"])
            continue
        role, text = str(one.get("role")), text_of(one.get("content"))
        actor = _USER if one.get("requestor") == _USER or role == _USER else None
        if role == "tool":
            yield result(text, one.get("tool_call_id") or one.get("id"), failed=one.get("error") is True, actor=actor)
            continue
        if text:
            yield message(role, text)
        for made in map(json_object, one.get("tool_calls") or []):
            by_user = actor or (_USER if made.get("requestor") == _USER else None)
            yield call(str(made.get("name") or ""), made.get("arguments"), made.get("id"), by_user)


def _usage(messages: object) -> dict[str, int] | None:
    """Tokens of the agent's own turns: the simulated user's are not the agent's."""
    turns = [json_object(one) for one in messages] if isinstance(messages, list) else []
    spent = [json_object(one.get("usage")) for one in turns if one.get("role") == "assistant"]
    if not any(spent):
        return None
    return {
        "input_tokens": sum(cells.count(one.get("prompt_tokens")) or 0 for one in spent),
        "output_tokens": sum(cells.count(one.get("completion_tokens")) or 0 for one in spent),
    }


def facts(path: Path) -> RunFacts:
    """The domain, the models of both sides, and the tasks that the run should have."""
    run = Simulations(path)
    trials = cells.integer(run.info.get("num_trials")) or 1
    agent, user = json_object(run.info.get("agent_info")), json_object(run.info.get("user_info"))
    settings = {name: f"{value:g}" for name in _SETTINGS if (value := cells.number(run.info.get(name))) is not None}
    return RunFacts(
        benchmark=cells.text(json_object(run.info.get("environment_info")).get("domain_name")),
        model=cells.text(agent.get("llm")),
        settings=settings | ({"user_model": str(user["llm"])} if user.get("llm") else {}),
        expected=dict.fromkeys(run.tasks, trials) or None,
        source=_RESULTS,
    )


FORMAT = folder_format(name="tau2", order=23, owns=owns, run_folder=Simulations, facts=facts, recognizes=recognizes)
