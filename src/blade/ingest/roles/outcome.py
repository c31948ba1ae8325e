"""Which field is the verdict on a rollout and which names its task, by what the other fields say of the same rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from blade.ingest.roles.paths import Sample
from blade.ingest.roles.results import SKIPPED, verdict_of
from blade.ingest.roles.stamps import seconds_of

Verdicts = list[float | None]
"""One number from 0 to 1 a row; None where a row has none."""

FEWEST_ROWS = 3
"""Two rows agree by chance."""
LEAST_AGREEMENT = 0.3
"""Mean correlation with the other verdicts: a flag of something else (a limit, a retry) stays below in every run looked at."""
LEAST_WITH_EQUAL = 0.5
"""Correlation of a verdict with whether two answers are equal: a judge accepts other spellings."""
FEWEST_SHARES = 3
"""Values of a field that measures how good something is; one with fewer is a verdict or a part of one."""
CLOSE = 0.02
"""Two fields whose agreement differs by less are told apart by their names, or not at all."""
LEAST_PRESENT = 0.5
"""A verdict stands in most rows; where a harness broke down there is none."""
FEWEST_PEERS = 3
"""Of two fields either may be a part of the other; three that nothing sets apart are columns of one kind."""
FEWEST_CONSTANT = 2
FEWEST_TASKS = 5
"""A value that groups the rows of a few tasks as their prompts do may be a category of the others."""
MOST_SHARED_BY = 0.8
"""Of all tasks, those that each model must have for the models to have been asked the same."""
MOST_REPEATS = 100
"""A value that more rows share is a category."""
MOST_DISTINCT = 2 / 3
"""Of the rows with repeats, those that may be the first of their task: with two repeats each it is half."""
LONGEST_ID = 100
MOST_SAME = 0.2
"""Of the rows, those in which a name of a task may be the value of another field by chance."""
FEWEST_SPACES = 3
"""Names of tasks have hardly more than three words."""

_NAMED_REWARD = ("reward", "score", "is_correct", "correct", "passed", "resolved", "is_resolved", "solved", "success")
_REWARD_WORDS = re.compile(r"reward|scor|correct|pass|resolv|solv|success|acc|verdict|outcome|grade|result")
_PARTS_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_BAD = (
    *(
        "fail",
        "error",
        "wrong",
        "incorrect",
        "invalid",
        "unsolved",
        "unresolved",
        "unsuccess",
        "timeout",
        "timed",
        "limit",
    ),
    *(
        "exceed",
        "truncat",
        "loss",
        "penalt",
        "violat",
        "crash",
        "refus",
        "abort",
        "mismatch",
        "unsafe",
        "attack",
        "jailbreak",
        "harm",
        "leak",
    ),
    *("hallucin", "toxic", "cheat", "returncode", "exitcode"),
)
_BAD_WORDS = frozenset(
    (
        "err",
        "rc",
        "exit",
        "bug",
        "bugs",
        "kill",
        "killed",
        "dead",
        "miss",
        "missed",
        "wer",
        "cer",
        "mae",
        "mse",
        "rmse",
        "ppl",
        "perplexity",
        "distance",
    )
)
"""How words begin, or which words are, with which people say that something went wrong; they decide which way a flag counts."""
_GOOD = (
    *(
        "pass",
        "correct",
        "right",
        "success",
        "succe",
        "solved",
        "resolv",
        "reward",
        "score",
        "accura",
        "acc",
        "grade",
        "mark",
    ),
    *(
        "ok",
        "good",
        "win",
        "won",
        "complet",
        "achiev",
        "accomplish",
        "done",
        "finish",
        "match",
        "verdict",
        "valid",
        "point",
    ),
    *("reached", "met", "satisf"),
)
_NEGATIONS = ("no", "not", "free", "without", "non", "un")
_AMOUNT = re.compile(r"cost|price|usd|seconds|latency|duration|temperature|top_?p$", re.IGNORECASE)
"""Amounts that may lie between 0 and 1 as well."""
_GRADES = ("reward", "score", "passed", "success", "resolved", "solved")
_NO_TASK = re.compile(r"answer|expect|extract|predict|gold|truth|label|target|output|response")
_TOKEN = re.compile(r"[\w./:#@~-]+")
_COUNTER_WORDS = re.compile(
    r"(?:n|num|i|idx)?_?(?:trial|run|attempt|repeat|repetition|sample|rollout|seed|try|rep|epoch|iter|iteration|replicate)"
    r"(?:_?(?:id|idx|index|no|num|number|nr))?",
    re.IGNORECASE,
)
"""Names of numbers that count attempts, or seed them."""
_HIGHEST_SEED = 1 << 31
_TASK_WORDS = re.compile(
    r"task|instance|problem|question|sample|example|case|item|exercise|puzzle|challenge|scenario|(?:^|_)id$|^name$|uuid|qid|key|index"
)


class Choice(Struct, frozen=True, kw_only=True):
    """The field that was chosen and why; None and a sentence where nothing decides."""

    path: str | None = None
    why: str = ""
    by_name: bool = False
    undecided: str = ""


def last(path: str) -> str:
    """The last name of a path."""
    return path.rpartition(".")[2]


def counts_attempts(path: str) -> bool:
    """Whether the name of a number says that it counts attempts, or seeds them."""
    return _COUNTER_WORDS.fullmatch(last(path)) is not None


def as_verdicts(column: Sequence[Any]) -> Verdicts | None:
    """A column of truth values, shares or verdict words as numbers; None where any value is something else."""
    found: Verdicts = []
    for value in column:
        if value is None:
            found.append(None)
        elif isinstance(value, bool | int | float) and 0 <= value <= 1:
            found.append(float(value))
        elif isinstance(value, str) and (word := verdict_of(value)) is not None:
            found.append(float(word))
        elif isinstance(value, str) and value.strip().lower() in SKIPPED:
            found.append(None)
        else:
            return None
    return found


def correlation(one: Verdicts, other: Verdicts) -> float | None:
    """Of the rows that have both; None where there are few, or one of them never changes."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if len(pairs) < FEWEST_ROWS:
        return None
    mean_a, mean_b = sum(a for a, _ in pairs) / len(pairs), sum(b for _, b in pairs) / len(pairs)
    var_a = sum((a - mean_a) ** 2 for a, _ in pairs)
    var_b = sum((b - mean_b) ** 2 for _, b in pairs)
    if var_a < 1e-12 or var_b < 1e-12:
        return None
    return float(sum((a - mean_a) * (b - mean_b) for a, b in pairs) / (var_a * var_b) ** 0.5)


