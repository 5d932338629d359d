"""Answers at stages of a fit and about training rows: kept where asked for, and nothing else changes by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.answers import Answers, Header
from mlcli.core.errors import ExitCode, UsageError
from mlcli.core.schema import Column
from mlcli.data.load import load
from mlcli.experiment.results import TRAINING, SplitResult, decoded, encoded
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.evaluation import stages_among
from mlcli.experiment.run.preparation import cell_key, prepare
from mlcli.experiment.spec.cells import Cell, CellResult, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.entries import models_from_text
from mlcli.experiment.spec.plan import plan
from mlcli.experiment.store.store import Store
from mlcli.scoring.model_results import score_result, series_of, summaries_of
from mlcli.tasks.supervised import LabelAnswers
from tests.support.shell import document, typed

BOOSTED = ModelSpec("newton-boosting", {"rounds": 12})
FOLDS = ProtocolSpec("stratified-k-fold", {"folds": 3})


def cell(model: ModelSpec = BOOSTED, data: str = "iris", **asked: Any) -> Cell:
    """One model on a dataset in three folds."""
    staged = () if model.use == "knn" else (ModelSpec("knn"),)
    cells = plan(Experiment((DataSpec(data),), (model, *staged), FOLDS, **asked))
    return next(one for one in cells if one.model.use == model.use)


def result(*args: Any, **asked: Any) -> CellResult:
    (found,) = run([cell(*args, **asked)], jobs=1)
    assert found.status == "done", found.why
    return found


def key(one: Cell) -> str:
    made = prepare(one)
    return cell_key(one, made)


def same(one: Answers, other: Answers) -> bool:
    pairs = zip(one.arrays().items(), other.arrays().items(), strict=True)
    return all(mine == theirs and np.array_equal(a, b) for (mine, a), (theirs, b) in pairs)


@pytest.mark.parametrize(
    ("asked", "count", "stages"),
    [
        (True, 12, [1, 2, 3, 5, 7, 10]),
        (True, 100, [1, 2, 3, 5, 7, 10, 20, 30, 50, 70]),
        (True, 1, []),
        (5, 100, [1, 26, 50, 75]),
        (200, 4, [1, 2, 3]),
        ((20, 5, 12), 12, [5]),
    ],
)
def test_stages_are_close_at_the_beginning_or_as_listed(asked: Any, count: int, stages: list[int]) -> None:
    assert stages_among(asked, count) == stages


def test_the_final_answers_are_those_of_a_fit_without_stages() -> None:
    plain, staged = result(), result(stages=True, training=True)
    for one, other in zip(plain.splits, staged.splits, strict=True):
        assert same(one.answers["test"], other.answers["test"])
        assert one.stages == ()
        assert [at.value for at, _ in other.stages] == [1, 2, 3, 5, 7, 10, 12]
        assert {at.name for at, _ in other.stages} == {"rounds"}
        assert same(other.stages[-1][1], other.answers["test"])
        assert not same(other.stages[0][1], other.answers["test"])
    assert set(plain.splits[0].answers) == {"test"}


def test_a_stage_is_the_answer_of_a_shorter_fit() -> None:
    staged = result(stages=(3, 5))
    shorter = result(ModelSpec("newton-boosting", {"rounds": 3}))
    for one, other in zip(staged.splits, shorter.splits, strict=True):
        assert same(one.stages[0][1], other.answers["test"])


def test_only_what_is_asked_for_is_in_the_key() -> None:
    keys = [key(cell(**asked)) for asked in ({}, {"stages": True}, {"stages": (1, 5)}, {"training": True})]
    assert len(set(keys)) == 4
    assert key(cell(ModelSpec("lda"))) == key(cell(ModelSpec("lda"), stages=True))
    assert key(cell(stages=False, training=False)) == keys[0]


def test_training_answers_are_about_the_rows_that_were_learned_from() -> None:
    found = result(ModelSpec("knn", {"k": 1}), training=True)
    for split in found.splits:
        learned, tested = split.answers[TRAINING], split.answers["test"]
        assert len(learned) == split.train_rows
        assert set(learned.rows) & set(tested.rows) == set()
        assert isinstance(learned, LabelAnswers)
        assert (learned.predicted == learned.truth).mean() > 0.99
    one = score_result(found)
    assert one.training["accuracy"] > one.summaries["accuracy"].mean  # type: ignore[operator]
    assert score_result(result(ModelSpec("knn"))).training == {}


def test_a_closed_form_does_not_answer_where_training_answers_are_asked_for() -> None:
    for training in (False, True):
        models = (ModelSpec("naive-bayes"),)
        asked = plan(Experiment((DataSpec("iris"),), models, ProtocolSpec("leave-one-out"), training=training))
        (found,) = (one for one in run(asked, jobs=1) if one.cell.model.use == "naive-bayes")
        assert bool(found.splits[0].route) != training


def test_both_are_stored_and_come_back(tmp_path: Path) -> None:
    asked = cell(stages=True, training=True)
    with Store.open(tmp_path / "runs.db") as store:
        (first,) = run([asked], store=store, jobs=1)
        (again,) = run([asked], store=store, jobs=1)
    assert again.stored
    for one, other in zip(first.splits, again.splits, strict=True):
        assert [at for at, _ in one.stages] == [at for at, _ in other.stages]
        assert all(same(a, b) for (_, a), (_, b) in zip(one.stages, other.stages, strict=True))
        assert same(one.answers[TRAINING], other.answers[TRAINING])


def test_a_fit_that_ended_early_keeps_its_last_answers_in_the_series() -> None:
    """Of three folds that stop by themselves, each stage has every fold or is not shown."""
    params = {"rounds": 60, "stop_after": 2, "learning_rate": 0.5}
    found = result(ModelSpec("newton-boosting", params), data="breast_cancer", stages=True)
    ends = [split.stages[-1][0].value if split.stages else 0 for split in found.splits]
    assert len(set(ends)) > 1
    (series,) = series_of(score_result(found))
    assert (series.over, series.kind) == ("rounds", "stages")
    assert max(series.answers) == max(ends)
    for place, end in enumerate(ends):
        for value, answers in series.answers.items():
            if value >= end:
                assert same(answers[place], found.splits[place].answers["test"])


def test_the_curve_stands_below_the_table_and_in_the_document() -> None:
    words = (
        "eval",
        "iris",
        "-m",
        "newton-boosting",
        "-p",
        "rounds=5",
        "--folds",
        "3",
        "--show",
        "stages",
        "--show",
        "training",
    )
    text = " ".join(typed(*words, "-v").stdout.split())
    assert "accuracy by rounds" in text
    assert "training-" in text
    assert "training: score on the training rows" in text
    baseline, *_, boosted = document(typed(*words, "--json"))["cells"]
    assert "stages" not in baseline
    assert baseline["training"]["accuracy"] == pytest.approx(1 / 3, abs=0.01)
    assert [at["value"] for at in boosted["stages"]["values"]] == [1, 2, 3, 5]
    assert boosted["stages"]["over"] == "rounds"
    assert boosted["stages"]["values"][-1]["metrics"]["accuracy"]["mean"] == boosted["metrics"]["accuracy"]["mean"]
    assert {finding["kind"] for finding in boosted["findings"]} <= {"table", "tree"}


def test_summaries_of_the_last_stage_are_those_of_the_cell() -> None:
    one = score_result(result(stages=True))
    (series,) = series_of(one)
    assert summaries_of(series)[12]["log-loss"].mean == one.summaries["log-loss"].mean


@pytest.mark.parametrize(
    ("written", "stages"),
    [("stages: true", True), ("stages: 4", 4), ("stages: [2, 10]", (2, 10)), ("stages: false", False)],
)
def test_an_entry_of_a_model_says_its_stages(written: str, stages: Any) -> None:
    (model,) = models_from_text([f"{{use: newton-boosting, {written}}}"])
    assert cell(model, stages=(7,)).stages == stages
    assert cell(stages=(7,)).stages == (7,)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("{use: newton-boosting, stages: 0}", "'stages' takes true, how many, or a list"),
        ("{use: newton-boosting, stages: [1, -2]}", "'stages' takes true, how many, or a list"),
        ("{use: newton-boosting, stages: []}", "'stages' takes true, how many, or a list"),
        ("{use: lda, stages: true}", "lda has no stages"),
    ],
)
def test_stages_that_make_no_sense_are_refused(written: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        models_from_text([written])


def test_a_file_says_both_for_all_its_models(tmp_path: Path) -> None:
    spec = tmp_path / "stages.yaml"
    spec.write_text(
        "data: [iris]\nmodels: [{use: newton-boosting, params: {rounds: 5}}, knn]\nmetrics: [log-loss]\n"
        "protocol: {use: k-fold, folds: 3}\nstages: [2]\ntraining: true\n"
    )
    words = ("run", str(spec), "--store", str(tmp_path / "runs.db"))
    text = typed(*words).stdout
    assert "log-loss by rounds" in text
    assert typed("runs", "show", "1", "--store", str(tmp_path / "runs.db")).stdout == text
    spec.write_text("data: [iris]\nstages: [x]\ntraining: maybe\n")
    wrong = typed("run", str(spec), "--dry-run")
    assert wrong.exit_code == ExitCode.EXPERIMENT
    assert "'stages' takes true, how many, or a list" in wrong.output
    assert "'training' takes true or false, was given 'maybe'" in wrong.output


def with_context() -> SplitResult:
    """Many rows of a sensitive column with long levels."""
    levels = tuple(f"a level with a name of some length, number {number}" for number in range(50))
    n = 200
    header = Header(
        rows=np.arange(n),
        columns=(Column("colour", "nominal", levels),),
        numbers=np.empty((n, 0)),
        codes=(np.arange(n, dtype=np.int32) % 50)[:, None],
    )
    codes = np.zeros(n, np.int32)
    answers = LabelAnswers(header=header, truth=codes, predicted=codes, classes=("no", "yes"))
    return SplitResult(0, "fold", 1, {"test": answers, TRAINING: answers}, 0, 0)


def test_what_answers_have_in_common_is_stored_once() -> None:
    one = with_context()
    alone = encoded([SplitResult(0, "fold", 1, {"test": one.answers["test"]}, 0, 0)])
    assert len(encoded([one])) < len(alone) + 200
    (back,) = decoded(encoded([one]), LabelAnswers)
    assert same(back.answers[TRAINING], back.answers["test"])
    assert back.answers["test"].header.columns == one.answers["test"].header.columns


def test_groups_of_people_are_compared_without_the_data(tmp_path: Path) -> None:
    """Accuracy by sex from stored answers alone is that of the rows of the dataset."""
    with Store.open(tmp_path / "runs.db") as store:
        (first,) = run([cell(ModelSpec("naive-bayes"), data="penguins")], store=store, jobs=1)
        (stored,) = run([first.cell], store=store, jobs=1)
    cells = load("penguins").table.cells("sex")
    assert stored.stored
    for split in stored.splits:
        answers = split.answers["test"]
        context = answers.header.context
        assert context is not None
        assert np.array_equal(context.cells("sex"), cells[answers.rows])
        assert answers.arrays()["header.fold"].tolist() == [split.index] * len(answers)
