"""Reports read from files, whatever their bytes."""

from __future__ import annotations

from pathlib import Path

from blade.model.errors import RequestError


def read_text(path: Path, what: str) -> str:
    """The text of a file; bytes that are no text are marked, a file that cannot be read is refused."""
    try:
        return path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise RequestError(
            f"cannot read the {what} {path}: {error.strerror or error}", hint="give a Markdown file that is there"
        ) from None
