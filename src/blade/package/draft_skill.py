"""First drafts of a benchmark's SKILL.md and blade.yaml, filled from what a run shows.

The skill has its six sections; the rule book has ids, slices, tools and labels that hold in failures of the run. What
only people know is marked open.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from msgspec import Struct

from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import Finding, RuleStatistics
from blade.model.run import SchemaField
from blade.model.tools import changes_state
from blade.package.documents import OF_REPORT
from blade.package.front_matter import LONGEST_NAME
from blade.package.rollouts import row_coverage, verifier_fields
from blade.report.numbers import listed, plural, score
from blade.report.text import code, safe, table

MOST_ROWS = 40
MOST_LABELS = 8
MOST_READ = 200
"""Failed rollouts whose verifier fields are read."""
LONGEST_VALUE = 40
LEAST_LIFT, LEAST_RATIO = 0.05, 1.3
"""How much commoner in failures than in passes a label must be."""
_PLAIN = re.compile(r"[A-Za-z_][\w-]*")
_VALUE = re.compile(r"[\w .:/-]+")
_GENERAL = (
    ("tool-call-failed", "call[failed]", "A call of a tool returns an error."),
    ("no-answer", "not exists answer", "No answer could be taken from the output."),
    ("harness-error", "exists error", "The harness recorded an error."),
)


class LabelDraft(Struct, frozen=True, kw_only=True):
    """A label that may be worth keeping."""

    name: str
    rule: str
    message: str
    fix: tuple[str, str] | None = None
    """Kind and action."""


def skill_text(
    benchmark: str,
    one: RunAnalysis,
    drafts: Sequence[LabelDraft],
    seen: Mapping[str, RuleStatistics],
    files: Sequence[str],
) -> str:
    """The whole SKILL.md; of its drafted labels `seen` says where they hold."""
    plain = re.sub(r"[^a-z0-9]+", "-", benchmark.lower()).strip("-")[: LONGEST_NAME - len("-analysis")].strip("-")
    lines = [
        "---",
        f"name: {plain or 'benchmark'}-analysis",
        (
            f"description: Analyze rollouts of the {safe(benchmark)} benchmark. Use it to explain which tasks failed and why, "
            "why a score changed, and what to fix first."
        ),
        "---",
        "",
        f"# Analyzing {safe(benchmark)}",
        "",
        *_overview(benchmark, one),
        *_schema(one),
        *_funnel(one),
        *_taxonomy(one, drafts, seen),
        *_workflow(benchmark, files),
        "## Report template",
        "",
        "Sections in this order, each claim with a task, a rollout and its words:",
        "",
        *(f"{number}. `## {section.title}`: {section.holds}." for number, section in enumerate(OF_REPORT, start=1)),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _overview(benchmark: str, one: RunAnalysis) -> list[str]:
    metrics, run = one.metrics, one.run
    changing = [tool for tool in run.tools if changes_state(tool)]
    reading = [tool for tool in run.tools if not changes_state(tool)]
    repeats = f"{plural(metrics.k or 1, 'rollout')} a task"
    lines = [
        "## Overview",
        "",
        f"OPEN: say in two sentences what a task of {safe(benchmark)} asks for and which capability it measures.",
        "",
        f"- Task shape: {plural(metrics.counts['total_tasks'] or 0, 'task')}, {repeats} in the run this was drafted from.",
        f"- Reward: {metrics.headline_why}; a pass is a reward of at least {run.pass_threshold:g}.",
    ]
    if run.tools:
        lines.append(f"- Tools that change something: {_codes(changing)}. Tools that only read: {_codes(reading)}.")
    floors = [f"{floor.name.replace('_', ' ')} {score(floor.value)}" for floor in metrics.baselines if floor.value]
    lines += [f"- Baseline: {', '.join(floors)}."] if floors else []
    fields = verifier_fields(run)
    lines.append(f"- What the verifier leaves in a row: {_codes(fields)}.")
    return [*lines, "", "OPEN: say how the verifier turns an output into a reward, and what it cannot see.", ""]


def _codes(names: Sequence[str]) -> str:
    return listed([code(name) for name in names], 12) or "none"


def _schema(one: RunAnalysis) -> list[str]:
    rows_with = row_coverage(one.run)
    named = (
        ("task id", rows_with.task_id),
        ("rollout id", rows_with.repeat),
        ("reward", rows_with.reward),
        ("output", rows_with.output),
        ("verifier", rows_with.verifier),
        ("task metadata", rows_with.metadata),
    )
    rows = [[what, _codes(part.fields[:6]), f"{part.rows:,} of {part.of:,}"] for what, part in named]
    fields = [
        [code(field.path), f"{field.seen:,} of {field.rows:,}", _meaning(field, rows_with.verifier.fields)]
        for field in one.run.schema
    ]
    slices = [name for name in one.metrics.slices if name != "key_expects"]
    return [
        "## Input schema",
        "",
        "One JSON object a line; a location is written `TASK#REPEAT:STEP`.",
        "",
        *table(["what", "fields", "rows"], rows),
        *table(["field", "rows", "what it is"], fields, most=MOST_ROWS),
        f"Slices worth looking at: {_codes(slices)}.",
        "",
    ]


def _meaning(field: SchemaField, verifier: Sequence[str]) -> str:
    taken = field.taken_as.split(";")[0]
    if " as " in taken:
        pairs = [part.split(" as ") for part in taken.split(", ")]
        seen = dict.fromkeys(last for *_, last in pairs)
        return "may hold " + ", ".join(name.replace("_", " ") for name in seen)
    if taken == "slice candidate":
        return "left by the verifier" if field.path in verifier else "may cut the tasks into slices"
    return safe(taken.replace("_", " ")) or ("left by the verifier" if field.path in verifier else "not read by BLADE")


def _funnel(one: RunAnalysis) -> list[str]:
    found = one.metrics.funnel
    rows = [[str(place), stage.name, f"{stage.rollouts:,}"] for place, stage in enumerate(found.stages, start=1)]
    drop = found.largest_drop
    lines = [
        "## Workflow funnel",
        "",
        "A rollout goes through these stages in order; count how many reach each, and look first where most are lost.",
        "",
        *table(["", "stage", "rollouts"], rows),
    ]
    lines += [f'Most are lost before "{drop.name}".', ""] if drop is not None else []
    return lines


def _taxonomy(one: RunAnalysis, drafts: Sequence[LabelDraft], seen: Mapping[str, RuleStatistics]) -> list[str]:
    found = one.diagnosis
    modes = found.partition.modes if found is not None else ()
    rows = [
        [
            code(mode.id),
            safe(mode.name),
            f"{mode.rollouts:,}",
            f"{mode.tasks:,}",
            str(mode.evidence.key) if mode.evidence else "-",
        ]
        for mode in modes
    ]
    lines = [
        "## Failure taxonomy",
        "",
        "Every failed rollout has exactly one of these modes; `blade analyze` finds it, with a location and quotes.",
        "",
        *table(["label", "detection: the rollout ...", "rollouts", "tasks", "example"], rows),
    ]
    if drafts:
        lines += ["Labels of this benchmark's own, with their rules in `blade.yaml`:", ""]
        label_rows = []
        for draft in drafts:
            rule = seen[draft.name]
            failures = f"{rule.fired_failed:,} of {rule.failed:,}"
            passes = f"{rule.fired_passed:,} of {rule.passed:,}"
            label_rows.append([code(draft.name), code(draft.rule), failures, passes])
        lines += table(["label", "rule", "failures", "passes"], label_rows)
    return [*lines, "OPEN: name the labels that matter here and say how a reader tells one from another.", ""]


def _workflow(benchmark: str, files: Sequence[str]) -> list[str]:
    first = files[0] if files else "rollouts/<model>_rollouts.jsonl"
    second = files[1] if len(files) > 1 else "rollouts/<other>_rollouts.jsonl"
    return [
        "## Analysis workflow",
        "",
        "Run from the folder of this package.",
        "",
        f"1. Metrics first: `blade analyze {first} --package . -o out`. Quote no number that is not in `out/`.",
        (
            f"2. Read trajectories second: `blade show {first} TASK#REPEAT:STEP` for every location that a finding names, and "
            f"`blade explain {first} TASK` for tasks that sometimes pass."
        ),
        f"3. Test a hunch before you write it down: `blade try {first} 'RULE'`.",
        (
            f"4. Causes third: `blade compare {first} {second}` says what changed; keep benchmark issues apart from "
            "the model."
        ),
        f"5. Check what you wrote: `blade audit REPORT --runs {first}` must find nothing false.",
        "",
        f"Mark missing rows, timeouts, malformed outputs and redacted evidence of {safe(benchmark)} as such.",
        "",
    ]


def label_drafts(one: RunAnalysis) -> tuple[LabelDraft, ...]:
    """Labels from what the diagnosis found, from the verifier's fields, and general ones; the likeliest first."""
    findings = one.diagnosis.findings if one.diagnosis is not None else ()
    made = [*_of_findings(findings), *_of_verifier(one)]
    made += [LabelDraft(name=name, rule=rule, message=message) for name, rule, message in _GENERAL]
    first = {draft.name: draft for draft in reversed(made)}
    return tuple(dict.fromkeys(first[draft.name] for draft in made))


