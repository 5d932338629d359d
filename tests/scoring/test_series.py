"""What a sweep over the share of labels is summarised by: rounds that judge the same rows count once."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mlcli.metrics.base import by_round
from tests.support.shell import document, typed

SWEEP = "{use: labelled-share, folds: 3, shares: [0.05, 0.5, 1]}"
EXPERIMENT = f"""
data: [iris]
models: [one-r, {{use: self-training, params: {{base: one-r}}, as: taught}}]
protocol: {SWEEP}
metrics: [f1-macro]
"""


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small experiment file."""
    monkeypatch.chdir(tmp_path)
    Path("sweep.yaml").write_text(EXPERIMENT)
    return "sweep.yaml"


def test_the_mean_of_each_round() -> None:
    assert by_round([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1]).tolist() == [2.0, 3.0]
    assert by_round([1.0, 2.0], None).tolist() == [1.0, 2.0]


def test_the_interval_is_that_of_the_folds_means_over_the_sweep(experiment: str) -> None:
    """Nadeau & Bengio 2003 over three folds of 50 rows, 100 to learn from, each the mean of its three shares."""
    cell = document(typed("run", experiment, "--json"))["cells"][1]
    score = cell["metrics"]["f1-macro"]
    folds = np.array(score["splits"]).reshape(3, 3).mean(axis=0)
    reach = stats.t.ppf(0.975, 2) * math.sqrt((1 / 3 + 50 / 100) * folds.var(ddof=1))
    assert score["low"] == pytest.approx(folds.mean() - reach)
    assert score["interval"] == "corrected resampled t over 3 splits, each the mean of its sweep"


def test_each_share_has_a_line_and_each_model_a_curve(experiment: str) -> None:
    said = typed("run", experiment).output
    lines = [line.split()[0] for line in said.splitlines() if re.match(r" +[01][.\d]* ", line)]
    assert lines == ["0.05", "0.5", "1"]
    assert len(re.findall(r"0\.\d+  [▁▂▃▄▅▆▇█]{3}  0\.\d+", said)) == 3
    assert "~ not significantly different from it" in said


def test_the_document_has_the_scores_of_each_share(experiment: str) -> None:
    for cell in document(typed("run", experiment, "--json"))["cells"]:
        score = cell["metrics"]["f1-macro"]["splits"]
        assert cell["series"]["over"] == "labelled share"
        for place, at in enumerate(cell["series"]["values"]):
            expected = np.mean(score[3 * place : 3 * place + 3])
            assert at["metrics"]["f1-macro"]["mean"] == pytest.approx(expected)
        assert [at["value"] for at in cell["series"]["values"]] == [
            0.05,
            0.5,
            1.0,
        ]
