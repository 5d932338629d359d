"""What networks say of themselves: layers with their numbers of parameters, and how the loss fell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array

MOST_POINTS = 60
"""How many epochs of a curve are shown."""


def layers_of(
    columns: int, biases: Sequence[Array], activations: Sequence[str], shared: int = 0
) -> findings.Table:
    """Units, activation and parameters of each layer; ``shared`` weights are counted once."""
    before = columns
    rows: list[tuple[findings.Entry, ...]] = []
    for place, (bias, activation) in enumerate(zip(biases, activations, strict=True), 1):
        name = "output" if place == len(biases) else f"hidden {place}"
        rows.append((name, len(bias), activation, (before + 1) * len(bias)))
        before = len(bias)
    total = sum(int(row[3] or 0) for row in rows) - shared
    note = f"{total:,} adjustable parameters: a weight for each connection, a bias for each unit"
    note += f"; {shared:,} weights are shared" if shared else ""
    return findings.Table("Layers", ("layer", "units", "activation", "parameters"), tuple(rows), note=note)


def loss_curve(training: Array, validation: Array, epochs: int) -> findings.Curve:
    """The mean loss after some of the epochs, the last and the best included; so many were allowed."""
    made = len(training)
    shown = np.linspace(0, made - 1, min(MOST_POINTS, made)).round().astype(int)
    ended = f"it fell no more after {made} epochs" if made < epochs else "it may fall further with more epochs"
    series = [("training", training)]
    if len(validation):
        best = int(validation.argmin())
        shown = np.union1d(shown, best)
        series.append(("held aside", validation))
        ended = f"smallest for rows held aside after epoch {best + 1}, which is kept"
    lines = tuple((name, tuple(losses[shown].tolist())) for name, losses in series)
    points = tuple((1.0 + shown).tolist())
    return findings.Curve(
        "Loss by epoch", "epoch", points, lines, note=f"of rows while they are learned from; {ended}"
    )
