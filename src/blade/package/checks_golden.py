"""D3: golden reports that say what the data says, with what stands beside each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from blade.claims.markdown import parse
from blade.claims.names import Names
from blade.claims.values import Audit, ClaimVerdict
from blade.model.check import Check
from blade.package.anchor_facts import DIFFICULTIES, AnchorFact, FactFile, read_facts
from blade.package.checks_metrics import metrics_checks, sidecar_model
from blade.package.documents import (
    OF_REPORT,
    RequiredSection,
    Section,
    is_utf8,
    numbers,
    open_check,
    read_text,
    sections,
    states,
)
from blade.package.golden_audit import audit_against
from blade.package.judge.asserted import CONTRADICTED
from blade.package.judge.score import judge_against
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


SHORTEST = 20
"""Characters of a fact."""
FEWEST_WORDS_OF_A_FACT = 4
ALIKE = 0.8
"""Share of words that two facts must have in common to be one."""
SUPPORTED = 0.5
"""Share of a fact's words that its report must have."""
MOST_JUDGED = 100
MOST_COMPARED = 500
"""Different facts that a further one is compared with word by word."""
_MARKUP = re.compile(r"[\\*\[\]<>|~]")
_WORD = re.compile(r"[^\W\d_][\w'-]{2,}|\d[\d.,]*")
_RANGE = re.compile(
    r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?:\s?%)?\s*(?:to|and|-|\u2013)\s*(\d[\d,]*(?:\.\d+)?)(\s?%|\s?percent)?(?![\w]|\.\d)"
)
_CODE = re.compile(r"`([^`\n]+)`|\"([^\"\n]{4,})\"|\u201c([^\u201d\n]{4,})\u201d")


def facts_checks(
    golden: GoldenFiles, package: Package, data: PackageRollouts, run: str | None, report: str, fewest: int
) -> Iterator[Check]:
    """Everything about one file of facts."""
    if golden.facts is None:
        name = shown(golden.report, package.folder)
        yield Check(
            code="D3.facts",
            passed=False,
            message="missing anchor facts",
            found=f"{name} has none; looked for golden_reports/{golden.model}_anchor_facts.json",
            fix=f"generate and review them: `blade package extract-anchor-facts --golden {golden.report.as_posix()} "
            f"--benchmark {package.benchmark} --model-name {golden.model} "
            f"--output {golden.report.with_name(golden.model + '_anchor_facts.json').as_posix()}`",
        )
        return
    name, file = shown(golden.facts, package.folder), read_facts(golden.facts)
    names = Names(data.analysis)
    yield _facts_form(name, file, fewest)
    if not file.facts:
        return
    fix = 'read each fact against its rollout, mend or remove it, and set its "status" to "reviewed"'
    drafts = [f"{fact.id} is {fact.status}" for fact in file.drafts]
    yield _check("reviewed", "are reviewed", name, drafts, f"{len(file.facts)} reviewed", fix)
    vague = [f"{fact.id} {why}" for fact in file.facts if (why := _vague(fact, names))]
    fix = f"name a task, a rollout, a tool or a number in each, in at least {SHORTEST} characters"
    yield _check("concrete", "are concrete", name, vague, f"{len(file.facts)} name ids or quantities", fix)
    yield _needs_reading(name, file.facts, names)
    yield _distinct(name, file.facts, fewest)
    yield _difficulty(name, file.facts)
    yield _supported(name, file.facts, names, report)
    yield _true(name, file.facts, data, run)


def _listed(faults: Sequence[str]) -> str:
    more = f"; and {len(faults) - MOST_LISTED} more" if len(faults) > MOST_LISTED else ""
    return "; ".join(faults[:MOST_LISTED]) + more


def _check(code: str, message: str, name: str, faults: Sequence[str], held: str, fix: str) -> Check:
    return Check(
        code=f"D3.facts.{code}",
        passed=not faults,
        message=f"D3 anchor facts {message}",
        found=f"{name}: {_listed(faults) or held}",
        fix=fix,
    )


