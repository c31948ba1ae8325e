"""Which package a command is about."""

from __future__ import annotations

from pathlib import Path

from blade.model.errors import RequestError


def given_folder(folder: Path | None, benchmark_dir: Path | None) -> Path:
    """The folder that was named, one way or the other; RequestError when none was, or two."""
    if folder is not None and benchmark_dir is not None and folder != benchmark_dir:
        raise RequestError(f"two packages are named: {folder} and {benchmark_dir}", hint="give one of them")
    wanted = benchmark_dir or folder
    if wanted is None:
        raise RequestError("no package is named", hint="give its folder: --benchmark-dir benchmarks/NAME")
    return wanted
