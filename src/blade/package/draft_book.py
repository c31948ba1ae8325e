"""A first `blade.yaml` for a benchmark: ids, slices, tools, and labels that hold in failures of a run."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import Finding, RuleStatistics
from blade.model.tools import changes_state
from blade.package.row_parts import verifier_fields

MOST_LABELS = 8
MOST_ROWS = 200
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


@dataclass(frozen=True, kw_only=True)
class LabelDraft:
    """A label that may be worth keeping."""

    name: str
    rule: str
    message: str
    fix: tuple[str, str] | None = None
    """Kind and action."""


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
    failed = one.run.rollouts.filter(pl.col("outcome") == "failed").select("task_id", "repeat").head(MOST_ROWS)
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


def kept_labels(drafts: Sequence[LabelDraft], seen: Mapping[str, RuleStatistics]) -> tuple[LabelDraft, ...]:
    """Those that hold in failures clearly more often than in passes."""
    kept: dict[tuple[int, int, int], LabelDraft] = {}
    for draft in drafts:
        look = seen.get(draft.name)
        if look is not None and _tells(look):
            # Two rules that hold equally often in the same tasks are most likely one.
            kept.setdefault((look.fired_failed, look.fired_passed, look.tasks), draft)
    return tuple(kept.values())[:MOST_LABELS]


def _tells(look: RuleStatistics) -> bool:
    if not look.fired_failed or not look.failed:
        return False
    # What holds in every failure and in no pass is the verdict itself, and explains nothing.
    if look.passed and look.fired_failed == look.failed and not look.fired_passed:
        return False
    in_failures, in_passes = look.fired_failed / look.failed, look.fired_passed / max(1, look.passed)
    return in_failures - in_passes >= LEAST_LIFT and in_failures >= LEAST_RATIO * in_passes


def book_text(
    benchmark: str, one: RunAnalysis, drafts: Sequence[LabelDraft], seen: Mapping[str, RuleStatistics] | None = None
) -> str:
    """The file; with `seen`, each label says where it held and what is left to do."""
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
    lines += _tools(run.tools)
    lines += ["labels:"] if drafts else []
    for draft in drafts:
        lines += _label(draft, seen.get(draft.name) if seen is not None else None)
    return "\n".join(lines) + "\n"


def _tools(tools: Sequence[str]) -> list[str]:
    changing = [tool for tool in tools if changes_state(tool)]
    reading = [tool for tool in tools if not changes_state(tool)]
    made = [f"  {name}: {json.dumps(mine)}" for name, mine in (("changing", changing), ("reading", reading)) if mine]
    return ["tools:", *made] if made else []


def _label(draft: LabelDraft, look: RuleStatistics | None) -> list[str]:
    lines = []
    if look is not None:
        lines.append(
            f"  # OPEN: holds in {look.fired_failed} of {look.failed} failures and {look.fired_passed} of "
            f"{look.passed} passes; narrow the rule until it is the failure itself, or remove it"
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
    return lines
