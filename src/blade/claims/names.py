"""What a report names and states: runs, tasks, rollouts, slices, modes and rules; numbers, quotations and redactions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from blade.claims.markdown import Passage
from blade.model.analysis import Analysis, RunAnalysis

BUCKETS = {"always": "always_pass", "sometimes": "sometimes_pass", "never": "never_pass"}
_SHORTEST_NAME = 4
_COMMON = {"model", "agent", "baseline", "candidate", "base", "test", "run", "rollouts", "results", "eval"}
_PARTS = re.compile(r"[A-Za-z]+|\d+")


class Named(Struct, frozen=True):
    """A name at a place of a text."""

    start: int
    end: int
    kind: str
    """run, task, slice, stage, mode, rule or cause."""
    name: str
    """As the data has it; of a slice `field=value`."""


class Location(Struct, frozen=True):
    """A rollout, or a step of it, that a text points at."""

    start: int
    end: int
    task_id: str
    repeat: int | None
    step: int | None
    short: bool = False
    """Written `:6`, after the rollout was named."""


class Names(Struct, frozen=True, dict=True):
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

    def locations_in(self, text: str) -> tuple[Location, ...]:
        """Rollouts and steps that a text points at, as `TASK#REPEAT:STEP`, `:STEP`, or in words."""
        found = [*_written(text), *self._spoken(text)]
        return tuple(sorted({(one.start, one.end): one for one in found}.values(), key=lambda one: one.start))

    def _spoken(self, text: str) -> Iterator[Location]:
        """`calendar-4, repeat 2` and `task 3 (rollout 1, step 6)`."""
        for task in self.tasks_in(text):
            found = _IN_WORDS.match(text, task.end)
            if found:
                step = int(found.group(2)) if found.group(2) else None
                yield Location(task.start, found.end(), task.name, int(found.group(1)), step)

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


def _written(text: str) -> Iterator[Location]:
    for found in _PLACE.finditer(text):
        task, repeat, step = found.groups()
        yield Location(*found.span(), task, int(repeat), int(step) if step else None)
    for found in _SHORT.finditer(text):
        yield Location(*found.span(), "", None, int(found.group(1) or found.group(2)), short=True)


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


_NUMBER = re.compile(
    r"(?<![\w@#^.,$€£])(?<![\w]-)(?:[-+\u2212](?=\d))?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w@#^]|\.\d|,\d{3}(?!\d))(\s?%)?"
)
_NOT_NUMBERS = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+Z?)?|\b\d{1,2}:\d{2}(?::\d{2})?\b|\bpass[@^]\d+|https?://\S+"
    r"|\b(?:sections?|lines?|findings?|steps?|repeat|rollout|attempt|figure|tables?|page|seed|version|top|k|step|item)\s?[-=#]?\s?\d+(?:\s*(?:-|to|and|,)\s*\d+)*\b(?!\s*(?:%|of|\.\d))"
    r"|\bv?\d+\.\d+\.\d+\b|\(\d\)(?=\s)|\b[0-9a-f]{8,}\b|\b\d{1,3}-\d?-?(?:bit|shot|way|step)\b",
    re.IGNORECASE,
)
_QUOTE = re.compile(
    r'(?<![\w"{}\]:,.])"(?=\S)([^\n]{1,600}?)(?<=\S)"(?=[.;!?)\]\s]|,(?!")|:\s|$)|\u201c([^\u201d\n]{2,600})\u201d'
)
"""A quotation opens before a word and closes after one; marks inside JSON do neither."""
_REDACTED = re.compile(r"\[redacted:\s*([^\]\n]{1,80})\]", re.IGNORECASE)


class Number(Struct, frozen=True):
    """A number as a report writes it."""

    start: int
    end: int
    token: str
    value: float
    decimals: int
    percent: bool


class Quote(Struct, frozen=True):
    """Words between quotation marks, or between backticks when they are long enough to be quoted words."""

    start: int
    end: int
    words: str


def redactions(passage: Passage) -> list[tuple[int, int]]:
    """Ranges that somebody blacked out."""
    return [found.span() for found in _REDACTED.finditer(passage.text)]


def quotes(passage: Passage) -> list[Quote]:
    """Everything that claims to be somebody's words; names of tools and fields are not."""
    found = []
    for one in _QUOTE.finditer(_without_code(passage)):
        group = 1 if one.group(1) is not None else 2
        found.append(Quote(*one.span(), passage.text[one.start(group) : one.end(group)]))
    for start, end in passage.code:
        words = passage.text[start:end]
        if (" " in words.strip() or len(words) > 24 or words[:1] in '{["') and not _inside((start, end), found):
            found = [one for one in found if not (start <= one.start and one.end <= end)]
            found.append(Quote(start, end, words))
    return sorted(found, key=lambda one: one.start)


def _without_code(passage: Passage) -> str:
    """The text with the quotation marks of code made into other characters."""
    parts, at = [], 0
    for start, end in sorted(passage.code):
        parts += [passage.text[at:start], passage.text[start:end].replace('"', "\0")]
        at = end
    return "".join((*parts, passage.text[at:]))


def _inside(span: tuple[int, int], quotes: list[Quote]) -> bool:
    return any(one.start <= span[0] and span[1] <= one.end for one in quotes)


def numbers(passage: Passage, names: Names) -> list[Number]:
    """The numbers that state something, in order."""
    taken = list(_taken(passage, names))
    return [
        _number(found)
        for found in _NUMBER.finditer(passage.text)
        if not any(start < found.end() and found.start() < end for start, end in taken)
    ]


def _number(found: re.Match[str]) -> Number:
    token = found.group().rstrip("% ").rstrip()
    bare = token.replace(",", "").replace("\u2212", "-")
    _, _, after = bare.partition(".")
    return Number(found.start(), found.start() + len(token), token, float(bare), len(after), bool(found.group(1)))


def _taken(passage: Passage, names: Names) -> Iterator[tuple[int, int]]:
    """Ranges whose digits are part of a name, a place, a date, a quotation or code."""
    text = passage.text
    yield from passage.code
    yield from redactions(passage)
    for quote in quotes(passage):
        yield quote.start, quote.end
    for named in (*names.runs_in(text), *names.tasks_in(text)):
        yield named.start, named.end
    for place in names.locations_in(text):
        yield place.start, place.end
    for found in _NOT_NUMBERS.finditer(text):
        yield found.span()
