"""Tool-using chat agents: the calls made against the calls of the key, for the agent and for a user that must act too.

Made of every judged rollout whose key is a list of calls, so that passes can veto: `action:missing` (a change of the key, and
none of its changes was made), `action:partial` (a change of the key that is missing beside others), `action:extra`,
`action:wrong-argument` and `action:wrong-object` (subject `tool.argument`; the object is the first id of the key's call),
`action:wrong-order` (all changes right, in another order), `lookup:skipped`, `statement:missing`, `talk:broken-off` (the talk ends with
a message of the user that asks for an answer and gets none; in passes too), `transfer:needless` (handed
over though neither the key wants it nor the user asked for it first, while something due was left undone). The same for what the simulated user had to do
itself, where its calls are recorded: `user-action:missing` and so on. Besides, in `declines.py`, `users.py` and
`verifier_parts.py`: what the agent says against an action, the simulated user, keys of other rows, and parts of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from blade.evidence.actions import Made, Pairing, carried_out, changes, pair, same
from blade.evidence.provenance import first_difference, in_prompt, is_name, source
from blade.evidence.quotes import around
from blade.evidence.signs.declines import declines
from blade.evidence.signs.idle_calls import idle_calls
from blade.evidence.signs.tries import tries
from blade.evidence.signs.users import asks_for_transfer, is_transfer, user_signs
from blade.evidence.signs.verifier_parts import verifier_parts
from blade.evidence.simulated_user import ENDS
from blade.model.expected import DueCall
from blade.model.finding import Sign
from blade.model.rollout import JUDGED, Outcome, Rollout, Step
from blade.model.tools import changes_state

LONGEST = 200
"""Characters of a quote; the sign's own limit."""
LONGEST_SUBJECT = 120
MOST = 4
"""Signs of one kind: a key of thirty calls must not fill the table."""
MOST_PARTS = 6
_UNDONE = ("action:missing", "action:partial", "statement:missing")
_NO_ARGUMENTS = ("", "{}", "null")


def chat_signs(rollout: Rollout) -> Iterator[Sign]:
    """What a rollout with a key of calls shows; nothing of other rollouts."""
    due, steps = rollout.due.calls, rollout.steps
    if rollout.outcome not in JUDGED or due is None or steps is None:
        return
    failed = rollout.outcome is Outcome.FAILED
    actions = [*_of_agent(due, steps), *_statements(rollout, steps)]
    yield from actions
    yield from idle_calls(steps)
    last = steps[-1] if steps else None
    if last is not None and last.kind == "message" and last.party == "user" and not ENDS.search(last.text):
        yield Sign(kind="talk:broken-off", step=last.index)
    if failed:
        yield from _made_up(rollout, due, steps)
        yield from declines(due, steps)
        yield from tries(rollout, [call for call in due if changes_state(call.tool)], carried_out(steps))
    undone = any(sign.kind in _UNDONE for sign in actions)
    if undone:
        yield from _transfer(due, steps)
    yield from user_signs(rollout, failed=failed, undone=undone)
    if failed:
        yield from _of_user(rollout.due.user_calls, steps)
        yield from islice(verifier_parts(rollout), MOST_PARTS)


def _of_agent(due: Sequence[DueCall], steps: Sequence[Step]) -> Iterator[Sign]:
    made = carried_out(steps)
    wanted = [call for call in due if changes_state(call.tool)]
    yield from _paired("action", wanted, changes(made))
    called = {one.tool for one in made}
    skipped = dict.fromkeys(call.tool for call in due if not changes_state(call.tool) and call.tool not in called)
    for tool in islice(skipped, MOST):
        yield Sign(kind="lookup:skipped", subject=tool[:LONGEST_SUBJECT])


def _made_up(rollout: Rollout, due: Sequence[DueCall], steps: Sequence[Step]) -> Iterator[Sign]:
    """The first id of a change that is not as it was due, and that nothing before the call holds."""
    pairing = pair([call for call in due if changes_state(call.tool)], changes(carried_out(steps)))
    _, _, others = _of_other_objects(pairing)
    wrong = [(one.due, one.made, name) for one in pairing.wrong for name in one.names]
    for call, made, argument in (*wrong, *others):
        name, wanted, given = first_difference(argument, call.arguments.get(argument), made.arguments.get(argument))
        seen = in_prompt(rollout, given) or source(rollout, given, made.step.index) is not None
        if is_name(wanted) and is_name(given) and not seen:
            quote = str(given)[:LONGEST]
            there = quote in (made.step.arguments or "")
            yield Sign(
                kind="made-up-id",
                subject=f"{call.tool}.{name}"[:LONGEST_SUBJECT],
                quote=quote if there else "",
                field="arguments" if there else "",
                step=made.step.index,
            )
            return


