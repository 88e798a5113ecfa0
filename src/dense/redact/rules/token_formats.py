"""Credentials that a prefix identifies.

One row for each format: its label, its prefixes, what follows, and what else must be true. All begin at the beginning
of a word, also in escaped and coloured text (`EDGE`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import batched

import msgspec
from msgspec import Struct

from dense.redact.rules.value_checks import decoded, has_mixed_case, has_random_piece, is_random
from dense.text.search import fast_search

EDGE = (
    r"(?<!sha256[=:-])(?<!sha384-)(?<!sha512[=:-])"
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u00[0-9a-fA-F]{2})|(?<=\\x[0-9a-fA-F]{2})|(?<=%[0-9a-fA-F]{2})"
    r"|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m))"
)
"""Where a word begins: also behind an escaped line end, an escaped quote, a percent code, a terminal colour code; but
not where a checksum begins, which may begin with any letters."""

Check = Callable[[re.Match[str]], bool]


def has_random_body(match: re.Match[str]) -> bool:
    """What follows the prefix is random."""
    return is_random(match[1])


def has_mixed_body(match: re.Match[str]) -> bool:
    return has_mixed_case(match[1])


def has_random_piece_in_body(match: re.Match[str]) -> bool:
    return has_random_piece(match[1])


def is_json_web_token(match: re.Match[str]) -> bool:
    """Its first part is a JSON object that names an algorithm."""
    text = decoded(match[0].partition(".")[0])
    if text is None:
        return False
    try:
        header = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header


def is_bot_token(match: re.Match[str]) -> bool:
    """Its first part is a Discord user's number."""
    text = decoded(match[0].partition(".")[0])
    return text is not None and text.isascii() and text.isdigit()


def mentions_mailgun(match: re.Match[str]) -> bool:
    """`key-` with a checksum behind it is also what caches call their entries."""
    around = match.string[max(0, match.start() - 300) : match.end() + 300].lower()
    return ("mailgun" in around or "api:key-" in around) and is_random(match[1])


class TokenFormat(Struct, frozen=True):
    """One format."""

    label: str
    """Its name for people. Its kind is the same in lower case with hyphens."""
    prefixes: tuple[str, ...]
    """How it begins."""
    rest: str
    """What follows, as a regular expression; group 1 is what must be random."""
    check: Check = has_random_body
    """What else must be true of it."""
    keeps_prefix: bool = False
    """Whether only group 1 is secret."""
    hint: str = ""
    """What a text with such a credential contains, for `fast_search`: for formats whose prefixes are many and alike, or
    so short that a prefix with `LEAST` behind it is common."""


def _format(
    label: str, prefixes: str, rest: str, check: Check = has_random_body, *, keeps_prefix: bool = False, hint: str = ""
) -> TokenFormat:
    return TokenFormat(
        label=label, prefixes=tuple(prefixes.split()), rest=rest, check=check, keeps_prefix=keeps_prefix, hint=hint
    )


URL64 = "[A-Za-z0-9_-]"
END = "(?![A-Za-z0-9])"
END64 = "(?![A-Za-z0-9_-])"
LEAST = r"[A-Za-z0-9_.%+/=\r\n-]{16}"
"""What comes behind every prefix, at least; a terminal may have broken the line."""

