"""Findings: what to act on, in four parts, each with places and quotes; ranked by what mending it would give.

A finding is a group of failures that share a difference from what was due, or that the simulated user caused. Each
family of groups says in its own words what happened and what to do; the numbers come from the group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from blade.core.diagnosis import NOT_EXPLAINED, Contrast, Divergence, Finding, Grade, Headroom, Partition
from blade.core.finding import Differs, Evidence
from blade.core.rollout import Step
from blade.core.run import Run
from blade.diagnose import provenance, quotes
from blade.diagnose.actions import Wrong, carried_out
from blade.diagnose.contrast import DECLINING, left_out_in_words, pairing_of, words_of
from blade.diagnose.exhibits import answer as answer_evidence
from blade.diagnose.groups import Group, groups, spread
from blade.diagnose.reading import Reading
from blade.diagnose.templates import telling
from blade.diagnose.walks import Walk
from blade.diagnose.withheld import Withheld
from blade.metrics.headroom import headroom

MOST = 8
LONGEST_ARGUMENTS = 70
FEWEST_ENDINGS = 5
TELLING = 0.6
"""By how much the shares of passing and failing outputs must differ in how they end."""
MOST_PLACES = 200
"""Places kept of one finding; the count is of all."""
CLOSE = 3
"""Steps between words and the act that they explain."""
BLIND = 0.3
"""Share of rollouts that never saw the right value, above which looking it up is the remedy."""
OVERLAP = 0.5
"""A finding most of whose failures another one already names is left out."""

Said = tuple[str, tuple[Evidence, ...]]

_CALL_AS_TEXT = re.compile(r"</?tool_call>|<function=|<invoke|\"tool_calls\"\s*:")
_NO_ID = re.compile(r"(?:don't|do not|not) (?:have|remember)", re.IGNORECASE)
_DONE = re.compile(r"successfully|(?:has|have) been (?!transferred)")
_NOT = re.compile(r"\b(?:not|cannot|can't|unable|unfortunately|transfer\w*)\b")


@dataclass(frozen=True, kw_only=True)
class Context:
    """Everything that findings are made from."""

    run: Run
    partition: Partition
    reading: Reading
    contrasts: Mapping[str, Contrast]
    withheld: Sequence[Withheld]


@dataclass(frozen=True, kw_only=True)
class _Draft:
    """The words of a finding before its numbers are known."""

    title: str
    what: str
    fix: str
    brief: str
    kind: str
    where: tuple[Said, ...] = ()
    grade: Grade = Grade.DIRECT
    estimable: bool = True


def findings(context: Context) -> tuple[Finding, ...]:
    """The findings of a run, best to mend first; together they say different things."""
    drafted = [_finding(group, _DRAFTS[group.family](group, context), context) for group in groups(context.partition)]
    others = [one for one in (_by_user(context), _parted(context)) if one is not None]
    ranked = sorted([*drafted, *others], key=_rank)
    chosen: list[Finding] = []
    named: set[str] = set()
    for one in ranked:
        fresh = [place for place in one.places if place not in named]
        if one.id not in _VAGUE and len(fresh) > OVERLAP * len(one.places) and len(chosen) < MOST:
            chosen.append(one)
            named.update(one.places)
    return tuple(chosen)


_VAGUE = ("answer:none", "answer:equal", "answer:other form")
"""Said elsewhere: as a mode, or as a doubt about the verifier."""


def _rank(finding: Finding) -> tuple[float, float, int, str]:
    room = finding.headroom
    low = room.interval.low if room.interval is not None else -1.0
    return -room.only_defect, -low, -finding.rollouts, finding.id


def _finding(group: Group, draft: _Draft, context: Context) -> Finding:
    room = headroom(context.run, group.failing + group.passing, group.alone, estimable=draft.estimable)
    where = draft.where or _examples(group, context)
    return Finding(
        id=group.id,
        title=draft.title,
        what=draft.what,
        against=where[0][0] if where else "",
        where=tuple(text for text, _ in where[1:]),
        fix=draft.fix,
        brief=draft.brief,
        kind=draft.kind,
        grade=draft.grade,
        rollouts=len(group.failing),
        tasks=len(group.tasks),
        task_ids=group.tasks,
        places=tuple(f"{task}#{repeat}" for task, repeat in group.failing[:MOST_PLACES]),
        evidence=tuple(one for _, found in where for one in found),
        headroom=room,
    )


def _verb(group: Group, word: str) -> str:
    return word + "s" if len(group.failing) == 1 else word


# What a family of groups is called, and what to do about it.


def _extra(group: Group, context: Context) -> _Draft:
    alone = f"; in {len(group.alone)} nothing else differs" if group.alone else ""
    return _Draft(
        title=f"It calls `{group.name}` where the key has no such call",
        what=f"{spread(group.failing)} {_verb(group, 'call')} `{group.name}` where the key does not{alone}.",
        fix=f"before `{group.name}`, have the agent state the facts that allow it and check them against its "
        f"instructions; or let the tool refuse where they do not hold",
        brief=f"a check before `{group.name}`",
        kind="prompt",
    )


def _left_out(group: Group, context: Context) -> _Draft:
    walks = context.reading.at(group.failing)
    silent = sum(not walk.calls for walk in walks)
    claims = [walk for walk in walks if _claims_done(walk, group.name)]
    partly = sum(any(made.tool == group.name for made in carried_out(walk.steps)) for walk in walks)
    tried = sum("is refused" in left_out_in_words(walk, group.name) for walk in walks)
    moved = sum(bool(walk.calls) and "transfer" in (walk.calls[-1].tool or "") for walk in walks)
    ends = [f"{silent} {'calls' if silent == 1 else 'call'} nothing at all"] if silent else []
    ends += [f"{partly} {'makes' if partly == 1 else 'make'} some of those that are due"] if partly else []
    ends += [f"{tried} {'tries' if tried == 1 else 'try'} and {'is' if tried == 1 else 'are'} refused"] if tried else []
    ends += [f"{moved} {'hands' if moved == 1 else 'hand'} the user over instead"] if moved else []
    ends += (
        [f"{len(claims)} say{'s' if len(claims) == 1 else ''} at the end that it was done, which is no proof"]
        if claims
        else []
    )
    said = f"; of {len(walks)} read, {', '.join(ends)}" if ends else ""
    return _Draft(
        title=f"It makes some of the `{group.name}` calls that are due, not all"
        if partly * 2 > len(walks)
        else f"It does not make the `{group.name}` that is due",
        what=f"{spread(group.failing)} {_verb(group, 'lack')} `{group.name}`, which the key has{said}.",
        fix=f"have the agent list what the user asked for and, before it closes, the call that did each; "
        f"`{group.name}` is the one that is left out",
        brief=f"a list of what is due before closing, for `{group.name}`",
        kind="prompt",
    )


def _claims_done(walk: Walk, tool: str) -> bool:
    """Whether the agent's last words say, in one sentence, that the thing was done."""
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    about = [word.lower()[:5] for word in words_of(tool)]
    sentences = re.split(r"[.!?\n]", last.text.lower()) if last is not None else []
    return any(_DONE.search(one) and not _NOT.search(one) and any(word in one for word in about) for one in sentences)


