"""Which level of a target is the anomaly: said in the sidecar, else the rarer; the good level comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mlcli.core.errors import DataError
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.write_sidecar import write_sidecar
from mlcli.tasks.anomaly import ScreenedRows

Loaded = Callable[..., Dataset]


def csv(labels: Sequence[object]) -> str:
    return "a,y\n" + "".join(f"{row}.5,{label}\n" for row, label in enumerate(labels))


def labels_of(dataset: Dataset) -> list[int]:
    return list(map(int, ScreenedRows.from_table(dataset.table, dataset.schema).labels))


def test_the_level_in_the_sidecar_is_the_anomaly_even_if_it_is_the_more_frequent(loaded: Loaded) -> None:
    dataset = loaded(csv("bbbg"), "target: y\nanomaly: b\ntask: anomaly\n")
    assert dataset.schema.the("target").levels == ("g", "b")  # type: ignore[union-attr]
    assert labels_of(dataset) == [1, 1, 1, 0]
    assert not any("rarer" in note for note in dataset.notes)


def test_else_the_rarer_level_is_and_a_note_says_so(loaded: Loaded) -> None:
    dataset = loaded(csv("gbgg"), "target: y\n", task="anomaly")
    assert labels_of(dataset) == [0, 1, 0, 0]
    assert any("'b' is taken as the anomaly" in note for note in dataset.notes)


@pytest.mark.parametrize(("cells", "expected"), [([0, 1, 0, 0], [0, 1, 0, 0]), ([1, 0, 1, 1], [0, 1, 0, 0])])
def test_zeros_and_ones_are_labels(loaded: Loaded, cells: list[int], expected: list[int]) -> None:
    assert labels_of(loaded(csv(cells), "target: y\n", task="anomaly")) == expected


def test_an_empty_label_is_not_known(loaded: Loaded) -> None:
    assert labels_of(loaded(csv(["g", "", "b", "g"]), "target: y\n", task="anomaly")) == [0, -1, 1, 0]


def test_several_levels_may_be_anomalies(loaded: Loaded) -> None:
    dataset = loaded(csv("abcd"), "target: y\nanomaly: [b, d]\ntask: anomaly\n")
    assert dataset.schema.the("target").levels == ("any other", "b or d")  # type: ignore[union-attr]
    assert labels_of(dataset) == [0, 1, 0, 1]


def test_a_target_of_more_levels_judges_nothing_and_a_note_says_how_it_could(loaded: Loaded) -> None:
    dataset = loaded(csv("abca"), "target: y\n", task="anomaly")
    assert labels_of(dataset) == [-1] * 4
    assert any("'anomaly: LEVEL'" in note for note in dataset.notes)


def test_a_level_that_does_not_exist_is_refused_with_the_one_that_is_meant(loaded: Loaded) -> None:
    with pytest.raises(DataError, match="'malignent'") as refused:
        loaded(csv(["benign", "malignant"]), "target: y\nanomaly: malignent\ntask: anomaly\n")
    assert "malignant" in refused.value.problems[0].hint


def test_for_other_tasks_the_levels_stay_as_they_are(loaded: Loaded) -> None:
    dataset = loaded(csv("bbgg"), "target: y\nanomaly: b\ntask: [classification, anomaly]\n")
    assert dataset.schema.the("target").levels == ("b", "g")  # type: ignore[union-attr]


@pytest.mark.parametrize("levels", ["", "columns: {y: {levels: [a, b, c, d]}}\n"])
@pytest.mark.parametrize("anomaly", ["b", "[b, d]"])
def test_a_written_sidecar_singles_out_the_same_rows(write: Loaded, levels: str, anomaly: str) -> None:
    path = write(csv("abcd"), f"target: y\nanomaly: {anomaly}\ntask: anomaly\n{levels}")
    original = load(str(path))
    write_sidecar(original, overwrite=True)
    again = load(str(path))
    assert again.content == original.content
    assert np.array_equal(labels_of(again), labels_of(original))
