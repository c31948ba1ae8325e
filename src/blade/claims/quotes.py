"""Rollouts that a report points at: whether they exist, how they ended, and whether the words quoted from them stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from blade.claims.binding import Sentence, runs_of, sentences
from blade.claims.markdown import Passage, ReportTable
from blade.claims.names import Location, Names, Quote, quotes
from blade.claims.values import Judgment, fails, holds, not_checkable
from blade.evidence.verbatim import in_order, pieces, texts_of
from blade.model.errors import BladeError
from blade.model.rollout import Rollout

Key = tuple[str, str, int]
"""Run, task and repeat."""


class Rollouts(Struct, frozen=True, dict=True):
    """Looks rollouts up, and reads those that are asked for once."""

    names: Names
    _read: dict[Key, Rollout | None] = field(default_factory=dict)
    _texts: dict[Key, dict[int | None, str]] = field(default_factory=dict)

    @cached_property
    def outcomes(self) -> dict[Key, str]:
        """How each rollout ended."""
        return {
            (name, task, repeat): outcome
            for name, one in self.names.runs.items()
            for task, repeat, outcome in one.run.rollouts.select("task_id", "repeat", "outcome").iter_rows()
        }

    def repeats(self, run: str, task_id: str) -> list[Key]:
        """The rollouts of a task, in order."""
        return sorted(key for key in self._by_task.get((run, task_id), ()))

    @cached_property
    def _by_task(self) -> dict[tuple[str, str], list[Key]]:
        found: dict[tuple[str, str], list[Key]] = {}
        for key in self.outcomes:
            found.setdefault(key[:2], []).append(key)
        return found

    def rollout(self, key: Key) -> Rollout | None:
        """The rollout with its steps; None when its artifact is out of reach."""
        if key not in self._read:
            run, task, repeat = key
            try:
                self._read[key] = self.names.runs[run].run.reread([(task, repeat)])[0]
            except (BladeError, OSError, IndexError):
                self._read[key] = None
        return self._read[key]

    def steps(self, key: Key) -> frozenset[int] | None:
        """The steps that a rollout has; None when it cannot be read or has no trajectory."""
        rollout = self.rollout(key)
        steps = rollout.steps if rollout is not None else None
        return frozenset(step.index for step in steps) if steps is not None else None

    def holds(self, key: Key, words: str) -> tuple[int | None, ...] | None:
        """The steps in which words stand, None for the row itself; empty where in none; None when it cannot be read."""
        if self.rollout(key) is None:
            return None
        parts = pieces(words)
        if not parts:
            return None
        return tuple(step for step, text in self._text(key).items() if in_order(parts, text))

    def _text(self, key: Key) -> dict[int | None, str]:
        if key not in self._texts:
            rollout = self._read[key]
            assert rollout is not None
            self._texts[key] = dict(texts_of(rollout))
        return self._texts[key]


_ENDED = {
    "passing": "passed", "passed": "passed", "passes": "passed", "succeeds": "passed", "succeeded": "passed",
    "successful": "passed", "failing": "failed", "failed": "failed", "fails": "failed", "errored": "errored",
}  # fmt: skip
_WORD = "|".join(_ENDED)
_BEFORE = re.compile(rf"\b({_WORD})\s+(?:rollout\s+|repeat\s+)?$", re.IGNORECASE)
_AFTER = re.compile(rf"[\s(]+(?:has\s+|is\s+a\s+)?({_WORD})\b(?!\s+(?:rollout|to\b|\w+#))", re.IGNORECASE)
_BRACKET = re.compile(r"[.,]?\s*[(\[]\s*(?:at\s+)?")
_STEP = re.compile(r"[,.]?\s*\(?(?:in|at)\s+step\s+(\d{1,6})\b")
_NEAR = 40
_SHORTEST = 3
_LONG = 12


def judged_locations(passage: Passage, names: Names, rollouts: Rollouts) -> Iterator[Judgment]:
    """Places that do not exist, how the rollouts there ended, and the quotations given for them."""
    if not names.runs:
        for quote in quotes(passage):
            span = (quote.start, quote.end)
            yield not_checkable(passage, span, kind="quote", why="no runs were given to look it up in")
        return
    places = _whole(names.locations_in(passage.text))
    for sentence in sentences(passage):
        mine = [one for one in places if sentence.start <= one.start < sentence.end]
        for place in mine:
            yield from _place(sentence, place, names, rollouts)
            yield from _ending(sentence, place, names, rollouts)
    yield from _quotations(passage, places, names, rollouts)


def _whole(places: Sequence[Location]) -> list[Location]:
    """Places in which `:6` has the rollout that was named before it."""
    found: list[Location] = []
    for place in places:
        if place.short and found:
            place = replace(place, task_id=found[-1].task_id, repeat=found[-1].repeat)  # noqa: PLW2901
        if not place.short or place.task_id:
            found.append(place)
    return found


def _keys(sentence: Sentence, place: Location, names: Names, rollouts: Rollouts) -> tuple[list[Key], tuple[str, ...]]:
    """The rollouts that a place may be, and the runs that were looked in."""
    runs = runs_of(sentence, place.start, place.end, names)
    runs = tuple(names.runs) if runs == ("*",) else runs
    wanted = [(run, place.task_id, place.repeat) for run in runs if place.repeat is not None]
    return [key for key in wanted if key in rollouts.outcomes], runs


def _place(sentence: Sentence, place: Location, names: Names, rollouts: Rollouts) -> Iterator[Judgment]:
    keys, runs = _keys(sentence, place, names, rollouts)
    span = (place.start, place.end)
    if not keys and _is_place(place, names):
        why = "no such rollout" if place.task_id in names.tasks else "no such task"
        found = ", ".join(f"{key[1]}#{key[2]}" for run in runs for key in rollouts.repeats(run, place.task_id)[:6])
        yield fails(sentence.passage, span, kind="id", found=found or "none", source=_runs(runs), why=why)
    elif keys and place.step is not None:
        steps = [rollouts.steps(key) for key in keys]
        known = [one for one in steps if one is not None]
        if len(known) == len(steps) and not any(place.step in one for one in known):
            last = max((max(one, default=0) for one in known), default=0)
            yield fails(
                sentence.passage, span, kind="id", found=f"steps 0 to {last}", source=_runs(runs), why="no such step"
            )


def _is_place(place: Location, names: Names) -> bool:
    """Whether words of this form can only be meant as a place."""
    if place.short:
        return False
    shaped = any(shape.fullmatch(place.task_id) for shape in names.shapes)
    return place.task_id in names.tasks or shaped or (place.step is not None and place.task_id.isdigit())


def _runs(runs: Sequence[str]) -> str:
    return f"rollouts of {', '.join(runs)}"


def _ending(sentence: Sentence, place: Location, names: Names, rollouts: Rollouts) -> Iterator[Judgment]:
    """`failing calendar-4#0` and `calendar-4#0 failed`."""
    text = sentence.passage.text
    found = _BEFORE.search(text[: place.start]) or _AFTER.match(text, place.end)
    keys, runs = _keys(sentence, place, names, rollouts)
    if not found or not keys or place.short:
        return
    said = _ENDED[found.group(1).lower()]
    ended = {rollouts.outcomes[key] for key in keys}
    span, source = found.span(1), f"{_runs(runs)}: {place.task_id}#{place.repeat}"
    if said not in ended:
        yield fails(sentence.passage, span, kind="comparison", found=" or ".join(sorted(ended)), source=source)
    elif ended == {said}:
        yield holds(sentence.passage, span, kind="comparison", found=said, source=source)
        yield holds(sentence.passage, (place.start, place.end), kind="id", found=said, source=source)


def _quotations(passage: Passage, places: Sequence[Location], names: Names, rollouts: Rollouts) -> Iterator[Judgment]:
    """Each quotation with the place that it is given for."""
    everything = sentences(passage)
    found = quotes(passage)
    for quote in found:
        span = (quote.start, quote.end)
        whole = next((one for one in everything if one.start <= quote.start < one.end), None)
        place = _for(quote, places, passage.text, whole, [one for one in found if one != quote])
        if place is None or whole is None:
            keys = _of_task(whole, names, rollouts) if whole is not None else []
            yield (
                _looked_up(passage, quote, None, keys, rollouts)
                if keys
                else not_checkable(passage, span, kind="quote", why="no rollout is named for it")
            )
            continue
        keys, _ = _keys(whole, place, names, rollouts)
        verdict = _looked_up(passage, quote, place, keys, rollouts)
        if place.short and verdict.verdict == "false" and _several(place, places, whole):
            yield not_checkable(passage, span, kind="quote", why="several rollouts are named for it")
            continue
        yield verdict
        if verdict.verdict == "true" and _long(quote):
            yield replace(verdict, start=place.start, end=place.end, kind="id")


def _several(place: Location, places: Sequence[Location], whole: Sentence) -> bool:
    """Whether `:6` may be of more than one rollout that its sentence names before it."""
    mine = [one for one in places if whole.whole_start <= one.start < place.start and not one.short]
    return len({(one.task_id, one.repeat) for one in mine}) > 1


def _long(quote: Quote) -> bool:
    """Long enough to be somebody's words rather than a word that is held at a distance."""
    return len(quote.words.split()) >= _SHORTEST or len(quote.words) >= _LONG


