"""What a check has to say: an issue with its gravity, what shows it, and what repairs it."""

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
"""From the gravest to the lightest, each with what it means."""
Place = Literal["option", "sidecar", "experiment", "file"]
PLACES: dict[Place, str] = {
    "option": "in the shell",
    "sidecar": "in the sidecar",
    "experiment": "in the experiment file",
    "file": "in the data",
}
"""Where a repair is made, in words."""


@dataclass(frozen=True)
class Repair:
    """What is to be pasted: options of a command, or YAML; or what is to be done to the data by hand."""

    place: Place
    text: str
    role: str = field(default="", metadata=HIDDEN)
    """The role that it gives to columns, if it gives one."""


@dataclass(frozen=True)
class Issue:
    """Something that a check has found: a sentence on it, what shows it, and what repairs it."""

    gravity: Gravity
    sentence: str
    evidence: str = ""
    """What shows it, in numbers or by an example."""
    repairs: tuple[Repair, ...] = ()
    """One of them is enough."""
    columns: tuple[str, ...] = ()
    """The columns that it is about, if it is about some."""
    shown: tuple[Finding, ...] = ()
    """Tables and pictures that say more."""
    code: str = ""
    """The id of the check, such as ``duplicates``: ``found_by`` sets it."""


class Check(Protocol[Subject]):
    """A function that looks at a dataset, or at a model under diagnosis, and has issues to name or none.

    The first line of its docstring says what it looks for.
    """

    __name__: str

    def __call__(self, subject: Subject, /) -> Iterator[Issue]:
        """The issues of the subject."""
        ...


def found_by(checks: Iterable[Check[Subject]], subject: Subject) -> list[Issue]:
    """What checks find in their subject, the gravest first; the name of each check is the code of its issues."""
    return by_gravity(replace(issue, code=code_of(check)) for check in checks for issue in check(subject))


def code_of(check: Check[Subject]) -> str:
    """The name of a check as users read it."""
    return check.__name__.replace("_", "-")


def by_gravity(issues: Iterable[Issue]) -> list[Issue]:
    """The gravest first; those of one gravity in the order in which they came."""
    order = list(GRAVITIES)
    return sorted(issues, key=lambda issue: order.index(issue.gravity))


def is_serious(issue: Issue) -> bool:
    """Whether it is more than advice: what ``--strict`` fails for."""
    return issue.gravity != "advice"
