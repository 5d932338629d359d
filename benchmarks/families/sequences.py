"""Taggers beside crfsuite, on all words of `cmudict_stress`: the same features, penalty and objective, by L-BFGS.

Every pair of feature and tag has a weight on both sides; rules of stopping are those that leave both objectives
less than a hundred-thousandth above their minimum. Ours includes making the features, theirs does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pycrfsuite

from benchmarks.kinds import HEADER, LEGEND, Comparison, ours
from benchmarks.timing import markdown
from mlcli.data.load import load
from mlcli.engines.sequence_features import FeatureMap
from mlcli.tasks.sequence_labelling import TaggedRows, lengths

NARROWS_TO = ("crf",)
CHOICES: dict[str, tuple[str, ...]] = {
    "window 1": ("word@-1", "word", "word@1"),
    "window 3": tuple(f"word@{offset}" for offset in range(-3, 4)),
}
L2 = 1.0


def table(only: Collection[str] = ()) -> str:
    """A row for each choice of templates."""
    return f"{LEGEND}\n\n{markdown(HEADER, [one.row() for one in comparisons()])}"


def comparisons() -> Iterator[Comparison]:
    """Training on both sides."""
    dataset = load("cmudict_stress")
    data = TaggedRows.from_table(dataset.table, dataset.schema)
    for name, templates in CHOICES.items():
        mine = partial(ours, "crf", {"templates": templates, "l2": L2}, data)
        width = len(FeatureMap.of(data.table.columns, templates).names)
        shape = np.empty((len(data), width))
        yield Comparison(
            "crf", name, shape, mine, partial(trained, trainer_of(data, templates)), "crfsuite, L-BFGS"
        )


def trainer_of(data: TaggedRows, templates: tuple[str, ...]) -> Any:
    """The peer with its sequences."""
    features = FeatureMap.of(data.table.columns, templates)
    rows, names = features.of_rows(data.table, data.sequence), features.names
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    every = {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer.set_params({"c1": 0, "c2": L2 / 2, "epsilon": 1e-5, "delta": 1e-5, **every})
    of_row = [
        [names[f] for f in rows.features[rows.begins[i] : rows.begins[i + 1]].tolist()] for i in range(len(data))
    ]
    for start, size in zip(*lengths(data.sequence), strict=True):
        tags = [data.classes[tag] for tag in data.y[start : start + size]]
        trainer.append(of_row[start : start + size], tags)
    return trainer


def trained(trainer: Any) -> float:
    """The objective that it reaches."""
    with TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
    return float(trainer.logparser.last_iteration["loss"])
