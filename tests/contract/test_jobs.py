"""Every method answers the same on one worker and on two, in one go and block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.nested import can_do
from mlcli.core.params import build
from mlcli.core.registry import MODELS
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import CellResult, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.tasks.table import KINDS, kind_named, kinds_of
from tests.contract.subjects import quick

pytestmark = pytest.mark.slow

DATA = {
    "association": "vote",
    "recommendation": "insteval_1200",
    "classification": "penguins",
    "regression": "cpu",
    "clustering": "iris",
    "density": "iris",
    "projection": "iris",
    "sequence-labelling": "cmudict_stress",
    "anomaly": "ionosphere",
    "ranking": "travelmode",
}
ROWS = 1500
"""Of long datasets so many are enough."""


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_answers_are_the_same_to_the_bit_with_one_and_two_workers(kind: str) -> None:
    able = [name for name in MODELS.names() if can_do_as_it_is(name, kind)]
    of_learned_rows = [name for name in able if getattr(MODELS.load(name), "transductive", False)]
    same_with_two(kind, [name for name in able if name not in of_learned_rows], "")
    if of_learned_rows:
        same_with_two(kind, of_learned_rows, "whole")


def can_do_as_it_is(name: str, kind: str) -> bool:
    """Whether a method does a kind of task at its defaults, with the model inside that it has by default."""
    cls: Any = MODELS.load(name)
    return kind_named(kind) in kinds_of(cls) and can_do(build(cls, {}), kind_named(kind).base)


def first_rows(kind: str) -> Dataset:
    """The dataset of a kind, cut where it is long."""
    whole = load(DATA[kind], task=kind)
    return replace(whole, table=whole.table.take(np.arange(min(ROWS, len(whole)))))


def same_with_two(kind: str, able: Sequence[str], protocol: str) -> None:
    """Some methods, run alone and with two workers."""
    experiment = Experiment(
        data=(DataSpec(DATA[kind], task=kind, source=first_rows(kind)),),
        models=tuple(ModelSpec(name, quick(name)) for name in able),
        protocol=ProtocolSpec(protocol, {"folds": 2} if kind_named(kind).target == "needed" else {}),
    )
    cells = plan(experiment)
    alone = run(cells, jobs=1)
    pooled = run(cells, jobs=2, patience=0.0)
    assert {result.status for result in alone} == {"done"}
    for one, two in zip(alone, pooled, strict=True):
        assert all(same(a, b) for a, b in zip(arrays(one), arrays(two), strict=True)), one.cell.label


def same(one: Any, two: Any) -> bool:
    """Equal to the bit; what is not a number in one is not in the other."""
    return np.array_equal(one, two, equal_nan=one.dtype.kind == "f")


def arrays(result: CellResult) -> Sequence[Any]:
    """Every array of every answer of a cell."""
    found = []
    for split in result.splits:
        for answers in split.answers.values():
            found += list(answers.arrays().values())
    return found
