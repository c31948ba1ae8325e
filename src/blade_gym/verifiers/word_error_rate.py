"""A transcript is close enough to the reference, by the word error rate that jiwer computes.

Both texts are normalized as speech-recognition leaderboards do: lower case, then Whisper's English normalizer, which makes
numbers, contractions, titles and British spellings alike and removes punctuation, fillers and what stands in brackets. An
empty transcript has a rate of 1: all words are missing. A reference without words (silence) has no rate, and leaderboards
leave such recordings out: it gives no verdict.

Row
    `expected_answer`: the reference.

Config
    `max_wer`: the highest rate that passes; default 0.05. `graded`: the reward is 1 minus the rate, and at least 0.

Fields
    `text` and `pred_text` (reference and transcript, normalized), `wer`, `substitutions`, `deletions`, `insertions`,
    `reference_words` (errors and words add up to the rate of a whole data set), `failure_reason`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from blade_gym.answers import shown
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.sandbox.inside.wire import usual_numbers
from blade_gym.sandbox.worker import Worker
from blade_gym.single_turn import Config, needed

MAX_WER = 0.05
SECONDS = 5.0
"""Normalizing a million characters of plain words takes about 1.5."""
_ERRORS = ("substitutions", "deletions", "insertions")
_WORKER = Worker(__name__, seconds=SECONDS, packages=["jiwer", "whisper-normalizer"])


def ready() -> None:
    """Raise RequestError where the normalizer is not installed."""
    needed("jiwer", "more_itertools", "regex")
    needed("whisper_normalizer", requirement="whisper-normalizer>=0.1.15,<0.2")


def gold(row: Row) -> str:
    """The reference."""
    return str(row["expected_answer"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when the error rate is low enough, else 0; or 1 minus the rate."""
    try:
        measured = _WORKER.ask("measured", str(row["expected_answer"]), text)
    except ValueError as problem:
        raise NoVerdict(f"the normalizer failed: {problem}", terminal=True) from problem
    if not measured["reference_words"]:
        raise NoVerdict("the reference has no words to count", failure_class="skipped", terminal=True)
    wer, passed = measured["wer"], measured["wer"] <= float(config.get("max_wer", MAX_WER))
    fields = {
        **measured,
        "text": shown(measured["text"]),
        "pred_text": shown(measured["pred_text"]),
        "failure_reason": None if passed else _reason(measured),
    }
    return Verdict(reward=max(0.0, 1.0 - wer) if config.get("graded") else float(passed), fields=fields)


def _reason(measured: dict[str, Any]) -> str:
    if not measured["pred_text"]:
        return "the transcript is empty"
    most = max(_ERRORS, key=lambda name: (measured[name], name))
    return f"too many word errors, mostly {most}"


def warm() -> None:
    """In the child: load the libraries before the doors are shut."""
    measured("one", "two")


@usual_numbers()
def measured(reference: str, transcript: str) -> dict[str, Any]:
    """In the child: both texts normalized, and the errors that jiwer counts."""
    import jiwer

    text, said = (" ".join(_normalizer()(given.lower()).split()) for given in (reference, transcript))
    found = jiwer.process_words(text, said)
    counts = {name: getattr(found, name) for name in _ERRORS}
    return {"text": text, "pred_text": said, "wer": float(found.wer), **counts, "reference_words": len(text.split())}


@cache
def _normalizer() -> Any:
    return import_module("whisper_normalizer.english").EnglishTextNormalizer()
