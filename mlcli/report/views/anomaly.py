"""Anomaly detectors: the spread of their scores, the rows they flag, and the columns that make rows odd."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.findings import Histogram
from mlcli.core.tables import Array
from mlcli.report.document import DIGITS, Content, Element, Grid, Heading, grid, lined_up, notes, strong
from mlcli.scoring.differences import best_in
from mlcli.scoring.kinds import ODDEST, odd_rows, oddest_first
from mlcli.scoring.model_results import Group, metrics_in
from mlcli.scoring.plots import histogram_of
from mlcli.tasks.anomaly import ANOMALY, NO_REASON, ScoreAnswers
from mlcli.tasks.unsupervised import UNKNOWN


def detectors_of(group: Group) -> Iterator[Element]:
    """A single detector in full; several in one line each, and the best in full."""
    best, why = best_in(group), ""
    if len(group) > 1:
        yield Heading("Rows flagged by each detector")
        yield _detectors_grid(group)
        yield notes("a detector that is named alone (-m NAME) shows its histogram and why its rows are odd")
        why = f", the best by {metrics_in(group)[0].name}" if best else ""
    result = best or next(iter(group))
    yield from detector_of(group[result] + why, result.answers)


def detector_of(title: str, answers: ScoreAnswers) -> Iterator[Element]:
    """The scores of one detector, its threshold and the oddest rows."""
    yield Heading(title)
    yield _score_histogram(answers)
    if answers.threshold is None:
        yield notes("no threshold was chosen, so no row is flagged")
    else:
        limits = _threshold_range(answers.threshold)
        threshold = limits[0] if len(limits) == 1 else f"{limits[0]} to {limits[1]} by split"
        hits = int((answers.flagged & (answers.truth == ANOMALY)).sum())
        labelled = f", {hits} of them {answers.classes[ANOMALY]}" if answers.classes else ""
        flags = f"it flags {answers.flagged.sum()} of {len(answers)} scored rows{labelled}"
        yield notes(f"threshold {threshold}, {answers.threshold_from}; {flags}")
    yield _oddest_rows(answers)
    if (answers.reasons != NO_REASON).any():
        yield notes(
            "↑ the cell is higher than usual, ↓ lower; shares are of the contributions of all columns to the score"
        )


def _detectors_grid(group: Group) -> Grid:
    """The threshold of each detector, how many rows it flags, and which rows it finds oddest."""
    results: dict[str, ScoreAnswers] = {name: result.answers for result, name in group.items()}
    classes = next(iter(results.values())).classes
    flag_columns: list[str] = []
    if any(answers.threshold is not None for answers in results.values()):
        flag_columns = ["threshold", "flagged", *([f"of them {classes[ANOMALY]}"] if classes else [])]
    rows: list[list[Content]] = []
    for name, answers in results.items():
        cells = [""] * len(flag_columns)
        if answers.threshold is not None:
            flagged = answers.flagged
            cells = [" to ".join(_threshold_range(answers.threshold)), f"{flagged.sum()} of {len(answers)}"]
            cells += [str(int((flagged & (answers.truth == ANOMALY)).sum()))] if classes else []
        oddest = "none: all rows score alike"
        if answers.score.min() < answers.score.max():
            oddest = ", ".join(str(row + 1) for row in answers.rows[oddest_first(answers)[:5]])
        rows.append([strong(name), *cells, oddest])
    return grid(["model", *flag_columns, "oddest rows"], rows, right=range(1, len(flag_columns) + 1))


def _score_histogram(answers: ScoreAnswers) -> Histogram:
    """The scores of the rows of each label, those of unknown label last."""
    parts = {"rows": np.ones(len(answers), dtype=bool)}
    if answers.classes:
        parts = {name: answers.truth == code for code, name in enumerate(answers.classes)}
        if (answers.truth == UNKNOWN).any():
            parts["not known"] = answers.truth == UNKNOWN
    # Ten bins of equal width over 98 % of the scores; if a few lie far out, the last bin is wider.
    bin_count = 10
    low, most, high = answers.score.min(), np.quantile(answers.score, 0.98), answers.score.max()
    if low == high:
        edges = np.array([low, low + 1.0])
    else:
        edges = np.linspace(low, most if most > low else high, bin_count)
        is_far_out = high > most + edges[1] - edges[0]
        edges = np.append(edges, high) if is_far_out else np.linspace(low, high, bin_count + 1)
    bins = np.clip(np.searchsorted(edges, answers.score, side="right") - 1, 0, len(edges) - 2)
    counts = {name: np.bincount(bins[members], minlength=len(edges) - 1) for name, members in parts.items()}
    return histogram_of("", "score", edges, counts)


def _threshold_range(threshold: Array) -> list[str]:
    """The threshold, or the lowest and the highest of several splits."""
    limits = np.unique(threshold[[threshold.argmin(), threshold.argmax()]]).tolist()
    # The smallest float above 0 stands for "above 0".
    return ["above 0" if 0 < limit < np.finfo(np.float64).tiny else f"{limit:.{DIGITS}g}" for limit in limits]


def _oddest_rows(answers: ScoreAnswers) -> Grid:
    """The oddest rows, with the columns that add most to their scores."""
    oddest = odd_rows(answers, ODDEST)
    is_labelled, has_threshold = bool(answers.classes), answers.threshold is not None
    rows: list[list[Content]] = []
    for row, score in zip(oddest, lined_up([row.score for row in oddest]), strict=True):
        reasons = ", ".join(
            f"{reason.column} {'↑' if reason.share > 0 else '↓'} {100 * abs(reason.share):.0f} %"
            for reason in row.because
        )
        flagged = ["yes" if row.flagged else "no"] if has_threshold else []
        label = [row.label or "not known"] if is_labelled else []
        rows.append([strong(str(row.row)), score, *flagged, *label, reasons])
    header = ["oddest rows", "score", *["flagged"] * has_threshold, *["label"] * is_labelled, "main contributions"]
    return grid(header, rows, right=(0, 1))
