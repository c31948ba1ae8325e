"""Runs of HELM: a folder with the requests of a scenario and the statistics of each instance.

An instance is scored by the metric that the run lists first among those that say whether an answer is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.ingest import cells
from blade.ingest.folder_files import FolderListing, json_object, read_json
from blade.ingest.folder_formats import TrialRow, folder_format
from blade.ingest.formats import RunFacts

_STATE = "scenario_state.json"
_STATISTICS = "per_instance_stats.json"
_PREDICTIONS = "display_predictions.json"
_SPEC = "run_spec.json"
_MAIN = (
    *(
        "exact_match",
        "quasi_exact_match",
        "prefix_exact_match",
        "quasi_prefix_exact_match",
        "math_equiv_chain_of_thought",
    ),
    *(
        "math_equiv",
        "chain_of_thought_correctness",
        "test_avg",
        "ifeval_strict_accuracy",
        "pass",
        "f1_score",
        "rouge_l",
    ),
)
"""The metrics that HELM's own schema names as the main one of a scenario, the strictest first."""


def owns(here: FolderListing) -> bool:
    """A folder with the statistics of instances, and with what was asked or a short form of it."""
    return _STATISTICS in here.files and (_STATE in here.files or _PREDICTIONS in here.files)


class Scenario:
    """The requests of a run by instance and trial, with their statistics."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spec = json_object(read_json(path / _SPEC, path)[0])
        state, self.reason = read_json(path / _STATE, path)
        states = json_object(state).get("request_states")
        self.adapter = json_object(self.spec.get("adapter_spec")) or json_object(json_object(state).get("adapter_spec"))
        self.states: dict[str, dict[str, Any]] = {}
        for one in map(json_object, states if isinstance(states, list) else []):
            self.states.setdefault(_key(json_object(one.get("instance")), one), one)
        self.statistics: dict[str, dict[str, float]] = {}
        listed, self.lost = read_json(path / _STATISTICS, path)
        for one in map(json_object, listed if isinstance(listed, list) else []):
            self.statistics.setdefault(_key({"id": one.get("instance_id"), **one}, one), {}).update(_means(one))
        self.metric = next((name for name in _MAIN if any(name in one for one in self.statistics.values())), None)

    def members(self) -> Sequence[str]:
        return list(dict.fromkeys([*self.states, *self.statistics]))

    def row(self, member: str) -> TrialRow:
        """What was asked and completed, the right references, and every statistic."""
        row = TrialRow(root=self.path)
        state, found = self.states.get(member, {}), self.statistics.get(member, {})
        for name, reason in ((_STATE, self.reason), (_STATISTICS, self.lost)):
            if reason:
                row.lacks(self.path / name, reason)
        task, _, trial = member.rpartition("#")
        instance, result = json_object(state.get("instance")), json_object(state.get("result"))
        completed = result.get("completions")
        texts = [json_object(one).get("text") for one in completed] if isinstance(completed, list) else []
        row.values |= {
            "task_id": task,
            "repeat": int(trial),
            "reward": found.get(self.metric or ""),
            "model": self.adapter.get("model"),
            "prompt": json_object(state.get("request")).get("prompt") or json_object(instance.get("input")).get("text"),
            "output": texts[0] if texts else None,
            "expected_answer": _right(instance),
            # Choices are asked for by letter, and referred to by their text.
            "extracted_answer": json_object(state.get("output_mapping")).get(str(texts[0]).strip()) if texts else None,
            "error": result.get("error"),
            "seconds": cells.number(result.get("request_time")),
            "metrics": found or None,
        }
        return row


def _key(instance: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """The instance, what disturbs it where something does, and the trial."""
    disturbed = json_object(instance.get("perturbation")).get("name")
    name = f"{instance.get('id')}" + (f" ({disturbed})" if disturbed else "")
    return f"{name}#{cells.integer(one.get('train_trial_index')) or 0}"


def _means(one: Mapping[str, Any]) -> dict[str, float]:
    """The mean of each metric of an instance."""
    listed = one.get("stats")
    found: dict[str, float] = {}
    for each in map(json_object, listed if isinstance(listed, list) else []):
        name, mean = json_object(each.get("name")).get("name"), cells.number(each.get("mean"))
        if isinstance(name, str) and mean is not None:
            found.setdefault(name, mean)
    return found


def _right(instance: Mapping[str, Any]) -> Any:
    references = instance.get("references")
    right = [
        json_object(one.get("output")).get("text")
        for one in map(json_object, references if isinstance(references, list) else [])
        if "correct" in (one.get("tags") or ())
    ]
    return right[0] if len(right) == 1 else right or None


def facts(path: Path) -> RunFacts:
    """The scenario, the model, and which metric was taken as the reward."""
    run = Scenario(path)
    name = cells.text(run.spec.get("name"))
    return RunFacts(
        benchmark=name.partition(",model=")[0].partition(":model=")[0] if name else None,
        model=cells.text(run.adapter.get("model")),
        source=_SPEC,
        note=f"the reward is the metric `{run.metric}`" if run.metric else "no metric of it says what is right",
    )


FORMAT = folder_format(name="helm", order=45, owns=owns, run_folder=Scenario, facts=facts)
