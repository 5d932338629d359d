"""Which model validation rows choose, beside scikit-learn's area under the curve."""

from __future__ import annotations

import re

import pytest
from sklearn.metrics import roc_auc_score

from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.report.scored import Scored, names_of, scored
from mlcli.report.validated import chosen_on_validation

DETECTORS = ("mahalanobis", "lof", "z-score")


def results(
    *use: str, data: str = "ionosphere", task: str = "anomaly", protocol: str = "good-only"
) -> list[Scored]:
    models = tuple(ModelSpec(one) for one in use)
    experiment = Experiment((DataSpec(data, task=task),), models, ProtocolSpec(protocol))
    return [scored(result) for result in run(plan(experiment), jobs=1)]


def test_the_winner_on_validation_rows_is_judged_on_test_rows() -> None:
    group = results(*DETECTORS)
    names = names_of(group)
    said = chosen_on_validation(group, names, group[0].metrics[0])
    parts = {
        names[one]: {part: roc_auc_score(of.truth, of.score) for part, of in split.answers.items()}  # type: ignore[attr-defined]
        for one in group
        if names[one] in DETECTORS
        for split in one.result.splits
    }
    winner = max(parts, key=lambda name: parts[name]["validation"])
    assert f"Chosen among 3 on validation rows by auc: {winner} with" in said
    numbers = [float(one) for one in re.findall(r"\d\.\d+", said)]
    assert numbers[:2] == pytest.approx([parts[winner]["validation"], parts[winner]["test"]], abs=5e-4)


def test_nothing_is_said_where_nothing_is_chosen() -> None:
    one = results("lof")
    assert chosen_on_validation(one, names_of(one), one[0].metrics[0]) == ""
    whole = results(*DETECTORS, protocol="whole")
    assert chosen_on_validation(whole, names_of(whole), whole[0].metrics[0]) == ""
    classes = results("lda", "knn", data="iris", task="classification", protocol="holdout")
    assert chosen_on_validation(classes, names_of(classes), classes[0].metrics[0]) == ""
