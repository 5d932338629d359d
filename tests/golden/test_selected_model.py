"""The best of several models beside scikit-learn's cross-validation of each on the same folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from mlcli.core.params import build
from mlcli.engines.content_seeds import order_of_content
from mlcli.models.wrappers.selected_model import SelectedModel
from tests.golden.asking import fitted
from tests.golden.shipped import in_numbers

MODELS = [
    {"use": "lda", "steps": []},
    {"use": "qda", "steps": []},
    {"use": "knn", "steps": [], "params": {"tied_vote": "class-order"}},
]
THEIRS = {
    "lda": LinearDiscriminantAnalysis(),
    "qda": QuadraticDiscriminantAnalysis(),
    "knn": KNeighborsClassifier(),
}


@pytest.mark.parametrize("name", ["wine", "iris"])
def test_scores_and_choice_are_those_of_scikit_learn(name: str) -> None:
    data, model = in_numbers(name), build(SelectedModel, {"models": MODELS})
    ordered = data.take(order_of_content(data))
    splits = model.inner_evaluation(ordered, np.random.default_rng(1).spawn(3)[0]).splits
    folds = [(split.train, split.test) for split in splits]
    theirs = {
        use: cross_val_score(one, ordered.table.numbers, ordered.y, cv=folds).mean() for use, one in THEIRS.items()
    }
    learned = fitted(model, data, 1)
    ours = {one["what"]: one["score"] for one in learned.trials_}
    assert ours == pytest.approx(theirs, abs=0.02)
    assert theirs[learned.name_] >= max(theirs.values()) - 0.02
    assert learned.model_.final.id == learned.name_
