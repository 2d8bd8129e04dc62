"""Folding and tokens: the one form in which notes and queries are compared by words.

Text and query go through the same functions, so a word as typed meets the word as written whatever its case, accents,
width or Unicode form.  Scripts without spaces become overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

# Nonspacing and spacing marks (Mn, Mc) of Unicode 14: part of the word for Unicode, but not for Python's \w.
# A literal, so that the index does not depend on the Unicode version of the Python that runs.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd"
    "\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b\u0898-\u089f\u08ca-\u08e1\u08e3-\u0903"
    "\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962-\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u09e2-\u09e3"
    "\u09fe-\u0a03\u0a3c-\u0a51\u0a70-\u0a71\u0a75\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0ae2-\u0ae3\u0afa-\u0b03\u0b3c"
    "\u0b3e-\u0b57\u0b62-\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56\u0c62-\u0c63\u0c81-\u0c83"
    "\u0cbc\u0cbe-\u0cd6\u0ce2-\u0ce3\u0d00-\u0d03\u0d3b-\u0d3c\u0d3e-\u0d4d\u0d57\u0d62-\u0d63\u0d81-\u0d83"
    "\u0dca-\u0ddf\u0df2-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f18-\u0f19\u0f35"
    "\u0f37\u0f39\u0f3e-\u0f3f\u0f71-\u0f84\u0f86-\u0f87\u0f8d-\u0fbc\u0fc6\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u135d-\u135f\u1712-\u1715\u1732-\u1734"
    "\u1752-\u1753\u1772-\u1773\u17b4-\u17d3\u17dd\u180b-\u180d\u180f\u1885-\u1886\u18a9\u1920-\u193b\u1a17-\u1a1b"
    "\u1a55-\u1a7f\u1ab0-\u1abd\u1abf-\u1b04\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad\u1be6-\u1bf3"
    "\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4\u1cf7-\u1cf9\u1dc0-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0"
    "\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099-\u309a\ua66f\ua674-\ua67d\ua69e-\ua69f\ua6f0-\ua6f1\ua802"
    "\ua806\ua80b\ua823-\ua827\ua82c\ua880-\ua881\ua8b4-\ua8c5\ua8e0-\ua8f1\ua8ff\ua926-\ua92d\ua947-\ua953"
    "\ua980-\ua983\ua9b3-\ua9c0\ua9e5\uaa29-\uaa36\uaa43\uaa4c-\uaa4d\uaa7b-\uaa7d\uaab0\uaab2-\uaab4\uaab7-\uaab8"
    "\uaabe-\uaabf\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f"
)
_HIGH_MARKS: Final = (
    "\U000101fd\U000102e0\U00010376-\U0001037a\U00010a01-\U00010a0f\U00010a38-\U00010a3f\U00010ae5-\U00010ae6"
    "\U00010d24-\U00010d27\U00010eab-\U00010eac\U00010f46-\U00010f50\U00010f82-\U00010f85\U00011000-\U00011002"
    "\U00011038-\U00011046\U00011070\U00011073-\U00011074\U0001107f-\U00011082\U000110b0-\U000110ba\U000110c2"
    "\U00011100-\U00011102\U00011127-\U00011134\U00011145-\U00011146\U00011173\U00011180-\U00011182"
    "\U000111b3-\U000111c0\U000111c9-\U000111cc\U000111ce-\U000111cf\U0001122c-\U00011237\U0001123e"
    "\U000112df-\U000112ea\U00011300-\U00011303\U0001133b-\U0001133c\U0001133e-\U0001134d\U00011357"
    "\U00011362-\U00011374\U00011435-\U00011446\U0001145e\U000114b0-\U000114c3\U000115af-\U000115c0"
    "\U000115dc-\U000115dd\U00011630-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a"
    "\U00011930-\U0001193e\U00011940\U00011942-\U00011943\U000119d1-\U000119e0\U000119e4\U00011a01-\U00011a0a"
    "\U00011a33-\U00011a39\U00011a3b-\U00011a3e\U00011a47\U00011a51-\U00011a5b\U00011a8a-\U00011a99"
    "\U00011c2f-\U00011c3f\U00011c92-\U00011cb6\U00011d31-\U00011d45\U00011d47\U00011d8a-\U00011d97"
    "\U00011ef3-\U00011ef6\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016f4f\U00016f51-\U00016f92"
    "\U00016fe4-\U00016ff1\U0001bc9d-\U0001bc9e\U0001cf00-\U0001cf46\U0001d165-\U0001d169\U0001d16d-\U0001d172"
    "\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244\U0001da00-\U0001da36"
    "\U0001da3b-\U0001da6c\U0001da75\U0001da84\U0001da9b-\U0001daaf\U0001e000-\U0001e02a\U0001e130-\U0001e136"
    "\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e8d0-\U0001e8d6\U0001e944-\U0001e94a\U000e0100-\U000e01ef"
)
# Soft hyphen and joiners stand inside words without being seen; folding drops them together with variation selectors.
_UNSEEN: Final = "\u00ad\u034f\u180b-\u180f\u200c\u200d\u2060\ufe00-\ufe0f"
# These follow a letter that composition joins them to: Hangul vowels and finals, halfwidth voicing marks and jamo.
_JOINED: Final = "\u1160-\u11ff\u314f-\u3163\uff9e\uff9f\uffc2-\uffdc"
# Written without spaces: Thai, Lao, Myanmar, Khmer, Han, kana, bopomofo; and Hangul, where particles stick to words.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3021-\u3029\u3031-\u303c"
    "\u3040-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00016fe0-\U00018d8f\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"
)
# Letters as case folding leaves them.
_LATIN_GREEK: Final = "a-z\u00df-\u02af\u0370-\u03ff\u1d00-\u1dbf\u1e00-\u1fff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f"

# Matching tries the many ranges above the first plane one by one; one range before them keeps that off other texts.
_HIGH: Final = "\U00010000-\U0010ffff"
WORD: Final = re.compile(rf"\w+(?:(?:[{_MARKS}{_UNSEEN}]|(?=[{_HIGH}])[{_HIGH_MARKS}])+\w*)*")
_CLUSTER: Final = re.compile(rf".(?:[{_MARKS}{_UNSEEN}{_JOINED}]|(?=[{_HIGH}])[{_HIGH_MARKS}])*", re.DOTALL)
_PLAIN_OR_CLUSTER: Final = re.compile(
    rf"[\x00-\x7f]+(?![{_MARKS}{_UNSEEN}{_JOINED}{_HIGH}])|{_CLUSTER.pattern}", re.DOTALL
)
MAY_CONTINUE: Final = re.compile(rf"[{_MARKS}{_UNSEEN}{_JOINED}{_HIGH}]")
_UNSEEN_RUN: Final = re.compile(rf"[{_UNSEEN}\U000e0100-\U000e01ef]+")
_ACCENTED: Final = re.compile(rf"([{_LATIN_GREEK}])[{_MARKS}]+")

# Over shapes, see `_Shapes`: a run of an unspaced script, or a word without the underscores around it; parts of a name.
_SEGMENT: Final = re.compile(r"c+|[aA0](?:_*[aA0])*")
_PART: Final = re.compile(r"A+(?!a)|A?a+|0+")
_NO_NAME: Final = re.compile(r"A?a+|A+|0+")
_SIMPLE: Final = re.compile("[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

_LONGEST: Final = 128  # characters of a word that count; beyond it stands encoded data, not language
_MOST_PARTS: Final = 12  # a name has fewer, a hash more

_Piece = tuple[str, int, int, int, bool, bool]  # the fields of a `Token`


@dataclass(frozen=True, slots=True)
class Token:
    """A term where it stands: ``text[start:end]`` is what it was made of.

    `position` counts words from 0; the parts of a compound name share the position of the whole.  `part` marks what
    only widens the index (parts of names, single characters of unspaced runs) and a query therefore leaves out.
    `stored` is false for what the index finds without a term of its own: a character that begins a pair.
    """

    term: str
    position: int
    start: int
    end: int
    part: bool
    stored: bool = True


def fold(text: str) -> str:
    """The loose form: compatibility forms, case, dotless i and the marks of Latin and Greek letters make no difference.

    Marks of other scripts stay, for there they make another letter (kana voicing, Devanagari vowels, Cyrillic short i).
    Idempotent, and the same for every canonically equivalent form.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", _UNSEEN_RUN.sub("", text)).casefold()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text).replace("\u0131", "i")
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", text))


