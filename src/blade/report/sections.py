"""The eleven sections of the report, one function each; a section without data is one line that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from blade.model.analysis import Analysis, RunAnalysis
from blade.model.diagnosis import Between
from blade.model.measure import Interval, Measure
from blade.model.pattern import pattern_of
from blade.model.run import PublishedNumber, RecordedNumber
from blade.report import diagnosis
from blade.report.lost import LostInput, grouped
from blade.report.numbers import amount, limits, listed, plural, points, score, share, value_or_reason
from blade.report.page_one import name_of, not_in_files, page_one, shared_lines
from blade.report.readers import readers_section
from blade.report.text import code, cut, safe, safe_inside, table

MOST_PROBLEMS = 12
_PASS_AT = pattern_of(r"pass@(\d{1,4})")
_MEANS = {"accuracy": "pass_at_1", "pass_at_1": "pass_at_1", "mean_reward": "mean_reward", "reward": "mean_reward"}
PERCENT = 1.0
"""A published share above this is in percent."""
WIDEST = 0.2
"""An interval that is wider holds so many numbers that being inside says little: 10 points to either side."""


def report(analysis: Analysis) -> str:
    """The whole report in Markdown."""
    title, *first = page_one(analysis)
    lines = [title, "", "## 1. Executive Summary", "", *first]
    for number, (title, section) in enumerate(SECTIONS, start=2):
        lines += [f"## {number}. {title}", "", *section(analysis)]
    return "\n".join(_squeezed(lines)) + "\n"


def _squeezed(lines: list[str]) -> list[str]:
    """No two blank lines in a row, none at the end."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _each(analysis: Analysis, section: Callable[[RunAnalysis], list[str]]) -> list[str]:
    """A section for each run, with a heading where there are several."""
    lines: list[str] = []
    for one in analysis.runs:
        lines += [f"### {safe(one.run.name)}", ""] if len(analysis.runs) > 1 else []
        lines += [*section(one), ""]
    return lines


def artifact_inventory(analysis: Analysis) -> list[str]:
    """Files, how rows were taken, what could not be used, recorded against recomputed numbers."""
    lines = _each(analysis, _inventory)
    if analysis.notes:
        lines += [
            "Notes of the user (quoted, not counted as evidence):",
            "",
            *(f"> {safe(note)}" for note in analysis.notes),
            "",
        ]
    return lines


def _inventory(one: RunAnalysis) -> list[str]:
    run = one.run
    rows = [
        [code(a.path), a.role, a.format, f"{a.rows:,}" if a.rows else "-", f"{a.bytes:,}", safe(a.note)]
        for a in run.artifacts
    ]
    lines = table(["file", "taken as", "format", "rows", "bytes", "note"], rows)
    lines += [f"- {safe(note)}." for note in run.notes]
    lines.append(f"- {_expected(one)}")
    settings = ", ".join(f"{name} {safe_inside(value)}" for name, value in run.settings.items())
    lines.append(f"- Settings recorded: {settings or 'none'}.")
    lines += _published(one)
    return [*lines, "", *_problems(one), *_recorded(one)]


def _published(one: RunAnalysis) -> list[str]:
    """A line for each published number; none where none was published."""
    return [f"- {_published_number(entry, one)}" for entry in one.run.reported]


def _published_number(entry: PublishedNumber, one: RunAnalysis) -> str:
    value = entry.value / 100 if entry.value > PERCENT else entry.value
    said = f"Published: {safe(entry.metric)} {score(value)}" + (f" ({safe(entry.source)})" if entry.source else "")
    measure = _measure_of(entry.metric, one)
    if measure is None or measure.value is None:
        return f"{said}; this run has no such number."
    here = f"{said}; here {score(measure.value)}"
    if measure.interval is None:
        return f"{here}, without an interval to judge by."
    inside = limits(measure.interval)
    if measure.interval.low <= value <= measure.interval.high:
        doubts = "; ".join(_too_open(measure, measure.interval, one))
        verdict = f"not contradicted (inside {inside}); {doubts}" if doubts else f"reproduced (inside {inside})"
        return f"{here}: {verdict}."
    return f"{here}: not reproduced, {points(measure.value - value)} points off (outside {inside})."


