"""One row of a JSONL artifact to a light row: every foreign name is resolved here, once."""

from __future__ import annotations

import math
import re
import zlib
from functools import cache
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from blade.core.finding import Look
from blade.core.rollout import Features, Outcome, Rollout, RolloutKey, Source, Step
from blade.ingest import checks, fields
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.key import key_expects
from blade.ingest.light import Light
from blade.ingest.steps import after_prompt, before_agent, count, fingerprint, read_steps

LONGEST_ANSWER = 200
LONGEST_CLASS = 80
LONGEST_EXTRA = 48
LARGEST_METADATA = 4096
TOLERANCE = 1e-9

T = TypeVar("T")

_RAW = msgspec.Raw()
_RESULT_WORDS = re.compile(
    r"score|reward|passed|status|result|step|finished|traject|verdict|correct|error|output|log", re.IGNORECASE
)
_NULL = b"null"


class _Params(msgspec.Struct, gc=False):
    input: msgspec.Raw = _RAW
    metadata: msgspec.Raw = _RAW
    model: Any = None
    temperature: Any = None
    top_p: Any = None
    max_output_tokens: Any = None
    tools: msgspec.Raw = _RAW


class _Usage(msgspec.Struct, gc=False):
    input_tokens: Any = None
    prompt_tokens: Any = None
    output_tokens: Any = None
    completion_tokens: Any = None


class _Response(msgspec.Struct, gc=False):
    output: msgspec.Raw = _RAW
    usage: Any = None
    model: Any = None
    status: Any = None
    error: Any = None
    incomplete_details: Any = msgspec.UNSET
    metadata: Any = None
    stop_reason: Any = None
    temperature: Any = None
    top_p: Any = None
    max_output_tokens: Any = None


_params = msgspec.json.Decoder(_Params)
_response = msgspec.json.Decoder(_Response)
_NO_PARAMS = _Params()
_NO_RESPONSE = _Response()

_EVIDENCE_OF_A_ROLLOUT = ("reward", "score", "response", "messages", "output", "trajectory", "_ng_failure_class")

_TAKEN = frozenset(
    path.split(".")[0] for field in fields.TABLE for path in field.paths if path not in fields.KNOWN_SLICES
) | {
    "seed",
    "response",
    "responses_create_params",
    "agent_ref",
    "skills_ref",
    "usage",
    "created_at",
    "created",
    "timestamp",
}


class Settings(msgspec.Struct, frozen=True):
    """What the rows say about how the run was made; a run that changes it halfway has several."""

    agent: str | None
    model: str | None
    skills: str | None
    values: tuple[tuple[str, str], ...]


