"""WMT24++: one table for each language that English is translated into."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym import hub

NAMES: Mapping[str, str] = json.loads((Path(__file__).parent / "languages.json").read_text("utf-8"))
"""All languages by code, as the prompt names them: with the country, which decides the variety."""


def prepare(
    target_languages: Sequence[str] | None = None, source: str | None = None, output: str | None = None
) -> Path:
    """Write the rows; `source` is a folder with a copy of each table, called `en-<code>`."""
    targets = list(NAMES) if target_languages is None else list(dict.fromkeys(target_languages))
    unknown = [code for code in targets if code not in NAMES]
    if unknown:
        raise RequestError(f"no language of WMT24++ is called {', '.join(unknown)}", hint="for example de_DE or pt_BR")
    rows = (row for code in targets for row in _rows(code, source))
    return hub.write(rows, output or hub.beside(__file__, "wmt24pp"))


def _rows(code: str, source: str | None) -> Iterator[dict[str, Any]]:
    for row in _table(code, source):
        if not row["is_bad_source"]:
            yield {
                "id": f"wmt24pp-en-{code}-{row['document_id']}-{row['segment_id']}",
                "text": row["source"],
                "translation": row["target"],
                "source_language": "en",
                "target_language": code,
                "source_lang_name": "English",
                "target_lang_name": NAMES[code],
            }


def _table(code: str, source: str | None) -> list[dict[str, Any]]:
    if source is None:
        return hub.dataset("google/wmt24pp", config=f"en-{code}", split="train")
    copies = sorted(Path(source).expanduser().glob(f"en-{code}.*"))
    if not copies:
        raise RequestError(f"{source} has no copy of en-{code}", hint=f"en-{code}.parquet or en-{code}.jsonl")
    return hub.local_rows(copies[0])
