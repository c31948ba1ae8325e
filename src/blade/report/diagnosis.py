"""Modes, findings, doubts and deep dives as Markdown; every word from a rollout is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from blade.model.analysis import RunAnalysis
from blade.model.attribution import UNATTRIBUTED
from blade.model.diagnosis import (
    READER,
    Alarm,
    DeepDive,
    Diagnosis,
    Doubt,
    Finding,
    Habit,
    Headroom,
    Intervention,
    Mode,
    PartyCount,
    Responsibility,
)
from blade.model.finding import Cause
from blade.report.numbers import gain, listed, plural, points, score
from blade.report.text import code, cut, safe, safe_inside, spans, table

MOST_MODES = 8
MOST_FINDINGS = 3
MOST_DOUBTS = 5
MOST_HABITS = 6
LONGEST_QUOTE = 80
LONGEST_CODE = 50
LONGEST_NAME = 120
LONGEST_STEP = 240
MOST_IDS = 3
"""Ids in a sentence: more drown it."""


def prose(text: str) -> str:
    """A sentence with names between backticks, as Markdown in which nothing else is markup."""
    parts = [code(part) if kind == "name" else _inner(part, first=not n) for n, (kind, part) in enumerate(spans(text))]
    return "".join(parts)


def _inner(part: str, first: bool) -> str:
    """Escaped, with the white space at its ends kept as one space."""
    lead = " " if part[:1].isspace() else ""
    tail = " " if part[-1:].isspace() and part.strip() else ""
    return f"{lead}{safe(part) if first else safe_inside(part)}{tail}"


def modes_lines(one: RunAnalysis) -> list[str]:
    """The table of modes: it adds up to the failures."""
    found = one.diagnosis
    if found is None or not found.responsibility.failures:
        return []
    rows = [
        [
            prose(_mode_name(mode)),
            f"{mode.rollouts:,}",
            f"{mode.tasks:,}",
            responsible(mode.party),
            mode.confidence or "-",
            example(mode),
        ]
        for mode in shown_modes(found)
    ]
    head = [
        f"How the {plural(found.partition.table.height, 'rollout')} that did not pass failed (each once)",
        "Rollouts",
        "Tasks",
        "Responsible",
        "Confidence",
        "Example",
    ]
    return table(head, rows)


def shown_modes(found: Diagnosis) -> list[Mode]:
    """At most eight modes; the smallest are put together, and what is not explained stays apart."""
    modes = list(found.partition.modes)
    if len(modes) <= MOST_MODES:
        return modes
    last = [mode for mode in modes if mode.id == UNATTRIBUTED]
    named = [mode for mode in modes if mode.id != UNATTRIBUTED]
    kept = named[: MOST_MODES - 1 - len(last)]
    rest = named[len(kept) :]
    mine = found.partition.table
    tasks = mine.filter(mine["mode"].is_in([mode.id for mode in rest]))["task_id"].n_unique()
    other = Mode(
        id="other",
        name=f"{len(rest)} other modes, listed in findings.json",
        party="several",
        confidence="",
        rollouts=sum(mode.rollouts for mode in rest),
        tasks=tasks,
    )
    return [*kept, other, *last]


def _mode_name(mode: Mode) -> str:
    return cut(mode.name, LONGEST_NAME) + (f" ({mode.note})" if mode.note else "")


def example(mode: Mode) -> str:
    """Location and quote, short."""
    if mode.evidence is None:
        return "-"
    quote = mode.evidence.quote
    shown = code(cut(quote, LONGEST_CODE)) if mode.evidence.field == "arguments" else safe(_quoted(quote))
    return f"{safe(mode.evidence.location)} {shown}"


def _quoted(quote: str) -> str:
    return f'"{cut(" ".join(quote.split()), LONGEST_QUOTE)}"'


def finding_lines(number: int, finding: Finding) -> list[str]:
    """One finding in four parts."""
    places, sure = _places(finding), strength(finding)
    shown = [prose(text) for text in (finding.against, *finding.where) if text]
    rest = f"{'Also' if finding.against or len(shown) > 1 else 'See'} {safe(places)}." if places else ""
    shown = [*shown[:-1], f"{shown[-1]} {rest}".rstrip()] if shown else [rest] if rest else []
    return [
        f"**{number}. {prose(finding.title.rstrip('.'))}.** {prose(finding.what)}" + (f" *{sure}.*" if sure else ""),
        "",
        *[f"- {text}" for text in shown],
        *([f"- *{_owner(finding.owner)}:* {prose(_sentence(finding.fix))}"] if finding.fix else []),
        "",
    ]


def _places(finding: Finding) -> str:
    named = [
        one for one in finding.locations if one not in finding.against and not any(one in t for t in finding.where)
    ]
    more = finding.rollouts - (len(finding.locations) - len(named)) - len(named[:MOST_IDS])
    return ", ".join(named[:MOST_IDS]) + (f" and {more:,} more" if named and more > 0 else "")


def strength(finding: Finding) -> str:
    """How sure it is, and what fixing it would gain, where something settled is there to fix."""
    gained = worth(finding.gain) if finding.gain is not None and _gains(finding.gain) else ""
    sure = "" if finding.owner == READER else finding.confidence.capitalize()
    return "; ".join(filter(None, (sure, gained)))


def _gains(room: Headroom) -> bool:
    """Whether anything is known to be gained: for what repeats the verdict or is suspected nothing is."""
    return room.estimate is not None or room.only_defect > 0


def at_most(room: Headroom) -> str:
    """What fixing it would gain, in short."""
    unit = " points" if room.in_points else ""
    if room.estimate is not None and (room.interval is None or room.interval.low > 0):
        return f"about {gain(room.estimate, room.in_points)}{unit}"
    return f"up to {gain(room.only_defect or room.ceiling, room.in_points)}{unit}"


def worth(room: Headroom) -> str:
    """What fixing it would gain, three ways: `about 5.8 points (95 % CI 0.4 to 11.3); up to 8.0`."""
    unit = " points" if room.in_points else ""
    said = []
    if room.estimate is not None and room.interval is not None and room.interval.low < room.interval.high:
        about, low, high = (gain(v, room.in_points) for v in (room.estimate, room.interval.low, room.interval.high))
        said.append(f"about {about}{unit} (95 % CI {low} to {high})")
    if room.estimate is not None and room.interval is None:
        said.append(f"about {gain(room.estimate, room.in_points)}{unit} at the pass rate of the other rollouts")
    only, most = gain(room.only_defect, room.in_points), gain(room.ceiling, room.in_points)
    said += [f"{only}{unit} if only this is fixed"] if room.only_defect and only != most else []
    return "; ".join([*said, f"up to {most}{unit}" + ("" if room.in_points else " in units of the reward")])


def findings_lines(one: RunAnalysis) -> list[str]:
    """The three findings of page one."""
    if one.diagnosis is None:
        return []
    lines: list[str] = []
    for number, finding in enumerate(one.diagnosis.findings[:MOST_FINDINGS], start=1):
        lines += finding_lines(number, finding)
    names = {mode.id: mode.name for mode in one.diagnosis.partition.modes}
    return [*lines, *_reliability(one.diagnosis.findings[:MOST_FINDINGS], names)]


def _reliability(findings: Sequence[Finding], names: Mapping[str, str]) -> list[str]:
    """A footnote: how often the modes that lead are right where the truth is known."""
    codes = {finding.id.partition(":")[0]: finding.measured for finding in findings if finding.measured}
    told = [f"{names.get(code, code)}: {measured}" for code, measured in codes.items()]
    if not told:
        return []
    return [
        f"*How often these modes are right where the true cause is known (planted faults are simulated). {'; '.join(told)}.*"
    ]


def responsible_lines(one: RunAnalysis) -> list[str]:
    """Whose the failures are, and what the score would read without those that are not the agent's: a reading."""
    if one.diagnosis is None or not one.diagnosis.responsibility.failures:
        return []
    found = one.diagnosis.responsibility
    rest = {
        "agent": found.agent,
        "limits": found.limit,
        "suspected to be someone else's": found.suspected,
        "undecided": found.unknown,
    }
    told = ", ".join(f"{name} {times:,}" for name, times in rest.items() if times)
    failures = not_passed(one, found.failures)
    if not found.not_agents:
        head = f"**No failure is put down to the machinery, the benchmark or the simulated user** ({told})."
    else:
        verb = "is" if found.not_agents == 1 else "are"
        head = f"**{found.not_agents:,} of the {failures} {verb} not the agent's**: {', '.join(map(_party, found.others))}."
        head += f" The rest: {told}." if told else ""
    return [" ".join([head, *_without_others(one, found)])]


