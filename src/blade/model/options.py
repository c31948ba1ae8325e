"""What a user may ask of a reading and an analysis: one value for the command line, the API and everything below."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from blade.model.errors import RequestError
from blade.model.field_map import FieldMap, merged
from blade.model.limits import DEFAULT_LIMITS, ReadLimits
from blade.model.tools import NO_CUSTOM_TOOLS, Tools

if TYPE_CHECKING:
    from blade.custom_rules import RuleBook
    from blade.model.diagnosis import Label


class Options(Struct, frozen=True, kw_only=True):
    """Every field has the default that a user gets who says nothing."""

    format: str | None = None
    field_map: FieldMap = ()
    """What fields of the rows are, as the user says: pairs such as `task` and `case_id`."""
    pass_threshold: float | None = None
    expect_tasks: int | None = None
    expect_repeats: int | None = None
    group: str | None = None
    """The row field whose values are the units of intervals."""
    exclude: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    """Verdicts of people, which overrule the rules."""
    attributions: Path | None = None
    """What readers say of rollouts; None: what stands beside the runs, and in `attributions_in`."""
    attributions_in: tuple[Path, ...] = ()
    """More folders in which attributions of readers may stand."""
    rule_book: RuleBook | None = None
    """The custom rules of the benchmark's package."""
    find_rule_book: bool = True
    """Without a rule book, use the one of the package whose name is the benchmark's."""
    limits: ReadLimits = DEFAULT_LIMITS
    """What is too long or too large to be read."""
    metrics_only: bool = False
    workers: int | None = None
    pool: Executor | None = None
    """Workers that were started already; they end with the first reading."""
    progress: Callable[[int, int], None] = lambda done, total: None

    def __post_init__(self) -> None:
        """Refuse a threshold that nothing can reach or miss."""
        if self.pass_threshold is not None and not math.isfinite(self.pass_threshold):
            raise RequestError(
                f"{self.pass_threshold} is no threshold", hint="give a number, for example --pass-threshold 0.5"
            )

    @property
    def threshold(self) -> float | None:
        """The user's pass threshold, else that of the rule book."""
        from_book = self.rule_book.pass_threshold if self.rule_book is not None else None
        return from_book if self.pass_threshold is None else self.pass_threshold

    @property
    def mapping(self) -> FieldMap:
        """What fields of the rows are: the user's word before that of the rule book."""
        return merged(self.field_map, self.rule_book.field_map if self.rule_book is not None else ())

    @property
    def unit(self) -> str | None:
        """The user's group field, else that of the rule book."""
        return self.group or (self.rule_book.group if self.rule_book is not None else None)

    @property
    def tools(self) -> Tools:
        """What the rule book says of tools."""
        return self.rule_book.tools if self.rule_book is not None else NO_CUSTOM_TOOLS

    @property
    def needs_rows(self) -> bool:
        """Whether something is asked that only the rows can answer, so that an earlier analysis cannot."""
        return any((self.expect_tasks, self.expect_repeats, self.group, self.format, self.field_map))
