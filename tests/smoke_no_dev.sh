#!/usr/bin/env bash
# Installs BLADE with its runtime dependencies only, at the locked versions, and analyzes the bundled example.
# Usage: tests/smoke_no_dev.sh [PYTHON]
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

"${1:-python3}" -m venv "$work/venv"
# Hashes would be demanded of the project itself too, so the lock serves as a list of versions here.
sed -n 's/^\([A-Za-z0-9._-]*==[^\\]*\)\\$/\1/p' "$root/requirements.lock" >"$work/versions.txt"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$work/versions.txt" "$root"

for tool in pytest mypy ruff hypothesis orjson; do
  if "$work/venv/bin/python" -c "import $tool" 2>/dev/null; then
    echo "error: $tool is installed, so this is no run without developer tools" >&2
    exit 1
  fi
done

cd "$work"
"$work/venv/bin/blade" --help >/dev/null
"$work/venv/bin/blade" analyze "$root/examples/desk_assistant" -o out
test -s out/report.md
test -s out/report.html
"$work/venv/bin/blade" skill install --into "$work"
"$work/venv/bin/python" "$work/.codex/skills/nemo-gym-blade-analysis/scripts/blade_toolkit.py" --help >/dev/null
ls out/*/metrics.json out/*/tasks.jsonl out/*/rollouts.parquet
echo "smoke run without developer tools: fine"
