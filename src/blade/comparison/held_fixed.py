"""What was held fixed between two runs: same, changed, or not recorded, from whatever the artifacts hold."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

import polars as pl

from blade.comparison.values import Held
from blade.model.rollout import Rollout
from blade.model.run import Run
from blade.stats.counts import JUDGED, count
from blade.stats.pass_at_k import usual_repeats

SAME = "same"
CHANGED = "changed"
NOT_RECORDED = "not recorded"
NAMES = {
    "harness": (
        "harness",
        "scaffold",
        "framework",
        "source_commit",
        "agent_version",
        "user_model",
        "user_llm",
        "solver",
    ),
    "sampling": (
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "seed",
        "reasoning_effort",
        "presence_penalty",
        "frequency_penalty",
        "repetition_penalty",
    ),
    "verifier": (
        "judge_model",
        "judge",
        "grader",
        "verifier",
        "verifier_settings",
        "verifier_code",
        "verifier_version",
        "scorer",
        "rubric_version",
    ),
    "limits": ("max_output_tokens", "max_tokens", "max_steps", "max_turns", "timeout", "time_limit", "message_limit"),
}
"""Settings that speak of each thing."""
MOST_LINES = 12
LONGEST = 160
_WORDS = re.compile(r"[a-z]+|\d+")


def held_fixed(baseline: Run, candidate: Run, pairs: Sequence[tuple[str, str]]) -> tuple[Held, ...]:
    """Split, model, harness, prompt, sampling, tools, verifier, skills, limits, repeats, and what else is recorded."""
    runs = (baseline, candidate)
    return (
        _split(runs, len(pairs)),
        _plain("model", baseline.model, candidate.model),
        _settings("harness", runs, agents=True),
        _prompt(runs, pairs),
        _settings("sampling", runs),
        _plain("tools", baseline.settings.get("tools"), candidate.settings.get("tools")),
        _verifier(runs, pairs),
        _plain("skills", baseline.settings.get("skills"), candidate.settings.get("skills")),
        _settings("limits", runs),
        _repeats(runs),
        *_others(runs),
    )


def changed(held: Sequence[Held]) -> tuple[list[str], list[str]]:
    """The things that changed, and those that nobody recorded."""
    return (
        [one.aspect for one in held if one.state == CHANGED],
        [one.aspect for one in held if one.state == NOT_RECORDED],
    )


def _plain(aspect: str, before: str | None, after: str | None, note: str = "") -> Held:
    if before is None or after is None:
        return Held(aspect=aspect, state=NOT_RECORDED, baseline=before, candidate=after, note=note)
    return Held(aspect=aspect, state=SAME if before == after else CHANGED, baseline=before, candidate=after, note=note)


def _split(runs: tuple[Run, Run], joined: int) -> Held:
    """The tasks themselves say whether the split is the same."""
    sizes = [run.tasks.height for run in runs]
    values = [f"{size} tasks" for size in sizes]
    state = SAME if joined == sizes[0] == sizes[1] else CHANGED
    return Held(aspect="split", state=state, baseline=values[0], candidate=values[1], note=f"{joined} tasks are shared")


def _settings(aspect: str, runs: tuple[Run, Run], *, agents: bool = False) -> Held:
    """Settings of one kind; recorded where both runs have at least one of them in common."""
    found = [{name: run.settings[name] for name in NAMES[aspect] if name in run.settings} for run in runs]
    if agents:
        found = [mine | _agent(run) for run, mine in zip(runs, found, strict=True)]
    shared = sorted(found[0].keys() & found[1].keys())
    shown = [", ".join(f"{name} {mine[name]}" for name in sorted(mine)) or None for mine in found]
    if not shared:
        return Held(aspect=aspect, state=NOT_RECORDED, baseline=shown[0], candidate=shown[1])
    same = all(found[0][name] == found[1][name] for name in shared)
    only = sorted(found[0].keys() ^ found[1].keys())
    note = f"only one run records {', '.join(only)}" if only else ""
    return Held(aspect=aspect, state=SAME if same else CHANGED, baseline=shown[0], candidate=shown[1], note=note)


def _agent(run: Run) -> dict[str, str]:
    """The agent by name, without the words that only repeat the model's: `gpt-4.1_agent` and `o3_agent` are one."""
    model = set(_WORDS.findall((run.model or "").lower()))
    own = [word for word in _WORDS.findall((run.agent or "").lower()) if word not in model]
    return {"agent": " ".join(own)} if own else {}


