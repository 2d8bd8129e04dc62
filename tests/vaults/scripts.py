"""Notes in many scripts and forms, each as bytes on disk, and what a plain scan of them sees."""

# ruff: noqa: RUF001 - characters that look alike are the point

from __future__ import annotations

import unicodedata

NOTES = {
    "latin.md": "# Café society\n\nNaïve façade, coöperate; Ærø and Œuvre, Straße and STRASSE.\nC++ and 3.1. and rm -rf ./x\n",
    "german.md": "Die Übernetze im Übernetz: größte Weißwurstäquatorüberschreitung.\n\nMaße und Masse.\n",
    "turkish.md": "İstanbul'da ılık bir ışık; IĞDIR ve iğdır, Diyarbakır KIRIK.\n",
    "greek.md": "Ὁ λόγος τῆς Ὀδύσσειας, ΣΊΣΥΦΟΣ και Σίσυφος, ᾳ ῼ.\n",
    "cyrillic.md": "Широкая электрификация южных губерний; Ёлка, ёлка, ЙОД, йод.\n",
    "hebrew.md": "שָׁלוֹם עולם, בְּרֵאשִׁית בָּרָא\n",
    "arabic.md": "السَّلَامُ عَلَيْكُمْ، مكتبة عامة ١٢٣\n",
    "hindi.md": "हिन्दी में क्षत्रिय ज्ञान और कि‍ताब\n",
    "thai.md": "การทดสอบภาษาไทยที่ไม่มีช่องว่าง\n",
    "japanese.md": "東京特許許可局のカタカナとひらがな、ガギグゲゴ。\n",
    "chinese.md": "自然语言处理和全文检索。中文没有空格\n",
    "korean.md": "한국어의 조사는 낱말에 붙는다. 각각\n",
    "emoji.md": "party 🎉🎊 family 👨‍👩‍👧‍👦 flag 🇩🇪 thumbs 👍🏽 done ✅\n",
    "symbols.md": 'a->b <=> c != d && e || f; $x = "y\'s"; 50 % of 100 € @me ^x^ ~~gone~~ `tick` \\back\\ |pipe| _under_ __dunder__\n',
    "code.md": "```python\ndef camelCaseName(snake_case_name: int = 0x1F) -> None:\n    return re.sub(r\"\\s+\", ' ', s)\n```\n",
    "nfd.md": unicodedata.normalize("NFD", "Décomposé: Ångström, Việt Nam, 각 ガ, é̂ ộ\n"),
    "fullwidth.md": "Ｆｕｌｌｗｉｄｔｈ ＡＢＣ１２３ ｶﾞｷﾞ ﾊﾝｶｸ\n",
    "ligatures.md": "ﬁne oﬀer ﬂow ĳsberg Ǆ ǅ ǆ ½ ² ™ № Ω K Å ſharp ŉ\n",
    "frontmatter.md": '---\ntags: [größe/klein, "#c++"]\naliases:\n  - "Die: Sache"\ndate: 2026-02-28\n---\nbody\n',
    "crlf.md": b"first line\r\nsecond line\rthird line\r\n",
    "nul.md": b"before\x00after and \x00\x00 more\n",
    "bom.md": b"\xef\xbb\xbfwith a mark\n",
    "cp1252.md": b"caf\xe9 \x80 5 \x93quoted\x94\n",
    "spaces.md": "tabs\there, no\u00a0break, thin\u2009space, zero\u200bwidth, soft\u00adhyphen, line\u2028break, x\x0by\x1cz\x85w\n",
    "empty.md": "",
    "blank.md": " \n\t\n",
    "long.md": "start " + "lorem ipsum dolor " * 11_200 + "needle-at-the-end ÄÖÜ",
    "longword.md": "a " + "x1" * 150 + " b " + "wordwithoutend" * 20 + " c\n",
}


def as_bytes():
    """{path: bytes}."""
    return {path: text if isinstance(text, bytes) else text.encode() for path, text in NOTES.items()}


def scan_form(text):
    """What a plain scan compares: the NFC form without regard to case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.replace("\0", "")).casefold())
