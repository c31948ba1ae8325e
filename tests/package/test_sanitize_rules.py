"""Each rule: what it must find, and what it must not."""

import json
import uuid
from pathlib import Path

import pytest

import planted
from blade.package.sanitize.lists import AllowList, DenyList
from blade.package.sanitize.scan import RULES, Scanner, readable

_SCANNER = Scanner(DenyList(), AllowList())


def _found(text: str) -> list[tuple[str, str]]:
    line = text.encode()
    return [(hit.rule.name, line[hit.start : hit.end].decode()) for hit in _SCANNER.hits(line, "f", is_json=False)]


def _names(text: str) -> list[str]:
    return [name for name, _ in _found(text)]


@pytest.mark.parametrize(("rule", "key"), planted.provider_keys().items(), ids=planted.provider_keys())
def test_a_provider_s_key_is_found_by_its_form(rule: str, key: str) -> None:
    for text in (key, f"key={key}", f'"{key}"', f"({key}, 1)", f"https://x.io/?k={key}&b"):
        assert _found(text) == [(rule, key)] or rule in _names(text), text


@pytest.mark.parametrize(("rule", "text"), planted.others().items(), ids=planted.others())
def test_the_value_is_found_and_not_more(rule: str, text: str) -> None:
    before, value, after = text.replace("»", "«").split("«")
    if rule == "private-source":
        value = value.removeprefix("ACME ")
    assert (rule, value) in _found(before + text[len(before) + 1 : -len(after) - 1 if after else -1] + after)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("rule", planted.others())
def test_json_inside_json_hides_nothing(rule: str, depth: int) -> None:
    text = planted.others()[rule].replace("«", "").replace("»", "")
    row = text + "\nnext line"
    for _ in range(depth):
        row = json.dumps({"output": f"see:\n{row}\n"})
    assert rule in _names(row)


def test_a_private_key_in_a_row_is_one_finding() -> None:
    assert _names(json.dumps({"text": f"a\n{planted.pem()}\nb"})) == ["private-key"]


@pytest.mark.parametrize(
    "path",
    [
        r"C:\Users\mlopez\run",
        r"D:\\Users\\mlopez\\run",
        planted.USERS + "/mlopez/run",
        f"file://{planted.HOME}/mlopez/x",
        f"/mnt{planted.HOME}/mlopez",
    ],
)
def test_home_folders_of_all_systems(path: str) -> None:
    assert _found(path) == _found(f'open("{path}")') == [("home-path", "mlopez")]
    assert _names(json.dumps({"p": path})) == ["home-path"]


@pytest.mark.parametrize(
    "text",
    [
        '"password": "hunter2"',
        "password = 'Summer2024!'",
        "PGPASSWORD=Summer2024 psql",
        "db_password: Summer2024!",
        "mysql --password Summer2024 -u root",
        '{"passwd":"tr0ub4dor"}',
        "Server=db;User Id=sa;Pwd=Summer2024;",
    ],
)
def test_passwords_are_found_in_assignments(text: str) -> None:
    assert _names(text) == ["password"]


