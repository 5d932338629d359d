"""Errors kept until everything has been looked at, so that a user meets all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlcli.core.errors import MlcliError, Problem, UsageError
from mlcli.experiment.spec.written import placed


@dataclass(frozen=True)
class Faults:
    """Errors that were met, in order."""

    errors: list[MlcliError] = field(default_factory=list)

    @contextmanager
    def kept(self, where: str = "") -> Iterator[None]:
        """Run the body; an error of the user's is kept, and stands at ``where`` unless it says better."""
        try:
            yield
        except MlcliError as error:
            self.errors.append(type(error)(*placed(error.problems, where)))

    def problems(self) -> list[Problem]:
        """Every problem, once."""
        return list(dict.fromkeys(problem for error in self.errors for problem in error.problems))

    def raise_any(self, asked: type[MlcliError]) -> None:
        """Raise all as one error: about data or a model file where that is all, else about what was ``asked``."""
        types = {asked if type(error) is UsageError else type(error) for error in self.errors}
        if types:
            raise (types.pop() if len(types) == 1 else asked)(*self.problems())
