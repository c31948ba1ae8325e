"""Does the judge tell the golden report from reports that must not pass, and if not, what has to be mended?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from blade.claims.values import Audit
from blade.package.asserted import PART, YES
from blade.package.controls import Control, controls
from blade.package.facts import Fact
from blade.package.score import Judge, Met, Score, is_aggregate, judge

GOLDEN_AT_LEAST, CONTROL_AT_MOST = 0.85, 0.40
WEAK_FACTS = "weak anchor facts"
TOO_CLOSE = "shallow report too close to golden"
MISSING_EVIDENCE = "missing evidence"
THIN_SECTIONS = "report sections that need more diagnostic detail"
_DIAGNOSTIC = ("summary", "failure", "mode", "deep dive", "pass", "comparison", "finding", "diagnos", "cause")


@dataclass(frozen=True, kw_only=True)
class Signal:
    """What a person has to look at."""

    signal: str
    """One of the four review signals."""
    about: str
    """The fact, the section or the control."""
    what: str


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A control with its score; without one it could not be made."""

    control: Control
    score: Score | None

    @property
    def held(self) -> bool:
        return self.score is None or self.score.final <= CONTROL_AT_MOST


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The golden report against itself, the controls against it, and what follows."""

    golden: Score
    shallow: Score
    controls: tuple[Scored, ...]
    min_spread: float
    signals: tuple[Signal, ...]

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
    facts: Sequence[Fact],
    shallow: str,
    other: Control,
    min_spread: float,
    audited: Callable[[str], Audit | None],
) -> Calibration:
    """Every report scored against the golden one; `audited` gives the audit of a text where the runs are known."""
    court = judge(golden, facts)
    made = (*controls(golden), other)
    scored = tuple(
        Scored(control=one, score=None if one.text is None else court.score(one.text, audited(one.text)))
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


def _signals(found: Calibration, court: Judge) -> Iterator[Signal]:
    if not found.golden.met:
        yield Signal(signal=WEAK_FACTS, about="the fact file", what="there are no anchor facts; draft and review some")
    if found.golden.final < GOLDEN_AT_LEAST:
        yield from _golden_falls_short(found.golden)
    if found.shallow.final > CONTROL_AT_MOST or found.spread < found.min_spread:
        yield Signal(
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


def _golden_falls_short(score: Score) -> Iterator[Signal]:
    for one in score.met:
        if not one.supported:
            yield _about(MISSING_EVIDENCE, one, "no sentence of the golden report bears it out")
        elif one.met != YES:
            yield _about(WEAK_FACTS, one, f"the golden report itself meets it only as: {one.met} ({one.why})")
    for wrong in score.false[:5]:
        what = f"says {wrong.said!r}, which is false: {wrong.right!r}"
        yield Signal(signal=MISSING_EVIDENCE, about=f"line {wrong.line} of the golden report", what=what)


def _about(signal: str, one: Met, what: str) -> Signal:
    return Signal(signal=signal, about=f"fact {one.fact.id}", what=what)


def _met_by(who: str, score: Score) -> Iterator[Signal]:
    """Facts that a report which must not pass meets all the same."""
    for one in score.met:
        if one.met in (YES, PART):
            yield _about(WEAK_FACTS, one, f"{who} meets it: tie it to a place, a quotation or a number")


def _aggregates(court: Judge) -> Iterator[Signal]:
    aggregate = [one.fact.id for one in court.wanted if is_aggregate(one)]
    if court.wanted and 2 * len(aggregate) >= len(court.wanted):
        what = (
            f"{len(aggregate)} of {len(court.wanted)} facts can be had from the metrics alone: {', '.join(aggregate)}"
        )
        yield Signal(signal=WEAK_FACTS, about="the fact file", what=what)


def _thin(court: Judge) -> Iterator[Signal]:
    """Sections that should diagnose, and name neither task nor words."""
    reading = court.golden.reading
    rich = {title for one in reading.statements if one.ids or one.quotes for title in one.headings}
    for title in reading.sections:
        if title not in rich and any(word in title.lower() for word in _DIAGNOSTIC):
            yield Signal(signal=THIN_SECTIONS, about=f"section {title!r}", what="it names no task, place or quotation")


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


def _control(one: Scored) -> dict[str, object]:
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
