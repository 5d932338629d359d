"""What every tagger promises: sequences stay whole and in order, and nothing but them decides a tag."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import DataError
from mlcli.core.params import build
from mlcli.core.pipeline import predict_rows
from mlcli.core.registry import PROTOCOLS
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.state import packed, unpacked
from mlcli.core.tables import Table
from mlcli.metrics.registry import metric_named
from mlcli.tasks.sequence_labelling import TaggedRows
from mlcli.tasks.table import kind_named
from tests.contract.exceptions import owing
from tests.contract.subjects import EVERYONE, Subject
from tests.support.sequences import drawn

KIND = kind_named("sequence-labelling")
TAGGERS = [subject for subject in EVERYONE if subject.kind == KIND.name]
DEFAULTS = [subject for subject in TAGGERS if not subject.params]
every_tagger = pytest.mark.parametrize("subject", TAGGERS, ids=str)


def tags(subject: Subject, train: TaggedRows, test: TaggedRows) -> Any:
    """What it answers."""
    return subject.answers(train, test).predicted


def halves() -> tuple[TaggedRows, TaggedRows]:
    """Sequences to learn from, and others to be asked about."""
    return drawn(seed=1), drawn(seed=2, sentences=30)


def of_file(order: Any = None) -> TaggedRows:
    """Rows read from a table in which they stand in any order."""
    data = drawn(seed=1)
    place = np.concatenate([np.arange(size) for size in np.bincount(data.sequence)])
    parts: list[tuple[Column, Any]] = [
        *data.table.parts(),
        (Column("sentence"), data.sequence),
        (Column("place"), place),
        (Column("tag", "nominal", data.classes), data.y),
    ]
    table = Table.of(parts, len(data)).take(np.arange(len(data)) if order is None else order)
    roles = ("feature", "sequence", "order", "target")
    schema = Schema(tuple(SchemaField(column, role) for column, role in zip(table.columns, roles, strict=True)))
    return TaggedRows.from_table(table, schema)


@pytest.mark.parametrize("name", KIND.protocols)
def test_no_protocol_cuts_a_sequence(name: str) -> None:
    data = drawn()
    for split in build(PROTOCOLS.load(name), {}).splits(data.split_info(), np.random.default_rng(1)):
        assert not set(data.sequence[split.train]) & set(data.sequence[split.test])
        assert len(split.train) + len(split.test) == len(data)


def test_sequences_are_put_in_order_whatever_the_order_of_the_file() -> None:
    straight, order = of_file(), np.random.default_rng(3).permutation(len(of_file()))
    mixed = of_file(order)
    assert (np.diff(mixed.sequence) >= 0).all()
    by_row = {int(order[row]): place for place, row in enumerate(mixed.rows.tolist())}
    for one in np.unique(straight.sequence):
        places = [by_row[row] for row in straight.rows[straight.sequence == one].tolist()]
        assert places == list(range(places[0], places[0] + len(places)))


def test_a_gap_in_a_sequence_is_refused() -> None:
    data = drawn()
    fields = (
        SchemaField(data.table.columns[0]),
        SchemaField(Column("s"), "sequence"),
        SchemaField(Column("t", "nominal", ("a",)), "target"),
    )
    parts = [
        *data.table.parts(),
        (fields[1].column, data.sequence),
        (fields[2].column, -(data.y == 1).astype(int)),
    ]
    with pytest.raises(DataError, match="a row of a sequence has no tag"):
        TaggedRows.from_table(Table.of(parts, len(data)), Schema(fields))
    with pytest.raises(DataError, match="no column has the role sequence"):
        TaggedRows.from_table(Table.of(parts, len(data)), Schema((fields[0], fields[2])))


def test_a_group_may_hold_sequences_but_not_cut_them() -> None:
    data = drawn()
    columns = (data.table.columns[0], Column("s"), Column("g"), Column("t", "nominal", data.classes))
    roles = ("feature", "sequence", "group", "target")
    schema = Schema(tuple(SchemaField(column, role) for column, role in zip(columns, roles, strict=True)))

    def with_groups(groups: Any) -> TaggedRows:
        cells = (data.table.codes[:, 0], data.sequence, groups, data.y)
        return TaggedRows.from_table(Table.of(list(zip(columns, cells, strict=True)), len(data)), schema)

    groups = with_groups(data.sequence % 4).groups
    assert groups is not None
    assert set(groups.tolist()) == {0, 1, 2, 3}
    with pytest.raises(DataError, match="a sequence stands in two groups"):
        with_groups(np.arange(len(data)))


@every_tagger
def test_the_same_seed_gives_the_same_tags_and_leaves_the_rows_alone(subject: Subject) -> None:
    train, test = halves()
    for data in (train, test):
        for array in (data.table.numbers, data.table.codes, data.y, data.sequence):
            array.setflags(write=False)
    assert np.array_equal(tags(subject, train, test), tags(subject, train, test))


@every_tagger
def test_saved_and_loaded_equals_fitted_to_the_bit(subject: Subject) -> None:
    train, test = halves()
    model = subject.fitted(train)
    arrays: dict[str, Any] = {}
    written = json.dumps(packed(model, arrays), allow_nan=False)
    loaded = unpacked(json.loads(written), arrays)
    first, second = (predict_rows(fitted, test).arrays()["predicted"] for fitted in (model, loaded))
    assert np.array_equal(first, second)


def turned(data: TaggedRows) -> Any:
    """The rows of the last sequence first, each sequence in its own order."""
    return np.lexsort((np.arange(len(data)), -data.sequence))


@every_tagger
def test_the_order_of_sequences_does_not_matter(subject: Subject) -> None:
    train, test = halves()
    straight, order = tags(subject, train, test), turned(test)
    assert np.array_equal(tags(subject, train.take(turned(train)), test), straight)
    assert np.array_equal(tags(subject, train, test.take(order)), straight[order])
    last = np.flatnonzero(test.sequence == test.sequence[-1])
    assert np.array_equal(tags(subject, train, test.take(last)), straight[last])


@owing("truth_changes_nothing", TAGGERS)
def test_the_truth_of_the_rows_that_are_asked_changes_nothing(subject: Subject) -> None:
    train, test = halves()
    assert np.array_equal(tags(subject, train, replace(test, y=(test.y + 1) % 3)), tags(subject, train, test))


@every_tagger
def test_the_names_of_tags_do_not_matter(subject: Subject) -> None:
    train, test = halves()
    renamed = [replace(data, classes=("x", "z", "y")) for data in (train, test)]
    assert np.array_equal(tags(subject, *renamed), tags(subject, train, test))


@every_tagger
def test_a_tag_missing_in_training_is_not_answered(subject: Subject) -> None:
    train, test = halves()
    without = train.take(np.flatnonzero(~np.isin(train.sequence, train.sequence[train.y == 1])))
    assert 1 not in tags(subject, without, test)


@owing("hardly_any_rows", TAGGERS)
@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows_are_answered_and_learned_from(subject: Subject, rows: int) -> None:
    train, test = halves()
    assert len(tags(subject, train, test.take(np.arange(rows)))) == rows
    assert (tags(subject, train.take(np.array([0])), test) == train.y[0]).all()


@every_tagger
def test_words_that_were_never_met_are_answered(subject: Subject) -> None:
    train, test = halves()
    unknown = test.with_table(Table(test.table.columns, test.table.numbers, np.full_like(test.table.codes, -1)))
    assert set(tags(subject, train, unknown)) <= {0, 1, 2}


@owing("beats_the_baseline", [one for one in DEFAULTS if one.model != KIND.baseline])
def test_it_beats_the_baseline_where_tags_follow_tags(subject: Subject) -> None:
    train, test = drawn(seed=6, sentences=300, longest=12), drawn(seed=6, sentences=301, longest=12)
    metric: Callable[[Any], Any] = metric_named(KIND.metrics[0], KIND.answers).compute
    test = test.take(np.flatnonzero(test.sequence > 200))
    train = train.take(np.flatnonzero(train.sequence <= 200))
    baseline = Subject(KIND.baseline, KIND.name).answers(train, test)
    assert metric(subject.answers(train, test)) > metric(baseline)


@pytest.mark.parametrize("subject", DEFAULTS, ids=str)
def test_it_says_what_it_learned_and_learns_without_a_numerical_warning(subject: Subject) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = subject.fitted(drawn())
        tags(subject, *halves())
    assert json.dumps([asdict(section) for section in model.explain()])
