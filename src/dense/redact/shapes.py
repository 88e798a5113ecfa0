"""Credentials that say by their first letters what they are.

One row for each prefix: what it is called, how it begins, what follows, and what else must hold. All must stand at the
beginning of a word, whatever that is in escaped and coloured text (`EDGE`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import batched

import msgspec
from msgspec import Struct

from dense.redact.credible import decoded, has_mixed_case, has_random_piece, is_random
from dense.text.search import fast_search

EDGE = (
    r"(?<!sha256[=:-])(?<!sha384-)(?<!sha512[=:-])"
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u00[0-9a-fA-F]{2})|(?<=\\x[0-9a-fA-F]{2})|(?<=%[0-9a-fA-F]{2})"
    r"|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m))"
)
"""Where a word begins: also behind an escaped line end, an escaped quote, a percent code, a terminal's colour code. But
not where a checksum begins, which may begin with any letters."""

Check = Callable[[re.Match[str]], bool]


def body(match: re.Match[str]) -> bool:
    """What follows the prefix is random."""
    return is_random(match[1])


def mixed_body(match: re.Match[str]) -> bool:
    return has_mixed_case(match[1])


def piece_of_body(match: re.Match[str]) -> bool:
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


def speaks_of_mailgun(match: re.Match[str]) -> bool:
    """`key-` with a checksum behind it is also what caches call their entries."""
    around = match.string[max(0, match.start() - 300) : match.end() + 300].lower()
    return ("mailgun" in around or "api:key-" in around) and is_random(match[1])


class Shape(Struct, frozen=True):
    """One row."""

    label: str
    """What people call it. Its kind is the same in lower case with hyphens."""
    prefixes: tuple[str, ...]
    """How it begins."""
    rest: str
    """What follows, as a regular expression; group 1 is what must be random."""
    check: Check = body
    """What else must hold."""
    keeps_prefix: bool = False
    """Whether only group 1 is secret."""
    sign: str = ""
    """What a text with such a credential holds, in the dialect of `words`: where prefixes are many and alike, or so
    short that a prefix with `LEAST` behind it tells little."""


def _shape(
    label: str, prefixes: str, rest: str, check: Check = body, *, keeps_prefix: bool = False, sign: str = ""
) -> Shape:
    return Shape(label, tuple(prefixes.split()), rest, check, keeps_prefix, sign)


URL64 = "[A-Za-z0-9_-]"
END = "(?![A-Za-z0-9])"
END64 = "(?![A-Za-z0-9_-])"
LEAST = "[A-Za-z0-9_.%+/=-]{16}"
"""What stands behind every prefix, at the least."""

SHAPES = (
    _shape(
        "AWS secret key",
        "AKIA ASIA",
        r"[A-Z2-7]{16}[\s,;:|\"'\\]{1,6}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        mixed_body,
        keeps_prefix=True,
    ),
    _shape("AWS access key", "AKIA ASIA ABIA", rf"([A-Z2-7]{{16}}){END}", lambda match: is_random(match[0])),
    _shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"([A-Za-z0-9]{36,})"),
    _shape("GitHub token", "github_pat_", r"([A-Za-z0-9_]{50,})"),
    _shape(
        "GitLab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
        rf"({URL64}{{20,}})(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{9}})?",
        sign=rf"gl[a-z]{{2,5}}-{LEAST}",
    ),
    _shape("GitLab token", "GR1348941", rf"({URL64}{{20,}})"),
    _shape(
        "Slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-",
        r"([A-Za-z0-9%-]{16,})",
        sign=rf"xox[a-z]-{LEAST}",
    ),
    _shape("Slack token", "xapp- xwfp-", r"([A-Za-z0-9-]{20,})"),
    _shape("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"([A-Za-z0-9]{16,})"),
    _shape("Stripe key", "whsec_", r"([A-Za-z0-9+/]{24,}={0,2})"),
    _shape("Anthropic key", "sk-ant-", rf"((?:[a-z]{{3,6}}[0-9]{{2}}-)?{URL64}{{32,}})"),
    _shape("OpenRouter key", "sk-or-", r"(?:v[0-9]-)?([0-9a-f]{40,})"),
    _shape("OpenAI key", "sk-", rf"({URL64}{{20,}})", piece_of_body),
    _shape("Google API key", "AIza", rf"({URL64}{{35}}){END64}"),
    _shape("Google API key", "AQ.Ab", rf"({URL64}{{40,}})"),
    _shape("Google OAuth token", "ya29.", r"([A-Za-z0-9._-]{30,})"),
    _shape("Google OAuth token", "GOCSPX-", rf"({URL64}{{24,}})"),
    _shape("Google OAuth token", "1//0", rf"({URL64}{{36,}})", mixed_body),
    _shape("npm token", "npm_", rf"([A-Za-z0-9]{{36}}){END}"),
    _shape("PyPI token", "pypi-AgE", rf"({URL64}{{50,}})"),
    _shape("Hugging Face token", "hf_ api_org_", rf"([A-Za-z0-9]{{30,}}){END64}", mixed_body),
    _shape("Docker token", "dckr_pat_ dckr_oat_", rf"({URL64}{{20,}})"),
    _shape(
        "Telegram token",
        "AA",
        rf"(?<=[0-9]{{8}}:AA)({URL64}{{32,34}}){END64}",
        mixed_body,
        keeps_prefix=True,
        sign=rf":AA{URL64}{{32}}",
    ),
    _shape(
        "Discord token",
        "MT Mj Mz ND NT Nj Nz OD OT",
        rf"({URL64}{{21,27}}\.{URL64}{{6}}\.{URL64}{{27,}})",
        is_bot_token,
        sign=rf"(?:M[Tjz]|N[DTjz]|O[DT]){URL64}{{21,27}}\.{URL64}{{6}}\.",
    ),
    _shape("Twilio key", "SK", rf"([0-9a-f]{{32}}){END64}", sign="SK[0-9a-f]{32}"),
    _shape("Twilio key", "AC", rf"[0-9a-f]{{32}}:([0-9a-f]{{32}}){END64}", keeps_prefix=True, sign="AC[0-9a-f]{32}:"),
    _shape("SendGrid key", "SG.", rf"({URL64}{{16,32}}\.{URL64}{{32,64}}){END64}"),
    _shape("Mailgun key", "key-", rf"([0-9a-f]{{32}}){END64}", speaks_of_mailgun),
    _shape("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"([0-9a-f]{{64}}){END}"),
    _shape("Heroku key", "HRKU-", rf"({URL64}{{36,}})"),
    _shape("Databricks token", "dapi dkea dose", rf"([0-9a-f]{{32}}(?:-[0-9])?){END64}"),
    _shape("Vercel token", "vcp_ vci_ vca_ vcr_ vck_", r"([A-Za-z0-9]{24,})", sign=f"vc[a-z]_{LEAST}"),
    _shape("Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"([A-Za-z0-9]{36,})", sign=f"nf[a-z]_{LEAST}"),
    _shape("Cloudflare token", "cfk_ cfut_ cfat_", r"([A-Za-z0-9]{40,})"),
    _shape("Shopify token", "shpat_ shpca_ shppa_ shpss_", rf"([0-9a-fA-F]{{32}}){END}", sign=f"shp[a-z]{{2}}_{LEAST}"),
    _shape("Atlassian token", "ATATT3x ATCTT3x ATSTT3x", r"([A-Za-z0-9_=.-]{60,})"),
    _shape("Grafana token", "glsa_ glc_", r"([A-Za-z0-9_+/=]{32,})"),
    _shape("Vault token", "hvs. hvb. hvr.", rf"({URL64}{{24,}})", sign=rf"hv[a-z]\.{LEAST}"),
    _shape("Sentry token", "sntrys_ sntryu_", r"([A-Za-z0-9_+/=]{40,})"),
    _shape("Supabase key", "sbp_ sb_secret_", r"([A-Za-z0-9_-]{30,})"),
    _shape("Notion token", "ntn_", r"([A-Za-z0-9]{40,})"),
    _shape("Linear key", "lin_api_ lin_oauth_", r"([A-Za-z0-9]{32,})"),
    _shape("Postman key", "PMAK-", r"([0-9a-f]{24}-[0-9a-f]{34})"),
    _shape("Figma token", "figd_ figu_", rf"({URL64}{{36,}})"),
    _shape("New Relic key", "NRAK- NRJS- NRII-", rf"({URL64}{{19,}})"),
    _shape("Tailscale key", "tskey-", r"((?:auth|api|client|scim|webhook)-[A-Za-z0-9-]{20,})"),
    _shape("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa.", r"([A-Za-z0-9._-]{36,})", sign=rf"dp\.[a-z]{{2}}\.{LEAST}"),
    _shape(
        "PlanetScale token",
        "pscale_tkn_ pscale_pw_ pscale_oauth_",
        r"([A-Za-z0-9_=.-]{32,})",
        sign=f"pscale_{LEAST}",
    ),
    _shape("RubyGems key", "rubygems_", rf"([0-9a-f]{{48}}){END}"),
    _shape("Pulumi token", "pul-", rf"([0-9a-f]{{40}}){END}"),
    _shape("Brevo key", "xkeysib- xsmtpsib-", r"([0-9a-f]{64}-[A-Za-z0-9]{16})"),
    _shape("age key", "AGE-SECRET-KEY-1", rf"([0-9A-Z]{{58}}){END}"),
    _shape("Square key", "sq0csp- sq0atp- sq0idp-", rf"({URL64}{{22,}})", sign=f"sq0[a-z]{{3}}-{LEAST}"),
    _shape("Alibaba key", "LTAI", rf"([A-Za-z0-9]{{16,20}}){END64}", mixed_body),
    _shape("Dynatrace token", "dt0c01. dt0s01. dt0s16.", r"([A-Z2-7]{24}\.[A-Z2-7]{64})", sign=f"dt0{LEAST}"),
    _shape("Shippo token", "shippo_live_ shippo_test_", rf"([0-9a-f]{{40}}){END}"),
    _shape("Groq key", "gsk_", r"([A-Za-z0-9]{40,})", mixed_body),
    _shape("Replicate token", "r8_", r"([A-Za-z0-9]{37,})", mixed_body),
    _shape("Perplexity key", "pplx-", r"([A-Za-z0-9]{40,})"),
    _shape("xAI key", "xai-", r"([A-Za-z0-9]{60,})"),
    _shape("Cerebras key", "csk-", r"([a-z0-9]{40,})"),
    _shape("NVIDIA key", "nvapi-", rf"({URL64}{{50,}})"),
    _shape("LangSmith key", "lsv2_pt_ lsv2_sk_", r"([0-9a-f]{32}_[0-9a-f]{10})"),
    _shape("Tavily key", "tvly-", r"((?:dev-|prod-)?[A-Za-z0-9]{24,})", piece_of_body),
    _shape("E2B key", "e2b_", rf"([0-9a-f]{{40}}){END}"),
    _shape(
        "JSON web token",
        "eyJ",
        rf"({URL64}{{8,4096}}+\.{URL64}{{8,}}+(?:\.{URL64}*+){{1,3}}+)",
        is_json_web_token,
        sign=rf"eyJ{URL64}{{8,}}\.{URL64}{{8,}}\.",
    ),
)


class Row(Struct, frozen=True):
    """A shape, made ready."""

    kind: str
    pattern: re.Pattern[str]
    check: Check
    group: int


@cache
def rows() -> dict[str, tuple[Row, ...]]:
    """For each prefix the rows that may begin there, the most telling first: `sk-ant-…` may be some other `sk-…`."""
    by_prefix: dict[str, list[Row]] = {}
    for shape in SHAPES:
        for prefix in shape.prefixes:
            pattern = re.compile(EDGE + re.escape(prefix) + shape.rest)
            row = Row(kind_of(shape.label), pattern, shape.check, 1 if shape.keeps_prefix else 0)
            by_prefix.setdefault(prefix, []).append(row)
    longest_first = sorted(by_prefix, key=len, reverse=True)
    return {
        prefix: tuple(row for other in longest_first if prefix.startswith(other) for row in by_prefix[other])
        for prefix in by_prefix
    }


_LITERAL = re.compile(r"(?:[\w:/]|\\.)*")
_LONGEST = 4
_AT_ONCE = 32


def may_hold(text: str) -> bool:
    """Whether any row may match in a text of one byte for each character. Few texts hold such a thing, and to know that
    of the others is ten times faster than to look for it."""
    for has_sign in _signs():  # noqa: SIM110 - asked of every trajectory: no generator
        if has_sign(text):
            return True
    return False


@cache
def _signs() -> tuple[Callable[[str], bool], ...]:
    """What tells whether a text holds a sign of any row. The engine of `words` finds up to 32 words at once with the
    processor's vectors, by as many of their first letters, up to four, as the shortest has: words of a length go
    together."""
    by_length: dict[int, list[str]] = {}
    for shape in SHAPES:
        for sign in [shape.sign] if shape.sign else [re.escape(prefix) + LEAST for prefix in shape.prefixes]:
            literal = _LITERAL.match(sign)
            length = len(literal[0].replace("\\", "")) if literal else 0
            by_length.setdefault(min(max(2, length), _LONGEST), []).append(sign)
    signs: list[Callable[[str], bool]] = []
    for found in by_length.values():
        found.sort()
        parts = -(-len(found) // _AT_ONCE)
        signs += [fast_search("|".join(part)) for part in batched(found, -(-len(found) // parts))]
    return tuple(signs)


@cache
def any_prefix() -> re.Pattern[str]:
    """One pattern for all prefixes, branching letter by letter."""
    return re.compile(f"({_tree(sorted(rows()))})")


@cache
def any_inner_prefix() -> re.Pattern[str]:
    """The same for a word that begins behind `_` or `-`."""
    return re.compile(f"[_-](?=({_tree(sorted(rows()))}))")


@cache
def prefix_heads() -> frozenset[str]:
    """The last three characters of what some prefixes have before a stretch of letters begins: `SG.`, `29.`, `1//`."""
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
