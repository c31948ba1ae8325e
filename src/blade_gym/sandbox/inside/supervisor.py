"""The first process of a sandbox. It isolates itself, then forks a fresh process for every job and reports on it.

Started with `python -P -s -S -B supervisor.py`. The first line of input holds the settings (`walls.start` writes it), the
lines after it are jobs. This process runs no code that a model wrote. Jobs do, each in a process of its own, which can
neither signal nor read this one; what they send reaches the parent only as messages of that job.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

_READ = 1 << 16
_SMALL_FILES, _OPEN_FILES, _THREADS = 16 << 20, 64, 128
_READ_ONLY = 1 | 2 | 4 | 32 | 4096
"""Flags of mount(2): read-only, no set-uid, no devices; remount, bind."""
_LONGEST_WAIT = 3600.0
"""Seconds; poll takes no more milliseconds than an int holds."""
_COMPUTING = 0.05
"""A job that used less than this share of its time on a processor was asleep."""
_NO_MEMORY = 3
"""The exit code of a job that ran out of memory (`worker.OUT_OF_MEMORY`)."""


def _know_packages() -> None:
    """Let modules beside this file be imported by their full names, without running what the packages above them load."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in ("blade_gym.sandbox.inside", "blade_gym.sandbox", "blade_gym"):
        package = ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package
        folder = os.path.dirname(folder)
    blade = sys.modules["blade"] = ModuleType("blade")
    blade.__path__ = [os.path.join(folder, "blade")]


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (wanted, wanted))


def _build_root(root: Mapping[str, Any]) -> None:
    """A root of its own, in a mount namespace: a small file system in memory with a few folders of the machine, read-only."""
    from blade_gym.sandbox.inside import kernel

    os.umask(0o022)  # other users must be able to pass through the folders made here
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    base = root["at"]
    kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=1m,nr_inodes=4096,mode=755")
    for link, target in root["links"]:
        os.symlink(target, base + link)
    for path in root["system"]:
        _show(path, base + path)
    for path in root["hidden"]:
        kernel.mount("tmpfs", base + path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=64k")
    for path in root["shown"]:
        _show(path, base + path)
    for path in root["devices"]:
        _show(path, base + path)  # a device can still be written to, and its node no longer changed
    os.makedirs(base + root["work"])
    for path in (*root["hidden"], ""):
        kernel.mount("none", base + path, None, _READ_ONLY)
    kernel.enter_root(base)


def _make_place(path: str, target: str) -> None:
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_RDONLY, 0o644))


def _show(path: str, target: str) -> None:
    from blade_gym.sandbox.inside import kernel

    if not os.path.exists(target):
        _make_place(path, target)
        kernel.mount(path, target, None, kernel.MS_BIND | kernel.MS_REC)
        kernel.make_read_only(target)


def _isolate(settings: Mapping[str, Any]) -> Callable[[], object]:
    """Isolate this process; returns what every job must still call."""
    work = settings["work"]
    if settings["walls"] == "none":
        os.chdir(work)
        return lambda: None
    from blade_gym.sandbox.inside import kernel

    if settings["walls"] == "namespaces":
        _build_root(settings["root"])
    else:
        for path in settings["root"]["devices"]:  # bubblewrap would close the device with its node
            kernel.make_read_only(path)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    size, files, user = (settings[name] for name in ("megabytes_of_files", "number_of_files", "user"))
    owner = "" if user is None else f",uid={user},gid={user}"
    kernel.mount("tmpfs", work, "tmpfs", flags, f"size={size}m,nr_inodes={files},mode=700{owner}")
    kernel.drop_privileges(user)
    os.chdir(work)

    def lock() -> None:
        kernel.landlock(["/"], [work, os.devnull])
        kernel.seccomp()

    return lock


def _kinds() -> dict[str, Callable[..., None]]:
    from blade_gym.sandbox.inside import judge, program

    return {"script": program.script, "serve": program.serve, "judge": judge.judge, "compare": judge.compare}


def _ask(module: Any) -> Callable[..., None]:
    """A job that answers one question about a model's text with a function of one of our own modules."""
    from blade_gym.sandbox.inside import guard

    def run(job: Mapping[str, Any], link: Any) -> None:
        guard.forbid_evaluation()
        try:
            answer = {"value": getattr(module, job["function"])(*job["arguments"])}
        except MemoryError:
            os._exit(_NO_MEMORY)
        except (Exception, RecursionError) as problem:  # noqa: BLE001 - whatever it was, it is the answer
            answer = {"raised": f"{type(problem).__name__}: {problem}"[:500]}
        link.send(answer)

    return run


