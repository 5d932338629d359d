"""Taggers beside crfsuite and hmmlearn, on all words of `cmudict_stress` and on drawn sequences of numbers.

crf: the same features, penalty and objective, by L-BFGS. Every pair of feature and tag has a weight on both sides;
rules of stopping are those that leave both objectives less than a hundred-thousandth above their minimum. Ours
includes making the features, theirs does not. hmm: as many rounds of Baum-Welch from one drawn start, and Viterbi.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pycrfsuite

from benchmarks.kinds import Comparison, ours, rows_as_table
from mlcli.core.schema import Column
from mlcli.core.tables import Rows, Table
from mlcli.data.load import load
from mlcli.models.sequences.crf import FeatureMap
from mlcli.tasks.sequence_labelling import TaggedRows, lengths

LIMITS = """Viterbi goes through all sequences side by side, so that a hundred long ones take a hundred small steps
of NumPy, and thousands of short ones fewer."""
NARROWS_TO = ("crf", "hmm")
CHOICES: dict[str, tuple[str, ...]] = {
    "window 1": ("word@-1", "word", "word@1"),
    "window 3": tuple(f"word@{offset}" for offset in range(-3, 4)),
}
L2 = 1.0
STATES, ROUNDS = 4, 20


def table(only: Collection[str] = ()) -> str:
    """A row for each choice of templates, and for each way of learning and answering."""
    return rows_as_table(fields() + hidden(), only)


@dataclass(frozen=True, eq=False)
class Words:
    """The sequences of a choice of templates, as the peer takes them."""

    data: TaggedRows
    templates: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many features there are."""
        return len(self._features.names)

    @property
    def _features(self) -> FeatureMap:
        return FeatureMap.of(self.data.table.columns, self.templates)

    def sequences(self) -> Iterator[tuple[list[list[str]], list[str]]]:
        """The features and the tags of the rows of each."""
        rows, names = self._features.of_rows(self.data.table, self.data.sequence), self._features.names
        of_row = [[names[f] for f in rows.features[one:end].tolist()] for one, end in _pairs(rows.begins)]
        for start, size in zip(*lengths(self.data.sequence), strict=True):
            tags = [self.data.classes[tag] for tag in self.data.y[start : start + size]]
            yield of_row[start : start + size], tags


def _pairs(ends: Rows) -> Iterator[tuple[int, int]]:
    return zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)


def fields() -> list[Comparison]:
    """Conditional random fields: training and tagging."""
    dataset = load("cmudict_stress")
    data = TaggedRows.from_table(dataset.table, dataset.schema)
    found = []
    for name, templates in CHOICES.items():
        words = Words(data, templates)
        fit = partial(ours, "crf", {"templates": templates, "l2": L2}, data)
        shape = np.empty((len(data), words.width))
        trainer = trainer_of(words)
        found.append(Comparison("crf", name, shape, fit, partial(trained, trainer), "training, L-BFGS"))
        tag = partial(fit().tag, data.table, data.sequence)
        peer = partial(tagged, tagger_of(trainer), [features for features, _ in words.sequences()])
        found.append(Comparison("crf", name, shape, tag, peer, "tagging, Viterbi"))
    return found


def trainer_of(words: Words) -> Any:
    """The peer with its sequences."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    every = {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer.set_params({"c1": 0, "c2": L2 / 2, "epsilon": 1e-5, "delta": 1e-5, **every})
    for features, tags in words.sequences():
        trainer.append(features, tags)
    return trainer


def trained(trainer: Any) -> float:
    """The objective that it reaches."""
    with TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
    return float(trainer.logparser.last_iteration["loss"])


def tagger_of(trainer: Any) -> Any:
    """The peer after training."""
    tagger = pycrfsuite.Tagger()
    with TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
        tagger.open(str(Path(folder) / "model"))
    return tagger


def tagged(tagger: Any, sequences: Sequence[Any]) -> list[Any]:
    """Its tags of all sequences."""
    return [tagger.tag(one) for one in sequences]


def hidden() -> list[Comparison]:
    """Hidden Markov models of levels and of numbers, learned without tags, then asked for the likeliest tags."""
    from hmmlearn.hmm import CategoricalHMM, GaussianHMM  # not among what tests need

    dataset = load("cmudict_stress")
    words = TaggedRows.from_table(dataset.table, dataset.schema)
    walk = walks()
    settings = {
        "labelled": 0.0,
        "restarts": 1,
        "rounds": ROUNDS,
        "tolerance": 0.0,
        "alpha": 0.0,
        "unknown": "alpha",
    }
    cases = (
        ("levels", words, words.table.codes[:, :1], CategoricalHMM),
        ("numbers", walk, walk.table.numbers, GaussianHMM),
    )
    found = []
    for name, data, X, peer in cases:
        sizes = lengths(data.sequence)[1].tolist()
        fit = partial(ours, "hmm", settings, data)
        learn = partial(hidden_by_peer, peer, X, sizes)
        found.append(Comparison("hmm", name, X, fit, learn, f"{ROUNDS} rounds of Baum-Welch, {STATES} tags"))
        tag = partial(fit().tag, data.table, data.sequence)
        found.append(Comparison("hmm", name, X, tag, partial(learn().predict, X, sizes), "tagging, Viterbi"))
    return found


def hidden_by_peer(peer: Any, X: Any, sizes: Sequence[int]) -> Any:
    """The peer after as many rounds."""
    return peer(n_components=STATES, n_iter=ROUNDS, tol=-np.inf, random_state=0).fit(X, sizes)


def walks(count: int = 100, size: int = 100) -> TaggedRows:
    """Sequences of states that stay for a while, each with two normal numbers of its own."""
    rng = np.random.default_rng(0)
    y = (np.cumsum(rng.random((count, size)) < 0.1, axis=1) % STATES).astype(np.int32).ravel()
    X = 2.0 * np.column_stack([y % 2, y // 2]) + rng.normal(size=(count * size, 2))
    table = Table((Column("x"), Column("z")), X, np.empty((len(X), 0), np.int32))
    sequence = np.repeat(np.arange(count, dtype=np.int32), size)
    known: dict[str, Any] = {"table": table, "rows": np.arange(len(X)), "target": "state"}
    return TaggedRows(**known, y=y, classes=tuple("abcd"), sequence=sequence)
