"""One against one: for each pair of classes a binary classifier that learns from the rows of these two alone.

Formula:
    r_ij(x) is the probability of i in the problem i against j. ``coupling`` takes the P with Σ P = 1 that
    minimises Σ_i Σ_{j≠i} (r_ji P_i − r_ij P_j)², so that P_i / (P_i + P_j) is near r_ij; ``votes`` takes the
    share of problems that class i wins.

Assumes:
    Classes can be told from each other two by two. Each problem is small and balanced as the two classes are.

Cost:
    K(K − 1)/2 fits of the base, to 2n/K rows each on average.

Choices:
    A problem in which both sides are equally probable is half a vote for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.models.ensembles._coded import Code, Coded
from mlcli.tasks.classification import Classifier

STEADY = 1e-10
"""Added to the diagonal of the equations, which are singular where some r_ij are 0 and 1."""


@register("one-against-one", reference="Hastie & Tibshirani 1998; Wu, Lin & Weng 2004, second method")
@dataclass(kw_only=True, eq=False)
class OneAgainstOne(Coded, Classifier):
    """A problem for each pair of classes."""

    combine: str = param("coupling", "how answers about pairs become one", choices=("coupling", "votes"))

    def code(self, classes: int, rng: np.random.Generator) -> Code:
        """Each class against each other one."""
        code = np.zeros((classes, classes * (classes - 1) // 2), np.int8)
        for problem, (first, second) in enumerate(combinations(range(classes), 2)):
            code[first, problem], code[second, problem] = 1, -1
        return code

    def shares(self, positive: Array) -> Array:
        """Shares of votes, or the probabilities that agree best with all pairs."""
        if self.combine == "votes":
            positive = (np.sign(np.round(positive - 0.5, 12)) + 1) / 2
        wins = np.zeros((len(positive), len(self.code_), len(self.code_)))
        first, second = np.triu_indices(len(self.code_), 1)
        wins[:, first, second], wins[:, second, first] = positive, 1 - positive
        return self.share_of_sum(wins.sum(axis=2)) if self.combine == "votes" else _coupled(wins)


def _coupled(r: Array) -> Array:
    """The minimum of Σ (r_ji P_i − r_ij P_j)² over probabilities, of each row: Q P + b = 0, Σ P = 1."""
    classes = r.shape[1]
    squares = (r**2).sum(axis=1)
    system = np.zeros((len(r), classes + 1, classes + 1))
    system[:, :classes, :classes] = -r.transpose(0, 2, 1) * r
    place = np.arange(classes)
    system[:, place, place] = squares + STEADY
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    right = np.zeros((len(r), classes + 1, 1))
    right[:, classes] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
