"""What readers say of rollouts: people, agents and models who looked at one and attributed it, with words that stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from blade.model.measure import Measure

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
    design: str
    """What the strata were made by."""
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
    """Name of the file that holds the rollout."""
    mark: str = ""
    """Fingerprint of its output: by both the run is known under another name."""
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


class Disagreement(Struct, frozen=True, kw_only=True):
    """A rollout that two put down to different modes, each with who has to act."""

    location: str
    first: str
    first_party: str
    second: str
    second_party: str


class Agreement(Struct, frozen=True, kw_only=True):
    """How far two agree on the rollouts that both looked at: two readers, or a reader and the rules."""

    first: str
    second: str
    rollouts: int
    mode: Measure
    """Share of the rollouts that both put down to the same mode."""
    party: Measure
    kappa: Measure
    """Cohen's kappa of the modes: agreement beyond what the frequencies of the modes give by chance."""
    party_kappa: Measure
    disagreements: tuple[Disagreement, ...] = ()
    """On the mode or the party, in the order of the table."""


class SampledShare(Struct, frozen=True, kw_only=True):
    """The share of a mode or a party, estimated from a sample that readers read."""

    kind: str
    """mode, party, or passes: those that are in doubt."""
    name: str
    hits: int
    """Rollouts of the sample that have it."""
    share: Measure


class ReadSample(Struct, frozen=True, kw_only=True):
    """What readers found in the rollouts that `blade sample` drew, as shares of all rollouts of the strata drawn from."""

    failures: int
    """Read, of those drawn that did not pass."""
    failures_drawn: int
    failures_in_all: int
    passes: int
    passes_drawn: int
    passes_in_all: int
    shares: tuple[SampledShare, ...]


class ReaderStatistics(Struct, frozen=True, kw_only=True):
    """What readers add to a run: how many attributions, how far they agree, and what a sample says of the rest."""

    used: int
    rollouts: int
    overruled: int
    """Rollouts whose mode or party the readers changed."""
    by: dict[str, int]
    unused: tuple[str, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    sample: ReadSample | None = None
