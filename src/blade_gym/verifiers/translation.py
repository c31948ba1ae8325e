"""A translation is close enough to its references.

Row
    `reference` or `expected_answer`: a text, or a list of texts.

Config
    `metric`: `chrf` (the default) or `bleu`. `minimum`: the lowest score of 100 that passes; default 60. `graded`: the
    reward is the score of 100.

Fields
    `extracted_answer`, `reference`, `chrf`, `bleu`, `failure_reason`.
"""

from __future__ import annotations

from blade_gym.answers import shown
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config, needed

MINIMUM = 60.0
LONGEST = 20_000
"""Characters of a translation that are scored."""
ROOM = 4
"""Times the length of the longest reference that a translation may have before it is taken for something else."""


def ready() -> None:
    """Raise RequestError where a package is missing."""
    needed("sacrebleu")


def gold(row: Row) -> str:
    """The first reference."""
    return references(row)[0]


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when the score is high enough, else 0; or the score as a fraction."""
    wanted, said = references(row), text.strip()
    scores = _scores(wanted, said)
    score, minimum = scores[str(config.get("metric", "chrf"))], float(config.get("minimum", MINIMUM))
    fields = {
        "extracted_answer": shown(said) or None,
        "reference": wanted[0],
        **scores,
        "failure_reason": _reason(wanted, said, passed=score >= minimum),
    }
    return Verdict(reward=score / 100 if config.get("graded") else float(score >= minimum), fields=fields)


def references(row: Row) -> list[str]:
    """The texts that a translation is held against."""
    given = row.get("reference", row.get("expected_answer"))
    return [str(one) for one in given] if isinstance(given, list) else [str(given)]


def _scores(wanted: list[str], said: str) -> dict[str, float]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    whole = said[:LONGEST]
    chrf = CHRF().sentence_score(whole, wanted).score
    bleu = BLEU(effective_order=True).sentence_score(whole, wanted).score
    return {"chrf": round(chrf, 4), "bleu": round(bleu, 4)}


def _reason(wanted: list[str], said: str, *, passed: bool) -> str | None:
    if passed:
        return None
    if not said:
        return "the translation is empty"
    longest = max(len(one) for one in wanted)
    return (
        "there is more than a translation"
        if len(said) > ROOM * longest
        else "the translation is too far from the reference"
    )
