"""The right tool with another argument: what was given, what was due, and where each value stood."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from blade.attribution.groups import FailureGroup
from blade.evidence import provenance, quotes
from blade.evidence.actions import Wrong
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext
from blade.findings.examples import verb
from blade.model.rollout import Step

BLIND = 0.3
"""Share of rollouts that never saw the right value, above which looking it up is the remedy."""


class Trace(Struct, frozen=True, kw_only=True):
    """A wrong argument: what was given and due, and whether the right value could be known."""

    walk: AlignedTrajectory
    wrong: Wrong
    name: str
    due: object
    made: object
    can_be_traced: bool
    """The value due is a name that has to be looked up."""
    seen: bool


def argument(group: FailureGroup, context: RunContext) -> FindingDraft:
    """An argument that is not as the key has it."""
    walks = context.read(group.failing)
    traced = [trace(walk, wrong, group.detail) for walk in walks for wrong in _wrongs(walk, group)]
    unseen = sum(one.can_be_traced and not one.seen for one in traced)
    giver = _giver(group, context)
    blind = unseen > BLIND * len(traced)
    alone = f"; in {len(group.alone)} in nothing else" if group.alone else ""
    return FindingDraft(
        title=f"It gives `{group.name}` another `{group.detail}` than the key",
        what=f"{group.failing.in_words} {verb(group, 'differ')} from the key in `{group.detail}` of `{group.name}`{alone}."
        f"{_knowable(traced, unseen)}",
        fix=_fix(group, giver) if blind else _check_it(group),
        brief=f"{_look_up(group, giver)} before `{group.name}`"
        if blind
        else f"`{group.detail}` checked before `{group.name}`",
        kind="prompt",
        where=tuple(_examples(context, traced)),
    )


def _fix(group: FailureGroup, giver: str | None) -> str:
    """What to do where the right value was never seen."""
    if giver is not None:
        return f"call `{giver}` before `{group.name}` and take `{group.detail}` from its result"
    return (
        f"have the agent look `{group.detail}` up before `{group.name}`, and let the harness refuse one that no message "
        f"and no result holds"
    )


def _look_up(group: FailureGroup, giver: str | None) -> str:
    return f"`{giver}`" if giver is not None else f"`{group.detail}` looked up"


def _check_it(group: FailureGroup) -> str:
    return (
        f"before `{group.name}`, have the agent set `{group.detail}` against what the user asked for and what the "
        f"look-ups say, value by value"
    )


def _wrongs(walk: AlignedTrajectory, group: FailureGroup) -> list[Wrong]:
    return [one for one in walk.pairing.wrong if one.due.tool == group.name and group.detail in one.names]


def trace(walk: AlignedTrajectory, wrong: Wrong, name: str) -> Trace:
    """Where the values of a wrong argument stand."""
    inner, due, made = provenance.first_difference(name, wrong.due.arguments.get(name), wrong.made.arguments.get(name))
    seen = provenance.source(walk.rollout, due, wrong.made.step.index) is not None
    return Trace(
        walk=walk,
        wrong=wrong,
        name=inner,
        due=due,
        made=made,
        can_be_traced=provenance.is_name(due),
        seen=seen or provenance.in_prompt(walk.rollout, due),
    )


def _knowable(traced: Sequence[Trace], unseen: int) -> str:
    """Whether the agent could have known: the value due stood before its eyes, or nowhere."""
    able = sum(one.can_be_traced for one in traced)
    if not able:
        return ""
    if unseen > BLIND * able:
        return f" In {unseen} of {able} read, the value due stands in nothing that the agent had seen by then."
    took = sum(one.can_be_traced and one.seen and one.made is not None for one in traced)
    return f" In {took} of {able} read, the value due stood in what it had seen, and it took another." if took else ""


def _giver(group: FailureGroup, context: RunContext) -> str | None:
    """The tool whose result gave passing repeats the value that was due."""
    names: dict[str, int] = {}
    for walk in context.passing_repeats(group.failing):
        for due, made in walk.pairing.exact:
            if due.tool == group.name:
                _, value, _ = provenance.first_difference(group.detail, due.arguments.get(group.detail), None)
                step = provenance.source(walk.rollout, value, made.step.index)
                if step is not None and step.party == "tool" and step.tool:
                    names[step.tool] = names.get(step.tool, 0) + 1
    return min(names, key=lambda name: (-names[name], name), default=None)


def _examples(context: RunContext, traced: Sequence[Trace]) -> list[QuotedSentence]:
    """Two tasks: first those in which a passing repeat gave the right value, and values that were given, not left out."""

    def order(one: Trace) -> tuple[bool, bool]:
        return one.walk.rollout.key.task_id not in context.contrasts, one.made is None

    first: dict[str, Trace] = {}
    for one in sorted(traced, key=order):
        first.setdefault(one.walk.rollout.key.task_id, one)
    return [_example(one, context) for one in list(first.values())[:2]]


def _example(one: Trace, context: RunContext) -> QuotedSentence:
    call = one.wrong.made.step
    evidence = [quotes.of_call(one.walk.rollout, call, one.made, one.name)]
    text = f"{one.walk.place}:{call.index} {_given(one)}"
    origin = provenance.source(one.walk.rollout, one.made, call.index)
    if origin is not None:
        evidence.append(quotes.holding(one.walk.rollout, origin, str(one.made)))
        text += f"; it stands in :{origin.index}{_by(origin)}"
    elif provenance.can_be_traced(one.made) and not provenance.in_prompt(one.walk.rollout, one.made):
        text += "; it stands nowhere before"
    right = _right_use(one, context)
    if right is not None:
        walk, step, source = right
        evidence.append(quotes.of_call(walk.rollout, step, one.due, one.name))
        text += f". Passing {walk.place}:{step.index} gives {quotes.shown(one.due, 40)}"
        text += f", from :{source.index}{_by(source)}" if source is not None else ""
    return f"{text}.", tuple(piece for piece in evidence if piece is not None)


def _given(one: Trace) -> str:
    given, wanted = quotes.shown(one.made, 40), quotes.shown(one.due, 40)
    if one.made is None:
        return f"leaves out `{one.name}` {wanted}"
    if one.due is None:
        return f"adds `{one.name}` {given}, which the key has not"
    return f"gives `{one.name}` {given}, the key has {wanted}"


def _by(step: Step) -> str:
    return f" (`{step.tool}`)" if step.tool else f" ({step.party})"


def _right_use(one: Trace, context: RunContext) -> tuple[AlignedTrajectory, Step, Step | None] | None:
    """A passing repeat's call with the value that was due, and where that repeat had it from."""
    for walk in (walk for walk in context.reading.of(one.walk.rollout.key.task_id) if walk.passed):
        for due, made in walk.pairing.exact:
            if due.tool == one.wrong.due.tool and due.arguments == one.wrong.due.arguments:
                return walk, made.step, provenance.source(walk.rollout, one.due, made.step.index)
    return None
