"""One against the rest: for each class a binary classifier that tells it from all others.

Formula:
    p_k(x) is the probability of class k in the problem k against the rest; P(k | x) = p_k / Σ_j p_j.

Assumes:
    Each class can be told from all others together, by a base whose probabilities can be compared. Problems are
    unbalanced: with K alike classes, one row in K is of the class.

Cost:
    K fits of the base to all rows.

Choices:
    Two classes are two problems as well, which is one problem asked twice for a base that treats its classes
    alike. Where every p_k is 0, the shares of the training rows are answered.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.models.ensembles.output_codes import Code, Coded
from mlcli.tasks.supervised import Classifier


@register("one-against-rest", reference="Rifkin & Klautau 2004, In defense of one-vs-all classification")
class OneAgainstRest(Coded, Classifier):
    """A problem for each class."""

    def code(self, classes: int, rng: np.random.Generator) -> Code:
        """Each class against all others."""
        return np.asarray(2 * np.eye(classes) - 1, np.int8)[:, : classes if classes > 1 else 0]

    def shares(self, positive: Array) -> Array:
        """Probabilities made to sum to 1."""
        return self.share_of_sum(positive)
