"""Estimators as they are made in Python, in the words of an experiment: their import path and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from mlcli.core.errors import UsageError

PLAIN = (str, int, float, bool, type(None))


def is_estimator(value: Any) -> bool:
    """Whether a value keeps to scikit-learn's conventions."""
    return not isinstance(value, type) and hasattr(value, "get_params") and hasattr(value, "fit")


def written(estimator: Any) -> dict[str, Any]:
    """An estimator as a model of an experiment; the steps of a pipeline stand before its last."""
    if hasattr(estimator, "as_written"):  # one of mlcli.sklearn
        found: dict[str, Any] = estimator.as_written()
        return found
    if type(estimator).__name__ == "Pipeline":
        *before, last = (one for _, one in estimator.steps)
        return {**written(last), "steps": [written(one) for one in before if is_estimator(one)]}
    path, default = _path_of(type(estimator)), type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False)
    changed = {name: value for name, value in given.items() if not _same(value, default.get(name))}
    return {"use": path, "params": {name: _value(path, name, value) for name, value in changed.items()}}


def _path_of(cls: type) -> str:
    """Where it can be imported from, in as few words as its package offers."""
    words = [word for word in cls.__module__.split(".") if not word.startswith("_")]
    public = ".".join(words)
    try:
        known = getattr(import_module(public), cls.__name__, None) is cls
    except ImportError:
        known = False
    return f"{public if known else cls.__module__}.{cls.__name__}"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and isinstance(value, PLAIN) and value == default)


def _value(path: str, name: str, value: Any) -> Any:
    if is_estimator(value):
        return written(value)
    if isinstance(value, list | tuple):
        return [_value(path, name, item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _value(path, name, item) for key, item in value.items()}
    value = value.item() if hasattr(value, "item") and hasattr(value, "dtype") and not value.ndim else value
    if not isinstance(value, PLAIN):
        what = f"{path}: {name} holds a {type(value).__name__}, which no experiment can write down"
        raise UsageError(
            what, hint="leave it at its default, or write a method around it: mlcli new model my-method"
        )
    return value
