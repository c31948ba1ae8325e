"""The notebook of the documentation runs from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_notebook_runs() -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(ROOT / "docs" / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT / "docs")}}).execute()
    last = notebook.cells[-1].outputs[0]
    assert "Executive Summary" in last.data["text/html"]
