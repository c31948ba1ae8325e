"""Plain JSON lines: any objects with a reward or a score, or with messages or an output."""

from blade.ingest import jsonl
from blade.ingest.formats import Format, Head
from blade.ingest.rollouts import rollout_of
from blade.ingest.row import RowReader


def recognizes(head: Head) -> bool:
    """Some line is an object."""
    return bool(head.rows)


FORMAT = Format(
    name="plain",
    order=90,
    recognizes=recognizes,
    records=jsonl.neighbors,
    reader=RowReader,
    rollout=rollout_of,
    splittable=True,
)
