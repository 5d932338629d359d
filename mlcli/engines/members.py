"""What the members of an ensemble say of one row, and what becomes of it together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.model import Model
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import OutputsOf, outputs
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor

MOST_MEMBERS = 25
"""So many members are listed; all of them count."""


def members_of(
    whole: Any, names: Sequence[str], table: Table, outputs_of: OutputsOf = outputs, weights: Array | None = None
) -> findings.Table:
    """A line for each of ``whole.models_``; with weights, below them what these make of it: the answer."""
    members: Sequence[Model] = whole.models_
    base, asked = (Classifier, outputs_of) if whole.classes_ else (Regressor, outputs)
    said = np.array([asked(one, table, base)[0] for one in members])
    classes = tuple(f"p({name})" if outputs_of is outputs else name for name in whole.classes_ or ())
    answers = classes or (whole.target_,)
    rows: list[tuple[findings.Entry, ...]] = [
        (name, *line) for name, line in zip(names, said.tolist(), strict=True)
    ]
    note = f"the first {MOST_MEMBERS} of {len(members)}" if len(members) > MOST_MEMBERS else ""
    if weights is None:
        return findings.Table("Answers of the models", ("model", *answers), tuple(rows), note=note)
    counted = zip(rows, weights.tolist(), strict=False)
    lines = [(name, weight, *line) for (name, *line), weight in counted]
    lines.append(("weighted mean", float(weights.sum()), *np.average(said, axis=0, weights=weights).tolist()))
    return findings.Table("Answers of the models", ("model", "weight", *answers), tuple(lines), note=note)


def numbered(models: Sequence[Model]) -> list[str]:
    """The ids of members with their numbers."""
    return [f"{number} {model.final.id}" for number, model in enumerate(models, 1)]
