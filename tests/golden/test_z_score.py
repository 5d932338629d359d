"""Z-scores beside scipy.stats.zscore, and what becomes of a column that does not vary."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import zscore

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.models.anomaly.z_score import ZScore
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores_of_its_own


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_score_is_the_largest_z_of_scipy(ddof: int) -> None:
    X = cloud(80, 4)
    expected = np.abs(zscore(X, ddof=ddof)).max(axis=1)
    assert scores_of_its_own(ZScore(ddof=ddof), X) == pytest.approx(expected, rel=1e-12)


def test_grubbs_statistic_of_the_notes() -> None:
    # SOURCES.md, section 10: 5 5.1 4.9 5 9; G with n − 1 is 1.787458, with n 1.998439.
    data = line(5, 5.1, 4.9, 5, 9)
    for ddof, expected in ((1, 1.787458), (0, 1.998439)):
        assert asked(fitted(ZScore(ddof=ddof), data), data).score.max() == pytest.approx(expected, abs=5e-7)


def test_a_column_that_does_not_vary_is_left_out_and_said() -> None:
    X = cloud(30, 2)
    wide = np.column_stack([X, np.full(30, 7.0)])
    with pytest.warns(MlcliWarning, match="x2"):
        assert scores_of_its_own(ZScore(), wide) == pytest.approx(scores_of_its_own(ZScore(), X))


def test_rows_that_are_all_equal_are_refused() -> None:
    with pytest.raises(FitError, match="no column varies"):
        fitted(ZScore(), line(2, 2, 2))


def test_the_oddest_cell_is_the_reason() -> None:
    answers = asked(fitted(ZScore(), rows_of(cloud(50, 3))), rows_of(np.array([[0.0, -99.0, 0.0]]), first=50))
    assert answers.columns[answers.reasons[0, 0]] == "x1"
    assert -1 <= answers.shares[0, 0] < -0.9
