"""Whether a file is like another: the statistics beside SciPy, and what is found in files that are and are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from mlcli.data.load import load
from mlcli.experiment.drift import cramers_v, drift_between, kolmogorov_smirnov, psi


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.5])
def test_distance_and_p_of_numbers_are_scipys(shift: float) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=700).round(2), rng.normal(shift, size=900).round(2)
    theirs = ks_2samp(a, b, method="asymp")
    d, p = kolmogorov_smirnov(a, b)
    assert d == pytest.approx(theirs.statistic, abs=1e-12)
    assert p == pytest.approx(theirs.pvalue, rel=0.1, abs=1e-6)  # theirs is the p of one sample of 394 rows


def test_the_p_of_levels_is_scipys() -> None:
    counts = np.array([[30, 40, 0, 30], [50, 20, 0, 45]], np.int32)
    theirs = chi2_contingency(counts[:, [0, 1, 3]], correction=False)
    v, p = cramers_v(counts)
    assert (v, p) == pytest.approx((np.sqrt(theirs.statistic / counts.sum()), theirs.pvalue), rel=1e-9)


def test_the_stability_index_is_that_of_its_formula() -> None:
    counts = np.array([[500_000, 500_000], [600_000, 400_000]], np.int32)
    assert psi(counts) == pytest.approx(0.1 * np.log(1.2) - 0.1 * np.log(0.8), abs=1e-6)


def files(folder: Path, second: str) -> tuple[Path, Path]:
    """Two halves of the same rows, the second one changed."""
    rng = np.random.default_rng(2)
    lines = [
        f"{x:.3f},{x + y / 10:.3f},{'uv'[k]}"
        for x, y, k in zip(*rng.normal(size=(2, 400)), rng.integers(0, 2, 400), strict=True)
    ]
    a, b = folder / "a.csv", folder / "b.csv"
    a.write_text("\n".join(["x,y,k", *lines[:200]]), encoding="utf-8")
    halves = {"same": lines[200:], "levels": [line.replace("v", "w") for line in lines[200:]]}
    shuffled = [
        f"{one.split(',')[0]},{other.split(',')[1]},{one[-1]}"
        for one, other in zip(lines[200:], lines[201:] + lines[200:201], strict=True)
    ]
    b.write_text("\n".join(["x,y,k", *(halves | {"related": shuffled})[second]]), encoding="utf-8")
    return a, b


def test_halves_of_the_same_rows_are_alike(tmp_path: Path) -> None:
    a, b = files(tmp_path, "same")
    found = drift_between(load(str(a)), str(b))
    assert all(one.corrected > 0.05 for one in found.columns)
    assert not found.are_separable


def test_a_level_that_only_one_file_has_is_seen(tmp_path: Path) -> None:
    a, b = files(tmp_path, "levels")
    found = {one.name: one for one in drift_between(load(str(a)), str(b)).columns}
    assert found["k"].corrected < 1e-6
    assert "(only in B)" in found["k"].in_b
    assert found["x"].corrected > 0.05


def test_what_no_column_shows_the_model_sees(tmp_path: Path) -> None:
    a, b = files(tmp_path, "related")
    found = drift_between(load(str(a)), str(b))
    assert all(one.corrected > 0.05 for one in found.columns)
    assert found.are_separable


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_levels_that_few_rows_have_do_not_tell_halves_of_the_same_rows_apart(tmp_path: Path, seed: int) -> None:
    """Under the hypothesis that both are drawn alike, which level a row has says nothing of its file."""
    rng = np.random.default_rng(seed)
    halves = [np.char.add("C", rng.integers(0, 150, 150).astype(str)) for _ in range(2)]
    for name, levels in zip("ab", halves, strict=True):
        lines = [f"{level},{x:.3f}" for level, x in zip(levels, rng.normal(size=150), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["cabin,x", *lines]), encoding="utf-8")
    found = drift_between(load(str(tmp_path / "a.csv"), target="x"), str(tmp_path / "b.csv"))
    assert all(one.corrected > 0.05 for one in found.columns)
    assert not found.are_separable
    assert "(only in B)" in found.columns[0].in_b
