"""Training sizes: nested, with a share of every class, and never a cut group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mlcli.core.errors import DataError, UsageError
from mlcli.core.params import build
from mlcli.core.rows import SplitInfo
from mlcli.protocols.training_size import TrainingSize
from tests.support.shell import document, typed

CLASSES = np.array([0] * 60 + [1] * 30 + [2] * 10, np.int32)


def splits_of(strata: SplitInfo, **params: Any) -> Any:
    return build(TrainingSize, params).splits(strata, np.random.default_rng(0))


def test_sizes_are_nested_and_every_class_is_in_each() -> None:
    splits = splits_of(SplitInfo(100, CLASSES), folds=5, sizes=[0.05, 0.5, 1])
    assert [split.coordinate.value for split in splits[::5]] == [4, 40, 80]
    for small, middle, whole in zip(splits[:5], splits[5:10], splits[10:], strict=True):
        assert (len(small.train), len(middle.train), len(whole.train)) == (4, 40, 80)
        assert set(small.train) <= set(middle.train) <= set(whole.train)
        assert set(CLASSES[small.train]) == {0, 1, 2}
        assert np.bincount(CLASSES[middle.train]).tolist() == pytest.approx([24, 12, 4], abs=1)
        assert not set(whole.train) & set(whole.test)
        assert (small.test == whole.test).all()


def test_numbers_of_rows_for_a_number_to_predict() -> None:
    splits = splits_of(SplitInfo(50), folds=2, sizes=[10, 25])
    assert [len(split.train) for split in splits] == [10, 10, 25, 25]


def test_groups_are_never_cut() -> None:
    groups = np.repeat(np.arange(12, dtype=np.int32), 5)
    for split in splits_of(SplitInfo(60, None, groups), folds=3, sizes=[7, 40]):
        train, test = set(groups[split.train]), set(groups[split.test])
        assert not train & test
        assert len(split.train) == 5 * len(train)
        assert len(split.train) >= split.coordinate.value


@pytest.mark.parametrize(
    ("sizes", "what"),
    [([], "one size"), ([2.5], "number of rows"), ([0.5, 0.5], "twice")],
)
def test_sizes_that_make_no_sense_are_refused(sizes: list[float], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        build(TrainingSize, {"sizes": sizes})


def test_more_rows_than_there_are() -> None:
    with pytest.raises(DataError, match="there are 80 to learn from"):
        splits_of(SplitInfo(100, CLASSES), folds=5, sizes=[90])


def xor_table(folder: Path) -> str:
    """Two columns of which only both together tell the class: naive Bayes never learns it, neighbours soon do."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(400, 2))
    table = pd.DataFrame(X, columns=["left", "right"]).assign(y=np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))
    table.to_csv(folder / "xor.csv", index=False)
    return str(folder / "xor.csv")


def test_scores_are_those_of_the_largest_size(tmp_path: Path) -> None:
    """Each row counts once, and interval and p are what the last point of the curve alone gives."""
    words = ("eval", xor_table(tmp_path), "-m", "naive-bayes", "-m", "knn", "--metric", "accuracy", "-j", "1")
    swept = document(typed(*words, "--protocol", "{use: training-size, sizes: [4, 8, 1.0]}", "--json"))
    for cell in swept["cells"]:
        points = {point["value"]: point["metrics"] for point in cell["series"]["values"]}
        assert list(points) == [4, 8, 320]
        assert cell["metrics"] == points[320]
        assert np.sum(cell["confusion"]["counts"]) == 400
    (compared,) = swept["comparisons"]
    assert {pair["test"] for pair in compared["pairs"]} == {"paired t over 400 rows, variance × 1.75"}


def test_a_model_that_leads_where_it_counts_is_told_from_the_others(tmp_path: Path) -> None:
    """With 4 and 8 rows nobody knows anything; with 320 neighbours are right in over nine of ten rows."""
    shown = typed(
        *("eval", xor_table(tmp_path), "-m", "naive-bayes", "-m", "knn", "--metric", "accuracy", "-j", "1"),
        *("--protocol", "{use: training-size, sizes: [4, 6, 8, 10, 1.0]}"),
    ).stdout
    said = " ".join(shown.split())
    verdict = said[said.index("Best by accuracy: knn with 0.9") :]
    assert "not significantly different" not in verdict.partition("As the best")[0]
    assert "the table above shows the scores and tests of the largest size" in said
