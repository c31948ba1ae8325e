"""What points at a person: e-mail addresses, user names, home folders."""

from __future__ import annotations

import re

from blade.package.sanitize import doubt
from blade.package.sanitize.rules import Group, Match, Rule, own

_ASSET = re.compile(rb".*\.(?:png|jpe?g|gif|svg|js|json|txt|css|html|service|target|patch)", re.IGNORECASE)
_OPEN_MAILBOX = own(
    "git noreply no-reply user username you your.email your-email your_email youremail your.name yourname"
)
_NOBODY = own(
    "user users username usr ubuntu runner node app vscode jovyan agent sandbox ec2-user name your you yourname "
    "your_name your-username your_username me docker openhands root git circleci coder work worker appuser "
    "nonroot default shared public guest admin administrator test tester foo bar baz dev developer example "
    "someone somebody anonymous sample demo student nobody model swe-agent swe-bench gitpod codespace kasm-user "
    "computeruse browser build builder builduser myuser newuser alluser defaultuser all debian centos fedora "
    "vagrant pi postgres mysql nginx www-data daemon wheel staff systemd oracle hadoop spark airflow steam "
    "linuxbrew conda mambauser kali vsts azureuser cloudshell-user webapp site wwwroot http ftp nixbld index home "
    "page new search"
)
"""Names of accounts that machines and examples share."""


_SOME_USER = re.compile(rb"(?:test|my|node|new|local|app|ts|some|the|demo)?[-_]?user[-_]?[0-9a-z]?")


def _address(match: Match) -> bool:
    mailbox, _, domain = match.value.rpartition(b"@")
    return not (
        doubt.invented(domain)
        or _ASSET.fullmatch(domain)
        or mailbox.lower() in _OPEN_MAILBOX
        or (match.after() in (b"(", b":") and domain.endswith(_CODE_HOSTS))
    )


_CODE_HOSTS = (b"github.com", b"gitlab.com", b"bitbucket.org")


def _somebody(match: Match) -> bool:
    value = match.value.rstrip(b".").lower()
    return (
        value not in _NOBODY
        and not _SOME_USER.fullmatch(value)
        and not doubt.stand_in(value)
        and not value.isdigit()
        and len(value) > 1
    )


def _folder(match: Match) -> bool:
    """Not a page (`/home/index.html`), not a file."""
    return _somebody(match) and re.search(rb"\.(?:html?|php|js|css|json|txt|md|py|aspx?|png|jpg)$", match.value) is None


RULES = (
    Rule(
        name="email",
        group=Group.PEOPLE,
        says="e-mail addresses",
        gate="[A-Za-z0-9_+.-]@[A-Za-z0-9]",
        pattern=r"(?P<value>[A-Za-z0-9][A-Za-z0-9._%+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})\b",
        keep=_address,
    ),
    Rule(
        name="user-name",
        group=Group.PEOPLE,
        says="user names",
        gate="(?:USER|LOGNAME|USERNAME|GIT_(?:AUTHOR|COMMITTER)_NAME)=",
        pattern=r"\b(?:USER|LOGNAME|USERNAME|SUDO_USER|GIT_(?:AUTHOR|COMMITTER)_NAME)=[\"']?(?P<value>[A-Za-z][A-Za-z0-9_.-]{1,31})",
        keep=_somebody,
    ),
    Rule(
        name="user-name",
        group=Group.PEOPLE,
        says="user names",
        gate=r"[dlbcps-](?:[r-][w-][xsStT-]){3}",
        pattern=r"[dlbcps-](?:[r-][w-][xsStT-]){3}[.+@]?\s{1,4}\d{1,5}\s{1,8}(?P<value>[A-Za-z][A-Za-z0-9_.-]{1,31})\s",
        keep=_somebody,
    ),
    Rule(
        name="user-name",
        group=Group.PEOPLE,
        says="user names",
        gate="(?i)(?:annotat|review|submitt|upload|launch|execut|curat|label)(?:ed|ted)?_?(?:by|or|er)|(?:unix|slurm|os|login)_user|Author:|Committer:|authored-by:",
        pattern=r"(?i)(?:(?:\b|_)(?:(?:annotat|review|submitt|upload|launch|execut|curat|label)(?:ed)?_by|annotator|(?:unix|slurm|os|login)_user(?:name)?)[\s\"'`]{0,12}[:=]\s{0,12}[\"'`]|\b(?:Author|Committer|Co-authored-by|Signed-off-by):\s{1,8})(?P<value>[A-Za-z][A-Za-z0-9_. -]{1,60}[A-Za-z0-9])\s{0,12}[\"'`<]",
        keep=_somebody,
    ),
    Rule(
        name="user-name",
        group=Group.PEOPLE,
        says="user names",
        gate="(?i)user_?name",
        # Rows tell of invented users all the time, so JSON is left alone: this is for settings and notes.
        pattern=r"(?i)^\s*(?:- )?user_?name\s*[:=]\s*[\"']?(?P<value>[a-z][a-z0-9_.-]{1,31})[\"']?\s*$",
        keep=_somebody,
    ),
    Rule(
        name="home-path",
        group=Group.PATHS,
        says="paths with a user's name",
        gate="/(?:home|Users|homes)/",
        pattern=r"(?:^|[^A-Za-z0-9_./-]|file://|/(?:var|mnt|export|data|nfs|Volumes|private)|[A-Za-z]:)/(?:home|Users|homes)/(?P<value>[A-Za-z][A-Za-z0-9_.-]{0,40})",
        keep=_folder,
    ),
    Rule(
        name="home-path",
        group=Group.PATHS,
        says="paths with a user's name",
        gate=r"(?i)[a-z]:[\\/]+users[\\/]+|\\+users\\+",
        pattern=r"(?i)(?:[a-z]:|[a-z0-9$])[\\/]{1,8}users[\\/]{1,8}(?P<value>[a-z][a-z0-9_.-]{0,40})",
        keep=_folder,
        backslashes=True,
    ),
    Rule(
        name="home-path",
        group=Group.PATHS,
        says="paths with a user's name",
        gate=r"(?i)[a-z]:[\\/]+users[\\/]+|\\+users\\+",
        pattern=r"(?i)(?:[a-z]:|[a-z0-9$])[\\/]{1,8}users[\\/]{1,8}(?P<value>[a-z][a-z0-9_.-]*(?: [a-z0-9_.-]+){1,2})[\\/]",
        keep=_folder,
        backslashes=True,
    ),
    Rule(
        name="cluster-path",
        group=Group.PATHS,
        says="paths on shared file systems",
        gate="/(?:lustre|gpfs|fsx|scratch|nfs|users|beegfs|wekafs)/",
        pattern=r"(?:^|[^A-Za-z0-9_./-])(?P<value>/(?:lustre|gpfs|fsx|scratch|nfs|beegfs|wekafs)/[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+)",
    ),
)
