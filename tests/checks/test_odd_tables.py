"""Whatever a file holds, an audit ends: tables of a few odd columns, with gaps, huge numbers, or a single row."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.checks.audit import issues_of_data
from mlcli.core.errors import MlcliError
from mlcli.core.findings import GRAVITIES
from mlcli.data.load import load

CELLS: dict[str, Callable[[random.Random, int], str]] = {
    "numbers": lambda rng, row: repr(rng.gauss(0, 1)),
    "whole": lambda rng, row: str(rng.randint(-3, 5)),
    "huge": lambda rng, row: rng.choice(["1e308", "-1e308", "1e-308", "0"]),
    "levels": lambda rng, row: rng.choice("abc"),
    "yes": lambda rng, row: rng.choice(["yes", "no"]),
    "dates": lambda rng, row: f"2024-01-{rng.randint(1, 28):02d}",
    "texts": lambda rng, row: f"t{rng.randint(0, 10**6)}",
    "same": lambda rng, row: "1",
    "empty": lambda rng, row: "",
    "counted": lambda rng, row: str(row),
}
NAMES = ("Id", "split", "fold", "weight", "count", "patient", "time", "a", "b", "c")
ROWS = (1, 2, 3, 19, 20, 60)
GAPS = 0.1


def table(rng: random.Random) -> str:
    names = rng.sample(NAMES, rng.randint(2, 6))
    kinds = [rng.choice(list(CELLS)) for _ in names]
    rows = [
        ",".join("" if rng.random() < GAPS else CELLS[kind](rng, row) for kind in kinds)
        for row in range(rng.choice(ROWS))
    ]
    return "\n".join([",".join(names), *rows]) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_an_audit_ends_without_a_warning_of_the_machine(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(table(random.Random(seed)))
    try:
        dataset = load(str(path))
    except MlcliError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(issue.gravity in GRAVITIES and issue.code for issue in issues_of_data(dataset))
