"""Writes big rollout files to measure with: `python perf/generate.py FOLDER [--gb 1] [--kinds small logs]`.

Five kinds, after real files of NeMo Gym and tau-bench:

- conversations: 32 KB a row; a long policy, tool schemas, about 25 steps of a customer-service conversation, 4 repeats
- small: 3 KB a row; a question, some reasoning, an answer, and the null keys that real rows carry
- logs: 37 KB a row; few calls, whose results are mostly terminal output
- graded: 3.5 KB a row; a prompt, the verdict of each of 10 to 30 tests by name, 2 KB of what the tests printed
- mixed: all of these, plain rows, odd shapes, and now and then a line that is not JSON

The same seed gives the same bytes. A gigabyte takes seconds, because texts are rendered and JSON-encoded once, into
pools. A row draws from the pools and its own number is put into every text that it takes, so no two rows share a long
text other than the policy, the tools and, within a task, the question: what a real file shares too.
"""

# ruff: noqa: SIM905  lists of names read better as text
from __future__ import annotations

import argparse
import gzip
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pieces import (
    ROW,
    TASK,
    TOOL_NAMES,
    WORDS,
    assistant,
    encode,
    inside,
    log_line,
    lookup,
    plain,
    question,
    remark,
    reply_turn,
    sentence,
    terminal,
    text,
    tool_schema,
)

KINDS = ("conversations", "small", "logs", "graded", "mixed")
REPEATS = 4
IN_FLIGHT = 64  # tasks whose rollouts finish interleaved
BLOCK = 1 << 22

NULL_PARAMS = (
    "background include instructions max_tool_calls metadata model previous_response_id prompt reasoning service_tier "
    "store text top_logprobs top_p truncation user stream"
).split()
NULL_RESPONSE = (
    "error incomplete_details instructions metadata temperature top_p background conversation max_output_tokens "
    "max_tool_calls previous_response_id prompt prompt_cache_key reasoning safety_identifier service_tier status text "
    "top_logprobs truncation user"
).split()


class Kind:
    """Makes the rows of one kind. `row(task, repeat)` is deterministic in the pools and the order of calls."""

    agent = "simple_agent"
    tools: tuple[str, ...] = ()

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"{seed}/{type(self).__name__}")
        self.made = 0
        schemas = [tool_schema(self.rng, name) for name in self.tools]
        params = dict.fromkeys(NULL_PARAMS) | {"parallel_tool_calls": True, "temperature": 1.0, "tools": schemas}
        self.params = b"," + inside(params | {"tool_choice": "auto", "max_output_tokens": 16384}) + b"}"
        response = dict.fromkeys(NULL_RESPONSE) | {"object": "response", "model": "example-32b", "tool_choice": "auto"}
        response |= {"parallel_tool_calls": True, "tools": []}
        self.complete = inside(response)
        self.truncated = inside(response | {"incomplete_details": {"reason": "max_output_tokens"}})
        self.fill_pools()

    def fill_pools(self) -> None:
        raise NotImplementedError

    def row(self, task: int, repeat: int) -> bytes:
        raise NotImplementedError

    def pool(self, size: int, make: Callable[[random.Random, int], bytes]) -> list[bytes]:
        return [make(self.rng, number) for number in range(size)]

    def number(self) -> bytes:
        """The row's own number, scattered so that neighbours do not look alike."""
        self.made += 1
        return b"%08x" % (self.made * 2654435761 % (1 << 32))

    def reward(self, task: int) -> float:
        """A third of the tasks always pass, a fifth never, the rest now and then."""
        kind = task * 40503 % 97 / 97
        chance = 1.0 if kind < 0.33 else 0.0 if kind < 0.53 else kind
        return float(self.rng.random() < chance)

    def head(self, task: int, repeat: int, reward: float) -> bytes:
        return b'"reward":%.1f,"_ng_task_index":%d,"_ng_rollout_index":%d,"agent_ref":{"name":"%b"}' % (
            reward,
            task,
            repeat,
            self.agent.encode(),
        )

    def usage(self, size: int) -> bytes:
        given, made = size // 3, size // 12
        return (
            b'"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,'
            b'"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}' % (given, made, given + made)
        )

    def reply(self, number: bytes, output: list[bytes]) -> bytes:
        body = b",".join(output).replace(ROW, number)
        return b'{"id":"resp_%b","created_at":17724384%b.0,"output":[%b],%b,%b}' % (
            number,
            b"%02d" % (self.made % 100),
            body,
            self.usage(len(body)),
            self.truncated if self.made % 89 == 0 else self.complete,
        )


