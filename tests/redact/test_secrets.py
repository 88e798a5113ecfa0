"""Each kind of credential, in the places where agents leave them. All are made here, at random, when the tests run."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest

from dense.redact import redact_text
from dense.redact.rules.contexts import LABELS
from dense.redact.rules.token_formats import SEARCHED_FORMATS, kind_of
from dense.redact.rules.token_formats import TOKEN_FORMATS as TABLE

LETTERS, DIGITS, UPPER, LOWER = string.ascii_letters, string.digits, string.ascii_uppercase, string.ascii_lowercase
ALNUM, HEX = LETTERS + DIGITS, "0123456789abcdef"
URL64, BASE64, BASE32 = ALNUM + "_-", ALNUM + "+/", UPPER + "234567"


class Draw:
    """Random text that a look takes for random: a draw without a digit or without a capital is drawn again."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, length: int, alphabet: str = ALNUM) -> str:
        while True:
            text = "".join(self.random.choices(alphabet, k=length))
            wanted = [group for group in (DIGITS, UPPER, LOWER) if length >= 16 and set(group) & set(alphabet)]
            if all(set(group) & set(text) for group in wanted) and text[-1].isalnum() and text[0].isalnum():
                return text

    def base64(self, text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def json_web_token(draw: Draw) -> str:
    head = draw.base64(json.dumps({"alg": "HS256", "typ": "JWT"}))
    return f"{head}.{draw.base64(json.dumps({'sub': draw(8), 'iat': 1_700_000_000}))}.{draw(43, URL64)}"


def discord(draw: Draw) -> str:
    return f"{draw.base64(draw(18, '123456789'))}.{draw(6, URL64)}.{draw(38, URL64)}"


def prefixed(prefix: str, length: int, alphabet: str = ALNUM) -> Callable[[Draw], str]:
    return lambda draw: prefix + draw(length, alphabet)


TOKEN_FORMATS: list[tuple[str, Callable[[Draw], str]]] = [
    ("aws-access-key", prefixed("AK" + "IA", 16, BASE32)),
    ("aws-access-key", prefixed("AS" + "IA", 16, BASE32)),
    *[("github-token", prefixed(f"gh{letter}_", 36)) for letter in "pousr"],
    ("github-token", lambda draw: "github_" + f"pat_{draw(22)}_{draw(59)}"),
    ("gitlab-token", prefixed("gl" + "pat-", 20, URL64)),
    ("gitlab-token", lambda draw: "gl" + f"pat-{draw(27, URL64)}.01.{draw(9, LOWER + DIGITS)}"),
    ("gitlab-token", prefixed("gl" + "rt-", 20, URL64)),
    ("slack-token", lambda draw: "xo" + f"xb-{draw(12, DIGITS)}-{draw(13, DIGITS)}-{draw(24)}"),
    ("slack-token", lambda draw: "xo" + f"xp-{draw(12, DIGITS)}-{draw(12, DIGITS)}-{draw(32, HEX)}"),
    ("slack-token", lambda draw: "xa" + f"pp-1-A{draw(10, UPPER + DIGITS)}-{draw(13, DIGITS)}-{draw(64, HEX)}"),
    ("stripe-key", prefixed("sk_" + "live_", 24)),
    ("stripe-key", prefixed("rk_" + "test_", 99)),
    ("stripe-key", prefixed("wh" + "sec_", 32)),
    ("openai-key", lambda draw: f"sk-{draw(20)}T3Blbk" + f"FJ{draw(20)}"),
    ("openai-key", lambda draw: f"sk-proj-{draw(74, URL64)}T3Blbk" + f"FJ{draw(74, URL64)}"),
    ("openai-key", prefixed("sk-", 32, HEX)),
    ("openrouter-key", prefixed("sk-" + "or-v1-", 64, HEX)),
    ("anthropic-key", lambda draw: "sk-" + f"ant-api03-{draw(93, URL64)}AA"),
    ("anthropic-key", lambda draw: "sk-" + f"ant-oat01-{draw(93, URL64)}AA"),
    ("google-api-key", prefixed("AI" + "za", 35, URL64)),
    ("google-oauth-token", prefixed("ya" + "29.", 120, URL64)),
    ("google-oauth-token", prefixed("GOC" + "SPX-", 28, URL64)),
    ("google-oauth-token", prefixed("1/" + "/0", 60, URL64)),
    ("npm-token", prefixed("np" + "m_", 36)),
    ("pypi-token", lambda draw: "py" + f"pi-AgEIcHlwaS5vcmc{draw(150, URL64)}"),
    ("hugging-face-token", prefixed("h" + "f_", 34, LETTERS)),
    ("docker-token", prefixed("dckr_" + "pat_", 27, URL64)),
    ("discord-token", discord),
    ("twilio-key", prefixed("S" + "K", 32, HEX)),
    ("sendgrid-key", lambda draw: "S" + f"G.{draw(22, URL64)}.{draw(43, URL64)}"),
    ("digitalocean-token", prefixed("dop" + "_v1_", 64, HEX)),
    ("heroku-key", prefixed("HR" + "KU-", 58, URL64)),
    ("databricks-token", prefixed("da" + "pi", 32, HEX)),
    ("vercel-token", prefixed("vc" + "p_", 56)),
    ("netlify-token", prefixed("nf" + "p_", 36)),
    ("cloudflare-token", prefixed("cf" + "ut_", 48)),
    ("shopify-token", prefixed("sh" + "pat_", 32, HEX)),
    ("atlassian-token", prefixed("ATA" + "TT3x", 180, URL64)),
    ("grafana-token", lambda draw: "gl" + f"sa_{draw(32)}_{draw(8, HEX)}"),
    ("vault-token", prefixed("hv" + "s.", 90, URL64)),
    ("supabase-key", prefixed("sb" + "p_", 40, HEX)),
    ("notion-token", prefixed("nt" + "n_", 46)),
    ("linear-key", prefixed("lin_" + "api_", 40)),
    ("postman-key", lambda draw: "PM" + f"AK-{draw(24, HEX)}-{draw(34, HEX)}"),
    ("groq-key", prefixed("gs" + "k_", 52)),
    ("replicate-token", prefixed("r" + "8_", 37)),
    ("nvidia-key", prefixed("nv" + "api-", 64, URL64)),
    ("tavily-key", prefixed("tv" + "ly-dev-", 32)),
    ("square-key", prefixed("sq0" + "csp-", 43, URL64)),
    ("alibaba-key", prefixed("LT" + "AI", 20)),
    ("dynatrace-token", lambda draw: "dt0" + f"c01.{draw(24, BASE32)}.{draw(64, BASE32)}"),
    ("gitlab-token", prefixed("GR" + "1348941", 20, URL64)),
    ("google-api-key", prefixed("AQ" + ".Ab", 50, URL64)),
    ("slack-token", lambda draw: "xw" + f"fp-{draw(40)}"),
    ("sentry-token", prefixed("sn" + "tryu_", 64, HEX)),
    ("figma-token", prefixed("fi" + "gd_", 40, URL64)),
    ("new-relic-key", prefixed("NR" + "AK-", 27, UPPER + DIGITS)),
    ("tailscale-key", lambda draw: "ts" + f"key-auth-k{draw(11)}CNTRL-{draw(32)}"),
    ("doppler-token", prefixed("dp" + ".pt.", 43)),
    ("planetscale-token", prefixed("ps" + "cale_tkn_", 43, URL64)),
    ("pulumi-token", prefixed("pu" + "l-", 40, HEX)),
    ("brevo-key", lambda draw: "xk" + f"eysib-{draw(64, HEX)}-{draw(16)}"),
    ("age-key", prefixed("AGE-SEC" + "RET-KEY-1", 58, UPPER + DIGITS)),
    ("perplexity-key", prefixed("pp" + "lx-", 48)),
    ("xai-key", prefixed("xa" + "i-", 80)),
    ("cerebras-key", prefixed("cs" + "k-", 48, LOWER + DIGITS)),
    ("langsmith-key", lambda draw: "ls" + f"v2_pt_{draw(32, HEX)}_{draw(10, HEX)}"),
    ("e2b-key", prefixed("e2" + "b_", 40, HEX)),
    ("shippo-token", prefixed("ship" + "po_live_", 40, HEX)),
    ("rubygems-key", prefixed("ruby" + "gems_", 48, HEX)),
    ("json-web-token", json_web_token),
]
"""What each credential looks like, from its issuer's own description. The prefixes are in pieces for the sake of those
who scan this repository."""


def uuid(draw: Draw) -> str:
    return "-".join(draw(length, HEX) for length in (8, 4, 4, 4, 12))


NEWER_FORMATS: list[tuple[str, Callable[[Draw], str]]] = [
    ("slack-token", lambda draw: "xo" + f"xe.xoxb-1-{draw(140)}"),
    ("google-oauth-token", prefixed("ya" + "29.c.", 120, URL64)),
    ("aws-access-key", prefixed("AC" + "CA", 16, BASE32)),
    ("aws-bearer-key", prefixed("AB" + "SK", 128, BASE64)),
    ("aws-session-token", lambda draw: "IQoJb3" + f"JpZ2lu{draw(300, BASE64)}=="),
    ("cloudflare-key", lambda draw: "v1" + f".0-{draw(24, HEX)}-{draw(146, HEX)}"),
    ("crates.io-token", prefixed("ci" + "o", 32)),
    ("nuget-key", prefixed("oy" + "2", 43, LOWER + DIGITS)),
    ("clojars-token", prefixed("CLO" + "JARS_", 60, LOWER + DIGITS)),
    ("sonarqube-token", prefixed("sq" + "p_", 40, HEX)),
    ("circleci-token", lambda draw: "CCI" + f"PAT_{draw(22)}_{draw(40, HEX)}"),
    ("airtable-token", lambda draw: "pa" + f"t{draw(14)}.{draw(64, HEX)}"),
    ("azure-devops-token", lambda draw: draw(76) + "AZ" + f"DO{draw(4)}"),
    ("terraform-token", lambda draw: draw(14) + ".atl" + f"asv1.{draw(67, URL64)}"),
    ("mailchimp-key", lambda draw: draw(32, HEX) + "-us" + "12"),
    ("kubernetes-token", lambda draw: "kube" + f"config-u-{draw(10, LOWER)}:{draw(54, LOWER + DIGITS)}"),
    ("paypal-token", lambda draw: "access_" + f"token$production${draw(16, LOWER + DIGITS)}${draw(32, HEX)}"),
    ("hubspot-token", lambda draw: "pat" + f"-na1-{uuid(draw)}"),
    ("resend-key", lambda draw: "re" + f"_{draw(8)}_{draw(24)}"),
    ("fly.io-token", prefixed("fm" + "2_", 200, BASE64)),
    ("render-key", prefixed("rn" + "d_", 28)),
    ("neon-key", prefixed("na" + "pi_", 64, LOWER + DIGITS)),
    ("mongodb-atlas-secret", prefixed("mdb_" + "sa_sk_", 40, URL64)),
    ("pinecone-key", lambda draw: "pc" + f"sk_{draw(6)}_{draw(63)}"),
    ("together-key", prefixed("tg" + "p_v1_", 43, URL64)),
    ("fireworks-key", prefixed("f" + "w_", 24)),
    ("langfuse-key", lambda draw: "sk-" + f"lf-{uuid(draw)}"),
    ("elevenlabs-key", prefixed("sk" + "_", 48, HEX)),
    ("firecrawl-key", prefixed("f" + "c-", 32, HEX)),
    ("posthog-key", prefixed("ph" + "x_", 47)),
    ("contentful-token", prefixed("CF" + "PAT-", 43, URL64)),
    ("typeform-token", prefixed("tf" + "p_", 59, URL64)),
    ("buildkite-token", prefixed("bk" + "ua_", 40, HEX)),
    ("openshift-token", prefixed("sha" + "256~", 43, URL64)),
    ("1password-token", prefixed("op" + "s_eyJ", 250, URL64)),
    ("dropbox-token", prefixed("s" + "l.u.", 140, URL64)),
    ("bitbucket-password", prefixed("AT" + "BB", 32)),
    ("trello-token", prefixed("AT" + "TA", 64, HEX)),
    ("octopus-key", prefixed("AP" + "I-", 30, UPPER + DIGITS)),
    ("artifactory-key", prefixed("AK" + "Cp", 69)),
    ("artifactory-token", prefixed("cmVm" + "dGtu", 56)),
    ("square-key", prefixed("EA" + "AA", 60, URL64)),
    ("facebook-token", prefixed("EA" + "AB", 170)),
    ("prefect-key", prefixed("pn" + "u_", 36)),
    ("honeycomb-key", prefixed("hc" + "aik_", 58, LOWER + DIGITS)),
    ("weights-&-biases-key", prefixed("wan" + "db_v1_", 77)),
    ("cursor-key", prefixed("ke" + "y_", 64, HEX)),
    ("sourcegraph-token", lambda draw: "sg" + f"p_{draw(16, HEX)}_{draw(40, HEX)}"),
    ("runpod-key", prefixed("rp" + "a_", 44, UPPER + DIGITS)),
    ("jina-key", prefixed("ji" + "na_", 64, HEX)),
    ("browserbase-key", prefixed("bb_" + "live_", 27)),
    ("dbt-token", prefixed("db" + "tc_", 40)),
    ("infracost-key", prefixed("ic" + "o-", 32)),
    ("launchdarkly-key", lambda draw: "sd" + f"k-{draw(8, HEX)}-{draw(4, HEX)}-4abc-8def-{draw(12, HEX)}"),
    ("razorpay-key", prefixed("rzp_" + "live_", 14)),
    ("flutterwave-key", lambda draw: "FLW" + f"SECK-{draw(32, HEX)}-X"),
    ("easypost-key", prefixed("EZ" + "AK", 54)),
    ("duffel-token", prefixed("duffel_" + "live_", 43, URL64)),
    ("adobe-secret", prefixed("p8" + "e-", 32, URL64)),
    ("frame.io-token", prefixed("fi" + "o-u-", 64, URL64)),
    ("readme-key", prefixed("rd" + "me_", 70, LOWER + DIGITS)),
    ("jetbrains-token", prefixed("per" + "m:", 60)),
    ("yandex-key", prefixed("AQ" + "VN", 36, URL64)),
    ("tencent-key", prefixed("AK" + "ID", 32)),
    ("volcengine-key", prefixed("AK" + "LT", 44)),
    ("nostr-key", prefixed("nse" + "c1", 58, LOWER + DIGITS)),
    ("grafana-key", prefixed("eyJr" + "Ijoi", 80)),
    ("dynatrace-token", lambda draw: "dt0" + f"s02.{draw(8, BASE32)}.{draw(64, BASE32)}"),
    ("mapbox-token", lambda draw: "sk" + f".eyJ{draw(60, URL64)}.{draw(22, URL64)}"),
    ("zhipu-key", prefixed("za" + "i-", 48)),
    ("snyk-token", lambda draw: "snyk" + f"_uat.{draw(8, HEX)}.{draw(60, URL64)}"),
    ("prefixed-secret", prefixed("acme_" + "live_", 32)),
]
"""Formats that were added later; tested in fewer places."""


WRAPPERS: dict[str, Callable[[str], str]] = {
    "alone": lambda secret: secret,
    "shell": lambda secret: f"cd /app && export SERVICE={secret} && ./run --verbose 2>&1 | tail -5",
    "quoted": lambda secret: f"curl -s -H 'X-Thing: {secret}' https://api.example.org/v1/items",
    "json": lambda secret: json.dumps({"id": 7, "value": secret, "next": None}),
    "escaped json": lambda secret: json.dumps({"out": json.dumps({"log": f"start\n{secret}\nend"})}),
    "log": lambda secret: f"2026-01-05T10:11:12Z INFO worker-3 got {secret}, going on\n",
    "url": lambda secret: f"GET https://example.org/cb?state=1&t={secret}&x=2 HTTP/1.1",
    "coloured": lambda secret: f"\x1b[32m{secret}\x1b[0m",
    "coloured, escaped": lambda secret: f"\\u001b[1;32m{secret}\\u001b[0m",
    "table": lambda secret: f"| name | {secret} | ok |",
    "code": lambda secret: f'client = Client("{secret}", retries=3)  # see docs',
    "parenthesis": lambda secret: f"(the value was {secret})",
    "umlauts": lambda secret: f"Schlüssel „{secret}“ – 完了 🎉",
    "lines": lambda secret: f"one\r\n{secret}\r\nthree",
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "number", range(len(TOKEN_FORMATS)), ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(TOKEN_FORMATS)]
)
def test_a_token_in_its_surroundings(number: int, wrapper: str) -> None:
    kind, make = TOKEN_FORMATS[number]
    for seed in range(8):
        secret = make(Draw(1000 * number + seed))
        text = WRAPPERS[wrapper](secret)
        redacted, redactions = redact_text(text, environment={})
        assert redacted == text.replace(secret, f"[redacted: {kind} 1]")
        assert redactions.counts == {kind: 1}


