"""Values that are secret because a variable of this process is called so."""

from __future__ import annotations

import json

import pytest

from dense.redact import redact_text

VALUE = "kT7-plum" + "!9"


@pytest.mark.parametrize(
    "name",
    [
        "DB_PASSWORD",
        "my_token",
        "SECRET",
        "APP_SECRET_KEY",
        "GITHUB_TOKEN",
        "MYAPIKEY",
        "AWS_SECRET_ACCESS_KEY",
        "PASSWD",
    ],
)
def test_a_variable_named_like_a_secret(name: str) -> None:
    redacted, redactions = redact_text(f"+ login --with={VALUE}\n", environment={name: VALUE})
    assert redacted == "+ login --with=[redacted: environment-value 1]\n"
    assert redactions.describe() == "1 environment value"


@pytest.mark.parametrize("name", ["HOME", "MONKEY_NAME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "PWD", "MAX_TOKENS"])
def test_other_variables(name: str) -> None:
    assert redact_text(VALUE, environment={name: VALUE})[0] == VALUE


@pytest.mark.parametrize(
    "value",
    (
        "short1! disabled password changeme1 16384000 /run/secrets/key1 https://example.org/key1 your-key-here-1 "
        "not-needed ~/.ssh/id_ed25519 YOUR_API_KEY_2 aaaaaaaa1"
    ).split(),
)
def test_values_that_are_no_secret(value: str) -> None:
    text = f"before {value} after"
    assert redact_text(text, environment={"SOME_API_KEY": value})[0] == text


def test_as_json_and_urls_write_it() -> None:
    value = 'a"b\\c d/7' + "xyz"
    text = f"{json.dumps({'v': value})} ?v=a%22b%5Cc%20d%2F7xyz"
    redacted, _ = redact_text(text, environment={"A_SECRET": value})
    assert redacted == '{"v": "[redacted: environment-value 1]"} ?v=[redacted: environment-value 2]'


def test_a_format_names_it_better() -> None:
    value = "gl" + "pat-" + "x7Kq2Lm9Pz4Rt8Wv3Ny6"
    redacted, _ = redact_text(f"{value}", environment={"CI_TOKEN": value})
    assert redacted == "[redacted: gitlab-token 1]"


def test_the_environment_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSE_TEST_PASSWORD", VALUE)
    assert redact_text(f"<{VALUE}>")[0] == "<[redacted: environment-value 1]>"
    monkeypatch.delenv("DENSE_TEST_PASSWORD")
    assert redact_text(f"<{VALUE}>")[0] == f"<{VALUE}>"
