"""What is made of raw values is worked out once for those that are the same, and for no others."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest import cells
from blade.ingest.cells import Memo
from blade.ingest.fingerprints import prompt_fingerprint, request_fingerprint

RAWS = st.lists(st.none() | st.sampled_from([b"1", b"2", b'"a"', b'"' + b"b" * 3_000 + b'"', b"[]"]), max_size=20)


@given(RAWS)
def test_each_value_is_worked_out_once(raws: list[bytes | None]) -> None:
    asked: list[bytes] = []

    def make(raw: bytes) -> int:
        asked.append(raw)
        return len(raw)

    memo = Memo(make)
    columns = [memo.column([None if raw is None else msgspec.Raw(raw) for raw in raws]) for _ in range(2)]
    assert columns == [[None if raw is None else len(raw) for raw in raws]] * 2
    assert sorted(asked) == sorted({raw for raw in raws if raw is not None})


def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "_MOST_BYTES", 10)
    asked: list[bytes] = []

    def make(raw: bytes) -> bytes:
        asked.append(raw)
        return raw

    memo = Memo(make)
    for raw in (b'"aaaaaaaaaaaa"', b"1", b'"aaaaaaaaaaaa"'):
        assert memo.column([raw]) == [raw]
    assert len(asked) == 3


ROLES = st.sampled_from(["user", "system", "developer", "assistant", "tool", "User"])
TEXTS = st.sampled_from(["", " ", "What is 2 + 2?", "a \n\t b", "caf\u00e9\u2003x", "\x00"])
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": ROLES, "content": TEXTS}, optional={"type": st.just("message")}), max_size=4
)


@given(MESSAGES)
def test_plain_requests_have_the_mark_of_the_same_prompt_in_any_other_form(messages: list[dict[str, str]]) -> None:
    raw = msgspec.json.encode(messages)
    odd = msgspec.json.encode([message | {"id": None} for message in messages])
    assert request_fingerprint(raw) == request_fingerprint(odd)
    if all(message["role"] in ("user", "system", "developer") for message in messages):
        assert request_fingerprint(raw) == prompt_fingerprint(raw)
