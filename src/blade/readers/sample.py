"""What to read of a run: rollouts drawn at random within strata, the same ones for the same seed, passes among them."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from msgspec import Struct, structs

from blade.model.attribution import UNATTRIBUTED, Attributions
from blade.model.errors import RequestError
from blade.model.reading import Drawn
from blade.model.run import Run

STRATA = {"mode": "mode", "task": "task_id", "party": "party", "outcome": "outcome", "stage": "stage"}
"""What rollouts may be drawn by, and the column of the table of attributions."""
PASSES = 0.25
"""Share of a sample that is passes, where there are enough: a few find a grader that lets too much pass, and most of the
reading goes to what failed.
"""
PASSED = "passed"

Stratum = tuple[bool, str]
"""Whether it holds passes, and its name."""
Found = tuple[int, str, int, str]
"""Row in the table, task, repeat and outcome."""


class SampledRollout(Struct, frozen=True, kw_only=True):
    """One rollout to read, and how it came to be drawn."""

    run: str
    task_id: str
    repeat: int
    outcome: str
    drawn: Drawn

    @property
    def location(self) -> str:
        """`TASK#REPEAT`."""
        return f"{self.task_id}#{self.repeat}"


def draw(
    run: Run,
    attributions: Attributions,
    n: int,
    *,
    by: Sequence[str] = ("mode",),
    unattributed: bool = False,
    seed: int = 0,
) -> tuple[SampledRollout, ...]:
    """`n` rollouts of a run, in the order of its table; all of them where it has no more.

    Rollouts without a row cannot be read and are never drawn. The strata are those of the rules, whatever readers said
    since, so that the same draw is made again. With `unattributed`, only rollouts that the rules leave unexplained.
    """
    unknown = [name for name in by if name not in STRATA]
    if unknown:
        raise RequestError(f"rollouts cannot be drawn by {unknown[0]!r}", hint=f"--stratify {', '.join(STRATA)}")
    strata = _strata(_readable(run, attributions, unattributed=unattributed), [STRATA[name] for name in by])
    counts = allocated({stratum: len(found) for stratum, found in strata.items()}, n)
    design = ",".join(by) + (",unattributed" if unattributed else "")
    chosen = []
    for stratum, found in strata.items():
        passed, name = stratum
        of = Drawn(seed=seed, design=design, stratum=name, size=len(found), drawn=counts[stratum], passed=passed)
        ordered = sorted(found, key=lambda one: (_mark(seed, one[1], one[2]), one))
        chosen += [(*one, of) for one in ordered[: counts[stratum]]]
    return tuple(
        SampledRollout(run=run.name, task_id=task, repeat=repeat, outcome=outcome, drawn=of)
        for _, task, repeat, outcome, of in sorted(chosen, key=lambda one: one[0])
    )


def _readable(run: Run, attributions: Attributions, *, unattributed: bool) -> pl.DataFrame:
    """What the rules say of the rollouts that have a row, or of those that they leave unexplained."""
    there = run.rollouts.select("task_id", "repeat", there=pl.col("artifact").is_not_null())
    table = attributions.rules_table.with_row_index("row")
    table = table.join(there, on=["task_id", "repeat"], how="left", maintain_order="left").filter("there")
    return table.filter(pl.col("mode") == UNATTRIBUTED) if unattributed else table


def _strata(table: pl.DataFrame, columns: Sequence[str]) -> dict[Stratum, list[Found]]:
    """The rollouts of each stratum; passes are strata of their own."""
    passed = pl.col("outcome") == PASSED
    name = pl.concat_str(
        [pl.coalesce(column, pl.when(passed).then(pl.lit(PASSED)), pl.lit("-")) for column in columns], separator="/"
    )
    found: dict[Stratum, list[Found]] = {}
    cells = table.select(passed.alias("passed"), name.alias("name"), "row", "task_id", "repeat", "outcome")
    for is_pass, named, *one in cells.iter_rows():
        found.setdefault((is_pass, named), []).append(tuple(one))
    return found


def _mark(seed: int, task: str, repeat: int) -> bytes:
    """What orders rollouts at random, and in the same way everywhere: a larger sample holds the smaller one."""
    return hashlib.blake2b(f"{seed}\0{task}\0{repeat}".encode(errors="replace"), digest_size=16).digest()


def allocated(sizes: Mapping[Stratum, int], n: int) -> dict[Stratum, int]:
    """How many to draw from each stratum: passes apart, one at least where that is possible, the rest by size."""
    of_passes = {stratum: size for stratum, size in sizes.items() if stratum[0]}
    of_failures = {stratum: size for stratum, size in sizes.items() if not stratum[0]}
    passes, failures = sum(of_passes.values()), sum(of_failures.values())
    wanted = min(passes, max(round(n * PASSES), n - failures)) if failures else min(passes, n)
    return {**_by_size(of_failures, min(failures, n - wanted)), **_by_size(of_passes, wanted)}


def _by_size(sizes: Mapping[Stratum, int], n: int) -> dict[Stratum, int]:
    """One for each, largest first, as far as they go; then by how far each is behind its share."""
    order = sorted(sizes, key=lambda stratum: (-sizes[stratum], stratum))
    counts = {stratum: int(place < n) for place, stratum in enumerate(order)}
    total = sum(sizes.values())
    for _ in range(n - sum(counts.values())):
        open_ = [stratum for stratum in order if counts[stratum] < sizes[stratum]]
        behind = max(open_, key=lambda stratum: n * sizes[stratum] / total - counts[stratum])
        counts[behind] += 1
    return counts


def rows_of(sample: Sequence[SampledRollout], command: str, choice: str = "") -> Iterator[dict[str, object]]:
    """The sample as rows to fill in, without what the rules say: `blade attribute --file` takes them back. `command` is `blade show` with
    the run, `choice` what follows the location.
    """
    for one in sample:
        yield {
            "run": one.run,
            "task_id": one.task_id,
            "repeat": one.repeat,
            "outcome": one.outcome,
            "command": f"{command} {shlex.quote(one.location)}{choice}",
            "mode": "",
            "party": "",
            "quote": "",
            "note": "",
            "sample": structs.asdict(one.drawn),
        }
