"""What must come through as it is: everything that is no credential."""

from __future__ import annotations

import base64
import hashlib
import random
import uuid
from pathlib import Path

import pytest

import dense
from dense.redact import redact, redact_text

ROOT = Path(__file__).parents[2]
OWN = [*sorted((ROOT / "examples").iterdir()), *sorted((ROOT / "tests" / "fixtures").iterdir())]
DATA = random.Random(1).randbytes(3000)
SHA1 = hashlib.sha1(DATA).hexdigest()
SHA256 = hashlib.sha256(DATA).hexdigest()
MD5 = hashlib.md5(DATA).hexdigest()
SRI = base64.b64encode(hashlib.sha512(DATA).digest()).decode()
ID = str(uuid.UUID(bytes=DATA[:16], version=4))


@pytest.mark.parametrize(
    "folder",
    [path for path in OWN if path.is_dir() and path.name not in ("make", "refit", "recorded", "test-runners")],
    ids=lambda p: p.name,
)
def test_own_traces(folder: Path) -> None:
    """The very same object: recovered passwords, hashes and all."""
    for trajectory in dense.read(folder):
        redacted, redactions = redact(trajectory, environment={})
        assert redacted is trajectory
        assert redactions.describe() == "nothing"


def test_the_recovered_password_is_in_what_was_checked() -> None:
    """So that the test above means something."""
    (trajectory,) = dense.read(ROOT / "examples" / "password-recovery")
    text = "\n".join(observation.text for step in trajectory.steps for observation in step.observations)
    assert "PASSWORD=8XDR" in text


def test_real_traces(corpus: Path) -> None:
    """Each hit in the corpus was looked at: the password of a file of settings, and an answer to a puzzle whose task
    says nothing of a secret."""
    found: list[str] = []
    read = 0
    for trajectory in dense.read(corpus):
        redacted, redactions = redact(trajectory, environment={})
        found += [f"{trajectory.source}: {redactions.describe()}"] if redacted is not trajectory else []
        read += 1
    assert read > 300
    assert len(found) <= 6, found


@pytest.mark.parametrize(
    "text",
    [
        f"commit {SHA1}\nAuthor: A <a@b.org>\n\nindex {SHA1[:7]}..{SHA1[8:15]} 100644",
        f"git checkout {SHA1} && git show {SHA1}:src/main.py",
        f"{SHA256}  dist/app.tar.gz\n{MD5}  README.md",
        f'"integrity": "sha512-{SRI}"',
        f"pkg/module.py,sha256=sk-{base64.urlsafe_b64encode(DATA[:30]).decode()},959",
        f"session {ID} started; trace_id={ID} request-id: {ID}",
        f'{{"api_key_id": "{ID}", "access_token_id": "{ID}", "client_secret_id": "{ID}"}}',
        f"cache: key={SHA256} token={SHA1} etag: {MD5}",
        f"key-{MD5} hit, key-{SHA1} miss",
        f"data:image/png;base64,{base64.b64encode(DATA).decode()}",
        base64.b64encode(DATA).decode(),
        base64.encodebytes(DATA).decode(),
        base64.urlsafe_b64encode(DATA).decode(),
        DATA.hex(),
        "echo 8XDR7K2MQ9T4HBV6NC3LW54 > /app/recovered_passwords.txt",
        "flag{th1s_1s_n0t_A_cr3d3nt1al_9f8e7d6c5b4a}",
        "The secret is Xk29fQ17bLm30ZpQ and the key is 4fA9bC81dE72.",
        "export OPENAI_API_KEY=sk-... # or sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx or sk-your-key-goes-here-please",
        "API_KEY=YOUR_API_KEY\nAPI_TOKEN=<your token here>\nSECRET_KEY=${SECRET_KEY}\nAUTH_TOKEN=$(cat token.txt)",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN\nAuthorization: Bearer YOUR_ACCESS_TOKEN_HERE",
        "Bearer authentication is described in authentication-and-authorization-overview.md",
        "postgres://postgres:postgres@localhost:5432/app redis://:password@cache mysql://root:root@db/x",
        "https://user:${PASSWORD}@host/ https://user:<password>@host/ https://user:%s@host https://u:***@h",
        "re.compile(r'://[^:]+:[^@]+@')  git@github.com:owner/name.git ssh://git@host:22/x mailto:a@b.org",
        "http://localhost:8080/a@b http://[::1]:8080/@scope/name npm install @types/node@20.1.0",
        "connect(host='db', user='app', password=os.environ['DB_PASSWORD'])",
        "connect(host=db, password=load_password(), timeout=30)",
        'if "-----BEGIN RSA PRIVATE KEY-----" in text: raise ValueError("-----END RSA PRIVATE KEY-----")',
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(DATA[:48]).decode()}\n-----END PUBLIC KEY-----",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{base64.b64encode(DATA[:33]).decode()} user@host",
        "password: v1.2.3",
        "sk-container-id-1 sk-estimator-doc-link sk-toggleable__content risk-free-rate-2024-01-01-final",
        "npm_config_registry npm_package_name_with_a_rather_long_name_1234567890",
        "class SecretKeyProvider: api_key = provider.get_default_api_key_from_environment_v2()",
        "accessToken: generateAccessTokenForUser123(user), apiKey: settings.THIRD_PARTY_API_KEY_V2",
        "DNA: ACCAGGTTACCATTGACCAG AKIA ASIA SKU0123456789 SG.module.name.that.is.long.enough.to.look.twice",
        "/usr/lib/python3/dist-packages/secret_key/api_token/auth_key=/var/lib/secrets/api_key_2024_production",
        "/nix/store/0c3b5x2y9z8a7w6v5u4t3s2r1q0p9o8n-openssl-3.0.12/lib",
        "toolu_01A09q90qw90lq917835lq9 call_9f8a7b6c5d4e3f2a1b0c msg_01XFDUDYJgAACzvnptvVoYEL",
        "eyJ0aGlzIjoiaXMganVzdCBKU09OIn0 eyJhIjoxfQ.eyJiIjoyfQ",
        "1234567890:AAAA is no bot; 2025-01-01T10:00:00:AAxx neither",
        "[redacted: github-token 1] and password=[redacted: url-password 2]",
        "",
        "\0\0\0",
        "ſecret KEY=ﬀ İ token: ẞ",
    ],
)
def test_what_is_no_credential(text: str) -> None:
    redacted, redactions = redact_text(text, environment={})
    assert redacted == text
    assert not redactions


@pytest.mark.slow
def test_the_source_of_python_itself() -> None:
    """A hundred megabytes that hold no credential except test keys and the examples of the documentation. The tests of
    `netrc` and of log-ins are left out: they are full of passwords."""
    found: dict[str, int] = {}
    folder = Path(random.__file__).parent
    for path in (path for path in folder.rglob("*.py") if "test" not in path.relative_to(folder).parts):
        for kind, count in redact_text(path.read_text(errors="replace"), environment={})[1].counts.items():
            found[kind] = found.get(kind, 0) + count
    assert found.pop("password", 0) <= 1, found  # `passwd='geheim$parole'` in the documentation of urllib
    assert set(found) <= {"private-key", "url-password", "json-web-token", "basic-credential"}, found
