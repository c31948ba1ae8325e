"""A world's files: rollouts and sidecars as NeMo Gym writes them, and the truth beside them. Same seed, same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from proof.simulate.catalogue import plants, worlds
from proof.simulate.draft import Draft, Row
from proof.simulate.mechanism import Kind, Mechanism, World
from proof.simulate.modes import GROUP, PARTY
from proof.simulate.names import NOTES, Names, NamesKind, names_of
from proof.simulate.plan import Part, Played, cause_of, parts, played
from proof.simulate.truth import Planted, RolloutTruth, RunTruth, TaskTruth, Truth

TASKS = 80
PLANTED = 0.6
REPEATS = 4


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to make."""

    world: str = "all"
    tasks: int = TASKS
    repeats: int = REPEATS
    share: float = PLANTED
    """Of tasks with a mechanism; the others are easy, hard or done now and then."""
    seed: int = 1
    plant: tuple[str, ...] = ()
    """Names of mechanisms; all that fit where none is named."""
    clean: bool = False
    """Plant nothing."""
    names: NamesKind = "random"
    """How the fields are called that no documented format fixes."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """One world: its files by name, and what is true of them, which stands in none of these."""

    world: str
    files: Mapping[str, bytes]
    truth: Truth


Rolled = list[tuple[Part, list[Played]]]
"""Tasks with their rollouts."""


def generate(wanted: Wanted) -> tuple[Made, ...]:
    """Every wanted world; RequestError for a world or a mechanism that does not exist."""
    chosen = [(world, () if wanted.clean else plants(world, wanted.plant)) for world in worlds(wanted.world)]
    return tuple(
        made(world, parts(world, planted, wanted.tasks, wanted.share, wanted.seed), wanted)
        for world, planted in chosen
        if planted or wanted.clean
    )


def made(world: World, all_parts: tuple[Part, ...], wanted: Wanted) -> Made:
    """The files and the truth of tasks whose fate is decided."""
    rolled = {
        model: [(part, list(played(world, part, number, wanted.repeats, wanted.seed))) for part in all_parts]
        for number, model in enumerate(world.models)
    }
    return assembled(world, rolled, wanted)


def assembled(world: World, rolled: Mapping[str, Rolled], wanted: Wanted) -> Made:
    """The files and the truth of rollouts that were played, by model."""
    names = names_of(wanted.names, world.name, wanted.seed, _notes(rolled.values()))
    files: dict[str, bytes] = {}
    runs = {}
    for number, (model, mine) in enumerate(rolled.items()):
        files |= _files(world, model, mine, names)
        runs[model] = _truth(mine, number, names)
    return Made(world=world.name, files=files, truth=Truth(world=world.name, seed=wanted.seed, runs=runs))


def _notes(runs: Iterable[Rolled]) -> list[str]:
    """Fields of which some rows have a word and others have none."""
    found = {name for rolled in runs for _, rollouts in rolled for one in rollouts for name in one.draft.fields}
    return [name for name in NOTES if name in found]


def _files(world: World, model: str, rolled: Rolled, names: Names) -> dict[str, bytes]:
    kept: dict[str, list[Row]] = {"rollouts": [], "failures": [], "nowhere": []}
    inputs = []
    for part, rollouts in rolled:
        for one in rollouts:
            kept[one.draft.kept].append(_row(world, model, part, one, names))
            inputs.append(_input(world, part, one.repeat, names))
    stem = f"{model}_rollouts"
    files = {f"{stem}.jsonl": _lines(kept["rollouts"]), f"{stem}_materialized_inputs.jsonl": _lines(inputs)}
    return files | ({f"{stem}_failures.jsonl": _lines(kept["failures"])} if kept["failures"] else {})


def _lines(rows: list[Row]) -> bytes:
    return b"".join(map(_line, rows))


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def row_of(world: World, model: str, part: Part, one: Played, names: Names) -> bytes:
    """One rollout as a line of the rollouts file."""
    return _line(_row(world, model, part, one, names))


def _stamps(world: World, part: Part, repeat: int) -> Row:
    agent = {"type": "responses_api_agents", "name": f"{world.name}_simulated_agent"}
    return {"_ng_task_index": part.task.index, "_ng_rollout_index": repeat, "agent_ref": agent}


def _input(world: World, part: Part, repeat: int, names: Names) -> Row:
    fixed = {"responses_create_params": world.request(part.task)} | _stamps(world, part, repeat)
    return names.row(fixed, part.task.fields, {}, "")


def _row(world: World, model: str, part: Part, one: Played, names: Names) -> Row:
    draft = one.draft
    request = world.request(part.task) | ({"input": draft.opening} if draft.opening is not None else {})
    rng = Random(f"{model}/{part.task.task_id}/{one.repeat}")
    response: dict[str, Any] = {
        "id": f"resp_{rng.getrandbits(96):024x}",
        "object": "response",
        "model": model,
        "output": draft.items,
        "usage": _usage(request, draft.items),
    }
    fixed = {"responses_create_params": request, "response": response | draft.response, "reward": draft.reward}
    fixed |= _stamps(world, part, one.repeat)
    return names.row(fixed, part.task.fields | draft.instead, draft.fields, f"{model}/{_place(part, one)}")


def _usage(request: Row, items: list[Row]) -> Row:
    given, written = len(json.dumps(request["input"])) // 4, len(json.dumps(items)) // 4
    return {"input_tokens": given, "output_tokens": written, "total_tokens": given + written}


def _truth(rolled: Rolled, run: int, names: Names) -> RunTruth:
    return RunTruth(
        tasks={part.task.task_id: _task_truth(part, rollouts, run) for part, rollouts in rolled},
        must=_codes(rolled, lambda one: one.must),
        may=_codes(rolled, lambda one: one.may),
        harmless=_marked(rolled, names, lambda kind: kind == "harmless"),
        rollouts=tuple(_rollout_truth(part, one) for part, rollouts in rolled for one in rollouts),
        faults=_marked(rolled, names, lambda kind: kind != "harmless"),
    )


def _rollout_truth(part: Part, one: Played) -> RolloutTruth:
    planted = part.mechanism if one.hit else None
    passed = one.draft.reward == 1.0 and one.draft.kept == "rollouts"
    mode = None if passed else (planted.mode if planted is not None else None) or one.draft.mode
    if mode is None and not passed:
        raise ValueError(f"nobody says why {_place(part, one)} fails")
    party = planted.party if planted is not None else None
    return RolloutTruth(
        task=part.task.task_id,
        repeat=one.repeat,
        mode=mode,
        party=None if mode is None else party or PARTY[mode],
        group=None if mode is None else GROUP[mode],
        modes_too=() if mode is None else _modes_too(planted, one.draft),
        settled=planted.settled if planted is not None else True,
        doubtful=passed and planted is not None and planted.doubtful,
        hit=one.hit,
    )


def _modes_too(planted: Mechanism | None, draft: Draft) -> tuple[str, ...]:
    """Of the mechanism where it says what goes wrong, else of how the rollout was played."""
    return planted.modes_too if planted is not None and planted.mode is not None else draft.modes_too


def _task_truth(part: Part, rollouts: list[Played], run: int) -> TaskTruth:
    one = part.mechanism
    return TaskTruth(
        index=part.task.index,
        cause=cause_of(part, run, [one.draft.reward == 1.0 for one in rollouts]),
        mechanism=one.name if one is not None else None,
        clean=one is None or one.kind != "fault",
        places=_hit(part, rollouts),
    )


def _hit(part: Part, rollouts: list[Played]) -> tuple[str, ...]:
    """Rollouts with a row in which the mechanism was planted."""
    return tuple(_place(part, one) for one in rollouts if one.hit and one.draft.kept != "nowhere")


def _place(part: Part, one: Played) -> str:
    return f"{part.task.task_id}#{one.repeat}"


def _codes(rolled: Rolled, of: Callable[[Mechanism], tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """By code of a rule: rollouts with a mechanism that names it."""
    found: dict[str, tuple[str, ...]] = {}
    for part, rollouts in rolled:
        for code in of(part.mechanism) if part.mechanism is not None else ():
            found[code] = (*found.get(code, ()), *_hit(part, rollouts))
    return {code: found[code] for code in sorted(found)}


def _marked(rolled: Rolled, names: Names, wanted: Callable[[Kind], bool]) -> tuple[Planted, ...]:
    """What was planted in so many words by mechanisms of some kinds."""
    return tuple(
        Planted(
            place=_place(part, one),
            step=mark.step,
            field=names.path(mark.field, (*part.task.fields, *one.draft.instead)),
            quote=mark.quote,
        )
        for part, rollouts in rolled
        if part.mechanism is not None and wanted(part.mechanism.kind)
        for one in rollouts
        for mark in one.draft.marks
        if one.hit
    )
