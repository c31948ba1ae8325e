"""Does the judge tell the golden report from reports that must not pass, and if not, what has to be fixed?"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from blade.claims.binding import sentences
from blade.claims.markdown import Document, Passage, parse
from blade.claims.names import Number, numbers
from blade.claims.values import Audit
from blade.package.anchor_facts import AnchorFact
from blade.package.judge.asserted import PART, YES
from blade.package.judge.score import FactVerdict, Judge, ReportScore, is_aggregate, judge_against
from blade.package.judge.statements import LONGEST, read_statements
from blade.package.judge.words import NO_NAMES, is_place, mentions, task_of, veiled

GOLDEN_AT_LEAST, CONTROL_AT_MOST = 0.85, 0.40
WEAK_FACTS = "weak anchor facts"
TOO_CLOSE = "shallow report too close to golden"
MISSING_EVIDENCE = "missing evidence"
THIN_SECTIONS = "report sections that need more diagnostic detail"
_DIAGNOSTIC = ("summary", "failure", "mode", "deep dive", "pass", "comparison", "finding", "diagnos", "cause")


class ReviewSignal(Struct, frozen=True, kw_only=True):
    """What a person has to look at."""

    signal: str
    """One of the four review signals."""
    about: str
    """The fact, the section or the control."""
    what: str


class ScoredControl(Struct, frozen=True, kw_only=True):
    """A control with its score; without one it could not be made."""

    control: NegativeControl
    score: ReportScore | None

    @property
    def held(self) -> bool:
        return self.score is None or self.score.final <= CONTROL_AT_MOST


class Calibration(Struct, frozen=True, kw_only=True):
    """The golden report against itself, the controls against it, and what follows."""

    golden: ReportScore
    shallow: ReportScore
    controls: tuple[ScoredControl, ...]
    min_spread: float
    signals: tuple[ReviewSignal, ...]

    @property
    def spread(self) -> float:
        return round(self.golden.final - self.shallow.final, 4)

    @property
    def targets(self) -> dict[str, tuple[str, bool]]:
        """Each target in words, and whether it is met."""
        return {
            "golden_vs_self": (f"at least {GOLDEN_AT_LEAST:.2f}", self.golden.final >= GOLDEN_AT_LEAST),
            "shallow_vs_golden": (f"at most {CONTROL_AT_MOST:.2f}", self.shallow.final <= CONTROL_AT_MOST),
            "spread": (f"at least {self.min_spread:.2f}", self.spread >= self.min_spread),
            "controls": (f"each at most {CONTROL_AT_MOST:.2f}", all(one.held for one in self.controls)),
        }

    @property
    def passed(self) -> bool:
        return bool(self.golden.met) and all(met for _, met in self.targets.values())


def calibrate(
    golden: str,
    facts: Sequence[AnchorFact],
    shallow: str,
    other: NegativeControl,
    min_spread: float,
    audited: Callable[[str], Audit | None],
) -> Calibration:
    """Every report scored against the golden one; `audited` gives the audit of a text where the runs are known."""
    court = judge_against(golden, facts)
    made = (*controls(golden), other)
    scored = tuple(
        ScoredControl(control=one, score=None if one.text is None else court.score(one.text, audited(one.text)))
        for one in made
    )
    found = Calibration(
        golden=court.score(golden, audited(golden)),
        shallow=court.score(shallow, audited(shallow)),
        controls=scored,
        min_spread=min_spread,
        signals=(),
    )
    signals = () if found.passed else tuple(dict.fromkeys(_signals(found, court)))
    return Calibration(
        golden=found.golden, shallow=found.shallow, controls=scored, min_spread=min_spread, signals=signals
    )


def _signals(found: Calibration, court: Judge) -> Iterator[ReviewSignal]:
    if not found.golden.met:
        yield ReviewSignal(
            signal=WEAK_FACTS, about="the fact file", what="there are no anchor facts; draft and review some"
        )
    if found.golden.final < GOLDEN_AT_LEAST:
        yield from _golden_falls_short(found.golden)
    if found.shallow.final > CONTROL_AT_MOST or found.spread < found.min_spread:
        yield ReviewSignal(
            signal=TOO_CLOSE,
            about="the shallow report",
            what=f"it scores {found.shallow.final:.3f}, the golden report {found.golden.final:.3f}",
        )
        yield from _met_by("the shallow report", found.shallow)
    for one in found.controls:
        if one.score is not None and not one.held:
            yield from _met_by(f"the control {one.control.name}", one.score)
    yield from _aggregates(court)
    yield from _thin(court)


def _golden_falls_short(score: ReportScore) -> Iterator[ReviewSignal]:
    for one in score.met:
        if not one.supported:
            yield _about(MISSING_EVIDENCE, one, "no sentence of the golden report bears it out")
        elif one.met != YES:
            yield _about(WEAK_FACTS, one, f"the golden report itself meets it only as: {one.met} ({one.why})")
    for wrong in score.false[:5]:
        what = f"says {wrong.said!r}, which is false: {wrong.right!r}"
        yield ReviewSignal(signal=MISSING_EVIDENCE, about=f"line {wrong.line} of the golden report", what=what)


def _about(signal: str, one: FactVerdict, what: str) -> ReviewSignal:
    return ReviewSignal(signal=signal, about=f"fact {one.fact.id}", what=what)


def _met_by(who: str, score: ReportScore) -> Iterator[ReviewSignal]:
    """Facts that a report which must not pass meets all the same."""
    for one in score.met:
        if one.met in (YES, PART):
            yield _about(WEAK_FACTS, one, f"{who} meets it: tie it to a place, a quotation or a number")


def _aggregates(court: Judge) -> Iterator[ReviewSignal]:
    aggregate = [one.fact.id for one in court.wanted if is_aggregate(one)]
    if court.wanted and 2 * len(aggregate) >= len(court.wanted):
        what = (
            f"{len(aggregate)} of {len(court.wanted)} facts can be had from the metrics alone: {', '.join(aggregate)}"
        )
        yield ReviewSignal(signal=WEAK_FACTS, about="the fact file", what=what)


def _thin(court: Judge) -> Iterator[ReviewSignal]:
    """Sections that should diagnose, and name neither task nor words."""
    reading = court.golden.report
    rich = {title for one in reading.statements if one.ids or one.quotes for title in one.headings}
    for title in reading.sections:
        if title not in rich and any(word in title.lower() for word in _DIAGNOSTIC):
            yield ReviewSignal(
                signal=THIN_SECTIONS, about=f"section {title!r}", what="it names no task, place or quotation"
            )


def summary(found: Calibration) -> dict[str, object]:
    """What `calibrate` writes beside the scores."""
    return {
        "golden_vs_self": found.golden.final,
        "shallow_vs_golden": found.shallow.final,
        "spread": found.spread,
        "targets": {name: {"target": words, "met": met} for name, (words, met) in found.targets.items()},
        "controls": {one.control.name: _control(one) for one in found.controls},
        "passed": found.passed,
        "signals": [{"signal": one.signal, "about": one.about, "what": one.what} for one in found.signals],
    }


def _control(one: ScoredControl) -> dict[str, object]:
    if one.score is None:
        return {"what": one.control.what, "score": None, "skipped": one.control.why_not}
    return {"what": one.control.what, "score": one.score.final, "met": one.held}


def calibration_lines(found: Calibration) -> list[str]:
    """The calibration for a reader."""
    scores = {"golden_vs_self": found.golden.final, "shallow_vs_golden": found.shallow.final, "spread": found.spread}
    lines = [
        f"[{'PASS' if met else 'FAIL'}] {name} {scores[name]:.3f} ({words})"
        for name, (words, met) in found.targets.items()
        if name in scores
    ]
    for one in found.controls:
        if one.score is None:
            lines.append(f"[SKIP] {one.control.name}: {one.control.why_not}")
        else:
            mark = "PASS" if one.held else "FAIL"
            lines.append(
                f"[{mark}] {one.control.name} {one.score.final:.3f} (at most {CONTROL_AT_MOST:.2f}; {one.control.what})"
            )
    lines += [f"review signal: {one.signal}: {one.about}: {one.what}" for one in found.signals]
    return lines


_FEWEST_EDITS = 5
_HEADINGS, _NUMBERS, _A_LINE = 8, 20, 12


class NegativeControl(Struct, frozen=True, kw_only=True):
    """A report that must score low, or why there is none."""

    name: str
    what: str
    text: str | None
    why_not: str = ""


class _Edit(Struct, frozen=True):
    line: int
    start: int
    end: int
    words: str


def controls(golden: str) -> tuple[NegativeControl, ...]:
    """Every control that can be made of a golden report; the same report gives the same ones."""
    return tuple(make(golden) for make in _MAKERS)


def _chance(golden: str, name: str) -> random.Random:
    seed = hashlib.sha256(f"{name}\0{golden}".encode("utf-8", errors="replace")).digest()
    return random.Random(int.from_bytes(seed[:8], "big"))


def _edited(name: str, what: str, lines: Sequence[str], edits: Sequence[_Edit], lacking: str) -> NegativeControl:
    """The report with its edits; no control where there are too few to change what it says."""
    if len(edits) < _FEWEST_EDITS:
        return NegativeControl(name=name, what=what, text=None, why_not=f"the report has {len(edits)} {lacking}")
    made = list(lines)
    for one in sorted(edits, key=lambda one: (one.line, -one.start)):
        made[one.line] = made[one.line][: one.start] + one.words + made[one.line][one.end :]
    return NegativeControl(name=name, what=what, text="\n".join(made))


def _edit(passage: Passage, start: int, end: int, words: str) -> Iterator[_Edit]:
    """An edit of the source, where the range stands on one line of it."""
    if start < len(passage.spots):
        first, last = passage.spots[start], passage.spots[max(start, end - 1)]
        if first[0] == last[0]:
            yield _Edit(first[0], first[1], last[1] + (end > start), words)


def _readable(document: Document) -> list[Passage]:
    return [one for one in document.everything if len(one.text) <= LONGEST]


def _randomized(golden: str) -> NegativeControl:
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


def _negated(golden: str) -> NegativeControl:
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


def _moved(golden: str) -> NegativeControl:
    """Every task becomes another one of the report."""
    document = parse(golden)
    tasks = sorted({task_of(name) for one in read_statements(golden).statements for name in one.ids if is_place(name)})
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


def _word_list(golden: str) -> NegativeControl:
    words = sorted(set(re.findall(r"[^\s|#*`]+", golden)))
    heads = [f"## Section {number}" for number in range(1, _HEADINGS + 1)]
    found = [" ".join(words[at : at + _A_LINE]) for at in range(0, len(words), _A_LINE)]
    text = "\n\n".join((*heads, " ".join(map(str, range(1, _NUMBERS + 1))), "\n".join(found)))
    return NegativeControl(
        name="word-list", what="its words in alphabetical order, eight headings, twenty numbers", text=text
    )


def _shuffled(golden: str) -> NegativeControl:
    chance = _chance(golden, "shuffled")
    lines = golden.removesuffix("\n").split("\n")
    words = [word for line in lines if not line.startswith("#") for word in line.replace("|", " ").split()]
    chance.shuffle(words)
    made = []
    for line in lines:
        count = len(line.replace("|", " ").split())
        made.append(line if line.startswith("#") else " ".join(words.pop() for _ in range(min(count, len(words)))))
    return NegativeControl(name="shuffled-words", what="its words in random order", text="\n".join(made))


_MAKERS: tuple[Callable[[str], NegativeControl], ...] = (_randomized, _negated, _moved, _word_list, _shuffled)


def other_report(text: str | None) -> NegativeControl:
    """The report of another model as a control."""
    why = "" if text is not None else "no report of another model was given or stands beside the golden report"
    return NegativeControl(name="other-model", what="the report of another model", text=text, why_not=why)
