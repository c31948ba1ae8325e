"""Reasons to doubt the benchmark rather than the model: key, verifier, tools, simulated user, limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import polars as pl

from blade.core.diagnosis import Doubt
from blade.core.finding import Differs, Evidence
from blade.core.rollout import Step
from blade.core.run import Run
from blade.core.tools import changes_state
from blade.diagnose import provenance, quotes
from blade.diagnose.actions import carried_out, parsed
from blade.diagnose.context import Context
from blade.diagnose.contrast import pairing_of
from blade.diagnose.examples import failure_in_words
from blade.diagnose.groups import spread
from blade.diagnose.user import hung_up
from blade.diagnose.walks import Walk

MOST = 8
FEWEST_CALLS = 3
FEWEST_WORDS = 5
CITED = 0.5
"""Share of the words of a refusal that one sentence of the instructions must hold."""
_PAIRS = (("output", "expected"), ("actual", "expected"), ("got", "expected"), ("stdout", "expected_output"))
"""Names under which a verifier records what it got and what it wanted."""
_WORD = re.compile(r"[a-z]{4,}")
_NOT_FOUND = re.compile(r"AssertionError: '([^']{4,80})' not found in")
_PROSE = re.compile(r"\s\S+\s\S+\s")
_LISTS = re.compile(r"(?:^|_)(?:search|list|find|query|browse)(?:_|$)")
_ACTIONS = (Differs.UNWANTED, Differs.NOT_MADE, Differs.MISSING, Differs.EXTRA, Differs.ARGUMENT, Differs.NOT_SAID)


def doubts(context: Context) -> tuple[Doubt, ...]:
    """Every doubt, strongest kinds first."""
    found = [
        *_hidden_keys(context),
        *_idle_tools(context),
        *_done_without_verdict(context),
        *_equal_but_rejected(context),
        *_equal_output(context),
        *_hung_up(context),
        *_refusals_by_rule(context),
        *_untold_literals(context),
        *_unlike_repeats(context),
        *_same_wrong_answer(context),
        *_always_failing_checks(context.run),
        *_silent_passes(context.run),
        *_user(context),
    ]
    return tuple(found[:MOST])


def _hidden_keys(context: Context) -> Iterator[Doubt]:
    """A value of the key that nothing visible contains, while a result shows another value for that field."""
    for task in (*context.reading.sometimes, *context.reading.never):
        walks = context.reading.of(task)
        seen: list[str] = []
        for walk in (one for one in walks if not one.passed):
            for wrong in pairing_of(walk).wrong:
                for argument in wrong.names:
                    name, due, made = provenance.first_difference(
                        argument, wrong.due.arguments.get(argument), wrong.made.arguments.get(argument)
                    )
                    if name in seen or not _is_hidden(due, walks, context.reading.walks.values()):
                        continue
                    seen.append(name)
                    shown = _shown_elsewhere(name, made, walks)
                    if shown is not None:
                        yield _hidden(task, name, due, made, shown, walks)


def _is_hidden(value: object, walks: Sequence[Walk], everywhere: Collection[Walk]) -> bool:
    """Whether no result or message of any rollout read holds the value, nor the task's prompt or script."""
    if not isinstance(value, str) or not provenance.can_be_traced(value) or _PROSE.search(value):
        return False
    heard = any(provenance.source(walk.rollout, value) is not None for walk in everywhere)
    given = any(provenance.in_prompt(w.rollout, value) or value.lower() in (w.due.script or "").lower() for w in walks)
    return not heard and not given


def _shown_elsewhere(name: str, made: object, walks: Sequence[Walk]) -> tuple[Walk, Step] | None:
    """A record that was looked up and has the field once, with the value that the agent gave; not a list to choose from."""
    pattern = re.compile(rf'"{re.escape(name)}"\s*:\s*"?([^",}}]+)')
    records = ((w, s) for w in walks for s in w.steps if s.kind == "result" and _is_record(s.tool or ""))
    return next(((w, s) for w, s in records if made is not None and set(pattern.findall(s.text)) == {str(made)}), None)