def verdict_like(sample: Sample) -> dict[str, Verdicts]:
    """Every field outside of lists that may be a verdict."""
    found = {}
    for path in sample.scalars:
        if sample.present(path) >= LEAST_PRESENT * len(sample):
            verdicts = as_verdicts(sample.columns[path])
            if verdicts is not None:
                found[path] = verdicts
    return found


def says_bad(name: str) -> bool:
    """Whether a name says that something went wrong where the field is set: then it is no reward, but the reverse of one."""
    words = [word.lower() for word in _PARTS_OF_NAME.findall(last(name))]
    bad = any(word.startswith(_BAD) or word in _BAD_WORDS for word in words)
    return bad and not any(word.startswith(_GOOD) or word in _NEGATIONS for word in words)


def _is_two_edged(name: str) -> bool:
    """Whether a name speaks of success at something bad, as `attack_success` does: which way it counts is not told."""
    words = [word.lower() for word in _PARTS_OF_NAME.findall(last(name))]
    return any(word.startswith(_BAD) for word in words) and not any(word in _NEGATIONS for word in words)


def is_grade(path: str) -> bool:
    """Whether a name means what a grader gave, and cannot be a property of the task."""
    return any(word.lower().startswith(_GRADES) for word in _words(last(path))) and not _is_two_edged(path)


