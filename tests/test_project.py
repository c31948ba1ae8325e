"""What the repository promises about itself: commands, lock file, clean text, light imports."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("polars", "numpy", "scipy")
NETWORK = ("aiohttp", "http.client", "httpx", "openai", "requests", "ssl", "urllib.request", "urllib3")
ASK_HELP = "import sys; from blade.cli.main import main; sys.argv = ['blade', '--help']; sys.exit(main())"
DATA = (".json", ".jsonl", ".gz", ".zst", ".eval", ".parquet")
"""Rollouts hold whatever an agent typed, so only the text of the project itself is searched for machine paths."""

PAGES = sorted((ROOT / "docs").glob("*.md"))
REFERENCE = sorted((ROOT / "docs/reference").glob("*.md"))

needs_cli = pytest.mark.skipif(
    not (ROOT / "src/blade/cli/main.py").exists(), reason="needs the command line, src/blade/cli/main.py"
)


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def tracked() -> list[str]:
    """Files that git has or would take; every file outside hidden and cache folders where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listed.stdout.split("\n") if listed.returncode == 0 else walked()
    return sorted(name for name in names if name and (ROOT / name).is_file())


def walked() -> list[str]:
    skipped = {".git", ".venv", "__pycache__", "demo_report", "outputs", "build", "dist"}
    paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
    return [
        path.as_posix() for path in paths if not any(part in skipped or part.endswith("_cache") for part in path.parts)
    ]


def prose(name: str) -> str:
    """Text of a file; empty for one that is not text."""
    try:
        return read(name)
    except UnicodeDecodeError:
        return ""


def test_readme_opens_with_commands_that_the_makefile_has() -> None:
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), flags=re.MULTILINE))
    named = re.findall(r"make ([a-z]+)", read("README.md").split("\n## ", maxsplit=1)[0])
    assert named[:2] == ["demo", "test"]
    assert set(named) <= targets
    assert {"setup", "demo", "test", "check", "docs", "perf", "clean"} <= targets


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "AGENTS.md", "docs/quickstart.md"])
def test_commands_of_the_guides_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", read(name))) <= targets


def test_license_is_apache_2_in_text_and_metadata() -> None:
    assert "Apache License" in read("LICENSE")
    assert "END OF TERMS AND CONDITIONS" in read("LICENSE")
    assert tomllib.loads(read("pyproject.toml"))["project"]["license"] == "Apache-2.0"


def test_ci_runs_what_a_developer_runs() -> None:
    assert read(".ci/run").rstrip().endswith("make check test")
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def test_lock_holds_names_versions_and_hashes_only() -> None:
    pinned = re.compile(r"[a-z0-9._-]+==[^\s;]+( ; [^\\/:]+)? \\")
    hashed = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    odd = [
        line
        for line in read("requirements.lock").splitlines()
        if not (pinned.fullmatch(line) or hashed.fullmatch(line))
    ]
    assert odd == []


def test_lock_meets_every_declared_bound() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    extras = project["project"].get("optional-dependencies", {})
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [line for lines in extras.values() for line in lines]
    locked: dict[str, list[Version]] = {}
    for name, version in re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", read("requirements.lock"), flags=re.MULTILINE):
        locked.setdefault(name, []).append(Version(version))
    for requirement in map(Requirement, wanted):
        versions = locked.get(requirement.name.lower().replace("_", "-"), [])
        assert versions, f"{requirement.name} is not in requirements.lock; run `make lock`"
        assert all(version in requirement.specifier for version in versions), f"{requirement} against {versions}"


def test_every_dependency_is_bounded_on_both_sides() -> None:
    for requirement in map(Requirement, tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]):
        assert {part.operator for part in requirement.specifier} == {">=", "<"}, requirement


@needs_cli
def test_every_runtime_dependency_is_used() -> None:
    modules = {"google-re2": "re2", "markdown-it-py": "markdown_it", "pyyaml": "yaml"}
    code = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    for requirement in map(Requirement, tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]):
        module = modules.get(requirement.name, requirement.name)
        used = rf"^\s*(import|from) {module}\b|import_module\(\"{module}\"\)"
        assert re.search(used, code, flags=re.MULTILINE), f"nothing imports {module}"


def test_lock_files_that_record_an_index_are_ignored() -> None:
    assert "uv.lock" in read(".gitignore").splitlines()
    assert "uv.lock" not in tracked()


def test_uv_uses_the_environment_that_is_there_and_locks_nothing() -> None:
    assert tomllib.loads(read("pyproject.toml"))["tool"]["uv"]["managed"] is False