def _is_record(tool: str) -> bool:
    """Whether a tool's result is the record of one thing, looked up and not changed."""
    return _LISTS.search(tool) is None and not changes_state(tool)


def _hidden(task: str, name: str, due: object, made: object, shown: tuple[Walk, Step], walks: Sequence[Walk]) -> Doubt:
    walk, step = shown
    evidence = quotes.holding(walk.rollout, step, str(made))
    failing = [one for one in walks if not one.passed]
    alike = sum(str(made) in (call.arguments or "") for one in failing for call in one.calls[-4:])
    return Doubt(
        about="key",
        tasks=(task,),
        message=f"Task {task}: the key wants `{name}` {quotes.shown(due)}, which nothing that the agent can see contains; "
        f"{f'`{step.tool}`' if step.tool else 'a result'} says {quotes.shown(made)} ({walk.place}:{step.index}), "
        f"and {min(alike, len(failing))} of {len(failing)} failing repeats give that",
        rollouts=len(failing),
        evidence=(evidence,) if evidence else (),
    )


def _idle_tools(context: Context) -> Iterator[Doubt]:
    """A tool that says yes, and whose result shows the old value of a field that it was asked to change."""
    asked: Counter[tuple[str, str]] = Counter()
    changed: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[Walk, Step, str, str]] = {}
    rollouts: dict[tuple[str, str], list[str]] = {}
    for walk in context.reading.walks.values():
        for call, name, wanted, shown in _asked_changes(walk):
            what = (call.tool or "", name)
            asked[what] += 1
            if str(shown).lower() == str(wanted).lower():
                changed[what] += 1
            else:
                first.setdefault(what, (walk, call, str(wanted), str(shown)))
                rollouts.setdefault(what, []).append(walk.place)
    for what in sorted(asked):
        if asked[what] >= FEWEST_CALLS and not changed[what]:
            yield _idle(what, asked[what], first[what], rollouts[what])


def _asked_changes(walk: Walk) -> Iterator[tuple[Step, str, object, object]]:
    """Calls that ask for another value of a field than an earlier result about the same thing shows."""
    if not walk.changes:
        return
    states: list[tuple[Step, Mapping[str, object]]] = []
    results = {step.answers: step for step in walk.steps if step.kind == "result" and step.answers is not None}
    for made in carried_out(walk.steps):
        result = results.get(made.step.index)
        state = parsed(result.text) if result is not None and result.text.lstrip().startswith("{") else {}
        for name, wanted in made.arguments.items():
            if not isinstance(wanted, str) or name.endswith("id") or name not in state:
                continue
            before = _earlier(states, made.arguments, name)
            if before is not None and str(before).lower() != wanted.lower():
                yield made.step, name, wanted, state[name]
        if state:
            states.append((made.step, state))


def _earlier(
    states: Sequence[tuple[Step, Mapping[str, object]]], arguments: Mapping[str, object], name: str
) -> object | None:
    """The value of a field in the last result that shares an id with a call."""
    ids = [(key, value) for key, value in arguments.items() if key.endswith("id") and isinstance(value, str)]
    for _, state in reversed(states):
        if name in state and any(state.get(key) == value for key, value in ids):
            return state[name]
    return None


def _idle(what: tuple[str, str], times: int, first: tuple[Walk, Step, str, str], places: list[str]) -> Doubt:
    tool, name = what
    walk, call, wanted, shown = first
    result = walk.result_of(call)
    evidence = [quotes.of_call(walk.rollout, call, wanted, name)]
    evidence += [quotes.holding(walk.rollout, result, shown)] if result is not None else []
    return Doubt(
        about="tool",
        tasks=tuple(dict.fromkeys(place.rpartition("#")[0] for place in places)),
        message=f"`{tool}` never changes `{name}`: {times} of {times} calls that ask for another return the old "
        f"({walk.place}:{call.index} asks {quotes.shown(wanted)}, "
        f":{result.index if result is not None else '?'} shows {quotes.shown(shown)})",
        rollouts=len(set(places)),
        evidence=tuple(one for one in evidence if one is not None),
    )


