"""Writes the set of planted secrets and of strings to keep that `bench/redact.py` measures with.

    python bench/redaction/make_set.py

Everything is synthetic: values are drawn from a seeded generator, in the shapes that providers and manuals document.
The first half (`rules`) was written next to the rules. The second half (`documents`) was written from what providers,
clients and file formats document, and was measured before a rule was changed for it; the same person wrote both. The
file is packed (Zstandard), so that no scanner of a repository takes its values for live keys."""

from __future__ import annotations

import base64
import json
import random
import string
import textwrap
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import zstandard

SET = Path(__file__).parent / "set.json.zst"
ALNUM = string.ascii_letters + string.digits
HEX, UPPER, LOWER, DIGITS = "0123456789abcdef", string.ascii_uppercase, string.ascii_lowercase, string.digits
URL64, BASE64 = ALNUM + "_-", ALNUM + "+/"
WORDS = "river copper lantern orbit maple quartz falcon ember meadow tundra cobalt saffron walnut prairie".split()
drawn = random.Random(20261118)


def pick(length: int, alphabet: str = ALNUM) -> str:
    while True:
        text = "".join(drawn.choices(alphabet, k=length))
        groups = [group for group in (DIGITS, UPPER, LOWER) if length >= 12 and set(group) & set(alphabet)]
        if text[0].isalnum() and text[-1].isalnum() and all(set(group) & set(text) for group in groups):
            return text


def password(kind: int) -> str:
    """A password as people and generators make them."""
    word, other = drawn.choice(WORDS), drawn.choice(WORDS)
    return (
        f"{word.title()}{drawn.randint(10, 99)}{drawn.choice('!?#*')}",
        pick(drawn.randint(10, 20)),
        f"{word}-{other}-{drawn.randint(100, 999)}",
        f"{pick(4)}{drawn.choice('!#^*+')}{pick(5)}",
        f"{word}{drawn.randint(2, 9)}",
        word.replace("a", "4").replace("e", "3").replace("o", "0").title() + str(drawn.randint(1970, 2026)),
        pick(24, LOWER + DIGITS),
        f"{word.title()}@{other}{drawn.randint(1, 99)}",
    )[kind % 8]


def uuid() -> str:
    return "-".join(pick(length, HEX) for length in (8, 4, 4, 4, 12))


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def jwt() -> str:
    parts = [{"alg": "RS256", "typ": "JWT"}, {"sub": pick(10), "exp": 1790000000, "scope": "read write"}]
    return ".".join([*(base64_of(json.dumps(part)).rstrip("=") for part in parts), pick(86, URL64)])


