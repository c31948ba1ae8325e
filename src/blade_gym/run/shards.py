"""`--shard i/n`: which tasks a shard takes, under indices that hold over all shards."""

from __future__ import annotations

import re
from dataclasses import dataclass

from blade.model.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class Shard:
    """The `number`-th of `of` shards, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def others(self) -> list[Shard]:
        """The other shards of the same cut."""
        return [Shard(number=one, of=self.of) for one in range(1, self.of + 1) if one != self.number]

    def takes(self, position: int) -> bool:
        """Whether the task at a position of the whole plan is of this shard."""
        return position % self.of == self.number - 1


def parse_shard(text: str) -> Shard:
    """`2/4` as a value; raises for anything else."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
    shard = Shard(number=int(found[1]), of=int(found[2])) if found else None
    if shard is None or not 1 <= shard.number <= shard.of:
        raise RequestError(f"--shard is i/n with i from 1 to n, not {text!r}", hint="--shard 1/4")
    return shard
