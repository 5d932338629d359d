"""Two files in the shell: is one like the other, and what a join leaves without a match."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.test_join import CUSTOMERS, ORDERS
from tests.support.shell import document, typed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with two files."""
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text(ORDERS, encoding="utf-8")
    Path("customers.csv").write_text(CUSTOMERS, encoding="utf-8")
    return tmp_path


def test_a_file_is_compared_with_another(folder: Path) -> None:
    Path("b.csv").write_text("petal_length,petal_width,colour\n" + "9.5,4.1,red\n" * 30, encoding="utf-8")
    shown = typed("data", "iris", "b.csv")
    assert shown.exit_code == 0, shown.stderr
    assert "Is b like iris?" in shown.stdout
    assert "Columns of A that B lacks: sepal_length, sepal_width, species." in shown.stdout
    assert "Columns that only B has, not compared: colour." in shown.stdout
    found = document(typed("data", "iris", "b.csv", "--json"))
    assert found["model"]["tells_apart"]
    assert {one["name"]: one["distance"] for one in found["columns"]} == {"petal_length": 1.0, "petal_width": 1.0}


def test_a_file_with_none_of_the_columns_is_refused(folder: Path) -> None:
    assert typed("data", "iris", "orders.csv").exit_code == 4


def test_a_join_goes_to_stdout_and_its_report_to_stderr(folder: Path) -> None:
    shown = typed("join", "orders.csv", "customers.csv", "--on", "customer=id")
    assert shown.stdout.splitlines()[:2] == ["order,customer,n,name,n (2)", "1,a,3,Ann,1"]
    assert "3 of 5 rows of orders.csv have a match in customers.csv." in shown.stderr
    assert "without a match, such as c" in shown.stderr


def test_a_join_into_a_file_is_reported_in_any_format(folder: Path) -> None:
    words = ("join", "orders.csv", "customers.csv", "--on", "customer=id", "-o", "both.csv")
    found = document(typed(*words, "--json"))
    assert (found["rows"], found["matched"]) == (5, 3)
    assert len(Path("both.csv").read_text(encoding="utf-8").splitlines()) == 6
    assert typed(*words).exit_code == 2  # it is there


def test_doubled_keys_are_refused_and_said(folder: Path) -> None:
    shown = typed("join", "customers.csv", "orders.csv", "--on", "id=customer")
    assert shown.exit_code == 4
    assert "a (2 times)" in shown.stderr
    assert typed("join", "customers.csv", "orders.csv", "--on", "id=customer", "--many").exit_code == 0
