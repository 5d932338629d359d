"""What models report about themselves and checks find in data, as data; renderers decide how it looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import ClassVar, Literal, Protocol, TypeVar

from mlcli.core.serialise import HIDDEN, Json, shown

Entry = str | float | int | None
FindingCode = Literal[
    "", "candidates", "coefficients", "importance", "level-profile", "loadings", "mean-profile", "scree"
]
"""Codes of findings that other code looks for; empty for findings that are only shown."""


@dataclass(frozen=True)
class Finding:
    """A finding with its title; the note tells how to read it."""

    JSON_KIND: ClassVar[bool] = True
    title: str
    note: str = field(default="", kw_only=True)
    code: FindingCode = field(default="", kw_only=True, metadata=shown(optional=True))


@dataclass(frozen=True)
class Table(Finding):
    """A header and rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]


@dataclass(frozen=True)
class Lines(Finding):
    """Lines of text that keep their breaks."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Choices(Finding):
    """The values that inner splits chose, by name, with their inner score."""

    names: tuple[str, ...]
    values: tuple[Entry, ...]
    edges: tuple[str, ...]
    """For each value "lowest" or "highest" if it is at that end of the values tried, else empty."""
    metric: str
    score: float
    error: float | None = None
    """The standard error of the inner score."""


@dataclass(frozen=True)
class Picture(Finding):
    """A finding that is drawn; its title and note are shown beside the drawing."""


@dataclass(frozen=True)
class Bars(Picture):
    """A bar for each label, as long as its value, with further columns beside it."""

    header: tuple[str, ...]
    """What the labels are, what the values measure, and what each further column holds."""
    labels: tuple[str, ...]
    values: tuple[float, ...]
    beside: tuple[tuple[Entry, ...], ...] = ()


@dataclass(frozen=True)
class Curve(Picture):
    """Lines over the same points; a missing value is None."""

    over: str
    points: tuple[float, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]
    """Each line with its name."""
    bands: tuple[tuple[str, tuple[tuple[float, float] | None, ...]], ...] = ()
    """The bands around some of the lines, by name: the lower and upper end at each point."""


@dataclass(frozen=True)
class Histogram(Picture):
    """How many values lie between one edge and the next, for each name."""

    measure: str
    edges: tuple[float, ...]
    """One more than there are counts."""
    counts: tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True)
class Boxplots(Picture):
    """A box for each name."""

    measure: str
    boxes: tuple[tuple[str, tuple[float, ...]], ...]
    """The lower whisker, the first quartile, the median, the third quartile and the upper whisker."""
    outside: tuple[int, ...]
    """How many values of each name lie beyond the whiskers."""


@dataclass(frozen=True)
class Points(Picture):
    """Points in a plane, in named groups."""

    across: str
    upwards: str
    groups: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    lines: tuple[str, ...] = ()
    """Which of the groups are points along a line."""


@dataclass(frozen=True)
class Cloud(Picture):
    """Points in space, in named groups."""

    axes: tuple[str, str, str]
    groups: tuple[tuple[str, tuple[tuple[float, float, float], ...]], ...]

    def seen_along(self, side: int) -> Points:
        """The projection along an axis."""
        across, upwards = (index for index in range(3) if index != side)
        groups = tuple((name, tuple((p[across], p[upwards]) for p in points)) for name, points in self.groups)
        return Points(self.title, self.axes[across], self.axes[upwards], groups, note=self.note)


@dataclass(frozen=True)
class Regions(Picture):
    """The predictions of a model over a plane, and points in it."""

    across: str
    upwards: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    answers: tuple[tuple[float, ...], ...]
    """A row for each ``y``: numbers, or indices into ``names``."""
    names: tuple[str, ...]
    """The classes; empty if predictions are numbers."""
    groups: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    """Points, in named groups."""


@dataclass(frozen=True)
class Confusions(Picture):
    """A confusion matrix of many classes."""

    labels: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    """A row for each true class."""

    def taken_for(self, true: int) -> list[tuple[str, float]]:
        """The wrong predictions for rows of a class with their counts, the most frequent first."""
        wrong = [index for index, count in enumerate(self.counts[true]) if count and index != true]
        order = sorted(wrong, key=lambda index: -self.counts[true][index])
        return [(self.labels[index], self.counts[true][index]) for index in order]


@dataclass(frozen=True)
class Dendrogram(Picture):
    """The two parts that each merge joins, and its height.

    Parts are numbered: the leaves from top to bottom, then the results of the merges.
    """

    leaves: tuple[str, ...]
    merges: tuple[tuple[int, int], ...]
    heights: tuple[float, ...]


@dataclass(frozen=True)
class Graph(Picture):
    """A graph of nodes and edges."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    directed: bool