def exact(text: str) -> str:
    """The strict form, for quoted pieces: case and Unicode form make no difference, NUL is dropped, all else counts.

    Idempotent, and the same for every canonically equivalent form.
    """
    text = text.replace("\0", "")
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def exact_places(text: str) -> tuple[str, Sequence[int]]:
    """`exact` of *text*, which holds no NUL, and where in *text* each of its characters begins, and the end of the last one.

    Composed is what belongs to one character, so the form can only differ from `exact` where *text* begins within one.
    """
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    pieces: list[str] = []
    places: list[int] = []
    for match in _PLAIN_OR_CLUSTER.finditer(text):
        piece = exact(match[0])
        start, end = match.span()
        pieces.append(piece)
        places += range(start, end) if len(piece) == end - start else [start] * len(piece)
    return "".join(pieces), [*places, len(text)]


def query_terms(text: str) -> list[tuple[str, int]]:
    """The (term, position) that a text asks for: its tokens without the parts.

    An unspaced run asks for its pairs, or for its one character.  A text that holds these words in this order has the
    same terms at the same distances.
    """
    return [(token.term, token.position) for token in tokens(text) if not token.part]


def tokens(text: str) -> list[Token]:
    """The terms of a text in order, each with its place: what marks matches in what is shown."""
    found: list[Token] = []
    position = 0
    for match in WORD.finditer(text):
        pieces, width = analyse(match.group())
        base = match.start()
        found += [
            Token(term, position + shift, base + a, base + b, part, stored)
            for term, shift, a, b, part, stored in pieces
        ]
        position += width
    return found


