"""One rollout as plain text, for people and agents: what came of it, what was asked, done, checked and logged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from blade.model.expected import Due, DueCall, VerifierCheck
from blade.model.rollout import Rollout, Step
from blade.model.shown_row import NOTHING_SHOWN, ShownPhase, ShownRow
from blade.report.numbers import amount
from blade.report.text import cut, printable

BUDGET = 14_000
"""Characters of a whole rollout: under about 4,000 tokens."""
LOG_BUDGET = 4_000
"""Of these, characters that the long texts of the row may take from the steps; without many steps they get more."""
SHORTEST = 60
LONGEST_VALUE = 200
LONGEST_SHORT = 80
MOST_CALLS = 20
MOST_CHECKS = 30
LINE = 110
_MARKS = {"agent": "AGENT", "user": "USER", "tool": "TOOL", "system": "SYSTEM"}


def show(
    rollout: Rollout, account: ShownRow = NOTHING_SHOWN, *, steps: range | None = None, width: int | None = None
) -> list[str]:
    """Everything about a rollout that a diagnosis may use; with `steps`, only its first lines and these steps.

    Without a width, long texts are cut so that the whole fits the budget; of a log the end is kept.
    """
    chosen = [step for step in rollout.steps or () if steps is None or step.index in steps]
    prompt = [] if steps is not None else list(rollout.prompt)
    texts = account.texts if steps is None else ()
    lines = [*_head(rollout), *(_account(rollout.due, account) if steps is None else ()), ""]
    sizes = [len(_body(step)) for step in [*prompt, *chosen]]
    room = BUDGET - sum(map(len, lines))
    for_texts = max(LOG_BUDGET, room - sum(sizes))
    each_text = width if width is not None else _fitting([len(text.text) for text in texts], for_texts)
    taken = sum(min(each_text, len(text.text)) for text in texts)
    each = width if width is not None else _fitting(sizes, room - taken)
    for step in prompt:
        lines += [f"[prompt] {_who(step)}", *_indented(_cut(step.text, each))]
    for step in chosen:
        lines += _step(step, each)
    if rollout.steps is None:
        lines.append("no trajectory is recorded")
    for text in texts:
        lines += ["", f"[log] {text.field}, {len(text.text):,} characters", *_indented(_ending(text.text, each_text))]
    if steps is None and account.others:
        lines += ["", *_listed("also in the row: ", account.others)]
    return [printable(line) for line in lines]


def _head(rollout: Rollout) -> list[str]:
    facts = [f"reward {amount(rollout.reward)}" if rollout.reward is not None else "no reward"]
    facts += [
        f"{name} {value}"
        for name, value in (("stop", rollout.stop), ("tokens out", rollout.tokens))
        if value is not None
    ]
    facts += [f"{amount(rollout.seconds)} s"] if rollout.seconds is not None else []
    lines = [f"{rollout.key}  {rollout.outcome}  {', '.join(facts)}  ({rollout.source})"]
    for name, value in (("expected", rollout.expected), ("answer", rollout.answer), ("error", rollout.error)):
        if value:
            lines.append(f"{name}: {_cut(_flat(value), LONGEST_VALUE)}")
    return lines


def _account(due: Due, account: ShownRow) -> Iterator[str]:
    """What the row says beside the steps, a kind at a time; nothing of a kind that it does not hold."""
    if due.calls is not None:
        yield f"expected actions: {'none' if not due.calls else len(due.calls)}"
        yield from (f"    {_expected(call)}" for call in due.calls[:MOST_CALLS])
        yield from [f"    and {len(due.calls) - MOST_CALLS} more"] if len(due.calls) > MOST_CALLS else []
    for statement in due.statements:
        yield f"expected statement: {_cut(_flat(statement), LONGEST_VALUE)}"
    yield from _checks(due, account.checks)
    yield from _listed("fields: ", [f"{name} {_cut(_flat(value), LONGEST_SHORT)}" for name, value in account.short])
    yield from _listed("times: ", list(map(_phase, account.phases)))
    yield from _listed("usage: ", [f"{name} {value}" for name, value in account.usage])


def _expected(call: DueCall) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return cut(f"{call.tool}({_flat(arguments)})", LONGEST_VALUE)


def _checks(due: Due, checks: Sequence[VerifierCheck]) -> Iterator[str]:
    """Failed checks first, as `checks` has them, with the verifier's words."""
    if not checks:
        return
    met = sum(int(check.passed) if check.held is None else check.held for check in checks)
    yield f"checks: {met} of {sum(check.of for check in checks)} hold"
    for check in checks[:MOST_CHECKS]:
        share = f" ({check.held} of {check.of})" if check.held is not None else ""
        words = f": {_cut(_flat(check.words), LONGEST_VALUE)}" if check.words else ""
        yield f"    {'holds' if check.passed else 'FAILS'}  {_flat(check.name)}{share}{words}"
    if len(checks) > MOST_CHECKS:
        failed = sum(not check.passed for check in checks[MOST_CHECKS:])
        yield f"    and {len(checks) - MOST_CHECKS} more, of which {failed} fail"


def _phase(phase: ShownPhase) -> str:
    took = f"{amount(phase.seconds)} s" if phase.seconds is not None else ""
    if not phase.start:
        return f"{phase.name} {took}"
    ends = f"{phase.start} to {phase.end}" if phase.end else phase.start
    return f"{phase.name} {ends} ({took})" if took else f"{phase.name} {ends}"


def _listed(title: str, parts: Sequence[str]) -> list[str]:
    """The parts on as many lines as they need, each whole; nothing where there are none."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) < LINE:
            lines[-1] += f", {part}"
        else:
            lines.append(f"    {part}" if lines else title + part)
    return lines


def _fitting(sizes: Sequence[int], budget: int) -> int:
    """The most characters a text may have so that all fit the budget."""
    ordered = sorted(sizes)
    room = max(0, budget - 40 * len(ordered))
    for place, size in enumerate(ordered):
        left = len(ordered) - place
        if size * left > room:
            return max(SHORTEST, room // left)
        room -= size
    return budget


def _who(step: Step) -> str:
    return _MARKS[step.party] + (f" {_flat(step.actor)}" if step.actor and step.actor.lower() != step.party else "")


def _step(step: Step, width: int) -> list[str]:
    what = {
        "call": f"calls {step.tool}",
        "result": f"{step.tool or 'tool'} returns",
        "reasoning": "thinks",
        "refusal": "refuses",
    }
    label = f"[{step.index}] {_who(step)} {what.get(step.kind, '')}".rstrip() + (" (error)" if step.failed else "")
    return [label, *_indented(_cut(_body(step), width))]


def _body(step: Step) -> str:
    return (step.arguments or "") if step.kind == "call" else step.text


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, width: int) -> str:
    """The beginning and the end of a long text, and how much is left out between them."""
    return _folded(text, width, lambda most: most * 2 // 3)


def _ending(text: str, width: int) -> str:
    """Of a log mostly the end, where verdicts and errors stand."""
    return _folded(text, width, lambda most: most // 6)


def _folded(text: str, width: int, head_of: Callable[[int], int]) -> str:
    if width <= 0 or len(text) <= width:
        return text
    head = head_of(width)
    tail = width - head
    return f"{text[:head]} [... {len(text) - width:,} characters left out ...] {text[len(text) - tail :]}"


def _indented(text: str) -> list[str]:
    body = text.strip("\n")
    return ["    " + line for line in body.split("\n")] if body else []
