"""Random subspaces: bagging of columns, with all rows in each bag."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.neighbors import KNeighborsClassifier

from mlcli.core.params import build
from mlcli.models.ensembles.random_subspaces import RandomSubspaces
from tests.golden.asking import asked, fitted
from tests.golden.shipped import standardised


def test_every_model_sees_all_rows_in_half_of_the_columns() -> None:
    data = standardised("wine")
    model = fitted(build(RandomSubspaces, {"bags": 6}), data)
    assert {len(member.columns_) for member in model.models_} == {round(0.5 * 13)}
    assert model.outside_ == 0
    assert [section.title for section in model.explain()] == ["Bagging"]


def test_it_is_right_as_often_as_that_of_scikit_learn() -> None:
    data = standardised("wdbc")
    part = np.random.default_rng(1).permutation(len(data)) % 3
    train, test = (data.take(np.flatnonzero(mask)) for mask in (part != 0, part == 0))
    theirs = BaggingClassifier(KNeighborsClassifier(5), 25, bootstrap=False, max_features=0.5, random_state=1)
    ours = asked(fitted(build(RandomSubspaces, {"base": "knn"}), train), test).predicted
    right = np.mean(theirs.fit(train.table.numbers, train.y).predict(test.table.numbers) == test.y)
    assert abs(np.mean(ours == test.y) - right) < 0.06