def occurrences(text: str, terms: Container[str], any_term: re.Pattern[str]) -> list[tuple[str, int, int]]:
    """Which of *terms* stand where in a text: (term, start, end), in order.

    *any_term* finds any of them in folded text; it spares taking apart the words that hold none.
    """
    found = []
    for match in WORD.finditer(text):
        if any_term.search(fold(match[0])):
            base = match.start()
            found += [(term, base + a, base + b) for term, _, a, b, _, _ in analyse(match[0])[0] if term in terms]
    return found


@lru_cache(maxsize=1)
def in_word() -> re.Pattern[str]:
    """Runs of what stands inside of words, and of marks that stand alone; compiled when first needed, which takes 15 ms."""
    return re.compile(rf"(?:[\w{_MARKS}{_UNSEEN}]|(?=[{_HIGH}])[{_HIGH_MARKS}])+")


@lru_cache(maxsize=1 << 12)
def in_spaced_word(char: str) -> bool:
    """True for what continues a word of a script that puts blanks between words, and for marks; not for ``_``."""
    return char != "_" and in_word().match(char) is not None and SHAPES[char] != "c"


def continues(char: str) -> bool:
    """True for what belongs to the character before it: a mark, a joiner, a variation selector, a skin tone."""
    if char.isascii() or char.isalnum():
        return False
    return "\U0001f3fb" <= char <= "\U0001f3ff" or in_word().match(char) is not None


@lru_cache(maxsize=1)
def _unspaced_char() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]")


def analyse(word: str) -> tuple[list[_Piece], int]:
    """The pieces of a run of word characters, places and positions relative to it, and how many positions it takes."""
    if len(word) <= _LONGEST and _SIMPLE.fullmatch(word):
        return [(word.lower(), 0, 0, len(word), False, True)], 1  # most words, in less time
    if word.isascii():
        # One segment, of which no more counts: encoded data may be as long as a note.
        cut = len(word) - len(word.lstrip("_")) + _LONGEST
        word = word[:cut] + word[cut:].lstrip("_")[:1]  # the next letter tells that an underscore before it counts
    bounds = _bounds(word)
    shape = "".join([SHAPES[word[start]] for start in bounds[:-1]])
    pieces: list[_Piece] = []
    width = 0
    for segment in _SEGMENT.finditer(shape):
        first, last = segment.span()
        if shape[first] == "c":
            pieces += _unspaced(word, bounds[first : last + 1], width)
            width += last - first
        else:
            last = min(last, first + _LONGEST)
            whole = _whole(word, bounds[first], bounds[last], width)
            pieces += whole[:1] + _parts(word, shape[first:last], bounds[first : last + 1], width) + whole[1:]
            width += len(whole)
    return pieces, width


def _bounds(word: str) -> list[int]:
    """Where each letter starts, its marks being part of it, and the end of the word."""
    if word.isascii() or not MAY_CONTINUE.search(word):
        return list(range(len(word) + 1))
    return [match.start() for match in _CLUSTER.finditer(word)] + [len(word)]


def _unspaced(word: str, bounds: list[int], position: int) -> list[_Piece]:
    """Overlapping pairs, and every single character as a part; a run of one character is that character."""
    count = len(bounds) - 1
    folded = [_fold_letter(word[start:end]) for start, end in pairwise(bounds)]
    pieces: list[_Piece] = []
    for index, letter in enumerate(folded):
        stored = True
        if index + 1 < count:
            pair = letter + folded[index + 1]
            pieces.append((pair, position + index, bounds[index], bounds[index + 2], False, True))
            stored = not (begins_pairs(letter) and begins(letter, pair))
        pieces.append((letter, position + index, bounds[index], bounds[index + 1], count > 1, stored))
    return pieces


def begins_pairs(term: str) -> bool:
    """True for a single character of an unspaced script: the pairs that it `begins` are its occurrences, too."""
    return not term.isascii() and SHAPES[term[0]] == "c" and len(_bounds(term)) == 2  # noqa: PLR2004 - start and end


def begins(letter: str, pair: str) -> bool:
    """True when *letter* is the first character of the term *pair*, not just a part of it that further marks change."""
    return pair.startswith(letter) and not MAY_CONTINUE.match(pair, len(letter))


_fold_letter: Final = lru_cache(maxsize=1 << 13)(fold)


