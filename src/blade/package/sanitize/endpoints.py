"""Addresses that mean something inside one network only: private URLs, IP addresses, host names."""

from __future__ import annotations

import ipaddress
import re

from blade.package.sanitize import doubt
from blade.package.sanitize.rules import Group, Match, Rule, own

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
_OPEN_ADDRESSES = frozenset(
    {
        "169.254.169.254",
        "8.8.8.8",
        "8.8.4.4",
        "1.1.1.1",
        "1.0.0.1",
        "9.9.9.9",
        "0.0.0.0",
        "255.255.255.255",
        "1.2.3.4",
        "5.6.7.8",
        "123.123.123.123",
        "123.45.67.89",
        "10.0.0.0",
        "172.16.0.0",
        "192.168.0.0",
        "192.168.1.0",
    }
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


def private_address(text: str) -> bool:
    """An IP address of somebody: neither loopback nor documentation nor known to all."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if (
        text in _OPEN_ADDRESSES
        or text.endswith(".0.0")
        or address.is_loopback
        or address.is_unspecified
        or address.is_multicast
    ):
        return False
    return not any(address in network for network in _DOCUMENTATION if network.version == address.version)


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


def _private_url(match: Match) -> bool:
    authority = re.split(rb"[/?#]", match.value.partition(b"://")[2], maxsplit=1)[0].rpartition(b"@")[2]
    host = authority.partition(b":")[0].rstrip(b".").lower()
    if host in _OPEN_HOSTS or doubt.invented(host) or not _NAME.fullmatch(host):
        return False
    if re.fullmatch(rb"[0-9.]+", host):
        return private_address(host.decode())
    if b"." not in host:
        return host in _COMPANY_HOSTS or b":" in authority or _DIGIT_OR_HYPHEN.search(host) is not None
    return _PRIVATE.fullmatch(host) is not None


def _ipv4(match: Match) -> bool:
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


def _ipv6(match: Match) -> bool:
    text = match.value.decode()
    groups = [group for group in text.split(":") if group]
    return len(groups) >= 3 and any(len(group) >= 3 for group in groups) and private_address(text)


def _host(match: Match) -> bool:
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


def _named_host(match: Match) -> bool:
    value = match.value.lower()
    return (
        value not in _PLAIN
        and not _PUBLIC_NAME.fullmatch(value)
        and not _CONTAINER.fullmatch(value)
        and _DIGIT_OR_HYPHEN.search(value) is not None
        and not re.fullmatch(rb"[0-9.]+", value)
    )


def _prompt(match: Match) -> bool:
    """`user@host:~$` of a machine; containers call their hosts by twelve hexadecimal digits."""
    host = match.value.partition(b"@")[2]
    return not (_CONTAINER.fullmatch(host) or host.lower() in _PLAIN or host.lower() in _OPEN_HOSTS)


RULES = (
    Rule(
        name="internal-url",
        group=Group.ENDPOINTS,
        says="addresses of private hosts",
        gate="://",
        pattern=r"(?P<value>\b(?i:https?|wss?|grpcs?|ftp|sftp|ssh|git|tcp|s?mb|nfs|ldaps?|redis|rediss|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|kafka|jdbc:[a-z]+)://[A-Za-z0-9._~:@%-]+(?:[/?#][A-Za-z0-9._~:/?#@!$&*+,;=%-]*)?)",
        keep=_private_url,
    ),
    Rule(
        name="ip-address",
        group=Group.ENDPOINTS,
        says="IP addresses",
        gate=r"\d\.\d{1,3}\.\d{1,3}\.\d",
        pattern=r"(?:^|[^0-9A-Za-z._-])(?P<value>(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])){3})\b",
        keep=_ipv4,
    ),
    Rule(
        name="ip-address",
        group=Group.ENDPOINTS,
        says="IP addresses",
        gate=r"(?i)[0-9a-f]{2}:[0-9a-f]{0,4}:[0-9a-f]{0,4}:",
        pattern=r"(?i)(?:^|[^0-9A-Za-z:._-])(?P<value>[0-9a-f]{2,4}(?::[0-9a-f]{0,4}){3,7})\b",
        keep=_ipv6,
    ),
    Rule(
        name="internal-host",
        group=Group.ENDPOINTS,
        says="names of private hosts",
        gate=r"(?i)[a-z0-9]\.(?:internal|corp|lan|intranet|localdomain|local|svc|home\.arpa)\b",
        pattern=r"(?i)(?:^|[^A-Za-z0-9._/@-])(?P<value>(?:[a-z0-9-]+\.)+(?:internal|corp|lan|intranet|localdomain|local|svc|home\.arpa))\b",
        keep=_host,
    ),
    Rule(
        name="internal-host",
        group=Group.ENDPOINTS,
        says="names of private hosts",
        gate=r"(?i)\.(?:internal|corp|intranet|intra)\.[a-z0-9]",
        pattern=r"(?i)(?:^|[^A-Za-z0-9._/@-])(?P<value>(?:[a-z0-9-]+\.)+(?:internal|corp|intranet|intra)\.[a-z0-9-]+\.(?:com|net|org|io|ai|cloud|dev|co))\b",
        keep=_host,
    ),
    Rule(
        name="host-name",
        group=Group.ENDPOINTS,
        says="host names",
        gate="(?i)host|node_?name|machine_?name|nodelist",
        pattern=r"(?i)\b(?:[a-z]{0,10}_)?(?:host|host_?name|node_?name|machine_?name|nodelist)[\s\"'`]{0,12}[:=]\s{0,12}[\"'`]?(?P<value>[A-Za-z0-9][A-Za-z0-9._-]{2,100})",
        keep=_named_host,
    ),
    Rule(
        name="shell-prompt",
        group=Group.ENDPOINTS,
        says="shell prompts with user and host",
        gate="[A-Za-z0-9]@[A-Za-z0-9.-]+:[~/]",
        pattern=r"(?:^|[\s(\[\"'`])(?P<value>[a-z_][A-Za-z0-9_.-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{1,60}):[~/][^\s\"']{0,200}\s?[$#]",
        keep=_prompt,
    ),
)
