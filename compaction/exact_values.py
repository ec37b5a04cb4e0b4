"""Exact values in text: paths, URLs, ids, hashes, addresses, dates, numbers with units, names.

A value is a substring of the text it comes from. Every pattern starts at the edge of a word and
repeats bounded, disjoint classes, so that a scan is linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class Value(NamedTuple):
    """One exact value. `kind` is one of KINDS."""

    text: str
    kind: str


#: Kinds of values, most telling first.
KINDS = ("url", "path", "id", "address", "date", "pair", "number", "name")

# --------------------------------------------------------------------------------- patterns

_EXTENSIONS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|java|kt|kts|scala|swift|c|h|cc|cpp|hpp"
    "|cs|fs|rb|php|pl|lua"
    "|sh|bash|zsh|fish|ps1|sql|html|htm|css|scss|less|xml|json|jsonl|ndjson|yaml|yml|toml|ini"
    "|cfg|conf|env|lock|mod|sum"
    "|md|mdx|rst|txt|log|csv|tsv|parquet|pdf|docx|xlsx|pptx|png|jpe?g|gif|svg|webp|mp[34]|wav"
    "|zip|tar|gz|tgz|whl|deb"
    "|proto|graphql|tf|ex|exs|erl|hs|ml|dart|r|jl|nix|patch|diff|service|pem|crt|key|db|sqlite"
)
_WORD = "A-Za-z0-9_À-ɏ"
_EDGE = rf"(?<![{_WORD}])"
_SEGMENT = rf"[{_WORD}.@+~%-]{{1,128}}"

# One alternative a kind; each starts at the edge of a word and repeats bounded, disjoint
# classes, so that a scan is linear in the text.
_TOKEN = re.compile(
    r"(?P<url>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'`<>\\^{}|，。、；」』）“”]{1,2000})"
    rf"|(?P<mail>{_EDGE}[A-Za-z0-9][A-Za-z0-9_.+-]{{0,63}}@[A-Za-z0-9-]{{1,63}}(?:\.[A-Za-z0-9-]{{1,63}}){{1,5}})"
    rf"|(?P<uuid>{_EDGE}[0-9a-fA-F]{{8}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{12}}(?![0-9A-Za-z]))"
    r"|(?P<ip6>\[[0-9a-fA-F:]{2,39}:[0-9a-fA-F:.]{0,39}\](?::\d{1,5})?)"
    rf"|(?P<ip4>{_EDGE}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{1,5}})?(?:/\d{{1,2}})?(?![\d.]*[A-Za-z_]))"
    rf"|(?P<date>{_EDGE}\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,9}})?)?(?:Z"
    rf"|[+-]\d\d:?\d\d)?)?(?![\w-]))"
    rf"|(?P<time>{_EDGE}\d{{1,2}}:\d\d(?::\d\d)?(?![\w:.]))"
    rf"|(?P<pair>{_EDGE}-{{0,2}}[A-Za-z_][A-Za-z0-9_.-]{{1,60}}=(?![=>])[^\s\"'`,;&"
    rf"|<>(){{}}\[\]“”‘’。，、；「」]{{1,200}})"
    rf"|(?P<drive>{_EDGE}[A-Za-z]:\\[{_WORD}.\\ @+~-]{{1,250}})"
    rf"|(?P<rooted>(?<![{_WORD}/.:<])(?:~|\.{{1,2}})?/{_SEGMENT}(?:/{_SEGMENT}){{0,40}}/?)"
    rf"|(?P<relative>{_EDGE}[A-Za-z0-9_À-ɏ.@][{_WORD}.@+~-]{{0,127}}(?:/{_SEGMENT}){{1,40}}/?)"
    rf"|(?P<file>{_EDGE}\.?[A-Za-z0-9_À-ɏ][{_WORD}-]{{0,100}}(?:\.[{_WORD}-]{{1,40}}){{0,4}}\.(?:{_EXTENSIONS})(?![{_WORD}-]))"
    rf"|(?P<digest>{_EDGE}(?:sha\d{{1,3}}|md5)[:-][A-Za-z0-9+/=]{{8,128}})"
    rf"|(?P<ticket>{_EDGE}[A-Z][A-Z0-9]{{1,15}}(?:-\d{{1,9}}){{1,3}}(?![{_WORD}-]))"
    rf"|(?P<sharp>(?<![{_WORD}&/])#[A-Za-z]{{0,4}}\d{{1,12}}(?![{_WORD}]))"
    rf"|(?P<variable>{_EDGE}[A-Z][A-Z0-9]{{1,30}}_[A-Z0-9_]{{1,60}}(?![{_WORD}]))"
    rf"|(?P<version>{_EDGE}v?\d{{1,5}}(?:\.\d{{1,6}}){{2,3}}(?:-[A-Za-z0-9.]{{1,30}})?(?![{_WORD}]))"
    rf"|(?P<opaque>{_EDGE}[A-Za-z0-9](?:[A-Za-z0-9_]|[.-](?=[A-Za-z0-9])){{4,199}}(?![{_WORD}]))"
)
_KIND_OF = {
    "url": "url", "mail": "address", "uuid": "id", "ip6": "address", "ip4": "address",
    "date": "date", "time": "date", "pair": "pair", "drive": "path", "rooted": "path",
    "relative": "path", "file": "path", "digest": "id", "ticket": "id", "sharp": "id",
    "variable": "name", "version": "number", "opaque": "id",
}  # fmt: skip

_UNITS = (
    "%|‰|°C|°F|°|ns|µs|us|ms|secs?|seconds?|min|mins|minutes?|hrs?|hours?|h|days?|weeks?"
    "|months?|years?|s"
    "|[KMGT]i?B|[kmgt]b|[KMG]bit/s|bytes?|kB|B|bits?|rpm|Hz|[kMG]Hz|W|kW|kWh|MW|V|mA|A|mAh|bar"
    "|Pa|kPa|hPa|psi"
    "|mm|cm|km|m|µm|nm|inch(?:es)?|ft|km/h|mph|m/s|mg|kg|g|t|tons?|lbs?|oz|ml|l|L|px|pt|em|rem"
    "|dpi|fps|qps|rps"
    "|tokens?|requests?|req/s|rows?|lines?|USD|EUR|GBP|JPY|CNY|RMB|CHF|dollars?|euros?|cents?"
    "|元|块|円|個|个|件|人|分|秒|分钟|小时|天|時間|日|月|年|号|号楼|歳|岁|公里|公斤|米|台|本|枚|回|次"
)
_NUMBER = re.compile(
    rf"(?<![\w.,/-])(?:[$€£¥₹]\s?\d(?:[\d,.]{{0,30}}\d)?(?:[kKmMbB]\b)?"
    rf"|[+-]?\d(?:[\d,.]{{0,30}}\d)?(?:\s?(?:{_UNITS})(?![A-Za-z0-9_])|\s?[€£¥₽₹]"
    rf"|(?<=\d{{5}})(?![\w.,/-])))"
)
_QUOTED = re.compile(
    r"`([^`\n]{2,80})`|\"([^\"\n]{2,60})\"|“([^”\n]{2,60})”|「([^」\n]{1,40})」|『([^』\n]{1,40})』"
    r"|«\s?([^»\n]{2,60}?)\s?»|„([^“”\n]{2,60})[“”]|《([^》\n]{1,40})》"
)
# A path whose folder has one space in its name: only prose is searched for it.
_SPACED = re.compile(
    rf"(?<![{_WORD}/.:])(?:/{_SEGMENT}){{1,12}}"
    rf" {_SEGMENT}(?:/{_SEGMENT}){{1,12}}\.(?:{_EXTENSIONS})(?![{_WORD}])"
)

_STRIP = "()[]{}<>\"'`,;:!?“”‘’„«»*…。，、；：！？「」『』（）【】《》|"
_CHUNK = 8192
_LONG_TOKEN = 65536
_WORD_CHARS = 160

# Words that look like a relative path or an identifier and are neither.
_NOT_PATHS = re.compile(
    r"(?:and/or|n/a|w/o?|i/o|tcp/ip|ci/cd|24/7|he/she|s/he|yes/no|true/false|on/off)\Z", re.I
)
_SYSTEM_PATHS = re.compile(
    r"/(?:usr/)?(?:local/)?s?bin(?:/[\w.+-]+)?\Z|/dev/(?:null|stdout|stderr|stdin|tty|zero|fd/\d)\Z"
)
_DIGIT = re.compile(r"\d")
# Words and the marks between them. Every value has something else in it, or a dot before a letter.
_PLAIN = re.compile(r"[A-Za-z\s,!?;:'()-]*(?:\.(?![A-Za-z])[A-Za-z\s,!?;:'()-]*)*\Z")
_LETTER = re.compile(r"[A-Za-z]")
_MEASURE = re.compile(r"\d[\d_.,]*(?:[A-Za-z]{1,5}\Z|-[A-Za-z])|\d+-\d+\Z|[A-Za-z]{1,2}\d\Z")
_TYPE_NAME = re.compile(
    r"(?:u?int|float|i|u|f|utf-?|sha-?|base|md|ipv|http|es|x86_|amd|arm|aarch|oauth|win|python"
    r"|vec|mat|latin-?)\d{1,4}\Z",
    re.I,
)
_NUMBERED = re.compile(r"[-_.][A-Za-z]{0,8}\d[A-Za-z]{0,3}\Z")
_HEX = re.compile(r"[0-9a-f]+\Z|[0-9A-F]+\Z")


# ------------------------------------------------------------------------------- extraction


def values(text: str, *, prose: bool = True) -> list[Value]:
    """The exact values in `text`, in order, each once.

    With `prose` (a person's or a model's own words) quoted names and paths with a space count
    too; tool output is full of quotes that mean nothing, so it is searched without.
    """
    if _PLAIN.match(text):
        return []
    return list(_scan(text, prose))


def identifiers(text: str) -> list[str]:
    """Paths, URLs, ids, hashes, numbers with units, quoted names: exact strings, in order."""
    return [value.text for value in _scan(text, prose=True)]


def _scan(text: str, prose: bool) -> Iterator[Value]:
    seen: set[str] = set()
    tokens: set[str] = set()
    for chunk in _chunks(text):
        if _PLAIN.match(chunk):
            continue
        found: list[Value] = []
        for token in chunk.split():
            if token in tokens or token.isalpha():
                continue
            tokens.add(token)
            found += (
                _of_word(token, prose) if len(token) <= _WORD_CHARS else _of_token(token, prose)
            )
        if prose:
            found += _of_prose(chunk)
            if _DIGIT.search(chunk):
                found += (Value(match[0].strip(), "number") for match in _NUMBER.finditer(chunk))
        fresh: dict[str, Value] = {}
        for value in found:
            if value.text not in seen:
                fresh.setdefault(value.text, value)
        if len(fresh) > 1:
            whole = _without_parts(fresh, chunk) if prose else list(fresh.values())
            yield from sorted(whole, key=lambda value: chunk.find(value.text))
        else:
            yield from fresh.values()
        seen.update(fresh)


def _without_parts(fresh: dict[str, Value], chunk: str) -> list[Value]:
    """`fresh` without values that occur only inside a longer one (an id inside its URL)."""
    longer = sorted(fresh, key=len, reverse=True)
    joined = "\n".join(longer)
    kept: list[Value] = []
    for text, value in fresh.items():
        inside = joined.count(text) - 1
        if inside and chunk.count(text) <= sum(
            chunk.count(other) * other.count(text)
            for other in longer
            if len(other) > len(text) and text in other
        ):
            continue
        kept.append(value)
    return kept


def _chunks(text: str) -> Iterator[str]:
    if len(text) <= _CHUNK:
        yield text
        return
    start = 0
    while start < len(text):
        end = start + _CHUNK
        if end < len(text):
            cut = text.rfind("\n", start, end)
            if cut <= start:
                cut = text.rfind(" ", start, end)
            end = cut + 1 if cut > start else _token_end(text, end)
        yield text[start:end]
        start = end


def _token_end(text: str, at: int) -> int:
    """Where the run without white space around `at` ends, within reason."""
    for end in range(at, min(at + _LONG_TOKEN, len(text))):
        if text[end].isspace():
            return end
    return min(at + _LONG_TOKEN, len(text))


@lru_cache(maxsize=1 << 16)
def _of_word(token: str, prose: bool) -> tuple[Value, ...]:
    """The values in a short token; the same ones come again in message after message."""
    return tuple(_of_token(token, prose))


def _of_token(token: str, prose: bool) -> Iterator[Value]:
    stripped = token.strip(_STRIP)
    bracketed = token.startswith("[") and ":" in token
    if (not stripped or stripped.isalpha()) and not bracketed:
        return
    if stripped.isascii() and stripped.replace("-", "").replace("'", "").isalpha():
        return
    for match in _TOKEN.finditer(token):
        form = match.lastgroup or ""
        value = _trim(match[0], form)
        if form == "time" and not prose:
            continue
        if value and _telling(value, form):
            yield Value(value, _KIND_OF[form])


def _trim(value: str, form: str) -> str:
    if form == "url":
        value = value.rstrip(".,;:!?*'_")
        for opening, closing in ("()", "[]"):
            while value.endswith(closing) and value.count(closing) > value.count(opening):
                value = value[:-1].rstrip(".,;:!?*")
        return value
    if form in {"rooted", "relative", "drive", "pair"}:
        return value.rstrip(".,:;!?- *")
    return value


def _telling(value: str, form: str) -> bool:
    """Whether `value`, of that form, is worth copying exactly."""
    match form:
        case "opaque":
            return _is_id(value)
        case "rooted":
            many = value.count("/") > 1 or "." in value.strip("./~")
            return many and not _SYSTEM_PATHS.match(value)
        case "relative":
            if _NOT_PATHS.match(value):
                return False
            last = value.rstrip("/").rsplit("/", 1)[-1]
            many = value.count("/") > 1
            return ("." in last.strip(".") or many or value.endswith("/")) and bool(
                _LETTER.search(value)
            )
        case "pair":
            return not value.endswith("=")
        case "file":
            return value.lower() not in {"node.js", "next.js", "vue.js", "e.g", "i.e"}
        case "ticket":
            return not value.startswith(("UTF-", "ISO-", "SHA-", "AES-", "GPT-", "COVID-", "RFC-"))
        case "ip4":
            return True
        case _:
            return True


def _is_id(value: str) -> bool:
    """Whether an opaque word is an identifier: digits and letters mixed, or a long number."""
    if not _DIGIT.search(value):
        return False
    if value.isdigit():
        return len(value) >= 5
    if not _LETTER.search(value):
        return len(value) >= 7
    if _HEX.match(value):
        return len(value) >= 7
    if _MEASURE.match(value) or _TYPE_NAME.match(value):
        return False
    if sum(char.isdigit() for char in value) >= 2:
        return True
    # One digit in a word of code is common; one in its last part numbers a thing: "gpt-4o".
    return bool(_NUMBERED.search(value))


def _of_prose(chunk: str) -> Iterator[Value]:
    for match in _QUOTED.finditer(chunk):
        name = next(group for group in match.groups() if group is not None)
        if name.strip() == name and any(char.isalnum() for char in name):
            yield Value(name, "name")
    if "/" in chunk:
        for match in _SPACED.finditer(chunk):
            yield Value(match[0], "path")
