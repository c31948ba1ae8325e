"""One run from its options to its files: plan or go on, collect, and say how it ended."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.catalog.skills import SkillsPrompt, read_skills
from blade_gym.models.make import LOCAL
from blade_gym.run import collate as collating
from blade_gym.run import manifest as about
from blade_gym.run.artifacts import Artifacts, RowFile, write_document, write_rows
from blade_gym.run.collect import Collector, RolloutFiles, RunProgress
from blade_gym.run.manifest import draft_manifest
from blade_gym.run.options import RunOptions
from blade_gym.run.plan import PlanOptions, RolloutPlan, make_plan
from blade_gym.run.resume import EarlierRun, most_attempts, read_earlier, read_inputs
from blade_gym.run.setup import Close, RunSetup
from blade_gym.sandbox.walls import end_all

MOST_TOLD = 6


class RunListener(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller hears while a run goes on."""

    notice: Callable[[str], None] = lambda line: None
    progress: Callable[[RunProgress], None] = lambda progress: None


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    files: Artifacts
    progress: RunProgress
    expected: int
    stopped: signal.Signals | None = None
    given_up: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Rollouts of earlier runs that were not tried again, and why."""

    @property
    def complete(self) -> bool:
        """Whether every rollout has a reward, or is there where none was asked for."""
        return self.progress.done == self.expected


def run(setup: RunSetup, options: RunOptions, listener: RunListener) -> RunResult:
    """Make or go on with a run; raises before anything is written where it cannot be done."""
    if options.resume and options.overwrite:
        raise RequestError("--resume and --overwrite exclude each other", hint="give one of them")
    files = Artifacts(options.output)
    earlier = _earlier(files) if options.resume else None
    plan = make_plan(setup.sources, _plan_options(setup, options, earlier))
    for line in plan.notices:
        listener.notice(line)
    setup.admit(plan.tasks_by_agent)
    endpoints, close, name = setup.connect(plan.tasks_by_agent)
    draft = draft_manifest(setup, options, plan, name)
    rollouts = RowFile(files.rollouts)
    rollouts.lock()
    try:
        left, rows, started = _prepared(setup, files, draft, plan, earlier, options, listener)
        sink = RolloutFiles(rollouts=rollouts, failures=RowFile(files.failures))
        most, bad = most_attempts()
        collector = Collector(
            endpoints=endpoints,
            sink=sink,
            concurrency=draft["limits"]["concurrency"],
            most_attempts=most,
            on_progress=listener.progress,
        )
        for line in (*left.notices, *([bad] if bad else [])):
            listener.notice(line)
        progress = RunProgress(
            total=len(rows), done=len(left.done), rewards=sum(left.rewards), judged=len(left.rewards)
        )
        stopped = asyncio.run(_collected(collector, left.to_do(rows, most), progress, close))
        given_up = left.given_up(rows, most)
        sink.failures.close()
        if stopped is None and not progress.hopeless:
            _finish(files, started, progress)
    finally:
        rollouts.close()
    return RunResult(files=files, progress=progress, expected=len(rows), stopped=stopped, given_up=given_up)


async def _collected(
    collector: Collector, rows: Sequence[Mapping[str, Any]], progress: RunProgress, close: Close
) -> signal.Signals | None:
    """Collect, and stop in good order when asked to; a second request ends at once."""
    stop, asked = asyncio.Event(), list[signal.Signals]()
    loop = asyncio.get_running_loop()

    def ask(which: signal.Signals) -> None:
        asked.append(which)
        stop.set()
        loop.remove_signal_handler(which)

    for which in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(which, ask, which)
    try:
        if rows:
            await collector.collect(rows, progress, stop)
    finally:
        for which in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(which)
        await close()
        if asked:
            end_all()
    return asked[0] if asked else None


def _earlier(files: Artifacts) -> dict[str, Any] | None:
    """The manifest to go on from; None where no run got as far as its first rollout."""
    if not (files.manifest.is_file() and files.inputs.is_file()):
        return None
    try:
        value = json.loads(files.manifest.read_bytes())
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RequestError(f"{files.manifest} cannot be read", hint="start anew with --overwrite")
    return value


def _plan_options(setup: RunSetup, options: RunOptions, earlier: Mapping[str, Any] | None) -> PlanOptions:
    local = setup.model is not None and setup.model.type in LOCAL
    return PlanOptions(
        agent=options.agent,
        agents=setup.agents,
        limit=options.limit,
        repeats=options.repeats,
        sampling=options.sampling,
        add_seed=local if options.add_seed is None else options.add_seed,
        skills=_skills(options, earlier),
        shard=options.shard,
    )


def _skills(options: RunOptions, earlier: Mapping[str, Any] | None) -> SkillsPrompt | None:
    """The skills as they are now; as the manifest has them where their folder is gone since."""
    if options.skills_path is None:
        return None
    known = earlier.get("skills_ref") if earlier else None
    try:
        return read_skills(options.skills_path)
    except RequestError:
        if isinstance(known, Mapping) and known.get("path") == options.skills_path:
            return SkillsPrompt(ref=known, text="")
        raise


def _collated(setup: RunSetup, files: Artifacts) -> list[str]:
    """The split's data sets beside the rollouts, where the rows come from data sets; gives what is worth a word."""
    if not setup.datasets or setup.split not in collating.SPLITS:
        return []
    return collating.collate(setup.sources, setup.datasets, str(setup.split), files.rollouts)


