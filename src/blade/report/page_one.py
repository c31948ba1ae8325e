"""Page one: the score and what it rests on, in lines that stand alone."""

from __future__ import annotations

from itertools import groupby

from blade.model.analysis import Analysis, RunAnalysis, ScorePart, SliceValue, UsageSummary
from blade.model.measure import Measure
from blade.report.diagnosis import (
    causes_lines,
    finding_lines,
    findings_lines,
    first_steps,
    issues_lines,
    modes_lines,
    not_passed,
    passes_to_doubt_lines,
    prose,
    responsible_lines,
    shown_modes,
    why_not,
)
from blade.report.lost import grouped
from blade.report.numbers import amount, gain, limits, plural, score, share
from blade.report.readers import readers_line
from blade.report.text import code, cut, safe, safe_inside, table

CLOSE = 0.10
"""A baseline within this much of the score is named on page one."""
WIDE = 0.15
"""A gap between slices that is worth a line, as a share of what scores can span."""
MOST_PAIRS = 6
MOST_STEPS = 4
"""Things to do first: more than four are a list that nobody starts."""
MOST_IDS = 3
ENOUGH_ROLLOUTS = 30
TELLING_RATIO = 1.5
"""How far medians of passes and failures must lie apart before they are worth a line."""
ENOUGH_TASKS = 10
"""Below this many tasks the spread between them says little."""
MOST_RUNS = 8
LONGEST_REASON = 120


def page_one(analysis: Analysis) -> list[str]:
    """Title, score, baseline, readings, whose the failures are, findings, what to do first, what is not recorded."""
    if len(analysis.runs) == 1:
        return _one(analysis.runs[0])
    return _several(analysis)


def heading(analysis: Analysis) -> str:
    """What the report is called, in plain characters."""
    if len(analysis.runs) == 1:
        return title(analysis.runs[0])
    names = sorted({one.run.benchmark for one in analysis.runs if one.run.benchmark})
    return cut(f"{', '.join(names) or 'runs'}: {plural(len(analysis.runs), 'run')}", 120)


def title(one: RunAnalysis) -> str:
    """`airline, gpt-4o: 0.420 (an agent that does nothing scores 0.380)`."""
    head = f"{one.run.benchmark}, {one.run.name}" if one.run.benchmark else one.run.name
    lead = leading(one)
    if lead.value is None:
        return f"{head}: no score ({lead.reason})"
    floor = _near_floor(one)
    return f"{head}: {score(lead.value)}" + (f" ({_baseline(floor)})" if floor else "")


def leading(one: RunAnalysis) -> Measure:
    """The headline as a measure over tasks."""
    judged = next(s for s in one.metrics.scores if s.name == "judged")
    return Measure(
        name=one.metrics.headline, value=judged.value, n=judged.n_tasks, interval=judged.interval, reason=judged.reason
    )


def name_of(headline: str) -> str:
    """How the headline is called in sentences."""
    return "pass@1" if headline == "pass_at_1" else "mean reward over tasks"


def _one(one: RunAnalysis) -> list[str]:
    lines = [f"# {safe(title(one))}", ""]
    for paragraph, rest in groupby(before_modes(one), key=bool):
        lines += [" ".join(rest)] if paragraph else [""]
    whose = " ".join([*responsible_lines(one), *causes_lines(one)])
    lines += [whose, ""] if whose else []
    for part in (modes_lines, readers_line, findings_lines, issues_lines, passes_to_doubt_lines):
        found = part(one)
        lines += [*found, *([""] if found[-1] else [])] if found else []
    return [*lines, *after_doubts(one)]


def before_modes(one: RunAnalysis) -> list[str]:
    """Page one up to the table of failures: notes, score, floor, readings, what stands out."""
    lines = [f"**Note:** {doubt}." for doubt in (*one.metrics.doubts, *one.run.surprises)]
    lines += [f"**Left out on request:** {safe(', '.join(one.run.excluded))}."] if one.run.excluded else []
    for part in (score_lines, _parts, _lost_input, floor_lines, _readings, _stands_out):
        found = part(one)
        lines += [*found, ""] if found else []
    return lines


def after_doubts(one: RunAnalysis) -> list[str]:
    """The end of page one: what to do first, what the files cannot show."""
    lines = [why_not(one), ""] if one.diagnosis is None and one.metrics.counts["failed_rollouts"] else []
    for part in (_first, _cannot_show):
        found = part(one)
        lines += [*found, ""] if found else []
    return lines


