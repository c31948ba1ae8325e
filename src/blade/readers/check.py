"""Whether a reader's attribution can be used: the rollout is in the run, the mode is known, every quote stands in the rollout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import cast

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.attribution.attribute import labels_of
from blade.custom_rules.find_rule_book import rule_book_of
from blade.evidence.verbatim import nearest, standing, texts_of
from blade.model.attribution import UNATTRIBUTED, Confidence, Responsible
from blade.model.errors import BladeError, RequestError
from blade.model.reading import SOUND, QuotedWords, ReaderAttribution, Readings
from blade.model.rollout import Rollout
from blade.model.run import Run
from blade.modes.catalog import by_code
from blade.readers.entries import ReaderEntry, decoded, entry_of, mode_named
from blade.readers.store import lines_of

TOGETHER = 50
"""Rollouts that are read again at a time: a sample is one reading, and many rollouts do not fill the memory."""
MOST_SHOWN = 3

Place = tuple[str, int]


class CheckedEntry(Struct, frozen=True, kw_only=True):
    """An entry that holds, as a reading, or why it does not."""

    where: str
    entry: ReaderEntry
    reading: ReaderAttribution | None = None
    refusal: BladeError | None = None


class OwnModes(Struct, kw_only=True):
    """The modes that readers define, each with its sentence and its party; the last definition counts."""

    known: dict[str, tuple[str, str | None]] = {}

    def learn(self, entry: ReaderEntry) -> None:
        """Keep what an entry defines; raises where it does not say who has to act."""
        if entry.define and entry.party is None:
            raise RequestError(
                f"the mode {entry.define!r} is defined without a party", hint="--party says who has to act"
            )
        if entry.define:
            self.known[entry.define] = (entry.definition, entry.party)


def checked(entries: Sequence[tuple[str, ReaderEntry]], run: Run, own: OwnModes) -> Iterator[CheckedEntry]:
    """Each entry about a rollout of the run with its reading or why it has none, in order; the artifacts are read again."""
    packaged = labels_of_package(run) if entries else {}
    for start in range(0, len(entries), TOGETHER):
        some = entries[start : start + TOGETHER]
        rollouts = _read_again(run, [(entry.task_id, entry.repeat) for _, entry in some])
        for where, entry in some:
            try:
                found = _reading(entry, run, rollouts.get((entry.task_id, entry.repeat)), own, packaged)
            except BladeError as refusal:
                yield CheckedEntry(where=where, entry=entry, refusal=refusal)
            else:
                yield CheckedEntry(where=where, entry=entry, reading=found)


def worded(refusal: BladeError) -> str:
    """Why an entry is refused, with what helps, in a line."""
    return f"{refusal.message} ({refusal.hint})" if refusal.hint else refusal.message


def _read_again(run: Run, places: Sequence[Place]) -> dict[Place, Rollout | BladeError]:
    """The rollouts at places that the run has and that have a row; what stands in the way of one is kept for it alone."""
    table = run.rollouts.filter(pl.col("task_id").is_in(sorted({task for task, _ in places})))
    there = {(task, repeat) for task, repeat in table.drop_nulls("artifact").select("task_id", "repeat").iter_rows()}
    wanted = sorted(there.intersection(places))
    try:
        return dict(zip(wanted, run.reread(wanted), strict=True))
    except BladeError:
        return {place: _alone(run, place) for place in wanted}


def mark_of(rollout: Rollout) -> str:
    """A fingerprint of what was said and done: by it a rollout is known whatever its run is called."""
    said = [text for step, text in texts_of(rollout) if step is not None] or [rollout.answer or ""]
    return blake2b("\0".join(said).encode(errors="replace"), digest_size=8).hexdigest()


def _alone(run: Run, place: Place) -> Rollout | BladeError:
    try:
        return run.reread([place])[0]
    except BladeError as why:
        return why


def outcome_of(run: Run, entry: ReaderEntry) -> str:
    """How the rollout ended that an entry is about; raises with what the run has in its place."""
    of_task = run.rollouts.filter(pl.col("task_id") == entry.task_id).select("repeat", "outcome")
    outcomes = dict(of_task.iter_rows())
    if entry.repeat in outcomes:
        return str(outcomes[entry.repeat])
    if outcomes:
        has = ", ".join(f"{entry.task_id}#{repeat}" for repeat in sorted(outcomes)[:8])
        raise RequestError(f"the run {run.name} has no rollout {entry.location}", hint=f"it has {has}")
    known = run.tasks["task_id"].to_list()
    near = [name for name in known if entry.task_id.lower() in name.lower()] or known
    more = ", ..." if len(near) > MOST_SHOWN else ""
    raise RequestError(
        f"the run {run.name} has no task {entry.task_id!r}",
        hint=f"tasks are called {', '.join(near[:MOST_SHOWN])}{more}",
    )


def _reading(
    entry: ReaderEntry,
    run: Run,
    rollout: Rollout | BladeError | None,
    own: OwnModes,
    of_package: Mapping[str, str],
) -> ReaderAttribution:
    """The reading of an entry; `rollout` is what was read again, why it could not be, or None where it is missing."""
    passed = outcome_of(run, entry) == "passed"
    if not entry.mode:
        raise RequestError(f"{entry.location}: no mode is given", hint="--mode CODE; `blade modes` lists them")
    mode = mode_named(entry.mode, [*own.known, *of_package], passed=passed)
    if isinstance(rollout, BladeError):
        raise rollout
    if not entry.quotes and not entry.note and mode not in (SOUND, UNATTRIBUTED):
        raise RequestError(
            f"{entry.location}: neither a quote nor a note",
            hint="--quote shows it; where nothing is there to quote, --note",
        )
    if entry.confidence is Confidence.PROVEN and not entry.quotes:
        raise RequestError(
            f"{entry.location}: proven without a quote", hint="--quote proves it; without one it is likely"
        )
    mark = mark_of(rollout) if rollout is not None else ""
    if entry.mark not in ("", mark) and not entry.quotes:
        raise RequestError(f"{entry.location}: the rollout is another one now, and no quote shows that it still holds")
    definition, party = own.known.get(mode, ("", None))
    declared = by_code().get(mode)
    usual = declared.party if declared else of_package.get(mode, "unknown")
    return ReaderAttribution(
        run=run.name,
        task_id=entry.task_id,
        repeat=entry.repeat,
        mode=mode,
        party=cast("Responsible", "unknown" if mode in (SOUND, UNATTRIBUTED) else entry.party or party or usual),
        by=entry.by,
        confidence=entry.confidence,
        subject=entry.subject,
        quotes=tuple(_located(quote, rollout, entry) for quote in entry.quotes),
        note=entry.note,
        definition=definition,
        artifact=Path(rollout.source.artifact).name if rollout is not None else "",
        mark=mark,
        sample=entry.sample,
    )


def _located(quote: str, rollout: Rollout | None, entry: ReaderEntry) -> QuotedWords:
    """Where the words stand; raises with the nearest words that do."""
    if rollout is None:
        raise RequestError(f"{entry.location} is missing: there is nothing to quote", hint="--note says what you saw")
    step, field = next(standing(rollout, quote), (None, None))
    if field is None:
        near = nearest(rollout, quote)
        place = entry.location + (f":{near.step}" if near is not None and near.step is not None else ", in the row")
        hint = (
            f'nearest, {place}: "{near.text}"' if near else f"blade show RUN {entry.location} shows what stands there"
        )
        raise RequestError(f"{entry.location}: the quote is not there word for word: {quote!r}", hint=hint)
    return QuotedWords(quote=quote, field=field, step=step)


def labels_of_package(run: Run) -> dict[str, str]:
    """The labels of the benchmark's package that are modes too, with who has to act."""
    book = run.rule_book or rule_book_of(run.benchmark, [Path(root) for root in run.roots.values()])
    return {one.name: one.party for one in labels_of(book.labels)} if book is not None else {}


