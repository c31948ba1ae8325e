"""Names in a report that are those of models or runs, and so tell no task from another."""

from __future__ import annotations

import re

from blade.package.claims import Reading, Statement
from blade.package.ids import is_place, mentions, task_of

_MODEL_HEADS = re.compile(r"models?|runs?|agents?|system", re.IGNORECASE)


def models_named(reading: Reading, model: str = "") -> frozenset[str]:
    """Names that stand in the title, over a column, or under `model`; what has rollouts is a task and no model."""
    document = reading.document
    tasks = {task_of(name) for one in reading.statements for name in one.ids if is_place(name)}
    titles = [one for one in document.passages if one.kind == "heading" and not one.headings]
    cells = [cell for table in document.tables for cell in table.head]
    for table in document.tables:
        if table.head and _MODEL_HEADS.fullmatch(table.head[0].text.strip()):
            cells += [row[0] for row in table.rows if row]
    titled = {one.name for passage in titles for one in mentions(passage)} if len(titles) == 1 else set()
    headed = {one.name for cell in cells for one in mentions(cell) if "_" not in one.name}
    flat = _flat(model)
    named = {name for one in reading.statements for name in one.names if flat and _flat(name) == flat}
    return frozenset((titled | headed | named) - tasks)


def run_of(statement: Statement, models: frozenset[str]) -> frozenset[str]:
    """The models that a statement is about, as far as it or the headings above it name them."""
    return (statement.ids & models) or (statement.about & models) or (statement.above & models)


def _flat(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