SHAPES_RULES = {
    "GitHub classic": lambda: "ghp_" + pick(36),
    "GitHub app": lambda: "ghs_" + pick(36),
    "GitHub fine-grained": lambda: f"github_pat_{pick(22)}_{pick(59)}",
    "GitLab": lambda: "glpat-" + pick(20, URL64),
    "Slack bot": lambda: f"xoxb-{pick(12, DIGITS)}-{pick(12, DIGITS)}-{pick(24)}",
    "Stripe": lambda: "sk_live_" + pick(24),
    "OpenAI project": lambda: "sk-proj-" + pick(74, URL64) + "T3BlbkFJ" + pick(74, URL64),
    "Anthropic": lambda: "sk-ant-api03-" + pick(93, URL64) + "AA",
    "Google API": lambda: "AIza" + pick(35, URL64),
    "Google OAuth": lambda: "ya29.a0" + pick(120, URL64),
    "Google service OAuth": lambda: "ya29.c." + pick(160, URL64),
    "AWS access": lambda: "AKIA" + pick(16, UPPER + "234567"),
    "npm": lambda: "npm_" + pick(36),
    "PyPI": lambda: "pypi-AgEIcHlwaS5vcmc" + pick(100, URL64),
    "Hugging Face": lambda: "hf_" + pick(34, string.ascii_letters),
    "SendGrid": lambda: f"SG.{pick(22, URL64)}.{pick(43, URL64)}",
    "DigitalOcean": lambda: "dop_v1_" + pick(64, HEX),
    "JWT": jwt,
    "Vault": lambda: "hvs." + pick(90, URL64),
    "Docker": lambda: "dckr_pat_" + pick(27, URL64),
}
SHAPES_DOCUMENTS = {
    "Slack rotated": lambda: f"xoxe.xoxb-1-{pick(140)}",
    "Slack app": lambda: f"xapp-1-A{pick(10, UPPER + DIGITS)}-{pick(13, DIGITS)}-{pick(64, HEX)}",
    "GitLab routable": lambda: f"glpat-{pick(27, URL64)}.01.{pick(9, LOWER + DIGITS)}",
    "Azure DevOps": lambda: f"{pick(76)}AZDO{pick(4)}",
    "Azure client secret": lambda: f"{pick(3)}8Q~{pick(34, URL64 + '.')}",
    "AWS Bedrock": lambda: "ABSK" + pick(128, BASE64),
    "AWS session": lambda: "IQoJb3JpZ2luX2Vj" + pick(300, BASE64) + "==",
    "Cloudflare origin CA": lambda: f"v1.0-{pick(24, HEX)}-{pick(146, HEX)}",
    "crates.io": lambda: "cio" + pick(32),
    "NuGet": lambda: "oy2" + pick(43, LOWER + DIGITS),
    "SonarQube": lambda: "sqp_" + pick(40, HEX),
    "CircleCI": lambda: f"CCIPAT_{pick(22)}_{pick(40, HEX)}",
    "Terraform Cloud": lambda: f"{pick(14)}.atlasv1.{pick(67, URL64)}",
    "Airtable": lambda: f"pat{pick(14)}.{pick(64, HEX)}",
    "HubSpot": lambda: f"pat-na1-{uuid()}",
    "Mailgun": lambda: f"{pick(32, HEX)}-{pick(8, HEX)}-{pick(8, HEX)}",
    "Mailchimp": lambda: f"{pick(32, HEX)}-us{drawn.randint(1, 21)}",
    "Resend": lambda: f"re_{pick(8)}_{pick(24)}",
    "Fly.io": lambda: "FlyV1 fm2_" + pick(200, BASE64),
    "Render": lambda: "rnd_" + pick(28),
    "Neon": lambda: "napi_" + pick(64, LOWER + DIGITS),
    "MongoDB Atlas": lambda: "mdb_sa_sk_" + pick(40, URL64),
    "Pinecone": lambda: f"pcsk_{pick(6)}_{pick(63)}",
    "Together": lambda: "tgp_v1_" + pick(43, URL64),
    "Fireworks": lambda: "fw_" + pick(24),
    "Langfuse": lambda: "sk-lf-" + uuid(),
    "ElevenLabs": lambda: "sk_" + pick(48, HEX),
    "Firecrawl": lambda: "fc-" + pick(32, HEX),
    "PostHog": lambda: "phx_" + pick(47),
    "Contentful": lambda: "CFPAT-" + pick(43, URL64),
    "Typeform": lambda: "tfp_" + pick(59, URL64),
    "Buildkite": lambda: "bkua_" + pick(40, HEX),
    "OpenShift": lambda: "sha256~" + pick(43, URL64),
    "1Password service": lambda: "ops_eyJ" + pick(250, URL64),
    "Dropbox": lambda: "sl.u." + pick(140, URL64),
    "Bitbucket app": lambda: "ATBB" + pick(32),
    "Octopus": lambda: "API-" + pick(30, UPPER + DIGITS),
    "Artifactory": lambda: "AKCp" + pick(69),
    "Square": lambda: "EAAAl" + pick(59, URL64),
    "Braintree": lambda: f"access_token$production${pick(16, LOWER + DIGITS)}${pick(32, HEX)}",
    "Facebook": lambda: "EAAB" + pick(170),
    "Prefect": lambda: "pnu_" + pick(36),
    "Honeycomb": lambda: "hcaik_" + pick(58, LOWER + DIGITS),
    "Weights & Biases": lambda: "wandb_v1_" + pick(77),
    "Telegram": lambda: f"{pick(10, '123456789')}:AA{pick(33, URL64)}",
    "Databricks": lambda: "dapi" + pick(32, HEX) + "-2",
    "Cursor": lambda: "key_" + pick(64, HEX),
    "Sourcegraph": lambda: f"sgp_{pick(16, HEX)}_{pick(40, HEX)}",
    "Sentry org": lambda: (
        f"sntrys_{base64_of(json.dumps({'iat': 1690000000.1, 'url': 'x'})).rstrip('=')}_{pick(43, BASE64)}"
    ),
    "Dynatrace": lambda: f"dt0c01.{pick(24, UPPER + '234567')}.{pick(64, UPPER + '234567')}",
}
SHAPE_PLACES = (
    "$ cat notes.txt\nthe new one is {}\n",
    "export SERVICE={}\n",
    '{{"result": "{}", "ok": true}}',
    "2026-11-02T10:11:12Z INFO client using {} (cached)",
    "client = Client('{}')\n",
    "remote: https://x-access-token:{}@git.example.org/a/b.git",
    "| name | value |\n| --- | --- |\n| ci | {} |\n",
    "Authorization: Bearer {}\r\n",
)
CONTEXTS_RULES = (
    ("AWS secret", "aws_secret_access_key = {}\n", lambda: pick(40, BASE64)),
    ("AWS secret", "AWS_SECRET_ACCESS_KEY={}\n", lambda: pick(40, BASE64)),
    ("bearer", 'curl -H "Authorization: Bearer {}" https://api.example.org', lambda: pick(40)),
    ("named", "VERCEL_TOKEN={}\n", lambda: pick(24)),
    ("named", '{{"apiKey": "{}"}}', lambda: pick(32, HEX)),
    ("named", "x-api-key: {}\n", lambda: pick(40)),
    ("named", "client_secret: '{}'\n", lambda: pick(40, URL64)),
    ("Azure key", "AccountName=s;AccountKey={};EndpointSuffix=core.windows.net", lambda: pick(86, BASE64) + "=="),
    (
        "signature",
        "https://s.blob.core.windows.net/c/f?sv=2024-11-04&sp=r&sig={}",
        lambda: quote(pick(43, BASE64) + "=", safe=""),
    ),
    (
        "Slack hook",
        "https://hooks.slack.com/services/{}",
        lambda: f"T{pick(10, UPPER + DIGITS)}/B{pick(10, UPPER + DIGITS)}/{pick(24)}",
    ),
)
CONTEXTS_DOCUMENTS = (
    ("Datadog", "DD_API_KEY={}\n", lambda: pick(32, HEX)),
    ("Datadog", "dd-application-key: {}\n", lambda: pick(40, HEX)),
    (
        "Cloudflare",
        'curl -H "X-Auth-Email: a@b.org" -H "X-Auth-Key: {}" https://api.cloudflare.com',
        lambda: pick(37, HEX),
    ),
    ("Okta", "Authorization: SSWS {}\n", lambda: "00" + pick(40, URL64)),
    ("Algolia", "X-Algolia-API-Key: {}\n", lambda: pick(32, HEX)),
    ("PagerDuty", "Authorization: Token token={}\n", lambda: pick(20)),
    ("Gitea", "git -c http.extraHeader='Authorization: token {}' push", lambda: pick(40, HEX)),
    ("Codecov", "CODECOV_TOKEN={}\n", uuid),
    ("Snyk", "export SNYK_TOKEN={}\n", uuid),
    (
        "Kubernetes",
        "users:\n- name: admin\n  user:\n    token: {}\n",
        lambda: "kubeconfig-u-" + pick(10, LOWER) + ":" + pick(54, LOWER + DIGITS),
    ),
    ("Django", "SECRET_KEY = 'django-insecure-{}'\n", lambda: pick(50, LOWER + DIGITS + "!@#$%^&*(-_=+)")),
    ("Rails", "secret_key_base: {}\n", lambda: pick(128, HEX)),
    ("JWT secret", "JWT_SECRET={}\n", lambda: pick(32)),
    ("Laravel", "APP_KEY=base64:{}\n", lambda: pick(43, BASE64) + "="),
    ("npmrc", "//registry.example.org/:_auth={}\n", lambda: base64_of(f"ci:{pick(16)}")),
    ("npmrc", "//registry.example.org/:_password={}\n", lambda: base64_of(pick(18))),
    (
        "Docker config",
        '{{"auths": {{"ghcr.example.org": {{"auth": "{}"}}}}}}',
        lambda: base64_of(f"robot:{password(1)}"),
    ),
    ("Docker config", '{{"auths": {{"r.example.org": {{"identitytoken": "{}"}}}}}}', lambda: pick(64)),
    ("session cookie", "Cookie: theme=dark; sessionid={}; lang=en\n", lambda: pick(32, LOWER + DIGITS)),
    ("session cookie", "Set-Cookie: connect.sid=s%3A{}; Path=/; HttpOnly\n", lambda: pick(32, URL64) + "." + pick(43)),
    ("Twilio", 'client = Client("AC0123456789abcdef0123456789abcdef", auth_token="{}")', lambda: pick(32, HEX)),
    ("WireGuard", "[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32\n", lambda: pick(43, BASE64) + "="),
    ("GCP HMAC", "GOOG1E... secret {}\ngs_secret_access_key = {}\n", lambda: pick(40, BASE64)),
    ("Firebase", "databaseSecret: '{}'\n", lambda: pick(40)),
    ("Grafana", "GF_SECURITY_SECRET_KEY={}\n", lambda: pick(20)),
    ("OAuth form", "grant_type=refresh_token&client_id=app&refresh_token={}&scope=x", lambda: pick(64, URL64)),
    ("OAuth answer", '{{"token_type":"Bearer","expires_in":3600,"access_token":"{}"}}', lambda: pick(86, URL64)),
    ("GitLab CI", "CI_JOB_TOKEN={}\n", lambda: "64_" + pick(20, URL64)),
    ("Discord hook", "https://discord.com/api/webhooks/123456789012345678/{}", lambda: pick(68, URL64)),
    ("Teams hook", "https://acme.webhook.office.com/webhookb2/{}/IncomingWebhook/x/y", lambda: f"{uuid()}@{uuid()}"),
)
PASSWORDS_RULES = (
    "curl -u admin:{} https://api.example.org/v1\n",
    "PGPASSWORD={} psql -h db -U app -c 'select 1'\n",
    "mysqldump --user=root --password={} app > a.sql\n",
    "mysql -u root -p{} app\n",
    "postgresql://app:{}@db.internal:5432/app\n",
    "machine git.example.org login bob password {}\n",
    "db.internal:5432:app:bob:{}\n",
    "Server=db;Database=app;User Id=sa;Password={};Encrypt=true\n",
    "$pw = ConvertTo-SecureString '{}' -AsPlainText -Force\n",
    "DB_PASSWORD={}\n",
    "export REDIS_PASSWORD='{}'\n",
    "spring.datasource.password={}\n",
    '{{"username": "bob", "password": "{}"}}\n',
    "  password: {}\n",
    "sshpass -p '{}' ssh deploy@host\n",
    "docker login -u ci -p {} registry.example.org\n",
    "echo '{}' | sudo -S systemctl restart x\n",
    "requests.get(url, auth=('bob', '{}'))\n",
    "CREATE USER app IDENTIFIED BY '{}';\n",
    "redis-cli -h cache -a {} ping\n",
)
PASSWORDS_DOCUMENTS = (
    "wget --user=bob --password={} https://files.example.org/a.tgz\n",
    "wget --http-user=bob --http-password={} https://files.example.org/a.tgz\n",
    "curl --proxy-user bob:{} -x proxy:3128 https://example.org\n",
    "curl -sS -X POST -d 'user=bob&password={}' https://example.org/login\n",
    "http -a bob:{} GET example.org/api\n",
    "ldapsearch -x -D cn=admin,dc=x -w {} -b dc=x\n",
    "smbclient //nas/share -U bob%{}\n",
    "sudo mount -t cifs //nas/s /mnt -o username=bob,password={},vers=3.0\n",
    "lftp -u bob,{} sftp://files.example.org\n",
    "sqlcmd -S tcp:db,1433 -U sa -P {} -Q 'select 1'\n",
    "sqlplus app/{}@//db:1521/XE\n",
    "mongosh mongodb://db:27017 -u root -p {} --authenticationDatabase admin\n",
    "mongodump --uri mongodb://root:{}@db:27017/app\n",
    "docker run -d -e POSTGRES_PASSWORD={} -p 5432:5432 postgres:16\n",
    "docker run -e 'ACCEPT_EULA=Y' -e 'MSSQL_SA_PASSWORD={}' mcr.example.org/mssql\n",
    "    environment:\n      - MYSQL_ROOT_PASSWORD={}\n      - MYSQL_DATABASE=app\n",
    "    environment:\n      MINIO_ROOT_PASSWORD: {}\n",
    "kubectl create secret generic db --from-literal=password={}\n",
    "helm upgrade --install pg bitnami/postgresql --set auth.postgresPassword={}\n",
    "ENV ADMIN_PASSWORD {}\n",
    "ARG DB_PASS={}\n",
    "define('DB_PASSWORD', '{}');\n",
    '$db_pass = "{}";\n',
    "    'password' => '{}',\n",
    "DB_PASS: '{}'\n",
    "ansible_ssh_pass={}\n",
    "web1 ansible_host=10.0.0.4 ansible_user=root ansible_become_password={}\n",
    "[client]\nuser=root\npassword={}\n",
    "[mail]\nsmtp_host = mx\nsmtp_password = {}\n",
    '<property name="password" value="{}"/>\n',
    "<password>{}</password>\n",
    '<user username="tomcat" password="{}" roles="manager-gui"/>\n',
    '<add name="Db" connectionString="Data Source=db;Initial Catalog=app;User ID=sa;Password={}" />\n',
    "jdbc:mysql://db:3306/app?user=app&password={}&useSSL=false\n",
    "jdbc:sqlserver://db:1433;databaseName=app;user=sa;password={};\n",
    'DriverManager.getConnection("jdbc:postgresql://db/app", "app", "{}");\n',
    "conn = psycopg2.connect(host='db', user='app', password='{}', dbname='app')\n",
    "ssh.connect('10.0.0.4', username='root', password=\"{}\")\n",
    "server.login('bob@example.org', '{}')\n",
    's = smtplib.SMTP(\'mx\'); s.login("bob", "{}")\n',
    "auth = HTTPBasicAuth('bob', '{}')\n",
    "ALTER USER app WITH PASSWORD '{}';\n",
    "CREATE ROLE app LOGIN ENCRYPTED PASSWORD '{}';\n",
    "CREATE LOGIN app WITH PASSWORD = '{}';\n",
    "SET PASSWORD FOR 'app'@'%' = PASSWORD('{}');\n",
    "GRANT ALL ON app.* TO 'app'@'%' IDENTIFIED BY '{}';\n",
    "requirepass {}\n",
    "openssl pkcs12 -in a.p12 -passin pass:{} -nodes\n",
    "openssl enc -aes-256-cbc -pbkdf2 -k {} -in a -out b\n",
    "gpg --batch --passphrase '{}' -d a.gpg\n",
    "zip -P {} a.zip a.txt\n",
    "unzip -P '{}' a.zip\n",
    "7z x -p{} a.7z\n",
    "keytool -genkey -keystore k.jks -storepass {} -alias a\n",
    "echo 'bob:{}' | chpasswd\n",
    'echo "{}" | docker login -u bob --password-stdin ghcr.example.org\n',
    "echo -e '{}\\n{}' | passwd bob\n",
    "htpasswd -cb /etc/nginx/.htpasswd bob {}\n",
    "rabbitmqctl add_user bob {}\n",
    "mosquitto_pub -h mq -u bob -P {} -t a -m b\n",
    "ipmitool -I lanplus -H 10.0.0.9 -U admin -P {} power on\n",
    "net user bob {} /add\n",
    "net use Z: \\\\nas\\share /user:bob {}\n",
    "xfreerdp /v:10.0.0.4 /u:bob /p:{}\n",
    "$cred = New-Object System.Net.NetworkCredential('bob', '{}')\n",
    "New-LocalUser -Name bob -Password (ConvertTo-SecureString -String '{}' -AsPlainText -Force)\n",
    "Connect-AzAccount -Credential (New-Object PSCredential('b', (ConvertTo-SecureString '{}' -AsPlainText -Force)))\n",
    '$env:DB_PASSWORD = "{}"\n',
    "set DB_PASSWORD={}\n",
    'setx DB_PASSWORD "{}"\n',
    "az login --service-principal -u app -p {} --tenant t\n",
    "az vm create --name v --admin-username bob --admin-password {}\n",
    "aws rds modify-db-instance --db-instance-identifier a --master-user-password {}\n",
    "nmcli dev wifi connect Home password {}\n",
    'network={{\n  ssid="Home"\n  psk="{}"\n}}\n',
    "wpa_passphrase Home '{}'\n",
    "twine upload -u bob -p {} dist/*\n",
    "restic: RESTIC_PASSWORD={} restic backup /srv\n",
    "SSHPASS={} sshpass -e ssh a@b\n",
    "user: bob / pass: {}\n",
    "login: bob\npassword: {}\n",
    "Username: bob  Password: {}\n",
    "my db password is {}\n",
    "https://bob:{}@git.example.org/a/b.git\n",
    "amqp://bob:{}@mq:5672/%2f\n",
    "smtp://bob:{}@mx.example.org:587\n",
    "ftp://bob:{}@files.example.org/pub\n",
    "Authorization: Basic {}\n",
    "const pool = new Pool({{ user: 'app', password: '{}', host: 'db' }})\n",
    'String password = "{}";\n',
    'let password: &str = "{}";\n',
    'Password:  "{}",\n',
    'admin_password = "{}"\n',
    'variable "db_password" {{\n  default = "{}"\n}}\n',
    '- name: DB_PASSWORD\n  value: "{}"\n',
    '{{"name": "DB_PASSWORD", "value": "{}"}}\n',
    'expect "assword:"\nsend "{}\\r"\n',
    "vault kv put secret/db password={}\n",
    "snowsql -a acc -u bob --password {}\n",
    "clickhouse-client --user bob --password '{}' -q 'select 1'\n",
)

