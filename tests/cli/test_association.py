"""Rules in the shell: found, judged on rows held out, saved, and used to say what else a row may have."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.baskets import NAMES, drawn
from tests.support.shell import document, typed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Baskets, one 0/1 column for each thing."""
    monkeypatch.chdir(tmp_path)
    lines = [",".join(map(str, row)) for row in drawn().table.codes.tolist()]
    Path("till.csv").write_text("\n".join([",".join(NAMES), *lines]) + "\n")
    return tmp_path


def test_the_method_tells_the_task_and_every_column_is_an_item(folder: Path) -> None:
    cells = document(typed("eval", "till.csv", "-m", "fp-growth", "--json"))["cells"]
    assert [(cell["kind"], cell["model"]) for cell in cells] == [
        ("association", "single-items"),
        ("association", "fp-growth"),
    ]
    assert cells[0]["metrics"]["lift"]["mean"] == pytest.approx(1.0)
    assert cells[1]["metrics"]["lift"]["mean"] > 1.4
    rules = cells[1]["rules"]
    assert np.mean([rule["lift"] for rule in rules]) == pytest.approx(cells[1]["metrics"]["lift"]["mean"])
    assert {"if", "then", "support", "confidence", "conviction", "learned"} <= rules[0].keys()


def test_rules_are_shown_with_what_is_left_of_them_on_other_rows(folder: Path) -> None:
    shown = typed("eval", "till.csv", "-m", "fp-growth").stdout
    assert "training lift" in shown
    assert any(line.startswith("butter") and "bread" in line for line in shown.splitlines())
    assert (
        "found in" in typed("eval", "till.csv", "-m", "fp-growth", "--protocol", "k-fold", "--folds", "3").stdout
    )


def test_a_target_is_an_item_like_the_others_and_that_is_said(folder: Path) -> None:
    shown = typed("eval", "till.csv", "--task", "association", "--target", "fish").stdout
    assert "association has no target: 'fish' is a column like the others" in shown
    trained = typed("train", "weather_nominal", "-m", "fp-growth", "-p", "min_support=0.2").stdout
    assert "outlook=overcast" in trained
    assert "play=yes" in trained


def test_numbers_that_are_no_items_are_named(folder: Path) -> None:
    assert "left out: legs" in typed("eval", "zoo", "-m", "single-items", "--task", "association").stdout


def test_a_saved_model_says_what_else_a_row_may_have_and_why(folder: Path) -> None:
    assert typed("train", "till.csv", "-m", "fp-growth", "-o", "rules.mlcli").exit_code == 0
    given = "bread,butter,milk,beer,chips,fish\n1,0,0,0,0,0\n0,0,0,0,1,0\n0,0,0,0,0,0\n"
    rows = list(csv.DictReader(io.StringIO(typed("predict", "rules.mlcli", "-", given=given).stdout)))
    assert [(row["prediction"], row["because"]) for row in rows][:1] == [("butter", "bread")]
    assert float(rows[0]["confidence"]) > 0.8
    assert (rows[2]["prediction"], rows[2]["because"], rows[2]["confidence"]) == ("", "", "")
    cells = document(typed("eval", "till.csv", "-m", "rules.mlcli", "--json"))["cells"]
    assert {cell["status"] for cell in cells} == {"done"}


@pytest.fixture
def long(folder: Path) -> Path:
    """The same baskets, a row for each thing in them, under another name."""
    rows = drawn().table.codes.tolist()
    lines = [
        f"b{row},{name}"
        for row, cells in enumerate(rows)
        for name, there in zip(NAMES, cells, strict=True)
        if there
    ]
    Path("slips.csv").write_text("\n".join(["slip,thing", *lines]) + "\n")
    Path("slips.yaml").write_text("roles: {group: [slip], item: [thing]}\n")
    return folder


def rules_in(file: str) -> set[tuple[frozenset[str], frozenset[str], str]]:
    """Each rule with what training says of it; the order of items within a side is that of the columns."""
    table = typed("train", file, "-m", "fp-growth").stdout.split("conviction")[1].splitlines()
    rows = [re.split("  +", line, maxsplit=2) for line in table if re.search("  +0[.]", line)]
    return {(frozenset(when.split(" & ")), frozenset(then.split(" & ")), shares) for when, then, shares in rows}


def test_long_form_gives_the_rules_that_wide_form_gives(folder: Path, long: Path) -> None:
    with_things = [row for row in Path("till.csv").read_text().splitlines() if "1" in row or "bread" in row]
    Path("till.csv").write_text("\n".join(with_things) + "\n")
    assert rules_in("slips.csv") == rules_in("till.csv") != set()


def test_rules_are_used_on_new_transactions_in_long_form(long: Path) -> None:
    typed("train", "slips.csv", "-m", "fp-growth", "-o", "rules.mlcli")
    asked = typed("predict", "rules.mlcli", "-", given="slip,thing\nx,bread\ny,caviar\nx,caviar\ny,truffle\n")
    rows = list(csv.DictReader(io.StringIO(asked.stdout)))
    assert [(row["slip"], row["prediction"]) for row in rows] == [("x", "butter"), ("y", "")]
    assert "'caviar', 'truffle' were not there in training" in asked.stderr
    assert "(cells: 3)" in asked.stderr
    asked = typed("predict", "rules.mlcli", "-", given="slip,thing\nx,\n")
    assert asked.exit_code == 4
    assert "column 'thing': the cell is empty" in asked.stderr


def test_new_rows_may_lack_items_and_that_is_said(long: Path) -> None:
    typed("train", "till.csv", "-m", "fp-growth", "-o", "rules.mlcli")
    asked = typed("predict", "rules.mlcli", "-", given="bread,milk\n1,0\n")
    assert asked.stdout.splitlines()[1].startswith("1,butter,bread,")
    assert "butter, beer, chips, fish" in asked.stderr
    assert typed("predict", "rules.mlcli", "-", given="legs\n1\n").exit_code == 4
    Path("short.csv").write_text("bread,milk\n1,0\n1,0\n")
    shown = typed("eval", "short.csv", "-m", "rules.mlcli").stdout
    assert "butter, beer, chips, fish" in shown


def test_a_long_file_without_roles_is_told_how_to_give_them(long: Path) -> None:
    Path("bare.csv").write_text(Path("slips.csv").read_text().replace("\nb", "\n"))
    shown = typed("eval", "bare.csv", "--task", "association").stdout
    assert "no training row has more than one item, so nothing stands together" in shown
    assert "no training row" not in typed("eval", "till.csv", "--task", "association").stdout


def test_slips_without_a_sidecar_are_told_how_to_say_what_they_are(folder: Path) -> None:
    typed("train", "till.csv", "-m", "fp-growth", "-o", "rules.mlcli")
    Path("bare.csv").write_text("slip,thing\n1,bread\n1,milk\n")
    asked = typed("predict", "rules.mlcli", "bare.csv")
    assert asked.exit_code == 4
    assert "if each row is one item of a group, say so in a sidecar beside the file" in asked.stderr
    Path("bare.yaml").write_text("roles: {group: [slip], item: [thing]}\n")
    assert typed("predict", "rules.mlcli", "bare.csv").stdout.splitlines()[1].startswith("1,1,butter,bread")
