"""Public reference files, read through the public doors, against facts that were worked out without our code."""

from dataclasses import replace

import pytest

from blade.ingest.reread import reread
from blade.model.errors import ArtifactError
from blade.model.run import Run
from blade.stats.task_matching import same_tasks
from builders import kept_places, load
from conformance.facts import DATA, FACTS, JOINED, NOT_COMPARABLE, REFUSED, Fact

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
    ),
]

PATHS = sorted({fact.path for fact in FACTS})


def last(model: str) -> str:
    return model.rpartition("/")[2]


def facts_of(path: str) -> list[Fact]:
    return sorted((fact for fact in FACTS if fact.path == path), key=lambda fact: last(fact.model))


def read(path: str) -> list[Run]:
    return sorted(load(DATA / path), key=lambda run: last(run.model or ""))


def observed(path: str, run: Run) -> Fact:
    """What we say of a run."""
    counts = dict(run.rollouts.group_by("outcome").len().iter_rows())
    rows = run.rollouts.filter(run.rollouts["artifact"].is_not_null())
    kinds = run.tasks["id_kind"].unique().to_list()
    return Fact(
        path=path,
        model=last(run.model or ""),
        tasks=run.tasks.height,
        rollouts=rows.height,
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        unscored=counts.get("unscored", 0),
        missing=counts.get("missing", 0),
        known_by=", ".join(sorted(kinds)),
        mean_reward=None,
        repeats=tuple(sorted(set(rows.group_by("task_id").len()["len"]))),
        expected_from=run.expected_from,
        duplicates=run.duplicates,
    )


def wanted(fact: Fact) -> Fact:
    failed = fact.rollouts - fact.passed if fact.failed is None else fact.failed
    return replace(fact, model=last(fact.model), failed=failed, mean_reward=None)


TOLD = {"inspect/log_tool_call_error.json": ["11 tool results belong to no call of the trajectory"]}
"""What is said of files that can be read: that log holds results of tools and no call."""
FOLDERS = sorted(path.name for path in DATA.iterdir() if path.is_dir()) if DATA.is_dir() else []


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_is_in_the_table(folder: str) -> None:
    known = (*PATHS, *REFUSED)
    if not any(path.startswith(f"{folder}/") for path in known):
        pytest.skip(f"nothing was worked out about the files of {folder}")
    endings = (
        "_materialized_inputs",
        "_reward_profiling",
        "_aggregate_metrics",
        "_agent_metrics",
        "workplace_assistant/example",
    )
    files = [path for path in (DATA / folder).rglob("*") if path.suffix in (".jsonl", ".json", ".eval")]
    mains = [str(path.relative_to(DATA)) for path in files if not str(path.with_suffix("")).endswith(endings)]
    assert [main for main in mains if not main.startswith(known)] == []


@pytest.mark.parametrize("path", PATHS)
def test_what_is_true_of_a_file(path: str) -> None:
    runs, facts = read(path), facts_of(path)
    assert [observed(path, run) for run in runs] == [wanted(fact) for fact in facts]
    for run, fact in zip(runs, facts, strict=True):
        assert run.rollouts["reward"].mean() == (
            None if fact.mean_reward is None else pytest.approx(fact.mean_reward, abs=1e-12)
        )
        assert [problem.reason for problem in run.problems] == TOLD.get(path, [])


@pytest.mark.parametrize("path", PATHS)
def test_every_rollout_can_be_read_again(path: str) -> None:
    for run in read(path):
        rollouts = reread(run, kept_places(run))
        steps = [len(one.steps) if one.steps is not None else None for one in rollouts]
        assert steps == run.rollouts.filter(run.rollouts["artifact"].is_not_null())["steps"].to_list()


@pytest.mark.parametrize("path", sorted(REFUSED))
def test_a_folder_without_rows_is_refused_clearly(path: str) -> None:
    with pytest.raises(ArtifactError, match=REFUSED[path]) as caught:
        read(path)
    assert caught.value.hint


def test_simulated_users_open_every_repeat_in_other_words() -> None:
    (run,) = read("tau_bench/airline__gpt-4o.jsonl")
    assert run.tasks["prompt_fp"].null_count() == 50
    assert run.tasks["key_fp"].n_unique() == 50


def test_both_forms_of_an_inspect_log_agree() -> None:
    (one,), (other,) = read("inspect/log_formats.eval"), read("inspect/log_formats.json")
    columns = ["task_id", "repeat", "outcome", "reward", "answer", "output_fp", "steps"]
    assert one.rollouts.select(columns).equals(other.rollouts.select(columns))


@pytest.mark.parametrize("pair", sorted(JOINED), ids=" ".join)
def test_runs_of_the_same_tasks_are_joined(pair: tuple[str, str]) -> None:
    (one,), (other,) = read(pair[0]), read(pair[1])
    found = same_tasks(one.tasks, other.tasks)
    assert len(found.pairs) == JOINED[pair]
    assert all(a == b for a, b in found.pairs)
    assert (found.comparable, found.id_conflict, found.unproven) == (True, (), ())


def test_runs_of_different_tasks_are_not_comparable() -> None:
    (one,), (other,) = read(NOT_COMPARABLE[0]), read(NOT_COMPARABLE[1])
    found = same_tasks(one.tasks, other.tasks)
    assert (found.pairs, found.comparable) == ((), False)
    assert found.id_conflict


def test_a_folder_of_folders_is_many_runs() -> None:
    runs = load(DATA / "gym_examples")
    wanted = [fact for fact in FACTS if fact.path.startswith("gym_examples/")]
    assert len(runs) == len(wanted)
    assert len({run.name for run in runs}) == len(runs)
    assert sum(run.rollouts.height for run in runs) == sum(fact.rollouts for fact in wanted)
    assert all("<PLACEHOLDER ROW>" in run.problems[0].reason for run in runs)