class _Parent:
    """Lines from and to the process outside."""

    def __init__(self) -> None:
        self.waiting = bytearray()
        self.ended = False

    def read(self) -> None:
        more = os.read(0, _READ)
        self.ended = not more
        self.waiting += more

    def line(self) -> bytes | None:
        end = self.waiting.find(b"\n")
        if end < 0:
            return None
        found = bytes(self.waiting[:end])
        del self.waiting[: end + 1]
        return found

    def next_line(self) -> bytes | None:
        """Wait for a line; None at the end."""
        while (line := self.line()) is None:
            self.read()
            if self.ended:
                return None
        return line

    @staticmethod
    def send(kind: bytes, content: bytes) -> None:
        left = memoryview(kind + content + b"\n")
        while left:
            left = left[os.write(1, left) :]


class _Job:
    """One forked process, its pipes and its limits."""

    def __init__(
        self, job: Mapping[str, Any], run: Callable[..., None], lock: Callable[[], object], folder: str | None
    ) -> None:
        self.job = job
        self.begun = time.monotonic()
        self.why: str | None = None
        self.output = bytearray()
        self.partial, self.received = bytearray(), 0
        self.to_input = memoryview(str(job.get("stdin") or "").encode(errors="surrogateescape"))
        self.to_job = bytearray()
        stdin, self.input_end = os.pipe()
        self.output_end, stdout = os.pipe()
        messages, self.job_end = os.pipe()
        self.message_end, out = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            _become((stdin, stdout, messages, out), job, run, lock, folder)
        for inner in (stdin, stdout, messages, out):
            os.close(inner)
        for outer in (self.input_end, self.job_end):
            os.set_blocking(outer, False)
        if not self.to_input:
            self._close("input_end")

    def _close(self, name: str) -> None:
        number = getattr(self, name)
        if number >= 0:
            os.close(number)
            setattr(self, name, -1)

    def open_ends(self) -> list[tuple[int, int]]:
        """What to wait for."""
        wanted = [(end, select.POLLIN) for end in (self.output_end, self.message_end) if end >= 0]
        if self.to_input and self.input_end >= 0:
            wanted.append((self.input_end, select.POLLOUT))
        if self.to_job and self.job_end >= 0:
            wanted.append((self.job_end, select.POLLOUT))
        return wanted

    def serve(self, end: int) -> None:
        """Something can be read or written."""
        if end == self.output_end:
            self._take_output()
        elif end == self.message_end:
            self._take_messages()
        else:
            self._give(end)

    def _take_output(self) -> None:
        more = os.read(self.output_end, _READ)
        self.output += more
        if not more:
            self._close("output_end")
        elif len(self.output) > self.job["output_bytes"]:
            self.kill("output")

    def _take_messages(self) -> None:
        more = os.read(self.message_end, _READ)
        if not more:
            self._close("message_end")
        self.partial += more
        self.received += len(more)
        if len(self.partial) > self.job["message_bytes"] or self.received > self.job["total_bytes"]:
            self.kill("output")
            return
        if b"\n" not in more:
            return
        *lines, rest = bytes(self.partial).split(b"\n")
        self.partial = bytearray(rest)
        for line in filter(None, lines):
            _Parent.send(b"M", line)

    def _give(self, end: int) -> None:
        waiting = self.to_input[:_READ] if end == self.input_end else bytes(self.to_job[:_READ])
        try:
            sent = os.write(end, waiting)
        except BlockingIOError:
            return
        except OSError:  # it does not listen
            sent = len(self.to_input if end == self.input_end else self.to_job)
        if end == self.input_end:
            self.to_input = self.to_input[sent:]
            if not self.to_input:
                self._close("input_end")
        else:
            del self.to_job[:sent]

    def kill(self, why: str) -> None:
        """End it, once, for a reason."""
        if self.why is None:
            self.why = why
            os.kill(self.pid, signal.SIGKILL)
            self._close("output_end")
            self._close("message_end")

    def left(self) -> float:
        """Seconds until its time is up."""
        return max(0.0, self.begun + float(self.job["wall"]) - time.monotonic())

    def done(self) -> bool:
        return self.output_end < 0 and self.message_end < 0

    def end(self) -> dict[str, Any]:
        """Wait for the process until its time is up; returns what it used and how it ended."""
        pause = 0.0005
        while not (waited := os.wait4(self.pid, os.WNOHANG))[0]:  # it may have closed its pipes and still run
            if not self.left():
                self.kill("wall")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        _, status, used = waited
        for name in ("input_end", "output_end", "job_end", "message_end"):
            self._close(name)
        took, wall = used.ru_utime + used.ru_stime, time.monotonic() - self.begun
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        why = self.why
        if why is None and number is not None:
            why = "cpu" if number == signal.SIGXCPU or took >= float(self.job["cpu"]) else "signal"
        if why == "wall" and took > _COMPUTING * wall:
            why = "cpu" if took >= float(self.job["cpu"]) else "starved"
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        times = {"cpu": round(took, 3), "wall": round(wall, 3)}
        return {
            "why": why,
            "signal": number,
            "code": code,
            **times,
            "output": self.output.decode(errors="surrogateescape"),
        }