def _argument(group: Group, context: Context) -> _Draft:
    wrongs = [(walk, wrong) for walk in context.reading.at(group.failing) for wrong in _wrongs(walk, group)]
    traced = [_trace(walk, wrong, group.detail) for walk, wrong in wrongs]
    unseen = [one for one in traced if one.due_can_be_traced and not one.due_seen]
    giver = _giver(group, context)
    blind = len(unseen) > BLIND * len(traced)
    look = (
        f"call `{giver}` before `{group.name}` and take `{group.detail}` from its result"
        if giver and blind
        else f"before `{group.name}`, have the agent set `{group.detail}` against what the user asked for and what the "
        f"look-ups say, value by value"
    )
    return _Draft(
        title=f"It gives `{group.name}` another `{group.detail}` than the key",
        what=f"{spread(group.failing)} {_verb(group, 'differ')} from the key in `{group.detail}` of `{group.name}`"
        f"{f'; in {len(group.alone)} in nothing else' if group.alone else ''}.{_seen_or_not(traced, len(unseen), blind)}",
        fix=look,
        brief=f"`{giver}` before `{group.name}`"
        if giver and blind
        else f"`{group.detail}` checked before `{group.name}`",
        kind="prompt",
        where=tuple(_argument_examples(group, context, traced)),
    )


