"""Modes, findings, doubts and deep dives as Markdown; every word from a rollout is escaped."""

from __future__ import annotations

from collections import Counter

from blade.model.analysis import RunAnalysis
from blade.model.attribution import UNATTRIBUTED
from blade.model.diagnosis import Alarm, DeepDive, Diagnosis, Doubt, Finding, Habit, Headroom, Mode
from blade.model.finding import Cause
from blade.report.numbers import gain, listed, plural, points
from blade.report.text import code, cut, safe, safe_inside, spans, table

MOST_MODES = 8
MOST_FINDINGS = 3
MOST_DOUBTS = 5
MOST_HABITS = 6
LONGEST_QUOTE = 80
LONGEST_CODE = 50
LONGEST_NAME = 120


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
    failed = one.metrics.counts["failed_rollouts"] or 0
    if found is None or not failed:
        return []
    rows = [
        [
            prose(_mode_name(mode)),
            f"{mode.rollouts:,}",
            f"{mode.tasks:,}",
            mode.party,
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
    places = _places(finding)
    return [
        f"**{number}. {prose(finding.title.rstrip('.'))}.** {prose(finding.what)} *{strength(finding)}.*",
        "",
        *[f"- {prose(text)}" for text in (finding.against, *finding.where) if text],
        *([f"- {'Also' if finding.against else 'Places:'} {safe(places)}."] if places else []),
        *([f"- *Do ({finding.kind}):* {prose(finding.fix)}."] if finding.fix else []),
        "",
    ]


def _places(finding: Finding) -> str:
    named = [
        one for one in finding.locations if one not in finding.against and not any(one in t for t in finding.where)
    ]
    return listed(named, 10) if named else ""


def strength(finding: Finding) -> str:
    """How strongly it is tied to failing, and what mending it would give where there is something to mend."""
    return f"{finding.support}; {worth(finding.headroom)}" if finding.fix else f"{finding.support}; a description"


def worth(room: Headroom) -> str:
    """What mending it would give, three ways."""
    said = []
    if room.estimate is not None and room.interval is not None and room.interval.low < room.interval.high:
        about, low, high = (gain(v, room.in_points) for v in (room.estimate, room.interval.low, room.interval.high))
        said.append(f"about {about}{' points' if room.in_points else ''} ({low} to {high})")
    if room.only_defect:
        said.append(f"{gain(room.only_defect, room.in_points)} where nothing else is wrong")
    unit = "" if room.in_points else ", in units of the reward"
    return ", ".join([*said, f"ceiling {gain(room.ceiling, room.in_points)}{unit}"])


def findings_lines(one: RunAnalysis) -> list[str]:
    """The three findings of page one."""
    if one.diagnosis is None:
        return []
    lines: list[str] = []
    for number, finding in enumerate(one.diagnosis.findings[:MOST_FINDINGS], start=1):
        lines += finding_lines(number, finding)
    return lines


def doubts_lines(one: RunAnalysis) -> list[str]:
    """Doubts about the benchmark in one paragraph, kept apart from the model."""
    if one.diagnosis is None or not one.diagnosis.doubts:
        return []
    told = doubts_told(one.diagnosis)
    more = len(told) - MOST_DOUBTS
    tail = f" {plural(more, 'more doubt')} in findings.json." if more > 0 else ""
    shown = [f"*{about.capitalize()}:* {prose(text)}." for about, text in told[:MOST_DOUBTS]]
    return ["**Doubts about the benchmark (not the model).** " + " ".join(shown) + tail]


def passes_to_doubt_lines(one: RunAnalysis) -> list[str]:
    """Passes that may not mean what they seem, in one paragraph."""
    if one.diagnosis is None or not one.diagnosis.passes_to_doubt:
        return []
    found = one.diagnosis.passes_to_doubt
    told = "; ".join(f"{safe(each.location)}: {safe(each.why)}" for each in found[:MOST_DOUBTS])
    more = f", and {len(found) - MOST_DOUBTS:,} more in findings.json" if len(found) > MOST_DOUBTS else ""
    return [
        f"**Passes to doubt.** {len(found):,} {'pass' if len(found) == 1 else 'passes'} may not mean what {'it seems' if len(found) == 1 else 'they seem'}: {told}{more}."
    ]


def doubts_told(found: Diagnosis) -> list[tuple[str, str]]:
    """What each rule doubts, about what and in words: the first thing that it saw, and in which other tasks it saw more."""
    by_code: dict[str, list[Doubt]] = {}
    for doubt in found.doubts:
        by_code.setdefault(doubt.code, []).append(doubt)
    return [(mine[0].about, mine[0].message + _elsewhere(mine)) for mine in by_code.values()]


def _elsewhere(doubts: list[Doubt]) -> str:
    others = dict.fromkeys(task for doubt in doubts[1:] for task in doubt.tasks if task not in doubts[0].tasks)
    return f" (and so in {plural(len(others), 'more task')}: {listed(list(others), 5)})" if others else ""


def why_not(one: RunAnalysis) -> str:
    """Why nothing is said about failures."""
    return f"Why rollouts failed is not looked at: {safe(one.why_not)}."


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
        [prose(_mode_name(m)), f"{m.rollouts:,}", f"{m.tasks:,}", m.party, m.confidence or "-"]
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
        return f"worse where the key wants {safe(worse)}, better where {safe(better)}"
    if habit.risk_difference is None or habit.q_value is None:
        return "no task can tell"
    return f"{points(habit.risk_difference)} points more failures, q {habit.q_value:.3f}, {plural(habit.informative, 'task')}"


def causes_lines(one: RunAnalysis) -> list[str]:
    """How many tasks each cause has, in one line, with what is not settled."""
    if one.diagnosis is None or not one.diagnosis.causes:
        return []
    counts = Counter(str(found.cause) if found.cause else "not settled" for found in one.diagnosis.causes.values())
    named = ", ".join(f"{counts[name]:,} {name}" for name in (*map(str, Cause), "not settled") if counts[name])
    return [
        f"**Causes** of the {plural(len(one.diagnosis.causes), 'task')} with a rollout that did not pass: {named}.{_labelled(one.diagnosis)}"
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
        lines += ["Not called harmless: " + "; ".join(others) + "."]
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
        f"**Task {safe(deep_dive.task_id)}** ({prose(deep_dive.why)}). Due: {prose(deep_dive.due)}.",
        "",
        *table(["rollout", "outcome", "what it did"], rows),
        *[f"- {prose(line)}" for line in deep_dive.lines],
        "",
    ]


def first_steps(one: RunAnalysis) -> list[str]:
    """What the diagnosis asks for first: settle the doubts, repair the machinery, then the findings that give most."""
    found = one.diagnosis
    if found is None:
        return []
    steps = []
    tasks = list(dict.fromkeys(t for doubt in found.doubts if doubt.about != "tool" for t in doubt.tasks))
    if tasks:
        abouts = ", ".join(dict.fromkeys(_SETTLE[doubt.about] for doubt in found.doubts if doubt.about != "tool"))
        steps.append(f"settle {abouts}, and run {_named(tasks)} again before blaming the model.")
    mine = [f for f in found.findings if f.fix and not set(f.task_ids) <= set(tasks)]
    mine = sorted(mine, key=lambda f: f.kind != "infrastructure")[:2]
    numbers = {f.id: n for n, f in enumerate(found.findings, start=1)}
    return [*steps, *(f"finding {numbers[f.id]}: {prose(f.brief)} ({plural(f.rollouts, 'rollout')})." for f in mine)]


_SETTLE = {
    "key": "the key",
    "verifier": "the verifier",
    "user": "the user simulator",
    "limit": "the limit",
    "task": "what the tasks give",
}


def _named(tasks: list[str]) -> str:
    return f"{'task' if len(tasks) == 1 else 'tasks'} {safe(listed(tasks, 10))}"


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
        return "Gains are of the score over all expected rollouts, where a mended one gets the highest reward seen."
    mended = "" if one.metrics.headline == "pass_at_1" else ", where a mended one gets a reward of 1"
    return f"Points are of the score over all expected rollouts{mended}."


def _not_to_learn_from(found: Diagnosis) -> list[str]:
    """Passes that are no example."""
    lucky = [f"{one.task_id}#{repeat}" for one in found.contrasts for repeat in one.lucky]
    if not lucky:
        return []
    return [
        f"Passes not to train on, since they did less than every failure of their task: {safe(listed(lucky, 12))}.",
        "",
    ]
