"""Getting data from a hub, against a real server on loopback; and from copies."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

from blade.model.errors import RequestError
from blade_gym import hub

ROWS: list[dict[str, object]] = [{"question": "1+1", "answer": ["2", "two"]}, {"question": "2+2", "answer": ["4"]}]


def parquet(rows: list[dict[str, object]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


class Hub(ThreadingHTTPServer):
    """Answers from a table of paths, and remembers who asked with which key."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.pages: dict[str, tuple[int, bytes, str]] = {}
        self.keys: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        self.server.keys.append((self.path, self.headers.get("Authorization")))
        status, body, place = self.server.pages.get(self.path, (404, b"", ""))
        self.send_response(status)
        if place:
            self.send_header("Location", place)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with Hub() as started:
        thread = threading.Thread(target=started.serve_forever)
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", started.url)
        yield started
        started.shutdown()
        thread.join()


def test_all_parquet_files_of_a_split_are_read(server: Hub) -> None:
    listing = "/api/datasets/who/what/parquet/main/test"
    urls = [f"{server.url}/0.parquet", f"{server.url}/1.parquet"]
    server.pages[listing] = (200, json.dumps(urls).encode(), "")
    server.pages["/0.parquet"] = (200, parquet(ROWS[:1]), "")
    server.pages["/1.parquet"] = (200, parquet(ROWS[1:]), "")
    assert hub.dataset("who/what", config="main", split="test") == ROWS


def test_a_key_goes_to_the_hub_and_not_where_it_redirects(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    server.pages["/first"] = (302, b"", f"http://localhost:{server.server_port}/second")
    server.pages["/second"] = (200, b"data", "")
    assert hub.fetch(f"{server.url}/first") == b"data"
    assert server.keys == [("/first", "Bearer secret"), ("/second", None)]
    hub.fetch(f"http://localhost:{server.server_port}/second")
    assert server.keys[-1] == ("/second", None)


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "set HF_TOKEN"), (403, "set HF_TOKEN"), (404, "get "), (500, "get ")]
)
def test_a_refusal_says_what_to_do(server: Hub, status: int, hint: str) -> None:
    server.pages["/x"] = (status, b"", "")
    with pytest.raises(hub.HubError) as caught:
        hub.fetch(f"{server.url}/x")
    assert f"/x answered {status}" in caught.value.message
    assert hint in caught.value.hint


def test_nobody_there(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(hub.HubError) as caught:
        hub.dataset("who/what", split="test")
    assert caught.value.message.startswith("127.0.0.1 cannot be reached: ")
    assert caught.value.hint == (
        "get http://127.0.0.1:9/api/datasets/who/what/parquet/default/test/0.parquet where there is a network, "
        "then: +prepare_script_args.source=PATH"
    )


def test_an_answer_that_is_no_list_of_files(server: Hub) -> None:
    for body in (b"{}", b"[]", b"<html>"):
        server.pages["/api/datasets/who/what/parquet/default/test"] = (200, body, "")
        with pytest.raises(RequestError):
            hub.dataset("who/what", split="test")


def test_copies_of_every_shape_give_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(parquet(ROWS))
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    for name in ("a.parquet", "a.jsonl", "a.json"):
        assert hub.dataset("who/what", split="test", source=str(tmp_path / name)) == ROWS
    (tmp_path / "a.csv").write_text('\ufeffid,text\n1,"a, ""b"""\n')
    (tmp_path / "a.tsv").write_text("id\ttext\n1\ta, b\n")
    assert hub.local_rows(tmp_path / "a.csv") == [{"id": "1", "text": 'a, "b"'}]
    assert hub.local_rows(tmp_path / "a.tsv") == [{"id": "1", "text": "a, b"}]
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards/1.parquet").write_bytes(parquet(ROWS[1:]))
    (tmp_path / "shards/0.parquet").write_bytes(parquet(ROWS[:1]))
    assert hub.local_rows(tmp_path / "shards") == ROWS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", "{}\n{"),
        ("a.jsonl", "[]\n"),
        ("a.json", "{}"),
        ("a.json", "[1]"),
        ("a.parquet", "PAR1"),
        ("a.txt", "x"),
    ],
)
def test_a_copy_that_is_none_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(RequestError):
        hub.local_rows(tmp_path / name)


def test_a_copy_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as caught:
        hub.local_rows(tmp_path / "nothing.csv")
    assert "nothing.csv cannot be read" in caught.value.message


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(RequestError) as caught:
        hub.packaged("no_such_package", "data.json")
    assert caught.value.message == "no_such_package is not installed with data.json"


def test_rows_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = hub.write([{"a": "ä"}], tmp_path / "data/x.jsonl")
    assert path.read_text("utf-8") == '{"a":"ä"}\n'

    def failing() -> Iterator[dict[str, str]]:
        yield {"a": "new"}
        raise KeyError("torn")

    with pytest.raises(KeyError):
        hub.write(failing(), path)
    assert path.read_text("utf-8") == '{"a":"ä"}\n'
    assert [one.name for one in path.parent.iterdir()] == ["x.jsonl"]