def _seen_or_not(traced: Sequence[_Trace], unseen: int, blind: bool) -> str:
    """Whether the agent could have known: the value due stood before its eyes, or nowhere."""
    able = sum(one.due_can_be_traced for one in traced)
    if not able:
        return ""
    if blind:
        return f" In {unseen} of {able} read, the value due stands in nothing that the agent had seen by then."
    return f" In {able - unseen} of {able} read, the value due stood in what it had seen: it took another."


@dataclass(frozen=True, kw_only=True)
class _Trace:
    """A wrong argument: what was given and due, and where each stood."""

    walk: Walk
    wrong: Wrong
    name: str
    due: object
    made: object
    due_can_be_traced: bool
    due_seen: bool


def _wrongs(walk: Walk, group: Group) -> list[Wrong]:
    return [one for one in pairing_of(walk).wrong if one.due.tool == group.name and group.detail in one.names]


def _trace(walk: Walk, wrong: Wrong, argument: str) -> _Trace:
    name, due, made = provenance.first_difference(
        argument, wrong.due.arguments.get(argument), wrong.made.arguments.get(argument)
    )
    seen = provenance.source(walk.rollout, due, wrong.made.step.index) is not None
    return _Trace(
        walk=walk,
        wrong=wrong,
        name=name,
        due=due,
        made=made,
        due_can_be_traced=provenance.can_be_traced(due),
        due_seen=seen or provenance.in_prompt(walk.rollout, due),
    )


def _giver(group: Group, context: Context) -> str | None:
    """The tool whose result gave passing repeats the value that was due."""
    names: dict[str, int] = {}
    for task in group.tasks:
        for walk in context.reading.of(task):
            for due, made in pairing_of(walk).exact if walk.passed else ():
                if due.tool == group.name:
                    _, value, _ = provenance.first_difference(group.detail, due.arguments.get(group.detail), None)
                    step = provenance.source(walk.rollout, value, made.step.index)
                    if step is not None and step.party == "tool" and step.tool:
                        names[step.tool] = names.get(step.tool, 0) + 1
    return min(names, key=lambda name: (-names[name], name), default=None)


def _argument_examples(group: Group, context: Context, traced: Sequence[_Trace]) -> list[Said]:
    """First a task in which a passing repeat gave the right value; then others, one a task."""
    taught = [one for one in traced if one.walk.rollout.key.task_id in context.contrasts]
    ordered = [*taught, *(one for one in traced if one not in taught)]
    found: list[Said] = []
    tasks: list[str] = []
    for one in ordered:
        task = one.walk.rollout.key.task_id
        if task not in tasks and len(found) < 2:
            tasks.append(task)
            found.append(_argument_example(one, context))
    return found


def _argument_example(one: _Trace, context: Context) -> Said:
    call = one.wrong.made.step
    evidence = [quotes.of_call(one.walk.rollout, call, one.made, one.name)]
    given, wanted = quotes.shown(one.made, 40), quotes.shown(one.due, 40)
    origin = provenance.source(one.walk.rollout, one.made, call.index)
    if one.made is None:
        text = f"{one.walk.place}:{call.index} leaves out `{one.name}` {wanted}"
    elif one.due is None:
        text = f"{one.walk.place}:{call.index} adds `{one.name}` {given}, which the key has not"
    else:
        text = f"{one.walk.place}:{call.index} gives `{one.name}` {given}, the key has {wanted}"
    if origin is not None and provenance.can_be_traced(one.made):
        evidence.append(quotes.holding(one.walk.rollout, origin, str(one.made)))
        text += f"; it stands in :{origin.index}{_by(origin.party, origin.tool)}"
    elif provenance.can_be_traced(one.made) and not provenance.in_prompt(one.walk.rollout, one.made):
        text += "; it stands nowhere before"
    right = _right_use(one, context)
    if right is not None:
        walk, step, source = right
        evidence.append(quotes.of_call(walk.rollout, step, one.due, one.name))
        text += f". Passing {walk.place}:{step.index} gives {wanted}"
        text += f", from :{source.index}{_by(source.party, source.tool)}" if source is not None else ""
    kept = tuple(piece for piece in evidence if piece is not None)
    return f"{text}.", kept


