"""What must hold between the findings of a run and the table of attributions that they are made of."""

from __future__ import annotations

import re

import polars as pl

from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import Diagnosis, Finding
from blade.modes.catalog import by_code

_LEARN = re.compile(r"learn from passing repeats of the same tasks: (?P<named>.+?)(?: and [\d,]+ more)?$")
_ALSO = re.compile(r"Also counted: (?P<told>[^.]+)\.")


def check_findings(one: RunAnalysis) -> int:
    """AssertionError where findings and table disagree; how many findings advise training."""
    if one.diagnosis is None:
        return 0
    found, table = one.diagnosis, one.diagnosis.partition.attributions.table
    for finding in found.findings:
        _counts_its_rows(finding, table)
    _said_when_counted_twice(found)
    _responsible_adds_up(found)
    return sum(_training_is_earned(finding, found, table) for finding in found.findings)


def _places(finding: Finding, table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.format("{}#{}", "task_id", "repeat").is_in(list(finding.locations)))


def _counts_its_rows(finding: Finding, table: pl.DataFrame) -> None:
    """A finding of a mode holds rollouts of that mode alone: with its subject, or all that no other finding has."""
    code, _, subject = finding.id.partition(":")
    if code not in by_code():
        return
    mine = _places(finding, table)
    assert mine["mode"].unique().to_list() == [code]
    assert finding.rollouts == len(finding.locations) or len(finding.locations) == 200
    rows = table.filter(pl.col("mode") == code)
    if subject:
        assert finding.rollouts == rows.filter(pl.col("subject") == subject).height
    assert finding.rollouts <= rows.height


def _said_when_counted_twice(found: Diagnosis) -> None:
    for number, finding in enumerate(found.findings):
        earlier = {place for other in found.findings[:number] for place in other.locations}
        told = _ALSO.search(finding.what)
        assert bool(earlier.intersection(finding.locations)) <= (told is not None), finding.id


def _responsible_adds_up(found: Diagnosis) -> None:
    whose = found.responsibility
    assert whose.failures == found.partition.table.height
    assert whose.failures == whose.agent + whose.not_agents + whose.limit + whose.suspected + whose.unknown


def _training_is_earned(finding: Finding, found: Diagnosis, table: pl.DataFrame) -> bool:
    """Training is advised for results of the agent alone, validly graded, of tasks without a defect; from real passes."""
    told = _LEARN.search(finding.fix)
    if told is None:
        assert "train" not in finding.fix
        return False
    failed = _places(finding, table)
    assert by_code()[finding.id.partition(":")[0]].result
    assert failed["party"].unique().to_list() == ["agent"]
    assert failed["valid"].all()
    named = told["named"].split(", ")
    passes = table.filter(pl.format("{}#{}", "task_id", "repeat").is_in(named))
    assert passes["outcome"].to_list() == ["passed"] * len(named)
    defects = [mode.code for mode in by_code().values() if mode.group == "benchmark"]
    broken = table.filter(pl.col("mode").is_in(defects) & (pl.col("confidence") != "suspected"))["task_id"]
    assert not set(passes["task_id"]) & set(broken)
    assert not set(named) & {one.location for one in found.passes_to_doubt}
    return True
