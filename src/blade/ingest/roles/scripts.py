"""What a simulated user was told, and what the agent had to tell it: by what the two say in the trajectories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from blade.ingest.roles.outcome import Verdicts
from blade.ingest.roles.paths import Sample
from blade.model.rollout import Step

Steps = tuple[Step, ...]

LEAST_SPOKEN = 0.5
"""Of the rows, those in which the user must give facts of its script: some users are asked for nothing."""
LEAST_SAID = 0.8
"""Of the passes, those in which the agent must say all that it had to say."""
FEWEST_ROWS = 3
SHORTEST_SCRIPT = 40
"""Characters: a script is a sentence at least, with more than the facts in it."""
MOST_ROWS = 100
"""Rows in which a field is compared with what was said."""
_FACT = re.compile(r"[\w@.:/-]*\d[\w@.:/-]*\w|\w+[_@]\w[\w.@]+")
"""Ids, dates, amounts and addresses: words that nobody says by chance."""
_SPACE = re.compile(r"\s+")


def answers_of_user(steps: Steps) -> str:
    """What a user says after the agent has spoken: only a simulated user, or a person, does so."""
    first = next((place for place, step in enumerate(steps) if step.party == "agent"), len(steps))
    return "\n".join(step.text for step in steps[first:] if step.party == "user" and step.kind == "message").lower()


def script_field(sample: Sample, paths: Sequence[str], trajectories: Sequence[Steps]) -> str | None:
    """The text whose facts the user gives, and that stands nowhere as a whole; the one of which it gives most."""
    spoken = [answers_of_user(steps) for steps in trajectories]
    places = [place for place, text in enumerate(spoken) if text][:MOST_ROWS]
    if 2 * len([text for text in spoken if text]) < len(spoken) or len(places) < FEWEST_ROWS:
        return None
    whole = {place: _flat("\n".join(step.text for step in trajectories[place])) for place in places}
    shares = {path: _told(sample.columns[path], places, spoken, whole) for path in paths}
    best = max(shares, key=lambda path: shares[path], default=None)
    return best if best is not None and shares[best] >= LEAST_SPOKEN else None


def _told(column: Sequence[Any], places: Sequence[int], spoken: Sequence[str], whole: dict[int, str]) -> float:
    """In which share of the rows the user gives a fact of the text; none where the text is long enough for no script."""
    texts = [(place, column[place]) for place in places if isinstance(column[place], str)]
    if 2 * len(texts) < len(places) or any(len(text) < SHORTEST_SCRIPT for _, text in texts):
        return 0.0
    if any(_flat(text) in whole[place] for place, text in texts):
        return 0.0
    given = [any(fact in spoken[place] for fact in _facts(text)) for place, text in texts]
    return sum(given) / len(places)


def _facts(text: str) -> list[str]:
    return [fact for fact in _FACT.findall(text.lower()) if len(fact) > 3]


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower()


def whole_script(sample: Sample, path: str, taken: Sequence[str]) -> str:
    """The object around a script where it holds only texts, and none with a role: its parts are told together."""
    around, dot, _ = path.rpartition(".")
    if not dot:
        return path
    inside = [one for one in sample.columns if one.startswith(f"{around}.")]
    plain = all(isinstance(value, str | dict) for one in inside for value in sample.of(one))
    free = not any(one == around or one.startswith(f"{around}.") for one in taken)
    return whole_script(sample, around, taken) if plain and free and sample.columns.get(around) else path


def is_statements(column: Sequence[Any], trajectories: Sequence[Steps], reward: Verdicts) -> bool:
    """Whether lists of texts are what the agent must say: it says all of them in passes."""
    said = failed = passes = failures = 0
    for value, steps, verdict in zip(column, trajectories, reward, strict=True):
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            if value is not None:
                return False
        elif value and verdict is not None:
            text = "\n".join(step.text for step in steps if step.party == "agent").lower().replace(",", "")
            holds = all(item.lower().replace(",", "") in text for item in value)
            said, passes = said + (holds and verdict == 1), passes + (verdict == 1)
            failed, failures = failed + (holds and verdict < 1), failures + (verdict < 1)
    # Without a failure, what was taken out of the answer is said in all rows too.
    return passes >= FEWEST_ROWS and said >= LEAST_SAID * passes and failed * passes < said * failures
