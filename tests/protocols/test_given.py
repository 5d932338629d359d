"""Given parts: a column says which rows are learned from; compared with PredefinedSplit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB

from mlcli.core.errors import DataError, MlcliWarning
from mlcli.core.rows import SplitInfo
from mlcli.data.load import load
from mlcli.protocols.given import Given
from tests.support.shell import document, typed

RNG = np.random.default_rng(1)


def strata_of(values: list[str], groups: list[int] | None = None) -> SplitInfo:
    names, codes = np.unique(values, return_inverse=True)
    kept = None if groups is None else np.array(groups, np.int32)
    return SplitInfo(len(values), None, kept, part=codes.astype(np.int32), parts=tuple(names.tolist()))


@settings(max_examples=80, deadline=None)
@given(folds=st.lists(st.integers(-1, 5), min_size=2, max_size=40))
def test_folds_are_those_of_scikit_learn(folds: list[int]) -> None:
    assume(len(set(folds)) > 1)
    made = Given().splits(strata_of([str(fold) for fold in folds]), RNG)
    for split, (train, test) in zip(made, PredefinedSplit(folds).split(), strict=True):
        assert split.train.tolist() == train.tolist()
        assert split.test.tolist() == test.tolist()


def test_rows_of_validation_are_learned_from_unless_that_is_not_wished() -> None:
    strata = strata_of(["Train", "test", "dev", "train", "validation", "test"])
    (split,) = Given().splits(strata, RNG)
    assert (split.train.tolist(), split.test.tolist()) == ([0, 2, 3, 4], [1, 5])
    (split,) = Given(validation="unused").splits(strata, RNG)
    assert (split.train.tolist(), split.test.tolist()) == ([0, 3], [1, 5])


@pytest.mark.parametrize(
    ("strata", "what"),
    [
        (SplitInfo(4), "needs a column that says which part a row is in"),
        (strata_of(["train", "train"]), "the parts are train"),
        (strata_of(["train", "test", "other"]), "the parts are other, test, train"),
        (strata_of(["1", "1"]), "needs at least 2 folds, and there is only 1"),
        (
            SplitInfo(3, part=np.array([0, 1, -1], np.int32), parts=("test", "train")),
            "the part of 1 rows is missing",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(strata: SplitInfo, what: str) -> None:
    with pytest.raises(DataError, match=what):
        Given().splits(strata, RNG)


def test_a_group_on_both_sides_is_warned_of() -> None:
    with pytest.warns(MlcliWarning, match="groups stand on both sides"):
        Given().splits(strata_of(["train", "test", "train"], [0, 0, 1]), RNG)


def test_the_published_split_of_segment_gives_what_scikit_learn_makes_of_it() -> None:
    table = pd.read_csv("datasets/segment.csv").drop(columns="region-pixel-count")
    train, test = (table[table["split"] == part].drop(columns="split") for part in ("train", "test"))
    peer = GaussianNB(var_smoothing=1e-9).fit(train.drop(columns="class"), train["class"])
    accuracy = peer.score(test.drop(columns="class"), test["class"])
    words = ("-m", "naive-bayes", "--protocol", "given", "--metric", "accuracy", "--json")
    cell = document(typed("eval", "segment", *words))["cells"][-1]
    assert cell["metrics"]["accuracy"]["mean"] == pytest.approx(accuracy, abs=0.01)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("split", ["train", "test"], "part"),
        ("Partition", ["training", "dev", "testing"], "part"),
        ("fold", ["0", "1", "2"], "part"),
        ("split", ["banana", "pine"], "feature"),
        ("fold", ["0.5", "1.5"], "feature"),
        ("fold", ["7", "8"], "feature"),
        ("colour", ["train", "test"], "feature"),
    ],
)
def test_a_column_of_parts_is_recognised_by_name_and_values_and_that_is_said(
    name: str, values: list[str], role: str, tmp_path: Path
) -> None:
    file = tmp_path / "rows.csv"
    rows = [f"{place % 7}.5,{values[place % len(values)]},{'ab'[place % 2]}" for place in range(30)]
    file.write_text(f"x,{name},y\n" + "\n".join(rows) + "\n")
    dataset = load(str(file), target="y")
    assert [field.role for field in dataset.schema][1] == role
    assert any("for protocol: given" in note for note in dataset.notes) == (role == "part")
