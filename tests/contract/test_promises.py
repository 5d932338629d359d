"""What every method promises, whatever it is: every registry entry × every promise."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import DataError, FitError, UsageError
from mlcli.core.params import build, parameters
from mlcli.core.pipeline import predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.state import packed, unpacked
from mlcli.core.tables import Table
from mlcli.tasks.table import kinds_from_bases, kinds_of
from tests.contract.exceptions import EXCEPTIONS, is_one_of, owing
from tests.contract.illegal import illegal_values
from tests.contract.subjects import (
    DEFAULTS,
    EVERYONE,
    SUBJECTS,
    UNLABELLED,
    Subject,
    arrays_of,
    frozen,
    learned_quietly,
    parts,
    said_by,
    transductive,
    usual,
    usual_answers,
)
from tests.contract.toys import SUPERVISED, halves, repeated, shuffled_target, with_columns

ROUNDING = 1e-8
"""How far answers may differ where only the order of additions differs."""

EVERY = [*SUBJECTS, *UNLABELLED]
PLACING = [subject for subject in EVERY if not transductive(subject)]

pytestmark = pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")


@owing("same_seed_same_answer", EVERY)
def test_the_same_seed_gives_the_same_answer_and_the_rows_stay_as_they_were(subject: Subject) -> None:
    train, test = parts(subject)
    before = frozen(train, test)
    assert_same(usual_answers(subject, test), subject.answers(train, test))
    assert before == [array.tobytes() for array in arrays_of(train, test)]


@owing("saved_equals_fitted", EVERY)
def test_saved_and_loaded_equals_fitted_to_the_bit_and_says_what_it_has_learned(subject: Subject) -> None:
    test, model = parts(subject)[1], usual(subject)
    arrays: dict[str, Any] = {}
    written = json.dumps(packed(model, arrays), allow_nan=False)
    assert_same(predict_rows(model, test), predict_rows(unpacked(json.loads(written), arrays), test))
    sections = model.explain()
    assert sections
    assert json.dumps([asdict(section) for section in sections])


def assert_same(one: Any, other: Any) -> None:
    """Answers that are equal to the bit."""
    theirs = other.arrays()
    for name, array in one.arrays().items():
        assert np.array_equal(array, theirs[name], equal_nan=array.dtype.kind == "f"), name


@owing("training_order", SUBJECTS)
def test_the_order_of_training_rows_does_not_matter(subject: Subject) -> None:
    train, test = halves(subject.rows())
    order = np.random.default_rng(1).permutation(len(train))
    straight, shuffled = usual_answers(subject, test), subject.answers(train.take(order), test)
    assert said_by(straight) == pytest.approx(said_by(shuffled), abs=ROUNDING)


@owing("asked_order", PLACING)
def test_an_answer_does_not_depend_on_the_other_rows_that_are_asked(subject: Subject) -> None:
    test, model = parts(subject)[1], usual(subject)
    order = np.random.default_rng(1).permutation(len(test))
    together = said_by(predict_rows(model, test))
    assert said_by(predict_rows(model, test.take(order))) == pytest.approx(together[order], abs=ROUNDING)
    if subject.kind in SUPERVISED:
        alone = said_by(predict_rows(model, test.take(np.array([4]))))
        assert alone[0] == pytest.approx(together[4], abs=ROUNDING)
        assert len(predict_rows(model, test.take(np.arange(0)))) == 0


@owing("label_names", [subject for subject in SUBJECTS if subject.kind == "classification"])
def test_the_names_of_labels_do_not_matter(subject: Subject) -> None:
    train, test = halves(subject.rows())
    new_code = np.array([2, 0, 1], dtype=np.int32)
    names = tuple(train.classes[old] for old in np.argsort(new_code))
    renamed = [replace(data, y=new_code[data.y], classes=names) for data in (train, test)]
    plain, other = usual_answers(subject, test), subject.answers(*renamed)
    assert other.probabilities[:, new_code] == pytest.approx(plain.probabilities, abs=1e-6)
    certain = np.diff(np.sort(plain.probabilities, axis=1)[:, -2:], axis=1)[:, 0] > 1e-5
    assert np.array_equal(other.predicted[certain], new_code[plain.predicted][certain])


@owing("class_missing_in_training", [subject for subject in SUBJECTS if subject.kind == "classification"])
def test_a_training_part_may_lack_a_class(subject: Subject) -> None:
    train, test = halves(subject.rows())
    answers = subject.answers(train.take(np.flatnonzero(train.y != 1)), test)
    assert answers.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (answers.predicted != 1).all()
    only_one = subject.answers(train.take(np.flatnonzero(train.y == 2)), test)
    assert (only_one.predicted == 2).all()


@owing("probabilities", [subject for subject in SUBJECTS if subject.kind == "classification"])
def test_probabilities_are_a_distribution_and_the_answer_is_a_most_probable_class(subject: Subject) -> None:
    answers = usual_answers(subject, halves(subject.rows())[1])
    assert answers.probabilities.min() >= 0.0
    assert answers.probabilities.sum(axis=1) == pytest.approx(1.0)
    chosen = np.take_along_axis(answers.probabilities, answers.predicted[:, None].astype(np.intp), axis=1)[:, 0]
    assert chosen == pytest.approx(answers.probabilities.max(axis=1), abs=1e-12)


@owing("one_row", SUBJECTS)
def test_one_training_row_is_enough_to_answer_with_it(subject: Subject) -> None:
    train, test = halves(subject.rows())
    one = train.take(np.array([0]))
    said = said_by(subject.answers(one, test)).reshape(len(test), -1)
    assert said == pytest.approx(np.tile(one.outputs, (len(test), 1)))


@owing("one_column", SUBJECTS)
def test_one_column_is_enough(subject: Subject) -> None:
    data = subject.rows()
    train, test = halves(with_columns(data, list(data.table.parts())[:1]))
    assert np.isfinite(said_by(subject.answers(train, test))).all()


@owing("no_column", SUBJECTS)
def test_without_a_column_it_answers_or_says_plainly_that_it_cannot(subject: Subject) -> None:
    train, test = halves(with_columns(subject.rows(), []))
    refusal, said = None, np.empty(0)
    try:
        said = said_by(subject.answers(train, test))
    except FitError as error:
        refusal = str(error)
    assert np.isfinite(said).all()
    assert refusal is None or "column" in refusal


@owing("constant_column", [subject for subject in SUBJECTS if not subject.piped])
def test_constant_columns_are_harmless(subject: Subject) -> None:
    data = subject.rows()
    parts = list(data.table.parts())
    if not subject.accepts().levels_only:
        parts.append((Column("always"), np.full(len(data), 7.0)))
    if subject.accepts().nominal:
        parts.append((Column("ever", "nominal", ("same",)), np.zeros(len(data))))
    train, test = halves(with_columns(data, parts))
    assert np.isfinite(said_by(subject.answers(train, test))).all()


@owing("unseen_level", [subject for subject in SUBJECTS if subject.accepts().nominal])
def test_a_level_that_was_not_there_in_training_is_answered(subject: Subject) -> None:
    test = halves(subject.rows())[1]
    codes = test.table.codes.copy()
    codes[:, 0] = -1
    asked = test.with_table(Table(test.table.columns, test.table.numbers, codes))
    assert np.isfinite(said_by(usual_answers(subject, asked))).all()


FULL_ONLY = [
    one for one in EVERY if not one.params and not one.accepts().missing and not one.accepts().levels_only
]


@owing("gaps_refused", FULL_ONLY)
def test_a_row_with_an_empty_cell_is_refused_by_its_number_where_training_had_none(subject: Subject) -> None:
    test = parts(subject)[1]
    numbers = test.table.numbers.copy()
    numbers[[2, 4], 0] = np.nan
    asked = test.with_table(Table(test.table.columns, numbers, test.table.codes))
    with pytest.raises(DataError, match=r"no answer for 2 of \d+ rows, the first of them: 3, 5\n"):
        usual_answers(subject, asked)


@owing("weights_count_as_repeats", [subject for subject in PLACING if subject.model_alone().accepts.weights])
def test_a_whole_weight_counts_as_that_many_rows(subject: Subject) -> None:
    train, test = parts(subject)
    times = np.random.default_rng(5).integers(1, 4, len(train))
    weighted = subject.answers(replace(train, weight=times.astype(float)), test)
    assert said_by(weighted) == pytest.approx(said_by(subject.answers(repeated(train, times), test)), abs=1e-6)


@owing("beats_the_baseline", DEFAULTS)
def test_it_beats_the_baseline_on_a_learnable_toy(subject: Subject) -> None:
    train, test = halves(subject.rows(n=300))
    baseline = Subject("zero-r", subject.kind)
    assert error(subject.answers(train, test)) < 0.7 * error(baseline.answers(train, test))


SHUFFLED_SEEDS = (11, 12, 13, 14, 15)
SHUFFLED_TOLERANCE = 0.9
"""Mean held-out error on shuffled targets, as a share of the baseline's, below which something leaks."""


