"""Datasets with one fault each, made for one check: sound rows of fixed random numbers, then the fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

ROWS = 200
Columns = dict[str, list[str]]


@dataclass(frozen=True)
class Fault:
    """The code that must be found, how sound columns are spoilt, and what the sidecar says."""

    code: str
    spoil: Callable[[Columns, np.random.Generator], object]
    sidecar: str = "target: y\n"
    column: str = ""
    """The column that is to be named, if one is."""
    protocol: str = ""


def sound(rows: int = ROWS) -> tuple[Columns, np.random.Generator]:
    """Two numbers and one column of levels that tell something of a class, none of them all."""
    rng = np.random.default_rng(7)
    a, b = rng.normal(50, 10, rows), rng.normal(120, 15, rows)
    colour = rng.choice(["red", "green", "blue"], rows)
    y = np.where((a - 50) / 10 + (b - 120) / 15 + rng.normal(0, 1, rows) > 0, "up", "down")
    columns = {"a": written(a), "b": written(b), "colour": colour.tolist(), "y": y.tolist()}
    return columns, rng


def written(numbers: np.ndarray) -> list[str]:
    """Numbers as a file has them."""
    return [f"{number:.3f}" for number in numbers]


def csv_of(columns: Mapping[str, Sequence[str]]) -> str:
    """The text of a file."""
    rows = zip(*columns.values(), strict=True)
    return "\n".join(",".join(row) for row in [tuple(columns), *rows]) + "\n"


def _first(columns: Columns, name: str, cells: Sequence[str], start: int = 0) -> None:
    columns[name] = [*columns[name][:start], *cells, *columns[name][start + len(cells) :]]


def _added(columns: Columns, name: str, cells: Sequence[object]) -> None:
    """A column before the target."""
    target = columns.pop("y")
    columns[name] = [str(cell) for cell in cells]
    columns["y"] = target


def _repeated(columns: Columns, count: int) -> None:
    for name in columns:
        columns[name] += columns[name][:count]


def _contradicted(columns: Columns) -> None:
    _repeated(columns, 30)
    _first(columns, "y", ["up", "down"] * 15, ROWS)


def _few(columns: Columns, rows: int) -> None:
    for name in columns:
        columns[name] = columns[name][:rows]


def _leak(columns: Columns) -> None:
    _added(columns, "outcome_code", [{"up": 7, "down": 3}[cell] for cell in columns["y"]])


def _emptied_where(columns: Columns) -> None:
    """Blood is drawn from those above 50 only."""
    columns["b"] = [b if float(a) > 50 else "" for a, b in zip(columns["a"], columns["b"], strict=True)]


def _emptied_by_chance(columns: Columns, rng: np.random.Generator) -> None:
    columns["b"] = [b if rng.random() > 0.25 else "" for b in columns["b"]]


def _walk(columns: Columns, rng: np.random.Generator) -> None:
    level = np.cumsum(rng.normal(0, 1, ROWS))
    columns["y"] = ["up" if value > np.median(level) else "down" for value in level]
    days = np.datetime64("2024-01-01") + np.arange(ROWS)
    _added(columns, "date", days.astype(str).tolist())


FAULTS = (
    Fault("nothing-to-learn-from", lambda c, r: [c.pop(name) for name in ("a", "b", "colour")]),
    Fault("identifiers", lambda c, r: _added(c, "Id", [*range(1000, 1180), *range(1000, 1020)]), column="Id"),
    Fault("identifiers", lambda c, r: _added(c, "number", range(1, ROWS + 1)), column="number"),
    Fault("leaks", lambda c, r: _leak(c), column="outcome_code"),
    Fault("groups-cut", lambda c, r: _added(c, "patient", [f"p{n // 4}" for n in range(ROWS)]), column="patient"),
    Fault("groups-cut", lambda c, r: _added(c, "subject_id", [n // 5 for n in range(ROWS)]), column="subject_id"),
    Fault("time-ignored", _walk, column="date"),
    Fault("time-ignored", lambda c, r: _added(c, "seen", range(ROWS)), "target: y\nroles: {order: [seen]}\n"),
    Fault("duplicates", lambda c, r: _repeated(c, 20)),
    Fault(
        "unused-weights",
        lambda c, r: _added(c, "sample_weight", r.integers(1, 9, ROWS).tolist()),
        column="sample_weight",
    ),
    Fault(
        "odd-weights",
        lambda c, r: _added(c, "w", [500, *[1.5] * (ROWS - 1)]),
        "target: y\nroles: {weight: [w]}\n",
        column="w",
    ),
    Fault(
        "odd-weights", lambda c, r: _added(c, "w", [0, *[1.5] * (ROWS - 1)]), "target: y\nroles: {weight: [w]}\n"
    ),
    Fault(
        "given-parts",
        lambda c, r: _added(c, "split", ["train"] * 150 + ["test"] * 50),
        "target: y\nroles: {feature: [split]}\n",
        column="split",
    ),
    Fault("given-parts", lambda c, r: _added(c, "split", ["train"] * 150 + ["test"] * 50), column="split"),
    Fault("splitting", lambda c, r: _first(c, "y", ["odd"] * 4)),
    Fault("splitting", lambda c, r: _few(c, 25)),
    Fault("rare-classes", lambda c, r: _first(c, "y", ["odd"] * 4), column="y"),
    Fault("one-class", lambda c, r: _first(c, "y", ["up"] * ROWS), column="y"),
    Fault("one-value", lambda c, r: _first(c, "y", ["5"] * ROWS), "target: y\ntask: regression\n", column="y"),
    Fault("imbalance", lambda c, r: _first(c, "y", ["up"] * 196), column="y"),
    Fault("few-rows", lambda c, r: _few(c, 12)),
    Fault("unlabelled", lambda c, r: _first(c, "y", [""] * 30)),
    Fault(
        "scattered",
        lambda c, r: _added(c, "word", [f"w{n % 50}" for n in range(ROWS)]),
        "target: y\nroles: {sequence: [word]}\n",
    ),
    Fault(
        "contradictions",
        lambda c, r: _contradicted(c),
    ),
    Fault("constant", lambda c, r: _added(c, "k", [1] * ROWS), column="k"),
    Fault("nearly-constant", lambda c, r: _added(c, "k", [1] * (ROWS - 1) + [2]), column="k"),
    Fault("much-missing", lambda c, r: _first(c, "a", [""] * 140), column="a"),
    Fault("many-levels", lambda c, r: _added(c, "street", [f"s{n % 120}" for n in range(ROWS)]), column="street"),
    Fault("stand-ins", lambda c, r: _first(c, "a", ["-99"] * 5), column="a"),
    Fault("stand-ins", lambda c, r: _first(c, "b", ["9999"] * 5), column="b"),
    Fault("disguised-zeros", lambda c, r: _first(c, "b", ["0"] * 8), column="b"),
    Fault("outliers", lambda c, r: _first(c, "b", ["1200"], 17), column="b"),
    Fault("dependent-columns", lambda c, r: _added(c, "a2", [2 * float(a) for a in c["a"]]), column="a2"),
    Fault(
        "dependent-columns",
        lambda c, r: _added(c, "s", [float(a) + float(b) for a, b in zip(c["a"], c["b"], strict=True)]),
        column="s",
    ),
    Fault("same-levels", lambda c, r: _added(c, "farbe", [cell[::-1] for cell in c["colour"]]), column="farbe"),
    Fault(
        "far-from-gaussian",
        lambda c, r: _added(c, "income", written(np.exp(r.normal(10, 1.5, ROWS)))),
        column="income",
    ),
    Fault("differ-in-case", lambda c, r: _first(c, "colour", ["Red"] * 9), column="colour"),
    Fault(
        "near-spellings",
        lambda c, r: _added(c, "city", ["Muenchen", "Munchen", "München", "Berlin"] * 50),
        column="city",
    ),
    Fault("near-spellings", lambda c, r: _first(c, "colour", ["gren"] * 2), column="colour"),
    Fault(
        "odd-formats",
        lambda c, r: _added(c, "when", [f"2024-01-{n % 28 + 1:02d}" for n in range(196)] + ["3.1.2024"] * 4),
        column="when",
    ),
    Fault("words-among-numbers", lambda c, r: _first(c, "a", ["NA"] * 9), column="a"),
    Fault("stand-in-words", lambda c, r: _first(c, "colour", ["unknown"] * 4), column="colour"),
    Fault("ordered-levels", lambda c, r: _added(c, "risk", ["low", "medium", "high", "low"] * 50), column="risk"),
    Fault("ordered-levels", lambda c, r: _added(c, "age", ["<30", "30-39", "40-49", "50+"] * 50), column="age"),
    Fault("missing-by-rule", lambda c, r: _emptied_where(c), column="b"),
    Fault("missing-at-random", _emptied_by_chance, column="b"),
    Fault("imputing", _emptied_by_chance, column="b"),
)
