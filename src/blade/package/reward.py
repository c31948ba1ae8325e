"""What `score` writes: the score, its parts, what became of each fact, and the false claims."""

from __future__ import annotations

import json
from collections.abc import Sequence

from blade.package.facts import FactProblem
from blade.package.score import BREADTH, FACTS, STRUCTURE, FalseClaim, Met, Score


def reward(score: Score, problems: Sequence[FactProblem] = ()) -> dict[str, object]:
    """The score as a document."""
    return {
        "final_score": score.final,
        "parts": {
            "facts": {"value": score.facts, "weight": FACTS},
            "breadth": {"value": score.breadth, "weight": BREADTH},
            "structure": {"value": score.structure, "weight": STRUCTURE},
            "truth": {"value": score.truth, "multiplies": True},
        },
        "statements": score.statements,
        "compared": {kind: {"false": false, "of": looked} for kind, (false, looked) in score.checked.items()},
        "anchor_facts": [_fact(one) for one in score.met],
        "false_claims": [_false(one) for one in score.false],
        "problems": [str(one) for one in problems],
    }


def _fact(one: Met) -> dict[str, object]:
    return {
        "id": one.fact.id,
        "met": one.met,
        "why": one.why,
        "degree": one.degree,
        "weight": one.weight,
        "supported_by_golden": one.supported,
        "line": one.line,
        "text": one.text,
        "fact": one.fact.fact,
    }


def _false(one: FalseClaim) -> dict[str, object]:
    return {"kind": one.kind, "line": one.line, "said": one.said, "right": one.right, "text": one.text}


def as_text(document: object) -> str:
    """A document as it is written to a file."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def reward_lines(score: Score) -> list[str]:
    """The score for a reader: the number, its parts, and what was missed or wrong."""
    parts = f"{FACTS} x facts {score.facts:.3f} + {BREADTH} x breadth {score.breadth:.3f}"
    lines = [
        f"final_score {score.final:.3f} = truth {score.truth:.3f} x ({parts} + {STRUCTURE} x structure {score.structure:.3f})"
    ]
    for one in score.met:
        where = f" (line {one.line})" if one.line is not None else ""
        lines.append(f"{one.met:>12}  {one.fact.id}{where}: {one.why}")
    for wrong in score.false[:20]:
        lines.append(f"false {wrong.kind}, line {wrong.line}: {_short(wrong.said)}; golden: {_short(wrong.right)}")
    if len(score.false) > 20:
        lines.append(f"and {len(score.false) - 20} more false claims")
    if not score.statements:
        lines.append("the report states nothing that can be compared")
    return lines


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 90 else flat[:87] + "..."
