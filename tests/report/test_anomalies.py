"""What is shown of odd rows, from the shell: the histogram, the rows flagged with their reasons, predictions."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from mlcli.core.answers import Header
from mlcli.core.findings import Histogram
from mlcli.report.document import Grid, Notes
from mlcli.report.views.anomaly import detector_of
from mlcli.tasks.anomaly import ScoreAnswers
from tests.support.shell import typed


def answers_of(
    score: list[float], truth: list[int], threshold: list[float] | None = None, labelled: bool = True
) -> ScoreAnswers:
    n = len(score)
    reasons, shares = np.full((n, 3), -1, np.int32), np.zeros((n, 3))
    reasons[int(np.argmax(score)), :2], shares[int(np.argmax(score)), :2] = (1, 0), (-0.8, 0.01)
    return ScoreAnswers(
        header=Header(rows=np.arange(10, 10 + n)),
        score=np.array(score),
        truth=np.array(truth, np.int32),
        classes=("good", "bad") if labelled else (),
        columns=("length", "width"),
        reasons=reasons,
        shares=shares,
        threshold_from="the one that is said",
        threshold=None if threshold is None else np.array(threshold),
    )


def texts(grid: Grid) -> list[list[str]]:
    return [[cell.text for cell in row] for row in grid.rows]


def test_every_row_is_in_one_bin_of_its_label() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice([-1, 0, 1], 300).tolist()
    _, histogram, *_ = detector_of("lof", answers_of([*rng.normal(size=299), 50.0], truth))
    assert isinstance(histogram, Histogram)
    counted = {name: sum(counts) for name, counts in histogram.counts}
    assert counted == {"good": truth.count(0), "bad": truth.count(1), "not known": truth.count(-1)}


@pytest.mark.parametrize("score", [[1.0] * 4, [1.0, 1.0, 1.0, 7.0], [0.0, 1e-300, 2e-300, 1e300]])
def test_equal_and_extreme_scores_have_a_histogram(score: list[float]) -> None:
    _, histogram, *_ = detector_of("lof", answers_of(score, [0, 0, 1, 1]))
    assert isinstance(histogram, Histogram)
    assert sum(sum(counts) for _, counts in histogram.counts) == 4


def test_the_oddest_rows_come_first_with_the_columns_that_made_them_so() -> None:
    blocks = list(detector_of("lof", answers_of([1, 5, 3], [0, 1, 0], [3.0] * 3)))
    rows = next(texts(block) for block in blocks if isinstance(block, Grid) and block.header[0] == "oddest rows")
    # Numbered from 1, as in the file; a column that adds a hundredth is not named.
    assert rows == [
        ["12", "5", "yes", "bad", "width ↓ 80 %"],
        ["13", "3", "yes", "good", ""],
        ["11", "1", "no", "good", ""],
    ]


def test_a_row_that_several_splits_have_judged_is_listed_once() -> None:
    answers = ScoreAnswers.pooled([answers_of([1, 5], [0, 1]), answers_of([2, 4], [0, 1])])
    shown = detector_of("lof", answers)
    rows = next(texts(one) for one in shown if isinstance(one, Grid) and one.header[0] == "oddest rows")
    assert [row[:2] for row in rows if row[0] in ("11", "12")] == [["12", "5"], ["11", "2"]]


def test_how_rows_are_flagged_is_said() -> None:
    def said(answers: ScoreAnswers) -> str:
        return next(block.items[0][1] for block in detector_of("lof", answers) if isinstance(block, Notes))

    assert "no threshold" in said(answers_of([1, 5], [0, 1]))
    assert "threshold 4, " in said(answers_of([1, 5], [0, 1], [4.0, 4.0]))
    assert "1 of 2 scored rows, 1 of them bad" in said(answers_of([1, 5], [0, 1], [4.0, 4.0]))
    assert "2 to 4 by split" in said(answers_of([1, 5], [0, 1], [2.0, 4.0]))
    assert "threshold above 0, " in said(answers_of([0, 1], [0, 1], [np.nextafter(0.0, 1.0)] * 2))


def test_without_labels_rows_are_only_counted() -> None:
    _, histogram, *_ = detector_of("lof", answers_of([1, 5], [-1, -1], labelled=False))
    assert isinstance(histogram, Histogram)
    assert [name for name, _ in histogram.counts] == ["rows"]


def test_the_models_named_tell_that_anomalies_are_looked_for() -> None:
    shown = typed("eval", "wdbc", "-m", "z-score")
    assert shown.exit_code == 0
    assert "wdbc: anomaly of diagnosis" in shown.stdout
    assert "good-only (train share 0.6, repeats 1)" in shown.stdout
    assert "oddest rows" in shown.stdout


def test_of_several_detectors_only_the_best_is_shown_in_full() -> None:
    shown = typed("eval", "wdbc", "-m", "z-score", "-m", "gaussian-anomaly").stdout
    assert shown.count("main contributions") == 1
    assert "gaussian-anomaly, the best by auc" in shown
    flags = shown[shown.index("Rows flagged by each detector") : shown.index("gaussian-anomaly, the best")]
    assert [line.split()[0] for line in flags.splitlines()[3:5]] == ["z-score", "gaussian-anomaly"]


def test_without_labels_the_first_of_several_is_shown_in_full() -> None:
    shown = typed("eval", "faithful", "-m", "z-score", "-m", "lof").stdout
    assert shown.count("main contributions") == 1
    assert "threshold 3, the method's own: three standard deviations; it flags 0 of 272" in shown


def test_where_all_rows_score_alike_none_is_named(tmp_path: Path) -> None:
    equal = tmp_path / "equal.csv"
    equal.write_text("a,b\n" + "1,2\n" * 30)
    shown = typed("eval", str(equal), "-m", "lof", "-m", "knn-distance").stdout
    assert shown.count("none: all rows score alike") == 2


def test_the_rows_flagged_are_in_the_json_with_their_reasons() -> None:
    document = json.loads(typed("eval", "wdbc", "-m", "z-score", "--repeats", "2", "--json").stdout)
    cell = next(cell for cell in document["cells"] if cell["model"] == "z-score")
    assert len(cell["thresholds"]) == 2
    scores = [row["score"] for row in cell["flagged"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] >= min(cell["thresholds"])
    assert len({row["row"] for row in cell["flagged"]}) == len(scores)
    assert cell["oddest"] == cell["flagged"][:10]
    assert all(row["because"] for row in cell["flagged"])


def test_the_oddest_row_in_the_json_is_told_its_label_and_columns() -> None:
    document = json.loads(typed("eval", "wdbc", "-m", "z-score", "--json").stdout)
    cell = next(cell for cell in document["cells"] if cell["model"] == "z-score")
    # Of all cells of row 462 scikit-learn's StandardScaler has area_error (542.2) farthest out.
    oddest = cell["oddest"][0]
    assert (oddest["row"], oddest["label"], oddest["because"][0]["column"]) == (462, "malignant", "area_error")


def test_without_labels_the_json_has_the_oddest_rows() -> None:
    cell = json.loads(typed("eval", "faithful", "-m", "z-score", "--json").stdout)["cells"][1]
    assert len(cell["oddest"]) == 10
    assert cell["thresholds"] == pytest.approx([3.0])
    assert cell["flagged"] == []


def test_a_kept_detector_learns_from_good_rows_and_its_threshold_has_the_highest_f1(tmp_path: Path) -> None:
    model = tmp_path / "odd.mlcli"
    shown = typed("train", "wdbc", "--task", "anomaly", "-m", "z-score", "-o", str(model)).stdout
    assert "learned from 357 of 569 rows; default" in shown
    assert "357 rows that are 'benign' and 212 that are 'malignant'" in shown
    rows = list(csv.DictReader(io.StringIO(typed("predict", str(model), "wdbc").stdout)))
    truth = np.array([row["diagnosis"] == "malignant" for row in rows])
    # scikit-learn on the same 357 rows: StandardScaler, then the best of all thresholds by f1_score.
    numbers = load_breast_cancer().data
    good = StandardScaler().fit(numbers[~truth])
    score = np.abs(good.transform(numbers)).max(axis=1)
    best = max(np.unique(score), key=lambda limit: f1_score(truth, score >= limit))
    assert [float(row["score"]) for row in rows] == pytest.approx(score, rel=1e-3)
    assert [row["flagged"] == "yes" for row in rows] == (score >= best).tolist()


def test_a_kept_detector_flags_a_share_of_the_rows_without_labels_that_it_learned_from(tmp_path: Path) -> None:
    model = tmp_path / "odd.mlcli"
    words = ("-m", "mahalanobis", "-p", "decide=share: 0.01", "-o", str(model))
    shown = typed("train", "faithful", "--task", "anomaly", *words).stdout
    assert "that of the oddest 1 % of the rows that were learned from" in shown
    rows = list(csv.DictReader(io.StringIO(typed("predict", str(model), "faithful").stdout)))
    # 1 % of 272 rows are 2.72: two rows are flagged, those above the 270th smallest score.
    scores = sorted(float(row["score"]) for row in rows)
    assert [float(row["score"]) for row in rows if row["flagged"] == "yes"] == pytest.approx(
        [float(row["score"]) for row in rows if float(row["score"]) > scores[269]]
    )
    shown = typed("eval", "faithful", "-m", str(model)).stdout
    assert "it flags 2 of 272 scored rows" in shown


@pytest.mark.parametrize("data", ["wdbc", "ruspini"])
def test_a_trained_detector_scores_new_rows(data: str, tmp_path: Path) -> None:
    model = tmp_path / "odd.mlcli"
    assert typed("train", data, "-m", "knn-distance", "-o", str(model)).exit_code == 0
    shown = typed("predict", str(model), data)
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert len(rows) > 70
    assert all(np.isfinite(float(row["score"])) for row in rows)
    flagged = [float(row["score"]) for row in rows if row["flagged"] == "yes"]
    assert min(flagged, default=np.inf) > max(float(row["score"]) for row in rows if row["flagged"] == "no")
    assert all(bool(row["because"]) == (row["flagged"] == "yes") for row in rows)
    assert "flagged: rows that score at least" in shown.stderr
    judged = typed("eval", data, "-m", str(model))
    assert judged.exit_code == 0
    assert "SEEN" in judged.stdout
    assert typed("predict", str(model), data, "--probabilities").exit_code == 4
