"""What reports draw of kinds of task without classes or numbers, beside counts by hand, SciPy and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import mlcli
from mlcli.data.shipped import shipped_paths
from mlcli.scoring.model_results import group_of
from mlcli.tasks.table import kind_named, named
from tests.support.shell import document, typed

pytestmark = pytest.mark.filterwarnings("ignore::mlcli.MlcliWarning")


def drawn(found: mlcli.Results) -> Any:
    """The one picture of a report of these results, of the model that was asked for."""
    one = found.scored[-1]
    place = kind_named(one.cell.kind).picture_of_report_at
    return next(element for element in named(place)(group_of([one])) if hasattr(element, "title"))


def findings_of(*words: str) -> dict[str, Any]:
    return {one["title"]: one for one in document(typed("train", *words, "--json"))["findings"]}


def test_how_often_the_best_is_among_the_first() -> None:
    found = mlcli.eval("travelmode", "ranking-svm", protocol={"use": "k-fold", "folds": 2}, jobs=1)
    answers = found.answers("ranking-svm")
    (_, shares) = drawn(found).series[0]
    place = answers.groupby(["split", "group"])["score"].rank(ascending=False, method="min")
    chosen = place[answers["relevance"] == 1]
    assert shares == pytest.approx([np.mean(chosen <= count) for count in (1, 2, 3, 4)])


def test_predicted_ratings_have_a_box_for_each_rating() -> None:
    ratings = pd.DataFrame(
        [(f"u{u}", f"i{i}", 1 + (u * i) % 5) for u in range(12) for i in range(8)], columns=["u", "i", "r"]
    )
    sidecar = {"roles": {"user": ["u"], "item": ["i"], "target": ["r"]}}
    found = mlcli.eval(ratings, "user-item-bias", sidecar=sidecar, protocol={"use": "k-fold", "folds": 2}, jobs=1)
    boxes = dict(drawn(found).boxes)
    answers = found.answers("user-item-bias")
    assert list(boxes) == [f"rated {rating}" for rating in range(1, 6)]
    for rating, of_one in answers.groupby("truth")["predicted"]:
        assert boxes[f"rated {rating:g}"][2] == pytest.approx(of_one.median())


def test_rules_lie_where_judged_rows_put_them() -> None:
    found = mlcli.eval("vote", "fp-growth", jobs=1)
    ((_, points),) = drawn(found).groups
    ((support, confidence),) = {(round(x, 9), round(y, 9)) for x, y in points[:1]}
    assert 0 < support <= confidence <= 1


def test_a_density_is_that_of_scipy_beside_its_highest() -> None:
    plane = findings_of("faithful", "-m", "gaussian")["Density by eruptions and waiting"]
    rows = pd.read_csv(shipped_paths()["faithful"])[["eruptions", "waiting"]]
    x, y = np.meshgrid(plane["x"], plane["y"])
    theirs = multivariate_normal(rows.mean(), np.cov(rows.T, bias=True)).pdf(np.dstack([x, y]))
    assert np.array(plane["answers"]) == pytest.approx(theirs / theirs.max(), abs=1e-6)
    assert len(plane["groups"][0][1]) == len(rows)


def test_projected_rows_are_shown_by_their_classes() -> None:
    found = findings_of("iris", "-m", "pca", "-p", "components=2")
    groups = found["Rows by component 1 and component 2"]["groups"]
    rows = pd.read_csv(shipped_paths()["iris"])
    theirs = np.abs(PCA(2).fit_transform(StandardScaler().fit_transform(rows.drop(columns="species"))))
    assert [name for name, _ in groups] == ["setosa", "versicolor", "virginica"]
    assert np.abs(np.concatenate([points for _, points in groups])) == pytest.approx(theirs, abs=1e-6)