def _become(
    ends: tuple[int, int, int, int],
    job: Mapping[str, Any],
    run: Callable[..., None],
    lock: Callable[[], object],
    folder: str | None,
) -> None:
    """In the forked process: take the pipes, give up everything else, run the job, and end without cleaning up."""
    from blade_gym.sandbox.inside.wire import Link, allow_long_numbers

    # Moved away first: a pipe may already have the number that another one needs.
    stdin, stdout, messages, out = (os.dup2(end, 100 + place) for place, end in enumerate(ends))
    nothing = os.open(os.devnull, os.O_WRONLY)
    for target, source in enumerate((stdin, stdout, nothing, messages, out)):
        os.dup2(source, target)
    os.closerange(5, 256)
    allow_long_numbers()
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    try:
        _limit(resource.RLIMIT_AS, int(job["megabytes"]) << 20)
    except (ValueError, OSError):
        pass  # macOS does not limit the address space
    seconds = int(float(job["cpu"])) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    lock()
    if folder is not None:
        from blade_gym.sandbox.inside import guard

        guard.keep_inside(folder)
    code = 0
    try:
        run(job, Link())
    except BaseException:  # noqa: BLE001 - there is nobody left to report it to
        code = 1
    os._exit(code)


def _run(job: _Job, parent: _Parent) -> None:
    """Carry lines and bytes until the job has ended or its limits have."""
    while True:
        while (line := parent.line()) is not None:
            if line[:1] == b"M":
                job.to_job += line[1:] + b"\n"
            else:
                job.kill("stopped")
        if job.done():
            break
        poll = select.poll()
        poll.register(0, select.POLLIN)
        for end, wanted in job.open_ends():
            poll.register(end, wanted)
        ready = poll.poll(min(job.left(), _LONGEST_WAIT) * 1000)
        if not job.left():
            job.kill("wall")
            continue
        for end, _ in ready:
            if end == 0:
                parent.read()
            elif end in (job.output_end, job.message_end, job.input_end, job.job_end):
                job.serve(end)
        if parent.ended:
            _end_all(job)
    # Messages are passed on as they are read, so they all come before this line.
    _Parent.send(b"E", json.dumps(job.end()).encode())


def _end_all(job: _Job) -> None:
    """The parent was killed: end the job, what it started, and this process."""
    os.kill(job.pid, signal.SIGKILL)
    if os.getpgrp() == os.getpid():  # in a namespace, everything ends with its first process
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _ready(settings: Mapping[str, Any]) -> tuple[dict[str, Callable[..., None]], Callable[[], Any]]:
    """Isolate this process and load what jobs need; returns the kinds of jobs, and what each must call first."""
    _know_packages()
    sys.path[:] = [*settings["path"], *(path for path in sys.path if path)]
    sys.dont_write_bytecode = True
    lock = _isolate(settings)
    os.environ.clear()
    os.environ.update(settings["environment"])
    _limit(resource.RLIMIT_FSIZE, _SMALL_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    if (
        settings["walls"] != "none"
    ):  # counted per user of a namespace; on the host it would count the user's other processes too
        _limit(resource.RLIMIT_NPROC, _THREADS)
    if settings["module"] is None:
        return _kinds(), lock
    module = importlib.import_module(settings["module"])
    getattr(module, "warm", lambda: None)()
    return {"ask": _ask(module)}, lock


def main() -> None:
    """Get ready, report it, and run jobs until there are no more."""
    parent = _Parent()
    first = parent.next_line()
    if first is None:
        return
    settings = json.loads(first)
    try:
        kinds, lock = _ready(settings)
    except BaseException as problem:  # noqa: BLE001 - the parent must know, whatever it is
        _Parent.send(b"F", json.dumps(f"{type(problem).__name__}: {problem}"[:500]).encode())
        os._exit(1)
    gc.freeze()  # the collector of a fork need not visit what is loaded by now, so its pages stay shared
    _Parent.send(b"R", b"")
    folder = settings["work"] if settings["walls"] == "none" and settings["module"] is None else None
    while (line := parent.next_line()) is not None:
        if line[:1] != b"J":
            continue  # sent to a job that has ended in the meantime
        job = json.loads(line[1:])
        if job.get("contest"):
            from blade_gym.sandbox.inside import program

            program.contest_names()  # loaded once, for all jobs
        _run(_Job(job, kinds[job["job"]], lock, folder), parent)


if __name__ == "__main__":
    main()
