"""Transactions in long form: a row for each item, read as a row for each transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.core.errors import DataError
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.write_sidecar import write_sidecar

Loaded = Callable[..., Dataset]
Refused = Callable[..., list[str]]
LONG = "basket,product,price\n7,milk,2\n3,bread,1\n7,bread,1\n3,bread,1\n9,1%_fat,4\n"
ROLES = "roles: {group: [basket], item: [product]}"


def test_two_roles_say_that_the_file_is_in_long_form(loaded: Loaded) -> None:
    dataset = loaded(LONG, ROLES)
    assert dataset.task == "association"
    assert dataset.schema.names() == ("1%_fat", "bread", "milk")
    assert dataset.table.codes.tolist() == [[0, 1, 1], [0, 1, 0], [1, 0, 0]]


def test_what_was_made_of_the_rows_is_said(loaded: Loaded) -> None:
    notes = loaded(LONG, ROLES).notes
    assert "long form: 5 rows were read as 3 transactions ('basket') of 3 items ('product')" in notes
    assert "rows that name an item of their transaction again, which counts once: 1" in notes
    assert "columns that are not looked at, since they tell of single rows: price" in notes


def test_long_and_wide_files_of_the_same_baskets_are_the_same_data(loaded: Loaded) -> None:
    items = "boolean, c: boolean, d: boolean"
    wide = loaded("b,c,d\n1,1,0\n1,0,0\n0,0,1\n", f"task: association\ncolumns: {{b: {items}}}\ntarget: null")
    long = loaded("k,thing\n1,c\n1,b\n2,b\n3,d\n", "roles: {group: [k], item: [thing]}")
    assert long.content == wide.content


def test_a_target_or_another_task_leaves_the_rows_as_they_are(loaded: Loaded) -> None:
    relevance = "target: price\nroles: {group: [basket], item: [product]}"
    assert len(loaded(LONG, relevance)) == 5
    assert loaded(LONG, relevance, task="ranking").in_file is None


def test_what_is_no_long_form_is_refused(refused: Refused) -> None:
    assert (
        "none says which rows belong to one transaction"
        in refused(LONG, "task: association\nroles: {item: [product]}")[0]
    )
    weighted = "roles: {group: [basket], item: [product], weight: [price]}"
    assert "rules count transactions" in refused(LONG, weighted)[0]
    assert "the item is missing" in refused("basket,product\n1,\n2,b\n", ROLES)[0]
    assert "the group is missing" in refused("basket,product\n,a\n2,b\n", ROLES)[0]


def test_more_cells_than_can_be_held_are_refused_before_they_are_made(tmp_path: Path) -> None:
    lines = [f"{basket},item{basket}" for basket in range(8_000)]
    (tmp_path / "many.csv").write_text("basket,product\n" + "\n".join(lines) + "\n")
    (tmp_path / "many.yaml").write_text(ROLES)
    with pytest.raises(DataError, match=r"8,000 transactions of 8,000 items are 64,000,000 cells"):
        load(str(tmp_path / "many.csv"))


def test_the_sidecar_that_is_written_describes_the_file_and_loads_as_the_same_data(
    loaded: Loaded, tmp_path: Path
) -> None:
    dataset = loaded(LONG, ROLES)
    written = write_sidecar(dataset, tmp_path / "my.yaml", overwrite=True)
    assert "basket: {kind: numeric, role: group}" in written.read_text()
    assert load(str(tmp_path / "my.csv")).content == dataset.content
