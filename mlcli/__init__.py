"""mlcli: which method works on my data, by how much, and can I trust the number?

    import mlcli
    mlcli.eval(frame, models=["knn", "random-forest"], target="species")

``eval``, ``run``, ``train``, ``load`` and ``results`` are what the shell does, for data frames and notebooks; each
is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mlcli.api.experiments import eval, run  # noqa: A004  # it is the verb
    from mlcli.api.models import TrainedModel, load, train
    from mlcli.api.results import Results, results
    from mlcli.core.errors import MlcliError, MlcliWarning

__all__ = ["MlcliError", "MlcliWarning", "Results", "TrainedModel", "eval", "load", "results", "run", "train"]
_HOMES = {
    "mlcli.api.experiments": ("eval", "run"),
    "mlcli.api.models": ("TrainedModel", "load", "train"),
    "mlcli.api.results": ("Results", "results"),
    "mlcli.core.errors": ("MlcliError", "MlcliWarning"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'mlcli' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
