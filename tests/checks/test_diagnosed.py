"""Every check of a model finds the fault that was made for it, and leaves sound models on sound data in peace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.checks.diagnosed import Diagnosed, diagnosed_model, plan_to_diagnose
from mlcli.checks.diagnosis import OF_MODELS, issues_of_model
from mlcli.core.errors import UsageError
from mlcli.core.findings import Choices, Issue, Table, code_of, found_by, is_serious
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
from tests.checks.faults import csv_of, sound, written

FOLDS = ProtocolSpec("", {"folds": 10})


def diagnosed_of(reference: str, model: str, **params: Any) -> Diagnosed:
    experiment = Experiment((DataSpec(reference),), (ModelSpec(model, params),), FOLDS)
    return diagnosed_model(experiment, plan_to_diagnose(experiment), jobs=1)


def file_of(folder: Path, change: Callable[[dict[str, list[str]], np.random.Generator], object]) -> str:
    columns, rng = sound()
    change(columns, rng)
    columns["y"] = columns.pop("y")
    (folder / "my.csv").write_text(csv_of(columns))
    return str(folder / "my.csv")


def codes(issues: list[Issue]) -> set[str]:
    return {issue.code for issue in issues}


def with_splits(diagnosed: Diagnosed, **changes: Any) -> Diagnosed:
    """The same model whose splits say something else."""
    splits = tuple(replace(one, **changes) for one in diagnosed.model.splits)
    return replace(
        diagnosed, model=replace(diagnosed.model, cell_result=replace(diagnosed.model.cell_result, splits=splits))
    )


def named(code: str, diagnosed: Diagnosed) -> Issue:
    return next(one for one in found_by(OF_MODELS, diagnosed) if one.code == code)


def of_noise(columns: dict[str, list[str]], rng: np.random.Generator) -> None:
    columns["y"] = rng.permutation(columns["y"]).tolist()


def test_a_model_of_noise_is_no_better_than_the_baseline(tmp_path: Path) -> None:
    found = found_by(OF_MODELS, diagnosed_of(file_of(tmp_path, of_noise), "decision-tree"))
    worst = next(one for one in found if one.code == "no-better-than-baseline")
    assert worst.gravity in ("grave", "warning")
    assert "accuracy" in worst.evidence


def test_a_simple_method_that_is_better_is_named(tmp_path: Path) -> None:
    found = found_by(OF_MODELS, diagnosed_of("diabetes_progression", "decision-tree"))
    worse = next(one for one in found if one.code == "worse-than-rival")
    assert worse.repairs[0].text == "-m ridge"


def test_a_slow_model_that_is_not_better_is_told() -> None:
    diagnosed = diagnosed_of("iris", "knn")
    slow = replace(
        diagnosed.model.cell_result,
        splits=tuple(replace(one, fit_seconds=60.0) for one in diagnosed.model.splits),
    )
    # Only seconds differ: no test waits for a slow method.
    assert "slower-than-rival" in codes(
        found_by(OF_MODELS, replace(diagnosed, model=replace(diagnosed.model, cell_result=slow)))
    )


def test_a_split_that_stands_apart_is_named() -> None:
    found = found_by(OF_MODELS, diagnosed_of("cpu", "random-forest", trees=20))
    assert "split 6" in next(one.evidence for one in found if one.code == "unstable-splits")


def test_one_column_that_says_it_all_is_named() -> None:
    found = found_by(OF_MODELS, diagnosed_of("vote", "naive-bayes"))
    assert next(one for one in found if one.code == "one-column-is-enough").columns == ("physician-fee-freeze",)


def test_coefficients_in_different_units_are_not_compared(tmp_path: Path) -> None:
    def change(columns: dict[str, list[str]], rng: np.random.Generator) -> None:
        columns["a"] = [str(1000 * float(cell)) for cell in columns["a"]]
        columns["y"] = written(
            np.array([float(cell) for cell in columns["b"]]) + rng.normal(0, 9, len(columns["b"]))
        )

    path = file_of(tmp_path, change)
    issue = next(
        one
        for one in found_by(OF_MODELS, diagnosed_of(path, "linear-regression"))
        if one.code == "unscaled-coefficients"
    )
    assert set(issue.columns) == {"a", "b"}
    assert "unscaled-coefficients" not in codes(found_by(OF_MODELS, diagnosed_of(path, "ridge")))


def test_a_column_of_noise_with_many_values_is_not_important(tmp_path: Path) -> None:
    def change(columns: dict[str, list[str]], rng: np.random.Generator) -> None:
        columns["noise"] = written(rng.normal(0, 1, len(columns["a"])))

    diagnosed = diagnosed_of(file_of(tmp_path, change), "random-forest")
    assert named("misleading-importances", diagnosed).columns == ("noise",)


def test_columns_alike_are_paired() -> None:
    issue = next(
        one
        for one in found_by(OF_MODELS, diagnosed_of("wdbc", "logistic-regression"))
        if one.code == "correlated-columns"
    )
    assert isinstance(issue.shown[0], Table)
    assert issue.shown[0].rows[0][:2] == ("mean_radius", "mean_perimeter")


def test_columns_of_no_use_can_be_left_out(tmp_path: Path) -> None:
    def change(columns: dict[str, list[str]], rng: np.random.Generator) -> None:
        for name in ("n1", "n2", "n3"):
            columns[name] = written(rng.normal(0, 1, len(columns["a"])))

    found = found_by(OF_MODELS, diagnosed_of(file_of(tmp_path, change), "naive-bayes"))
    assert "useless-columns" in codes(found)


def test_a_learning_curve_is_made_without_the_columns_that_were_dropped(tmp_path: Path) -> None:
    def change(columns: dict[str, list[str]], rng: np.random.Generator) -> None:
        of_noise(columns, rng)
        columns["leak"] = columns["y"]

    data = DataSpec(file_of(tmp_path, change), target="y", drop=("leak",))
    experiment = Experiment((data,), (ModelSpec("naive-bayes"),), FOLDS)
    curve = diagnosed_model(experiment, plan_to_diagnose(experiment), jobs=1).learning_curve
    assert curve is not None
    assert all((point.test.mean or 0) < 0.7 for point in curve.points)


def test_what_was_not_tuned_is_worth_a_try() -> None:
    found = found_by(OF_MODELS, diagnosed_of("iris", "decision-tree"))
    assert "max_depth" in next(one.sentence for one in found if one.code == "nothing-tuned")


def test_values_at_the_edge_of_their_range_are_told() -> None:
    diagnosed = diagnosed_of("iris", "knn")
    chosen = Choices("Chosen by inner splits", ("k",), (50,), ("highest",), "accuracy", 0.9)
    splits = tuple(replace(one, explanation=(chosen,)) for one in diagnosed.model.splits)
    tuned = replace(
        diagnosed, model=replace(diagnosed.model, cell_result=replace(diagnosed.model.cell_result, splits=splits))
    )
    found = found_by(OF_MODELS, tuned)
    assert "k was tuned to the highest value" in next(
        one.sentence for one in found if one.code == "tuned-to-the-edge"
    )
    assert "nothing-tuned" not in codes(found)


def test_a_trial_is_of_one_model_on_one_dataset() -> None:
    with pytest.raises(UsageError, match="one model is audited at a time"):
        plan_to_diagnose(Experiment((DataSpec("iris"),), (ModelSpec("knn"), ModelSpec("lda"))))


def test_every_check_of_models_has_a_first_line() -> None:
    assert all((check.__doc__ or "").strip() for check in OF_MODELS)
    assert len({code_of(check) for check in OF_MODELS}) == len(OF_MODELS)


SOUND = (
    *(("iris", "knn"), ("wine", "lda"), ("labor", "naive-bayes")),
    *(("diabetes_progression", "ridge"), ("vote", "decision-tree")),
)
"""Sound shipped datasets, each with a method that suits it; ``test_every_diagnosis.py`` has more."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), SOUND)
def test_sound_models_have_no_serious_issue(name: str, model: str) -> None:
    assert_no_serious_issue(name, model)


def assert_no_serious_issue(name: str, model: str) -> None:
    assert [issue for issue in issues_of_model(diagnosed_of(name, model)) if is_serious(issue)] == []
