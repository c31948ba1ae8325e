"""What readers say of rollouts: people, agents and models who looked at one and attributed it, with words that stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from blade.model.attribution import Confidence, Responsible

SOUND = "none"
"""The mode of a pass in which a reader found nothing wrong."""
BY_MACHINE = ("rule:", "package:")
"""How `by` begins where no reader decided."""
BY_LABEL = "person"
"""Who decided where `blade label` did: it takes no name."""


class QuotedWords(Struct, frozen=True, kw_only=True):
    """Words of a rollout and where they stand: a field of a step, or a dotted path of the row where `step` is None."""

    quote: str
    field: str = ""
    step: int | None = None


class Drawn(Struct, frozen=True, kw_only=True):
    """How `blade sample` came to draw a rollout: one of `drawn` out of the `size` rollouts of a stratum."""

    seed: int
    stratum: str
    size: int
    drawn: int
    passed: bool = False


class ReaderAttribution(Struct, frozen=True, kw_only=True):
    """One reader's attribution of one rollout."""

    run: str
    task_id: str
    repeat: int
    mode: str
    """Code of the catalog or of a mode that readers define; `unattributed`, or `none` for a sound pass."""
    party: Responsible
    by: str
    confidence: Confidence
    subject: str = ""
    quotes: tuple[QuotedWords, ...] = ()
    note: str = ""
    definition: str = ""
    """What the mode means, where it is none of the catalog."""
    artifact: str = ""
    """Name of the file that holds the rollout: by it the run is known under another name."""
    sample: Drawn | None = None

    @property
    def location(self) -> str:
        """`TASK#REPEAT`."""
        return f"{self.task_id}#{self.repeat}"


class Readings(Struct, frozen=True, kw_only=True):
    """The attributions of readers that count for a run: of each reader on each rollout the latest, in the order of the files."""

    used: tuple[ReaderAttribution, ...] = ()
    unused: tuple[str, ...] = ()
    """Which could not be used and why, with file and line."""
    files: tuple[str, ...] = ()


NO_READINGS = Readings()