KEYS = {
    "RSA": ("RSA PRIV" + "ATE KEY", "MIIEpAIBAAKCAQEA", 25),
    "PKCS8": ("PRIV" + "ATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ", 25),
    "EC": ("EC PRIV" + "ATE KEY", "MHcCAQEEI", 3),
    "OpenSSH": (
        "OPENSSH PRIV" + "ATE KEY",
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
        6,
    ),
    "encrypted": ("ENCRYPTED PRIV" + "ATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQI", 27),
    "PGP": ("PGP PRIV" + "ATE KEY BLOCK", "lQOYBF", 20),
}


def key_body(name: str) -> list[str]:
    _, head, lines = KEYS[name]
    return textwrap.wrap(head + pick(64 * lines - 20 - len(head), BASE64), 64)


def key(name: str, between: str = "\n") -> str:
    label = KEYS[name][0]
    return between.join([f"-----BEGIN {label}-----", *key_body(name), f"-----END {label}-----"])


def putty_key() -> str:
    lines = textwrap.wrap(pick(64 * 14, BASE64), 64)
    return "\n".join(["Private-Lines: 14", *lines, f"Private-MAC: {pick(40, HEX)}"])


def private_keys() -> Iterator[tuple[str, str, str, str]]:
    """Half, name, text, what must be gone."""
    for name in KEYS:
        yield "rules", name, f"$ cat key\n{(whole := key(name))}\n$ ls\n", whole.split("\n")[3]
        yield "rules", f"{name} in JSON", json.dumps({"key": (whole := key(name))}), whole.split("\n")[3]
    for name in ("RSA", "PKCS8", "OpenSSH"):
        lines = key(name).split("\n")
        yield "rules", f"{name}, head", "$ head -5 key\n" + "\n".join(lines[:5]) + "\n$ ls\n", lines[3]
        yield "rules", f"{name}, tail", "$ tail -5 key\n" + "\n".join(lines[-5:]) + "\n$ ls\n", lines[-3]
        numbered = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines, 1))
        yield "documents", f"{name}, cat -n", numbered, lines[3]
        yield "documents", f"{name}, grep", "\n".join(f"id_rsa:{line}" for line in lines), lines[3]
        yield "documents", f"{name}, quoted mail", "\n".join(f"> {line}" for line in lines), lines[3]
        yield "documents", f"{name}, diff", "\n".join(f"+{line}" for line in lines), lines[3]
        yield "documents", f"{name}, one line", " ".join(lines), lines[3]
        yield "documents", f"{name}, no line ends", "".join(lines), lines[3]
        yield "documents", f"{name}, CRLF", "\r\n".join(lines), lines[3]
        yield (
            "documents",
            f"{name}, YAML",
            "key: |\n" + "\n".join(f"    {line}" for line in lines) + "\nnext: 1\n",
            lines[3],
        )
        yield "documents", f"{name}, source", "\n".join(f'    "{line}\\n"' for line in lines) + ";\n", lines[3]
        yield (
            "documents",
            f"{name}, in base64",
            f"tls.key: {(encoded := base64_of(chr(10).join(lines)))}\n",
            encoded[200:260],
        )
        yield (
            "documents",
            f"{name}, base64 wrapped",
            "\n".join(textwrap.wrap(encoded := base64_of("\n".join(lines)), 76)),
            encoded[228:300],
        )
        yield "documents", f"{name}, in a URL", "key=" + (encoded := quote("\n".join(lines), safe="")), lines[3][:20]
        yield "documents", f"{name}, cut", "\n".join(lines[:4]) + "\n... [output truncated] ...\n", lines[2]
        yield (
            "documents",
            f"{name}, cut in a line",
            "\n".join(lines[:3])[:-20] + "…(1,234 characters omitted)",
            lines[1],
        )
        yield "documents", f"{name}, without its lines", "\n".join(lines[1:-1]), lines[2]
        yield "documents", f"{name}, twice escaped", json.dumps(json.dumps({"k": "\n".join(lines)})), lines[3]
        yield (
            "documents",
            f"{name}, kubeconfig",
            f"    client-key-data: {(encoded := base64_of(chr(10).join(lines)))}\n",
            encoded[200:260],
        )
    yield (
        "documents",
        "PuTTY",
        f"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\n{(putty := putty_key())}\n",
        putty.split("\n")[3],
    )
    yield (
        "documents",
        "JWK",
        json.dumps({"kty": "RSA", "e": "AQAB", "d": (d := pick(342, URL64)), "n": pick(342, URL64)}),
        d,
    )


