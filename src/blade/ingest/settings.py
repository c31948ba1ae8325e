"""What rows say about how their run was made: agent, model, skills, sampling, and the tools that it offers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import msgspec

from blade.ingest import cells
from blade.ingest.batch import Batch
from blade.ingest.cells import Column
from blade.ingest.decode import decode_any, encode
from blade.model.tools import NOTHING_OFFERED, Offered

_SAMPLING = ("temperature", "top_p", "max_output_tokens")
_SAMPLED = attrgetter(*_SAMPLING)


class Settings(msgspec.Struct, frozen=True):
    """What the rows say about how the run was made; a run that changes it halfway has several."""

    agent: str | None
    model: str | None
    skills: str | None
    values: tuple[tuple[str, str], ...]


class Toolset(msgspec.Struct, frozen=True, kw_only=True):
    """The tools that a row offers."""

    label: str
    """Their number and a mark, for telling settings apart."""
    offered: Offered


NO_TOOLS = Toolset(label="none", offered=NOTHING_OFFERED)


def toolset_of(raw: bytes) -> Toolset:
    """The tools of a raw request."""
    value = decode_any(raw)
    digest = blake2b(encode(value), digest_size=4).hexdigest()
    label = f"{len(value)} tools ({digest})" if isinstance(value, list) and value else NO_TOOLS.label
    return Toolset(label=label, offered=offered_tools(value))


def offered_tools(value: Any) -> Offered:
    """The tools of a request, as the Responses API or chat completions have them."""
    given = [tool.get("function", tool) for tool in value if isinstance(tool, dict)] if isinstance(value, list) else []
    named = [tool for tool in given if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
    return Offered({tool["name"]: tool.get("parameters", tool.get("input_schema")) for tool in named})


class SettingsSeen:
    """How many rows say each of the settings of their run, in `counts`."""

    def __init__(self) -> None:
        self.counts: dict[Settings, int] = {}
        self._known: dict[tuple[Any, ...], Settings] = {}

    def note(self, batch: Batch, *who: Column) -> None:
        """Count what the rows of a batch say; `who` are the columns of agent, model, skills and tools."""
        asked, used = map(_SAMPLED, batch.requests), map(_SAMPLED, batch.responses)
        for said, times in _counted(zip(*who, asked, used, strict=True)).items():
            settings = self._known.get(said)
            if settings is None:
                settings = self._known[said] = _settings(*said)
            self.counts[settings] = self.counts.get(settings, 0) + times


def _counted(said: Iterable[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """How often each was said; what holds a list or an object says nothing."""
    listed = list(said)
    try:
        # Nearly always all rows say the same.
        same = listed.count(listed[0]) == len(listed)
        return Counter({listed[0]: len(listed)}) if same else Counter(listed)
    except TypeError:
        counts: Counter[tuple[Any, ...]] = Counter()
        for values in listed:
            with suppress(TypeError):
                counts[values] += 1
        return counts


def _settings(
    agent: str | None,
    model: str | None,
    skills: str | None,
    tools: str | None,
    asked: tuple[Any, ...],
    used: tuple[Any, ...],
) -> Settings:
    sampling = [cells.number(one if one is not None else other) for one, other in zip(asked, used, strict=True)]
    values = [(name, f"{value:g}") for name, value in zip(_SAMPLING, sampling, strict=True) if value is not None]
    values += [("tools", tools)] if tools is not None else []
    return Settings(agent, model, skills, tuple(values))
