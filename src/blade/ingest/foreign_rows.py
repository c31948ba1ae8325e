"""Rows out of documents of nobody's harness: where the records are, what judges them, and what was said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from msgspec import Struct

from blade.ingest import cells, fields
from blade.ingest.mapping import is_talk, reward_of
from blade.ingest.roles.outcome import counts_attempts
from blade.ingest.roles.results import is_result, verdict_fields, verdict_of

_DEEPEST = 6
_ALIKE = 0.5
"""Of the fields that most records of a list have, the share that a record must have to be of the same kind."""
_LONGEST_KEY = 200
_FEWEST_GRADED = 3
"""Records in which the same names must come back: in two they may by chance."""
_SAME_GRADERS = 0.8
"""Of the records, those that have the usual graders; some leave one out."""
_LOOKED_AT = 50
_LEARNED_FROM = 100
"""Records from which a verdict is learned that has no usual name."""
_NAMES = re.compile(r"(?:id|name|task|case|key|test)$", re.IGNORECASE)
_REWARDS = ("reward", "score")
_DECISIVE = frozenset(("pass", "passed", "fail", "failed", "correct", "incorrect"))
_DIGITS = re.compile(r"[\d._-]+")
_VERSIONED = re.compile(r"[a-zA-Z].*\d")
_WANTED = re.compile(r"expect|want|target|gold|should", re.IGNORECASE)
"""What a test is meant to do, which is no verdict on what it did."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NO_VERDICT = ("error", "errors", "errored", "crashed", "timeout")
"""What keeps a task from a verdict, in the name of a list."""
_ATTEMPT = re.compile(
    r"(.+?)[._/-]+(?:trial|run|attempt|repeat|sample|rollout|seed|try|rep|epoch|iter)[._-]?(\d+)", re.IGNORECASE
)
"""A name that counts attempts at what it names."""

Fields = dict[str, Any]


class Records(Struct, frozen=True, kw_only=True):
    """The records of a document in order."""

    path: str
    """Where they stand, with `*` for every entry of a list or a map."""
    rows: list[Fields]


def records_of(value: Any) -> Records | None:
    """The records that look most like rollouts: judged, many, and not the parts of another that is judged itself."""
    found: dict[str, list[Fields]] = {}
    _collect(_laid_out(value), "", {}, found, 0)
    kinds = [
        Records(path=path, rows=rows)
        for path, rows in found.items()
        if _is_one_kind(rows) and not _are_graders(path, found)
    ]
    judged = [one for one in kinds if verdict_field(one.rows) is not None]
    outer = [one for one in judged if not any(_holds(other, one) for other in judged)]
    return max(outer or kinds, key=lambda one: (len(one.rows), -one.path.count(".")), default=None)


