"""Makes the runs in `smollm2/` and `workplace_assistant/` again: the embedded model, and scripted policies, no network.

The rows of the scripted policies come out the same; those of the model may differ in single answers. Dates and versions
in the manifests are those of the day.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
GYM = (sys.executable, "-c", "import sys; from blade_gym.cli import main; sys.exit(main())")
EMBEDDED = ("--model-type", "local_model", "--limit", "40")
WORKPLACE = ("--benchmark", "workplace_assistant", "--model-type", "scripted_model", "--limit", "51")
POLICY = "policy_model.responses_api_models.scripted_model.policy"
PACKED = (".jsonl", "_materialized_inputs.jsonl", "_failures.jsonl")
PLAIN = ("_aggregate_metrics.json", "_manifest.json")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run, and what is asked of `gym eval run` for it."""

    path: str
    asked: tuple[str, ...]

    @classmethod
    def of_model(cls, benchmark: str, setting: str, *asked: str) -> Run:
        """A run of the embedded model."""
        return cls(path=f"smollm2/{benchmark}/{setting}", asked=("--benchmark", benchmark, *EMBEDDED, *asked))

    @classmethod
    def of_policy(cls, policy: str) -> Run:
        """A run of a scripted policy."""
        return cls(path=f"workplace_assistant/{policy}", asked=(*WORKPLACE, f"++{POLICY}={policy}"))


RUNS = (
    Run.of_policy("good"),
    Run.of_policy("never_resolves_names"),
    Run.of_policy("filters_dates_in_its_head"),
    Run.of_model("letter_counting", "cool", "--temperature", "0.2", "--max-output-tokens", "24"),
    Run.of_model("letter_counting", "warm", "--temperature", "1.0", "--max-output-tokens", "24"),
    Run.of_model("two_term_sums", "short", "--temperature", "0.5", "--max-output-tokens", "24"),
    Run.of_model("two_term_sums", "long", "--temperature", "0.5", "--max-output-tokens", "48"),
)


def main() -> None:
    """Make all runs, or those whose path holds a word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--only", default="", help="part of a run's path")
    given = parser.parse_args()
    for run in RUNS:
        if given.only in run.path:
            make(run, given.out / run.path)


def make(run: Run, target: Path) -> None:
    """Run it in a folder of its own, then put its files where they belong, compressed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        made = Path(folder) / target.name
        asked = ("eval", "run", *run.asked, "--num-repeats", "4", "--output", f"{made}.jsonl")
        subprocess.run([*GYM, *asked], check=True, cwd=HERE.parent)
        for ending in PACKED:
            content = Path(f"{made}{ending}").read_bytes()
            Path(f"{target}{ending}.gz").write_bytes(gzip.compress(content, mtime=0))
        for ending in PLAIN:
            told = json.loads(Path(f"{made}{ending}").read_bytes())
            Path(f"{target}{ending}").write_text(json.dumps(told, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
