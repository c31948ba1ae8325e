"""Traces in OTLP/JSON with the semantic conventions for generative AI: a trace is a rollout."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.ingest import cells
from blade.ingest.fields import ID_NAMES
from blade.ingest.folder_files import json_object, read_json
from blade.ingest.folder_formats import TrialRow, folder_format, read_events
from blade.ingest.formats import FileHead, RunFacts
from blade.ingest.trajectories.items import Item, call, message, reasoning, result, text_of

_MARK = b'"resourceSpans"'
_NANO = 1e9
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue")
_SCORE = "gen_ai.evaluation.score.value"
_LABEL = "gen_ai.evaluation.score.label"
_PASSED = ("pass", "passed", "correct", "true", "yes")
_FAILED = ("fail", "failed", "incorrect", "false", "no")
_FAILED_STATUS = (2, "STATUS_CODE_ERROR")
_REWARDS = ("reward", "score", "eval.score", "evaluation.score")

Span = Mapping[str, Any]


def recognizes(head: FileHead) -> bool:
    """The name under which every OTLP document holds its spans."""
    return _MARK in head.start[:4096]


class Traces:
    """The spans of a file by trace; a collector writes one document a line, an exporter one in all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.traces: dict[str, list[dict[str, Any]]] = {}
        self.broken: dict[str, str] = {}
        for document in _documents(path, self.broken):
            for resource in _list(document.get("resourceSpans")):
                about = _attributes(json_object(resource.get("resource")))
                for scope in _list(resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans")):
                    for span in _list(scope.get("spans")):
                        known = {**span, "attributes": _attributes(span), "resource": about}
                        self.traces.setdefault(str(span.get("traceId")), []).append(known)
        for spans in self.traces.values():
            spans.sort(
                key=lambda span: (int(cells.number(span.get("startTimeUnixNano")) or 0), str(span.get("spanId")))
            )

    def members(self) -> list[str]:
        return sorted(self.traces, key=lambda name: (self.traces[name][0].get("startTimeUnixNano") or "", name))

    def row(self, member: str) -> TrialRow:
        """The talk with the models, the calls of tools and what they gave, and the evaluation of the trace."""
        spans = self.traces[member]
        root = next((span for span in spans if not span.get("parentSpanId")), spans[0])
        attributes: dict[str, Any] = {**root["resource"], **root["attributes"]}
        every = [span["attributes"] for span in spans]
        prompt, items = _talk(spans)
        started, ended = _bounds(spans)
        row = TrialRow(root=self.path, values=_by_last_name(attributes))
        row.values |= {
            "task_id": _task(every, attributes) or member,
            "trace_id": member,
            "reward": _reward(spans),
            "model": _first(every, "gen_ai.response.model", "gen_ai.request.model"),
            "agent_name": _first(every, "gen_ai.agent.name") or attributes.get("service.name"),
            "responses_create_params": {"input": prompt} if prompt else None,
            "response": {"output": items},
            "usage": _usage(every),
            "seconds": (ended - started) / _NANO if ended > started else None,
            "error": _error(root),
            "stop_reason": _stop(every),
        }
        return row


def _documents(path: Path, broken: dict[str, str]) -> Iterator[dict[str, Any]]:
    whole, _ = read_json(path, None) if path.suffix == ".json" else (None, "")
    if isinstance(whole, dict):
        yield whole
    else:
        yield from read_events(path, broken)


def _list(value: object) -> list[dict[str, Any]]:
    return [json_object(one) for one in value] if isinstance(value, list) else []


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {str(one.get("key")): _value(json_object(one.get("value"))) for one in _list(holder.get("attributes"))}


def _value(value: Mapping[str, Any]) -> Any:
    """A value of OTLP; whole numbers stand in texts there."""
    if "intValue" in value:
        return cells.integer(value["intValue"])
    if "arrayValue" in value:
        return [_value(one) for one in _list(json_object(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        return {
            one.get("key"): _value(json_object(one.get("value")))
            for one in _list(json_object(value["kvlistValue"]).get("values"))
        }
    return next((value[name] for name in _VALUES if name in value), None)


def _by_last_name(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes under names that are no paths, those of the conventions left out: what the harness adds may be slices."""
    return {
        name.replace(".", "_"): value
        for name, value in attributes.items()
        if not name.startswith(("gen_ai.", "telemetry.", "process.", "os.", "host."))
    }


def _task(every: Sequence[Mapping[str, Any]], root: Mapping[str, Any]) -> str | None:
    """The id of the task: an attribute whose last name, or last two, is that of an id."""
    for attributes in (root, *every):
        for wanted in ID_NAMES:
            for name, value in attributes.items():
                ending = "_".join(name.rsplit(".", 2)[-2:])
                if value is not None and wanted in (ending, name) and wanted not in ("id", "uuid"):
                    return str(value)
    return None


def _first(every: Sequence[Mapping[str, Any]], *names: str) -> Any:
    return next((a[name] for name in names for a in every if a.get(name) is not None), None)


def _bounds(spans: Sequence[Span]) -> tuple[float, float]:
    starts = [cells.number(span.get("startTimeUnixNano")) or 0.0 for span in spans]
    ends = [cells.number(span.get("endTimeUnixNano")) or 0.0 for span in spans]
    return min(starts, default=0.0), max(ends, default=0.0)


def _reward(spans: Sequence[Span]) -> float | None:
    """The score of an evaluation event, or an attribute that is named as one; the last one counts."""
    found: float | None = None
    for span in spans:
        events = [_attributes(event) for event in _list(span.get("events"))]
        for attributes in (span["attributes"], *events):
            value = attributes.get(_SCORE)
            label = str(attributes.get(_LABEL) or "").lower()
            if value is None and label:
                value = 1.0 if label in _PASSED else 0.0 if label in _FAILED else None
            if value is None:
                value = next((attributes[name] for name in _REWARDS if attributes.get(name) is not None), None)
            number = float(value) if isinstance(value, bool) else cells.number(value)
            found = number if number is not None else found
    return found


def _usage(every: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    """Tokens of the calls of models; an agent's span repeats the sum of them."""
    models = [a for a in every if a.get("gen_ai.operation.name") not in ("invoke_agent", "create_agent")]
    spent = {
        name: sum(cells.count(a.get(f"gen_ai.usage.{name}")) or 0 for a in models)
        for name in ("input_tokens", "output_tokens")
    }
    return spent if any(spent.values()) else None


def _error(root: Span) -> str | None:
    status = json_object(root.get("status"))
    if status.get("code") not in _FAILED_STATUS:
        return None
    return str(root["attributes"].get("error.type") or status.get("message") or "error")


def _stop(every: Sequence[Mapping[str, Any]]) -> str | None:
    reasons = next(
        (a["gen_ai.response.finish_reasons"] for a in reversed(every) if a.get("gen_ai.response.finish_reasons")), None
    )
    return str(reasons[-1]) if isinstance(reasons, list) and reasons else None


def _talk(spans: Sequence[Span]) -> tuple[list[Item], list[Item]]:
    """The prompt of the first call of a model, and everything after it, each message once."""
    prompt: list[Item] = []
    items: list[Item] = []
    called: set[str] = set()
    for span in spans:
        attributes, actor = span["attributes"], span["attributes"].get("gen_ai.agent.name")
        given, answered = _messages(span, "input"), _messages(span, "output")
        if given and not items and not prompt:
            prompt = [item for one in given for item in _parts(one, None)]
        for item in (item for one in answered for item in _parts(one, actor)):
            if item["type"] == "function_call":
                called.add(str(item["call_id"]))
            items.append(item)
        if attributes.get("gen_ai.operation.name") == "execute_tool" or attributes.get("gen_ai.tool.name"):
            items += _tool(span, called, actor)
    return prompt, items


def _tool(span: Span, called: set[str], actor: str | None) -> Iterator[Item]:
    attributes = span["attributes"]
    name = str(attributes.get("gen_ai.tool.name") or "")
    call_id = str(attributes.get("gen_ai.tool.call.id") or span.get("spanId"))
    if call_id not in called:
        yield call(name, attributes.get("gen_ai.tool.call.arguments"), call_id, actor)
    failed = json_object(span.get("status")).get("code") in _FAILED_STATUS
    yield result(text_of(attributes.get("gen_ai.tool.call.result")), call_id, failed=failed, actor=actor)


def _messages(span: Span, side: str) -> list[dict[str, Any]]:
    """The messages of a side: an attribute, as text or structure, or events as older versions have them."""
    value = span["attributes"].get(f"gen_ai.{side}.messages")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    found = _list(value)
    wanted = ("gen_ai.choice",) if side == "output" else ("gen_ai.system.message", "gen_ai.user.message")
    for event in _list(span.get("events")) if not found else ():
        attributes = _attributes(event)
        if event.get("name") in wanted:
            role = "assistant" if side == "output" else str(event["name"]).split(".")[1]
            found.append(
                {
                    "role": attributes.get("role") or role,
                    "content": attributes.get("content") or attributes.get("message"),
                }
            )
    return found


def _parts(one: Mapping[str, Any], actor: str | None) -> Iterator[Item]:
    role = str(one.get("role") or "assistant")
    if not isinstance(one.get("parts"), list):
        yield message(role, text_of(one.get("content")), actor)
        return
    for part in _list(one["parts"]):
        kind = part.get("type")
        if kind == "tool_call":
            yield call(str(part.get("name") or ""), part.get("arguments"), part.get("id"), actor)
        elif kind == "tool_call_response":
            yield result(text_of(part.get("response", part.get("result"))), part.get("id"), actor=actor)
        elif kind == "reasoning":
            yield reasoning(text_of(part.get("content")), actor)
        elif text := text_of(part):
            yield message(role, text, actor)


def facts(path: Path) -> RunFacts:
    """A trace says everything of itself."""
    return RunFacts(source="otlp")


FORMAT = folder_format(name="otlp", order=5, run_folder=Traces, facts=facts, recognizes=recognizes)
