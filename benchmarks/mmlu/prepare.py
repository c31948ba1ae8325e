"""MMLU: one file of five columns and an answer for each subject, in the archive that its authors publish."""

from __future__ import annotations

import csv
import io
import json
import tarfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from blade.model.errors import RequestError
from blade_gym import hub

PLACE = "https://people.eecs.berkeley.edu/~hendrycks/data.tar"
SPLITS = ("test", "dev", "val")
LETTERS = "ABCD"
FIELDS: Mapping[str, tuple[str, ...]] = {
    "math": (
        "abstract_algebra", "college_mathematics", "elementary_mathematics", "high_school_mathematics",
        "high_school_statistics",
    ),
    "health": (
        "anatomy", "clinical_knowledge", "college_medicine", "human_aging", "medical_genetics", "nutrition",
        "professional_medicine", "virology",
    ),
    "physics": (
        "astronomy", "college_physics", "conceptual_physics", "high_school_physics",
    ),
    "business": (
        "business_ethics", "management", "marketing",
    ),
    "biology": (
        "college_biology", "high_school_biology",
    ),
    "chemistry": (
        "college_chemistry", "high_school_chemistry",
    ),
    "computer science": (
        "college_computer_science", "computer_security", "high_school_computer_science", "machine_learning",
    ),
    "economics": (
        "econometrics", "high_school_macroeconomics", "high_school_microeconomics",
    ),
    "engineering": (
        "electrical_engineering",
    ),
    "philosophy": (
        "formal_logic", "logical_fallacies", "moral_disputes", "moral_scenarios", "philosophy",
        "world_religions",
    ),
    "other": (
        "global_facts", "miscellaneous", "professional_accounting",
    ),
    "history": (
        "high_school_european_history", "high_school_us_history", "high_school_world_history", "prehistory",
    ),
    "geography": (
        "high_school_geography",
    ),
    "politics": (
        "high_school_government_and_politics", "public_relations", "security_studies", "us_foreign_policy",
    ),
    "psychology": (
        "high_school_psychology", "professional_psychology",
    ),
    "culture": (
        "human_sexuality", "sociology",
    ),
    "law": (
        "international_law", "jurisprudence", "professional_law",
    ),
}  # fmt: skip
"""Subjects by field, as categories.py of hendrycks/test has them."""
_FIELD = {subject: field for field, subjects in FIELDS.items() for subject in subjects}


def prepare(split: str = "test", source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published archive."""
    if split not in SPLITS:
        raise RequestError(f"split is one of {', '.join(SPLITS)}; not {split}", hint="+prepare_script_args.split=test")
    rows = [row for subject, table in _tables(hub.file(PLACE, source=source), split) for row in _rows(subject, table)]
    return hub.write(rows, output or hub.beside(__file__, "mmlu"))


def _tables(archive: bytes, split: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Each subject with its rows, in the order of the archive; lines of another width are left out."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened.getmembers():
            path = PurePosixPath(member.name)
            inside = opened.extractfile(member) if path.match(f"data/{split}/*.csv") else None
            if inside is not None:
                lines = csv.reader(io.TextIOWrapper(inside, encoding="utf-8"))
                yield path.name.rpartition("_")[0], [line for line in lines if len(line) == len(LETTERS) + 2]


def _rows(subject: str, table: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    for asked, *options, right in table:
        question, answer = asked.strip(), right.strip().upper()
        if answer not in LETTERS or subject not in _FIELD:
            raise RequestError(f"{subject}: no answer or field for {question[:80]!r}", hint="is the copy whole?")
        key = {"subject": subject, "question": question, "answer": answer}
        shown = "\n".join(f"{letter}) {words}" for letter, words in zip(LETTERS, options, strict=True))
        yield {
            "question": question,
            "problem": f"{question}\n\n{shown}",
            "options": [{letter: words} for letter, words in zip(LETTERS, options, strict=True)],
            "expected_answer": answer,
            "subset_for_metrics": _FIELD[subject],
            "subject": subject,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(key, sort_keys=True, ensure_ascii=False))),
        }