def _of_task(sentence: Sentence, names: Names, rollouts: Rollouts) -> list[Key]:
    """Every repeat of the one task that a sentence names."""
    tasks = {one.name for one in names.tasks_in(sentence.passage.text[sentence.start : sentence.end])}
    if len(tasks) != 1:
        return []
    runs = runs_of(sentence, sentence.start, sentence.end, names)
    return [key for run in runs if run != "*" for key in rollouts.repeats(run, next(iter(tasks)))]


def _for(
    quote: Quote, places: Sequence[Location], text: str, whole: Sentence | None, others: Sequence[Quote]
) -> Location | None:
    """The place that a quotation is given for: right behind it, or the last one named before it."""
    behind = [one for one in places if one.start >= quote.end and _BRACKET.fullmatch(text[quote.end : one.start])]
    if behind:
        return behind[0]
    before = [one for one in places if one.end <= quote.start]
    near = [one for one in before if whole is not None and one.start >= whole.whole_start][-1:]
    near = [one for one in near if quote.start - one.end <= _NEAR]
    if not near:
        return None
    step = _STEP.match(text, quote.end)
    if step:
        return replace(near[-1], step=int(step.group(1)))
    spent = any(near[-1].end <= one.start < quote.start or _given(one, near[-1], text) for one in others)
    return replace(near[-1], step=None) if spent else near[-1]


