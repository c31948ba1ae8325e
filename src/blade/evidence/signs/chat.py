"""Tool-using chat agents: the calls made against the calls of the key, and the simulated user against its script.

Made of every judged rollout, so that passes can veto; none where the key is no list of calls:
`action:missing` (a change of the key, and none of its changes was made), `action:partial` (a change of the key that is missing
beside others), `action:extra`, `action:wrong-argument` and `action:wrong-object` (subject `tool.argument`; the object is the
first id of the key's call), `action:wrong-order` (all changes right, in another order), `lookup:skipped`, `statement:missing`,
`transfer:needless` (handed over without the key wanting it while something due was left undone). The same for what the
simulated user had to do itself: `user-action:missing`, `user-action:partial` and so on.

Also of all: `key:foreign` (subject "given|in the key"), an identity that the user gives where key and script have another;
`user:off-script`, an id that the user made up. Of failed rollouts only: `verifier-part:NAME`, a part of the verifier's account
that does not hold; `user:withheld`; `user:left-early`. Where the key is foreign to the row, nothing is said of its user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from blade.evidence.actions import Made, Pairing, carried_out, changes, pair, same
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.differences import limits_of
from blade.evidence.provenance import is_name, leaves
from blade.evidence.quotes import telling_sentence
from blade.evidence.simulated_user import facts, hung_up, withheld
from blade.model.expected import DueCall
from blade.model.finding import Sign
from blade.model.pattern import pattern_of
from blade.model.rollout import JUDGED, Outcome, Rollout, Step
from blade.model.tools import changes_state

LONGEST = 200
"""Characters of a quote; the sign's own limit."""
LONGEST_SUBJECT = 120
MOST = 4
"""Signs of one kind: a key of thirty calls must not fill the table."""
_HANDS_OVER = pattern_of(r"transfer|escalat|hand_?o(?:ff|ver)", re.IGNORECASE)
_TO_A_PERSON = pattern_of(r"human|agent|operator|person|staff|supervisor|representative|support", re.IGNORECASE)


def chat_signs(rollout: Rollout) -> Iterator[Sign]:
    """What a rollout with a key of calls shows; nothing of other rollouts."""
    if rollout.outcome not in JUDGED or rollout.due.calls is None or rollout.steps is None:
        return
    failed = rollout.outcome is Outcome.FAILED
    row = rollout.row if failed else {}
    theirs = _user_calls(row) if failed else ()
    actions = list(_of_agent(rollout, rollout.due.calls, rollout.steps))
    yield from actions
    yield from _of_user(theirs, rollout.steps)
    undone = [sign for sign in actions if sign.kind in ("action:missing", "action:partial", "statement:missing")]
    if undone:
        yield from _transfer(rollout)
    foreign = list(islice(foreign_identities(rollout), 1))
    yield from foreign
    if failed:
        yield from islice(verifier_parts(row), MOST + 2)
        yield from [] if foreign else _simulated_user(rollout, bool(undone))
    yield from [] if foreign else _made_up(rollout)


def _of_agent(rollout: Rollout, due: Sequence[DueCall], steps: Sequence[Step]) -> Iterator[Sign]:
    made = carried_out(steps)
    wanted = [call for call in due if changes_state(call.tool)]
    pairing = (
        pair(wanted, changes(made)) if wanted else Pairing(exact=(), wrong=(), missing=(), extra=tuple(changes(made)))
    )
    yield from _paired("action", pairing)
    called = {one.tool for one in made}
    skipped = dict.fromkeys(call.tool for call in due if not changes_state(call.tool) and call.tool not in called)
    for tool in islice(skipped, MOST):
        yield Sign(kind="lookup:skipped", subject=tool[:LONGEST_SUBJECT])
    said = [step.text.lower().replace(",", "") for step in steps if step.party == "agent" and step.text]
    for statement in rollout.due.statements[: 2 * MOST]:
        wants = statement.lower().replace(",", "")
        if wants and not any(wants in text for text in said):
            yield Sign(kind="statement:missing", subject=statement[:LONGEST_SUBJECT])


def _of_user(due: Sequence[DueCall], steps: Sequence[Step]) -> Iterator[Sign]:
    """The user's own calls against what it had to do; silent where its calls are not recorded as such."""
    mine = [step for step in steps if step.party == "user" and step.kind == "call"]
    if not due or not mine:
        return
    refused = {(step.answers, step.call_id) for step in steps if step.kind == "result" and step.failed}
    made = [Made(step, step.tool or "") for step in mine if (step.index, step.call_id) not in refused]
    wanted = [call for call in due if changes_state(call.tool)]
    yield from _paired("user-action", pair(wanted, changes(made)))


