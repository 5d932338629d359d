"""Kernel methods beside scikit-learn, whose support vector machines are LIBSVM's, with equal kernels and costs.

A Gaussian kernel of gamma 0.05, C = 1, LIBSVM's tolerance of 1e-3. Ours also finds how sure its answers are, from
which its probabilities follow; the peer has none. The regression counts C and epsilon in standard deviations of
the target.
"""

from __future__ import annotations

from benchmarks.pair import Pair

GAMMA = {"gamma": 0.05}
LIMITS = """Of a fit of `svm` to 2,000 × 20 a third each are moves of pairs, the kernel matrix, and what rows would
get that are left out; of one to 20,000 × 20 a third are the last, for which the rows on the margin are inverted.
`kernel-ridge` finds the error of each row that is left out, for which it inverts the factor that the peer only
solves with."""


PAIRS = (
    Pair("svm", "classification", "sklearn.svm:SVC", GAMMA, GAMMA, 2_000, most=20_000),
    Pair("svm-regression", "regression", "sklearn.svm:SVR", GAMMA, GAMMA, 2_000, most=2_000),
    Pair(
        "kernel-ridge",
        "regression",
        "sklearn.kernel_ridge:KernelRidge",
        GAMMA,
        {"kernel": "rbf", **GAMMA},
        2_000,
        most=2_000,
    ),
)
