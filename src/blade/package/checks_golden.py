"""D3: golden reports that say what the data says, with what stands beside each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.claims.values import Audit, Claim, ClaimVerdict
from blade.model.check import Check
from blade.package.checks_facts import facts_checks
from blade.package.checks_metrics import metrics_checks, said_model
from blade.package.checks_shallow import shallow_check
from blade.package.data import Data
from blade.package.documents import is_utf8, read_text, sections, shown
from blade.package.golden_audit import audited
from blade.package.layout import Golden, Package
from blade.package.meanings import OF_REPORT, Wanted, match, substance
from blade.package.open_checks import open_check
from blade.stats.task_matching import same_tasks

FEWEST_LINES = 40
LONGEST = 400_000
"""Characters of a report that are looked at; no reader takes in more."""
FEWEST_WORDS = 6
"""Of a section that says something."""
FEWEST_CITED = 3
FEWEST_QUOTES = 2
MOST_LISTED = 4
_OF_ITS_SECTIONS = {"Sometimes-pass deep dives", "Never-pass deep dives", "Cross-model comparison"}


def golden_checks(package: Package, data: Data, fewest_facts: int) -> Iterator[Check]:
    """Everything about D3, report by report."""
    yield _some(package)
    for golden in package.goldens:
        yield from _of_golden(golden, package, data, fewest_facts)
    yield open_check(package, "golden", "D3.open")


def _some(package: Package) -> Check:
    models = [golden for golden in package.goldens if not golden.comparison]
    return Check(
        code="D3.report",
        passed=bool(models),
        message="D3 golden report found" if models else "D3 golden report missing",
        found=", ".join(shown(golden.report, package.folder) for golden in package.goldens)
        or "looked for golden_reports/<model>_golden_report.md",
        fix="write golden_reports/<model>_golden_report.md for one model of rollouts/; "
        "`blade package init NAME --from RUN` drafts one",
    )


def _of_golden(golden: Golden, package: Package, data: Data, fewest_facts: int) -> Iterator[Check]:
    name, whole = shown(golden.report, package.folder), read_text(golden.report)
    text = whole[:LONGEST]
    run = None if golden.comparison else data.subject(golden, said_model(golden.metrics))
    yield _form(name, whole, is_utf8(golden.report))
    if not golden.comparison:
        yield _subject(name, run, data)
        yield _sections(name, text, data, run)
    found = audited(golden.report.name, text, data, run)
    yield _evidence(name, found, text, data, run)
    yield _audit(name, found, data, _command(golden, data, run))
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


def _subject(name: str, run: str | None, data: Data) -> Check:
    names = ", ".join(one.name for one in data.runs) or "none"
    return Check(
        code="D3.subject",
        passed=run is not None,
        message="D3 golden report is about a run of rollouts/",
        found=f"{name}: run {run}" if run is not None else f"{name}: no run is called so; there are {names}",
        fix="name the files alike: rollouts/<model>_rollouts.jsonl and golden_reports/<model>_golden_report.md",
    )


def _sections(name: str, text: str, data: Data, run: str | None) -> Check:
    written = sections(text)
    missing = []
    for wanted in OF_REPORT:
        found = match(wanted, written)
        words = substance(found) if found is not None else 0
        if wanted.title not in _OF_ITS_SECTIONS or _due(wanted, data, run):
            missing += (
                [wanted]
                if words < FEWEST_WORDS or not _about(wanted, found.body if found is not None else (), data, run)
                else []
            )
    return Check(
        code="D3.sections",
        passed=not missing,
        message="D3 golden report sections",
        found=f"{name}: " + (f"missing or empty: {', '.join(one.title for one in missing)}" if missing else "all due"),
        fix="; ".join(f"write `## {one.title}`: {one.holds}" for one in missing[:MOST_LISTED]),
    )


def _due(wanted: Wanted, data: Data, run: str | None) -> bool:
    """Deep dives are due where the run has such tasks, a comparison where another run has the same tasks."""
    if run is None:
        return False
    if wanted.title == "Cross-model comparison":
        mine = data.analyzed(run).run.tasks
        return any(same_tasks(mine, one.tasks).comparable for one in data.runs if one.name != run)
    bucket = "sometimes_pass" if wanted.title.startswith("Sometimes") else "never_pass"
    return bool(data.analyzed(run).metrics.buckets.get(bucket, 0))


def _about(wanted: Wanted, body: tuple[str, ...], data: Data, run: str | None) -> bool:
    """A comparison names the other run."""
    if wanted.title != "Cross-model comparison" or run is None:
        return True
    names = {name for one in data.runs if one.name != run for name in (one.name, one.model) if name}
    names |= {file.path.name.split(".")[0].removesuffix("_rollouts") for file in data.files if run not in file.runs}
    said = _plain("\n".join(body))
    return any(_plain(name) in said for name in names)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.lower())


def _evidence(name: str, found: Audit, text: str, data: Data, run: str | None) -> Check:
    lines = text.split("\n")
    prose = [claim for claim in found.claims if not lines[claim.line - 1].lstrip().startswith("|")]
    cited = {claim.token for claim in prose if claim.kind == "id" and claim.verdict is not ClaimVerdict.FALSE}
    quotes = sum(claim.kind == "quote" and claim.verdict is ClaimVerdict.TRUE for claim in found.claims)
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


def _command(golden: Golden, data: Data, run: str | None) -> str:
    files = [file.path.as_posix() for file in data.files if run in (None, *file.runs)]
    return f"blade audit {golden.report.as_posix()} --runs {' '.join(files)}"


def _audit(name: str, found: Audit, data: Data, command: str) -> Check:
    checked, all_ = found.count(ClaimVerdict.TRUE, ClaimVerdict.FALSE), len(found.claims)
    if not data.runs:
        return Check(
            code="D3.audit",
            passed=None,
            message="D3 golden report audited",
            found="there are no rollouts to hold it to",
        )
    listed = "; ".join(map(_false, found.false[:MOST_LISTED]))
    more = f"; and {len(found.false) - MOST_LISTED} more" if len(found.false) > MOST_LISTED else ""
    return Check(
        code="D3.audit",
        passed=not found.false and bool(all_),
        message="D3 golden report audited",
        found=f"{name}: {len(found.false)} of {all_:,} claims are false"
        + (f": {listed}{more}" if found.false else f", {checked:,} could be checked"),
        fix=f"put the right values in; `{command}` lists every claim",
    )


def _false(claim: Claim) -> str:
    right = f", found {claim.found}" if claim.found else ""
    return f"line {claim.line}: {claim.token!r} {claim.why}{right}"