def _paired(kind: str, pairing: Pairing) -> Iterator[Sign]:
    """Signs of calls laid beside each other: of each due call that has no equal, and of each call that was not due."""
    none_made = not pairing.exact and not pairing.wrong and not pairing.extra
    missing, extra, others = _of_other_objects(pairing)
    for call in islice(missing, MOST):
        yield Sign(
            kind=f"{kind}:missing" if none_made or not (pairing.exact or pairing.wrong) else f"{kind}:partial",
            subject=call.tool[:LONGEST_SUBJECT],
        )
    for one in islice(extra, MOST):
        yield _of_call(f"{kind}:extra", one.tool, one)
    for call, one, name in islice(others, MOST):
        yield _of_call(f"{kind}:wrong-object", f"{call.tool}.{name}", one)
    wrong = ((one, name) for one in pairing.wrong for name in one.names)
    for one, name in islice(wrong, MOST + 2):
        is_object = name == _object_of(one.due)
        yield _of_call(f"{kind}:wrong-{'object' if is_object else 'argument'}", f"{one.due.tool}.{name}", one.made)
    if len(pairing.exact) > 1 and not (pairing.missing or pairing.wrong or pairing.extra):
        yield from _order(kind, pairing.exact)


def _of_other_objects(pairing: Pairing) -> tuple[list[DueCall], list[Made], list[tuple[DueCall, Made, str]]]:
    """What is missing and what is extra, without the pairs of one tool that differ in their object."""
    missing, extra, others = list(pairing.missing), list(pairing.extra), []
    for call in pairing.missing:
        name = _object_of(call)
        one = next((one for one in extra if one.tool == call.tool), None) if name else None
        if one is not None and not same(call.arguments.get(name), one.arguments.get(name)):
            missing.remove(call)
            extra.remove(one)
            others.append((call, one, name))
    return missing, extra, others


def _object_of(call: DueCall) -> str:
    """The argument that names what a call is about: its first id; empty where it has none."""
    return next((name for name, value in call.arguments.items() if is_name(value)), "")


def _order(kind: str, exact: Sequence[tuple[DueCall, Made]]) -> Iterator[Sign]:
    """The first call that was made before one that the key has earlier; calls of one message have no order."""
    latest = -1
    for _, one in exact:
        if one.step.index < latest:
            yield _of_call(f"{kind}:wrong-order", one.tool, one)
            return
        latest = max(latest, one.step.index)


def _of_call(kind: str, subject: str, made: Made) -> Sign:
    text = (made.step.arguments or "").strip()
    field, quote = (
        ("arguments", text[:LONGEST].strip()) if text not in ("", "{}", "null") else ("tool", made.tool[:LONGEST])
    )
    return Sign(kind=kind, subject=subject[:LONGEST_SUBJECT], quote=quote, field=field, step=made.step.index)


def _is_transfer(tool: str) -> bool:
    return _HANDS_OVER.search(tool) is not None and _TO_A_PERSON.search(tool) is not None


def _transfer(rollout: Rollout) -> Iterator[Sign]:
    if any(_is_transfer(call.tool) for call in rollout.due.calls or ()):
        return
    made = next((one for one in carried_out(rollout.steps or ()) if _is_transfer(one.tool)), None)
    if made is not None:
        yield _of_call("transfer:needless", made.tool, made)


_VERDICT = pattern_of(
    r"(?:^|_)(?:match|matched|matches|met|passed|satisfied|fulfilled|correct|success|succeeded|holds|ok)$"
)
"""How flags are named that are false where a part of the verdict does not hold."""
_TRAJECTORY = frozenset(
    ("response", "responses_create_params", "messages", "trajectory", "traj", "history", "output", "input")
)
_DEEPEST = 6
_MOST_ITEMS = 200


def verifier_parts(row: Mapping[str, object]) -> Iterator[Sign]:
    """Parts of a verifier's account that do not hold: flags inside it, and items of its lists, with their path in the row."""
    for name, value in row.items():
        if name not in _TRAJECTORY and "." not in name and isinstance(value, dict | list):
            yield from _parts(name, name, value, 0)


def _parts(path: str, name: str, value: object, depth: int) -> Iterator[Sign]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for inner, item in value.items():
            if item is False and _VERDICT.search(inner):
                yield Sign(
                    kind=f"verifier-part:{name}"[:LONGEST_SUBJECT], subject=_about(value)[:LONGEST_SUBJECT],
                    quote="false", field=f"{path}.{inner}",
                )  # fmt: skip
            elif "." not in inner:
                yield from _parts(f"{path}.{inner}", inner, item, depth + 1)
    elif isinstance(value, list):
        for place, item in enumerate(value[:_MOST_ITEMS]):
            yield from _parts(f"{path}.{place}", name, item, depth + 1)


