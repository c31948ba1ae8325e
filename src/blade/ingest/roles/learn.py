"""The roles of the fields of a run, from a sample of its rows: what documented formats fix first, then what the values say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from blade.ingest import cells
from blade.ingest.decode import encode
from blade.ingest.fields import BY_NAME, DOCUMENTED, KNOWN_SLICES, is_of_others
from blade.ingest.roles import calls, matches, outcome, scripts, talk, texts
from blade.ingest.roles.annotations import annotated
from blade.ingest.roles.breakdowns import what_broke
from blade.ingest.roles.checked import Checked, checked_fields
from blade.ingest.roles.outcome import Choice, Verdicts, last
from blade.ingest.roles.paths import Sample, is_messages, parents
from blade.ingest.roles.shaped import as_items
from blade.ingest.roles.stamps import read_times
from blade.ingest.steps import read_steps
from blade.model.roles import CallShape, DecidedBy, FieldRole, Role, Roles, TalkShape
from blade.model.rollout import Step

TABLE_ROLES: Mapping[str, Role] = {
    "id": "task",
    "index": "task",
    "repeat": "repeat",
    "reward": "reward",
    "model": "model",
    "agent": "agent",
    "trajectory": "trajectory",
    "prompt": "prompt",
    "expected": "expected",
    "expected_actions": "expected-actions",
    "expected_statements": "statements",
    "script": "script",
    "answer": "produced",
    "error": "error",
    "stop": "stop",
    "input_tokens": "usage",
    "output_tokens": "usage",
    "seconds": "duration",
    "cost": "cost",
    "tools": "tools",
}
"""The fields of the table of names, and the role that each has."""
_PARTS = {"input_tokens": "input", "output_tokens": "output", "seconds": "total"}
LONGEST_EXAMPLE = 60
LONGEST_PROMPT_KEY = 4_000
MOST_LACKING = 0.7
"""Of the rows, those that must have a grader's account for its absence to mean anything."""
MOST_TAKEN = 0.8
"""Of the rows, those in which a text must hold another one that was taken out of it."""
MOST_CHANGING = 0.05
"""Of the tasks, those whose repeats may differ in a field of the task: a benchmark may be broken in a few of them."""
_COST = re.compile(r"cost|price|usd")
_DURATION = re.compile(
    r"duration|seconds|elapsed|latency|runtime|run_time|execution_time|wall|took|_s$|_ms$|_sec$|_secs$|time_taken"
)


_MODEL = re.compile(r"(?:model|llm|checkpoint|ckpt|engine)(?:_?(?:id|name|tag|key|slug|version))?", re.IGNORECASE)
_TOKENS = re.compile(r"tokens?$")


def _side(name: str) -> str:
    """Which side of a model call a number of tokens is of; empty where its name says more than that."""
    plain = re.sub(r"^(?:n|num|total)_|_?tokens?$", "", name)
    return {"input": "input", "prompt": "input", "output": "output", "completion": "output"}.get(plain, "")


def _is_amount(values: Sequence[Any]) -> bool:
    return all(type(value) in (int, float) and value >= 0 for value in values)


