"""LibriSpeech test-clean: each recording beside its transcript, in a row."""

from __future__ import annotations

import base64
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blade_gym import hub

PLACE = "https://www.openslr.org/resources/12/test-clean.tar.gz"


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    data = hub.file(PLACE, source=source)
    rows = _rows(data)
    return hub.write(rows, output or hub.beside(__file__, "librispeech"))


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {Path(member.name).name: member for member in archive.getmembers() if member.isfile()}
        for name in sorted(name for name in files if name.endswith(".trans.txt")):
            for line in _read(archive, files[name]).decode().splitlines():
                key, _, text = line.partition(" ")
                yield _row(key, text, _read(archive, files[f"{key}.flac"]))


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    inside = archive.extractfile(member)
    return inside.read() if inside else b""


def _row(key: str, text: str, audio: bytes) -> dict[str, Any]:
    sound = {"data": base64.b64encode(audio).decode(), "format": "flac"}
    asked = {"type": "input_text", "text": "Transcribe this recording. Reply with the transcript alone."}
    content = [asked, {"type": "input_audio", "input_audio": sound}]
    return {
        "id": key,
        "responses_create_params": {"input": [{"role": "user", "content": content}]},
        "expected_answer": text,
    }
