"""Which model validation rows choose, beside scikit-learn's area under the curve."""

from __future__ import annotations

import pytest
from sklearn.metrics import roc_auc_score

from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.report.views.results import verdict_sentences
from mlcli.scoring.differences import differences_of
from mlcli.scoring.model_results import Group, group_of, score_result
from mlcli.scoring.verdict import verdict_on

DETECTORS = ("mahalanobis", "lof", "z-score")


def results(*use: str, data: str = "ionosphere", task: str = "anomaly", protocol: str = "good-only") -> Group:
    models = tuple(ModelSpec(one) for one in use)
    experiment = Experiment((DataSpec(data, task=task),), models, ProtocolSpec(protocol))
    return group_of([score_result(result) for result in run(plan(experiment), jobs=1)])


def verdict(group: Group) -> str:
    metric = next(iter(group)).metrics[0]
    verdict = verdict_on(group, differences_of(group, metric))
    return "".join(sentence.text for sentence in verdict_sentences(verdict))


@pytest.mark.parametrize("data", ["ionosphere", "wdbc"])
def test_the_winner_on_validation_rows_is_judged_on_test_rows(data: str) -> None:
    group = results(*DETECTORS, data=data)
    said = verdict(group)
    parts = {
        name: {part: roc_auc_score(of.truth, of.score) for part, of in split.answers.items()}  # type: ignore[attr-defined]
        for one, name in group.items()
        if name in DETECTORS
        for split in one.splits
    }
    winner, best = (max(parts, key=lambda name: parts[name][part]) for part in ("validation", "test"))
    assert said.startswith(f"Best by auc: {best} with {parts[best]['test']:.3f}")
    there = f"{parts[winner]['validation']:.3f} there"
    if winner == best:
        assert said.endswith(f"The validation rows also choose it among 3 ({there}): its interval is unbiased.")
    else:
        chosen = f"the validation rows choose {winner} with {parts[winner]['test']:.3f} ("
        assert f"As the best of 3 models it has an optimistic interval; {chosen}" in said
        assert said.endswith(f"with {there}.")


def test_nothing_is_said_where_nothing_is_chosen() -> None:
    for group in (
        results("lof"),
        results(*DETECTORS, protocol="whole"),
        results("lda", "knn", data="iris", task="classification", protocol="holdout"),
    ):
        assert "alidation" not in verdict(group)
