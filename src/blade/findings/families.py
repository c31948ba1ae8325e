"""How each family of groups reads as a finding: one file a subject, one function a family."""

from collections.abc import Callable

from blade.attribution.groups import FailureGroup
from blade.evidence.context import FindingDraft, RunContext
from blade.findings.arguments import argument
from blade.findings.calls import extra
from blade.findings.left_out import left_out
from blade.findings.machinery import limit, machinery, no_answer, no_verdict
from blade.findings.refused import refused
from blade.findings.verdicts import answer, check, declined, not_said, words

DRAFTS: dict[str, Callable[[FailureGroup, RunContext], FindingDraft]] = {
    "extra": extra,
    "left-out": left_out,
    "argument": argument,
    "not-said": not_said,
    "check": check,
    "words": words,
    "limit": limit,
    "machinery": machinery,
    "no-verdict": no_verdict,
    "no-answer": no_answer,
    "declined": declined,
    "schema": refused,
    "answer": answer,
}
"""By the family of a group."""
