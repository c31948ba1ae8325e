"""MGSM: one file a language, without a head."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blade_gym import hub

PLACE = "https://raw.githubusercontent.com/google-research/url-nlp/main/mgsm"
LANGUAGES = ("bn", "de", "es", "fr", "ja", "ru", "sw", "te", "th", "zh")


def prepare(languages: Sequence[str] = LANGUAGES, source: str | None = None, output: str | None = None) -> Path:
    """Write the rows of these languages; `source` is a folder of copies."""
    rows = (row for language in languages for row in _rows(language, source))
    return hub.write(rows, output or hub.beside(__file__, "mgsm"))


def _rows(language: str, source: str | None) -> Iterator[dict[str, Any]]:
    name = f"mgsm_{language}.tsv"
    data = hub.file(f"{PLACE}/{name}", source=None if source is None else str(Path(source) / name))
    table = csv.reader(io.StringIO(data.decode("utf-8-sig")), delimiter="\t", quoting=csv.QUOTE_NONE)
    for index, (question, answer, *_) in enumerate(table):
        yield {
            "id": f"mgsm-{language}-{index}",
            "question": question,
            "expected_answer": answer.replace(",", ""),
            "language": language,
        }
