"""Progress of long work on stderr, and the memory that methods with all pairs of rows need."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from mlcli.cli import _running
from mlcli.core.errors import FitError
from mlcli.core.params import build
from mlcli.core.pipeline import learn
from mlcli.core.registry import MODELS
from mlcli.core.schema import Schema, SchemaField
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import BatchProgress
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec
from mlcli.experiment.spec.plan import plan
from mlcli.experiment.spec.suitability import memory_remarks
from mlcli.tasks.table import kinds_of
from tests.support.rows import table_of, valued
from tests.support.shell import typed

ROWS = 1000
NUMBERS = {name: np.random.default_rng(1).normal(size=ROWS).tolist() for name in "abc"}


def test_a_pipe_gets_a_line_for_each_finished_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_running, "BETWEEN_LINES", 0.0)
    result = typed("eval", "iris", "-m", "knn", "-m", "lda", "--jobs", "1")
    lines = [line for line in result.stderr.splitlines() if "running:" in line]
    assert any(line.startswith("1 of 4 models done after") and "running: iris: " in line for line in lines)
    assert lines[-1].startswith("4 of 4 models done")


def test_quick_work_prints_no_progress() -> None:
    assert "running:" not in typed("eval", "iris", "-m", "knn").stderr


def test_the_model_that_begins_is_named_before_it_is_fitted() -> None:
    cells = plan(Experiment(data=(DataSpec("iris"),), models=(ModelSpec("knn"),)))
    seen: list[BatchProgress] = []
    run(cells, jobs=1, on_progress=seen.append)
    assert (seen[0].done_splits, seen[0].label) == (0, cells[0].label)


def test_a_fit_that_memory_cannot_hold_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLCLI_MEMORY", "30MB")
    rows = valued(table_of(NUMBERS), NUMBERS["a"])
    with pytest.raises(
        FitError, match=r"kernel-ridge needs about 38\.1 MiB of memory for the pairs of 1,000 rows"
    ):
        learn(MODELS.load("kernel-ridge")(), rows, np.random.default_rng(1))


def test_much_memory_is_said_before_the_fit(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{row % 97},{row % 89}.5\n" for row in range(6000)), encoding="utf-8")
    models = (ModelSpec("kernel-ridge"), ModelSpec("ridge"), ModelSpec("bagging", {"base": "kernel-ridge"}))
    cells = plan(Experiment(data=(DataSpec(str(path), target="y"),), models=models))
    sentences = memory_remarks(cells)  # 40 bytes × 6,000²
    assert [sentence.split(" of ")[1].split(" needs")[0] for sentence in sentences] == ["kernel-ridge", "bagging"]
    assert all("1.34 GiB" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("use", "params"),
    [
        ("kernel-ridge", {}),
        ("k-medoids", {}),
        ("divisive", {}),
        ("agglomerative", {"linkage": "complete"}),
        ("mds", {}),
    ],
)
def test_the_estimate_is_near_what_a_fit_holds(use: str, params: dict[str, str]) -> None:
    model, table = build(MODELS.load(use), params), table_of(NUMBERS)
    schema = Schema(tuple(map(SchemaField, table.columns)))
    regresses = use == "kernel-ridge"
    rows = valued(table, NUMBERS["a"]) if regresses else kinds_of(type(model))[0].rows.from_table(table, schema)
    tracemalloc.start()
    learn(model, rows, np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 < model.bytes_per_pair * ROWS**2 / peak < 2.0
