"""What rollouts wrote reaches a report as text, never as markup."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_from_a_rollout_becomes_markup(nasty: str, tmp_path: Path) -> None:
    html = page(analyzed(tmp_path, nasty))
    seen = Seen()
    seen.feed(html.partition("<body>")[2])
    assert seen.tags <= {
        "h1",
        "h2",
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "strong",
        "em",
        "code",
        "blockquote",
    }
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