def _too_open(measure: Measure, interval: Interval, one: RunAnalysis) -> Iterator[str]:
    """Why a number that is inside is no reproduction all the same."""
    if interval.high - interval.low > WIDEST:
        yield f"{plural(measure.n, 'task')} leave too much open to call it reproduced"
    coverage = one.metrics.measures.get("coverage")
    if coverage is not None and coverage.value is not None and coverage.value < 1:
        yield "not every rollout has a verdict"


def _measure_of(metric: str, one: RunAnalysis) -> Measure | None:
    name = metric.strip().casefold().replace(" ", "_")
    known = _MEANS.get(name)
    if known or name == "pass@1":
        return one.metrics.measures.get(known or "pass_at_1")
    found = _PASS_AT.fullmatch(name)
    return one.metrics.pass_at.get(int(found[1])) if found else None


def _expected(one: RunAnalysis) -> str:
    counts = one.metrics.counts
    if one.run.expected_from is None:
        return f"Expected rollouts are not known: {one.run.expected_why_not}."
    found = counts["total_rollouts"] or 0
    return f"Expected {plural(counts['expected_rollouts'] or 0, 'rollout')} (from: {one.run.expected_from}); {found:,} found, {counts['missing_rollouts']:,} missing."


def _problems(one: RunAnalysis) -> list[str]:
    total = one.run.problem_count
    if not total:
        return ["Every row could be used.", ""]
    lines = [f"{plural(total, 'problem')} with the input:", ""]
    shown = grouped(one.run.problems)[:MOST_PROBLEMS]
    lines += [f"- {_problem(lost)}" for lost in shown]
    more = total - sum(lost.count for lost in shown)
    return [*lines, *([f"- {more:,} more in metrics.json."] if more else []), ""]


def _problem(lost: LostInput) -> str:
    again = f" (in {lost.count:,} places; this is the first)" if lost.count > 1 else ""
    return f"{code(str(lost.first))}: {safe(cut(lost.reason, 160))}{again}"


def _recorded(one: RunAnalysis) -> list[str]:
    if not one.recorded:
        return ["No sidecar states a number to compare with.", ""]
    wrong = [entry for entry in one.recorded if entry.agrees is False]
    agreeing = [_agreeing(entry) for entry in one.recorded if entry.agrees]
    unmade = [e for e in one.recorded if e.agrees is None]
    other = sum(stated.index is None for stated in one.run.stated) - sum(
        not e.name.startswith("tasks") for e in one.recorded
    )
    head = f"Recorded against recomputed: {len(agreeing)} of {plural(len(one.recorded), 'number')} agree"
    head += f" ({listed(agreeing, 4)})." if agreeing else "."
    head += "".join(f" {safe(e.name)} {amount(e.recorded)} cannot be made again: {e.reason}." for e in unmade)
    head += (
        f" {plural(other, 'other stated number')} of the verifier's own cannot be made again from rows."
        if other > 0
        else ""
    )
    if not wrong:
        return [head, ""]
    rows = [[safe(e.name), code(e.source), amount(e.recorded), _readings(e)] for e in wrong]
    return [
        head,
        "",
        "These do not agree:",
        "",
        *table(["number", "stated in", "recorded", "recomputed"], rows, "metrics.json"),
    ]


def _agreeing(entry: RecordedNumber) -> str:
    """A recorded number that one of the readings gives, and which, where there are two."""
    said = f"{safe(entry.name)} {amount(entry.recorded)}"
    if entry.all_expected is None or entry.recomputed is None:
        return said
    other = (
        f"{amount(entry.all_expected)} over all expected"
        if entry.reading == "judged"
        else f"{amount(entry.recomputed)} over those with a verdict"
    )
    return f"{said} over {'those with a verdict' if entry.reading == 'judged' else 'all expected rollouts'} ({other})"


def _readings(entry: RecordedNumber) -> str:
    """What the rows give; both readings where they differ."""
    judged = amount(entry.recomputed)
    return judged if entry.all_expected is None else f"{judged} judged, {amount(entry.all_expected)} all expected"


def aggregate_results(analysis: Analysis) -> list[str]:
    """Scores under each reading, repeats, spread, slices, spending."""
    return _each(analysis, _aggregate)


