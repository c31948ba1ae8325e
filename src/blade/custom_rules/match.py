"""Looking for a rule in a rollout: whether it holds, and the words that show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from blade.custom_rules.syntax import (
    KINDS,
    OF_STEP,
    AllRules,
    AnyRule,
    Compare,
    Constant,
    Exists,
    FieldPath,
    Not,
    Rule,
    StepCount,
    StepPattern,
    StepSequence,
    Sum,
    Value,
    ValueLength,
)
from blade.custom_rules.values import ValueAt, as_text, compare, number, parsed, pattern, within
from blade.model.finding import Evidence
from blade.model.rollout import Rollout, Step
from blade.model.tools import changes_state

LONGEST_QUOTE = 160
SHORTEST_QUOTE = 4
"""Words that are shorter are quoted with those around them."""
MOST_TRIED = 200_000
"""Steps that one rule may look at in one rollout: patterns within patterns multiply."""
_QUOTABLE = ("stop", "error", "answer", "expected")


class Shown(Struct, frozen=True):
    """What shows that a rule holds: a step, or a field of the row; `words` are those to quote."""

    step: int | None = None
    field: str = ""
    words: str = ""

    @property
    def is_there(self) -> bool:
        return self.step is not None or bool(self.field)


NOTHING = Shown()


class TooMuch(Exception):
    """A rule that asks for more looking than a rollout is worth."""


class RuleMatch(Struct, frozen=True):
    """A rule holds; `evidence` is None where nothing can be quoted."""

    evidence: Evidence | None


def match(rule: Rule, rollout: Rollout) -> RuleMatch | None:
    """What shows that the rule holds; None where it does not.

    What shows that something is absent is the last step: until there it did not come. A rule that multiplies beyond
    `MOST_TRIED` steps raises TooMuch.
    """
    story = _Story(rollout)
    shown = _holds(rule, _Scene(story))
    return RuleMatch(_evidence(shown, story)) if shown is not None else None


class _Story:
    """One rollout, decoded at most once."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout
        self.tried = 0

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return self.rollout.steps or ()

    @cached_property
    def row(self) -> dict[str, object]:
        return self.rollout.row

    @cached_property
    def calls(self) -> dict[int, Step]:
        return {step.index: step for step in self.steps if step.kind == "call"}

    @cached_property
    def results(self) -> dict[int, Step]:
        """By place of the call: its result."""
        return {step.answers: step for step in self.steps if step.kind == "result" and step.answers is not None}

    def try_one(self) -> None:
        self.tried += 1
        if self.tried > MOST_TRIED:
            raise TooMuch


class _Scene(Struct, frozen=True):
    """Where a rule is looked at: the rollout, the step in brackets, and steps that have names."""

    story: _Story
    here: int | None = None
    """Place of the step in brackets among the steps."""
    named: Mapping[str, int] = field(default_factory=dict)

    def at(self, place: int, name: str | None) -> _Scene:
        named = self.named if name is None else {**self.named, name: place}
        return replace(self, here=place, named=named)


def _holds(rule: Rule, scene: _Scene) -> Shown | None:
    """What shows that the rule holds; None when it does not."""
    if isinstance(rule, AllRules):
        return next(_joined(rule.rules, scene, NOTHING), None)
    if isinstance(rule, AnyRule):
        return next((shown for one in rule.rules if (shown := _holds(one, scene)) is not None), None)
    if isinstance(rule, Not):
        return NOTHING if _holds(rule.rule, scene) is None else None
    if isinstance(rule, StepSequence):
        return next(_sequences(rule, scene), (None, None))[0]
    if isinstance(rule, Compare):
        rights = list(_values(rule.right, scene))
        for left in _values(rule.left, scene):
            if any(compare(left.value, rule.operator, right.value) for right in rights):
                return _comparison_shown(rule, left, scene)
        return None
    for one in _values(rule.value, scene):
        if isinstance(rule, Exists) or one.value not in (False, 0, "", [], {}):
            return _of_path(rule.value, one, scene)
    return None


