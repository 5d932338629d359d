"""Every check finds the fault that was made for it, its repair mends that, and sound data are left in peace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlcli.checks.audit import OF_DATA, audits_of, issues_of_data
from mlcli.checks.context import context_of, joined_sidecar
from mlcli.checks.data import AT_A_GLANCE
from mlcli.core.findings import GRAVITIES, Issue, code_of, is_serious
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from mlcli.experiment.spec.cells import DataSpec, Experiment, ProtocolSpec
from tests.checks.faults import FAULTS, Fault, csv_of, sound

NOT_SOUND = {
    "abalone": "two heights are slips of the pen: 1.13 and 0.515",
    "concrete": "25 mixtures stand there twice",
    "contact_lenses": "24 rows",
    "cpu": "19 computers stand there twice",
    "glass": "a class of 9 rows for ten folds; two splinters of 6.21 % potassium",
    "labor": "57 rows for 16 features, a third of the cells empty",
    "segment": "224 regions stand there twice",
    "soybean": "a class of 8 rows for ten folds",
    "weather_nominal": "14 rows",
    "weather_numeric": "14 rows",
    "zoo": "classes of 4 and 5 rows for ten folds",
}
"""What is really wrong with the other shipped datasets."""


def made(folder: Path, fault: Fault) -> Dataset:
    columns, rng = sound()
    fault.spoil(columns, rng)
    (folder / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    (folder / "my.yaml").write_text(fault.sidecar)
    return load(str(folder / "my.csv"))


def those_of(fault: Fault, issues: list[Issue]) -> list[Issue]:
    return [one for one in issues if one.code == fault.code and (not fault.column or fault.column in one.columns)]


def test_every_check_has_a_fault_and_a_first_line() -> None:
    codes = [code_of(check) for check in OF_DATA]
    assert sorted(codes) == sorted({fault.code for fault in FAULTS})
    assert all((check.__doc__ or "").strip() for check in OF_DATA)
    assert set(AT_A_GLANCE) <= set(OF_DATA)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.code}-{fault.column or 'rows'}")
def test_a_fault_is_found_with_its_evidence(fault: Fault, tmp_path: Path) -> None:
    found = those_of(fault, issues_of_data(made(tmp_path, fault)))
    assert found
    assert all(one.gravity in GRAVITIES and one.sentence for one in found)
    assert all(one.evidence or one.repairs for one in found)


def test_sound_rows_have_no_issue(tmp_path: Path) -> None:
    assert issues_of_data(made(tmp_path, Fault("", lambda columns, rng: None))) == []


@pytest.mark.parametrize("name", sorted(set(shipped_paths()) - set(NOT_SOUND)))
def test_sound_datasets_have_no_serious_issue(name: str) -> None:
    assert [one for one in issues_of_data(load(name)) if is_serious(one)] == []


def test_twenty_shipped_datasets_are_sound() -> None:
    assert len(set(shipped_paths()) - set(NOT_SOUND)) >= 20
    for name in NOT_SOUND:
        assert any(map(is_serious, issues_of_data(load(name)))), name


def test_what_cannot_be_split_is_said_before_anything_runs(tmp_path: Path) -> None:
    dataset = made(tmp_path, Fault("", lambda columns, rng: None))
    asked = context_of(dataset, ProtocolSpec("forward-chaining", {"folds": 500}))
    assert "at least 501 times" in asked.refused
    [audit] = audits_of(
        Experiment(
            (DataSpec(str(tmp_path / "my.csv")),), protocol=ProtocolSpec("forward-chaining", {"folds": 500})
        )
    )
    assert audit.serious[0].code == "splitting"
    assert audit.serious[0].gravity == "grave"


def test_groups_and_forward_chaining_are_not_blamed(tmp_path: Path) -> None:
    for code in ("groups-cut", "time-ignored"):
        fault = next(one for one in FAULTS if one.code == code)
        dataset = made(tmp_path, fault)
        found = audits_of(Experiment((DataSpec(str(dataset.path)),), protocol=ProtocolSpec("forward-chaining")))
        assert not those_of(fault, list(found[0].issues))


def test_all_sidecar_repairs_stand_together(tmp_path: Path) -> None:
    columns, rng = sound()
    for code in ("identifiers", "leaks", "outliers"):
        next(one for one in FAULTS if one.code == code).spoil(columns, rng)
    (tmp_path / "my.csv").write_text(csv_of(columns))
    issues = [one for one in issues_of_data(load(str(tmp_path / "my.csv"), target="y")) if is_serious(one)]
    text = joined_sidecar(issues)
    assert text.count("columns:") == 1
    (tmp_path / "my.yaml").write_text(f"target: y\n{text}\n")
    assert [one for one in issues_of_data(load(str(tmp_path / "my.csv"))) if is_serious(one)] == []


@pytest.mark.parametrize("rows", [40, 60, 100])
def test_a_number_that_parts_two_classes_wholly_is_a_leak_in_few_rows_too(tmp_path: Path, rows: int) -> None:
    columns, rng = sound(rows)
    beside = rng.normal(0, 0.01, rows)
    columns["made_of_it"] = [f"{3.0 * (y == 'up') + e:.4f}" for y, e in zip(columns["y"], beside, strict=True)]
    (tmp_path / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    (tmp_path / "my.yaml").write_text("target: y\n")
    found = [issue for issue in issues_of_data(load(str(tmp_path / "my.csv"))) if issue.code == "leaks"]
    assert [issue.columns for issue in found] == [("made_of_it",)]


@pytest.mark.parametrize("rows", [40, 200])
def test_a_target_in_another_unit_is_a_leak(tmp_path: Path, rows: int) -> None:
    columns, rng = sound(rows)
    cents = np.round(100 * rng.exponential(size=rows))
    columns["y"] = [f"{one:.0f}" for one in cents]
    columns["in_dollars"] = [f"{one / 100:.1f}" for one in cents]
    (tmp_path / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    (tmp_path / "my.yaml").write_text("target: y\n")
    found = [issue for issue in issues_of_data(load(str(tmp_path / "my.csv"))) if issue.code == "leaks"]
    assert [issue.columns for issue in found] == [("in_dollars",)]


def test_a_column_that_follows_from_times_says_how(tmp_path: Path) -> None:
    """Twice a number of seconds since 1970 is twice that, and no more, though all cells are far from 0."""
    columns, rng = sound()
    seconds = 1_700_000_000 + rng.integers(0, 60, len(columns["y"]))
    columns |= {"seconds": [f"{one}" for one in seconds], "twice": [f"{2 * one}" for one in seconds]}
    (tmp_path / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    issues = issues_of_data(load(str(tmp_path / "my.csv"), target="y"))
    (found,) = (issue for issue in issues if issue.code == "dependent-columns")
    assert found.sentence == "columns 'seconds' and 'twice' say the same: twice = 2 x seconds"


def test_infinities_of_either_sign_are_no_spellings_of_one_word(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    lines = [f"{('inf', '-inf', 'Bonn', '-Bonn')[row % 4]},{'xy'[row % 2]}" for row in range(40)]
    path.write_text("\n".join(["a,class", *lines]) + "\n")
    found = [issue.sentence for issue in issues_of_data(load(str(path))) if issue.code == "near-spellings"]
    assert found == ["column 'a': -Bonn and Bonn may be one word in several spellings"]


def test_rows_without_a_target_contradict_none(tmp_path: Path) -> None:
    """By hand: y follows from a wherever it is known, so that a model can be right about every row."""
    rows = [f"{'pq'[row % 2]},{'xy'[row % 2] if row < 40 else ''}" for row in range(60)]
    (tmp_path / "my.csv").write_text("\n".join(["a,y", *rows]), encoding="utf-8")
    codes = [one.code for one in issues_of_data(load(str(tmp_path / "my.csv"), target="y"))]
    assert "unlabelled" in codes
    assert "contradictions" not in codes


def test_thirty_percent_of_empty_cells_are_not_more_than_that(tmp_path: Path) -> None:
    columns, _ = sound(60)
    columns["a"][:18] = [""] * 18
    (tmp_path / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    codes = [one.code for one in issues_of_data(load(str(tmp_path / "my.csv"), target="y"))]
    assert "much-missing" not in codes
