"""25 independent voters with an error of 0.35 have an error of 0.06 together, by formula and by voting."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mlcli.models.ensembles.voting import error_of_majority
from tests.support.shell import document, typed

VOTERS, ERROR, TOGETHER = 25, 0.35, 0.0604449136
"""The last by hand: the sum over i from 13 of C(25, i) 0.35^i 0.65^(25 - i)."""


@pytest.fixture(scope="module")
def voters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class, and 25 columns that tell it but for 0.35 of the rows, each for rows of its own."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=4000)
    said = np.where(rng.random((4000, VOTERS)) < ERROR, 1 - y[:, None], y[:, None])
    table = np.char.add("n", np.column_stack([said, y]).astype(str))
    path = tmp_path_factory.mktemp("voters") / "voters.csv"
    header = ",".join([*(f"v{place}" for place in range(VOTERS)), "y"])
    path.write_text("\n".join([header, *map(",".join, table.tolist())]) + "\n", encoding="utf-8")
    return path


def voting(**params: object) -> str:
    models = [{"use": "one-r", "params": {"feature": f"v{place}"}} for place in range(VOTERS)]
    return json.dumps({"use": "voting", "params": {"models": models, "combine": "votes", **params}})


def test_the_formula_of_the_notes() -> None:
    assert error_of_majority([ERROR] * VOTERS) == pytest.approx(TOGETHER, abs=1e-10)
    assert error_of_majority([0.5] * VOTERS) == pytest.approx(0.5)
    assert error_of_majority([0.45] * VOTERS) == pytest.approx(0.306324, abs=1e-6)
    assert error_of_majority([0.2] * VOTERS) == pytest.approx(0.000369, abs=1e-6)


def test_a_vote_of_25_is_as_wrong_as_the_formula_says(voters: Path) -> None:
    """Within four standard errors of 2,000 judged rows: 4 sqrt(0.06 x 0.94 / 2000) is 0.021."""
    single = "{use: one-r, params: {feature: v0}}"
    protocol = "{use: holdout, test_share: 0.5}"
    words = ("-m", voting(), "-m", single, "--metric", "error-rate", "--protocol", protocol, "--json")
    result = typed("eval", str(voters), *words)
    cells = {cell["model"]: cell["metrics"]["error-rate"]["mean"] for cell in document(result)["cells"]}
    alone = next(value for name, value in cells.items() if name.startswith("one-r"))
    together = next(value for name, value in cells.items() if name.startswith("voting"))
    assert alone == pytest.approx(ERROR, abs=0.06)
    assert together == pytest.approx(TOGETHER, abs=0.03)


def test_training_shows_what_independent_voters_would_do(voters: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "voting.mlcli")
    result = typed("train", str(voters), "-m", voting(validation=0.5), "-o", model)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    start = next(place for place, line in enumerate(lines) if "If the models were independent" in line)
    count, one, majority = (float(cell) for cell in lines[start + 3].split())
    assert count == VOTERS
    assert one == pytest.approx(ERROR, abs=0.02)
    assert majority == pytest.approx(TOGETHER, abs=0.02)


@pytest.mark.parametrize("sidecar", ["", "roles: {group: x}\n"], ids=["all err on the held-out row", "one group"])
def test_no_error_is_shown_that_was_not_measured(sidecar: str, tmp_path: Path) -> None:
    """A held-out row of a class that no other row has is always wrong; a single group has no row to hold out."""
    path = tmp_path / "pair.csv"
    path.write_text("x,z,y\n1,1,a\n1,2,b\n", encoding="utf-8")
    (tmp_path / "pair.yaml").write_text(f"target: y\n{sidecar}", encoding="utf-8")
    model = json.dumps({"use": "voting", "params": {"models": ["naive-bayes", "one-r"], "validation": 0.5}})
    result = typed("train", str(path), "-m", model, "-o", str(tmp_path / "voting.mlcli"))
    assert result.exit_code == 0, result.output
    assert "Weights of the models" in result.stdout
    assert "If the models were independent" not in result.stdout