def _about(part: Mapping[str, object]) -> str:
    """What a part is about: the call that it holds, or its first words."""
    calls = (item.get("name") for item in part.values() if isinstance(item, dict))
    words = (item for item in part.values() if isinstance(item, str) and item.strip())
    return next((one for one in (*calls, *words) if isinstance(one, str)), "")


_USER = ("user", "customer", "client", "human")


def _user_calls(row: Mapping[str, object]) -> tuple[DueCall, ...]:
    """The calls of the key that the simulated user has to make: those that say so, in any list of calls of the row."""
    for name, value in row.items():
        if name in _TRAJECTORY:
            continue
        if found := next(_lists_of_user_calls(value, 0), None):
            return found
    return ()


def _lists_of_user_calls(value: object, depth: int) -> Iterator[tuple[DueCall, ...]]:
    if (
        isinstance(value, list)
        and value
        and all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in value)
    ):
        if mine := tuple(
            _due(one) for one in value if any(one.get(by) in _USER for by in ("requestor", "by", "party", "role"))
        ):
            yield mine
    elif isinstance(value, dict) and depth < _DEEPEST:
        for item in value.values():
            yield from _lists_of_user_calls(item, depth + 1)


def _due(one: Mapping[str, object]) -> DueCall:
    given = next(
        (one[name] for name in ("arguments", "kwargs", "args", "parameters") if isinstance(one.get(name), dict)), {}
    )
    compared = one.get("compare_args")
    return DueCall(
        tool=str(one["name"]),
        arguments=msgspec.convert(given, dict[str, object]),
        compared=tuple(map(str, compared)) if isinstance(compared, list) else None,
    )


