"""Makes the tasks of workplace_assistant from a seed: another seed gives another company and other tasks."""

import json
from pathlib import Path

from blade_gym.workplace.company import SEED
from blade_gym.workplace.rows import EACH, rows

DATA = Path(__file__).parent / "data"


def prepare(seed: int = SEED, each: int = EACH, path: Path | None = None) -> Path:
    """Write `each` tasks of every kind; without a path, those of the standard seed are `data/example.jsonl`."""
    target = path or DATA / ("example.jsonl" if seed == SEED else f"seed_{seed}.jsonl")
    target.parent.mkdir(parents=True, exist_ok=True)
    making = target.with_suffix(".making")
    making.write_text("".join(json.dumps(row) + "\n" for row in rows(seed, each)), encoding="utf-8")
    return making.replace(target)


if __name__ == "__main__":
    prepare()
