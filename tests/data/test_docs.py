"""docs/data.md tells the truth: its example loads, and it names every key, kind and role."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mlcli.core.schema import COLUMN_KINDS
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import COLUMN, DELIMITER_WORDS, SIDECAR
from mlcli.tasks.table import ROLES

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
CSV = "visit;age;pressure;grade;smoker;ward;sex;comment;operator;outcome;age_group;clinic\n"
CSV += "1;50;-1;low;;A;f;x;p;good;old;north\n2;?;120;high;y;B;m;;q;bad;young;south\n"


def example() -> str:
    section = PAGE.partition("## The sidecar")[2].partition("\n## ")[0]
    return "\n".join(line[4:] for line in section.splitlines() if line.startswith("    "))


def test_every_kind_role_and_key_is_explained() -> None:
    words = {*COLUMN_KINDS, *ROLES, *SIDECAR, *COLUMN, *DELIMITER_WORDS}
    assert [word for word in sorted(words) if word not in PAGE] == []


def test_the_example_of_a_sidecar_loads_as_it_says(loaded: Callable[..., Dataset]) -> None:
    dataset = loaded(CSV, example())
    assert (dataset.name, dataset.task) == ("visits", "classification")
    roles = {field.column.name: field.role for field in dataset.schema if field.role != "feature"}
    assert roles == {
        "visit": "id",
        "ward": "group",
        "sex": "sensitive",
        "comment": "ignore",
        "operator": "ignore",
        "outcome": "target",
        "age_group": "sensitive",
        "clinic": "domain",
    }
    kinds = [field.column.kind for field in dataset.schema][1:5]
    assert kinds == ["numeric", "numeric", "ordinal", "boolean"]
    assert dataset.table.cells("smoker").tolist() == [0, 1]
