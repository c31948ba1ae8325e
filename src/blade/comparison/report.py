"""Two runs against each other as Markdown: the story first, then the ledger and the details."""

from __future__ import annotations

from collections.abc import Sequence

from blade.comparison.held_fixed import changed_and_unknown
from blade.comparison.values import (
    Comparison,
    ComparisonVerdict,
    Flip,
    LedgerTerm,
    Limits,
    ScoreChange,
    Shift,
    SliceChange,
)
from blade.report.diagnosis import prose
from blade.report.numbers import POINTS, adding_up, amount, listed, plural, points, score
from blade.report.text import code, cut, safe, table

MOST_DRIVERS = 3
MOST_FLIPS = 12
MOST_SHIFTS = 12
MOST_STORY = 15
"""Lines of the story: what fits on a screen."""
SURE = 0.05
FEWEST_MOVED = 2
"""Rollouts by which a mode must change to be named in the story."""
SMALL = 0.0005
"""Points of the score, as a fraction, below which a term is not named: it would print as 0.0."""
NAMES = {
    "task_set": "other tasks",
    "missing": "missing rollouts",
    "infrastructure": "the machinery",
    "verifier": "the verifier",
    "limits": "limits",
    "format": "the form of the answer",
    "unexplained": "graded results that no machinery, limit or form of answer explains",
}


