"""What can be had without any skill: doing nothing, or always giving the same answer."""

from __future__ import annotations

from collections import Counter

from blade.model.measure import Measure
from blade.model.run import Run

LONGEST_KEY = 200
"""The table cuts keys there; what is cut cannot be compared, and is no constant answer."""
DO_NOTHING = "do_nothing"
CONSTANT = "constant_answer"


def baselines(run: Run) -> tuple[Measure, ...]:
    """Both baselines, each a share of the tasks whose key allows it."""
    return (_do_nothing(run), _constant_answer(run))


def _do_nothing(run: Run) -> Measure:
    wants = run.tasks["key_expects"].drop_nulls()
    if wants.is_empty():
        return Measure(name=DO_NOTHING, value=None, n=0, reason="no key is a list of actions")
    if not wants.is_in(["one change", "several changes"]).any():
        return Measure(
            name=DO_NOTHING, value=None, n=len(wants), reason="no key wants a change, so its look-ups are judged"
        )
    return Measure(
        name=DO_NOTHING,
        value=int((wants == "nothing").sum()) / len(wants),
        n=len(wants),
        method="tasks whose key wants no change and no statement",
    )


def _constant_answer(run: Run) -> Measure:
    keys: Counter[str] = Counter()
    for key, times in run.tasks["expected"].drop_nulls().value_counts().rows():
        if len(key) < LONGEST_KEY:
            keys[" ".join(key.split()).lower()] += times
    n = keys.total()
    if not n:
        return Measure(name=CONSTANT, value=None, n=0, reason="no key is an answer")
    if not run.rollouts["answer"].count():
        return Measure(name=CONSTANT, value=None, n=n, reason="no answer is extracted that a key is compared with")
    if n < 2:
        return Measure(name=CONSTANT, value=None, n=n, reason="only one task has a key")
    answer, times = min(keys.items(), key=lambda item: (-item[1], item[0]))
    if times == 1:
        return Measure(name=CONSTANT, value=None, n=n, reason=f"the {n} keys all differ")
    shown = answer if len(answer) <= 40 else answer[:37] + "..."
    return Measure(name=CONSTANT, value=times / n, n=n, method=f"always answering {shown!r}")
