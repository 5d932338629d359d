"""Saved models: loaded equals fitted to the bit, damage and disguise are refused, no code of a file is run."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlcli
from mlcli.core.errors import ExitCode, ModelFileError, StoreError
from mlcli.core.pipeline import predict_rows
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.state import packed
from mlcli.core.tables import Table
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.preparation import train
from mlcli.experiment.saved.model_file import (
    FORMAT_VERSION,
    _digest,
    load_model,
    parts_of_file,
    save_model,
)
from mlcli.experiment.saved.saved_model import SavedModel, fingerprints_of
from mlcli.experiment.spec.cells import AS_SAVED, Cell, ModelSpec, ProtocolSpec
from mlcli.experiment.store.store import Store
from tests.experiment import toy


def made(data: Dataset | None = None, kind: str = "classification") -> SavedModel:
    data = data or toy.dataset()
    return SavedModel.of(train(toy.cell(data=data, kind=kind)), data, seed=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_model(tmp_path / "model.mlcli", made())
    return tmp_path / "model.mlcli"


def as_cell(path: Path, data: Dataset | None = None) -> Cell:
    return replace(
        toy.cell(data=data), model=ModelSpec("model", saved=path), steps=(), protocol=ProtocolSpec(AS_SAVED)
    )


def test_a_loaded_model_answers_like_the_fitted_one_to_the_bit(path: Path) -> None:
    fitted, loaded = made(), load_model(path)
    rows = fitted.rows_of(toy.dataset(seed=5))
    one, other = predict_rows(fitted.pipeline, rows), predict_rows(loaded.pipeline, rows)
    assert {name: array.tobytes() for name, array in one.arrays().items()} == {
        name: array.tobytes() for name, array in other.arrays().items()
    }


def test_a_loaded_model_knows_what_it_has_learned_from(path: Path) -> None:
    loaded, data = load_model(path), toy.dataset()
    assert (loaded.kind, loaded.seed, loaded.dataset, loaded.content) == ("classification", 1, "toy", data.content)
    assert (loaded.rows, loaded.version) == (40, mlcli.__version__)
    assert loaded.features == data.schema.features()
    assert loaded.target is not None
    assert loaded.target.levels == ("no", "yes")
    low, high = loaded.ranges["a"]
    assert (low, high) == (data.table.numbers[:, 0].min(), data.table.numbers[:, 0].max())
    assert np.array_equal(loaded.fingerprints, np.sort(fingerprints_of(data.table)))


def test_a_model_for_numbers_is_saved_in_the_same_way(tmp_path: Path) -> None:
    data = toy.values()
    save_model(tmp_path / "m", made(data, "regression"))
    loaded = load_model(tmp_path / "m")
    model: Any = loaded.pipeline.model
    assert model.predict_values(loaded.table_of(data))[0] == pytest.approx(data.table.cells("y").mean())


def test_the_same_training_writes_the_same_file(path: Path, tmp_path: Path) -> None:
    save_model(tmp_path / "again", made())
    assert load_model(tmp_path / "again").digest == load_model(path).digest


def test_every_flipped_bit_and_every_missing_end_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        for damaged in (whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :], whole[:place]):
            path.write_bytes(damaged)
            with pytest.raises(ModelFileError):
                load_model(path)


@pytest.mark.parametrize("extra", range(0, 256, 8))
def test_no_length_of_a_model_is_taken_for_the_start_of_another_format(path: Path, extra: int) -> None:
    """The first byte of the file is the length's last; safetensors pads the text to eights, so 32 bytes can be."""
    data = toy.dataset()
    save_model(path, made(replace(data, name="n" * (extra + 1))))
    assert load_model(path).dataset == "n" * (extra + 1)


def test_a_large_file_of_another_sort_is_refused_without_being_read() -> None:
    with pytest.raises(ModelFileError, match="not a model of mlcli"):
        load_model(Path("/dev/zero"))


