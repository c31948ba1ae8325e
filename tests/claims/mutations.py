"""Single mutations of checkable claims of a report: what an audit must catch."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blade.claims.values import Audit, Claim, ClaimVerdict

INVENTED = (
    "I have looked into this and refunded the whole amount.",
    "There is nothing further that I am able to do here.",
    "Please hold the line while I ask my supervisor.",
)
OPPOSITE = {
    "passed": "failed", "failed": "passed", "passing": "failing", "failing": "passing", "passes": "fails",
    "fails": "passes", "outperforms": "trails", "ahead of": "behind", "weakest": "strongest", "hardest": "easiest",
    "no": "some", "never": "always", "always": "never",
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """A report in which one claim was changed so that it is no longer true."""

    kind: str
    line: int
    before: str
    after: str
    text: str


def mutations(text: str, audit: Audit, models: Sequence[str], seed: int = 1) -> list[Mutation]:
    """Every kind of mutation of every claim that was found true, in order."""
    made = [*_of_claims(text, audit, seed), *_swapped_models(text, audit, models), *_negated(text, audit)]
    return [one for one in made if one.text != text]


def _of_claims(text: str, audit: Audit, seed: int) -> Iterator[Mutation]:
    ids = sorted({claim.token for claim in audit.claims if claim.kind == "id"})
    for number, claim in enumerate(audit.claims):
        pick = random.Random(f"{seed}:{number}")
        if claim.verdict is ClaimVerdict.TRUE:
            for kind, after in _changed(claim, ids, pick):
                yield _replaced(kind, text, claim, after)


def _changed(claim: Claim, ids: Sequence[str], pick: random.Random) -> Iterator[tuple[str, str]]:
    if claim.kind == "number" and claim.token[-1].isdigit():
        yield "change a number", _another(claim.token, pick)
        yield "move a decimal point", _moved(claim.token)
        if "." not in claim.token:
            yield "shift a count by one", _shifted(claim.token, pick)
    elif claim.kind == "quote":
        yield "invent a quote", claim.token[0] + pick.choice(INVENTED) + claim.token[-1]
    elif claim.kind == "id":
        same = [one for one in ids if ("#" in one) == ("#" in claim.token) and one != claim.token]
        others = [one for one in same if _form(one) == _form(claim.token)] or same
        if others:
            yield "swap ids", pick.choice(others)


def _form(token: str) -> tuple[bool, bool]:
    return "#" in token, ":" in token


def _another(token: str, pick: random.Random) -> str:
    """Another number in the same form, far enough not to round to the same."""
    digits = [n for n, char in enumerate(token) if char.isdigit()]
    at = digits[-1] if len(digits) == 1 else pick.choice(digits[-2:])
    new = pick.choice([d for d in "123456789" if d != token[at]])
    return token[:at] + new + token[at + 1 :]


def _moved(token: str) -> str:
    if "." in token:
        whole, _, part = token.partition(".")
        return f"{whole}{part[0]}.{part[1:]}".rstrip(".").lstrip("0") if float(token) else token
    return f"{token[:-1] or '0'}.{token[-1]}" if token != "0" else token


def _shifted(token: str, pick: random.Random) -> str:
    value = int(token.replace(",", ""))
    return (
        f"{value + (pick.choice((-1, 1)) if value else 1):,}"
        if "," in token
        else str(value + (pick.choice((-1, 1)) if value else 1))
    )


def _replaced(kind: str, text: str, claim: Claim, after: str) -> Mutation:
    lines = text.split("\n")
    line = lines[claim.line - 1]
    end = claim.column + len(claim.token)
    if line[claim.column : end] != claim.token:  # markup inside the words
        end = _raw_end(line, claim)
    lines[claim.line - 1] = line[: claim.column] + after + line[end:]
    return Mutation(kind, claim.line, claim.token, after, "\n".join(lines))


def _raw_end(line: str, claim: Claim) -> int:
    at, left = claim.column, claim.token
    while at < len(line) and left:
        left = left[1:] if line[at] == left[0] else left
        at += 1
    return at


def _swapped_models(text: str, audit: Audit, models: Sequence[str]) -> Iterator[Mutation]:
    """One model's name in place of the other's, in a line that holds a checked claim."""
    checked = {claim.line for claim in audit.claims if claim.verdict is ClaimVerdict.TRUE}
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        for one, other in (models, tuple(reversed(models))) if len(models) == 2 else ():
            if number in checked and one.lower() in line.lower() and other.lower() not in line.lower():
                changed = re.sub(re.escape(one), other, line, flags=re.IGNORECASE)
                mutated = [*lines[: number - 1], changed, *lines[number:]]
                yield Mutation("swap models", number, one, other, "\n".join(mutated))


def _negated(text: str, audit: Audit) -> Iterator[Mutation]:
    for claim in audit.claims:
        after = OPPOSITE.get(claim.token.lower())
        if claim.kind == "comparison" and claim.verdict is ClaimVerdict.TRUE and after:
            yield _replaced("negate a claim", text, claim, after)
        elif claim.kind == "comparison" and claim.verdict is ClaimVerdict.TRUE:
            lines = text.split("\n")
            line = lines[claim.line - 1]
            at = line.find(" is ", claim.column)
            if at >= 0:
                lines[claim.line - 1] = f"{line[:at]} is not {line[at + 4 :]}"
                yield Mutation("negate a claim", claim.line, " is ", " is not ", "\n".join(lines))


def negated_words(text: str, audit: Audit) -> list[Mutation]:
    """In a report of ours: each word that turns the sense of a line, turned."""
    made = []
    checked = {claim.line for claim in audit.claims if claim.verdict is ClaimVerdict.TRUE}
    for number, line in enumerate(text.split("\n"), start=1):
        for found in (
            re.finditer(r"\b(?:passed|failed|passes|fails|never|always|not|no)\b", line) if number in checked else ()
        ):
            after = OPPOSITE.get(found.group(), "")
            changed = line[: found.start()] + after + line[found.end() :]
            lines = text.split("\n")
            made.append(
                Mutation(
                    "negate a claim",
                    number,
                    found.group(),
                    after,
                    "\n".join([*lines[: number - 1], changed, *lines[number:]]),
                )
            )
    return made


def by_kind(mutants: Sequence[Mutation], most: int, seed: int = 1) -> list[Mutation]:
    """At most so many of each kind, chosen once."""
    kinds = sorted({one.kind for one in mutants})
    chosen: list[Mutation] = []
    for kind in kinds:
        mine = [one for one in mutants if one.kind == kind]
        chosen += mine if len(mine) <= most else random.Random(seed).sample(mine, most)
    return chosen
