"""WMT24++, one pair of languages."""

from __future__ import annotations

from pathlib import Path

from blade.gym import hub

NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "sw": "Swahili",
    "uk": "Ukrainian",
    "zh": "Chinese",
}


def prepare(pair: str = "en-de_DE", source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("google/wmt24pp", config=pair, split="train", source=source)
    target = pair.partition("-")[2]
    rows = (
        {
            "id": f"wmt24pp-{pair}-{row['document_id']}-{row['segment_id']}",
            "text": row["source"],
            "reference": row["target"],
            "source_language": "English",
            "target_language": NAMES.get(target.partition("_")[0], target),
            "domain": row["domain"],
        }
        for row in found
        if not row["is_bad_source"]
    )
    return hub.write(rows, output or hub.beside(__file__, "wmt24pp"))
