"""A proof in words and as JSON; every number stands beside the number of cases that it rests on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from proof.simulate.agreement import Agreement
from proof.simulate.calibration import Calibration, Share
from proof.simulate.mechanism import Mechanism
from proof.simulate.score import Miss, Proof
from proof.simulate.tally import Tally

CAUSES_RIGHT = 0.95
"""Share of tasks whose cause must be right."""
MOST_SHOWN = 0.05
"""Share of symptoms without an effect that may be called shown."""


MOST_CONFUSED = 25
"""Confusions of modes that a page lists."""


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
        ("Attributions", attributions(proof.agreement)),
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


def attributions(found: Agreement) -> str:
    """How many rollouts are given the right group, mode and party, and what is said wrongly."""
    without = f"{len(found.missing_tables)} run(s) have no table of attributions" if found.missing_tables else ""
    if not found.rollouts:
        return f"Not measured: {without or 'nothing fails'}."
    aims = [
        ("group right", _of(Share(hits=found.group, n=found.rollouts))),
        ("mode right", _of(Share(hits=found.mode, n=found.rollouts))),
        ("party right", _of(Share(hits=found.party, n=found.rollouts))),
        ("unattributed", _of(Share(hits=found.unattributed, n=found.rollouts))),
        ("`proven` and wrong", f"{len(found.proven_wrong)} of {found.proven}"),
        ("clean tasks accused", f"{len(found.accused)} of {found.clean}"),
        ("infrastructure, as one set: precision", _share(found.infra.precision)),
        ("infrastructure, as one set: recall", _share(found.infra.recall)),
        ("passes with a mode", f"{len(found.passes_with_a_mode)} of {found.passes}"),
        ("passes to doubt that are flagged", f"{found.doubtful.right} of {found.doubtful.planted}"),
        ("other passes that are flagged", str(found.doubtful.wrong)),
    ]
    head = ("n", "said rightly", "said wrongly", "precision", "recall")
    confused = sorted(found.confused.items(), key=lambda one: (-one[1], one[0]))[:MOST_CONFUSED]
    tables = [
        *((f"{without}; the figures are of the others.",) if without else ()),
        table(("failed rollouts, missing ones included", "measured"), aims),
        table(("group", *head), [(name, *_tally(one)) for name, one in found.by_group.items()]),
        table(("mode", *head), [(name, *_tally(one)) for name, one in found.by_mode.items()]),
        table(("true -> said", "rollouts"), [(name, str(times)) for name, times in confused]),
        f"`proven` and wrong:\n\n{listed(found.proven_wrong)}",
        f"Clean tasks accused:\n\n{listed(found.accused)}",
    ]
    return "\n\n".join(tables)


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
        said = proof.agreement.by_mechanism.get(f"{one.world}: {one.name}", Tally())
        modes = f"{said.right} of {said.planted}" if said.planted else ""
        true = (str(one.cause or "none"), one.mode or "")
        rows.append((one.world, one.name, one.kind, one.what, *true, " ".join(one.must), right, modes))
    head = ("world", "mechanism", "kind", "what", "true cause", "true mode", "must fire", "cause right", "mode right")
    return table(head, rows)


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
        value[name] = _tallies(getattr(proof, name))
    for name in ("by_mode", "by_group", "by_mechanism"):
        value["agreement"][name] = _tallies(getattr(proof.agreement, name))
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _tallies(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    return {
        one: asdict(tally) | {"precision": tally.precision, "recall": tally.recall} for one, tally in tallies.items()
    }


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
