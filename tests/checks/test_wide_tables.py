"""Thousands of columns: the audit does not compare all pairs at once, and states its limits."""

from __future__ import annotations

import tracemalloc
from collections import UserDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from mlcli.checks import context as checks_context
from mlcli.checks.audit import issues_of_data
from mlcli.checks.context import context_of
from mlcli.checks.data import numbers
from mlcli.core.schema import Column
from mlcli.data.columns import TypedColumn
from mlcli.data.load import load
from mlcli.data.target import guessed_target


class CountedColumns(UserDict[str, TypedColumn]):
    """Columns that count how often somebody goes through all of them."""

    walks = 0

    def __iter__(self) -> Iterator[str]:
        self.walks += 1
        return super().__iter__()


def table(folder: Path, columns: Mapping[str, Sequence[object]]) -> Path:
    path = folder / "wide.csv"
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sentences(path: Path) -> list[str]:
    return [issue.sentence for issue in issues_of_data(load(str(path), target="y"))]


def noise(seed: int, rows: int = 60) -> list[object]:
    return [f"{value:.4f}" for value in np.random.default_rng(seed).normal(size=rows)]


def test_the_guess_of_a_target_goes_through_the_columns_a_few_times_only() -> None:
    cells = np.random.default_rng(1).normal(size=20)
    columns = CountedColumns({f"g{i}": TypedColumn(Column(f"g{i}"), cells, False, "") for i in range(300)})
    assert guessed_target(columns, tuple(columns)).name == "g299"
    assert columns.walks < 20


def test_coordinates_are_still_no_targets() -> None:
    cells = np.random.default_rng(1).normal(size=20)
    columns = {name: TypedColumn(Column(name), cells, False, "") for name in ("size", "x", "y")}
    assert guessed_target(columns, tuple(columns)).name == "y"
    columns["depth"] = columns["size"]
    assert guessed_target(columns, tuple(columns)).name == "depth"


@pytest.mark.parametrize("gaps", [False, True])
def test_columns_that_say_the_same_are_those_that_numpy_correlates(
    monkeypatch: pytest.MonkeyPatch, *, gaps: bool
) -> None:
    rng = np.random.default_rng(2)
    cells = rng.normal(size=(50, 12))
    cells[:, 7], cells[:, 9], cells[:, 11] = -3 * cells[:, 2] + 1, cells[:, 4] / 7, cells[:, 2] * 5
    if gaps:
        cells[:5, 3] = np.nan
    standard = (cells - np.nanmean(cells, axis=0)) / np.nanstd(cells, axis=0)
    correlations = np.abs(np.corrcoef(np.delete(cells, range(5), axis=0), rowvar=False))
    pairs = np.argwhere(np.triu(correlations, 1) > 1 - 1e-6).tolist()
    firsts = {second: min(first for first, other in pairs if other == second) for _, second in pairs}
    monkeypatch.setattr(numbers, "BLOCK_CELLS", 40)  # three columns at once
    assert numbers._first_same_columns(standard) == firsts == {7: 2, 9: 4, 11: 2}


def test_correlations_of_thousands_of_columns_are_never_held_at_once() -> None:
    cells = np.random.default_rng(3).normal(size=(30, 3000))
    cells = (cells - cells.mean(axis=0)) / cells.std(axis=0)
    tracemalloc.start()
    assert numbers._first_same_columns(cells) == {}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000**2 * 8  # one matrix of all pairs


def test_many_equal_columns_are_one_issue(tmp_path: Path) -> None:
    same, letters = noise(1), ["abc"[row * 7 % 3] for row in range(60)]
    columns: dict[str, list[object]] = {f"g{i}": same for i in range(300)}
    columns |= {f"n{i}": list(letters) for i in range(300)}
    told = [one for one in sentences(table(tmp_path, {**columns, "y": noise(2)})) if "say the same" in one]
    assert len(told) == 2
    assert told[0].startswith("column 'g0' and 299 others say the same: g1, g2")
    assert told[1].startswith("column 'n0' and 299 others say the same: n1, n2")


def test_levels_in_other_words_are_found_where_cells_are_missing_too(tmp_path: Path) -> None:
    first = ["", "", *("abcd"[row * 7 % 4] for row in range(58))]
    second = [cell and {"a": "w", "b": "z", "c": "x", "d": "y"}[cell] for cell in first]
    other = ["pqrs"[row % 4] for row in range(60)]
    path = table(tmp_path, {"first": first, "other": other, "second": second, "y": noise(2)})
    assert "columns 'first' and 'second' say the same in other words" in sentences(path)
    assert not any("'other'" in one and "say the same" in one for one in sentences(path))


def test_limits_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "MOST_COLUMNS", 3)
    monkeypatch.setattr(checks_context, "MOST_PAIRS", 10)
    columns: dict[str, list[object]] = {
        f"g{i}": ["" if row % 9 == i else cell for row, cell in enumerate(noise(i))] for i in range(5)
    }
    told = sentences(table(tmp_path, {**columns, "y": noise(9)}))
    assert "only the first 3 of 5 columns of numbers were compared with others" in told
    assert any("rules of missing cells" in sentence and "first 2 of 5 columns" in sentence for sentence in told)


def test_features_under_audit_are_found_once(tmp_path: Path) -> None:
    seen = context_of(load(str(table(tmp_path, {"a": noise(1), "y": noise(2)})), target="y"))
    assert seen.features is seen.features
