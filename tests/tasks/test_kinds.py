"""The kinds table: what it names by text is there."""

from __future__ import annotations

from dataclasses import fields

import pytest

from mlcli.tasks.table import KINDS, Kind, named

PLACES = [
    pytest.param(place, id=f"{kind.name}-{column.name}")
    for kind in KINDS
    for column in fields(Kind)
    if column.name.endswith("_at") and (place := getattr(kind, column.name))
]


@pytest.mark.parametrize("place", PLACES)
def test_what_a_kind_names_exists(place: str) -> None:
    assert callable(named(place))
