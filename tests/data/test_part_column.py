"""A column named part, set or subset that holds train and test gives the part of each row."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.checks.audit import issues_of_data
from mlcli.data.load import load
from tests.checks.faults import csv_of, sound
from tests.support.shell import document, typed


def file_with(folder: Path, name: str, values: list[str]) -> Path:
    columns, _ = sound()
    columns[name] = values
    (folder / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    return folder / "my.csv"


@pytest.mark.parametrize("name", ["part", "Part", "set", "usage", "subset"])
@pytest.mark.parametrize("values", [["train", "test"], ["Training", "Testing"], ["train", "val", "test", "train"]])
def test_a_column_of_parts_is_no_feature_and_is_remarked(tmp_path: Path, name: str, values: list[str]) -> None:
    path = file_with(tmp_path, name, values * (200 // len(values)))
    dataset = load(str(path), target="y")
    assert next(field.role for field in dataset.schema if field.column.name == name) == "part"
    assert any(f"column '{name}' is taken as the part that each row is in" in note for note in dataset.notes)
    result = typed("eval", str(path), "--target", "y", "-m", "zero-r", "--protocol", "given", "--json")
    assert result.exit_code == 0


def test_rows_of_the_test_part_are_judged(tmp_path: Path) -> None:
    """By hand: zero-r answers the most frequent class of the first 150 rows, and is judged by the last 50."""
    path = file_with(tmp_path, "part", ["train"] * 150 + ["test"] * 50)
    labels = [line.split(",")[3] for line in path.read_text().splitlines()[1:]]
    most = max("up", "down", key=labels[:150].count)
    result = typed("eval", str(path), "--target", "y", "-m", "zero-r", "--protocol", "given", "--json")
    cells = document(result)["cells"]
    assert cells[0]["metrics"]["accuracy"]["mean"] == pytest.approx(labels[150:].count(most) / 50)


def test_a_part_of_a_machine_is_a_feature(tmp_path: Path) -> None:
    dataset = load(str(file_with(tmp_path, "part", ["valve", "test"] * 100)), target="y")
    assert "part" in {column.name for column in dataset.schema.features()}
    assert "given-parts" not in {issue.code for issue in issues_of_data(dataset)}


def test_a_declared_feature_of_parts_is_warned_of(tmp_path: Path) -> None:
    path = file_with(tmp_path, "part", ["train", "test"] * 100)
    path.with_suffix(".yaml").write_text("target: y\ncolumns: {part: {role: feature}}\n")
    (issue,) = (issue for issue in issues_of_data(load(str(path))) if issue.code == "given-parts")
    assert issue.sentence == "column 'part' seems to say which part each row is in, and is a feature"
    assert issue.repairs[0].text.startswith("columns:\n  part: {role: part}")


@pytest.mark.parametrize("name", ["train_test", "dataset", "origin"])
def test_a_column_of_any_name_with_nothing_but_parts_is_warned_of(tmp_path: Path, name: str) -> None:
    path = file_with(tmp_path, name, ["train", "test"] * 100)
    (issue,) = (issue for issue in issues_of_data(load(str(path), target="y")) if issue.code == "given-parts")
    assert issue.columns == (name,)
    assert [repair.text.splitlines()[1] for repair in issue.repairs] == [
        f"  {name}: {{role: part}}  # and then --protocol given",
        f"  {name}: {{role: ignore}}",
    ]
    for command in (("data",), ("audit",), ("eval", "-m", "zero-r")):
        page = " ".join(typed(*command, str(path), "--target", "y").stdout.split())
        assert f"column '{name}' seems to say which part each row is in, and is a feature" in page
    path.with_suffix(".yaml").write_text(f"target: y\ncolumns: {{{name}: {{role: part}}}}\n")
    assert typed("eval", str(path), "-m", "zero-r", "--protocol", "given").exit_code == 0


@pytest.mark.parametrize("values", [["train", "test", "race", "rest"], ["bus", "train"], ["test", "trial"]])
def test_levels_that_are_more_than_parts_are_not(tmp_path: Path, values: list[str]) -> None:
    path = file_with(tmp_path, "event", values * (200 // len(values)))
    assert "given-parts" not in {issue.code for issue in issues_of_data(load(str(path), target="y"))}


def test_of_two_columns_of_parts_one_is_used(tmp_path: Path) -> None:
    columns, _ = sound()
    columns |= {"fold": [str(row % 5) for row in range(200)], "set": ["train", "test"] * 100}
    path = tmp_path / "my.csv"
    path.write_text(csv_of(columns), encoding="utf-8")
    dataset = load(str(path), target="y")
    assert [column.name for column in dataset.schema.features()] == ["a", "b", "colour"]
    assert "column 'set' is left out: it says which part each row is in, as 'fold' does" in " ".join(dataset.notes)
    assert typed("data", str(path), "--target", "y", "--write-sidecar").exit_code == 0
    assert typed("eval", str(path), "-m", "zero-r", "--protocol", "given").exit_code == 0


def test_a_declared_part_goes_before_a_guessed_one(tmp_path: Path) -> None:
    columns, _ = sound()
    columns |= {"fold": [str(row % 5) for row in range(200)], "set": ["train", "test"] * 100}
    (tmp_path / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    (tmp_path / "my.yaml").write_text("target: y\ncolumns: {set: {role: part}}\n")
    schema = load(str(tmp_path / "my.csv")).schema
    assert [field.column.name for field in schema.with_role("part")] == ["set"]
