"""``--write-sidecar`` completes a sidecar, keeps what it says, and never writes into the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.core.errors import DataError
from mlcli.core.strict_yaml import parse
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from mlcli.data.write_sidecar import Entry, with_entries
from tests.support.shell import typed

CSV = "name,age,city,y\n" + "".join(
    f"n{row},{20 + row},{'AB'[row % 2]},{'uv'[row % 3 % 2]}\n" for row in range(12)
)
SIDECAR = """\
# collected by hand, see the notebook
x-owner: {team: risk, since: 2024}   # ours
columns:
  # asked twice
  age:
    kind: numeric   # in years
    range: [0, 120]
reference:
  - {method: coin, accuracy: 50}   # by definition
  - method: expert
    accuracy: 81
notes: |
  two lines
  of text
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text(CSV)
    return tmp_path


@pytest.mark.parametrize("reference", ["iris", str(shipped_paths()["iris"])])
def test_the_sidecar_of_a_shipped_dataset_is_not_touched(folder: Path, reference: str) -> None:
    sidecar = shipped_paths()["iris"].with_suffix(".yaml")
    before = sidecar.read_bytes(), sidecar.stat().st_mtime_ns
    for options in ((), ("--force",)):
        result = typed("data", reference, "--write-sidecar", *options)
        assert result.exit_code == 2
        assert "'iris' comes with mlcli" in result.stderr
        assert "cp " in result.stderr
    assert (sidecar.read_bytes(), sidecar.stat().st_mtime_ns) == before


def test_an_existing_sidecar_is_completed_with_force_alone(folder: Path) -> None:
    Path("my.yaml").write_text(SIDECAR)
    refused = typed("data", "my.csv", "--write-sidecar")
    assert (refused.exit_code, "--force" in refused.stderr) == (2, True)
    assert Path("my.yaml").read_text() == SIDECAR
    before = load("my.csv")
    assert typed("data", "my.csv", "--write-sidecar", "--force").exit_code == 0
    text = Path("my.yaml").read_text()
    assert [line for line in SIDECAR.splitlines() if line not in text.splitlines()] == []
    assert "  city: {kind: nominal, levels: [A, B]}  # inferred:" in text
    assert "target: y\n" in text
    again = load("my.csv")
    assert again.content == before.content
    assert {field.source for field in again.schema} == {"declared"}
    assert again.about["notes"] == "two lines\nof text\n"
    assert typed("data", "my.csv", "--write-sidecar", "--force").exit_code == 0
    assert Path("my.yaml").read_text() == text


def test_what_is_asked_for_otherwise_is_changed_alone(folder: Path) -> None:
    Path("my.yaml").write_text("target: y  # the label\ncolumns: {age: numeric, city: nominal}\n# the end")
    words = ("data", "my.csv", "--target", "city", "--drop", "age", "--write-sidecar", "--force")
    assert typed(*words).exit_code == 0
    text = Path("my.yaml").read_text()
    assert "target: city  # the label\n" in text
    assert "age: {kind: numeric, role: ignore}, city: nominal, name: " in text
    assert text.endswith("# the end")
    roles = {field.column.name: field.role for field in load("my.csv").schema}
    assert roles == {"name": "id", "age": "ignore", "city": "target", "y": "feature"}


def test_another_role_leaves_the_rest_of_a_column(folder: Path) -> None:
    Path("my.yaml").write_text(SIDECAR)
    assert typed("data", "my.csv", "--drop", "age", "--write-sidecar", "--force").exit_code == 0
    text = Path("my.yaml").read_text()
    assert "    kind: numeric   # in years\n    range: [0, 120]\n    role: ignore\n" in text


def test_the_other_suffix_is_completed_and_an_experiment_is_left_alone(folder: Path) -> None:
    Path("my.yml").write_text("target: city\n")
    assert typed("data", "my.csv", "--write-sidecar", "--force").exit_code == 0
    assert sorted(path.name for path in folder.glob("my.y*")) == ["my.yml"]
    Path("my.yml").unlink()
    Path("my.yaml").write_text("data: [my.csv]\nmodels: [knn]\n")
    result = typed("data", "my.csv", "--write-sidecar", "--force")
    assert (result.exit_code, "is an experiment" in result.stderr) == (2, True)
    assert Path("my.yaml").read_text() == "data: [my.csv]\nmodels: [knn]\n"


def test_roles_that_cannot_be_completed_are_left_as_they_are(folder: Path) -> None:
    text = "roles: {id: [name]}\n"
    Path("my.yaml").write_text(text)
    result = typed("data", "my.csv", "--drop", "name", "--write-sidecar", "--force")
    assert (result.exit_code, "correct it by hand" in result.stderr) == (2, True)
    assert Path("my.yaml").read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "# é\n", "a: ü\n", "a: ü", "{a: 'ü', b: [1, 2]}\n", "m:\n  - 1\n  # c\n\n# d\n"),
        *(
            "m: |\n  x\n  y\n\n# é\n",
            "x: &e 1\ny: *e\n",
            "m:\n",
            "m: ~ # c\n",
            "m: {}\n",
            "m: {n: 1,\n  o: 2}\n",
            "---\nm: 1\n",
        ),
        *("m:\n    n: 1\n    o:\n      p: q # c\nz: 1\n", "m: >-\n  folded\n  text"),
    ],
)
def test_entries_are_set_in_any_yaml(text: str) -> None:
    for path in ((), ("m",)):
        values = parse(text, "f.yaml", DataError).value or {}
        inside = values.get("m") if path else values
        if path and ("m" not in values or not isinstance(inside, dict | None)):
            continue
        entries = {"o": Entry("o", "9"), "new é": Entry('"new é"', "[1, x]", "why")}
        changed = with_entries(text, path, entries)
        expected = {**(inside or {}), "o": 9, "new é": [1, "x"]}
        assert parse(changed, "f.yaml", DataError).value == ({**values, "m": expected} if path else expected)
        assert text.count("#") + (0 if changed.count("# why") == 0 else 1) == changed.count("#")