class Learner:
    """What has been decided so far; each path gets one role, and the first that claims it has it."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.sample = Sample(rows)
        self.found: dict[str, FieldRole] = {}
        self.undecided: list[str] = []
        self.response = self._whole("response", "output")
        self.request = self._whole("responses_create_params", "input")
        self.checks: list[Checked] = []
        self.reward: Verdicts | None = None
        self.groups: list[Any] = []
        self.calls: list[CallShape] = []
        self.talk: TalkShape | None = None

    def learn(self) -> Roles:
        sample = self.sample
        if not len(sample):
            return Roles()
        self._documented()
        self._trajectory()
        self._annotations()
        self._reward()
        self._task()
        self._claim_checks()
        times = self._times()
        self._keys()
        self._script()
        self._texts()
        self._matches()
        self._by_name()
        self._rest()
        fields = [self.found.get(path) or self._unused(path) for path in self._shown()]
        return Roles(
            fields=tuple(sorted(fields, key=lambda field: field.path)),
            results=tuple(one.shape for one in sorted(self.checks, key=lambda one: one.shape.path)),
            response=self.response if self.response != "response" else "",
            request=self.request if self.request != "responses_create_params" else "",
            calls=tuple(self.calls),
            talk=self.talk,
            accounts=tuple(sorted(self._accounts())),
            given=tuple(sorted(self._given())),
            phases=times,
            sampled=len(sample),
            undecided=tuple(self.undecided),
        )

    # -- bookkeeping

    def claim(self, path: str, role: Role | None, why: str, by: DecidedBy = "content", part: str = "") -> None:
        """Give a path its role, unless it has one."""
        if path not in self.found and path in self.sample.columns:
            self.found[path] = replace(self._unused(path), role=role, why=why, decided_by=by, part=part)

    def _unused(self, path: str) -> FieldRole:
        values = self.sample.of(path)
        return FieldRole(
            path=path,
            role=None,
            why="nothing tells what it is",
            example=_example(values),
            rows=len(values),
            of=len(self.sample),
        )

    def _shown(self) -> Iterator[str]:
        """Paths that a user can tell apart: claimed ones, and leaves that stand in nothing that was claimed."""
        for path, column in self.sample.columns.items():
            if path in self.found:
                yield path
                continue
            holder = isinstance(next((v for v in column if v is not None), None), dict) and path not in self.sample.maps
            below = f"{path}."
            if (holder and any(p.startswith(below) for p in self.sample.columns)) or self.is_inside(path):
                continue
            items = f"{path}[]."
            if any(p.startswith(items) for p in self.sample.columns):
                continue
            yield path

    def is_inside(self, path: str) -> bool:
        """Whether a path stands in something that has a role as a whole."""
        return any(parent in self.found for parent in parents(path))

    def free(self, paths: Sequence[str]) -> list[str]:
        """Those without a role, outside of everything that has one."""
        return [path for path in paths if path not in self.found and not self.is_inside(path)]

    def first_role(self, role: Role) -> str | None:
        return next((path for path, field in self.found.items() if field.role == role), None)

    # -- what formats document

    def _whole(self, name: str, inner: str) -> str:
        """The field that holds a request or a response of the Responses API, whatever it is called."""
        columns = self.sample.columns
        if name in columns:
            return name
        for path, column in columns.items():
            values = [value for value in column if value is not None]
            if "[" not in path and values and all(isinstance(value, dict) for value in values):
                held = [value.get(inner) for value in values]
                if sum(map(is_messages, held)) * 2 > len(values) and (
                    inner == "output" or not any("output" in v for v in values)
                ):
                    return path
        return ""

    def _documented(self) -> None:
        for path, (role, source, part) in DOCUMENTED.items():
            column = self.sample.columns.get(path)
            if column is not None:
                self.claim(path, role, f"{source} defines it", "format", part)
        for whole, pieces in ((self.response, _OF_RESPONSE), (self.request, _OF_REQUEST)):
            for name, role, part in pieces if whole else ():
                self.claim(f"{whole}.{name}", role, "the Responses API defines it", "format", part)
            for path in self.sample.columns if whole else ():
                if path.startswith(f"{whole}.") and not self.is_inside(path):
                    value = next(v for v in self.sample.columns[path] if v is not None)
                    if not isinstance(value, dict):
                        self.claim(
                            path, None, "the Responses API defines it; it is no account of the rollout", "format"
                        )

    def _trajectory(self) -> None:
        """Lists of messages: the one that differs most from row to row is what happened, one before it the prompt."""
        if self.first_role("trajectory") is not None:
            return
        lists = [
            path
            for path in self.sample.columns
            if "[" not in path
            and not self.is_inside(path)
            and sum(map(is_messages, self.sample.of(path))) * 2 > len(self.sample.of(path))
        ]
        spoken = [path for path in lists if any(map(_agent_spoke, self.sample.of(path)))]
        if spoken:
            most = max(
                spoken,
                key=lambda path: (len({_key(v) for v in self.sample.of(path)}), sum(map(len, self.sample.of(path)))),
            )
            self.claim(most, "trajectory", "a list of messages in which the agent speaks")
        if not spoken:
            self._foreign_talk()
        for path in lists:
            self.claim(path, "prompt", "a list of messages without the agent's")

    def _foreign_talk(self) -> None:
        """The list with most in it that is built as a trajectory is, whatever its fields are called."""
        shapes = [
            shape
            for path in self.sample.columns
            if "[" not in path and not self.is_inside(path) and path not in self.found
            if (shape := talk.talk_shape(path, self.sample.columns[path])) is not None
        ]
        if shapes:
            self.talk = max(shapes, key=lambda shape: len(encode(self.sample.of(shape.path))))
            column = self.sample.columns[self.talk.path]
            self.sample.columns[self.talk.path] = [as_items(value, self.talk) for value in column]
            self.claim(self.talk.path, "trajectory", f"a list of what happened: {_described(self.talk)}")

    def _annotations(self) -> None:
        for path, why in list(annotated(self.sample, self.free(self.sample.scalars), self.steps)):
            self.claim(path, "annotation", why, "name" if "its name" in why else "content")

    def _reward(self) -> None:
        sample = self.sample
        self.checks = checked_fields(sample, lambda path: path in self.found or self.is_inside(path))
        documented = self.first_role("reward")
        candidates = {
            path: values
            for path, values in outcome.verdict_like(sample).items()
            if not self.is_inside(path) and not any(path.startswith(f"{one.shape.path}.") for one in self.checks)
        }
        if documented is None:
            held = {one.shape.path: one.held for one in self.checks}
            held |= {
                f"{one.shape.path} ({other.shape.verdict})": other.held for one in self.checks for other in one.others
            }
            free = {p: v for p, v in candidates.items() if p not in self.found}
            choice = outcome.choose_reward(
                free,
                held,
                lambda path: outcome.is_in_words(self.sample.of(path)),
                lambda: self._borne_out([p for p in self.sample.columns if p not in free]),
            )
            if choice.path is None:
                self.undecided += [choice.undecided] if choice.undecided else []
                return
            self._take(choice, "reward")
            documented = choice.path
        column = [value if isinstance(value, int | float) else None for value in sample.columns[documented]]
        self.reward = outcome.as_verdicts(sample.columns[documented]) or _scaled(column)

    def _borne_out(self, paths: Sequence[str]) -> list[Verdicts]:
        """What tells of each row whether it passed without saying so: equal values, and what test runners printed."""
        printed = [texts.printed_verdicts(self.sample.columns[path]) for path in paths if path in self.sample.scalars]
        return [*matches.equalities(self.sample, paths), *(one for one in printed if any(v is not None for v in one))]

    def _take(self, choice: Choice, role: Role) -> None:
        if choice.path is not None:
            self.claim(choice.path, role, choice.why, "name" if choice.by_name else "content")

    def _prompts(self) -> list[str | None]:
        """What each row was asked, as a key; None where it does not say."""
        path = f"{self.request}.input" if self.request else self.first_role("prompt")
        if path is not None and path in self.sample.columns:
            return [None if value is None else _key(value) for value in self.sample.columns[path]]
        path = self.first_role("trajectory")
        if path is None:
            return [None] * len(self.sample)
        return [_asked(value) for value in self.sample.columns[path]]

    def _models(self) -> Sequence[Any] | None:
        """Which model each row is of, where rows of several models stand in one file."""
        known = (p for p in BY_NAME["model"].paths if p in self.sample.columns)
        named = (p for p in self.sample.scalars if _MODEL.fullmatch(last(p)) and not is_of_others(p))
        path = next(known, None) or next((p for p in named if self._is_of_few(p)), None)
        if path is None:
            return None
        self.claim(path, "model", "its name says so; nothing in the values speaks against it", "name")
        return self.sample.columns[path]

    def _is_of_few(self, path: str) -> bool:
        """Whether short names recur: of several things that were tried on many rows."""
        values = self.sample.columns[path]
        return all(isinstance(value, str) for value in values) and 2 * len(set(values)) <= len(values)

    def _task(self) -> None:
        prompts, models = self._prompts(), self._models()
        documented = self.first_role("task")
        named = [p for p in BY_NAME["id"].paths if p in self.sample.columns and not self._is_of_row(p, prompts)]
        for path in named[:1]:
            self.claim(path, "task", "its name says so; nothing in the values speaks against it", "name")
            documented = documented or path
        for path in BY_NAME["index"].paths if documented is None else ():
            self.claim(path, "task", "its name says so; nothing in the values speaks against it", "name", "index")
            documented = documented or (path if path in self.found else None)
        if documented is None:
            taken = frozenset(self.found) | {p for p in self.sample.scalars if self.is_inside(p)}
            wholes = tuple(f"{whole}." for whole in (self.response, self.request) if whole)
            taken |= {p for p in self.sample.scalars if wholes and p.startswith(wholes)}
            taken |= {p for p in self.sample.scalars if p in KNOWN_SLICES}
            taken |= {p for p in self.sample.scalars if outcome.as_verdicts(self.sample.columns[p]) is not None}
            listed = tuple(f"{one.shape.path}." for one in self.checks)
            taken |= {p for p in self.sample.scalars if listed and p.startswith(listed)}
            choice = outcome.choose_task(self.sample, prompts, taken, frozenset(BY_NAME["key"].paths), models)
            self._take(choice, "task")
            if choice.undecided:
                self.undecided.append(choice.undecided)
            documented = choice.path
        marks = self.sample.columns[documented] if documented is not None else prompts
        self.groups = [place if mark is None else _key(mark) for place, mark in enumerate(marks)]
        if self.first_role("repeat") is None and documented is not None:
            # What counts the models that were asked counts no attempts of one of them.
            within = self.groups if models is None else list(zip(self.groups, map(str, models), strict=True))
            repeat = outcome.choose_repeat(self.sample, within, frozenset(self.found))
            if repeat is not None:
                self.claim(repeat, "repeat", "counts up within each task")

    def _is_of_row(self, path: str, prompts: Sequence[str | None]) -> bool:
        """Whether a field such as `id` names each row, where several rows were asked the same and another field says so."""
        column = self.sample.columns[path]
        if path not in ("id", "uuid") or len(set(map(_key, column))) < len(self.sample):
            return False
        if not any(prompts):
            named = next((p for p in BY_NAME["prompt"].paths if self.sample.columns.get(p)), None)
            prompts = [_key(value) if value is not None else None for value in self.sample.columns.get(named or "", [])]
        if not prompts or not all(prompts) or len(set(prompts)) * 2 > len(self.sample):
            return False
        taken = frozenset({path, *self.found})
        return outcome.choose_task(self.sample, prompts, taken, frozenset()).path is not None

    def _claim_checks(self) -> None:
        """Named results that vary between rows or go with the verdict; others are configuration."""
        kept: list[Checked] = []
        told = [(one, one.why(self.reward, self.groups)) for one in (one.by(self.reward) for one in self.checks)]
        # Tests that hardly ever fail go with no verdict, but their form is that of those that do.
        for one, said in sorted(told, key=lambda pair: not pair[1]):
            path = one.shape.path
            if path in self.found or self.is_inside(path):
                continue
            why = said or next((f"named results as in {two.shape.path}" for two in kept if _are_alike(one, two)), "")
            if not why:
                self.undecided.append(
                    f"{path} may list checks or settings: its values never go with the verdict;"
                    f" say --map checks={path} if they are checks"
                )
                continue
            kept.append(one)
            self.claim(path, "checks", why)
            if one.shape.kind == "parallel":
                self.claim(one.shape.name, "checks", "the names of the results beside it")
        self.checks = kept

    def _times(self) -> Any:
        wholes = tuple(f"{whole}." for whole in (self.response, self.request) if whole)
        times = read_times(self.sample, wholes)
        for path in times.stamps:
            self.claim(path, "time", "stamps in the order of the other stamps" if times.phases else "a date and time")
        whole = next(((one.start, one.end) for one in times.phases if one.name == "total"), None)
        for path, start, end in times.durations:
            part = "total" if (start, end) == whole else ""
            self.claim(path, "duration", f"the seconds from {start} to {end}", part=part)
        self.undecided += times.undecided
        return times.phases

    # -- what values say

    @cached_property
    def steps(self) -> list[tuple[Step, ...]]:
        """The steps of each row; empty where it has no trajectory."""
        path = self.first_role("trajectory")
        column = self.sample.columns[path] if path is not None else [None] * len(self.sample)
        return [read_steps(encode(value)) if isinstance(value, list | dict) else () for value in column]

    def _script(self) -> None:
        """What a simulated user was told, and what the agent had to tell it."""
        texts_of_task = [path for path in self.free(self.sample.scalars) if self._is_of_task(path)]
        told = scripts.script_field(self.sample, texts_of_task, self.steps)
        if told is not None:
            whole = scripts.whole_script(self.sample, told, list(self.found))
            self.claim(whole, "script", "its facts are what the user says, and the agent is not given it")
        for path in self.free([p for p in self.sample.columns if "[" not in p]):
            column = self.sample.columns[path]
            if self.reward and self._is_of_task(path) and scripts.is_statements(column, self.steps, self.reward):
                self.claim(path, "statements", "in passes the agent says all of it")

    @cached_property
    def _passed(self) -> Sequence[bool | None]:
        """Whether each row passes, as far as it says; of the sample, no reward is higher than a pass."""
        values = self.reward or [None] * len(self.sample)
        return [None if value is None else value >= 1 for value in values]

    def _is_of_task(self, path: str) -> bool:
        """Whether a field may belong to the task: it is the same in its repeats, where there are any."""
        return not self.has_repeats() or self.constant_in_task(path)

    def has_repeats(self) -> bool:
        """Whether enough tasks have several rows to tell what belongs to a task."""
        return len(self.groups) - len(set(self.groups)) >= outcome.FEWEST_ROWS

    def constant_in_task(self, path: str) -> bool:
        """Whether a field has one value in all rows of nearly each task; rows without a value say nothing."""
        by_group: dict[Any, set[str]] = {}
        for group, value in zip(self.groups, self.sample.columns[path], strict=True):
            if value is not None:
                by_group.setdefault(group, set()).add(_key(value))
        return sum(len(keys) > 1 for keys in by_group.values()) <= MOST_CHANGING * len(by_group)

    def _differs_between_tasks(self, path: str) -> bool:
        """Whether no value stands in more than half of all rows: how most rollouts end is no property of tasks."""
        counts = Counter(map(_key, self.sample.of(path)))
        return len(counts) > 1 and max(counts.values()) * 2 <= len(self.sample)

    def _keys(self) -> None:
        """Calls that a task wants, by the tools that some rollout calls; of several fields the one in most rows."""
        if self.first_role("trajectory") is None and self.reward is not None:
            self._made_calls(self.reward)
        offered = [path for path, field in self.found.items() if field.role == "tools"]
        tools = calls.tools_of(self.sample, self.steps, offered)
        wanted = []
        for path in self.free([p for p in self.sample.columns if "[" not in p]) if tools else ():
            shape = calls.call_shape(path, self.sample.of(path), tools)
            why = self._why_wanted(shape) if shape is not None else ""
            if shape is not None and why:
                wanted.append((shape, why))
        for shape, why in [] if self.calls else sorted(wanted, key=lambda one: -self.sample.present(one[0].path))[:1]:
            self.calls.append(shape)
            self.claim(shape.path, "expected-actions", why)

    def _made_calls(self, reward: Verdicts) -> None:
        """Calls that were made are the trajectory, where nothing else is recorded of it."""
        free = self.free([p for p in self.sample.columns if "[" not in p])
        pair = calls.made_and_wanted(self.sample, free, reward, self.constant_in_task if self.has_repeats() else None)
        if pair is None:
            return
        made, wanted = pair
        why = "lists of calls that are equal in passes and differ in failures"
        if not made.inside:
            self.talk = TalkShape(path=made.path, text="", tool=made.name, arguments=made.arguments)
            self.sample.columns[made.path] = [as_items(v, self.talk) for v in self.sample.columns[made.path]]
        self.claim(made.path, "trajectory", f"{why}: these were made")
        self.__dict__.pop("steps", None)  # they were read before there was a trajectory
        self.calls.append(wanted)
        self.claim(wanted.path, "expected-actions", f"{why}: these were wanted")

    def _why_wanted(self, shape: CallShape) -> str:
        """Why calls are those of the key and not those that were made; empty where they may be either."""
        if self.has_repeats():
            same = self.constant_in_task(shape.path)
            return "the same calls in every repeat, of tools that rollouts call" if same else ""
        lacks = calls.lacks_calls(self.sample, shape, self.steps)
        return "calls of tools that rollouts call, and that some rollouts lack" if lacks else ""

    def _given(self) -> Iterator[str]:
        """Texts of the task, as far as the rows tell: without repeats, what passes have is taken for it."""
        for path in self.sample.scalars:
            role = self.found[path].role if path in self.found else None
            column = self.sample.columns[path]
            texts_only = all(isinstance(value, str) for value in self.sample.of(path))
            if role not in (None, "task-field") or not texts_only or self._lacks_in_passes(column):
                continue
            if self._is_of_task(path):
                yield path

    def _accounts(self) -> Iterator[str]:
        """The outermost objects around checks and parts of the score that most rows have, and some lack."""
        graded = [path for path, field in self.found.items() if field.role in ("checks", "score-part")]
        seen = set()
        for path in graded:
            for around in parents(path):
                count = sum(isinstance(value, dict) for value in self.sample.columns.get(around, ()))
                if around not in seen and MOST_LACKING * len(self.sample) <= count < len(self.sample):
                    seen.add(around)
                    yield around
                    break

    def _texts(self) -> None:
        output = texts.outputs(self.sample, self.first_role("trajectory"))
        names = [name for one in self.checks for name in one.names()]
        for path in self.free(self.sample.scalars):
            column = self.sample.columns[path]
            broke = what_broke(column, self._passed)
            if broke is not None:
                self.claim(path, "error", broke[1])
                self.found[path] = replace(self.found[path], usual=broke[0])
                continue
            shared = self.has_repeats() and self.constant_in_task(path) and self._differs_between_tasks(path)
            errors = self.first_role("error") is None and self._lacks_in_passes(column)
            decided = texts.role_of(column, output, names, of_task=shared, of_failures=errors)
            if decided is None and not (self.has_repeats() and self.constant_in_task(path)):
                ended = texts.says_how_it_ended(column, self._passed) and not self._is_wanted_elsewhere(column)
                decided = ("status", "one value in nearly all passes, and others in failures") if ended else None
            if decided is not None:
                self.claim(path, *decided)
        states = [
            path for path, field in self.found.items() if field.role == "status" and field.decided_by == "content"
        ]
        limited = [path for path in states if any(map(texts.names_limit, set(self.sample.of(path))))]
        if self.first_role("stop") is None and len(limited) == 1:
            self.found[limited[0]] = replace(self.found[limited[0]], part="stop")

    def _is_wanted_elsewhere(self, column: Sequence[Any]) -> bool:
        """Whether a field of the task holds the same value in every pass, and another in some failure: then it is an answer."""
        won = [at for at, passed in enumerate(self._passed) if passed]
        lost = [at for at, passed in enumerate(self._passed) if passed is False]
        others = (self.sample.columns[path] for path in self.sample.scalars if self._is_of_task(path))
        return any(
            all(other[at] == column[at] for at in won) and any(other[at] != column[at] for at in lost)
            for other in others
            if other is not column and len(set(map(str, other))) > 1
        )

    def _lacks_in_passes(self, column: Sequence[Any]) -> bool:
        """Whether most passes have nothing in a field; so it is where no pass is known."""
        passes = [value for value, verdict in zip(column, self.reward or (), strict=False) if verdict == 1]
        return sum(value not in (None, "") for value in passes) * 2 <= len(passes)

    def _matches(self) -> None:
        taken = {field.role for field in self.found.values()}
        # Where calls are wanted, numbers that agree count what the calls did.
        if not taken.isdisjoint(("expected", "expected-actions")) or self.reward is None:
            return
        free = [p for p in self.sample.columns if "[" not in p and p not in self.found and not self.is_inside(p)]
        trajectory = self.first_role("trajectory")
        prose = [path for path in self.free(self.sample.scalars) if texts.is_prose(self.sample.of(path))]
        prose += [
            path for path in self.free(BY_NAME["answer"].paths) if path in self.sample.scalars and path not in prose
        ]
        output = self._last_words() if trajectory is not None else texts.beside(self.sample, prose)
        groups = self.groups if self.has_repeats() else None
        pair = matches.agreeing_pair(self.sample, free, self.reward, groups, output)
        if pair is not None and not pair.decided:
            self.undecided.append(
                f"{pair.expected} and {pair.produced} agree in passes: one was expected and one given; "
                f"say --map expected={pair.expected} --map answer={pair.produced}, or the other way round"
            )
        elif pair is not None:
            self.claim(pair.expected, "expected", pair.why)
            self.claim(pair.produced, "produced", pair.why)
            if trajectory is None:
                self._reply([path for path in prose if path not in (pair.expected, pair.produced)], pair.produced)
        else:
            self._stated(self.reward, groups, [] if trajectory is not None else prose, output)
            self._only_text(prose)

    def _stated(
        self, reward: Verdicts, groups: Sequence[Any] | None, prose: Sequence[str], output: Sequence[str]
    ) -> None:
        """The expected value by the answers that hold it, in the trajectory or in the text that is the reply."""
        short = [path for path in self.free(self.sample.scalars) if not texts.is_prose(self.sample.of(path))]
        for reply in prose or [""]:
            found = matches.stated(
                self.sample, short, reward, groups, texts.beside(self.sample, [reply]) if reply else output
            )
            if found is not None:
                self.claim(found[0], "expected", found[1])
                if reply:
                    self._reply(prose, reply)
                return

    def _only_text(self, prose: Sequence[str]) -> None:
        """The reply, where nothing else may be it: the one text that repeats of a task differ in, of runs without a log.

        What was taken out of the reply, such as its code, stands in it.
        """
        if any(self.first_role(role) is not None for role in ("trajectory", "grader-log", "agent-log", "checks")):
            return
        free = [path for path in self.free(prose) if self.has_repeats() and not self.constant_in_task(path)]
        whole = [path for path in free if all(texts.share_with(self.sample, path, p) >= MOST_TAKEN for p in free)]
        if len(whole) != 1:
            return
        self.claim(whole[0], "trajectory", "the only text in which repeats of a task differ, or that holds the others")
        if len(free) == 2 and self.first_role("produced") is None:
            self.claim(next(path for path in free if path != whole[0]), "produced", f"it was taken out of {whole[0]}")

    def _last_words(self) -> list[str]:
        """What each row's agent said last, in lower case: an answer stands there, and what it was worked out from does not."""
        said = [[step.text for step in steps if step.party == "agent" and step.text] for steps in self.steps]
        whole = texts.outputs(self.sample, self.first_role("trajectory"))
        return [words[-1].lower() if words else text for words, text in zip(said, whole, strict=True)]

    def _reply(self, prose: Sequence[str], produced: str) -> None:
        """Where no trajectory is recorded: the text in which the answer stands, and the only other one, the prompt."""
        # Choices stand in the question too, which is the same in every repeat.
        replies = [path for path in prose if not (self.has_repeats() and self.constant_in_task(path))]
        told = {path: texts.share_with(self.sample, path, produced) for path in replies}
        best = max(told, key=lambda path: told[path], default=None)
        if best is None or told[best] < texts.LEAST_WRITTEN:
            return
        self.claim(best, "trajectory", "a text in which the answer stands")
        others = [path for path in self.free(prose) if self._is_of_task(path)]
        if len(others) == 1 and self.first_role("prompt") is None:
            self.claim(others[0], "prompt", "the only other text; it is of the task")

    def _by_name(self) -> None:
        """What is left under the names that people use."""
        for name, role in TABLE_ROLES.items():
            if role in ("task", "reward") and self.first_role(role) is not None:
                continue
            for path in BY_NAME[name].paths:
                column = self.sample.columns.get(path)
                if column is not None and not self.is_inside(path):
                    self.claim(
                        path,
                        role,
                        "its name says so; nothing in the values speaks against it",
                        "name",
                        _PARTS.get(name, ""),
                    )
        amounts = [
            p for p in self.free(self.sample.scalars) if _is_amount(self.sample.of(p)) and not self._is_setting(p)
        ]
        costs = [path for path in amounts if _COST.search(last(path).lower())]
        alone = len(costs) == 1 and self.first_role("cost") is None and "user" not in costs[0]
        for path in costs:
            self.claim(path, "cost", "an amount; its name says of what", "name", "" if alone else "part")
        for path in self.free(amounts):
            name = last(path).lower()
            if _DURATION.search(name):
                self.claim(path, "duration", "an amount; its name says of what", "name")
            elif _TOKENS.search(name):
                side = "" if is_of_others(path) else _side(name)
                self.claim(path, "usage", "an amount; its name says of what", "name", side)

    def _is_setting(self, path: str) -> bool:
        """Whether a number is the same in all rows, as limits and prices are; nothing was used where it is 0."""
        values = self.sample.of(path)
        return len(values) >= outcome.FEWEST_ROWS and len({*values}) == 1 and values[0] != 0

    def _rest(self) -> None:
        """Parts of the score, and what belongs to the task: where repeats score otherwise, what they share is the task's."""
        reward = self.first_role("reward")
        differs = reward is not None and self.has_repeats() and not self.constant_in_task(reward)
        for path, values in outcome.verdict_like(self.sample).items():
            if differs and self.constant_in_task(path):
                continue
            if path in self.found or self.is_inside(path) or self.reward is None or _in_words(self.sample.of(path)):
                continue
            together = outcome.correlation(values, self.reward)
            if together is not None and abs(together) >= outcome.LEAST_AGREEMENT:
                self.claim(path, "score-part", f"moves with the reward (correlation {together:.2f})")
        if not self.has_repeats():
            return
        for path in self.free([p for p in self.sample.columns if "[" not in p]):
            values = self.sample.of(path)
            plain = len({_key(value) for value in values}) > 1 and not any(isinstance(value, dict) for value in values)
            often = 2 * len(values) > len(self.sample)
            if plain and often and self.constant_in_task(path) and self._differs_between_tasks(path):
                self.claim(path, "task-field", "the same in every repeat of a task, and different between tasks")


