"""Lines and their places, whole or by byte range; what comes before a break is not lost."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest import jsonl, scan
from blade.ingest.jsonl import BOM, Record, Torn, neighbors, records

LINES = st.lists(st.sampled_from([b"{}", b'{"a": 1}', b"", b"  ", b"\r", b"x" * 30]), max_size=12)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "run.jsonl"


def by_hand(data: bytes) -> list[Record]:
    """Every line with its number and where it begins, written out once more."""
    found, offset = [], 0
    for number, line in enumerate(data.splitlines(keepends=True) if b"\r" not in data else _by_newline(data), start=1):
        row = line.removeprefix(BOM) if offset == 0 else line
        found.append(Record(row if row.strip() else b"", number, offset))
        offset += len(line)
    return found


def _by_newline(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


@given(
    lines=LINES, bom=st.booleans(), ended=st.booleans(), together=st.integers(1, 40), cuts=st.sets(st.integers(1, 90))
)
def test_byte_ranges_hold_every_line_once(
    path: Path, lines: list[bytes], bom: bool, ended: bool, together: int, cuts: set[int]
) -> None:
    data = BOM * bom + b"\n".join(lines) + b"\n" * ended
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "TOGETHER", together)
        assert list(records(path)) == by_hand(data)
        edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
        ranges = [[one for some in neighbors(path, *edge) for one in some] for edge in pairwise(edges)]
    found = [(one.data, one.offset) for some in ranges for one in some]
    assert found == [(one.data, one.offset) for one in by_hand(data)]
    assert [[one.line for one in some] for some in ranges] == [list(range(1, len(some) + 1)) for some in ranges]


def test_lines_before_a_break_are_read(tmp_path: Path) -> None:
    lines = [b'{"row": %d, "text": "%s"}\n' % (number, bytes(f"{number:x}" * 40, "ascii")) for number in range(5_000)]
    path = tmp_path / "torn.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(lines))[:-5_000])
    found: list[bytes] = []
    with pytest.raises(Torn, match="cannot be read further"):
        found.extend(record.data for record in records(path))
    assert len(found) > 1_000
    assert found[:-1] == lines[: len(found) - 1]


@pytest.mark.parametrize("size", [1, 7, 100, 1_000, 5_000])
def test_the_last_pieces_of_a_file_are_the_smallest(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(scan, "CHUNK", 80)
    sizes = [end - start for start, end in pairwise(scan.edges(size))]
    assert sum(sizes) == size
    assert all(0 < one <= 80 for one in sizes)
    assert sizes == sorted(sizes, reverse=True)
    assert size < 1_000 or (sizes[0] == 80 and sizes[-1] <= 10)