@pytest.mark.parametrize(
    "number", range(len(NEWER_FORMATS)), ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(NEWER_FORMATS)]
)
def test_a_newer_format(number: int) -> None:
    kind, make = NEWER_FORMATS[number]
    for seed, wrapper in enumerate(["alone", "shell", "escaped json", "coloured", "umlauts"]):
        secret = make(Draw(7000 + 10 * number + seed))
        text = WRAPPERS[wrapper](secret)
        assert redact_text(text, environment={})[0] == text.replace(secret, f"[redacted: {kind} 1]")


def test_every_kind_is_tested() -> None:
    made = {kind for kind, _ in (*TOKEN_FORMATS, *NEWER_FORMATS)} | {kind for kind, _, _ in CONTEXTS} | {"private-key"}
    searched = {kind_of(label) for label, _, _ in SEARCHED_FORMATS} - {"mailgun-key"}
    assert {kind_of(token.label) for token in TABLE} | searched | set(map(kind_of, LABELS)) == made


def aws_secret(draw: Draw) -> str:
    return draw(40, BASE64)


CONTEXTS: list[tuple[str, str, Callable[[Draw], str]]] = [
    ("aws-secret-key", "export AWS_SECRET_ACCESS_KEY={}\n", aws_secret),
    ("aws-secret-key", "[default]\naws_secret_access_key = {}\nregion = x", aws_secret),
    ("aws-secret-key", '{{"SecretAccessKey": "{}", "Version": 1}}', aws_secret),
    ("aws-secret-key", '{{\\"secretAccessKey\\":\\"{}\\"}}', aws_secret),
    ("aws-secret-key", "AWS Secret Access Key [None]: {}\n", aws_secret),
    ("aws-secret-key", "<SecretAccessKey>{}</SecretAccessKey>", aws_secret),
    ("bearer-token", 'curl -H "Authorization: Bearer {}" https://x.org', lambda draw: draw(32)),
    ("bearer-token", "authorization: bearer {}\r\n", lambda draw: draw(48, HEX)),
    ("bearer-token", "{{'Authorization': 'Bearer {}'}}", lambda draw: draw(40, URL64)),
    ("authorization-token", "Authorization: token {}", lambda draw: draw(40, HEX)),
    (
        "basic-credential",
        "Authorization: Basic {}\n",
        lambda draw: base64.b64encode(f"deploy:{draw(14)}".encode()).decode(),
    ),
    (
        "basic-credential",
        '{{"auths": {{"registry.example.org": {{"auth": "{}"}}}}}}',
        lambda draw: base64.b64encode(f"deploy:{draw(15)}".encode()).decode(),
    ),
    ("url-password", "git clone https://deploy:{}@git.example.org/a/b.git", lambda draw: draw(12)),
    ("url-password", "postgresql+asyncpg://app:{}@10.0.0.5:5432/db?ssl=1", lambda draw: draw(9) + "!x"),
    ("url-password", "redis://:{}@cache:6379/0", lambda draw: draw(24)),
    ("url-password", '"mongodb+srv:\\/\\/root:{}@cluster0.example.net\\/app"', lambda draw: draw(16)),
    ("connection-password", "Server=db,1433;Database=app;User Id=sa;Password={};Encrypt=true", lambda draw: draw(12)),
    ("connection-password", "psql 'host=db dbname=app user=app password={}'", lambda draw: draw(12)),
    ("connection-password", "Driver={{ODBC}};Server=db;UID=sa;PWD={}", lambda draw: draw(12)),
    (
        "azure-key",
        "DefaultEndpointsProtocol=https;AccountName=store;AccountKey={};EndpointSuffix=core.windows.net",
        lambda draw: draw(86, BASE64) + "==",
    ),
    ("azure-key", "Endpoint=sb://x.example.net/;SharedAccessKey={}", lambda draw: draw(43, BASE64) + "="),
    (
        "azure-signature",
        "https://store.blob.core.windows.net/c/f?sv=2024-11-04&se=2026-01-01&sr=b&sp=r&sig={}",
        lambda draw: quote(draw(43, BASE64) + "=", safe=""),
    ),
    (
        "azure-client-secret",
        "secret value {} expires",
        lambda draw: f"{draw(3)}8Q~{draw(34, URL64 + '~.')}",
    ),
    ("telegram-token", "https://api.telegram.org/bot7654398210:AA{}/getMe", lambda draw: draw(33, URL64)),
    (
        "slack-webhook",
        "curl https://hooks.slack.com/services/{} -d x",
        lambda draw: f"T{draw(10, UPPER + DIGITS)}/B{draw(10, UPPER + DIGITS)}/{draw(24)}",
    ),
    (
        "discord-webhook",
        "https://discord.com/api/webhooks/123456789012345678/{}",
        lambda draw: draw(68, URL64),
    ),
    ("twilio-key", "curl -u AC" + "0123456789abcdef" * 2 + ":{} https://x.org", lambda draw: draw(32, HEX)),
    ("mailgun-key", "curl -u 'api:key-{}' https://api.mailgun.net/v3", lambda draw: draw(32, HEX)),
    ("named-secret", "VERCEL_TOKEN={}\n", lambda draw: draw(24)),
    ("named-secret", "HEROKU_API_KEY={}\n", uuid),
    ("named-secret", "//npm.example.org/:_authToken={}\n", uuid),
    ("named-secret", "client_secret: '{}'", lambda draw: draw(40, URL64)),
    ("named-secret", '{{"apiKey": "{}"}}', lambda draw: draw(32, HEX)),
    ("named-secret", '{{\\"api_key\\": \\"{}\\"}}', lambda draw: draw(32, HEX)),
    ("named-secret", "x-api-key: {}", lambda draw: draw(40)),
    ("named-secret", "deploy --auth-token {} --prod", lambda draw: draw(43, URL64)),
    ("named-secret", 'twilio.auth_token = "{}"', lambda draw: draw(32, HEX)),
    ("named-secret", "AWS_SESSION_TOKEN={}", lambda draw: draw(300, BASE64) + "="),
    ("azure-key", "AZURE_STORAGE_KEY={} ", lambda draw: draw(86, BASE64) + "=="),
    ("named-secret", "https://api.example.org/v1?api_key={}&q=1", lambda draw: draw(32)),
    ("named-secret", "CODECOV_TOKEN={}\n", uuid),
    ("named-secret", "secret_key_base: {}\n", lambda draw: draw(128, HEX)),
    ("authorization-token", "Authorization: SSWS {}\n", lambda draw: "00" + draw(40)),
    ("session-cookie", "Cookie: theme=dark; sessionid={}; lang=en", lambda draw: draw(32, LOWER + DIGITS)),
    (
        "teams-webhook",
        "https://a.webhook.office.com/webhookb2/{} now",
        lambda draw: f"{uuid(draw)}@{uuid(draw)}/x/{draw(32, HEX)}",
    ),
    (
        "zapier-webhook",
        "https://hooks.zapier.com/hooks/catch/{} now",
        lambda draw: f"1234567/{draw(7, LOWER + DIGITS)}",
    ),
    ("password", "curl -u admin:{} https://api.example.org", lambda draw: draw(12)),
]


