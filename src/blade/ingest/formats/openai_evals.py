"""Logs of OpenAI evals: events of many samples in one file, with the specification first and the final report among them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade.ingest import cells
from blade.ingest.folder_files import json_object
from blade.ingest.folder_formats import TrialRow, folder_format, read_events
from blade.ingest.formats import FileHead, RunFacts
from blade.ingest.trajectories.items import message, text_of

_OF_AN_EVENT = ("sample_id", "type", "data")
_SCORED = ("match", "metrics")
_ASKED = "sampling"
_VERDICTS = ("correct", "score", "accuracy", "choice_score")


def recognizes(head: FileHead) -> bool:
    """A specification, or events of samples."""
    spec = any("spec" in row and len(row) == 1 for row in head.rows)
    return spec or any(all(name in row for name in _OF_AN_EVENT) and "event_id" in row for row in head.rows)


class EventLog:
    """The events of a log by sample."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spec: Mapping[str, Any] = {}
        self.report: Mapping[str, Any] = {}
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.broken: dict[str, str] = {}
        for event in read_events(path, self.broken):
            self.spec = json_object(event.get("spec")) or self.spec
            self.report = json_object(event.get("final_report")) or self.report
            if event.get("sample_id") is not None:
                self.events.setdefault(str(event["sample_id"]), []).append(event)

    def members(self) -> list[str]:
        return list(self.events)

    def row(self, member: str) -> TrialRow:
        """What was asked and answered of a sample, and how it was judged."""
        row = TrialRow(root=self.path, values={"task_id": member})
        models = self.spec.get("completion_fns")
        row.values["model"] = models[0] if isinstance(models, list) and models else self.spec.get("model_name")
        reward: float | None = None
        for event in self.events.get(member, ()):
            data, kind = json_object(event.get("data")), event.get("type")
            if kind == _ASKED:
                prompt = data.get("prompt")
                row.values["responses_create_params"] = {"input": _messages(prompt)}
                sampled = data.get("sampled")
                texts = sampled if isinstance(sampled, list) else [sampled]
                row.values["response"] = {"output": [message("assistant", text_of(text)) for text in texts]}
            elif kind in _SCORED:
                row.values |= {name: value for name, value in data.items() if name not in ("correct", "score")}
                row.values["expected_answer"] = data.get("expected")
                row.values["extracted_answer"] = (
                    data.get("picked") if data.get("picked") is not None else data.get("sampled")
                )
                verdict = next((data[name] for name in _VERDICTS if name in data), None)
                reward = float(verdict) if isinstance(verdict, bool) else cells.number(verdict)
            elif kind == "error":
                row.values["error"] = text_of(data.get("message") or data.get("type") or "error")
        row.values["reward"] = reward
        return row


def _messages(prompt: object) -> list[dict[str, Any]]:
    if isinstance(prompt, list):
        return [
            message(str(one.get("role") or "user"), text_of(one.get("content"))) for one in map(json_object, prompt)
        ]
    return [message("user", text_of(prompt))]


def facts(path: Path) -> RunFacts:
    """The name of the eval, the model, and the accuracy of the final report."""
    log = EventLog(path)
    models = log.spec.get("completion_fns")
    accuracy = next((cells.number(log.report[name]) for name in ("accuracy", "score") if name in log.report), None)
    return RunFacts(
        benchmark=cells.text(log.spec.get("base_eval") or log.spec.get("eval_name")),
        model=cells.text(models[0]) if isinstance(models, list) and models else None,
        source="spec",
        recorded={"accuracy": accuracy} if accuracy is not None else {},
    )


FORMAT = folder_format(name="openai-evals", order=35, run_folder=EventLog, facts=facts, recognizes=recognizes)