WHOLE = list({(subject.model, subject.kind): subject for subject in DEFAULTS}.values())
"""Each method once: behind the steps that it needs, where it needs some."""


@owing("nothing_from_shuffled_targets", WHOLE)
def test_it_learns_nothing_from_shuffled_targets(subject: Subject) -> None:
    ratios = []
    for seed in SHUFFLED_SEEDS:
        data = shuffled_target(subject.rows(n=300, seed=seed), np.random.default_rng(seed))
        train, test = halves(data)
        ratios.append(
            error(subject.answers(train, test)) / error(Subject("zero-r", subject.kind).answers(train, test))
        )
    assert np.mean(ratios) > SHUFFLED_TOLERANCE


def error(answers: Any) -> float:
    """Share of wrong classes, or mean squared error."""
    if hasattr(answers, "classes"):
        return float(np.mean(answers.predicted != answers.truth))
    return float(np.mean((answers.predicted - answers.truth) ** 2))


@owing("quiet", [subject for subject in EVERY if not subject.params])
def test_it_learns_the_toy_without_a_numerical_warning(subject: Subject) -> None:
    model, warned = learned_quietly(subject)
    assert warned == []
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert len(predict_rows(model, parts(subject)[1])) > 0


@pytest.mark.parametrize("name", MODELS.names())
def test_illegal_parameters_are_refused_from_the_declaration(name: str) -> None:
    cls = MODELS.load(name)
    for parameter in parameters(cls):
        for value in illegal_values(parameter):
            with pytest.raises(UsageError, match=parameter.name):
                build(cls, {parameter.name: value})
    with pytest.raises(UsageError, match="no parameter"):
        build(cls, {"no_such_parameter": 1})


@pytest.mark.parametrize("name", MODELS.names())
def test_the_listing_read_from_the_file_is_what_the_class_says(name: str) -> None:
    entry = MODELS.entry(name)
    cls = MODELS.load(name)
    assert kinds_from_bases(entry.bases) == kinds_of(cls)
    assert entry.summary.endswith(".")
    assert cls.reference  # type: ignore[attr-defined]


def test_every_exception_names_a_subject_and_a_promise_that_exist() -> None:
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    for whom, promise in EXCEPTIONS:
        assert any(is_one_of(subject, whom) for subject in EVERYONE)
        assert f'owing("{promise}"' in source