def _by(party: str, tool: str | None) -> str:
    return f" (`{tool}`)" if tool else f" ({party})"


def _right_use(one: _Trace, context: Context) -> tuple[Walk, Step, Step | None] | None:
    """A passing repeat's call with the value that was due, and where that repeat had it from."""
    for walk in context.reading.of(one.walk.rollout.key.task_id):
        for due, made in pairing_of(walk).exact if walk.passed else ():
            if due.tool == one.wrong.due.tool and due.arguments == one.wrong.due.arguments:
                return walk, made.step, provenance.source(walk.rollout, one.due, made.step.index)
    return None


def _not_said(group: Group, context: Context) -> _Draft:
    return _Draft(
        title="It does not say what had to be said",
        what=f"{spread(group.failing)} never {_verb(group, 'state')} something that the key wants told to the user"
        f"{f'; in {len(group.alone)} nothing else is wrong' if group.alone else ''}.",
        fix="have the agent answer the user's questions one by one before it closes",
        brief="every question answered before closing",
        kind="prompt",
        where=tuple(_unsaid(walk) for walk in context.reading.at(group.alone or group.failing)[:2]),
    )


def _unsaid(walk: Walk) -> Said:
    wanted = next((one.name for one in walk.differs if one.kind == Differs.NOT_SAID), "")
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    evidence = quotes.of_text(walk.rollout, last, wanted.split()) if last is not None else None
    closing = f'; it closes with :{evidence.step} "{evidence.quote}"' if evidence else ""
    return f"{walk.place} never says {quotes.shown(wanted, 60)}{closing}.", (evidence,) if evidence else ()


def _check(group: Group, context: Context) -> _Draft:
    if not group.name:
        return _criteria(group, context)
    near = f"; in {len(group.alone)} it is the only one" if group.alone else ""
    return _Draft(
        title=f"`{quotes.shown(group.name, 90)}` is not met",
        what=f"{spread(group.failing)} {_verb(group, 'fail')} it{near}.",
        fix="read the failing outputs beside this criterion: either the prompt does not ask for it plainly, or it is "
        "beyond what the model does",
        brief=f"`{quotes.shown(group.name, 60)}`",
        kind="prompt",
        where=tuple(_failed_check(walk, group.name) for walk in context.reading.at(group.failing)[:2]),
        estimable=False,
    )


def _criteria(group: Group, context: Context) -> _Draft:
    """Tests and criteria that no two tasks share: how near the misses are, and whether the reward shows it."""
    walks = context.reading.at(group.failing)
    counted = [walk for walk in walks if any(check.passed for check in walk.due.checks)]
    near = [walk for walk in counted if sum(not check.passed for check in walk.due.checks) == 1]
    hidden = [
        walk
        for walk in counted
        if not walk.rollout.reward and sum(c.passed for c in walk.due.checks) * 2 >= len(walk.due.checks)
    ]
    said = f" {len(near)} of {len(walks)} read {'misses' if len(near) == 1 else 'miss'} by one." if near else ""
    said += (
        f" The reward is all or nothing for {', '.join(walk.place for walk in hidden[:3])}: half or more of the criteria "
        f"are met and it is 0."
        if hidden
        else ""
    )
    return _Draft(
        title="Tests or criteria fail that no two tasks share",
        what=f"{spread(group.failing)} {_verb(group, 'fail')} at least one.{said}",
        fix="start with the misses by one; where the reward is all or nothing, look at the share that is met as well",
        brief="the misses by one",
        kind="training",
        where=tuple(_failed_check(walk, "") for walk in (*near, *(w for w in walks if w not in near)))[:2],
        estimable=False,
    )


