"""Discretise cuts as scikit-learn's KBinsDiscretizer does, and names the bins."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import KBinsDiscretizer

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.prepare.discretise import Discretise
from tests.prepare.preparing import fitted, prepared
from tests.support.rows import table_of

X = load_breast_cancer().data
THEIRS = {"equal-width": "uniform", "equal-frequency": "quantile", "k-means": "kmeans"}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("by", THEIRS)
def test_bins_are_those_of_scikit_learn(by: str) -> None:
    table = table_of({f"x{j}": X[:, j].tolist() for j in range(6)})
    theirs = KBinsDiscretizer(
        5, encode="ordinal", strategy=THEIRS[by], subsample=None, quantile_method="averaged_inverted_cdf"
    )
    expected = theirs.fit_transform(X[:, :6])
    # Its k-means stops before centres are still: a few rows in a thousand lie on the other side.
    assert np.mean(prepared(Discretise(by=by), table).codes != expected) <= (0.01 if by == "k-means" else 0)


def test_boundaries_with_labels() -> None:
    step = Discretise(by="boundaries", boundaries=(2.0, 5.0), labels=("low", "medium", "high"))
    changed = prepared(step, table_of({"x": [1.0, 2.0, 4.9, 5.0, None]}))
    assert changed.codes.ravel().tolist() == [0, 1, 1, 2, -1]
    assert changed.columns[0].levels == ("low", "medium", "high")
    assert changed.columns[0].kind == "ordinal"


@pytest.mark.parametrize("by", [*THEIRS, "boundaries"])
def test_numbers_drawn_from_bins_fall_into_them_again(by: str) -> None:
    cells = [float(x) for x in X[:, 0]]
    table = table_of({"x": cells, "level": ["a", "b"] * 284 + ["a"]})
    step = fitted(Discretise(by=by, boundaries=(-9.0, 12.0, 15.0) if by == "boundaries" else None), table)
    binned = step.transform(table)
    drawn = step.inverse(binned, np.random.default_rng(0))
    assert drawn.columns == table.columns
    assert (step.transform(drawn).codes == binned.codes).all()
    assert (drawn.codes == table.codes).all()
    assert min(cells) <= drawn.numbers.min()
    assert drawn.numbers.max() <= max(cells)
    inside = drawn.numbers[binned.cells("x") == 1, 0]
    # Evenly: as many below the middle of the bin as above it.
    assert np.mean(inside < np.clip(step.cuts_[0, :2], min(cells), max(cells)).mean()) == pytest.approx(
        0.5, abs=0.12
    )


def test_boundaries_are_learned_from_training_rows_alone() -> None:
    step = fitted(Discretise(by="equal-width", bins=2), table_of({"x": [0.0, 10.0]}))
    assert step.apply(table_of({"x": [-100.0, 4.0, 6.0, 100.0]})).codes.ravel().tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"by": "boundaries"}, "must be given together"),
        ({"boundaries": [1.0]}, "must be given together"),
        ({"by": "boundaries", "boundaries": [2.0, 1.0]}, "must ascend"),
        ({"labels": ["a", "b"]}, "5 bins need as many different labels"),
    ],
)
def test_what_does_not_fit_together_is_refused(params: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        build(Discretise, params)
