"""Claims in words: one run ahead of another, the hardest slice, tasks of a bucket, the largest drop, nothing missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from blade.claims.binding import Sentence, narrowed, runs_of, scope_of, sentences
from blade.claims.facts import KnownNumbers
from blade.claims.markdown import Passage, ReportTable
from blade.claims.names import BUCKETS, Named, Names, plain
from blade.claims.tables import table_runs
from blade.claims.values import Judgment, fails, holds

_NOT = r"(?P<not>does\s+not\s+|doesn't\s+|is\s+not\s+|isn't\s+|did\s+not\s+|never\s+|not\s+)?"
_AHEAD = re.compile(
    rf"^[\s,*]*{_NOT}(?:is\s+|was\s+|scores\s+|scored\s+|performs?\s+|clearly\s+|also\s+|still\s+|far\s+|much\s+)*(?:{_NOT.replace('<not>', '<not2>')})"
    r"(?:(?P<up>outperforms?|outperformed|beats?|leads?|exceeds?|surpass(?:es)?|ahead\s+of|better\s+than|stronger\s+than|higher\s+than)"
    r"|(?P<down>trails?|lags?(?:\s+behind)?|underperforms?|behind|worse\s+than|weaker\s+than|lower\s+than))[\s*]*$",
    re.IGNORECASE,
)
_BEST = r"easiest|strongest|best|highest"
_WORST = r"hardest|weakest|worst|lowest"
_BUCKET = r"(?P<bucket>always|sometimes|never)[-\s]pass\w*"
_LIST_AFTER = re.compile(
    rf"(?<!no ){_BUCKET}(?:\s+tasks?)?(?:\s+(?:of|for|in)\s+[\w.-]+)?(?:\s+\(\d+\))?\s*(?::|\(|\u2014|,?\s+(?:is|are|include[sd]?|such\s+as|like|namely)\b)\s*(?:only\s+)?(?:\d+\s*[:,]\s*)?$",
    re.IGNORECASE,
)
_AFTER_IDS = re.compile(
    rf"^[\s*]*(?:(?:is|are)\s+)(?P<not>not\s+)?(?:all\s+|both\s+)?(?:a\s+)?{_BUCKET}|^[\s*]*(?:\()?(?P<verb>never|always|sometimes)\s+pass(?:es)?\b",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?P<no>no|none\s+of\s+the|not\s+a\s+single|some|several|many)\s+(?:rollouts?\s+|tasks?\s+)?(?:is|are|was|were)?\s*(?P<what>missing|errored|unscored)\b",
    re.IGNORECASE,
)
_DROP = re.compile(r"\b(?:largest|biggest|steepest)\s+(?:drop|loss)\b", re.IGNORECASE)
_COMMON = re.compile(
    r"\b(?:most\s+common|dominant|commonest|most\s+frequent|largest)\s+(?:failure\s+)?mode\b", re.IGNORECASE
)
_NEITHER = re.compile(
    r"\bneither\s+(?:model|run)\s+(?:ever\s+)?(?:solves|passes)\b|\bboth\s+(?:models|runs)\s+(?:never\s+pass|always\s+fail|fail\s+every)\b",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\bboth\s+(?:models|runs)\s+always\s+pass\b", re.IGNORECASE)


class World(Struct, frozen=True):
    """What claims in words are looked up in."""

    names: Names
    facts: KnownNumbers

    def value(self, run: str, scope: str, subject: str) -> float | None:
        found = self.facts.of(run, scope, subject)
        return found[0].value if found else None

    def bucket(self, run: str, task_id: str) -> str | None:
        """The bucket that a task of a run is in."""
        buckets = self.names.runs[run].metrics.bucket_tasks
        return next((name for name, tasks in buckets.items() if task_id in tasks), None)


def judged_words(passage: Passage, world: World) -> Iterator[Judgment]:
    """Every claim in words of a passage that can be looked up."""
    if not world.names.runs:
        return
    for sentence in sentences(passage):
        for check in _CHECKS:
            yield from check(sentence, world)


def _span(sentence: Sentence, found: re.Match[str], group: str | int = 0) -> tuple[int, int]:
    return sentence.start + found.start(group), sentence.start + found.end(group)


def _verdict(
    sentence: Sentence, span: tuple[int, int], true: bool, found: str, source: str, kind: str = "comparison"
) -> Judgment:
    if true:
        return holds(sentence.passage, span, kind=kind, found=found, source=source)
    return fails(sentence.passage, span, kind=kind, found=found, source=source)


def _ahead(sentence: Sentence, world: World) -> Iterator[Judgment]:
    """One run before another by the score, or by that of a slice."""
    text = sentence.passage.text
    mine = [one for one in world.names.runs_in(text) if sentence.start <= one.start < sentence.end]
    for first, second in pairwise(mine):
        found = _AHEAD.match(text[first.end : second.start])
        scope = scope_of(sentence, first.start, world.names)
        if found is None or scope is None or first.name == second.name or narrowed(sentence):
            continue
        left, right = (world.value(one.name, scope, "rate") for one in (first, second))
        if left is None or right is None or left == right:
            continue
        said_up = bool(found.group("up")) != bool(found.group("not") or found.group("not2"))
        group = "up" if found.group("up") else "down"
        span = (first.end + found.start(group), first.end + found.end(group))
        yield _verdict(sentence, span, (left > right) == said_up, f"{left:.3f} against {right:.3f}", "metrics.json")


def _denied(sentence: Sentence) -> bool:
    return re.search(r"\b(?:is|are|was|were|does|do)\s+not\b|n't\b|\bnever\b", sentence.text, re.IGNORECASE) is not None


def _superlative(sentence: Sentence, world: World) -> Iterator[Judgment]:
    """`hard is the weakest slice`, `the easiest category is directory`."""
    for field in sorted(world.names.slice_fields):
        values = [value for value, fields in world.names.slices.items() if field in fields]
        either = "|".join(map(re.escape, sorted(values, key=lambda one: -len(one))))
        label = rf"(?:{re.escape(field).replace('_', '[_ ]')}|slice|group|tasks)"
        ways = (
            rf"\b(?P<value>{either})\b\W{{0,2}}\s*(?:tasks\s+)?(?:is|are|remains?|has|have)\s+the\s+(?P<word>{_BEST}|{_WORST})\b(?=\s+(?:{label}|pass\s+rate|score)|\s*[.,;)]|$)",
            rf"\bthe\s+(?P<word>{_BEST}|{_WORST})\s+{label}\s+(?:is|was|are)\s+\W?(?P<value>{either})\b",
        )
        for way in ways:
            for found in re.finditer(way, sentence.text, re.IGNORECASE):
                yield from _extreme(sentence, found, field, values, world)


def _extreme(
    sentence: Sentence, found: re.Match[str], field: str, values: Sequence[str], world: World
) -> Iterator[Judgment]:
    span = _span(sentence, found, "word")
    runs = [run for run in runs_of(sentence, *span, world.names) if run in world.names.runs]
    best = re.fullmatch(_BEST, found.group("word"), re.IGNORECASE) is not None
    right: list[str] = []
    for run in runs:
        rates = {value: world.value(run, f"slice:{field}={value}", "rate") for value in values}
        known = {value: rate for value, rate in rates.items() if rate is not None}
        top = (max if best else min)(known.values(), default=None)
        right += [value for value, rate in known.items() if rate == top]
    agree = len(set(right)) == 1 or len(runs) == 1
    said = found.group("value").lower()
    if right and (agree or said not in right):
        yield _verdict(
            sentence,
            span,
            (said in right) != _denied(sentence),
            " or ".join(dict.fromkeys(right)),
            f"metrics.json: slices.{field}",
        )


def _listed(sentence: Sentence, world: World) -> Iterator[Judgment]:
    """Tasks that are said to be in a bucket."""
    for group in _groups(sentence, world.names):
        before, after = sentence.passage.text[sentence.start : group[0].start], group[-1].end
        lead = _LIST_AFTER.search(before)
        tail = _AFTER_IDS.match(sentence.passage.text[after : sentence.end])
        if lead:
            yield from _in_bucket(sentence, group, lead.group("bucket"), world)
        elif tail and not tail.groupdict().get("not"):
            yield from _in_bucket(sentence, group, tail.group("bucket") or tail.group("verb"), world)


def _groups(sentence: Sentence, names: Names) -> list[list[Named]]:
    """Tasks named in a row, with only commas and `and` between them."""
    text = sentence.passage.text
    groups: list[list[Named]] = []
    for one in (one for one in names.tasks_in(text) if sentence.start <= one.start < sentence.end):
        if re.match(r"#\d", text[one.end : one.end + 2]):
            continue
        if groups and re.fullmatch(r"[\s,`*]*(?:and|&)?[\s`*]*", text[groups[-1][-1].end : one.start]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _in_bucket(sentence: Sentence, group: Sequence[Named], word: str, world: World) -> Iterator[Judgment]:
    for number, one in enumerate(group):
        if one.name in {earlier.name for earlier in group[:number]}:
            span = (one.start, one.end)
            yield fails(sentence.passage, span, kind="id", found="it is named already", source="the list itself")
        runs = runs_of(sentence, one.start, one.end, world.names)
        yield from bucket_verdict(sentence.passage, one, BUCKETS[word.lower()], runs, world)


def bucket_verdict(passage: Passage, task: Named, wanted: str, runs: Sequence[str], world: World) -> Iterator[Judgment]:
    """Whether a task is in a bucket, for the runs that may be meant."""
    known = [found for run in runs if run in world.names.runs and (found := world.bucket(run, task.name))]
    span = (task.start, task.end)
    if known and wanted not in known:
        right = " or ".join(dict.fromkeys(known)).replace("_", " ")
        yield fails(passage, span, kind="id", found=right, source="tasks.jsonl", why="it is in another bucket")
    elif known and set(known) == {wanted}:
        yield holds(passage, span, kind="id", found=wanted.replace("_", " "), source="tasks.jsonl")


def _nothing(sentence: Sentence, world: World) -> Iterator[Judgment]:
    """`no rollout is missing`."""
    for found in _NONE.finditer(sentence.text):
        span = _span(sentence, found, "no")
        runs = [run for run in runs_of(sentence, *span, world.names) if run in world.names.runs]
        counts = [world.value(run, "", found.group("what").lower()) for run in runs]
        known = [count for count in counts if count is not None]
        none = not re.fullmatch(r"some|several|many", found.group("no"), re.IGNORECASE)
        if known and not narrowed(sentence) and (not any(known) or all(known)):
            yield _verdict(
                sentence, span, none != any(known), f"{max(known):.0f}", f"metrics.json: {found.group('what')}_rollouts"
            )


def _drop(sentence: Sentence, world: World) -> Iterator[Judgment]:
    """The stage at which most are lost."""
    found = _DROP.search(sentence.text)
    runs = [run for run in runs_of(sentence, sentence.start, sentence.end, world.names) if run in world.names.runs]
    if found is None or len(runs) != 1:
        return
    drop = world.names.runs[runs[0]].metrics.funnel.largest_drop
    words = plain(sentence.text[found.end() :])
    named = [
        (words.rfind(stage), stage) for stage in world.names.stages if re.search(rf"\b{re.escape(stage)}\b", words)
    ]
    if drop is not None and named and len(named) == 1:
        true = (named[0][1] == plain(drop.name)) != _denied(sentence)
        yield _verdict(sentence, _span(sentence, found), true, drop.name, "metrics.json: funnel")


def _commonest(sentence: Sentence, world: World) -> Iterator[Judgment]:
    """The mode that most failures have."""
    found = _COMMON.search(sentence.text)
    runs = [run for run in runs_of(sentence, sentence.start, sentence.end, world.names) if run in world.names.runs]
    diagnosis = world.names.runs[runs[0]].diagnosis if found and len(runs) == 1 else None
    if found is None or diagnosis is None or not diagnosis.partition.modes:
        return
    words = plain(sentence.text)
    named = [mode for mode in diagnosis.partition.modes if plain(mode.name) in words]
    most = max(mode.rollouts for mode in diagnosis.partition.modes)
    right = [mode.name for mode in diagnosis.partition.modes if mode.rollouts == most]
    if len(named) == 1:
        true = (named[0].name in right) != _denied(sentence)
        yield _verdict(sentence, _span(sentence, found), true, " or ".join(right), "findings.json: modes")


def _together(sentence: Sentence, world: World) -> Iterator[Judgment]:
    """Tasks that no run passes, or that all always pass."""
    for way, subject in ((_NEITHER, "passed"), (_BOTH, "failed")):
        found = way.search(sentence.text)
        if found is None or len(world.names.runs) != 2:
            continue
        for task in (
            one for one in world.names.tasks_in(sentence.passage.text) if sentence.start <= one.start < sentence.end
        ):
            values = [world.value(run, f"task:{task.name}", subject) for run in world.names.runs]
            if None not in values:
                true = not any(values)
                span = (task.start, task.end)
                told = ", ".join(
                    f"{run} {value:.0f} {subject}" for run, value in zip(world.names.runs, values, strict=True)
                )
                yield _verdict(sentence, span, true, told, "tasks.jsonl", kind="id")


_CHECKS: tuple[Callable[[Sentence, World], Iterator[Judgment]], ...] = (
    _ahead,
    _superlative,
    _listed,
    _nothing,
    _drop,
    _commonest,
    _together,
)


def judged_lists(table: ReportTable, world: World) -> Iterator[Judgment]:
    """Tables of buckets with their tasks, and of tasks with their buckets."""
    heads = [plain(head.text) for head in table.head]
    for row in table.rows:
        named = re.fullmatch(r"(always|sometimes|never)(?: pass\w*)?(?: tasks)?", plain(row[0].text))
        for cell, head in zip(row[1:], heads[1:], strict=True):
            runs = _table_runs(table, row, world.names)
            tasks = world.names.tasks_in(cell.text)
            if named and head in ("which", "tasks", "task ids", "ids", "examples", "task", "which tasks"):
                for task in tasks:
                    yield from bucket_verdict(cell, task, BUCKETS[named.group(1)], runs, world)
            elif head in ("bucket", "outcome bucket"):
                yield from _bucket_of_row(row[0], cell, runs, world)


def _bucket_of_row(label: Passage, cell: Passage, runs: Sequence[str], world: World) -> Iterator[Judgment]:
    tasks = world.names.tasks_in(label.text)
    word = re.match(r"(always|sometimes|never)", plain(cell.text))
    if len(tasks) == 1 and word:
        yield from bucket_verdict(label, tasks[0], BUCKETS[word.group(1)], runs, world)


def _table_runs(table: ReportTable, row: Sequence[Passage], names: Names) -> tuple[str, ...]:
    found = {one.name for cell in row for one in names.runs_in(cell.text)}
    return tuple(found) if len(found) == 1 else table_runs(table, names)
