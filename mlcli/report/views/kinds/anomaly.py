"""Scores of oddness as a picture: their spread, the rows flagged, and the columns that made them so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mlcli.core.findings import Histogram
from mlcli.core.tables import Array, Flags, Rows
from mlcli.report.document import Content, Element, Heading, grid, notes, strong
from mlcli.report.numbers import DIGITS, lined_up
from mlcli.report.views.dataset import histogram_of
from mlcli.scoring.differences import best_in
from mlcli.scoring.model_results import Group, ModelResult, judged_answers, metrics_in
from mlcli.tasks.anomaly import ANOMALY, NO_REASON, ScoreAnswers, main_reasons
from mlcli.tasks.anomaly_thresholds import threshold_in_words
from mlcli.tasks.unsupervised import UNKNOWN

BINS = 10
LISTED = 10
"""How many of the oddest rows are listed."""
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
    found = {name: one.answers for one, name in group.items()}
    flagging = any(answers.threshold is not None for answers in found.values())
    rows: list[list[Content]] = [
        [strong(name), *(_flag_cells(answers) if flagging else []), _oddest_row_numbers(answers)]
        for name, answers in found.items()
    ]
    classes = next(iter(found.values())).classes
    flags = ["threshold", "flagged", *([f"of them {classes[ANOMALY]}"] if classes else [])] if flagging else []
    return grid(["model", *flags, "oddest rows"], rows, right=range(1, len(flags) + 1))


def _flag_cells(answers: ScoreAnswers) -> list[str]:
    """The threshold, the rows flagged of those judged, and where labels are known the anomalies among them."""
    if answers.threshold is None:
        return ["", "", *[""] * bool(answers.classes)]
    flagged = answers.flagged
    hits = [str(int((flagged & (answers.truth == ANOMALY)).sum()))] if answers.classes else []
    return [
        _threshold_text(answers.threshold).removesuffix(" by split"),
        f"{flagged.sum()} of {len(answers)}",
        *hits,
    ]


def _oddest_row_numbers(answers: ScoreAnswers) -> str:
    if answers.score.min() == answers.score.max():
        return "none: all rows score alike"
    return ", ".join(str(row + 1) for row in answers.rows[ranked(answers)[:NAMED]])


def ranked(answers: ScoreAnswers) -> Rows:
    """Places in the answers, the oddest first; of a row that was judged several times the highest score."""
    order = np.argsort(-answers.score, kind="stable")
    first = np.unique(answers.rows[order], return_index=True)[1]
    return order[np.sort(first)]


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
    place = np.clip(np.searchsorted(edges, answers.score, side="right") - 1, 0, len(edges) - 2)
    counts = {
        name: np.bincount(place[of], minlength=len(edges) - 1) for name, of in _rows_by_label(answers).items()
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


def as_json(scored: ModelResult) -> dict[str, Any]:
    """The oddest rows and, where thresholds were chosen, these and every row that some split has flagged."""
    answers = scored.answers
    oddest = {"oddest": _rows_as_json(answers, LISTED)}
    if answers.threshold is None:
        return oddest
    flagged = answers.take(np.flatnonzero(answers.flagged))
    thresholds = [float(split.threshold[0]) for split in judged_answers(scored.cell_result)]
    return {**oddest, "thresholds": thresholds, "flagged": _rows_as_json(flagged, len(flagged))}


def _rows_as_json(answers: ScoreAnswers, count: int) -> list[dict[str, Any]]:
    return [_row_as_json(answers, place) for place in ranked(answers)[:count].tolist()]


def _row_as_json(answers: ScoreAnswers, place: int) -> dict[str, Any]:
    truth = int(answers.truth[place])
    return {
        "row": int(answers.rows[place]) + 1,
        "score": float(answers.score[place]),
        "label": answers.classes[truth] if answers.classes and truth != UNKNOWN else None,
        "because": [{"column": column, "share": share} for column, share in _main_reasons_of(answers, place)],
    }


def _flagging_sentence(answers: ScoreAnswers) -> str:
    if answers.threshold is None:
        return "no threshold was chosen, so no row is flagged"
    hits = int((answers.flagged & (answers.truth == ANOMALY)).sum())
    known = f", {hits} of them {answers.classes[ANOMALY]}" if answers.classes else ""
    flags = f"it flags {answers.flagged.sum()} of {len(answers)} judged rows{known}"
    return f"threshold {_threshold_text(answers.threshold)}, {answers.threshold_from}; {flags}"


def _threshold_text(threshold: Array) -> str:
    limits = [
        threshold_in_words(limit, DIGITS).removeprefix("at least ") for limit in np.unique(threshold).tolist()
    ]
    return limits[0] if len(limits) == 1 else f"{limits[0]} to {limits[-1]} by split"


def _oddest_rows(answers: ScoreAnswers) -> Element:
    order = ranked(answers)[:LISTED]
    labelled, threshold = bool(answers.classes), answers.threshold is not None
    names = (*answers.classes, "not known")
    rows: list[list[Content]] = [
        [
            strong(str(answers.rows[row] + 1)),
            score,
            *(["yes" if answers.flagged[row] else "no"] if threshold else []),
            *([names[answers.truth[row]]] if labelled else []),
            _reasons_text(answers, row),
        ]
        for row, score in zip(order.tolist(), lined_up(answers.score[order].tolist()), strict=True)
    ]
    header = ["oddest rows", "score", *["flagged"] * threshold, *["label"] * labelled, "main contributions"]
    return grid(header, rows, right=(0, 1))


def _reasons_text(answers: ScoreAnswers, row: int) -> str:
    """The columns that add most to the score of a row, with the direction and the share of each."""
    named = _main_reasons_of(answers, row)
    return ", ".join(f"{column} {'↑' if share > 0 else '↓'} {100 * abs(share):.0f} %" for column, share in named)


def _main_reasons_of(answers: ScoreAnswers, row: int) -> list[tuple[str, float]]:
    return main_reasons(answers.columns, answers.reasons[row], answers.shares[row])
