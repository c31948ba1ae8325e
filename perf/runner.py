"""Measures `gym eval run` against a bare httpx loop over the same endpoint: `python perf/runner.py [--rollouts 1200]`.

A server on loopback answers sums; the first reply to every prompt is faulty, the second is right, so half of all replies
are faulty. In one run:

- bare: httpx alone asks each prompt until the reply is right, 32 at once, and writes nothing
- runner: the same prompts through `gym eval run`, with verdicts and all files; the fixed cost (a run of one task) is
  taken off
- killed: the same run ended by SIGKILL when half of its rows are written, then `--resume`

Reported are rollouts per second, which other work on the machine and the server's own speed hold down; processor time of
a rollout, which they do not, and its ratio to the bare loop's; and the rollouts lost, doubled or wrong. The exit code is 1
where one is, or where the ratio misses its target.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from msgspec import Struct

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from gym_endpoint import KEY, Endpoint, serving  # noqa: E402
from gym_lab import command, endpoint_words, environ, lab  # noqa: E402

TARGET = 2.0
"""Times the processor time of the bare loop."""
AT_ONCE = 32
FAULTS = ("500", "429", "malformed", "drop", "truncated", "no choices", "output without status", "empty body")
BARE = """
import asyncio, json, sys
import httpx

url, key, total, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

async def main():
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, limits=limits, trust_env=False) as client:
        waiting = iter(range(total))
        async def work():
            for number in waiting:
                while not await right(client, number):
                    await asyncio.sleep(0.01)
        await asyncio.gather(*(work() for _ in range(at_once)))

async def right(client, number):
    asked = {"model": "m", "input": [{"role": "user", "content": f"What is {number} + {number}?"}]}
    try:
        reply = await client.post(url + "/responses", json=asked)
        return reply.status_code == 200 and json.loads(reply.content)["output"][0]["content"][0]["text"] == str(2 * number)
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError):
        return False

asyncio.run(main())
"""


class Cost(Struct, frozen=True, kw_only=True):
    """What some rollouts took."""

    wall: float
    cpu: float

    def without(self, fixed: Cost) -> Cost:
        return Cost(wall=self.wall - fixed.wall, cpu=self.cpu - fixed.cpu)


class Count(Struct, frozen=True, kw_only=True):
    """What a rollouts file holds, against what was asked for."""

    lost: int
    doubled: int
    wrong: int

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.wrong)


def first_reply(number: int, tried: int) -> str | None:
    """Every other reply to a prompt is faulty, beginning with the first."""
    return FAULTS[number % len(FAULTS)] if tried % 2 else None


def counted(path: Path, total: int) -> Count:
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    times = Counter((row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows)
    wrong = sum(row["reward"] != 1.0 for row in rows)
    return Count(lost=total - len(times), doubled=sum(count - 1 for count in times.values()), wrong=wrong)


def run_words(folder: Path, url: str, name: str, *more: str) -> list[str]:
    words = [*endpoint_words(folder, url, KEY), "--split", "example", "--num-repeats", "1"]
    return command("eval", "run", *words, "--concurrency", str(AT_ONCE), "-o", str(folder / f"{name}.jsonl"), *more)


def cost_of(words: list[str], folder: Path) -> Cost:
    """Time of a command, and processor time of it and its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, capture_output=True, cwd=folder, env=environ())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall=time.perf_counter() - start, cpu=used)


def bare_words(url: str, total: int) -> list[str]:
    return [sys.executable, "-c", BARE, url, KEY, str(total), str(AT_ONCE)]


def killed(folder: Path, url: str, total: int) -> Count:
    """Counts after a run that was killed halfway and resumed."""
    output = folder / "killed.jsonl"
    process = subprocess.Popen(
        run_words(folder, url, "killed"),
        cwd=folder,
        env=environ(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (output.exists() and output.read_bytes().count(b"\n") >= total // 2):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        raise SystemExit("the run ended before it could be killed: ask for more --rollouts")
    cost_of(run_words(folder, url, "killed", "--resume"), folder)
    return counted(output, total)


def measured(folder: Path, total: int, rounds: int) -> tuple[Cost, Cost, Count]:
    """The cost of the bare loop and of the runner, the least of some rounds, and the counts of the last run."""
    bare, ours = [], []
    for _ in range(rounds):
        with serving(Endpoint(fault=first_reply)) as endpoint:
            one = cost_of(bare_words(endpoint.url, 1), folder)
            bare.append(cost_of(bare_words(endpoint.url, total), folder).without(one))
        with serving(Endpoint(fault=first_reply)) as endpoint:
            one = cost_of(run_words(folder, endpoint.url, "one", "--limit", "1", "--overwrite"), folder)
            ours.append(cost_of(run_words(folder, endpoint.url, "whole", "--overwrite"), folder).without(one))
    return least(bare), least(ours), counted(folder / "whole.jsonl", total)


def least(costs: list[Cost]) -> Cost:
    return Cost(wall=min(cost.wall for cost in costs), cpu=min(cost.cpu for cost in costs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="blade-perf-") as name:
        folder = lab(Path(name), tasks=given.rollouts)
        bare, ours, whole = measured(folder, given.rollouts, given.rounds)
        with serving(Endpoint(fault=first_reply)) as endpoint:
            resumed = killed(folder, endpoint.url, given.rollouts)
    print(f"{given.rollouts} rollouts, half of all replies faulty, {AT_ONCE} at once, best of {given.rounds}")
    for what, cost in (("bare httpx loop", bare), ("gym eval run", ours)):
        a_rollout = 1000 * cost.cpu / given.rollouts
        print(
            f"{what:21} {given.rollouts / cost.wall:5.0f} rollouts/s, {a_rollout:5.2f} ms of processor time a rollout"
        )
    ratio = ours.cpu / bare.cpu
    print(f"{'processor time':21} {ratio:5.2f} x the bare loop (target: {TARGET:g} or less)")
    for what, count in (("whole run", whole), ("kill -9 and --resume", resumed)):
        print(f"{what:21} lost {count.lost}, doubled {count.doubled}, wrong {count.wrong}")
    return int(not (whole.clean and resumed.clean and ratio <= TARGET))


if __name__ == "__main__":
    raise SystemExit(main())
