"""The tags that are most often wrong, with what they are taken for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.findings import Confusions
from mlcli.core.names import counted
from mlcli.metrics.base import Undefined
from mlcli.metrics.confusion import counts_of
from mlcli.metrics.scores.labels import one_against_rest
from mlcli.metrics.scores.sequences import sequence_accuracy
from mlcli.report.document import Content, Element, Heading, Sentence, grid, strong
from mlcli.report.numbers import fixed, share, short
from mlcli.tasks.sequence_labelling import TagAnswers

WORST, TAKEN_FOR = 5, 3


def worst_tags_of(title: str, answers: TagAnswers) -> Iterator[Element]:
    """The tags with the lowest F1, and how many sequences are right from end to end."""
    matrix = Confusions("", answers.classes, tuple(map(tuple, counts_of(answers).tolist())))
    rates = [(one.f1 or 0.0, code) for code, one in enumerate(one_against_rest(answers)) if one.support > 0]
    wrong = [(f1, code) for f1, code in sorted(rates) if f1 < 1.0][:WORST]
    rows: list[list[Content]] = []
    for f1, code in wrong:
        right = f"{short(matrix.counts[code][code])}/{short(sum(matrix.counts[code]))}"
        taken = ", ".join(f"{tag} {short(count)}" for tag, count in matrix.taken_for(code)[:TAKEN_FOR])
        rows.append([strong(answers.classes[code]), fixed(f1, 3), right, taken])
    if rows:
        yield Heading(f"{title}: worst tags")
        yield grid(["tag", "f1", "right", "most often taken for"], rows, right=(1, 2))
    sequences, whole = len(np.unique(answers.sequence)), sequence_accuracy(answers)
    if not isinstance(whole, Undefined):
        right = share(whole, 1.0)
        yield Sentence(f"{title}: {right} of {counted(sequences, 'sequence')} are right from end to end.")
