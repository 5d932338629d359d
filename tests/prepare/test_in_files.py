"""Steps as they are written in experiment files: wrong names have a place, and what cannot be is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.experiment.spec.file import check
from tests.support.shell import typed

HEAD = "data: [iris]\nmodels:\n  - "
WRONG = "{use: standardise, params: {columns: [petal_lenght]}}"
TWO = "{use: anova, params: {keep: 2}}, {use: pca, params: {columns: 'petal*', components: 1}}"
FOUR = "impute, {use: log, params: {columns: numeric}}, smote, {use: forward-selection, params: {base: lda}}"


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (f"{{use: knn, steps: [{WRONG}]}}", "3:5: standardise: there is no column"),
        (
            "{use: bagging, params: {base: {use: knn, steps: [{use: log, params: {columns: petal}}]}}}",
            "3:5: log: there is no column 'petal'",
        ),
        ("{use: knn, steps: [{use: anova, params: {keep: 2.5}}]}", "anova: keep is a whole number, or a share"),
        ("{use: knn, steps: [{use: cfs, params: {columns: 3}}]}", "columns takes text"),
        ("{use: knn, steps: [{use: forward-selection, params: {base: kn}}]}", "did you mean 'knn'?"),
    ],
)
def test_every_mistake_has_its_place(tmp_path: Path, model: str, problem: str) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text(HEAD + model + "\n", encoding="utf-8")
    assert any(problem in str(one) for one in check(path)), check(path)


def test_a_step_that_a_kind_of_task_cannot_have_is_skipped_with_its_reason() -> None:
    said = typed("eval", "cpu", "-m", "{use: ridge, steps: [smote]}", "-m", "ridge").stdout
    assert "smote learns from classification; cpu is regression" in said


def test_all_wrong_names_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    models = f"{{use: knn, steps: [{WRONG}]}}\n  - {{use: lda, steps: [{WRONG}]}}\n"
    path.write_text(HEAD + models, encoding="utf-8")
    assert [problem.where.partition(".yaml:")[2] for problem in check(path)] == ["3:5", "4:5"]


def test_steps_are_typed_in_a_shell_as_in_a_file() -> None:
    result = typed("eval", "iris", "-m", f"{{use: lda, steps: [{TWO}]}}")
    assert result.exit_code == 0, result.output
    assert "anova (keep=2) → pca (columns=petal*, components=1)" in result.stdout


def test_a_model_behind_steps_is_saved_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = f"{{use: knn, steps: [{FOUR}]}}"
    assert typed("train", "penguins", "-m", model, "-o", "model.mlcli").exit_code == 0
    result = typed("predict", "model.mlcli", "penguins")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 345