_IDENTITY = pattern_of(
    r"(?:user|customer|client|member|account|patient|person|employee|student|guest|passenger|caller|profile)_?(?:id|name|no|number)$"
    r"|^(?:user|customer|e?_?mail|email_address|username|login)$",
    re.IGNORECASE,
)
"""Names of arguments that say who somebody is."""
_ACCOUNT_NAME = pattern_of(r"[a-z]+(?:[_.-][a-z]+)+[_.-]?\d+", re.IGNORECASE)
_EMAIL = pattern_of(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def identities_of_key(rollout: Rollout) -> tuple[str, ...]:
    """Who the key and the script are about: user ids, account names and addresses, in order."""
    due = rollout.due
    named = [
        str(value)
        for call in due.calls or ()
        for outer, item in call.arguments.items()
        for name, value in leaves(outer, item)
        if _IDENTITY.search(name) and is_name(value)
    ]
    scripted = [fact for fact in facts(due.script) if _form(fact)]
    return tuple(dict.fromkeys([*named, *scripted]))


def _form(token: str) -> str:
    """The form of an identity that can be told without its name; empty for any other token."""
    return "address" if _EMAIL.fullmatch(token) else "account" if _ACCOUNT_NAME.fullmatch(token) else ""


def foreign_identities(rollout: Rollout) -> Iterator[Sign]:
    """An identity that the user gives where key and script have another of the same form, which nobody ever names.

    A user that corrects itself, or whose e-mail is only looked up, is not foreign: the key's own identity is then somewhere
    in the talk, or of another form.
    """
    mine = identities_of_key(rollout)
    forms = {_form(identity) for identity in mine} - {""}
    if not forms:
        return
    steps = (*rollout.prompt, *(rollout.steps or ()))
    heard = "\n".join(f"{step.text}\n{step.arguments or ''}" for step in steps).lower()
    if any(identity.lower() in heard for identity in mine):
        return
    for step in (step for step in steps if step.party == "user" and step.text):
        for given in facts(step.text):
            if _form(given) in forms:
                wanted = next(identity for identity in mine if _form(identity) == _form(given))
                yield Sign(
                    kind="key:foreign", subject=f"{given[:58]}|{wanted[:58]}", quote=given[:LONGEST], field="text",
                    step=step.index if step in (rollout.steps or ()) else None,
                )  # fmt: skip


def _simulated_user(rollout: Rollout, undone: bool) -> Iterator[Sign]:
    if not rollout.due.script:
        return
    walk = AlignedTrajectory(rollout=rollout)
    yield from _withheld(walk)
    if undone and not limits_of(rollout, rollout.due):
        yield from _left_early(walk)


_ASKS_WHO = pattern_of(
    r"\b(?:user|customer|account|member|profile|login)[ -]?(?:id|name|number|identification)\b|\be-?mail\b|\busername\b",
    re.IGNORECASE,
)
"""How an agent asks who the user is."""


def _withheld(walk: AlignedTrajectory) -> Iterator[Sign]:
    """What the agent asks for, the script holds, and the agent never gets: a value of the calls, or who the user is."""
    for one in withheld([walk]):
        reply, subject = one.reply, f"{one.argument}: {one.fact}"
        quote, step = (reply.quote, reply.step) if reply else ("", None)
        yield Sign(
            kind="user:withheld",
            subject=subject[:LONGEST_SUBJECT],
            quote=quote[:LONGEST],
            field="text" if reply else "",
            step=step,
        )
        return
    script = facts(walk.due.script)
    who = [fact for fact in script if _form(fact)]
    asked = next(
        (s for s in walk.steps if s.party == "agent" and s.kind == "message" and _ASKS_WHO.search(s.text)), None
    )
    if not who or asked is None or _is_known(walk, who):
        return
    reply = next((s for s in walk.steps if s.party == "user" and s.index > asked.index and s.text.strip()), None)
    if reply is not None and not any(_form(given) for given in facts(reply.text)):
        quote = telling_sentence(reply.text, ("have", "remember", "id"))
        yield Sign(
            kind="user:withheld",
            subject=who[0][:LONGEST_SUBJECT],
            quote=quote[:LONGEST],
            field="text",
            step=reply.index,
        )


def _is_known(walk: AlignedTrajectory, who: Sequence[str]) -> bool:
    """Whether anything that is said, called or returned holds one of these."""
    said = "\n".join(f"{step.text}\n{step.arguments or ''}" for step in (*walk.rollout.prompt, *walk.steps)).lower()
    return any(one.lower() in said for one in who)


_ENDS = pattern_of(r"#{2,}\s?[A-Z][A-Z_-]{2,}\s?#{2,}|<(?:stop|end|exit|done|quit)>|\[(?:STOP|END|EXIT|DONE|QUIT)\]")
"""Tokens with which simulated users end a talk."""
_ACCEPTS_TRANSFER = pattern_of(r"\btransfer|\bhuman\b|representative|supervisor", re.IGNORECASE)
_ORDERS = pattern_of(r"\b(?:go ahead|proceed|i confirm)\b", re.IGNORECASE)
_CLAUSE = pattern_of(r"[^.,;!?]+")


def _left_early(walk: AlignedTrajectory) -> Iterator[Sign]:
    """The user's last words, where they agree to something or come before the agent's second turn, and end the talk."""
    last = next((step for step in reversed(walk.steps) if step.party == "user" and step.text.strip()), None)
    if last is None or any(step.index > last.index and step.party == "agent" for step in walk.steps):
        return
    if any(_is_transfer(tool) for tool in walk.tools) or _only_a_transfer(last.text):
        return
    agreed = hung_up(walk)
    turns = sum(step.party == "agent" and step.kind == "message" and bool(step.text.strip()) for step in walk.steps)
    if agreed is None and not (turns < 2 and not walk.calls and _ENDS.search(last.text)):
        return
    token = _ENDS.search(last.text)
    quote = last.text.strip()[-LONGEST:].strip() if token is not None or agreed is None else agreed.quote
    yield Sign(
        kind="user:left-early", subject=token[0] if token else "", quote=quote[:LONGEST], field="text", step=last.index
    )


def _only_a_transfer(text: str) -> bool:
    """Whether the user accepts to be handed over, and tells the agent to do nothing else."""
    orders = (clause for clause in _CLAUSE.findall(text) if _ORDERS.search(clause))
    return _ACCEPTS_TRANSFER.search(text) is not None and all(_ACCEPTS_TRANSFER.search(one) for one in orders)


def _made_up(rollout: Rollout) -> Iterator[Sign]:
    """An id that the user gives and that neither its script nor anything said before holds."""
    script = (rollout.due.script or "").lower()
    if not facts(rollout.due.script):
        return
    known = script + "\n".join(step.text for step in rollout.prompt).lower()
    for step in rollout.steps or ():
        if step.party == "user" and step.kind == "message":
            given = next((fact for fact in facts(step.text) if _is_id(fact) and fact.lower() not in known), None)
            if given is not None:
                yield Sign(
                    kind="user:off-script",
                    subject=given[:LONGEST_SUBJECT],
                    quote=given[:LONGEST],
                    field="text",
                    step=step.index,
                )
                return
        known += f"\n{step.text}\n{step.arguments or ''}".lower()


def _is_id(token: str) -> bool:
    """Letters with digits, long enough to be nothing else; amounts, models and times are none."""
    return bool(_form(token)) or (
        len(token) >= 6 and token.isupper() and is_name(token) and any(map(str.isdigit, token))
    )