def not_passed(one: RunAnalysis, rollouts: int) -> str:
    """`40 failures`; where some errored or are missing, what they and the failures are together."""
    if rollouts == one.metrics.counts["failed_rollouts"]:
        return plural(rollouts, "failure")
    return f"{plural(rollouts, 'rollout')} that did not pass"


def _party(one: PartyCount) -> str:
    """`verifier 13 (3 proven, 10 likely)`."""
    counts = {"proven": one.proven, "likely": one.likely}
    known = {name: times for name, times in counts.items() if times}
    told = next(iter(known)) if len(known) == 1 else ", ".join(f"{times:,} {name}" for name, times in known.items())
    return f"{responsible(one.party)} {one.proven + one.likely:,} ({told})"


def responsible(party: str) -> str:
    """A party, or several with their numbers, as people write it."""
    return party.replace("user_simulator", "simulated user")


def _without_others(one: RunAnalysis, found: Responsibility) -> list[str]:
    """The score without what is not the agent's, and without passes to doubt; what it is not."""
    scores = {each.name: each for each in one.metrics.scores if each.value is not None}
    doubtful = len(one.diagnosis.passes_to_doubt) if one.diagnosis else 0
    whole, proven = scores.get("not_agents_excluded"), scores.get("proven_not_agents_excluded")
    if whole is None or not (found.not_agents or doubtful):
        return []
    passes = f"{plural(doubtful, 'pass').replace('passs', 'passes')} to doubt" if doubtful else ""
    failures = "these failures" if found.not_agents > 1 else "this failure" if found.not_agents else ""
    proven_only = sum(each.proven for each in found.others)
    some = proven is not None and 0 < proven_only < found.not_agents
    aside = f"; {score(proven.value)} without only the {proven_only:,} proven ones" if proven and some else ""
    named = " and ".join(filter(None, (failures, passes)))
    return [
        (
            f"Without {named} the score would read {score(whole.value)} ({plural(whole.n_rollouts, 'rollout')}){aside}. This "
            "is a reading and not the score: removing failures biases it upward."
        )
    ]


