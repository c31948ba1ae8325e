"""D3: golden reports that say what the data says, with what stands beside each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.claims.values import Audit, ClaimVerdict
from blade.model.check import Check
from blade.package.checks_facts import facts_checks
from blade.package.checks_metrics import metrics_checks, sidecar_model
from blade.package.documents import (
    OF_REPORT,
    RequiredSection,
    Section,
    is_utf8,
    open_check,
    read_text,
    sections,
)
from blade.package.golden_audit import audit_against
from blade.package.layout import GoldenFiles, Package, shown
from blade.package.rollouts import PackageRollouts
from blade.package.shallow import shallow_check
from blade.stats.task_matching import same_tasks

FEWEST_LINES = 40
LONGEST = 400_000
"""Characters of a report that are looked at; no reader takes in more."""
FEWEST_WORDS = 6
"""Of a section that says something."""
FEWEST_CITED = 3
FEWEST_QUOTES = 2
MOST_LISTED = 4
_DEEP_DIVES = {"Sometimes-pass deep dives": "sometimes_pass", "Never-pass deep dives": "never_pass"}
_COMPARISON = "Cross-model comparison"


def golden_checks(package: Package, data: PackageRollouts, fewest_facts: int) -> Iterator[Check]:
    """Everything about D3, report by report."""
    of_models = [golden for golden in package.goldens if not golden.comparison]
    yield Check(
        code="D3.report",
        passed=bool(of_models),
        message="D3 golden report found" if of_models else "D3 golden report missing",
        found=", ".join(shown(golden.report, package.folder) for golden in package.goldens)
        or "looked for golden_reports/<model>_golden_report.md",
        fix="write golden_reports/<model>_golden_report.md for one model of rollouts/; "
        "`blade package init NAME --from RUN` drafts one",
    )
    for golden in package.goldens:
        yield from _of_golden(golden, package, data, fewest_facts)
    yield open_check(package, "golden", "D3.open")


def _of_golden(golden: GoldenFiles, package: Package, data: PackageRollouts, fewest_facts: int) -> Iterator[Check]:
    name, whole = shown(golden.report, package.folder), read_text(golden.report)
    text = whole[:LONGEST]
    run = None if golden.comparison else data.subject(golden, sidecar_model(golden.metrics))
    yield _form(name, whole, is_utf8(golden.report))
    if not golden.comparison:
        yield _subject(name, run, data)
        yield _sections(name, text, data, run)
    audit = audit_against(golden.report.name, text, data, run)
    yield _evidence(name, audit, text, data, run)
    yield _audit(name, audit, golden, data, run)
    if not golden.comparison or golden.metrics is not None:
        yield from metrics_checks(golden, package, data, run, text)
    if not golden.comparison or golden.facts is not None:
        yield from facts_checks(golden, package, data, run, text, fewest_facts)
    if not golden.comparison or golden.shallow is not None:
        yield shallow_check(golden, package, data, text)


def _form(name: str, text: str, utf8: bool) -> Check:
    lines = text.rstrip("\n").count("\n") + 1 if text.strip() else 0
    headings = len(sections(text))
    return Check(
        code="D3.report.form",
        passed=lines >= FEWEST_LINES and "##" in text and headings > 1 and utf8 and len(text) <= LONGEST,
        message="D3 golden report form",
        found=f"{name}: {lines:,} lines (at least {FEWEST_LINES}), {headings} headings"
        + ("" if utf8 else ", not UTF-8")
        + (f", {len(text):,} characters (at most {LONGEST:,})" if len(text) > LONGEST else ""),
        fix="write the report in Markdown with a `##` heading for each section",
    )


def _subject(name: str, run: str | None, data: PackageRollouts) -> Check:
    names = ", ".join(one.name for one in data.runs) or "none"
    return Check(
        code="D3.subject",
        passed=run is not None,
        message="D3 golden report is about a run of rollouts/",
        found=f"{name}: run {run}" if run is not None else f"{name}: no run is called so; there are {names}",
        fix="name the files alike: rollouts/<model>_rollouts.jsonl and golden_reports/<model>_golden_report.md",
    )


def _sections(name: str, text: str, data: PackageRollouts, run: str | None) -> Check:
    written = sections(text)
    missing = []
    for wanted in OF_REPORT:
        section = wanted.find(written)
        empty = section is None or section.words < FEWEST_WORDS
        if _is_due(wanted, data, run) and (empty or not _names_other_run(wanted, section, data, run)):
            missing.append(wanted)
    return Check(
        code="D3.sections",
        passed=not missing,
        message="D3 golden report sections",
        found=f"{name}: " + (f"missing or empty: {', '.join(one.title for one in missing)}" if missing else "all due"),
        fix="; ".join(f"write `## {one.title}`: {one.holds}" for one in missing[:MOST_LISTED]),
    )


def _is_due(wanted: RequiredSection, data: PackageRollouts, run: str | None) -> bool:
    """Deep dives are due where the run has such tasks, a comparison where another run has the same tasks."""
    bucket = _DEEP_DIVES.get(wanted.title)
    if bucket is None and wanted.title != _COMPARISON:
        return True
    if run is None:
        return False
    if bucket is not None:
        return bool(data.analyzed(run).metrics.buckets.get(bucket, 0))
    tasks = data.analyzed(run).run.tasks
    return any(same_tasks(tasks, other.tasks).comparable for other in data.runs if other.name != run)


def _names_other_run(wanted: RequiredSection, section: Section | None, data: PackageRollouts, run: str | None) -> bool:
    """A comparison must; nothing else need."""
    if wanted.title != _COMPARISON or run is None or section is None:
        return True
    names = {name for other in data.runs if other.name != run for name in (other.name, other.model) if name}
    names |= {file.path.name.split(".")[0].removesuffix("_rollouts") for file in data.files if run not in file.runs}
    text, *plain = (re.sub(r"[\W_]+", " ", one.lower()) for one in ("\n".join(section.body), *names))
    return any(name in text for name in plain)


def _evidence(name: str, audit: Audit, text: str, data: PackageRollouts, run: str | None) -> Check:
    lines = text.split("\n")
    prose = [claim for claim in audit.claims if not lines[claim.line - 1].lstrip().startswith("|")]
    cited = {claim.token for claim in prose if claim.kind == "id" and claim.verdict is not ClaimVerdict.FALSE}
    quotes = sum(claim.kind == "quote" and claim.verdict is ClaimVerdict.TRUE for claim in audit.claims)
    tasks = max((one.tasks.height for one in data.runs if run in (None, one.name)), default=0)
    needed = min(FEWEST_CITED, tasks) if tasks else FEWEST_CITED
    return Check(
        code="D3.evidence",
        passed=len(cited) >= needed and quotes >= FEWEST_QUOTES,
        message="D3 golden report cites task-level evidence",
        found=f"{name}: {len(cited)} tasks or rollouts named outside tables (at least {needed}), "
        f"{quotes} quotations found in the rollouts they are given for (at least {FEWEST_QUOTES})",
        fix='tie each finding to a place and its words, such as 39#1:6 "since you have insurance"; '
        "`blade show RUN PLACE` prints them",
    )


def _audit(name: str, audit: Audit, golden: GoldenFiles, data: PackageRollouts, run: str | None) -> Check:
    message = "D3 golden report audited"
    if not data.runs:
        return Check(code="D3.audit", passed=None, message=message, found="there are no rollouts to hold it to")
    false = []
    for claim in audit.false[:MOST_LISTED]:
        right = f", found {claim.found}" if claim.found else ""
        false.append(f"line {claim.line}: {claim.token!r} {claim.why}{right}")
    more = f"; and {len(audit.false) - MOST_LISTED} more" if len(audit.false) > MOST_LISTED else ""
    checked = f", {audit.count(ClaimVerdict.TRUE, ClaimVerdict.FALSE):,} could be checked"
    files = [file.path.as_posix() for file in data.files if run in (None, *file.runs)]
    return Check(
        code="D3.audit",
        passed=not audit.false and bool(audit.claims),
        message=message,
        found=f"{name}: {len(audit.false)} of {len(audit.claims):,} claims are false"
        + (f": {'; '.join(false)}{more}" if false else checked),
        fix=f"put the right values in; `blade audit {golden.report.as_posix()} --runs {' '.join(files)}` lists every claim",
    )
