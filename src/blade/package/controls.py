"""Reports that must not pass: made from a golden report by rules that keep its looks and take away its truth."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from blade.claims.binding import sentences
from blade.claims.markdown import Document, Passage, parse
from blade.claims.names import Number, numbers
from blade.package.claims import LONGEST, read
from blade.package.ids import NO_NAMES, is_place, mentions, task_of, veiled

_FEWEST_EDITS = 5
_HEADINGS, _NUMBERS, _A_LINE = 8, 20, 12


@dataclass(frozen=True, kw_only=True)
class Control:
    """A report that must score low, or why there is none."""

    name: str
    what: str
    text: str | None
    why_not: str = ""


@dataclass(frozen=True)
class _Edit:
    line: int
    start: int
    end: int
    words: str


def controls(golden: str) -> tuple[Control, ...]:
    """Every control that can be made of a golden report; the same report gives the same ones."""
    return tuple(make(golden) for make in _MAKERS)


def _chance(golden: str, name: str) -> random.Random:
    seed = hashlib.sha256(f"{name}\0{golden}".encode("utf-8", errors="replace")).digest()
    return random.Random(int.from_bytes(seed[:8], "big"))


def _edited(name: str, what: str, lines: Sequence[str], edits: Sequence[_Edit], lacking: str) -> Control:
    """The report with its edits; no control where there are too few to change what it says."""
    if len(edits) < _FEWEST_EDITS:
        return Control(name=name, what=what, text=None, why_not=f"the report has {len(edits)} {lacking}")
    made = list(lines)
    for one in sorted(edits, key=lambda one: (one.line, -one.start)):
        made[one.line] = made[one.line][: one.start] + one.words + made[one.line][one.end :]
    return Control(name=name, what=what, text="\n".join(made))


def _edit(passage: Passage, start: int, end: int, words: str) -> Iterator[_Edit]:
    """An edit of the source, where the range stands on one line of it."""
    if start < len(passage.spots):
        first, last = passage.spots[start], passage.spots[max(start, end - 1)]
        if first[0] == last[0]:
            yield _Edit(first[0], first[1], last[1] + (end > start), words)


def _readable(document: Document) -> list[Passage]:
    return [one for one in document.everything if len(one.text) <= LONGEST]


def _randomized(golden: str) -> Control:
    chance, document = _chance(golden, "numbers"), parse(golden)
    edits = []
    for passage in _readable(document):
        taken = mentions(passage)
        for number in numbers(passage, NO_NAMES):
            if not any(one.start < number.end and number.start < one.end for one in taken):
                edits += list(_edit(passage, number.start, number.end, _other(number, chance)))
    return _edited("random-numbers", "every number is another", document.lines, edits, "numbers")


def _other(number: Number, chance: random.Random) -> str:
    """A number of the same form, far enough from the right one."""
    unit = 10.0**-number.decimals
    span = 1.0 if number.decimals and 0 <= number.value <= 1 else max(12.0, 3 * abs(number.value))
    for _ in range(50):
        made = round(chance.uniform(0, span), number.decimals)
        if abs(made - number.value) > max(unit, 0.25 * abs(number.value)):
            break
    return f"{made:.{number.decimals}f}"


_TURNED = {
    "passes": "fails", "fails": "passes", "passed": "failed", "failed": "passed", "passing": "failing",
    "failing": "passing", "always": "never", "never": "always", "more": "fewer", "fewer": "more", "higher": "lower",
    "lower": "higher", "highest": "lowest", "lowest": "highest", "ahead": "behind", "behind": "ahead",
    "outperforms": "trails", "trails": "outperforms", "weakest": "strongest", "strongest": "weakest",
    "hardest": "easiest", "easiest": "hardest", "largest": "smallest", "smallest": "largest",
    "faster": "slower", "slower": "faster", "no": "every", "neither": "either", "most": "least", "without": "with",
}  # fmt: skip
_NOT = re.compile(r"\s+not\b(?!\s+only)")
_TURNABLE = re.compile(rf"\b(?:{'|'.join(_TURNED)})\b", re.IGNORECASE)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will)\b(?!\s+not)")
_BEGINNING = re.compile(r"^\W*")


def _negated(golden: str) -> Control:
    document = parse(golden)
    edits = [one for passage in _readable(document) if passage.kind != "heading" for one in _denials(passage)]
    return _edited("negated", "every sentence says the opposite", document.lines, edits, "sentences")


def _denials(passage: Passage) -> Iterator[_Edit]:
    masked = veiled(passage, "\0")
    if passage.kind == "cell":
        found = re.fullmatch(r"passed|failed|passes|fails", passage.text)
        yield from _edit(passage, 0, len(passage.text), _TURNED[found.group()]) if found else ()
        return
    for clause in sentences(passage):
        words = masked[clause.start : clause.end]
        if len(words.split()) >= _FEWEST_EDITS - 2:
            yield from _denial(passage, clause.start, words)


def _denial(passage: Passage, start: int, words: str) -> Iterator[_Edit]:
    """One change that makes the clause say the opposite."""
    gone, turned, verb = _NOT.search(words), _TURNABLE.search(words), _VERB.search(words)
    if gone:
        yield from _edit(passage, start + gone.start(), start + gone.end(), "")
    elif turned:
        other = _TURNED[turned.group().lower()]
        yield from _edit(passage, start + turned.start(), start + turned.end(), other)
    elif verb:
        yield from _edit(passage, start + verb.start(), start + verb.end(), f"{verb.group()} not")
    else:
        begin = _BEGINNING.match(words)
        at = start + (begin.end() if begin else 0)
        if at < len(passage.text):
            yield from _edit(passage, at, at + 1, f"It is not true that {passage.text[at]}")


def _moved(golden: str) -> Control:
    """Every task becomes another one of the report."""
    document = parse(golden)
    tasks = sorted({task_of(name) for one in read(golden).statements for name in one.ids if is_place(name)})
    chance = _chance(golden, "moved")
    shift = chance.randrange(1, len(tasks)) if len(tasks) > 1 else 0
    to = {task: tasks[(number + shift) % len(tasks)] for number, task in enumerate(tasks)}
    edits = [one for passage in _readable(document) for one in _moves(passage, to)] if shift else []
    return _edited(
        "moved-evidence", "what was seen in one task is told of another", document.lines, edits, "tasks named"
    )


def _moves(passage: Passage, to: dict[str, str]) -> Iterator[_Edit]:
    for one in mentions(passage):
        task, written = task_of(one.name), passage.text[one.start : one.end]
        if task in to and written.lower().startswith(task):
            yield from _edit(passage, one.start, one.start + len(task), to[task])


def _word_list(golden: str) -> Control:
    words = sorted(set(re.findall(r"[^\s|#*`]+", golden)))
    heads = [f"## Section {number}" for number in range(1, _HEADINGS + 1)]
    found = [" ".join(words[at : at + _A_LINE]) for at in range(0, len(words), _A_LINE)]
    text = "\n\n".join((*heads, " ".join(map(str, range(1, _NUMBERS + 1))), "\n".join(found)))
    return Control(name="word-list", what="its words in alphabetical order, eight headings, twenty numbers", text=text)


def _shuffled(golden: str) -> Control:
    chance = _chance(golden, "shuffled")
    lines = golden.splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.replace("|", " ").split()]
    chance.shuffle(words)
    made = []
    for line in lines:
        count = len(line.replace("|", " ").split())
        made.append(line if line.startswith("#") else " ".join(words.pop() for _ in range(min(count, len(words)))))
    return Control(name="shuffled-words", what="its words in random order", text="\n".join(made))


_MAKERS: tuple[Callable[[str], Control], ...] = (_randomized, _negated, _moved, _word_list, _shuffled)


def other_report(text: str | None) -> Control:
    """The report of another model as a control."""
    why = "" if text is not None else "no report of another model was given or stands beside the golden report"
    return Control(name="other-model", what="the report of another model", text=text, why_not=why)
