"""What every rule over rollouts saw in a run, and how strongly it is tied to failing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from blade.core.diagnosis import Grade, Lookout
from blade.core.finding import Evidence, Hit
from blade.core.run import Run
from blade.detectors import Rule, find, rules
from blade.diagnose.exhibits import in_row
from blade.diagnose.habits import rollout_facts
from blade.diagnose.reading import Reading
from blade.metrics.association import within_tasks
from blade.metrics.counts import fired
from blade.metrics.grades import Graded, Slices, grade, observe

Facts = tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], Slices | None]
MOST_EVIDENCE = 3
READS_VERDICT = "it reads the verdict or the key, so its lift would test itself"


def observed(run: Run, taught: Sequence[Rule] = ()) -> list[tuple[Rule, Graded]]:
    """Every rule, of the catalogue and `taught`, with its association over the judged rollouts that it looked at."""
    rows = run.rollouts.select("task_id", "outcome", "fired", "cannot_look")
    judged = rows.filter(pl.col("outcome").is_in(["passed", "failed"]))
    whole = rollout_facts(judged, run)
    hits, unseen = _hits(judged), _unseen(judged)
    everywhere = (judged.height, int(whole[1].sum()))
    return [
        (rule, _observed(hits[rule.code], _seen(rule.code, judged, unseen), judged, whole, run))
        if rule.code in hits
        else (rule, _quiet(everywhere, unseen.get(rule.code, (0, 0))))
        for rule in (*rules(), *taught)
    ]


def _hits(rows: pl.DataFrame) -> dict[str, npt.NDArray[np.bool_]]:
    """By rule that fired in any of the rows: in which."""
    hits = rows.select("fired").with_row_index("row").drop_nulls("fired").explode("fired").unnest("fired")
    found = {}
    for code, places in hits.group_by("code").agg("row").iter_rows():
        found[code] = np.zeros(rows.height, np.bool_)
        found[code][places] = True
    return found


def _seen(code: str, rows: pl.DataFrame, unseen: Mapping[str, object]) -> pl.Series | None:
    """At which of the rows a rule could look; None for all."""
    return rows.select(~_cannot(code)).to_series() if code in unseen else None


def _codes(rows: pl.DataFrame) -> set[str]:
    """Rules that fired in any of the rows."""
    hits = rows.select("fired").drop_nulls().explode("fired")
    return set(hits.select(pl.col("fired").struct.field("code").unique())["code"])


def _unseen(rows: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """By rule: at how many of the rows it could not look, and how many of these failed."""
    failed = (pl.col("outcome") == "failed").sum().alias("failed")
    alike = rows.select("cannot_look", "outcome").drop_nulls("cannot_look").group_by("cannot_look")
    found: dict[str, tuple[int, int]] = {}
    for codes, times, lost in alike.agg(pl.len(), failed).iter_rows():
        for code in dict.fromkeys(codes):
            before = found.get(code, (0, 0))
            found[code] = before[0] + times, before[1] + lost
    return found


def _observed(
    hits: npt.NDArray[np.bool_], seen: pl.Series | None, judged: pl.DataFrame, whole: Facts, run: Run
) -> Graded:
    if seen is None:
        tasks, failed, slices = whole
        return observe(tasks, hits, failed, slices)
    tasks, failed, slices = rollout_facts(judged.filter(seen), run)
    return observe(tasks, hits[seen.to_numpy()], failed, slices)


def _quiet(judged: tuple[int, int], unseen: tuple[int, int]) -> Graded:
    """A rule that fired nowhere: there is nothing to test. Of rollouts that were judged, and of those that it could not see: all, and failed ones."""
    rollouts, failed = judged[0] - unseen[0], judged[1] - unseen[1]
    nothing = within_tasks([], [], [])
    return Graded(
        grade=Grade.NOT_SETTLED,
        association=nothing,
        fired_failed=0,
        fired_passed=0,
        failed=failed,
        passed=rollouts - failed,
    )


def _cannot(code: str) -> pl.Expr:
    return pl.col("cannot_look").list.contains(code).fill_null(False)


def lookouts(
    run: Run, seen: Sequence[tuple[Rule, Graded]], q: Sequence[float | None], reading: Reading
) -> tuple[Lookout, ...]:
    """Every rule with its grade and counts, by code; `q` is each one's value in the whole family."""
    rows = run.rollouts.select("task_id", "repeat", "outcome", "artifact", "fired", "cannot_look")
    rows = rows.filter(pl.col("artifact").is_not_null())
    hits = rows.drop_nulls("fired")
    codes, unseen, nowhere = _codes(hits), _unseen(rows), hits.clear()
    return tuple(
        _lookout(
            rule,
            look,
            value,
            reading,
            (rows.height, unseen.get(rule.code, (0, 0))[0]),
            hits.filter(fired([rule.code])) if rule.code in codes else nowhere,
        )
        for (rule, look), value in zip(seen, q, strict=True)
    )


def _lookout(
    rule: Rule, seen: Graded, q: float | None, reading: Reading, rows: tuple[int, int], hit: pl.DataFrame
) -> Lookout:
    """`rows` are how many there are, and at how many the rule could not look; `hit` are those in which it fired."""
    skipped = rows[1]
    found = seen.association
    taught = rule.family == "package"
    # A team may call a label enough for failing; rollouts that carry it and pass say otherwise.
    disproved = taught and seen.fired_passed > 0
    return Lookout(
        code=rule.code,
        name=rule.name,
        message=rule.message,
        suggests=rule.cause,
        kind=rule.kind,
        status=rule.status,
        grade=Grade.DIRECT if rule.kind == "direct" and not disproved else grade(seen, q),
        fired=hit.height,
        looked=rows[0] - skipped,
        skipped=skipped,
        tasks=hit["task_id"].n_unique(),
        fired_failed=seen.fired_failed,
        fired_passed=seen.fired_passed,
        failed=seen.failed,
        passed=seen.passed,
        risk_difference=found.risk_difference if rule.blind else None,
        odds_ratio=found.odds_ratio if rule.blind else None,
        p_value=found.p_value if rule.blind else None,
        q_value=q,
        informative=found.informative,
        reason=None if rule.blind and found.p_value is not None else found.reason if rule.blind else READS_VERDICT,
        evidence=tuple(_evidence(rule.code, hit, reading)),
        taught=taught,
    )


def _evidence(code: str, hit: pl.DataFrame, reading: Reading) -> list[Evidence]:
    """Quotes of the first rollouts that were read, failing ones first."""
    if hit.is_empty():
        return []
    ordered = reading.those_read(hit).sort(pl.col("outcome") == "passed", maintain_order=True)
    found: list[Evidence] = []
    for task, repeat, hits in ordered.select("task_id", "repeat", "fired").iter_rows():
        if len(found) >= MOST_EVIDENCE:
            break
        walk = reading.walks[task, repeat]
        one = next(one for one in hits if one["code"] == code)
        if not one["length"]:
            continue
        quoted = in_row(walk.rollout, find(walk.rollout, msgspec.convert(one, Hit)))
        found += [quoted] if quoted is not None else []
    return found