def encoded_secrets() -> Iterator[tuple[str, str, str, str]]:
    github, stripe = SHAPES_RULES["GitHub classic"], SHAPES_RULES["Stripe"]
    for number in range(3):
        secret = github()
        yield "rules", "base64 of a token", f"$ echo {(encoded := base64_of(secret))} | base64 -d\n", encoded[8:40]
        secret = SHAPES_RULES["OpenAI project"]()
        yield (
            "rules",
            "base64 of settings",
            (encoded := base64_of(f"[app]\nname = x\nkey = {secret}\n")),
            encoded[60:100],
        )
        value = password(number)
        text = json.dumps({"password": value})
        yield "rules", "escaped JSON", json.dumps({"body": text}), value
        yield "documents", "twice escaped JSON", json.dumps(json.dumps({"body": text})), value
        yield "documents", "form", f"data={quote(text, safe='')}", quote(value, safe="")
        yield "documents", "form, whole", quote(f"user=bob&password={value}", safe=""), quote(value, safe="")
        yield "documents", "HTML", text.replace('"', "&quot;"), value.replace("&", "&amp;")
        yield "documents", "unicode escapes", text.replace('"', "\\u0022"), value
        yield (
            "documents",
            "URL in a URL",
            "next=" + quote(f"https://bob:{value}@git.example.org/x", safe=""),
            quote(value, safe=""),
        )
        secret = pick(40, BASE64)
        yield (
            "documents",
            "AWS secret in a URL",
            f"aws_secret_access_key={quote(secret, safe='')}&x=1",
            quote(secret, safe=""),
        )
        secret = pick(40)
        yield (
            "documents",
            "header in JSON in JSON",
            json.dumps(json.dumps({"Authorization": f"Bearer {secret}"})),
            secret,
        )
        yield "documents", "header in a URL", quote(f"Authorization: Bearer {secret}", safe=""), secret
        docker = json.dumps({"auths": {"r.example.org": {"auth": base64_of(f"bob:{password(1)}")}}})
        yield (
            "documents",
            "dockerconfigjson",
            f"  .dockerconfigjson: {(encoded := base64_of(docker))}\n",
            encoded[-36:-4],
        )
        yield (
            "documents",
            "basic in JSON",
            json.dumps({"headers": {"Authorization": "Basic " + (encoded := base64_of(f"bob:{password(3)}"))}}),
            encoded,
        )
        settings = f"DB_HOST=db\nDB_PASSWORD={(value := password(1))}\n"
        yield "documents", "base64 of .env", f"data:\n  .env: {(encoded := base64_of(settings))}\n", encoded[-16:-4]
        yield (
            "documents",
            "base64 wrapped",
            "\n".join(textwrap.wrap(encoded := base64_of("x = 1\n" * 9 + f"token = '{stripe()}'\n"), 76)),
            encoded[-36:-4],
        )
        yield (
            "documents",
            "secret manifest",
            f"kind: Secret\ndata:\n  password: {(encoded := base64_of(password(7)))}\n",
            encoded,
        )
        for width in (80, 100, 120):
            token = (SHAPES_RULES["OpenAI project"](), jwt(), SHAPES_RULES["GitHub fine-grained"]())[number]
            screen = f"$ export SOME_SERVICE_VALUE={token}"
            lines = textwrap.wrap(screen, width, break_on_hyphens=False, break_long_words=True, drop_whitespace=False)
            lines = [screen[at : at + width] for at in range(0, len(screen), width)] if lines else []
            yield "documents", "wrapped", "\n".join([*lines, "$ ls", ""]), lines[1][:30]
            yield "documents", "wrapped, all of it", "\r\n".join([*lines, "$ ls", ""]), lines[-1][:12]
        token = github()
        screen = f"$ git clone https://oauth2:{token}@github.com/acme/api.git && cd api"
        yield "documents", "wrapped in a URL", f"{screen[:48]}\n{screen[48:]}\n", token[24:]
        yield (
            "documents",
            "found elsewhere",
            f"$ echo $PGPASSWORD\n{(value := password(3))}\n$ env\nPGPASSWORD={value}\nUSER=x\n",
            value,
        )
        yield (
            "documents",
            "found elsewhere, encoded",
            f"PGPASSWORD={(value := password(6))}\n$ echo {(encoded := base64_of(value))}",
            encoded[:20],
        )
        yield (
            "documents",
            "found elsewhere, in a URL",
            f"PGPASSWORD='{(value := password(3))}'\nhttp://x?q={quote(value, safe='')}",
            quote(value, safe=""),
        )


