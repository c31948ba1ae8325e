"""The tutorial's commands over the package of a benchmark: validate, extract-anchor-facts, make-shallow, score, calibrate.

The same as `blade package`. From the root of a clone, after `make setup`:

    uv run python .codex/skills/nemo-gym-blade-analysis/scripts/blade_toolkit.py validate --benchmark-dir benchmarks/NAME
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without BLADE, say in a line how to get it and exit 2."""
    try:
        from blade.cli.main import run
        from blade.cli.package import app
    except ImportError as error:
        how = "`make setup` in a clone of BLADE, then run this with its .venv (`uv run python ...` does); elsewhere `pip install` the clone"
        print(f"error: BLADE is not installed for {sys.executable} ({error}): {how}", file=sys.stderr)
        raise SystemExit(2) from None
    run(app, "blade_toolkit.py")


if __name__ == "__main__":
    main()
