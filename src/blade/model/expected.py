"""What a rollout should have done and what its verifier said, in one shape whatever the harness called it."""

from __future__ import annotations

import msgspec

_PARTS_OF_REWARD = frozenset(("reward_components", "reward_breakdown"))


class DueCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that the key wants."""

    tool: str
    arguments: dict[str, object]
    compared: tuple[str, ...] | None = None
    """The arguments that the verifier looks at; None for all."""
    alternatives: bool = False
    """Whether each argument is a list of values of which one is wanted; an empty text among them: it may be left out."""


class VerifierCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A test or criterion with its verdict, and where the row holds it."""

    name: str
    passed: bool
    field: str
    """Dotted path of the verdict in the row."""
    held: int | None = None
    """Of a total such as 6 of 7: how many held; None where the check is one test."""
    of: int = 1
    """How many tests it stands for."""
    required: bool = False
    """Whether failing it alone fails the rollout, by the verifier's own word."""
    words: str = ""
    """What the verifier wrote about it, or what it wanted."""
    words_field: str = ""
    """Dotted path of those words; empty where a path cannot name them."""

    @property
    def is_part_of_reward(self) -> bool:
        """Whether it is one of the numbers that the reward is made of, and no test of its own."""
        top, _, inside = self.field.partition(".")
        if not inside:
            return top.startswith("reward_")
        return not _PARTS_OF_REWARD.isdisjoint((top, inside.partition(".")[0]))


class VerifierText(msgspec.Struct, frozen=True, kw_only=True):
    """A field in which the verifier or the harness speaks for itself."""

    field: str
    """Dotted path in the row."""
    text: str
    """As the row has it; a value that is no text is written as JSON."""
    recorded: bool = False
    """By what it holds in the rows of the run, the field names what broke, whatever it is called."""


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """The key of a task and the verifier's words on one rollout; what the row does not hold is None or empty."""

    calls: tuple[DueCall, ...] | None = None
    """None when the key is no list of calls; empty when it wants none."""
    user_calls: tuple[DueCall, ...] = ()
    """What the simulated user must call itself."""
    statements: tuple[str, ...] = ()
    """What the agent must tell the user."""
    answer: str | None = None
    extracts: bool = False
    """Whether the row has a field for the answer that was extracted from the output."""
    checks: tuple[VerifierCheck, ...] = ()
    said: tuple[VerifierText, ...] = ()
    empty_records: tuple[str, ...] = ()
    """Fields that hold the verifier's account in other rows, and nothing in this one."""
    undecided: tuple[str, ...] = ()
    """Fields in which a judge speaks that came to no verdict."""
    script: str | None = None
    """What the simulated user was told."""

    @property
    def met(self) -> int:
        """Tests and criteria that hold."""
        return sum([one.passed if one.held is None else one.held for one in self.checks])

    @property
    def asked(self) -> int:
        """Tests and criteria in all."""
        return sum([one.of for one in self.checks])


NOTHING_DUE = Due()
