"""Columns of many levels, as in a company's file with postcodes, dates and comments, are kept small."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

import mlcli
from mlcli.core.configuration import after, encoded_width, missing_steps
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.experiment.spec.cells import DataSpec, Experiment
from mlcli.experiment.spec.plan import plan
from mlcli.experiment.spec.suitability import PATIENCE
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.rare_levels import RareLevels
from mlcli.tasks.table import kind_named
from tests.prepare.preparing import fitted
from tests.support.rows import table_of

WORDS = ("late", "good", "price", "bad", "call", "never", "invoice", "again", "nice", "slow", "cancel", "paid")


def churn(path: Path, delimiter: str = ",", decimal: str = ".", rows: int = 5000) -> Path:
    rng = np.random.default_rng(7)
    postcodes = [f"D-{number}" for number in rng.choice(np.arange(10000, 99999), 700, replace=False)]
    lines = ["customer_id,postcode,signup_date,contract,age,tenure,monthly,comment,churn"]
    for row in range(rows):
        monthly = rng.normal(70, 25)
        comment = " ".join(rng.choice(WORDS, rng.integers(5, 10))) if rng.random() < 0.6 else ""
        cells = (
            f"C{row}",
            postcodes[rng.integers(700)],
            str(date(2016, 1, 1) + timedelta(int(rng.integers(2000)))),
            ("month", "year")[rng.integers(2)],
            "-999" if rng.random() < 0.06 else str(rng.integers(18, 90)),
            "NA" if rng.random() < 0.05 else f"{rng.gamma(2, 20):.1f}".replace(".", decimal),
            f"{monthly:.2f}".replace(".", decimal),
            comment,
            "yes" if rng.random() < 1 / (1 + np.exp(-0.03 * (monthly - 70))) else "no",
        )
        lines.append("\x00".join(cells))
    lines[0] = lines[0].replace(",", "\x00")
    path.write_text("\n".join(lines).replace("\x00", delimiter) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ",")])
def test_no_model_of_the_panel_sees_thousands_of_columns(tmp_path: Path, delimiter: str, decimal: str) -> None:
    path = churn(tmp_path / "churn.csv", delimiter, decimal)
    for cell in plan(Experiment(data=(DataSpec(str(path)),))):
        assert not cell.skipped
        columns = kind_named(cell.kind).rows.columns_of(cell.dataset.schema)
        assert encoded_width(MODELS.load(cell.model.use)().accepts, columns) <= 160
        if any(step.use == "one-hot" for step in cell.steps):
            assert [step.use for step in cell.steps].index("rare-levels") >= 0


def test_a_model_that_needs_numbers_learns_from_it(tmp_path: Path) -> None:
    results = mlcli.eval(churn(tmp_path / "churn.csv"), ["logistic-regression"], protocol="holdout")
    scores = results.table.set_index("model")["auc"]
    assert scores["logistic-regression"] > 0.6  # the price decides, as it was drawn


def test_text_in_which_nearly_every_cell_differs_is_left_out_with_a_remark(tmp_path: Path) -> None:
    dataset = load(str(churn(tmp_path / "churn.csv")))
    roles = {one.column.name: one.role for one in dataset.schema}
    assert roles["comment"] == "ignore"
    assert roles["postcode"] == roles["signup_date"] == "feature"
    assert any("column 'comment' is left out" in note and "role feature" in note for note in dataset.notes)
    assert any("postcode (700)" in note and "50 most frequent" in note for note in dataset.notes)


def test_a_declared_feature_is_kept(tmp_path: Path) -> None:
    path = churn(tmp_path / "churn.csv", rows=300)
    path.with_suffix(".yaml").write_text("columns:\n  comment: {role: feature}\n", encoding="utf-8")
    assert "comment" in [column.name for column in load(str(path)).schema.features()]


def test_a_word_for_missing_cells_among_decimal_commas_is_named(tmp_path: Path) -> None:
    dataset = load(str(churn(tmp_path / "churn.csv", ";", ",")))
    assert any("'NA'" in note and "then it is numeric" in note for note in dataset.notes)


def test_rare_levels_are_merged_as_scikit_learn_merges_infrequent_categories() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(9), [40, 3, 25, 1, 16, 2, 31, 7, 5]).astype(np.int32)
    rng.shuffle(codes)
    levels = tuple(f"level {code}" for code in range(9))
    table = Table((Column("x", "nominal", levels),), np.empty((len(codes), 0)), codes[:, None])
    merged = fitted(RareLevels(most=4), table).transform(table)
    encoder = OneHotEncoder(max_categories=5, sparse_output=False)
    expected = encoder.fit_transform(codes[:, None])
    assert np.array_equal(np.eye(5)[merged.codes[:, 0]], expected)
    assert merged.columns[0].levels == ("level 0", "level 2", "level 4", "level 6", "rare levels")


def test_empty_cells_stay_empty_and_weights_count() -> None:
    described = [Column("x", "nominal", ("a", "b", "c"))]
    table = table_of({"x": ["a", "a", "b", "c", None]}, described)
    merged = fitted(RareLevels(most=1), table, np.array([1, 1, 5, 1, 1])).transform(table)
    assert merged.columns[0].levels == ("b", "rare levels")
    assert merged.codes[:, 0].tolist() == [1, 1, 0, 1, -1]


def test_only_columns_of_many_levels_get_the_step_and_a_named_one_hot_keeps_all() -> None:
    few = Column("few", "nominal", tuple(map(str, range(50))))
    many = Column("many", "nominal", tuple(map(str, range(51))))
    accepts = MODELS.load("logistic-regression")().accepts
    assert [step.id for step in missing_steps(accepts, (few,), [])] == ["one-hot"]
    assert [step.id for step in missing_steps(accepts, (few, many), [])] == ["rare-levels", "one-hot"]
    steps = missing_steps(accepts, (few, many), [OneHot()])
    assert "rare-levels" not in [step.id for step in steps]
    assert len(after(steps, (few, many))) == 101


def test_levels_that_a_named_step_keeps_are_not_merged_again() -> None:
    columns = [Column(name, "nominal", tuple(map(str, range(200)))) for name in ("many", "others")]
    accepts = MODELS.load("logistic-regression")().accepts
    for named, expected in (
        (RareLevels(most=100), ["rare-levels", "one-hot"]),
        (RareLevels(most=100, columns=("many",)), ["rare-levels", "rare-levels", "one-hot"]),
    ):
        steps = missing_steps(accepts, columns, [named], keep_scaling=False)
        assert [step.id for step in steps] == expected
        assert steps[0] is named
        assert len(expected) == 2 or steps[1].columns == ("others",)


@pytest.mark.parametrize("use", ["svm", "logistic-regression", "random-forest"])
def test_thousands_of_classes_are_estimated_to_take_long(use: str) -> None:
    seconds = MODELS.load(use)().fit_seconds
    assert seconds(5000, 6, 2) <= PATIENCE < seconds(5000, 6, 2000)
