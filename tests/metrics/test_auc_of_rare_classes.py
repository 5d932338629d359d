"""AUC of several classes is the mean over the classes that every split has; the others are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from mlcli.metrics.difference import compare
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.supervised import LabelAnswers
from tests.metrics.making import folds_of, label_answers
from tests.support.shell import document, typed


def cells_of(table: pd.DataFrame, folder: Path, *metrics: str) -> dict[str, dict[str, Any]]:
    table.to_csv(folder / "rare.csv", index=False)
    named = [word for metric in metrics for word in ("--metric", metric)]
    shown = document(
        typed("eval", str(folder / "rare.csv"), "-m", "zero-r", "-m", "lda", *named, "--json", "-j", "1")
    )
    return {cell["model"]: cell["metrics"] for cell in shown["cells"]}


def two_clouds(*more: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    labels = np.array(["a", "b"] * 100 + list(more))
    table = pd.DataFrame(rng.normal(size=(len(labels), 3)), columns=list("pqr"))
    table["p"] += 2 * (labels == "b")
    return table.assign(y=labels)


def test_a_class_of_two_rows_is_left_out_and_named(tmp_path: Path) -> None:
    """A constant has an area of 1/2 (it had 0.36 ±0.02); the mean of splits is within what splits have."""
    cells = cells_of(two_clouds("c", "c"), tmp_path, "auc", "auc[c]")
    assert cells["zero-r"]["auc"]["mean"] == 0.5
    area = cells["lda"]["auc"]
    assert area["mean"] == pytest.approx(np.mean(area["splits"]))
    assert area["low"] < area["mean"] < area["high"]
    assert area["high"] - area["low"] > 0.05
    assert any("c (2)" in mark for mark in area["marks"])
    assert cells["lda"]["auc[c]"]["mean"] is None
    assert "undefined in 8 of 10 splits" in cells["lda"]["auc[c]"]["why"]


def test_an_area_of_two_classes_is_undefined_where_splits_lack_one(tmp_path: Path) -> None:
    table = two_clouds().iloc[:-1]
    rare = table[(table.y == "a") | (table.index < 10)]
    area = cells_of(rare, tmp_path, "auc")["zero-r"]["auc"]
    assert area["mean"] is None
    assert "fewer, would help" in area["why"]


def test_rows_of_a_class_that_is_left_out_are_still_others() -> None:
    """scikit-learn's areas of each class against the rest, by split, averaged over classes a and b."""
    rng = np.random.default_rng(1)
    labels = [*"ab" * 10, *rng.permutation([*"a" * 40, *"b" * 37, *"c" * 3])]
    drawn = rng.dirichlet(np.ones(3), 100) + 0.5 * np.eye(3)[["abc".index(label) for label in labels]]
    answers = label_answers(labels, labels, "abc", probabilities=(drawn / 1.5).tolist())
    codes, given = answers.truth.reshape(5, 20), (drawn / 1.5).reshape(5, 20, 3)
    areas = [roc_auc_score(codes[k] == code, given[k, :, code]) for k in range(5) for code in (0, 1)]
    found = summarise(metric_named("auc", LabelAnswers), folds_of(answers, 5), [80] * 5)
    assert found.mean == pytest.approx(np.mean(areas))


@pytest.mark.parametrize(("rows", "told"), [(2, False), (3, True)])
def test_two_rows_of_a_class_give_an_area_no_interval_and_no_test(rows: int, told: bool) -> None:
    """With one row of a class the interval held the truth in 42 % of 400 datasets, with two in 80 %."""
    labels, rng = "a" * 40 + "b" * rows, np.random.default_rng(2)
    second = rng.random((2, len(labels)))
    models = [
        [label_answers(labels, labels, "ab", probabilities=np.column_stack([1 - p, p]).tolist())] for p in second
    ]
    area = metric_named("auc", LabelAnswers)
    assert (summarise(area, models[0], [80]).low is not None) == told
    assert (compare(area, models[0], models[1], [80]).p is not None) == told


def test_nor_has_an_area_over_all_rows_at_once_of_folds_that_differ() -> None:
    """Every other fold ranks a and b the wrong way round: its splits differ, and of c there are two rows."""
    rng, folds = np.random.default_rng(3), []
    for fold in range(6):
        labels = "ab" * 30 + "c" * (fold < 2)
        second = 0.4 * rng.random(len(labels)) + 0.4 * (np.array(list(labels)) == "ab"[fold % 2])
        shares = np.column_stack([0.9 - second, second, np.full(len(labels), 0.1)])
        folds.append(label_answers(labels, labels, "abc", probabilities=shares.tolist(), first_row=100 * fold))
    learned = [362 - len(fold) for fold in folds]
    found = summarise(metric_named("auc", LabelAnswers), folds, learned, pooled=True)
    assert found.mean is not None
    assert (found.low, found.high) == (None, None)


def test_rows_left_out_one_by_one_give_a_constant_no_area(tmp_path: Path) -> None:
    """Without a row of a class its share is smaller, so that the area of zero-r would be 0; a constant has 0.5."""
    two_clouds().to_csv(tmp_path / "two.csv", index=False)
    words = ("eval", str(tmp_path / "two.csv"), "-m", "zero-r", "-m", "lda", "--metric", "auc")
    shown = document(typed(*words, "--protocol", "leave-one-out", "--json", "-j", "1"))
    areas = {cell["model"]: cell["metrics"]["auc"] for cell in shown["cells"] if cell["status"] == "done"}
    assert areas["zero-r"]["mean"] is None
    assert "the class that was left out" in str(areas["zero-r"])
    assert areas["lda"]["mean"] > 0.5
