"""A report that BLADE wrote, held against the same report made again from the data, line by line and word by word.

Every sentence of ours is known: the report is made anew from the runs, and each line is paired with its own. A number,
id, name or quotation that differs is false, and the line made anew has the right one. What the report was asked for is
read from it first, since without it the same report cannot be made again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

OWN_SHARE = 0.5
"""Lines that must be as we write them before a report counts as ours."""
FEWEST_LINES = 4
ALIKE = 0.6
"""How alike two lines must be to be the same sentence."""
_TOKEN = re.compile(r"-?\d[\d,]*(?:\.\d+)?%?|\w+|[^\w\s]")
_TELLING = frozenset(
    (  # noqa: SIM905 - a list would take a line for each word
        "no not never none neither nor without all every always some sometimes only any both each most least more "
        "fewer less higher lower highest lowest better worse best worst above below largest smallest first last "
        "before after pass passes passed passing fail fails failed failing errored unscored missing agree agrees "
        "cannot can is isn does doesn did didn true false same other another direct statistically supported "
        "consistent mixed harmless unclear settled sure likely weak knowledge unreliable behavior task infra data "
        "agent user tool harness verifier unknown several rough improved regressed equivalent inconclusive yes "
        "changed gained lost against for"
    ).split()
)
"""Words that turn the sense of a sentence of ours; a change of another word is a matter of style."""


class Pair(Struct, frozen=True):
    """A line of the report, and the line that we write for the same data."""

    line: int
    own: int
    text: str
    same: bool


class Changed(Struct, frozen=True):
    """A range of columns of a line that is not as the data has it; `telling` when its sense may be another."""

    start: int
    end: int
    right: str
    telling: bool


def best_own(lines: Sequence[str], texts: Sequence[str]) -> list[str] | None:
    """The lines of that text of ours which the report follows; None when it follows none."""
    said = {line.rstrip() for line in lines if re.search(r"\w", line) and not line.startswith("## ")}
    best, share = None, OWN_SHARE
    for text in texts:
        own = text.split("\n")
        known = {line.rstrip() for line in own}
        found = len(said & known) / len(said) if len(said) >= FEWEST_LINES else 0.0
        if found >= share:
            best, share = own, found
    return best


def pairs(lines: Sequence[str], own: Sequence[str]) -> Iterator[Pair]:
    """Each line of the report that has its own among ours, in order."""
    ours, theirs = [line.rstrip() for line in own], [line.rstrip() for line in lines]
    for tag, first, last, own_first, own_last in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if tag == "equal":
            for number in range(last - first):
                yield Pair(first + number, own_first + number, ours[own_first + number], same=True)
        elif tag == "replace":
            yield from _likeliest(theirs, ours, range(first, last), range(own_first, own_last))


def _likeliest(theirs: Sequence[str], ours: Sequence[str], mine: range, left: range) -> Iterator[Pair]:
    """Lines of a changed block with the line of ours that is most like each, none taken twice and none crossing."""
    after = left.start
    for number in mine:
        if not theirs[number].strip():
            continue
        near = [(_alike(theirs[number], ours[other]), -other) for other in range(after, left.stop)]
        ratio, other = max(near, default=(0.0, 0))
        if ratio >= ALIKE or (len(mine) == len(left) == 1 and ratio > 0):
            yield Pair(number, -other, ours[-other], same=False)
            after = -other + 1


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, _TOKEN.findall(one), _TOKEN.findall(other), autojunk=False).ratio()


def changes(line: str, own: str) -> Iterator[Changed]:
    """Where a line is not as we write it."""
    mine, right = list(_TOKEN.finditer(line)), list(_TOKEN.finditer(own))
    words = SequenceMatcher(None, [one.group() for one in mine], [one.group() for one in right], autojunk=False)
    for tag, first, last, own_first, own_last in words.get_opcodes():
        if tag == "equal":
            continue
        start, end = _span(mine, first, last, len(line))
        own_start, own_end = _span(right, own_first, own_last, len(own))
        touched = [*(one.group() for one in mine[first:last]), *(one.group() for one in right[own_first:own_last])]
        telling = any(map(_tells, touched)) or _in_quotation(line, start) or _in_quotation(own, own_start)
        yield Changed(start, end, own[own_start:own_end], telling or _in_name(line, start, end))


def _span(tokens: Sequence[re.Match[str]], first: int, last: int, length: int) -> tuple[int, int]:
    if first < last:
        return tokens[first].start(), tokens[last - 1].end()
    at = tokens[first].start() if first < len(tokens) else length
    return at, at


def _tells(word: str) -> bool:
    return any(char.isdigit() for char in word) or word.lower() in _TELLING or "_" in word


def _in_quotation(line: str, at: int) -> bool:
    """Between quotation marks or backticks."""
    before = line[:at]
    return before.count("`") % 2 == 1 or before.count('"') % 2 == 1


def _in_name(line: str, start: int, end: int) -> bool:
    """Part of an id, a model's name or a place: a word that digits, signs and letters are joined in."""
    left = re.search(r"[\w#@:./-]*$", line[:start])
    right = re.match(r"[\w#@:./-]*", line[end:])
    word = (left.group() if left else "") + line[start:end] + (right.group() if right else "")
    return bool(re.search(r"[A-Za-z]", word) and re.search(r"[-#@:/\d]\w", word))


_LEFT_OUT = re.compile(r"Left out on request:(?:\*\*)? (?P<what>.+?)\.(?:\s|$)")
_EXCLUSION = re.compile(r"(infra|suspect|(?:task|rollout|code):\S+) \(\d+ rollouts\)")
_THRESHOLD = re.compile(r"(?:a pass is a reward of at least|Pass: reward at least) (\d+(?:\.\d+)?)")
_EXPECTED = re.compile(r"- Expected ([\d,]+) rollouts? \(from: \w+\)")
_PACKAGE = re.compile(r"- Rules of the package: `+([^`\n]+)`+\.")


class ReportOptions(Struct, frozen=True):
    """What a report says it was made with."""

    exclude: tuple[str, ...]
    pass_threshold: float | None
    """None where the report does not say, or says two things."""
    metrics_only: bool
    package: str | None
    """File and hash of the package whose rules were used."""
    grouped: bool
    """Intervals rest on groups of tasks."""
    expects: int | None
    """Rollouts that were expected of the first run."""
    labelled: bool
    """People's verdicts were counted."""


def options_stated(text: str) -> ReportOptions:
    """The options that the text of a report states; none for a report that is not ours."""
    left_out = _LEFT_OUT.search(text)
    exclude = _EXCLUSION.findall(left_out.group("what").replace("\\", "")) if left_out else []
    expected = _EXPECTED.search(text)
    package = _PACKAGE.search(text)
    stated = {float(value) for value in _THRESHOLD.findall(text)}
    return ReportOptions(
        exclude=tuple(exclude),
        pass_threshold=stated.pop() if len(stated) == 1 else None,
        package=package.group(1) if package else None,
        grouped=re.search(r"95 % CI [\d.-]+ to [\d.-]+ over groups", text) is not None,
        expects=int(expected.group(1).replace(",", "")) if expected else None,
        labelled=" labelled by a person; of " in text,
        metrics_only="trajectories were not read (--metrics-only)" in text,
    )