def issues_lines(one: RunAnalysis) -> list[str]:
    """Issues with the benchmark, one a line with its owner; suspicions last, and as something to read."""
    if one.diagnosis is None or not one.diagnosis.doubts:
        return []
    told = issues_told(one.diagnosis)
    more = len(told) - MOST_DOUBTS
    tail = [f"- {plural(more, 'more issue')} in findings.json."] if more > 0 else []
    shown = [f"- *{about}:* {prose(text.rstrip('.'))}." for about, text in told[:MOST_DOUBTS]]
    return ["**Benchmark issues**", "", *shown, *tail]


def passes_to_doubt_lines(one: RunAnalysis) -> list[str]:
    """Passes that may not mean what they seem, in one paragraph."""
    if one.diagnosis is None or not one.diagnosis.passes_to_doubt:
        return []
    found = one.diagnosis.passes_to_doubt
    told = "; ".join(f"{safe(each.location)}: {safe(each.why)}" for each in found[:MOST_DOUBTS])
    more = f"; {len(found) - MOST_DOUBTS:,} more in findings.json" if len(found) > MOST_DOUBTS else ""
    return [f"**Passes to doubt.** {len(found):,} of the passes may be hollow: {told}{more}."]


def issues_told(found: Diagnosis) -> list[tuple[str, str]]:
    """Who owns what each rule saw, and in words: the first thing that it saw, and in which other tasks it saw more.

    What no failure is put down to comes last, and says so.
    """
    by_code: dict[str, list[Doubt]] = {}
    for doubt in sorted(found.doubts, key=lambda one: (one.preview, not one.decided)):
        by_code.setdefault(doubt.code, []).append(doubt)
    return [(_issue_head(mine[0]), mine[0].message + _elsewhere(mine)) for mine in by_code.values()]


def _issue_head(doubt: Doubt) -> str:
    about = _ABOUT.get(doubt.about, doubt.about.capitalize())
    return about if doubt.decided else f"{about} (no failure is put down to it)"


_ABOUT = {"key": "Expected answer", "user": "Simulated user"}