def hashes() -> Iterator[str]:
    yield f"commit {pick(40, HEX)}\nAuthor: A <a@example.org>\n"
    yield f"{pick(64, HEX)}  dist/app.tar.gz\n"
    yield f'"integrity": "sha512-{pick(86, BASE64)}=="'
    yield f"Digest: sha256:{pick(64, HEX)}\nStatus: Downloaded newer image for postgres:16\n"
    yield f'ETag: "{pick(32, HEX)}"\n'
    yield f"cache key: {pick(64, HEX)} (hit)\n"
    yield f"key-{pick(40, HEX)} restored from cache\n"
    yield f"trace_id={pick(32, HEX)} span_id={pick(16, HEX)}\n"
    yield f"request id {uuid()}\nsession_id: {uuid()}\n"
    yield f"/nix/store/{pick(32, LOWER + DIGITS)}-openssl-3.0.12/lib\n"
    yield f"go.sum: github.com/x/y v1.2.3 h1:{pick(43, BASE64)}=\n"
    yield f"--hash=sha256:{pick(64, HEX)}\n"
    yield f"data:image/png;base64,iVBORw0KGgo{pick(400, BASE64)}\n"
    yield f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{pick(43, BASE64)} bob@host\n"
    yield f"-----BEGIN CERTIFICATE-----\nMIID{pick(60, BASE64)}\n{pick(64, BASE64)}\n-----END CERTIFICATE-----\n"
    yield f"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A{pick(32, BASE64)}\n-----END PUBLIC KEY-----\n"
    yield f"certificate-authority-data: {base64_of('-----BEGIN CERTIFICATE-----' + chr(10) + pick(64, BASE64))}\n"
    yield f"client-certificate-data: {base64_of('-----BEGIN CERTIFICATE-----' + chr(10) + pick(64, BASE64))}\n"
    yield f"toolu_{pick(24)} call_{pick(24)} msg_{pick(24)} chatcmpl-{pick(29)}\n"
    yield f"fingerprint SHA256:{pick(43, BASE64)} bob@host (ED25519)\n"
    yield f"arn:aws:iam::123456789012:role/deploy-{pick(8, LOWER + DIGITS)}\n"
    yield f"next_page_token: {pick(36)}\n"
    yield f'"nextToken": "{pick(60)}"\n'
    yield f"kid: {pick(43, URL64)}\njwks_uri: https://example.org/keys\n"
    yield f"publishable: pk_test_docs and NEXT_PUBLIC_ID={uuid()}\n"
    yield f'"x5t": "{pick(27, URL64)}", "use": "sig"\n'
    yield f"md5sum: {pick(32, HEX)}  secret_key_list.txt\n"
    yield f"0x{pick(40, HEX)} sent 1 ETH in tx 0x{pick(64, HEX)}\n"
    yield f"flag{{{pick(8, LOWER)}_{pick(10, LOWER + DIGITS)}_{pick(6, HEX)}}}\n"
    yield f"picoCTF{{{pick(6, LOWER)}_{pick(12, LOWER + DIGITS)}}}\n"
    yield f"vendor/assets/application-{pick(64, HEX)}.js\n"
    yield f'<script nonce="{pick(22, BASE64)}" src="/a.js"></script>\n'
    yield f"base64 of a file: {base64_of('import os' + chr(10) + 'print(os.getcwd())' + chr(10))}\n"
    yield f"eyJ{pick(40)} is a cursor, not a token\n"
    yield f'W/"{pick(27, BASE64)}"\n'


