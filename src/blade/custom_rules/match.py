"""Looking for a rule in a rollout: whether it holds, and the words that show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from blade.custom_rules.syntax import (
    KINDS,
    AllOf,
    AnyOf,
    Compare,
    Constant,
    Count,
    Exists,
    Holds,
    Length,
    Not,
    Path,
    Pattern,
    Rule,
    Steps,
    Sum,
    Value,
)
from blade.custom_rules.values import Seen, as_text, compare, number, parsed, pattern, within
from blade.model.finding import Evidence
from blade.model.rollout import Rollout, Step
from blade.model.tools import changes_state

LONGEST_QUOTE = 160
SHORTEST_QUOTE = 4
"""Words that are shorter are quoted with those around them."""
MOST_TRIED = 200_000
"""Steps that one rule may look at in one rollout: patterns within patterns multiply."""
_QUOTABLE = ("stop", "error", "answer", "expected")


class Show(Struct, frozen=True):
    """What shows that a rule holds: a step, or a field of the row; `words` are those to quote."""

    step: int | None = None
    field: str = ""
    words: str = ""

    @property
    def is_there(self) -> bool:
        return self.step is not None or bool(self.field)


NOTHING = Show()


class TooMuch(Exception):
    """A rule that asks for more looking than a rollout is worth."""


class Match(NamedTuple):
    """A rule holds; `evidence` is None where nothing can be quoted."""

    evidence: Evidence | None


def match(rule: Rule, rollout: Rollout) -> Match | None:
    """What shows that the rule holds; None where it does not.

    What shows that something is absent is the last step: until there it did not come. A rule that multiplies beyond
    `MOST_TRIED` steps raises TooMuch.
    """
    story = _Story(rollout)
    shown = _holds(rule, _Scene(story))
    return Match(_evidence(shown, story)) if shown is not None else None


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


def _holds(rule: Rule, scene: _Scene) -> Show | None:
    """What shows that the rule holds; None when it does not."""
    if isinstance(rule, AllOf):
        return _all(rule, scene)
    if isinstance(rule, AnyOf):
        return next((shown for one in rule.rules if (shown := _holds(one, scene)) is not None), None)
    if isinstance(rule, Not):
        return NOTHING if _holds(rule.rule, scene) is None else None
    if isinstance(rule, Steps):
        return next(_sequences(rule, scene), (None, None))[0]
    return _of_values(rule, scene)


def _all(rule: AllOf, scene: _Scene) -> Show | None:
    """All rules, one after the other: a step that one of them names is known to those after it."""
    return next(_joined(rule.rules, scene, NOTHING), None)


def _joined(rules: tuple[Rule, ...], scene: _Scene, best: Show) -> Iterator[Show]:
    if not rules:
        yield best
        return
    first, rest = rules[0], rules[1:]
    for shown, after in _ways(first, scene):
        yield from _joined(rest, after, best if best.is_there and not (shown.words and not best.words) else shown)


def _ways(rule: Rule, scene: _Scene) -> Iterator[tuple[Show, _Scene]]:
    """Each way in which a rule holds, with the names that it gives; more than one only for sequences that give names."""
    if isinstance(rule, Steps) and any(one.name for one in rule.patterns):
        for shown, after in _sequences(rule, scene):
            yield shown, replace(after, here=scene.here)
        return
    found = _holds(rule, scene)
    if found is not None:
        yield found, scene


def _sequences(rule: Steps, scene: _Scene) -> Iterator[tuple[Show, _Scene]]:
    count, here = len(scene.story.steps), scene.here
    spans = {"anywhere": range(count), "earlier": range(here or 0), "later": range((here or 0) + 1, count)}
    yield from _following(rule.patterns, spans[rule.place], scene)


def _following(patterns: tuple[Pattern, ...], span: range, scene: _Scene) -> Iterator[tuple[Show, _Scene]]:
    """Steps of the span that fit the patterns in order; the last of them is shown."""
    for place, shown, after in _fitting(patterns[0], span, scene):
        if len(patterns) == 1:
            yield shown, after
        else:
            yield from _following(patterns[1:], range(place + 1, span.stop), after)


def _fitting(wanted: Pattern, span: range, scene: _Scene) -> Iterator[tuple[int, Show, _Scene]]:
    kind = KINDS[wanted.kind]
    for place in span:
        step = scene.story.steps[place]
        scene.story.try_one()
        if (kind is not None and step.kind != kind) or not _is_of(wanted.tools, step, scene.story):
            continue
        inside = scene.at(place, wanted.name)
        shown = NOTHING if wanted.where is None else _holds(wanted.where, inside)
        if shown is not None:
            words = shown.words if shown.step == step.index else ""
            yield place, Show(step=step.index, words=words), replace(inside, here=scene.here)


def _is_of(tools: tuple[str, ...], step: Step, story: _Story) -> bool:
    if not tools:
        return True
    name = _tool(step, story)
    return name is not None and any(fnmatchcase(name, tool) for tool in tools)


def _tool(step: Step, story: _Story) -> str | None:
    if step.tool is None and step.answers is not None and step.answers in story.calls:
        return story.calls[step.answers].tool
    return step.tool


def _of_values(rule: Compare | Exists | Holds, scene: _Scene) -> Show | None:
    if isinstance(rule, Compare):
        rights = list(_seen(rule.right, scene))
        for left in _seen(rule.left, scene):
            if any(compare(left.value, rule.operator, right.value) for right in rights):
                return _shown(rule, left, scene)
        return None
    for seen in _seen(rule.value, scene):
        if isinstance(rule, Exists) or seen.value not in (False, 0, "", [], {}):
            return _of_path(rule.value, seen, scene)
    return None


def _shown(rule: Compare, left: Seen, scene: _Scene) -> Show:
    shown = _of_path(rule.left, left, scene)
    if rule.operator == "matches" and isinstance(rule.right, Constant):
        found = pattern(str(rule.right.value)).search(as_text(left.value))
        return replace(shown, words=found.group(0)[:LONGEST_QUOTE]) if found is not None else shown
    if rule.operator == "contains" and isinstance(rule.right, Constant):
        return replace(shown, words=as_text(rule.right.value)[:LONGEST_QUOTE])
    return shown if shown.is_there else _of_path(rule.right, left, scene)


def _of_path(value: Value, seen: Seen, scene: _Scene) -> Show:
    """Where the value of a path stands; nothing for what is worked out."""
    if not isinstance(value, Path):
        return NOTHING
    step = _step_of(value, scene)
    if step is not None:
        return Show(step=step.index)
    if value.root == "row":
        return Show(field=seen.path)
    return Show(field=value.root) if value.root in _QUOTABLE else NOTHING


def _step_of(path: Path, scene: _Scene) -> Step | None:
    """The step whose field a path names; None for fields of the rollout."""
    if path.named:
        place = scene.named.get(path.root)
        return scene.story.steps[place] if place is not None else None
    if scene.here is None or not hasattr(_StepFields, path.root):
        return None
    return scene.story.steps[scene.here]


def _seen(value: Value, scene: _Scene) -> Iterator[Seen]:
    """The values that are there."""
    if isinstance(value, Constant):
        yield Seen(value.value)
    elif isinstance(value, Count):
        yield Seen(sum(1 for _ in _fitting(value.pattern, range(len(scene.story.steps)), scene)))
    elif isinstance(value, Length):
        yield from (Seen(len(one.value), one.path) for one in _seen(value.of, scene) if hasattr(one.value, "__len__"))
    elif isinstance(value, Sum):
        yield from _sums(value, scene)
    else:
        yield from _at(value, scene)


def _sums(value: Sum, scene: _Scene) -> Iterator[Seen]:
    rights = [found for one in _seen(value.right, scene) if (found := number(one.value)) is not None]
    for left in _seen(value.left, scene):
        first = number(left.value)
        if first is not None:
            yield from (Seen(first + right if value.sign == "+" else first - right, left.path) for right in rights)


def _at(path: Path, scene: _Scene) -> Iterator[Seen]:
    step = _step_of(path, scene)
    if path.named:
        if step is not None and path.parts:
            yield from within(_StepFields.of(step, path.parts[0], scene.story), path.parts[1:], path.parts[0])
        elif step is not None:
            yield Seen(step.index)
        return
    if step is not None:
        yield from within(_StepFields.of(step, path.root, scene.story), path.parts, path.root)
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


class _StepFields:
    """The fields of a step, by name; a call knows its result and a result its call."""

    @staticmethod
    def of(step: Step, name: str, story: _Story) -> object:
        found = getattr(_StepFields, name, None)
        return found(step, story) if found is not None and name != "of" else None

    @staticmethod
    def index(step: Step, story: _Story) -> object:
        return step.index

    @staticmethod
    def party(step: Step, story: _Story) -> object:
        return step.party

    @staticmethod
    def tool(step: Step, story: _Story) -> object:
        return _tool(step, story)

    @staticmethod
    def text(step: Step, story: _Story) -> object:
        return step.text

    @staticmethod
    def args(step: Step, story: _Story) -> object:
        call = step if step.kind == "call" else story.calls.get(step.answers) if step.answers is not None else None
        return parsed(call.arguments) if call is not None and call.arguments else None

    @staticmethod
    def returned(step: Step, story: _Story) -> object:
        result = story.results.get(step.index) if step.kind == "call" else step
        return result.text if result is not None else None

    @staticmethod
    def json(step: Step, story: _Story) -> object:
        text = _StepFields.returned(step, story)
        return parsed(text) if isinstance(text, str) else None

    @staticmethod
    def failed(step: Step, story: _Story) -> object:
        result = story.results.get(step.index) if step.kind == "call" else step
        return result.failed if result is not None else None

    @staticmethod
    def changes(step: Step, story: _Story) -> object:
        name = _tool(step, story)
        return changes_state(name) if name else False


def _evidence(shown: Show, story: _Story) -> Evidence | None:
    if shown.step is None and shown.field:
        return _of_field(shown, story)
    steps = [step for step in story.steps if step.index == shown.step] if shown.step is not None else story.steps[-1:]
    wanted = shown.words
    fields = [(step, name) for step in steps for name in ("text", "arguments", "tool") if getattr(step, name)]
    for step, name in fields:
        if wanted and wanted in getattr(step, name):
            return Evidence(
                key=story.rollout.key, step=step.index, field=name, quote=_telling(getattr(step, name), wanted)
            )
    fields.sort(key=lambda one: one[1] != "arguments" if one[0].kind == "call" else one[1] != "text")
    for step, name in fields:
        quote = getattr(step, name).strip()[:LONGEST_QUOTE].strip()
        if quote:
            return Evidence(key=story.rollout.key, step=step.index, field=name, quote=quote)
    return None


def _telling(text: str, words: str) -> str:
    """The words, with those around them where they alone say nothing (a question mark, a number)."""
    if len(words) >= SHORTEST_QUOTE:
        return words
    at = text.index(words)
    room = (LONGEST_QUOTE - len(words)) // 2
    return text[max(0, at - room) : at + len(words) + room].strip()


def _of_field(shown: Show, story: _Story) -> Evidence | None:
    if shown.field in _QUOTABLE:
        value: object = getattr(story.rollout, shown.field)
    else:
        value = next((seen.value for seen in within(story.row, tuple(shown.field.split(".")), "")), None)
    text = as_text(value) if value is not None else ""
    quote = shown.words if shown.words and shown.words in text else text.strip()[:LONGEST_QUOTE].strip()
    return Evidence(key=story.rollout.key, step=None, field=shown.field, quote=quote) if quote else None
