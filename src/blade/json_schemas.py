"""The JSON Schema of every file that BLADE writes, made from the values that are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from blade.benchmark_health.values import Health
from blade.claims.text import AuditDocument
from blade.comparison.document import ComparisonDocument
from blade.comparison.gate import Gate
from blade.comparison.history import HistoryDocument
from blade.files import json_text
from blade.report.as_json import RunSummaries, RunSummary
from blade.report.documents import FindingsDocument, MetricsDocument, TaskDocument

DOCUMENTS: Mapping[str, tuple[Any, ...]] = {
    "metrics": (MetricsDocument,),
    "task": (TaskDocument,),
    "findings": (FindingsDocument,),
    "analyze-summary": (RunSummary, RunSummaries),
    "comparison": (ComparisonDocument, list[ComparisonDocument]),
    "gate": (Gate,),
    "history": (HistoryDocument,),
    "health": (Health,),
    "audit": (AuditDocument,),
}
"""By the name of the schema: the values that such a document can be."""


def schema_texts() -> dict[str, str]:
    """By the name of the file: the schema as JSON text."""
    return {f"{name}.schema.json": _schema_text(name, kinds) for name, kinds in DOCUMENTS.items()}


def _schema_text(name: str, kinds: tuple[Any, ...]) -> str:
    references, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    alternatives = {"anyOf": list(references)} if len(references) > 1 else references[0]
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        **alternatives,
        "$defs": parts,
    }
    return json_text(schema).decode()
