"""Scores of oddness as a picture: their spread, the rows flagged, and the columns that made them so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.findings import Histogram
from mlcli.core.tables import Array, Flags
from mlcli.report.document import Content, Element, Heading, grid, notes, strong
from mlcli.report.numbers import DIGITS, lined_up
from mlcli.report.views.dataset import histogram_of
from mlcli.scoring.differences import best_in
from mlcli.scoring.kinds import ODDEST, OddRow, odd_rows, oddest_first
from mlcli.scoring.model_results import Group, metrics_in
from mlcli.tasks.anomaly import ANOMALY, NO_REASON, ScoreAnswers
from mlcli.tasks.unsupervised import UNKNOWN

BINS = 10
NAMED = 5
"""How many are named where a detector has one line."""
TAIL = 0.98
"""The share of scores that the even bins cover; the rest is one bin."""


def detectors_of(group: Group) -> Iterator[Element]:
    """A single detector in full; of several one line each, and the best in full."""
    best, why = best_in(group), ""
    if len(group) > 1:
        yield Heading("Rows flagged by each detector")
        yield _detectors_grid(group)
        yield notes("a detector that is named alone (-m NAME) shows its histogram and why its rows are odd")
        why = f", the best by {metrics_in(group)[0].name}" if best else ""
    shown = best or next(iter(group))
    yield from scores_of(group[shown] + why, shown.answers)


def _detectors_grid(group: Group) -> Element:
    """The threshold of each detector, how many rows it flags, and which rows it finds oddest."""
    results = {name: result.answers for result, name in group.items()}
    flagging = any(answers.threshold is not None for answers in results.values())
    rows: list[list[Content]] = [
        [strong(name), *(_flag_cells(answers) if flagging else []), _oddest_row_numbers(answers)]
        for name, answers in results.items()
    ]
    classes = next(iter(results.values())).classes
    flags = ["threshold", "flagged", *([f"of them {classes[ANOMALY]}"] if classes else [])] if flagging else []
    return grid(["model", *flags, "oddest rows"], rows, right=range(1, len(flags) + 1))


def _flag_cells(answers: ScoreAnswers) -> list[str]:
    """The threshold, the rows flagged of those judged, and where labels are known the anomalies among them."""
    if answers.threshold is None:
        return ["", "", *[""] * bool(answers.classes)]
    flagged = answers.flagged
    hits = [str(int((flagged & (answers.truth == ANOMALY)).sum()))] if answers.classes else []
    return [
        " to ".join(_threshold_limits(answers.threshold)),
        f"{flagged.sum()} of {len(answers)}",
        *hits,
    ]


def _oddest_row_numbers(answers: ScoreAnswers) -> str:
    if answers.score.min() == answers.score.max():
        return "none: all rows score alike"
    return ", ".join(str(row + 1) for row in answers.rows[oddest_first(answers)[:NAMED]])


def scores_of(title: str, answers: ScoreAnswers) -> Iterator[Element]:
    """A histogram, and the oddest rows."""
    yield Heading(title)
    yield _histogram(answers)
    yield notes(_flagging_sentence(answers))
    yield _oddest_rows(answers)
    if (answers.reasons != NO_REASON).any():
        yield notes(
            "↑ the cell is higher than usual, ↓ lower; shares are of the contributions of all columns to the score"
        )


def _histogram(answers: ScoreAnswers) -> Histogram:
    edges = _edges(answers.score)
    index = np.clip(np.searchsorted(edges, answers.score, side="right") - 1, 0, len(edges) - 2)
    counts = {
        name: np.bincount(index[of], minlength=len(edges) - 1) for name, of in _rows_by_label(answers).items()
    }
    return histogram_of("", "score", edges, counts)


def _edges(score: Array) -> Array:
    """Bins of even width over most scores; where a few lie far out, the last bin is wider."""
    low, most, high = score.min(), np.quantile(score, TAIL), score.max()
    if low == high:
        return np.array([low, low + 1.0])
    even = np.linspace(low, most if most > low else high, BINS)
    step = even[1] - even[0]
    return np.append(even, high) if high > most + step else np.linspace(low, high, BINS + 1)


def _rows_by_label(answers: ScoreAnswers) -> dict[str, Flags]:
    """The rows of each label, those of unknown label last; all rows where there are no labels."""
    if not answers.classes:
        return {"rows": np.ones(len(answers), dtype=bool)}
    labels = {name: answers.truth == code for code, name in enumerate(answers.classes)}
    unknown = answers.truth == UNKNOWN
    return {**labels, "not known": unknown} if unknown.any() else labels


def _flagging_sentence(answers: ScoreAnswers) -> str:
    if answers.threshold is None:
        return "no threshold was chosen, so no row is flagged"
    hits = int((answers.flagged & (answers.truth == ANOMALY)).sum())
    known = f", {hits} of them {answers.classes[ANOMALY]}" if answers.classes else ""
    flags = f"it flags {answers.flagged.sum()} of {len(answers)} judged rows{known}"
    return f"threshold {_threshold_text(answers.threshold)}, {answers.threshold_from}; {flags}"


def _threshold_text(threshold: Array) -> str:
    limits = _threshold_limits(threshold)
    return limits[0] if len(limits) == 1 else f"{limits[0]} to {limits[1]} by split"


def _threshold_limits(threshold: Array) -> list[str]:
    """The threshold, or the lowest and the highest of several splits."""
    limits = np.unique(threshold[[threshold.argmin(), threshold.argmax()]]).tolist()
    # The least float above 0 is what "above 0" is made of.
    return ["above 0" if 0 < limit < np.finfo(np.float64).tiny else f"{limit:.{DIGITS}g}" for limit in limits]


def _oddest_rows(answers: ScoreAnswers) -> Element:
    oddest = odd_rows(answers, ODDEST)
    labelled, threshold = bool(answers.classes), answers.threshold is not None
    rows: list[list[Content]] = []
    for row, score in zip(oddest, lined_up([row.score for row in oddest]), strict=True):
        flagged = ["yes" if row.flagged else "no"] if threshold else []
        label = [row.label or "not known"] if labelled else []
        rows.append([strong(str(row.row)), score, *flagged, *label, _reasons_text(row)])
    header = ["oddest rows", "score", *["flagged"] * threshold, *["label"] * labelled, "main contributions"]
    return grid(header, rows, right=(0, 1))


def _reasons_text(row: OddRow) -> str:
    """The columns that add most to the score of a row, with the direction and the share of each."""
    return ", ".join(
        f"{reason.column} {'↑' if reason.share > 0 else '↓'} {100 * abs(reason.share):.0f} %"
        for reason in row.because
    )
