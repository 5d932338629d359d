"""The multi-layer perceptron beside scikit-learn's, from equal weights, batches and optimisers; and the notes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neural_network import MLPClassifier, MLPRegressor

from mlcli.core.errors import MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.core.tables import Array
from mlcli.engines.network.network import ACTIVATIONS, OUTPUTS, Network
from mlcli.engines.network.training import Examples, Plan, Trainer
from mlcli.models.networks.mlp import MultiLayerPerceptron
from tests.golden.asking import answered, asked, fitted
from tests.golden.shipped import in_numbers, numeric, standardised, with_numbers
from tests.support.rows import labelled, valued

EPOCHS = 4
LAST = {
    "iris": ("softmax", "cross-entropy"),
    "wdbc": ("sigmoid", "cross-entropy"),
    "diabetes_progression": ("linear", "squared-error"),
}
"""What scikit-learn answers for three classes, for two, and for values."""
OF_SKLEARN = {"relu": "relu", "sigmoid": "logistic", "tanh": "tanh", "identity": "identity"}
OPTIMISERS: dict[str, dict[str, Any]] = {
    "adam": {"solver": "adam"},
    "sgd": {"solver": "sgd", "momentum": 0.8, "nesterovs_momentum": False},
}


def trained_by_sklearn(peer: Any, start: Network, X: Array, y: Any) -> Any:
    """The peer after some epochs in the order of the rows, from the weights of a network."""
    weights, biases = start.learned()
    layers = iter(zip(weights, biases, strict=True))
    peer._init_coef = lambda *_: tuple(part.copy() for part in next(layers))
    return peer.fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("activation", OF_SKLEARN)
@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("batch", [32, None, 1])
@pytest.mark.parametrize("dataset", ["iris", "wdbc", "diabetes_progression"])
def test_some_epochs_are_those_of_scikit_learn(
    activation: str, optimiser: str, batch: int | None, dataset: str
) -> None:
    data = standardised(dataset).take(slice(0, None, 2 if dataset == "iris" else 5))
    X, n = data.table.numbers, len(data)
    values = data.kind == "regression"
    Y = data.y[:, None] / 100 if values else np.eye(3)[data.y] if dataset == "iris" else data.y[:, None] * 1.0
    output = OUTPUTS[LAST[dataset]]
    network = Network((X.shape[1], 8, 5, Y.shape[1]), [ACTIVATIONS[activation](1.0)] * 2 + [output.activation])
    network.draw(np.random.default_rng(1))
    l2, size = 0.7, batch or n
    peer = (MLPRegressor if values else MLPClassifier)(
        hidden_layer_sizes=(8, 5),
        activation=OF_SKLEARN[activation],
        alpha=l2 * size / n,
        batch_size=size,
        learning_rate_init=0.003,
        max_iter=EPOCHS,
        shuffle=False,
        tol=0.0,
        n_iter_no_change=EPOCHS,
        **OPTIMISERS[optimiser],
    )
    theirs = trained_by_sklearn(peer, network, X[: n - n % size], (Y[:, 0] if values else data.y)[: n - n % size])
    plan = Plan(EPOCHS, batch, 0.003, optimiser, momentum=0.8, l2=l2 * (n - n % size) / n)
    trainer = Trainer(network, output, plan, np.random.default_rng(0))
    rows = np.arange(n - n % size)
    for _ in range(EPOCHS):
        trainer.epoch(Examples(X, Y).take(rows), order=np.arange(len(rows)))
    for layer, weight, bias in zip(network.layers, theirs.coefs_, theirs.intercepts_, strict=True):
        assert layer.weight == pytest.approx(weight, abs=1e-9)
        assert layer.bias == pytest.approx(bias, abs=1e-9)


def test_without_hidden_layers_and_a_sigmoid_it_is_logistic_regression() -> None:
    # S2: a single neuron with a sigmoid activation which minimises cross-entropy is logistic regression.
    data = standardised("wdbc")
    model = MultiLayerPerceptron(
        hidden=(), output="sigmoid", batch=None, learning_rate=0.05, epochs=3000, patience=None, l2=5.0
    )
    expected = LogisticRegression(C=0.2, tol=1e-10, max_iter=10_000).fit(data.table.numbers, data.y)
    assert answered(model, data).probabilities == pytest.approx(
        expected.predict_proba(data.table.numbers), abs=1e-6
    )


def test_two_units_of_softmax_are_one_of_a_sigmoid() -> None:
    # Both units move, each in its own direction: as far as one that steps twice as far.
    data = standardised("wdbc")
    common: dict[str, Any] = {"hidden": (), "optimiser": "sgd", "batch": 50, "epochs": 20, "l2": 0.0}
    rates = {"sigmoid": 0.02, "softmax": 0.01}
    one, two = (
        answered(MultiLayerPerceptron(output=name, learning_rate=rate, **common), data)
        for name, rate in rates.items()
    )
    assert two.probabilities == pytest.approx(one.probabilities, abs=1e-6)


def test_a_step_without_hidden_layers_is_the_perceptron() -> None:
    # S2 "Perceptron": online, θ ← θ + η y x for a row that is wrong; at last all are right that can be separated.
    data = standardised("iris")
    data = data.take(np.flatnonzero(data.y < 2))
    data = labelled(data.table, [("no", "yes")[code] for code in data.y])
    model = MultiLayerPerceptron(
        hidden=(), output="step", batch=1, optimiser="sgd", momentum=0.0, learning_rate=1.0, l2=0.0, epochs=30
    )
    answers = answered(model, data)
    theirs = Perceptron(shuffle=False, tol=None, max_iter=30).fit(data.table.numbers, data.y)
    assert np.array_equal(answers.predicted, theirs.predict(data.table.numbers))
    assert (answers.predicted == data.y).all()
    assert set(answers.probabilities.ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("output", ["softmax", "sigmoid", "linear", "tanh"])
@pytest.mark.parametrize("labels", [["no", "yes", "yes", "no"], ["a", "b", "c", "a"]])
def test_exclusive_or_needs_a_hidden_layer(output: str, labels: list[str]) -> None:
    # S1 and S2: no line separates these rows.
    data = labelled(numeric(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])), labels)
    model = MultiLayerPerceptron(
        hidden=(8,), activation=("tanh",), output=output, learning_rate=0.05, epochs=300, l2=0.0, patience=None
    )
    assert (answered(model, data).predicted == data.y).all()


@pytest.mark.parametrize("output", ["linear", "sigmoid", "tanh"])
def test_a_curve_is_learned_in_its_own_unit(output: str) -> None:
    x = np.linspace(-2, 2, 80)
    data = valued(numeric(x[:, None]), list(1e6 + 3e4 * np.sin(2 * x)))
    model = MultiLayerPerceptron(
        hidden=(20, 20), activation=("tanh",), output=output, learning_rate=0.01, epochs=400, l2=0.0, patience=None
    )
    answers = answered(model, data)
    assert np.abs(answers.predicted - answers.truth).max() < 3e3


def test_activations_are_named_for_all_layers_or_for_each() -> None:
    model = build(MultiLayerPerceptron, {"hidden": [4, 3], "activation": ["tanh", "softplus"]})
    fitted(model, standardised("iris"))
    layers, *_ = model.explain()
    assert [row[2] for row in layers.rows] == ["tanh", "softplus", "softmax"]
    assert [row[3] for row in layers.rows] == [5 * 4, 5 * 3, 4 * 3]
    assert layers.note.startswith("47 adjustable parameters")
    with pytest.raises(UsageError, match="3 for 2 hidden layers"):
        build(MultiLayerPerceptron, {"hidden": [4, 3], "activation": ["tanh", "relu", "relu"]})
    with pytest.raises(UsageError, match="cross-entropy needs probabilities"):
        build(MultiLayerPerceptron, {"output": "tanh", "loss": "cross-entropy"})
    with pytest.raises(UsageError, match="hidden is empty"):
        build(MultiLayerPerceptron, {"hidden": [], "pretrain": "masked"})


def test_what_answers_no_value_is_said_to_be_replaced() -> None:
    data = standardised("diabetes_progression").take(slice(0, 60))
    with pytest.warns(MlcliWarning, match="softmax is of classes, but .* the output is linear"):
        fitted(MultiLayerPerceptron(output="softmax", epochs=2), data)


@pytest.mark.parametrize("pretrain", ["masked", "denoising"])
def test_pretraining_on_rows_without_a_class_helps_where_few_have_one(pretrain: str) -> None:
    # S2 "Unsupervised Pre-training": reusable parameters from a task without labels, then fine-tuning.
    data = in_numbers("digits")
    data = with_numbers(data, (data.table.numbers - 8) / 6)
    scores = {None: 0.0, pretrain: 0.0}
    for seed in range(3):
        mixed = np.random.default_rng(seed).permutation(len(data))
        few, many, test = mixed[:20], mixed[20:700], data.take(mixed[900:])
        rows = data.hiding(few, many)
        for how in scores:
            model = MultiLayerPerceptron(hidden=(64,), pretrain=how, epochs=60)
            scores[how] += float((asked(fitted(model, rows, seed), test).predicted == test.y).mean()) / 3
    assert scores[pretrain] > scores[None]
