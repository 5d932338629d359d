"""What every method that finds rules promises: the sets of items decide alone, and the judged rows are unseen."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning
from mlcli.core.pipeline import predict_rows
from mlcli.core.schema import Column
from mlcli.core.state import check_loaded, packed, unpacked
from mlcli.core.tables import Table
from mlcli.metrics.registry import metric_named
from mlcli.tasks.association import Transactions, baskets_of, items_of
from mlcli.tasks.table import kind_named
from tests.contract.exceptions import owing
from tests.contract.subjects import EVERYONE, Subject
from tests.support.baskets import baskets, drawn, halves, schema_of

KIND = kind_named("association")
ASSOCIATORS = [subject for subject in EVERYONE if subject.kind == KIND.name]
DEFAULTS = [subject for subject in ASSOCIATORS if not subject.params]


def same(one: Any, two: Any) -> bool:
    """Whether two answers say the same to the bit."""
    arrays = zip(one.arrays().values(), two.arrays().values(), strict=True)
    return one.facts() == two.facts() and all(np.array_equal(a, b) for a, b in arrays)


def alike(one: Any, two: Any) -> bool:
    """The same rules, in the same order, with the same shares but for rounding."""
    first, second = ([*answers.support, *answers.confidence, *answers.lift] for answers in (one, two))
    return (one.when, one.then) == (two.when, two.then) and np.allclose(first, second, rtol=0, atol=1e-12)


@owing("same_seed_same_answer", ASSOCIATORS)
def test_the_same_rows_give_the_same_rules_in_any_order(subject: Subject) -> None:
    train, test = halves(drawn())
    order = np.random.default_rng(1).permutation(len(train))
    answers = subject.answers(train, test)
    assert same(answers, subject.answers(train, test))
    assert alike(answers, subject.answers(train.take(order), test))


@owing("judged_rows_unseen", ASSOCIATORS)
def test_what_it_learned_does_not_depend_on_the_rows_that_judge_it(subject: Subject) -> None:
    train, test = halves(drawn())
    answers = subject.answers(train, test)
    few = np.array([4, 2])
    assert same(answers.take(few), subject.answers(train, test.take(few)))
    assert subject.answers(train, test.take(np.arange(0))).when == answers.when


@owing("input_untouched", ASSOCIATORS)
def test_the_rows_that_it_is_given_stay_as_they_were(subject: Subject) -> None:
    train, test = halves(drawn())
    for data in (train, test):
        data.table.codes.setflags(write=False)
    before = train.table.codes.copy()
    subject.answers(train, test)
    assert np.array_equal(train.table.codes, before)


@owing("saved_equals_fitted", ASSOCIATORS)
def test_saved_and_loaded_equals_fitted_to_the_bit(subject: Subject) -> None:
    train, test = halves(drawn())
    model = subject.fitted(train)
    arrays: dict[str, Any] = {}
    written = json.dumps(packed(model, arrays), allow_nan=False)
    assert same(predict_rows(model, test), predict_rows(unpacked(json.loads(written), arrays), test))


@owing("damaged_state_refused", [subject for subject in DEFAULTS if not subject.piped])
def test_rules_about_items_that_there_are_not_are_refused(subject: Subject) -> None:
    model = subject.fitted(drawn())
    model.then_ = model.then_ + 100
    with pytest.raises(ValueError, match="there is not"):
        check_loaded(model)


@owing("shares_are_counts", ASSOCIATORS)
def test_support_confidence_and_lift_of_its_own_rows_are_plain_counts(subject: Subject) -> None:
    data = drawn()
    model = subject.fitted(data)
    matrix = baskets_of(data.table, items_of(data.table.columns))
    for rule in model.final.rules():
        when, then = (matrix[:, side].all(axis=1) for side in (rule.when, rule.then))
        assert rule.support == pytest.approx((when & then).mean())
        assert rule.confidence == pytest.approx((when & then).sum() / when.sum())
        assert rule.lift == pytest.approx((when & then).mean() / when.mean() / then.mean())
        assert not set(rule.when) & set(rule.then)


@owing("weights_count_as_repeats", ASSOCIATORS)
def test_a_whole_weight_counts_as_that_many_rows(subject: Subject) -> None:
    train, test = halves(drawn())
    times = np.random.default_rng(5).integers(0, 4, len(train))
    weighted = subject.answers(replace(train, weight=times.astype(float)), test)
    assert alike(weighted, subject.answers(train.take(np.repeat(np.arange(len(train)), times)), test))


@owing("one_row", ASSOCIATORS)
def test_one_row_is_enough(subject: Subject) -> None:
    train, test = halves(drawn())
    assert len(subject.answers(train.take(np.array([0])), test)) == len(test)


@owing("empty_cells", ASSOCIATORS)
def test_an_empty_cell_is_no_item(subject: Subject) -> None:
    cells = np.array([[1, 1], [1, -1], [0, 1], [-1, -1]])
    absent = np.where(cells < 0, 0, cells)
    rows = [baskets(each, ("a", "b")) for each in (cells, absent)]
    assert same(*(subject.answers(each, each) for each in rows))


@owing("beats_the_baseline", DEFAULTS)
def test_it_finds_what_goes_together_in_rows_that_it_has_not_seen(subject: Subject) -> None:
    train, test = halves(drawn(rows=900))
    metric = metric_named(KIND.metrics[0], KIND.answers)
    lift = metric.compute(subject.answers(train, test))
    baseline = metric.compute(Subject(KIND.baseline, KIND.name).answers(train, test))
    assert isinstance(lift, float)
    assert isinstance(baseline, float)
    assert lift > 1.4 * baseline


@owing("explains_itself", ASSOCIATORS)
def test_what_it_says_of_itself_is_plain(subject: Subject) -> None:
    sections = subject.fitted(drawn()).explain()
    assert sections[0].rows
    assert json.dumps([asdict(section) for section in sections])


@owing("quiet", DEFAULTS)
def test_it_learns_the_toy_without_a_warning(subject: Subject) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = subject.answers(*halves(drawn()))
    assert len(answers) == 100


def mixed() -> Table:
    """A boolean column, one of levels, numbers 0 and 1 with a gap, and other numbers."""
    return Table.of(
        [
            (Column("tea", "boolean", ("f", "t")), np.array([1, 0, 1])),
            (Column("sky", "nominal", ("red", "blue")), np.array([0, 1, -1])),
            (Column("milk"), np.array([1.0, 0.0, np.nan])),
            (Column("price"), np.array([1.0, 2.0, 3.0])),
        ],
        3,
    )


def test_columns_become_items_and_numbers_are_left_out_with_a_warning() -> None:
    data = Transactions.from_table(mixed(), schema_of(mixed()))
    items = items_of(data.table.columns)
    assert [item.name for item in items] == ["tea", "sky=red", "sky=blue", "milk"]
    assert baskets_of(data.table, items).astype(int).tolist() == [[1, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]]
    with pytest.warns(MlcliWarning, match="left out: price"):
        Subject("single-items", KIND.name).fitted(data)
