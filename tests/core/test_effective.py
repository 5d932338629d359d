"""Parameters that have no effect: they are warned of, and they change no seed and no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mlcli
from mlcli.core.errors import MlcliWarning, UsageError
from mlcli.core.nested import has_effect, noun_of, without_effect
from mlcli.core.params import Parameter, build, by_name, parameters
from mlcli.core.registry import MODELS, STEPS
from mlcli.tasks.table import kinds_of
from tests.contract.subjects import Subject, buildable, parts, said_by
from tests.contract.toys import REAL
from tests.support.shell import typed


def shell(*words: str) -> str:
    result = typed(*words)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("use", "task", "params", "parameter"),
    [
        ("naive-bayes", "classifier", {"m": 2.0}, "m"),
        ("naive-bayes", "classifier", {"smoothing": "none", "smooth_prior": True}, "smooth_prior"),
        ("knn", "classifier", {"gamma": 2.0}, "gamma"),
        ("svm", "classifier", {"kernel": "linear", "gamma": 2.0}, "gamma"),
        ("svm", "classifier", {"degree": 2}, "degree"),
        ("logistic-regression", "classifier", {"power": 2.0}, "power"),
        ("logistic-regression", "classifier", {"link": "normal", "multiclass": "one-against-rest"}, "multiclass"),
        ("decision-tree", "classifier", {"confidence": 0.1}, "confidence"),
        ("decision-tree", "regressor", {"criterion": "gini"}, "criterion"),
        ("gradient-boosting", "regressor", {"delta": 2.0}, "delta"),
        ("gradient-boosting", "classifier", {"loss": "huber"}, "loss"),
        ("newton-boosting", "regressor", {"validation": 0.2}, "validation"),
        ("mlp", "classifier", {"momentum": 0.5}, "momentum"),
        ("mlp", "regressor", {"loss": "cross-entropy"}, "loss"),
        ("linear-regression", "regressor", {"tolerance": 1e-3}, "tolerance"),
        ("random-forest", "regressor", {"combine": "votes"}, "combine"),
        ("bayes-net", "classifier", {"sweeps": 10}, "sweeps"),
        ("agglomerative", "", {"height": 1.0, "clusters": 4}, "clusters"),
        ("pca", "", {"components": 2, "share": 0.5}, "share"),
        ("mds", "", {"most_steps": 5}, "most_steps"),
        ("markov-chain", "", {"smoothing": "interpolation", "alpha": 1.0}, "alpha"),
        ("user-neighbours", "", {"centre": "mean", "l2": 1.0}, "l2"),
        ("prediction-error", "", {"marked": 0.2}, "marked"),
        ("fixed-radius", "", {"radius": 1.0, "share": 0.2}, "share"),
    ],
)
def test_a_parameter_without_effect_is_named(use: str, task: str, params: dict[str, Any], parameter: str) -> None:
    sentences = list(without_effect(build(MODELS.load(use), params), task))
    assert [sentence.split()[0] for sentence in sentences] == [parameter]


@pytest.mark.parametrize(
    ("use", "params"),
    [
        ("naive-bayes", {"smoothing": "m-estimate", "m": 2.0}),
        ("knn", {"weights": "gaussian", "gamma": 2.0}),
        ("svm", {"kernel": "polynomial", "gamma": 2.0, "degree": 2}),
        ("decision-tree", {"algorithm": "c45", "confidence": 0.1}),
        ("mlp", {"optimiser": "sgd", "momentum": 0.5}),
        ("mlp", {"loss": "cross-entropy", "output": "softmax"}),
        ("pca", {"share": 0.5}),
    ],
)
def test_a_parameter_with_an_effect_is_not_named(use: str, params: dict[str, Any]) -> None:
    assert not list(without_effect(build(MODELS.load(use), params), "classifier"))


def test_components_beside_a_share_in_the_step() -> None:
    step = build(STEPS.load("pca"), {"share": 0.9, "components": 3})
    (sentence,) = without_effect(step)
    assert sentence.startswith("components has no effect")
    assert "share is none" in sentence


def test_shell_eval_and_train_warn() -> None:
    sentence = "gamma has no effect: it matters where weights is gaussian or laplacian"
    words = ("iris", "-m", "knn", "-p", "gamma=2")
    assert f"knn: {sentence}" in shell("eval", *words)
    assert sentence in shell("train", *words)
    assert f"bagging: knn: {sentence}" in shell(
        "eval", "iris", "-m", "bagging", "-p", "bags=2", "-p", "base=knn", "-p", "base.gamma=2"
    )
    assert "has no effect" not in shell("eval", *words, "-p", "weights=gaussian")


def test_an_experiment_file_warns(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("data: [iris]\nmodels:\n  - {use: naive-bayes, params: {m: 3}}\n")
    output = shell("run", str(file), "--json", "--store", str(tmp_path / "runs.db"))
    assert "m has no effect: it matters where smoothing is m-estimate" in json.dumps(json.loads(output))


def test_python_and_scikit_learn_users_are_warned() -> None:
    from mlcli.sklearn import KnnClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    with pytest.warns(MlcliWarning, match="knn: gamma has no effect"):
        KnnClassifier(gamma=2.0).fit(X, y)


def test_tuning_what_has_no_effect_is_refused() -> None:
    frame = pd.DataFrame({"a": range(20), "y": ["yes", "no"] * 10})
    with pytest.raises(UsageError, match="'gamma' has no effect"):
        mlcli.eval(frame, {"use": "knn", "tune": {"gamma": [1, 2]}}, target="y")
    varied = {"use": "knn", "params": {"gamma": 2.0}, "tune": {"weights": ["uniform", "gaussian"]}}
    assert "no effect" not in str(mlcli.eval(frame, varied, target="y"))


def test_a_threshold_of_one_among_several_classes_is_named() -> None:
    output = shell("eval", "iris", "-m", "naive-bayes", "--decide", "f1")
    assert "by f1 one class has a threshold, here virginica, the last of 3" in output


def other_values(parameter: Parameter) -> list[Any]:
    """Legal values beside the default, where the declaration lists or bounds them."""
    value = parameter.default
    if parameter.choices is not None and not parameter.many:
        options = [*parameter.choices]
    elif isinstance(value, bool):
        options = [not value]
    else:
        options = [value * 2, value / 2] if isinstance(value, int | float) else [0.5, 2]
    return [one for one in options if one != value and parameter.problem_with(one) is None][:2]


def declared_without_effect() -> list[tuple[str, str, str]]:
    """Each method by kind with the parameters that, as declared, have no effect at its defaults."""
    return [
        (use, kind.name, parameter.name)
        for use in MODELS.names()
        for kind in kinds_of(MODELS.load(use))
        if kind.name in REAL and use != "tuned"
        for parameter in parameters(MODELS.load(use))
        if not has_effect(MODELS.load(use)(), parameter, noun_of(kind.base))
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("use", "kind", "name"), declared_without_effect())
def test_what_is_declared_to_have_no_effect_has_none(use: str, kind: str, name: str) -> None:
    usual = Subject(use, kind, piped=True)
    train, test = parts(usual, n=60)
    values = other_values(by_name(MODELS.load(use))[name])
    for value in (one for one in values if buildable(MODELS.load(use), {name: one})):
        other = Subject(use, kind, ((name, value),), piped=True)
        assert np.array_equal(said_by(other.answers(train, test)), said_by(usual.answers(train, test)))


def test_ties_go_to_the_nearest_in_the_closed_form_too(tmp_path: Path) -> None:
    spec = tmp_path / "ties.yaml"
    spec.write_text(
        "data: [iris]\nmodels: [{use: knn, params: {k: 2, tied_vote: nearest}}]\n"
        "protocol: leave-one-out\nmetrics: [accuracy]\n"
    )

    def scores(*words: str) -> Any:
        cells = json.loads(shell("run", str(spec), "--fresh", "--json", *words))["cells"]
        return next(cell["metrics"]["accuracy"]["mean"] for cell in cells if cell["model"] == "knn")

    assert scores() == scores("--no-shortcut")


def test_a_diagnosis_names_parameters_without_effect() -> None:
    shown = typed("audit", "iris", "-m", "knn", "-p", "gamma=2").stdout
    assert "gamma has no effect: it matters where weights is gaussian or laplacian" in " ".join(shown.split())


MLP = {"use": "mlp", "params": {"epochs": 3}}

TREE = {"use": "decision-tree", "params": {"prune": "reduced-error"}}

FOREST = {"use": "random-forest", "params": {"trees": 3}}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    label = np.where(X[:, 0] + rng.normal(size=60) > 0, "yes", "no")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "value": X @ [1, 2, 3], "label": label})


def predictions(table: pd.DataFrame, target: str, model: dict[str, Any], **params: Any) -> list[Any]:
    rows = table.drop(columns={"label": "value", "value": "label"}[target])
    entry = {**model, "params": {**model.get("params", {}), **params}}
    trained = mlcli.train(rows, entry, target=target)
    answers = trained.predict(rows.drop(columns=target), probabilities=target == "label")
    return answers.to_numpy().tolist()


@pytest.mark.parametrize(
    ("target", "model", "params"),
    [
        ("label", MLP, {"momentum": 0.5}),
        ("label", MLP, {"alpha": 2.0}),
        ("label", MLP, {"loss": "cross-entropy", "output": "softmax"}),
        ("value", MLP, {"loss": "squared-error", "output": "linear"}),
        ("value", MLP, {"loss": "cross-entropy"}),
        ("label", TREE, {"criterion": "gini", "confidence": 0.1}),
        ("value", TREE, {"criterion": "gini"}),
        ("label", FOREST, {"shuffle": True}),
        ("value", FOREST, {"combine": "votes"}),
        ("label", {"use": "bagging", "params": {"base": "decision-tree", "bags": 3}}, {"base.criterion": "gini"}),
        ("label", {"use": "newton-boosting", "params": {"features": 0.5}}, {"loss": "huber", "delta": 2.0}),
        ("label", {"use": "stacking", "params": {"models": ["knn", "lda"]}}, {"meta": "logistic-regression"}),
        ("value", {"use": "stacking", "params": {"models": ["knn", "ridge"]}}, {"meta": "ridge"}),
        ("label", {"use": "voting", "params": {"models": ["lda", MLP]}}, {"weights": [1, 1]}),
        ("label", {"use": "tuned", "params": {"base": "knn", "ranges": {"k": [1, 9]}}}, {"resource": "rows"}),
    ],
)
def test_what_has_no_effect_changes_no_answer(
    table: pd.DataFrame, target: str, model: dict[str, Any], params: dict[str, Any]
) -> None:
    assert predictions(table, target, model, **params) == predictions(table, target, model)


def test_what_has_an_effect_changes_answers(table: pd.DataFrame) -> None:
    sgd = {"optimiser": "sgd"}
    assert predictions(table, "label", MLP, **sgd, momentum=0.5) != predictions(table, "label", MLP, **sgd)


def test_members_of_no_committee_change_no_split(table: pd.DataFrame) -> None:
    rows = table.drop(columns="value")

    def scores(**params: Any) -> list[Any]:
        protocol = {"use": "active-learning", "repeats": 2, "budget": 30, **params}
        results = mlcli.eval(rows, "lda", target="label", protocol=protocol)
        return results.table.filter(like="accuracy").to_numpy().tolist()

    usual = str(scores())
    assert str(scores(members=9)) == usual
    assert str(scores(strategies=["random", "least-confidence", "margin", "entropy"])) == usual