def test_no_file_names_a_machine_or_a_package_index() -> None:
    machine = re.compile(r"(?<![\w.}$/-])/(?:root|opt|work|workspace|mnt|home/\w+|Users/\w+)/[\w.]")
    index = re.compile(r"pypi\.org|pythonhosted\.org|--(?:extra-)?index-url[ =]+\S*:|--find-links|trusted-host")
    here = (str(ROOT), str(Path.home()) + "/") if len(ROOT.parts) > 2 else ()
    own = Path(__file__).relative_to(ROOT).as_posix()
    found = []
    for name in tracked():
        if name == own or name.endswith(DATA):
            continue
        text = prose(name)
        if machine.search(text) or index.search(text) or any(path in text for path in here):
            found.append(name)
    assert found == []


def test_examples_do_not_name_this_checkout() -> None:
    assert [name for name in tracked() if name.startswith("examples/") and str(ROOT) + "/" in prose(name)] == []


def test_links_between_docs_lead_somewhere() -> None:
    pages = [name for name in tracked() if name.endswith(".md") and not name.startswith("tests/golden/")]
    broken = [
        f"{page} -> {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", read(page))
        if not ((ROOT / page).parent / target).exists()
    ]
    assert broken == []


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`, as GitHub derives it from headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_links_lead_to_headings_that_are_there() -> None:
    pages = [ROOT / name for name in tracked() if name.endswith(".md") and not name.startswith("tests/")]
    broken = [
        f"{page.relative_to(ROOT)} -> {target}#{anchor}"
        for page in pages
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", page.read_text("utf-8"))
        if (aim := page.parent / target if target else page).suffix == ".md" and anchor not in anchors(aim)
    ]
    assert broken == []


@pytest.mark.parametrize("index", ["docs/README.md", "docs/llms.txt"])
def test_both_indexes_name_every_page(index: str) -> None:
    named = set(re.findall(r"\]\(([\w-]+\.md)\)", read(index)))
    named |= set(re.findall(r"\]\((reference/[\w-]+\.md)\)", read(index)))
    assert {path.relative_to(ROOT / "docs").as_posix() for path in PAGES + REFERENCE} - {"README.md"} <= named


def test_the_docs_are_few_pages() -> None:
    assert len(PAGES) <= 12, "merge pages; what the code can generate belongs in docs/reference"
    folders = {path.name for path in (ROOT / "docs").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {"reference", "schemas", "tutorial"}


def test_the_reference_is_generated() -> None:
    assert [path.name for path in REFERENCE if "<!-- " not in path.read_text("utf-8")] == []


def loaded(program: str) -> set[str]:
    """Modules that are in memory after `program` ran in a fresh interpreter."""
    ending = "\nimport json, sys\nsys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program + ending], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    )
    return set(json.loads(done.stderr.strip().splitlines()[-1]))


def test_import_blade_is_light() -> None:
    assert loaded("import blade").isdisjoint([*HEAVY, *NETWORK])


@needs_cli
def test_help_is_light() -> None:
    assert loaded(f"try:\n    {ASK_HELP}\nexcept SystemExit:\n    pass").isdisjoint([*HEAVY, *NETWORK])


@needs_cli
def test_a_small_run_waits_for_nothing_that_it_does_not_use() -> None:
    run = "from blade.cli.main import command_line\ntry:\n    command_line()(['analyze', 'examples/arithmetic', '--json'])\nexcept SystemExit:\n    pass"
    assert loaded(run).isdisjoint([*NETWORK, "pydantic", "scipy", "yaml", "multiprocessing.context", "markdown_it"])


@needs_cli
def test_help_answers_and_names_the_commands() -> None:
    done = subprocess.run([sys.executable, "-c", ASK_HELP], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(command in done.stdout for command in ("analyze", "show", "sql"))


@needs_cli
def test_every_public_name_can_be_imported() -> None:
    import blade

    assert {"analyze", "load_run"} <= set(blade.__all__)
    for name in blade.__all__:
        assert getattr(blade, name) is not None
    assert set(blade.__all__) <= set(dir(blade))


@needs_cli
def test_an_unknown_public_name_is_an_attribute_error() -> None:
    import blade

    with pytest.raises(AttributeError, match="no_such_name"):
        _ = blade.no_such_name


def test_the_package_is_typed() -> None:
    spec = find_spec("blade")
    assert spec is not None
    assert spec.submodule_search_locations
    assert (Path(spec.submodule_search_locations[0]) / "py.typed").exists()
