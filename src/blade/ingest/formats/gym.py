"""NeMo Gym rollouts: one row a rollout, request and response as the Responses API has them."""

from blade.ingest import jsonl
from blade.ingest.formats import Format, Head
from blade.ingest.rollouts import rollout_of
from blade.ingest.row import RowReader

_NAMES = ("responses_create_params", "response", "_ng_task_index", "_ng_rollout_index")


def recognizes(head: Head) -> bool:
    """Some row has a field that only NeMo Gym writes."""
    return any(name in row for row in head.rows for name in _NAMES)


FORMAT = Format(
    name="gym",
    order=20,
    recognizes=recognizes,
    records=jsonl.neighbors,
    reader=RowReader,
    rollout=rollout_of,
    splittable=True,
)
