"""NeMo Gym rollouts: one row a rollout, request and response as the Responses API has them."""

from blade.ingest.formats import FileHead, Format

_NAMES = ("responses_create_params", "response", "_ng_task_index", "_ng_rollout_index")


def recognizes(head: FileHead) -> bool:
    """Some row has a field that only NeMo Gym writes."""
    return any(name in row for row in head.rows for name in _NAMES)


FORMAT = Format(
    name="gym",
    order=20,
    recognizes=recognizes,
    splittable=True,
)
