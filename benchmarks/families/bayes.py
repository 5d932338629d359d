"""Naive Bayes and discriminants beside scikit-learn's."""

from benchmarks.pair import Pair

PAIRS = (
    Pair("naive-bayes", "classification", "sklearn.naive_bayes:GaussianNB"),
    Pair("lda", "classification", "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"),
    Pair("qda", "classification", "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis"),
)