def _elsewhere(doubts: list[Doubt]) -> str:
    others = dict.fromkeys(task for doubt in doubts[1:] for task in doubt.tasks if task not in doubts[0].tasks)
    named = list(others)
    more = f" and {len(named) - MOST_IDS:,} more" if len(named) > MOST_IDS else ""
    return f" (also in {', '.join(named[:MOST_IDS])}{more})" if named else ""


def why_not(one: RunAnalysis) -> str:
    """Why nothing is said about failures."""
    return f"Failures were not analyzed: {safe(one.why_not)}."


def mode_section(one: RunAnalysis) -> list[str]:
    """Section 6: modes, the findings beyond page one, and what goes with failing."""
    found = one.diagnosis
    if found is None:
        return [why_not(one)]
    if not one.metrics.counts["failed_rollouts"]:
        return ["No judged rollout failed: there is no mode to name."]
    lines = _all_modes(found) if len(found.partition.modes) > MOST_MODES else []
    lines += [] if lines else ["The table of modes stands on page one; these findings stand behind its three.", ""]
    lines += [f"Only a part was read for quotes and contrasts: {'; '.join(found.cut)}.", ""] if found.cut else []
    for number, finding in enumerate(found.findings[MOST_FINDINGS:], start=MOST_FINDINGS + 1):
        lines += finding_lines(number, finding)
    return [*lines, *rules_table(found), *_across(found), *_alarms(found), *_habits(found)]


def _all_modes(found: Diagnosis) -> list[str]:
    """Every mode, where page one puts some together."""
    rows = [
        [prose(_mode_name(m)), f"{m.rollouts:,}", f"{m.tasks:,}", responsible(m.party), m.confidence or "-"]
        for m in found.partition.modes
    ]
    return table(["What happened", "Rollouts", "Tasks", "Responsible", "Confidence"], rows, "findings.json", 24)


def _habits(found: Diagnosis) -> list[str]:
    telling = [habit for habit in found.habits if _tells(habit)][:MOST_HABITS]
    if not found.habits:
        return []
    if not any(habit.informative for habit in found.habits):
        return [
            "Habits (a tool never called, a change without a look-up) cannot be tested: no task has rollouts of both kinds.",
            "",
        ]
    if not telling:
        return [
            f"Of {plural(len(found.habits), 'habit')} tested within tasks, none is tied to failing beyond chance.",
            "",
        ]
    rows = [[prose(h.name), str(h.support), _counts(h), _test(h)] for h in telling]
    return [
        f"Habits that go with failing or passing, tested within tasks ({len(found.habits)} in one family):",
        "",
        *table(["habit", "support", "passes with it, and without", "within tasks"], rows),
    ]


def _tells(habit: Habit) -> bool:
    """Tied to failing; or helpful in one slice and harmful in another, which a plain habit can be."""
    return habit.support == "statistically supported" or (
        habit.support == "mixed" and not habit.id.startswith("blind:")
    )


def _counts(habit: Habit) -> str:
    with_it, without = habit.with_passed + habit.with_failed, habit.without_passed + habit.without_failed
    return f"{habit.with_passed:,} of {with_it:,}, {habit.without_passed:,} of {without:,}"


def _test(habit: Habit) -> str:
    if habit.mixed_in:
        worse, better = habit.mixed_in
        return f"worse where the task requires {safe(worse)}, better where {safe(better)}"
    if habit.risk_difference is None or habit.q_value is None:
        return "no task can tell"
    return f"{points(habit.risk_difference)} points more failures, q {habit.q_value:.3f}, {plural(habit.informative, 'task')}"


def causes_lines(one: RunAnalysis) -> list[str]:
    """How many tasks each cause has, in one line, with what is not settled."""
    if one.diagnosis is None or not one.diagnosis.causes:
        return []
    counts = Counter(str(found.cause) if found.cause else "undecided" for found in one.diagnosis.causes.values())
    named = ", ".join(f"{counts[name]:,} {name}" for name in (*map(str, Cause), "undecided") if counts[name])
    return [
        f"**Causes** of the {plural(len(one.diagnosis.causes), 'task')} that failed: {named}.{_labelled(one.diagnosis)}"
    ]


def _labelled(found: Diagnosis) -> str:
    """How often people and rules agree, where people have spoken."""
    people = [cause for cause in found.causes.values() if cause.decided_by == "person"]
    if not people:
        return ""
    settled = [cause for cause in people if cause.rules_said is not None]
    agreed = sum(cause.rules_said == cause.cause for cause in settled)
    return f" {plural(len(people), 'task')} labelled by a person; of {len(settled):,} that the rules had settled they agree on {agreed:,}."


