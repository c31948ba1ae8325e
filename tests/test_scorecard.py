"""docs/report.md names every field of metrics.json, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.report.as_json import dump
from blade.report.documents import metrics

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/report.md").read_text("utf-8").split("\n## metrics.json\n")[1].split("\n## ")[0]
NAMED = [
    name
    for line in PAGE.splitlines()
    if line.startswith("| `")
    for name in re.findall(r"`([^`]+)`", line.split("|")[1])
]


def fields(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every value; a list of plain values, such as an interval, is one value."""
    if isinstance(value, dict) and (value or not path):
        for name, inner in value.items():
            yield from fields(inner, (*path, name))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for name, inner in value[0].items():
            yield from fields(inner, (*path[:-1], f"{path[-1]}[]", name))
    elif not (isinstance(value, dict) and not value):
        yield path


def fits(path: tuple[str, ...], name: str) -> bool:
    """Whether a name of the page stands for a path; the last word in capitals takes the rest, dots and all."""
    words = name.split(".")
    if words[-1].isupper() and len(path) > len(words):
        path = (*path[: len(words) - 1], ".".join(path[len(words) - 1 :]))
    return len(words) == len(path) and all(
        word.isupper() or word == part for word, part in zip(words, path, strict=True)
    )


def row(task: str, repeat: int, reward: object) -> dict[str, Any]:
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}]
    return {
        "task_id": task,
        "_ng_rollout_index": repeat,
        "reward": reward,
        "cost": 0.1,
        "response": {"output": said, "usage": {"input_tokens": 3, "output_tokens": 2}},
    }


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, ...]]:
    partial = tmp_path_factory.mktemp("runs") / "partial.jsonl"
    rows = [row(f"t{i}", r, [0.1, 0.4, 0.8, None][(i + r) % 4]) for i in range(8) for r in range(2)]
    partial.write_text("not json\n" + "".join(json.dumps(each) + "\n" for each in rows), "utf-8")
    bare = partial.with_name("bare.jsonl")
    bare.write_text('{"task_id": "a", "reward": 1}\n', "utf-8")
    desk = ROOT / "examples/desk_assistant/sparrow-8b_rollouts.jsonl"
    runs = [desk, ROOT / "examples/arithmetic", ROOT / "tests/golden/ugly.jsonl", partial, bare]
    return {
        path for each in runs for one in blade.analyze(each).runs for path in fields(json.loads(dump(metrics(one))))
    }


def test_every_field_is_on_the_page(paths: set[tuple[str, ...]]) -> None:
    lists = {(name.partition("[]")[0],) for name in NAMED if "[]" in name}
    assert [path for path in sorted(paths - lists) if not any(fits(path, name) for name in NAMED)] == []


def test_the_page_names_no_other_field(paths: set[tuple[str, ...]]) -> None:
    assert [name for name in NAMED if not any(fits(path, name) for path in paths)] == []


def test_no_field_is_named_twice() -> None:
    assert len(NAMED) == len(set(NAMED))
