"""The anchor facts of a golden report: reviewed, concrete, supported, true, and not all alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from blade.claims.markdown import parse
from blade.claims.names import Names
from blade.model.check import Check
from blade.package.asserted import CONTRADICTED
from blade.package.data import Data
from blade.package.documents import shown
from blade.package.facts import Fact, FactFile, read_facts
from blade.package.golden_audit import audited
from blade.package.layout import Golden, Package
from blade.package.numbers_in import numbers, stands
from blade.package.score import judge

SHORTEST = 20
"""Characters of a fact."""
FEWEST_WORDS = 4
ALIKE = 0.8
"""Share of words that two facts must have in common to be one."""
SUPPORTED = 0.5
"""Share of a fact's words that its report must have."""
MOST_LISTED = 4
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
    golden: Golden, package: Package, data: Data, run: str | None, report: str, fewest: int
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
    yield _form(name, file, fewest)
    if not file.facts:
        return
    yield _reviewed(name, file)
    yield _concrete(name, file.facts, names)
    yield _needs_reading(name, file.facts, names)
    yield _distinct(name, file.facts, fewest)
    yield _difficulty(name, file.facts)
    yield _supported(name, file.facts, names, report)
    yield _true(name, file.facts, data, run)


class _Report:
    """What a reader sees of a report, without markup: its text in one line, its words, its numbers."""

    def __init__(self, report: str) -> None:
        text = "\n".join(passage.text for passage in parse(report).everything)
        self.flat = " ".join(text.split()).replace("`", "")
        self.words = frozenset(_words(text))
        self.numbers = tuple(dict.fromkeys(numbers(text)))


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


def _form(name: str, file: FactFile, fewest: int) -> Check:
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


def _reviewed(name: str, file: FactFile) -> Check:
    faults = [f"{fact.id} is {fact.status}" for fact in file.drafts]
    fix = 'read each fact against its rollout, mend or remove it, and set its "status" to "reviewed"'
    return _check("reviewed", "are reviewed", name, faults, f"{len(file.facts)} reviewed", fix)


def _concrete(name: str, facts: Sequence[Fact], names: Names) -> Check:
    faults = [f"{fact.id} {why}" for fact in facts if (why := _vague(fact, names))]
    fix = f"name a task, a rollout, a tool or a number in each, in at least {SHORTEST} characters"
    return _check("concrete", "are concrete", name, faults, f"{len(facts)} name ids or quantities", fix)


def _vague(fact: Fact, names: Names) -> str:
    if len(fact.fact) < SHORTEST:
        return f"has {len(fact.fact)} characters, at least {SHORTEST} are needed"
    if len(set(_words(fact.fact))) < FEWEST_WORDS:
        return "says nothing in words"
    quantity = any(True for _ in numbers(fact.fact)) or (fact.claim is not None and fact.claim.value is not None)
    return "" if quantity or _names_in(fact, names) else "has no id, no number and no quotation"


def _names_in(fact: Fact, names: Names) -> list[str]:
    """Ids, rollouts, tools and quotations of a fact."""
    tasks = [one.name for one in names.tasks_in(fact.fact)]
    places = [one.task_id for one in names.locations_in(fact.fact) if one.task_id]
    quoted = [next(filter(None, found.groups())) for found in _CODE.finditer(fact.fact)]
    tools = [
        tool for one in names.analysis.runs for tool in one.run.tools if re.search(rf"\b{re.escape(tool)}\b", fact.fact)
    ]
    return list(dict.fromkeys((*tasks, *places, *quoted, *tools)))


def _needs_reading(name: str, facts: Sequence[Fact], names: Names) -> Check:
    """The tutorial asks to remove facts that the metrics alone give; one that has been marked so must go."""
    marked = [f"{fact.id} is marked aggregate_only" for fact in facts if fact.aggregate_only]
    plain = [fact.id for fact in facts if not _names_in(fact, names)]
    faults = marked or (
        [f"{', '.join(plain)} name no task, rollout, tool or words of one"] if 2 * len(plain) > len(facts) else []
    )
    fix = "remove facts that the metrics alone give; write what a reader of rollouts found, with the task"
    held = f"{len(facts) - len(plain)} of {len(facts)} name a task, a rollout, a tool or its words"
    return _check("evidence", "need reading", name, faults, held, fix)