KEEP = r"""
password = os.environ["DB_PASSWORD"]
password = getpass.getpass("Password: ")
password: str = Field(min_length=8)
def login(user: str, password: str) -> Token:
if not check_password(password, user.password_hash):
self.password = password
password=args.password, token=args.token
DB_PASSWORD=${DB_PASSWORD:-postgres}
DB_PASSWORD=$(cat /run/secrets/db)
PGPASSWORD="$POSTGRES_PASSWORD" psql -h db
POSTGRES_PASSWORD=postgres
MYSQL_ROOT_PASSWORD: root
password: changeme
password=<your password here>
"password": "********"
"password": "string"
"password": "Passwort"
"password": "Mot de passe",
"password": "Your password must contain at least 8 characters and 1 digit",
password: 'required|min:8|confirmed'
password: required
password: true
password: null
<input type="password" name="password" id="password1" placeholder="Password">
<label for="password2">Confirm password:</label>
Enter password:
root@host's password:
[sudo] password for bob:
Password for 'https://bob@git.example.org':
fatal: Authentication failed for 'https://git.example.org/a/b.git/'
--password-stdin
docker login --username bob --password-stdin
mysql -u root -p
mysql -u root -p app < dump.sql
mysql -h 127.0.0.1 -P 3306 -u root app
mkdir -p /srv/app/data && cp -p a b
docker run -p 8080:80 -p 5432:5432 nginx
ssh -p 2222 deploy@host
curl -u "$USER:$TOKEN" https://api.example.org
curl -u user https://api.example.org
curl -u user:password https://api.example.org
curl -X POST -p https://api.example.org
sshpass -p "$PASS" ssh a@b
redis-cli -a "$REDIS_PASSWORD" ping
psql postgresql://postgres:postgres@localhost:5432/app
https://user:pass@example.org/ is deprecated
https://${USER}:${TOKEN}@git.example.org
git@github.com:acme/api.git
ssh://git@git.example.org:22/a/b.git
mongodb://localhost:27017/app
test_password_reset_sends_mail PASSED
tests/test_auth.py::test_wrong_password PASSED [ 42%]
PASS: test_login (0.02s)
PASS: src/app.test.js
pass: 12, fail: 0
12 passed, 3 failed in 4.21s
bypass=true
max_tokens=4096
"max_tokens": 1024, "total_tokens": 3312
tokens: 1,234 in, 567 out
token: Token = tokenizer.next()
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
token_count = len(tokens)
csrf_token = get_token(request)
{% csrf_token %}
secrets:
  token: ${{ secrets.GITHUB_TOKEN }}
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
api_key = os.getenv("OPENAI_API_KEY")
api_key: YOUR_API_KEY
OPENAI_API_KEY=sk-...
export ANTHROPIC_API_KEY=your-key-here
AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
primary_key = Column(Integer, primary_key=True)
foreign_key: users.id
cache_key = f"user:{user_id}:profile"
key = lambda item: item.name
sort_key="created_at" partition_key="tenant_id"
"key": "value"
for key, value in settings.items():
KeyError: 'secret_key'
SECRET_KEY = env("SECRET_KEY")
secret_name: db-credentials
secretKeyRef:
  name: db
  key: password
valueFrom: {secretKeyRef: {name: db, key: password}}
existingSecret: postgres-credentials
credentials: "same-origin"
fetch(url, {credentials: 'include'})
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
Authorization: Basic <credentials>
headers = {"Authorization": f"Bearer {token}"}
www-authenticate: Basic realm="restricted"
-----BEGIN PRIVATE KEY-----
openssl genrsa -out key.pem 2048
openssl req -x509 -newkey rsa:4096 -keyout key.pem -out cert.pem -nodes
ssh-keygen -t ed25519 -N "" -f id_ed25519
ssh-keygen -t rsa -b 4096 -P ''
Generating public/private rsa key pair.
Your identification has been saved in /home/dev/.ssh/id_rsa
private_key_path: /etc/ssl/private/server.key
ssl_certificate_key /etc/nginx/ssl/server.key;
PasswordAuthentication no
PermitRootLogin prohibit-password
password [success=1 default=ignore] pam_unix.so obscure sha512
root:x:0:0:root:/root:/bin/bash
$ passwd bob
New password:
passwd: password updated successfully
chage -d 0 bob
john --wordlist=rockyou.txt hash.txt
hashcat -m 0 -a 0 hashes.txt rockyou.txt
The password is incorrect, try again.
The password is stored hashed with bcrypt.
the password must be at least 12 characters long
Set a strong password for the admin user.
password strength: weak
password_reset_timeout = 3600
PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = []
SESSION_COOKIE_NAME = "sessionid"
session_timeout: 3600
pwd=$(pwd)
PWD=/home/dev/project
OLDPWD=/root
cd "$PWD" && echo $PWD
pwd: /srv/app
os.path.join(pwd, "src")
user, pwd = line.split(":")
connect(user="app", passwd=passwd, db="app")
net use
unzip -p archive.zip file.txt | head
unzip archive.zip -d /tmp/x
zip -r out.zip folder
7z x archive.7z -o/tmp/x
tar -xpf a.tar
npm install -p
pip install --user requests
git config --global user.email "a@example.org"
git config user.name "Bob"
useradd -m -s /bin/bash bob
helm install app ./chart -n prod --set image.tag=1.2.3
kubectl get secret db -o jsonpath='{.data.password}'
kubectl create secret generic db --from-literal=password="$DB_PASSWORD"
echo "$DB_PASSWORD" | docker login --username bob --password-stdin
echo "hello" | sudo tee /etc/motd
echo done | mail -s x a@example.org
auth=("user", os.environ["TOKEN"])
auth = HTTPBasicAuth(user, password)
server.login(user, password)
login(user='admin', password='admin')
client.login("bob", password)
requirepass ${REDIS_PASSWORD}
# requirepass foobared
identified by the following properties
can be identified by various means
with password authentication disabled
with password hashing enabled
--password PASSWORD   the password to use
--token TOKEN         API token (default: $TOKEN)
-p, --password string   Password
-u, --username string   Username
usage: curl [options...] <url>  -u, --user <user:password>
ConvertTo-SecureString $env:PW -AsPlainText -Force
$cred = Get-Credential
SELECT user, password FROM users WHERE id = 1;
password VARCHAR(255) NOT NULL,
ALTER TABLE users ADD COLUMN password_hash text;
CREATE USER app WITH PASSWORD :'password';
INSERT INTO users (name, password) VALUES (?, ?);
password = "%s" % value
f"{user}:{password}@{host}"
"postgresql://%s:%s@%s/%s" % (user, password, host, name)
"secret": "xxxxxxxxxxxxxxxx"
client_secret: <redacted>
client_secret=[REDACTED]
api_token: '{{ lookup("env", "TOKEN") }}'
token: ""
apiKey: process.env.API_KEY,
apiKey: config.get('api.key'),
const secret = crypto.randomBytes(32).toString('hex');
const token = jwt.sign({ id: user.id }, process.env.JWT_SECRET);
password := os.Getenv("PASSWORD")
let password = std::env::var("PASSWORD").unwrap();
String password = System.getenv("DB_PASSWORD");
password: z.string().min(8).max(72)
password?: string;
password: String!
readonly password: SecretStr
@Value("${spring.datasource.password}")
spring.datasource.password=${DB_PASSWORD}
random_password.db.result
password = var.db_password
password = data.aws_secretsmanager_secret_version.db.secret_string
aws secretsmanager get-secret-value --secret-id prod/db
vault kv get -field=password secret/db
op read "op://vault/db/password"
gh auth token | docker login ghcr.io -u bob --password-stdin
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
sk-your-key-goes-here-please-replace-it
AIzaSyEXAMPLEEXAMPLEEXAMPLEEXAMPLE12345
Bearer authentication overview for API consumers
class TokenBucketRateLimiter:
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
node_modules/@types/passport-local/index.d.ts
passport.use(new LocalStrategy(verify))
compass: north, trespass: no
Passwort vergessen?
contraseña incorrecta
パスワードを入力してください
"""

