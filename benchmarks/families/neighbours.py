"""Nearest neighbours beside scikit-learn's; at most 2,000 rows are asked about.

Five neighbours, Euclidean distances, equal votes; both choose by themselves between a tree and a matrix of
distances. A fit is little more than a copy, so that predictions count. Of rows as near as the fifth ours asks
all.
"""

from benchmarks.pair import Pair

LIMITS = """With 150 rows the 0.3 ms of a prediction are some eighty small calls of NumPy. Of 600 rows asked
about 1,200 with 64 columns of whole numbers (scikit-learn's digits, not below) the exact distances and their
order cost as much as the product: 0.7 × as fast. On `segment` a quarter of the time puts the rows found in the
order of distances that are measured again without cancellation, so that equal distances are equal; the peer
keeps what its matrix product says."""

PAIRS = (
    Pair("knn", "classification", "sklearn.neighbors:KNeighborsClassifier", {"k": 5}, {"n_neighbors": 5}, 2_000),
    Pair("knn", "regression", "sklearn.neighbors:KNeighborsRegressor", {"k": 5}, {"n_neighbors": 5}, 2_000),
)