def _prompt(runs: tuple[Run, Run], pairs: Sequence[tuple[str, str]]) -> Held:
    """Prompts by their marks; where a simulated user makes them differ, the instructions of the first shared task."""
    marks = [dict(run.tasks.select("task_id", "prompt_fp").iter_rows()) for run in runs]
    both = [(marks[0].get(a), marks[1].get(b)) for a, b in pairs]
    known = [(x, y) for x, y in both if x is not None and y is not None]
    if known and all(x == y for x, y in known):
        return Held(aspect="prompt", state=SAME, note=f"{len(known)} of {len(pairs)} shared tasks have the same prompt")
    texts = _instructions(runs, pairs)
    if texts is None:
        return Held(aspect="prompt", state=NOT_RECORDED if not known else CHANGED)
    if texts[0] == texts[1] and not known:
        return Held(aspect="prompt", state=SAME, note=f"the instructions of task {pairs[0][0]} are the same")
    if texts[0] == texts[1]:
        differ = sum(x != y for x, y in known)
        return Held(aspect="prompt", state=CHANGED, note=f"{differ} of {len(known)} prompts differ")
    return Held(aspect="prompt", state=CHANGED, note=f"task {pairs[0][0]}", diff=tuple(_diff(*texts)))


def _instructions(runs: tuple[Run, Run], pairs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """What the agent was given before its first turn in the first shared task; without what a simulated user says."""
    if not pairs:
        return None
    texts = []
    for run, task in zip(runs, pairs[0], strict=True):
        rows = run.rollouts.filter((pl.col("task_id") == task) & pl.col("artifact").is_not_null())
        if rows.is_empty() or run.read is None:
            return None
        texts.append(_given(run.reread([(task, rows["repeat"][0])])[0]))
    return (texts[0], texts[1]) if all(texts) else None


def _given(rollout: Rollout) -> str:
    system = [step.text for step in rollout.prompt if step.party == "system"]
    return "\n".join(system or [step.text for step in rollout.prompt])


def _diff(before: str, after: str) -> Iterator[str]:
    lines = [
        line
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
        if line[:3] not in ("---", "+++")
    ]
    shown = [line[:LONGEST] for line in lines if not line.startswith("@@")]
    yield from shown[:MOST_LINES]
    if len(shown) > MOST_LINES:
        yield f"... {len(shown) - MOST_LINES} more lines differ"


def _verifier(runs: tuple[Run, Run], pairs: Sequence[tuple[str, str]]) -> Held:
    """By name where it is recorded; else by its verdicts on outputs that both runs gave."""
    named = _settings("verifier", runs)
    if named.state == CHANGED:
        return named
    equal, judged = _verdicts_on_same(runs, pairs)
    if judged and equal < judged:
        note = f"{judged - equal} of {judged} outputs that both runs gave were judged otherwise"
        return Held(aspect="verifier", state=CHANGED, baseline=named.baseline, candidate=named.candidate, note=note)
    if named.state == SAME or judged:
        note = f"{judged} outputs that both runs gave were judged alike" if judged else ""
        return Held(aspect="verifier", state=SAME, baseline=named.baseline, candidate=named.candidate, note=note)
    return named


def _verdicts_on_same(runs: tuple[Run, Run], pairs: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Outputs that both runs gave to a task: how many got the same mean reward, and how many there are."""
    frames = []
    for side, run in enumerate(runs):
        places = pl.DataFrame(
            {"task_id": [pair[side] for pair in pairs], "task": range(len(pairs))},
            schema={"task_id": pl.String, "task": pl.Int32},
        )
        rows = run.rollouts.filter(JUDGED).select("task_id", "output_fp", "reward").drop_nulls()
        frames.append(rows.join(places, on="task_id").group_by("task", "output_fp").agg(pl.col("reward").mean()))
    both = frames[0].join(frames[1], on=["task", "output_fp"], suffix="_other")
    equal = both.filter((pl.col("reward") - pl.col("reward_other")).abs() < 1e-9).height
    return equal, both.height


def _repeats(runs: tuple[Run, Run]) -> Held:
    before, after = (str(usual_repeats(count(run))) for run in runs)
    return _plain("repeats", before, after)


def _others(runs: tuple[Run, Run]) -> Iterator[Held]:
    """Settings that both runs record, of no kind that is known, and that differ."""
    known = {name for names in NAMES.values() for name in names} | {"tools", "skills"}
    for name in sorted(runs[0].settings.keys() & runs[1].settings.keys() - known):
        before, after = (run.settings[name] for run in runs)
        if before != after:
            yield _plain(name, before, after)
