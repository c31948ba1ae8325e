"""What to read of a run: rollouts drawn at random within strata, the same ones for the same seed, passes among them."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import polars as pl
from msgspec import Struct, structs

from blade.model.attribution import UNATTRIBUTED, Attributions
from blade.model.errors import RequestError
from blade.model.reading import Drawn
from blade.model.run import Run
from blade.readers.entries import TO_FILL_IN

STRATA = {"mode": "mode", "task": "task_id", "party": "party", "outcome": "outcome", "stage": "stage"}
"""What rollouts may be drawn by, and the column of the table of attributions."""
PASSES = 0.25
"""Share of a sample that is passes, where there are enough: a few find a grader that lets too much pass, and most of the
reading goes to what failed.
"""
PASSED = "passed"
OTHERS = "others"
"""The stratum of what is too small for one of its own, where there are more strata than rollouts to draw."""

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
    fine = _strata(_readable(run, attributions, unattributed=unattributed), [STRATA[name] for name in by])
    strata = pooled(fine, n)
    counts = allocated({stratum: len(found) for stratum, found in strata.items()}, n)
    # Which strata are drawn from together depends on n; draws that cut the run otherwise are not scaled up together.
    cut = f",{n} drawn" if len(strata) < len(fine) else ""
    design = ",".join(by) + (",unattributed" if unattributed else "") + cut
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


def pooled(strata: Mapping[Stratum, list[Found]], n: int) -> dict[Stratum, list[Found]]:
    """The strata, or, where there are more than rollouts to draw, those that come to one rollout or more; the rest as one.

    A stratum of which nothing is drawn would drop out of every estimate.
    """
    found: dict[Stratum, list[Found]] = {}
    quotas = _quotas({stratum: len(rows) for stratum, rows in strata.items()}, n)
    for passed, quota in quotas.items():
        side = {stratum: rows for stratum, rows in strata.items() if stratum[0] is passed}
        total = sum(map(len, side.values()))
        for stratum, rows in side.items():
            small = len(side) > quota and len(rows) * quota < total
            found.setdefault((passed, OTHERS) if small else stratum, []).extend(rows)
    return found


def _mark(seed: int, task: str, repeat: int) -> bytes:
    """What orders rollouts at random, and in the same way everywhere: a larger sample holds the smaller one."""
    return hashlib.blake2b(f"{seed}\0{task}\0{repeat}".encode(errors="replace"), digest_size=16).digest()


def allocated(sizes: Mapping[Stratum, int], n: int) -> dict[Stratum, int]:
    """How many to draw from each stratum: passes apart, one at least where that is possible, the rest by size."""
    counts: dict[Stratum, int] = {}
    for passed, quota in _quotas(sizes, n).items():
        counts |= _by_size({stratum: size for stratum, size in sizes.items() if stratum[0] is passed}, quota)
    return counts


def _quotas(sizes: Mapping[Stratum, int], n: int) -> dict[bool, int]:
    """How many passes and how many others to draw."""
    passes = sum(size for stratum, size in sizes.items() if stratum[0])
    failures = sum(sizes.values()) - passes
    wanted = min(passes, max(round(n * PASSES), n - failures)) if failures else min(passes, n)
    return {False: min(failures, n - wanted), True: wanted}


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


def may_be_replaced(path: Path) -> bool:
    """Whether there is no such file, or one that holds rows to fill in and nothing that anybody wrote."""
    try:
        rows = [msgspec.json.decode(line) for line in path.read_bytes().splitlines() if line.strip()]
    except (OSError, msgspec.DecodeError):
        return not path.exists()
    return all(isinstance(row, dict) and "sample" in row and not any(map(row.get, TO_FILL_IN)) for row in rows)


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
            **dict.fromkeys(TO_FILL_IN, ""),
            "sample": structs.asdict(one.drawn),
        }
