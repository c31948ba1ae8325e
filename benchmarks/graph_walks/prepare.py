"""Walks along arrows: from a node, so many steps, each node with one way out."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blade_gym import hub, puzzles

NODES = ("oak", "ash", "elm", "fir", "yew", "bay", "fig", "box", "gum", "nut")
MOST_STEPS = 4


def prepare(size: int = 48, seed: int = 7, nodes: int = 8, shots: int = 2, output: str | None = None) -> Path:
    """Write `size` graphs of so many nodes, with walks of one to four steps in turn."""
    return hub.write(_rows(size, seed, nodes, shots), output or hub.beside(__file__, "graph_walks"))


def _rows(size: int, seed: int, nodes: int, shots: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    shown = [_shot(random.Random(f"shot {number}"), number + 1) for number in range(shots)]
    for number in range(size):
        steps = number % MOST_STEPS + 1
        arrows, walk = _walk(draw, nodes, steps)
        yield {
            "id": f"walk-{number:03d}",
            "responses_create_params": {"input": puzzles.turns(shown, _question(arrows, walk[0], steps))},
            "steps": steps,
            "start": walk[0],
            "arrows": [list(arrow) for arrow in arrows],
            "expected_answer": walk[-1],
        }


def _shot(draw: random.Random, steps: int) -> puzzles.Shot:
    arrows, walk = _walk(draw, 4, steps)
    return _question(arrows, walk[0], steps), walk[-1]


def _walk(draw: random.Random, nodes: int, steps: int) -> tuple[list[tuple[str, str]], list[str]]:
    """A ring through all nodes, shuffled, and the walk from one of them."""
    ring = draw.sample(NODES, nodes)
    arrows = list(zip(ring, [*ring[1:], ring[0]], strict=True))
    start = draw.randrange(nodes)
    walk = [ring[(start + step) % nodes] for step in range(steps + 1)]
    draw.shuffle(arrows)
    return arrows, walk


def _question(arrows: Sequence[tuple[str, str]], start: str, steps: int) -> str:
    listed = ", ".join(f"{one} -> {other}" for one, other in arrows)
    many = "1 step" if steps == 1 else f"{steps} steps"
    return f"Arrows: {listed}.\nStart at {start} and follow the arrows for {many}. Where are you? Reply with one word."
