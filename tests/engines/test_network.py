"""Networks: passes and derivatives beside finite differences and a published example, and when training ends."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.core.tables import Array
from mlcli.engines.network.network import ACTIVATIONS, IDENTITY, OUTPUTS, SIGMOID, Network, Output, check_layers
from mlcli.engines.network.training import (
    KNOWN_CELLS,
    Examples,
    History,
    Plan,
    Trainer,
    denoising,
    epochs_kept,
    masked,
    train,
)
from mlcli.models.networks.mlp import error_terms, forward_sums, passes, weights_of

SMOOTH = [name for name in OUTPUTS if name[0] != "step"]
PLAIN = Plan(epochs=1, batch=None, optimiser="sgd", learning_rate=0.5)


def network_for(activation: str, output: Output, seed: int = 0, outputs: int = 3) -> Network:
    """Two hidden layers with biases that are not 0."""
    made = [ACTIVATIONS[activation](1.7)] * 2
    network = Network((4, 6, 5, outputs), [*made, output.activation])
    network.draw(np.random.default_rng(seed))
    network.parameters[network.weight_count :] = np.random.default_rng(seed + 1).normal(0, 0.3, 14)
    return network


def targets_for(name: str, rows: int) -> Array:
    """A class for each row, on in one unit of three."""
    on = np.eye(3)[np.random.default_rng(3).integers(0, 3, rows)]
    return 2 * on - 1 if name == "tanh" else on


def by_finite_differences(network: Network, output: Output, X: Array, Y: Array) -> Array:
    """(E(θ + h) − E(θ − h)) / 2h for every parameter, E being the mean loss."""
    found, h = np.empty_like(network.parameters), 1e-6

    def loss() -> float:
        return float(output.losses(network.forward(X).copy(), Y).mean())

    for place in range(len(found)):
        before = network.parameters[place]
        network.parameters[place] = before + h
        above = loss()
        network.parameters[place] = before - h
        found[place] = (above - loss()) / (2 * h)
        network.parameters[place] = before
    return found


@pytest.mark.parametrize(("activation", "name"), list(itertools.product(ACTIVATIONS, SMOOTH)), ids=str)
def test_backpropagation_gives_the_slopes_of_finite_differences(activation: str, name: tuple[str, str]) -> None:
    output, X = OUTPUTS[name], np.random.default_rng(5).normal(size=(7, 4))
    network, Y = network_for(activation, output), targets_for(name[0], 7)
    network.backward(output.errors(network.forward(X), Y) / len(X))
    expected = by_finite_differences(network, output, X, Y)
    assert network.slopes == pytest.approx(expected, abs=1e-8, rel=1e-6)


def test_cells_that_are_not_asked_for_have_no_part_in_the_slopes() -> None:
    examples = masked(np.random.default_rng(1).normal(size=(6, 3)), 0.4, np.random.default_rng(2))
    network = Network((3, 5, 3), [ACTIVATIONS["tanh"](1.0), IDENTITY])
    network.draw(np.random.default_rng(0))
    network.backward(KNOWN_CELLS.errors(network.forward(examples.X), examples.Y) / 6)
    expected = by_finite_differences(network, KNOWN_CELLS, examples.X, examples.Y)
    assert network.slopes == pytest.approx(expected, abs=1e-9)
    hidden = examples.X == 0
    assert np.array_equal(hidden, ~np.isnan(examples.Y))


def test_noise_is_added_to_rows_that_are_to_be_given_back_without_it() -> None:
    X = np.zeros((20_000, 2))
    examples = denoising(X, 0.25, np.random.default_rng(0))
    assert examples.Y is X
    assert examples.X.std() == pytest.approx(0.25, abs=0.005)


def test_dropped_units_have_no_part_in_answers_and_slopes() -> None:
    output = OUTPUTS["linear", "squared-error"]
    activations = [ACTIVATIONS["tanh"](1.0)] * 2 + [IDENTITY]
    network, smaller = Network((4, 6, 5, 3), activations), Network((4, 5, 5, 3), activations)
    network.draw(np.random.default_rng(4))
    first, second, third = network.layers
    for layer, weight in zip(smaller.layers, (first.weight[:, 1:], second.weight[1:], third.weight), strict=True):
        layer.weight[:] = weight
    X, Y = np.random.default_rng(5).normal(size=(7, 4)), targets_for("linear", 7)
    dropped = [np.ones((7, 6)), np.ones((7, 5))]
    dropped[0][:, 0] = 0.0
    answers = network.forward(X, dropped)
    assert answers == pytest.approx(smaller.forward(X), abs=1e-14)
    network.backward(output.errors(answers.copy(), Y), dropped)
    smaller.backward(output.errors(smaller.forward(X), Y))
    assert first.weight_slope[:, 1:] == pytest.approx(smaller.layers[0].weight_slope, abs=1e-12)
    assert not first.weight_slope[:, 0].any()


def test_one_step_of_the_notes_by_hand() -> None:
    # S2 "Back Propagation" with decision 27: sigmoid units, E = ½(y − a)²; δ_i = (y − a_i) g'(z_i) at the output,
    # δ_j = δ_i θ_ij g'(z_j) before it, Δθ = η δ a; all weights move at once.
    x, y, rate = (1.0, 0.5), 1.0, 0.5
    hidden, out = ((0.4, -0.2, 0.1), (0.3, 0.6, -0.5)), (0.7, -0.9, 0.2)  # two weights and a bias of each unit

    def g(z: float) -> float:
        return 1 / (1 + math.exp(-z))

    h = [g(unit[0] * x[0] + unit[1] * x[1] + unit[2]) for unit in hidden]
    a = g(out[0] * h[0] + out[1] * h[1] + out[2])
    delta = (y - a) * a * (1 - a)
    before = [delta * out[j] * h[j] * (1 - h[j]) for j in range(2)]
    network = Network((2, 2, 1), [SIGMOID, SIGMOID])
    first, last = network.layers
    first.weight[:], first.bias[:] = np.array(hidden)[:, :2].T, np.array(hidden)[:, 2]
    last.weight[:], last.bias[:] = np.array(out)[:2, None], out[2]
    Trainer(network, OUTPUTS["sigmoid", "squared-error"], PLAIN, np.random.default_rng(0)).epoch(
        Examples(np.array([x]), np.array([[y]]))
    )
    moved = [[hidden[j][i] + rate * before[j] * x[i] for j in range(2)] for i in range(2)]
    assert first.weight == pytest.approx(np.array(moved), abs=1e-15)
    assert first.bias == pytest.approx([hidden[j][2] + rate * before[j] for j in range(2)], abs=1e-15)
    assert last.weight[:, 0] == pytest.approx([out[j] + rate * delta * h[j] for j in range(2)], abs=1e-15)
    assert last.bias[0] == pytest.approx(out[2] + rate * delta, abs=1e-15)


@pytest.mark.parametrize("name", [*ACTIVATIONS, *OUTPUTS], ids=str)
def test_sums_of_any_size_have_an_answer_and_a_slope(name: str | tuple[str, str]) -> None:
    activation = ACTIVATIONS[name](0.5) if isinstance(name, str) else OUTPUTS[name].activation
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        a = activation.apply(np.array([[-1e4, -30.0, 0.0, 30.0, 1e4]]))
        back = activation.pull(np.ones_like(a), a)
    assert np.isfinite(a).all()
    assert np.isfinite(back).all()


def test_weights_count_as_repeats_in_slopes_and_losses() -> None:
    output, times = OUTPUTS["softmax", "cross-entropy"], np.array([1, 2, 3, 1, 2])
    X, Y = np.random.default_rng(0).normal(size=(5, 4)), targets_for("softmax", 5)
    plain, weighted = network_for("tanh", output), network_for("tanh", output)
    rng = np.random.default_rng(0)
    one = Trainer(plain, output, PLAIN, rng).epoch(Examples(X.repeat(times, axis=0), Y.repeat(times, axis=0)))
    other = Trainer(weighted, output, PLAIN, rng).epoch(Examples(X, Y, times / times.mean()))
    assert weighted.parameters == pytest.approx(plain.parameters, abs=1e-14)
    assert other == pytest.approx(one, rel=1e-12)


def test_with_rows_held_aside_the_best_epoch_is_kept_and_patience_ends_training() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 4)), np.eye(3)[rng.integers(0, 3, 30)]
    output = OUTPUTS["softmax", "cross-entropy"]
    network = network_for("relu", output)
    plan = Plan(epochs=200, batch=5, learning_rate=0.02, patience=6)
    aside = Examples(X[20:], Y[20:])
    history = train(network, output, Examples(X[:20], Y[:20]), aside, plan, rng)
    best = int(np.argmin(history.validation))
    assert len(history.validation) == best + 1 + 6 < 200
    assert np.array_equal(network.parameters, history.parameters_after(len(history.validation)))
    assert aside.mean_of(output.losses(network.answers(aside.X), aside.Y)) == history.validation[best]


def test_of_large_networks_some_epochs_are_kept_and_others_refused_by_name() -> None:
    assert epochs_kept(20, 100) == frozenset(range(1, 21))
    few = epochs_kept(120, 1_000_000)
    assert {1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100} <= few
    assert 4 not in few
    history = History([1.0] * 5, [], {1: np.ones(1), 5: np.ones(1)})
    with pytest.raises(FitError, match="only 1, 5"):
        history.parameters_after(4)


def test_a_loss_that_is_no_number_ends_training_with_advice() -> None:
    output = OUTPUTS["linear", "squared-error"]
    network, X = network_for("relu", output), 1e3 * np.random.default_rng(0).normal(size=(20, 4))
    plan = Plan(epochs=50, batch=2, optimiser="sgd", learning_rate=10.0)
    with pytest.raises(FitError, match="smaller learning_rate"), np.errstate(all="ignore"):
        train(network, output, Examples(X, X[:, :3]), None, plan, np.random.default_rng(0))


def test_layers_of_other_widths_are_refused() -> None:
    weights, biases = network_for("relu", OUTPUTS["linear", "squared-error"]).learned()
    check_layers(weights, biases, (4, 6, 5, 3))
    with pytest.raises(ValueError, match="weights"):
        check_layers(weights, biases, (4, 6, 6, 3))
    with pytest.raises(ValueError, match="biases"):
        check_layers(weights, biases[::-1], (4, 6, 5, 3))


NAMES = [["i1", "i2"], ["h1", "h2"], ["o1", "o2"]]


def by_hand() -> Network:
    """Mazur 2015, A step by step backpropagation example: two sigmoid units in each of two layers."""
    weights = np.array([[0.15, 0.25], [0.20, 0.30]]), np.array([[0.40, 0.50], [0.45, 0.55]])
    return Network.of(weights, (np.full(2, 0.35), np.full(2, 0.60)), [SIGMOID, SIGMOID])


def test_a_published_example() -> None:
    row, target, output = np.array([0.05, 0.10]), np.array([0.01, 0.99]), OUTPUTS["sigmoid", "squared-error"]
    table = passes(by_hand(), row, output, {"known": target}, NAMES)
    assert table.header == ("unit", "sum z", "answer a", "δ if known")
    assert table.rows[:2] == (("i1", None, 0.05, None), ("i2", None, 0.10, None))
    names, sums, answers, errors = zip(*table.rows[2:], strict=True)
    assert names == ("h1", "h2", "o1", "o2")
    assert sums[0] == pytest.approx(0.3775)
    assert sums[2] == pytest.approx(1.105905967, abs=5e-10)
    assert answers == pytest.approx((0.593269992, 0.596884378, 0.751365070, 0.772928465), abs=5e-10)
    # His δ of the first output, and ∂E/∂w1 = 0.000438568 and ∂E/∂w5 = 0.082167041 as δ × what comes in.
    assert errors[2] == pytest.approx(0.138498562, abs=5e-10)
    assert errors[2] * answers[0] == pytest.approx(0.082167041, abs=5e-10)
    assert errors[0] * 0.05 == pytest.approx(0.000438568, abs=5e-10)


@pytest.mark.parametrize("last", [one for one in OUTPUTS if one[0] != "step"])
@pytest.mark.parametrize("hidden", ["sigmoid", "tanh", "softplus"])
def test_error_terms_are_derivatives_of_the_loss(last: tuple[str, str], hidden: str) -> None:
    rng, output = np.random.default_rng(0), OUTPUTS[last]
    network = Network((3, 4, 2), [ACTIVATIONS[hidden](1.0), output.activation])
    network.parameters[:] = rng.normal(size=len(network.parameters))
    row, target = rng.normal(size=3), np.array([1.0, 0.0])

    def loss() -> float:
        (_, answers) = forward_sums(network.layers, row)[-1]
        return float(output.losses(answers, target[None, :])[0])

    answers = [a for _, a in forward_sums(network.layers, row)]
    for layer, errors in zip(network.layers, error_terms(network.layers, answers, output, target), strict=True):
        for unit in range(len(layer.bias)):
            around = []
            for step in (1e-5, -2e-5):
                layer.bias[unit] += step
                around.append(loss())
            layer.bias[unit] += 1e-5
            assert errors[0, unit] == pytest.approx((around[0] - around[1]) / 2e-5, abs=1e-8)


def test_weights_are_shown_of_small_networks_only() -> None:
    (table,) = weights_of(by_hand(), NAMES)
    assert table.rows[:3] == (("h1", "bias", 0.35), ("h1", "i1", 0.15), ("h1", "i2", 0.20))  # type: ignore[attr-defined]
    wide = Network((2, 100, 1), [SIGMOID, SIGMOID])
    assert weights_of(wide, [["a", "b"], [str(unit) for unit in range(100)], ["y"]]) == ()