@pytest.mark.parametrize("number", range(len(CONTEXTS)), ids=[f"{row[0]}-{n}" for n, row in enumerate(CONTEXTS)])
def test_a_secret_that_its_place_gives_away(number: int) -> None:
    kind, template, make = CONTEXTS[number]
    for seed in range(20):
        secret = make(Draw(9000 * number + seed))
        before, after = template.replace("{{", "{").replace("}}", "}").split("{}")
        text = f"first line\n{before}{secret}{after}\nlast line"
        redacted, redactions = redact_text(text, environment={})
        whole = "key-" + secret if kind == "mailgun-key" else secret
        assert redacted == text.replace(whole, f"[redacted: {kind} 1]")
        assert redactions.counts == {kind: 1}


def key_lines(draw: Draw, lines: int = 12) -> list[str]:
    return [draw(64, BASE64) for _ in range(lines)] + [draw(30, BASE64) + "=="]


KEY_NAMES = ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "]


@pytest.mark.parametrize("name", KEY_NAMES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n", "\\\\n", "\n    ", "\n+"])
def test_private_keys(name: str, line_end: str) -> None:
    begin, end = f"-----BEGIN {name}PRIV" + "ATE KEY-----", f"-----END {name}PRIV" + "ATE KEY-----"
    key = line_end.join([begin, *key_lines(Draw(3)), end])
    text = f'before "{key}" after\n-----BEGIN CERTIFICATE-----\n{Draw(4)(64, BASE64)}\n-----END CERTIFICATE-----'
    redacted, redactions = redact_text(text, environment={})
    assert redacted == text.replace(key, "[redacted: private-key 1]")
    assert redactions.describe() == "1 private key"


def test_a_service_account() -> None:
    key = "\n".join(["-----BEGIN PRIV" + "ATE KEY-----", *key_lines(Draw(5)), "-----END PRIV" + "ATE KEY-----", ""])
    account = {"type": "service_account", "private_key_id": Draw(6)(40, HEX), "private_key": key, "client_id": "12345"}
    redacted, _ = redact_text(json.dumps(account), environment={})
    assert json.loads(redacted) == {**account, "private_key": "[redacted: private-key 1]\n"}


def test_private_keys_that_were_cut() -> None:
    begin, end = "-----BEGIN RSA PRIV" + "ATE KEY-----", "-----END RSA PRIV" + "ATE KEY-----"
    lines = key_lines(Draw(7))
    head = "\n".join([begin, *lines[:4]])
    tail = "\n".join([*lines[-4:], end])
    text = f"$ head -5 id_rsa\n{head}\n$ tail -5 id_rsa\n{tail}\n$ ls\nid_rsa"
    redacted, redactions = redact_text(text, environment={})
    assert redacted == (
        "$ head -5 id_rsa\n[redacted: private-key 1]\n$ tail -5 id_rsa\n[redacted: private-key 2]\n$ ls\nid_rsa"
    )
    assert redactions.counts == {"private-key": 2}


def test_a_pair_of_aws_keys_in_a_list() -> None:
    draw = Draw(8)
    identifier, secret = "AK" + "IA" + draw(16, BASE32), draw(40, BASE64)
    redacted, redactions = redact_text(f"User,Key,Secret\nbob,{identifier},{secret}\n", environment={})
    assert redacted == "User,Key,Secret\nbob,[redacted: aws-access-key 1],[redacted: aws-secret-key 1]\n"
    assert redactions.describe() == "1 AWS access key, 1 AWS secret key"


def test_equal_secrets_have_the_same_number_and_others_another() -> None:
    draw = Draw(9)
    first, second = ("gh" + "p_" + draw(36) for _ in range(2))
    redacted, redactions = redact_text(f"{first} {second} {first}", environment={})
    one, two = "[redacted: github-token 1]", "[redacted: github-token 2]"
    assert redacted == f"{one} {two} {one}"
    assert (redactions.counts, redactions.places) == ({"github-token": 2}, 3)
    assert redactions.describe() == "2 GitHub tokens"


def test_what_one_place_gives_away_is_found_bare_elsewhere() -> None:
    secret = Draw(10)(40, BASE64)
    redacted, _ = redact_text(f"$ echo $KEY\n{secret}\n$ env\nAWS_SECRET_ACCESS_KEY={secret}\n", environment={})
    mark = "[redacted: aws-secret-key 1]"
    assert redacted == f"$ echo $KEY\n{mark}\n$ env\nAWS_SECRET_ACCESS_KEY={mark}\n"


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY={}",
        "export ACME_KEY={} && make",
        "curl -H 'X-Api-Key: {}' https://example.com",
        'headers: "X-Auth-Token: {}"',
        "GET /v1/items?api_key={}&page=2",
        "useradd -m -p {} bob",
    ],
)
def test_short_values_behind_a_clear_name(text: str) -> None:
    """Sixteen characters are too few to be found by their look."""
    secret = "9fK2mQ7xT4vB8nZ1"
    assert secret not in redact_text(text.format(secret))[0]
    if "useradd" not in text:  # whose value is a password, whatever it is
        assert redact_text(text.format("development"))[0] == text.format("development")