class RowReader:
    """Reads rows of one artifact. `settings` and `tools` gather what belongs to the run, not to a row."""

    def __init__(self, *, role: str, threshold: float, look: Look | None, trajectories: bool) -> None:
        self.role = role
        self.threshold = threshold
        self.look = look
        self.trajectories = trajectories
        self.tools: dict[str, int] = {}
        self.settings: dict[Settings, int] = {}
        self._prompts: dict[bytes, int | None] = {}
        self._toolsets: dict[tuple[int, int], str] = {}

    def read(self, row: Row, source: Source) -> tuple[Light | None, str | None]:
        """The light row, and what is odd about it; no light row when the row is no rollout (the reason is given)."""
        if self.role == "rollouts" and not is_rollout(row):
            return None, "no reward or score, and no response, messages or output: not a rollout"
        params = _decode(_params, row.get("responses_create_params"), _NO_PARAMS)
        response = _decode(_response, row.get("response"), _NO_RESPONSE)
        light = Light(
            role=self.role, line=source.line, member=source.member, offset=source.offset, length=source.length
        )
        self._identify(light, row, params, response)
        self._task(light, row, params)
        if self.role == "inputs":
            return light, None
        odd = self._judge(light, row, response)
        self._usage(light, row, response)
        light.answer, light.answer_fp = _answer(row)
        light.checks = checks.read_checks(lambda name: _value(row, name))
        raw = _trajectory(row, response)
        steps = steps_of(row, raw) if self.trajectories and raw else None
        features = self._walk(light, steps)
        error = _error(row, response)
        light.outcome, light.error_class = self._outcome(light, error, response, raw)
        if self.look is not None:
            seen = self.look(_rollout(light, row, source, steps, features, error), bytes(raw))
            light.fired, light.cannot_look = seen.hits, seen.cannot_look
        self._note_settings(light, params, response)
        return light, odd

    def _identify(self, light: Light, row: Row, params: _Params, response: _Response) -> None:
        light.index = _integer(_first(row, fields.BY_NAME["index"].paths))
        light.repeat = _integer(_first(row, fields.BY_NAME["repeat"].paths))
        light.attempt = _integer(_first(row, ("_ng_attempt_index",)))
        light.agent = _name(row.get("agent_ref")) or _scalar_text(_first(row, ("agent", "agent_name", "harness")))
        light.model = _text(response.model) or _text(_first(row, ("model", "model_name"))) or _text(params.model)
        light.skills = _name(row.get("skills_ref"), "hash")
        light.id, light.id_name = _task_name(row, params)

    def _task(self, light: Light, row: Row, params: _Params) -> None:
        for name in fields.KEY_NAMES:
            raw = row.get(name)
            if raw is not None and raw != _NULL:
                light.keys[name] = _fingerprint(name, raw)
        light.prompt_fp = self._prompt(row, params)
        light.expected = _expected(row)
        light.key_expects = _key_expects(row)
        light.extras = _extras(row)

    def _prompt(self, row: Row, params: _Params) -> int | None:
        raw: bytes | msgspec.Raw = params.input or row.get("prompt") or row.get("input") or row.get("messages") or b""
        if not raw or raw == _NULL:
            return None
        seen = blake2b(raw, digest_size=16).digest()
        if seen not in self._prompts:
            if len(self._prompts) > 4096:
                self._prompts.clear()
            self._prompts[seen] = _prompt_fp(decode_any(raw))
        return self._prompts[seen]

    def _judge(self, light: Light, row: Row, response: _Response) -> str | None:
        raw = row.get("reward", row.get("score"))
        light.stop = _stop(row, response)
        if raw is None or raw == _NULL:
            return None
        value = decode_any(raw)
        if isinstance(value, bool | int | float) and _finite(value):
            light.reward = float(value)
            return None
        return f"reward is {_shown(value)}, not a finite number: the rollout is not scored"

    def _outcome(
        self, light: Light, error: str | None, response: _Response, raw: msgspec.Raw
    ) -> tuple[str, str | None]:
        kind = error.splitlines()[0][:LONGEST_CLASS] if error else None
        if self.role == "failures":
            return Outcome.ERRORED, kind or "failure"
        if light.reward is None:
            return (Outcome.ERRORED, kind) if error else (Outcome.UNSCORED, None)
        broken = response.error is not None or response.status == "failed"
        if light.reward <= 0 and broken and not _agent_spoke(raw):
            return Outcome.ERRORED, kind or "response failed"
        return outcome_of(light.reward, self.threshold), kind

    def _usage(self, light: Light, row: Row, response: _Response) -> None:
        usage = response.usage if isinstance(response.usage, dict) else _value(row, "usage")
        if isinstance(usage, dict):
            spent_in = _count(usage.get("input_tokens", usage.get("prompt_tokens")))
            spent_out = _count(usage.get("output_tokens", usage.get("completion_tokens")))
            if spent_in or spent_out:
                light.input_tokens, light.output_tokens = spent_in, spent_out
        light.seconds = _number(_first(row, fields.BY_NAME["seconds"].paths))
        light.cost = _number(_first(row, fields.BY_NAME["cost"].paths))

    def _walk(self, light: Light, steps: tuple[Step, ...] | None) -> Features | None:
        if steps is None:
            return None
        features = count(steps, light.stop)
        light.steps, light.calls = features.steps, features.calls
        light.tool_errors, light.agent_chars = features.tool_errors, features.agent_chars
        light.output_fp = fingerprint(steps)
        light.skeleton = [self.tools.setdefault(s.tool or "", len(self.tools)) for s in steps if s.kind == "call"]
        return features

    def _note_settings(self, light: Light, params: _Params, response: _Response) -> None:
        values = []
        for name in ("temperature", "top_p", "max_output_tokens"):
            value = getattr(params, name)
            value = getattr(response, name) if value is None else value
            if isinstance(value, int | float):
                values.append((name, f"{value:g}"))
        if params.tools:
            values.append(("tools", self._toolset(params.tools)))
        settings = Settings(light.agent, light.model, light.skills, tuple(values))
        self.settings[settings] = self.settings.get(settings, 0) + 1

    def _toolset(self, raw: msgspec.Raw) -> str:
        seen = (len(bytes(raw)), zlib.crc32(raw))
        if seen not in self._toolsets:
            value = decode_any(raw)
            known = isinstance(value, list) and value
            digest = blake2b(encode(value), digest_size=4).hexdigest()
            self._toolsets[seen] = f"{len(value)} tools ({digest})" if known else "none"  # type: ignore[arg-type]
        return self._toolsets[seen]


