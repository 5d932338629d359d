"""What passes through a network forwards and backwards: a published example, and derivatives by differences."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.engines.network.network import ACTIVATIONS, OUTPUTS, SIGMOID, Network
from mlcli.models.networks.mlp import error_terms, forward_sums, passes, weights_of

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