def _aggregate(one: RunAnalysis) -> list[str]:
    metrics = one.metrics
    rows = [
        [
            s.name.replace("_", " "),
            score(s.value),
            limits(s.interval, 3),
            f"{s.n_tasks:,}",
            f"{s.n_rollouts:,}",
            safe(s.reason or ""),
        ]
        for s in metrics.scores
    ]
    lines = [
        f"Headline: {name_of(metrics.headline)} ({metrics.headline_why}); a pass is a reward of at least {one.run.pass_threshold:g}.",
        "",
    ]
    lines += table(["reading", name_of(metrics.headline), "95 %", "tasks", "rollouts", "reason"], rows)
    lines += _measures(one) + _repeats(one) + _spread(one) + _slices(one) + _usage(one)
    return lines


def _measures(one: RunAnalysis) -> list[str]:
    named = one.metrics.measures
    wanted = ("rollout_pass_rate", "mean_reward", "coverage", "consistency", "retry_value")
    said = [
        f"{name.replace('_', ' ')} {value_or_reason(named[name])}"
        + (f" (n {named[name].n:,})" if named[name].value is not None else "")
        for name in wanted
    ]
    return ["; ".join(said).capitalize() + ".", ""]


def _repeats(one: RunAnalysis) -> list[str]:
    if one.metrics.k == 1:
        several = sum(task.judged > 1 for task in one.tasks)
        if several:
            return [f"The usual task has one rollout; {plural(several, 'task')} with more are too few for pass@k.", ""]
        return ["One rollout a task: nothing can be said about repeats.", ""]
    rows = [
        [
            str(k),
            score(at.value),
            limits(at.interval),
            score(one.metrics.pass_hat[k].value),
            limits(one.metrics.pass_hat[k].interval),
            f"{at.n:,}",
        ]
        for k, at in one.metrics.pass_at.items()
    ]
    return table(["k", "pass@k (any of k)", "95 %", "pass^k (all of k)", "95 %", "tasks"], rows, "metrics.json")


def _spread(one: RunAnalysis) -> list[str]:
    spread = one.metrics.variance
    if spread.total is None:
        return [f"Spread of task scores: none ({spread.reason}).", ""]
    within = (
        f"within tasks {spread.within:.4f}, between tasks {spread.between:.4f}, reliability {score(spread.reliability)}"
        if spread.within is not None and spread.between is not None
        else f"within tasks: none ({spread.reason})"
    )
    errors = f"standard error {score(spread.se_new_tasks)} for other tasks of this kind, {score(spread.se_same_tasks)} for the same tasks again"
    return [f"Variance of task scores {spread.total:.4f}: {within}; {errors}.", ""]


def _slices(one: RunAnalysis) -> list[str]:
    if not one.metrics.slices:
        return ["No field of the artifacts divides the tasks into slices of five or more.", ""]
    rows = [
        [
            code(field),
            safe(v.value),
            f"{v.tasks:,}",
            f"{v.passed:,} of {v.rollouts:,}",
            score(v.pass_at_1),
            limits(v.interval),
        ]
        for field, values in one.metrics.slices.items()
        for v in values
    ]
    return table(["slice", "value", "tasks", "passed", name_of(one.metrics.headline), "95 %"], rows, "metrics.json", 24)


def _usage(one: RunAnalysis) -> list[str]:
    if not one.metrics.usage:
        return ["Tokens, time, cost and length are not recorded.", ""]
    rows = [
        [
            u.name.replace("_", " "),
            f"{u.n:,}",
            amount(u.total),
            amount(u.median),
            f"{amount(u.passed_median)} ({u.passed_n:,})",
            f"{amount(u.failed_median)} ({u.failed_n:,})",
        ]
        for u in one.metrics.usage
    ]
    return table(["quantity", "rollouts", "total", "median", "median of passes (n)", "median of failures (n)"], rows)


def workflow_funnel(analysis: Analysis) -> list[str]:
    """Stages and how many rollouts reach each."""
    return _each(analysis, _funnel)


def _funnel(one: RunAnalysis) -> list[str]:
    found = one.metrics.funnel
    rows = [[stage.name, f"{stage.rollouts:,}", share(stage.share)] for stage in found.stages]
    lines = table(["stage", "rollouts", "of the stage before"], rows)
    drop = found.largest_drop
    if drop is not None and drop.share is not None:
        lines.append(f'Largest drop: {share(1 - drop.share)} of those before it did not come to "{drop.name}".')
    if found.passed_otherwise:
        lines.append(f"{plural(found.passed_otherwise, 'more rollout')} passed without going through every stage.")
    lines += [f"Left out: {'; '.join(found.left_out)}."] if found.left_out else []
    return [*lines, ""]


