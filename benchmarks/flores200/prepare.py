"""FLORES-200: one file a language, whose lines belong together."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blade.core.errors import RequestError
from blade.gym import hub

PLACE = "https://dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz"
ENGLISH = "eng_Latn"
NAMES = {
    "arb_Arab": "Arabic",
    "ben_Beng": "Bengali",
    "deu_Latn": "German",
    "eng_Latn": "English",
    "fra_Latn": "French",
    "hin_Deva": "Hindi",
    "jpn_Jpan": "Japanese",
    "por_Latn": "Portuguese",
    "rus_Cyrl": "Russian",
    "spa_Latn": "Spanish",
    "swh_Latn": "Swahili",
    "zho_Hans": "Simplified Chinese",
}


def prepare(
    languages: Sequence[str] = ("deu_Latn",),
    direction: str = "from_english",
    source: str | None = None,
    output: str | None = None,
) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    data = hub.file(PLACE, source=source)
    rows = (row for language in languages for row in _rows(data, language, direction))
    return hub.write(rows, output or hub.beside(__file__, "flores200"))


def _rows(data: bytes, language: str, direction: str) -> Iterator[dict[str, Any]]:
    first, second = (language, ENGLISH) if direction == "into_english" else (ENGLISH, language)
    for index, (text, reference) in enumerate(zip(_lines(data, first), _lines(data, second), strict=True)):
        yield {
            "id": f"flores-{first}-{second}-{index}",
            "text": text,
            "reference": reference,
            "source_language": NAMES.get(first, first),
            "target_language": NAMES.get(second, second),
        }


def _lines(data: bytes, language: str) -> list[str]:
    wanted = f"devtest/{language}.devtest"
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = next((one for one in archive.getmembers() if one.name.endswith(wanted)), None)
        inside = archive.extractfile(member) if member else None
        if inside is None:
            raise RequestError(
                f"no language of FLORES-200 is called {language}", hint="for example deu_Latn or zho_Hans"
            )
        return inside.read().decode().splitlines()
