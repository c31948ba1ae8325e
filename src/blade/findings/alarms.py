"""Words in results that alarm a reader, and whether passing rollouts of the same tasks hold them as often.

Only tasks with both outcomes can tell, and of them the rollouts that were read again: nothing is read for this.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import numpy as np

from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RereadRollouts
from blade.model.diagnosis import Alarm
from blade.model.finding import Evidence
from blade.rules.phrases import search_for
from blade.stats.association import within_tasks

WORDS: tuple[tuple[str, str], ...] = (
    ("error", r"\berrors?\b|\w+Error\b"),
    ("traceback", r"\btraceback \(most recent call last\)"),
    ("exception", r"\bexceptions?\b|\w+Exception\b"),
    ("timeout", r"\btime(?:d )?[ -]?outs?\b|\w*Timeout\w*"),
    ("429", r"\b429\b|\btoo many requests\b|\brate limit"),
    ("5xx", r"\b(?:http|status|code|error)\W{1,4}50[0234]\b|\binternal server error\b|\bbad gateway\b"),
    ("permission denied", r"\bpermission denied\b|\baccess denied\b|\bforbidden\b|\bEACCES\b"),
    ("not found", r"\b(?:command |file )?not found\b|\bno such file\b"),
    ("connection refused", r"\bconnection (?:refused|reset)\b|\bECONNRE\w+"),
    ("killed", r"\bkilled\b|\bout of memory\b|\bsegmentation fault\b"),
    ("warning", r"\bwarnings?\b|\bdeprecated\b"),
)
"""What readers stop at, with the pattern that finds it."""
FEWEST = 3
"""Passing rollouts that must hold a word before it can be called harmless."""
AROUND = 60


def alarms(reading: RereadRollouts) -> tuple[Alarm, ...]:
    """Every alarming word that results of sometimes-pass tasks hold, with its counts; the commonest in passes first."""
    walks = [walk for task in reading.sometimes for walk in reading.of(task)]
    texts = ["\n".join(step.text for step in walk.steps if step.party == "tool") for walk in walks]
    held = _held(texts)
    found = [
        alarm
        for number, (word, pattern) in enumerate(WORDS)
        for alarm in _alarm(word, re.compile(pattern, re.IGNORECASE), walks, [number in numbers for numbers in held])
    ]
    return tuple(sorted(found, key=lambda one: (-one.fired_passed, one.word)))


def _held(texts: list[str]) -> list[Collection[int]]:
    """The numbers of the words that each text holds. In ASCII a search is as good as the pattern; else it is confirmed."""
    patterns = [re.compile(pattern, re.IGNORECASE) for _, pattern in WORDS]
    search = search_for([(number, (pattern,)) for number, (_, pattern) in enumerate(WORDS)])
    found: list[Collection[int]] = [search(text) for text in texts]
    return [
        numbers if text.isascii() else {n for n in numbers if patterns[n].search(text)}
        for text, numbers in zip(texts, found, strict=True)
    ]


def _alarm(word: str, pattern: re.Pattern[str], walks: list[AlignedTrajectory], holds: list[bool]) -> Iterator[Alarm]:
    held = np.asarray(holds, dtype=bool)
    failed = np.asarray([not walk.passed for walk in walks], dtype=bool)
    if not held.any():
        return
    seen = within_tasks([walk.rollout.key.task_id for walk in walks], held, failed)
    difference = seen.risk_difference
    if difference is None:
        difference = _share(held, failed) - _share(held, ~failed)
    passes = [walk for walk, hit in zip(walks, held, strict=True) if hit and walk.passed]
    evidence = _quote(passes[0], pattern) if passes else None
    yield Alarm(
        word=word,
        fired_failed=int((held & failed).sum()),
        failed=int(failed.sum()),
        fired_passed=len(passes),
        passed=int((~failed).sum()),
        harmless=len(passes) >= FEWEST and difference <= 0,
        evidence=(evidence,) if evidence else (),
    )


def _share(held: np.ndarray, of: np.ndarray) -> float:
    return float(held[of].mean()) if of.any() else 0.0


def _quote(walk: AlignedTrajectory, pattern: re.Pattern[str]) -> Evidence | None:
    """The word in a passing rollout, with what stands around it."""
    for step in walk.steps:
        match = pattern.search(step.text) if step.party == "tool" else None
        if match is not None:
            quote = step.text[max(0, match.start() - AROUND) : match.end() + AROUND].strip()
            return Evidence(key=walk.rollout.key, step=step.index, field="text", quote=quote)
    return None
