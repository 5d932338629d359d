"""What networks say of themselves: layers with their numbers of parameters, and how the loss fell."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.core import findings
from mlcli.core.tables import Array


def layers_of(
    columns: int, biases: Sequence[Array], activations: Sequence[str], shared: int = 0
) -> findings.Table:
    """Units, activation and parameters of each layer; ``shared`` weights are counted once."""
    before = columns
    rows: list[tuple[findings.Cell, ...]] = []
    for place, (bias, activation) in enumerate(zip(biases, activations, strict=True), 1):
        name = "output" if place == len(biases) else f"hidden {place}"
        rows.append((name, len(bias), activation, (before + 1) * len(bias)))
        before = len(bias)
    total = sum(int(row[3] or 0) for row in rows) - shared
    note = f"{total:,} adjustable parameters: a weight for each connection, a bias for each unit"
    note += f"; {shared:,} weights are shared" if shared else ""
    return findings.Table("Layers", ("layer", "units", "activation", "parameters"), tuple(rows), note=note)


def loss_curve(training: Array, validation: Array | None = None, *, ended: str = "") -> findings.Curve:
    """The mean loss after each epoch."""
    series = [("training", tuple(training.tolist()))]
    if validation is not None and len(validation):
        series.append(("held aside", tuple(validation.tolist())))
        ended = f"smallest for rows held aside after epoch {1 + int(validation.argmin())}, which is kept"
    points = tuple(float(epoch) for epoch in range(1, len(training) + 1))
    note = "of rows while they are learned from" + (f"; {ended}" if ended else "")
    return findings.Curve("Loss by epoch", "epoch", points, tuple(series), note=note)