def _failed_check(walk: Walk, name: str) -> Said:
    check = next((one for one in walk.due.checks if one.name.startswith(name) and not one.passed), None)
    met = sum(one.passed for one in walk.due.checks)
    of = (
        f" (meets {met} of {len(walk.due.checks)}, reward {walk.rollout.reward:g})"
        if met and walk.rollout.reward is not None
        else ""
    )
    if check is None:
        return f"{walk.place}{of}.", ()
    what = "" if name else f" fails `{quotes.shown(check.name, 100)}`"
    if not check.words.strip():
        return f"{walk.place}{of}{what or ' fails it'}.", ()
    start, end = telling(check.words)
    words = check.words[start:end][: quotes.LONGEST].strip()
    evidence = quotes.of_row(walk.rollout, check.words_field, words) if check.words_field else None
    return f'{walk.place}{of}{what}: "{words}".', (evidence,) if evidence else ()


def _words(group: Group, context: Context) -> _Draft:
    return _Draft(
        title=f"The verifier says: {quotes.shown(group.detail, 110)}",
        what=f"`{group.name}` says so in {spread(group.failing)}, and in no passing rollout.",
        fix="read one of them: the verifier's word is all that these files say about why",
        brief=f'"{quotes.shown(group.detail, 60)}" of the verifier',
        kind="training",
        where=tuple(_spoken(walk, group.name) for walk in context.reading.at(group.failing)[:2]),
        estimable=False,
    )


def _spoken(walk: Walk, field: str) -> Said:
    said = next((one for one in walk.due.said if one.field == field), None)
    if said is None:
        return f"{walk.place}.", ()
    start, end = telling(said.text)
    evidence = quotes.of_row(walk.rollout, field, said.text[start:end])
    answer = walk.rollout.answer
    given = f"; it answers `{quotes.shown(' '.join(answer.split()), 100)}`" if answer else ""
    return f'{walk.place}: "{said.text[start:end][: quotes.LONGEST]}"{given}.', (evidence,) if evidence else ()


def _limit(group: Group, context: Context) -> _Draft:
    return _Draft(
        title=f"The limit of {group.name} ends rollouts before they are done",
        what=f"{spread(group.failing)} {'is' if len(group.failing) == 1 else 'are'} cut by it.",
        fix=f"raise the limit of {group.name} for these tasks, or tell the agent how much is left",
        brief=f"the limit of {group.name}",
        kind="harness",
    )


def _machinery(group: Group, context: Context) -> _Draft:
    return _Draft(
        title="The machinery fails, and the rollout counts as a failure",
        what=f"{spread(group.failing)} {'carries' if len(group.failing) == 1 else 'carry'} an error of provider, harness or sandbox and a reward all the same.",
        fix="repair it and run these rollouts again before blaming the model",
        brief="the machinery",
        kind="infrastructure",
    )


def _no_verdict(group: Group, context: Context) -> _Draft:
    return _Draft(
        title="Rollouts without a verdict count as failures",
        what=f"{spread(group.failing)} {'has' if len(group.failing) == 1 else 'have'} no account of the verifier where other rollouts have one, and a reward all the same.",
        fix="find out why the verifier did not run (a step limit, a crash), and judge them again",
        brief="the rollouts without a verdict",
        kind="harness",
    )


def _no_answer(group: Group, context: Context) -> _Draft:
    walks = context.reading.at(group.failing)
    mute = [
        walk for walk in walks if any(one.kind == Differs.NO_ANSWER and one.name == "output" for one in walk.differs)
    ]
    written = [walk for walk in walks if walk not in mute and _CALL_AS_TEXT.search(_last_text(walk))]
    if walks and len(mute) == len(walks):
        return _mute(group, walks)
    said = (
        f" In {len(written)} of {len(walks)} read the last message holds a call written as text, which nothing carried out."
        if written
        else ""
    )
    return _Draft(
        title="Nothing is there to judge",
        what=f"{spread(group.failing)} {_verb(group, 'end')} without an answer or a patch.{said}",
        fix="have the harness carry out or send back calls that come as text"
        if written
        else "say in the prompt how to hand in the answer, and have the harness ask once more when none came",
        brief="calls that come as text" if written else "how an answer is handed in",
        kind="harness",
    )


