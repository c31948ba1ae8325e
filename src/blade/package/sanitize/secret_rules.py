"""Rules for secrets: keys and tokens by their provider's form, key blocks, and credentials in addresses and assignments."""

from __future__ import annotations

import base64
import binascii
import re
from functools import partial

from blade.package.sanitize.rule import (
    PatternMatch,
    SanitizeGroup,
    SanitizeRule,
    entropy,
    has_letters_and_digits,
    is_common_word,
    is_example_domain,
    is_hash,
    is_identifier,
    is_placeholder,
    is_typed_sequence,
    looks_random,
)

_secret = partial(SanitizeRule, group=SanitizeGroup.SECRETS)

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


def _block(match: PatternMatch) -> bool:
    """A header with a body, or at the end of its line, where the body follows; code that looks for headers has neither."""
    return len(match.value.partition(b"KEY")[2]) > _HEADER_END or not match.after(2).strip()


def _basic(match: PatternMatch) -> bool:
    """It decodes to `user:password`."""
    try:
        pair = base64.b64decode(match.value + b"=" * (-len(match.value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in pair[1:-1] and pair.isascii() and pair.decode().isprintable()


def _pair(match: PatternMatch) -> bool:
    """`user:password@host`, where neither the password nor the host is a placeholder."""
    pair, _, host = match.value.rpartition(b"@")
    password = pair.partition(b":")[2]
    if len(password) <= 2 or password.startswith(_TEMPLATE) or is_example_domain(host):
        return False
    return not (is_placeholder(password) or is_common_word(password))


def _password(match: PatternMatch) -> bool:
    """In quotation marks from end to end, so no sentence; and no placeholder, label or name in code."""
    value = match.value
    if _QUOTED.match(match.after(13)) is None or value.startswith(_TEMPLATE) or value.endswith((b":", b",")):
        return False
    return len(value) >= _LEAST_PASSWORD and not (
        is_placeholder(value) or is_common_word(value) or is_identifier(value)
    )


def _bare_password(match: PatternMatch) -> bool:
    """Without quotation marks it must not read as code or prose."""
    value = match.value.rstrip(b".,;:!?")
    return (
        match.after() not in (b"(", b"[")
        and has_letters_and_digits(value)
        and not is_placeholder(value)
        and not is_identifier(value)
    )


def _setting(match: PatternMatch) -> bool:
    """A variable of the environment or an option takes words too."""
    value = match.value
    return not (
        is_placeholder(value) or is_common_word(value) or is_identifier(value) or value.startswith((b"-", b"/"))
    )


def _assigned(match: PatternMatch) -> bool:
    """A value drawn at random that is called a key, secret or token; a hash only where the name leaves no doubt."""
    value = match.value.removesuffix(b"KEY").removesuffix(b"EXAMPLE")
    if _NOT_SECRET.search(match.name) or match.after() in (b"(", b"[") or not looks_random(value):
        return False
    strong = _STRONG.search(match.name) is not None
    return (strong and len(value) >= _LONG_HASH) if is_hash(value) else (strong or not is_typed_sequence(value))


def _quoted(match: PatternMatch) -> bool:
    """The same in quotation marks, where any sign may stand."""
    return _QUOTED.match(match.after(13)) is not None and not match.value.startswith(_TEMPLATE) and _assigned(match)


def _random(match: PatternMatch) -> bool:
    return looks_random(match.value)


SECRETS = (
    _secret(
        name="private-key",
        says="private keys",
        gate="PRIVATE KEY",
        pattern=r"(?P<value>-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,.()-]*?-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?:[\s,]*[A-Za-z0-9+/=]{16,})*))",
        keep=_block,
    ),
    _secret(
        name="jwt",
        says="JSON web tokens",
        gate="eyJ[A-Za-z0-9_-]",
        pattern=r"\b(?P<value>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
    ),
    _secret(
        name="bearer-token",
        says="bearer tokens",
        gate="(?i)bearer|authorization",
        pattern=r"(?i)(?:\bbearer|authorization[\"'`\s]{0,12}[:=][\"'`\s]{0,12}(?:token|apikey|key))[\s:=]{1,6}[\"'`]?(?P<value>[A-Za-z0-9._~+/-]{12,}=*)",
        keep=_random,
    ),
    _secret(
        name="basic-auth",
        says="basic-auth headers",
        gate="(?i)basic {1,4}[A-Za-z0-9+/]{8}",
        pattern=r"(?i)\bbasic {1,4}(?P<value>[A-Za-z0-9+/]{8,}={0,2})",
        keep=_basic,
    ),
    _secret(
        name="url-credentials",
        says="passwords in addresses",
        gate="://",
        pattern=r"[A-Za-z0-9+.-]://(?P<value>[^\s:/@\"'`<>?#]*:[^\s/@\"'`<>]+@[A-Za-z0-9._-]+)",
        keep=_pair,
    ),
    _secret(
        name="url-token",
        says="tokens in addresses",
        gate="(?i)(?:key|token|secret|sig|signature|auth|password)=",
        pattern=r"(?i)[?&](?:[a-z_-]{0,20}(?:key|token|secret|signature|password)|sig|auth|code)=(?P<value>[A-Za-z0-9%._~+/-]{16,}=*)",
        keep=_random,
    ),
    _secret(
        name="webhook",
        says="webhook addresses",
        gate="(?i)hooks?[./]",
        pattern=r"(?P<value>https?://(?:hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}|(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/\d{10,}/[A-Za-z0-9_-]{20,}|[a-z0-9-]+\.webhook\.office\.com/[A-Za-z0-9@/_-]{20,}))",
    ),
    _secret(
        name="storage-key",
        says="keys in connection strings",
        gate="(?i)(?:AccountKey|SharedAccessKey|SharedSecret)=",
        pattern=r"(?i)(?:AccountKey|SharedAccessKey|SharedSecret(?:Value)?)=(?P<value>[A-Za-z0-9+/]{30,}={0,2})",
    ),
    _secret(
        name="azure-secret",
        says="Azure client secrets",
        gate=r"\dQ~",
        pattern=r"(?:^|[\s\"'`=:(,>])(?P<value>[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})",
    ),
    _secret(
        name="discord-token",
        says="Discord bot tokens",
        gate=r"[A-Za-z0-9]\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]",
        pattern=r"\b(?P<value>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})",
        keep=_random,
    ),
    _secret(
        name="password",
        says="passwords",
        gate="(?i)passw|passphrase|pwd",
        pattern=rf"(?i)(?:password|passwd|passphrase|pwd){_SIGNS}[\"'`](?P<value>[^\s\"'`]{{4,200}})",
        keep=_password,
    ),
    _secret(
        name="password",
        says="passwords",
        gate="(?i)passw|passphrase|pwd",
        pattern=r"(?i)(?:password|passwd|passphrase|pwd)(?:\s{0,2}[=:]\s{0,2}|\s+is:?\s+)(?P<value>[^\s\"'`,;<>(){}\[\]$|&]{6,100})",
        keep=_bare_password,
    ),
    _secret(
        name="password",
        says="passwords",
        gate="(?i)passw|passphrase",
        pattern=r"(?:\b[A-Z0-9_]*PASS(?:WORD|WD|PHRASE)=|--?pass(?:word|wd|phrase)?[\s=]{1,2})(?P<value>[^\s\"'`,;<>(){}\[\]$|&]{5,100})",
        keep=_setting,
    ),
    _secret(
        name="secret",
        says="values called a key, secret or token",
        gate=r"(?i)(?:key|secret|token|credentials?|authorization)[\\\"'`\s]*[:=]",
        pattern=rf"(?i)(?P<name>[A-Za-z0-9_.-]{{0,40}}(?:(?:api|access|secret|private|auth|client|encryption|signing|master|service|account|app|consumer|subscription|shared|account)[_ -]?key|secret|token|credentials?|authorization)){_SIGNS}[\"'`](?P<value>[^\s\"'`<>{{}}]{{16,512}})",
        keep=_quoted,
    ),
    _secret(
        name="secret",
        says="values called a key, secret or token",
        gate=r"(?i)(?:key|secret|token|credentials?|authorization)[\\\"'`\s]*[:=]",
        pattern=rf"(?i)(?P<name>[A-Za-z0-9_.-]{{0,40}}(?:(?:api|access|secret|private|auth|client|encryption|signing|master|service|account|app|consumer|subscription|shared|account)[_ -]?key|secret|token|credentials?|authorization)){_SIGNS}(?P<value>[A-Za-z0-9_+/=.~-]{{16,512}})",
        keep=_assigned,
    ),
)


_FORMS: tuple[tuple[str, str, str], ...] = (
    # rule, prefix (searched in raw bytes), body
    ("anthropic-key", "sk-ant-", r"[a-z0-9]+-[A-Za-z0-9_-]{20,}"),
    ("openrouter-key", "sk-or-", r"v\d-[0-9a-f]{32,}"),
    ("langfuse-key", "[sp]k-lf-", r"[0-9a-f-]{36}"),
    ("openai-key", "sk-", r"(?:proj-|svcacct-|admin-|service-)?[A-Za-z0-9_-]{20,}"),
    ("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{20,}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{30,}"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{40,}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{30,}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{30,}"),
    ("fireworks-key", "fw_", r"[A-Za-z0-9]{20,}"),
    ("together-key", "tgp_v1_", r"[A-Za-z0-9_-]{30,}"),
    ("cerebras-key", "csk-", r"[a-z0-9]{30,}"),
    ("tavily-key", "tvly-", r"[A-Za-z0-9-]{20,}"),
    ("jina-key", "jina_", r"[A-Za-z0-9_-]{40,}"),
    ("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("wandb-key", "wandb_v1_", r"[A-Za-z0-9_]{30,}"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{40,}"),
    ("sandbox-key", "(?:e2b|dtn)_", r"[0-9a-f]{40,64}"),
    ("hugging-face-token", "(?:hf|api_org)_", r"[A-Za-z0-9]{30,}"),
    ("google-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("google-oauth", r"(?:GOCSPX-|ya29\.)", r"[A-Za-z0-9_-]{20,}"),
    ("aws-key-id", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]", r"[A-Z2-7]{15}"),
    ("alibaba-key-id", "LTAI", r"[A-Za-z0-9]{16,24}"),
    ("digitalocean-token", "do[oprt]_v1_", r"[0-9a-f]{64}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("github-token", "gh[pousr]_", r"[A-Za-z0-9]{30,}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
    ("gitlab-token", "gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-", r"[A-Za-z0-9_.-]{20,}"),
    ("atlassian-token", "AT(?:ATT|CTT)3", r"[A-Za-z0-9_=-]{30,}"),
    ("slack-token", "(?:xox[abceoprs]|xapp)-", r"[A-Za-z0-9-]{10,}"),
    ("telegram-token", ":AA", r"[A-Za-z0-9_-]{32,34}"),
    ("stripe-key", "(?:[sr]k_(?:live|test|prod)|whsec)_", r"[A-Za-z0-9]{16,}"),
    ("square-token", "(?:sq0(?:atp|csp)-|EAAA)", r"[A-Za-z0-9_-]{22,}"),
    ("shopify-token", "shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    ("elevenlabs-key", "sk_[0-9a-f]{6}", r"[0-9a-f]{42}"),
    ("sendgrid-key", r"SG\.", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}"),
    ("mailchimp-key", r"[0-9a-f]-us\d", r"\d?"),
    ("twilio-key", "SK[0-9a-f]", r"[0-9a-f]{31}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-Ag", r"[A-Za-z0-9_-]{40,}"),
    ("docker-token", "dckr_(?:pat|oat)_", r"[A-Za-z0-9_-]{20,}"),
    ("rubygems-token", "rubygems_", r"[0-9a-f]{48}"),
    ("vault-token", r"hv[sbr]\.", r"[A-Za-z0-9_-]{20,}"),
    ("terraform-token", r"\.atlasv1\.", r"[A-Za-z0-9_=-]{50,}"),
    ("grafana-token", "gl(?:sa|c)_", r"[A-Za-z0-9+/=_]{32,}"),
    ("new-relic-key", "NR(?:AK|JS|II)-", r"[A-Za-z0-9_-]{19,}"),
    ("sentry-token", "sntry[su]_", r"[A-Za-z0-9+/=_]{40,}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim)\.", r"[A-Za-z0-9._-]{40,}"),
    ("planetscale-token", "pscale_(?:tkn|pw|oauth)_", r"[A-Za-z0-9_.=-]{30,}"),
    ("supabase-key", "(?:sbp|sb_secret)_", r"[A-Za-z0-9_-]{20,}"),
    ("linear-key", "lin_(?:api|oauth)_", r"[A-Za-z0-9]{32,}"),
    ("notion-key", "ntn_", r"[A-Za-z0-9]{40,}"),
    ("figma-token", "fig[dour]_", r"[A-Za-z0-9_-]{30,}"),
    ("airtable-token", r"pat[A-Za-z0-9]{14}\.", r"[0-9a-f]{64}"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{30,}"),
    ("contentful-token", "CFPAT-", r"[A-Za-z0-9_-]{40,}"),
    ("tailscale-key", "tskey-", r"[a-z]+-[A-Za-z0-9-]{20,}"),
    ("fly-token", "(?:fo1|fm[12])_", r"[A-Za-z0-9+/=_-]{40,}"),
    ("openshift-token", "sha256~", r"[A-Za-z0-9_-]{40,}"),
    ("artifactory-token", "(?:AKCp|cmVmdGtu)", r"[A-Za-z0-9]{50,}"),
    ("one-password-token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{100,}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
)
_SURE = frozenset({"slack-token", "github-token", "gitlab-token", "nvidia-key", "anthropic-key", "stripe-key"})
_LEAST_BITS = 2.8
_LONG = 14
_NO_WORD = 24
_HEAD = {"telegram-token": r"\d{8,10}", "terraform-token": r"[A-Za-z0-9]{14}", "mailchimp-key": r"[0-9a-f]{31}"}
"""What stands in front of a mark that is not a prefix."""


def _drawn(match: PatternMatch) -> bool:
    """Not words that begin as a key does: it has digits and both cases, or a part that is too long for a word."""
    body = match.value[3:].removesuffix(b"EXAMPLE")
    if match.after() == b"(" or is_placeholder(body) or entropy(body) < _LEAST_BITS:
        return False
    longest = max(re.split(rb"[-_.]", match.value[3:]), key=len)
    if len(longest) >= _NO_WORD:
        return True
    return has_letters_and_digits(body) and (
        body.lower() != body != body.upper() or (len(longest) >= _LONG and has_letters_and_digits(longest))
    )


def _sure(match: PatternMatch) -> bool:
    """Nothing else begins so."""
    return not is_placeholder(match.value[4:])


KEYS = tuple(
    _secret(
        name=name,
        says=name.replace("-", " ") + "s",
        gate=prefix,
        pattern=rf"(?:^|[^A-Za-z0-9_/+-])(?P<value>{_HEAD.get(name, '')}{prefix}{body})",
        keep=_sure if name in _SURE else _drawn,
    )
    for name, prefix, body in _FORMS
)

RULES = (*KEYS, *SECRETS)
