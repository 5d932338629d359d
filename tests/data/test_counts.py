"""Rows that count for several are dealt as rows are."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.core.errors import DataError
from mlcli.data.load import load
from tests.support.shell import document, typed


def _file(folder: Path, counts: str, role: str = "count") -> Path:
    rows = "".join(f"{x},{n},{'ab'[int(x) % 2]}\n" for x, n in enumerate(counts.split()))
    (folder / "cases.csv").write_text(f"x,n,y\n{rows}")
    (folder / "cases.yaml").write_text(f"columns:\n  n: {{role: {role}}}\n")
    return folder / "cases.csv"


def test_each_row_stands_as_often_as_it_counts(tmp_path: Path) -> None:
    dataset = load(str(_file(tmp_path, "3 0 2 4")))
    assert dataset.table.cells("x").tolist() == [0, 0, 0, 2, 2, 3, 3, 3, 3]
    assert [column.name for column in dataset.schema.features()] == ["x"]
    note = "4 rows of the file stand for 9, as 'n' counts, and splits part them; 1 of count 0 are left out"
    assert note in dataset.notes


@pytest.mark.parametrize(("counts", "why"), [("1 2.5", "whole"), ("1 -1", "whole"), ("0 0", "no rows")])
def test_what_is_no_count_is_refused(tmp_path: Path, counts: str, why: str) -> None:
    with pytest.raises(DataError, match=why):
        load(str(_file(tmp_path, counts)))


def test_rows_of_weight_0_judge_nothing_and_are_not_dealt(tmp_path: Path) -> None:
    data = _file(tmp_path, "1 1 0 1 1 0 1 1", role="weight")
    (cell,) = document(typed("eval", str(data), "-m", "zero-r", "--protocol", "leave-one-out", "--json"))["cells"]
    assert cell["splits"] == 6
