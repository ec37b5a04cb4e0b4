"""Constraints in text: sentences that forbid or demand something, exact, in six languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STRONG = (
    r"\b(?:never|must(?:n['’]t)?|do not|don['’]t|cannot|shall not|may not|should not"
    r"|shouldn['’]t|forbidden|not allowed"
    r"|prohibited|under no circumstances|no longer than|at most|no more than|required to|only"
    r" (?:use|if|when|after|touch|change|edit|ever))\b"
    r"|\b(?:niemals|auf keinen Fall|keinesfalls|darf(?:st)? (?:\w+ ){0,3}(?:nicht|kein\w*)"
    r"|dürfen (?:\w+ ){0,3}(?:nicht|kein\w*)|muss|müssen|musst|verboten|bitte (?:\w+"
    r" ){0,4}(?:nicht|kein\w*|nur))\b"
    r"|\b(?:ne (?:\w+ ){1,3}(?:pas|jamais|plus|rien)|n['’]\w+ (?:pas|jamais|plus|rien)|jamais"
    r"|doit|doivent|devez|il faut|interdit\w*|obligatoire\w*)\b"
    r"|\b(?:nunca|jamás|no deb\w+|deb(?:e|es|en|emos)|prohibid\w+|obligatori\w+|hay que|tienes?"
    r" que|no (?:se )?(?:toques?|borres?|cambies?|uses?|modifiques?|hagas|envíes?|puede\w*))\b"
)
_STRONG_SIGNS = (
    r"不要|不能|不可|不得|不准|不许|必须|必需|禁止|切勿|请勿|务必|一定要|只能|严禁|绝不|绝对不|千万别|别(?=[^的人处墅])"
    r"|ないでください|てはいけ|てはなら|しないで|するな|必ず|絶対|禁止|なければな|ねばな|厳禁|こと。"
)
_WEAK = (
    r"\b(?:always|make sure|ensure|avoid|without (?:asking|breaking|changing|touching)|stop"
    r" (?:doing|using|adding)|instead of|prefer|keep it|requirement)\b"
    r"|\b(?:immer|nur wenn|stets|nicht|keine?[nmrs]?|nichts)\b|\b(?:toujours|sans|uniquement)\b"
    r"|\b(?:siempre|solo|sólo|sin)\b"
)
_WEAK_SIGNS = r"总是|始终|只(?:用|要|在)|避免|常に|だけ(?:に|を|で)|避け"


class Phrases:
    """Words, and signs outside of ASCII, that are looked for whatever their case.

    `words` is a pattern without escapes in capitals. In ASCII text, which most is, it is looked
    for in small letters: a search that heeds no case takes five times as long.
    """

    def __init__(self, words: str, signs: str) -> None:
        self._any = re.compile(f"{words}|{signs}", re.IGNORECASE)
        self._ascii = re.compile(words.lower())

    def within(self, text: str) -> bool:
        """Whether one of them stands in `text`."""
        if text.isascii():
            return self._ascii.search(text.lower()) is not None
        return self._any.search(text) is not None


_CONSTRAINT = Phrases(_STRONG, _STRONG_SIGNS)
_EITHER = Phrases(f"{_STRONG}|{_WEAK}", f"{_STRONG_SIGNS}|{_WEAK_SIGNS}")
_SENTENCE = re.compile(
    r"[^\n.!?。！？；]+(?:[.!?](?![\s\n]|\Z|[\"”')])[^\n.!?。！？；]*)*[.!?。！？；]*[\"”')」]*"
)
_SENTENCE_CHARS = 400


def sentences(text: str) -> Iterator[str]:
    """The sentences of prose, stripped; a line break always ends one. Longer ones than
    can be quoted are left out."""
    for line in text.split("\n"):
        if len(line) > 50_000 or not line.strip():
            continue
        for match in _SENTENCE.finditer(line):
            sentence = match[0].strip()
            if sentence and len(sentence) <= _SENTENCE_CHARS:
                yield sentence


_IMPERATIVE = re.compile(
    r"(?:please |bitte |and |but |also |then |[-*] |\d{1,2}[.)] )*(?:never|do not|don['’]t|must"
    r"|always|make sure|only|avoid|no\b|stop)\b"
    r"|.{0,80}\b(?:must not|must never|under no circumstances|you must|we must|never)\b"
    r"|.{0,60}(?:不要|不得|禁止|必须|切勿|务必|ないでください|必ず|禁止)",
    re.IGNORECASE,
)


def demands(sentence: str) -> bool:
    """Whether `sentence` is put as an order, not merely said with a word like "must" in it."""
    return bool(_IMPERATIVE.match(sentence))


def constraints(text: str, *, weak: bool = True) -> list[str]:
    """The sentences that forbid or demand something, exact and in order, each once.

    English, Chinese, Japanese, German, French and Spanish. `weak` takes preferences too.
    """
    phrases = _EITHER if weak else _CONSTRAINT
    # No phrase goes over the end of a sentence, so that most texts need not be cut into them.
    if not phrases.within(text):
        return []
    found: dict[str, None] = {}
    for sentence in sentences(text):
        if len(sentence) >= 4 and phrases.within(sentence):
            found.setdefault(sentence)
    return list(found)