def causes_table(one: RunAnalysis) -> list[str]:
    """The tasks of each cause, with the reason for the first."""
    if one.diagnosis is None or not one.diagnosis.causes:
        return []
    groups: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], str] = {}
    for task, found in one.diagnosis.causes.items():
        name = (str(found.cause) if found.cause else "not settled", found.confidence or "-")
        groups.setdefault(name, []).append(task)
        first.setdefault(name, found.because)
    order = [*map(str, Cause), "not settled"]
    rows = [
        [name, sure, f"{len(tasks):,}", safe(listed(tasks, 10)), prose(cut(first[name, sure], 200))]
        for (name, sure), tasks in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    ]
    return table(["cause", "confidence", "tasks", "which", "because, for the first"], rows, "tasks.jsonl", 16)


def rules_table(found: Diagnosis) -> list[str]:
    """Rules that fired, with what they are worth; alarms that are as common in passes are called harmless."""
    fired = [one for one in found.rule_statistics if one.fired]
    if not fired:
        return []
    rows = [
        [
            one.code,
            prose(cut(one.message, 110)),
            str(one.support) + ("" if one.status == "stable" else ", preview"),
            f"{one.fired_failed:,} of {one.failed:,}",
            f"{one.fired_passed:,} of {one.passed:,}",
            f"{one.skipped:,}" if one.skipped else "-",
        ]
        for one in fired
    ]
    head = ["rule", "what it saw", "support", "fired in failures", "in passes", "could not look"]
    return ["Rules that fired (a preview rule decides no cause):", "", *table(head, rows, "findings.json", 16)]


def _across(found: Diagnosis) -> list[str]:
    """What rules over runs saw in the agent, one repeat against others."""
    shown = [f"- {prose(one.message)} ({one.code}{', preview' if one.preview else ''})." for one in found.across]
    more = len(shown) - MOST_DOUBTS
    tail = [f"- {more:,} more in findings.json."] if more > 0 else []
    return ["Repeats of one task set against each other:", "", *shown[:MOST_DOUBTS], *tail, ""] if shown else []


def _alarms(found: Diagnosis) -> list[str]:
    """Alarming words that passes of the same tasks hold as often; those that failures hold more often are named after."""
    if not found.alarms:
        return []
    harmless = [_alarm(one) for one in found.alarms if one.harmless]
    others = [_alarm(one) for one in found.alarms if not one.harmless and one.fired_failed]
    lines = []
    if harmless:
        lines += [
            "Alarming words in results that are harmless here, since passes of the same tasks hold them as often: "
        ]
        lines[-1] += "; ".join(harmless) + "."
    if others:
        lines += [
            "Alarming words in results that failures of the same tasks hold more often: " + "; ".join(others) + "."
        ]
    return [text for line in lines for text in (line, "")]


def _alarm(one: Alarm) -> str:
    return (
        f"{code(one.word)} in {one.fired_passed:,} of {one.passed:,} passes and {one.fired_failed:,} of "
        f"{one.failed:,} failures"
    )


def dives_section(one: RunAnalysis, bucket: str, none: str) -> list[str]:
    """Sections 7 and 8: the tasks of one bucket that teach most."""
    if one.diagnosis is None:
        return [why_not(one)]
    chosen = [deep_dive for deep_dive in one.diagnosis.deep_dives if deep_dive.bucket == bucket]
    if not chosen:
        return [none]
    return [line for deep_dive in chosen for line in _deep_dive(deep_dive)]


def _deep_dive(deep_dive: DeepDive) -> list[str]:
    rows = [[safe(one.location), one.outcome, prose(cut(one.did, 220))] for one in deep_dive.repeats]
    return [
        f"**Task {safe(deep_dive.task_id)}** ({prose(deep_dive.why)}). Expected: {prose(deep_dive.due)}.",
        "",
        *table(["rollout", "outcome", "what it did"], rows),
        *[f"- {prose(line)}" for line in deep_dive.lines],
        "",
    ]