def _of_findings(findings: Sequence[Finding]) -> Iterator[LabelDraft]:
    for finding in findings:
        kind, _, rest = finding.id.partition(":")
        tool, _, argument = rest.partition(":")
        if not _PLAIN.fullmatch(tool):
            continue
        rules = {
            "extra": (f"calls-{tool}", f"call {tool}", f"`{tool}` is called."),
            "left-out": (f"never-calls-{tool}", f"not call {tool}", f"`{tool}` is never called."),
            "argument": (
                f"{argument}-of-{tool}",
                f"call {tool}[exists args.{argument}]",
                f"`{tool}` is called with `{argument}`.",
            ),
        }
        if kind in rules and (kind != "argument" or _PLAIN.fullmatch(argument)):
            name, rule, message = rules[kind]
            yield LabelDraft(name=name[:60], rule=rule, message=message, fix=(finding.kind, finding.brief))


def _of_verifier(one: RunAnalysis) -> Iterator[LabelDraft]:
    """Values of verifier fields that failing rows have."""
    failed = one.run.rollouts.filter(pl.col("outcome") == "failed").select("task_id", "repeat").head(MOST_READ)
    counted: Counter[tuple[str, str]] = Counter()
    fields = [name for name in verifier_fields(one.run) if _PLAIN.fullmatch(name)]
    for rollout in one.run.reread(failed.rows()) if fields else ():
        row = rollout.row
        counted.update((name, value) for name in fields if (value := _value(row.get(name))) is not None)
    common = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    for (name, value), times in common[: 2 * MOST_LABELS]:
        if times >= 2 or len(failed) < 4:
            slug = re.sub(r"[^a-z0-9]+", "-", f"{name}-{value}".lower()).strip("-")[:60].strip("-")
            yield LabelDraft(name=slug, rule=f"row.{name} = {value}", message=f"The verifier's `{name}` is {value}.")


