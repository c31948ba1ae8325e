"""A proof in words and as JSON; every number stands beside the number of cases that it rests on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from proof.simulate.calibration import Calibration, Share
from proof.simulate.mechanism import Mechanism
from proof.simulate.score import Miss, Proof, Tally

CAUSES_RIGHT = 0.95
"""Share of tasks whose cause must be right."""
MOST_SHOWN = 0.05
"""Share of symptoms without an effect that may be called shown."""


@dataclass(frozen=True, kw_only=True)
class RuleName:
    """What a reader is told of a rule."""

    name: str
    status: str
    scope: str


def page(proof: Proof, calibration: Calibration, rules: Mapping[str, RuleName], plants: Sequence[Mechanism]) -> str:
    """All sections in Markdown, without a title."""
    parts = (
        ("Against what was to be reached", reached(proof, calibration)),
        ("Causes", causes(proof)),
        ("Rules", rule_table(proof, rules)),
        ("Broken tasks among the most suspect", suspects(proof)),
        ("What is planted", mechanism_table(proof, plants)),
        ("Causes that are missed", misses(proof)),
        ("Rules that fire where nothing was planted for them", strays(proof)),
        ("Clean tasks accused", listed(proof.accused)),
        ("Harmless strings blamed", listed(proof.blamed)),
    )
    return "\n\n".join(f"## {title}\n\n{body}" for title, body in parts) + "\n"


def suspects(proof: Proof) -> str:
    """How `blade health` ranks broken tasks, beside the trivial ranking by how seldom a task passes."""
    found = proof.ranking
    said = (
        f"{found.broken} of {found.tasks} tasks have a key, a verifier, a tool, a user or a prompt that is broken, among hard "
        f"but valid ones. `blade health` calls {found.called} suspect, {found.called_rightly} of them rightly. Of the "
        f"{found.broken} most suspect tasks of these worlds, world by world:"
    )
    rows = [
        ("suspicion", f"{found.by_suspicion} of {found.broken}", _ratio(found.by_suspicion, found.broken)),
        ("lowest pass rate", f"{found.by_pass_rate} of {found.broken}", _ratio(found.by_pass_rate, found.broken)),
    ]
    return f"{said}\n\n{table(('ranked by', 'broken among them', 'precision'), rows)}"


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else ""


def reached(proof: Proof, calibration: Calibration) -> str:
    """The aims, each with its figure."""
    rows = [
        ("causes right", f"at least {CAUSES_RIGHT:.2f}", _of(Share(hits=proof.tasks.right, n=proof.tasks.planted))),
        ("clean tasks accused", "0", f"{len(proof.accused)} of {proof.clean}"),
        ("harmless strings blamed", "0", f"{len(proof.blamed)} of {proof.harmless}"),
        ("symptoms without an effect called shown", f"at most {MOST_SHOWN:.2f}", _of(calibration.shown_without_effect)),
        ("habits without an effect called shown", f"at most {MOST_SHOWN:.2f}", _of(calibration.habits_without_effect)),
        (
            "headroom of a symptom without an effect",
            "about 0",
            f"{_points(calibration.mean_without_effect)} points on average; the interval holds 0 in {_of(calibration.zero_inside)}",
        ),
        ("symptoms with an effect called shown", "", _of(calibration.shown_with_effect)),
        (
            "headroom of a symptom with a known effect",
            "right within its interval",
            (
                f"{_points(calibration.mean_with_effect)} points on average, truly {_points(calibration.mean_gain)}; "
                f"the interval holds the truth in {_of(calibration.gain_inside)}"
            ),
        ),
    ]
    return table(("aim", "to reach", "measured"), rows)


def causes(proof: Proof) -> str:
    """Precision and recall of every cause; units are tasks."""
    rows = [(name, *_tally(tally)) for name, tally in proof.causes.items()]
    return table(("cause", "n", "said rightly", "said wrongly", "precision", "recall"), rows)


def rule_table(proof: Proof, rules: Mapping[str, RuleName]) -> str:
    """Precision and recall of every rule, those that nothing was planted for included."""
    rows = [
        (code, one.name, one.status, one.scope, *_tally(proof.rules.get(code, Tally()))) for code, one in rules.items()
    ]
    head = ("code", "name", "status", "unit", "n", "fired rightly", "fired wrongly", "precision", "recall")
    return table(head, rows)


def mechanism_table(proof: Proof, plants: Sequence[Mechanism]) -> str:
    """Every mechanism with its cause and the share of tasks in which that is said."""
    rows = []
    for one in plants:
        tally = proof.mechanisms.get(f"{one.world}: {one.name}", Tally())
        right = f"{tally.right} of {tally.planted}" if tally.planted else "nothing fails"
        rows.append((one.world, one.name, one.kind, one.what, str(one.cause or "none"), " ".join(one.must), right))
    return table(("world", "mechanism", "kind", "what", "true cause", "must fire", "cause right"), rows)


def misses(proof: Proof) -> str:
    """Tasks with another cause than the true one, by mechanism and by what is said."""
    first: dict[tuple[str, ...], Miss] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for one in proof.misses:
        kind = (one.world, one.mechanism, one.truth, one.said)
        first.setdefault(kind, one)
        times[kind] += 1
    rows = [
        (*kind, str(times[kind]), f"seed {one.seed} {one.run} {one.place}", one.because)
        for kind, one in sorted(first.items())
    ]
    return table(("world", "mechanism", "true", "said", "tasks", "for example", "because"), rows) if rows else "None."


def strays(proof: Proof) -> str:
    """By rule and mechanism: how often, and one place."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in proof.strays:
        code, _, where = one.partition(" in ")
        place, _, mechanism = where.rpartition(" (")
        found.setdefault((code, mechanism.rstrip(")")), []).append(place)
    rows = [(*kind, str(len(places)), places[0]) for kind, places in sorted(found.items())]
    return (
        table(("code", "mechanism there", "times", "for example (world, seed, run, place)"), rows) if rows else "None."
    )


def listed(lines: Iterable[str]) -> str:
    """One line each."""
    return "\n".join(f"- {' '.join(one.split())}" for one in lines) or "None."


def as_json(proof: Proof, calibration: Calibration) -> str:
    """The file `proof.json`."""
    value = asdict(proof) | {"calibration": asdict(calibration)}
    for name in ("causes", "mechanisms", "rules"):
        tallies: Mapping[str, Tally] = getattr(proof, name)
        value[name] = {
            one: asdict(tally) | {"precision": tally.precision, "recall": tally.recall}
            for one, tally in tallies.items()
        }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; cells are kept on one line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _tally(one: Tally) -> tuple[str, ...]:
    return str(one.planted), str(one.right), str(one.wrong), _share(one.precision), _share(one.recall)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _of(share: Share) -> str:
    return f"{share.hits} of {share.n}" + ("" if share.value is None else f" ({share.value:.3f})")


def _points(value: float | None) -> str:
    return "none" if value is None else f"{round(100 * value, 1) + 0.0:.1f}"
