"""A sidecar says what columns are; all that is wrong with it is reported at once, with places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.core.errors import DataError, StoreError, UsageError
from mlcli.core.strict_yaml import parse
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.profile import profile
from mlcli.data.shipped import shipped_paths
from mlcli.data.sidecar import yaml_key, yaml_list, yaml_scalar
from mlcli.data.write_sidecar import write_sidecar

Loaded = Callable[..., Dataset]
Refused = Callable[..., list[str]]
Write = Callable[..., Path]
CSV = "name,age,colour,grade,share,y\n" + "".join(f"n{row},{row},red,lo,1,{'ab'[row % 2]}\n" for row in range(12))


def roles(dataset: Dataset) -> dict[str, str]:
    return {field.column.name: field.role for field in dataset.schema}


def test_every_role_can_be_given_in_either_place(loaded: Loaded) -> None:
    sidecar = (
        "columns:\n  name: {role: group}\n  age: {kind: numeric, role: order}\n"
        "roles:\n  target: y\n  sensitive: [colour]\n  weight: share\n  ignore: grade\n"
    )
    assert roles(loaded(CSV, sidecar)) == {
        "name": "group",
        "age": "order",
        "colour": "sensitive",
        "grade": "ignore",
        "share": "weight",
        "y": "target",
    }


def test_sensitive_columns_are_features_and_other_roles_are_not(loaded: Loaded) -> None:
    dataset = loaded(CSV, "target: y\nroles: {sensitive: colour, group: grade, weight: share, context: age}\n")
    assert [column.name for column in dataset.schema.features()] == ["colour"]


def test_all_problems_are_reported_at_once_with_place_and_advice(write: Write) -> None:
    path = write(
        CSV,
        "taget: y\n"
        "columns:\n"
        "  agee: numeric\n"
        "  age: numerical\n"
        "  colour: {kind: nominal, levles: [red]}\n"
        "  grade: ordinal\n"
        "  share: {kind: numeric, levels: [1]}\n"
        "roles: {wieght: share, group: [name, grade]}\n"
        "task: classifcation\n"
        "header: false\n",
    )
    with pytest.raises(DataError) as caught:
        load(str(path))
    problems = {
        problem.where.rpartition("/")[2]: (problem.what, problem.hint) for problem in caught.value.problems
    }
    assert problems == {
        "my.yaml:1:1": ("there is no key 'taget' here", "did you mean 'target'?"),
        "my.yaml:3:3": ("the file has no column 'agee'", "did you mean 'age'?"),
        "my.yaml:4:3": (
            "'kind' is one of numeric, nominal, ordinal, boolean, discrete, continuous; was given 'numerical' "
            "(did you mean 'numeric'?)",
            "what its cells are",
        ),
        "my.yaml:5:27": ("there is no key 'levles' here", "did you mean 'levels'?"),
        "my.yaml:6:3": ("an ordinal column needs its levels, lowest first", ""),
        "my.yaml:7:3": ("a numeric column has no levels", ""),
        "my.yaml:8:9": ("there is no key 'wieght' here", "did you mean 'weight'?"),
        "my.yaml:8:24": ("only one column can be the group, not name, grade", ""),
        "my.yaml:9:1": ("there is no kind of task 'classifcation'", "did you mean 'classification'?"),
        "my.yaml:10:1": (
            "'header' takes true, was given False",
            "a CSV file begins with a line of names; true says that they may look like numbers",
        ),
    }


@pytest.mark.parametrize(
    ("sidecar", "problem"),
    [
        ("- a\n", "my.yaml:1:1: a sidecar is a mapping, such as 'target: species'"),
        ("target: yy\n", "my.yaml:1:1: the file has no column 'yy'"),
        ("target: y\nroles: {ignore: y}\n", "my.yaml:1:1: the target is 'y', but column 'y' has the role ignore"),
        ("target: y\nroles: {target: age}\n", "my.yaml:1:1: the target is 'y', but 'age' has the role target"),
        ("columns: {age: {role: id}}\nroles: {group: age}\n", "my.yaml:2:9: column 'age' has the role id already"),
        ("columns: {y: {levels: [a, a, b]}}\n", "my.yaml:1:11: a level stands here twice"),
        (
            "columns: {y: {levels: [a, b], missing: a}}\n",
            "my.yaml:1:11: a level is also a token for missing cells",
        ),
        (
            "columns: {y: {levels: [a, b], empty: c}}\n",
            "my.yaml:1:11: the level that an empty cell stands for is not among the levels",
        ),
        ("columns: {age: {range: [9, 1]}}\n", "my.yaml:1:17: 'range' takes the lower end first"),
        ("columns: {age: {range: 9}}\n", "my.yaml:1:17: 'range' takes two numbers, was given 9"),
        ("columns: [age]\n", "my.yaml:1:1: 'columns' takes a mapping, was given ['age']"),
        (
            "columns: {y: nominal}\nroles: {weight: y}\n",
            "my.yaml:1:11: the weight must be numeric, and 'y' is nominal",
        ),
        ("missing: {a: b}\n", "my.yaml:1:1: 'missing' takes text (one or a list), was given {'a': 'b'}"),
        ("missing: [[a]]\n", "my.yaml:1:1: 'missing' takes text (one or a list), was given ['a']"),
        ("delimiter: dot\n", "my.yaml:1:1: there is no delimiter 'dot'"),
    ],
)
def test_a_mistake_in_a_sidecar_is_named(refused: Refused, sidecar: str, problem: str) -> None:
    assert refused(CSV, sidecar) == [problem]


def test_weights_must_be_numbers_that_are_there_and_not_negative(refused: Refused) -> None:
    sidecar = "target: y\nroles: {weight: w}\n"
    assert refused("w,y\n1,a\nmany,b\n", sidecar) == ["my.csv:3, column 'w': 'many' is not a number"]
    assert refused("w,y\n1,a\n,b\n,b\n-1,a\n", sidecar) == [
        "my.csv:3, column 'w': a weight is missing (in 2 rows)",
        "my.csv:5, column 'w': a weight is below 0",
    ]


@pytest.mark.parametrize("role", ["group", "sequence"])
def test_every_row_needs_its_group_and_sequence(refused: Refused, role: str) -> None:
    assert refused("g,y\nk,a\n,b\n", f"target: y\nroles: {{{role}: g}}\n") == [
        f"my.csv:3, column 'g': the {role} is missing"
    ]


def test_an_experiment_of_the_same_name_is_no_sidecar(loaded: Loaded) -> None:
    assert loaded("a,y\n1,u\n2,v\n", "data: [my.csv]\nmodels: [zero-r]\n").schema.the("target") is not None


def test_keys_for_oneself_are_ignored_and_keys_for_people_kept(loaded: Loaded) -> None:
    dataset = loaded(
        "a,y\n1,u\n2,v\n", "x-note: {a: 1}\nname: mine\nsource: a friend\nreference: [{accuracy: 0.5}]\n"
    )
    assert dataset.name == "mine"
    assert dataset.about == {"source": "a friend", "reference": [{"accuracy": 0.5}]}


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "null",
        "true",
        "nan",
        "-inf",
        "010",
        "1.50",
        "a b",
        "a: b",
        "#x",
        "",
        "'",
        '"',
        "é",
        "\x85",
        "\t",
        "- x",
        "[",
        "1e3",
        "x\ny",
    ],
)
def test_a_written_text_is_read_back_as_it_was(loaded: Loaded, text: str) -> None:
    document = parse(
        f"{yaml_key(text)}: {yaml_scalar(text)}\nlist: {yaml_list([text, text])}\n", "f.yaml", DataError
    )
    assert next(iter(document.value)) == text
    assert document.text(text) == document.text("list", 1) == text


@pytest.mark.parametrize("name", sorted(shipped_paths()))
def test_a_written_sidecar_loads_as_the_same_dataset(name: str, tmp_path: Path) -> None:
    original = load(name)
    copy = tmp_path / f"{name}.csv"
    copy.write_bytes(shipped_paths()[name].read_bytes())
    write_sidecar(original, copy.with_suffix(".yaml"))
    again = load(str(copy))
    assert again.content == original.content
    assert (again.name, again.task, again.about) == (original.name, original.task, original.about)


TRICKY = {
    "guessed": "id,zip,when,flag,y\n"
    + "".join(f"{row},0{row % 4},2024-01-{row:02},{'ny'[row % 2]},{row % 3}\n" for row in range(1, 25)),
    "gaps": "a,empty,y\n1,,\n,,u\n3,,v\n",
    "names": '"no","a: b","1x","é "\n1,2,3,yes\n2,3,4,no\n',
    "decimals": "a;b\n1,5;x\n2,5;y\n",
    "levels": "a,y\n" + "".join(f"{row % 30},{row}.5\n" for row in range(60)),
}


@pytest.mark.parametrize("text", TRICKY.values(), ids=TRICKY)
def test_what_was_inferred_is_written_and_loads_as_the_same_dataset(write: Write, text: str) -> None:
    path = write(text)
    inferred = load(str(path))
    written = write_sidecar(inferred)
    assert written == path.with_suffix(".yaml")
    declared = load(str(path))
    assert declared.content == inferred.content
    assert {field.source for field in declared.schema} == {"declared"}
    written.unlink()
    assert load(str(path)).content == inferred.content


def test_control_characters_in_cells_leave_the_sidecar_readable(write: Write) -> None:
    path = write("a,y\n" + "".join(f"n\x1b[31m{place},{place % 2}u\n" for place in range(12)))
    text = write_sidecar(load(str(path))).read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert load(str(path)).schema.the("target") is not None


def test_a_written_sidecar_says_how_each_kind_was_inferred(write: Write) -> None:
    path = write("a,b,y\n1,x,u\n2,z,v\n3,z,v\n")
    text = write_sidecar(load(str(path))).read_text()
    assert text == (
        "# What mlcli understood of my.csv. Correct what is wrong, then look again: mlcli data my.csv\n"
        "target: y\n"
        "columns:\n"
        "  a: numeric  # inferred: every cell is a number\n"
        "  b: {kind: nominal, levels: [x, z]}  # inferred: 2 of 2 distinct values are not numbers, such as 'x'\n"
        "  y: {kind: nominal, levels: [u, v]}"
        "  # guessed: 2 of 2 distinct values are not numbers, such as 'u'; by its name\n"
    )


def test_what_steers_the_reading_is_written_again(write: Write) -> None:
    sidecar = (
        'target: y\ntask: [clustering, classification]\nmissing: ["?"]\ndelimiter: semicolon\nheader: true\n'
        "columns: {a: {kind: numeric, missing: [-1], range: [0, 5]}, y: {levels: [u, v, w], empty: w}}\n"
    )
    path = write("a;y\n1;u\n-1;v\n?;\n", sidecar)
    original = load(str(path))
    write_sidecar(original, overwrite=True)
    again = load(str(path))
    assert again.content == original.content
    assert (again.sidecar.of("a").missing, again.sidecar.of("a").range) == (("?", "-1"), (0.0, 5.0))
    assert (again.sidecar.delimiter, again.sidecar.header, again.sidecar.tasks[0]) == (";", True, "clustering")


def test_a_sidecar_is_not_overwritten_unless_told(write: Write) -> None:
    path = write(CSV, "target: y\n")
    dataset = load(str(path))
    with pytest.raises(UsageError, match="--force"):
        write_sidecar(dataset)
    assert path.with_suffix(".yaml").read_text() == "target: y\n"
    write_sidecar(dataset, overwrite=True)
    assert path.with_suffix(".yaml").read_text() != "target: y\n"
    assert sorted(file.name for file in path.parent.iterdir()) == ["my.csv", "my.yaml"]


def test_a_folder_that_cannot_be_written_to_is_an_error_of_the_disk(write: Write) -> None:
    dataset = load(str(write(CSV)))
    with pytest.raises(StoreError, match="cannot be written"):
        write_sidecar(dataset, Path("/proc/nowhere/my.yaml"))


@pytest.mark.parametrize(("encoding", "city"), [("cp1250", "Łódź"), ("utf-16", "Köln"), ("shift_jis", "東京")])
def test_a_stated_encoding_is_used(loaded: Loaded, encoding: str, city: str) -> None:
    text = f"city,y\n{city},1.5\nBonn,2.5\n".encode(encoding)
    dataset = loaded(text, f"target: y\nencoding: {encoding}\n")
    assert city in dataset.schema.fields[0].column.levels
    assert not any("Latin-1" in note for note in dataset.notes)


def test_a_mark_at_the_beginning_is_not_part_of_a_name(loaded: Loaded) -> None:
    assert loaded("city,y\nBonn,1.5\n".encode("utf-8-sig"), "encoding: utf-8\n").schema.names() == ("city", "y")


def test_another_encoding_than_the_stated_is_refused(refused: Callable[..., list[str]]) -> None:
    [problem] = refused("city,y\nK\xf6ln,1.5\n".encode("latin-1"), "encoding: utf-8\n")
    assert problem == "my.csv:2: is not utf-8 text, as its sidecar says"
    [problem] = refused("a,y\n1,2\n", "encoding: utf-88\n")
    assert "there is no encoding 'utf-88'" in problem


def test_numbers_may_be_declared_discrete_or_continuous(loaded: Loaded, tmp_path: Path) -> None:
    sidecar = "target: y\ncolumns: {a: continuous, b: {kind: discrete, role: feature}}\n"
    dataset = loaded("a,b,y\n1,3,u\n2,4,v\n", sidecar)
    kinds = {one.name: (one.kind, one.numbers.discrete) for one in profile(dataset).columns if one.numbers}
    assert kinds == {"a": ("numeric", False), "b": ("numeric", True)}
    again = load(str(write_sidecar(dataset, tmp_path / "my.yaml", overwrite=True).with_suffix(".csv")))
    assert again.sidecar.of("a").numbers == "continuous"
    assert again.sidecar.of("b").numbers == "discrete"


def test_fractions_are_not_discrete(refused: Callable[..., list[str]]) -> None:
    [problem] = refused("a,y\n1,2\n1.5,3\n", "target: y\ncolumns: {a: discrete}\n")
    assert problem == "my.csv:3, column 'a': '1.5' is not a whole number"