def _value(value: object) -> str | None:
    """A value as a rule writes it; None for what no rule should compare with."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and 0 < len(value) <= LONGEST_VALUE and _VALUE.fullmatch(value):
        return json.dumps(value)
    return None


def selected_labels(drafts: Sequence[LabelDraft], seen: Mapping[str, RuleStatistics]) -> tuple[LabelDraft, ...]:
    """Those that hold in failures clearly more often than in passes."""
    selected: dict[tuple[int, int, int], LabelDraft] = {}
    for draft in drafts:
        rule = seen.get(draft.name)
        if rule is None or not rule.fired_failed or not rule.failed:
            continue
        # What holds in every failure and in no pass is the verdict itself, and explains nothing.
        if rule.passed and rule.fired_failed == rule.failed and not rule.fired_passed:
            continue
        in_failures, in_passes = rule.fired_failed / rule.failed, rule.fired_passed / max(1, rule.passed)
        if in_failures - in_passes >= LEAST_LIFT and in_failures >= LEAST_RATIO * in_passes:
            # Two rules that hold equally often in the same tasks are most likely one.
            selected.setdefault((rule.fired_failed, rule.fired_passed, rule.tasks), draft)
    return tuple(selected.values())[:MOST_LABELS]


def rule_book_text(
    benchmark: str, one: RunAnalysis, drafts: Sequence[LabelDraft], seen: Mapping[str, RuleStatistics] | None = None
) -> str:
    """The whole blade.yaml; with `seen`, each label says where it held and what is left to do."""
    run = one.run
    lines = [
        f"# What BLADE should know of {benchmark}; docs/packages.md explains every line.",
        f"benchmark: {json.dumps(benchmark)}",
        f"pass_threshold: {run.pass_threshold:g}",
    ]
    ids = [field.path for field in run.schema if field.taken_as.split(", ")[0] == "id"]
    lines += [f"task_id: {ids[0]}"] if ids and _PLAIN.fullmatch(ids[0]) else []
    slices = [name for name in one.metrics.slices if name != "key_expects"]
    lines += [f"slices: {json.dumps(slices)}"] if slices else []
    changing = [tool for tool in run.tools if changes_state(tool)]
    reading = [tool for tool in run.tools if not changes_state(tool)]
    lines += ["tools:"] if run.tools else []
    lines += [
        f"  {name}: {json.dumps(tools)}" for name, tools in (("changing", changing), ("reading", reading)) if tools
    ]
    lines += ["labels:"] if drafts else []
    for draft in drafts:
        if seen is not None:
            rule = seen[draft.name]
            lines.append(
                f"  # OPEN: holds in {rule.fired_failed} of {rule.failed} failures and {rule.fired_passed} of "
                f"{rule.passed} passes; narrow the rule until it is the failure itself, or remove it"
            )
        lines += [
            f"  - name: {draft.name}",
            f"    message: {json.dumps(draft.message, ensure_ascii=False)}",
            f"    rule: {json.dumps(draft.rule, ensure_ascii=False)}",
            "    cause: behavior",
        ]
        if draft.fix is not None:
            kind, action = draft.fix
            lines += ["    fix:", f"      kind: {kind}", f"      action: {json.dumps(action, ensure_ascii=False)}"]
    return "\n".join(lines) + "\n"
