"""What was held fixed between two runs: same, changed, or not recorded, from whatever the artifacts hold."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

import polars as pl
from msgspec.structs import replace

from blade.comparison.values import HeldFixed, Pairs
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


def held_fixed(runs: tuple[Run, Run], pairs: Pairs) -> dict[str, HeldFixed]:
    """Split, model, harness, prompt, sampling, tools, verifier, skills, limits, repeats, and what else is recorded."""
    baseline, candidate = runs
    aspects = {
        "split": _split(runs, len(pairs)),
        "model": _value(baseline.model, candidate.model),
        "harness": _settings("harness", runs, agents=True),
        "prompt": _prompt(runs, pairs),
        "sampling": _settings("sampling", runs),
        "tools": _value(baseline.settings.get("tools"), candidate.settings.get("tools")),
        "verifier": _verifier(runs, pairs),
        "skills": _value(baseline.settings.get("skills"), candidate.settings.get("skills")),
        "limits": _settings("limits", runs),
        "repeats": _value(*(str(usual_repeats(count(run))) for run in runs)),
    }
    others = _other_settings(runs).items()
    return aspects | {name if name not in aspects else f"settings.{name}": value for name, value in others}


def changed_and_unknown(held: Mapping[str, HeldFixed]) -> tuple[list[str], list[str]]:
    """The aspects that changed, and those that nobody recorded."""
    return [name for name, one in held.items() if one.state == CHANGED], [
        name for name, one in held.items() if one.state == NOT_RECORDED
    ]


def _value(before: str | None, after: str | None) -> HeldFixed:
    if before is None or after is None:
        return HeldFixed(state=NOT_RECORDED, baseline=before, candidate=after)
    return HeldFixed(state=SAME if before == after else CHANGED, baseline=before, candidate=after)


def _split(runs: tuple[Run, Run], joined: int) -> HeldFixed:
    """The tasks themselves say whether the split is the same."""
    before, after = (run.tasks.height for run in runs)
    return HeldFixed(
        state=SAME if joined == before == after else CHANGED,
        baseline=f"{before} tasks",
        candidate=f"{after} tasks",
        note=f"{joined} tasks are shared",
    )


def _settings(aspect: str, runs: tuple[Run, Run], *, agents: bool = False) -> HeldFixed:
    """Settings of one kind; recorded where both runs have at least one of them in common."""
    before, after = (
        {name: run.settings[name] for name in NAMES[aspect] if name in run.settings} | (_agent(run) if agents else {})
        for run in runs
    )
    shown = [", ".join(f"{name} {side[name]}" for name in sorted(side)) or None for side in (before, after)]
    shared = before.keys() & after.keys()
    if not shared:
        return HeldFixed(state=NOT_RECORDED, baseline=shown[0], candidate=shown[1])
    same = all(before[name] == after[name] for name in shared)
    only = sorted(before.keys() ^ after.keys())
    note = f"only one run records {', '.join(only)}" if only else ""
    return HeldFixed(state=SAME if same else CHANGED, baseline=shown[0], candidate=shown[1], note=note)


def _agent(run: Run) -> dict[str, str]:
    """The agent by name, without the words that only repeat the model's: `gpt-4.1_agent` and `o3_agent` are one."""
    model = set(_WORDS.findall((run.model or "").lower()))
    own = [word for word in _WORDS.findall((run.agent or "").lower()) if word not in model]
    return {"agent": " ".join(own)} if own else {}


def _prompt(runs: tuple[Run, Run], pairs: Pairs) -> HeldFixed:
    """Prompts by fingerprint; where a simulated user makes them differ, the instructions of the first shared task."""
    prints = [dict(run.tasks.select("task_id", "prompt_fp").iter_rows()) for run in runs]
    both = [(prints[0].get(a), prints[1].get(b)) for a, b in pairs]
    known = [(x, y) for x, y in both if x is not None and y is not None]
    differ = sum(x != y for x, y in known)
    if known and not differ:
        return HeldFixed(state=SAME, note=f"{len(known)} of {len(pairs)} shared tasks have the same prompt")
    texts = _instructions(runs, pairs)
    if texts is None:
        return HeldFixed(state=CHANGED if known else NOT_RECORDED)
    if texts[0] != texts[1]:
        return HeldFixed(state=CHANGED, note=f"task {pairs[0][0]}", diff=tuple(_diff(*texts)))
    if known:
        return HeldFixed(state=CHANGED, note=f"{differ} of {len(known)} prompts differ")
    return HeldFixed(state=SAME, note=f"the instructions of task {pairs[0][0]} are the same")


def _instructions(runs: tuple[Run, Run], pairs: Pairs) -> tuple[str, str] | None:
    """What the agent was given before its first turn in the first shared task; without what a simulated user says."""
    if not pairs:
        return None
    texts = []
    for run, task in zip(runs, pairs[0], strict=True):
        rows = run.rollouts.filter((pl.col("task_id") == task) & pl.col("artifact").is_not_null())
        if rows.is_empty() or run.read is None:
            return None
        prompt = run.reread([(task, rows["repeat"][0])])[0].prompt
        system = [step.text for step in prompt if step.party == "system"]
        texts.append("\n".join(system or [step.text for step in prompt]))
    return (texts[0], texts[1]) if all(texts) else None


def _diff(before: str, after: str) -> Iterator[str]:
    # Only line feeds end a line here: `splitlines` would also cut at characters such as U+2028 that stand in a line.
    old, new = (text.replace("\r\n", "\n").removesuffix("\n").split("\n") for text in (before, after))
    lines = [
        line[:LONGEST]
        for line in difflib.unified_diff(old, new, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"... {len(lines) - MOST_LINES} more lines differ"


def _verifier(runs: tuple[Run, Run], pairs: Pairs) -> HeldFixed:
    """By name where it is recorded; else by its verdicts on outputs that both runs gave."""
    named = _settings("verifier", runs)
    if named.state == CHANGED:
        return named
    equal, judged = _verdicts_on_same_outputs(runs, pairs)
    if judged and equal < judged:
        note = f"{judged - equal} of {judged} outputs that both runs gave were judged otherwise"
        return replace(named, state=CHANGED, note=note)
    if named.state == SAME or judged:
        note = f"{judged} outputs that both runs gave were judged alike" if judged else ""
        return replace(named, state=SAME, note=note)
    return named


def _verdicts_on_same_outputs(runs: tuple[Run, Run], pairs: Pairs) -> tuple[int, int]:
    """Outputs that both runs gave to a task: how many got the same mean reward, and how many there are."""
    frames = []
    for side, run in enumerate(runs):
        numbers = pl.DataFrame(
            {"task_id": [pair[side] for pair in pairs], "task": range(len(pairs))},
            schema={"task_id": pl.String, "task": pl.Int32},
        )
        rows = run.rollouts.filter(JUDGED).select("task_id", "output_fp", "reward").drop_nulls()
        frames.append(rows.join(numbers, on="task_id").group_by("task", "output_fp").agg(pl.col("reward").mean()))
    both = frames[0].join(frames[1], on=["task", "output_fp"], suffix="_other")
    equal = both.filter((pl.col("reward") - pl.col("reward_other")).abs() < 1e-9).height
    return equal, both.height


def _other_settings(runs: tuple[Run, Run]) -> dict[str, HeldFixed]:
    """Settings that both runs record, of no kind that is known, and that differ."""
    before, after = (run.settings for run in runs)
    known = {name for names in NAMES.values() for name in names} | {"tools", "skills"}
    shared = sorted(before.keys() & after.keys() - known)
    return {name: _value(before[name], after[name]) for name in shared if before[name] != after[name]}