def own(task: int, pool: list[bytes], salt: int = 1) -> bytes:
    """The task's entry of a pool, with the task's number in it."""
    return pool[task * 7919 * salt % len(pool)].replace(TASK, b"%d" % task)


class Conversations(Kind):
    agent = "tool_agent"
    tools = tuple(TOOL_NAMES)

    def fill_pools(self) -> None:
        policy = {"role": "system", "content": "\n".join(f"{n}. {plain(self.rng, 150)}" for n in range(27))}
        self.policy = b'"responses_create_params":{"input":[' + encode(policy) + b","
        self.lookups = self.pool(2500, lookup)
        self.replies = self.pool(2500, reply_turn)
        self.closings = self.pool(500, remark)
        self.questions = self.pool(3000, lambda rng, _: encode({"role": "user", "content": question(rng, 160)}))
        self.instructions = self.pool(1000, lambda rng, _: encode(question(rng, 700)))
        self.keys = self.pool(1000, lambda rng, _: encode(self.key(rng)))

    def key(self, rng: random.Random) -> list[dict[str, Any]]:
        return [
            {"name": rng.choice(TOOL_NAMES), "arguments": {"customer_id": "~T~", "reference": rng.choice(WORDS)}}
            for _ in range(rng.randint(0, 4))
        ]

    def row(self, task: int, repeat: int) -> bytes:
        number, draw, reward = self.number(), self.rng.random, self.reward(task)
        output = []
        for _ in range(6 + int(20 * draw() * draw() + 5 * draw())):
            pool = self.replies if draw() < 0.45 else self.lookups
            output.append(pool[int(draw() * len(pool))])
        if draw() < 0.06:
            output.extend([self.lookups[int(draw() * len(self.lookups))]] * 3)
        output.append(self.closings[int(draw() * len(self.closings))])
        return b'{%b%b]%b,"response":%b,%b,"task_id":"%d","user_instruction":%b,"expected_actions":%b}' % (
            self.policy,
            own(task, self.questions),
            self.params,
            self.reply(number, output),
            self.head(task, repeat, reward),
            task,
            own(task, self.instructions),
            own(task, self.keys),
        )


class Small(Kind):
    agent = "math_simple_agent"

    def fill_pools(self) -> None:
        self.questions = self.pool(5000, lambda rng, _: encode({"role": "user", "content": question(rng, 300)}))
        self.reasons = self.pool(4000, self.reasoning)
        self.answers = self.pool(2000, lambda rng, number: encode(assistant(text(rng, 160) + " Answer: ~A~", number)))

    def reasoning(self, rng: random.Random, number: int) -> bytes:
        summary = [{"text": text(rng, rng.randint(100, 1000)), "type": "summary_text"}]
        return encode({"id": f"rs_~R~_{number}", "summary": summary, "type": "reasoning", "encrypted_content": None})

    def row(self, task: int, repeat: int) -> bytes:
        number, draw, reward = self.number(), self.rng.random, self.reward(task)
        expected = b"%d" % (task * 31 % 9973)
        answer = expected if reward else b"%d" % int(draw() * 9973)
        closing = self.answers[int(draw() * 2000)].replace(b"~A~", answer)
        return (
            b'{"responses_create_params":{"input":[%b]%b,"response":%b,%b,"accuracy":%.1f,'
            b'"expected_answer":"%b","extracted_answer":"%b","difficulty":"%b"}'
        ) % (
            own(task, self.questions),
            self.params,
            self.reply(number, [self.reasons[int(draw() * 4000)], closing]),
            self.head(task, repeat, reward),
            reward,
            expected,
            answer,
            (b"easy", b"medium", b"hard")[task % 3],
        )


