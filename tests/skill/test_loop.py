"""The whole way of the skill without a model: from rollouts to an audited report in a validated, calibrated package.

Only commands that the skill names are typed, with its placeholders filled in; what an agent would write is written here
from what those commands printed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skill.commands import commands

ROOT = Path(__file__).parents[2]
DESK = ROOT / "examples/desk_assistant"
NAMED = [
    words for page in sorted((ROOT / ".agents/skills").rglob("*.md")) for words in commands(page.read_text("utf-8"))
]
PACKAGE = "benchmarks/desk"
REPORTS = f"{PACKAGE}/golden_reports"
REPORT = f"{REPORTS}/sparrow-8b_golden_report.md"
FILLED = {
    "RUN": "results/sparrow-8b_rollouts.jsonl",
    "BASE": "results/sparrow-8b_rollouts.jsonl",
    "CAND": "results/heron-70b_rollouts.jsonl",
    "NAME": "desk",
    "MODEL": "sparrow-8b",
    "OUT": "out",
    "REPORT": REPORT,
    "CANDIDATE": "out/report.md",
    "FACTS": f"{REPORTS}/sparrow-8b_anchor_facts.json",
    "SHALLOW": f"{REPORTS}/sparrow-8b_shallow.md",
}


@dataclass(frozen=True, kw_only=True)
class VerifierText:
    code: int
    out: str


@dataclass(frozen=True, kw_only=True)
class Agent:
    """Types what the skill names, in a folder of its own."""

    folder: Path

    def types(self, *beginning: str, has: Sequence[str] = (), **filled: str) -> VerifierText:
        """The first command of the skill that begins so and has these options, its placeholders filled in."""
        words = next(words for words in NAMED if words[: len(beginning)] == list(beginning) and set(has) <= set(words))
        values = FILLED | filled
        pattern = re.compile(r"\b(?:" + "|".join(values) + r")(?![a-zA-Z0-9])")
        typed = [pattern.sub(lambda found: values[found.group()], word) for word in words[1:]]
        done = subprocess.run(
            [sys.executable, "-c", "from blade.cli.main import main; main()", *typed],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode != 2, (typed, done.stderr)
        return VerifierText(code=done.returncode, out=done.stdout)

    def edits(self, file: str, change: dict[str, str]) -> None:
        path = self.folder / file
        text = path.read_text("utf-8")
        for pattern, new in change.items():
            text, times = re.subn(pattern, lambda _, new=new: new, text, flags=re.MULTILINE)  # type: ignore[misc]
            assert times, (file, pattern)
        path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(DESK, folder / "results")
    return Agent(folder=folder)


@pytest.fixture(scope="module")
def found(agent: Agent) -> dict[str, Any]:
    said = agent.types("blade", "analyze", "RUN", has=["--json"]).out
    assert len(said.encode()) <= 6_000
    answer: dict[str, Any] = json.loads(said)
    return answer


def test_what_is_found_leads_to_the_rollouts_behind_it(agent: Agent, found: dict[str, Any]) -> None:
    assert len(found["findings"]) == 3
    for finding in found["findings"]:
        place, task = finding["location"], finding["location"].partition("#")[0]
        shown = agent.types("blade", "show", "RUN", "LOCATION", LOCATION=place).out
        assert finding["quote"] in shown
        assert place.partition(":")[0] in shown
        assert task in agent.types("blade", "explain", "RUN", "TASK", TASK=task).out


@pytest.mark.slow
def test_a_hunch_is_counted_and_two_runs_are_compared(agent: Agent) -> None:
    assert "holds in" in agent.types("blade", "try", "RUN", TOOL="ticket_update").out
    assert "failed" in agent.types("blade", "sql", "RUN").out
    compared = agent.types("blade", "compare", "BASE", "CAND", has=["--json"]).out
    assert json.loads(compared)["verdict"] == "inconclusive"
    assert len(compared.encode()) <= 6_000
    health = json.loads(agent.types("blade", "health", "RUN", has=["--json"]).out)
    assert len(health["questions"]) == 6
    (agent.folder / "gate.toml").write_text("max_drop = 5\n", "utf-8")
    assert agent.types("blade", "gate", "BASE", "CAND", GATE="gate.toml", JUNIT="gate.xml").code == 0


@pytest.mark.slow
def test_a_report_is_written_audited_and_packed(agent: Agent, found: dict[str, Any]) -> None:
    assert agent.types("blade", "analyze", "RUN", has=["-o"]).code == 0
    assert agent.types("blade", "package", "init").code == 0
    assert agent.types("blade", "package", "validate").code == 1, "a draft has open points"

    _writes(agent, found)
    _is_caught_by_the_audit(agent)
    assert agent.types("blade", "audit", "benchmarks/NAME/golden_reports/MODEL_golden_report.md").code == 0

    assert agent.types("blade", "package", "extract-anchor-facts").code == 0
    assert agent.types("blade", "package", "make-shallow").code == 0
    _reviews(agent)
    validated = agent.types("blade", "package", "validate")
    assert validated.code == 0, [line for line in validated.out.splitlines() if "FAIL" in line]
    assert agent.types("blade", "package", "calibrate").code == 0
    assert agent.types("blade", "package", "score").code == 0
    assert agent.types("blade", "package", "sanitize").code == 0
    assert re.search(r"open +0 points", agent.types("blade", "package", "status").out)


def _writes(agent: Agent, found: dict[str, Any]) -> None:
    """The open points of the drafts, answered with what was found and where."""
    first = found["findings"][0]
    why = (
        f'The first reason is that calls are left out; in {first["location"]} it says "{first["quote"]}" all the same.'
    )
    agent.edits(REPORT, {r"^OPEN:.*$": why})
    agent.edits(
        f"{PACKAGE}/skill/SKILL.md",
        {
            r"^OPEN:.*$": "A task is a request to an office assistant; `db_match` compares the changes made with those due."
        },
    )
    agent.edits(f"{PACKAGE}/skill/blade.yaml", {r"^labels:\n(?:.*\n)*": ""})
    agent.edits(
        f"{PACKAGE}/rollouts/CLEARANCE.md",
        {
            r"^OPEN:.*$": "The rows were generated.",
            r"^cleared:.*$": "cleared: yes",
            r"^licence:.*$": "licence: Apache-2.0",
        },
    )


def _reviews(agent: Agent) -> None:
    """Facts that the metrics alone give are taken out, the others are signed."""
    path = agent.folder / FILLED["FACTS"]
    facts = json.loads(path.read_text("utf-8"))
    kept = [fact | {"status": "reviewed"} for fact in facts["anchor_facts"] if not fact["aggregate_only"]]
    path.write_text(json.dumps(facts | {"anchor_facts": kept}), "utf-8")


def _is_caught_by_the_audit(agent: Agent) -> None:
    """A number that is made up is found, and put right."""
    agent.edits(REPORT, {r"55 of 95 judged rollouts passed": "65 of 95 judged rollouts passed"})
    said = agent.types("blade", "audit", "benchmarks/NAME/golden_reports/MODEL_golden_report.md")
    assert said.code == 1
    assert "false, line" in said.out
    agent.edits(REPORT, {r"65 of 95 judged rollouts passed": "55 of 95 judged rollouts passed"})
