"""One row of a JSONL artifact to a light row: every foreign name is resolved here, once."""

from __future__ import annotations

import zlib
from functools import cache, lru_cache
from hashlib import blake2b

import msgspec

from blade.core.finding import Look
from blade.core.rollout import Features, Outcome, Rollout, RolloutKey, Source, Step
from blade.ingest import cells, fields, verdict
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.due import checks_of, read_due
from blade.ingest.features import count, fingerprint
from blade.ingest.key import key_expects
from blade.ingest.light import Light
from blade.ingest.marks import (
    Memo,
    hashed,
    key_fingerprint,
    metadata_fingerprint,
    prompt_fingerprint,
    prompt_raw,
    task_name,
)
from blade.ingest.request import Request, Response, read_request, read_response
from blade.ingest.steps import after_prompt, before_agent, read_steps

LONGEST_ANSWER = 200
LONGEST_EXTRA = 48
LARGEST_METADATA = 4096
MOST_TOOLS = 60_000
"""Different tool names that are told apart; the table counts them in 16 bits."""
OTHER_TOOLS = "(other tools)"

_RAW = msgspec.Raw()
_EVIDENCE_OF_A_ROLLOUT = ("reward", "score", "response", "messages", "output", "trajectory", "_ng_failure_class")
_SAMPLING = ("temperature", "top_p", "max_output_tokens")
_INDEXES = ("index", "repeat", "attempt")
_OUTCOMES = {str(outcome): outcome for outcome in Outcome}
_MOST_KEYS = 1024
_NO_SCALAR = b"{[n"
Paths = dict[str, tuple[str, ...]]
"""Of the field table, what the keys of a row can hold."""