def _done_without_verdict(context: Context) -> Iterator[Doubt]:
    """Rollouts that the verifier left out, and which differ from the key in nothing."""
    places = context.partition.table.filter(pl.col("mode") == "no-verdict").select("task_id", "repeat")
    walks = context.reading.at(list(places.iter_rows()))
    whole = [walk for walk in walks if _wants_change(walk) and not any(one.kind in _ACTIONS for one in walk.differs)]
    turns = Counter(_turns(walk) for walk in walks)
    if whole:
        last = whole[0].message_after(whole[0].steps[-1].index)
        evidence = quotes.of_text(whole[0].rollout, last) if last is not None else None
        yield Doubt(
            about="limit",
            tasks=tuple(walk.rollout.key.task_id for walk in whole),
            message=f"{', '.join(walk.place for walk in whole)} did all that the key wants and got no verdict"
            + (f' (it says :{evidence.step} "{evidence.quote}")' if evidence else "")
            + (
                f"; each of the {len(walks)} without one ends after {next(iter(turns))} agent turns"
                if len(turns) == 1 < len(walks)
                else ""
            ),
            rollouts=len(whole),
            evidence=(evidence,) if evidence else (),
        )


def _wants_change(walk: Walk) -> bool:
    return any(changes_state(call.tool) for call in walk.due.calls or ())


def _turns(walk: Walk) -> int:
    """Turns of the agent: what it says and calls before anybody else speaks is one."""
    parties = [step.party for step in walk.steps]
    return sum(party == "agent" and before != "agent" for before, party in pairwise(["", *parties]))


def _equal_but_rejected(context: Context) -> Iterator[Doubt]:
    places = context.partition.table.filter(pl.col("mode").is_in(["answer-equal", "not-extracted"]))
    for task, repeat, mode in places.select("task_id", "repeat", "mode").head(3).iter_rows():
        walk = context.reading.walks.get((task, repeat))
        if walk is None:
            continue
        last = walk.message_after(walk.steps[-1].index) if walk.steps else None
        evidence = quotes.stating(walk.rollout, last) if last is not None else None
        said = f' (:{evidence.step} "{evidence.quote}")' if evidence else ""
        key = quotes.shown(walk.due.answer or "", 60)
        message = (
            f"{walk.place}: no answer was extracted, though the output states the key {key}{said}"
            if mode == "not-extracted"
            else f"{walk.place} answers {quotes.shown(walk.rollout.answer or '', 60)}, the key has {key}, and it was rejected"
        )
        yield Doubt(
            about="verifier",
            tasks=(task,),
            message=message,
            rollouts=1,
            evidence=(evidence,) if evidence else (),
        )


def _equal_output(context: Context) -> Iterator[Doubt]:
    """Output and expected output that the verifier recorded, equal but for white space, and rejected."""
    found = [(walk, path) for walk in _failing(context) for path in _same_texts("", walk.row, 0)]
    if found:
        named = ", ".join(dict.fromkeys(walk.place for walk, _ in found))
        yield Doubt(
            about="verifier",
            tasks=tuple(dict.fromkeys(walk.rollout.key.task_id for walk, _ in found)),
            message=f"{named}: what the verifier got equals what it expected but for white space (`{found[0][1]}`), "
            f"and was rejected",
            rollouts=len({walk.place for walk, _ in found}),
        )


def _same_texts(path: str, value: object, depth: int) -> Iterator[str]:
    if not isinstance(value, dict) or depth > 2:
        return
    for mine, other in _PAIRS:
        got, wanted = value.get(mine), value.get(other)
        if isinstance(got, str) and isinstance(wanted, str) and got.split() and got.split() == wanted.split():
            yield f"{path}{mine}"
    for name, item in value.items():
        if name not in ("response", "responses_create_params"):
            yield from _same_texts(f"{path}{name}.", item, depth + 1)