def score_lines(one: RunAnalysis) -> list[str]:
    """The score with counts, interval, repeats and buckets."""
    metrics, counts = one.metrics, one.metrics.counts
    lead = leading(one)
    if lead.value is None:
        return [f"**Score.** None: {lead.reason}. {_outcomes(one)}"]
    judged = (counts["passed_rollouts"] or 0) + (counts["failed_rollouts"] or 0)
    passes = f"{counts['passed_rollouts']:,} of {judged:,} judged rollouts passed"
    size = f"{plural(lead.n, 'task')}{_repeats(one)}"
    spread = _interval(lead, one.run.tasks["group"].drop_nulls().n_unique())
    line = f"**Score.** {name_of(metrics.headline)} **{score(lead.value)}** ({passes}; {size}; {spread})."
    if metrics.headline == "mean_reward":
        line += f" This is the headline because {metrics.headline_why}."
    return [line, " ".join(filter(None, (_with_repeats(one), _buckets(one), _outcomes(one))))]


def _parts(one: RunAnalysis) -> list[str]:
    """What the verdict is made of, where a part of it mostly does not hold, or a pass may not mean what it seems."""
    parts = one.metrics.parts
    if not parts or not (one.metrics.doubts or 2 * parts[0].held <= parts[0].rollouts):
        return []
    return [f"**Parts of the verdict.** Judged rollouts in which each holds: {'; '.join(map(_part, parts))}."]


def _part(part: ScorePart) -> str:
    without = f" ({part.passed_without:,} passed without it)" if part.passed_without else ""
    return f"{code(part.name)} in {part.held:,} of {part.rollouts:,}{without}"


def _lost_input(one: RunAnalysis) -> list[str]:
    """What of the input could not be used: how much, the first of it, and where all of it is listed."""
    run = one.run
    if not run.problem_count:
        return []
    read = plural(one.metrics.counts["total_rollouts"] or 0, "rollout")
    kinds = grouped(run.problems)
    again = f", in {kinds[0].count:,} places" if kinds[0].count > 1 else ""
    first = f"{code(str(kinds[0].first))} ({safe_inside(cut(kinds[0].reason, LONGEST_REASON))}{again})"
    which = first if len(kinds) == 1 else f"the first is {first}; the Artifact Inventory lists all {len(kinds)} kinds"
    return [f"**Input.** {read} read, with {plural(run.problem_count, 'problem')} in the files: {which}."]


def _repeats(one: RunAnalysis) -> str:
    sizes = {task.rollouts for task in one.tasks if task.rollouts}
    if len(sizes) == 1:
        return f" x {plural(sizes.pop(), 'repeat')}"
    return f" with {min(sizes)} to {max(sizes)} rollouts each" if sizes else ""


def _interval(lead: Measure, groups: int) -> str:
    if lead.interval is None:
        why = "one task" if lead.n < 2 else "one group" if groups == 1 else "all tasks agree"
        return f"no interval: {why}"
    unit = "groups" if groups else "tasks"
    rough = f", rough with fewer than 30 {unit}" if lead.interval.rough else ""
    return f"95 % CI {limits(lead.interval)} over {unit}{rough}"


def _with_repeats(one: RunAnalysis) -> str:
    best, every = one.metrics.measures["pass_at_k"], one.metrics.measures["consistency"]
    if best.value is None or every.value is None or one.metrics.headline != "pass_at_1":
        return ""
    k = one.metrics.k
    return (
        f"Best of {k} repeats: {score(best.value)}; all {k} pass: {score(every.value)} "
        f"({plural(best.n, 'task')} with {k} judged rollouts)."
    )


def _buckets(one: RunAnalysis) -> str:
    buckets, names, why = dict(one.metrics.buckets), {"always_pass": "passed", "never_pass": "failed"}, ""
    if not buckets["missing"] and not _all_are_known(one):
        del buckets["missing"]
    if "always_pass" in buckets and all(task.judged <= 1 for task in one.tasks):
        del buckets["sometimes_pass"]
        why = " (one verdict a task)"
    else:
        names = {}
    named = ", ".join(f"{count:,} {names.get(name, name.replace('_', ' '))}" for name, count in buckets.items())
    incomplete = one.metrics.incomplete_tasks
    return f"Tasks: {named}{why}" + (f"; {incomplete:,} incomplete." if incomplete else ".")


