"""Which lines of a report on one run are about another run, and what the rest of it is held to."""

from __future__ import annotations

from functools import cached_property

from msgspec.structs import replace

from blade.claims.names import Names
from blade.claims.values import Audit, Claim, ClaimVerdict
from blade.package.documents import sections
from blade.package.meanings import OF_REPORT

_COMPARISON = next(one for one in OF_REPORT if one.title == "Cross-model comparison")


class Others:
    """Lines that name another run than the report's own, in their paragraph, their table or a heading above."""

    def __init__(self, text: str, names: Names, run: str) -> None:
        self.text, self.names, self.run = text, names, run

    @property
    def named(self) -> bool:
        """Whether the report names another run at all."""
        return self._names(self.text)

    @cached_property
    def lines(self) -> frozenset[int]:
        """Lines from 1 that may be about another run."""
        found: set[int] = set()
        for section in sections(self.text):
            if section.level > 1 and (self._names(section.title) or _COMPARISON.means.search(section.title)):
                found.update(range(section.line, section.line + len(section.body) + 1))
        return frozenset(found.union(*self._paragraphs()))

    def _paragraphs(self) -> list[range]:
        """Blocks of lines without a blank one between them that name another run."""
        lines, start, found = [*self.text.split("\n"), ""], 0, []
        for number, line in enumerate(lines):
            if not line.strip():
                if self._names("\n".join(lines[start:number])):
                    found.append(range(start + 1, number + 1))
                start = number + 1
        return found

    def _names(self, text: str) -> bool:
        return any(one.name != self.run for one in self.names.runs_in(text))


def combined(whole: Audit, mine: Audit, others: Others) -> Audit:
    """An audit against all runs, in which what is said of no run by name is held to the report's own."""
    held = {_spot(claim): claim for claim in mine.claims}
    made = [_held(claim, held.get(_spot(claim)), others) for claim in whole.claims]
    known = {_spot(claim) for claim in whole.claims}
    made += [claim for spot, claim in held.items() if spot not in known and claim.line not in others.lines]
    return replace(whole, claims=tuple(sorted(made, key=_spot)))


def _held(claim: Claim, mine: Claim | None, others: Others) -> Claim:
    if mine is None or claim.verdict is not ClaimVerdict.NOT_CHECKABLE or claim.line in others.lines:
        return claim
    return mine


def _spot(claim: Claim) -> tuple[int, int, str]:
    return claim.line, claim.column, claim.kind