def _given(quote: Quote, place: Location, text: str) -> bool:
    """Whether the place stands in brackets behind another quotation, whose place it then is."""
    return quote.end <= place.start and _BRACKET.fullmatch(text[quote.end : place.start]) is not None


def _looked_up(
    passage: Passage, quote: Quote, place: Location | None, keys: Sequence[Key], rollouts: Rollouts
) -> Judgment:
    span = (quote.start, quote.end)
    if not keys:
        return not_checkable(passage, span, kind="quote", why="the rollout that it is given for does not exist")
    looked = [(key, rollouts.holds(key, quote.words)) for key in keys]
    if any(steps is None for _, steps in looked):
        return not_checkable(passage, span, kind="quote", why="the rollout cannot be read")
    in_code = any(start <= quote.start and quote.end <= end for start, end in passage.code)
    where = [(key, step) for key, steps in looked for step in steps or ()]
    in_steps = [one for one in where if one[1] is not None]
    at = [one for one in in_steps or where if place is None or place.step is None or one[1] in (place.step, None)]
    if at:
        key, step = at[0]
        return holds(passage, span, kind="quote", found=_at(key, step), source=_at(key, step))
    if where:
        right = ", ".join(_at(*one) for one in where[:3])
        return fails(passage, span, kind="quote", found=right, source=right, why="it stands in another step")
    if in_code or not _long(quote):
        return not_checkable(passage, span, kind="quote", why="it need not be words of the rollout")
    source = f"{keys[0][0]}: {', '.join(dict.fromkeys(f'{task}#{repeat}' for _, task, repeat in keys))}"
    return fails(passage, span, kind="quote", found="no such words", source=source, why="the rollout does not hold it")


def _at(key: Key, step: int | None) -> str:
    run, task, repeat = key
    return f"{run}, {task}#{repeat}" + (f":{step}" if step is not None else "")


def judged_outcomes(table: ReportTable, names: Names, rollouts: Rollouts) -> Iterator[Judgment]:
    """Tables of rollouts with how each ended."""
    heads = [head.text.strip().lower() for head in table.head]
    seen: set[str] = set()
    for row in table.rows:
        place = next(iter(_whole(names.locations_in(row[0].text))), None)
        if place is not None and row[0].text in seen and len(heads) == 2:
            span = (place.start, place.end)
            yield fails(row[0], span, kind="id", found="it has a row already", source="the table itself")
        seen.add(row[0].text)
        for cell, head in zip(row[1:], heads[1:], strict=True):
            said = _ENDED.get(cell.text.strip().lower())
            if place is not None and said is not None and head in ("outcome", "result", "verdict"):
                yield from _outcome(row[0], place, cell, said, names, rollouts)


def _outcome(
    label: Passage, place: Location, cell: Passage, said: str, names: Names, rollouts: Rollouts
) -> Iterator[Judgment]:
    keys, runs = _keys(Sentence(label, 0, len(label.text), 0, len(label.text)), place, names, rollouts)
    ended = {rollouts.outcomes[key] for key in keys}
    source, span = f"{_runs(runs)}: {place.task_id}#{place.repeat}", (0, len(cell.text))
    if ended and said not in ended:
        yield fails(cell, span, kind="comparison", found=" or ".join(sorted(ended)), source=source)
    elif ended == {said}:
        yield holds(cell, span, kind="comparison", found=said, source=source)
        yield holds(label, (place.start, place.end), kind="id", found=said, source=source)
