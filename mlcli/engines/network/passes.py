"""What passes through a network for one row: sums and answers forwards, error terms backwards, unit by unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array
from mlcli.engines.network.activations import Output
from mlcli.engines.network.network import Layer, Network

MOST_UNITS = 10
"""So many units of a layer are shown."""
MOST_WEIGHTS = 60
"""The weights of a network with more are not."""


def forward_sums(layers: Sequence[Layer], row: Array) -> list[tuple[Array, Array]]:
    """Of each layer the sums z = a W + b that come in and what it answers to them."""
    found, a = [], row[None, :]
    for layer in layers:
        z = a @ layer.weight + layer.bias
        a = layer.activation.apply(z.copy())
        found.append((z, a))
    return found


def error_terms(layers: Sequence[Layer], answers: Sequence[Array], output: Output, target: Array) -> list[Array]:
    """δ = ∂loss/∂z of each layer, were the target this one."""
    found = [output.errors(answers[-1].copy(), target[None, :])]
    for (before, layer), a in zip(reversed(list(pairwise(layers))), reversed(answers[:-1]), strict=True):
        found.append(before.activation.pull(found[-1] @ layer.weight.T, a.copy()))
    return found[::-1]


def passes(
    network: Network, row: Array, output: Output, targets: Mapping[str, Array], names: Sequence[Sequence[str]]
) -> findings.Table:
    """Forward pass, and for each target that may be the truth the backward pass.

    ``names`` are those of the columns, then of the units of each layer.
    """
    forward = forward_sums(network.layers, row)
    answers = [a for _, a in forward]
    errors = [error_terms(network.layers, answers, output, target) for target in targets.values()]
    columns, *units = names
    rows: list[tuple[findings.Entry, ...]] = [
        (name, None, value, *(None for _ in targets))
        for name, value in zip(columns[:MOST_UNITS], row.tolist(), strict=False)
    ]
    for place, ((z, a), layer) in enumerate(zip(forward, units, strict=True)):
        numbers = np.vstack([z, a, *(one[place] for one in errors)]).T.tolist()
        rows += [(name, *line) for name, line in zip(layer[:MOST_UNITS], numbers, strict=False)]
    header = ("unit", "sum z", "answer a", *(f"δ if {name}" for name in targets))
    note = "z: bias + weights × what comes in; a = f(z)"
    note += "; δ = ∂loss/∂z, by backpropagation: a weight steps against δ × the a that comes in" if targets else ""
    note += f"; the first {MOST_UNITS} of a layer" if max(map(len, names)) > MOST_UNITS else ""
    title = "Forward and backward pass" if targets else "Forward pass"
    return findings.Table(title, header, tuple(rows), note=note)


def weights_of(network: Network, names: Sequence[Sequence[str]]) -> findings.Explanation:
    """The weight of each connection and the bias of each unit, of a small network; ``names`` as of passes."""
    if len(network.parameters) > MOST_WEIGHTS:
        return ()
    rows = [
        (unit, source, float(value))
        for layer, (before, units) in zip(network.layers, pairwise(names), strict=True)
        for place, unit in enumerate(units)
        for source, value in (("bias", layer.bias[place]), *zip(before, layer.weight[:, place], strict=True))
    ]
    return (findings.Table("Weights", ("unit", "from", "weight"), tuple(rows)),)
