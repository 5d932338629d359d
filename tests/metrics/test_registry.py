"""Names of metrics: found, refused with advice, and added by one function."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from mlcli.core.errors import UsageError
from mlcli.core.tables import Array
from mlcli.metrics.registry import class_names_for, mean_of_rows, metric_named, names_for
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers
from mlcli.tasks.table import KINDS
from tests.metrics.making import score, value_answers

CLASSES = ("benign", "malignant")


@pytest.mark.parametrize("answers", [LabelAnswers, ValueAnswers])
def test_every_name_leads_to_its_metric(answers: type[LabelAnswers] | type[ValueAnswers]) -> None:
    for name in names_for(answers):
        metric = metric_named(name, answers)
        assert metric.name == name
        assert (metric.per_row is None) == (metric.aggregation == "other")


def test_the_default_metrics_of_every_kind_exist() -> None:
    for kind in KINDS:
        assert set(kind.metrics) <= set(names_for(kind.answers))


@pytest.mark.parametrize("stem", ["precision", "recall", "f1", "specificity", "fpr", "fnr", "auc"])
def test_a_class_stands_in_brackets(stem: str) -> None:
    assert stem in class_names_for(LabelAnswers)
    assert metric_named(f"{stem}[malignant]", LabelAnswers, CLASSES).name == f"{stem}[malignant]"


def test_a_class_may_have_brackets_in_its_name() -> None:
    assert metric_named("recall[a[1]]", LabelAnswers, ("a[1]", "b")).name == "recall[a[1]]"


def test_classes_are_not_checked_before_they_are_known() -> None:
    assert metric_named("recall[anything]", LabelAnswers).name == "recall[anything]"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("acuracy", "did you mean 'accuracy'?"),
        ("F1_macro", "did you mean 'f1-macro'?"),
        ("recall[malignnat]", "did you mean 'malignant'?"),
        ("recal[malignant]", "did you mean 'recall'?"),
        ("accuracy[malignant]", "metrics that take a class in brackets: auc, f1,"),
        ("recall[malignant", "did you mean 'recall'?"),
        ("rmse", "'rmse' is a metric of regression, not of classification"),
        ("zzz", "metrics: accuracy,"),
    ],
)
def test_an_unknown_name_is_refused_with_what_would_work(name: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        metric_named(name, LabelAnswers, CLASSES)
    assert says in str(refused.value)


def test_a_metric_of_labels_is_none_of_values() -> None:
    with pytest.raises(UsageError, match=r"'recall\[a\]' is a metric of classification.*, not of regression"):
        metric_named("recall[a]", ValueAnswers)


@pytest.mark.usefixtures("registry_restored")
def test_one_function_adds_a_metric() -> None:
    @mean_of_rows("within-one", ValueAnswers, better="high", low=0.0, high=1.0)
    def within_one(answers: ValueAnswers) -> Array:
        """Share of rows whose error is at most 1."""
        close: Array = (np.abs(answers.predicted - answers.truth) <= 1).astype(np.float64)
        return close

    assert metric_named("within-one", ValueAnswers).per_row is not None
    assert score("within-one", value_answers([1, 2, 3, 4], [1, 4, 3.5, 4])) == 0.75
    with pytest.raises(ValueError, match="two metrics named 'within-one'"):
        mean_of_rows("within-one", ValueAnswers, better="high")(within_one)


def test_metrics_and_their_intervals_need_numpy_only() -> None:
    code = (
        "import sys; from mlcli.metrics import summary, difference, registry\n"
        "from mlcli.tasks.supervised import LabelAnswers\n"
        "registry.names_for(LabelAnswers)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}\n"
        "             & {'scipy', 'numba', 'pandas', 'joblib', 'pydantic', 'sklearn'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
