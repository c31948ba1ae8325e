"""A gate as text, as JSON values and as JUnit XML."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from blade.comparison.gate_values import Gate, State


def gate_text(gate: Gate) -> list[str]:
    """A line a check, the decision first."""
    lines = [f"{gate.state}: {gate.candidate} against {gate.baseline}"]
    return [*lines, *(f"  {check.state:<13} {check.name}: {check.because}" for check in gate.checks)]


def gate_json(gate: Gate) -> dict[str, Any]:
    """The gate with its policy and checks; fractions, not points."""
    return {
        "state": str(gate.state),
        "baseline": gate.baseline,
        "candidate": gate.candidate,
        "policy": {
            "metric": gate.policy.metric,
            "max_drop": gate.policy.max_drop,
            "margin": gate.policy.margin,
            "coverage": gate.policy.coverage,
            "inconclusive": str(gate.policy.inconclusive),
        },
        "checks": [{"name": c.name, "state": str(c.state), "because": c.because} for c in gate.checks],
    }


def gate_junit(gate: Gate) -> str:
    """JUnit XML: a check that fails is a failure; one that cannot be settled is what the policy says, or skipped."""
    failing = {State.FAIL} | ({State.INCONCLUSIVE} if gate.policy.inconclusive is State.FAIL else set())
    failures = [check for check in gate.checks if check.state in failing]
    skipped = [
        c for c in gate.checks if c.state is State.INCONCLUSIVE and gate.policy.inconclusive is State.INCONCLUSIVE
    ]
    suite = ET.Element(
        "testsuite",
        name=_xml(f"blade gate {gate.candidate} against {gate.baseline}"),
        tests=str(len(gate.checks)),
        failures=str(len(failures)),
        skipped=str(len(skipped)),
    )
    for check in gate.checks:
        case = ET.SubElement(suite, "testcase", classname="blade.gate", name=_xml(check.name))
        if check in failures:
            ET.SubElement(case, "failure", message=_xml(check.because))
        elif check in skipped:
            ET.SubElement(case, "skipped", message=_xml(f"inconclusive: {check.because}"))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """Text without characters that XML cannot hold."""
    return "".join(c if c.isprintable() else " " for c in text)