def _all_are_known(one: RunAnalysis) -> bool:
    """Whether somebody says how many rollouts there should be, so that none missing can be told from none seen."""
    source = one.run.expected_from
    return source is not None and not (source == "inferred" and one.run.problem_count)


def _outcomes(one: RunAnalysis) -> str:
    counts = one.metrics.counts
    kinds = {"errored": "errored", "unscored": "unscored", "missing": "missing", "duplicate": "left out as duplicates"}
    said = [f"{count:,} {words}" for kind, words in kinds.items() if (count := counts[f"{kind}_rollouts"] or 0)]
    return f"Rollouts without a score: {', '.join(said)}." if said else ""


def floor_lines(one: RunAnalysis) -> list[str]:
    """What no skill at all would score, where the expected answers allow it."""
    lines = []
    for base in one.metrics.baselines:
        if base.value is not None:
            said = _baseline(base)
            lines.append(f"**Baseline.** {said[:1].upper()}{safe_inside(said[1:])} ({plural(base.n, 'task')}).")
    wants = one.metrics.slices.get("key_expects")
    if wants:
        lines.append("Passes by what the tasks require: " + "; ".join(_slice(one, value) for value in wants) + ".")
    return lines


def _baseline(base: Measure) -> str:
    """`an agent that does nothing scores 0.380`."""
    who = "an agent that does nothing" if base.name == "do_nothing" else base.method
    return f"{who} scores {score(base.value)}"


def _near_floor(one: RunAnalysis) -> Measure | None:
    lead = leading(one).value if one.metrics.headline == "pass_at_1" else None
    near = [b for b in one.metrics.baselines if b.value is not None and lead is not None and b.value >= lead - CLOSE]
    return max(near, key=lambda b: b.value or 0.0, default=None)


def _slice(one: RunAnalysis, value: SliceValue) -> str:
    """The number that leads comes first: passes, or the mean reward."""
    passed, name = f"{value.passed:,} of {value.rollouts:,}", safe_inside(value.value)
    if one.metrics.headline == "pass_at_1":
        return f"{name}: {passed} ({score(value.pass_at_1)}, {plural(value.tasks, 'task')})"
    return f"{name}: {score(value.pass_at_1)} ({passed} passed, {plural(value.tasks, 'task')})"


def _readings(one: RunAnalysis) -> list[str]:
    """The same rows counted in other ways: with rollouts that have no verdict, and as the harness wrote them."""
    found = {each.name: each for each in one.metrics.scores if each.value is not None}
    judged = found["judged"].value if "judged" in found else None
    named = {
        "all_expected": "counting rollouts without a score as failed",
        "as_recorded": "as the harness recorded it",
    }
    said = [
        f"{words} {score(found[name].value)} ({plural(found[name].n_rollouts, 'rollout')})"
        for name, words in named.items()
        if name in found and found[name].value != judged
    ]
    return [f"**Other readings of the score.** {'; '.join(said)[:1].upper()}{'; '.join(said)[1:]}."] if said else []


def _stands_out(one: RunAnalysis) -> list[str]:
    said = [*filter(None, (_widest_slice(one), _noise(one), _spending(one)))]
    return [f"**What stands out.** {said[0]}", *said[1:]] if said else []


def _widest_slice(one: RunAnalysis) -> str:
    gaps = []
    for field, values in one.metrics.slices.items():
        scored = [v for v in values if v.pass_at_1 is not None and v.tasks >= 5]
        if field != "key_expects" and len(scored) >= 2:
            low = min(scored, key=lambda v: (v.pass_at_1 or 0.0, v.value))
            high = max(scored, key=lambda v: (v.pass_at_1 or 0.0, v.value))
            gaps.append(((high.pass_at_1 or 0.0) - (low.pass_at_1 or 0.0), field, low, high))
    if not gaps:
        return ""
    gap, field, low, high = max(gaps, key=lambda g: (g[0], g[1]))
    if gap < WIDE * one.metrics.span:
        return ""
    return f"Scores differ most by {code(field)}: {_slice(one, low)}; {_slice(one, high)}."


def _noise(one: RunAnalysis) -> str:
    spread = one.metrics.variance
    if spread.se_same_tasks is None or spread.se_new_tasks is None or leading(one).n < ENOUGH_TASKS or not spread.total:
        return ""
    same, new = (gain(1.96 * error, one.metrics.in_points) for error in (spread.se_same_tasks, spread.se_new_tasks))
    unit = " points" if one.metrics.in_points else ""
    again = f"Expect ±{same}{unit} if you rerun the same tasks"
    if spread.se_new_tasks < spread.se_same_tasks:
        return f"{again}; too few tasks differ to say more about new tasks."
    return f"{again}, ±{new} on new tasks of this kind."