@pytest.mark.parametrize(
    "text",
    [
        # hashes, ids, images
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        f'"id": "{uuid.UUID(int=0x12345678123456781234567812345678)}"',
        '"call_id": "call_9fX2kQ0bVn3LrT8sYw1ZpE5u"',
        '"token": "' + planted.body("w", 40, planted.HEX) + '"',
        '"nextPageToken": "' + planted.body("page", 40) + '"',
        '"image": "data:image/png;base64,' + planted.body("png", 4000) + '"',
        '"sha256": "' + planted.body("sha", 64, planted.HEX) + '"',
        '"encrypted_content": "' + planted.body("enc", 400) + '"',
        # code and prose about secrets
        "password = request.form['password']",
        'password: str = ""',
        '"password": "string"',
        'raise ValueError("password: is required")',
        "if password == other_password:",
        'api_key = os.environ["OPENAI_API_KEY"]',
        "api_key=config.settings.api_key_value",
        "secret_key = get_secret_value(name1)",
        '"token": " the"',
        "max_tokens: 4096, token_count=12345678901234567890",
        "basic economy, basic understanding",
        "bearer of bad news about the authorization",
        "if '-----BEGIN RSA PRIVATE" + " KEY-----' in text:",
        # placeholders
        "OPENAI_API_KEY=sk-your-api-key-here-please-12",
        "export TOKEN=<your token goes here>",
        "sk-" + "x" * 40,
        "https://user:password@host/db",
        "postgres://${USER}:${PASS}@db.acme.io",
        "sk-learn-is-a-library-with-many-estimators-2",
        # addresses of nobody
        "ping 127.0.0.1, 0.0.0.0, 192.0.2.7, 203.0.113.9 and 8.8.8.8",
        "version 10.4.2.1, pkg==10.31.4.17, section 3.2.1.4",
        "http://localhost:8000/v1 and http://127.0.0.1:9000",
        "https://github.com/acme/tool and http://example.com:80/x",
        "std::chrono::seconds 12:34:56:78",
        "threading.local() self.internal com.sun.internal.Foo",
        '"hostname": "localhost"',
        # people who do not exist
        "a@example.com b@example.org c@shop.example d@x.test e@y.invalid",
        "git@github.com:acme/tool.git",
        "icon@2x.png",
        "@pytest.mark.parametrize and @property",
        f"{planted.HOME}/ubuntu/x {planted.HOME}/user/y {planted.USERS}/runner/z {planted.HOME}/$USER",
        "https://acme.io/home/products",
        "USER=root",
        # public licences
        "Copyright ACME. All rights reserved. SPDX-License-Identifier: Apache-2.0",
        "[redacted: openai-key] [redacted: email 2]",
    ],
)
def test_what_is_no_finding(text: str) -> None:
    assert _names(text) == []
    assert _names(json.dumps({"text": text})) == []


def test_an_escape_that_hides_a_letter_is_resolved() -> None:
    line = rb'{"a": "maria.lopez\u0040acme.io", "b": "http:\/\/gpu-node-12:8000\/v1", "c": "\\u0040"}'
    clear = readable(line, is_json=True)
    assert json.loads(clear) == json.loads(line)
    assert [hit.rule.name for hit in _SCANNER.hits(clear, "f", is_json=True)] == ["email", "internal-url"]


def test_a_secret_inside_a_private_address_counts_apart() -> None:
    text = f"http://maria:{planted.body('x', 12)}@10.1.2.3:8080/x"
    assert _names(text) == ["internal-url", "url-credentials"]


def test_every_rule_has_a_gate_a_pattern_and_words() -> None:
    for rule in RULES:
        assert rule.gate
        assert "(?P<value>" in rule.pattern
        assert rule.says
        assert rule.name == rule.name.lower()


def test_no_gate_hides_what_its_rule_would_find() -> None:
    """Every planted thing is found when each rule is tried on each line."""
    from blade.package.sanitize.scan import compiled, view

    texts = [
        *planted.provider_keys().values(),
        *(t.replace("«", "").replace("»", "") for t in planted.others().values()),
    ]
    for text in (*texts, *(json.dumps({"a": json.dumps({"b": f"\n{one}\n"})}) for one in texts)):
        line = text.encode()
        for rule in RULES:
            matched = compiled(rule.pattern).search(line if rule.backslashes else view(line)) is not None
            opened = compiled(rule.gate).search(line) is not None
            assert opened or not matched, (rule.name, text)


def test_the_repository_s_own_examples_hold_nothing() -> None:
    from blade.package.sanitize import sanitize

    root = Path(__file__).parents[2]
    for folder in ("examples", "docs"):
        assert sanitize(root / folder).counts == ()


def test_the_page_names_every_rule_that_is_not_a_provider_s() -> None:
    from blade.package.sanitize import lists, private_rules, secret_rules

    page = (Path(__file__).parents[2] / "docs/packages.md").read_text()
    whole_files = (private_rules.PRIVATE_FILE, private_rules.OPAQUE_FILE, lists.BAD_LINE)
    rules = [*secret_rules.SECRETS, *private_rules.RULES, *whole_files]
    assert [rule.name for rule in rules if f"`{rule.name}`" not in page] == []
    assert len({rule.name for rule in secret_rules.KEYS}) >= 60