def first_steps(one: RunAnalysis, most: int) -> list[str]:
    """What to do first, by what it gains, each with who does it; what is only suspected is to be read."""
    found = one.diagnosis
    if found is None or most < 1:
        return []
    numbers = {each.id: n for n, each in enumerate(found.findings, start=1)}
    settled = [each for each in found.interventions if each.confidence != "suspected" and each.decides]
    acted = {each.source for each in settled}
    rest = [each for each in found.findings if each.id not in acted and _to_read(each)]
    steps = [f"*{_owner(each.owner)}:* {_step(each, numbers.get(each.source))}" for each in settled]
    return [*steps, *(_read_step(each, numbers[each.id]) for each in rest)][:most]


def _to_read(finding: Finding) -> bool:
    """Whether the evidence supports no more than reading its rollouts."""
    return finding.confidence == "suspected" or finding.owner == READER or finding.fix.startswith("Read ")


def _step(one: Intervention, number: int | None) -> str:
    """The action, what it is about, how much hangs on it."""
    tasks = f"task{'s' if len(one.task_ids) > 1 else ''} {_ids(one.task_ids)}"
    about = f"finding {number}" if number is not None and number <= MOST_FINDINGS else tasks
    gained = f"; {at_most(one.headroom)}" if _gains(one.headroom) else ""
    return f"{prose(_sentence(cut(one.action, LONGEST_STEP)))} ({safe_inside(about)}: {plural(one.rollouts, 'failure')}{gained})"


def _read_step(finding: Finding, number: int) -> str:
    named = ", ".join(safe_inside(one) for one in finding.locations[:MOST_IDS])
    return (
        f"Read {named}. {prose(finding.title.rstrip('.'))} (finding {number}, {plural(finding.rollouts, 'failure')})."
    )


def _ids(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_IDS:,} more" if len(names) > MOST_IDS else ""
    return ", ".join(names[:MOST_IDS]) + more


def _owner(owner: str) -> str:
    return _OWNERS.get(owner, owner.capitalize())


_OWNERS = {READER: "Next", "data": "Task author", "verifier": "Test author", "infrastructure": "Harness"}


def _sentence(text: str) -> str:
    """An action as a sentence of its own."""
    whole = text if text.endswith((".", "...")) else f"{text}."
    return whole[:1].upper() + whole[1:]


def recommendations(one: RunAnalysis) -> list[str]:
    """Section 10: what to do, in the order of what it gives; what all of it gives together; what not to learn from."""
    found = one.diagnosis
    if found is None:
        return [why_not(one)]
    rows = [
        [
            str(n),
            each.kind,
            prose(cut(each.action, 240)),
            ", ".join(map(str, each.causes)) or "-",
            worth(each.headroom),
            gain(each.adds, each.headroom.in_points),
            f"{each.rollouts:,}",
            _some(each.task_ids),
        ]
        for n, each in enumerate(found.interventions, start=1)
    ]
    unit = "points" if found.together.headroom.in_points else "gain"
    lines = table(["", "kind", "what to do", "causes", unit, "adds at most", "rollouts", "tasks"], rows) if rows else []
    lines += _together(one, found) if rows else ["Nothing that failed points at a remedy.", ""]
    return [*lines, *_not_to_learn_from(found)]


def _some(tasks: tuple[str, ...]) -> str:
    return safe(listed(list(tasks), 8))


def _together(one: RunAnalysis, found: Diagnosis) -> list[str]:
    all_ = found.together
    named = f"they name {all_.failures:,} of {plural(all_.failures + all_.remain, 'failure')}"
    rest = f"{all_.remain:,} remain without a remedy. {_unit(one, all_.headroom)}"
    return [f"Together, counted once: {worth(all_.headroom)}; {named}, {rest}", ""]


def _unit(one: RunAnalysis, room: Headroom) -> str:
    """What the numbers of headroom are of."""
    if not room.in_points:
        return "Gains are in the score over all expected rollouts, where a fixed one gets the highest reward seen."
    fixed = "" if one.metrics.headline == "pass_at_1" else ", where a fixed one gets a reward of 1"
    return f"Points are of the score over all expected rollouts{fixed}."


def _not_to_learn_from(found: Diagnosis) -> list[str]:
    """Passes that are no example."""
    lucky = [f"{one.task_id}#{repeat}" for one in found.contrasts for repeat in one.lucky]
    if not lucky:
        return []
    return [
        f"Passes not to train on, since they did less than every failure of their task: {safe(listed(lucky, 12))}.",
        "",
    ]