class Logs(Kind):
    agent = "terminal_agent"
    tools = ("bash",)

    def fill_pools(self) -> None:
        self.calls = self.pool(600, terminal)
        self.remarks = self.pool(1500, remark)
        self.questions = self.pool(1000, lambda rng, _: encode({"role": "user", "content": question(rng, 1200)}))

    def row(self, task: int, repeat: int) -> bytes:
        number, draw, reward = self.number(), self.rng.random, self.reward(task)
        output = []
        for _ in range(2 + int(6 * draw())):
            output.append(self.remarks[int(draw() * 1500)])
            output.append(self.calls[int(draw() * 600)])
        output.append(self.remarks[int(draw() * 1500)])
        return (
            b'{"responses_create_params":{"input":[%b]%b,"response":%b,%b,"resolved":%b,"agent_timed_out":false,'
            b'"agent_run_time":%.3f,"instance_id":"build-%d"}'
        ) % (
            own(task, self.questions),
            self.params,
            self.reply(number, output),
            self.head(task, repeat, reward),
            b"true" if reward else b"false",
            900 * draw(),
            task,
        )


class Graded(Kind):
    """Rows that a grader wrote of code that was tested: each task has its tests, and its repeats share their names."""

    def fill_pools(self) -> None:
        self.prompts = self.pool(3000, lambda rng, _: encode(question(rng, 500)))
        self.names = self.pool(2000, lambda rng, _: b"\n".join(self.tests(rng)))
        self.logs = self.pool(3000, lambda rng, number: encode(self.log(rng, number)))

    def tests(self, rng: random.Random) -> list[bytes]:
        module = rng.choice(WORDS)
        named = [f"test_{module}.py::test_{rng.choice(WORDS)}_{rng.choice(WORDS)}" for _ in range(rng.randint(10, 30))]
        return [name.encode() for name in dict.fromkeys(named)]

    def log(self, rng: random.Random, number: int) -> str:
        lines = [f"run ~R~ of {rng.choice(WORDS)}"]
        while sum(map(len, lines)) + len(lines) < 2_000:
            lines.append(log_line(rng, number) if rng.random() < 0.8 else sentence(rng))
        return "\n".join(lines)

    def row(self, task: int, repeat: int) -> bytes:
        number, draw, reward = self.number(), self.rng.random, self.reward(task)
        names = own(task, self.names).split(b"\n")
        failed = () if reward else {int(draw() * len(names)) for _ in range(1 + int(3 * draw()))}
        tests = [b'"%b":%b' % (name, b"false" if at in failed else b"true") for at, name in enumerate(names)]
        return (
            b'{"task_id":"code-%d","repeat":%d,"model":"example-32b","prompt":%b,"reward":%.1f,"tests":{%b},'
            b'"test_log":%b,"seconds":%.3f}'
        ) % (
            task,
            repeat,
            own(task, self.prompts),
            reward,
            b",".join(tests),
            self.logs[int(draw() * 3000)].replace(ROW, number),
            60 * draw(),
        )


