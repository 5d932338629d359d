"""Multi-layer perceptrons beside scikit-learn's: equal layers, batches, optimiser and numbers of epochs.

One hidden layer of 100 units (ReLU), Adam, five epochs of batches of 200 rows, and of 32, without early stopping.
Random weights and orders are each side's own; with the same ones both are the same network, as a test shows.
"""

from benchmarks.pair import Pair

LIMITS = """Of 500 columns nine tenths of the time are products of matrices, which are the peer's as well; ours
saves the rest: one step of the optimiser for all layers at once, in place, and losses once an epoch."""


def _sides(batch: int) -> tuple[dict[str, object], dict[str, object]]:
    ours: dict[str, object] = {"hidden": [100], "epochs": 5, "batch": batch, "l2": 0.01, "patience": None}
    theirs: dict[str, object] = {
        "batch_size": batch,
        "max_iter": 5,
        "alpha": 1e-4,
        "tol": 0.0,
        "n_iter_no_change": 5,
    }
    return ours, theirs


PAIRS = tuple(
    Pair("mlp", kind, f"sklearn.neural_network:MLP{peer}", *_sides(batch), remark=f"batches of {batch}")
    for kind, peer in (("classification", "Classifier"), ("regression", "Regressor"))
    for batch in (200, 32)
)
