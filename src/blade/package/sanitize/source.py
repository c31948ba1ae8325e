"""Source that is not for sharing: what its header says, and files that hold credentials by their name."""

from __future__ import annotations

import fnmatch
import re

from blade.package.sanitize.rules import Group, Match, Rule

_PERMISSIVE = re.compile(
    rb"redistribution and use in source|permission is hereby granted|licensed under|spdx-license-identifier:|apache license|mit license|bsd license|creative commons|gnu (?:lesser |affero )?general public|mozilla public",
    re.IGNORECASE,
)
_NEAR = 3000
RESERVED = "rights-reserved"
_FILES = (
    ".env",
    ".env.*",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.kdbx",
    "*.keystore",
    ".netrc",
    ".pypirc",
    ".npmrc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    "credentials",
    "kubeconfig",
    "*.ovpn",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    "*.tfstate",
)
_SAMPLES = ("*.example", "*.sample", "*.template", "*.dist")
_FOLDERS = frozenset(
    {".ssh", ".aws", ".gnupg", ".kube", ".docker", "private", "proprietary", "confidential", "internal-only"}
)


def permissive(text: bytes) -> bool:
    """A public licence speaks in it."""
    return _PERMISSIVE.search(text) is not None


def _no_licence(match: Match) -> bool:
    """`All rights reserved` opens many public licences: none of them is near."""
    return not permissive(match.view[max(0, match.start - _NEAR) : match.end + _NEAR])


def private_name(path: str) -> bool:
    """A file that holds credentials or private source, by its name or that of its folder."""
    *folders, name = path.split("/")
    if any(folder.lower() in _FOLDERS for folder in folders):
        return True
    return any(fnmatch.fnmatchcase(name.lower(), form) for form in _FILES) and not any(
        fnmatch.fnmatchcase(name.lower(), form) for form in _SAMPLES
    )


RULES = (
    Rule(
        name="private-source",
        group=Group.SOURCE,
        says="marks of private source",
        gate="(?i)confidential|internal|proprietary|distribut|not.{1,4}for|trade|unpublished|unlicensed",
        pattern=r"(?i)(?P<value>proprietary\s{1,3}(?:and|&)\s{1,3}confidential|confidential\s{1,3}(?:and|&)\s{1,3}proprietary|(?:company|strictly|highly)\s{1,3}confidential|(?:for\s{1,3})?internal\s{1,3}use\s{1,3}only|proprietary\s{1,3}(?:source|code)|do\s{1,3}not\s{1,3}distribute|not\s{1,3}for\s{1,3}(?:public|external)\s{1,3}(?:distribution|release|use)|not\s{1,3}for\s{1,3}distribution|contains?\s{1,3}trade\s{1,3}secrets?|unpublished\s{1,3}(?:proprietary|work)|(?:code|software|file|source)\s{1,3}is\s{1,3}(?:confidential|proprietary)|licen[cs]e[\s\"']{0,6}:[\s\"']{0,6}(?:proprietary|unlicensed)\b|(?-i:(?:(?:#|//|\*|--)\s{0,3}|[A-Z]{3,20}\s)CONFIDENTIAL\b))",
        whole=True,
    ),
    Rule(
        name=RESERVED,
        group=Group.SOURCE,
        says="reserved rights without a public licence",
        gate="(?i)reserved",
        pattern=r"(?i)(?P<value>all\s{1,3}rights\s{1,3}reserved)",
        keep=_no_licence,
        whole=True,
    ),
)

PRIVATE_FILE = Rule(
    name="private-file", group=Group.SOURCE, says="files that hold credentials or private source by their name"
)
OPAQUE_FILE = Rule(name="opaque-file", group=Group.SOURCE, says="files that cannot be looked into")