def _joined(rules: tuple[Rule, ...], scene: _Scene, best: Shown) -> Iterator[Shown]:
    """All rules, one after the other: a step that one of them names is known to those after it."""
    if not rules:
        yield best
        return
    first, rest = rules[0], rules[1:]
    for shown, after in _ways(first, scene):
        yield from _joined(rest, after, best if best.is_there and not (shown.words and not best.words) else shown)


def _ways(rule: Rule, scene: _Scene) -> Iterator[tuple[Shown, _Scene]]:
    """Each way in which a rule holds, with the names that it gives; more than one only for sequences that give names."""
    if isinstance(rule, StepSequence) and any(one.name for one in rule.patterns):
        for shown, after in _sequences(rule, scene):
            yield shown, replace(after, here=scene.here)
        return
    found = _holds(rule, scene)
    if found is not None:
        yield found, scene


def _sequences(rule: StepSequence, scene: _Scene) -> Iterator[tuple[Shown, _Scene]]:
    count, here = len(scene.story.steps), scene.here
    spans = {"anywhere": range(count), "earlier": range(here or 0), "later": range((here or 0) + 1, count)}
    yield from _following(rule.patterns, spans[rule.place], scene)


def _following(patterns: tuple[StepPattern, ...], span: range, scene: _Scene) -> Iterator[tuple[Shown, _Scene]]:
    """Steps of the span that fit the patterns in order; the last of them is shown."""
    for place, shown, after in _fitting(patterns[0], span, scene):
        if len(patterns) == 1:
            yield shown, after
        else:
            yield from _following(patterns[1:], range(place + 1, span.stop), after)


def _fitting(wanted: StepPattern, span: range, scene: _Scene) -> Iterator[tuple[int, Shown, _Scene]]:
    kind = KINDS[wanted.kind]
    for place in span:
        step = scene.story.steps[place]
        scene.story.try_one()
        if kind is not None and step.kind != kind:
            continue
        name = _tool(step, scene.story) if wanted.tools else None
        if wanted.tools and (name is None or not any(fnmatchcase(name, tool) for tool in wanted.tools)):
            continue
        inside = scene.at(place, wanted.name)
        shown = NOTHING if wanted.where is None else _holds(wanted.where, inside)
        if shown is not None:
            words = shown.words if shown.step == step.index else ""
            yield place, Shown(step=step.index, words=words), replace(inside, here=scene.here)


def _tool(step: Step, story: _Story) -> str | None:
    if step.tool is None and step.answers is not None and step.answers in story.calls:
        return story.calls[step.answers].tool
    return step.tool


def _comparison_shown(rule: Compare, left: ValueAt, scene: _Scene) -> Shown:
    shown = _of_path(rule.left, left, scene)
    if rule.operator == "matches" and isinstance(rule.right, Constant):
        found = pattern(str(rule.right.value)).search(as_text(left.value))
        return replace(shown, words=found.group(0)[:LONGEST_QUOTE]) if found is not None else shown
    if rule.operator == "contains" and isinstance(rule.right, Constant):
        return replace(shown, words=as_text(rule.right.value)[:LONGEST_QUOTE])
    return shown if shown.is_there else _of_path(rule.right, left, scene)


def _of_path(value: Value, seen: ValueAt, scene: _Scene) -> Shown:
    """Where the value of a path stands; nothing for what is worked out."""
    if not isinstance(value, FieldPath):
        return NOTHING
    step = _step_of(value, scene)
    if step is not None:
        return Shown(step=step.index)
    if value.root == "row":
        return Shown(field=seen.path)
    return Shown(field=value.root) if value.root in _QUOTABLE else NOTHING


def _step_of(path: FieldPath, scene: _Scene) -> Step | None:
    """The step whose field a path names; None for fields of the rollout."""
    place = scene.named.get(path.root) if path.named else scene.here if path.root in OF_STEP else None
    return scene.story.steps[place] if place is not None else None