def _mute(group: Group, walks: Sequence[Walk]) -> _Draft:
    handed = [walk for walk in walks if walk.rollout.answer]
    said = f" Of {len(walks)} read, {len(handed)} hand in something all the same." if handed else ""
    return _Draft(
        title="The agent never speaks",
        what=f"{spread(group.failing)} {_verb(group, 'hold')} no word and no call of the agent.{said}",
        fix="look at the harness first: the model was not asked, or what it said was not recorded",
        brief="the harness, which lets the agent say nothing",
        kind="harness",
        where=tuple(_handed(walk) for walk in walks[:2]),
    )


def _handed(walk: Walk) -> Said:
    if not walk.rollout.answer:
        return f"{walk.place} has no step with a word in it.", ()
    evidence = answer_evidence(walk.rollout)
    begins = quotes.shown(" ".join(walk.rollout.answer.split()), 100)
    return f"{walk.place} has no step with a word in it, and hands in `{begins}`.", (evidence,) if evidence else ()


def _last_text(walk: Walk) -> str:
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    return last.text[-4_000:] if last is not None else ""


def _answer(group: Group, context: Context) -> _Draft:
    names = {
        "different": "It answers another value than the key's",
        "several": "It gives more than one answer",
        "not extracted": "It states the key, but no answer is extracted",
        "contained": "It answers with the key among other words, and is rejected",
        "absent": "Its answer does not hold what the key wants",
    }
    return _Draft(
        title=names.get(group.name, f"Its answer against the key: {group.name}"),
        what=f"{spread(group.failing)}.",
        fix="ask for the answer in the verifier's format"
        if group.name in ("not extracted", "several", "contained")
        else "compare the passing repeats of the same tasks: where some pass, the model can, and does not reliably",
        brief="the answer format" if group.name in ("not extracted", "several", "contained") else "the wrong answers",
        kind="verifier" if group.name == "not extracted" else "training",
        where=tuple(_answered(walk) for walk in context.reading.at(group.failing)[:2]),
        estimable=False,
    )


def _answered(walk: Walk) -> Said:
    answer, expected = walk.rollout.answer, walk.due.answer or ""
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    evidence = quotes.stating(walk.rollout, last) if last is not None else None
    given = f"answers {quotes.shown(answer, 60)}" if answer else "has no answer extracted"
    said = f' (:{evidence.step} "{evidence.quote}")' if evidence and not answer else ""
    return f"{walk.place} {given}{said}, the key has {quotes.shown(expected, 60)}.", (evidence,) if evidence else ()


_DRAFTS: dict[str, Callable[[Group, Context], _Draft]] = {
    "extra": _extra,
    "left-out": _left_out,
    "argument": _argument,
    "not-said": _not_said,
    "check": _check,
    "words": _words,
    "limit": _limit,
    "machinery": _machinery,
    "no-verdict": _no_verdict,
    "no-answer": _no_answer,
    "answer": _answer,
}


def _by_user(context: Context) -> Finding | None:
    """The rollouts in which the simulated user kept back what it was asked for."""
    kept = list(context.withheld)
    if not kept:
        return None
    places = tuple((one.walk.rollout.key.task_id, one.walk.repeat) for one in kept)
    group = Group(family="user", name="withheld", detail="", failing=places, passing=(), alone=places)
    told_ = [one for one in kept if one.reply is not None and one.walk.rollout.key.task_id in context.contrasts] or kept
    draft = _Draft(
        title="The simulated user keeps back what its script gives",
        what=f"In {spread(places)} the agent asks for `{kept[0].argument}` or the like, the script holds it, "
        f"and the user never says it.",
        fix="tell the simulated user to give its ids when asked, and run these tasks again before blaming the model",
        brief="the user simulator",
        kind="harness",
        where=tuple(_kept_back(one, context) for one in _one_a_task(told_)[:2]),
        grade=Grade.CONSISTENT,
    )
    return replace(_finding(group, draft, context), headroom=_room(group, context))


