"""Secrets that no provider's prefix marks: key blocks, tokens of standards, credentials in addresses and assignments."""

from __future__ import annotations

import base64
import binascii
import re

from blade.package.sanitize import doubt
from blade.package.sanitize.rules import Group, Match, Rule

_QUOTED = re.compile(rb"\s{0,12}[\"'`]")
_STRONG = re.compile(
    rb"(?:api|access|secret|private|client|auth|master|signing|encryption)[_-]?(?:key|secret)|secret|(?:access|auth|refresh|bot|api)[_-]?token|authorization",
    re.IGNORECASE,
)
_NOT_SECRET = re.compile(
    rb"page|next|continu|csrf|xsrf|cancel|cursor|sync|eos|bos|pad|special|stop|max|num|count|public|idempot|_id$|name|path|file|url|hash",
    re.IGNORECASE,
)
_TEMPLATE = (b"<", b"{", b"[", b"$", b"%", b"*")
_LEAST_PASSWORD = 6
_LONG_HASH = 32
_HEADER_END = len(" BLOCK-----")

_SIGNS = r"[\s\"'`]{0,12}(?::=|=>|==?|:)\s{0,12}"


def _block(match: Match) -> bool:
    """A header with a body, or at the end of its line, where the body follows; code that looks for headers has neither."""
    return len(match.value.partition(b"KEY")[2]) > _HEADER_END or not match.after(2).strip()