DELIVERABLES = (
    (
        "Recover the password from the deleted file on disk.img and write it to /app/recovered_passwords.txt.",
        "$ strings disk.img | grep PASS\nPASSWORD={}\n",
        "echo {} > /app/recovered_passwords.txt",
    ),
    ("Crack secrets.7z and tell me its password.", "password: {}\n", "The password is {}."),
    ("Find the admin password in the memory dump.", "ADMIN_PASSWORD={}\n", "Found it: {}"),
    ("What is the flag? Submit it.", "secret = '{}'\n", "{}"),
    (
        "Create the user app with password {} in the database.",
        "CREATE USER app IDENTIFIED BY '{}';\n",
        "mysql -uapp -p{} -e 'select 1'",
    ),
    ("Set the vnc password to {} and start the server.", "vnc password: {}\n", "Done, the password is {}."),
)
FOREIGN = (
    ("Recover the password of archive.7z.", "$ env\nPGPASSWORD={}\n", "PGPASSWORD={} psql -h db"),
    ("Find the flag in the binary.", "$ cat .env\nSMTP_PASSWORD={}\n", "I looked at the binary."),
    ("Find why the password reset fails and fix it.", "DB_PASSWORD={}\n", "Fixed."),
    (
        "Crack the zip file's password.",
        "curl -u deploy:{} https://ci.example.org\n",
        "curl -u deploy:{} https://ci.example.org/a",
    ),
)


