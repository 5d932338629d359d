"""What speed was asked for, and how far the kept results reach it, read from their tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from benchmarks.timing import markdown

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LARGE = frozenset({"2,000 × 20", "20,000 × 20", "100,000 × 50", "2,000 × 500"})
FULL = frozenset({"2,000 × 20", "20,000 × 50"})
SOLVER = re.compile(r" \(.*\)$")
WORK = frozenset({"method", "peer", "kind", "protocol", "rows", "state", "models", "program", "command", "cells"})
HISTOGRAMS = "scikit-learn HistGradientBoosting"

Record = Mapping[str, str]


@dataclass(frozen=True)
class Goal:
    """What the numbers of one column should reach, in the rows whose cells match."""

    what: str
    section: str
    column: str
    least: float | None = None
    most: float | None = None
    where: Mapping[str, str | frozenset[str]] = field(default_factory=dict)
    """For some columns a pattern at the beginning of the cell, or the cells that count."""
    by: str = "method"

    def concerns(self, record: Record) -> bool:
        """Whether a row counts: its cells match, and it has a number; not in tables as they were made before."""
        return (
            self.by in record
            and all(_matches(record.get(name, ""), wanted) for name, wanted in self.where.items())
            and bool(NUMBER.search(record.get(self.column, "")))
        )

    def harder(self, one: float, other: float) -> float:
        """The number that is further from it."""
        return min(one, other) if self.most is None else max(one, other)

    def met(self, number: float) -> bool:
        """Whether a number reaches it."""
        enough = self.least is None or number >= self.least
        return enough and (self.most is None or number <= self.most)


def _matches(cell: str, wanted: str | frozenset[str]) -> bool:
    return re.match(wanted, cell) is not None if isinstance(wanted, str) else cell in wanted


fit = partial(Goal, column="fit: ratio")
predict = partial(Goal, column="predict: ratio")
splits = partial(Goal, section="splits")

GOALS = (
    fit("forests fit 4 × as fast, from 2,000 rows", "forests", least=4, where={"rows": LARGE}),
    predict("forests predict as fast, from 2,000 rows", "forests", least=1, where={"rows": LARGE}),
    fit("boosting as fast as LightGBM", "boosting", least=1, where={"rows": LARGE, "peer": "lightgbm"}),
    fit(
        "boosting as fast as scikit-learn's on histograms",
        "boosting",
        least=1,
        where={"rows": LARGE, "peer": HISTOGRAMS},
    ),
    Goal("scores of 20 datasets within the noise of seeds", "scores", "within noise", least=20),
    predict("nearest neighbours 1.5 × as fast", "neighbours", least=1.5),
    fit("logistic regression as fast", "logistic", least=1, where={"peer": ".*lbfgs.*"}),
    fit("naive Bayes 2 × as fast", "bayes", least=2, where={"method": "naive-bayes"}),
    fit("least squares and ridge 2 × as fast", "linear", least=2, where={"method": "linear-regression|ridge"}),
    fit("lasso with its path as fast as least angles", "linear", least=1, where={"method": "lasso"}),
    fit("svm 0.8 × as fast as LIBSVM", "kernels", least=0.8, where={"method": frozenset({"svm"})}),
    fit("mlp 1.5 × as fast at equal epochs", "networks", least=1.5),
    splits("10 folds 5 × as fast", column="ratio", least=5, where={"protocol": "stratified-k-fold|k-fold"}),
    splits("leave-one-out 100 × as fast", column="ratio", least=100, where={"protocol": "leave-one-out"}),
    splits(
        "leave-one-out in 3 fits",
        column="in how many fits",
        most=3,
        where={"protocol": "leave-one-out", "method": "linear-regression|lda", "rows": FULL},
    ),
    splits(
        "leave-one-out in 10 fits",
        column="in how many fits",
        most=10,
        where={"protocol": "leave-one-out", "method": "naive-bayes", "rows": FULL},
    ),
    splits(
        "leave-one-out with cells imputed in 50 fits",
        column="in how many fits",
        most=50,
        where={"protocol": "leave-one-out", "rows": ".*empty"},
    ),
    Goal(
        "--help in 130 ms", "startup", "median (range)", most=130, where={"command": "mlcli --help"}, by="command"
    ),
    Goal(
        "a command within 1.5 × the imports of NumPy and pandas",
        "startup",
        "÷ importing numpy and pandas",
        most=1.5,
        where={"command": "mlcli eval iris -m naive-bayes"},
        by="command",
    ),
    Goal("a large file within 2 × pandas", "reading", "÷ pandas", most=2, by="cells"),
    Goal("a million rows in 0.7 GB", "reading", "memory: mlcli", most=0.7, by="cells"),
    Goal(
        "6 × as fast as SKLL",
        "shell",
        "ratio of wall",
        least=6,
        where={"state": "warm", "program": "SKLL"},
        by="models",
    ),
    Goal(
        "5 × as fast as a script by hand",
        "shell",
        "ratio of wall",
        least=5,
        where={"state": "warm", "program": "scikit-learn"},
        by="models",
    ),
    Goal(
        "as fast as either where nothing is compiled",
        "shell",
        "ratio of wall",
        least=1,
        where={"state": "cold", "program": "SKLL|scikit-learn"},
        by="program",
    ),
)


def summary(sections: Mapping[str, str]) -> str:
    """A row for each goal whose section is there."""
    rows = []
    for goal in GOALS:
        counting = [record for record in records(sections.get(goal.section, "")) if goal.concerns(record)]
        if counting:
            rows.append((goal.what, *reached(goal, counting), goal.section))
    return markdown(("goal", "reached (range, how often)", "met", "section"), rows)


def reached(goal: Goal, counting: list[Record]) -> tuple[str, str]:
    """The range of each method with how many of its rows meet the goal, and how many of all."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for record in counting:
        numbers, work, number = (
            found.setdefault(record[goal.by], {}),
            _work(record),
            first_number(record[goal.column]),
        )
        numbers[work] = goal.harder(number, numbers.get(work, number))
    ranges = {name: list(numbers.values()) for name, numbers in found.items()}
    words = [f"{name} {_range(numbers)}{_of_several(goal, numbers)}" for name, numbers in ranges.items()]
    return "; ".join(words), _share(goal, [number for numbers in ranges.values() for number in numbers])


def _work(record: Record) -> tuple[str, ...]:
    """What is done: of a peer's solvers that do the same, the fastest counts."""
    return tuple(SOLVER.sub("", cell) for name, cell in record.items() if name in WORK)


def _range(numbers: list[float]) -> str:
    low, high = (f"{extreme:g}" for extreme in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def _of_several(goal: Goal, numbers: list[float]) -> str:
    return f" ({_share(goal, numbers)})" if len(numbers) > 1 else ""


def _share(goal: Goal, numbers: list[float]) -> str:
    return f"{sum(map(goal.met, numbers))} of {len(numbers)}"


def first_number(cell: str) -> float:
    """The number that a cell begins with, whatever is around it."""
    found = NUMBER.search(cell)
    if found is None:
        raise ValueError(f"no number in {cell!r}")
    return float(found.group())


def records(text: str) -> Iterator[Record]:
    """The rows of every Markdown table in a text, by the words of its header."""
    header: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            header = []
        elif not header:
            header = cells
        elif set(cells[0]) != {"-"}:
            yield dict(zip(header, cells, strict=True))
