"""FLORES-200: one table a language, whose rows belong together; from English into every other language."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym import hub

ENGLISH = "eng_Latn"
SPLITS = ("devtest", "dev")
NAMES: Mapping[str, str] = json.loads((Path(__file__).parent / "languages.json").read_text("utf-8"))
"""Languages with a devtest, by code, as the prompt names them."""


def prepare(
    source_languages: Sequence[str] = (ENGLISH,),
    target_languages: Sequence[str] | None = None,
    split: str = "devtest",
    source: str | None = None,
    output: str | None = None,
) -> Path:
    """Write the rows; `source` is a folder with a copy of each language's table, called by its code."""
    targets = [code for code in NAMES if code != ENGLISH] if target_languages is None else list(target_languages)
    unknown = sorted({*source_languages, *targets} - set(NAMES))
    if unknown or split not in SPLITS:
        what = f"no language of FLORES-200 is called {', '.join(unknown)}" if unknown else f"no split is called {split}"
        raise RequestError(what, hint=f"for example deu_Latn or cmn_Hans; splits: {', '.join(SPLITS)}")
    tables = {code: _texts(code, split, source) for code in sorted({*source_languages, *targets})}
    pairs = [(first, second) for first in source_languages for second in targets if first != second]
    rows = (row for pair in pairs for row in _rows(*pair, tables))
    return hub.write(rows, output or Path(__file__).resolve().parent / "data" / f"flores200_{split}_benchmark.jsonl")


def _texts(code: str, split: str, source: str | None) -> list[str]:
    if source is None:
        return [str(row["text"]) for row in hub.dataset("openlanguagedata/flores_plus", config=code, split=split)]
    copies = sorted(Path(source).expanduser().glob(f"{code}.*"))
    if not copies:
        raise RequestError(
            f"{source} has no copy of {code}", hint=f"{code}.parquet or {code}.jsonl, with a column text"
        )
    return [str(row["text"]) for row in hub.local_rows(copies[0])]


def _rows(first: str, second: str, tables: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    for number, (text, translation) in enumerate(zip(tables[first], tables[second], strict=True)):
        yield {
            "id": f"flores200-{first}-{second}-{number}",
            "text": text,
            "translation": translation,
            "source_language": first,
            "target_language": second,
            "source_lang_name": NAMES[first],
            "target_lang_name": NAMES[second],
        }
