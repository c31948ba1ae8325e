"""What the first row of the artifacts tells, before all of them are read."""

from __future__ import annotations

from dataclasses import replace

from blade.ingest import run_details as about
from blade.ingest.artifacts import Found
from blade.ingest.plan import plan
from blade.ingest.scan import ScanSettings, gather, scan_chunk
from blade.ingest.sidecars import read_sidecars
from blade.ingest.split_runs import Group

_FAR = 1 << 20
"""Bytes in which a first usable row is looked for where the first line is none."""


def first_benchmark(found: Found) -> str | None:
    """The benchmark of the first file by its first row and its sidecars; other rows may tell another."""
    bundle = next(iter(found.bundles), None)
    if bundle is None or not bundle.format.splittable:
        return None
    files, pieces = plan(found)
    for end in (1, _FAR):
        rows = gather([scan_chunk(replace(pieces[0], end=end), ScanSettings(trajectories=False))]).rows
        if rows.height:
            break
    beside = read_sidecars(bundle.sidecars, {role: files.shown(path) for role, path in bundle.sidecars.items()})
    said = about.merged_facts([*beside.facts, bundle.format.facts(bundle.path)])
    agent = next(iter(rows["agent"]), None)
    group = Group(number=0, bundles=(0,), agent=agent, model=None, skills=None, name=bundle.name)
    return about.benchmark_of(group, [said], files)