def _statements(rollout: Rollout, steps: Sequence[Step]) -> Iterator[Sign]:
    """What the agent had to say, and nowhere said."""
    wanted = rollout.due.statements[: 2 * MOST]
    said = (
        [step.text.lower().replace(",", "") for step in steps if step.party == "agent" and step.text] if wanted else []
    )
    for statement in wanted:
        wants = statement.lower().replace(",", "")
        if wants and not any(wants in text for text in said):
            yield Sign(kind="statement:missing", subject=statement[:LONGEST_SUBJECT])


def _paired(kind: str, wanted: Sequence[DueCall], done: Sequence[Made]) -> Iterator[Sign]:
    """Signs of calls laid beside each other: of each due call that has no equal, and of each call that was not due."""
    pairing = pair(wanted, done)
    missing, extra, others = _of_other_objects(pairing)
    some = bool(pairing.exact or pairing.wrong or others)
    for call in islice({call.tool: call for call in missing}.values(), MOST):
        yield Sign(kind=f"{kind}:partial" if some else f"{kind}:missing", subject=call.tool[:LONGEST_SUBJECT])
    for made in islice(extra, MOST):
        yield _of_call(f"{kind}:extra", made.tool, made)
    for call, made, name in islice(others, MOST):
        yield _of_call(f"{kind}:wrong-object", f"{call.tool}.{name}", made, call, name)
    differing = [(wrong, name) for wrong in pairing.wrong for name in wrong.names]
    for wrong, name in differing[:MOST]:
        what = "object" if name == _object_of(wrong.due) else "argument"
        yield _of_call(f"{kind}:wrong-{what}", f"{wrong.due.tool}.{name}", wrong.made, wrong.due, name)
    if len(pairing.exact) > 1 and not (pairing.missing or pairing.wrong or pairing.extra):
        yield from _order(kind, wanted, pairing.exact)


def _of_other_objects(pairing: Pairing) -> tuple[list[DueCall], list[Made], list[tuple[DueCall, Made, str]]]:
    """What is missing, what is extra, and the pairs of one tool that differ in their object."""
    missing, extra = list(pairing.missing), list(pairing.extra)
    others: list[tuple[DueCall, Made, str]] = []
    for call in pairing.missing:
        name = _object_of(call)
        made = next((one for one in extra if one.tool == call.tool), None) if name else None
        if made is not None and not same(call.arguments.get(name), made.arguments.get(name)):
            missing.remove(call)
            extra.remove(made)
            others.append((call, made, name))
    return missing, extra, others


def _object_of(call: DueCall) -> str:
    """The argument that names what a call is about: its first id; empty where it has none.

    An address says who is told or put in charge, and not what is acted on.
    """
    return next((name for name, value in call.arguments.items() if is_name(value) and "@" not in str(value)), "")


def _order(kind: str, wanted: Sequence[DueCall], exact: Sequence[tuple[DueCall, Made]]) -> Iterator[Sign]:
    """The first call that was made before one that the key has earlier; calls of one message have no order."""
    latest = -1
    place = {id(call): n for n, call in enumerate(wanted)}
    for _, made in sorted(exact, key=lambda two: place[id(two[0])]):
        if made.step.index < latest:
            yield _of_call(f"{kind}:wrong-order", made.tool, made)
            return
        latest = max(latest, made.step.index)


def _of_call(kind: str, subject: str, made: Made, due: DueCall | None = None, argument: str = "") -> Sign:
    """A call that was made; of one that was due with another value of an argument, the part that differs."""
    text = (made.step.arguments or "").strip()
    field, quote = ("tool", made.tool) if text in _NO_ARGUMENTS else ("arguments", text)
    if due is not None and field == "arguments":
        name, _, given = first_difference(argument, due.arguments.get(argument), made.arguments.get(argument))
        quote = around(text, name, given) or text
    return Sign(
        kind=kind, subject=subject[:LONGEST_SUBJECT], quote=quote[:LONGEST].strip(), field=field, step=made.step.index
    )


def _transfer(due: Sequence[DueCall], steps: Sequence[Step]) -> Iterator[Sign]:
    if any(is_transfer(call.tool) for call in due):
        return
    made = next((one for one in carried_out(steps) if is_transfer(one.tool)), None)
    if made is not None and not asks_for_transfer(steps, made.step.index):
        yield _of_call("transfer:needless", made.tool, made)


def _of_user(due: Sequence[DueCall], steps: Sequence[Step]) -> Iterator[Sign]:
    """The user's own calls against what it had to do; silent where its calls are not recorded as its own."""
    mine = [step for step in steps if step.party == "user" and step.kind == "call"]
    if mine and due:
        refused = {(step.answers, step.call_id) for step in steps if step.kind == "result" and step.failed}
        made = [Made(step, step.tool or "") for step in mine if (step.index, step.call_id) not in refused]
        yield from _paired("user-action", [call for call in due if changes_state(call.tool)], changes(made))
