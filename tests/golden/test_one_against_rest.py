"""One against the rest beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.multiclass import OneVsRestClassifier

from mlcli.core.params import build
from mlcli.models.ensembles.one_against_rest import OneAgainstRest
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers

LDA = {"use": "lda", "params": {"ddof": 0}, "steps": []}


@pytest.mark.parametrize("name", ["wine", "glass"])
def test_probabilities_are_those_of_scikit_learn(name: str) -> None:
    data = in_numbers(name)
    oracle = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(data.table.numbers, data.y)
    ours = answered(build(OneAgainstRest, {"base": LDA}), data)
    present = np.unique(data.y)
    assert ours.probabilities[:, present] == pytest.approx(oracle.predict_proba(data.table.numbers), abs=1e-9)


def test_each_class_has_a_problem() -> None:
    rows = fitted(build(OneAgainstRest, {"base": LDA}), in_numbers("iris")).explain()[0].rows
    assert rows[1] == (2, "versicolor", "setosa, virginica")


def test_a_row_is_explained_by_what_each_binary_classifier_says() -> None:
    """They make the answer: p_k / Σ p_j."""
    data = in_numbers("iris")
    model, row = fitted(build(OneAgainstRest, {"base": LDA}), data), data.table.take(np.array([70]))
    (found,) = model.explain_answer(row)
    oracle = LinearDiscriminantAnalysis().fit(data.table.numbers, data.y == 1)
    assert found.rows[1][:3] == (2, "versicolor", "setosa, virginica")
    said = [line[3] for line in found.rows]
    assert said[1] == pytest.approx(oracle.predict_proba(row.numbers)[0, 1])
    assert np.array(said) / sum(said) == pytest.approx(model.predict_proba(row)[0])