def _parted(context: Context) -> Finding | None:
    """Failures that no key and no word of the verifier explains, in tasks that also pass: where the repeats part."""
    table = context.partition.table
    places = [
        (task, repeat)
        for task, repeat, mode in table.select("task_id", "repeat", "mode").iter_rows()
        if mode == NOT_EXPLAINED and task in context.contrasts
    ]
    if not places:
        return None
    group = Group(family="parted", name="", detail="", failing=tuple(places), passing=(), alone=())
    draft = _Draft(
        title="Some repeats of a task fail, and nothing in these files says why",
        what=f"{spread(places)} {_verb(group, 'fail')} beside passing repeats of the same task.{_endings(context)}",
        fix="read these beside each other, and have the verifier record what it found",
        brief="an account of the verifier",
        kind="verifier",
        where=tuple(_parting(task, context) for task in dict.fromkeys(task for task, _ in places))[:2],
        grade=Grade.NOT_SETTLED,
        estimable=False,
    )
    return _finding(group, draft, context)


def _endings(context: Context) -> str:
    """A word with which the last line of nearly all passing outputs begins and that of nearly no failing one, or the reverse."""
    words: dict[bool, list[str]] = {True: [], False: []}
    for walk in context.reading.walks.values():
        line = _last_text(walk).strip().rpartition("\n")[2]
        words[walk.passed].append(line.split(" ")[0] if line else "")
    passed, failed = words[True], words[False]
    if min(len(passed), len(failed)) < FEWEST_ENDINGS:
        return ""
    for word in sorted({*passed, *failed}):
        won, lost = passed.count(word), failed.count(word)
        if word and abs(won / len(passed) - lost / len(failed)) >= TELLING:
            return (
                f' {won} of {len(passed)} passing rollouts read end with a line that begins "{quotes.shown(word, 30)}", '
                f"{lost} of {len(failed)} failing ones."
            )
    return ""


def _parting(task: str, context: Context) -> Said:
    """The answers of both sides where there are answers, else the clearest divergence."""
    walks = context.reading.of(task)
    lost = next((walk for walk in walks if not walk.passed and walk.rollout.answer), None)
    won = next((walk for walk in walks if walk.passed and walk.rollout.answer), None)
    if lost is not None and won is not None:
        found = [one for one in (answer_evidence(lost.rollout), answer_evidence(won.rollout)) if one is not None]
        said = [quotes.shown(" ".join((walk.rollout.answer or "").split()), 110) for walk in (lost, won)]
        return f"{lost.place} answers `{said[0]}`; passing {won.place} answers `{said[1]}`.", tuple(found)
    best = max(context.contrasts[task].divergences, key=clarity, default=None)
    return divergence_in_words(best) if best is not None else ("", ())


def _one_a_task(kept: Sequence[Withheld]) -> list[Withheld]:
    """The clearest refusal of each task."""
    ordered = sorted(kept, key=lambda one: 0 if one.reply is not None and _NO_ID.search(one.reply.quote) else 1)
    first: dict[str, Withheld] = {}
    for one in ordered:
        first.setdefault(one.walk.rollout.key.task_id, one)
    return list(first.values())


def _room(group: Group, context: Context) -> Headroom:
    return headroom(context.run, group.failing, group.alone)


def _kept_back(one: Withheld, context: Context) -> Said:
    text = f"{one.walk.place} needs `{one.fact}`"
    if one.reply is not None:
        text += f'; the user says (:{one.reply.step}) "{one.reply.quote}"'
    contrast = context.contrasts.get(one.walk.rollout.key.task_id)
    given = (
        next((d for d in contrast.divergences if d.party == "user" and d.failing == one.walk.repeat), None)
        if contrast
        else None
    )
    passed = given.passed.evidence if given is not None else None
    if passed is not None:
        text += f'. In passing {passed.key}:{passed.step} it says "{passed.quote}"'
    kept = tuple(piece for piece in (one.reply, passed) if piece is not None)
    return f"{text}.", kept


def _examples(group: Group, context: Context) -> tuple[Said, ...]:
    """A divergence that shows the difference, then a second one of another task; else what failing rollouts did."""
    fitting = [
        max(telling_, key=clarity)
        for task in group.tasks
        if (contrast := context.contrasts.get(task))
        and (telling_ := [d for d in contrast.divergences if _shows(d, group)])
    ]
    best = sorted(fitting, key=lambda one: (-clarity(one), group.tasks.index(one.task_id)))
    shown = [divergence_in_words(one) for one in best[:2]]
    for walk in context.reading.at(group.alone or group.failing):
        if len(shown) >= 2:
            break
        if not any(walk.place in text for text, _ in shown):
            shown.append(failure_in_words(walk, group.name))
    return tuple(one for one in shown if one[0])


