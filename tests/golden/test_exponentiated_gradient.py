"""Exponentiated gradient beside fairlearn's on the same base, and its mixture beside SciPy's SLSQP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fairlearn.reductions import DemographicParity, EqualizedOdds
from fairlearn.reductions import ExponentiatedGradient as Theirs
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.engines.ensemble import outputs
from mlcli.models.wrappers.exponentiated_gradient import ExponentiatedGradient, best_mixture
from mlcli.tasks.supervised import CLASSIFICATION
from tests.golden.asking import fitted
from tests.golden.test_fair_thresholds import rows, selected_by_group


def answers(model: Any, data: Any) -> Any:
    return model.decide(model.predict_proba(data.table))


def member_answers(member: Any, data: Any) -> Any:
    return member.final.decide(outputs(member, data.table, CLASSIFICATION))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("criterion", ["demographic-parity", "equalised-odds"])
def test_the_training_rows_are_answered_as_fairly_and_as_well_as_by_fairlearn(criterion: str) -> None:
    data = rows(1500)
    group = data.table.codes[:, 0]
    model: Any = fitted(ExponentiatedGradient(criterion=criterion), data)
    constraint = {"demographic-parity": DemographicParity, "equalised-odds": EqualizedOdds}[criterion]
    theirs = Theirs(LogisticRegression(C=1.0), constraint(difference_bound=0.02), eps=0.02, max_iter=15)
    theirs.fit(data.table.numbers, data.y, sensitive_features=group)
    mixed = theirs._pmf_predict(data.table.numbers)[:, 1]
    error = float(np.where(data.y == 1, 1 - mixed, mixed).mean())
    ours = sum(
        share * float((member_answers(one, data) != data.y).mean())
        for share, one in zip(model.shares_, model.models_, strict=True)
    )
    assert ours == pytest.approx(error, abs=0.02)
    assert np.abs(model.breaches_[1]).max() < 0.021 < np.abs(model.breaches_[0]).max()


def test_what_is_drawn_keeps_the_constraint_on_new_rows() -> None:
    model: Any = fitted(ExponentiatedGradient(), rows(1500))
    new = rows(4000, seed=9)
    said = answers(model, new)
    assert abs(np.diff(selected_by_group(said, new))[0]) < 0.1
    assert (answers(model, new.take(np.arange(50, 90))) == said[50:90]).all()
    right = [float((member_answers(one, new) == new.y).mean()) for one in model.models_]
    assert (said == new.y).mean() == pytest.approx(model.shares_ @ right, abs=0.03)


def test_the_mixture_is_the_least_wrong_within_the_bound() -> None:
    rng = np.random.default_rng(4)
    wrong, broken = rng.uniform(0.1, 0.4, 6), rng.normal(0, 0.2, (6, 3))
    broken[0] = 0.0
    shares = best_mixture(wrong, broken, 0.05).shares
    found = minimize(
        lambda q: q @ wrong,
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "ineq", "fun": lambda q: 0.05 - np.abs(q @ broken)},
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert np.abs(shares @ broken).max() <= 0.05 + 1e-9
    assert shares @ wrong <= found.fun + 1e-6


def test_a_base_that_takes_no_weights_is_refused() -> None:
    with pytest.raises(UsageError, match="takes every row alike"):
        build(ExponentiatedGradient, {"base": "perceptron"})