class KeptEntries(Struct, kw_only=True):
    """The entries of some files that count: of each reader on each rollout the latest."""

    entries: dict[tuple[str, str | None, str, int], tuple[str, ReaderEntry]] = {}
    own: OwnModes
    unused: list[str] = []

    def take(self, where: str, entry: ReaderEntry) -> None:
        self.own.learn(entry)
        key = (entry.by, entry.run, entry.task_id, entry.repeat)
        if entry.task_id:
            self.entries.pop(key, None)
            if not entry.remove:
                self.entries[key] = where, entry


def kept_in(paths: Sequence[Path]) -> KeptEntries:
    """What some files hold; lines that cannot be used are listed."""
    kept = KeptEntries(own=OwnModes(known={}), entries={}, unused=[])
    for where, line in (one for path in paths for one in lines_of(path)):
        try:
            kept.take(where, entry_of(decoded(line)))
        except RequestError as refusal:
            kept.unused.append(f"{where}: {worded(refusal)}")
    return kept


def with_readings(runs: Sequence[Run], paths: Sequence[Path]) -> tuple[Run, ...]:
    """The runs with what readers say of their rollouts. What cannot be used is said at the run that it is about, or where no
    run is named, at the first.
    """
    if not paths:
        return tuple(runs)
    kept = kept_in(paths)
    unused = (*kept.unused, *_of_other_runs(kept, runs))
    found = []
    for number, run in enumerate(runs):
        mine = [(where, entry) for where, entry in kept.entries.values() if _is_about(entry, run, runs)]
        results = list(checked(mine, run, kept.own))
        refused = [f"{one.where}: {worded(one.refusal)}" for one in results if one.refusal is not None]
        used: dict[tuple[str, str], ReaderAttribution] = {}
        for reading in (one.reading for one in results if one.reading is not None):
            # The same reader may have called the run by another name before.
            used.pop((reading.by, reading.location), None)
            used[reading.by, reading.location] = reading
        readings = Readings(
            used=tuple(used.values()),
            unused=(*(unused if number == 0 else ()), *refused),
            files=tuple(path.name for path in paths),
        )
        found.append(replace(run, readings=readings))
    return tuple(found)


def _of_other_runs(kept: KeptEntries, runs: Sequence[Run]) -> list[str]:
    """How many entries are about each run that is not among these."""
    entries = [entry for _, entry in kept.entries.values()]
    others = Counter(entry.run for entry in entries if not any(_is_about(entry, run, runs) for run in runs))
    return [f"{times:,} of the run {name or 'that is not named'}, which is not here" for name, times in others.items()]


def _is_about(entry: ReaderEntry, run: Run, runs: Sequence[Run]) -> bool:
    """By the name of the run; where no run has that name, by the name of the file and the output of the rollout."""
    if entry.run == run.name or (entry.run is None and len(runs) == 1):
        return True
    if entry.run in [other.name for other in runs] or entry.artifact not in {
        Path(root).name for root in run.roots.values()
    }:
        return False
    rollout = _alone(run, (entry.task_id, entry.repeat))
    return isinstance(rollout, Rollout) and bool(entry.mark) and mark_of(rollout) == entry.mark
