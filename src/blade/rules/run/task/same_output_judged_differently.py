"""Two rollouts of a task give the same output, and one passed while the other failed.

Why it matters
    The verdict is not a function of what the model did: the verifier is unsteady, or judges something not recorded.

What to do
    Run the verifier several times on one output; take chance out of it, or take the majority of several verdicts.

Limits
    The same output is the same texts, tools and arguments. Rollouts in which tools or users answered differently are
    left out, and so are those whose only words are that the work is done. Rollouts that were not read are looked at
    only where they hold a single message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import polars as pl

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Step
from blade.rules.declaration import rule
from blade.rules.run.task._words import reward_of
from blade.stats.rollout_index import SINGLE

MOST_NAMED = 3
_CLOSING = pattern_of(
    r"\W*(?:all |task |i(?:'m| am) )?(?:done|finished|completed?|submitted|ok(?:ay)?)\W*", re.IGNORECASE
)

Ref = tuple[str, int]
Pair = tuple[Ref, Ref]


@rule("TSK012", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def same_output_judged_differently(context: RunContext) -> Iterator[Doubt]:
    found = list(_pairs(context))
    pairs = [pair for pair, _ in found]
    if pairs:
        named = "; ".join(_in_words(context, pair) for pair in pairs[:MOST_NAMED])
        more = f"; {len(pairs) - MOST_NAMED} more tasks" if len(pairs) > MOST_NAMED else ""
        yield Doubt(
            about="verifier",
            tasks=tuple(task for (task, _), _ in pairs),
            message=f"the same output passed and failed: {named}{more}",
            rollouts=2 * len(pairs),
            evidence=tuple(_evidence(context, pairs[0])),
            places=tuple(place for _, failing in found for place in failing),
        )


def _pairs(context: RunContext) -> Iterator[tuple[Pair, list[Ref]]]:
    """One passing and one failing rollout of each task that judges one output both ways, and all that fail with it."""
    shared = ("task_id", "output_fp", "answer_fp")
    again = context.rollouts.judged & context.rollouts.repeats_itself
    if not again.any():
        return
    rows = context.run.rollouts.select(*shared, "repeat", "outcome", "calls", "steps").filter(pl.Series(again))
    both = rows.filter(pl.col("outcome").n_unique().over(*shared) > 1)
    single = (pl.col("calls") == 0) & (pl.col("steps") <= SINGLE)
    groups = both.group_by(*shared, maintain_order=True).agg("repeat", "outcome", single.all().alias("single"))
    tasks = context.run.tasks.drop_nulls("prompt_fp")["task_id"]
    one_prompt = set(tasks.filter(tasks.is_in(both["task_id"].unique().implode())))
    seen: set[str] = set()
    for task, repeats, outcomes, alone in groups.select("task_id", "repeat", "outcome", "single").iter_rows():
        if task in seen or task in context.unlike:
            continue
        places = [((task, repeat), outcome == "passed") for repeat, outcome in zip(repeats, outcomes, strict=True)]
        pair = _pair(context.reading.walks, places, known=bool(alone) and task in one_prompt)
        if pair is not None:
            seen.add(task)
            yield pair, [place for place, passed in places if not passed]


def _pair(walks: Mapping[Ref, AlignedTrajectory], places: list[tuple[Ref, bool]], *, known: bool) -> Pair | None:
    """A pass and a failure that heard the same; unread ones only where it is known that there was nothing to hear."""
    passing = [place for place, passed in places if passed]
    failing = [place for place, passed in places if not passed]
    read = [(one, other) for one in passing for other in failing if one in walks and other in walks]
    if read:
        return next(((one, other) for one, other in read if _is_alike(walks[one], walks[other])), None)
    return (passing[0], failing[0]) if known else None


def _is_alike(one: AlignedTrajectory, other: AlignedTrajectory) -> bool:
    """Whether the two heard the same, and said more than that they are done."""
    if _heard(one) != _heard(other):
        return False
    return bool(one.calls) or not all(_CLOSING.fullmatch(step.text) for step in _spoken(one))


def _heard(walk: AlignedTrajectory) -> list[str]:
    return [" ".join(step.text.split()) for step in walk.steps if step.party != "agent"]


def _spoken(walk: AlignedTrajectory) -> list[Step]:
    return [step for step in walk.steps if step.party == "agent" and step.kind == "message" and step.text.strip()]


def _in_words(context: RunContext, pair: Pair) -> str:
    (task, passing), (_, failing) = pair
    table = context.run.rollouts.select("task_id", "repeat", "reward").filter(pl.col("task_id") == task)
    rewards = [table.filter(pl.col("repeat") == repeat)["reward"].item() for repeat in (passing, failing)]
    return f"{task}#{passing} gets {rewards[0]:g} and {task}#{failing} gets {rewards[1]:g}"


def _evidence(context: RunContext, pair: Pair) -> Iterator[Evidence]:
    for walk in context.reading.at(pair):
        spoken = _spoken(walk)
        said = quotes.ending(walk.rollout, spoken[-1]) if spoken else None
        yield from (one for one in (reward_of(walk), said) if one is not None)
