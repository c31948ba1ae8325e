"""What a report may name: runs, tasks, rollouts, slices, stages, buckets, modes and rules, and where its words name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from blade.model.analysis import Analysis, RunAnalysis

BUCKETS = {"always": "always_pass", "sometimes": "sometimes_pass", "never": "never_pass"}
_SHORTEST_NAME = 4
_COMMON = {"model", "agent", "baseline", "candidate", "base", "test", "run", "rollouts", "results", "eval"}
_PARTS = re.compile(r"[A-Za-z]+|\d+")


@dataclass(frozen=True)
class Named:
    """A name at a place of a text."""

    start: int
    end: int
    kind: str
    """run, task, slice, stage, mode, rule or cause."""
    name: str
    """As the data has it; of a slice `field=value`."""


@dataclass(frozen=True)
class Place:
    """A rollout, or a step of it, that a text points at."""

    start: int
    end: int
    task_id: str
    repeat: int | None
    step: int | None
    short: bool = False
    """Written `:6`, after the rollout was named."""


@dataclass(frozen=True)
class Names:
    """Everything that the runs of an analysis have a name for."""

    analysis: Analysis

    @cached_property
    def runs(self) -> dict[str, RunAnalysis]:
        return {one.run.name: one for one in self.analysis.runs}

    @cached_property
    def tasks(self) -> frozenset[str]:
        return frozenset(task.task_id for one in self.analysis.runs for task in one.tasks)

    @cached_property
    def telling_tasks(self) -> frozenset[str]:
        """Ids that cannot be taken for a number or a word."""
        return frozenset(task for task in self.tasks if re.search(r"\d", task) and re.search(r"[^\d\s.,]", task))

    @cached_property
    def shapes(self) -> tuple[re.Pattern[str], ...]:
        """What an id looks like: letters as they are, numbers any; for ids that do not exist."""
        made = {re.sub(r"\d+", "0", task) for task in self.telling_tasks}
        if not 0 < len(made) <= 40:
            return ()
        return tuple(re.compile(re.escape(one).replace("0", r"\d+")) for one in sorted(made))

    @cached_property
    def slices(self) -> dict[str, tuple[str, ...]]:
        """Fields by value, lower case."""
        found: dict[str, set[str]] = {}
        for one in self.analysis.runs:
            for field, values in one.metrics.slices.items():
                for value in values:
                    found.setdefault(value.value.lower(), set()).add(field)
        return {value: tuple(sorted(fields)) for value, fields in found.items()}

    @cached_property
    def slice_fields(self) -> frozenset[str]:
        return frozenset(field for one in self.analysis.runs for field in one.metrics.slices)

    @cached_property
    def modes(self) -> dict[str, str]:
        """Names of modes, without markup and in lower case, to their ids."""
        return {
            plain(mode.name): mode.id
            for one in self.analysis.runs
            if one.diagnosis is not None
            for mode in one.diagnosis.partition.modes
        }

    @cached_property
    def stages(self) -> dict[str, str]:
        return {plain(stage.name): stage.name for one in self.analysis.runs for stage in one.metrics.funnel.stages}

    @cached_property
    def codes(self) -> frozenset[str]:
        return frozenset(
            rule.code
            for one in self.analysis.runs
            if one.diagnosis is not None
            for rule in one.diagnosis.rule_statistics
        )

    @cached_property
    def _run_patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        wanted: dict[str, set[str]] = {}
        for one in self.analysis.runs:
            for name in filter(None, (one.run.name, one.run.model, _stem(one.run.name))):
                wanted.setdefault(_flat(name), set()).add(one.run.name)
        kept = [(flat, runs) for flat, runs in wanted.items() if len(runs) == 1 and _can_be_a_name(flat, self)]
        return tuple((next(iter(runs)), _loose(flat)) for flat, runs in sorted(kept, key=lambda one: -len(one[0])))

    @property
    def run_words(self) -> tuple[str, ...]:
        """Patterns of the names that runs go by."""
        return tuple(one.pattern for _, one in self._run_patterns)

    def runs_in(self, text: str) -> tuple[Named, ...]:
        """The runs that a text names, in order; of names that overlap the longest counts."""
        return tuple(
            _apart(Named(*found.span(), "run", run) for run, one in self._run_patterns for found in one.finditer(text))
        )

    def tasks_in(self, text: str) -> tuple[Named, ...]:
        """The tasks that a text names, also those that look like one and do not exist."""
        return tuple(
            _apart(
                Named(*found.span(1), "task", found.group(1))
                for shape in self._task_patterns
                for found in shape.finditer(text)
            )
        )

    @cached_property
    def _task_patterns(self) -> tuple[re.Pattern[str], ...]:
        edge, end = r"(?<![\w/#@.-])", r"(?![\w/@-]|\.\w)"
        shapes = [f"{edge}({one.pattern}){end}" for one in self.shapes]
        plain_ids = sorted((task for task in self.tasks - self.telling_tasks if task), key=lambda t: (-len(t), t))
        spoken = "|".join(map(re.escape, plain_ids[:2000]))
        numbers = [rf"\b[Tt]asks?\s+`?({spoken}){end}"] if spoken else []
        exact = [] if self.shapes else [f"{edge}({re.escape(task)}){end}" for task in sorted(self.telling_tasks)[:2000]]
        return tuple(re.compile(one) for one in (*shapes, *exact, *numbers))

    def places_in(self, text: str) -> tuple[Place, ...]:
        """Rollouts and steps that a text points at, as `TASK#REPEAT:STEP`, `:STEP`, or in words."""
        found = [*_written(text), *self._spoken(text)]
        return tuple(sorted({(one.start, one.end): one for one in found}.values(), key=lambda one: one.start))

    def _spoken(self, text: str) -> Iterator[Place]:
        """`calendar-4, repeat 2` and `task 3 (rollout 1, step 6)`."""
        for task in self.tasks_in(text):
            found = _IN_WORDS.match(text, task.end)
            if found:
                step = int(found.group(2)) if found.group(2) else None
                yield Place(task.start, found.end(), task.name, int(found.group(1)), step)

    def slices_in(self, text: str) -> tuple[Named, ...]:
        """Slices that a text names beyond doubt: `difficulty=hard`, `hard tasks`, `the mail category`."""
        return tuple(_apart(self._slices(text)))

    def _slices(self, text: str) -> Iterator[Named]:
        for value, fields in self.slices.items():
            word = re.escape(value)
            for field in fields:
                label = re.escape(field).replace("_", "[_ ]")
                ways = [
                    rf"\b{label}\W{{0,3}}(?:is|of|=|:)?\W{{0,3}}{word}\b",
                    rf"\b{word}\b\W{{0,2}}\s+{label}\b",
                    *([rf"\b{word}\b\W{{0,2}}\s*(?:tasks?|rollouts|slice|problems)\b"] if len(fields) == 1 else []),
                ]
                for way in ways:
                    for found in re.finditer(way, text, re.IGNORECASE):
                        yield Named(*found.span(), "slice", f"{field}={value}")


_PLACE = re.compile(r"(?<![\w#])([\w][\w./@-]{0,120}?|\d+)#(\d{1,6})(?:\s*:(\d{1,6}))?(?![\w#])")
_SHORT = re.compile(r"(?<=[\s(,]):(\d{1,6})(?![\w:.])|(?<=^):(\d{1,6})(?![\w:.])")
_IN_WORDS = re.compile(
    r"`?\s*[,(]?\s*(?:\bin\s+)?(?:rollout|repeat|attempt)\s*#?\s*(\d{1,6})(?:\s*,?\s*\(?(?:at\s+)?step\s+(\d{1,6})\)?)?"
)


def _written(text: str) -> Iterator[Place]:
    for found in _PLACE.finditer(text):
        task, repeat, step = found.groups()
        yield Place(*found.span(), task, int(repeat), int(step) if step else None)
    for found in _SHORT.finditer(text):
        yield Place(*found.span(), "", None, int(found.group(1) or found.group(2)), short=True)


def plain(text: str) -> str:
    """Words only, in lower case, for comparing names."""
    return " ".join(re.findall(r"[\w@^]+", text.lower()))


def _flat(name: str) -> str:
    return "-".join(_PARTS.findall(name.lower()))


def _stem(name: str) -> str:
    """`heron` of `heron-70b`."""
    found = _PARTS.match(name)
    return found.group() if found else ""


def _can_be_a_name(flat: str, names: Names) -> bool:
    benchmarks = {_flat(one.run.benchmark or "") for one in names.analysis.runs}
    words = {word for value in names.slices for word in value.split()}
    ids = {part for task in list(names.tasks)[:500] for part in _PARTS.findall(task.lower())}
    common = _COMMON | words | ids | {part for one in benchmarks for part in (one, *one.split("-"))}
    return len(flat) >= _SHORTEST_NAME and flat not in common


def _loose(flat: str) -> re.Pattern[str]:
    parts = r"[-_ .]?".join(map(re.escape, flat.split("-")))
    return re.compile(rf"(?<![\w-]){parts}(?![\w]|-\w)", re.IGNORECASE)


def _apart(found: Iterable[Named]) -> Iterator[Named]:
    """Names that do not overlap: the earliest, and of those the longest."""
    end = -1
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.name)):
        if one.start >= end:
            yield one
            end = one.end