class Mixed(Kind):
    """One file of many shapes, as files that were joined by hand are."""

    def fill_pools(self) -> None:
        seed = self.rng.randrange(1 << 30)
        self.shapes = (
            [Conversations(seed).row] * 2
            + [Small(seed).row] * 6
            + [Logs(seed).row]
            + [self.without_usage, self.lists_in_lists, self.plain_row, self.plain_row]
        )
        self.remarks = self.pool(1000, remark)
        self.texts = self.pool(1000, lambda rng, _: encode(text(rng, 500)))

    def row(self, task: int, repeat: int) -> bytes:
        made = self.shapes[int(self.rng.random() * len(self.shapes))](task, repeat)
        self.made += 1
        return made[: len(made) // 2] if self.made % 997 == 0 else made

    def remark(self) -> bytes:
        return self.remarks[int(self.rng.random() * 1000)].replace(ROW, b"%08x" % self.made)

    def without_usage(self, task: int, repeat: int) -> bytes:
        head = self.head(task, repeat, self.reward(task))
        return b'{%b,"response":{"output":[%b,%b]},"task_id":"u-%d"}' % (head, self.remark(), self.remark(), task)

    def lists_in_lists(self, task: int, repeat: int) -> bytes:
        head = self.head(task, repeat, self.reward(task))
        body = b"[%b],[%b,%b]" % (self.remark(), self.remark(), self.remark())
        return b'{%b,"response":{"output":[%b],"usage":null},"task_id":"l-%d"}' % (head, body, task)

    def plain_row(self, task: int, repeat: int) -> bytes:
        reply = self.texts[int(self.rng.random() * 1000)].replace(ROW, b"%08x" % self.made)
        return b'{"id":"p-%d","prompt":"Question %d?","reply":%b,"score":%d,"repeat":%d}' % (
            task,
            task,
            reply,
            int(self.reward(task)),
            repeat,
        )


MAKERS: dict[str, type[Kind]] = {
    "conversations": Conversations,
    "small": Small,
    "logs": Logs,
    "graded": Graded,
    "mixed": Mixed,
}


def places(rng: random.Random) -> Iterator[tuple[int, int]]:
    """(task, repeat) without end, in an order of completion: tasks start in turn, their rollouts end interleaved."""
    first = 0
    while True:
        window = [(task, repeat) for task in range(first, first + IN_FLIGHT) for repeat in range(REPEATS)]
        rng.shuffle(window)
        yield from window
        first += IN_FLIGHT


def lines(kind: str, seed: int) -> Iterator[bytes]:
    """Rows of a kind, each with its line end, without end."""
    maker = MAKERS[kind](seed)
    for task, repeat in places(random.Random(f"{seed}/order")):
        yield maker.row(task, repeat) + b"\n"


def write(path: Path, kind: str, size: int, seed: int = 7, rows: int | None = None) -> int:
    """Writes whole lines until `size` bytes (before compression) or `rows` lines are reached; returns the lines."""
    written = count = held = 0
    block: list[bytes] = []
    with open_for_writing(path) as target:
        for line in lines(kind, seed):
            block.append(line)
            held += len(line)
            count += 1
            done = written + held >= size or count == rows
            if done or held >= BLOCK:
                target.write(b"".join(block))
                written += held
                held = 0
                block.clear()
            if done:
                return count
    raise AssertionError("rows never end")


@contextmanager
def open_for_writing(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    with path.open("wb") as raw:
        if path.suffix == ".gz":
            # No file name and no time in the header: the same rows give the same bytes.
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=1, mtime=0) as packed:
                yield packed
        elif path.suffix == ".zst":
            import zstandard

            with zstandard.ZstdCompressor(level=1).stream_writer(raw) as packed:
                yield packed
        else:
            yield raw


def file_name(kind: str, compress: str | None = None) -> str:
    return f"{kind}_rollouts.jsonl" + (f".{compress}" if compress else "")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write big rollout files to measure with.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gb", type=float, default=1.0, help="size of each file before compression (default 1)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--compress", choices=("gz", "zst"))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for kind in options.kinds:
        path = options.folder / file_name(kind, options.compress)
        start = time.perf_counter()
        rows = write(path, kind, int(options.gb * 1e9), options.seed)
        seconds = time.perf_counter() - start
        speed = options.gb * 1000 / seconds
        print(f"{path}: {rows} rows, {seconds:.1f} s, {speed:.0f} MB/s", file=sys.stderr)


if __name__ == "__main__":
    main()
