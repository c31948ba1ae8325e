"""How well broken tasks of a simulated world are told from sound ones, beside ranking tasks by how seldom they pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from blade.benchmark_health.values import SUSPECT, Suspect
from blade.model.finding import Cause
from proof.simulate.truth import TaskTruth

BROKEN = (Cause.TASK, Cause.DATA)


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Of the tasks of some worlds: how many are broken, and how many of as many top places broken ones take."""

    tasks: int = 0
    broken: int = 0
    by_suspicion: int = 0
    by_pass_rate: int = 0
    precision_by_suspicion: float = 0.0
    """Average precision times the number of broken tasks, so that worlds add up."""
    precision_by_pass_rate: float = 0.0
    called: int = 0
    """Tasks that are called suspect."""
    called_rightly: int = 0

    def plus(self, other: Ranking) -> Ranking:
        """Both together."""
        return Ranking(**{name: value + getattr(other, name) for name, value in vars(self).items()})


NOT_RANKED = Ranking()


def ranking(truth: Mapping[str, TaskTruth], suspects: tuple[Suspect, ...]) -> Ranking:
    """The ranking of one world; tasks that the truth does not know are left out."""
    known = [one for one in suspects if one.task_id in truth]
    broken = {one.task_id for one in known if truth[one.task_id].cause in BROKEN}
    seldom = sorted(known, key=lambda one: (one.passed / one.judged if one.judged else 1.0, one.task_id))
    called = [one.task_id for one in known if one.suspicion >= SUSPECT]
    suspicion = [(one.suspicion, one.task_id in broken) for one in known]
    failing = [(1.0 - one.passed / one.judged if one.judged else 0.0, one.task_id in broken) for one in known]
    return Ranking(
        precision_by_suspicion=average_precision(suspicion) * len(broken),
        precision_by_pass_rate=average_precision(failing) * len(broken),
        tasks=len(known),
        broken=len(broken),
        by_suspicion=sum(one.task_id in broken for one in known[: len(broken)]),
        by_pass_rate=sum(one.task_id in broken for one in seldom[: len(broken)]),
        called=len(called),
        called_rightly=sum(task in broken for task in called),
    )


def average_precision(ranked: Iterable[tuple[float, bool]]) -> float:
    """Of scored items, the mean precision at each true one, highest score first; equal scores count as one place."""
    places: dict[float, list[bool]] = {}
    for score, true in ranked:
        places.setdefault(score, []).append(true)
    seen = found = 0
    total = 0.0
    for score in sorted(places, reverse=True):
        seen += len(places[score])
        found += sum(places[score])
        total += sum(places[score]) * found / seen
    return total / found if found else 0.0