def _basic(match: Match) -> bool:
    """It decodes to `user:password`."""
    try:
        pair = base64.b64decode(match.value + b"=" * (-len(match.value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in pair[1:-1] and pair.isascii() and pair.decode().isprintable()


def _bearer(match: Match) -> bool:
    return doubt.random(match.value)


def _pair(match: Match) -> bool:
    """`user:password@host`, where neither the password nor the host is a placeholder."""
    pair, _, host = match.value.rpartition(b"@")
    password = pair.partition(b":")[2]
    if len(password) <= 2 or password.startswith(_TEMPLATE) or doubt.invented(host):
        return False
    return not (doubt.stand_in(password) or doubt.word(password))


def _password(match: Match) -> bool:
    """In quotation marks from end to end, so no sentence; and no placeholder, label or name in code."""
    value = match.value
    if _QUOTED.match(match.after(13)) is None or value.startswith(_TEMPLATE) or value.endswith((b":", b",")):
        return False
    return len(value) >= _LEAST_PASSWORD and not (doubt.stand_in(value) or doubt.word(value) or doubt.identifier(value))


def _bare_password(match: Match) -> bool:
    """Without quotation marks it must not read as code or prose."""
    value = match.value.rstrip(b".,;:!?")
    return (
        match.after() not in (b"(", b"[")
        and doubt.mixed(value)
        and not doubt.stand_in(value)
        and not doubt.identifier(value)
    )


def _setting(match: Match) -> bool:
    """A variable of the environment or an option takes words too."""
    value = match.value
    return not (doubt.stand_in(value) or doubt.word(value) or doubt.identifier(value) or value.startswith((b"-", b"/")))


def _assigned(match: Match) -> bool:
    """A value drawn at random that is called a key, secret or token; a hash only where the name leaves no doubt."""
    value = match.value.removesuffix(b"KEY").removesuffix(b"EXAMPLE")
    if _NOT_SECRET.search(match.name) or match.after() in (b"(", b"[") or not doubt.random(value):
        return False
    strong = _STRONG.search(match.name) is not None
    return (strong and len(value) >= _LONG_HASH) if doubt.fingerprint(value) else (strong or not doubt.sequence(value))


def _quoted(match: Match) -> bool:
    """The same in quotation marks, where any sign may stand."""
    return _QUOTED.match(match.after(13)) is not None and not match.value.startswith(_TEMPLATE) and _assigned(match)


def _in_address(match: Match) -> bool:
    return doubt.random(match.value)


RULES = (
    Rule(
        name="private-key",
        group=Group.SECRETS,
        says="private keys",
        gate="PRIVATE KEY",
        pattern=r"(?P<value>-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,.()-]*?-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?:[\s,]*[A-Za-z0-9+/=]{16,})*))",
        keep=_block,
    ),
    Rule(
        name="jwt",
        group=Group.SECRETS,
        says="JSON web tokens",
        gate="eyJ[A-Za-z0-9_-]",
        pattern=r"\b(?P<value>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
    ),
    Rule(
        name="bearer-token",
        group=Group.SECRETS,
        says="bearer tokens",
        gate="(?i)bearer|authorization",
        pattern=r"(?i)(?:\bbearer|authorization[\"'`\s]{0,12}[:=][\"'`\s]{0,12}(?:token|apikey|key))[\s:=]{1,6}[\"'`]?(?P<value>[A-Za-z0-9._~+/-]{12,}=*)",
        keep=_bearer,
    ),
    Rule(
        name="basic-auth",
        group=Group.SECRETS,
        says="basic-auth headers",
        gate="(?i)basic {1,4}[A-Za-z0-9+/]{8}",
        pattern=r"(?i)\bbasic {1,4}(?P<value>[A-Za-z0-9+/]{8,}={0,2})",
        keep=_basic,
    ),
    Rule(
        name="url-credentials",
        group=Group.SECRETS,
        says="passwords in addresses",
        gate="://",
        pattern=r"[A-Za-z0-9+.-]://(?P<value>[^\s:/@\"'`<>?#]*:[^\s/@\"'`<>]+@[A-Za-z0-9._-]+)",
        keep=_pair,
    ),
    Rule(
        name="url-token",
        group=Group.SECRETS,
        says="tokens in addresses",
        gate="(?i)(?:key|token|secret|sig|signature|auth|password)=",
        pattern=r"(?i)[?&](?:[a-z_-]{0,20}(?:key|token|secret|signature|password)|sig|auth|code)=(?P<value>[A-Za-z0-9%._~+/-]{16,}=*)",
        keep=_in_address,
    ),
    Rule(
        name="webhook",
        group=Group.SECRETS,
        says="webhook addresses",
        gate="(?i)hooks?[./]",
        pattern=r"(?P<value>https?://(?:hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}|(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/\d{10,}/[A-Za-z0-9_-]{20,}|[a-z0-9-]+\.webhook\.office\.com/[A-Za-z0-9@/_-]{20,}))",
    ),
    Rule(
        name="storage-key",
        group=Group.SECRETS,
        says="keys in connection strings",
        gate="(?i)(?:AccountKey|SharedAccessKey|SharedSecret)=",
        pattern=r"(?i)(?:AccountKey|SharedAccessKey|SharedSecret(?:Value)?)=(?P<value>[A-Za-z0-9+/]{30,}={0,2})",
    ),
    Rule(
        name="azure-secret",
        group=Group.SECRETS,
        says="Azure client secrets",
        gate=r"\dQ~",
        pattern=r"(?:^|[\s\"'`=:(,>])(?P<value>[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})",
    ),
    Rule(
        name="discord-token",
        group=Group.SECRETS,
        says="Discord bot tokens",
        gate=r"[A-Za-z0-9]\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]",
        pattern=r"\b(?P<value>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})",
        keep=_bearer,
    ),
    Rule(
        name="password",
        group=Group.SECRETS,
        says="passwords",
        gate="(?i)passw|passphrase|pwd",
        pattern=rf"(?i)(?:password|passwd|passphrase|pwd){_SIGNS}[\"'`](?P<value>[^\s\"'`]{{4,200}})",
        keep=_password,
    ),
    Rule(
        name="password",
        group=Group.SECRETS,
        says="passwords",
        gate="(?i)passw|passphrase|pwd",
        pattern=r"(?i)(?:password|passwd|passphrase|pwd)(?:\s{0,2}[=:]\s{0,2}|\s+is:?\s+)(?P<value>[^\s\"'`,;<>(){}\[\]$|&]{6,100})",
        keep=_bare_password,
    ),
    Rule(
        name="password",
        group=Group.SECRETS,
        says="passwords",
        gate="(?i)passw|passphrase",
        pattern=r"(?:\b[A-Z0-9_]*PASS(?:WORD|WD|PHRASE)=|--?pass(?:word|wd|phrase)?[\s=]{1,2})(?P<value>[^\s\"'`,;<>(){}\[\]$|&]{5,100})",
        keep=_setting,
    ),
    Rule(
        name="secret",
        group=Group.SECRETS,
        says="values called a key, secret or token",
        gate=r"(?i)(?:key|secret|token|credentials?|authorization)[\\\"'`\s]*[:=]",
        pattern=rf"(?i)(?P<name>[A-Za-z0-9_.-]{{0,40}}(?:(?:api|access|secret|private|auth|client|encryption|signing|master|service|account|app|consumer|subscription|shared|account)[_ -]?key|secret|token|credentials?|authorization)){_SIGNS}[\"'`](?P<value>[^\s\"'`<>{{}}]{{16,512}})",
        keep=_quoted,
    ),
    Rule(
        name="secret",
        group=Group.SECRETS,
        says="values called a key, secret or token",
        gate=r"(?i)(?:key|secret|token|credentials?|authorization)[\\\"'`\s]*[:=]",
        pattern=rf"(?i)(?P<name>[A-Za-z0-9_.-]{{0,40}}(?:(?:api|access|secret|private|auth|client|encryption|signing|master|service|account|app|consumer|subscription|shared|account)[_ -]?key|secret|token|credentials?|authorization)){_SIGNS}(?P<value>[A-Za-z0-9_+/=.~-]{{16,512}})",
        keep=_assigned,
    ),
)