def _facts_form(name: str, file: FactFile, fewest: int) -> Check:
    faults = list(map(str, file.problems))
    if len(file.facts) < fewest:
        faults.insert(0, f"{len(file.facts)} facts, at least {fewest} are needed")
    return Check(
        code="D3.facts",
        passed=not faults,
        message="D3 anchor facts found",
        found=f"{name}: {_listed(faults) or f'{len(file.facts)} facts'}",
        fix='write `{"benchmark": ..., "model": ..., "anchor_facts": [{"id": "B1", "fact": "...", "difficulty": "high"}]}`',
    )


def _vague(fact: AnchorFact, names: Names) -> str:
    if len(fact.fact) < SHORTEST:
        return f"has {len(fact.fact)} characters, at least {SHORTEST} are needed"
    if len(set(_words(fact.fact))) < FEWEST_WORDS_OF_A_FACT:
        return "says nothing in words"
    quantity = any(True for _ in numbers(fact.fact)) or (fact.claim is not None and fact.claim.value is not None)
    return "" if quantity or _names_in(fact, names) else "has no id, no number and no quotation"


def _names_in(fact: AnchorFact, names: Names) -> list[str]:
    """Ids, rollouts, tools and quotations of a fact."""
    tasks = [task.name for task in names.tasks_in(fact.fact)]
    rollouts = [place.task_id for place in names.locations_in(fact.fact) if place.task_id]
    quoted = [next(filter(None, match.groups())) for match in _CODE.finditer(fact.fact)]
    tools = [tool for one in names.analysis.runs for tool in one.run.tools]
    used = [tool for tool in tools if re.search(rf"\b{re.escape(tool)}\b", fact.fact)]
    return list(dict.fromkeys((*tasks, *rollouts, *quoted, *used)))


def _needs_reading(name: str, facts: Sequence[AnchorFact], names: Names) -> Check:
    """The tutorial asks to remove facts that the metrics alone give; one that has been marked so must go."""
    faults = [f"{fact.id} is marked aggregate_only" for fact in facts if fact.aggregate_only]
    plain = [fact.id for fact in facts if not _names_in(fact, names)]
    if not faults and 2 * len(plain) > len(facts):
        faults = [f"{', '.join(plain)} name no task, rollout, tool or words of one"]
    fix = "remove facts that the metrics alone give; write what a reader of rollouts found, with the task"
    held = f"{len(facts) - len(plain)} of {len(facts)} name a task, a rollout, a tool or its words"
    return _check("evidence", "need reading", name, faults, held, fix)


def _distinct(name: str, facts: Sequence[AnchorFact], fewest: int) -> Check:
    ids: dict[frozenset[str], str] = {}
    copies: dict[str, str] = {}
    for fact in facts:
        words = frozenset(_words(fact.fact))
        near = (words,) if words in ids else ids if len(ids) <= MOST_COMPARED else ()
        like = next((ids[other] for other in near if len(words & other) >= ALIKE * len(words | other)), None)
        if like is None:
            ids[words] = fact.id
        else:
            copies[fact.id] = like
    distinct = len(facts) - len(copies)
    faults = [f"{second} is like {first}" for second, first in copies.items()] if distinct < fewest else []
    fix = f"write at least {fewest} facts that say different things"
    return _check("distinct", "differ", name, faults, f"{distinct} of {len(facts)} differ", fix)


def _difficulty(name: str, facts: Sequence[AnchorFact]) -> Check:
    rated = [fact.difficulty for fact in facts if fact.difficulty]
    same = len(facts) > 2 and len(rated) == len(facts) and len(set(rated)) == 1
    unexplained = same and not all(fact.reason for fact in facts)
    faults = [f"all {len(facts)} are {rated[0]}, and no reason is given"] if unexplained else []
    held = ", ".join(f"{rated.count(one)} {one}" for one in DIFFICULTIES if one in rated) or "not rated"
    fix = 'rate each fact by how much reading it takes (high, medium, low), or say under "reason" why all are alike'
    return _check("difficulty", "are rated by difficulty", name, faults, held, fix)


