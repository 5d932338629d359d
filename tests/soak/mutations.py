"""How a file is spoilt: bytes flipped, cut out, doubled and put in, among them what has hurt readers before."""

from __future__ import annotations

from random import Random

WORDS = r"""
" "" ' \ , ; ^ : | # &a *a <<: ? - { } [ ] %YAML --- ... !!python/name:os.system null ~ true yes NaN inf -0 -1 0 NA
1e999 1e-400 9007199254740993 100000000 1,234.5 1.234,5 007 0x1F 1_000 2024-01-01 12:30:45 é 😀
"""
BYTES = (
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\r",
    b"\r\n",
    b"\n",
    b"\t",
    b" ",
    b"\xed\xa0\x80",
    b"\xe9",
)
LETTERS = ("\u2028", "\u2009", "\u202e", "x" * 5000, "[" * 200)
NASTY = [*BYTES, *(word.encode() for word in (*WORDS.split(), *LETTERS))]
MOST_CHANGES = 6


def spoilt(content: bytes, rng: Random) -> bytes:
    """The same bytes after a few changes."""
    for _ in range(rng.randint(1, MOST_CHANGES)):
        content = rng.choice(CHANGES)(content, rng)
    return content


def _flipped(content: bytes, rng: Random) -> bytes:
    """One bit is another."""
    if not content:
        return content
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def _inserted(content: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(content))
    return content[:place] + rng.choice(NASTY) + content[place:]


def _replaced(content: bytes, rng: Random) -> bytes:
    start, stop = _part(content, rng)
    return content[:start] + rng.choice(NASTY) + content[stop:]


def _cut_out(content: bytes, rng: Random) -> bytes:
    start, stop = _part(content, rng)
    return content[:start] + content[stop:]


def _doubled(content: bytes, rng: Random) -> bytes:
    start, stop = _part(content, rng)
    return content[:stop] + content[start:]


def _line_moved(content: bytes, rng: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if lines:
        line = lines.pop(rng.randrange(len(lines)))
        lines.insert(rng.randint(0, len(lines)), line)
    return b"".join(lines)


def _part(content: bytes, rng: Random) -> tuple[int, int]:
    """A part of it, mostly a short one."""
    start = rng.randint(0, len(content))
    return start, min(len(content), start + int(rng.expovariate(1 / 12)))


CHANGES = (_flipped, _inserted, _inserted, _replaced, _replaced, _cut_out, _doubled, _line_moved)