def _prepared(
    setup: RunSetup,
    files: Artifacts,
    draft: dict[str, Any],
    plan: RolloutPlan,
    earlier: dict[str, Any] | None,
    options: RunOptions,
    listener: RunListener,
) -> tuple[EarlierRun, Sequence[Mapping[str, Any]], dict[str, Any]]:
    """What is left to do of which rows, and the manifest: of the earlier run, or of a new one."""
    if earlier is None:
        if options.resume:
            _nothing_to_lose(files)
            listener.notice(f"nothing to go on with at {files.rollouts}: a new run starts")
        if not options.overwrite:
            _replaceable(files, draft)
        _cleared(files, listener)
        for line in _collated(setup, files):
            listener.notice(line)
        write_document(files.manifest, draft)
        write_rows(files.inputs, plan.rows)
        return EarlierRun(), plan.rows, draft
    changed = about.differences(earlier, draft)
    if changed:
        raise RequestError(
            f"{files.rollouts} is of another run; it differs in {_listed(changed)}",
            hint="go on with the same options, start anew with --overwrite, or give another --output",
        )
    kept = {**earlier, "ended_at": None}
    write_document(files.manifest, kept)
    return read_earlier(files), read_inputs(files.inputs), kept


def _nothing_to_lose(files: Artifacts) -> None:
    """Rows without the manifest and inputs that they were made from cannot be gone on with, nor thrown away."""
    if files.rollouts.stat().st_size:
        raise RequestError(
            f"{files.rollouts} holds rows, and no manifest and inputs to go on from",
            hint="give another --output; --overwrite without --resume starts anew",
        )


def _listed(changed: Sequence[str]) -> str:
    more = f" and {len(changed) - MOST_TOLD} more" if len(changed) > MOST_TOLD else ""
    return "; ".join(changed[:MOST_TOLD]) + more


def _replaceable(files: Artifacts, draft: Mapping[str, Any]) -> None:
    """A new run takes the place of a finished one of the same settings; raises where anything else has rollouts."""
    if not files.rollouts.stat().st_size:
        return
    before = _earlier_or_none(files)
    if not before or not before.get("ended_at"):
        what = "a run that did not end" if before else "rows of an unknown run"
        raise RequestError(
            f"{files.rollouts} holds {what}",
            hint=f"{'--resume goes on with it; ' if before else ''}--overwrite starts anew",
        )
    changed = about.differences(before, draft) or about.moved(before, draft)
    if changed:
        raise RequestError(
            f"{files.rollouts} holds a finished run of other settings: {_listed(changed)}",
            hint="give another --output, or --overwrite to replace it",
        )


def _cleared(files: Artifacts, listener: RunListener) -> None:
    """Nothing of an earlier run is left, and that is said."""
    size = files.rollouts.stat().st_size
    removed = [path for path in files.all if path != files.rollouts and path.is_file()]
    for path in removed:
        path.unlink()
    if size:
        with files.rollouts.open("r+b") as file:
            file.truncate()
        removed.append(files.rollouts)
    if removed:
        names = ", ".join(sorted(path.name for path in removed))
        listener.notice(f"an earlier run at {files.rollouts} is replaced: {names}")


def _earlier_or_none(files: Artifacts) -> dict[str, Any] | None:
    try:
        return _earlier(files)
    except RequestError:
        return None


def _finish(files: Artifacts, started: dict[str, Any], progress: RunProgress) -> None:
    counts = {"expected": progress.total, "rollouts": progress.done, "failed": dict(sorted(progress.failed.items()))}
    write_document(files.manifest, {**started, "ended_at": about.now(), "counts": counts})
