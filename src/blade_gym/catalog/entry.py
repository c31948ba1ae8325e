"""What a listing says of a benchmark or of another component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

CATEGORIES = (
    "Math & Science",
    "Coding",
    "Knowledge & Reasoning",
    "Agentic / Tool Use",
    "Instruction Following & Safety",
    "Other",
)
CATEGORY_OF_DOMAIN = {
    "math": CATEGORIES[0],
    "coding": CATEGORIES[1],
    "knowledge": CATEGORIES[2],
    "long_context": CATEGORIES[2],
    "agent": CATEGORIES[3],
    "games": CATEGORIES[3],
    "instruction_following": CATEGORIES[4],
    "safety": CATEGORIES[4],
}
REQUIREMENTS = ("tools", "images", "audio", "long_context", "structured_output")


class ReportedScore(msgspec.Struct, frozen=True, kw_only=True):
    """A number that somebody published."""

    model: str
    metric: str
    value: float
    source: str


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """A config with a benchmark data set."""

    name: str
    """What `--benchmark` takes."""
    agent_name: str
    domain: str
    num_repeats: int
    description: str
    category: str
    """One of CATEGORIES."""
    offline: bool
    """Whether its data can be made without a network."""
    requires: tuple[str, ...]
    """What the model must be able to do, of REQUIREMENTS."""
    harness: str
    """The type of its agent."""
    verifier: str
    config: Path
    dataset: str
    prepare_script: str
    prompt_config: str | None
    data: Path
    """The rows, whether they are there or not."""
    reported: tuple[ReportedScore, ...] = ()

    @property
    def row(self) -> dict[str, Any]:
        """As `gym list benchmarks --json` has it."""
        return {
            "name": self.name,
            "agent_name": self.agent_name,
            "domain": self.domain,
            "num_repeats": self.num_repeats,
            "description": self.description,
            "category": self.category,
            "offline": self.offline,
            "requires": list(self.requires),
            "harness": self.harness,
            "verifier": self.verifier,
        }


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """An environment, an agent, a model, a resources server or a skill."""

    kind: str
    name: str
    description: str
    path: Path
    domain: str = ""
    more: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """The other fields of its kind, in their order."""

    @property
    def row(self) -> dict[str, Any]:
        """As `--json` has it."""
        return {"name": self.name, **self.more, "description": self.description}


Entry = TypeVar("Entry", Benchmark, Component)


class Listing(msgspec.Struct, Generic[Entry], frozen=True, kw_only=True):
    """Entries in the order of their names, and what could not be listed."""

    entries: Sequence[Entry]
    problems: Sequence[str] = ()
