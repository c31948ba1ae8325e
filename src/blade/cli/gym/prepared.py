"""The rows of a data set, prepared where they are missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from blade.core.errors import RequestError

if TYPE_CHECKING:
    from blade.gym.config.dataset import Dataset
    from blade.gym.config.load import Resolved


def prepared(resolved: Resolved, dataset: Dataset) -> Path:
    """Where the rows are; they are made first where they are not there."""
    from blade.gym.config.roots import place

    path = place(dataset.jsonl_fpath, resolved.roots, beside=dataset.prepare_script)
    if not path.is_file():
        raise RequestError(f"the rows of {dataset.name} are not there: {path}", hint="gym eval prepare makes them")
    return path