_TAKEN = frozenset(
    path.split(".")[0] for field in fields.TABLE for path in field.paths if path not in fields.KNOWN_SLICES
) | {"seed", "agent_ref", "skills_ref", "usage", "created_at", "created", "timestamp"}


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
        self._prompt = Memo(prompt_fingerprint)
        self._key = Memo(key_fingerprint)
        self._metadata = Memo(metadata_fingerprint)
        self._wants: dict[tuple[bytes, ...], str | None] = {}
        self._agent = Memo(lambda raw: cells.inside(raw, "name"))
        self._said: dict[tuple[object, ...], Settings] = {}
        self._toolsets: dict[tuple[int, int], str] = {}

    def read(self, row: Row, source: Source) -> tuple[Light | None, str | None]:
        """The light row, and what is odd about it; no light row when the row is no rollout (the reason is given)."""
        if self.role == "rollouts" and not is_rollout(row):
            return None, "no reward or score, and no response, messages or output: not a rollout"
        paths = fields.applying(tuple(row))
        request = read_request(row.get("responses_create_params"))
        response = read_response(row.get("response"))
        light = Light(
            role=self.role,
            keys=self._keys(row, paths["key"]),
            prompt_fp=self._prompt(prompt) if (prompt := prompt_raw(row, request.input)) is not None else None,
            expected=_expected(row, paths["expected"]),
            key_expects=self._key_expects(row, paths) if paths["expected_actions"] else None,
            extras=_extras(row),
            member=source.member,
            offset=source.offset,
            length=source.length,
            line=source.line,
        )
        odd = self._identify(light, row, paths, request, response)
        if self.role in ("inputs", "dataset"):
            return light, odd
        odd = _both(odd, _judge(light, row, paths["reward"]))
        light.stop = verdict.stop_of(row, response)
        _spend(light, row, paths, response)
        if paths["answer"]:
            light.answer, light.answer_fp = _answer(row, paths)
        light.checks = [(check.name, check.passed) for check in checks_of(row)] or None
        self._follow(light, row, paths, response, source)
        self._note_settings(light, row, request, response)
        return light, odd

    def _identify(self, light: Light, row: Row, paths: Paths, request: Request, response: Response) -> str | None:
        reference = row.get("agent_ref")
        light.agent = self._agent(reference) if reference is not None else None
        if light.agent is None:
            light.agent = cells.name_text(cells.first(row, paths["agent"]))
        light.model = (
            cells.text(response.model) or cells.first_text(row, ("model", "model_name")) or cells.text(request.model)
        )
        light.skills = cells.inside(row["skills_ref"], "hash") if "skills_ref" in row else None
        light.id = task_name(row, request.metadata)
        odd = None
        for name in _INDEXES:
            if paths[name] and (found := cells.first(row, paths[name])) is not None:
                place = cells.integer(found)
                setattr(light, name, place)
                if place is None:
                    odd = _both(odd, f"{name} is {cells.shown(found)}, no place in an order: unused")
        return odd

    def _key_expects(self, row: Row, paths: Paths) -> str | None:
        """What the key wants; the repeats of a task ask for the same, so it is worked out once."""
        names = dict.fromkeys(
            path.partition(".")[0] for path in (*paths["expected_actions"], *paths["expected_statements"])
        )
        raws = tuple([bytes(row[name]) for name in names])
        if raws not in self._wants:
            if len(self._wants) >= _MOST_KEYS:
                self._wants.clear()
            self._wants[raws] = _key_expects(row, paths)
        return self._wants[raws]

    def _keys(self, row: Row, names: tuple[str, ...]) -> dict[str, int]:
        """A fingerprint of each of the task's own fields that says anything."""
        found = {}
        for name in names:
            mark = self._metadata(row[name]) if name == "verifier_metadata" else self._key(row[name])
            if mark is not None:
                found[name] = mark
        return found

    def _follow(self, light: Light, row: Row, paths: Paths, response: Response, source: Source) -> None:
        """Walk the trajectory, set the outcome, and let the rules look."""
        raw = _trajectory(row, response)
        steps = steps_of(row, raw) if self.trajectories and raw else None
        features = self._walk(light, steps)
        error = verdict.error_of(row, paths["error"], response)
        light.outcome, light.error_class = verdict.outcome(
            role=self.role,
            reward=light.reward,
            threshold=self.threshold,
            error=error,
            response=response,
            spoke=not verdict.is_broken(response) or _agent_spoke(row, raw, steps),
        )
        if self.look is not None:
            seen = self.look(_rollout(light, row, source, steps, features, error), bytes(raw))
            light.fired, light.cannot_look = seen.hits, seen.cannot_look
            light.differs, light.attempted, light.feedback = seen.differs, seen.attempted, seen.feedback

    def _walk(self, light: Light, steps: tuple[Step, ...] | None) -> Features | None:
        if steps is None:
            return None
        features = count(steps, light.stop)
        light.steps, light.calls = features.steps, features.calls
        light.tool_errors, light.agent_chars = features.tool_errors, features.agent_chars
        light.output_fp = fingerprint(steps)
        light.skeleton = [self._tool(step.tool or "") for step in steps if step.kind == "call"]
        return features

    def _tool(self, name: str) -> int:
        if name not in self.tools and len(self.tools) >= MOST_TOOLS:
            name = OTHER_TOOLS
        return self.tools.setdefault(name, len(self.tools))

    def _note_settings(self, light: Light, row: Row, request: Request, response: Response) -> None:
        raw = request.tools if cells.has(request.tools) else row.get("tools") or request.tools
        tools = self._toolset(raw) if raw else None
        asked = (request.temperature, request.top_p, request.max_output_tokens)
        used = (response.temperature, response.top_p, response.max_output_tokens)
        said = (light.agent, light.model, light.skills, tools, asked, used)
        try:
            settings = self._said.get(said)
        except TypeError:  # a setting that is a list or an object says nothing
            return
        if settings is None:
            sampling = [cells.number(one if one is not None else other) for one, other in zip(asked, used, strict=True)]
            settings = self._said[said] = _settings(light, tools, sampling)
        self.settings[settings] = self.settings.get(settings, 0) + 1

    def _toolset(self, raw: msgspec.Raw) -> str:
        seen = (len(memoryview(raw)), zlib.crc32(raw))
        if seen not in self._toolsets:
            value = decode_any(raw)
            digest = blake2b(encode(value), digest_size=4).hexdigest()
            self._toolsets[seen] = f"{len(value)} tools ({digest})" if isinstance(value, list) and value else "none"
        return self._toolsets[seen]


def is_rollout(row: Row) -> bool:
    """Whether a row holds a verdict or anything that an agent said."""
    return any(name in row for name in _EVIDENCE_OF_A_ROLLOUT)


def steps_of(row: Row, raw: bytes | msgspec.Raw) -> tuple[Step, ...]:
    """The steps of a row's trajectory; of chat messages, those from the agent's first turn on."""
    if raw is row.get("messages"):
        messages = decode_any(raw)
        return read_steps(encode(after_prompt(messages))) if isinstance(messages, list) else read_steps(raw)
    return read_steps(raw)


def rollout_of(row: Row, light: Light, key: RolloutKey, source: Source) -> Rollout:
    """The rollout of a row that was read again, with its steps."""
    response = read_response(row.get("response"))
    raw = _trajectory(row, response)
    steps = steps_of(row, raw) if raw else None
    features = count(steps, light.stop) if steps is not None else None
    paths = fields.applying(tuple(row))
    light.expected = _expected(row, paths["expected"])
    rollout = _rollout(light, row, source, steps, features, verdict.error_of(row, paths["error"], response))
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
        outcome=_OUTCOMES[light.outcome or "unscored"],
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
        read_prompt=lambda: prompt_of(row),
        read_due=lambda: read_due(row),
    )


def prompt_of(row: Row) -> tuple[Step, ...]:
    """What the agent was given before its first turn, as steps."""
    raw = prompt_raw(row, read_request(row.get("responses_create_params")).input)
    value = decode_any(raw) if raw is not None else None
    if isinstance(value, list):
        return read_steps(encode(before_agent(value)))
    return (Step(index=0, party="user", kind="message", text=cells.as_text(value)),) if value is not None else ()


