"""What the members of an ensemble say of one row, and what becomes of it together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.model import Model
from mlcli.core.names import counted
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import OutputsOf, outputs
from mlcli.tasks.classification import CLASSIFICATION
from mlcli.tasks.regression import REGRESSION

MOST_MEMBERS = 25
"""So many members are listed; all of them count."""
FIRST_TREES = 5
"""What so many trees say is shown one by one."""


def members_of(
    whole: Any, names: Sequence[str], table: Table, outputs_of: OutputsOf = outputs, weights: Array | None = None
) -> findings.Table:
    """A line for each of ``whole.models_``; with weights, below them what these make of it: the answer."""
    members: Sequence[Model] = whole.models_
    task, asked = (CLASSIFICATION, outputs_of) if whole.classes_ else (REGRESSION, outputs)
    said = np.array([asked(one, table, task)[0] for one in members])
    classes = tuple(f"p({name})" if outputs_of is outputs else name for name in whole.classes_ or ())
    answers = classes or (whole.target_,)
    rows: list[tuple[findings.Entry, ...]] = [
        (name, *line) for name, line in zip(names, said.tolist(), strict=True)
    ][:MOST_MEMBERS]
    note = f"the first {MOST_MEMBERS} of {len(members)}" if len(members) > MOST_MEMBERS else ""
    if weights is None:
        return findings.Table("Answers of the models", ("model", *answers), tuple(rows), note=note)
    counted = zip(rows, weights.tolist(), strict=False)
    lines = [(name, weight, *line) for (name, *line), weight in counted]
    lines.append(("weighted mean", float(weights.sum()), *np.average(said, axis=0, weights=weights).tolist()))
    return findings.Table("Answers of the models", ("model", "weight", *answers), tuple(lines), note=note)


def votes_of_trees(whole: Any, said: Array) -> findings.Explanation:
    """How many trees decide on each class, or how far their values spread; and what the first ones say."""
    if not whole.classes_:
        spread = ("mean", "standard deviation", "smallest", "median", "largest")
        row = tuple(float(of(said)) for of in (np.mean, np.std, np.min, np.median, np.max))
        first = tuple(enumerate(said[:FIRST_TREES, 0].tolist(), 1))
        votes = findings.Table(f"Values of {counted(len(said), 'tree')}", spread, (row,))
        return votes, findings.Table("First trees", ("tree", whole.target_), first)
    decided = whole.decide(said)
    totals = np.bincount(decided, minlength=len(whole.classes_)).tolist()
    rows = tuple(zip(whole.classes_, totals, said.mean(axis=0).tolist(), strict=True))
    votes = findings.Table(f"Votes of {counted(len(said), 'tree')}", ("class", "trees", "mean probability"), rows)
    lines = tuple(
        (number, whole.classes_[code], *line)
        for number, (code, line) in enumerate(zip(decided, said[:FIRST_TREES].tolist(), strict=False), 1)
    )
    header = ("tree", "decides on", *(f"p({name})" for name in whole.classes_))
    return votes, findings.Table("First trees", header, lines)


def scores_after_rounds(whole: Any, table: Table) -> findings.Table:
    """The score that boosting starts from, the sums after more and more rounds, and what they say."""
    at = sorted({0, *(2**power for power in range(whole.stages().bit_length())), whole.stages()})
    scores = np.vstack([score.copy() for score in whole.scores(table, at)])
    said = whole.outputs_from(scores) if whole.classes_ else np.empty((len(at), 0))
    header = ("rounds", *whole.score_names(), *(f"p({name})" for name in whole.classes_ or ()))
    lines = zip(at, np.hstack([scores, said]).tolist(), strict=True)
    return findings.Table("Score of the row", header, tuple((count, *line) for count, line in lines))


def numbered(models: Sequence[Model]) -> list[str]:
    """The ids of members with their numbers."""
    return [f"{number} {model.final.id}" for number, model in enumerate(models, 1)]
