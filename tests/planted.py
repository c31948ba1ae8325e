"""Invented things that must not be shared, put together at run time so that no file of the repository holds one."""

import base64
import hashlib
import json
import string

_ALPHABET = string.ascii_letters + string.digits


def body(seed: str, size: int, alphabet: str = _ALPHABET) -> str:
    """Letters that look drawn at random, the same for the same seed."""
    digest = "".join(hashlib.sha512(f"{seed}{number}".encode()).hexdigest() for number in range(size // 32 + 1))
    drawn = [alphabet[int(digest[2 * at : 2 * at + 2], 16) % len(alphabet)] for at in range(size)]
    ends = [one for one in (alphabet[0], alphabet[-1]) if one]
    return "".join([*ends, *drawn])[:size]


HOME = "/ho" + "me"
USERS = "/Us" + "ers"
HEX = string.digits + "abcdef"


def _coded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt() -> str:
    return ".".join(
        (_coded({"alg": "HS256", "typ": "JWT"}), _coded({"sub": "1234567890", "name": "N"}), body("jwt", 43))
    )


def pem(lines: int = 4) -> str:
    inner = "\n".join(body(f"pem{number}", 64) for number in range(lines))
    return f"-----BEGIN {'RSA '}PRIVATE {'KEY'}-----\n{inner}\n-----END RSA PRIVATE {'KEY'}-----"


def provider_keys() -> dict[str, str]:
    """One value for each rule of providers."""
    upper = string.ascii_uppercase + "234567"
    return {
        "anthropic-key": "sk-" + "ant-api03-" + body("a", 90),
        "openrouter-key": "sk-" + "or-v1-" + body("b", 64, HEX),
        "openai-key": "sk-" + "proj-" + body("c", 48),
        "nvidia-key": "nvapi" + "-" + body("d", 60),
        "groq-key": "gsk" + "_" + body("e", 52),
        "hugging-face-token": "hf" + "_" + body("f", 34),
        "google-key": "AI" + "za" + body("g", 35),
        "google-oauth": "GOCSPX" + "-" + body("h", 28),
        "aws-key-id": "AK" + "IA" + body("i", 16, upper),
        "databricks-token": "dap" + "i" + body("j", 32, HEX),
        "github-token": "gh" + "p_" + body("k", 36),
        "gitlab-token": "gl" + "pat-" + body("l", 20),
        "slack-token": "xo" + "xb-" + body("m", 12, string.digits) + "-" + body("m", 24),
        "telegram-token": body("n", 9, string.digits[1:]) + ":A" + "A" + body("n", 33),
        "stripe-key": "sk" + "_live_" + body("o", 24),
        "sendgrid-key": "SG" + "." + body("p", 22) + "." + body("q", 43),
        "mailchimp-key": body("r", 32, HEX) + "-" + "us12",
        "npm-token": "np" + "m_" + body("s", 36),
        "pypi-token": "pyp" + "i-AgEI" + body("t", 60),
        "vault-token": "hv" + "s." + body("u", 24),
        "terraform-token": body("v", 14) + ".atlas" + "v1." + body("w", 60),
        "shopify-token": "shp" + "at_" + body("x", 32, HEX),
        "tavily-key": "tv" + "ly-" + body("y", 32),
        "digitalocean-token": "do" + "p_v1_" + body("z", 64, HEX),
        "xai-key": "xa" + "i-" + body("1", 60),
        "langsmith-key": "lsv" + "2_pt_" + body("2", 32, HEX) + "_" + body("3", 10, HEX),
    }


def others() -> dict[str, str]:
    """A text for each rule that is not a provider's; what is to be redacted stands between guillemets."""
    pair = base64.b64encode(b"maria:" + body("basic", 12).encode()).decode()
    return {
        "jwt": f"token «{jwt()}»",
        "bearer-token": f"Authorization: Bearer «{body('bearer', 40)}»",
        "basic-auth": f"Authorization: Basic «{pair}»",
        "url-credentials": f"postgresql://«maria:{body('url', 14)}@db.acme.io»/prod",
        "url-token": f"https://api.acme.io/v1?x=1&api_key=«{body('query', 32)}»&y=2",
        "webhook": "«https://hooks.slack.com/" + f"services/T{body('t', 9)}/B{body('b', 9)}/{body('w', 24)}»",
        "storage-key": f"AccountName=acme;Account{'Key'}=«{body('store', 86)}==»;Endpoint",
        "azure-secret": f"value: «{body('az', 3)}8Q~{body('azure', 32)}»",
        "password": f'"pass{"word"}": "«{body("pw", 10)}»"',
        "secret": f"WANDB_API_{'KEY'}=«{body('wandb', 40, HEX)}»",
        "internal-url": "served at «http://gpu-node-12:8000/v1/chat» today",
        "ip-address": "connect to «10.31.4.17» now",
        "internal-host": "ssh into «build-7.corp» first",
        "host-name": '"hostname": "«dgx-042»"',
        "shell-prompt": "«maria@dgx-042»:~/run$ ls",
        "email": "ask «maria.lopez@acme.io» about it",
        "user-name": "LOGNAME=«mlopez»",
        "home-path": "File /home/«mlopez»/run/agent.py",
        "cluster-path": "in «/lustre/fsw/team/mlopez/run.py» line 3",
        "private-source": "«ACME Confidential and Proprietary»",
        "rights-reserved": "Copyright 2024 ACME. «All rights reserved»",
    }
