"""The experiment that ``mlcli init`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.core.errors import DataError
from mlcli.data.load import load
from mlcli.experiment.spec.cells import DataSpec
from mlcli.experiment.spec.file import check, read_experiment
from mlcli.experiment.spec.plan import plan
from mlcli.experiment.spec.templates import first_experiment
from mlcli.tasks.table import BY_NAME


def written(folder: Path, reference: str, source: str | Path) -> Path:
    path = folder / "first.yaml"
    path.write_text(first_experiment(reference, load(str(source))), encoding="utf-8")
    return path


def csv(folder: Path, name: str, rows: int) -> Path:
    path = folder / name
    lines = [f"{i},{i * 7 % 5},{'yes' if i % 3 else 'no'}" for i in range(rows)]
    path.write_text("\n".join(["a,b,is it?", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [("iris", "classification"), ("cpu", "regression"), ("labor", "classification"), ("wsn_singlehop", "anomaly")],
)
def test_a_first_experiment_asks_what_a_bare_eval_asks(tmp_path: Path, name: str, kind: str) -> None:
    path = written(tmp_path, name, name)
    assert check(path) == []
    experiment = read_experiment(path)
    assert [model.use for model in experiment.models or ()] == list(BY_NAME[kind].panel)
    assert experiment.protocol is not None
    assert experiment.protocol.use == BY_NAME[kind].protocols[0]
    assert experiment.metrics == BY_NAME[kind].metrics + BY_NAME[kind].metrics_with_labels
    assert {cell.dataset.name for cell in plan(experiment)} == {name}


def test_a_file_is_named_with_its_target_and_what_was_guessed_of_it(tmp_path: Path) -> None:
    source = csv(tmp_path, "my rows.csv", 30)
    path = written(tmp_path, "my rows.csv", source)
    text = path.read_text(encoding="utf-8")
    assert check(path) == []
    assert "- path: my rows.csv" in text
    assert '    target: "is it?"  # guessed' in text
    assert read_experiment(path).data[0].task == "classification"


def test_a_target_that_was_chosen_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "first.yaml"
    path.write_text(first_experiment("iris", load("iris", target="petal_width")), encoding="utf-8")
    assert check(path) == []
    assert read_experiment(path).data == (DataSpec("iris", "petal_width", "regression"),)


def test_every_model_is_explained_by_its_one_liner(tmp_path: Path) -> None:
    text = written(tmp_path, "iris", "iris").read_text(encoding="utf-8")
    assert "  - one-r" in text
    assert all("  # " in line for line in text.partition("models:")[2].splitlines() if line.startswith("  - "))


def test_too_few_rows_for_folds_get_leave_one_out(tmp_path: Path) -> None:
    path = written(tmp_path, "small.csv", csv(tmp_path, "small.csv", 6))
    assert check(path) == []
    experiment = read_experiment(path)
    assert experiment.protocol is not None
    assert experiment.protocol.use == "leave-one-out"


def test_one_row_is_refused(tmp_path: Path) -> None:
    dataset = load(str(csv(tmp_path, "one.csv", 1)))
    with pytest.raises(DataError, match="at least 2 rows, there are 1"):
        first_experiment("one.csv", dataset)


@pytest.mark.parametrize(("name", "metrics"), [("ruspini", 1), ("wdbc", 6)])
def test_rows_without_labels_have_a_first_experiment_without_a_target(
    tmp_path: Path, name: str, metrics: int
) -> None:
    path = tmp_path / "first.yaml"
    path.write_text(first_experiment(name, load(name, task="anomaly")), encoding="utf-8")
    assert check(path) == []
    assert len(read_experiment(path).metrics) == metrics
