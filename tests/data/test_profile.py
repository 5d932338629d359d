"""A profile says what is in each column, and what seems odd."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlcli.checks.audit import issues_of_data
from mlcli.core.serialise import plain
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.profile import LevelCount, Profile, profile
from mlcli.data.shipped import shipped_paths
from mlcli.report.formats import renderer_of
from mlcli.report.page import Page
from mlcli.report.views.dataset import profile_of

Loaded = Callable[..., Dataset]


def sentences_on(dataset: Dataset) -> list[str]:
    return [issue.sentence for issue in issues_of_data(dataset)]


def column(made: Profile, name: str) -> object:
    return next(column for column in made.columns if column.name == name)


@pytest.mark.parametrize("name", ["iris", "penguins", "labor"])
def test_numbers_are_summarised_as_by_pandas(name: str) -> None:
    described = pd.read_csv(shipped_paths()[name]).describe()
    summaries = {found.name: found for found in profile(load(name)).columns if found.numbers is not None}
    assert set(summaries) == set(described.columns)
    for label, found in summaries.items():
        numbers = found.numbers
        assert numbers is not None
        assert numbers.std is not None
        ours = [numbers.mean, numbers.std, numbers.low, numbers.median, numbers.high]
        theirs = described.loc[["mean", "std", "min", "50%", "max"], label]
        assert np.allclose(ours, theirs.to_numpy(dtype=float), rtol=1e-12)
        assert sum(numbers.counts) == described.loc["count", label]
        assert len(numbers.edges) == len(numbers.counts) + 1


def test_missing_cells_levels_and_classes_are_counted() -> None:
    made = profile(load("penguins"))
    sex = next(found for found in made.columns if found.name == "sex")
    assert (sex.kind, sex.role, sex.source, sex.missing) == ("nominal", "sensitive", "declared", 11)
    assert sex.missing_share == 11 / 344
    assert sex.levels is not None
    assert sex.levels.top == (LevelCount("male", 168, 168 / 333), LevelCount("female", 165, 165 / 333))
    assert [(found.level, found.count) for found in made.classes] == [
        ("Adelie", 152),
        ("Chinstrap", 68),
        ("Gentoo", 124),
    ]
    assert (made.rows, made.task, made.target) == (344, "classification", "species")


def test_whole_numbers_are_discrete(loaded: Loaded) -> None:
    made = profile(loaded("a,b,y\n1,1.5,u\n2,2,v\n"))
    kinds = {found.name: found.numbers.discrete for found in made.columns if found.numbers is not None}
    assert kinds == {"a": True, "b": False}


def test_only_the_most_frequent_levels_are_listed() -> None:
    vendor = profile(load("cpu")).columns[0].levels
    assert vendor is not None
    assert (vendor.levels, vendor.used, len(vendor.top)) == (30, 30, 10)
    assert sum(found.count for found in vendor.top) + vendor.others == 209


@pytest.mark.parametrize(
    ("cells", "warning"),
    [
        ([5, 6, 7, 8, -1, -1], "column 'x': -1 in 2 rows may stand for a missing value"),
        ([5, 6, 7, 8, 999, 999], "column 'x': 999 in 2 rows may stand for a missing value"),
        (["a", "b", "unknown", "a"], "column 'x': unknown in 1 row may stand for a missing value"),
        (["Red", "red", "blue"], "column 'x': the levels Red, red differ in capitals only"),
        ([1] * 199 + [2], "nearly constant: x (1 in 199 of 200)"),
    ],
)
def test_odd_cells_are_warned_of(loaded: Loaded, cells: list[object], warning: str) -> None:
    rows = "".join(f"{cell},{place}.5\n" for place, cell in enumerate(cells))
    found = sentences_on(loaded("x,y\n" + rows, "target: y\n"))
    assert any(text.startswith(warning) for text in found)


def test_classes_that_differ_in_capitals_are_warned_of(loaded: Loaded) -> None:
    found = sentences_on(loaded("x,y\n1,Yes\n2,yes\n3,no\n", "target: y\n"))
    assert "column 'y': the levels Yes, yes differ in capitals only" in found


@pytest.mark.parametrize("cells", [[-5, -1, -1, 3], [97, 98, 99, 99], [0, 1, 0, 1], [10, 20, 999]])
def test_ordinary_numbers_are_not_warned_of(loaded: Loaded, cells: list[float]) -> None:
    rows = "".join(f"{cell},{place}.5\n" for place, cell in enumerate(cells))
    found = sentences_on(loaded("x,y\n" + rows, "target: y\n"))
    assert not any("missing value" in text for text in found)


def test_odd_rows_and_classes_are_warned_of(loaded: Loaded) -> None:
    dataset = loaded("a,b,y\n1,2,u\n1,2,u\n1,3,v\n2,3,\n", "columns: {y: {levels: [u, v, w]}}\ntarget: y\n")
    text = "\n".join(sentences_on(dataset))
    assert "classes with few rows: u (2), v (1), w (0)" in text
    assert "1 of 4 rows have no target" in text
    assert "1 row repeats an earlier one" in text
    assert "only 4 rows" in text


def test_what_was_noted_while_reading_is_not_warned_of_again(loaded: Loaded) -> None:
    dataset = loaded("a,k,y\n1.5,3,u\n2,3,v\n", "target: y\n")
    assert any("the same in every row" in note for note in dataset.notes)
    assert profile(dataset, (*dataset.notes, "odd")).warnings == ("odd",)


@pytest.mark.parametrize("name", sorted(shipped_paths()))
def test_a_profile_is_strict_json(name: str) -> None:
    text = json.dumps(plain(profile(load(name))), allow_nan=False)
    assert json.loads(text)["name"] == name


def test_extreme_numbers_do_not_break_a_profile(loaded: Loaded) -> None:
    made = profile(loaded("a,y\n1e308,1.5\n-1e308,2.5\n1e308,3\n"))
    assert json.loads(json.dumps(plain(made), allow_nan=False))["columns"][0]["numbers"]["high"] == 1e308


def test_profiles_read_nothing_but_the_dataset(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("a,y\n1,u\n2,v\n")
    dataset = load(str(path))
    path.unlink()
    assert profile(dataset).rows == 2


def test_levels_as_long_as_texts_are_shortened_where_they_are_shown(loaded: Loaded) -> None:
    rows = "".join(f"{'k' * 70_000},{place % 2}\n" for place in range(8))
    made = profile(loaded("words,y\n" + rows, "target: y\n"))
    text = renderer_of("text")(profile_of(made), Page(width=100))
    assert "k" * 39 + "… 8" in text
    assert max(map(len, text.splitlines())) < 200