_OF_RESPONSE: tuple[tuple[str, Role, str], ...] = (
    ("output", "trajectory", ""),
    ("model", "model", ""),
    ("error", "error", ""),
    ("incomplete_details.reason", "stop", ""),
    ("metadata.stop_reason", "stop", ""),
    ("status", "status", ""),
    ("usage.input_tokens", "usage", "input"),
    ("usage.output_tokens", "usage", "output"),
    ("usage.prompt_tokens", "usage", "input"),
    ("usage.completion_tokens", "usage", "output"),
    ("created_at", "time", ""),
)
_OF_REQUEST: tuple[tuple[str, Role, str], ...] = (
    ("input", "prompt", ""),
    ("tools", "tools", ""),
    ("model", "model", ""),
)


def _are_alike(one: Checked, other: Checked) -> bool:
    """Whether two fields of one object list results in the same form."""
    mine, theirs = one.shape, other.shape
    around = mine.path.rpartition(".")[0]
    same = (mine.kind, mine.verdict, mine.name) == (theirs.kind, theirs.verdict, theirs.name)
    return same and around != "" and around == theirs.path.rpartition(".")[0]


def _described(shape: TalkShape) -> str:
    parts = (("who", shape.who), ("text", shape.text), ("tool", shape.tool), ("result", shape.result))
    return ", ".join(f"{what} in `{name}`" for what, name in parts if name)


