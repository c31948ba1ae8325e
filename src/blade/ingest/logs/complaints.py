"""One-line complaints of shells, package managers, programs and the system, told by the shape of the whole line.

A line that only talks about an error has another shape. Each pattern needs its string, which is searched for first.
"""

# ruff: noqa: RUF001 - the quotes are those that the tools print
from __future__ import annotations

from dataclasses import dataclass

from blade.ingest.logs.reading import Gathered, PrintedText
from blade.model.log import EventKind
from blade.model.pattern import pattern_of

_BEFORE = (
    r"(?:E  +|#\d+ [\d.]+ |INTERNALERROR> |\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+ (?:\[?[A-Z]+\]?:? )?|\[[^\]\n]{1,40}\] )?"
)
"""What may stand before a line: pytest's mark, a build step, a stamp, a tag."""
_SHELL = r"(?:(?:/\S*/)?(?:ba|da|z|k|fi|a)?sh|[^\s:]+\.(?:sh|bash|ps1)|[^\s:]*/[^\s:]+)"
_RAISED = r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout|Refused|Failure|Expired)"


@dataclass(frozen=True, slots=True)
class Complaint:
    """A kind of line: the string that is in it, and its shape, from its start on."""

    kind: EventKind
    source: str
    needle: str
    shape: str


def _all(kind: EventKind, source: str, *pairs: tuple[str, str]) -> tuple[Complaint, ...]:
    return tuple(Complaint(kind, source, needle, shape) for needle, shape in pairs)


