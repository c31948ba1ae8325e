"""Configs of any shape: problems are named, and nothing is raised."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blade_gym.catalog.benchmarks import benchmarks
from blade_gym.catalog.components import models, resources_servers
from blade_gym.catalog.search import search
from blade_gym.config.load import examine
from blade_gym.config.mask import masked
from blade_gym.config.yaml_file import dump

KEYS = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "_inherit_from",
        "_copy",
        "_delete_key",
        "config_paths",
        "resources_servers",
        "responses_api_agents",
        "responses_api_models",
        "type",
        "name",
        "datasets",
        "port",
        "host",
        "head_server",
        "default_host",
        "disallowed_ports",
        "port_range_low",
        "api_key",
        "error_on_almost_servers",
        "num_repeats",
        "prepare_script",
        "prepare_script_args",
        "source",
        "license",
        "entrypoint",
        "domain",
        "reported",
        "requires",
        "category",
    ]
)
WORDS = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "a.b",
        "a.b.c",
        ".",
        "..",
        "benchmark",
        "train",
        "resources_servers",
        "???",
        "${a}",
        "${a.b}",
        "${.b}",
        "${..a}",
        "${inherit_from:a}",
        "${copy:a.b}",
        "${",
        "${}",
        "${${a}}",
        "${oc.env:X}",
        "${oc.env:HOME,}",
        "one.yaml",
        "math",
        "**",
        "\\${a}",
        "10001",
    ]
)
TREES = st.recursive(
    st.one_of(WORDS, st.none(), st.booleans(), st.integers(-1, 70000), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=14,
)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _written(folder: str, text: str) -> Path:
    root = Path(folder)
    for name in (
        "one.yaml",
        "benchmarks/x/config.yaml",
        "resources_servers/x/configs/x.yaml",
        "responses_api_models/x/configs/x.yaml",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def _read_everything(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = _written(folder, text)
        resolved, problems = examine(["one.yaml"], (), [root])
        assert all(problem.text for problem in problems)
        dump(masked(resolved.config))
        search("math", benchmarks([root]).entries)
        models([root])
        resources_servers([root])


@quick
@given(tree=st.dictionaries(KEYS, TREES, max_size=5))
def test_no_tree_breaks_it(tree: dict[str, Any]) -> None:
    _read_everything(yaml.safe_dump(tree, sort_keys=False))


@quick
@given(text=st.text(max_size=60) | st.text("ab:{}[]&*!|>-# \n'\"${}?%,<", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    _read_everything(text)
