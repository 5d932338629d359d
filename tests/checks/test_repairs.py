"""Repairs that are printed can be pasted, resolve what was found, and break nothing.

``test_every_audit.py`` and ``test_every_diagnosis.py`` apply those of every shipped dataset.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mlcli.checks.audit import issues_of_data
from mlcli.checks.context import joined_sidecar
from mlcli.core.findings import Issue, Repair, is_serious
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from tests.checks.faults import FAULTS, Fault, csv_of, sound, written
from tests.checks.repairs import apply_all, apply_to_shipped, assert_options_work, with_repair, write_sidecar, yaml
from tests.support.shell import document, typed


@pytest.mark.parametrize("name", ["labor", "glass"])
def test_every_repair_of_an_audit_resolves_its_issue(name: str, tmp_path: Path) -> None:
    apply_to_shipped(name, tmp_path)


def test_every_option_of_a_diagnosis_can_be_typed() -> None:
    assert_options_work("labor", "naive-bayes")


@pytest.mark.parametrize(("name", "model"), [("travelmode", "naive-bayes"), ("arrests", "one-r")])
def test_a_method_that_can_be_tuned_is_tuned_by_the_option(name: str, model: str) -> None:
    """A ranking whose rows can be classified as well; a reference model that is left out beside its tuned form."""
    result = typed("eval", name, "-m", model, "--tune", "--json")
    assert result.exit_code == 0, result.output
    assert f"{model} (tuned)" in {cell["label"] for cell in document(result)["cells"] if cell["status"] == "done"}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.code}-{fault.column or 'rows'}")
def test_every_check_has_a_repair_that_resolves_its_issue(fault: Fault, tmp_path: Path) -> None:
    columns, rng = sound()
    fault.spoil(columns, rng)
    (tmp_path / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    apply_all(tmp_path / "my.csv", yaml(fault.sidecar), fault.code)


@pytest.mark.parametrize("name", ["abalone", "cmudict_stress", "digits", "glass", "olive"])
def test_all_repairs_of_the_sidecar_can_be_pasted_together(name: str, tmp_path: Path) -> None:
    source = shipped_paths()[name]
    target = {"target": yaml(source.with_suffix(".yaml").read_text(encoding="utf-8"))["target"]}
    path = tmp_path / "my.csv"
    shutil.copy(source, path)
    write_sidecar(path, target)
    issues = issues_of_data(load(str(path)))
    repaired = with_repair(path, target, Repair("sidecar", joined_sidecar(issues)))
    pasted = {one.code for one in issues if one.repairs and one.repairs[0].place == "sidecar"}
    assert pasted
    assert pasted.isdisjoint(one.code for one in issues_of_data(repaired))


def test_duplicates_in_one_group_are_no_leak(tmp_path: Path) -> None:
    """The repair that is printed: equal rows are numbered alike, and the numbers are groups."""
    frame = pd.read_csv(shipped_paths()["cpu"])
    frame["copy"] = frame.groupby([*frame.columns], sort=False).ngroup()
    path = tmp_path / "my.csv"
    frame.to_csv(path, index=False)
    write_sidecar(path, {"target": "class"})
    assert "duplicates" in codes_of(path)
    write_sidecar(path, {"target": "class", "columns": {"copy": {"role": "group"}}})
    assert "duplicates" not in codes_of(path)


def codes_of(path: Path) -> set[str]:
    return {issue.code for issue in issues_of_data(load(str(path)))}


def issues_of_table(
    folder: Path, declared: dict[str, Any] | None = None, **added: Iterable[object]
) -> list[Issue]:
    """What is found in 200 sound rows with more columns."""
    columns, _ = sound()
    columns |= {name: [str(cell) for cell in cells] for name, cells in added.items()}
    (folder / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    write_sidecar(folder / "my.csv", declared or {"target": "y"})
    return issues_of_data(load(str(folder / "my.csv")))


def repairs_of(issues: Sequence[Issue], code: str) -> list[str]:
    return [repair.text for issue in issues if issue.code == code for repair in issue.repairs]


def test_final_weights_of_a_survey_are_no_counts(tmp_path: Path) -> None:
    """As ``fnlwgt`` of the census: 190,000 people a row are more rows than any memory holds."""
    weights = np.random.default_rng(1).integers(12_285, 1_484_705, 200)
    issues = issues_of_table(tmp_path, fnlwgt=weights)
    assert repairs_of(issues, "unused-weights") == ["columns:\n  fnlwgt: {role: weight}"]
    declared = {"target": "y", "columns": {"fnlwgt": {"role": "weight"}}}
    assert "odd-weights" not in {one.code for one in issues_of_table(tmp_path, declared, fnlwgt=weights)}


@pytest.mark.parametrize("name", ["Weight", "weight", "frequency", "count"])
def test_the_weight_of_a_person_weighs_no_row(tmp_path: Path, name: str) -> None:
    kilograms = np.random.default_rng(1).normal(75, 12, 200).round()
    assert not repairs_of(issues_of_table(tmp_path, None, **{name: kilograms}), "unused-weights")


def test_weights_that_are_one_on_average_weigh_rows(tmp_path: Path) -> None:
    weights = np.random.default_rng(1).uniform(0.5, 1.5, 200)
    issues = issues_of_table(tmp_path, weight=weights / weights.mean())
    assert repairs_of(issues, "unused-weights") == ["columns:\n  weight: {role: weight}"]


def test_an_outlier_is_named_with_all_of_its_digits(tmp_path: Path) -> None:
    numbers = [*np.random.default_rng(1).integers(60_000, 70_000, 199), 8_233_704]
    issues = issues_of_table(tmp_path, sample=numbers)
    assert "sample: {missing: [8233704]}" in repairs_of(issues, "outliers")[0]
    apply_all(tmp_path / "my.csv", {"target": "y"}, "outliers")


def test_numbers_with_a_word_for_missing_cells_are_no_levels_to_leave_out(tmp_path: Path) -> None:
    numbers = [*written(np.random.default_rng(1).normal(0, 1, 190)), *["NA"] * 10]
    issues = issues_of_table(tmp_path, lab=numbers)
    assert repairs_of(issues, "words-among-numbers") == ["columns:\n  lab: {missing: [NA]}"]
    assert not any("ignore" in text for issue in issues for text in [repair.text for repair in issue.repairs])


def test_a_rule_of_missing_cells_is_not_seen_in_three_rows(tmp_path: Path) -> None:
    """Two of 344 penguins lack all measures, and their sex, too: chance enough where eleven lack it."""
    assert not repairs_of(issues_of_data(load("penguins")), "missing-by-rule")
    b = np.random.default_rng(1).normal(0, 1, 200).round(3).astype(str)
    rare = np.array(["usual"] * 197 + ["rare"] * 3)
    b[[*range(0, 40, 4), 197, 198, 199]] = ""
    assert not repairs_of(issues_of_table(tmp_path, b2=b, rare=rare), "missing-by-rule")


def test_a_stand_in_is_seen_beside_other_negative_numbers(tmp_path: Path) -> None:
    """-999 in 6 % of the cells of a column of temperatures below and above 0."""
    celsius = np.random.default_rng(1).normal(5, 10, 200).round(1)
    celsius[:12] = -999
    issues = issues_of_table(tmp_path, celsius=celsius)
    assert repairs_of(issues, "stand-ins") == ["columns:\n  celsius: {missing: [-999]}"]
    celsius[:12] = -9
    assert repairs_of(issues_of_table(tmp_path, celsius=celsius), "stand-ins") == []
    profit = np.random.default_rng(1).normal(0, 2000, 200).round()
    profit[:12] = -999
    assert repairs_of(issues_of_table(tmp_path, profit=profit), "stand-ins")
    assert not repairs_of(issues_of_table(tmp_path, sign=np.resize([-1, 0, 1], 200)), "stand-ins")


def test_a_repair_keeps_what_the_sidecar_says(tmp_path: Path) -> None:
    kilograms = np.random.default_rng(1).normal(75, 12, 200).round()
    kilograms[:3], kilograms[3:6] = 0, -1
    declared = {"target": "y", "columns": {"kg": {"kind": "discrete", "missing": ["-1"], "range": [0, 150]}}}
    issues = issues_of_table(tmp_path, declared, kg=kilograms.astype(int))
    assert repairs_of(issues, "disguised-zeros") == [
        "columns:\n  kg: {kind: discrete, missing: [-1, 0], range: [0.0, 150.0]}"
    ]
    declared = {"target": "y", "columns": {"colour": {"levels": ["blue", "green", "red", "unknown"]}}}
    colours = np.resize(["red", "green", "blue", "unknown"], 200)
    issues = issues_of_table(tmp_path, declared, colour=colours)
    assert repairs_of(issues, "stand-in-words") == [
        "columns:\n  colour: {kind: nominal, levels: [blue, green, red], missing: [unknown]}"
    ]
    apply_all(tmp_path / "my.csv", declared, "stand-in-words")


def table_with_two_groups(path: Path) -> None:
    """Rows of three to a household, some of them copies, so that ``id`` is mostly distinct."""
    rng = np.random.default_rng(5)
    rows = np.arange(300) - np.isin(np.arange(300), np.arange(1, 60, 3))
    frame = pd.DataFrame({"id": rows + 1000, "household": rows // 3, "x": rng.normal(size=300)[rows]})
    frame["y"] = np.where(frame.x + rng.normal(size=300)[rows] > 0, "a", "b")
    frame.to_csv(path, index=False)


def test_a_role_that_one_column_has_is_not_offered_to_a_second(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    table_with_two_groups(path)
    write_sidecar(path, {"target": "y", "columns": {"household": {"role": "group"}}})
    dataset = load(str(path))
    texts = [repair.text for issue in issues_of_data(dataset) for repair in issue.repairs]
    assert "columns:\n  id: {role: id}" in texts
    assert not any("id: {role: group}" in text for text in texts)


def test_the_joined_sidecar_gives_a_role_to_the_column_that_needs_it(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    table_with_two_groups(path)
    write_sidecar(path, {"target": "y"})
    issues = issues_of_data(load(str(path)))
    joined = joined_sidecar([issue for issue in issues if is_serious(issue)])
    assert joined == "columns:\n  id: {role: id}\n  household: {role: group}"
    assert not {"identifiers", "groups-cut"} & {
        issue.code for issue in issues_of_data(with_repair(path, {"target": "y"}, Repair("sidecar", joined)))
    }
