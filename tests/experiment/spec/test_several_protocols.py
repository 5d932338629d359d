"""Several protocols in one file, each with its table; scores that are pooled, or averaged over folds."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.metrics import roc_auc_score

from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.file import check, read_experiment
from mlcli.experiment.spec.plan import plan
from mlcli.metrics.base import joined
from mlcli.scoring.model_results import ModelResult, judged_answers, score_result
from tests.support.shell import document, typed

SEVERAL = """\
data: [iris]
models: [lda]
protocol: [stratified-k-fold, {use: bootstrap, repeats: 5}, leave-one-out]
metrics: [accuracy]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "several.yaml"
    path.write_text(SEVERAL)
    return path


def test_each_protocol_has_its_cells_and_baselines(file: Path) -> None:
    cells = plan(read_experiment(file))
    assert [(cell.protocol.use, cell.model.use) for cell in cells] == [
        (protocol, model)
        for protocol in ("stratified-k-fold", "bootstrap", "leave-one-out")
        for model in ("zero-r", *["one-r"] * (protocol != "bootstrap"), "lda")
    ]


def test_each_protocol_has_its_table(file: Path, tmp_path: Path) -> None:
    result = typed("run", str(file), "--store", str(tmp_path / "s.db"))
    assert result.exit_code == 0
    assert result.stdout.count("iris: classification of species") == 3
    assert result.stdout.count("Best by accuracy") + result.stdout.count("By accuracy") == 3


def test_the_same_protocol_twice_is_refused_with_its_place(file: Path) -> None:
    file.write_text(SEVERAL.replace("leave-one-out", "stratified-k-fold"))
    [problem] = check(file)
    assert "stratified-k-fold is listed twice" in problem.what
    assert problem.where.endswith(":3:61")


def test_an_unknown_average_is_refused(file: Path) -> None:
    file.write_text(SEVERAL + "average: median\n")
    [problem] = check(file)
    assert "'average' is one of folds, pooled" in problem.what
    assert "--average is one of folds, pooled" in typed("eval", "iris", "-m", "lda", "--average", "mean").stderr


def one(average: str, protocol: str = "") -> ModelResult:
    asked = Experiment(
        (DataSpec("wdbc"),),
        (ModelSpec("lda"),),
        ProtocolSpec(protocol),
        average=average,
        metrics=("auc", "accuracy"),
    )
    return score_result(run(plan(asked), jobs=1)[-1], asked.metrics)


def test_pooled_is_the_score_of_all_answers_at_once() -> None:
    pooled, folds = one("pooled"), one("folds")
    answers = joined(judged_answers(pooled.cell_result))
    assert pooled.summaries["auc"].mean == pytest.approx(
        roc_auc_score(answers.truth == 1, answers.probabilities[:, 1]), abs=1e-9
    )
    each = [roc_auc_score(part.truth == 1, part.probabilities[:, 1]) for part in judged_answers(folds.cell_result)]
    assert folds.summaries["auc"].mean == pytest.approx(sum(each) / len(each), abs=1e-9)


def test_leave_one_out_can_be_averaged_where_a_row_has_a_score() -> None:
    assert one("folds", "leave-one-out").summaries["accuracy"].mean == pytest.approx(
        one("", "leave-one-out").summaries["accuracy"].mean
    )


def test_the_shell_pools_too() -> None:
    cells = document(typed("eval", "wdbc", "-m", "lda", "--metric", "auc", "--average", "pooled", "--json"))[
        "cells"
    ]
    assert cells[-1]["metrics"]["auc"]["mean"] == pytest.approx(one("pooled").summaries["auc"].mean)
