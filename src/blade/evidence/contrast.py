"""Passing against failing repeats of one task: where they part, whose doing it is, and what each side said.

A divergence is looked for in the order of blame that can be shown: the same call with another result is the tools';
a fact of the user's script that passing repeats were told and the failing one was not is the user's; the rest is the
agent's. This describes one task and proves nothing by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from blade.evidence import provenance, quotes
from blade.evidence.actions import parsed
from blade.evidence.alignment import AlignedTrajectory, canonical, shared_start
from blade.evidence.simulated_user import NOT_GIVING, asks_for, facts, put_off, told
from blade.model.diagnosis import Contrast, Divergence, Moment
from blade.model.expected import DueCall
from blade.model.finding import Difference, Differs
from blade.model.rollout import Step
from blade.model.tools import changes_state

MOST_LISTED = 4

DECLINING = ("cannot", "not ", "unable", "unfortunately")
_AT_A_STEP = (Differs.ARGUMENT, Differs.UNWANTED, Differs.EXTRA)
_LEFT_OUT = (Differs.NOT_MADE, Differs.MISSING)


def contrast(task_id: str, walks: Sequence[AlignedTrajectory]) -> Contrast:
    """The contrast of a task that has both outcomes among `walks`."""
    passing = [walk for walk in walks if walk.passed]
    failing = [walk for walk in walks if not walk.passed]
    return Contrast(
        task_id=task_id,
        passing=tuple(walk.repeat for walk in passing),
        failing=tuple(walk.repeat for walk in failing),
        divergences=tuple(diverge(walk, nearest(walk, passing)) for walk in failing if walk.steps),
        only_passing=_only(passing, failing),
        only_failing=_only(failing, passing),
        lucky=tuple(walk.repeat for walk in passing if _is_lucky(walk, failing)),
    )


TASK_FIELDS = ("difficulty", "level", "category", "problem_type", "task_type")
"""Fields of a row that speak of the task: repeats that differ in one are not repeats."""


def unlike(walks: Sequence[AlignedTrajectory]) -> str:
    """How rollouts that count as repeats of one task were not given the same thing; empty when they were.

    With a simulated user the first words differ by nature, and are not looked at.
    """
    for name in TASK_FIELDS:
        values = {str(walk.row[name]) for walk in walks if walk.row.get(name) is not None}
        if len(values) > 1:
            return f"differ in `{name}` ({', '.join(sorted(values)[:3])})"
    if any(walk.due.script for walk in walks):
        return "do not share a script of the simulated user" if len({_was_given(walk) for walk in walks}) > 1 else ""
    return "do not share a prompt" if len({_was_given(walk) for walk in walks}) > 1 else ""


def others(walks: Sequence[AlignedTrajectory]) -> list[AlignedTrajectory]:
    """Of rollouts that were not given the same thing, those whose thing is not the task's: all where that cannot be told.

    The task's is what some rollout could do, else what most were given.
    """
    passing = {_was_given(walk) for walk in walks if walk.passed}
    if len(passing) == 1:
        return [walk for walk in walks if _was_given(walk) not in passing]
    counts = Counter(_was_given(walk) for walk in walks)
    usual, times = counts.most_common(1)[0] if counts else ("", 0)
    return [walk for walk in walks if _was_given(walk) != usual] if times * 2 > len(walks) else list(walks)


def _was_given(walk: AlignedTrajectory) -> str:
    """What a rollout was given: its script where a user is simulated, else its prompt, with single spaces.

    Where a user takes part in the talk and no script is on record, what the user says first is the user's doing.
    """
    script = walk.due.script
    if script:
        return " ".join(script.split())
    features = walk.rollout.features
    talks = features is not None and features.user_messages > 0
    return "\n".join(
        " ".join(step.text.split()) for step in walk.rollout.prompt if not (talks and step.party == "user")
    )


def nearest(walk: AlignedTrajectory, passing: Sequence[AlignedTrajectory]) -> AlignedTrajectory:
    """The passing repeat that goes the same way longest."""
    return max(passing, key=lambda other: (shared_start(walk.actions, other.actions), -other.repeat))


def diverge(failing: AlignedTrajectory, passing: AlignedTrajectory) -> Divergence:
    """Where a failing repeat leaves the way of a passing one."""
    shared = shared_start(failing.actions, passing.actions)
    found = _by_tools(failing, passing, shared) or _by_user(failing, passing) or _by_agent(failing, passing, shared)
    party, what, failed, passed = found
    failed, passed = _telling_apart(failed, passed)
    return Divergence(
        task_id=failing.rollout.key.task_id,
        party=party,
        failing=failing.repeat,
        passing=passing.repeat,
        shared=shared,
        what=what,
        failed=failed,
        passed=passed,
    )


def _telling_apart(failed: Moment, passed: Moment) -> tuple[Moment, Moment]:
    """The moments as they are, or without the passing one's quote where it is the failing one's: it would show nothing."""
    mine, other = failed.evidence, passed.evidence
    if mine is None or other is None or " ".join(mine.quote.split()) != " ".join(other.quote.split()):
        return failed, passed
    return failed, replace(passed, evidence=None)


Found = tuple[str, str, Moment, Moment]


def _by_tools(failing: AlignedTrajectory, passing: AlignedTrajectory, shared: int) -> Found | None:
    """The same call, made on the same way, returned an error on one side only."""
    for mine, other in zip(failing.calls[:shared], passing.calls[:shared], strict=True):
        bad, good = failing.result_of(mine), passing.result_of(other)
        if bad is not None and good is not None and bad.failed and not good.failed and not _got_through(failing, mine):
            return (
                "tool",
                f"`{mine.tool}` returned an error to the same call",
                Moment(did="was refused", evidence=quotes.of_text(failing.rollout, bad)),
                Moment(did="was answered", evidence=quotes.of_text(passing.rollout, good)),
            )
    return None


def _got_through(walk: AlignedTrajectory, call: Step) -> bool:
    """Whether the same call was answered later."""
    again = [one for one in walk.calls if one.index > call.index and canonical(one) == canonical(call)]
    return any(result is not None and not result.failed for result in map(walk.result_of, again))


def _by_user(failing: AlignedTrajectory, passing: AlignedTrajectory) -> Found | None:
    """A fact of the script that the passing repeat was told and used, and the failing one never heard."""
    wanted = facts(failing.due.script)
    heard = told(failing.steps, wanted)
    for call in passing.calls:
        used = [fact for fact in wanted if fact.lower() in (call.arguments or "").lower() and fact not in heard]
        given = told(passing.steps, used, before=call.index)
        if given and not any(given[0].lower() in (one.arguments or "").lower() for one in failing.calls):
            return _withheld(failing, passing, given[0], call)
    return None


def _withheld(failing: AlignedTrajectory, passing: AlignedTrajectory, fact: str, call: Step) -> Found:
    asked = asks_for(failing, argument_of(call, fact))
    reply = put_off(failing, argument_of(call, fact))
    giving = next((s for s in passing.steps if s.party == "user" and fact.lower() in s.text.lower()), None)
    what = f"the simulated user never gave `{fact}`, which its script holds"
    return (
        "user" if asked else "agent",
        what if asked else f"never asks for `{argument_of(call, fact)}`, and the user does not give `{fact}` unasked",
        Moment(did="says", evidence=quotes.of_text(failing.rollout, reply, NOT_GIVING) if reply else None),
        Moment(did="says", evidence=quotes.holding(passing.rollout, giving, fact) if giving else None),
    )


def argument_of(call: Step, fact: str) -> str:
    """The name of the argument of a call that holds the fact; empty when none does."""
    names = (name for name, value in parsed(call.arguments).items() if fact.lower() in str(value).lower())
    return next(names, "")


def _by_agent(failing: AlignedTrajectory, passing: AlignedTrajectory, shared: int) -> Found:
    for difference in failing.differs:
        if difference.kind in _AT_A_STEP and difference.step is not None:
            return "agent", *_at_a_step(failing, passing, difference, shared)
    for difference in failing.differs:
        if difference.kind in _LEFT_OUT:
            return "agent", *_left_out(failing, passing, difference, shared)
    return "agent", *_first_parting(failing, passing, shared)


def _at_a_step(
    failing: AlignedTrajectory, passing: AlignedTrajectory, difference: Difference, shared: int
) -> tuple[str, Moment, Moment]:
    call = failing.call_at(difference.step, difference.name) or failing.calls[0]
    words = words_of(difference.name)
    if difference.kind == Differs.ARGUMENT:
        return _other_argument(failing, passing, difference, call)
    before = failing.said_before(call.index, words)
    return (
        f"calls `{difference.name}`, which is not an expected action",
        Moment(
            did=f"calls {difference.name}",
            evidence=quotes.of_call(failing.rollout, call),
            before=quotes.of_text(failing.rollout, before, words) if before else None,
        ),
        _instead(passing, shared, (*DECLINING, *words)),
    )


def _other_argument(
    failing: AlignedTrajectory, passing: AlignedTrajectory, difference: Difference, call: Step
) -> tuple[str, Moment, Moment]:
    wrong = next(
        one for one in failing.pairing.wrong if one.made.step.index == call.index and difference.detail in one.names
    )
    name, due, made = provenance.first_difference(
        difference.detail, wrong.due.arguments.get(difference.detail), wrong.made.arguments.get(difference.detail)
    )
    right = next((one.step for due_call, one in passing.pairing.exact if due_call.tool == difference.name), None)
    before = failing.said_before(call.index)
    origin = provenance.source(failing.rollout, made, call.index)
    stands = f" (it stands in :{origin.index}{f', {origin.tool}' if origin.tool else ''})" if origin is not None else ""
    return (
        f"gives `{difference.name}` {_named(name, made)}{stands}; {_named(name, due)} is expected",
        Moment(
            did=f"calls {difference.name}",
            evidence=quotes.of_call(failing.rollout, call, made, name),
            before=quotes.of_text(failing.rollout, before, (name, str(made))) if before else None,
        ),
        Moment(
            did=f"calls {difference.name}",
            evidence=quotes.of_call(passing.rollout, right, due, name) if right else None,
        ),
    )


def _named(name: str, value: object) -> str:
    return f"no `{name}`" if value is None else f"`{name}` {quotes.shown(value)}"


def _left_out(
    failing: AlignedTrajectory, passing: AlignedTrajectory, difference: Difference, shared: int
) -> tuple[str, Moment, Moment]:
    lacking = next((call for call in failing.pairing.missing if call.tool == difference.name), None)
    right = [one.step for call, one in passing.pairing.exact if lacking is not None and call == lacking]
    made = next((step for step in (*right, *passing.calls) if step.tool == difference.name), None)
    words = (*due_ids(failing, difference.name), *DECLINING, *words_of(difference.name))
    spoken = failing.most_about(words, after=-1)
    return (
        left_out_in_words(failing, difference.name),
        Moment(did="says", evidence=quotes.of_text(failing.rollout, spoken, words) if spoken else None),
        Moment(did=f"calls {difference.name}", evidence=quotes.of_call(passing.rollout, made) if made else None),
    )


def left_out_in_words(walk: AlignedTrajectory, tool: str) -> str:
    """How a change that was due is lacking: refused, one of several, or never tried."""
    refused = next((call for call in walk.calls if call.tool == tool and _was_refused(walk, call)), None)
    lacking = next((call for call in walk.pairing.missing if call.tool == tool), None)
    if any(made.tool == tool for made in walk.made) and lacking is not None:
        return f"leaves out `{call_in_words(lacking)}`, which is required"
    if refused is not None:
        return f"tries `{tool}` (:{refused.index}), is refused and does not get it done"
    return f"never calls `{tool}`, which is required"


def due_ids(walk: AlignedTrajectory, tool: str) -> tuple[str, ...]:
    """Names with digits in the calls of a tool that were due and not made: what a sentence about them would hold."""
    lacking = [call for call in walk.pairing.missing if call.tool == tool]
    values = [value for call in lacking for name, value in provenance.values_of(call) if "user" not in name]
    names = [value for value in values if isinstance(value, str) and " " not in value and re.search(r"\d", value)]
    return tuple(dict.fromkeys(names))


def _was_refused(walk: AlignedTrajectory, call: Step) -> bool:
    result = walk.result_of(call)
    return result is not None and result.failed


def call_in_words(call: DueCall) -> str:
    """`cancel_reservation(reservation_id=H8Q05L)`, cut where it is long."""
    arguments = ", ".join(f"{name}={quotes.shown(value, 40)}" for name, value in call.arguments.items())
    return quotes.shown(f"{call.tool}({arguments})", 150)


def _instead(walk: AlignedTrajectory, shared: int, words: Sequence[str]) -> Moment:
    """What the agent of a passing repeat said at the same point: the message after it that speaks most of `words`."""
    at = walk.calls[shared - 1].index if 0 < shared <= len(walk.calls) else -1
    message = walk.most_about(words, after=at)
    return Moment(did="says", evidence=quotes.of_text(walk.rollout, message, words) if message else None)


def _first_parting(failing: AlignedTrajectory, passing: AlignedTrajectory, shared: int) -> tuple[str, Moment, Moment]:
    mine = failing.calls[shared] if shared < len(failing.calls) else None
    other = passing.calls[shared] if shared < len(passing.calls) else None
    if mine is None and other is None:
        apart = (
            (_moment(failing, mine, shared), _moment(passing, other, shared))
            if shared
            else _first_words_apart(failing, passing)
        )
        return _parted_in_words(failing, passing, shared), *apart
    did = f"calls `{mine.tool}`" if mine else "calls nothing more"
    instead = f"calls `{other.tool}`" if other else "calls nothing more"
    if did == instead:
        instead = "gives it other arguments"
    return (
        f"{did}, where the passing repeat {instead}",
        _moment(failing, mine, shared),
        _moment(passing, other, shared),
    )


def _parted_in_words(failing: AlignedTrajectory, passing: AlignedTrajectory, shared: int) -> str:
    """How two rollouts that call the same part."""
    mine, others = _said(failing), _said(passing)
    if mine == others:
        return "does and says the same, and is judged otherwise"
    if not shared and mine == others[: len(mine)]:
        return "says the same as far as it goes, and ends sooner"
    return "makes the same calls and ends otherwise" if shared else "says something else"


def _said(walk: AlignedTrajectory) -> list[str]:
    return [step.text for step in _messages(walk)]


def _messages(walk: AlignedTrajectory) -> list[Step]:
    return [step for step in walk.steps if step.party == "agent" and step.kind == "message"]


def _first_words_apart(failing: AlignedTrajectory, passing: AlignedTrajectory) -> tuple[Moment, Moment]:
    """The first messages that differ, each quoted where it does; where none does, what was said last on both sides."""
    mine, others = _messages(failing), _messages(passing)
    at = shared_start(_said(failing), _said(passing))
    return _said_at(failing, mine, others, at), _said_at(passing, others, mine, at)


def _said_at(walk: AlignedTrajectory, own: Sequence[Step], theirs: Sequence[Step], at: int) -> Moment:
    step = own[min(at, len(own) - 1)] if own else None
    beside = theirs[at].text if at < len(theirs) else ""
    return Moment(did="says", evidence=quotes.unlike(walk.rollout, step, beside) if step is not None else None)


def _moment(walk: AlignedTrajectory, call: Step | None, shared: int) -> Moment:
    if call is None:
        return _instead(walk, shared, ())
    before = walk.said_before(call.index)
    return Moment(
        did=f"calls {call.tool}",
        evidence=quotes.of_call(walk.rollout, call),
        before=quotes.of_text(walk.rollout, before) if before else None,
    )


def _only(these: Sequence[AlignedTrajectory], those: Sequence[AlignedTrajectory]) -> tuple[str, ...]:
    """What every one of these has and none of those: tools, whole calls that change something, arguments of a tool."""
    if not these or not those:
        return ()
    tools = [tool for tool in these[0].tools if all(tool in w.tools for w in these)]
    apart = [f"`{tool}`" for tool in tools if not any(tool in walk.tools for walk in those)]
    apart += [f"`{name}` of `{tool}`" for tool, name in _told(these) if not any((tool, name) in w.given for w in those)]
    calls = [action for action in these[0].changes if all(action in walk.changes for walk in these)]
    apart += [f"`{quotes.shown(action, 120)}`" for action in calls if not any(action in w.changes for w in those)]
    return tuple(dict.fromkeys(apart))[:MOST_LISTED]


def _told(walks: Sequence[AlignedTrajectory]) -> list[tuple[str, str]]:
    """Arguments, with their tools, that every one of the walks gives."""
    return [pair_ for pair_ in walks[0].given if all(pair_ in walk.given for walk in walks)]


def _is_lucky(walk: AlignedTrajectory, failing: Sequence[AlignedTrajectory]) -> bool:
    """A pass that made fewer calls than any failure and left out a look-up that all of them made."""
    if not failing or any(len(walk.calls) >= len(other.calls) for other in failing):
        return False
    if any(tool not in other.tools for tool in walk.tools for other in failing):
        return False
    look_ups = [tool for tool in failing[0].tools if not changes_state(tool)]
    return any(tool not in walk.tools and all(tool in other.tools for other in failing) for tool in look_ups)


def words_of(tool: str) -> tuple[str, ...]:
    """The words of a tool's name, for finding the sentence that speaks of it."""
    return tuple(word for word in re.split(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", tool) if len(word) > 3)


Given = tuple[str, str]
"""A tool and the name of one of its arguments."""
FEWEST = 3
"""Failing rollouts that must lack the argument, in two tasks or more."""
LACKING, HAVING = 0.8, 0.3
"""Shares of failing rollouts that lack it, and of passing ones that have it (two or more), at the least."""


class Narrower(Struct, frozen=True, kw_only=True):
    """An argument of a look-up, and how often each side gives it."""

    tool: str
    argument: str
    failing_with: int
    failing: int
    passing_with: int
    passing: int


def narrower(failing: Sequence[AlignedTrajectory], passing: Sequence[AlignedTrajectory]) -> Narrower | None:
    """The argument that sets passing repeats of the same tasks apart most; None where none does."""
    tasks = {_task(walk) for walk in passing}
    left = [walk for walk in failing if _task(walk) in tasks]
    tools = {tool for walk in left for tool, _ in _given(walk)}
    with_it = Counter(given for walk in passing for given in _given(walk) if given[0] in tools)
    found = [_counted(given, left, passing) for given in sorted(with_it)]
    telling = [one for one in found if _tells(one, left)]
    return min(telling, key=lambda one: (one.failing_with, -one.passing_with, one.tool, one.argument), default=None)


def _task(walk: AlignedTrajectory) -> str:
    return walk.rollout.key.task_id


def _given(walk: AlignedTrajectory) -> set[Given]:
    return set(_arguments(walk))


def _arguments(walk: AlignedTrajectory) -> Iterator[Given]:
    """Arguments of look-ups that were given a value."""
    for call in walk.calls:
        tool = call.tool or ""
        if tool and not changes_state(tool):
            yield from ((tool, name) for name, value in parsed(call.arguments).items() if value not in (None, ""))


def _counted(given: Given, failing: Sequence[AlignedTrajectory], passing: Sequence[AlignedTrajectory]) -> Narrower:
    tool, argument = given
    asked = [walk for walk in failing if any(call.tool == tool for call in walk.calls)]
    asking = [walk for walk in passing if any(call.tool == tool for call in walk.calls)]
    return Narrower(
        tool=tool,
        argument=argument,
        failing_with=sum(given in _given(walk) for walk in asked),
        failing=len(asked),
        passing_with=sum(given in _given(walk) for walk in asking),
        passing=len(asking),
    )


def _tells(one: Narrower, failing: Sequence[AlignedTrajectory]) -> bool:
    lacking = one.failing - one.failing_with
    tasks = {_task(walk) for walk in failing if any(call.tool == one.tool for call in walk.calls)}
    enough = lacking >= FEWEST and len(tasks) > 1
    shown = one.passing_with >= max(2, HAVING * one.passing)
    return enough and shown and lacking >= LACKING * one.failing