def _shows(divergence: Divergence, group: Group) -> bool:
    return (divergence.task_id, divergence.failing) in group.failing and f"`{group.name}`" in divergence.what


def clarity(one: Divergence) -> float:
    """How well a divergence shows its point: each side gives its reason, close to the act, from a shared start."""
    said, act, instead = one.failed.before, one.failed.evidence, one.passed.evidence
    words = words_of(one.what)
    score = min(one.shared, 2) + (2.0 if act is not None else 0.0)
    if said is not None:
        near = act is not None and (act.step or 0) - (said.step or 0) <= CLOSE
        score += 2 * quotes.reasons(said.quote) + quotes.weight(said.quote, words) / 2 + (2 if near else 0)
    if instead is not None:
        score += 2 * quotes.reasons(instead.quote) + quotes.weight(instead.quote, words) / 2
    return score


def divergence_in_words(one: Divergence) -> Said:
    """`Task 39: 39#1:6 says "...", then calls cancel_reservation (:8), which the key has not; passing 39#0:4 says "...".`"""
    passed, failed = one.passed, one.failed
    fail, win = f"{one.task_id}#{one.failing}", f"{one.task_id}#{one.passing}"
    text = f"Task {one.task_id}: "
    said = failed.before if failed.before is not None and _is_close(failed.before, failed.evidence) else None
    if said is not None:
        text += f'{fail}:{said.step} says "{said.quote}", then '
    else:
        text += f"{fail} "
    text += one.what
    if failed.evidence is not None:
        text += f" (:{failed.evidence.step}{_short(failed.evidence)})"
    if passed.evidence is not None:
        text += f"; passing {win}:{passed.evidence.step} {passed.did}{_short(passed.evidence)}"
    found = tuple(piece for piece in (said, failed.evidence, passed.evidence) if piece is not None)
    return text + ".", found


def _is_close(said: Evidence, act: Evidence | None) -> bool:
    return act is not None and (act.step or 0) - (said.step or 0) <= CLOSE


def _short(evidence: Evidence) -> str:
    """A quote beside a place; arguments only where they are short enough to be read."""
    if evidence.field == "arguments" and len(evidence.quote) > LONGEST_ARGUMENTS:
        return ""
    return f' "{evidence.quote}"'


def failure_in_words(walk: Walk, name: str) -> Said:
    """What a failing rollout did or said about the tool, check or field that is named."""
    step = next((one.step for one in walk.differs if one.name == name and one.step is not None), None)
    call = next((one for one in walk.calls if one.index == step), None)
    if call is not None:
        evidence = quotes.of_call(walk.rollout, call)
        before = walk.said_before(call.index)
        near = before is not None and call.index - before.index <= CLOSE
        words = quotes.of_text(walk.rollout, before, words_of(name)) if before is not None and near else None
        said = f'; before it (:{words.step}) "{words.quote}"' if words else ""
        quote = _short(evidence) if evidence and evidence.field == "arguments" else ""
        return f"{walk.place}:{call.index} calls `{call.tool}`{quote}{said}.", tuple(p for p in (evidence, words) if p)
    spoken = walk.most_about((*DECLINING, *words_of(name)), after=-1) if name else None
    evidence = quotes.of_text(walk.rollout, spoken, (*DECLINING, *words_of(name))) if spoken is not None else None
    if evidence is not None and any(word in evidence.quote.lower() for word in DECLINING):
        return f'{walk.place}:{evidence.step} says "{evidence.quote}".', (evidence,)
    return _ends(walk)


def _ends(walk: Walk) -> Said:
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    evidence = quotes.ending(walk.rollout, last) if last is not None else None
    called = f" calls `{walk.calls[-1].tool}` last (:{walk.calls[-1].index}) and" if walk.calls else ""
    if evidence is None:
        return f"{walk.place}{called} ends without a word.", ()
    return f'{walk.place}{called} ends with (:{evidence.step}) "{evidence.quote}".', (evidence,)
