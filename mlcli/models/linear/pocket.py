"""Pocket: the perceptron, with the plane that got the fewest rows wrong kept in the back pocket.

Formula:
    As perceptron: w ← w + η y x and b ← b + η y for a row with y (b + w·x) ≤ 0. A plane that has got more rows
    in a row right than the one in the pocket is tried on all rows, and replaces it if it gets fewer wrong (the
    ratchet).

Assumes:
    Less than perceptron: with enough passes it comes near the fewest errors that a plane can make, whether or not
    one separates the classes. There is no bound on the distance after a limited number of passes.

Cost:
    n·p for each pass, and as much for each plane that is tried.

Choices:
    It stops after a number of passes, as it cannot know whether a better plane is to come. It starts from
    zero, as perceptron does: the linear classifier gets few training rows wrong, but where columns are many for
    the rows its plane is of no use for others, and stays in the pocket (labor 0.84 for 0.92, iris 0.89 for 0.91).
    The plane that the passes end with is tried as well.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.models.linear.perceptron import Perceptron
from mlcli.tasks.supervised import Classifier


@register("pocket", reference="Gallant 1990", revision=2)
class Pocket(Perceptron, Classifier):
    """The best plane of a perceptron."""

    def correct(self, X: Array, side: Array, w: Array, rng: np.random.Generator) -> tuple[Array, tuple[int, ...]]:
        """The best plane of all passes, and how many rows each has corrected."""
        from mlcli.kernels.linear.perceptron import pocket_pass

        def count_wrong(plane: Array) -> int:
            return int((side * (X @ plane[:-1] + plane[-1]) <= 0.0).sum())

        best, runs = w.copy(), np.zeros(2, np.intp)
        errors = np.array([count_wrong(best)])
        wrong = list[int]()
        for rows in self.passes(rng, len(X)):
            if errors[0] == 0:
                break
            wrong.append(pocket_pass(X, side, rows, self.learning_rate, w, best, runs, errors))
        return (w if count_wrong(w) < errors[0] else best), tuple(wrong)