def task_outcome_buckets(analysis: Analysis) -> list[str]:
    """Tasks of each bucket, named."""
    return _each(analysis, _buckets)


def _buckets(one: RunAnalysis) -> list[str]:
    rows = [
        [name.replace("_", " "), f"{len(tasks):,}", safe(listed(tasks))]
        for name, tasks in one.metrics.bucket_tasks.items()
    ]
    lines = [*table(["bucket", "tasks", "which"], rows), *diagnosis.causes_table(one)]
    incomplete = one.metrics.incomplete_tasks
    return [
        *lines,
        f"{plural(incomplete, 'task')} of {one.metrics.counts['total_tasks']:,} lack a verdict for some expected rollout.",
    ]


def dominant_failure_modes(analysis: Analysis) -> list[str]:
    """How the failures failed, each once; findings beyond page one; habits."""
    return _each(analysis, lambda one: [*diagnosis.mode_section(one), *readers_section(one)])


def sometimes_pass_deep_dives(analysis: Analysis) -> list[str]:
    """What passing repeats did and failing ones did not."""
    none = "No task has both a passing and a failing rollout: what sets them apart cannot be said."
    return _each(analysis, lambda one: diagnosis.dives_section(one, "sometimes_pass", none))


def never_pass_deep_dives(analysis: Analysis) -> list[str]:
    """What every repeat of a task gets wrong."""
    none = "Every task with a verdict has a passing rollout."
    return _each(analysis, lambda one: diagnosis.dives_section(one, "never_pass", none))


def cross_model_comparison(analysis: Analysis) -> list[str]:
    """The runs side by side, on the tasks they share."""
    if len(analysis.runs) == 1:
        return ["One run: no model can be set against another.", ""]
    lines = [*shared_lines(analysis), "", "Whether a difference is more than noise is not tested here.", ""]
    for pair in analysis.between:
        lines += _between(pair)
    return lines


def _between(pair: Between) -> list[str]:
    head = f"**{safe(pair.first)} and {safe(pair.second)}** on {plural(pair.shared, 'shared task')}: "
    sides = [
        f"{safe(pair.first)} alone solves {len(pair.only_first):,} ({safe(listed(pair.only_first, 8)) or 'none'})",
        f"{safe(pair.second)} alone {len(pair.only_second):,} ({safe(listed(pair.only_second, 8)) or 'none'})",
    ]
    lines = [head + "; ".join(sides) + ". Model and behavior cannot be told apart here.", ""]
    lines += [f"- {safe(name)} fails. {diagnosis.prose(text)}" for name, text in pair.divergences]
    return [*lines, ""]


def recommendations(analysis: Analysis) -> list[str]:
    """What to do, in the order of what it gives."""
    return _each(analysis, diagnosis.recommendations)


def reproducibility_notes(analysis: Analysis) -> list[str]:
    """What decides the numbers, and what is not recorded."""
    lines = ["Same input, same bytes: nothing here depends on the clock, the machine or the order of files.", ""]
    return [*lines, *_each(analysis, _reproducible)]


def _reproducible(one: RunAnalysis) -> list[str]:
    run = one.run
    absent = listed(not_in_files(one)) or "nothing that this report needs"
    return [
        f"- Model: {safe(run.model or 'not recorded')}; agent: {safe(run.agent or 'not recorded')}; benchmark: {safe(run.benchmark or 'not known')}.",
        *([f"- Rules of the package: {code(run.rule_book_name)}."] if run.rule_book_name else []),
        f"- Pass: reward at least {run.pass_threshold:g}. Left out on request: {safe(', '.join(run.excluded)) or 'nothing'}.",
        f"- Not recorded: {absent}.",
    ]


SECTIONS: tuple[tuple[str, Callable[[Analysis], list[str]]], ...] = (
    ("Artifact Inventory", artifact_inventory),
    ("Aggregate Results", aggregate_results),
    ("Workflow Funnel", workflow_funnel),
    ("Task Outcome Buckets", task_outcome_buckets),
    ("Dominant Failure Modes", dominant_failure_modes),
    ("Sometimes-Pass Deep Dives", sometimes_pass_deep_dives),
    ("Never-Pass Deep Dives", never_pass_deep_dives),
    ("Cross-Model Comparison", cross_model_comparison),
    ("Recommendations", recommendations),
    ("Reproducibility Notes", reproducibility_notes),
)
