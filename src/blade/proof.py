"""Behind `blade simulate --score`: simulated runs go through the door that users take, and are scored."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from blade import pipeline
from blade.core.analysis import Analysis
from blade.simulate.generate import Made, Wanted, generate
from blade.simulate.score import Proof, score, together


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Put files in a folder, which is made where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def analyzed(folder: Path) -> Analysis:
    """The analysis of a folder, as `blade analyze` makes it."""
    options = pipeline.Options(workers=1)
    return pipeline.analyze(pipeline.load([str(folder)], options), options)


def scored(made: Made, folder: Path) -> Proof:
    """What the analysis of a world that was written to a folder gets right."""
    return score(made.truth, analyzed(folder))


def prove(seeds: Iterable[int], wanted: Wanted) -> Proof:
    """Every wanted world, once for each seed; files are made in a temporary folder and removed."""
    return together(_proved(Wanted(**(vars(wanted) | {"seed": seed}))) for seed in seeds)


def _proved(wanted: Wanted) -> Proof:
    proofs = []
    for made in generate(wanted):
        with tempfile.TemporaryDirectory(prefix="blade-") as folder:
            write_files(made.files, Path(folder) / made.world)
            proofs.append(scored(made, Path(folder) / made.world))
    return together(proofs)