def _distinct(name: str, facts: Sequence[Fact], fewest: int) -> Check:
    words: dict[frozenset[str], str] = {}
    copies: dict[str, str] = {}
    for fact in facts:
        mine = frozenset(_words(fact.fact))
        near = (mine,) if mine in words else words if len(words) <= MOST_COMPARED else ()
        like = next((words[one] for one in near if _overlap(one, mine) >= ALIKE), None)
        if like is None:
            words[mine] = fact.id
        else:
            copies[fact.id] = like
    distinct = len(facts) - len(copies)
    faults = [f"{second} is like {first}" for second, first in copies.items()] if distinct < fewest else []
    fix = f"write at least {fewest} facts that say different things"
    return _check("distinct", "differ", name, faults, f"{distinct} of {len(facts)} differ", fix)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def _difficulty(name: str, facts: Sequence[Fact]) -> Check:
    rated = [fact.difficulty for fact in facts if fact.difficulty]
    same = len(facts) > 2 and len(rated) == len(facts) and len(set(rated)) == 1
    unexplained = same and not all(fact.reason for fact in facts)
    faults = [f"all {len(facts)} are {rated[0]}, and no reason is given"] if unexplained else []
    held = ", ".join(f"{rated.count(one)} {one}" for one in ("high", "medium", "low") if one in rated) or "not rated"
    fix = 'rate each fact by how much reading it takes (high, medium, low), or say under "reason" why all are alike'
    return _check("difficulty", "are rated by difficulty", name, faults, held, fix)


def _supported(name: str, facts: Sequence[Fact], names: Names, report: str) -> Check:
    seen, judged = _Report(report), _judged(facts, report)
    faults = [
        f"{fact.id}: {why}" for fact in facts if (why := _unsupported(fact, names, seen) or judged.get(fact.id, ""))
    ]
    fix = "keep only facts that the golden report states: the same tasks, the same numbers"
    return _check("supported", "stand in the golden report", name, faults, f"{len(facts)} do", fix)


def _unsupported(fact: Fact, names: Names, report: _Report) -> str:
    absent = [one for one in _names_in(fact, names) if _bare(one) not in report.flat]
    if absent:
        return f"the report does not have {absent[0]!r}"
    missing = next(_missing_numbers(fact, names, report), None)
    if missing is not None:
        return f"the report does not have the number {missing}"
    words = set(_words(fact.fact))
    held = words & report.words
    return "" if len(held) >= SUPPORTED * len(words) else "the report says nothing of the kind"


def _judged(facts: Sequence[Fact], report: str) -> dict[str, str]:
    """Facts that no sentence of the golden report bears out, or that one contradicts, when it is judged by them."""
    met = judge(report, facts[:MOST_JUDGED]).score(report).met
    against = [one for one in met if not one.supported or one.met == CONTRADICTED]
    return {one.fact.id: f"the report does not say so ({one.why})" for one in against}


def _bare(name: str) -> str:
    return " ".join(name.split()).replace("`", "").strip(" .,;:")


def _missing_numbers(fact: Fact, names: Names, report: _Report) -> Iterator[str]:
    """Numbers of a fact that its report does not have; of a range one number within it is enough."""
    text = _without_names(fact, names)
    stated = [value for value, _ in report.numbers]
    for found in _RANGE.finditer(text):
        low, high = sorted(float(one.replace(",", "")) for one in found.group(1, 2))
        scale = 100 if found[3] else 1
        if not any(low <= value * factor <= high for value in stated for factor in (1, scale)):
            yield found.group()
    for value, _ in _once(numbers(_RANGE.sub(" ", text))):
        if not stands(value, report.numbers):
            yield f"{value:g}"


def _without_names(fact: Fact, names: Names) -> str:
    """A fact without its ids and quotations, which are looked for as they are."""
    text = _CODE.sub(" ", fact.fact)
    spans = [(one.start, one.end) for one in names.locations_in(text)]
    spans += [(one.start, one.end) for one in names.tasks_in(text)]
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _once(found: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """A percentage is looked for as the fraction that it is; as it is written it would be asked for twice."""
    seen = list(found)
    fractions = {round(value * 100, 9) for value, digits in seen if digits >= 2}
    yield from (one for one in seen if round(one[0], 9) not in fractions)


def _true(name: str, facts: Sequence[Fact], data: Data, run: str | None) -> Check:
    message = "D3 anchor facts hold in the data"
    if not data.runs:
        return Check(code="D3.facts.true", passed=None, message=message, found="there are no rollouts to hold them to")
    text = "# Facts\n\n" + "\n\n".join(_as_markdown(fact.fact) for fact in facts)
    found = audited(name, text, data, run)
    faults = []
    for claim in found.false:
        fact = facts[min((claim.line - 3) // 2, len(facts) - 1)]
        faults.append(f"{fact.id}: {claim.token!r} {claim.why}" + (f", found {claim.found}" if claim.found else ""))
    fix = "put the right value in, or remove the fact"
    return _check("true", "hold in the data", name, faults, f"none of {len(found.claims)} claims is false", fix)


def _as_markdown(sentence: str) -> str:
    """A plain sentence in Markdown: what stands between backticks is code, everything else is what it is."""
    parts = sentence.split("`")
    return "`".join(part if place % 2 else _MARKUP.sub(r"\\\g<0>", part) for place, part in enumerate(parts))


def _words(text: str) -> list[str]:
    return [word.strip(".,") for word in _WORD.findall(text.lower())]
