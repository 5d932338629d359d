"""mlcli audit, as a person and a script meet it; and what eval and data say of the same issues."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.checks.audit import OF_DATA
from mlcli.checks.diagnosis import OF_MODELS
from mlcli.core.errors import ExitCode
from mlcli.core.findings import code_of
from tests.checks.faults import FAULTS, csv_of, sound
from tests.support.shell import document, typed


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    """A file with an identifier and an outlier."""
    columns, rng = sound()
    for code in ("identifiers", "outliers"):
        next(one for one in FAULTS if one.code == code).spoil(columns, rng)
    columns["y"] = columns.pop("y")
    path = tmp_path / "faulty.csv"
    path.write_text(csv_of(columns))
    return str(path)


def test_issues_are_shown_with_evidence_and_repair(faulty: str) -> None:
    text = typed("audit", faulty).stdout
    assert "1 grave, 1 warning" in text
    assert text.index("grave: identifiers") < text.index("warning: outliers")
    assert "180 distinct values in 200 rows" in text
    assert "      Id: {role: group}" in text
    assert "All repairs of the sidecar together" in text


def test_strict_fails_for_what_is_serious_only(faulty: str) -> None:
    assert typed("audit", faulty).exit_code == ExitCode.DONE
    assert typed("audit", faulty, "--strict").exit_code == 8
    assert typed("audit", "iris", "--strict").exit_code == ExitCode.DONE


def test_advice_is_shown_where_it_is_asked_for() -> None:
    shown = typed("audit", "iris").stdout
    assert "no issue found; 1 piece of advice (duplicates): --all" in " ".join(shown.split())
    assert "advice: duplicates" not in shown
    assert "advice: duplicates" in typed("audit", "iris", "--all").stdout


def test_json_has_all_of_it(faulty: str) -> None:
    found = document(typed("audit", faulty, "--json"))["datasets"][0]
    assert [one["code"] for one in found["issues"]][:2] == ["identifiers", "outliers"]
    assert found["sidecar"].startswith("columns:\n")


@pytest.mark.parametrize("format", ["markdown", "csv"])
def test_other_formats_have_it_too(faulty: str, format: str) -> None:
    assert "identifiers" in typed("audit", faulty, "--format", format).stdout


def test_an_experiment_is_audited_by_its_protocol(tmp_path: Path) -> None:
    spec = tmp_path / "one.yaml"
    spec.write_text("data: [iris, cpu]\nprotocol: {use: holdout, test_share: 0.1}\n")
    text = typed("audit", str(spec)).stdout
    assert "classification by holdout" in text
    assert "regression by holdout" in text
    assert "only 15 test rows" in text


def test_eval_notes_what_is_serious(faulty: str) -> None:
    text = typed("eval", faulty, "-m", "zero-r").stdout
    assert "grave: column 'Id' looks like an identifier" in text
    assert "mlcli audit" in text
    assert "grave" not in typed("eval", "iris", "-m", "zero-r").stdout


def test_data_warns_of_it_too(faulty: str) -> None:
    assert "column 'Id' looks like an identifier" in typed("data", faulty).stdout


def test_rows_without_a_target_are_audited_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("a,b\n" + "".join(f"{n % 7},{n % 5}.5\n" for n in range(40)))
    (tmp_path / "my.yaml").write_text("target: null\n")
    assert typed("audit", str(tmp_path / "my.csv")).exit_code == ExitCode.DONE


def test_every_code_is_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "auditing.md").read_text(encoding="utf-8")
    codes = [*map(code_of, OF_DATA), *map(code_of, OF_MODELS)]
    assert [code for code in codes if f"`{code}`" not in page] == []


def test_plan_says_what_cannot_be_done_well(tmp_path: Path) -> None:
    spec = tmp_path / "one.yaml"
    spec.write_text("data: [zoo]\nmodels: [knn]\nprotocol: [stratified-k-fold, {folds: 2}]\n")
    text = typed("run", str(spec), "--dry-run").stdout
    assert "3 classes have fewer than 10 rows (the smallest 4)" in text
    assert "fewer than 2 rows" not in text