def _settings(light: Light, tools: str | None, sampling: list[float | None]) -> Settings:
    values = [(name, f"{value:g}") for name, value in zip(_SAMPLING, sampling, strict=True) if value is not None]
    values += [("tools", tools)] if tools is not None else []
    return Settings(light.agent, light.model, light.skills, tuple(values))


def _both(one: str | None, other: str | None) -> str | None:
    return f"{one}; {other}" if one and other else one or other


def _judge(light: Light, row: Row, paths: tuple[str, ...]) -> str | None:
    value = cells.first(row, paths)
    reward = cells.finite(value)
    if reward is not None and abs(reward) <= cells.LARGEST:
        light.reward = reward
    if value is None or light.reward is not None:
        return None
    why = "not a finite number" if reward is None else "too large to be averaged"
    return f"reward is {cells.shown(value)}, {why}: the rollout is not scored"


def _spend(light: Light, row: Row, paths: Paths, response: Response) -> None:
    usages = [usage for usage in (response.usage, cells.value(row, "usage")) if isinstance(usage, dict)]
    if usages:
        spent_in = _tokens(usages, "input_tokens", "prompt_tokens")
        spent_out = _tokens(usages, "output_tokens", "completion_tokens")
        if spent_in or spent_out:
            light.input_tokens, light.output_tokens = spent_in, spent_out
    if paths["seconds"]:
        light.seconds = cells.number(cells.first(row, paths["seconds"]))
    if paths["cost"]:
        light.cost = cells.number(cells.first(row, paths["cost"]))


def _tokens(usages: list[dict[str, object]], *names: str) -> int | None:
    for usage in usages:
        for name in names:
            tokens = cells.count(usage.get(name))
            if tokens is not None:
                return tokens
    return None


def _expected(row: Row, paths: tuple[str, ...]) -> str | None:
    for name in paths:
        value = cells.value(row, name)
        if value is not None and not (isinstance(value, list) and value and isinstance(value[0], dict)):
            return cells.as_text(value)[:LONGEST_ANSWER]
    return None


def _answer(row: Row, paths: Paths) -> tuple[str | None, int | None]:
    for name in paths["answer"]:
        if name == "answer" and paths["expected"] == ("answer",):
            continue  # `answer` is the model's where something else is the key; alone, it is the key.
        value = cells.value(row, name)
        if value is not None:
            text = cells.as_text(value)
            return text[:LONGEST_ANSWER], hashed(text.encode("utf-8", "replace")) if text else None
    return None, None


def _key_expects(row: Row, paths: Paths) -> str | None:
    actions = cells.first(row, paths["expected_actions"])
    if actions is None:
        return None
    return key_expects(actions, cells.first(row, paths["expected_statements"]))


@cache
def _may_be_slice(name: str) -> bool:
    return name not in _TAKEN and not name.startswith("_") and not fields.is_verdict(name)


def _extras(row: Row) -> dict[str, str]:
    """Small values that may turn out to be slices, as JSON text."""
    found = {}
    plain, nested = _slice_names(tuple(row))
    for name in plain:
        raw = memoryview(row[name])
        if len(raw) <= LONGEST_EXTRA and raw[0] not in _NO_SCALAR:
            found[name] = str(raw, "utf-8")
    for name in nested:
        found.update(_metadata_extras(name, row[name]))
    return found


@lru_cache(maxsize=4096)
def _slice_names(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the keys of a row: those that may become slices, and objects whose keys may."""
    plain = tuple(name for name in names if name not in fields.METADATA_NAMES and _may_be_slice(name))
    return plain, tuple(name for name in names if name in fields.METADATA_NAMES)


def _metadata_extras(name: str, raw: msgspec.Raw) -> dict[str, str]:
    value = decode_any(raw) if len(memoryview(raw)) <= LARGEST_METADATA else None
    if not isinstance(value, dict):
        return {}
    small = {key: item for key, item in value.items() if isinstance(item, str | int | float) and _may_be_slice(key)}
    texts = {f"{name}.{key}": bytes(encode(item)).decode() for key, item in small.items() if key not in fields.ID_NAMES}
    return {key: text for key, text in texts.items() if len(text) <= LONGEST_EXTRA}


def _trajectory(row: Row, response: Response) -> msgspec.Raw:
    if cells.has(response.output):
        return response.output
    whole = row.get("response")
    if whole is not None and bytes(memoryview(whole)[:1]) in (b'"', b"["):
        return whole
    for name in fields.BY_NAME["trajectory"].paths[1:]:
        raw = row.get(name)
        if raw is not None and cells.has(raw):
            return raw
    return _RAW


def _agent_spoke(row: Row, raw: msgspec.Raw, steps: tuple[Step, ...] | None) -> bool:
    walked = steps if steps is not None else steps_of(row, raw) if raw else ()
    return any(step.party == "agent" and (step.kind == "call" or step.text.strip()) for step in walked)
