"""Commands on unusual data end with a result or a clear error, never with a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlcli.data.profile import bin_edges
from tests.support.shell import document, typed


def table(folder: Path, text: str) -> str:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("step", ["{use: anova, params: {keep: 2}}", "{use: cfs}", "forward-selection"])
def test_sample_behind_a_selection_says_that_it_cannot(tmp_path: Path, step: str) -> None:
    saved = str(tmp_path / "model.mlcli")
    assert typed("train", "penguins", "-m", f"{{use: naive-bayes, steps: [{step}]}}", "-o", saved).exit_code == 0
    result = typed("sample", saved, "-n", "3")
    assert result.exit_code == 4, result.output
    assert "cannot be undone" in result.output


@pytest.mark.parametrize("model", ["perceptron", "pocket"])
@pytest.mark.parametrize("format", ["text", "markdown", "html", "json"])
def test_train_with_one_class(tmp_path: Path, model: str, format: str) -> None:
    path = table(tmp_path, "x,y\n" + "".join(f"{row},a\n" for row in range(6)))
    words = ("train", path, "--target", "y", "--task", "classification", "-m", model, "--format", format)
    result = typed(*words)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("scale", ["e80", "e99"])
def test_ridge_on_huge_targets(tmp_path: Path, scale: str) -> None:
    rng = np.random.default_rng(0)
    rows = [(f"{a:.4f}", f"{b:.4f}", f"{a + 2 * b:.4f}{scale}") for a, b in rng.normal(size=(30, 2))]
    path = table(tmp_path, "a,b,y\n" + "".join(f"{','.join(row)}\n" for row in rows))
    result = typed("eval", path, "-m", "ridge", "--metric", "r2", "--metric", "rmse", "--json")
    assert result.exit_code == 0, result.output
    ridge = next(cell for cell in document(result)["cells"] if cell["model"] == "ridge")
    # The same line of a target of ordinary size has an R² of 0.998.
    assert ridge["metrics"]["r2"]["mean"] > 0.99


@pytest.mark.parametrize("cell", ["1e30", "1e16", "-1e300", "1.7e308"])
def test_data_with_a_huge_constant(tmp_path: Path, cell: str) -> None:
    path = table(tmp_path, "a,y\n" + "".join(f"{cell},{row}.5\n" for row in range(12)))
    result = typed("data", path)
    assert result.exit_code == 0, result.output


def test_bins_of_neighbouring_numbers_ascend() -> None:
    cells = np.array([1e16, 1e16 + 2])
    counts, edges = np.histogram(cells, bin_edges(cells, 2))
    assert counts.sum() == 2
    assert (np.diff(edges) > 0).all()


def test_tuning_where_one_split_has_too_few_rows_to_choose(tmp_path: Path) -> None:
    path = table(tmp_path, "x,c,y\n0.92,v,p\n-0.53,w,q\n0.71,w,r\n")
    protocol = ("--protocol", "{use: k-fold, folds: 2}")
    words = (
        "eval",
        path,
        "--target",
        "y",
        "--task",
        "classification",
        "--tune",
        "-m",
        "newton-boosting",
        *protocol,
    )
    result = typed(*words)
    assert result.exit_code == 0, result.output
    assert "chosen by inner splits" in result.output