def comparison_report(comparison: Comparison) -> str:
    """The whole report; the story takes at most fifteen lines."""
    lines = [f"# {safe(title(comparison))}", "", *(f"{line}\n" for line in story(comparison))]
    for heading, body in (
        ("Where the change came from", _ledger(comparison)),
        ("What was held fixed", _held_fixed(comparison)),
        ("Tasks that moved", _flips(comparison)),
        ("Slices", _slices(comparison)),
        ("Modes and rules that grew or shrank", _shifts(comparison)),
        ("Spending", _spent(comparison)),
        ("How the tasks were joined", _pairing(comparison)),
    ):
        lines += [f"## {heading}", "", *body, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def several(comparisons: Sequence[Comparison], groups: Sequence[tuple[str, float | None, str]]) -> str:
    """More than two runs: a table of all with the groups that cannot be told apart, then each against the first."""
    base = comparisons[0].baseline.name
    rows = [[code(name), score(value), letters] for name, value, letters in groups]
    lines = [f"# {safe(f'{len(comparisons)} runs against {base}')}", ""]
    lines += table(["run", "all expected", "cannot be told apart"], rows, most=40)
    lines += [
        "Runs that share a letter cannot be told apart on the tasks that all of them share (sign-flip over tasks, Holm).",
        "",
    ]
    body = [comparison_report(one).replace("\n## ", "\n### ").replace("# ", "## ", 1) for one in comparisons]
    return "\n".join(lines) + "\n" + "\n".join(body)


def title(comparison: Comparison) -> str:
    """What the page is about, and the verdict."""
    before, after = comparison.own
    names = f"{comparison.candidate.name} against {comparison.baseline.name}"
    return f"{names}: {comparison.verdict}, {score(before)} to {score(after)}"


def story(comparison: Comparison) -> list[str]:
    """What happened, in at most fifteen lines."""
    lines = [_verdict_line(comparison), *_judged_line(comparison)]
    lines += [f"**Beware:** {safe(trap)}." for trap in comparison.traps[:4]]
    lines += [f"**{n}.** {driver}" for n, driver in enumerate(drivers(comparison)[:MOST_DRIVERS], start=1)]
    lines += [_held_fixed_line(comparison), *_flips_line(comparison), *_spent_line(comparison)]
    return lines[:MOST_STORY]


def _verdict_line(comparison: Comparison) -> str:
    """The verdict with its numbers."""
    change, own = comparison.expected, comparison.own
    because = prose(change.because)
    if comparison.verdict is ComparisonVerdict.NOT_COMPARABLE:
        return f"**Not comparable.** {because}."
    name = "pass@1" if comparison.headline == "pass_at_1" else "mean reward"
    line = f"**{str(comparison.verdict).capitalize()}.** {name} over all expected rollouts"
    line += f" went from {score(change.baseline)} to {score(change.candidate)} on {plural(change.n, 'shared task')}"
    if own != (change.baseline, change.candidate):
        line += f" ({score(own[0])} to {score(own[1])} on each run's own tasks)"
    if change.ci is not None and change.delta is not None:
        line += f": {_signed(change.delta)} points (95 %: {_to(change.ci)}"
        line += f"; p {change.p_value:.2g}, {change.method})" if change.p_value is not None else ")"
    if comparison.verdict in (ComparisonVerdict.IMPROVED, ComparisonVerdict.REGRESSED):
        return f"{line}. "
    if change.equivalence_bound is None:
        return f"{line}. Why: {because}."
    ruled_out = f"anything beyond {points(change.equivalence_bound)} points either way is ruled out"
    mde = f"; four times in five these tasks would show {points(change.mde)}" if change.mde else ""
    return f"{line}. Why: {because}; {ruled_out}{mde}."


def _judged_line(comparison: Comparison) -> list[str]:
    """Where judged rollouts alone say something else."""
    change = comparison.judged
    if (
        change.verdict == comparison.verdict
        or change.delta is None
        or comparison.verdict is ComparisonVerdict.NOT_COMPARABLE
    ):
        return []
    scores = f"{score(change.baseline)} to {score(change.candidate)}, {_points_with_limits(change.delta, change)}"
    return [f"**Where rollouts were judged it is {change.verdict}**: {scores} on {plural(change.n, 'task')}."]


def _points_with_limits(value: float, source: ScoreChange | LedgerTerm) -> str:
    return f"{_signed(value)} points" + (f" ({_to(source.ci)})" if source.ci is not None else "")


def drivers(comparison: Comparison) -> tuple[str, ...]:
    """The ledger ranked, a sentence for each term that moves anything."""
    moved = [term for term in comparison.ledger if abs(term.points) > SMALL]
    return tuple(_driver(term, comparison) for term in sorted(moved, key=lambda term: -abs(term.points)))


def _driver(term: LedgerTerm, comparison: Comparison) -> str:
    name = NAMES.get(term.term) or f"behavior {term.term.removeprefix('behavior:')}"
    unexplained = term.term == "unexplained"
    moved = _modes_that_moved(comparison) if unexplained else ""
    by = f"how rollouts of the same tasks end: {moved}" if moved else f"{name}: {prose(term.what)}"
    text = f"{_points_with_limits(term.points, term)} by {by}"
    for each in [each for each in term.slices if each.q_value is not None and each.q_value <= SURE][:2]:
        text += f"; {_slice(each)}"
    examples = "" if unexplained or not term.evidence else f", e.g. {safe(listed(list(term.evidence), 3))}"
    return f"{text}{examples}."


def _modes_that_moved(comparison: Comparison) -> str:
    """The modes that moved most, where anything moved."""
    moved = [s for s in comparison.shifts if s.kind == "mode" and abs(s.candidate - s.baseline) >= FEWEST_MOVED]
    moved.sort(key=lambda s: (-abs(s.candidate / max(1, s.candidate_of) - s.baseline / max(1, s.baseline_of)), s.id))
    named = [f"{prose(s.name)} ({s.baseline} to {s.candidate} rollouts)" for s in moved[:3]]
    return "; ".join(named)


def _slice(change: SliceChange) -> str:
    return (
        f"{safe(change.field)} {safe(change.value)} went from {score(change.baseline)} to {score(change.candidate)} "
        f"({plural(change.tasks, 'task')}, q {change.q_value:.2g})"
    )


def _held_fixed_line(comparison: Comparison) -> str:
    """One thing changed, several, or nobody knows."""
    changed, unknown = changed_and_unknown(comparison.held_fixed)
    rest = f"; not recorded: {safe(', '.join(unknown))}" if unknown else ""
    if len(changed) == 1 and not unknown:
        return f"**One thing changed:** {safe(changed[0])}{_from_to(comparison, changed[0])}."
    if len(changed) == 1:
        return (
            f"**Of what is recorded only the {safe(changed[0])} changed**{rest}; so the change cannot be pinned on it."
        )
    if changed:
        return f"**Several things changed** ({safe(', '.join(changed))}){rest}: the change cannot be pinned on one."
    return f"**Nothing that is recorded changed**{rest}."


def _from_to(comparison: Comparison, aspect: str) -> str:
    """The values before and after, without those that both have."""
    held = comparison.held_fixed[aspect]
    before, after = ((text or "").split(", ") for text in (held.baseline, held.candidate))
    left, right = [text for text in before if text not in after], [text for text in after if text not in before]
    return f", from {safe(', '.join(left))} to {safe(', '.join(right))}" if any(left) and any(right) else ""


def _flips_line(comparison: Comparison) -> list[str]:
    if not comparison.flips:
        return []
    better = [flip for flip in comparison.flips if _is_better(flip)]
    worse = [flip for flip in comparison.flips if not _is_better(flip)]
    sides = [*better, *worse] if (comparison.expected.delta or 0.0) > 0 else [*worse, *better]
    example = next((flip.parting for flip in sides if flip.parting), None)
    head = f"**{plural(len(sides), 'task')} changed bucket:** {len(worse)} for the worse, {len(better)} for the better."
    return [f"{head} {prose(cut(example, 420))}" if example is not None else head]


def _is_better(flip: Flip) -> bool:
    order = ("missing", "never", "sometimes", "always")
    return order.index(flip.after) > order.index(flip.before)


def _spent_line(comparison: Comparison) -> list[str]:
    shown = ("output_tokens", "seconds", "cost")
    both = [(name, s) for name, s in comparison.spent.items() if name in shown and s.baseline and s.candidate]
    parts = [f"{name.replace('_', ' ')} {amount(s.baseline)} to {amount(s.candidate)}" for name, s in both]
    return [f"**Spent a rollout:** {', '.join(parts)}."] if parts else []


def _ledger(comparison: Comparison) -> list[str]:
    """The waterfall in numbers."""
    if not comparison.ledger:
        return ["No shared task: the change cannot be taken apart."]
    before, after = comparison.own
    shown = adding_up([term.points * POINTS for term in comparison.ledger], (comparison.delta or 0.0) * POINTS, 1)
    rows = [
        [
            code(term.term),
            f"{value:+.1f}",
            _to(term.ci) if term.ci is not None else "-",
            score(term.score_after),
            f"{term.rollouts:,}",
            f"{term.tasks:,}",
            prose(term.what),
        ]
        for term, value in zip(comparison.ledger, shown, strict=True)
    ]
    first = ["baseline", "", "", score(before), "", "", ""]
    last = ["candidate", f"{sum(shown):+.1f}", "", score(after), "", "", ""]
    head = ["term", "points", "95 %", "score after", "rollouts", "tasks it moves", "what"]
    how = "Terms are taken one after the other and sum to the change; `--at TERM` prints the score after a step."
    return [*table(head, [first, *rows, last], most=40), how]


def _held_fixed(comparison: Comparison) -> list[str]:
    """Every aspect with its values."""
    rows = [
        [
            safe(aspect),
            held.state,
            *(code(cut(value, 120)) if value else "-" for value in (held.baseline, held.candidate)),
            safe(held.note),
        ]
        for aspect, held in comparison.held_fixed.items()
    ]
    lines = table(["", "", "baseline", "candidate", ""], rows, most=30)
    for aspect, held in comparison.held_fixed.items():
        if held.diff:
            lines += [f"What differs in the {safe(aspect)} ({safe(held.note)}):", ""]
            lines += [f"- {code(line)}" for line in held.diff] + [""]
    return lines


def _flips(comparison: Comparison) -> list[str]:
    """Buckets before and after, and the tasks that moved."""
    counts = {(one.before, one.after): one.tasks for one in comparison.transitions}
    names = [b for b in ("always", "sometimes", "never", "missing") if any(b in pair for pair in counts)]
    rows = [[f"{a} passed", *(str(counts.get((a, b), 0)) for b in names)] for a in names]
    lines = table(["before / after", *names], rows)
    if not comparison.flips:
        return [*lines, "No task changed its bucket."]
    moved = [
        [
            code(f.task_id),
            f"{f.before} to {f.after}",
            f"{f.baseline_passed} to {f.candidate_passed}",
            safe(", ".join(f.locations)),
            prose(cut(f.parting, 300)) or "-",
        ]
        for f in comparison.flips
    ]
    head = ["task", "bucket", "passed", "baseline, candidate", "where they part"]
    return [*lines, *table(head, moved, "comparison.json", MOST_FLIPS)]


def _slices(comparison: Comparison) -> list[str]:
    """The change in each slice."""
    if not comparison.slices:
        return ["No field cuts the shared tasks into slices of five or more."]
    rows = [
        [
            safe(s.field),
            safe(s.value),
            str(s.tasks),
            score(s.baseline),
            score(s.candidate),
            _signed(s.candidate - s.baseline),
            _q_value(s.q_value),
        ]
        for s in sorted(comparison.slices, key=lambda s: (s.q_value or 1.0, s.field, s.value))
    ]
    return table(["field", "value", "tasks", "baseline", "candidate", "points", "q"], rows, "comparison.json")


def _shifts(comparison: Comparison) -> list[str]:
    """What grew and what shrank."""

    def differs(shift: Shift) -> bool:
        return shift.baseline != shift.candidate or shift.baseline_of != shift.candidate_of

    rows = [
        [
            code(cut(s.id, 40)),
            prose(cut(s.name, 110)),
            f"{s.baseline:,} of {s.baseline_of:,}",
            f"{s.candidate:,} of {s.candidate_of:,}",
            "new" if s.is_new else "gone" if s.is_gone else "",
            _q_value(s.q_value),
            safe(s.matters),
        ]
        for s in filter(differs, comparison.shifts)
    ]
    if not rows:
        return ["No mode and no rule is commoner in one run than in the other."]
    head = ["id", "what", "baseline", "candidate", "", "q", "goes with failing"]
    return table(head, rows, "comparison.json", MOST_SHIFTS)


def _spent(comparison: Comparison) -> list[str]:
    """Means a rollout."""
    if not comparison.spent:
        return ["Neither run records tokens, time or cost."]
    rows = [[name.replace("_", " "), amount(s.baseline), amount(s.candidate)] for name, s in comparison.spent.items()]
    return table(["a rollout, in the mean", "baseline", "candidate"], rows)


def _pairing(comparison: Comparison) -> list[str]:
    """How it is known that tasks are the same."""
    pairing = comparison.pairing
    by = ", ".join(f"{count} by {step}" for step, count in pairing.joined_by.items()) or "none"
    lines = [f"{plural(pairing.shared, 'task')} of both runs are the same: {by}."]
    for tasks, run in (
        (pairing.only_baseline, comparison.baseline),
        (pairing.only_candidate, comparison.candidate),
    ):
        if tasks:
            lines.append(f"Only in {code(run.name)}: {plural(len(tasks), 'task')}: {safe(listed(tasks, 8))}.")
    if pairing.unproven:
        lines.append(f"{plural(pairing.unproven, 'task')} are joined by id alone, which is not proven.")
    if pairing.key_changed:
        lines.append(f"The key changed in {safe(listed(pairing.key_changed, 8))}.")
    if pairing.id_conflict:
        conflicts = safe(listed(pairing.id_conflict, 8))
        lines.append(f"The same id stands for another task in {conflicts}; not joined by it.")
    lines.append(f"Margin of equivalence: {points(comparison.margin)} points.")
    return [f"- {line}" for line in lines]


def _signed(value: float) -> str:
    return f"{value * POINTS:+.1f}"


def _to(limits: Limits) -> str:
    return f"{_signed(limits[0])} to {_signed(limits[1])}"


def _q_value(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"