TOKEN_FORMATS = (
    _format(
        "AWS secret key",
        "AKIA ASIA",
        r"[A-Z2-7]{16}[\s,;:|\"'\\]{1,6}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        has_mixed_body,
        keeps_prefix=True,
    ),
    _format("AWS access key", "AKIA ASIA ABIA", rf"([A-Z2-7]{{16}}){END}", lambda match: is_random(match[0])),
    _format("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"([A-Za-z0-9]{36,})"),
    _format("GitHub token", "github_pat_", r"([A-Za-z0-9_]{50,})"),
    _format(
        "GitLab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
        rf"({URL64}{{20,}})(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{9}})?",
        hint=rf"gl[a-z]{{2,5}}-{LEAST}",
    ),
    _format("GitLab token", "GR1348941", rf"({URL64}{{20,}})"),
    _format(
        "Slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-",
        r"([A-Za-z0-9%-]{16,})",
        hint=rf"xox[a-z]-{LEAST}",
    ),
    _format("Slack token", "xapp- xwfp-", r"([A-Za-z0-9-]{20,})"),
    _format("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"([A-Za-z0-9]{16,})"),
    _format("Stripe key", "whsec_", r"([A-Za-z0-9+/]{24,}={0,2})"),
    _format("Anthropic key", "sk-ant-", rf"((?:[a-z]{{3,6}}[0-9]{{2}}-)?{URL64}{{32,}})"),
    _format("OpenRouter key", "sk-or-", r"(?:v[0-9]-)?([0-9a-f]{40,})"),
    _format("OpenAI key", "sk-", rf"({URL64}{{20,}})", has_random_piece_in_body),
    _format("Google API key", "AIza", rf"({URL64}{{35}}){END64}"),
    _format("Google API key", "AQ.Ab", rf"({URL64}{{40,}})"),
    _format("Google OAuth token", "ya29. ya29.c. ya29.d. ya29.m.", r"([A-Za-z0-9._-]{30,})"),
    _format("Google OAuth token", "GOCSPX-", rf"({URL64}{{24,}})"),
    _format("Google OAuth token", "1//0", rf"({URL64}{{36,}})", has_mixed_body),
    _format("npm token", "npm_", rf"([A-Za-z0-9]{{36}}){END}"),
    _format("PyPI token", "pypi-AgE", rf"({URL64}{{50,}})"),
    _format("Hugging Face token", "hf_ api_org_", rf"([A-Za-z0-9]{{30,}}){END64}", has_mixed_body),
    _format("Docker token", "dckr_pat_ dckr_oat_", rf"({URL64}{{20,}})"),
    _format(
        "Telegram token",
        "AA",
        rf"(?<=[0-9]{{8}}:AA)({URL64}{{32,34}}){END64}",
        has_mixed_body,
        keeps_prefix=True,
        hint=rf":AA{URL64}{{32}}",
    ),
    _format(
        "Discord token",
        "MT Mj Mz ND NT Nj Nz OD OT",
        rf"({URL64}{{21,27}}\.{URL64}{{6}}\.{URL64}{{27,}})",
        is_bot_token,
        hint=rf"(?:M[Tjz]|N[DTjz]|O[DT]){URL64}{{21,27}}\.{URL64}{{6}}\.",
    ),
    _format("Twilio key", "SK", rf"([0-9a-f]{{32}}){END64}", hint="SK[0-9a-f]{32}"),
    _format("Twilio key", "AC", rf"[0-9a-f]{{32}}:([0-9a-f]{{32}}){END64}", keeps_prefix=True, hint="AC[0-9a-f]{32}:"),
    _format("SendGrid key", "SG.", rf"({URL64}{{16,32}}\.{URL64}{{32,64}}){END64}"),
    _format("Mailgun key", "key-", rf"([0-9a-f]{{32}}){END64}", mentions_mailgun),
    _format("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"([0-9a-f]{{64}}){END}"),
    _format("Heroku key", "HRKU-", rf"({URL64}{{36,}})"),
    _format("Databricks token", "dapi dkea dose", rf"([0-9a-f]{{32}}(?:-[0-9])?){END64}"),
    _format("Vercel token", "vcp_ vci_ vca_ vcr_ vck_", r"([A-Za-z0-9]{24,})", hint=f"vc[a-z]_{LEAST}"),
    _format("Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"([A-Za-z0-9]{36,})", hint=f"nf[a-z]_{LEAST}"),
    _format("Cloudflare token", "cfk_ cfut_ cfat_", r"([A-Za-z0-9]{40,})"),
    _format(
        "Shopify token", "shpat_ shpca_ shppa_ shpss_", rf"([0-9a-fA-F]{{32}}){END}", hint=f"shp[a-z]{{2}}_{LEAST}"
    ),
    _format("Atlassian token", "ATATT3x ATCTT3x ATSTT3x", r"([A-Za-z0-9_=.-]{60,})"),
    _format("Grafana token", "glsa_ glc_", r"([A-Za-z0-9_+/=]{32,})"),
    _format("Vault token", "hvs. hvb. hvr.", rf"({URL64}{{24,}})", hint=rf"hv[a-z]\.{LEAST}"),
    _format("Sentry token", "sntrys_ sntryu_", r"([A-Za-z0-9_+/=]{40,})"),
    _format("Supabase key", "sbp_ sb_secret_", r"([A-Za-z0-9_-]{30,})"),
    _format("Notion token", "ntn_", r"([A-Za-z0-9]{40,})"),
    _format("Notion token", "secret_", rf"([A-Za-z0-9]{{43}}){END64}", has_mixed_body, hint="secret_[A-Za-z0-9]{43}"),
    _format("Linear key", "lin_api_ lin_oauth_", r"([A-Za-z0-9]{32,})"),
    _format("Postman key", "PMAK-", r"([0-9a-f]{24}-[0-9a-f]{34})"),
    _format("Figma token", "figd_ figu_", rf"({URL64}{{36,}})"),
    _format("New Relic key", "NRAK- NRJS- NRII-", rf"({URL64}{{19,}})"),
    _format("Tailscale key", "tskey-", r"((?:auth|api|client|scim|webhook)-[A-Za-z0-9-]{20,})"),
    _format("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa.", r"([A-Za-z0-9._-]{36,})", hint=rf"dp\.[a-z]{{2}}\.{LEAST}"),
    _format(
        "PlanetScale token",
        "pscale_tkn_ pscale_pw_ pscale_oauth_",
        r"([A-Za-z0-9_=.-]{32,})",
        hint=f"pscale_{LEAST}",
    ),
    _format("RubyGems key", "rubygems_", rf"([0-9a-f]{{48}}){END}"),
    _format("Pulumi token", "pul-", rf"([0-9a-f]{{40}}){END}"),
    _format("Brevo key", "xkeysib- xsmtpsib-", r"([0-9a-f]{64}-[A-Za-z0-9]{16})"),
    _format("age key", "AGE-SECRET-KEY-1", rf"([0-9A-Z]{{58}}){END}"),
    _format("Square key", "sq0csp- sq0atp- sq0idp-", rf"({URL64}{{22,}})", hint=f"sq0[a-z]{{3}}-{LEAST}"),
    _format("Alibaba key", "LTAI", rf"([A-Za-z0-9]{{16,20}}){END64}", has_mixed_body),
    _format("Shippo token", "shippo_live_ shippo_test_", rf"([0-9a-f]{{40}}){END}"),
    _format("Groq key", "gsk_", r"([A-Za-z0-9]{40,})", has_mixed_body),
    _format("Replicate token", "r8_", r"([A-Za-z0-9]{37,})", has_mixed_body),
    _format("Perplexity key", "pplx-", r"([A-Za-z0-9]{40,})"),
    _format("xAI key", "xai-", r"([A-Za-z0-9]{60,})"),
    _format("Cerebras key", "csk-", r"([a-z0-9]{40,})"),
    _format("NVIDIA key", "nvapi-", rf"({URL64}{{50,}})"),
    _format("LangSmith key", "lsv2_pt_ lsv2_sk_", r"([0-9a-f]{32}_[0-9a-f]{10})"),
    _format("Tavily key", "tvly-", r"((?:dev-|prod-)?[A-Za-z0-9]{24,})", has_random_piece_in_body),
    _format("E2B key", "e2b_", rf"([0-9a-f]{{40}}){END}"),
    _format("Slack token", "xoxe.xox", r"([bp]-[A-Za-z0-9%-]{20,})"),
    _format("AWS access key", "ACCA", rf"([A-Z2-7]{{16}}){END}", lambda match: is_random(match[0])),
    _format("Cloudflare key", "v1.0-", rf"([0-9a-f]{{24}}-[0-9a-f]{{146}}){END}"),
    _format("crates.io token", "cio", rf"([A-Za-z0-9]{{32}}){END64}", has_mixed_body, hint="cio[A-Za-z0-9]{32}"),
    _format("NuGet key", "oy2", rf"([a-z0-9]{{43}}){END64}", hint="oy2[a-z0-9]{43}"),
    _format("Clojars token", "CLOJARS_", rf"([a-z0-9]{{60}}){END}"),
    _format("SonarQube token", "squ_ sqp_ sqa_", rf"([0-9a-f]{{40}}){END}"),
    _format("CircleCI token", "CCIPAT_ CCIPRJ_", r"([A-Za-z0-9]{20,}_[0-9a-f]{40})"),
    _format(
        "HubSpot token", "pat-na pat-eu pat-ap", r"([0-9]-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    ),
    _format(
        "Resend key",
        "re_",
        rf"([A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}}){END}",
        has_mixed_body,
        hint="re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}",
    ),
    _format("Render key", "rnd_", rf"([A-Za-z0-9]{{28,}}){END}", has_mixed_body),
    _format("Neon key", "napi_", r"([a-z0-9]{60,})"),
    _format("MongoDB Atlas secret", "mdb_sa_sk_", rf"({URL64}{{32,}})"),
    _format("Pinecone key", "pcsk_", r"([A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,})"),
    _format("Together key", "tgp_v1_", rf"({URL64}{{40,}})"),
    _format("Fireworks key", "fw_", rf"([A-Za-z0-9]{{22,26}}){END64}", has_mixed_body, hint="fw_[A-Za-z0-9]{22}"),
    _format("Langfuse key", "sk-lf-", r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
    _format("ElevenLabs key", "sk_", rf"([0-9a-f]{{48}}){END64}", hint="sk_[0-9a-f]{48}"),
    _format("Firecrawl key", "fc-", rf"([0-9a-f]{{32}}){END64}"),
    _format("PostHog key", "phx_", r"([A-Za-z0-9]{40,})"),
    _format("Contentful token", "CFPAT-", rf"({URL64}{{40,}})"),
    _format("Typeform token", "tfp_", r"([A-Za-z0-9_.-]{40,})"),
    _format("Buildkite token", "bkua_ bkaj_ bkct_ bkpt_", r"([0-9a-f]{40,})"),
    _format("OpenShift token", "sha256~", rf"({URL64}{{43}}){END64}", has_mixed_body),
    _format("1Password token", "ops_eyJ", rf"({URL64}{{100,}})"),
    _format(
        "Dropbox token",
        "sl. sl.u.",
        r"([A-Za-z0-9_-]{60,})",
        has_mixed_body,
        hint=r"sl\.(?:u\.)?[A-Za-z0-9_-]{60}",
    ),
    _format("Bitbucket password", "ATBB", rf"([A-Za-z0-9]{{32}}){END}", has_mixed_body),
    _format("Trello token", "ATTA", r"([0-9a-f]{60,}[A-Za-z0-9]{0,16})"),
    _format("Octopus key", "API-", rf"([A-Z0-9]{{25,32}}){END64}", hint="API-[A-Z0-9]{25}"),
    _format("Artifactory key", "AKCp", rf"([A-Za-z0-9]{{68,72}}){END64}", has_mixed_body),
    _format("Artifactory token", "cmVmdGtu", rf"([A-Za-z0-9]{{56}}){END64}", has_mixed_body),
    _format("Square key", "EAAA", rf"({URL64}{{60}}){END64}", has_mixed_body, hint=f"EAAA{URL64}{{60}}"),
    _format("Facebook token", "EAA", r"([A-Za-z0-9]{90,})", has_mixed_body, hint="EAA[A-Za-z0-9]{90}"),
    _format("Prefect key", "pnu_ pnb_", rf"([A-Za-z0-9]{{36}}){END}", has_mixed_body),
    _format("Honeycomb key", "hcaik_ hcxik_ hcalk_ hcbik_", r"([a-z0-9]{50,})"),
    _format("Weights & Biases key", "wandb_v1_", rf"({URL64}{{60,}})"),
    _format("Cursor key", "key_", rf"([0-9a-f]{{64}}){END}", hint="key_[0-9a-f]{64}"),
    _format("Sourcegraph token", "sgp_", rf"((?:[0-9a-f]{{16}}_)?[0-9a-f]{{40}}){END}"),
    _format("Sourcegraph token", "slk_", rf"([0-9a-f]{{64}}){END}"),
    _format("RunPod key", "rpa_", rf"([A-Z0-9]{{40,}}[a-z0-9]{{0,8}}){END}"),
    _format("Jina key", "jina_", r"([0-9a-f]{32}[A-Za-z0-9_-]{20,})"),
    _format("Browserbase key", "bb_live_ bb_test_", r"([A-Za-z0-9_-]{27,})"),
    _format("dbt token", "dbtc_ dbtu_ dbts_", r"([A-Za-z0-9_=-]{30,})", hint="dbt[cus]_[A-Za-z0-9_=-]{30}"),
    _format("Infracost key", "ico-", rf"([A-Za-z0-9]{{32}}){END}", has_mixed_body),
    _format(
        "LaunchDarkly key",
        "sdk- mob-",
        r"([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})",
        hint="(?:sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-4",
    ),
    _format(
        "Razorpay key",
        "rzp_live_ rzp_test_",
        rf"([A-Za-z0-9]{{14}}){END}",
        has_mixed_body,
        hint="rzp_[a-z]{4}_[A-Za-z0-9]{14}",
    ),
    _format("Flutterwave key", "FLWSECK-", r"([0-9a-zA-Z]{32,}-X)", hint="FLWSECK-"),
    _format("EasyPost key", "EZAK EZTK", r"([A-Za-z0-9]{54,})"),
    _format("Duffel token", "duffel_live_ duffel_test_", rf"({URL64}{{40,}})"),
    _format("Adobe secret", "p8e- p8-", rf"({URL64}{{32,}})", hint=f"p8e?-{URL64}{{32}}"),
    _format("Frame.io token", "fio-u-", rf"({URL64}{{60,}})"),
    _format("ReadMe key", "rdme_", r"([a-z0-9]{60,})"),
    _format("JetBrains token", "perm:", r"([A-Za-z0-9=.-]{40,})", has_mixed_body),
    _format("Yandex key", "AQVN", rf"({URL64}{{35,38}}){END64}", has_mixed_body),
    _format("Tencent key", "AKID", rf"([A-Za-z0-9]{{32}}){END}", has_mixed_body),
    _format("Volcengine key", "AKLT", r"([A-Za-z0-9]{40,})", has_mixed_body),
    _format("Nostr key", "nsec1", rf"([a-z0-9]{{58}}){END}"),
    _format("Grafana key", "eyJrIjoi", r"([A-Za-z0-9]{60,}={0,2})"),
    _format("Dynatrace token", "dt0s02. dt0s04. dt0s08.", r"([A-Z2-7]{8,}\.[A-Z2-7]{64})", hint=f"dt0s0{LEAST}"),
    _format("GitLab token", "glpat-", rf"({URL64}{{27,300}}\.[0-9a-z]{{2}}\.[0-9a-z]{{7,12}})"),
    _format("Mapbox token", "sk.eyJ", rf"({URL64}{{40,}}\.{URL64}{{20,}})"),
    _format("OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"({URL64}{{40,}})"),
    _format("Zhipu key", "zai-", rf"([A-Za-z0-9.]{{40,}}){END64}", has_mixed_body),
    _format(
        "JSON web token",
        "eyJ",
        rf"({URL64}{{8,4096}}+\.{URL64}{{8,}}+(?:\.{URL64}*+){{1,3}}+)",
        is_json_web_token,
        hint=r"eyJ[A-Za-z0-9_\r\n-]{8,}\.[A-Za-z0-9_\r\n-]{8,}\.",
    ),
)


SEARCHED_FORMATS = (
    ("AWS bearer key", EDGE + r"ABSK[A-Za-z0-9+/]{60,}={0,2}", "ABSK[A-Za-z0-9+/]{60}"),
    (
        "AWS session token",
        EDGE + r"(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/%]{60,}={0,2}",
        "IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz",
    ),
    (
        "Airtable token",
        EDGE + rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{END}",
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{8}",
    ),
    ("Azure DevOps token", EDGE + rf"[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{END}", "AZDO[A-Za-z0-9]{4}"),
    ("Terraform token", EDGE + rf"[A-Za-z0-9]{{14}}\.atlasv1\.{URL64}{{60,70}}", r"\.atlasv1\."),
    (
        "Kubernetes token",
        EDGE + rf"(?:kubeconfig|token)-[a-z0-9-]{{5,40}}:[a-z0-9]{{54}}{END}",
        "(?:kubeconfig|token)-[a-z0-9-]{5,40}:[a-z0-9]{54}",
    ),
    ("Mailchimp key", EDGE + rf"[0-9a-f]{{32}}-us[0-9]{{1,2}}{END64}", "-us[0-9]"),
    ("Mailgun key", EDGE + rf"[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}{END64}", "mailgun|MAILGUN|Mailgun"),
    (
        "Fly.io token",
        EDGE + r"(?:fm1[ar]|fm2|fo1)_[A-Za-z0-9+/_-]{40,}={0,2}",
        "f[mo][12][ar]?_[A-Za-z0-9+/_-]{40}",
    ),
    ("PayPal token", rf"access_token\$(?:production|sandbox)\$[0-9a-z]{{16}}\$[0-9a-f]{{32}}{END}", r"access_token\$"),
    ("Dynatrace token", EDGE + rf"dt0[a-z][0-9]{{2}}\.[A-Z0-9]{{8,24}}\.[A-Z2-7]{{64}}{END}", r"dt0[a-z][0-9]{2}\."),
    ("Snyk token", EDGE + r"snyk_[us]at\.[0-9a-f]{8}\.[A-Za-z0-9_.-]{40,}", r"snyk_[us]at\."),
)
"""Formats without a stretch of word characters behind a prefix: label, pattern, hint for `fast_search`."""


class Row(Struct, frozen=True):
    """A format, compiled."""

    kind: str
    pattern: re.Pattern[str]
    check: Check
    group: int


@cache
def rows() -> dict[str, tuple[Row, ...]]:
    """For each prefix the rows that may begin there, the most specific first: `sk-ant-…` may be another `sk-…`."""
    by_prefix: dict[str, list[Row]] = {}
    for token in TOKEN_FORMATS:
        for prefix in token.prefixes:
            pattern = re.compile(EDGE + re.escape(prefix) + token.rest)
            row = Row(kind_of(token.label), pattern, token.check, 1 if token.keeps_prefix else 0)
            by_prefix.setdefault(prefix, []).append(row)
    longest_first = sorted(by_prefix, key=len, reverse=True)
    return {
        prefix: tuple(row for other in longest_first if prefix.startswith(other) for row in by_prefix[other])
        for prefix in by_prefix
    }


_LITERAL = re.compile(r"(?:[\w:/]|\\.)*")
_MAX_LITERAL_CHARS = 4
_MAX_BATCH = 32


def may_contain_token(text: str) -> bool:
    """Whether any row may match in a text of one byte for each character: a quick check before the search."""
    return any(has_hint(text) for has_hint in _hints())


@cache
def _hints() -> tuple[Callable[[str], bool], ...]:
    """Searches for the hints of all rows.

    The engine finds up to 32 words at once, by as many of their first letters, up to four, as the shortest has. So
    words of equal length are searched together."""
    by_length: dict[int, list[str]] = {}
    for token in TOKEN_FORMATS:
        for hint in [token.hint] if token.hint else [re.escape(prefix) + LEAST for prefix in token.prefixes]:
            literal = _LITERAL.match(hint)
            length = len(literal[0].replace("\\", "")) if literal else 0
            by_length.setdefault(min(max(2, length), _MAX_LITERAL_CHARS), []).append(hint)
    searches: list[Callable[[str], bool]] = []
    for hints in by_length.values():
        hints.sort()
        parts = -(-len(hints) // _MAX_BATCH)
        searches += [fast_search("|".join(part)) for part in batched(hints, -(-len(hints) // parts))]
    return tuple(searches)


@cache
def has_searched() -> Callable[[str], bool]:
    """Whether a text of one byte for each character may have one of the `SEARCHED_FORMATS`."""
    return fast_search("|".join(hint for _, _, hint in SEARCHED_FORMATS))


def searched(text: str) -> Iterator[tuple[int, int, str]]:
    """Where they are, with their kinds."""
    for kind, pattern in _searched_patterns():
        yield from ((*match.span(), kind) for match in pattern.finditer(text) if is_random(match[0]))


@cache
def _searched_patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(kind_of(label), re.compile(pattern)) for label, pattern, _ in SEARCHED_FORMATS]


@cache
def any_prefix() -> re.Pattern[str]:
    """One pattern for all prefixes, branching letter by letter."""
    return re.compile(f"({_tree(sorted(rows()))})")


@cache
def any_inner_prefix() -> re.Pattern[str]:
    """The same for a word behind `_` or `-`."""
    return re.compile(f"[_-](?=({_tree(sorted(rows()))}))")


@cache
def prefix_heads() -> frozenset[str]:
    """The last three characters of some prefixes before a stretch of letters begins: `SG.`, `29.`, `1//`."""
    heads = (re.match(r".*[^A-Za-z0-9_-]", prefix) for prefix in rows())
    return frozenset(head[0][-3:] for head in heads if head)


def kind_of(label: str) -> str:
    return label.lower().replace(" ", "-")


def _tree(words: list[str]) -> str:
    """A regular expression for any of these words, the longest at each place."""
    branches: list[str] = []
    for first in sorted({word[0] for word in words if word}):
        branches.append(re.escape(first) + _tree([word[1:] for word in words if word.startswith(first)]))
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in words else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if "" in words else joined
