"""Every method as a scikit-learn estimator: ``from mlcli.sklearn import KnnClassifier``.

The classes are made from the declarations of the methods when they are first asked for: an id in camel case, then
what it is: ``KnnClassifier``, ``RidgeRegressor``, ``KMeansClusterer``, ``LofDetector``, ``PcaProjector``,
``HmmTagger``, and of steps ``StandardiseTransformer``. ``names()`` lists them all. They need scikit-learn.

They keep scikit-learn's conventions: nothing is scaled unless ``scale=True`` is passed; ``coef_``, ``intercept_``,
``feature_importances_`` and ``cluster_centers_`` exist where a method learns such; ordered categories keep their
order. What a method cannot do without is still done: gaps are filled, levels become numbers.
"""

from __future__ import annotations

from typing import Any

from mlcli.sklearn._catalogue import NOT_MADE, estimator_class, names

__all__ = ["NOT_MADE", "names"]
__all__ += names()


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in names():
        raise AttributeError(f"module 'mlcli.sklearn' has no attribute '{name}'; names() lists what there is")
    return globals().setdefault(name, estimator_class(name))


def __dir__() -> list[str]:
    return sorted({*globals(), *names()})