class _SeenReport:
    """What a reader sees of a report, without markup: its text in one line, its words, its numbers."""

    def __init__(self, report: str) -> None:
        text = "\n".join(passage.text for passage in parse(report).everything)
        self.flat = " ".join(text.split()).replace("`", "")
        self.words = frozenset(_words(text))
        self.numbers = tuple(dict.fromkeys(numbers(text)))


def _supported(name: str, facts: Sequence[AnchorFact], names: Names, report: str) -> Check:
    """Facts whose names, numbers or words the golden report has not, or which it contradicts when it is judged by them."""
    seen = _SeenReport(report)
    verdicts = judge_against(report, facts[:MOST_JUDGED]).score(report).met
    against = {
        one.fact.id: f"the report does not say so ({one.why})"
        for one in verdicts
        if not one.supported or one.met == CONTRADICTED
    }
    faults = [f"{fact.id}: {why}" for fact in facts if (why := _unsupported(fact, names, seen) or against.get(fact.id))]
    fix = "keep only facts that the golden report states: the same tasks, the same numbers"
    return _check("supported", "stand in the golden report", name, faults, f"{len(facts)} do", fix)


def _unsupported(fact: AnchorFact, names: Names, report: _SeenReport) -> str:
    for name in _names_in(fact, names):
        if " ".join(name.split()).replace("`", "").strip(" .,;:") not in report.flat:
            return f"the report does not have {name!r}"
    missing = next(_missing_numbers(fact, names, report), None)
    if missing is not None:
        return f"the report does not have the number {missing}"
    words = set(_words(fact.fact))
    return "" if len(words & report.words) >= SUPPORTED * len(words) else "the report says nothing of the kind"


def _missing_numbers(fact: AnchorFact, names: Names, report: _SeenReport) -> Iterator[str]:
    """Numbers of a fact that its report does not have; of a range one number within it is enough."""
    text = _without_names(fact, names)
    stated = [value for value, _ in report.numbers]
    for match in _RANGE.finditer(text):
        low, high = sorted(float(end.replace(",", "")) for end in match.group(1, 2))
        scale = 100 if match[3] else 1
        if not any(low <= value * factor <= high for value in stated for factor in (1, scale)):
            yield match.group()
    found = list(numbers(_RANGE.sub(" ", text)))
    # A percentage is looked for as the fraction that it is; as it is written it would be asked for twice.
    fractions = {round(value * 100, 9) for value, digits in found if digits >= 2}
    for value, _ in found:
        if round(value, 9) not in fractions and not states(report.numbers, value):
            yield f"{value:g}"


def _without_names(fact: AnchorFact, names: Names) -> str:
    """A fact without its ids and quotations, which are looked for as they are."""
    text = _CODE.sub(" ", fact.fact)
    spans = [(one.start, one.end) for one in names.locations_in(text)]
    spans += [(one.start, one.end) for one in names.tasks_in(text)]
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _true(name: str, facts: Sequence[AnchorFact], data: PackageRollouts, run: str | None) -> Check:
    if not data.runs:
        message = "D3 anchor facts hold in the data"
        return Check(code="D3.facts.true", passed=None, message=message, found="there are no rollouts to hold them to")
    paragraphs = []
    for fact in facts:
        # As Markdown: what stands between backticks is code, everything else is what it is.
        parts = fact.fact.split("`")
        escaped = (part if number % 2 else _MARKUP.sub(r"\\\g<0>", part) for number, part in enumerate(parts))
        paragraphs.append("`".join(escaped))
    audit = audit_against(name, "\n\n".join(("# Facts", *paragraphs)), data, run)
    faults = []
    for claim in audit.false:
        fact = facts[min((claim.line - 3) // 2, len(facts) - 1)]
        faults.append(f"{fact.id}: {claim.token!r} {claim.why}" + (f", found {claim.found}" if claim.found else ""))
    fix = "put the right value in, or remove the fact"
    return _check("true", "hold in the data", name, faults, f"none of {len(audit.claims)} claims is false", fix)


def _words(text: str) -> list[str]:
    return [word.strip(".,") for word in _WORD.findall(text.lower())]