def _spending(one: RunAnalysis) -> str:
    enough = [u for u in one.metrics.usage if min(u.passed_n, u.failed_n) >= ENOUGH_ROLLOUTS]
    telling = [u for u in enough if _ratio(u) >= TELLING_RATIO]
    if not telling:
        return ""
    most = max(telling, key=lambda u: (_ratio(u), u.name))
    name = most.name.replace("_", " ")
    return (
        f"Median {name}: {amount(most.passed_median)} in {most.passed_n:,} passing rollouts, "
        f"{amount(most.failed_median)} in {most.failed_n:,} failing ones."
    )


def _ratio(usage: UsageSummary) -> float:
    low, high = sorted((usage.passed_median or 0.0, usage.failed_median or 0.0))
    return high / low if low > 0 else 0.0


def _first(one: RunAnalysis) -> list[str]:
    """At most four things to do, each with who does it; else where to start reading."""
    before = [*filter(None, (_rerun(one), _disagreeing(one)))]
    steps = [*before, *first_steps(one, MOST_STEPS - len(before))] or [*filter(None, (_read(one),))]
    if len(steps) == 1:
        return [f"**Do first:** {steps[0]}"]
    return ["**Do first:**", "", *(f"{n}. {step}" for n, step in enumerate(steps, start=1))] if steps else []


def _rerun(one: RunAnalysis) -> str:
    """What has no score, by task, or by rollout where the task has others."""
    gone = [task.task_id for task in one.tasks if task.missing or task.errored or task.unscored]
    if not gone:
        return ""
    they = "it has" if len(gone) == 1 else "they have"
    which = (
        f"{_named(gone)} ({they} rollouts without a score)" if _repeated(one) else f"{_named(gone)}: {they} no score"
    )
    return f"Rerun {which}."


def _repeated(one: RunAnalysis) -> bool:
    return any(task.rollouts > 1 for task in one.tasks)


def _named(tasks: list[str]) -> str:
    """At most three: `a, b and c`; `a, b, c and 9 more`."""
    shown = [safe_inside(task) for task in tasks[:MOST_IDS]]
    if len(tasks) > MOST_IDS:
        return f"{', '.join(shown)} and {len(tasks) - MOST_IDS:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _disagreeing(one: RunAnalysis) -> str:
    wrong = [entry for entry in one.recorded if entry.agrees is False]
    if not wrong:
        return ""
    verb = "differs" if len(wrong) == 1 else "differ"
    return f"Find out why {plural(len(wrong), 'recorded number')} {verb} from the rows (see Artifact Inventory)."


def _read(one: RunAnalysis) -> str:
    """Where a passing and a failing repeat of one task stand side by side."""
    mixed = [task for task in one.tasks if 0 < task.passed < task.judged and task.locations]
    if mixed:
        task = min(mixed, key=lambda t: (abs(t.passed * 2 - t.judged), t.task_id))
        command = code(f"blade show RUN {task.locations[0]}")
        which = f" of the {len(mixed)} sometimes-pass tasks, for instance" if len(mixed) > 1 else ":"
        return f"Read a failing repeat beside a passing one{which} {command} (task {safe(task.task_id)} passes {task.passed} of {task.judged})."
    failing = [task for task in one.tasks if task.locations and task.failed]
    return f"Read a failure: {code(f'blade show RUN {failing[0].locations[0]}')}." if failing else ""


def _cannot_show(one: RunAnalysis) -> list[str]:
    absent = not_in_files(one)
    return [f"**Not recorded:** {', '.join(absent)}."] if absent else []


def not_in_files(one: RunAnalysis) -> list[str]:
    """What the artifacts do not hold, and so no sentence here rests on."""
    rollouts, tasks = one.run.rollouts, one.run.tasks
    have = {usage.name for usage in one.metrics.usage}
    missing = [
        ("tokens", "output_tokens" not in have),
        ("time", "seconds" not in have),
        ("cost", "cost" not in have),
        ("trajectories", "steps" not in have or not rollouts["steps"].sum()),
        (
            "expected answers",
            not (tasks["expected"].count() or tasks["key_expects"].count() or tasks["key_fp"].count()),
        ),
        ("temperature", "temperature" not in one.run.settings),
        ("how many rollouts were expected", one.run.expected_from is None),
        ("repeats", rollouts.height > 0 and all(task.rollouts <= 1 for task in one.tasks)),
    ]
    return [what for what, absent in missing if absent]


