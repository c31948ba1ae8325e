"""Calls that do not match the expected ones: extra ones, other arguments, changes left out, calls that a schema refuses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from blade.evidence import provenance, quotes
from blade.evidence.actions import Wrong
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext
from blade.evidence.contrast import DECLINING, Narrower, due_ids, left_out_in_words, narrower
from blade.evidence.in_words import failure_in_words
from blade.evidence.simulated_user import hung_up, withdrew
from blade.findings.examples import examples, last_text
from blade.findings.groups import FailureGroup, how_often
from blade.findings.tool_words import third_person, verb_and_objects
from blade.model.diagnosis import Support
from blade.model.finding import Differs, Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Step

BLIND = 0.3
"""Share of rollouts that never saw the right value, above which looking it up is the remedy."""
_DONE = pattern_of(r"successfully|(?:has|have) been (?!transferred)|\bis now\b|\bare now\b")
_NOT = pattern_of(r"\b(?:not|cannot|can't|unable|unfortunately|transfer\w*|skip\w*|remain\w*)\b")

GAVE_UP = "gave up"
AFTER_AN_ERROR = (
    "Tell the agent what to do after a failed call: read the error, correct the call and try again, or take another way",
    "what to do after an error",
    "prompt",
)
"""What to do about giving up: the remedy, in half a line, and its kind."""
REASONS = {
    "silent": "in {n} the agent makes no call at all",
    "hung up": "in {n} the user agrees and ends the conversation at once",
    "withdrew": "in {n} the user withdraws the request",
    "refused": "in {n} the tool refuses the call",
    GAVE_UP: "in {n} the agent gives up after an error",
    "declined": "in {n} the agent declines",
    "handed over": "in {n} the agent transfers the user",
    "partly": "in {n} it makes only some of the required calls",
    "left": "in {n} it never tries",
}
"""What stood in the way of a change that was due, first match, and how that is said."""
MOST_SHOWN = 2


def extra(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A change that was not required, alone or beside others that were."""
    named = verb_and_objects(group.name)
    alone = f"; in {len(group.alone)} nothing else is wrong" if group.alone else ""
    return FindingDraft(
        title=f"{third_person(named[0]).capitalize()} {named[1]} that it should not {named[0]}"
        if named
        else f"Calls `{group.name}` when it should not",
        what=f"The agent calls `{group.name}`, which the expected actions do not include, in "
        f"{how_often(group, context.partition.table.height)}{alone}.",
        fix=f"Before `{group.name}`, require the agent to state the facts and the rule that allow the call; better, have "
        f"the tool refuse where they do not hold",
        brief=f"a check before `{group.name}`",
        kind="prompt",
        owner="prompt",
    )


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
    alone = f"; in {len(group.alone)} nothing else is wrong" if group.alone else ""
    return FindingDraft(
        title=f"Calls `{group.name}` with the wrong `{group.detail}`",
        what=f"The agent's `{group.detail}` differs from the expected value in "
        f"{how_often(group, context.partition.table.height)}{alone}.{_knowable(traced, unseen)}",
        fix=_look_up_first(group, giver) if blind else _check_it(group),
        brief=f"{_look_up(group, giver)} before `{group.name}`"
        if blind
        else f"`{group.detail}` checked before `{group.name}`",
        kind="prompt",
        owner="prompt",
        where=tuple(_argument_examples(context, traced)),
    )


def _look_up_first(group: FailureGroup, giver: str | None) -> str:
    """What to do where the right value was never seen."""
    if giver is not None:
        return f"Have the agent call `{giver}` before `{group.name}` and take `{group.detail}` from its result"
    return (
        f"Have the agent look `{group.detail}` up before `{group.name}`, and have the harness reject a value that no "
        f"message and no result contains"
    )


def _look_up(group: FailureGroup, giver: str | None) -> str:
    return f"`{giver}`" if giver is not None else f"`{group.detail}` looked up"


