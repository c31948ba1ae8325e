"""Data from where it is published, or from a copy of it at hand: rows, archives, SQLite files; and rows, written in one go.

Prepare scripts are built from these. Each takes `source`, a local copy of the same shape, so that a machine without a
network can be served by one that has it.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
import sqlite3
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from typing import Any

from blade import files
from blade.model.errors import RequestError

ENDPOINT, HUB = "HF_ENDPOINT", "https://huggingface.co"
"""A mirror of the hub may be named by the variable, as the hub's own tools take it."""
TOKEN = "HF_TOKEN"
SECONDS = 60
_REFUSED = (401, 403)
_NO_DATA = ("__MACOSX", ".DS_Store")


class HubError(RequestError):
    """What was asked for could not be had from its publisher."""


def dataset(name: str, *, config: str = "default", split: str, source: str | None = None) -> list[dict[str, Any]]:
    """The rows of a data set of the Hugging Face hub, from its Parquet files; or of a local copy of them."""
    if source is not None:
        return local_rows(source)
    listing = f"{_hub()}/api/datasets/{name}/parquet/{config}/{split}"
    urls = _json(fetch(listing, instead=f"{listing}/0.parquet"), listing)
    if not isinstance(urls, list) or not urls:
        raise HubError(f"{listing} lists no files", hint=_copy_hint(f"{_hub()}/datasets/{name}"))
    return [row for url in urls for row in parquet_rows(fetch(str(url)))]


def file(url: str, *, source: str | None = None) -> bytes:
    """The bytes of a published file, or of a local copy of it."""
    return fetch(url) if source is None else _read(source)


def table(url: str, *, source: str | None = None, delimiter: str = ",") -> list[dict[str, Any]]:
    """The rows of a published CSV or TSV with a head; or of a local copy of it."""
    return csv_rows(file(url, source=source), delimiter)


def packaged(package: str, name: str) -> bytes:
    """The bytes of a file that an installed package holds; the package itself is not run."""
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).parent / name if spec and spec.origin else None
    if path is None or not path.is_file():
        raise RequestError(f"{package} is not installed with {name}", hint='pip install "blade-bench[gym]"')
    return path.read_bytes()


def fetch(url: str, *, instead: str | None = None) -> bytes:
    """The bytes at an address; raises HubError with what to do, which is to get `instead` where the address is no file."""
    request = urllib.request.Request(url, headers={"User-Agent": "blade-bench"})
    token = os.environ.get(TOKEN)
    if token and urllib.parse.urlsplit(url).hostname == urllib.parse.urlsplit(_hub()).hostname:
        # Not sent on to where a redirect leads.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    host, copy = urllib.parse.urlsplit(url).hostname or url, _copy_hint(instead or url)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            data: bytes = response.read()
            return data
    except urllib.error.HTTPError as error:
        error.close()
        hint = f"accept the data set's terms at {host} and set {TOKEN}" if error.code in _REFUSED else copy
        raise HubError(f"{url} answered {error.code} {error.reason}", hint=hint) from None
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise HubError(f"{host} cannot be reached: {reason}", hint=copy) from None


def _hub() -> str:
    return (os.environ.get(ENDPOINT) or HUB).rstrip("/")


def _copy_hint(url: str) -> str:
    return f"get {url} where there is a network, then: +prepare_script_args.source=PATH"


def local_rows(source: str | Path) -> list[dict[str, Any]]:
    """The rows of a file: .parquet, .jsonl, .json (a list), .csv or .tsv; or of a folder of them, by name. Raises."""
    path = Path(source).expanduser()
    if path.is_dir():
        return [row for inside in sorted(path.iterdir()) if inside.is_file() for row in local_rows(inside)]
    data = _read(path)
    if path.suffix == ".parquet":
        return parquet_rows(data)
    if path.suffix in (".csv", ".tsv"):
        return csv_rows(data, "\t" if path.suffix == ".tsv" else ",")
    if path.suffix == ".jsonl":
        return json_lines(data, path)
    if path.suffix == ".json":
        found = _json(data, path)
        if isinstance(found, list) and all(isinstance(row, dict) for row in found):
            return found
    raise RequestError(
        f"{path} holds no rows", hint="a copy is .parquet, .jsonl, .json (a list of objects), .csv or .tsv"
    )