def _several(analysis: Analysis) -> list[str]:
    lines = [f"# {safe(heading(analysis))}", "", *models_table(analysis), ""]
    for one in analysis.runs[:MOST_RUNS]:
        lines += [*(f"Note on {safe(one.run.name)}: {doubt}." for doubt in one.metrics.doubts), ""]
        lines += [f"**{safe(one.run.name)}.** " + " ".join(score_lines(one)).removeprefix("**Score.** "), ""]
        lines += [
            line
            for part in (_lost_input(one), _readings(one), _how_failed(one), _first(one))
            for line in (*part, "")
            if part
        ]
        floor = _near_floor(one)
        lines += [f"{_baseline(floor)[:1].upper()}{safe_inside(_baseline(floor)[1:])}.", ""] if floor else []
    if len(analysis.runs) > MOST_RUNS:
        lines += [f"{len(analysis.runs) - MOST_RUNS} more runs: see Aggregate Results.", ""]
    return [*lines, *shared_lines(analysis), ""]


def _how_failed(one: RunAnalysis) -> list[str]:
    """For a page with several runs: whose the failures are and the commonest modes, and the first finding."""
    found = one.diagnosis
    if found is None or not (failed := found.responsibility.failures):
        return []
    named = "; ".join(f"{mode.rollouts:,} {prose(mode.name)}" for mode in shown_modes(found)[:4])
    lines = [" ".join([*responsible_lines(one), f"What went wrong in its {not_passed(one, failed)}: {named}."])]
    return [*lines, "", *(finding_lines(1, found.findings[0])[:3] if found.findings else [])]


def lost_lines(analysis: Analysis) -> list[str]:
    """For each run with rollouts that have no verdict: how many, and what the score is when they count."""
    lines = []
    for one in analysis.runs:
        lost = _outcomes(one)
        if lost:
            expected = next(s.value for s in one.metrics.scores if s.name == "all_expected")
            lines.append(f"{safe(one.run.name)}: {lost} Counting them as failed, the score is {score(expected)}.")
    return lines


def models_table(analysis: Analysis) -> list[str]:
    """One line a run: score, interval, buckets, coverage."""
    rows = []
    for one in analysis.runs:
        lead = leading(one)
        coverage = one.metrics.measures["coverage"]
        rows.append(
            [
                safe(cut(one.run.name, 60)),
                name_of(one.metrics.headline),
                score(lead.value),
                limits(lead.interval),
                f"{lead.n:,}",
                f"{one.metrics.counts['total_rollouts']:,}",
                ", ".join(f"{count} {name.split('_')[0]}" for name, count in one.metrics.buckets.items()),
                share(coverage.value),
            ]
        )
    return table(
        ["run", "headline", "score", "95 %", "tasks", "rollouts", "tasks by bucket", "coverage"],
        rows,
        "metrics.json",
        12,
    )


def shared_lines(analysis: Analysis) -> list[str]:
    """Pairs of runs on the tasks that both have; one line where more than two runs have the same tasks."""
    if not analysis.shared:
        return ["The runs share fewer than half of their tasks, so their scores are not comparable."]
    if len(analysis.runs) > 2 and _same_tasks(analysis):
        same = plural(leading(analysis.runs[0]).n, "task")
        return [f"All {len(analysis.runs)} runs judged the same {same}, so their scores are comparable."]
    lines = []
    more = len(analysis.shared) - MOST_PAIRS
    for (first, second), (tasks, left, right) in list(analysis.shared.items())[:MOST_PAIRS]:
        lines.append(
            f"On the {plural(tasks, 'task')} that both judged: {safe(first)} {score(left)}, {safe(second)} {score(right)}."
        )
    return [*lines, f"{plural(more, 'more pair')} of runs can be compared."] if more > 0 else lines


def _same_tasks(analysis: Analysis) -> bool:
    """Whether every two runs share every task that either of them judged."""
    many = len(analysis.runs)
    sizes = {leading(one).n for one in analysis.runs} | {tasks for tasks, _, _ in analysis.shared.values()}
    return len(analysis.shared) == many * (many - 1) // 2 and len(sizes) == 1