def is_in_words(column: Sequence[Any]) -> bool:
    """Whether a field is written in words of pass and fail, which say by themselves which is which."""
    return any(isinstance(value, str) for value in column)


def choose_reward(
    candidates: Mapping[str, Verdicts],
    checked: Mapping[str, Verdicts],
    says_itself: Callable[[str], bool] = lambda path: False,
    equal: Callable[[], Sequence[Verdicts]] = list,
) -> Choice:
    """The field that agrees best with the other verdicts of the same rows, checks above all.

    `says_itself` tells of a field whether it is in words; `equal` gives where two other fields of a row are equal, which a
    verdict on answers goes with.
    """
    candidates = {
        p: values for p, values in candidates.items() if says_itself(p) or not (says_bad(p) or _AMOUNT.search(last(p)))
    }
    varying = {path: values for path, values in candidates.items() if len({v for v in values if v is not None}) > 1}
    scored = {path: _agreement(path, values, varying, checked) for path, values in varying.items()}
    good = {path: score for path, score in scored.items() if score >= LEAST_AGREEMENT}
    if not good:
        return _by_name(candidates, varying, says_itself, equal)
    decided = [path for path in good if _decides(path, candidates, list(good))]
    if len(decided) == 1 and len(good) > 1:
        return Choice(path=decided[0], why="yes or no, by how high the other scores are")
    peers = _peers(good, candidates, checked)
    if peers:
        return Choice(
            undecided=f"the verdict may be {_listed(peers)}: nothing sets one apart; say --map reward={peers[0]}"
        )
    best = max(good.values())
    near = [path for path, score in good.items() if best - score <= CLOSE]
    near.sort(key=lambda path: candidates[path].count(None))
    first = _preferred([path for path in near if candidates[path].count(None) == candidates[near[0]].count(None)])
    others = [path for path in near if not _same(candidates[path], candidates[first])]
    against = f"agrees with {_listed([p for p in (*checked, *good) if p != first])}"
    if not others:
        return Choice(path=first, why=f"from 0 to 1, varies, and {against}")
    named = [path for path in near if _REWARD_WORDS.search(last(path).lower())]
    if named and all(_same(candidates[path], candidates[named[0]]) for path in named):
        return Choice(path=_preferred(named), why=f"{against}; of several, its name says so", by_name=True)
    return Choice(
        undecided=f"the verdict may be {_listed(near)}: they agree equally well; say --map reward={first}",
    )


def _decides(path: str, values: Mapping[str, Verdicts], near: Sequence[str]) -> bool:
    """Whether a field says yes just where every other one, which is a share, is above some value."""
    mine = values[path]
    if not _is_yes_and_no(mine):
        return False
    for other in (values[one] for one in near if one != path):
        pairs = [(a, b) for a, b in zip(mine, other, strict=True) if a is not None and b is not None]
        yes, no = [b for a, b in pairs if a], [b for a, b in pairs if not a]
        if len({*yes, *no}) < FEWEST_SHARES or not yes or not no or min(yes) <= max(no):
            return False
    return True


def _peers(good: Mapping[str, float], values: Mapping[str, Verdicts], checked: Mapping[str, Verdicts]) -> list[str]:
    """Fields of one kind that go together because they are of the same rows, such as a column for each of several models.

    None of them is named as a verdict, goes with checks, or is what others add up to.
    """
    paths = list(good)
    if len(paths) < FEWEST_PEERS or any(_REWARD_WORDS.search(path.lower()) for path in paths):
        return []
    for path in paths:
        others = [values[other] for other in values if other != path]
        by_checks = (correlation(values[path], held) or 0.0 for held in checked.values())
        if any(_same(values[path], one) for one in others) or any(r >= LEAST_AGREEMENT for r in by_checks):
            return []
        if any(_is_made_of(values[path], others, made) for made in (min, max, _mean)):
            return []
    return paths


