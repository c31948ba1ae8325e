"""A translation is scored against its reference: the reward is sentence chrF, from 0 to 1, as in NeMo Gym's `wmt_translation`.

Both texts are brought to Unicode NFC. Reasoning up to the last `</think>` is left out; an open `<think>` leaves nothing.

Row
    `translation`: the reference. `text`, `source_language`, `target_language` say what was translated.

Config
    `strip_reasoning`: default true. `compute_comet` and `language_consistency_backend` are refused: neither xCOMET-XXL nor
    GlotLID and CLD2 run here.

Fields
    `generation`, `sentence_chrf`, `sentence_spbleu` (0 to 100; the second null where sentencepiece or the FLORES-200 model
    of sacrebleu is not installed), `extracted_answer`, `failure_reason`.
"""

from __future__ import annotations

import importlib.util
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from blade.model.errors import RequestError
from blade_gym.answers import shown
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config, needed

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

LONGEST = 100_000
"""Characters of a translation that are scored: segments are a paragraph at most."""
LONGEST_KEPT = 10_000
"""Characters of it that a row keeps."""
UNMET = ("compute_comet", "language_consistency_backend")


def checked(config: Config) -> Config:
    """The config; raises RequestError where it asks for scores that cannot be had here."""
    unmet = [name for name in UNMET if config.get(name)]
    if unmet:
        raise RequestError(f"{', '.join(unmet)} cannot be had here", hint="set it to false or null; chrF is the reward")
    return config


def ready() -> None:
    """Raise RequestError where a package is missing."""
    needed("sacrebleu")


def gold(row: Row) -> str:
    """The reference."""
    return str(row["translation"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """Sentence chrF of 100, as a fraction."""
    said = (without_reasoning(text) if config.get("strip_reasoning", True) else text).strip()
    hypothesis, reference = (unicodedata.normalize("NFC", one) for one in (said[:LONGEST], str(row["translation"])))
    chrf = _chrf(hypothesis, reference) if said else 0.0
    spbleu = (_spbleu(hypothesis, reference) if said else 0.0) if _tokenizer() else None
    fields = {
        "generation": said[:LONGEST_KEPT],
        "extracted_answer": shown(said) or None,
        "sentence_chrf": chrf,
        "sentence_spbleu": spbleu,
        "failure_reason": None
        if chrf > 99.999
        else f"sentence chrF is {chrf:.1f}"
        if said
        else "the translation is empty",
    }
    return Verdict(reward=1.0 if fields["failure_reason"] is None else chrf / 100, fields=fields)


def without_reasoning(text: str) -> str:
    """What follows the last `</think>`; nothing where a `<think>` is never closed."""
    if "</think>" in text:
        return text.rpartition("</think>")[2].lstrip("\n")
    return "" if "<think>" in text else text


def _chrf(hypothesis: str, reference: str) -> float:
    from sacrebleu.metrics.chrf import CHRF

    return float(CHRF().sentence_score(hypothesis, [reference]).score)


@cache
def _tokenizer() -> BLEU | None:
    """BLEU over the pieces of the FLORES-200 model, where that is on this machine; a verifier downloads nothing."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    model = Path(SACREBLEU_DIR) / "models" / Path(SPM_MODELS["flores200"]["url"]).name
    there = importlib.util.find_spec("sentencepiece") is not None and model.is_file()
    return BLEU(tokenize="flores200", effective_order=True) if there else None


def _spbleu(hypothesis: str, reference: str) -> float:
    tokenizer = _tokenizer()
    return float(tokenizer.sentence_score(hypothesis, [reference]).score) if tokenizer else 0.0
