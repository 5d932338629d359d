"""Small tagged sequences, told outright or drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.tasks.sequence_labelling import TaggedRows
from mlcli.tasks.sequence_windows import numbered_by_appearance

Sentence = Sequence[tuple[str, str]]


def tagged(
    sentences: Sequence[Sentence], words: Sequence[str] | None = None, tags: Sequence[str] | None = None
) -> TaggedRows:
    """Sentences of (word, tag); words that are not among ``words`` are unknown."""
    words = tuple(words or sorted({word for sentence in sentences for word, _ in sentence}))
    tags = tuple(tags or sorted({tag for sentence in sentences for _, tag in sentence}))
    rows = [(number, word, tag) for number, sentence in enumerate(sentences) for word, tag in sentence]
    codes = [words.index(word) if word in words else -1 for _, word, _ in rows]
    sequence = numbered_by_appearance([str(number) for number, _, _ in rows])
    return TaggedRows(
        table=Table.of([(Column("word", "nominal", words, missing=True), np.array(codes, np.int32))], len(rows)),
        rows=np.arange(len(rows)),
        target="tag",
        y=np.array([tags.index(tag) for _, _, tag in rows], np.int32),
        classes=tags,
        sequence=sequence,
        groups=sequence,
    )


def drawn(sentences: int = 60, tags: int = 3, words: int = 5, seed: int = 1, longest: int = 5) -> TaggedRows:
    """Sentences whose tags lean on the tag before and whose words lean on the tag."""
    rng = np.random.default_rng(seed)
    follows, emits = rng.dirichlet(np.full(tags, 0.4), tags), rng.dirichlet(np.full(words, 0.4), tags)
    made = []
    for _ in range(sentences):
        tag, sentence = int(rng.integers(tags)), []
        for _ in range(int(rng.integers(1, longest + 1))):
            sentence.append((f"w{rng.choice(words, p=emits[tag])}", f"t{tag}"))
            tag = int(rng.choice(tags, p=follows[tag]))
        made.append(sentence)
    return tagged(made, [f"w{word}" for word in range(words)], [f"t{tag}" for tag in range(tags)])
