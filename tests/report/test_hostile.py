"""What rollouts wrote reaches a report as text, never as markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import blade
from blade.report.html import page
from blade.report.sections import report

NASTY = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](http://example.invalid/x.png)",
    "a | b | c",
    "`code` **bold** _under_",
    "<!-- comment -->",
    "&lt;b&gt; &amp;",
    "line\nbreak\r\n# heading",
    "</table></body>",
    "\x1b[31mred",
)


class Seen(HTMLParser):
    """Tags and attributes of a page's body."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def analyzed(folder: Path, nasty: str) -> blade.Analysis:
    rows = [
        {
            "task_id": f"{nasty} {i}",
            "reward": float(i % 2),
            "category": nasty[:30],
            "agent_ref": {"name": nasty},
            "response": {"model": nasty, "output": [{"type": "message", "role": "assistant", "content": nasty}]},
            "error": nasty,
            "expected_answer": nasty,
            "extracted_answer": nasty,
        }
        for i in range(12)
    ]
    path = folder / "rollouts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + nasty + "\n", encoding="utf-8")
    return blade.analyze(path, notes=(nasty,))


def diagnosed(folder: Path, nasty: str) -> blade.Analysis:
    """Two tasks whose tools, arguments, scripts, tests and verifier all speak nastily."""
    rows = []
    for place in range(4):
        call = {
            "type": "function_call",
            "name": f"cancel {nasty}",
            "arguments": json.dumps({nasty: nasty}),
            "call_id": "c",
        }
        done = {"type": "function_call_output", "call_id": "c", "output": nasty}
        talk = {"type": "message", "role": "assistant", "content": f"I cannot do {nasty}, because {nasty}."}
        rows.append(
            {
                "task_id": f"t{place // 2}",
                "reward": float(place % 2),
                "expected_actions": [{"name": f"cancel {nasty}", "arguments": {nasty: "other"}}],
                "user_instruction": f"You are {nasty}_123",
                "failure_reason": nasty,
                "details": {nasty: f"AssertionError: {nasty}"},
                "response": {"output": [talk, call, done] if place else [talk]},
            }
        )
    path = folder / "rollouts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return blade.analyze(path)


PICTURE = {"figure", "figcaption", "svg", "g", "title", "rect"}
DRAWN = {"class", "x", "y", "width", "height", "viewbox", "role", "aria-label"}
TAGS = set("h1 h2 h3 p table thead tbody tr th td ul ol li strong em code".split())  # noqa: SIM905
FIGURE = re.compile(r"<figure>.*?</figure>\n", re.DOTALL)


def read(html: str) -> Seen:
    """The page without its pictures, which hold nothing but their own marks."""
    body, drawn = html.partition("<body>")[2], Seen()
    drawn.feed("".join(FIGURE.findall(body)))
    assert drawn.tags <= PICTURE
    assert drawn.attributes <= DRAWN
    seen = Seen()
    seen.feed(FIGURE.sub("", body))
    return seen


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_in_a_diagnosis_becomes_markup(nasty: str, tmp_path: Path) -> None:
    analysis = diagnosed(tmp_path, nasty)
    assert analysis.runs[0].diagnosis is not None
    assert analysis.runs[0].diagnosis.findings
    seen = read(page(analysis))
    assert seen.tags <= TAGS
    assert seen.attributes == set()


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_from_a_rollout_becomes_markup(nasty: str, tmp_path: Path) -> None:
    seen = read(page(analyzed(tmp_path, nasty)))
    assert seen.tags <= TAGS | {"blockquote"}
    assert seen.attributes == set()


def test_a_nasty_name_still_reads_as_it_was_written(tmp_path: Path) -> None:
    seen = Seen()
    seen.feed(page(analyzed(tmp_path, "<b>x</b> & [y](z)")).partition("<body>")[2])
    assert "<b>x</b> & [y](z) 0" in seen.text


def test_tables_keep_their_shape(tmp_path: Path) -> None:
    for lines in _tables(report(analyzed(tmp_path, "a | b"))):
        assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


def _tables(markdown: str) -> list[list[str]]:
    blocks = [block.splitlines() for block in markdown.split("\n\n")]
    return [block for block in blocks if block and block[0].startswith("|")]
