"""Which file is meant, what is to be learned from it, and what is said of every guess."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.core.errors import DataError, UsageError
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.tasks.table import kind_of

Loaded = Callable[..., Dataset]
Refused = Callable[..., list[str]]
Write = Callable[..., Path]


def target_of(dataset: Dataset) -> tuple[str, str]:
    target = dataset.schema.the("target")
    assert target is not None
    return target.name, target.kind


@pytest.mark.parametrize("name", ["weather_nominal", "weather-nominal", "Weather-Nominal"])
def test_a_shipped_name_is_found_however_it_is_joined(name: str) -> None:
    assert load(name).name == "weather_nominal"


def test_a_file_goes_before_a_shipped_name(tmp_path: Path) -> None:
    (tmp_path / "iris").write_text("a,y\n1,2\n")
    assert len(load("iris", base=tmp_path)) == 1
    assert len(load("iris", base=tmp_path.parent)) == 150


def test_a_relative_path_begins_at_the_base(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "my.csv").write_text("a,y\n1,2\n")
    assert load("in/my.csv", base=tmp_path).path == tmp_path / "in" / "my.csv"


@pytest.mark.parametrize(
    ("reference", "what", "hint"),
    [
        ("irs", "there is no dataset 'irs'", "did you mean 'iris'?"),
        ("mine.csv", "there is no file 'mine.csv'", "mines.csv'?"),
        ("no/where.csv", "there is no file 'no/where.csv'", "there is no folder"),
        ("iris.csv", "there is no file 'iris.csv'", "'iris' is a shipped dataset: give its name alone"),
        ("zzz.csv", "there is no file 'zzz.csv'", "the folder holds mines.csv"),
        ("~nobody-here/x.csv", "there is no file '~nobody-here/x.csv'", "there is no folder"),
        ("~irs", "there is no dataset '~irs'", "did you mean 'iris'?"),
        ("", "no dataset is named", "give the name of a shipped dataset"),
        ("a" * 5000, "there is no dataset", "shipped datasets:"),
        ("-", "'-' is a stream, which can be read only once", "save it as a file first"),
        ("/dev/null", "'/dev/null' is a stream", "mlcli predict alone reads standard input, as -"),
        ("./", "'./' is a folder, not a CSV file", "the folder holds mines.csv"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(tmp_path: Path, reference: str, what: str, hint: str) -> None:
    (tmp_path / "mines.csv").write_text("a\n1\n")
    with pytest.raises(DataError) as caught:
        load(reference, base=tmp_path)
    (problem,) = caught.value.problems
    assert problem.what.startswith(what)
    assert hint in problem.hint


def test_a_file_without_rows_is_refused(refused: Refused) -> None:
    assert refused("a,b\n") == ["my.csv: has column names but no rows"]


def test_the_last_column_is_guessed_to_be_the_target_and_said_so(loaded: Loaded) -> None:
    dataset = loaded("a,b\n1,u\n2,v\n3,v\n")
    assert target_of(dataset) == ("b", "nominal")
    (note,) = dataset.notes
    assert "the target was guessed: 'b'" in note
    assert "'a' may be meant" in note
    assert "--target COLUMN" in note
    assert dataset.schema.fields[1].source == "guessed"


def test_a_chosen_target_goes_before_the_sidecar(loaded: Loaded) -> None:
    text = "a,y\n1.5,u\n2.5,v\n3.5,v\n"
    assert target_of(loaded(text, "target: y\n", target="a")) == ("a", "numeric")
    assert "'y', the target in the sidecar, is a feature here" in loaded(text, "target: y\n", target="a").notes
    assert loaded(text, "target: a\n").notes == ()


def test_a_target_that_is_not_there_is_refused_with_the_nearest(write: Write) -> None:
    with pytest.raises(DataError, match="no column 'speces'") as caught:
        load("iris", target="speces")
    assert caught.value.problems[0].hint == "did you mean 'species'?"


def test_no_target_can_be_meant(loaded: Loaded) -> None:
    dataset = loaded("a,b\n1,2\n3,5\n", "target: null\ntask: clustering\n")
    assert dataset.schema.the("target") is None
    assert (dataset.task, dataset.notes) == ("clustering", ())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 0, 1], "nominal"),
        ([1, 2, 3, 1, 2, 3], "nominal"),
        ([1, 2, 3, 1, 2], "numeric"),
        ([1.5, 2.5, 1.5, 2.5], "numeric"),
        ([*range(11), *range(11)], "numeric"),
        ([7, 7, 7], "numeric"),
    ],
)
def test_a_few_whole_numbers_that_repeat_are_guessed_to_be_classes(
    loaded: Loaded, values: list[float], kind: str
) -> None:
    dataset = loaded("a,y\n" + "".join(f"{row}.5,{value}\n" for row, value in enumerate(values)))
    assert target_of(dataset) == ("y", kind)
    assert any("say --task regression" in note for note in dataset.notes) == (kind == "nominal")


def test_numbers_spelt_in_two_ways_are_not_guessed_to_be_classes(loaded: Loaded) -> None:
    assert target_of(loaded("a,y\n1,1\n2,1.0\n3,2\n4,2.0\n")) == ("y", "numeric")


def test_a_declared_kind_is_not_guessed_again(loaded: Loaded) -> None:
    assert target_of(loaded("a,y\n1,0\n2,1\n3,0\n4,1\n", "target: y\ncolumns: {y: numeric}\n")) == ("y", "numeric")


def test_the_task_that_is_asked_for_settles_the_target(loaded: Loaded) -> None:
    text = "a,y\n1,0\n2,1\n3,0\n4,1\n"
    regression, classification = loaded(text, task="regression"), loaded(text, task="classification")
    assert (target_of(regression), regression.task) == (("y", "numeric"), "regression")
    assert (target_of(classification), classification.task) == (("y", "nominal"), "classification")
    assert any("taken as nominal for classification: 2 classes" in note for note in classification.notes)
    kind = kind_of(classification.schema)
    assert kind is not None
    assert kind.name == "classification"


def test_regression_on_levels_is_refused_and_says_why(refused: Refused) -> None:
    found = refused("a,y\n1,u\n2,v\n", task="regression")
    assert found == [
        "my.csv: regression needs a numeric target, and 'y' is nominal: u, v",
        "my.csv:2, column 'y': 'u' is not a number",
    ]


def test_no_advice_of_a_regression_ends_in_levels(loaded: Loaded) -> None:
    with pytest.raises(DataError) as caught:
        loaded("a,y\n1,u\n2,v\n", task="regression")
    assert [problem.hint for problem in caught.value.problems][1:] == ["correct the cell"]


def test_levels_that_are_numbers_can_be_regressed() -> None:
    dataset = load("digits", task="regression")
    assert target_of(dataset) == ("digit", "numeric")
    assert dataset.table.cells("digit")[:3].tolist() == [0.0, 1.0, 2.0]


def test_a_task_that_cannot_be_done_is_refused() -> None:
    with pytest.raises(UsageError, match="no kind of task") as caught:
        load("iris", task="clasification")
    assert "classification" in caught.value.problems[0].hint


def test_a_task_without_a_target_is_refused(refused: Refused) -> None:
    (found,) = refused("a,b\n1,2\n", "target: null\n", task="regression")
    assert found == "my.csv: regression needs a target, and the sidecar says: none"


def test_the_task_of_the_sidecar_is_for_its_own_target() -> None:
    dataset = load("iris", target="sepal_length")
    assert (target_of(dataset), dataset.task) == (("sepal_length", "numeric"), None)
    assert load("faithful", target="waiting").schema.the("target") is not None


def test_the_first_task_of_the_sidecar_that_can_be_done_is_taken() -> None:
    assert load("travelmode").task == "ranking"
    assert load("ruspini").task == "clustering"
    assert load("faithful").task == "clustering"


def test_identifiers_are_guessed_left_out_and_said(loaded: Loaded) -> None:
    rows = "".join(f"{row},{row * 7},name{row},{row}.5,{row % 2}\n" for row in range(12))
    dataset = loaded("id,number,name,size,y\n" + rows)
    assert [column.name for column in dataset.schema.features()] == ["number", "size"]
    assert [field.role for field in dataset.schema][:3] == ["id", "feature", "id"]
    assert any(note.startswith("column 'id' is taken as an identifier (by its name") for note in dataset.notes)
    kept = loaded("id,number,name,size,y\n" + rows, "roles: {feature: [id, name]}\n")
    assert [column.name for column in kept.schema.features()] == ["id", "number", "name", "size"]


@pytest.mark.parametrize(("names", "role"), [("A1 A2 A3 A4", "id"), ("A1 A2 B1 B2", "feature")])
def test_few_rows_that_are_numbered_have_an_identifier(loaded: Loaded, names: str, role: str) -> None:
    # The haematology table of the notes (S2) numbers nine rows from A1 on; other names of few rows may be levels.
    rows = "".join(f"{name},{place},{place % 2}\n" for place, name in enumerate(names.split()))
    assert next(iter(loaded("sample,x,y\n" + rows).schema)).role == role


def test_an_identifier_at_the_end_is_not_guessed_to_be_the_target(loaded: Loaded) -> None:
    dataset = loaded("a,b,id\n" + "".join(f"{row}.5,{row % 2},{row}\n" for row in range(12)))
    assert target_of(dataset)[0] == "b"
    assert "'b', the last column that may be one" in "".join(dataset.notes)


def test_constant_columns_and_very_many_levels_are_noted(loaded: Loaded) -> None:
    rows = "".join(f"1,{row // 2 * 2}x,{row}.5,{'uv'[row % 2]}\n" for row in range(300))
    notes = loaded("one,many,size,y\n" + rows, "target: y\n").notes
    constant, merged, many = notes
    assert "the same in every row" in constant
    assert constant.endswith(": one")
    assert "50 most frequent levels" in merged
    assert "many (150)" in merged
    assert "many (150)" in many


def test_rows_without_a_target_are_kept(loaded: Loaded) -> None:
    dataset = loaded("a,y\n1,u\n2,\n3,v\n")
    assert len(dataset) == 3
    assert dataset.table.cells("y").tolist() == [0, -1, 1]


def test_the_content_does_not_depend_on_how_the_file_is_written(loaded: Loaded) -> None:
    plain = loaded("a,y\n1,u\n2,v\n", "target: y\n").content
    assert loaded('"a";"y"\r\n1.0;"u"\r\n2;v\r\n'.encode("utf-16"), "target: y\n").content == plain
    assert loaded("a,y\n1,u\n3,v\n", "target: y\n").content != plain
    assert loaded("a,y\n1,u\n2,v\n", "target: y\nroles: {sensitive: a}\n").content != plain


def test_a_target_without_any_value_is_refused(refused: Refused) -> None:
    (found,) = refused("a,y\n1,\n2,\n", target="y")
    assert found == "my.csv: the target 'y' is empty in every row"
