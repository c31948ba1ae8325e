"""Failures that neither a key nor the verifier explains, and in which the agent does what no pass does."""

from __future__ import annotations

from blade.attribution.groups import FailureGroup
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, Refs, RunContext, none
from blade.findings.exhibits import seen_by
from blade.model.diagnosis import NOT_EXPLAINED, Support
from blade.rules.catalog import rollout_rules, rule_in_words, to_do
from blade.rules.declaration import Rule

FEWEST = 2


def by_habit(context: RunContext) -> tuple[FailureGroup, FindingDraft] | None:
    """The rule about behavior that fires in most of these failures and in no pass; None where none fires in two."""
    found = max(_seen(context).items(), key=lambda one: (len(one[1]), one[0]), default=None)
    if found is None or len(found[1]) < FEWEST:
        return None
    code, places = found
    rule = next(one for one in rollout_rules() if one.code == code)
    what = rule_in_words(code)
    nothing = none(context.rollouts)
    group = FailureGroup(family="habit", name=code, detail="", failing=places, passing=nothing, alone=nothing)
    return group, FindingDraft(
        title=f"{what[0].upper()}{what[1:]}",
        what=f"{places.in_words} ({code}), and no passing rollout. Neither a key nor a word of the verifier says more.",
        fix=to_do(rule),
        brief=f"what the agent does there ({rule.name})",
        kind="prompt",
        where=tuple(_shown(walk, code) for walk in context.read(places)[:2]),
        support=Support.CONSISTENT,
    )


def _seen(context: RunContext) -> dict[str, Refs]:
    """For each stable rule about behavior that fires in no pass: the unexplained failures in which it does."""
    rollouts, unexplained = context.rollouts, context.in_mode(NOT_EXPLAINED)
    fired = ((code, rollouts.fired[code]) for code in _codes() if code in rollouts.fired)
    return {code: unexplained.only(rollouts.marked(rows)) for code, rows in fired if not rollouts.passed[rows].any()}


def _codes() -> list[str]:
    return [rule.code for rule in rollout_rules() if _is_habit(rule)]


def _is_habit(rule: Rule) -> bool:
    return rule.status == "stable" and rule.family == "behavior"


def _shown(walk: AlignedTrajectory, code: str) -> QuotedSentence:
    """Where the rule fires."""
    evidence = seen_by(walk, code)
    if evidence is None:
        return f"{walk.place}.", ()
    return f'{walk.place}:{evidence.step} "{evidence.quote}".', (evidence,)
