"""The manifest of a run that starts now, from its config, options and plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from blade_gym.models.make import LEFT, MOST_AT_ONCE, limits_of_model, sampling_of
from blade_gym.run import manifest as about
from blade_gym.run.artifacts import TASK
from blade_gym.run.dataset import checksum
from blade_gym.run.options import Options
from blade_gym.run.plan import Plan
from blade_gym.run.resume import VARIABLE, most_attempts
from blade_gym.run.stage import Stage
from blade_gym.run.verifier_code import recorded
from blade_gym.serve.fleet import limits_of

AT_ONCE = 32
"""Rollouts under way at once where nobody says."""


def draft_manifest(stage: Stage, options: Options, plan: Plan, model_says: str | None) -> dict[str, Any]:
    """The manifest of a run that starts now."""
    agents = plan.agents
    resources = [one for name in agents if (one := stage.resources(name))]
    names = about.task_names({task.index: task.row for task in plan.whole})
    draft: dict[str, Any] = {
        "schema_version": about.SCHEMA,
        "benchmark": stage.benchmark or (resources[0].type if len(resources) == 1 else None),
        "agent": ", ".join(agents),
        "model": about.about_model(stage.model, model_says),
        "sampling": _sampling(stage, plan),
        "prompts": [
            {"path": one.prompt.path, "sha256": one.prompt.sha256} for one in stage.sources if one.prompt is not None
        ],
        "dataset": [
            {"path": one.shown, "sha256": checksum(one.path), "rows": rows}
            for one, rows in zip(stage.sources, _rows(stage), strict=True)
        ],
        "split": stage.split,
        "limit": options.limit,
        "num_repeats": dict(plan.repeats) if len(plan.repeats) > 1 else next(iter(plan.repeats.values()), None),
        "task_ids": [names[index] for index in dict.fromkeys(row[TASK] for row in plan.rows)],
        "seeds": _seeds(plan),
        "limits": _limits(stage, options, agents),
        "skills_ref": dict(plan.skills.ref) if plan.skills else None,
        "verifier": about.verifier_names(resources),
        "verifier_settings": about.verifier_settings(resources),
        "verifier_code": recorded(stage.judging(resources)),
        "judge": about.about_judge(stage.parts, resources),
        "reported": about.reported(stage.config, about.about_model(stage.model, model_says)["name"]),
        "versions": about.versions(),
        "shard": str(options.shard) if options.shard else None,
        "whole": [[task.index, names[task.index], task.agent, task.rollouts] for task in plan.whole]
        if options.shard
        else None,
        "started_at": about.now(),
        "ended_at": None,
        "config": about.safe_config(stage.config),
    }
    return {**draft, "config_sha256": about.fingerprint(draft)}


def _rows(stage: Stage) -> list[int]:
    return [sum(1 for line in one.path.read_bytes().splitlines() if line.strip()) for one in stage.sources]


def _sampling(stage: Stage, plan: Plan) -> dict[str, Any]:
    """How the answers of all tasks are drawn; `several` where they differ."""
    every = [sampling_of(stage.model, task.params) for task in plan.whole]
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for one in every for name in one):
        values = {json.dumps(one.get(name, LEFT)) for one in every}
        found[name] = json.loads(values.pop()) if len(values) == 1 else "several"
    return found


def _seeds(plan: Plan) -> dict[str, Any]:
    from blade_gym.models.openai_model import extra_body

    if plan.add_seed:
        return {"by_repeat": True, "values": list(range(max((task.rollouts for task in plan.whole), default=0)))}
    found = {extra_body(task.params.get("metadata")).get("seed") for task in plan.whole} - {None}
    return {"by_repeat": bool(found), "values": sorted(found)}


def _limits(stage: Stage, options: Options, agents: Sequence[str]) -> dict[str, Any]:
    limits = [limits_of(one.config) for name in agents if (one := stage.of(name))]
    steps = sorted({one.max_steps for one in limits if one.max_steps is not None})
    model = stage.model
    seconds, tries = limits_of_model(model) if model else (None, None)
    at_once = options.concurrency or MOST_AT_ONCE.get(model.type if model else "", AT_ONCE)
    return {
        "max_steps": steps[0] if len(steps) == 1 else steps or None,
        "rollout_seconds": next((one.seconds for one in limits if one.seconds is not None), None),
        "model_seconds": seconds,
        "model_tries": tries,
        "attempts": f"{VARIABLE}={most_attempts()[0]}",
        "concurrency": at_once,
    }