def _failing(context: Context) -> list[Walk]:
    return [walk for walk in context.reading.walks.values() if not walk.passed]


def _hung_up(context: Context) -> Iterator[Doubt]:
    """The simulated user gives the go-ahead and ends the talk in one message, so that nothing can be done."""
    lacking = (Differs.NOT_MADE, Differs.MISSING)
    left = [walk for walk in _failing(context) if any(one.kind in lacking for one in walk.differs)]
    found = [(walk, evidence) for walk in left if (evidence := hung_up(walk)) is not None]
    if found:
        walk, evidence = found[0]
        places = [(one.rollout.key.task_id, one.repeat) for one, _ in found]
        yield Doubt(
            about="user",
            tasks=tuple(dict.fromkeys(task for task, _ in places)),
            message=f"the simulated user gives the go-ahead and ends the talk in the same message in {spread(places)} "
            f'({walk.place}:{evidence.step} "{evidence.quote}")',
            rollouts=len(places),
            evidence=(evidence,),
        )


def _refusals_by_rule(context: Context) -> Iterator[Doubt]:
    """Never-pass tasks whose agent declines what the key wants with a sentence of its instructions."""
    found = []
    for task in context.reading.never:
        cited = [_cited(walk) for walk in context.reading.of(task)]
        if cited and all(one is not None for one in cited):
            found += [(task, one) for one in cited[:1] if one is not None]
    if found:
        _, (evidence, rule) = found[0]
        yield Doubt(
            about="key",
            tasks=tuple(task for task, _ in found),
            message=f"in {len(found)} never-pass task{'s' if len(found) > 1 else ''} the agent declines what the key "
            f'wants and cites its instructions: {evidence.key}:{evidence.step} "{evidence.quote}" (instructions: "{rule}")',
            rollouts=len(found),
            evidence=(evidence,),
        )


def _cited(walk: Walk) -> tuple[Evidence, str] | None:
    """The agent's refusal of a change that was due, and the sentence of the prompt that it repeats."""
    due = next((one.name for one in walk.differs if one.kind in (Differs.NOT_MADE, Differs.MISSING)), None)
    text, found = failure_in_words(walk, due) if due is not None else ("", ())
    if not found or " says " not in text:
        return None
    words = set(_WORD.findall(found[0].quote.lower()))
    for step in walk.rollout.prompt:
        for sentence in re.split(r"(?<=[.!?])\s+|\n", step.text if step.party == "system" else ""):
            shared = words & set(_WORD.findall(sentence.lower()))
            if len(shared) >= FEWEST_WORDS and len(shared) >= CITED * len(words):
                return found[0], quotes.telling_sentence(sentence, ())
    return None


def _untold_literals(context: Context) -> Iterator[Doubt]:
    """A text that a test looks for and that stands nowhere in the prompt."""
    for walk in _failing(context):
        for one in walk.due.checks:
            match = _NOT_FOUND.search(one.words) if not one.passed and walk.rollout.prompt else None
            if match is not None and not provenance.in_prompt(walk.rollout, match[1]):
                evidence = quotes.of_row(walk.rollout, one.words_field, match[0]) if one.words_field else None
                yield Doubt(
                    about="verifier",
                    tasks=(walk.rollout.key.task_id,),
                    message=f"{walk.place}: `{quotes.shown(one.name, 60)}` looks for '{match[1]}', which the prompt nowhere asks for",
                    rollouts=1,
                    evidence=(evidence,) if evidence else (),
                )
                return