def is_rollout(row: Row) -> bool:
    """Whether a row holds a verdict or anything that an agent said."""
    return any(name in row for name in _EVIDENCE_OF_A_ROLLOUT)


def outcome_of(reward: float, threshold: float) -> Outcome:
    """Passed or failed, with a tolerance that 0.9999999999999998 needs."""
    return Outcome.PASSED if reward >= threshold - TOLERANCE else Outcome.FAILED


def steps_of(row: Row, raw: bytes | msgspec.Raw) -> tuple[Step, ...]:
    """The steps of a row's trajectory; of chat messages, those from the agent's first turn on."""
    if raw is row.get("messages"):
        messages = decode_any(raw)
        return read_steps(encode(after_prompt(messages))) if isinstance(messages, list) else read_steps(raw)
    return read_steps(raw)


def rollout_of(row: Row, light: Light, key: RolloutKey, source: Source) -> Rollout:
    """The rollout of a row that was read again, with its steps."""
    raw = _trajectory(row, _decode(_response, row.get("response"), _NO_RESPONSE))
    steps = steps_of(row, raw) if raw else None
    error = _error(row, _decode(_response, row.get("response"), _NO_RESPONSE))
    rollout = _rollout(light, row, source, steps, count(steps, light.stop) if steps is not None else None, error)
    return msgspec.structs.replace(rollout, key=key)


def _rollout(
    light: Light,
    row: Row,
    source: Source,
    steps: tuple[Step, ...] | None,
    features: Features | None,
    error: str | None,
) -> Rollout:
    return Rollout(
        key=RolloutKey(run="", task_id=light.id or str(light.index), repeat=light.repeat or 0),
        outcome=Outcome(light.outcome or Outcome.UNSCORED),
        reward=light.reward,
        answer=light.answer,
        expected=light.expected,
        stop=light.stop,
        error=error,
        tokens=light.output_tokens,
        seconds=light.seconds,
        source=source,
        features=features,
        read_steps=None if steps is None else lambda: steps,
        read_row=lambda: {name: decode_any(raw) for name, raw in row.items()},
    )


def _decode(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw | None, nothing: T) -> T:
    if raw is None:
        return nothing
    try:
        return decoder.decode(raw)
    except msgspec.MsgspecError:
        return nothing


def _value(row: Row, name: str) -> Any:
    raw = row.get(name)
    return None if raw is None else decode_any(raw)


