"""The errors a user may meet: what is wrong, where, what was given and what would work."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell is told; scripts depend on these numbers."""

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
    """One thing that is wrong: where it stands, what it is, and what would work."""

    what: str
    where: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.what}{advice}"


class MlcliError(Exception):
    """Something the user can act on; it carries every problem found, not only the first."""

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
        """Every problem with what would work, for a place where only a line is."""
        return "; ".join(
            problem.what + (f" ({problem.hint})" if problem.hint else "") for problem in self.problems
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.problems


class UsageError(MlcliError):
    """An option, a name or a parameter that mlcli does not know or cannot use."""

    exit_code = ExitCode.USAGE


class ExperimentError(MlcliError):
    """An experiment file that cannot be run as it stands."""

    exit_code = ExitCode.EXPERIMENT


class DataError(MlcliError):
    """A dataset or sidecar that cannot be read, or that lacks what was asked of it."""

    exit_code = ExitCode.DATA


class FitError(MlcliError):
    """A method that cannot learn from, or answer for, the rows it was given."""

    exit_code = ExitCode.CELLS


class ImpossibleAnswerError(FitError):
    """Answers of a method that are none: of another shape, no numbers, or no probabilities."""


class StoreError(MlcliError):
    """A store, or the disk below it, that cannot be read or written."""

    exit_code = ExitCode.STORE


class ModelFileError(MlcliError):
    """A saved model that is refused: damaged, foreign, or not for this data."""

    exit_code = ExitCode.MODEL_FILE


class MlcliWarning(UserWarning):
    """Something a method wants said beside its results, such as an iteration that stopped early."""


def raise_all(error: type[MlcliError], problems: Iterable[Problem]) -> None:
    """Raise one error with every problem, each once, or nothing when there are none."""
    distinct = tuple(dict.fromkeys(problems))
    if distinct:
        raise error(*distinct)


def placed(problems: Iterable[Problem], where: str) -> list[Problem]:
    """The same problems; those that do not say in which line they are stand at ``where``."""
    result = []
    for problem in problems:
        if where and not re.search(r":\d+(:\d+)?$", problem.where):
            what = f"{problem.where}: {problem.what}" if problem.where else problem.what  # a file without a line
            problem = replace(problem, what=what, where=where)
        result.append(problem)
    return result


def warn(text: str, category: type[MlcliWarning] = MlcliWarning) -> None:
    """Have something said beside results."""
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
    """Errors collected until everything has been looked at, so that a user meets all of them at once."""

    errors: list[MlcliError] = field(default_factory=list)

    @contextmanager
    def collected(self, where: str = "") -> Iterator[None]:
        """Run the body; an error of the user's is kept, and stands at ``where`` unless it says better."""
        try:
            yield
        except MlcliError as error:
            self.errors.append(type(error)(*placed(error.problems, where)))

    def problems(self) -> list[Problem]:
        """Every problem, once."""
        return list(dict.fromkeys(problem for error in self.errors for problem in error.problems))

    def raise_any(self, usual: type[MlcliError]) -> None:
        """Raise all as one error: of the type that they share, else of the usual one (as usage errors are)."""
        types = {usual if type(error) is UsageError else type(error) for error in self.errors}
        if types:
            raise (types.pop() if len(types) == 1 else usual)(*self.problems())
