"""Sound and pictures reach the model by both dialects, and where nothing can take them that is said."""

from __future__ import annotations

import base64
import io
import shutil
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import blade
from blade_gym.models.chat import messages
from blade_gym.serve.model import from_request
from gym_endpoint import KEY, Endpoint, serving
from gym_lab import ROOT, here, read

SOUNDS = {"HE BEGAN A CONFUSED COMPLAINT": b"fLaC\x00one", "AND THEN HE STOPPED": b"fLaC\x00two"}


@dataclass
class Listener(Endpoint):
    """Writes down what it hears; a sound that it does not know is a bad request."""

    heard: list[dict[str, Any]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        chat = request.url.path.endswith("/chat/completions")
        content = body["messages" if chat else "input"][-1]["content"]
        asked, sound = content
        assert asked["type"] == ("text" if chat else "input_text")
        assert "Transcribe" in asked["text"]
        assert sound["type"] == "input_audio"
        self.heard.append(sound["input_audio"])
        told = {data: text for text, data in SOUNDS.items()}
        text = told.get(base64.b64decode(sound["input_audio"]["data"]))
        if text is None:
            return JSONResponse({"error": {"message": "no such sound"}}, status_code=400)
        if chat:
            return JSONResponse({"choices": [{"message": {"role": "assistant", "content": text.lower()}}]})
        part = {"type": "output_text", "text": text.lower(), "annotations": []}
        return JSONResponse({"output": [{"type": "message", "role": "assistant", "content": [part]}]})


def shelf(folder: Path) -> Path:
    """The shipped benchmark, with a small copy of the archive."""
    home = folder / "benchmarks" / "librispeech"
    shutil.copytree(ROOT / "benchmarks" / "librispeech", home, ignore=shutil.ignore_patterns("data"))
    files = {f"61-1-000{place}.flac": data for place, data in enumerate(SOUNDS.values())}
    lines = "".join(f"61-1-000{place} {text}\n" for place, text in enumerate(SOUNDS))
    path = folder / "test-clean.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in {**files, "61-1.trans.txt": lines.encode()}.items():
            member = tarfile.TarInfo(f"LibriSpeech/test-clean/61/1/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


@pytest.mark.parametrize(("model", "routes"), [("openai_model", ("responses",)), ("vllm_model", ("chat",))])
def test_recordings_reach_the_model_as_they_are(tmp_path: Path, model: str, routes: tuple[str, ...]) -> None:
    source = f"+prepare_script_args.source={shelf(tmp_path)}"
    output = tmp_path / "r.jsonl"
    with serving(Listener(routes=routes)) as endpoint:
        assert isinstance(endpoint, Listener)
        named = ("--benchmark", "librispeech", "--search-dir", tmp_path, source)
        address = ("--model-type", model, "-m", "ear-1", "--model-url", endpoint.url, "--model-api-key", KEY)
        code, _, err = here("eval", "run", *named, *address, "-o", output)
    assert code == 0, err
    sent = sorted(base64.b64decode(one["data"]) for one in endpoint.heard)
    assert sent == sorted(SOUNDS.values())
    assert {one["format"] for one in endpoint.heard} == {"flac"}
    assert [(row["reward"], row["wer"]) for row in read(output)] == [(1.0, 0.0)] * 2
    assert blade.load_run(str(output)).rollouts["outcome"].to_list() == ["passed", "passed"]


def test_the_embedded_model_says_that_it_cannot_hear(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    source = f"+prepare_script_args.source={shelf(tmp_path)}"
    named = ("--benchmark", "librispeech", "--search-dir", tmp_path, source, "--model-type", "local_model")
    code, _, err = here("eval", "run", *named, "-o", tmp_path / "r.jsonl")
    assert code == 1, err
    failed = read(tmp_path / "r_failures.jsonl")
    assert {(row["_ng_failure_class"], row["_ng_failure_terminal"], row["reward"]) for row in failed} == {
        ("unsupported_request", True, None)
    }
    assert "reads text alone, and the task holds input_audio" in err


CONTENT = [
    {"type": "input_text", "text": "What is this?"},
    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
]


def test_a_content_is_the_same_after_both_translations() -> None:
    (message,) = messages([{"role": "user", "content": CONTENT}])
    assert [part["type"] for part in message["content"]] == ["text", "input_audio", "image_url"]
    assert from_request({"messages": [message]})["input"] == [{"role": "user", "content": CONTENT}]


def test_a_part_that_is_not_known_is_refused() -> None:
    with pytest.raises(HTTPException, match="content of type file is not known here"):
        from_request({"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]})
