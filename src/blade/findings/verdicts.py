"""What the verifier looked at: statements, tests and criteria, answers, its own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from blade.attribution.groups import A_TOTAL, BEFORE_JUDGING, FailureGroup
from blade.attribution.mode_kinds import party_of
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext, marked
from blade.evidence.differences import A_JUDGE, ENVIRONMENT, EVERY_TEST
from blade.evidence.templates import readable, telling
from blade.findings import examples
from blade.findings.examples import judge_words, verb
from blade.ingest.fields import is_judge
from blade.model.expected import VerifierCheck
from blade.model.finding import Differs
from blade.model.pattern import pattern_of

_COUNTS = pattern_of(
    r"Failed (?P<failed>\d{1,6}) of (?P<all>\d{1,6}) tests|TESTS=(?P<total>\d{1,6}) PASS=\d{1,6} FAIL=(?P<fail>\d{1,6})"
    r"|(?<!\d)(?P<bad>\d{1,6}) failed, (?P<good>\d{1,6}) passed"
)

_FENCE = "```"
_TRY_IT = "have the harness try what is handed in before it is judged, and send the error back to the agent"
"""What to do about what could not be judged at all."""
_OTHERS = {"user": "the simulated user", "tool": "the tools", "harness": "the harness"}
"""Whom the verifier may name in place of the agent."""
MOST_NAMED = 4
LONGEST_ANSWER = 60
"""Characters of an answer that is shown beside the verifier's words."""