def _unlike_repeats(context: Context) -> Iterator[Doubt]:
    """Repeats of a task that were not given the same thing."""
    odd = list(context.unlike.items())
    if odd:
        which = f"task {odd[0][0]}" if len(odd) == 1 else f"{len(odd)} tasks, such as {odd[0][0]},"
        yield Doubt(
            about="task",
            tasks=tuple(task for task, _ in odd),
            message=f"the repeats of {which} {odd[0][1]}, so they are not set against each other",
            rollouts=sum(len(context.reading.of(task)) for task, _ in odd),
        )


def _same_wrong_answer(context: Context) -> Iterator[Doubt]:
    """Never-pass tasks whose repeats all give one wrong answer: the key may be at fault."""
    run = context.run
    if run.rollouts["answer"].count() == 0:
        return
    per_task = run.rollouts.filter(pl.col("outcome").is_in(["passed", "failed"])).group_by(
        "task_id", maintain_order=True
    )
    told = per_task.agg(
        passes=(pl.col("outcome") == "passed").sum(),
        n=pl.len(),
        answers=pl.col("answer_fp").n_unique(),
        known=pl.col("answer_fp").count(),
        answer=pl.col("answer").first(),
    )
    alike = told.filter(
        (pl.col("passes") == 0) & (pl.col("n") >= 3) & (pl.col("answers") == 1) & (pl.col("known") == pl.col("n"))
    )
    if alike.height:
        shown = "; ".join(
            f"{row['task_id']} ({quotes.shown(row['answer'], 40)})" for row in alike.head(4).iter_rows(named=True)
        )
        yield Doubt(
            about="key",
            tasks=tuple(alike["task_id"]),
            message=f"{alike.height} never-pass task{'s' if alike.height > 1 else ''} get one and the same wrong answer from every repeat: {shown}",
            rollouts=int(alike["n"].sum()),
        )


def _always_failing_checks(run: Run) -> Iterator[Doubt]:
    """A test that fails in every rollout of a task while its siblings mostly pass."""
    if run.checks.is_empty():
        return
    per = run.checks.group_by("task_id", "name").agg(n=pl.len(), held=pl.col("passed").sum())
    siblings = per.group_by("task_id").agg(all=pl.col("n").sum(), kept=pl.col("held").sum(), most=pl.col("n").max())
    joined = per.join(siblings, on="task_id").filter(
        (pl.col("held") == 0) & (pl.col("n") >= FEWEST_CALLS) & (pl.col("kept") * 2 > pl.col("all"))
    )
    for row in joined.sort("task_id", "name").head(2).iter_rows(named=True):
        yield Doubt(
            about="verifier",
            tasks=(row["task_id"],),
            message=f"Task {row['task_id']}: `{quotes.shown(row['name'], 80)}` fails in {row['n']} of {row['n']} rollouts "
            f"while {row['kept']} of its {row['all']} checks hold",
            rollouts=row["n"],
        )


def _silent_passes(run: Run) -> Iterator[Doubt]:
    """Passes of rollouts in which the agent neither said nor did anything."""
    silent = run.rollouts.filter(
        (pl.col("outcome") == "passed") & (pl.col("agent_chars") == 0) & (pl.col("calls") == 0)
    )
    if silent.height:
        places = [f"{task}#{repeat}" for task, repeat in silent.select("task_id", "repeat").head(4).iter_rows()]
        yield Doubt(
            about="verifier",
            tasks=tuple(dict.fromkeys(silent["task_id"])),
            message=f"{silent.height} rollout{'s' if silent.height > 1 else ''} passed without a word or a call ({', '.join(places)})",
            rollouts=silent.height,
        )


def _user(context: Context) -> Iterator[Doubt]:
    kept = list(context.withheld)
    if not kept:
        return
    places = [(one.walk.rollout.key.task_id, one.walk.repeat) for one in kept]
    evidence: tuple[Evidence, ...] = tuple(one.reply for one in kept if one.reply is not None)[:1]
    yield Doubt(
        about="user",
        tasks=tuple(dict.fromkeys(task for task, _ in places)),
        message=f"the simulated user keeps back what its script gives in {spread(places)}",
        rollouts=len(places),
        evidence=evidence,
    )