def _is_made_of(mine: Verdicts, others: Sequence[Verdicts], made: Callable[[Sequence[float]], float]) -> bool:
    """Whether a field is the least, the highest or the mean of several others in every row."""
    used = [one for one in others if (correlation(mine, one) or 0.0) > 0]
    rows = [(value, [one[n] for one in used]) for n, value in enumerate(mine) if value is not None]
    if len(used) < 2:
        return False
    return all(None not in row and abs(made([v for v in row if v is not None]) - value) < 1e-6 for value, row in rows)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _same(one: Verdicts, other: Verdicts) -> bool:
    """Whether two fields say the same wherever both say anything."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _agreement(path: str, mine: Verdicts, others: Mapping[str, Verdicts], checked: Mapping[str, Verdicts]) -> float:
    """Mean correlation with the other verdicts; where all checks held exactly if this is 1, one more."""
    # A measure that is written down twice agrees with itself.
    measure = len({value for value in mine if value is not None}) >= FEWEST_SHARES
    others = {one: values for one, values in others.items() if one != path and not (measure and _same(mine, values))}
    found = [correlation(mine, values) for values in others.values()]
    known = [value for value in found if value is not None]
    base = sum(max(0.0, value) for value in known) / len(known) if known else 0.0
    by_checks = [correlation(mine, values) for values in checked.values()]
    best = max((value for value in by_checks if value is not None), default=0.0)
    return base + best if best >= LEAST_AGREEMENT else base


def _preferred(paths: Sequence[str]) -> str:
    """Of equal fields the one with a name that people use, then the least nested, then the first."""

    def key(path: str) -> tuple[int, int, int]:
        name = last(path).lower()
        known = _NAMED_REWARD.index(name) if name in _NAMED_REWARD else len(_NAMED_REWARD)
        return known, path.count("."), paths.index(path)

    return min(paths, key=key)


def _by_name(
    candidates: Mapping[str, Verdicts],
    varying: Mapping[str, Verdicts],
    says_itself: Callable[[str], bool],
    equal: Callable[[], Sequence[Verdicts]],
) -> Choice:
    """Where no verdicts agree: one in words, one that goes with equal answers, or one with a name that means a verdict."""
    named = [path for path in candidates if last(path).lower() in _NAMED_REWARD]
    # Inside of a result, `success` that never changes says that the call went through, and nothing of the answer.
    named = [path for path in named if path in varying or "." not in path or last(path).lower() != "success"]
    if named:
        first = _preferred(named)
        rivals = [p for p in named if last(p) == last(first) and p.count(".") == first.count(".")]
        if any(not _same(candidates[first], candidates[path]) for path in rivals):
            said = f"the verdict may be {_listed(rivals)}: each is of another grader"
            return Choice(undecided=f"{said}; say --map reward={first}")
        return Choice(path=first, why="its name means a verdict; nothing else tells", by_name=True)
    candidates = {
        p: v
        for p, v in candidates.items()
        if not (_TASK_WORDS.search(last(p).lower()) or _COUNTER_WORDS.fullmatch(last(p)) or _is_two_edged(p))
    }
    varying = {path: values for path, values in varying.items() if path in candidates}
    if not candidates:
        return Choice(undecided="no field from 0 to 1 may be the verdict; say --map reward=FIELD")
    worded = [path for path in varying if says_itself(path)]
    if len(worded) == 1:
        return Choice(path=worded[0], why="the only field with words of pass and fail")
    equals = equal() if varying else []
    going = {path: max((correlation(v, one) or 0.0 for one in equals), default=0.0) for path, v in varying.items()}
    best = max(going, key=lambda path: going[path], default=None)
    if best is not None and going[best] >= LEAST_WITH_EQUAL:
        return Choice(path=best, why=f"goes with two fields that are equal (correlation {going[best]:.2f})")
    meant = [path for path in varying if any(word.lower().startswith(_GOOD) for word in _words(path))]
    if len(meant) == 1 and _is_yes_and_no(varying[meant[0]]):
        return Choice(
            path=meant[0], why="yes in some rows and no in others, and its name speaks of success", by_name=True
        )
    tried = _preferred(list(varying or candidates))
    what = f"may be {_listed(list(varying or candidates))}"
    return Choice(undecided=f"the verdict {what}; say --map reward={tried}")


def _words(path: str) -> list[str]:
    """The words of a path, of the objects around a field too: `verdict.held` is a verdict."""
    return _PARTS_OF_NAME.findall(path)


def _is_yes_and_no(values: Verdicts) -> bool:
    return {v for v in values if v is not None} == {0.0, 1.0}


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:3])
    return shown + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def choose_task(
    sample: Sample,
    prompts: Sequence[str | None],
    taken: frozenset[str],
    of_key: frozenset[str] = frozenset(),
    models: Sequence[Any] | None = None,
) -> Choice:
    """The short value that groups the rows as their prompts do, or by which most other fields are constant.

    Without repeats the field only gives the tasks their names: then one that counts, or whose values are built alike.
    Fields `of_key` hold a question or an answer, unless their values are built as names are.
    """
    ids = [path for path in sample.scalars if path not in taken and _is_id(sample.columns[path], len(sample))]
    ids = [path for path in ids if path not in of_key or _oddness(sample, path) == 0]
    if not ids or len(sample) < FEWEST_ROWS:
        return Choice()
    told_by_prompt = all(prompts) and 1 < len(set(prompts)) < len(sample)
    repeated = [path for path in ids if len(set(sample.columns[path])) < len(sample)]
    if told_by_prompt:
        alike = [path for path in ids if _one_to_one(sample.columns[path], prompts)]
        return _of_equal(sample, alike, "stands for the prompt one to one") if alike else Choice()
    grouping = {p: _constant_within(sample, p, taken) for p in repeated if _names_tasks(sample, [p])}
    best = max(grouping.values(), default=0)
    # One field that is constant within another is as likely to be the coarser of two.
    if best >= FEWEST_CONSTANT and not all(prompts):
        chosen = [path for path, count in grouping.items() if count == best]
        chosen = chosen if len(chosen) > 1 else _counted_twins(sample, list(grouping)) or chosen
        return _of_equal(sample, chosen, f"{best} other fields are constant within it")
    # Prompts that all differ, such as the first words of a simulated user, tell no more than none.
    told = all(prompts) and len(set(prompts)) < len(sample)
    counted = [path for path in repeated if _is_counted(sample, path, taken, models)] if not told else []
    if counted:
        return _of_equal(sample, counted, "a number counts the attempts at each, and another text stands for it")
    crossed = [path for path in repeated if models is not None and _is_crossed(sample.columns[path], models)]
    if crossed:
        return _of_equal(sample, crossed, "each model has it once")
    unique = [path for path in ids if path not in repeated and not _NO_TASK.search(last(path).lower())]
    unique = [path for path in unique if not _is_compared(sample, path)]
    return _of_unique(sample, unique) if unique else Choice()


def _alike(sample: Sample, paths: Sequence[str]) -> list[list[str]]:
    """The fields that group the rows alike, together."""
    found: dict[tuple[int, ...], list[str]] = {}
    for path in paths:
        found.setdefault(tuple(_numbered(sample.columns[path])), []).append(path)
    return list(found.values())


def _counted_twins(sample: Sample, paths: Sequence[str]) -> list[str]:
    """Fields that group the rows alike, such as what was asked and what it is called, where a number counts the rows of each.

    What was answered may be finer than the task, so that all that is constant within the task is constant within it.
    """
    twins = [several for several in _alike(sample, paths) if len(several) > 1]
    counted = [several for several in twins if choose_repeat(sample, sample.columns[several[0]], frozenset(several))]
    return max(counted, key=lambda several: len(set(sample.columns[several[0]])), default=[])


def _names_tasks(sample: Sample, paths: Sequence[str]) -> bool:
    """Whether one of several fields that group the rows alike has enough values to name tasks, or is called so."""
    named = any(_TASK_WORDS.search(last(path).lower()) for path in paths)
    return named or len(set(sample.columns[paths[0]])) >= FEWEST_TASKS


def _is_compared(sample: Sample, path: str) -> bool:
    """Whether another field has the same value in many rows and another in some, as an answer beside the expected one has."""
    mine = [str(value) for value in sample.columns[path]]
    for other in sample.scalars:
        if other != path:
            same = sum(a == str(b) for a, b in zip(mine, sample.columns[other], strict=True))
            if MOST_SAME * len(mine) <= same < len(mine):
                return True
    return False


def _of_equal(sample: Sample, paths: Sequence[str], why: str) -> Choice:
    """Of fields that group the rows alike any does: one that looks like a name first."""
    if not _names_tasks(sample, paths):
        return Choice()
    paths = _with_twin(sample, paths)
    if len({tuple(_numbered(sample.columns[path])) for path in paths}) > 1:
        return Choice(undecided=f"the task may be {_listed(list(paths))}; say --map task={paths[0]}")
    return Choice(
        path=min(paths, key=lambda path: (_oddness(sample, path), not _is_token(sample, path), path.count("."))),
        why=why,
    )


def _with_twin(sample: Sample, paths: Sequence[str]) -> Sequence[str]:
    """Those that most of the fields group the rows alike; all where none stand out.

    What was asked and what it is called go one to one; an amount that is constant by chance has no such twin.
    """
    first, *others = sorted(_alike(sample, paths), key=len, reverse=True)
    return paths if others and len(first) == len(others[0]) else first


def _of_unique(sample: Sample, paths: Sequence[str]) -> Choice:
    """Of fields that differ from row to row the one that counts the rows, or whose values are built alike."""
    least = min(_oddness(sample, path) for path in paths)
    best = [path for path in paths if _oddness(sample, path) == least]
    best = [path for path in best if _is_token(sample, path)] or best
    named = [path for path in best if _TASK_WORDS.search(last(path).lower())]
    if len(best) == 1 and least < 3:
        return Choice(path=best[0], why="differs from row to row and counts or is built as names are")
    if named:
        return Choice(path=named[0], why="differs from row to row; of several, its name says so", by_name=True)
    return Choice(undecided=f"the task may be {_listed(best)}; say --map task={best[0]}")


def _is_token(sample: Sample, path: str) -> bool:
    """Whether all values are written as identifiers are, without a space or the marks of a sentence."""
    return all(_TOKEN.fullmatch(str(value)) for value in sample.of(path))


def _oddness(sample: Sample, path: str) -> int:
    """How little the values look like names of tasks: 0 where they differ in digits alone, 1 where they count, 2 in one word.

    Sentences are what was asked or said, and no names, though they differ in digits alone.
    """
    texts = [str(value) for value in sample.of(path)]
    if sum(text.count(" ") >= FEWEST_SPACES for text in texts) * 2 > len(texts):
        return 4
    if all(text.isdigit() for text in texts):
        numbers = {int(text) for text in texts}
        return 1 if max(numbers) - min(numbers) < 2 * len(numbers) + 10 else 3
    if len({re.sub(r"\d+", "0", text) for text in texts}) * 4 <= len(set(texts)):
        return 0
    return 2 if all(" " not in text for text in texts) else 4


def _numbered(column: Sequence[Any]) -> list[int]:
    known: dict[Any, int] = {}
    return [known.setdefault(value, len(known)) for value in column]


def _is_id(column: Sequence[Any], rows: int) -> bool:
    good = all(isinstance(value, str | int) and not isinstance(value, bool) for value in column)
    if not good or any(not 0 < len(str(value)) <= LONGEST_ID or "\n" in str(value) for value in column):
        return False
    if all(isinstance(value, str) and seconds_of(value) is not None for value in column):
        return False
    return len(set(column)) > max(1, rows // MOST_REPEATS)


def _one_to_one(column: Sequence[Any], prompts: Sequence[str | None]) -> bool:
    return len(set(column)) == len(set(prompts)) == len(set(zip(column, prompts, strict=True)))


def _constant_within(sample: Sample, path: str, taken: frozenset[str]) -> int:
    """How many varying fields have one value in each group of the field; none where it groups nothing."""
    column = sample.columns[path]
    # A count of tokens repeats in a few rows by chance, and all else is constant within it.
    if len(set(column)) > MOST_DISTINCT * len(column):
        return 0
    count = 0
    for other in sample.scalars:
        values = sample.columns[other]
        if other != path and other not in taken and len(set(values)) > 1:
            count += len(set(zip(column, values, strict=True))) == len(set(column))
    # A coarser field, such as a category, leaves more constant within it by chance: the task is the finest that does.
    return count


def _is_crossed(column: Sequence[Any], models: Sequence[Any]) -> bool:
    """Whether each of several models has a value at most once, and nearly the same values."""
    by_model: dict[Any, set[Any]] = {}
    for value, model in zip(column, models, strict=True):
        by_model.setdefault(model, set()).add(value)
    once = sum(map(len, by_model.values())) == len(column)
    return once and len(by_model) > 1 and min(map(len, by_model.values())) >= MOST_SHARED_BY * len(set(column))


def _is_counted(sample: Sample, path: str, taken: frozenset[str], models: Sequence[Any] | None = None) -> bool:
    """Whether a number counts the rows of each value alike, and a name says that one is a task or the other an attempt, or
    some other text, such as what was asked, stands for the value.

    Numbers within categories are counted too, but hardly any text stands for a category.
    """
    column = sample.columns[path]
    within = column if models is None else list(zip(column, models, strict=True))
    counter = choose_repeat(sample, within, frozenset((path,)))
    if counter is None or _TASK_WORDS.search(path.lower()) or _COUNTER_WORDS.fullmatch(last(counter)):
        return counter is not None
    if len(set(column)) < FEWEST_TASKS:
        return False
    twins = [other for other in sample.scalars if other != path and other not in taken]
    return any(
        all(isinstance(value, str) for value in sample.columns[other]) and _one_to_one(column, sample.columns[other])
        for other in twins
    )


def choose_repeat(sample: Sample, groups: Sequence[Any], taken: frozenset[str]) -> str | None:
    """The small whole number that counts up within each task."""
    if len(set(groups)) == len(groups):
        return None
    for path in sample.scalars:
        column = sample.columns[path]
        most_of_it = _HIGHEST_SEED if _COUNTER_WORDS.fullmatch(last(path)) else 10_000
        if path in taken or not all(type(value) is int and 0 <= value < most_of_it for value in column):
            continue
        if len(set(column)) > 1 and len(set(zip(groups, column, strict=True))) == len(column):
            by_group: dict[Any, list[int]] = {}
            for group, value in zip(groups, column, strict=True):
                by_group.setdefault(group, []).append(value)
            most = max(map(len, by_group.values()))
            if _COUNTER_WORDS.fullmatch(last(path)) and len({frozenset(values) for values in by_group.values()}) == 1:
                return path  # the same seeds in every task
            # An index comes back in every task; an amount that happens to grow with the rows does not.
            recurs = len(set(column)) <= 2 * most
            if recurs and all(max(values) - min(values) < 2 * len(values) + 2 for values in by_group.values()):
                return path
    return None