def _values(value: Value, scene: _Scene) -> Iterator[ValueAt]:
    """The values that are there."""
    if isinstance(value, Constant):
        yield ValueAt(value.value)
    elif isinstance(value, StepCount):
        yield ValueAt(sum(1 for _ in _fitting(value.pattern, range(len(scene.story.steps)), scene)))
    elif isinstance(value, ValueLength):
        for one in _values(value.of, scene):
            if hasattr(one.value, "__len__"):
                yield ValueAt(len(one.value), one.path)
    elif isinstance(value, Sum):
        sign = 1 if value.sign == "+" else -1
        rights = [right for one in _values(value.right, scene) if (right := number(one.value)) is not None]
        for left in _values(value.left, scene):
            first = number(left.value)
            if first is not None:
                yield from (ValueAt(first + sign * right, left.path) for right in rights)
    else:
        yield from _at(value, scene)


def _at(path: FieldPath, scene: _Scene) -> Iterator[ValueAt]:
    step = _step_of(path, scene)
    if path.named:
        if step is not None and path.parts:
            yield from within(_step_field(step, path.parts[0], scene.story), path.parts[1:], path.parts[0])
        elif step is not None:
            yield ValueAt(step.index)
    elif step is not None:
        yield from within(_step_field(step, path.root, scene.story), path.parts, path.root)
    elif path.root == "row":
        yield from within(scene.story.row, path.parts, "")
    else:
        yield from within(_rollout_field(scene.story.rollout, path.root), path.parts, path.root)


def _rollout_field(rollout: Rollout, name: str) -> object:
    if name in ("task", "repeat"):
        return rollout.key.task_id if name == "task" else rollout.key.repeat
    if name in ("steps", "calls", "tool_errors"):
        return getattr(rollout.features, name) if rollout.features is not None else None
    found: object = getattr(rollout, name)
    return str(found) if name == "outcome" else found


def _step_field(step: Step, name: str, story: _Story) -> object:
    """A field of a step, by name; a call knows its result and a result its call."""
    is_call = step.kind == "call"
    result = story.results.get(step.index) if is_call else step
    match name:
        case "index" | "party" | "text":
            return getattr(step, name)
        case "tool":
            return _tool(step, story)
        case "args":
            call = step if is_call else story.calls.get(step.answers) if step.answers is not None else None
            return parsed(call.arguments) if call is not None and call.arguments else None
        case "returned":
            return result.text if result is not None else None
        case "json":
            return parsed(result.text) if result is not None and isinstance(result.text, str) else None
        case "failed":
            return result.failed if result is not None else None
        case "changes":
            tool = _tool(step, story)
            return changes_state(tool) if tool else False
        case _:
            return None


def _evidence(shown: Shown, story: _Story) -> Evidence | None:
    key = story.rollout.key
    if shown.step is None and shown.field:
        quote = _quote_of_field(shown, story)
        return Evidence(key=key, step=None, field=shown.field, quote=quote) if quote else None
    steps = [step for step in story.steps if step.index == shown.step] if shown.step is not None else story.steps[-1:]
    words = shown.words
    fields = [(step, name) for step in steps for name in ("text", "arguments", "tool") if getattr(step, name)]
    for step, name in fields:
        text = getattr(step, name)
        if words and words in text:
            # Words that say nothing alone (a question mark, a number) are quoted with those around them.
            at, room = text.index(words), (LONGEST_QUOTE - len(words)) // 2
            around = text[max(0, at - room) : at + len(words) + room].strip()
            quote = words if len(words) >= SHORTEST_QUOTE else around
            return Evidence(key=key, step=step.index, field=name, quote=quote)
    fields.sort(key=lambda one: one[1] != "arguments" if one[0].kind == "call" else one[1] != "text")
    for step, name in fields:
        quote = getattr(step, name).strip()[:LONGEST_QUOTE].strip()
        if quote:
            return Evidence(key=key, step=step.index, field=name, quote=quote)
    return None


def _quote_of_field(shown: Shown, story: _Story) -> str:
    if shown.field in _QUOTABLE:
        value: object = getattr(story.rollout, shown.field)
    else:
        value = next((one.value for one in within(story.row, tuple(shown.field.split(".")), "")), None)
    text = as_text(value) if value is not None else ""
    return shown.words if shown.words and shown.words in text else text.strip()[:LONGEST_QUOTE].strip()
