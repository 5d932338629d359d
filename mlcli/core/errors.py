"""Errors and warnings for users: what is wrong, where, and how to fix it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the shell; scripts depend on these numbers."""

    DONE = 0
    BUG = 1
    USAGE = 2
    EXPERIMENT = 3
    DATA = 4
    CELLS = 5
    STORE = 6
    MODEL_FILE = 7
    UNMET = 8


@dataclass(frozen=True)
class Problem:
    """One problem: what is wrong, where, and a hint how to fix it."""

    what: str
    where: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.what}{advice}"


class MlcliError(Exception):
    """An error that the user can fix; it has every problem found, not only the first."""

    exit_code = ExitCode.BUG

    def __init__(self, *problems: Problem | str, hint: str = "", where: str = "") -> None:
        self.problems = tuple(
            item if isinstance(item, Problem) else Problem(item, where=where, hint=hint) for item in problems
        )
        super().__init__(*self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    @property
    def in_a_line(self) -> str:
        """Every problem with its hint, in one line."""
        return "; ".join(
            problem.what + (f" ({problem.hint})" if problem.hint else "") for problem in self.problems
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.problems


class UsageError(MlcliError):
    """An option, a name or a parameter that mlcli does not know or cannot use."""

    exit_code = ExitCode.USAGE


class ExperimentError(MlcliError):
    """An experiment file that cannot be run."""

    exit_code = ExitCode.EXPERIMENT


class DataError(MlcliError):
    """A dataset or sidecar that cannot be read, or that lacks what is needed."""

    exit_code = ExitCode.DATA


class FitError(MlcliError):
    """A method that cannot learn from rows, or predict them."""

    exit_code = ExitCode.CELLS


class ImpossibleAnswerError(FitError):
    """Impossible predictions of a method: of a wrong shape, not finite, or no probabilities."""


class StoreError(MlcliError):
    """A store, or its disk, that cannot be read or written."""

    exit_code = ExitCode.STORE


class ModelFileError(MlcliError):
    """A saved model that is refused: damaged, of another program, or not for this data."""

    exit_code = ExitCode.MODEL_FILE


class MlcliWarning(UserWarning):
    """A warning of a method beside its results, such as an iteration that stopped early."""


def raise_all(error: type[MlcliError], problems: Iterable[Problem]) -> None:
    """Raise one error with every problem, each once, or nothing when there are none."""
    distinct = tuple(dict.fromkeys(problems))
    if distinct:
        raise error(*distinct)


def placed(problems: Iterable[Problem], where: str) -> list[Problem]:
    """The same problems; those without a line get the place ``where``."""
    result = []
    for problem in problems:
        if where and not re.search(r":\d+(:\d+)?$", problem.where):
            what = f"{problem.where}: {problem.what}" if problem.where else problem.what  # a file without a line
            problem = replace(problem, what=what, where=where)
        result.append(problem)
    return result


def warn(text: str, category: type[MlcliWarning] = MlcliWarning) -> None:
    """Warn beside the results."""
    warnings.warn(text, category, stacklevel=3)


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """Capture the warnings of the body: each sentence once, in order; the list is filled when the body ends."""
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # for programmers, not for users
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        yield sentences
    for warning in caught:
        ours = issubclass(warning.category, MlcliWarning)
        sentence = f"{'' if ours else f'{warning.category.__name__}: '}{warning.message}"
        if sentence not in sentences:
            sentences.append(sentence)


@dataclass(frozen=True)
class Faults:
    """Errors collected until everything is checked, so that a user sees all of them at once."""

    errors: list[MlcliError] = field(default_factory=list)

    @contextmanager
    def collected(self, where: str = "") -> Iterator[None]:
        """Run the body and keep an error for users; it gets the place ``where`` unless it has one."""
        try:
            yield
        except MlcliError as error:
            self.errors.append(type(error)(*placed(error.problems, where)))

    def problems(self) -> list[Problem]:
        """Every problem, once."""
        return list(dict.fromkeys(problem for error in self.errors for problem in error.problems))

    def raise_any(self, usual: type[MlcliError]) -> None:
        """Raise all as one error: of the type that they share, else of the usual one (as usage errors are)."""
        types = {usual if isinstance(error, UsageError) else type(error) for error in self.errors}
        if types:
            raise (types.pop() if len(types) == 1 else usual)(*self.problems())
