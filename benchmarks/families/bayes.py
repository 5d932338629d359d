"""Naive Bayes and discriminants beside scikit-learn's.

Priors are the shares of classes, and nothing is shrunk, on both sides. Scikit-learn's discriminants are run
with the solver that they have by default and with their fastest.
"""

from benchmarks.pair import Pair

LDA, QDA = (f"sklearn.discriminant_analysis:{name}DiscriminantAnalysis" for name in ("Linear", "Quadratic"))

PAIRS = (
    Pair("naive-bayes", "classification", "sklearn.naive_bayes:GaussianNB"),
    Pair("lda", "classification", LDA, peer_params={"solver": "svd"}),
    Pair("lda", "classification", LDA, peer_params={"solver": "lsqr"}),
    Pair("qda", "classification", QDA, peer_params={"solver": "svd"}),
    Pair("qda", "classification", QDA, peer_params={"solver": "eigen"}),
)
