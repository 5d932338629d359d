"""Scores of oddness as a picture: their spread, the rows flagged, and the columns that made them so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.anomaly import ANOMALY, NO_REASON, ScoreAnswers
from mlcli.core.tables import Array, Flags
from mlcli.core.unlabelled import UNKNOWN
from mlcli.report.document import Block, Cell, Content, Heading, grid, notes
from mlcli.report.numbers import lined_up, short

BINS = 10
BAR = 40
"""How wide the longest bar is."""
LISTED = 10
"""How many of the oddest rows are listed."""
WORTH_NAMING = 0.05
"""The share from which on a column is named."""
TAIL = 0.98
"""The share of scores that the even bins cover; the rest is one bin."""


def scores_of(title: str, answers: ScoreAnswers) -> Iterator[Block]:
    """A histogram, and the oddest rows."""
    yield Heading(title)
    yield _histogram(answers)
    yield notes(_flagging(answers))
    yield _oddest(answers)
    if (answers.reasons != NO_REASON).any():
        yield notes("↑ the cell is higher than usual, ↓ lower; shares are of what all columns add to the score")


def _histogram(answers: ScoreAnswers) -> Block:
    """Rows by score: one column of counts for each label, and a bar."""
    edges = _edges(answers.score)
    place = np.clip(np.searchsorted(edges, answers.score, side="right") - 1, 0, len(edges) - 2)
    columns = [np.bincount(place[which], minlength=len(edges) - 1) for which in _by_label(answers).values()]
    total = np.sum(columns, axis=0)
    bars = ["#" * int(np.ceil(BAR * count / total.max())) for count in total]
    rows: list[list[Content]] = [
        [start, *(str(column[row]) if column[row] else "" for column in columns), bars[row]]
        for row, start in enumerate(lined_up(edges[:-1].tolist()))
    ]
    header = ["score from", *_by_label(answers), ""]
    return grid(header, rows, right=range(len(header) - 1))


def _edges(score: Array) -> Array:
    """Bins of even width over most scores; where a few lie far out, the last bin is wider."""
    low, most, high = score.min(), np.quantile(score, TAIL), score.max()
    if low == high:
        return np.array([low, low + 1.0])
    even = np.linspace(low, most if most > low else high, BINS)
    step = even[1] - even[0]
    return np.append(even, high) if high > most + step else np.linspace(low, high, BINS + 1)


def _by_label(answers: ScoreAnswers) -> dict[str, Flags]:
    """The rows of each label, those of unknown label last; all rows where there are no labels."""
    if not answers.classes:
        return {"rows": np.ones(len(answers), dtype=bool)}
    labels = {name: answers.truth == code for code, name in enumerate(answers.classes)}
    unknown = answers.truth == UNKNOWN
    return {**labels, "not known": unknown} if unknown.any() else labels


def _flagging(answers: ScoreAnswers) -> str:
    """How many rows are flagged, and how that was decided."""
    if answers.threshold is None:
        return "no threshold was chosen, so no row is flagged"
    limits = np.unique(answers.threshold)
    limit = short(limits[0]) if len(limits) == 1 else f"{short(limits[0])} to {short(limits[-1])} by split"
    hits = int((answers.flagged & (answers.truth == ANOMALY)).sum())
    return (
        f"threshold {limit}, the one with the highest F1 on validation rows: it flags {answers.flagged.sum()} of "
        f"{len(answers)} judged rows, {hits} of them {answers.classes[ANOMALY]}"
    )


def _oddest(answers: ScoreAnswers) -> Block:
    """The rows that score highest, with the columns that made them so."""
    ranked = np.argsort(-answers.score, kind="stable")
    first = np.unique(answers.rows[ranked], return_index=True)[1]  # repeats may judge a row more than once
    order = ranked[np.sort(first)][:LISTED]
    labelled, threshold = bool(answers.classes), answers.threshold is not None
    names = (*answers.classes, "not known")
    rows: list[list[Content]] = [
        [
            Cell(str(answers.rows[row] + 1), "strong"),
            score,
            *(["yes" if answers.flagged[row] else "no"] if threshold else []),
            *([names[answers.truth[row]]] if labelled else []),
            _because(answers, row),
        ]
        for row, score in zip(order.tolist(), lined_up(answers.score[order].tolist()), strict=True)
    ]
    header = ["oddest rows", "score", *["flagged"] * threshold, *["label"] * labelled, "made so by"]
    return grid(header, rows, right=(0, 1))


def _because(answers: ScoreAnswers, row: int) -> str:
    """The columns that add most to the score of a row, with the direction and the share of each."""
    said = zip(answers.reasons[row].tolist(), answers.shares[row].tolist(), strict=True)
    return ", ".join(
        f"{answers.columns[column]} {'↑' if share > 0 else '↓'} {abs(share):.0%}".replace("%", " %")
        for column, share in said
        if column != NO_REASON and abs(share) >= WORTH_NAMING
    )