def not_said(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A statement that was due and not made."""
    alone = f"; in {len(group.alone)} nothing else is wrong" if group.alone else ""
    return FindingDraft(
        title="It does not say what had to be said",
        what=f"{group.failing.in_words} never {verb(group, 'state')} something that the key wants told to the user{alone}.",
        fix="look up what the wrong statements rest on, and have the agent answer the user's questions one by one",
        brief="the statements that the key wants",
        kind="prompt",
        where=tuple(_unsaid(walk) for walk in context.read(group.alone or group.failing)[:2]),
    )


def _unsaid(walk: AlignedTrajectory) -> QuotedSentence:
    wanted = next((one.name for one in walk.differs if one.kind == Differs.NOT_SAID), "")
    spoken = [step for step in walk.steps if step.party == "agent" and step.kind == "message" and step.text.strip()]
    numbered = [step for step in spoken if re.search(r"\d", step.text)] if re.search(r"\d", wanted) else []
    step = next(reversed(numbered or spoken), None)
    evidence = quotes.of_text(walk.rollout, step, ("total", "$", "can", *wanted.split())) if step is not None else None
    said = f'; it says (:{evidence.step}) "{evidence.quote}"' if evidence else ""
    return f"{walk.place} never says {quotes.shown(wanted, 60)}{said}.", (evidence,) if evidence else ()


def check(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A test or criterion that tasks share; those that no two tasks share are one finding together."""
    if not group.name:
        return _criteria(group, context)
    near = f"; in {len(group.alone)} it is the only one" if group.alone else ""
    return FindingDraft(
        title=f"`{quotes.shown(group.name, 90)}` is not met",
        what=f"{group.failing.in_words} {verb(group, 'fail')} it{near}.",
        fix="read the failing outputs beside this criterion: either the prompt does not ask for it plainly, or it is "
        "beyond what the model does",
        brief=f"`{quotes.shown(group.name, 60)}`",
        kind="prompt",
        where=tuple(_failed(walk, group.name) for walk in context.read(group.failing)[:2]),
        estimable=False,
    )


def _criteria(group: FailureGroup, context: RunContext) -> FindingDraft:
    """How near the misses are, whether one criterion decides, and whether the reward shows any of it."""
    walks = context.read(group.failing)
    counted = [walk for walk in walks if walk.due.met]
    near = [walk for walk in counted if walk.due.asked - walk.due.met == 1]
    required = [walk for walk in walks if any(one.required and not one.passed for one in walk.due.checks)]
    hidden = [walk for walk in counted if walk not in required and not walk.rollout.reward and _mostly_met(walk)]
    said = [f"{len(near)} of {len(walks)} read {'misses' if len(near) == 1 else 'miss'} by one."] if near else []
    if required:
        named = ", ".join(walk.place for walk in required[:3])
        said.append(f"{named} {'fails' if len(required) == 1 else 'fail'} one that must be met.")
    if hidden:
        named = ", ".join(walk.place for walk in hidden[:3])
        said.append(f"For {named} the reward is 0 though half or more are met.")
    said += _alike(walks)
    first = [
        *required,
        *(w for w in near if w not in required),
        *(w for w in walks if w not in near and w not in required),
    ]
    return FindingDraft(
        title="Tests or criteria fail, of which only the number is recorded"
        if _are_totals(walks)
        else "Tests or criteria fail that no two tasks share",
        what=" ".join([f"{group.failing.in_words} {verb(group, 'fail')} at least one.", *said]),
        fix=_train(group, context, "where a criterion is missed by one" if near else "where a criterion is missed"),
        brief=f"the criteria ({len(near)} missed by one)" if near else "the criteria, task by task",
        kind="training",
        where=tuple(_failed(walk, "") for walk in first[:2]),
        estimable=False,
    )


def _are_totals(walks: Sequence[AlignedTrajectory]) -> bool:
    """Whether all that is known of what fails is how many do."""
    failed = [one for walk in walks for one in walk.due.checks if not one.passed]
    return bool(failed) and all(one.held is not None for one in failed)


def _alike(walks: Sequence[AlignedTrajectory]) -> list[str]:
    """What the verifier says of a test in most of the rollouts and in two tasks or more, though the tests have other names."""
    told: dict[str, list[tuple[AlignedTrajectory, str]]] = {}
    for walk in walks:
        for words, name in {one.detail: one.name for one in walk.differs if one.kind == Differs.CHECK}.items():
            told.setdefault(words, []).append((walk, name))
    words, mine = max(told.items(), key=lambda one: (len(one[1]), one[0]), default=("", []))
    tasks = {walk.rollout.key.task_id for walk, _ in mine}
    if words in ("", A_TOTAL) or len(tasks) < 2 or len(mine) * 2 < len(walks):
        return []
    found = examples.check(*mine[0])
    shown = quotes.shown(" ".join(found.quote.split()) if found is not None else readable(words), 110)
    return [f'In {len(mine)} of {len(walks)} read the verifier says of one: "{shown}".']


def _train(group: FailureGroup, context: RunContext, where: str) -> str:
    """What to train on: passing repeats of the same tasks, where there are any that earned it."""
    telling = [
        f"{task}#{repeat}"
        for task in group.failing.within(context.contrasts).tasks
        for repeat in context.contrasts[task].passing
        if repeat not in context.contrasts[task].lucky
    ]
    if telling:
        more = f" and {len(telling) - MOST_NAMED} more" if len(telling) > MOST_NAMED else ""
        return f"train on the passing repeats of the same tasks ({', '.join(telling[:MOST_NAMED])}{more}), {where}"
    return f"train on solved tasks of this kind, {where}; {_why_none_teaches(group, context)}"


def _why_none_teaches(group: FailureGroup, context: RunContext) -> str:
    """Why no repeat of the group's own tasks is an example to train on."""
    few = "this task" if len(group.tasks) == 1 else f"these {len(group.tasks)} tasks"
    rollouts = context.rollouts
    passing = marked(rollouts, rollouts.passed & rollouts.of_tasks(group.tasks))
    if not passing:
        return f"no repeat of {few} passes, so none can teach it"
    if context.unlike.keys() >= set(passing.tasks):
        return f"the repeats of {few} that pass were given something else, so they do not teach it"
    return f"the repeats of {few} that pass did less than those that fail, so they do not teach it"


def _mostly_met(walk: AlignedTrajectory) -> bool:
    return walk.due.met * 2 >= walk.due.asked


def _failed(walk: AlignedTrajectory, name: str) -> QuotedSentence:
    failed = [one for one in walk.due.checks if one.name.startswith(name) and not one.passed]
    one = next((check_ for check_ in failed if check_.required), failed[0] if failed else None)
    met, all_ = walk.due.met, walk.due.asked
    of = f" (meets {met} of {all_}, reward {walk.rollout.reward:g})" if met and walk.rollout.reward is not None else ""
    if one is None:
        return f"{walk.place}{of} fails it.", ()
    what = "" if name else f" fails {'the must-pass ' if one.required else ''}`{quotes.shown(one.name, 100)}`"
    words = _words_of(one)
    evidence = quotes.of_row(walk.rollout, one.words_field, words) if one.words_field and words else None
    quoted = f': "{words}"' if evidence else f" ({words})" if words else ""
    return f"{walk.place}{of}{what or ' fails it'}{quoted}.", (evidence,) if evidence else ()


def _words_of(check_: VerifierCheck) -> str:
    if not check_.words.strip():
        return ""
    start, end = telling(check_.words)
    return check_.words[start:end][: quotes.LONGEST].strip()


def words(group: FailureGroup, context: RunContext) -> FindingDraft:
    """What the verifier says of failures, and rarely of a pass."""
    if group.name == EVERY_TEST:
        return _cannot_run(group, context)
    passes = f"{len(group.passing)} passing" if group.passing else "no passing"
    judged, says = group.detail == A_JUDGE, _as_said(group, context)
    who = ENVIRONMENT if group.name == ENVIRONMENT else "verifier"
    where = "where a judge rejects" if judged else f"where the {who} says {says(60)}"
    unjudged = re.match(BEFORE_JUDGING, group.detail) is not None
    other = _OTHERS.get(party_of(group.name, group.detail), "")
    return FindingDraft(
        title="A judge rejects it, in words of its own" if judged else f"The {who} says {says(110)}",
        what=f"{'It' if group.name == ENVIRONMENT else f'`{group.name}`'} says so in {group.failing.in_words}, and in {passes} rollout{'s' if len(group.passing) > 1 else ''}.",
        fix=f"mend {other}, and run these rollouts again before blaming the model"
        if other
        else _TRY_IT
        if unjudged
        else _train(group, context, where),
        brief="what the judge says" if judged else f"the {who}'s {says(60)}",
        kind="harness" if unjudged or other else "training",
        where=tuple(_spoken(walk, group.name) for walk in context.read(group.failing)[:2]),
        estimable=False,
    )


def _cannot_run(group: FailureGroup, context: RunContext) -> FindingDraft:
    """What every test of a rollout says: the program could not be run, or was not taken out of its fence."""
    walks = context.read(group.failing)
    found = [(walk, evidence) for walk in walks if (evidence := examples.check(walk, "")) is not None]
    fenced = bool(found) and all("SyntaxError" in one.quote and _FENCE in one.quote for _, one in found)
    return FindingDraft(
        title=f"Every test says {_as_said(group, context)(110)}",
        what=f"So in {group.failing.in_words}: the program could not be run at all"
        f"{', since the fence around it was taken for a part of it' if fenced else ''}.",
        fix="have the verifier take the program out of its fence before it runs it, and judge these again"
        if fenced
        else _train(group, context, "where the program cannot be run"),
        brief="programs that are run with their fence" if fenced else "programs that cannot be run",
        kind="verifier" if fenced else "training",
        where=tuple((f'{walk.place}: "{one.quote}".', (one,)) for walk, one in found[:2]),
        estimable=False,
    )


def _as_said(group: FailureGroup, context: RunContext) -> Callable[[int], str]:
    """The verifier's words, cut to a width; those of one rollout where what it says differs from one to the next."""
    plain = readable(group.detail)
    walks = context.read(group.failing)[:1] if plain != group.detail or plain.endswith("...") else []
    found = next((one for walk in walks if (one := examples.said(walk, group.name)) is not None), None)
    if found is None:
        return lambda width: f'"{quotes.shown(plain, width)}"'
    more = " and the like" if len(group.failing) > 1 else ""
    return lambda width: f'"{quotes.shown(" ".join(found.quote.split()), width)}"{more}'


def _spoken(walk: AlignedTrajectory, field: str) -> QuotedSentence:
    spoken = next((one for one in walk.due.said if one.field == field), None)
    if spoken is None:
        heard = examples.said(walk, field)
        return (
            (f'{walk.place}:{heard.step} "{heard.quote}".', (heard,)) if heard is not None else (f"{walk.place}.", ())
        )
    if walk.due.said and is_judge(field):
        evidence = judge_words(walk)
        told = f': "{evidence.quote}"' if evidence else _answer_of(walk)
        return f"{walk.place}{told}.", (evidence,) if evidence else ()
    start, end = telling(spoken.text)
    quote = spoken.text[start:end][: quotes.LONGEST]
    found = [quotes.of_row(walk.rollout, field, quote), judge_words(walk)]
    judged = f'; the judge: "{found[1].quote}"' if found[1] is not None else ""
    given = "" if judged else _answer_of(walk)
    return f'{walk.place}: "{quote}"{_counts(spoken.text)}{judged}{given}.', tuple(
        one for one in found if one is not None
    )


def _counts(log: str) -> str:
    """How many tests failed, where a log counts them."""
    match = next(iter(_COUNTS.finditer(log)), None)
    if match is None:
        return ""
    failed = int(match["failed"] or match["fail"] or match["bad"])
    total = int(match["all"] or match["total"] or failed + int(match["good"] or 0))
    return f" ({failed} of {total} tests failed)" if total else ""


def _answer_of(walk: AlignedTrajectory) -> str:
    """The answer beside the verifier's words, where it is short: the beginning of a program tells nothing."""
    answer_ = " ".join((walk.rollout.answer or "").split())
    return f"; it answers `{quotes.shown(answer_, LONGEST_ANSWER)}`" if 0 < len(answer_) <= LONGEST_ANSWER else ""


NAMES = {
    "different": "It answers another value than the key's",
    "several": "It gives more than one answer",
    "contained": "It answers with the key among other words, and is rejected",
    "absent": "Its answer does not hold what the key wants",
}
"""How an answer compares with the key; what is not here is a mode or a doubt, and no finding."""


def answer(group: FailureGroup, context: RunContext) -> FindingDraft:
    """How the answers of failing rollouts compare with the key."""
    form = group.name in ("several", "contained")
    return FindingDraft(
        title=NAMES.get(group.name, f"Its answer against the key: {group.name}"),
        what=f"{group.failing.in_words}.",
        fix="ask for the answer in the verifier's format"
        if form
        else _train(group, context, "where the answer is another than the key's"),
        brief="the answer format" if form else "the wrong answers",
        kind="prompt" if form else "training",
        where=tuple(_answered(walk) for walk in _first_of_tasks(context.read(group.failing))[:2]),
        estimable=False,
    )


def declined(group: FailureGroup, context: RunContext) -> FindingDraft:
    """The verifier says that the agent did not try, or said that it does not know."""
    return FindingDraft(
        title="It declines, or says that it does not know",
        what=f"{group.failing.in_words}.",
        fix=_train(group, context, "where it declines"),
        brief="what it declines to answer",
        kind="training",
    )


def _first_of_tasks(walks: Sequence[AlignedTrajectory]) -> list[AlignedTrajectory]:
    first: dict[str, AlignedTrajectory] = {}
    for walk in walks:
        first.setdefault(walk.rollout.key.task_id, walk)
    return list(first.values())


def _answered(walk: AlignedTrajectory) -> QuotedSentence:
    given, expected = walk.rollout.answer, walk.due.answer or ""
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    evidence = quotes.stating(walk.rollout, last) if last is not None else None
    answers = (
        f"answers {quotes.worded(given, 60)}" if given else "has no answer extracted" if walk.due.extracts else "says"
    )
    said = f' (:{evidence.step} "{evidence.quote}")' if evidence and not given else ""
    return f"{walk.place} {answers}{said}, the key has {quotes.worded(expected, 60)}.", (evidence,) if evidence else ()
