"""What was due and what a rollout did, in a line of words."""

from __future__ import annotations

from collections.abc import Sequence

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.contrast import call_in_words, left_out_in_words
from blade.evidence.differences import OF_A_TEST, UNDECIDED
from blade.evidence.templates import readable, telling
from blade.model.expected import Due, DueCall
from blade.model.finding import Difference, Differs
from blade.model.tools import changes_state

MOST_CALLS = 3
MOST_DIFFERENCES = 4
LONGEST_ARGUMENTS = 60
LONGEST_ANSWER = 160
_NOTHING = {"output": "no output", "thought": "only thoughts, no word", "declined": "declined"}
"""What stands in the place of an answer."""


def due_in_words(due: Due, *, only_reads: bool = False) -> str:
    """The key in a line; what cannot be known is said. Look-ups are due where no key of the run wants a change."""
    if due.calls is not None:
        wanted = [call for call in due.calls if only_reads or changes_state(call.tool)]
        said = f"say {', '.join(quotes.shown(one, 40) for one in due.statements[:3])}" if due.statements else ""
        return "; ".join(filter(None, (_listed(wanted) or "no change", said)))
    if due.checks and (due.answer is None or len(due.answer) > LONGEST_ANSWER):
        return f"{due.asked:,} {'test or criterion' if due.asked == 1 else 'tests or criteria'}"
    if due.answer:
        return f"answer {quotes.worded(due.answer, LONGEST_ANSWER)}"
    return "not in these files"


def _listed(calls: Sequence[DueCall]) -> str:
    more = f"; {len(calls) - MOST_CALLS} more" if len(calls) > MOST_CALLS else ""
    return "; ".join(f"`{call_in_words(call)}`" for call in calls[:MOST_CALLS]) + more


def done_in_words(walk: AlignedTrajectory) -> str:
    """How a rollout differs from what was due, or what it did where that cannot be told."""
    found = list(dict.fromkeys(filter(None, (_not_made(walk), *(_difference(walk, one) for one in walk.differs)))))
    if found:
        more = f"; {len(found) - MOST_DIFFERENCES} more" if len(found) > MOST_DIFFERENCES else ""
        return "; ".join(found[:MOST_DIFFERENCES]) + more
    if walk.passed and walk.due.calls is not None:
        return "as the key has it"
    if walk.rollout.answer:
        return f"answers {quotes.worded(walk.rollout.answer, 80)}"
    return f"{len(walk.calls)} call{'' if len(walk.calls) == 1 else 's'}" if walk.calls else "no call"


def _not_made(walk: AlignedTrajectory) -> str:
    due = [one.name for one in walk.differs if one.kind == Differs.NOT_MADE]
    refused = [tool for tool in due if any(call.tool == tool for call in walk.calls)]
    if refused:
        return "; ".join(left_out_in_words(walk, tool) for tool in due)
    named = ", ".join(f"`{tool}`" for tool in due)
    return f"no change; {named} {'was' if len(due) == 1 else 'were'} due" if due else ""


def _call(walk: AlignedTrajectory, step: int | None, tool: str) -> str:
    """A call with its arguments where they are short, and its place."""
    call = walk.call_at(step, tool)
    arguments = " ".join((call.arguments or "").split()) if call is not None else ""
    shown = f" {arguments}" if 2 < len(arguments) <= LONGEST_ARGUMENTS else ""
    return f"{shown} (:{step})"


def _difference(walk: AlignedTrajectory, one: Difference) -> str:
    if one.kind == Differs.ARGUMENT:
        return f"{_argument(walk, one)} (:{one.step})"
    words = {
        Differs.UNWANTED: f"calls `{one.name}`{_call(walk, one.step, one.name)}, the key wants no change",
        Differs.EXTRA: f"calls `{one.name}`{_call(walk, one.step, one.name)} beyond the key",
        Differs.MISSING: left_out_in_words(walk, one.name) if one.kind == Differs.MISSING else "",
        Differs.NOT_SAID: f"does not say {quotes.shown(one.name, 50)}",
        Differs.CHECK: _check(walk, one) if one.kind == Differs.CHECK else "",
        Differs.CUT: f"cut by the limit of {one.name}"
        if one.name != OF_A_TEST
        else "its program is too slow for the tests",
        Differs.NO_RECORD: f"no verdict in `{one.name}`"
        if one.detail == UNDECIDED
        else f"no account of the verifier in `{one.name}`",
        Differs.ERROR: f"`{one.name}`: {quotes.shown(readable(one.detail), 70)}",
        Differs.NO_ANSWER: _NOTHING.get(one.name, "no answer handed in"),
        Differs.REFUSED: f"calls `{one.name}`{_call(walk, one.step, one.name)}, whose schema refuses `{one.detail}`",
        Differs.SAID: f"`{one.name}`: {quotes.shown(readable(one.detail), 90)}",
    }
    if one.kind == Differs.ANSWER:
        return "" if walk.passed else _answer(walk, one.name)
    return words.get(Differs(one.kind), "")


def _check(walk: AlignedTrajectory, one: Difference) -> str:
    """A test or criterion that failed, with the verifier's words where there are any."""
    failed = next((check for check in walk.due.checks if not check.passed and check.name.startswith(one.name)), None)
    start, end = telling(failed.words) if failed is not None and failed.words.strip() else (0, 0)
    words = f" ({quotes.shown(failed.words[start:end], 90)})" if failed is not None and end else ""
    return f"fails `{quotes.shown(one.name, 70)}`{words}"


def _answer(walk: AlignedTrajectory, how: str) -> str:
    given = walk.rollout.answer
    return f"answers {quotes.worded(given, 60)} ({how})" if given else f"no answer extracted ({how})"


def _argument(walk: AlignedTrajectory, one: Difference) -> str:
    for wrong in walk.pairing.wrong:
        if wrong.made.step.index == one.step and one.detail in wrong.names:
            name, due, made = provenance.first_difference(
                one.detail, wrong.due.arguments.get(one.detail), wrong.made.arguments.get(one.detail)
            )
            if made is None:
                return f"`{one.name}` leaves out `{name}` {quotes.shown(due, 30)}"
            if due is None:
                return f"`{one.name}` adds `{name}` {quotes.shown(made, 30)}"
            return f"`{one.name}` with `{name}` {quotes.shown(made, 30)} for {quotes.shown(due, 30)}"
    return f"`{one.name}` with another `{one.detail}`"
