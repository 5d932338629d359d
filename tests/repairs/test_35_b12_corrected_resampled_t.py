"""The corrected resampled t-test can be chosen in `compare --test`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.cli.shell import document, typed


def test_the_corrected_resampled_t_test_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nadeau & Bengio's formula with SciPy's t over ten folds, where rows would be tested otherwise."""
    monkeypatch.chdir(tmp_path)
    Path("one.yaml").write_text("data: [iris]\nmodels: [lda, {use: knn, params: {k: 40}}]\nmetrics: [accuracy]\n")
    cells = {cell["model"]: cell for cell in document(typed("run", "one.yaml", "--json", "-j", "1"))["cells"]}
    names = ["lda", next(name for name in cells if name.startswith("knn"))]
    splits = [np.array(cells[name]["metrics"]["accuracy"]["splits"]) for name in names]
    words = ("compare", "1", "--against", "lda", "--test", "corrected-t", "--json")
    pairs = document(typed(*words))["datasets"][0]["pairs"]
    (pair,) = (pair for pair in pairs if set(pair["models"]) == set(names))
    gains = splits[0] - splits[1]
    error = np.std(gains, ddof=1) * np.sqrt(1 / 10 + 15 / 135)
    assert pair["p"] == pytest.approx(2 * stats.t.sf(abs(gains.mean()) / error, 9))
    assert pair["test"] == "corrected resampled t over 10 splits"