def _check_it(group: FailureGroup) -> str:
    return (
        f"Before `{group.name}`, have the agent compare each value of `{group.detail}` with the user's request and with "
        f"what the lookups returned"
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
        return f" In {unseen} of the {able} that were read, the agent had not seen the expected value by then."
    took = sum(one.can_be_traced and one.seen and one.made is not None for one in traced)
    return (
        f" In {took} of the {able} that were read, the agent had seen the expected value and used another."
        if took
        else ""
    )


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


def _argument_examples(context: RunContext, traced: Sequence[Trace]) -> list[QuotedSentence]:
    """Two tasks: first those in which a passing repeat gave the right value, and values that were given, not left out."""

    def order(one: Trace) -> tuple[bool, bool]:
        return one.walk.rollout.key.task_id not in context.contrasts, one.made is None

    first: dict[str, Trace] = {}
    for one in sorted(traced, key=order):
        first.setdefault(one.walk.rollout.key.task_id, one)
    return [_argument_example(one, context) for one in list(first.values())[:2]]


def _argument_example(one: Trace, context: RunContext) -> QuotedSentence:
    call = one.wrong.made.step
    evidence = [quotes.of_call(one.walk.rollout, call, one.made, one.name)]
    text = f"{one.walk.place}:{call.index} {_given(one)}"
    origin = provenance.source(one.walk.rollout, one.made, call.index)
    if origin is not None:
        evidence.append(quotes.holding(one.walk.rollout, origin, str(one.made)))
        text += f", taken from :{origin.index}{_by(origin)}"
    elif provenance.can_be_traced(one.made) and not provenance.in_prompt(one.walk.rollout, one.made):
        text += ", which appears nowhere before"
    right = _right_use(one, context)
    if right is not None:
        walk, step, source = right
        evidence.append(quotes.of_call(walk.rollout, step, one.due, one.name))
        text += f". Passing {walk.place}:{step.index} gives {quotes.shown(one.due, 40)}"
        text += f", taken from :{source.index}{_by(source)}" if source is not None else ""
    return f"{text}.", tuple(piece for piece in evidence if piece is not None)


def _given(one: Trace) -> str:
    given, wanted = quotes.shown(one.made, 40), quotes.shown(one.due, 40)
    if one.made is None:
        return f"leaves out `{one.name}`, expected {wanted}"
    if one.due is None:
        return f"adds `{one.name}` {given}, which is not expected"
    return f"gives `{one.name}` {given}, expected {wanted}"


def _by(step: Step) -> str:
    return f" (`{step.tool}`)" if step.tool else f" ({step.party})"


def _right_use(one: Trace, context: RunContext) -> tuple[AlignedTrajectory, Step, Step | None] | None:
    """A passing repeat's call with the value that was due, and where that repeat had it from."""
    for walk in (walk for walk in context.reading.of(one.walk.rollout.key.task_id) if walk.passed):
        for due, made in walk.pairing.exact:
            if due.tool == one.wrong.due.tool and due.arguments == one.wrong.due.arguments:
                return walk, made.step, provenance.source(walk.rollout, one.due, made.step.index)
    return None


def left_out(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A change that was due and not made, whether others were made or none."""
    walks = context.read(group.failing)
    why = {walk.place: reason(walk, group.name) for walk in walks}
    counts = Counter(why.values())
    told = [REASONS[name].format(n=counts[name]) for name in REASONS if counts[name]]
    claims = sum(claims_done(walk, group.name) for walk in walks)
    told += [f"in {claims} the agent says in the end that it was done"] if claims else []
    commonest = max(REASONS, key=lambda name: counts[name]) if counts else "left"
    picks = _picking(group, context, walks) if commonest in ("partly", "left") else None
    fix, brief, kind = _by_query(picks) if picks is not None else _remedy(commonest, group.name)
    return FindingDraft(
        title=f"Leaves out a required `{group.name}` call",
        what=f"A required `{group.name}` call is missing in {how_often(group, context.partition.table.height)}."
        f"{_why(told, len(walks))}{_narrowed(picks)}",
        fix=fix,
        brief=brief,
        kind=kind,
        owner="user simulator" if commonest in ("hung up", "withdrew") else "prompt",
        where=_left_out_examples(group, context, walks),
    )


def _why(told: Sequence[str], read: int) -> str:
    """What stood in the way in each of those that were read."""
    if not told:
        return ""
    return (
        f" Of the {read} read: {', '.join(told)}." if read > 1 else f" There, {', '.join(told).replace('in 1 ', '')}."
    )


def _picking(group: FailureGroup, context: RunContext, walks: list[AlignedTrajectory]) -> Narrower | None:
    """Whether the failing repeats pick from results what the passing ones ask for."""
    return narrower(walks, context.passing_repeats(group.failing))


def _narrowed(picks: Narrower | None) -> str:
    if picks is None:
        return ""
    return (
        f" `{picks.tool}` gets `{picks.argument}` in {picks.passing_with} of {picks.passing} passing repeats and in "
        f"{picks.failing_with} of {picks.failing} failing ones, which filter the results in their reasoning instead."
    )


def _by_query(picks: Narrower) -> tuple[str, str, str]:
    fix = f"Have the agent pass `{picks.argument}` to `{picks.tool}` instead of filtering its results in its reasoning"
    return fix, f"`{picks.tool}` narrowed by `{picks.argument}`", "prompt"


def _left_out_examples(
    group: FailureGroup, context: RunContext, walks: list[AlignedTrajectory]
) -> tuple[QuotedSentence, ...]:
    """Rollouts in which the user ended it are shown by the user's words; the rest as in any group."""
    by_user = [(walk, found) for walk in walks if (found := hung_up(walk) or withdrew(walk)) is not None]
    if len(by_user) * 2 > len(walks):
        return tuple((f'{w.place}: the user says (:{e.step}) "{e.quote}".', (e,)) for w, e in by_user[:2])
    refused = [(walk, found) for walk in walks if (found := _error(walk, group.name)) is not None]
    if len(refused) * 2 > len(walks):
        return tuple((f'{w.place}: `{group.name}` is refused (:{e.step}) "{e.quote}".', (e,)) for w, e in refused[:2])
    return examples(group, context)


def _error(walk: AlignedTrajectory, tool: str) -> Evidence | None:
    """What the tool said when it refused the call."""
    results = (walk.result_of(call) for call in walk.calls if call.tool == tool)
    refusal = next((result for result in results if result is not None and result.failed), None)
    return quotes.of_text(walk.rollout, refusal, ("error",)) if refusal is not None else None


def reason(walk: AlignedTrajectory, tool: str) -> str:
    """Why a rollout lacks a call of `tool` that was due: the first of `REASONS` that fits."""
    if not walk.calls:
        return "silent"
    if hung_up(walk) is not None:
        return "hung up"
    if withdrew(walk) is not None:
        return "withdrew"
    if "is refused" in left_out_in_words(walk, tool):
        return "refused"
    if _ended_on_an_error(walk):
        return GAVE_UP
    text, evidence = failure_in_words(walk, tool)
    if evidence and " says " in text and any(word in evidence[0].quote.lower() for word in DECLINING):
        return "declined"
    if "transfer" in (walk.calls[-1].tool or ""):
        return "handed over"
    return "partly" if any(one.kind == Differs.MISSING for one in walk.differs) else "left"


def _ended_on_an_error(walk: AlignedTrajectory) -> bool:
    """Whether the last call of a rollout failed, and no other followed."""
    result = walk.result_of(walk.calls[-1])
    return result is not None and result.failed


def claims_done(walk: AlignedTrajectory, tool: str) -> bool:
    """Whether the agent's last words say of the very thing that was due, in one sentence, that it was done."""
    names = due_ids(walk, tool)
    sentences = re.split(r"[.!?\n]", last_text(walk).lower())
    return any(_DONE.search(s) and not _NOT.search(s) and any(name.lower() in s for name in names) for s in sentences)


def _remedy(reason_: str, tool: str) -> tuple[str, str, str]:
    if reason_ == "declined":
        fix = f"Compare these refusals of `{tool}` with the agent's instructions: the agent misreads them, or the expected actions contradict them"
        return fix, f"the refusals of `{tool}`", "prompt"
    if reason_ == "refused":
        return f"State in the prompt what to do when `{tool}` returns this error", f"the errors of `{tool}`", "prompt"
    if reason_ == GAVE_UP:
        return AFTER_AN_ERROR
    if reason_ in ("hung up", "withdrew"):
        fix = "Read how the simulated user ends or withdraws the request; if the agent did nothing to cause it, correct the simulator"
        return fix, "the user simulator", "harness"
    fix = f"Before it closes, have the agent list each request with the call that did it; `{tool}` is the one left out"
    return fix, f"a list of open requests before closing, for `{tool}`", "prompt"


def refused_by_schema(group: FailureGroup, context: RunContext) -> FindingDraft:
    """Arguments of another type than the request declares, unknown ones, or required ones that are lacking."""
    return FindingDraft(
        title=f"Calls `{group.name}` with arguments that its schema rejects",
        what=f"Nothing else explains {how_often(group, context.partition.table.height)}.",
        fix="Decode calls with the tool's schema, or have the harness reject such a call and say what the tool takes",
        brief=f"calls of `{group.name}` that break its schema",
        kind="harness",
        owner="harness",
        where=tuple(_refused_call(walk, group.name) for walk in context.read(group.failing)[:MOST_SHOWN]),
        support=Support.CONSISTENT,
    )


def _refused_call(walk: AlignedTrajectory, tool: str) -> QuotedSentence:
    found = next((one for one in walk.differs if one.kind == Differs.REFUSED and one.name == tool), None)
    call = walk.call_at(found.step, tool) if found is not None else None
    evidence = quotes.of_call(walk.rollout, call) if call is not None else None
    if found is None or call is None or evidence is None:
        return f"{walk.place}.", ()
    return f"{walk.place}:{call.index} calls `{tool}` `{evidence.quote}`, where `{found.detail}` breaks the schema.", (
        evidence,
    )
