"""Rules for what is no secret and still not for sharing: private hosts, paths, people, and private source."""

from __future__ import annotations

import fnmatch
import ipaddress
import re
from functools import partial

from blade.package.sanitize.rule import (
    PatternMatch,
    SanitizeGroup,
    SanitizeRule,
    is_example_domain,
    is_placeholder,
    own,
)

_endpoint = partial(SanitizeRule, group=SanitizeGroup.ENDPOINTS)
_path = partial(SanitizeRule, group=SanitizeGroup.PATHS)
_person = partial(SanitizeRule, group=SanitizeGroup.PEOPLE)
_source = partial(SanitizeRule, group=SanitizeGroup.SOURCE)

_PRIVATE = re.compile(
    rb"(?:.+\.)?(?:internal|corp|lan|intranet|localdomain|private|svc|home\.arpa|local)|.+\.(?:internal|corp|intranet|svc)\..+",
    re.IGNORECASE,
)
_OPEN_HOSTS = own(
    "localhost host.docker.internal gateway.docker.internal metadata.google.internal kubernetes.default.svc host "
    "hostname server example domain proxy url ip address path website site api www user username foo bar db redis "
    "postgres mysql mongo mongodb rabbitmq kafka elasticsearch minio web app backend frontend service test x y a "
    "b http https none null your-host my-host ollama vllm nginx"
)
"""Bare hosts that are placeholders, or that every container calls so."""
_COMPANY_HOSTS = own("intranet wiki jenkins gitlab jira confluence grafana artifactory nexus sharepoint")
_OPEN_ADDRESSES = own(
    "169.254.169.254 8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 0.0.0.0 255.255.255.255 1.2.3.4 5.6.7.8 "
    "123.123.123.123 123.45.67.89 10.0.0.0 172.16.0.0 192.168.0.0 192.168.1.0"
)
"""Well-known resolvers, the address of every cloud's metadata, names of networks, and the usual inventions."""
_VERSION = re.compile(
    rb"(?:version|ver|release|section|sec|chapter|build|v|==|>=|<=|~=|@)[\s:=.\"']{0,3}$", re.IGNORECASE
)
_PORT = re.compile(rb":\d{2,5}")
_LARGE_OCTET = 32
_NAME = re.compile(rb"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")
_DIGIT_OR_HYPHEN = re.compile(rb"[0-9-]")
_PUBLIC_NAME = re.compile(
    rb"[A-Za-z0-9.-]+\.(?:com|org|net|io|dev|ai|edu|gov|example|test|invalid|local(?:host)?)", re.IGNORECASE
)
_CONTAINER = re.compile(rb"[0-9a-f]{12}")
_PLAIN = own("localhost none null string str hostname host unknown default server example true false required optional")
_DOCUMENTATION = tuple(
    ipaddress.ip_network(one)
    for one in (
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "198.18.0.0/15",
        "2001:db8::/32",
        "3fff::/20",
        "240.0.0.0/4",
    )
)
_INSIDE = tuple(
    ipaddress.IPv4Network(one)
    for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16")
)