def _in_words(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) for value in values)


def learn_roles(rows: Sequence[Mapping[str, Any]]) -> Roles:
    """The roles of the fields of these rows; none where there are no rows."""
    return Learner(rows).learn()


def _scaled(column: Sequence[float | None]) -> Verdicts:
    """Rewards of any range as 0 and 1: whether they are the highest that was given."""
    best = max((value for value in column if value is not None), default=1)
    return [None if value is None else float(value >= best) for value in column]


def _key(value: Any) -> str:
    return value if isinstance(value, str) else cells.as_text(value)


def _agent_spoke(messages: Any) -> bool:
    """Whether any message of a list is an agent's: by its role, or by a call of a tool."""
    return isinstance(messages, list) and any(
        isinstance(item, dict)
        and (
            item.get("role") in ("assistant", "agent", "model", "ai", "gpt", "bot")
            or item.get("from") in ("assistant", "agent", "model", "ai", "gpt", "bot")
            or item.get("type") in ("function_call", "reasoning", "tool_call", "ai")
            or "tool_calls" in item
        )
        for item in messages
    )


def _asked(messages: Any) -> str | None:
    """What stands in a list of messages before the agent speaks."""
    if not isinstance(messages, list):
        return None
    before = []
    for item in messages:
        if _agent_spoke([item]):
            break
        before.append(item)
    return _key(before)[:LONGEST_PROMPT_KEY] if before else None


def _example(values: Sequence[Any]) -> str:
    value = next((v for v in values if v not in ("", [], {})), values[0] if values else "")
    text = cells.as_text(value)
    flat = " ".join(text[: 4 * LONGEST_EXAMPLE].split())
    return flat if len(flat) <= LONGEST_EXAMPLE else f"{flat[: LONGEST_EXAMPLE - 3]}..."
