"""Few labels: what the protocol hides reaches no model, and what is known is the same for every model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import SplitInfo
from mlcli.data.load import load
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.evaluation import evaluate
from mlcli.experiment.run.preparation import ReadyCell, prepare, train
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.protocols._base import Split
from mlcli.protocols.labelled_share import LabelledShare
from mlcli.scoring.model_results import score_result, series_of
from tests.experiment import toy
from tests.support.shell import typed

SHARES = (0.05, 0.1, 0.5, 1.0)
CLASSES = np.repeat([0, 1, 2], [100, 40, 6]).astype(np.int32)


def splits(shares: tuple[float, ...] = SHARES, groups: Any = None) -> list[Split]:
    """The splits of 146 rows in three classes."""
    protocol = LabelledShare(shares=shares)
    return list(protocol.splits(SplitInfo(len(CLASSES), CLASSES, groups), np.random.default_rng(1)))


def test_known_hidden_and_judged_rows_are_all_rows_and_none_is_two_of_them() -> None:
    for split in splits():
        parts = np.concatenate([split.train, split.hidden, split.test])
        assert np.array_equal(np.sort(parts), np.arange(len(CLASSES)))


def test_of_each_class_the_share_is_known_and_one_row_at_least() -> None:
    for place, split in enumerate(splits()):
        share = SHARES[place // 5]
        everyone = np.bincount(CLASSES[np.concatenate([split.train, split.hidden])], minlength=3)
        known = np.bincount(CLASSES[split.train], minlength=3)
        assert np.array_equal(known, np.maximum(1, np.floor(share * everyone + 0.5)))


def test_what_is_known_for_a_small_share_is_known_for_a_larger_one_and_judged_by_the_same_rows() -> None:
    made = splits()
    for smaller, larger in zip(made, made[5:], strict=False):
        assert set(smaller.train) <= set(larger.train)
        assert np.array_equal(smaller.test, larger.test)
    assert all(len(split.hidden) == 0 for split in made[-5:])


@pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")
def test_shares_that_label_the_same_rows_are_told() -> None:
    few, rng = np.repeat([0, 1], [15, 15]).astype(np.int32), np.random.default_rng(1)
    with pytest.warns(MlcliWarning, match="so few rows that 1 % and 2 % label the same ones") as told:
        LabelledShare(shares=(0.01, 0.02, 0.5)).splits(SplitInfo(30, few), rng)
    assert len(told) == 1


def test_groups_are_not_cut_between_learning_and_judging() -> None:
    groups = (np.arange(len(CLASSES)) // 3).astype(np.int32)
    with pytest.warns(MlcliWarning, match="some folds have none to test"):
        cut = splits(groups=groups)
    for split in cut:
        assert not set(groups[split.test]) & set(groups[np.concatenate([split.train, split.hidden])])


@pytest.mark.parametrize(("shares", "why"), [([], "one share or more"), ([0.5, 0.5], "twice"), ([0.0], "above 0")])
def test_shares_that_make_no_sense_are_refused(shares: list[float], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        build(PROTOCOLS.load("labelled-share"), {"shares": shares})


def ready(model: str) -> tuple[Cell, ReadyCell]:
    """A cell of iris with few labels."""
    protocol = ProtocolSpec("labelled-share", {"shares": [0.1], "folds": 3})
    cell = next(
        c for c in plan(Experiment((DataSpec("iris"),), (ModelSpec(model),), protocol)) if c.model.use == model
    )
    return cell, prepare(cell)


def learned(made: ReadyCell, rows: Any) -> list[Any]:
    """What was learned and answered in each split."""
    outcome = evaluate(replace(made.block(0, 3), rows=rows))
    assert outcome.failure is None
    return [split.answers["test"].arrays()["probabilities"] for split in outcome.results]


@pytest.mark.parametrize("model", ["self-training", "naive-bayes", "knn"])
def test_hidden_classes_reach_no_model(model: str) -> None:
    _, made = ready(model)
    split = made.splits[0]
    y = made.rows.y.copy()
    y[split.hidden] = (y[split.hidden] + 1) % 3
    before, after = learned(made, made.rows)[0], learned(made, replace(made.rows, y=y))[0]
    assert np.array_equal(before, after)


def test_hidden_rows_reach_only_models_that_accept_them() -> None:
    for model, same in (("naive-bayes", True), ("self-training", False)):
        _, made = ready(model)
        split = made.splits[0]
        visible = replace(split, hidden=np.empty(0, np.intp))
        block = made.block(0, 1)
        with_hidden, without = (evaluate(replace(block, splits=(one,))).results[0] for one in (split, visible))
        probabilities = [one.answers["test"].arrays()["probabilities"] for one in (with_hidden, without)]
        assert np.array_equal(probabilities[0], probabilities[1]) == same


def test_rows_without_a_class_in_the_file_are_learned_from_where_that_is_accepted(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    lines = [
        f"{kind * 4 + rng.normal():.3f},{('a', 'b')[kind] if place < 5 else ''}"
        for place in range(40)
        for kind in (0, 1)
    ]
    path = tmp_path / "few.csv"
    path.write_text("\n".join(["size,kind", *lines]) + "\n")
    dataset = load(str(path))
    plain, taught = (train(toy.cell(use, dataset)) for use in ("naive-bayes", "self-training"))
    assert len(plain.rows) == len(taught.rows) == 10
    bayes: Any = plain.pipeline.model
    assert bayes.class_totals_.sum() == 10
    model: Any = taught.pipeline.model
    assert model.moved_.sum() + model.left_ == 70
    assert model.base_.class_totals_.sum() == 10 + model.moved_.sum()


def test_scores_stand_by_share_with_the_rows_that_were_learned_from() -> None:
    models = (ModelSpec("naive-bayes"), ModelSpec("self-training"))
    protocol = ProtocolSpec("labelled-share", {"shares": [0.1, 1.0], "folds": 3})
    results = run(plan(Experiment((DataSpec("iris"),), models, protocol)), jobs=1)
    assert [result.status for result in results] == ["done"] * 3
    (series,) = series_of(score_result(results[1]))
    assert (series.over, series.splits) == ("labelled share", {0.1: [0, 1, 2], 1.0: [3, 4, 5]})
    learned_from = [split.train_rows for split in results[1].splits]
    assert max(learned_from[:3]) < min(learned_from[3:])


def test_the_table_by_share_is_printed(tmp_path: Path) -> None:
    spec = tmp_path / "few.yaml"
    spec.write_text(
        "data: [iris]\nmodels: [naive-bayes, self-training]\nmetrics: [accuracy]\n"
        "protocol: {use: labelled-share, folds: 3, shares: [0.1, 1.0]}\n"
    )
    text = typed("run", str(spec), "--store", str(tmp_path / "runs.db")).stdout
    assert "accuracy by labelled share" in text
    lines = [line.split() for line in text.splitlines()]
    assert [line[:2] for line in lines if line[:1] in (["0.1"], ["1"])] == [["0.1", "9"], ["1", "100"]]
    assert "varies between the splits" not in text
