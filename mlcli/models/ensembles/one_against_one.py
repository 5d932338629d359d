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

from itertools import combinations

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.engines.symmetric import pairwise_coupling
from mlcli.models.ensembles.output_codes import Code, Coded
from mlcli.tasks.supervised import Classifier


@register("one-against-one", reference="Hastie & Tibshirani 1998; Wu, Lin & Weng 2004, second method")
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
        first, second = np.triu_indices(len(self.code_), 1)
        if self.combine == "coupling":
            pairs = np.column_stack([first, second]).astype(np.int32)
            return pairwise_coupling(1 - positive, pairs, len(self.code_))
        won = (np.sign(np.round(positive - 0.5, 12)) + 1) / 2
        wins = np.zeros((len(positive), len(self.code_), len(self.code_)))
        wins[:, first, second], wins[:, second, first] = won, 1 - won
        return self.share_of_sum(wins.sum(axis=2))
