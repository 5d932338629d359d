"""Gaussian naive Bayes for SKLL, which has only the multinomial one and hands out sparse features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB


class DenseNaiveBayes(GaussianNB):  # type: ignore[misc]
    """The same on a dense copy."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(_dense(X), y, sample_weight)

    def predict(self, X: Any) -> Any:
        return super().predict(_dense(X))

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(_dense(X))


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
