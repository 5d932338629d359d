"""Estimators of other packages by import path: their classes, parameters, and instances from plain values.

Any class with scikit-learn's conventions (``fit``, ``get_params``) works: its own, LightGBM's, XGBoost's.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, make_dataclass, replace
from functools import lru_cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, settings, yaml_from_text
from mlcli.core.registry import IMPORT_PATH, MODELS, STEPS, check_import, register

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

FIELD = "given_"
"""The prefix of the fields of parameters, which may have the name of something that every method has."""
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class AnyValue(Parameter):
    """A parameter of which only the name and the default are known; the package itself checks its values."""

    def problem_with(self, value: object) -> str | None:
        """What is wrong with an estimator inside the value; anything else that YAML can write is accepted."""
        for path in _paths_in(value):
            try:
                estimator_class(path)
            except UsageError as error:
                return f"names '{path}': {error.in_a_line}"
        return None

    def converted(self, value: object, inside: Mapping[str, Any]) -> object:
        """The value itself."""
        return value

    def from_text(self, text: str) -> object:
        """A value typed in a shell, read as YAML."""
        return yaml_from_text(text, self.name)

    def words(self) -> str:
        """The legal values in words."""
        return "what the package says"

    def schema(self) -> dict[str, Any]:
        """A JSON Schema that accepts anything."""
        return {"description": self.help, "default": self.default}


def estimator_class(path: str) -> Any:
    """The class at an import path, if the user has named it."""
    check_import(path)
    return _imported_class(path)


@lru_cache(maxsize=256)
def _imported_class(path: str) -> Any:
    module, _, name = path.rpartition(".")
    package = module.partition(".")[0]
    if find_spec("sklearn") is None:
        raise UsageError("estimators of other packages need scikit-learn", hint="pip install 'mlcli[sklearn]'")
    try:
        home = import_module(module)
    except ImportError as problem:
        if getattr(problem, "name", "") == package:
            raise UsageError(f"{package} is not installed", hint=f"pip install {package}") from None
        raise UsageError(f"there is no module '{module}'", hint=str(problem)) from None
    except (Exception, SystemExit) as problem:
        what = f"cannot be imported: {type(problem).__name__}: {problem}"
        raise UsageError(what, where=module) from problem
    cls = getattr(home, name, None)
    if cls is None:
        names = [name for name in dir(home) if name[:1].isupper()]
        raise UsageError(f"{module} has no class '{name}'", hint=did_you_mean(name, names, "classes"))
    if not (isinstance(cls, type) and hasattr(cls, "fit") and hasattr(cls, "get_params")):
        what = f"{path} is no estimator: it has not both fit and get_params, as scikit-learn's have"
        raise UsageError(what, hint="write a method around it: mlcli new model my-method")
    return cls


def forget_earlier(path: str, cls: type) -> None:
    """Drop what came from an earlier class at an import path, as when a cell of a notebook is run again."""
    if _imported_class(path) is not cls:
        _imported_class.cache_clear()
        MODELS.forget(path)
        STEPS.forget(path)


def example_of(path: str) -> Any:
    """An estimator with default parameters."""
    try:
        example = estimator_class(path)()
        example.get_params(deep=False)
        return example
    except (TypeError, ValueError, RuntimeError) as problem:
        what = f"{path} cannot be made without parameters that no file can hold: {problem}"
        raise UsageError(what, hint="write a method around it: mlcli new model my-method") from None


def build_estimator(path: str, given: Mapping[str, Any], seed: int) -> Any:
    """An estimator with some parameters; its random numbers follow from the seed, and it uses one thread."""
    cls = estimator_class(path)
    estimator = cls(**{name: _value(value, seed) for name, value in given.items()})
    names = estimator.get_params(deep=False)
    ours = {"random_state": seed, "n_jobs": 1}
    settings = {name: value for name, value in ours.items() if name in names and name not in given}
    if path.startswith("lightgbm."):
        settings["verbose"] = -1  # it would report every split, and does not list this parameter
    return estimator.set_params(**settings)


@contextmanager
def as_a_guest(path: str) -> Iterator[None]:
    """Run the body with one thread and its prints on stderr.

    Threads of OpenMP in several workers would spin while they wait, and stdout is for results.
    """
    sys.stdout.flush()
    stdout = os.dup(1)
    try:
        os.dup2(2, 1)
        with _threads_of(path).limit(limits=1), redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


@lru_cache(maxsize=64)
def _threads_of(path: str) -> ThreadpoolController:
    """The controller of the threads of all libraries loaded with an estimator; finding them takes a while."""
    from threadpoolctl import ThreadpoolController

    estimator_class(path)
    return ThreadpoolController()


def conflicts_in(path: str, given: Mapping[str, Any]) -> list[str]:
    """What the package itself says against parameters, before anything is fitted."""
    try:
        estimator = build_estimator(path, given, 0)
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    except Exception as problem:
        return [str(problem)]
    return []


def takes_gaps(path: str) -> bool:
    """Whether its tags allow missing cells."""
    from sklearn.utils import get_tags

    return bool(get_tags(example_of(path)).input_tags.allow_nan)


def takes_weights(path: str) -> bool:
    """Whether its fit takes weights of rows."""
    return "sample_weight" in inspect.signature(estimator_class(path).fit).parameters


def summary_of(path: str) -> str:
    """The first line of its docstring."""
    cls = estimator_class(path)
    return f"{path}: {(cls.__doc__ or cls.__name__).strip().partition(chr(10))[0]}"


def version_of(path: str) -> str:
    """Its distribution with the version; empty for a file of the user's own."""
    names = metadata.packages_distributions().get(path.partition(".")[0], [])
    return f"{names[0]} {metadata.version(names[0])}" if names else ""