def items() -> Iterator[dict[str, str]]:
    for half, shapes in (("rules", SHAPES_RULES), ("documents", SHAPES_DOCUMENTS)):
        for number, (name, make) in enumerate(shapes.items()):
            for turn in range(2 if half == "rules" else 3):
                place = SHAPE_PLACES[(number * 3 + turn) % len(SHAPE_PLACES)]
                secret = make()
                body = secret.removeprefix("FlyV1 ")
                yield {"class": "shape", "half": half, "name": name, "text": place.format(secret), "secret": body}
    for half, contexts in (("rules", CONTEXTS_RULES), ("documents", CONTEXTS_DOCUMENTS)):
        for name, template, make in contexts:
            for _ in range(2):
                secret = make()
                text = template.replace("{}", "\1").format().replace("\1", secret)
                yield {"class": "context", "half": half, "name": name, "text": text, "secret": secret}
    for half, templates in (("rules", PASSWORDS_RULES), ("documents", PASSWORDS_DOCUMENTS)):
        for number, template in enumerate(templates):
            for turn in range(2):
                secret = password(number + 3 * turn)
                if "Basic {}" in template:
                    secret = base64_of(f"bob:{secret}")
                if "://" in template and "jdbc" not in template:
                    secret = secret.replace("#", "*").replace("?", "!").replace("@", "+").replace("^", "~")
                text = template.replace("{}", "\1").format().replace("\1", secret)
                yield {"class": "password", "half": half, "name": template.strip(), "text": text, "secret": secret}
    for kind, found in (("private key", private_keys()), ("encoded", encoded_secrets())):
        for half, name, text, secret in found:
            yield {"class": kind, "half": half, "name": name, "text": text, "secret": secret}
    for task, shown, said in FOREIGN:
        secret = password(3)
        yield {
            "class": "password", "half": "documents", "name": f"foreign to: {task}", "task": task,
            "text": shown.replace("{}", secret), "said": said.replace("{}", secret), "secret": secret,
        }  # fmt: skip
    for task, shown, said in DELIVERABLES:
        for kind in (1, 3, 6):
            secret = password(kind)
            made = {"task": task, "text": shown, "said": said}
            made = {name: part.replace("{}", secret) for name, part in made.items()}
            yield {"class": "keep", "half": "documents", "name": "deliverable", **made}
    for text in [*KEEP.strip("\n").split("\n"), *hashes()]:
        yield {"class": "keep", "half": "documents", "name": text[:40], "text": text}


def main() -> None:
    made = list(items())
    raw = "\n".join(json.dumps(item, ensure_ascii=False) for item in made).encode()
    SET.write_bytes(zstandard.ZstdCompressor(level=19, write_checksum=True).compress(raw))
    print(f"{len(made)} items, {SET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