def parquet_rows(data: bytes) -> list[dict[str, Any]]:
    """Rows of a Parquet file."""
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(data)).to_dicts()
    except pl.exceptions.PolarsError as error:
        raise RequestError(f"no Parquet file: {error}", hint="was it downloaded whole?") from None


def csv_rows(data: bytes, delimiter: str = ",") -> list[dict[str, Any]]:
    """Rows of a table with a head."""
    return list(csv.DictReader(io.StringIO(_text(data)), delimiter=delimiter))


def json_lines(data: bytes, path: Path | str) -> list[dict[str, Any]]:
    """Rows of JSON lines; raises with the line that is none."""
    rows = []
    # Only at the end of a line: other separators may stand inside a text.
    for number, line in enumerate(_text(data).split("\n"), 1):
        if not line.strip():
            continue
        row = _json(line.encode(), f"{path}:{number}")
        if not isinstance(row, dict):
            raise RequestError(f"{path}:{number}: no JSON object", hint="one object a line")
        rows.append(row)
    return rows


def _json(data: bytes, where: Path | str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise RequestError(f"{where}: no valid JSON: {error}", hint="was it downloaded whole?") from None


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace")


def _read(source: str | Path) -> bytes:
    path = Path(source).expanduser()
    try:
        return path.read_bytes()
    except OSError as error:
        raise RequestError(
            f"{path} cannot be read: {error.strerror or error}", hint="check the path of the copy"
        ) from None


def beside(script: str, name: str) -> Path:
    """Where a script's data goes when nobody says: `data/<name>_benchmark.jsonl` in its folder."""
    return Path(script).resolve().parent / "data" / f"{name}_benchmark.jsonl"


def write(rows: Iterable[Mapping[str, Any]], path: str | Path) -> Path:
    """Write rows as JSON lines, all or none; the path comes back. The same rows give the same bytes."""
    target = Path(path)
    with files.replacing(target) as file:
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
        file.writelines(line.encode() for line in lines)
    return target


def lettered(options: Iterable[str]) -> dict[str, str]:
    """Options by letter, in their order."""
    return {chr(ord("A") + index): option for index, option in enumerate(options)}


def options_text(options: Mapping[str, str]) -> str:
    """Options as a question shows them, one a line."""
    return "\n".join(f"({letter}) {option}" for letter, option in options.items())


def user(text: str) -> dict[str, Any]:
    """`responses_create_params` of one message from a user."""
    return {"input": [{"role": "user", "content": text}]}


def archive_files(url: str, endings: tuple[str, ...], *, source: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of the files with some endings in a published ZIP archive; or in a local copy or folder of it.

    Archives inside are looked into where `.zip` is among the endings.
    """
    if source is not None and Path(source).expanduser().is_dir():
        folder = Path(source).expanduser()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder).as_posix()
            if _wanted(name, endings):
                yield from _inside(name, path.read_bytes(), endings)
        return
    yield from _inside("archive.zip", file(url, source=source), endings)


def _wanted(name: str, endings: tuple[str, ...]) -> bool:
    return name.endswith(endings) and not any(part in name for part in _NO_DATA)


def _inside(name: str, data: bytes, endings: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    if not name.endswith(".zip"):
        yield name, data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in sorted(one for one in archive.namelist() if _wanted(one, endings)):
                yield from _inside(inner, archive.read(inner), endings)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise RequestError(f"{name} is not a ZIP archive: {error}", hint="was it downloaded whole?") from None


def write_database(data: bytes, path: Path) -> Path:
    """Write a database, whole or not at all; raises where it is none."""
    if not data.startswith(b"SQLite format 3\x00"):
        raise RequestError(f"{path.name} is not an SQLite database", hint="was it downloaded whole?")
    with files.replacing(path) as file:
        file.write(data)
    return path


def database_schema(path: Path) -> str:
    """The statements that make the tables of a database, in its order."""
    asked = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql IS NOT NULL"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return "\n".join(f"{text.strip()};" for (text,) in database.execute(f"{asked} ORDER BY rowid"))
    except sqlite3.Error as error:
        raise RequestError(f"{path.name} cannot be read: {error}", hint="was it downloaded whole?") from None
