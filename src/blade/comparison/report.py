"""Two runs against each other as Markdown: the story first, then the ledger and the details."""

from __future__ import annotations

from collections.abc import Sequence

from blade.comparison.values import Change, Comparison, Flip, Held, Shift, SliceChange, Term, Verdict
from blade.report.diagnosis import prose
from blade.report.numbers import POINTS, adding_up, amount, listed, plural, points, score
from blade.report.text import code, cut, safe, table

MOST_DRIVERS = 3
MOST_FLIPS = 12
MOST_SHIFTS = 12
SURE = 0.05
FEWEST_MOVED = 2
"""Rollouts by which a mode must change to be told."""
SMALL = 0.0005
"""Points of the score, as a fraction, below which a term is not told."""
NAMES = {
    "task_set": "other tasks",
    "missing": "missing rollouts",
    "infrastructure": "the machinery",
    "verifier": "the verifier",
    "limits": "limits",
    "format": "the form of the answer",
    "unexplained": "what no symptom explains",
}


def comparison_report(one: Comparison) -> str:
    """The whole report; the story takes at most fifteen lines."""
    lines = [f"# {safe(title(one))}", "", *(f"{line}\n" for line in story(one))]
    for heading, body in (
        ("Where the change came from", ledger_lines(one)),
        ("What was held fixed", held_lines(one)),
        ("Tasks that moved", flip_lines(one)),
        ("Slices", slice_lines(one)),
        ("Modes and rules that grew or shrank", shift_lines(one)),
        ("Spending", spent_lines(one)),
        ("How the tasks were joined", joined_lines(one)),
    ):
        lines += [f"## {heading}", "", *body, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def title(one: Comparison) -> str:
    """What the page is about, and the verdict."""
    before, after = one.own
    return f"{one.candidate.name} against {one.baseline.name}: {one.verdict}, {score(before)} to {score(after)}"


def story(one: Comparison) -> list[str]:
    """What happened, in at most fifteen lines."""
    lines = [verdict_line(one), *judged_lines(one), *(f"**Beware:** {safe(trap)}." for trap in one.traps[:4])]
    lines += [f"**{n}.** {driver}" for n, driver in enumerate(drivers(one)[:MOST_DRIVERS], start=1)]
    lines += [held_line(one), *_moved(one), *_cost(one)]
    return lines[:15]


def verdict_line(one: Comparison) -> str:
    """The verdict with its numbers."""
    found = one.expected
    if one.verdict is Verdict.NOT_COMPARABLE:
        return f"**Not comparable.** {prose(found.because)}."
    head = f"**{str(one.verdict).capitalize()}.** {_name(one)} over all expected rollouts"
    told = f"{head} went from {score(found.baseline)} to {score(found.candidate)} on {plural(found.n, 'shared task')}"
    own = one.own
    if own != (found.baseline, found.candidate):
        told += f" ({score(own[0])} to {score(own[1])} on each run's own tasks)"
    interval = found.interval
    if interval is not None and found.delta is not None:
        told += f": {_signed(found.delta)} points (95 %: {_signed(interval.low)} to {_signed(interval.high)}"
        told += f"; p {found.p_value:.2g}, {found.method})" if found.p_value is not None else ")"
    return f"{told}. {_bound(one)}"


def _name(one: Comparison) -> str:
    return "pass@1" if one.headline == "pass_at_1" else "mean reward"


def _bound(one: Comparison) -> str:
    found = one.expected
    if one.verdict in (Verdict.IMPROVED, Verdict.REGRESSED):
        return ""
    because = prose(found.because)
    if found.equivalence_bound is None:
        return f"Why: {because}."
    because = f"Why: {because}"
    ruled_out = f"anything beyond {points(found.equivalence_bound)} points either way is ruled out"
    mde = f"; four times in five these tasks would show {points(found.mde)}" if found.mde else ""
    return f"{because}; {ruled_out}{mde}."


def judged_lines(one: Comparison) -> list[str]:
    """Where judged rollouts alone say something else."""
    found = one.judged
    if found.verdict == one.verdict or found.delta is None or one.verdict is Verdict.NOT_COMPARABLE:
        return []
    scores = f"{score(found.baseline)} to {score(found.candidate)}, {_signed(found.delta)} points{_limits(found)}"
    return [f"**Where rollouts were judged it is {found.verdict}**: {scores} on {plural(found.n, 'task')}."]


def _limits(found: Change) -> str:
    interval = found.interval
    return f" ({_signed(interval.low)} to {_signed(interval.high)})" if interval is not None else ""


def drivers(one: Comparison) -> list[str]:
    """The ledger ranked, a sentence for each term that moves anything."""
    moved = sorted((term for term in one.ledger if abs(term.points) > SMALL), key=lambda term: -abs(term.points))
    return [_driver(term, one) for term in moved]


def _driver(term: Term, one: Comparison) -> str:
    limits_ = f" ({_signed(term.interval.low)} to {_signed(term.interval.high)})" if term.interval is not None else ""
    text = f"{_signed(term.points)} points{limits_} by {term_name(term.term)}: {prose(term.what)}"
    if term.term == "unexplained":
        text += _modes(one)
    sliced = [each for each in term.slices if each.q_value is not None and each.q_value <= SURE]
    if sliced:
        text += "; " + "; ".join(_slice(each) for each in sliced[:2])
    return (
        f"{text}{f', e.g. {safe(listed(list(term.places), 3))}' if term.places and term.term != 'unexplained' else ''}."
    )


def _modes(one: Comparison) -> str:
    """The modes that moved most, where anything moved."""
    moved = [s for s in one.shifts if s.kind == "mode" and abs(s.candidate - s.baseline) >= FEWEST_MOVED]
    moved.sort(key=lambda s: (-abs(s.candidate / max(1, s.candidate_of) - s.baseline / max(1, s.baseline_of)), s.id))
    told = [f"{prose(s.name)} ({s.baseline} to {s.candidate})" for s in moved[:3]]
    return f"; of the failures, {'; '.join(told)}" if told else ""


def term_name(term: str) -> str:
    """A term as people say it."""
    return NAMES.get(term) or f"behavior {term.removeprefix('behavior:')}"


def _slice(each: SliceChange) -> str:
    return (
        f"{safe(each.field)} {safe(each.value)} went from {score(each.baseline)} to {score(each.candidate)} "
        f"({plural(each.tasks, 'task')}, q {each.q_value:.2g})"
    )


def held_line(one: Comparison) -> str:
    """One thing changed, several, or nobody knows."""
    changed = [held.aspect for held in one.held if held.state == "changed"]
    unknown = [held.aspect for held in one.held if held.state == "not recorded"]
    rest = f"; not recorded: {safe(', '.join(unknown))}" if unknown else ""
    if len(changed) == 1 and not unknown:
        return f"**One thing changed:** {safe(changed[0])}{_from_to(one, changed[0])}."
    if len(changed) == 1:
        return (
            f"**Of what is recorded only the {safe(changed[0])} changed**{rest}; so the change cannot be pinned on it."
        )
    if changed:
        return f"**Several things changed** ({safe(', '.join(changed))}){rest}: the change cannot be pinned on one."
    return f"**Nothing that is recorded changed**{rest}."


def _from_to(one: Comparison, aspect: str) -> str:
    """The values before and after, without those that both have."""
    held = next(held for held in one.held if held.aspect == aspect)
    before, after = ((text or "").split(", ") for text in (held.baseline, held.candidate))
    left, right = [one for one in before if one not in after], [one for one in after if one not in before]
    return f", from {safe(', '.join(left))} to {safe(', '.join(right))}" if any(left) and any(right) else ""


def _moved(one: Comparison) -> list[str]:
    better = [flip for flip in one.flips if _is_better(flip)]
    worse = [flip for flip in one.flips if not _is_better(flip)]
    if not one.flips:
        return []
    sides = [*better, *worse] if (one.expected.delta or 0.0) > 0 else [*worse, *better]
    first = next((flip for flip in sides if flip.parting), None)
    told = f"**{plural(len(one.flips), 'task')} changed bucket:** {len(worse)} for the worse, {len(better)} for the better."
    return [f"{told} {prose(cut(first.parting, 420))}" if first is not None else told]


def _is_better(flip: Flip) -> bool:
    order = ("missing", "never", "sometimes", "always")
    return order.index(flip.after) > order.index(flip.before)


def _cost(one: Comparison) -> list[str]:
    both = [s for s in one.spent if s.baseline and s.candidate and s.name in ("output_tokens", "seconds", "cost")]
    told = [f"{s.name.replace('_', ' ')} {amount(s.baseline)} to {amount(s.candidate)}" for s in both]
    return [f"**Spent a rollout:** {', '.join(told)}."] if told else []


def ledger_lines(one: Comparison) -> list[str]:
    """The waterfall in numbers."""
    if not one.ledger:
        return ["No shared task: the change cannot be taken apart."]
    before, after = one.own
    rows = [["baseline", "", "", score(before), "", "", ""]]
    shown = adding_up([term.points * POINTS for term in one.ledger], (one.delta or 0.0) * POINTS, 1)
    for term, value in zip(one.ledger, shown, strict=True):
        rows.append(
            [
                code(term.term),
                f"{value:+.1f}",
                f"{_signed(term.interval.low)} to {_signed(term.interval.high)}" if term.interval is not None else "-",
                score(term.score_after),
                f"{term.rollouts:,}",
                f"{term.tasks:,}",
                prose(term.what),
            ]
        )
    rows.append(["candidate", f"{sum(shown):+.1f}", "", score(after), "", "", ""])
    lines = table(["term", "points", "95 %", "score after", "rollouts", "tasks it moves", "what"], rows, most=40)
    told = "Terms are taken one after the other and sum to the change; `--at TERM` prints the score after a step."
    return [*lines, told]


def held_lines(one: Comparison) -> list[str]:
    """Every thing with its values."""
    rows = [[safe(h.aspect), h.state, *_values(h), safe(h.note)] for h in one.held]
    lines = table(["", "", "baseline", "candidate", ""], rows, most=30)
    for held in one.held:
        if held.diff:
            lines += [f"What differs in the {safe(held.aspect)} ({safe(held.note)}):", ""]
            lines += [f"- {code(line)}" for line in held.diff] + [""]
    return lines


def _values(held: Held) -> list[str]:
    return [code(cut(value, 120)) if value else "-" for value in (held.baseline, held.candidate)]


def flip_lines(one: Comparison) -> list[str]:
    """Buckets before and after, and the tasks that moved."""
    names = [b for b in ("always", "sometimes", "never", "missing") if any(b in pair for pair in one.transitions)]
    rows = [[f"{a} passed", *(str(one.transitions.get((a, b), 0)) for b in names)] for a in names]
    lines = table(["before / after", *names], rows)
    if not one.flips:
        return [*lines, "No task changed its bucket."]
    moved = [
        [
            code(f.task_id),
            f"{f.before} to {f.after}",
            f"{f.baseline_passed} to {f.candidate_passed}",
            safe(", ".join(f.places)),
            prose(cut(f.parting, 300)) or "-",
        ]
        for f in one.flips
    ]
    return [
        *lines,
        *table(
            ["task", "bucket", "passed", "baseline, candidate", "where they part"], moved, "comparison.json", MOST_FLIPS
        ),
    ]


def slice_lines(one: Comparison) -> list[str]:
    """The change in each slice."""
    if not one.slices:
        return ["No field cuts the shared tasks into slices of five or more."]
    rows = [
        [
            safe(s.field),
            safe(s.value),
            str(s.tasks),
            score(s.baseline),
            score(s.candidate),
            _signed(s.candidate - s.baseline),
            _q(s.q_value),
        ]
        for s in sorted(one.slices, key=lambda s: (s.q_value or 1.0, s.field, s.value))
    ]
    return table(["field", "value", "tasks", "baseline", "candidate", "points", "q"], rows, "comparison.json")


def shift_lines(one: Comparison) -> list[str]:
    """What grew and what shrank."""
    shown = [
        shift for shift in one.shifts if shift.baseline != shift.candidate or shift.baseline_of != shift.candidate_of
    ]
    if not shown:
        return ["No mode and no rule is commoner in one run than in the other."]
    rows = [
        [
            code(cut(s.id, 40)),
            prose(cut(s.name, 110)),
            f"{s.baseline:,} of {s.baseline_of:,}",
            f"{s.candidate:,} of {s.candidate_of:,}",
            _news(s),
            _q(s.q_value),
            safe(s.matters),
        ]
        for s in shown
    ]
    head = ["id", "what", "baseline", "candidate", "", "q", "goes with failing"]
    return table(head, rows, "comparison.json", MOST_SHIFTS)


def _news(shift: Shift) -> str:
    return "new" if shift.is_new else "gone" if shift.is_gone else ""


def _q(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def spent_lines(one: Comparison) -> list[str]:
    """Means a rollout."""
    if not one.spent:
        return ["Neither run records tokens, time or cost."]
    rows = [[s.name.replace("_", " "), amount(s.baseline), amount(s.candidate)] for s in one.spent]
    return table(["a rollout, in the mean", "baseline", "candidate"], rows)


def joined_lines(one: Comparison) -> list[str]:
    """How it is known that tasks are the same."""
    found = one.joined
    by = ", ".join(f"{count} by {step}" for step, count in found.joined_by.items()) or "none"
    lines = [f"{plural(len(found.pairs), 'task')} of both runs are the same: {by}."]
    for tasks, side in ((found.only_baseline, one.baseline), (found.only_candidate, one.candidate)):
        if tasks:
            lines.append(f"Only in {code(side.name)}: {plural(len(tasks), 'task')}: {safe(listed(list(tasks), 8))}.")
    if found.unproven:
        lines.append(f"{plural(found.unproven, 'task')} are joined by id alone, which is not proven.")
    if found.key_changed:
        lines.append(f"The key changed in {safe(listed(list(found.key_changed), 8))}.")
    if found.id_conflict:
        lines.append(
            f"The same id stands for another task in {safe(listed(list(found.id_conflict), 8))}; not joined by it."
        )
    lines.append(f"Margin of equivalence: {points(one.margin)} points.")
    return [f"- {line}" for line in lines]


def _signed(value: float) -> str:
    return f"{value * POINTS:+.1f}"


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