def _path(row: Row, path: str) -> Any:
    """The value at a dotted path; None when any part of it is absent."""
    top, *rest = path.split(".")
    value = _value(row, top)
    for name in rest:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _first(row: Row, names: tuple[str, ...]) -> Any:
    for name in names:
        raw = row.get(name)
        if raw is not None and raw != _NULL:
            return decode_any(raw)
    return None


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and _finite(value) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _scalar_text(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def _shown(value: object) -> str:
    text = bytes(encode(value)).decode()
    return text if len(text) <= 40 else text[:37] + "..."


def _name(raw: msgspec.Raw | None, field: str = "name") -> str | None:
    value = None if raw is None else decode_any(raw)
    return _text(value.get(field)) if isinstance(value, dict) else None


def _task_name(row: Row, params: _Params) -> tuple[str | None, str | None]:
    for name in fields.ID_NAMES:
        found = _scalar_text(_value(row, name)) if name in row else None
        if found is not None:
            return found, name
    metadata = decode_any(params.metadata) if params.metadata else None
    if isinstance(metadata, dict):
        for name in fields.ID_NAMES:
            found = _scalar_text(metadata.get(name))
            if found is not None:
                return found, f"responses_create_params.metadata.{name}"
    return None, None


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def _fingerprint(name: str, raw: msgspec.Raw) -> int:
    value = decode_any(raw)
    if isinstance(value, str):
        return _hash(value.strip().encode("utf-8", "replace"))
    if name == "verifier_metadata" and isinstance(value, dict):
        value = {key: item for key, item in value.items() if not _RESULT_WORDS.search(key)}
    return _hash(encode(value))


def _prompt_fp(value: object) -> int | None:
    """Fingerprint of the prompt up to the agent's first turn, white space collapsed; None when it is empty."""
    messages = before_agent(value) if isinstance(value, list) else [value]
    text = "\x00".join(_message_text(message) for message in messages)
    return _hash(" ".join(text.split()).encode("utf-8", "replace")) if text.strip("\x00 \n\t") else None


def _message_text(message: object) -> str:
    if isinstance(message, str):
        return message
    if not isinstance(message, dict):
        return "" if message is None else bytes(encode(message)).decode()
    content = message.get("content", message.get("value"))
    if isinstance(content, list):
        return "\n".join(_message_text(part.get("text", part) if isinstance(part, dict) else part) for part in content)
    return content if isinstance(content, str) else bytes(encode(message)).decode()


def _expected(row: Row) -> str | None:
    for name in fields.BY_NAME["expected"].paths:
        value = _value(row, name) if name in row else None
        if value is not None and not (isinstance(value, list) and value and isinstance(value[0], dict)):
            return _as_text(value)[:LONGEST_ANSWER]
    return None


def _answer(row: Row) -> tuple[str | None, int | None]:
    for name in fields.BY_NAME["answer"].paths:
        if name not in row or (name == "answer" and not _has_other_key(row)):
            continue
        value = _value(row, name)
        if value is not None:
            text = _as_text(value)
            return text[:LONGEST_ANSWER], _hash(text.encode("utf-8", "replace")) if text else None
    return None, None


def _has_other_key(row: Row) -> bool:
    """`answer` is the model's where something else is the key; alone, it is the key."""
    return any(name in row for name in fields.BY_NAME["expected"].paths if name != "answer")


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else bytes(encode(value)).decode()


def _key_expects(row: Row) -> str | None:
    actions = _at(row, fields.BY_NAME["expected_actions"].paths)
    if actions is None:
        return None
    return key_expects(actions, _at(row, fields.BY_NAME["expected_statements"].paths))


def _at(row: Row, paths: tuple[str, ...]) -> object:
    for path in paths:
        if path.partition(".")[0] in row:
            value = _path(row, path)
            if value is not None:
                return value
    return None


@cache
def _may_be_slice(name: str) -> bool:
    return name not in _TAKEN and not name.startswith("_") and not fields.is_verdict(name)


def _extras(row: Row) -> dict[str, str]:
    """Small values that may turn out to be slices, as JSON text."""
    found = {}
    for name, raw in row.items():
        if name in fields.METADATA_NAMES:
            found.update(_metadata_extras(name, raw))
        elif _may_be_slice(name):
            text = bytes(raw)
            if len(text) <= LONGEST_EXTRA and text[:1] not in b"{[n":
                found[name] = text.decode()
    return found


def _metadata_extras(name: str, raw: msgspec.Raw) -> dict[str, str]:
    value = decode_any(raw) if len(bytes(raw)) <= LARGEST_METADATA else None
    if not isinstance(value, dict):
        return {}
    small = {key: item for key, item in value.items() if isinstance(item, str | int | float) and _may_be_slice(key)}
    texts = {f"{name}.{key}": bytes(encode(item)).decode() for key, item in small.items() if key not in fields.ID_NAMES}
    return {key: text for key, text in texts.items() if len(text) <= LONGEST_EXTRA}


def _error(row: Row, response: _Response) -> str | None:
    for path in fields.BY_NAME["error"].paths:
        value = response.error if path == "response.error" else _value(row, path)
        found = _error_text(value)
        if found is not None:
            return found
    return None


def _error_text(value: object) -> str | None:
    if isinstance(value, dict):
        value = next(
            (value[n] for n in ("type", "code", "class", "exception_type", "message") if value.get(n)), "error"
        )
    if value is None or value is False or value in ("", "none", "None", "null"):
        return None
    return _as_text(value).strip() or None


def _stop(row: Row, response: _Response) -> str | None:
    details = response.incomplete_details
    if isinstance(details, dict) and _text(details.get("reason")):
        return _text(details.get("reason"))
    found = _text(_first(row, ("stop_reason", "finish_reason", "termination_reason")))
    if found:
        return found
    metadata = response.metadata if isinstance(response.metadata, dict) else {}
    whole = response.status == "completed" or details is None
    return _text(metadata.get("stop_reason")) or _text(response.stop_reason) or ("completed" if whole else None)


def _trajectory(row: Row, response: _Response) -> msgspec.Raw:
    if response.output and response.output != _NULL:
        return response.output
    whole = row.get("response")
    if whole is not None and bytes(whole)[:1] in b'"[':
        return whole
    for name in fields.BY_NAME["trajectory"].paths[1:]:
        raw = row.get(name)
        if raw is not None and raw != _NULL:
            return raw
    return _RAW


def _agent_spoke(raw: msgspec.Raw) -> bool:
    steps = read_steps(raw) if raw else ()
    return any(step.party == "agent" and (step.kind == "call" or step.text.strip()) for step in steps)