@dataclass(frozen=True)
class Tree(Picture):
    """The nodes of a tree, each before those below it; the root has depth 0."""

    depths: tuple[int, ...]
    conditions: tuple[str, ...]
    """The condition under which a row goes to each node from its parent; empty for the root."""
    answers: tuple[str, ...]
    shares: tuple[float, ...]
    """The confidence of each answer, at most 1."""
    rows: tuple[float, ...]
    """The weight of the training rows at each node."""

    def leaves(self) -> list[bool]:
        """Which nodes are leaves."""
        return [depth >= below for depth, below in pairwise([*self.depths, 0])]


@dataclass(frozen=True)
class CriticalDifference(Picture):
    """Mean ranks of models over datasets, best first, and the difference at which two ranks differ."""

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    difference: float
    groups: tuple[tuple[int, ...], ...]
    """The indices of models whose ranks do not differ significantly."""


Explanation = tuple[Finding, ...]
KINDS: dict[str, type[Finding]] = {
    kind.__name__.lower(): kind for kind in (Table, Lines, Choices, *Picture.__subclasses__())
}
LONG: dict[type[Finding], tuple[str, ...]] = {
    Table: ("rows",),
    Lines: ("lines",),
    Tree: ("depths", "conditions", "answers", "shares", "rows"),
}
"""The fields of findings that grow with the data."""


def as_json(finding: Finding) -> Json:
    """A finding as JSON for the store, with its kind."""
    described = {field.name: _listed(getattr(finding, field.name)) for field in fields(finding)}
    return {"kind": type(finding).__name__.lower(), **described}


def from_json(described: Json) -> Finding:
    """The finding from the JSON of ``as_json``."""
    plain: Json = {name: _tupled(value) for name, value in described.items() if name != "kind"}
    return KINDS[described["kind"]](**plain)


def shortened(finding: Finding, count: int) -> Finding:
    """The same in plain values, with at most ``count`` rows, lines or nodes; the note tells how many are left out.

    A tree is cut at a depth, so that it stays a tree.
    """
    long = {name: getattr(finding, name) for name in LONG.get(type(finding), ())}
    indices = _near_the_root(finding.depths, count) if isinstance(finding, Tree) else range(count)
    kept: Json = {
        name: tuple(items[index] for index in indices if index < len(items)) for name, items in long.items()
    }
    left_out = max((len(items) - len(kept[name]) for name, items in long.items()), default=0)
    if left_out > 0:
        kept["note"] = f"{finding.note} ({left_out} more left out)".strip()
    values = {field.name: kept.get(field.name, getattr(finding, field.name)) for field in fields(finding)}
    plain: Json = {name: _plain(value) for name, value in values.items()}
    return type(finding)(**plain)


def _near_the_root(depths: tuple[int, ...], count: int) -> list[int]:
    """The nodes down to the largest depth with at most ``count`` nodes."""
    deepest = 0
    while deepest < max(depths) and sum(depth <= deepest + 1 for depth in depths) <= count:
        deepest += 1
    return [node for node, depth in enumerate(depths) if depth <= deepest]


def _listed(value: object) -> object:
    return [_listed(item) for item in value] if isinstance(value, tuple) else _plain(value)


def _plain(value: object) -> object:
    if isinstance(value, tuple | list):
        plain = {str, float, int, type(None)}
        return tuple([_plain(item) if type(item) not in plain else item for item in value])
    return value.item() if hasattr(value, "item") else value  # a number of NumPy, which need not be imported here


def _tupled(value: object) -> object:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


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
