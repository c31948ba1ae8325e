"""Terminal work: an agent with a shell in a container; a grader runs checks afterwards, and its log is kept.

Rows hold what such harnesses record: the checks by name, the grader's log, the session, a state, stamps and limits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from proof.simulate.code import failed
from proof.simulate.draft import Draft, Item, Row, Task, called, said, words_of
from proof.simulate.graders import RUNNERS, Bad, Runner, log

TOOLS = [
    {
        "type": "function",
        "name": name,
        "parameters": {"type": "object", "properties": {one: {"type": "string"} for one in given}},
    }
    for name, given in {"shell": ("command",), "write_file": ("path", "content")}.items()
]


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A kind of work."""

    name: str
    text: str
    output: str
    aspects: tuple[str, ...]
    kept: tuple[str, ...]
    """Checks that held before the agent began."""


TOPICS = (
    Topic(
        name="region-totals",
        text="Sum the orders in /app/data/orders_{n}.csv by region. Write {output}: one object with a total for each region.",
        output="/app/out/totals_{n}.json",
        aspects=("north_total", "south_total", "all_regions"),
        kept=("source_unchanged",),
    ),
    Topic(
        name="log-digest",
        text="Count the requests in /app/logs/access_{n}.log by status code and write the counts to {output} as JSON.",
        output="/app/report/digest_{n}.json",
        aspects=("count_of_200", "count_of_404", "no_other_codes"),
        kept=("log_rotates",),
    ),
    Topic(
        name="note-server",
        text="Start a small HTTP server on port 8{n}. GET /notes answers the notes in /app/notes.json, sorted; log to {output}.",
        output="/app/run/server_{n}.json",
        aspects=("answers_notes", "sorted_by_date", "logs_requests"),
        kept=("notes_intact",),
    ),
    Topic(
        name="mend-parser",
        text="src/parser.py reads release {n} of our configuration files wrongly: lists lose their last item. Mend it and write what it reads from sample.conf to {output}.",
        output="/app/out/parsed_{n}.json",
        aspects=("last_item_kept", "nested_lists", "empty_list"),
        kept=("plain_values", "comments_ignored"),
    ),
    Topic(
        name="route-lengths",
        text="For each pair in /app/pairs_{n}.txt find the length of the shortest route in graph.txt. Write a JSON list to {output}.",
        output="/app/answer/routes_{n}.json",
        aspects=("short_routes", "long_routes", "no_route_is_null"),
        kept=("graph_unchanged",),
    ),
    Topic(
        name="tidy-records",
        text="Clean /app/people_{n}.csv: no duplicates, dates as YYYY-MM-DD. The result is {output}, a list of objects.",
        output="/app/clean/people_{n}.json",
        aspects=("no_duplicates", "dates_uniform", "row_count"),
        kept=("header_kept",),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Job(Task):
    """A piece of work with the checks that judge it."""

    topic: Topic
    nonce: int
    runner: Runner
    limit: int
    """Seconds that the agent has."""

    @property
    def output(self) -> str:
        """The file that the instruction asks for."""
        return self.topic.output.format(n=self.nonce)

    @property
    def due(self) -> tuple[str, ...]:
        """Checks of what is asked for, as the runner names them."""
        return tuple(named(self.runner, one) for one in self.topic.aspects)

    @property
    def kept(self) -> tuple[str, ...]:
        """Checks of what held before."""
        return tuple(named(self.runner, one) for one in self.topic.kept)

    @property
    def checks(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.due, *self.kept)

    @property
    def fields(self) -> Row:
        """What each row holds of the task."""
        return {
            "task_id": self.task_id,
            "instruction": self.prompt,
            "time_limit_s": self.limit,
            "FAIL_TO_PASS": list(self.due),
            "PASS_TO_PASS": list(self.kept),
        }


def named(runner: Runner, aspect: str) -> str:
    """A check as tests of this runner are called."""
    if runner == "go":
        return "Test" + "".join(word.title() for word in aspect.split("_"))
    return aspect.replace("_", " ") if runner == "jest" else aspect if runner == "cargo" else f"test_{aspect}"


class Terminal:
    """The world of terminal work; two agents do the same jobs."""

    name = "terminal"
    models: tuple[str, ...] = ("gannet-coder", "tern-coder")

    def task(self, index: int, rng: Random) -> Job:
        """One job, checked by one of the runners."""
        topic = TOPICS[index % len(TOPICS)]
        nonce = 100 + index
        output = topic.output.format(n=nonce)
        return Job(
            index=index,
            task_id=f"{topic.name}-{nonce}",
            prompt=topic.text.format(n=nonce, output=output),
            topic=topic,
            nonce=nonce,
            runner=rng.choice(RUNNERS),
            limit=rng.choice((600, 900, 1800)),
        )

    def solve(self, task: Job, rng: Random) -> Draft:
        """Everything is done, and every check holds."""
        return graded(task, rng, work(task, rng), ())

    def slip(self, task: Job, rng: Random, variant: int) -> Draft:
        """One or two values are wrong; other variants get others wrong."""
        count = 1 + variant % 2
        wrong = [task.due[(variant + offset) % len(task.due)] for offset in range(count)]
        return graded(task, rng, work(task, rng), [differs(one, rng) for one in wrong])

    def request(self, task: Job) -> Row:
        """The instruction and the tools."""
        system = {"role": "system", "content": "You work in a container through a shell. Stop when the work is done."}
        return {"input": [system, {"role": "user", "content": task.prompt}], "tools": TOOLS}


def differs(check: str, rng: Random) -> Bad:
    """A check of two values that differ."""
    return Bad(check=check, got=str(rng.randint(2, 400)), wanted=str(rng.randint(401, 999)), line=rng.randint(14, 80))


def raises(task: Job, words: str, checks: Sequence[str] | None = None) -> list[Bad]:
    """Checks in which the same is raised in their own frame; those of what is asked for where none are named."""
    return [Bad(check=one, raised=words, line=20 + 7 * n) for n, one in enumerate(checks or task.due)]


def graded(task: Job, rng: Random, items: list[Item], bad: Sequence[Bad], skipped: Sequence[str] = ()) -> Draft:
    """A rollout that ended by itself and was graded."""
    ends = {one.check: one for one in bad}

    def state(check: str) -> str:
        return "skipped" if check in skipped else "failed" if check in ends else "passed"

    draft = Draft(items=items, reward=float(not bad), mode=failed(len(ends), len(task.checks)))
    draft.fields = {
        "checks": {one: state(one) for one in task.checks},
        "grader_log": f"{rng.choice(BEFORE)}{log(task.runner, task.checks, bad, skipped)}",
        "agent_log": session(items),
        "failure_mode": "normal",
        "model_patch": patch(task, rng),
        "steps_taken": sum(item["type"] == "function_call" for item in items),
        **stamps(task, rng, agent=rng.uniform(0.1, 0.6)),
    }
    return draft


BEFORE = (
    "",
    "Reading package lists... Done\nSetting up curl (8.5.0-2) ...\n",
    "Resolved 7 packages in 212ms\nInstalled 7 packages in 18ms\n",
    "added 271 packages in 9s\n",
)
"""What some graders print before the checks run."""
BEGIN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def stamps(task: Job, rng: Random, *, agent: float | None, grading: float | None = 12.0) -> Row:
    """When each part began and ended; `agent` is the share of its time that it used. What never began has no stamp."""
    at = [BEGIN + timedelta(seconds=task.nonce * 60 + rng.randint(0, 3000))]
    for seconds in (
        rng.uniform(8, 40),
        None if agent is None else agent * task.limit,
        rng.uniform(1, 4),
        None if grading is None else grading * rng.uniform(0.8, 1.2),
    ):
        at.append(at[-1] + timedelta(seconds=seconds or 0.0))
    times = [f"{one:%Y-%m-%dT%H:%M:%S}.{one.microsecond // 1000:03d}Z" for one in at]
    ran, checked = agent is not None, grading is not None
    return {
        "started_at": times[0],
        "agent_started_at": times[1] if ran else None,
        "agent_ended_at": times[2] if ran else None,
        "grading_started_at": times[3] if checked else None,
        "ended_at": times[4],
    }


def session(items: Sequence[Item]) -> str:
    """The screen of the container: prompts, commands and what they printed."""
    lines = []
    for item in items:
        if item["type"] == "function_call":
            given = json.loads(item["arguments"])
            lines.append(f"root@box:/app# {given.get('command') or 'write ' + given['path']}")
        elif item["type"] == "function_call_output":
            lines.append(words_of(item)[:200])
    return "\n".join([*lines, "root@box:/app# "]) if lines else ""


def patch(task: Job, rng: Random) -> str:
    """The change to the container as a diff."""
    path = task.output.removeprefix("/app/")
    return f'diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{{"v": {rng.randint(1, 999)}}}\n'


def shell(rng: Random, command: str, output: str) -> list[Item]:
    """A command with what it printed."""
    return called(rng, "shell", {"command": command}, output)


def looked(task: Job, rng: Random) -> list[Item]:
    """The agent looks around."""
    looks = (
        ("ls -la /app", "total 24\ndrwxr-xr-x 4 root root 4096 data\n-rw-r--r-- 1 root root 812 README.md"),
        ("cat README.md", f"Work folder {task.nonce}. Input is in place."),
        ("python3 --version", "Python 3.12.3"),
        ("head -3 data/*", "id,region,total\n1,north,12\n2,south,31"),
    )
    return [item for look in rng.sample(looks, rng.randint(1, 3)) for item in shell(rng, *look)]


def wrote(task: Job, rng: Random, path: str | None = None) -> list[Item]:
    """A script is written and run; it leaves the output."""
    where, name = path or task.output, rng.choice(("solve.py", "run.py", "job.py"))
    source = f"import json\nrows = load()  # {rng.randint(1, 999)}\njson.dump(rows, open('{where}', 'w'))\n"
    return [
        *called(rng, "write_file", {"path": f"/app/{name}", "content": source}, "ok"),
        *shell(rng, f"python3 /app/{name}", rng.choice(("", "done", f"wrote {where}"))),
    ]


def looked_again(task: Job, rng: Random, path: str | None = None) -> list[Item]:
    """The agent looks at what it made."""
    return shell(rng, f"cat {path or task.output}", f'{{"north": {rng.randint(100, 999)}}}')


LAST = (
    "The file is in place and I checked that it can be read.",
    "Finished. The script and its output are where you asked for them.",
    "All steps are done; the result is written.",
)


def work(task: Job, rng: Random, path: str | None = None) -> list[Item]:
    """Look, write, look again, sum up."""
    return [*looked(task, rng), *wrote(task, rng, path), *looked_again(task, rng, path), said(rng.choice(LAST))]
