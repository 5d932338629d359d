"""Kernel methods beside scikit-learn, whose support vector machines are LIBSVM's, with equal kernels and costs.

A Gaussian kernel of gamma 0.05, C = 1, LIBSVM's tolerance of 1e-3. Ours begins each fit without a kernel matrix of
an earlier one. It also finds how sure its answers are, from which its probabilities follow; the peer has none. The
regression counts C and epsilon in standard deviations of the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.pair import Pair
from mlcli.engines.kernel_functions import forget_matrices

GAMMA = {"gamma": 0.05}
LIMITS = """Of a fit of `svm` to 2,000 × 20 a third each are moves of pairs, the kernel matrix, and what rows would
get that are left out; of one to 20,000 × 20 a third are the last, for which the rows on the margin are inverted.
`kernel-ridge` finds the error of each row that is left out, for which it inverts the factor that the peer only
solves with."""


@dataclass(frozen=True)
class Alone(Pair):
    """A pair whose fits share nothing with earlier ones."""

    def ours(self, train: Any) -> Any:
        """Our model after learning, the kernel matrix included."""
        forget_matrices()
        return super().ours(train)


PAIRS = (
    Alone("svm", "classification", "sklearn.svm:SVC", GAMMA, GAMMA, 2_000, most=20_000),
    Alone("svm-regression", "regression", "sklearn.svm:SVR", GAMMA, GAMMA, 2_000, most=2_000),
    Alone(
        "kernel-ridge",
        "regression",
        "sklearn.kernel_ridge:KernelRidge",
        GAMMA,
        {"kernel": "rbf", **GAMMA},
        2_000,
        most=2_000,
    ),
)
