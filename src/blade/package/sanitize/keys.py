"""Keys and tokens whose form gives them away: a prefix that their provider chose, and a body."""

from __future__ import annotations

import re

from blade.package.sanitize import doubt
from blade.package.sanitize.rules import Group, Match, Rule

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


def _drawn(match: Match) -> bool:
    """Not words that begin as a key does: it has digits and both cases, or a part that is too long for a word."""
    body = match.value[3:].removesuffix(b"EXAMPLE")
    if match.after() == b"(" or doubt.stand_in(body) or doubt.bits(body) < _LEAST_BITS:
        return False
    longest = max(re.split(rb"[-_.]", match.value[3:]), key=len)
    if len(longest) >= _NO_WORD:
        return True
    return doubt.mixed(body) and (
        body.lower() != body != body.upper() or (len(longest) >= _LONG and doubt.mixed(longest))
    )


def _sure(match: Match) -> bool:
    """Nothing else begins so."""
    return not doubt.stand_in(match.value[4:])


def _rule(name: str, prefix: str, body: str) -> Rule:
    return Rule(
        name=name,
        group=Group.SECRETS,
        says=name.replace("-", " ") + "s",
        gate=prefix,
        pattern=rf"(?:^|[^A-Za-z0-9_/+-])(?P<value>{_HEAD.get(name, '')}{prefix}{body})",
        keep=_sure if name in _SURE else _drawn,
    )


RULES = tuple(_rule(*form) for form in _FORMS)