COMPLAINTS: tuple[Complaint, ...] = (
    *_all(
        "shell-error",
        "shell",
        ("command not found", _SHELL + r": (?:(?:line )?\d+: )?(?P<subject>[^\s:]+): command not found$"),
        ("command not found: ", r"(?:zsh|ksh): (?:\d+: )?command not found: (?P<subject>\S+)$"),
        (": not found", _SHELL + r": (?:line )?\d+: (?P<subject>[^\s:]+): not found$"),
        (
            "Permission denied",
            r"(?:[\w./+-]+: )(?:(?:line )?\d+: )?(?:[a-z ]+ )?['‘\"]?(?P<subject>[^\s:'’\"]+)['’\"]?: Permission denied$",
        ),
        (
            "No such file or directory",
            r"(?:[\w./+-]+: )(?:(?:line )?\d+: )?(?:(?:cannot|can't|failed to|unable to) [a-z ]+ )?['‘\"]?(?P<subject>[^\s:'’\"]+)['’\"]?: No such file or directory$",
        ),
        (
            "cannot execute",
            _SHELL + r": (?:(?:line )?\d+: )?(?P<subject>[^\s:]+): cannot execute(?: binary file| file|:).*$",
        ),
        ("syntax error", _SHELL + r": (?:-c: )?(?:(?:line )?\d+: )(?P<subject>)(?:-c: )?[Ss]yntax error.*$"),
    ),
    *_all(
        "install-failed",
        "apt",
        ("E: Unable to locate package", r"E: Unable to locate package (?P<subject>\S+)"),
        ("has no installation candidate", r"E: Package '(?P<subject>[^']+)' has no installation candidate"),
        ("E: Failed to fetch", r"E: Failed to fetch (?P<subject>\S+)"),
        ("E: Unable to fetch some archives", r"E: Unable to fetch some archives"),
        ("E: Could not get lock", r"E: Could not get lock (?P<subject>\S+)"),
        ("E: Sub-process", r"E: Sub-process (?P<subject>\S+) returned an error code"),
        ("E: The repository", r"E: The repository '(?P<subject>[^']+)'"),
        ("E: Version '", r"E: Version '[^']*' for '(?P<subject>[^']+)' was not found"),
        ("dpkg: error", r"dpkg: error processing (?:package|archive) (?P<subject>\S+)"),
    ),
    *_all(
        "install-failed",
        "pip",
        (
            "Could not find a version",
            r"(?:ERROR: )?Could not find a version that satisfies the requirement (?P<subject>\S+)",
        ),
        ("No matching distribution", r"ERROR: No matching distribution found for (?P<subject>\S+)"),
        ("Failed building wheel", r"\s*ERROR: Failed building wheel for (?P<subject>\S+)"),
        ("subprocess-exited-with-error", r"\s*(?:×|error:|ERROR:)\s.*?subprocess-exited-with-error"),
        ("externally-managed-environment", r"error: externally-managed-environment"),
        ("ResolutionImpossible", r"ERROR: ResolutionImpossible"),
        ("Cannot install", r"ERROR: Cannot install (?P<subject>\S+)"),
        ("Failed to build installable", r"ERROR: Failed to build installable wheels"),
        ("Invalid requirement", r"ERROR: Invalid requirement: (?P<subject>\S+)"),
    ),
    *_all(
        "install-failed",
        "uv",
        ("No solution found", r"\s*(?:×|error:) No solution found when resolving"),
        ("Failed to build `", r"\s*(?:×|error:) Failed to build `(?P<subject>[^`]+)`"),
        (
            "Failed to download ",
            r"\s*(?:×|├─▶|╰─▶|error:|Caused by:)\s+Failed to download (?:and build )?`?(?P<subject>[^\s`]+)",
        ),
        ("Failed to fetch: ", r"\s*(?:×|├─▶|╰─▶|error:|Caused by:)\s+Failed to fetch: `(?P<subject>[^`]+)`"),
    ),
    *_all(
        "install-failed",
        "npm",
        ("npm ERR! code ", r"npm ERR! code (?P<subject>\S+)"),
        ("npm error code ", r"npm error code (?P<subject>\S+)"),
        ("YN0", r"➤ YN0(?:001|009|013|035|041|082): .*"),
        ("ERR_PNPM_", r"\s*(?P<subject>ERR_PNPM_\w+)\s"),
        ("An unexpected error occurred", r"error An unexpected error occurred: \"(?P<subject>[^\"]*)"),
    ),
    *_all(
        "install-failed",
        "conda",
        ("PackagesNotFoundError", r"PackagesNotFoundError: "),
        ("ResolvePackageNotFound", r"ResolvePackageNotFound: "),
        ("UnsatisfiableError", r"UnsatisfiableError: "),
        ("CondaHTTPError", r"CondaHTTPError: HTTP (?P<subject>\S+)"),
        ("LibMambaUnsatisfiableError", r"LibMambaUnsatisfiableError: "),
    ),
    *_all(
        "install-failed",
        "cargo",
        ("error: failed to download", r"error: failed to download (?:from )?`?(?P<subject>[^\s`]+)"),
        ("no matching package", r"error: no matching package (?:named|found)(?: `(?P<subject>[^`]+)`)?"),
        ("failed to get `", r"error: failed to get `(?P<subject>[^`]+)` as a dependency"),
        (
            "failed to select a version",
            r"error: failed to select a version for(?: the requirement)? `(?P<subject>[^`\s]+)",
        ),
    ),
    *_all(
        "install-failed",
        "go",
        ("no required module provides", r"(?:\S+: )?no required module provides package (?P<subject>[^\s;]+)"),
        ("cannot find module", r"(?:go: |\S+: )cannot find module providing package (?P<subject>[^\s:]+)"),
        ("go: module ", r"go: module (?P<subject>[^\s:]+): "),
        ("go: downloading", r"go: downloading .*: (?P<subject>)(?:dial|reading|unexpected) .*"),
    ),
    *_all(
        "network",
        "network",
        (
            "curl: (",
            r"curl: \((?:5|6|7|16|18|22|28|35|52|55|56|60|92)\)(?: .*?(?:(?:connect to|resolve host:?|resolve proxy:?) (?P<subject>[^\s;,]+)))?",
        ),
        (
            "wget: ",
            r"wget: (?:unable to resolve host address|bad address|can't connect to remote host|server returned error:?) ?(?:[‘'(\"]?(?P<subject>[^\s’'):\"]+))?",
        ),
        (
            "failed: Connection",
            r"Connecting to (?P<subject>[^\s(]+).*\.\.\. failed: Connection (?:refused|timed out|reset by peer)\.$",
        ),
        ("failed: ", r"Resolving (?P<subject>\S+) \(.*\)\.\.\. failed: "),
        (" ERROR ", r"(?:[\d-]+ [\d:]+ )ERROR (?P<subject>[45]\d\d): "),
        ("unable to access '", r"fatal: unable to access '(?P<subject>[^']+)': "),
        (
            "Could not resolve host",
            r"(?:ssh|fatal|error|warning|E|W|Err:\d+|rsync|ping)\S*: .*[Cc]ould not resolve host(?:name)?:? ?(?P<subject>[^\s:;)]*)",
        ),
        ("Could not resolve '", r"\s*(?:E: |W: )?(?:Failed to fetch \S+ +)?Could not resolve '(?P<subject>[^']+)'"),
        (
            "Temporary failure resolving",
            r"\s*(?:E: |W: |Err:\d+ )?(?:Failed to fetch \S+ +)?Temporary failure resolving '(?P<subject>[^']+)'",
        ),
        ("ssh: connect to host", r"ssh: connect to host (?P<subject>\S+ port \d+): "),
        ("Connection refused", _RAISED + r"\b.*?(?:host='(?P<subject>[^']+)'.*)?Connection refused"),
        ("Connection reset", _RAISED + r"\b.*?Connection reset(?: by peer)?"),
        ("Max retries exceeded", _RAISED + r": .*?host='(?P<subject>[^']+)'.*Max retries exceeded"),
        ("Name or service not known", _RAISED + r"\b.*?(?:host='(?P<subject>[^']+)'.*)?Name or service not known"),
        ("name resolution", _RAISED + r"\b.*?(?:host='(?P<subject>[^']+)'.*)?[Tt]emporary failure in name resolution"),
        ("CERTIFICATE_VERIFY_FAILED", _RAISED + r"\b.*?(?:host='(?P<subject>[^']+)'.*)?CERTIFICATE_VERIFY_FAILED"),
        ("HTTP Error ", _RAISED + r": HTTP Error (?P<subject>[45]\d\d)"),
        (" Error: ", _RAISED + r": [45]\d\d \w+ Error: .* for url: (?P<subject>\S+)"),
        ("ProxyError", r"(?:[\w.]+\.)?ProxyError: .*?(?:host='(?P<subject>[^']+)')?"),
        (
            "ECONNREFUSED",
            r"(?:Uncaught |\[cause\]: )?(?:\w*Error|npm (?:ERR!|error) \w+):? .*?ECONNREFUSED ?(?P<subject>[^\s,)]*)",
        ),
        ("ECONNRESET", r"(?:Uncaught |\[cause\]: )?(?:\w*Error|npm (?:ERR!|error) \w+):? .*?ECONNRESET"),
        (
            "ENOTFOUND",
            r"(?:Uncaught |\[cause\]: )?(?:\w*Error|npm (?:ERR!|error) \w+):? .*?getaddrinfo ENOTFOUND ?(?P<subject>[^\s,)]*)",
        ),
        (
            "EAI_AGAIN",
            r"(?:Uncaught |\[cause\]: )?(?:\w*Error|npm (?:ERR!|error) \w+):? .*?getaddrinfo EAI_AGAIN ?(?P<subject>[^\s,)]*)",
        ),
        (
            "dial tcp",
            r"(?:go: |panic: |Error: |error: |\d{4}/\d\d/\d\d [\d:]+ )?.*?\bdial tcp(?:: lookup)? (?P<subject>[^\s:]+(?::\d+)?)(?: on \S+)?: .*",
        ),
        ("redirect refused", r"(?:ssh|scp): .*redirect refused"),
    ),
    *_all(
        "out-of-memory",
        "system",
        ("MemoryError", r"(?:[\w.]+\.)?(?:_Array)?MemoryError(?:: .*)?$"),
        (
            "ut of memory: Killed",
            r"(?:\[ *[\d.]+\] )?(?:Memory cgroup o|O)ut of memory: Killed process \d+ \((?P<subject>[^)]+)\)",
        ),
        (
            "OutOfMemoryError",
            r"(?:Exception in thread \"[^\"]*\" |Caused by: )?(?:[\w.]+\.)?(?P<subject>OutOfMemoryError): ",
        ),
        ("heap out of memory", r"FATAL ERROR: .*heap out of memory"),
        ("CUDA out of memory", r"(?:" + _RAISED + r": )CUDA out of memory"),
        ("runtime: out of memory", r"fatal error: runtime: out of memory"),
        (
            "std::bad_alloc",
            r"(?:terminate called after throwing an instance of '|\s*what\(\):\s+)(?P<subject>std::bad_alloc)",
        ),
        (
            "Cannot allocate memory",
            r"(?:[\w./-]+: )(?:.*: )?Cannot allocate memory$|OSError: \[Errno 12\] Cannot allocate memory",
        ),
        ("virtual memory exhausted", r"virtual memory exhausted: Cannot allocate memory"),
    ),
    *_all(
        "killed",
        "system",
        ("Killed", r"Killed$"),
        ("Killed ", _SHELL + r": (?:line )?\d+:\s+\d+ Killed\s+(?P<subject>\S.*)$"),
        (
            "Killed signal",
            r"\S+: (?:fatal|internal compiler) error: Killed(?: signal terminated program | \(program )(?P<subject>\w+)",
        ),
        (
            "Segmentation fault",
            r"(?:"
            + _SHELL
            + r": (?:line )?\d+:\s+\d+ )?Segmentation fault(?: +\(core dumped\))?(?:\s+(?P<subject>\S.*))?$",
        ),
        (
            "Aborted (core dumped)",
            r"(?:" + _SHELL + r": (?:line )?\d+:\s+\d+ )?Aborted \(core dumped\)(?:\s+(?P<subject>\S.*))?$",
        ),
        ("Fatal Python error", r"Fatal Python error: (?P<subject>.+)$"),
        ("Terminated", r"(?:" + _SHELL + r": (?:line )?\d+:\s+\d+ )?Terminated(?:\s{3,}(?P<subject>\S.*))?$"),
        ("terminated by signal", r"Process .*terminated by signal \S+"),
        ("died with <Signals", r"subprocess\.CalledProcessError: Command .* died with <Signals\.(?P<subject>\w+)"),
    ),
    *_all(
        "timeout",
        "system",
        ("TimeoutExpired", r"(?:subprocess\.)?TimeoutExpired: Command .* timed out after"),
        ("TimeoutError", r"(?:[\w.]+\.)?TimeoutError(?:: .*)?$"),
        ("Timeout >", r"Failed: Timeout (?:\()?>"),
        ("test timed out after", r"panic: test timed out after (?P<subject>\S+)"),
        ("context deadline exceeded", r"(?:[\w./-]+: |[Ee]rror: ).*context deadline exceeded"),
        ("ead timed out", _RAISED + r": .*[Rr]ead timed out"),
        ("onnect timeout=", _RAISED + r": .*\(connect timeout="),
        (
            "ETIMEDOUT",
            r"(?:Uncaught |\[cause\]: )?(?:\w*Error|npm (?:ERR!|error) \w+):? .*?ETIMEDOUT ?(?P<subject>[^\s,)]*)",
        ),
        ("timeout: sending signal", r"timeout: sending signal \w+ to command [‘'`](?P<subject>[^’']+)"),
        ("Exceeded timeout of", r"\s*(?:thrown: \")?Exceeded timeout of \d+ ?ms for a (?:test|hook)"),
        ("Timeout of ", r"\s*Error: Timeout of \d+ms exceeded"),
    ),
    *_all(
        "disk-full",
        "system",
        (
            "No space left on device",
            r"(?:[\w./+-]+(?:\[\d+\])?: |\S*Error: |tar: |E: |dpkg: |npm (?:ERR!|error) ).*No space left on device",
        ),
        ("ENOSPC", r"(?:\S*Error: |npm (?:ERR!|error) (?:code )?).*ENOSPC"),
        ("Disk quota exceeded", r"(?:[\w./+-]+: |\S*Error: ).*Disk quota exceeded"),
        ("don't have enough free space", r"E: You don't have enough free space in (?P<subject>\S+)"),
    ),
    *_all(
        "usage-error",
        "usage",
        ("unrecognized arguments", r"(?P<subject>[\w./+-]+): error: (?:unrecognized arguments: .*)"),
        (
            "the following arguments are required",
            r"(?P<subject>[\w./+ -]+): error: the following arguments are required: .*",
        ),
        ("expected one argument", r"(?P<subject>[\w./+ -]+): error: argument .*: expected .*argument"),
        ("invalid choice", r"(?P<subject>[\w./+ -]+): error: argument .*: invalid choice: .*"),
        ("unrecognized option", r"(?P<subject>[\w./+-]+): unrecognized option(?::| |$).*"),
        ("unrecognized argument", r"(?P<subject>[\w./+-]+): unrecognized argument(?::| |$).*"),
        ("invalid option", r"(?P<subject>[\w./+-]+): (?:line \d+: \w+: \S+: )?invalid option(?: --|$|:).*"),
        ("unsupported option", r"(?P<subject>[\w./+-]+): (?:.*: )?[Uu]nsupported option.*"),
        (
            "nknown option",
            r"(?:(?P<subject>[\w./+-]+): )(?:\w+: )?[Uu]nknown option.*|error: unknown option '.*'|Unknown option: -.*",
        ),
        ("unknown flag", r"(?:[Ee]rror: )?unknown (?:shorthand )?flag: .*"),
        ("unexpected argument", r"error: unexpected argument '(?P<subject>[^']+)' found"),
        ("flag provided but not defined", r"flag provided but not defined: (?P<subject>-\S+)"),
        ("No such option", r"(?:Error: )No such option:? (?P<subject>\S+)|\s*│ No such option: (?:\S+)"),
        ("bad option", r"(?P<subject>[\w./+-]+): bad option: .*"),
        ("illegal option", r"(?P<subject>[\w./+-]+): illegal option -- .*"),
    ),
)
_SHAPES = tuple(pattern_of(_BEFORE + "(?:" + complaint.shape + ")") for complaint in COMPLAINTS)


def complain(text: PrintedText, numbers: list[int], found: Gathered) -> None:
    """An event for each line that has the shape of a complaint whose string is in the text, the first that fits."""
    seen: set[tuple[str, int]] = set()
    for which in numbers:
        complaint, shape = COMPLAINTS[which], _SHAPES[which]
        for place in text.numbers_with(complaint.needle):
            line = text.lines[place - 1].rstrip()
            match = shape.match(line) if (complaint.kind, place) not in seen else None
            if match is not None:
                seen.add((complaint.kind, place))
                subject = match.groupdict().get("subject") or ""
                said = line[1:] if line.startswith("E   ") else line  # pytest's mark is no part of it
                found.add(complaint.source, complaint.kind, place, said, subject)
