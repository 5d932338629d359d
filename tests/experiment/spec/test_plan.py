"""From an experiment to cells: defaults resolved, steps inserted, names told apart, problems found first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mlcli.core.errors import DataError, ExperimentError, ModelFileError, UsageError
from mlcli.core.registry import MODELS, Entry, register
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.preparation import train
from mlcli.experiment.saved.model_file import save_model
from mlcli.experiment.saved.saved_model import SavedModel
from mlcli.experiment.spec.cells import (
    AS_SAVED,
    Budget,
    DataSpec,
    Experiment,
    ModelSpec,
    ProtocolSpec,
    StepSpec,
)
from mlcli.experiment.spec.plan import Plan, plan
from mlcli.tasks.supervised import Classifier
from mlcli.tasks.table import BY_NAME

IRIS = (DataSpec("iris"),)
KNN = ModelSpec("knn")


def cells_of(*models: ModelSpec, data: tuple[DataSpec, ...] = IRIS, protocol: ProtocolSpec | None = None) -> Plan:
    return plan(Experiment(data=data, models=models, protocol=protocol))


def labels_of(*models: ModelSpec) -> list[str]:
    return [cell.label for cell in cells_of(*models)]


def csv(folder: Path, text: str) -> DataSpec:
    path = folder / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return DataSpec(str(path), target="y")


@pytest.mark.parametrize(("name", "kind"), [("iris", "classification"), ("cpu", "regression")])
def test_a_bare_dataset_meets_the_baseline_and_the_panel_of_its_kind_by_its_default_protocol(
    name: str, kind: str
) -> None:
    cells = plan(Experiment(data=(DataSpec(name),)))
    assert [cell.model.use for cell in cells] == [BY_NAME[kind].baseline, *BY_NAME[kind].panel]
    assert {cell.kind for cell in cells} == {kind}
    assert {cell.protocol.use for cell in cells} == {BY_NAME[kind].protocols[0]}
    assert not any(cell.skipped for cell in cells)


def test_cells_stand_by_dataset_then_baseline_then_as_written() -> None:
    data = (DataSpec("weather_nominal"), DataSpec("iris"))
    cells = cells_of(ModelSpec("one-r"), KNN, data=data, protocol=ProtocolSpec("leave-one-out"))
    assert [(cell.dataset.name, cell.label) for cell in cells] == [
        (name, model) for name in ("weather_nominal", "iris") for model in ("zero-r", "one-r", "knn")
    ]


def test_a_baseline_that_is_asked_for_stands_first_once_under_its_own_name() -> None:
    assert labels_of(KNN, ModelSpec("zero-r", label="floor")) == ["floor", "knn"]


def test_every_parameter_is_written_out() -> None:
    cell = cells_of(ModelSpec("knn", {"k": 3}), protocol=ProtocolSpec("k-fold", {"folds": 4}))[1]
    assert cell.model.params["k"] == 3
    assert cell.model.params["distance"] == "euclidean"
    assert cell.protocol.params == {"folds": 4, "repeats": 1}


def test_a_whole_number_for_a_number_becomes_one() -> None:
    value = cells_of(ModelSpec("logistic-regression", {"l2": 2}))[1].model.params["l2"]
    assert isinstance(value, float)


def test_seed_and_budget_are_carried() -> None:
    cell = plan(Experiment(data=IRIS, models=(KNN,), seed=7, budget=Budget(cell=3.5)))[1]
    assert (cell.seed, cell.budget) == (7, 3.5)


def test_a_model_gets_the_steps_that_it_needs_and_what_it_would_like_when_nothing_is_said() -> None:
    cell = cells_of(KNN)[1]
    assert cell.model.steps is None
    assert cell.steps == (StepSpec("standardise", {"ddof": 0}),)


def test_a_model_gets_only_what_it_needs_beside_steps_that_are_listed() -> None:
    penguins = (DataSpec("penguins"),)
    none, own = cells_of(
        ModelSpec("knn", steps=()), ModelSpec("knn", steps=(StepSpec("min-max"),)), data=penguins
    )[1:]
    assert "standardise" not in [step.use for step in none.steps]
    assert {"impute", "one-hot"} <= {step.use for step in none.steps}
    assert [step.use for step in own.steps if step.use not in {step.use for step in none.steps}] == ["min-max"]


def test_the_baseline_needs_no_steps() -> None:
    assert cells_of(KNN, data=(DataSpec("penguins"),))[0].steps == ()


def test_namesakes_add_the_parameters_in_which_they_differ() -> None:
    assert labels_of(KNN, ModelSpec("knn", {"k": 3})) == ["zero-r", "knn k=5", "knn k=3"]
    pruned = ModelSpec("decision-tree", {"prune": "none"})  # nothing is said of it elsewhere
    assert labels_of(ModelSpec("decision-tree"), pruned)[1:] == ["decision-tree", "decision-tree prune=none"]
    grid = [ModelSpec("knn", {"k": k, "weights": w}, label="near") for k in (1, 3) for w in ("uniform", "inverse")]
    assert labels_of(*grid)[1:] == [
        "near k=1 weights=uniform",
        "near k=1 weights=inverse",
        "near k=3 weights=uniform",
        "near k=3 weights=inverse",
    ]


def test_a_number_is_named_as_it_would_be_typed() -> None:
    models = [ModelSpec("logistic-regression", {"l2": l2}) for l2 in (10.0, 0.1, 1e-6)]
    assert [label.partition(" ")[2] for label in labels_of(*models)[1:]] == ["l2=10", "l2=0.1", "l2=1e-06"]


def test_namesakes_add_the_steps_in_which_they_differ() -> None:
    models = (KNN, ModelSpec("knn", steps=()), ModelSpec("knn", steps=(StepSpec("min-max"),)))
    assert labels_of(*models)[1:] == ["knn steps=as needed", "knn steps=none", "knn steps=min-max"]


def test_a_model_that_cannot_do_the_task_is_skipped_with_the_reason() -> None:
    cells = cells_of(ModelSpec("ridge"), KNN)
    assert [cell.skipped for cell in cells] == ["", "ridge does regression; iris is classification", ""]
    assert cells[1].steps == ()


def test_a_protocol_without_id_changes_the_default_of_each_kind() -> None:
    cells = cells_of(KNN, data=(*IRIS, DataSpec("cpu")), protocol=ProtocolSpec("", {"folds": 3}))
    assert {(cell.protocol.use, cell.protocol.params["folds"]) for cell in cells} == {
        ("stratified-k-fold", 3),
        ("k-fold", 3),
    }


@pytest.fixture
def saved(tmp_path: Path) -> ModelSpec:
    """A model that has learned all of iris, in a file."""
    cell = cells_of(ModelSpec("knn", {"k": 3}))[1]
    assert isinstance(cell.dataset, Dataset)
    path = tmp_path / "near.mlcli"
    learned = train(cell)
    save_model(path, SavedModel.of(learned, cell.dataset, seed=1))
    return ModelSpec("", saved=path, label="near.mlcli")


def test_a_saved_model_is_judged_as_it_is(saved: ModelSpec) -> None:
    cell = cells_of(saved)[1]
    assert (cell.protocol, cell.label, cell.skipped) == (ProtocolSpec(AS_SAVED), "near.mlcli", "")
    assert (cell.model.use, cell.model.params["k"]) == ("knn", 3)
    assert [step.use for step in cell.steps] == ["standardise"]


def test_a_saved_model_of_another_kind_is_skipped(saved: ModelSpec) -> None:
    cell = cells_of(saved, data=(DataSpec("cpu"),))[1]
    assert cell.skipped == "near.mlcli does classification; cpu is regression"


def test_a_file_that_holds_no_model_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "near.mlcli").write_text("nothing", encoding="utf-8")
    with pytest.raises(ModelFileError, match="is not a model of mlcli"):
        cells_of(ModelSpec("", saved=tmp_path / "near.mlcli"))


@register("all-alike", reference="none")
class AllAlike(Classifier):
    """A method that cannot weigh rows."""


def test_a_model_that_cannot_weigh_rows_is_skipped_where_rows_have_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = Entry("all-alike", __name__, "", attribute="AllAlike")
    monkeypatch.setitem(vars(MODELS), "_entry_points", {"all-alike": entry})
    weighted = cells_of(ModelSpec("all-alike"), data=(DataSpec("housing_satisfaction"),))[1]
    assert "all-alike does not use row weights" in weighted.skipped
    assert cells_of(ModelSpec("all-alike"))[1].skipped == ""


def test_datasets_of_one_name_are_told_apart() -> None:
    data = (DataSpec("iris"), DataSpec("iris", target="petal_length"))
    names = {cell.dataset.name for cell in cells_of(KNN, data=data)}
    assert names == {"iris (species)", "iris (petal_length)"}


def test_files_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    for folder, rows in (("a", "x,y\n1,no\n2,yes\n"), ("b", "x,y\n1,no\n3,yes\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.csv").write_text(rows, encoding="utf-8")
    data = (DataSpec("a/mine.csv", "y"), DataSpec("b/mine.csv", "y"))
    protocol = ProtocolSpec("leave-one-out")
    experiment = Experiment(data=data, models=(), protocol=protocol, source=tmp_path / "my.yaml")
    names = [cell.dataset.name for cell in plan(experiment)]
    assert names == ["mine (a/mine.csv)", "mine (b/mine.csv)"]


def test_an_illegal_protocol_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(UsageError, match="cpu is regression, which stratified-k-fold cannot split") as caught:
        cells_of(KNN, data=(DataSpec("cpu"),), protocol=ProtocolSpec("stratified-k-fold"))
    hint = caught.value.problems[0].hint
    assert "k-fold, repeated-k-fold" in hint
    assert "without 'use', each dataset gets the default of its kind (k-fold here)" in hint


def test_too_few_rows_are_refused_before_anything_runs(tmp_path: Path) -> None:
    data = (csv(tmp_path, "x,y\n1,no\n2,yes\n3,no\n"),)
    with pytest.raises(DataError, match="10 folds need at least 10 rows, there are 3"):
        cells_of(KNN, data=data)


def test_a_dataset_that_is_not_there_is_a_data_error_and_everything_else_is_said_beside_it() -> None:
    with pytest.raises(DataError, match="iriss"):
        cells_of(KNN, data=(DataSpec("iriss"),))
    with pytest.raises(UsageError) as caught:
        cells_of(KNN, KNN, data=(DataSpec("iriss"), *IRIS), protocol=ProtocolSpec("kfold"))
    assert len(caught.value.problems) == 3


def test_problems_of_a_file_keep_their_places() -> None:
    data = (DataSpec("iriss", where="a.yaml:1:7"), DataSpec("iris"))
    protocol = ProtocolSpec("kfold", where="a.yaml:2:1")
    with pytest.raises(ExperimentError) as caught:
        plan(Experiment(data=data, models=(KNN,), protocol=protocol, source=Path("a.yaml")))
    assert [problem.where for problem in caught.value.problems] == ["a.yaml:1:7", "a.yaml:2:1"]


def test_what_is_wrong_with_a_file_is_an_experiment_error_unless_only_its_data_are() -> None:
    asked = Experiment(data=IRIS, models=(KNN,), source=Path("a.yaml"))
    with pytest.raises(ExperimentError):
        plan(replace(asked, protocol=ProtocolSpec("kfold")))
    with pytest.raises(DataError):
        plan(replace(asked, data=(DataSpec("iriss"),)))


def test_parameters_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UsageError, match="knn has no parameter 'kk'"):
        cells_of(ModelSpec("knn", {"kk": 3}))


def test_a_name_that_the_baseline_has_is_refused() -> None:
    with pytest.raises(UsageError, match="two models would be called 'zero-r' in the table of iris"):
        cells_of(ModelSpec("knn", label="zero-r"))


def test_metrics_must_judge_some_dataset() -> None:
    with pytest.raises(UsageError, match="'rmse' is a metric of regression, not of classification"):
        plan(Experiment(data=IRIS, models=(KNN,), metrics=("rmse",)))
    assert plan(Experiment(data=(*IRIS, DataSpec("cpu")), models=(KNN,), metrics=("rmse", "accuracy")))


def test_a_large_grid_is_told_apart_at_once() -> None:
    grid = [ModelSpec("knn", {"k": k}) for k in range(1, 2001)]
    assert len(set(labels_of(*grid))) == 2001