def _whole(word: str, start: int, end: int, position: int) -> list[_Piece]:
    """The word as one piece; several where folding shows more words, as in a fraction (one character, two numbers)."""
    folded = fold(word[start:end])
    found = [folded] if folded.isalnum() else WORD.findall(folded)
    return [(term, position + index, start, end, False, True) for index, term in enumerate(found)]


def _parts(word: str, shape: str, bounds: list[int], position: int) -> list[_Piece]:
    """The words inside a camelCase or snake_case name, and its letters and digits apart."""
    if _NO_NAME.fullmatch(shape):
        return []
    spans = [match.span() for match in _PART.finditer(shape)]
    if not 1 < len(spans) <= _MOST_PARTS:
        return []
    places = [(bounds[first], bounds[last]) for first, last in spans]
    folded = [(fold(word[start:end]), start, end) for start, end in places]
    return [(term, position, start, end, True, True) for term, start, end in folded if WORD.fullmatch(term)]


class _Shapes(dict[str, str]):
    """What a letter is to the analysis: ``c`` of an unspaced script, ``0`` number, ``A`` capital, ``a`` other."""

    def __missing__(self, char: str) -> str:
        if char == "_":
            shape = "_"
        elif not char.isascii() and _unspaced_char().match(char):
            shape = "c"
        elif char.isnumeric():
            shape = "0"
        else:
            shape = "A" if char.isupper() or char.istitle() else "a"
        self[char] = shape
        return shape


SHAPES: Final = _Shapes()


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Function words, folded: no search is about them, and their share tells the language.
STOP_WORDS: Final = {
    "en": _words(
        "a about after all also am an and any are as at be because been before being but by can could d did do does",
        "doing don down each for from get gets getting got had has have having he her here hers him his how i if in into is it its just ll",
        "m may me might more most must my no nor not now of off on only or other our out over own re s same shall she",
        "should so some such t than that the their them then there these they this those through to too under until",
        "up us ve very was we were what when where which while who whom why will with would you your yours",
    ),
    "de": _words(
        "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem den denn der des",
        "die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es euch fur haben hat",
        "hatte hier ich ihm ihn ihr ihre im in ins ist ja jede jeder kann kein keine man mein mich mir mit nach nicht",
        "noch nur ob oder ohne sehr sein seine sich sie sind so uber um und uns unser vom von vor war waren was weil",
        "wenn wer werden wie wir wird wo wurde zu zum zur",
    ),
    "es": _words(
        "a al algo ante antes asi aunque cada como con cual cuando de del desde donde durante e el ella ellas ellos",
        "en entre era es esa ese eso esta estaba estan este esto estos fue ha han hasta hay la las le les lo los mas",
        "me mi mientras muy ni no nos o otra otro para pero por porque que quien se sea ser si sin sobre son su sus",
        "tambien te tiene todo todos tu un una uno unos y ya yo",
    ),
    "fr": _words(
        "a ai alors apres au aussi autre aux avant avec c ce cela ces cet cette chez comme d dans de des donc dont du",
        "elle elles en entre est et etait ete etre eux fait il ils j je l la le les leur leurs lui m ma mais me meme",
        "mes moi mon n ne nos notre nous on ont ou par pas plus pour qu quand que qui s sa sans se sera ses si son",
        "sont sous sur ta te tes toi ton tous tout tres tu un une vos votre vous y",
    ),
}

_SHORT: Final = 8  # terms; fewer need not contain a function word
_PROSE: Final = 0.1  # share of function words that running text exceeds


@lru_cache(maxsize=1)
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages in which a word is a function word."""
    words = frozenset().union(*STOP_WORDS.values())
    return {word: tuple(language for language, stops in STOP_WORDS.items() if word in stops) for word in words}


def is_english(words: Iterable[str], *, others: int = 0) -> bool:
    """Whether folded terms read as English: its function words are there, and more of them than of any other language.

    Fewer than eight terms that tell nothing pass when all are ASCII, so that a query of two nouns does.  *others* are terms that
    are not among *words*, of scripts that no language here uses.
    """
    found = list(words)
    counts = Counter(chain.from_iterable(filter(None, map(_languages().get, found))))
    english = counts.pop("en", 0)
    next_best = max(counts.values(), default=0)
    total = len(found) + others
    if total < _SHORT and english == next_best:
        return not others and all(word.isascii() for word in found)
    return english > next_best and english >= _PROSE * total


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The English stem of a folded word of three or more ASCII letters; any other word unchanged."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):  # noqa: PLR2004 - said above
        return word
    return _stemmer()(word)


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    import Stemmer  # noqa: PLC0415 - most commands never stem

    stemmer = Stemmer.Stemmer("english")
    stemmer.maxCacheSize = 0  # `stem` keeps them
    stem_word: Callable[[str], str] = stemmer.stemWord
    return stem_word
