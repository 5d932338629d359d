"""Joins: the rows of a left, inner and outer join beside pandas; doubled, empty and unmatched keys."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import pytest

from mlcli.core.errors import DataError, UsageError
from mlcli.data.join import join, pairs_of_names
from mlcli.data.records import Records, read_records

ORDERS = "order,customer,n\n1,a,3\n2,b,4\n3,c,5\n4,,6\n5,a,1\n"
CUSTOMERS = "id,name,n\na,Ann,1\nb,Bob,2\nd,Dan,3\n"


def read(text: str, name: str = "file.csv") -> Records:
    """A file by its text."""
    return read_records(text.encode(), name)


@pytest.mark.parametrize("how", ["left", "inner", "outer"])
def test_rows_are_those_of_pandas(how: Literal["left", "inner", "outer"]) -> None:
    rng = np.random.default_rng(0)
    a = pd.DataFrame({"k": rng.integers(0, 9, 30).astype(str), "x": np.arange(30).astype(str)})
    b = pd.DataFrame({"k": rng.integers(4, 14, 20).astype(str), "y": np.arange(20).astype(str)})
    theirs = a.merge(b, on="k", how=how).fillna("")
    found = join(read(a.to_csv(index=False)), read(b.to_csv(index=False)), [("k", "k")], how, many=True)
    assert sorted(zip(*found.columns.values(), strict=True)) == sorted(
        map(tuple, theirs[["k", "x", "y"]].to_numpy())
    )


def test_what_found_no_match_is_counted() -> None:
    found = join(read(ORDERS), read(CUSTOMERS), pairs_of_names(["customer=id"]))
    assert list(found.columns) == ["order", "customer", "n", "name", "n (2)"]
    assert found.columns["name"] == ["Ann", "Bob", "", "", "Ann"]
    assert (found.matched, found.a.unmatched, found.a.empty, found.b.unmatched) == (3, 1, 1, 1)
    assert (found.a.examples, found.b.examples) == ((("c",),), (("d",),))
    assert found.a.doubled == {("a",): 2}
    assert found.renamed == {"n": "n (2)"}


def test_rows_are_not_multiplied_unasked() -> None:
    twice = read("id,name\na,Ann\na,Anna\nz,Zoe\nz,Zora\n", "customers.csv")
    with pytest.raises(DataError, match=r"5 rows of file.csv would become 7: a \(2 times\)"):
        join(read(ORDERS), twice, [("customer", "id")])
    assert len(join(read(ORDERS), twice, [("customer", "id")], many=True)) == 7


def test_keys_that_are_doubled_but_asked_for_by_nobody_do_no_harm() -> None:
    twice = read("id,name\na,Ann\nz,Zoe\nz,Zora\n")
    assert len(join(read(ORDERS), twice, [("customer", "id")])) == 5


def test_a_key_of_two_columns() -> None:
    a, b = read("x,y,n\n1,1,p\n1,2,q\n"), read("x,y,m\n1,2,r\n2,1,s\n")
    assert join(a, b, pairs_of_names(["x", "y"])).columns["m"] == ["", "r"]


def test_a_key_that_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match="there is no column 'customr' to join on"):
        join(read(ORDERS), read(CUSTOMERS), [("customr", "id")])
    with pytest.raises(UsageError, match="no key"):
        pairs_of_names(["=id"])
