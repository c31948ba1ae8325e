"""What the verifier got equals what it expected but for white space, and was rejected.

Why it matters
    A program that prints the right thing fails by a line break.

What to do
    Compare outputs by words in the verifier.

Limits
    Looks only at outputs that the verifier records beside what it expected. White space may matter in a task about
    layout.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.core.diagnosis import Doubt
from blade.core.finding import Cause
from blade.diagnose.context import Context
from blade.diagnose.rules._rule import run_rule
from blade.diagnose.walks import Walk

_PAIRS = (("output", "expected"), ("actual", "expected"), ("got", "expected"), ("stdout", "expected_output"))
"""Names under which a verifier records what it got and what it wanted."""


@run_rule("TSK004", suggests=Cause.TASK, strong=True, status="stable")
def equal_output_rejected(context: Context) -> Iterator[Doubt]:
    found = [(walk, path) for walk in _failing(context) for path in _same_texts("", walk.row, 0)]
    if found:
        named = ", ".join(dict.fromkeys(walk.place for walk, _ in found))
        yield Doubt(
            about="verifier",
            tasks=tuple(dict.fromkeys(walk.rollout.key.task_id for walk, _ in found)),
            message=f"{named}: what the verifier got equals what it expected but for white space (`{found[0][1]}`), "
            f"and was rejected",
            rollouts=len({walk.place for walk, _ in found}),
        )


def _same_texts(path: str, value: object, depth: int) -> Iterator[str]:
    if not isinstance(value, dict) or depth > 2:
        return
    for mine, other in _PAIRS:
        got, wanted = value.get(mine), value.get(other)
        if isinstance(got, str) and isinstance(wanted, str) and got.split() and got.split() == wanted.split():
            yield f"{path}{mine}"
    for name, item in value.items():
        if name not in ("response", "responses_create_params"):
            yield from _same_texts(f"{path}{name}.", item, depth + 1)


def _failing(context: Context) -> list[Walk]:
    return [walk for walk in context.reading.walks.values() if not walk.passed]