def private_address(text: str) -> bool:
    """An IP address of somebody: neither loopback nor documentation nor known to all."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if (
        text.encode() in _OPEN_ADDRESSES
        or text.endswith(".0.0")
        or address.is_loopback
        or address.is_unspecified
        or address.is_multicast
    ):
        return False
    return not any(address in network for network in _DOCUMENTATION if network.version == address.version)


def _private_url(match: PatternMatch) -> bool:
    authority = re.split(rb"[/?#]", match.value.partition(b"://")[2], maxsplit=1)[0].rpartition(b"@")[2]
    host = authority.partition(b":")[0].rstrip(b".").lower()
    if host in _OPEN_HOSTS or is_example_domain(host) or not _NAME.fullmatch(host):
        return False
    if re.fullmatch(rb"[0-9.]+", host):
        return private_address(host.decode())
    if b"." not in host:
        return host in _COMPANY_HOSTS or b":" in authority or _DIGIT_OR_HYPHEN.search(host) is not None
    return _PRIVATE.fullmatch(host) is not None


def _ipv4(match: PatternMatch) -> bool:
    """Not a version or the number of a section: inside a private network, with a port, or with two large parts."""
    text = match.value.decode()
    if not private_address(text) or (match.after() in (b".", b"-", b"_") and match.after(2)[1:].isalnum()):
        return False
    if _VERSION.search(match.before(12)):
        return False
    address = ipaddress.IPv4Address(text)
    if _PORT.match(match.after(6)) or any(address in network for network in _INSIDE):
        return True
    return sum(part >= _LARGE_OCTET for part in address.packed) >= 2


def _ipv6(match: PatternMatch) -> bool:
    text = match.value.decode()
    groups = [group for group in text.split(":") if group]
    return len(groups) >= 3 and any(len(group) >= 3 for group in groups) and private_address(text)


def _host(match: PatternMatch) -> bool:
    """`.local` and `.internal` end names in code too, where labels have neither digits nor hyphens."""
    host = match.value.lower()
    if (
        host in _OPEN_HOSTS
        or match.after() in (b"(", b"_", b"=")
        or (match.after() == b"." and match.after(2)[1:].isalnum())
    ):
        return False
    first = host.partition(b".")[0]
    return (
        not host.endswith((b".local", b".internal"))
        or _DIGIT_OR_HYPHEN.search(first) is not None
        or host.count(b".") > 2
    )


def _named_host(match: PatternMatch) -> bool:
    value = match.value.lower()
    return (
        value not in _PLAIN
        and not _PUBLIC_NAME.fullmatch(value)
        and not _CONTAINER.fullmatch(value)
        and _DIGIT_OR_HYPHEN.search(value) is not None
        and not re.fullmatch(rb"[0-9.]+", value)
    )


def _prompt(match: PatternMatch) -> bool:
    """`user@host:~$` of a machine; containers call their hosts by twelve hexadecimal digits."""
    host = match.value.partition(b"@")[2]
    return not (_CONTAINER.fullmatch(host) or host.lower() in _PLAIN or host.lower() in _OPEN_HOSTS)


_ENDPOINTS = (
    _endpoint(
        name="internal-url",
        says="addresses of private hosts",
        gate="://",
        pattern=r"(?P<value>\b(?i:https?|wss?|grpcs?|ftp|sftp|ssh|git|tcp|s?mb|nfs|ldaps?|redis|rediss|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|kafka|jdbc:[a-z]+)://[A-Za-z0-9._~:@%-]+(?:[/?#][A-Za-z0-9._~:/?#@!$&*+,;=%-]*)?)",
        keep=_private_url,
    ),
    _endpoint(
        name="ip-address",
        says="IP addresses",
        gate=r"\d\.\d{1,3}\.\d{1,3}\.\d",
        pattern=r"(?:^|[^0-9A-Za-z._-])(?P<value>(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])){3})\b",
        keep=_ipv4,
    ),
    _endpoint(
        name="ip-address",
        says="IP addresses",
        gate=r"(?i)[0-9a-f]{2}:[0-9a-f]{0,4}:[0-9a-f]{0,4}:",
        pattern=r"(?i)(?:^|[^0-9A-Za-z:._-])(?P<value>[0-9a-f]{2,4}(?::[0-9a-f]{0,4}){3,7})\b",
        keep=_ipv6,
    ),
    _endpoint(
        name="internal-host",
        says="names of private hosts",
        gate=r"(?i)[a-z0-9]\.(?:internal|corp|lan|intranet|localdomain|local|svc|home\.arpa)\b",
        pattern=r"(?i)(?:^|[^A-Za-z0-9._/@-])(?P<value>(?:[a-z0-9-]+\.)+(?:internal|corp|lan|intranet|localdomain|local|svc|home\.arpa))\b",
        keep=_host,
    ),
    _endpoint(
        name="internal-host",
        says="names of private hosts",
        gate=r"(?i)\.(?:internal|corp|intranet|intra)\.[a-z0-9]",
        pattern=r"(?i)(?:^|[^A-Za-z0-9._/@-])(?P<value>(?:[a-z0-9-]+\.)+(?:internal|corp|intranet|intra)\.[a-z0-9-]+\.(?:com|net|org|io|ai|cloud|dev|co))\b",
        keep=_host,
    ),
    _endpoint(
        name="host-name",
        says="host names",
        gate="(?i)host|node_?name|machine_?name|nodelist",
        pattern=r"(?i)\b(?:[a-z]{0,10}_)?(?:host|host_?name|node_?name|machine_?name|nodelist)[\s\"'`]{0,12}[:=]\s{0,12}[\"'`]?(?P<value>[A-Za-z0-9][A-Za-z0-9._-]{2,100})",
        keep=_named_host,
    ),
    _endpoint(
        name="shell-prompt",
        says="shell prompts with user and host",
        gate="[A-Za-z0-9]@[A-Za-z0-9.-]+:[~/]",
        pattern=r"(?:^|[\s(\[\"'`])(?P<value>[a-z_][A-Za-z0-9_.-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{1,60}):[~/][^\s\"']{0,200}\s?[$#]",
        keep=_prompt,
    ),
)


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


_CODE_HOSTS = (b"github.com", b"gitlab.com", b"bitbucket.org")
_SOME_USER = re.compile(rb"(?:test|my|node|new|local|app|ts|some|the|demo)?[-_]?user[-_]?[0-9a-z]?")


def _address(match: PatternMatch) -> bool:
    mailbox, _, domain = match.value.rpartition(b"@")
    return not (
        is_example_domain(domain)
        or _ASSET.fullmatch(domain)
        or mailbox.lower() in _OPEN_MAILBOX
        or (match.after() in (b"(", b":") and domain.endswith(_CODE_HOSTS))
    )


def _somebody(match: PatternMatch) -> bool:
    value = match.value.rstrip(b".").lower()
    return (
        value not in _NOBODY
        and not _SOME_USER.fullmatch(value)
        and not is_placeholder(value)
        and not value.isdigit()
        and len(value) > 1
    )


def _folder(match: PatternMatch) -> bool:
    """Not a page (`/home/index.html`), not a file."""
    return _somebody(match) and re.search(rb"\.(?:html?|php|js|css|json|txt|md|py|aspx?|png|jpg)$", match.value) is None


_PEOPLE = (
    _person(
        name="email",
        says="e-mail addresses",
        gate="[A-Za-z0-9_+.-]@[A-Za-z0-9]",
        pattern=r"(?P<value>[A-Za-z0-9][A-Za-z0-9._%+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})\b",
        keep=_address,
    ),
    _person(
        name="user-name",
        says="user names",
        gate="(?:USER|LOGNAME|USERNAME|GIT_(?:AUTHOR|COMMITTER)_NAME)=",
        pattern=r"\b(?:USER|LOGNAME|USERNAME|SUDO_USER|GIT_(?:AUTHOR|COMMITTER)_NAME)=[\"']?(?P<value>[A-Za-z][A-Za-z0-9_.-]{1,31})",
        keep=_somebody,
    ),
    _person(
        name="user-name",
        says="user names",
        gate=r"[dlbcps-](?:[r-][w-][xsStT-]){3}",
        pattern=r"[dlbcps-](?:[r-][w-][xsStT-]){3}[.+@]?\s{1,4}\d{1,5}\s{1,8}(?P<value>[A-Za-z][A-Za-z0-9_.-]{1,31})\s",
        keep=_somebody,
    ),
    _person(
        name="user-name",
        says="user names",
        gate="(?i)(?:annotat|review|submitt|upload|launch|execut|curat|label)(?:ed|ted)?_?(?:by|or|er)|(?:unix|slurm|os|login)_user|Author:|Committer:|authored-by:",
        pattern=r"(?i)(?:(?:\b|_)(?:(?:annotat|review|submitt|upload|launch|execut|curat|label)(?:ed)?_by|annotator|(?:unix|slurm|os|login)_user(?:name)?)[\s\"'`]{0,12}[:=]\s{0,12}[\"'`]|\b(?:Author|Committer|Co-authored-by|Signed-off-by):\s{1,8})(?P<value>[A-Za-z][A-Za-z0-9_. -]{1,60}[A-Za-z0-9])\s{0,12}[\"'`<]",
        keep=_somebody,
    ),
    _person(
        name="user-name",
        says="user names",
        gate="(?i)user_?name",
        # Rows tell of invented users all the time, so JSON is left alone: this is for settings and notes.
        pattern=r"(?i)^\s*(?:- )?user_?name\s*[:=]\s*[\"']?(?P<value>[a-z][a-z0-9_.-]{1,31})[\"']?\s*$",
        keep=_somebody,
    ),
    _path(
        name="home-path",
        says="paths with a user's name",
        gate="/(?:home|Users|homes)/",
        pattern=r"(?:^|[^A-Za-z0-9_./-]|file://|/(?:var|mnt|export|data|nfs|Volumes|private)|[A-Za-z]:)/(?:home|Users|homes)/(?P<value>[A-Za-z][A-Za-z0-9_.-]{0,40})",
        keep=_folder,
    ),
    _path(
        name="home-path",
        says="paths with a user's name",
        gate=r"(?i)[a-z]:[\\/]+users[\\/]+|\\+users\\+",
        pattern=r"(?i)(?:[a-z]:|[a-z0-9$])[\\/]{1,8}users[\\/]{1,8}(?P<value>[a-z][a-z0-9_.-]{0,40})",
        keep=_folder,
        backslashes=True,
    ),
    _path(
        name="home-path",
        says="paths with a user's name",
        gate=r"(?i)[a-z]:[\\/]+users[\\/]+|\\+users\\+",
        pattern=r"(?i)(?:[a-z]:|[a-z0-9$])[\\/]{1,8}users[\\/]{1,8}(?P<value>[a-z][a-z0-9_.-]*(?: [a-z0-9_.-]+){1,2})[\\/]",
        keep=_folder,
        backslashes=True,
    ),
    _path(
        name="cluster-path",
        says="paths on shared file systems",
        gate="/(?:lustre|gpfs|fsx|scratch|nfs|users|beegfs|wekafs)/",
        pattern=r"(?:^|[^A-Za-z0-9_./-])(?P<value>/(?:lustre|gpfs|fsx|scratch|nfs|beegfs|wekafs)/[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+)",
    ),
)


_PERMISSIVE = re.compile(
    rb"redistribution and use in source|permission is hereby granted|licensed under|spdx-license-identifier:|apache license|mit license|bsd license|creative commons|gnu (?:lesser |affero )?general public|mozilla public",
    re.IGNORECASE,
)
_NEAR = 3000
RESERVED = "rights-reserved"
_FILES = own(
    ".env .env.* id_rsa id_dsa id_ecdsa id_ed25519 *.pem *.key *.p12 *.pfx *.jks *.kdbx *.keystore .netrc "
    ".pypirc .npmrc .pgpass .htpasswd .git-credentials .dockercfg credentials kubeconfig *.ovpn .bash_history "
    ".zsh_history .python_history *.tfstate"
)
_SAMPLES = (".example", ".sample", ".template", ".dist")
_FOLDERS = frozenset(
    {".ssh", ".aws", ".gnupg", ".kube", ".docker", "private", "proprietary", "confidential", "internal-only"}
)


def permissive(text: bytes) -> bool:
    """A public licence speaks in it."""
    return _PERMISSIVE.search(text) is not None


def _no_licence(match: PatternMatch) -> bool:
    """`All rights reserved` opens many public licences: none of them is near."""
    return not permissive(match.view[max(0, match.start - _NEAR) : match.end + _NEAR])


def private_name(path: str) -> bool:
    """A file that holds credentials or private source, by its name or that of its folder."""
    *folders, name = path.lower().split("/")
    if not _FOLDERS.isdisjoint(folders):
        return True
    raw = name.encode("utf-8", "surrogateescape")
    return any(fnmatch.fnmatchcase(raw, form) for form in _FILES) and not name.endswith(_SAMPLES)


_SOURCE = (
    _source(
        name="private-source",
        says="marks of private source",
        gate="(?i)confidential|internal|proprietary|distribut|not.{1,4}for|trade|unpublished|unlicensed",
        pattern=r"(?i)(?P<value>proprietary\s{1,3}(?:and|&)\s{1,3}confidential|confidential\s{1,3}(?:and|&)\s{1,3}proprietary|(?:company|strictly|highly)\s{1,3}confidential|(?:for\s{1,3})?internal\s{1,3}use\s{1,3}only|proprietary\s{1,3}(?:source|code)|do\s{1,3}not\s{1,3}distribute|not\s{1,3}for\s{1,3}(?:public|external)\s{1,3}(?:distribution|release|use)|not\s{1,3}for\s{1,3}distribution|contains?\s{1,3}trade\s{1,3}secrets?|unpublished\s{1,3}(?:proprietary|work)|(?:code|software|file|source)\s{1,3}is\s{1,3}(?:confidential|proprietary)|licen[cs]e[\s\"']{0,6}:[\s\"']{0,6}(?:proprietary|unlicensed)\b|(?-i:(?:(?:#|//|\*|--)\s{0,3}|[A-Z]{3,20}\s)CONFIDENTIAL\b))",
        whole=True,
    ),
    _source(
        name=RESERVED,
        says="reserved rights without a public licence",
        gate="(?i)reserved",
        pattern=r"(?i)(?P<value>all\s{1,3}rights\s{1,3}reserved)",
        keep=_no_licence,
        whole=True,
    ),
)

PRIVATE_FILE = SanitizeRule(
    name="private-file", group=SanitizeGroup.SOURCE, says="files that hold credentials or private source by their name"
)
OPAQUE_FILE = SanitizeRule(name="opaque-file", group=SanitizeGroup.SOURCE, says="files that cannot be looked into")

RULES = (*_ENDPOINTS, *_PEOPLE, *_SOURCE)
