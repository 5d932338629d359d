"""Active learning: what is asked for follows the printed formulas, and judged rows are never asked about."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from mlcli.core.errors import MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import SplitInfo
from mlcli.core.serialise import rng_for
from mlcli.experiment.results import decoded, encoded
from mlcli.experiment.run.evaluation import evaluate
from mlcli.experiment.run.preparation import ReadyCell, prepare, splits_digest
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.protocols._base import Split
from mlcli.protocols.active_learning import UNSURE, ActiveLearning, most_informative
from mlcli.tasks.supervised import LabelAnswers
from tests.golden.shipped import in_numbers
from tests.support.shell import typed

CLASSES = np.repeat([0, 1, 2], [100, 40, 6]).astype(np.int32)


def splits(**params: Any) -> list[Split]:
    """The splits of 146 rows in three classes."""
    strata = SplitInfo(len(CLASSES), CLASSES)
    return list(ActiveLearning(**params).splits(strata, np.random.default_rng(1)))


def test_measures_of_three_rows_are_those_that_modal_documents() -> None:
    shares = np.array([[0.1, 0.85, 0.05], [0.6, 0.3, 0.1], [0.39, 0.61, 0.0]])
    assert UNSURE["least-confidence"](shares) == pytest.approx([0.15, 0.4, 0.39])
    assert -UNSURE["margin"](shares) == pytest.approx([0.75, 0.3, 0.22])
    assert UNSURE["entropy"](shares) == pytest.approx([0.5181862, 0.89794572, 0.66874809])
    first = {name: most_informative(measure(shares), 1).tolist() for name, measure in UNSURE.items()}
    assert first == {"least-confidence": [1], "margin": [2], "entropy": [1]}


def test_vote_entropy_is_that_of_the_notes() -> None:
    votes = np.array([[0, 1, 0], [1, 1, 2], [0, 1, 2], [1, 1, 1]])
    expected = [scipy_entropy(np.bincount(row, minlength=3) / 3) for row in votes]
    assert in_numbers("iris").disagreement(votes) == pytest.approx(expected)
    assert expected[:3] == pytest.approx([0.63651417, 0.63651417, 1.09861229])


def test_labelled_rows_pool_and_judged_rows_are_all_rows_and_none_is_two_of_them() -> None:
    for split in splits():
        parts = np.concatenate([split.train, split.hidden, split.test])
        assert np.array_equal(np.sort(parts), np.arange(len(CLASSES)))
        assert len(split.train) == 10
        assert set(CLASSES[split.train]) == {0, 1, 2}


def test_all_strategies_of_a_repeat_begin_alike_and_repeats_do_not() -> None:
    made = splits(strategies=("random", "margin"), repeats=2)
    for name in ("train", "hidden", "test"):
        assert np.array_equal(getattr(made[0], name), getattr(made[1], name))
        assert not np.array_equal(getattr(made[0], name), getattr(made[2], name))


def test_what_is_asked_is_in_the_key() -> None:
    assert splits_digest(splits(batch=5)) != splits_digest(splits(batch=10))


def test_a_budget_beyond_the_rows_is_told() -> None:
    with pytest.warns(MlcliWarning, match="the budget is 500 labels, but only"):
        splits(budget=500)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"strategies": []}, "strategies takes one strategy or more"),
        ({"strategies": ["margin", "margin"]}, "a strategy stands in strategies twice"),
        ({"start": 50, "budget": 50}, "leaves nothing to ask for"),
        ({"strategies": ["guess"]}, "strategies"),
    ],
)
def test_what_makes_no_sense_is_refused(params: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        build(PROTOCOLS.load("active-learning"), params)


def ready(**params: Any) -> ReadyCell:
    """Naive Bayes on iris."""
    protocol = ProtocolSpec("active-learning", {"repeats": 1, **params})
    model = ModelSpec("naive-bayes", {"zero_variance": "add"})
    cells = plan(Experiment((DataSpec("iris"),), (model,), protocol))
    return prepare(next(cell for cell in cells if cell.model.use == "naive-bayes"))


def results(made: ReadyCell) -> Any:
    """What came of all splits."""
    outcome = evaluate(made.block(0, len(made.splits)))
    assert outcome.failure is None
    return outcome.results


@pytest.mark.parametrize("strategy", ["random", "least-confidence", "margin", "entropy"])
def test_answers_after_each_batch_are_those_of_a_loop_with_scikit_learn(strategy: str) -> None:
    made = ready(strategies=[strategy], start=20, batch=4, budget=40)
    (split,), (result,) = made.splits, results(made)
    X, y = made.rows.table.numbers, made.rows.y
    known, pool = list(split.train), list(split.hidden)
    for at, answers in result.stages:
        peer = GaussianNB().fit(X[known], y[known])
        assert (at.value, at.line) == (len(known), strategy)
        assert answers.probabilities == pytest.approx(peer.predict_proba(X[split.test]), abs=1e-6)
        shares = np.sort(peer.predict_proba(X[pool]), axis=1)
        worth = {
            "random": np.zeros(len(pool)),
            "least-confidence": 1 - shares[:, -1],
            "margin": shares[:, -2] - shares[:, -1],
            "entropy": scipy_entropy(shares, axis=1),
        }[strategy]
        chosen = np.argsort(-np.round(worth, 12), kind="stable")[:4]
        known += [pool[place] for place in chosen]
        pool = [row for place, row in enumerate(pool) if place not in chosen]
    assert [at.value for at, _ in result.stages] == [20, 24, 28, 32, 36, 40]
    assert np.array_equal(result.answers["test"].predicted, result.stages[-1][1].predicted)


def test_a_committee_asks_where_its_members_disagree_and_does_so_again() -> None:
    made = ready(strategies=["committee"], start=10, batch=5, budget=20, members=3)
    first, again = (results(made)[0] for _ in range(2))
    pairs = zip(first.stages, again.stages, strict=True)
    assert all(np.array_equal(a.probabilities, b.probabilities) for (_, a), (_, b) in pairs)
    assert [at.value for at, _ in first.stages] == [10, 15, 20]


def test_a_committee_for_values_asks_where_least_squares_of_samples_lie_farthest_apart() -> None:
    protocol = ProtocolSpec("active-learning", {"repeats": 1, "start": 20, "batch": 5, "budget": 25, "members": 4})
    cells = plan(Experiment((DataSpec("concrete"),), (ModelSpec("linear-regression"),), protocol))
    made = prepare(next(cell for cell in cells if cell.model.use == "linear-regression"))
    assert [split.coordinate.line for split in made.splits if split.coordinate] == ["random", "committee"]
    split, found = made.splits[1], results(made)[1]
    learner: Any = made.learner
    X, y = made.rows.table.numbers, made.rows.y
    predicted = []
    for member in range(4):
        drawn = rng_for("committee", learner.content, learner.seed, f"1, 20 labels, member {member}").choice(
            split.train, 20
        )
        predicted.append(LinearRegression().fit(X[drawn], y[drawn]).predict(X[split.hidden]))
    chosen = split.hidden[np.argsort(-np.std(predicted, axis=0), kind="stable")[:5]]
    known = np.concatenate([split.train, chosen])
    peer = LinearRegression().fit(X[known], y[known]).predict(X[split.test])
    assert found.answers["test"].predicted == pytest.approx(peer, rel=1e-6)


def test_strategies_that_need_classes_are_refused_for_values() -> None:
    text = typed("eval", "concrete", "-m", "ridge", "--protocol", "{use: active-learning, strategies: [margin]}")
    assert "margin ranks rows by probabilities of classes" in text.output


def test_classes_that_are_never_asked_for_change_nothing() -> None:
    made = ready(strategies=["margin"], start=10, batch=5, budget=20)
    before = results(made)[0]
    y = made.rows.y.copy()
    y[made.splits[0].test] = 0
    after: Any = evaluate(replace(made.block(0, 1), rows=made.rows.with_target(y))).results[0]
    pairs = zip(before.stages, after.stages, strict=True)
    assert all(np.array_equal(a.probabilities, b.probabilities) for (_, a), (_, b) in pairs)


def test_what_was_judged_is_stored_with_its_line() -> None:
    found = results(ready(strategies=["margin"], start=10, batch=5, budget=20))
    (loaded,) = decoded(encoded(found), LabelAnswers)
    assert [at for at, _ in loaded.stages] == [at for at, _ in found[0].stages]
    assert loaded.coordinate == found[0].coordinate


def test_strategies_stand_beside_random_in_one_table(tmp_path: Path) -> None:
    spec = tmp_path / "active.yaml"
    spec.write_text(
        "data: [iris]\nmodels: [naive-bayes]\nmetrics: [accuracy]\n"
        "protocol: {use: active-learning, strategies: [random, margin], repeats: 2, budget: 30}\n"
    )
    store = str(tmp_path / "runs.db")
    text = typed("run", str(spec), "--store", store).stdout
    assert "naive-bayes: accuracy by labels spent" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["labels", "spent", "random", "margin"] in lines
    assert [line[0] for line in lines if line[:1] in (["10"], ["20"], ["30"])] == ["10", "20", "30"] * 2
    cells = json.loads(typed("run", str(spec), "--store", store, "--json").stdout)
    assert "labels spent" in json.dumps(cells)
