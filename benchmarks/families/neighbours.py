"""Nearest neighbours beside scikit-learn's; at most 2,000 rows are asked about.

Five neighbours, Euclidean distances, equal votes; both choose by themselves between a tree and a matrix of
distances. A fit is little more than a copy, so that predictions count. Of rows as near as the fifth ours asks
all.
"""

from benchmarks.pair import Pair

LIMITS = """With 150 rows the time of a prediction is that of some eighty small calls of NumPy. The rows found are
measured again without cancellation, so that equal distances are equal, and put in their order, where the peer
keeps what its matrix product says: on `segment`, and on 64 columns of whole numbers (scikit-learn's digits, not
below), that costs as much as the product."""

PAIRS = (
    Pair("knn", "classification", "sklearn.neighbors:KNeighborsClassifier", {"k": 5}, {"n_neighbors": 5}, 2_000),
    Pair("knn", "regression", "sklearn.neighbors:KNeighborsRegressor", {"k": 5}, {"n_neighbors": 5}, 2_000),
)
