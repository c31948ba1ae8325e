"""`gym` as a user types it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def gym(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    started = [sys.executable, "-c", "from blade_gym.cli import main; main()", *words]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "NEMO_GYM_"))}
    return subprocess.run(
        started, cwd=folder, capture_output=True, text=True, check=False, timeout=120, env={**kept, **variables}
    )


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


SERVER = """
quiz:
  resources_servers: {quiz: {entrypoint: app.py, domain: knowledge, verifier: exact_match, description: Quiz questions}}
quiz_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: quiz}
      model_server: {type: responses_api_models, name: policy_model}
"""


def overlay(name: str, **keys: object) -> str:
    """A benchmark's config on top of SERVER."""
    more = "".join(f", {key}: {value}" for key, value in keys.items())
    return (
        "config_paths: [resources_servers/quiz/configs/quiz.yaml]\n"
        f"{name.replace('/', '_')}_agent:\n  _inherit_from: quiz_simple_agent\n  responses_api_agents:\n    simple_agent:\n"
        f"      datasets: [{{name: {name.partition('/')[0]}, type: benchmark, prepare_script: benchmarks/{name}/prepare.py{more}}}]\n"
    )


def shelf(folder: Path, **configs: str) -> Path:
    """A root with the quiz server and benchmarks on top of it."""
    files = {f"benchmarks/{name}/config.yaml": text for name, text in configs.items()}
    return write(folder, {"resources_servers/quiz/configs/quiz.yaml": SERVER, **files})
