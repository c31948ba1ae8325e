"""A whole package drafted from rollouts: made beside its place and moved there when all of it is written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from blade.analysis import load
from blade.ingest.artifacts import SUFFIXES, Bundle, find
from blade.ingest.runs import is_nameable, safe_name
from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import RuleStatistics
from blade.model.errors import ArtifactError, RequestError
from blade.model.options import Options
from blade.package.data import Data
from blade.package.draft_book import LabelDraft, book_text, kept_labels, label_drafts
from blade.package.draft_golden import sidecar_text, with_open_points
from blade.package.draft_notes import clearance_text, notes_text
from blade.package.draft_skill import skill_text
from blade.package.extract import extract
from blade.package.facts import Fact, facts_text
from blade.package.golden_text import golden_text, narrowed
from blade.package.layout import find_package
from blade.package.open_points import CLEARANCE
from blade.package.shallow import shallow

FACTS = 12
_NAMES = {role: suffix for suffix, role in SUFFIXES}
_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True, kw_only=True)
class Drafted:
    """What was written, in order of name."""

    folder: Path
    files: tuple[str, ...]


def draft_package(name: str, inputs: Sequence[str], folder: Path, *, force: bool = False) -> Drafted:
    """Draft the package of a benchmark; RequestError when files stand in the way and `force` is not given."""
    if not is_nameable(name) or safe_name(name) != name:
        raise RequestError(f"{name!r} cannot name a benchmark", hint="letters, digits, '.', '_' and '-'")
    if not inputs:
        raise RequestError("no rollouts to draft from", hint="give them: --from results/rollouts.jsonl")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".blade-", dir=folder.parent) as staging:
            # Under its last name: a benchmark may be known by the folder of its package.
            made = Path(staging) / folder.resolve().name
            _fill(made, name, inputs)
            return _move(made, folder, force=force)
    except OSError as error:
        hint = "give a folder that can be written"
        raise RequestError(f"cannot write to {folder}: {error.strerror or error}", hint=hint) from None


def _fill(made: Path, name: str, inputs: Sequence[str]) -> None:
    stem = _copy_rollouts(inputs, made / "rollouts")
    # The parts of a package make a folder one, and its benchmark is known by that.
    (made / "skill").mkdir()
    (made / "golden_reports").mkdir()
    data = Data(find_package(made))
    one = _run_of(stem, data)
    drafts = label_drafts(one)
    book = made / "skill" / "blade.yaml"
    book.write_text(book_text(name, one, drafts), encoding="utf-8")
    data = Data(find_package(made))
    seen = _seen(one.run.name, data)
    kept = kept_labels(drafts, seen)
    book.write_text(book_text(name, one, kept, seen), encoding="utf-8")
    _write_skill(made, name, stem, data, kept, seen)
    _write_golden(made, name, stem, data)


def _run_of(stem: str, data: Data) -> RunAnalysis:
    """The first run of the file with that stem."""
    file = next(file for file in data.files if file.path.name.startswith(f"{stem}_rollouts."))
    return data.analyzed(file.runs[0])


def _seen(run: str, data: Data) -> dict[str, RuleStatistics]:
    """What the labels of the package saw in a run."""
    found = next(one for one in data.with_rule_book.runs if one.run.name == run).diagnosis
    return {look.code: look for look in found.rule_statistics if look.custom} if found is not None else {}


def _write_skill(
    made: Path, name: str, stem: str, data: Data, kept: Sequence[LabelDraft], seen: dict[str, RuleStatistics]
) -> None:
    files = sorted((file.shown for file in data.files), key=lambda shown: f"/{stem}_rollouts." not in shown)
    skill = skill_text(name, _run_of(stem, data), kept, seen, files)
    (made / "skill" / "SKILL.md").write_text(skill, encoding="utf-8")
    runs = [(file.path.name, run) for file in data.files for run in data.runs if run.name in file.runs]
    (made / "rollouts" / "RUN_NOTES.md").write_text(notes_text(runs), encoding="utf-8")
    (made / CLEARANCE).write_text(clearance_text(), encoding="utf-8")


def _write_golden(made: Path, name: str, stem: str, data: Data) -> None:
    """A golden report on the run that was given first, with what stands beside it."""
    one = _run_of(stem, data)
    report = golden_text(data.analysis, one.run.name)
    # Where models are compared, a sentence taken alone no longer says whose rollout it is about.
    alone = golden_text(narrowed(data.analysis, one.run.name), one.run.name)
    folder = made / "golden_reports"
    model = one.run.model or stem
    texts = {
        f"{stem}_golden_report.md": with_open_points(report),
        f"{stem}_golden_report_metrics.json": sidecar_text(name, model, one),
        f"{stem}_anchor_facts.json": facts_text(name, model, _facts(alone, model)),
        f"{stem}_shallow.md": shallow(report),
    }
    for file_name, text in texts.items():
        (folder / file_name).write_text(text, encoding="utf-8")


def _facts(report: str, model: str) -> list[Fact]:
    """Drafts that need reading, numbered anew."""
    made = [fact for fact in extract(report, 2 * FACTS, model) if not fact.aggregate_only]
    return [replace(fact, id=f"B{number}") for number, fact in enumerate(made[:FACTS], start=1)]


def _copy_rollouts(inputs: Sequence[str], folder: Path) -> str:
    """Copies rollouts with their sidecars; returns what the files of the first are named after."""
    folder.mkdir(parents=True)
    taken: dict[str, Path] = {}
    for found in (find([each]) for each in inputs):
        if found.analyses:
            raise ArtifactError("an earlier analysis holds no rollouts to copy", hint="give the rollouts file itself")
        for bundle in found.bundles:
            if bundle.path.resolve() not in taken.values():
                stem = _stem(bundle, taken)
                taken[stem] = bundle.path.resolve()
                _copy(bundle, folder, stem)
    return next(iter(taken))


def _stem(bundle: Bundle, taken: Container[str]) -> str:
    """What the files of a run are named after: the run, or the file where it holds several."""
    ending = next((end for end in _ENDINGS if bundle.path.name.endswith(end)), None)
    if ending is None:
        raise ArtifactError(
            f"{bundle.path} is not in JSON lines", hint="a package holds *.jsonl, *.jsonl.gz or *.jsonl.zst"
        )
    runs = load([str(bundle.path)], Options(metrics_only=True))
    plain = safe_name(bundle.path.name.removesuffix(ending)).removesuffix("_rollouts")
    wanted = bundle.name or (runs[0].name if len(runs) == 1 else plain)
    wanted = wanted.removesuffix("_rollouts")
    for candidate in (wanted, f"{wanted}-{plain}"):
        if candidate not in taken:
            return candidate
    return next(name for number in range(2, 10_000) if (name := f"{wanted}-{number}") not in taken)


def _copy(bundle: Bundle, folder: Path, stem: str) -> None:
    ending = next(end for end in _ENDINGS if bundle.path.name.endswith(end))
    shutil.copyfile(bundle.path, folder / f"{stem}_rollouts{ending}")
    for role, path in sorted(bundle.sidecars.items()):
        suffix = _NAMES.get(role) or ("_config" if role == "config" else None)
        if suffix is not None:
            tail = "".join(path.suffixes[-2:]) if path.name.endswith((".gz", ".zst")) else path.suffix
            shutil.copyfile(path, folder / f"{stem}_rollouts{suffix}{tail}")


def _move(made: Path, folder: Path, *, force: bool) -> Drafted:
    files = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    there = [file.as_posix() for file in files if (folder / file).exists()]
    if there and not force:
        listed = ", ".join(there[:5]) + (f" and {len(there) - 5} more" if len(there) > 5 else "")
        raise RequestError(f"{folder} already has {listed}", hint="--force writes over them; nothing was changed")
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (made / file).replace(folder / file)
    return Drafted(folder=folder, files=tuple(file.as_posix() for file in files))
