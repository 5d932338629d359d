"""Errors kept until everything has been looked at, so that a user meets all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlcli.core.errors import MlcliError, Problem
from mlcli.experiment.written import placed


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

    def raise_any(self, mixed: type[MlcliError]) -> None:
        """Raise all as one error: of their own type where they share one, else ``mixed``."""
        if self.errors:
            types = {type(error) for error in self.errors}
            raise (types.pop() if len(types) == 1 else mixed)(*self.problems())