def _laid_out(value: Any) -> Any:
    """A table that is written column by column, or verdicts on the attempts at each task, as a list of records."""
    if not isinstance(value, dict) or len(value) < 2:
        return value
    columns = list(value.values())
    if (rows := _table_in(columns) or _ids_by_verdict(value)) is not None:
        return rows
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    if _are_columns(list(lists.values())):
        rest = {name: one for name, one in value.items() if not isinstance(one, dict | list)}
        return [rest | dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    if all(isinstance(column, dict) for column in columns):
        places = [str(place) for place in range(len(columns[0]))]
        if len(places) > 1 and all(list(column) == places for column in columns):
            return [{name: column[place] for name, column in value.items()} for place in places]
    tries = [column for column in columns if isinstance(column, list) and all(isinstance(one, bool) for one in column)]
    # Longer lists may be the tasks of a few models.
    if len(tries) == len(columns) and 0 < max(map(len, tries)) < len(value):
        return [
            {"task_id": task, "repeat": place, "passed": one}
            for task, attempts in value.items()
            for place, one in enumerate(attempts)
        ]
    return value


def _table_in(values: Sequence[Any]) -> list[Fields] | None:
    """The rows of a table that is written as the names of its columns and a list of cells for each row."""
    plain = [one for one in values if isinstance(one, list) and len(one) > 1]
    for names in plain:
        if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
            for rows in plain:
                if rows is not names and all(isinstance(row, list) and len(row) == len(names) for row in rows):
                    return [dict(zip(names, row, strict=True)) for row in rows]
    return None


def _ids_by_verdict(value: Mapping[str, Any]) -> list[Fields] | None:
    """The tasks of a summary that lists the names of those that passed and of those that failed; None for any other.

    Those that only a longer list of all of them names have no verdict.
    """
    lists = {name: one for name, one in value.items() if isinstance(one, list) and all(isinstance(v, str) for v in one)}
    verdicts: dict[str, bool] = {}
    for name, listed in lists.items():
        words = {verdict_of(word) for word in _PARTS.findall(name) if word.lower() not in _NO_VERDICT} - {None}
        for task in listed if len(words) == 1 else ():
            if verdicts.setdefault(task, True in words) is not (True in words):
                return None
    if len(verdicts) < _FEWEST_GRADED or len({*verdicts.values()}) < 2:
        return None
    every = max((one for one in lists.values() if verdicts.keys() <= {*one}), key=len, default=list(verdicts))
    about = {name: one for name, one in value.items() if isinstance(one, str)}
    return [about | {"task_id": task, "passed": verdicts.get(task)} for task in dict.fromkeys(every)]


def _are_columns(lists: Sequence[list[Any]]) -> bool:
    """Whether lists are the columns of one table: as long as each other, of plain values, and not all of one kind."""
    plain = all(not isinstance(value, dict | list) for one in lists for value in one)
    kinds = {frozenset(type(value) for value in one if value is not None) for one in lists}
    return plain and len(set(map(len, lists))) == 1 and len(lists[0]) >= _FEWEST_GRADED and len(kinds) > 1


def _are_graders(path: str, found: Mapping[str, Sequence[Fields]]) -> bool:
    """Whether the records of a path are what the graders of the records around them found."""
    around, _, name = path.removesuffix(".*").rpartition(".*.")
    outer = found.get(f"{around}.*") if name else None
    return bool(outer) and are_graders([row.get(name) for row in outer or ()])


def are_graders(lists: Sequence[Any]) -> bool:
    """Whether lists hold one object for each of the same few names: graders or criteria of one rollout, and no attempts.

    A list with an object for each of several models or agents holds attempts.
    """
    full = [[item for item in one if isinstance(item, dict)] for one in lists if isinstance(one, list) and one]
    if len(full) < _FEWEST_GRADED:
        return False
    ours = {path for field_ in ("model", "agent") for path in fields.BY_NAME[field_].paths}
    names = set.intersection(*(set(item) for one in full for item in one)) - ours
    return any(_names_the_same([[item[name] for item in one] for one in full]) for name in names)


def _names_the_same(named: Sequence[Sequence[Any]]) -> bool:
    """Whether words tell the objects of each list apart, and are the same words in nearly all lists."""
    if not all(isinstance(value, str) and not value.strip().isdecimal() for one in named for value in one):
        return False
    if any(len(set(one)) < len(one) for one in named) or max(map(len, named)) < 2:
        return False
    usual, count = Counter(frozenset(one) for one in named).most_common(1)[0]
    return len(usual) > 1 and count >= _SAME_GRADERS * len(named) and verdict_words(usual) < len(usual)


def verdict_words(values: Iterable[str]) -> int:
    """How many of some values are words of pass and fail."""
    return sum(verdict_of(value) is not None for value in values)


def _holds(outer: Records, inner: Records) -> bool:
    """Whether the inner ones are parts of the outer: their checks. A share of attempts that passed is no verdict of its own."""
    if not inner.path.startswith(f"{outer.path}."):
        return False
    return not _is_share_of(outer, inner)


def _is_share_of(outer: Records, inner: Records) -> bool:
    """Whether the outer verdict is the mean of the inner ones, and some lie between all and none."""
    field_, inner_field = verdict_field(outer.rows), verdict_field(inner.rows)
    shares = {reward_of(row.get(field_)) for row in outer.rows} if field_ else set()
    names = [
        {str(value) for name, value in row.items() if name in fields.ID_NAMES or name == "name"} for row in inner.rows
    ]
    recurring = len({name for one in names for name in one}) < sum(map(len, names))
    return inner_field is not None and not recurring and any(share not in (0.0, 1.0, None) for share in shares)


def _collect(value: Any, path: str, around: Fields, found: dict[str, list[Fields]], depth: int) -> None:
    """Gather the objects of every list and every map of ids below a value; `around` are the fields that they inherit."""
    if depth > _DEEPEST:
        return
    entries: Iterable[tuple[str | None, Any]]
    if isinstance(value, list):
        entries = ((None, item) for item in value)
    elif _is_map(value):
        entries = value.items()
    else:
        _collect_inside(value, f"{path}." if path else "", around, found, depth)
        return
    here = f"{path}.*" if path else "*"
    counted, grouped = _counted(value, around), _grouped_by(value)
    for key, item in entries:
        if isinstance(item, list) or (isinstance(item, dict) and grouped):
            _collect(item, here, around | ({grouped or "task_id": key} if key is not None else {}), found, depth + 1)
        elif isinstance(item, dict):
            record = {**around, **item}
            if key in counted:
                record.setdefault("repeat", counted[key])
            elif key is not None and not any(name in item for name in fields.ID_NAMES):
                record["task_id"] = f"{around['task_id']}/{key}" if "task_id" in around else key
            found.setdefault(here, []).append(record)
            _collect_inside(item, f"{here}.", _inherited(record), found, depth)


def _grouped_by(value: Any) -> str:
    """What the keys of a map name whose entries are maps of records themselves: categories, tasks with their attempts, or
    models that did the same tasks; empty for any other map.

    A few names that come back in more entries than they are name graders, and the entries are records.
    """
    inner = list(value.values()) if isinstance(value, dict) else []
    if not inner or not all(map(_is_map, inner)):
        return ""
    names = {name for one in inner for name in one}
    if len(names) <= len(inner) and not all(_counted(one, {"task_id": ""}) for one in inner):
        return ""
    shared = len({frozenset(one) for one in inner}) == 1
    return "model" if shared and name_models([*value]) else "task_id"


def _counted(value: Any, around: Mapping[str, Any]) -> dict[str | None, int]:
    """The numbers of attempts at the task around them, by the keys of a map that are such numbers; empty for any other."""
    keys = list(value) if isinstance(value, dict) and "task_id" in around else []
    named = [named_attempt(f"x.{key}") for key in keys]
    if all(key.isdecimal() and int(key) <= len(keys) for key in keys):
        return {key: int(key) for key in keys}
    return {key: one[1] for key, one in zip(keys, named, strict=True) if one is not None} if all(named) else {}


def _collect_inside(value: Any, path: str, around: Fields, found: dict[str, list[Fields]], depth: int) -> None:
    for name, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict | list) and inner:
            _collect(inner, f"{path}{name}", around, found, depth + 1)