def _value(value: Any, seed: int) -> Any:
    """A plain value, with estimators in place of mappings that name one."""
    if isinstance(value, Mapping) and _is_estimator(value):
        return build_estimator(value["use"], value.get("params") or {}, seed)
    if isinstance(value, list | tuple):
        return [_value(item, seed) for item in value]
    return json.loads(json.dumps(value)) if isinstance(value, Mapping) else value


def _paths_in(value: object) -> Iterator[str]:
    """The import paths of estimators in a value."""
    if isinstance(value, Mapping) and _is_estimator(value):
        yield value["use"]
    items: Iterable[object] = value if isinstance(value, list | tuple) else ()
    for item in value.values() if isinstance(value, Mapping) else items:
        yield from _paths_in(item)


def _is_estimator(value: Mapping[str, Any]) -> bool:
    use = value.get("use")
    return isinstance(use, str) and IMPORT_PATH.fullmatch(use) is not None


@dataclass(kw_only=True, eq=False)
class ForeignEstimator:
    """The base of models and steps that are estimators of other packages."""

    path: ClassVar[str]
    saved_as_code: ClassVar[bool] = True
    ours: ClassVar[str]
    """The parameter that is not one of the estimator."""

    def conflicts(self) -> list[str]:
        """What the package says against the parameters."""
        return conflicts_in(self.path, self.given())

    def given(self) -> dict[str, Any]:
        """The parameters of the estimator that were given; the others keep its own defaults."""
        return {name: value for name, value in settings(self).items() if name != self.ours}


def class_for(path: str, base: type) -> type:
    """The method or step for an estimator, a dataclass whose fields are its parameters."""
    name, declared = path.rpartition(".")[2], []
    for parameter, value in example_of(path).get_params(deep=False).items():
        # A default that no file can hold is shown as none.
        default = value if isinstance(value, str | int | float | None) and value == value else None
        declaration = AnyValue(
            "see its own documentation",
            optional=True,
            name=parameter,
            default=default,
            if_given=True,
            field=FIELD + parameter,
        )
        metadata = {"param": lambda _, hint, declaration=declaration: replace(declaration)}
        declared.append((FIELD + parameter, Any, field(default=default, metadata=metadata)))
    cls = make_dataclass(name, declared, bases=(base,), kw_only=True, eq=False)
    setattr(cls, "path", path)
    setattr(cls, "__module__", estimator_class(path).__module__)
    return register(path, reference=version_of(path))(cls)
