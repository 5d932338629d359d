"""Issues that checks find: their gravity, their evidence, and repairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeVar

from mlcli.core.findings import Finding
from mlcli.core.serialise import HIDDEN

Subject = TypeVar("Subject", contravariant=True)
Gravity = Literal["grave", "warning", "advice"]
GRAVITIES: dict[Gravity, str] = {
    "grave": "numbers are not what they seem",
    "warning": "something is worth a look before numbers are believed",
    "advice": "nothing is wrong, and something could be better",
}
"""The gravities in descending order, each with its meaning."""
Place = Literal["option", "sidecar", "experiment", "file"]
PLACES: dict[Place, str] = {
    "option": "in the shell",
    "sidecar": "in the sidecar",
    "experiment": "in the experiment file",
    "file": "in the data",
}
"""Where a repair is made."""


@dataclass(frozen=True)
class Repair:
    """Text to paste, as options of a command or YAML; or what to change in the data by hand."""

    place: Place
    text: str
    role: str = field(default="", metadata=HIDDEN)
    """The role that it gives to columns, if any."""


@dataclass(frozen=True)
class Issue:
    """A problem that a check has found, with its evidence and repairs."""

    gravity: Gravity
    sentence: str
    evidence: str = ""
    """Numbers or an example that show the problem."""
    repairs: tuple[Repair, ...] = ()
    """One of them is enough."""
    columns: tuple[str, ...] = ()
    """The columns with the problem, if it belongs to columns."""
    shown: tuple[Finding, ...] = ()
    """Tables and pictures with details."""
    code: str = ""
    """The id of the check, such as ``duplicates``: ``found_by`` sets it."""


class Check(Protocol[Subject]):
    """A function that looks for a problem in a dataset or in a model.

    The first line of its docstring tells what it looks for.
    """

    __name__: str

    def __call__(self, subject: Subject, /) -> Iterator[Issue]:
        """The issues of the subject."""
        ...


def found_by(checks: Iterable[Check[Subject]], subject: Subject) -> list[Issue]:
    """The issues that checks find, the gravest first; the name of each check is the code of its issues."""
    return by_gravity(replace(issue, code=code_of(check)) for check in checks for issue in check(subject))


def code_of(check: Check[Subject]) -> str:
    """The name of a check as users read it."""
    return check.__name__.replace("_", "-")


def by_gravity(issues: Iterable[Issue]) -> list[Issue]:
    """The issues in descending order of gravity; ties keep their order."""
    order = list(GRAVITIES)
    return sorted(issues, key=lambda issue: order.index(issue.gravity))


def is_serious(issue: Issue) -> bool:
    """Whether ``--strict`` fails because of the issue: it is more than advice."""
    return issue.gravity != "advice"
