"""The custom rules of a benchmark's package as values; `blade.yaml` is read into them by `blade.custom_rules.read_rule_book`."""

from __future__ import annotations

from msgspec import Struct

from blade.custom_rules.syntax import Rule
from blade.model.field_map import FieldMap
from blade.model.finding import Cause
from blade.model.tools import NO_CUSTOM_TOOLS, Tools


class Fix(Struct, frozen=True, kw_only=True):
    """What to do about a label, and of which kind that is."""

    kind: str
    action: str


class CustomLabel(Struct, frozen=True, kw_only=True):
    """A label of the team's own: a rule with what it means."""

    name: str
    """Stands where the code of a rule does."""
    message: str
    rule: Rule
    text: str
    cause: Cause
    direct: bool = False
    """By itself enough for failing."""
    fix: Fix | None = None


class RuleBook(Struct, frozen=True, kw_only=True):
    """Everything that a package sets; fields that it leaves out are None or empty."""

    path: str
    digest: str
    """First digits of the hash of the file."""
    benchmark: str | None = None
    pass_threshold: float | None = None
    task_id: str | None = None
    slices: tuple[str, ...] = ()
    field_map: FieldMap = ()
    """What fields of the rows are: pairs such as `task` and `case_id`."""
    group: str | None = None
    tools: Tools = NO_CUSTOM_TOOLS
    funnel: tuple[tuple[str, Rule], ...] = ()
    labels: tuple[CustomLabel, ...] = ()

    @property
    def named(self) -> str:
        """File and hash, as reports and analyses name it."""
        return f"{self.path} ({self.digest})"


NO_RULE_BOOK = RuleBook(path="", digest="")
"""Of a run whose benchmark has no package."""