class Intruder:
    """Unpickled, it would leave a file."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("intruded",)


def other_safetensors(path: Path) -> None:
    from safetensors.numpy import save

    path.write_bytes(save({"x": np.zeros(3)}, {"format": "pt"}))


NESTED = "lists in lists"
"""Stands for more of them than Python can follow."""


def structure_changed(path: Path, change: Callable[[Any], object], version: str = str(FORMAT_VERSION)) -> None:
    """A file whose checksums are right, made by somebody who knows the format."""
    from safetensors.numpy import save

    arrays: dict[str, Any] = {}
    structure = packed(parts_of_file(made()), arrays, "saved")
    change(structure["dict"])
    text = json.dumps(structure).replace(f'"{NESTED}"', '{"list": [' * 5000 + "]}" * 5000)
    about = {"format": "mlcli model", "version": version, "structure": text, "sha256": _digest(text, arrays)}
    path.write_bytes(save(arrays, about))


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda path: path.write_bytes(b""), "not a model of mlcli"),
    "a pickle": (lambda path: path.write_bytes(pickle.dumps(Intruder())), "pickle"),
    "an archive": (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(50)), "archive"),
    "a table": (lambda path: path.write_bytes(b"a,b,y\n1,2,no\n" * 9), "not a model of mlcli"),
    "weights of something else": (other_safetensors, "'pt'"),
    "another format": (lambda path: structure_changed(path, lambda parts: None, "99"), "by another version of"),
    "no pipeline": (
        lambda path: structure_changed(path, lambda parts: parts.update(pipeline=3)),
        "something else: pipeline",
    ),
    "a kind that the model cannot do": (
        lambda path: structure_changed(path, lambda parts: parts.update(kind="ranking")),
        "ranking",
    ),
    "a missing part": (lambda path: structure_changed(path, lambda parts: parts.pop("seed")), "seed"),
    "another part": (lambda path: structure_changed(path, lambda parts: parts.update(run="code")), "run"),
    "features of another model": (
        lambda path: structure_changed(path, lambda parts: parts.update(features={"list": []})),
        "do not fit together",
    ),
    "an unknown model": (
        lambda path: structure_changed(
            path, lambda parts: parts["pipeline"]["pipeline"]["dict"]["model"]["model"].update(id="os")
        ),
        "no model 'os'",
    ),
    "ranges that are none": (
        lambda path: structure_changed(path, lambda parts: parts.update(ranges={"dict": {"a": 1.0}})),
        "something else: ranges",
    ),
    "totals of other classes": (
        lambda path: structure_changed(
            path,
            lambda parts: parts["pipeline"]["pipeline"]["dict"]["model"]["learned"].update(
                class_totals_={"array": "saved.fingerprints", "order": "C"}
            ),
        ),
        "bounds|broadcast",
    ),
    "nesting without end": (
        lambda path: structure_changed(path, lambda parts: parts.update(ranges=NESTED)),
        "recursion",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_a_sound_model_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model"
    make, said = REFUSED[what]
    make(path)
    with pytest.raises(ModelFileError, match=said) as problem:
        load_model(path)
    assert problem.value.exit_code == ExitCode.MODEL_FILE
    assert problem.value.problems[0].where == str(path)
    assert problem.value.problems[0].hint
    assert not (tmp_path / "intruded").exists()


def test_a_file_that_is_not_there_or_a_folder_is_refused(tmp_path: Path) -> None:
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(ModelFileError, match="cannot be read"):
            load_model(missing)


def test_a_model_of_another_format_is_told_apart_and_can_be_trained_again(path: Path) -> None:
    structure_changed(path, lambda parts: None, "99")
    with pytest.raises(ModelFileError) as problem:
        load_model(path)
    assert str(problem.value) == (
        f"{path}: was written by another version of mlcli (format 99, this one reads {FORMAT_VERSION})\n"
        f"  train it again: mlcli train DATA -m MODEL -o {path}"
    )
    save_model(path, made())
    assert load_model(path).kind == "classification"


def test_a_model_replaces_a_model(path: Path) -> None:
    save_model(path, made(toy.dataset(rows=30)))
    assert load_model(path).rows == 30


def test_a_write_that_fails_leaves_nothing_behind_and_says_why(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreError, match="cannot be written"):
        save_model(tmp_path / "no such folder" / "model", made())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.mlcli"]


def changed(data: Dataset, name: str, column: Column, cells: Any) -> Dataset:
    """The same dataset with one column replaced."""
    parts = [(column, cells) if one.name == name else (one, old) for one, old in data.table.parts()]
    fields = tuple(SchemaField(part[0], field.role) for part, field in zip(parts, data.schema, strict=True))
    return replace(data, table=Table.of(parts, len(data)), schema=Schema(fields))


def test_columns_are_known_by_name_and_levels_by_text(path: Path) -> None:
    data, loaded = toy.dataset(), load_model(path)
    turned = changed(
        data,
        "colour",
        Column("colour", "nominal", ("blue", "red", "green")),
        np.array([1, 2, 0, -1])[data.table.codes[:, 0]],
    )
    shuffled = Table.of(list(turned.table.parts())[::-1], len(turned))
    other = replace(turned, table=shuffled, schema=Schema(turned.schema.fields[::-1]))
    table = loaded.table_of(other)
    assert table.columns == loaded.features
    assert np.array_equal(table.numbers, data.table.numbers, equal_nan=True)
    assert np.array_equal(table.codes, data.table.codes[:, :1])


def test_levels_that_look_like_numbers_and_numbers_that_look_like_levels_are_known_again() -> None:
    digits = Column("colour", "nominal", ("1", "2", "10"))
    data = changed(toy.dataset(), "colour", digits, np.arange(40) % 3)
    as_numbers = changed(data, "colour", Column("colour"), np.array([1.0, 2.0, 10.0, 7.0])[np.arange(40) % 4])
    table = made(data).table_of(as_numbers)
    assert table.codes[:4, 0].tolist() == [0, 1, 2, -1]
    texts = changed(toy.dataset(), "a", Column("a", "nominal", ("1.5", "-2")), np.arange(40) % 3 - 1)
    numbers = made().table_of(texts).numbers[:3, 0]
    assert np.array_equal(numbers, [np.nan, 1.5, -2.0], equal_nan=True)


def test_a_number_that_stood_for_an_empty_cell_does_so_again() -> None:
    data = toy.dataset()
    declared = Sidecar(columns={"a": Declaration(missing=("-99",))})
    a = data.table.numbers[:, 0].copy()
    a[3] = -99.0
    table = made(replace(data, sidecar=declared)).table_of(changed(data, "a", Column("a"), a))
    assert np.isnan(table.numbers[3, 0])
    assert np.array_equal(table.numbers[4:], data.table.numbers[4:], equal_nan=True)


def test_the_context_of_new_rows_goes_into_the_header_of_answers(path: Path) -> None:
    data = toy.dataset(seed=5)
    shop = Column("shop", "nominal", ("north", "south"))
    cells = np.arange(len(data)) % 2
    table = Table.of([*data.table.parts(), (shop, cells)], len(data))
    there = replace(data, table=table, schema=Schema((*data.schema.fields, SchemaField(shop, "context"))))
    context = predict_rows(load_model(path).pipeline, load_model(path).rows_of(there)).header.context
    assert context is not None
    assert context.columns == (shop,)
    assert np.array_equal(context.cells("shop"), cells)


def test_everything_that_does_not_fit_is_named_at_once(path: Path) -> None:
    data = toy.dataset()
    wrong = changed(data, "a", Column("a", "nominal", ("tall", "small")), np.zeros(40))
    wrong = changed(wrong, "b", Column("b", "nominal", ("x",)), np.zeros(40))
    with pytest.raises(ModelFileError, match="'tall'") as problem:
        load_model(path).table_of(wrong)
    assert len(problem.value.problems) == 2
    lacking = changed(changed(data, "a", Column("A"), np.zeros(40)), "b", Column("c"), np.zeros(40))
    with pytest.raises(ModelFileError, match="lacks 2 of the 3 needed columns: a, b") as problem:
        load_model(path).table_of(lacking)
    assert len(problem.value.problems) == 1
    assert problem.value.problems[0].hint == "did you mean 'a' by 'A'?"


SEEN = "40 of 40 rows are equal to rows that the model has learned from, or nearly: they flatter it"


def test_rows_that_were_learned_from_are_counted(path: Path) -> None:
    (result,) = run([as_cell(path)])
    assert result.status == "done"
    assert [split.label for split in result.splits] == ["all rows"]
    assert result.splits[0].train_rows == 0
    assert result.notes == (SEEN,)
    data = toy.dataset()
    half = replace(
        data, table=Table.of([(c, np.concatenate([x[:10], x[:10]])) for c, x in data.table.parts()], 20)
    )
    half.table.numbers[10:, 0] += 0.25
    assert "10 of 20 rows" in load_model(path).notes_on(half)[0]
    assert not any("flatter" in note for note in load_model(path).notes_on(toy.dataset(seed=9)))


def test_cells_unlike_any_training_cell_are_said(path: Path) -> None:
    data = toy.dataset()
    a = data.table.numbers[:, 0].copy()
    a[:2], a[2] = 1e6, np.nan
    other = changed(data, "a", Column("a"), a)
    other = changed(
        other, "colour", Column("colour", "nominal", ("red", "mauve")), np.r_[np.ones(5), np.zeros(35)]
    )
    notes = load_model(path).notes_on(other)
    low, high = load_model(path).ranges["a"]
    colour, empty, outside = notes[1:]
    assert colour.startswith("column 'colour': 'mauve' was not there in training")
    assert empty.startswith("column 'a': 1 of 40 cells are empty")
    assert outside.startswith(f"column 'a': cells outside the training range of {low:g} to {high:g}")


def test_a_class_that_the_model_never_saw_fails_the_cell_and_not_the_batch(path: Path) -> None:
    data = toy.dataset()
    other = changed(data, "y", Column("y", "nominal", ("no", "maybe")), data.table.cells("y"))
    results = run([as_cell(path, other), toy.cell()])
    assert [result.status for result in results] == ["failed", "done"]
    assert "never seen" in results[0].why


def test_answers_of_a_saved_model_are_stored_by_what_it_has_learned(path: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        first = run([as_cell(path)], store=store)
        copy = tmp_path / "copy"
        copy.write_bytes(path.read_bytes())
        assert run([as_cell(copy)], store=store)[0].stored
        save_model(path, made(toy.dataset(rows=30)))
        again = run([as_cell(path)], store=store)
    assert not again[0].stored
    assert toy.digest(first) != toy.digest(again)


def test_fingerprints_do_not_depend_on_the_order_of_columns_or_the_codes_of_levels() -> None:
    table = toy.dataset().table
    turned = Table.of(list(table.parts())[::-1], len(table))
    assert np.array_equal(fingerprints_of(table), fingerprints_of(turned))
    assert len(set(fingerprints_of(table).tolist())) == len(table)


def test_fingerprints_tell_empty_cells_zeros_and_names_apart() -> None:
    def prints(name: str, *cells: float) -> list[int]:
        return list(fingerprints_of(Table.of([(Column(name), np.array(cells))], len(cells))))

    assert prints("a", 0.0) == prints("a", -0.0)
    assert prints("a", np.nan) == prints("a", -np.nan)
    assert len({*prints("a", 0.0, np.nan, 1.0), *prints("b", 0.0, 1.0)}) == 5


def test_rows_that_differ_in_the_last_digits_only_are_known() -> None:
    """A relative difference of 1e-7 moves few numbers over the edge where they round another way."""
    numbers = np.random.default_rng(1).normal(size=(200, 3))
    columns = [Column(name, "numeric") for name in "abc"]

    def of(values: Any) -> Any:
        return fingerprints_of(Table.of(zip(columns, values.T, strict=True), len(values)))

    assert np.isin(of(numbers * (1 + 1e-7)), of(numbers)).mean() > 0.8
    assert not np.isin(of(numbers * (1 + 1e-3)), of(numbers)).any()
