"""A first SKILL.md for a benchmark, its six sections filled from what a run shows; what only people know is marked open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import RuleStatistics
from blade.model.run import SchemaField
from blade.model.tools import changes_state
from blade.package.draft_book import LabelDraft
from blade.package.frontmatter import LONGEST_NAME
from blade.package.meanings import OF_REPORT
from blade.package.row_parts import row_parts, verifier_fields
from blade.report.numbers import listed, plural, score
from blade.report.text import code, safe, table

MOST_ROWS = 40


def skill_name(benchmark: str) -> str:
    """A name by the specification."""
    plain = re.sub(r"[^a-z0-9]+", "-", benchmark.lower()).strip("-")[: LONGEST_NAME - len("-analysis")].strip("-")
    return f"{plain or 'benchmark'}-analysis"


def skill_text(
    benchmark: str,
    one: RunAnalysis,
    drafts: Sequence[LabelDraft],
    seen: Mapping[str, RuleStatistics],
    files: Sequence[str],
) -> str:
    """The whole file."""
    lines = [
        "---",
        f"name: {skill_name(benchmark)}",
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
        *_template(),
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
    lines += [f"- Floor: {', '.join(floors)}."] if floors else []
    fields = verifier_fields(run)
    lines.append(f"- What the verifier leaves in a row: {_codes(fields)}.")
    return [*lines, "", "OPEN: say how the verifier turns an output into a reward, and what it cannot see.", ""]


def _codes(names: Sequence[str]) -> str:
    return listed([code(name) for name in names], 12) or "none"


def _schema(one: RunAnalysis) -> list[str]:
    parts = row_parts(one.run)
    named = (
        ("task id", parts.task_id),
        ("rollout id", parts.repeat),
        ("reward", parts.reward),
        ("output", parts.output),
        ("verifier", parts.verifier),
        ("task metadata", parts.metadata),
    )
    rows = [[what, _codes(part.fields[:6]), f"{part.rows:,} of {part.of:,}"] for what, part in named]
    fields = [
        [code(field.path), f"{field.seen:,} of {field.rows:,}", _meaning(field, parts.verifier.fields)]
        for field in one.run.schema
    ]
    slices = [name for name in one.metrics.slices if name != "key_expects"]
    return [
        "## Input schema",
        "",
        "One JSON object a line; a place is written `TASK#REPEAT:STEP`.",
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
        "Every failed rollout has exactly one of these modes; `blade analyze` finds it, with its place.",
        "",
        *table(["label", "detection: the rollout ...", "rollouts", "tasks", "example"], rows),
    ]
    if drafts:
        lines += ["Labels of this benchmark's own, with their rules in `blade.yaml`:", ""]
        lines += table(
            ["label", "rule", "failures", "passes"], [_label_row(draft, seen[draft.name]) for draft in drafts]
        )
    return [*lines, "OPEN: name the labels that matter here and say how a reader tells one from another.", ""]


def _label_row(draft: LabelDraft, look: RuleStatistics) -> list[str]:
    failures, passes = f"{look.fired_failed:,} of {look.failed:,}", f"{look.fired_passed:,} of {look.passed:,}"
    return [code(draft.name), code(draft.rule), failures, passes]


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
            f"2. Read trajectories second: `blade show {first} TASK#REPEAT:STEP` for every place that a finding names, and "
            f"`blade explain {first} TASK` for tasks that sometimes pass."
        ),
        f"3. Test a hunch before you write it down: `blade try {first} 'RULE'`.",
        (
            f"4. Causes third: `blade compare {first} {second}` says what changed; keep doubts about the benchmark apart from "
            "the model."
        ),
        f"5. Check what you wrote: `blade audit REPORT --runs {first}` must find nothing false.",
        "",
        f"Mark missing rows, timeouts, malformed outputs and redacted evidence of {safe(benchmark)} as such.",
        "",
    ]


def _template() -> list[str]:
    lines = ["## Report template", "", "Sections in this order, each claim with a task, a rollout and its words:", ""]
    return [*lines, *(f"{place}. `## {one.title}`: {one.holds}." for place, one in enumerate(OF_REPORT, start=1)), ""]
