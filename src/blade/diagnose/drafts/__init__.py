"""How each family of groups reads as a finding: one file a subject, one function a family."""

from collections.abc import Callable

from blade.diagnose.context import Context, Draft
from blade.diagnose.drafts.arguments import argument
from blade.diagnose.drafts.calls import extra
from blade.diagnose.drafts.left_out import left_out
from blade.diagnose.drafts.machinery import limit, machinery, no_answer, no_verdict
from blade.diagnose.drafts.refused import refused
from blade.diagnose.drafts.verdicts import answer, check, declined, not_said, words
from blade.diagnose.groups import Group

DRAFTS: dict[str, Callable[[Group, Context], Draft]] = {
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