def _inherited(record: Fields) -> Fields:
    """What a record hands down to those inside it: its values, but no verdict of its own."""
    own = (*_REWARDS, *fields.VERDICTS)
    return {name: value for name, value in record.items() if not isinstance(value, dict | list) and name not in own}


def _is_map(value: Any) -> TypeGuard[dict[str, Any]]:
    """A map from ids to records: at least two objects or lists of objects, all alike."""
    if not isinstance(value, dict):
        return False
    inner = list(value.values())
    if len(inner) < 2:
        return False
    if all(isinstance(item, list) and item and all(isinstance(one, dict) for one in item) for item in inner):
        inner = [one for item in inner for one in item]
    return all(isinstance(item, dict) and item for item in inner) and _is_one_kind(inner)


def _is_one_kind(rows: Sequence[Mapping[str, Any]]) -> bool:
    counts: dict[str, int] = {}
    for row in rows:
        for name in row:
            counts[name] = counts.get(name, 0) + 1
    usual = {name for name, count in counts.items() if 2 * count > len(rows)}
    return bool(usual) and all(len(usual & row.keys()) >= _ALIKE * len(usual) for row in rows)


def verdict_field(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The field that judges the records: a reward or verdict by its usual name, else the only one with words of pass and fail."""
    for name in (*_REWARDS, *fields.VERDICTS, "pass"):
        values = [row[name] for row in rows if row.get(name) is not None]
        if values and all(reward_of(value) is not None for value in values):
            return name
    nested = [path for path in fields.NESTED_REWARDS if any(cells.number(_at(row, path)) is not None for row in rows)]
    if nested:
        return nested[0]
    worded = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if not _WANTED.search(name) and _is_worded([row[name] for row in rows if row.get(name) is not None], len(rows))
    ]
    return worded[0] if len(worded) == 1 else _verdict_by_content(rows)


def _verdict_by_content(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The field that the values of the records show to be their verdict."""
    from blade.ingest.roles.learn import learn_roles

    learned = learn_roles(rows[:_LEARNED_FROM])
    paths = [path for path in learned.paths("reward") if any(_at(row, path) is not None for row in rows)]
    return paths[0] if paths else None


def _is_worded(values: Sequence[Any], rows: int) -> bool:
    if 2 * len(values) <= rows or not all(isinstance(value, str) for value in values):
        return False
    words = {value.strip().lower() for value in values}
    return all(map(is_result, words)) and not _DECISIVE.isdisjoint(words)


def _at(row: Mapping[str, Any], path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def as_rollouts(rows: Sequence[Fields], *, nested: bool) -> Iterator[Fields]:
    """The records under the names that rows have: with the reward that judges them, and what was said as messages."""
    judge, talk, name = verdict_field(rows), talk_field(rows), _name_field(rows, nested=nested)
    return (as_rollout(row, judge, talk, name) for row in rows)


def _name_field(rows: Sequence[Mapping[str, Any]], *, nested: bool) -> str | None:
    """Of records without a known id, the field that tells them apart by a short name; `nested` ones share their task's."""
    if len(rows) < 2 or any(given in row for row in rows[:_LOOKED_AT] for given in fields.ID_NAMES):
        return None
    names = [name for name in rows[0] if _NAMES.search(name) and all(_is_name(row.get(name)) for row in rows)]
    counts = {name: len({row[name] for row in rows}) for name in names}
    shared = [name for name in names if 1 < counts[name] < len(rows)] if nested else []
    return next(iter([*shared, *(name for name in names if counts[name] == len(rows))]), None)


def _is_name(value: Any) -> bool:
    if type(value) is int:
        return True
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_KEY and value.count(" ") < 2 and "\n" not in value


def as_rollout(row: Fields, judge: str | None, talk: str | None, name: str | None = None) -> Fields:
    """A record with the reward that its field `judge` gives, what was said in its field `talk` as messages, and its name."""
    found = dict(row) if name is None else {"task_id": row[name], **row}
    if judge is not None and "reward" not in row:
        found["reward"] = reward_of(_at(row, judge))
    if talk is not None and talk != "messages":
        found["messages"] = _as_messages(found.pop(talk, None))
    return found


def named_attempt(name: str) -> tuple[str, int] | None:
    """The task and the number of the attempt in a name such as `sort-list.trial-2`."""
    found = _ATTEMPT.fullmatch(name)
    return (found[1], int(found[2])) if found is not None else None


def name_models(names: Sequence[str]) -> bool:
    """Whether several names are those of models: most have a version or a size, and none is another with another number."""
    stems = {_DIGITS.sub("", name) for name in names}
    return (
        len(names) > 1 and len(stems) == len(names) and 2 * sum(map(bool, map(_VERSIONED.search, names))) > len(names)
    )


def talk_field(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Of records without a known trajectory, the field that holds what was said or done."""
    known = {path.partition(".")[0] for path in fields.BY_NAME["trajectory"].paths}
    if any(row.get(name) for row in rows for name in known):
        return None
    names = dict.fromkeys(name for row in rows for name in row)
    return next((name for name in names if _is_said([row[name] for row in rows if row.get(name)], len(rows))), None)


def _is_said(values: Sequence[Any], rows: int) -> bool:
    return 2 * len(values) > rows and all(is_talk(value) or _speech(value) is not None for value in values)


def _as_messages(value: Any) -> Any:
    """A talk as messages; items under names of their own are put under the usual ones."""
    if not isinstance(value, list) or is_talk(value):
        return value
    names = _speech(value)
    if names is None:
        return value
    who, what = names
    return [{**item, "actor": item.get(who), "content": item.get(what)} for item in value]


def _speech(value: Any) -> tuple[str, str] | None:
    """Who and what, by content: a short text that recurs, and the longest text, in every item of a list of objects."""
    if not isinstance(value, list) or len(value) < 3 or not all(isinstance(item, dict) for item in value):
        return None
    if verdict_fields(value):
        return None  # each of them is judged: they are checks or attempts
    shared = set.intersection(*({name for name, inner in item.items() if isinstance(inner, str)} for item in value))
    lengths = {name: sum(len(item[name]) for item in value) for name in sorted(shared)}
    what = max(lengths, key=lambda name: lengths[name], default=None)
    whos = [
        name
        for name in lengths
        if name != what
        and len({item[name] for item in value}) < len(value)
        and all(" " not in item[name].strip() for item in value)
    ]
    who = next((name for name in whos if len({item[name] for item in value}) > 1), None)
    return (who, what) if who is not None and what is not None else None


def steps_of_episodes(rows: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """The field that ends an episode and the one that names it, where rows are steps: another counts up until the end and
    starts again.
    """
    names = list(rows[0]) if rows else []
    flags = (name for name in names if not fields.is_verdict(name) and all(type(row.get(name)) is bool for row in rows))
    for end in flags:
        episodes: list[list[Mapping[str, Any]]] = [[]]
        for row in rows:
            episodes[-1].append(row)
            episodes += [[]] if row[end] else []
        whole = episodes[:-1]
        if len(whole) < _FEWEST_GRADED or not any(len(one) > 1 for one in whole):
            continue
        counters = (name for name in names if not counts_attempts(name))
        counts = any(all(_counts_up([row.get(name) for row in one]) for one in whole) for name in counters)
        named = (n for n in names if len({str(one[0].get(n)) for one in whole}) == len(whole) and _is_shared(n, whole))
        episode = next(named, None)
        if counts and episode is not None:
            return end, episode
    return None


def _counts_up(values: Sequence[Any]) -> bool:
    return all(type(value) is int for value in values) and list(values) in (
        list(range(len(values))),
        list(range(1, len(values) + 1)),
    )


def _is_shared(name: str, groups: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    return all(len({str(row.get(name)) for row in group}) == 1 for group in groups)


def has_output(row: Mapping[str, Any]) -> bool:
    """Whether a record holds anything that an agent said or did."""
    known = {path.partition(".")[0] for path in fields.BY_NAME["trajectory"].paths}
    return any(row.get(name) for name in known) or any(is_talk(value) for value in row.values())


def is_word_of_verdict(text: str) -> bool:
    """Whether a whole file says no more than a verdict: a number from 0 to 1, or a word of pass and fail."""
    word = text.strip()
    if len(word) > _LONGEST_KEY:
        return False
    number = reward_of(word)
    return number is not None and 0 <= number <= 1
