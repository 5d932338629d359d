"""Estimators of other packages by import path: found, their parameters declared, made from plain values.

Whatever keeps to scikit-learn's conventions (``fit``, ``get_params``) will do: its own, LightGBM's, XGBoost's.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, make_dataclass, replace
from functools import lru_cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, ClassVar

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, settings, yaml_from_text
from mlcli.core.registry import IMPORT_PATH, MODELS, STEPS, check_import, register

STDOUT, STDERR = 1, 2
QUIET = {"lightgbm": {"verbose": -1}}
"""By package, what keeps it from telling of every split, where it has no such parameter by name."""
RANDOM_STATE, JOBS = "random_state", "n_jobs"
PLAIN = (str, int, float, bool, type(None))
FIELD = "given_"
"""How the fields of parameters begin, which may be called as what every method has."""
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class AnyValue(Parameter):
    """A parameter of which only its name and default are known; the package itself checks its values."""

    def problem_with(self, value: Any) -> str | None:
        """Nothing that YAML can write is wrong here; estimators inside are looked at."""
        for path in _paths_in(value):
            try:
                estimator_class(path)
            except UsageError as error:
                return f"names '{path}': {error.in_a_line}"
        return None

    def converted(self, value: Any, inside: Mapping[str, Any]) -> Any:
        """The value as it is."""
        return value

    def from_text(self, text: str) -> Any:
        """A value typed in a shell, read as YAML."""
        return yaml_from_text(text, self.name)

    def words(self) -> str:
        """Not known."""
        return "what the package says"

    def schema(self) -> dict[str, Any]:
        """Anything."""
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
    result = getattr(home, name, None)
    if result is None:
        names = [name for name in dir(home) if name[:1].isupper()]
        raise UsageError(f"{module} has no class '{name}'", hint=did_you_mean(name, names, "classes"))
    if not (isinstance(result, type) and hasattr(result, "fit") and hasattr(result, "get_params")):
        what = f"{path} is no estimator: it has not both fit and get_params, as scikit-learn's have"
        raise UsageError(what, hint="write a method around it: mlcli new model my-method")
    return result


def forget_earlier(path: str, cls: type) -> None:
    """Drop what was made of an earlier class at an import path, as when a cell of a notebook is run again."""
    if _imported_class(path) is not cls:
        _imported_class.cache_clear()
        MODELS.forget(path)
        STEPS.forget(path)


def example_of(path: str) -> Any:
    """An estimator with its defaults, which it can tell."""
    try:
        example = estimator_class(path)()
        example.get_params(deep=False)
        return example
    except (TypeError, ValueError, RuntimeError) as problem:
        what = f"{path} cannot be made without parameters that no file can hold: {problem}"
        raise UsageError(what, hint="write a method around it: mlcli new model my-method") from None


def declared_fields(path: str) -> list[tuple[str, Any, Any]]:
    """Its parameters as fields of a dataclass."""
    return [
        (FIELD + name, Any, _field(name, value)) for name, value in example_of(path).get_params(deep=False).items()
    ]


def _field(name: str, value: Any) -> Any:
    """A value that no file can hold is shown as none; it is the default nevertheless."""
    default = value if isinstance(value, PLAIN) and value == value else None
    declared = AnyValue(
        "see its own documentation",
        optional=True,
        name=name,
        default=default,
        if_given=True,
        field=FIELD + name,
    )
    return field(default=default, metadata={"param": lambda _, hint: replace(declared)})


def made(path: str, given: Mapping[str, Any], seed: int) -> Any:
    """An estimator with parameters that are given; where it draws random numbers, they follow from the seed."""
    cls = estimator_class(path)
    estimator = cls(**{name: _value(value, seed) for name, value in given.items()})
    known = estimator.get_params(deep=False)
    own = {RANDOM_STATE: seed, JOBS: 1}
    settings = {name: own[name] for name in own if name in known and name not in given}
    return estimator.set_params(**settings, **QUIET.get(path.partition(".")[0], {}))


@contextmanager
def as_a_guest(path: str) -> Iterator[None]:
    """The body works with one thread, and what it prints goes to stderr.

    Threads of OpenMP in several workers would spin while they wait, and stdout is for results.
    """
    sys.stdout.flush()
    kept = os.dup(STDOUT)
    try:
        os.dup2(STDERR, STDOUT)
        with _threads_of(path).limit(limits=1), redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)


@lru_cache(maxsize=64)
def _threads_of(path: str) -> Any:
    """What holds the threads of all libraries that are loaded with an estimator; to find them takes a while."""
    from threadpoolctl import ThreadpoolController

    estimator_class(path)
    return ThreadpoolController()


def conflicts_in(path: str, given: Mapping[str, Any]) -> list[str]:
    """What the package itself says against parameters, before anything is fitted."""
    try:
        estimator = made(path, given, 0)
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    except Exception as problem:
        return [str(problem)]
    return []


def takes_gaps(path: str) -> bool:
    """Whether it says that cells may be missing."""
    from sklearn.utils import get_tags

    return bool(get_tags(example_of(path)).input_tags.allow_nan)


def takes_weights(path: str) -> bool:
    """Whether rows may count more or less than one."""
    return "sample_weight" in inspect.signature(estimator_class(path).fit).parameters


def summary_of(path: str) -> str:
    """What its package says of it, in a line."""
    cls = estimator_class(path)
    return f"{path}: {(cls.__doc__ or cls.__name__).strip().partition(chr(10))[0]}"


def version_of(path: str) -> str:
    """The version of the distribution that it comes from; nothing where it comes from a file of the user's own."""
    names = metadata.packages_distributions().get(path.partition(".")[0], [])
    return f"{names[0]} {metadata.version(names[0])}" if names else ""


def _value(value: Any, seed: int) -> Any:
    """A plain value; what names an estimator is one."""
    if isinstance(value, Mapping) and _is_estimator(value):
        return made(value["use"], value.get("params") or {}, seed)
    if isinstance(value, list | tuple):
        return [_value(item, seed) for item in value]
    return json.loads(json.dumps(value)) if isinstance(value, Mapping) else value


def _paths_in(value: Any) -> Iterator[str]:
    """The import paths of estimators in a value."""
    if isinstance(value, Mapping) and _is_estimator(value):
        yield value["use"]
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for item in items:
        yield from _paths_in(item)


def _is_estimator(value: Mapping[str, Any]) -> bool:
    use = value.get("use")
    return isinstance(use, str) and IMPORT_PATH.fullmatch(use) is not None


@dataclass(kw_only=True, eq=False)
class ForeignEstimator:
    """What models and steps that are estimators of other packages share."""

    path: ClassVar[str]
    saved_as_code: ClassVar[bool] = True
    ours: ClassVar[str]
    """The parameter that is none of the estimator's."""

    def conflicts(self) -> list[str]:
        """What the package says against its parameters."""
        return conflicts_in(self.path, self.given())

    def given(self) -> dict[str, Any]:
        """The parameters of the estimator that were given: of others its own defaults stand."""
        return {name: value for name, value in settings(self).items() if name != self.ours}


def class_for(path: str, base: type) -> type:
    """The method or step: its parameters, and where it comes from."""
    name = path.rpartition(".")[2]
    cls = make_dataclass(name, declared_fields(path), bases=(base,), kw_only=True, eq=False)
    setattr(cls, "path", path)
    setattr(cls, "__module__", estimator_class(path).__module__)
    return register(path, reference=version_of(path))(cls)
