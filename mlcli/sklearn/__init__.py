"""Every method as a scikit-learn estimator: ``from mlcli.sklearn import KnnClassifier``.

The classes are made from the declarations of the methods when they are first asked for: an id in camel case, then
what it is: ``KnnClassifier``, ``RidgeRegressor``, ``KMeansClusterer``, ``LofDetector``, ``PcaProjector``, and of
steps ``StandardiseTransformer``. ``names()`` lists them all. They need scikit-learn (``mlcli[sklearn]``).
"""

from __future__ import annotations

from typing import Any

from mlcli.sklearn._catalogue import NOT_MADE, estimator_class, names

__all__ = ["NOT_MADE", "names"]


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in names():
        raise AttributeError(f"module 'mlcli.sklearn' has no attribute '{name}'; names() lists what there is")
    return globals().setdefault(name, estimator_class(name))


def __dir__() -> list[str]:
    return sorted({*globals(), *names()})
