"""Plain JSON lines: any objects with a reward or a score, or with messages or an output."""

from blade.ingest.formats import FileHead, Format


def recognizes(head: FileHead) -> bool:
    """Some line is an object."""
    return bool(head.rows)


FORMAT = Format(
    name="plain",
    order=90,
    recognizes=recognizes,
    splittable=True,
)
