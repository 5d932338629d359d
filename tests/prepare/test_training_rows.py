"""Steps that change the rows to learn from do so as they say, and never change rows that are asked about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_class_weight

from mlcli.core.errors import FitError, UsageError
from mlcli.core.params import build
from mlcli.core.pipeline import Pipeline, learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Accepts
from mlcli.models.baselines.zero_r import ZeroR
from mlcli.prepare.class_weights import ClassWeights
from mlcli.prepare.noise import Noise
from mlcli.prepare.sample_rows import SampleRows
from mlcli.prepare.smote import Smote
from mlcli.prepare.standardise import Standardise
from tests.support.rows import labelled, table_of, valued
from tests.support.samples import rows_of

ROW_STEPS = (ClassWeights(), Noise(), SampleRows(), SampleRows(balance="up"), SampleRows(balance="down"), Smote())


def rows(sizes: tuple[int, ...] = (30, 12, 5)) -> Any:
    """Three classes around places of their own, with a column of levels and a group."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    centre = rng.normal(0, 5, (len(sizes), 2))[y]
    X = centre + rng.normal(0, 1, centre.shape)
    table = table_of({"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "c": np.array(["u", "v", "w"])[y].tolist()})
    data = labelled(table, [f"k{k}" for k in y])
    return replace(data, groups=np.where(np.arange(len(y)) < 40, 0, 1).astype(np.int32))


def changed(step: Any, data: Any, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    step.learn(data, rng)
    return step.training_rows(data.transformed(step.apply), rng)


def counts(data: Any) -> list[int]:
    return [int(count) for count in np.bincount(data.y, minlength=len(data.classes))]


def probabilities(model: Any, data: Any) -> Any:
    answers: Any = predict_rows(model, data)
    return answers.probabilities


@pytest.mark.parametrize("step", ROW_STEPS, ids=lambda step: step.id)
def test_rows_that_are_asked_about_stay_and_leave_one_out_is_fitted(step: Any) -> None:
    data = rows()
    changed(step, data)
    assert step.apply(data.table) is data.table
    pipeline = Pipeline(steps=(step,), model=MODELS.load("knn")())
    assert pipeline.leave_one_out(data) is None


@pytest.mark.parametrize("step", ROW_STEPS, ids=lambda step: step.id)
def test_the_order_of_rows_does_not_matter(step: Any) -> None:
    data = rows()
    shuffled = data.take(np.random.default_rng(3).permutation(len(data)))
    model = Pipeline(steps=(step,), model=MODELS.load("lda")())
    said = []
    for one in (data, shuffled):
        learn(fresh := model.fresh(), one.with_table(one.table.select(["a", "b"])), np.random.default_rng(1))
        said.append(probabilities(fresh, data.with_table(data.table.select(["a", "b"]))))
    assert said[0] == pytest.approx(said[1], abs=1e-9)


def test_class_weights_are_those_of_scikit_learn() -> None:
    data = rows()
    expected = compute_class_weight("balanced", classes=np.arange(3), y=data.y)
    assert changed(ClassWeights(), data).weights == pytest.approx(expected[data.y], rel=1e-12)


def test_a_model_behind_class_weights_is_that_of_scikit_learn() -> None:
    data = rows((60, 9))
    data = data.with_table(data.table.select(["a", "b"]))
    final = build(MODELS.load("logistic-regression"), {})
    model = Pipeline(steps=(ClassWeights(),), model=final)
    learn(model, data, np.random.default_rng(1))
    l2 = final.l2
    theirs = LogisticRegression(C=1 / l2 if l2 else np.inf, class_weight="balanced", tol=1e-10, max_iter=10_000)
    theirs.fit(data.table.numbers, data.y)
    assert probabilities(model, data) == pytest.approx(theirs.predict_proba(data.table.numbers), abs=1e-5)


def test_weights_sum_up_alike_by_group_and_by_a_column() -> None:
    data = rows()
    for by, codes in (("group", data.groups), ("c", data.table.codes[:, 0])):
        weights = changed(ClassWeights(by=by), data).weights
        assert np.ptp(np.bincount(codes, weights)) < 1e-9
        assert weights.sum() == pytest.approx(47)


def test_what_cannot_be_balanced_is_told() -> None:
    data = rows()
    with pytest.raises(FitError, match="no column of levels 'cc'\n  did you mean 'c'"):
        changed(ClassWeights(by="cc"), data)
    with pytest.raises(FitError, match="no column has the role of group"):
        changed(SampleRows(balance="up", by="group"), replace(data, groups=None))
    with pytest.raises(FitError, match="has values, no classes"):
        changed(ClassWeights(), valued(data.table, data.y.tolist()))
    with pytest.raises(FitError, match="smote learns from classification, and this is regression"):
        changed(Smote(), valued(data.table, data.y.tolist()))
    with pytest.raises(UsageError, match="takes no 'columns'"):
        build(Smote, {"columns": ["a"]})


def test_a_model_that_takes_every_row_alike_is_refused() -> None:
    class TakesRowsAlike(ZeroR):
        accepts = Accepts(nominal=True)

    with pytest.raises(FitError, match="class-weights weighs rows, and zero-r takes every row alike"):
        learn(Pipeline(steps=(ClassWeights(),), model=TakesRowsAlike()), rows(), np.random.default_rng(1))


@pytest.mark.parametrize(("balance", "sizes"), [("up", [30, 30, 30]), ("down", [5, 5, 5])])
@pytest.mark.parametrize("replacement", [True, False])
def test_classes_are_drawn_until_they_are_balanced(balance: str, sizes: list[int], replacement: bool) -> None:
    drawn = changed(SampleRows(balance=balance, replacement=replacement), rows())
    assert counts(drawn) == sizes
    repeats = np.bincount(drawn.rows, minlength=47)
    if balance == "up":
        assert (repeats[:30] == 1).all()
        assert repeats.min() >= 1
        assert replacement or np.ptp(repeats[42:]) == 0
    else:
        assert repeats.max() == 1


def test_a_bootstrap_sample_holds_63_percent_of_the_rows() -> None:
    data = rows((3000,))
    shares = [len(set(changed(SampleRows(), data, seed).rows)) / 3000 for seed in range(5)]
    assert np.mean(shares) == pytest.approx(1 - np.exp(-1), abs=0.01)
    assert len(changed(SampleRows(share=0.5, replacement=False), data).rows) == 1500


def test_synthetic_rows_lie_between_near_rows_of_their_class() -> None:
    data = rows()
    grown = changed(Smote(k=3), data)
    assert counts(grown) == [30, 30, 30]
    assert np.array_equal(np.sort(grown.rows[:47]), np.arange(47))
    for k in (1, 2):
        own = data.table.numbers[data.y == k]
        new = grown.table.numbers[47:][grown.y[47:] == k]
        start, end = own[:, None, None], own[None, :, None]
        along = end - start
        length = (along**2).sum(axis=-1)
        share = ((new - start) * along).sum(axis=-1) / np.where(length > 0, length, 1.0)
        off = ((new - start - share.clip(0, 1)[..., None] * along) ** 2).sum(axis=-1)
        assert off.min(axis=(0, 1)).max() < 1e-18
    assert (grown.table.codes[:, 0] == grown.y).all()


def test_a_lonely_row_is_repeated_and_a_share_is_enough() -> None:
    grown = changed(Smote(share=0.5), rows((20, 1)))
    assert counts(grown) == [20, 10]
    assert np.ptp(grown.table.numbers[grown.y == 1], axis=0).max() == 0


def test_noise_is_as_large_as_it_says_and_in_the_chosen_columns() -> None:
    data = rows((4000, 4000))
    grown = changed(Noise(size=0.2, copies=2, columns=("b",)), data)
    assert len(grown) == 24_000
    order = grown.rows.reshape(3, -1)
    apart = grown.table.numbers - data.table.numbers[grown.rows]
    assert (apart[:8000] == 0).all()
    assert (apart[:, 0] == 0).all()
    assert apart[8000:, 1].std() == pytest.approx(0.2 * data.table.numbers[:, 1].std(), rel=0.05)
    assert (order == order[0]).all()
    assert len(changed(Noise(copies=0), data)) == 8000


def test_steps_before_it_have_learned_from_the_rows_as_they_were() -> None:
    data = rows()
    scaled = Standardise()
    model = MODELS.load("zero-r")()
    learn(Pipeline(steps=(scaled, SampleRows(balance="down")), model=model), data, np.random.default_rng(1))
    assert scaled.mean_ == pytest.approx(data.table.numbers.mean(axis=0))
    assert model.class_totals_.tolist() == [5, 5, 5]


def test_unsupervised_rows_are_refused() -> None:
    data: RowsOfTable = rows_of("clustering")
    with pytest.raises(FitError, match=r"sample-rows learns from .*, and this is clustering"):
        changed(SampleRows(), data)
